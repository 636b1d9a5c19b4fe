"""The builder: appends core ops, records types and spans, creates size variables, and collects obligations and diagnostics.

Elaboration rules never construct a `Core`; they call `emit`, or a named helper, on a builder.  Blocks nest: the root block is
open from the start, `open_block` starts one inside, `close_block` ends it.

Besides the ops a builder has the `facts` about each value, the size variables (`sizes`), the `constraints` that are in scope or
to be checked, the `sink` of diagnostics, and the `source_names` of values for messages.  `glyph` is the function being applied,
`root` the ops of the outermost block, `next_id` the next value id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from ...lang.diagnostics.model import Code, Diagnostic, Fix, Label
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import LibraryCheckSpan, Span
from ..diagnostics import DiagnosticSink, SourceNames, show_type
from ..elements import FUNCTIONS, ArrayType, Element, Kind, ResultKind, narrowed, ranged, size_range, surely_unwrapped
from ..frame_agreement import principal_frame
from ..proof.constraints import Alternatives, Arm, Constraints, LoopIndex
from ..proof.obligations import Obligation, Relation, SizeFact
from ..proof.report_unproved import ClauseSite
from ..sizes.polynomials import ONE, ZERO, AtomKind, NonlinearAtom, Size, SizeOrigin, SizeVariable, product, variable
from ..sizes.size import minimum, surely_fits_i64, truncated_subtract
from ..values import constant_folding
from ..values.facts import (
    NO_FACTS,
    AffineSequences,
    Conversions,
    Count,
    IntegerLimits,
    MaskFacts,
    Operand,
    Statement,
    TupleOperand,
    Value,
    ValueFacts,
)
from .operations import (
    Block,
    Library,
    Literal,
    Op,
    Payload,
    Recomputed,
    Reduce,
    Reshape,
    Scalar,
    SizeVector,
    ValueId,
    operands_of,
)

# ---------------------------------------------------------------------------------------------------- size variables
#
# Structurally equal masks, and equal integers, share one runtime size.

SPECULATIVE_IDS = 1 << 40
"""The first id of size variables of speculative work; they are counted apart, so that the program's ids do not depend on such
work."""


@dataclass(slots=True)
class SizeVariables:
    """The size variables so far.  `spans` has the span and the reason of each runtime size; ids count up in the order of
    creation, separately for speculative work."""

    spans: dict[SizeVariable, tuple[Span, str]] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    next: list[int] = field(default_factory=lambda: [0])
    _trial_ids: list[int] = field(default_factory=lambda: [SPECULATIVE_IDS])
    _masks: dict[ValueId, SizeVariable] = field(default_factory=dict)
    _values: dict[ValueId, SizeVariable] = field(default_factory=dict)
    _same: dict[ValueId, ValueId] = field(default_factory=dict)

    def trial(self, fresh_names: bool) -> SizeVariables:
        """A copy for speculative work; with `fresh_names`, names are chosen as in an empty program."""
        names = {} if fresh_names else dict(self.names)
        return SizeVariables(
            self.spans, names, self._trial_ids, self._trial_ids, dict(self._masks), dict(self._values), dict(self._same)
        )

    def scope(self) -> tuple[dict[ValueId, SizeVariable], dict[ValueId, SizeVariable]]:
        """The shared sizes, to be restored with `leave`: facts about a size in a loop or an arm hold only there."""
        return dict(self._masks), dict(self._values)

    def leave(self, shared: tuple[dict[ValueId, SizeVariable], dict[ValueId, SizeVariable]]) -> None:
        """Restore the shared sizes that `scope` returned."""
        self._masks, self._values = shared

    def known_mask(self, mask: ValueId, facts: MaskFacts) -> SizeVariable | None:
        """The size of a mask's true elements, if it has a variable."""
        value = self._same.get(mask, mask)
        known = self._masks.get(value)
        return known or next((size for other, size in self._masks.items() if facts.is_same(other, value)), None)

    def known_integer(self, x: ValueId) -> SizeVariable | None:
        """The runtime size of an integer value, if it has a variable."""
        return self._values.get(self._same.get(x, x))

    def create(self, name: str, origin: SizeOrigin, cap: Size | None = None, minimum: int = 0) -> SizeVariable:
        """A new size variable."""
        self.names.setdefault(name, 1)
        size = SizeVariable(name, self.next[0], origin, cap, minimum)
        self.next[0] += 1
        return size

    def at_run_time(self, name: str, cap: Size, span: Span, why: str, least: int, origin: SizeOrigin) -> SizeVariable:
        """A runtime size from `least` to `cap`; its printed name is made unique."""
        count = self.names.get(name, 0)
        while count and f"{name}{count + 1}" in self.names:
            count += 1
        self.names[name] = count + 1
        size = self.create(name if count == 0 else f"{name}{count + 1}", origin, cap, least)
        self.spans[size] = (span, why)
        return size

    def share(self, value: ValueId, original: ValueId) -> None:
        """Make both values, if used as sizes, one size."""
        if value != original:
            self._same[value] = self._same.get(original, original)

    def of_mask(
        self, mask: ValueId, cap: Size, span: Span, why: str, facts: MaskFacts, types: Mapping[ValueId, ArrayType]
    ) -> tuple[SizeVariable, tuple[SizeFact, ...]]:  # fmt: skip
        """The size of a mask's true elements, with facts about the sum of it and the size of the opposite mask."""
        value = self._same.get(mask, mask)
        known = self.known_mask(mask, facts)
        new_facts: tuple[SizeFact, ...] = ()
        if known is None:
            least = facts.minimum_true(value)
            known = self.at_run_time("k", cap, span, why, least, SizeOrigin.RUNTIME)
            opposite = next((size for other, size in self._masks.items() if facts.is_opposite(other, value)), None)
            if opposite is not None:
                together = variable(opposite) + variable(known)
                new_facts = (SizeFact(Relation.EQUAL, together, product(types[mask].shape)),)
            if least == 0 and facts.keeps_first(value):
                new_facts += (SizeFact(Relation.AT_MOST, minimum(1, cap), variable(known)),)
        self._masks[value] = known
        return known, new_facts

    def of_integer(self, x: ValueId, cap: Size, span: Span, least: int) -> SizeVariable:
        """The runtime size of an integer value."""
        value = self._same.get(x, x)
        known = self._values.get(value)
        if known is None:
            known = self.at_run_time("k", cap, span, _OF_INTEGER, least, SizeOrigin.RUNTIME)
            self._values[value] = known
        return known


