"""Constant folding: what is known when the program is loaded or written is computed once, here.

Bodies: applications to constants, sizes that are numbers, reads of constant scalars, of constants whose items are all equal and
of single known items become constant nodes.  Small phases that read constants only become constants, and so do reductions that
are exact in any order.  Only functions that give the same bits on every back end are computed (`typechecker.folding`), so
switching the pass off changes no result; a result has at most `MOST_ITEMS` items and takes at most `MOST_OPERATIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product
from math import prod
from typing import Final

from ....typechecker.core import Payload
from ....typechecker.elements import Kind
from ....typechecker.folding import fold, settle
from ....typechecker.sizes import Size
from ..phases import (
    Affine,
    ApplyNode,
    AxisNode,
    Constant,
    ConstantNode,
    Graph,
    Node,
    Phase,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    SubGraph,
    ValueId,
)
from ..projections import may_fill
from ..traverse import axis_sizes, with_subgraphs
from .rewriting import BodyBuilder, has_reduction, payload_key

MOST_ITEMS: Final = 256
MOST_OPERATIONS: Final = 1 << 16
_TOGETHER: Final = 1 << 12
"""Items that are folded at once."""


def fold_constants(graph: Graph) -> Graph:
    """See the module."""
    folding = _Folding(graph)
    return replace(graph, phases=folding.block(graph.phases))


class _Folding:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.data: dict[ValueId, tuple[Payload, ...]] = {}
        self.uniform: dict[ValueId, Node] = {}  # every item is this

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
                    places.append(builder.add(settled(node)))
                case ApplyNode():
                    args = tuple(places[a] for a in node.args)
                    places.append(self.apply(builder, replace(node, args=args)))
                case _:
                    places.append(builder.add(node))
        if len(builder.nodes) == len(phase.body) and builder.nodes == list(phase.body) and len(builder.reads) == len(phase.reads):
            return phase
        return builder.finish(phase, [replace(r, node=places[r.node]) for r in phase.results])

    def item(self, read: Read) -> Node | None:
        """The node a read amounts to, if every point reads the same known item."""
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
        """All items of a small phase over constants."""
        space = _numbers(axis_sizes(phase.axes))
        if space is None or len(phase.results) != 1 or phase.results[0].value in self.graph.roots:
            return None
        (result,), count, reduces = phase.results, prod(space), has_reduction(phase)
        if count * (len(phase.body) + reduces) > MOST_OPERATIONS or (prod(space[:-1]) if reduces else count) > MOST_ITEMS:
            return None
        if any(r.value not in self.data for r in phase.reads) or not all(map(_is_foldable(phase), phase.body)):
            return None
        if reduces and (result.reduction not in _WHOLE or not _is_exact(phase.body[result.node]) or not space[-1]):
            return None
        if not reduces and phase.axes and isinstance(phase.body[result.node], ConstantNode):
            return None  # one item everywhere is better kept as such
        points = list(product(*map(range, space)))
        columns: list[tuple[Payload, ...]] = []
        for node in phase.body:
            column = self.column(phase, node, points, columns)
            if column is None:
                return None
            columns.append(column)
        found = columns[result.node]
        return _reduced(result.reduction, _node_kind(phase.body[result.node]), found, space[-1]) if result.reduction else found

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
                return _folded(node.function, _node_kind(phase.body[node.args[0]]), node.kind, args)

    def read(self, read: Read, points: Sequence[tuple[int, ...]]) -> tuple[Payload, ...] | None:
        data = self.data[read.value]
        shape = _numbers(self.graph.types[read.value].shape)
        if shape is None or may_fill(read.projection):
            return None
        found: list[Payload] = []
        for point in points:
            place = _project(read.projection, point)
            if place is None:
                return None
            flat = 0
            for at, n in zip(place, shape, strict=True):
                flat = flat * n + at
            found.append(data[flat])
        return tuple(found)


def _folded(function: str, kind: Kind, target: Kind, args: Sequence[tuple[Payload, ...]]) -> tuple[Payload, ...] | None:
    """As `fold`, of any number of items."""
    made: list[Payload] = []
    for start in range(0, len(args[0]), _TOGETHER):
        parts = [arg[start : start + _TOGETHER] for arg in args]
        known = fold(function, kind, target, parts, [(len(parts[0]),)] * len(parts))
        if known is None:
            return None
        made += known
    return tuple(made)


def _is_foldable(phase: Structured) -> Callable[[Node], bool]:
    """Is a node of its body one that `fold` knows?"""

    def known(node: Node) -> bool:
        if not isinstance(node, ApplyNode) or node.function == "select":
            return True
        kind = _node_kind(phase.body[node.args[0]])
        return fold(node.function, kind, node.kind, [()] * len(node.args), [(0,)] * len(node.args)) is not None

    return known


def _is_exact(node: Node) -> bool:
    kind = _node_kind(node)
    return kind.is_integer or kind is Kind.BOOL


def _reduced(function: str, kind: Kind, items: tuple[Payload, ...], length: int) -> tuple[Payload, ...]:
    """Rows of a length, each reduced; exact in any order, so whole numbers wrap once at the end."""
    whole = [int(item) for item in items if not isinstance(item, complex)]
    rows = [whole[at : at + length] for at in range(0, len(whole), length)]
    return tuple(settle(_WHOLE[function](row), kind) for row in rows)


def _product(row: Sequence[int]) -> int:
    return reduce(lambda a, b: a * b % (1 << 64), row, 1)


_WHOLE: Final[dict[str, Callable[[Sequence[int]], int]]] = {
    "add": sum, "mul": _product, "min": min, "max": max, "and": min, "or": max,
    "band": lambda row: reduce(int.__and__, row), "bor": lambda row: reduce(int.__or__, row),
    "bxor": lambda row: reduce(int.__xor__, row),
}  # fmt: skip


def settled(node: SizeNode) -> Node:
    """A size that is a number, as a constant."""
    value = node.size.constant
    return node if value is None else ConstantNode(Kind.I64, value)


def _node_kind(node: Node) -> Kind:
    return node.kind if isinstance(node, ReadNode | ConstantNode | ApplyNode) else Kind.I64


def _numbers(sizes: Sequence[Size]) -> list[int] | None:
    known = [s.constant for s in sizes]
    found = [n for n in known if n is not None]
    return found if len(found) == len(known) else None


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
        found: list[int] = []
        for n in reversed(target):
            found.append(flat % n)
            flat //= n
        point = tuple(reversed(found))
    return point
