"""Random numbers and sizes on a device.

Neighbours: `library`; `run.philox` (the generator).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..philox import fill_pairs
from .call import Call

_PIECE: Final = 1 << 22
"""Blocks generated at once: what intermediate words take is bounded."""


def size_vector(call: Call, arrays: Any) -> Any:
    return call.xp.asarray(np.array(call.sizes(call.types), np.int64).reshape(call.shape()))


def random(call: Call, arrays: Any) -> Any:
    """Uniform f64 from an integer key or a pair."""
    xp, shape = call.xp, call.shape()
    words = [*arrays[0].reshape(-1).get().tolist(), 0]
    count = math.prod(shape)
    result = xp.empty((count + 1) // 2 * 2, np.float64).reshape(-1, 2)
    for first in range(0, len(result), _PIECE):
        fill_pairs(xp, result[first : first + _PIECE], first, int(words[0]), int(words[1]))
    return result.reshape(-1)[:count].reshape(shape).copy()
