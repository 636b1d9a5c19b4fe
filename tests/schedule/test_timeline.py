"""One semantics: the step graph, the simulation and the profile of memory agree with each other and with the verifier."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.problem import Decisions, DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.timeline.problem_index import ample_memory
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder, decisions_of, decode_schedule
from rho.backend.schedule.timeline.step_expansion import expand
from rho.backend.schedule.timeline.step_graph import StepGraph, first_overflow, memory_profiles, starts_in, step_buffers
from rho.backend.schedule.verify.schedule_checks import memory_in_use, verify_schedule

from .drawn import decisions_for, problem_of


def graph_of(problem: Problem, decisions: Decisions) -> StepGraph:
    decoder = ScheduleDecoder(problem)
    order = decoder.repair_order(decisions.priority)
    assert order is not None
    return StepGraph(decoder, expand(decoder, decisions.modes), order)


@pytest.mark.parametrize("seed", seeds(300))
def test_a_simulation_is_a_schedule_of_its_step_graph(seed: int) -> None:
    random = Random(seed)
    problem = problem_of(random)
    for _ in range(4):
        decisions = decisions_for(random, problem)
        schedule = decode_schedule(problem, decisions)
        if schedule is None:
            continue
        assert verify_schedule(problem, schedule) == ()
        graph = graph_of(problem, decisions)
        starts = starts_in(graph, schedule)
        held = step_buffers(graph)
        assert first_overflow(graph, starts, held) is None
        profiles = memory_profiles(graph, starts, held)
        most = {device: peak for device, one in profiles.items() if (peak := max(level for _, level in one.levels))}
        limited = {device for device, cap in enumerate(graph.problem_index.memory_limits) if cap is not None}
        judged = {device: peak for device, (peak, _) in memory_in_use(problem, schedule).items() if peak and device in limited}
        assert most == judged
        assert graph.set_starts(starts) and graph.schedule() == schedule
        assert graph.schedule_earliest(starts)
        assert all(graph.nodes[key].start <= start for key, start in starts.items())


@pytest.mark.parametrize("seed", seeds(300))
def test_no_schedule_takes_more_than_ample_memory(seed: int) -> None:
    """Also with relays through home; the search knows no limit there."""
    random = Random(seed)
    drawn = replace(problem_of(random), chunks=random.randint(1, 3), memory_grain=random.choice((1, 64)))
    ample = ample_memory(drawn)
    roomy = replace(drawn, devices=tuple(replace(group, memory=ample) for group in drawn.devices))
    free = replace(drawn, devices=tuple(replace(group, memory=None) for group in drawn.devices))
    assert not ScheduleDecoder(replace(roomy, directives=())).has_memory_limits
    for _ in range(4):
        decisions = decisions_for(random, drawn)
        schedule = decode_schedule(roomy, decisions)
        assert schedule is None or (verify_schedule(roomy, schedule) == () and schedule == decode_schedule(free, decisions))


def test_an_expansion_shares_what_did_not_change() -> None:
    for seed in seeds(100):
        random = Random(seed)
        problem = problem_of(random)
        decoder = ScheduleDecoder(problem)
        first, then = decisions_for(random, problem).modes, decisions_for(random, problem).modes
        for p in range(len(first)):
            changed = (*first[:p], then[p], *first[p + 1 :])
            known = expand(decoder, first)
            assert expand(decoder, changed, known) == expand(decoder, changed)


@pytest.mark.parametrize("seed", seeds(40))
def test_a_decoder_of_many_decisions_decodes_each_as_one_of_its_own(seed: int) -> None:
    """Annealing returns to the decisions that it was at, and orders without other modes need no expansion."""
    random = Random(seed)
    problem = problem_of(random)
    decoder, earlier = ScheduleDecoder(problem), [decisions_for(random, problem) for _ in range(6)]
    for _ in range(20):
        start, other = random.choice(earlier), random.choice(earlier)
        modes = list(start.modes)
        p = random.randrange(len(modes))
        modes[p] = other.modes[p]
        trial = replace(start, modes=tuple(modes), priority=other.priority)
        earlier.append(trial)
        assert decoder.decode(trial) == decode_schedule(problem, trial)


def test_what_an_in_place_phase_makes_lies_inside_an_operand() -> None:
    """Both operands are there while it runs, its output beside them takes nothing."""
    small, large = (PhaseTask(name, {"cpu": Ticks(((1, 1),))}, out_bytes=size) for name, size in (("s", 60), ("l", 100)))
    both = PhaseTask("b", {"cpu": Ticks(((1, 1),))}, out_bytes=60, inplace=True)
    edges = tuple(Edge(PhaseIndex(p), PhaseIndex(2)) for p in (0, 1))
    later = PhaseTask("n", {"cpu": Ticks(((1, 1),))}, out_bytes=100)
    phases, reads = (small, large, both, later), (*edges, Edge(PhaseIndex(2), PhaseIndex(3)))
    problem = Problem((DeviceGroup("cpu0", "cpu", memory=160, home=True),), (), phases, reads)
    decisions = Decisions(tuple(((0, 1),) for _ in phases), (0, 1, 2, 3))
    schedule = decode_schedule(problem, decisions)
    assert schedule is not None and verify_schedule(problem, schedule) == ()
    graph = graph_of(problem, decisions)
    levels = memory_profiles(graph, starts_in(graph, schedule), step_buffers(graph))[0].levels
    assert levels == ((0, 60), (1, 160), (3, 160), (4, 100))


@pytest.mark.parametrize("seed", seeds(300))
def test_decisions_of_a_schedule_give_it_again(seed: int) -> None:
    """Also the order in which links send, which no order of first starts tells."""
    random = Random(seed)
    problem = problem_of(random, 8)
    decoder = ScheduleDecoder(problem)
    for _ in range(4):
        schedule = decoder.decode(decisions_for(random, problem))
        if schedule is not None:
            assert decoder.decode(decisions_of(problem, schedule)) == schedule


# 15740006: a partial result that arrives as its combine ends counts in that tick.
@pytest.mark.parametrize("seed", seeds(120, 15740006))
def test_a_found_schedule_is_laid_out_again_by_its_own_decisions(seed: int) -> None:
    problem = problem_of(Random(seed), 8)
    found = plan_problem(problem, Budget(60, 0)).schedule
    if found is not None and problem.phases:
        assert found.decisions is not None
        again = decode_schedule(problem, found.decisions)
        assert again is not None and again.makespan == found.makespan
