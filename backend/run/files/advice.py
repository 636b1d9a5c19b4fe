"""Which clause of an `input` would read a cell or a line that is refused.

Neighbours: `conversions`, `columns`, `records` (whose messages name it), `shell.execution.sniffing` (guesses of whole columns).
"""

from __future__ import annotations

import re
from typing import Final

from ....lang.reading_clauses import Form, Reading, has_time
from ....typechecker.elements import Kind
from ..values import INTEGER_BITS
from .cells import Unsuitable, item_of
from .dates import number_of

DATE_PATTERNS: Final = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y%m%d")
"""How dates are often written apart from ISO 8601."""
SEPARATORS: Final = ",;\t|"
_AS_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d.*")


def for_cell(text: str, kind: Kind, reading: Reading) -> tuple[str, ...]:
    """A note with the clause that reads a cell that is no item, date or time; none if no clause would."""
    dated = reading.form in (Form.DATE, Form.TIME)
    if not dated and not reading.separator and (found := for_line(text, ",")):
        return found
    clauses = _decimal(text, kind) if not dated and reading.decimal == "." else []
    if dated or (kind is Kind.I64 and not clauses):
        clauses = _dates(text)
    if clauses:
        return (f"this clause of the `input` reads it: {' or '.join(f'`{clause}`' for clause in clauses)}",)
    if dated and not reading.pattern and not _AS_ISO.fullmatch(text):
        return (f'say how it is written, as in `as "{DATE_PATTERNS[0]}"` (the directives of strptime)',)
    return ()


def for_line(text: str, separator: str) -> tuple[str, ...]:
    """A note with the clause that cuts a line that is one cell; none if no sign in it separates cells."""
    signs = [sign for sign in SEPARATORS if sign in text]
    if not signs or separator in text:
        return ()
    sign = max(signs, key=text.count)
    return (f"its cells seem to be separated by something else; say so in the `input`: `{separator_clause(sign)}`",)


def separator_clause(sign: str) -> str:
    return 'sep "\\t"' if sign == "\t" else f'sep "{sign}"'


def _decimal(text: str, kind: Kind) -> list[str]:
    if kind is Kind.BOOL or kind in INTEGER_BITS or text.count(",") != 1:
        return []
    try:
        item_of(text.replace(",", "."), kind)
    except Unsuitable:
        return []
    return ['decimal ","']


def _dates(text: str) -> list[str]:
    """The clauses that read a text as a date or a time; the plain ones, if they do."""
    iso = [f"as {form.name.lower()}" for form in (Form.DATE, Form.TIME) if _reads(text, Reading(form))]
    forms = {pattern: Form.TIME if has_time(pattern) else Form.DATE for pattern in DATE_PATTERNS}
    return iso[:1] or [f'as "{pattern}"' for pattern, form in forms.items() if _reads(text, Reading(form, pattern))]


def _reads(text: str, reading: Reading) -> bool:
    try:
        number_of(text, reading)
    except Unsuitable:
        return False
    return True
