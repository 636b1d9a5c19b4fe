"""The sources of inputs and the sinks of outputs.

A source is a regular file, which is opened anew for each pass, a URL, or the bytes of a pipe, which are read once.  A sink is a
new file of numbers that is written slab by slab: it is a temporary file next to its target until the outputs of a run are renamed
together (`writing.write_together`).  A sink has the kind and shape of a value, but no data.
"""

from __future__ import annotations

import errno
import io
import math
import os
import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Final, TypeAlias, cast
from urllib.parse import urlsplit

from ...lang.diagnostics.model import Code
from ...lang.support.bounded_parsing import is_url
from ...lang.support.files import FileReplacement, open_regular
from ...lang.support.records import cached_property, dataclass, field
from ...lang.tree.program import AS_WRITTEN, ColumnFormat
from ...typechecker.elements import Kind
from ..vm.values import NUMPY_NAMES
from .cells import converted_integers, require_dated
from .formats import COMPRESSED, TEXTS, FileTrouble, damaged, first_line, missing_package, system_errors

if TYPE_CHECKING:
    import zipfile

    from .remote import Version


# ---------------------------------------------------------------------------------------------------- byte sources

@dataclass(frozen=True)
class Content:
    """The bytes of an input.  `held`: those of a stream that can be read only once; None if they are in the file or at the
    URL."""

    path: str
    held: bytes | None = None

    @cached_property
    def version(self) -> Version:
        """The version of a URL at the time of the first request.  Raises FileTrouble."""
        from .remote import current_version

        return current_version(self.path)

    @property
    def is_compressed(self) -> bool:
        """Is the input a text that is stored compressed?"""
        return self.path.lower().endswith(COMPRESSED) and suffix_of(self.path) in TEXTS

    def open(self) -> BinaryIO:
        """Opens the content at its start, decompressed.  Raises OSError or FileTrouble, as do the methods below."""
        return cast(BinaryIO, io.BufferedReader(_Inflated(self), 1 << 17)) if self.is_compressed else self.open_stored()

    def open_stored(self) -> BinaryIO:
        """Opens the bytes as they are stored."""
        if self.held is not None:
            return io.BytesIO(self.held)
        if is_url(self.path):
            from .remote import Remote

            return cast(BinaryIO, io.BufferedReader(Remote(self.path, self.version)))
        return open_regular(self.path)

    def size(self) -> int:
        """The stored length in bytes."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            return self.version.size
        return os.path.getsize(self.path)

    @property
    def cached_bytes(self) -> int:
        """The bytes of the input that the process caches, besides its array."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            from .remote import CACHE_BYTES

            return min(self.version.size, CACHE_BYTES)
        return 0

    def identity(self, file: BinaryIO | None = None) -> tuple[int | str, ...]:
        """A value that changes when the file is written.  `file`: the content, if it is already open."""
        if self.held is not None:
            return ()
        if is_url(self.path):
            from .remote import current_version

            # with validators, every response is compared with the version at planning
            version = self.version if self.version.validators else current_version(self.path)
            return version.size, version.digest
        status = os.stat(self.path) if file is None else os.fstat(file.fileno())
        return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns


def suffix_of(path: str) -> str:
    """The suffix of a path in lower case, which determines the format.  Both forms of a zarr store (the folder and `.zarr.zip`)
    have the suffix `.zarr`; a compressed text such as `x.csv.gz` has that of the text, `.csv`."""
    name = (urlsplit(path).path if is_url(path) else path).lower()
    if name.endswith(COMPRESSED):
        inner = os.path.splitext(os.path.splitext(name)[0])[1]
        return inner if inner in TEXTS else os.path.splitext(name)[1]
    return ".zarr" if name.endswith(".zarr.zip") else os.path.splitext(name)[1]


