"""Charts in characters: line charts, scatter plots, bars, histograms and heat maps, with one or several series.

Bars are horizontal, one a line.  Points are braille dots, two by four a character, and lines connect neighbours; NaN breaks a
line.  Several series have different colours or, without colours, different marks, one a character.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...lang.support.bounded_parsing import parse_natural
from ...lang.support.records import dataclass
from ...lang.tree.program import AS_WRITTEN, CellFormat, ColumnFormat
from ...typechecker.elements import Kind
from ..console.standard_streams import Console
from ..display.values import DisplayedValue
from ..execution.run_request import as_numpy

# ---------------------------------------------------------------------------------------------------- what can be drawn
#
# Vectors and matrices of real numbers can be drawn; elements that are not finite are left out.

_NOT_DRAWN: Final = {Kind.CHAR: "text", Kind.C64: "complex numbers", Kind.C128: "complex numbers"}


class NotDrawable(Exception):
    """A value cannot be drawn; `reason` says why, `hint` what to draw instead."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class Chart(Enum):
    """The kind of a chart; `plain` draws a vector as a line and a matrix as a heat map."""

    PLAIN = "plain"
    LINE = "line"
    SCATTER = "scatter"
    BARS = "bars"
    HISTOGRAM = "hist"


@dataclass(frozen=True, slots=True)
class Picture:
    """A vector or matrix of f64 ready to be drawn, with NaN for every element that is not finite, whose number is `dropped`.

    A chart also has `x`, the coordinates of its items as numbers or labels (None: their positions), with its name, and `series`:
    names and vectors, of which `values` is the first.  `x_reading` says whether the numbers of `x` are dates or times.
    """

    title: str
    values: Any
    dropped: int
    chart: Chart = Chart.PLAIN
    x: Any = None
    x_name: str = ""
    series: tuple[tuple[str, Any], ...] = ()
    x_reading: ColumnFormat = AS_WRITTEN

    @property
    def has_dates(self) -> bool:
        """Are the numbers of the x axis dates or times?"""
        return self.x_reading.form in (CellFormat.DATE, CellFormat.TIME)

    def x_text(self, number: float) -> str:
        """A coordinate as text: a date, a time or a number."""
        if not self.has_dates or number != number:
            return axis_number(number)
        from ...backend.io.cells import CellError, text_of

        try:
            return text_of(round(number), self.x_reading)
        except CellError:
            return axis_number(number)

    def x_positions(self) -> Any:
        """The x coordinates of the items, as a vector of numbers."""
        return np.arange(float(len(self.values))) if self.x is None or isinstance(self.x, tuple) else self.x

    def labels(self) -> tuple[str, ...]:
        """The labels of the items."""
        return self.x if isinstance(self.x, tuple) else tuple([self.x_text(float(position)) for position in self.x_positions()])

    @property
    def empty_reason(self) -> str | None:
        """The reason why there is nothing to draw; None if there is."""
        if not self.values.size:
            return "there is nothing to draw: it is empty"
        if self.dropped == self.values.size:
            return "there is nothing to draw: no element is a finite number"
        return None

    @property
    def note(self) -> str | None:
        """The note on how many elements were left out; None if none was."""
        if not self.dropped:
            return None
        what = "is" if self.dropped == 1 else "are"
        return f"{self.dropped:,} of {self.values.size:,} elements {what} NaN or infinite and left out"


def require_drawable(kind: Kind, rank: int) -> None:
    """Raise NotDrawable unless values of this kind and rank can be drawn."""
    refused = _NOT_DRAWN.get(kind)
    if refused == "complex numbers":
        raise NotDrawable("complex numbers are not drawn", "draw their magnitude, |x, or a part, 9○x or 11○x")
    if refused is not None:
        raise NotDrawable(f"{refused} is not drawn", "only vectors and matrices of real numbers are")
    if rank not in (1, 2):
        kind_of = "a scalar" if not rank else f"an array of rank {rank}"
        hint = "vectors and matrices are; select a plane, for example x[0;;]" if rank else ""
        raise NotDrawable(f"{kind_of} is not drawn", hint)


