"""Linear algebra on matrices (the last two axes) by LAPACK and `numpy.linalg`, and Fourier transforms.

Everything is computed in binary64 or complex128 and rounded once to the result's kind.  Signs follow the conventions of
`reference.linear`: R's diagonal is not negative; in each column of U and of eigenvectors the first of the items of largest
magnitude (within 1e-9) is real and positive.  A matrix without a result raises E703, as there; a matrix with a non-finite item
gives NaN from the iterative factorisations, which would not converge on it.  BLAS uses one thread for all of this: with more, the
bits would depend on the number of cores and on the load of the machine.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import cache
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...typechecker.elements import Kind
from ..cpu.parallel_for import ArgumentBlock, TaskLaunch
from ..cpu.views import DTYPES, NumArray
from ..graph.phases import LibraryPhase
from ..vm.check_failures import CheckFailed
from ..vm.run_state import reshaped
from ..vm.runtime import routine_address
from ..vm.specialization import NotSpecializable, Specialization
from .operation import Arrays, Function, Lowering, Operation, OperationCall, checked, on_operands
from .products import alone, found_library

# ---------------------------------------------------------------------------------------------------- LAPACK
#
# Square systems and QR factors by the LAPACK that NumPy was built with, one matrix after another in reused work space.
#
# Solutions are those of `numpy.linalg.solve` to the bit, and factors those of `numpy.linalg.qr`.  LAPACK's estimate of the
# condition number nearly always suffices to see that a matrix has full rank.

Shape: TypeAlias = tuple[int, ...]
_NAMES: Final = {"f": ("dgesv", "dgecon", "dgeqrf", "dorgqr"), "c": ("zgesv", "zgecon", "zgeqrf", "zungqr")}
_LEAST: Final = 1000 * 2.0**-52
"""A reciprocal condition number above this × rows² means full rank, even if the estimate is a hundred times too high."""
_SHORT: Final = 32
"""The most rows for which the interpreter lock is kept, since releasing it would take longer."""


@cache
def _functions(kind: str, *, short: bool) -> Mapping[str, Callable[..., Any]] | None:
    """Returns LAPACK's functions by name without the type letter; None if NumPy's LAPACK is an unknown build."""
    library = found_library()
    if library is None:
        return None
    prototype = ctypes.PYFUNCTYPE if short else ctypes.CFUNCTYPE
    routines: dict[str, Callable[..., Any]] = {}
    for name in _NAMES[kind]:
        address = library.address(f"{name}_")
        if address is None:
            return None
        routines[name[1:]] = prototype(None)(address)
    return routines


def _places(array: Any, count: int) -> list[ctypes.c_void_p]:
    """Returns pointers to the first `count` items of a ctypes array."""
    start = ctypes.addressof(array)
    return [ctypes.c_void_p(start + 8 * at) for at in range(count)]


def _pointer(array: NumArray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Square:
    """Solves systems with square matrices of one size in its own work space, by `solve` of `vm/routines.c`."""

    def __init__(self, rows: int, columns: int, dtype: Any) -> None:
        words = _system_words(rows, columns, np.dtype(dtype))
        self.space, self.solution = np.empty(_space_bytes(rows, columns, dtype), np.uint8), np.empty((rows, columns), dtype)
        self.block = (ctypes.c_int64 * (len(words) + 8))(*words, *[0] * 6, _start(self.solution), _start(self.space))
        prototype = ctypes.PYFUNCTYPE if rows <= _SHORT else ctypes.CFUNCTYPE
        self.function = prototype(ctypes.c_int64, ctypes.c_void_p)(routine_address("solve"))

    def run(self, a: NumArray, b: NumArray) -> bool | None:
        """Solves a +.× x = b into `solution`; returns whether the rank is certainly full, or None if a pivot is 0."""
        self.block[-8:-2] = [*a.strides, *b.strides, _start(a), _start(b)]
        code = self.function(self.block)
        return None if code == 1 else code == 0


def _start(array: NumArray) -> int:
    return int(array.__array_interface__["data"][0])


def _system_words(rows: int, columns: int, dtype: np.dtype[Any]) -> list[int]:
    """Returns the words of the argument block of `solve` (`vm/routines.c`) before strides and addresses; none without LAPACK."""
    functions = _functions(dtype.kind, short=True) if routine_address("solve") else None
    least = np.array(_LEAST * rows * rows).view(np.int64).item()
    calls = [] if functions is None else [_address(functions[name]) for name in ("gesv", "gecon")]
    return [rows, columns, dtype.itemsize, *calls, least] if calls else []


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _space_bytes(rows: int, columns: int, dtype: Any) -> int:
    return int(rows * (rows + columns + 4) * np.dtype(dtype).itemsize + 24 * rows)


def square(matrix: Shape, right: Shape, dtype: Any) -> Square | None:
    """Returns the solver for binary64 or complex128 numbers; None for other shapes, or without LAPACK or native runtime."""
    rows, columns = matrix[0], right[1] if len(right) == 2 else 1
    is_one = rows and columns and rows == matrix[1] and _system_words(rows, columns, np.dtype(dtype))
    return Square(rows, columns, dtype) if is_one else None


def _bind_system(binding: Specialization, phase: LibraryPhase) -> None:
    """Specializes a square system, or an inverse, of binary64 or complex128; Python runs those that may not have full rank."""
    types, (value,) = binding.types, phase.results
    *sides, matrix = [binding.values[arg] for arg in phase.args]
    dtype, shape = DTYPES[types.kind(value)], types.shape(value)
    rows, columns = len(matrix), prod(shape[1:])
    words = _system_words(rows, columns, dtype) if dtype in (np.float64, np.complex128) else []
    if not words or matrix.shape != (rows, rows) or any(array.dtype != dtype for array in (matrix, *sides)) or len(shape) > 2:
        raise NotSpecializable
    room = binding.room((_space_bytes(rows, columns, dtype),), np.dtype(np.uint8))
    buffers = [*(binding.places[arg] for arg in phase.args[::-1]), binding.result(value, shape, dtype), room]
    words += [stride for array in (matrix, *sides) for stride in (*array.strides, 0)[:2]] + [0, 0] * (not sides)
    first = len(words)
    places = (first, *[first + 1] * len(sides), first + 2, first + 3)
    block = ArgumentBlock([*words, *[0] * 5], [(at, (number, 0)) for number, at in enumerate(places)])
    work = rows * rows * (rows / 3 + columns) * (dtype.itemsize / 8) ** 2
    binding.guard = None if max(matrix.size, prod(shape)) < _ALONE else alone
    binding.share(TaskLaunch(routine_address("solve"), [block], len(buffers), 1, work), [(number, 0) for number in buffers])


class Factors:
    """QR factorisation of matrices of one size: orthogonal `q` and triangular `r`."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], rows: int, columns: int, dtype: Any) -> None:
        self.factor, self.generate = functions["geqrf"], functions["orgqr" if np.dtype(dtype).kind == "f" else "ungqr"]
        inner = min(rows, columns)
        self.whole, self.taus = np.empty((rows, columns), dtype, "F"), np.empty(inner, dtype)
        self.q, self.r = self.whole[:, :inner], np.empty((inner, columns), dtype)
        self.below = np.tri(inner, columns, -1, dtype=np.bool_)
        self.integers = (ctypes.c_int64 * 5)(rows, columns, inner, -1, 0)
        down, across, depth, room, trouble = _places(self.integers, 5)
        asked = np.empty(1, dtype)
        matrix, scales = _pointer(self.whole), _pointer(self.taus)
        most = 1
        for function, sizes in ((self.factor, (down, across)), (self.generate, (down, depth, depth))):
            function(*sizes, matrix, down, scales, _pointer(asked), room, trouble)
            most = max(most, int(asked[0].real))
        self.integers[3], self.work = most, np.empty(most, dtype)
        self.factored = (down, across, matrix, down, scales, _pointer(self.work), room, trouble)
        self.generated = (down, depth, depth, matrix, down, scales, _pointer(self.work), room, trouble)

    def run(self, a: NumArray) -> None:
        np.copyto(self.whole, a)
        self.factor(*self.factored)
        np.copyto(self.r, self.whole[: len(self.r)])
        np.copyto(self.r, 0.0, where=self.below)
        self.generate(*self.generated)