class _Inflated(io.RawIOBase):
    """The content of a text that is compressed by gzip or zstd.  Raises FileTrouble E705 if it is damaged or a decompression
    bomb."""

    def __init__(self, content: Content) -> None:
        self._content, self._limit = content, max(_LEAST_LIMIT, _MOST_RATIO * content.size())
        self._at, self._rest = 0, b""
        self._file: BinaryIO | None = None
        self._parts: Iterator[bytes] = iter(())
        self._begin()

    def _begin(self) -> None:
        self.close_stored()
        self._file = self._content.open_stored()
        self._at, self._rest = 0, b""
        self._parts = (_gunzipped if self._content.path.lower().endswith(".gz") else _unzstd)(self._file)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        target = offset if whence == io.SEEK_SET else self._at + offset
        if whence == io.SEEK_END:
            raise OSError("its length is not known")
        if target < self._at:
            self._begin()
        while self._at < target and self.readinto(bytearray(min(1 << 17, target - self._at))):
            pass
        return self._at

    def readinto(self, room: Any) -> int:
        if not self._rest:
            self._rest = next(self._parts, b"")
        part, self._rest = self._rest[: len(room)], self._rest[len(room) :]
        memoryview(room)[: len(part)] = part
        self._at += len(part)
        if self._at > self._limit:
            tool = "gunzip -k" if self._content.path.lower().endswith(".gz") else "unzstd"
            message = f"inflates to more than {_MOST_RATIO} times its size, which is refused"
            raise damaged(message, f"inflate it before: `{tool} FILE`")
        return len(part)

    def close_stored(self) -> None:
        if self._file is not None:
            self._file.close()

    def close(self) -> None:
        self.close_stored()
        super().close()


_LEAST_LIMIT: Final = 256 << 20
_MOST_RATIO: Final = 200
_INFLATED: Final = 1 << 18
_STORED: Final = 1 << 10
"""Stored bytes that are decompressed at a time: a zstd block that repeats one byte expands 32,768-fold."""


def _gunzipped(file: BinaryIO) -> Iterator[bytes]:
    import gzip
    import zlib

    try:
        with gzip.GzipFile(fileobj=file) as stream:
            while part := stream.read(_INFLATED):
                yield part
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(f"is not a valid gzip file: {first_line(error)}") from None


def _unzstd(file: BinaryIO) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise missing_package("zstd", "zstandard") from None
    try:
        frame = None
        while stored := file.read(_STORED):
            while stored:
                frame = frame or zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()
                if part := frame.decompress(stored):
                    yield part
                stored = frame.unused_data if frame.eof else b""
                frame = None if frame.eof else frame
    except zstandard.ZstdError as error:
        raise damaged(f"is not a valid zstd file: {first_line(error)}") from None
    if frame is not None:
        raise damaged("is not a valid zstd file: it ends before its end")


def length_of(file: BinaryIO) -> int:
    """The length of an open file in bytes; rewinds it."""
    length = file.seek(0, io.SEEK_END)
    file.seek(0)
    return length


# ---------------------------------------------------------------------------------------------------- members of ZIP archives
#
# Zip archives (`.npz`, and zarr stores in one file), opened with a bound on the size of their central directory.
#
# Stored and deflated members are read; bzip2 and LZMA, which may need any amount of memory, are refused.

LONGEST_DIRECTORY: Final = 8 << 20
"""The most bytes of the central directory, which zipfile reads at once and turns into objects."""
_ENCRYPTED: Final = 1
_LOCAL: Final = struct.Struct("<26sHH")
"""The local header of a member, which ends with the lengths of its name and of its extra field."""


def _unsound() -> tuple[type[Exception], ...]:
    """The exceptions that zipfile raises for damaged archives."""
    import zipfile
    import zlib

    return zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, OverflowError, RuntimeError


