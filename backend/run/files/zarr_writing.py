"""`.zarr.zip`: an array in chunks, zarr version 3, in one zip file.

One file is replaced whole or not at all, which a folder is not; `zarr.storage.ZipStore` opens it, and so does
`zarr_store`.  Chunks are of whole rows as far as they fit, not compressed, each a member that can be read on its own.

Source: the specification of Zarr version 3 (core).  Neighbours: `zarr_store` (the other way), `placed_rows`, `stored_members`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, BinaryIO, Final

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from .placed_rows import Piece, PlacedSink, write_at
from .stored_members import Member, complete, members_of
from .trouble import FileTrouble

CHUNK: Final = 1 << 22
"""Bytes of a chunk, at most."""
_SUFFIX: Final = ".zarr.zip"


def require_writable(path: str, kind: Kind) -> None:
    """E708: what a zarr file cannot hold."""
    if not path.lower().endswith(_SUFFIX):
        raise FileTrouble(
            Code.E708, "would be a folder, which is not replaced as one file is",
            f"name it `{path}.zip`: one file, which `zarr.storage.ZipStore` opens",
        )  # fmt: skip
    if kind is Kind.CHAR:
        raise FileTrouble(Code.E708, "is text, a zarr array has numbers", "write it to an npy or a txt file")


def write(file: BinaryIO, values: Any, kind: Kind) -> None:
    """A NumPy array of the kind.  OSError."""
    sink = ZarrSink(_SUFFIX, kind, values.shape, handle=file.fileno())
    sink.prepare()
    rows = values if values.ndim else values.reshape(1)
    step = max(1, CHUNK // max(1, rows[:1].nbytes))
    for start in range(0, len(rows), step):
        sink.put(rows[start : start + step], 0, start)
    sink.finish()


def chunks_of(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """The shape of chunks: the last axes whole, as far as `CHUNK` bytes go."""
    left, chunks = max(1, CHUNK // item), list[int]()
    for size in reversed(shape):
        chunks.insert(0, max(1, min(size, left)))
        left = max(1, left // chunks[0])
    return tuple(chunks)


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where everything lies.  A *line* is the items along the axis that chunks cut, with those of the axes behind it: a chunk is
    some of a line, one behind the other, and what lies beyond the array is 0."""

    members: tuple[Member, ...]
    """`zarr.json`, and the chunks."""
    line: int
    chunk: int
    """Bytes."""

    @property
    def of_line(self) -> int:
        """Chunks."""
        return -(-self.line // self.chunk)


@lru_cache(64)
def _layout(kind: Kind, shape: tuple[int, ...]) -> _Layout:
    chunks = chunks_of(shape, kind.bytes)
    cut = max((axis for axis, chunk in enumerate(chunks) if chunk < shape[axis]), default=0)
    places = product(*(range(-(-size // chunk)) for size, chunk in zip(shape, chunks, strict=True)))
    chunk = math.prod(chunks) * kind.bytes
    named = (("/".join(map(str, ("c", *place))), chunk) for place in places)
    head = ("zarr.json", len(_metadata(kind, shape)))
    return _Layout(tuple(members_of((head, *named))), math.prod(shape[cut:]) * kind.bytes, chunk)


def _metadata(kind: Kind, shape: tuple[int, ...]) -> bytes:
    fill: Any = {Kind.BOOL: False, Kind.C64: [0.0, 0.0], Kind.C128: [0.0, 0.0]}.get(kind, 0)
    found = {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": NUMPY_NAMES[kind], "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks_of(shape, kind.bytes)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    }  # fmt: skip
    return json.dumps(found, indent=2).encode()


def writing_bytes(kind: Kind, shape: tuple[int, ...]) -> int:
    """Beside the array: a chunk, if its rows lie apart, and its bytes."""
    return 4 * math.prod(chunks_of(shape, kind.bytes)) * kind.bytes


@dataclass(slots=True)
class ZarrSink(PlacedSink):
    """A new zarr file.  Chunks are written into by whoever has a part of one, so checksums are of what is there at the end."""

    @property
    def dtype(self) -> Any:
        import numpy

        return numpy.dtype(NUMPY_NAMES[self.kind]).newbyteorder("<")

    @property
    def layout(self) -> _Layout:
        return _layout(self.kind, self.shape)

    def prepare(self) -> None:
        require_writable(self.path, self.kind)
        members, about = self.layout.members, _metadata(self.kind, self.shape)
        self.reserve(members[-1].end)
        write_at(self.handle, about, members[0].start)

    def pieces(self, at: int, count: int) -> Iterator[Piece]:
        layout, done = self.layout, 0
        while done < count:
            line, along = divmod(at + done, layout.line)
            chunk, place = divmod(along, layout.chunk)
            taken = min(count - done, layout.chunk - place, layout.line - along)
            yield 1 + line * layout.of_line + chunk, place, done, done + taken
            done += taken

    def start_of(self, chunk: int) -> int:
        return self.layout.members[chunk].start

    def finish(self) -> None:
        complete(self.handle, self.layout.members)
