"""Charts over an x axis in characters: bars, histograms, scatter plots, lines through given places, several series.

Bars lie, one a line.  Points are dots of braille in one field; several series have colours, or without colours fields of their
own under each other with the same axes.

Neighbours: `drawable` (what is drawn), `lines` (one vector by position), `terminal` (where).
"""

from __future__ import annotations

from typing import Any, Final

from .drawable import Chart, Picture, ends_of, scaled, short
from .lines import BITS, BLANK, ticks_of

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_INKS: Final = (36, 33, 35, 32, 31, 34)
_MOST_JOINED: Final = 5_000
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

    x = picture.places()
    everything = np.concatenate([values for _, values in picture.series])
    across, up = ends_of(x), ends_of(everything)
    several = len(picture.series) > 1
    fields = [picture.series] if colour or not several else [(one,) for one in picture.series]
    each = height if len(fields) == 1 else max(4, height // len(fields))
    lines: list[str] = []
    for series in fields:
        if not colour and several:
            lines.append(f"{series[0][0]}:")
        lines += _field(x, series, across, up, width, each, picture.chart, colour=colour and several)
    lines += _axis(picture, across, width, max(len(text) for text in ticks_of(*up, each).values()) + 1)
    if colour and several:
        names = [f"\x1b[{_INKS[at % len(_INKS)]}m●\x1b[0m {name}" for at, (name, _) in enumerate(picture.series)]
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
        right = np.round(scaled(x[known], *across) * (2 * columns - 1)).astype(int)
        above = np.minimum(np.floor(scaled(y[known], *up) * 4 * height), 4 * height - 1).astype(int)
        if kind is Chart.LINE and len(right) <= _MOST_JOINED:
            right, above = _joined(right, above)
        bits = np.array(BITS)[3 - above % 4, right % 2]
        np.bitwise_or.at(cells, (height - 1 - above // 4, right // 2), bits)
        inks[height - 1 - above // 4, right // 2] = number
    lines = []
    for row in range(height):
        label = ticks.get(row, "")
        drawn = "".join(_inked(chr(BLANK + bits), ink, colour) for bits, ink in zip(cells[row], inks[row], strict=True))
        lines.append(f"{label:>{margin - 1}} {'┤' if label else '│'}{drawn.rstrip(chr(BLANK))}".rstrip())
    return lines


def _inked(mark: str, ink: int, colour: bool) -> str:
    return f"\x1b[{_INKS[ink % len(_INKS)]}m{mark}\x1b[0m" if colour and ink >= 0 else mark


def _joined(right: Any, above: Any) -> tuple[Any, Any]:
    """The points with those on straight lines between neighbours."""
    import numpy as np

    xs, ys = [right[:1]], [above[:1]]
    for at in range(len(right) - 1):
        steps = max(1, abs(int(right[at + 1]) - int(right[at])), abs(int(above[at + 1]) - int(above[at])))
        xs.append(np.round(np.linspace(right[at], right[at + 1], steps + 1)).astype(int))
        ys.append(np.round(np.linspace(above[at], above[at + 1], steps + 1)).astype(int))
    return np.concatenate(xs), np.concatenate(ys)


def _axis(picture: Picture, across: tuple[float, float], width: int, margin: int) -> list[str]:
    columns = max(4, width - margin - 1)
    first, last = short(across[0]), short(across[1])
    if isinstance(picture.x, tuple):
        first, last = picture.x[0], picture.x[-1]
    name = picture.x_name if len(first) + len(picture.x_name) + len(last) + 4 <= columns else ""
    blank = max(1, columns - len(first) - len(last) - len(name))
    before, after = " " * (blank // 2), " " * (blank - blank // 2)
    return [f"{' ' * margin}└{'─' * columns}", f"{' ' * (margin + 1)}{first}{before}{name}{after}{last}"[:width]]
