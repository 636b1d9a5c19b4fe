"""Keyed reductions, by generated kernels.

Neighbours: `kernels.cuda_bins` (the text), `library`; `cpu.library.keyed` (the definition on NumPy).
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.scalars import identity_of, neutral
from ...kernels.complexes import PART
from ...kernels.cuda_bins import GROUPED, PRIVATE, SCATTER, fits_shared, grouped_text, is_scattered, scatter_text
from ...kernels.cuda_words import THREADS
from ...library.selecting import check_indices
from ..cpu.kinds import DTYPES
from ..failures import CheckFailed
from .call import Call
from .sorting import stable_order


def key_reduce(call: Call, arrays: Any) -> Any:
    """Cells of several items have one after the other in each bin; sums of complex numbers are two of floats."""
    xp, function, shape = call.xp, call.function(), call.shape()
    bins, kind, items = shape[0], call.kind(), xp.ascontiguousarray(arrays[1])
    keys = xp.ascontiguousarray(arrays[0].reshape(-1).astype(np.int64))
    if kind.is_complex:
        kind = PART[kind]
        items = items.reshape(-1).view(DTYPES[kind])
    width = items.size // keys.size if keys.size else 0
    flat = (bins, width if keys.size else prod(shape[1:]) * (2 if call.kind().is_complex else 1))
    result = (
        _scattered(call, kind, keys, items, flat) if is_scattered(function, kind) else _grouped(call, kind, keys, items, flat)
    )
    return (result.reshape(-1).view(DTYPES[call.kind()]) if call.kind().is_complex else result).reshape(shape)


def _scattered(call: Call, kind: Kind, keys: Any, items: Any, shape: tuple[int, int]) -> Any:
    xp, function, checked, (bins, width) = call.xp, call.function(), call.flag("checked"), shape
    result = xp.full(shape, neutral(function, kind), DTYPES[kind])
    if keys.size and (width or checked):
        failed = xp.zeros((1,), np.int32) if checked else None
        blocks = -(-items.size // THREADS)
        private = width == 1 and fits_shared(bins, kind) and keys.size >= _FEW * bins
        words = (keys.size, width, bins, *_addresses(keys, items, result), 0 if failed is None else int(failed.data.ptr))
        text = scatter_text(function, kind)
        if width:
            call.modules.launch(text, PRIVATE if private else SCATTER, min(blocks, _BLOCKS) if private else blocks, words)
        if failed is not None and (not width or bool(failed.item())):
            check_indices(keys, bins, checked=True)
    if function in ("min", "max"):
        _fill_empty(call, function, xp.bincount(keys, minlength=bins) == 0, result)
    return result


def _grouped(call: Call, kind: Kind, keys: Any, items: Any, shape: tuple[int, int]) -> Any:
    xp, function, (bins, width) = call.xp, call.function(), shape
    if call.flag("checked"):
        check_indices(keys, bins, checked=True)
    order = stable_order(xp, keys)
    starts = xp.searchsorted(xp.take(keys, order), xp.arange(bins + 1)).astype(np.int64)
    result = xp.empty(shape, DTYPES[kind])
    _fill_empty(call, function, starts[1:] == starts[:-1], result)
    if items.size:
        words = (bins, width, *_addresses(starts, order, items, result))
        call.modules.launch(grouped_text(function, kind), GROUPED, -(-bins * width // THREADS), words)
    return result


_FEW = 64
"""Items a bin from which blocks of threads have bins of their own."""
_BLOCKS = 1 << 11


def _addresses(*arrays: Any) -> tuple[int, ...]:
    return tuple(int(array.data.ptr) for array in arrays)


def _fill_empty(call: Call, function: str, empty: Any, result: Any) -> None:
    """What no items give, in the bins that have none; E204 where there is no such value."""
    value = identity_of(function, call.kind())
    if value is not None:
        result[empty] = value
    elif bool(empty.any()):
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
