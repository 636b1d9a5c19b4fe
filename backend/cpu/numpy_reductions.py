"""Reductions of one axis, at once or from partial results, each in its documented order.

Float and complex sums and products follow `reference.reductions`.  Every other associative function is exact in any order, so its
partial results are combined in the order in which boxes are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any, ClassVar, Final

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, replace
from ...typechecker.elements import (
    FUNCTIONS,
    SELECTIVE,
    SUMMED,
    Kind,
    ResultKind,
    identity_of,
    is_ordered,
    is_sequential,
    real_kind,
)
from ...typechecker.sizes.polynomials import ZERO, Size, number as size_of
from ..graph.phases import (
    ARGUMENT_REDUCTIONS,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Read,
    Reshaped,
    Stage,
    Structured,
    Term,
    ValueId,
    axis_index,
    simplify,
    sizes_of,
)
from ..lower.loop_order import BLOCK, LANES, RUN
from ..scalar.function_table import REDUCTIONS
from ..schedule.program_facts.scratch_memory import workspace
from ..vm.check_failures import CheckFailed
from ..vm.run_state import pooled_empty
from .numpy_scalars import UFUNC_FUNCTIONS, compiled_right_fold, implementation, scalar_function
from .views import DTYPES, WHOLE, Box, NumArray, Numbers, mergeable_axes

# ---------------------------------------------------------------------------------------------------- blocked sums
#
# The documented order of float sums and products on NumPy arrays, along the leading axis.
#
# `reference.reductions` is the definition in plain Python; this module computes the same bits for whole arrays: lanes go down the
# rows of each block in order, lanes combine by halving, blocks by the binary tree on the block index.



_NEUTRAL: Final[dict[np.ufunc, complex]] = {np.add: complex(-0.0, -0.0), np.multiply: 1.0}
"""The neutral value of each ufunc, which also keeps the sign of a zero (complex products have none)."""


def block_partials(ufunc: np.ufunc, data: NumArray) -> NumArray:
    """Reduces each block with `np.add` or `np.multiply`: one partial result per block, along the leading axis; keeps the
    dtype."""
    count, cells = len(data) // BLOCK, data.shape[1:]
    blocks, last = data[: count * BLOCK].reshape(count, BLOCK // LANES, LANES, *cells), data[count * BLOCK :]
    partials = [_halved(ufunc, _lanes(ufunc, blocks).swapaxes(0, 1))] if count else []
    if len(last):
        rows = len(last) // LANES
        full, short = last[: rows * LANES].reshape(1, rows, LANES, *cells), last[rows * LANES :]
        lanes: NumArray = _lanes(ufunc, full)[0] if rows else short
        if rows:
            ufunc(lanes[: len(short)], short, out=lanes[: len(short)])
        partials.append(_halved(ufunc, lanes)[np.newaxis])
    return partials[0] if len(partials) == 1 else np.concatenate(partials)


def _lanes(ufunc: np.ufunc, blocks: NumArray) -> NumArray:
    """The lanes of blocks of full rows: lane j accumulates column j of its block row by row."""
    if blocks.dtype.kind == "c" and ufunc is np.multiply:
        lanes: NumArray = blocks[:, 0].copy()
        for row in range(1, blocks.shape[1]):
            ufunc(lanes, blocks[:, row], out=lanes)
        return lanes
    neutral = _NEUTRAL[ufunc] if blocks.dtype.kind == "c" else _NEUTRAL[ufunc].real
    return np.asarray(ufunc.reduce(blocks, 1, initial=neutral))


def _halved(ufunc: np.ufunc, lanes: NumArray) -> NumArray:
    """Combines lanes along the leading axis by halving (lane j with lane j + half); missing lanes leave their partner
    unchanged."""
    count = len(lanes)
    if count == 1:
        return np.array(lanes[0])
    half = 1 << (count - 1).bit_length() - 1
    joined: NumArray = lanes[:half].copy("K")
    ufunc(joined[: count - half], lanes[half:], out=joined[: count - half])  # unpaired lanes stay unchanged
    while half := half // 2:
        ufunc(joined[:half], joined[half : 2 * half], out=joined[:half])
    return np.array(joined[0])


def combine_tree(apply: Callable[..., Any], partials: NumArray) -> Any:
    """Combines neighbouring partial results level by level (an odd last one is passed up) until the leading axis is gone."""
    level = partials
    while len(level) > 1:
        even = len(level) // 2 * 2
        paired = apply(level[0:even:2], level[1:even:2])
        level = np.concatenate((paired, level[even:])) if even < len(level) else paired
    return level[0]


# ---------------------------------------------------------------------------------------------------- sortable keys
#
# Items as integers in the order of the items.
#
# A key column is an integer array whose order is the order of the items (or the reverse): `¯0.0` equals `0.0`, NaN comes last
# in either sense and equals NaN, a complex number is two columns.

def order_columns(items: NumArray, *, descending: bool = False) -> list[NumArray]:
    """The key arrays of items, of their shape: two for complex items, else one."""
    if items.dtype.kind != "c":
        return [sort_keys(np, items, np.isnan(items) if items.dtype.kind == "f" else None, descending=descending)]
    missing = np.isnan(items)
    return [sort_keys(np, part, missing, descending=descending) for part in (items.real, items.imag)]


def sort_keys(xp: Any, items: Any, missing: Any, *, descending: bool) -> Any:
    """Integers in the order of `items`; NaN items get the key `missing`.  `xp`: NumPy or CuPy."""
    if items.dtype.kind == "b":
        items = items.view(np.uint8)
    if missing is None:
        return xp.invert(items) if descending else items
    signed = np.int64 if items.dtype.itemsize == 8 else np.int32
    keys = xp.ascontiguousarray(items + items.dtype.type(0)).reshape(items.shape).view(signed)
    top = signed(np.iinfo(signed).max)
    signs = keys >> signed(8 * items.dtype.itemsize - 1)
    signs &= top
    keys ^= signs
    del signs
    if descending:
        xp.invert(keys, keys)
    keys[missing] = top
    return keys


# ---------------------------------------------------------------------------------------------------- blocked scans
#
# The order of scans (`reference.reductions`) on NumPy arrays, along the leading axis.
#
# Runs are scanned in place in the result, then the total before each run is combined with the run's items.

_RUNS_PER_BLOCK: Final = BLOCK // RUN

def ordered_scan(ufunc: np.ufunc, data: NumArray, result: NumArray, first: Any = None) -> None:
    """Scans `data` with `np.add` or `np.multiply` in the documented order into `result`, of the same shape and dtype.

    `first`: what precedes `data`, which begins a block."""
    shape, dtype, nothing = data.shape[1:], data.dtype, _NEUTRAL[ufunc].real
    full_runs, runs = len(data) // RUN, -(-len(data) // RUN)
    blocks, each, rest = -(-runs // _RUNS_PER_BLOCK), min(runs, _RUNS_PER_BLOCK), result[full_runs * RUN :]
    scanned = result[: full_runs * RUN].reshape(full_runs, RUN, *shape)
    ufunc.accumulate(data[: full_runs * RUN].reshape(scanned.shape), 1, dtype, scanned)
    ufunc.accumulate(data[full_runs * RUN :], 0, dtype, rest)
    if runs < 2 and first is None:
        return
    totals = np.full((blocks * each, *shape), nothing, dtype)
    totals[:full_runs] = scanned[:, -1]
    totals[full_runs:runs] = rest[-1:]
    inside = ufunc.accumulate(totals.reshape(blocks, each, *shape), 1, dtype)
    before, ahead = np.full((blocks, *shape), nothing, dtype), np.full_like(inside, nothing)
    before[1:] = inside[:-1, -1]
    if first is not None:
        before[0] = first
    ufunc.accumulate(before, 0, dtype, before)
    ufunc(before[:, np.newaxis], inside[:, :-1], ahead[:, 1:])
    ahead[:, 0] = before
    ahead = ahead.reshape(totals.shape)
    for run in range(0 if first is not None else 1, runs):  # one run at a time, since NumPy would copy them all
        part = result[run * RUN : (run + 1) * RUN]
        ufunc(ahead[run], part, part)


# ---------------------------------------------------------------------------------------------------- scans of truth values
#
# Scans of functions whose results are truth values, in linear time; their last item is the reduction from the right.
#
# Every function here gives 0 or 1, so after its first step a reduction `x₀ f x₁ f … f xᵢ` carries a truth value, and each
# earlier item is a map of {0, 1} to itself: the identity, the negation, or a constant.  With b = f(xᵢ₋₁, xᵢ) the result
# is b, negated once for every negation before xᵢ₋₁; or, if an item p before xᵢ₋₁ is constant, the first such constant
# negated once for every negation before p.  Comparisons of numbers give 0 and 1 of the numbers' kind.

def is_truth_function(function: str, kind: Kind) -> bool:
    return kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL


def _maps(function: str, kind: Kind, items: NumArray) -> tuple[Any, NumArray, NumArray, NumArray]:
    """The function, and each item as a map of {0, 1}: its value at 0, whether it is constant, and whether it negates."""
    apply = implementation(function, kind, Kind.BOOL)
    at_zero = np.asarray(apply(items, np.array(0, items.dtype)))
    at_one = np.asarray(apply(items, np.array(1, items.dtype)))
    return apply, at_zero, at_zero == at_one, at_zero & ~at_one


def truth_scan(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Scans the leading axis of boolean results: item i is the reduction from the right of the first i + 1 items."""
    count = len(items)
    result = items.copy()
    if count < 2:
        return result
    apply, at_zero, constant, negates = _maps(function, kind, items[: count - 2])
    values = np.asarray(apply(items[:-1], items[1:]))
    if count > 2:
        odd = np.logical_xor.accumulate(negates, axis=0)
        values[1:] ^= odd
        first = np.argmax(constant, axis=0)[np.newaxis]
        fixed = np.take_along_axis(constant, first, 0)
        settled = np.take_along_axis(at_zero ^ odd, first, 0)
        steps = np.arange(count - 2).reshape(-1, *[1] * (items.ndim - 1))
        np.copyto(values[1:], settled, where=fixed & (steps >= first))
    result[1:] = values
    return result


