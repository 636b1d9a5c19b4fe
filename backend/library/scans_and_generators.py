"""Library operations: random numbers, text, `⊥` and `⊤`, scans, reductions by key."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...typechecker.elements import FUNCTIONS, Kind, neutral_element
from ..cpu.numpy_reductions import identity, right_fold, running_ufunc, scan_axis, scan_leading
from ..cpu.numpy_scalars import implementation, quotient_before_floor
from ..cpu.parallel_for import BufferRef
from ..cpu.templates import fill, reduce_by_key, scan_lines, scan_plan
from ..cpu.views import DTYPES, NumArray, start_of
from ..graph.phases import LibraryPhase, frame_of
from ..graph.registry import SCAN_BLOCK
from ..graph.scratch import BIN_BLOCK, CHUNK, SCANNED_BYTES
from ..io.cells import date_in, number_in, time_in
from ..jit.compiler import address_of, is_installed
from ..vm.run_state import trim
from ..vm.specialization import NotCompiledYet, NotSpecializable, Specialization
from ..vm.values import fixed_items, format_items
from .hash import stable_order
from .operation import Arrays, Operation, OperationCall, cell_by_cell, on_operands
from .products import products
from .select import check_indices, define

# ---------------------------------------------------------------------------------------------------- creation

def random(call: OperationCall, key: NumArray) -> NumArray:
    """The operation `random`: uniform f64 numbers from an integer key or a pair of key and stream."""
    words = [*key.reshape(-1).tolist(), 0]
    result = np.empty(call.shape())
    fill(result.reshape(-1), int(words[0]), int(words[1]), call.threads, call.origin() * math.prod(result.shape[1:]))
    return result


def format(call: OperationCall, arrays: Arrays) -> NumArray:
    """The operation `format`: the text that printing the value would show; defines the run-time length of its rows."""
    arg, kind = arrays[0], call.operand_kind(0)
    if kind is Kind.CHAR:
        result = arg.reshape(arg.shape or (1,)).copy()
    else:
        digits = call.phase.attributes.get("digits")
        if isinstance(digits, int):
            characters, shape = fixed_items(kind, arg.reshape(-1).tolist(), arg.shape, digits)
        else:
            characters, shape = format_items(kind, arg.reshape(-1).tolist(), arg.shape)
        result = np.frombuffer(characters.encode("utf-32-le"), np.dtype("<u4")).astype(np.uint32).reshape(shape)
    define(call, result.shape[-1])
    return result


def _reader(read: Callable[[str], float | int]) -> Callable[[OperationCall, Arrays], NumArray]:
    """Returns the operation that parses each row of text with `read`."""

    def function(call: OperationCall, arrays: Arrays) -> NumArray:
        (codes,) = arrays
        rows = np.ascontiguousarray(codes).view(f"<U{codes.shape[-1]}") if codes.shape[-1] else np.full(codes.shape[:-1], "")
        known = {text: read(text) for text in set(rows.reshape(-1).tolist())}
        dtype = DTYPES[call.kind()]
        return np.array([known[text] for text in rows.reshape(-1).tolist()], dtype).reshape(codes.shape[:-1])

    return function


MAKING: Final[dict[str, Operation]] = {
    "random": cell_by_cell(random), "format": on_operands(format), "number": on_operands(_reader(number_in)),
    "date": on_operands(_reader(date_in)), "time": on_operands(_reader(time_in)),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- encode and decode
#
# `⊥` and `⊤`: Horner's rule and repeated residues, with one batch axis (frames, Note [One batch axis]).
#
# Integers are exact modulo their width, so their decoding is a contraction with the products of the later radices; floats
# follow Horner's rule step by step.

_FEW_DIGITS: Final = 16
_TOGETHER: Final = 1 << 14
"""Items of a block of float results that stays in cache."""


def decode(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `⊥`: digits along arg's first axis in the radices along radix's last; a side of length 1 is repeated."""
    left, right = call.batched(arrays)
    if left.ndim == 1:
        left = left[:, np.newaxis]
    if right.ndim == 1:
        right = right[:, np.newaxis]
    rows, columns = left.shape[1:-1], right.shape[2:]
    radices, digits = left.shape[-1], right.shape[1]
    length = digits if radices == 1 else radices
    a = left.reshape(len(left), math.prod(rows), radices)
    b = right.reshape(len(right), digits, math.prod(columns))
    a = np.broadcast_to(a, (*a.shape[:2], length))
    b = np.broadcast_to(b, (len(b), length, b.shape[2]))
    total = _decoded(call.kind(), a, b, call.threads)
    count = math.prod(call.frame)
    total = np.broadcast_to(total, (count, *total.shape[1:]))
    return call.unbatched(total.reshape(count, *rows, *columns))


