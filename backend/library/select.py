"""Library operations that select and move items: gather, update, compress, where, joins, rotations.

Every index is checked: one outside its axis is E310, or an AssertionError if the type checker proved it to be inside; NumPy's
wrapping of negative indices is never used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...typechecker.core.arrays import Indexing
from ...typechecker.elements import Kind
from ..cpu import templates
from ..cpu.parallel_for import ArgumentBlock, BufferRef, words_of
from ..cpu.templates import compress_items, concatenate, copy_cyclically, gather_run, true_positions
from ..cpu.views import DTYPES, FILLS, NumArray, common_stride
from ..graph.phases import LibraryPhase
from ..graph.projections import frame_of, framed_of, needed_positions
from ..jit.compiler import address_of, is_installed
from ..loopir.templates import CountTrue, SelectionForm, SelectTemplate
from ..vm.backend_interface import NO_FIXED_INDICES, CheckFailed, Types, index_out_of_range
from ..vm.run_state import MIN_POOLED as POOLED_MIN_BYTES
from ..vm.specialization import (
    MAX_TABLE_CELLS,
    FailureDecoder,
    NotCompiledYet,
    NotSpecializable,
    Specialization,
    specialize_kernel,
)
from .operation import Arrays, Function, Native, Operation, OperationCall, cell_by_cell, in_order, on_operands
from .sort import LEAST, is_short, plain_order, selects, sorted_items, sorted_rows, sorted_vector

# ---------------------------------------------------------------------------------------------------- gather and update

def check_indices(
    indices: NumArray, size: int, *, checked: bool, least: int = 0, shift: object = None, indexing: Indexing | None = None,
    fixed: Mapping[int, int] = NO_FIXED_INDICES,
) -> None:  # fmt: skip
    """Raise E310 for the first index that is not in `least` … size-1; `fixed`: the indices of other axes, for the message."""
    if not indices.size or (int(indices.min()) >= least and int(indices.max()) < size):
        return
    wrong = (indices < least) | (indices >= size)
    index = int(indices[wrong].reshape(-1)[0])
    if not checked:
        raise AssertionError(f"index {index} was proved to be below {size}")
    raise index_out_of_range(index, size, shift, indexing, fixed)


def check_gather(phase: LibraryPhase, cell: Sequence[int], indices: NumArray, others: Sequence[NumArray]) -> None:
    """Raise E310 for the first item whose index is outside; `others`: the index arrays of other axes, for the message."""
    fixed_axes, axis, indexing = phase.attributes.get("other_axes", ()), phase.attributes["axis"], phase.indexing
    assert isinstance(fixed_axes, tuple) and isinstance(axis, int)
    fixed = {other: int(number.reshape(-1)[0]) for other, number in zip(fixed_axes, others, strict=True)}
    if indexing is not None and indexing.axis == axis and indices.size:
        for other in sorted(other for other in fixed if other < axis):
            every = {**fixed, axis: int(indices.reshape(-1)[0])}
            number = every.pop(other)
            check_indices(np.array([number]), cell[other], checked=True, indexing=indexing.on(other), fixed=every)
    check_indices(indices, cell[axis], checked=phase.attributes["checked"] is True, least=-1 if phase.attributes["fills"] else 0,
                  shift=phase.attributes.get("shift"), indexing=indexing, fixed=fixed)  # fmt: skip


def check_update(phase: LibraryPhase, chosen: Mapping[int, NumArray], cell: Sequence[int]) -> None:
    """Raise E310 for the first item, in the order of cells and of items, that has an index outside its axis.

    `chosen`: indices by axis, with a batch axis each.
    """
    wrong = {axis: ((axis_indices < 0) | (axis_indices >= cell[axis])).reshape(len(axis_indices), -1) for axis,
        axis_indices in chosen.items()}
    if not any(bad.any() for bad in wrong.values()):
        return
    if phase.attributes["checked"] is not True:
        raise AssertionError("an index was proved to be inside")
    at = min(int(bad.any(1).argmax()) for bad in wrong.values() if bad.any())
    here = {axis: bad[at % len(bad)] for axis, bad in wrong.items()}
    rows = {axis: axis_indices.reshape(len(axis_indices), -1)[at % len(axis_indices)] for axis, axis_indices in chosen.items()}
    first = next((axis for axis, bad in here.items() if bad[:1].any()), None)
    axis = max(axis for axis, bad in here.items() if bad.any()) if first is None else first
    places = {**dict.fromkeys(rows, 0), axis: int(here[axis].argmax())}
    every = {along: int(row[places[along]]) for along, row in rows.items() if row.size}
    raise index_out_of_range(every.pop(axis), cell[axis], None, phase.indexing and phase.indexing.on(axis), every)


def gather(call: OperationCall, arrays: Arrays) -> Arrays:
    """result[a… i… b…] = arg[a… indices[i…] b…]; an index of -1 gives a fill if the operation has fills."""
    axis, fills = call.axis(), call.flag("fills")
    if "sorts" in call.phase.attributes:
        return sort(call, arrays)
    arg, indices, *others = call.batched(arrays)
    count = math.prod(call.frame)
    frame, cell = indices.shape[1:], arg.shape[1:]
    shape = (count, *cell[:axis], *frame, *cell[axis + 1 :])
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
        leading = (slice(None),) * (axis + 1)
        if absent is not None:
            result[(*leading, absent[0])] = fill
        return call.unbatched(np.broadcast_to(result, shape).copy() if len(result) < count else result)
    # each cell has its own indices: positions in the rows of arg, all axes before the selected one flattened
    before = math.prod(cell[:axis])
    rows = np.ascontiguousarray(arg).reshape(len(arg) * before * length, math.prod(cell[axis + 1 :]))
    starts = np.arange(len(arg) * before).reshape(len(arg), before, 1) * length
    result = rows[starts + indices.reshape(count, 1, -1)]
    if absent is not None:
        result[np.broadcast_to(absent.reshape(count, 1, -1), result.shape[:-1])] = fill
    return call.unbatched(result.reshape(shape))


def sort(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `sort`: `x[⍋x]` without computing the grade (`graph.passes.algebraic_rules`)."""
    descending, wanted = call.phase.attributes["sorts"] == "down", needed_positions(call.phase)
    if not call.rank:
        return (sorted_items(arrays[0], descending=descending, wanted=wanted),)
    (rows, _) = call.batched(arrays)
    return call.unbatched(sorted_rows(rows, descending=descending, wanted=wanted, threads=call.threads))


