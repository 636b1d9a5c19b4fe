"""Ops driven by masks, and those that define a run-time size.

Neighbours: `selecting`; `context` (records sizes); `reference.selection` (definitions).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.codes import Code
from ..graph.phases import LibraryPhase
from ..kernels.llvm_leaf import is_installed
from ..kernels.store import address_of
from ..loops.selecting import Form, Select
from ..loops.written import Counting
from ..run.cpu import selecting
from ..run.cpu.bindings import Binding, Later, Unbound
from ..run.cpu.kinds import DTYPES, FILLS, NumArray
from ..run.cpu.launching import Base, Block, words_of
from ..run.cpu.layouts import common_stride
from ..run.cpu.selecting import compressed, places
from ..run.failures import CheckFailed
from ..run.native.layouts import MOST_CELLS
from .frames import Arrays, Call, Native, Operation, cell_by_cell, whole

_SELECT_NANOSECONDS: Final = 0.7
"""An item."""


def define(call: Call, value: int) -> None:
    """Record the size that the phase defines."""
    for variable in call.phase.defines:
        call.context.define(variable, value)


def mask_update(call: Call, arg: NumArray, mask: NumArray, value: NumArray) -> NumArray:
    """The cells of `arg` where the mask holds replaced, in order; a scalar serves every one."""
    result = arg.copy(order="C")
    cell = arg.shape[mask.ndim :]
    chosen = mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if value.ndim and value.shape != (places, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places} places")
    result.reshape(mask.size, *cell)[chosen] = value
    return result


def compress(call: Call, arrays: Arrays) -> NumArray:
    """The cells along the axis whose mask item holds; defines their number."""
    mask, arg = arrays
    axis, chosen = call.axis(), mask.reshape(-1)
    if arg.ndim == 1:
        result = arg[chosen] if len(chosen) == len(arg) else np.compress(chosen, arg)
    else:
        result = np.take(arg, np.flatnonzero(chosen), axis)
    define(call, result.shape[axis])
    return result


def expand(call: Call, mask: NumArray, arg: NumArray) -> NumArray:
    """Cells of `arg` where the mask holds, in order, fills elsewhere."""
    axis, chosen = call.axis(), mask.reshape(-1)
    places = int(np.count_nonzero(chosen))
    if places != arg.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places} places for {arg.shape[axis]} items")
    kind = call.kind()
    shape = (*arg.shape[:axis], len(chosen), *arg.shape[axis + 1 :])
    result = np.full(shape, FILLS[kind], DTYPES[kind])
    place: tuple[Any, ...] = (*(slice(None),) * axis, np.flatnonzero(chosen))
    result[place] = arg
    return result


def where(call: Call, arrays: Arrays) -> NumArray:
    """Positions of true items: a vector, or one row of coordinates each for a mask of rank above 1."""
    mask = arrays[0]
    found: NumArray = np.flatnonzero(mask)
    if mask.ndim > 1:
        coordinates = np.unravel_index(found, mask.shape) if math.prod(mask.shape) else [found] * mask.ndim
        found = np.stack(coordinates, 1)
    define(call, len(found))
    return found.astype(np.int64, copy=False)


def runtime_size(call: Call, arrays: Arrays) -> Arrays:
    define(call, int(arrays[0]))
    return ()


# ------------------------------------------------------------------------------------------ by kernels


def _compress_large(call: Call, arrays: Arrays) -> NumArray | None:
    mask, arg = arrays
    axis = call.axis()
    made = compressed(mask.reshape(-1), arg, axis, call.threads) if arg.ndim else None
    if made is not None:
        define(call, made.shape[axis])
    return made


def _where_large(call: Call, arrays: Arrays) -> NumArray | None:
    made = places(arrays[0], call.threads)
    if made is not None:
        define(call, len(made))
    return made


# ---------------------------------------------------------------------------------------- native code


Selection: TypeAlias = "tuple[Select, list[int], list[tuple[int, Base]]]"
"""Code, its words, and the places of addresses in them."""


def _bound(make: Callable[[Binding, LibraryPhase, NumArray], Selection]) -> Native:
    """What a mask holds along the first axis, or where it holds: counted, then written."""

    def bind(binding: Binding, phase: LibraryPhase) -> None:
        types, (value,), (variable,) = binding.types, phase.results, phase.defines
        mask = binding.values[phase.args[0]]
        limit = mask.size if variable.cap is None else types.number(variable.cap)
        if any(variable in guard.variables() for guard in types.guards) or limit < mask.size or mask.size > MOST_CELLS:
            raise Unbound  # Python checks what is found
        if not is_installed() or mask.dtype != np.bool_ or not mask.flags.c_contiguous:
            raise Unbound
        code, words, places = make(binding, phase, mask)
        if not all([binding.wants(code), binding.wants(Counting())]):
            raise Later
        start, counting = address_of(code), address_of(Counting())
        if start is None or counting is None:
            raise Unbound
        shape, dtype, layouts = types.shape(value), DTYPES[types.kind(value)], binding.layouts
        result = binding.result(value, shape, dtype)
        binding.lengths = layouts.lengths(dtype, shape[1:])
        counter = binding.room((8,), np.dtype(np.uint8))
        masks: Base = (binding.places[phase.args[0]], 0)
        counted = [(1, masks), (2, (counter, 0))]
        work = mask.size * _SELECT_NANOSECONDS
        binding.launch(words_of(counting, [Block([mask.size, 0, 0], counted)], 0, work), work)
        target = len(words) - 1 - (code.form is Form.CELLS)
        written = [*((place, masks) for place in selecting.MASKS), (target, (result, 0))]
        written += [(selecting.DUE, (counter + 1, 0)), *places]
        binding.launch(words_of(start, [Block(words, written)], 0, work), work)

    return bind


def _compressed(binding: Binding, phase: LibraryPhase, mask: NumArray) -> Selection:
    array = binding.values[phase.args[1]]
    if not array.ndim or mask.size != array.shape[0] or phase.attributes["axis"] != 0:
        raise Unbound
    bytes, step = array.itemsize * math.prod(array.shape[1:]), array.strides[0]
    if bytes != array.itemsize and common_stride(array.shape[1:], array.strides[1:]) != array.itemsize:
        raise Unbound
    code = selecting.code_of(bytes, step)
    words = selecting.words_of(code, 1, mask.size, (0, 0), 0, 0, source=(0, 0, step), bytes=bytes)
    return code, words, [(selecting.SOURCE, (binding.places[phase.args[1]], 0))]


def _where_held(binding: Binding, phase: LibraryPhase, mask: NumArray) -> Selection:
    if mask.ndim not in (1, 2):
        raise Unbound
    code = Select(Form.PLACES if mask.ndim == 1 else Form.PAIRS)
    rows, columns = (1, mask.size) if mask.ndim == 1 else mask.shape
    return code, selecting.words_of(code, rows, columns, (0, columns), 0, 0), []


MASKING: Final[dict[str, Operation]] = {
    "mask_update": cell_by_cell(mask_update), "compress": whole(compress, _compress_large, native=_bound(_compressed)),
    "expand": cell_by_cell(expand), "where": whole(where, _where_large, native=_bound(_where_held)),
    "runtime_size": whole(runtime_size),
}  # fmt: skip
