"""Items as text: cells of tables, params on the command line, dates and times; and which stored types a declared type accepts.

A number is written as in Python or in APL: `-3`, `¯3`, `2.5`, `1e-3`, `nan`, `inf`, `∞`; complex `1+2j` or `1J2`; bool
`0 1 true false`.  An integer kind accepts only whole numbers in its range.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any, Final

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...lang.tree.program import AS_WRITTEN, MISSING_POINT, CellFormat, ColumnFormat, has_time
from ...typechecker.elements import Kind
from ..vm.check_failures import CheckFailed
from ..vm.values import INTEGER_BITS, NUMPY_NAMES, integer_range
from .formats import FileTrouble, damaged, disagrees

# ---------------------------------------------------------------------------------------------------- cells of text

DECIMAL: Final = r"(?:[0-9]+\.?[0-9]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|inf|infinity|nan)"
_WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
_REAL_NUMBER = re.compile(rf"[-+]?{DECIMAL}", re.IGNORECASE)
_IMAGINARY_NUMBER = re.compile(rf"([-+]?{DECIMAL})[ij]", re.IGNORECASE)
_COMPLEX_NUMBER = re.compile(rf"([-+]?{DECIMAL})(?:([-+]{DECIMAL})[ij]|[jJ]([-+]?{DECIMAL}))", re.IGNORECASE)
_TRUTHS: Final = {"0": False, "1": True, "false": False, "true": True}
_MOST_SHOWN: Final = 30
_MOST_DIGITS: Final = 4000


class CellError(Exception):
    """Raised for a text that is no item of the kind: the message begins with the text; and notes."""

    def __init__(self, message: str, *notes: str) -> None:
        self.message, self.notes = message, notes
        super().__init__(message)


def item_of(cell: str, kind: Kind, reading: ColumnFormat = AS_WRITTEN) -> Any:
    """The text as an item of the kind, with the decimal sign and the digit grouping of a column.  Raises CellError."""
    if kind is Kind.CHAR:
        if len(cell) != 1:
            raise CellError(f"{shown(cell)} is not one character")
        return cell
    text = cell.replace("¯", "-").replace("∞", "inf").replace("−", "-")
    if kind is not Kind.BOOL and (reading.group or reading.decimal != "."):
        text = _with_point(cell, text, kind, reading)
    if kind is Kind.BOOL:
        if text.lower() not in _TRUTHS:
            raise CellError(f"{shown(cell)} is not a bool", "a bool is 0, 1, true or false")
        return _TRUTHS[text.lower()]
    if kind in INTEGER_BITS:
        if not _WHOLE_NUMBER.fullmatch(text) or len(text) > _MOST_DIGITS:
            raise CellError(f"{shown(cell)} is not an integer")
        low, high = integer_range(kind)
        if not low <= int(text) <= high:
            raise CellError(f"{shown(cell)} does not fit {kind.value} ({low} to {high})")
        return int(text)
    value = _complex(text) if kind.is_complex else float(text) if _REAL_NUMBER.fullmatch(text) else None
    if value is None:
        raise CellError(f"{shown(cell)} is not a number")
    return value


def _with_point(cell: str, text: str, kind: Kind, reading: ColumnFormat) -> str:
    """A number rewritten with a decimal point and without digit groups.  Raises CellError."""
    if reading.group and _group_of(reading).search(text):
        if not _grouped_number(reading).fullmatch(text):
            raise CellError(f"{shown(cell)} is not a number whose digits stand in groups of three")
        text = _group_of(reading).sub("", text)
    if reading.decimal == "." or kind in INTEGER_BITS:
        return text
    if "." in text:
        raise CellError(f"{shown(cell)} has a point; the decimals of this column are written with `{reading.decimal}`")
    return text.replace(reading.decimal, ".")


@cache
def _group_of(reading: ColumnFormat) -> re.Pattern[str]:
    """The characters that separate groups of digits; a blank stands for every kind of blank."""
    return re.compile(r"\s" if reading.group == " " else re.escape(reading.group))


@cache
def _grouped_number(reading: ColumnFormat) -> re.Pattern[str]:
    group, decimal = _group_of(reading).pattern, re.escape(reading.decimal)
    return re.compile(rf"[-+]?[0-9]{{1,3}}(?:{group}[0-9]{{3}})+(?:{decimal}[0-9]*)?(?:[eE][-+]?[0-9]+)?")


def _complex(text: str) -> complex | None:
    text = text.removeprefix("(").removesuffix(")")
    if _REAL_NUMBER.fullmatch(text):
        return complex(float(text))
    if alone := _IMAGINARY_NUMBER.fullmatch(text):
        return complex(0.0, float(alone[1]))
    parts = _COMPLEX_NUMBER.fullmatch(text)
    return complex(float(parts[1]), float(parts[2] or parts[3])) if parts else None


def shown(cell: str) -> str:
    """A cell as messages show it."""
    return f"“{cell[:_MOST_SHOWN]}{'…' if len(cell) > _MOST_SHOWN else ''}”"


# ---------------------------------------------------------------------------------------------------- dates
#
# Dates and times as text: days, or nanoseconds, since 1970 (UTC); a missing one is no text.
#
# ISO 8601 unless a pattern of strptime is given; a time without an offset is UTC.

_EPOCH: Final = date(1970, 1, 1).toordinal()
_START: Final = datetime(1970, 1, 1)
_TICK: Final = timedelta(microseconds=1)
_LENGTH: Final = 10
_FINE: Final = re.compile(r"[.,]\d{6}(\d{1,3})")
"""The digits of a time beyond microseconds."""
_FIRST_YEAR, _LAST_YEAR = 1678, 2261
"""The first and last full years that times can represent."""
_DIRECTIVE: Final = re.compile("%.")


def number_of(cell: str, reading: ColumnFormat) -> int:
    """The number of days or nanoseconds that a date or a time stands for.  Raises CellError."""
    try:
        if reading.pattern:
            moment = datetime.strptime(cell, reading.pattern)
        elif reading.form is CellFormat.DATE:
            if len(cell) != _LENGTH or cell[4] != "-":
                raise ValueError
            return date.fromisoformat(cell).toordinal() - _EPOCH
        else:
            moment = datetime.fromisoformat(cell)
    except ValueError:
        example = reading.pattern or ("2024-12-31" if reading.form is CellFormat.DATE else "2024-12-31T23:59:59")
        what = "date" if reading.form is CellFormat.DATE else "time"
        raise CellError(f"{shown(cell)} is not a {what} such as {example}") from None
    if reading.form is CellFormat.DATE:
        return moment.toordinal() - _EPOCH
    if moment.tzinfo is not None:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    if not _FIRST_YEAR <= moment.year <= _LAST_YEAR:
        raise CellError(f"{shown(cell)} is no time of the years {_FIRST_YEAR} to {_LAST_YEAR}, whose nanoseconds 64 bits hold")
    fine = None if reading.pattern else _FINE.search(cell)
    return (moment - _START) // _TICK * 1000 + (int(fine[1].ljust(3, "0")) if fine else 0)


def texts_of(values: Any, reading: ColumnFormat) -> list[str]:
    """Dates, times or the numbers of differences as texts.  Raises CellError before the year 1 and after 9999."""
    return [text_of(number, reading) for number in values.reshape(-1).tolist()]


def require_dated(values: Any, reading: ColumnFormat) -> None:
    """Raises FileTrouble E708 for dates and times before the year 1 and after 9999."""
    if not reading.form.is_point:
        return
    present = values[values != MISSING_POINT]
    try:
        for number in (present.min(), present.max()) if present.size else ():
            text_of(int(number), reading)
    except CellError as trouble:
        raise FileTrouble(Code.E708, trouble.message) from None


def text_of(number: int, reading: ColumnFormat) -> str:
    """One date or time, or the number of a difference, as text."""
    if number == MISSING_POINT:
        return ""
    if reading.form.is_difference:
        return str(number)
    try:
        if reading.form is CellFormat.DATE:
            day = date.fromordinal(number + _EPOCH)
            return _formatted(day, reading.pattern) if reading.pattern else day.isoformat()
        moment = _START + number // 1000 * _TICK
        if reading.pattern:
            return _formatted(moment, reading.pattern)
        return moment.isoformat() if number % 1000 == 0 else f"{moment.isoformat(timespec='microseconds')}{number % 1000:03d}"
    except (ValueError, OverflowError):
        raise CellError(f"holds {number}, which is not a date of the years 1 to 9999") from None


def counted_items(items: Any, write: Callable[[Any], str] | None) -> Any:
    """Nested lists as JSON has them: dates and times as texts by `write`, differences as numbers, missing ones as None."""
    if isinstance(items, list):
        return [counted_items(item, write) for item in items]
    return None if items == MISSING_POINT else items if write is None else write(items)


def _formatted(moment: date, pattern: str) -> str:
    """The text by strftime, but with four-digit years on every system, as strptime requires."""
    return moment.strftime(_DIRECTIVE.sub(lambda match: f"{moment.year:04d}" if match[0] == "%Y" else match[0], pattern))


# ---------------------------------------------------------------------------------------------------- hints in messages
#
# Hints in messages: the clause of an `input` with which a refused cell or line could be read.

DATE_PATTERNS: Final = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y%m%d")
"""Frequent date formats other than ISO 8601."""
SEPARATORS: Final = ",;\t|"
_AS_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d.*")
NUMBER_SIGNS: Final = ((".", ","), (",", ""), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"), (".", "’"), (".", "_"))
"""Frequent pairs of a decimal sign and a sign between groups of digits, other than a point and none."""


def for_cell(text: str, kind: Kind, reading: ColumnFormat) -> tuple[str, ...]:
    """A note with the clause that would read a refused cell; empty if there is none."""
    dated = reading.form.is_point
    if not dated and not reading.separator and (column := for_line(text, ",")):
        return column
    is_plain = not dated and kind is not Kind.BOOL and (reading.decimal, reading.group) == (".", "")
    clauses = number_clauses([text], kind) if is_plain else []
    if clauses:
        return (f"this clause of the `input` reads it: {' or '.join(f'`{clause}`' for clause in clauses)}",)
    if dated or kind is Kind.I64:
        declared = _declarations(text, reading.form)
        if declared:
            return (f"this reads it: {' or '.join(declared)}",)
    if dated and not reading.pattern and not _AS_ISO.fullmatch(text):
        return (f'say how it is written, as in `as "{DATE_PATTERNS[0]}"` (the directives of strptime)',)
    return ()


def number_clauses(cells: Sequence[str], kind: Kind) -> list[str]:
    """The clauses with each of which all cells are numbers, the most frequent form first."""
    clauses = []
    for decimal, group in NUMBER_SIGNS:
        reading = ColumnFormat(decimal=decimal, group=group)
        if (kind in INTEGER_BITS and not group) or not all_read(cells, kind, reading):
            continue
        if group and not any(map(_group_of(reading).search, cells)):
            continue
        if group and any(re.match(rf"[-+]?0{re.escape(group)}", cell) for cell in cells):
            continue  # no group of digits begins with 0
        if decimal != "." and group != "." and not any(decimal in cell for cell in cells):
            continue
        clauses.append(" ".join([f'group "{group}"'] * bool(group) + [f'decimal "{decimal}"'] * (decimal != ".")))
    return clauses


def all_read(cells: Sequence[str], kind: Kind, reading: ColumnFormat = AS_WRITTEN) -> bool:
    """Are there cells, and is each an item of the kind?"""
    try:
        return bool(cells) and all(item_of(cell, kind, reading) is not None for cell in cells)
    except CellError:
        return False


def for_line(text: str, separator: str) -> tuple[str, ...]:
    """A note with the clause that would separate a line into cells; empty if there is none."""
    signs = [sign for sign in SEPARATORS if sign in text]
    if not signs or separator in text:
        return ()
    sign = max(signs, key=text.count)
    return (f"its cells seem to be separated by something else; say so in the `input`: `{separator_clause(sign)}`",)


def separator_clause(sign: str) -> str:
    return 'sep "\\t"' if sign == "\t" else f'sep "{sign}"'


def _declarations(text: str, declared: CellFormat) -> list[str]:
    """What declares a text as a date or a time: the type of the input, if it is another one, and the clause."""
    iso = [form for form in (CellFormat.DATE, CellFormat.TIME) if _reads(text, ColumnFormat(form))]
    if iso:
        return [f"`{iso[0].name.lower()}[n]`"]
    forms = {pattern: CellFormat.TIME if has_time(pattern) else CellFormat.DATE for pattern in DATE_PATTERNS}
    return [
        f'`as "{pattern}"`' if form is declared else f'`{form.name.lower()}[n]` with `as "{pattern}"`'
        for pattern, form in forms.items() if _reads(text, ColumnFormat(form, pattern))
    ]  # fmt: skip


def _reads(text: str, reading: ColumnFormat) -> bool:
    try:
        number_of(text, reading)
    except CellError:
        return False
    return True


# ---------------------------------------------------------------------------------------------------- stored element types
#
# The declared element types that accept each stored number type.
#
# The rule is the language's own (language.md, Numbers): reading widens as a call does and never narrows, so that a
# declared type cannot lose anything that the file holds.  Formats of text (csv) have no stored type and are read as the
# declared kind directly.

_ALL = (Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.C64, Kind.C128)

ACCEPTED: Final[dict[str, tuple[Kind, ...]]] = {
    "bool": (Kind.BOOL, *_ALL),
    "uint8": _ALL,
    "int8": _ALL[1:],
    "int16": _ALL[1:],
    "uint16": _ALL[1:],
    "int32": (Kind.I32, Kind.I64, Kind.F64, Kind.C128),
    "uint32": (Kind.I64, Kind.F64, Kind.C128),
    "int64": (Kind.I64, Kind.F64, Kind.C128),
    "uint64": (Kind.I64, Kind.F64, Kind.C128),
    "float16": (Kind.F32, Kind.F64, Kind.C64, Kind.C128),
    "float32": (Kind.F32, Kind.F64, Kind.C64, Kind.C128),
    "float64": (Kind.F64, Kind.C128),
    "complex64": (Kind.C64, Kind.C128),
    "complex128": (Kind.C128,),
    "str1": (Kind.CHAR,),
}
"""By stored type: the kinds that may be declared for it, the recommended one first.  i64 accepts values of `uint64` below 2*63
(`converted_integers`)."""

_SPELLED: Final = {numpy_name: kind.value for kind, numpy_name in NUMPY_NAMES.items()} | {"str1": "char"}


def require_accepted(stored: str, kind: Kind) -> None:
    """Raises E706 unless values stored as `stored` may be declared as `kind`."""
    accepted = ACCEPTED.get(stored)
    if accepted is None:
        raise disagrees(f"holds {stored}, which no element type stores")
    if kind in accepted:
        return
    held, advice = _SPELLED.get(stored, stored), f"declare it `{accepted[0].value}`"
    if Kind.CHAR not in (kind, accepted[0]):
        advice += f" and write `{kind.value} x` where it may narrow"
    raise disagrees(f"holds {held}, its declared type is {kind.value}", advice)


def converted_integers(items: Any, dtype: Any) -> Any:
    """Stored items as an array of the dtype that accepts them.  Raises FileTrouble E705 for unsigned ones beyond i64."""
    if items.dtype.kind == "u" and dtype.kind == "i" and items.dtype.itemsize == dtype.itemsize and items.size:
        most = int(items.max())
        if most >> (8 * dtype.itemsize - 1):
            raise damaged(f"holds {most}, which does not fit i64", "declare it `f64`, which rounds such integers")
    return items


def require_shape(actual: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raises an error unless the file still has the shape that was read from its header."""
    if actual != expected:
        raise FileTrouble(Code.E705, f"changed while it was read: its shape was {list(expected)} and is now {list(actual)}")


