"""What a calibration measures, in which order, and the profile that comes of it.

What the disk takes (`disk`).  Structured phases: what moving bytes takes (`moving`, `teams`), what computing takes
(`computing`), loops (`turning`); library phases (`library`).  In the end a few programs (`checking`) say how well all that holds.

Neighbours: `probes` (timing), `tier` (which kernels are in use), `backend.devices` (asks for the tables).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

import numpy as np

from ...devices.host import HostFacts, host_profile
from ...devices.profile import Profile
from ...devices.tables import Table
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from ..cpu import CpuBackend
from . import checking, computing, disk, library, moving, teams, turning
from .calm import watching
from .probes import Clock, Section
from .tier import tier_name, warm_kernels, without_kernels


@dataclass(frozen=True, slots=True)
class Effort:
    """`rounds` through everything, where each probe is run for about `budget_ns`, a program for `other_ns`.  `moved`: bytes that
    go round at most; `waits`: seconds that are waited at most for others to leave the processor.  After `seconds` nothing is
    timed again, and of library phases nothing new after four fifths."""

    rounds: int = 3
    other_ns: int = 4_000_000
    budget_ns: int = 300_000
    seconds: int = 27
    moved: int = moving.ROUND[-1]
    with_programs: bool = True
    waits: float = 6.0


REFINED: Final = Effort(rounds=7, other_ns=12_000_000, budget_ns=1_000_000, seconds=150, moved=2 * moving.ROUND[-1])
_LONGEST: Final = 10
"""A library step may take so many times what its runs in a row may."""


def calibrate(facts: HostFacts, clock: Clock, effort: Effort | None = None, today: date | None = None) -> Profile:
    """This machine's profile with measured tables."""
    effort = effort or Effort()
    threads, start = facts.cores, clock.now()
    until = start + effort.seconds * 10**9
    tables: dict[str, Table] = {}

    def measured(add: Callable[[Section], None], share: float) -> None:
        """Tables of programs, in a share of the time."""
        section = Section(clock, effort.other_ns)
        add(section)
        section.again(effort.rounds + 2, start + int(effort.seconds * 10**9 * share))
        section.let_go()
        tables.update(section.tables())

    tables.update(disk.tables(clock, effort.rounds))
    settle_memory()
    with warm_kernels(), CpuBackend(threads).quiet(), watching(effort.waits):
        computed = _Computed(clock, effort)
        computed.again(until)
        measured(lambda section: moving.add_steps(section, threads, effort.moved), 1 / 6)
        measured(lambda section: teams.add(section, threads, effort.moved, tables["step.f64"], tables["first.f64"]), 1 / 4)
        measured(moving.add_awkward, 1 / 4)
        computed.again(until)
        before_turns = tables["step.f64"].ns[0] + tables["first.f64"].ns[0]
        measured(lambda section: turning.add(section, threads, before_turns), 1 / 3)
        own = Section(clock, effort.other_ns)
        launch, wait, allocation = moving.add_own(own, threads)
        own.again(effort.rounds, until)
        if effort.with_programs:
            section = Section(clock, effort.other_ns)
            until_library = start + effort.seconds * 8 * 10**8
            library.measure(section, threads, effort.rounds, _LONGEST * effort.other_ns, until_library)
            tables = {**section.tables(), **tables}
        computed.again(until)
        tables = {**tables, **computed.tables(), "add.f64": _added(tables)}
        profile = host_profile(facts, tier_name(), {**facts.facts(), "numpy": np.__version__})
        device = replace(profile.home, ops=tables, launch_ns=launch.ns, host_dispatch_ns=tables["first.f64"].ns[0],
                         sync_ns=wait.ns, alloc_ns=allocation.best)  # fmt: skip
        low, high = checking.residuals(device, threads, effort.rounds)
    calibration = replace(profile.calibration, calibrated=today or date.today(), residual_p10=low, residual_p90=high)
    return replace(profile, devices=(device,), calibration=calibration)


class _Computed:
    """What computing takes, in kernels if there are any, and by NumPy calls.  Timed again and again: a spell of load lasts."""

    def __init__(self, clock: Clock, effort: Effort) -> None:
        self.rounds = effort.rounds
        self.kernels, self.calls = Section(clock, effort.budget_ns), Section(clock, effort.budget_ns)
        if is_installed() and policy.mode() is not policy.Mode.OFF:
            computing.add_kernels(self.kernels)
        with without_kernels():
            computing.add_calls(self.calls)

    def again(self, until: int) -> None:
        self.kernels.again(self.rounds, until)
        with without_kernels():
            self.calls.again(self.rounds, until)

    def tables(self) -> Mapping[str, Table]:
        return {**self.kernels.tables(), **self.calls.tables()}


def settle_memory() -> None:
    """Have memory given out as in a process that has run for a while: the C library asks the system anew for every large array
    until one has been given back, and keeps what is given back from then on."""
    for _ in range(2):
        np.ones(_LARGE // 8)


_LARGE: Final = 31 << 20
"""Bytes just below those that are always asked for anew."""


def _added(tables: Mapping[str, Table]) -> Table:
    """A sum of two operands, by all bytes touched: what merging partial results goes by."""
    read, write = tables["read.f64"], tables["write.f64"]
    return Table(read.size, tuple(max(1, (2 * read.at(size) + write.at(size)) // (3 << 16)) for size in read.size))
