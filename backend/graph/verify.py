"""The verifier: what every graph must satisfy, checked after lowering and, in tests and under `--verify`, after every pass.

Checked: each value is defined once and before its use, within its block or an enclosing one; types cover every value; a
structured phase's result shape is its parallel axes, its projections end in the operand's shape, every index lies in its box
where sizes are numbers, node kinds fit the scalar functions; library phases are rows of the registry with the right number of
operands and their stated axis signature; sub-graph params and results match the operands and results of their phase; ids of
phases are unique; effects occur only outside maps and folds; run-time sizes are defined before they are mentioned.

Sizes that are equal only by a guard (two names, one number) cannot be told apart symbolically; shapes are therefore
compared as numbers where both are known and by rank otherwise, and exactly once the graph is bound.

The verifier shares no code with the passes that it checks.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.support.records import dataclass, field
from ...typechecker.elements import FUNCTIONS, ArrayType, Element, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable
from . import traverse
from .phases import (
    ARGUMENT_REDUCTIONS,
    Affine,
    ApplyNode,
    AxisKind,
    AxisNode,
    Branch,
    Constant,
    ConstantNode,
    Fold,
    Graph,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    Print,
    Projection,
    ReadNode,
    Reshaped,
    Shape,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    framed_of,
    leaves_bounds,
    target_of,
)
from .registry import LIBRARY, signature_of


class GraphError(AssertionError):
    """A graph breaks an invariant: a bug in lowering or in the pass `stage`."""

    def __init__(self, problem: str, stage: str = "") -> None:
        self.problem = problem
        self.stage = stage
        super().__init__(f"after {stage}: {problem}" if stage else problem)


def verify(graph: Graph, stage: str = "") -> None:
    """Raise `GraphError`, naming `stage`, unless the graph is well formed."""
    try:
        checker = _GraphVerifier(graph)
        checker.block(graph.phases)
        for root in graph.roots:
            _require(root in checker.visible, f"root {root} is not defined")
        for value in graph.names:
            _require(value in graph.types, f"named value {value} has no type")
    except GraphError as error:
        raise GraphError(error.problem, stage) from None


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise GraphError(problem)


@dataclass(slots=True)
class _GraphVerifier:
    graph: Graph
    visible: set[ValueId] = field(default_factory=set)
    trail: list[ValueId] = field(default_factory=list)  # values that are visible, in order of definition
    defined: set[ValueId] = field(default_factory=set)
    sizes: set[SizeVariable] = field(default_factory=set)
    ids: set[int] = field(default_factory=set)

    def type(self, value: ValueId) -> ArrayType:
        known_type = self.graph.types.get(value)
        if known_type is None:
            raise GraphError(f"value {value} has no type")
        return known_type

    def block(self, phases: Sequence[Phase], *, effects: bool = True) -> None:
        for phase in phases:
            try:
                self.phase(phase, effects=effects)
            except GraphError as error:
                raise GraphError(f"phase {phase.id} ({_describe(phase)}): {error.problem}") from None

    def phase(self, phase: Phase, *, effects: bool) -> None:
        _require(int(phase.id) not in self.ids, "its id is used twice")
        self.ids.add(int(phase.id))
        for value in traverse.operands(phase):
            self.use(value)
        for size in traverse.sizes(phase):
            if not isinstance(phase, Branch):
                self.known(size)
        match phase:
            case Structured():
                self.structured(phase)
            case LibraryPhase():
                self.library(phase)
            case Constant():
                self.constant(phase)
            case Print() | Output():
                _require(effects, "an effect where none may be")
            case Loop() | Branch() | Map() | Fold():
                self.control(phase, effects=effects)
            case _:
                pass
        self.sizes.update(traverse.defines(phase))
        for value in traverse.results(phase):
            self.define(value)
            for size in self.type(value).shape:
                self.known(size)

    def use(self, value: ValueId) -> None:
        _require(value in self.visible, f"value {value} is used before it is defined, or outside its block")

    def define(self, value: ValueId) -> None:
        _require(value not in self.defined, f"value {value} is defined twice")
        self.type(value)
        self.defined.add(value)
        self.visible.add(value)
        self.trail.append(value)

    def known(self, size: Size) -> None:
        for v in size.variables():
            _require(not v.is_runtime or v in self.sizes, f"size {v} is mentioned before it is defined")

    # -- structured phases

    def structured(self, phase: Structured) -> None:
        space = traverse.axis_sizes(phase.axes)
        kinds = [a.kind for a in phase.axes]
        parallel = sum(k is AxisKind.PARALLEL for k in kinds)
        _require(len(kinds) - parallel <= 1 and kinds[:parallel] == [AxisKind.PARALLEL] * parallel, "its axes are not in order")
        for read in phase.reads:
            self.projection(space, read.projection, self.type(read.value).shape)
        node_kinds = self.body(phase)
        _require(bool(phase.results), "it has no result")
        for result in phase.results:
            type = self.type(result.value)
            _require(0 <= result.node < len(phase.body), f"result {result.value} names no node")
            _require(agree(type.shape, space[:parallel]), f"result {result.value} has not the shape of the parallel axes")
            kind = Kind.I64 if result.reduction in ARGUMENT_REDUCTIONS else node_kinds[result.node]
            _require(type.element.kind is kind, f"result {result.value} is {type.element.kind.value}, its node {kind.value}")
            _require((result.reduction is not None) == (parallel < len(kinds)), "a reduction goes with a reduce axis")
            if result.reduction is not None and result.reduction not in ARGUMENT_REDUCTIONS:
                row = FUNCTIONS.get(result.reduction)
                _require(row is not None and row.arity == 2, f"{result.reduction} is not a function of two operands")

    def projection(self, space: Shape, projection: Projection, shape: Shape) -> None:
        box = space
        for stage in projection.stages:
            match stage:
                case Affine():
                    _require(len(stage.indices) == len(stage.shape), "an affine stage has not one index an axis")
                    for index in stage.indices:
                        axes = [t.axis for t in index.terms]
                        _require(axes == sorted(set(axes)) and all(0 <= a < len(box) for a in axes), "an index names no axis")
                        _require(all(t.coefficient for t in index.terms), "a term is zero")
                    known = [s.constant for s in box]
                    numbers = [n for n in known if n is not None]
                    if not stage.fills and len(numbers) == len(known):
                        _require(not leaves_bounds(numbers, stage), "an index leaves its box")
                case Reshaped():
                    _require(agree(stage.source, box), "a reshape starts from another box")
            box = target_of(stage)
        _require(agree(box, shape), f"a projection ends in [{_show(box)}], the operand has shape [{_show(shape)}]")

    def body(self, phase: Structured) -> list[Kind]:
        kinds: list[Kind] = []
        for at, node in enumerate(phase.body):
            match node:
                case ReadNode():
                    _require(0 <= node.index < len(phase.reads), f"node {at} names no read")
                    kind = self.type(phase.reads[node.index].value).element.kind
                    _require(kind is node.kind, f"node {at} reads {kind.value} as {node.kind.value}")
                    kinds.append(node.kind)
                case ConstantNode():
                    kinds.append(node.kind)
                case SizeNode():
                    kinds.append(Kind.I64)
                case AxisNode():
                    _require(0 <= node.axis < len(phase.axes), f"node {at} names no axis")
                    kinds.append(Kind.I64)
                case ApplyNode():
                    _require(all(0 <= a < at for a in node.args), f"node {at} uses a later node")
                    self.application(at, node, [kinds[a] for a in node.args])
                    kinds.append(node.kind)
        return kinds

    def application(self, at: int, node: ApplyNode, kinds: Sequence[Kind]) -> None:
        row = FUNCTIONS.get(node.function)
        if row is None or row.arity != len(kinds):
            raise GraphError(f"node {at} applies no scalar function: {node.function}")
        compute = kinds[1] if node.function == "select" else kinds[0]
        first = Kind.BOOL if node.function == "select" else compute
        _require(list(kinds) == [first, *[compute] * (len(kinds) - 1)] and compute in row.kinds,
                 f"node {at}: {node.function} of {', '.join(k.value for k in kinds)}")  # fmt: skip
        gives = row.result_kind(compute, node.parameter)
        _require(gives in (None, node.kind), f"node {at}: {node.function} gives {node.kind.value}")

    # -- the others

    def constant(self, phase: Constant) -> None:
        known = [s.constant for s in self.type(phase.result).shape]
        count = 1
        for size in known:
            if size is None:
                raise GraphError("a constant of unknown size")
            count *= size
        _require(count == len(phase.data), f"{len(phase.data)} items for {count} places")

    def library(self, phase: LibraryPhase) -> None:
        row = LIBRARY.get(phase.op)
        if row is None:
            raise GraphError(f"no library op {phase.op}")
        _require(len(phase.args) == row.arity if row.arity is not None else bool(phase.args), "wrong number of operands")
        _require(row.defines is None or len(phase.defines) == row.defines, "wrong number of sizes defined")
        _require(len(framed_of(phase)) == len(phase.args), "`framed` has not one entry an operand")
        _require(phase.signature == signature_of(phase, self.graph.types), "its axis signature is not that of its op")

    def control(self, phase: Loop | Branch | Map | Fold, *, effects: bool) -> None:
        results = [self.type(r) for r in phase.results]
        match phase:
            case Loop():
                state = [self.type(v) for v in phase.initial]
                folded = [self.type(v) for v in phase.cells]
                _require(all(t.shape for t in folded), "a folded operand is scalar")
                elements = [ArrayType(t.element, t.shape[1:]) for t in folded]
                next_state = self.subgraph(phase.body, [*elements, *state], effects=effects, index=phase.index)
                self.same(next_state, state, "the new state")
                if phase.until is not None:
                    exit_test = self.subgraph(phase.until, [*state, *state], effects=False)
                    self.same(exit_test, [ArrayType(Element(Kind.BOOL), ())], "`until`")
                stacked = [ArrayType(t.element, (phase.trip + 1, *t.shape)) for t in state] if phase.keep else state
                self.same(results, stacked, "a result")
            case Branch():
                condition = self.type(phase.condition)
                self.same([condition], [ArrayType(Element(Kind.BOOL), ())], "the condition")
                for arm in (phase.then, phase.otherwise):
                    next_state = self.subgraph(arm, [], effects=effects)
                    if not phase.defines:
                        self.same(next_state, results, "an arm")
            case Map():
                _require(len(phase.frames) == len(phase.args) == len(phase.body.params), "operands and params differ in number")
                cells: list[ArrayType] = []
                for arg, count in zip(phase.args, phase.frames, strict=True):
                    type = self.type(arg)
                    _require(agree(type.shape[:count], phase.frame[:count]), f"operand {arg} has another frame")
                    cells.append(ArrayType(type.element, type.shape[count:]))
                next_state = self.subgraph(phase.body, cells, effects=False)
                self.same(results, [ArrayType(t.element, phase.frame + t.shape) for t in next_state], "a result")
            case Fold():
                items = [self.type(a) for a in phase.args]
                _require(all(t.shape for t in items), "a folded operand is scalar")
                cells = [ArrayType(t.element, t.shape[1:]) for t in items]
                next_state = self.subgraph(phase.body, [*cells, *cells], effects=False)
                self.same(next_state, cells, "the accumulator")
                self.same(results, items if phase.scan else cells, "a result")

    def subgraph(
        self, graph: SubGraph, params: Sequence[ArrayType], *, effects: bool, index: SizeVariable | None = None
    ) -> list[ArrayType]:
        """Check a sub-graph in a new scope, in which `index` is defined; returns the types of its results."""
        mark, sizes = len(self.trail), set(self.sizes)
        if index is not None:
            self.sizes.add(index)
        for param in graph.params:
            self.define(param)
        self.same([self.type(p) for p in graph.params], params, "a param")
        self.block(graph.phases, effects=effects)
        for value in graph.results:
            self.use(value)
        types = [self.type(v) for v in graph.results]
        self.visible.difference_update(self.trail[mark:])
        del self.trail[mark:]
        self.sizes = sizes
        return types

    def same(self, left: Sequence[ArrayType], right: Sequence[ArrayType], what: str) -> None:
        _require(len(left) == len(right), f"{what}: {len(left)} values for {len(right)}")
        for a, b in zip(left, right, strict=True):
            fits = a.element.kind is b.element.kind and agree(a.shape, b.shape)
            _require(fits, f"{what} is {a.element.kind.value}[{_show(a.shape)}], not {b.element.kind.value}[{_show(b.shape)}]")


def agree(left: Shape, right: Shape) -> bool:
    """Can two shapes be the same?  Sizes that are both numbers must be equal."""
    if len(left) != len(right):
        return False
    return all(a.constant == b.constant or a.constant is None or b.constant is None for a, b in zip(left, right, strict=True))


def _show(shape: Shape) -> str:
    return " ".join(str(s) for s in shape)


def _describe(phase: Phase) -> str:
    return phase.op if isinstance(phase, LibraryPhase) else type(phase).__name__
