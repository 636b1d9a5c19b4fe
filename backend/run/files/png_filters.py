"""Undoing the filters of PNG's rows.

Note [Filters].  Sub, Average and Paeth make a byte depend on its left, upper and upper left neighbours, so all pixels of one
anti-diagonal can be restored at once; where the rows are too few for that to pay, they are restored byte by byte.  None, Sub
and Up need neither, nor does Paeth in the first row of an image, where it is Sub.

Neighbours: `png`.
"""

from __future__ import annotations

from typing import Any, Final

from .trouble import damaged, disagrees

_SUB, _UP, _AVERAGE, _PAETH = 1, 2, 3, 4
LEAST_DIAGONAL: Final = 256
"""Bytes across the rows from which on a turn of NumPy's calls costs less than turns of Python's."""
_MOST_SLOW: Final = 32 << 20
"""Bytes that are restored one by one, at a quarter of a microsecond each."""


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
    slow = int((filters >= _AVERAGE).sum()) * rows.shape[1]
    if slow and min(len(rows) * step, rows.shape[1]) >= LEAST_DIAGONAL:
        return _restore_diagonals(rows, filters, step, above)
    if slow > _MOST_SLOW:
        raise disagrees("is too thin for the filters Average and Paeth that its rows use", "save it again with other filters")
    rows = rows.copy()
    for row, kind in zip(rows, filters.tolist(), strict=True):
        if kind == _SUB:
            pixels = row.reshape(-1, step)
            numpy.cumsum(pixels, axis=0, dtype="u1", out=pixels)
        elif kind == _UP:
            row += above
        elif kind == _AVERAGE:
            row[:] = _average(row.tobytes(), above.tobytes(), step)
        elif kind == _PAETH:
            row[:] = _paeth(row.tobytes(), above.tobytes(), step)
        above = row
    return rows


def _average(row: bytes, above: bytes, step: int) -> Any:
    import numpy

    found = bytearray(len(row))
    for start in range(step):
        left = 0
        places = range(start, len(row), step)
        for at, added, up in zip(places, row[start::step], above[start::step], strict=True):
            left = found[at] = (added + ((left + up) >> 1)) & 0xFF
    return numpy.frombuffer(found, "u1")


def _paeth(row: bytes, above: bytes, step: int) -> Any:
    import numpy

    found = bytearray(len(row))
    for start in range(step):
        left = corner = 0
        places = range(start, len(row), step)
        for at, added, up in zip(places, row[start::step], above[start::step], strict=True):
            a, b = up - corner, left - corner
            c = a + b
            a, b, c = a if a >= 0 else -a, b if b >= 0 else -b, c if c >= 0 else -c
            left = found[at] = (added + (left if a <= b and a <= c else up if b <= c else corner)) & 0xFF
            corner = up
    return numpy.frombuffer(found, "u1")


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
