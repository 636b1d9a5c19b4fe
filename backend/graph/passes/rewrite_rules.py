"""A rule: a pattern, a condition, a replacement, and what it preserves.

A rule looks at one phase and what makes its operands.  What it gives replaces phases by others, each in its place; the values
that other phases read keep their names and what they are.  Rules are tried one after the other on the whole graph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass
from ....typechecker.core.arrays import Payload
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
# What a rule looks for: library phases and reductions over values that are named.
#
# A pattern is matched against a phase, then against the makers of its operands.  A name stands for one value: where it is there
# twice, both must be that value.

@dataclass(frozen=True, slots=True)
class ItemPattern:
    """Any value."""

    name: str


@dataclass(frozen=True, slots=True)
class ReplacementPattern:
    """A constant."""

    name: str


@dataclass(frozen=True, slots=True)
class OpPattern:
    """A library phase; `attributes` are those that matter, and None is an attribute that must be absent or False.  In a frame
    every operand carries it."""

    op: str
    args: tuple[Pattern, ...]
    attributes: Mapping[str, object] = field(default_factory=dict)
    framed: bool = False


@dataclass(frozen=True, slots=True)
class ReducedPattern:
    """The items along the last axis of a value that is named already, and nothing else, reduced with one of some functions."""

    functions: frozenset[str]
    arg: ItemPattern


Pattern: TypeAlias = ItemPattern | ReplacementPattern | OpPattern | ReducedPattern


@dataclass(slots=True)
class PatternMatch:
    """`values` by the names of the pattern, `phases` in its order from the outside in."""

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
    """How the phase fits the pattern; None if it does not."""
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
        case ItemPattern():
            return match.values.setdefault(pattern.name, value) == value
        case ReplacementPattern():
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
    """What is reduced as it is."""
    result = next(result for result in phase.results if result.value == value)
    node = phase.body[result.node]
    return phase.reads[node.index] if result.reduction in functions and isinstance(node, ReadNode) else None


def _is_of(read: Read, value: ValueId, makers: Mapping[ValueId, Phase]) -> bool:
    """Are the items those of a value, which may be a view that is read through?"""
    if read.value == value and not read.projection.stages:
        return True
    view = makers.get(value)
    return view is not None and is_view(view) and isinstance(view, Structured) and view.reads[0] == read


# ---------------------------------------------------------------------------------------------------- rule

class Keeps(Enum):
    """What a rule preserves."""

    BITS = "the bits"
    BITS_UNLESS_NAN = "the bits unless there is a NaN, for which the new phases look"
    TOLERANCE = "the value within the tolerance that the old phases had"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`phases`: what stands in the place of a phase; `types` of new values and of those that mean something else."""

    phases: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType] = field(default_factory=dict)


Make: TypeAlias = "Callable[[PatternMatch, RewriteScope], Rewrite | None]"


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """`make` gives None where the condition does not hold.  `says`: what the plan tells; empty where it tells nothing.
    `examples`: functions of one vector that the rule changes; each is compared with the reference on all short vectors."""

    name: str
    doc: str
    keeps: Keeps
    pattern: OpPattern
    make: Make
    says: str = ""
    examples: tuple[str, ...] = ()


_MOST_TIMES: Final = 16
"""Times that a rule is tried: changes that touch one phase wait for the next time."""


class RewriteScope:
    """A graph as rules ask it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types = graph.types
        self.makers: dict[ValueId, Phase] = {}
        self._readers: dict[ValueId, list[Phase | None]] = {value: [None] for value in graph.roots}
        self._places: dict[PhaseId, tuple[int, int]] = {}  # the block, and where in it
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
        """Who reads a value; None is the end of a block or a schedule, which wants all of it."""
        return self._readers.get(value, [])

    def is_beside(self, phase: Phase, other: Phase) -> bool:
        """Are both in one block?"""
        return self._places[phase.id][0] == self._places[other.id][0]

    def is_before(self, value: ValueId, phase: Phase) -> bool:
        """Is a value that may be read in a phase's block there before the phase?"""
        maker = self.makers.get(value)
        return maker is None or not self.is_beside(maker, phase) or self._places[maker.id] < self._places[phase.id]

    def _number(self, phases: tuple[Phase, ...]) -> None:
        block = len(self._places)
        for position, phase in enumerate(phases):
            self._places[phase.id] = (block, position)
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
    """The graph after every rule; the same object if none found anything."""
    scope: RewriteScope | None = None
    ops = {phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)}
    for rule in rules:
        if rule.pattern.op not in ops:
            continue
        for _ in range(_MOST_TIMES):
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
        change = None if match is None else rule.make(match, scope)
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
# `(⌹A)+.×b` is a solution: a third of the work, and nearer to the exact one.

def is_solution(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
    """Of a square matrix whose inverse nothing else reads, and of sides that are there before it: it fails where that did."""
    product, inverse = match.library(0), match.library(1)
    matrix, sides = match["A"], match["b"]
    types = [scope.types[value] for value in (matrix, sides, product.results[0])]
    square, right = types[0].shape, types[1].shape
    if len({type.element.kind for type in types}) > 1 or len(square) != 2 or square[0] != square[1] or not 0 < len(right) < 3:
        return None
    if scope.readers(inverse.results[0]) != [product] or not scope.is_beside(inverse, product):
        return None
    if not scope.is_before(sides, inverse):
        return None
    solve = replace(inverse, op="solve", args=(sides, matrix), results=product.results, attributes={})
    return Rewrite({inverse.id: (solve,), product.id: ()})


# ---------------------------------------------------------------------------------------------------- masks
#
# `x[⍸m]` is `m⌿x`: where the places of a mask are only used to take items, those are compressed out, and no place is made.
#
# The mask must be as long as the axis, by its type.  Every taker is made where the places were, as it now says how many there
# are.

def are_places_of_a_mask(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
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
    """A gather in the same block by the places, of a value that is there before them."""
    (mask,), (places,) = where.args, where.results
    if not isinstance(reader, LibraryPhase) or reader.op != "gather" or frame_of(reader) or reader.attributes.get("fills"):
        return None
    arg, indices = reader.args
    axis = reader.attributes["axis"]
    assert isinstance(axis, int)
    if indices != places or arg == places or scope.types[arg].shape[axis] != scope.types[mask].shape[0]:
        return None
    return reader if scope.is_before(arg, where) and scope.is_beside(reader, where) else None


def _compressed(taker: LibraryPhase, where: LibraryPhase) -> LibraryPhase:
    args: tuple[ValueId, ...] = (where.args[0], taker.args[0])
    return replace(taker, op="compress", args=args, attributes={"axis": taker.attributes["axis"]}, defines=where.defines)


# ---------------------------------------------------------------------------------------------------- members
#
# `x∊2 3 5` is arithmetic: of a few items that are written in the program each is compared, and nothing is looked up.
#
# Numbers are compared in a kind that holds both exactly; where there is none the phase stays.

_MOST: Final = 16
_EXACT: Final = 1 << 53
"""Whole numbers up to this are exact in binary64."""


def is_one_of_few(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
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

def reshape_as_view(match: PatternMatch, scope: RewriteScope) -> Rewrite | None:
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
    """From a point of the result to its row-major place among the items of its cell."""
    stride, terms = 1, []
    for axis in range(len(new) - 1, frame - 1, -1):
        terms.append(Term(axis, stride))
        stride *= new[axis].constant or 0
    nonzero = tuple(term for term in reversed(terms) if term.coefficient)
    return Affine((*map(axis_index, range(frame)), AffineIndex(nonzero, ZERO)), (*new[:frame], number(length)))
