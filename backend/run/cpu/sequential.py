"""Scans, and reductions by functions that are not associative, along one axis.

Order is that of `reference.reductions`: that of `reference.scans` for float `add` and `mul`, running left to right for the other
associative functions, alternating for `sub` and `div`, right to left for each prefix of the rest.  Where NumPy has no loop
that keeps the order, it is called once a step.

Neighbours: `truths` (comparisons and Boolean functions in linear time), `backend.library.scans` and `keyed` (ask).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS, SUMMED, identity_of
from ...scalar.table import REDUCTIONS
from ..failures import CheckFailed
from ..scans_numpy import ordered_scan
from .kinds import DTYPES, NumArray
from .reals import PLAIN
from .scalars import implementation
from .truths import is_truth_function, truth_scan

ALTERNATING: Final = {"sub": "add", "div": "mul"}
"""Whose scan applies this other function at every second item."""


def running_ufunc(function: str, kind: Kind) -> np.ufunc | None:
    """The ufunc whose `accumulate` and `at` are the function, if there is one."""
    if function == "gcd":
        return np.gcd if kind.is_integer else None
    return PLAIN[function] if function in REDUCTIONS else None


def identity(function: str, kind: Kind) -> NumArray:
    """What no items give; E204 where there is no such value."""
    value = identity_of(function, kind)
    if value is None:
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
    return np.array(value, DTYPES[kind])


# ------------------------------------------------------------------------------------- reductions


def from_the_right(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Reduce the leading axis (length ≥ 1), right to left."""
    if is_truth_function(function, kind):
        return np.array(truth_scan(function, kind, items)[-1])
    if function == "sub" and not kind.is_complex:
        return _alternating_sum(kind, items)
    apply = implementation(function, kind, kind)
    result = np.array(items[-1])
    for i in range(len(items) - 2, -1, -1):
        result = apply(items[i], result)
    return np.asarray(result)


def _alternating_sum(kind: Kind, items: NumArray) -> NumArray:
    """x₀-(x₁-(x₂-…)).  With every second item negated it is a running sum from the right: the same roundings, as these are
    symmetric; only the sign of an inner zero or NaN may differ, which shows at most in the sign of a result that is one."""
    signed = _alternately_negated(items)
    if kind.is_integer:
        return np.asarray(np.add.reduce(signed, axis=0, dtype=items.dtype))
    result = np.asarray(np.add.accumulate(signed[::-1], axis=0)[-1])
    if np.all((result != 0) & (result == result)):
        return result
    exact: NumArray = np.array(items[-1])
    for i in range(len(items) - 2, -1, -1):
        np.subtract(items[i], exact, out=exact)
    return exact


def _alternately_negated(items: NumArray) -> NumArray:
    """Not with `out`: NumPy 2.4.6 negates 32-bit items wrongly where operand (by 4) and result (by 2 or more) are strided."""
    signed: NumArray = items.copy()
    signed[1::2] = -items[1::2]
    return signed


# ------------------------------------------------------------------------------------------ scans


def scanned_along(function: str, kind: Kind, arg: NumArray, axis: int) -> NumArray:
    """Scan an axis."""
    if not arg.size:
        return arg.copy()
    ufunc, items = running_ufunc(function, kind), np.moveaxis(arg, axis, 0)
    if ufunc is None:
        return np.ascontiguousarray(np.moveaxis(scanned(function, kind, items), 0, axis))
    result = np.empty(arg.shape, arg.dtype)
    if kind.is_float and function in SUMMED:
        ordered_scan(ufunc, items, np.moveaxis(result, axis, 0))
    else:
        ufunc.accumulate(arg, axis, arg.dtype, result)
    return result


def scanned(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Scan the leading axis, which is not empty."""
    if is_truth_function(function, kind):
        return truth_scan(function, kind, items)
    if function == "sub":
        return np.asarray(np.add.accumulate(_alternately_negated(items), axis=0, dtype=items.dtype))
    result = items.copy()
    if function in ALTERNATING or FUNCTIONS[function].associative:
        steps = [implementation(name, kind, kind) for name in (ALTERNATING.get(function, function), function)]
        for i in range(1, len(items)):
            result[i] = steps[i % 2](result[i - 1], items[i])
        return result
    apply = implementation(function, kind, kind)
    for i in range(len(items) - 2, -1, -1):  # every prefix that reaches beyond item i takes one step
        result[i + 1 :] = apply(np.broadcast_to(items[i], result[i + 1 :].shape), result[i + 1 :])
    return result
