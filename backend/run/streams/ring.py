"""A ring of buffers that one thread fills with tiles, in order, ahead of who computes with them.

Neighbours: `files.rows` (what is read), `driver` (who takes tiles).
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeAlias

from ....lang.listening import LISTENING, take
from ..files.filling import new_array
from ..files.rows import RowSource

Rows: TypeAlias = tuple[int, int]
Tile: TypeAlias = Mapping[str, Rows]
"""By input, the rows that a tile needs; none of inputs that it does not."""


class Ring:
    """Tiles of some sources, `depth` of them in memory: the one that was handed out last, and those that are read meanwhile.

    A tile's arrays are its buffers, which are filled again once the next tile has been taken."""

    def __init__(self, sources: Mapping[str, RowSource], tiles: Sequence[Tile], depth: int) -> None:
        self._sources, self._tiles = sources, tiles
        rows = {name: max((t[name][1] - t[name][0] for t in tiles if name in t), default=0) for name in sources}
        self._free: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        for _ in range(depth):
            self._free.put({name: new_array((rows[name], *source.shape[1:]), source.kind) for name, source in sources.items()})
        self._full: queue.SimpleQueue[tuple[dict[str, Any], dict[str, Any]] | BaseException | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="rho reader", daemon=True)
        self.bytes = 0
        self.reading = ""
        """The source that is read just now."""

    def __enter__(self) -> Ring:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        self._free.put(None)
        while self._thread.is_alive():
            self._thread.join(LISTENING)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The arrays of each tile.  FileTrouble."""
        while True:
            filled = take(self._full)
            if filled is None:
                return
            if isinstance(filled, BaseException):
                raise filled
            buffers, arrays = filled
            yield arrays
            del arrays
            self._free.put(buffers)

    def _read(self) -> None:
        handles: dict[str, Any] = {}
        try:
            for name, source in self._sources.items():
                self.reading = name
                handles[name] = source.open()
            for tile, later in zip(self._tiles, [*self._tiles[1:], {}], strict=True):
                buffers = self._free.get()
                if buffers is None or self._over.is_set():
                    return
                arrays = {}
                for name, (start, stop) in tile.items():
                    arrays[name] = buffers[name][: stop - start]
                    self.reading, source = name, self._sources[name]
                    source.read(handles[name], start, arrays[name], later[name][0] if name in later else stop)
                    self.bytes += source.bytes * (stop - start) // max(1, source.shape[0])
                self._full.put((buffers, arrays))
            for name, source in self._sources.items():
                self.reading = name
                source.require_same(handles[name])
            self._full.put(None)
        except BaseException as error:
            self._full.put(error)
        finally:
            for name, handle in handles.items():
                self._sources[name].close(handle)
