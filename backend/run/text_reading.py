"""What a row of text says: a number or a day (`⎕number ⎕date`), by the rules of cells of tables.

Neighbours: `files.cells`, `files.dates` (the rules), `text` (the other way).
"""

from __future__ import annotations

import math

from ...lang.codes import Code
from ...lang.reading_clauses import Form, Reading
from ...typechecker.elements import Kind
from .failures import CheckFailed
from .files.cells import Unsuitable, item_of
from .files.dates import number_of


def number_in(text: str) -> float:
    """The number that a text says, blanks around it left out; NaN if it says none (`⎕number`)."""
    try:
        found = item_of(text.strip(), Kind.F64)
    except Unsuitable:
        return math.nan
    assert isinstance(found, float)
    return found


def date_in(text: str) -> int:
    """The day that a text says, since 1970 (`⎕date`).  CheckFailed: E705, it says none."""
    try:
        return number_of(text.strip(), Reading(form=Form.DATE))
    except Unsuitable as error:
        raise CheckFailed(Code.E705, error.message) from None
