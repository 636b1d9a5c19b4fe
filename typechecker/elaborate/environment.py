"""What names stand for: chained scopes whose bindings are never mutated, only shadowed, and the functions closed over them.

A `Moment` is a scope at a point of the program.  A dfn is closed over the moment of its definition,
so rebinding a name later does not change what an older dfn means; a name that is bound only later
in an enclosing scope is found as a last resort (it may have been defined by the time of the call).

Functions are second class, so their values exist only while elaborating.  Array operands are evaluated
when the function is derived, once, outside any operator body.  Applying one is `applications`.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from itertools import count, takewhile
from typing import TypeAlias

from ...lang import tree
from ...lang.records import dataclass
from ...lang.source import Source, Span
from ..obligations import Proof
from ..operands import Operand, TupleOperand, Value
from ..sizes import SizeVariable
from .sites import Sites

_clock = count()


class Missing(Enum):
    """Why a name that exists has no value."""

    ALPHA = "⍺ of a dfn called with one argument"


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A used file: its top-level names."""

    name: str
    scope: Scope


Entry: TypeAlias = "Operand | TupleOperand | FunctionValue | OperatorValue | Module | Missing"


@dataclass(slots=True, eq=False)
class FileContext:
    """What is the same throughout one file: its source, index origin and the program's size names; `sites` while an outcome
    may be kept for the next version of the program."""

    source: Source
    index_origin: int
    sizes: dict[str, SizeVariable] = field(default_factory=dict)
    params: dict[str, SizeVariable] = field(default_factory=dict)
    sites: Sites | None = None


@dataclass(slots=True, eq=False)
class Scope:
    file: FileContext
    parent: Moment | None = None
    called: Span | None = None
    _entries: dict[str, list[tuple[int, Entry]]] = field(default_factory=dict)
    _order: list[tuple[int, str]] = field(default_factory=list)

    def bind(self, name: str, entry: Entry) -> None:
        """Bind from now on."""
        time = next(_clock)
        self._entries.setdefault(name, []).append((time, entry))
        self._order.append((time, name))

    def now(self) -> Moment:
        return Moment(self, next(_clock))

    def names(self) -> list[str]:
        """The names bound in this very scope, in order of first binding."""
        return list(self._entries)

    def bindings(self, name: str) -> list[Entry]:
        """Everything that a name was bound to in this very scope, in order."""
        return [entry for _, entry in self._entries.get(name, ())]

    def bound_since(self, moment: Moment) -> list[tuple[str, Entry]]:
        """What was bound in this very scope after `moment`."""
        names = dict.fromkeys(name for _, name in takewhile(lambda bound: bound[0] > moment.time, reversed(self._order)))
        return [(name, self._entries[name][-1][1]) for name in names]

    def call_site(self) -> Span | None:
        """Where the innermost dfn around here was applied."""
        scope: Scope | None = self
        while scope is not None and scope.called is None:
            scope = scope.parent.scope if scope.parent is not None else None
        return None if scope is None else scope.called

    def latest(self, name: str) -> Entry | None:
        """The last binding in this very scope."""
        found = self._entries.get(name)
        return found[-1][1] if found else None

    def lookup(self, name: str) -> Entry | None:
        """The binding visible now."""
        entry = self.latest(name)
        moment = self.parent
        later: Entry | None = None
        while entry is None and moment is not None:
            entry, after = moment.own(name)
            later = later if after is None else after
            moment = moment.scope.parent
        return entry if entry is not None else later

    def visible(self) -> list[str]:
        """Every name visible now (for suggestions)."""
        found = dict.fromkeys(self._entries)
        moment = self.parent
        while moment is not None:
            found.update(dict.fromkeys(moment.scope._entries))
            moment = moment.scope.parent
        return list(found)


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A scope as it was at `time`."""

    scope: Scope
    time: int

    def own(self, name: str) -> tuple[Entry | None, Entry | None]:
        """(the last binding of this scope up to then, the latest one after it)."""
        before: Entry | None = None
        after: Entry | None = None
        for time, entry in self.scope._entries.get(name, ()):
            if time <= self.time:
                before = entry
            else:
                after = entry
        return before, after


# ------------------------------------------------------------------------------------------ functions


@dataclass(frozen=True, slots=True, eq=False)
class PrimitiveFunction:
    """A primitive, a conversion or a library function; `axis` as written (index origin not yet removed).

    `origin` is the index origin of the file it is written in; None for one that the elaborator makes.
    """

    span: Span
    glyph: str
    axis: Operand | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DfnFunction:
    """A dfn closed over the moment of its definition; `name` is the name it was bound to, if any."""

    span: Span
    node: tree.Dfn
    home: Moment
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SignedFunction:
    """An annotated function: matched against its signature at every call.

    `proof`: by what every fact its body needs follows from the signature, for all sizes, so that calls need not look again.
    """

    span: Span
    name: str
    signature: tree.Signature
    body: FunctionValue
    home: Moment
    proof: Proof = Proof.NONE


@dataclass(frozen=True, slots=True, eq=False)
class ForkFunction:
    """`(f g h)`; an array as the left tine is constant."""

    span: Span
    left: FunctionValue | Value
    middle: FunctionValue
    right: FunctionValue


@dataclass(frozen=True, slots=True, eq=False)
class AtopFunction:
    span: Span
    outer: FunctionValue
    inner: FunctionValue


@dataclass(frozen=True, slots=True, eq=False)
class DerivedFunction:
    """A primitive operator with its operands evaluated; `until` is the p of `f⍣(n ⋄ p)`."""

    span: Span
    operator: str
    operands: tuple[FunctionValue | Value, ...]
    axis: Operand | None = None
    until: FunctionValue | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BoundFunction:
    """A dyadic function with its left argument given."""

    span: Span
    function: FunctionValue
    left: Value


@dataclass(frozen=True, slots=True, eq=False)
class BrokenFunction:
    """An error was reported while the function was made; applying it gives poison."""

    span: Span


FunctionValue: TypeAlias = (
    PrimitiveFunction
    | DfnFunction
    | SignedFunction
    | ForkFunction
    | AtopFunction
    | DerivedFunction
    | BoundFunction
    | BrokenFunction
)

FUNCTIONS = (
    PrimitiveFunction,
    DfnFunction,
    SignedFunction,
    ForkFunction,
    AtopFunction,
    DerivedFunction,
    BoundFunction,
    BrokenFunction,
)


@dataclass(frozen=True, slots=True, eq=False)
class OperatorValue:
    """A user operator closed over the moment of its definition."""

    span: Span
    node: tree.OperatorDfn
    home: Moment


def is_function(value: object) -> bool:
    """Is an operand a function rather than an array or a tuple?"""
    return isinstance(value, FUNCTIONS)
