"""Ranges of rows of a file that is read in order: text, row groups, chunks.

Rows that have been read and are still needed are kept.  Rows before these are read again, from their chunk if the format has
chunks, else from the start of the file.

Neighbours: `npy_rows` (rows that are read where they lie), `rows` (which formats), every codec's `blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from ....typechecker.elements import Kind
from .content import Content
from .trouble import damaged, system_errors

Blocks: TypeAlias = Callable[[int], tuple[int, Iterator[Any]]]
"""From a row: which row it begins with (no later one), and the items from there on as vectors."""


@dataclass(slots=True)
class _Cursor:
    """How far a file has been read: the items that are kept, the first of which is item `at`; None: not at all."""

    at: int = 0
    kept: list[Any] = field(default_factory=list)
    more: Iterator[Any] | None = None

    @property
    def end(self) -> int:
        return self.at + sum(map(len, self.kept))


@dataclass(frozen=True, slots=True)
class InOrder:
    """See the module.  `size` bytes are read for all of it, which takes `beside` bytes of memory; `identify` tells what is there
    now, which was `identity`."""

    content: Content
    kind: Kind
    shape: tuple[int, ...]
    bytes: int
    beside: int
    blocks: Blocks
    identify: Callable[[], tuple[int | str, ...]]
    identity: tuple[int | str, ...]

    @property
    def path(self) -> str:
        return self.content.path

    @property
    def _width(self) -> int:
        return prod(self.shape[1:])

    def open(self) -> _Cursor:
        """What reads it, after asking whether the file is still the one that was planned for.  FileTrouble."""
        cursor = _Cursor()
        self.require_same(cursor)
        return cursor

    def close(self, cursor: _Cursor) -> None:
        """Nothing more is read."""
        close = getattr(cursor.more, "close", None)
        if close is not None:
            close()

    def require_same(self, cursor: _Cursor) -> None:
        with system_errors():
            found = self.identify()
        if found != self.identity:
            raise damaged("changed while it was read")

    def read(self, cursor: _Cursor, first: int, into: Any, keep: int) -> None:
        """Rows from `first` on, as many as `into` has; those from `keep` on will be wanted again.  FileTrouble."""
        items, wanted = into.reshape(-1), first * self._width
        more = self._begin(cursor, first)
        filled, start, place = 0, cursor.at, 0
        while filled < len(items):
            if place == len(cursor.kept):
                block = next(more, None)
                if block is None:
                    raise damaged("ended while it was read")
                cursor.kept.append(block)
            block = cursor.kept[place]
            part = block[wanted + filled - start :][: len(items) - filled]
            items[filled : filled + len(part)] = part
            filled, start, place = filled + len(part), start + len(block), place + 1
            while cursor.kept and cursor.at + len(cursor.kept[0]) <= min(keep * self._width, wanted + filled):
                cursor.at += len(cursor.kept.pop(0))
                place -= 1

    def _begin(self, cursor: _Cursor, first: int) -> Iterator[Any]:
        """What goes on to row `first`, without what lies between where that can be left out."""
        before, beyond = first * self._width < cursor.at, first * self._width > cursor.end
        if cursor.more is None or before or beyond:
            row, more = self.blocks(first)
            if cursor.more is None or before or row * self._width > cursor.end:
                self.close(cursor)
                cursor.at, cursor.kept, cursor.more = row * self._width, [], more
                return more
        return cursor.more
