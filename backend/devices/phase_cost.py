"""The cost of a phase, or of a shard of it, on a device of a profile.

`phase_ticks` is for planners; `phase_grains` is the same unrounded; `step_ns` includes the executor's work around one execution
(for `run --analyze`).  Run-time sizes count at their caps.  The cost of a loop, fold or map that is compiled as a region is that
of its loop program (`loop_cost`); else a loop costs trip × body with a launch an iteration (where loops run as one kernel: its
operands once, and its applications every iteration), a map or fold its body once a cell.  A branch costs its longer arm.

Note [Steps].  The first execution of a step looks up or compiles its kernel: `host_dispatch_ns`, or the tables `first` of a
measured device (those of library phases include it).  Every execution costs `launch_ns`.  Both are part of a phase's ticks,
because a problem has one queue a device.

Note [Shards].  `cut` names an axis: of `phase.axes` for a structured phase, an entry of `phase.signature` for a library phase.
Tables are evaluated at the shard's own size; `cost_functions` has the curves that planners use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from fractions import Fraction
from math import prod
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable, number as size_number
from ...typechecker.sizes.size import upper_bound
from ..codegen.gpu_targets import dialect_of, missing
from ..graph.bind_sizes import BoundGraph
from ..graph.passes.pipeline import bound_function
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
    cells_of,
    frame_of,
    framed_of,
)
from ..graph.registry import LIBRARY, called
from ..lower.fusion_units import shape_of
from .cost_functions import Curve, Formula, Ticks, Trace, Undecided, largest, smallest
from .kernel_form import Number, Types, cooled, is_view, surroundings
from .loop_cost import BOOLE, chains_in, region_grains, repeated_grains, structured_grains
from .op_tables import Around, NoTable, Rates
from .profile import BY_WORK, GRAIN, MESSAGE, STORE, Calibration, DeviceProfile, Grains, Profile

# ---------------------------------------------------------------------------------------------------- library phases
#
# The time of a library phase: the table that it is looked up in, and the size at which.
#
# A phase over a frame whose op runs cell by cell takes the time of a cell for each cell; ops that process the full frame at once
# take the time of all bytes touched.

Shape = tuple[int, ...]

TALL: Final = 8
"""A product with one side this many times the others is tall or wide."""
THIN: Final = 4
"""A product with fewer rows or columns is bound by memory, not by computation."""
ROW_BYTES: Final = 64
"""Cells of at least this many bytes are gathered by the row."""
FEW: Final = 64
"""The most items for which a look-up is a linear search."""
BOUNDS: Final = 8
"""The number of bounds of the table `interval_index.few`; the table `interval_index` has about √n bounds for n items."""
NEAR: Final = 1 << 18
"""Bytes of items, indices and results that stay in the L2 cache."""
_CELL_BY_CELL: Final = frozenset({
    "rotate", "gather", "sort", "scan", "scan_totals", "find", "update", "compress", "key_reduce", "solve",
})  # fmt: skip
_CUBIC: Final = BY_WORK - {"gemm", "factor"}


def library_grains(phase: LibraryPhase, types: Types, rates: Rates, number: Number, cut: tuple[int, int] | None) -> Grains:
    """The grains of a library phase.  `cut`: (entry of its signature, rows of the shard along it)."""
    if phase.op == "runtime_size":
        return Grains(0)
    args = [tuple(map(number, types[a].shape)) for a in phase.args]
    results = [tuple(map(number, types[r].shape)) for r in phase.results]
    if cut is not None:
        args, results = _cut(phase, args, results, cut)
    if phase.op == "merge_runs":  # of all runs a shard takes as many items as it has
        args = results * len(args)
    frame = frame_of(phase)
    points = prod(results[0][:frame]) if results else 1
    framed = framed_of(phase)
    cells = [shape[frame if carries else 0 :] for shape, carries in zip(args, framed, strict=True)]
    item_shapes = [shape[frame:] for shape in results]
    if 0 in (points, *(prod(shape) for shape in item_shapes)) and not phase.defines:
        return Grains(0)
    kind = types[phase.args[0]].element.kind if phase.args else types[phase.results[0]].element.kind
    if phase.op == "contract":
        alike = rates.around.get(phase.id, Around()).alike
        return Grains(points * _product(cells[0], cells[1], types[phase.results[0]].element.kind, rates, alike))
    if phase.op in _CUBIC:
        work = LIBRARY[phase.op].work(cells_of(phase, types))
        size = sum(number(upper_bound(count)) for count in work.values()) if cut is None else prod(cells[0]) * cells[0][-1]
        return Grains(points * rates.grains(LIBRARY[phase.op].stems, kind, largest(1, size)))
    once = points if phase.op in _CELL_BY_CELL else 1
    size = sum(prod(s) * types[a].element.kind.bytes for s, a in zip(args, phase.args, strict=True))
    if phase.op == "reshape_cycle":
        size = smallest(size, prod(results[0]) * kind.bytes)  # truncated items are not read
    size += sum(prod(s) * types[r].element.kind.bytes for s, r in zip(results, phase.results, strict=True))
    return _by_bytes(phase, types, rates, cells, kind, -(-size // once), once)


def _by_bytes(
    phase: LibraryPhase, types: Types, rates: Rates, cells: Sequence[Shape], kind: Kind, size: int, times: int
) -> Grains:
    """The grains of `times` cells that touch `size` bytes each, with a launch for every cell after the first."""
    stems = LIBRARY[phase.op].stems
    again = (times - 1) * rates.device.launch_ns * GRAIN
    match phase.op:
        case "scan" | "scan_totals" | "scan_before":
            function, axis = str(phase.attributes["function"]), phase.attributes["axis"]
            tail = "row" if axis == len(cells[0]) - 1 else "col"
            scans = (f"scan.{function}.{tail}", f"scan.add.{tail}", f"scan.{function}", "scan.add", "scan")
            stems = scans if phase.op == "scan" else (phase.op, *scans)
        case "gather":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            width = types[phase.args[0]].element.kind.bytes
            if prod(cells[0][axis + 1 :]) * width >= ROW_BYTES:
                stems = ("gather.rows", "gather")
            picked = prod(cells[1])
            read = picked * width * prod(cells[0][:axis]) * prod(cells[0][axis + 1 :])
            size = 2 * read + picked * 8  # items that are not selected are not touched
            source = 3 * prod(cells[0]) * width  # the table's source is as large as the items selected from it
            if rates.measured and largest(size, source) > NEAR:
                return Grains(times * rates.require(stems, kind).rate(size, largest(source, NEAR)) + again)
        case "merge_runs":
            kind = types[phase.args[-1]].element.kind
            size = 2 * len(cells) * sum(prod(cells[0]) * types[value].element.kind.bytes for value in phase.args)
            if rates.table((phase.op,), kind) is None:
                return Grains(rates.grains(LIBRARY["sort"].stems, kind, size) // 3)
        case "update":
            size = 2 * prod(cells[0]) * kind.bytes + 2 * prod(cells[-1]) * kind.bytes
        case "key_reduce":
            kind = types[phase.args[1]].element.kind
            function = str(phase.attributes["function"])
            stems = (f"key_reduce.{function}", "key_reduce.add", *stems)
            if prod(cells[1][len(cells[0]) :]) > 1:
                stems = (f"key_reduce.{function}.rows", "key_reduce.add.rows", *stems)
        case "encode" if rates.around.get(phase.id, Around()).binary:
            stems = ("encode.binary", *stems)
        case "index_of" | "member_of" if prod(cells[0 if phase.op == "index_of" else 1]) <= FEW:
            stems = (f"{phase.op}.few", *stems)
        case "interval_index":
            return Grains(times * _searched(prod(cells[0]), kind, size, stems, rates) + again)
        case "find":
            size = prod(cells[0]) * prod(cells[1]) * kind.bytes
        case "compress" | "select_runs" | "sum_runs" | "mask_update" | "grade_by" | "expand":
            kind = types[phase.args[1 if phase.op != "mask_update" else 0]].element.kind
        case "decode":
            size = largest(size, 2 * prod(cells[1]) * kind.bytes)
        case _:
            pass
    return Grains(times * rates.grains(stems, kind, size) + again)


def _searched(bounds: int, kind: Kind, size: int, stems: Sequence[str], rates: Rates) -> int:
    """The grains of a search by bisection: between two tables, time is interpolated by the logarithm of the number of bounds."""
    if bounds == BOUNDS:
        return rates.grains(("interval_index.few", *stems), kind, size)
    many, few = rates.grains(stems, kind, size), rates.table(("interval_index.few",), kind)
    if few is None:
        return many
    least, level = few.at(size), _level(bounds)
    usual = max(_level(BOUNDS) + 1, _level(max(1, size // (2 * kind.bytes))) // 2)
    return max(least * 2 // 3, least + (many - least) * (level - _level(BOUNDS)) // (usual - _level(BOUNDS)))


def _level(count: int) -> int:
    """The binary logarithm of a count in 64ths."""
    return int((max(1, count) ** 64).bit_length()) - 1


def cold(rates: Rates, around: Around) -> Grains:
    """The additional grains of a step after one that touched many bytes."""
    if not rates.measured:
        return Grains(0)
    library = rates.table(("first.library",), Kind.F64)
    if library is not None:
        return Grains(cooled(library, around) - library.at(1))
    tables = [table for name in ("step", "first") if (table := rates.table((name,), Kind.F64)) is not None]
    return Grains(sum(max(0, cooled(table, around) - table.at(1)) for table in tables))


def _product(left: Shape, right: Shape, kind: Kind, rates: Rates, alike: bool) -> Grains:
    """The grains of `left +.× right` for one cell; `alike`: a matrix and its own transpose, whose product is symmetric."""
    shared = left[-1] if left else right[0] if right else 1
    rows, columns = prod(left[:-1]), prod(right[1:])
    touched = (rows * shared + shared * columns + rows * columns) * kind.bytes
    work = 2 * rows * columns * shared
    if rows == 1 and columns == 1:
        return rates.grains(("dot", "gemv", "gemm.square", "gemm"), kind, touched)
    if smallest(rows, columns) < THIN and rates.table(("gemv",), kind) is not None:
        return rates.grains(("gemv",) if smallest(rows, columns) == 1 else ("gemm.thin", "gemv"), kind, touched)
    most, rest = largest(rows, columns), largest(shared, smallest(rows, columns))
    shape = "square" if most < TALL * rest else "tall" if rows >= columns else "wide"
    symmetric = ("gemm.own",) if alike and rows == columns else ()
    return rates.grains((*symmetric, f"gemm.{shape}", "gemm.square", "gemm"), kind, work)


def _cut(phase: LibraryPhase, args: list[Shape], results: list[Shape], cut: tuple[int, int]) -> tuple[list[Shape], list[Shape]]:
    """The shapes of a shard's operands and results: axes that the signature cuts together have `rows` items, or those of as many
    blocks."""
    entry, rows = phase.signature[cut[0]], cut[1]
    extent = None if entry.result is None else results[0][entry.result]

    def items(size: int) -> int:
        if extent is None or entry.block == 1 or size == extent:
            return rows
        return smallest(rows * entry.block, size) if size > extent else size

    operands = [
        shape if axis is None else (*shape[:axis], items(shape[axis]), *shape[axis + 1 :])
        for shape, axis in zip(args, entry.operands, strict=True)
    ]
    if entry.result is None:
        return operands, results
    axis = entry.result
    return operands, [(*shape[:axis], rows, *shape[axis + 1 :]) for shape in results]


# ---------------------------------------------------------------------------------------------------- phases

NEVER: Final = 1 << 50
"""The ticks of a shard whose size no table covers."""


@dataclass(frozen=True, slots=True)
class ShardExtent:
    """A shard of `rows` rows along `axis`.  See Note [Shards]."""

    axis: int
    rows: int


class ExecutionKind(Enum):
    """The first or a later execution of a step.  See Note [Steps]."""

    FIRST = "first"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate in nanoseconds, and the interval in which eight of ten runs are expected."""

    ns: int
    p10: int
    p90: int


