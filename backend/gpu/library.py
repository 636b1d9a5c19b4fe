"""Library phases by generated kernels, on CUDA also through CuPy where its semantics are those of the language;
`codegen.gpu_targets` lists them.

An implementation takes a `CardCall` and the operands, arrays of the device, and returns the results, none of which shares memory
with an operand.  Checks and run-time sizes synchronise with the device.  Products, transforms and linear algebra round as their
libraries do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...typechecker.elements import Kind, identity_of, neutral_element
from ..codegen.gpu_scalars import is_joined
from ..codegen.gpu_targets import missing
from ..cpu.numpy_reductions import sort_keys
from ..cpu.numpy_scalars import fill_pairs
from ..cpu.views import DTYPES, FILLS, NumArray, contiguous
from ..graph.phases import ApplyNode, LibraryPhase, ReadNode, frame_of, framed_of
from ..library.operation import Attributes
from ..library.select import check_gather, check_indices, check_update
from ..loopir.templates import MOST_BINS, GpuScanForm, KeyedReductionForm, gpu_keyed_reduction, gpu_scan
from ..lower.body import PART, Body, BodyResult, cycle_body, gather_body, rotate_body
from ..lower.loop_order import BLOCK
from ..vm.check_failures import CheckFailed
from ..vm.run_state import Kernel, Types
from ..vm.values import fill_of
from .cuda import raising
from .driver import Card, DeviceArray
from .launch import (
    computed,
    contiguous_array,
    copied,
    fetched,
    full,
    kind_of_dtype,
    reshaped,
    run_text,
    store,
    text_for,
    to_host,
)

# ---------------------------------------------------------------------------------------------------- call
#
# One execution of a library phase on a device, as its implementation sees it.

Arrays: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class CardCall(Attributes):
    """One execution of a phase on a device."""

    card: Card
    types: Types

    @property
    def xp(self) -> Any:
        """CuPy; NumPy if the driver has no array library."""
        return np if self.card.driver.xp is None else self.card.driver.xp

    def by_arrays(self, function: Callable[..., Any], arrays: Sequence[DeviceArray]) -> Any:
        """Applies a function of CuPy arrays (or of NumPy arrays, between two transfers) to arrays of the GPU."""
        driver, card = self.card.driver, self.card
        if driver.xp is None:
            results = function(*map(self.down, arrays))
            return tuple(card.up(np.asarray(r)) for r in results) if isinstance(results, tuple) else card.up(np.asarray(results))
        results = function(*map(driver.view, arrays))
        return tuple(map(driver.adopt, results)) if isinstance(results, tuple) else driver.adopt(results)

    def down(self, array: DeviceArray) -> NumArray:
        return to_host(self.card, array)

    def shape(self) -> tuple[int, ...]:
        return self.types.shape(self.phase.results[0])

    def kind(self) -> Kind:
        return self.types.kind(self.phase.results[0])


Implementation: TypeAlias = Callable[[CardCall, Arrays], Any]


# ---------------------------------------------------------------------------------------------------- sorting
#
# Grades and sorts of lines: a stable sort of integer keys whose order is that of the items.
#
# `¯0.0` equals `0.0`, NaN comes last in either sense: the keys of `cpu.numpy_reductions`.

def order_keys(xp: Any, items: Any, *, descending: bool) -> Any:
    """Integers in the order of the items (not complex)."""
    return sort_keys(xp, items, xp.isnan(items) if items.dtype.kind == "f" else None, descending=descending)


def stable_order(xp: Any, keys: Any) -> Any:
    """The positions along the last axis in ascending order of keys, equal keys in their order; CuPy's only sort is stable."""
    return xp.argsort(keys, axis=-1, kind="stable").astype(np.int64)


