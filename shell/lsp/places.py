"""Positions as editors count them, and texts that change by ranges.

A character is a code point here and in spans; in an editor it is one or two UTF-16 units (or UTF-8 bytes, or a code point,
as agreed when the editor connects).  A line ends at ``\\n``, ``\\r\\n`` or ``\\r`` and nowhere else.
Neighbours: every module of the language server.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ...lang.source import Span


class Encoding(Enum):
    """What a column counts."""

    UTF16 = "utf-16"
    UTF8 = "utf-8"
    UTF32 = "utf-32"

    def units(self, text: str) -> int:
        """How far a text moves the column."""
        match self:
            case Encoding.UTF32:
                return len(text)
            case Encoding.UTF8:
                return len(text.encode("utf-8", "surrogatepass"))
            case Encoding.UTF16:
                return len(text) + sum(1 for character in text if character > "\uffff")


class Position(NamedTuple):
    """Both count from 0."""

    line: int
    column: int


class Range(NamedTuple):
    start: Position
    end: Position


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put `text` where `range` is."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What an editor reports: a new text for a range, or (None) for the whole document."""

    range: Range | None
    text: str


_LINE_END = re.compile("\r\n|\n|\r")


class Lines:
    """A text with its lines; every position outside of it means the nearest place inside."""

    def __init__(self, text: str, encoding: Encoding = Encoding.UTF16) -> None:
        self.text = text
        self.encoding = encoding
        ends = [(found.start(), found.end()) for found in _LINE_END.finditer(text)]
        self._starts = [0, *[after for _, after in ends]]
        self._ends = [*[before for before, _ in ends], len(text)]

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end; empty if there is none of that number."""
        return self.text[self._starts[number] : self._ends[number]] if 0 <= number < len(self._starts) else ""

    def start(self, number: int) -> int:
        """The offset of a line's first character."""
        return self._starts[min(max(number, 0), len(self._starts) - 1)]

    def offset(self, position: Position) -> int:
        """The character offset of a position; the inside of a character is its start."""
        line, column = position
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._ends[line]
        text = self.text[start:end]
        if text.isascii() or self.encoding is Encoding.UTF32:
            return min(start + max(column, 0), end)
        left = column
        for at, character in enumerate(text):
            width = self.encoding.units(character)
            if left < width:
                return start + at
            left -= width
        return end

    def position(self, offset: int) -> Position:
        """The position of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return Position(line, self.encoding.units(self.text[start : min(offset, self._ends[line])]))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(max(start, end)))

    def of(self, span: Span) -> Range:
        """The range of a span of this text."""
        return self.range(span.start, span.end)

    def whole(self) -> Range:
        return Range(Position(0, 0), self.position(len(self.text)))


def changed(lines: Lines, changes: Sequence[Change]) -> Lines:
    """The text after changes, each of which counts in what the one before it left."""
    for change in changes:
        if change.range is None:
            lines = Lines(change.text, lines.encoding)
            continue
        start, end = lines.offset(change.range.start), lines.offset(change.range.end)
        if end < start:
            start, end = end, start
        lines = Lines(lines.text[:start] + change.text + lines.text[end:], lines.encoding)
    return lines
