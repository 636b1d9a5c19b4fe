"""Values as text: rows as Dyalog APL prints them, planes separated by blank lines, large arrays cut, long lines folded.

Takes the plain `Array` of the back ends' boundary or anything shaped like a NumPy array (`shape`, `dtype`, `tolist`,
indexing by a tuple), without importing NumPy.  Planes of rank 3 are separated by one blank line, those of rank 4 by
two, and so on.  Every value takes at least one line.

Note [Cutting].  With a `limit`, an array of more items shows the first and last `EDGE` positions of each long axis (30
characters of text): `…` stands for the columns left out, `⋮` for rows or planes.  Only the items shown are read.

Note [Folding].  With a `width`, columns that do not fit continue below, indented by six blanks, as with `⎕PW`: first the whole
block of rows, then their further columns.  Only terminals have a width; files and pipes get whole rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from ...backend.vm.values import DIGITS, Array, ArrayLike, from_numpy, kind_of_dtype, nested, separator, table_of
from ...lang.support.records import dataclass, replace
from ...lang.tree.program import AS_WRITTEN, MISSING_POINT, ColumnFormat
from ...typechecker.core.operations import Payload
from ...typechecker.elements import Kind, Unit
from ..console.standard_streams import DEFAULT_DIGITS, Console, plain_data

LIMIT: Final = 1000
EDGE: Final = 3
TEXT_EDGE: Final = 30
SHORT_TEXT: Final = 40
MOST_ROWS: Final = 10
WHOLE_TEXT_LIMIT: Final = 20_000
"""Characters of text that a terminal shows without cutting."""
PIPE_LIMIT: Final = 1_000_000
"""Items that a pipe gets without cutting."""
INDENT: Final = " " * 6
COLUMNS_CUT: Final = "…"
ROWS_CUT: Final = "⋮"


@dataclass(frozen=True, slots=True)
class DisplayedValue:
    """A value with its name ("" for an expression), its type as the checker writes it, and its element kind.
    `reading` is the column format of an output, for example dates."""

    name: str
    type: str
    value: Any
    kind: Kind
    reading: ColumnFormat = AS_WRITTEN
    unit: Unit | None = None

    @property
    def element(self) -> str:
        """The name of the element type."""
        return self.kind.value if self.unit is None else self.unit.value

    @property
    def write(self) -> Callable[[Any], str] | None:
        """The function that writes the items of a date, a time or a difference; None for other values."""
        return None if self.unit is None else writer(self.unit, self.reading)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(size) for size in self.value.shape)

    @property
    def measured_type(self) -> str:
        """The type with numbers for sizes: `f64[9]`."""
        shape = " ".join(map(str, self.shape))
        return f"{self.element}[{shape}]" if shape else self.element

    def lines(self, console: Console) -> list[str]:
        """The value as text; cut and folded only on a terminal."""
        on_terminal = console.out.isatty()
        if not on_terminal:
            return display(self.value, self.write, kind=self.kind, digits=console.digits, limit=PIPE_LIMIT)
        limit = WHOLE_TEXT_LIMIT if self.kind is Kind.CHAR else LIMIT
        return display(self.value, self.write, kind=self.kind, digits=console.digits, limit=limit, width=console.width)

    def text(self, digits: int = DEFAULT_DIGITS) -> str:
        """The value as text without cuts, as in the `printed` of JSON."""
        return "\n".join(display(self.value, self.write, kind=self.kind, digits=digits))

    def json(self) -> dict[str, Any]:
        return {"name": self.name, "type": self.type, "shape": list(self.shape), "elem": self.element, "data": self.data()}

    def data(self) -> Any:
        """Nested lists as in JSON, with text as rows and points of time as texts; None for a value that was written tile by
        tile."""
        if hasattr(self.value, "discard"):
            return None
        if self.unit is not None:
            from ...backend.io.cells import counted_items

            items = nested(self.value) if isinstance(self.value, Array) else self.value.tolist()
            return counted_items(items, self.write if self.unit.is_point else None)
        if isinstance(self.value, Array):
            return plain_data(nested(self.value))
        if self.kind is not Kind.CHAR:
            return plain_data(self.value.tolist())

        return nested(from_numpy(self.value))


@dataclass(frozen=True, slots=True)
class _ValueSource:
    """Access to the items of a value: its kind and shape, all `items` in order, or the `item` at a position."""

    kind: Kind
    shape: tuple[int, ...]
    items: Callable[[], Sequence[Payload]]
    item: Callable[[tuple[int, ...]], Payload]


def display(
    value: Array | ArrayLike, write: Callable[[Any], str] | None = None, *, kind: Kind | None = None, digits: int = DIGITS,
    width: int | None = None, limit: int | None = None,
) -> list[str]:  # fmt: skip
    """The lines of a value.

    `write` gives the text of an item, by default the one for its kind.  `kind` names the element type if the dtype does not (text
    stored as code points); `digits` is `⎕PP`; `width` folds (terminals only); `limit` cuts arrays of more items.
    """
    source = _value_source(value, kind)
    if limit is not None and math.prod(source.shape) > limit:
        return _lay_out(source, [_shown_positions(source, axis) for axis in range(len(source.shape))], write, digits, width)
    return _lay_out(source, [list(range(size)) for size in source.shape], write, digits, width)


def line_count(shape: Sequence[int]) -> int:
    """The number of lines of `display` for numbers of this shape, without limit and width."""
    lines = 1
    for depth, size in enumerate(reversed(shape[:-1])):
        lines = size * lines + max(0, size - 1) * depth
    return max(1, lines)


def matrix_cells(
    value: Array | ArrayLike, *, kind: Kind | None = None, digits: int = DIGITS, limit: int | None = None
) -> list[list[str]]:
    """The texts of a matrix's elements, cut as `display` cuts them (Note [Cutting])."""
    source = _value_source(value, kind)
    rows, columns = source.shape
    cut = limit is not None and rows * columns > limit
    shown_axes: list[list[int | None]] = [
        _shown_positions(source, axis) if cut else [*range(size)] for axis, size in enumerate((rows, columns))
    ]  # fmt: skip
    shown = [[i for i in axis if i is not None] for axis in shown_axes]
    items = [source.item(position) for position in _positions(shown)] if cut else source.items()
    table = table_of(source.kind, items, [len(axis) for axis in shown], digits)
    if None in shown_axes[1]:
        at = shown_axes[1].index(None)
        table = [[*row[:at], COLUMNS_CUT, *row[at:]] for row in table]
    if None in shown_axes[0]:
        table.insert(shown_axes[0].index(None), [ROWS_CUT] * len(table[0]))
    return table


