"""Rewriting of the phase graph: rules, and the tools of the passes (a builder of bodies with hash-consing, and predicates on
phases: views, sliding windows, failures).

Bodies are single assignment by position, so every edit builds a new list in order; equal nodes occur once.  Constants are keyed
by kind and bits: 1, True, 1.0, 0.0 and -0.0 are five constants.

A rewrite rule is a pattern, a condition, a replacement, and what the rule preserves.  It matches one phase and the producers of
its operands, and replaces phases by others at the same positions; values that other phases read keep their ids and meaning.
`apply_rules` applies one rule after the other to the full graph.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field, replace
from ....typechecker.core.operations import Payload
from ....typechecker.elements import ArrayType, Kind
from ....typechecker.sizes.polynomials import ZERO, Size, number
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
    Shape,
    Stage,
    Structured,
    SubGraph,
    Term,
    ValueId,
    affine,
    axis_index,
    compose,
    constant_index,
    frame_of,
    framed_of,
    simplify,
)
from ..registry import may_fail, signature_of
from ..traverse import all_phases, axis_sizes, operands, results, subgraphs, with_subgraphs


def node_key(node: Node) -> Hashable:
    match node:
        case ApplyNode():
            return ("apply", node.function, node.args, node.kind, node.parameter)
        case ReadNode():
            return ("read", node.index)
        case _:
            return node


FIXED_POWERS: Final[dict[float | None, tuple[str, ...]]] = {
    2.0: ("square",), 3.0: ("square", "mul"), 4.0: ("square", "square"), 5.0: ("square", "square", "mul"),
    0.5: ("half_power",), -1.0: ("reciprocal",), -0.5: ("half_power", "reciprocal"),
}  # fmt: skip
"""Faster functions for a float to a constant power, within 4 ulp: each is applied to the result of the one before (`mul` also to
the float).  The n-th power by products has n-1 roundings, each of which moves it by less than an ulp."""


def real_constant(nodes: Sequence[object], index: int) -> float | None:
    """The value of a constant body node, also behind conversions, if every kind on the way stores it exactly; else None."""
    node = nodes[index]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = nodes[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, int | float) and abs(node.value) < 100:
        return float(node.value)
    return None


def with_fixed_powers(phase: Structured) -> Structured:
    """The phase with its floats to constant powers replaced by the functions of `FIXED_POWERS`."""
    if not any(isinstance(node, ApplyNode) and node.function == "pow" for node in phase.body):
        return phase
    body: list[Node] = []
    places: list[int] = []
    for node in phase.body:
        if isinstance(node, ApplyNode):
            args = tuple([places[arg] for arg in node.args])
            is_power = node.function == "pow" and node.kind.is_float
            steps = FIXED_POWERS.get(real_constant(body, args[1]), ()) if is_power else ()
            power = args[0]
            for step in steps:
                body.append(ApplyNode(step, (power, args[0]) if step == "mul" else (power,), node.kind))
                power = len(body) - 1
            body += [] if steps else [replace(node, args=args)]
        else:
            body.append(node)
        places.append(len(body) - 1)
    return replace(phase, body=tuple(body), results=tuple([replace(r, node=places[r.node]) for r in phase.results]))


@dataclass(slots=True)
class BodyBuilder:
    """A body and its reads under construction, without duplicates."""

    reads: list[Read] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)
    _reads: dict[tuple[ValueId, Projection], int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        """The position of the node in the body; a node that is not there yet is appended."""
        key = node_key(node)
        at = self._places.get(key)
        if at is None:
            at = self._places[key] = len(self.nodes)
            self.nodes.append(node)
        return at

    def read(self, read: Read, node: ReadNode) -> int:
        key = (read.value, read.projection)
        index = self._reads.get(key)
        if index is None:
            index = self._reads[key] = len(self.reads)
            self.reads.append(read)
        return self.add(ReadNode(index, node.kind))

    def finish(self, phase: Structured, results: Sequence[PhaseResult]) -> Structured:
        """The phase with this body, its unused nodes and reads dropped."""
        reads, nodes, places = _without_unused(self.reads, self.nodes, [r.node for r in results])
        renumbered = tuple(replace(r, node=places[r.node]) for r in results)
        return replace(phase, reads=tuple(reads), body=tuple(nodes), results=renumbered)


def _without_unused(
    reads: Sequence[Read], nodes: Sequence[Node], roots: Iterable[int]
) -> tuple[list[Read], list[Node], dict[int, int]]:
    needed = set(roots)
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if isinstance(node, ApplyNode) and (at in needed or node.span is not None):
            needed.add(at)
            needed.update(node.args)
    kept_reads: list[Read] = []
    used: list[Node] = []
    places: dict[int, int] = {}
    read_places: dict[int, int] = {}
    for at, node in enumerate(nodes):
        if at not in needed:
            continue
        if isinstance(node, ReadNode):
            if node.index not in read_places:
                read_places[node.index] = len(kept_reads)
                kept_reads.append(reads[node.index])
            node = ReadNode(read_places[node.index], node.kind)
        elif isinstance(node, ApplyNode):
            node = replace(node, args=tuple(places[a] for a in node.args))
        places[at] = len(used)
        used.append(node)
    return kept_reads, used, places


def deduplicate(phase: Structured) -> Structured:
    """The phase with equal reads and equal nodes merged."""
    if len({(r.value, r.projection) for r in phase.reads}) == len(phase.reads):
        return phase
    builder = BodyBuilder()
    places: list[int] = []
    for node in phase.body:
        match node:
            case ReadNode():
                places.append(builder.read(phase.reads[node.index], node))
            case ApplyNode():
                places.append(builder.add(replace(node, args=tuple(places[a] for a in node.args))))
            case _:
                places.append(builder.add(node))
    return builder.finish(phase, [replace(r, node=places[r.node]) for r in phase.results])


def is_view(phase: Phase) -> bool:
    """Does the phase only move elements: one read, one result, no reduction?"""
    return (
        isinstance(phase, Structured)
        and len(phase.body) == 1
        and isinstance(phase.body[0], ReadNode)
        and len(phase.results) == 1
        and not has_reduction(phase)
    )


def has_reduction(phase: Structured) -> bool:
    return bool(phase.axes) and phase.axes[-1].kind is AxisKind.REDUCE


LONGEST_WINDOW: Final = 64
"""The most items of overlapping windows for which reductions are unrolled, since neighbouring windows share nearly all items."""


def is_sliding_window(phase: Structured) -> bool:
    """Does the phase reduce overlapping windows, perhaps with weights that are the same for each window?"""
    sizes = [axis.size.constant or 0 for axis in phase.axes]
    if not has_reduction(phase) or sizes[-1] < 2:
        return False
    space, is_sliding = axis_sizes(phase.axes), False
    for read in phase.reads:
        first, second = _at_step(space, read, 0), _at_step(space, read, 1)
        if first is None or second is None:
            return False
        axes = {term.axis for index in first.indices for term in index.terms}
        if not axes or first == second:
            continue
        points = prod(sizes[axis] for axis in axes) * sizes[-1]
        if 2 * prod(size.constant or points for size in first.shape) > points:
            return False
        is_sliding = True
    return is_sliding


def _at_step(space: Sequence[Size], read: Read, step: int) -> Affine | None:
    """The projection of a read at one step of the reduction; None if it is not affine."""
    at = affine(tuple(space[:-1]), [*map(axis_index, range(len(space) - 1)), constant_index(number(step))], tuple(space))
    match compose(tuple(space[:-1]), at, read.projection).stages:
        case (Affine() as stage,):
            return stage
        case _:
            return None


def body_may_fail(body: Iterable[Node]) -> bool:
    return any(isinstance(n, ApplyNode) and n.span is not None for n in body)


def phase_may_fail(phase: Phase) -> bool:
    """May a run of the phase, sub-graphs included, end in a diagnostic?  Such a phase is never dropped."""
    pending = [phase]
    while pending:
        current = pending.pop()
        match current:
            case Structured():
                if body_may_fail(current.body):
                    return True
            case LibraryPhase():
                if may_fail(current):
                    return True
            case _:
                for graph in subgraphs(current):
                    pending.extend(graph.phases)
    return False


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
    """A reduction of the value that `arg` already names, along its last axis, by one of some functions."""

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
    """The property that a rule preserves."""

    BITS = "the bits"
    BITS_UNLESS_NAN = "the bits unless there is a NaN, for which the new phases look"
    TOLERANCE = "the value within the tolerance that the old phases had"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`phases`: by phase, its replacements; `types`: those of new values and of values whose type changes."""

    phases: Mapping[PhaseId, tuple[Phase, ...]]
    types: Mapping[ValueId, ArrayType] = field(default_factory=dict)