def require_chart(chart: Chart, types: Sequence[tuple[Kind, int]]) -> None:
    """Raise NotDrawable unless values of these kinds and ranks can be drawn as `chart`; of several, the first is the x axis."""
    if chart is Chart.PLAIN:
        require_drawable(*types[0])
        return
    if chart is Chart.HISTOGRAM and len(types) > 1:
        raise NotDrawable("a histogram is of one vector")
    for index, (kind, rank) in enumerate(types):
        if kind is Kind.CHAR and rank == 2 and index == 0 and len(types) > 1 and chart is not Chart.SCATTER:
            continue  # labels
        require_drawable(kind, rank)
        if rank == 2 and chart is Chart.LINE and index == len(types) - 1 and len(types) <= 2:
            continue  # a line for each column
        if rank != 1:
            raise NotDrawable(f"a matrix is not drawn as {chart.value}", "select a row or a column of it")


def chart_of(
    chart: Chart, shown: Sequence[DisplayedValue], names: Sequence[str], columns: Sequence[str] | None = None
) -> Picture:  # fmt: skip
    """The picture of values with their names; the first of several has the x coordinates of the others.  `columns` are the names
    of the columns of a matrix.  Raises NotDrawable."""
    from ..repl.status_line import concrete_type

    require_chart(chart, [(one.kind, len(one.shape)) for one in shown])
    title = " : ".join(part for part in (names[-1], concrete_type(shown[-1])) if part)
    if columns is not None and (chart is not Chart.LINE or len(shown[-1].shape) != 2):
        raise NotDrawable(f"the lines of a matrix have names, and `{names[-1]}` is not drawn as such")
    if chart is Chart.PLAIN:
        values, dropped = _finite(shown[0])
        return Picture(title, values, dropped)
    if chart is Chart.LINE and len(shown[-1].shape) == 2:
        return _lines_of_matrix(shown, names, title, columns)
    lengths = [one.shape[0] for one in shown]
    if len(set(lengths)) > 1:
        raise NotDrawable(f"what is drawn together has one length, and these have {', '.join(map(str, lengths))}")
    x_values, series = (shown[0] if len(shown) > 1 else None), shown[len(shown) > 1 :]
    cleaned = [_finite(one) for one in series]
    called = [name or f"series {index + 1}" for index, name in enumerate(names[len(shown) > 1 :])]
    if len(series) > 1:
        title = ", ".join(called)
    x: Any = None
    if x_values is not None:
        x = _texts(x_values) if x_values.kind is Kind.CHAR else _finite(x_values)[0]
    dropped = sum(count for _, count in cleaned)
    pairs = tuple(zip(called, [values for values, _ in cleaned], strict=True))
    if x_values is None:
        return Picture(title, cleaned[0][0], dropped, chart, series=pairs)
    return Picture(title, cleaned[0][0], dropped, chart, x, names[0], pairs, x_values.reading)


MOST_LINES: Final = 12
"""The most columns of a matrix that are drawn as lines."""


def _lines_of_matrix(
    shown: Sequence[DisplayedValue], names: Sequence[str], title: str, columns: Sequence[str] | None
) -> Picture:  # fmt: skip
    """A line for each column of a matrix, over another value or the numbers of the rows.  Raises NotDrawable."""
    matrix, over = shown[-1], shown[0] if len(shown) == 2 else None
    if matrix.shape[1] > MOST_LINES:
        hint = f"at most {MOST_LINES} are drawn; `plain` draws a heat map"
        raise NotDrawable(f"{matrix.shape[1]} columns are too many lines", hint)
    if over is not None and over.shape[0] != matrix.shape[0]:
        raise NotDrawable(f"the x axis has {over.shape[0]} items, and the matrix {matrix.shape[0]} rows")
    values, dropped = _finite(matrix)
    if columns is None:
        columns = [f"{names[-1]}[;{column}]" for column in range(matrix.shape[1])]
    if len(columns) != matrix.shape[1]:
        raise NotDrawable(f"{len(columns)} names are given for {matrix.shape[1]} columns")
    series = tuple([(name, values[:, column]) for column, name in enumerate(columns)])
    first = series[0][1] if series else values.reshape(-1)
    if over is None:
        return Picture(title, first, dropped, Chart.LINE, series=series)
    x = _texts(over) if over.kind is Kind.CHAR else _finite(over)[0]
    return Picture(title, first, dropped, Chart.LINE, x, names[0], series, over.reading)


