"""Philox4x32-10, the counter-based generator behind `key ? s`, in plain Python.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11), and the known-answer
vectors of the Random123 library.  Every back end must produce these bits.

Note [Key and counter layout].  All words are unsigned 32-bit, `low` is bits 0..31 and `high` bits 32..63 of the
two's complement i64.
  * key words      = (low(k), high(k)) where k is the scalar key, or the first item of a pair.
  * counter words  = (low(b), high(b), low(s), high(s)) where b = i >> 1 is the block of element i (row-major index in
    the result) and s is the second item of a pair, 0 for a scalar key: so `k ? s` and `(k 0) ? s` agree.
  * a block yields four words w0 w1 w2 w3; element i takes (w0, w1) if i is even, (w2, w3) if i is odd.
  * the value of words (a, b) is ((a >> 5) × 2²⁶ + (b >> 6)) × 2⁻⁵³: 53 uniform bits in [0, 1).
So any shard computes its own elements without the others.
"""

from __future__ import annotations

from typing import Final, TypeAlias

MULTIPLIER_0: Final = 0xD2511F53
MULTIPLIER_1: Final = 0xCD9E8D57
WEYL_0: Final = 0x9E3779B9
WEYL_1: Final = 0xBB67AE85
ROUNDS: Final = 10
MASK: Final = 0xFFFFFFFF

Words4: TypeAlias = tuple[int, int, int, int]


def philox_block(counter: Words4, key: tuple[int, int]) -> Words4:
    """Ten rounds of the Philox4x32 bijection."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        product_0 = MULTIPLIER_0 * c0
        product_1 = MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (product_1 >> 32) ^ c1 ^ k0, product_1 & MASK, (product_0 >> 32) ^ c3 ^ k1, product_0 & MASK
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


def uniform(key: int, stream: int, index: int) -> float:
    """Element `index` of the uniform sequence of `(key, stream)`."""
    block = index >> 1
    counter = (block & MASK, (block >> 32) & MASK, stream & MASK, (stream >> 32) & MASK)
    words = philox_block(counter, (key & MASK, (key >> 32) & MASK))
    first, second = words[2:] if index & 1 else words[:2]
    return ((first >> 5) * 67108864 + (second >> 6)) / 9007199254740992
