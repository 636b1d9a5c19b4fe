"""`.zarr`: arrays in chunks, versions 2 and 3.

`x.zarr` is a folder (or a zip file) that holds one array; `x.zarr:name` is the array of that name in a group.  Stored types
widen as those of other formats do (`elements`).  Codecs are allowed by name, sizes are bounded before anything is inflated, links
inside the folder are not followed, and chunks are read one at a time (`zarr_metadata`, `zarr_codecs`, `zarr_shards`).

Note [Own reader].  The package zarr inflates a chunk to whatever its bytes become (1 MB of gzip for 32 bytes took 1.9 GB) and has
no bound, so each of its codecs would have to be replaced by what is in `zarr_codecs` now.  It also holds a shard whole beside its
items and decodes chunks in several threads of its own, so what reading takes would not be known before.

The header pass reads the metadata only.  Chunks are looked for by the names that are there: those that are not cost nothing.
Neighbours: `reading`, `elements`, `zarr_files`.
"""

from __future__ import annotations

import math
import re
from array import array as Numbers
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....lang.opening import is_name
from . import zarr_metadata
from .content import Content
from .conversions import Column
from .elements import require_accepted, require_shape, within
from .filling import new_array
from .trouble import FileTrouble, damaged, listed
from .zarr_files import METADATA, Store, opened
from .zarr_metadata import MOST_BYTES, ZarrArray
from .zarr_shards import decoded

_MOST_SHOWN: Final = 200
_NUMBER: Final = re.compile("0|[1-9][0-9]{0,17}")
_PLACE_BYTES: Final = 24
"""That finding a chunk takes while the others are looked for."""


def _metadata(store: Store, parts: tuple[str, ...]) -> tuple[str, dict[str, Any]] | None:
    """Which metadata there are, and what they say."""
    for name in METADATA:
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


def _array(store: Store, name: str) -> tuple[tuple[str, ...], ZarrArray]:
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


def _arrays(store: Store) -> list[str]:
    """The arrays directly in a group, some of them if they are many."""
    names = sorted(name for name, _ in zip(store.names(), range(_MOST_SHOWN), strict=False) if is_name(name))
    found = []
    for name in names:
        try:
            if name not in METADATA and _is_array(_metadata(store, (name,))):
                found.append(name)
        except FileTrouble:
            continue
    return found


def header(content: Content, wanted: Column) -> tuple[int, ...]:
    """The shape, after checking the stored type and the codecs."""
    with opened(content) as store:
        _, array = _array(store, wanted.member)
        require_accepted(array.stored, wanted.kind)
        return array.shape


def beside_bytes(content: Content, wanted: Column) -> int:
    """What reading takes beside the array: one chunk as it is stored, decoded step by step, and in its place."""
    with opened(content) as store:
        parts, array = _array(store, wanted.member)
        return 4 * array.chunk_bytes + (1 << 16) + _PLACE_BYTES * len(_present(store, parts, array))


def identity(content: Content, wanted: Column) -> tuple[int | str, ...]:
    """The same while nobody has written the metadata of the array, or a chunk of it."""
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
    """Of the rows of one chunk, all along the other axes, in the array."""
    with opened(content) as store:
        _, array = _array(store, wanted.member)
        return row_bytes * (array.chunks[0] if array.chunks else 1)


def blocks(content: Content, wanted: Column, first: int) -> tuple[int, Iterator[Any]]:
    """The first row of the chunks that have row `first`, and the items from there on, in the array's order, as vectors."""
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
    """Chunks along each axis."""
    return [-(-size // chunk) for size, chunk in zip(array.shape, array.chunks, strict=True)]


def _depth(array: ZarrArray) -> int:
    """Names in the key of a chunk."""
    return len(_key(array, (0,) * len(array.chunks)))


def _present(store: Store, parts: tuple[str, ...], array: ZarrArray) -> Any:
    """Numbers of the chunks that are there, in the order of the array; all others are of fill values."""
    counts, found = _counts(array), Numbers("q")
    for key in store.below(parts, _depth(array)):
        place = _place(array, key)
        if place is not None and all(at < count for at, count in zip(place, counts, strict=True)):
            number = 0
            for at, count in zip(place, counts, strict=True):
                number = number * count + at
            found.append(number)
    return np.unique(np.frombuffer(found, np.int64)) if found else np.zeros(0, np.int64)


def _fill(store: Store, parts: tuple[str, ...], array: ZarrArray, room: Any, present: Any, start: int = 0) -> None:
    """The items of some rows, from `start` on, where chunks begin; those of chunks that are not there too."""
    room[...] = within(np.asarray(array.fill), room.dtype)
    origin = [start, *[0] * (room.ndim - 1)][: room.ndim]
    counts = _counts(array)
    if room.ndim:
        rows = [start // array.chunks[0], -(-(start + len(room)) // array.chunks[0])]
        first, last = np.searchsorted(present, [row * math.prod(counts[1:]) for row in rows])
        present = present[first:last]
    for number in map(int, present):
        place = list[int]()
        for count in reversed(counts):
            number, at = divmod(number, count)
            place.insert(0, at)
        file = store.open((*parts, *_key(array, place)))
        if file is None:
            raise damaged("changed while it was read")
        first = [at * chunk - zero for at, chunk, zero in zip(place, array.chunks, origin, strict=True)]
        with file:
            for inner, items in decoded(file, array.pipeline, array.chunks):
                _put(room, tuple(a + b for a, b in zip(first, inner, strict=True)), items)


def _key(array: ZarrArray, place: Sequence[int]) -> tuple[str, ...]:
    """The name of a chunk below the array's."""
    names = [*([array.prefix] if array.prefix else []), *map(str, place)] or ["0"]
    return (".".join(names),) if array.separator == "." else tuple(names)


def _place(array: ZarrArray, key: tuple[str, ...]) -> tuple[int, ...] | None:
    """The chunk of that name; None if it is the name of none."""
    names = key[0].split(".") if array.separator == "." and len(key) == 1 else key
    numbers = names[1:] if array.prefix else names
    if not array.chunks:
        return () if key == _key(array, ()) else None
    if len(numbers) != len(array.chunks) or not all(map(_NUMBER.fullmatch, numbers)):
        return None
    return tuple(map(int, numbers)) if not array.prefix or names[0] == array.prefix else None


def _put(room: Any, first: tuple[int, ...], items: Any) -> None:
    """Items where they belong, without those beyond the edge."""
    if any(at >= size for at, size in zip(first, room.shape, strict=True)):
        return
    where = tuple(slice(at, at + size) for at, size in zip(first, items.shape, strict=True))
    inside = tuple(slice(0, size - at) for at, size in zip(first, room.shape, strict=True))
    room[where] = within(items[inside], room.dtype)
