"""`.zarr`: arrays in chunks, versions 2 and 3.

`x.zarr` is a folder (or a zip file) that holds one array; `x.zarr:name` is the array of that name in a group.  Stored types
widen as those of other formats do (`elements`).  Codecs are allowed by name, sizes are bounded before anything is inflated, links
inside the folder are not followed, and chunks are read one at a time (`zarr_metadata`, `zarr_codecs`, `zarr_shards`).

Note [Own reader].  The package zarr inflates a chunk to whatever its bytes become (1 MB of gzip for 32 bytes took 1.9 GB) and has
no bound, so each of its codecs would have to be replaced by what is in `zarr_codecs` now.  It also holds a shard whole beside its
items and decodes chunks in several threads of its own, so what reading takes would not be known before.

The header pass reads the metadata only.  Neighbours: `reading`, `elements`, `archive`.
"""

from __future__ import annotations

import errno
import io
import itertools
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Protocol

from ....lang.codes import Code
from ....lang.opening import NotRegular, is_name, open_beneath
from . import archive, zarr_metadata
from .content import Content
from .conversions import Column
from .elements import require_accepted, require_shape
from .filling import new_array
from .trouble import FileTrouble, damaged, listed, system_errors
from .zarr_metadata import MOST_BYTES, ZarrArray
from .zarr_shards import decoded

_METADATA: Final = ("zarr.json", ".zarray", ".zgroup")
_MOST_SHOWN: Final = 200
_MOST_CHUNKS: Final = 1 << 24
"""That are looked for together: so many take about a minute."""


class _Store(Protocol):
    """Named contents."""

    def open(self, parts: tuple[str, ...]) -> BinaryIO | None:
        """A content; None if there is none."""
        ...

    def names(self) -> Iterator[str]:
        """What is directly in it."""
        ...


class _Folder:
    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, parts: tuple[str, ...]) -> BinaryIO | None:
        shown = "/".join(parts)[-_MOST_SHOWN:]
        try:
            os.lstat(os.path.join(self._path, *parts))  # most of a sparse array is not there, which opening finds later
            return open_beneath(self._path, parts)
        except FileNotFoundError:
            return None
        except (NotRegular, IsADirectoryError):
            raise FileTrouble(Code.E704, f"has a part `{shown}` that is not a regular file") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise FileTrouble(Code.E704, f"has a part `{shown}` that is a link, which is not followed") from None
            raise

    def names(self) -> Iterator[str]:
        with os.scandir(self._path) as entries:
            yield from (entry.name for entry in entries)


class _Archive:
    def __init__(self, found: zipfile.ZipFile) -> None:
        self._found = found

    def open(self, parts: tuple[str, ...]) -> BinaryIO | None:
        try:
            info = self._found.getinfo("/".join(parts))
        except KeyError:
            return None
        with archive.member(self._found, info) as stream:
            content = stream.read(min(info.file_size, zarr_metadata.LARGEST_CHUNK) + 1)
        if len(content) != info.file_size:
            raise damaged("has a member that ends early, or is too large")
        return io.BytesIO(content)

    def names(self) -> Iterator[str]:
        yield from {name.partition("/")[0] for name in self._found.namelist()}


@contextmanager
def _store(content: Content) -> Iterator[_Store]:
    with system_errors():
        if content.held is None and os.path.isdir(content.path):
            yield _Folder(content.path)
            return
        with archive.opened(content, "is not a zarr array or group") as found:
            yield _Archive(found)


def _metadata(store: _Store, parts: tuple[str, ...]) -> tuple[str, dict[str, Any]] | None:
    """Which metadata there are, and what they say."""
    for name in _METADATA:
        file = store.open((*parts, name))
        if file is None:
            continue
        with file:
            raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise damaged(f"has metadata of more than {MOST_BYTES} bytes")
        return name, dict(zarr_metadata.parse(raw))
    return None


def _is_array(found: tuple[str, dict[str, Any]] | None) -> bool:
    return found is not None and (found[0] == ".zarray" or found[1].get("node_type") == "array")


