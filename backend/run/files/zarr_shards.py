"""One chunk of a zarr array, from bytes to a NumPy array, and the chunks that a shard holds.

Of a shard the index is read first and then one inner chunk after the other, so that a shard is never in memory whole.

Neighbours: `zarr_store`, `zarr_metadata`, `zarr_codecs`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final

from .content import length_of
from .filling import require_characters
from .trouble import damaged
from .zarr_codecs import Codec, decode_bytes
from .zarr_metadata import Pipeline, Shards

_ABSENT: Final = (1 << 64) - 1
_SLACK: Final = 1 << 16
"""Bytes that encoding may add."""

Place = tuple[int, ...]


def decoded(file: BinaryIO, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    """The parts of a chunk that are there: where each begins, and its items (in the order of the axes of the array)."""
    return _decoded(_Bytes(file, 0, length_of(file)), pipeline, shape)


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Some bytes of an open file."""

    file: BinaryIO
    start: int
    size: int

    def read(self, at: int, count: int) -> bytes:
        """As many as there are from a place on, at most `count`."""
        self.file.seek(self.start + at)
        return self.file.read(min(count, self.size - at))


def _decoded(bytes: _Bytes, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    order = pipeline.order
    inner = shape if order is None else tuple(shape[axis] for axis in order)
    for place, part in _parts(bytes, pipeline, inner):
        if order is None:
            yield place, part
        else:
            back = tuple(order.index(axis) for axis in range(len(order)))
            yield tuple(place[axis] for axis in back), part.transpose(back)


def _parts(bytes: _Bytes, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    if pipeline.shards is not None:
        yield from _inner(bytes, pipeline.shards, shape)
        return
    size = math.prod(shape) * int(pipeline.dtype.itemsize)
    most = size + size // 8 + _SLACK
    if bytes.size > most:
        raise damaged(f"has a chunk of more than {most} bytes, which holds {size}")
    yield (0,) * len(shape), _items(decode_bytes(bytes.read(0, most), pipeline.codecs, size), pipeline.dtype).reshape(shape)


def _items(data: bytes, dtype: Any) -> Any:
    import numpy

    items = numpy.frombuffer(data, dtype)
    if dtype.kind == "b":
        return items.view(numpy.uint8) != 0
    if dtype.kind == "U":
        require_characters(items)
    return items


def _inner(bytes: _Bytes, shards: Shards, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    import numpy

    counts = tuple(size // part for size, part in zip(shape, shards.shape, strict=True))
    index_size = 16 * math.prod(counts) + 4 * shards.checked
    if bytes.size < index_size:
        raise damaged("has a shard that is shorter than its index")
    raw = bytes.read(bytes.size - index_size if shards.at_end else 0, index_size)
    if shards.checked:
        raw = decode_bytes(raw, (Codec("crc32c", {}),), index_size - 4)
    index = numpy.frombuffer(raw, shards.order + "u8").reshape(-1, 2)
    present = numpy.flatnonzero(~((index[:, 0] == _ABSENT) & (index[:, 1] == _ABSENT)))
    places = numpy.stack(numpy.unravel_index(present, counts), axis=1) if counts else numpy.zeros((len(present), 0), int)
    for which, place in zip(present.tolist(), places.tolist(), strict=True):
        start, size = int(index[which, 0]), int(index[which, 1])
        if start + size > bytes.size:
            raise damaged("has a shard whose index leads out of it")
        first = tuple(at * part for at, part in zip(place, shards.shape, strict=True))
        for at, items in _decoded(replace(bytes, start=bytes.start + start, size=size), shards.inner, shards.shape):
            yield tuple(a + b for a, b in zip(first, at, strict=True)), items
