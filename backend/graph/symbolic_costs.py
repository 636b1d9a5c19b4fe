"""What each phase costs, as polynomials in the sizes: operations by class, bytes read and written, scratch, parallel axes.

Classes are those of a device profile (scheduling.md 4.1): one per scalar function group for structured phases, one per
library op otherwise; the device's table turns counts into time.  Run-time sizes count at their caps, because buffers have the
cap.  Bytes read count each element as often as it is read; `touched` counts an operand once.  A gather reads what it picks, and
an update of a loop's state writes what it replaces (compiled loops do), elsewhere a copy of the whole.
A loop costs trip × body (with an index, the sum of its iterations), a map frame × body, a fold length × body, a branch the
maximum of its arms in each class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from typing import Final

from ...lang.support.records import dataclass, field
from ...typechecker.elements import ArrayType, identity_of, is_ordered, is_sequential
from ...typechecker.sizes.polynomials import ONE, ZERO, Monomial, Size, SizeOrigin, SizeVariable, number, product, variable
from ...typechecker.sizes.size import maximum, minimum, placeholder, sum_upper_bound, upper_bound
from ..scalar.function_table import REDUCTIONS, class_of
from . import traverse
from .bind_sizes import substitute_sizes
from .phases import (
    ApplyNode,
    AxisKind,
    AxisSignature,
    Branch,
    Cells,
    Constant,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Operands,
    Output,
    Phase,
    Print,
    Structured,
    SubGraph,
    ValueId,
    cells_of,
    frame_of,
)
from .registry import LIBRARY, GraphFunction, called

# ---------------------------------------------------------------------------------------------------- costs

Types = Mapping[ValueId, ArrayType]


@dataclass(frozen=True, slots=True)
class Cost:
    """`operations`: counts by class.  `read`, `written`, `touched`, `scratch`: bytes.  `parallel`: the axes that may be cut
    without a combine step, as (result axis, size)."""

    operations: Mapping[str, Size]
    read: Size
    written: Size
    touched: Size
    scratch: Size
    parallel: tuple[tuple[int, Size], ...]

    def total(self) -> Size:
        """All operations together, for a first comparison."""
        total = ZERO
        for count in self.operations.values():
            total = total + count
        return total


NO_COST: Final = Cost({}, ZERO, ZERO, ZERO, ZERO, ())


def bytes_of(type: ArrayType) -> Size:
    """Bytes of a value's buffer, run-time sizes at their caps."""
    return product(upper_bound(s) for s in type.shape) * type.element.kind.bytes


def cost_of(phase: Phase, types: Types, dying: AbstractSet[ValueId] = frozenset()) -> Cost:
    """The cost of one phase, sub-graphs included.  `dying`: operands that die in it, so that an update may overwrite them."""
    match phase:
        case Structured():
            return _structured(phase, types)
        case LibraryPhase():
            return _library(phase, types, dying)
        case Loop():
            if phase.index is not None:
                return _indexed_loop(phase, phase.index, types)
            inner = _block(phase.body, types, _replaceable(phase))
            if phase.until is not None:
                inner = _add(inner, _block(phase.until, types))
            return _times(inner, upper_bound(phase.trip))
        case Map():
            return _times(_block(phase.body, types), product(upper_bound(s) for s in phase.frame))
        case Fold():
            return _times(_block(phase.body, types), upper_bound(types[phase.args[0]].shape[0]))
        case Branch():
            return _either(_block(phase.then, types, dying), _block(phase.otherwise, types, dying))
        case Constant():
            return Cost({}, ZERO, bytes_of(types[phase.result]), ZERO, ZERO, ())
        case Input() | Print() | Output():
            return NO_COST


def graph_cost(graph: Graph) -> Cost:
    """The whole program's cost (scratch: the most that one phase needs)."""
    return _block(SubGraph((), graph.phases, ()), graph.types)


def _structured(phase: Structured, types: Types) -> Cost:
    sizes = [upper_bound(a.size) for a in phase.axes]
    points = product(sizes)
    operations: dict[str, Size] = {}
    for node in phase.body:
        if isinstance(node, ApplyNode):
            _count(operations, class_of(node.function), points)
    if not operations and not any(r.reduction for r in phase.results):
        operations["copy"] = points
    for result in phase.results:
        if result.reduction is not None:
            _count(operations, "reduce", points)
    read, touched = ZERO, ZERO
    seen: set[ValueId] = set()
    for item in phase.reads:
        each = types[item.value].element.kind.bytes
        read = read + points * each
        if item.value not in seen:
            touched = touched + bytes_of(types[item.value])
            seen.add(item.value)
    written = _sum(bytes_of(types[r.value]) for r in phase.results)
    parallel = tuple((a, size) for a, size in enumerate(sizes) if phase.axes[a].kind is AxisKind.PARALLEL)
    return Cost(operations, read, written, touched, ZERO, parallel)


