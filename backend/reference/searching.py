"""Comparison of whole arrays and cells: matching, membership, grades and interval indices.

Equality is exact (`0 = -0.0`, NaN equals nothing), and text never equals a number.  Order is lexicographic by
element; NaN sorts after every number in an ascending and in a descending grade, and NaNs keep their order.

Neighbours: `indexing`; `interpret`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from ..run.values import Array
from .indexing import Position, at, build, cells, inside


def match(left: Array, right: Array) -> bool:
    """Same shape and equal items."""
    return left.shape == right.shape and equal_items(left.data, right.data)


def equal_items(left: Sequence[Payload], right: Sequence[Payload]) -> bool:
    return all(a == b for a, b in zip(left, right, strict=True))


def compare_items(a: Any, b: Any, sense: int = 1) -> int:
    """-1, 0 or 1 (reversed by a `sense` of -1), NaN after everything in either sense; complex by real, then imaginary part."""
    a_missing, b_missing = a != a, b != b
    if a_missing or b_missing:
        return int(a_missing) - int(b_missing)
    if isinstance(a, complex):
        return compare_items(a.real, b.real, sense) or compare_items(a.imag, b.imag, sense)
    return sense * (int(a > b) - int(a < b))


def compare_cells(left: Sequence[Payload], right: Sequence[Payload], sense: int = 1) -> int:
    """Lexicographic order of two cells of one shape."""
    for a, b in zip(left, right, strict=True):
        order = compare_items(a, b, sense)
        if order:
            return order
    return 0


def first_occurrence(value: Array) -> Array:
    """bool[n]: is this major cell the first equal to it?  (A NaN is always a first.)"""
    rows = [cell.data for cell in cells(value, 1)]
    firsts = [not any(equal_items(rows[j], row) for j in range(i)) for i, row in enumerate(rows)]
    return Array(Kind.BOOL, (len(firsts),), tuple(firsts))


def grade(value: Array, descending: bool) -> Array:
    """The stable order of the major cells.  Descending is stable too: equal cells keep their order."""
    return _grade([cell.data for cell in cells(value, 1)], descending)


def grade_by(order: Array, value: Array, descending: bool) -> Array:
    """Grade of text by the place of each character in `order`, absent ones last."""
    place = {character: i for i, character in reversed(list(enumerate(order.data)))}
    return _grade([tuple(place.get(c, len(order.data)) for c in cell.data) for cell in cells(value, 1)], descending)


def _grade(rows: Sequence[Sequence[Payload]], descending: bool) -> Array:
    sense = -1 if descending else 1

    def compare(i: int, j: int) -> int:
        return compare_cells(rows[i], rows[j], sense)

    order: list[int] = sorted(range(len(rows)), key=functools.cmp_to_key(compare))
    return Array(Kind.I64, (len(rows),), tuple(order))


def index_of(table: Array, value: Array) -> Array:
    """The first major cell of `table` equal to each cell of `value`, its length if none."""
    rows = [cell.data for cell in cells(table, 1)]
    frame_rank = value.rank - (table.rank - 1)
    found = []
    for cell in cells(value, frame_rank):
        alike = cell.shape == table.shape[1:]
        found.append(next((i for i, row in enumerate(rows) if alike and equal_items(row, cell.data)), len(rows)))
    return Array(Kind.I64, value.shape[:frame_rank], tuple(found))


def member_of(value: Array, table: Array) -> Array:
    return Array(Kind.BOOL, value.shape, tuple(any(item == other for other in table.data) for item in value.data))


def find(pattern: Array, value: Array) -> Array:
    """Does the pattern start here?"""
    if pattern.rank > value.rank:
        return build(Kind.BOOL, value.shape, lambda p: False)
    shape = (*[1] * (value.rank - pattern.rank), *pattern.shape)
    raised = Array(pattern.kind, shape, pattern.data)

    def starts(p: Position) -> bool:
        last = [a + n - 1 for a, n in zip(p, shape, strict=True)]
        if not inside([max(a, b) for a, b in zip(p, last, strict=True)], value.shape):
            return False
        window = build(value.kind, shape, lambda q: at(value, [a + b for a, b in zip(p, q, strict=True)]))
        return equal_items(window.data, raised.data)

    return build(Kind.BOOL, value.shape, starts)


def interval_index(table: Array, value: Array) -> Array:
    """(Count of major cells of `table` not after the cell) - 1."""
    rows = [cell.data for cell in cells(table, 1)]
    frame_rank = value.rank - (table.rank - 1)
    found = []
    for cell in cells(value, frame_rank):
        if any(isinstance(item, float) and math.isnan(item) for item in cell.data):
            found.append(-1)  # NaN is above no boundary: ≤ is false
        else:
            found.append(sum(compare_cells(row, cell.data) <= 0 for row in rows) - 1)
    return Array(Kind.I64, value.shape[:frame_rank], tuple(found))
