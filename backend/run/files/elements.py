"""Which stored number types a declared element type accepts.

The rule is the language's own (language.md, Numbers): reading widens as a call does and never narrows, so that a
declared type cannot lose anything that the file holds.  Formats of text (csv) have no stored type and are read as the
declared kind directly.

Neighbours: `npy`, `npz`, `png` (whose headers name a stored type).
"""

from __future__ import annotations

from typing import Any, Final

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from .trouble import FileTrouble, damaged, disagrees

_ALL = (Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.C64, Kind.C128)

ACCEPTED: Final[dict[str, tuple[Kind, ...]]] = {
    "bool": (Kind.BOOL, *_ALL),
    "uint8": _ALL,
    "int8": _ALL[1:],
    "int16": _ALL[1:],
    "uint16": _ALL[1:],
    "int32": (Kind.I32, Kind.I64, Kind.F64, Kind.C128),
    "uint32": (Kind.I64, Kind.F64, Kind.C128),
    "int64": (Kind.I64, Kind.F64, Kind.C128),
    "uint64": (Kind.I64, Kind.F64, Kind.C128),
    "float16": (Kind.F32, Kind.F64, Kind.C64, Kind.C128),
    "float32": (Kind.F32, Kind.F64, Kind.C64, Kind.C128),
    "float64": (Kind.F64, Kind.C128),
    "complex64": (Kind.C64, Kind.C128),
    "complex128": (Kind.C128,),
    "str1": (Kind.CHAR,),
}
"""The kinds that hold each stored type; the first is the one to declare.  Of `uint64` i64 holds what is below 2*63 (`within`)."""

_SPELLED: Final = {numpy_name: kind.value for kind, numpy_name in NUMPY_NAMES.items()} | {"str1": "char"}


def require_accepted(stored: str, kind: Kind) -> None:
    """E706 unless values stored as `stored` may be declared `kind`."""
    accepted = ACCEPTED.get(stored)
    if accepted is None:
        raise disagrees(f"holds {stored}, which no element type stores")
    if kind in accepted:
        return
    held, advice = _SPELLED.get(stored, stored), f"declare it `{accepted[0].value}`"
    if Kind.CHAR not in (kind, accepted[0]):
        advice += f" and write `{kind.value} x` where it may narrow"
    raise disagrees(f"holds {held}, its declared type is {kind.value}", advice)


def within(items: Any, dtype: Any) -> Any:
    """Stored items that an array of a dtype takes.  FileTrouble E705: unsigned ones beyond i64."""
    if items.dtype.kind == "u" and dtype.kind == "i" and items.dtype.itemsize == dtype.itemsize and items.size:
        most = int(items.max())
        if most >> (8 * dtype.itemsize - 1):
            raise damaged(f"holds {most}, which does not fit i64", "declare it `f64`, which rounds such integers")
    return items


def require_shape(actual: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """The shape bound from the header must still be the file's."""
    if actual != expected:
        raise FileTrouble(Code.E705, f"changed while it was read: its shape was {list(expected)} and is now {list(actual)}")


def changed() -> FileTrouble:
    """The file holds more than its header pass found."""
    return FileTrouble(Code.E705, "changed while it was read")
