"""Products of matrices of floats on the device's team: each piece is a call of BLAS on one thread.

The calls are those of NumPy's `matmul` for such operands, so a product in one piece has its bits.  Pieces are ranges of rows (or
columns) that start at multiples of `GRAIN`, which BLAS computes as it would the whole.  BLAS has other ways with small products
and with vectors: their pieces follow from the shape alone, so that the team does not show in the bits.  Without kernels the
same pieces are NumPy's calls.

Neighbours: `blas` (what is called), `kernels.products` (the text), `library.contracting` (asks), `linking` (in native calls).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed, name_symbols
from ...kernels.products import COLUMNS_FIRST, MATRIX_WORDS, PLAIN, ROWS_FIRST, TRANSPOSED, VECTOR_WORDS, Form, Product
from ...kernels.store import address_of
from ..native import native
from ..pool import room
from ..team import run_boxes
from .blas import alone, blas
from .compiled import CALL
from .kinds import DTYPES, NumArray
from .launching import SHARED_NANOSECONDS, Block, Launch, words_of

GRAIN: Final = 48
"""Rows and columns of pieces are multiples of this: BLAS's own blocks are."""
_SPEED: Final = {Kind.F64: 25.0, Kind.F32: 50.0}
"""Products a nanosecond on one thread, roughly."""
_ALONE: Final = 1 << 17
"""Products from which BLAS might take several threads."""
_SMALL: Final = 1 << 23
"""Products below which BLAS has other ways with halves of them."""
_PIECES_OF_SMALL: Final = 4
_MOST_BLAS: Final = 1 << 31
_LONG_NANOSECONDS: Final = 2e8
"""Work from which an interrupt is heard between pieces."""
_MOST_KEPT: Final = 256
_TIMES_FOR_VECTORS: Final = 12
"""How much longer a product takes of whose matrix each item is used once."""
Layout = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Cut:
    """A piece: rows of the left operand, or columns of the right one, from `start` to `stop`."""

    of_rows: bool
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class BoundProduct:
    """A product of operands of one layout; the bases of its blocks are left, right and result.  `large`: BLAS is asked for one
    thread meanwhile."""

    address: int
    blocks: tuple[Block, ...]
    cuts: tuple[Cut, ...]
    shape: tuple[int, int]
    helpers: int
    duration: float
    large: bool
    launches: list[Launch]


