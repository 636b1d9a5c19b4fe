"""What every elaboration module shares: the builder, the budgets, and the two mutually recursive entries.

`apply` and `expression` are installed by `programs` when it makes the context, so that operator
modules need not import the modules that call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from enum import Enum, IntEnum
from typing import TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Fix, Label, RhoError
from ...lang.support.caches import GenerationalCache
from ...lang.support.records import dataclass
from ...lang.syntax.parser import Parsed, StatementCache
from ...lang.syntax.source import Source, Span
from ...lang.tree import expressions, program
from ...lang.tree.expressions import Definition, NameClass, Symbol
from ..core.arrays import ValueId
from ..core.blocks import Block
from ..core.builder import Builder
from ..elements import Element
from ..proof.obligations import Proof
from ..sizes.polynomials import Size, SizeOrigin, SizeVariable
from ..values.facts import Operand, TupleOperand, Value, leaves

# ---------------------------------------------------------------------------------------------------- sites
#
# What a top-level statement means, as a number: so that a definition whose meaning has not changed is not checked again.
#
# A `Site` is a statement of this version of the program.  Its `key` stands for its text, the index origin, the signature
# before it and the keys of all that its names stand for; two sites with one key mean the same, wherever they stand.  What
# was found out about a definition is kept under its key (`Memory`), with spans relative to the sites it depends on, and is
# anchored again to where these stand now.
#
# What a definition reads from around it decides whether its outcome may be kept (`Reach`): values whose sizes are symbolic
# bring in facts that other statements state, so a definition that captures them is always checked.

class DependencyLevel(IntEnum):
    """What the meaning of a site depends on besides texts, from least to most."""

    NOTHING = 0
    CONSTANTS = 1
    PARAMS = 2
    SIZES = 3


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionKey:
    """A statement where it stands now, and the sites of what it mentions."""

    key: int
    span: Span
    uses: tuple[DefinitionKey, ...]
    dependency: DependencyLevel

    def closure(self) -> list[DefinitionKey]:
        """The site and all it depends on, in an order that the key alone determines."""
        reached: dict[int, DefinitionKey] = {}
        pending = [self]
        while pending:
            definition = pending.pop()
            if definition.key not in reached:
                reached[definition.key] = definition
                pending += reversed(definition.uses)
        return list(reached.values())


@dataclass(slots=True, eq=False)
class DefinitionKeys:
    """The sites of one file: of what is bound so far and of signatures whose binding is still to come."""

    bound: dict[Symbol, DefinitionKey] = field(default_factory=dict)
    declared: dict[str, DefinitionKey] = field(default_factory=dict)
    current: DefinitionKey | None = None


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What checking a definition found: diagnostics relative to the sites of its closure, and how it went."""

    diagnostics: tuple[Diagnostic, ...]
    accepted: bool
    proof: Proof
    nodes: int = 0


class CheckCache:
    """What is kept from one version of a program to the next; for one strictness and one loader of modules."""

    def __init__(self) -> None:
        self.statements = StatementCache()
        self.read: tuple[Source, Parsed] | None = None  # what has been read last
        self.outcomes: GenerationalCache[object, CheckOutcome] = GenerationalCache()
        self.signatures: GenerationalCache[object, tuple[str, ...]] = GenerationalCache()
        self.well_formed: GenerationalCache[tuple[int, frozenset[str]], bool] = GenerationalCache()
        self.records: GenerationalCache[int, object] = GenerationalCache()  # what `replaying` knows of a statement
        self._keys: GenerationalCache[tuple[object, ...], int] = GenerationalCache()
        self._next = 0

    def end_generation(self) -> None:
        """A version has been checked: what none of the last ones asked for is forgotten."""
        self.statements.end_generation()
        for table in (self.outcomes, self.signatures, self.well_formed, self.records, self._keys):
            table.end_generation()

    def key(self, meaning: tuple[object, ...]) -> int:
        """The number of a meaning: the same for the same, never one that has stood for another."""
        number = self._keys.get(meaning)
        if number is None:
            number = self._next
            self._keys.put(meaning, number)
            self._next += 1
        return number

    def definition(
        self, uses: Sequence[tuple[Symbol, DefinitionKey | None]], text: str, span: Span, origin: int, declared: DefinitionKey
        | None
    ) -> DefinitionKey:  # fmt: skip
        """The site of a statement before it is elaborated, `uses` being the sites of what it mentions."""
        used = [(symbol.name, definition) for symbol, definition in uses if definition is not None]
        needed = tuple(definition for _, definition in used) if declared is None else (declared, *[definition for _,
            definition in used])
        dependency = max((definition.dependency for definition in needed), default=DependencyLevel.NOTHING)
        names = tuple((name, definition.key) for name, definition in used)
        meaning = (text, origin, -1 if declared is None else declared.key, names)
        return DefinitionKey(self.key(meaning), span, needed, dependency)

    def with_texts(self, definition: DefinitionKey, texts: Sequence[str], dependency: DependencyLevel, known: DefinitionKey
        | None) -> DefinitionKey:
        """The site as names bound by the statement have it: with the texts of the files it brings in, and what they reach; the
        one that is known from the version before if it is the same."""
        if not texts and dependency <= definition.dependency:
            return definition
        new = DefinitionKey(self.key((definition.key, *texts)) if texts else definition.key, definition.span, definition.uses,
            max(definition.dependency, dependency))
        return known if known is not None and (known.key, known.dependency) == (new.key, new.dependency) else new


