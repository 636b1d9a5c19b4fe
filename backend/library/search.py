"""Equality of whole cells: first occurrences, index of, membership, interval index, match.

Equality is exact: 0.0 equals ¯0.0, NaN equals nothing, text never equals a number.
"""

from __future__ import annotations

import math
from itertools import chain
from typing import Any, Final

import numpy as np

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import ZERO
from ..cpu.numpy_reductions import order_columns
from ..cpu.parallel_for import address_if_worthwhile, run_tasks
from ..cpu.views import NumArray
from ..graph.phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    LibraryPhase,
    Node,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    Term,
    ValueId,
    frame_of,
)
from ..graph.scratch import QUERIES
from ..jit.tiering import PIECES_NANOSECONDS, pieces
from ..vm.run_state import Types, pooled_empty, reshaped
from ..vm.specialization import NotSpecializable, Specialization, specialize_structured
from .hash import (
    UNBOUNDED,
    Bounds,
    first_of_values,
    first_positions,
    is_ordered,
    lexicographic_keys,
    members,
    missing_items,
    row_columns,
    row_words,
)
from .operation import Arrays, Operation, OperationCall, cell_by_cell, on_operands
from .sort import rows_of

# ---------------------------------------------------------------------------------------------------- all-pairs comparison
#
# Index of, member of and first occurrence of few items: one kernel compares all pairs.

MOST_PAIRS: Final = 1 << 13


def every_pair(phase: LibraryPhase, types: Types) -> Structured | None:
    """Returns the phase as a structured phase that compares all pairs; None if there are too many, or for other operations."""
    match phase.op:
        case "index_of":
            table, arg = phase.args
            equal = _equal(types, phase, arg, table)
            if equal is None:
                return None
            length = equal.axes[1].size
            body: tuple[Node, ...] = (*equal.body, AxisNode(1), SizeNode(length), ApplyNode("select", (2, 3, 4), Kind.I64))
            return replace(equal, body=body, results=(PhaseResult(phase.results[0], 5, "min"),))
        case "member_of":
            equal = _equal(types, phase, *phase.args)
            return None if equal is None else replace(equal, results=(PhaseResult(phase.results[0], 2, "or"),))
        case _:
            (only,) = phase.args
            equal = _equal(types, phase, only, only)
            if equal is None:
                return None
            body = (*equal.body, AxisNode(0), AxisNode(1), ApplyNode("le", (3, 4), Kind.BOOL))
            body = (*body, ApplyNode("not", (2,), Kind.BOOL), ApplyNode("or", (5, 6), Kind.BOOL))
            return replace(equal, body=body, results=(PhaseResult(phase.results[0], 7, "and"),))


def _equal(types: Types, phase: LibraryPhase, arg: ValueId, table: ValueId) -> Structured | None:
    """Returns a phase whose node 2 compares each item of a vector with each item of another."""
    shapes = types.types[arg].shape, types.types[table].shape
    kind = types.kind(arg)
    if frame_of(phase) or any(len(shape) != 1 for shape in shapes) or types.kind(table) is not kind or kind is Kind.CHAR:
        return None
    if not 0 < math.prod((*types.shape(arg), *types.shape(table))) <= MOST_PAIRS or kind.is_complex:
        return None
    axes = Axis(shapes[0][0], AxisKind.PARALLEL), Axis(shapes[1][0], AxisKind.REDUCE)
    reads = tuple(
        [
            Read(value, Projection((Affine((AffineIndex((Term(axis, 1),), ZERO),), shapes[axis]),)))
            for axis, value in enumerate((arg, table))
        ]
    )
    nodes: tuple[Node, ...] = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode("eq", (0, 1), Kind.BOOL))
    return Structured(phase.id, phase.span, axes, reads, nodes, ())


# ------------------------------------------------------------------------------------------------ search by sorting and hashing

_GLANCE: Final = 1 << 6
_FEW_QUERIES: Final = 4
"""The most queries that are searched for one by one."""
_MERGED: Final = 1 << 9
"""The least queries for which a test for ascending order pays; ascending queries are merged with the bounds."""