def changed() -> FileTrouble:
    """The error that the file has more items than when its header was read."""
    return FileTrouble(Code.E705, "changed while it was read")


# ---------------------------------------------------------------------------------------------------- items of columns
#
# The item of a cell, according to the clauses of an input.

MISSING: Final = frozenset({"", "NA"})
BLANK: Final = 32


@dataclass(frozen=True, slots=True)
class Column:
    """A column (all columns if `member` is empty) and its declaration."""

    member: str
    kind: Kind
    rank: int
    reading: ColumnFormat

    @property
    def takes_quoted(self) -> bool:
        """Are the quoted cells `""` and `"NA"` texts?  With a `missing` clause they count as missing too."""
        return self.kind is Kind.CHAR and self.reading.missing is None and self.reading.form is CellFormat.ITEM


def item_or_missing(cell: str, wanted: Column, *, is_text: bool = False) -> Any:
    """The item of one cell, or the replacement of a missing one; with `is_text` the cell is not missing.

    Raises CellError, whose message follows the cell's position."""
    text, reading = cell.strip(), wanted.reading
    if reading.form is CellFormat.PRESENT:
        return text not in MISSING
    if text in MISSING and not is_text:
        if reading.missing is None:
            clause = f"missing {example_missing(wanted.kind, reading.form)}"
            raise CellError(f" is {text or 'empty'}", f"say what stands for it: `{clause}` at the end of its `input`")
        return reading.missing
    try:
        return cell if wanted.kind is Kind.CHAR else _item(text, wanted)
    except CellError as trouble:
        notes = () if wanted.kind is Kind.CHAR else for_cell(text, wanted.kind, reading)
        if not notes and wanted.member and not trouble.notes and not any(map(str.isdecimal, text)):
            notes = ("`missing` stands for empty cells and `NA` only; a column of text is declared `char[n w]`",)
        raise CellError(f": {trouble.message}", *trouble.notes, *notes) from None


