"""Products of matrices on the device's team: each piece is calls of BLAS on one thread.

The calls are those of NumPy's `matmul` for such operands; without kernels the same pieces are NumPy's calls.  The bits of a
product follow from its shape and its items, whatever the team, the machine's cores, its other threads, and the layout of the
operands:

- Pieces follow from the shape alone: ranges of rows (or columns) that start at multiples of `GRAIN`.
- BLAS has kernels of their own for small products, one for each way the operands lie: such operands are copied into rows first.
- Vectors are no matrices: they are sums of products in an order of ours (`vector_products`).  So are small matrices, but
  for those of a batch (`graph.sums_of_products`): BLAS is called for each of a batch without anything around it.
- A matrix times itself transposed is symmetric, so a half is computed, in tiles, and copied.

A batch is so many products, each with the bits that it has alone; a piece is then the same part of several of them.

Neighbours: `blas` (what is called), `run/native/product.c` (calls it), `contracting` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import prod
from typing import Final

import numpy as np

from ...typechecker.elements import Kind
from ..graph.sums_of_products import is_summed
from ..kernels import policy
from ..kernels.kept import Kept
from ..run.cpu.kinds import DTYPES, NumArray
from ..run.cpu.launching import SHARED_NANOSECONDS, Block
from ..run.cpu.layouts import common_stride
from ..run.cpu.sharing import Pieces, run_boxes
from ..run.native import native
from ..run.pool import room
from .blas import alone, blas
from .vector_products import summed_products

GRAIN: Final = 48
"""Rows and columns of pieces are multiples of this: BLAS's own blocks are."""
_SPEED: Final = {Kind.F64: 25.0, Kind.F32: 50.0, Kind.C128: 6.0, Kind.C64: 12.0}
"""Products a nanosecond on one thread, roughly."""
_ALONE: Final = 1 << 15
"""Products from which BLAS might take several threads."""
_WAYS: Final = 1 << 20
"""Products up to which BLAS has a kernel for each way that the operands lie."""
_PIECES: Final = ((1 << 30, 4), (1 << 33, 8), (1 << 36, 16), (1 << 39, 32))
"""Pieces of products below so many: more cost BLAS more (it packs an operand anew in each), fewer keep less of a team busy."""
_MOST_PIECES: Final = 64
_MOST_BLAS: Final = 1 << 31
_PIECES_A_THREAD: Final = 4
_TILE: Final = 192
_TURNED: Final = 1 << 23
"""Rows of a tile of a matrix times itself transposed; products up to which there is one tile, of rows."""
WORDS: Final = (
    "left_form", "right_form", "rows", "columns", "shared", "left_pitch", "right_pitch", "pitch", "mirrored",
    "count", "left_next", "right_next", "next", "items", "function", "left_whole", "right_whole", "left", "right", "result",
)  # fmt: skip
"""The words of a piece for `native/product.c`, then one that is not used.  Forms are BLAS's numbers; pitches are in items; the
function and the last five are addresses."""
PLAIN, TRANSPOSED = 111, 112
PRODUCTS: Final = {Kind.F32: "sgemm", Kind.F64: "dgemm", Kind.C64: "cgemm", Kind.C128: "zgemm"}
"""BLAS's functions, in the order of the words' `items`."""
Layout = tuple[tuple[int, ...], tuple[int, ...]]
"""Shape and strides of a batch of matrices."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece: rows of the left operand, or columns of the right one, from `start` to `stop`, of these products of the batch."""

    of_rows: bool
    start: int
    stop: int
    first: int = 0
    last: int = 1


@dataclass(frozen=True, slots=True)
class BoundProduct:
    """Products of operands of one layout; the bases of its pieces (None: NumPy multiplies) are left, right and result.  `large`:
    BLAS is asked for one thread meanwhile."""

    pieces: Pieces | None
    cuts: tuple[Cut, ...]
    large: bool


