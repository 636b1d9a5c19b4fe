"""Definitions of functions of binary32 that compute in binary32, with twice as many lanes as binary64.

They are written for the abstract machine; a constant is rounded to binary32 once, where it meets a binary32 value, so that every
tier has the same bits.  exp, ln, tanh and erf compute in binary32; sine and cosine in binary64 with polynomials that are as long
as binary32 needs. tests/kernels/test_mathematics.py asserts the largest errors against binary64: 1.5 ulp.

Polynomials of least relative error (Remez's exchange), of tanh and erf around sixteen multiples of a step (some improved by
trying neighbouring numbers); those of sine and cosine are FreeBSD's msun.
"""

from __future__ import annotations

from typing import Any, Final

from .elementary import by_quarter
from .function_table import ScalarMachine

_SHIFT: Final = 12582912.0
"""1.5 × 2²³: added to a float below 2²² in magnitude, it leaves the nearest integer in the low bits."""
_BIAS: Final = 127
_MANTISSA: Final = (1 << 23) - 1
_LOG2_E: Final = 1.44269504088896341
_ROOT_HALF_BITS: Final = 0x3F3504F3
_LEAST_NORMAL: Final = 2.0**-126
_INFINITY: Final = float("inf")
NAN: Final = float("nan")


def _polynomial(m: ScalarMachine, x: Any, *coefficients: float) -> Any:
    """Horner's rule, lowest degree first."""
    value = m.fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        value = m.fma(value, x, coefficient)
    return value


_ROOTS: Final = tuple(2.0 ** (sixteenth / 16) for sixteenth in range(16))
_STEP: Final = 2.0**-4 * 0.6931471805599453
_STEP_HIGH: Final = 0.04332169890403747558593750
_STEP_LOW: Final = _STEP - _STEP_HIGH


def _power_parts(x: Any, bias: int, m: ScalarMachine) -> tuple[Any, Any]:
    """exp(x) divided by a power of two, and an integer whose bits above the low four are that power's exponent plus `bias`."""
    shifted = m.fma(x, 16 * _LOG2_E, _SHIFT + 16 * bias)
    rounded = shifted - (_SHIFT + 16 * bias)
    r = m.fma(rounded, -_STEP_LOW, m.fma(rounded, -_STEP_HIGH, x))
    series = m.fma(r * r, m.fma(r, 0.16667057664698254, 0.5000161864519915), r)
    exponent_bits = m.bits(shifted)
    root = m.lookup16(_ROOTS, exponent_bits)
    return m.fma(root, series, root), exponent_bits


def exp(x: Any, m: ScalarMachine) -> Any:
    """e to the x = 2ᵏ 2^(j÷16) exp(r), the second from sixteen."""
    value, exponent_bits = _power_parts(x, _BIAS, m)

    def other() -> Any:
        """Near the ends of the range: times 2 to about half of k, times 2 to the rest of it."""
        near = m.choose(x < -104.0, -104.0, m.choose(x > 89.0, 89.0, x))
        value, exponent_bits = _power_parts(near, 2 * _BIAS, m)
        half = exponent_bits >> 5
        return value * m.float_of(half << 23) * m.float_of(((exponent_bits >> 4) - half) << 23)

    return m.select_rare(m.magnitude(x) < 87.0, value * m.float_of((exponent_bits >> 4) << 23), other)


def _ln(x: Any, less: float, m: ScalarMachine) -> Any:
    """ln x for a normal positive x, minus `less` times ln 2: x = 2ᵏ (1 + f) with 1 + f between √½ and √2.

    The error of ln 2 in binary32 is a thirtieth of an ulp, so it needs no second part."""
    exponent = (m.bits(x) - _ROOT_HALF_BITS) & ~_MANTISSA
    k = m.number(exponent) - less * 2.0**23 if less else m.number(exponent)
    f = m.float_of(m.bits(x) - exponent) - 1.0
    p = _polynomial(m, f, -0.49999988346318075, 0.33333325689779664, -0.25001582961264435, 0.20001974073488404,
                    -0.16609082687265506, 0.14181822620253934, -0.1324298464919346, 0.12904447164771096,
                    -0.07621801190889291)  # fmt: skip
    return m.fma(k, 0.6931471805599453 / 2**23, m.fma(f * f, p, f))


def ln(x: Any, m: ScalarMachine) -> Any:
    """Natural logarithm."""

    def other() -> Any:
        value = _ln(m.choose(x < _LEAST_NORMAL, x * 2.0**25, x), 25.0, m)
        value = m.choose(x == 0.0, -_INFINITY, value)
        value = m.choose(x < 0.0, NAN, value)
        return m.choose(m.magnitude(x) < _INFINITY, value, m.choose(x < 0.0, NAN, x))

    return m.select_rare((x >= _LEAST_NORMAL) & (x < _INFINITY), _ln(x, 0.0, m), other)


