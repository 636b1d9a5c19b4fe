"""Spilled rows: cells that a mask selected, in an unnamed temporary file, written tile by tile and read as the rows of an
input."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import field
from itertools import accumulate
from math import prod
from typing import Any, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..cpu.numpy_reductions import order_columns
from ..io.formats import FileTrouble
from ..io.reading import SequentialSource
from ..io.sources_and_sinks import Content, RowSink, fill, new_array, write_at
from ..library.hash import stable_order
from ..library.sort import sorted_items
from ..schedule.streams.stream_planning import MIN_RUN_READ, WORDS, Scratch, Selected

# ---------------------------------------------------------------------------------------------------- spill file
#
# An unnamed temporary file (`tempfile.TemporaryFile`), which is deleted with the process, however that ends.

@dataclasses.dataclass(slots=True, kw_only=True)
class Temporary:
    """An unnamed temporary file that is written from its start and stays open from pass to pass."""

    file: Any = None

    @property
    def path(self) -> str:
        return f"a temporary file in {tempfile.gettempdir()}"

    def begin(self) -> None:
        """Creates the file.  Raises OSError."""
        self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open from pass to pass

    def write(self, items: Any) -> None:
        """Appends items.  Raises OSError."""
        data = np.ascontiguousarray(items).reshape(-1).view(np.uint8).data
        write_at(self.file.fileno(), data, self.file.tell())

    def fill(self, into: Any, at: int) -> None:
        """Fills an array with the bytes at offset `at`.  Raises FileTrouble if the file was truncated."""
        self.file.seek(at)
        fill(self.file, into.reshape(-1).view(np.uint8).data)

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()

    def require_same(self, handle: Any) -> None:
        """Nothing to check: no other process can write the file."""


# ---------------------------------------------------------------------------------------------------- rows that are only checked

@dataclass(slots=True)
class CheckedRows(RowSink):
    """A sink that discards rows, which are computed only for their checks."""

    any_axis = True

    def begin(self) -> None:
        pass

    def prepare(self) -> None:
        pass

    def put(self, slab: Any, axis: int, first: int) -> None:
        pass

    def finish(self) -> None:
        pass

    def end(self) -> None:
        pass


# ---------------------------------------------------------------------------------------------------- spilled rows

@dataclasses.dataclass(slots=True)
class SelectedRows(Temporary):
    """A store of selected cells that is written in any order and read at random, in the order of the mask; `count`: cells written
    so far."""

    selected: Selected
    count: int = 0
    pieces: list[tuple[int, int, int]] = field(default_factory=list)
    """By tile of the mask, in order after `end`: its first row, the position of its first cell in the file, and its number of
    cells."""
    starts: list[int] = field(default_factory=list)
    """The first cell of each piece in the order of the mask."""

    @property
    def kind(self) -> Kind:
        return self.selected.kind

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count, *self.selected.cell)

    @property
    def row_bytes(self) -> int:
        return int(prod(self.selected.cell)) * int(new_array((0,), self.kind).dtype.itemsize)

    @property
    def bytes(self) -> int:
        return self.count * self.row_bytes

    @property
    def working_memory(self) -> int:
        return 0

    # ------------------------------------------------------------------------------------- written

    def put(self, cells: Any, axis: int, first: int) -> None:
        """Append the cells that a tile of the mask selects, which begins at `first`.  Raises OSError."""
        if self.selected.places:
            cells = cells + first
        self.write(cells)
        self.pieces.append((first, self.count, len(cells)))
        self.count += len(cells)

    def end(self) -> None:
        """Called after all tiles were written."""
        self.pieces.sort()
        self.starts = [*accumulate((count for _, _, count in self.pieces), initial=0)]

    # ------------------------------------------------------------------------------------- read

    def array(self) -> Any:
        """All cells, in memory."""
        result = new_array(self.shape, self.kind)
        self.read(None, 0, result, 0)
        return result

    def open(self) -> None:
        pass

    def read(self, handle: None, first: int, into: Any, keep: int) -> None:
        at, done = max(0, bisect_right(self.starts, first) - 1), 0
        while done < len(into):
            skipped = first + done - self.starts[at]
            _, begins, count = self.pieces[at]
            step = min(count - skipped, len(into) - done)
            if step > 0:
                self.fill(into[done : done + step], (begins + skipped) * self.row_bytes)
                done += step
            at += 1

    def close(self, handle: None) -> None:
        pass


# ---------------------------------------------------------------------------------------------------- external sort
#
# Items are sorted on disk: sorted runs in an unnamed scratch file, and their merge, some items at a time.
#
# Note [Merging].  Some items of every run are in memory.  Consider the least of the runs' last items in memory: the items before
# it can be merged now, and in earlier runs those equal to it as well, since equal items stay in the order of the runs.

_PLACES: Final = np.dtype(np.int64)


class _Merged(SequentialSource):
    """The source interface of the merge: no other process can write the file."""

    __slots__ = ()

    def require_same(self, cursor: Any) -> None:
        pass


@dataclasses.dataclass(slots=True)
class SortedRuns(Temporary):
    """A store that is written as sorted runs and read as their merge."""

    scratch: Scratch
    runs: list[tuple[int, int, int]] = field(default_factory=list)
    """(first item, offset in the file, number of items) of each run; in the order of the items after `end`."""

    @property
    def kind(self) -> Kind:
        return Kind.I64 if self.scratch.grades else self.scratch.kind

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.scratch.size,)

    @property
    def bytes(self) -> int:
        return self.scratch.bytes

    @property
    def working_memory(self) -> int:
        return self.scratch.working_memory

    # ------------------------------------------------------------------------------------- written

    def begin(self) -> None:
        """Reserves space for all items.  Raises OSError."""
        Temporary.begin(self)
        if self.bytes and hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self.file.fileno(), 0, self.bytes)

    def put(self, slab: Any, axis: int, first: int) -> None:
        """Sorts and writes a run, whose first item is item `first`.  Raises OSError."""
        self.runs.append((first, self.file.tell(), len(slab)))
        if not self.scratch.grades:
            self.write(sorted_items(np.asarray(slab), descending=self.scratch.descending))
            return
        order = stable_order(self._keys(slab))
        self.write(slab[order])
        self.write((order + first).astype(_PLACES, copy=False))

    def end(self) -> None:
        """Called after all runs were written.  Raises OSError."""
        if sum(count for _, _, count in self.runs) != self.scratch.size:
            raise FileTrouble(Code.E708, "was not written whole")
        self.runs.sort()

    # ------------------------------------------------------------------------------------- read

    def open(self) -> tuple[_Merged, Any]:
        content, blocks = Content(self.path), lambda first: (0, self._blocks())
        merged = _Merged(content, self.kind, self.shape, self.bytes, self.working_memory, blocks, tuple, ())
        return merged, merged.open()

    def read(self, handle: tuple[_Merged, Any], first: int, into: Any, keep: int) -> None:
        merged, cursor = handle
        merged.read(cursor, first, into, keep)

    def close(self, handle: tuple[_Merged, Any]) -> None:
        merged, cursor = handle
        merged.close(cursor)

    def _keys(self, items: Any) -> Any:
        return order_columns(np.asarray(items), descending=self.scratch.descending)[0]

    def _blocks(self) -> Iterator[Any]:
        """Yields the items, or their positions, in order.  See Note [Merging]."""
        room = max(MIN_RUN_READ, self.working_memory // (max(1, len(self.runs)) * WORDS * 8))
        heads = [_Head(self, start, count, room) for _, start, count in self.runs]
        while heads := [head for head in heads if head.filled()]:
            lasts = [head.keys[-1] for head in heads if head.left]
            if lasts:
                bound = min(lasts)
                owner = next(number for number, head in enumerate(heads) if head.left and head.keys[-1] == bound)
                sides = ["right" if number <= owner else "left" for number in range(len(heads))]
                counts = [int(np.searchsorted(h.keys, bound, side)) for h, side in zip(heads, sides, strict=True)]  # type: ignore[call-overload]
            else:
                counts = [len(head.keys) for head in heads]
            parts = [head.taken(count) for head, count in zip(heads, counts, strict=True) if count]
            order = np.argsort(np.concatenate([keys for keys, _ in parts]), kind="stable")
            yield np.concatenate([items for _, items in parts])[order]


@dataclass(slots=True)
class _Head:
    """The next items of a run in memory, with their keys; `left` items have not been read yet."""

    of: SortedRuns
    start: int
    count: int
    room: int
    at: int = 0
    keys: Any = ()
    items: Any = ()

    @property
    def left(self) -> int:
        return self.count - self.at

    def filled(self) -> bool:
        """Are there items?  Reads more if few are in memory, so that each merge step takes many items of every run."""
        if 2 * len(self.keys) < self.room and self.left:
            size = min(self.room - len(self.keys), self.left)
            kind = new_array((0,), self.of.scratch.kind).dtype
            items = self._read(self.start + self.at * kind.itemsize, size, kind)
            keys = self.of._keys(items)
            if self.of.scratch.grades:
                places = self.start + self.count * kind.itemsize
                items = self._read(places + self.at * _PLACES.itemsize, size, _PLACES)
            if len(self.keys):
                keys, items = np.concatenate([self.keys, keys]), np.concatenate([self.items, items])
            self.keys, self.items = keys, items
            self.at += size
        return len(self.keys) > 0

    def taken(self, count: int) -> tuple[Any, Any]:
        """Removes and returns the first `count` items."""
        run = self.keys[:count], self.items[:count]
        self.keys, self.items = self.keys[count:], self.items[count:]
        return run

    def _read(self, at: int, size: int, kind: Any) -> Any:
        block = np.empty(size, kind)
        self.of.fill(block, at)
        return block
