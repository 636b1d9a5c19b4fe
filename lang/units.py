"""Units: what the binder's items are between the flat sequence and the applications of the tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import NamedTuple, TypeAlias

from .codes import Code
from .diagnostics import Diagnostic, Edit, Fix, Label
from .problems import Problem
from .records import dataclass
from .resolution.symbols import Meaning, ModuleNames, Names, Unseen
from .source import Place, PlacedSpan, Span
from .spelling import Spelled
from .tokens import Token
from .tree import Expression, Function, Operator


class UnitKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "user operator"
    MONADIC = "monadic primitive operator"
    DYADIC = "dyadic primitive operator"
    SLASH = "slash: an operator or a function by what is left of it"
    OUTER = "the prefix operator of outer products"
    BRACKET = "an index or a static axis"
    UNTIL = "`(n ⋄ p)` with a function p, the right operand of `⍣`"


class Unit(NamedTuple):
    """`node` is set for the first three kinds, `axes` for a bracket; `depth` counts the levels of the node's tree."""

    kind: UnitKind
    start: int
    end: int
    text: str = ""
    node: Expression | Function | Operator | None = None
    depth: int = 0
    axes: tuple[Expression | None, ...] = ()
    token: Token | None = None


@dataclass(slots=True)
class Binding:
    """What binding one statement shares: where it stands, what its names stand for, what was found wrong.

    `base` is the statement's offset in the spelled text, `defining` the name its top-level statement binds; `place`, of a
    statement that is kept, is where it stands in the source, and `origin` the offset in the spelled text that this is.
    `definitions` tells the offset and text of the statement that first binds each top-level name; `trials` counts the
    operators around this whose bodies are being tried out; `broken` are names that failing statements of dfns around were
    to bind.
    """

    spelled: Spelled
    braces: BraceBinder
    names: Names
    base: int = 0
    modules: ModuleNames | None = None
    definitions: Callable[[], Mapping[str, tuple[int, str]]] = dict
    defining: str = ""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    trials: int = 0
    broken: set[str] = field(default_factory=set)
    place: Place | None = None
    origin: int = 0

    def span(self, start: int, end: int) -> Span:
        if self.place is not None:
            ahead = self.base - self.origin
            return PlacedSpan(self.place, ahead + start, ahead + end)
        return self.spelled.span(self.base + start, self.base + end)

    def meaning(self, token: Token) -> Meaning | None:
        """What a name stands for where it is written; None if it is not in scope there."""
        return self.names.meanings.get(self.base + token.start)

    def unseen(self, token: Token) -> Unseen:
        """Where a name is written that is not in scope there."""
        return self.names.unseen[self.base + token.start]

    def of(self, unit: Unit | Token) -> Span:
        return self.span(unit.start, unit.end)

    def written(self, unit: Unit | Token) -> str:
        """The canonical text of a unit, for messages; long ones are cut."""
        text = self.spelled.text[self.base + unit.start : self.base + unit.end]
        return text if len(text) <= 30 and "\n" not in text else text.split("\n")[0][:24].rstrip() + "…"

    def problem(
        self, code: Code, message: str, span: Span, *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> Problem:  # fmt: skip
        return Problem(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))


BraceBinder: TypeAlias = Callable[[Binding, Token], Unit]
"""Binds `{…}`: a dfn, or a user operator to be bound when it is applied."""


def replacing(title: str, span: Span, text: str) -> tuple[Fix, ...]:
    """A fix of one edit."""
    return (Fix(title, (Edit(span, text),)),)