# ---------------------------------------------------------------------------------------------------- builder

MOST_AXES = 15  # as in other APLs; libraries stop at 32 or 64, and windows double the number of axes
_OF_INTEGER = "the value of this integer"
MOST_SIZES = 256  # the longest literal whose items are also sizes


@dataclass(frozen=True, slots=True)
class DeclaredAdjoint:
    """An application of `f⍫g`: its arguments and result, the values that its ops define, and `pull`, which applies g to a
    cotangent."""

    arguments: tuple[ValueId, ...]
    result: ValueId
    defined: frozenset[ValueId]
    pull: Callable[[tuple[ValueId, ...], ValueId], Sequence[ValueId]]


class BuilderState(NamedTuple):
    """The state of a builder without its ops, for `restore`."""

    next: int
    mark: tuple[int, ...]
    sink: DiagnosticSink
    source_names: SourceNames
    sizes: SizeVariables
    clause_site: ClauseSite | None
    scopes: int


class _Scope(NamedTuple):
    """The state that is restored at the end of an indexed loop or an arm: the shared sizes, and how many limits and counts there
    were."""

    shared: tuple[dict[ValueId, SizeVariable], dict[ValueId, SizeVariable]]
    limits: int
    counts: int


class Builder(Conversions):
    """See the module's docstring.  Callers set `index_origin` to that of the file being elaborated.

    `texts` has the default of each param that is a text, `patterns` those that are regular expressions.  With `checkpoints`,
    gradients of loops store few states and recompute the others.  `strip_mined` has the first result of each
    loop that was made a loop of loops, with the length of the strips that it is split into again; `recomputed` has the trip
    counts of these loops, for reports.  `inlines_calls`: also calls of shared functions, for gradients."""

    def __init__(self, index_origin: int = 0) -> None:
        self.index_origin = index_origin
        self.glyph = "f"
        self.types: dict[ValueId, ArrayType] = {}
        self.spans: dict[ValueId, Span] = {}
        self.facts: dict[ValueId, ValueFacts] = {}
        self.exact: dict[ValueId, Size | tuple[Size, ...]] = {}
        self.source_names = SourceNames()
        self.sink = DiagnosticSink()
        self.constraints = Constraints()
        self.sizes = SizeVariables()
        self.definitions: dict[ValueId, Op] = {}
        self._masks = MaskFacts(self.definitions, self.types, self.at_most)
        self.sequences = AffineSequences(self.definitions, self.types, self.exact, self.at_most)
        self.adjoints: dict[ValueId, DeclaredAdjoint] = {}
        self.texts: dict[ValueId, tuple[Payload, ...]] = {}
        self.patterns: set[ValueId] = set()
        self.checkpoints = False
        self.inlines_calls = False
        self.strip_mined: dict[ValueId, int] = {}
        self.recomputed: list[Recomputed] = []
        self.root: list[Op] = []
        self._blocks: list[tuple[tuple[ValueId, ...], list[Op]]] = [((), self.root)]
        self.next_id = 0
        self._next_trial = SPECULATIVE_IDS
        self._limits: list[tuple[IntegerLimits, Arm]] = []
        self._counts: list[Count] = []
        self._scopes: list[_Scope] = []

    # -- values and ops

    def fresh(self, type: ArrayType, span: Span) -> ValueId:
        """A new value id of this type; the caller emits the op that defines it."""
        value = ValueId(self.next_id)
        self.next_id += 1
        self.types[value] = type
        self.spans[value] = self._of_program(span)
        return value

    def _of_program(self, span: Span) -> Span:
        """The span of the program's call for a span in the library, with the comment on its line as `failure`."""
        call = self.sink.outside(span)
        failure = "" if call is span else self.source_names.comment(span)
        return LibraryCheckSpan(call, failure) if failure else call

    @property
    def next_value(self) -> ValueId:
        """The next value id."""
        return ValueId(self.next_id)

    def emit(
        self, make: Callable[[ValueId], Op], type: ArrayType, span: Span, *, static: Size | tuple[Size, ...] | None = None,
        constant: tuple[Payload, ...] | None = None,
    ) -> Operand:  # fmt: skip
        """Append the op that `make` returns for a new value id of this type.  `static` and `constant`: see `Operand`."""
        if type.rank > MOST_AXES:
            return self.error(Code.E620, f"this array would have {type.rank} axes; at most {MOST_AXES} are supported", span)
        if self._intricate((type,), span):
            return self.poison(span)
        value = self.fresh(type, span)
        self.definitions[value] = op = make(value)
        self._blocks[-1][1].append(op)
        self.note_exact(value, static)
        return Operand(value, type, static, constant)

    def note_exact(self, value: ValueId, static: Size | tuple[Size, ...] | None) -> None:
        """Record `static` as the exact value, if the operands are exact too and every size fits i64, so that nothing wraps."""
        sizes = () if static is None else (static,) if isinstance(static, Size) else static
        if static is not None and all(map(surely_fits_i64, sizes)):
            known = all(arg in self.exact for arg in operands_of(self.definitions[value]))
            self.exact |= {value: static} if known else {}

    def emit_many(
        self, make: Callable[[tuple[ValueId, ...]], Op], types: Sequence[ArrayType], span: Span
    ) -> tuple[Operand, ...]:  # fmt: skip
        """Append one op that defines several values."""
        if self._intricate(types, span):
            return tuple(self.poison(span) for _ in types)
        values = tuple(self.fresh(type, span) for type in types)
        self._blocks[-1][1].append(make(values))
        return tuple(Operand(v, t) for v, t in zip(values, types, strict=True))

    def _intricate(self, types: Sequence[ArrayType], span: Span) -> bool:
        """E610 for a size formula beyond the limits; each rule adds little, so that a check of emitted types bounds all
        formulas."""
        if all(size.is_simple() for type in types for size in type.shape):
            return False
        self.error(Code.E610, "the formula for the length of an axis is too long here", span,
                   notes=("it grows with every step: each joins or drops parts of the step before",))  # fmt: skip
        return True

    def effect(self, op: Op) -> None:
        """Append an op without results (`CorePrint`, `BindSize`)."""
        self._blocks[-1][1].append(op)

    @property
    def position(self) -> int:
        """The number of ops in the innermost block."""
        return len(self._blocks[-1][1])

    def since(self, position: int) -> list[Op]:
        """The ops of the innermost block from a position on."""
        return self._blocks[-1][1][position:]

    def take(self, position: int) -> list[Op]:
        """Remove the ops of the innermost block from a position on; returns them."""
        block = self._blocks[-1][1]
        ops = block[position:]
        del block[position:]
        return ops

    def replace(self, op: Op, ops: Sequence[Op]) -> None:
        """Replace an op of the innermost block by ops that define the same results."""
        block = self._blocks[-1][1]
        at = next(number for number, other in enumerate(block) if other is op)
        block[at : at + 1] = ops

    def latest(self) -> Op | None:
        """The last op of the innermost block."""
        ops = self._blocks[-1][1]
        return ops[-1] if ops else None

    def literal(self, data: Sequence[Payload], type: ArrayType, span: Span) -> Operand:
        """A constant; a scalar or short vector of integers also gets its static value."""
        payload = tuple(data)
        static: Size | tuple[Size, ...] | None = None
        element = type.element
        is_integer = element.kind is Kind.I64 and element.index_bound is None and element.unit is None
        if is_integer and type.rank <= 1 and len(payload) <= MOST_SIZES:
            sizes = tuple(Size({(): int(p)}) for p in payload if isinstance(p, int))
            static = sizes if type.rank else sizes[0]
        constant = payload if len(payload) <= constant_folding.MOST_ITEMS else None
        return self.emit(lambda r: Literal(r, payload), type, span, static=static, constant=constant)

    def size_value(self, size: Size, span: Span) -> Operand:
        """A size, or a difference of sizes, as a weak scalar i64."""
        low, high = size.bounds()
        type = ArrayType(ranged(Kind.I64, low, high, weak=True), ())
        if size.constant is not None:
            return self.emit(lambda r: Literal(r, (size.constant or 0,)), type, span, static=size, constant=(size.constant,))
        return self.emit(lambda r: SizeVector(r, (size,), True), type, span, static=size)

    def size_vector(self, sizes: Sequence[Size], span: Span) -> Operand:
        """Sizes as a weak vector of i64."""
        items = tuple(sizes)
        bounds = [s.bounds() for s in items]
        lows = [low for low, _ in bounds if low is not None]
        highs = [high for _, high in bounds if high is not None]
        low = min(lows, default=None) if len(lows) == len(items) else None
        high = max(highs, default=None) if len(highs) == len(items) else None
        type = ArrayType(ranged(Kind.I64, low, high, weak=True), (Size({(): len(items)}),))
        numbers = tuple(c for s in items if (c := s.constant) is not None)
        if len(numbers) == len(items):
            return self.emit(lambda r: Literal(r, numbers), type, span, static=items, constant=numbers)
        return self.emit(lambda r: SizeVector(r, items, False), type, span, static=items)

    def poison(self, span: Span) -> Operand:
        """A poisoned operand, for an error that has been reported."""
        type = ArrayType(Element(Kind.F64), ())
        return Operand(self.fresh(type, span), type, poisoned=True)

    def name(self, x: Operand, name: str) -> None:
        """Record the program's name of a value, unless it has one."""
        self.source_names.add(x.value, name)

    def scalar(self, function: str, args: Sequence[Operand], element: Element, span: Span, parameter: int = 0) -> Operand:
        """An elementwise function with prefix agreement (E101); the operands have the compute kind."""
        poisoned = next((a for a in args if a.poisoned), None)
        if poisoned is not None:
            return poisoned
        counted = next((a for a in args if a.type.element.unit is not None), None)
        if counted is not None and function != "select":
            message = f"`{self.glyph}` needs numbers; this is {show_type(counted.type)}"
            return self.error(Code.E300, message, span, notes=("`i64 x` is its number of days or nanoseconds",))
        shape = principal_frame(self, args, span)
        if shape is None:
            return self.poison(span)
        row = FUNCTIONS[function]
        compute = args[-1].type.element.kind
        shapes = [tuple(s.constant for s in a.type.shape) for a in args]
        constant = None
        if row.result is not ResultKind.TARGET:
            constant, exact = constant_folding.folded(function, compute, element.kind, [a.constant for a in args], shapes)
            if exact is not None:
                self.report(constant_folding.refused(exact, element.kind, span))
                return self.poison(span)
        if constant is None:
            warning = constant_folding.warned(function, element.kind, [a.type.element for a in args], span)
            if warning is not None:
                self.report(warning)
        values = tuple(a.value for a in args)
        return self.emit(lambda r: Scalar(r, function, values, parameter), ArrayType(element, shape), span, constant=constant)

    def copy_value(self, x: Operand, span: Span) -> Operand:
        """A new value with the content of `x` and all facts about it."""
        copy = self.emit(lambda r: Reshape(r, x.value), x.type, span, static=x.static, constant=x.constant)
        self.sizes.share(copy.value, x.value)
        if x.value in self.facts:
            self.facts[copy.value] = self.facts[x.value]
        return replace(x, value=copy.value)

    # -- sizes

    def runtime_size(
        self, name: str, cap: Size, span: Span, why: str = "known only when it runs", least: int = 0,
        origin: SizeOrigin = SizeOrigin.RUNTIME,
    ) -> SizeVariable:  # fmt: skip
        """A size variable from `least` to `cap`, which the next op emitted will define; its printed name is made unique."""
        return self.sizes.at_run_time(name, cap, self.sink.outside(span), why, least, origin)

    def mask_size(
        self, mask: Operand, cap: Size, span: Span, why: str = "the number of elements this mask keeps"
    ) -> SizeVariable:  # fmt: skip
        """The size variable for the number of true elements of a mask; structurally equal masks share one."""
        before = self.sizes.next[0]
        call = self.sink.outside(span)
        why = why if call == span else "a length of what this call gives"
        size, new_facts = self.sizes.of_mask(mask.value, cap, call, why, self._masks, self.types)
        self.constraints.premises += new_facts
        for count in self._counts if self.sizes.next[0] != before else ():
            if count.mentions(lambda other: self._masks.is_same(other, mask.value)):
                self.constraints.premises += count.facts(self._known_mask)
        return size

    def integer_size(self, x: ValueId, cap: Size, span: Span, least: int) -> SizeVariable:
        """The size variable for an integer; the sum of a mask gets the size of the mask."""
        mask = counted_mask(self, x)
        if mask is not None:
            return self.mask_size(Operand(mask, self.types[mask]), self.types[mask].shape[0], span, _OF_INTEGER)
        before = self.sizes.next[0]
        size = self.sizes.of_integer(x, cap, self.sink.outside(span), least)
        for limit, _ in self._limits if self.sizes.next[0] != before else ():
            if self._masks.is_same(limit.value, x):
                self.constraints.premises += limit.facts(variable(size))
        return size

    def _known_mask(self, mask: ValueId) -> SizeVariable | None:
        return self.sizes.known_mask(mask, self._masks)

    def is_same_value(self, x: Operand, y: Operand) -> bool:
        """Are two values equal because the same ops computed them from the same values?"""
        return self._masks.is_same(x.value, y.value)

    def selection(self, x: Operand) -> Span | None:
        """The span of the mask that selected the elements of x, if its data are known while checking."""
        value, op = x.value, self.definitions.get(x.value)
        while self.facts.get(value, NO_FACTS).selected is None and isinstance(op, Scalar):
            value = max(op.args, key=lambda arg: len(self.types[arg].shape))
            op = self.definitions.get(value)
        return self.facts.get(value, NO_FACTS).selected

    def facts_of(self, x: Operand) -> ValueFacts:
        """The facts about a value besides its type."""
        return self.facts.get(x.value, NO_FACTS)

    def add_facts(self, x: Operand, **facts: Any) -> None:
        """Add facts about a value: fields of `ValueFacts`."""
        self.facts[x.value] = replace(self.facts_of(x), **facts)

    # -- facts

    def equal(self, left: Size, right: Size) -> bool | None:
        """Are two sizes equal?  None if that depends on data or is unknown."""
        return self.constraints.decided(SizeFact(Relation.EQUAL, left, right))

    def at_most(self, left: Size, right: Size) -> bool | None:
        return self.constraints.decided(SizeFact(Relation.AT_MOST, left, right))

    def require(self, obligation: Obligation) -> bool:
        """Discharge an obligation: prove it, or make it a guard if it depends on inputs only; else report an error.

        Returns False only if an error was reported.
        """
        return self.constraints.require(obligation, self.sizes.spans, self.report)

    # -- loops and arms

    def open_loop(self, trip: Size, span: Span) -> LoopIndex:
        """Enter the body of a loop with an index; its facts hold until `close_scope`."""
        name = self.runtime_size(
            "i", truncated_subtract(trip, 1), span, "the number of the iteration", origin=SizeOrigin.LOOP_INDEX
        )
        self._open_scope()
        return self.constraints.open_loop(LoopIndex(name, trip))

    def open_arm(self, alternatives: Sequence[Sequence[Statement]]) -> Arm:
        """Enter an arm of a branch, in which all statements of one of the alternatives hold until `close_scope`."""
        self._open_scope()
        arm = self.constraints.open_arm(self.size_facts(alternatives))
        for statement in alternatives[0] if len(alternatives) == 1 else ():
            if isinstance(statement, IntegerLimits):
                self._limits.append((statement, arm))
            elif isinstance(statement, Count):
                self._counts.append(statement)
        return arm

    def size_facts(self, alternatives: Sequence[Sequence[Statement]]) -> Alternatives:
        """The facts about sizes of each alternative; empty if some alternative states none."""
        facts: list[tuple[SizeFact, ...]] = []
        for statements in alternatives:
            size_facts: list[SizeFact] = []
            for statement in statements:
                if isinstance(statement, SizeFact):
                    size_facts.append(statement)
                elif isinstance(statement, Count):
                    size_facts += [*statement.facts(self._known_mask), *statement.facts_of_lengths(self.types)]
                elif not self.types[statement.value].shape:
                    size = self.sizes.known_integer(statement.value)
                    size_facts += [] if size is None else statement.facts(variable(size))
            facts.append(tuple(size_facts))
        return tuple(facts) if all(facts) else ((),)

    def _open_scope(self) -> None:
        self._scopes.append(_Scope(self.sizes.scope(), len(self._limits), len(self._counts)))

    def close_scope(self) -> None:
        """Leave the body of a loop with an index, or an arm."""
        scope = self._scopes.pop()
        self.sizes.leave(scope.shared)
        del self._limits[scope.limits :], self._counts[scope.counts :]
        self.constraints.close_scope()

    def limited_type(self, value: ValueId) -> ArrayType:
        """The type of a value, with the ranges that the conditions of the enclosing arms give it."""
        limited = self.limited(Operand(value, self.types[value]))
        return limited.type if isinstance(limited, Operand) else self.types[value]

    def limited(self, x: Value) -> Value:
        """The value with the ranges that the conditions of the enclosing arms give it."""
        if not self._limits:
            return x
        if isinstance(x, TupleOperand):
            return type(x)(tuple([self.limited(item) for item in x.items]))
        if x.poisoned or x.static is not None or not x.type.element.kind.is_integer:
            return x
        limits = [(limit, arm) for limit, arm in self._limits if self._masks.is_same(limit.value, x.value)]
        element = narrowed(x.type.element, [limit.low for limit, _ in limits], [limit.high for limit, _ in limits],
                           [limit.other_than for limit, _ in limits])  # fmt: skip
        if element == x.type.element:
            return x
        for _, arm in limits:
            arm.needs_condition = True
        return self.with_type(x, replace(x.type, element=element))

    # -- blocks

    def open_block(self, params: Sequence[ArrayType], span: Span) -> tuple[Operand, ...]:
        """Start a nested block; its parameters are fresh values of these types."""
        operands = tuple(Operand(self.fresh(t, span), t) for t in params)
        self._blocks.append((tuple(o.value for o in operands), []))
        return operands

    def close_block(self, results: Sequence[Operand]) -> Block:
        """End the innermost block (finally the root)."""
        params, ops = self._blocks.pop()
        return Block(params, tuple(ops), tuple(r.value for r in results))

    @property
    def depth(self) -> int:
        """The number of open blocks; 1 at the top of the program."""
        return len(self._blocks)

    # -- speculation

    def mark(self) -> tuple[int, ...]:
        """The lengths of all lists that only grow, for `rollback`."""
        return (len(self.sink.diagnostics), *self.constraints.mark(), *[len(ops) for _, ops in self._blocks])

    def rollback(self, mark: tuple[int, ...]) -> None:
        """Undo what was emitted, reported and required since `mark`; drop the blocks opened since then."""
        diagnostics, premises, guards, solved, *lengths = mark
        del self.sink.diagnostics[diagnostics:]
        self.constraints.rollback((premises, guards, solved))
        del self._blocks[len(lengths) :]
        for (_, ops), length in zip(self._blocks, lengths, strict=True):
            del ops[length:]

    def snapshot(self, fresh_names: bool) -> BuilderState:
        """The state before speculative work, which then reports into an empty sink; `restore` undoes all of it."""
        before = BuilderState(self.next_id, self.mark(), self.sink, self.source_names, self.sizes, self.constraints.clause_site,
                              len(self._scopes))  # fmt: skip
        self.sink, self.source_names, self.sizes = self.sink.trial(), self.source_names.trial(), self.sizes.trial(fresh_names)
        self.next_id = max(self.next_id, self._next_trial)
        return before

    def restore(self, before: BuilderState) -> None:
        """Undo everything since `snapshot`, except that ids of speculative values are not reused."""
        self._next_trial = self.next_id
        self.next_id = before.next if before.next < SPECULATIVE_IDS else self.next_id
        self.sink, self.source_names = before.sink, before.source_names
        self.constraints.clause_site = before.clause_site
        while len(self._scopes) > before.scopes:  # the budget ran out in them
            self.close_scope()
        self.sizes = before.sizes
        self.rollback(before.mark)

    # -- diagnostics

    def report(self, diagnostic: Diagnostic) -> None:
        """Collect a diagnostic, once for each span."""
        self.sink.add(diagnostic)

    def warned(self, index: Operand, message: str, span: Span) -> bool:
        """Was the same warning about this index given for another span?  If several checks of one index fail, a run reports the
        first."""
        return self.sink.warned(index.value, message, span)

    def error(
        self, code: Code, message: str, span: Span, *, label: str = "", labels: Sequence[Label] = (), notes: Sequence[str] = (),
        fixes: Sequence[Fix] = (),
    ) -> Operand:  # fmt: skip
        """Report an error; returns a poisoned value."""
        self.report(Diagnostic(code, message, span, label=label, labels=tuple(labels), notes=tuple(notes), fixes=tuple(fixes)))
        return self.poison(span)

    def text(self, span: Span) -> str:
        """The program's text at a span; empty if its source is unknown."""
        return self.source_names.text(span)

    def span_of(self, x: Operand) -> Span:
        """The span of the last recorded use of a value, else of its definition."""
        return self.source_names.uses.get(x.value, self.spans[x.value])

    def with_type(self, x: Operand, type: ArrayType) -> Operand:
        """The same value with more or less precise element bounds (never another kind or shape)."""
        return replace(x, type=type)


