"""Library operations that move, scan or reduce items with kernels made from templates: copies, gathers, scans, segment
reductions, compress, random numbers.  Each function returns None where NumPy should run the operation.

Copies are bound by memory: fresh pages cost three times as much as copying into mapped ones, and one thread cannot use all
bandwidth.  So results come from the buffer pool (`pooled_empty`), and results larger than the caches bypass them.  Items are
copied as integers of their size, so one kernel serves every kind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind, neutral_element
from ..graph.phases import LibraryPhase, ReadNode, ValueId, frame_of
from ..jit import tiering
from ..jit.compiler import LruCache, MachineCode, address_of, is_installed
from ..jit.tiering import PIECES_NANOSECONDS
from ..loopir.templates import (
    PHILOX_ROUNDS,
    PhiloxUniforms,
    ScanForm,
    ScanTemplate,
    Scatter,
    SelectionForm,
    SelectTemplate,
)
from ..lower.body import KINDS, Body, BodyResult, build_kernel, gather_body
from ..lower.loop_order import BLOCK, RUN, LoopOrder, StoreMode, VectorStride, row_nest
from ..scalar.function_table import REDUCTIONS
from ..vm.run_state import ALIGNMENT, MIN_POOLED as POOLED_MIN_BYTES, pooled_empty
from .kernels import STREAMING_BYTES, CompiledRun, strides_over
from .numpy_scalars import MASK, UFUNC_FUNCTIONS, WEYL_0, WEYL_1, fill_uniform
from .parallel_for import (
    ArgumentBlock,
    SplitReduction,
    TaskLaunch,
    TaskLoop,
    TaskSplit,
    WorkEstimate,
    address_if_worthwhile,
    run_tasks,
    task_split_of,
)
from .views import DTYPES, NumArray, common_stride, start_of

if TYPE_CHECKING:
    from ..codegen.llvm_builder import IrBuilder

# ---------------------------------------------------------------------------------------------------- strided copy

_KINDS: Final = {1: Kind.U8, 4: Kind.I32, 8: Kind.I64}
"""By bytes per item, the kind as which items are copied; NumPy copies items of other sizes."""
_NANOSECONDS_A_BYTE: Final = 0.1
_SAVED: Final = 0.1
"""Nanoseconds per byte that a kernel saves over NumPy."""
_TILE_ROWS: Final = 64
_TILE_ITEMS: Final = 1 << 14


def contiguous_copy(array: NumArray, threads: int) -> NumArray:
    """A row-major copy of the array in new memory."""
    if array.nbytes < POOLED_MIN_BYTES:
        return array.copy()
    result: NumArray = pooled_empty(array.shape, array.dtype)
    copy_into(result, array, threads)
    return result


def copy_into(target: NumArray, source: NumArray, threads: int) -> None:
    """Copies the source into the target, which has the same dtype and shape and shares no memory with it."""
    if target.nbytes < POOLED_MIN_BYTES:
        np.copyto(target, source)
        return
    addresses = start_of(source), start_of(target)
    pieces = _pieces(target, source, threads, is_aligned=addresses[1] % ALIGNMENT == 0)
    if pieces is None:
        np.copyto(target, source)
    else:
        pieces.run(addresses)


def _pieces(target: NumArray, source: NumArray, threads: int, *, is_aligned: bool) -> TaskLaunch | None:
    """The launch that copies between these layouts; None if NumPy has to copy, or compiling does not pay yet."""
    key = (target.itemsize, target.shape, target.strides, source.strides, threads, is_aligned)
    cached = _kept.of(key, (), lambda: prepare_copy(target, source, threads, streams=is_aligned))
    if cached is None or isinstance(cached, TaskLaunch):
        return cached
    if tiering.mode() is tiering.Mode.OFF or not tiering.is_wanted(cached.code, target.nbytes * _SAVED):
        return None
    address = address_of(cached.code)
    if address is None:
        return None
    launch = cached.launch(address, threads)
    _kept.put(key, (), launch)
    return launch


@dataclass(frozen=True, slots=True)
class TemplateKernel:
    """A copy whose kernel is not compiled yet; the buffers of its argument block are source and target."""

    code: MachineCode
    block: ArgumentBlock
    loops: list[TaskLoop]
    nanoseconds: float

    def launch(self, address: int, threads: int) -> TaskLaunch:
        return TaskLaunch(address, [self.block], 2, threads, self.nanoseconds, self.loops)


_kept: Final[LruCache[TemplateKernel | TaskLaunch | None]] = LruCache(256)


def prepare_copy(target: NumArray, source: NumArray, threads: int, *, streams: bool) -> TemplateKernel | None:
    """The copy between these layouts; None if NumPy has to copy."""
    kind = _KINDS.get(target.itemsize)
    written, read = strides_over(target, target.shape), strides_over(source, target.shape)
    if kind is None or not is_installed() or not source.flags.aligned or min(written) < 0:
        return None
    shape = target.shape
    if target.size == 1:
        shape, written, read = (1,), (target.itemsize,), (target.itemsize,)
    nest = row_nest(shape, (written, read), separate_last=False)
    outer, inner = nest.strides
    if outer[-1] != target.itemsize:
        return None
    rows_aligned = all(stride % ALIGNMENT == 0 for stride in outer[:-1])
    stores = StoreMode.STREAMED if streams and rows_aligned and target.nbytes >= STREAMING_BYTES else StoreMode.PLAIN
    from ..lower.rows import KernelCode

    duration = target.nbytes * _NANOSECONDS_A_BYTE
    if len(nest.sizes) == 2 and inner[0] == target.itemsize:
        return _prepare_transpose(nest, kind, duration)
    body = Body((ReadNode(0, kind),), (BodyResult((0,), kind, None),))
    kernel = build_kernel(body, replace(nest, strides=(inner,)), [kind], stores)
    read_at, written_at = 2 * kernel.axes, 3 * kernel.axes + 1
    words = (*nest.sizes, *[0] * kernel.axes, 0, *inner, 0, *outer[:-1], 0)
    moves = [[(read_at, a, 0), (written_at, b, 0)] for a, b in zip(inner, outer, strict=True)]
    loops = _cuts(nest, kind.bytes, duration, threads).loops(moves)
    return TemplateKernel(KernelCode(kernel), ArgumentBlock(words, [(read_at, (0, 0)), (written_at, (1, 0))]), loops, duration)


def _cuts(nest: LoopOrder, item: int, duration: float, threads: int) -> TaskSplit:
    """The task split: for a transposed source, tiles whose cache lines stay in the cache."""
    _, read = nest.strides
    across = [loop for loop, step in enumerate(read[:-1]) if abs(step) == item] if abs(read[-1]) > item else []
    if not across:
        return task_split_of(nest, WorkEstimate(duration, threads, SplitReduction.NONE))
    rows = min(nest.sizes[across[0]], max(_TILE_ROWS, _TILE_ITEMS // nest.sizes[-1]))
    cuts = TaskSplit.none(nest.sizes).cut(across[0], range(0, nest.sizes[across[0]], rows))
    return cuts.cut(len(read) - 1, range(0, nest.sizes[-1], max(_TILE_ITEMS // rows // ALIGNMENT, 1) * ALIGNMENT))


@dataclass(frozen=True, slots=True)
class TileTranspose:
    """A kernel that transposes a matrix in square tiles held in registers, and the remaining items one by one.

    Argument block: rows and columns of the target; the first of both, which only tasks need; address and column stride of the
    source, whose columns are contiguous; address and row stride of the target, whose rows are contiguous."""

    kind: Kind

    @staticmethod
    def side_of(kind: Kind) -> int:
        """The rows and columns of a tile."""
        return 16 if kind.bytes == 1 else 8

    def text(self) -> str:
        from ..codegen.llvm_builder import IrBuilder, function_text
        from ..codegen.llvm_scalars import STORED

        w, item, side, stored = IrBuilder(), self.kind.bytes, self.side_of(self.kind), STORED[self.kind]
        w.label("start")
        words = []
        for operand in range(8):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if operand in (4, 6) else 'i64'}, ptr {address}, align 8"))
        rows, columns, _, _, source, source_step, target, target_step = words

        def read_from(row: str, column: str) -> str:
            return w.at(source, w.word("add", w.word("mul", row, item), w.word("mul", column, source_step)))

        def write_to(row: str, column: str) -> str:
            return w.at(target, w.word("add", w.word("mul", row, target_step), w.word("mul", column, item)))

        def one_by_one(first_row: str, last_row: str, first_column: str, last_column: str) -> None:
            outer = w.begin(first_row, last_row)
            inner = w.begin(first_column, last_column)
            value = w.let(f"load {stored}, ptr {read_from(outer.index, inner.index)}, align {item}")
            w.do(f"store {stored} {value}, ptr {write_to(outer.index, inner.index)}, align {item}")
            w.end(inner)
            w.end(outer)

        whole_rows, whole_columns = w.word("and", rows, -side), w.word("and", columns, -side)
        type = f"<{side} x {stored}>"
        outer = w.begin(0, whole_rows, side)
        inner = w.begin(0, whole_columns, side)
        address, lines = read_from(outer.index, inner.index), list[str]()
        for _ in range(side):
            lines.append(w.let(f"load {type}, ptr {address}, align {item}"))
            address = w.at(address, source_step)
        address = write_to(outer.index, inner.index)
        for line in _transposed(w, type, lines):
            w.do(f"store {type} {line}, ptr {address}, align {item}")
            address = w.at(address, target_step)
        w.end(inner)
        w.end(outer)
        one_by_one("0", whole_rows, whole_columns, columns)
        one_by_one(whole_rows, rows, "0", columns)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


def _transposed(w: IrBuilder, type: str, lines: list[str]) -> list[str]:
    """Writes the transpose of a square of vectors by log₂ rounds of swaps (neighbours, then pairs, …); returns its rows."""
    side, step = len(lines), 1
    while step < side:
        for low in (line for line in range(side) if not line & step):
            pair = f"{type} {lines[low]}, {type} {lines[low + step]}"
            for line, ahead in ((low, 0), (low + step, step)):
                order = [side + lane - step + ahead if lane & step else lane + ahead for lane in range(side)]
                lines[line] = w.let(f"shufflevector {pair}, <{side} x i32> <{', '.join(f'i32 {lane}' for lane in order)}>")
        step *= 2
    return lines


def _prepare_transpose(nest: LoopOrder, kind: Kind, duration: float) -> TemplateKernel:
    """The transposition of a matrix; its tasks are tiles whose rows stay in the L1 cache."""
    ((target_step, _), (_, source_step)), (rows, columns) = nest.strides, nest.sizes
    height = min(rows, max(_TILE_ROWS, _TILE_ITEMS // columns // _TILE_ROWS * _TILE_ROWS))
    width = max(_TILE_ITEMS // height // ALIGNMENT, 1) * ALIGNMENT
    block = ArgumentBlock((rows, columns, 0, 0, 0, source_step, 0, target_step), [(4, (0, 0)), (6, (1, 0))])
    loops = [
        TaskLoop(rows, range(0, rows, height), 0, 2, ((4, kind.bytes, 0), (6, target_step, 0))),
        TaskLoop(columns, range(0, columns, width), 1, 3, ((4, source_step, 0), (6, kind.bytes, 0))),
    ]
    return TemplateKernel(TileTranspose(kind), block, loops, duration)


def concatenate(parts: Sequence[NumArray], axis: int, threads: int) -> NumArray:
    """Concatenate arrays of one dtype along an axis."""
    shape = list(parts[0].shape)
    shape[axis] = sum([part.shape[axis] for part in parts])
    result: NumArray = pooled_empty(tuple(shape), parts[0].dtype)
    before, start = (slice(None),) * axis, 0
    for part in parts:
        stop = start + part.shape[axis]
        if part.size:
            copy_into(result[(*before, slice(start, stop))], part, threads)
        start = stop
    return result


def copy_cyclically(array: NumArray, shape: tuple[int, ...], threads: int) -> NumArray:
    """Fill `shape` with the items of a non-empty array in row-major order, repeated as often as necessary."""
    result: NumArray = pooled_empty(shape, array.dtype)
    flat, items = result.reshape(-1), array.reshape(-1)
    repeats, rest = divmod(flat.size, items.size)
    if repeats:
        cycles = flat[: repeats * items.size].reshape(repeats, items.size)
        copy_into(cycles, np.broadcast_to(items, cycles.shape), threads)
    if rest:
        copy_into(flat[flat.size - rest :], items[:rest], threads)
    return result


# ---------------------------------------------------------------------------------------------------- gather
#
# Gathers with kernels: an element-wise body that reads one item by index, bound and split like any other.
#
# An index outside its axis ends the kernel; the gather then runs on NumPy, which raises the error.

MIN_GATHER_ROW: Final = 16
"""The least bytes of an indexed cell (unless it is a single item) for which a kernel copies faster than NumPy."""
_GATHER_SAVED: Final = 3.0
"""Nanoseconds per item that a kernel saves over NumPy."""
_GATHER_KINDS: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.CHAR})
_INDICES: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64})


class IndexOutside(Exception):
    """Raised where an index is outside its axis; NumPy then raises the error for users."""


class GatherRun(CompiledRun):
    """A gather with a kernel."""

    def fail(self, failure_node: int, word: int) -> NoReturn:
        raise IndexOutside

    def gathered(self, table: NumArray, indices: NumArray) -> NumArray | None:
        (table_at, _), (indices_at, _) = self.views
        try:
            results = self.run({table_at: table, indices_at: indices}, None)
        except IndexOutside:
            return None
        gathered: NumArray | None = results[0] if results else None
        return gathered


def gather_run(
    phase: LibraryPhase, kinds: Sequence[Kind], table: NumArray, indices: NumArray, threads: int, *, native: bool = False
) -> GatherRun | None:
    """The kernel of a gather, cached with the phase; None if NumPy has to gather.  `kinds`: those of table and indices; `native`:
    is it for a native program?"""
    mode = tiering.mode()
    if mode is tiering.Mode.OFF or not is_installed() or not table.flags.c_contiguous:
        return None
    key = (id(phase), table.shape, indices.shape, threads, mode, native)
    return _gather_cache.of(key, (phase,), lambda: _made(phase, kinds, table.shape, indices.shape, threads, native))


_gather_cache: Final[LruCache[GatherRun | None]] = LruCache(256)


def _made(
    phase: LibraryPhase, kinds: Sequence[Kind], table: tuple[int, ...], indices: tuple[int, ...], threads: int, native: bool
) -> GatherRun | None:  # fmt: skip
    axis, attributes = phase.attributes["axis"], phase.attributes
    assert isinstance(axis, int)
    if frame_of(phase) or attributes.get("fills"):
        return None
    if not set(kinds[:1]) <= _GATHER_KINDS:
        return None
    space = (*table[:axis], *indices, *table[axis + 1 :])
    inner = prod(table[axis + 1 :])
    points = prod(space)
    saved = points * _GATHER_SAVED
    if not points or not prod(table) or kinds[1] not in _INDICES or not (native or tiering.pays(saved)):
        return None
    if 1 < inner < MIN_GATHER_ROW and saved >= tiering.LAUNCH_NANOSECONDS:
        return None
    scalars = [table[axis], inner * DTYPES[kinds[0]].itemsize]
    body = gather_body(kinds[0], kinds[1], None, proved=False)
    at_first: tuple[Any, ...] = (*(slice(None),) * axis, 0, *(None,) * len(indices), ...)  # without `...` an item is a copy
    wide: tuple[Any, ...] = (*(None,) * axis, *(slice(None),) * len(indices), *(None,) * (len(table) - axis - 1), ...)
    source, places = phase.args[:2]
    views: list[tuple[ValueId, Callable[[Any], Any]]] = [
        (source, lambda array: array[at_first]),
        (places, lambda array: array[wide]),
    ]
    run = GatherRun(body, views, space, list(kinds), scalars, threads, tiering.mode(), _nothing, 0)
    run.saving, run.launched_from = saved, 0
    return run


def _nothing(values: Any, overwrite: Any) -> tuple[Any, ...]:
    return ()


# ---------------------------------------------------------------------------------------------------- scans
#
# Scans with compiled kernels, in the documented order of scans.
#
# Threads share the lines if there are many.  One long line is a chain of tasks, each of which starts with the total of the one
# before; interrupts are handled between tasks.

PARALLEL: Final = 20_000.0
"""The least work in nanoseconds for which threads share the lines."""
_INTERRUPT_BYTES: Final = 1 << 25
"""The most bytes of a line that one thread scans between interrupts."""
_SCAN_SAVED: Final = 2.0
"""Nanoseconds per item that a kernel saves over NumPy, without those of a launch."""
_BYTE_WORK: Final = 0.05
_ORDERED_WORK: Final = 0.2
"""Estimated nanoseconds per byte, and per item in the order of scans, on one thread."""
_PIECES: Final = 4
"""Tasks per thread."""
_PARITIES: Final = frozenset({"ne", "eq"})
"""Functions of booleans that kernels scan although no kernel reduces with them."""
_SOURCE, _RESULT, _CARRY = range(3)
"""Buffer numbers in every task's argument block."""


