"""Constant folding, view folding, and gathers that are views.

Constant folding.  In bodies, applications to constants, sizes that are numbers, and reads of constant scalars, of constants whose
items are all equal and of single known items become constant nodes.  Small phases that read constants only become constants, and
so do reductions that are exact in any order.  Only functions that give the same bits on every back end are folded
(`typechecker.values.constant_folding`), so switching the pass off changes no result; a result has at most `MOST_ITEMS` items
and takes at most `MOST_OPERATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import product
from math import prod
from typing import Final

from ....lang.support.records import replace
from ....typechecker.core.operations import Payload
from ....typechecker.elements import Kind
from ....typechecker.sizes.polynomials import Size, number
from ....typechecker.values.constant_folding import as_payload, fold
from ..bind_sizes import KnownValues
from ..phases import (
    LONGEST_CHAIN,
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Constant,
    ConstantNode,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Shape,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
    affine,
    axis_index,
    compose,
    constant_index,
    in_bounds,
    is_identity,
    kind_of,
    may_fill,
    payload_key,
    simplify,
)
from ..traverse import all_phases, axis_sizes, operands, rename_operands, with_subgraphs
from .rewriting import BodyBuilder, has_reduction, is_view

# ---------------------------------------------------------------------------------------------------- constants

MOST_ITEMS: Final = 256
MOST_OPERATIONS: Final = 1 << 16
_BATCH: Final = 1 << 12
"""Items that one call folds."""


def fold_constants(graph: Graph) -> Graph:
    """Returns the graph with constant bodies and small constant phases evaluated."""
    folding = _ConstantFolding(graph)
    return replace(graph, phases=folding.block(graph.phases))


class _ConstantFolding:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.data: dict[ValueId, tuple[Payload, ...]] = {}
        self.uniform: dict[ValueId, Node] = {}  # by value: the constant or size that all its items equal

    def block(self, phases: Sequence[Phase]) -> tuple[Phase, ...]:
        return tuple(self.phase(p) for p in phases)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        return replace(graph, phases=self.block(graph.phases))

    def phase(self, phase: Phase) -> Phase:
        if isinstance(phase, Structured):
            phase = self.structured(phase)
            known = self.evaluate(phase)
            if known is not None:
                phase = Constant(phase.id, phase.span, known, phase.results[0].value)
            elif len(phase.results) == 1 and not has_reduction(phase):
                node = phase.body[phase.results[0].node]
                if isinstance(node, ConstantNode | SizeNode) and phase.results[0].value not in self.graph.roots:
                    self.uniform[phase.results[0].value] = node
        if isinstance(phase, Constant):
            self.constant(phase)
        return with_subgraphs(phase, self.subgraph)

    def constant(self, phase: Constant) -> None:
        if phase.result in self.graph.roots:
            return
        if len(phase.data) <= MOST_ITEMS:
            self.data[phase.result] = phase.data
        if phase.data and len({payload_key(v) for v in phase.data}) == 1:
            self.uniform[phase.result] = ConstantNode(self.kind(phase.result), phase.data[0])

    def kind(self, value: ValueId) -> Kind:
        return self.graph.types[value].element.kind

    # -- bodies

    def structured(self, phase: Structured) -> Structured:
        builder = BodyBuilder()
        places: list[int] = []
        for node in phase.body:
            match node:
                case ReadNode():
                    read = phase.reads[node.index]
                    known = self.item(read)
                    places.append(builder.read(read, node) if known is None else builder.add(known))
                case SizeNode():
                    places.append(builder.add(constant_size(node)))
                case ApplyNode():
                    args = tuple(places[a] for a in node.args)
                    places.append(self.apply(builder, replace(node, args=args)))
                case _:
                    places.append(builder.add(node))
        if len(builder.nodes) == len(phase.body) and builder.nodes == list(phase.body) and len(builder.reads) == len(phase.reads):
            return phase
        return builder.finish(phase, [replace(r, node=places[r.node]) for r in phase.results])

    def item(self, read: Read) -> Node | None:
        """The constant that replaces a read, if every point reads the same known item."""
        if may_fill(read.projection):
            return None
        if read.value in self.uniform:
            return self.uniform[read.value]
        data = self.data.get(read.value)
        if data is None or not read.projection.stages:
            return None
        last = read.projection.stages[-1]
        if not isinstance(last, Affine) or any(i.terms for i in last.indices):
            return None
        flat = 0
        for index, size in zip(last.indices, last.shape, strict=True):
            at, extent = index.constant.constant, size.constant
            if at is None or extent is None:
                return None
            flat = flat * extent + at
        return ConstantNode(self.kind(read.value), data[flat]) if flat < len(data) else None

    def apply(self, builder: BodyBuilder, node: ApplyNode) -> int:
        args = [builder.nodes[a] for a in node.args]
        if node.function == "select" and isinstance(args[0], ConstantNode):
            return node.args[1] if args[0].value else node.args[2]
        constants = [a for a in args if isinstance(a, ConstantNode)]
        if len(constants) == len(args) and node.function != "convert_checked":
            known = fold(node.function, constants[0].kind, node.kind, [(c.value,) for c in constants], [()] * len(constants))
            if known is not None:
                return builder.add(ConstantNode(node.kind, known[0]))
        return builder.add(node)

    # -- whole phases

    def evaluate(self, phase: Structured) -> tuple[Payload, ...] | None:
        """All items of a small phase over constants, row-major; None if it cannot be folded."""
        space = _numbers(axis_sizes(phase.axes))
        if space is None or len(phase.results) != 1 or phase.results[0].value in self.graph.roots:
            return None
        (result,), count, reduces = phase.results, prod(space), has_reduction(phase)
        if count * (len(phase.body) + reduces) > MOST_OPERATIONS or (prod(space[:-1]) if reduces else count) > MOST_ITEMS:
            return None
        if any(r.value not in self.data for r in phase.reads) or not all(map(_is_foldable(phase), phase.body)):
            return None
        if reduces and (result.reduction not in _EXACT_REDUCTIONS or not _is_exact(phase.body[result.node]) or not space[-1]):
            return None
        if not reduces and phase.axes and isinstance(phase.body[result.node], ConstantNode):
            return None  # `uniform` records it without its items
        points = list(product(*map(range, space)))
        columns: list[tuple[Payload, ...]] = []
        for node in phase.body:
            column = self.column(phase, node, points, columns)
            if column is None:
                return None
            columns.append(column)
        items = columns[result.node]
        return _reduced(result.reduction, kind_of(phase.body[result.node]), items, space[-1]) if result.reduction else items

    def column(self, phase: Structured, node: Node, points: Sequence[tuple[int, ...]], columns: Sequence[tuple[Payload, ...]]
               ) -> tuple[Payload, ...] | None:  # fmt: skip
        match node:
            case ConstantNode():
                return (node.value,) * len(points)
            case AxisNode():
                return tuple(p[node.axis] for p in points)
            case SizeNode():
                return None
            case ReadNode():
                return self.read(phase.reads[node.index], points)
            case ApplyNode():
                if node.function == "convert_checked":
                    return None
                args = [columns[a] for a in node.args]
                if node.function == "select":
                    return tuple(b if a else c for a, b, c in zip(*args, strict=True))
                return _folded(node.function, kind_of(phase.body[node.args[0]]), node.kind, args)

    def read(self, read: Read, points: Sequence[tuple[int, ...]]) -> tuple[Payload, ...] | None:
        data = self.data[read.value]
        shape = _numbers(self.graph.types[read.value].shape)
        if shape is None or may_fill(read.projection):
            return None
        items: list[Payload] = []
        for point in points:
            index = _project(read.projection, point)
            if index is None:
                return None
            flat = 0
            for at, n in zip(index, shape, strict=True):
                flat = flat * n + at
            items.append(data[flat])
        return tuple(items)


def _folded(function: str, kind: Kind, target: Kind, args: Sequence[tuple[Payload, ...]]) -> tuple[Payload, ...] | None:
    """As `fold`, in batches of `_BATCH` items."""
    items: list[Payload] = []
    for start in range(0, len(args[0]), _BATCH):
        parts = [arg[start : start + _BATCH] for arg in args]
        known = fold(function, kind, target, parts, [(len(parts[0]),)] * len(parts))
        if known is None:
            return None
        items += known
    return tuple(items)


def _is_foldable(phase: Structured) -> Callable[[Node], bool]:
    """The predicate: can a node of the phase's body be folded?"""

    def known(node: Node) -> bool:
        if not isinstance(node, ApplyNode) or node.function == "select":
            return True
        kind = kind_of(phase.body[node.args[0]])
        return fold(node.function, kind, node.kind, [()] * len(node.args), [(0,)] * len(node.args)) is not None

    return known


