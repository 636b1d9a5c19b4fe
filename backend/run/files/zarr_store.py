"""`.zarr`: arrays in chunks, versions 2 and 3.

`x.zarr` is a folder (or a zip file) that holds one array; `x.zarr:name` is the array of that name in a group.  Stored types
widen as those of other formats do (`elements`).  The format is read here and not by the package zarr, which decodes what the
metadata name: codecs are allowed by name, sizes are bounded before anything is inflated, links inside the folder are not
followed, and chunks are read one at a time (`zarr_metadata`, `zarr_codecs`, `zarr_shards`).

The header pass reads the metadata only.  Neighbours: `reading`, `elements`, `archive`.
"""

from __future__ import annotations

import errno
import io
import itertools
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final, Protocol

from ....lang.codes import Code
from ....lang.opening import NotRegular, is_name, open_beneath
from ....typechecker.elements import Kind
from . import archive, zarr_metadata
from .content import Content
from .elements import require_accepted, require_shape
from .filling import new_array
from .trouble import FileTrouble, damaged, listed, system_errors
from .zarr_metadata import MOST_BYTES, ZarrArray
from .zarr_shards import decoded

_METADATA: Final = ("zarr.json", ".zarray", ".zgroup")
_MOST_SHOWN: Final = 200


class _Store(Protocol):
    """Named contents."""

    def open(self, parts: tuple[str, ...]) -> BinaryIO | None:
        """A content; None if there is none."""
        ...

    def names(self, parts: tuple[str, ...]) -> Iterator[str]:
        """What is directly below."""
        ...


class _Folder:
    def __init__(self, path: str) -> None:
        self._path = path

    def open(self, parts: tuple[str, ...]) -> BinaryIO | None:
        shown = "/".join(parts)[-_MOST_SHOWN:]
        try:
            return open_beneath(self._path, parts)
        except FileNotFoundError:
            return None
        except (NotRegular, IsADirectoryError):
            raise FileTrouble(Code.E704, f"has a part `{shown}` that is not a regular file") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EMLINK):
                raise FileTrouble(Code.E704, f"has a part `{shown}` that is a link, which is not followed") from None
            raise

    def names(self, parts: tuple[str, ...]) -> Iterator[str]:
        try:
            with os.scandir(os.path.join(self._path, *parts)) as entries:
                for entry in entries:
                    yield entry.name
        except (FileNotFoundError, NotADirectoryError):
            return


class _Archive:
    def __init__(self, found: zipfile.ZipFile) -> None:
        self._found = found
        self._below: dict[tuple[str, ...], dict[str, None]] = {}
        for name in found.namelist():
            parts = tuple(name.split("/"))
            for depth in range(len(parts)):
                self._below.setdefault(parts[:depth], {})[parts[depth]] = None

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

    def names(self, parts: tuple[str, ...]) -> Iterator[str]:
        yield from self._below.get(parts, ())


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
    names = sorted(name for name, _ in zip(store.names(()), range(_MOST_SHOWN), strict=False) if is_name(name))
    found = []
    for name in names:
        try:
            if name not in _METADATA and _is_array(_metadata(store, (name,))):
                found.append(name)
        except FileTrouble:
            continue
    return found


def header(content: Content, name: str, kind: Kind) -> tuple[int, ...]:
    """The shape, after checking the stored type and the codecs."""
    with _store(content) as store:
        _, array = _array(store, name)
        require_accepted(array.stored, kind)
        return array.shape


def chunk_bytes(content: Content, name: str) -> int:
    """What reading takes beside the array: one chunk as it is stored, decoded step by step, and in its place."""
    with _store(content) as store:
        return 4 * _array(store, name)[1].chunk_bytes + (1 << 16)


