"""What can be drawn: vectors and matrices of real numbers; what of them: finite numbers.

Neighbours: `lines`, `shades`, `figures`; `requested` (the command line).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ...backend.run.values import Array
from ...typechecker.elements import Kind

if TYPE_CHECKING:
    from ..outcome import Shown

_REFUSED: Final = {Kind.CHAR: "text", Kind.C64: "complex numbers", Kind.C128: "complex numbers"}


class NotDrawable(Exception):
    """A value of this type has no picture; `reason` says why, `hint` what to draw instead."""

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


@dataclass(frozen=True, slots=True)
class Picture:
    """A vector or a matrix of f64, where everything that is not finite is NaN; `dropped` is how many elements that were."""

    title: str
    values: Any
    dropped: int

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


def picture_of(shown: Shown, name: str = "") -> Picture:
    """A value made ready to be drawn."""
    import numpy as np

    from ..repl.showing import concrete_type

    require_drawable(shown.kind, len(shown.shape))
    given = shown.value
    if isinstance(given, Array):
        from ...backend.run.values import to_numpy

        given = to_numpy(given)
    values = np.asarray(given).astype(np.float64)
    finite = np.isfinite(values)
    dropped = int(values.size - np.count_nonzero(finite))
    if dropped:
        values = np.where(finite, values, np.nan)
    title = " : ".join(part for part in (name or shown.name, concrete_type(shown)) if part)
    return Picture(title, values, dropped)


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
