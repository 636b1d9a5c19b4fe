"""Reductions of one axis, whole or from partial results, each in its documented order.

Float and complex sums and products follow `sums_numpy`; every other associative function is exact in any order, so
partial results of pieces are combined as they come.  Counting (`+/` of a bool) does not widen its operand.

Neighbours: `structured` (the reduce axis is the last), `library` (sequential reductions and scans).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...graph.phases import ApplyNode, Node, Result
from ..failures import CheckFailed
from ..sums import BLOCK
from ..sums_numpy import block_partials, combine_tree, ordered_reduce
from .kinds import DTYPES, NumArray
from .scalars import PLAIN, implementation


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
        return self.function in ("add", "mul") and (self.kind.is_float or self.kind.is_complex)

    def whole(self, value: Any) -> Any:
        """The last axis in one go."""
        if self.ordered:
            return _in_layout(value, lambda moved, axis: ordered_reduce(PLAIN[self.function], moved, axis))
        if self.counts and value.ndim == 1:
            return np.int64(np.count_nonzero(value))
        return reduce_axis(self.function, self.kind, value, value.ndim - 1)

    def piece(self, length: int, points: int) -> int:
        """How much of a reduce axis of `length` to reduce at once."""
        if length <= points:
            return length
        return max(BLOCK, points // BLOCK * BLOCK)

    def partials(self, cells: tuple[int, ...], length: int, piece: int) -> tuple[NumArray, int]:
        """Room for the partial results, and how many one whole piece gives."""
        if self.ordered:
            return np.empty((*cells, -(-length // BLOCK)), DTYPES[self.kind]), -(-piece // BLOCK)
        return np.empty((*cells, -(-length // piece)), DTYPES[self.kind]), 1

    def partial(self, value: Any) -> Any:
        """Partial results of a piece, on the last axis."""
        if self.ordered:
            return block_partials(PLAIN[self.function], value, value.ndim - 1)
        return np.asarray(self.whole(value))[..., None]

    def combine(self, partials: NumArray) -> Any:
        if self.ordered:
            return combine_tree(PLAIN[self.function], partials, partials.ndim - 1)
        return reduce_axis(self.function, self.kind, partials, partials.ndim - 1)

    def threaded(self, value: Any, threads: int) -> Any:
        """`whole` with the work cut for a team: along the longest parallel axis, else the reduce axis."""
        from ..team import run_boxes

        length = value.shape[-1]
        cells = range(value.ndim - 1)
        lead = max(cells, key=lambda axis: (value.shape[axis] >= 4 * threads, abs(value.strides[axis])), default=-1)
        if lead >= 0 and value.shape[lead] >= 4 * threads:
            result = np.empty(value.shape[:-1], DTYPES[self.kind])
            step = -(-value.shape[lead] // (4 * threads))
            cuts = [(*(slice(None),) * lead, slice(i, i + step)) for i in range(0, value.shape[lead], step)]

            def reduce_cells(cut: tuple[slice, ...]) -> None:
                result[cut] = self.whole(value[cut])

            run_boxes(cuts, lambda: reduce_cells, threads)
            return result
        piece = max(BLOCK, -(-length // (8 * threads * BLOCK)) * BLOCK)
        partials, per_piece = self.partials(value.shape[:-1], length, piece)

        def reduce_piece(start: int) -> None:
            part = self.partial(value[..., start : start + piece])
            first = start // piece * per_piece
            partials[..., first : first + part.shape[-1]] = part

        run_boxes(range(0, length, piece), lambda: reduce_piece, threads)
        return self.combine(partials)


def compile_reduction(result: Result, body: Sequence[Node], kind: Kind) -> Reduction:
    assert result.reduction is not None
    node = body[result.node]
    if result.reduction == "add" and isinstance(node, ApplyNode) and node.function == "convert" and kind is Kind.I64:
        source = body[node.args[0]]
        if getattr(source, "kind", None) is Kind.BOOL:
            return Reduction(node.args[0], "add", kind, counts=True)
    return Reduction(result.node, result.reduction, kind, counts=False)


def reduce_axis(function: str, kind: Kind, value: Any, axis: int) -> Any:
    """Reduce one axis of length ≥ 1 with an associative function that is exact in any order."""
    ufunc = PLAIN.get(function) or {"gcd": np.gcd}.get(function)
    if ufunc is not None and not (function == "gcd" and not kind.is_integer):
        if function in ("min", "max"):
            return ufunc.reduce(value, axis)
        return ufunc.reduce(value, axis, DTYPES[kind])
    apply = implementation(function, kind, kind)
    moved = np.moveaxis(value, axis, 0)
    accumulated = moved[-1]
    for row in range(len(moved) - 2, -1, -1):
        accumulated = apply(moved[row], accumulated, None)
    return np.array(accumulated)


def identity_array(function: str | None, kind: Kind, shape: tuple[int, ...]) -> NumArray:
    """What an empty reduction gives, everywhere; without a function an array that has no elements."""
    if function is None or 0 in shape:
        return np.empty(shape, DTYPES[kind])
    value = FUNCTIONS[function].identity
    if value is None:
        raise CheckFailed("E204", f"{function} of no items has no value")
    return np.full(shape, value, DTYPES[kind])
