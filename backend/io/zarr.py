"""`.zarr`: arrays in chunks, versions 2 and 3.

`x.zarr` is a folder (or a zip file) that holds one array; `x.zarr:name` is the array of that name in a group.  Stored types
widen as those of other formats do (`cells`).  Codecs are allowed by name, sizes are bounded before anything is decompressed,
links inside the folder are not followed, and chunks are read one at a time (`zarr_codecs`).

Note [Own reader].  The package zarr decompresses a chunk without a bound (1 MB of gzip in place of 32 bytes took 1.9 GB), so each
of its codecs would have to be replaced by `zarr_codecs`.  It also holds a full shard besides its items and decodes chunks in
several threads, so the memory of reading could not be known in advance.

The header pass reads the metadata only.  Chunks are found by listing the names that exist; absent chunks cost nothing.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import re
import zipfile
from array import array as Numbers
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from itertools import product
from typing import Any, BinaryIO, Final, Protocol, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.files import NotRegular, is_name, open_beneath
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..vm.values import NUMPY_NAMES
from . import sources_and_sinks, zarr_codecs
from .cells import Column, converted_integers, require_accepted, require_shape
from .formats import FileTrouble, damaged, listed, system_errors
from .sources_and_sinks import BLOCK, Content, Piece, RandomAccessSink, new_array, write_at
from .zarr_codecs import MOST_BYTES, ZarrArray, decoded

# ---------------------------------------------------------------------------------------------------- files of a store
#
# The metadata and chunks of zarr arrays are in a folder or in a zip file.
#
# Links inside a folder are not followed.

METADATA: Final = ("zarr.json", ".zarray", ".zgroup")
_PATH_SHOWN: Final = 200

Key: TypeAlias = tuple[str, ...]
"""The path of an entry: names, each inside the one before it."""
Identity: TypeAlias = tuple[int | str, ...]


class ZarrStore(Protocol):
    """Named contents, in a folder or an archive."""

    def open(self, parts: Key) -> BinaryIO | None:
        """The content at a path; None if there is none."""
        ...

    def names(self) -> Iterator[str]:
        """The names directly in the store."""
        ...

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        """The names below a path, down to `depth` levels.  Raises FileTrouble for a link."""
        ...

    def identity(self, parts: Key, depth: int) -> Identity:
        """A value that changes when an entry below a path is written.  Raises OSError and FileTrouble."""
        ...


class _StoreFolder:
    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, parts: Key) -> BinaryIO | None:
        shown = "/".join(parts)[-_PATH_SHOWN:]
        try:
            return open_beneath(self._path, parts)
        except FileNotFoundError:
            return None
        except (NotRegular, IsADirectoryError):
            raise FileTrouble(Code.E704, f"has a part `{shown}` that is not a regular file") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise _link(shown) from None
            raise

    def names(self) -> Iterator[str]:
        with os.scandir(self._path) as entries:
            yield from (entry.name for entry in entries)

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        yield from (key for key, _ in self._entries(parts, (), depth))

    def identity(self, parts: Key, depth: int) -> Identity:
        count, total = 0, 0
        for key, entry in self._entries(parts, (), depth):
            status = entry.stat(follow_symlinks=False)
            description = f"{key} {status.st_ino} {status.st_size} {status.st_mtime_ns}".encode("utf-8", "surrogateescape")
            count, total = count + 1, total ^ int.from_bytes(sha256(description).digest()[:16])
        return count, total

    def _entries(self, parts: Key, inner: Key, depth: int) -> Iterator[tuple[Key, os.DirEntry[str]]]:
        with os.scandir(os.path.join(self._path, *parts, *inner)) as entries:
            for entry in entries:
                key = (*inner, entry.name)
                if entry.is_symlink():
                    raise _link("/".join((*parts, *key)))
                yield key, entry
                if depth > 1 and entry.is_dir(follow_symlinks=False):
                    yield from self._entries(parts, key, depth - 1)


def _link(part: str) -> FileTrouble:
    return FileTrouble(Code.E704, f"has a part `{part[-_PATH_SHOWN:]}` that is a link, which is not followed")


class _Archive:
    def __init__(self, archive: zipfile.ZipFile, content: Content) -> None:
        self._found, self._content = archive, content

    def open(self, parts: Key) -> BinaryIO | None:
        try:
            info = self._found.getinfo("/".join(parts))
        except KeyError:
            return None
        with sources_and_sinks.member(self._found, info) as stream:
            content = stream.read(min(info.file_size, zarr_codecs.LARGEST_CHUNK) + 1)
        if len(content) != info.file_size:
            raise damaged("has a member that ends early, or is too large")
        return io.BytesIO(content)

    def names(self) -> Iterator[str]:
        yield from {name.partition("/")[0] for name in self._found.namelist()}

    def below(self, parts: Key, depth: int) -> Iterator[Key]:
        for name in self._found.namelist():
            key = tuple(name.split("/"))
            if key[: len(parts)] == parts and len(key) <= len(parts) + depth:
                yield key[len(parts) :]

    def identity(self, parts: Key, depth: int) -> Identity:
        return self._content.identity()


@contextmanager
def opened(content: Content) -> Iterator[ZarrStore]:
    with system_errors():
        if content.held is None and os.path.isdir(content.path):
            yield _StoreFolder(content.path)
            return
        with sources_and_sinks.opened(content, "is not a zarr array or group") as archive:
            yield _Archive(archive, content)


# ---------------------------------------------------------------------------------------------------- arrays of a store

_MOST_SHOWN: Final = 200
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,17}")
_PLACE_BYTES: Final = 24
"""Bytes per present chunk while chunks are listed."""


def _metadata(store: ZarrStore, parts: tuple[str, ...]) -> tuple[str, dict[str, Any]] | None:
    """The version of the metadata at a path, and their contents."""
    for name in METADATA:
        file = store.open((*parts, name))
        if file is None:
            continue
        with file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise damaged(f"has metadata of more than {MOST_BYTES} bytes")
        return name, dict(zarr_codecs.parse(raw))
    return None


def _is_array(metadata: tuple[str, dict[str, Any]] | None) -> bool:
    return metadata is not None and (metadata[0] == ".zarray" or metadata[1].get("node_type") == "array")


def _array(store: ZarrStore, name: str) -> tuple[tuple[str, ...], ZarrArray]:
    """The path of an array, and its metadata."""
    root = _metadata(store, ())
    if root is None:
        raise damaged("is not a zarr array or group: it has no metadata")
    if _is_array(root):
        if name:
            raise FileTrouble(Code.E704, f"is one array, without an array named {name}")
        return (), _parsed(root)
    if not name:
        raise FileTrouble(
            Code.E704, "is a group of arrays, name one as `file.zarr:name`", f"its arrays: {listed(_arrays(store))}"
        )
    parts = tuple(name.split("/"))
    if not all(map(is_name, parts)):
        raise FileTrouble(Code.E704, f"cannot have an array named {name}: a name is made of names of folders and `/`")
    metadata = _metadata(store, parts)
    if metadata is None or not _is_array(metadata):
        raise FileTrouble(Code.E704, f"has no array named {name}", f"its arrays: {listed(_arrays(store))}")
    return parts, _parsed(metadata)


def _parsed(metadata: tuple[str, dict[str, Any]]) -> ZarrArray:
    return zarr_codecs.version_2(metadata[1]) if metadata[0] == ".zarray" else zarr_codecs.version_3(metadata[1])


def _arrays(store: ZarrStore) -> list[str]:
    """The names of arrays directly in a group, or some of them if they are many."""
    names = sorted(name for name, _ in zip(store.names(), range(_MOST_SHOWN), strict=False) if is_name(name))
    arrays = []
    for name in names:
        try:
            if name not in METADATA and _is_array(_metadata(store, (name,))):
                arrays.append(name)
        except FileTrouble:
            continue
    return arrays


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and the codecs."""
    with opened(content) as store:
        _, array = _array(store, wanted.member)
        require_accepted(array.stored, wanted.kind)
        return array.shape


