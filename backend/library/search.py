"""Equality of whole cells: first occurrences, index of, membership, interval index, match.

Equality is exact: 0.0 equals ¯0.0, NaN equals nothing, text never equals a number.
"""

from __future__ import annotations

import math
from functools import partial
from math import prod
from typing import Final

import numpy as np

from ...lang.support.records import replace
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import ZERO
from ..cpu.numpy_reductions import order_columns
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
)
from ..graph.projections import frame_of
from ..vm.backend_interface import Types
from ..vm.run_state import MIN_POOLED as POOLED_MIN_BYTES
from ..vm.specialization import NotSpecializable, Specialization, specialize_structured
from .hash import (
    first_of_equal,
    first_positions,
    is_ordered,
    lexicographic_keys,
    missing_items,
    row_columns,
    row_words,
    stable_order,
)
from .operation import Arrays, Function, Operation, OperationCall, cell_by_cell, checked, on_operands
from .sort import rows_of

# ---------------------------------------------------------------------------------------------------- all-pairs comparison
#
# Index of, member of and first occurrence of few items: one kernel compares all pairs.

MOST_PAIRS: Final = 1 << 13


def every_pair(phase: LibraryPhase, types: Types) -> Structured | None:
    """Returns the phase as a structured phase that compares all pairs; None if these are many, or for other operations."""
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
    if not 0 < prod((*types.shape(arg), *types.shape(table))) <= MOST_PAIRS or kind.is_complex:
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

_MERGED: Final = 1 << 9
"""The least items for which a test for ascending order pays: then each bound is searched among them."""


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


def _positions(table: NumArray, arg: NumArray, threads: int) -> NumArray:
    """Returns for each row of each cell of `arg` the first equal row of the cell's table, the number of rows if none.

    Shapes: [1 or N, rows, width] and [N, queries, width] to [N, queries].  The cell's number leads the keys, so that one search
    serves all tables."""
    count, queries, width = arg.shape
    height = table.shape[1]
    table_rows, arg_rows = (a.reshape(a.shape[0] * a.shape[1], width) for a in (table, arg))
    words, wanted, lost = _pair_words(table_rows, arg_rows)
    many = len(table) > 1
    if many:
        numbers = np.concatenate((np.repeat(np.arange(count), height), np.repeat(np.arange(count), queries)))
        keys = lexicographic_keys([numbers, np.concatenate((words, wanted))], len(numbers))
        del numbers
        words, wanted = keys[: len(words)], keys[len(words) :]
    total = len(words)
    indices = first_positions(words, wanted, threads)
    if lost is not None:
        indices[lost] = total
    indices = indices.reshape(count, queries)
    if many:
        indices = np.where(indices == total, height, indices - np.arange(count)[:, np.newaxis] * height)
    return indices


# -------------------------------------------------------------------------------- search in a table


def _carried(call: OperationCall, arg: NumArray) -> NumArray:
    """Returns an operand with a batch axis as long as the frame."""
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
    indices = _positions(table.reshape(len(table), height, math.prod(cell)), rows, call.threads)
    return call.unbatched(indices.reshape(len(arg), *frame))


