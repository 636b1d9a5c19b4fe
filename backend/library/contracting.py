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

from ...typechecker.elements import Kind
from ..graph.cells import frame_of, framed_of
from ..graph.phases import LibraryPhase
from ..graph.scratch import WORTH_BLAS
from ..graph.sums_of_products import is_summed, sum_of_products
from ..kernels.store import address_of
from ..run.cpu.bindings import Binding, Later, Unbound, bind_structured
from ..run.cpu.copying import drafted
from ..run.cpu.kinds import DTYPES, NumArray, start_of
from ..run.cpu.launching import Base, on_bases, words_of
from .blas import alone, blas
from .frames import Arrays, Call, Operation, whole
from .products import PRODUCTS, batch_of, bound_product, may_be_mirrored, needs_rows, products_of
from .vector_products import summed_products

_EXACT_BITS: Final = 53
_COPY_NANOSECONDS: Final = 0.3
"""A byte."""


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


def _contract_floats(call: Call, arrays: Arrays) -> NumArray | None:
    """The same of floats, whose memory is the pool's."""
    return None if call.kind().is_integer else contract(call, arrays)[0]


def _exact_product(a: NumArray, b: NumArray, threads: int) -> NumArray:
    """See Note [Exact integer products]."""
    if min(a.shape[-2], b.shape[-1]) < WORTH_BLAS or not a.size or not b.size:
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


# --------------------------------------------------------------------------------------- native code


def _bind_product(binding: Binding, phase: LibraryPhase) -> None:
    """A product of matrices of floats or complex numbers, or of vectors; or as many products as a frame has points."""
    types, args, (value,), depth = binding.types, phase.args, phase.results, frame_of(phase)
    kind, arrays, sizes = types.kind(value), [binding.values[arg] for arg in args], [types.types[arg].shape for arg in args]
    if kind not in PRODUCTS or not all(0 < len(shape) - depth < 3 for shape in sizes) or (depth and not all(framed_of(phase))):
        raise Unbound
    rows, columns = math.prod(arrays[0].shape[depth:-1]), math.prod(arrays[1].shape[depth + 1 :])
    if 1 in (rows, columns) or (not depth and is_summed(rows, arrays[0].shape[-1], columns)):
        bind_structured(binding, sum_of_products(kind, sizes[0], sizes[1], depth, (args[0], args[1], value)))
        return
    batches = [batch for array in arrays if (batch := batch_of(array, depth)) is not None]
    if len(batches) < 2 or blas() is None or batches[0].shape[-1] == 1:
        raise Unbound
    into_rows = needs_rows(kind, *batches)
    binding.apart = may_be_mirrored(*batches)  # `products` has a way of its own with a matrix and itself transposed
    if binding.apart and start_of(batches[0]) == start_of(batches[1]):
        raise Later
    bases: list[Base] = [(binding.places[arg], 0) for arg in args]
    for place, is_copied in enumerate(into_rows):
        if is_copied:
            batches[place], bases[place] = _in_rows(binding, batches[place], bases[place])
    bound = bound_product(kind, batches[0], batches[1], binding.threads)
    if bound is None or bound.pieces is None:
        raise Unbound
    bases.append((binding.result(value, types.shape(value), DTYPES[kind]), 0))
    binding.guard = alone if bound.large else None
    binding.share(bound.pieces, bases)


def _in_rows(binding: Binding, array: NumArray, source: Base) -> tuple[NumArray, Base]:
    """A copy in rows: an array that lies so, and where it is."""
    target = np.empty(array.shape, array.dtype)
    draft = drafted(target, array, 1, streams=False)
    if draft is None:
        raise Unbound
    if not binding.wants(draft.kernel):
        raise Later
    room: Base = (binding.room(array.shape, array.dtype), 0)
    duration = array.nbytes * _COPY_NANOSECONDS
    blocks = on_bases(draft.blocks, (source, room))
    binding.launch(words_of(address_of(draft.kernel) or 0, blocks, 0, duration), duration)
    return target, room


CONTRACTING: Final[dict[str, Operation]] = {"contract": whole(contract, _contract_floats, native=_bind_product)}