def _library(phase: LibraryPhase, types: Types, dying: AbstractSet[ValueId]) -> Cost:
    if phase.op == "call":
        return _called(phase, types)
    cells = cells_of(phase, types)
    row = LIBRARY[phase.op]
    frame = product(upper_bound(s) for s in types[phase.results[0]].shape[: frame_of(phase)]) if phase.results else ONE
    work = row.work(cells)
    touched = {a: bytes_of(types[a]) for a in phase.args}
    written = _sum(bytes_of(types[r]) for r in phase.results)
    read = touched
    if phase.op == "gather":
        read = {**touched, phase.args[0]: written}
        touched[phase.args[0]] = minimum(touched[phase.args[0]], written)
    elif phase.op == "update" and phase.args[0] in dying and phase.args[0] not in phase.args[1:]:
        del touched[phase.args[0]]
        written = _replaced_items(cells) * frame * types[phase.results[0]].element.kind.bytes
        work = {name: count for name, count in work.items() if name != "copy"}
    operations = {name: upper_bound(count) * frame for name, count in work.items()}
    parallel = tuple(
        (s.result, upper_bound(types[phase.results[0]].shape[s.result]))
        for s in phase.signature
        if s.result is not None and s.combine is None
    )
    scratch = row.scratch(Operands(phase, types))
    return Cost(operations, _sum(read.values()), written, _sum(touched.values()), scratch, parallel)


def _called(phase: LibraryPhase, types: Types) -> Cost:
    """The cost of a call of a shared function; its memory is that of its plan (`schedule.program_facts.liveness`)."""
    (function, sizes), frame = called(phase.attributes), types[phase.results[0]].shape[: frame_of(phase)]
    cost = function.cached("cost", lambda: graph_cost(function.graph))
    operations = {name: upper_bound(count).substitute(sizes) for name, count in cost.operations.items()}
    read, written, touched = [upper_bound(size).substitute(sizes) for size in (cost.read, cost.written, cost.touched)]
    return _times(Cost(operations, read, written, touched, ZERO, ()), product(map(upper_bound, frame)))


def _replaced_items(cells: Cells) -> Size:
    """The number of items of a cell that an update replaces."""
    indexed = cells.attributes["indexed"]
    assert isinstance(indexed, tuple)
    picked = (product(shape) for shape in cells.args[1:-1])
    along = (size for size, has_index in zip(cells.args[0], indexed, strict=True) if not has_index)
    return product(map(upper_bound, (*picked, *along)))


def reduced_axes(phase: LibraryPhase, types: Types) -> tuple[tuple[int, AxisSignature], ...]:
    """The axes that a library phase reduces by a function with an identity that is exact in any order, with their sizes: partial
    results of parts of them join, also where a part has no item of a result."""
    axes: list[tuple[int, AxisSignature]] = []
    for one in phase.signature:
        if one.combine is None or one.combine not in REDUCTIONS or len(phase.results) > 1:
            continue
        kind = types[phase.results[0]].element.kind
        sizes = {types[value].shape[a].constant for value, a in zip(phase.args, one.operands, strict=True) if a is not None}
        size = sizes.pop() if len(sizes) == 1 else None
        if size is not None and identity_of(one.combine, kind) is not None and not is_ordered(one.combine, kind):
            axes.append((size, one))
    return tuple(axes)


def _block(graph: SubGraph, types: Types, replaceable: AbstractSet[ValueId] | None = None) -> Cost:
    """The cost of a block.  `replaceable`: values that updates may overwrite after their last use, in addition to those the block
    defines; None: no value may be overwritten."""
    total = NO_COST
    last = {value: phase.id for phase in graph.phases for value in traverse.uses(phase) if value not in graph.results}
    known = None if replaceable is None else set(replaceable)
    for phase in graph.phases:
        total = _add(total, cost_of(phase, types, frozenset(v for v in known or () if last.get(v) == phase.id)))
        if known is not None and not isinstance(phase, Constant):
            known.update(traverse.results(phase))
    return total


def _replaceable(phase: Loop) -> AbstractSet[ValueId] | None:
    """The state of a loop that keeps only the last iteration's; None if it keeps all."""
    return None if phase.keep else frozenset(phase.state)


