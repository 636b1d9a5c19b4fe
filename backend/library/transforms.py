"""Discrete Fourier transforms along the last axis, by `numpy.fft`, in complex128 and rounded once.

Neighbours: `linear`; `reference.linear` (the defining sums).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..run.cpu.kinds import DTYPES, NumArray
from .frames import Arrays, Call, Operation, whole

Transform = Callable[[NumArray, int], Any]


def _along_last(transform: Transform) -> Operation:
    """`transform` of the lines and of the length of the result's lines."""

    def run(call: Call, arrays: Arrays) -> NumArray:
        arg = arrays[0]
        result = call.phase.results[0]
        shape, dtype = call.context.shape(result), DTYPES[call.context.kind(result)]
        if not arg.size or 0 in shape:
            return np.zeros(shape, dtype)
        wide = arg.astype(np.complex128 if arg.dtype.kind == "c" else np.float64, copy=False)
        moved = np.asarray(transform(wide, shape[-1]))
        return (moved if dtype.kind == "c" else moved.real).astype(dtype, copy=False)

    return whole(run)


TRANSFORMS: Final[dict[str, Operation]] = {
    "fft": _along_last(lambda lines, length: np.fft.fft(lines)),
    "ifft": _along_last(lambda lines, length: np.fft.ifft(lines)),
    "rfft": _along_last(lambda lines, length: np.fft.rfft(lines)),
    "irfft": _along_last(lambda lines, length: np.fft.irfft(lines, length)),
}
