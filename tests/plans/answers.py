"""Right answers of abstract problems, one for each objective and each thing that a problem may have, to be forged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from rho.backend.devices.cost_functions import Duplex, Ticks
from rho.backend.schedule.instances.solve_instance import solve
from rho.backend.schedule.problem import (
    Answer,
    Before,
    Combine,
    Contention,
    Deadline,
    DeviceGroup,
    DeviceIndex,
    DistributedMode,
    Edge,
    Keep,
    LimitMachines,
    Link,
    Objective,
    PhaseIndex,
    PhaseTask,
    PlaceDirective,
    Problem,
    Replicate,
    SourceLine,
    Split,
    Synchronisation,
)
from rho.backend.schedule.search.strategy import Budget

HERE = SourceLine(1, "a directive")


@dataclass(frozen=True)
class Case:
    """A problem (in the form that was planned) and an answer that is right."""

    problem: Problem
    answer: Answer
    sync: Synchronisation | None


@dataclass(frozen=True)
class Claim:
    """What is forged of an answer."""

    answer: Answer
    sync: Synchronisation | None


def both(ticks: int, rows: int = 0) -> dict[str, Ticks]:
    return {kind: Ticks(((max(1, rows), ticks),)) for kind in ("cpu", "gpu")}


def edges(*pairs: tuple[int, int]) -> tuple[Edge, ...]:
    return tuple(Edge(PhaseIndex(a), PhaseIndex(b)) for a, b in pairs)


def cut() -> Problem:
    """x on the CPU; a and s cut over both; s combined at home; b after it on the GPU; two prints; a bus of one byte a tick."""
    phases = (
        PhaseTask("x", both(2), out_bytes=8),
        PhaseTask("a", both(160, 8), rows=8, out_bytes=16, scratch=8),
        PhaseTask("s", both(80, 8), rows=8, combine=Combine(1, bytes=2), out_bytes=4),
        PhaseTask("b", both(5), out_bytes=4, inplace=True),
        PhaseTask("print x", both(1), home=True, effect=True),
        PhaseTask("print b", both(1), home=True, effect=True),
    )
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True, memory=100, sync=1), DeviceGroup("gpu0", "gpu", memory=60)),
        (Link("bus", "cpu0", "gpu0", 3, Fraction(1)),), phases, edges((0, 1), (1, 2), (2, 3), (0, 4), (3, 5)),
        directives=(PlaceDirective(SourceLine(1, "place b on gpu0"), (PhaseIndex(3),), "gpu0"),),
    )  # fmt: skip


def merged() -> Problem:
    """Partial sums over a link that takes both directions at once."""
    phases = (
        PhaseTask("x", {"cpu": Ticks(((1, 1),))}, out_bytes=12, home=True),
        PhaseTask("s", both(120, 12), rows=12, combine=Combine(20, bytes=2), out_bytes=4, ready=3),
        PhaseTask("print", both(1), home=True, effect=True),
    )
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu", "gpu", 2, sync=2)),
        (Link("bus", "cpu0", "gpu", 1, Fraction(2), Duplex.FULL, "nic[i]"),), phases, edges((0, 1), (1, 2)),
        directives=(LimitMachines(HERE, 3), Deadline(HERE, 400)),
    )  # fmt: skip


def delays() -> Problem:
    """Edges that take ticks of their own, on three equal processors without links."""
    ticks = {"p": Ticks(((1, 4),))}
    phases = tuple(PhaseTask(f"t{place}", ticks) for place in range(5))
    pairs = ((0, 1, 3), (0, 2, 1), (1, 3, 2), (2, 3, 2), (0, 4, 0))
    return Problem(
        (DeviceGroup("p", "p", 3, home=True),), (), phases,
        tuple(Edge(PhaseIndex(a), PhaseIndex(b), ticks=t) for a, b, t in pairs),
    )  # fmt: skip


def uncontended() -> Problem:
    """A halo, rows that are wanted everywhere, a link that shares nothing, and an order of completion."""
    phases = (
        PhaseTask("x", both(6, 6), rows=6, out_bytes=12),
        PhaseTask("y", both(60, 6), rows=6, out_bytes=12),
        PhaseTask("w", both(2), out_bytes=4),
        PhaseTask("z", both(2), out_bytes=4),
    )
    more = (replace(edges((0, 1))[0], halo=1), *edges((2, 3)))
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu")), (Link("l", "cpu0", "gpu0", 1, Fraction(4)),),
        phases, more, contention=Contention.OFF,
        directives=(
            Split(HERE, PhaseIndex(1), (1, 1), ("cpu0", "gpu0")), Replicate(HERE, PhaseIndex(2)),
            Keep(HERE, PhaseIndex(3), "gpu0"), Before(HERE, (PhaseIndex(2),), (PhaseIndex(1),)),
        ),
    )  # fmt: skip


def together() -> Problem:
    """A loop that both devices run for 20 ticks, telling each other over the link."""
    mode = ((DeviceIndex(0), 3), (DeviceIndex(1), 5))
    channels = ((0, DeviceIndex(0), DeviceIndex(1)), (0, DeviceIndex(1), DeviceIndex(0)))
    ticks = {kind: Ticks(((1, 20), (8, 20))) for kind in ("cpu", "gpu")}
    phases = (
        PhaseTask("x", {"cpu": Ticks(((1, 1),))}, out_bytes=8, home=True),
        PhaseTask("loop", ticks, rows=8, out_bytes=16, distributed=DistributedMode(mode, (4, 8), channels)),
        PhaseTask("y", {"cpu": Ticks(((1, 2),))}, out_bytes=8),
    )
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True, memory=80), DeviceGroup("gpu0", "gpu", memory=40)),
        (Link("l", "cpu0", "gpu0", 1, Fraction(2)),), phases, edges((0, 1), (1, 2)),
    )  # fmt: skip


def throughput() -> Problem:
    """p then q on two devices 2 ticks apart."""
    ticks = {"d": Ticks(((1, 10),))}
    return Problem(
        (DeviceGroup("d", "d", 2, home=True),), (Link("l", "d", "d", latency=2),),
        (PhaseTask("p", ticks, out_bytes=1), PhaseTask("q", ticks)), edges((0, 1)),
        objectives=(Objective.THROUGHPUT, Objective.SYNCS, Objective.LATENCY),
        directives=(PlaceDirective(HERE, (PhaseIndex(0),), "d[0]"), PlaceDirective(HERE, (PhaseIndex(1),), "d[1]")),
    )  # fmt: skip


def energy() -> Problem:
    """What 8 ticks of the CPU and 1 of the GPU cost, and the bytes that go there."""
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True, idle_mw=4_000, active_mw=10_000),
         DeviceGroup("gpu0", "gpu", idle_mw=12_000, active_mw=100_000), DeviceGroup("off", "gpu", idle_mw=5)),
        (Link("l", "cpu0", "gpu0", nj_per_byte=Fraction(3_000_000)),),
        (PhaseTask("x", {"cpu": Ticks(((1, 1),))}, out_bytes=1000, home=True),
         PhaseTask("work", {"cpu": Ticks(((1, 8),)), "gpu": Ticks(((1, 1),))})), edges((0, 1)),
        objectives=(Objective.ENERGY, Objective.MACHINES), tick_ns=10**9, power_off_unused=True,
        directives=(Deadline(HERE, 5),),
    )  # fmt: skip


def machines() -> Problem:
    phase = PhaseTask("sum", {"m": Ticks(((1, 10),))}, rows=64, combine=Combine(10))
    return Problem(
        (DeviceGroup("m", "m", 9, home=True),), (), (phase,), (), (Deadline(HERE, 240),), (Objective.MACHINES, Objective.LATENCY)
    )


def syncs() -> Problem:
    cpu, gpu, at_once = {"cpu": Ticks(((1, 5),))}, {"gpu": Ticks(((1, 5),))}, {"cpu": Ticks(((1, 1),))}
    phases = (
        PhaseTask("x", at_once, home=True), PhaseTask("z", at_once, home=True),
        PhaseTask("y1", gpu), PhaseTask("y2", gpu), PhaseTask("sum", cpu),
    )  # fmt: skip
    return Problem(
        (DeviceGroup("cpu0", "cpu", home=True), DeviceGroup("gpu0", "gpu")), (Link("l", "cpu0", "gpu0", latency=10),),
        phases, edges((0, 2), (1, 3), (2, 4), (3, 4)), objectives=(Objective.SYNCS, Objective.LATENCY),
    )  # fmt: skip


def impossible() -> Problem:
    return replace(machines(), directives=(Deadline(HERE, 100), LimitMachines(HERE, 2)))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    made.__name__: made
    for made in (cut, merged, delays, uncontended, together, throughput, energy, machines, syncs, impossible)
}


@cache
def case(name: str) -> Case:
    solved = solve(PROBLEMS[name](), BUDGET)
    return Case(solved.problem, solved.answer, solved.sync)


BUDGET = Budget(2_000, 3_000_000)
