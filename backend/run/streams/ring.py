"""A ring of buffers that one thread fills with tiles, in order, ahead of who computes with them.

Neighbours: `files.npy_rows` (what is read), `driver` (who takes tiles).
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, TypeAlias

from ..files.filling import new_array
from ..files.npy_rows import NpySource

Rows: TypeAlias = tuple[int, int]
Tile: TypeAlias = Mapping[str, Rows]
"""By input, the rows that a tile needs; none of inputs that it does not."""


class Ring:
    """Tiles of some sources, `depth` of them in memory: the one that was handed out last, and those that are read meanwhile.

    A tile's arrays are its buffers, which are filled again once the next tile has been taken."""

    def __init__(self, sources: Mapping[str, NpySource], tiles: Sequence[Tile], depth: int) -> None:
        self._sources, self._tiles = sources, tiles
        rows = {name: max((t[name][1] - t[name][0] for t in tiles if name in t), default=0) for name in sources}
        self._free: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        for _ in range(depth):
            self._free.put({name: new_array((rows[name], *source.shape[1:]), source.kind) for name, source in sources.items()})
        self._full: queue.SimpleQueue[tuple[dict[str, Any], dict[str, Any]] | BaseException | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="rho reader", daemon=True)
        self.bytes = 0

    def __enter__(self) -> Ring:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._free.put(None)
        self._thread.join()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The arrays of each tile.  FileTrouble."""
        while True:
            filled = self._full.get()
            if filled is None:
                return
            if isinstance(filled, BaseException):
                raise filled
            buffers, arrays = filled
            yield arrays
            del arrays
            self._free.put(buffers)

    def _read(self) -> None:
        handles: dict[str, int] = {}
        try:
            for name, source in self._sources.items():
                handles[name] = source.open()
            for tile in self._tiles:
                buffers = self._free.get()
                if buffers is None or self._over.is_set():
                    return
                arrays = {}
                for name, (start, stop) in tile.items():
                    arrays[name] = buffers[name][: stop - start]
                    self._sources[name].read(handles[name], start, arrays[name])
                    self.bytes += (stop - start) * self._sources[name].row_bytes
                self._full.put((buffers, arrays))
            for name, source in self._sources.items():
                source.require_same(handles[name])
            self._full.put(None)
        except BaseException as error:
            self._full.put(error)
        finally:
            for handle in handles.values():
                with suppress(OSError):
                    os.close(handle)
