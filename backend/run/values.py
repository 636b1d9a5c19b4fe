"""Array values at the boundary of every back end, and the arithmetic of storage kinds.

An `Array` is a kind, a shape and the items in row-major order as plain Python values.  The reference interpreter
computes on it; the other back ends convert to and from it only where a value meets the outside in small amounts.

Invariants: `len(data)` is the product of `shape`; every item is normalised to its kind: bool is `bool`, integers are
`int` inside the kind's range, `f32` is a float that is exactly a binary32, `c64` is a complex of two such floats,
`char` is a one-character string.  Nothing here imports NumPy unless a NumPy conversion is asked for.

Neighbours: `typechecker.elements.Kind`; `reference` (computes on it), `run.files` (reads and writes it).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol

from ...lang.certain import certain
from ...lang.records import dataclass
from ...typechecker.core import Payload
from ...typechecker.elements import Kind

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
    """What a NumPy array offers that this module and `run.text` need."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    def tolist(self) -> Any: ...


@dataclass(frozen=True, slots=True)
class Results:
    """What a run yields: the printed values in order, and the outputs by name."""

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
    """The least and greatest value of bool, u8, i32 or i64."""
    if kind is Kind.BOOL:
        return 0, 1
    bits = INTEGER_BITS[kind]
    return (0, (1 << bits) - 1) if kind is Kind.U8 else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def round_f32(value: float) -> float:
    """The nearest binary32, ties to even, beyond its range an infinity."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _complex_f32(value: Any) -> complex:
    whole = complex(value)
    return complex(round_f32(whole.real), round_f32(whole.imag))


def _character(value: Any) -> str:
    assert isinstance(value, str)
    certain(len(value) == 1, "a character is one")
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
        return _nest(rows, value.shape[:-1])
    return _nest(list(value.data), value.shape)


def _nest(items: list[Any], shape: Sequence[int]) -> Any:
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
    found = next((kind for kind, numpy_name in NUMPY_NAMES.items() if numpy_name == name), None)
    if found is not None:
        _kinds[dtype] = found
    return found


_kinds: dict[Any, Kind] = {}
"""Those dtypes that were asked for (asking one for its name takes microseconds)."""


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
