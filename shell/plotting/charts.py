"""Charts in characters: lines, scatter plots, bars, histograms, several series.

Bars lie, one a line.  Points are dots of braille, two by four a character, and a line joins neighbours; what is not a number
breaks it.  Several series have colours, or without colours fields of their own under each other with the same axes.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final

from ...lang.support.bounded_parsing import parse_natural
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..console.standard_streams import Console
from ..execution.outcome import DisplayedValue, as_numpy

# ---------------------------------------------------------------------------------------------------- drawable
#
# What can be drawn: vectors and matrices of real numbers; what of them: finite numbers.

_REFUSED: Final = {Kind.CHAR: "text", Kind.C64: "complex numbers", Kind.C128: "complex numbers"}


class NotDrawable(Exception):
    """A value of this type has no picture; `reason` says why, `hint` what to draw instead."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class Chart(Enum):
    """What is made of values; `plain` is a line of a vector and shades of a matrix."""

    PLAIN = "plain"
    LINE = "line"
    SCATTER = "scatter"
    BARS = "bars"
    HISTOGRAM = "hist"


@dataclass(frozen=True, slots=True)
class Picture:
    """A vector or a matrix of f64, where everything that is not finite is NaN; `dropped` is how many elements that were.

    A chart has also `x`, the places of its items as numbers or texts (None: their positions), what that is called, and
    `series`: names and vectors, of which `values` is the first."""

    title: str
    values: Any
    dropped: int
    chart: Chart = Chart.PLAIN
    x: Any = None
    x_name: str = ""
    series: tuple[tuple[str, Any], ...] = ()

    def places(self) -> Any:
        """Where the items of a chart stand on its x axis."""
        import numpy as np

        return np.arange(float(len(self.values))) if self.x is None or isinstance(self.x, tuple) else self.x

    def labels(self) -> tuple[str, ...]:
        """What stands beside the items of a chart."""
        return self.x if isinstance(self.x, tuple) else tuple([short(float(position)) for position in self.places()])

    @property
    def blank(self) -> str | None:
        """Why there is nothing to draw."""
        if not self.values.size:
            return "there is nothing to draw: it is empty"
        if self.dropped == self.values.size:
            return "there is nothing to draw: no element is a finite number"
        return None

    @property
    def note(self) -> str | None:
        """What is left out."""
        if not self.dropped:
            return None
        what = "is" if self.dropped == 1 else "are"
        return f"{self.dropped:,} of {self.values.size:,} elements {what} NaN or infinite and left out"


def require_drawable(kind: Kind, rank: int) -> None:
    """Can values of this type be drawn?"""
    refused = _REFUSED.get(kind)
    if refused == "complex numbers":
        raise NotDrawable("complex numbers are not drawn", "draw their magnitude, |x, or a part, 9○x or 11○x")
    if refused is not None:
        raise NotDrawable(f"{refused} is not drawn", "only vectors and matrices of real numbers are")
    if rank not in (1, 2):
        kind_of = "a scalar" if not rank else f"an array of rank {rank}"
        hint = "vectors and matrices are; select a plane, for example x[0;;]" if rank else ""
        raise NotDrawable(f"{kind_of} is not drawn", hint)


def require_chart(chart: Chart, types: Sequence[tuple[Kind, int]]) -> None:
    """Can values of these kinds and ranks be drawn as this?  Of several the first are the places on the x axis."""
    if chart is Chart.PLAIN:
        require_drawable(*types[0])
        return
    if chart is Chart.HISTOGRAM and len(types) > 1:
        raise NotDrawable("a histogram is of one vector")
    for index, (kind, rank) in enumerate(types):
        if kind is Kind.CHAR and rank == 2 and index == 0 and len(types) > 1 and chart is not Chart.SCATTER:
            continue  # labels
        require_drawable(kind, rank)
        if rank != 1:
            raise NotDrawable(f"a matrix is not drawn as {chart.value}", "select a row or a column of it")


