"""Scans through compiled kernels, in the order of scans.

Many lines are shared out among the team.  Of one long line the first part is scanned while the totals of the blocks of the other
parts are found; then these are scanned, each from what is before it.  The last part needs no totals.  So the parts do not show.

Neighbours: `kernels.scanning` (the text), `run.scans` (the order), `library.sequential` (asks here first).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...kernels import policy
from ...kernels.build import KINDS, REDUCTIONS
from ...kernels.llvm_leaf import is_installed
from ...kernels.scalar_text import identity
from ...kernels.scanning import BLOCK, RUN, Form, Scan
from ...kernels.store import address_of
from ..pool import ALIGNMENT, room
from ..team import run_boxes
from .compiled import CALL, PARALLEL, SHORT_CALL, STREAMED, vector_bytes
from .kinds import DTYPES, NumArray
from .scalars import PLAIN
from .space import common_stride

LEAST: Final = RUN + 1
"""Fewer items stay on NumPy."""
_SMALL: Final = 1 << 14
"""Up to so many items a scan is one call, whose words are kept."""
_MOST_KEPT: Final = 256
_SAVED: Final = 2.0
"""Nanoseconds an item over NumPy."""
_WORK: Final = 0.7
_PIECES: Final = 4
"""Pieces a thread."""
_TOTAL_SHARE: Final = 0.4
"""What the total of an item takes of what its scan takes."""


def scan_lines(function: str, kind: Kind, arg: NumArray, axis: int, threads: int) -> NumArray | None:
    """The scan of every line along `axis`; None where NumPy has to do it."""
    key = (function, kind, arg.shape, arg.strides, axis, policy.mode())
    ready = _kept.get(key)
    if ready is not None and arg.dtype == DTYPES[kind]:
        return ready.run(arg)
    if kind not in KINDS or kind is Kind.CHAR or function not in REDUCTIONS or not is_installed():
        return None
    current = policy.mode()
    if current is policy.Mode.OFF or (arg.size < LEAST and current is not policy.Mode.ALWAYS) or not arg.size:
        return None
    axes = _merged(arg, axis)
    if axes is None or arg.dtype != DTYPES[kind]:
        return None
    code = _code(function, kind, arg, axis, axes)
    if not policy.is_worth(code, 5_000 + arg.size * _SAVED):
        return None
    if arg.size <= _SMALL and code.form is Form.LINES and (address := address_of(code)) is not None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        ready = _kept[key] = _Ready(code, address, arg, axis, axes[0])
        return ready.run(arg)
    team = threads if arg.size * _WORK >= PARALLEL else 1
    return (_columns if code.form is Form.COLUMNS else _lines)(code, arg, axis, axes, team)


class _Ready:
    """A scan of lines that is one call."""

    def __init__(self, code: Scan, address: int, arg: NumArray, axis: int, line_step: int) -> None:
        lines, length, self.shape, self.dtype = prod(arg.shape[:axis]), arg.shape[axis], arg.shape, arg.dtype
        self.nothing = _nothing(code)
        carry = _address(self.nothing)
        self.words = (lines, length, 0, line_step, arg.strides[axis], 0, length * code.kind.bytes, carry)
        self.call, self.block = SHORT_CALL(address), ctypes.c_int64 * len(self.words)

    def run(self, arg: NumArray) -> NumArray:
        result: NumArray = room(self.shape, self.dtype)
        block = self.block(*self.words)
        block[2], block[5] = _address(arg), _address(result)
        if self.call(ctypes.addressof(block)):
            raise MemoryError
        return result


_kept: dict[tuple[Any, ...], _Ready] = {}


def _merged(arg: NumArray, axis: int) -> tuple[int, int] | None:
    """Strides of the axes before `axis` as one, and of those behind it as one; None where they are not evenly spaced."""
    before = common_stride(arg.shape[:axis], arg.strides[:axis])
    behind = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    return None if before is None or behind is None else (before, behind)


def _code(function: str, kind: Kind, arg: NumArray, axis: int, axes: tuple[int, int]) -> Scan:
    inner = prod(arg.shape[axis + 1 :])
    lanes = min(RUN, vector_bytes() // kind.bytes)
    streamed = arg.nbytes >= STREAMED
    if inner == 1:
        aligned = axis == 0 or arg.shape[axis] * kind.bytes % ALIGNMENT == 0
        return Scan(function, kind, Form.LINES, lanes, arg.strides[axis] == kind.bytes, streamed and aligned)
    while lanes > inner:
        lanes //= 2
    return Scan(function, kind, Form.COLUMNS, lanes)


def _address(array: NumArray) -> int:
    return int(array.__array_interface__["data"][0])


def _nothing(code: Scan) -> NumArray:
    """What is before a line, and room for what is behind it."""
    return np.full(2, identity(code.function, code.kind), DTYPES[code.kind])


def _call(address: int, words: Sequence[int], owners: Any) -> None:
    """`owners`: the arrays that the words are about, which live until the call is over."""
    block = (ctypes.c_int64 * len(words))(*words)
    if CALL(address)(ctypes.addressof(block)):
        raise MemoryError


# -------------------------------------------------------------------------------------------------- lines


def _lines(code: Scan, arg: NumArray, axis: int, axes: tuple[int, int], team: int) -> NumArray | None:
    address = address_of(code)
    if address is None:
        return None
    lines, length, bytes = prod(arg.shape[:axis]), arg.shape[axis], code.kind.bytes
    step, source = arg.strides[axis], _address(arg)
    result: NumArray = room(arg.shape, arg.dtype)
    target, pitch = _address(result), length * bytes
    if team > 1 and lines < 2 * team and length >= _PIECES * team * BLOCK:
        totals = address_of(replace(code, form=Form.TOTALS, streamed=False))
        if totals is None:
            return None
        for line in range(lines):
            places = (source + line * axes[0], step, target + line * pitch)
            _long_line(code, (address, totals), places, length, team, (arg, result))
        return result
    nothing = _nothing(code)
    each = -(-lines // (_PIECES * team)) if team > 1 else lines

    def work(first: int, owners: Any = (arg, result, nothing)) -> None:
        count = min(each, lines - first)
        words = (count, length, source + first * axes[0], axes[0], step, target + first * pitch, pitch, _address(nothing))
        _call(address, words, owners)

    run_boxes(range(0, lines, each), lambda: work, team)
    return result


def _long_line(
    code: Scan, addresses: tuple[int, int], places: tuple[int, int, int], length: int, team: int, owners: tuple[Any, ...]
) -> None:
    """`places`: the source, its stride, the result."""
    source, step, target = places
    blocks = -(-length // BLOCK)
    first = max(1, int(blocks * _TOTAL_SHARE / (team + _TOTAL_SHARE)))
    each = -(-(blocks - first) // (_PIECES * team))
    starts = range(first, blocks, each)
    totals = np.empty(blocks + 1, DTYPES[code.kind])
    carries = [_nothing(code) for _ in range(len(starts) + 1)]

    def words(start: int, stop: int, result: int, carry: int) -> tuple[int, ...]:
        items = min(stop * BLOCK, length) - start * BLOCK
        return (1, items, source + start * BLOCK * step, 0, step, result, 0, carry)

    def scan(place: int) -> None:
        start, stop = (starts[place - 1], starts[place - 1] + each) if place else (0, first)
        carry = carries[place]
        _call(addresses[0], words(start, stop, target + start * BLOCK * code.kind.bytes, _address(carry)), (owners, carry))

    def prepare(place: int) -> None:
        if place == 0:
            scan(0)
        else:
            start = starts[place - 1]
            result = _address(totals) + (start + 1) * code.kind.bytes
            _call(addresses[1], words(start, start + each, result, 0), (owners, totals))

    run_boxes(range(len(starts)), lambda: prepare, team)
    totals[first] = carries[0][1]
    known = starts[-1] + 1
    PLAIN[code.function].accumulate(totals[first:known], 0, totals.dtype, totals[first:known])
    for place, start in enumerate(starts):
        carries[place + 1][0] = totals[start]
    run_boxes(range(1, len(starts) + 1), lambda: scan, team)


# ------------------------------------------------------------------------------------------------ columns


def _columns(code: Scan, arg: NumArray, axis: int, axes: tuple[int, int], team: int) -> NumArray | None:
    bytes, cells = code.kind.bytes, prod(arg.shape[axis + 1 :])
    address = address_of(code) if axes[1] == bytes else None
    if address is None:
        return None
    tables, length = prod(arg.shape[:axis]), arg.shape[axis]
    result: NumArray = room(arg.shape, arg.dtype)
    source, target, pitch = _address(arg), _address(result), cells * bytes
    by_table = team == 1 or tables >= 2 * team
    count, least = (tables, 1) if by_table else (cells, max(code.lanes, ALIGNMENT // bytes))
    each = count if team == 1 else max(least, -(-count // (_PIECES * team * least)) * least)

    starts = list(range(0, count, each))
    if not by_table and len(starts) > 1 and count - starts[-1] < code.lanes:
        starts.pop()  # fewer lines than a vector go to the piece before
    stops = [*starts[1:], count]

    def work(piece: int, owners: Any = (arg, result)) -> None:
        first, size = starts[piece], stops[piece] - starts[piece]
        table, cell = (first, 0) if by_table else (0, first)
        _call(address, (
            size if by_table else tables, length, source + table * axes[0] + cell * bytes, axes[0], arg.strides[axis],
            target + table * length * pitch + cell * bytes, length * pitch, pitch, cells if by_table else size,
        ), owners)  # fmt: skip

    run_boxes(range(len(starts)), lambda: work, team)
    return result
