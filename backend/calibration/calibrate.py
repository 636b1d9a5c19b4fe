"""Calibration: what is measured, in which order, and the resulting profile of this machine.

Computation is timed several times, since load comes in spells: before and after the disk and the parts of structured phases, and
after library phases (`probes`).  Only times during which the process had its processors count; everything else gets the shape of
the default tables.  Programs that the tables were not derived from, among them a matrix product and a transformer block, check
the accuracy.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from fractions import Fraction
from math import log
from statistics import geometric_mean, median
from time import perf_counter_ns, thread_time_ns
from typing import Final, NamedTuple

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, RunFailed
from ...lang.support.processes import lock
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ..cpu.backend import CpuBackend
from ..devices.phase_cost import step_ns
from ..devices.profile import Calibration, CostTable, DeviceProfile, Profile
from ..devices.this_machine import HostFacts, host_profile, with_default_tables
from ..graph.phases import LibraryPhase, Structured
from ..jit.tiering import tier_name
from . import probes
from .measurement_loop import Clock, Disturbed, LoadMonitor, Section, waited_ns
from .probes import ProbeProgram, last, warm_kernels


@dataclass(frozen=True, slots=True)
class CalibrationEffort:
    """The effort of a calibration: `rounds` through all probes, each of which runs for about `budget_ns` (a program for
    `other_ns`).  `places`: the most sizes of a row.  After `seconds` nothing is repeated, and after four fifths of them no new
    library phase begins.  `attempts`: how often a disturbed calibration is started, none after three times `seconds`; it ends
    as soon as it is known to be disturbed.  `force`: keep disturbed measurements."""

    rounds: int = 3
    other_ns: int = 4_000_000
    budget_ns: int = 300_000
    seconds: int = 27
    places: int = 20
    attempts: int = 3
    force: bool = False


REFINED: Final = CalibrationEffort(rounds=7, other_ns=12_000_000, budget_ns=1_000_000, seconds=150)
_LARGE: Final = 31 << 20
"""Bytes just below the size from which the C library asks the system for every array."""


def calibrate(
    facts: HostFacts, clock: Clock = perf_counter_ns, effort: CalibrationEffort | None = None, today: date | None = None,
    report: Callable[[str], None] = lambda words: None,
) -> Profile:  # fmt: skip
    """The profile of this machine with measured tables; `report` is called with the reason of a repetition, and with the
    deviation of estimates from programs that were run for comparison.

    Raises RunFailed if other programs use the processors, or if a product or a block deviates far from the tables."""
    effort, begun = effort or CalibrationEffort(), clock()
    for left in range(effort.attempts - 1, -1, -1):
        try:
            profile, spread = _measured(facts, clock, effort, today)
        except Disturbed as trouble:
            if not left or clock() - begun > 3 * effort.seconds * 10**9:
                text = f"this machine was not calibrated: {trouble}"
                raise RunFailed([Diagnostic(Code.E709, text, Span("", 0, 0), notes=(_FORCE,))]) from None
            report(f"{trouble}; measuring again")
        else:
            report(spread)
            return profile
    raise AssertionError(effort)


def _measured(facts: HostFacts, clock: Clock, effort: CalibrationEffort, today: date | None) -> tuple[Profile, str]:
    """The profile, and the deviation of its estimates from the programs for comparison.  Raises Disturbed."""
    threads, start = facts.cores, clock()
    until = start + effort.seconds * 10**9
    if not effort.force:
        require_processors(threads)
    settle_memory()
    with warm_kernels(), CpuBackend(threads).quiet():
        watch = LoadMonitor(force=effort.force)
        computed = Section(clock, effort.budget_ns, watch, usual=min)
        programs = Section(clock, effort.other_ns, watch, threads)
        for row in probes.kernel_rows():
            computed.add(row, 1)
        computed.again(effort.rounds, until)
        watch.require_calm()
        programs.grow(probes.rows(threads), effort.rounds, until, effort.places, 2 * until)
        computed.again(effort.rounds, until)
        watch.require_calm()
        programs.grow(probes.LIBRARY, effort.rounds, until, effort.places, until - effort.seconds * 2 * 10**8)
        computed.again(effort.rounds, until)
        watch.require_calm()
        tables = {**programs.tables(disturbed=effort.force), **computed.tables(disturbed=effort.force)}
        profile = host_profile(facts, tier_name(), {**facts.facts(), "numpy": np.__version__})
        known = with_default_tables(profile).home
        launch, wait, allocation = (
            tables.pop(name).ns[0] if name in tables else default
            for name, default in (("launch", known.launch_ns), ("wait", known.sync_ns), ("alloc", known.alloc_ns))
        )
        tables = shaped(tables, known.ops)
        device = replace(profile.home, ops=tables, launch_ns=launch, host_dispatch_ns=tables["first.f64"].ns[0], sync_ns=wait,
                         alloc_ns=allocation)  # fmt: skip
        checks = [*ratios(device, watch, effort)]
        _require_near(checks, effort)
    below, above = shares([ratio for ratio, _ in checks])
    calibration = replace(profile.calibration, calibrated=today or date.today(), residual_p10=below, residual_p90=above)
    return replace(profile, devices=(device,), calibration=calibration), spread_text(checks)


def require_processors(threads: int) -> None:
    """Raises Disturbed if others use the processors during most of some pieces of work by all threads.

    A calibration has hundreds of such pieces, and would know it after minutes, since others also slow down what it prepares."""
    watch, items = LoadMonitor(), np.ones((threads, _PIECE))
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(_PIECES):
            watch.undisturbed(lambda: [*pool.map(np.sqrt, items, items)])
    if 2 * watch.disturbed > watch.measured:
        watch.require_calm()


_PIECES: Final = 20
_PIECE: Final = 1 << 21
"""Items whose roots take a thread some milliseconds."""


def settle_memory() -> None:
    """Puts the allocator in the state of a process that has run for a while: the C library asks the system for every large array
    until one has been freed, and reuses freed memory from then on."""
    for _ in range(2):
        np.ones(_LARGE // 8)


def shaped(measured: Mapping[str, CostTable], known: Mapping[str, CostTable]) -> dict[str, CostTable]:
    """The known tables, each moved to where it was measured: between measured sizes and beyond them it keeps its shape.

    A single measured size has no shape: where the known table has more, it is used."""
    tables = dict(known)
    for name, table in measured.items():
        other = known.get(name)
        if other is None or len(other.size) == 1:
            tables[name] = table
        elif len(table.size) > 1:
            tables[name] = _moved(table, other)
    return tables


def _moved(table: CostTable, known: CostTable) -> CostTable:
    """The measured points, and known points beyond them and between distant neighbours, scaled in proportion to the nearest
    measured ones."""
    points = dict(zip(table.size, table.ns, strict=True))
    for size in known.size:
        upper = bisect_left(table.size, size)
        below, above = max(0, upper - 1), min(upper, len(table.size) - 1)
        if table.size[above] > _APART * table.size[below] or not table.size[0] <= size <= table.size[-1]:
            least, most = (table.ns[at] / max(1, known.at(table.size[at])) for at in (below, above))
            along = 0.0 if below == above else log(size / table.size[below]) / log(table.size[above] / table.size[below])
            shift = least if upper == len(table.size) else most if upper == 0 else least + (most - least) * along
            points.setdefault(size, max(1, round(known.at(size) * shift)))
    sizes = sorted(points)
    return CostTable(tuple(sizes), tuple(points[size] for size in sizes))


_APART: Final = 8
"""Two measured sizes further apart than this factor get known points between them."""

# ---------------------------------------------------------------------------- what is not kept

_FAR: Final = 4
"""The most times that a product or a block may take longer or less than the tables say."""
_FORCE: Final = "measure again when the machine is idle, or keep what was measured with `--force`"


def _require_near(checks: Sequence[tuple[Fraction, str]], effort: CalibrationEffort) -> None:
    far = [(ratio, text) for ratio, text in checks if text in _TOGETHER and not Fraction(1, _FAR) <= ratio <= _FAR]
    missing = [name for text, name in _TOGETHER.items() if text not in {text for _, text in checks}]
    if not effort.force and missing:
        raise Disturbed(f"others used the processor whenever {missing[0]} was run")
    if not effort.force and far:
        ratio, text = max(far, key=_distance)
        raise Disturbed(f"{_TOGETHER[text]} differs {_times(ratio)} from what was measured a moment before")


# ---------------------------------------------------------------------------- how well the tables hold

_POINTS: Final = (1 << 14, 1 << 17, 1 << 20)
_BLOCK: Final = "q ← x+.×y\np ← q+.×⍉q\na ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}⍤1⊢p\nh ← 0⌈(a+.×q)+.×y\nx+h+.×⍉y"
_TOGETHER: Final = {"x+.×y": "a product of matrices", _BLOCK: "a transformer block"}
_TRIED: Final = (
    "(x×3)-y÷2", "*x-y", "+/x×y", "⌈/x-y", "(x⌈y)×√x", "+\\x×y", "x[⍋y]", "(x>y)⌿x", "(÷1+*-x)×y", "1⌽x+y", *_TOGETHER,
)  # fmt: skip
_LEAST_NS: Final = 20_000
_PACED: Final = 1 << 14
_PACE_NS: Final = 60_000_000
_one_pace: Final = lock()


def ratios(device: DeviceProfile, watch: LoadMonitor, effort: CalibrationEffort) -> Iterator[tuple[Fraction, str]]:
    """(ratio of measured to estimated time, text) of programs that were not used for the tables and ran undisturbed: of their
    longer phases, and of products and blocks as a whole."""
    for points in _POINTS[: effort.places]:
        for text in _TRIED:
            shape = "f64[s s]" if text in _TOGETHER else "f64[n]"
            ready = ProbeProgram(text, {"x": shape, "y": shape}, last()).ready(points, device.threads)
            ready.run()
            tries = [watch.undisturbed(ready.run) for _ in range(2 * effort.rounds)]
            runs = [(run, share) for run, share in tries if share]
            if not runs:
                continue
            steps = {at: one.step for at, one in enumerate(runs[0][0]) if isinstance(one.step, Structured | LibraryPhase)}
            for group in [[*steps]] if text in _TOGETHER else [[number] for number in steps]:
                actual = min(round(share * sum(run[number].ns for number in group)) for run, share in runs)
                estimates = (step_ns(steps[number], ready.bound, device, Calibration()) for number in group)
                estimate = sum(one.ns for one in estimates if one is not None)
                if estimate and actual >= _LEAST_NS:
                    yield Fraction(actual, estimate), text


class Pace(NamedTuple):
    """The current slowdown of a process compared with its tables, and the part of it due to others that use its processors."""

    slowdown: Fraction = Fraction(1)
    by_others: Fraction = Fraction(1)


def pace(device: DeviceProfile, period_ns: int = _PACE_NS, clock: Clock = perf_counter_ns) -> Pace:
    """The pace of this process: the mean ratio of a few programs, divided by the share of `period_ns` in which the process had
    its processors; 1 without tables."""
    ratios: dict[str, list[float]] = {}
    with _one_pace, warm_kernels(), CpuBackend(device.threads).quiet():
        probed = {text: ProbeProgram(text, {"x": f"f64[{shape}]", "y": f"f64[{shape}]"}, last()).ready(_PACED, device.threads)
                  for text, shape in (("(÷1+*-x)×y", "n"), ("+/x×y", "n"), ("x+.×y", "s s"))}  # fmt: skip
        for ready in probed.values():
            ready.run()
        start, used, waited = clock(), thread_time_ns(), waited_ns()
        while not ratios or clock() - start < period_ns:
            for text, ready in probed.items():
                for took in ready.run():
                    if isinstance(took.step, Structured | LibraryPhase):
                        estimate = step_ns(took.step, ready.bound, device, Calibration())
                        if estimate is None or not estimate.ns:
                            return Pace()
                        ratios.setdefault(text, []).append(took.ns / estimate.ns)
        elapsed = max(1, clock() - start)
        used = thread_time_ns() - used if device.threads == 1 else elapsed - (waited_ns() - waited) // device.threads
    share = min(1.0, max(used / elapsed, 0.001))
    slowdown = geometric_mean(median(of_text) for of_text in ratios.values()) / share
    return Pace(Fraction(slowdown).limit_denominator(100) or Fraction(1), Fraction(1 / share).limit_denominator(100))


def shares(values: Sequence[Fraction]) -> tuple[Fraction, Fraction]:
    """The shares by which the middle eight of ten measured times lie below and above the estimate."""
    if not values:
        return Fraction(1, 2), Fraction(1, 2)
    ordered, tenth = sorted(values), len(values) // 10
    return _share(1 - ordered[tenth]), _share(ordered[-tenth - 1] - 1)


def spread_text(checks: Sequence[tuple[Fraction, str]]) -> str:
    """The deviation of measured times from estimates as text: of the middle half, and of the farthest."""
    if not checks:
        return "no program was run long enough to compare it with its estimate"
    ordered = sorted(checks, key=_distance)
    (half, _), (most, text) = ordered[len(ordered) // 2], ordered[-1]
    farthest = f"the farthest, {_TOGETHER.get(text, f'`{text}`')}, {_times(most)}"
    return f"{len(checks)} phases compared: half are within {_times(half)} of their estimate, {farthest}"


def _distance(check: tuple[Fraction, str]) -> Fraction:
    return max(check[0], 1 / max(check[0], Fraction(1, 10**9)))


def _times(ratio: Fraction) -> str:
    return f"{float(_distance((ratio, ''))):.3g} times"


def _share(value: Fraction) -> Fraction:
    """A share with three decimals, clipped to [0.02, 0.9]."""
    return Fraction(round(min(max(value, Fraction(2, 100)), Fraction(9, 10)) * 1000), 1000)
