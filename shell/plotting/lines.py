"""A vector as a line of braille dots between two axes.

Each character is two by four dots.  Where there are fewer elements than columns of dots, neighbours are joined; where there are
more, a column shows the least and the greatest of its elements.  NaN breaks the line.

Neighbours: `drawable` (what is drawn), `terminal` (where).
"""

from __future__ import annotations

from typing import Any, Final

from .drawable import Picture, ends_of, scaled, short

BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
BLANK: Final = 0x2800


def line_plot(picture: Picture, width: int, height: int) -> list[str]:
    """The lines of the drawing, at most `width` wide; `height` rows of dots and two for the axis."""
    low, high = ends_of(picture.values)
    ticks = ticks_of(low, high, height)
    margin = max(len(text) for text in ticks.values()) + 1
    columns = max(4, width - margin - 1)
    cells = [[BLANK] * columns for _ in range(height)]
    for x, first, last in _spans(scaled(picture.values, low, high), 2 * columns, 4 * height):
        for y in range(first, last + 1):
            cells[height - 1 - y // 4][x // 2] |= BITS[3 - y % 4][x % 2]
    rows = []
    for number, row in enumerate(cells):
        label = ticks.get(number, "")
        drawn = "".join(map(chr, row)).rstrip(chr(BLANK))
        rows.append(f"{label:>{margin - 1}} {'┤' if label else '│'}{drawn}".rstrip())
    return [*rows, *_axis(len(picture.values), margin, columns)]


def ticks_of(low: float, high: float, height: int) -> dict[int, str]:
    """The numbers beside the first row, the middle one and the last."""
    middle = high - (high / height - low / height) * (height // 2)
    if abs(middle) < (high / 1000 - low / 1000):
        middle = 0.0
    return {0: short(high), height // 2: short(middle), height - 1: short(low)}


def _spans(heights: Any, columns: int, rows: int) -> list[tuple[int, int, int]]:
    """For each column of dots the lowest and the highest dot; columns without a finite number are left out."""
    import numpy as np

    count = len(heights)
    levels = np.minimum(np.floor(heights * rows), rows - 1)
    if count > columns:
        starts = (np.arange(columns) * count) // columns
        least, most = np.fmin.reduceat(levels, starts), np.fmax.reduceat(levels, starts)
        return _joined([(x, int(a), int(b)) for x, (a, b) in enumerate(zip(least, most, strict=True)) if a == a])
    places = [0] if count == 1 else [round(i * (columns - 1) / (count - 1)) for i in range(count)]
    spans: dict[int, tuple[int, int]] = {}
    for i, x in enumerate(places):
        if levels[i] != levels[i]:
            continue
        _widen(spans, x, int(levels[i]), int(levels[i]))
        if i + 1 < count and levels[i + 1] == levels[i + 1]:
            for column in range(x, places[i + 1]):
                ends = [_between(levels[i], levels[i + 1], (at - x) / (places[i + 1] - x)) for at in (column, column + 1)]
                _widen(spans, column, min(ends), max(ends))
    return [(x, first, last) for x, (first, last) in spans.items()]


def _joined(spans: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Neighbouring columns that do not touch are drawn up to each other."""
    found: list[tuple[int, int, int]] = []
    before: tuple[int, int, int] | None = None
    for x, first, last in spans:
        low, high = first, last
        if before is not None and before[0] == x - 1:
            low, high = min(low, before[2]), max(high, before[1])
        found.append((x, low, high))
        before = (x, first, last)
    return found


def _widen(spans: dict[int, tuple[int, int]], x: int, first: int, last: int) -> None:
    known = spans.get(x, (first, last))
    spans[x] = min(known[0], first), max(known[1], last)


def _between(start: float, end: float, part: float) -> int:
    return round(start + (end - start) * part)


def _axis(count: int, margin: int, columns: int) -> list[str]:
    """The axis of positions with its numbers."""
    wanted = 1 if count == 1 else 2 if columns < 24 else min(5, count)
    indices = [round(i * (count - 1) / max(wanted - 1, 1)) for i in range(wanted)]
    line, numbers = ["─"] * columns, [" "] * (columns + 1)
    for index in indices:
        at = 0 if count == 1 else round(index * (columns - 1) / (count - 1))
        text = f"{index:,}"
        start = max(0, min(at - len(text) // 2, columns - len(text)))
        if all(mark == " " for mark in numbers[max(0, start - 1) : start + len(text) + 1]):
            line[at] = "┬"
            numbers[start : start + len(text)] = text
    return [f"{' ' * margin}└{''.join(line)}", f"{' ' * (margin + 1)}{''.join(numbers)}".rstrip()]
