"""Reductions of one axis, whole or from partial results, each in its documented order.

Float and complex sums and products follow `sums_numpy`; every other associative function is exact in any order, so
partial results of pieces are combined as they come.  Counting (`+/` of a bool) does not widen its operand.

Neighbours: `structured` (the reduce axis is the last), `library` (sequential reductions and scans).
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
from ...scalar.table import REDUCTIONS
from ..failures import CheckFailed
from ..sums import BLOCK
from ..sums_numpy import block_partials, combine_tree, ordered_reduce
from ..team import run_boxes
from .kinds import DTYPES, NumArray
from .reals import PLAIN

_RUN: Final = 256
"""Cells next to each other in memory that one thread takes at least."""


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
    """Reduce body slot `node` with `function`; `counts`: the slot is bool and the result its number of true elements."""

    node: int
    function: str
    kind: Kind
    counts: bool

    @property
    def ordered(self) -> bool:
        return is_ordered(self.function, self.kind)

    def whole(self, value: Any) -> Any:
        """The last axis in one go."""
        if self.ordered:
            return _in_layout(value, lambda moved, axis: ordered_reduce(PLAIN[self.function], moved, axis))
        if self.counts and value.ndim == 1:
            return np.int64(np.count_nonzero(value))
        return reduce_axis(self.function, self.kind, value, value.ndim - 1)

    def piece(self, length: int, points: int, inner: bool) -> int:
        """How much of a reduce axis of `length` to reduce at once; `inner`: its items lie next to each other."""
        if (length <= points and inner) or self.function not in REDUCTIONS:
            return length
        return max(BLOCK, points // BLOCK * BLOCK) if inner else min(length, BLOCK)

    def parts(self, piece: int) -> int:
        """How many partial results a whole piece gives."""
        return -(-piece // BLOCK) if self.ordered else 1

    def room(self, cells: tuple[int, ...], axis: int, length: int, piece: int) -> NumArray:
        """Room for all partial results, on `axis`."""
        count = -(-length // (BLOCK if self.ordered else piece))
        return np.empty((*cells[:axis], count, *cells[axis:]), DTYPES[self.kind])

    def partial(self, value: Any, axis: int) -> Any:
        """Partial results of a piece, on the axis that is reduced."""
        if self.ordered:
            return block_partials(PLAIN[self.function], value, axis)
        if self.counts and value.ndim == 1:
            return np.array([np.count_nonzero(value)])
        return np.expand_dims(reduce_axis(self.function, self.kind, value, axis), axis)

    def combine(self, partials: NumArray, axis: int) -> Any:
        if self.ordered:
            return combine_tree(PLAIN[self.function], partials, axis)
        if self.function not in REDUCTIONS:
            return partials.take(0, axis)  # its axis is reduced in one piece
        return reduce_axis(self.function, self.kind, partials, axis)

    def threaded(self, value: Any, threads: int) -> Any:
        """`whole` with the work cut for a team: along the outermost parallel axis, else in pieces of the reduce axis."""
        length, last = value.shape[-1], value.ndim - 1
        lead = max(range(last), key=lambda axis: (value.shape[axis] >= 4 * threads, abs(value.strides[axis])), default=-1)
        if lead >= 0 and value.shape[lead] >= 4 * threads:
            result = np.empty(value.shape[:-1], DTYPES[self.kind])
            step = -(-value.shape[lead] // (4 * threads))
            if abs(value.strides[lead]) < abs(value.strides[last]):  # runs of cells: cutting them makes short runs
                step = max(_RUN, -(-value.shape[lead] // threads))
            cuts = [(*(slice(None),) * lead, slice(i, i + step)) for i in range(0, value.shape[lead], step)]

            def reduce_cells(cut: tuple[slice, ...]) -> None:
                result[cut] = self.whole(value[cut])

            run_boxes(cuts, lambda: reduce_cells, threads)
            return result
        if self.function in PLACES and value.ndim == 1:
            return self.place_in_pieces(value, threads)
        if self.function not in REDUCTIONS:
            return self.whole(value)
        piece = max(BLOCK, -(-length // (8 * threads * BLOCK)) * BLOCK)
        partials = self.room(value.shape[:-1], last, length, piece)

        def reduce_piece(start: int) -> None:
            part = self.partial(value[..., start : start + piece], last)
            first = start // piece * self.parts(piece)
            partials[..., first : first + part.shape[-1]] = part

        run_boxes(range(0, length, piece), lambda: reduce_piece, threads)
        return self.combine(partials, last)

    def place_in_pieces(self, value: Any, threads: int) -> Any:
        """The place among the places of pieces of a vector, the first of equals first."""
        found = self.plain_place(value, threads)
        return self.whole(value) if found is None else found

    def plain_place(self, value: Any, threads: int) -> Any:
        """The same where there is no NaN; None: there may be one."""
        piece = -(-len(value) // (4 * threads))
        found: dict[int, Any] = {}

        def find(start: int) -> None:
            found[start] = _plain_place(self.function, value[start : start + piece], 0)

        run_boxes(range(0, len(value), piece), lambda: find, threads)
        if any(place is None for place in found.values()):
            return None
        places = np.array([start + int(found[start]) for start in sorted(found)], np.int64)
        return places[int(_plain_place(self.function, value[places], 0))]


EXTREMES: Final = {"greatest_place": "max", "least_place": "min"}


def compile_reduction(result: Result, body: Sequence[Node], kind: Kind) -> Reduction:
    assert result.reduction is not None
    node = body[result.node]
    if result.reduction == "add" and isinstance(node, ApplyNode) and node.function == "convert" and kind is Kind.I64:
        source = body[node.args[0]]
        if getattr(source, "kind", None) is Kind.BOOL:
            return Reduction(node.args[0], "add", kind, counts=True)
    return Reduction(result.node, result.reduction, kind, counts=False)


def reduce_axis(function: str, kind: Kind, value: Any, axis: int) -> Any:
    """Reduce one axis of length ≥ 1 with a function that is exact in any order, or from the right, or to a place."""
    if function in PLACES:
        found = _plain_place(function, value, axis)
        if found is not None:
            return found
        from .library.keys import order_columns

        (keys,) = order_columns(value, descending=function == "greatest_place")
        return np.asarray(np.argmin(keys, axis), np.int64)
    ufunc = np.gcd if function == "gcd" else PLAIN[function] if function in REDUCTIONS else None
    if function == "gcd" and value.shape[axis] == 1:  # an item alone is itself, whatever its sign
        ufunc = None
    if ufunc is not None and not (function == "gcd" and not kind.is_integer):
        if function in SELECTIVE:
            found = ufunc.reduce(value, axis)
            return found + found.dtype.type(0) if kind.is_float else found  # a zero has no sign
        return ufunc.reduce(value, axis, DTYPES[kind])
    from .library.sequential import from_the_right

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