# ---------------------------------------------------------------------------------------------------- non-associative functions
#
# Scans, and reductions by functions that are not associative, along one axis.
#
# The order is that of `reference.reductions`: blocks for float `add` and `mul`, left to right for other associative functions,
# alternating functions for `sub` and `div`, and a right fold of each prefix for the rest.  Where NumPy has no loop in that order,
# it is called once per step.

ALTERNATING: Final = {"sub": "add", "div": "mul"}
"""Functions whose scan applies this other function at every second step."""


def running_ufunc(function: str, kind: Kind) -> np.ufunc | None:
    """The ufunc whose `accumulate` and `at` are the function, if there is one."""
    if function == "gcd":
        return np.gcd if kind.is_integer else None
    is_associative = function in REDUCTIONS or (kind is Kind.BOOL and function in ("eq", "ne"))
    return UFUNC_FUNCTIONS[function] if is_associative else None


def identity(function: str, kind: Kind) -> NumArray:
    """The identity of a function: the result for no items.  Raises CheckFailed E204 if it has none."""
    value = identity_of(function, kind)
    if value is None:
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
    return np.array(value, DTYPES[kind])


# ------------------------------------------------------------------------------------- reductions


def right_fold(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Reduces the leading axis (length ≥ 1) from the right."""
    if is_truth_function(function, kind):
        return np.array(truth_scan(function, kind, items)[-1])
    if function == "sub":
        return _alternating_sum(kind, items)
    if function == "residue" and not kind.is_complex and items[:-1].all():
        return np.asarray(np.remainder.reduce(items[::-1], 0, items.dtype))
    if function == "lcm" and kind.is_integer and not _wraps(items):
        return _signed_multiples(items, np.lcm.reduce)
    return _itemwise_right_fold(function, kind, items)


def _itemwise_right_fold(function: str, kind: Kind, items: NumArray) -> NumArray:
    """A right fold by its definition: one call per item, on NumPy scalars where there are few cells."""
    scalar, apply = scalar_function(function, kind), implementation(function, kind, kind)
    totals: list[Any] = []
    for line in items.reshape(len(items), -1).T if items[0].size <= _FEW_CELLS else ():
        totals.append(compiled_right_fold(function, kind, line) if scalar is None else line[-1])
        if scalar is not None:
            for item in line[-2::-1]:
                totals[-1] = scalar(item, totals[-1])
    if totals and None not in totals:
        return np.array(totals, items.dtype).reshape(items.shape[1:])
    result = np.array(items[-1])
    for i in range(len(items) - 2, -1, -1):
        result = apply(items[i], result)
    return np.asarray(result)


_FEW_CELLS: Final = 8
"""The most cells that are folded one by one: one NumPy call takes as long as this many scalar operations."""


def _alternating_sum(kind: Kind, items: NumArray) -> NumArray:
    """x₀-(x₁-(x₂-…)).  Negating every second item makes it a running sum from the right.  Rounding is symmetric, so the bits are
    the same, except for the sign of a NaN, or of a 0 where x₀ is 0."""
    if kind.is_complex:
        total = np.empty(items.shape[1:], items.dtype)
        total.real, total.imag = (_alternating_sum(real_kind(kind), part) for part in (items.real, items.imag))
        return total
    signed = _alternately_negated(items)
    if kind.is_integer:
        return np.asarray(np.add.reduce(signed, axis=0, dtype=items.dtype))
    result = np.asarray(np.add.accumulate(signed[::-1], axis=0)[-1])
    is_exact = np.all((result == result) & ((result != 0) | (items[0] != 0)))
    return result if is_exact else _itemwise_right_fold("sub", kind, items)


_CHAINED: Final = 4096
"""Items that a loop of Python steps converts to an array at a time."""
_MULTIPLES: Final = 4096
"""Items whose least common multiple is computed at a time."""


def _wraps(items: NumArray) -> bool:
    """Does a least common multiple of integers overflow its kind?  One that does not is a positive multiple of all nonzero
    items."""
    chunks = [items[start : start + _MULTIPLES] for start in range(0, len(items), _MULTIPLES)]
    total = np.ones(items.shape[1:], items.dtype)
    for chunk in chunks:
        total = np.lcm(total, np.lcm.reduce(np.where(chunk == 0, total.dtype.type(1), np.abs(chunk)), 0))
    return not (total > 0).all() or any((total % np.where(chunk == 0, total.dtype.type(1), chunk)).any() for chunk in chunks)


def _signed_multiples(items: NumArray, multiples: Callable[..., Any]) -> NumArray:
    """The least common multiples of integers (of a reduction or a scan) with the signs of the items' products."""
    odd = (np.logical_xor.reduce if multiples == np.lcm.reduce else np.logical_xor.accumulate)(items < 0, 0)
    size = np.abs(multiples(items, 0, items.dtype))
    return np.asarray(np.where(odd, -size, size))


def _alternately_negated(items: NumArray) -> NumArray:
    """The items with every second one negated; does not use `out`, since NumPy 2.4.6 negates 32-bit items wrongly where the
    operand (by 4) and the result (by 2 or more) are strided."""
    signed: NumArray = items.copy()
    signed[1::2] = -items[1::2]
    return signed


# ------------------------------------------------------------------------------------------ scans


def scan_axis(function: str, kind: Kind, arg: NumArray, axis: int, first: NumArray | None = None) -> NumArray:
    """Scans `arg` along `axis`; the result has the same shape.

    `first`: what precedes `arg`, which begins a block of the order of scans; the function has an order of its own or none."""
    if not arg.size:
        return arg.copy()
    ufunc, items = running_ufunc(function, kind), np.moveaxis(arg, axis, 0)
    if ufunc is None:
        scanned = scan_leading(function, kind, items)
        return np.ascontiguousarray(np.moveaxis(scanned, 0, axis)) if axis else scanned  # which owns its memory
    result = np.empty(arg.shape, arg.dtype)
    if kind.is_float and function in SUMMED:
        ordered_scan(ufunc, items, np.moveaxis(result, axis, 0), None if first is None else np.moveaxis(first, axis, 0)[0])
        return result
    ufunc.accumulate(arg, axis, arg.dtype, result)
    return result if first is None else np.asarray(ufunc(first, result, out=result))


def scan_leading(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Scans the leading axis, which must not be empty."""
    if is_truth_function(function, kind):
        return truth_scan(function, kind, items)
    if function == "sub":
        return np.asarray(np.add.accumulate(_alternately_negated(items), axis=0, dtype=items.dtype))
    if function == "lcm" and kind.is_integer and not _wraps(items):
        return _signed_multiples(items, np.lcm.accumulate)
    result = items.copy()
    if function in ALTERNATING or FUNCTIONS[function].associative:
        names = ALTERNATING.get(function, function), function
        scalars = [scalar_function(name, kind) for name in names]
        if None not in scalars and items[0].size <= _FEW_CELLS:
            for line, target in zip(items.reshape(len(items), -1).T, result.reshape(len(items), -1).T, strict=True):
                running = _running(line, scalars)
                for start in range(0, len(items), _CHAINED):
                    count = min(_CHAINED, len(items) - start)
                    target[start : start + count] = np.fromiter(islice(running, count), items.dtype, count)
            return result
        steps = [implementation(name, kind, kind) for name in names]
        for i in range(1, len(items)):
            result[i] = steps[i % 2](result[i - 1], items[i])
        return result
    apply = implementation(function, kind, kind)
    for i in range(len(items) - 2, -1, -1):  # item i applies to every prefix that extends beyond it
        result[i + 1 :] = apply(np.broadcast_to(items[i], result[i + 1 :].shape), result[i + 1 :])
    return result


def _running(line: NumArray, steps: Sequence[Any]) -> Iterator[Any]:
    """Yields the items of a scan of one line by two alternating functions on NumPy scalars."""
    total = line[0]
    yield total
    for number, item in enumerate(line[1:], 1):
        total = steps[number % 2](total, item)
        yield total


# ---------------------------------------------------------------------------------------------------- results of boxes
#
# Collects what a phase computes on the boxes of its space into its results: stored items, or partial results of a reduction.
# `begin` makes the state of a run; `part` is the part of the result that a box fills.

_ALL: Final = slice(None)


def within(box: Box, shape: Numbers) -> Box:
    """The part of a box in an array of this shape, which has length 1 along axes on which it does not vary."""
    return tuple([_ALL if size == 1 else part for size, part in zip(shape, box, strict=True)])


def broadcast_view(value: Any, shape: Numbers) -> Any:
    """A value broadcast to `shape`, as a view."""
    return value if value.shape == shape else np.broadcast_to(value, shape)


def broadcast_copy(value: Any, shape: Numbers) -> Any:
    """A value broadcast to `shape`, as a new array."""
    return value if value.shape == shape else np.array(np.broadcast_to(value, shape))


@dataclass(frozen=True, slots=True)
class StoredItems:
    """A result that stores the body's slot `node`, all items of it or one per row; `is_direct`: may a ufunc write them in
    place?"""

    node: int
    dtype: np.dtype[Any]
    is_row: bool = False
    is_direct: bool = False

    def begin(self, extents: Numbers, over: NumArray | None = None, *, is_shared: bool = False) -> StoredResult:
        """The state of a run.  `over`: an operand that may be overwritten; `is_shared`: do other results depend on it too?"""
        shape = extents[:-1] if self.is_row else extents
        fits = over is not None and over.dtype == self.dtype and over.shape == shape and over.flags.c_contiguous
        target: NumArray = over if fits and over is not None else pooled_empty(shape, self.dtype)
        items = target[..., np.newaxis] if self.is_row else target
        return StoredResult(target, items, self.is_direct and not (fits and is_shared))


@dataclass(slots=True, eq=False)
class StoredResult:
    """The state of a stored result.  `items`: a view of `target` with all axes of the space."""

    target: NumArray
    items: NumArray
    is_direct: bool

    def part(self, box: Box) -> NumArray:
        index: tuple[Any, ...] = (*within(box, self.items.shape), ...)
        part: NumArray = self.items[index]
        return part

    def put(self, box: Box, value: Any) -> None:
        self.part(box)[...] = value

    def result(self) -> NumArray:
        return self.target


@dataclass(frozen=True, slots=True)
class NumpyReduction:
    """A reduction of the last axis of the body's slot `node` with `function`."""

    node: int
    function: str
    kind: Kind

    @property
    def ordered(self) -> bool:
        return is_ordered(self.function, self.kind)

    def partials(self, value: Any) -> Any:
        """The partial results of items along a leading axis: one per block of the summation order for ordered functions, else
        one."""
        if self.ordered:
            return block_partials(UFUNC_FUNCTIONS[self.function], value)
        return np.asarray(reduce_first(self.function, self.kind, value))[np.newaxis]

    def total(self, value: Any) -> Any:
        """The reduction of the last axis."""
        if self.function in ARGUMENT_REDUCTIONS:
            best = self.begin(value.shape)
            best.put(tuple([slice(0, size) for size in value.shape]), value)
            return best.result()
        items = _leading(value)
        if self.ordered:
            return combine_tree(UFUNC_FUNCTIONS[self.function], block_partials(UFUNC_FUNCTIONS[self.function], items))
        return np.asarray(reduce_first(self.function, self.kind, items))

    def grain(self, length: int) -> int:
        """The reduce axis, of this length, may be cut at multiples of this number."""
        return min(length, BLOCK) if self.function in REDUCTIONS or self.function in ARGUMENT_REDUCTIONS else length

    def begin(self, extents: Numbers, over: NumArray | None = None, *, is_shared: bool = False, interval: int = 0) -> Any:
        """The state of a run.  `interval`: the number of items per partial result; by default a block, or all items for unordered
        functions."""
        if self.function in ARGUMENT_REDUCTIONS:
            return BestItems(self, pooled_empty(extents[:-1], DTYPES[self.kind]))
        interval = interval or (BLOCK if self.ordered else extents[-1])
        partials: NumArray = pooled_empty((-(-extents[-1] // interval), *extents[:-1]), DTYPES[self.kind])
        return PartialResults(self, partials, interval)


@dataclass(slots=True, eq=False)
class PartialResults:
    """The partial results of a reduction along the leading axis, one per `interval` items of the reduced axis."""

    reduction: NumpyReduction
    partials: NumArray
    interval: int
    is_direct: ClassVar = False

    def part(self, box: Box) -> NumArray:
        """The partial result that a box fills, which lies within one interval."""
        part: NumArray = self.partials[(box[-1].start // self.interval, *box[:-1], ...)]
        return part

    def put(self, box: Box, value: Any) -> None:
        """Reduces the items of a box and combines them with what its interval holds."""
        reduction, first = self.reduction, box[-1].start // self.interval
        part = reduction.partials(_leading(value, box))
        target = self.partials[(slice(first, first + len(part)), *box[:-1])]
        is_later = box[-1].start and not reduction.ordered
        target[...] = UFUNC_FUNCTIONS[reduction.function](target, part) if is_later else part

    def result(self) -> Any:
        if len(self.partials) == 1:
            return self.partials[0]
        if self.reduction.ordered:
            return combine_tree(UFUNC_FUNCTIONS[self.reduction.function], self.partials)
        return np.asarray(reduce_first(self.reduction.function, self.reduction.kind, self.partials))


def _leading(value: Any, box: Box | None = None) -> Any:
    """The items, broadcast to a box if one is given, with the last axis moved to the front."""
    if box is not None:
        value = broadcast_view(value, tuple([part.stop - part.start for part in box]))
    return value.transpose(value.ndim - 1, *range(value.ndim - 1))


@dataclass(slots=True, eq=False)
class BestItems:
    """The partial result of an argument reduction: by cell, the position of the best item of the boxes so far, and the item."""

    reduction: NumpyReduction
    positions: NumArray
    items: NumArray | None = None
    extreme: NumArray | None = None
    """The least or greatest items, with NaN where a line has one: the result of `min` or `max`, except that a zero keeps its
    sign."""
    is_direct: ClassVar = False

    def put(self, box: Box, value: Any) -> None:
        """Compare the best items of a box with the earlier ones, which win if they are equal."""
        function, first, here, value = self.reduction.function, box[-1].start, box[:-1], _leading(value, box)
        local = np.asarray(_POSITION_OF[function](value, 0))
        extreme = best = _items_at(value, local)
        missing = best != best
        if missing.any():  # NumPy picks NaN first, but Rho orders it last
            (keys,) = order_columns(value, descending=function == "argmax")
            local = np.argmin(keys, 0)
            best = _items_at(value, local)
        if self.items is None or self.extreme is None:
            self.items, self.extreme = (np.empty(self.positions.shape, value.dtype) for _ in range(2))
        if first:
            earlier = self.items[here]
            is_later = (best < earlier if function == "argmin" else best > earlier) | ((earlier != earlier) & (best == best))
            local = np.where(is_later, local + first, self.positions[here])
            best = np.where(is_later, best, earlier)
            extreme = UFUNC_FUNCTIONS[function.removeprefix("arg")](self.extreme[here], extreme)
        self.positions[here], self.items[here], self.extreme[here] = local, best, extreme

    def result(self) -> NumArray:
        return self.positions

    def extremes(self) -> _Extremes:
        return _Extremes(self)


@dataclass(slots=True, eq=False)
class _Extremes:
    """The state of a `min` or `max` whose items an argument reduction of the same operand computes anyway."""

    argument: BestItems
    is_direct: ClassVar = False

    def put(self, box: Box, value: Any) -> None:
        pass

    def result(self) -> NumArray:
        items = self.argument.extreme
        assert items is not None
        return items + items.dtype.type(0) if items.dtype.kind == "f" else items


def joint_reductions(reductions: Sequence[NumpyReduction]) -> dict[int, int]:
    """By index of a `min` or `max`, the index of the argument reduction of the same items, which computes it too."""
    numbers = {(r.node, r.function): number for number, r in enumerate(reductions)}
    return {numbers[r.node, name]: number for number, r in enumerate(reductions)
            if (r.node, name := r.function.removeprefix("arg")) in numbers and name != r.function}  # fmt: skip


_POSITION_OF: Final = {"argmin": np.argmin, "argmax": np.argmax}


def _items_at(value: NumArray, positions: NumArray) -> NumArray:
    """The item at the given position of each line along the leading axis."""
    return value[positions] if value.ndim == 1 else np.take_along_axis(value, positions[np.newaxis], 0)[0]


ROW_REDUCTION_PREFIX: Final = "along_"
"""The prefix of the names of functions that reduce rows (`graph.fusion_groups`)."""


def reduce_last(function: str, kind: Kind, length: int) -> Callable[..., Any]:
    """The reduction of a last axis of this length, as a function whose result keeps the axis with length 1."""
    reduction = NumpyReduction(0, function, kind)

    def reduce(value: Any) -> Any:
        if value.shape[-1:] != (length,):
            value = np.broadcast_to(value, (*value.shape[:-1], length))
        return np.asarray(reduction.total(value))[..., np.newaxis]

    return reduce


def reduce_first(function: str, kind: Kind, value: Any) -> Any:
    """Reduce the leading axis, of length ≥ 1, with a function that is exact in any order, or from the right."""
    ufunc = running_ufunc(function, kind)
    if ufunc is None or (function == "gcd" and len(value) == 1):  # gcd of a single item is the item, with its sign
        return right_fold(function, kind, value)
    if function in SELECTIVE:
        total = ufunc.reduce(value, 0)
        return total + total.dtype.type(0) if kind.is_float else total  # a zero result is +0.0
    return ufunc.reduce(value, 0, DTYPES[kind])


def identity_array(function: str | None, kind: Kind, shape: tuple[int, ...]) -> NumArray:
    """The result of an empty reduction in every cell; without a function, an array without elements."""
    if function is None or 0 in shape:
        return np.empty(shape, DTYPES[kind])
    return np.full(shape, identity(function, kind))


# ---------------------------------------------------------------------------------------------- reductions of reshaped operands
#
# Reductions of a ravel that are exact in any order (`+/,a∘.=b` of integers) run over the axes of the array that was ravelled:
# strides express their reads there, so nothing is copied and kernels apply as for any array.
#
# The longest axis is reduced first, which leaves a small array.  Float sums must keep the order of the ravel and go box by box.



def over_ravelled_axes(
    phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
) -> Structured | None:
    """The phase over the axes of the ravelled array, of which the longest is reduced and the others are parallel.  None if no
    read is of a ravel, or the order of items matters."""
    if prod(space) <= WHOLE or any(isinstance(n, AxisNode) and n.axis == len(space) - 1 for n in phase.body):
        return None
    if any(isinstance(node, ApplyNode) and node.span is not None for node in phase.body):
        return None
    for result in phase.results:
        function = result.reduction or ""
        if function in ARGUMENT_REDUCTIONS or is_sequential(function) or is_ordered(function, kinds(result.value)):
            return None
    factors = next((factored for read in phase.reads if (factored := _factors(read, space, number))), None)
    if factors is None:
        return None
    longest = max(range(len(factors)), key=factors.__getitem__)
    order = [*(axis for axis in range(len(factors)) if axis != longest), longest]
    sizes = (*space[:-1], *(factors[axis] for axis in order))
    reads = [_moved(read, space, sizes, factors, order, number) for read in phase.reads]
    if any(map(_is_apart, reads)):
        return None
    left = prod(sizes[:-1]) * sum(kinds(result.value).bytes for result in phase.results)
    if left > workspace(phase, number) // 4:
        return None
    axes = tuple(Axis(size_of(size), AxisKind.PARALLEL) for size in sizes[:-1])
    return replace(phase, axes=(*axes, Axis(size_of(sizes[-1]), AxisKind.REDUCE)), reads=tuple(reads))


def combine_ravelled(
    phase: Structured, rank: int, kinds: Callable[[ValueId], Kind], partial_results: Sequence[Any]
) -> tuple[Any, ...]:
    """The results of the phase, of `rank` axes, from the partial results of its form over ravelled axes."""
    values: list[Any] = []
    for result, value in zip(phase.results, partial_results, strict=True):
        items: NumArray = np.asarray(value)
        rows = items.reshape(*items.shape[:rank], -1)
        values.append(np.asarray(reduce_first(result.reduction or "", kinds(result.value), np.moveaxis(rows, -1, 0))))
    return tuple(values)


def _is_apart(read: Read) -> bool:
    """Does the read ravel an array that strides cannot ravel without a copy?"""
    stages = read.projection.stages
    return any(
        isinstance(stage, Reshaped) and any(isinstance(later, Affine) for later in stages[number + 1 :])
        for number, stage in enumerate(stages)
    )


def _factors(read: Read, space: Numbers, number: Callable[[Size], int]) -> Numbers | None:
    """The extents of the ravelled array, whose product is the reduced axis; None if the read is of another form."""
    stages = read.projection.stages
    if not _is_apart(read) or not isinstance(first := stages[0], Reshaped):
        return None
    target = tuple(map(number, first.target))
    for sources, targets in mergeable_axes(space, target):
        if sources.start <= len(space) - 1 < sources.stop:
            factors = tuple(target[axis] for axis in targets if target[axis] != 1)
            alone = all(space[axis] == 1 for axis in sources if axis != len(space) - 1)
            return factors if alone and len(factors) > 1 else None
    return None


def _moved(
    read: Read, space: Numbers, sizes: Numbers, factors: Numbers, order: Sequence[int], number: Callable[[Size], int]
) -> Read:
    """The read of the same item, in terms of the axes of the ravelled array."""
    around = len(space) - 1
    axis_of = {factor: around + position for position, factor in enumerate(order)}
    before = [axis_index(axis) for axis in range(around)]
    stages = tuple(read.projection.stages)
    first: tuple[Stage, ...]
    if stages and isinstance(stages[0], Reshaped):
        apart = sizes_of((*space[:-1], *factors))
        indices = (*before, *(axis_index(axis_of[factor]) for factor in range(len(factors))))
        first = Affine(indices, apart), Reshaped(apart, sizes_of(space))
    else:
        terms = sorted((axis_of[factor], prod(factors[factor + 1 :])) for factor in range(len(factors)))
        flat = AffineIndex(tuple(Term(axis, step) for axis, step in terms), ZERO)
        first = (Affine((*before, flat), sizes_of(space)),)
    known = tuple(_in_numbers(stage, number) for stage in stages)
    return replace(read, projection=simplify(sizes_of(sizes), (*first, *known)))


def _in_numbers(stage: Stage, number: Callable[[Size], int]) -> Stage:
    """The stage with its sizes as numbers."""

    def known(sizes: Sequence[Size]) -> tuple[Size, ...]:
        return sizes_of([number(size) for size in sizes])

    if isinstance(stage, Reshaped):
        return Reshaped(known(stage.source), known(stage.target))
    indices = tuple(AffineIndex(index.terms, size_of(number(index.constant))) for index in stage.indices)
    return Affine(indices, known(stage.shape), stage.fills)
