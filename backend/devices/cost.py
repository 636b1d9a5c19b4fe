"""Estimates: how long a phase of a bound graph, or a shard of it, takes on a device of a profile.

`phase_ticks` is what planners ask; `phase_grains` the same unrounded, `step_ns` what one execution of a step takes with the
executor's work around it (for `run --analyze`).  Run-time sizes count at their caps.  A loop, fold or map that is compiled
whole is what its loop program takes (`regions`); else a loop is trip × body with a launch an iteration (where loops run as one
kernel: its operands once, and its applications every turn), a map or fold its body once a cell.  A branch is its longer arm.

Note [Steps].  The first execution of a step finds or makes its kernel: `host_dispatch_ns`, or what the tables `first` say on a
measured device (those of library phases include it).  Every execution costs `launch_ns`.  Both are part of a
phase's ticks, because one host queue a device is all that a problem knows.

Note [Shards].  `cut` names an axis: of `phase.axes` for a structured phase, an entry of `phase.signature` for a library phase.
Tables are asked at the shard's own size; `curves` has what planners are told of sizes in between.

Neighbours: `structured`, `library` (phases), `tables` (grains), `profile` (devices); `backend.schedule.program` asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable, capacity
from ...typechecker.sizes import number as size_number
from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import (
    Branch,
    Constant,
    Fold,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    Print,
    Structured,
    SubGraph,
)
from ..graph.steps import KnownValues
from ..kernels.cuda_support import missing
from ..kernels.units import shape_of
from .chained import chains_in
from .curves import Curve
from .forms import Number, Types
from .library import cold, library_grains
from .points import cooled
from .profile import Backend, Calibration, DeviceProfile, Profile
from .rates import Around, NoTable, Rates
from .regions import BOOLE, region_grains
from .repeated import repeated_grains
from .reuse import is_view, surroundings
from .spans import Formula, Trace, Undecided, smallest
from .structured import structured_grains
from .tables import GRAIN, Grains
from .ticks import Ticks

NEVER: Final = 1 << 50
"""Ticks of a shard whose size no table is about."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A shard has `rows` along `axis`.  See Note [Shards]."""

    axis: int
    rows: int


