"""Sorts of vectors and of rows, and parts of them: items in the order of their stable grade, in the memory of the result.

NumPy's sort and its selection are not stable, and need not be: items that are equal and look different are zeros of both signs
and NaNs, and those are put back in their order.  NaN comes last in either sense.

Neighbours: `grading` (places), `graph.passes.rules.orders` (which part is wanted), `compiled_sorts` (kernels for whole vectors).
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from ..graph.scratch import PIECE
from ..run.cpu.kinds import NumArray
from ..run.cpu.order import order_columns
from ..run.cpu.sharing import run_boxes
from ..run.pool import room, trim
from .keys import lexicographic_keys, stable_order

Window: TypeAlias = "tuple[int, int]"

_COUNTED: Final = 1 << 12
"""Bytes from which a sort counts them."""
_LEAST: Final = 1 << 8
"""Items from which a part is selected: fewer are sorted."""
_ROWS: Final = 1 << 15
"""Items of rows that a thread sorts together."""


def selects(length: int, wanted: Window | None) -> bool:
    """Is a part of so many selected rather than sorted with all?  (A part turned round is copied.)"""
    return wanted is not None and length >= _LEAST and wanted[1] - wanted[0] <= PIECE


def sorted_items(value: NumArray, *, descending: bool, wanted: Window | None = None) -> NumArray:
    """The items of a vector in the order of its stable grade; those outside `wanted` may be anything.  Complex numbers take the
    memory of a grade."""
    if value.dtype.kind == "c":
        trim()
        keys = lexicographic_keys(order_columns(value, descending=descending), len(value))
        return np.asarray(value[stable_order(keys)])
    made: NumArray = room(value.shape, value.dtype)
    if value.itemsize == 1 and len(value) >= _COUNTED:
        _put_in_order(made, _counts(value.view(np.uint8)), descending=descending)
        return made
    made[...] = value
    if wanted is None or not selects(len(made), wanted) or not _select(value, made, wanted, descending=descending):
        made.sort()
        settle(value, made, descending=descending)
    return made


def sorted_rows(rows: NumArray, *, descending: bool, wanted: Window | None, threads: int) -> NumArray:
    """The same of each row of a matrix, in pieces that threads share."""
    made: NumArray = room(rows.shape, rows.dtype)
    length = rows.shape[1]
    piece = max(1, _ROWS // max(1, length))

    def work(start: int) -> None:
        source, part = rows[start : start + piece], made[start : start + piece]
        if selects(length, wanted) or piece == 1:
            for items, row in zip(source, part, strict=True):
                row[...] = sorted_items(items, descending=descending, wanted=wanted)
            return
        part[...] = source
        part.sort(axis=1)
        odd = _odd_rows(source, part) if part.dtype.kind == "f" and length else ()
        if descending:
            low, high = part[:, : length // 2], part[:, length - length // 2 :]
            kept = low.copy()
            low[...] = high[:, ::-1]
            high[...] = kept[:, ::-1]
        if len(odd):
            keys = order_columns(source[odd], descending=descending)[0]
            part[odd] = np.take_along_axis(source[odd], np.argsort(keys, axis=1, kind="stable"), 1)

    run_boxes(range(0, len(rows), piece), lambda: work, threads if rows.size > _ROWS else 1)
    return made


def _odd_rows(source: NumArray, ordered: NumArray) -> NumArray:
    """Rows of which some items are equal and look different: a zero with a sign, or NaN.  (A sort may change signs of zeros.)"""
    odd = np.isnan(ordered[:, -1])
    zeros = source == 0
    if zeros.any():
        odd |= (np.signbit(source) & zeros).any(axis=1)
    return np.flatnonzero(odd)


def some_places(value: NumArray, wanted: Window, *, descending: bool) -> NumArray | None:
    """The stable grade of a vector where only a part is wanted; None where it takes no less to make all of it."""
    if value.ndim != 1 or value.dtype.kind == "c" or not selects(len(value), wanted):
        return None
    first, end = _ascending(len(value), wanted, descending=descending)
    kept = value.copy()
    _partition(kept, first, end)
    low, high = kept[first:end].min(), kept[first:end].max()
    if high != high or (descending and kept[end - 1 :].max() != kept[end - 1 :].max()):
        return None  # NaN
    del kept
    inside = value >= low
    inside &= value <= high
    places = np.flatnonzero(inside)
    if 2 * len(places) > len(value):
        return None  # most are equal
    before = np.count_nonzero(value > high) if descending else np.count_nonzero(value < low)
    order = stable_order(order_columns(value[places], descending=descending)[0])
    found = places[order[wanted[0] - before : wanted[1] - before]]
    if len(found) == 1:
        return np.broadcast_to(found, value.shape)
    made = np.zeros(len(value), np.int64)
    made[wanted[0] : wanted[1]] = found
    return made


def _ascending(count: int, wanted: Window, *, descending: bool) -> Window:
    """The part as places of the ascending order of items without NaN."""
    return (count - wanted[1], count - wanted[0]) if descending else wanted


def _partition(items: NumArray, first: int, end: int) -> None:
    """In place: what is less before the part, what is greater behind it.  NumPy is quick where it looks for one place."""
    count = len(items)
    if end > count - first:
        items.partition(first)
        if end < count and end > first + 1:
            items[first:].partition(end - 1 - first)
        return
    items.partition(end - 1)
    if 0 < first < end - 1:
        items[:end].partition(first)


def _select(value: NumArray, made: NumArray, wanted: Window, *, descending: bool) -> bool:
    """Put the wanted part of the order of the items, which `made` has, in its place; not so if a NaN is in the way."""
    count = len(made)
    first, end = _ascending(count, wanted, descending=descending)
    _partition(made, first, end)
    part = made[first:end]
    part.sort()
    if value.dtype.kind == "f":
        last = made[end - 1 :].max() if descending else part[-1]
        if last != last:
            made[...] = value
            return False
        if part[0] <= 0 <= part[-1]:
            low, high = (first + int(np.searchsorted(part, 0, side)) for side in ("left", "right"))
            start = low - _count(value, np.less)
            if descending:
                start = count - high - _count(value, np.greater)
            zeros = _taken(value, start, high - low)
            part[low - first : high - first] = zeros[::-1] if descending else zeros
    if descending:
        made[wanted[0] : wanted[1]] = part[::-1].copy()
    return True


def _count(value: NumArray, compare: np.ufunc) -> int:
    """How many are less or greater than 0."""
    return sum(int(np.count_nonzero(compare(value[at : at + PIECE], 0))) for at in range(0, len(value), PIECE))


def _taken(value: NumArray, start: int, count: int) -> NumArray:
    """Zeros in their order, from the one numbered `start`."""
    made, passed = np.empty(count, value.dtype), 0
    for at in range(0, len(value), PIECE):
        part = value[at : at + PIECE]
        zeros = part[np.logical_not(part)]
        low, high = max(0, start - passed), max(0, start + count - passed)
        own = zeros[low:high]
        filled = max(0, passed - start)
        made[filled : filled + len(own)] = own
        passed += len(zeros)
        if passed >= start + count:
            break
    return made


def settle(value: NumArray, made: NumArray, *, descending: bool) -> None:
    """Of sorted items what equal ones are, and the order turned round."""
    numbers, zeros = len(made), slice(0, 0)
    if value.dtype.kind == "f" and numbers:
        if made[-1] != made[-1]:
            numbers = int(np.searchsorted(made, np.nan))
            _put_back(value, np.isnan, made[numbers:])
        if numbers and made[0] <= 0 <= made[numbers - 1]:  # 0.0 and -0.0 are equal, and stay in their order
            zeros = slice(*(int(np.searchsorted(made[:numbers], 0, side)) for side in ("left", "right")))
    if descending:
        _reverse(made[:numbers])
        zeros = slice(numbers - zeros.stop, numbers - zeros.start)
    if zeros.start != zeros.stop and _has_negative_zeros(value):
        _put_back(value, np.logical_not, made[zeros])


def _has_negative_zeros(value: NumArray) -> bool:
    """Without these zeros are all the same."""
    bits = value.view(np.dtype(f"i{value.itemsize}"))
    least = np.iinfo(bits.dtype).min
    return any((bits[start : start + PIECE] == least).any() for start in range(0, len(bits), PIECE))


def _counts(value: NumArray) -> list[int]:
    """How often each byte is there."""
    total = np.zeros(256, np.int64)
    for start in range(0, len(value), PIECE):
        total += np.bincount(value[start : start + PIECE], minlength=256)
    return [int(count) for count in total]


def _put_in_order(made: NumArray, counts: list[int], *, descending: bool) -> None:
    at = 0
    for byte, count in sorted(enumerate(counts), reverse=descending):
        if count:
            made[at : at + count] = byte
            at += count


def _put_back(value: NumArray, test: np.ufunc, places: NumArray) -> None:
    """The items that pass a test, in their order; no more than there are places, whatever another thread does to them."""
    at = 0
    for start in range(0, len(value), PIECE):
        part = value[start : start + PIECE]
        found = part[test(part)][: len(places) - at]
        places[at : at + len(found)] = found
        at += len(found)


def _reverse(items: NumArray) -> None:
    """In place."""
    half = len(items) // 2
    for start in range(0, half, PIECE):
        stop = min(start + PIECE, half)
        low, high = items[start:stop], items[len(items) - stop : len(items) - start]
        kept = low.copy()
        low[...] = high[::-1]
        high[...] = kept[::-1]