_ERROR_STEP, _TANGENT_STEP = 8682 / 2**15, 9627 / 2**14
"""Distances between the points of polynomials, chosen so that the first values of the function are close to binary32 numbers."""
_ERROR: Final = (
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
_TANGENT: Final = (
    (0.0, 0.528156817, 0.825922787, 0.942810059, 0.981985629, 0.994402945, 0.998268485, 0.999465048, 0.999834776, 0.999948978,
     0.999984264, 0.999995112, 0.99999851, 0.999999523, 0.999999881, 0.99999994),
    (0.0, 0.721050382, 0.317851543, 0.11110919, 0.0357042626, 0.011162838, 0.00346008083, 0.00106963585, 0.000330389594,
     0.000102024787, 3.15029174e-05, 9.72714224e-06, 3.00342299e-06, 9.27356496e-07, 2.86336444e-07, 8.84110278e-08),
    (0.0, -0.380827814, -0.262521207, -0.104754724, -0.0350610539, -0.0111003602, -0.00345409103, -0.00106906425,
     -0.00033033517, -0.000102019636, -3.15024372e-05, -9.72710041e-06, -3.00342003e-06, -9.27356552e-07, -2.86336558e-07,
     -8.84110634e-08),
    (-0.333330929, -0.0392165221, 0.110872731, 0.0617274269, 0.0225280188, 0.00731728179, 0.00229474902, 0.000711946748,
     0.000220150658, 6.80061494e-05, 2.10009621e-05, 6.48466994e-06, 2.00227396e-06, 6.18237095e-07, 1.90890972e-07,
     5.8940703e-08),
    (0.0, 0.147661328, -0.00404234929, -0.0232868977, -0.0104361195, -0.0035761015, -0.00113933138, -0.000355181401,
     -0.0001099929, -3.3993103e-05, -1.04988785e-05, -3.24198095e-06, -1.00104103e-06, -3.09090211e-07, -9.54368602e-08,
     -2.94676994e-08),
    (0.133163407, -0.0487602837, -0.0265803188, 0.00384469796, 0.00353222922, 0.00136519852, 0.000449391227, 0.000141464829,
     4.39392643e-05, 1.35917653e-05, 4.19904381e-06, 1.29674845e-06, 4.00413626e-07, 1.23636241e-07, 3.81748926e-08,
     1.17871348e-08),
    (0.0, -0.0320316218, 0.0170360375, 0.00195595738, -0.000751403044, -0.000414116686, -0.000147077735, -4.73017353e-05,
     -1.47869978e-05, -4.58311024e-06, -1.41676855e-06, -4.37608435e-07, -1.35133789e-07, -4.17261852e-08, -1.28837723e-08,
     -3.97808675e-09),
    (-0.0505126193, 0.0287401937, -0.00321993511, -0.00189720606, -1.00432717e-05, 9.323009e-05, 3.95047064e-05,
     1.32680334e-05, 4.20021979e-06, 1.30679643e-06, 4.04440698e-07, 1.24967855e-07, 3.85944539e-08, 1.19174839e-08,
     3.67979447e-09, 1.13620369e-09),
)  # fmt: skip


def _by_segments(x: Any, most: float, step: float, rows: tuple[tuple[float, ...], ...], m: ScalarMachine) -> Any:
    """An odd function that is 1 from `most` on: a polynomial around the nearest of sixteen multiples of a step.

    Around 0 it is d + d × …, rounded once; d exceeds the first coefficient only there."""
    size = m.magnitude(x)
    size = m.choose(size > most, most, size)
    shifted = m.fma(size, 1.0 / step, _SHIFT)
    d = m.fma(shifted - _SHIFT, -step, size)
    piece = m.bits(shifted)
    value = m.lookup16(rows[-1], piece)
    for entries in reversed(rows[1:-1]):
        value = m.fma(value, d, m.lookup16(entries, piece))
    at = m.lookup16(rows[0], piece)
    return m.signed(m.fma(value, d, m.choose(d > at, d, at)), x)


def tanh(x: Any, m: ScalarMachine) -> Any:
    """The hyperbolic tangent."""
    return _by_segments(x, 9.1, _TANGENT_STEP, _TANGENT, m)


def erf(x: Any, m: ScalarMachine) -> Any:
    """The error function."""
    return _by_segments(x, 4.0, _ERROR_STEP, _ERROR, m)


def _sine_part(y: Any, z: Any, m: ScalarMachine) -> Any:
    p = _polynomial(m, z, -0.166666666416265235595, 0.0083333293858894631756, -0.000198393348360966317347,
                    0.0000027183114939898219064)  # fmt: skip
    return m.fma(z * y, p, y)


def _cosine_part(z: Any, m: ScalarMachine) -> Any:
    return _polynomial(m, z, 1.0, -0.499999997251031003120, 0.0416666233237390631894, -0.00138867637746099294692,
                       0.0000243904487962774090654)  # fmt: skip


_FAR: Final = 1.0e6
_WIDE_SHIFT: Final = 6755399441055744.0


def _circular(x: Any, m: ScalarMachine, name: str, quarter: int) -> Any:
    """The sine or cosine of a binary32 number, computed in binary64."""
    far = m.magnitude(x) > _FAR
    near = m.choose(far, 0.0, x)
    shifted = m.fma(near, 6.36619772367581382433e-01, _WIDE_SHIFT + quarter)
    rounded = shifted - (_WIDE_SHIFT + quarter)
    k = m.bits(shifted)
    y = m.fma(rounded, -6.123233995736766e-17, m.fma(rounded, -1.5707963267948966, near))
    z = y * y
    value = by_quarter(_sine_part(y, z, m), _cosine_part(z, m), k, m)
    if not quarter:
        value = m.choose(x == 0.0, x, value)
    return m.scalar_fallback(name, far, x, value)


def sin(x: Any, m: ScalarMachine) -> Any:
    """The sine."""
    return _circular(x, m, "sin", 0)


def cos(x: Any, m: ScalarMachine) -> Any:
    """The cosine."""
    return _circular(x, m, "cos", 1)
