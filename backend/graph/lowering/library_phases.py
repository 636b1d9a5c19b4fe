"""Lowering of whole-array ops to library phases, each over the frame it is lifted to.

Three ways to lift, best first: an op that works along one axis, or whose operand's leading axes already are a frame, needs
no frame (the axis shifts); a gather or search whose table is the same for every cell just gets more indices; everything
else carries the attribute `frame` (phases.py, Note [Frames]).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ....lang.syntax.source import Span
from ....typechecker.core import operations as c
from ....typechecker.elements import ArrayType
from ....typechecker.sizes.polynomials import SizeVariable, number
from ..phases import Affine, ValueId, affine, axis_index, constant_index, simplify
from ..registry import LIBRARY
from . import structured
from .state import CarriedValue, FrameAxes, LoweringState, op_may_fail

_MAX_UNROLLED_AMOUNTS: Final = 8
"""The most amounts of a rotation that is lowered to one rotation per amount."""


def lower_framed(state: LoweringState, name: str, results: Sequence[c.ValueId], args: Sequence[c.ValueId],
           attributes: Mapping[str, object], *, may_fail: bool = False,
           defines: tuple[SizeVariable, ...] = ()) -> None:  # fmt: skip
    """A library phase over the union of the operands' frames; each operand carries the full frame or none of it."""
    span = state.span(results[0])
    frame = state.union(args, may_fail=may_fail)
    operands = [state.get(a) for a in args]
    values = [c.value if not c.frame else state.carry(c, frame, span) for c in operands]
    flags = tuple(bool(c.frame) for c in operands)
    targets = [state.define(r, frame) for r in results]
    state.library(name, span, values, targets, {**attributes, "frame": len(frame), "framed": flags}, defines)


def lower_leading_frame(state: LoweringState, name: str, results: Sequence[c.ValueId], args: Sequence[c.ValueId],
            attributes: Mapping[str, object], *, axis: int | None = None, may_fail: bool = False) -> None:  # fmt: skip
    """A library phase whose operands all carry the frame as leading axes of the op itself (no `frame` attribute)."""
    span = state.span(results[0])
    frame = state.union(args, may_fail=may_fail)
    values = [state.carry(state.get(a), frame, span) for a in args]
    targets = [state.define(r, frame) for r in results]
    shifted = {} if axis is None else {"axis": axis + len(frame)}
    state.library(name, span, values, targets, {**attributes, **shifted})


def lower_by_leader(state: LoweringState, name: str, result: c.ValueId, args: Sequence[c.ValueId], leader: int,
                  attributes: Mapping[str, object]) -> None:  # fmt: skip
    """If only `leader` carries a frame, the frame becomes leading axes of the op; else the phase is framed."""
    others = [a for i, a in enumerate(args) if i != leader]
    if any(state.get(a).frame for a in others):
        lower_framed(state, name, [result], args, attributes)
        return
    target = state.define(result, state.get(args[leader]).frame)
    state.library(name, state.span(result), [state.get(a).value for a in args], [target], attributes)


