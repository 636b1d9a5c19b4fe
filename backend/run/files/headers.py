"""Whether the first record of a table is a header, told by its cells.

It is data if a cell is a number (also with a comma, groups of digits or a currency), a date or a time as tables have them;
`2-9`, `20+` and `1st` are none.

Neighbours: `records` (the cells), `columns` (which also asks the declared kind), `cells`, `dates`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from ....lang.reading_clauses import Form, Reading, has_time
from ....typechecker.elements import Kind
from .advice import DATE_PATTERNS
from .cells import Unsuitable, item_of
from .conversions import MISSING
from .dates import number_of

_WITH_SIGNS: Final = re.compile(
    r"[-+¯−]?[$€£¥]? ?(?:[0-9]+[.,]?[0-9]*(?:[eE][-+]?[0-9]+)?"
    r"|[0-9]{1,3}(?:[.,'’_ \u00a0\u202f][0-9]{3})+(?:[.,][0-9]+)?) ?[$€£¥]?"
)
"""Numbers as people write them: with a decimal comma, groups of digits, a currency."""
_MAY_BEGIN_NUMBER: Final = re.compile(r"[-+¯−]?[-0-9.(∞$€£¥]|[-+¯−(]?(?:inf|nan)", re.IGNORECASE)
_MAY_BEGIN_DATE: Final = re.compile(r"[0-9]{1,4}[-./][0-9]{1,2}[-./][0-9]|[0-9]{4}-W|[0-9]{8}")
_READINGS: Final = (
    Reading(Form.DATE), Reading(Form.TIME),
    *[Reading(Form.TIME if has_time(pattern) else Form.DATE, pattern) for pattern in DATE_PATTERNS],
)  # fmt: skip
_YEAR: Final = re.compile(r"(1[5-9]|20)[0-9]{2}")


def is_header(cells: Iterable[str]) -> bool:
    """Is a cell filled, and none of them a number, a date or a time?"""
    filled = False
    for cell in map(str.strip, cells):
        if cell and _is_value(cell):
            return False
        filled = filled or bool(cell)
    return filled


def _is_value(cell: str) -> bool:
    if _MAY_BEGIN_NUMBER.match(cell) is None:
        return False
    return _is_number(cell) or (_MAY_BEGIN_DATE.match(cell) is not None and any(_reads(cell, reading) for reading in _READINGS))


def _is_number(cell: str) -> bool:
    try:
        item_of(cell, Kind.C128)
    except Unsuitable:
        return _WITH_SIGNS.fullmatch(cell) is not None
    return True


def _reads(cell: str, reading: Reading) -> bool:
    try:
        number_of(cell, reading)
    except Unsuitable:
        return False
    return True


def may_be_years(cells: Sequence[str]) -> bool:
    """Could a record that is data for its numbers be a header, because those are years beside texts?"""
    filled = [cell for cell in map(str.strip, cells) if cell not in MISSING]
    numbers = [cell for cell in filled if _is_value(cell)]
    return 0 < len(numbers) < len(filled) and all(map(_YEAR.fullmatch, numbers))
