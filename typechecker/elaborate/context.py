"""The context of elaboration: builder, budgets, environments, function values, and the cache for incremental checking.

`programs` puts the mutually recursive entries `apply`, `expression`, `offer_guard` and `elaborated_body` into the context, so
that the modules of operators and calls need not import the modules that call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum, IntEnum
from operator import itemgetter
from typing import TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, Fix, Label, RhoError
from ...lang.support.caches import GenerationalCache
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.parser import Parsed, StatementCache
from ...lang.syntax.source import Source, Span
from ...lang.tree import expressions, program
from ...lang.tree.expressions import ITEMS, BoundedSize, Definition, NameClass, ShapeVariable, SizeExpression, SizeName, Symbol
from ..core.builder import Builder
from ..core.operations import Block, CoreCall, CoreFunction, Op, Reshape, ValueId
from ..elements import Element
from ..proof.obligations import Proof, SizeFact
from ..sizes.polynomials import Size, SizeOrigin, SizeVariable, product, variable
from ..values.facts import Operand, TupleOperand, Value, leaves

# ---------------------------------------------------------------------------------------------------- definition keys
#
# The meaning of a top-level statement as a number, so that a definition whose meaning has not changed is not checked again.
#
# A `DefinitionKey` is a statement of this version of the program.  Its `key` stands for its text, the index origin, the signature
# before it, and the keys of all that its names stand for; statements with one key mean the same.  The outcome of checking a
# definition is cached under its key (`CheckCache`), with spans relative to the statements it depends on, and is anchored again at
# their current positions.
#
# What a definition captures decides whether its outcome may be cached (`DependencyLevel`): values with symbolic sizes depend on
# facts that other statements state, so a definition that captures them is always checked.

class DependencyLevel(IntEnum):
    """The parts of the context that the meaning of a definition depends on besides texts; each level includes those before it."""

    NOTHING = 0
    CONSTANTS = 1
    PARAMS = 2
    SIZES = 3


@dataclass(frozen=True, slots=True, eq=False)
class DefinitionKey:
    """A statement at its current span, with the key of its meaning and the definitions that it uses."""

    key: int
    span: Span
    uses: tuple[DefinitionKey, ...]
    dependency: DependencyLevel

    def closure(self) -> list[DefinitionKey]:
        """The definition and all that it depends on, in an order that the key determines."""
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
    """The definitions of one file: those bound so far, the pending signatures, and the current statement."""

    bound: dict[Symbol, DefinitionKey] = field(default_factory=dict)
    declared: dict[str, DefinitionKey] = field(default_factory=dict)
    current: DefinitionKey | None = None


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The outcome of checking a definition: diagnostics relative to its `closure`, whether it was accepted, how its facts were
    proved, and the nodes that it took."""

    diagnostics: tuple[Diagnostic, ...]
    accepted: bool
    proof: Proof
    nodes: int = 0


class CheckCache:
    """The results kept from one version of a program to the next; for one strictness and one loader of modules."""

    def __init__(self) -> None:
        self.statements = StatementCache()
        self.read: tuple[Source, Parsed] | None = None  # the last text that was parsed
        self.outcomes: GenerationalCache[object, CheckOutcome] = GenerationalCache()
        self.signatures: GenerationalCache[object, tuple[str, ...]] = GenerationalCache()
        self.well_formed: GenerationalCache[tuple[int, frozenset[str]], bool] = GenerationalCache()
        self._keys: GenerationalCache[tuple[object, ...], int] = GenerationalCache()
        self._next = 0

    def end_generation(self) -> None:
        """Mark the end of one version: entries that no recent version used are dropped."""
        self.statements.end_generation()
        for table in (self.outcomes, self.signatures, self.well_formed, self._keys):
            table.end_generation()

    def key(self, meaning: tuple[object, ...]) -> int:
        """The number of a meaning: equal for equal meanings, and never reused for another one."""
        number = self._keys.get(meaning)
        if number is None:
            number = self._next
            self._keys.put(meaning, number)
            self._next += 1
        return number

    def definition(
        self, used: Sequence[tuple[str, DefinitionKey]], text: str, span: Span, origin: int, declared: DefinitionKey | None
    ) -> DefinitionKey:
        """The definition key of a statement before it is elaborated; `used` are the names in it with their definitions."""
        needed = (
            tuple(definition for _, definition in used)
            if declared is None
            else (declared, *[definition for _, definition in used])
        )
        dependency = max((definition.dependency for definition in needed), default=DependencyLevel.NOTHING)
        names = tuple((name, definition.key) for name, definition in used)
        meaning = (text, origin, -1 if declared is None else declared.key, names)
        return DefinitionKey(self.key(meaning), span, needed, dependency)

    def with_texts(
        self, definition: DefinitionKey, texts: Sequence[str], dependency: DependencyLevel
    ) -> DefinitionKey:
        """The key for the names that a statement binds, which also depends on the texts of imported files and their dependency
        level."""
        if not texts and dependency <= definition.dependency:
            return definition
        key = self.key((definition.key, *texts)) if texts else definition.key
        return DefinitionKey(key, definition.span, definition.uses, max(definition.dependency, dependency))