def line_of(value: Array | ArrayLike, write: Callable[[Payload], str] | None = None, *, kind: Kind, digits: int = DIGITS) -> str:
    """The items of a value in one line, in row-major order; of many the first three and the last.
    `write` gives the text of an item, by default the one for its kind."""
    source = _value_source(value, kind)
    count = math.prod(source.shape)
    cut = count > (SHORT_TEXT if kind is Kind.CHAR else 2 * EDGE + 1)
    leading = range(SHORT_TEXT - 1 if kind is Kind.CHAR else EDGE) if cut else range(count)
    texts = _item_texts(source, [_coordinates(i, source.shape) for i in leading], write, digits)
    if kind is Kind.CHAR:
        return "".join(texts) + COLUMNS_CUT * cut
    last = [tuple(size - 1 for size in source.shape)] if cut else []
    return " ".join([*texts, *[COLUMNS_CUT] * cut, *_item_texts(source, last, write, digits)])


def column_cells(
    value: Array | ArrayLike, write: Callable[[Payload], str] | None = None, *, kind: Kind, digits: int = DIGITS
) -> list[str]:  # fmt: skip
    """The cells of a column of a table (a vector, or rows of text), aligned to one width; of many rows the first and the last.
    `write` gives the text of an item, by default the one for its kind."""
    source = _value_source(value, kind)
    rows = source.shape[0]
    shown = [*range(rows)] if rows <= MOST_ROWS else [*range(MOST_ROWS - 1 - EDGE), *range(rows - EDGE, rows)]
    if len(source.shape) == 2:
        width = source.shape[1]
        texts = [[(row, j) for j in range(min(width, SHORT_TEXT))] for row in shown]
        cells = ["".join(_item_texts(source, row, write, digits)) + COLUMNS_CUT * (width > SHORT_TEXT) for row in texts]
        cells = [cell.rstrip() for cell in cells]
    elif write is not None or kind is Kind.CHAR:
        cells = _item_texts(source, [(row,) for row in shown], write, digits)
    else:
        cells = [row[0] for row in table_of(kind, [source.item((row,)) for row in shown], (len(shown), 1), digits)]
    if rows > len(shown):
        cells.insert(len(shown) - EDGE, ROWS_CUT)
    widest = max(map(len, cells), default=0)
    return [cell.ljust(widest) if len(source.shape) == 2 else cell.rjust(widest) for cell in cells]


def _item_texts(
    source: _ValueSource, positions: Sequence[tuple[int, ...]], write: Callable[[Payload], str] | None, digits: int
) -> list[str]:
    """The texts of items, each formatted by itself; control characters are shown by their pictures."""
    items = [source.item(position) for position in positions]
    if write is not None:
        return [write(item) for item in items]
    texts = [text for row in table_of(source.kind, items, (len(items),), digits) for text in row]
    return [chr(0x2400 + ord(text)) if text < " " and len(text) == 1 else text for text in texts]


