"""Keyed reductions, by generated kernels.

Neighbours: `loops.card_keyed` (the programs), `library`; `cpu.library.keyed` (the definition on NumPy).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ....typechecker.scalars import identity_of, neutral
from ...kernels.complexes import PART
from ...library.selecting import check_indices
from ...loops.card_keyed import MOST_BINS, Form, card_keyed
from ...loops.cuda import cuda_text
from ...loops.cuda.scalars import is_joined
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
    result = _scattered(call, kind, keys, items, flat) if is_joined(function, kind) else _grouped(call, kind, keys, items, flat)
    return (result.reshape(-1).view(DTYPES[call.kind()]) if call.kind().is_complex else result).reshape(shape)


def _scattered(call: Call, kind: Kind, keys: Any, items: Any, shape: tuple[int, int]) -> Any:
    xp, function, (bins, width) = call.xp, call.function(), shape
    result = xp.full(shape, neutral(function, kind), DTYPES[kind])
    if not width:
        check_indices(keys, bins, checked=call.flag("checked"), place=call.phase.indexing)
    elif keys.size:
        is_few = width == 1 and bins <= MOST_BINS and keys.size >= _MANY * bins
        if _run(call, kind, Form.FEW if is_few else Form.SCATTER, (keys, items, result)):
            check_indices(keys, bins, checked=True, place=call.phase.indexing)
    if function in ("min", "max"):
        _fill_empty(call, function, xp.bincount(keys, minlength=bins) == 0, result)
    return result


def _grouped(call: Call, kind: Kind, keys: Any, items: Any, shape: tuple[int, int]) -> Any:
    xp, function, bins = call.xp, call.function(), shape[0]
    if call.flag("checked"):
        check_indices(keys, bins, checked=True, place=call.phase.indexing)
    order = stable_order(xp, keys)
    starts = xp.searchsorted(xp.take(keys, order), xp.arange(bins + 1)).astype(np.int64)
    result = xp.empty(shape, DTYPES[kind])
    _fill_empty(call, function, starts[1:] == starts[:-1], result)
    if items.size:
        _run(call, kind, Form.GROUPED, (starts, order, items, result))
    return result


_MANY = 64
"""Items a bin from which blocks of threads have bins of their own."""


def _run(call: Call, kind: Kind, form: Form, arrays: Sequence[Any]) -> bool:
    """Did a check fail?"""
    *keys, items, result = arrays
    bins, width = result.shape
    sizes = {"count": keys[-1].size, "width": width, "bins": bins}
    apart = () if form is Form.FEW else (width * items.dtype.itemsize,)
    words = [sizes[name] for name in form.value] + [int(array.data.ptr) for array in keys]
    words += [word for array in (items, result) for word in (int(array.data.ptr), *apart)]
    return call.modules.run(cuda_text(card_keyed(call.function(), kind, form, checked=call.flag("checked"))), words)


def _fill_empty(call: Call, function: str, empty: Any, result: Any) -> None:
    """What no items give, in the bins that have none; E204 where there is no such value."""
    value = identity_of(function, call.kind())
    if value is not None:
        result[empty] = value
    elif bool(empty.any()):
        raise CheckFailed(Code.E204, f"{function} of no items has no value")
