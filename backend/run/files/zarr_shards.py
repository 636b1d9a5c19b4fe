"""One chunk of a zarr array, from bytes to a NumPy array, and the chunks that a shard holds.

Of a shard the index is read first and then one inner chunk after the other, so that a shard is never in memory whole.

Neighbours: `zarr_store`, `zarr_metadata`, `zarr_codecs`.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from typing import Any, BinaryIO, Final, cast

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
    order = pipeline.order
    inner = shape if order is None else tuple(shape[axis] for axis in order)
    for place, part in _parts(file, pipeline, inner):
        if order is None:
            yield place, part
        else:
            back = tuple(order.index(axis) for axis in range(len(order)))
            yield tuple(place[axis] for axis in back), part.transpose(back)


def _parts(file: BinaryIO, pipeline: Pipeline, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    if pipeline.shards is not None:
        yield from _inner(file, pipeline.shards, shape)
        return
    size = math.prod(shape) * int(pipeline.dtype.itemsize)
    most = size + size // 8 + _SLACK
    data = file.read(most + 1)
    if len(data) > most:
        raise damaged(f"has a chunk of more than {most} bytes, which holds {size}")
    yield (0,) * len(shape), _items(decode_bytes(data, pipeline.codecs, size), pipeline.dtype).reshape(shape)


def _items(data: bytes, dtype: Any) -> Any:
    import numpy

    items = numpy.frombuffer(data, dtype)
    if dtype.kind == "b":
        return items.view(numpy.uint8) != 0
    if dtype.kind == "U":
        require_characters(items)
    return items


def _inner(file: BinaryIO, shards: Shards, shape: tuple[int, ...]) -> Iterator[tuple[Place, Any]]:
    import numpy

    counts = tuple(size // part for size, part in zip(shape, shards.shape, strict=True))
    length = length_of(file)
    index_size = 16 * math.prod(counts) + 4 * shards.checked
    if length < index_size:
        raise damaged("has a shard that is shorter than its index")
    file.seek(length - index_size if shards.at_end else 0)
    raw = file.read(index_size)
    if shards.checked:
        raw = decode_bytes(raw, (Codec("crc32c", {}),), index_size - 4)
    index = numpy.frombuffer(raw, shards.order + "u8").reshape(-1, 2)
    present = numpy.flatnonzero(~((index[:, 0] == _ABSENT) & (index[:, 1] == _ABSENT)))
    places = numpy.stack(numpy.unravel_index(present, counts), axis=1) if counts else numpy.zeros((len(present), 0), int)
    for which, place in zip(present.tolist(), places.tolist(), strict=True):
        start, size = int(index[which, 0]), int(index[which, 1])
        if start + size > length:
            raise damaged("has a shard whose index leads out of it")
        first = tuple(at * part for at, part in zip(place, shards.shape, strict=True))
        for at, items in decoded(cast(BinaryIO, _Part(file, start, size)), shards.inner, shards.shape):
            yield tuple(a + b for a, b in zip(first, at, strict=True)), items


class _Part(io.RawIOBase):
    """Some bytes of an open file as a file."""

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0

    def read(self, count: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        count = left if count < 0 else min(count, left)
        self._file.seek(self._start + self._at)
        found = self._file.read(count)
        self._at += len(found)
        return found

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        return self._at
