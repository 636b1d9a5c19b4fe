"""Philox4x32-10 on arrays: the bits of `reference.philox` (layout: its Note [Key and counter layout]).

Works in pieces that stay in cache; a piece needs only its own block numbers, so any shard can be filled alone.

Neighbours: `cpu.uniforms` (compiled code of the same bits), `cuda.library` (the same on cards).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
WEYL_0: Final = 0x9E3779B9
WEYL_1: Final = 0xBB67AE85
ROUNDS: Final = 10
MASK: Final = 0xFFFFFFFF
_PIECE = 1 << 14
"""Blocks generated at once."""


def fill_uniform(out: np.ndarray[Any, Any], key: int, stream: int, start: int = 0) -> None:
    """Fill a contiguous f64 vector with elements `start`, `start` + 1, … of the sequence of `(key, stream)`."""
    first = start >> 1
    last = (start + len(out) + 1) >> 1
    for block in range(first, last, _PIECE):
        stop = min(last, block + _PIECE)
        pairs = np.empty((stop - block, 2))
        fill_pairs(np, pairs, block, key, stream)
        low = max(start, 2 * block)
        high = min(start + len(out), 2 * stop)
        out[low - start : high - start] = pairs.reshape(-1)[low - 2 * block : high - 2 * block]


def fill_pairs(xp: Any, pairs: Any, first: int, key: int, stream: int) -> None:
    """The two elements of each block from `first` on; `xp`: NumPy, or CuPy."""
    blocks, mask, word = xp.arange(first, first + len(pairs), dtype=np.uint64), np.uint64(MASK), np.uint64(32)
    c0, c1 = blocks & mask, blocks >> word
    c2, c3 = xp.full_like(blocks, stream & MASK), xp.full_like(blocks, (stream >> 32) & MASK)
    k0, k1 = key & MASK, (key >> 32) & MASK
    for _ in range(ROUNDS):
        product_0, product_1 = c0 * np.uint64(MULTIPLIERS[0]), c2 * np.uint64(MULTIPLIERS[1])
        c0 = (product_1 >> word) ^ c1 ^ np.uint64(k0)
        c2 = (product_0 >> word) ^ c3 ^ np.uint64(k1)
        c1, c3 = product_1 & mask, product_0 & mask
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    for column, (high, low) in enumerate(((c0, c1), (c2, c3))):
        bits = ((high >> np.uint64(5)) << np.uint64(26)) + (low >> np.uint64(6))
        pairs[:, column] = bits.astype(np.float64) * 2.0**-53