# ---------------------------------------------------------------------------------------------------- conditions
#
# The statements that a condition makes, derived from the ops that computed it: comparisons of sizes are facts about sizes,
# comparisons of an integer are limits of it, `∨/m` and comparisons of `+/m` are facts about the number of true elements of a
# mask. They are a disjunction of conjunctions: `((),)` states nothing, `()` is impossible.  Comparisons of floats state nothing.
#
# A condition of an array (under `∧/`, or under an `∨/` that is false) holds for all of its elements, vacuously if there are none.
# So only arrays of the condition's shape get limits from it.

_CONDITION_DEPTH = 24
_MOST_ALTERNATIVES = 8
_NOTHING: tuple[tuple[Statement, ...], ...] = ((),)
_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_NEGATED = {"nand": "and", "nor": "or"}
_Side = TypeVar("_Side", Size, "Size | ValueId")


def statements_if(
    b: Builder, value: ValueId, holds: bool, depth: int = _CONDITION_DEPTH, every: bool = False
) -> tuple[tuple[Statement, ...], ...]:  # fmt: skip
    """The statements that hold where a bool is `holds`; with `every`, where all elements of an array of bools are."""
    op = b.definitions.get(value)
    if not depth:
        return _NOTHING
    match op:
        case Literal(data=(known,)) if not every and not b.types[value].shape:
            return _NOTHING if bool(known) is holds else ()
        case Scalar(function="not", args=(arg,)):
            return statements_if(b, arg, not holds, depth - 1, every)
        case Scalar(function="convert" | "convert_checked", args=(arg,)) if b.types[arg].element.kind is Kind.BOOL:
            return statements_if(b, arg, holds, depth - 1, every)
        case Scalar(function="and" | "or" | "nand" | "nor" as function, args=args):
            holds = holds is not (function in _NEGATED)
            joined = (_NEGATED.get(function, function) == "and") is holds
            rank = len(b.types[value].shape)
            sides = [
                statements_if(b, arg, holds, depth - 1, every) if len(b.types[arg].shape) == rank else _NOTHING for arg in args
            ]
            if joined:
                return _both(*sides)
            return _NOTHING if every else _either(*sides)
        case Scalar(function=function, args=(x, y)) if function in _OPPOSITE:
            return _compared(b, function if holds else _OPPOSITE[function], x, y, depth, every)
        case Reduce(function="and" | "or" as function, arg=arg) if not every and len(b.types[arg].shape) == 1:
            total = b.types[arg].shape[0]
            if (function == "and") is holds:
                counted = Count(Relation.EQUAL, arg, total if holds else ZERO)
                return _both(((counted,),), statements_if(b, arg, holds, depth - 1, every=True))
            some = Count(Relation.AT_MOST, ONE, arg) if holds else Count(Relation.LESS, arg, total)
            return _both(((some,),), _some_item(b, arg, holds))
        case Library(name="match", args=(x, y)) if not every:
            return _matched(b, x, y, holds, depth)
        case _:
            return _NOTHING