def comparable(call: OperationCall) -> bool:
    """Returns whether both operands are text, or neither."""
    return (call.operand_kind(0) is Kind.CHAR) == (call.operand_kind(1) is Kind.CHAR)


def _pair_words(table: NumArray, arg: NumArray) -> tuple[NumArray, NumArray, NumArray | None]:
    """Returns the words of the rows of two matrices of one width, and which rows of `arg` hold a NaN.

    A row of `table` with a NaN has a word that no row without NaN has, so it needs no mark.
    """
    if table.shape[1] == 1 and table.dtype.kind != "c" and arg.dtype.kind != "c":
        dtype = np.result_type(table, arg)
        flat = [rows.reshape(-1).astype(dtype, copy=False) for rows in (table, arg)]
        words = [order_columns(rows)[0] for rows in flat]
        return words[0], words[1], missing_items(flat[1])
    joined, lost = row_words(np.concatenate((table, arg)))
    split = len(table)
    return joined[:split], joined[split:], None if lost is None else lost[split:]


def _positions(table: NumArray, arg: NumArray, threads: int, bounds: Bounds) -> NumArray:
    """Returns for each row of each cell of `arg` the first equal row of the cell's table, the number of rows if none.

    Shapes: [1 or N, rows, width] and [N, queries, width] to [N, queries].  The cell's number leads the keys, so that one search
    serves all tables.  `bounds`: of the items of the table."""
    count, queries, width = arg.shape
    height = table.shape[1]
    if len(table) == width == 1 and arg.size <= _FEW_QUERIES:
        items = table.reshape(-1)
        return np.array([_first_equal(items, item) for item in arg.reshape(-1)], np.int64).reshape(count, queries)
    table_rows, arg_rows = (a.reshape(a.shape[0] * a.shape[1], width) for a in (table, arg))
    words, wanted, lost = _pair_words(table_rows, arg_rows)
    bounds = _shared_bounds(table, arg, bounds)
    many = len(table) > 1
    if many:
        numbers = np.concatenate((np.repeat(np.arange(count), height), np.repeat(np.arange(count), queries)))
        keys = lexicographic_keys([numbers, np.concatenate((words, wanted))], len(numbers))
        del numbers
        words, wanted, bounds = keys[: len(words)], keys[len(words) :], UNBOUNDED
    total = len(words)
    indices = first_positions(words, wanted, threads, bounds)
    if lost is not None:
        indices[lost] = total
    indices = reshaped(indices, (count, queries))
    if many:
        indices = np.where(indices == total, height, indices - np.arange(count)[:, np.newaxis] * height)
    return indices


def _shared_bounds(table: NumArray, arg: NumArray, bounds: Bounds) -> Bounds:
    """Returns the bounds of the keys of a table's items: those of the items, if they are compared as integers."""
    return bounds if table.shape[-1] == 1 and table.dtype.kind in "biu" and arg.dtype.kind in "biu" else UNBOUNDED


def _first_equal(items: NumArray, item: Any) -> int:
    """Returns the first position of an item, or the number of items if it is absent.  Reads no item after it twice."""
    start, step = 0, _GLANCE
    while start < len(items):
        equal = items[start : start + step] == item
        position = int(equal.argmax())
        if equal[position]:
            return start + position
        start, step = start + step, min(2 * step, QUERIES)
    return len(items)


# -------------------------------------------------------------------------------- search in a table


def _carried(call: OperationCall, arg: NumArray) -> NumArray:
    """Returns an operand with a batch axis as long as the flattened frame."""
    return np.broadcast_to(arg, (math.prod(call.frame), *arg.shape[1:]))


