"""Scans through compiled kernels, in the order of scans.

Many lines are shared by the team.  One long line is gone along batch by batch, each from what is before it, so that an interrupt
is heard.

Neighbours: `loops.scans` (the code), `sharing` (its pieces), `reference.scans` (the order), `library.sequential` (asks).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import neutral
from ...kernels import policy
from ...kernels.build import KINDS
from ...kernels.ir import BLOCK, RUN
from ...kernels.kept import Kept
from ...loops.scans import Form, Scan
from ...scalar.table import REDUCTIONS
from ..pool import ALIGNMENT, room
from .compiled import STREAMED
from .kinds import DTYPES, NumArray, start_of
from .launching import Block
from .layouts import common_stride
from .sharing import Pieces, address_for

LEAST: Final = RUN + 1
"""Fewer items stay on NumPy."""
PARALLEL: Final = 20_000.0
"""Nanoseconds of work from which lines are shared out."""
_HEARD: Final = 1 << 25
"""Bytes of a line that one thread scans before an interrupt is heard."""
_SAVED: Final = 2.0
"""Nanoseconds an item over NumPy."""
_BYTE_WORK: Final = 0.05
_ORDERED_WORK: Final = 0.2
"""Nanoseconds a byte, and an item in the order of scans, on one thread, roughly."""
_PIECES: Final = 4
"""Pieces a thread."""
_PARITIES: Final = frozenset({"ne", "eq"})
"""Functions of truth values that are scanned besides those that kernels reduce with."""
_SOURCE, _RESULT, _CARRY = range(3)
"""The bases of all pieces."""


def scan_lines(function: str, kind: Kind, arg: NumArray, axis: int, threads: int) -> NumArray | None:
    """The scan of every line along `axis`; None where NumPy has to do it."""
    ready = scan_plan(function, kind, arg, axis, threads)
    if ready is None:
        return None
    result: NumArray = room(arg.shape, arg.dtype)
    ready.run(arg, result)
    return result


def scan_plan(
    function: str, kind: Kind, arg: NumArray, axis: int, threads: int, least: int = LEAST, runs: int = 1
) -> Whole | Long | None:  # fmt: skip
    """What scans arrays of this layout; kept.  `least`: fewer items stay on NumPy; asked for once in so many `runs`."""
    if arg.dtype != DTYPES[kind]:
        return None
    key = (function, kind, arg.shape, arg.strides, axis, threads, policy.mode())
    ready, axes = _kept.get(key), _merged(arg, axis)
    if ready is not None or axes is None or not _is_scanned(function, kind):
        return ready
    code = _code(function, kind, arg, axis)
    address = address_for(code, arg.size, least, runs * (5_000 + arg.size * _SAVED))
    made = None if address is None else _made(code, address, arg, axis, axes, threads)
    return None if made is None else _kept.put(key, (), made)


def _is_scanned(function: str, kind: Kind) -> bool:
    is_reduction = function in REDUCTIONS or (kind is Kind.BOOL and function in _PARITIES)
    return kind in KINDS and kind is not Kind.CHAR and is_reduction


def _made(
    code: Scan, address: int, arg: NumArray, axis: int, axes: tuple[int, int], threads: int
) -> Whole | Long | None:  # fmt: skip
    bytes = code.kind.bytes
    work = arg.nbytes * _BYTE_WORK + (0 if code.is_free else arg.size * _ORDERED_WORK)
    if code.form is Form.COLUMNS:
        blocks = _columns(code, arg, axis, axes, threads if work >= PARALLEL else 1, work)
        return None if blocks is None else Whole(code, Pieces(address, blocks, 3, threads, work))
    lines, length = prod(arg.shape[:axis]), arg.shape[axis]
    if lines == 1 and work >= policy.LONG_NANOSECONDS:
        return Long(code, address, length, arg.strides[axis], work)
    each = -(-lines // policy.pieces(_PIECES * threads if threads > 1 and work >= PARALLEL else 1, work))
    blocks = []
    for first in range(0, lines, each):
        strides = axes[0], arg.strides[axis]
        blocks.append(_lines(code, min(each, lines - first), length, strides, (first * axes[0], first * length * bytes)))
    return Whole(code, Pieces(address, blocks, 3, threads, work))


def _lines(code: Scan, lines: int, length: int, strides: tuple[int, int], places: tuple[int, int] = (0, 0)) -> Block:
    """The words of lines.  `strides`: of the source.  `places`: the source and the result, from the bases."""
    own = (strides[0],) if code.unit else strides
    words = [lines, length, 0, *own, 0, length * code.kind.bytes, 0]
    after = 3 + len(own)
    return Block(words, [(2, (_SOURCE, places[0])), (after, (_RESULT, places[1])), (after + 2, (_CARRY, 0))])


def _merged(arg: NumArray, axis: int) -> tuple[int, int] | None:
    """Strides of the axes before `axis` as one, and of those behind it as one; None where they are not evenly spaced."""
    before = common_stride(arg.shape[:axis], arg.strides[:axis])
    behind = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    return None if before is None or behind is None else (before, behind)


def _code(function: str, kind: Kind, arg: NumArray, axis: int) -> Scan:
    inner, length = prod(arg.shape[axis + 1 :]), arg.shape[axis]
    if inner == 1:
        aligned = axis == 0 or length * kind.bytes % ALIGNMENT == 0
        return Scan(function, kind, Form.LINES, arg.strides[axis] == kind.bytes, arg.nbytes >= STREAMED and aligned)
    return Scan(function, kind, Form.COLUMNS)


@dataclass(frozen=True, slots=True)
class Whole:
    """Lines that are not cut: pieces whose bases are the source, the result, and two items, the first being what is before."""

    code: Scan
    pieces: Pieces

    @property
    def carry(self) -> NumArray:
        return _carry(self.code.function, self.code.kind)

    def run(self, arg: NumArray, result: NumArray) -> None:
        carry = self.carry
        self.pieces.run((start_of(arg), start_of(result), start_of(carry)), (arg, result, carry))


@cache
def _carry(function: str, kind: Kind) -> NumArray:
    """What is before every line is nothing; what is behind is nobody's."""
    return np.full(2, neutral(function, kind), DTYPES[kind])