def _both(
    first: tuple[tuple[Statement, ...], ...], second: tuple[tuple[Statement, ...], ...]
) -> tuple[tuple[Statement, ...], ...]:  # fmt: skip
    together = tuple((*x, *y) for x in first for y in second)
    return together if len(together) <= _MOST_ALTERNATIVES else first if len(first) <= _MOST_ALTERNATIVES else second


def _either(*sides: tuple[tuple[Statement, ...], ...]) -> tuple[tuple[Statement, ...], ...]:
    either = tuple([conjunction for side in sides for conjunction in side])
    return either if all(either) and len(either) <= _MOST_ALTERNATIVES else _NOTHING


def _compared(b: Builder, function: str, x: ValueId, y: ValueId, depth: int, every: bool) -> tuple[tuple[Statement, ...], ...]:
    """The statements that a comparison makes where it is true."""
    kinds = [b.types[value].element.kind for value in (x, y)]
    if not all(kind.is_integer or kind is Kind.BOOL for kind in kinds):
        return _NOTHING
    if Kind.BOOL in kinds:
        return _truth(b, function, x, y, depth, every)
    statements: list[Statement] = [_fact(function, *pair) for pair in _item_pairs(b, x, y)] if every else []
    if not every:
        sizes = [b.sequences.size(value) for value in (x, y)]
        left, right = [counted_mask(b, value) if size is None else size for value, size in zip((x, y), sizes, strict=True)]
        if isinstance(left, Size) and isinstance(right, Size):
            return ((_fact(function, left, right),),)
        if left is not None and right is not None:
            statements.append(Count(*_related(function, left, right)))
    for value, other, relation in ((x, y, function), (y, x, _SWAPPED[function])):
        if not every or len(b.types[value].shape) == max(len(b.types[x].shape), len(b.types[y].shape)):
            statements += _limits(b, value, relation, other)
    return (tuple(statements),)