class Execution(Enum):
    """Which execution of a step is meant.  See Note [Steps]."""

    FIRST = "first"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Nanoseconds: the point, and between which the middle eight in ten runs are expected."""

    ns: int
    p10: int
    p90: int


def phase_ticks(
    phase: Phase, bound: BoundGraph, profile: Profile, group: str, *, axis: int | None = None, rows: int = 0,
    grain: int = 1, tick_ns: int = 1, execution: Execution = Execution.FIRST,
) -> Ticks | None:  # fmt: skip
    """Ticks of a phase on one device of a group; with `axis`, of its shards of `rows` points along it, dealt out by `grain`.
    None: it cannot run there."""
    device = profile.device(group)
    if device is None or device.backend is Backend.STORE:
        return None
    number = numbers_of(bound)
    rates = _rates(device, bound, number)
    overhead = device.launch_ns * GRAIN
    if execution is Execution.FIRST:
        overhead += making_grains(phase, rates)
    else:
        rates = rates.reusing()

    def grains(cut: Cut | None) -> Grains:
        return Grains(phase_grains(phase, bound.graph.types, rates, number, cut) + overhead)

    def exact(count: int) -> int:
        try:
            return _up(grains(Cut(axis or 0, min(count * grain, rows))), tick_ns)
        except NoTable:  # only for sizes that no table is about
            return NEVER

    def traced(first: int, last: int) -> Formula:
        trace = Trace(first, last)
        try:
            return trace.formula(grains(Cut(axis or 0, smallest(trace.rows * grain, rows))))
        except NoTable:
            raise Undecided from None

    def up(found: int) -> int:
        return _up(found, tick_ns)

    try:
        if axis is None or rows < 1:
            return Ticks(((1, _up(grains(None), tick_ns)),))
        _ = grains(Cut(axis, 1)), grains(Cut(axis, rows))
    except NoTable:
        return None
    return Curve(-(-rows // grain), exact, traced, up)


def _rates(device: DeviceProfile, bound: BoundGraph, number: Number) -> Rates:
    known = KnownValues(traverse.all_phases(bound.graph), bound.graph.types)
    return Rates(device, around=surroundings(bound, number), guards=bound.graph.guards, known=known)


def making_ticks(phases: Iterable[Phase], profile: Profile, group: str, tick_ns: int = 1) -> int:
    """What the first executions of the steps of these phases take more than the next."""
    device = profile.device(group)
    rates = None if device is None else Rates(device)
    return 0 if rates is None else _up(sum(making_grains(phase, rates) for phase in phases), tick_ns)


def combine_ticks(partial_bytes: int, profile: Profile, tick_ns: int = 1) -> int:
    """Ticks for home to merge one partial result of that many bytes."""
    home = profile.home
    table = Rates(home).whole(("copy", "add"), Kind.F64)
    grains = (home.launch_ns + home.host_dispatch_ns) * GRAIN + (0 if table is None else table.at(3 * partial_bytes))
    return _up(grains, tick_ns)


def missing_operation(phase: Phase, bound: BoundGraph, device: DeviceProfile) -> str | None:
    """The operation that a device has no table for, which keeps the phase from running there."""
    try:
        phase_grains(phase, bound.graph.types, Rates(device), numbers_of(bound))
    except NoTable as missing:
        return missing.operation
    return None


def phase_grains(phase: Phase, types: Types, rates: Rates, number: Number, cut: Cut | None = None) -> Grains:
    """Time of the work of a phase, without what its own step costs.  NoTable."""
    where = None if cut is None else (cut.axis, cut.rows)
    if rates.device.backend is Backend.CUDA and (lacking := missing(phase, types)) is not None:
        raise NoTable(lacking)

    def called(routine: Phase) -> int:
        return phase_grains(routine, types, rates.reusing(), number)

    match phase:
        case Structured():
            return structured_grains(phase, types, rates, number, where)
        case LibraryPhase():
            away = cold(rates, rates.around.get(phase.id, Around()))
            return Grains(library_grains(phase, types, rates, number, where) + away)
        case Loop():
            if (merged := repeated_grains(phase, types, rates, number, where)) is not None:
                return merged
            if cut is None and (whole := region_grains(phase, types, rates, number, called)) is not None:
                return whole
            trip = number(phase.trip)
            once, each = _block(phase.body, types, rates, number, cut) if phase.index is None else (0, 0)
            turns = trip * each if phase.index is None else 0
            if phase.index is not None:
                once, turns = _turns(phase, phase.index, types, rates, number, trip)
            if phase.until is not None:
                first, again = _block(phase.until, types, rates, number)
                once, turns = once + first, turns + trip * again
            return Grains(once + turns)
        case Map():
            if (whole := region_grains(phase, types, rates, number, called)) is not None:
                return whole
            once, each = _block(phase.body, types, rates, number)
            cells = 1
            for size in phase.frame:
                cells *= number(size)
            return Grains(once + cells * each)
        case Fold():
            if (whole := region_grains(phase, types, rates, number, called)) is not None:
                return whole
            once, each = _block(phase.body, types, rates, number)
            return Grains(once + max(0, number(types[phase.args[0]].shape[0]) - 1) * each)
        case Branch():
            arms = [sum(_block(arm, types, rates, number)) for arm in (phase.then, phase.otherwise)]
            return Grains(max(arms))
        case Constant() | Input() | Print() | Output():
            return Grains(0)


def _turns(phase: Loop, index: SizeVariable, types: Types, rates: Rates, number: Number, trip: int) -> tuple[int, int]:
    """What a loop with an index costs once and in all its turns, by those at five places (Boole's rule)."""
    once = total = 0
    for place, weight in enumerate(BOOLE):
        at = {index: size_number(max(0, trip - 1) * place // 4)}
        first, each = _block(phase.body, types, rates, lambda size, at=at: number(size.substitute(at)))  # type: ignore[misc]
        once, total = max(once, first), total + weight * each
    return once, total * trip // sum(BOOLE)


def _block(graph: SubGraph, types: Types, rates: Rates, number: Number, cut: Cut | None = None) -> tuple[int, int]:
    """What a body costs once (its kernels) and each time it runs, its results taking dying buffers.  See Note [Steps].

    `cut`: of the axes that all its phases share."""
    once = each = 0
    rates = rates.reusing()
    for phase in graph.phases:
        once += making_grains(phase, rates)
        grains = phase_grains(phase, types, rates, number, cut)
        each += rates.device.launch_ns * GRAIN + grains - _first_of_library(phase, rates, grains)
    return once, each + rates.device.launch_ns * GRAIN


def step_ns(
    phase: Phase, bound: BoundGraph, device: DeviceProfile, calibration: Calibration, launches: int = 1
) -> Estimate | None:
    """What `launches` executions of the step of a phase take, the first making its kernel.  None: it cannot run there.

    Of the last member of a chain along rows: what the chain takes."""
    number = numbers_of(bound)
    rates = _rates(device, bound, number)
    if rates.measured and (chain := chains_in(bound).get(phase.id)) is not None:
        phase = shape_of(chain)
        rates = rates.gathering(phase.id, chain.ids)
    try:
        grains = phase_grains(phase, bound.graph.types, rates, number)
    except NoTable:
        return None
    again = launches * (device.launch_ns * GRAIN + grains) - (launches - 1) * _first_of_library(phase, rates, grains)
    return with_interval(_up(making_grains(phase, rates) + again, 1), calibration)


def making_grains(phase: Phase, rates: Rates) -> Grains:
    """What the first execution of a step takes more than the next.  See Note [Steps]."""
    if rates.measured:
        around = rates.around.get(phase.id, Around())
        first = rates.table(("first",), Kind.F64) if isinstance(phase, Structured) else None
        made = rates.table(("first.made",), Kind.F64) if isinstance(phase, Structured) and around.unknown else None
        found = Grains(0) if first is None else cooled(first, around)
        return found if made is None or is_view(phase) else Grains(found + cooled(made, around))
    return Grains(rates.device.host_dispatch_ns * GRAIN)


def _first_of_library(phase: Phase, rates: Rates, grains: Grains) -> int:
    """What the first execution of a library step takes more than the next: tables of library phases include it."""
    table = rates.table(("first.library",), Kind.F64) if isinstance(phase, LibraryPhase) else None
    return 0 if table is None else min(int(table.at(1)), grains // 2)


def with_interval(ns: int, calibration: Calibration) -> Estimate:
    low, high = 1 - calibration.residual_p10, 1 + calibration.residual_p90
    return Estimate(ns, int(ns * low), -int(-(ns * high) // 1))


def numbers_of(bound: BoundGraph) -> Callable[[Size], int]:
    """Sizes as numbers, run-time sizes at their caps."""
    known: dict[Size, int] = {}

    def number(size: Size) -> int:
        value = size.constant
        if value is not None:
            return value
        found = known.get(size)
        if found is None:
            found = known[size] = capacity(size).evaluate({})
        return found

    return number


def _up(grains: int, tick_ns: int) -> int:
    """To ticks, rounded up: the only rounding of an estimate."""
    return -(-grains // (GRAIN * tick_ns))
