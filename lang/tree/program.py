"""The syntax tree of a file: its statements, including those that may stand only at top level."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import Enum
from typing import Final, TypeAlias

from ..support.records import dataclass, field
from ..syntax.source import Span
from . import expressions
from .expressions import Fact, Parameter, Symbol, TypeExpression

# ---------------------------------------------------------------------------------------------------- column formats
#
# How the cells of a file become items: the clauses of an `input` after its path, and of an `output`.

MISSING_POINT: Final = -(2**63)
"""`⎕nat`: the missing date, time or difference, as an integer."""


class CellFormat(Enum):
    """The content of a cell."""

    ITEM = "an item of the declared kind"
    DATE = "a date: days since 1970-01-01"
    TIME = "a time: nanoseconds since 1970-01-01, UTC"
    DAYS = "a difference of dates: days"
    DURATION = "a difference of times: nanoseconds"
    PRESENT = "whether the cell is filled"

    @property
    def is_point(self) -> bool:
        return self in (CellFormat.DATE, CellFormat.TIME)

    @property
    def is_difference(self) -> bool:
        return self in (CellFormat.DAYS, CellFormat.DURATION)


@dataclass(frozen=True, slots=True)
class ColumnFormat:
    """The format in which the cells of a column are read or written.

    `pattern` is the format of dates and times as for strptime, "" for ISO 8601.  `missing` is the item for empty cells, None to
    refuse them.  `separator` "" is the default of the file's format.  `group`
    separates groups of three digits ("": none does; a blank: any blank)."""

    form: CellFormat = CellFormat.ITEM
    pattern: str = ""
    missing: int | float | str | None = None
    separator: str = ""
    decimal: str = "."
    group: str = ""


AS_WRITTEN: Final = ColumnFormat()

_CLAUSES: Final = {
    "as": 'How cells are read: `as present`, or `as "%d.%m.%Y"`, a pattern of dates or times.',
    "missing": 'What stands for empty cells and `NA`: `missing 0`, `⎕nan`, `⎕nat` or `""`; without it they are refused.',
    "sep": 'What separates cells: `sep ";"`; else `,`, and a tab in a tsv file.',
    "decimal": 'The decimal sign of numbers: `decimal ","`.',
    "group": 'What separates groups of three digits: `group ","`.',
}
_PRESENT: Final = {"present": "Which cells are filled (bool)."}
_WRITTEN: Final = {"as": 'How dates or times are written: `as "%d.%m.%Y"`.'}
_FACTS: Final = re.compile(r"(?<![\w∆])where(?![\w∆])")
_AFTER_AS: Final = re.compile(r"(?<![\w∆])as[ \t]+\Z")
_AFTER_PART: Final = re.compile(r"[\w∆\])>\"'][ \t]+\Z")


def clause_words(before: str) -> Mapping[str, str]:
    """The words of clauses that may follow this beginning of an `input` or `output`, each with a description, for completion."""
    statement = before.lstrip()
    keyword = statement.partition(" ")[0]
    if keyword not in ("input", "output") or statement.count("[") > statement.count("]") or _FACTS.search(statement):
        return {}
    if _AFTER_AS.search(statement):
        return _PRESENT if keyword == "input" else {}
    complete = ":" in statement if keyword == "input" else len(statement.split()) > 1
    if not complete or not _AFTER_PART.search(statement) or statement.rstrip().endswith((":", "←")):
        return {}
    return _CLAUSES if keyword == "input" else _WRITTEN


def has_time(pattern: str) -> bool:
    """Does a pattern contain directives of hours, minutes or seconds?"""
    return any(directive in pattern.replace("%%", "") for directive in ("%H", "%I", "%M", "%S", "%f", "%p", "%X", "%c"))


# ---------------------------------------------------------------------------------------------------- statements

@dataclass(frozen=True, slots=True)
class StatedName:
    """The name in a signature or annotation; its next binding has the stated type."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Signature:
    """`name : [ρ] τ → [ρ] τ → τ where φ`; `left` is None for a monadic function.  `operands`: the signatures `(τ → τ)` of an
    operator's operands, before the parameters of the function that it gives."""

    span: Span
    target: StatedName
    left: Parameter | None
    right: Parameter
    result: TypeExpression
    where: tuple[Fact, ...]
    operands: tuple[Signature, ...] = ()


@dataclass(frozen=True, slots=True)
class Annotation:
    """`name : τ where φ` without arrow or value: the type of the next binding of that name."""

    span: Span
    target: StatedName
    type: TypeExpression
    where: tuple[Fact, ...]


StatedType: TypeAlias = Signature | Annotation


@dataclass(frozen=True, slots=True)
class InputDeclaration:
    span: Span
    target: expressions.NameTarget
    type: TypeExpression
    path: str | None
    where: tuple[Fact, ...]
    reading: ColumnFormat = AS_WRITTEN
    clauses: tuple[Span, ...] = ()
    quantity: expressions.Quantity | None = None


@dataclass(frozen=True, slots=True)
class Param:
    span: Span
    target: expressions.NameTarget
    default: expressions.Expression
    where: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class OutputDeclaration:
    """`output name` or `output name ← e`."""

    span: Span
    target: expressions.NameTarget
    value: expressions.Expression
    reading: ColumnFormat = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class ModuleUse:
    """`use stats` (`path` None) or `use "./geometry.rho"`; `target.name` is the module's name in this file."""

    span: Span
    target: expressions.NameTarget
    path: str | None


@dataclass(frozen=True, slots=True)
class ScheduleBlock:
    """A `schedule { … }` block: each directive is its words and nested blocks, uninterpreted, with spans."""

    span: Span
    directives: tuple[Directive, ...]


@dataclass(frozen=True, slots=True)
class Directive:
    """One directive: tokens as written; a `{…}` group is a nested tuple of directives."""

    span: Span
    words: tuple[DirectiveWord | DirectiveGroup, ...]


@dataclass(frozen=True, slots=True)
class DirectiveWord:
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class DirectiveGroup:
    span: Span
    directives: tuple[Directive, ...]


Statement: TypeAlias = (
    expressions.Statement | Signature | Annotation | InputDeclaration | Param | OutputDeclaration | ModuleUse | ScheduleBlock
)


@dataclass(frozen=True, slots=True)
class ProgramTree:
    """A bound file.

    `index_origin` is 0, or what a first statement `⎕IO←1` sets, which is dropped; `uses` has for each statement the symbols of
    the file that it reads or changes."""

    span: Span
    statements: tuple[Statement, ...]
    index_origin: int
    uses: tuple[Collection[Symbol], ...] = field(default=(), compare=False, repr=False)