# ------------------------------------------------------------------------------------ diagnostics at relative positions

_ANCHOR = "\0"


def detached(diagnostic: Diagnostic) -> Diagnostic:
    """The diagnostic with spans that do not move."""
    return _with_spans(diagnostic, lambda span: span.detached())


def relative(diagnostics: Sequence[Diagnostic], definition: DefinitionKey) -> tuple[Diagnostic, ...] | None:
    """The diagnostics with spans relative to the definitions that contain them; None if a span is in none."""
    anchors = [(f"{_ANCHOR}{index}", part.span) for index, part in enumerate(definition.closure())]

    def anchored(span: Span) -> Span:
        if span.file != definition.span.file:
            return span  # another file: its text is part of the key
        for anchor, statement in anchors:
            if statement.file == span.file and statement.start <= span.start and span.end <= statement.end:
                return Span(anchor, span.start - statement.start, span.end - statement.start)
        raise LookupError

    try:
        return tuple([_with_spans(diagnostic, anchored) for diagnostic in diagnostics])
    except LookupError:
        return None


def absolute(diagnostics: Sequence[Diagnostic], definition: DefinitionKey) -> list[Diagnostic]:
    """The diagnostics at the current positions of the definitions."""
    if not diagnostics:
        return []
    anchors: Mapping[str, Span] = {f"{_ANCHOR}{index}": part.span for index, part in enumerate(definition.closure())}

    def placed(span: Span) -> Span:
        definition = anchors.get(span.file)
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
# Environments are flat maps from definitions to values.  Which definition a name has is resolved before (`lang.bind.resolver`).
# A function captures the values of the definitions it uses when it is created, so that later bindings do not change it.
#
# Functions are second class, so function values exist only while elaborating.  Array operands of operators are evaluated once,
# when the function is derived.

@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """An imported file, with the values of its top-level names."""

    name: str
    entries: Mapping[str, Entry]


Entry: TypeAlias = "Operand | TupleOperand | FunctionValue | OperatorValue | Module"


@dataclass(slots=True, eq=False)
class FileContext:
    """The constants of one file: source, index origin, the size names of inputs and params, the definition keys, the library
    functions that the program does not reach, and whether some statement could not be read."""

    source: Source
    index_origin: int
    definition_keys: DefinitionKeys = field(default_factory=DefinitionKeys)
    sizes: dict[str, SizeVariable] = field(default_factory=dict)
    params: dict[str, SizeVariable] = field(default_factory=dict)
    unreached: frozenset[str] = frozenset()
    is_faulty: bool = False


