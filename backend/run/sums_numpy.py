"""The documented order of float sums and products on NumPy arrays, along the leading axis.

`reference.sums` is the definition in plain Python; this module computes the same bits for whole arrays: lanes go down the
rows of each block in order, lanes combine by halving, blocks by the binary tree on the block index.

Neighbours: `run.cpu.reduce` (whole arrays and partial sums of cut axes), `tests/backend/test_sums_numpy.py`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from ..kernels.ir import BLOCK, LANES

NumArray: TypeAlias = np.ndarray[Any, Any]


def block_partials(ufunc: np.ufunc, data: NumArray) -> NumArray:
    """One partial result a block, with `np.add` or `np.multiply`; keeps the dtype."""
    whole = len(data) // BLOCK
    blocks, rest = data[: whole * BLOCK].reshape(whole, BLOCK, *data.shape[1:]), data[whole * BLOCK :]
    partials = np.empty((-(-len(data) // BLOCK), *data.shape[1:]), data.dtype)
    if whole:
        partials[:whole] = _block(ufunc, blocks.swapaxes(0, 1))
    if len(rest):
        partials[whole] = _block(ufunc, rest)
    return partials


def combine_tree(ufunc: np.ufunc, partials: NumArray) -> Any:
    """Neighbours are paired level by level; a last odd one passes through; the axis goes."""
    level = partials
    while len(level) > 1:
        even = len(level) // 2 * 2
        paired = ufunc(level[0:even:2], level[1:even:2])
        level = np.concatenate((paired, level[even:])) if even < len(level) else paired
    return level[0]


def _block(ufunc: np.ufunc, items: NumArray) -> Any:
    """The items of a block, of which the last row may be short: lanes down the rows, then halved; absent lanes give nothing."""
    lanes = items[:LANES].copy("K")
    for start in range(LANES, len(items), LANES):
        row = items[start : start + LANES]
        ufunc(lanes[: len(row)], row, out=lanes[: len(row)])
    half = LANES // 2
    while len(lanes) > 1:
        high = lanes[half:]
        if len(high):
            ufunc(lanes[: len(high)], high, out=lanes[: len(high)])
            lanes = lanes[:half]
        half //= 2
    return lanes[0]
