"""Draws picture files with Matplotlib, which only this module imports; parses and checks the options `--plot`."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from ...lang.diagnostics.model import Refused
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source
from ...lang.tree.program import CellFormat, ColumnFormat
from ..console.process_exit import UsageError, did_you_mean
from ..console.standard_streams import Console, require_writable
from ..execution.params import Permissions
from ..execution.run_request import Outcome
from ..pipeline import Session
from ..pipeline_types import LoadedProgram

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ...backend.io.writing import PendingWrite
    from .charts import Chart, Picture


# ---------------------------------------------------------------------------------------------------- figures

FORMATS: Final = (".png", ".svg")
MISSING: Final = "drawing into a file needs matplotlib"
ADVICE: Final = "pip install 'rho-lang[plot]'"


def has_matplotlib() -> bool:
    return find_spec("matplotlib") is not None


def figure(
    picture: Picture, format: str, size: tuple[int, int] | None = None, note: Callable[[str], None] | None = None
) -> bytes:  # fmt: skip
    """The bytes of a file in `format` (`png` or `svg`), with a size in pixels.  The same picture gives the same bytes.
    `note` is called with the characters that no installed font has."""
    import matplotlib
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    from .charts import Chart

    width, height = size or (840, 480)
    is_map = picture.empty_reason is None and picture.chart is Chart.PLAIN and picture.values.ndim == 2
    square = is_map and _is_nearly_square(picture)
    with matplotlib.rc_context({"svg.hashsalt": "rho", "font.family": _fonts_for(picture)}):
        drawn = Figure(figsize=(width / 120, height / 120), dpi=120, layout="compressed" if square else "constrained")
        FigureCanvasAgg(drawn)
        axes = drawn.add_subplot()
        axes.set_title(picture.title if picture.note is None else f"{picture.title}\n{picture.note}", fontsize=10)
        if picture.empty_reason is not None:
            axes.text(0.5, 0.5, picture.empty_reason, ha="center", va="center", transform=axes.transAxes)
            axes.set_axis_off()
        elif is_map:
            image = axes.imshow(
                np.ma.masked_invalid(picture.values), aspect="equal" if square else "auto", interpolation="nearest"
            )
            axes.yaxis.set_major_locator(MaxNLocator(integer=True))
            drawn.colorbar(image, ax=axes)
        else:
            grouped = FuncFormatter(lambda number, position: f"{number:,.10g}".replace("-", "\u2212"))
            (axes.xaxis if _draw_chart(picture, axes) else axes.yaxis).set_major_formatter(grouped)
        if picture.x is None and picture.chart is not Chart.HISTOGRAM:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        buffer = io.BytesIO()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            drawn.savefig(buffer, format=format, metadata={"Date": None} if format == "svg" else {"Software": None})
    absent = dict.fromkeys(chr(int(match[1])) for one in caught if (match := _ABSENT_GLYPH.match(str(one.message))))
    if absent and note is not None:
        note(f"no font here has {' '.join(absent)}, which {'is' if len(absent) == 1 else 'are'} drawn as boxes")
    return buffer.getvalue()


_ABSENT_GLYPH: Final = re.compile(r"Glyph (\d+) ")
_WIDE_FONTS: Final = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Source Han Sans", "WenQuanYi Micro Hei", "Hiragino Sans", "Yu Gothic",
    "Microsoft YaHei", "Arial Unicode MS", "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai",
)  # fmt: skip
"""Fonts with letters that Matplotlib's default font lacks; those that are installed are used for these."""


def _fonts_for(picture: Picture) -> list[str]:
    """The fonts to draw a picture with, in order."""
    texts = "".join([picture.title, picture.x_name, *(picture.x if isinstance(picture.x, tuple) else ())])
    if max(map(ord, texts), default=0) < 0x590:
        return ["DejaVu Sans"]
    from matplotlib import font_manager

    known = set(font_manager.get_font_names())
    return ["DejaVu Sans", *[name for name in _WIDE_FONTS if name in known]]