def factors(matrix: Shape, right: Shape, dtype: Any) -> Factors | None:
    """Returns the factorisation for binary64 or complex128 numbers; None without LAPACK."""
    rows, columns = matrix
    if not rows or not columns:
        return None
    functions = _functions(np.dtype(dtype).kind, short=rows <= _SHORT)
    return None if functions is None else Factors(functions, rows, columns, dtype)


# ---------------------------------------------------------------------------------------------------- operations

_EPSILON: Final = 2.0**-52
_NEAR: Final = 1 - 1e-9
_ALONE: Final = 1 << 12
"""The least items for which BLAS may use several threads."""
Work = Callable[..., tuple[Any, ...]]


_SINGULAR = "the matrix is singular"


def _library(
    work: Work, space: Callable[[Shape, Shape, Any], object] | None = None, lowering: Lowering | None = None
) -> Operation:  # fmt: skip
    """Returns a library operation that applies `work` to the operands as matrices in binary64 or complex128.

    `space(matrix, right side, dtype)`: makes LAPACK's work space for one matrix and right side of these shapes; None without
    LAPACK.  All matrices of a call share a small work space."""

    def meaning(call: OperationCall) -> Function:
        context, phase = call.context, call.phase
        shapes = [context.shape(result) for result in phase.results]
        dtypes = [DTYPES[context.kind(result)] for result in phase.results]
        operands = [context.shape(arg) for arg in phase.args]
        is_small = all(prod(shape) < _ALONE for shape in (*operands, *shapes))
        guard = nullcontext if is_small else alone
        kind = Kind.C128 if any(context.kind(arg).is_complex for arg in phase.args) else Kind.F64

        def make() -> tuple[object, ...]:
            if space is None:
                return ()
            is_single = len(operands[-1]) == 2 and len(operands[0]) <= 2
            return (space(operands[-1], operands[0], DTYPES[kind]) if is_single else None,)

        shared = make() if is_small else None

        def run(*arrays: NumArray) -> Arrays:
            depth = max(0, arrays[-1].ndim - 2)
            with guard():
                results = work(*(make() if shared is None else shared), *(_matrices(a, min(depth, a.ndim)) for a in arrays))
            return tuple(
                reshaped(np.asarray(result).astype(dtype, "C", copy=bool(shared)), shape)
                for result, dtype, shape in zip(results, dtypes, shapes, strict=True)
            )

        return checked(call, run)

    return Operation(meaning, lowering)