def working_memory(content: Content, wanted: Column) -> int:
    """The bytes that reading takes besides the array: one chunk as stored, in each step of decoding, and decoded."""
    with opened(content) as store:
        parts, array = _array(store, wanted.member)
        return 4 * array.chunk_bytes + (1 << 16) + _PLACE_BYTES * len(_present(store, parts, array))


def identity(content: Content, wanted: Column) -> tuple[int | str, ...]:
    """A value that changes when the metadata of the array or one of its chunks is written."""
    with opened(content) as store:
        parts, array = _array(store, wanted.member)
        return store.identity(parts, _depth(array))


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with opened(content) as store:
        parts, array = _array(store, wanted.member)
        require_accepted(array.stored, wanted.kind)
        require_shape(array.shape, shape)
        room = new_array(shape, wanted.kind)
        _fill(store, parts, array, room, _present(store, parts, array))
        return room


def band_bytes(content: Content, wanted: Column, row_bytes: int) -> int:
    """The bytes, in the array, of the rows of one chunk, in full along the other axes."""
    with opened(content) as store:
        _, array = _array(store, wanted.member)
        return row_bytes * (array.chunks[0] if array.chunks else 1)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the chunks that contain row `first`, and the items from there on as vectors, in row-major order."""
    with opened(content) as store:
        _, array = _array(store, wanted.member)
    start = first // array.chunks[0] * array.chunks[0]
    return start, _bands(content, wanted, start)


def _bands(content: Content, wanted: Column, first: int) -> Iterator[Any]:
    with opened(content) as store:
        parts, array = _array(store, wanted.member)
        present = _present(store, parts, array)
        for start in range(first, array.shape[0], array.chunks[0]):
            room = new_array((min(array.chunks[0], array.shape[0] - start), *array.shape[1:]), wanted.kind)
            _fill(store, parts, array, room, present, start)
            yield room.reshape(-1)


def _counts(array: ZarrArray) -> list[int]:
    """The number of chunks along each axis."""
    return [-(-size // chunk) for size, chunk in zip(array.shape, array.chunks, strict=True)]


def _depth(array: ZarrArray) -> int:
    """The number of names in the key of a chunk."""
    return len(_key(array, (0,) * len(array.chunks)))


def _present(store: ZarrStore, parts: tuple[str, ...], array: ZarrArray) -> Any:
    """The indices of the chunks that are present, in row-major order; all others have only fill values."""
    counts, present = _counts(array), Numbers("q")
    for key in store.below(parts, _depth(array)):
        indices = _place(array, key)
        if indices is not None and all(at < count for at, count in zip(indices, counts, strict=True)):
            number = 0
            for at, count in zip(indices, counts, strict=True):
                number = number * count + at
            present.append(number)
    return np.unique(np.frombuffer(present, np.int64)) if present else np.zeros(0, np.int64)


def _fill(store: ZarrStore, parts: tuple[str, ...], array: ZarrArray, room: Any, present: Any, start: int = 0) -> None:
    """Fills `room` with the items of rows from `start` on, at which chunks begin; absent chunks give fill values."""
    room[...] = converted_integers(np.asarray(array.fill), room.dtype)
    origin = [start, *[0] * (room.ndim - 1)][: room.ndim]
    counts = _counts(array)
    if room.ndim:
        rows = [start // array.chunks[0], -(-(start + len(room)) // array.chunks[0])]
        first, last = np.searchsorted(present, [row * math.prod(counts[1:]) for row in rows])
        present = present[first:last]
    for number in map(int, present):
        indices = list[int]()
        for count in reversed(counts):
            number, at = divmod(number, count)
            indices.insert(0, at)
        file = store.open((*parts, *_key(array, indices)))
        if file is None:
            raise damaged("changed while it was read")
        first = [at * chunk - zero for at, chunk, zero in zip(indices, array.chunks, origin, strict=True)]
        with file:
            for inner, items in decoded(file, array.pipeline, array.chunks):
                _put(room, tuple(a + b for a, b in zip(first, inner, strict=True)), items)


def _key(array: ZarrArray, indices: Sequence[int]) -> tuple[str, ...]:
    """The names of a chunk below those of the array."""
    names = [*([array.prefix] if array.prefix else []), *map(str, indices)] or ["0"]
    return (".".join(names),) if array.separator == "." else tuple(names)


def _place(array: ZarrArray, key: tuple[str, ...]) -> tuple[int, ...] | None:
    """The indices of the chunk with that key; None if it is the key of no chunk."""
    names = key[0].split(".") if array.separator == "." and len(key) == 1 else key
    numbers = names[1:] if array.prefix else names
    if not array.chunks:
        return () if key == _key(array, ()) else None
    if len(numbers) != len(array.chunks) or not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return tuple(map(int, numbers)) if not array.prefix or names[0] == array.prefix else None


def _put(room: Any, first: tuple[int, ...], items: Any) -> None:
    """Stores the items of a chunk, without those beyond the array's edge."""
    if any(at >= size for at, size in zip(first, room.shape, strict=True)):
        return
    where = tuple(slice(at, at + size) for at, size in zip(first, items.shape, strict=True))
    inside = tuple(slice(0, size - at) for at, size in zip(first, room.shape, strict=True))
    room[where] = converted_integers(items[inside], room.dtype)


