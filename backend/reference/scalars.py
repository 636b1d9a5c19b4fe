"""One application of a scalar function to Python values, dispatched by compute kind.

`evaluate` follows `typechecker.elements` row by row; the tables below have a Python function for each row and kind.
Results are normalised to the result kind: integers wrap, f32 and c64 round once after each operation.
"""

from __future__ import annotations

import cmath
import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeAlias

from ...lang.diagnostics.model import Code
from ...typechecker.core.operations import Payload
from ...typechecker.elements import FUNCTIONS, Kind
from ..scalar.special import (
    INFINITY,
    NAN,
    NOT_A_NUMBER,
    Rounding,
    binomial,
    complex_binomial,
    complex_factorial,
    digamma,
    divide,
    exact,
    factorial,
    float_gcd,
    float_lcm,
    floor,
    greatest_common_divisor,
    least_common_multiple,
    lgamma,
    multiply,
    real_quotient,
    residue as complex_residue,
)
from ..vm.check_failures import CheckFailed, rho_number
from ..vm.values import NORMALISERS, integer_range, normalise, round_f32
from .arrays import InternalError

# ---------------------------------------------------------------------------------------------------- reals
#
# Integer and float definitions of the scalar functions: one small function per row of `typechecker.elements`.
#
# Integer functions return exact results (the caller wraps them); float functions compute in binary64 (the caller rounds
# to f32).  None raises: IEEE specials replace Python's exceptions.