def _truth(b: Builder, function: str, x: ValueId, y: ValueId, depth: int, every: bool) -> tuple[tuple[Statement, ...], ...]:
    """The statements that the comparison of a bool with 0 or 1 makes, as in `1=n>3`."""
    for value, other in ((x, y), (y, x)):
        op = b.definitions.get(other)
        if isinstance(op, Literal) and not b.types[other].shape and function in ("eq", "ne"):
            return statements_if(b, value, bool(op.data[0]) is (function == "eq"), depth - 1, every)
    if every and function in ("eq", "le", "ge") and len(b.types[x].shape) == len(b.types[y].shape) == 1:
        return ((Count(*_related(function, x, y)),),)
    return _NOTHING


def _fact(function: str, a: Size, c: Size) -> SizeFact:
    if function == "eq" and (divides := _divides(a, c) or _divides(c, a)) is not None:
        return divides
    return SizeFact(*_related(function, a, c))


def _related(function: str, a: _Side, c: _Side) -> tuple[Relation, _Side, _Side]:
    if function in ("gt", "ge"):
        function, a, c = _SWAPPED[function], c, a
    return {"lt": Relation.LESS, "le": Relation.AT_MOST, "eq": Relation.EQUAL, "ne": Relation.NOT_EQUAL}[function], a, c