def _matrices(arg: NumArray, depth: int) -> NumArray:
    """Returns cells as matrices of binary64 or complex128: a vector is one column, a scalar 1 by 1."""
    shape = (*arg.shape, *[1] * (2 - (arg.ndim - depth)))
    return arg.reshape(shape).astype(np.complex128 if arg.dtype.kind == "c" else np.float64, copy=False)


def _adjoint(a: NumArray) -> NumArray:
    return np.swapaxes(a, -1, -2).conj()  # `conj` does not copy real arrays


# -------------------------------------------------------------------------------- linear equations


def _inverse(system: Square | None, a: NumArray) -> tuple[NumArray]:
    rows, columns = a.shape[-2:]
    if rows > columns and a.size:  # from the QR of the adjoint, without solving for an identity matrix
        q, r = np.linalg.qr(a)
        _check_rank(r)
        return (_square_solution(r, _adjoint(q), "the matrix has not full rank"),)
    return (_solution(system, a, np.broadcast_to(np.eye(rows, dtype=a.dtype), (*a.shape[:-2], rows, rows))),)


def _solve(system: Square | None, b: NumArray, a: NumArray) -> tuple[NumArray]:
    return (_solution(system, a, b),)


def _solution(system: Square | None, a: NumArray, b: NumArray) -> NumArray:
    """Returns x with a +.× x = b: exact for a square a, least squares for a tall one, least norm for a wide one."""
    rows, columns = a.shape[-2:]
    if not min(rows, columns) or not a.size:
        frame = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        return np.zeros((*frame, columns, b.shape[-1]), np.result_type(a, b))
    if rows == columns:
        return _full_rank_solution(system, a, b)
    if rows > columns:
        q, r = np.linalg.qr(a)
        _check_rank(r)
        return _square_solution(r, _adjoint(q) @ np.ascontiguousarray(b), "the matrix has not full rank")
    q, r = np.linalg.qr(_adjoint(a))
    _check_rank(r)
    return np.asarray(q @ _square_solution(_adjoint(r), b, "the matrix has not full rank"))


