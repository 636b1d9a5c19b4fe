"""The order of scans (`reference.scans`) on NumPy arrays, along the leading axis.

Runs are scanned in place in the result, then what is before each run is joined to it.

Neighbours: `reference.scans` (the definition), `cpu.scanning` (kernels), `tests/backend/test_scans.py`.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

import numpy as np

from ..kernels.ir import BLOCK, RUN

NumArray: TypeAlias = np.ndarray[Any, Any]

_EACH: Final = BLOCK // RUN
_NOTHING: Final[dict[np.ufunc, float]] = {np.add: -0.0, np.multiply: 1.0}
"""What changes nothing, not even the sign of a zero."""


def ordered_scan(ufunc: np.ufunc, data: NumArray, result: NumArray) -> None:
    """Scan with `np.add` or `np.multiply` in the documented order into an array of the same shape and dtype."""
    shape, dtype, nothing = data.shape[1:], data.dtype, _NOTHING[ufunc]
    whole, runs = len(data) // RUN, -(-len(data) // RUN)
    blocks, each, rest = -(-runs // _EACH), min(runs, _EACH), result[whole * RUN :]
    scanned = result[: whole * RUN].reshape(whole, RUN, *shape)
    ufunc.accumulate(data[: whole * RUN].reshape(scanned.shape), 1, dtype, scanned)
    ufunc.accumulate(data[whole * RUN :], 0, dtype, rest)
    if runs < 2:
        return
    totals = np.full((blocks * each, *shape), nothing, dtype)
    totals[:whole] = scanned[:, -1]
    totals[whole:runs] = rest[-1:]
    inside = ufunc.accumulate(totals.reshape(blocks, each, *shape), 1, dtype)
    before, ahead = np.full((blocks, *shape), nothing, dtype), np.full_like(inside, nothing)
    ufunc.accumulate(inside[:-1, -1], 0, dtype, before[1:])
    ufunc(before[:, np.newaxis], inside[:, :-1], ahead[:, 1:])
    ahead[:, 0] = before
    ahead = ahead.reshape(totals.shape)
    for run in range(1, runs):  # of all at once NumPy would make a copy
        part = result[run * RUN : (run + 1) * RUN]
        ufunc(ahead[run], part, part)
