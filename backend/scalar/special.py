"""Special functions of real and complex numbers that `math` lacks or raises on.

factorial, binomial, digamma, log-gamma, and the divisor functions on floats and Gaussian numbers; definitions in
`typechecker.elements`.  All are total: outside the domain the value is NaN or an infinity, never an exception.
"""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable
from typing import Final, TypeAlias

# ---------------------------------------------------------------------------------------------------- special

NAN: Final = math.nan
INFINITY: Final = math.inf
LARGEST_CENTRAL: Final = 1029  # C(2k, k) exceeds every binary64 for k above this
GCD_TOLERANCE: Final = 1e-10
GCD_STEPS: Final = 1000  # far more than Euclid needs on Gaussian integers of 64-bit parts


def is_whole(value: float) -> bool:
    """Is the float a finite whole number?"""
    return math.isfinite(value) and value == math.floor(value)


def float_of(value: int) -> float:
    """The float nearest to an integer of any size; an infinity beyond the range."""
    try:
        return float(value)
    except OverflowError:
        return INFINITY if value > 0 else -INFINITY


def real_quotient(x: float, y: float) -> float:
    """IEEE division."""
    if y != 0:
        return x / y
    if x == 0 or math.isnan(x):
        return NAN
    return math.copysign(INFINITY, x) * math.copysign(1.0, y)


# ------------------------------------------------------------------------- gamma


def factorial(x: float) -> float:
    """gamma(1 + x)."""
    if is_whole(x) and 0 <= x <= 170:
        return float(math.factorial(int(x)))
    if x > 170.7:
        return INFINITY
    try:
        shifted = 1 + x
        lost = x - (shifted - 1)  # the rounding error of the addition: gamma'(x) = gamma(x) × digamma(x)
        value = math.gamma(shifted)
        return value * (1 + lost * digamma(shifted)) if lost else value
    except ValueError:  # a pole, or -∞
        return NAN
    except OverflowError:
        return INFINITY if math.floor(x) % 2 or x > -1 else -INFINITY


NEAR_TWO: Final = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06,
    9.55141213040742e-07, -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10, -6.4229645638381e-11,
    3.1044247747322276e-11,
)  # fmt: skip
"""lgamma(2 + z) = z × (c₀ + c₁z + …): c₀ = 1 - Euler's constant, cₖ = (-1)^(k+1) × (zeta(k+1) - 1) ÷ (k+1)."""


def lgamma(x: float) -> float:
    """ln |gamma(x)|; near its zeros at 1 and 2 by a series without cancellation."""
    if 0.5 <= x <= 3.5:
        if x > 2.5:
            return math.log(x - 1) + _near_two(x - 3)
        if x > 1.5:
            return _near_two(x - 2)
        return _near_two(x - 1) - math.log1p(x - 1)
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):
        return INFINITY


def _near_two(z: float) -> float:
    """lgamma(2 + z) for |z| up to a half."""
    series = 0.0
    for coefficient in reversed(NEAR_TWO):
        series = series * z + coefficient
    return z * series


def gamma_sign(x: float) -> float:
    """The sign of gamma(x) away from its poles."""
    return 1.0 if x > 0 or math.floor(x) % 2 == 0 else -1.0


def digamma(x: float) -> float:
    """The derivative of ln gamma: reflection below 0, recurrence up to 10, then the asymptotic series (Abramowitz, 6.3.18)."""
    if math.isnan(x) or x == -INFINITY or (x <= 0 and is_whole(x)):
        return NAN
    if x == INFINITY:
        return INFINITY
    if x < 0:
        distance = x - round(x)  # exact, and small next to a pole
        return digamma(1 - x) - (math.pi / math.tan(math.pi * distance) if abs(distance) < 0.5 else 0.0)
    shift = 0.0
    while x < 10:
        shift += 1 / x
        x += 1
    inverse = 1 / (x * x)
    series = 0.0
    for coefficient in (-1 / 12, 691 / 32760, -1 / 132, 1 / 240, -1 / 252, 1 / 120, -1 / 12):
        series = inverse * (coefficient + series)
    return math.log(x) - 0.5 / x + series - shift


