"""`.zarr.zip`: an array in chunks, zarr version 3, in one zip file.

One file is replaced whole or not at all, which a folder is not; `zarr.storage.ZipStore` opens it, and so does
`zarr_store`.  Chunks are of whole rows as far as they fit, not compressed, each a member that can be read on its own.

Source: the specification of Zarr version 3 (core).  Neighbours: `zarr_store` (the other way), `ordered_rows`.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from itertools import product
from typing import Any, BinaryIO, ClassVar, Final

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ..values import NUMPY_NAMES
from .ordered_rows import OrderedSink
from .trouble import FileTrouble

CHUNK: Final = 1 << 22
"""Bytes of a chunk, at most."""
_SUFFIX: Final = ".zarr.zip"
_MADE: Final = (1980, 1, 1, 0, 0, 0)
"""When members were made, as the first moment that zip files know: equal values give equal files."""


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
    writer = ZarrRows(file, kind, values.shape)
    for start in range(0, len(values) if values.ndim else 0, writer.step):
        writer.put(values[start : start + writer.step])
    if not values.ndim:
        writer.put(values)
    writer.end()


def chunks_of(shape: Sequence[int], item: int) -> tuple[int, ...]:
    """The shape of chunks: the last axes whole, as far as `CHUNK` bytes go."""
    left, chunks = max(1, CHUNK // item), list[int]()
    for size in reversed(shape):
        chunks.insert(0, max(1, min(size, left)))
        left = max(1, left // chunks[0])
    return tuple(chunks)


class ZarrRows:
    """Chunks of a new file, a row of chunks after the other.  `step`: rows of a chunk."""

    def __init__(self, file: BinaryIO, kind: Kind, shape: tuple[int, ...]) -> None:
        import numpy

        self.shape, self.chunks = shape, chunks_of(shape, numpy.dtype(NUMPY_NAMES[kind]).itemsize)
        self.step = self.chunks[0] if shape else 1
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self._waiting: Any = numpy.empty((self.step if self.step > 1 else 0, *shape[1:]), NUMPY_NAMES[kind])
        self._count = self._done = 0
        self._member("zarr.json", json.dumps(_metadata(kind, shape, self.chunks), indent=2).encode())

    def put(self, rows: Any) -> None:
        if not self.shape:
            self._member("c", rows.tobytes())
            return
        while len(rows):
            if not self._count and len(rows) >= self.step:
                self._write(rows[: self.step])
                rows = rows[self.step :]
                continue
            taken = rows[: self.step - self._count]
            self._waiting[self._count : self._count + len(taken)] = taken
            self._count, rows = self._count + len(taken), rows[len(taken) :]
            if self._count == self.step:
                self._write(self._waiting)

    def end(self) -> None:
        if self._count:
            self._write(self._waiting[: self._count])
        self._zip.close()

    def _write(self, rows: Any) -> None:
        """The chunks of so many rows; what lies beyond the array is 0."""
        import numpy

        inner = zip(self.shape[1:], self.chunks[1:], strict=True)
        for place in product(*(range(-(-size // chunk)) for size, chunk in inner)):
            parts = [slice(at * chunk, (at + 1) * chunk) for at, chunk in zip(place, self.chunks[1:], strict=True)]
            items = rows[(slice(None), *parts)]
            chunk = numpy.zeros(self.chunks, items.dtype)
            chunk[tuple(map(slice, items.shape))] = items
            little = chunk.astype(chunk.dtype.newbyteorder("<"), copy=False)
            self._member("/".join(map(str, ("c", self._done, *place))), little.tobytes())
        self._count, self._done = 0, self._done + 1

    def _member(self, name: str, content: bytes) -> None:
        self._zip.writestr(zipfile.ZipInfo(name, _MADE), content)


def _metadata(kind: Kind, shape: tuple[int, ...], chunks: tuple[int, ...]) -> dict[str, Any]:
    fill: Any = {Kind.BOOL: False, Kind.C64: [0.0, 0.0], Kind.C128: [0.0, 0.0]}.get(kind, 0)
    return {
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": NUMPY_NAMES[kind], "fill_value": fill,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": {},
    }  # fmt: skip


def writing_bytes(kind: Kind, shape: tuple[int, ...]) -> int:
    """Beside the array: rows that wait, if several make a chunk, a chunk, and its bytes."""
    import numpy

    item = numpy.dtype(NUMPY_NAMES[kind]).itemsize
    chunks = chunks_of(shape, item)
    return 4 * math.prod(chunks) * item


class ZarrSink(OrderedSink):
    """Rows of a new zarr file; a row is no larger than a chunk."""

    beside: ClassVar[int] = 5 * CHUNK

    def require(self) -> None:
        require_writable(self.path, self.kind)

    def writer(self, file: BinaryIO) -> ZarrRows:
        return ZarrRows(file, self.kind, self.shape)
