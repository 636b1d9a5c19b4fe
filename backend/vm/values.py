"""Array values as Python objects, the arithmetic of storage kinds, and values as text.

An `Array` is a kind, a shape and the items in row-major order as plain Python values.  The reference interpreter
computes on it; the other back ends convert to and from it only where a value meets the outside in small amounts.

Invariants: `len(data)` is the product of `shape`; every item is normalised to its kind: bool is `bool`, integers are
`int` inside the kind's range, `f32` is a float that is exactly a binary32, `c64` is a complex of two such floats,
`char` is a one-character string.  Only conversions to and from NumPy import it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol

from ...lang.support.records import dataclass, require_invariant
from ...typechecker.core.operations import Payload
from ...typechecker.elements import Kind

# ---------------------------------------------------------------------------------------------------- values

INTEGER_BITS: Final = {Kind.U8: 8, Kind.I32: 32, Kind.I64: 64}

NUMPY_NAMES: Final = {
    Kind.BOOL: "bool", Kind.U8: "uint8", Kind.I32: "int32", Kind.I64: "int64", Kind.F32: "float32",
    Kind.F64: "float64", Kind.C64: "complex64", Kind.C128: "complex128", Kind.CHAR: "str",
}  # fmt: skip

_FILLS: Final[dict[Kind, Payload]] = {
    Kind.BOOL: False, Kind.U8: 0, Kind.I32: 0, Kind.I64: 0, Kind.F32: 0.0,
    Kind.F64: 0.0, Kind.C64: 0j, Kind.C128: 0j, Kind.CHAR: " ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Array:
    """`kind[shape]` with `data` in row-major order."""

    kind: Kind
    shape: tuple[int, ...]
    data: tuple[Payload, ...]

    def __post_init__(self) -> None:
        if len(self.data) != math.prod(self.shape):
            raise AssertionError(f"{len(self.data)} items do not fill shape {self.shape}")

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def item(self) -> Payload:
        """The only item of a scalar."""
        if len(self.data) != 1:
            raise AssertionError(f"shape {self.shape} has no single item")
        return self.data[0]


class ArrayLike(Protocol):
    """The interface of NumPy arrays that this package uses."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    def tolist(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a run: the printed values in order, and the outputs by name."""

    printed: tuple[Array, ...]
    outputs: dict[str, Array]


def fill_of(kind: Kind) -> Payload:
    """The prototype of a kind: 0, False or a blank."""
    return _FILLS[kind]


def wrap_integer(kind: Kind, value: int) -> int:
    """Two's complement (unsigned for u8) wrap of an exact integer."""
    bits = INTEGER_BITS[kind]
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if kind is not Kind.U8 and low >> (bits - 1) else low


def integer_range(kind: Kind) -> tuple[int, int]:
    """The least and the greatest value of bool, u8, i32 or i64."""
    if kind is Kind.BOOL:
        return 0, 1
    bits = INTEGER_BITS[kind]
    return (0, (1 << bits) - 1) if kind is Kind.U8 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def round_f32(value: float) -> float:
    """The nearest binary32, ties to even; an infinity beyond its range."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _complex_f32(value: Any) -> complex:
    wide = complex(value)
    return complex(round_f32(wide.real), round_f32(wide.imag))


def _character(value: Any) -> str:
    assert isinstance(value, str)
    require_invariant(len(value) == 1, "a character is one")
    return value


NORMALISERS: Final[dict[Kind, Callable[[Any], Payload]]] = {
    Kind.BOOL: bool,
    Kind.U8: partial(wrap_integer, Kind.U8),
    Kind.I32: partial(wrap_integer, Kind.I32),
    Kind.I64: partial(wrap_integer, Kind.I64),
    Kind.F32: lambda value: round_f32(float(value)),
    Kind.F64: float,
    Kind.C64: _complex_f32,
    Kind.C128: complex,
    Kind.CHAR: _character,
}


def normalise(kind: Kind, value: Payload) -> Payload:
    """A result of exact or binary64 arithmetic as an item of `kind`: integers wrap, `f32` and `c64` round."""
    return NORMALISERS[kind](value)


def array(kind: Kind, shape: Sequence[int], items: Iterable[Payload]) -> Array:
    """An array whose items are normalised to `kind`."""
    return Array(kind, tuple(shape), tuple(normalise(kind, item) for item in items))


def scalar(kind: Kind, item: Payload) -> Array:
    return array(kind, (), (item,))


def nested(value: Array) -> Any:
    """The items as nested lists (a scalar is its item; the last axis of text is a string)."""
    if value.kind is Kind.CHAR and value.rank:
        width = value.shape[-1]
        rows: list[Any] = ["".join(map(str, value.data[i * width : (i + 1) * width])) for i in range(math.prod(value.shape[:-1]))]
        return _nested_lists(rows, value.shape[:-1])
    return _nested_lists(list(value.data), value.shape)


def _nested_lists(items: list[Any], shape: Sequence[int]) -> Any:
    for axis in range(len(shape) - 1, 0, -1):
        size = shape[axis]
        count = math.prod(shape[:axis])
        items = [items[i * size : (i + 1) * size] for i in range(count)]
    return items if shape else items[0]


# --------------------------------------------------------------------------- NumPy


def kind_of_dtype(dtype: Any) -> Kind | None:
    """The kind that stores a NumPy dtype exactly, or None (`int16`, `float16`, dates, objects, records)."""
    known = _kinds.get(dtype)
    if known is not None:
        return known
    if dtype.kind == "U":
        return Kind.CHAR if dtype.itemsize <= 4 else None
    name = str(dtype.name)
    kind = next((kind for kind, numpy_name in NUMPY_NAMES.items() if numpy_name == name), None)
    if kind is not None:
        _kinds[dtype] = kind
    return kind


_kinds: dict[Any, Kind] = {}
"""A cache by dtype, because reading a dtype's name takes microseconds."""


