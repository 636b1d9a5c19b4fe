"""Philox4x32-10 on NumPy arrays: the bits of `run.philox` (layout: its Note [Key and counter layout]).

Works in pieces that stay in cache; a piece needs only its own block numbers, so any shard can be filled alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .philox import MASK, MULTIPLIER_0, MULTIPLIER_1, ROUNDS, WEYL_0, WEYL_1

_PIECE = 1 << 14
"""Blocks generated at once."""


def fill_uniform(out: np.ndarray[Any, Any], key: int, stream: int, start: int = 0) -> None:
    """Fill a contiguous f64 vector with elements `start`, `start` + 1, … of the sequence of `(key, stream)`."""
    first = start >> 1
    last = (start + len(out) + 1) >> 1
    for block in range(first, last, _PIECE):
        stop = min(last, block + _PIECE)
        pairs = _uniform_pairs(np.arange(block, stop, dtype=np.uint64), key, stream)
        low = max(start, 2 * block)
        high = min(start + len(out), 2 * stop)
        out[low - start : high - start] = pairs.reshape(-1)[low - 2 * block : high - 2 * block]


def _uniform_pairs(blocks: np.ndarray[Any, Any], key: int, stream: int) -> np.ndarray[Any, Any]:
    """The two elements of each block: shape (blocks, 2)."""
    mask, word = np.uint64(MASK), np.uint64(32)
    c0, c1 = blocks & mask, blocks >> word
    c2 = np.full_like(blocks, stream & MASK)
    c3 = np.full_like(blocks, (stream >> 32) & MASK)
    k0, k1 = key & MASK, (key >> 32) & MASK
    for _ in range(ROUNDS):
        product_0 = c0 * np.uint64(MULTIPLIER_0)
        product_1 = c2 * np.uint64(MULTIPLIER_1)
        c0 = (product_1 >> word) ^ c1 ^ np.uint64(k0)
        c2 = (product_0 >> word) ^ c3 ^ np.uint64(k1)
        c1 = product_1 & mask
        c3 = product_0 & mask
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    pairs = np.empty((len(blocks), 2))
    for column, (high, low) in enumerate(((c0, c1), (c2, c3))):
        bits = ((high >> np.uint64(5)) << np.uint64(26)) + (low >> np.uint64(6))
        np.multiply(bits, 2.0**-53, out=pairs[:, column])
    return pairs
