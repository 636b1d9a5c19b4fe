"""Charts in characters: lines, scatter plots, bars, histograms, several series.

Bars lie, one a line.  Points are dots of braille, two by four a character, and a line joins neighbours; what is not a number
breaks it.  Several series have colours, or without colours fields of their own under each other with the same axes.

Neighbours: `drawable` (what is drawn), `terminal` (where).
"""

from __future__ import annotations

from typing import Any, Final

from .drawable import Chart, Picture, ends_of, scaled, short

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_INKS: Final = (36, 33, 35, 32, 31, 34)
_MOST_JOINED: Final = 100_000
_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BLANK: Final = 0x2800
MOST_BARS: Final = 40


def chart(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of the drawing."""
    if picture.chart in (Chart.BARS, Chart.HISTOGRAM):
        return _bars(picture, width)
    return _points(picture, width, height, colour=colour)


# ------------------------------------------------------------------------------------------- bars


def _bars(picture: Picture, width: int) -> list[str]:
    if picture.chart is Chart.HISTOGRAM:
        counts, edges = bins(picture.values)
        rows = [(f"{short(a)} – {short(b)}", "", float(n)) for n, a, b in zip(counts, edges[:-1], edges[1:], strict=True)]
    else:
        labels = picture.labels()
        several = len(picture.series) > 1
        rows = [
            (labels[place] if not number else "", name if several else "", float(values[place]))
            for place in range(len(labels)) for number, (name, values) in enumerate(picture.series)
        ]  # fmt: skip
    shown = rows[:MOST_BARS]
    left = max(len(label) for label, _, _ in shown)
    middle = max(len(name) for _, name, _ in shown)
    numbers = ["" if value != value else short(value) for _, _, value in shown]
    finite = [value for _, _, value in shown if value == value] or [0.0]
    low, high = min(0.0, *finite), max(0.0, *finite)
    room = max(4, width - left - middle - max(map(len, numbers)) - 3 - bool(middle))
    lines = []
    for (label, name, value), number in zip(shown, numbers, strict=True):
        head = f"{label:>{left}} " + (f"{name:<{middle}} " if middle else "")
        lines.append(f"{head}{_bar(value, low, high, room)} {number}".rstrip())
    if len(rows) > MOST_BARS:
        lines.append(f"{'⋮':>{left}} {len(rows) - MOST_BARS:,} more")
    return lines


def _bar(value: float, low: float, high: float, room: int) -> str:
    """A bar from zero to the value, in a field of `room` columns between the ends."""
    if value != value or low == high:
        return ""
    unit = max(high, -low)
    span = high / unit - low / unit
    zero = round(-low / unit / span * room)
    if value < 0:
        length = min(zero, max(1, round(-value / unit / span * room)))
        return " " * (zero - length) + "█" * length
    eighths = round(value / unit / span * room * 8)
    full, part = divmod(min(eighths, 8 * (room - zero)), 8)
    return " " * zero + "█" * full + (_EIGHTHS[part] if part else "")


def bins(values: Any) -> tuple[list[int], list[float]]:
    """How many numbers lie in each of some equal steps, and where the steps end."""
    import numpy as np

    finite = values[np.isfinite(values)]
    low, high = ends_of(finite)
    count = min(20, max(1, int(np.ceil(np.log2(finite.size) + 1))))
    counts, edges = np.histogram(finite, bins=count, range=(low, high))
    return counts.tolist(), edges.tolist()


# ----------------------------------------------------------------------------------------- points


def _points(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    import numpy as np

    x, drawn = picture.places(), picture.series or (("", picture.values),)
    across, up = ends_of(x), ends_of(np.concatenate([values for _, values in drawn]))
    if picture.x is None:
        across = 0.0, float(max(1, len(x) - 1))
    several = len(drawn) > 1
    fields = [drawn] if colour or not several else [(one,) for one in drawn]
    each = height if len(fields) == 1 else max(4, height // len(fields))
    lines: list[str] = []
    for series in fields:
        if not colour and several:
            lines.append(f"{series[0][0]}:")
        lines += _field(x, series, across, up, width, each, picture.chart, colour=colour and several)
    lines += _axis(picture, across, width, max(len(text) for text in ticks_of(*up, each).values()) + 1)
    if colour and several:
        names = [f"\x1b[{_INKS[at % len(_INKS)]}m●\x1b[0m {name}" for at, (name, _) in enumerate(drawn)]
        lines.append("  " + "  ".join(names))
    return lines


def _field(
    x: Any, series: tuple[tuple[str, Any], ...], across: tuple[float, float], up: tuple[float, float], width: int, height: int,
    kind: Chart, *, colour: bool,
) -> list[str]:  # fmt: skip
    import numpy as np

    ticks = ticks_of(*up, height)
    margin = max(len(text) for text in ticks.values()) + 1
    columns = max(4, width - margin - 1)
    cells, inks = np.zeros((height, columns), int), np.full((height, columns), -1)
    for number, (_, y) in enumerate(series):
        known = np.isfinite(x) & np.isfinite(y)
        right = np.round(scaled(x, *across) * (2 * columns - 1))
        above = np.minimum(np.floor(scaled(y, *up) * 4 * height), 4 * height - 1)
        if kind is not Chart.SCATTER and len(x) <= _MOST_JOINED:
            right, above = _joined(right, above, known)
        else:
            right, above = right[known].astype(int), above[known].astype(int)
        bits = np.array(_BITS)[3 - above % 4, right % 2]
        np.bitwise_or.at(cells, (height - 1 - above // 4, right // 2), bits)
        inks[height - 1 - above // 4, right // 2] = number
    lines = []
    for row in range(height):
        label = ticks.get(row, "")
        drawn = "".join(_inked(chr(_BLANK + bits), ink, colour) for bits, ink in zip(cells[row], inks[row], strict=True))
        lines.append(f"{label:>{margin - 1}} {'┤' if label else '│'}{drawn.rstrip(chr(_BLANK))}".rstrip())
    return lines


def _inked(mark: str, ink: int, colour: bool) -> str:
    return f"\x1b[{_INKS[ink % len(_INKS)]}m{mark}\x1b[0m" if colour and ink >= 0 else mark


def _joined(right: Any, above: Any, known: Any) -> tuple[Any, Any]:
    """The known points, with the dots on straight lines between those that follow each other."""
    import numpy as np

    follows = np.append(known[:-1] & known[1:], False)
    right, above = np.where(known, right, 0), np.where(known, above, 0)
    after = np.arange(len(right)) + follows
    steps = np.maximum(1, np.maximum(abs(right[after] - right), abs(above[after] - above))).astype(int)
    at = np.repeat(np.arange(len(right)), steps)
    part = (np.arange(len(at)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[at]
    xs, ys = (np.round(ends[at] + part * (ends[after] - ends)[at]).astype(int)[known[at]] for ends in (right, above))
    return xs, ys


def ticks_of(low: float, high: float, height: int) -> dict[int, str]:
    """The numbers beside the first row, the middle one and the last."""
    middle = high - (high / height - low / height) * (height // 2)
    if abs(middle) < (high / 1000 - low / 1000):
        middle = 0.0
    return {0: short(high), height // 2: short(middle), height - 1: short(low)}


def _axis(picture: Picture, across: tuple[float, float], width: int, margin: int) -> list[str]:
    columns = max(4, width - margin - 1)
    if picture.x is None:
        return _positions(len(picture.values), margin, columns)
    first, last = short(across[0]), short(across[1])
    if isinstance(picture.x, tuple):
        first, last = picture.x[0], picture.x[-1]
    name = picture.x_name if len(first) + len(picture.x_name) + len(last) + 4 <= columns else ""
    blank = max(1, columns - len(first) - len(last) - len(name))
    before, after = " " * (blank // 2), " " * (blank - blank // 2)
    return [f"{' ' * margin}└{'─' * columns}", f"{' ' * (margin + 1)}{first}{before}{name}{after}{last}"[:width]]


def _positions(count: int, margin: int, columns: int) -> list[str]:
    """The axis of positions, with some of their numbers."""
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