def from_numpy(value: ArrayLike) -> Array:
    """An `Array` from a NumPy array; text is an array of one-character strings or of `uint32` code points by dtype `U1`."""
    kind = kind_of_dtype(value.dtype)
    if kind is None:
        raise TypeError(f"no element type stores {value.dtype}")
    shape = tuple(int(size) for size in value.shape)
    items: list[Any] = [value.tolist()]
    for _ in shape:
        items = [item for row in items for item in row]
    if kind is Kind.CHAR:
        items = [item if item else "\0" for item in items]  # NumPy strips a trailing NUL from U1
    return Array(kind, shape, tuple(items))


def to_numpy(value: Array) -> Any:
    """The NumPy array of the same kind and shape (text has dtype `U1`)."""
    import numpy

    dtype = "U1" if value.kind is Kind.CHAR else NUMPY_NAMES[value.kind]
    return numpy.array(value.data, dtype=dtype).reshape(value.shape)


# ---------------------------------------------------------------------------------------------------- text
#
# Values as text: numbers in APL notation, arrays as aligned rows.
#
# An integer shows all its digits.  A float shows at most `digits` significant digits (`⎕PP`, 10): plain between 1E¯6 and
# 10^digits, else with an exponent (an f32 counts as the shortest decimal that names it);
# `¯` is the minus; NaN is `NaN`, infinities `∞ ¯∞`; a complex number is `reJim` and its real part alone when im = 0.
# In an array of rank 2 or more the items of a column line up on their decimal points, and when one float of a column
# needs an exponent all its numbers get one.  The items of a vector are formatted independently.

DIGITS: Final = 10
LEAST_EXPONENTIAL: Final = 1e15
SMALLEST_PLAIN_EXPONENT: Final = -6


def number_text(value: Payload, digits: int = DIGITS, *, exponent: bool = False) -> str:
    """A number as text; `exponent` forces the form with `E`."""
    if isinstance(value, complex):
        real = _real_text(value.real, digits, exponent)
        return real if value.imag == 0 else f"{real}J{_real_text(value.imag, digits, exponent)}"
    assert not isinstance(value, str)
    return _real_text(value, digits, exponent)


def _real_text(value: bool | int | float, digits: int, exponent: bool) -> str:
    if isinstance(value, int):
        return f"¯{-value:d}" if value < 0 else f"{value:d}"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "¯∞" if value < 0 else "∞"
    if value == 0:
        return "0E0" if exponent else "0"
    if not exponent:  # the usual case in one call, with the same digits and rounding
        text = f"{value:.{digits}g}"
        if "e" not in text:
            return "¯" + text[1:] if value < 0 else text
    sign = "¯" if value < 0 else ""
    figures, scale = _significant(abs(value), digits)
    plain = not exponent and SMALLEST_PLAIN_EXPONENT <= scale < digits
    return sign + (_plain(figures, scale) if plain else _exponential(figures, scale))


def needs_exponent(value: Payload, digits: int) -> bool:
    """Does the number need an exponent?  Integers never do."""
    if isinstance(value, complex):
        return needs_exponent(value.real, digits) or needs_exponent(value.imag, digits)
    assert not isinstance(value, str)
    if isinstance(value, int) or value == 0 or not math.isfinite(value):
        return False
    return not SMALLEST_PLAIN_EXPONENT <= _significant(abs(value), digits)[1] < digits