def _full_rank_solution(system: Square | None, a: NumArray, b: NumArray) -> NumArray:
    """As `_solution` for square matrices, with a rank check, since rounding can hide a zero pivot from the elimination."""
    full: bool | None = False
    if system is None:
        solution = _square_solution(a, b, _SINGULAR)
    else:
        full, solution = system.run(a, b), system.solution
        if full is None:
            raise CheckFailed(Code.E703, _SINGULAR)
    if not full:
        _check_rank(np.asarray(np.linalg.qr(a, "r")), _SINGULAR)
    return solution


def _square_solution(a: NumArray, b: NumArray, trouble: str) -> NumArray:
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        raise CheckFailed(Code.E703, trouble) from None


def _check_rank(r: NumArray, trouble: str = "the matrix has not full rank") -> None:
    """Raises E703 if a column depends on those before it: its pivot in R is of the order of rounding errors."""
    scale = np.abs(r).max(axis=-2, initial=0.0)
    pivots = np.abs(np.diagonal(r, axis1=-2, axis2=-1))
    if np.any(pivots <= scale * _EPSILON * r.shape[-2]):
        raise CheckFailed(Code.E703, trouble)


def _determinant(a: NumArray) -> tuple[NumArray]:
    return (np.asarray(np.linalg.det(a)),)


def _sign_and_log(a: NumArray) -> tuple[NumArray, NumArray]:
    sign, log = np.linalg.slogdet(a)
    return np.asarray(sign), np.asarray(log)


# ---------------------------------------------------------------------------------- factorisations


def _cholesky(a: NumArray) -> tuple[NumArray]:
    trouble = CheckFailed(Code.E703, "the matrix is not positive definite")
    if not a.size:
        return (a,)
    try:
        lower = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        raise trouble from None
    if not np.all(np.diagonal(lower, axis1=-2, axis2=-1).real > 0):
        raise trouble
    return (lower,)


def _qr(space: Factors | None, a: NumArray) -> tuple[NumArray, NumArray]:
    if space is None:
        q, r = np.linalg.qr(a)
    else:
        space.run(a)
        q, r = space.q, space.r
    _with_signs(q, r, np.einsum("...ii->...i", r[..., : r.shape[-2]]))
    return q, r


def _with_signs(q: NumArray, r: NumArray, diagonal: NumArray) -> None:
    """Flips signs in place so that R's diagonal (`diagonal`, a view of `r`) is not negative."""
    units, sizes = _units(diagonal), np.abs(diagonal)
    np.multiply(r, np.conjugate(units)[..., np.newaxis], out=r)
    diagonal[...] = sizes
    np.multiply(q, units[..., np.newaxis, :], out=q)


def _units(values: NumArray) -> NumArray:
    """Returns each value divided by its magnitude; 1 for 0."""
    sizes = np.abs(values)
    return np.where(sizes == 0, 1.0, values / np.where(sizes == 0, 1.0, sizes))


