"""Library operations that select and move items: gather, update, compress, where, joins, rotations.

Every index is checked: one outside its axis is E310, or an AssertionError if the type checker proved it to be inside; NumPy's
wrapping of negative indices is never used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...typechecker.core.operations import Indexing
from ..cpu import templates
from ..cpu.numpy_reductions import block_partials, combine_tree, identity
from ..cpu.numpy_scalars import UFUNC_FUNCTIONS
from ..cpu.parallel_for import ArgumentBlock, BufferRef, words_of
from ..cpu.templates import compress_items, concatenate, copy_cyclically, gather_run, true_positions
from ..cpu.views import DTYPES, FILLS, NumArray, common_stride
from ..graph.phases import LibraryPhase
from ..jit.compiler import address_of, is_installed
from ..loopir.templates import CountTrue, SelectionForm, SelectTemplate
from ..lower.loop_order import BLOCK
from ..vm.check_failures import NO_FIXED_INDICES, CheckFailed, index_out_of_range
from ..vm.run_state import MIN_POOLED as POOLED_MIN_BYTES, reshaped, trim
from ..vm.specialization import (
    MAX_TABLE_CELLS,
    FailureDecoder,
    NotCompiledYet,
    NotSpecializable,
    Specialization,
    specialize_kernel,
)
from .operation import (
    Arrays,
    Function,
    Lowering,
    Operation,
    OperationCall,
    cell_by_cell,
    checked,
    in_order,
    on_operands,
    over_cells,
)

# ---------------------------------------------------------------------------------------------------- gather and update

def check_indices(
    indices: NumArray, size: int, *, checked: bool, least: int = 0, shift: object = None, indexing: Indexing | None = None,
    fixed: Mapping[int, int] = NO_FIXED_INDICES,
) -> None:  # fmt: skip
    """Raises E310 for the first index outside [least, size); `fixed`: the indices of other axes, for the message."""
    if not indices.size or (int(indices.min()) >= least and int(indices.max()) < size):
        return
    wrong = (indices < least) | (indices >= size)
    index = int(indices[wrong].reshape(-1)[0])
    if not checked:
        raise AssertionError(f"index {index} was proved to be below {size}")
    raise index_out_of_range(index, size, shift, indexing, fixed)


def check_gather(phase: LibraryPhase, cell: Sequence[int], indices: NumArray, others: Sequence[NumArray]) -> None:
    """Raises E310 for the first item whose index is out of range; `others`: the index arrays of other axes, for the message."""
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
    """Raises E310 for the first item, in the order of cells and of items, that has an index outside its axis.

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


def gather(call: OperationCall) -> Function:
    """result[a… i… b…] = arg[a… indices[i…] b…]; an index of -1 gives a fill if the operation has fills."""
    return checked(call, partial(_gather, call), trims=False)


def _gather(call: OperationCall, *arrays: NumArray) -> Arrays:
    axis, fills = call.axis(), call.flag("fills")
    run = gather_run(call.phase, [call.operand_kind(0), call.operand_kind(1)], arrays[0], arrays[1], call.threads)
    gathered = None if run is None else run.gathered(arrays[0], arrays[1])
    if gathered is not None:
        return (gathered,)
    trim()
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
    return call.unbatched(reshaped(result, shape))


def update(call: OperationCall) -> Function:
    """`arg` with arg[i;j;…] ← value; the last of duplicate indices wins (NumPy assigns along one axis in order)."""
    general = checked(call, partial(_update, call))
    ranks = [len(call.context.types[value].shape) for value in call.phase.args[:2]]
    if _is_large(call) or call.rank or call.phase.attributes["indexed"] != (True,) or ranks not in ([1, 0], [1, 1]):
        return general

    def run(items: NumArray, given: Any, value: Any) -> Any:
        indices = np.asarray(given)
        if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= len(items)):
            return general(items, indices, value)
        result = items.copy()
        result[indices if indices.dtype.kind == "i" else indices.astype(np.int64)] = value
        return result

    return run


def _update(call: OperationCall, *arrays: NumArray) -> Arrays:
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


def _bind_gather(binding: Specialization, phase: LibraryPhase) -> None:
    """Specializes a gather."""
    table, indices = [binding.values[value] for value in phase.args[:2]]
    run = gather_run(phase, list(map(binding.types.kind, phase.args[:2])), table, indices, binding.threads, native=True)
    if run is None:
        raise NotSpecializable
    operands = [binding.view(value, view) for value, view in run.views]
    specialize_kernel(binding, run, operands, phase.results[:1])
    binding.fault = FailureDecoder(run, phase.span)


SELECTING: Final[dict[str, Operation]] = {
    "gather": Operation(gather, _bind_gather), "update": Operation(update),
}  # fmt: skip


# --------------------------------------------------------------------------------------------------- compress, expand and where
#
# Operations driven by masks, and those that define a runtime size.

_SELECT_NANOSECONDS: Final = 0.7
"""Nanoseconds per item."""


def define(call: OperationCall, value: int) -> None:
    """Records the run-time size that the phase defines."""
    for variable in call.phase.defines:
        call.context.define(variable, value)


