"""Rewrite rules: a pattern, a condition, a replacement, and what the rule preserves.

A rule matches one phase and the producers of its operands, and replaces phases by others at the same positions; values that other
phases read keep their ids and meaning.  `apply_rules` applies one rule after the other to the full graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ....typechecker.core.operations import Payload
from ....typechecker.elements import ArrayType, Kind
from ....typechecker.sizes.polynomials import ZERO, number
from ..phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    Constant,
    ConstantNode,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    Rewritten,
    Stage,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from ..projections import Shape, axis_index, frame_of, framed_of, simplify
from ..registry import signature_of
from ..traverse import all_phases, operands, results, subgraphs, with_subgraphs
from .rewriting import is_view

# ---------------------------------------------------------------------------------------------------- patterns
#
# Patterns: library phases and reductions over named values.
#
# A pattern is matched against a phase, then against the producers of its operands.  A name that occurs twice must match the same
# value (patterns are not linear).

@dataclass(frozen=True, slots=True)
class AnyPattern:
    """Any value."""

    name: str


@dataclass(frozen=True, slots=True)
class ConstantPattern:
    """A constant."""

    name: str


@dataclass(frozen=True, slots=True)
class OpPattern:
    """A library phase with these `attributes`; None is an attribute that must be absent or False.

    `framed`: it may have a frame, which every operand must carry."""

    op: str
    args: tuple[Pattern, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    framed: bool = False


@dataclass(frozen=True, slots=True)
class ReducedPattern:
    """A reduction of the value that `arg` names already, along its last axis, with one of some functions."""

    functions: frozenset[str]
    arg: AnyPattern


Pattern: TypeAlias = AnyPattern | ConstantPattern | OpPattern | ReducedPattern


@dataclass(slots=True)
class PatternMatch:
    """A match: `values` by the names of the pattern, and the matched `phases`, outermost first."""

    values: dict[str, ValueId]
    phases: list[Phase]

    def __getitem__(self, name: str) -> ValueId:
        return self.values[name]

    @property
    def root(self) -> LibraryPhase:
        (first, *_) = self.phases
        assert isinstance(first, LibraryPhase)
        return first

    def library(self, position: int) -> LibraryPhase:
        phase = self.phases[position]
        assert isinstance(phase, LibraryPhase)
        return phase


def matched(pattern: OpPattern, phase: Phase, makers: Mapping[ValueId, Phase]) -> PatternMatch | None:
    """The match of the pattern with a phase; None if there is none."""
    match = PatternMatch({}, [])
    return match if _phase(pattern, phase, makers, match) else None


def _phase(pattern: OpPattern, phase: Phase | None, makers: Mapping[ValueId, Phase], match: PatternMatch) -> bool:
    if not isinstance(phase, LibraryPhase) or phase.op != pattern.op or len(phase.args) != len(pattern.args):
        return False
    if frame_of(phase) and not (pattern.framed and all(framed_of(phase))):
        return False
    for name, wanted in pattern.attributes.items():
        value = phase.attributes.get(name)
        if value != wanted and not (wanted is None and value is False):
            return False
    match.phases.append(phase)
    return all(_value(argument, arg, makers, match) for argument, arg in zip(pattern.args, phase.args, strict=True))


def _value(pattern: Pattern, value: ValueId, makers: Mapping[ValueId, Phase], match: PatternMatch) -> bool:
    match pattern:
        case AnyPattern():
            return match.values.setdefault(pattern.name, value) == value
        case ConstantPattern():
            return isinstance(makers.get(value), Constant) and match.values.setdefault(pattern.name, value) == value
        case OpPattern():
            return _phase(pattern, makers.get(value), makers, match)
        case ReducedPattern():
            phase = makers.get(value)
            if not isinstance(phase, Structured):
                return False
            read = _reduced(phase, value, pattern.functions)
            match.phases.append(phase)
            bound = match.values.get(pattern.arg.name)
            return read is not None and bound is not None and _is_of(read, bound, makers)


def _reduced(phase: Structured, value: ValueId, functions: frozenset[str]) -> Read | None:
    """The read that the reduction reduces directly; None if it computes something first, or reduces with another function."""
    result = next(result for result in phase.results if result.value == value)
    node = phase.body[result.node]
    return phase.reads[node.index] if result.reduction in functions and isinstance(node, ReadNode) else None


def _is_of(read: Read, value: ValueId, makers: Mapping[ValueId, Phase]) -> bool:
    """Does the read take the items of `value`, directly or, if the value is a view, from the view's operand?"""
    if read.value == value and not read.projection.stages:
        return True
    view = makers.get(value)
    return view is not None and is_view(view) and isinstance(view, Structured) and view.reads[0] == read


