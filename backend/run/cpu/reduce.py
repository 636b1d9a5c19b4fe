"""Reductions of one axis, whole or from partial results, each in its documented order.

Float and complex sums and products follow `sums_numpy`; every other associative function is exact in any order, so
partial results of slices are combined as they come.

Neighbours: `slices` (reduces slice by slice), `body` (rows of a chain), `library` (sequential reductions and scans).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import SELECTIVE, is_ordered
from ...graph.phases import PLACES
from ...kernels.ir import BLOCK
from ...scalar.table import REDUCTIONS
from ..pool import room
from ..sums_numpy import block_partials, combine_tree
from .kinds import DTYPES, NumArray
from .order import order_columns
from .reals import PLAIN
from .sequential import from_the_right, identity, running_ufunc


@dataclass(frozen=True, slots=True)
class Reduction:
    """Reduce body slot `node` with `function`."""

    node: int
    function: str
    kind: Kind

    @property
    def ordered(self) -> bool:
        return is_ordered(self.function, self.kind)

    def partials(self, value: Any) -> Any:
        """One partial result a block in the order of sums, else one."""
        if self.ordered:
            return block_partials(PLAIN[self.function], value)
        return np.asarray(reduce_first(self.function, self.kind, value))[np.newaxis]

    def grain(self, length: int) -> int:
        """A reduced axis of this length is cut at multiples of so many items."""
        return min(length, BLOCK) if self.function in REDUCTIONS else length

    def room(self, extents: tuple[int, ...]) -> NumArray:
        """Room for the partial results of items of these extents, of which the first is reduced."""
        count = -(-extents[0] // BLOCK) if self.ordered else 1
        made: NumArray = room((count, *extents[1:]), DTYPES[self.kind])
        return made

    def put(self, partials: NumArray, box: tuple[slice, ...], value: Any) -> None:
        """The partial results of a slice."""
        part, first = self.partials(value), box[0].start // BLOCK if self.ordered else 0
        own = partials[(slice(first, first + len(part)), *box[1:])]
        own[...] = PLAIN[self.function](own, part) if box[0].start and not self.ordered else part

    def combine(self, partials: NumArray) -> Any:
        return combine_tree(PLAIN[self.function], partials) if self.ordered else partials[0]


ALONG: Final = "along_"
"""What the functions that reduce rows begin with (`graph.chains`)."""


def along(function: str, kind: Kind, length: int) -> Callable[..., Any]:
    """The reduction of the last axis, of this length, as a function whose result has length 1 there."""
    reduction = Reduction(0, function, kind)

    def reduce(value: Any) -> Any:
        if value.shape[-1:] != (length,):
            value = np.broadcast_to(value, (*value.shape[:-1], length))
        return np.asarray(reduction.combine(reduction.partials(np.moveaxis(value, -1, 0))))[..., np.newaxis]

    return reduce


def reduce_first(function: str, kind: Kind, value: Any) -> Any:
    """Reduce the leading axis, of length ≥ 1, with a function that is exact in any order, or from the right, or to a place."""
    if function in PLACES:
        places = np.asarray((np.argmin if function == "least_place" else np.argmax)(value, 0))
        if np.isnan(np.take_along_axis(value, places[np.newaxis], 0)).any():  # which NumPy finds first, and comes last
            (keys,) = order_columns(value, descending=function == "greatest_place")
            places = np.argmin(keys, 0)
        return places
    ufunc = running_ufunc(function, kind)
    if ufunc is None or (function == "gcd" and len(value) == 1):  # an item alone is itself, whatever its sign
        return from_the_right(function, kind, value)
    if function in SELECTIVE:
        found = ufunc.reduce(value, 0)
        return found + found.dtype.type(0) if kind.is_float else found  # a zero has no sign
    return ufunc.reduce(value, 0, DTYPES[kind])


def identity_array(function: str | None, kind: Kind, shape: tuple[int, ...]) -> NumArray:
    """What an empty reduction gives, everywhere; without a function an array that has no elements."""
    if function is None or 0 in shape:
        return np.empty(shape, DTYPES[kind])
    return np.full(shape, identity(function, kind))