# ---------------------------------------------------------------------------------------------------- uncompressed ZIP members
#
# Zip archives with uncompressed members, whose offsets are known before any member is written.
#
# The data of members are written first, in any order; then `zipfile` writes the headers around them.

_HEADER: Final = 30


@dataclass(frozen=True, slots=True)
class ZarrMember:
    """A member: its header is at `at`, and its `size` bytes begin at `start`."""

    name: str
    size: int
    at: int

    @property
    def start(self) -> int:
        return self.at + _HEADER + len(self.name)

    @property
    def end(self) -> int:
        return self.start + self.size


def members_of(sizes: Iterable[tuple[str, int]]) -> Iterator[ZarrMember]:
    """The members in sequence, one behind the other; names are ASCII."""
    at = 0
    for name, size in sizes:
        member = ZarrMember(name, size, at)
        yield member
        at = member.end


class _WrittenChunks(io.FileIO):
    """A file that already contains its members' data: while zipfile writes one of them (`comes`), the write is skipped."""

    comes = False

    def write(self, data: Any) -> int:
        if not self.comes:
            write_at(self.fileno(), data, self.tell())
        return len(data)


def complete(handle: int, members: Sequence[ZarrMember]) -> None:
    """Writes the headers of members whose data are in an open file, and the central directory, which ends the archive.  Equal
    values give equal files: every member has the earliest time of zip files.  Raises OSError."""
    with _WrittenChunks(handle, "r+b", closefd=False) as file:
        file.seek(members[0].at)
        with zipfile.ZipFile(file, "w") as archive:
            for member in members:
                header = zipfile.ZipInfo(member.name)
                header.create_system, header.external_attr, header.file_size = 3, 0o600 << 16, member.size
                with archive.open(header, "w") as target:
                    file.comes = True
                    for start in range(0, member.size, BLOCK):
                        target.write(file.read(min(BLOCK, member.size - start)))
                    file.comes = False