def _is_exact(node: Node) -> bool:
    kind = kind_of(node)
    return kind.is_integer or kind is Kind.BOOL


def _reduced(function: str, kind: Kind, items: tuple[Payload, ...], length: int) -> tuple[Payload, ...]:
    """The reduction of each row of `length` items.  Integers are exact in any order, so they wrap around once at the end."""
    integers = [int(item) for item in items if not isinstance(item, complex)]
    rows = [integers[at : at + length] for at in range(0, len(integers), length)]
    return tuple(as_payload(_EXACT_REDUCTIONS[function](row), kind) for row in rows)


def _product(row: Sequence[int]) -> int:
    return reduce(lambda a, b: a * b % (1 << 64), row, 1)


_EXACT_REDUCTIONS: Final[dict[str, Callable[[Sequence[int]], int]]] = {
    "add": sum, "mul": _product, "min": min, "max": max, "and": min, "or": max,
    "band": lambda row: reduce(int.__and__, row), "bor": lambda row: reduce(int.__or__, row),
    "bxor": lambda row: reduce(int.__xor__, row),
}  # fmt: skip


def constant_size(node: SizeNode) -> Node:
    """A size that is a number as a constant node; other nodes unchanged."""
    value = node.size.constant
    return node if value is None else ConstantNode(Kind.I64, value)