def _significant(magnitude: float, digits: int) -> tuple[str, int]:
    """The rounded significant figures without trailing zeros, and the decimal exponent of the first."""
    mantissa, _, exponent = f"{magnitude:.{digits - 1}e}".partition("e")
    return mantissa.replace(".", "").rstrip("0"), int(exponent)


def _plain(figures: str, scale: int) -> str:
    if scale < 0:
        return "0." + "0" * (-scale - 1) + figures
    integer, fraction = figures[: scale + 1].ljust(scale + 1, "0"), figures[scale + 1 :]
    return f"{integer}.{fraction}" if fraction else integer


def _exponential(figures: str, scale: int) -> str:
    mantissa = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
    return f"{mantissa}E{'¯' if scale < 0 else ''}{abs(scale)}"


def shortest_f32(value: float) -> float:
    """The binary64 of the shortest decimal that reads back as this binary32, so that 0.1 shows as 0.1 and not 0.1000000015."""
    if not math.isfinite(value):
        return value
    shortened = (float(f"{value:.{places}e}") for places in range(9))
    return next(candidate for candidate in shortened if round_f32(candidate) == value)


def shortest_decimal(item: Payload) -> Payload:
    """An f32, or a c64, by the shortest decimals that name it."""
    if isinstance(item, complex):
        return complex(shortest_f32(item.real), shortest_f32(item.imag))
    return shortest_f32(item) if isinstance(item, float) else item


def fixed_text(value: Payload, digits: int) -> str:
    """A real number with `digits` digits after the point; from magnitude 1E15 on with an exponent (`⎕text`)."""
    assert isinstance(value, bool | int | float)
    if isinstance(value, int):
        text = f"{value:d}" + ("." + "0" * digits if digits else "")
    elif math.isfinite(value) and abs(value) < LEAST_EXPONENTIAL:
        text = f"{value:z.{digits}f}"
    elif math.isfinite(value):
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        text = f"{mantissa}E{int(exponent)}"
    else:
        return _real_text(value, digits, False)
    return text.replace("-", "¯")


# -------------------------------------------------------------------------- tables


def column_texts(items: Sequence[Payload], digits: int = DIGITS) -> list[str]:
    """The items of one column as texts, aligned and of one width."""
    forced = any(needs_exponent(item, digits) for item in items)
    return aligned([number_text(item, digits, exponent=forced) for item in items])


def aligned(texts: Sequence[str]) -> list[str]:
    """The texts aligned on their first point, `E` or `J`: the part before it flush right, the rest flush left."""
    splits = [split_at_point(text) for text in texts]
    left = max((len(a) for a, _ in splits), default=0)
    right = max((len(b) for _, b in splits), default=0)
    return [a.rjust(left) + b.ljust(right) for a, b in splits]


def split_at_point(text: str) -> tuple[str, str]:
    """The part before the first point, `E` or `J`, and the rest."""
    places = [at for at in map(text.find, ".EJ") if at != -1]
    at = min(places, default=len(text))
    return text[:at], text[at:]


def table_of(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int = DIGITS) -> list[list[str]]:
    """The texts of each row (the last axis), aligned by column; a scalar or vector is one row and is not aligned.

    Rows are in row-major order of the leading axes; there are Π shape[:-1] of them.  Text has one column per character."""
    width = shape[-1] if shape else 1
    count = math.prod(shape[:-1])
    if kind is Kind.CHAR:
        return [list(map(str, items[i * width : (i + 1) * width])) for i in range(count)]
    if kind in (Kind.F32, Kind.C64):
        items = [shortest_decimal(item) for item in items]
    if len(shape) <= 1:
        return [[number_text(item, digits) for item in items]]
    columns = [column_texts(items[j::width], digits) for j in range(width)]
    return [[column[i] for column in columns] for i in range(count)]


def separator(kind: Kind) -> str:
    """The text between the columns of a row."""
    return "" if kind is Kind.CHAR else " "


def format_items(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int = DIGITS) -> tuple[str, tuple[int, ...]]:
    """`⍕`: the characters in row-major order, and the shape of the text (rank at least 1)."""
    rows = [separator(kind).join(row) for row in table_of(kind, items, shape, digits)]
    if len(shape) <= 1:
        return rows[0], (len(rows[0]),)
    width = len(rows[0]) if rows else (shape[-1] if kind is Kind.CHAR else max(0, 2 * shape[-1] - 1))
    return "".join(rows), (*shape[:-1], width)


def fixed_items(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int) -> tuple[str, tuple[int, ...]]:
    """`⎕text`: one row per item, flush right; the characters in row-major order, and the shape of the text."""
    rows = [fixed_text(item, digits) for item in (map(shortest_decimal, items) if kind is Kind.F32 else items)]
    width = max(map(len, rows), default=0)
    return "".join(row.rjust(width) for row in rows), (*shape, width)