def update(call: OperationCall, arrays: Arrays) -> Arrays:
    """`arg` with arg[i;j;…] ← value; the last of duplicate indices wins (NumPy assigns along one axis in order)."""
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


def _gather_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    """`gather` with a kernel; `x[⍋x]` by NumPy's sort, in memory of the pool, large vectors in parts on the threads."""
    order = call.phase.attributes.get("sorts")
    if order is None:
        run = gather_run(call.phase, [call.operand_kind(0), call.operand_kind(1)], arrays[0], arrays[1], call.threads)
        return None if run is None else run.gathered(arrays[0], arrays[1])
    if call.rank or selects(len(arrays[0]), needed_positions(call.phase)):
        return sort(call, arrays)[0]
    ordered = sorted_vector(arrays[0], call.operand_kind(0), order == "down", call.threads)
    return sort(call, arrays)[0] if ordered is None else ordered


def _bind_gather(binding: Specialization, phase: LibraryPhase) -> None:
    """Specialize a gather."""
    table, indices = [binding.values[value] for value in phase.args[:2]]
    run = gather_run(phase, list(map(binding.types.kind, phase.args[:2])), table, indices, binding.threads, least=0)
    if run is None:
        raise NotSpecializable
    operands = [binding.view(value, view) for value, view in run.views]
    specialize_kernel(binding, run, operands, phase.results[:1])
    binding.fault = FailureDecoder(run, phase.span)


# ----------------------------------------------------------------------------------- by NumPy alone