def _array(store: _Store, name: str) -> tuple[tuple[str, ...], ZarrArray]:
    """Where an array is, and what its metadata say."""
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
    found = _metadata(store, parts)
    if found is None or not _is_array(found):
        raise FileTrouble(Code.E704, f"has no array named {name}", f"its arrays: {listed(_arrays(store))}")
    return parts, _parsed(found)


def _parsed(found: tuple[str, dict[str, Any]]) -> ZarrArray:
    return zarr_metadata.version_2(found[1]) if found[0] == ".zarray" else zarr_metadata.version_3(found[1])


def _arrays(store: _Store) -> list[str]:
    """The arrays directly in a group, some of them if they are many."""
    names = sorted(name for name, _ in zip(store.names(), range(_MOST_SHOWN), strict=False) if is_name(name))
    found = []
    for name in names:
        try:
            if name not in _METADATA and _is_array(_metadata(store, (name,))):
                found.append(name)
        except FileTrouble:
            continue
    return found


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and the codecs."""
    with _store(content) as store:
        _, array = _array(store, wanted.member)
        require_accepted(array.stored, wanted.kind)
        return array.shape


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array: one chunk as it is stored, decoded step by step, and in its place."""
    with _store(content) as store:
        return 4 * _array(store, wanted.member)[1].chunk_bytes + (1 << 16)


def read(content: Content, wanted: Column, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with _store(content) as store:
        parts, array = _array(store, wanted.member)
        require_accepted(array.stored, wanted.kind)
        require_shape(array.shape, shape)
        room = new_array(shape, wanted.kind)
        _fill(store, parts, array, room)
        return room


def band_bytes(content: Content, wanted: Column, row_bytes: int) -> int:
    """Of the rows of one chunk, all along the other axes, in the array."""
    with _store(content) as store:
        _, array = _array(store, wanted.member)
        return row_bytes * (array.chunks[0] if array.chunks else 1)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the chunks that have row `first`, and the items from there on, in the array's order, as vectors."""
    with _store(content) as store:
        _, array = _array(store, wanted.member)
    start = first // array.chunks[0] * array.chunks[0]
    return start, _bands(content, wanted, start)


def _bands(content: Content, wanted: Column, first: int) -> Iterator[Any]:
    with _store(content) as store:
        parts, array = _array(store, wanted.member)
        for start in range(first, array.shape[0], array.chunks[0]):
            room = new_array((min(array.chunks[0], array.shape[0] - start), *array.shape[1:]), wanted.kind)
            _fill(store, parts, array, room, start)
            yield room.reshape(-1)


def _fill(store: _Store, parts: tuple[str, ...], array: ZarrArray, room: Any, start: int = 0) -> None:
    """The items of some rows, from `start` on, where chunks begin; those of chunks that are not there too."""
    room[...] = array.fill
    origin = [start, *[0] * (room.ndim - 1)][: room.ndim]
    cut = [range(at // chunk, -(-(at + size) // chunk)) for at, size, chunk in zip(origin, room.shape, array.chunks, strict=True)]
    if math.prod(map(len, cut)) > _MOST_CHUNKS:
        raise damaged(f"has {math.prod(map(len, cut))} chunks; at most {_MOST_CHUNKS} are read")
    for place in itertools.product(*cut):
        file = store.open((*parts, *_key(array, place)))
        if file is None:
            continue
        first = [at * chunk - zero for at, chunk, zero in zip(place, array.chunks, origin, strict=True)]
        with file:
            for at, items in decoded(file, array.pipeline, array.chunks):
                _put(room, tuple(a + b for a, b in zip(first, at, strict=True)), items)


def _key(array: ZarrArray, place: tuple[int, ...]) -> tuple[str, ...]:
    """The name of a chunk below the array's."""
    names = [*([array.prefix] if array.prefix else []), *map(str, place)] or ["0"]
    return (".".join(names),) if array.separator == "." else tuple(names)


def _put(room: Any, first: tuple[int, ...], items: Any) -> None:
    """Items where they belong, without those beyond the edge."""
    if any(at >= size for at, size in zip(first, room.shape, strict=True)):
        return
    where = tuple(slice(at, at + size) for at, size in zip(first, items.shape, strict=True))
    inside = tuple(slice(0, size - at) for at, size in zip(first, room.shape, strict=True))
    room[where] = items[inside]