def gather(state: LoweringState, op: c.Gather) -> None:
    if structured.extends_point_gather(state, op):
        structured.extend_point_gather(state, op)
        return
    begins = structured.starts_point_gather(state, op)
    checked = op.checked and not begins
    attributes: dict[str, Any] = {"axis": op.axis, "checked": checked, "fills": op.fills}
    if op.shift is not None:
        attributes["shift"] = op.shift.value
    if checked and op.indexing is not None:
        attributes["indexing"] = op.indexing
    arg, indices = state.get(op.arg), structured.checked_indices(state, op) if begins else state.get(op.indices)
    frame = indices.frame if begins else state.union([op.arg, op.indices], may_fail=checked)
    span = state.span(op.result)
    if indices.frame == frame and not arg.frame:
        target = state.define(op.result, frame)
        if begins:
            structured.start_point_gather(state, op, indices)
        if op.axis == 0 or not frame:
            other_indices = [] if frame else [state.get(other) for other in op.other_indices]
            if other_indices and not any(other.frame for other in other_indices):
                attributes["other_axes"] = op.axes
            values = [other.value for other in other_indices if "other_axes" in attributes]
            state.library("gather", span, (arg.value, indices.value, *values), (target,), attributes)
            return
        cell = state.shape(op.result)
        depth, axis = len(frame), op.axis
        shape = (*cell[:axis], *state.sizes(frame), *cell[axis:])
        between = state.fresh(ArrayType(state.type(op.result).element, shape))
        state.library("gather", span, (arg.value, indices.value), (between,), attributes)
        order = [*range(axis, axis + depth), *range(axis), *range(axis + depth, len(shape))]
        state.permute(between, order, span, target)
    elif not indices.frame and arg.frame == frame and (not op.checked or state.inhabited(frame)):
        target = state.define(op.result, frame)
        shifted = {**attributes, "axis": op.axis + len(frame)}
        state.library("gather", span, (arg.value, indices.value), (target,), shifted)
    else:
        lower_framed(state, "gather", [op.result], [op.arg, op.indices], attributes, may_fail=op.checked)


def rotate(state: LoweringState, op: c.Rotate) -> None:
    """Lower a rotation.  Under a frame the amounts are replicated to the arg's shape without the axis, as the op requires."""
    arg, amount = state.get(op.arg), state.get(op.amount)
    frame = state.union([op.arg, op.amount])
    span = state.span(op.result)
    count = state.sizes(frame)[0].constant if len(frame) == 1 else None
    if amount.frame and not state.shape(op.amount) and count is not None and 0 < count <= _MAX_UNROLLED_AMOUNTS:
        _rotate_by_each(state, op, frame, count)
        return
    value = state.carry(arg, frame, span)
    by = amount.value
    if amount.frame:
        by = state.carry(amount, frame, span)
        cell = state.shape(op.arg)
        amounts_shape = state.sizes(frame) + cell[: op.axis] + cell[op.axis + 1 :]
        if len(state.types[by].shape) < len(amounts_shape):
            wide = state.fresh(ArrayType(state.types[by].element, amounts_shape))
            indices = [axis_index(a) for a in range(len(frame))]
            state.view(wide, span, by, simplify(amounts_shape, (Affine(tuple(indices), state.types[by].shape),)))
            by = wide
    elif state.shape(op.amount):
        by = state.carry(amount, frame, span)
    target = state.define(op.result, frame)
    state.library("rotate", span, (value, by), (target,), {"axis": op.axis + len(frame)})


def _rotate_by_each(state: LoweringState, op: c.Rotate, frame: FrameAxes, count: int) -> None:
    """Lowers a rotation by several amounts to one rotation per amount, stacked: view folding turns each into an index of its
    reader."""
    span, rotated = state.span(op.result), []
    for position in range(count):
        arg, by = (_cell(state, state.get(value), position, span) for value in (op.arg, op.amount))
        rotated.append(state.fresh(state.types[arg]))
        state.library("rotate", span, (arg, by), (rotated[-1],), {"axis": op.axis})
    state.library("stack", span, tuple(rotated), (state.define(op.result, frame),), {"axis": 0})


def _cell(state: LoweringState, carried: CarriedValue, position: int, span: Span) -> ValueId:
    """The cell of a value at a position of a one-axis frame."""
    if not carried.frame:
        return carried.value
    full = state.types[carried.value]
    cell = state.fresh(ArrayType(full.element, full.shape[1:]))
    indices = [constant_index(number(position)), *map(axis_index, range(len(full.shape) - 1))]
    state.view(cell, span, carried.value, affine(full.shape[1:], indices, full.shape))
    return cell


