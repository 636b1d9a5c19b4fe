"""Bindings of library phases: kernels where there are some for such operands, else one call of a function of NumPy's.

Neighbours: `sites` (asks), `bindings` (what a binding is), `gathering`, `scanning`, `products`, `few_pairs` (what is launched),
`short_forms` (functions of NumPy's).
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import LibraryPhase
from ...graph.registry import frame_of, framed_of, is_unread
from ...graph.sums_of_products import is_summed, sum_of_products
from ...kernels.llvm_leaf import is_installed
from ...kernels.store import address_of
from ...loops.selecting import Form, Select
from ...loops.written import Counting
from ..native.layouts import MOST_CELLS
from . import selecting
from .bindings import Binding, Fault, Later, Unbound, address, bind_kernel, bind_structured
from .blas import alone, blas
from .copying import drafted
from .few_pairs import every_pair
from .gathering import gather_run
from .kinds import DTYPES, NumArray
from .launching import Base, Block, on_bases, words_of
from .layouts import common_stride
from .products import PRODUCTS, batch_of, bound_product, may_be_mirrored, needs_rows
from .scanning import Whole, scan_plan
from .short_forms import routine_of

_SELECT_NANOSECONDS: Final = 0.7
"""An item."""
_COPY_NANOSECONDS: Final = 0.3
"""A byte."""
MOST_BYTES: Final = 1 << 21
"""Of routines' operands: with larger ones entering Python is nothing."""


def bind_library(binding: Binding, phase: LibraryPhase) -> None:
    """What a library phase does.  Unbound: there is no native way."""
    if len(phase.results) != 1 or (phase.defines and phase.op not in _SELECTING):
        raise Unbound
    if 0 in [array.size for array in binding.values.values()]:
        raise Unbound
    if is_unread(phase):  # whatever is there
        binding.result(phase.results[0], binding.types.shape(phase.results[0]), DTYPES[binding.types.kind(phase.results[0])])
        return
    try:
        _KERNELS.get(phase.op, _routine)(binding, phase)
    except Later:
        raise
    except Unbound:
        if phase.op not in _KERNELS or phase.op in _SELECTING:
            raise
        _routine(binding, phase)


def _routine(binding: Binding, phase: LibraryPhase) -> None:
    """A function of NumPy's."""
    types = binding.types
    if Kind.CHAR in map(types.kind, (*phase.args, *phase.results)) or list(binding.values) != list(phase.args):
        raise Unbound
    if sum([array.nbytes for array in binding.values.values()]) > MOST_BYTES:
        raise Unbound
    binding.routine = routine_of(phase, types)
    if binding.routine is None:
        raise Unbound
    (value,) = phase.results
    binding.result(value, types.shape(value), DTYPES[types.kind(value)])


def _gather(binding: Binding, phase: LibraryPhase) -> None:
    """Items by indices."""
    table, indices = [binding.values[value] for value in phase.args]
    run = gather_run(phase, list(map(binding.types.kind, phase.args)), table, indices, binding.threads, least=0)
    if run is None:
        raise Unbound
    operands = [binding.view(value, view) for value, view in run.views]
    bind_kernel(binding, run, operands, [(phase.results[0], binding.types.kind(phase.results[0]))])
    binding.fault = Fault(run, binding.kernels[0], phase.span)


def _pairs(binding: Binding, phase: LibraryPhase) -> None:
    """Few items in few."""
    made = every_pair(phase, binding.types)
    if made is None:
        raise Unbound
    bind_structured(binding, made)


def _scan(binding: Binding, phase: LibraryPhase) -> None:
    (source,), (value,), function, axis = phase.args, phase.results, phase.attributes["function"], phase.attributes["axis"]
    array, kind = binding.values[source], binding.types.kind(value)
    assert isinstance(function, str)
    assert isinstance(axis, int)
    plan = scan_plan(function, kind, array, axis + frame_of(phase), binding.threads, least=0, runs=binding.runs)
    if not isinstance(plan, Whole):
        raise Later if plan is None and array.dtype == DTYPES[kind] else Unbound
    carry = plan.carry
    result = binding.result(value, array.shape, array.dtype)
    bases: list[Base] = [(binding.places[source], 0), (result, 0), (None, address(carry))]
    binding.share(plan.pieces, bases)


