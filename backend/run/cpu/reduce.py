"""Reductions of one axis, whole or from partial results, each in its documented order.

Float and complex sums and products follow `sums_numpy`; every other associative function is exact in any order, so
partial results of slices are combined as they come.  Counting (`+/` of a bool) does not widen its operand.

Neighbours: `slices` (reduces slice by slice), `body` (rows of a chain), `library` (sequential reductions and scans).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.scalars import SELECTIVE, identity_of, is_ordered
from ...graph.phases import PLACES, ApplyNode, Node, Result
from ...kernels.ir import BLOCK
from ...scalar.table import REDUCTIONS
from ..failures import CheckFailed
from ..pool import room
from ..sums_numpy import block_partials, combine_tree, ordered_reduce
from .kinds import DTYPES, NumArray
from .reals import PLAIN


def _in_layout(value: Any, reduce: Callable[[Any, int], Any]) -> Any:
    """Reduce the last axis of `value` with its axes in the order they lie in memory."""
    last = value.ndim - 1
    order = sorted(range(value.ndim), key=lambda axis: -abs(value.strides[axis]))
    if order[last] == last:
        return reduce(value, last)
    made = reduce(value.transpose(order), order.index(last))
    rest = [axis for axis in order if axis != last]
    return made.transpose(sorted(range(last), key=rest.__getitem__)) if rest != sorted(rest) else made


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduce body slot `node` with `function`; a bool `node` added up as an i64 is counted."""

    node: int
    function: str
    kind: Kind

    @property
    def ordered(self) -> bool:
        return is_ordered(self.function, self.kind)

    def whole(self, value: Any) -> Any:
        """The last axis in one go."""
        if self.ordered:
            return _in_layout(value, lambda moved, axis: ordered_reduce(PLAIN[self.function], moved, axis))
        return reduce_axis(self.function, self.kind, value, value.ndim - 1)

    def grain(self, length: int) -> int:
        """A reduce axis of this length is cut at multiples of so many items."""
        return min(length, BLOCK) if self.function in REDUCTIONS else length

    def room(self, extents: tuple[int, ...], axis: int) -> NumArray:
        """Room for partial results on `axis`: one a block in the order of sums, else one."""
        count = -(-extents[axis] // BLOCK) if self.ordered else 1
        made: NumArray = room((*extents[:axis], count, *extents[axis + 1 :]), DTYPES[self.kind])
        return made

    def put(self, partials: NumArray, box: tuple[slice, ...], axis: int, value: Any) -> None:
        """The partial results of a slice."""
        first = 0
        if self.ordered:
            part, first = block_partials(PLAIN[self.function], value, axis), box[axis].start // BLOCK
        else:
            part = np.expand_dims(reduce_axis(self.function, self.kind, value, axis), axis)
        own = partials[(*box[:axis], slice(first, first + part.shape[axis]), *box[axis + 1 :])]
        own[...] = PLAIN[self.function](own, part) if box[axis].start and not self.ordered else part

    def combine(self, partials: NumArray, axis: int) -> Any:
        return combine_tree(PLAIN[self.function], partials, axis) if self.ordered else partials.squeeze(axis)


EXTREMES: Final = {"greatest_place": "max", "least_place": "min"}


def reduced(reductions: Sequence[Reduction], values: Sequence[Any]) -> list[Any]:
    """The last axis of each value in one go.  An extreme of a vector is the item at its place, unless that is NaN or a zero."""
    first, last, value = reductions[0], reductions[-1], values[0]
    if len(reductions) == 2 and value.ndim == 1 and first.node == last.node and EXTREMES.get(last.function) == first.function:
        place = _plain_place(last.function, value, 0)
        if place is not None and value[place]:
            return [value[place], place]
    return [reduction.whole(own) for reduction, own in zip(reductions, values, strict=True)]


ALONG: Final = "along_"
"""What the functions that reduce rows begin with (`graph.chains`)."""


def along(function: str, kind: Kind, length: int) -> Callable[..., Any]:
    """The reduction of the last axis, of this length, as a function whose result has length 1 there."""
    reduction = Reduction(0, function, kind)

    def reduce(value: Any, out: None) -> Any:
        if value.shape[-1:] != (length,):
            value = np.broadcast_to(value, (*value.shape[:-1], length))
        return np.asarray(reduction.whole(value))[..., np.newaxis]

    return reduce


def compile_reduction(result: Result, body: Sequence[Node], kind: Kind) -> Reduction:
    assert result.reduction is not None
    node = body[result.node]
    if result.reduction == "add" and isinstance(node, ApplyNode) and node.function == "convert" and kind is Kind.I64:
        source = body[node.args[0]]
        if getattr(source, "kind", None) is Kind.BOOL:
            return Reduction(node.args[0], "add", kind)
    return Reduction(result.node, result.reduction, kind)


def reduce_axis(function: str, kind: Kind, value: Any, axis: int) -> Any:
    """Reduce one axis of length ≥ 1 with a function that is exact in any order, or from the right, or to a place."""
    if function in PLACES:
        found = _plain_place(function, value, axis)
        if found is not None:
            return found
        from .order import order_columns

        (keys,) = order_columns(value, descending=function == "greatest_place")
        return np.asarray(np.argmin(keys, axis), np.int64)
    if function == "add" and value.dtype == bool and value.ndim == 1:
        return np.int64(np.count_nonzero(value))
    ufunc = np.gcd if function == "gcd" else PLAIN[function] if function in REDUCTIONS else None
    if function == "gcd" and value.shape[axis] == 1:  # an item alone is itself, whatever its sign
        ufunc = None
    if ufunc is not None and not (function == "gcd" and not kind.is_integer):
        if function in SELECTIVE:
            found = ufunc.reduce(value, axis)
            return found + found.dtype.type(0) if kind.is_float else found  # a zero has no sign
        return ufunc.reduce(value, axis, DTYPES[kind])
    from .sequential import from_the_right

    return from_the_right(function, kind, np.moveaxis(value, axis, 0))


def _plain_place(function: str, value: Any, axis: int) -> Any:
    """The place where there is no NaN, which NumPy would find first; None: there may be one."""
    if value.dtype.kind == "c":
        return None
    find = np.argmin if function == "least_place" else np.argmax
    places = np.asarray(find(value, axis), np.int64)
    if value.dtype.kind == "f" and np.isnan(np.take_along_axis(value, np.expand_dims(places, axis), axis)).any():
        return None
    return places


def identity_array(function: str | None, kind: Kind, shape: tuple[int, ...]) -> NumArray:
    """What an empty reduction gives, everywhere; without a function an array that has no elements."""
    if function is None or 0 in shape:
        return np.empty(shape, DTYPES[kind])
    value = identity_of(function, kind)
    if value is None:
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
    return np.full(shape, value, DTYPES[kind])
