"""Chunks in sequence: what they mean, what bounds hold of them, and when the planner puts them in."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from share import repeats, seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.bound_strategies import best_bound
from rho.backend.schedule.bounds.head_tail_bounds import BoundSet, Costs
from rho.backend.schedule.problem import (
    Combine,
    Decisions,
    DeviceGroup,
    Edge,
    Link,
    PhaseIndex,
    PhaseTask,
    Problem,
    Schedule,
    Status,
)
from rho.backend.schedule.search.instance_transformations import split_into_chunks
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.timeline.fence_insertion import synchronise
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder, decisions_of
from rho.backend.schedule.timeline.step_graph import StepGraph, first_overflow, starts_in, step_buffers
from rho.backend.schedule.verify.judge import Rule
from rho.backend.schedule.verify.schedule_checks import elementary_lower_bound, verify, verify_schedule

from .drawn import decisions_for, problem_of

H, G = "h", "g"


def copied(
    memory: int | None = None, *, chunks: int = 32, combine: Combine | None = None, out: int = 0, at_home: int | None = None
) -> Problem:
    """A thousand rows, a tick each on a card and a tick each on the way to it; `at_home`: ticks of a row at home."""
    ticks = {G: Ticks(((1000, 1000),))} | ({} if at_home is None else {H: Ticks(((1000, 1000 * at_home),))})
    phases = (
        PhaseTask("x", {H: Ticks(((1, 0),))}, rows=1000, out_bytes=1000, home=True),
        PhaseTask("m", ticks, rows=1000, out_bytes=out, combine=combine),
        PhaseTask("o", {H: Ticks(((1, 0),))}, home=True),
    )
    link = Link("l", H, G, latency=2, bytes_per_tick=Fraction(1))
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2)))
    return Problem((DeviceGroup(H, H, home=True), DeviceGroup(G, G, memory=memory)), (link,), phases, edges, chunks=chunks)


def most_on(schedule: Schedule, device: int) -> int:
    return max(sum(s.device == device and s.phase == p for s in schedule.shards) for p in range(3))


def test_copies_overlap_with_work_within_eight_per_cent() -> None:
    problem = copied()
    answer = plan_problem(problem)
    assert answer.schedule is not None
    assert verify(problem, answer, synchronise(problem, answer.schedule)) == ()
    assert answer.chunks == 32
    assert most_on(answer.schedule, 1) > 1
    assert answer.schedule.makespan <= 1080  # copies alone, or work alone, are 1000
    assert 1000 <= answer.lower_bound <= answer.schedule.makespan
    assert bound_is_reproved(problem, answer)
    whole = plan_problem(replace(problem, chunks=1))
    assert whole.schedule is not None
    assert (whole.schedule.makespan, whole.chunks, whole.status) == (2004, 1, Status.OPTIMAL)


def test_a_bound_of_whole_shards_is_none_of_chunks() -> None:
    problem = copied()
    whole = plan_problem(replace(problem, chunks=1))
    cut = plan_problem(problem)
    assert cut.schedule is not None
    assert cut.schedule.makespan < whole.lower_bound
    assert cut.proof.detail["whole"] == whole.lower_bound == 2004  # the proof of these stands beside the better plan
    assert not bound_is_reproved(problem, replace(cut, lower_bound=whole.lower_bound))


@pytest.mark.parametrize(("combine", "out"), [(None, 0), (Combine(1, 8), 8), (None, 500)])
def test_what_does_not_fit_goes_in_chunks(combine: Combine | None, out: int) -> None:
    problem = copied(600, combine=combine, out=out)
    assert plan_problem(replace(problem, chunks=1)).status is Status.IMPOSSIBLE
    answer = plan_problem(problem)
    assert answer.schedule is not None, answer.conflict
    assert verify(problem, answer, synchronise(problem, answer.schedule)) == ()
    assert most_on(answer.schedule, 1) > 1


def test_what_fits_only_at_home_goes_in_chunks_where_home_is_slow() -> None:
    answer = plan_problem(copied(400, at_home=50))
    assert answer.schedule is not None
    assert answer.chunks > 1
    assert answer.schedule.makespan <= 1100


def test_an_answer_states_its_space() -> None:
    problem = copied()
    answer = plan_problem(problem)
    for said in (1, 16, 33):
        wrong = verify(problem, replace(answer, chunks=said))
        assert [one.code for one in wrong] == [Rule.V10] or said == 16
    assert verify(replace(problem, chunks=1), answer)[0].code is Rule.V1


def chunked(r: Random) -> tuple[Problem, Schedule | None]:
    """A random problem with chunks, and a random schedule of it."""
    problem = replace(problem_of(r, 6), chunks=r.randint(2, 5))
    decoder = ScheduleDecoder(problem)
    decisions = decisions_for(r, problem)
    able = [p for p, task in enumerate(problem.phases) if task.rows > 1]
    phases = [p for p in able if r.random() < 0.8]
    modes = split_into_chunks(decoder, decisions.modes, r.randint(2, problem.chunks), phases)
    return problem, decoder.decode(replace(decisions, modes=modes))


@pytest.mark.parametrize("part", range(repeats(20)))
def test_simulator_judge_and_bounds_mean_the_same_by_chunks(part: int) -> None:
    laid = 0
    for seed in seeds(800)[part * 40 : part * 40 + 40]:
        problem, schedule = chunked(Random(seed))
        if schedule is None:
            continue
        assert verify_schedule(problem, schedule, synchronise(problem, schedule)) == (), seed
        decoder = ScheduleDecoder(problem)
        decisions = decisions_of(problem, schedule)
        graph = StepGraph(
            decoder, decoder.expand_modes(decisions.modes), decoder.repair_order(decisions.priority) or decisions.priority
        )
        starts = starts_in(graph, schedule)
        assert graph.set_starts(starts), seed
        assert first_overflow(graph, starts, step_buffers(graph)) is None, seed
        costs = Costs(ScheduleDecoder(problem))
        if all(costs.allowed):
            assert best_bound(BoundSet(costs)).ticks <= schedule.makespan, seed
        assert elementary_lower_bound(problem) <= schedule.makespan, seed
        laid += 1
    assert laid > 5


def test_units_between_those_that_were_brought_are_brought_too() -> None:
    """The card needs 11 of [6, 12) for its first number and [6, 8) for the second; [8, 11) was missing for the third."""
    ticks = {H: Ticks(((12, 12),)), G: Ticks(((12, 12),))}
    phases = tuple(PhaseTask(name, ticks, rows=12, out_bytes=12) for name in "abc")
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(0), PhaseIndex(2)))
    link = Link("l", H, G, latency=2, bytes_per_tick=Fraction(1))
    problem = Problem((DeviceGroup(H, H, home=True), DeviceGroup(G, G)), (link,), phases, edges, chunks=8)
    modes = (((0, 6), (0, 6)), ((0, 2), (1, 4), (1, 2), (1, 4)), ((0, 11), (1, 1)))
    schedule = ScheduleDecoder(problem).decode(Decisions(modes, (0, 1, 2)))
    assert schedule is not None
    assert verify_schedule(problem, schedule, synchronise(problem, schedule)) == ()
