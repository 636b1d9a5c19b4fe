"""Keyed reduction: cells reduced by bin, in the order of the cells.

All run left to right in each bin, as the reference does, so float results have its bits.  The functions without such a loop in
NumPy go through a stable sort by bin: small groups step together, one item of each a step; large ones are
reduced one by one.

Neighbours: `sequential` (reduces one group), `selecting` (checks indices); `reference.reductions.key_reduce`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS, neutral
from ..graph.scratch import BINNED
from ..run.cpu.kinds import DTYPES, NumArray
from ..run.cpu.scalars import implementation
from ..run.cpu.scattering import reduce_by_key
from ..run.cpu.sequential import from_the_right, identity, running_ufunc, scanned
from .frames import Arrays, Call, Operation, whole
from .keys import stable_order
from .selecting import check_indices

_FEW_COLUMNS: Final = 16
_LARGE_GROUP: Final = 256
_FEW_GROUPS: Final = 4
"""Of so many at most each is reduced item by item: a step of all together takes as long as some items of one."""
_AS_BYTES: Final = {np.logical_or: np.maximum, np.logical_and: np.minimum}
"""Of which NumPy has no loop that is as quick."""


def key_reduce(call: Call, arrays: Arrays) -> Arrays:
    """Frames are more bins: bin b of frame point f is bin f×bins+b."""
    indices, arg = call.batched(arrays)
    count, shape = math.prod(call.frame), call.shape()
    bins, cell = shape[0], shape[1:]
    result_shape = (count, *shape)
    if not count:
        return call.unbatched(np.empty(result_shape, arg.dtype))
    indices = indices.reshape(len(indices), -1).astype(np.int64, copy=False)
    width = math.prod(cell)
    if width == 1 and not call.rank:
        values = np.broadcast_to(arg, (1, *arg.shape[1:])).reshape(-1)
        made = reduce_by_key(call.function(), call.kind(), indices.reshape(-1), values, bins, call.threads)
        if made is not None:
            return call.unbatched(made.reshape(result_shape))
    check_indices(indices, bins, checked=call.flag("checked"), place=call.phase.indexing)
    keys = (np.arange(count)[:, np.newaxis] * bins + indices).reshape(-1)
    items = np.broadcast_to(arg, (count, *arg.shape[1:])).reshape(len(keys), width)
    if not width:
        return call.unbatched(np.empty(result_shape, arg.dtype))
    reduced = _reduced(call.function(), call.kind(), keys, items, count * bins)
    return call.unbatched(reduced.reshape(result_shape))


def _reduced(function: str, kind: Kind, keys: NumArray, items: NumArray, bins: int) -> NumArray:
    """Rows of `items` to `bins` rows.  What a bin starts with leaves even the sign of a zero as it is."""
    ufunc = running_ufunc(function, kind)
    start = complex(-0.0, -0.0) if kind.is_complex and function == "add" else neutral(function, kind)
    if ufunc is None:
        start, result = 0, np.zeros((bins, items.shape[1]), DTYPES[kind])
        if len(keys):
            _by_group(function, kind, keys, items, result)
    elif ufunc in _AS_BYTES:
        result = _scattered(_AS_BYTES[ufunc], keys, items.view(np.uint8), bins, start).view(np.bool_)
    else:
        result = _scattered(ufunc, keys, items, bins, start)
    if ufunc is np.gcd:  # a lone item stays as it is, even below 0
        alone = np.bincount(keys, minlength=bins)[keys] == 1
        result[keys[alone]] = items[alone]
    empty = result[:, 0] == start
    if empty.any():
        empty[keys] = False
        if empty.any():
            result[empty] = identity(function, kind)
    return result


def _scattered(ufunc: np.ufunc, keys: NumArray, items: NumArray, bins: int, start: complex) -> NumArray:
    """`ufunc.at`, which runs in the order of the items.  It goes over them once, in blocks that stay in the nearest caches."""
    width = items.shape[1]
    few = width <= _FEW_COLUMNS
    result = np.full((width, bins) if few else (bins, width), start, items.dtype)
    rows = max(1, BINNED // width)
    for first in range(0, len(keys), rows):
        own, block = keys[first : first + rows], items[first : first + rows]
        if few:
            for column, part in zip(result, np.ascontiguousarray(block.T), strict=True):
                ufunc.at(column, own, part)
        else:
            places = own[:, np.newaxis] * width + np.arange(width)
            ufunc.at(result.reshape(-1), places.reshape(-1), np.ascontiguousarray(block).reshape(-1))
    return np.ascontiguousarray(result.T) if few else result


# ----------------------------------------------------------------------------------------- groups


def _by_group(function: str, kind: Kind, keys: NumArray, items: NumArray, result: NumArray) -> None:
    """Associative functions run left to right in a group, the others right to left."""
    order = stable_order(keys)
    ordered = items[order]
    sorted_keys = keys[order]
    starts = np.flatnonzero(np.append(True, sorted_keys[1:] != sorted_keys[:-1]))
    stops = np.append(starts[1:], len(keys))
    leftwards = not FUNCTIONS[function].associative
    by_item = not leftwards and kind is not Kind.BOOL
    large = stops - starts > (max(_LARGE_GROUP, len(keys) // _FEW_GROUPS) if by_item else _LARGE_GROUP)
    for start, stop in zip(starts[large].tolist(), stops[large].tolist(), strict=True):
        group = ordered[start:stop]
        result[sorted_keys[start]] = from_the_right(function, kind, group) if leftwards else scanned(function, kind, group)[-1]
    starts, stops = starts[~large], stops[~large]
    apply = implementation(function, kind, Kind.BOOL if FUNCTIONS[function].result.name == "BOOL" else kind)
    _step_together(apply, ordered, starts, stops, sorted_keys, result, leftwards=leftwards)


def _step_together(apply: Callable[..., Any], ordered: NumArray, starts: NumArray, stops: NumArray, keys: NumArray,
                   result: NumArray, *, leftwards: bool) -> None:  # fmt: skip
    """Every group takes its k-th step at once."""
    if not len(starts):
        return
    bins = keys[starts]
    result[bins] = ordered[stops - 1 if leftwards else starts]
    for k in range(1, int((stops - starts).max())):
        going = stops - starts > k
        bins, starts, stops = bins[going], starts[going], stops[going]
        if leftwards:
            result[bins] = apply(ordered[stops - 1 - k], result[bins])
        else:
            result[bins] = apply(result[bins], ordered[starts + k])


KEYED: Final[dict[str, Operation]] = {"key_reduce": whole(key_reduce)}
