"""`+.×` by matrix multiplication: `..products` for floats and complex numbers, exact for integers.

Note [Exact integer products].  BLAS knows no integers, and NumPy's own loop is some twenty times slower.  Where every sum of
products stays below 2⁵³ the product in binary64 is exact.  Larger integers are cut into limbs small enough for that; the
products of limbs are added with two's complement wrapping, which is what the language asks for.

Neighbours: `radix` (decodes integers with this); `reference.reductions.contract` (the definition).
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from .....typechecker.elements import Kind
from ....graph.sums_of_products import is_summed
from ..kinds import NumArray
from ..products import products_of
from ..vector_products import summed_products
from .frames import Arrays, Call, Implementation, whole

_EXACT_BITS: Final = 53
_WORTH_BLAS: Final = 8


def contract(call: Call, arrays: Arrays) -> Arrays:
    """Sums of products over left's last and right's first axis."""
    left, right = call.batched(arrays)
    count = math.prod(call.frame)
    rows, columns, shared = left.shape[1:-1], right.shape[2:], left.shape[-1]
    a = left.reshape(len(left), math.prod(rows), shared)
    b = right.reshape(len(right), shared, math.prod(columns))
    kind = call.kind()
    if not (call.rank or kind.is_integer) and 0 not in (*a.shape, *b.shape) and is_summed(*a.shape[1:], b.shape[2]):
        result = summed_products(kind, a, b, call.threads)
    elif len(b) == 1:  # the rows of all left cells are those of one matrix
        result = products(kind, a.reshape(1, len(a) * a.shape[1], shared), b, call.threads)
        result = result.reshape(len(a), a.shape[1], b.shape[2])
    elif len(a) == b.shape[-1] == 1:  # a matrix by many vectors: they are the rows of one that its transpose follows
        result = products(kind, b[np.newaxis, :, :, 0], a.transpose(0, 2, 1), call.threads)[0][..., np.newaxis]
    else:
        result = products(kind, a, b, call.threads)
    if len(result) != count:
        result = np.broadcast_to(result, (count, *result.shape[1:])).copy()
    return call.unbatched(result.reshape(count, *rows, *columns))


def product(kind: Kind, a: NumArray, b: NumArray, threads: int) -> NumArray:
    """The product of two matrices."""
    made: NumArray = products(kind, a[np.newaxis], b[np.newaxis], threads)[0]
    return made


def products(kind: Kind, a: NumArray, b: NumArray, threads: int) -> NumArray:
    """Matrix products over one batch axis, in `kind`; floats in memory of the pool."""
    return _exact_product(a, b, threads) if kind.is_integer else products_of(kind, a, b, threads)


def contract_floats(call: Call, arrays: Arrays) -> NumArray | None:
    """The same of floats, whose memory is the pool's."""
    return None if call.kind().is_integer else contract(call, arrays)[0]


def _exact_product(a: NumArray, b: NumArray, threads: int) -> NumArray:
    """See Note [Exact integer products]."""
    if min(a.shape[-2], b.shape[-1]) < _WORTH_BLAS or not a.size or not b.size:
        return np.asarray(np.matmul(a, b))
    left, right = _bits(a), _bits(b)
    room = _EXACT_BITS - a.shape[-1].bit_length()
    if left + right <= room:
        return _by_blas(a.astype(np.float64), b.astype(np.float64), threads).astype(a.dtype)
    width = room // 2
    if width < 8:
        return np.asarray(np.matmul(a, b))
    wide = 8 * a.dtype.itemsize
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), np.int64)
    for i in range(_count(left, width)):
        left_limb = _limb(a, i, left, width)
        for j in range(_count(right, width)):
            if (i + j) * width < wide:
                part = _by_blas(left_limb, _limb(b, j, right, width), threads)
                part <<= (i + j) * width
                total += part
                del part
    return total.astype(a.dtype, copy=False)


def _by_blas(a: NumArray, b: NumArray, threads: int) -> NumArray:
    return products_of(Kind.F64, a, b, threads).astype(np.int64)


def _bits(items: NumArray) -> int:
    """Every magnitude is at most 2 to this."""
    return max(abs(int(items.min())), abs(int(items.max()))).bit_length()


def _count(bits: int, width: int) -> int:
    """How many limbs of `width` bits hold magnitudes of so many bits."""
    return max(1, -(-bits // width))


def _limb(items: NumArray, place: int, bits: int, width: int) -> NumArray:
    """Limb `place` in binary64, least significant first; the last one carries the sign."""
    part: NumArray = items.astype(np.int64, copy=False) >> (place * width)
    if place < _count(bits, width) - 1:
        part &= (1 << width) - 1
    return part.astype(np.float64)


CONTRACTING: Final[dict[str, Implementation]] = {"contract": whole(contract)}