def read(content: Content, name: str, kind: Kind, shape: tuple[int, ...]) -> Any:
    """The data as a NumPy array of the kind."""
    with _store(content) as store:
        parts, array = _array(store, name)
        require_accepted(array.stored, kind)
        require_shape(array.shape, shape)
        room = new_array(shape, kind)
        if not room.size:
            return room
        room[...] = array.fill
        for place, key in _chunks(store, parts, array):
            file = store.open((*parts, *key))
            if file is None:
                continue
            first = tuple(at * chunk for at, chunk in zip(place, array.chunks, strict=True))
            with file:
                for at, items in decoded(file, array.pipeline, array.chunks):
                    _put(room, tuple(a + b for a, b in zip(first, at, strict=True)), items)
        return room


def band_bytes(content: Content, name: str, row_bytes: int) -> int:
    """Of the rows of one chunk, all along the other axes, in the array."""
    with _store(content) as store:
        _, array = _array(store, name)
        return row_bytes * (array.chunks[0] if array.chunks else 1)


def blocks(content: Content, name: str, kind: Kind, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the chunks that have row `first`, and the items from there on, in the array's order, as vectors."""
    with _store(content) as store:
        _, array = _array(store, name)
    band = first // array.chunks[0]
    return band * array.chunks[0], _bands(content, name, kind, band)


def _bands(content: Content, name: str, kind: Kind, band: int) -> Iterator[Any]:
    with _store(content) as store:
        parts, array = _array(store, name)
        for start in range(band * array.chunks[0], array.shape[0], array.chunks[0]):
            rows = min(array.chunks[0], array.shape[0] - start)
            room = new_array((rows, *array.shape[1:]), kind)
            room[...] = array.fill
            for place in itertools.product(*map(range, array.grid[1:])):
                file = store.open((*parts, *_key(array, (start // array.chunks[0], *place))))
                if file is None:
                    continue
                lead = (0, *(at * chunk for at, chunk in zip(place, array.chunks[1:], strict=True)))
                with file:
                    for at, items in decoded(file, array.pipeline, array.chunks):
                        _put(room, tuple(a + b for a, b in zip(lead, at, strict=True)), items)
            yield room.reshape(-1)


def _key(array: ZarrArray, place: tuple[int, ...]) -> tuple[str, ...]:
    """The name of a chunk below the array's."""
    names = ([array.prefix] if array.prefix else []) + [str(at) for at in place]
    return (".".join(names),) if array.separator == "." else tuple(names)


def _put(room: Any, first: tuple[int, ...], items: Any) -> None:
    """Items where they belong, without those beyond the edge."""
    if any(at >= size for at, size in zip(first, room.shape, strict=True)):
        return
    where = tuple(slice(at, at + size) for at, size in zip(first, items.shape, strict=True))
    inside = tuple(slice(0, size - at) for at, size in zip(first, room.shape, strict=True))
    room[where] = items[inside]


def _chunks(store: _Store, parts: tuple[str, ...], array: ZarrArray) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    """The chunks that are there: place in the grid, and name below the array's."""
    rank, grid = len(array.shape), array.grid
    if not rank:
        yield (), (array.prefix or "0",)
        return
    if array.separator == ".":
        lead = f"{array.prefix}." if array.prefix else ""
        for name in store.names(parts):
            place = _place(name.removeprefix(lead).split("."), grid) if name.startswith(lead) else None
            if place is not None:
                yield place, (name,)
        return
    yield from _below(store, parts, (array.prefix,) if array.prefix else (), (), grid)


def _below(
    store: _Store, parts: tuple[str, ...], lead: tuple[str, ...], key: tuple[str, ...], grid: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], tuple[str, ...]]]:
    for name in store.names((*parts, *lead, *key)):
        place = _place((*key, name), grid[: len(key) + 1])
        if place is None:
            continue
        if len(place) == len(grid):
            yield place, (*lead, *key, name)
        else:
            yield from _below(store, parts, lead, (*key, name), grid)


def _place(names: Any, grid: tuple[int, ...]) -> tuple[int, ...] | None:
    """The numbers that a chunk is named by, if they are in the grid."""
    if len(names) != len(grid):
        return None
    place = []
    for name, size in zip(names, grid, strict=True):
        if not (name.isascii() and name.isdigit()) or len(name) > 19 or (name[0] == "0" and len(name) > 1) or int(name) >= size:
            return None
        place.append(int(name))
    return tuple(place)