def compress(state: LoweringState, op: c.Compress) -> None:
    """Lowers a compress by shifting its axis: the mask carries no frame, since a framed one needs a map (`blocks.must_map`)."""
    carried = state.get(op.arg)
    target = state.define(op.result, carried.frame)
    attributes = {"axis": op.axis + len(carried.frame)}
    state.library("compress", state.span(op.result), (state.get(op.mask).value, carried.value), (target,), attributes, (op.size,))


def expand(state: LoweringState, op: c.Expand) -> None:
    attributes = {"axis": op.axis, "checked": op.checked}
    frame = state.union([op.mask, op.arg], may_fail=op.checked)
    if state.get(op.mask).frame or state.get(op.arg).frame != frame:
        lower_framed(state, "expand", [op.result], [op.mask, op.arg], attributes, may_fail=op.checked)
        return
    target = state.define(op.result, frame)
    values = (state.get(op.mask).value, state.get(op.arg).value)
    inhabited = not op.checked or state.inhabited(frame)
    if inhabited:
        state.library("expand", state.span(op.result), values, (target,), {**attributes, "axis": op.axis + len(frame)})
    else:
        lifted = {**attributes, "frame": len(frame), "framed": (False, True)}
        state.library("expand", state.span(op.result), values, (target,), lifted)


def update(state: LoweringState, op: c.Update) -> None:
    present = tuple(i for i in op.indices if i is not None)
    attributes = {"indexed": tuple(i is not None for i in op.indices), "checked": op.checked, "indexing": op.indexing}
    lower_framed(state, "update", [op.result], [op.arg, *present, op.value], attributes, may_fail=op.checked)


def runtime_size(state: LoweringState, op: c.BindSize) -> None:
    value = state.get(op.value).value
    state.library("runtime_size", state.span(op.value), (value,), (), {}, (op.size,))


def library(state: LoweringState, op: c.Library) -> None:
    attributes, leads, may_fail = dict(op.attributes), LIBRARY[op.name].leads, op_may_fail(op)
    if not leads:
        lower_framed(state, op.name, op.results, op.args, attributes, may_fail=may_fail)
    elif len(leads) == len(op.args):
        lower_leading_frame(state, op.name, op.results, op.args, attributes, may_fail=may_fail)
    else:
        lower_by_leader(state, op.name, op.results[0], op.args, leads[0], attributes)


def lower_library(state: LoweringState, op: c.Op) -> bool:
    """Lower an op that becomes a library phase; False if the op is of another kind."""
    match op:
        case c.Gather():
            gather(state, op)
        case c.Rotate():
            rotate(state, op)
        case c.Join():
            lower_leading_frame(state, "join", [op.result], op.args, {}, axis=op.axis)
        case c.Stack():
            lower_leading_frame(state, "stack", [op.result], op.args, {}, axis=op.axis)
        case c.Scan():
            lower_leading_frame(state, "scan", [op.result], [op.arg], {"function": op.function}, axis=op.axis)
        case c.Update():
            update(state, op)
        case c.MaskedUpdate():
            lower_framed(state, "mask_update", [op.result], [op.arg, op.mask, op.value], {}, may_fail=True)
        case c.Contract():
            lower_by_leader(state, "contract", op.result, [op.left, op.right], 0, {})
        case c.Compress():
            compress(state, op)
        case c.Expand():
            expand(state, op)
        case c.Where():
            lower_framed(state, "where", [op.result], [op.mask], {}, defines=(op.size,))
        case c.BindSize():
            runtime_size(state, op)
        case c.KeyReduce():
            attributes = {"function": op.function, "checked": op.checked, "indexing": op.indexing}
            lower_framed(state, "key_reduce", [op.result], [op.indices, op.arg], attributes, may_fail=op.checked)
        case c.Library():
            library(state, op)
        case c.Format():
            digits = {} if op.digits is None else {"digits": op.digits}
            lower_framed(state, "format", [op.result], [op.arg], digits, defines=(op.size,))
        case _:
            return False
    return True