def chart_of(chart: Chart, shown: Sequence[DisplayedValue], names: Sequence[str]) -> Picture:
    """Values made ready to be drawn: of several the first says where the items of the others stand.  NotDrawable."""
    from ..repl.status_line import concrete_type

    require_chart(chart, [(one.kind, len(one.shape)) for one in shown])
    title = " : ".join(part for part in (names[-1], concrete_type(shown[-1])) if part)
    if chart is Chart.PLAIN:
        values, dropped = _finite(shown[0])
        return Picture(title, values, dropped)
    lengths = [one.shape[0] for one in shown]
    if len(set(lengths)) > 1:
        raise NotDrawable(f"what is drawn together has one length, and these have {', '.join(map(str, lengths))}")
    given, series = (shown[0] if len(shown) > 1 else None), shown[len(shown) > 1 :]
    cleaned = [_finite(one) for one in series]
    called = [name or f"series {index + 1}" for index, name in enumerate(names[len(shown) > 1 :])]
    if len(series) > 1:
        title = ", ".join(called)
    x: Any = None
    if given is not None:
        x = _texts(given) if given.kind is Kind.CHAR else _finite(given)[0]
    dropped = sum(count for _, count in cleaned)
    pairs = tuple(zip(called, [values for values, _ in cleaned], strict=True))
    return Picture(title, cleaned[0][0], dropped, chart, x, names[0] if given is not None else "", pairs)


def _finite(shown: DisplayedValue) -> tuple[Any, int]:
    """The numbers of a value, NaN where they are not finite, and how many those are."""
    import numpy as np

    values = np.asarray(as_numpy(shown.value)).astype(np.float64)
    finite = np.isfinite(values)
    dropped = int(values.size - np.count_nonzero(finite))
    return (np.where(finite, values, np.nan) if dropped else values), dropped


def _texts(shown: DisplayedValue) -> tuple[str, ...]:
    """The rows of text."""
    rows = as_numpy(shown.value).tolist()
    return tuple(["".join(chr(c) if isinstance(c, int) else c or " " for c in row).strip() for row in rows])


def ends_of(values: Any) -> tuple[float, float]:
    """The least and the greatest number, some way apart."""
    import numpy as np

    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        room = abs(low) / 2 or 1.0
        low, high = max(low - room, -_LARGEST), min(high + room, _LARGEST)
    return low, high


_LARGEST: Final = 1.7e308


def scaled(values: Any, low: float, high: float) -> Any:
    """Where numbers lie between the ends: 0 to 1, however large they are."""
    unit = max(abs(low), abs(high)) or 1.0
    if unit < 1e-300:  # so that the division does not run out of range
        values, low, high, unit = values * 1e300, low * 1e300, high * 1e300, unit * 1e300
    return (values / unit - low / unit) / (high / unit - low / unit)


def short(number: float) -> str:
    """A number on an axis."""
    text = f"{number:.4g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return ("0" if text == "-0" else text).replace("-", "¯")


# ---------------------------------------------------------------------------------------------------- charts

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
            (labels[index] if not number else "", name if several else "", float(values[index]))
            for index in range(len(labels)) for number, (name, values) in enumerate(picture.series)
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


# ---------------------------------------------------------------------------------------------------- shades
#
# A matrix as shades, row 0 at the top: two characters an element, or with colours one column and half a line.
#
# What is larger than the window is averaged over blocks, what is small is enlarged.  Blocks without a finite number are dots.

_SHADES: Final = " ░▒▓█"
_COLOURS: Final = (17, 18, 54, 55, 60, 61, 67, 73, 79, 78, 114, 149, 185, 221, 227, 229)
"""Of the palette of 256, from dark to bright."""
_MISSING: Final = "·"


