"""No failure of one stage of the planner loses the best valid answer: it is left out, noted, and the rest stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rho.backend.schedule import fluid, objectives, planner
from rho.backend.schedule.found import StageFailed
from rho.backend.schedule.problem import Schedule, Status
from rho.backend.schedule.program import planning
from rho.tests.plans.drawn import MLP, SOFTMAX, Drawn
from rho.tests.plans.judge import judge
from rho.tests.plans.planning import Case, case_of
from rho.tests.plans.test_judge import PROFILE

NETWORK = Drawn(MLP, {"x": (2000, 64), "w": (64, 500), "v": (500, 64)}, PROFILE)
STAGES = [name for name, _ in planner._STAGES]


def good(case: Case) -> None:
    assert judge(case.plan, case.profile, case.graph) == []


def told(case: Case) -> list[str]:
    return [note for one in case.planned.diagnostics if one.code == "SCH303" for note in one.notes]


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it."""
    monkeypatch.delenv("RHO_STAGES")


def staged(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any]) -> None:
    """A stage that does what it does, and then what `change` does."""

    def of(stage: Callable[[Any], None]) -> Callable[[Any], None]:
        def changed(search: Any) -> None:
            stage(search)
            change(search)

        return changed

    monkeypatch.setattr(planner, "_STAGES", tuple((n, of(s) if n == name else s) for n, s in planner._STAGES))


def fails(search: Any) -> None:
    raise ZeroDivisionError("as if")


def forgets_rows(search: Any) -> None:
    """A short plan, of one row of every shard."""
    found = search.found
    shards = tuple(replace(s, stop=min(s.stop, s.first + 1), start=0, end=0) for s in found.schedule.shards)
    found.schedule = Schedule(shards, (), ())


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("change", [fails, forgets_rows])
@pytest.mark.parametrize("name", STAGES)
def test_a_stage_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], None]) -> None:
    staged(monkeypatch, name, change)
    case = case_of(NETWORK)
    good(case)
    reached = name in ("baselines", "one cut phase") or case.plan["prediction"]["status"] == "gap"
    assert not reached or any(note.startswith(name) for note in told(case))


@pytest.mark.usefixtures("lenient")
def test_a_bound_above_a_valid_plan_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, "paths and loads", lambda search: search.found.raise_bound(search.found.schedule.makespan + 1, "bound"))
    case = case_of(NETWORK)
    good(case)
    assert case.plan["prediction"]["status"] == Status.GAP.value and "a lower bound" in told(case)[0]


@pytest.mark.usefixtures("lenient")
def test_an_objective_that_fails_keeps_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("as if")

    monkeypatch.setattr(objectives, "_improve", broken)
    good(case_of(NETWORK))


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("name", ["plan_forms", "_together"])
def test_a_way_to_plan_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def broken(*_: Any) -> Any:
        raise AssertionError("as if")

    monkeypatch.setattr(planning, name, broken)
    case = case_of(NETWORK)
    good(case)
    assert told(case)


def test_failures_are_errors_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, "forks", fails)
    with pytest.raises(StageFailed, match="forks: ZeroDivisionError"):
        case_of(Drawn(SOFTMAX, {"x": (500, 30)}, PROFILE))


def test_a_linear_program_without_a_solution_gives_no_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shares are all zero then, of which one row a device used to be made, and the rest of the rows forgotten."""
    monkeypatch.setattr(fluid, "MOST_PIVOTS", 1)
    good(case_of(NETWORK))
