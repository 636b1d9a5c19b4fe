"""Grades: the stable order of major cells, by the items or by a collation order.

Neighbours: `keys` (Note [Stable order]); `run.reference.searching` (definitions).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..kinds import NumArray
from .frames import Arrays, Call, Implementation, cell_by_cell, whole
from .keys import first_positions, lexicographic_keys, order_columns, row_columns, stable_order


def rows_of(value: NumArray) -> NumArray:
    """The major cells as rows of a matrix; a scalar is one cell."""
    if value.ndim == 0:
        return value.reshape(1, 1)
    return value.reshape(len(value), math.prod(value.shape[1:]))


def _graded(value: NumArray, *, descending: bool) -> NumArray:
    if value.ndim == 1:
        columns = order_columns(value, descending=descending)
    else:
        columns = row_columns(rows_of(value), descending=descending)
    keys = columns[0] if len(columns) == 1 else lexicographic_keys(columns, 1 if value.ndim == 0 else len(value))
    return stable_order(keys).astype(np.int64, copy=False)


def grade(call: Call, arrays: Arrays) -> Arrays:
    """Over a frame, vectors sort row by row; other cells sort at once, the number of the cell leading the key."""
    descending = call.flag("descending")
    if not call.rank:
        return (_graded(arrays[0], descending=descending),)
    arg = call.batched(arrays)[0]
    if arg.ndim == 2 and arg.dtype.kind != "c":
        keys = order_columns(arg, descending=descending)[0]
        return call.unbatched(np.argsort(keys, axis=-1, kind="stable").astype(np.int64, copy=False))
    count, height = arg.shape[0], arg.shape[1] if arg.ndim > 1 else 1
    numbers = np.repeat(np.arange(count), height)
    rows = arg.reshape(count * height, math.prod(arg.shape[2:]))
    order = stable_order(lexicographic_keys([numbers, *row_columns(rows, descending=descending)], len(numbers)))
    return call.unbatched(order.reshape(count, height) - np.arange(count)[:, np.newaxis] * height)


def grade_by(call: Call, order: NumArray, arg: NumArray) -> NumArray:
    """By the first place of each character in `order`, absent ones last."""
    places = first_positions(order.reshape(-1).astype(np.int64), arg.astype(np.int64))
    return _graded(places, descending=call.flag("descending"))


GRADING: Final[dict[str, Implementation]] = {"grade": whole(grade), "grade_by": cell_by_cell(grade_by)}