# ---------------------------------------------------------------------------------------------------- rule

class Preserves(Enum):
    """What a rule preserves."""

    BITS = "the bits"
    BITS_UNLESS_NAN = "the bits unless there is a NaN, for which the new phases look"
    TOLERANCE = "the value within the tolerance that the old phases had"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`phases`: the replacements of each phase; `types` of new values and of those whose type changes."""

    phases: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType] = field(default_factory=dict)


Rewriter: TypeAlias = "Callable[[PatternMatch, RewriteScope], Rewrite | None]"


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """`rewrite` returns None where the rule's condition does not hold.  `says`: the message in the plan (empty: none).

    `examples`: functions of one vector that the rule changes; a test compares each with the reference on all short vectors."""

    name: str
    doc: str
    preserves: Preserves
    pattern: OpPattern
    rewrite: Rewriter
    says: str = ""
    examples: tuple[str, ...] = ()


_MAX_ROUNDS: Final = 16
"""Rounds of one rule: of overlapping matches each round rewrites one."""


class RewriteScope:
    """A graph with the indices that rules need: the producer, the readers and the block of each value; and fresh ids."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types = graph.types
        self.makers: dict[ValueId, Phase] = {}
        self._readers: dict[ValueId, list[Phase | None]] = {value: [None] for value in graph.roots}
        self._positions: dict[PhaseId, tuple[int, int]] = {}  # the block, and the position in it
        self._number(graph.phases)
        for phase in all_phases(graph):
            for value in results(phase):
                self.makers[value] = phase
            for value in operands(phase):
                self._readers.setdefault(value, []).append(phase)
            for sub in subgraphs(phase):
                for value in sub.results:
                    self._readers.setdefault(value, []).append(None)
        self._next_value = max(graph.types, default=0)
        self._next_phase = max((phase.id for phase in all_phases(graph)), default=0)

    def readers(self, value: ValueId) -> list[Phase | None]:
        """The readers of a value; None stands for a block's result or a schedule, which read all of it."""
        return self._readers.get(value, [])

    def in_same_block(self, phase: Phase, other: Phase) -> bool:
        """Are both in one block?"""
        return self._positions[phase.id][0] == self._positions[other.id][0]

    def is_available(self, value: ValueId, phase: Phase) -> bool:
        """Is a value, which the phase's block may read, defined before the phase?"""
        maker = self.makers.get(value)
        return maker is None or not self.in_same_block(maker, phase) or self._positions[maker.id] < self._positions[phase.id]

    def _number(self, phases: tuple[Phase, ...]) -> None:
        block = len(self._positions)
        for position, phase in enumerate(phases):
            self._positions[phase.id] = (block, position)
        for phase in phases:
            for sub in subgraphs(phase):
                self._number(sub.phases)

    def value(self) -> ValueId:
        self._next_value += 1
        return ValueId(self._next_value)

    def phase(self) -> PhaseId:
        self._next_phase += 1
        return PhaseId(self._next_phase)


def apply_rules(rules: tuple[RewriteRule, ...], graph: Graph) -> Graph:
    """The graph after every rule; the same object if none matched."""
    scope: RewriteScope | None = None
    ops = {phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)}
    for rule in rules:
        if rule.pattern.op not in ops:
            continue
        for _ in range(_MAX_ROUNDS):
            scope = RewriteScope(graph) if scope is None or scope.graph is not graph else scope
            changed = _apply(rule, scope)
            if changed is graph:
                break
            graph = changed
            ops = {phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)}
    return graph