def shade_plot(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The lines of the drawing: rows in `height` lines, the positions beside them, and what the shades stand for."""
    import numpy as np

    low, high = ends_of(picture.values)
    rows, columns = picture.values.shape
    margin = len(f"{rows - 1:,}") + 1
    across = max(2, (width - margin) // (1 if colour else 2))
    down = max(2, height * (2 if colour else 1))
    block = _block(rows, columns, down, across)
    values = _averaged(picture.values, block)
    larger = max(1, min(down // values.shape[0], across // values.shape[1], 8))
    levels = scaled(np.repeat(np.repeat(values, larger, axis=0), larger, axis=1), low, high)
    drawn = _coloured(levels) if colour else _plain(levels)
    per_line = 2 if colour else 1
    labels = {0: "0", (rows - 1) // block[0] * larger // per_line: f"{rows - 1:,}"}
    lines = [f"{labels.get(number, ''):>{margin - 1}} {line}".rstrip() for number, line in enumerate(drawn)]
    wide = levels.shape[1] * (1 if colour else 2)
    last = f"{columns - 1:,}" if columns > 1 else ""
    lines.append(f"{' ' * margin}0{last:>{max(wide - 1, len(last) + 1 if last else 0)}}".rstrip())
    return [*lines, _legend(low, high, colour=colour)]


def _block(rows: int, columns: int, down: int, across: int) -> tuple[int, int]:
    """How many elements become one: as many each way, unless little of the shorter side would be left."""
    least = max(-(-rows // down), 1), max(-(-columns // across), 1)
    square = max(least)
    return (square, square) if min(rows, columns) >= 8 * square or square == 1 else least


def _averaged(values: Any, block: tuple[int, int]) -> Any:
    """Means of blocks, of what is finite in them."""
    import numpy as np

    if block == (1, 1):
        return values
    starts = [np.arange(0, size, step) for size, step in zip(values.shape, block, strict=True)]
    finite = np.isfinite(values)
    unit = float(np.nanmax(np.abs(values))) or 1.0
    filled = np.where(finite, values / unit, 0.0)
    sums = np.add.reduceat(np.add.reduceat(filled, starts[0], axis=0), starts[1], axis=1)
    counts = np.add.reduceat(np.add.reduceat(finite.astype(np.int64), starts[0], axis=0), starts[1], axis=1)
    return np.where(counts, sums / np.maximum(counts, 1), np.nan) * unit


def _plain(levels: Any) -> list[str]:
    return ["".join(_shade(level) * 2 for level in row).rstrip() for row in levels.tolist()]


def _shade(level: float) -> str:
    return _MISSING if level != level else _SHADES[min(int(level * len(_SHADES)), len(_SHADES) - 1)]


def _coloured(levels: Any) -> list[str]:
    """Two rows a line: the upper in the colour of the character, the lower in that of its ground."""
    rows = levels.tolist()
    text_rows = []
    for at in range(0, len(rows), 2):
        lower = rows[at + 1] if at + 1 < len(rows) else [None] * len(rows[at])
        text_rows.append("".join(_pair(a, b) for a, b in zip(rows[at], lower, strict=True)) + "\x1b[0m")
    return text_rows


def _pair(upper: float, lower: float | None) -> str:
    if upper != upper:
        return f"\x1b[0m{_MISSING}" if lower is None or lower != lower else f"\x1b[0;38;5;{_colour(lower)}m▄"
    ground = "" if lower is None or lower != lower else f";48;5;{_colour(lower)}"
    return f"\x1b[0;38;5;{_colour(upper)}{ground}m▀"


def _colour(level: float) -> int:
    return _COLOURS[min(int(level * len(_COLOURS)), len(_COLOURS) - 1)]


def _legend(low: float, high: float, *, colour: bool) -> str:
    if colour:
        bar = "".join(f"\x1b[38;5;{one}m█" for one in _COLOURS) + "\x1b[0m"
    else:
        bar = _SHADES.replace(" ", "⎵", 1)
    return f"{short(low)} {bar} {short(high)}"


# ---------------------------------------------------------------------------------------------------- terminal
#
# A picture in characters, as large as the window.

HEIGHT: Final = 16
_MOST_LINES: Final = 100_000


def drawing(picture: Picture, width: int, height: int, *, colour: bool) -> list[str]:
    """The title, the drawing, and what was left out."""
    if picture.blank is not None:
        return [picture.title, f"  {picture.blank}"]
    if picture.values.ndim == 2:
        drawn = shade_plot(picture, width, height, colour=colour)
    else:
        drawn = chart(picture, width, height, colour=colour)
    return [picture.title, *drawn, *([f"  {picture.note}"] if picture.note else [])]


def draw(picture: Picture, console: Console, size: tuple[int, int] | None = None) -> list[str]:
    """For where a console writes its results; `size` in columns and lines instead of the window's."""
    terminal = console.out.isatty()
    height = max(6, min(24, lines_of(console.environment) - 6)) if terminal else HEIGHT
    width, height = (console.width, height) if size is None else size
    return drawing(picture, width, height, colour=console.colours_results)


def lines_of(environment: Mapping[str, str]) -> int:
    """Of the window."""
    return parse_natural(environment.get("LINES", ""), _MOST_LINES) or shutil.get_terminal_size().lines