# ---------------------------------------------------------------------- binomial


def binomial(x: float, y: float) -> float:
    """`x!y`: the number of selections of x from y, extended to the plane."""
    if math.isnan(x) or math.isnan(y):
        return NAN
    if is_whole(x) and is_whole(y):
        return _whole_binomial(int(x), int(y))
    if is_whole(x) and x < 0:
        return 0.0
    if is_whole(x) and x <= 10000:
        product = 1.0
        for i in range(int(x)):
            product *= (y - i) / (i + 1)
        return product
    return _gamma_binomial(x, y)


def _whole_binomial(x: int, y: int) -> float:
    if x >= 0 and y >= 0:
        return _combinations(y, x)
    if x >= 0:
        return _signed(x, _combinations(x - y - 1, x))
    if y >= 0 or y < x:
        return 0.0
    return _signed(y - x, _combinations(-x - 1, y - x))


def _signed(power: int, value: float) -> float:
    return -value if power % 2 else value


def _combinations(n: int, k: int) -> float:
    if k > n:
        return 0.0
    k = min(k, n - k)
    return INFINITY if k > LARGEST_CENTRAL else float_of(math.comb(n, k))


def _gamma_binomial(x: float, y: float) -> float:
    difference = y - x
    if not (math.isfinite(x) and math.isfinite(y)) or (is_whole(y) and y < 0):
        return NAN
    if is_whole(difference) and difference < 0:
        return 0.0
    direct = [factorial(v) for v in (y, x, difference)]
    if all(math.isfinite(v) and v != 0 for v in direct) and math.isfinite(direct[1] * direct[2]):
        return direct[0] / (direct[1] * direct[2])
    exponent = lgamma(1 + y) - lgamma(1 + x) - lgamma(1 + difference)
    sign = gamma_sign(1 + y) * gamma_sign(1 + x) * gamma_sign(1 + difference)
    return sign * (math.exp(exponent) if exponent < 709.78 else INFINITY)


# ------------------------------------------------------------- complex factorial

_LANCZOS: Final = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip


def complex_factorial(z: complex) -> complex:
    """gamma(1 + z): Lanczos with g = 7 and nine terms, reflected where re(1 + z) < 0.5; real arguments by `factorial`."""
    if z.imag == 0:
        return complex(factorial(z.real))
    try:
        if z.real + 1 < 0.5:
            return math.pi / (cmath.sin(math.pi * (z + 1)) * complex_factorial(-z - 1))
        total = complex(_LANCZOS[0])
        for i, coefficient in enumerate(_LANCZOS[1:], 1):
            total += coefficient / (z + i)
        base = z + 7.5
        return math.sqrt(2 * math.pi) * cmath.exp((z + 0.5) * cmath.log(base) - base) * total
    except (ValueError, OverflowError, ZeroDivisionError):
        return complex(NAN, NAN)


def complex_binomial(x: complex, y: complex) -> complex:
    """`x!y` of complex numbers, by factorials; real arguments by `binomial`, whole x ≥ 0 by the product."""
    if x.imag == 0 and y.imag == 0:
        return complex(binomial(x.real, y.real))
    if x.imag == 0 and is_whole(x.real) and 0 <= x.real <= 10000:
        product = complex(1)
        for i in range(int(x.real)):
            product = product * (y - i) / (i + 1)
        return product
    if x.imag == 0 and is_whole(x.real) and x.real < 0:
        return 0j
    divisor = complex_factorial(x) * complex_factorial(y - x)
    return complex_factorial(y) / divisor if divisor != 0 else complex(NAN, NAN)


# ---------------------------------------------------------------------- divisors


def gcd_tolerance(x: float, y: float) -> float:
    """The remainder up to which Euclid's algorithm stops: relative to the smaller operand, but at least the rounding error of the
    larger one."""
    smaller, larger = min(x, y), max(x, y)
    return min(max(GCD_TOLERANCE * smaller, 8 * sys.float_info.epsilon * larger), smaller / 4)


