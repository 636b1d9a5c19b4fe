"""A loop whose body combines each element with rotations of the state: one kernel a turn that reads neighbours where they are.

The turn is written out from its results backwards: what is read at an offset is computed at that offset, so that nothing but the
state goes through memory.  Offsets are cyclic.

The body qualifies if it is made of element-wise phases over the shape of the state and of rotations by amounts that are known
when it starts; what comes from outside is read where it is.  Nothing in it may fail.

Neighbours: `loops` (bodies without rotations), `devices.repeated` (what such loops take; they run as regions).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ...typechecker.elements import Kind
from ...typechecker.sizes import Size
from ..graph.phases import (
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Constant,
    LibraryPhase,
    Loop,
    Node,
    Read,
    ReadNode,
    Result,
    Structured,
    ValueId,
)
from ..graph.projections import IDENTITY
from ..graph.traverse import results

MOST_NODES = 200
_DEEPEST = 60

Offsets = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn as a phase; read i is of state `states[i]` (None: from outside) at `offsets[i]`."""

    phase: Structured
    states: tuple[int | None, ...]
    offsets: tuple[Offsets, ...]


class _NotOne(Exception):
    """The loop is of another sort."""


def rotation_amounts(loop: Loop) -> tuple[ValueId, ...] | None:
    """The amounts from outside that rotations in the body turn by; None if something there is neither a rotation by such an
    amount nor element-wise."""
    if not loop.is_plain:
        return None
    found: dict[ValueId, None] = {}
    known = {phase.result for phase in loop.body.phases if isinstance(phase, Constant)}
    made = {*loop.body.params, *(value for phase in loop.body.phases for value in results(phase))}
    for phase in loop.body.phases:
        match phase:
            case LibraryPhase(op="rotate") if not phase.attributes.get("frame", 0):
                if phase.args[1] in made and phase.args[1] not in known:
                    return None
                if phase.args[1] not in known:
                    found[phase.args[1]] = None
            case Structured() | Constant():
                pass
            case _:
                return None
    return tuple(found)


def merge_stencil(
    loop: Loop,
    kinds: Callable[[ValueId], Kind],
    shapes: Callable[[ValueId], tuple[Size, ...]],
    amounts: Mapping[ValueId, int],
) -> Turn | None:
    """The turn of a loop whose rotations are by `amounts`; None: the body is of another sort."""
    try:
        return _Writing(loop, kinds, shapes, amounts).turn()
    except _NotOne:
        return None


class _Writing:
    def __init__(self, loop: Loop, kinds: Callable[[ValueId], Kind], shapes: Callable[[ValueId], tuple[Size, ...]],
                 amounts: Mapping[ValueId, int]) -> None:  # fmt: skip
        params = loop.body.params
        if loop.keep or loop.until is not None or not params or len(set(map(shapes, params))) != 1 or not shapes(params[0]):
            raise _NotOne
        self.loop, self.kinds, self.shapes = loop, kinds, shapes
        self.shape = shapes(params[0])
        if any(size.constant is None for size in self.shape):
            raise _NotOne
        self.sizes = tuple(int(size.constant or 0) for size in self.shape)
        self.axes = tuple(Axis(size, AxisKind.PARALLEL) for size in self.shape)
        self.amounts = dict(amounts)
        self.makers: dict[ValueId, tuple[Structured, int] | LibraryPhase] = {}
        for phase in loop.body.phases:
            match phase:
                case Structured():
                    for result in phase.results:
                        self.makers[result.value] = (phase, result.node)
                case LibraryPhase():
                    self.makers[phase.results[0]] = phase
                case Constant() if len(phase.data) == 1 and isinstance(phase.data[0], int):
                    self.amounts[phase.result] = int(phase.data[0])
                case _:
                    raise _NotOne
        self.inside = {*self.makers, *(p.result for p in loop.body.phases if isinstance(p, Constant))}
        self.body: list[Node] = []
        self.reads: list[Read] = []
        self.states: list[int | None] = []
        self.offsets: list[Offsets] = []
        self.read_places: dict[tuple[Read, Offsets], int] = {}
        self.known: dict[tuple[int, int, Offsets], int] = {}

    def turn(self) -> Turn:
        none = (0,) * len(self.shape)
        nodes = [self.value(value, none, 0) for value in self.loop.body.results]
        made = tuple(Result(r, node, None) for r, node in zip(self.loop.results, nodes, strict=True))
        phase = Structured(self.loop.id, self.loop.span, self.axes, tuple(self.reads), tuple(self.body), made)
        return Turn(phase, tuple(self.states), tuple(self.offsets))

    def value(self, value: ValueId, offsets: Offsets, depth: int) -> int:
        """The body node that is a value of the turn at an offset."""
        if depth > _DEEPEST or len(self.body) > MOST_NODES:
            raise _NotOne
        params = self.loop.body.params
        if value in params:
            return self.read(Read(value, IDENTITY), params.index(value), offsets)
        maker = self.makers.get(value)
        if isinstance(maker, LibraryPhase):
            axis, amount = maker.attributes["axis"], self.amounts.get(maker.args[1])
            if amount is None or not isinstance(axis, int) or self.shapes(maker.args[0]) != self.shape:
                raise _NotOne
            moved = (*offsets[:axis], self.turned(offsets[axis] + amount, axis), *offsets[axis + 1 :])
            return self.value(maker.args[0], moved, depth + 1)
        if maker is None:
            if value in self.inside or self.shapes(value) != self.shape:
                raise _NotOne
            return self.read(Read(value, IDENTITY), None, offsets)
        phase, node = maker
        if phase.axes != self.axes or any(r.reduction for r in phase.results):
            raise _NotOne
        return self.element(phase, node, offsets, depth)

    def element(self, phase: Structured, place: int, offsets: Offsets, depth: int) -> int:
        """A phase's body up to a node, at an offset."""
        wanted = {place}
        for at in range(place, -1, -1):
            node = phase.body[at]
            if at in wanted and isinstance(node, ApplyNode):
                wanted.update(node.args)
        for at in sorted(wanted):
            key = (phase.id, at, offsets)
            if key in self.known:
                continue
            node = phase.body[at]
            match node:
                case ReadNode():
                    self.known[key] = self.operand(phase.reads[node.index], offsets, depth)
                    continue
                case ApplyNode():
                    if node.span is not None:
                        raise _NotOne
                    node = replace(node, args=tuple(self.known[phase.id, arg, offsets] for arg in node.args))
                case AxisNode():
                    if any(offsets):
                        raise _NotOne
            self.body.append(node)
            self.known[key] = len(self.body) - 1
        return self.known[phase.id, place, offsets]

    def operand(self, read: Read, offsets: Offsets, depth: int) -> int:
        if not read.projection.stages:
            return self.value(read.value, offsets, depth + 1)
        if (any(offsets) and self.shapes(read.value)) or read.value in self.inside or read.value in self.loop.body.params:
            raise _NotOne
        return self.read(read, None, (0,) * len(offsets))

    def read(self, read: Read, state: int | None, offsets: Offsets) -> int:
        key = (read, offsets)
        if key not in self.read_places:
            self.reads.append(read)
            self.states.append(state)
            self.offsets.append(offsets)
            self.body.append(ReadNode(len(self.reads) - 1, self.kinds(read.value)))
            self.read_places[key] = len(self.body) - 1
        return self.read_places[key]

    def turned(self, offset: int, axis: int) -> int:
        """The same offset around the axis, at most half its length in magnitude."""
        size = max(1, self.sizes[axis])
        offset %= size
        return offset - size if 2 * offset > size else offset
