"""Scans, and reductions by functions that are not associative, along one axis.

Order is that of `reference.reductions`: that of `reference.scans` for float `add` and `mul`, running left to right for the other
associative functions, alternating for `sub` and `div`, right to left for each prefix of the rest.  Where NumPy has no loop
that keeps the order and the other axes are few, items go through Python one by one, which is faster than a NumPy call an item
and gives the same bits.

Neighbours: `truths` (comparisons and Boolean functions in linear time), `backend.library.scans` and `keyed` (ask).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS, SUMMED, identity_of
from ...scalar.special import real_quotient
from ...scalar.table import REDUCTIONS
from ..failures import CheckFailed
from ..scans_numpy import ordered_scan
from .kinds import DTYPES, NumArray
from .reals import PLAIN
from .scalars import implementation
from .truths import is_truth_function, truth_scan

Step = Callable[[Any, Any], Any]

ALTERNATING: Final = {"sub": "add", "div": "mul"}
"""Whose scan applies this other function at every second item."""
_FEW_COLUMNS: Final = 8
CHUNK: Final = 1 << 12
"""Items that are Python values at once."""

_IN_BINARY64: Final[dict[str, Step]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": real_quotient,
}  # fmt: skip


def running_ufunc(function: str, kind: Kind) -> np.ufunc | None:
    """The ufunc whose `accumulate` and `at` are the function, if there is one."""
    if function == "gcd":
        return np.gcd if kind.is_integer else None
    return PLAIN[function] if function in REDUCTIONS else None


def item_step(function: str, kind: Kind) -> Step:
    """The function on Python values of `kind`."""
    if kind is Kind.F64 and function in _IN_BINARY64:
        return _IN_BINARY64[function]
    apply, dtype = implementation(function, kind, kind), DTYPES[kind]
    return lambda x, y: apply(np.array(x, dtype), np.array(y, dtype)).astype(dtype).item()


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
    columns = math.prod(items.shape[1:])
    if columns <= _FEW_COLUMNS:
        return _folded_by_columns(items, item_step(function, kind))
    apply = implementation(function, kind, kind)
    result = np.array(items[-1])
    for i in range(len(items) - 2, -1, -1):
        result = apply(items[i], result)
    return np.asarray(result)


def _fold_right(items: Sequence[Any], step: Step) -> Any:
    accumulated = items[-1]
    for i in range(len(items) - 2, -1, -1):
        accumulated = step(items[i], accumulated)
    return accumulated


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
    if exact.size <= _FEW_COLUMNS:
        return _folded_by_columns(items, item_step("sub", kind))
    for i in range(len(items) - 2, -1, -1):
        np.subtract(items[i], exact, out=exact)
    return exact


def _alternately_negated(items: NumArray) -> NumArray:
    """Not with `out`: NumPy 2.4.6 negates 32-bit items wrongly where operand (by 4) and result (by 2 or more) are strided."""
    signed: NumArray = items.copy()
    signed[1::2] = -items[1::2]
    return signed


def _folded_by_columns(items: NumArray, step: Step) -> NumArray:
    """Each column from the right as Python values, a chunk at a time."""
    result = np.empty(items.shape[1:], items.dtype)
    for point in np.ndindex(result.shape):
        column = items[(slice(None), *point)]
        accumulated: Any = None
        for stop in range(len(column), 0, -CHUNK):
            chunk = column[max(stop - CHUNK, 0) : stop].tolist()
            if accumulated is not None:
                chunk.append(accumulated)
            accumulated = _fold_right(chunk, step)
        result[point] = accumulated
    return result


# ------------------------------------------------------------------------------------------ scans


def scanned_along(function: str, kind: Kind, arg: NumArray, axis: int) -> NumArray:
    """Scan an axis."""
    if not arg.size:
        return arg.copy()
    ufunc = running_ufunc(function, kind)
    if ufunc is not None:
        if kind.is_float and function in SUMMED:
            return ordered_scan(ufunc, arg, axis)
        return np.asarray(ufunc.accumulate(arg, axis, arg.dtype))
    items = np.moveaxis(arg, axis, 0)
    return np.ascontiguousarray(np.moveaxis(scanned(function, kind, items), 0, axis))


def scanned(function: str, kind: Kind, items: NumArray) -> NumArray:
    """Scan the leading axis, which is not empty."""
    if is_truth_function(function, kind):
        return truth_scan(function, kind, items)
    if function == "sub":
        return np.asarray(np.add.accumulate(_alternately_negated(items), axis=0, dtype=items.dtype))
    if function in ALTERNATING:
        return _running((ALTERNATING[function], function), kind, items)
    if FUNCTIONS[function].associative:
        return _running((function, function), kind, items)
    result = items.copy()
    if math.prod(items.shape[1:]) == 1 and len(items) <= _FEW_COLUMNS:
        column, step = items.reshape(-1).tolist(), item_step(function, kind)
        return np.array([_fold_right(column[: i + 1], step) for i in range(len(column))], items.dtype).reshape(items.shape)
    apply = implementation(function, kind, kind)
    for i in range(len(items) - 2, -1, -1):  # every prefix that reaches beyond item i takes one step
        result[i + 1 :] = apply(np.broadcast_to(items[i], result[i + 1 :].shape), result[i + 1 :])
    return result


def _running(functions: tuple[str, str], kind: Kind, items: NumArray) -> NumArray:
    """State i is functions[i mod 2] of state i-1 and item i."""
    result = np.empty_like(items)
    if math.prod(items.shape[1:]) <= _FEW_COLUMNS:
        steps = [item_step(function, kind) for function in functions]
        for point in np.ndindex(items.shape[1:]):
            _run(items[(slice(None), *point)], steps, result[(slice(None), *point)])
        return result
    applied = [implementation(function, kind, kind) for function in functions]
    result[0] = items[0]
    for i in range(1, len(items)):
        result[i] = applied[i % 2](result[i - 1], items[i])
    return result


def _run(column: NumArray, steps: Sequence[Step], result: NumArray) -> None:
    """The states of one column as Python values, a chunk at a time (`CHUNK` is even, so chunks start with `steps[0]`)."""
    state: Any = None
    for start in range(0, len(column), CHUNK):
        states: list[Any] = []
        for i, item in enumerate(column[start : start + CHUNK].tolist()):
            state = item if start + i == 0 else steps[i % 2](state, item)
            states.append(state)
        result[start : start + CHUNK] = states