class _Bounded(io.BufferedIOBase):
    """A file that limits each read to `LONGEST_DIRECTORY` bytes."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, count: int | None = -1) -> bytes:
        if count is not None and count > LONGEST_DIRECTORY:
            raise damaged(f"has a list of members of {count} bytes, more than {LONGEST_DIRECTORY}")
        return self._file.read(-1 if count is None else count)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


@contextmanager
def opened(content: Content, otherwise: str) -> Iterator[zipfile.ZipFile]:
    """Yields the open archive.  Damaged members raise E705; so does a file that is no archive, with the message `otherwise`."""
    import zipfile

    with system_errors(), content.open() as file:
        archive = None
        try:
            with zipfile.ZipFile(cast(BinaryIO, _Bounded(file))) as archive:
                yield archive
        except _unsound() as error:
            raise damaged(otherwise if archive is None else f"has a damaged member: {first_line(error)}") from None


def stored_at(content: Content, info: zipfile.ZipInfo) -> int | None:
    """The offset of an uncompressed member's content; None if the member is compressed."""
    import zipfile

    if info.flag_bits & _ENCRYPTED or info.compress_type != zipfile.ZIP_STORED:
        return None
    with content.open() as file:
        file.seek(info.header_offset)
        header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise damaged("has a damaged member: it does not begin as the list of members says")
    _, name, more = _LOCAL.unpack(header)
    return int(info.header_offset + _LOCAL.size + name + more)


@contextmanager
def member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """A member's content as a stream, whose checksum is verified at its end."""
    import zipfile

    if info.flag_bits & _ENCRYPTED:
        raise damaged("is encrypted")
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise damaged("uses a compression that is not read: members are stored or deflated")
    with archive.open(info) as stream:
        yield cast(BinaryIO, stream)


# ---------------------------------------------------------------------------------------------------- blocks of values
#
# Outputs are written block by block, so that a file is never in memory besides its values.

ITEMS: Final = 1 << 13
"""Items of a block."""


def blocks_of(values: Any, items: int = ITEMS) -> Iterator[Any]:
    """The items of a NumPy array in row-major order, as vectors of at most `items`, each of which is valid until the next is
    requested.

    If the number of columns divides `items`, vectors are full rows.  A view is not copied as a whole."""
    import numpy

    if values.size:
        yield from numpy.nditer(values, ["external_loop", "buffered"], order="C", buffersize=items)


def padded_texts(texts: list[str]) -> Any:
    """Returns texts as rows of characters, padded with blanks; half of a surrogate pair is a character, as in NumPy's."""
    import numpy as np

    width = max(map(len, texts), default=0)
    if not width:
        return np.zeros((len(texts), 0), "U1")
    codes = "".join([text.ljust(width) for text in texts]).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(codes, "<u4").astype("=u4").view("U1").reshape(len(texts), width)


def characters_of(items: Any) -> str:
    """The characters of a vector of dtype `U1`; NumPy's own conversion drops NUL characters."""
    import numpy

    return str(numpy.ascontiguousarray(items).view("=u4").tobytes(), "utf-32-le" if sys.byteorder == "little" else "utf-32-be")


def require_utf8(values: Any, *, table: bool = False) -> None:
    """Raises E708 if an array of `U1` has a character that UTF-8 cannot encode or, for a `table`, one that a text table cannot
    contain."""
    for block in blocks_of(values, 1 << 18):
        if table and not block.view("=u4").all():
            raise FileTrouble(Code.E708, "holds the character NUL, which no table of text has", "write it to an npy file")
        try:
            characters_of(block)
        except UnicodeDecodeError as error:
            code = int.from_bytes(error.object[error.start : error.start + 4], sys.byteorder)
            raise FileTrouble(Code.E708, f"cannot be written: {chr(code)!r} is not a character of UTF-8") from None


# ---------------------------------------------------------------------------------------------------- reading into arrays
#
# The array of an input is allocated once and filled block by block, so that no file is in memory twice.

BLOCK: Final = 1 << 16
"""Bytes that are read at a time."""
LAST_CHARACTER: Final = 0x10FFFF