# ---------------------------------------------------------------------------------------------------- writing a store
#
# `.zarr.zip`: an array in chunks, zarr version 3, in one zip file.
#
# One file can be replaced atomically, unlike a folder; `zarr.storage.ZipStore` opens it, and so does this module.  Chunks are of
# whole rows as far as they fit, not compressed, each a member that can be read on its own.
#
# Source: the specification of Zarr version 3 (core).

CHUNK: Final = 1 << 22
"""The most bytes of a chunk."""
_SUFFIX: Final = ".zarr.zip"


def require_writable(path: str, kind: Kind) -> None:
    """Raises E708 for values that a zarr file cannot hold."""
    if not path.lower().endswith(_SUFFIX):
        raise FileTrouble(
            Code.E708, "would be a folder, which is not replaced as one file is",
            f"name it `{path}.zip`: one file, which `zarr.storage.ZipStore` opens",
        )  # fmt: skip
    if kind is Kind.CHAR:
        raise FileTrouble(Code.E708, "has numbers, not text or dates", "write it to another format: `.npy`, `.parquet`")


def write(file: BinaryIO, values: Any, kind: Kind) -> None:
    """Writes a NumPy array of the kind.  Raises OSError."""
    sink = ZarrSink(_SUFFIX, kind, values.shape, handle=file.fileno())
    sink.prepare()
    rows = values if values.ndim else values.reshape(1)
    step = max(1, CHUNK // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), step):
        sink.put(rows[start : start + step], 0, start)
    sink.finish()


def chunks_of(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """The shape of chunks: as many of the last axes in full as fit in `CHUNK` bytes."""
    left, chunks = max(1, CHUNK // item), list[int]()
    for size in reversed(shape):
        chunks.insert(0, max(1, min(size, left)))
        left = max(1, left // chunks[0])
    return tuple(chunks)


@dataclass(frozen=True, slots=True)
class _ShardLayout:
    """The layout of the file.  A *line* is the items along the axis that chunks cut, with all axes behind it: a chunk is a
    contiguous part of a line, padded with 0 beyond the array."""

    members: tuple[ZarrMember, ...]
    """`zarr.json`, then the chunks."""
    line: int
    chunk: int
    """Bytes of a chunk."""

    @property
    def of_line(self) -> int:
        """The number of chunks of a line."""
        return -(-self.line // self.chunk)


@lru_cache(64)
def _layout(kind: Kind, shape: tuple[int, ...]) -> _ShardLayout:
    chunks = chunks_of(shape, kind.bytes)
    cut = max((axis for axis, chunk in enumerate(chunks) if chunk < shape[axis]), default=0)
    places = product(*(range(-(-size // chunk)) for size, chunk in zip(shape, chunks, strict=True)))
    chunk = math.prod(chunks) * kind.bytes
    named = (("/".join(map(str, ("c", *indices))), chunk) for indices in places)
    head = ("zarr.json", len(_metadata_document(kind, shape)))
    return _ShardLayout(tuple(members_of((head, *named))), math.prod(shape[cut:]) * kind.bytes, chunk)


def _metadata_document(kind: Kind, shape: tuple[int, ...]) -> bytes:
    fill: Any = {Kind.BOOL: False, Kind.C64: [0.0, 0.0], Kind.C128: [0.0, 0.0]}.get(kind, 0)
    metadata = {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": NUMPY_NAMES[kind], "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks_of(shape, kind.bytes)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    }  # fmt: skip
    return json.dumps(metadata, indent=2).encode()


def writing_bytes(kind: Kind, shape: tuple[int, ...]) -> int:
    """The bytes of writing besides the array: a chunk, if its rows are not contiguous, and its encoded bytes."""
    return 4 * math.prod(chunks_of(shape, kind.bytes)) * kind.bytes


@dataclass(slots=True)
class ZarrSink(RandomAccessSink):
    """A new zarr file.  Several processes may write parts of one chunk, so checksums are computed at the end."""

    @property
    def dtype(self) -> Any:
        import numpy

        return numpy.dtype(NUMPY_NAMES[self.kind]).newbyteorder("<")

    @property
    def layout(self) -> _ShardLayout:
        return _layout(self.kind, self.shape)

    def prepare(self) -> None:
        require_writable(self.path, self.kind)
        members, about = self.layout.members, _metadata_document(self.kind, self.shape)
        self.reserve(members[-1].end)
        write_at(self.handle, about, members[0].start)

    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        layout, done = self.layout, 0
        while done < count:
            line, along = divmod(at + done, layout.line)
            chunk, offset = divmod(along, layout.chunk)
            taken = min(count - done, layout.chunk - offset, layout.line - along)
            yield 1 + line * layout.of_line + chunk, offset, done, done + taken
            done += taken

    def start_of(self, chunk: int) -> int:
        return self.layout.members[chunk].start

    def finish(self) -> None:
        complete(self.handle, self.layout.members)
