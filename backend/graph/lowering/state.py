"""The state of a lowering, and how phases are emitted.

Note [Batching].  A `Lift` becomes no phase: its body's ops are lowered over the frame at once.  While a body is lowered,
`LoweringState.frame` has the sizes of all frame axes in force, outermost first, and every core value in scope is a
`CarriedValue`: a graph value whose leading axes are the frame axes it depends on (ascending positions into the frame), then the
core value's shape.  A value that depends on no cell carries no axis, so it is computed once.  An op's result carries the union
of its operands' axes; an op that may fail also carries every frame axis that is not provably inhabited, because over an empty
frame it must not run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

from ....lang.support.records import dataclass, field
from ....lang.syntax.source import Span
from ....typechecker.core import operations as c
from ....typechecker.core.operations import all_ops, blocks_of, field_sizes, operands_of, results_of
from ....typechecker.elements import ArrayType, Kind, may_fail
from ....typechecker.sizes.polynomials import Size, SizeVariable
from ..phases import (
    AffineIndex,
    Axis,
    AxisKind,
    Constant,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Shape,
    Structured,
    ValueId,
    affine,
    axis_index,
    simplify,
)
from ..registry import LIBRARY, signature_of

# ---------------------------------------------------------------------------------------------------- blocks
#
# Facts about core blocks: what they capture, whether they may fail, which sizes they mention.

def op_may_fail(op: c.Op) -> bool:
    """May this op (not the blocks in it) fail when run?"""
    match op:
        case c.Gather() | c.Update() | c.Expand() | c.KeyReduce():
            return op.checked
        case c.MaskedUpdate():
            return True
        case c.Library():
            return LIBRARY[op.name].fails(dict(op.attributes))
        case c.Invoke():
            if op.function not in _failing:
                core = op.function.core
                _failing[op.function] = any(map(BlockFacts(core).may_fail, core.block.ops))
            return _failing[op.function]
        case _:
            return False


_failing: WeakKeyDictionary[c.CoreFunction, bool] = WeakKeyDictionary()


class BlockFacts:
    """Memoised: what ops capture and whether they may fail, so that deep nesting takes linear time.

    Keys are identities, which stay unique because the core outlives the lowering."""

    def __init__(self, program: c.Core) -> None:
        self.program = program
        self._free: dict[int, tuple[c.ValueId, ...]] = {}
        self._fails: dict[int, bool] = {}

    def free_values(self, op: c.Op) -> tuple[c.ValueId, ...]:
        """Values that the op mentions, also in its blocks, and that are defined outside it, in order of first mention."""
        free = self._free.get(id(op))
        if free is None:
            mentioned = dict.fromkeys(operands_of(op))
            for block in blocks_of(op):
                mentioned.update(dict.fromkeys(self.captured(block)))
            free = self._free[id(op)] = tuple(mentioned)
        return free

    def captured(self, block: c.Block) -> tuple[c.ValueId, ...]:
        """Values that a block mentions and does not define."""
        return self.free_of(block.ops, block.results, block.params)

    def free_of(self, ops: Sequence[c.Op], results: Sequence[c.ValueId] = (), params: Sequence[c.ValueId] = ()
                ) -> tuple[c.ValueId, ...]:  # fmt: skip
        inside = set(params)
        mentioned: dict[c.ValueId, None] = {}
        for op in ops:
            mentioned.update(dict.fromkeys(self.free_values(op)))
            inside.update(results_of(op))
        mentioned.update(dict.fromkeys(results))
        return tuple(v for v in mentioned if v not in inside)

    def may_fail(self, op: c.Op) -> bool:
        """May the op, or one in its blocks, fail when run?"""
        fails = self._fails.get(id(op))
        if fails is None:
            if isinstance(op, c.Scalar):
                fails = may_fail(op.function, self.program.types[op.result].element.kind)
            else:
                fails = op_may_fail(op) or any(self.may_fail(o) for block in blocks_of(op) for o in block.ops)
            self._fails[id(op)] = fails
        return fails


def mentioned_sizes(op: c.Op, types: c.Core) -> frozenset[SizeVariable]:
    """Run-time sizes in the types of an op's results and operands, in its fields, and in its blocks."""
    variables: set[SizeVariable] = set()
    for inner in all_ops([op]):
        for value in (*results_of(inner), *operands_of(inner)):
            for size in types.types[value].shape:
                variables |= size.variables()
        for size in field_sizes(inner):
            variables |= size.variables()
    return frozenset(variables)


