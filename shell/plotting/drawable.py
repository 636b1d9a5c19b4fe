"""What can be drawn: vectors and matrices of real numbers; what of them: finite numbers.

Neighbours: `charts`, `shades`, `figures`; `requested` (the command line).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from ...typechecker.elements import Kind
from ..execution.outcome import Shown, as_numpy

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
        return self.x if isinstance(self.x, tuple) else tuple([short(float(place)) for place in self.places()])

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
    for place, (kind, rank) in enumerate(types):
        if kind is Kind.CHAR and rank == 2 and place == 0 and len(types) > 1 and chart is not Chart.SCATTER:
            continue  # labels
        require_drawable(kind, rank)
        if rank != 1:
            raise NotDrawable(f"a matrix is not drawn as {chart.value}", "select a row or a column of it")


def chart_of(chart: Chart, shown: Sequence[Shown], names: Sequence[str]) -> Picture:
    """Values made ready to be drawn: of several the first says where the items of the others stand.  NotDrawable."""
    from ..repl.showing import concrete_type

    require_chart(chart, [(one.kind, len(one.shape)) for one in shown])
    title = " : ".join(part for part in (names[-1], concrete_type(shown[-1])) if part)
    if chart is Chart.PLAIN:
        values, dropped = _finite(shown[0])
        return Picture(title, values, dropped)
    lengths = [one.shape[0] for one in shown]
    if len(set(lengths)) > 1:
        raise NotDrawable(f"what is drawn together has one length, and these have {', '.join(map(str, lengths))}")
    given, series = (shown[0] if len(shown) > 1 else None), shown[len(shown) > 1 :]
    made = [_finite(one) for one in series]
    called = [name or f"series {place + 1}" for place, name in enumerate(names[len(shown) > 1 :])]
    if len(series) > 1:
        title = ", ".join(called)
    x: Any = None
    if given is not None:
        x = _texts(given) if given.kind is Kind.CHAR else _finite(given)[0]
    dropped = sum(count for _, count in made)
    pairs = tuple(zip(called, [values for values, _ in made], strict=True))
    return Picture(title, made[0][0], dropped, chart, x, names[0] if given is not None else "", pairs)


def _finite(shown: Shown) -> tuple[Any, int]:
    """The numbers of a value, NaN where they are not finite, and how many those are."""
    import numpy as np

    values = np.asarray(as_numpy(shown.value)).astype(np.float64)
    finite = np.isfinite(values)
    dropped = int(values.size - np.count_nonzero(finite))
    return (np.where(finite, values, np.nan) if dropped else values), dropped


def _texts(shown: Shown) -> tuple[str, ...]:
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