def _apply(rule: RewriteRule, scope: RewriteScope) -> Graph:
    graph = scope.graph
    phases: dict[PhaseId, tuple[Phase, ...]] = {}
    types = dict(graph.types)
    notes: list[Rewritten] = []
    for phase in all_phases(graph):
        match = matched(rule.pattern, phase, scope.makers)
        change = None if match is None else rule.rewrite(match, scope)
        if change is None or any(matched_phase in phases for matched_phase in change.phases):
            continue
        phases |= change.phases
        types |= change.types
        if rule.says:
            notes.append(Rewritten(rule.name, rule.says, phase.span))
    if not phases:
        return graph
    notes = [note for note in notes if note not in graph.rewritten]
    block = _Replacing(phases, types).block(graph.phases)
    return replace(graph, phases=block, types=types, rewritten=(*graph.rewritten, *notes))


@dataclass(frozen=True, slots=True)
class _Replacing:
    replacements: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType]

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        rewritten: list[Phase] = []
        for phase in phases:
            for new in self.replacements.get(phase.id, (phase,)):
                if isinstance(new, LibraryPhase) and new is not phase:
                    new = replace(new, signature=signature_of(new, self.types))
                rewritten.append(with_subgraphs(new, self.subgraph))
        return tuple(rewritten)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        same = len(phases) == len(graph.phases) and all(a is b for a, b in zip(phases, graph.phases, strict=True))
        return graph if same else replace(graph, phases=phases)


# ---------------------------------------------------------------------------------------------------- inverses
#
# `(⌹A)+.×b` is a solution: a third of the work, and more accurate.

