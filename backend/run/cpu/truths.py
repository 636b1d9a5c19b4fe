"""Scans of functions whose results are truth values, in linear time; their last item is the reduction from the right.

Every function here gives 0 or 1, so after its first step a reduction `x₀ f x₁ f … f xᵢ` carries a truth value, and each
earlier item is a map of {0, 1} to itself: the identity, the negation, or a constant.  With b = f(xᵢ₋₁, xᵢ) the result
is b, negated once for every negation before xᵢ₋₁; or, if an item p before xᵢ₋₁ is constant, the first such constant
negated once for every negation before p.  Comparisons of numbers give 0 and 1 of the numbers' kind.

Neighbours: `sequential` (calls this), `reference.reductions` (the definition).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS, ResultKind
from .kinds import NumArray
from .scalars import implementation


def is_truth_function(function: str, kind: Kind) -> bool:
    return kind is Kind.BOOL or FUNCTIONS[function].result is ResultKind.BOOL


def _maps(function: str, kind: Kind, items: NumArray) -> tuple[Any, NumArray, NumArray, NumArray]:
    """The function; of each item as a map: its value at 0, whether it is constant, whether it negates."""
    apply = implementation(function, kind, Kind.BOOL)
    at_zero = np.asarray(apply(items, np.array(0, items.dtype)))
    at_one = np.asarray(apply(items, np.array(1, items.dtype)))
    return apply, at_zero, at_zero == at_one, at_zero & ~at_one


def truth_scan(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Scan the leading axis: item i is the reduction of the first i + 1 items."""
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