@dataclass(slots=True, eq=False)
class Frame:
    """The environment of a file or of a call of a dfn (at `call_span`); `bound` is everything bound in it, in order; `sizes` are
    those of the signature of the function whose body this is."""

    file: FileContext
    call_span: Span | None = None
    entries: dict[Definition, Entry] = field(default_factory=dict)
    bound: list[tuple[Definition, Entry]] = field(default_factory=list)
    sizes: Mapping[str, Size] = field(default_factory=dict)

    def bind(self, definition: Definition, entry: Entry) -> None:
        """Bind a definition to a value."""
        self.entries[definition] = entry
        self.bound.append((definition, entry))

    def find(self, definition: Definition) -> Entry | None:
        return self.entries.get(definition)

    def capture(self, captures: Iterable[Symbol]) -> Frame:
        """The environment that a function captures."""
        entries = self.entries
        captured: dict[Definition, Entry] = {symbol: entries[symbol] for symbol in captures if symbol in entries}
        return Frame(self.file, None, captured, sizes=self.sizes)

    def inner(self, call_span: Span | None = None) -> Frame:
        """A frame for a call, or for a part of one with local bindings."""
        return Frame(self.file, call_span or self.call_span, dict(self.entries), sizes=self.sizes)

    def size(self, name: str) -> Size | None:
        """The size of this name: of the signature, or of an input."""
        known = self.sizes.get(name)
        if known is None and name in self.file.sizes:
            return variable(self.file.sizes[name])
        return known

    def by_name(self) -> dict[str, Entry]:
        """The values of a file's names."""
        return {symbol.name: entry for symbol, entry in self.entries.items() if isinstance(symbol, Symbol)}


# ------------------------------------------------------------------------------------------ functions


@dataclass(frozen=True, slots=True, eq=False)
class PrimitiveFunction:
    """A primitive, a conversion or a library function; `axis` is as written, with the index origin.

    `origin` is the index origin of its file; None for one that the elaborator creates.
    """

    span: Span
    glyph: str
    axis: Operand | None = None
    origin: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DfnFunction:
    """A dfn with its captured environment; `name` is the name it was bound to, if any."""

    span: Span
    node: expressions.Dfn
    closure: Frame
    name: str = ""


SignatureInstance: TypeAlias = "tuple[tuple[tuple[str, int], ...], tuple[tuple[str, Element], ...]]"
"""The number of axes of each shape variable and the kind of each element variable of a signature."""


def undetermined(ctx: Context, part: SizeName | BoundedSize | ShapeVariable) -> None:
    """E122 for a size or shape that no argument determines."""
    is_shape = isinstance(part, ShapeVariable)
    notes = () if is_shape else (f"take {part.name} from the shape of an argument",)
    ctx.error(Code.E122, f"{'..' * is_shape}{part.name} is not determined by any argument", part.span, notes=notes)


@dataclass(slots=True)
class Bindings:
    """The variables of types at one call, or in one declaration.  `opened`: the sizes of the k of `k≤n`; `definitions`: by facts,
    of the sizes that no argument determines.  `otherwise` gives the size of a name that is not bound, or reports it."""

    params: Mapping[str, SizeVariable]
    sizes: dict[str, Size] = field(default_factory=dict)
    shapes: dict[str, tuple[Size, ...]] = field(default_factory=dict)
    elements: dict[str, Element] = field(default_factory=dict)
    opened: dict[str, Size] = field(default_factory=dict)
    definitions: Mapping[str, SizeExpression] = field(default_factory=dict)
    otherwise: Callable[[Context, SizeName | BoundedSize | ShapeVariable], Size | None] = undetermined

    def of_operand(self) -> Bindings:
        """The variables at a call of an operand in the body, which it shares with the operator's signature."""
        return Bindings(self.params, self.sizes, self.shapes, self.elements)

    def size(self, name: str) -> Size | None:
        """The size of a name; of `×/s`, the number of items of the shape s."""
        if name.startswith(ITEMS) and name.removeprefix(ITEMS) in self.shapes:
            return product(self.shapes[name.removeprefix(ITEMS)])
        if name in self.sizes:
            return self.sizes[name]
        return variable(self.params[name]) if name in self.params else None

    def is_bound(self, name: str) -> bool:
        """Is the size of a name known, or defined by a fact?"""
        return self.size(name) is not None or name in self.definitions

    def instance(self) -> SignatureInstance:
        """The ranks and element types that the shape and element variables stand for."""
        ranks = [(name, len(shape)) for name, shape in self.shapes.items()]
        return tuple(sorted(ranks)), tuple(sorted(self.elements.items(), key=itemgetter(0)))