def inverse_product_to_solve(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `(⌹A)+.×b` to a solution, for a square matrix whose inverse nothing else reads.

    The right-hand sides must be defined before the inverse, so that a singular matrix fails at the same point."""
    product, inverse = match.library(0), match.library(1)
    matrix, sides = match["A"], match["b"]
    types = [scope.types[value] for value in (matrix, sides, product.results[0])]
    square, right = types[0].shape, types[1].shape
    if len({type.element.kind for type in types}) > 1 or len(square) != 2 or square[0] != square[1] or not 0 < len(right) < 3:
        return None
    if scope.readers(inverse.results[0]) != [product] or not scope.in_same_block(inverse, product):
        return None
    if not scope.is_available(sides, inverse):
        return None
    solve = replace(inverse, op="solve", args=(sides, matrix), results=product.results, attributes={})
    return Rewrite({inverse.id: (solve,), product.id: ()})


# ---------------------------------------------------------------------------------------------------- masks
#
# `x[⍸m]` is `m⌿x`: where the positions of a mask are only used to take items, a compress takes the items.
#
# The mask must be as long as the axis, by its type.  The compress runs where the positions were made, because it now defines the
# run-time size of how many there are.

def mask_gather_to_compress(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `x[⍸m]` to `m⌿x` where every reader of the positions takes items by them."""
    where = match.root
    (mask,), (places,) = where.args, where.results
    shape = scope.types[mask].shape
    takers = [_taker(reader, scope, where) for reader in scope.readers(places)]
    known = [taker for taker in takers if taker is not None]
    if len(shape) != 1 or not known or len(known) < len(takers):
        return None
    compressed = tuple(_compressed(taker, where) for taker in known)
    return Rewrite({**{taker.id: () for taker in known}, where.id: compressed})


def _taker(reader: object, scope: RewriteScope, where: LibraryPhase) -> LibraryPhase | None:
    """The reader, if it is a gather by the positions, in the same block, of a value that is defined before them."""
    (mask,), (places,) = where.args, where.results
    if not isinstance(reader, LibraryPhase) or reader.op != "gather" or frame_of(reader) or reader.attributes.get("fills"):
        return None
    arg, indices = reader.args
    axis = reader.attributes["axis"]
    assert isinstance(axis, int)
    if indices != places or arg == places or scope.types[arg].shape[axis] != scope.types[mask].shape[0]:
        return None
    return reader if scope.is_available(arg, where) and scope.in_same_block(reader, where) else None


def _compressed(taker: LibraryPhase, where: LibraryPhase) -> LibraryPhase:
    args: tuple[ValueId, ...] = (where.args[0], taker.args[0])
    return replace(taker, op="compress", args=args, attributes={"axis": taker.attributes["axis"]}, defines=where.defines)


# ---------------------------------------------------------------------------------------------------- members
#
# `x∊2 3 5` is arithmetic: each of a few constant items is compared, without a lookup.
#
# Numbers are compared in a kind that represents both exactly; where there is none the phase stays.

_MOST: Final = 16
_EXACT: Final = 1 << 53
"""Integers up to this are exact in binary64."""


def membership_to_comparisons(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites `x∊table` to comparisons with each item of a short constant table."""
    table = scope.makers[match["table"]]
    assert isinstance(table, Constant)
    comparison = _compared(scope, match.root, table.data)
    return None if comparison is None else Rewrite({match.root.id: (comparison,)})


def _compared(scope: RewriteScope, phase: LibraryPhase, data: tuple[Payload, ...]) -> Structured | None:
    arg, table = phase.args
    kind = scope.types[arg].element.kind
    common = _common(kind, scope.types[table].element.kind, data)
    if common is None or not 0 < len(data) <= _MOST:
        return None
    body: list[Node] = [ReadNode(0, kind)]
    if common is not kind:
        body.append(ApplyNode("convert", (0,), common))
    item, any_equal = len(body) - 1, -1
    for value in dict.fromkeys(float(v) if common is Kind.F64 and isinstance(v, int | float) else v for v in data):
        body.append(ConstantNode(common, int(value) if common is Kind.I64 and isinstance(value, int) else value))
        body.append(ApplyNode("eq", (item, len(body) - 1), Kind.BOOL))
        if any_equal >= 0:
            body.append(ApplyNode("or", (any_equal, len(body) - 1), Kind.BOOL))
        any_equal = len(body) - 1
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in scope.types[arg].shape)
    result = PhaseResult(ValueId(phase.results[0]), any_equal, None)
    return Structured(phase.id, phase.span, axes, (Read(arg, Projection(())),), tuple(body), (result,))


def _common(kind: Kind, table: Kind, data: tuple[Payload, ...]) -> Kind | None:
    """The kind that items are compared in; None where none holds both exactly."""
    if kind is Kind.CHAR or table is Kind.CHAR:
        return Kind.CHAR if kind is table else None
    is_whole = table is Kind.BOOL or table.is_integer
    if kind is Kind.BOOL or kind.is_integer:
        return Kind.I64 if is_whole else None
    if kind.is_float and (table.is_float or is_whole):
        return Kind.F64 if all(isinstance(v, float) or (isinstance(v, int) and abs(v) <= _EXACT) for v in data) else None
    return None


# ---------------------------------------------------------------------------------------------------- reshapes
#
# A reshape into as many items as there are, or fewer, is a view once the sizes are numbers.

def reshape_to_view(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Rewrites a reshape into no more items than there are to a view."""
    phase = match.root
    arg, (result,) = phase.args[0], phase.results
    frame, old, new = frame_of(phase), scope.types[arg].shape, scope.types[result].shape
    lengths = [_numbers(shape) for shape in (old[frame:], new[frame:])]
    if None in lengths or _numbers(new[:frame]) != _numbers(old[:frame]):
        return None
    before, after = (prod(length) for length in lengths if length is not None)
    if after > before or not before:
        return None
    stages: list[Stage] = []
    if after < before:
        stages.append(_first(new, frame, before))
    middle = new if after == before else (*new[:frame], number(before))
    stages.append(Reshaped(middle, old))
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in new)
    read = Read(arg, simplify(new, stages))
    body = (ReadNode(0, scope.types[arg].element.kind),)
    return Rewrite({phase.id: (Structured(phase.id, phase.span, axes, (read,), body, (PhaseResult(result, 0, None),)),)})


def _numbers(shape: Shape) -> list[int] | None:
    sizes = [size.constant for size in shape]
    return None if None in sizes else [int(size) for size in sizes if size is not None]


def _first(new: Shape, frame: int, length: int) -> Affine:
    """From a point of the result to its row-major position among the items of its cell."""
    stride, terms = 1, []
    for axis in range(len(new) - 1, frame - 1, -1):
        terms.append(Term(axis, stride))
        stride *= new[axis].constant or 0
    nonzero = tuple(term for term in reversed(terms) if term.coefficient)
    return Affine((*map(axis_index, range(frame)), AffineIndex(nonzero, ZERO)), (*new[:frame], number(length)))
