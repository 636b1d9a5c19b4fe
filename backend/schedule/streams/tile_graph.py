"""The graph of one tile, an ordinary graph with sizes.

Flowing values have the extents of the tile.  Its inputs are the rows of the program's inputs (by their names), whole values
(`whole`), the start of the tile (`start`) and the state that the tile before left (`state`).  Its outputs are all results that
are used outside it.  So `one_device` plans it and it runs like any other graph; tiles of the same extents share one graph.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod
from typing import Final

from ....lang.support.records import dataclass, field, replace
from ....typechecker.elements import ArrayType, Element, Kind, neutral_element
from ....typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, number, variable
from ...graph import traverse
from ...graph.bind_sizes import BoundGraph
from ...graph.partial_graphs import box_view, rename_all_operands, restrict
from ...graph.passes.redundancy import drop_dead
from ...graph.phases import (
    ARGUMENT_REDUCTIONS,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    ConstantNode,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Node,
    Output,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Reshaped,
    SizeNode,
    Stage,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from ...graph.registry import signature_of
from ...graph.symbolic_costs import Types
from ..plan.plan import Box
from ..program_facts.partitioning import (
    BLOCK,
    box_along_axis,
    full_box,
    merged_loop_body,
    operand_boxes,
    reads_of,
    shape_of,
    space_of,
)
from .tile_demands import (
    JoinedAxis,
    OutputKind,
    PassPartitioning,
    Rows,
    TileDemand,
    TilePass,
    boxes_read,
    captured,
    function_of,
    is_carried,
    is_ordered_scan,
    selects,
    tells_empty,
)

# ---------------------------------------------------------------------------------------------------- graph of a tile

@dataclass(slots=True)
class Tile:
    """The graph of a tile.

    `starts`: its inputs that give the start of a box, by phase and axis; `states`: its outputs that are inputs of the next tile
    under the same name; `bests`: for each position of an argument reduction, the value of the item there.
    """

    bound: BoundGraph = field(init=False)
    operands: dict[str, ValueId] = field(default_factory=dict)
    starts: dict[str, tuple[PhaseId, int]] = field(default_factory=dict)
    results: dict[str, ValueId] = field(default_factory=dict)
    states: dict[str, TileState] = field(default_factory=dict)
    bests: dict[ValueId, ValueId] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TileState:
    """State that a phase carries from tile to tile: the tile's output `made`, initially items `neutral`.

    `occupied`: a boolean state that marks the bins with items in the phase's other state.
    """

    phase: PhaseId
    made: ValueId
    type: ArrayType
    neutral: int | float
    occupied: bool = False


def key_of(flow: PassPartitioning, one: TilePass, needed: TileDemand) -> tuple[object, ...]:
    """Returns a key under which tiles share a graph: extents, relative positions of boxes, and the parts of whole values that are
    read."""
    anchor = {value: start for value, (start, _) in needed.rows.items()}
    extents = tuple((value, stop - start) for value, (start, stop) in needed.rows.items())
    boxes, parts, types = [], list[tuple[ValueId, Box]](), flow.graph.types
    for phase in one.phases:
        box = needed.boxes.get(phase.id)
        if box is None:
            continue
        near = [anchor[value] for value in (*reads_of(phase, types), *traverse.results(phase)) if value in anchor]
        start, stop = box[flow.cuts[phase.id].axis]  # the other axes are complete in every tile
        begins = isinstance(phase, Fold) and not start
        boxes.append((phase.id, begins, stop - start, *(start - at for at in near)))
        read = zip(reads_of(phase, types), boxes_read(phase, types, flow.cuts[phase.id], box), strict=True)
        parts += [(value, part) for value, part in read if value not in flow.follows[phase.id]]
    return extents, tuple(boxes), tuple(parts)


def tile_of(flow: PassPartitioning, one: TilePass, needed: TileDemand, tile: Rows, *, delivers: bool = True) -> Tile:
    """Returns the graph of a tile with these demands, or (not `delivers`) of the totals alone that its scans leave."""
    return _TileGraphBuilder(flow, one, needed, tile, delivers).made()


@dataclass(slots=True)
class _TileGraphBuilder:
    flow: PassPartitioning
    one: TilePass
    needed: TileDemand
    at: Rows
    delivers: bool
    types: dict[ValueId, ArrayType] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    inputs: list[Phase] = field(default_factory=list)
    tile: Tile = field(default_factory=Tile)
    whole: dict[ValueId, ValueId] = field(default_factory=dict)
    absent: set[ValueId] = field(default_factory=set)
    """Results that the tile does not compute, nor what follows them."""
    fresh: int = 0

    def made(self) -> Tile:
        graph = self.flow.graph
        self.fresh = traverse.fresh_id(graph)
        for value in self.needed.rows:
            self.types[value] = self.local(value)
        for phase in self.one.phases:
            if isinstance(phase, Input):
                if phase.result in self.needed.rows:
                    self.inputs.append(phase)
            elif not self.absent.isdisjoint(self.flow.follows.get(phase.id, ())):
                self.absent.update(traverse.results(phase))
            elif phase.id in self.needed.boxes:
                self.phase(phase, self.needed.boxes[phase.id])
        for value in self.leaving() if self.delivers else ():
            name = f"result {value}"
            self.tile.results[name] = value
            self.out(name, value)
        for name, state in self.tile.states.items():
            self.out(name, state.made)
        made = Graph((*self.inputs, *self.phases), self.types, graph.names, (), (), ())
        self.tile.bound = BoundGraph(made if self.delivers else drop_dead(made), {})
        return self.tile

    def out(self, name: str, value: ValueId) -> None:
        self.phases.append(Output(PhaseId(self.new()), self.one.phases[-1].span, name, value))

    def leaving(self) -> Iterator[ValueId]:
        results: dict[ValueId, None] = {}
        for sink in self.one.sinks:
            if sink.value is not None and sink.value in self.needed.rows:
                results[sink.value] = None
            elif sink.kind is OutputKind.JOINED and sink.phase.id in self.needed.boxes:
                results.update(dict.fromkeys(traverse.results(sink.phase)))
        results.update((best, None) for value, best in self.tile.bests.items() if value in results)
        return iter(results)

    def new(self) -> int:
        self.fresh += 1
        return self.fresh

    def value(self, type: ArrayType) -> ValueId:
        value = ValueId(self.new())
        self.types[value] = type
        return value

    def local(self, value: ValueId) -> ArrayType:
        """Returns the type of a value's rows in the tile."""
        type, (start, stop) = self.flow.graph.types[value], self.needed.rows[value]
        axis = self.flow.axes[value]
        shape = tuple(number(stop - start) if i == axis else size for i, size in enumerate(type.shape))
        return ArrayType(type.element, shape)

    def held(self, value: ValueId, phase: Phase) -> tuple[ValueId, Box]:
        """Returns the tile's value that stands for the `value` a phase reads, and the box of `value` that it holds."""
        shape = shape_of(value, self.flow.graph.types)
        assert shape is not None, "only phases of known sizes are cut"
        if value not in self.flow.follows[phase.id]:
            return self.brought(value), full_box(shape)
        return value, box_along_axis(shape, self.flow.axes[value], self.needed.rows[value])

    def brought(self, value: ValueId) -> ValueId:
        """Returns the tile's input that stands for a whole value."""
        operand = self.whole.get(value)
        if operand is None:
            name = f"whole {value}"
            self.tile.operands[name] = value
            operand = self.whole[value] = self.given(name, self.flow.graph.types[value], self.one.phases[-1])
        return operand

    def phase(self, phase: Phase, box: Box) -> None:
        match phase:
            case Structured():
                restricted = self.structured(phase, phase, box)
                if self.flow.cuts[phase.id].combines:
                    restricted = self.with_bests(restricted)
                    for value in traverse.results(phase):
                        self.types.setdefault(value, self.flow.graph.types[value])
                self.phases.append(restricted)
            case Fold():
                self.folded(phase, box)
            case LibraryPhase() if isinstance(self.flow.cuts[phase.id], JoinedAxis):
                self.joined(phase, box)
            case LibraryPhase() if selects(phase):
                self.selecting(phase, box)
            case LibraryPhase() if is_carried(self.flow.cuts[phase.id]):
                self.carried(phase, box)
            case LibraryPhase():
                boxes = boxes_read(phase, self.flow.graph.types, self.flow.cuts[phase.id], box)
                for value in phase.results:  # partial results
                    self.types.setdefault(value, self.flow.graph.types[value])
                args = tuple(self.exactly(value, part, phase) for value, part in zip(phase.args, boxes, strict=True))
                cut = replace(phase, args=args)
                self.phases.append(replace(cut, signature=signature_of(cut, self.types)))
            case Loop():
                self.loop(phase, box)
            case _:
                raise AssertionError(f"phase {phase.id} does not flow")

    def structured(self, phase: Structured, origin: Phase, box: Box) -> Structured:
        """Returns the phase on its box of the tile."""
        held = [self.held(read.value, origin) for read in phase.reads]
        cut = self.flow.cuts[origin.id].axis
        moving: dict[int, ValueId] = {}
        if any(isinstance(node, AxisNode) and node.axis == cut for node in phase.body):
            moving[cut] = self.start(origin, cut)
        restricted = restrict(phase, box, [part for _, part in held], moving).phase
        reads = tuple(replace(r, value=held[i][0]) if i < len(held) else r for i, r in enumerate(restricted.reads))
        return replace(restricted, reads=reads)

    def with_bests(self, phase: Structured) -> Structured:
        """Returns the phase with a second result for each argument reduction, the item; see `tile_demands`, Note [Places]."""
        more: list[PhaseResult] = []
        for result in phase.results:
            if result.reduction in ARGUMENT_REDUCTIONS:
                function, shape = "min" if result.reduction == "argmin" else "max", self.flow.graph.types[result.value].shape
                best = self.tile.bests[result.value] = self.value(ArrayType(Element(self.kind_of(phase, result.node)), shape))
                more.append(PhaseResult(best, result.node, function))
        return replace(phase, results=(*phase.results, *more))

    def kind_of(self, phase: Structured, node: int) -> Kind:
        one = phase.body[node]
        return Kind.I64 if isinstance(one, AxisNode | SizeNode) else one.kind

    def selecting(self, phase: LibraryPhase, box: Box) -> None:
        """Add the selection of the tile's rows, of a runtime size; see `tile_demands`, Note [Selecting]."""
        boxes = boxes_read(phase, self.flow.graph.types, self.flow.cuts[phase.id], box)
        args = tuple(self.exactly(value, part, phase) for value, part in zip(phase.args, boxes, strict=True))
        (result,), rows = phase.results, box[0][1] - box[0][0]
        count = SizeVariable("k", self.new(), SizeOrigin.RUNTIME, number(rows))
        type = self.flow.graph.types[result]
        self.types[result] = ArrayType(Element(type.element.kind), (variable(count), *type.shape[1:]))
        selection = replace(phase, args=args, defines=(count,))
        self.phases.append(replace(selection, signature=signature_of(selection, self.types)))

    def joined(self, phase: LibraryPhase, box: Box) -> None:
        """Add the join of those rows of the operands that are in the tile."""
        boxes = boxes_read(phase, self.flow.graph.types, self.flow.cuts[phase.id], box)
        read = zip(phase.args, boxes, strict=True)
        parts = [self.exactly(value, part, phase) for value, part in read if part[0][0] < part[0][1]]
        if len(parts) == 1:
            self.part(parts[0], 0, self.types[parts[0]], phase, phase.results[0])
        else:
            self.phases.append(replace(phase, args=tuple(parts)))

    def folded(self, phase: Fold, box: Box) -> None:
        """Add the scan by a function of the program on the state before the tile followed by the tile's items."""
        ((first, last),), types = box, self.flow.graph.types
        names = {value: self.brought(value) for value in captured(phase)}
        for inner in traverse.all_phases(phase.body):
            for value in (*traverse.results(inner), *(param for body in traverse.subgraphs(inner) for param in body.params)):
                self.types.setdefault(value, types[value])
        for param in phase.body.params:
            self.types.setdefault(param, types[param])
        boxes = boxes_read(phase, types, self.flow.cuts[phase.id], box)
        args = [self.exactly(value, part, phase) for value, part in zip(phase.args, boxes, strict=True)]
        states = [(f"state {phase.id} {at}", self.rows(self.types[arg], 1)) for at, arg in enumerate(args)]
        if first:
            args = [self.join(self.given(*state, phase), arg, phase=phase) for state, arg in zip(states, args, strict=True)]
        scanned = tuple(self.value(self.types[arg]) for arg in args)
        self.phases.append(rename_all_operands(replace(phase, id=PhaseId(self.new()), args=tuple(args), results=scanned), names))
        before = 1 if first else 0
        for value, result, (name, one) in zip(scanned, phase.results, states, strict=True):
            self.part(value, before, self.rows(self.types[value], last - first), phase, result)
            self.tile.states[name] = TileState(phase.id, self.part(value, before + last - first - 1, one, phase), one, 0)

    def rows(self, type: ArrayType, count: int) -> ArrayType:
        """Returns the type of `count` rows of a value."""
        return ArrayType(type.element, (number(count), *type.shape[1:]))

    def carried(self, phase: LibraryPhase, box: Box) -> None:
        """Add the phase on the state followed by the items of the tile; see `tile_demands`, Note [States]."""
        types = self.flow.graph.types
        args = [
            self.exactly(value, part, phase)
            for value, part in zip(phase.args, boxes_read(phase, types, self.flow.cuts[phase.id], box), strict=True)
        ]
        (result,) = phase.results
        element, rows = types[result].element, box[0][1] - box[0][0]
        nothing = neutral_element(function_of(phase), element.kind)
        if phase.op == "key_reduce":
            shape = types[result].shape
            keys = self.join(self.places(self.types[args[0]].element, shape[0], phase), args[0], phase=phase)
            self.state(phase, keys, args[1], ArrayType(element, shape), nothing)
            if tells_empty(phase, types):
                some = self.filled(ArrayType(Element(Kind.BOOL), (number(rows),)), True, phase)
                other = replace(phase, attributes={**phase.attributes, "function": "or"})
                self.state(other, keys, some, ArrayType(Element(Kind.BOOL), shape[:1]), 0, occupied=True)
            return
        cell = types[result].shape[1:]
        before = BLOCK if is_ordered_scan(phase, types) else 1
        name, one = f"state {phase.id}", ArrayType(element, (number(1), *cell))
        if not self.delivers:
            total = self.totals(phase, args[0], rows, nothing)
            self.tile.states[name] = TileState(phase.id, total, one, nothing)
            self.absent.add(result)
            return
        parts = [self.given(name, one, phase)]
        if before > 1:
            parts.append(self.filled(ArrayType(element, (number(before - 1), *cell)), nothing, phase))
        line = self.join(*parts, args[0], self.filled(one, nothing, phase), phase=phase)
        scanned = self.value(self.types[line])
        self.library(replace(phase, args=(line,), results=(scanned,)))
        self.part(scanned, before, self.types[result], phase, result)
        self.tile.states[name] = TileState(phase.id, self.part(scanned, before + rows, one, phase), one, nothing)

    def totals(self, scan: LibraryPhase, items: ValueId, rows: int, nothing: int | float) -> ValueId:
        """Add the totals of the blocks of a scan's items, each alone; see `tile_demands`, Note [Rounds]."""
        blocks, type = -(-rows // BLOCK), self.types[items]
        if missing := blocks * BLOCK - rows:
            items = self.join(items, self.filled(self.rows(type, missing), nothing, scan), phase=scan)
        sizes, element = (number(blocks), number(BLOCK), *type.shape[1:]), self.flow.graph.types[scan.results[0]].element
        lines = self.copied(items, Reshaped(sizes, self.types[items].shape), ArrayType(type.element, sizes), scan)
        scanned = self.value(ArrayType(element, sizes))
        self.library(replace(scan, args=(lines,), results=(scanned,), attributes={**scan.attributes, "axis": 1}))
        places = [AffineIndex((Term(axis, 1),), number(0)) for axis in range(len(sizes) - 1)]
        places.insert(1, AffineIndex((), number(BLOCK - 1)))
        return self.copied(scanned, Affine(tuple(places), sizes), ArrayType(element, (sizes[0], *sizes[2:])), scan)

    def copied(self, value: ValueId, stage: Stage, type: ArrayType, phase: Phase) -> ValueId:
        """Add a phase that reads a value at the places of a projection."""
        result, axes = self.value(type), tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
        reads, body = (Read(value, Projection((stage,))),), (ReadNode(0, type.element.kind),)
        self.phases.append(Structured(PhaseId(self.new()), phase.span, axes, reads, body, (PhaseResult(result, 0, None),)))
        return result

    def state(
        self, phase: LibraryPhase, keys: ValueId, items: ValueId, type: ArrayType, nothing: int | float, *, occupied: bool = False
    ) -> None:  # fmt: skip
        """Add a reduction by key that continues from a state."""
        name, carried = f"{'occupied' if occupied else 'state'} {phase.id}", self.value(type)
        line = self.join(self.given(name, type, phase), items, phase=phase)
        self.library(replace(phase, args=(keys, line), results=(carried,)))
        self.tile.states[name] = TileState(phase.id, carried, type, nothing, occupied)

    def library(self, phase: LibraryPhase) -> None:
        copy = replace(phase, id=PhaseId(self.new()))
        self.phases.append(replace(copy, signature=signature_of(copy, self.types)))

    def join(self, *parts: ValueId, phase: Phase) -> ValueId:
        """Add a join along the leading axis."""
        first, length = self.types[parts[0]], sum(self.types[part].shape[0].constant or 0 for part in parts)
        result = self.value(ArrayType(first.element, (number(length), *first.shape[1:])))
        self.library(LibraryPhase(phase.id, phase.span, "join", parts, (result,), {"axis": 0}, (), ()))
        return result

    def given(self, name: str, type: ArrayType, phase: Phase) -> ValueId:
        """Add an input of the tile."""
        value = self.value(type)
        self.inputs.append(Input(PhaseId(self.new()), phase.span, name, value))
        return value

    def filled(self, type: ArrayType, value: int | float, phase: Phase) -> ValueId:
        return self.computed(type, (ConstantNode(type.element.kind, value),), phase)

    def places(self, element: Element, size: Size, phase: Phase) -> ValueId:
        """Add the vector 0, 1, … of a kind."""
        body: tuple[Node, ...] = (AxisNode(0),)
        if element.kind is not Kind.I64:
            body = (*body, ApplyNode("convert", (0,), element.kind))
        return self.computed(ArrayType(element, (size,)), body, phase)

    def part(self, value: ValueId, first: int, type: ArrayType, phase: Phase, result: ValueId | None = None) -> ValueId:
        """Add a slice: the rows of a value from `first` on, as many as the type has."""
        return self.view(value, self.types[value].shape, [first] + [0] * (type.rank - 1), type, phase, result)

    def view(
        self, value: ValueId, there: Sequence[Size], starts: Sequence[int], type: ArrayType, phase: Phase,
        result: ValueId | None = None,
    ) -> ValueId:  # fmt: skip
        result = self.value(type) if result is None else result
        self.types[result] = type
        self.phases.append(box_view(PhaseId(self.new()), phase.span, value, there, starts, type, result))
        return result

    def computed(self, type: ArrayType, body: tuple[Node, ...], phase: Phase) -> ValueId:
        """Add a phase without operands whose items are the last node of `body`."""
        result, axes = self.value(type), tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
        results = (PhaseResult(result, len(body) - 1, None),)
        self.phases.append(Structured(PhaseId(self.new()), phase.span, axes, (), body, results))
        return result

    def start(self, phase: Phase, axis: int) -> ValueId:
        name = f"start {phase.id}"
        self.tile.starts[name] = phase.id, axis
        return self.given(name, ArrayType(Element(Kind.I64), ()), phase)

    def exactly(self, value: ValueId, box: Box, phase: Phase) -> ValueId:
        """Returns a value whose extent is exactly the box: the tile's value itself, or a slice of it."""
        source, held = self.held(value, phase)
        if held == box:
            return source
        type = ArrayType(self.flow.graph.types[value].element, tuple(number(stop - start) for start, stop in box))
        there, starts = [number(stop - start) for start, stop in held], [a[0] - b[0] for a, b in zip(box, held, strict=True)]
        return self.view(source, there, starts, type, phase)

    def loop(self, loop: Loop, box: Box) -> None:
        """Add all iterations of an element-wise loop on a box."""
        iteration = merged_loop_body(loop, self.flow.graph.types)
        assert isinstance(iteration, Structured), "only element-wise loops have boxes"
        states = len(loop.initial)
        body = self.structured(iteration, loop, box)
        initial = tuple(self.exactly(value, box, loop) for value in loop.initial)
        params, next_states = (tuple(self.value(self.types[result]) for result in loop.results) for _ in range(2))
        state_reads = tuple(Read(param, Projection(())) for param in params)
        results = tuple(replace(r, value=value) for r, value in zip(body.results, next_states, strict=True))
        body = replace(body, id=PhaseId(self.new()), reads=(*state_reads, *body.reads[states:]), results=results)
        self.phases.append(replace(loop, initial=initial, body=SubGraph(params, (body,), next_states)))


# ---------------------------------------------------------------------------------------------------- small slices
#
# Small slices: phases that need only small boxes of flowing values, such as the middle of a sorted vector or the last row.
#
# Such a phase may have no axis to be tiled along, or may read a tile and a distant row (`x-x[0]`).  So a separate phase copies
# each box.  That phase flows with the value, its box is collected, and the original phase reads the box.

_SMALLER: Final = 1 << 10
"""A box is small if the value has at least _SMALLER times as many points."""


def with_parts(bound: BoundGraph, wanted: Phase) -> BoundGraph | None:
    """Returns the graph in which the phase reads small boxes as separate values (adjacent ones joined); None if it has none."""
    graph, types = bound.graph, dict(bound.graph.types)
    space = space_of(wanted, types)
    near = _small_boxes(wanted, types)
    if not isinstance(wanted, Structured) or space is None or not near:
        return None
    if len(near) == 1 and full_box(space) == tuple((0, stop - start) for start, stop in near[0][1]):  # already a copy
        return None
    fresh = traverse.fresh_id(graph)
    values, parts = [read.value for read in wanted.reads], list[Phase]()
    held = [full_box(shape_of(value, types) or ()) for value in values]
    for at, (value, hull, places) in enumerate(near):
        box, result = _two_rows(hull, shape_of(value, types) or ()), ValueId(fresh + at)
        there, starts = types[value].shape, [start for start, _ in box]
        types[result] = ArrayType(types[value].element, tuple(number(stop - start) for start, stop in box))
        parts.append(box_view(PhaseId(fresh + at), wanted.span, value, there, starts, types[result], result))
        for index in places:
            held[index], values[index] = box, result
    restricted = restrict(wanted, full_box(space), held)
    if any(restricted.is_unnarrowed[index] for _, _, places in near for index in places):
        return None
    reads = tuple(replace(read, value=value) for read, value in zip(restricted.phase.reads, values, strict=True))
    consumer = replace(restricted.phase, reads=reads)
    phases = [one for phase in graph.phases for one in ((*parts, consumer) if phase.id == wanted.id else (phase,))]
    return BoundGraph(replace(graph, phases=tuple(phases), types=types), bound.sizes)


def reads_apart(phase: Phase, types: Types, flowing: Collection[ValueId]) -> bool:
    """Returns whether a phase reads a small box of flowing values, and another, distant part of them."""
    near = [one for one in _small_boxes(phase, types) if one[0] in flowing]
    places = {index for _, _, places in near for index in places}
    values = [read.value for read in phase.reads] if isinstance(phase, Structured) else []
    others = [value for index, value in enumerate(values) if value in flowing and index not in places]
    return len(near) > 1 or (bool(near) and bool(others))


def _small_boxes(phase: Phase, types: Types) -> list[tuple[ValueId, Box, list[int]]]:
    """Returns the small boxes that the phase reads over all its points: (value, box, the reads within it)."""
    space, near = space_of(phase, types), list[tuple[ValueId, Box, list[int]]]()
    if not isinstance(phase, Structured) or space is None or 0 in space:
        return near
    for index, (read, box) in enumerate(zip(phase.reads, operand_boxes(phase, types, full_box(space)), strict=True)):
        shape = shape_of(read.value, types) or ()
        for at, (value, other, places) in enumerate(near):
            if value == read.value and _is_small(_hull(box, other), shape):
                near[at] = value, _hull(box, other), [*places, index]
                break
        else:
            if _is_small(box, shape):
                near.append((read.value, box, [index]))
    return near


def _is_small(box: Box, shape: Sequence[int]) -> bool:
    return 0 < _points(box) * _SMALLER <= prod(shape)


def _hull(first: Box, second: Box) -> Box:
    return tuple((min(a[0], b[0]), max(a[1], b[1])) for a, b in zip(first, second, strict=True))


def _points(box: Box) -> int:
    return prod(stop - start for start, stop in box)


def _two_rows(box: Box, shape: Sequence[int]) -> Box:
    """Widen a box to at least two rows along every axis that has them, since an axis of length 1 is not cut."""
    starts = [
        max(0, min(start, size - 2)) if stop - start == 1 else start for (start, stop), size in zip(box, shape, strict=True)
    ]
    return tuple((start, max(stop, min(start + 2, size))) for start, (_, stop), size in zip(starts, box, shape, strict=True))