def _item(text: str, wanted: Column) -> Any:
    reading = wanted.reading
    if reading.form.is_point:
        return number_of(text, reading)
    return item_of(text, wanted.kind, reading)


def put(room: Any, at: int, item: Any) -> None:
    if room.dtype.kind != "U":
        room[at] = item
        return
    text = str(item)
    if len(text) > room.shape[1]:
        raise changed()
    room[at] = " "
    room[at, : len(text)] = list(text)


def undeclared(form: CellFormat, column: str = "") -> FileTrouble:
    """Raises E706 for dates, times or differences that are not declared as such."""
    name, of = form.name.lower(), f" in column `{column}`" if column else ""
    return disagrees(f"holds {name}{'s' * (form is not CellFormat.DAYS)}{of}", f"declare it `{name}[n]`")


def example_missing(kind: Kind, form: CellFormat = CellFormat.ITEM) -> str:
    """An example of a value for the `missing` clause of an input of this kind."""
    if form not in (CellFormat.ITEM, CellFormat.PRESENT):
        return "⎕nat"
    if kind is Kind.CHAR:
        return '""'
    return "⎕nan" if kind.is_float else "0"


# ---------------------------------------------------------------------------------------------------- dates of NumPy
#
# Counts of units of time as days or nanoseconds in 64 bits.
#
# Coarser units are multiplied exactly, finer ones rounded down.

