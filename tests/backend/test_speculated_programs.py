"""S01 to S03 as programs: branches late or speculated, chosen by objective and directive; the results are the same."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.distributed.buffers import QueueClock
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import hoist_arms, speculable_branches, speculated_branches
from rho.backend.graph.phases import Branch, Phase, Structured
from rho.backend.graph.verify import verify as verify_graph
from rho.backend.schedule.plan.plan import BranchStep, ExecutionPlan, RunStep, TransferStep, WaitStep, decode_plan, encode_plan
from rho.backend.schedule.problem import DeviceGroup
from rho.backend.schedule.program.iteration_plan import bound_in_form
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.plan_program import PlannedProgram, faults_of_stored, plan_is_reproved, plan_program
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.schedule.program_facts.partitioning import Cut
from rho.backend.schedule.search.portfolio import plan_objectives
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import Rejected
from rho.lang.syntax.source import Source
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, ticks_of, topology
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core

CHOICE = "input c : bool[m]\ninput x : f64[n]\ninput y : f64[n]\nb ← ∧/c\nz ← {⍵ : x+y ⋄ x-y}b\n"
NESTED = """input c : bool[m]
input x : f64[n]
input y : f64[n]
b ← ∧/c
d ← ∨/c
z ← {⍵ : {⍵ : t×t⊣t←x+y ⋄ x÷1+y×y}d ⋄ ⌽x-y}b
⎕←z
⎕←+/z
"""
PROFILE = Profile(
    (DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("gpu0", "gpu")), (LinkProfile("cpu0", "gpu0", latency_ns=10),)
)


def data(truth: bool, size: int = 3) -> dict[str, np.ndarray]:
    return {"c": np.array([True, truth]), "x": np.arange(float(size)) + 1, "y": np.arange(float(size)) * 0.1}


def loaded(text: str, own: dict[str, np.ndarray]) -> tuple[Core, BoundGraph]:
    checked = check(Source("example.rho", text))
    assert checked.core is not None, checked.diagnostics
    return checked.core, backend.load(checked.core, own)


def ticks(phase: Phase, group: DeviceGroup, cut: Cut | None, tick_ns: int) -> Ticks | None:
    """Arms of 4 ticks, a condition of 20, a choice of 1; parts are no faster."""
    took = 0
    if isinstance(phase, Structured):
        took = 20 if any(r.reduction for r in phase.results) else 4
    elif isinstance(phase, Branch):
        took = 4 if phase.then.phases else 1
    return Ticks(((1, took),)) if cut is None else Ticks(((1, took), (max(2, cut.rows), took)))


def planned(block: str, text: str = CHOICE, given: object = ticks) -> PlannedProgram:
    core, bound = loaded(text + f"schedule {{\n{block}\n}}\n", data(True))
    found = plan_program(core, bound, PROFILE if given else load_profile("workstation"), budget=FAST, ticks_of=given)  # type: ignore[arg-type]
    for truth in (False, True):
        results = run(found.plan, bound, data(truth))
        assert same(results, backend.execute(backend.plan(bound), bound, data(truth)))
    assert decode_plan(encode_plan(found.plan)) == found.plan
    return found


def run(plan: ExecutionPlan, bound: BoundGraph, own: dict[str, np.ndarray]) -> RunResults:
    return execute_plan(plan, bound, own, {d.id: CpuBackend() for d in plan.devices}, pace=QueueClock.SIMULATED)


def same(found: RunResults, alone: RunResults) -> bool:
    pairs = zip(found.printed, alone.printed, strict=True)
    return all(a.value.tobytes() == b.value.tobytes() and a.value.shape == b.value.shape for a, b in pairs)


def syncs(plan: ExecutionPlan) -> int:
    return sum(isinstance(s, WaitStep) for q in plan.main.queues if q.kind.value == "compute" for s in q.steps)


def steps(plan: ExecutionPlan, kind: type) -> list[str]:
    return [queue.device for queue in plan.main.queues for step in queue.steps if isinstance(step, kind)]


def test_s01_what_nothing_asks_elsewhere_stays_at_home() -> None:
    core, bound = loaded(CHOICE + "⎕←z\n", data(True))
    plan = plan_program(core, bound, PROFILE, budget=FAST, ticks_of=ticks).plan
    assert (steps(plan, TransferStep), syncs(plan), steps(plan, BranchStep)) == ([], 0, ["cpu0"])
    assert not any(queue.steps for queue in plan.main.queues if queue.device != "cpu0")


@pytest.mark.parametrize(("more", "expected"), [("", 1), ("⎕←z\n", 2)])
def test_s02_one_fence_after_the_inputs(more: str, expected: int) -> None:
    found = planned("place z on gpu\nplace b on cpu\nminimize syncs", CHOICE + more, None)
    assert syncs(found.plan) == expected
    assert steps(found.plan, BranchStep)[0].startswith("gpu")


@pytest.mark.parametrize(
    ("block", "makespan", "waits", "both"),
    [
        ("minimize latency", 31, 2, True),
        ("minimize syncs", 34, 1, False),
        ("speculate z", 31, 2, True),
        ("minimize syncs\nspeculate z", 39, 1, True),
    ],
)
def test_s03_late_or_speculated(block: str, makespan: int, waits: int, both: bool) -> None:
    found = planned("place z on gpu0\nplace b on cpu\n" + block)
    assert found.plan.prediction is not None
    assert (found.plan.prediction.makespan, syncs(found.plan), bool(found.plan.speculated)) == (makespan, waits, both)


def test_what_comes_before_a_choice_comes_before_its_arms() -> None:
    """`w` takes until 24, after which both arms run and are chosen from."""
    found = planned("w before z\nspeculate z\nplace w z on cpu", CHOICE + "w ← b∧y>1\n")
    (z,) = found.plan.speculated
    ran = {s.phase: (s.start, s.end) for q in found.plan.main.queues for s in q.steps if isinstance(s, RunStep | BranchStep)}
    arms = [phase.id for phase in found.program.phases if ran.get(phase.id, (0, 0))[0] >= 24]
    assert [ran[phase] for phase in arms] == [(24, 28), (28, 32), (32, 33)]
    assert arms[-1] == z


def test_a_condition_that_is_there_is_not_guessed() -> None:
    found = planned("place z on gpu0", CHOICE.replace("b ← ∧/c", "b ← 0⊃c"))
    assert found.plan.speculated == ()


@pytest.mark.long
def test_the_bound_of_many_branches_holds_for_every_form() -> None:
    text = CHOICE + "p ← {⍵ : x×y ⋄ x÷2+y}∨/c\nq ← {⍵ : z+p ⋄ z-p}≠/c\n⎕←q\n"
    core, bound = loaded(text, data(True))
    branches = speculable_branches(bound.graph)
    assert len(branches) == 3
    found = plan_program(core, bound, PROFILE, budget=FAST, ticks_of=ticks)
    assert found.plan.prediction is not None
    best = found.plan.prediction.makespan
    for number in range(8):
        form = bound_in_form(bound, [branch for place, branch in enumerate(branches) if number >> place & 1])
        answer = plan_objectives(problem_of(form, PROFILE, ticks_of=ticks).problem, FAST)
        assert answer.schedule is not None
        assert 0 < found.answer.lower_bound <= answer.schedule.makespan
    assert found.answer.lower_bound <= best
    stored = plan_program(core, bound, load_profile("workstation"), budget=FAST).plan
    assert faults_of_stored(stored, bound, core, load_profile("workstation")) == []
    assert plan_is_reproved(stored, bound, core, load_profile("workstation"))


def test_stored_plans_say_what_they_speculate() -> None:
    core, bound = loaded(CHOICE + "⎕←z\nschedule { speculate z }\n", data(True))
    plan = plan_program(core, bound, load_profile("workstation"), budget=FAST).plan
    assert plan.speculated
    again = decode_plan(encode_plan(plan))
    assert faults_of_stored(again, bound, core, load_profile("workstation")) == []
    assert plan_is_reproved(again, bound, core, load_profile("workstation"))


@pytest.mark.parametrize("arm", ["⎕←x ⋄ x-y", "⌊x", "x[3⌊≢x]+y"])
def test_what_is_seen_or_fails_is_never_speculated(arm: str) -> None:
    _, bound = loaded(CHOICE.replace("x-y}", arm + "}"), data(True))
    assert speculable_branches(bound.graph) == ()
    assert hoist_arms(bound.graph) is bound.graph


def test_speculate_of_no_branch_is_refused() -> None:
    for name in ("b", "w"):
        with pytest.raises(Rejected) as caught:
            planned(f"speculate {name}", CHOICE + "w ← {⍵ : ⌊x ⋄ ⌈y}b\n")
        assert [d.code for d in caught.value.diagnostics] == ["SCH102"]


@pytest.mark.parametrize("seed", seeds(12, least=3))
def test_every_form_of_nested_branches_gives_the_same_bits(seed: int) -> None:
    _, bound = loaded(NESTED, data(True))
    branches = speculable_branches(bound.graph)
    assert len(branches) == 2
    for number in range(4):
        chosen = [branch for place, branch in enumerate(branches) if number >> place & 1]
        form = bound_in_form(bound, chosen)
        verify_graph(form.graph, "arms")
        assert set(speculated_branches(bound.graph, chosen)) <= set(chosen)
        chance = random.Random(seed)
        made = problem_of(form, topology(chance), ticks_of=ticks_of(chance))
        for answer in (split_evenly(made.problem), with_modes(made.problem, random_modes(made.problem, chance))):
            assert answer is not None
            apart = speculated_branches(bound.graph, chosen)
            places = tuple(place for place, phase in enumerate(made.phases) if phase.id in apart)
            plan = plan_of(made, replace(answer, speculated=places))
            assert plan.speculated == apart
            assert check_plan(plan, bound) == ()
            for truths in ([True, True], [True, False], [False, False]):
                own = data(True) | {"c": np.array(truths)}
                assert same(run(plan, bound, own), backend.execute(backend.plan(bound), bound, own))