def _divides(zero: Size, size: Size) -> SizeFact | None:
    """The fact `d∣n` for `0 = d|n`; None for another equality."""
    lone = size.terms[0][0][0][0] if len(size.terms) == 1 and size.terms[0][0] else None
    if zero != ZERO or not isinstance(lone, NonlinearAtom) or lone.kind is not AtomKind.REMAINDER:
        return None
    return SizeFact(Relation.DIVIDES, lone.args[1], lone.args[0]) if size.terms[0] == (((lone, 1),), 1) else None


def counted_mask(b: Builder, value: ValueId) -> ValueId | None:
    """The mask whose true elements an integer counts; None if it was computed otherwise."""
    op = _unconverted(b, value)
    if not isinstance(op, Reduce) or op.function != "add":
        return None
    arg, inner = op.arg, b.definitions.get(op.arg)
    while isinstance(inner, Scalar) and inner.function == "convert":
        arg = inner.args[0]
        inner = b.definitions.get(arg)
    return arg if b.types[arg].element.kind is Kind.BOOL and len(b.types[arg].shape) == 1 else None


def _unconverted(b: Builder, value: ValueId) -> Op | None:
    op = b.definitions.get(value)
    while isinstance(op, Scalar) and op.function == "convert":
        op = b.definitions.get(op.args[0])
    return op


