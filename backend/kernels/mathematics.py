"""The functions that are no single instruction, defined once for every tier, in fused multiply-adds and divisions.

A definition is Python over values that know `+ - × ÷`, comparisons and integer operations: LLVM vectors (`math_text`) or CUDA
variables (`cuda_math`).  A multiplication is fused with an addition only where the definition says so, so that all give the same
bits.  NumPy phases call the compiled definitions (`backend.run.cpu.mathematics`): a phase may go from one tier to the other.

These compute in binary64; those of binary32 are in `single`.  Largest errors found against mpmath are asserted in
tests/kernels/test_mathematics.py: 1 ulp, and 2 for tanh and erf.

exp, ln, tanh: polynomials of least relative error (Remez's exchange in 160 bits, coefficients then rounded).  sin, cos:
coefficients of FreeBSD's msun (Sun Microsystems, 1993; freely usable with notice).  erf: a table of the function and its
derivative at multiples of 1/256, with a Taylor polynomial between.

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
    """What definitions need beside operators.  Values are opaque: floats, whole numbers as wide as they, and truths.

    `>>` of whole numbers brings in zeros.  Operands may be Python numbers where at least one is a value."""

    def fma(self, x: Any, y: Any, z: Any) -> Any:
        """x×y+z, rounded once."""
        ...

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        """`x` where the condition holds, else `y`; one of them may be a Python float."""
        ...

    def magnitude(self, x: Any) -> Any: ...
    def signed(self, size: Any, x: Any) -> Any:
        """|size| with the sign of x."""
        ...

    def bits(self, x: Any) -> Any:
        """The bits of a float as a whole number of its width."""
        ...

    def float_of(self, bits: Any) -> Any: ...
    def lookup(self, table: str, index: Any, start: int) -> Any:
        """The entries of a table of `error_table` at `index - start`, which is in range."""
        ...

    def pick(self, entries: tuple[float, ...], index: Any) -> Any:
        """Of sixteen entries of binary32 those that the low four bits of `index` name."""
        ...

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        """`value`, but the C library's function `name` of x where `where` holds (rarely)."""
        ...

    def usually(self, where: Any, value: Any, other: Callable[[], Any]) -> Any:
        """`value` where `where` holds, else `other()`, which is computed only if it is wanted somewhere."""
        ...


_SHIFT: Final = 6755399441055744.0
"""1.5 × 2⁵²: added to a float below 2⁵¹ in magnitude, it leaves the nearest whole number in the low bits."""
_SHIFT_BITS: Final = struct.unpack("<q", struct.pack("<d", _SHIFT))[0]
_BIAS: Final = 1023
_INFINITY: Final = float("inf")


