"""Dates and times as text: days, or microseconds, since 1970 (UTC).

ISO 8601 unless a pattern of strptime is given; a time without an offset is UTC.  Neighbours: `columns`, `writing`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from ....lang.reading_clauses import Form, Reading
from .cells import Unsuitable, shown

_EPOCH: Final = date(1970, 1, 1).toordinal()
_START: Final = datetime(1970, 1, 1)
_TICK: Final = timedelta(microseconds=1)
_LENGTH: Final = 10
_DIRECTIVE: Final = re.compile("%.")


def number_of(cell: str, reading: Reading) -> int:
    """The number that a date or a time stands for.  Unsuitable."""
    try:
        if reading.pattern:
            moment = datetime.strptime(cell, reading.pattern)
        elif reading.form is Form.DATE:
            if len(cell) != _LENGTH or cell[4] != "-":
                raise ValueError
            return date.fromisoformat(cell).toordinal() - _EPOCH
        else:
            moment = datetime.fromisoformat(cell)
    except ValueError:
        example = reading.pattern or ("2024-12-31" if reading.form is Form.DATE else "2024-12-31T23:59:59")
        what = "date" if reading.form is Form.DATE else "time"
        raise Unsuitable(f"{shown(cell)} is not a {what} such as {example}") from None
    if reading.form is Form.DATE:
        return moment.toordinal() - _EPOCH
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _START) // _TICK


def texts_of(values: Any, reading: Reading) -> list[str]:
    """Dates or times as they are written.  Unsuitable: before the year 1 or after 9999."""
    return [text_of(number, reading) for number in values.reshape(-1).tolist()]


def text_of(number: int, reading: Reading) -> str:
    """One of them."""
    try:
        if reading.form is Form.DATE:
            day = date.fromordinal(number + _EPOCH)
            return _formatted(day, reading.pattern) if reading.pattern else day.isoformat()
        moment = _START + number * _TICK
        return _formatted(moment, reading.pattern) if reading.pattern else moment.isoformat()
    except (ValueError, OverflowError):
        raise Unsuitable(f"holds {number}, which is not a date of the years 1 to 9999") from None


def _formatted(moment: date, pattern: str) -> str:
    """By strftime, but years have four digits on every system, as strptime reads them."""
    return moment.strftime(_DIRECTIVE.sub(lambda found: f"{moment.year:04d}" if found[0] == "%Y" else found[0], pattern))