_ELEMENTWISE = (c.Scalar, c.SizeVector, c.Literal, c.CoreBranch)
_CHEAP_ARM_OPS = 24


def selectable(op: c.CoreBranch, facts: BlockFacts) -> bool:
    """Are both arms total, pure and cheap, so that computing both and selecting gives the same result at little cost?"""
    types = facts.program
    inner = list(islice(all_ops([op]), _CHEAP_ARM_OPS + 1))
    return (
        len(inner) <= _CHEAP_ARM_OPS
        and all(isinstance(o, _ELEMENTWISE) for o in inner)
        and not any(isinstance(o, c.CoreBranch) and o.sizes for o in inner)
        and not facts.may_fail(op)
        and all(
            types.types[a].shape == types.types[r].shape == types.types[b].shape
            for o in inner
            if isinstance(o, c.CoreBranch)
            for r, a, b in zip(o.results, o.then.results, o.otherwise.results, strict=True)
        )
    )


# ---------------------------------------------------------------------------------------------------- state

FrameAxes = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CarriedValue:
    """A graph value and the frame axes it carries; see Note [Batching]."""

    value: ValueId
    frame: FrameAxes = ()


@dataclass(frozen=True, slots=True)
class AxisIndices:
    """Indices along one axis of a table: their value and the rank of its cells."""

    value: CarriedValue
    rank: int


@dataclass(frozen=True, slots=True)
class PointGather:
    """A core value that is `table` indexed along several axes at once: `indices`, by axis of the table.

    `layout` has an entry for each axis of the value: the axis of the table that it is or stems from.  `carried` is the graph
    value at the time of binding; inside a map the core value is bound to another one."""

    carried: CarriedValue
    table: c.ValueId
    places: dict[int, AxisIndices]
    layout: tuple[int, ...]