def polynomial(m: Machine, x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    if len(coefficients) == 2:
        return m.fma(x, coefficients[1], coefficients[0])
    value = m.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = m.fma(value, x, coefficient)
    return value


def halves(m: Machine, x: Any, square: Any, *coefficients: float) -> Any:
    """The same by the even and the odd powers, which are independent of each other."""
    return m.fma(polynomial(m, square, *coefficients[1::2]), x, polynomial(m, square, *coefficients[::2]))


def quarters(m: Machine, x: Any, square: Any, *coefficients: float) -> Any:
    """The same in four: two more multiplications, and half the waiting."""
    even, odd = coefficients[::2], coefficients[1::2]
    fourth = square * square
    return m.fma(halves(m, square, fourth, *odd), x, halves(m, square, fourth, *even))


_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts; the first has so few digits that its multiples by exponents are exact."""
_LOG2_E: Final = 1.44269504088896338700


_BELOW = (0.5000000000000012, 0.166666666666667, 0.041666666666515244, 0.008333333333307177, 0.0013888888947066716,
          0.0001984126991744533, 2.4801489885625252e-05, 2.755721624537543e-06, 2.763130180713565e-07,
          2.511787870584534e-08)  # fmt: skip
"""(exp(r) - 1 - r) ÷ r² for |r| up to ½ ln 2."""
_ABOVE = (0.5000000000000004, 0.16666666666666052, 0.04166666666656552, 0.008333333334351642, 0.0013888888928899764,
          0.0001984126452718727, 2.4801640702156834e-05, 2.756486263586266e-06, 2.7258600508512966e-07,
          2.933875021628296e-08)  # fmt: skip
"""The same for r between ¯¼ ln 2 and ¾ ln 2, where it is to be added to r."""


def _power_series(x: Any, whole: Any, coefficients: tuple[float, ...], m: Machine) -> Any:
    """exp(r) - 1 with r = x - whole × ln 2."""
    high = m.fma(whole, -_LN2_HIGH, x)
    low = whole * _LN2_LOW
    r = high - low
    t = r * r
    return m.fma(t, halves(m, r, t, *coefficients), -low) + high


def exp(x: Any, m: Machine) -> Any:
    """e to the x: x = k ln 2 + r, times 2ᵏ.

    Adding more than the shift leaves exponents with their bias in the low bits, which a shift to the left makes floats."""
    shifted = m.fma(x, _LOG2_E, _SHIFT + _BIAS)
    y = _power_series(x, shifted - (_SHIFT + _BIAS), _BELOW, m) + 1.0

    def other() -> Any:
        """Near the ends of the range: times 2 to about half of k, times 2 to the rest of it."""
        near = m.choose(x < -746.0, -746.0, m.choose(x > 710.0, 710.0, x))
        shifted = m.fma(near, _LOG2_E, _SHIFT + 2 * _BIAS)
        half = m.bits(m.fma(near, _LOG2_E / 2, _SHIFT + _BIAS))
        y = _power_series(near, shifted - (_SHIFT + 2 * _BIAS), _BELOW, m) + 1.0
        return y * m.float_of(half << 52) * m.float_of((m.bits(shifted) - half) << 52)

    return m.usually(m.magnitude(x) < 708.0, y * m.float_of(m.bits(shifted) << 52), other)


_ONE_BITS: Final = _BIAS << 52
_ROOT_HALF_BITS: Final = struct.unpack("<q", struct.pack("<d", 0.7071067811865476))[0]
_MANTISSA: Final = (1 << 52) - 1
_WHOLE: Final = 2.0**52
_LEAST_NORMAL: Final = 2.0**-1022


def _ln(x: Any, less: float, m: Machine) -> Any:
    """Of a normal positive number, less a multiple of ln 2: x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    above = m.bits(x) + (_ONE_BITS - _ROOT_HALF_BITS)
    k = m.float_of((above >> 52) + struct.unpack("<q", struct.pack("<d", _WHOLE))[0]) - (_WHOLE + _BIAS + less)
    f = m.float_of((above & _MANTISSA) + _ROOT_HALF_BITS) - 1.0
    t = f * f
    p = quarters(m, f, t, 0.3333333333333314, -0.24999999999987976, 0.20000000000066617, -0.1666666666982584,
                 0.14285714280092862, -0.12499999691446956, 0.11111111147477944, -0.10000015206101559, 0.09090923931530051,
                 -0.08332913543675086, 0.0769152982538771, -0.07149439486001148, 0.06684589052366535, -0.061966784765715814,
                 0.056683779334960674, -0.05677784603507098, 0.06503491066056542, -0.059817016352003295,
                 0.026150922143760847)  # fmt: skip
    high = k * _LN2_HIGH
    total = high + f
    rest = m.fma(k, _LN2_LOW, f - (total - high))
    return m.fma(t, m.fma(f, p, -0.5), rest) + total


def ln(x: Any, m: Machine) -> Any:
    """Natural logarithm."""

    def other() -> Any:
        value = _ln(m.choose(x < _LEAST_NORMAL, x * 2.0**54, x), 54.0, m)
        value = m.choose(x == 0.0, -_INFINITY, value)
        value = m.choose(x < 0.0, (x - x) / (x - x), value)
        return m.choose(m.magnitude(x) < _INFINITY, value, m.choose(x == -_INFINITY, x - x, x))

    return m.usually((x >= _LEAST_NORMAL) & (x < _INFINITY), _ln(x, 0.0, m), other)


_FAR: Final = 1.0e6
"""Angles beyond this need more digits of π than are here."""


def _quarter_turns(x: Any, turn: int, m: Machine) -> tuple[Any, Any, Any]:
    """x less a multiple of π÷2, in two parts, and the multiple plus `turn` in the low bits of a word.

    π÷2 is taken away in three parts.  The second has so few digits that its multiples are exact, and what the second step rounds
    away is found by the third: an angle that is nearly a multiple keeps all its digits."""
    shifted = m.fma(x, 6.36619772367581382433e-01, _SHIFT + turn)
    whole = shifted - (_SHIFT + turn)
    t = m.fma(whole, -1.5707963267948966, x)
    r = m.fma(whole, -6.12323399538461e-17, t)
    low = m.fma(whole, -3.5215598651832e-27, m.fma(whole, -6.12323399538461e-17, t - r))
    y = r + low
    return y, (r - y) + low, m.bits(shifted)


def _sine_part(y: Any, rest: Any, z: Any, m: Machine) -> Any:
    p = polynomial(m, z, -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
                   2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)  # fmt: skip
    return m.fma(z * y, p, m.fma(z * -0.5, rest, rest)) + y


def _cosine_part(y: Any, rest: Any, z: Any, m: Machine) -> Any:
    p = polynomial(m, z, 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                   -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)  # fmt: skip
    w = m.fma(z, -0.5, 1.0)
    return m.fma(z * z, p, m.fma(y, -rest, m.fma(z, -0.5, 1.0 - w))) + w


def _circular(x: Any, m: Machine, name: str, turn: int) -> Any:
    far = m.magnitude(x) > _FAR
    y, rest, k = _quarter_turns(m.choose(far, 0.0, x), turn, m)
    z = y * y
    value = m.choose((k & 1) == 0, _sine_part(y, rest, z, m), _cosine_part(y, rest, z, m))
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
    """The hyperbolic tangent: e ÷ (e + 2) with e = exp(2|x|) - 1, corrected for the rounding of e + 2.

    Where e would be less than its parts, no power of two is taken out."""
    size = m.magnitude(x)
    size = m.choose(size > 20.0, 20.0, size)
    double = size + size
    shifted = m.fma(double, _LOG2_E, -0.25) + (_SHIFT + _BIAS)
    whole = shifted - (_SHIFT + _BIAS)
    power = m.float_of(m.bits(shifted) << 52)
    e = m.fma(power, _power_series(double, whole, _ABOVE, m), power - 1.0)
    y = 1.0 / (e + 2.0)
    q = e * y
    return m.signed(m.fma(m.fma(-q, e, m.fma(q, -2.0, e)), y, q), x)


def erf(x: Any, m: Machine) -> Any:
    """The error function: with r the nearest multiple of 1/256 to |x| and d the rest, Taylor's polynomial of degree 5 at r."""
    size = m.magnitude(x)
    shifted = m.fma(m.choose(size < 6.0, size, 6.0), float(STEPS_PER_UNIT), _SHIFT)
    whole, k = shifted - _SHIFT, m.bits(shifted)
    d = m.fma(whole, -1.0 / STEPS_PER_UNIT, m.choose(size > 6.0, 6.0, size))
    at, slope = m.lookup("value", k, _SHIFT_BITS), m.lookup("slope", k, _SHIFT_BITS)
    r = whole * (1.0 / STEPS_PER_UNIT)
    square = r * r
    c2 = m.fma(square, 2.0 / 3.0, -1.0 / 3.0)
    c3 = r * m.fma(square, -1.0 / 3.0, 0.5)
    c4 = polynomial(m, square, 0.1, -0.4, 2.0 / 15.0)
    rise = slope * d
    inner = m.fma(d, m.fma(d, m.fma(d, c4, c3), c2), -r) * d
    return m.signed(m.fma(rise, inner, m.fma(slope, d, at)), x)


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
