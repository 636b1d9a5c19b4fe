"""Products of matrices on the device's threads: each task calls BLAS on one thread.

The calls are those of NumPy's `matmul` for such operands; without kernels each task is a call of NumPy.  The bits of a product
depend on its shape and items only, not on threads, cores, load, or the layout of the operands:

- Tasks depend on the shape alone: ranges of rows (or columns) that start at multiples of `GRAIN`.
- BLAS has separate kernels for small products of each pair of layouts: operands of such products are copied to row-major order
first.
- Products with a vector are sums of products in the order of sums (below).  So are products of small matrices, except in a batch
  (`graph.phases`), where BLAS is called for each.
- A matrix times its own transpose is symmetric, so a half is computed, in tiles, and copied.

Each product of a batch has the bits that it has alone; a task is then the same part of several products.
"""

from __future__ import annotations

import ctypes
import math
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.support import processes
from ...lang.support.records import dataclass, replace
from ...typechecker.elements import Kind
from ..cpu.kernels import Run
from ..cpu.parallel_for import SHARED_NANOSECONDS, ArgumentBlock, BufferRef, TaskLaunch
from ..cpu.phases import compile_structured
from ..cpu.views import DTYPES, NumArray, common_stride, model_array, start_of
from ..graph.phases import LibraryPhase, ValueId, frame_of, framed_of, sizes_of, sum_of_products, uses_ordered_sums
from ..graph.scratch import MIN_BLAS_SIDE
from ..jit import tiering
from ..jit.compiler import LruCache
from ..vm.run_state import pooled_empty, reshaped, trim
from ..vm.runtime import routine_address
from ..vm.specialization import NotSpecializable, OperandStarts, Specialization, specialize_structured
from .operation import Arrays, Operation, OperationCall, on_operands

# ---------------------------------------------------------------------------------------------------- BLAS
#
# The BLAS that NumPy was built with: the addresses of its products, and its number of threads.
#
# The threads of BLAS wait for each other by yielding to the scheduler, so that a product takes twenty times as long on a busy
# machine, and spin for a tenth of a second afterwards, which slows the device's threads.  Rho therefore cuts products itself, and
# sets BLAS to one thread (`alone`) while it computes.  The setting is global to the process: it is restored after the last
# product, and products of other code run on one thread until then.
#
# OpenBLAS with 64-bit integers is supported, as in NumPy's wheels; with any other library NumPy's own calls are used.

BLAS_ROUTINES: Final = ("sgemm", "dgemm", "cgemm", "zgemm", "ssyrk", "dsyrk", "csyrk", "zsyrk")
_AFFIXES: Final = (("scipy_", "64_"), ("", "64_"))
"""Prefixes and suffixes of OpenBLAS's 64-bit symbols: in NumPy's wheels, and in other builds."""


@dataclass(frozen=True, slots=True)
class Blas:
    """The addresses of products by name, and the functions that get and set the number of threads."""

    addresses: Mapping[str, int]
    threads: Callable[[], int]
    set_threads: Callable[[int], object]


@dataclass(frozen=True, slots=True)
class BlasLibrary:
    """The shared library, with the prefix and suffix of its symbols."""

    handle: ctypes.CDLL
    before: str
    after: str

    def function(self, name: str) -> Any:
        """Returns a function by its plain name.  Raises AttributeError."""
        return getattr(self.handle, f"{self.before}{name}{self.after}")

    def address(self, name: str) -> int | None:
        try:
            return ctypes.cast(self.function(name), ctypes.c_void_p).value
        except AttributeError:
            return None


@cache
def found_library() -> BlasLibrary | None:
    """Returns the OpenBLAS that NumPy has loaded; None for another BLAS."""
    module = getattr(getattr(np, "_core", None), "_multiarray_umath", None)
    path = getattr(module, "__file__", None)
    if path is None or os.name != "posix":
        return None
    try:
        handle = ctypes.PyDLL(path)
    except OSError:
        return None
    libraries = (BlasLibrary(handle, before, after) for before, after in _AFFIXES)
    return next((library for library in libraries if library.address("openblas_get_num_threads") is not None), None)