@dataclass(slots=True)
class LoweringState:
    core: c.Core
    facts: BlockFacts
    types: dict[ValueId, ArrayType] = field(default_factory=dict)
    bound: dict[c.ValueId, CarriedValue] = field(default_factory=dict)
    literals: dict[c.ValueId, c.Literal] = field(default_factory=dict)
    constants: dict[c.ValueId, Node] = field(default_factory=dict)  # scalars that bodies hold as constant nodes
    points: dict[c.ValueId, PointGather] = field(default_factory=dict)
    frame: list[Size] = field(default_factory=list)
    derived_types: dict[c.ValueId, ArrayType] = field(default_factory=dict)
    derived_spans: dict[c.ValueId, Span] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    next_value: int = 0
    next_phase: int = 0

    # -- looking up

    def type(self, value: c.ValueId) -> ArrayType:
        return self.derived_types.get(value) or self.core.types[value]

    def shape(self, value: c.ValueId) -> Shape:
        return self.type(value).shape

    def kind(self, value: c.ValueId) -> Kind:
        return self.type(value).element.kind

    def span(self, value: c.ValueId) -> Span:
        return self.derived_spans.get(value) or self.core.spans[value]

    def get(self, value: c.ValueId) -> CarriedValue:
        return self.bound[value]

    def sizes(self, axes: FrameAxes) -> Shape:
        return tuple(self.frame[a] for a in axes)

    def inhabited(self, axes: Iterable[int]) -> bool:
        return all((self.frame[a].bounds()[0] or 0) >= 1 for a in axes)

    def union(self, values: Iterable[c.ValueId], *, may_fail: bool = False) -> FrameAxes:
        """The frame axes an op on these values carries."""
        axes: set[int] = set()
        for value in values:
            axes.update(self.bound[value].frame)
        if may_fail:
            axes.update(a for a in range(len(self.frame)) if not self.inhabited([a]))
        return tuple(sorted(axes))

    # -- naming

    def fresh(self, type: ArrayType) -> ValueId:
        value = ValueId(self.next_value)
        self.next_value += 1
        self.types[value] = type
        return value

    def derived(self, type: ArrayType, span: Span) -> c.ValueId:
        """A fresh core value that the program does not contain; `define` binds it to a graph value."""
        value = c.ValueId(self.next_value)
        self.next_value += 1
        self.derived_types[value] = type
        self.derived_spans[value] = span
        return value

    def phase_id(self) -> PhaseId:
        self.next_phase += 1
        return PhaseId(self.next_phase - 1)

    def define(self, value: c.ValueId, frame: FrameAxes = ()) -> ValueId:
        """Bind a core value to a graph value with the axes of `frame` in front; without such axes it keeps its id."""
        type = self.type(value)
        if frame:
            batch = self.fresh(batched(type, self.sizes(frame)))
        else:
            batch = ValueId(int(value))
            self.types[batch] = type
        self.bound[value] = CarriedValue(batch, frame)
        return batch

    # -- emitting

    def emit(self, phase: Phase) -> None:
        self.phases.append(phase)

    def constant(self, result: ValueId, data: tuple[c.Payload, ...], span: Span) -> None:
        self.emit(Constant(self.phase_id(), span, data, result))

    def structured(self, result: ValueId, span: Span, space: Shape, reads: Sequence[Read], body: Sequence[Node],
                   reduce: tuple[Size, str] | None = None) -> None:  # fmt: skip
        """A phase with the parallel axes `space` (and one reduce axis) whose last body node is the result."""
        axes = [Axis(s, AxisKind.PARALLEL) for s in space]
        reduction = None
        if reduce is not None:
            axes.append(Axis(reduce[0], AxisKind.REDUCE))
            reduction = reduce[1]
        results = (PhaseResult(result, len(body) - 1, reduction),)
        self.emit(Structured(self.phase_id(), span, tuple(axes), tuple(reads), tuple(body), results))

    def view(self, result: ValueId, span: Span, value: ValueId, projection: Projection) -> None:
        """An identity body: element i of `result` is the element of `value` that the projection names."""
        type = self.types[result]
        self.structured(result, span, type.shape, [Read(value, projection)], [ReadNode(0, type.element.kind)])

    def library(self, op: str, span: Span, args: Sequence[ValueId], results: Sequence[ValueId], attributes: Mapping[str, object],
                defines: tuple[SizeVariable, ...] = ()) -> None:  # fmt: skip
        stored = {name: value for name, value in attributes.items() if not (name == "frame" and value == 0)}
        if "frame" not in stored:
            stored.pop("framed", None)
        phase = LibraryPhase(self.phase_id(), span, op, tuple(args), tuple(results), stored, defines, ())
        self.emit(LibraryPhase(phase.id, span, op, phase.args, phase.results, stored, defines, signature_of(phase, self.types)))

    # -- frames

    def operand(self, carried: CarriedValue, frame: FrameAxes, space: Shape, cell: Sequence[AffineIndex], *, fills: bool = False
                ) -> Read:  # fmt: skip
        """A read of a carried value in an iteration space that starts with the axes of `frame` (a superset of those it carries);
        `cell` has the indices of its cell axes, in axes of the full space."""
        leading = [axis_index(frame.index(a)) for a in carried.frame]
        return Read(carried.value, affine(space, [*leading, *cell], self.types[carried.value].shape, fills=fills))

    def carry(self, carried: CarriedValue, frame: FrameAxes, span: Span) -> ValueId:
        """The value with exactly the axes of `frame` in front, replicating it over those it lacks."""
        if carried.frame == frame:
            return carried.value
        type = self.types[carried.value]
        cell = type.shape[len(carried.frame) :]
        result = self.fresh(ArrayType(type.element, self.sizes(frame) + cell))
        space = self.types[result].shape
        indices = [axis_index(len(frame) + i) for i in range(len(cell))]
        self.view(result, span, carried.value, self.operand(carried, frame, space, indices).projection)
        return result

    def permute(self, value: ValueId, order: Sequence[int], span: Span, result: ValueId | None = None) -> ValueId:
        """Axis i of the result is axis `order[i]` of the value."""
        type = self.types[value]
        if result is None:
            if list(order) == list(range(len(order))):
                return value
            result = self.fresh(ArrayType(type.element, tuple(type.shape[a] for a in order)))
        space = self.types[result].shape
        indices = [axis_index(list(order).index(a)) for a in range(len(order))]
        self.view(result, span, value, simplify(space, affine(space, indices, type.shape).stages))
        return result


def batched(type: ArrayType, frame: Shape) -> ArrayType:
    """The type of a value with a frame in front.  It is no permutation type: the cells are permutations, the batched value is
    none."""
    return ArrayType(type.element, frame + type.shape, type.permutation and not frame)