def _product(binding: Binding, phase: LibraryPhase) -> None:
    """A product of matrices of floats or complex numbers, or of vectors; or as many products as a frame has points."""
    types, args, (value,), depth = binding.types, phase.args, phase.results, frame_of(phase)
    kind, arrays, sizes = types.kind(value), [binding.values[arg] for arg in args], [types.types[arg].shape for arg in args]
    if kind not in PRODUCTS or not all(0 < len(shape) - depth < 3 for shape in sizes) or (depth and not all(framed_of(phase))):
        raise Unbound
    rows, columns = prod(arrays[0].shape[depth:-1]), prod(arrays[1].shape[depth + 1 :])
    if 1 in (rows, columns) or (not depth and is_summed(rows, arrays[0].shape[-1], columns)):
        bind_structured(binding, sum_of_products(kind, sizes[0], sizes[1], depth, (args[0], args[1], value)))
        return
    batches = [batch for array in arrays if (batch := batch_of(array, depth)) is not None]
    if len(batches) < 2 or blas() is None or batches[0].shape[-1] == 1:
        raise Unbound
    into_rows = needs_rows(kind, *batches)
    binding.apart = may_be_mirrored(*batches)  # `products` has a way of its own with a matrix and itself transposed
    if binding.apart and address(batches[0]) == address(batches[1]):
        raise Later
    bases: list[Base] = [(binding.places[arg], 0) for arg in args]
    for place, is_copied in enumerate(into_rows):
        if is_copied:
            batches[place], bases[place] = _in_rows(binding, batches[place], bases[place])
    bound = bound_product(kind, batches[0], batches[1], binding.threads)
    if bound is None or bound.pieces is None:
        raise Unbound
    bases.append((binding.result(value, types.shape(value), DTYPES[kind]), 0))
    binding.guard = alone if bound.large else None
    binding.share(bound.pieces, bases)


def _in_rows(binding: Binding, array: NumArray, source: Base) -> tuple[NumArray, Base]:
    """A copy in rows: an array that lies so, and where it is."""
    target = np.empty(array.shape, array.dtype)
    draft = drafted(target, array, 1, streams=False)
    if draft is None:
        raise Unbound
    if not binding.wants(draft.kernel):
        raise Later
    room: Base = (binding.room(array.shape, array.dtype), 0)
    duration = array.nbytes * _COPY_NANOSECONDS
    blocks = on_bases(draft.blocks, (source, room))
    binding.launch(words_of(address_of(draft.kernel) or 0, blocks, 0, duration), duration)
    return target, room


def _select(binding: Binding, phase: LibraryPhase) -> None:
    """What a mask holds along the first axis, or where it holds: counted, then written."""
    types, (value,), (variable,) = binding.types, phase.results, phase.defines
    mask = binding.values[phase.args[0]]
    limit = mask.size if variable.cap is None else types.number(variable.cap)
    if any(variable in guard.variables() for guard in types.guards) or limit < mask.size or mask.size > MOST_CELLS:
        raise Unbound  # Python checks what is found
    if not is_installed() or mask.dtype != np.bool_ or not mask.flags.c_contiguous:
        raise Unbound
    code, words, places = (_compressed if phase.op == "compress" else _where)(binding, phase, mask)
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
    written = [*((place, masks) for place in selecting.MASKS), (target, (result, 0)), (selecting.DUE, (counter + 1, 0)), *places]
    binding.launch(words_of(start, [Block(words, written)], 0, work), work)


def _compressed(binding: Binding, phase: LibraryPhase, mask: NumArray) -> tuple[Select, list[int], list[tuple[int, Base]]]:
    array = binding.values[phase.args[1]]
    if not array.ndim or mask.size != array.shape[0] or phase.attributes["axis"] != 0:
        raise Unbound
    bytes, step = array.itemsize * prod(array.shape[1:]), array.strides[0]
    if bytes != array.itemsize and common_stride(array.shape[1:], array.strides[1:]) != array.itemsize:
        raise Unbound
    code = selecting.code_of(bytes, step)
    words = selecting.words_of(code, 1, mask.size, (0, 0), 0, 0, source=(0, 0, step), bytes=bytes)
    return code, words, [(selecting.SOURCE, (binding.places[phase.args[1]], 0))]


def _where(binding: Binding, phase: LibraryPhase, mask: NumArray) -> tuple[Select, list[int], list[tuple[int, Base]]]:
    if mask.ndim not in (1, 2):
        raise Unbound
    code = Select(Form.PLACES if mask.ndim == 1 else Form.PAIRS)
    rows, columns = (1, mask.size) if mask.ndim == 1 else mask.shape
    return code, selecting.words_of(code, rows, columns, (0, columns), 0, 0), []


_SELECTING: Final = ("compress", "where")
_KERNELS: Final[dict[str, Callable[[Binding, LibraryPhase], None]]] = {
    "gather": _gather, "contract": _product, "scan": _scan, "index_of": _pairs, "member_of": _pairs, "first_occurrence": _pairs,
    "compress": _select, "where": _select,
}  # fmt: skip