def product_of(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """The product of two matrices of floats, in memory of the pool."""
    left, right = [array if array.flags.aligned else array.copy("K") for array in (left, right)]  # NumPy would in rows
    result: NumArray = room((left.shape[0], right.shape[1]), DTYPES[kind])
    bound = bound_product(kind, left, right, threads) if blas() is not None else None
    if bound is None or _is_mirrored(left, right):
        np.matmul(left, right, out=result)
        return result
    token = alone() if bound.large else None
    if not bound.address:
        _by_numpy(bound, left, right, result)
    elif bound.duration < _LONG_NANOSECONDS and (launch := _launch(bound)) is not None:
        launch.run([array.__array_interface__["data"][0] for array in (left, right, result)])
    else:
        _by_team(bound, (left, right, result))
    del token
    return result


def bound_product(kind: Kind, left: NumArray, right: NumArray, threads: int) -> BoundProduct | None:
    """The calls for operands like these; None where NumPy has its own way with them."""
    key = (kind, left.shape, left.strides, right.shape, right.strides, threads, policy.mode() is policy.Mode.OFF)
    if key not in _kept:
        while len(_kept) >= _MOST_KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = _bound(kind, (left.shape, left.strides), (right.shape, right.strides), threads)
    return _kept[key]


_kept: dict[tuple[object, ...], BoundProduct | None] = {}


def _bound(kind: Kind, left: Layout, right: Layout, threads: int) -> BoundProduct | None:
    (rows, shared), (_, columns) = left[0], right[0]
    work = rows * shared * columns
    form = Form.MATRIX if min(rows, columns) > 1 else Form.VECTOR
    if min(rows, shared, columns) < 1 or shared < 2 or rows == columns == 1 or max(rows, shared, columns) >= _MOST_BLAS:
        return None
    duration = work / _SPEED[kind] * (_TIMES_FOR_VECTORS if form is Form.VECTOR else 1)
    cuts = _cuts(rows, columns, duration, threads, is_small=form is Form.VECTOR or work < _SMALL)
    item = kind.bytes
    words = _matrix_words if form is Form.MATRIX else _vector_words
    blocks = [words(left, right, item, cut) for cut in cuts]
    if any(block is None for block in blocks):
        return None
    helpers = min(threads, len(cuts)) - 1
    address = _address(Product(form, kind))
    found = tuple([block for block in blocks if block is not None])
    return BoundProduct(address, found, cuts, (rows, columns), helpers, duration, work >= _ALONE, [])


def _address(code: Product) -> int:
    """Where the code is; 0 where there is none."""
    found = blas()
    if found is None or policy.mode() is policy.Mode.OFF or not is_installed() or native() is None:
        return 0
    if not _named:
        name_symbols(found.addresses)
        _named.append(True)
    return address_of(code) or 0


_named: list[bool] = []


def _cuts(rows: int, columns: int, duration: float, threads: int, *, is_small: bool) -> tuple[Cut, ...]:
    of_rows = rows > 1 and 2 * rows >= columns
    size = rows if of_rows else columns
    count = min(_PIECES_OF_SMALL if is_small else threads, int(duration / SHARED_NANOSECONDS), size // GRAIN)
    if count < 2:
        return (Cut(of_rows, 0, size),)
    even = [(2 * size * place + count * GRAIN) // (2 * count * GRAIN) * GRAIN for place in range(count)]  # the nearest multiples
    ends = [*even, size]  # no piece is one line: that is a vector
    return tuple([Cut(of_rows, start, stop) for start, stop in pairwise(ends)])


# ------------------------------------------------------------------------------------------------ words


def _is_blasable(pitch: int, step: int, length: int, item: int) -> bool:
    """Are lines of so many items, the items `step` bytes apart and the lines `pitch`, what BLAS takes?"""
    return step == item and pitch % item == 0 and length <= pitch // item < _MOST_BLAS


def _form(layout: Layout, item: int) -> tuple[int, int] | None:
    """Rows one after the other or columns, and their pitch in items."""
    (rows, columns), (down, across) = layout
    if _is_blasable(down, across, columns, item):
        return PLAIN, down // item
    return (TRANSPOSED, across // item) if _is_blasable(across, down, rows, item) else None


def _matrix_words(left: Layout, right: Layout, item: int, cut: Cut) -> Block | None:
    first, second = _form(left, item), _form(right, item)
    if first is None or second is None:
        return None
    (rows, shared), columns = left[0], right[0][1]
    lines = cut.stop - cut.start
    mirrored = rows == columns and left[1] == right[1][::-1] and first[0] != second[0]
    sizes = (lines, columns, shared) if cut.of_rows else (rows, lines, shared)
    words = [first[0], second[0], *sizes, first[1], second[1], columns, int(mirrored), 0, 0, 0, 0, 0, 0]
    ahead = _ahead(left, right, columns, item, cut)
    places = [MATRIX_WORDS.index(name) for name in ("left", "right", "result", "left_whole", "right_whole")]
    bases = [(0, ahead[0]), (1, ahead[1]), (2, ahead[2]), (0, 0), (1, 0)]
    return Block(words, list(zip(places, bases, strict=True)))


def _vector_words(left: Layout, right: Layout, item: int, cut: Cut) -> Block | None:
    """A row times a matrix is its columns by that row."""
    rows, columns = left[0][0], right[0][1]
    is_row = rows == 1
    matrix, vector = (_turned(right), left) if is_row else (left, right)
    step = vector[1][1] if is_row else vector[1][0]
    form, shared = _form(matrix, item), matrix[0][1]
    if form is None or not _is_blasable(step, item, 1, item):
        return None
    order = COLUMNS_FIRST if form[0] == PLAIN else ROWS_FIRST
    words = [order, shared, cut.stop - cut.start, form[1], step // item, 1, 0, 0, 0, 0]
    ahead = _ahead(left, right, columns, item, cut)
    first, second = ((1, ahead[1]), (0, ahead[0])) if is_row else ((0, ahead[0]), (1, ahead[1]))
    places = [VECTOR_WORDS.index(name) for name in ("left", "right", "result")]
    return Block(words, list(zip(places, (first, second, (2, ahead[2])), strict=True)))


def _turned(layout: Layout) -> Layout:
    return layout[0][::-1], layout[1][::-1]


def _ahead(left: Layout, right: Layout, columns: int, item: int, cut: Cut) -> tuple[int, int, int]:
    """How many bytes into each array a piece begins."""
    if cut.of_rows:
        return cut.start * left[1][0], 0, cut.start * columns * item
    return 0, cut.start * right[1][1], cut.start * item


def _is_mirrored(left: NumArray, right: NumArray) -> bool:
    """A matrix times itself transposed, of which NumPy computes a half."""
    if left.shape[0] != right.shape[1] or left.strides != right.strides[::-1]:
        return False
    return bool(left.__array_interface__["data"][0] == right.__array_interface__["data"][0])


# ---------------------------------------------------------------------------------------------- running


def relocated(bound: BoundProduct, bases: Sequence[tuple[int | None, int]]) -> list[Block]:
    """The blocks for operands and a result on these bases."""
    return [
        replace(block, addresses=[(at, (bases[which or 0][0], bases[which or 0][1] + by)) for at, (which, by) in block.addresses])
        for block in bound.blocks
    ]


def _launch(bound: BoundProduct) -> Launch | None:
    if not bound.launches:
        made, words = native(), words_of(bound.address, bound.blocks, bound.helpers, bound.duration)
        if made is None or words is None:
            return None
        made.ask_for_helpers(bound.helpers)
        bound.launches.append(Launch(made.launch, words, 3))
    return bound.launches[0]


def _by_team(bound: BoundProduct, arrays: Sequence[NumArray]) -> None:
    starts = [int(array.__array_interface__["data"][0]) for array in arrays]
    call = CALL(bound.address)

    def work(block: Block, owners: Sequence[NumArray] = arrays) -> None:
        words = (ctypes.c_int64 * len(block.words))(*block.words)
        for at, (which, by) in block.addresses:
            words[at] = starts[which or 0] + by
        call(ctypes.addressof(words))

    run_boxes(bound.blocks, lambda: work, bound.helpers + 1)


def _by_numpy(bound: BoundProduct, left: NumArray, right: NumArray, result: NumArray) -> None:
    def work(cut: Cut) -> None:
        if cut.of_rows:
            np.matmul(left[cut.start : cut.stop], right, out=result[cut.start : cut.stop])
        else:
            np.matmul(left, right[:, cut.start : cut.stop], out=result[:, cut.start : cut.stop])

    make: Callable[[], Callable[[Cut], None]] = lambda: work  # noqa: E731
    run_boxes(bound.cuts, make, bound.helpers + 1)
