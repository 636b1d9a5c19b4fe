"""What a calibration measures, at which sizes, and the profile that comes of it.

Structured phases: for every element type a chain of additions (which gives what reading, writing and one more operation
cost), each scalar function once and twice, reductions in each layout alone and after a product, transposed and padded
reads.  Library phases: the programs of `programs`.  The executor's own costs: launching, dispatching, waiting, allocating.

Sizes are points, with a point on both sides of where the CPU back end changes its ways (whole arrays to boxes, one thread to
the team) and of where the C library asks the system for every large array anew (32 MiB).  A series stops growing when its
next size would take too long; beyond its last point time is proportional.

Neighbours: `clock` (timing), `bodies` and `programs` (what), `solve` (from times to tables).
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...schedule.profiles.host import HostFacts, host_profile
from ...schedule.profiles.keys import CONSTANTS, LAYOUTS
from ...schedule.profiles.profile import Profile
from ...schedule.profiles.tables import Table
from ..cpu import CpuBackend
from . import bodies, overheads, programs
from .clock import Clock, Series, low, run_rounds
from .solve import Measured, residuals, tables
from .tier import tier_name, warm_kernels

_CORE_SIZES: Final = (1 << 10, 1 << 13, (1 << 13) + 8, 1 << 16, 1 << 18, 1 << 19, 1 << 21, (1 << 22) - (1 << 13), 1 << 23)
_SMALL_SIZES: Final = (1 << 10, 1 << 13, 1 << 16, 1 << 19)
_TEAM: Final = {True: 1 << 16, False: 1 << 19}
"""Points from which compiled kernels, or NumPy's boxes, use the whole team."""