def grade(call: CardCall, arrays: Any) -> Any:
    """The grade of lines along the last axis; cells of several items are graded by a stable sort for each item, the last one
    first (least significant key first)."""
    xp, (arg,) = call.xp, arrays
    if not arg.size:
        return xp.broadcast_to(xp.arange(call.shape()[-1]), call.shape()).copy()
    keys = order_keys(xp, arg, descending=call.flag("descending"))
    if arg.ndim == frame_of(call.phase) + 1:
        return stable_order(xp, keys)
    columns = keys.reshape(len(keys), -1)
    order = stable_order(xp, columns[:, -1])
    for column in range(columns.shape[1] - 2, -1, -1):
        order = xp.take(order, stable_order(xp, xp.take(columns[:, column], order)))
    return order


def sort(call: CardCall, arrays: Any) -> Any:
    """The items of each line, sorted stably; integers need no stability, as equal ones are identical."""
    xp, (items,), descending = call.xp, arrays, call.flag("descending")
    if items.dtype.kind == "f" or descending:
        order = stable_order(xp, order_keys(xp, items, descending=descending))
        return xp.take(items, order) if items.ndim == 1 else xp.take_along_axis(items, order, -1)
    return xp.sort(items)


# ---------------------------------------------------------------------------------------------------- gather
#
# Gathers, rotations and cyclic reshapes through kernels that check each index when they use it.
#
# An index out of range reads item 0 and sets a flag; then the result is discarded, and the indices are searched for the first bad
# one, for the message.  If indices were proved to be in range there is no synchronisation.

def gather(call: CardCall, arrays: Arrays) -> DeviceArray:
    card = call.card
    axis, rank, shape, kind = call.axis(), frame_of(call.phase), call.shape(), call.kind()
    (table, indices, *others), carried = arrays, framed_of(call.phase)
    frames = [rank if rank and carries else 0 for carries in carried]
    cell = table.shape[frames[0] :]
    length, fills, checked = cell[axis], call.flag("fills"), call.flag("checked")
    if not prod(shape) or not length:
        if prod(shape[:rank]) and (fills or checked):
            check_gather(call.phase, cell, call.down(indices), list(map(call.down, others)))
        return full(card, shape, FILLS[kind], table.dtype)
    picked, behind, at = indices.ndim - frames[1], len(cell) - axis - 1, frames[0] + axis
    strides = (0,) * (rank - frames[0]) + table.strides[:at] + (0,) * picked + table.strides[at + 1 :]
    rows = (0,) * (rank - frames[1]) + indices.strides[: frames[1]] + (0,) * axis + indices.strides[frames[1] :] + (0,) * behind
    body = gather_body(kind, kind_of_dtype(indices.dtype), fill_of(kind) if fills else None, proved=not checked)
    operands = [table.viewed(shape, strides), indices.viewed(shape, rows)]
    return fetched(
        card, body, kind, shape, operands, (length, table.strides[at]),
        lambda: check_gather(call.phase, cell, call.down(indices), list(map(call.down, others))),
    )  # fmt: skip


def rotate(call: CardCall, arrays: Arrays) -> DeviceArray:
    """A rotation by computed indices, so that the amount stays on the device."""
    arg, amount = arrays
    axis, shape, kind = call.axis(), arg.shape, call.kind()
    if not arg.size:
        return copied(call.card, arg)
    strides = tuple(0 if other == axis else stride for other, stride in enumerate(arg.strides))
    steps = iter(amount.strides)
    by = tuple(0 if other == axis or not amount.ndim else next(steps) for other in range(arg.ndim))
    body = rotate_body(kind, kind_of_dtype(amount.dtype), axis)
    operands = [arg.viewed(shape, strides), amount.viewed(shape, by)]
    return fetched(call.card, body, kind, shape, operands, (shape[axis], arg.strides[axis]))


