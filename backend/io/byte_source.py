"""The bytes of an input: a regular file, opened again for each pass, a URL, or what was read once from a pipe."""

from __future__ import annotations

import io
import math
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast
from urllib.parse import urlsplit

from ...lang.diagnostics.model import Code
from ...lang.support.bounded_parsing import is_url
from ...lang.support.files import open_regular
from ...lang.support.records import cached_property, dataclass
from ...typechecker.elements import Kind
from ..vm.values import NUMPY_NAMES
from .cells import converted_integers
from .errors import FileTrouble, damaged, first_line, missing_package, system_errors
from .formats import COMPRESSED, TEXTS

if TYPE_CHECKING:
    import zipfile

    from .remote import Version


# ---------------------------------------------------------------------------------------------------- byte sources

@dataclass(frozen=True)
class Content:
    """The bytes of an input.  `held`: those of a stream that can be read only once (None: they are in the file or at the URL)."""

    path: str
    held: bytes | None = None

    @cached_property
    def version(self) -> Version:
        """The version of a URL at its first request.  Raises FileTrouble."""
        from .remote import current_version

        return current_version(self.path)

    @property
    def is_compressed(self) -> bool:
        """Is it a text that is stored compressed?"""
        return self.path.lower().endswith(COMPRESSED) and suffix_of(self.path) in TEXTS

    def open(self) -> BinaryIO:
        """Open it at its start, inflated.  Raises OSError or FileTrouble, like the methods below."""
        return cast(BinaryIO, io.BufferedReader(_Inflated(self), 1 << 17)) if self.is_compressed else self.open_stored()

    def open_stored(self) -> BinaryIO:
        """Open its bytes as they are stored."""
        if self.held is not None:
            return io.BytesIO(self.held)
        if is_url(self.path):
            from .remote import Remote

            return cast(BinaryIO, io.BufferedReader(Remote(self.path, self.version)))
        return open_regular(self.path)

    def size(self) -> int:
        """Its length in bytes, as it is stored."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            return self.version.size
        return os.path.getsize(self.path)

    @property
    def cached_bytes(self) -> int:
        """Bytes that the process caches of it besides the array it is read into."""
        if self.held is not None:
            return len(self.held)
        if is_url(self.path):
            from .remote import CACHE_BYTES

            return min(self.version.size, CACHE_BYTES)
        return 0

    def identity(self, file: BinaryIO | None = None) -> tuple[int | str, ...]:
        """A value that changes when the file is written.  `file`: the content, if it is open."""
        if self.held is not None:
            return ()
        if is_url(self.path):
            from .remote import current_version

            # with validators every answer is compared with the version that was planned for
            version = self.version if self.version.validators else current_version(self.path)
            return version.size, version.digest
        status = os.stat(self.path) if file is None else os.fstat(file.fileno())
        return status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns


def suffix_of(path: str) -> str:
    """The suffix of a path in lower case, which determines the format.  Both forms of a zarr store, the folder and `.zarr.zip`,
    give `.zarr`, and a text that is compressed (`x.csv.gz`) gives that of the text."""
    name = (urlsplit(path).path if is_url(path) else path).lower()
    if name.endswith(COMPRESSED):
        inner = os.path.splitext(os.path.splitext(name)[0])[1]
        return inner if inner in TEXTS else os.path.splitext(name)[1]
    return ".zarr" if name.endswith(".zarr.zip") else os.path.splitext(name)[1]


class _Inflated(io.RawIOBase):
    """The content of a text that is compressed by gzip or zstd.  Raises FileTrouble E705 where it is damaged or a bomb."""

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
"""Bytes that are inflated at a time: a block of zstd that repeats one byte is 32,768 times its size."""


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
"""Bytes of the central directory at most, which zipfile reads at once and turns into objects."""
_ENCRYPTED: Final = 1
_LOCAL: Final = struct.Struct("<26sHH")
"""The local header of a member, which ends with the lengths of its name and of its extra field."""


def _unsound() -> tuple[type[Exception], ...]:
    """The exceptions that zipfile raises on damaged archives."""
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
    """The open archive.  Damaged members are E705, and so is a file that is no archive, with the message `otherwise`."""
    import zipfile

    with system_errors(), content.open() as file:
        archive = None
        try:
            with zipfile.ZipFile(cast(BinaryIO, _Bounded(file))) as archive:
                yield archive
        except _unsound() as error:
            raise damaged(otherwise if archive is None else f"has a damaged member: {first_line(error)}") from None


def stored_at(content: Content, info: zipfile.ZipInfo) -> int | None:
    """The offset of an uncompressed member's content; None if it is compressed."""
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
# Outputs block by block, so that a file is never in memory besides its values.

ITEMS: Final = 1 << 13
"""Items of a block."""


def blocks_of(values: Any, items: int = ITEMS) -> Iterator[Any]:
    """The items of a NumPy array in row-major order, as vectors of at most `items`, each valid until the next one is requested.

    If the number of columns divides `items`, vectors are full rows.  A view is not copied as a whole."""
    import numpy

    if values.size:
        yield from numpy.nditer(values, ["external_loop", "buffered"], order="C", buffersize=items)


def characters_of(items: Any) -> str:
    """The characters of a vector of dtype `U1`; NumPy itself drops the NUL."""
    import numpy

    return str(numpy.ascontiguousarray(items).view("=u4").tobytes(), "utf-32-le" if sys.byteorder == "little" else "utf-32-be")


def require_utf8(values: Any, *, table: bool = False) -> None:
    """E708 if an array of `U1` has a character that UTF-8 cannot encode, or one that a text table cannot contain (`table`)."""
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
# An input's array while it is read: allocated once and filled block by block, so that no file is in memory twice.

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
    """Have items the same bytes in the file as in the array?"""
    return bool(stored == dtype and stored.kind not in "bU")


def fill(file: BinaryIO, room: memoryview) -> None:
    """Fill the buffer with the next bytes of a file.  Raises OSError; FileTrouble E705 if the file ends before."""
    filled = 0
    while filled < len(room):
        count = file.readinto(room[filled : filled + BLOCK])  # type: ignore[attr-defined]
        if not count:
            raise damaged("ended while it was read")
        filled += count


def fill_with_items(file: BinaryIO, room: Any, stored: Any) -> None:
    """Fill an array, which need not be contiguous, with the next items of a file, of dtype `stored`, in row-major order.

    Raises OSError; FileTrouble E705 if the file ends before, or has an invalid character."""
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
    """E705 unless every item of a `U1` array is a character."""
    codes = items.view(items.dtype.str[0].replace("=", "<").replace("|", "<") + "u4")
    if len(codes) and int(codes.max()) > LAST_CHARACTER:
        raise damaged("holds numbers that are not characters")
