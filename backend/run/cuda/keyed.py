"""Keyed reductions of one number a key, by generated kernels.

Neighbours: `kernels.cuda_bins` (the text), `library`; `cpu.library.keyed` (the definition on NumPy).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...kernels.cuda_bins import GROUPED, SCATTER, grouped_text, is_scattered, scatter_text
from ...kernels.cuda_reductions import THREADS
from ...kernels.scalar_text import identity as unchanging
from ..cpu.kinds import DTYPES
from ..failures import CheckFailed
from .selecting import check_indices
from .sorting import stable_order

if TYPE_CHECKING:
    from .library import Call


def key_reduce(call: Call, arrays: Any) -> Any:
    xp, kind, function, shape = call.xp, call.kind(), call.function(), call.shape()
    bins = shape[0]
    keys, items = xp.ascontiguousarray(arrays[0].reshape(-1).astype(np.int64)), xp.ascontiguousarray(arrays[1].reshape(-1))
    check_indices(keys, bins, checked=call.flag("checked"))
    blocks = -(-keys.size // THREADS)
    if is_scattered(function, kind):
        result = xp.full((bins,), unchanging(function, kind), DTYPES[kind])
        if keys.size:
            text = scatter_text(function, kind)
            call.modules.launch(text, SCATTER, blocks, (keys.size, *_addresses(keys, items, result)))
        if function in ("min", "max"):
            _fill_empty(call, function, kind, xp.bincount(keys, minlength=bins) == 0, result)
        return result
    order = stable_order(xp, keys)
    starts = xp.searchsorted(xp.take(keys, order), xp.arange(bins + 1)).astype(np.int64)
    result = xp.empty((bins,), DTYPES[kind])
    _fill_empty(call, function, kind, starts[1:] == starts[:-1], result)
    if keys.size:
        words = (bins, *_addresses(starts, order, items, result))
        call.modules.launch(grouped_text(function, kind), GROUPED, -(-bins // THREADS), words)
    return result


def _addresses(*arrays: Any) -> tuple[int, ...]:
    return tuple(int(array.data.ptr) for array in arrays)


def _fill_empty(call: Call, function: str, kind: Kind, empty: Any, result: Any) -> None:
    """What no items give, in the bins that have none; E204 where there is no such value."""
    value = FUNCTIONS[function].identity
    if value is not None:
        result[empty] = value
    elif bool(empty.any()):
        raise CheckFailed("E204", f"{function} of no items has no value")
