"""Gathers, rotations and cyclic reshapes through kernels that check each index where they use it.

An index outside its axis reads item 0 and is noted; what the gather wrote is then thrown away, and the indices are looked through
for the first bad one, which the message names.  Where indices were proved to be inside nothing is waited for.

Neighbours: `kernels.fetching` (the bodies), `launching`; `selecting` (updates), `cpu.library.selecting` (the definition).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from ....typechecker.elements import Kind
from ...graph.cells import frame_of, framed_of
from ...kernels.build import Body
from ...kernels.fetching import cycling, gathering, operand_kinds, rotating
from ...library.selecting import check_gather
from ..cpu.kinds import DTYPES, FILLS
from .call import Call
from .launching import Launch
from .layouts import Placed
from .modules import Modules
from .sorting import sorted_items

Numbers = tuple[int, ...]


def gather(call: Call, arrays: Any) -> Any:
    order = call.phase.attributes.get("sorts")
    if order is not None:
        return sorted_items(call.xp, arrays[0], descending=order == "down")
    xp, axis, rank, shape, kind = call.xp, call.axis(), frame_of(call.phase), call.shape(), call.kind()
    (table, indices, *others), carried = arrays, framed_of(call.phase)
    frames = [rank if rank and carries else 0 for carries in carried]
    cell = table.shape[frames[0] :]
    length, fills, checked = cell[axis], call.flag("fills"), call.flag("checked")
    if not prod(shape) or not length:
        if prod(shape[:rank]) and (fills or checked):
            check_gather(call.phase, cell, indices, others)
        return xp.full(shape, FILLS[kind], table.dtype)
    picked, behind = indices.ndim - frames[1], len(cell) - axis - 1
    own = (0,) * (rank - frames[0]) + table.strides[: frames[0] + axis] + (0,) * picked + table.strides[frames[0] + axis + 1 :]
    places = (0,) * (rank - frames[1]) + indices.strides[: frames[1]] + (0,) * axis + indices.strides[frames[1] :] + (0,) * behind
    body = gathering(kind, _kind(indices), FILLS[kind] if fills else None, proved=not checked)
    step = table.strides[frames[0] + axis]
    made = _fetched(call, body, kind, shape, [Placed(table, 0, shape, own), Placed(indices, 0, shape, places)], (length, step))
    if made is None:
        check_gather(call.phase, cell, indices, others)
        raise AssertionError("a kernel found an index outside an axis, and the indices have none")
    return made


def rotate(call: Call, arrays: Any) -> Any:
    """By index, so that the amount stays on the device."""
    arg, amount = arrays
    axis, shape, kind = call.axis(), tuple(arg.shape), call.kind()
    if not arg.size:
        return arg.copy()
    own = tuple(0 if place == axis else stride for place, stride in enumerate(arg.strides))
    steps = iter(amount.strides)
    by = tuple(0 if place == axis or not amount.ndim else next(steps) for place in range(arg.ndim))
    body = rotating(kind, _kind(amount), axis)
    operands = [Placed(arg, 0, shape, own), Placed(amount, 0, shape, by)]
    return _fetched(call, body, kind, shape, operands, (shape[axis], arg.strides[axis]))


def reshape_cycle(call: Call, arrays: Any) -> Any:
    xp, shape, kind = call.xp, call.shape(), call.kind()
    count = prod(shape)
    if not arrays[0].size or not count:
        return xp.full(shape, FILLS[kind], DTYPES[kind])
    arg = arrays[0].reshape(-1)
    none = Placed(arg, 0, (count,), (0,))
    made = _fetched(call, cycling(kind), kind, (count,), [none, none], (arg.size, arg.strides[0]))
    assert made is not None, "nothing is checked"
    return made.reshape(shape)


def _kind(array: Any) -> Kind:
    return next(kind for kind, dtype in DTYPES.items() if dtype == array.dtype)


def _fetched(
    call: Call, body: Body, kind: Kind, shape: Numbers, operands: Sequence[Placed], scalars: Sequence[int]
) -> Any | None:
    """The items; None: an index is outside its axis."""
    source, other = operands
    kinds = operand_kinds(kind, _kind(other.array))
    placed = [source, other]
    if kind.is_complex:
        placed.append(Placed(source.array, source.offset + kinds[0].bytes, source.shape, source.strides))
    launch = _launch(call.modules, body, shape, tuple(kinds))
    bound = launch.bound([p.strides for p in placed])
    results = launch.room(bound, None)
    if launch.launch(bound, placed, results, scalars):
        return None
    return launch.finish(bound, results)[0]


def _launch(modules: Modules, body: Body, shape: Numbers, kinds: tuple[Kind, ...]) -> Launch:
    def make() -> Launch:
        return Launch(modules.xp, modules, body, [], shape, kinds, [], None)

    made: Launch = modules.launches.of((body, shape, kinds), (), make)
    return made
