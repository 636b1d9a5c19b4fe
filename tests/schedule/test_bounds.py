"""Lower bounds hold (against brute force and against every plan found), and are exact where they should be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from share import seeds

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.bound_strategies import best_bound, energetic_bound, load_bound
from rho.backend.schedule.bounds.head_tail_bounds import BoundSet, Costs
from rho.backend.schedule.problem import (
    Combine,
    Decisions,
    DeviceGroup,
    Edge,
    InsertionPolicy,
    Link,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    SourceLine,
)
from rho.backend.schedule.search.list_scheduling import baselines
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import Budget
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder

from .drawn import problem_of
from .examples import PEFT, TOPCUOGLU


def bounds(problem: Problem) -> BoundSet:
    return BoundSet(Costs(ScheduleDecoder(problem)))


def equal(count: int, *ticks: int) -> Problem:
    """Independent phases on equal processors."""
    phases = tuple(PhaseTask(f"t{i}", {"p": Ticks(((1, each),))}) for i, each in enumerate(ticks))
    return Problem((DeviceGroup("p", "p", count=count, home=True),), (), phases, ())


def test_a_chain_is_its_own_bound() -> None:
    phases = tuple(PhaseTask(f"t{i}", {"a": Ticks(((1, 5),)), "b": Ticks(((1, 3),))}) for i in range(4))
    edges = tuple(Edge(PhaseIndex(i), PhaseIndex(i + 1), ticks=9) for i in range(3))
    problem = Problem((DeviceGroup("A", "a", home=True), DeviceGroup("B", "b")), (), phases, edges)
    assert bounds(problem).path.ticks == 12


def test_the_load_of_equal_processors() -> None:
    assert load_bound(bounds(equal(3, 4, 4, 4, 4, 4))).ticks == 7  # 20 over 3


def test_the_load_of_unequal_processors_is_fractional() -> None:
    """Twelve phases of 3 on A or 1 on B: 3/4 of the work belongs to B."""
    phases = tuple(PhaseTask(f"t{i}", {"a": Ticks(((1, 3),)), "b": Ticks(((1, 1),))}) for i in range(12))
    problem = Problem((DeviceGroup("A", "a", home=True), DeviceGroup("B", "b")), (), phases, ())
    assert load_bound(bounds(problem)).ticks == 9


def test_a_window_adds_what_comes_before_and_after() -> None:
    """A source of 5, six phases of 4 on two processors, a sink of 5."""
    phases = tuple(PhaseTask(f"t{i}", {"p": Ticks(((1, 5 if i in (0, 7) else 4),))}) for i in range(8))
    edges = tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for i in range(1, 7) for a, b in ((0, i), (i, 7)))
    problem = Problem((DeviceGroup("p", "p", count=2, home=True),), (), phases, edges)
    assert load_bound(bounds(problem)).ticks == 5 + 12 + 5


def test_all_of_an_output_is_on_a_device_when_what_it_is_made_of_has_come() -> None:
    """A wide and a narrow output of what is at home, then what reads all of it: at home, and on a device behind a link."""
    devices = (DeviceGroup("h", "h", home=True), DeviceGroup("d", "d", sync=1))
    quick, slow = Ticks(((1, 1), (10, 1))), Ticks(((1, 900), (10, 9000)))
    links = (Link("l", "h", "d", 2, Fraction(1)),)

    def head(out: int) -> dict[int, int]:
        phases = (
            PhaseTask("x", {"h": quick}, rows=10, out_bytes=100, home=True),
            PhaseTask("p", {"h": slow, "d": quick}, rows=10, out_bytes=out),
            PhaseTask("q", {"h": slow, "d": quick}, rows=10, out_bytes=10),
        )
        edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(1), PhaseIndex(2), whole=True))
        problem = Problem(devices, links, phases, edges)
        assert best_bound(bounds(problem)).ticks <= (plan_problem(problem, Budget(60, 0)).values or (0,))[0]
        return bounds(problem).heads[2]

    assert head(1000)[1] == 100 + 3  # x is brought, and p made there
    assert head(20)[1] < 100 and head(1000)[0] < 100


def test_what_starts_late_on_the_quickest_device_is_a_window() -> None:
    """Ten phases that one device may begin at 50, and the other, ten times slower, at once."""
    devices = (DeviceGroup("h", "h", home=True), DeviceGroup("d", "d"))
    x = PhaseTask("x", {"h": Ticks(((1, 0),))}, out_bytes=50, home=True)
    early = PhaseTask("e", {"d": Ticks(((1, 1),))})
    phases = (x, early, *(PhaseTask(f"p{i}", {"h": Ticks(((1, 100),)), "d": Ticks(((1, 10),))}) for i in range(10)))
    edges = tuple(Edge(PhaseIndex(0), PhaseIndex(2 + i)) for i in range(10))
    problem = Problem(devices, (Link("l", "h", "d", 0, Fraction(1)),), phases, edges)
    assert load_bound(bounds(problem)).ticks == 137  # of which the quick one works for 87


def test_energy_counts_phases_that_lie_partly_in_an_interval() -> None:
    problem = equal(2, 4, 4, 4)
    late = Problem(problem.devices, (), tuple(PhaseTask(t.id, t.ticks, ready=1) for t in problem.phases), ())
    found = bounds(late)
    assert energetic_bound(found, load_bound(found).ticks).ticks >= load_bound(found).ticks


def test_bounds_of_published_examples_hold() -> None:
    assert best_bound(bounds(TOPCUOGLU)).ticks <= 73
    assert best_bound(bounds(PEFT)).ticks <= 113


def test_a_combined_output_is_at_home_wherever_its_phase_ran() -> None:
    """The link carries the partial of 10 bytes; a bound had all 90 of the output follow the combine."""
    devices = (DeviceGroup("home", "h", home=True), DeviceGroup("far", "f"))
    phases = (
        PhaseTask("sum", {"f": Ticks(((4, 8),))}, rows=4, combine=Combine(3, bytes=10), out_bytes=90),
        PhaseTask("after", {"h": Ticks(((1, 5),))}),
        PhaseTask("back", {"f": Ticks(((1, 7),))}),
    )
    edges = (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(0), PhaseIndex(2)))
    links = (Link("l", "home", "far", 2, Fraction(1)),)
    near = bounds(Problem(devices, links, phases[:2], edges[:1]))
    assert near.links().ticks == 0 and best_bound(near).ticks == 8 + 12 + 3 + 5
    assert bounds(Problem(devices, links, phases, edges)).links().ticks == 8 + 12 + 3 + 92 + 7


def test_rows_that_nobody_reads_are_not_sent_home() -> None:
    """Row 0 at home, the others on the other device, whose link is slow: 10 + 5; certified were 35."""
    phases = (
        PhaseTask("rows", {"h": Ticks(((1, 10),)), "f": Ticks(((1, 1),))}, rows=4, out_bytes=100),
        PhaseTask("after", {"h": Ticks(((1, 5),))}, home=True),
    )
    edge = Edge(PhaseIndex(0), PhaseIndex(1), only=(0, 1))
    devices = (DeviceGroup("home", "h", home=True), DeviceGroup("far", "f"))
    problem = Problem(devices, (Link("l", "home", "far", 2, Fraction(1)),), phases, (edge,))
    ticks = ScheduleDecoder(problem).makespan(Decisions((((0, 1), (1, 3)), ((0, 1),)), (0, 1)))
    assert ticks == 15
    assert plan_problem(problem, Budget(60, 0)).lower_bound <= 15


def pinned(random: Random, problem: Problem) -> Problem:
    """With most phases placed on one device each, and readers of a few rows."""
    places = tuple(
        PlaceDirective(SourceLine(0, ""), (PhaseIndex(p),), random.choice(problem.device_names()))
        for p, task in enumerate(problem.phases) if not task.home and random.random() < 0.9
    )  # fmt: skip
    return replace(problem, directives=places, edges=tuple(narrowed(random, problem, edge) for edge in problem.edges))


def narrowed(random: Random, problem: Problem, edge: Edge) -> Edge:
    """An atomic reader may want only some rows."""
    source = problem.phases[edge.source]
    if problem.phases[edge.target].rows or not source.rows or source.is_gathered or random.random() < 0.3:
        return edge
    first = random.randrange(source.rows)
    return replace(edge, only=(first, random.randint(first + 1, source.rows)))


def test_no_plan_of_placed_phases_beats_their_bound() -> None:
    """Links count only where phases have one device each."""
    compared = 0
    for seed in seeds(1000):
        random = Random(seed)
        problem = pinned(random, problem_of(random))
        costs = Costs(ScheduleDecoder(problem))
        if not all(costs.allowed):
            continue
        bound = best_bound(bounds(problem))
        for candidate in baselines(costs):
            if candidate.ticks is not None:
                compared += 1
                assert candidate.ticks >= bound.ticks, (seed, candidate.name, bound)
    assert compared > 100


def test_no_plan_of_a_random_problem_beats_its_bound() -> None:
    compared = 0
    for seed in seeds(300):
        random = Random(seed)
        problem = problem_of(random)
        decoder = ScheduleDecoder(problem)
        costs = Costs(decoder)
        if not all(costs.allowed):
            continue
        found = BoundSet(costs)
        bound = best_bound(found).ticks
        bound = max(bound, energetic_bound(found, bound).ticks)
        for _ in range(20):
            modes = []
            for p, task in enumerate(problem.phases):
                devices = random.sample(costs.allowed[p], random.randint(1, len(costs.allowed[p])) if task.rows else 1)
                cuts = sorted(random.sample(range(1, task.units), min(len(devices), task.units) - 1))
                rows = [b - a for a, b in zip([0, *cuts], [*cuts, task.units], strict=True)]
                modes.append(tuple(zip(devices, rows, strict=False)))
            decisions = Decisions(tuple(modes), tuple(range(len(modes))), random.choice(list(InsertionPolicy)))
            ticks = decoder.makespan(decisions)
            if ticks is not None:
                compared += 1
                assert ticks >= bound, seed
    assert compared > 50