def float_gcd(x: float, y: float) -> float:
    """Euclid's algorithm on magnitudes, until the remainder is negligible; for integers, until it is 0."""
    if not (math.isfinite(x) and math.isfinite(y)):
        return NAN
    x, y = abs(x), abs(y)
    tolerance = 0.0 if x.is_integer() and y.is_integer() else gcd_tolerance(x, y)
    while y > tolerance:
        x, y = y, math.fmod(x, y)
    return x


def float_lcm(x: float, y: float) -> float:
    if x == 0 or y == 0:
        return NAN if math.isnan(x) or math.isnan(y) else 0.0
    divisor = float_gcd(x, y)
    return NAN if math.isnan(divisor) or divisor == 0 else x * (y / divisor)


# ---------------------------------------------------------------------------------------------------- gaussian integers
#
# Arithmetic of complex numbers item by item, part by part: Python's own differs between versions.
#
# Every intermediate is rounded by `Rounding`: the identity for c128, binary32 for c64.

Rounding: TypeAlias = Callable[[float], float]
NOT_A_NUMBER: Final = complex(NAN, NAN)


def exact(x: float) -> float:
    """The rounding of c128: none beyond binary64's own."""
    return x


def multiply(x: complex, y: complex, rounded: Rounding = exact) -> complex:
    real = rounded(rounded(x.real * y.real) - rounded(x.imag * y.imag))
    return complex(real, rounded(rounded(x.real * y.imag) + rounded(x.imag * y.real)))


def divide(x: complex, y: complex, rounded: Rounding = exact) -> complex:
    """Quotient by Smith's method; division by exactly 0 divides each part by 0."""
    quotient = real_quotient
    if y == 0:
        return complex(quotient(x.real, 0.0), quotient(x.imag, 0.0))
    if abs(y.real) >= abs(y.imag):
        ratio = rounded(quotient(y.imag, y.real))
        scale = rounded(y.real + rounded(y.imag * ratio))
        real = rounded(x.real + rounded(x.imag * ratio))
        imaginary = rounded(x.imag - rounded(x.real * ratio))
    else:
        ratio = rounded(quotient(y.real, y.imag))
        scale = rounded(rounded(y.real * ratio) + y.imag)
        real = rounded(rounded(x.real * ratio) + x.imag)
        imaginary = rounded(rounded(x.imag * ratio) - x.real)
    return complex(rounded(quotient(real, scale)), rounded(quotient(imaginary, scale)))


def floor(z: complex) -> complex:
    """McDonnell's complex floor; a non-finite part stays unchanged."""
    if not (math.isfinite(z.real) and math.isfinite(z.imag)):
        return complex(*(real_floor(part) for part in (z.real, z.imag)))
    real, imaginary = real_floor(z.real), real_floor(z.imag)
    f, g = z.real - real, z.imag - imaginary
    if f + g < 1:
        return complex(real, imaginary)
    return complex(real + 1, imaginary) if f >= g else complex(real, imaginary + 1)


def real_floor(x: float) -> float:
    """The floor as a float, which keeps the sign of 0."""
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def residue(x: complex, y: complex) -> complex:
    return y if x == 0 else y - multiply(x, floor(divide(y, x)))


def greatest_common_divisor(x: complex, y: complex) -> complex:
    """The greatest common divisor by Euclid's algorithm with the complex residue, times a unit so that re > 0, im ≥ 0."""
    if not (cmath.isfinite(x) and cmath.isfinite(y)):
        return NOT_A_NUMBER
    tolerance = gcd_tolerance(abs(x), abs(y))
    for _ in range(GCD_STEPS):
        if abs(y) <= tolerance:
            break
        x, y = y, residue(y, x)
    else:
        return NOT_A_NUMBER  # rounding may keep numbers that are not whole from a common divisor
    for turned in (x, complex(-x.imag, x.real), -x, complex(x.imag, -x.real)):
        if turned.real > 0 and turned.imag >= 0:
            return complex(turned.real, turned.imag or 0.0)
    return 0j


def least_common_multiple(x: complex, y: complex) -> complex:
    if x == 0 or y == 0:
        return 0j
    return multiply(x, divide(y, greatest_common_divisor(x, y)))