@dataclass(frozen=True, slots=True, eq=False)
class SignedFunction:
    """An annotated function, whose signature is matched at every call.

    `params`: those before its definition, which its sizes may mean; `definitions`: the sizes that its facts define.  `proof`: how
    the facts that its body needs were proved from the signature for all sizes; calls do not prove them again.  `bodies`: the body
    as elaborated for all sizes, by the ranks and kinds of the signature's variables (`signatures.calls`).  `outer`: of an operand
    with a signature, the variables of the operator's signature at this call.
    """

    span: Span
    name: str
    signature: program.Signature
    body: FunctionValue
    file: FileContext
    params: Mapping[str, SizeVariable] = field(default_factory=dict)
    definitions: Mapping[str, SizeExpression] = field(default_factory=dict)
    proof: Proof = Proof.NONE
    bodies: dict[SignatureInstance, ElaboratedBody | None] = field(default_factory=dict)
    outer: Bindings | None = None

    def unbound(self) -> Bindings:
        """The variables before a call."""
        return Bindings(self.params, definitions=self.definitions)


@dataclass(frozen=True, slots=True, eq=False)
class ElaboratedBody:
    """A body elaborated on arguments of rigid sizes: its ops, which calls repeat on their arguments, and its result.  `sizes` and
    `shapes` are the rigid sizes; `names` and `mentions` are what the program calls its values, `usages` the calls in it.
    `checks_indices`: a run checks indices in it that sizes or facts of a call may decide, and some are out of range without the
    facts `open_indices`.  `function`: what calls invoke instead of repeating the ops, if these are many."""

    arguments: tuple[ValueId, ...]
    sizes: Mapping[str, SizeVariable]
    shapes: Mapping[str, tuple[SizeVariable, ...]]
    ops: tuple[Op, ...]
    result: Value
    names: Mapping[ValueId, str]
    mentions: Mapping[ValueId, Sequence[tuple[Span, Span]]]
    usages: tuple[CoreCall, ...]
    checks_indices: bool = False
    open_indices: tuple[SizeFact, ...] = ()
    function: CoreFunction | None = None


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
    """A dyadic function with its left argument bound."""

    span: Span
    function: FunctionValue
    left: Value


@dataclass(frozen=True, slots=True, eq=False)
class BrokenFunction:
    """A function with a reported error; applying it gives poison."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class OpaqueFunction:
    """The operand of an operator whose definition is checked: only its signature is known."""

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
    | OpaqueFunction
)

@dataclass(frozen=True, slots=True, eq=False)
class OperatorValue:
    """A user operator with its captured environment, and with its signature, if it has one, as that of a function whose body is
    not known yet."""

    span: Span
    node: expressions.OperatorDfn
    closure: Frame
    signed: SignedFunction | None = None


# ---------------------------------------------------------------------------------------------------- context

NODE_BUDGET = 60_000  # about a second of work, and one node more for every character of the program
DEPTH_LIMIT = 2_000

Load = Callable[[str, str | None], Source | None]
Exports = dict[str, Mapping[str, NameClass]]


class NamingMode(Enum):
    """The naming of runtime sizes in speculative work."""

    FRESH = "as in an empty program"
    CONTINUE = "unlike those of the program so far"


class BudgetExceeded(RhoError):
    """E610: the program's expansion is too large or too deep; elaboration stops."""


