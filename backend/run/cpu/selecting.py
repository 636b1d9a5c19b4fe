"""Compress and where through compiled kernels: pieces of the mask are counted, then each writes what it holds.

Neighbours: `loops.selecting` (the code), `backend.library.masking` (asks; the same on NumPy).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import prod
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels.policy import PIECES_NANOSECONDS as PARALLEL
from ...loops.selecting import Form, Select
from ..pool import room
from .kinds import NumArray, start_of
from .layouts import common_stride
from .sharing import address_for, run_once

LEAST: Final = 1 << 13
"""Masks of fewer items stay on NumPy."""
_SAVED: Final = 2.0
"""Nanoseconds an item over NumPy."""
_WORK: Final = 0.5
_PIECES: Final = 4
"""Pieces a thread."""
_TOGETHER: Final = 64
_CELL_BYTES: Final = 1 << 12
"""Larger cells are copied by NumPy as well."""
_ITEMS: Final = {1: (Kind.U8, 1), 4: (Kind.I32, 1), 8: (Kind.I64, 1), 16: (Kind.I64, 2)}
"""How items of so many bytes are copied: as so many numbers of a kind."""
DUE: Final = 2
MASKS: Final = (5, 7)
SOURCE: Final = 9
"""Where in `words_of` they are."""


@cache
def code_of(bytes: int, step: int) -> Select:
    """Of items (cells) of so many bytes, with such a stride."""
    if bytes in _ITEMS:
        kind, count = _ITEMS[bytes]
        return Select(Form.ITEMS, kind, count, unit=step == bytes)
    return Select(Form.CELLS, Kind.I64 if bytes % 8 == 0 else Kind.I32 if bytes % 4 == 0 else Kind.U8)


def words_of(code: Select, tables: int, items: int, masks: tuple[int, int], due: int, target: int, *, first: int = 0,
             source: tuple[int, int, int] = (0, 0, 0), bytes: int = 0) -> list[int]:  # fmt: skip
    """The block of words.  `masks`: where, and from table to table; `source`: where, from table to table and item to item."""
    words = [tables, items, due, first, bytes // code.kind.bytes, *masks, *masks]
    if not code.is_numbering:
        words += source[: 2 if code.unit else 3]
    return [*words, target, *((bytes,) if code.form is Form.CELLS else ())]


def _is_read(mask: NumArray) -> bool:
    """Can code read a mask?"""
    return sys.byteorder == "little" and mask.dtype == np.bool_ and mask.flags.c_contiguous


def compressed(mask: NumArray, arg: NumArray, axis: int, threads: int) -> NumArray | None:
    """The cells along `axis` whose item of the mask (a vector as long as the axis) holds; None where NumPy has to do it."""
    items, tables = len(mask), prod(arg.shape[:axis])
    if mask.ndim != 1 or items != arg.shape[axis] or not _is_read(mask) or not arg.size:
        return None
    bytes = arg.itemsize * prod(arg.shape[axis + 1 :])
    table = common_stride(arg.shape[:axis], arg.strides[:axis])
    packed = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    if table is None or (bytes != arg.itemsize and packed != arg.itemsize) or bytes > _CELL_BYTES:
        return None
    step = arg.strides[axis]
    code = code_of(bytes, step)
    address = address_for(code, arg.size, LEAST, items * tables * _SAVED)
    if address is None:
        return None
    team = threads if items * tables * _WORK >= PARALLEL else 1
    by_table = tables >= 2 * team
    starts = _starts(items, 1 if by_table else team)
    ends = list(accumulate(_counts(mask, starts)))
    due = ends[-1]
    result: NumArray = room((*arg.shape[:axis], due, *arg.shape[axis + 1 :]), arg.dtype)
    source, target, masks = start_of(arg), start_of(result), start_of(mask)
    each = max(1, -(-tables // (_PIECES * team)) if team > 1 else tables) if by_table else 1
    calls = []
    for first in range(0, tables, each):
        count = min(each, tables - first)
        for start, stop, begin, end in zip(starts, [*starts[1:], items], [0, *ends[:-1]], ends, strict=True):
            calls.append(words_of(
                code, count, stop - start, (masks + start, 0), (end - begin) * count, target + (first * due + begin) * bytes,
                source=(source + first * table + start * step, table, step), bytes=bytes,
            ))  # fmt: skip
    run_once(address, calls, team, items * tables * _WORK)
    return result


def places(mask: NumArray, threads: int) -> NumArray | None:
    """Where a vector holds, or the coordinates of where a matrix does; None where NumPy has to do it."""
    if mask.ndim not in (1, 2) or not _is_read(mask) or not mask.size:
        return None
    pairs = mask.ndim == 2
    code = Select(Form.PAIRS if pairs else Form.PLACES)
    address = address_for(code, mask.size, LEAST, mask.size * _SAVED * mask.ndim)
    if address is None:
        return None
    team = threads if mask.size * _WORK >= PARALLEL else 1
    length = len(mask)
    width = mask.size // length
    starts = _starts(length, team, max(1, _TOGETHER // width) if pairs else _TOGETHER)
    ends = list(accumulate(_counts(mask, starts)))
    result: NumArray = room((ends[-1], 2) if pairs else (ends[-1],), np.dtype(np.int64))
    masks, target = start_of(mask), start_of(result)
    calls = []
    for start, stop, begin, end in zip(starts, [*starts[1:], length], [0, *ends[:-1]], ends, strict=True):
        if pairs:
            tables, items, own, result_at = stop - start, width, (masks + start * width, width), target + begin * 16
        else:
            tables, items, own, result_at = 1, stop - start, (masks + start, 0), target + begin * 8
        calls.append(words_of(code, tables, items, own, end - begin, result_at, first=start))
    run_once(address, calls, team, mask.size * _WORK)
    return result


def _starts(items: int, team: int, grain: int = _TOGETHER) -> list[int]:
    pieces = _PIECES * team if team > 1 else 1
    step = max(grain, -(-items // (pieces * grain)) * grain)
    return list(range(0, items, step))


def _counts(mask: NumArray, starts: Sequence[int]) -> list[int]:
    return [int(np.count_nonzero(mask[a:b])) for a, b in zip(starts, [*starts[1:], len(mask)], strict=True)]