def new_array(shape: tuple[int, ...], kind: Kind) -> Any:
    """An uninitialised array of the kind's dtype (`U1` for text)."""
    import numpy

    return numpy.empty(shape, "U1" if kind is Kind.CHAR else NUMPY_NAMES[kind])


def bytes_of(kind: Kind, shape: tuple[int, ...]) -> int:
    """The bytes of an array in memory."""
    return math.prod(shape) * kind.bytes


def is_direct(dtype: Any, stored: Any) -> bool:
    """Do items have the same bytes in the file and in the array?"""
    return bool(stored == dtype and stored.kind not in "bU")


def fill(file: BinaryIO, room: memoryview) -> None:
    """Fills the buffer with the next bytes of a file.  Raises OSError; FileTrouble E705 if the file is too short."""
    filled = 0
    while filled < len(room):
        count = file.readinto(room[filled : filled + BLOCK])  # type: ignore[attr-defined]
        if not count:
            raise damaged("ended while it was read")
        filled += count


def fill_with_items(file: BinaryIO, room: Any, stored: Any) -> None:
    """Fills an array, which need not be contiguous, with the next items of a file, of dtype `stored`, in row-major order.

    Raises OSError; FileTrouble E705 if the file is too short, or has an invalid character."""
    import numpy

    if is_direct(room.dtype, stored) and room.flags.c_contiguous:
        fill(file, room.reshape(-1).view(numpy.uint8).data)
        return
    items = room.reshape(-1) if room.flags.c_contiguous else room.flat
    some = numpy.empty(min(BLOCK // stored.itemsize, len(items)), stored)
    for start in range(0, len(items), max(1, len(some))):
        part = some[: len(items) - start]
        fill(file, part.view(numpy.uint8).data)
        if stored.kind == "U":
            require_characters(part)
        converted = part.view(numpy.uint8) != 0 if stored.kind == "b" else converted_integers(part, room.dtype)
        items[start : start + len(part)] = converted


def require_characters(items: Any) -> None:
    """Raises E705 unless every item of a `U1` array is a valid character."""
    codes = items.view(items.dtype.str[0].replace("=", "<").replace("|", "<") + "u4")
    if len(codes) and int(codes.max()) > LAST_CHARACTER:
        raise damaged("holds numbers that are not characters")


# ---------------------------------------------------------------------------------------------------- interface

@dataclass(slots=True)
class RowSink(ABC):
    """A file that receives an output in slabs.

    `working_memory`: the bytes that writing takes; `any_axis`: may slabs be along any axis in any order (otherwise they are rows
    in order)?  `name`: that of the output; `reading`: the form of its items; `came`: the bytes of items written so far; `first`:
    the row from which on a part of the file has rows (`elsewhere`)."""

    working_memory: ClassVar[int] = 0
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    reading: ColumnFormat = AS_WRITTEN
    written: FileReplacement = field(default_factory=FileReplacement)
    handle: int = -1
    came: int = 0
    first: int = 0

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def prepare(self) -> None:
        """Writes everything except the items.  Raises FileTrouble for values that the format cannot contain, and OSError."""

    @abstractmethod
    def put(self, slab: Any, axis: int, first: int) -> None:
        """Writes a slab: items from `first` on along `axis`, and all along the other axes.  Raises OSError."""

    @abstractmethod
    def finish(self) -> None:
        """Writes what follows the items.  Raises OSError."""

    def begin(self) -> None:
        """Creates the temporary file.  Raises FileTrouble and OSError, as `prepare`."""
        self.handle = self.written.begin(self.path)
        self.prepare()

    def end(self) -> None:
        """Completes and closes the temporary file.  Raises OSError."""
        if self.came != bytes_of(self.kind, self.shape):
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Deletes the temporary file, unless it has been renamed."""
        self.written.__exit__(None, None, None)

    # ------------------------------------------------------------------------------------- rows of other devices

    @classmethod
    def part_type(cls) -> type[RowSink]:
        """The type of `elsewhere`."""
        return cls

    def elsewhere(self, first: int) -> RowSink:
        """The sink through which another device writes rows from `first` on, or this process those that the device sends.  Raises
        OSError."""
        return self

    @property
    def temporary(self) -> str:
        """The path of the temporary file."""
        return self.written.temporaries[0]

    def resume(self) -> None:  # noqa: B027 - most sinks need no more than the handle
        """Called with the handle of a temporary file that another process has prepared."""

    def suspend(self) -> None:  # noqa: B027 - most sinks write at once
        """Called before that handle is closed.  Raises OSError."""


# ---------------------------------------------------------------------------------------------------- append targets
#
# A file wrapper that discards writes after it is shut.
#
# Writers of libraries flush when they are freed.  After an interrupt that would write to a closed file, or to another file that
# got its handle.

class Outlet(io.RawIOBase):
    """Forwards writes to a file until it is shut; a context manager that shuts it at the end."""

    def __init__(self, file: BinaryIO | io.FileIO) -> None:
        self._file: BinaryIO | io.FileIO | None = file
        self._count = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._count

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while self._file is not None and done < len(view):
            done += checked_count(self._file.write(view[done:]))
        self._count += len(view)
        return len(view)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def shut(self) -> None:
        self._file = None

    def __exit__(self, *error: object) -> None:
        self.shut()


# ---------------------------------------------------------------------------------------------------- append sinks
#
# Outputs whose rows are appended in order, with the same bytes as if the full value were written.

@dataclass(slots=True)
class AppendSink(RowSink):
    """A sink of rows in order; `finish` closes its file.  `parts`: of later rows, each in its own file, which `end` joins."""

    file: BinaryIO | None = None
    outlet: Outlet | None = None
    parts: list[AppendSink] = field(default_factory=list)

    @abstractmethod
    def require(self) -> None:
        """Raises FileTrouble for values that the format cannot hold."""

    @abstractmethod
    def append(self, rows: Any) -> None:
        """Appends rows.  Raises OSError."""

    def prepare(self) -> None:
        self.require()
        self.resume()

    def resume(self) -> None:
        self.outlet = Outlet(io.FileIO(self.handle, "wb", closefd=False))
        self.file = cast(BinaryIO, io.BufferedWriter(self.outlet))

    def suspend(self) -> None:
        if self.file is not None:
            self.file.close()

    def discard(self) -> None:
        for part in self.parts:
            part.discard()
        if self.outlet is not None:
            self.outlet.shut()
        self.parts = []
        RowSink.discard(self)

    @property
    def row_bytes(self) -> int:
        return bytes_of(self.kind, self.shape[1:])

    def put(self, slab: Any, axis: int, first: int) -> None:
        before = (one for one in (self, *self.parts) if one.first * self.row_bytes + one.came == first * self.row_bytes)
        target = next(before, None)
        if axis != 0 or target is None:
            raise FileTrouble(Code.E708, "was not written in order")
        require_dated(slab, self.reading)
        target.append(slab)
        target.came += bytes_of(self.kind, slab.shape)

    # ------------------------------------------------------------------------------------- parts

    @classmethod
    def part_type(cls) -> type[AppendSink]:
        return ItemRows

    def join(self, part: BinaryIO, rows: int) -> None:
        """Appends the rows of a part from its file.  Raises OSError."""
        import numpy

        step = max(1, BLOCK // max(1, self.row_bytes))
        for start in range(0, rows, step):
            some = new_array((min(step, rows - start), *self.shape[1:]), self.kind)
            fill(part, some.reshape(-1).view(numpy.uint8).data)
            self.append(some)

    def elsewhere(self, first: int) -> AppendSink:
        part = self.part_type()(self.path, self.kind, self.shape, self.name, self.reading, first=first)
        self.parts.append(part)
        part.handle = part.written.begin(self.path)
        part.resume()
        return part

    def end(self) -> None:
        for part in sorted(self.parts, key=lambda one: one.first):
            if part.came and part.first * self.row_bytes == self.came:
                part.suspend()
                with os.fdopen(part.handle, "rb", closefd=False) as file:
                    file.seek(0)
                    self.join(file, part.came // self.row_bytes)
                self.came += part.came
            part.discard()
        RowSink.end(self)


@dataclass(slots=True)
class ItemRows(AppendSink):
    """The part of a file whose format can only be written in order: the items of its rows as in memory."""

    def require(self) -> None:
        pass

    def append(self, rows: Any) -> None:
        import numpy

        assert self.file is not None, "it has begun"
        self.file.write(numpy.ascontiguousarray(rows, self.dtype).reshape(-1).view(numpy.uint8).data)

    def finish(self) -> None:
        self.suspend()


# ---------------------------------------------------------------------------------------------------- random-access sinks
#
# Outputs whose items have known offsets in their file, so that several processes can write them in any order.
#
# Another process uses the sink without `begin`: it opens the same temporary file (`external_arrays.StoredOutput`), and reports
# how much it has written (`came`).

Piece: TypeAlias = tuple[int, int, int, int]
"""A part of a slab in a file: the chunk, the offset in it, and the range [start, stop) of the array's bytes there."""


@dataclass(slots=True)
class RandomAccessSink(RowSink):
    """A sink whose file has its full size from the start (`prepare`)."""

    any_axis: ClassVar[bool] = True

    @abstractmethod
    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        """The pieces of the file for `count` bytes of the array (row-major) from byte `at` on."""

    @abstractmethod
    def start_of(self, chunk: int) -> int:
        """The offset of a chunk in the file."""

    def put(self, slab: Any, axis: int, first: int) -> None:
        import numpy

        require_dated(slab, self.reading)
        runs = numpy.ascontiguousarray(slab, self.dtype).reshape(prod(self.shape[:axis]), -1).view(numpy.uint8)
        across, step = prod(self.shape[axis : axis + 1]), prod(self.shape[axis + 1 :]) * self.dtype.itemsize
        for position, run in enumerate(runs):
            for chunk, at, start, stop in self.pieces((position * across + first) * step, len(run)):
                write_at(self.handle, run.data[start:stop], self.start_of(chunk) + at)
                self.came += stop - start

    def values(self) -> Any:
        """All items, read from the file.  Raises OSError."""
        import numpy

        result = numpy.empty(self.shape, self.dtype)
        data = result.reshape(-1).view(numpy.uint8).data
        with os.fdopen(self.handle, "rb", closefd=False) as file:
            for chunk, at, start, stop in self.pieces(0, len(data)):
                file.seek(self.start_of(chunk) + at)
                fill(file, data[start:stop])
        return result

    def reserve(self, size: int) -> None:
        """Allocates the full file, filled with zeros.  Raises OSError."""
        try:
            if size and hasattr(os, "posix_fallocate"):
                os.posix_fallocate(self.handle, 0, size)
                return
        except OSError as error:
            if error.errno not in _NOT_RESERVED:
                raise
        os.ftruncate(self.handle, size)


_NOT_RESERVED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP})
"""The errors of file systems that cannot reserve space."""


def write_at(handle: int, data: Sequence[int], at: int) -> None:
    """Writes all of `data` at the offset `at`.  Raises OSError."""
    os.lseek(handle, at, os.SEEK_SET)
    done = 0
    while done < len(data):
        done += checked_count(os.write(handle, data[done:]))  # type: ignore[arg-type]


def checked_count(count: int | None) -> int:
    """The number of bytes that the system wrote; raises OSError if it wrote none without reporting an error."""
    if not count:
        raise OSError(errno.ENOSPC, "the system takes no more bytes")
    return count