DAY: Final = 86_400_000_000_000
"""Nanoseconds of a day."""
COUNTED_DTYPES: Final = {
    CellFormat.DATE: "M8[D]", CellFormat.TIME: "M8[ns]", CellFormat.DAYS: "m8[D]", CellFormat.DURATION: "m8[ns]",
}  # fmt: skip
"""NumPy's dtypes of dates, times and differences."""
DAYS: Final = {"D": 1, "W": 7}
NANOSECONDS: Final = {"h": 3600 * 10**9, "m": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
"""Nanoseconds of each unit."""
PARTS: Final = {"ps": 10**3, "fs": 10**6, "as": 10**9}
"""Units per nanosecond."""
_MONTHS: Final = {"M": 1, "Y": 12}
_MOST_MONTHS: Final = 10**17
"""The most months whose days certainly fit in 64 bits."""
_MOST: Final = 2**63 - 1


def from_numpy(items: Any) -> tuple[Any, Any, CellFormat]:
    """Converts a vector of NumPy dates; returns integers, which of them are not NaT, and whether they are dates or times.  Raises
    FileTrouble E706."""
    import numpy as np

    unit, each = np.datetime_data(items.dtype)
    present = ~np.isnat(items)
    values = np.where(present, items.astype(np.int64), 0)
    if unit in _MONTHS:
        months = multiplied(values, each * _MONTHS[unit], CellFormat.DATE, _MOST_MONTHS)
        return months.view("M8[M]").astype("M8[D]").view(np.int64), present, CellFormat.DATE
    if unit in DAYS:
        return multiplied(values, each * DAYS[unit], CellFormat.DATE), present, CellFormat.DATE
    if unit in NANOSECONDS:
        return multiplied(values, each * NANOSECONDS[unit], CellFormat.TIME), present, CellFormat.TIME
    if unit in PARTS:
        quotient, rest = np.divmod(values, PARTS[unit])
        return multiplied(quotient, each, CellFormat.TIME) + rest * each // PARTS[unit], present, CellFormat.TIME
    if present.any():
        raise disagrees("holds dates without a unit", 'give them one: `.astype("M8[s]")`')
    return values, present, CellFormat.TIME


def multiplied(values: Any, count: int, form: CellFormat, most: int = _MOST) -> Any:
    """Converts integers in a unit of `count` days or nanoseconds to days or nanoseconds.  Raises FileTrouble E706 beyond
    `most`."""
    low, high = -((most + 1) // count), most // count
    if len(values) and not low <= int(values.min()) <= int(values.max()) <= high:
        at = int(((values < low) | (values > high)).argmax())
        what, unit = ("date", "days") if form is CellFormat.DATE else (form.name.lower(), "nanoseconds")
        raise disagrees(f"holds a {what} (item {at}) that no 64-bit number of {unit} reaches")
    return values * count


# ---------------------------------------------------------------------------------------------------- numbers in text
#
# `⎕number`, `⎕date` and `⎕time`: rows of text as numbers, days and nanoseconds, by the rules of cells of tables.

def number_in(text: str) -> float:
    """The number that a text, stripped of blanks, represents; NaN if it is none (`⎕number`)."""
    try:
        number = item_of(text.strip(), Kind.F64)
    except CellError:
        return math.nan
    assert isinstance(number, float)
    return number


def date_in(text: str) -> int:
    """The day since 1970 that a text represents (`⎕date`).  Raises CheckFailed E705 if it is no date."""
    return _point_in(text, CellFormat.DATE)


def time_in(text: str) -> int:
    """The nanosecond since 1970 that a text represents (`⎕time`).  Raises CheckFailed E705 if it is no time."""
    return _point_in(text, CellFormat.TIME)


def _point_in(text: str, form: CellFormat) -> int:
    try:
        return number_of(text.strip(), ColumnFormat(form=form))
    except CellError as error:
        raise CheckFailed(Code.E705, error.message) from None