def _coordinates(offset: int, shape: Sequence[int]) -> tuple[int, ...]:
    """The position of the item at an offset in row-major order."""
    position: list[int] = []
    for size in reversed(shape):
        offset, coordinate = divmod(offset, size)
        position.insert(0, coordinate)
    return tuple(position)


# ------------------------------------------------------------------------- reading


def _value_source(value: Array | ArrayLike, kind: Kind | None) -> _ValueSource:
    if isinstance(value, Array):
        plain = value
        return _ValueSource(plain.kind, plain.shape, lambda: plain.data, lambda p: plain.data[_offset(p, plain.shape)])
    known = kind or kind_of_dtype(value.dtype)
    if known is None:
        raise TypeError(f"no element type stores {value.dtype}")
    array: Any = value
    shape = tuple(int(size) for size in value.shape)
    codes = known is Kind.CHAR and value.dtype.kind != "U"

    def read(item: Any) -> Payload:
        if known is not Kind.CHAR:
            return item  # type: ignore[no-any-return]
        return chr(item) if codes else str(item) or "\0"

    def items() -> list[Payload]:
        flat: list[Any] = [array.tolist()]
        for _ in shape:
            flat = [item for row in flat for item in row]
        return [read(item) for item in flat]

    return _ValueSource(known, shape, items, lambda p: read(array[p].tolist() if shape else array.tolist()))


def _offset(position: Sequence[int], shape: Sequence[int]) -> int:
    offset = 0
    for coordinate, size in zip(position, shape, strict=True):
        offset = offset * size + coordinate
    return offset


def _shown_positions(source: _ValueSource, axis: int) -> list[int | None]:
    """The positions of an axis that are shown, with None for the gap.  See Note [Cutting]."""
    size = source.shape[axis]
    edge = TEXT_EDGE if source.kind is Kind.CHAR and axis == len(source.shape) - 1 else EDGE
    if size <= 2 * edge + 1:
        return list(range(size))
    return [*range(edge), None, *range(size - edge, size)]


# -------------------------------------------------------------------------- layout


def _lay_out(
    source: _ValueSource, shown_axes: Sequence[Sequence[int | None]], write: Callable[[Any], str] | None, digits: int,
    width: int | None,
) -> list[str]:  # fmt: skip
    shown = [[i for i in axis if i is not None] for axis in shown_axes]
    shape = [len(axis) for axis in shown]
    if all(len(axis) == size for axis, size in zip(shown, source.shape, strict=True)):
        items = source.items()
    else:
        items = [source.item(position) for position in _positions(shown)]
    table = table_of(source.kind, items, shape, digits) if write is None else _written_table([*map(write, items)], shape)
    if shown_axes and None in shown_axes[-1]:
        at = list(shown_axes[-1]).index(None)
        table = [[*row[:at], COLUMNS_CUT, *row[at:]] for row in table]
    lines: list[str] = []
    for start, stop in _folds(table, len(separator(source.kind)), width):
        rows = [separator(source.kind).join(row[start:stop]) for row in table]
        lines_of_planes = _planes(rows, shown_axes[:-1])
        prefix = INDENT if start else ""
        lines += [(prefix + line if line else line) for line in lines_of_planes]
    if source.kind is not Kind.CHAR:
        lines = [line.rstrip() for line in lines]
    return lines or [""]


def _written_table(texts: Sequence[str], shape: Sequence[int]) -> list[list[str]]:
    """The texts of each row, flush right by column if there are several rows."""
    width = shape[-1] if shape else 1
    widest = [max(map(len, texts[column::width]), default=0) if len(shape) > 1 else 0 for column in range(width)]
    rows = [texts[row * width : (row + 1) * width] for row in range(math.prod(shape[:-1]))]
    return [[text.rjust(room) for text, room in zip(row, widest, strict=True)] for row in rows]


