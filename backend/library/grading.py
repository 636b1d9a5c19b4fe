"""Grades: the stable order of major cells, by the items or by a collation order.

Neighbours: `keys` (Note [Stable order]); `reference.searching` (definitions).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..graph.cells import frame_of, wanted_of
from ..graph.phases import LibraryPhase
from ..run.cpu.kinds import NumArray
from ..run.cpu.order import order_columns
from ..run.device import Types
from .compiled_sorts import LEAST, graded, is_short, plain_order
from .frames import Arrays, Call, Function, Operation, cell_by_cell, whole
from .keys import first_positions, lexicographic_keys, row_columns, stable_order
from .sorting import some_places


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
    wanted = wanted_of(call.phase)
    if wanted == (0, 0):
        shape = call.context.shape(call.phase.results[0])
        return (np.ndarray(shape, np.int64, bytes(8), 0, (0,) * len(shape)),)
    if wanted == (0, 1) and arrays[0].dtype.kind != "c":
        rows = call.batched(arrays)[0]
        if rows.ndim == 2 and rows.shape[1]:
            return call.unbatched(np.broadcast_to(_first_places(rows, descending=descending)[:, np.newaxis], rows.shape))
    if not call.rank:
        some = None if wanted is None else some_places(arrays[0], wanted, descending=descending)
        if some is not None:
            return (some,)
        return (_graded(arrays[0], descending=descending),)
    arg = call.batched(arrays)[0]
    if arg.ndim == 2 and arg.dtype.kind != "c":
        keys = order_columns(arg, descending=descending)[0]
        if keys.shape[1] >= _LONG:
            return call.unbatched(np.stack([stable_order(row) for row in keys]) if len(keys) else np.empty(keys.shape, np.int64))
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


_LONG: Final = 1 << 10
"""Rows from this length on are ordered one by one."""


def _first_places(rows: NumArray, *, descending: bool) -> NumArray:
    """The place of the first least (or greatest) item of each row; NaN comes after all others."""
    places = np.asarray(rows.argmax(1) if descending else rows.argmin(1), np.int64)
    if rows.dtype.kind == "f":
        missing = np.isnan(rows[np.arange(len(rows)), places])  # NumPy's choice, wherever there is a NaN
        if missing.any():
            places[missing] = np.argmin(order_columns(rows[missing], descending=descending)[0], axis=1)
    return places


def _grade_large(call: Call, arrays: Arrays) -> NumArray | None:
    """By kernels: of a vector, or of each row."""
    items = arrays[0]
    if items.ndim != call.rank + 1 or wanted_of(call.phase) is not None:
        return None
    rows = call.batched(arrays)[0] if call.rank else items
    made = graded(rows, call.operand_kind(0), call.flag("descending"), call.threads)
    return None if made is None else made.reshape(items.shape)


def _short_grade(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    kind, shape = types.kind(phase.args[0]), types.types[phase.args[0]].shape
    is_rows = frame_of(phase) == len(shape) - 1 > 0 and not kind.is_complex
    is_large = math.prod(types.shape(phase.args[0])) >= LEAST[True]
    if not (is_rows or is_short(phase, types)) or (wanted_of(phase) and is_large):
        return None
    return plain_order(kind, descending=phase.attributes.get("descending") is True)


GRADING: Final[dict[str, Operation]] = {
    "grade": whole(grade, _grade_large, _short_grade), "grade_by": cell_by_cell(grade_by),
}  # fmt: skip