def _finite(shown: DisplayedValue) -> tuple[Any, int]:
    """A value as f64 with NaN for elements that are not finite, and the number of these."""
    values = np.asarray(as_numpy(shown.value)).astype(np.float64)
    finite = np.isfinite(values)
    dropped = int(values.size - np.count_nonzero(finite))
    return (np.where(finite, values, np.nan) if dropped else values), dropped


def _texts(shown: DisplayedValue) -> tuple[str, ...]:
    """The rows of a text matrix, without blanks at both ends."""
    rows = as_numpy(shown.value).tolist()
    return tuple(["".join(chr(c) if isinstance(c, int) else c or " " for c in row).strip() for row in rows])


def data_range(values: Any) -> tuple[float, float]:
    """The least and the greatest number, moved apart if they are equal."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        room = abs(low) / 2 or 1.0
        low, high = max(low - room, -_LARGEST), min(high + room, _LARGEST)
    return low, high


_LARGEST: Final = 1.7e308


def normalised(values: Any, low: float, high: float) -> Any:
    """Numbers between `low` and `high` mapped to 0 … 1, without overflow."""
    unit = max(abs(low), abs(high)) or 1.0
    if unit < 1e-300:  # the division would overflow
        values, low, high, unit = values * 1e300, low * 1e300, high * 1e300, unit * 1e300
    return (values / unit - low / unit) / (high / unit - low / unit)


def axis_number(number: float) -> str:
    """A number as text for an axis: four digits, or an integer below a million in groups."""
    if 1e4 <= abs(number) < 1e6:
        return f"{number:,.0f}".replace("-", "¯")
    text = f"{number:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return ("0" if text == "-0" else text).replace("-", "¯")


# ---------------------------------------------------------------------------------------------------- charts

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_SERIES_COLOURS: Final = (36, 33, 35, 32, 31, 34)
_SERIES_MARKS: Final = "•+×○◇▪"
_MOST_JOINED: Final = 100_000
_BRAILLE_BITS: Final = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
_BRAILLE_BLANK: Final = 0x2800
MOST_BARS: Final = 40


def chart(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of a chart of `width` columns; points and lines take `height` lines."""
    if picture.chart in (Chart.BARS, Chart.HISTOGRAM):
        return _bars(picture, width)
    return _points(picture, width, height, colour=colour)


# ------------------------------------------------------------------------------------------- bars