def _matched(b: Builder, x: ValueId, y: ValueId, holds: bool, depth: int) -> tuple[tuple[Statement, ...], ...]:
    """The statements of `x≡y` for two arrays of one rank: where it holds, all lengths and items are equal; else some known item
    differs."""
    if not b.types[x].shape:
        return _compared(b, "eq" if holds else "ne", x, y, depth, every=False)
    shapes = zip(b.types[x].shape, b.types[y].shape, strict=True)
    pairs = _item_pairs(b, x, y)
    if holds:
        lengths = tuple([SizeFact(Relation.EQUAL, *pair) for pair in shapes])
        sizes = tuple([_fact("eq", *pair) for pair in pairs])
        return _both(((*lengths, *sizes),), _compared(b, "eq", x, y, depth, every=True))
    return _either(*[((_fact("ne", *pair),),) for pair in pairs]) if pairs else _NOTHING


def _some_item(b: Builder, value: ValueId, holds: bool) -> tuple[tuple[Statement, ...], ...]:
    """The statements where at least one element of a comparison of known items is `holds`."""
    match b.definitions.get(value):
        case Scalar(function=function, args=(x, y)) if function in _OPPOSITE and (pairs := _item_pairs(b, x, y)):
            return _either(*[((_fact(function if holds else _OPPOSITE[function], *pair),),) for pair in pairs])
        case _:
            return _NOTHING