def total(function: Callable[[float], float], overflow: float = INFINITY) -> Callable[[float], float]:
    """`function` that never raises: NaN for a domain error, `overflow` for an overflow."""

    def evaluate(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return NAN
        except OverflowError:
            return overflow

    return evaluate


# ------------------------------------------------------------------------ integers


def integer_residue(x: int, y: int) -> int:
    return y % x if x else y


def integer_power(x: int, y: int) -> int:
    """x to the y modulo 2⁶⁴, which every integer kind's width divides."""
    if y < 0:
        raise AssertionError("ipow has a negative exponent")
    return pow(x, y, 1 << 64)


INTEGER_MONADIC: Final[dict[str, Callable[[int], int]]] = {
    "neg": lambda x: -x,
    "sign": lambda x: (x > 0) - (x < 0),
    "abs": abs,
    "bnot": lambda x: ~x,
}

INTEGER_DYADIC: Final[dict[str, Callable[[int, int], int]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "ipow": integer_power,
    "min": min,
    "max": max,
    "residue": integer_residue,
    "gcd": math.gcd,
    "lcm": lambda x, y: x * (y // math.gcd(x, y)) if x and y else 0,
    "band": lambda x, y: x & y,
    "bor": lambda x, y: x | y,
    "bxor": lambda x, y: x ^ y,
}


def shifted(function: str, width: int, x: int, y: int) -> int:
    """y shifted by x bits modulo the width; as an unsigned number for a logical shift."""
    count = x % width
    if function == "shl":
        return y << count
    return (y if function == "shr" else y % (1 << width)) >> count


# -------------------------------------------------------------------------- floats


def sign(x: float) -> float:
    return NAN if math.isnan(x) else float((x > 0) - (x < 0))


def natural_log(x: float) -> float:
    return -INFINITY if x == 0 else total(math.log)(x)


def power(x: float, y: float) -> float:
    """IEEE pow."""
    odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INFINITY if x < 0 and odd else INFINITY
    except ValueError:
        if x != 0:
            return NAN
        return math.copysign(INFINITY, x) if odd else INFINITY


def log_base(x: float, y: float) -> float:
    if x == 2 or x == 10:
        if y == 0:
            return -INFINITY
        return total(math.log2 if x == 2 else math.log10)(y)
    return real_quotient(natural_log(y), natural_log(x))


def root(x: float, y: float) -> float:
    return total(math.sqrt)(y) if x == 2 else power(y, real_quotient(1.0, x))


def minimum(x: float, y: float) -> float:
    return NAN if math.isnan(x) or math.isnan(y) else x if x < y else y  # of equal zeros the second one, as in all back ends


def maximum(x: float, y: float) -> float:
    return NAN if math.isnan(x) or math.isnan(y) else x if x > y else y


def residue(x: float, y: float) -> float:
    if x == 0:
        return y
    return NAN if math.isinf(y) or math.isnan(y) or math.isnan(x) else y % x


def arctanh(x: float) -> float:
    return math.copysign(INFINITY, x) if abs(x) == 1 else total(math.atanh)(x)


def sinh(x: float) -> float:
    return total(math.sinh, math.copysign(INFINITY, x))(x)


def log1p(x: float) -> float:
    return -INFINITY if x == -1 else total(math.log1p)(x)


def phase(x: float) -> float:
    if math.isnan(x):
        return NAN
    return math.pi if x < 0 else 0.0


FLOAT_MONADIC: Final[dict[str, Callable[[float], float]]] = {
    "neg": lambda x: -x,
    "sign": sign,
    "reciprocal": lambda x: real_quotient(1.0, x),
    "abs": abs,
    "exp": total(math.exp),
    "ln": natural_log,
    "sqrt": total(math.sqrt),
    "factorial": factorial,
    "pi_times": lambda x: math.pi * x,
    "erf": math.erf,
    "erfc": math.erfc,
    "lgamma": lgamma,
    "digamma": digamma,
    "expm1": total(math.expm1),
    "log1p": log1p,
}

FLOAT_DYADIC: Final[dict[str, Callable[[float, float], float]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": real_quotient,
    "pow": power,
    "log": log_base,
    "root": root,
    "min": minimum,
    "max": maximum,
    "residue": residue,
    "binomial": binomial,
    "gcd": float_gcd,
    "lcm": float_lcm,
    "atan2": math.atan2,
}

FLOAT_CIRCULAR: Final[dict[int, Callable[[float], float]]] = {
    0: lambda x: total(math.sqrt)(1 - x * x),
    1: total(math.sin),
    2: total(math.cos),
    3: total(math.tan),
    4: lambda x: abs(x) if abs(x) > 2.0**27 else math.sqrt(1 + x * x),
    5: sinh,
    6: total(math.cosh),
    7: math.tanh,
    8: lambda x: NAN,
    9: lambda x: x,
    10: abs,
    11: lambda x: 0.0,
    12: phase,
    -1: total(math.asin),
    -2: total(math.acos),
    -3: math.atan,
    -4: lambda x: x if abs(x) > 2.0**27 else sign(x) * total(math.sqrt)(x * x - 1),
    -5: math.asinh,
    -6: total(math.acosh),
    -7: arctanh,
    -8: lambda x: NAN,
    -9: lambda x: x,
    -10: lambda x: x,
}


# ---------------------------------------------------------------------------------------------------- complexes
#
# Complex definitions of the scalar functions (c128, c64), with the principal values of `cmath` and Dyalog.
#
# Addition, multiplication and division are those of `scalar.special`.  Transcendental functions compute in binary64 and are
# rounded once by the caller.

def complex_total(function: Callable[[complex], complex]) -> Callable[[complex], complex]:
    """`function` that never raises: NaN for a domain error, infinities for an overflow."""

    def evaluate(z: complex) -> complex:
        try:
            return function(z)
        except (ValueError, ZeroDivisionError):
            return NOT_A_NUMBER
        except OverflowError:
            return complex(INFINITY, NAN)

    return evaluate


def exponential(z: complex) -> complex:
    try:
        return cmath.exp(z)
    except OverflowError:
        scale = FLOAT_MONADIC["exp"](z.real)
        return complex(scale * math.cos(z.imag), scale * math.sin(z.imag) if z.imag else 0.0)
    except ValueError:
        return NOT_A_NUMBER


def complex_natural_log(z: complex) -> complex:
    return complex(-INFINITY, 0.0) if z == 0 else complex_total(cmath.log)(z)


def complex_sign(z: complex) -> complex:
    return 0j if z == 0 else divide(z, complex(abs(z)))


def complex_power(x: complex, y: complex) -> complex:
    """Small whole exponents by repeated squaring, else exp(y × ln x)."""
    if y == 0:
        return complex(1)
    if x == 0:
        return 0j if y.real > 0 else NOT_A_NUMBER
    if y.imag == 0 and abs(y.real) < 100 and y.real == math.floor(y.real):
        exponent, base, product = abs(int(y.real)), x, complex(1)
        while exponent:
            if exponent & 1:
                product = multiply(product, base)
            base = multiply(base, base)
            exponent >>= 1
        return divide(complex(1), product) if y.real < 0 else product
    return exponential(multiply(y, complex_natural_log(x)))


def complex_root(x: complex, y: complex) -> complex:
    return complex_total(cmath.sqrt)(y) if x == 2 else complex_power(y, divide(complex(1), x))


def times_i(z: complex) -> complex:
    """z × 0J1."""
    return complex(-z.imag, z.real)


def hyperbolic_companion(z: complex) -> complex:
    """`¯4○z`: (z+1) × √(z-1)÷z+1, and 0 at ¯1."""
    return 0j if z == -1 else multiply(z + 1, cmath.sqrt(divide(z - 1, z + 1)))


def root_of_square(constant: int, factor: int, z: complex) -> complex:
    """√constant+factor×z²; where z² might overflow the constant is negligible."""
    if 2.0**500 < max(abs(z.real), abs(z.imag)) < math.inf:
        z = complex(math.ldexp(z.real, -762), math.ldexp(z.imag, -762))
        root = cmath.sqrt(factor * multiply(z, z))
        return complex(math.ldexp(root.real, 762), math.ldexp(root.imag, 762))
    return cmath.sqrt(constant + factor * multiply(z, z))


COMPLEX_MONADIC: Final[dict[str, Callable[[complex], complex]]] = {
    "conj": lambda z: complex(z.real, -z.imag),
    "neg": lambda z: complex(-z.real, -z.imag),
    "sign": complex_sign,
    "floor": floor,
    "ceil": lambda z: -floor(-z) + 0,
    "exp": exponential,
    "ln": complex_natural_log,
    "sqrt": complex_total(cmath.sqrt),
    "factorial": complex_factorial,
    "pi_times": lambda z: complex(math.pi * z.real, math.pi * z.imag),
}

COMPLEX_DYADIC: Final[dict[str, Callable[[complex, complex], complex]]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "pow": complex_power,
    "log": lambda x, y: divide(complex_natural_log(y), complex_natural_log(x)),
    "root": complex_root,
    "residue": complex_residue,
    "binomial": complex_binomial,
    "gcd": greatest_common_divisor,
    "lcm": least_common_multiple,
}

ROUNDED_DYADIC: Final[dict[str, Callable[[complex, complex, Rounding], complex]]] = {"mul": multiply, "div": divide}

COMPLEX_CIRCULAR: Final[dict[int, Callable[[complex], complex]]] = {
    0: lambda z: root_of_square(1, -1, z),
    1: complex_total(cmath.sin),
    2: complex_total(cmath.cos),
    3: complex_total(cmath.tan),
    4: lambda z: root_of_square(1, 1, z),
    5: complex_total(cmath.sinh),
    6: complex_total(cmath.cosh),
    7: complex_total(cmath.tanh),
    8: lambda z: root_of_square(-1, -1, z),
    -1: complex_total(cmath.asin),
    -2: complex_total(cmath.acos),
    -3: complex_total(cmath.atan),
    -4: hyperbolic_companion,
    -5: complex_total(cmath.asinh),
    -6: complex_total(cmath.acosh),
    -7: complex_total(cmath.atanh),
    -8: lambda z: -root_of_square(-1, -1, z),
    -9: lambda z: z,
    -10: lambda z: complex(z.real, -z.imag),
    -11: times_i,
    -12: lambda z: exponential(times_i(z)),
}

COMPLEX_TO_REAL: Final[dict[int, Callable[[complex], float]]] = {
    9: lambda z: z.real,
    10: lambda z: magnitude(z),
    11: lambda z: z.imag,
    12: cmath.phase,
}


def magnitude(z: complex) -> float:
    """hypot(re, im)."""
    return math.hypot(z.real, z.imag)


# ---------------------------------------------------------------------------------------------------- scalars

LARGEST_CODE_POINT: Final = 0x10FFFF

COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "lt": operator.lt, "le": operator.le, "eq": operator.eq, "ge": operator.ge, "gt": operator.gt, "ne": operator.ne,
}  # fmt: skip

BOOLEAN: Final[dict[str, Callable[[bool, bool], bool]]] = {
    "and": lambda x, y: x and y,
    "or": lambda x, y: x or y,
    "nand": lambda x, y: not (x and y),
    "nor": lambda x, y: not (x or y),
}


def evaluate(function: str, kind: Kind, args: Sequence[Payload], result_kind: Kind, parameter: int = 0) -> Payload:
    """The value of `function` for items of the compute kind `kind` (for `select`: that of the second operand)."""
    return meaning(function, kind, len(args), result_kind, parameter)(*args)


@functools.lru_cache(maxsize=1024)
def meaning(function: str, kind: Kind, arity: int, result_kind: Kind, parameter: int = 0) -> Callable[..., Payload]:
    """The Python function that computes `function` on items of `kind`, with its result normalised to `result_kind`."""
    row = FUNCTIONS.get(function)
    if row is None or row.arity != arity or kind not in row.kinds:
        raise InternalError(f"no scalar function {function} of {arity} × {kind.value}")
    if row.result_kind(kind, parameter) not in (None, result_kind):
        raise InternalError(f"{function} of {kind.value} cannot give {result_kind.value}")
    compute, normalised = _function(function, kind, arity, result_kind, parameter), NORMALISERS[result_kind]

    def apply(*args: Payload) -> Payload:
        return normalised(compute(*args))

    return apply


def _function(function: str, kind: Kind, arity: int, result_kind: Kind, parameter: int) -> Callable[..., Any]:
    match function:
        case "select":
            return lambda condition, x, y: x if condition else y
        case "convert":
            return lambda x: convert(kind, x, result_kind)
        case "convert_checked":
            return lambda x: convert_checked(kind, x, result_kind)
        case "not":
            return operator.not_
    if function in COMPARISONS:
        return COMPARISONS[function]
    if function in BOOLEAN:
        return BOOLEAN[function]
    if function in ("shl", "shr", "shru"):
        return lambda x, y: shifted(function, 8 * kind.bytes, x, y)
    if kind.is_integer:
        return INTEGER_MONADIC[function] if arity == 1 else INTEGER_DYADIC[function]
    if kind.is_complex:
        return _complex(function, kind, arity, parameter)
    if function in ("floor", "ceil"):
        return lambda x: to_integer(function, x)
    if function == "circular":
        return FLOAT_CIRCULAR[parameter]
    return FLOAT_MONADIC[function] if arity == 1 else FLOAT_DYADIC[function]


def _complex(function: str, kind: Kind, arity: int, parameter: int) -> Callable[..., Any]:
    if function == "circular":
        return COMPLEX_TO_REAL.get(parameter) or COMPLEX_CIRCULAR[parameter]
    if function == "abs":
        return magnitude
    rounded = round_f32 if kind is Kind.C64 else exact
    if function == "reciprocal":
        return lambda z: divide(complex(1), z, rounded)
    if function in ROUNDED_DYADIC:
        compute = ROUNDED_DYADIC[function]
        return lambda x, y: compute(x, y, rounded)
    return COMPLEX_MONADIC[function] if arity == 1 else COMPLEX_DYADIC[function]


def to_integer(function: str, value: float) -> int:
    """Floor or ceiling as an i64, checked."""
    result = (math.floor if function == "floor" else math.ceil)(value) if math.isfinite(value) else None
    low, high = integer_range(Kind.I64)
    if result is None or not low <= result <= high:
        raise CheckFailed(Code.E703, f"the {'floor' if function == 'floor' else 'ceiling'} of {rho_number(value)} is not an i64")
    return result


# --------------------------------------------------------------------- conversions


def integer_to_f32(value: int) -> float:
    """The binary32 nearest to an integer, rounded once (a sticky bit keeps binary64 from rounding first)."""
    shift = max(0, abs(value).bit_length() - 40)
    magnitude = abs(value) >> shift
    if magnitude << shift != abs(value):
        magnitude |= 1
    return math.copysign(round_f32(float(magnitude << shift)), value)


def convert(kind: Kind, value: Any, target: Kind) -> Payload:
    """The converted value; the conversion is exact up to rounding."""
    if kind is Kind.CHAR or target is Kind.CHAR:
        if kind is not target:
            raise InternalError(f"convert from {kind.value} to {target.value}")
        return value  # type: ignore[no-any-return]
    if target.is_integer or target is Kind.BOOL:
        low, high = integer_range(target)
        if not isinstance(value, int) or not low <= value <= high:
            raise InternalError(f"convert of {value!r} to {target.value} loses")
        return int(value)
    if target in (Kind.F32, Kind.C64) and isinstance(value, int):
        return integer_to_f32(int(value))
    if isinstance(value, complex) and not target.is_complex:
        raise InternalError(f"convert of {kind.value} to {target.value} loses")
    return value  # type: ignore[no-any-return]


def convert_checked(kind: Kind, value: Any, target: Kind) -> Payload:
    """The converted value; raises E703 where it does not fit."""
    if target is Kind.CHAR:
        if kind is Kind.CHAR:
            return str(value)
        code = _whole_number(value, target)
        if not 0 <= code <= LARGEST_CODE_POINT:
            raise CheckFailed(Code.E703, f"{rho_number(code)} is not a code point (0 to {LARGEST_CODE_POINT})")
        return chr(code)
    if kind is Kind.CHAR:
        value = ord(value)
    if target.is_integer or target is Kind.BOOL:
        number = _whole_number(value, target)
        low, high = integer_range(target)
        if not low <= number <= high:
            raise CheckFailed(
                Code.E703, f"{rho_number(number)} does not fit {target.value} ({rho_number(low)} to {rho_number(high)})"
            )
        return number
    if isinstance(value, complex) and not target.is_complex:
        if value.imag != 0:
            raise CheckFailed(
                Code.E703, f"{rho_number(value)} has an imaginary part, so it cannot be converted to {target.value}"
            )
        value = value.real
    result = integer_to_f32(int(value)) if target in (Kind.F32, Kind.C64) and isinstance(value, int) else normalise(target, value)
    for part, rounded in zip(_parts(value), _parts(result), strict=False):
        if math.isfinite(part) and not math.isfinite(rounded):
            raise CheckFailed(Code.E703, f"{rho_number(part)} is too large for {target.value}")
    return result


def _whole_number(value: Any, target: Kind) -> int:
    real, imaginary = _parts(value) if isinstance(value, complex) else (value, 0)
    if imaginary != 0 or (isinstance(real, float) and not (math.isfinite(real) and real == math.floor(real))):
        raise CheckFailed(Code.E703, f"{rho_number(value)} is not a whole number, so it cannot be converted to {target.value}")
    return int(real)


def _parts(value: Any) -> tuple[float, ...]:
    return (value.real, value.imag) if isinstance(value, complex) else (float(value),)


# ---------------------------------------------------------------------------------------------------- philox
#
# Philox4x32-10, the counter-based generator behind `key ? s`, in plain Python.
#
# Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC'11), and the known-answer
# vectors of the Random123 library.  Every back end must produce these bits.
#
# Note [Key and counter layout].  All words are unsigned 32-bit, `low` is bits 0..31 and `high` bits 32..63 of the
# two's complement i64.
#   * key words      = (low(k), high(k)) where k is the scalar key, or the first item of a pair.
#   * counter words  = (low(b), high(b), low(s), high(s)) where b = i >> 1 is the block of element i (row-major index in
#     the result) and s is the second item of a pair, 0 for a scalar key: so `k ? s` and `(k 0) ? s` agree.
#   * a block yields four words w0 w1 w2 w3; element i takes (w0, w1) if i is even, (w2, w3) if i is odd.
#   * the value of words (a, b) is ((a >> 5) × 2²⁶ + (b >> 6)) × 2⁻⁵³: 53 uniform bits in [0, 1).
# So any shard computes its own elements without the others.

MULTIPLIER_0: Final = 0xD2511F53
MULTIPLIER_1: Final = 0xCD9E8D57
WEYL_0: Final = 0x9E3779B9
WEYL_1: Final = 0xBB67AE85
ROUNDS: Final = 10
MASK: Final = 0xFFFFFFFF

Words4: TypeAlias = tuple[int, int, int, int]


def philox_block(counter: Words4, key: tuple[int, int]) -> Words4:
    """Ten rounds of the Philox4x32 bijection."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        product_0 = MULTIPLIER_0 * c0
        product_1 = MULTIPLIER_1 * c2
        c0, c1, c2, c3 = (product_1 >> 32) ^ c1 ^ k0, product_1 & MASK, (product_0 >> 32) ^ c3 ^ k1, product_0 & MASK
        k0, k1 = (k0 + WEYL_0) & MASK, (k1 + WEYL_1) & MASK
    return c0, c1, c2, c3


def uniform(key: int, stream: int, index: int) -> float:
    """Element `index` of the uniform sequence of `(key, stream)`."""
    block = index >> 1
    counter = (block & MASK, (block >> 32) & MASK, stream & MASK, (stream >> 32) & MASK)
    words = philox_block(counter, (key & MASK, (key >> 32) & MASK))
    first, second = words[2:] if index & 1 else words[:2]
    return ((first >> 5) * 67108864 + (second >> 6)) / 9007199254740992
