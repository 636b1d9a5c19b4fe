"""Square systems and factors of matrices by the LAPACK that NumPy was built with, one by one in memory that is kept.

Solutions are those of `numpy.linalg.solve` to the bit, and factors those of `numpy.linalg.qr`.  The condition of a system is
estimated besides, and tells nearly always at once that a matrix has full rank.

Neighbours: `blas` (whose library it is), `linear` (asks).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np

from ..run.cpu.kinds import NumArray
from .blas import found_library

_NAMES: Final = {"f": ("dlange", "dgesv", "dgecon", "dgeqrf", "dorgqr"), "c": ("dlange", "zgesv", "zgecon", "zgeqrf", "zungqr")}
_LEAST: Final = 1000 * 2.0**-52
"""Times the square of the rows: where the reciprocal of a condition is above this, the rank is full, also if the estimate is a
hundred times too high."""
_SHORT: Final = 32
"""Rows up to which the interpreter's lock is kept: giving it up takes longer."""


@cache
def _functions(kind: str, *, short: bool) -> Mapping[str, Callable[..., Any]] | None:
    """By name without its first letter; None where nothing is known of them."""
    library = found_library()
    if library is None:
        return None
    prototype = ctypes.PYFUNCTYPE if short else ctypes.CFUNCTYPE
    made: dict[str, Callable[..., Any]] = {}
    for name in _NAMES[kind]:
        address = library.address(f"{name}_")
        if address is None:
            return None
        made[name[1:]] = prototype(ctypes.c_double if name[1:] == "lange" else None)(address)
    return made


def _places(array: Any, count: int) -> list[ctypes.c_void_p]:
    """Of the first words of a ctypes array."""
    start = ctypes.addressof(array)
    return [ctypes.c_void_p(start + 8 * at) for at in range(count)]


def _pointer(array: NumArray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Square:
    """Systems with matrices of one size, one after the other."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], rows: int, columns: int, dtype: Any) -> None:
        self.norm, self.solve, self.condition = (functions[name] for name in ("lange", "gesv", "gecon"))
        self.factors, self.solution = np.empty((rows, rows), dtype, "F"), np.empty((rows, columns), dtype, "F")
        integers, numbers = (ctypes.c_int64 * 4)(rows, columns, 0, 0), (ctypes.c_double * 2)()
        pivots, work = np.empty(rows, np.int64), np.empty(4 * rows, dtype)
        others = np.empty(2 * rows, np.float64 if work.dtype.kind == "c" else np.int64)
        parts = (ctypes.c_int64 * 1)(rows * work.itemsize // 8)
        self.integers, self.numbers, self.held = integers, numbers, (pivots, work, others, parts)
        (size, wide, trouble), (norm, reciprocal) = _places(integers, 3), _places(numbers, 2)
        matrix, right, order, room, more = map(_pointer, (self.factors, self.solution, pivots, work, others))
        one, length = ctypes.c_char_p(b"1"), ctypes.c_size_t(1)
        (numbers_a_column,) = _places(parts, 1)
        self.normed = (one, numbers_a_column, size, matrix, numbers_a_column, room, length)
        """Of the parts of complex numbers: at most √2 times the norm, which is enough for an estimate."""
        self.solved = (size, wide, matrix, size, order, right, size, trouble)
        self.conditioned = (one, size, matrix, size, norm, reciprocal, room, more, trouble, length)
        self.least = _LEAST * rows * rows

    def run(self, a: NumArray, b: NumArray) -> bool | None:
        """Solve a +.× x = b for `solution`.  Is the rank surely full?  None: a pivot is 0, and there is no solution."""
        np.copyto(self.factors, a)
        np.copyto(self.solution, b)
        self.numbers[0] = self.norm(*self.normed)
        self.solve(*self.solved)
        if self.integers[2]:
            return None
        self.condition(*self.conditioned)
        return bool(self.numbers[1] > self.least)


def square(rows: int, columns: int, dtype: Any) -> Square | None:
    """For matrices of so many rows and so many right sides, of binary64 or complex128; None: LAPACK is not known here."""
    if not rows or not columns:
        return None
    functions = _functions(np.dtype(dtype).kind, short=rows <= _SHORT)
    return None if functions is None else Square(functions, rows, columns, dtype)


class Factors:
    """Matrices of one size as an orthogonal one, `q`, and a triangular one, `r` (what is below its diagonal is undefined)."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], rows: int, columns: int, dtype: Any) -> None:
        self.factor, self.generate = functions["geqrf"], functions["orgqr" if np.dtype(dtype).kind == "f" else "ungqr"]
        inner = min(rows, columns)
        self.whole, self.taus = np.empty((rows, columns), dtype, "F"), np.empty(inner, dtype)
        self.q, self.r = self.whole[:, :inner], np.empty((inner, columns), dtype)
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
        self.generate(*self.generated)


def factors(rows: int, columns: int, dtype: Any) -> Factors | None:
    """For matrices of one size, of binary64 or complex128; None: LAPACK is not known here."""
    if not rows or not columns:
        return None
    functions = _functions(np.dtype(dtype).kind, short=rows <= _SHORT)
    return None if functions is None else Factors(functions, rows, columns, dtype)
