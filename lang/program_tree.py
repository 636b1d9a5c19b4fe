"""The tree of a file: its statements, those that stand at top level alone among them.

Neighbours: `tree` (what the statements of dfns are made of), `type_tree`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field
from typing import TypeAlias

from . import tree
from .definitions import Symbol
from .reading_clauses import AS_WRITTEN, Reading
from .records import dataclass
from .source import Span
from .type_tree import Fact, Parameter, TypeExpression


@dataclass(frozen=True, slots=True)
class StatedName:
    """The name whose next binding has the type that is stated."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class Signature:
    """`name : [ρ] τ → [ρ] τ → τ where φ`; `left` is None for a monadic function."""

    span: Span
    target: StatedName
    left: Parameter | None
    right: Parameter
    result: TypeExpression
    where: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Annotation:
    """`name : τ where φ` without arrow or value: the type of the next binding of that name."""

    span: Span
    target: StatedName
    type: TypeExpression
    where: tuple[Fact, ...]


StatedType: TypeAlias = Signature | Annotation


@dataclass(frozen=True, slots=True)
class Input:
    span: Span
    target: tree.NameTarget
    type: TypeExpression
    path: str | None
    where: tuple[Fact, ...]
    reading: Reading = AS_WRITTEN
    clauses: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Param:
    span: Span
    target: tree.NameTarget
    default: tree.Expression
    where: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Output:
    """`output name` or `output name ← e`."""

    span: Span
    target: tree.NameTarget
    value: tree.Expression
    reading: Reading = AS_WRITTEN


@dataclass(frozen=True, slots=True)
class Use:
    """`use stats` (`path` None) or `use "./geometry.rho"`; `target.name` is the module's name in this file."""

    span: Span
    target: tree.NameTarget
    path: str | None


@dataclass(frozen=True, slots=True)
class Schedule:
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


Statement: TypeAlias = tree.Statement | Signature | Annotation | Input | Param | Output | Use | Schedule


@dataclass(frozen=True, slots=True)
class Program:
    """A bound file.  `index_origin` is 0, or 1 when the first statement is `⎕IO←1` (which is then dropped); `uses` has for each
    statement the bindings of the file that it reads or changes."""

    span: Span
    statements: tuple[Statement, ...]
    index_origin: int
    uses: tuple[Collection[Symbol], ...] = field(default=(), compare=False, repr=False)
