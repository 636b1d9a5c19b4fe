"""Lowering of ops that move elements and compute nothing: one structured phase with an identity body and a projection.

A reshape whose products are not evidently equal, gathers, joins and rotations are library phases (`passes.gathers` turns
gathers by evenly stepping indices into views).
Neighbours: `state` (Note [Batching]), `projections`; `passes.views` folds these into their readers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....typechecker import core
from ....typechecker.sizes import ONE, ZERO, Size, product
from ..phases import Affine, AffineIndex, Projection, Reshaped, Stage, Term
from ..projections import Shape, axis_index, constant_index, equal_products, not_negative, simplify
from .state import Carried, State


def transpose(state: State, op: core.Transpose) -> None:
    _affine(state, op.result, op.arg, [axis_index(a) for a in op.axes])


def spread(state: State, op: core.Spread) -> None:
    _affine(state, op.result, op.arg, [axis_index(a) for a in op.axes])


def reverse(state: State, op: core.Reverse) -> None:
    shape = state.shape(op.arg)
    indices = [axis_index(a) for a in range(len(shape))]
    indices[op.axis] = AffineIndex((Term(op.axis, -1),), shape[op.axis] - 1)
    _affine(state, op.result, op.arg, indices)


def slice_(state: State, op: core.Slice) -> None:
    rank = len(state.shape(op.arg))
    starts = [*op.starts, *([ZERO] * (rank - len(op.starts)))]
    _affine(state, op.result, op.arg, [AffineIndex((Term(a, 1),), s) for a, s in enumerate(starts)], fills=True)


def windows(state: State, op: core.Windows) -> None:
    rank, k = len(state.shape(op.arg)), op.count
    indices = [AffineIndex((Term(a, 1), Term(k + a, 1)), ZERO) if a < k else axis_index(k + a) for a in range(rank)]
    _affine(state, op.result, op.arg, indices)


def reshape(state: State, op: core.Reshape) -> None:
    old, new = state.shape(op.arg), state.shape(op.result)
    extra = len(new) - len(old)
    if old == new or (extra >= 0 and new[extra:] == old):  # whole copies of arg in front; empty if arg is
        _affine(state, op.result, op.arg, [axis_index(extra + a) for a in range(len(old))])
    elif all(s == ONE for s in old):
        _affine(state, op.result, op.arg, [constant_index(ZERO)] * len(old))
    elif all(s == ONE for s in new):  # the first element, a fill if there is none
        _affine(state, op.result, op.arg, [constant_index(ZERO)] * len(old), fills=True)
    elif equal_products(old, new):
        _reshaped(state, op.result, op.arg, ())
    elif _truncates(old, new):
        _reshaped(state, op.result, op.arg, _flat(new, product(old)))
    else:
        carried = state.get(op.arg)
        result = state.define(op.result, carried.frame)
        frame = {"frame": len(carried.frame), "framed": (True,)}
        state.library("reshape_cycle", state.span(op.result), (carried.value,), (result,), frame)


def _truncates(old: Shape, new: Shape) -> bool:
    """Does the reshape surely take a leading part of a non-empty arg (with numbers for the flat position's strides)?"""
    room = product(old) - product(new)
    return not_negative(room) and all(s.constant is not None for s in new[1:])


def _flat(new: Shape, length: Size) -> tuple[Stage, ...]:
    """From a point of `new` to its row-major position in a vector of `length`."""
    stride, terms = 1, []
    for axis in range(len(new) - 1, -1, -1):
        terms.append(Term(axis, stride))
        stride *= new[axis].constant or 0
    return (Affine((AffineIndex(tuple(t for t in reversed(terms) if t.coefficient), ZERO),), (length,)),)


def _affine(state: State, result: core.ValueId, arg: core.ValueId, indices: Sequence[AffineIndex], *, fills: bool = False
            ) -> None:  # fmt: skip
    """`indices` speak of the cell's axes; the frame goes in front unchanged."""
    carried = state.get(arg)
    made = state.define(result, carried.frame)
    space = state.types[made].shape
    shift = len(carried.frame)
    cell = [_shifted(i, shift) for i in indices]
    read = state.operand(carried, carried.frame, space, cell, fills=fills)
    state.view(made, state.span(result), carried.value, read.projection)


def _reshaped(state: State, result: core.ValueId, arg: core.ValueId, flatten: tuple[Stage, ...]) -> None:
    carried = state.get(arg)
    made = state.define(result, carried.frame)
    space = state.types[made].shape
    frame = state.sizes(carried.frame)
    old, new = state.shape(arg), state.shape(result)
    stages: list[Stage] = []
    source = new
    if flatten:
        stage = flatten[0]
        assert isinstance(stage, Affine)
        cell = [_shifted(i, len(frame)) for i in stage.indices]
        stages.append(Affine((*(axis_index(a) for a in range(len(frame))), *cell), frame + stage.shape))
        source = stage.shape
    stages.append(Reshaped(frame + source, frame + old))
    if state.types[carried.value].shape != frame + old:  # frames of equal size under two names
        stages.append(_renamed(frame + old, carried, state))
    state.view(made, state.span(result), carried.value, Projection(simplify(space, stages).stages))


def _shifted(index: AffineIndex, by: int) -> AffineIndex:
    return AffineIndex(tuple(Term(t.axis + by, t.coefficient) for t in index.terms), index.constant)


def _renamed(box: Shape, carried: Carried, state: State) -> Affine:
    return Affine(tuple(axis_index(a) for a in range(len(box))), state.types[carried.value].shape)