@dataclass(slots=True, eq=False)
class Context:
    """The state of elaborating a program.  `suggesting`: a guard for an error is being sought.

    `printed_at`: the value of `nodes` when a value was last printed; nothing was elaborated since while they are equal.
    `mentions`: the spans where the program writes a value as an argument, each with the span of the function. `check_cache`:
    outcomes of this version and, if `incremental`, of earlier ones.  `expansions`: the nodes that each call expanded
    to."""

    builder: Builder
    load: Load
    strict: bool
    apply: Callable[[Context, FunctionValue, Value | None, Value, Span], Value]
    expression: Callable[[Context, expressions.Expression, Frame], Value]
    offer_guard: Callable[[Context, Callable[[], Value], Value | None, Value, Span, Span], None]
    elaborated_body: Callable[[Context, SignedFunction, SignatureInstance], ElaboratedBody | None]
    check_cache: CheckCache
    incremental: bool = False
    nodes: int = 0
    depth: int = 0
    printed_at: int = -1
    suggesting: bool = False
    loops: list[Span] = field(default_factory=list)
    modules: dict[str, Module] = field(default_factory=dict)
    exports: Exports = field(default_factory=dict)
    loading: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    mentions: dict[ValueId, list[tuple[Span, Span]]] = field(default_factory=dict)
    expansions: dict[Span, int] = field(default_factory=dict)

    @contextmanager
    def speculate(self, names: NamingMode) -> Iterator[None]:
        """A block whose ops, diagnostics, constraints and names are undone at its end; only the nodes it took count."""
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
                        notes=("every call is expanded; a loop expands its function once, `f⍣2 ⊢ x`, and so does a function on "
                               "cells, `f⍤1 ⊢ x`", "a large function with a signature, `f : f64[n] → f64[n]`, is not expanded"),
                    )
                ]
            )

    @contextmanager
    def expanding(self, call: Span) -> Iterator[None]:
        """A block that elaborates a call and counts its nodes."""
        before = self.nodes - self.expansions.get(call, 0)
        try:
            yield
        finally:
            self.expansions[call] = self.nodes - before

    def repeated_calls(self) -> list[tuple[str, list[Span]]]:
        """The functions that are called more than once in the text, with their calls, by the largest expansion of a call."""
        calls: dict[str, list[Span]] = {}
        for span in sorted(self.expansions, key=self.expansions.__getitem__, reverse=True):
            calls.setdefault(self.builder.source_names.text(span), []).append(span)
        return [(name, spans) for name, spans in calls.items() if len(spans) > 1 and name[:1].isalpha()]

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
        """The scope of a function that an operator applies, in which printing is E602."""
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
    """A value of `pattern`'s tuple structure with these arrays in order."""
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
# Small functions on operands that many modules use.

def static_vector(x: Operand) -> tuple[Size, ...] | None:
    """The sizes of a static scalar or vector."""
    if isinstance(x.static, Size):
        return (x.static,)
    return x.static


def with_sizes(ctx: Context, x: Operand, shape: tuple[Size, ...], span: Span) -> Operand:
    """x with other formulas for its sizes, to which its own were proved equal."""
    return ctx.builder.emit(lambda r: Reshape(r, x.value), replace(x.type, shape=shape), span)


def cast(ctx: Context, x: Operand, element: Element, span: Span) -> Operand:
    """x with the kind of `element`; positions become numbers unless `element` is an index type."""
    if element.index_bound is None:
        x = ctx.builder.to_number(x, span)
    if x.type.element.kind is not element.kind:
        x = ctx.builder.convert(x, element.kind, span)
    return x


def to_numbers(ctx: Context, value: Value, span: Span) -> Value:
    """The value with every position converted to a number."""
    return rebuild(value, [ctx.builder.to_number(x, span) for x in leaves(value)])


def reject_enclosed(ctx: Context, span: Span) -> Operand:
    """Report an enclosed array where none is accepted."""
    return ctx.error(
        Code.E620, "`⊂` has a meaning only left of `⌷`, as in `(⊂1 2)⌷x`, and beside `¨`", span, notes=("arrays do not nest",)
    )


# ---------------------------------------------------------------------------------------------------- dependency levels

def dependency_of(entry: Entry) -> DependencyLevel:
    """The dependency level of a definition that uses this value: nothing, constants, params or symbolic sizes."""
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

def extended_block(
    ctx: Context, block: Block, results: Callable[[], Sequence[Operand]], span: Span
) -> tuple[Block, tuple[Operand, ...]]:
    """The block with the ops that `results` emits appended, and with these results."""
    ctx.builder.open_block((), span)
    values = tuple(results())
    tail = ctx.builder.close_block(values)
    return Block(block.params, block.ops + tail.ops, tail.results), values
