"""A picture by matplotlib, which is imported here and nowhere else, without a window of its own."""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Final, Literal

from .drawable import Picture

FORMATS: Final = (".png", ".svg")
MISSING: Final = "drawing into a file needs matplotlib"
ADVICE: Final = "pip install 'rho-lang[plot]'"


def is_there() -> bool:
    return find_spec("matplotlib") is not None


def figure(picture: Picture, format: str) -> bytes:
    """The file's bytes: `png` or `svg`.  The same picture gives the same bytes."""
    import matplotlib
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    made = Figure(figsize=(7, 4), dpi=120, layout="constrained")
    FigureCanvasAgg(made)
    axes = made.add_subplot()
    axes.set_title(picture.title if picture.note is None else f"{picture.title}\n{picture.note}", fontsize=10)
    if picture.blank is not None:
        axes.text(0.5, 0.5, picture.blank, ha="center", va="center", transform=axes.transAxes)
        axes.set_axis_off()
    elif picture.values.ndim == 1:
        axes.plot(np.arange(len(picture.values)), picture.values, marker="o" if len(picture.values) <= 60 else "", markersize=3)
        axes.grid(alpha=0.3)
    else:
        aspect: Literal["equal", "auto"] = "equal" if _squarish(picture) else "auto"
        image = axes.imshow(np.ma.masked_invalid(picture.values), aspect=aspect, interpolation="nearest")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        made.colorbar(image, ax=axes)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "rho"}):
        made.savefig(buffer, format=format, metadata={"Date": None} if format == "svg" else {"Software": None})
    return buffer.getvalue()


def _squarish(picture: Picture) -> bool:
    rows, columns = map(int, picture.values.shape)
    return 1 / 8 <= rows / columns <= 8