# ------------------------------------------------------------------------------------ moving diagnostics

_ANCHOR = "\0"


def detached(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic where it is now, for good."""
    return _with_spans(diagnostic, lambda span: span.detached())


def relative(diagnostics: Sequence[Diagnostic], definition: DefinitionKey) -> tuple[Diagnostic, ...] | None:
    """The diagnostics with spans counted from the sites they lie in; None if one lies in none of them."""
    places = [(f"{_ANCHOR}{index}", part.span) for index, part in enumerate(definition.closure())]

    def anchored(span: Span) -> Span:
        if span.file != definition.span.file:
            return span  # another file: its text is part of the key
        for anchor, statement in places:
            if statement.file == span.file and statement.start <= span.start and span.end <= statement.end:
                return Span(anchor, span.start - statement.start, span.end - statement.start)
        raise LookupError

    try:
        return tuple([_with_spans(diagnostic, anchored) for diagnostic in diagnostics])
    except LookupError:
        return None


def absolute(diagnostics: Sequence[Diagnostic], definition: DefinitionKey) -> list[Diagnostic]:
    """The diagnostics where the sites stand now."""
    if not diagnostics:
        return []
    places: Mapping[str, Span] = {f"{_ANCHOR}{index}": part.span for index, part in enumerate(definition.closure())}

    def placed(span: Span) -> Span:
        definition = places.get(span.file)
        return span if definition is None else Span(definition.file, span.start + definition.start, span.end + definition.start)

    return [_with_spans(diagnostic, placed) for diagnostic in diagnostics]


def _with_spans(diagnostic: Diagnostic, move: Callable[[Span], Span]) -> Diagnostic:
    labels = tuple([replace(label, span=move(label.span)) for label in diagnostic.labels])
    fixes = tuple([
        replace(fix, edits=tuple([replace(edit, span=move(edit.span)) for edit in fix.edits])) for fix in diagnostic.fixes
    ])  # fmt: skip
    return replace(diagnostic, span=move(diagnostic.span), labels=labels, fixes=fixes)


# ---------------------------------------------------------------------------------------------------- environment
#
# What names stand for: a flat map from definitions to values, and the functions closed over it.
#
# Which definition a name has is settled before (`lang.resolution`).  A function is closed over what the definitions that it
# mentions stand for when it is made, so that what changes later does not change what an older function means.
#
# Functions are second class, so their values exist only while elaborating.  Array operands are evaluated
# when the function is derived, once, outside any operator body.  Applying one is `applications`.

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
    definition_keys: DefinitionKeys = field(default_factory=DefinitionKeys)
    sizes: dict[str, SizeVariable] = field(default_factory=dict)
    params: dict[str, SizeVariable] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Frame:
    """What definitions stand for now, in a file or in a call of a dfn (`called` is where); `bound` is all that was bound here, in
    order."""

    file: FileContext
    call_span: Span | None = None
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

    def inner(self, call_span: Span | None = None) -> Frame:
        """The frame of a call, or of a part of one whose bindings are its own."""
        return Frame(self.file, call_span or self.call_span, dict(self.entries))

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
    node: expressions.Dfn
    closure: Frame
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SignedFunction:
    """An annotated function: matched against its signature at every call.

    `proof`: by what every fact its body needs follows from the signature, for all sizes, so that calls need not look again.
    """

    span: Span
    name: str
    signature: program.Signature
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
    node: expressions.OperatorDfn
    closure: Frame


# ---------------------------------------------------------------------------------------------------- context

NODE_BUDGET = 60_000  # about a second of work, and one node more for every character of the program
DEPTH_LIMIT = 2_000

Load = Callable[[str, str | None], Source | None]
Exports = dict[str, Mapping[str, NameClass]]


class NamingMode(Enum):
    """How run-time sizes are called in work done aside."""

    FRESH = "as if nothing had been named before"
    CONTINUE = "not like any of the program so far"


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
    expression: Callable[[Context, expressions.Expression, Frame], Value]
    check_cache: CheckCache
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
    def speculate(self, names: NamingMode) -> Iterator[None]:
        """Work that leaves no trace but the nodes it cost: nothing it emits, reports, requires, names or mentions is kept."""
        builder = self.builder
        before, mentions = builder.snapshot(names is NamingMode.FRESH), self.mentions
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
    def nested_call(self, span: Span) -> Iterator[None]:
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


# ---------------------------------------------------------------------------------------------------- values
#
# Small facts about operands that many rules ask for.

def static_vector(x: Operand) -> tuple[Size, ...] | None:
    """The sizes of a static scalar or vector."""
    if isinstance(x.static, Size):
        return (x.static,)
    return x.static


def cast(ctx: Context, x: Operand, element: Element, span: Span) -> Operand:
    """x with the kind of `element`: positions become numbers unless `element` is one."""
    if element.index_bound is None:
        x = ctx.builder.to_number(x, span)
    if x.type.element.kind is not element.kind:
        x = ctx.builder.convert(x, element.kind, span)
    return x


def to_numbers(ctx: Context, value: Value, span: Span) -> Value:
    """Every position in a value turned into a number."""
    return rebuild(value, [ctx.builder.to_number(x, span) for x in leaves(value)])


def reject_enclosed(ctx: Context, span: Span) -> Operand:
    """An enclosed array where nothing can take it."""
    return ctx.error(
        Code.E620, "`⊂` has a meaning only left of `⌷`, as in `(⊂1 2)⌷x`, and beside `¨`", span, notes=("arrays do not nest",)
    )


# ---------------------------------------------------------------------------------------------------- reach
#
# What the meaning of whoever mentions a name depends on besides texts.

def dependency_of(entry: Entry) -> DependencyLevel:
    """What the meaning of whoever mentions this value depends on."""
    if isinstance(entry, Module):
        return max(map(dependency_of, entry.entries.values()), default=DependencyLevel.NOTHING)
    if isinstance(entry, TupleOperand):
        return max((dependency_of(item) for item in entry.items), default=DependencyLevel.CONSTANTS)
    if not isinstance(entry, Operand):
        return DependencyLevel.NOTHING
    origins = {v.origin for size in _sizes_of(entry) for v in size.variables()}
    if entry.poisoned:
        return DependencyLevel.SIZES
    if not origins:
        return DependencyLevel.CONSTANTS
    return DependencyLevel.PARAMS if origins == {SizeOrigin.PARAM} else DependencyLevel.SIZES


def _sizes_of(x: Operand) -> Iterator[Size]:
    yield from x.type.shape
    for size in (x.type.element.index_bound, x.type.element.symbolic_max):
        if size is not None:
            yield size
    if isinstance(x.static, Size):
        yield x.static
    elif x.static is not None:
        yield from x.static


# ---------------------------------------------------------------------------------------------------- blocks
#
# Blocks of the core: extending them.

def extended_block(ctx: Context, block: Block, results: Callable[[], Sequence[Operand]], span: Span) -> tuple[Block,
    tuple[Operand, ...]]:
    """The block with more ops at its end and other results."""
    ctx.builder.open_block((), span)
    values = tuple(results())
    tail = ctx.builder.close_block(values)
    return Block(block.params, block.ops + tail.ops, tail.results), values
