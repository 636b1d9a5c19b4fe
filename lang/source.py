"""Source texts and the spans that every later stage points back with.

A `Span` is a half-open range of character offsets into one `Source`.  It is the only way any
stage refers to program text; lines and columns are computed when a message is rendered.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field

from .records import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to but not including `end` of the source called `file`."""

    file: str
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that holds both (same file)."""
        return Span(self.file, min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Source:
    """A named program text.  `name` is what messages print: a path, `<eval>` or `<repl>`."""

    name: str
    text: str
    _line_starts: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
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