def _draw_chart(picture: Picture, axes: Axes) -> bool:
    """Draw bars, a histogram, points or lines over the x axis; returns whether bars are horizontal, with their numbers on the x
    axis."""
    import numpy as np
    from matplotlib.ticker import MaxNLocator

    from .charts import Chart, bins

    series = picture.series or (("", picture.values),)
    places, count = _coordinates(picture), len(series)
    has_labels = picture.chart is Chart.BARS or isinstance(picture.x, tuple)
    horizontal = picture.chart is Chart.BARS and max(map(len, picture.labels())) > _LONG_LABEL and not picture.has_dates
    for number, (name, values) in enumerate(series):
        match picture.chart:
            case Chart.HISTOGRAM:
                counts, edges = bins(values)
                axes.bar(edges[:-1], counts, np.diff(edges), align="edge", edgecolor="white")
            case Chart.BARS:
                width = 0.8 / count
                middles = np.arange(len(values)) + (number - (count - 1) / 2) * width
                (axes.barh if horizontal else axes.bar)(middles, values, width, label=name)
            case Chart.SCATTER:
                axes.scatter(places, values, s=12, label=name)
            case _:
                axes.plot(places, values, marker="o" if len(values) <= 60 else "", markersize=3, label=name)
    if has_labels:
        labels = picture.labels()
        step = -(-len(labels) // _MOST_LABELS)
        shown = [label if len(label) <= _MOST_LABEL else label[: _MOST_LABEL - 1] + "…" for label in labels[::step]]
        crowded = sum(len(label) + 2 for label in shown) > _LABEL_ROOM
        if horizontal:
            axes.set_yticks(np.arange(len(labels))[::step], shown)
            axes.invert_yaxis()
            axes.xaxis.set_major_locator(MaxNLocator(5))
        else:
            axes.set_xticks(np.arange(len(labels))[::step], shown, rotation=30 * crowded, ha="right" if crowded else "center")
    (axes.set_ylabel if horizontal else axes.set_xlabel)(picture.x_name)
    if any(np.nanmin(values, initial=0.0) < 0 for _, values in series) and picture.chart is Chart.BARS:
        (axes.axvline if horizontal else axes.axhline)(0, color="black", linewidth=0.8)
    if count > 1:
        axes.legend()
    axes.grid(alpha=0.3, axis="x" if horizontal else "y")
    return horizontal


_LONG_LABEL: Final = 14
_MOST_LABEL: Final = 32
_MOST_LABELS: Final = 16
_LABEL_ROOM: Final = 90
"""The label length from which bars are horizontal; the length and number of labels that are shown; the characters that fit in a
row."""


def _coordinates(picture: Picture) -> Any:
    """The x coordinates; dates and times as NumPy's, so that Matplotlib formats them."""
    import numpy as np

    places = picture.x_positions()
    if not picture.has_dates:
        return places
    unit = "D" if picture.x_reading.form is CellFormat.DATE else "ns"
    known = np.isfinite(places) & (np.abs(places) < (10**6 if unit == "D" else 9.2e18))
    dates = np.where(known, places, 0).astype(f"datetime64[{unit}]")
    dates[~known] = np.datetime64("NaT")
    return dates


def _is_nearly_square(picture: Picture) -> bool:
    rows, columns = map(int, picture.values.shape)
    return 1 / 3 <= rows / columns <= 3


# ---------------------------------------------------------------------------------------------------- options
#
# `rho run --plot NAME[=FILE]` is checked before anything runs.  A value that is not an output of the program becomes one for this
# run, and is removed from the results again.

@dataclass(frozen=True, slots=True)
class PlotRequest:
    """One option `--plot`: the names to draw (the first of several is the x axis), the file (None: the terminal), the chart, and
    the value that names the columns of a matrix."""

    names: tuple[str, ...]
    path: str | None
    chart: Chart
    header: str | None = None

    @property
    def values(self) -> tuple[str, ...]:
        """The names of all values that the picture needs."""
        return self.names if self.header is None else (*self.names, self.header)

    @property
    def option(self) -> str:
        from .charts import Chart

        kind = "" if self.chart is Chart.PLAIN else f"{self.chart.value}:"
        header = "" if self.header is None else f":{self.header}"
        return f"--plot {kind}{','.join(self.names)}{header}" + (f"={self.path}" if self.path else "")

    def picture(self, outcome: Outcome) -> Picture:
        """The picture of the run's values.  UsageError: they cannot be drawn together."""
        from .charts import NotDrawable, chart_of

        try:
            return chart_of(self.chart, [outcome.outputs[name] for name in self.names], self.names, self._columns(outcome))
        except NotDrawable as error:
            raise UsageError(f"{self.option}: {error}", error.hint) from None

    def _columns(self, outcome: Outcome) -> list[str] | None:
        """The names of the columns of the matrix; None if none are given.  UsageError: they are no names."""
        if self.header is None:
            return None
        from ...backend.io.formats import FileTrouble
        from ...backend.io.writing import names_of

        value = outcome.outputs[self.header]
        try:
            return names_of((self.header, value.value, value.kind, value.reading))
        except FileTrouble as trouble:
            raise UsageError(f"{self.option} {trouble.message}") from None


@dataclass(frozen=True, slots=True)
class PlotRequests:
    """All options `--plot` of a run.

    `added` are names that are not outputs of the program; `size` is that of every picture, in columns and lines in the terminal,
    in pixels in files.
    """

    requests: tuple[PlotRequest, ...] = ()
    added: tuple[str, ...] = ()
    size: tuple[int, int] | None = None

    def with_outputs(self, source: Source, session: Session, *, stored: bool = False) -> tuple[Source, PlotRequests]:
        """The program with the names to draw among its outputs, and the requests that record which were added.

        `stored`: the plan is a stored one, which has only its own outputs.  UsageError: a name that does not exist, is not an
        array, or is not an output of the stored plan.
        """
        if not self.requests:
            return source, self
        checked = session.check(source)
        if checked.core is None:
            return source, self
        outputs = [entry.name for entry in checked.core.outputs]
        arrays = [name for name, type in checked.types.items() if type not in _NOT_ARRAYS and not type.startswith("(")]
        added = []
        for one, name in [(drawing, name) for drawing in self.requests for name in drawing.values]:
            if name in outputs or name in added:
                continue
            if name not in arrays:
                shaped = [name for name in arrays if "[" in checked.types[name] or checked.types[name].startswith("perm")]
                raise _unknown_name(one, name, shaped, checked.types.get(name))
            if stored:
                raise UsageError(f"{one.option}: a stored plan keeps outputs only", f"add `output {name}` and plan again")
            added.append(name)
        dated = {entry.name: entry.reading for entry in checked.core.inputs if entry.reading.form in _DATED}
        if not added:
            return source, self
        ending = "" if source.text.endswith("\n") else "\n"
        text = source.text + ending + "".join(f"output {name}{_as_dates(dated.get(name))}\n" for name in added)
        return Source(source.name, text), replace(self, added=tuple(added))

    def require_drawable(self, loaded: LoadedProgram, permissions: Permissions) -> None:
        """Raise UsageError for values that cannot be drawn and Refused for files that may not be written, before data is read."""
        if not self.requests:
            return
        from .charts import NotDrawable, require_chart

        core = loaded.core
        values = {entry.name: entry for entry in core.outputs}
        for one in self.requests:
            entry = values[one.names[-1]]
            types = [core.types[values[name].value] for name in one.names]
            try:
                require_chart(one.chart, [(type_.element.kind, len(type_.shape)) for type_ in types])
            except NotDrawable as error:
                raise UsageError(f"{one.option}: {error}", error.hint) from None
            if one.path is not None and not permissions.may_write(one.path):
                raise Refused([permissions.write_refusal(one.path, entry.span)])

    def without_added(self, outcome: Outcome) -> Outcome:
        """The outcome without the outputs that were added."""
        if not self.added:
            return outcome
        return replace(outcome, outputs={name: value for name, value in outcome.outputs.items() if name not in self.added})

    def picture_files(self, loaded: LoadedProgram, outcome: Outcome, note: Callable[[str], None]) -> list[PendingWrite]:
        """The pictures for files, drawn and ready to be written with the outputs; `note` is called with the characters that no
        font has."""
        if not self.requests:
            return []
        from ...backend.io.writing import PendingWrite

        spans = {entry.name: entry.span for entry in loaded.core.outputs}
        prepared = []
        for one in self.requests:
            if one.path is not None:
                of_file = partial(_note_on, one.path, note)
                content = figure(one.picture(outcome), Path(one.path).suffix[1:].lower(), self.size, of_file)
                prepared.append(PendingWrite(one.path, partial(_write_bytes, content), spans[one.names[-1]]))
        return prepared

    def show(self, outcome: Outcome, console: Console, write: Callable[[str], None]) -> None:
        """Pass the lines of the pictures for the terminal to `write`."""
        if not self.requests:
            return
        from .charts import draw

        for one in self.requests:
            if one.path is None:
                for line in draw(one.picture(outcome), console, self.size):
                    write(line)


_DATED: Final = (CellFormat.DATE, CellFormat.TIME)


def _as_dates(reading: ColumnFormat | None) -> str:
    """The clause for an output that has the date format of an input."""
    return "" if reading is None or not reading.pattern else f' as "{reading.pattern}"'


_NOT_ARRAYS = ("function", "operator", "module")


def plot_requests_of(options: Sequence[str], size: str | None) -> PlotRequests:
    """Parse the values of `--plot` and `--plot-size`.  UsageError: malformed, or a file that cannot be written."""
    if not options:
        return PlotRequests(size=_size_of(size))
    from .charts import Chart

    requests = []
    for text in options:
        named, equals, path = text.partition("=")
        charts = {chart.value: chart for chart in Chart}
        kind, colon, listed = named.partition(":") if ":" in named else ("", "", named)
        listed, of_columns, header = listed.partition(":")
        names = tuple([name.strip() for name in listed.split(",")])
        if colon and kind not in charts:
            raise UsageError(f"--plot {text}: there is no chart `{kind}`", f"there are {', '.join(charts)}")
        chart = charts.get(kind, Chart.LINE if len(names) > 1 else Chart.PLAIN)
        one = PlotRequest(names, path or None, chart, header.strip() if of_columns else None)
        if not all(one.values) or "," in header or (equals and not path):
            raise UsageError(f"`--plot {text}` is not of the form --plot NAME or --plot NAME=FILE")
        if one.path is not None:
            _check_file(one, one.path)
        requests.append(one)
    return PlotRequests(tuple(requests), size=_size_of(size))


_SIZE = re.compile(r"([0-9]{1,4})x([0-9]{1,4})", re.ASCII)


def _size_of(text: str | None) -> tuple[int, int] | None:
    match = None if text is None else _SIZE.fullmatch(text)
    if text is not None and (match is None or min(int(match[1]), int(match[2])) < 4):
        raise UsageError(f"--plot-size {text}: a width and a height such as 100x20")
    return None if match is None else (int(match[1]), int(match[2]))


def _check_file(one: PlotRequest, path: str) -> None:
    suffix = os.path.splitext(path)[1].lower()
    if suffix not in FORMATS:
        raise UsageError(f"{one.option}: pictures are {' or '.join(FORMATS)} files")
    if not has_matplotlib():
        without = one.option.partition("=")[0]
        raise UsageError(f"{one.option}: {MISSING}", f"{ADVICE}; {without} draws in the terminal")
    require_writable(path, f"{one.option}: `{path}`")


def _note_on(path: str, note: Callable[[str], None], text: str) -> None:
    note(f"{path}: {text}")


def _write_bytes(content: bytes, file: BinaryIO) -> None:
    file.write(content)


def _unknown_name(one: PlotRequest, name: str, arrays: Sequence[str], type_: str | None) -> UsageError:
    if type_ is not None:
        what = "a tuple" if type_.startswith("(") else f"{'an' if type_[0] in 'aeiou' else 'a'} {type_}"
        return UsageError(f"{one.option}: `{name}` is {what}, which is not drawn", "vectors and matrices are")
    known = ", ".join(f"`{known}`" for known in arrays)
    message = f"{one.option}: this program has no value `{name}`{did_you_mean(name, arrays)}"
    return UsageError(message, f"its values are {known}" if known else "")