def _indexed_loop(phase: Loop, index: SizeVariable, types: Types) -> Cost:
    """The sum over the iterations of a loop with an index; its scratch is the largest of an iteration."""
    inside = set(phase.body.params)
    for inner_phase in traverse.all_phases(phase.body):
        inside.update(traverse.uses(inner_phase), traverse.results(inner_phase),
            *[graph.params for graph in traverse.subgraphs(inner_phase)])
    known = {value: types[value] for value in inside}
    iteration = substitute_sizes(Graph(phase.body.phases, known, {}, (), (), ()), {index: variable(placeholder(index))})
    body = SubGraph((), iteration.phases, phase.body.results)
    inner, trip = _block(body, iteration.types, _replaceable(phase)), upper_bound(phase.trip)

    def over_turns(count: Size) -> Size:
        return sum_upper_bound(count, index, trip)

    operations = {name: over_turns(count) for name, count in inner.operations.items()}
    scratch = _block(phase.body, types).scratch
    total = Cost(operations, over_turns(inner.read), over_turns(inner.written), over_turns(inner.touched), scratch, ())
    return total if phase.until is None else _add(total, _times(_block(phase.until, types), trip))


def _add(a: Cost, b: Cost) -> Cost:
    operations = dict(a.operations)
    for name, count in b.operations.items():
        _count(operations, name, count)
    return Cost(operations, a.read + b.read, a.written + b.written, a.touched + b.touched, _larger(a.scratch, b.scratch), ())


def _either(a: Cost, b: Cost) -> Cost:
    operations = {
        n: _larger(a.operations.get(n, ZERO), b.operations.get(n, ZERO)) for n in dict.fromkeys([*a.operations, *b.operations])
    }
    return Cost(operations, _larger(a.read, b.read), _larger(a.written, b.written), _larger(a.touched, b.touched),
                _larger(a.scratch, b.scratch), ())  # fmt: skip


def _times(cost: Cost, factor: Size) -> Cost:
    operations = {n: c * factor for n, c in cost.operations.items()}
    return Cost(operations, cost.read * factor, cost.written * factor, cost.touched * factor, cost.scratch, ())


def _count(operations: dict[str, Size], name: str, count: Size) -> None:
    operations[name] = operations.get(name, ZERO) + count


def _larger(a: Size, b: Size) -> Size:
    return a if a == b else maximum(a, b)


def _sum(sizes: Iterable[Size]) -> Size:
    total = ZERO
    for size in sizes:
        total = total + size
    return total


# ---------------------------------------------------------------------------------------------------- formulas
#
# Sizes as formulas of cost: bounds that stay readable, and logarithms.
#
# Where the exact formula would grow without end a cost is bounded from above: `upper_bound_of` returns the maximum while that is
# short, and otherwise the larger coefficient of every monomial, which is never less (sizes are not negative).
#
# Note [Logarithms].  Sizes are polynomials, but the depth of a tree over n items is ⌈2⍟n⌉.  So a `CriticalPath` is a size that
# may mention *logarithms*: extra variables, each of which stands for ⌈2⍟n⌉ of a size n (0 where n ≤ 1).

_MOST_CHARACTERS: Final = 600
_MOST_TERMS: Final = 24


def upper_bound_of(a: Size, b: Size) -> Size:
    """A size that is at least both: their maximum where its formula is short."""
    if a == b or b == ZERO:
        return a
    if a == ZERO:
        return b
    if _covers(a, b):
        return a
    if _covers(b, a):
        return b
    if len(a.key) + len(b.key) <= _MOST_CHARACTERS and len(a.terms) + len(b.terms) <= _MOST_TERMS:
        upper = maximum(a, b)
        if len(upper.key) <= _MOST_CHARACTERS:
            return upper
    return _each_larger(a, b)


def _covers(a: Size, b: Size) -> bool:
    """Is every coefficient of `a` at least that of `b`?  Then `a` is at least `b`."""
    terms = dict(a.terms)
    return all(terms.get(m, 0) >= c for m, c in b.terms) and all(c >= 0 for m, c in a.terms if m not in dict(b.terms))


def _each_larger(a: Size, b: Size) -> Size:
    terms: dict[Monomial, int] = dict(a.terms)
    for monomial, coefficient in b.terms:
        terms[monomial] = max(terms.get(monomial, 0), coefficient)
    return Size({m: max(c, 0) for m, c in terms.items()})


def total(sizes: Iterable[Size]) -> Size:
    """The sum of sizes."""
    terms: dict[Monomial, int] = {}
    for size in sizes:
        for monomial, coefficient in size.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
    return Size(terms)


@dataclass(slots=True)
class Logarithms:
    """The logarithms of one formula; see Note [Logarithms].  Their ids are negative, unlike those of sizes of the program."""

    known: dict[Size, SizeVariable] = field(default_factory=dict)

    def of(self, size: Size) -> Size:
        """⌈2⍟size⌉, run-time sizes at their caps."""
        size = upper_bound(size)
        constant = size.constant
        if constant is not None:
            return number(ceiling_log2(constant))
        logarithm = self.known.get(size)
        if logarithm is None:
            logarithm = SizeVariable(f"(⌈2⍟{size})", -1 - len(self.known), SizeOrigin.INPUT)
            self.known[size] = logarithm
        return variable(logarithm)


