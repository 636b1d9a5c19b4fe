"""What every elaboration module shares: the builder, the budgets, and the two mutually recursive entries.

`apply` and `expression` are installed by `programs` when it makes the context, so that operator
modules need not import the modules that call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from ...lang import tree
from ...lang.codes import Code
from ...lang.definitions import NameClass
from ...lang.diagnostics import Diagnostic, Fix, Label, RhoError
from ...lang.records import dataclass
from ...lang.source import Source, Span
from ..builder import Builder
from ..core import ValueId
from ..operands import Operand, Value
from .environment import Frame, FunctionValue, Module

if TYPE_CHECKING:
    from .sites import Memory

NODE_BUDGET = 60_000  # about a second of work, and one node more for every character of the program
DEPTH_LIMIT = 2_000

Load = Callable[[str, str | None], Source | None]
Exports = dict[str, Mapping[str, NameClass]]


class Names(Enum):
    """How run-time sizes are called in work done aside."""

    FRESH = "as if nothing had been named before"
    FOLLOWING = "not like any of the program so far"


class BudgetExceeded(RhoError):
    """E610: the program's expansion is too large or too deep; elaboration stops."""


@dataclass(slots=True, eq=False)
class Context:
    """`printed_at`: how many nodes were elaborated when a value was last printed; nothing followed while it equals `nodes`.
    `mentions`: where the program writes a value as an argument, each with the function it is an argument of.
    `memory`: outcomes of this and, where it is `incremental`, of earlier versions of the program; `state`: a
    number for what the statements so far left in the builder."""

    builder: Builder
    load: Load
    strict: bool
    apply: Callable[[Context, FunctionValue, Value | None, Value, Span], Value]
    expression: Callable[[Context, tree.Expression, Frame], Value]
    memory: Memory
    incremental: bool = False
    state: int = 0
    nodes: int = 0
    depth: int = 0
    printed_at: int = -1
    loops: list[Span] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    exports: Exports = field(default_factory=dict)
    loading: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    mentions: dict[ValueId, list[tuple[Span, Span]]] = field(default_factory=dict)

    @contextmanager
    def aside(self, names: Names) -> Iterator[None]:
        """Work that leaves no trace but the nodes it cost: nothing it emits, reports, requires, names or mentions is kept."""
        builder = self.builder
        before, mentions = builder.snapshot(names is Names.FRESH), self.mentions
        self.mentions = {}
        try:
            yield
        finally:
            builder.restore(before)
            self.mentions = mentions

    def call(self, function: FunctionValue, left: Value | None, right: Value, span: Span) -> Value:
        """Apply a function value."""
        return self.apply(self, function, left, right, span)

    def spend(self, span: Span) -> None:
        """Count one elaborated node; E610 beyond the budget."""
        self.nodes += 1
        if self.nodes > NODE_BUDGET and self.nodes > (most := NODE_BUDGET + sum([len(source.text) for source in self.sources])):
            raise BudgetExceeded(
                [
                    Diagnostic(
                        Code.E610,
                        f"this program expands to more than {most} operations",
                        span,
                        notes=("every call is expanded: in a chain of functions that call the one before twice, each doubles",),
                    )
                ]
            )

    @contextmanager
    def deeper(self, span: Span) -> Iterator[None]:
        """One more nested application; E610 beyond the limit."""
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            self.depth -= 1
            raise BudgetExceeded(
                [
                    Diagnostic(
                        Code.E610,
                        f"functions call each other more than {DEPTH_LIMIT} deep here",
                        span,
                        notes=("every call is expanded before the program runs",),
                    )
                ]
            )
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def operator_body(self, span: Span) -> Iterator[None]:
        """Inside a function that an operator applies: printing is E602 there."""
        self.loops.append(span)
        try:
            yield
        finally:
            self.loops.pop()

    def error(
        self,
        code: Code,
        message: str,
        span: Span,
        *,
        label: str = "",
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
        fixes: Sequence[Fix] = (),
    ) -> Operand:
        """Report an error and give a poisoned value."""
        self.builder.report(
            Diagnostic(code, message, span, label=label, labels=tuple(labels), notes=tuple(notes), fixes=tuple(fixes))
        )
        return self.builder.poison(span)


def rebuild(pattern: Value, arrays: Sequence[Operand]) -> Value:
    """A value of `pattern`'s tuple structure with its arrays replaced in order."""
    value, rest = _rebuild(pattern, arrays, 0)
    assert rest == len(arrays)
    return value


def _rebuild(pattern: Value, arrays: Sequence[Operand], at: int) -> tuple[Value, int]:
    if isinstance(pattern, Operand):
        return arrays[at], at + 1
    items: list[Value] = []
    for item in pattern.items:
        value, at = _rebuild(item, arrays, at)
        items.append(value)
    return type(pattern)(tuple(items)), at


def same_structure(left: Value, right: Value) -> bool:
    """Are two values tuples of the same nesting?"""
    if isinstance(left, Operand) or isinstance(right, Operand):
        return isinstance(left, Operand) and isinstance(right, Operand)
    if len(left.items) != len(right.items):
        return False
    pairs = zip(left.items, right.items, strict=True)
    return all(same_structure(a, b) for a, b in pairs)
