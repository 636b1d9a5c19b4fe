"""Structured phases of regions: nests over a scope.

Neighbours: `nests` (the loops), `values` (where operands lie), `kernels.build` (the body as kernels know it).
"""

from __future__ import annotations

from collections.abc import Sequence

from ....typechecker.sizes import Size
from ...graph.phases import Affine, AxisKind, Projection, Read, ReadNode, Structured
from ...kernels.build import Body, build_body, spans_of
from ...kernels.ir import Apply, Form, Load, Node
from ..ir import Index
from ..orders import MOST_UNROLLED
from .nests import Extent, Nest
from .projections import indices_of
from .values import SMALL, Check, Place, Registers, Scope, Unsupported, Where


def lower_structured(scope: Scope, phase: Structured) -> None:
    _note_turned(scope, phase)
    if phase.results[0].value in scope.aliases:
        _show(scope, phase)
        return
    body = build_body(phase, complexes=True, loops=True)
    if body is None:
        raise Unsupported("a function or kind that kernels do not have")
    _Phase(scope, phase, body).write()


def _show(scope: Scope, phase: Structured) -> None:
    """Items of a phase that only renames indices are read where they are used."""
    (read,), sizes = phase.reads, [axis.size for axis in phase.axes]

    def item(point: tuple[Index, ...], mask: str | None) -> Registers:
        indices, _ = indices_of(scope, read.projection, point, sizes)
        return scope.items(read.value, indices, mask)

    scope.lazy[phase.results[0].value] = item


def _note_turned(scope: Scope, phase: Structured) -> None:
    """Of a phase that only exchanges axes."""
    match phase:
        case Structured(reads=(Read(value, Projection((Affine(indices, _, False),))),), body=(ReadNode(),), results=(result,)):
            axes = [term.axis for index in indices for term in index.terms if term.coefficient == 1]
            plain = all(len(index.terms) == 1 and index.constant.constant == 0 for index in indices)
            rank = list(range(len(indices)))
            is_whole = sorted(axes) == rank and [phase.axes[axis].size for axis in axes] == list(scope.shape(value))
            if plain and is_whole and len(phase.axes) == len(rank) and result.reduction is None:
                scope.turned[result.value] = value, tuple(map(axes.index, rank))


class _Phase(Nest):
    """The loops of a phase; hoisting takes out of them what no iteration changes."""

    def __init__(self, scope: Scope, phase: Structured, body: Body) -> None:
        self.scope, self.phase, self.body, self.spans = scope, phase, body, spans_of(phase, body.nodes)
        self.parallel = [axis.size for axis in phase.axes if axis.kind is AxisKind.PARALLEL]
        self.along = next((axis.size for axis in phase.axes if axis.kind is AxisKind.REDUCE), None)
        last, extents = Extent(), [scope.index_of(axis.size) for axis in phase.axes]
        if (size := self.along) is not None:
            known = size.constant or 0
            last = Extent(known if known < SMALL else 0, scope.most(size), known > 0)
            if body.finds_places and not known:
                raise Unsupported("the place of an extreme where there may be no item")
        super().__init__(scope.b, self.chosen(), body.nodes, body.kinds, body.results, extents, last)
        if self.parallel:
            self.most_cells = max(1, min(self.most_cells, scope.most(self.parallel[-1])))
            self.targets = [scope.place_for(result.value) for result in phase.results]

    def chosen(self) -> Form:
        """A reduction is along the reduced axis, or across it, whichever reads memory in order."""
        size = self.along
        if size is None:
            return Form.MAP
        if not self.parallel:
            return Form.ALONG
        few = size.constant is not None and size.constant <= MOST_UNROLLED
        if few or self.body.is_from_the_right or not (self.body.is_ordered or self.is_along()):
            return Form.COLUMNS
        return Form.ALONG if self.is_along() else Form.ACROSS

    def is_along(self) -> bool:
        """Do operands lie along the reduced axis rather than along the last parallel one?"""
        reduced = len(self.parallel)
        votes = 0
        for read in self.phase.reads:
            stage = read.projection.stages[-1] if read.projection.stages else None
            if stage is None:
                votes += 1  # the identity: the reduced axis is the last
            elif isinstance(stage, Affine) and stage.indices:
                axes = {term.axis for term in stage.indices[-1].terms} if len(read.projection.stages) == 1 else set()
                votes += (reduced in axes) - (reduced - 1 in axes)
        return votes > 0

    def write(self) -> None:
        super().write()
        if self.parallel:
            self.scope.values.update(zip((result.value for result in self.phase.results), self.targets, strict=True))

    def give(self, point: Sequence[Index], registers: Sequence[str]) -> None:
        supply = iter(registers)
        for place, result in enumerate(self.phase.results):
            item = tuple(next(supply) for _ in self.scope.parts(result.value))
            if self.parallel:
                self.scope.write(self.targets[place], point, item)
            else:
                self.scope.keep(result.value, item)

    def depends(self, node: Node) -> frozenset[int]:
        return frozenset({len(self.phase.axes) - 1})

    def load(self, node: Load, point: Sequence[Index], mask: str | None) -> str:
        read, sizes = self.phase.reads[node.operand], [axis.size for axis in self.phase.axes]
        indices, present = indices_of(self.scope, read.projection, point, sizes)
        return self.scope.items(read.value, indices, self.b.both(mask, present))[max(node.part, 0)]

    def argument(self, place: int) -> str:
        return self.b.number(self.scope.index_of(self.body.sizes[place]))

    def check(self, place: int, node: Apply) -> int:
        span = self.spans.get(place, self.phase.span)
        return self.scope.check(Check(span, node.function, node.compute, node.kind, node.parameter))


def copy(scope: Scope, shape: Sequence[Size], source: Where, target: Place) -> None:
    """Every item of one place to another."""
    if source == target:
        return
    with scope.points(shape) as point:
        scope.write(target, point, scope.read(source, point))