def products_of(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """The products of a batch of matrices (or one for all) and another, of floats or complex numbers, in memory of the pool."""
    count, shared = max(len(left), len(right)) if len(left) and len(right) else 0, left.shape[2]
    shape = (count, left.shape[1], right.shape[2])
    if 0 not in (*shape, shared) and 1 in shape[1:]:
        return summed_products(kind, left, right, threads)
    result: NumArray = room(shape, DTYPES[kind])
    if 0 in (*shape, shared) or shared == 1:  # sums of one product, or none: NumPy asks no BLAS
        np.matmul(left, right, out=result)
        return result
    left, right = [array[:1] if array.strides[0] == 0 else array for array in (left, right)]
    made = result[: max(len(left), len(right))]
    if blas() is None:
        np.matmul(np.ascontiguousarray(left), np.ascontiguousarray(right), out=made)
    elif _is_mirrored(left, right):
        _symmetric(left, made, threads)
    else:
        _products(kind, left, right, made, threads)
    if len(made) < count:
        result[len(made) :] = made
    return result


def _products(kind: Kind, left: NumArray, right: NumArray, result: NumArray, threads: int) -> None:
    into_rows = needs_rows(kind, left, right)
    left, right = [_in_rows(array) if copied else array for array, copied in zip((left, right), into_rows, strict=True)]
    bound = bound_product(kind, left, right, threads)
    assert bound is not None
    with alone() if bound.large else nullcontext():
        if bound.pieces is None:
            _by_numpy(bound.cuts, left, right, result)
        else:
            bound.pieces.run(_on(left, right, result))


def _on(*arrays: NumArray) -> list[int]:
    return [array.__array_interface__["data"][0] for array in arrays]


def product_into(kind: Kind, left: NumArray, right: NumArray, result: NumArray, threads: int) -> Callable[[], object] | None:
    """What writes the product of two matrices into another each time that it is called, while there are these, as `products_of`
    makes it; None where that is more than copies into rows and one launch."""
    left, right = left[np.newaxis], right[np.newaxis]
    (rows, shared), columns = left.shape[1:], right.shape[2]
    if 0 in result.shape or shared < 2 or is_summed(rows, shared, columns) or not result.flags.c_contiguous or blas() is None:
        return None
    if _is_mirrored(left, right):
        return None
    into_rows = needs_rows(kind, left, right)
    first, second = [room(a.shape, a.dtype) if copied else a for a, copied in zip((left, right), into_rows, strict=True)]
    copies = [pair for pair, copied in zip(((first, left), (second, right)), into_rows, strict=True) if copied]
    bound = bound_product(kind, first, second, threads)
    if bound is None or bound.pieces is None or bound.pieces.nanoseconds >= policy.LONG_NANOSECONDS:
        return None
    run, is_large = partial(bound.pieces.run, _on(first, second, result)), bound.large
    if not (copies or is_large):
        return run

    def prepared() -> None:
        for rows, operand in copies:
            np.copyto(rows, operand)
        with alone() if is_large else nullcontext():
            run()

    return prepared


def _layout(array: NumArray) -> Layout:
    return array.shape, array.strides


def _in_rows(array: NumArray) -> NumArray:
    made: NumArray = room(array.shape, array.dtype)
    np.copyto(made, array)
    return made


def bound_product(kind: Kind, left: NumArray, right: NumArray, threads: int) -> BoundProduct | None:
    """The calls for two batches like these; None where an operand has to be copied into rows first, or is no matrix."""
    key = (kind, left.shape, left.strides, right.shape, right.strides, threads, policy.mode() is policy.Mode.OFF)
    return _kept.of(key, (), lambda: _bound(kind, _layout(left), _layout(right), threads))


_kept: Final[Kept[BoundProduct | None]] = Kept(256)


def batch_of(array: NumArray, depth: int) -> NumArray | None:
    """An array as a batch of matrices, its first so many axes being one; None where they are not evenly spaced."""
    step = common_stride(array.shape[:depth], array.strides[:depth])
    if step is None:
        return None
    shape, strides = (prod(array.shape[:depth]), *array.shape[depth:]), (step, *array.strides[depth:])
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def needs_rows(kind: Kind, left: NumArray, right: NumArray) -> tuple[bool, bool]:
    """Is each of two batches to be copied into rows first?  Of small pieces, unless it lies so; of others, where BLAS cannot
    take it as it lies."""
    return _needs_rows(kind, _layout(left), _layout(right))


def _needs_rows(kind: Kind, left: Layout, right: Layout) -> tuple[bool, bool]:
    (rows, shared), columns = left[0][1:], right[0][2]
    cuts = _cuts(kind, (rows, shared, columns))
    least = min(cut.stop - cut.start for cut in cuts) * shared * (columns if cuts[0].of_rows else rows)
    allowed = (PLAIN,) if least <= _WAYS else (PLAIN, TRANSPOSED)
    first, second = [_form(layout, kind.bytes) for layout in (left, right)]
    return first is None or first[0] not in allowed, second is None or second[0] not in allowed


def _bound(kind: Kind, left: Layout, right: Layout, threads: int) -> BoundProduct | None:
    count, (rows, shared), columns = max(left[0][0], right[0][0]), left[0][1:], right[0][2]
    if min(rows, shared, columns) < 2 or max(rows, shared, columns) >= _MOST_BLAS or blas() is None:
        return None
    work = rows * shared * columns
    duration = count * work / _SPEED[kind]
    if any(_needs_rows(kind, left, right)):
        return None
    each = _cuts(kind, (rows, shared, columns))
    wanted = min(_PIECES_A_THREAD * threads, int(duration / SHARED_NANOSECONDS)) if threads > 1 else 1
    parts = max(1, min(count, -(-wanted // len(each))))
    ends = [count * part // parts for part in range(parts + 1)]
    cuts = tuple([replace(cut, first=first, last=last) for first, last in pairwise(ends) for cut in each])
    blocks = tuple([_words(kind, left, right, cut) for cut in cuts])
    address = _address()
    pieces = Pieces(address, blocks, 3, threads, duration) if address else None
    return BoundProduct(pieces, cuts, work >= _ALONE)


def _address() -> int:
    """Where the code is that calls BLAS; 0 where there is none."""
    runtime = None if policy.mode() is policy.Mode.OFF else native()
    return 0 if runtime is None else runtime.product


def _cuts(kind: Kind, shape: tuple[int, int, int]) -> list[Cut]:
    """By the shape alone."""
    rows, shared, columns = shape
    work = rows * shared * columns
    of_rows = 2 * rows >= columns
    size = rows if of_rows else columns
    most = next((pieces for limit, pieces in _PIECES if work < limit), _MOST_PIECES)
    count = min(most, int(work / _SPEED[kind] / SHARED_NANOSECONDS), size // GRAIN)
    if count < 2:
        return [Cut(of_rows, 0, size)]
    even = [(2 * size * place + count * GRAIN) // (2 * count * GRAIN) * GRAIN for place in range(count)]  # the nearest multiples
    return [Cut(of_rows, start, stop) for start, stop in pairwise([*even, size])]  # no piece is one line: that is a vector


# ------------------------------------------------------------------------------------------------ words


def _is_blasable(pitch: int, step: int, length: int, item: int) -> bool:
    """Are lines of so many items, the items `step` bytes apart and the lines `pitch`, what BLAS takes?"""
    return step == item and pitch % item == 0 and length <= pitch // item < _MOST_BLAS


def _form(layout: Layout, item: int) -> tuple[int, int] | None:
    """Rows one after the other or columns, and their pitch in items; None where BLAS cannot take such matrices."""
    (_, rows, columns), (_, down, across) = layout
    if _is_blasable(down, across, columns, item):
        return PLAIN, down // item
    return (TRANSPOSED, across // item) if _is_blasable(across, down, rows, item) else None


def _words(kind: Kind, left: Layout, right: Layout, cut: Cut) -> Block:
    found, item = blas(), kind.bytes
    assert found is not None
    first, second = _form(left, item), _form(right, item)
    assert first is not None
    assert second is not None
    (rows, shared), columns, lines = left[0][1:], right[0][2], cut.stop - cut.start
    mirrored = rows == columns and left[1][1:] == right[1][:0:-1] and len(left[0]) == len(right[0])
    sizes = (lines, columns, shared) if cut.of_rows else (rows, lines, shared)
    steps = [layout[1][0] if layout[0][0] > 1 else 0 for layout in (left, right)]
    after = rows * columns * item
    words = [first[0], second[0], *sizes, first[1], second[1], columns, int(mirrored), cut.last - cut.first, *steps, after,
             list(PRODUCTS).index(kind), found.addresses[PRODUCTS[kind]]]  # fmt: skip
    ahead = [cut.first * steps[0], cut.first * steps[1], cut.first * after]
    if cut.of_rows:
        ahead = [ahead[0] + cut.start * left[1][1], ahead[1], ahead[2] + cut.start * columns * item]
    else:
        ahead = [ahead[0], ahead[1] + cut.start * right[1][2], ahead[2] + cut.start * item]
    bases = [(0, 0), (1, 0), *enumerate(ahead)]
    places = [WORDS.index(name) for name in ("left_whole", "right_whole", "left", "right", "result")]
    return Block([*words, *[0] * (len(WORDS) - len(words) + 1)], list(zip(places, bases, strict=True)))


# ---------------------------------------------------------------------------------------------- running


def _by_numpy(cuts: Sequence[Cut], left: NumArray, right: NumArray, result: NumArray) -> None:
    for cut in cuts:
        some = slice(cut.first, cut.last)
        a, b = [array if len(array) == 1 else array[some] for array in (left, right)]
        lines = slice(cut.start, cut.stop)
        if cut.of_rows:
            np.matmul(a[:, lines], b, out=result[some, lines])
        else:
            np.matmul(a, b[:, :, lines], out=result[some, :, lines])


# -------------------------------------------------------------------- a matrix times itself transposed


def may_be_mirrored(left: NumArray, right: NumArray) -> bool:
    """Would each matrix of a batch be multiplied by itself transposed, if both began at the same place?"""
    if left.shape[1] != right.shape[2] or len(left) != len(right) or left.strides[1:] != right.strides[:0:-1]:
        return False
    return len(left) == 1 or left.strides[0] == right.strides[0]


def _is_mirrored(left: NumArray, right: NumArray) -> bool:
    starts = [array.__array_interface__["data"][0] for array in (left, right)]
    return starts[0] == starts[1] and may_be_mirrored(left, right)


def _symmetric(items: NumArray, result: NumArray, threads: int) -> None:
    """The lower half of each product in tiles, those of the diagonal by NumPy (which computes a half of them), and its mirror."""
    rows, shared = items.shape[1:]
    form = _form(_layout(items), items.itemsize)
    turned = form is None or (form[0] != PLAIN and rows * rows * shared <= _TURNED)
    if turned or not items.flags.aligned:  # NumPy would copy each operand
        items = _in_rows(items)
    count = max(1, rows // _TILE) if rows * rows * shared > _TURNED else 1
    ends = [*(rows * tile // count // GRAIN * GRAIN for tile in range(count)), rows]
    bands = [slice(start, stop) for start, stop in pairwise(ends)]
    lower = [(band, other) for place, band in enumerate(bands) for other in bands[: place + 1]]
    tiles = [(cell, *pair) for cell in range(len(items)) for pair in lower]

    def work(tile: tuple[int, slice, slice]) -> None:
        cell, down, across = tile
        np.matmul(items[cell, down], items[cell, across].T, out=result[cell, down, across])
        if down != across:
            np.copyto(result[cell, across, down], result[cell, down, across].T)

    team = threads if len(items) * rows * rows * shared >= _TURNED else 1
    with alone():
        run_boxes(tiles, lambda: work, min(team, len(tiles)))