def scan_lines(
    function: str, kind: Kind, arg: NumArray, axis: int, threads: int, first: NumArray | None = None
) -> NumArray | None:  # fmt: skip
    """The scan of every line along `axis`, or of one line after `first`; None if NumPy has to scan."""
    ready = scan_plan(function, kind, arg, axis, threads)
    if ready is None or (first is not None and (first.size > 1 or ready.code.form is not ScanForm.LINES)):
        return None
    result: NumArray = pooled_empty(arg.shape, arg.dtype)
    ready.run(arg, result, first)
    return result


def scan_plan(
    function: str, kind: Kind, arg: NumArray, axis: int, threads: int,
    find_code: Callable[[MachineCode, float], int | None] = address_if_worthwhile,
) -> PreparedTemplate | None:  # fmt: skip
    """The scan for arrays of this layout, cached; None if NumPy has to scan.

    `find_code`: returns the address of code that saves so many nanoseconds, or None if the code is not to be used."""
    if arg.dtype != DTYPES[kind] or not arg.size:
        return None
    key = (function, kind, arg.shape, arg.strides, axis, threads, tiering.mode())
    ready, axes = _scan_cache.get(key), _collapsed_strides(arg, axis)
    if ready is not None or axes is None or not _is_scanned(function, kind):
        return ready
    code = _code(function, kind, arg, axis)
    address = find_code(code, tiering.LAUNCH_NANOSECONDS + (arg.size - RUN) * _SCAN_SAVED)
    plan = None if address is None else _scan_launches(code, address, arg, axis, axes, threads)
    return None if plan is None else _scan_cache.put(key, (), plan)