def _numbers(sizes: Sequence[Size]) -> list[int] | None:
    known = [s.constant for s in sizes]
    lengths = [n for n in known if n is not None]
    return lengths if len(lengths) == len(known) else None


def _project(projection: Projection, point: tuple[int, ...]) -> tuple[int, ...] | None:
    for stage in projection.stages:
        if isinstance(stage, Affine):
            starts = _numbers([i.constant for i in stage.indices])
            if starts is None:
                return None
            point = tuple(
                start + sum(t.coefficient * point[t.axis] for t in i.terms)
                for start, i in zip(starts, stage.indices, strict=True)
            )
            continue
        source, target = _numbers(stage.source), _numbers(stage.target)
        if source is None or target is None:
            return None
        flat = 0
        for at, n in zip(point, source, strict=True):
            flat = flat * n + at
        digits: list[int] = []
        for n in reversed(target):
            digits.append(flat % n)
            flat //= n
        point = tuple(reversed(digits))
    return point


# ---------------------------------------------------------------------------------------------------- views
#
# View folding: readers of a phase that only moves elements read its operand instead, so views cost nothing there.
#
# A structured reader of a view composes its projection with the view's and reads the view's operand; an identity view is replaced
# by its operand everywhere.  A read of one position along the axis of a stack or a join reads the argument that has it.  The view
# phase stays for readers that need a stored array (library phases, prints, outputs, loops); `drop_dead` removes it if there are
# none.  Roots are neither folded nor read through.

def fold_views(graph: Graph) -> Graph:
    """Returns the graph with readers of views reading the operand of the view through the composed projection."""
    folding = _ViewFolding(graph)
    phases = folding.block(graph.phases)
    names = dict(graph.names)
    for old, new in folding.aliases.items():
        if old in names:
            names.setdefault(new, names[old])
            del names[old]
    return replace(graph, phases=phases, names=names)


