"""Selection and update by indices.  Every index is checked: one outside its axis is E310, or a broken invariant where it
was proved to be inside; NumPy's wrapping of negative indices is never reached.

Neighbours: `frames` (Note [One batch axis]), `masking`; `reference.selection` (definitions).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from ...typechecker.core import Indexing
from ...typechecker.elements import Kind
from ..graph.cells import frame_of, framed_of, wanted_of
from ..graph.phases import LibraryPhase
from ..run.cpu.bindings import Binding, Fault, Unbound, bind_kernel
from ..run.cpu.gathering import gather_run
from ..run.cpu.kinds import DTYPES, FILLS, NumArray
from ..run.device import Types
from ..run.failures import NOTHING, outside
from .compiled_sorts import LEAST, is_short, plain_order, sorted_vector
from .frames import Arrays, Call, Function, Operation, in_order, whole
from .sorting import selects, sorted_items, sorted_rows


def check_indices(
    indices: NumArray, size: int, *, checked: bool, least: int = 0, shift: object = None, place: Indexing | None = None,
    beside: Mapping[int, int] = NOTHING,
) -> None:  # fmt: skip
    """Fail with the first index that is not in `least` … size-1; `beside`: those of other axes."""
    if not indices.size or (int(indices.min()) >= least and int(indices.max()) < size):
        return
    wrong = (indices < least) | (indices >= size)
    index = int(indices[wrong].reshape(-1)[0])
    if not checked:
        raise AssertionError(f"index {index} was proved to be below {size}")
    raise outside(index, size, shift, place, beside)


def check_gather(phase: LibraryPhase, cell: Sequence[int], indices: NumArray, others: Sequence[NumArray]) -> None:
    """Fail with the first item whose index is outside: those of axes before it that are numbers are those of the first item."""
    told, axis, place = phase.attributes.get("beside", ()), phase.attributes["axis"], phase.indexing
    assert isinstance(told, tuple) and isinstance(axis, int)
    beside = {other: int(number.reshape(-1)[0]) for other, number in zip(told, others, strict=True)}
    if place is not None and place.axis == axis and indices.size:
        for other in sorted(other for other in beside if other < axis):
            every = {**beside, axis: int(indices.reshape(-1)[0])}
            number = every.pop(other)
            check_indices(np.array([number]), cell[other], checked=True, place=place.on(other), beside=every)
    check_indices(indices, cell[axis], checked=phase.attributes["checked"] is True, least=-1 if phase.attributes["fills"] else 0,
                  shift=phase.attributes.get("shift"), place=place, beside=beside)  # fmt: skip


def check_update(phase: LibraryPhase, chosen: Mapping[int, NumArray], cell: Sequence[int]) -> None:
    """Fail with the first item, in the order of cells and of items, that has an index outside its axis.

    `chosen`: indices by axis, with a batch axis each."""
    wrong = {axis: ((own < 0) | (own >= cell[axis])).reshape(len(own), -1) for axis, own in chosen.items()}
    if not any(bad.any() for bad in wrong.values()):
        return
    assert phase.attributes["checked"] is True, "an index was proved to be inside"
    at = min(int(bad.any(1).argmax()) for bad in wrong.values() if bad.any())
    here = {axis: bad[at % len(bad)] for axis, bad in wrong.items()}
    rows = {axis: own.reshape(len(own), -1)[at % len(own)] for axis, own in chosen.items()}
    first = next((axis for axis, bad in here.items() if bad[:1].any()), None)
    axis = max(axis for axis, bad in here.items() if bad.any()) if first is None else first
    places = {**dict.fromkeys(rows, 0), axis: int(here[axis].argmax())}
    every = {own: int(row[places[own]]) for own, row in rows.items() if row.size}
    raise outside(every.pop(axis), cell[axis], None, phase.indexing and phase.indexing.on(axis), every)


def gather(call: Call, arrays: Arrays) -> Arrays:
    """result[a… i… b…] = arg[a… indices[i…] b…]; an index of -1 gives a fill if the op has fills."""
    axis, fills = call.axis(), call.flag("fills")
    if "sorts" in call.phase.attributes:
        return sort(call, arrays)
    arg, indices, *others = call.batched(arrays)
    count = math.prod(call.frame)
    own, cell = indices.shape[1:], arg.shape[1:]
    shape = (count, *cell[:axis], *own, *cell[axis + 1 :])
    if not count:
        return call.unbatched(np.empty(shape, arg.dtype))
    length = cell[axis]
    indices = indices.astype(np.intp, copy=False)
    check_gather(call.phase, cell, indices, others)
    absent = indices < 0 if fills else None
    if absent is not None and not absent.any():
        absent = None
    if absent is not None:
        indices = np.where(absent, 0, indices)
    fill = FILLS[call.kind()]
    if absent is not None and not length:
        return call.unbatched(np.full(shape, fill, arg.dtype))
    if not math.prod(shape):
        return call.unbatched(np.empty(shape, arg.dtype))
    if len(indices) == 1:
        result = np.take(arg, indices[0], axis + 1, mode="clip")
        place = (slice(None),) * (axis + 1)
        if absent is not None:
            result[(*place, absent[0])] = fill
        return call.unbatched(np.broadcast_to(result, shape).copy() if len(result) < count else result)
    # each cell has its own indices: positions in the rows of arg, all axes before the selected one flattened
    before = math.prod(cell[:axis])
    rows = np.ascontiguousarray(arg).reshape(len(arg) * before * length, math.prod(cell[axis + 1 :]))
    starts = np.arange(len(arg) * before).reshape(len(arg), before, 1) * length
    result = rows[starts + indices.reshape(count, 1, -1)]
    if absent is not None:
        result[np.broadcast_to(absent.reshape(count, 1, -1), result.shape[:-1])] = fill
    return call.unbatched(result.reshape(shape))


def sort(call: Call, arrays: Arrays) -> Arrays:
    """A gather in the order of a grade that is not made (`graph.passes.rules.orders`)."""
    descending, wanted = call.phase.attributes["sorts"] == "down", wanted_of(call.phase)
    if not call.rank:
        return (sorted_items(arrays[0], descending=descending, wanted=wanted),)
    (rows, _) = call.batched(arrays)
    return call.unbatched(sorted_rows(rows, descending=descending, wanted=wanted, threads=call.threads))


def update(call: Call, arrays: Arrays) -> Arrays:
    """`arg` with arg[i;j;…] ← value; the last of duplicates wins (one-dimensional assignment runs in order)."""
    indexed = call.phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    arg, *present, value = call.batched(arrays)
    count, cell = math.prod(call.frame), arg.shape[1:]
    result = np.array(np.broadcast_to(arg, (count, *cell)), order="C")
    if not count:
        return call.unbatched(result)
    supply = iter(present)
    choices = [
        next(supply).astype(np.int64, copy=False) if has else np.arange(length)[np.newaxis]
        for has, length in zip(indexed, cell, strict=True)
    ]
    check_update(call.phase, {axis: choices[axis] for axis, has in enumerate(indexed) if has}, cell)
    last = max((axis + 1 for axis, has in enumerate(indexed) if has), default=0)
    selection = tuple(n for choice in choices[:last] for n in choice.shape[1:])
    places: NumArray = np.arange(count).reshape(count, *[1] * len(selection))
    used = 0
    for choice, length in zip(choices[:last], cell, strict=False):
        rank = choice.ndim - 1
        wide = choice.reshape(len(choice), *[1] * used, *choice.shape[1:], *[1] * (len(selection) - used - rank))
        places = places * length + wide
        used += rank
    tail = cell[last:]
    if value.ndim == 1:
        value = value.reshape(len(value), *[1] * (len(selection) + len(tail)))
    places = np.ascontiguousarray(np.broadcast_to(places, (count, *selection))).reshape(-1)
    values = np.broadcast_to(value, (count, *selection, *tail))
    if tail:
        rows = result.reshape(count * math.prod(cell[:last]), *tail)
        rows[places] = values.reshape(len(places), *tail)
    else:
        result.reshape(-1)[places] = values.reshape(-1)
    return call.unbatched(result)


# ------------------------------------------------------------------------------------------ by kernels


def _gather_large(call: Call, arrays: Arrays) -> NumArray | None:
    """By a kernel; `x[⍋x]` by NumPy's sort, in memory of the pool, large vectors in parts on the team."""
    order = call.phase.attributes.get("sorts")
    if order is None:
        run = gather_run(call.phase, [call.operand_kind(0), call.operand_kind(1)], arrays[0], arrays[1], call.threads)
        return None if run is None else run.gathered(arrays[0], arrays[1])
    if call.rank or selects(len(arrays[0]), wanted_of(call.phase)):
        return sort(call, arrays)[0]
    made = sorted_vector(arrays[0], call.operand_kind(0), order == "down", call.threads)
    return sort(call, arrays)[0] if made is None else made


