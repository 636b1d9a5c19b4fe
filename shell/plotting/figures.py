"""A picture by matplotlib, which is imported here and nowhere else, without a window of its own."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, Literal

from .charts import bins
from .drawable import Chart, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS: Final = (".png", ".svg")
MISSING: Final = "drawing into a file needs matplotlib"
ADVICE: Final = "pip install 'rho-lang[plot]'"


def is_there() -> bool:
    return find_spec("matplotlib") is not None


def figure(picture: Picture, format: str, size: tuple[int, int] | None = None) -> bytes:
    """The file's bytes: `png` or `svg`, of a size in pixels.  The same picture gives the same bytes."""
    import matplotlib
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    width, height = size or (840, 480)
    made = Figure(figsize=(width / 120, height / 120), dpi=120, layout="constrained")
    FigureCanvasAgg(made)
    axes = made.add_subplot()
    axes.set_title(picture.title if picture.note is None else f"{picture.title}\n{picture.note}", fontsize=10)
    if picture.blank is not None:
        axes.text(0.5, 0.5, picture.blank, ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
    elif picture.chart is not Chart.PLAIN:
        _chart(picture, axes)
    elif picture.values.ndim == 1:
        axes.plot(np.arange(len(picture.values)), picture.values, marker="o" if len(picture.values) <= 60 else "", markersize=3)
        axes.grid(alpha=0.3)
    else:
        aspect: Literal["equal", "auto"] = "equal" if _squarish(picture) else "auto"
        image = axes.imshow(np.ma.masked_invalid(picture.values), aspect=aspect, interpolation="nearest")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        made.colorbar(image, ax=axes)
    if picture.x is None and picture.chart is not Chart.HISTOGRAM:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "rho"}):
        made.savefig(buffer, format=format, metadata={"Date": None} if format == "svg" else {"Software": None})
    return buffer.getvalue()


def _chart(picture: Picture, axes: Axes) -> None:
    """Bars, a histogram, points or lines over the x axis."""
    import numpy as np

    places, count = picture.places(), len(picture.series)
    for number, (name, values) in enumerate(picture.series):
        match picture.chart:
            case Chart.HISTOGRAM:
                counts, edges = bins(values)
                axes.bar(edges[:-1], counts, np.diff(edges), align="edge", edgecolor="white")
            case Chart.BARS:
                width = 0.8 / count
                axes.bar(np.arange(len(values)) + (number - (count - 1) / 2) * width, values, width, label=name)
            case Chart.SCATTER:
                axes.scatter(places, values, s=12, label=name)
            case _:
                axes.plot(places, values, marker="o" if len(values) <= 60 else "", markersize=3, label=name)
    if picture.chart is Chart.BARS or isinstance(picture.x, tuple):
        step = max(1, len(picture.labels()) // 20)
        axes.set_xticks(np.arange(len(picture.labels()))[::step], picture.labels()[::step], rotation=30 if step > 1 else 0)
    axes.set_xlabel(picture.x_name)
    if count > 1:
        axes.legend()
    axes.grid(alpha=0.3, axis="y")


def _squarish(picture: Picture) -> bool:
    rows, columns = map(int, picture.values.shape)
    return 1 / 8 <= rows / columns <= 8
