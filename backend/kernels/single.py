"""Functions of binary32 in binary32: the definitions of `mathematics` for the narrow kind, twice as many to a vector.

They are Python over the same values; a constant is rounded to binary32 where it meets one, once, so that every tier has the same
bits.  exp, ln, tanh and erf compute in binary32; sine and cosine in binary64 with polynomials that are as long as binary32 needs.
Largest errors found against binary64 are asserted in tests/kernels/test_mathematics.py: 1.5 ulp.

Polynomials of least relative error (Remez's exchange), of erf around sixteen multiples of a step (two of them improved by trying
neighbouring numbers); those of sine and cosine are
FreeBSD's msun.

Neighbours: `elementary`, `circles` (binary64), `mathematics` (who asks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .elementary import Machine

_SHIFT: Final = 12582912.0
"""1.5 × 2²³: added to a float below 2²² in magnitude, it leaves the nearest whole number in the low bits."""
_BIAS: Final = 127
_ONE_BITS: Final = _BIAS << 23
_MANTISSA: Final = (1 << 23) - 1
_LOG2_E: Final = 1.44269504088896341
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
_ROOT_HALF_BITS: Final = 0x3F3504F3
_LEAST_NORMAL: Final = 2.0**-126
_WHOLE, _WHOLE_BITS = 2.0**23, 0x4B000000
_INFINITY: Final = float("inf")
NAN: Final = float("nan")


def _polynomial(m: Machine, x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    value = m.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = m.fma(value, x, coefficient)
    return value


def _reduced(x: Any, whole: Any, m: Machine) -> Any:
    return m.fma(whole, -_LN2_LOW, m.fma(whole, -_LN2_HIGH, x))


def exp(x: Any, m: Machine) -> Any:
    """e to the x: as that of binary64."""
    x = m.choose(x < -104.0, -104.0, m.choose(x > 89.0, 89.0, x))
    shifted = m.fma(x, _LOG2_E, _SHIFT + 2 * _BIAS)
    whole = shifted - (_SHIFT + 2 * _BIAS)
    half = m.bits(m.fma(x, _LOG2_E / 2, _SHIFT + _BIAS))
    r = _reduced(x, whole, m)
    p = _polynomial(m, r, 0.5, 0.166665181517601, 0.04166620597243309, 0.008368900045752525, 0.0013950510183349252)
    y = m.fma(r * r, p, r) + 1.0
    return y * m.float_of(half << 23) * m.float_of((m.bits(shifted) - half) << 23)


def _ln(x: Any, less: float, m: Machine) -> Any:
    """Of a normal positive number, less a multiple of ln 2: x = 2ᵏ (1 + f) with 1 + f between √½ and √2."""
    above = m.bits(x) + (_ONE_BITS - _ROOT_HALF_BITS)
    k = m.float_of((above >> 23) + _WHOLE_BITS) - (_WHOLE + _BIAS + less)
    f = m.float_of((above & _MANTISSA) + _ROOT_HALF_BITS) - 1.0
    t = f * f
    p = _polynomial(m, f, 0.3333333134651184, -0.2500081956386566, 0.20001228153705597, -0.1662335991859436, 0.14201736450195312,
                    -0.13160139322280884, 0.1276167780160904, -0.07634705305099487)  # fmt: skip
    high = k * _LN2_HIGH
    total = high + f
    rest = m.fma(k, _LN2_LOW, f - (total - high))
    return m.fma(t, m.fma(f, p, -0.5), rest) + total


def ln(x: Any, m: Machine) -> Any:
    """Natural logarithm."""

    def other() -> Any:
        value = _ln(m.choose(x < _LEAST_NORMAL, x * 2.0**25, x), 25.0, m)
        value = m.choose(x == 0.0, -_INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < _INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.usually((x >= _LEAST_NORMAL) & (x < _INFINITY), _ln(x, 0.0, m), other)


def tanh(x: Any, m: Machine) -> Any:
    """The hyperbolic tangent: as that of binary64."""
    size = m.magnitude(x)
    size = m.choose(size > 10.0, 10.0, size)
    double = size + size
    shifted = m.fma(double, _LOG2_E, -0.25) + (_SHIFT + _BIAS)
    whole = shifted - (_SHIFT + _BIAS)
    r = _reduced(double, whole, m)
    p = _polynomial(m, r, 0.5, 0.166666641831398, 0.0416671559214592, 0.008333135396242142, 0.0013781037414446473,
                    0.0002304445515619591)  # fmt: skip
    power = m.float_of(m.bits(shifted) << 23)
    e = m.fma(power, m.fma(r * r, p, r), power - 1.0)
    y = 1.0 / (e + 2.0)
    q = e * y
    return m.signed(m.fma(m.fma(-q, e, m.fma(q, -2.0, e)), y, q), x)


_STEP: Final = 8682 / 2**15
"""Between the points of erf's polynomials: where the first ones' values are close to numbers of binary32."""
ERROR_FUNCTION: Final = (
    (0.0, 0.292117149, 0.54638505, 0.739030659, 0.866075516, 0.939001322, 0.975436926, 0.991281688, 0.997278929, 0.999254584,
     0.999821067, 0.999962389, 0.999993086, 0.999998868, 0.999999821, 1.0),
    (0.128379167, 1.0518831, 0.852127373, 0.599882483, 0.366988629, 0.195102885, 0.0901362523, 0.0361876152, 0.0126254,
     0.00382785173, 0.00100853271, 0.000230913793, 4.59446601e-05, 7.94411972e-06, 1.19366507e-06, 1.55854181e-07),
    (0.0, -0.278693736, -0.451540649, -0.476819456, -0.388941616, -0.258469939, -0.14329432, -0.0671171248, -0.0267608725,
     -0.00912729278, -0.00267177308, -0.000672820548, -0.000146014965, -2.73442911e-05, -4.42334476e-06, -6.19530624e-07),
    (-0.376121759, -0.301427156, -0.124541253, 0.0527009442, 0.152469411, 0.163238168, 0.121819496, 0.0709253177, 0.0336080641,
     0.0132346964, 0.0043835314, 0.00123047514, 0.000294234662, 6.01556385e-05, 1.05437375e-05, 1.59648971e-06),
    (0.0, 0.131738827, 0.182238862, 0.137440681, 0.0491219833, -0.0213848613, -0.0486453027, -0.043270234, -0.0267424304,
     -0.0128184808, -0.00497283135, -0.0015954274, -0.000428707543, -9.72767302e-05, -1.8744302e-05, -2.73602973e-06),
    (0.11213322, 0.077226311, -0.000595338643, -0.0588723049, -0.0660461858, -0.0373535827, -0.00556692714, 0.0107364235,
     0.0124853859, 0.00818432309, 0.0039196671, 0.00147699798, 0.000452592329, 0.000114837123, 2.43985214e-05, 6.12647136e-06),
)  # fmt: skip
"""By degree, the coefficients around each multiple of the step."""
_NEAR_ZERO: Final = (1.0,) + 15 * (0.0,)
"""What the second row lacks: there erf(d) = d + d × …, rounded once."""


def erf(x: Any, m: Machine) -> Any:
    """The error function: a polynomial around the nearest multiple of a step."""
    size = m.magnitude(x)
    size = m.choose(size > 4.0, 4.0, size)
    shifted = m.fma(size, 1.0 / _STEP, _SHIFT)
    d = m.fma(shifted - _SHIFT, -_STEP, size)
    place = m.bits(shifted)
    value = m.pick(ERROR_FUNCTION[-1], place)
    for entries in reversed(ERROR_FUNCTION[1:-1]):
        value = m.fma(value, d, m.pick(entries, place))
    at = m.fma(d, m.pick(_NEAR_ZERO, place), m.pick(ERROR_FUNCTION[0], place))
    return m.signed(m.fma(value, d, at), x)


def _sine_part(y: Any, z: Any, m: Machine) -> Any:
    p = _polynomial(m, z, -0.166666666416265235595, 0.0083333293858894631756, -0.000198393348360966317347,
                    0.0000027183114939898219064)  # fmt: skip
    return m.fma(z * y, p, y)


def _cosine_part(z: Any, m: Machine) -> Any:
    return _polynomial(m, z, 1.0, -0.499999997251031003120, 0.0416666233237390631894, -0.00138867637746099294692,
                       0.0000243904487962774090654)  # fmt: skip


_FAR: Final = 1.0e6
_WIDE_SHIFT: Final = 6755399441055744.0


def _circular(x: Any, m: Machine, name: str, turn: int) -> Any:
    """Of a binary32 number widened to binary64."""
    far = m.magnitude(x) > _FAR
    near = m.choose(far, 0.0, x)
    shifted = m.fma(near, 6.36619772367581382433e-01, _WIDE_SHIFT + turn)
    whole = shifted - (_WIDE_SHIFT + turn)
    k = m.bits(shifted)
    y = m.fma(whole, -6.123233995736766e-17, m.fma(whole, -1.5707963267948966, near))
    z = y * y
    value = m.choose((k & 1) == 0, _sine_part(y, z, m), _cosine_part(z, m))
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
