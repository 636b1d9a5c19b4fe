"""One application of a scalar function to Python values, dispatched by compute kind.

`evaluate` follows `typechecker.scalars` row by row; the tables of meanings are in `reals` and `complexes`.
Results are normalised to the result kind: integers wrap, f32 and c64 round once after each operation.

Neighbours: `interpret` (applies it element by element), `reductions` (reduces and scans with it).
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...lang.codes import Code
from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS
from ..run.failures import shown
from ..run.values import NORMALISERS, integer_range, normalise, round_f32
from ..scalar.gaussian import divide, exact
from . import complexes, reals
from .failures import CheckFailed, InternalError

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
    """`function` of items of the compute kind `kind` (for `select`: of the second operand)."""
    return meaning(function, kind, len(args), result_kind, parameter)(*args)


@functools.lru_cache(maxsize=1024)
def meaning(function: str, kind: Kind, arity: int, result_kind: Kind, parameter: int = 0) -> Callable[..., Payload]:
    """What `function` is on items of `kind`, its result normalised to `result_kind`."""
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
        return lambda x, y: reals.shifted(function, 8 * kind.bytes, x, y)
    if kind.is_integer:
        return reals.INTEGER_MONADIC[function] if arity == 1 else reals.INTEGER_DYADIC[function]
    if kind.is_complex:
        return _complex(function, kind, arity, parameter)
    if function in ("floor", "ceil"):
        return lambda x: whole(function, x)
    if function == "circular":
        return reals.FLOAT_CIRCULAR[parameter]
    return reals.FLOAT_MONADIC[function] if arity == 1 else reals.FLOAT_DYADIC[function]


def _complex(function: str, kind: Kind, arity: int, parameter: int) -> Callable[..., Any]:
    if function == "circular":
        return complexes.COMPLEX_TO_REAL.get(parameter) or complexes.COMPLEX_CIRCULAR[parameter]
    if function == "abs":
        return complexes.magnitude
    rounded = round_f32 if kind is Kind.C64 else exact
    if function == "reciprocal":
        return lambda z: divide(complex(1), z, rounded)
    if function in complexes.ROUNDED_DYADIC:
        compute = complexes.ROUNDED_DYADIC[function]
        return lambda x, y: compute(x, y, rounded)
    return complexes.COMPLEX_MONADIC[function] if arity == 1 else complexes.COMPLEX_DYADIC[function]


def whole(function: str, value: float) -> int:
    """Floor or ceiling as an i64, checked."""
    result = (math.floor if function == "floor" else math.ceil)(value) if math.isfinite(value) else None
    low, high = integer_range(Kind.I64)
    if result is None or not low <= result <= high:
        raise CheckFailed(Code.E703, f"the {'floor' if function == 'floor' else 'ceiling'} of {shown(value)} is not an i64")
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
    """A conversion that loses nothing but by rounding."""
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
    """A conversion that fails with E703 where the value does not fit."""
    if target is Kind.CHAR:
        if kind is Kind.CHAR:
            return str(value)
        code = _whole_number(value, target)
        if not 0 <= code <= LARGEST_CODE_POINT:
            raise CheckFailed(Code.E703, f"{shown(code)} is not a code point (0 to {LARGEST_CODE_POINT})")
        return chr(code)
    if kind is Kind.CHAR:
        value = ord(value)
    if target.is_integer or target is Kind.BOOL:
        number = _whole_number(value, target)
        low, high = integer_range(target)
        if not low <= number <= high:
            raise CheckFailed(Code.E703, f"{shown(number)} does not fit {target.value} ({shown(low)} to {shown(high)})")
        return number
    if isinstance(value, complex) and not target.is_complex:
        if value.imag != 0:
            raise CheckFailed(Code.E703, f"{shown(value)} has an imaginary part, so it cannot be converted to {target.value}")
        value = value.real
    result = integer_to_f32(int(value)) if target in (Kind.F32, Kind.C64) and isinstance(value, int) else normalise(target, value)
    for part, rounded in zip(_parts(value), _parts(result), strict=False):
        if math.isfinite(part) and not math.isfinite(rounded):
            raise CheckFailed(Code.E703, f"{shown(part)} is too large for {target.value}")
    return result


def _whole_number(value: Any, target: Kind) -> int:
    real, imaginary = _parts(value) if isinstance(value, complex) else (value, 0)
    if imaginary != 0 or (isinstance(real, float) and not (math.isfinite(real) and real == math.floor(real))):
        raise CheckFailed(Code.E703, f"{shown(value)} is not a whole number, so it cannot be converted to {target.value}")
    return int(real)


def _parts(value: Any) -> tuple[float, ...]:
    return (value.real, value.imag) if isinstance(value, complex) else (float(value),)