def _is_scanned(function: str, kind: Kind) -> bool:
    is_reduction = function in REDUCTIONS or (kind is Kind.BOOL and function in _PARITIES)
    return kind in KINDS and kind is not Kind.CHAR and is_reduction


def _scan_launches(code: ScanTemplate, address: int, arg: NumArray, axis: int, axes: tuple[int, int],
    threads: int) -> PreparedTemplate | None:
    bytes = code.kind.bytes
    work = arg.nbytes * _BYTE_WORK + (0 if code.is_order_free else arg.size * _ORDERED_WORK)
    if code.form is ScanForm.COLUMNS:
        columns = _columns(code, arg, axis, axes, threads if work >= PARALLEL else 1, work)
        return None if columns is None else PreparedTemplate(code, TaskLaunch(address, columns, 3, threads, work))
    lines, length, step = prod(arg.shape[:axis]), arg.shape[axis], arg.strides[axis]
    if lines == 1 and work >= tiering.LONG_NANOSECONDS:
        batch, blocks = _INTERRUPT_BYTES // (bytes * BLOCK) * BLOCK, []
        for number, first in enumerate(range(0, length, batch)):
            starts = first * step, first * bytes, number * bytes
            blocks.append(_line_block(code, 1, min(batch, length - first), (0, step), starts))
        return PreparedTemplate(code, TaskLaunch(address, blocks, 3, 1, work), is_chain=True)
    each = -(-lines // tiering.pieces(_PIECES * threads if threads > 1 and work >= PARALLEL else 1, work))
    blocks = [
        _line_block(code, min(each, lines - first), length, (axes[0], step), (first * axes[0], first * length * bytes, 0))
        for first in range(0, lines, each)
    ]
    return PreparedTemplate(code, TaskLaunch(address, blocks, 3, threads, work))


def _line_block(
    code: ScanTemplate, lines: int, length: int, strides: tuple[int, int], starts: tuple[int, int, int]
) -> ArgumentBlock:
    """The argument block for `lines` lines.  `strides`: of the source; `starts`: offsets into the source, result and carry."""
    line_strides = (strides[0],) if code.unit else strides
    words = [lines, length, 0, *line_strides, 0, length * code.kind.bytes, 0]
    after = 3 + len(line_strides)
    return ArgumentBlock(words, list(zip((2, after, after + 2), zip((_SOURCE, _RESULT, _CARRY), starts, strict=True),
        strict=True)))


def _collapsed_strides(arg: NumArray, axis: int) -> tuple[int, int] | None:
    """The common stride of the axes before `axis`, and that of the axes after it; None if either is not evenly spaced."""
    before = common_stride(arg.shape[:axis], arg.strides[:axis])
    behind = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    return None if before is None or behind is None else (before, behind)


def _code(function: str, kind: Kind, arg: NumArray, axis: int) -> ScanTemplate:
    inner, length = prod(arg.shape[axis + 1 :]), arg.shape[axis]
    if inner == 1:
        aligned = axis == 0 or length * kind.bytes % ALIGNMENT == 0
        return ScanTemplate(
            function, kind, ScanForm.LINES, arg.strides[axis] == kind.bytes, arg.nbytes >= STREAMING_BYTES and aligned
        )
    return ScanTemplate(function, kind, ScanForm.COLUMNS)


@dataclass(frozen=True, slots=True)
class PreparedTemplate:
    """A launch whose buffers are the source, the result and the carry, the total before each line (initially neutral).

    In a chain each task stores the carry for the next."""

    code: ScanTemplate
    pieces: TaskLaunch
    is_chain: bool = False

    @property
    def carry(self) -> NumArray:
        """The carry buffer: a shared one, or a new one for a chain of tasks."""
        shared = _carry(self.code.function, self.code.kind)
        return np.resize(shared[:1], self.pieces.count + 1) if self.is_chain else shared

    def run(self, arg: NumArray, result: NumArray, first: NumArray | None = None) -> None:
        carry = self.carry
        if first is not None:
            carry = carry.copy()
            carry[:1] = first.reshape(-1)
        self.pieces.run((start_of(arg), start_of(result), start_of(carry)))


@cache
def _carry(function: str, kind: Kind) -> NumArray:
    """A new carry buffer: the neutral value as carry in, and space for a carry out."""
    return np.full(2, neutral_element(function, kind), DTYPES[kind])


_scan_cache: LruCache[PreparedTemplate] = LruCache(256)


# ------------------------------------------------------------------------------------------------ columns


def _columns(code: ScanTemplate, arg: NumArray, axis: int, axes: tuple[int, int], team: int,
    work: float) -> list[ArgumentBlock] | None:
    bytes, cells = code.kind.bytes, prod(arg.shape[axis + 1 :])
    if axes[1] != bytes:
        return None
    tables, length = prod(arg.shape[:axis]), arg.shape[axis]
    pitch = cells * bytes
    by_table = team == 1 or tables >= 2 * team
    count, least = (tables, 1) if by_table else (cells, ALIGNMENT // bytes)
    wanted = tiering.pieces(1 if team == 1 else _PIECES * team, work)
    each = count if wanted == 1 else max(least, -(-count // (wanted * least)) * least)
    starts = list(range(0, count, each))
    if not by_table and len(starts) > 1 and count - starts[-1] < least:
        starts.pop()  # fewer lines than a vector join the task before
    blocks = []
    for first, stop in zip(starts, [*starts[1:], count], strict=True):
        table, cell = (first, 0) if by_table else (0, first)
        cell_extents = (stop - first, cells) if by_table else (tables, stop - first)
        words = (cell_extents[0], length, cell_extents[1], 0, axes[0], arg.strides[axis], 0, length * pitch, pitch)
        source, result = table * axes[0] + cell * bytes, table * length * pitch + cell * bytes
        blocks.append(ArgumentBlock(words, [(3, (_SOURCE, source)), (6, (_RESULT, result))]))
    return blocks


# ---------------------------------------------------------------------------------------------------- segment reduction
#
# Keyed reductions of one number per key with a compiled loop.
#
# Integers and booleans are exact in any order, so each thread has several tables.  Floats are reduced in the order of each key's
# items, as documented: on one thread or, if keys ascend, in tasks that contain complete runs of equal keys.

_TABLES: Final = 4
_TABLE_BYTES: Final = 1 << 18
"""The most bytes of a table of which threads have several; larger ones would not stay in cache.  Tables must also be small
compared with the keys, so that all of them fit into the phase's scratch memory."""
_MOST_PIECES: Final = 8
_GLANCE: Final = 64
"""The number of leading keys that are tested before all keys are tested for ascending order."""
_SCATTER_SAVED: Final = 4.0
"""Nanoseconds per item that a kernel saves over NumPy."""
_EACH: Final = 1.0


def reduce_by_key(function: str, kind: Kind, keys: NumArray, items: NumArray, bins: int, threads: int) -> Any:
    """The value of each bin; None if NumPy has to reduce (or is as fast), or some key is outside the bins."""
    count = len(keys)
    if kind not in KINDS or kind is Kind.CHAR or function not in REDUCTIONS or not len(items) == count > 0:
        return None
    if items.dtype != DTYPES[kind] or keys.dtype != np.int64:
        return None
    exact = not kind.is_float
    small = bins * kind.bytes * _TABLES <= min(_TABLE_BYTES, count)
    stride = items.strides[0]
    step = VectorStride.NONE if stride == 0 else VectorStride.UNIT if stride == kind.bytes else VectorStride.STRIDED
    code = Scatter(function, kind, _TABLES if exact and small else 1, keys.strides[0] == keys.itemsize, step)
    address = address_if_worthwhile(code, count * _SCATTER_SAVED)
    if address is None:
        return None
    pieces = min(threads, _MOST_PIECES) if count >= PIECES_NANOSECONDS else 1
    tables = None
    if code.tables == 1 and bool((keys[1:_GLANCE] >= keys[: _GLANCE - 1][: count - 1]).all()):
        tables = _by_runs(replace(code, runs=True), keys, items, bins, pieces)
    if tables is None:
        pieces = pieces if exact and small else 1
        tables = np.full((pieces * code.tables, bins), neutral_element(function, kind), DTYPES[kind])
        each = -(-count // pieces)
        if not _run(code, address, keys, items, tables, [min(piece * each, count) for piece in range(pieces + 1)]):
            return None
    result = UFUNC_FUNCTIONS[function].reduce(tables, axis=0, dtype=DTYPES[kind]) if len(tables) > 1 else tables[0]
    return _with_empty_bins(function, kind, keys, result)


def _by_runs(code: Scatter, keys: NumArray, items: NumArray, bins: int, pieces: int) -> NumArray | None:
    """The reduction with one table for ascending keys: no two tasks share a key.  None if keys do not ascend or code is
    missing."""
    count = len(keys)
    address = address_if_worthwhile(code, count * _SCATTER_SAVED)
    if address is None:
        return None
    starts = [0]
    for piece in range(1, pieces):
        near = max(starts[-1], piece * count // pieces)
        start = near + int(np.searchsorted(keys[near:], keys[near], "right")) if near < count else count
        if start < count and keys[start - 1] > keys[start]:
            return None
        starts.append(start)
    table: NumArray = np.full((1, bins), neutral_element(code.function, code.kind), DTYPES[code.kind])
    return table if _run(code, address, keys, items, table, [*starts, count]) else None


def _run(code: Scatter, address: int, keys: NumArray, items: NumArray, tables: NumArray, bounds: list[int]) -> bool:
    """Runs the tasks, each with its own tables or all with one; returns whether all keys were inside the bins."""
    pieces = len(bounds) - 1
    each = len(tables) // pieces
    key_address, item_address = start_of(keys), start_of(items)
    table_address, pitch = start_of(tables), tables.strides[0]
    key_stride, item_stride = keys.strides[0], items.strides[0]
    calls: list[list[int]] = []
    for piece, (start, stop) in enumerate(pairwise(bounds)):
        if start >= stop:
            continue
        words = [stop - start, tables.shape[1], key_address + start * key_stride]
        words += [] if code.unit else [key_stride]
        words += [item_address + start * item_stride, *([item_stride] if code.step is VectorStride.STRIDED else [])]
        words += [table_address + piece * each * pitch, pitch]
        calls.append(words)
    return not run_tasks(address, calls, pieces, len(keys) * _EACH)


def _with_empty_bins(function: str, kind: Kind, keys: NumArray, result: NumArray) -> NumArray:
    """Stores the function's identity in bins without items, since tables may start with another value."""
    from .numpy_reductions import identity

    if function in ("min", "max") or (kind.is_float and function == "add"):
        untouched = result == neutral_element(function, kind)
        if function == "add":
            untouched &= np.signbit(result)
        if untouched.any():
            untouched[keys[untouched.take(keys)]] = False  # bins whose items happen to equal the initial value
            if untouched.any():
                result[untouched] = identity(function, kind)
    return result


# ---------------------------------------------------------------------------------------------------- compress
#
# Compress and where with compiled kernels: tasks count the true items of parts of the mask, then each writes its cells or
# positions.

_COMPRESS_SAVED: Final = 2.0
"""Nanoseconds per item that a kernel saves over NumPy."""
_WORK: Final = 0.5
_COMPRESS_TASKS: Final = 4
"""Tasks per thread."""
_TOGETHER: Final = 64
_CELL_BYTES: Final = 1 << 12
"""The most bytes of a cell that kernels copy; NumPy is as fast for larger ones."""
_ITEMS: Final = {1: (Kind.U8, 1), 4: (Kind.I32, 1), 8: (Kind.I64, 1), 16: (Kind.I64, 2)}
"""By bytes per item: the kind and the count of numbers as which an item is copied."""
DUE: Final = 2
MASKS: Final = (5, 7)
SOURCE: Final = 9
"""Indices in the words of `words_of`."""


@cache
def code_of(bytes: int, step: int) -> SelectTemplate:
    """The template for items or cells of `bytes` bytes, `step` bytes apart."""
    if bytes in _ITEMS:
        kind, count = _ITEMS[bytes]
        return SelectTemplate(SelectionForm.ITEMS, kind, count, unit=step == bytes)
    return SelectTemplate(SelectionForm.CELLS, Kind.I64 if bytes % 8 == 0 else Kind.I32 if bytes % 4 == 0 else Kind.U8)


def words_of(code: SelectTemplate, tables: int, items: int, masks: tuple[int, int], due: int, target: int, *, first: int = 0,
             source: tuple[int, int, int] = (0, 0, 0), bytes: int = 0) -> list[int]:  # fmt: skip
    """The argument block.  `masks`: (offset, step between tables); `source`: (offset, step between tables, step between
    items)."""
    words = [tables, items, due, first, bytes // code.kind.bytes, *masks, *masks]
    if not code.is_numbering:
        words += source[: 2 if code.unit else 3]
    return [*words, target, *((bytes,) if code.form is SelectionForm.CELLS else ())]


def _is_read(mask: NumArray) -> bool:
    """Can kernels read the mask: contiguous, little-endian booleans?"""
    return sys.byteorder == "little" and mask.dtype == np.bool_ and mask.flags.c_contiguous


def compress_items(mask: NumArray, arg: NumArray, axis: int, threads: int) -> NumArray | None:
    """The cells along `axis` for which the mask (a vector as long as the axis) is true; None if NumPy has to select."""
    items, tables = len(mask), prod(arg.shape[:axis])
    if mask.ndim != 1 or items != arg.shape[axis] or not _is_read(mask) or not arg.size:
        return None
    bytes = arg.itemsize * prod(arg.shape[axis + 1 :])
    table = common_stride(arg.shape[:axis], arg.strides[:axis])
    packed = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    if table is None or (bytes != arg.itemsize and packed != arg.itemsize) or bytes > _CELL_BYTES:
        return None
    step = arg.strides[axis]
    code = code_of(bytes, step)
    address = address_if_worthwhile(code, items * tables * _COMPRESS_SAVED)
    if address is None:
        return None
    team = threads if items * tables * _WORK >= PIECES_NANOSECONDS else 1
    by_table = tables >= 2 * team
    starts = _starts(items, 1 if by_table else team)
    ends = list(accumulate(_counts(mask, starts)))
    due = ends[-1]
    result: NumArray = pooled_empty((*arg.shape[:axis], due, *arg.shape[axis + 1 :]), arg.dtype)
    source, target, masks = start_of(arg), start_of(result), start_of(mask)
    each = max(1, -(-tables // (_COMPRESS_TASKS * team)) if team > 1 else tables) if by_table else 1
    calls = []
    for first in range(0, tables, each):
        count = min(each, tables - first)
        for start, stop, begin, end in zip(starts, [*starts[1:], items], [0, *ends[:-1]], ends, strict=True):
            calls.append(words_of(
                code, count, stop - start, (masks + start, 0), (end - begin) * count, target + (first * due + begin) * bytes,
                source=(source + first * table + start * step, table, step), bytes=bytes,
            ))  # fmt: skip
    run_tasks(address, calls, team, items * tables * _WORK)
    return result


def true_positions(mask: NumArray, threads: int) -> NumArray | None:
    """The positions of the true items of a vector, or their coordinates in a matrix; None if NumPy has to find them."""
    if mask.ndim not in (1, 2) or not _is_read(mask) or not mask.size:
        return None
    pairs = mask.ndim == 2
    code = SelectTemplate(SelectionForm.PAIRS if pairs else SelectionForm.PLACES)
    address = address_if_worthwhile(code, mask.size * _COMPRESS_SAVED * mask.ndim)
    if address is None:
        return None
    team = threads if mask.size * _WORK >= PIECES_NANOSECONDS else 1
    length = len(mask)
    width = mask.size // length
    starts = _starts(length, team, max(1, _TOGETHER // width) if pairs else _TOGETHER)
    ends = list(accumulate(_counts(mask, starts)))
    result: NumArray = pooled_empty((ends[-1], 2) if pairs else (ends[-1],), np.dtype(np.int64))
    masks, target = start_of(mask), start_of(result)
    calls = []
    for start, stop, begin, end in zip(starts, [*starts[1:], length], [0, *ends[:-1]], ends, strict=True):
        if pairs:
            tables, items, mask_rows, result_at = stop - start, width, (masks + start * width, width), target + begin * 16
        else:
            tables, items, mask_rows, result_at = 1, stop - start, (masks + start, 0), target + begin * 8
        calls.append(words_of(code, tables, items, mask_rows, end - begin, result_at, first=start))
    run_tasks(address, calls, team, mask.size * _WORK)
    return result


def _starts(items: int, team: int, grain: int = _TOGETHER) -> list[int]:
    pieces = _COMPRESS_TASKS * team if team > 1 else 1
    step = max(grain, -(-items // (pieces * grain)) * grain)
    return list(range(0, items, step))


def _counts(mask: NumArray, starts: Sequence[int]) -> list[int]:
    return [int(np.count_nonzero(mask[a:b])) for a, b in zip(starts, [*starts[1:], len(mask)], strict=True)]


# ---------------------------------------------------------------------------------------------------- random numbers
#
# Uniform random numbers of a key with compiled code, in tasks for several threads; NumPy generates the last number of an odd
# count.

_RANDOM_SAVED: Final = 12.0
"""Nanoseconds per number that a kernel saves over NumPy."""
_RANDOM_ITEM_NANOSECONDS: Final = 2.0


def fill(out: NumArray, key: int, stream: int, threads: int, origin: int = 0) -> None:
    """Fill a contiguous f64 vector with the random numbers of a key and stream from the one at `origin` on."""
    if origin % 2:
        fill_uniform(out[:1], key, stream, origin)
        out, origin = out[1:], origin + 1
    count, before = len(out), origin // 2
    blocks = count // 2
    address = address_if_worthwhile(PhiloxUniforms(), count * _RANDOM_SAVED) if blocks else None
    if address is None:
        fill_uniform(out, key, stream, origin)
        return
    keys = [word for r in range(PHILOX_ROUNDS) for word in ((key + r * WEYL_0) & MASK, ((key >> 32) + r * WEYL_1) & MASK)]
    start = start_of(out)
    team = threads if count * _RANDOM_ITEM_NANOSECONDS >= PIECES_NANOSECONDS else 1
    step = -(-blocks // (4 * team)) if team > 1 else blocks
    calls = [
        (min(step, blocks - first), before + first, stream & MASK, (stream >> 32) & MASK, *keys, start + first * 16)
        for first in range(0, blocks, step)
    ]
    run_tasks(address, calls, team, count * _RANDOM_ITEM_NANOSECONDS)
    done = blocks * 2
    fill_uniform(out[done:], key, stream, origin + done)