def _decoded(kind: Kind, radices: NumArray, digits: NumArray, threads: int) -> NumArray:
    """Decodes cells of shapes [rows length] and [length columns]; returns [rows columns]."""
    length = radices.shape[2]
    shape = (max(len(radices), len(digits)) if len(radices) and len(digits) else 0, radices.shape[1], digits.shape[2])
    bases = radices[..., :1] if not radices.strides[2] else radices
    if (kind.is_integer or kind.is_float) and length and (bases == 1).all():
        return _running_total(kind, digits, shape)
    if kind.is_integer and length:
        weights = np.ones(radices.shape, radices.dtype)
        weights[..., :-1] = np.multiply.accumulate(radices[..., :0:-1], axis=-1, dtype=radices.dtype)[..., ::-1]
        return products(kind, weights, digits, threads)
    if kind in (Kind.F64, Kind.C128) and math.prod(shape) <= _FEW_DIGITS < length:
        return _horner_by_item(radices, digits, shape)
    total = np.zeros(shape, digits.dtype)
    step = max(1, _TOGETHER // max(1, shape[1] * shape[2]))
    for start in range(0, shape[0], step):  # cells of a block stay in cache from digit to digit
        partial = total[start : start + step]
        bases = radices[start : start + step] if len(radices) > 1 else radices
        items = digits[start : start + step] if len(digits) > 1 else digits
        for i in range(length):
            np.multiply(partial, bases[:, :, i, np.newaxis], partial)
            np.add(partial, items[:, i, np.newaxis, :], partial)
    return total


def _running_total(kind: Kind, digits: NumArray, shape: tuple[int, int, int]) -> NumArray:
    """The value in radix 1 by Horner's rule, which adds the digits in order; integers need no order."""
    if kind.is_integer:
        return np.broadcast_to(np.add.reduce(digits, 1, digits.dtype)[:, np.newaxis], shape)
    total = np.zeros((len(digits), *digits.shape[2:]), digits.dtype)
    step = max(1, CHUNK // max(1, total.size))
    for start in range(0, digits.shape[1], step):
        items = digits[:, start : start + step].copy()
        items[:, 0] += total
        total = np.add.accumulate(items, 1)[:, -1]
    return np.broadcast_to(total[:, np.newaxis], shape)


def _horner_by_item(radices: NumArray, digits: NumArray, shape: tuple[int, int, int]) -> NumArray:
    result = np.empty(shape, digits.dtype)
    for n, row, column in np.ndindex(shape):
        total: Any = digits.dtype.type(0).item()
        bases, digit_row = radices[n if len(radices) > 1 else 0, row], digits[n if len(digits) > 1 else 0, :, column]
        for start in range(0, len(bases), CHUNK):
            for base, digit in zip(bases[start : start + CHUNK].tolist(), digit_row[start : start + CHUNK].tolist(), strict=True):
                total = total * base + digit
        result[n, row, column] = total
    return result


def encode(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `⊤`: the digits of each item, most significant first along radix's first axis."""
    radix, arg = call.batched(arrays)
    kind, count = call.kind(), math.prod(call.frame)
    scalar = radix.ndim == 1
    places = radix[:, np.newaxis] if scalar else radix
    columns, cell = places.shape[2:], arg.shape[1:]
    bases = places.reshape(*places.shape, *[1] * len(cell))
    number = np.broadcast_to(arg.reshape(len(arg), *[1] * len(columns), *cell), (count, *columns, *cell))
    result = np.empty((count, places.shape[1], *columns, *cell), arg.dtype)
    for i in range(places.shape[1] - 1, -1, -1):
        number = _divide(kind, bases[:, i], number, result[:, i])
    return call.unbatched(result[:, 0] if scalar else result)


def _divide(kind: Kind, base: NumArray, number: NumArray, digit: NumArray) -> NumArray:
    """Stores number modulo base in `digit`; returns the quotient, from which the next digit is taken."""
    if kind.is_integer:
        return _divide_integers(base, number, digit)
    digit[...] = implementation("residue", kind, kind)(np.broadcast_to(base, number.shape), number)
    divide = quotient_before_floor if kind.is_complex else np.true_divide
    carry = np.rint(divide(number - digit, base))  # a whole number mathematically
    return np.asarray(np.where(base == 0, number.dtype.type(0), carry))


def _divide_integers(base: NumArray, number: NumArray, digit: NumArray) -> NumArray:
    if base.size == 1 and base.item() and number.size:
        one = base.reshape(())
        value = int(one)
        if value > 0 and not value & (value - 1):
            np.bitwise_and(number, one - one.dtype.type(1), out=digit)
            return np.asarray(number >> one.dtype.type(value.bit_length() - 1))
        with np.errstate(over="ignore"):  # wrapping of intermediate results cancels
            carried: NumArray = np.asarray(number // one)
            np.subtract(number, carried * one, out=digit)
        return carried
    zero = base == 0
    safe = np.where(zero, base.dtype.type(1), base)
    digit[...] = np.where(zero, number, np.remainder(number, safe))
    with np.errstate(over="ignore"):  # the least integer divided by ¯1 wraps
        return np.asarray(np.where(zero, base.dtype.type(0), number // safe))


RADIX: Final[dict[str, Operation]] = {"decode": on_operands(decode), "encode": on_operands(encode)}


# ---------------------------------------------------------------------------------------------------- scans
#
# Scans by built-in functions as library operations.
#
# A scan in two passes (`graph.partial_graphs.divide_scans`): `scan_totals` has the total of each block of the order of scans,
# alone, `scan_before` the prefix of each block, and a scan with these begins anywhere.  Each has the items that the definition of
# the order names, so the bits are those of one pass.

def scan(call: OperationCall, arrays: Arrays) -> NumArray:
    """The operation `scan`.  With `before`, the items begin with the block that the result begins in."""
    function, kind, axis = call.function(), call.kind(), call.axis() + call.rank
    items, first = arrays[0], None
    if len(arrays) > 1:
        first = arrays[1].take([0], axis)
    scanned = scan_lines(function, kind, items, axis, call.threads, first)
    if scanned is None:
        trim()
        scanned = scan_axis(function, kind, items, axis, first)
    if first is None:
        return scanned
    (extent,) = call.shape()[call.axis() : call.axis() + 1]
    return scanned[(slice(None),) * axis + (slice(scanned.shape[axis] - extent, None),)]


def scan_totals(call: OperationCall, arrays: Arrays) -> NumArray:
    """The operation `scan_totals`: the last item of the scan of each block by itself."""
    function, kind, axis = call.function(), call.kind(), call.axis() + call.rank
    items = np.moveaxis(arrays[0], axis, 0)
    cells = items.shape[1:]
    result = np.empty((-(-len(items) // SCAN_BLOCK), *cells), items.dtype)
    at_once = max(1, SCANNED_BYTES // max(1, SCAN_BLOCK * items.itemsize * math.prod(cells)))
    for block in range(0, len(result), at_once):
        part = items[block * SCAN_BLOCK : (block + at_once) * SCAN_BLOCK]
        full = len(part) // SCAN_BLOCK
        lines = part[: full * SCAN_BLOCK].reshape(full, SCAN_BLOCK, *cells)
        result[block : block + full] = _scanned(function, kind, lines, 1, call.threads)[:, -1]
        if len(part) > full * SCAN_BLOCK:
            result[block + full] = _scanned(function, kind, part[full * SCAN_BLOCK :], 0, call.threads)[-1]
    return np.moveaxis(result, 0, axis)


def _scanned(function: str, kind: Kind, items: NumArray, axis: int, threads: int) -> NumArray:
    scanned = scan_lines(function, kind, items, axis, threads)
    return scan_axis(function, kind, items, axis) if scanned is None else scanned


def scan_before(call: OperationCall, arrays: Arrays) -> NumArray:
    """The operation `scan_before`: item i is the reduction of the items before i, in order; the first is neutral."""
    function, kind, axis = call.function(), call.kind(), call.axis() + call.rank
    result = np.empty(arrays[0].shape, arrays[0].dtype)
    items, before = np.moveaxis(arrays[0], axis, 0), np.moveaxis(result, axis, 0)
    before[:1] = neutral_element(function, kind)
    before[1:] = items[:-1]
    ufunc = running_ufunc(function, kind)
    assert ufunc is not None, "such scans are by functions that NumPy accumulates"
    ufunc.accumulate(before, 0, before.dtype, before)
    return result


def _bind_scan(binding: Specialization, phase: LibraryPhase) -> None:
    if len(phase.args) > 1:
        raise NotSpecializable
    (source,), (value,), function, axis = phase.args, phase.results, phase.attributes["function"], phase.attributes["axis"]
    array, kind = binding.values[source], binding.types.kind(value)
    assert isinstance(function, str)
    assert isinstance(axis, int)
    plan = scan_plan(
        function, kind, array, axis + frame_of(phase), binding.threads,
        lambda code, *_: address_of(code) if array.size and is_installed() and binding.wants(code) else None,
    )  # fmt: skip
    if plan is None:
        raise NotCompiledYet if binding.waiting else NotSpecializable
    carry = plan.carry
    if plan.is_chain:
        binding.keep.append(carry)
    result = binding.result(value, array.shape, array.dtype)
    bases: list[BufferRef] = [(binding.places[source], 0), (result, 0), (None, start_of(carry))]
    binding.share(plan.pieces, bases)


SCANS: Final[dict[str, Operation]] = {
    "scan": on_operands(scan, _bind_scan, trims=False), "scan_totals": on_operands(scan_totals, trims=False),
    "scan_before": on_operands(scan_before),
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- reductions by key
#
# Keyed reduction: cells reduced by bin, in the order of the cells.
#
# All run left to right in each bin, as the reference does, so float results have its bits.  Functions without such a loop in
# NumPy use a stable sort by bin: small groups advance together, one item of each per step; large ones are reduced one by one.

_FEW_COLUMNS: Final = 16
_LARGE_GROUP: Final = 256
_FEW_GROUPS: Final = 4
"""The most groups that are reduced one by one; a joint step costs as much as several items of a single group."""
_AS_BYTES: Final = {np.logical_or: np.maximum, np.logical_and: np.minimum}
"""Functions that run on bytes by another ufunc, since NumPy has no equally fast loop."""


def key_reduce(call: OperationCall, arrays: Arrays) -> Arrays:
    """The operation `key_reduce`.  With a frame each point has its own bins: bin b of frame point f is bin f×bins+b."""
    indices, arg = call.batched(arrays)
    count, shape = math.prod(call.frame), call.shape()
    bins, cell = shape[0], shape[1:]
    result_shape = (count, *shape)
    if not count:
        return call.unbatched(np.empty(result_shape, arg.dtype))
    indices = indices.reshape(len(indices), -1).astype(np.int64, copy=False)
    width = math.prod(cell)
    if width == 1 and not call.rank:
        values = np.broadcast_to(arg, (1, *arg.shape[1:])).reshape(-1)
        by_key = reduce_by_key(call.function(), call.kind(), indices.reshape(-1), values, bins, call.threads)
        if by_key is not None:
            return call.unbatched(by_key.reshape(result_shape))
    check_indices(indices, bins, checked=call.flag("checked"), indexing=call.phase.indexing)
    keys = (np.arange(count)[:, np.newaxis] * bins + indices).reshape(-1)
    items = np.broadcast_to(arg, (count, *arg.shape[1:])).reshape(len(keys), width)
    if not width:
        return call.unbatched(np.empty(result_shape, arg.dtype))
    reduced = _reduced(call.function(), call.kind(), keys, items, count * bins)
    return call.unbatched(reduced.reshape(result_shape))


def _reduced(function: str, kind: Kind, keys: NumArray, items: NumArray, bins: int) -> NumArray:
    """Reduces rows of `items` to `bins` rows.  The start value of a bin preserves even the sign of a zero."""
    ufunc = running_ufunc(function, kind)
    start = complex(-0.0, -0.0) if kind.is_complex and function == "add" else neutral_element(function, kind)
    if ufunc is None:
        start, result = 0, np.zeros((bins, items.shape[1]), DTYPES[kind])
        if len(keys):
            _by_group(function, kind, keys, items, result)
    elif ufunc in _AS_BYTES:
        result = _scattered(_AS_BYTES[ufunc], keys, items.view(np.uint8), bins, start).view(np.bool_)
    else:
        result = _scattered(ufunc, keys, items, bins, start)
    if ufunc is np.gcd:  # a single item is its own result, even if negative
        alone = np.bincount(keys, minlength=bins)[keys] == 1
        result[keys[alone]] = items[alone]
    empty = result[:, 0] == start
    if empty.any():
        empty[keys] = False
        if empty.any():
            result[empty] = identity(function, kind)
    return result


def _scattered(ufunc: np.ufunc, keys: NumArray, items: NumArray, bins: int, start: complex) -> NumArray:
    """Reduces with `ufunc.at` in the order of the items, in blocks that stay in the L1 cache."""
    width = items.shape[1]
    few = width <= _FEW_COLUMNS
    result = np.full((width, bins) if few else (bins, width), start, items.dtype)
    rows = max(1, BIN_BLOCK // width)
    for first in range(0, len(keys), rows):
        chunk, block = keys[first : first + rows], items[first : first + rows]
        if few:
            for column, part in zip(result, np.ascontiguousarray(block.T), strict=True):
                ufunc.at(column, chunk, part)
        else:
            places = chunk[:, np.newaxis] * width + np.arange(width)
            ufunc.at(result.reshape(-1), places.reshape(-1), np.ascontiguousarray(block).reshape(-1))
    return np.ascontiguousarray(result.T) if few else result


# ----------------------------------------------------------------------------------------- groups


def _by_group(function: str, kind: Kind, keys: NumArray, items: NumArray, result: NumArray) -> None:
    """Reduces group by group: associative functions left to right, the others right to left."""
    order = stable_order(keys)
    ordered = items[order]
    sorted_keys = keys[order]
    starts = np.flatnonzero(np.append(True, sorted_keys[1:] != sorted_keys[:-1]))
    stops = np.append(starts[1:], len(keys))
    leftwards = not FUNCTIONS[function].associative
    by_item = not leftwards and kind is not Kind.BOOL
    large = stops - starts > (max(_LARGE_GROUP, len(keys) // _FEW_GROUPS) if by_item else _LARGE_GROUP)
    for start, stop in zip(starts[large].tolist(), stops[large].tolist(), strict=True):
        group = ordered[start:stop]
        result[sorted_keys[start]] = right_fold(function, kind, group) if leftwards else scan_leading(function, kind, group)[-1]
    starts, stops = starts[~large], stops[~large]
    apply = implementation(function, kind, Kind.BOOL if FUNCTIONS[function].result.name == "BOOL" else kind)
    _step_together(apply, ordered, starts, stops, sorted_keys, result, leftwards=leftwards)


def _step_together(apply: Callable[..., Any], ordered: NumArray, starts: NumArray, stops: NumArray, keys: NumArray,
                   result: NumArray, *, leftwards: bool) -> None:  # fmt: skip
    """Advances all groups together: step k combines the k-th item of every group."""
    if not len(starts):
        return
    bins = keys[starts]
    result[bins] = ordered[stops - 1 if leftwards else starts]
    for k in range(1, int((stops - starts).max())):
        going = stops - starts > k
        bins, starts, stops = bins[going], starts[going], stops[going]
        if leftwards:
            result[bins] = apply(ordered[stops - 1 - k], result[bins])
        else:
            result[bins] = apply(result[bins], ordered[starts + k])


KEYED: Final[dict[str, Operation]] = {"key_reduce": on_operands(key_reduce)}
