"""What a calibration measures, in which order, and the profile that comes of it.

Structured phases: what moving bytes takes (`moving`), what computing takes (`computing`).  Library phases: the programs of
`programs`.  The executor's own costs: `overheads`.  In the end a few programs (`checking`) say how well all that holds.

A series of sizes stops growing when its next size would take too long; beyond its last point time is proportional.

Neighbours: `clock` (timing), `tier` (which kernels are in use), `backend.devices` (asks for the tables).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from statistics import median
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...devices.host import HostFacts, host_profile
from ...devices.profile import Profile
from ...devices.tables import Table
from ..cpu import CpuBackend
from . import bodies, checking, computing, moving, overheads, programs, turning
from .calm import undisturbed, watching
from .clock import Clock, low
from .overheads import Ready, prepared
from .tier import tier_name, warm_kernels
from .timed import IN_A_ROW


@dataclass(frozen=True, slots=True)
class Effort:
    """`rounds` through everything; a library step may take `other_ns`; each series gets `budget_ns` a round.  `moved`: bytes that
    go round at most; `waits`: seconds that are waited at most for others to leave the processor.  After `seconds` there are no
    second rounds (and soon nothing more), of library phases after four fifths."""

    rounds: int = 3
    other_ns: int = 4_000_000
    budget_ns: int = 300_000
    seconds: int = 27
    moved: int = moving.ROUND[-1]
    with_programs: bool = True
    waits: float = 6.0


LATE_NS: Final = 10**9
"""A second after its time a calibration begins nothing new: what is missing is taken from near sizes and element types."""
REFINED: Final = Effort(rounds=7, other_ns=12_000_000, budget_ns=1_000_000, seconds=150, moved=2 * moving.ROUND[-1])


def calibrate(facts: HostFacts, clock: Clock, effort: Effort | None = None, today: date | None = None) -> Profile:
    """This machine's profile with measured tables."""
    effort = effort or Effort()
    start, seconds = clock.now(), effort.seconds * 10**9
    until = start + seconds
    settle_memory()
    with warm_kernels(), CpuBackend(facts.cores).quiet(), watching(effort.waits):
        computed = computing.Computing()
        computed.again(clock, effort.rounds, effort.budget_ns, until)
        moved = moving.measure(facts.cores, clock, effort.rounds, start + seconds // 4, effort.moved)
        computed.again(clock, effort.rounds, effort.budget_ns, until)
        first = moved["step.f64"].ns[0] + moved["first.f64"].ns[0]
        moved.update(turning.measure(facts.cores, first, clock, effort.rounds, start + seconds // 3))
        found = overheads.measure(clock, facts.cores)
        library = _library(clock, effort, facts.cores, start + seconds * 4 // 5) if effort.with_programs else {}
        computed.again(clock, effort.rounds, effort.budget_ns, until)
        tier = tier_name()
        profile = host_profile(facts, tier, {**facts.facts(), "numpy": np.__version__})
        made = {**library, **computed.tables(), **moved, "add.f64": _added(moved)}
        device = replace(
            profile.home, ops=made, launch_ns=found.launch_ns, host_dispatch_ns=moved["first.f64"].ns[0], sync_ns=found.sync_ns,
            alloc_ns=found.alloc_ns,
        )  # fmt: skip
        low, high = checking.residuals(device, facts.cores, effort.rounds)
    bodies.forget_data()
    calibration = replace(profile.calibration, calibrated=today or date.today(), residual_p10=low, residual_p90=high)
    return replace(profile, devices=(device,), calibration=calibration)


def settle_memory() -> None:
    """Have memory given out as in a process that has run for a while: the C library asks the system anew for every large array
    until one has been given back, and keeps what is given back from then on."""
    for _ in range(2):
        np.ones(_LARGE // 8)


_LARGE: Final = 31 << 20
"""Bytes just below those that are always asked for anew."""


def _added(moved: dict[str, Table]) -> Table:
    """A sum of two operands, by all bytes touched: what merging partial results goes by."""
    read, write = moved["read.f64"], moved["write.f64"]
    return Table(read.size, tuple(max(1, (2 * read.at(size) + write.at(size)) // (3 << 16)) for size in read.size))


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
    for _ in range(effort.rounds):
        for prepared, times in small:
            times.append(undisturbed(lambda one=prepared: int(median([one.run() for _ in range(6)][2:]))))  # type: ignore[misc]
    for prepared, times in small:
        put(prepared, low(times[len(times) // 2 :]))
    del small
    between, last = _between(threads), dict.fromkeys(range(len(large)), 0)
    for place in range(max(len(program.sizes) for program, _ in large)):
        for which in list(last):  # so what there is no time for are the largest sizes
            program, kind = large[which]
            if place >= len(program.sizes) or clock.now() > until + LATE_NS:
                continue
            size = program.sizes[place]
            if size <= _TURNS:
                continue
            made = None
            if last[which] * (size / program.sizes[place - 1]) <= 10 * effort.other_ns:
                made = programs.prepare(program, kind, size, threads)
            if made is None:
                del last[which]
                continue
            last[which] = _time_program(made, clock, effort, until, between)
            put(made, last[which])
            bodies.forget_data()
    return {key: Table(tuple(sorted(found)), tuple(found[s] for s in sorted(found))) for key, found in points.items()}


_TURNS: Final = 1 << 13
"""Programs of at most so many points take turns."""


def _time_program(prepared: programs.Prepared, clock: Clock, effort: Effort, until: int, between: Ready) -> int:
    """The least of the medians of a few rounds, before each of which something else runs, as in use: helpers may have been left
    alone in the others.  `clock` only says when it is enough."""
    found = []
    for place in range(effort.rounds):
        if place and clock.now() > until:
            break
        between()
        found.append(undisturbed(lambda: _in_a_row(prepared, clock, effort)))
    return min(found)


def _in_a_row(prepared: programs.Prepared, clock: Clock, effort: Effort) -> int:
    prepared.run()
    start, times = clock.now(), [prepared.run()]
    while len(times) < IN_A_ROW and (len(times) < _LEAST or clock.now() - start < effort.other_ns):
        times.append(prepared.run())
    return int(median(times))


_LEAST: Final = 3


def _between(threads: int) -> Ready:
    """Sorts, computes and moves: what was in caches and predictors is gone."""
    values = {name: np.random.default_rng(place).random(1 << 15) for place, name in enumerate("xy")}
    text = "input x : f64[n]\ninput y : f64[n]\noutput z ← x[⍋y]\noutput s ← +/*x×y\noutput m ← +\\y>x\n"
    return prepared(text, values, threads)
