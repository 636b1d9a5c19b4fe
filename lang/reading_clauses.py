"""How the cells of a file become items: the clauses of an `input` after its path, and of an `output`.

Neighbours: `declarations` (reads them), `backend.run.files.columns` (obeys them).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from .records import dataclass


class Form(Enum):
    """What a cell says."""

    ITEM = "an item of the declared kind"
    DATE = "a date: days since 1970-01-01"
    TIME = "a time: microseconds since 1970-01-01, UTC"
    PRESENT = "whether the cell is filled"


@dataclass(frozen=True, slots=True)
class Reading:
    """`pattern`: of dates and times in the spelling of strptime, "" for ISO 8601.  `missing`: the item of empty cells; None: they
    are refused.  `separator`: "" is the format's own."""

    form: Form = Form.ITEM
    pattern: str = ""
    missing: int | float | str | None = None
    separator: str = ""
    decimal: str = "."


AS_WRITTEN: Final = Reading()


def has_time(pattern: str) -> bool:
    """Does a pattern speak of hours, minutes or seconds?"""
    return any(directive in pattern.replace("%%", "") for directive in ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c"))
