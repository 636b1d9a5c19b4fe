"""What names stand for: the binding that gave a name its meaning, or an argument of the dfn around it.

`resolution` makes them, the tree refers to them, and the checker keeps what it knows of a name under its definition.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from .records import dataclass
from .source import Span


class NameClass(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    MONADIC_OPERATOR = "monadic operator"
    DYADIC_OPERATOR = "dyadic operator"
    MODULE = "module"


class SymbolKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "operator"
    MODULE = "module"
    INPUT = "input"
    PARAM = "param"
    SIZE = "size"
    ELEMENT = "element type"


KINDS = {
    NameClass.ARRAY: SymbolKind.ARRAY, NameClass.FUNCTION: SymbolKind.FUNCTION, NameClass.MODULE: SymbolKind.MODULE,
    NameClass.MONADIC_OPERATOR: SymbolKind.OPERATOR, NameClass.DYADIC_OPERATOR: SymbolKind.OPERATOR,
}  # fmt: skip


class Argument(Enum):
    """What every call gives a dfn anew; an inner dfn has its own."""

    RIGHT = "⍵"
    LEFT = "⍺"
    LEFT_OPERAND = "⍺⍺"
    RIGHT_OPERAND = "⍵⍵"


@dataclass(slots=True, eq=False)
class Symbol:
    """One binding.  `span` is the name where it is bound, `statement` the top-level statement that binds it, after which it is in
    scope; `path` is what `use` says of a module; `given`: it was in scope before the text.  From version to version of a text the
    binding of a name that stays of one kind is the same symbol."""

    name: str
    kind: SymbolKind
    name_class: NameClass
    span: Span
    statement: Span
    depth: int = 0
    path: str = ""
    declared: Span | None = None
    given: bool = False


Definition: TypeAlias = Symbol | Argument