def _short_gather(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    order = phase.attributes.get("sorts")
    if order is None:
        return _short_rows(phase, types, otherwise) if frame_of(phase) else None
    if not is_short(phase, types) or not math.prod(types.shape(phase.args[0])):
        return None
    if selects(math.prod(types.shape(phase.args[0])), needed_positions(phase)):
        return None
    return _sorted(types.kind(phase.args[0]), descending=order == "down")


@cache
def _sorted(kind: Kind, *, descending: bool) -> Function:
    order_of = plain_order(kind, descending=descending)

    def run(items: NumArray, *order: object) -> NumArray:
        ordered = items.copy()
        ordered.sort()
        first, last = ordered.item(0), ordered.item(-1)
        if kind.is_float and not ((first > 0 or last < 0) and last == last):  # there may be zeros of both signs, or NaN
            return items[order_of(items)] if len(items) < LEAST[True] else sorted_items(items, descending=descending)
        return ordered[::-1].copy() if descending else ordered

    return run


def _short_rows(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    """Gather items of each row of a matrix by the row's own indices."""
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
    """Update items of a vector; with an index outside it calls `otherwise`, which reports the index."""
    ranks = [len(types.types[value].shape) for value in phase.args]
    if frame_of(phase) or phase.attributes["indexed"] != (True,) or len(ranks) != 3 or ranks[0] != 1 or ranks[1] > 1:
        return None
    dtype = DTYPES[types.kind(phase.args[0])]

    def run(items: NumArray, places: Any, value: Any) -> NumArray:
        at = np.asarray(places)
        if at.size and (int(at.min()) < 0 or int(at.max()) >= len(items)):
            return otherwise(items, at, np.asarray(value, dtype))
        result = items.copy()
        result[at if at.dtype.kind == "i" else at.astype(np.int64)] = value
        return result

    return run


SELECTING: Final[dict[str, Operation]] = {
    "gather": on_operands(gather, _gather_large, _short_gather, _bind_gather), "update": on_operands(update, short=_short_update),
}  # fmt: skip


# --------------------------------------------------------------------------------------------------- compress, expand and where
#
# Operations driven by masks, and those that define a runtime size.

_SELECT_NANOSECONDS: Final = 0.7
"""Nanoseconds an item."""


def define(call: OperationCall, value: int) -> None:
    """Record the runtime size that the phase defines."""
    for variable in call.phase.defines:
        call.context.define(variable, value)


def mask_update(call: OperationCall, arg: NumArray, mask: NumArray, value: NumArray) -> NumArray:
    """`arg` with the cells where the mask is true replaced by those of `value`, in order, or by a scalar."""
    result = arg.copy(order="C")
    cell = arg.shape[mask.ndim :]
    chosen = mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if value.ndim and value.shape != (places, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places} places")
    result.reshape(mask.size, *cell)[chosen] = value
    return result


def compress(call: OperationCall, arrays: Arrays) -> NumArray:
    """The cells along the axis whose mask item is true; defines their number."""
    mask, arg = arrays
    axis, chosen = call.axis(), mask.reshape(-1)
    if arg.ndim == 1:
        result = arg[chosen] if len(chosen) == len(arg) else np.compress(chosen, arg)
    else:
        result = np.take(arg, np.flatnonzero(chosen), axis)
    define(call, result.shape[axis])
    return result


def expand(call: OperationCall, mask: NumArray, arg: NumArray) -> NumArray:
    """Cells of `arg` in order where the mask is true, fills elsewhere."""
    axis, chosen = call.axis(), mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if places != arg.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places} places for {arg.shape[axis]} items")
    kind = call.kind()
    shape = (*arg.shape[:axis], len(chosen), *arg.shape[axis + 1 :])
    result = np.full(shape, FILLS[kind], DTYPES[kind])
    selection: tuple[Any, ...] = (*(slice(None),) * axis, np.flatnonzero(chosen))
    result[selection] = arg
    return result


def where(call: OperationCall, arrays: Arrays) -> NumArray:
    """Positions of true items: a vector, or a matrix with a row of coordinates for each if the mask's rank is above 1."""
    mask = arrays[0]
    positions: NumArray = np.flatnonzero(mask)
    if mask.ndim > 1:
        coordinates = np.unravel_index(positions, mask.shape) if math.prod(mask.shape) else [positions] * mask.ndim
        positions = np.stack(coordinates, 1)
    define(call, len(positions))
    return positions.astype(np.int64, copy=False)


def runtime_size(call: OperationCall, arrays: Arrays) -> Arrays:
    define(call, int(arrays[0]))
    return ()


# ------------------------------------------------------------------------------------------ by kernels


def _compress_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    mask, arg = arrays
    axis = call.axis()
    kept_items = compress_items(mask.reshape(-1), arg, axis, call.threads) if arg.ndim else None
    if kept_items is not None:
        define(call, kept_items.shape[axis])
    return kept_items


def _where_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    positions = true_positions(arrays[0], call.threads)
    if positions is not None:
        define(call, len(positions))
    return positions


# ---------------------------------------------------------------------------------------- native code


Selection: TypeAlias = "tuple[SelectTemplate, list[int], list[tuple[int, BufferRef]]]"
"""Code, its argument block, and the offsets of the addresses in it."""


def _bound(make: Callable[[Specialization, LibraryPhase, NumArray], Selection]) -> Native:
    """Returns the specialization of compress or where along the first axis: one launch counts, a second one writes."""

    def bind(binding: Specialization, phase: LibraryPhase) -> None:
        types, (value,), (variable,) = binding.types, phase.results, phase.defines
        mask = binding.values[phase.args[0]]
        limit = mask.size if variable.cap is None else types.number(variable.cap)
        if any(variable in guard.variables() for guard in types.guards) or limit < mask.size or mask.size > MAX_TABLE_CELLS:
            raise NotSpecializable  # Python checks the runtime size
        if not is_installed() or mask.dtype != np.bool_ or not mask.flags.c_contiguous:
            raise NotSpecializable
        code, words, places = make(binding, phase, mask)
        if not all([binding.wants(code), binding.wants(CountTrue())]):
            raise NotCompiledYet
        start, counting = address_of(code), address_of(CountTrue())
        if start is None or counting is None:
            raise NotSpecializable
        shape, dtype, layouts = types.shape(value), DTYPES[types.kind(value)], binding.layouts
        result = binding.result(value, shape, dtype)
        binding.length_table = layouts.length_table(dtype, shape[1:])
        counter = binding.room((8,), np.dtype(np.uint8))
        masks: BufferRef = (binding.places[phase.args[0]], 0)
        counted = [(1, masks), (2, (counter, 0))]
        work = mask.size * _SELECT_NANOSECONDS
        binding.launch(words_of(counting, [ArgumentBlock([mask.size, 0, 0], counted)], 0, work))
        target = len(words) - 1 - (code.form is SelectionForm.CELLS)
        written = [*((view, masks) for view in templates.MASKS), (target, (result, 0))]
        written += [(templates.DUE, (counter + 1, 0)), *places]
        binding.launch(words_of(start, [ArgumentBlock(words, written)], 0, work))

    return bind


def _compressed(binding: Specialization, phase: LibraryPhase, mask: NumArray) -> Selection:
    array = binding.values[phase.args[1]]
    if not array.ndim or mask.size != array.shape[0] or phase.attributes["axis"] != 0:
        raise NotSpecializable
    bytes, step = array.itemsize * math.prod(array.shape[1:]), array.strides[0]
    if bytes != array.itemsize and common_stride(array.shape[1:], array.strides[1:]) != array.itemsize:
        raise NotSpecializable
    code = templates.code_of(bytes, step)
    words = templates.words_of(code, 1, mask.size, (0, 0), 0, 0, source=(0, 0, step), bytes=bytes)
    return code, words, [(templates.SOURCE, (binding.places[phase.args[1]], 0))]


def _where_held(binding: Specialization, phase: LibraryPhase, mask: NumArray) -> Selection:
    if mask.ndim not in (1, 2):
        raise NotSpecializable
    code = SelectTemplate(SelectionForm.PLACES if mask.ndim == 1 else SelectionForm.PAIRS)
    rows, columns = (1, mask.size) if mask.ndim == 1 else mask.shape
    return code, templates.words_of(code, rows, columns, (0, columns), 0, 0), []


MASKING: Final[dict[str, Operation]] = {
    "mask_update": cell_by_cell(mask_update), "compress": on_operands(compress, _compress_large, native=_bound(_compressed)),
    "expand": cell_by_cell(expand), "where": on_operands(where, _where_large, native=_bound(_where_held)),
    "runtime_size": on_operands(runtime_size),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- joins and rotations
#
# Operations that move items and never compute on them: join, stack, rotate, cycling reshape, and sizes as a vector.

_LONG_ROW: Final = 64
_SHORT: Final = 64
"""The least items of a run that is rotated by two slice copies."""


def size_vector(call: OperationCall, arrays: Arrays) -> NumArray:
    return np.array(call.sizes(call.context), np.int64).reshape(call.context.shape(call.phase.results[0]))


def join(call: OperationCall, *arrays: NumArray) -> NumArray:
    return np.concatenate(arrays, call.axis())


def stack(call: OperationCall, *arrays: NumArray) -> NumArray:
    return np.stack(arrays, call.axis())


def rotate(call: OperationCall, arg: NumArray, amount: NumArray) -> NumArray:
    """A scalar amount is two slice copies; one amount per row is two slice copies for each long row, or one gather."""
    axis = call.axis()
    length = arg.shape[axis]
    if not arg.size:
        return arg.copy()
    if amount.ndim == 0:
        return np.concatenate(_turned(arg, amount, axis), axis)
    amounts = amount.astype(np.int64) % length
    rows, offsets = np.moveaxis(arg, axis, -1), amounts.reshape(-1)
    result = np.empty_like(arg)
    if length < _LONG_ROW:
        places = (np.arange(length) + amounts[..., np.newaxis]) % length
        np.moveaxis(result, axis, -1)[...] = np.take_along_axis(rows, places, -1)
        return result
    moved = np.moveaxis(result, axis, -1)
    for point, offset in zip(np.ndindex(rows.shape[:-1]), offsets.tolist(), strict=True):
        moved[point][: length - offset] = rows[point][offset:]
        moved[point][length - offset :] = rows[point][:offset]
    return result


def _turned(arg: NumArray, amount: Any, axis: int) -> tuple[NumArray, NumArray]:
    """Returns the two slices of `arg` that a rotation exchanges, in the order of the result."""
    offset, lead = int(amount) % arg.shape[axis], (slice(None),) * axis
    return arg[(*lead, slice(offset, None))], arg[(*lead, slice(0, offset))]


def reshape_cycle(call: OperationCall, arg: NumArray) -> NumArray:
    """Reshape in row-major order, repeating or truncating the items; an empty operand gives fills."""
    shape, kind = call.shape(), call.kind()
    count = math.prod(shape)
    if not arg.size:
        return np.full(shape, FILLS[kind], DTYPES[kind])
    items = arg.reshape(-1)
    result = np.empty(count, arg.dtype)
    filled = min(count, len(items))
    result[:filled] = items[:filled]
    while filled < count:  # the number of full cycles doubles
        step = min(filled, count - filled)
        result[filled : filled + step] = result[:step]
        filled += step
    return result.reshape(shape)


# ------------------------------------------------------------------------------- pooled results


def _join_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    if call.rank or sum([array.nbytes for array in arrays]) < POOLED_MIN_BYTES:
        return None
    return concatenate(arrays, call.axis(), call.threads)


def _rotate_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    """`rotate` by one amount for all rows, as two slice copies."""
    arg, amount = arrays
    axis = call.axis()
    if call.rank or amount.ndim or arg.nbytes < POOLED_MIN_BYTES or arg.shape[axis] < _SHORT:
        return None
    return concatenate(_turned(arg, amount, axis), axis, call.threads)


def _cycle_large(call: OperationCall, arrays: Arrays) -> NumArray | None:
    (arg,), shape = arrays, call.shape()
    if call.rank or not arg.size or math.prod(shape) * arg.itemsize < POOLED_MIN_BYTES:
        return None
    return copy_cyclically(arg, shape, call.threads)


# ----------------------------------------------------------------------------------- by NumPy alone


def _short_rotate(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or types.types[phase.args[1]].shape or not math.prod(types.shape(phase.args[0])):
        return None
    return _rotated(axis)


@cache
def _rotated(axis: int) -> Function:
    """Returns the cached function for an axis, so that specializations for several sizes compare equal."""
    return lambda items, amount: in_order(np.concatenate(_turned(items, amount, axis), axis))


def _short_join(phase: LibraryPhase, types: Types, otherwise: Function) -> Function | None:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    if frame_of(phase) or not all(types.types[value].shape for value in phase.args):
        return None
    return _joined(axis)


@cache
def _joined(axis: int) -> Function:
    return lambda *parts: in_order(np.concatenate(parts, axis))


MOVING: Final[dict[str, Operation]] = {
    "size_vector": on_operands(size_vector), "join": cell_by_cell(join, _join_large, _short_join), "stack": cell_by_cell(stack),
    "rotate": cell_by_cell(rotate, _rotate_large, _short_rotate), "reshape_cycle": cell_by_cell(reshape_cycle, _cycle_large),
}  # fmt: skip