def _positions(axes: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    positions: list[tuple[int, ...]] = [()]
    for axis in axes:
        positions = [(*p, i) for p in positions for i in axis]
    return positions


def _folds(table: Sequence[Sequence[str]], gap: int, width: int | None) -> list[tuple[int, int]]:
    """The ranges of columns that fit the width, at least one column each.  See Note [Folding]."""
    columns = len(table[0]) if table else 0
    if width is None or not columns:
        return [(0, columns)]
    widths = [max(len(row[j]) for row in table) for j in range(columns)]
    folds, start, used = [], 0, 0
    for j, needed in enumerate(widths):
        if j > start and used + gap + needed > width:
            folds.append((start, j))
            start, used = j, len(INDENT) + needed
        else:
            used += needed + (gap if j > start else 0)
    return [*folds, (start, columns)]


def _planes(rows: Sequence[str], frame: Sequence[Sequence[int | None]]) -> list[str]:
    """Rows in order of the frame's positions, blank lines between planes, `⋮` where positions are left out."""
    if not frame:
        return list(rows)
    supply = iter(rows)

    def planes_below(depth: int) -> list[str]:
        blank = [""] * (len(frame) - 1 - depth)
        lines: list[str] = []
        for n, position in enumerate(frame[depth]):
            if n:
                lines += blank
            if position is None:
                lines.append(ROWS_CUT)
            elif depth == len(frame) - 1:
                lines.append(next(supply))
            else:
                lines += planes_below(depth + 1)
        return lines

    return planes_below(0)


# ------------------------------------------------------------------------- outputs on a terminal
#
# A run on a terminal ends with its outputs, each short: a number or a vector is a line, outputs of one length are a table.

def output_lines(outputs: Sequence[DisplayedValue], width: int, digits: int) -> list[str]:
    """The lines of outputs with their types; columns of one length form a table of at most `width` characters."""
    lengths = [one.shape[0] for one in outputs if _is_column(one)]
    lines: list[str] = []
    pending: list[tuple[str, str, str]] = []
    for one in outputs:
        if _is_column(one) and lengths.count(one.shape[0]) > 1:
            together = [other for other in outputs if _is_column(other) and other.shape[0] == one.shape[0]]
            if together[0] is not one:
                continue
            block = _table_lines(together, width, digits)
        elif len(one.shape) == 2 and _is_in_memory(one) and 0 not in one.shape:
            rows = display(one.value, one.write, kind=one.kind, digits=digits, limit=0, width=width - 2)
            block = [f"{one.name}  {one.measured_type}", *(f"  {row}" for row in rows)]
        else:
            text = line_of(one.value, one.write, kind=one.kind, digits=digits) if _is_in_memory(one) else ""
            pending.append((one.name, one.measured_type if one.shape else "", text))
            continue
        lines += [*_aligned(pending), *block]
        pending = []
    return [*lines, *_aligned(pending)]


def _is_in_memory(one: DisplayedValue) -> bool:
    """Is this a value in memory, and not a file written tile by tile?"""
    return not hasattr(one.value, "discard")


def _is_column(one: DisplayedValue) -> bool:
    """Can this be a column of a table: a vector, or rows of text?"""
    return len(one.shape) == (2 if one.kind is Kind.CHAR else 1) and one.shape[0] > 0 and _is_in_memory(one)


def writer(unit: Unit, reading: ColumnFormat = AS_WRITTEN) -> Callable[[Any], str]:
    """The function that writes the items of a date or a time, in its format, or of a difference: `2024-02-29`, `3d`, `1:30:00`,
    `NaT`."""
    from ...backend.io.cells import CellError, text_of


    def write(item: Any) -> str:
        if item == MISSING_POINT:
            return "NaT"
        if not unit.is_point:
            return duration_text(item) if unit is Unit.DURATION else f"{item}d".replace("-", "¯")
        try:
            return text_of(item, replace(reading, form=unit.cell_format))
        except CellError:
            return str(item).replace("-", "¯")

    return write


def duration_text(nanoseconds: int) -> str:
    """Hours, minutes and seconds: `25:00:00`, `¯0:00:00.5`."""
    seconds, fraction = divmod(abs(nanoseconds), 1_000_000_000)
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    digits = f".{fraction:09d}".rstrip("0") if fraction else ""
    return f"{'¯' if nanoseconds < 0 else ''}{hours}:{minute:02d}:{second:02d}{digits}"


def _aligned(entries: Sequence[tuple[str, str, str]]) -> list[str]:
    """Lines of a name, a type and a value in columns; a scalar has no type."""
    names = max((len(name) for name, _, _ in entries), default=0)
    types = max((len(type) for _, type, _ in entries), default=0)
    return [
        f"{name:{names}}  {type:{types}}  {text}".rstrip() if type else f"{name:{names}}  {text}" for name, type, text in entries
    ]


def _table_lines(columns: Sequence[DisplayedValue], width: int, digits: int) -> list[str]:
    """Columns below their names and types; those that do not fit into the width follow below."""
    blocks: list[list[str]] = []
    used = 0
    for one in columns:
        cells = column_cells(one.value, one.write, kind=one.kind, digits=digits)
        texts = [one.name, one.measured_type, *cells]
        room = max(map(len, texts))
        texts = [text.ljust(room) if one.kind is Kind.CHAR else text.rjust(room) for text in texts]
        if blocks and used + 2 + room <= width:
            blocks[-1] = [f"{line}  {text}" for line, text in zip(blocks[-1], texts, strict=True)]
            used += 2 + room
        else:
            blocks.append(texts)
            used = room
    return [line.rstrip() for block in blocks for line in block]