@cache
def blas() -> Blas | None:
    """Returns the BLAS of this process; None if it is not supported."""
    library = found_library()
    if library is None:
        return None
    addresses = {name: library.address(f"cblas_{name}") or 0 for name in BLAS_ROUTINES}
    try:
        asked, set_threads = library.function("openblas_get_num_threads"), library.function("openblas_set_num_threads")
    except AttributeError:
        return None
    asked.restype, asked.argtypes, set_threads.restype, set_threads.argtypes = ctypes.c_int, (), None, (ctypes.c_int,)
    return Blas(addresses, asked, set_threads) if all(addresses.values()) else None


class _Alone:
    """While an instance is alive, BLAS uses one thread."""

    __slots__ = ("__weakref__", "own")

    def __init__(self) -> None:
        self.own = weakref.ref(self)
        _enter(self.own)

    def __enter__(self) -> _Alone:
        return self

    def __exit__(self, *ignored: object) -> None:
        _leave(self.own)

    def __del__(self) -> None:
        _leave(self.own)


def alone(*ignored: object) -> _Alone:
    """Returns an object that keeps BLAS at one thread: as a context manager, or as long as it is referenced."""
    return _Alone()


_lock = processes.lock()
_held: set[weakref.ref[_Alone]] = set()
"""Weak references, so that an instance whose exit was interrupted does not count; the next exit restores the number of
threads."""
_before = 1


def _enter(reference: weakref.ref[_Alone]) -> None:
    global _before
    library = blas()
    with _lock:
        if library is not None:
            now = library.threads()
            if now > 1 or not _held:
                _before = now
            if now > 1:  # even if other code has set it since
                library.set_threads(1)
        _held.add(reference)


def _leave(reference: weakref.ref[_Alone]) -> None:
    library = blas()
    with _lock:
        if reference not in _held:
            return
        _held.discard(reference)
        _held.difference_update([other for other in _held if other() is None])
        if library is not None and not _held and _before > 1 and library.threads() == 1:
            library.set_threads(_before)


def _after_fork() -> None:
    """Drops the instances of threads that do not exist in a forked child."""
    library = blas() if _held else None
    if library is not None and _before > 1:
        library.set_threads(_before)
    _held.clear()


processes.in_children(_after_fork)


# -------------------------------------------------------------------------------------------------- sums of products of vectors
#
# Products with a vector, and of small matrices: sums of products in the order of sums.
#
# BLAS would sum in an order that depends on its threads, the cores of the machine and the layout of the matrix.  Each such
# product is therefore a structured phase, with the kernels, tiers and bits of `+/x×y`.

LEFT, RIGHT, RESULT = ValueId(-1), ValueId(-2), ValueId(-3)

Shape: TypeAlias = tuple[int, ...]


@lru_cache(256)
def _summation(kind: Kind, left: Shape, right: Shape, threads: int, mode: tiering.Mode) -> Run:
    """The sum of products of batches of matrices of these shapes, in the tier `mode`."""
    phase = sum_of_products(kind, sizes_of(left), sizes_of(right), 1, (LEFT, RIGHT, RESULT))
    return compile_structured(phase, lambda value: kind, lambda size: size.evaluate({}), threads)