def mask_update(call: OperationCall, arg: NumArray, mask: NumArray, value: NumArray) -> NumArray:
    """`arg` with the cells where the mask is true replaced by the cells of `value` in order, or by a scalar `value`."""
    result = arg.copy(order="C")
    cell = arg.shape[mask.ndim :]
    chosen = mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if value.ndim and value.shape != (places, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places} places")
    result.reshape(mask.size, *cell)[chosen] = value
    return result


def compress(call: OperationCall, arrays: Arrays) -> NumArray:
    """The cells along the axis whose mask item is true; defines the number of them."""
    mask, arg = arrays
    axis, chosen = call.axis(), mask.reshape(-1)
    selected = compress_items(chosen, arg, axis, call.threads) if arg.ndim else None
    if selected is not None:
        define(call, selected.shape[axis])
        return selected
    trim()
    if arg.ndim == 1:
        result = arg[chosen] if len(chosen) == len(arg) else np.compress(chosen, arg)
    else:
        result = np.take(arg, np.flatnonzero(chosen), axis)
    define(call, result.shape[axis])
    return result


def select_runs(call: OperationCall, mask: NumArray, arg: NumArray) -> NumArray:
    """The operation `select_runs`: in each row the cells of a run whose mask item is true, then zeros."""
    result = np.zeros(call.shape(), arg.dtype)
    for row, selected in zip(result, _selected(call, mask, arg), strict=True):
        row[: len(selected)] = selected
    return result


def _selected(call: OperationCall, mask: NumArray, arg: NumArray) -> Iterator[NumArray]:
    """The cells of each run whose mask item is true."""
    run = call.phase.attributes["run"]
    assert isinstance(run, int)
    for start in range(0, len(mask), run):
        chosen, cells = mask[start : start + run], arg[start : start + run]
        selected = compress_items(chosen, cells, 0, call.threads)
        yield cells[np.flatnonzero(chosen)] if selected is None else selected


def join_runs(call: OperationCall, arrays: Arrays) -> NumArray:
    """The operation `join_runs`: the selected cells of all runs, of which each has so many; defines the number of them."""
    selected, counts = arrays
    result = np.empty((int(counts.sum()), *selected.shape[2:]), selected.dtype)
    stops = counts.cumsum()
    for row, count, stop in zip(selected, counts, stops, strict=True):
        result[stop - count : stop] = row[:count]
    define(call, len(result))
    return result


# Note [Sums in runs].  A row of `sum_runs` has the selected cells of a run that go on with a block which an earlier run began
# (less than a block), those of a block that it begins and does not complete (less than a block), and between them the partial
# results of the blocks that it has all of.

def sum_runs(call: OperationCall, mask: NumArray, arg: NumArray, before: NumArray) -> NumArray:
    """The operation `sum_runs`; `before`: how many cells are selected before each run.  See Note [Sums in runs]."""
    result, ufunc, origin = np.zeros(call.shape(), arg.dtype), UFUNC_FUNCTIONS[call.function()], call.origin()
    for row, cells, earlier in zip(result, _selected(call, mask, arg), before[origin : origin + len(result)], strict=True):
        first, complete = _blocks_of_run(int(earlier), len(cells))
        last = cells[first + complete * BLOCK :]
        row[:first] = cells[:first]
        row[BLOCK : BLOCK + len(last)] = last
        if complete:
            row[2 * BLOCK : 2 * BLOCK + complete] = block_partials(ufunc, cells[first : first + complete * BLOCK])
    return result


def _blocks_of_run(before: int, count: int) -> tuple[int, int]:
    """Of `count` cells after as many `before`: how many complete an earlier block, and how many blocks the others complete."""
    first = min(count, -before % BLOCK)
    return first, (count - first) // BLOCK


def join_sums(call: OperationCall, parts: NumArray, counts: NumArray) -> NumArray:
    """The operation `join_sums`: the reduction of the cells in all runs, of which each has so many, in the order of sums."""
    ufunc, before = UFUNC_FUNCTIONS[call.function()], 0
    begun, partials = list[NumArray](), list[NumArray]()
    for row, count in zip(parts, counts.tolist(), strict=True):
        first, complete = _blocks_of_run(before, count)
        begun.append(row[:first])
        before += count
        if sum(map(len, begun)) == BLOCK:
            partials.append(block_partials(ufunc, np.concatenate(begun)))
            begun = []
        partials.append(row[2 * BLOCK : 2 * BLOCK + complete])
        begun.append(row[BLOCK : BLOCK + count - first - complete * BLOCK])
    rest = np.concatenate(begun)
    if len(rest):
        partials.append(block_partials(ufunc, rest))
    if not before:
        return np.broadcast_to(identity(call.function(), call.kind()), call.shape()).copy()
    return np.asarray(combine_tree(ufunc, np.concatenate(partials)))


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
    """The positions of true items: a vector, or for masks of rank 2 or more a matrix with one row of coordinates per item."""
    mask = arrays[0]
    positions = true_positions(mask, call.threads)
    if positions is None:
        trim()
        positions = np.flatnonzero(mask)
        if mask.ndim == 1 and positions.base is not None:  # the column of a matrix that nothing else refers to
            positions = reshaped(positions.base, positions.shape)
        elif mask.ndim > 1:
            coordinates = np.unravel_index(positions, mask.shape) if math.prod(mask.shape) else [positions] * mask.ndim
            positions = np.stack(coordinates, 1)
    define(call, len(positions))
    return positions.astype(np.int64, copy=False)


