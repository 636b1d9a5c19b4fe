"""The definitions of `kernels.mathematics` on NumPy arrays: the same bits as kernels give.

Without llvmlite there is no other tier to agree with, and NumPy's own functions are used, which are faster here.

Neighbours: `scalars` (asks here first), `kernels.mathematics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ....typechecker.elements import Kind
from ...kernels.error_table import entries
from ...kernels.llvm_leaf import is_installed
from ...kernels.mathematics import definition
from .kinds import DTYPES, NumArray


class Arrays:
    """`kernels.mathematics.Machine` on arrays."""

    def choose(self, condition: Any, x: Any, y: Any) -> Any:
        return np.where(condition, x, y)

    def magnitude(self, x: Any) -> Any:
        return np.absolute(x)

    def bits(self, x: Any) -> Any:
        x = np.asarray(x)
        return x.view(np.int64 if x.dtype == np.float64 else np.int32)

    def float_of(self, bits: Any) -> Any:
        bits = np.asarray(bits)
        return bits.view(np.float64 if bits.dtype == np.int64 else np.float32)

    def lookup(self, table: str, index: Any) -> Any:
        return _table(table)[index]

    def patch(self, name: str, where: Any, x: Any, value: Any) -> Any:
        if not np.any(where):
            return value
        patched, items = np.array(value), np.asarray(x)[where].tolist()
        function = getattr(math, name)
        patched[where] = [function(item) if math.isfinite(item) else math.nan for item in items]
        return patched


_ARRAYS = Arrays()


@cache
def _table(name: str) -> NumArray:
    return np.array(entries(name))


def own_function(function: str, kind: Kind, parameter: int) -> Callable[..., Any] | None:
    """`f(x, out)` of a function that kernels define, where there may be kernels."""
    found = definition(function, parameter, kind)
    if found is None or not is_installed():
        return None
    compute, working, dtype = found.compute, DTYPES[found.kind], DTYPES[kind]

    def apply(x: Any, out: NumArray | None = None) -> Any:
        made = np.asarray(compute(np.asarray(x, working), _ARRAYS))
        if out is None:
            return made.astype(dtype, copy=False)
        np.copyto(out, made, casting="unsafe")
        return out

    return apply
