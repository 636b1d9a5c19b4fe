"""Calibration: what is measured, in which order, and the resulting profile of this machine.

Computing (`scalars`) is timed again and again, as a spell of load lasts, before and after the disk and the parts of structured
phases, and after library phases (`probes`).  In the end a few programs that the tables were not made of say how well all holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from time import perf_counter_ns
from typing import Final

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, RunFailed
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..cpu.backend import CpuBackend
from ..devices.phase_cost import step_ns
from ..devices.profile import Calibration, CostTable, DeviceProfile, Profile
from ..devices.this_machine import HostFacts, host_profile, with_default_tables
from ..graph.phases import LibraryPhase, Structured
from . import probes, probes as scalars
from .measurement_loop import Clock, LoadMonitor, Section, low
from .probes import ProbeProgram, last, tier_name, warm_kernels


@dataclass(frozen=True, slots=True)
class CalibrationEffort:
    """`rounds` through everything, where each probe is run for about `budget_ns`, a program for `other_ns`.  `places`: sizes of a
    row at most; `waits`: seconds that are waited at most for others to leave the processor.  After `seconds` nothing is timed
    again, and of library phases nothing new after four fifths.  `force`: keep what others disturbed."""

    rounds: int = 3
    other_ns: int = 4_000_000
    budget_ns: int = 300_000
    seconds: int = 27
    places: int = 20
    waits: float = 6.0
    force: bool = False


REFINED: Final = CalibrationEffort(rounds=7, other_ns=12_000_000, budget_ns=1_000_000, seconds=150)
_LARGE: Final = 31 << 20
"""Bytes just below those that are always asked for anew."""


def calibrate(
    facts: HostFacts, clock: Clock = perf_counter_ns, effort: CalibrationEffort | None = None, today: date | None = None
) -> Profile:
    """This machine's profile with measured tables.

    RunFailed: others use the processor, or a product takes far longer or less than the tables say."""
    effort = effort or CalibrationEffort()
    threads, start = facts.cores, clock()
    until = start + effort.seconds * 10**9
    settle_memory()
    with warm_kernels(), CpuBackend(threads).quiet():
        watch = LoadMonitor(effort.waits)
        computed = Section(clock, effort.budget_ns, watch, usual=min)
        programs = Section(clock, effort.other_ns, watch, threads)
        for row in scalars.kernel_rows():
            computed.add(row, 1)
        computed.again(effort.rounds, until)
        programs.grow(probes.rows(threads), effort.rounds, until, effort.places, 2 * until)
        computed.again(effort.rounds, until)
        programs.grow(probes.LIBRARY, effort.rounds, until, effort.places, until - effort.seconds * 2 * 10**8)
        computed.again(effort.rounds, until)
        tables = {**programs.tables(), **computed.tables()}
        _require_calm(watch, effort)
        launch, wait, allocation = (tables.pop(name).ns[0] for name in ("launch", "wait", "alloc"))
        profile = host_profile(facts, tier_name(), {**facts.facts(), "numpy": np.__version__})
        tables = extended(tables, with_default_tables(profile).home.ops)
        device = replace(profile.home, ops=tables, launch_ns=launch, host_dispatch_ns=tables["first.f64"].ns[0], sync_ns=wait,
                         alloc_ns=allocation)  # fmt: skip
        products = [*ratios(device, threads, effort, _PRODUCTS)]
        _require_products(products, effort)
        below, above = shares([*ratios(device, threads, effort), *products])
    calibration = replace(profile.calibration, calibrated=today or date.today(), residual_p10=below, residual_p90=above)
    return replace(profile, devices=(device,), calibration=calibration)


def settle_memory() -> None:
    """Have memory given out as in a process that has run for a while: the C library asks the system anew for every large array
    until one has been given back, and keeps what is given back from then on."""
    for _ in range(2):
        np.ones(_LARGE // 8)


def extended(measured: Mapping[str, CostTable], known: Mapping[str, CostTable]) -> dict[str, CostTable]:
    """The tables with the shape of those that are known beyond what there was time to measure.

    One point says nothing of a shape: where more are known, the known table is taken."""
    tables: dict[str, CostTable] = {}
    for name, table in measured.items():
        other = known.get(name)
        if other is None or len(other.size) == 1:
            tables[name] = table
        elif len(table.size) == 1:
            tables[name] = other
        else:
            size, ns = table.size[-1], table.ns[-1]
            beyond = [one for one in other.size if one > size]
            more = [max(1, other.at(one) * ns // max(1, other.at(size))) for one in beyond]
            tables[name] = CostTable((*table.size, *beyond), (*table.ns, *more))
    return tables


# ---------------------------------------------------------------------------- what is not kept

_DISTURBED: Final = Fraction(1, 5)
"""So large a part of all measurements may have been disturbed."""
_FAR: Final = 4
"""A product may take so many times what the tables say, or so many times less."""
FORCE: Final = "measure again when the machine is idle, or keep what was measured with `--force`"


def _require_calm(watch: LoadMonitor, effort: CalibrationEffort) -> None:
    if not effort.force and watch.disturbed > _DISTURBED * watch.measured:
        share = 100 * watch.disturbed // watch.measured
        raise _refusal(f"others used the processor during {share} % of the measurements, so every figure would be too long")


def _require_products(measured: Sequence[Fraction], effort: CalibrationEffort) -> None:
    far = [ratio for ratio in measured if not Fraction(1, _FAR) <= ratio <= _FAR]
    if not effort.force and far:
        times = max(max(ratio, 1 / ratio) for ratio in far)
        raise _refusal(f"a product of matrices differs {float(times):.0f} times from what was measured a moment before")


def _refusal(message: str) -> RunFailed:
    text = f"this machine was not calibrated: {message}"
    return RunFailed([Diagnostic(Code.E709, text, Span("", 0, 0), notes=(FORCE,))])


# ---------------------------------------------------------------------------- how well the tables hold

_POINTS: Final = (1 << 14, 1 << 17, 1 << 20)
_TRIED: Final = (
    "(x×3)-y÷2", "*x-y", "+/x×y", "⌈/x-y", "(x⌈y)×√x", "+\\x×y", "x[⍋y]", "(x>y)⌿x", "(÷1+*-x)×y", "1⌽x+y",
)  # fmt: skip
_PRODUCTS: Final = ("x+.×y",)
_LEAST_NS: Final = 20_000


def ratios(device: DeviceProfile, threads: int, effort: CalibrationEffort, texts: Sequence[str] = _TRIED) -> Iterator[Fraction]:
    """Ratios of measured to estimated time of the longer phases, in programs that were not used for the tables."""
    shape = "f64[s s]" if texts is _PRODUCTS else "f64[n]"
    for points in _POINTS[: effort.places]:
        for text in texts:
            ready = ProbeProgram(text, {"x": shape, "y": shape}, last()).ready(points, threads)
            ready.run()
            runs = [ready.run() for _ in range(2 * effort.rounds)]
            for number, took in enumerate(runs[0]):
                if isinstance(took.step, Structured | LibraryPhase):
                    actual = low([run[number].ns for run in runs])
                    estimate = step_ns(took.step, ready.bound, device, Calibration())
                    if estimate is not None and estimate.ns and actual >= _LEAST_NS:
                        yield Fraction(actual, estimate.ns)


def shares(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """How far below and above the estimate the middle eight in ten measured times lie, as shares of it."""
    if not values:
        return Fraction(1, 2), Fraction(1, 2)
    ordered, tenth = sorted(values), len(values) // 10
    return _share(1 - ordered[tenth]), _share(ordered[-tenth - 1] - 1)


def _share(value: Fraction) -> Fraction:
    """To three places, from 0.02 to 0.9."""
    return Fraction(round(min(max(value, Fraction(2, 100)), Fraction(9, 10)) * 1000), 1000)