def member_of(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `∊`: whether each item of `arg` occurs in `table`."""
    arg, table = call.batched(arrays)
    arg = _carried(call, arg)
    if not comparable(call):
        return call.unbatched(np.zeros(arg.shape, np.bool_))
    size = math.prod(table.shape[1:])
    queries = arg.reshape(len(arg), math.prod(arg.shape[1:]), 1)
    indices = _positions(table.reshape(len(table), size, 1), queries, call.threads)
    return call.unbatched((indices < size).reshape(arg.shape))


def first_occurrence(call: OperationCall, arrays: Arrays) -> Arrays:
    """Whether each major cell is the first of its equals; a cell with a NaN is."""
    arg = call.batched(arrays)[0]
    if arg.ndim == 1:
        arg = arg[:, np.newaxis]
    count, height = arg.shape[:2]
    words, lost = row_words(arg.reshape(count * height, math.prod(arg.shape[2:])))
    if count > 1:
        words = lexicographic_keys([np.repeat(np.arange(count), height), words], len(words))
    result = _firsts(words)
    if lost is not None:
        result |= lost
    return call.unbatched(result.reshape(count, height))


def _firsts(words: NumArray) -> NumArray:
    count = len(words)
    result = np.ones(count, np.bool_)
    if count < 2:
        return result
    low, high = int(words.min()), int(words.max())
    if high - low <= 4 * count + 1024:
        return np.asarray(first_positions(words, words) == np.arange(count))
    firsts = first_of_equal(words.astype(np.int64, copy=False))
    if firsts is not None:
        return firsts
    order = stable_order(words)
    ordered = words[order]
    result[order[1:]] = ordered[1:] != ordered[:-1]
    return result


def interval_index(call: OperationCall, table: NumArray, arg: NumArray) -> NumArray:
    """The operation `⍸` with two operands: (count of major cells of `table` not after the cell) - 1; -1 for NaN."""
    cell = table.shape[1:]
    frame = arg.shape[: arg.ndim - len(cell)]
    if not cell:
        bounds, items = table.reshape(-1), arg
        lost = missing_items(arg)
    else:
        rows = np.concatenate((rows_of(table), arg.reshape(math.prod(frame), math.prod(cell))))
        keys = lexicographic_keys(row_columns(rows), len(rows))
        bounds, items = keys[: len(table)], keys[len(table) :].reshape(frame)
        missing = missing_items(arg.reshape(math.prod(frame), math.prod(cell)))
        lost = None if missing is None else missing.any(axis=1).reshape(frame)
    if not is_ordered(bounds):
        bounds = np.sort(bounds)
    if lost is None and items.ndim == 1 and len(items) >= max(_MERGED, len(bounds)) and is_ordered(items):
        ends = _passed(items, bounds)
        return np.repeat(np.arange(-1, len(bounds)), np.diff(ends, prepend=0, append=len(items)))
    intervals = np.asarray(np.searchsorted(bounds, items, side="right")).astype(np.int64, copy=False)
    intervals -= 1
    if lost is not None:
        intervals[lost] = -1
    return intervals


def _passed(items: NumArray, bounds: NumArray) -> NumArray:
    """Returns how many of the ascending items are below each bound; consecutive integers need arithmetic only."""
    first, last = items[0], items[-1]
    if items.dtype == bounds.dtype == np.int64 and int(last) - int(first) == len(items) - 1 and (items[1:] != items[:-1]).all():
        ends = np.clip(bounds, first, last)
        ends -= first
        ends += bounds > last
        return np.asarray(ends)
    return np.asarray(np.searchsorted(items, bounds, side="left"))


# -------------------------------------------------------------------------------------------- match


def match(call: OperationCall) -> Function:
    """The operation `≡`: same shape and equal items, for each cell of the frame."""
    left, right = [call.context.shape(arg) for arg in call.phase.args]
    if not call.rank and left and left == right and math.prod(left) < POOLED_MIN_BYTES and comparable(call):
        return _all_equal
    return checked(call, partial(_match, call))


def _all_equal(left: NumArray, right: NumArray) -> NumArray:
    return np.asarray((left == right).all())


def _match(call: OperationCall, *arrays: NumArray) -> Arrays:
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
    """Specialize a search for few items among few to one kernel that compares all pairs."""
    pairs = every_pair(phase, binding.types)
    if pairs is None:
        raise NotSpecializable
    specialize_structured(binding, pairs)


SEARCHING: Final[dict[str, Operation]] = {
    "index_of": on_operands(index_of, _bind_pairs), "member_of": on_operands(member_of, _bind_pairs),
    "first_occurrence": on_operands(first_occurrence, _bind_pairs), "interval_index": cell_by_cell(interval_index),
    "match": Operation(match),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- substring search
#
# `⍷`: where a pattern starts.
#
# Note [Candidates].  All positions are compared with one pattern item after another, in shifted views; once few candidates are
# left, only those are compared.  So the cost is that of reading the operand about twice, unless the operand is repetitive.

_FEW: Final = 16


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
        if left <= alive.size // _FEW:
            alive = _survivors(alive, arg, items[index + 1 :], offsets[index + 1 :])
            break
    result[inside] = alive
    return result


def _survivors(alive: NumArray, arg: NumArray, items: NumArray, offsets: NumArray) -> NumArray:
    """Returns the candidates at which the rest of the pattern matches, too; see Note [Candidates]."""
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
