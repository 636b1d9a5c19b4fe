"""Lowering of element-wise ops, generators and reductions: everything that is one structured phase with a body.

Neighbours: `state` (Note [Batching]), `views` (identity bodies).
"""

from __future__ import annotations

from ....typechecker import core
from ....typechecker.elements import Kind
from ....typechecker.scalars import may_fail
from ....typechecker.sizes import number
from ..phases import ApplyNode, AxisNode, ConstantNode, Node, Read, ReadNode, SizeNode
from ..projections import axis_index
from .state import State


def literal(state: State, op: core.Literal) -> None:
    result = state.define(op.result)
    state.literals[op.result] = op
    if not state.shape(op.result):
        state.constants[op.result] = ConstantNode(state.kind(op.result), op.data[0])
    state.constant(result, op.data, state.span(op.result))


def size_vector(state: State, op: core.SizeVector) -> None:
    result = state.define(op.result)
    span = state.span(op.result)
    if op.scalar:
        state.constants[op.result] = SizeNode(op.sizes[0])
    known = [s.constant for s in op.sizes]
    if all(k is not None for k in known):
        data = tuple(k for k in known if k is not None)
        state.constant(result, data, span)
        state.literals[op.result] = core.Literal(op.result, data)
    elif len(op.sizes) == 1:
        space = () if op.scalar else (number(1),)
        state.structured(result, span, space, [], [SizeNode(op.sizes[0])])
    else:
        state.library("size_vector", span, (), (result,), {"sizes": op.sizes})


def scalar(state: State, op: core.Scalar) -> None:
    kind, span = state.kind(op.result), state.span(op.result)
    failing = may_fail(op.function, kind)
    frame = state.union(op.args, may_fail=failing)
    result = state.define(op.result, frame)
    space = state.types[result].shape
    reads: list[Read] = []
    body: list[Node] = []
    at: dict[core.ValueId, int] = {}
    for arg in op.args:
        if arg in at:
            continue
        at[arg] = len(body)
        if arg in state.constants:
            body.append(state.constants[arg])
            continue
        cell = [axis_index(len(frame) + i) for i in range(len(state.shape(arg)))]
        body.append(ReadNode(len(reads), state.kind(arg)))
        reads.append(state.operand(state.get(arg), frame, space, cell))
    body.append(ApplyNode(op.function, tuple(at[a] for a in op.args), kind, op.parameter, span if failing else None))
    state.structured(result, span, space, reads, body)


def iota(state: State, op: core.Iota) -> None:
    result = state.define(op.result)
    state.structured(result, state.span(op.result), state.shape(op.result), [], [AxisNode(0)])


def iota_grid(state: State, op: core.IotaGrid) -> None:
    """The coordinate that the last axis picks: nested selections over the few axes of the box."""
    result = state.define(op.result)
    space = state.shape(op.result)
    rank = len(space) - 1
    body: list[Node] = [AxisNode(a) for a in range(rank + 1)]
    if rank == 0:
        body = [ConstantNode(Kind.I64, 0)]
    else:
        chosen = rank - 1
        for axis in range(rank - 2, -1, -1):
            body.append(ConstantNode(Kind.I64, axis))
            body.append(ApplyNode("eq", (rank, len(body) - 1), Kind.BOOL))
            body.append(ApplyNode("select", (len(body) - 1, axis, chosen), Kind.I64))
            chosen = len(body) - 1
        body = body[: chosen + 1]
    state.structured(result, state.span(op.result), space, [], body)


def reduce(state: State, op: core.Reduce) -> None:
    carried = state.get(op.arg)
    frame = carried.frame
    result = state.define(op.result, frame)
    cell = state.shape(op.arg)
    parallel = state.types[result].shape
    space = (*parallel, cell[op.axis])
    rank = len(cell)
    # cell axes other than the reduced one keep their order behind the frame; the reduce axis comes last
    position = {a: len(frame) + (a if a < op.axis else a - 1) for a in range(rank)} | {op.axis: len(space) - 1}
    read = state.operand(carried, frame, space, [axis_index(position[a]) for a in range(rank)])
    body: list[Node] = [ReadNode(0, state.kind(op.arg))]
    state.structured(result, state.span(op.result), parallel, [read], body, (cell[op.axis], op.function))