def _leading_units(columns: NumArray) -> NumArray:
    """Returns for each column of matrices the unit (`_units`) of its first item of largest magnitude."""
    if not columns.shape[-2]:
        return np.ones((*columns.shape[:-2], columns.shape[-1]), columns.dtype)
    sizes = np.abs(columns)
    places = np.argmax(sizes >= sizes.max(axis=-2, keepdims=True) * _NEAR, axis=-2)
    return _units(np.take_along_axis(columns, places[..., np.newaxis, :], -2)[..., 0, :])


def _svd(a: NumArray) -> tuple[NumArray, NumArray, NumArray]:
    rows, columns = a.shape[-2:]
    inner = min(rows, columns)
    frame = a.shape[:-2]
    if not a.size:
        return np.zeros((*frame, rows, inner)), np.zeros((*frame, inner)), np.zeros((*frame, inner, columns))
    u, s, v = _iterated(lambda m: np.linalg.svd(m, full_matrices=False), a)
    units = _leading_units(u)
    return u * np.conjugate(units)[..., np.newaxis, :], s, v * units[..., np.newaxis]


def _eigh(a: NumArray) -> tuple[NumArray, NumArray]:
    if not a.size:
        return np.zeros(a.shape[:-1]), a
    values, vectors = _iterated(lambda m: np.linalg.eigh(m, "L"), a)
    return values, vectors * np.conjugate(_leading_units(vectors))[..., np.newaxis, :]


def _iterated(factor: Callable[[NumArray], tuple[Any, ...]], a: NumArray) -> list[NumArray]:
    """Returns the factors; NaN for a matrix with a non-finite item (or whose iteration does not converge)."""
    bad = np.asarray(~np.isfinite(a).all(axis=(-2, -1)))
    safe = np.where(bad[..., np.newaxis, np.newaxis], 0.0, a) if bad.any() else a
    try:
        factors = [np.asarray(part) for part in factor(safe)]
    except np.linalg.LinAlgError:
        factors = [np.asarray(part) for part in factor(np.zeros_like(a))]
        bad = np.ones_like(bad)
    for part in factors if bad.any() else ():
        part[bad] = np.nan
    return factors


LINEAR: Final[dict[str, Operation]] = {
    "inverse": _library(_inverse, square, _bind_system), "solve": _library(_solve, square, _bind_system),
    "det": _library(_determinant), "slogdet": _library(_sign_and_log), "cholesky": _library(_cholesky),
    "qr": _library(_qr, factors), "svd": _library(_svd), "eigh": _library(_eigh),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- Fourier transforms
#
# Discrete Fourier transforms along the last axis, by `numpy.fft`, in complex128 and rounded once.

Transform = Callable[[NumArray, int], Any]


def _along_last(transform: Transform) -> Operation:
    """Returns the operation that applies `transform(lines, length of the result's lines)` along the last axis."""

    def run(call: OperationCall, arrays: Arrays) -> NumArray:
        arg = arrays[0]
        result = call.phase.results[0]
        shape, dtype = call.context.shape(result), DTYPES[call.context.kind(result)]
        if not arg.size or 0 in shape:
            return np.zeros(shape, dtype)
        wide = arg.astype(np.complex128 if arg.dtype.kind == "c" else np.float64, copy=False)
        moved = np.asarray(transform(wide, shape[-1]))
        return (moved if dtype.kind == "c" else moved.real).astype(dtype, copy=False)

    return on_operands(run)


TRANSFORMS: Final[dict[str, Operation]] = {
    "fft": _along_last(lambda lines, length: np.fft.fft(lines)),
    "ifft": _along_last(lambda lines, length: np.fft.ifft(lines)),
    "rfft": _along_last(lambda lines, length: np.fft.rfft(lines)),
    "irfft": _along_last(lambda lines, length: np.fft.irfft(lines, length)),
}
