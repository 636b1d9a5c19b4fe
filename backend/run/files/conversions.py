"""Many cells of a column as items, or one, as the clauses of an input say.

Neighbours: `cells`, `dates` (what a cell says), `columns` (whose cells), `parquet`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from ....lang.reading_clauses import Form, Reading
from ....typechecker.elements import Kind
from ..values import INTEGER_BITS
from .advice import for_cell
from .cells import Unsuitable, item_of
from .dates import number_of
from .elements import changed

MISSING: Final = frozenset({"", "NA"})
QUOTED: Final = "\0"
"""Begins a cell that would be missing if it were not quoted (`records`, Note [Quoted cells])."""
BLANK: Final = 32


@dataclass(frozen=True, slots=True)
class Column:
    """A column (or with "" all of them) and what it is declared as."""

    member: str
    kind: Kind
    rank: int
    reading: Reading

    @property
    def takes_quoted(self) -> bool:
        """Is `""` an empty text, and `"NA"` one of two letters?  Where `missing` is said, it stands for these too."""
        return self.kind is Kind.CHAR and self.reading.missing is None and self.reading.form is Form.ITEM


class NotAtOnce(Exception):
    """Some cells have to be looked at one by one."""


_Convert = Callable[[list[str], Any], None]


def converter(wanted: Column) -> _Convert:
    """What puts many cells into a part of an array, or raises `NotAtOnce`."""
    reading = wanted.reading
    if reading.form is Form.PRESENT:
        return _presence
    if reading.form is not Form.ITEM:
        return _remembering(reading)
    if wanted.kind is Kind.CHAR:
        return lambda cells, room: _texts(cells, room, reading)
    if wanted.kind is Kind.I64:
        return lambda cells, room: _numbers(cells, room, int, reading)
    if wanted.kind in (Kind.F64, Kind.F32):
        return lambda cells, room: _numbers(cells, room, float, reading)
    return _slowly


def _slowly(cells: list[str], room: Any) -> None:
    raise NotAtOnce


def _presence(cells: list[str], room: Any) -> None:
    room[...] = [cell.strip() not in MISSING for cell in cells]


def _numbers(cells: list[str], room: Any, make: Callable[[str], Any], reading: Reading) -> None:
    whole = "".join(cells)
    if not whole.isascii() or "_" in whole:
        raise NotAtOnce
    if reading.decimal != ".":
        if "." in whole:
            raise NotAtOnce
        cells = [cell.replace(reading.decimal, ".") for cell in cells]
    if reading.missing is not None:
        filler = str(reading.missing)
        cells = [filler if cell.strip() in MISSING else cell for cell in cells]
    try:
        room[...] = list(map(make, cells))
    except (ValueError, OverflowError):
        raise NotAtOnce from None


def _texts(cells: list[str], room: Any, reading: Reading) -> None:
    import numpy

    if any(cell in MISSING for cell in map(str.strip, cells)):
        if reading.missing is None:
            raise NotAtOnce
        cells = [str(reading.missing) if cell.strip() in MISSING else cell for cell in cells]
    width = room.shape[1]
    cells = [cell.removeprefix(QUOTED) for cell in cells]
    if width:
        padded = "".join([cell.ljust(width) for cell in cells])
        if len(padded) != room.size:
            raise changed()
        room.view("=u4")[...] = numpy.frombuffer(padded.encode("utf-32-le"), "<u4").reshape(room.shape)


def _remembering(reading: Reading) -> _Convert:
    known: dict[str, int] = {}

    def convert(cells: list[str], room: Any) -> None:
        for cell in cells:
            if cell not in known:
                try:
                    known[cell] = number_of(cell, reading)
                except Unsuitable:
                    raise NotAtOnce from None
        room[...] = [known[cell] for cell in cells]

    return convert


def filled(cell: str, wanted: Column) -> Any:
    """The item of one cell, or of what stands for a missing one.  Unsuitable: what follows the cell's place in a message."""
    text, reading = cell.strip(), wanted.reading
    if text in MISSING:
        if reading.missing is None:
            raise Unsuitable(f" is {text or 'empty'}", f"say what stands for it: `missing {example(wanted)}`")
        return reading.missing
    try:
        return cell.removeprefix(QUOTED) if wanted.kind is Kind.CHAR else _item(text, wanted)
    except Unsuitable as trouble:
        notes = () if wanted.kind is Kind.CHAR else for_cell(text, wanted.kind, reading)
        raise Unsuitable(f": {trouble.message}", *trouble.notes, *notes) from None


def _item(text: str, wanted: Column) -> Any:
    reading = wanted.reading
    if reading.form in (Form.DATE, Form.TIME):
        return number_of(text, reading)
    if reading.decimal != "." and wanted.kind not in INTEGER_BITS:
        if "." in text:
            raise Unsuitable(f"“{text}” has a point; the decimals of this column are written with `{reading.decimal}`")
        text = text.replace(reading.decimal, ".")
    return item_of(text, wanted.kind)


def put(room: Any, at: int, item: Any) -> None:
    if room.dtype.kind != "U":
        room[at] = item
        return
    text = str(item)
    if len(text) > room.shape[1]:
        raise changed()
    room[at, : len(text)] = list(text)


def example(wanted: Column) -> str:
    if wanted.kind is Kind.CHAR:
        return '""'
    return "⎕nan" if wanted.kind.is_float else "0"
