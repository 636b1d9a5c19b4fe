"""Random numbers and sizes on a device.

Neighbours: `library`; `run.philox_numpy` (the generator, to the bit).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from ..philox import MASK, MULTIPLIER_0, MULTIPLIER_1, ROUNDS, WEYL_0, WEYL_1
from .call import Call

_PIECE: Final = 1 << 22
"""Blocks generated at once: what intermediate words take is bounded."""


def size_vector(call: Call, arrays: Any) -> Any:
    return call.xp.asarray(np.array(call.sizes(), np.int64).reshape(call.shape()))


def random(call: Call, arrays: Any) -> Any:
    """Uniform f64 from an integer key or a pair."""
    xp, shape = call.xp, call.shape()
    words = [*arrays[0].reshape(-1).get().tolist(), 0]
    count = math.prod(shape)
    result = xp.empty((count + 1) // 2 * 2, np.float64).reshape(-1, 2)
    for first in range(0, len(result), _PIECE):
        stop = min(len(result), first + _PIECE)
        _fill_pairs(xp, result[first:stop], xp.arange(first, stop, dtype=np.uint64), int(words[0]), int(words[1]))
    return result.reshape(-1)[:count].reshape(shape).copy()


def _fill_pairs(xp: Any, result: Any, blocks: Any, key: int, stream: int) -> None:
    """The two elements of each block."""
    mask, word = np.uint64(MASK), np.uint64(32)
    c0, c1 = blocks & mask, blocks >> word
    c2, c3 = xp.full_like(blocks, stream & MASK), xp.full_like(blocks, (stream >> 32) & MASK)
    k0, k1 = key & MASK, (key >> 32) & MASK
    for _ in range(ROUNDS):
        product_0, product_1 = c0 * np.uint64(MULTIPLIER_0), c2 * np.uint64(MULTIPLIER_1)
        c0 = (product_1 >> word) ^ c1 ^ np.uint64(k0)
        c2 = (product_0 >> word) ^ c3 ^ np.uint64(k1)
        c1, c3 = product_1 & mask, product_0 & mask
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    for column, (high, low) in enumerate(((c0, c1), (c2, c3))):
        bits = ((high >> np.uint64(5)) << np.uint64(26)) + (low >> np.uint64(6))
        result[:, column] = bits.astype(np.float64) * 2.0**-53
