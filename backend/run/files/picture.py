"""Which values become which pixels when a result is written as `.png`.

A picture is a matrix (grey), or has a third axis of 1 to 4 channels.  bool is black and white; u8 is written as it is;
integers within 0..255 and within 0..65535 become 8- and 16-bit pixels as they are; floats within 0..1 are multiplied by
255 and rounded; anything else is scaled linearly, its least finite value to 0 and its greatest to 255.  NaN is as the
least value, infinities as the nearest finite one.

Neighbours: `png` (the format), `files`.
"""

from __future__ import annotations

from typing import Any

from ....typechecker.elements import Kind
from .trouble import FileTrouble


def pixels(values: Any, kind: Kind) -> Any:
    """`u1` or `u2` samples of a NumPy array of the kind."""
    import numpy

    if kind is Kind.CHAR or kind.is_complex:
        raise FileTrouble("E708", f"holds {kind.value}, a picture needs real numbers")
    if values.ndim not in (2, 3) or (values.ndim == 3 and not 1 <= values.shape[2] <= 4):
        advice = "a picture is a matrix, or has a last axis of 1 to 4 channels"
        raise FileTrouble("E708", f"has shape {list(values.shape)}, which is no picture", advice)
    if 0 in values.shape:
        raise FileTrouble("E708", f"has shape {list(values.shape)}, a picture needs at least one pixel")
    if kind is Kind.BOOL:
        return values.astype("u1") * numpy.uint8(255)
    if kind is Kind.U8:
        return values
    finite = values[numpy.isfinite(values)]
    low, high = (finite.min(), finite.max()) if finite.size else (0, 0)
    if kind.is_integer and low >= 0 and high <= 65535:
        return values.astype("u1" if high <= 255 else "u2")
    if not kind.is_integer and low >= 0 and high <= 1:
        low, high = 0, 1
    known = numpy.clip(numpy.nan_to_num(values.astype("f8"), nan=float(low)), float(low), float(high))
    half = float(high) / 2 - float(low) / 2  # halves, because the whole distance may overflow
    if not half:
        return numpy.zeros(values.shape, dtype="u1")
    return numpy.rint((known / 2 - float(low) / 2) / half * 255).astype("u1")