def sizes_for(tier: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Points at which core series are measured, and at which others are."""
    before = _TEAM[tier != "numpy"] - 8
    return tuple(sorted({*_CORE_SIZES, before})), tuple(sorted({*_SMALL_SIZES, before}))


KINDS: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.I32, Kind.C128)
_REDUCED: Final = {Kind.BOOL: ("add", "and", "or")}
_CIRCULAR: Final = (0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -5, -6, -7)
_RARE: Final = frozenset({"factorial", "lgamma", "digamma", "erfc", "binomial", "root", "lcm", "gcd", "nand", "nor", "le", "ge",
                          "gt", "ne", "conj", "convert", "convert_checked", "circular"})  # fmt: skip
_CONVERSIONS: Final = ((Kind.I64, Kind.F64), (Kind.BOOL, Kind.F64), (Kind.BOOL, Kind.I64), (Kind.I64, Kind.I32),
                       (Kind.F32, Kind.F64), (Kind.I32, Kind.I64))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Effort:
    """`rounds` through everything; a call of core series may take `core_ns`, of others `other_ns`; each series gets
    `budget_ns` a round.  No sizes: those of the kernels in use.  After `seconds` there are no second rounds (and soon nothing
    more), of library phases after two fifths."""

    rounds: int = 3
    core_ns: int = 40_000_000
    other_ns: int = 4_000_000
    budget_ns: int = 300_000
    seconds: int = 21
    kinds: tuple[Kind, ...] = KINDS
    sizes: tuple[int, ...] = ()
    small_sizes: tuple[int, ...] = ()
    with_programs: bool = True


LATE_NS: Final = 10**9
"""A second after its time a calibration begins nothing new: what is missing is taken from near sizes and element types."""
REFINED: Final = Effort(rounds=7, other_ns=12_000_000, budget_ns=1_000_000, seconds=180)

Make = Callable[[int], bodies.Probe]


@dataclass(frozen=True, slots=True)
class Task:
    """A measured name: `role` and what it is of; `make(points)` builds the phase."""

    name: tuple[str, ...]
    kind: Kind
    make: Make
    core: bool


def calibrate(facts: HostFacts, clock: Clock, effort: Effort | None = None, today: date | None = None) -> Profile:
    """This machine's profile with measured tables."""
    effort = effort or Effort()
    if not effort.sizes:
        sizes, small = sizes_for(tier_name())
        effort = replace(effort, sizes=sizes, small_sizes=small)
    backend = CpuBackend(facts.cores)
    start, seconds = clock.now(), effort.seconds * 10**9
    until = start + seconds
    with warm_kernels(), backend.quiet():
        library = _library(clock, effort, facts.cores, start + seconds * 2 // 5) if effort.with_programs else {}
        measured = _structured(backend, clock, effort, until)
        found = overheads.measure(clock, facts.cores)
        made = {**tables(measured), **library, **overheads.kernels(facts.cores), **overheads.turns(facts.cores)}
        checks = _checks(backend, clock, effort)
        tier = tier_name()
    bodies.forget_data()
    profile = host_profile(facts, tier, {**facts.facts(), "numpy": np.__version__})
    device = replace(
        profile.home, ops=made, launch_ns=found.launch_ns, host_dispatch_ns=found.dispatch_ns, sync_ns=found.sync_ns,
        alloc_ns=found.alloc_ns,
    )  # fmt: skip
    low, high = residuals(device, checks)
    calibration = replace(profile.calibration, calibrated=today or date.today(), residual_p10=low, residual_p90=high)
    return replace(profile, devices=(device,), calibration=calibration)


def _tasks(kind: Kind) -> list[Task]:
    """In an order in which what is needed to solve for a table comes before it."""
    join = bodies.joining(kind)
    others = ("add", "mul", "add", "mul") if kind is not Kind.BOOL else ("and", "or", "and", "or")

    def chained(operands: int, functions: tuple[str, ...]) -> Make:
        return lambda points: bodies.chain(kind, points, functions, operands)

    found = [
        Task(("chain", "1", "1"), kind, chained(1, (join,)), True), Task(("chain", "2", "1"), kind, chained(2, (join,)), True),
        Task(("chain", "2", "5"), kind, chained(2, (join, *others)), True),
    ]  # fmt: skip
    for name, row in FUNCTIONS.items():
        wanted = kind in row.kinds and (name not in _RARE or (kind is Kind.F64 and name in ("factorial", "lgamma", "erfc")))
        if wanted and (kind in (Kind.F64, Kind.I64, Kind.BOOL) or name in _EVERYWHERE):
            found += _function(name, kind, 0)
    if kind.is_float:
        for parameter in _CIRCULAR if kind is Kind.F64 else (1, 2, 7):
            found += _function("circular", kind, parameter)
    for source, target in _CONVERSIONS:
        if target is kind:
            tag = ("convert", source.value)
            found.append(Task(("once", *tag), kind, _bind(bodies.once, "convert", source, target=kind), False))
            found.append(Task(("twice", *tag), kind, _bind(bodies.twice, "convert", source, target=kind), False))
    for function, which in CONSTANTS.items():
        if kind in (Kind.I64, Kind.I32) and kind in FUNCTIONS[function].kinds:
            found.append(Task(("constant", function), kind, _constant(function, kind, which), False))
    for layout in LAYOUTS:
        for function in _REDUCED.get(kind, ("add", "max") if not kind.is_complex else ("add",)):
            make = _reduction(function, kind, layout, fused=False)
            found.append(Task(("reduce", function, layout), kind, make, layout in ("full", "row", "col")))
            make = _reduction(function, kind, layout, fused=True)
            found.append(Task(("fused", function, layout), kind, make, False))
    if kind in (Kind.F64, Kind.F32):
        found.append(Task(("transposed",), kind, lambda points: bodies.transposed(kind, _side(points)), False))
        found.append(Task(("padded",), kind, lambda points: bodies.padded(kind, points), False))
    return found


def _side(points: int) -> int:
    """Of the largest square that is a power of four, with at most as many points."""
    return 1 << (points.bit_length() - 1) // 2


_EVERYWHERE: Final = frozenset({
    "add", "sub", "mul", "div", "neg", "abs", "sqrt", "exp", "ln", "max", "lt", "eq", "select", "pow",
})  # fmt: skip
_CORE: Final = frozenset({"add", "mul", "div", "sqrt", "lt", "select", "max"})


def _function(name: str, kind: Kind, parameter: int) -> list[Task]:
    tag = (name, str(parameter))
    return [
        Task(("once", *tag), kind, _bind(bodies.once, name, kind, parameter), name in _CORE),
        Task(("twice", *tag), kind, _bind(bodies.twice, name, kind, parameter), False),
    ]


def _bind(make: Callable[..., bodies.Probe], name: str, kind: Kind, parameter: int = 0, target: Kind | None = None) -> Make:
    return lambda points: make(name, kind, points, parameter, target)


def _constant(function: str, kind: Kind, place: int) -> Make:
    return lambda points: bodies.with_constant(function, kind, points, place)


def _reduction(function: str, kind: Kind, layout: str, *, fused: bool) -> Make:
    return lambda points: bodies.reduction(function, kind, layout, points, fused=fused)


def _structured(
    backend: CpuBackend, clock: Clock, effort: Effort, until: int
) -> Mapping[tuple[Kind, tuple[str, ...]], Measured]:
    """Times of every task at every size it reaches, one element type at a time (so that data need little memory)."""
    found: dict[tuple[Kind, tuple[str, ...]], Measured] = {}
    for kind in effort.kinds:
        alive = {task.name: task for task in _tasks(kind)}
        for place, points in enumerate(effort.sizes):
            if clock.now() > until + LATE_NS and kind is not effort.kinds[0]:
                return found
            series = {
                name: Series(task.make(points).kernel(backend))
                for name, task in alive.items()
                if task.core or points in effort.small_sizes
            }
            for one in series.values():
                one.call()  # makes the kernel and touches memory
            run_rounds(list(series.values()), clock, effort.rounds, effort.budget_ns, until=until)
            growth = effort.sizes[place + 1] / points if place + 1 < len(effort.sizes) else 1
            for name, one in series.items():
                found.setdefault((kind, name), {})[points] = one.ns
                if one.ns * growth > (effort.core_ns if alive[name].core else effort.other_ns):
                    del alive[name]
            del series
            bodies.forget_data()
            gc.collect()
    return found


def _library(clock: Clock, effort: Effort, threads: int, until: int) -> dict[str, Table]:
    """Tables of library phases.  Small sizes take turns with each other, as phases of a program do; large ones run in a row."""
    points: dict[str, dict[int, int]] = {}

    def put(prepared: programs.Prepared, ns: int) -> None:
        known = points.setdefault(prepared.key, {})
        known[prepared.size] = max(ns, known.get(prepared.size, 0))

    small: list[tuple[programs.Prepared, list[int]]] = []
    large: list[tuple[programs.Program, Kind]] = []
    for program in programs.PROGRAMS:
        for kind in program.kinds:
            large.append((program, kind))
            for size in program.sizes:
                if size <= _TURNS and (prepared := programs.prepare(program, kind, size, threads)) is not None:
                    small.append((prepared, []))
    for _ in range(2 * effort.rounds + 1):
        for prepared, times in small:
            times.append(prepared.run())
    for prepared, times in small:
        put(prepared, low(times[1:]))
    del small
    for program, kind in large:
        last = 0
        for place, size in enumerate(program.sizes):
            if size <= _TURNS:
                continue
            if last * (size / program.sizes[place - 1]) > 10 * effort.other_ns or clock.now() > until + LATE_NS:
                break
            prepared = programs.prepare(program, kind, size, threads)
            if prepared is None:
                break
            last = _time_program(prepared, clock, effort, until)
            put(prepared, last)
        bodies.forget_data()
    return {key: Table(tuple(sorted(found)), tuple(found[s] for s in sorted(found))) for key, found in points.items()}


_TURNS: Final = 1 << 13
"""Programs of at most so many points take turns."""


def _time_program(prepared: programs.Prepared, clock: Clock, effort: Effort, until: int) -> int:
    """The lower quartile of the medians of a few rounds; `clock` only says when it is enough."""
    prepared.run()
    found = []
    for place in range(effort.rounds):
        if place and clock.now() > until:
            break
        start, times = clock.now(), [prepared.run()]
        while len(times) < 2 or clock.now() - start < 2 * effort.budget_ns:
            times.append(prepared.run())
        found.append(int(median(times)))
    return low(found)


def _checks(backend: CpuBackend, clock: Clock, effort: Effort) -> list[tuple[bodies.Probe, int]]:
    """Bodies of several operations with their times, to see how well the tables predict what they were not made of."""
    kind, found = Kind.F64, []
    for points in (1 << 16, 1 << 18, 1 << 20):
        if points > max(effort.sizes):
            continue
        chains = (("sub", "mul"), ("mul", "add", "sqrt2", "sub"), ("max", "sub", "mul"), ("div", "add"), ("mul",) * 8)
        probes = [bodies.chain(kind, points, [f.removesuffix("2").replace("sqrt", "mul") for f in c]) for c in chains]
        probes += [bodies.twice("exp", kind, points), bodies.reduction("add", kind, "row", points, fused=True)]
        series = [Series(p.kernel(backend)) for p in probes]
        run_rounds(series, clock, effort.rounds + 1, effort.budget_ns)
        found += [(p, s.ns) for p, s in zip(probes, series, strict=True)]
    bodies.forget_data()
    return found
