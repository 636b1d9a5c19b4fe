"""Undoing the filters of PNG's rows.

Note [Filters].  Sub, Average and Paeth make a byte depend on its left, upper and upper left neighbours, so all pixels of one
anti-diagonal can be restored at once.  None, Sub and Up need no diagonals, nor does Paeth in the first row of an image, where it
is Sub.

Neighbours: `png`.
"""

from __future__ import annotations

from typing import Any, Final

from .trouble import damaged, disagrees

_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
LEAST_DIAGONAL: Final = 256
"""Bytes across the rows from which on a diagonal costs little for each byte."""
_MOST_THIN: Final = 200_000
"""Diagonals of rows that are fewer, at some thirty microseconds each."""


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
        thin = min(len(rows) * step, rows.shape[1]) < LEAST_DIAGONAL
        if thin and len(rows) + rows.shape[1] // step > _MOST_THIN:
            raise disagrees("is too thin for the filters Average and Paeth that its rows use", "save it again with other filters")
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


def _restore_diagonals(rows: Any, filters: Any, step: int, above: Any) -> Any:
    """See Note [Filters]."""
    import numpy

    height, width = rows.shape[0], rows.shape[1] // step
    padded = numpy.zeros((height + 1, width + 1, step), dtype="i2")
    padded[0, 1:] = above.reshape(width, step)
    padded[1:, 1:] = rows.reshape(height, width, step)
    order = filters[:, None]
    for diagonal in range(height + width - 1):
        y = numpy.arange(max(0, diagonal - width + 1), min(height, diagonal + 1))
        x = diagonal - y
        left, up, corner = padded[y + 1, x], padded[y, x + 1], padded[y, x]
        guess = left + up - corner
        a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
        paeth = numpy.where((a <= b) & (a <= c), left, numpy.where(b <= c, up, corner))
        used = order[y]
        choices = {_SUB: left, _UP: up, _AVERAGE: (left + up) >> 1, _PAETH: paeth}
        added = numpy.select([used == which for which in choices], list(choices.values()), 0)
        padded[y + 1, x + 1] = (padded[y + 1, x + 1] + added) & 0xFF
    return padded[1:, 1:].astype("u1").reshape(rows.shape)