def _bars(picture: Picture, width: int) -> list[str]:
    if picture.chart is Chart.HISTOGRAM:
        counts, edges = bins(picture.values)
        intervals = [f"{axis_number(low)} – {axis_number(high)}" for low, high in pairwise(edges)]
        rows = [(interval, "", float(count)) for interval, count in zip(intervals, counts, strict=True)]
    else:
        labels = picture.labels()
        several = len(picture.series) > 1
        rows = [
            (labels[index] if not number else "", name if several else "", float(values[index]))
            for index in range(len(labels)) for number, (name, values) in enumerate(picture.series)
        ]  # fmt: skip
    shown = [(_shortened(label, width // 3), name, value) for label, name, value in rows[:MOST_BARS]]
    left = max(len(label) for label, _, _ in shown)
    middle = max(len(name) for _, name, _ in shown)
    numbers = ["" if value != value else axis_number(value) for _, _, value in shown]
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


def _shortened(label: str, most: int) -> str:
    """A label of at most so many characters."""
    return label if len(label) <= most else label[: most - 1] + "…"


def _bar(value: float, low: float, high: float, room: int) -> str:
    """A bar from zero to the value, in a field of `room` columns between the ends; a value other than zero is always visible."""
    if value != value or low == high:
        return ""
    unit = max(high, -low)
    span = high / unit - low / unit
    zero = min(max(round(-low / unit / span * room), low < 0), room - (high > 0))
    if value < 0:
        length = min(zero, max(1, round(-value / unit / span * room)))
        return " " * (zero - length) + "█" * length
    eighths = max(round(value / unit / span * room * 8), value > 0)
    full, part = divmod(min(eighths, 8 * (room - zero)), 8)
    return " " * zero + "█" * full + (_EIGHTHS[part] if part else "")


def bins(values: Any) -> tuple[list[int], list[float]]:
    """The counts of a histogram and the edges of its bins: at most 20 of equal width, by Sturges' rule."""
    finite = values[np.isfinite(values)]
    low, high = data_range(finite)
    count = min(20, max(1, int(np.ceil(np.log2(finite.size) + 1))))
    counts, edges = np.histogram(finite, bins=count, range=(low, high))
    return counts.tolist(), edges.tolist()


# ----------------------------------------------------------------------------------------- points


def _points(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    x, drawn = picture.x_positions(), picture.series or (("", picture.values),)
    across, up = data_range(x), data_range(np.concatenate([values for _, values in drawn]))
    if picture.x is None:
        across = 0.0, float(max(1, len(x) - 1))
    several = len(drawn) > 1
    lines = _plot_area(x, drawn, across, up, width, height, picture.chart, colour=colour and several)
    lines += _axis(picture, across, width, max(len(text) for text in ticks_of(*up, height).values()) + 1)
    if several:
        marks = [_coloured_mark("●", at, True) if colour else _mark(at) for at in range(len(drawn))]
        lines += _legend_lines([f"{mark} {name}" for mark, (name, _) in zip(marks, drawn, strict=True)], drawn, width)
    return lines


def _legend_lines(entries: Sequence[str], drawn: Sequence[tuple[str, Any]], width: int) -> list[str]:
    """The names of the series with their marks, in lines of at most `width` columns."""
    lines, used = [""], 0
    for entry, (name, _) in zip(entries, drawn, strict=True):
        if used and used + len(name) + 4 > width:
            lines, used = [*lines, ""], 0
        lines[-1] += f"  {entry}"
        used += len(name) + 4
    return lines


def _mark(number: int) -> str:
    return _SERIES_MARKS[number % len(_SERIES_MARKS)]


def _plot_area(
    x: Any, series: tuple[tuple[str, Any], ...], across: tuple[float, float], up: tuple[float, float], width: int, height: int,
    kind: Chart, *, colour: bool,
) -> list[str]:  # fmt: skip
    ticks = ticks_of(*up, height)
    margin = max(len(text) for text in ticks.values()) + 1
    columns = max(4, width - margin - 1)
    cells, inks = np.zeros((height, columns), int), np.full((height, columns), -1)
    for number, (_, y) in enumerate(series):
        known = np.isfinite(x) & np.isfinite(y)
        right = np.round(normalised(x, *across) * (2 * columns - 1))
        above = np.minimum(np.floor(normalised(y, *up) * 4 * height), 4 * height - 1)
        if kind is not Chart.SCATTER and len(x) <= _MOST_JOINED:
            right, above = _dots_on_lines(right, above, known)
        else:
            right, above = right[known].astype(int), above[known].astype(int)
        bits = np.array(_BRAILLE_BITS)[3 - above % 4, right % 2]
        np.bitwise_or.at(cells, (height - 1 - above // 4, right // 2), bits)
        inks[height - 1 - above // 4, right // 2] = number
    lines = []
    for row in range(height):
        label = ticks.get(row, "")
        marked = len(series) > 1 and not colour
        marks = [
            (_mark(ink) if marked and ink >= 0 else chr(_BRAILLE_BLANK + bits), ink)
            for bits, ink in zip(cells[row], inks[row], strict=True)
        ]  # fmt: skip
        drawn = "".join(_coloured_mark(mark, ink, colour) for mark, ink in marks)
        lines.append(f"{label:>{margin - 1}} {'┤' if label else '│'}{drawn.rstrip(chr(_BRAILLE_BLANK))}".rstrip())
    return lines


def _coloured_mark(mark: str, ink: int, colour: bool) -> str:
    return f"\x1b[{_SERIES_COLOURS[ink % len(_SERIES_COLOURS)]}m{mark}\x1b[0m" if colour and ink >= 0 else mark


def _dots_on_lines(right: Any, above: Any, known: Any) -> tuple[Any, Any]:
    """The coordinates of the dots of known points and of the straight lines between neighbours."""
    follows = np.append(known[:-1] & known[1:], False)
    right, above = np.where(known, right, 0), np.where(known, above, 0)
    after = np.arange(len(right)) + follows
    steps = np.maximum(1, np.maximum(abs(right[after] - right), abs(above[after] - above))).astype(int)
    at = np.repeat(np.arange(len(right)), steps)
    part = (np.arange(len(at)) - np.repeat(np.cumsum(steps) - steps, steps)) / steps[at]
    xs, ys = (np.round(ends[at] + part * (ends[after] - ends)[at]).astype(int)[known[at]] for ends in (right, above))
    return xs, ys


def ticks_of(low: float, high: float, height: int) -> dict[int, str]:
    """The labels of the first row, the middle one and the last, by row."""
    middle = high - (high / height - low / height) * (height // 2)
    if abs(middle) < (high / 1000 - low / 1000):
        middle = 0.0
    return {0: axis_number(high), height // 2: axis_number(middle), height - 1: axis_number(low)}


def _axis(picture: Picture, across: tuple[float, float], width: int, margin: int) -> list[str]:
    columns = max(4, width - margin - 1)
    if picture.x is None:
        return _position_axis(len(picture.values), margin, columns)
    first, last = picture.x_text(across[0]), picture.x_text(across[1])
    if isinstance(picture.x, tuple):
        first, last = (_shortened(label, columns // 2) for label in (picture.x[0], picture.x[-1]))
    name = picture.x_name if len(first) + len(picture.x_name) + len(last) + 4 <= columns else ""
    blank = max(1, columns - len(first) - len(last) - len(name))
    before, after = " " * (blank // 2), " " * (blank - blank // 2)
    return [f"{' ' * margin}└{'─' * columns}", f"{' ' * (margin + 1)}{first}{before}{name}{after}{last}"[:width]]


def _position_axis(count: int, margin: int, columns: int) -> list[str]:
    """The axis of positions, with some of their numbers."""
    count_shown = 1 if count == 1 else 2 if columns < 24 else min(5, count)
    indices = [round(i * (count - 1) / max(count_shown - 1, 1)) for i in range(count_shown)]
    line, numbers = ["─"] * columns, [" "] * (columns + 1)
    for index in indices:
        at = 0 if count == 1 else round(index * (columns - 1) / (count - 1))
        text = f"{index:,}"
        start = max(0, min(at - len(text) // 2, columns - len(text)))
        if all(mark == " " for mark in numbers[max(0, start - 1) : start + len(text) + 1]):
            line[at] = "┬"
            numbers[start : start + len(text)] = text
    return [f"{' ' * margin}└{''.join(line)}", f"{' ' * (margin + 1)}{''.join(numbers)}".rstrip()]


# ---------------------------------------------------------------------------------------------------- heat maps
#
# A matrix as shades, row 0 at the top: an element takes two characters, or with colours one column and half a line.
#
# A matrix larger than the window is averaged over blocks, a small one is enlarged.  Blocks without a finite number are dots.

_SHADES: Final = " ░▒▓█"
_COLOURS: Final = (17, 18, 54, 55, 60, 61, 67, 73, 79, 78, 114, 149, 185, 221, 227, 229)
"""Colours of the palette of 256, from dark to bright."""
_NAN_MARK: Final = "·"


def shade_plot(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of a heat map: at most `height` lines of rows with their positions, and a legend of the shades."""
    low, high = data_range(picture.values)
    rows, columns = picture.values.shape
    margin = len(f"{rows - 1:,}") + 1
    across = max(2, (width - margin) // (1 if colour else 2))
    down = max(2, height * (2 if colour else 1))
    block = _block_shape(rows, columns, down, across)
    values = _block_means(picture.values, block)
    larger = max(1, min(down // values.shape[0], across // values.shape[1], 8))
    levels = normalised(np.repeat(np.repeat(values, larger, axis=0), larger, axis=1), low, high)
    drawn = _coloured_lines(levels) if colour else _shaded_lines(levels)
    per_line = 2 if colour else 1
    labels = {0: "0", (rows - 1) // block[0] * larger // per_line: f"{rows - 1:,}"}
    lines = [f"{labels.get(number, ''):>{margin - 1}} {line}".rstrip() for number, line in enumerate(drawn)]
    wide = levels.shape[1] * (1 if colour else 2)
    last = f"{columns - 1:,}" if columns > 1 else ""
    lines.append(f"{' ' * margin}0{last:>{max(wide - 1, len(last) + 1 if last else 0)}}".rstrip())
    return [*lines, _legend(low, high, colour=colour)]


def _block_shape(rows: int, columns: int, down: int, across: int) -> tuple[int, int]:
    """The rows and columns of a block that is averaged: square, unless the shorter side would have fewer than 8 blocks."""
    least = max(-(-rows // down), 1), max(-(-columns // across), 1)
    square = max(least)
    return (square, square) if min(rows, columns) >= 8 * square or square == 1 else least


def _block_means(values: Any, block: tuple[int, int]) -> Any:
    """The mean of the finite elements of each block, NaN if there are none."""
    if block == (1, 1):
        return values
    starts = [np.arange(0, size, step) for size, step in zip(values.shape, block, strict=True)]
    finite = np.isfinite(values)
    unit = float(np.nanmax(np.abs(values))) or 1.0
    filled = np.where(finite, values / unit, 0.0)
    sums = np.add.reduceat(np.add.reduceat(filled, starts[0], axis=0), starts[1], axis=1)
    counts = np.add.reduceat(np.add.reduceat(finite.astype(np.int64), starts[0], axis=0), starts[1], axis=1)
    return np.where(counts, sums / np.maximum(counts, 1), np.nan) * unit


def _shaded_lines(levels: Any) -> list[str]:
    return ["".join(_shade(level) * 2 for level in row).rstrip() for row in levels.tolist()]


def _shade(level: float) -> str:
    return _NAN_MARK if level != level else _SHADES[min(int(level * len(_SHADES)), len(_SHADES) - 1)]


def _coloured_lines(levels: Any) -> list[str]:
    """Two rows a line: the upper one in the foreground colour, the lower one in the background colour."""
    rows = levels.tolist()
    text_rows = []
    for at in range(0, len(rows), 2):
        lower = rows[at + 1] if at + 1 < len(rows) else [None] * len(rows[at])
        text_rows.append("".join(_coloured_pair(a, b) for a, b in zip(rows[at], lower, strict=True)) + "\x1b[0m")
    return text_rows


def _coloured_pair(upper: float, lower: float | None) -> str:
    if upper != upper:
        return f"\x1b[0m{_NAN_MARK}" if lower is None or lower != lower else f"\x1b[0;38;5;{_palette_colour(lower)}m▄"
    background = "" if lower is None or lower != lower else f";48;5;{_palette_colour(lower)}"
    return f"\x1b[0;38;5;{_palette_colour(upper)}{background}m▀"


def _palette_colour(level: float) -> int:
    return _COLOURS[min(int(level * len(_COLOURS)), len(_COLOURS) - 1)]


def _legend(low: float, high: float, *, colour: bool) -> str:
    if colour:
        bar = "".join(f"\x1b[38;5;{one}m█" for one in _COLOURS) + "\x1b[0m"
    else:
        bar = _SHADES.replace(" ", "⎵", 1)
    return f"{axis_number(low)} {bar} {axis_number(high)}"


# ---------------------------------------------------------------------------------------------------- terminal
#
# A picture in characters, as large as the window.

HEIGHT: Final = 16
_MOST_LINES: Final = 100_000


def picture_lines(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of a picture: the title, the drawing, and how many elements were left out."""
    if picture.empty_reason is not None:
        return [picture.title, f"  {picture.empty_reason}"]
    if picture.values.ndim == 2:
        drawn = shade_plot(picture, width, height, colour=colour)
    else:
        drawn = chart(picture, width, height, colour=colour)
    return [picture.title, *drawn, *([f"  {picture.note}"] if picture.note else [])]


def draw(picture: Picture, console: Console, size: tuple[int, int] | None = None) -> list[str]:
    """The lines of a picture for a console's results; `size`: columns and lines, in place of the window's."""
    terminal = console.out.isatty()
    height = max(6, min(24, terminal_lines(console.environment) - 6)) if terminal else HEIGHT
    width, height = (console.width, height) if size is None else size
    return picture_lines(picture, width, height, colour=console.colours_results)


def terminal_lines(environment: Mapping[str, str]) -> int:
    """The height of the window in lines."""
    return parse_natural(environment.get("LINES", ""), _MOST_LINES) or shutil.get_terminal_size().lines
