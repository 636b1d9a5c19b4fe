"""The builder: the one place that appends core ops, records types and spans, and collects obligations and diagnostics.

Elaboration rules never construct a `Core` themselves; they call `emit` (or a named helper) on a builder.
Blocks nest: the root block is open from the start, `open_block` starts one inside, `close_block` ends it.

What a builder remembers beside the ops: facts in scope (`premises`), facts that loading must check (`guards`), those that a
solver proved, which loading checks too (`solved`), what calls promise about reads (`promises`), which mask or integer names
which run-time size, the exact quotient behind an integer division (`quotients`, so that `⌊n÷2` is a size), what a negated
value was (`negated`, so that `(-+/m)↓x` is bounded), which cells a mask of known data kept (`selected`), where the program
mentions a value (`uses`), which calls are being expanded (`calls`), the function being applied (`glyph`, for messages), the
declarations that may say more of sizes (`clause_site` of the signature being checked, else `input_sites`), and by what the
body being expanded was proved for all sizes (`proof`).

Neighbours: `rules` and `elaborate` call it; `decide` answers its questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..lang.diagnostics import Diagnostic, Fix, Label, Severity, Verdict
from ..lang.source import Source, Span
from . import overflow
from .agreement import principal_frame
from .clauses import ClauseSite, first_clause
from .conversions import Conversions
from .core import Block, CoreCall, CoreGuard, Literal, Op, Payload, Reshape, Scalar, SizeVector, ValueId
from .decide import Decision, decide, settle
from .elements import Element, Kind, ranged
from .folding import MOST_ITEMS, Overflow, fold
from .indices import LoopIndex, guards_of, is_of_turns, mentioned, note_premises
from .mask_facts import MaskFacts
from .obligations import Obligation, Proof, Relation, SizeFact
from .operands import Operand
from .scalars import FUNCTIONS, ResultKind
from .sequences import Sequences
from .sizes import Size, SizeOrigin, SizeVariable, monus, product, variable
from .types import ArrayType
from .undecided import describe

MOST_AXES = 15  # as in other APLs; libraries stop at 32 or 64, and a window doubles the axes
MOST_SIZES = 256  # longest literal that is also kept as sizes


class Snapshot(NamedTuple):
    """What a builder remembers beside ops, as it was."""

    mark: tuple[int, ...]
    diagnostics: list[Diagnostic]
    uses: dict[ValueId, Span]
    names: dict[ValueId, str]
    size_names: dict[str, int]
    mask_sizes: dict[ValueId, SizeVariable]
    same_mask: dict[ValueId, ValueId]
    value_sizes: dict[ValueId, SizeVariable]
    calls: list[Span]
    clause_site: ClauseSite | None


class Builder(Conversions):
    """See the module's docstring.  `index_origin` is that of the file being elaborated; callers set it."""

    def __init__(self, index_origin: int = 0) -> None:
        self.index_origin = index_origin
        self.glyph = "f"
        self.types: dict[ValueId, ArrayType] = {}
        self.spans: dict[ValueId, Span] = {}
        self.names: dict[ValueId, str] = {}
        self.sources: list[Source] = []
        self.calls: list[Span] = []
        self.uses: dict[ValueId, Span] = {}
        self.diagnostics: list[Diagnostic] = []
        self.premises: list[SizeFact] = []
        self.guards: list[CoreGuard] = []
        self.solved: list[CoreGuard] = []
        self.promises: list[CoreCall] = []
        self.clause_site: ClauseSite | None = None
        self.input_sites: list[ClauseSite] = []
        self.proof = Proof.NONE
        self.quotients: dict[ValueId, tuple[tuple[Size, Size], ...]] = {}
        self.size_spans: dict[SizeVariable, tuple[Span, str]] = {}
        self.logarithms: dict[ValueId, int] = {}
        self.negated: dict[ValueId, Operand] = {}
        self.residues: dict[ValueId, Size] = {}
        self.selected: dict[ValueId, Span] = {}
        self._definitions: dict[ValueId, Op] = {}
        self._facts = MaskFacts(self._definitions, self.types, self.at_most)
        self.sequences = Sequences(self._definitions, self.types, self.at_most)
        self.loops: list[LoopIndex] = []
        self._mask_sizes: dict[ValueId, SizeVariable] = {}
        self._same_mask: dict[ValueId, ValueId] = {}
        self._value_sizes: dict[ValueId, SizeVariable] = {}
        self._size_names: dict[str, int] = {}
        self._index_warnings: dict[tuple[ValueId, str], Span] = {}
        self._blocks: list[tuple[tuple[ValueId, ...], list[Op]]] = [((), [])]
        self._next_value = 0
        self._next_size = 0

    # -- values and ops

    def fresh(self, type: ArrayType, span: Span) -> ValueId:
        """A new value id of this type; the caller emits the op that defines it."""
        value = ValueId(self._next_value)
        self._next_value += 1
        self.types[value] = type
        self.spans[value] = span
        return value

    @property
    def next_value(self) -> ValueId:
        """The id that the next value gets."""
        return ValueId(self._next_value)

    def emit(
        self, make: Callable[[ValueId], Op], type: ArrayType, span: Span, *, static: Size | tuple[Size, ...] | None = None,
        constant: tuple[Payload, ...] | None = None,
    ) -> Operand:  # fmt: skip
        """Append the op that defines one new value."""
        if type.rank > MOST_AXES:
            return self.error("E620", f"this array would have {type.rank} axes; at most {MOST_AXES} are supported", span)
        if self._intricate((type,), span):
            return self.poison(span)
        value = self.fresh(type, span)
        self._definitions[value] = op = make(value)
        self._blocks[-1][1].append(op)
        return Operand(value, type, static, constant)

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
        """E610 for a size that no reader and no proof can follow; every rule adds little, so this bounds them all."""
        if all(size.is_simple() for type in types for size in type.shape):
            return False
        self.error("E610", "the length of an axis is too long a formula here", span,
                   notes=("it grows with every step: each joins or drops parts of the step before",))  # fmt: skip
        return True

    def effect(self, op: Op) -> None:
        """Append an op without results (`Print`, `RuntimeSize`)."""
        self._blocks[-1][1].append(op)

    def latest(self) -> Op | None:
        """The last op of the innermost block."""
        ops = self._blocks[-1][1]
        return ops[-1] if ops else None

    def literal(self, data: Sequence[Payload], type: ArrayType, span: Span) -> Operand:
        """A constant; a scalar or short vector of integers also gets its static sizes."""
        payload = tuple(data)
        static: Size | tuple[Size, ...] | None = None
        if type.element.kind is Kind.I64 and type.element.below is None and type.rank <= 1 and len(payload) <= MOST_SIZES:
            sizes = tuple(Size({(): int(p)}) for p in payload if isinstance(p, int))
            static = sizes if type.rank else sizes[0]
        kept = payload if len(payload) <= MOST_ITEMS else None
        return self.emit(lambda r: Literal(r, payload), type, span, static=static, constant=kept)

    def size_value(self, size: Size, span: Span) -> Operand:
        """A size (or a difference of sizes) as a weak scalar i64."""
        low, high = size.bounds()
        type = ArrayType(ranged(Kind.I64, low, high, weak=True), ())
        if size.constant is not None:
            return self.emit(lambda r: Literal(r, (size.constant or 0,)), type, span, static=size, constant=(size.constant,))
        return self.emit(lambda r: SizeVector(r, (size,), True), type, span, static=size)

    def size_vector(self, sizes: Sequence[Size], span: Span) -> Operand:
        """Sizes as a weak vector of i64."""
        given = tuple(sizes)
        bounds = [s.bounds() for s in given]
        lows = [low for low, _ in bounds if low is not None]
        highs = [high for _, high in bounds if high is not None]
        low = min(lows, default=None) if len(lows) == len(given) else None
        high = max(highs, default=None) if len(highs) == len(given) else None
        type = ArrayType(ranged(Kind.I64, low, high, weak=True), (Size({(): len(given)}),))
        numbers = tuple(c for s in given if (c := s.constant) is not None)
        if len(numbers) == len(given):
            return self.emit(lambda r: Literal(r, numbers), type, span, static=given, constant=numbers)
        return self.emit(lambda r: SizeVector(r, given, False), type, span, static=given)

    def poison(self, span: Span) -> Operand:
        """A value that stands for an error already reported."""
        type = ArrayType(Element(Kind.F64), ())
        return Operand(self.fresh(type, span), type, poisoned=True)

    def name(self, x: Operand, name: str) -> None:
        """Remember what the program calls a value (the first name stays)."""
        self.names.setdefault(x.value, name)

    def scalar(self, function: str, args: Sequence[Operand], element: Element, span: Span, parameter: int = 0) -> Operand:
        """Element-wise work with prefix agreement (E101); operands already have the compute kind."""
        poisoned = next((a for a in args if a.poisoned), None)
        if poisoned is not None:
            return poisoned
        shape = principal_frame(self, args, span)
        if shape is None:
            return self.poison(span)
        row = FUNCTIONS[function]
        compute = args[-1].type.element.kind
        shapes = [tuple(s.constant for s in a.type.shape) for a in args]
        constant = None
        if row.result is not ResultKind.TARGET:
            try:
                constant = fold(function, compute, element.kind, [a.constant for a in args], shapes)
            except Overflow as found:
                self.report(overflow.refused(found.value, element.kind, span))
                return self.poison(span)
        if constant is None:
            warning = overflow.warned(function, element.kind, [a.type.element for a in args], span)
            if warning is not None:
                self.report(warning)
        values = tuple(a.value for a in args)
        return self.emit(lambda r: Scalar(r, function, values, parameter), ArrayType(element, shape), span, constant=constant)

    def again(self, x: Operand, span: Span) -> Operand:
        """The same array as a value of its own, of which everything is known that is known of `x`."""
        made = self.emit(lambda r: Reshape(r, x.value), x.type, span, static=x.static, constant=x.constant)
        self._same_mask[made.value] = self._same_mask.get(x.value, x.value)
        if x.value in self.quotients:
            self.quotients[made.value] = self.quotients[x.value]
        if x.value in self.negated:
            self.negated[made.value] = self.negated[x.value]
        return replace(x, value=made.value)

    # -- sizes

    def size_variable(self, name: str, origin: SizeOrigin, cap: Size | None = None, minimum: int = 0) -> SizeVariable:
        """A new size variable; ids count up in the order of creation."""
        self._size_names.setdefault(name, 1)
        made = SizeVariable(name, self._next_size, origin, cap, minimum)
        self._next_size += 1
        return made

    def size_of(self, which: SizeVariable) -> Size:
        return variable(which)

    def runtime_size(
        self, name: str, cap: Size, span: Span, why: str = "known only when it runs", least: int = 0,
        origin: SizeOrigin = SizeOrigin.RUNTIME,
    ) -> SizeVariable:  # fmt: skip
        """A size from `least` to `cap` that an op emitted next will define; its printed name is made unique."""
        count = self._size_names.get(name, 0)
        while count and f"{name}{count + 1}" in self._size_names:
            count += 1
        self._size_names[name] = count + 1
        made = self.size_variable(name if count == 0 else f"{name}{count + 1}", origin, cap, least)
        self.size_spans[made] = (span, why)
        return made

    def mask_size(self, mask: Operand, cap: Size, span: Span) -> SizeVariable:
        """The number of true elements of a mask: masks computed alike name one size, however often they are used."""
        value = self._same_mask.get(mask.value, mask.value)
        known = self._mask_sizes.get(value)
        if known is None:
            known = next((size for other, size in self._mask_sizes.items() if self._facts.same(other, value)), None)
            if known is None:
                least = self._facts.least(value)
                known = self.runtime_size("k", cap, span, "the number of elements this mask keeps", least)
                opposite = next((size for other, size in self._mask_sizes.items() if self._facts.opposite(other, value)), None)
                if opposite is not None:
                    together = variable(opposite) + variable(known)
                    self.premises.append(SizeFact(Relation.EQUAL, together, product(self.types[mask.value].shape)))
            self._mask_sizes[value] = known
        return known

    def alike(self, x: Operand, y: Operand) -> bool:
        """Are these the same value, made once or twice?"""
        return self._facts.same(x.value, y.value)

    def selection(self, x: Operand) -> Span | None:
        """The mask of known data that says how many elements x has."""
        value, op = x.value, self._definitions.get(x.value)
        while value not in self.selected and isinstance(op, Scalar):
            value = max(op.args, key=lambda arg: len(self.types[arg].shape))
            op = self._definitions.get(value)
        return self.selected.get(value)

    def share_mask(self, mask: Operand, original: Operand) -> None:
        """`mask` is `original` in another kind: both name one size."""
        if mask.value != original.value:
            self._same_mask[mask.value] = self._same_mask.get(original.value, original.value)

    def value_size(self, x: Operand, cap: Size, span: Span, least: int = 0) -> SizeVariable:
        """The run-time size that an integer value names: one value names one size."""
        value = self._same_mask.get(x.value, x.value)
        known = self._value_sizes.get(value)
        if known is None:
            known = self.runtime_size("k", cap, span, "the value of this integer", least)
            self._value_sizes[value] = known
        return known

    def equal(self, left: Size, right: Size) -> bool | None:
        """Decided equality of two sizes; None if it depends or is unknown."""
        return self._decided(SizeFact(Relation.EQUAL, left, right))

    def at_most(self, left: Size, right: Size) -> bool | None:
        return self._decided(SizeFact(Relation.AT_MOST, left, right))

    def _decided(self, fact: SizeFact) -> bool | None:
        if fact.left == fact.right:
            return fact.relation is not Relation.LESS
        verdict = settle(fact, self.premises)
        if self.loops and verdict is not Verdict.UNKNOWN:
            note_premises(fact, verdict, self.premises, self.loops)
        match verdict:
            case Verdict.PROVED:
                return True
            case Verdict.NEVER:
                return False
            case _:
                return None

    def require(self, obligation: Obligation) -> bool:
        """Discharge an obligation: report what can never hold or cannot be checked at load, guard what depends on inputs.

        Returns False only if an error was reported.
        """
        fact = obligation.fact
        decision = decide(fact, self.premises) if self.proof is Proof.NONE else self._trusted(fact)
        if decision.verdict is Verdict.PROVED:
            if self.loops:
                note_premises(fact, Verdict.PROVED, self.premises, self.loops)
            if decision.by_solver and fact.left != fact.right:
                self._solved(CoreGuard(fact, obligation))
            return True
        guards: tuple[CoreGuard, ...] = (CoreGuard(fact, obligation),)
        if decision.verdict is not Verdict.NEVER and is_of_turns(fact, self.loops):
            guards = guards_of(obligation, self.loops)
        diagnostic = describe(obligation, decision, self.premises, self.size_spans, self.sites(), guards,
                              signed=self.clause_site is not None)  # fmt: skip
        self.report(diagnostic)
        if diagnostic.severity is Severity.WARNING:
            for guard in guards:
                if all(g.fact != guard.fact or g.obligation.span != obligation.span for g in self.guards):
                    self.guards.append(guard)
            self.premises.append(fact)  # nothing runs unless it holds
            return True
        if self.clause_site is not None and decision.verdict is not Verdict.NEVER:
            self.premises.append(fact)  # asked for once
        return False

    def sites(self) -> Sequence[ClauseSite]:
        """The declarations whose `where` may say more: the signature being checked, else the inputs."""
        return self.input_sites if self.clause_site is None else (self.clause_site,)

    def clause(self, fact: SizeFact) -> tuple[Fix, ...]:
        """The `where` that would prove a fact that is neither proved nor refuted."""
        return first_clause(fact, self.premises, self.sites()) if settle(fact, self.premises) is Verdict.UNKNOWN else ()

    def _trusted(self, fact: SizeFact) -> Decision:
        """In a body proved for all sizes only what numbers refute would be news (a bug in the proof)."""
        if fact.left.constant is not None and fact.right.constant is not None:
            return decide(fact)
        return Decision(Verdict.PROVED, by_solver=self.proof is Proof.SOLVER)

    def _solved(self, guard: CoreGuard) -> None:
        """Remember a fact to be evaluated when the program is loaded, or in each turn of a loop whose index may have served to
        prove it, unless other sizes that a run finds are in it: those are checked where they are used."""
        if self.loops and (is_of_turns(guard.fact, self.loops) or not guard.fact.is_runtime()):
            self.guards.append(CoreGuard(guard.fact, guard.obligation, self.loops[-1].variable))
        elif not guard.fact.is_runtime():
            self.solved.append(guard)

    # -- loops that know where they are

    def open_loop(self, trip: Size, span: Span) -> LoopIndex:
        """Enter the body of a loop with an index; its facts hold until `close_loop`."""
        name = self.runtime_size("i", monus(trip, 1), span, "the number of the turn", origin=SizeOrigin.TURN)
        made = LoopIndex(name, trip)
        self.loops.append(made)
        self.premises.append(made.premise)
        return made

    def close_loop(self) -> None:
        """Leave it: of what was learnt inside only what loading checks whatever happens still holds."""
        loop = self.loops.pop()
        start = self.premises.index(loop.premise)
        whatever = [g.fact for g in self.guards if g.index is None and g.runs is None]
        self.premises[start:] = [p for p in self.premises[start + 1 :] if p in whatever and loop.variable not in mentioned(p)]

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
        """How many blocks are open; 1 at the top of the program."""
        return len(self._blocks)

    # -- trials

    def mark(self) -> tuple[int, ...]:
        """Where a trial starts, for `rollback`."""
        counts = (len(self.diagnostics), len(self.premises), len(self.guards), len(self.solved))
        return (*counts, *[len(ops) for _, ops in self._blocks])

    def rollback(self, mark: tuple[int, ...]) -> None:
        """Undo what was emitted, reported and required since `mark`; blocks opened since then are dropped."""
        diagnostics, premises, guards, solved, *lengths = mark
        del self.diagnostics[diagnostics:], self.premises[premises:], self.guards[guards:], self.solved[solved:]
        del self._blocks[len(lengths) :]
        for (_, ops), length in zip(self._blocks, lengths, strict=True):
            del ops[length:]

    def snapshot(self, fresh_names: bool) -> Snapshot:
        """Where work starts that is to leave no trace: what it reports is apart from what was reported before."""
        before = Snapshot(
            self.mark(), self.diagnostics, self.uses, self.names, self._size_names, self._mask_sizes, self._same_mask,
            self._value_sizes, self.calls, self.clause_site,
        )  # fmt: skip
        self.diagnostics, self.uses, self.names, self.calls = [], dict(self.uses), dict(self.names), list(self.calls)
        self._size_names = {} if fresh_names else dict(self._size_names)
        self._mask_sizes, self._same_mask = dict(self._mask_sizes), dict(self._same_mask)
        self._value_sizes = dict(self._value_sizes)
        return before

    def restore(self, before: Snapshot) -> None:
        """Undo everything since `snapshot`; only ids stay used up."""
        self.diagnostics, self.uses, self.names = before.diagnostics, before.uses, before.names
        self._size_names, self._mask_sizes, self._same_mask = before.size_names, before.mask_sizes, before.same_mask
        self._value_sizes, self.calls, self.clause_site = before.value_sizes, before.calls, before.clause_site
        self.rollback(before.mark)

    # -- diagnostics

    def report(self, diagnostic: Diagnostic) -> None:
        """Collect a diagnostic; the same one at the same place only once."""
        same = (diagnostic.code, diagnostic.message, diagnostic.span)
        if any((d.code, d.message, d.span) == same for d in self.diagnostics[-50:]):
            return
        if diagnostic.code == "W310" and any(d.code == "W310" and d.span == diagnostic.span for d in self.diagnostics):
            return  # one check in the text, however often it is expanded
        if self.calls and diagnostic.code[:2] not in ("E0", "E6"):
            labelled = {label.span for label in diagnostic.labels}
            places = [span for span in dict.fromkeys((self.calls[0], self.calls[-1])) if span not in labelled]
            diagnostic = replace(diagnostic, labels=(*diagnostic.labels, *[Label(span, "in this call") for span in places]))
        self.diagnostics.append(diagnostic)

    def warned(self, index: Operand, message: str, span: Span) -> bool:
        """Was this said of the same index elsewhere?  Of several checks that fail a program meets the first."""
        before = self._index_warnings.get((index.value, message))
        if before is not None and any(d.code == "W310" and d.span == before for d in self.diagnostics):
            return True
        self._index_warnings[index.value, message] = span
        return False

    def error(
        self, code: str, message: str, span: Span, *, label: str = "", labels: Sequence[Label] = (), notes: Sequence[str] = (),
        fixes: Sequence[Fix] = (),
    ) -> Operand:  # fmt: skip
        """Report an error and give a poisoned value."""
        self.report(Diagnostic(code, message, span, label=label, labels=tuple(labels), notes=tuple(notes), fixes=tuple(fixes)))
        return self.poison(span)

    def text(self, span: Span) -> str:
        """The program's text there; empty if its source is not at hand."""
        return next((source.text[span.start : span.end] for source in self.sources if source.name == span.file), "")

    def where(self, x: Operand) -> Span:
        """Where the program mentions a value: its last use if recorded, else where it was made."""
        return self.uses.get(x.value, self.spans[x.value])

    def retyped(self, x: Operand, type: ArrayType) -> Operand:
        """The same value under a type that says more or less (never another kind or shape)."""
        return replace(x, type=type)
