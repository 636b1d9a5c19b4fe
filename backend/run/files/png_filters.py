"""Undoing the filters of PNG's rows.

Note [Filters].  Sub, Average and Paeth make a byte depend on its left, upper and upper left neighbours, so all pixels of one
anti-diagonal can be restored at once.  None, Sub and Up need no diagonals, nor does Paeth in the first row of an image, where it
is Sub.

Note [Skewed].  Anti-diagonals lie one behind the other in memory, with their pixels in the order of the shorter side, so that a
diagonal and its neighbours in the two diagonals before it are slices.  Where the shorter side has few bytes, a diagonal costs
more than its bytes one by one.

Neighbours: `png`.
"""

from __future__ import annotations

from typing import Any, Final

from .trouble import damaged

_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
LEAST_DIAGONAL: Final = 256
"""Bytes across the rows from which on a diagonal costs little for each byte."""
_FEW: Final = 64
"""Bytes of a diagonal that one by one cost as much as together."""


def restore(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """Undo the filters of rows; `step` is the bytes of one pixel, `above` the row restored before (None: there is none)."""
    import numpy

    if int(filters.max(initial=0)) > _PAETH:
        raise damaged("uses a filter that PNG does not define")
    filters = filters.copy()
    if above is None:
        above = numpy.zeros(rows.shape[1], "u1")
        if filters[0] == _PAETH:
            filters[0] = _SUB
    if (filters >= _AVERAGE).any():
        if min(len(rows) * step, rows.shape[1]) < _FEW:
            return _restore_bytes(rows, filters, step, above)
        return _restore_diagonals(rows, filters, step, above)
    rows = rows.copy()
    for row, kind in zip(rows, filters.tolist(), strict=True):
        if kind == _SUB:
            pixels = row.reshape(-1, step)
            numpy.cumsum(pixels, axis=0, dtype="u1", out=pixels)
        elif kind == _UP:
            row += above
        above = row
    return rows


def _restore_bytes(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """One byte after the other."""
    import numpy

    count, restored = rows.shape[1], bytearray()
    before = bytes(step) + above.tobytes()
    for raw, kind in zip(rows, filters.tolist(), strict=True):
        row = bytearray(step) + raw.tobytes()
        for at in range(step, count + step):
            left, up = row[at - step], before[at]
            if kind == _SUB:
                row[at] = (row[at] + left) & 0xFF
            elif kind == _UP:
                row[at] = (row[at] + up) & 0xFF
            elif kind == _AVERAGE:
                row[at] = (row[at] + ((left + up) >> 1)) & 0xFF
            elif kind == _PAETH:
                corner = before[at - step]
                a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
                row[at] = (row[at] + (left if a <= b and a <= c else up if b <= c else corner)) & 0xFF
        restored += row[step:]
        before = bytes(row)
    return numpy.frombuffer(restored, "u1").reshape(rows.shape)


def _restore_diagonals(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """See Note [Filters] and Note [Skewed]."""
    import numpy

    height, width = rows.shape[0], rows.shape[1] // step
    upright = height <= width
    across, along = (height, width) if upright else (width, height)
    skewed = numpy.zeros((across + along + 1, across + 1, step), "i2")
    each, line = skewed.strides[1], skewed.strides[0]
    grid = numpy.lib.stride_tricks.as_strided(skewed, (across + 1, along + 1, step), (line + each, line, skewed.strides[2]))
    pixels = grid if upright else grid.transpose(1, 0, 2)
    pixels[0, 1:], pixels[1:, 1:] = above.reshape(width, step), rows.reshape(height, width, step)
    flat = skewed.reshape(len(skewed), -1)
    masks = {kind: numpy.repeat((filters == kind).astype("i2"), step) for kind in {*filters.tolist()} - {0}}
    if not upright:
        masks = {kind: mask[::-1] for kind, mask in masks.items()}
    for diagonal in range(2, across + along + 1):
        first, last = max(1, diagonal - along), min(across, diagonal - 1) + 1
        here, before = slice(first * step, last * step), slice((first - 1) * step, (last - 1) * step)
        same, aside, corner = flat[diagonal - 1, here], flat[diagonal - 1, before], flat[diagonal - 2, before]
        left, up = (same, aside) if upright else (aside, same)
        start = (first - 1) * step if upright else (height - diagonal + first) * step
        own = slice(start, start + (last - first) * step)
        restored = flat[diagonal, here]
        for kind, mask in masks.items():
            restored += mask[own] * _predicted(kind, left, up, corner)
        restored &= 0xFF
    return pixels[1:, 1:].astype("u1").reshape(rows.shape)


def _predicted(kind: int, left: Any, up: Any, corner: Any) -> Any:
    import numpy

    if kind == _SUB:
        return left
    if kind == _UP:
        return up
    if kind == _AVERAGE:
        return (left + up) >> 1
    a, b = up - corner, left - corner
    c = numpy.abs(a + b)
    numpy.abs(a, out=a), numpy.abs(b, out=b)
    return numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, corner))
