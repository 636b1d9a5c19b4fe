"""No failure of one stage of the planner loses the best valid answer: it is left out, noted, and the rest stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from share import seeds

from rho.backend.devices.profile_toml import read_profile
from rho.backend.schedule.bounds import lp_relaxation as fluid
from rho.backend.schedule.plan.plan import decode_plan
from rho.backend.schedule.problem import Objective, Schedule, Status
from rho.backend.schedule.program import plan_program
from rho.backend.schedule.search import portfolio
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.search.strategy import Budget, SearchContext, StageFailed, Strategy, always
from rho.backend.schedule.timeline.fence_insertion import synchronise
from rho.backend.schedule.verify.judge import Rule, Violation
from rho.backend.schedule.verify.schedule_checks import verify
from rho.shell.cli.arguments import STRATEGY_NAMES
from rho.tests.plans.drawn import MLP, SOFTMAX, Drawn
from rho.tests.plans.judge import judge
from rho.tests.plans.planning import Case, case_of
from rho.tests.plans.test_judge import PROFILE
from rho.tests.schedule.drawn import problem_of

NETWORK = Drawn(MLP, {"x": (2000, 64), "w": (64, 500), "v": (500, 64)}, PROFILE)
QUICK = Budget(200, 300_000)
NAMES = [strategy.name for strategy in portfolio.STRATEGIES]
FOR_MAKESPAN = [strategy.name for strategy in portfolio.STRATEGIES if strategy.makespan]


def good(case: Case) -> None:
    assert judge(case.plan, case.profile, case.graph) == []


def told(case: Case) -> list[str]:
    return [note for one in case.planned.diagnostics if one.code == "SCH303" for note in one.notes]


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """As users have it."""
    monkeypatch.delenv("RHO_STAGES")


def test_the_plan_of_the_last_resort_holds_when_it_is_stored(lenient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It had no baselines, so `--check` and `run --plan` refused it (V12)."""

    def broken(*_: Any) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(plan_program, "plan_forms", broken)
    case = case_of(NETWORK)
    assert any("plan of every form" in note for note in told(case))
    plan = decode_plan(case.stored)
    assert plan_program.faults_of_stored(plan, case.bound, case.core, read_profile("<drawn>", PROFILE)) == []
    good(case)


def test_operands_that_are_brought_whole_raise_no_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where parts of operands are not enough, all is planned again with whole ones: a bound of such plans is none of all."""
    small = Drawn(SOFTMAX, {"x": (3000, 64)}, PROFILE)
    right, check, calls = case_of(small).planned, plan_program.check_plan, []

    def first_refused(plan: Any, bound: Any) -> Any:
        calls.append(plan)
        return (Violation(Rule.V4, "an operand is not there"),) if len(calls) == 1 else check(plan, bound)

    monkeypatch.setattr(plan_program, "check_plan", first_refused)
    again = case_of(small).planned
    assert len(calls) > 1
    assert again.answer.lower_bound <= right.answer.lower_bound
    assert again.answer.chunks == right.answer.chunks or again.answer.lower_bound == 0


def staged(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any]) -> None:
    """A strategy that does what it does, and then what `change` does."""

    def of(strategy: Strategy) -> Strategy:
        def changed(context: SearchContext) -> None:
            if strategy.applies(context):
                strategy.run(context)
            change(context)

        return replace(strategy, run=changed, applies=always) if strategy.name == name else strategy

    monkeypatch.setattr(portfolio, "STRATEGIES", tuple(map(of, portfolio.STRATEGIES)))


def fails(search: Any) -> None:
    raise ZeroDivisionError("as if")


def forgets_rows(search: Any) -> None:
    """A short plan, of one row of every shard."""
    found = search.incumbent
    shards = tuple(replace(s, stop=min(s.stop, s.first + 1), start=0, end=0) for s in found.schedule.shards)
    found.schedule = Schedule(shards, (), ())


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("change", [fails, forgets_rows])
@pytest.mark.parametrize("name", FOR_MAKESPAN)
def test_a_strategy_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], None]) -> None:
    staged(monkeypatch, name, change)
    case = case_of(NETWORK)
    good(case)
    reached = name in ("baselines", "single-split") or case.plan["prediction"]["status"] == "gap"
    assert not reached or any(note.startswith(name) for note in told(case))


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("name", [one.name for one in portfolio.STRATEGIES if one.refutes is not None])
def test_a_strategy_that_fails_to_prove_keeps_the_others(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def fails_to_refute(*_: Any) -> bool:
        raise ZeroDivisionError("as if")

    answers = [(problem, plan_problem(problem, QUICK)) for problem in map(problem_of, map(Random, range(12)))]
    proved = [one for one in answers if one[1].status is Status.OPTIMAL]
    changed = tuple(replace(s, refutes=fails_to_refute) if s.name == name else s for s in portfolio.STRATEGIES)
    monkeypatch.setattr(portfolio, "STRATEGIES", changed)
    assert len([one for one in proved if bound_is_reproved(*one)]) >= len(proved) - 2 > 0


@pytest.mark.parametrize("name", NAMES)
def test_without_any_strategy_the_answer_is_valid_and_no_better(name: str) -> None:
    for seed in seeds(8, least=3):
        problem = problem_of(Random(seed))
        whole, part = (plan_problem(problem, replace(QUICK, without=out)) for out in (frozenset[str](), frozenset({name})))
        if part.schedule is None or whole.schedule is None:
            assert part.status is whole.status or part.status is Status.ABORTED
            continue
        assert verify(problem, part, synchronise(problem, part.schedule)) == ()
        assert part.lower_bound <= whole.values[0] and whole.lower_bound <= part.values[0]


def test_strategies_have_names_of_their_own_and_say_what_they_do() -> None:
    assert len(set(NAMES)) == len(NAMES) and all(strategy.doc for strategy in portfolio.STRATEGIES)
    assert tuple(NAMES) == STRATEGY_NAMES


@pytest.mark.usefixtures("lenient")
def test_a_bound_above_a_valid_plan_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, "paths", lambda search: search.incumbent.raise_bound(search.incumbent.schedule.makespan + 1, "bound"))
    case = case_of(NETWORK)
    good(case)
    assert case.plan["prediction"]["status"] == Status.GAP.value and "a lower bound" in told(case)[0]


@pytest.mark.usefixtures("lenient")
def test_an_objective_that_fails_keeps_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    strategies = tuple(replace(one, run=fails) if one.others else one for one in portfolio.STRATEGIES)
    monkeypatch.setattr(portfolio, "STRATEGIES", strategies)
    case = case_of(NETWORK, objectives=(Objective.THROUGHPUT,))
    good(case)
    assert told(case)


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("name", ["plan_forms", "_with_distributed_loops"])
def test_a_way_to_plan_that_fails_is_left_out(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def broken(*_: Any) -> Any:
        raise AssertionError("as if")

    monkeypatch.setattr(plan_program, name, broken)
    case = case_of(NETWORK)
    good(case)
    assert told(case)


def test_failures_are_errors_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    staged(monkeypatch, "lp-relaxation", fails)
    with pytest.raises(StageFailed, match="lp-relaxation: ZeroDivisionError"):
        case_of(Drawn(SOFTMAX, {"x": (500, 30)}, PROFILE))


def test_a_linear_program_without_a_solution_gives_no_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its shares are all zero then, of which one row a device used to be made, and the rest of the rows forgotten."""
    monkeypatch.setattr(fluid, "MOST_PIVOTS", 1)
    good(case_of(NETWORK))