def _bind_gather(binding: Binding, phase: LibraryPhase) -> None:
    """Items by indices."""
    table, indices = [binding.values[value] for value in phase.args[:2]]
    run = gather_run(phase, list(map(binding.types.kind, phase.args[:2])), table, indices, binding.threads, least=0)
    if run is None:
        raise Unbound
    operands = [binding.view(value, view) for value, view in run.views]
    bind_kernel(binding, run, operands, [(phase.results[0], binding.types.kind(phase.results[0]))])
    binding.fault = Fault(run, binding.kernels[0], phase.span)


# ----------------------------------------------------------------------------------- by NumPy alone


def _short_gather(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    order = phase.attributes.get("sorts")
    if order is None:
        return _short_rows(phase, types, otherwise) if frame_of(phase) else None
    if not is_short(phase, types) or not math.prod(types.shape(phase.args[0])):
        return None
    if selects(math.prod(types.shape(phase.args[0])), wanted_of(phase)):
        return None
    return _sorted(types.kind(phase.args[0]), descending=order == "down")


@cache
def _sorted(kind: Kind, *, descending: bool) -> Function:
    order_of = plain_order(kind, descending=descending)

    def run(items: NumArray, *order: object) -> NumArray:
        made = items.copy()
        made.sort()
        first, last = made.item(0), made.item(-1)
        if kind.is_float and not ((first > 0 or last < 0) and last == last):  # zeros of both signs, or NaN
            return items[order_of(items)] if len(items) < LEAST[True] else sorted_items(items, descending=descending)
        return made[::-1].copy() if descending else made

    return run


def _short_rows(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    """Items of each row of a matrix by indices of its own."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) != 1 or ranks != [2, 2] or framed_of(phase) != (True, True) or phase.attributes.get("fills"):
        return None

    def run(rows: NumArray, places: NumArray) -> NumArray:
        count, length = rows.shape
        if not places.size or int(places.min()) < 0 or int(places.max()) >= length:
            return otherwise(rows, places)
        return in_order(rows[np.arange(count)[:, np.newaxis], places])

    return run


def _short_update(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    """Items of a vector; an index that is outside is for the meaning to name."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) or phase.attributes["indexed"] != (True,) or len(ranks) != 3 or ranks[0] != 1 or ranks[1] > 1:
        return None
    dtype = DTYPES[types.kind(phase.args[0])]

    def run(items: NumArray, places: Any, value: Any) -> NumArray:
        at = np.asarray(places)
        if at.size and (int(at.min()) < 0 or int(at.max()) >= len(items)):
            return otherwise(items, at, np.asarray(value, dtype))
        made = items.copy()
        made[at if at.dtype.kind == "i" else at.astype(np.int64)] = value
        return made

    return run


SELECTING: Final[dict[str, Operation]] = {
    "gather": whole(gather, _gather_large, _short_gather, _bind_gather), "update": whole(update, short=_short_update),
}  # fmt: skip
