"""Equality of whole cells: first occurrences, index of, membership, interval index, match.

Equality is exact: 0.0 equals ¯0.0, NaN equals nothing, text never equals a number.

Neighbours: `keys` (words that stand for cells), `finding`; `run.reference.searching` (definitions).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from .....typechecker.elements import Kind
from ..kinds import NumArray
from .frames import Arrays, Call, Implementation, cell_by_cell, whole
from .grading import rows_of
from .keys import first_positions, lexicographic_keys, missing_items, order_columns, row_columns, row_words, stable_order


def comparable(call: Call) -> bool:
    """Are both operands text, or neither?"""
    return (call.operand_kind(0) is Kind.CHAR) == (call.operand_kind(1) is Kind.CHAR)


def _pair_words(table: NumArray, arg: NumArray) -> tuple[NumArray, NumArray, NumArray | None, NumArray | None]:
    """Words of the rows of two matrices of one width, and which rows hold a NaN."""
    if table.shape[1] == 1 and table.dtype.kind != "c" and arg.dtype.kind != "c":
        dtype = np.result_type(table, arg)
        flat = [rows.reshape(-1).astype(dtype, copy=False) for rows in (table, arg)]
        words = [order_columns(rows)[0] for rows in flat]
        return words[0], words[1], missing_items(flat[0]), missing_items(flat[1])
    joined, lost = row_words(np.concatenate((table, arg)))
    split = len(table)
    return joined[:split], joined[split:], None if lost is None else lost[:split], None if lost is None else lost[split:]


def _positions(table: NumArray, arg: NumArray) -> NumArray:
    """The first row of `table` equal to each row of `arg`, the number of rows if none."""
    count = len(table)
    table_words, words, unusable, lost = _pair_words(table, arg)
    if unusable is not None:
        kept = np.flatnonzero(~unusable)
        found = np.append(kept, count)[first_positions(table_words[kept], words)]
    else:
        found = first_positions(table_words, words)
    if lost is not None:
        found[lost] = count
    return found


# -------------------------------------------------------------------------------- search in a table


def index_of(call: Call, table: NumArray, arg: NumArray) -> NumArray:
    """The first major cell of `table` equal to each cell of `arg`, its length if none."""
    cell = table.shape[1:]
    rank = max(0, arg.ndim - len(cell))
    count, frame = len(table) if table.ndim else 1, arg.shape[:rank]
    if arg.shape[rank:] != cell or (math.prod(cell) and not comparable(call)):
        return np.full(frame, count, np.int64)
    rows = arg.reshape(math.prod(frame), math.prod(cell))
    return _positions(rows_of(table), rows).reshape(frame)


def member_of(call: Call, arg: NumArray, table: NumArray) -> NumArray:
    """Does each item of `arg` occur anywhere in `table`?"""
    if not comparable(call):
        return np.zeros(arg.shape, np.bool_)
    items = table.reshape(-1, 1)
    return np.asarray(_positions(items, arg.reshape(-1, 1)) < len(items)).reshape(arg.shape)


def first_occurrence(call: Call, arg: NumArray) -> NumArray:
    """Is each major cell the first equal to it?  One with a NaN is."""
    rows = rows_of(arg)
    words, lost = row_words(rows)
    result = _firsts(words)
    if lost is not None:
        result |= lost
    return result


def _firsts(words: NumArray) -> NumArray:
    count = len(words)
    result = np.ones(count, np.bool_)
    if count < 2:
        return result
    low, high = int(words.min()), int(words.max())
    if high - low <= 4 * count + 1024:
        return np.asarray(first_positions(words, words) == np.arange(count))
    order = stable_order(words)
    ordered = words[order]
    result[order[1:]] = ordered[1:] != ordered[:-1]
    return result


def interval_index(call: Call, table: NumArray, arg: NumArray) -> NumArray:
    """(Count of major cells of `table` not after the cell) - 1; -1 for a cell with a NaN."""
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
    if bounds.dtype.kind == "f" or (bounds[1:] < bounds[:-1]).any():
        bounds = np.sort(bounds)
    found: Any = np.asarray(np.searchsorted(bounds, items, side="right")).astype(np.int64) - 1
    if lost is not None:
        found = np.where(lost, -1, found)
    return np.asarray(found)


# -------------------------------------------------------------------------------------------- match


def match(call: Call, arrays: Arrays) -> Arrays:
    """Same shape and equal items, cell by cell of the frame."""
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


SEARCHING: Final[dict[str, Implementation]] = {
    "index_of": cell_by_cell(index_of), "member_of": cell_by_cell(member_of), "first_occurrence": cell_by_cell(first_occurrence),
    "interval_index": cell_by_cell(interval_index), "match": whole(match),
}  # fmt: skip