def index_of(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `⍳`: the first major cell of `table` equal to each cell of `arg`, its length if none."""
    table, arg = call.batched(arrays)
    arg = _carried(call, arg)
    if table.ndim == 1:
        table = table[:, np.newaxis]
    height, cell = table.shape[1], table.shape[2:]
    rank = max(0, arg.ndim - 1 - len(cell))
    frame = arg.shape[1 : 1 + rank]
    if arg.shape[1 + rank :] != cell or (math.prod(cell) and not comparable(call)):
        return call.unbatched(np.full((len(arg), *frame), height, np.int64))
    rows = arg.reshape(len(arg), math.prod(frame), math.prod(cell))
    indices = _positions(table.reshape(len(table), height, math.prod(cell)), rows, call.threads, call.bounds(0))
    return call.unbatched(reshaped(indices, (len(arg), *frame)))


def member_of(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `∊`: whether each item of `arg` occurs in `table`."""
    arg, table = call.batched(arrays)
    arg = _carried(call, arg)
    if not comparable(call):
        return call.unbatched(np.zeros(arg.shape, np.bool_))
    size = math.prod(table.shape[1:])
    queries = arg.reshape(len(arg), math.prod(arg.shape[1:]), 1)
    if len(arg) == 1 and table.dtype.kind in "biu" and arg.dtype.kind in "biu":
        words, wanted, _ = _pair_words(table.reshape(size, 1), queries[0])
        return call.unbatched(reshaped(members(words, wanted, call.threads, call.bounds(1)), arg.shape))
    indices = _positions(table.reshape(len(table), size, 1), queries, call.threads, call.bounds(1))
    return call.unbatched((indices < size).reshape(arg.shape))


def first_occurrence(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `first_occurrence`: whether each major cell is the first of its equals; a cell with a NaN always is."""
    arg = call.batched(arrays)[0]
    if arg.ndim == 1:
        arg = arg[:, np.newaxis]
    count, height = arg.shape[:2]
    rows, bounds = arg.reshape(count * height, math.prod(arg.shape[2:])), UNBOUNDED
    if rows.shape[1] == 1 and rows.dtype.kind in "biu":
        words, lost, bounds = np.ascontiguousarray(rows.reshape(-1)), None, call.bounds(0)
    else:
        words, lost = row_words(rows)
    if count > 1:
        words, bounds = lexicographic_keys([np.repeat(np.arange(count), height), words], len(words)), UNBOUNDED
    result = first_of_values(words, bounds)
    if lost is not None:
        result |= lost
    return call.unbatched(reshaped(result, (count, height)))


# -------------------------------------------------------------------------------- search among bounds

_BISECTED: Final = {np.dtype(np.float64): Kind.F64, np.dtype(np.float32): Kind.F32, np.dtype(np.int64): Kind.I64,
                    np.dtype(np.int32): Kind.I32}  # fmt: skip
_TOGETHER: Final = 4
"""Items that a kernel searches for at once, because each step waits for the memory access of the step before."""
_BISECTION_WORK, _MERGE_WORK = 1.0, 1.5
"""Nanoseconds per item and step, and per step."""


@dataclass(frozen=True, slots=True)
class Bisection:
    """A kernel that finds, for each item, how many ascending bounds are not above it, less one; -1 for a NaN.

    Argument block: number of items; their address; that of the bounds, and their number; the result."""

    kind: Kind

    def text(self) -> str:
        from ..codegen.llvm_builder import IrBuilder, function_text
        from ..codegen.llvm_scalars import STORED

        w, kind = IrBuilder(), self.kind
        w.label("start")
        words = []
        for operand in range(5):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if operand in (1, 2, 4) else 'i64'}, ptr {address}, align 8"))
        count, items, bounds, bounds_count, result = words
        stored, relation = STORED[kind], "fcmp ole" if kind.is_float else "icmp sle"

        def loaded(base: str, index: str) -> str:
            return w.let(f"load {stored}, ptr {w.at(base, w.word('mul', index, kind.bytes))}, align 1")

        def passed(position: str, item: str, shift: object) -> str:
            """Returns 2 to the power of `shift` if the bound at a position is not above the item, else 0."""
            test = w.let(f"{relation} {stored} {loaded(bounds, position)}, {item}")
            return w.word("shl", w.let(f"zext i1 {test} to i64"), shift)

        last, leading = w.word("sub", count, 1), w.call("i64", "llvm.ctlz.i64", ("i64", bounds_count), ("i1", "false"))
        steps = w.word("sub", 63, leading)
        window = w.word("shl", 1, steps)
        groups = w.begin(0, count, _TOGETHER)
        positions = [w.smaller(w.word("add", groups.index, lane), last) for lane in range(_TOGETHER)]
        wanted = [loaded(items, position) for position in positions]
        starts = []
        for item in wanted:  # the first or last items, 2ⁿ of them
            beyond = w.word("sub", 0, passed(w.word("sub", window, 1), item, 0))
            starts.append(w.word("and", beyond, w.word("sub", bounds_count, window)))
        halving = w.begin(0, steps, 1, [("i64", start) for start in starts])
        shift = w.word("sub", w.word("sub", steps, 1), halving.index)
        half = w.word("sub", w.word("shl", 1, shift), 1)
        moved = []
        for start, item in zip(halving.carried, wanted, strict=True):
            moved.append(w.word("add", start, passed(w.word("add", start, half), item, shift)))
        w.end(halving, moved)
        for start, item, position in zip(halving.carried, wanted, positions, strict=True):
            below = w.word("sub", w.word("add", start, passed(start, item, 0)), 1)
            w.do(f"store i64 {below}, ptr {w.at(result, w.word('shl', position, 3))}, align 8")
        w.end(groups)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


@dataclass(frozen=True, slots=True)
class Merge:
    """A kernel that finds, for each of ascending items, how many ascending bounds are not above it, less one, by a merge: in each
    step a bound is passed or an item is left, in several ranges at once, as each step waits for the one before.

    Argument block: steps of each range; the addresses of the items, of the bounds and of the result; for each range the item and
    the bound at which it begins.  A bound above all of the items follows those that are passed."""

    kind: Kind

    def text(self) -> str:
        from ..codegen.llvm_builder import IrBuilder, function_text
        from ..codegen.llvm_scalars import STORED

        w, kind = IrBuilder(), self.kind
        w.label("start")
        words = []
        for operand in range(4 + 2 * _TOGETHER):
            address = w.let(f"getelementptr i64, ptr %words, i64 {operand}")
            words.append(w.let(f"load {'ptr' if operand in (1, 2, 3) else 'i64'}, ptr {address}, align 8"))
        steps, items, bounds, result, *begins = words
        stored, relation = STORED[kind], "fcmp ole" if kind.is_float else "icmp sle"

        def loaded(base: str, index: str) -> str:
            return w.let(f"load {stored}, ptr {w.at(base, w.word('mul', index, kind.bytes))}, align 1")

        loop, moved = w.begin(0, steps, 1, [("i64", begin) for begin in begins]), list[str]()
        for at in range(0, 2 * _TOGETHER, 2):
            item, bound = loop.carried[at : at + 2]
            w.do(f"store i64 {w.word('sub', bound, 1)}, ptr {w.at(result, w.word('shl', item, 3))}, align 8")
            passed = w.let(f"{relation} {stored} {loaded(bounds, bound)}, {loaded(items, item)}")
            step = w.let(f"zext i1 {passed} to i64")
            moved += [w.word("add", item, w.word("xor", step, 1)), w.word("add", bound, step)]
        w.end(loop, moved)
        w.do("ret i64 0")
        return function_text(w, ["entry:", "  br label %start", *w.lines])


def _merged(bounds: NumArray, items: NumArray, threads: int) -> NumArray | None:
    """Returns what `_bisected` does, for ascending items, by a merge; None if NumPy or a bisection has to search."""
    kind = _BISECTED.get(items.dtype)
    if kind is None or bounds.dtype != items.dtype or not (items.flags.c_contiguous and bounds.flags.c_contiguous):
        return None
    before = int(np.searchsorted(items, bounds[-1], side="left"))  # items that a bound is above
    below = int(np.searchsorted(bounds, items[before - 1], side="right")) if before else 0
    work = (before + below) * _MERGE_WORK
    if work > items.size * _BISECTION_WORK * len(bounds).bit_length():
        return None
    address = address_if_worthwhile(Merge(kind), 2 * work)
    if address is None:
        return None
    result: NumArray = pooled_empty(items.shape, np.dtype(np.int64))
    result[before:] = len(bounds) - 1
    source, limits, target = [array.__array_interface__["data"][0] for array in (items, bounds, result)]
    team = threads if work >= PIECES_NANOSECONDS else 1
    ranges = _TOGETHER * pieces(1 if team == 1 else 4 * team, work)
    steps = -(-(before + below) // ranges)
    begins = [_begin(bounds[:below], items[:before], min(number * steps, before + below - steps)) for number in range(ranges)]
    calls = [
        (steps, source, limits, target, *chain.from_iterable(begins[at : at + _TOGETHER])) for at in range(0, ranges, _TOGETHER)
    ]
    run_tasks(address, calls, team, work)
    seams = [_begin(bounds[:below], items[:before], at)[0] for at in range(steps, before + below, steps or 1)]
    result[seams] = np.searchsorted(bounds, items[seams], side="right") - 1  # a range ends in an item that another continues
    return result


def _begin(bounds: NumArray, items: NumArray, steps: int) -> tuple[int, int]:
    """Returns the items left and the bounds passed after so many steps of a merge."""
    low, high = max(0, steps - len(bounds)), min(steps, len(items))
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if bounds[steps - middle - 1] > items[middle] else (low, middle)
    return low, steps - low


def _bisected(bounds: NumArray, items: NumArray, threads: int) -> NumArray | None:
    """Returns for each item how many bounds are not above it, minus one, by a kernel; None if NumPy has to search."""
    kind = _BISECTED.get(items.dtype)
    if kind is None or bounds.dtype != items.dtype or not (items.flags.c_contiguous and bounds.flags.c_contiguous):
        return None
    work = items.size * _BISECTION_WORK * len(bounds).bit_length()
    address = address_if_worthwhile(Bisection(kind), 2 * work) if items.size and len(bounds) else None
    if address is None:
        return None
    result: NumArray = pooled_empty(items.shape, np.dtype(np.int64))
    source, limits, target = [array.__array_interface__["data"][0] for array in (items, bounds, result)]
    team = threads if work >= PIECES_NANOSECONDS else 1
    each = -(-items.size // pieces(1 if team == 1 else 4 * team, work))
    calls = [
        (min(each, items.size - start), source + start * items.itemsize, limits, len(bounds), target + 8 * start)
        for start in range(0, items.size, each)
    ]
    run_tasks(address, calls, team, work)
    return result


def interval_index(call: OperationCall, table: NumArray, arg: NumArray) -> NumArray:
    """The operation `⍸` with two operands: the number of major cells of `table` that are not after each cell, minus 1; -1 for
    NaN."""
    cell = table.shape[1:]
    frame = arg.shape[: arg.ndim - len(cell)]
    if not cell:
        bounds, items = table.reshape(-1), arg
    else:
        rows = np.concatenate((rows_of(table), arg.reshape(math.prod(frame), math.prod(cell))))
        keys = lexicographic_keys(row_columns(rows), len(rows))
        bounds, items = keys[: len(table)], keys[len(table) :].reshape(frame)
    if not is_ordered(bounds):
        bounds = np.sort(bounds)
    intervals: NumArray | None = None
    if items.ndim == 1 and len(bounds) and len(items) >= _MERGED and is_ordered(items):
        intervals = _merged(bounds, items, call.threads)
    if intervals is None:
        intervals = _bisected(bounds, items, call.threads)
    if intervals is not None and not cell:
        return intervals
    if intervals is None:
        intervals = np.searchsorted(bounds, items, side="right").astype(np.int64, copy=False)
        intervals -= 1
    missing = missing_items(arg.reshape(math.prod(frame), math.prod(cell)))
    if missing is not None:
        intervals[missing.any(axis=1).reshape(frame)] = -1
    return intervals


# -------------------------------------------------------------------------------------------- match


def match(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `≡`: same shape and equal items, for each cell of the frame."""
    left, right = call.batched(arrays)
    count = math.prod(call.frame)
    cell = left.shape[1:]
    if cell != right.shape[1:]:
        return call.unbatched(np.zeros(count, np.bool_))
    if not math.prod(cell):
        return call.unbatched(np.ones(count, np.bool_))
    if not comparable(call):
        return call.unbatched(np.zeros(count, np.bool_))
    equal = np.asarray(left == right).all(axis=tuple(range(1, left.ndim)))
    return call.unbatched(np.broadcast_to(equal, (count,)).copy())


# --------------------------------------------------------------------------------------- native code


def _bind_pairs(binding: Specialization, phase: LibraryPhase) -> None:
    """Specializes a search for few items among few to one kernel that compares all pairs."""
    pairs = every_pair(phase, binding.types)
    if pairs is None:
        raise NotSpecializable
    specialize_structured(binding, pairs)


SEARCHING: Final[dict[str, Operation]] = {
    "index_of": on_operands(index_of, _bind_pairs), "member_of": on_operands(member_of, _bind_pairs),
    "first_occurrence": on_operands(first_occurrence, _bind_pairs), "interval_index": cell_by_cell(interval_index),
    "match": on_operands(match),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- substring search
#
# The operation `⍷`: the positions at which a pattern starts.
#
# Note [Candidates].  All positions are compared with one pattern item after another, in shifted views; once few candidates
# remain, only those are compared.  So the cost is that of reading the operand about twice, unless the operand is repetitive.

_CANDIDATE_SHARE: Final = 16


def find(call: OperationCall, pattern: NumArray, arg: NumArray) -> NumArray:
    """The operation `⍷`: whether the pattern (extended by leading axes of length 1) starts at each position."""
    result = np.zeros(arg.shape, np.bool_)
    if pattern.ndim > arg.ndim:
        return result
    shape = (*[1] * (arg.ndim - pattern.ndim), *pattern.shape)
    box = tuple(n - max(k, 1) + 1 for n, k in zip(arg.shape, shape, strict=True))
    if any(size <= 0 for size in box) or (pattern.size and not comparable(call)):
        return result
    inside = tuple(slice(0, size) for size in box)
    if not pattern.size:
        result[inside] = True
        return result
    items = pattern.reshape(-1)
    offsets = np.indices(shape).reshape(arg.ndim, pattern.size).T
    alive = np.ones(box, np.bool_)
    for index, (item, offset) in enumerate(zip(items, offsets, strict=True)):
        alive &= arg[tuple(slice(int(o), int(o) + size) for o, size in zip(offset, box, strict=True))] == item
        left = int(np.count_nonzero(alive))
        if left <= alive.size // _CANDIDATE_SHARE:
            alive = _survivors(alive, arg, items[index + 1 :], offsets[index + 1 :])
            break
    result[inside] = alive
    return result


def _survivors(alive: NumArray, arg: NumArray, items: NumArray, offsets: NumArray) -> NumArray:
    """Returns the candidates at which the remaining pattern matches too; see Note [Candidates]."""
    strides = np.array([math.prod(arg.shape[axis + 1 :]) for axis in range(arg.ndim)], np.int64)
    flat = np.ascontiguousarray(arg).reshape(-1)
    candidates = np.stack(np.nonzero(alive), 1) if arg.ndim else np.zeros((int(alive), 0), np.int64)
    starts = candidates @ strides
    steps = (offsets @ strides).tolist()
    for item, step in zip(items, steps, strict=True):
        if not len(starts):
            break
        hit = flat[starts + step] == item
        starts, candidates = starts[hit], candidates[hit]
    result = np.zeros(alive.shape, np.bool_)
    if len(candidates):
        result[tuple(candidates.T)] = True
    return result


FINDING: Final[dict[str, Operation]] = {"find": cell_by_cell(find)}
