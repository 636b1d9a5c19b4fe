"""NumPy's `.npy` and `.npz`: first the header, then the data, without pickle and without evaluating anything.

Source: the format description in NumPy's `numpy.lib.format` (versions 1, 2 and 3).  The header is matched by patterns,
not parsed as Python; object and structured dtypes are refused; the byte count is compared with the file's length
before anything is allocated.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any, BinaryIO, Final

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...lang.tree.program import CellFormat
from ...typechecker.elements import Kind
from .cells import COUNTED_DTYPES, Column, require_accepted, require_shape, undeclared
from .formats import FileTrouble, damaged, disagrees, listed, system_errors
from .sources_and_sinks import (
    BLOCK,
    Content,
    Piece,
    RandomAccessSink,
    blocks_of,
    fill_with_items,
    is_direct,
    length_of,
    member,
    new_array,
    opened,
    stored_at,
    write_at,
)

# ---------------------------------------------------------------------------------------------------- reading .npy

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
    "M8[D]": "int64", "M8[ns]": "int64", "m8[D]": "int64", "m8[ns]": "int64",
}  # fmt: skip
_COUNTED: Final = {dtype: form for form, dtype in COUNTED_DTYPES.items()}


@dataclass(frozen=True, slots=True)
class Header:
    """A parsed header: `description` is NumPy's dtype string, `stored` the name in `elements.ACCEPTED`, `start` the offset of the
    data."""

    description: str
    stored: str
    fortran: bool
    shape: tuple[int, ...]
    start: int

    @property
    def dtype(self) -> Any:
        import numpy

        return numpy.dtype(f"{self.description[0]}i8" if self.description[1:] in _COUNTED else self.description)

    @property
    def data_bytes(self) -> int:
        return math.prod(self.shape) * int(self.dtype.itemsize)


def parse_header(file: BinaryIO) -> Header:
    """Reads the header from the start of an npy file and leaves the file at its data.  Raises FileTrouble."""
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
    """Returns the name in `elements.ACCEPTED` of a dtype in NumPy's notation."""
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
    """Returns the shape, after checking the stored type and the length of the data."""
    with system_errors(), content.open() as file:
        length = length_of(file)
        parsed = parse_header(file)
        _check_length(parsed, length)
    _require_accepted(parsed, wanted)
    return parsed.shape


def _require_accepted(header: Header, wanted: Column) -> None:
    """Raises E706 for items that the declared type does not accept, such as dates where it declares times."""
    form = _COUNTED.get(header.description[1:])
    if form is not None and form is not wanted.reading.form:
        raise undeclared(form)
    require_accepted(header.stored, wanted.kind)


def _check_length(header: Header, length: int) -> None:
    expected = header.start + header.data_bytes
    if length < expected:
        raise damaged(f"is truncated: its header promises {expected} bytes, it has {length}")
    if length > expected:
        raise damaged(f"has {length - expected} bytes after its data", "one npy file holds one array; use npz for several")


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with system_errors(), content.open() as file:
        length = length_of(file)
        parsed = parse_header(file)
        _check_length(parsed, length)
        return fill(file, parsed, wanted.kind, shape)


def working_memory(content: Content, wanted: Column) -> int:
    """Returns the bytes of memory that reading takes besides the array."""
    with system_errors(), content.open() as file:
        parsed = parse_header(file)
    direct = is_direct(new_array((0,), wanted.kind).dtype, parsed.dtype) and not (parsed.fortran and wanted.rank > 1)
    return 0 if direct else min(4 * parsed.data_bytes, 8 * BLOCK)


def fill(file: BinaryIO, header: Header, kind: Kind, shape: tuple[int, ...]) -> Any:
    """Returns the data after a header as a NumPy array of the kind."""
    require_accepted(header.stored, kind)
    require_shape(header.shape, shape)
    array = new_array(shape, kind)
    fill_with_items(file, array.T if header.fortran else array, header.dtype)
    return array


def require_writable(values: Any) -> None:
    """Raises E708 for more axes than readers of the format accept."""
    if values.ndim > MOST_AXES:
        raise FileTrouble(Code.E708, f"cannot hold {values.ndim} axes")


@lru_cache(64)
def header_of(kind: Kind, shape: tuple[int, ...], form: CellFormat = CellFormat.ITEM) -> bytes:
    """Returns a header of version 1, in the form that `numpy.save` writes."""
    import numpy

    dtype = numpy.dtype(COUNTED_DTYPES[form]) if form in COUNTED_DTYPES else new_array((0,), kind).dtype
    header, described = io.BytesIO(), numpy.lib.format.dtype_to_descr(dtype)
    numpy.lib.format.write_array_header_1_0(header, {"descr": described, "fortran_order": False, "shape": shape})
    return header.getvalue()


def write(file: BinaryIO, values: Any, kind: Kind, form: CellFormat = CellFormat.ITEM) -> None:
    """Writes a NumPy array of the kind: header and data."""
    import numpy

    file.write(header_of(kind, values.shape, form))
    for block in blocks_of(values, 1 << 17):
        file.write(numpy.ascontiguousarray(block, new_array((0,), kind).dtype).view(numpy.uint8).data)


# ---------------------------------------------------------------------------------------------------- rows of .npy in any order
#
# Random access to the rows of an npy file, also of an uncompressed member of an archive, for reading and writing.
#
# A source relies on the header that was read during planning; each pass checks that the file is unchanged.

