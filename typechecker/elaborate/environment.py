"""What names stand for: a flat map from definitions to values, and the functions closed over it.

Which definition a name has is settled before (`lang.resolution`).  A function is closed over what the definitions that it
mentions stand for when it is made, so that what changes later does not change what an older function means.

Functions are second class, so their values exist only while elaborating.  Array operands are evaluated
when the function is derived, once, outside any operator body.  Applying one is `applications`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TypeAlias

from ...lang import program_tree, tree
from ...lang.definitions import Definition, Symbol
from ...lang.records import dataclass
from ...lang.source import Source, Span
from ..obligations import Proof
from ..operands import Operand, TupleOperand, Value
from ..sizes import SizeVariable
from .sites import Sites


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A used file: what its top-level names stand for."""

    name: str
    entries: Mapping[str, Entry]


Entry: TypeAlias = "Operand | TupleOperand | FunctionValue | OperatorValue | Module"


@dataclass(slots=True, eq=False)
class FileContext:
    """What is the same throughout one file: its source, index origin and the program's size names; `sites` by which an outcome
    is kept for the next version of the program."""

    source: Source
    index_origin: int
    sites: Sites = field(default_factory=Sites)
    sizes: dict[str, SizeVariable] = field(default_factory=dict)
    params: dict[str, SizeVariable] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Frame:
    """What definitions stand for now, in a file or in a call of a dfn (`called` is where); `bound` is all that was bound here, in
    order."""

    file: FileContext
    called: Span | None = None
    entries: dict[Definition, Entry] = field(default_factory=dict)
    bound: list[tuple[Definition, Entry]] = field(default_factory=list)

    def bind(self, definition: Definition, entry: Entry) -> None:
        """Bind from now on."""
        self.entries[definition] = entry
        self.bound.append((definition, entry))

    def find(self, definition: Definition) -> Entry | None:
        return self.entries.get(definition)

    def capture(self, captures: Iterable[Symbol]) -> Frame:
        """What a function takes along."""
        entries = self.entries
        return Frame(self.file, None, {symbol: entries[symbol] for symbol in captures if symbol in entries})

    def inner(self, called: Span | None = None) -> Frame:
        """The frame of a call, or of a part of one whose bindings are its own."""
        return Frame(self.file, called or self.called, dict(self.entries))

    def by_name(self) -> dict[str, Entry]:
        """What the names of a file stand for."""
        return {symbol.name: entry for symbol, entry in self.entries.items() if isinstance(symbol, Symbol)}


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
    """A dfn with what it captures; `name` is the name it was bound to, if any."""

    span: Span
    node: tree.Dfn
    home: Frame
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SignedFunction:
    """An annotated function: matched against its signature at every call.

    `proof`: by what every fact its body needs follows from the signature, for all sizes, so that calls need not look again.
    """

    span: Span
    name: str
    signature: program_tree.Signature
    body: FunctionValue
    file: FileContext
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

@dataclass(frozen=True, slots=True, eq=False)
class OperatorValue:
    """A user operator with what it captures."""

    span: Span
    node: tree.OperatorDfn
    home: Frame