def ceiling_log2(count: int) -> int:
    """The depth of a binary tree over `count` items."""
    return (count - 1).bit_length() if count > 1 else 0


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """A formula that may mention logarithms; `logarithms`: the size whose logarithm each of them is."""

    size: Size
    logarithms: Mapping[SizeVariable, Size]

    def evaluate(self, sizes: Mapping[SizeVariable, int]) -> int:
        logs = {v: ceiling_log2(of.evaluate(sizes)) for v, of in self.logarithms.items()}
        return self.size.evaluate({**sizes, **logs})

    def __str__(self) -> str:
        return str(self.size)


# ---------------------------------------------------------------------------------------------------- spans
#
# The span of a graph (work and span): the length of its critical path, with unlimited processors.
#
# Rules.  An element-wise phase counts the longest chain of functions in its body; an associative reduction of n items ⌈2⍟n⌉ more
# (the documented order of float sums is a tree too; its runs of 16 in the leaves count as part of it); other reductions, scans
# and folds n.  A sort, a search or a grouping of n items counts 1 and the square of ⌈2⍟n⌉ (a sorting network).  A matrix product
# counts 1 + ⌈2⍟k⌉, a transform 1 + ⌈2⍟n⌉, a factorisation its columns times 1 + ⌈2⍟rows⌉, other library ops 1.  A loop counts
# trips × body, a map its body once, a branch the longer arm and 1.  Views, inputs and constants count 0.
#
# A phase starts when its operands, the values its body captures and the run-time sizes that its types mention are defined.

def graph_span(graph: Graph) -> CriticalPath:
    """The span of a whole program, in the sizes of its inputs and params."""
    logs = Logarithms()
    cost = _CostWalk(graph.types, logs, {}).block(graph.phases)
    return CriticalPath(cost, {v: size for size, v in logs.known.items()})


class _CostWalk:
    def __init__(self, types: Types, logs: Logarithms, calls: dict[tuple[GraphFunction, tuple[Size, ...]], Size]) -> None:
        self.types, self.logs, self.calls = types, logs, calls
        self.defined: dict[SizeVariable, Size] = {}

    def block(self, phases: Sequence[Phase]) -> Size:
        """The longest chain in a block; values from outside are available at its start."""
        depths: dict[ValueId, Size] = {}
        longest = ZERO
        for phase in phases:
            start = ZERO
            for value in traverse.uses(phase):
                start = upper_bound_of(start, depths.get(value, ZERO))
            for which in self.mentioned(phase):
                start = upper_bound_of(start, self.defined.get(which, ZERO))
            end = start + self.phase(phase)
            for value in traverse.results(phase):
                depths[value] = end
            for which in traverse.defines(phase):
                self.defined[which] = end
            longest = upper_bound_of(longest, end)
        return longest

    def mentioned(self, phase: Phase) -> set[SizeVariable]:
        """The run-time sizes a phase needs (not those it defines)."""
        if not self.defined:
            return set()
        variables = {v for size in traverse.sizes(phase) for v in size.variables()}
        for value in traverse.results(phase):
            variables.update(v for size in self.types[value].shape for v in size.variables())
        return variables - set(traverse.defines(phase))

    def phase(self, phase: Phase) -> Size:
        """The number of steps that a phase adds to a chain."""
        match phase:
            case Structured():
                return self.structured(phase)
            case LibraryPhase(op="call"):
                function, sizes = called(phase.attributes)
                key = function, tuple(sizes.values())
                if key not in self.calls:
                    graph = substitute_sizes(function.graph, sizes)
                    self.calls[key] = _CostWalk(graph.types, self.logs, self.calls).block(graph.phases)
                return self.calls[key]
            case LibraryPhase():
                return LIBRARY[phase.op].span(cells_of(phase, self.types), self.logs.of)
            case Loop():
                steps = self.block(phase.body.phases)
                if phase.until is not None:
                    steps = steps + self.block(phase.until.phases)
                return steps * upper_bound(phase.trip)
            case Fold():
                return self.block(phase.body.phases) * upper_bound(self.types[phase.args[0]].shape[0])
            case Map():
                return self.block(phase.body.phases)
            case Branch():
                return upper_bound_of(self.block(phase.then.phases), self.block(phase.otherwise.phases)) + 1
            case Constant() | Input() | Print() | Output():
                return ZERO

    def structured(self, phase: Structured) -> Size:
        depths: list[int] = []
        for node in phase.body:
            depths.append(1 + max((depths[a] for a in node.args), default=0) if isinstance(node, ApplyNode) else 0)
        longest = max((depths[r.node] for r in phase.results), default=0)
        if any(r.reduction is not None for r in phase.results):
            length = phase.axes[-1].size
            in_turn = any(is_sequential(r.reduction or "") for r in phase.results)
            return (upper_bound(length) if in_turn else self.logs.of(length)) + longest
        return Size({(): longest})
