"""The exact search against brute force, published optima and the independent verifier."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from share import repeats, seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.exact.makespan_bisection import SearchOutcome, refine
from rho.backend.schedule.exact.z3_solver import SolverSteps
from rho.backend.schedule.instances.solve_instance import read_instance
from rho.backend.schedule.problem import (
    Answer,
    Before,
    BoundCertificate,
    Combine,
    DeviceGroup,
    Edge,
    LimitMachines,
    LimitMemory,
    Link,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    SourceLine,
    Status,
)
from rho.backend.schedule.search.portfolio import bound_is_reproved, plan_problem
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.backend.schedule.verify.schedule_checks import verify_schedule

from .drawn import decisions_for, problem_of
from .examples import PEFT, TOPCUOGLU
from .oracle import shortest
from .problems import Modes, atomic, singles, small

AUCKLAND = Path(__file__).parents[1] / "corpora" / "data" / "schedules" / "auckland"
STEPS = 60_000_000


def solve(problem: Problem, modes: Modes) -> SearchOutcome:
    found = refine(problem, modes, None, 0, SolverSteps(STEPS))
    if found.schedule is not None:
        assert verify_schedule(problem, found.schedule) == ()
    return found


@pytest.mark.parametrize(
    ("cuts", "memory", "delays"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, False), (False, False, True)],
)
@pytest.mark.parametrize("seed", seeds(12, least=3))
def test_brute_force_finds_nothing_shorter(seed: int, cuts: bool, memory: bool, delays: bool) -> None:
    problem, modes = small(seed, cuts=cuts, memory=memory, delays=delays)
    found = solve(problem, modes)
    least = shortest(problem, modes)
    assert (None if found.schedule is None else found.schedule.makespan) == least
    assert found.proved == (least is not None)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("seed", seeds(8, least=2))
def test_equal_devices_are_as_good_as_each_other(seed: int, linked: bool) -> None:
    """Of plans that differ by which of equal devices is which, the optimum is found."""
    r = Random(seed)
    group = DeviceGroup("d", "d", 3, 60 if r.random() < 0.5 else None, home=True)
    home = Random(seed + 1).random() < 0.3
    phases = tuple(
        PhaseTask(f"p{k}", {"d": Ticks(((1, r.randint(1, 9)),))}, out_bytes=r.randint(1, 20), home=home and k == 0)
        for k in range(5)
    )
    edges = tuple(
        Edge(PhaseIndex(a), PhaseIndex(b), ticks=None if linked else r.randint(0, 6))
        for b in range(5) for a in range(b) if r.random() < 0.3
    )  # fmt: skip
    links = (Link("l", "d", "d", r.randint(0, 3), Fraction(r.randint(1, 9)), group="bus"),) if linked else ()
    problem = Problem((group,), links, phases, edges)
    modes: Modes = [[((0, 1),)] if phase.home else [((d, 1),) for d in range(3)] for phase in phases]
    if linked:
        ends = [
            Link(f"l{a}{b}", f"d[{a}]", f"d[{b}]", links[0].latency, links[0].bytes_per_tick, group="bus")
            for a in range(3)
            for b in range(a)
        ]
        found = solve(problem, modes)
        assert (found.lower_bound if found.schedule else None) == shortest(replace(problem, links=tuple(ends)), modes)
    elif group.memory is None:
        assert solve(problem, modes).lower_bound == shortest(problem, modes)


@pytest.mark.parametrize("seed", seeds(24, least=4))
def test_no_layout_is_below_the_bound(seed: int) -> None:
    """With combines, halos, in-place outputs, zero ticks, several links: everything that a problem may have."""
    r = Random(seed)
    problem = problem_of(r, 4)
    decoder = ScheduleDecoder(problem)
    drawn = [decisions_for(r, problem) for _ in range(30)]
    modes: Modes = [list(dict.fromkeys(d.modes[p] for d in drawn[:8])) for p in range(len(problem.phases))]
    found = solve(problem, modes)
    for decisions in drawn:
        chosen = tuple(mode if mode in modes[p] else modes[p][0] for p, mode in enumerate(decisions.modes))
        schedule = decoder.decode(replace(decisions, modes=chosen))
        if schedule is not None:
            assert found.lower_bound <= schedule.makespan


@pytest.mark.parametrize(("problem", "optimum"), [(TOPCUOGLU, 73), (PEFT, 113)])
def test_examples_of_the_papers(problem: Problem, optimum: int) -> None:
    found = solve(problem, singles(problem))
    assert (found.proved, found.lower_bound) == (True, optimum)


def auckland() -> list[tuple[str, int]]:
    with (AUCKLAND / "optima.csv").open() as file:
        return [(row["file"], int(row["length"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize(("file", "optimum"), auckland())
def test_auckland(file: str, optimum: int) -> None:
    problem = read_instance(file, (AUCKLAND / file).read_text())
    found = solve(problem, singles(problem))
    assert (found.proved, found.lower_bound) == (True, optimum)


@pytest.mark.parametrize("seed", [0, 3])
def test_sixteen_phases_on_four_classes(seed: int) -> None:
    problem = atomic(seed, 16, 4, memory=True, bus=seed % 2 == 1)
    assert solve(problem, singles(problem)).proved


def test_the_same_again() -> None:
    problem = atomic(7, 8, 3, memory=True)
    first = solve(problem, singles(problem))
    assert all(solve(problem, singles(problem)) == first for _ in range(repeats(19)))


@pytest.mark.parametrize("seed", seeds(6, least=2))
def test_relaxing_never_hurts_and_annotations_never_help(seed: int) -> None:
    problem, modes = small(seed, cuts=True, memory=True)
    free = solve(problem, modes)
    roomier = tuple(replace(g, memory=None if g.memory is None else g.memory + 60) for g in problem.devices)
    more = solve(replace(problem, devices=roomier), modes)
    assert more.schedule is not None or free.schedule is None
    if free.schedule is not None:
        assert more.lower_bound <= free.schedule.makespan
    last = PhaseIndex(len(problem.phases) - 1)
    bound = solve(replace(problem, directives=(Before(SourceLine(1, ""), (PhaseIndex(0),), (last,)),)), modes)
    if bound.schedule is not None:
        assert free.schedule is not None
        assert bound.schedule.makespan >= free.lower_bound


@pytest.mark.parametrize("seed", seeds(4, least=2))
def test_ticks_scale(seed: int) -> None:
    problem, modes = small(seed, cuts=False, memory=False, delays=True)

    def scaled(task: PhaseTask) -> PhaseTask:
        return replace(
            task, ticks={kind: Ticks(tuple((r, 7 * t) for r, t in table.points)) for kind, table in task.ticks.items()}
        )

    groups = tuple(replace(group, sync=7 * group.sync) for group in problem.devices)
    edges = tuple(replace(edge, ticks=7 * (edge.ticks or 0)) for edge in problem.edges)
    larger = replace(problem, phases=tuple(map(scaled, problem.phases)), edges=edges, devices=groups)
    assert solve(larger, modes).lower_bound == 7 * solve(problem, modes).lower_bound


def chain(cap: int) -> Problem:
    """S21: tensors of 100 MB, one after the other, on the GPU."""
    size = 100_000_000
    phases = tuple(PhaseTask(name, {"gpu": Ticks(((1, 1),))}, out_bytes=size) for name in "abc")
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(a + 1)) for a in range(2))
    return Problem((DeviceGroup("cpu", "cpu", home=True), DeviceGroup("gpu", "gpu", memory=cap)), (), phases, edges)


@pytest.mark.parametrize(("cap", "feasible"), [(250_000_000, True), (200_000_000, True), (199_000_000, False)])
def test_memory_by_liveness(cap: int, feasible: bool) -> None:
    found = solve(chain(cap), [[((1, 1),)]] * 3)
    assert (found.schedule is not None) == feasible


def test_a_replaced_operand_needs_no_second_place() -> None:
    problem = chain(100_000_000)
    inplace = replace(problem, phases=tuple(replace(phase, inplace=True) for phase in problem.phases))
    assert solve(inplace, [[((1, 1),)]] * 3).proved


def test_a_bound_above_a_plan_is_not_believed() -> None:
    """S33."""
    problem = TOPCUOGLU
    best = solve(problem, singles(problem)).schedule
    assert best is not None
    claimed = refine(problem, singles(problem), best, best.makespan + 5, SolverSteps(STEPS))
    assert (claimed.lower_bound, claimed.proved) == (73, True)
    worse = next(
        s for s in (ScheduleDecoder(problem).decode(decisions_for(Random(k), problem)) for k in range(9)) if s is not None
    )
    forged = Answer(Status.OPTIMAL, worse, worse.makespan, (worse.makespan,), BoundCertificate("z3", worse.makespan))
    assert not bound_is_reproved(problem, forged)


def test_proofs_are_done_again() -> None:
    cut = Problem(
        (DeviceGroup("m", "m", 100, home=True),), (),
        (PhaseTask("s", {"m": Ticks(((1, 10),))}, rows=6400, combine=Combine(10)),), (),
        (LimitMachines(SourceLine(1, ""), 40),),
    )  # fmt: skip
    for problem, optimum in ((PEFT, 113), (cut, 2000)):
        answer = plan_problem(problem)
        assert (answer.status, answer.lower_bound) == (Status.OPTIMAL, optimum)
        assert bound_is_reproved(problem, answer)
        assert not bound_is_reproved(problem, replace(answer, lower_bound=optimum - 1))
        assert not bound_is_reproved(problem, replace(answer, values=(optimum + 1,), lower_bound=optimum + 1))


def test_impossible_is_proved_again() -> None:
    problem = replace(
        chain(250_000_000), directives=(LimitMemory(SourceLine(1, ""), "gpu", 199_000_000), PlaceDirective(SourceLine(2, ""),
        (PhaseIndex(0),), "gpu"))
    )
    answer = plan_problem(problem)
    assert answer.status is Status.IMPOSSIBLE
    assert answer.conflict is not None and answer.conflict.code == "SCH103"
    assert bound_is_reproved(problem, answer)


def test_few_steps_are_a_gap_and_no_answer() -> None:
    problem = atomic(1, 16, 4, memory=True)
    best = solve(problem, singles(problem)).schedule
    assert best is not None
    found = refine(problem, singles(problem), best, 0, SolverSteps(2_000))
    assert found.schedule is best
    assert found.lower_bound <= best.makespan and not found.aborted


def test_the_clock_aborts_and_answers_nothing() -> None:
    problem = atomic(1, 16, 4, memory=True)
    found = refine(problem, singles(problem), None, 0, SolverSteps(STEPS, until=0.0))
    assert found.aborted and not found.proved