def phase_ticks(
    phase: Phase, bound: BoundGraph, profile: Profile, group: str, *, axis: int | None = None, rows: int = 0,
    grain: int = 1, tick_ns: int = 1, execution: ExecutionKind = ExecutionKind.FIRST,
) -> Ticks | None:  # fmt: skip
    """Ticks of a phase on one device of a group; with `axis`, of its shards of `rows` points along it, in multiples of `grain`.
    None: the device cannot run the phase."""
    device = profile.device(group)
    if device is None or device.backend == STORE:
        return None
    number = numbers_of(bound)
    rates = _rates(device, bound, number)
    overhead = device.launch_ns * GRAIN
    if execution is ExecutionKind.FIRST:
        overhead += making_grains(phase, rates)
    else:
        rates = rates.reusing()

    def grains(cut: ShardExtent | None) -> Grains:
        return Grains(phase_grains(phase, bound.graph.types, rates, number, cut) + overhead)

    def exact(count: int) -> int:
        try:
            return _up(grains(ShardExtent(axis or 0, min(count * grain, rows))), tick_ns)
        except NoTable:  # some sizes are not covered by any table
            return NEVER

    def traced(first: int, last: int) -> Formula:
        trace = Trace(first, last)
        try:
            return trace.formula(grains(ShardExtent(axis or 0, smallest(trace.rows * grain, rows))))
        except NoTable:
            raise Undecided from None

    def up(count: int) -> int:
        return _up(count, tick_ns)

    try:
        if axis is None or rows < 1:
            return Ticks(((1, _up(grains(None), tick_ns)),))
        _ = grains(ShardExtent(axis, 1)), grains(ShardExtent(axis, rows))
    except NoTable:
        return None
    return Curve(-(-rows // grain), exact, traced, up)


def _rates(device: DeviceProfile, bound: BoundGraph, number: Number) -> Rates:
    around, known = surroundings(bound, number)
    return Rates(device, around=around, guards=bound.graph.guards, known=known)


def making_ticks(phases: Iterable[Phase], profile: Profile, group: str, tick_ns: int = 1) -> int:
    """The additional ticks of the first executions of the steps of these phases, compared with later ones."""
    device = profile.device(group)
    rates = None if device is None else Rates(device)
    return 0 if rates is None else _up(sum(making_grains(phase, rates) for phase in phases), tick_ns)


def combine_ticks(partial_bytes: int, profile: Profile, tick_ns: int = 1) -> int:
    """The ticks that home takes to combine one partial result of that many bytes."""
    home = profile.home
    table = Rates(home).phase_table(("copy", "add"), Kind.F64)
    grains = (home.launch_ns + home.host_dispatch_ns) * GRAIN + (0 if table is None else table.at(3 * partial_bytes))
    return _up(grains, tick_ns)


def packing_ticks(size: int, profile: Profile, tick_ns: int = 1) -> Fraction:
    """The ticks for each byte of copying rows that are not contiguous, of a value of `size` bytes, to or from new memory."""
    rates = Rates(profile.home)
    copying, fresh = rates.phase_table(("strided", "copy", "add"), Kind.F64), rates.table(("fresh",), Kind.F64)
    grains = sum(table.rate(size) for table in (copying, fresh) if table is not None)
    return Fraction(grains, max(1, size) * GRAIN * tick_ns)


def with_messages(ticks: Ticks, sizes: Sequence[int], device: DeviceProfile, rows: int, tick_ns: int = 1) -> Ticks:
    """The ticks of a phase, and of sending and receiving values of `sizes` bytes in all its `rows`, by one of the device's
    threads, which computes nothing meanwhile."""
    table = device.ops.get(MESSAGE)
    if table is None or not sizes:
        return ticks

    def handling(count: int) -> int:
        return -(-sum(table.at(-(-size * count // rows)) for size in sizes) // (device.threads * tick_ns * GRAIN))

    measured = (-(-rows * at // size) for size in sizes if size for at in table.size)
    counts = sorted({1, rows, *(count for count in (*measured, *(at for at, _ in ticks.points)) if 0 < count < rows)})
    return Ticks(tuple((count, ticks.at(count) + handling(count)) for count in counts))


def missing_operation(phase: Phase, bound: BoundGraph, device: DeviceProfile) -> str | None:
    """The operation whose missing table keeps a device from running the phase; None if it can run it."""
    try:
        phase_grains(phase, bound.graph.types, Rates(device), numbers_of(bound))
    except NoTable as missing:
        return missing.operation
    return None


def phase_grains(phase: Phase, types: Types, rates: Rates, number: Number, cut: ShardExtent | None = None) -> Grains:
    """The grains of a phase's work, without the overhead of its own step.  Raises NoTable."""
    where = None if cut is None else (cut.axis, cut.rows)
    dialect = dialect_of(rates.device.backend)
    if dialect is not None and (lacking := missing(phase, types, dialect, rates.device.lacks)) is not None:
        raise NoTable(lacking)

    def called(routine: Phase) -> int:
        return phase_grains(routine, types, rates.reusing(), number)

    match phase:
        case Structured():
            return structured_grains(phase, types, rates, number, where)
        case LibraryPhase(op="call"):
            return _called_grains(phase, types, rates, number)
        case LibraryPhase():
            away = cold(rates, rates.around.get(phase.id, Around()))
            return Grains(library_grains(phase, types, rates, number, where) + away)
        case Loop():
            if (merged := repeated_grains(phase, types, rates, number, where)) is not None:
                return merged
            if cut is None and (region := region_grains(phase, types, rates, number, called)) is not None:
                return region
            trip = number(phase.trip)
            once, each = _block(phase.body, types, rates, number, cut) if phase.index is None else (0, 0)
            later = trip * each if phase.index is None else 0
            if phase.index is not None:
                once, later = _turns(phase, phase.index, types, rates, number, trip)
            if phase.until is not None:
                first, again = _block(phase.until, types, rates, number)
                once, later = once + first, later + trip * again
            return Grains(once + later)
        case Map():
            if (region := region_grains(phase, types, rates, number, called)) is not None:
                return region
            once, each = _block(phase.body, types, rates, number)
            cells = 1
            for size in phase.frame:
                cells *= number(size)
            return Grains(once + cells * each)
        case Fold():
            if (region := region_grains(phase, types, rates, number, called)) is not None:
                return region
            once, each = _block(phase.body, types, rates, number)
            return Grains(once + max(0, number(types[phase.args[0]].shape[0]) - 1) * each)
        case Branch():
            arms = [sum(_block(arm, types, rates, number)) for arm in (phase.then, phase.otherwise)]
            return Grains(max(arms))
        case Constant() | Input() | Print() | Output():
            return Grains(0)


def _called_grains(phase: LibraryPhase, types: Types, rates: Rates, number: Number) -> Grains:
    """The grains of a call of a shared function for each cell of its frame."""
    (function, sizes), frame = called(phase.attributes), types[phase.results[0]].shape[: frame_of(phase)]
    numbers = tuple(map(number, sizes.values()))

    def once() -> tuple[DeviceProfile, int, int]:
        bound = bound_function(function, numbers)
        inner = numbers_of(bound)
        grains = _block(SubGraph((), bound.graph.phases, ()), bound.graph.types, _rates(rates.device, bound, inner), inner)
        return rates.device, *grains  # the device lives as long as its identity is a key

    _, first, each = function.cached(("grains", numbers, id(rates.device)), once)
    return Grains(first + prod(map(number, frame)) * each)


def _turns(phase: Loop, index: SizeVariable, types: Types, rates: Rates, number: Number, trip: int) -> tuple[int, int]:
    """The grains of a loop with an index: once, and in all iterations, from its costs at five values of the index (Boole's
    rule)."""
    once = total = 0
    for quarter, weight in enumerate(BOOLE):
        at = {index: size_number(max(0, trip - 1) * quarter // 4)}
        first, each = _block(phase.body, types, rates, lambda size, at=at: number(size.substitute(at)))  # type: ignore[misc]
        once, total = max(once, first), total + weight * each
    return once, total * trip // sum(BOOLE)


def _block(graph: SubGraph, types: Types, rates: Rates, number: Number, cut: ShardExtent | None = None) -> tuple[int, int]:
    """The grains of a body: once (for its kernels), and per run, where results overwrite dying buffers.  See Note [Steps].

    `cut`: that of the axes which all its phases share.
    """
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
    """The nanoseconds of `launches` executions of a phase's step, the first of which compiles its kernel.  None: the device
    cannot run it.

    For the last member of a chain along rows this is the time of the chain.
    """
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
    """The additional grains of a step's first execution, compared with later ones.  See Note [Steps]."""
    if rates.measured:
        around = rates.around.get(phase.id, Around())
        first = rates.table(("first",), Kind.F64) if isinstance(phase, Structured) else None
        allocation = rates.table(("first.made",), Kind.F64) if isinstance(phase, Structured) and around.unknown else None
        start = Grains(0) if first is None else cooled(first, around)
        return start if allocation is None or is_view(phase) else Grains(start + cooled(allocation, around))
    return Grains(rates.device.host_dispatch_ns * GRAIN)


def _first_of_library(phase: Phase, rates: Rates, grains: Grains) -> int:
    """The additional grains of the first execution of a library step, which tables of library phases include."""
    table = rates.table(("first.library",), Kind.F64) if isinstance(phase, LibraryPhase) else None
    return 0 if table is None else min(int(table.at(1)), grains // 2)


def with_interval(ns: int, calibration: Calibration) -> Estimate:
    low, high = 1 - calibration.residual_p10, 1 + calibration.residual_p90
    return Estimate(ns, int(ns * low), -int(-(ns * high) // 1))


def numbers_of(bound: BoundGraph) -> Callable[[Size], int]:
    """Evaluates sizes as numbers, run-time sizes at their caps."""
    known: dict[Size, int] = {}

    def number(size: Size) -> int:
        value = size.constant
        if value is not None:
            return value
        result = known.get(size)
        if result is None:
            result = known[size] = upper_bound(size).evaluate({})
        return result

    return number


def _up(grains: int, tick_ns: int) -> int:
    """Grains as ticks, rounded up; an estimate is rounded nowhere else."""
    return -(-grains // (GRAIN * tick_ns))
