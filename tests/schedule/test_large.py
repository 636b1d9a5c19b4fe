"""Graphs beyond the exact search: cuts are bounded, answers stay within their promises."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from share import seeds

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.bounds.head_tail_bounds import BoundSet, Costs
from rho.backend.schedule.problem import Combine, Decisions, DeviceGroup, Edge, Link, Mode, PhaseIndex, PhaseTask, Problem, Status
from rho.backend.schedule.search.list_scheduling import moldable_list_schedule
from rho.backend.schedule.search.portfolio import plan_problem
from rho.backend.schedule.search.primal_heuristics import decoding_work
from rho.backend.schedule.search.strategy import DEFAULT, FAST
from rho.backend.schedule.timeline.serial_sgs import ScheduleDecoder
from rho.backend.schedule.verify.schedule_checks import verify

pytestmark = pytest.mark.long


def chains(count: int, length: int) -> Problem:
    """A source, `count` chains of `length` phases, a sink; two equal devices."""
    total = count * length + 2
    phases = tuple(PhaseTask(f"p{i}", {"p": Ticks(((1, 1 + i % 5),))}, out_bytes=4) for i in range(total))
    edges = []
    for c in range(count):
        first = 1 + c * length
        edges += [(0, first), (first + length - 1, total - 1)]
        edges += [(p, p + 1) for p in range(first, first + length - 1)]
    return Problem(
        (DeviceGroup("p", "p", count=2, home=True),), (), phases, tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in edges)
    )


def wide(phases: int, devices: int) -> Problem:
    random = Random(5)
    groups = (DeviceGroup("host", "k0", home=True), *(DeviceGroup(f"c{k}", f"k{k}", count=devices) for k in range(2)))
    links = tuple(Link(f"n{k}", "host", f"c{k}", latency=2, bytes_per_tick=Fraction(50), group="nic[i]") for k in range(2))
    links += (Link("n", "c0", "c1", latency=2, bytes_per_tick=Fraction(50), group="nic[i]"),)
    links += tuple(Link(f"m{k}", f"c{k}", f"c{k}", latency=2, bytes_per_tick=Fraction(50), group="nic[i]") for k in range(2))
    tasks = tuple(
        PhaseTask(
            f"p{p}", {f"k{k}": Ticks(((16, random.randint(200, 900) * (k + 1)),)) for k in range(2)},
            rows=random.choice((0, 16)), out_bytes=160,
        )
        for p in range(phases)
    )  # fmt: skip
    edges = tuple(
        Edge(PhaseIndex(q), PhaseIndex(p))
        for p in range(5, phases)
        for q in sorted(random.sample(range(p // 5 * 5 - 5, p // 5 * 5), 2))
    )
    return Problem(groups, links, tasks, edges)


def test_a_large_graph_of_chains_is_proved_by_a_bound() -> None:
    answer = plan_problem(chains(4, 7), FAST)
    assert answer.status is Status.OPTIMAL
    assert answer.proof.method == "bound"


def test_many_devices_are_used_within_bounds() -> None:
    problem = wide(40, 60)
    answer = plan_problem(problem, FAST)
    assert answer.schedule is not None
    heft = next(b.ticks for b in answer.baselines if b.name == "HEFT")
    assert heft is not None
    assert answer.lower_bound <= answer.values[0] < heft
    rows = [0] * len(problem.phases)
    for shard in answer.schedule.shards:
        rows[shard.phase] += shard.stop - shard.first
    assert rows == [task.units for task in problem.phases]


def test_a_price_of_shards_makes_fewer() -> None:
    costs = Costs(ScheduleDecoder(wide(40, 60)))
    bounds = BoundSet(costs)
    cheap, dear = moldable_list_schedule(costs, bounds, 0), moldable_list_schedule(costs, bounds, 1000)
    assert cheap is not None and dear is not None

    def shards(decisions: Decisions) -> int:
        return sum(map(len, decisions.modes))

    assert shards(dear) < shards(cheap)


def test_a_move_over_very_many_devices_counts_what_it_sends() -> None:
    groups = (DeviceGroup("h", "k", home=True), DeviceGroup("n", "k", 999))
    phases = tuple(PhaseTask(f"p{i}", {"k": Ticks(((1, 1),))}, out_bytes=8) for i in range(3))
    problem = Problem(groups, (), phases, (Edge(PhaseIndex(0), PhaseIndex(1)), Edge(PhaseIndex(0), PhaseIndex(2))))
    decisions = Decisions(tuple(((p, 1),) for p in range(3)), (0, 1, 2))
    linked = replace(problem, links=(Link("l", "h", "n"),))
    few = replace(problem, devices=(groups[0],))
    one = Decisions((((0, 1),),) * 3, (0, 1, 2))
    assert (
        decoding_work(ScheduleDecoder(few), one)
        == decoding_work(ScheduleDecoder(problem), decisions)
        == 3
        < decoding_work(ScheduleDecoder(linked), decisions)
        == 7
    )


def fleet(random: Random, devices: int) -> Problem:
    """A sum of what home holds, which all others reach over home's own channel, some classes ten times as quick as others."""
    kinds = ("near", "far")
    groups = (DeviceGroup("head", "head", devices, home=True), *(DeviceGroup(kind, kind, devices) for kind in kinds))
    links = tuple(
        Link(f"l{kind}", "head", kind, random.randint(1, 50), Fraction(rate), Duplex.FULL, "nic[i]")
        for kind, rate in (("head", random.randint(10, 30)), ("near", random.randint(60, 90)), ("far", random.randint(20, 40)))
    )
    each = {"head": random.randint(20, 40), "near": random.randint(2, 9), "far": random.randint(20, 60)}
    ticks = {kind: Ticks(((1, 200 + slope), (1001, 200 + 1001 * slope))) for kind, slope in each.items()}
    phases = (
        PhaseTask("x", {"head": Ticks(((1, 0),))}, out_bytes=4_000_000, rows=4000, home=True),
        PhaseTask("sum", ticks, rows=4000, combine=Combine(100, bytes=40), out_bytes=8),
    )
    return Problem(groups, links, phases, (Edge(PhaseIndex(0), PhaseIndex(1)),))