def reshape_cycle(call: CardCall, arrays: Arrays) -> DeviceArray:
    shape, kind = call.shape(), call.kind()
    count = prod(shape)
    if not arrays[0].size or not count:
        return full(call.card, shape, FILLS[kind], DTYPES[kind])
    arg = reshaped(call.card, arrays[0], (arrays[0].size,))
    none = arg.viewed((count,), (0,))
    return reshaped(
        call.card, fetched(call.card, cycle_body(kind), kind, (count,), [none, none], (arg.size, arg.strides[0])), shape
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- reductions by key
#
# Keyed reductions, by generated kernels.

def key_reduce(call: CardCall, arrays: Arrays) -> DeviceArray:
    """A keyed reduction; cells of several items stay together in each bin, and complex sums are two sums of floats."""
    card, function, shape = call.card, call.function(), call.shape()
    bins, kind, items = shape[0], call.kind(), contiguous_array(card, arrays[1])
    keys = call.by_arrays(lambda keys: keys.astype(np.int64), arrays[:1]) if arrays[0].dtype != np.int64 else arrays[0]
    keys = contiguous_array(card, reshaped(card, keys, (keys.size,)))
    if kind.is_complex:
        kind = PART[kind]
        items = items.viewed((items.size * 2,), (kind.bytes,), 0, DTYPES[kind])
    width = items.size // keys.size if keys.size else 0
    flat = (bins, width if keys.size else prod(shape[1:]) * (2 if call.kind().is_complex else 1))
    result = (_scattered if is_joined(function, kind) else _grouped)(call, kind, keys, items, flat)
    strides = contiguous(shape, call.kind().bytes)[: len(shape)]
    return result.viewed(shape, strides, 0, DTYPES[call.kind()])


def _scattered(call: CardCall, kind: Kind, keys: DeviceArray, items: DeviceArray, shape: tuple[int, int]) -> DeviceArray:
    function, (bins, width) = call.function(), shape
    neutral = neutral_element(function, kind)
    result = full(call.card, shape, neutral, DTYPES[kind])
    if not width:
        check_indices(call.down(keys), bins, checked=call.flag("checked"), indexing=call.phase.indexing)
    elif keys.size:
        is_few = width == 1 and bins <= MOST_BINS and keys.size >= _MANY * bins
        if _run(call, kind, KeyedReductionForm.FEW if is_few else KeyedReductionForm.SCATTER, (keys, items, result)):
            check_indices(call.down(keys), bins, checked=True, indexing=call.phase.indexing)
    if identity_of(function, call.kind()) is None and (call.down(result) == neutral).any():
        _require_full(call, np.bincount(call.down(keys), minlength=bins))
    return result


def _grouped(call: CardCall, kind: Kind, keys: DeviceArray, items: DeviceArray, shape: tuple[int, int]) -> DeviceArray:
    """Reduces in the order of items, after a stable sort of the keys."""
    function, bins = call.function(), shape[0]
    if call.flag("checked"):
        check_indices(call.down(keys), bins, checked=True, indexing=call.phase.indexing)
    starts, order = call.by_arrays(lambda keys: _in_groups(call.xp, keys, bins), [keys])
    value = identity_of(function, call.kind())
    if value is None:
        _require_full(call, np.diff(call.down(starts)))
    result = full(call.card, shape, 0 if value is None else value, DTYPES[kind])
    if items.size:
        _run(call, kind, KeyedReductionForm.GROUPED, (starts, order, items, result))
    return result


def _in_groups(xp: Any, keys: Any, bins: int) -> tuple[Any, Any]:
    """The position at which each bin begins among the sorted keys, and the order that sorts them."""
    order = stable_order(xp, keys)
    return xp.searchsorted(xp.take(keys, order), xp.arange(bins + 1)).astype(np.int64), order


_MANY = 64
"""The least items per bin for which thread blocks have private bins in shared memory."""


def _run(call: CardCall, kind: Kind, form: KeyedReductionForm, arrays: Sequence[DeviceArray]) -> bool:
    """Runs a kernel; returns whether a check failed."""
    *keys, items, result = arrays
    bins, width = result.shape
    sizes = {"count": keys[-1].size, "width": width, "bins": bins}
    apart = () if form is KeyedReductionForm.FEW else (width * items.dtype.itemsize,)
    words: list[int | DeviceArray] = [*(sizes[name] for name in form.value), *keys, items, *apart, result, *apart]
    program = gpu_keyed_reduction(call.function(), kind, form, checked=call.flag("checked"))
    return run_text(call.card, text_for(call.card, program), words)


def _require_full(call: CardCall, counts: NumArray) -> None:
    """Raises E204 for a bin without items, where the function has no value for it."""
    if not counts.all():
        raise CheckFailed(Code.E204, f"{call.function()} of no items has no value")


# ---------------------------------------------------------------------------------------------------- linear algebra
#
# Linear algebra of one square matrix, through cuSOLVER, with the CPU's test for singular matrices.

_EPSILON: Final = float(np.finfo(np.float64).eps)
_SINGULAR: Final = "the matrix is singular"


def _wide(a: Any) -> Any:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def _shaped(call: CardCall, result: Any) -> Any:
    return result.astype(DTYPES[call.kind()]).reshape(call.shape())


def _solution(xp: Any, a: Any, b: Any) -> Any:
    """x with a +.× x = b.  Raises E703 if a column depends on those before it, within rounding."""
    r = xp.linalg.qr(a)[1]
    pivots, scale = xp.abs(xp.diagonal(r)), xp.abs(r).max(axis=0)
    if bool((pivots <= scale * _EPSILON * len(a)).any()):
        raise CheckFailed(Code.E703, _SINGULAR)
    return xp.linalg.solve(a, b)


def _solve(call: CardCall, arrays: Any) -> Any:
    """The solution, and without right sides the inverse, which is that of the identity matrix."""
    *given, a = map(_wide, arrays)
    b = given[0] if given else call.xp.eye(len(a), dtype=a.dtype)
    if not a.size or not b.size:
        return call.xp.zeros(call.shape(), DTYPES[call.kind()])
    dtype = np.promote_types(a.dtype, b.dtype)
    return _shaped(call, _solution(call.xp, a.astype(dtype), b.astype(dtype).reshape(len(b), -1)))


def _cholesky(call: CardCall, arrays: Any) -> Any:
    xp, a = call.xp, _wide(arrays[0])
    if not a.size:
        return _shaped(call, a)
    with raising(xp), suppress(np.linalg.LinAlgError):
        lower = xp.linalg.cholesky(a)
        if bool((xp.diagonal(lower).real > 0).all()):
            return _shaped(call, lower)
    raise CheckFailed(Code.E703, "the matrix is not positive definite")


LINEAR: Final[dict[str, Callable[[CardCall, Any], Any]]] = {
    "inverse": _solve, "solve": _solve, "cholesky": _cholesky,
    "det": lambda call, arrays: _shaped(call, call.xp.asarray(call.xp.linalg.det(_wide(arrays[0])))),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- scans

_SCAN_MANY: Final = 4096
"""The least number of lines for which each line has one thread."""


def scan(call: CardCall, arrays: Arrays) -> DeviceArray:
    """A scan in the order of scans; with `before`, the items begin with the block that the result begins in."""
    axis, function, kind, card = call.axis() + frame_of(call.phase), call.function(), call.kind(), call.card
    arg = contiguous_array(card, arrays[0])
    if not arg.size:
        return copied(card, arg)
    if len(arrays) > 1:
        result = _line(call, GpuScanForm.AFTER, card.empty(arg.shape, arg.dtype), arg, contiguous_array(card, arrays[1]))
        return result[(slice(None),) * axis + (slice(arg.shape[axis] - call.shape()[axis], None),)]
    result = card.empty(arg.shape, arg.dtype)
    length, inner = arg.shape[axis], prod(arg.shape[axis + 1 :])
    lines, step = arg.size // length, arg.dtype.itemsize
    form = GpuScanForm.BLOCKS if length > BLOCK else GpuScanForm.BLOCK
    if inner > 1 or lines >= _SCAN_MANY:
        form = GpuScanForm.LINES
    sizes = (lines // inner, length, inner) if form is GpuScanForm.LINES else (lines, length, -(-length // BLOCK))
    strides = (length * inner * step, inner * step) if form is GpuScanForm.LINES else (length * step,)
    run_text(
        card, text_for(card, gpu_scan(function, kind, form)), [*sizes[: len(form.sizes)], arg, *strides, result, *strides]
    )
    return result


def scan_totals(call: CardCall, arrays: Arrays) -> DeviceArray:
    """The last item of the scan of each block by itself."""
    arg = contiguous_array(call.card, arrays[0])
    return _line(call, GpuScanForm.TOTALS, call.card.empty(call.shape(), arg.dtype), arg)


def _line(call: CardCall, form: GpuScanForm, result: DeviceArray, *operands: DeviceArray) -> DeviceArray:
    """Runs one pass of two over the only line of its operands."""
    views = [word for array in (*operands, result) for word in (array, array.nbytes)]
    sizes = [1, operands[0].size, -(-operands[0].size // BLOCK)]
    run_text(call.card, text_for(call.card, gpu_scan(call.function(), call.kind(), form)), [*sizes, *views])
    return result


# ---------------------------------------------------------------------------------------------------- search
#
# Searches on a device, through one stable sort of integer keys, for operands of one kind whose cells are single items.
#
# Equality is exact: 0.0 equals ¯0.0, which have one key, and NaN equals nothing.

def _positions(xp: Any, table: Any, arg: Any) -> Any:
    """For each item of `arg` the first position of an equal item in the vector `table`; the length of `table` if there is
    none."""
    size = table.size
    if not size or not arg.size:
        return xp.full(arg.shape, size, np.int64)
    keys, wanted = (order_keys(xp, items, descending=False) for items in (table, arg))
    order = stable_order(xp, keys)
    ordered = xp.take(keys, order)
    places = xp.searchsorted(ordered, wanted.reshape(-1)).reshape(arg.shape)
    inside = xp.minimum(places, size - 1)
    is_match = (places < size) & (xp.take(ordered, inside) == wanted) & (arg == arg)
    return xp.where(is_match, xp.take(order, inside), size).astype(np.int64)


def first_occurrence(call: CardCall, arrays: Any) -> Any:
    """Whether each item is the first one equal to it; NaN always is."""
    xp, arg = call.xp, arrays[0]
    return (_positions(xp, arg, arg) == xp.arange(arg.size)) | (arg != arg)


def interval_index(call: CardCall, arrays: Any) -> Any:
    """The number of table items that are not after each item, minus 1; -1 for a NaN."""
    xp, (table, arg) = call.xp, arrays
    keys, wanted = (order_keys(xp, items, descending=False) for items in (table, arg))
    intervals = xp.searchsorted(xp.sort(keys), wanted.reshape(-1), side="right").reshape(arg.shape).astype(np.int64) - 1
    return xp.where(arg == arg, intervals, -1)


def match(call: CardCall, arrays: Any) -> Any:
    left, right = arrays
    if left.shape != right.shape:
        return call.xp.zeros((), np.bool_)
    return (left == right).all()


# ---------------------------------------------------------------------------------------------------- compress
#
# Selection and update by indices on a device; every index that was not proved to be in range is checked.

def update(call: CardCall, arrays: Any) -> Any:
    """`arg` with arg[i;j;…] ← value; a stable sort determines the last of duplicate indices, which wins."""
    xp, indexed = call.xp, call.phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    arg, *present, value = arrays
    cell, supply = arg.shape, iter(present)
    last = max((axis + 1 for axis, has in enumerate(indexed) if has), default=0)
    choices = []
    for has, length in zip(indexed, cell, strict=True):
        choice = next(supply).astype(np.int64) if has else xp.arange(length)
        choices.append(choice)
    if call.flag("checked"):
        check_update(call.phase, {axis: choices[axis][np.newaxis] for axis, has in enumerate(indexed) if has}, cell)
    selection = tuple(n for choice in choices[:last] for n in choice.shape)
    places, used = xp.zeros((1,) * len(selection), np.int64), 0
    for choice, length in zip(choices[:last], cell, strict=False):
        after = len(selection) - used - choice.ndim
        places = places * length + choice.reshape((1,) * used + choice.shape + (1,) * after)
        used += choice.ndim
    flat = xp.broadcast_to(places, selection).reshape(-1)
    tail = cell[last:]
    result = arg.copy()
    if not flat.size or not prod(tail):
        return result
    rows = result.reshape(prod(cell[:last]), *tail)
    if value.ndim == 0:
        rows[flat] = value
        return rows.reshape(cell)
    values = xp.broadcast_to(value, (*selection, *tail)).reshape(flat.size, *tail)
    order = stable_order(xp, flat)
    ordered = xp.take(flat, order)
    final = xp.take(order, xp.flatnonzero(xp.concatenate((ordered[1:] != ordered[:-1], xp.ones((1,), np.bool_)))))
    rows[xp.take(flat, final)] = xp.take(values, final, 0)
    return rows.reshape(cell)


# ---------------------------------------------------------------------------------------------------- operations

_PIECE: Final = 1 << 22
"""Blocks of random numbers generated at a time, which bounds the memory of temporaries."""


def compile_library(card: Card, phase: LibraryPhase, types: Types) -> Kernel | None:
    """The phase as a function on the device; None if the host has to run it."""
    if missing(phase, types.types, card.driver.dialect) is not None:
        return None
    implementation, call, operands = IMPLEMENTATIONS[phase.op], CardCall(phase, card, types), phase.args

    def run(memory: Any, overwrite: Any) -> Arrays:
        try:
            results = implementation(call, tuple([memory[value] for value in operands]))
        except CheckFailed as failure:
            raise failure.at(phase.span) from None
        return results if isinstance(results, tuple) else (results,)

    return run


# -------------------------------------------------------------------------------------------- creation


def _size_vector(call: CardCall, arrays: Arrays) -> DeviceArray:
    return call.card.up(np.array(call.sizes(call.types), np.int64).reshape(call.shape()))


def _random(call: CardCall, arrays: Arrays) -> Any:
    """Uniform f64 numbers from an integer key or a pair."""
    words = [*call.down(arrays[0]).reshape(-1).tolist(), 0]
    return call.by_arrays(lambda: _uniform(call, words), ())


def _uniform(call: CardCall, words: Sequence[int]) -> Any:
    xp, shape = call.xp, call.shape()
    count, origin = prod(shape), call.origin() * prod(shape[1:])
    result = xp.empty((origin % 2 + count + 1) // 2 * 2, np.float64).reshape(-1, 2)
    for first in range(0, len(result), _PIECE):
        fill_pairs(xp, result[first : first + _PIECE], origin // 2 + first, int(words[0]), int(words[1]))
    return result.reshape(-1)[origin % 2 :][:count].reshape(shape).copy()


# -------------------------------------------------------------------------------------------- joins and rotations


def _join(call: CardCall, arrays: Arrays) -> DeviceArray:
    result, start, axis = call.card.empty(call.shape(), DTYPES[call.kind()]), 0, call.axis()
    for array in arrays:
        stop = start + array.shape[axis]
        store(call.card, result[(*(slice(None),) * axis, slice(start, stop))], array)
        start = stop
    return result


def _stack(call: CardCall, arrays: Arrays) -> DeviceArray:
    """A join of arrays with one more axis of one item."""
    axis = call.axis()
    return _join(call, tuple(
        one.viewed((*one.shape[:axis], 1, *one.shape[axis:]), (*one.strides[:axis], 0, *one.strides[axis:])) for one in arrays
    ))  # fmt: skip


# ----------------------------------------------------------------------------------------- selecting


def _mask_update(call: CardCall, arrays: Arrays) -> Any:
    arg, mask, value = arrays
    cell = arg.shape[mask.ndim :]
    places = call.xp.flatnonzero(mask.reshape(-1))
    if value.ndim and value.shape != (places.size, *cell):
        raise CheckFailed(Code.E140, f"{value.shape[0]} replacements for {places.size} places")
    result = arg.copy().reshape(mask.size, *cell)
    result[places] = value
    return result.reshape(arg.shape)


def _expand(call: CardCall, arrays: Arrays) -> Any:
    (mask, arg), axis, xp = arrays, call.axis(), call.xp
    places = xp.flatnonzero(mask.reshape(-1))
    if places.size != arg.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places.size} places for {arg.shape[axis]} items")
    result = xp.full((*arg.shape[:axis], mask.size, *arg.shape[axis + 1 :]), FILLS[call.kind()], DTYPES[call.kind()])
    result[(*(slice(None),) * axis, places)] = arg
    return result


def _where(call: CardCall, arrays: Arrays) -> Any:
    xp, mask = call.xp, arrays[0]
    return (xp.argwhere(mask) if mask.ndim > 1 else xp.flatnonzero(mask.reshape(-1))).astype(np.int64)


# ----------------------------------------------------------------------------------------- computing


def _contract(call: CardCall, arrays: Arrays) -> DeviceArray:
    """A product by CuPy if there is one, otherwise in the order of sums."""
    card, kind, (left, right) = call.card, call.kind(), arrays
    shared = left.shape[-1]
    if not shared or not left.size or not right.size:
        return full(card, call.shape(), 0, DTYPES[kind])
    if card.driver.xp is not None:
        return call.by_arrays(lambda *arrays: _product(call, arrays), arrays)  # type: ignore[no-any-return]
    rows, columns = reshaped(card, left, (left.size // shared, shared)), reshaped(card, right, (shared, right.size // shared))
    space = (rows.shape[0], columns.shape[1], shared)
    views = [rows.viewed(space, (rows.strides[0], 0, rows.strides[1])), columns.viewed(space, (0, *columns.strides[::-1]))]
    body = Body((ReadNode(0, kind), ReadNode(1, kind), ApplyNode("mul", (0, 1), kind)), (BodyResult((2,), kind, "add"),))
    return reshaped(card, computed(card, body, space, (kind, kind), views), call.shape())


def _product(call: CardCall, arrays: Arrays) -> Any:
    xp, (left, right) = call.xp, arrays
    shared = left.shape[-1]
    return xp.matmul(left.reshape(-1, shared), right.reshape(shared, -1)).reshape(call.shape())


def _transform(name: str) -> Implementation:
    def run(call: CardCall, arrays: Arrays) -> Any:
        xp, arg, shape, dtype = call.xp, arrays[0], call.shape(), DTYPES[call.kind()]
        if not arg.size or 0 in shape:
            return xp.zeros(shape, dtype)
        wide = arg.astype(np.complex128 if arg.dtype.kind == "c" else np.float64)
        moved = xp.fft.irfft(wide, shape[-1]) if name == "irfft" else getattr(xp.fft, name)(wide)
        return (moved if dtype.kind == "c" else moved.real).astype(dtype)

    return run


def _by_arrays(function: Implementation) -> Implementation:
    """An implementation on CuPy arrays as one on arrays of the GPU."""
    return lambda call, arrays: call.by_arrays(lambda *arrays: function(call, arrays), arrays)


IMPLEMENTATIONS: Final[dict[str, Implementation]] = {
    "size_vector": _size_vector, "join": _join, "broadcast": _join, "stack": _stack, "rotate": rotate,
    "reshape_cycle": reshape_cycle,
    "gather": gather, "scan": scan, "scan_totals": scan_totals, "contract": _contract, "key_reduce": key_reduce,
    "runtime_size": lambda call, arrays: (), "random": _random,
    **{name: _by_arrays(function) for name, function in {
        "update": update, "mask_update": _mask_update, "expand": _expand, "where": _where, "sort": sort,
        "grade": grade,
        "compress": lambda call, arrays: call.xp.take(arrays[1], call.xp.flatnonzero(arrays[0].reshape(-1)), call.axis()),
        "index_of": lambda call, arrays: _positions(call.xp, *arrays),
        "member_of": lambda call, arrays: _positions(call.xp, arrays[1].reshape(-1), arrays[0]) < arrays[1].size,
        "first_occurrence": first_occurrence,
        "interval_index": interval_index, "match": match,
        **{name: _transform(name) for name in ("fft", "ifft", "rfft", "irfft")}, **LINEAR,
    }.items()},
}  # fmt: skip
