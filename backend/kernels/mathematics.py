"""The functions that are no single instruction, defined once for every tier, in additions, multiplications and divisions.

A definition is Python over values that know `+ - × ÷`, comparisons and integer operations: LLVM vectors here (`Value`), NumPy
arrays in `backend.run.cpu.mathematics`.  No multiplication is contracted with an addition, so both give the same bits, and a
phase may go from one tier to the other while it runs.

These compute in binary64; those of binary32 are in `single`.  Largest errors found against mpmath are asserted in
tests/kernels/test_mathematics.py: 1 ulp, and 2 for tanh and erf.

exp: a polynomial by interpolation.  Methods and coefficients of ln, sin, cos: FreeBSD's msun (Sun Microsystems, 1993; freely
usable with notice).  tanh near 0: Cephes (S. Moshier).  erf: a table of the function and its derivative at multiples of 1/128,
with a Taylor polynomial between.

Neighbours: `scalar_text` (calls these), `error_table` (of erf), `build` (asks which functions there are).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from ...typechecker.elements import Kind
from . import single
from .error_table import STEPS_PER_UNIT


class Machine(Protocol):
    """What definitions need beside operators.  Values are opaque: floats, whole numbers as wide as they, and truths."""

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """`x` where the condition holds, else `y`; one of them may be a Python float."""
        ...

    def magnitude(self, x: Any) -> Any: ...
    def bits(self, x: Any) -> Any:
        """The bits of a float as a whole number of its width."""
        ...

    def float_of(self, bits: Any) -> Any: ...
    def lookup(self, table: str, index: Any) -> Any:
        """The entries of a table of `error_table` at indices that are in range."""
        ...

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        """`value`, but the C library's function `name` of x where `where` holds (rarely)."""
        ...


_SHIFT: Final = 6755399441055744.0
"""1.5 × 2⁵²: added to a float below 2⁵¹ in magnitude, it leaves the nearest whole number in the low bits."""
_SHIFT_BITS: Final = struct.unpack("<q", struct.pack("<d", _SHIFT))[0]
_ONE_BITS: Final = 1023 << 52
_INFINITY: Final = float("inf")


def _nearest(x: Any, m: Machine) -> tuple[Any, Any]:
    """The nearest whole number, as a float and as an integer."""
    shifted = x + _SHIFT
    return shifted - _SHIFT, m.bits(shifted) - _SHIFT_BITS


def _float(k: Any, m: Machine) -> Any:
    """A small integer as a float."""
    return m.float_of(k + _SHIFT_BITS) - _SHIFT


