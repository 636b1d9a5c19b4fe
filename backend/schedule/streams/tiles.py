"""The graph that makes one tile.

It is an ordinary bound graph: what flows has the extents of the tile, inputs are its rows (`tile_name`), whole values
(`whole_name`) and where tiles start (`START`), and every result that leaves it is an output.  So it is planned by `one_device`
and run as any other; tiles of the same extents share one.

Neighbours: `passes`, `flow`, `graph.restriction`, `planning`, `backend.run.streams`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from ....typechecker.elements import Element, Kind
from ....typechecker.sizes import number
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.phases import (
    Affine,
    AffineIndex,
    Axis,
    AxisKind,
    AxisNode,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Output,
    Phase,
    PhaseId,
    Projection,
    Read,
    ReadNode,
    Result,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from ...graph.registry import signature_of
from ...graph.restriction import restrict
from ..facts.sharding import as_one, operand_boxes, reads_of, shape_of, whole
from ..plan.model import Box
from .passes import Demand, Flow, Pass, Rows


@dataclass(frozen=True, slots=True)
class Tile:
    """The graph of a tile.  `starts`: inputs of it that say where a box starts, by the phase and axis."""

    bound: BoundGraph
    sources: Mapping[str, ValueId]
    operands: Mapping[str, ValueId]
    starts: Mapping[str, tuple[PhaseId, int]]
    results: Mapping[str, ValueId]


def key_of(flow: Flow, one: Pass, needed: Demand) -> tuple[object, ...]:
    """The same for tiles of one graph: all extents, and how boxes lie to each other."""
    anchor = {value: start for value, (start, _) in needed.rows.items()}
    extents = tuple((value, stop - start) for value, (start, stop) in needed.rows.items())
    boxes = []
    for phase in one.phases:
        box = needed.boxes.get(phase.id)
        if box is None:
            continue
        near = [anchor[value] for value in (*reads_of(phase, flow.graph.types), *traverse.results(phase)) if value in anchor]
        boxes.append((phase.id, tuple((stop - start, *(start - at for at in near)) for start, stop in box)))
    return extents, tuple(boxes)


# ------------------------------------------------------------------------------------------ the graph


def tile_of(flow: Flow, one: Pass, needed: Demand, tile: Rows) -> Tile:
    """The graph of a tile that needs this."""
    return _Maker(flow, one, needed, tile).tile()


@dataclass(slots=True)
class _Maker:
    flow: Flow
    one: Pass
    needed: Demand
    at: Rows
    types: dict[ValueId, ArrayType] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    inputs: list[Phase] = field(default_factory=list)
    sources: dict[str, ValueId] = field(default_factory=dict)
    operands: dict[str, ValueId] = field(default_factory=dict)
    starts: dict[str, tuple[PhaseId, int]] = field(default_factory=dict)
    results: dict[str, ValueId] = field(default_factory=dict)
    whole: dict[ValueId, ValueId] = field(default_factory=dict)
    fresh: int = 0

    def tile(self) -> Tile:
        graph = self.flow.graph
        self.fresh = 1 + max([*map(int, graph.types), *(int(phase.id) for phase in traverse.all_phases(graph))])
        for value in self.needed.rows:
            self.types[value] = self.local(value)
        for phase in self.one.phases:
            if isinstance(phase, Input):
                if phase.result in self.needed.rows:
                    self.inputs.append(phase)
                    self.sources[phase.name] = phase.result
            elif phase.id in self.needed.boxes:
                self.phase(phase, self.needed.boxes[phase.id])
        for value in self.leaving():
            name = f"result {value}"
            self.results[name] = value
            self.phases.append(Output(PhaseId(self.new()), self.one.phases[-1].span, name, value))
        made = Graph((*self.inputs, *self.phases), self.types, graph.names, (), (), ())
        return Tile(BoundGraph(made, {}), self.sources, self.operands, self.starts, self.results)

    def leaving(self) -> Iterator[ValueId]:
        found: dict[ValueId, None] = {}
        for sink in self.one.sinks:
            if sink.value is not None and sink.value in self.needed.rows:
                found[sink.value] = None
            elif sink.value is None and sink.phase.id in self.needed.boxes:
                found.update(dict.fromkeys(traverse.results(sink.phase)))
        return iter(found)

    def new(self) -> int:
        self.fresh += 1
        return self.fresh

    def local(self, value: ValueId) -> ArrayType:
        """The type of the rows of a value that the tile has."""
        type, (start, stop) = self.flow.graph.types[value], self.needed.rows[value]
        axis = self.flow.axes[value]
        shape = tuple(number(stop - start) if i == axis else size for i, size in enumerate(type.shape))
        return ArrayType(type.element, shape)

    def held(self, value: ValueId, phase: Phase) -> tuple[ValueId, Box]:
        """What a phase reads of a value, and which box of it that is."""
        shape = shape_of(value, self.flow.graph.types)
        assert shape is not None, "only phases of known sizes are cut"
        if value not in self.flow.follows[phase.id]:
            return self.brought(value), whole(shape)
        axis = self.flow.axes[value]
        return value, tuple(self.needed.rows[value] if i == axis else (0, size) for i, size in enumerate(shape))

    def brought(self, value: ValueId) -> ValueId:
        """A value that is whole, in the tile."""
        found = self.whole.get(value)
        if found is None:
            found = self.whole[value] = ValueId(self.new())
            name = f"whole {value}"
            self.types[found], self.operands[name] = self.flow.graph.types[value], value
            self.inputs.append(Input(PhaseId(self.new()), self.one.phases[-1].span, name, found))
        return found

    def phase(self, phase: Phase, box: Box) -> None:
        match phase:
            case Structured():
                made = self.structured(phase, phase, box)
                if phase.axes[-1:] and phase.axes[-1].kind is AxisKind.REDUCE:
                    for value in traverse.results(phase):
                        self.types.setdefault(value, self.flow.graph.types[value])
                self.phases.append(made)
            case LibraryPhase():
                boxes = operand_boxes(phase, self.flow.graph.types, box)
                args = tuple(self.exactly(value, part, phase) for value, part in zip(phase.args, boxes, strict=True))
                cut = replace(phase, args=args)
                self.phases.append(replace(cut, signature=signature_of(cut, self.types)))
            case Loop():
                self.loop(phase, box)
            case _:
                raise AssertionError(f"phase {phase.id} does not flow")

    def structured(self, phase: Structured, origin: Phase, box: Box) -> Structured:
        """The phase on its box of the tile."""
        held = [self.held(read.value, origin) for read in phase.reads]
        cut = self.flow.cuts[origin.id].axis
        moving: dict[int, ValueId] = {}
        if any(isinstance(node, AxisNode) and node.axis == cut for node in phase.body):
            moving[cut] = self.start(origin, cut)
        made = restrict(phase, box, [part for _, part in held], moving).phase
        reads = tuple(replace(r, value=held[i][0]) if i < len(held) else r for i, r in enumerate(made.reads))
        return replace(made, reads=reads)

    def start(self, phase: Phase, axis: int) -> ValueId:
        value, name = ValueId(self.new()), f"start {phase.id}"
        self.types[value] = ArrayType(Element(Kind.I64), ())
        self.starts[name] = phase.id, axis
        self.inputs.append(Input(PhaseId(self.new()), phase.span, name, value))
        return value

    def exactly(self, value: ValueId, box: Box, phase: Phase) -> ValueId:
        """A value of just the box: itself, or a view of what is there."""
        source, held = self.held(value, phase)
        if held == box:
            return source
        result, type = ValueId(self.new()), self.flow.graph.types[value]
        shape = tuple(number(stop - start) for start, stop in box)
        self.types[result] = ArrayType(type.element, shape)
        axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
        indices = tuple(AffineIndex((Term(i, 1),), number(a[0] - b[0])) for i, (a, b) in enumerate(zip(box, held, strict=True)))
        there = tuple(number(stop - start) for start, stop in held)
        read = Read(source, Projection((Affine(indices, there),)))
        body = (ReadNode(0, type.element.kind),)
        self.phases.append(Structured(PhaseId(self.new()), phase.span, axes, (read,), body, (Result(result, 0, None),)))
        return result

    def loop(self, loop: Loop, box: Box) -> None:
        """All turns of the box of an element-wise loop."""
        turn = as_one(loop, self.flow.graph.types)
        assert isinstance(turn, Structured), "only element-wise loops have boxes"
        states = len(loop.initial)
        body = self.structured(turn, loop, box)
        initial = tuple(self.exactly(value, box, loop) for value in loop.initial)
        params = tuple(ValueId(self.new()) for _ in loop.initial)
        made = tuple(ValueId(self.new()) for _ in loop.initial)
        for param, value, result in zip(params, made, loop.results, strict=True):
            self.types[param] = self.types[value] = self.types[result]
        own = tuple(Read(param, Projection(())) for param in params)
        results = tuple(replace(r, value=value) for r, value in zip(body.results, made, strict=True))
        body = replace(body, id=PhaseId(self.new()), reads=(*own, *body.reads[states:]), results=results)
        self.phases.append(replace(loop, initial=initial, body=SubGraph(params, (body,), made)))