def runtime_size(call: OperationCall, arrays: Arrays) -> Arrays:
    define(call, int(arrays[0]))
    return ()


# ---------------------------------------------------------------------------------------- native code


Selection: TypeAlias = "tuple[SelectTemplate, list[int], list[tuple[int, BufferRef]]]"
"""The template, its argument block, and the offsets of the addresses in the block."""


def _bound(make: Callable[[Specialization, LibraryPhase, NumArray], Selection]) -> Lowering:
    """Returns the specialization of compress or where along the first axis: one launch counts, a second one writes."""

    def bind(binding: Specialization, phase: LibraryPhase) -> None:
        types, (value,), (variable,) = binding.types, phase.results, phase.defines
        mask = binding.values[phase.args[0]]
        limit = mask.size if variable.cap is None else types.number(variable.cap)
        if any(variable in guard.variables() for guard in types.guards) or limit < mask.size or mask.size > MAX_TABLE_CELLS:
            raise NotSpecializable  # Python checks the run-time size
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
    "mask_update": cell_by_cell(mask_update), "compress": on_operands(compress, _bound(_compressed), trims=False),
    "select_runs": cell_by_cell(select_runs), "join_runs": on_operands(join_runs), "sum_runs": cell_by_cell(sum_runs),
    "join_sums": cell_by_cell(join_sums), "expand": cell_by_cell(expand),
    "where": on_operands(where, _bound(_where_held), trims=False),
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


def join(call: OperationCall) -> Function:
    return over_cells(call, _bound_to(_joined_large if _is_large(call) else _joined, call.axis(), call.threads))


_bound_to: Final = cache(partial)
"""Cached, so that equal specializations for several sizes compare equal."""


def _is_large(call: OperationCall) -> bool:
    """Is the result, of operands without a frame, large enough for pooled memory?"""
    return not call.rank and math.prod(call.shape()) * DTYPES[call.kind()].itemsize >= POOLED_MIN_BYTES


def _joined(axis: int, threads: int, *parts: NumArray) -> NumArray:
    return in_order(np.concatenate(parts, axis))


def _joined_large(axis: int, threads: int, *parts: NumArray) -> NumArray:
    return concatenate(parts, axis, threads)


def stack(call: OperationCall, *arrays: NumArray) -> NumArray:
    return np.stack(arrays, call.axis())


def rotate(call: OperationCall) -> Function:
    """The operation `⌽`: a scalar amount is two slice copies; amounts per row are two slice copies per long row, or else one
    gather."""
    axis, threads, types = call.axis(), call.threads, call.context
    if call.rank or types.types[call.phase.args[1]].shape or not math.prod(call.shape()):
        return checked(call, over_cells(call, partial(_rotate_rows, axis)))
    joined = _joined_large if _is_large(call) and call.shape()[axis] >= _SHORT else _joined
    return _bound_to(_rotate, joined, axis, threads)


def _rotate(joined: Callable[..., NumArray], axis: int, threads: int, arg: NumArray, amount: NumArray) -> NumArray:
    offset, lead = int(amount) % arg.shape[axis], (slice(None),) * axis
    return joined(axis, threads, arg[(*lead, slice(offset, None))], arg[(*lead, slice(0, offset))])


def _rotate_rows(axis: int, arg: NumArray, amount: NumArray) -> NumArray:
    length = arg.shape[axis]
    if not arg.size:
        return arg.copy()
    rows = np.moveaxis(arg, axis, -1)
    amounts = np.broadcast_to(amount.astype(np.int64) % length, rows.shape[:-1])
    result = np.empty_like(arg)
    if length < _LONG_ROW:
        places = (np.arange(length) + amounts[..., np.newaxis]) % length
        np.moveaxis(result, axis, -1)[...] = np.take_along_axis(rows, places, -1)
        return result
    moved = np.moveaxis(result, axis, -1)
    for point, offset in zip(np.ndindex(rows.shape[:-1]), amounts.reshape(-1).tolist(), strict=True):
        moved[point][: length - offset] = rows[point][offset:]
        moved[point][length - offset :] = rows[point][:offset]
    return result


def reshape_cycle(call: OperationCall, arg: NumArray) -> NumArray:
    """Reshape in row-major order, repeating or truncating the items; an empty operand gives fills."""
    shape, kind = call.shape(), call.kind()
    return copy_cyclically(arg, shape, call.threads) if arg.size else np.full(shape, FILLS[kind], DTYPES[kind])


MOVING: Final[dict[str, Operation]] = {
    "size_vector": on_operands(size_vector), "join": Operation(join), "broadcast": Operation(join),
    "stack": cell_by_cell(stack), "rotate": Operation(rotate), "reshape_cycle": cell_by_cell(reshape_cycle),
}  # fmt: skip
