"""Bytes that transforms and linear algebra need while they run, what LAPACK and pocketfft take for themselves included.

Note [Transforms].  pocketfft holds twiddles and one line beside the line that it transforms.  A length n with a prime factor
beyond its root goes by Bluestein's convolution of length m, the least product of 2 3 5 7 11 that is at least 2n-1: the chirp (n),
its transform (m/2), the twiddles of m, and two lines of m; for real numbers a complex line of n too.  Of several lines it takes
two at once, in vectors, and an odd one while it still has their memory.  Where n is not known it is taken to be such a length,
and m to be at most 2.125 n.

Note [LAPACK].  NumPy hands each matrix of a stack to LAPACK in buffers of its own: operands, results, and the workspace that
LAPACK asks for.  Everything else is of whole stacks: `numpy.linalg.qr` works on a copy, and what `backend.library.linear` makes.

Neighbours: `registry` (whose rows name these rules), `backend.library.linear` and `transforms` (what is described);
`tests/backend/test_resident.py` measures them as the system does.
"""

from __future__ import annotations

from functools import cache

from ...typechecker.elements import Kind
from ...typechecker.sizes import ZERO, Size, capacity, maximum, minimum, number, product
from .cells import Operands

_ALWAYS_PACKED = 50
_LARGEST_FACTORED = 1 << 40
_BLOCK = 64
"""Columns that LAPACK works on at once."""
_WHOLE = frozenset({Kind.F64, Kind.C128})


# ------------------------------------------------------------------------------------------ transforms


def transform(op: Operands) -> Size:
    """`fft ifft rfft irfft` of lines, one after the other.  See Note [Transforms]."""
    kind, result = op.kind(0), op.results[0].element.kind
    cast = ZERO if kind in _WHOLE else op.items(0) * (16 if kind.is_complex else 8)
    kept = ZERO if result in _WHOLE else op.made() * (16 if result.is_complex else 8)
    real = not (kind.is_complex and result.is_complex)
    *frame, line = op.results[0].shape if kind.is_complex else op.args[0].shape
    length, lanes = capacity(line), 1 if product(capacity(size) for size in frame).constant in (0, 1) else 2
    if length.constant is not None:
        return cast + kept + number(_line_bytes(length.constant, real, lanes))
    return cast + kept + length * (16 * (5 + real + 5 * lanes))


def _line_bytes(length: int, real: bool, lanes: int) -> int:
    if length < _ALWAYS_PACKED or (length < _LARGEST_FACTORED and _largest_factor(length) ** 2 <= length):
        return 2 * lanes * length * (8 if real else 16)
    convolved = _smooth(2 * length - 1)
    return 16 * (length * (1 + real * lanes) + convolved // 2 + (1 + 2 * lanes) * convolved + 8)


@cache
def _largest_factor(length: int) -> int:
    """The largest prime factor."""
    rest, divisor, largest = length, 2, 1
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            rest, largest = rest // divisor, divisor
        divisor += 1 if divisor == 2 else 2
    return max(rest, largest)


@cache
def _smooth(least: int) -> int:
    """The least product of 2 3 5 7 11 that is not below."""
    best = 1 << (least - 1).bit_length()
    odd = [1]
    for prime in (3, 5, 7, 11):
        for value in list(odd):
            while (value := value * prime) < best:
                odd.append(value)
    for value in odd:
        power = -(-least // value)
        best = min(best, value << (power - 1).bit_length())
    return best


# -------------------------------------------------------------------------------------- linear algebra


class _Matrices:
    """A stack of matrices: `frame` of them, each `rows` by `columns`, of items of `width` bytes in binary64."""

    def __init__(self, op: Operands, which: int) -> None:
        self.op = op
        *frame, rows, columns = [capacity(size) for size in op.args[which].shape]
        self.rows, self.columns, self.frame = rows, columns, product(frame)
        self.least = minimum(rows, columns)
        self.complex = op.kind(which).is_complex
        self.width = 16 if self.complex else 8
        self.cell = rows * columns
        self.across, self.down = rows * self.least, self.least * columns
        self.panels = columns * _BLOCK

    def bytes(self, items: Size) -> Size:
        """So many items beside operands and results, and what narrower kinds are widened to."""
        op, wide = self.op, ZERO
        for which in range(len(op.args)):
            wide = wide if op.kind(which) in _WHOLE else wide + op.items(which) * self.width
        for result in op.results:
            made = product(capacity(size) for size in result.shape) * self.width
            wide = wide if result.element.kind in _WHOLE else wide + made
        return items * self.width + wide


def determinant(op: Operands) -> Size:
    a = _Matrices(op, 0)
    return a.bytes(a.cell + a.rows + a.frame)


def cholesky(op: Operands) -> Size:
    a = _Matrices(op, 0)
    return a.bytes(a.cell)


def qr(op: Operands) -> Size:
    a = _Matrices(op, 0)
    signs = a.frame * a.across  # Q with its signs while it has none yet
    return a.bytes(maximum(a.frame * a.cell + a.across + a.cell + a.panels, signs + a.frame * a.down))


def svd(op: Operands) -> Size:
    """By divide and conquer (`gesdd`)."""
    a = _Matrices(op, 0)
    work = a.least * a.least * 5 + a.least * (4 * _BLOCK)
    safe = a.frame * a.cell  # without what is not finite
    return a.bytes(maximum(safe + a.cell + a.across + a.down + work, a.frame * (a.across * 2 + a.down)))


def eigh(op: Operands) -> Size:
    """By divide and conquer (`syevd`, `heevd`)."""
    a = _Matrices(op, 0)
    return a.bytes(maximum(a.frame * a.cell + a.cell * 3 + a.rows * _BLOCK, a.frame * a.cell * 2))


def solve(op: Operands) -> Size:
    a = _Matrices(op, 1)
    return a.bytes(_solving(a, capacity(op.args[0].shape[-1])))


def inverse(op: Operands) -> Size:
    a = _Matrices(op, 0)
    identity = a.cell if a.rows == a.columns else ZERO
    return a.bytes(_solving(a, a.rows) + identity)


def _solving(a: _Matrices, right: Size) -> Size:
    """Square: the solution, then a factorisation that looks at the rank; else a factorisation, then its triangle is solved."""
    triangle, made = a.columns * a.columns, a.columns * right
    looked = a.frame * triangle + maximum(triangle + a.panels, a.frame * triangle)
    square = maximum(triangle + made + a.columns, a.frame * maximum(triangle, made), looked)
    if a.rows == a.columns:
        return square
    factored = a.frame * (a.cell + a.across) + maximum(a.across + a.cell + a.panels, a.frame * a.down)
    solved = a.frame * (a.across * (2 if a.complex else 1) + triangle + made) + triangle + made
    return maximum(square, factored, solved)