def test_a_sum_over_a_fleet_is_near_its_bound_and_beats_stated_splits() -> None:
    """The bound knows that one channel carries whatever leaves home; the plan uses the few devices that help."""
    for seed in seeds(2):
        random = Random(seed)
        problem = fleet(random, 200)
        answer = plan_problem(problem, replace(DEFAULT, steps=0))
        assert answer.schedule is not None and not verify(problem, answer)
        assert 10 * answer.lower_bound >= 8 * answer.values[0], seed
        decoder, used = ScheduleDecoder(problem), {int(shard.device) for shard in answer.schedule.shards}
        assert 1 < len(used) <= 16 and 0 in used, seed
        even = tuple((device, 8) for device in range(500))
        splits: list[Mode] = [((0, 4000),), even]
        for _ in range(200):
            others = random.sample((1, 200, 201, 202, 400, 401), random.randint(1, 3))
            cuts = sorted(random.sample(range(1, 4000), len(others)))
            rows = [b - a for a, b in zip([0, *cuts], [*cuts, 4000], strict=True)]
            splits.append(tuple(zip((0, *others), rows, strict=True)))
        for split in splits:
            ticks = decoder.makespan(Decisions((((0, 4000),), split), (0, 1)))
            assert ticks is None or ticks >= answer.values[0], (seed, split[:4])


def test_a_fleet_is_planned_without_any_one_strategy() -> None:
    problem = fleet(Random(3), 60)
    for name in ("baselines", "paths", "lp-relaxation", "list-scheduling", "row-shifts"):
        answer = plan_problem(problem, replace(FAST, without=frozenset({name})))
        assert answer.failures == () and (answer.schedule is None or not verify(problem, answer)), name
