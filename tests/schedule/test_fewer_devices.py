"""More devices never give a longer plan, and no device has a sliver of a phase that makes the plan no hundredth shorter."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from rho import backend
from rho.backend.devices.cost_functions import Ticks
from rho.backend.devices.profile import CostTable, LinkProfile, Profile
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.bounds.single_phase_split import SLIVERS, nested_device_subsets
from rho.backend.schedule.problem import Decisions, DeviceGroup, Edge, Link, PhaseIndex, PhaseTask, Problem
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.strategy import Budget, SearchContext
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder, decisions_of
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

pytestmark = pytest.mark.long

QUICK = Budget(60, 0)
KMEANS = """input x : f32[n d]
input c : f32[k d] where k ≥ 1
output q ← ⌊/((+/x×x)∘.+(+/c×c))-2×x+.×⍉c"""
HEAT = "input x : f64[n]\noutput y ← {⍵+0.1×(0,¯1↓⍵)+((1↓⍵),0)-2×⍵}⍣100 ⊢ x"
PAIRS = "input x : f64[n]\nr ← x∘.-x\noutput a ← +/r×÷0.0001+r×r"
PROGRAMS = {
    "k-means": (KMEANS, {"x": (100_000, 32), "c": (64, 32)}),
    "heat": (HEAT, {"x": (4_000_000,)}),
    "pairs": (PAIRS, {"x": (6000,)}),
}


def twice(one: Profile) -> Profile:
    """The workstation, and another one behind a slow network."""
    names = {"cpu0": "cpu1", "gpu0": "gpu2", "gpu1": "gpu3"}
    others = tuple(replace(device, name=names[device.name], node="n1", home=False) for device in one.devices)
    network = CostTable((0, 1_250_000_000), (30_000, 1_000_030_000))
    links = tuple(LinkProfile("cpu0", name, 30_000, network, one.links[0].duplex, "network") for name in names.values())
    return replace(one, devices=(*one.devices, *others), links=(*one.links, *links))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_profile_with_more_devices_gives_no_longer_plan(name: str) -> None:
    text, shapes = PROGRAMS[name]
    core = check(Source("<devices>", text)).core
    assert core is not None
    workstation = load_profile("workstation")
    times = []
    for profile in (workstation, twice(workstation)):
        planned = plan_program(core, backend.bind_shapes(core, shapes), profile, budget=QUICK)
        assert planned.answer.schedule is not None
        times.append(planned.answer.schedule.makespan * planned.program.problem.tick_ns)
    assert 1000 * times[1] <= 1001 * times[0]  # few moves of annealing take other ways


def problem(rates: dict[str, int]) -> Problem:
    """A phase of 1000 rows on a home that is slow, and on devices behind links of these rates, as long for few rows."""
    groups = (DeviceGroup("home", "slow", home=True), *(DeviceGroup(name, "quick") for name in rates))
    links = tuple(Link(f"to {name}", "home", name, bytes_per_tick=Fraction(rate)) for name, rate in rates.items())
    ticks = {"slow": Ticks(((1, 100), (1000, 100_000))), "quick": Ticks(((1, 10_000), (1000, 10_000)))}
    return Problem(groups, links, (PhaseTask("p", ticks, rows=1000, out_bytes=8000),), ())


def test_subsets_are_by_the_rates_of_links() -> None:
    assert nested_device_subsets(problem({"a": 100, "b": 1, "c": 100})) == (frozenset({0, 1, 3}),)
    assert nested_device_subsets(problem({"a": 100, "b": 100})) == ()


def test_rows_of_slivers_go_to_the_largest_shard() -> None:
    one = problem({"a": 1000, "b": 1000})
    decoder = ScheduleDecoder(one)
    context = SearchContext(one, QUICK, decoder, Costs(decoder), solve_subproblem=plan_problem)
    context.incumbent.offer(decoder.decode(Decisions((((0, 3), (1, 991), (2, 6)),), (0,))))
    SLIVERS.run(context)
    assert context.incumbent.schedule is not None
    assert decisions_of(one, context.incumbent.schedule).modes == (((1, 1000),),)


def test_a_sliver_that_helps_by_less_than_a_hundredth_goes_and_one_that_helps_more_stays() -> None:
    for own, left in ((4, 1), (20, 2)):  # ticks that all rows take more than all but five
        devices = (DeviceGroup("a", "a", home=True), DeviceGroup("b", "b"))
        task = PhaseTask("p", {"a": Ticks(((1, 1), (995, 995), (1000, 995 + own))), "b": Ticks(((1, 1), (9, 9)))}, rows=1000)
        one = Problem(devices, (), (task,), ())
        decoder = ScheduleDecoder(one)
        context = SearchContext(one, QUICK, decoder, Costs(decoder), solve_subproblem=plan_problem)
        context.incumbent.offer(decoder.decode(Decisions((((0, 995), (1, 5)),), (0,))))
        SLIVERS.run(context)
        assert context.incumbent.schedule is not None
        assert len(context.incumbent.schedule.shards) == left, own


def test_a_sliver_goes_though_first_starts_do_not_tell_who_sends_first() -> None:
    """`late` is placed first and needs what is sent first; `cut` starts before it at home, and elsewhere waits for much."""
    devices = (DeviceGroup("home", "k", home=True), *(DeviceGroup(name, "k") for name in ("a", "b", "c")))
    links = tuple(Link(name, "home", name, bytes_per_tick=Fraction(1), group="bus") for name in ("a", "b", "c"))
    atomic = {ticks: {"k": Ticks(((1, ticks),))} for ticks in (0, 190)}
    tasks = (
        PhaseTask("much", atomic[0], out_bytes=100), PhaseTask("little", atomic[0], out_bytes=10), PhaseTask("late", atomic[190]),
        PhaseTask("cut", {"k": Ticks(((1, 5), (1000, 5)))}, rows=1000),
        PhaseTask("sliver", {"k": Ticks(((1, 1), (1000, 50)))}, rows=1000),
    )  # fmt: skip
    one = Problem(devices, links, tasks, (Edge(PhaseIndex(1), PhaseIndex(2)), Edge(PhaseIndex(0), PhaseIndex(3))))
    decoder = ScheduleDecoder(one)
    context = SearchContext(one, QUICK, decoder, Costs(decoder), solve_subproblem=plan_problem)
    home = ((0, 1),)
    modes = (home, home, ((2, 1),), ((0, 500), (1, 500)), ((0, 3), (3, 997)))
    context.incumbent.offer(decoder.decode(Decisions(modes, (0, 1, 2, 3, 4))))
    assert context.incumbent.schedule is not None and context.incumbent.schedule.makespan == 200
    SLIVERS.run(context)
    assert context.incumbent.schedule.makespan == 200
    assert decisions_of(one, context.incumbent.schedule).modes[4] == ((3, 1000),)
