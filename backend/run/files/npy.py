"""NumPy's `.npy`: header alone, then data, without pickle and without evaluating anything.

Source: the format description in NumPy's `numpy.lib.format` (versions 1, 2 and 3).  The header is matched by patterns,
not parsed as Python; object and structured dtypes are refused; the byte count is compared with the file's length
before anything is allocated.

Neighbours: `npz` (members are npy files), `elements` (which dtypes a kind accepts).
"""

from __future__ import annotations

import io
import math
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO, Final

from ....lang.codes import Code
from ....typechecker.elements import Kind
from .blocks import blocks_of
from .content import Content, length_of
from .conversions import Column
from .elements import require_accepted, require_shape
from .filling import BLOCK, fill_with_items, is_direct, new_array
from .trouble import FileTrouble, damaged, disagrees, system_errors

MAGIC: Final = b"\x93NUMPY"
LONGEST_HEADER: Final = 65536
MOST_AXES: Final = 32

_DESCRIPTION = re.compile(r"['\"]descr['\"]\s*:\s*(?:'([^']*)'|\"([^\"]*)\"|(\[))")
_FORTRAN = re.compile(r"['\"]fortran_order['\"]\s*:\s*(True|False)\b")
_SHAPE = re.compile(r"['\"]shape['\"]\s*:\s*\(([^()]*)\)")
_SIZE = re.compile(r"[0-9]{1,18}L?")
_TYPES: Final = {
    "b1": "bool", "u1": "uint8", "i1": "int8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64",
    "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128", "U1": "str1",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """`description` is NumPy's dtype string; `stored` the name in `elements.ACCEPTED`; data starts at `start`."""

    description: str
    stored: str
    fortran: bool
    shape: tuple[int, ...]
    start: int

    @property
    def dtype(self) -> Any:
        import numpy

        return numpy.dtype(self.description)

    @property
    def data_bytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)


def parse_header(file: BinaryIO) -> Header:
    """Read from the start of an npy file up to its data."""
    start = file.read(8)
    if start[:6] != MAGIC:
        raise damaged("is not an npy file" if start else "is empty, not an npy file", "npy files are written by `numpy.save`")
    if len(start) < 8:
        raise damaged("ends inside its header")
    version = start[6]
    if version not in (1, 2, 3):
        raise damaged(f"is an npy file of version {version}, versions 1 to 3 are known")
    field = file.read(2 if version == 1 else 4)
    if len(field) < (2 if version == 1 else 4):
        raise damaged("ends inside its header")
    (length,) = struct.unpack("<H" if version == 1 else "<I", field)
    if length > LONGEST_HEADER:
        raise damaged(f"has a header of {length} bytes, more than {LONGEST_HEADER}")
    raw = file.read(length)
    if len(raw) < length:
        raise damaged("ends inside its header")
    text = raw.decode("utf-8" if version == 3 else "latin-1", errors="replace")
    return _read_fields(text, 8 + len(field) + length)


def _read_fields(text: str, start: int) -> Header:
    description, fortran, shape = _DESCRIPTION.search(text), _FORTRAN.search(text), _SHAPE.search(text)
    if description is None or fortran is None or shape is None:
        raise damaged("has a broken npy header")
    if description[3]:
        raise disagrees("holds records with fields, not numbers of one type")
    name = description[1] or description[2] or ""
    sizes = [part.strip() for part in shape[1].split(",")]
    if sizes and not sizes[-1]:
        sizes.pop()
    if len(sizes) > MOST_AXES or not all(_SIZE.fullmatch(size) for size in sizes):
        raise damaged("has a broken shape in its npy header")
    dimensions = tuple(int(size.rstrip("L")) for size in sizes)
    return Header(name, stored_type(name), fortran[1] == "True", dimensions, start)


def stored_type(name: str, format: str = "npy") -> str:
    """The name in `elements.ACCEPTED` of NumPy's description of a type."""
    if name[:1] not in ("<", ">", "|", "="):
        raise damaged(f"has a broken element type {name[:40]!r} in its {format} header")
    if name[1:2] == "O":
        raise disagrees(
            "holds pickled Python objects, which are never loaded because loading them can run code",
            "save numbers: `numpy.save(path, array.astype(float))`",
        )
    stored = _TYPES.get(name[1:])
    if stored is None:
        raise disagrees(f"holds items of type {name[:40]}, which no element type stores")
    return stored


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and that all the data is there."""
    with system_errors(), content.open() as file:
        length = length_of(file)
        found = parse_header(file)
        _check_length(found, length)
    require_accepted(found.stored, wanted.kind)
    return found.shape


def _check_length(found: Header, length: int) -> None:
    expected = found.start + found.data_bytes
    if length < expected:
        raise damaged(f"is truncated: its header promises {expected} bytes, it has {length}")
    if length > expected:
        raise damaged(f"has {length - expected} bytes after its data", "one npy file holds one array; use npz for several")


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with system_errors(), content.open() as file:
        length = length_of(file)
        found = parse_header(file)
        _check_length(found, length)
        return fill(file, found, wanted.kind, shape)


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array."""
    with system_errors(), content.open() as file:
        found = parse_header(file)
    direct = is_direct(new_array((0,), wanted.kind).dtype, found.dtype) and not (found.fortran and wanted.rank > 1)
    return 0 if direct else min(4 * found.data_bytes, 8 * BLOCK)


def fill(file: BinaryIO, found: Header, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The data that follow a header, as a NumPy array of the kind."""
    require_accepted(found.stored, kind)
    require_shape(found.shape, shape)
    array = new_array(shape, kind)
    fill_with_items(file, array.T if found.fortran else array, found.dtype)
    return array


def require_writable(values: Any) -> None:
    """E708: more axes than the format's readers take."""
    if values.ndim > MOST_AXES:
        raise FileTrouble(Code.E708, f"cannot hold {values.ndim} axes")


@lru_cache(64)
def header_of(kind: Kind, shape: tuple[int, ...]) -> bytes:
    """Version 1, the form that `numpy.save` writes."""
    import numpy

    header, described = io.BytesIO(), numpy.lib.format.dtype_to_descr(new_array((0,), kind).dtype)
    numpy.lib.format.write_array_header_1_0(header, {"descr": described, "fortran_order": False, "shape": shape})
    return header.getvalue()


def write(file: BinaryIO, values: Any, kind: Kind) -> None:
    """`values` is a NumPy array of the kind."""
    import numpy

    file.write(header_of(kind, values.shape))
    for block in blocks_of(values, 1 << 17):
        file.write(numpy.ascontiguousarray(block, new_array((0,), kind).dtype).view(numpy.uint8).data)