@dataclass(frozen=True, slots=True)
class NpySource:
    """The rows of an npy file, converted to `kind`.

    The data begin at `start`; `fortran`: they are in column-major order.
    """

    content: Content
    kind: Kind
    shape: tuple[int, ...]
    dtype: Any
    start: int
    identity: tuple[int | str, ...]
    fortran: bool = False

    @property
    def path(self) -> str:
        return self.content.path

    @property
    def row_bytes(self) -> int:
        return int(math.prod(self.shape[1:])) * int(self.dtype.itemsize)

    @property
    def working_memory(self) -> int:
        """Bytes of memory that reading takes."""
        direct = is_direct(new_array((0,), self.kind).dtype, self.dtype) and not self.fortran
        return self.content.cached_bytes + (0 if direct else 2 * BLOCK)

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.row_bytes

    def open(self) -> BinaryIO:
        """Returns a handle, after checking that the file has not changed since planning.  Raises FileTrouble."""
        with system_errors():
            file = self.content.open()
        self.require_same(file)
        return file

    def close(self, handle: BinaryIO) -> None:
        with suppress(OSError):
            handle.close()

    def require_same(self, handle: BinaryIO) -> None:
        with system_errors():
            current = self.content.identity(handle)
        if current != self.identity:
            raise damaged("changed while it was read")

    def read(self, handle: BinaryIO, first: int, into: Any, keep: int) -> None:
        """Fills `into` with the rows from `first` on.  Raises FileTrouble if the file is too short."""
        import numpy

        with system_errors():
            if not self.fortran:
                self._fill(handle, into, first * self.row_bytes)
                return
            columns = into.T
            if len(into) == self.shape[0]:
                self._fill(handle, columns, 0)
                return
            for position, column in enumerate(numpy.ndindex(columns.shape[:-1])):
                self._fill(handle, columns[column], (position * self.shape[0] + first) * int(self.dtype.itemsize))

    def _fill(self, handle: BinaryIO, into: Any, at: int) -> None:
        handle.seek(self.start + at)
        fill_with_items(handle, into, self.dtype)


def npy_source(content: Content, kind: Kind, shape: tuple[int, ...], at: int = 0) -> NpySource | None:
    """Returns the rows of an npy file at offset `at` of a content; None if its header differs from the one read during
    planning."""
    with system_errors(), content.open() as file:
        file.seek(at)
        header = parse_header(file)
        if header.shape != shape:
            return None
        fortran = header.fortran and len(shape) > 1
        return NpySource(content, kind, shape, header.dtype, at + header.start, content.identity(file), fortran)


@dataclass(slots=True)
class NpySink(RandomAccessSink):
    """A new npy file, whose rows may be written in any order."""

    def prepare(self) -> None:
        header = header_of(self.kind, self.shape, self.reading.form)
        write_at(self.handle, header, 0)
        self.reserve(len(header) + math.prod(self.shape) * self.dtype.itemsize)

    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        yield 0, at, 0, count

    def finish(self) -> None:
        """There is nothing left to write, since the header was written first."""

    def start_of(self, chunk: int) -> int:
        return len(header_of(self.kind, self.shape, self.reading.form))


# ---------------------------------------------------------------------------------------------------- members of .npz
#
# One member of an `.npz` archive: `path.npz:name` is the array saved as `name` (a zip file of npy files).
#
# Without a name an archive of exactly one array stands for that array.  The rows of an uncompressed member (`numpy.savez`) are
# read directly, without checking its checksum.  A member's length is compared with its own npy header before it is inflated, and
# inflating stops at that length.

@contextmanager
def _member(content: Content, name: str) -> Iterator[tuple[BinaryIO, int]]:
    """Yields the stream of the named member and its uncompressed length."""
    with opened(content, "is not an npz file") as archive:
        info = _find(archive, name)
        with member(archive, info) as stream:
            yield stream, info.file_size


def _find(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    members = {info.filename.removesuffix(".npy"): info for info in archive.infolist() if info.filename.endswith(".npy")}
    if name:
        if name not in members:
            raise FileTrouble(Code.E704, f"has no array named {name}", f"its arrays: {listed(members)}")
        return members[name]
    if len(members) != 1:
        few = "holds several arrays, name one as `file.npz:name`" if members else "holds no array"
        raise FileTrouble(Code.E704, few, f"its arrays: {listed(members)}")
    return next(iter(members.values()))


def _parse(stream: BinaryIO, length: int, kind: Kind) -> Header:
    parsed = parse_header(stream)
    expected = parsed.start + parsed.data_bytes
    if length != expected:
        raise damaged(f"has a member of {length} bytes whose header promises {expected}")
    require_accepted(parsed.stored, kind)
    return parsed


def npz_header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and the member's length."""
    with _member(content, wanted.member) as (stream, length):
        header = _parse(stream, length, wanted.kind)
        _require_accepted(header, wanted)
        return header.shape


def member_offset(content: Content, name: str) -> int | None:
    """Returns the offset of an uncompressed member in the archive; None if the member is compressed."""
    with opened(content, "is not an npz file") as archive:
        return stored_at(content, _find(archive, name))


def npz_working_memory(content: Content, wanted: Column) -> int:
    """Returns the bytes of memory that reading takes besides the array: blocks as stored, inflated and converted."""
    return 1 << 20


def npz_read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with _member(content, wanted.member) as (stream, length):
        array = fill(stream, _parse(stream, length, wanted.kind), wanted.kind, shape)
        if stream.read(1):  # at the end of the member `zipfile` compares the checksum
            raise damaged("has a member that goes on after its data")
        return array
