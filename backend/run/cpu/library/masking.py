"""Ops driven by masks, and those that define a run-time size.

Neighbours: `selecting`; `context` (records sizes); `reference.selection` (definitions).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from .....lang.codes import Code
from ...failures import CheckFailed
from ..kinds import DTYPES, FILLS, NumArray
from .frames import Arrays, Call, Implementation, cell_by_cell, whole


def define(call: Call, value: int) -> None:
    """Record the size that the phase defines."""
    for variable in call.phase.defines:
        call.context.define(variable, value)


def mask_update(call: Call, arg: NumArray, mask: NumArray, value: NumArray) -> NumArray:
    """The cells of `arg` where the mask holds replaced, in order; a scalar serves every one."""
    result = arg.copy(order="C")
    cell = arg.shape[mask.ndim :]
    chosen = mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if value.ndim and value.shape != (places, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places} places")
    result.reshape(mask.size, *cell)[chosen] = value
    return result


def compress(call: Call, arrays: Arrays) -> NumArray:
    """The cells along the axis whose mask item holds; defines their number."""
    mask, arg = arrays
    axis, chosen = call.axis(), mask.reshape(-1)
    if arg.ndim == 1:
        result = arg[chosen] if len(chosen) == len(arg) else np.compress(chosen, arg)
    else:
        result = np.take(arg, np.flatnonzero(chosen), axis)
    define(call, result.shape[axis])
    return result


def expand(call: Call, mask: NumArray, arg: NumArray) -> NumArray:
    """Cells of `arg` where the mask holds, in order, fills elsewhere."""
    axis, chosen = call.axis(), mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if places != arg.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places} places for {arg.shape[axis]} items")
    kind = call.kind()
    shape = (*arg.shape[:axis], len(chosen), *arg.shape[axis + 1 :])
    result = np.full(shape, FILLS[kind], DTYPES[kind])
    place: tuple[Any, ...] = (*(slice(None),) * axis, np.flatnonzero(chosen))
    result[place] = arg
    return result


def where(call: Call, arrays: Arrays) -> NumArray:
    """Positions of true items: a vector, or one row of coordinates each for a mask of rank above 1."""
    mask = arrays[0]
    found: NumArray = np.flatnonzero(mask)
    if mask.ndim > 1:
        coordinates = np.unravel_index(found, mask.shape) if math.prod(mask.shape) else [found] * mask.ndim
        found = np.stack(coordinates, 1)
    define(call, len(found))
    return found.astype(np.int64, copy=False)


def runtime_size(call: Call, arrays: Arrays) -> Arrays:
    define(call, int(arrays[0]))
    return ()


MASKING: Final[dict[str, Implementation]] = {
    "mask_update": cell_by_cell(mask_update), "compress": whole(compress), "expand": cell_by_cell(expand), "where": whole(where),
    "runtime_size": whole(runtime_size),
}  # fmt: skip
