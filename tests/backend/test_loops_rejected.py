"""Plans of loops that several devices run together are rejected when they are tampered with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rho import backend
from rho.backend.devices.this_machine import load_profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.phases import Structured, ValueId
from rho.backend.schedule.plan.plan import (
    ExecutionPlan,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Queue,
    RunStep,
    Step,
    TransferStep,
    WaitStep,
)
from rho.backend.schedule.program.plan_program import faults_of_stored, plan_is_reproved, plan_program
from rho.backend.schedule.search.strategy import FAST
from rho.backend.schedule.verify.plan_checks import check_plan
from rho.backend.schedule.verify.schedule_checks import verify_schedule
from rho.tests.backend.loops_of_two import FARTHEST, SHIFTED, TURNED, UNTIL, planned, the_loop
from rho.tests.harness.tiers import checked


def changed(plan: ExecutionPlan, change: Callable[[Queue], Queue]) -> ExecutionPlan:
    return replace(plan, main=replace(plan.main, queues=tuple(change(queue) for queue in plan.main.queues)))


def in_a_turn(plan: ExecutionPlan, change: Callable[[Queue], Queue]) -> ExecutionPlan:
    """The plan with another body of its loop."""

    def step(one: Step) -> Step:
        if not isinstance(one, LoopStep):
            return one
        return replace(one, body=replace(one.body, queues=tuple(change(queue) for queue in one.body.queues)))

    return changed(plan, lambda queue: replace(queue, steps=tuple(map(step, queue.steps))))


def without(queue: Queue, kind: type, place: int = 0) -> Queue:
    found = [index for index, step in enumerate(queue.steps) if isinstance(step, kind)]
    if len(found) <= place:
        return queue
    return replace(queue, steps=queue.steps[: found[place]] + queue.steps[found[place] + 1 :])


def codes(plan: ExecutionPlan, bound: BoundGraph) -> set[str]:
    return {fault.code.name for fault in check_plan(plan, bound)}


@pytest.mark.parametrize("text", [SHIFTED, TURNED, FARTHEST, UNTIL])
def test_a_queue_without_the_loop_is_rejected(text: str) -> None:
    found, bound, _ = planned(text)
    assert codes(found.plan, bound) == set()
    joined = [queue.device for queue in found.plan.main.queues if any(isinstance(s, JoinStep) for s in queue.steps)]
    assert len(joined) > 1
    for name in joined:
        bad = changed(found.plan, lambda queue, name=name: without(queue, JoinStep) if queue.device == name else queue)  # type: ignore[misc]
        assert "V1" in codes(bad, bound)


def test_a_missing_halo_is_rejected() -> None:
    found, bound, _ = planned(SHIFTED)
    bad = in_a_turn(found.plan, lambda queue: without(queue, TransferStep))
    assert codes(bad, bound) & {"V4", "V2"}


@pytest.mark.parametrize("text", [SHIFTED, TURNED, FARTHEST, UNTIL])
@pytest.mark.parametrize("kind", [WaitStep, FenceStep])
def test_a_dropped_fence_in_a_turn_is_rejected(text: str, kind: type) -> None:
    found, bound, _ = planned(text)
    for queue in the_loop(found.plan).body.queues:
        for place in range(sum(isinstance(step, kind) for step in queue.steps)):

            def dropped(one: Queue, name: str = queue.device, place: int = place) -> Queue:
                return without(one, kind, place) if one.device == name else one

            assert codes(in_a_turn(found.plan, dropped), bound) & {"V2", "V4"}, (queue.device, place)


def test_states_that_lie_elsewhere_after_a_turn_are_rejected() -> None:
    """Entries that take other rows than the last turn left."""
    found, bound, _ = planned(SHIFTED)
    (distributed,) = found.program.distributed_loops.values()
    entry = distributed.body.iteration.bound.graph.phases[0]
    assert isinstance(entry, Structured)

    def moved(queue: Queue) -> Queue:
        boxes = {"cpu0": ((0, 19),), "d1": ((19, 40),)}
        steps = tuple(
            replace(step, box=boxes[queue.device]) if isinstance(step, RunStep) and step.phase == entry.id else step
            for step in queue.steps
        )
        return replace(queue, steps=steps)

    assert "V4" in codes(in_a_turn(found.plan, moved), bound)


def test_other_rows_than_those_of_the_states_are_rejected() -> None:
    found, bound, _ = planned(SHIFTED)

    def fewer(queue: Queue) -> Queue:
        rows = {(0, 20): (0, 21), (20, 40): (21, 40)}
        steps = tuple(
            replace(s, rows=rows[s.rows]) if isinstance(s, LoopStep | JoinStep) and s.rows is not None else s for s in queue.steps
        )
        return replace(queue, steps=steps)

    assert "V4" in codes(changed(found.plan, fewer), bound)


@pytest.mark.parametrize(
    "rows", [{(0, 20): (0, 19)}, {(0, 20): (1, 20)}, {(0, 20): (0, 21)}, {(20, 40): (20, 39)}, {(20, 40): (20, 41)}]
)
def test_rows_that_leave_gaps_or_end_elsewhere_are_rejected(rows: dict[tuple[int, int], tuple[int, int]]) -> None:
    found, bound, _ = planned(SHIFTED)

    def other(queue: Queue) -> Queue:
        steps = tuple(
            replace(s, rows=rows.get(s.rows, s.rows)) if isinstance(s, LoopStep | JoinStep) and s.rows is not None else s
            for s in queue.steps
        )
        return replace(queue, steps=steps)

    assert "V3" in codes(changed(found.plan, other), bound)


def test_other_ticks_than_those_of_the_turns_are_rejected() -> None:
    found, bound, _ = planned(SHIFTED)

    def longer(queue: Queue) -> Queue:
        steps = tuple(replace(s, end=s.end - 1) if isinstance(s, LoopStep | JoinStep) else s for s in queue.steps)
        return replace(queue, steps=steps)

    assert "V9" in codes(changed(found.plan, longer), bound)


def test_the_problems_verifier_wants_one_start_one_mode_and_its_channels() -> None:
    found, _, _ = planned(SHIFTED)
    problem, schedule = found.program.problem, found.answer.schedule
    assert schedule is not None
    assert verify_schedule(problem, schedule) == ()
    late = tuple(replace(s, start=s.start + 1, end=s.end + 1) if (s.phase, s.device) == (1, 1) else s for s in schedule.shards)
    assert {v.code.name for v in verify_schedule(problem, replace(schedule, shards=late))} >= {"V9"}
    other = tuple(
        replace(s, stop=21) if s.phase == 1 and s.first == 0 else replace(s, first=21) if s.phase == 1 else s
        for s in schedule.shards
    )
    assert {v.code.name for v in verify_schedule(problem, replace(schedule, shards=other))} >= {"V3"}
    busy = replace(schedule.transfers[-1], start=50, busy=60, arrive=62)
    assert {v.code.name for v in verify_schedule(problem, replace(schedule, transfers=(*schedule.transfers, busy)))} >= {"V6"}


@pytest.mark.long
def test_a_stored_plan_is_judged_with_the_ticks_of_its_turns() -> None:
    text = "input x : f64[n]\ny ← {⍵+0.1×(¯1⌽⍵)+(1⌽⍵)-2×⍵}⍣100⊢x\n⎕←+/y"
    core = checked(text)
    assert core is not None
    bound = backend.bind_shapes(core, {"x": (2_000_000,)})
    profile = load_profile("workstation")
    plan = plan_program(core, bound, profile, budget=FAST).plan
    assert [len(one.axes) for one in plan.spread] == [1]
    assert faults_of_stored(plan, bound, core, profile) == []
    assert faults_of_stored(plan, bound, core, None) == []
    assert plan_is_reproved(plan, bound, core, profile)

    def quicker(queue: Queue) -> Queue:
        steps = tuple(replace(s, end=s.end - 1) if isinstance(s, RunStep) and s.end > s.start else s for s in queue.steps)
        return replace(queue, steps=steps)

    assert faults_of_stored(in_a_turn(plan, quicker), bound, core, profile)
    assert faults_of_stored(replace(plan, spread=()), bound, core, profile)


def test_a_queue_that_joins_what_is_not_shared_is_rejected() -> None:
    found, bound, _ = planned(SHIFTED)
    step = the_loop(found.plan)
    alone = replace(step, rows=None)

    def no_longer(queue: Queue) -> Queue:
        steps = tuple(alone if one is step else one for one in queue.steps if not isinstance(one, JoinStep) or one.rows is None)
        return replace(queue, steps=steps)

    assert "V1" in codes(changed(found.plan, no_longer), bound)
    assert "V1" in codes(replace(found.plan, spread=()), bound)
    assert "V1" in codes(
        changed(found.plan, lambda queue: replace(queue, steps=(*queue.steps, *filter(joins, queue.steps)))), bound
    )


def joins(step: Step) -> bool:
    return isinstance(step, JoinStep)


def test_a_turn_that_frees_what_the_next_reads_is_rejected() -> None:
    found, bound, _ = planned(FARTHEST)
    assert "V4" in codes(in_a_turn(found.plan, lambda queue: replace(queue, steps=(*queue.steps, *freed(queue)))), bound)


def freed(queue: Queue) -> tuple[Step, ...]:
    return (FreeStep((ValueId(0),)),) if queue.device == "cpu0" else ()
