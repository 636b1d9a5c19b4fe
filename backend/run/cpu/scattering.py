"""Keyed reductions of one number a key through a compiled loop.

Whole numbers and truth values are exact in any order: several tables, and a set of them for each thread.  Floats run in the
order of the items of each key, as their definition says: on one thread, or where keys ascend in pieces of whole runs.

Neighbours: `loops.written` (the loop), `library.keyed` (asks here first).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import neutral
from ...kernels.build import KINDS
from ...kernels.ir import Step
from ...kernels.policy import PIECES_NANOSECONDS as PARALLEL
from ...loops.written import Scatter
from ...scalar.table import REDUCTIONS
from .kinds import DTYPES, NumArray, start_of
from .reals import PLAIN
from .sharing import address_for, run_once

LEAST: Final = 1 << 14
_TABLES: Final = 4
_TABLE_BYTES: Final = 1 << 18
"""Larger tables are not multiplied: they would not stay in cache.  Nor are tables that are not small beside the keys, so that all
together they are less than the scratch memory of the phase."""
_MOST_PIECES: Final = 8
_GLANCE: Final = 64
"""Keys that ascend if all do."""
_SAVED: Final = 4.0
"""Nanoseconds an item over NumPy."""
_EACH: Final = 1.0


def reduce_by_key(function: str, kind: Kind, keys: NumArray, items: NumArray, bins: int, threads: int) -> Any:
    """The bins' values; None where NumPy has to do it (or has as good a way), or a key is not a bin."""
    count = len(keys)
    if kind not in KINDS or kind is Kind.CHAR or function not in REDUCTIONS or len(items) != count:
        return None
    if items.dtype != DTYPES[kind] or keys.dtype != np.int64:
        return None
    exact = not kind.is_float
    small = bins * kind.bytes * _TABLES <= min(_TABLE_BYTES, count)
    stride = items.strides[0]
    step = Step.NONE if stride == 0 else Step.UNIT if stride == kind.bytes else Step.STRIDED
    code = Scatter(function, kind, _TABLES if exact and small else 1, keys.strides[0] == keys.itemsize, step)
    address = address_for(code, count, LEAST, count * _SAVED)
    if address is None:
        return None
    pieces = min(threads, _MOST_PIECES) if count >= PARALLEL else 1
    tables = None
    if code.tables == 1 and bool((keys[1:_GLANCE] >= keys[: _GLANCE - 1][: count - 1]).all()):
        tables = _by_runs(replace(code, runs=True), keys, items, bins, pieces)
    if tables is None:
        pieces = pieces if exact and small else 1
        tables = np.full((pieces * code.tables, bins), neutral(function, kind), DTYPES[kind])
        each = -(-count // pieces)
        if not _run(code, address, keys, items, tables, [min(piece * each, count) for piece in range(pieces + 1)]):
            return None
    result = PLAIN[function].reduce(tables, axis=0, dtype=DTYPES[kind]) if len(tables) > 1 else tables[0]
    return _with_empty_bins(function, kind, keys, result)


def _by_runs(code: Scatter, keys: NumArray, items: NumArray, bins: int, pieces: int) -> NumArray | None:
    """One table, where all keys ascend: no two pieces have a key in common.  None where they do not, or there is no such code."""
    count = len(keys)
    address = address_for(code, count, LEAST, count * _SAVED)
    if address is None:
        return None
    starts = [0]
    for piece in range(1, pieces):
        near = max(starts[-1], piece * count // pieces)
        start = near + int(np.searchsorted(keys[near:], keys[near], "right")) if near < count else count
        if start < count and keys[start - 1] > keys[start]:
            return None
        starts.append(start)
    table: NumArray = np.full((1, bins), neutral(code.function, code.kind), DTYPES[code.kind])
    return table if _run(code, address, keys, items, table, [*starts, count]) else None


def _run(code: Scatter, address: int, keys: NumArray, items: NumArray, tables: NumArray, bounds: list[int]) -> bool:
    """Each piece with tables of its own, or all with one.  Did they take all keys?"""
    pieces = len(bounds) - 1
    each = len(tables) // pieces
    key_address, item_address = start_of(keys), start_of(items)
    table_address, pitch = start_of(tables), tables.strides[0]
    key_stride, item_stride = keys.strides[0], items.strides[0]
    calls: list[list[int]] = []
    for piece, (start, stop) in enumerate(pairwise(bounds)):
        if start >= stop:
            continue
        words = [stop - start, tables.shape[1], key_address + start * key_stride]
        words += [] if code.unit else [key_stride]
        words += [item_address + start * item_stride, *([item_stride] if code.step is Step.STRIDED else [])]
        words += [table_address + piece * each * pitch, pitch]
        calls.append(words)
    return not run_once(address, calls, pieces, len(keys) * _EACH)


def _with_empty_bins(function: str, kind: Kind, keys: NumArray, result: NumArray) -> NumArray:
    """Bins without items hold the function's identity, which is not always what a table starts with."""
    from .sequential import identity

    if function in ("min", "max") or (kind.is_float and function == "add"):
        untouched = result == neutral(function, kind)
        if function == "add":
            untouched &= np.signbit(result)
        if untouched.any():
            untouched[keys[untouched.take(keys)]] = False  # touched by what changes nothing
            if untouched.any():
                result[untouched] = identity(function, kind)
    return result
