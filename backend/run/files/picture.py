"""Which values become which pixels when a result is written as `.png`.

A picture is a matrix (grey), or has a third axis of 1 to 4 channels.  bool is black and white; u8 is written as it is;
integers within 0..255 and within 0..65535 become 8- and 16-bit pixels as they are; floats within 0..1 are multiplied by
255 and rounded; anything else is scaled linearly, its least finite value to 0 and its greatest to 255.  NaN is as the
least value, infinities as the nearest finite one.

Values are looked at, and made into pixels, some rows at a time.  Neighbours: `png` (the format), `files`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ....lang.codes import Code
from ....typechecker.elements import Kind
from .blocks import blocks_of
from .trouble import FileTrouble

_BLOCK: Final = 1 << 17
"""Items that are looked at together."""


@dataclass(frozen=True, slots=True)
class Pixels:
    """The samples of `values`: of `depth` bits; scaled from `low` to `high` if those are given."""

    values: Any
    kind: Kind
    depth: int = 8
    low: float | None = None
    high: float = 0.0

    def band(self, first: int, last: int) -> Any:
        """Samples of some rows."""
        import numpy

        values = self.values[first:last]
        if self.kind is Kind.BOOL:
            return values.astype("u1") * numpy.uint8(255)
        if self.low is None:
            return values.astype("u1" if self.depth == 8 else "u2", copy=False)
        half = self.high / 2 - self.low / 2  # halves, because the whole distance may overflow
        if not half:
            return numpy.zeros(values.shape, dtype="u1")
        known = numpy.clip(numpy.nan_to_num(values.astype("f8"), nan=self.low), self.low, self.high)
        return numpy.rint((known / 2 - self.low / 2) / half * 255).astype("u1")


def pixels(values: Any, kind: Kind) -> Pixels:
    """How a NumPy array of the kind becomes samples.  FileTrouble E708: it is not a picture."""
    if kind is Kind.CHAR or kind.is_complex:
        raise FileTrouble(Code.E708, f"holds {kind.value}, a picture needs real numbers")
    if values.ndim not in (2, 3) or (values.ndim == 3 and not 1 <= values.shape[2] <= 4):
        advice = "a picture is a matrix, or has a last axis of 1 to 4 channels"
        raise FileTrouble(Code.E708, f"has shape {list(values.shape)}, which is not a picture", advice)
    if 0 in values.shape:
        raise FileTrouble(Code.E708, f"has shape {list(values.shape)}, a picture needs at least one pixel")
    if kind in (Kind.BOOL, Kind.U8):
        return Pixels(values, kind)
    low, high = _range(values)
    if kind.is_integer and low >= 0 and high <= 65535:
        return Pixels(values, kind, 8 if high <= 255 else 16)
    if not kind.is_integer and low >= 0 and high <= 1:
        low, high = 0, 1
    return Pixels(values, kind, 8, float(low), float(high))


def _range(values: Any) -> tuple[Any, Any]:
    """The least and the greatest finite value; 0 and 0 if there is none."""
    import numpy

    low = high = None
    for block in blocks_of(values, _BLOCK):
        finite = block[numpy.isfinite(block)]
        if finite.size:
            least, greatest = finite.min(), finite.max()
            low, high = least if low is None else min(low, least), greatest if high is None else max(high, greatest)
    return (0, 0) if low is None else (low, high)
