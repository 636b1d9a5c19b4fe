"""One number, bool or character that is written as text: a cell of a table, a param on the command line.

A number is written as in Python or in APL: `-3`, `¯3`, `2.5`, `1e-3`, `nan`, `inf`, `∞`; complex `1+2j` or `1J2`; bool
`0 1 true false`.  An integer kind takes whole numbers in its range only.

Neighbours: `conversions` (tables), `shell.execution.params`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from ....typechecker.elements import Kind
from ..values import INTEGER_BITS, integer_range

DECIMAL: Final = r"(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)"
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_REAL_NUMBER = re.compile(rf"[-+]?{DECIMAL}", re.IGNORECASE)
_IMAGINARY_NUMBER = re.compile(rf"([-+]?{DECIMAL})[ij]", re.IGNORECASE)
_COMPLEX_NUMBER = re.compile(rf"([-+]?{DECIMAL})(?:([-+]{DECIMAL})[ij]|[jJ]([-+]?{DECIMAL}))", re.IGNORECASE)
_TRUTHS: Final = {"0": False, "1": True, "false": False, "true": True}
_MOST_SHOWN: Final = 30
_MOST_DIGITS: Final = 4000


class Unsuitable(Exception):
    """A text that is no item of the kind: a sentence that begins with it, and a note."""

    def __init__(self, message: str, *notes: str) -> None:
        self.message, self.notes = message, notes
        super().__init__(message)


def item_of(cell: str, kind: Kind) -> Any:
    """The text as an item of the kind.  Unsuitable."""
    text = cell.replace("¯", "-").replace("∞", "inf").replace("−", "-")
    if kind is Kind.CHAR:
        if len(cell) != 1:
            raise Unsuitable(f"{shown(cell)} is not one character")
        return cell
    if kind is Kind.BOOL:
        if text.lower() not in _TRUTHS:
            raise Unsuitable(f"{shown(cell)} is not a bool", "a bool is 0, 1, true or false")
        return _TRUTHS[text.lower()]
    if kind in INTEGER_BITS:
        if not _WHOLE_NUMBER.fullmatch(text) or len(text) > _MOST_DIGITS:
            raise Unsuitable(f"{shown(cell)} is not an integer")
        low, high = integer_range(kind)
        if not low <= int(text) <= high:
            raise Unsuitable(f"{shown(cell)} does not fit {kind.value} ({low} to {high})")
        return int(text)
    value = _complex(text) if kind.is_complex else float(text) if _REAL_NUMBER.fullmatch(text) else None
    if value is None:
        raise Unsuitable(f"{shown(cell)} is not a number")
    return value


def _complex(text: str) -> complex | None:
    text = text.removeprefix("(").removesuffix(")")
    if _REAL_NUMBER.fullmatch(text):
        return complex(float(text))
    if alone := _IMAGINARY_NUMBER.fullmatch(text):
        return complex(0.0, float(alone[1]))
    parts = _COMPLEX_NUMBER.fullmatch(text)
    return complex(float(parts[1]), float(parts[2] or parts[3])) if parts else None


def shown(cell: str) -> str:
    """A cell in a message."""
    return f"“{cell[:_MOST_SHOWN]}{'…' if len(cell) > _MOST_SHOWN else ''}”"