_kept: Kept[Whole | Long] = Kept(256)


# -------------------------------------------------------------------------------------------------- lines


class Long:
    """A line that takes long, of items that are `step` bytes apart: batches are whole blocks, but for the last."""

    def __init__(self, code: Scan, address: int, length: int, step: int, work: float) -> None:
        self.code, self.length, self.step = code, length, step
        self.batch = _HEARD // (code.kind.bytes * BLOCK) * BLOCK
        sizes = {min(self.batch, length), length % self.batch or self.batch}
        self.pieces = {size: Pieces(address, [_lines(code, 1, size, (0, step))], 3, 1, work * size / length) for size in sizes}

    def run(self, arg: NumArray, result: NumArray) -> None:
        source, target, carry = start_of(arg), start_of(result), _carry(self.code.function, self.code.kind).copy()
        for start in range(0, self.length, self.batch):
            bases = source + start * self.step, target + start * self.code.kind.bytes, start_of(carry)
            self.pieces[min(self.batch, self.length - start)].run(bases, (arg, result, carry))
            carry[0] = carry[1]


# ------------------------------------------------------------------------------------------------ columns


def _columns(code: Scan, arg: NumArray, axis: int, axes: tuple[int, int], team: int, work: float) -> list[Block] | None:
    bytes, cells = code.kind.bytes, prod(arg.shape[axis + 1 :])
    if axes[1] != bytes:
        return None
    tables, length = prod(arg.shape[:axis]), arg.shape[axis]
    pitch = cells * bytes
    by_table = team == 1 or tables >= 2 * team
    count, least = (tables, 1) if by_table else (cells, ALIGNMENT // bytes)
    wanted = policy.pieces(1 if team == 1 else _PIECES * team, work)
    each = count if wanted == 1 else max(least, -(-count // (wanted * least)) * least)
    starts = list(range(0, count, each))
    if not by_table and len(starts) > 1 and count - starts[-1] < least:
        starts.pop()  # fewer lines than a vector go to the piece before
    blocks = []
    for first, stop in zip(starts, [*starts[1:], count], strict=True):
        table, cell = (first, 0) if by_table else (0, first)
        own = (stop - first, cells) if by_table else (tables, stop - first)
        words = (own[0], length, own[1], 0, axes[0], arg.strides[axis], 0, length * pitch, pitch)
        source, result = table * axes[0] + cell * bytes, table * length * pitch + cell * bytes
        blocks.append(Block(words, [(3, (_SOURCE, source)), (6, (_RESULT, result))]))
    return blocks
