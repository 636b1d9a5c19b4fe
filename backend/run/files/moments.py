"""Counts of units of time as days or microseconds: in 64 bits, or not at all.

Coarser units are multiplied exactly, finer ones rounded down.  Neighbours: `arrow` (columns), `dates` (text),
`shell.embedding.arrays` (NumPy's dates).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ....lang.reading_clauses import Form
from .trouble import disagrees

DAY: Final = 86_400_000_000
"""Microseconds."""
DAYS: Final = {"D": 1, "W": 7}
MICROSECONDS: Final = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
"""Of a unit."""
PARTS: Final = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
"""Of a microsecond."""
_MONTHS: Final = {"M": 1, "Y": 12}
_MOST_MONTHS: Final = 10**17
"""Whose days are certain to be in 64 bits."""
_MOST: Final = 2**63 - 1


def from_numpy(items: Any) -> tuple[Any, Any, Form]:
    """A vector of NumPy's dates as whole numbers, which of them are there, and what the numbers are of.  FileTrouble E706."""
    unit, each = np.datetime_data(items.dtype)
    present = ~np.isnat(items)
    values = np.where(present, items.astype(np.int64), 0)
    if unit in _MONTHS:
        months = multiplied(values, each * _MONTHS[unit], Form.DATE, _MOST_MONTHS)
        return months.view("M8[M]").astype("M8[D]").view(np.int64), present, Form.DATE
    if unit in DAYS:
        return multiplied(values, each * DAYS[unit], Form.DATE), present, Form.DATE
    if unit in MICROSECONDS:
        return multiplied(values, each * MICROSECONDS[unit], Form.TIME), present, Form.TIME
    if unit in PARTS:
        whole, rest = np.divmod(values, PARTS[unit])
        return multiplied(whole, each, Form.TIME) + rest * each // PARTS[unit], present, Form.TIME
    if present.any():
        raise disagrees("holds dates without a unit", 'give them one: `.astype("M8[s]")`')
    return values, present, Form.TIME


def multiplied(values: Any, count: int, form: Form, most: int = _MOST) -> Any:
    """Whole numbers of a unit of `count` days or microseconds in those.  FileTrouble E706: beyond `most`."""
    low, high = -((most + 1) // count), most // count
    if len(values) and not low <= int(values.min()) <= int(values.max()) <= high:
        at = int(((values < low) | (values > high)).argmax())
        what, unit = ("date", "days") if form is Form.DATE else ("time", "microseconds")
        raise disagrees(f"holds a {what} (item {at}) that no 64-bit number of {unit} reaches")
    return values * count