Rewriter: TypeAlias = "Callable[[PatternMatch, RewriteScope], Rewrite | None]"


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """A named rewrite rule.  `rewrite` returns None where the rule's condition does not hold.  `says`: the message in the plan
    (empty: none).

    `examples`: functions of one vector that the rule changes; a test compares each with the reference on all short vectors."""

    name: str
    doc: str
    preserves: Preserves
    pattern: OpPattern
    rewrite: Rewriter
    says: str = ""
    examples: tuple[str, ...] = ()


_MAX_ROUNDS: Final = 16
"""The most rounds of one rule: where matches overlap, each round rewrites one of them."""


class RewriteScope:
    """A graph with the indices that rules need: the producer, the readers and the block of each value; and fresh ids."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types = graph.types
        self.makers: dict[ValueId, Phase] = {}
        self._readers: dict[ValueId, list[Phase | None]] = {value: [None] for value in graph.roots}
        self._positions: dict[PhaseId, tuple[int, int]] = {}  # (index of the block, position in it)
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
        """The readers of a value; None among them stands for a block's result or a schedule, which read all of it."""
        return self._readers.get(value, [])

    def in_same_block(self, phase: Phase, other: Phase) -> bool:
        """Are both phases in one block?"""
        return self._positions[phase.id][0] == self._positions[other.id][0]

    def is_available(self, value: ValueId, phase: Phase) -> bool:
        """Is the value, which the phase's block can read, defined before the phase?"""
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
# `x[⍸m]` is `m⌿x`: where a mask's positions are used only to gather items, a compress selects the items.
#
# The mask must be as long as the axis, by its type.  The compress takes the place of the `where`, because it
# then defines the run-time size of the selection.

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
    """The reader, if it is a gather by the positions, in the same block, of a value that is defined before the positions."""
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
"""Integers up to this magnitude are exact in binary64."""


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
    """The kind in which items are compared; None where no kind represents both exactly."""
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