def summed_products(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """Returns the products of two batches of matrices (or one for all) that are sums in order (`uses_ordered_sums`)."""
    count = max(len(left), len(right))
    first, second = [
        array if len(array) == count else np.broadcast_to(array, (count, *array.shape[1:])) for array in (left, right)
    ]
    (product,) = _summation(kind, first.shape, second.shape, threads, tiering.mode())({LEFT: first, RIGHT: second}, None)
    contiguous: NumArray = np.ascontiguousarray(product)
    return contiguous


# ---------------------------------------------------------------------------------------------------- matrix products

GRAIN: Final = 48
"""Rows and columns of tasks are multiples of this, as BLAS's own blocks are."""
_SPEED: Final = {Kind.F64: 25.0, Kind.F32: 50.0, Kind.C128: 6.0, Kind.C64: 12.0}
"""Multiplications a nanosecond on one thread, roughly."""
_ALONE: Final = 1 << 15
"""The least multiplications for which BLAS may use several threads."""
_WAYS: Final = 1 << 20
"""The most multiplications for which BLAS has a separate kernel for each pair of layouts."""
_PIECES: Final = ((1 << 30, 4), (1 << 33, 8), (1 << 36, 16), (1 << 39, 32))
"""(multiplications, tasks), ascending: more tasks pack an operand more often, fewer leave threads idle."""
_MOST_PIECES: Final = 64
_MOST_BLAS: Final = 1 << 31
_PIECES_A_THREAD: Final = 4
_TILE: Final = 192
_TURNED: Final = 1 << 23
"""Rows of a tile of a matrix times its transpose; the most multiplications that are one tile."""
WORDS: Final = (
    "left_form", "right_form", "rows", "columns", "shared", "left_pitch", "right_pitch", "pitch", "count",
    "left_next", "right_next", "next", "items", "function", "left", "right", "result", "mirror",
)  # fmt: skip
"""The argument block of a `product` of `vm/routines.c`, then an unused word.  Forms are BLAS's constants, pitches are in items;
the function and the last four are addresses."""
PLAIN, TRANSPOSED = 111, 112
PRODUCTS: Final = {Kind.F32: "s", Kind.F64: "d", Kind.C64: "c", Kind.C128: "z"}
"""The first letters of BLAS's functions, in the order of the argument `items`."""
Layout = tuple[tuple[int, ...], tuple[int, ...]]
"""(shape, strides) of a batch of matrices."""


@dataclass(frozen=True, slots=True)
class ProductSplit:
    """A task: some rows of the left operand and columns of the right one, of the products `first` to `last` of the batch.

    `mirrored`: of a matrix times its own transpose, so that the result is also that of its columns and rows."""

    rows: tuple[int, int]
    columns: tuple[int, int]
    first: int = 0
    last: int = 1
    mirrored: bool = False


@dataclass(frozen=True, slots=True)
class BoundProduct:
    """A product specialized to the layouts of its operands.

    The buffers of its launch (None: NumPy multiplies) are left, right and result.  `large`: BLAS is set to one thread meanwhile.
    """

    pieces: TaskLaunch | None
    cuts: tuple[ProductSplit, ...]
    large: bool


def products_of(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """Returns the products of two batches of float or complex matrices (or one for all), in pooled memory."""
    count, shared = max(len(left), len(right)) if len(left) and len(right) else 0, left.shape[2]
    shape = (count, left.shape[1], right.shape[2])
    if 0 not in (*shape, shared) and 1 in shape[1:]:
        return summed_products(kind, left, right, threads)
    result: NumArray = pooled_empty(shape, DTYPES[kind])
    if 0 in (*shape, shared) or shared == 1:  # sums of at most one product, for which NumPy does not call BLAS
        np.matmul(left, right, out=result)
        return result
    left, right = [array[:1] if array.strides[0] == 0 else array for array in (left, right)]
    distinct = result[: max(len(left), len(right))]
    if blas() is None:
        np.matmul(np.ascontiguousarray(left), np.ascontiguousarray(right), out=distinct)
    else:
        _products(kind, left, right, distinct, threads)
    if len(distinct) < count:
        result[len(distinct) :] = distinct
    return result


def _products(kind: Kind, left: NumArray, right: NumArray, result: NumArray, threads: int) -> None:
    mirrored = start_of(left) == start_of(right) and may_be_mirrored(left, right)
    if mirrored and not left.flags.aligned:  # NumPy would copy each operand
        left = left.copy("K")
    into_rows = needs_rows(kind, left, right, mirrored=mirrored)
    left, right = [_in_rows(array) if copied else array for array, copied in zip((left, right), into_rows, strict=True)]
    if mirrored:
        right = left.transpose(0, 2, 1)
    bound = bound_product(kind, left, right, threads, mirrored=mirrored)
    assert bound is not None
    with alone() if bound.large else nullcontext():
        if bound.pieces is not None:
            bound.pieces.run(_on(left, right, result))
            return
        if not mirrored and start_of(left) == start_of(right) and left.strides[1:] == right.strides[:0:-1]:
            left = left.copy("K")  # NumPy would take one of a batch for a matrix times its own transpose
        _by_numpy(bound.cuts, left, right, result)


def _on(*arrays: NumArray) -> list[int]:
    return [array.__array_interface__["data"][0] for array in arrays]


def _layout(array: NumArray) -> Layout:
    return array.shape, array.strides


def _in_rows(array: NumArray) -> NumArray:
    copy: NumArray = pooled_empty(array.shape, array.dtype)
    np.copyto(copy, array)
    return copy


def bound_product(kind: Kind, left: NumArray, right: NumArray, threads: int, *, mirrored: bool = False) -> BoundProduct | None:
    """Returns the product for these layouts; None if an operand must be copied to row-major order first, or is no batch of
    matrices.  `mirrored`: of each matrix and its own transpose."""
    key = (kind, left.shape, left.strides, right.shape, right.strides, threads, mirrored, tiering.mode() is tiering.Mode.OFF)
    return _kept.of(key, (), lambda: _bound(kind, _layout(left), _layout(right), threads, mirrored=mirrored))


_kept: Final[LruCache[BoundProduct | None]] = LruCache(256)


def batch_of(array: NumArray, depth: int) -> NumArray | None:
    """Returns an array as a batch of matrices, its first `depth` axes flattened; None if these are not evenly spaced."""
    step = common_stride(array.shape[:depth], array.strides[:depth])
    if step is None:
        return None
    shape, strides = (math.prod(array.shape[:depth]), *array.shape[depth:]), (step, *array.strides[depth:])
    return np.lib.stride_tricks.as_strided(array, shape, strides)


def needs_rows(kind: Kind, left: NumArray, right: NumArray, *, mirrored: bool) -> tuple[bool, bool]:
    """Returns for each of two batches whether it must be copied to row-major order first.

    Small tasks always need that order, others only if BLAS does not accept the layout.  A matrix that is multiplied by its own
    transpose is copied once, as the left operand.
    """
    key = (kind, left.shape, left.strides, right.shape, right.strides, mirrored)
    return _copied.of(key, (), lambda: _needs_rows(kind, _layout(left), _layout(right), mirrored=mirrored))


_copied: Final[LruCache[tuple[bool, bool]]] = LruCache(256)


def _needs_rows(kind: Kind, left: Layout, right: Layout, *, mirrored: bool) -> tuple[bool, bool]:
    (rows, shared), columns = left[0][1:], right[0][2]
    if mirrored:
        is_small = rows * rows * shared <= _TURNED
    else:
        parts = [_length(cut.rows) * _length(cut.columns) for cut in _cuts(kind, (rows, shared, columns))]
        is_small = min(parts) * shared <= _WAYS
    allowed = (PLAIN,) if is_small else (PLAIN, TRANSPOSED)
    first, second = [_form(layout, kind.bytes) for layout in (left, right)]
    return first is None or first[0] not in allowed, not mirrored and (second is None or second[0] not in allowed)


def _length(lines: tuple[int, int]) -> int:
    return lines[1] - lines[0]


def _bound(kind: Kind, left: Layout, right: Layout, threads: int, *, mirrored: bool = False) -> BoundProduct | None:
    count, (rows, shared), columns = max(left[0][0], right[0][0]), left[0][1:], right[0][2]
    if min(rows, shared, columns) < 2 or max(rows, shared, columns) >= _MOST_BLAS or blas() is None:
        return None
    work = rows * shared * columns
    duration = count * work / _SPEED[kind] / (1 + mirrored)
    if any(_needs_rows(kind, left, right, mirrored=mirrored)):
        return None
    each = _lower(rows, shared) if mirrored else _cuts(kind, (rows, shared, columns))
    wanted = min(_PIECES_A_THREAD * threads, int(duration / SHARED_NANOSECONDS)) if threads > 1 else 1
    parts = max(1, min(count, -(-wanted // len(each))))
    ends = [count * part // parts for part in range(parts + 1)]
    cuts = tuple([replace(cut, first=first, last=last) for first, last in pairwise(ends) for cut in each])
    blocks = tuple([_words(kind, left, right, cut) for cut in cuts])
    address = routine_address("product")
    pieces = TaskLaunch(address, blocks, 3, threads, duration) if address else None
    return BoundProduct(pieces, cuts, work >= _ALONE)


def _cuts(kind: Kind, shape: tuple[int, int, int]) -> list[ProductSplit]:
    """Returns the tasks, which depend on the shape alone."""
    rows, shared, columns = shape
    work = rows * shared * columns
    of_rows = 2 * rows >= columns
    size = rows if of_rows else columns
    most = next((pieces for limit, pieces in _PIECES if work < limit), _MOST_PIECES)
    count = min(most, int(work / _SPEED[kind] / SHARED_NANOSECONDS), size // GRAIN)
    if count < 2:
        return [ProductSplit((0, rows), (0, columns))]
    even = [(2 * size * part + count * GRAIN) // (2 * count * GRAIN) * GRAIN for part in range(count)]  # the nearest multiples
    bands = pairwise([*even, size])  # a task of a single row or column would be a product with a vector
    return [ProductSplit(band, (0, columns)) if of_rows else ProductSplit((0, rows), band) for band in bands]


def _lower(rows: int, shared: int) -> list[ProductSplit]:
    """Returns the tasks of a matrix times its own transpose: tiles of the lower half."""
    count = max(1, rows // _TILE) if rows * rows * shared > _TURNED else 1
    bands = [*pairwise([*(rows * tile // count // GRAIN * GRAIN for tile in range(count)), rows])]
    return [ProductSplit(band, other, mirrored=True) for at, band in enumerate(bands) for other in bands[: at + 1]]


# ------------------------------------------------------------------------------------------------ words


def _is_blasable(pitch: int, step: int, length: int, item: int) -> bool:
    """Returns whether BLAS accepts lines of `length` items that are `step` bytes apart, the lines being `pitch` bytes apart."""
    return step == item and pitch % item == 0 and length <= pitch // item < _MOST_BLAS


def _form(layout: Layout, item: int) -> tuple[int, int] | None:
    """Returns BLAS's constant for row or column order and the pitch in items; None if BLAS does not accept the layout."""
    (_, rows, columns), (_, down, across) = layout
    if _is_blasable(down, across, columns, item):
        return PLAIN, down // item
    return (TRANSPOSED, across // item) if _is_blasable(across, down, rows, item) else None


def _words(kind: Kind, left: Layout, right: Layout, cut: ProductSplit) -> ArgumentBlock:
    library = blas()
    assert library is not None
    first, second = _form(left, kind.bytes), _form(right, kind.bytes)
    assert first is not None
    assert second is not None
    columns, item = right[0][2], kind.bytes
    is_half = cut.mirrored and cut.rows == cut.columns
    steps = [layout[1][0] if layout[0][0] > 1 else 0 for layout in (left, right)]
    after = left[0][1] * columns * item
    words = [first[0], second[0], _length(cut.rows), _length(cut.columns), left[0][2], first[1], second[1], columns,
             cut.last - cut.first, *steps, after, list(PRODUCTS).index(kind),
             library.addresses[PRODUCTS[kind] + ("syrk" if is_half else "gemm")]]  # fmt: skip
    ahead = [
        cut.first * steps[0] + cut.rows[0] * left[1][1], cut.first * steps[1] + cut.columns[0] * right[1][2],
        cut.first * after + (cut.rows[0] * columns + cut.columns[0]) * item,
        cut.first * after + (cut.columns[0] * columns + cut.rows[0]) * item,
    ]  # fmt: skip
    addresses = list(enumerate(zip((0, 1, 2, 2), ahead, strict=True), WORDS.index("left")))
    return ArgumentBlock([*words, *[0] * (len(WORDS) - len(words) + 1)], addresses[: 3 + cut.mirrored])


# ---------------------------------------------------------------------------------------------- running


def _by_numpy(cuts: Sequence[ProductSplit], left: NumArray, right: NumArray, result: NumArray) -> None:
    for cut in cuts:
        some, down, across = slice(cut.first, cut.last), slice(*cut.rows), slice(*cut.columns)
        a, b = [array if len(array) == 1 else array[some] for array in (left, right)]
        part = result[some, down, across]
        np.matmul(a[:, down], b[:, :, across], out=part)
        if cut.mirrored and down != across:
            np.copyto(result[some, across, down], part.transpose(0, 2, 1))


def may_be_mirrored(left: NumArray, right: NumArray) -> bool:
    """Returns whether each matrix would be multiplied by its own transpose if both operands began at the same address."""
    if left.shape[1] != right.shape[2] or len(left) != len(right) or left.strides[1:] != right.strides[:0:-1]:
        return False
    return len(left) == 1 or left.strides[0] == right.strides[0]


# ---------------------------------------------------------------------------------------------------- contraction
#
# `+.×` by matrix multiplication: as above for floats and complex numbers, exact for integers.
#
# Note [Exact integer products].  BLAS has no integers, and NumPy's own loop is some twenty times slower.  If every sum of
# products stays below 2⁵³, the product in binary64 is exact.  Larger integers are split into limbs small enough for that; the
# products of limbs are added with two's complement wrapping, as the language defines.

_EXACT_BITS: Final = 53


def contract(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `contract`: sums of products over left's last and right's first axis."""
    left, right = call.batched(arrays)
    count = math.prod(call.frame)
    rows, columns, shared = left.shape[1:-1], right.shape[2:], left.shape[-1]
    a = left.reshape(len(left), math.prod(rows), shared)
    b = right.reshape(len(right), shared, math.prod(columns))
    kind = call.kind()
    if kind.is_integer:
        trim()
    if not (call.rank or kind.is_integer) and 0 not in (*a.shape, *b.shape) and uses_ordered_sums(*a.shape[1:], b.shape[2]):
        result = summed_products(kind, a, b, call.threads)
    elif len(b) == 1:  # the rows of all left cells form one matrix
        result = products(kind, a.reshape(1, len(a) * a.shape[1], shared), b, call.threads)
        result = reshaped(result, (len(a), a.shape[1], b.shape[2]))
    elif len(a) == b.shape[-1] == 1:  # a matrix times many vectors: the vectors, as rows, times the transpose
        result = products(kind, b[np.newaxis, :, :, 0], a.transpose(0, 2, 1), call.threads)[0][..., np.newaxis]
    else:
        result = products(kind, a, b, call.threads)
    if len(result) != count:
        result = np.broadcast_to(result, (count, *result.shape[1:])).copy()
    return call.unbatched(reshaped(result, (count, *rows, *columns)))


def product(kind: Kind, a: NumArray, b: NumArray, threads: int) -> NumArray:
    """Returns the product of two matrices."""
    result: NumArray = products(kind, a[np.newaxis], b[np.newaxis], threads)[0]
    return result


def products(kind: Kind, a: NumArray, b: NumArray, threads: int) -> NumArray:
    """Returns matrix products over one batch axis, in `kind`; float results are in pooled memory."""
    return _exact_product(a, b, threads) if kind.is_integer else products_of(kind, a, b, threads)


def _exact_product(a: NumArray, b: NumArray, threads: int) -> NumArray:
    """The exact product of integer matrices.  See Note [Exact integer products]."""
    if min(a.shape[-2], b.shape[-1]) < MIN_BLAS_SIDE or not a.size or not b.size:
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
    """Returns the least exponent e such that every magnitude is at most 2ᵉ."""
    return max(abs(int(items.min())), abs(int(items.max()))).bit_length()


def _count(bits: int, width: int) -> int:
    """Returns the number of limbs of `width` bits that hold magnitudes of `bits` bits."""
    return max(1, -(-bits // width))


def _limb(items: NumArray, limb: int, bits: int, width: int) -> NumArray:
    """Returns limb number `limb` in binary64, least significant first; the last one carries the sign."""
    part: NumArray = items.astype(np.int64, copy=False) >> (limb * width)
    if limb < _count(bits, width) - 1:
        part &= (1 << width) - 1
    return part.astype(np.float64)


# --------------------------------------------------------------------------------------- native code


def _bind_product(binding: Specialization, phase: LibraryPhase) -> None:
    """Specializes a product of float or complex matrices, of an array and a vector, or of the cells of a frame."""
    types, args, (value,), depth = binding.types, phase.args, phase.results, frame_of(phase)
    kind, arrays, sizes = types.kind(value), [binding.values[arg] for arg in args], [types.types[arg].shape for arg in args]
    if kind not in PRODUCTS or not all(len(shape) > depth for shape in sizes) or (depth and not all(framed_of(phase))):
        raise NotSpecializable
    rows, columns = math.prod(arrays[0].shape[depth:-1]), math.prod(arrays[1].shape[depth + 1 :])
    if 1 in (rows, columns) or (not depth and uses_ordered_sums(rows, arrays[0].shape[-1], columns)):
        specialize_structured(binding, sum_of_products(kind, sizes[0], sizes[1], depth, (args[0], args[1], value)))
        return
    if any(len(shape) - depth > 2 for shape in sizes):
        raise NotSpecializable
    batches = [batch for array in arrays if (batch := batch_of(array, depth)) is not None]
    if len(batches) < 2 or blas() is None or batches[0].shape[-1] == 1:
        raise NotSpecializable
    mirrored = False
    if may_be_mirrored(*batches):
        mirrored = start_of(batches[0]) == start_of(batches[1])
        binding.starts = OperandStarts.TOGETHER if mirrored else OperandStarts.APART
    bases: list[BufferRef] = [(binding.places[arg], 0) for arg in args]
    for operand, is_copied in enumerate(needs_rows(kind, *batches, mirrored=mirrored)):
        if is_copied:
            array, room = batches[operand], (binding.room(batches[operand].shape, batches[operand].dtype), 0)
            batches[operand] = model_array(array.shape, array.dtype)
            binding.copy(batches[operand], room, array, bases[operand])
            bases[operand] = room
    if mirrored:
        batches[1], bases[1] = batches[0].transpose(0, 2, 1), bases[0]
    bound = bound_product(kind, batches[0], batches[1], binding.threads, mirrored=mirrored)
    if bound is None or bound.pieces is None:
        raise NotSpecializable
    bases.append((binding.result(value, types.shape(value), DTYPES[kind]), 0))
    binding.guard = alone if bound.large else None
    binding.share(bound.pieces, bases)


CONTRACTING: Final[dict[str, Operation]] = {"contract": on_operands(contract, _bind_product, trims=False)}
