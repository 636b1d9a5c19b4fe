"""How the cells of a file become items: the clauses of an `input` after its path, and of an `output`.

Neighbours: `declarations` (reads them), `backend.run.files.columns` (obeys them).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
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

_CLAUSES: Final = {
    "as": 'How cells are read: `as date`, `as time`, `as present`, or `as "%d.%m.%Y"`, a pattern of dates or times.',
    "missing": 'What stands for empty cells and `NA`: `missing 0`, `missing ⎕nan`, `missing ""`; without it they are refused.',
    "sep": 'What separates cells: `sep ";"`; else `,`, and a tab in a tsv file.',
    "decimal": 'The decimal sign of numbers: `decimal ","`.',
}
_DATED: Final = {
    "date": "Dates such as `2024-12-31`, as days since 1970-01-01 (i64).",
    "time": "Times such as `2024-12-31T23:59:59.5+01:00`, as microseconds since 1970 (UTC, i64).",
}
_PRESENT: Final = {"present": "Which cells are filled (bool)."}
_WRITTEN: Final = {"as": 'How numbers are written as text: `as date`, `as time`, or `as "%d.%m.%Y"`.'}
_FACTS: Final = re.compile(r"(?<![\w∆])where(?![\w∆])")
_AFTER_AS: Final = re.compile(r"(?<![\w∆])as[ \t]+\Z")
_AFTER_PART: Final = re.compile(r"[\w∆\])>\"'][ \t]+\Z")


def clause_words(before: str) -> Mapping[str, str]:
    """The words of clauses that may stand after this beginning of an `input` or `output`, and what each says."""
    statement = before.lstrip()
    keyword = statement.partition(" ")[0]
    if keyword not in ("input", "output") or statement.count("[") > statement.count("]") or _FACTS.search(statement):
        return {}
    if _AFTER_AS.search(statement):
        return _DATED | _PRESENT if keyword == "input" else _DATED
    complete = ":" in statement if keyword == "input" else len(statement.split()) > 1
    if not complete or not _AFTER_PART.search(statement) or statement.rstrip().endswith((":", "←")):
        return {}
    return _CLAUSES if keyword == "input" else _WRITTEN


def has_time(pattern: str) -> bool:
    """Does a pattern speak of hours, minutes or seconds?"""
    return any(directive in pattern.replace("%%", "") for directive in ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c"))
