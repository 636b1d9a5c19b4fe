"""Source texts and the spans that every later stage points back with.

A `Span` is a half-open range of character offsets into one `Source`.  It is the only way any
stage refers to program text; lines and columns are computed when a message is rendered.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import field

from .records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to but not including `end` of the source called `file`."""

    file: str
    start: int
    end: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.start, self.end, self.file) == (other.start, other.end, other.file)

    def __hash__(self) -> int:
        return hash((self.file, self.start, self.end))

    def to(self, other: Span) -> Span:
        """The smallest span that holds both (same file)."""
        return self if other == self else Span(self.file, min(self.start, other.start), max(self.end, other.end))

    def fixed(self) -> Span:
        """The span as it is now."""
        return self


class Place:
    """Where a statement starts in this version of its file; it moves with the statement."""

    __slots__ = ("file", "start")

    def __init__(self, file: str, start: int) -> None:
        self.file, self.start = file, start


class PlacedSpan(Span):
    """A span that moves with its statement, so that a tree is kept from version to version as it is."""

    __slots__ = ("_from", "_place", "_to")
    _place: Place
    _from: int
    _to: int

    def __init__(self, place: Place, start: int, end: int) -> None:
        """`start` and `end` count from the place."""
        keep = object.__setattr__
        keep(self, "_place", place)
        keep(self, "_from", start)
        keep(self, "_to", end)

    @property
    def file(self) -> str:
        return self._place.file

    @property
    def start(self) -> int:
        return self._place.start + self._from

    @property
    def end(self) -> int:
        return self._place.start + self._to

    def to(self, other: Span) -> Span:
        if isinstance(other, PlacedSpan) and other._place is self._place:
            return PlacedSpan(self._place, min(self._from, other._from), max(self._to, other._to))
        return super().to(other)

    def fixed(self) -> Span:
        return Span(self.file, self.start, self.end)


_LONE_RETURN = re.compile("\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Source:
    """A named program text.  `name` is what messages print: a path, `<eval>` or `<repl>`.  A carriage return that no line feed
    follows ends a line as a line feed does, and is one in `text`; `has_returns`: there was one."""

    name: str
    text: str
    has_returns: bool = field(default=False, compare=False, repr=False)
    _line_starts: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if "\r" in self.text and (text := _LONE_RETURN.sub("\n", self.text)) != self.text:
            object.__setattr__(self, "text", text)
            object.__setattr__(self, "has_returns", True)
        starts = [0]
        at = self.text.find("\n")
        while at != -1:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        object.__setattr__(self, "_line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """0-based (line, character column) of an offset."""
        line = bisect_right(self._line_starts, offset) - 1
        return line, offset - self._line_starts[line]

    def utf16_position(self, offset: int) -> tuple[int, int]:
        """0-based (line, UTF-16 column) of an offset, as editors count."""
        line, column = self.position(offset)
        start = self._line_starts[line]
        prefix = self.text[start : start + column]
        return line, column + sum(1 for c in prefix if ord(c) > 0xFFFF)

    def line(self, index: int) -> str:
        """The text of a 0-based line without its newline."""
        start = self._line_starts[index]
        end = self._line_starts[index + 1] - 1 if index + 1 < len(self._line_starts) else len(self.text)
        return self.text[start:end]