class _ViewFolding:
    def __init__(self, graph: Graph) -> None:
        self.types = graph.types
        self.roots = graph.roots
        self.views: dict[ValueId, tuple[ValueId, Projection]] = {}
        self.parts: dict[ValueId, LibraryPhase] = {}
        self.aliases: dict[ValueId, ValueId] = {}

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        remaining: list[Phase] = []
        for phase in phases:
            phase = with_subgraphs(phase, self.subgraph)
            if any(v in self.aliases for v in operands(phase)):
                phase = rename_operands(phase, self.aliases)
            if isinstance(phase, LibraryPhase) and phase.op in ("stack", "join") and phase.results[0] not in self.roots:
                self.parts[phase.results[0]] = phase
            if isinstance(phase, Structured):
                phase = self.structured(phase)
                if is_view(phase) and phase.results[0].value not in self.roots and self.view(phase):
                    continue
            remaining.append(phase)
        return tuple(remaining)

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return replace(graph, phases=phases, results=tuple(self.aliases.get(v, v) for v in graph.results))

    def structured(self, phase: Structured) -> Structured:
        if not any(r.value in self.views or r.value in self.parts for r in phase.reads):
            return phase
        space = axis_sizes(phase.axes)
        return replace(phase, reads=tuple(self.through(r, space) for r in phase.reads))

    def through(self, read: Read, space: Shape) -> Read:
        if read.value in self.parts:
            part = self.part(self.parts[read.value], read, space)
            return read if part is None else self.through(part, space)
        view = self.views.get(read.value)
        if view is None:
            return read
        value, projection = view
        composed = compose(space, read.projection, projection)
        return Read(value, composed) if len(composed.stages) <= LONGEST_CHAIN else read

    def part(self, stack: LibraryPhase, read: Read, space: Shape) -> Read | None:
        """A read at one position along the axis of a stack or a join, as a read of the argument there; None for other reads."""
        axis, stages = stack.attributes["axis"], read.projection.stages
        last = stages[-1] if stages else None
        if not isinstance(last, Affine) or last.fills or not isinstance(axis, int) or last.indices[axis].terms:
            return None
        position = last.indices[axis].constant.constant
        if position is None:
            return None
        for arg in stack.args:
            shape = self.types[arg].shape
            count = 1 if stack.op == "stack" else shape[axis].constant
            if count is None:
                return None
            if position < count:
                inner = () if stack.op == "stack" else (constant_index(number(position)),)
                indices = (*last.indices[:axis], *inner, *last.indices[axis + 1 :])
                return Read(arg, simplify(space, (*stages[:-1], Affine(indices, shape))))
            position -= count
        return None

    def view(self, phase: Structured) -> bool:
        """Record a view; True if it is the identity, which makes the phase redundant."""
        read, result = phase.reads[0], phase.results[0].value
        if is_identity(axis_sizes(phase.axes), read.projection, self.types[read.value].shape):
            self.aliases[result] = read.value
            return True
        self.views[result] = (read.value, read.projection)
        return False


# ------------------------------------------------------------------------------------------- gathers as views
#
# Gathers by evenly stepping indices are views: `x[3+⍳4]`, `x[n-1]`, every other row.
#
# The index array must be an affine function of its axes (`bind_sizes.KnownValues`), and either proved in range by the checker or
# evidently in range here; a gather that has to check its indices stays one.

def gathers_to_views(graph: Graph) -> Graph:
    """Returns the graph with gathers by evenly stepping indices rewritten to views."""
    phases = _Rewriting(graph).block(graph.phases)
    return graph if phases is graph.phases else replace(graph, phases=phases)


class _Rewriting:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.steps = graph, KnownValues(all_phases(graph), graph.types).steps

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """The phases with such gathers as views; the same object if there are none."""
        rewritten = tuple(self.phase(p) for p in phases)
        return phases if all(a is b for a, b in zip(rewritten, phases, strict=True)) else rewritten

    def subgraph(self, graph: SubGraph) -> SubGraph:
        phases = self.block(graph.phases)
        return graph if phases is graph.phases else replace(graph, phases=phases)

    def phase(self, phase: Phase) -> Phase:
        is_plain = isinstance(phase, LibraryPhase) and "frame" not in phase.attributes and not phase.attributes.get("fills")
        if isinstance(phase, LibraryPhase) and phase.op == "gather" and is_plain:
            return self.gather(phase)
        return with_subgraphs(phase, self.subgraph)

    def gather(self, phase: LibraryPhase) -> Phase:
        arg, indices, *_ = phase.args
        steps, axis = self.steps.get(indices), phase.attributes["axis"]
        if steps is None or not isinstance(axis, int):
            return phase
        shape = self.graph.types[arg].shape
        space = self.graph.types[phase.results[0]].shape
        rank = len(steps.coefficients)
        indexed: Shape = space[axis : axis + rank]  # indices are checked even where other axes are empty
        if phase.attributes["checked"] and not in_bounds(indexed, Affine((steps.index(0),), (shape[axis],))):
            return phase
        picked = [
            axis_index(a) if a < axis else steps.index(axis) if a == axis else axis_index(a - 1 + rank) for a in range(len(shape))
        ]
        read = Read(arg, affine(space, picked, shape))
        axes = tuple(Axis(s, AxisKind.PARALLEL) for s in space)
        kind = self.graph.types[arg].element.kind
        return Structured(phase.id, phase.span, axes, (read,), (ReadNode(0, kind),), (PhaseResult(phase.results[0], 0, None),))