def _item_pairs(b: Builder, x: ValueId, y: ValueId) -> list[tuple[Size, Size]]:
    """The pairs of sizes that a comparison of two vectors, or of a vector and a scalar, meets; empty if an item is unknown."""
    first, second = b.sequences.items(x), b.sequences.items(y)
    of_x, of_y = b.sequences.size(x), b.sequences.size(y)
    if first is None and second is not None and of_x is not None:
        first = (of_x,) * len(second)
    if second is None and first is not None and of_y is not None:
        second = (of_y,) * len(first)
    return list(zip(first, second, strict=True)) if first and second and len(first) == len(second) else []


def _limits(b: Builder, value: ValueId, function: str, other: ValueId) -> list[Statement]:
    """The limits that a comparison with `other` gives an integer and, if it is the maximum or minimum of items, those items."""
    element = b.limited_type(other).element
    size = b.sequences.size(other)
    low, high = (size, size) if size is not None else _range(element)
    limits: IntegerLimits | None = None
    match function:
        case "lt" | "le" if high is not None:
            limits = IntegerLimits(value, high=high if function == "le" else high - 1)
        case "gt" | "ge" if low is not None:
            limits = IntegerLimits(value, low=low if function == "ge" else low + 1)
        case "eq":
            limits = IntegerLimits(value, low, high)
        case "ne" if size is not None:
            limits = IntegerLimits(value, other_than=size)
    if limits is None:
        return []
    op = b.definitions.get(value)
    while isinstance(op, Scalar) and op.function == "convert" and b.types[op.args[0]].element.kind.is_integer:
        value = op.args[0]
        op = b.definitions.get(value)
    statements: list[Statement] = [limits] if value == limits.value else [limits, replace(limits, value=value)]
    if isinstance(op, Reduce) and op.function in ("max", "min"):
        limit = IntegerLimits(op.arg, high=limits.high) if op.function == "max" else IntegerLimits(op.arg, low=limits.low)
        statements.append(limit)
    return statements


def _range(element: Element) -> tuple[Size | None, Size | None]:
    low, top = size_range(element)
    return low if surely_unwrapped(element) else None, top


def condition_decided(
    b: Builder, alternatives: Sequence[Sequence[Statement]], opposite: Sequence[Sequence[Statement]]
) -> bool | None:  # fmt: skip
    """True if a condition holds for all data, False if it holds for none, else None."""
    if _impossible(b, opposite):
        return True
    return False if _impossible(b, alternatives) else None


def _impossible(b: Builder, alternatives: Sequence[Sequence[Statement]]) -> bool:
    return all(any(b.constraints.decided(fact) is False for fact in facts) for facts in b.size_facts(alternatives))