def _polynomial(x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    value = x * coefficients[-1] + coefficients[-2]
    for coefficient in reversed(coefficients[:-2]):
        value = value * x + coefficient
    return value


_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_LOG2_E: Final = 1.44269504088896338700


def exp(x: Any, m: Machine) -> Any:
    """e to the x: x = k ln 2 + r, exp(r) = 1 + r + r² P(r) with P's even and odd powers apart, scaled by 2ᵏ in two steps."""
    x = m.choose(x < -1000.0, -1000.0, m.choose(x > 1000.0, 1000.0, x))
    whole, k = _nearest(x * _LOG2_E, m)
    high = x - whole * _LN2_HIGH
    low = whole * _LN2_LOW
    r = high - low
    t = r * r
    even = _polynomial(t, 0.5000000000000001, 0.04166666666662404, 0.0013888888917258759, 2.4801521225986432e-05,
                       2.7620121717381933e-07)  # fmt: skip
    odd = _polynomial(t, 0.16666666666666669, 0.008333333333330055, 0.00019841269863088255, 2.7557268406190795e-06,
                      2.51004110820149e-08)  # fmt: skip
    y = ((t * (odd * r + even) - low) + high) + 1.0
    first = k >> 1
    return y * m.float_of((first << 52) + _ONE_BITS) * m.float_of(((k - first) << 52) + _ONE_BITS)


_ROOT_HALF_BITS: Final = struct.unpack("<q", struct.pack("<d", 0.7071067811865476))[0]
_EXPONENT_MASK: Final = -1 << 52
_LEAST_NORMAL: Final = 2.0**-1022


def ln(x: Any, m: Machine) -> Any:
    """Natural logarithm: x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    tiny = x < _LEAST_NORMAL
    scaled = m.choose(tiny, x * 2.0**54, x)
    beyond = m.bits(scaled) - _ROOT_HALF_BITS
    f = m.float_of(m.bits(scaled) - (beyond & _EXPONENT_MASK)) - 1.0
    k = _float(beyond >> 52, m)
    k = m.choose(tiny, k - 54.0, k)
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    odd = w * _polynomial(w, 3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
    even = z * _polynomial(w, 6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01,
                           1.479819860511658591e-01)  # fmt: skip
    half = f * f * 0.5
    value = k * _LN2_HIGH - ((half - (s * (half + (even + odd)) + k * _LN2_LOW)) - f)
    value = m.choose(x == 0.0, -_INFINITY, value)
    value = m.choose(x < 0.0, (x - x) / (x - x), value)
    return m.choose(m.magnitude(x) < _INFINITY, value, m.choose(x == -_INFINITY, x - x, x))


_FAR: Final = 1.0e6
"""Angles beyond this need more digits of π than are here."""


def _quarter_turns(x: Any, m: Machine) -> tuple[Any, Any, Any]:
    """x less a multiple of π÷2, in two parts, and the multiple."""
    whole, k = _nearest(x * 6.36619772367581382433e-01, m)
    t = x - whole * 1.57079632673412561417e00
    w = whole * 6.07710050630396597660e-11
    r = t - w
    w = whole * 2.02226624879595063154e-21 - ((t - r) - w)
    y = r - w
    return y, (r - y) - w, k


def _sine_part(y: Any, rest: Any) -> Any:
    z = y * y
    v = z * y
    r = _polynomial(z, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                    -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
    return y - ((z * (rest * 0.5 - v * r) - rest) - v * -1.66666666666666324348e-01)


def _cosine_part(y: Any, rest: Any) -> Any:
    z = y * y
    r = z * _polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
    half = z * 0.5
    w = 1.0 - half
    return w + (((1.0 - w) - half) + (z * r - y * rest))


def _circular(x: Any, m: Machine, name: str, turn: int) -> Any:
    far = m.magnitude(x) > _FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), m)
    k = k + turn
    value = m.choose((k & 1) == 0, _sine_part(y, rest), _cosine_part(y, rest))
    value = m.choose((k & 2) == 0, value, -value)
    if not turn:
        value = m.choose(x == 0.0, x, value)
    return m.patch(name, far, x, value)


def sin(x: Any, m: Machine) -> Any:
    """The sine."""
    return _circular(x, m, "sin", 0)


def cos(x: Any, m: Machine) -> Any:
    """The cosine."""
    return _circular(x, m, "cos", 1)


def tanh(x: Any, m: Machine) -> Any:
    """The hyperbolic tangent: a rational function below 0.625, 1 - 2÷(1 + exp 2|x|) above."""
    size = m.magnitude(x)
    z = x * x
    p = _polynomial(z, -1.61468768441708447952e03, -9.92877231001918586564e01, -9.64399179425052238628e-01)
    q = _polynomial(z, 4.84406305325125486048e03, 2.23548839060100448583e03, 1.12811678491632931402e02, 1.0)
    near = x + x * (z * (p / q))
    far = 1.0 - 2.0 / (exp(size + size, m) + 1.0)
    value = m.choose(size < 0.625, near, m.choose(x < 0.0, -far, far))
    return m.choose(x == 0.0, x, value)


def erf(x: Any, m: Machine) -> Any:
    """The error function: with r the nearest multiple of 1/128 to |x| and d the rest, Taylor's polynomial of degree 6 at r."""
    size = m.magnitude(x)
    size = m.choose(size < 6.0, size, 6.0)
    whole, k = _nearest(size * float(STEPS_PER_UNIT), m)
    r = whole * (1.0 / STEPS_PER_UNIT)
    d = size - r
    at, slope = m.lookup("value", k), m.lookup("slope", k)
    square = r * r
    c2 = square * (2.0 / 3.0) - 1.0 / 3.0
    c3 = r * (0.5 - square * (1.0 / 3.0))
    c4 = square * (square * (2.0 / 15.0) - 0.4) + 0.1
    c5 = r * (square * (2.0 / 9.0 - square * (2.0 / 45.0)) - 1.0 / 6.0)
    inner = d * (d * (d * (d * (d * c5 + c4) + c3) + c2) - r)
    value = at + (slope * d + slope * d * inner)
    value = m.choose(x < 0.0, -value, m.choose(x > 0.0, value, x))
    return m.choose(m.magnitude(x) < 1e-300, x * 1.12837916709551257390, value)


Compute: TypeAlias = Callable[[Any, Machine], Any]


@dataclass(frozen=True, slots=True)
class Definition:
    """`compute` on values of `kind`, to which an operand is converted and from which the result is."""

    compute: Compute
    kind: Kind


DEFINITIONS: Final[dict[str, Compute]] = {"exp": exp, "ln": ln, "erf": erf}
CIRCULAR_DEFINITIONS: Final[dict[int, Compute]] = {1: sin, 2: cos, 7: tanh}
_SINGLE: Final[dict[tuple[str, int], Definition]] = {
    ("exp", 0): Definition(single.exp, Kind.F32), ("ln", 0): Definition(single.ln, Kind.F32),
    ("erf", 0): Definition(single.erf, Kind.F32), ("circular", 7): Definition(single.tanh, Kind.F32),
    ("circular", 1): Definition(single.sin, Kind.F64), ("circular", 2): Definition(single.cos, Kind.F64),
}  # fmt: skip
TRANSCENDENTAL: Final[frozenset[str]] = frozenset(DEFINITIONS) | {"circular"}


def definition(function: str, parameter: int, kind: Kind) -> Definition | None:
    """The definition of a scalar function on a kind, if it is one of these."""
    if kind is Kind.F32:
        return _SINGLE.get((function, parameter if function == "circular" else 0))
    if kind is not Kind.F64:
        return None
    found = CIRCULAR_DEFINITIONS.get(parameter) if function == "circular" else DEFINITIONS.get(function)
    return None if found is None else Definition(found, kind)
