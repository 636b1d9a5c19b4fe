"""HEFT and PEFT give what their papers say; other heuristics are legal and deterministic.  S28."""

from __future__ import annotations

from rho.backend.devices.cost_functions import Ticks
from rho.backend.schedule.bounds.head_tail_bounds import Costs
from rho.backend.schedule.problem import DeviceGroup, PhaseIndex, PhaseTask, PlaceDirective, Problem, SourceLine
from rho.backend.schedule.search.list_scheduling import baselines, heft, optimistic_costs, peft
from rho.backend.schedule.search.mode_enumeration import candidate_modes
from rho.backend.schedule.search.primal_heuristics import anneal
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder

from .examples import PEFT, TOPCUOGLU


def makespans(problem: Problem) -> tuple[int | None, int | None]:
    decoder = ScheduleDecoder(problem)
    costs = Costs(decoder)
    by_heft, by_peft = heft(costs), peft(costs)
    assert by_heft is not None and by_peft is not None
    return decoder.makespan(by_heft), decoder.makespan(by_peft)


def test_heft_gives_eighty_on_its_own_example() -> None:
    decisions = heft(Costs(ScheduleDecoder(TOPCUOGLU)))
    assert decisions is not None
    assert [p + 1 for p in decisions.priority] == [1, 3, 4, 2, 5, 6, 9, 7, 8, 10]
    assert makespans(TOPCUOGLU)[0] == 80


def test_heft_and_peft_on_the_example_of_peft() -> None:
    assert makespans(PEFT) == (133, 122)
    table = optimistic_costs(Costs(ScheduleDecoder(PEFT)), list(range(10)))
    assert table[0] == [64, 68, 86]


def test_baselines_are_named_and_timed() -> None:
    found = {c.name: c.ticks for c in baselines(Costs(ScheduleDecoder(TOPCUOGLU)))}
    assert found == {"best single": 127, "even split": 127, "HEFT": 80, "PEFT": 85}


def test_annealing_is_deterministic_and_finds_the_optimum() -> None:
    decoder = ScheduleDecoder(TOPCUOGLU)
    costs = Costs(decoder)
    start = heft(costs)
    assert start is not None
    choices = candidate_modes(costs).choices
    first, second = (anneal(decoder, choices, start, 3000) for _ in range(2))
    assert first is not None
    assert first == second
    assert first.makespan == 73


def test_placement_directives_bind_heuristics() -> None:
    directive = PlaceDirective(SourceLine(1, "place t1 on p1"), (PhaseIndex(0),), "p1")
    problem = Problem(TOPCUOGLU.devices, (), TOPCUOGLU.phases, TOPCUOGLU.edges, (directive,))
    for candidate in baselines(Costs(ScheduleDecoder(problem))):
        assert candidate.decisions.modes[0] == ((0, 1),)


def test_an_even_split_over_very_many_devices_stays_small() -> None:
    """A shard of every phase on every device would be 600,000 of them."""
    groups = (DeviceGroup("h", "k", home=True), DeviceGroup("n", "k", 9999))
    phases = tuple(PhaseTask(f"p{i}", {"k": Ticks(((1, 1),))}, rows=20_000) for i in range(60))
    found = next(c for c in baselines(Costs(ScheduleDecoder(Problem(groups, (), phases, ())))) if c.name == "even split")
    assert found.schedule is not None
    assert 60 < len(found.schedule.shards) <= 4000
