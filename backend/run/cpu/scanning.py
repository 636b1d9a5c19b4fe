"""Scans through compiled kernels, in the order of scans.

Many lines are shared by the team.  One long line is a chain of pieces, each from what is before it, so that an interrupt is
heard between them.

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
) -> Ready | None:  # fmt: skip
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


def _made(code: Scan, address: int, arg: NumArray, axis: int, axes: tuple[int, int], threads: int) -> Ready | None:
    bytes = code.kind.bytes
    work = arg.nbytes * _BYTE_WORK + (0 if code.is_free else arg.size * _ORDERED_WORK)
    if code.form is Form.COLUMNS:
        columns = _columns(code, arg, axis, axes, threads if work >= PARALLEL else 1, work)
        return None if columns is None else Ready(code, Pieces(address, columns, 3, threads, work))
    lines, length, step = prod(arg.shape[:axis]), arg.shape[axis], arg.strides[axis]
    if lines == 1 and work >= policy.LONG_NANOSECONDS:
        batch, blocks = _HEARD // (bytes * BLOCK) * BLOCK, []
        for place, first in enumerate(range(0, length, batch)):
            starts = first * step, first * bytes, place * bytes
            blocks.append(_lines(code, 1, min(batch, length - first), (0, step), starts))
        return Ready(code, Pieces(address, blocks, 3, 1, work), is_chain=True)
    each = -(-lines // policy.pieces(_PIECES * threads if threads > 1 and work >= PARALLEL else 1, work))
    blocks = [
        _lines(code, min(each, lines - first), length, (axes[0], step), (first * axes[0], first * length * bytes, 0))
        for first in range(0, lines, each)
    ]
    return Ready(code, Pieces(address, blocks, 3, threads, work))


def _lines(code: Scan, lines: int, length: int, strides: tuple[int, int], starts: tuple[int, int, int]) -> Block:
    """The words of lines.  `strides`: of the source.  `starts`: the source, the result, and what is before, from the bases."""
    own = (strides[0],) if code.unit else strides
    words = [lines, length, 0, *own, 0, length * code.kind.bytes, 0]
    after = 3 + len(own)
    return Block(words, list(zip((2, after, after + 2), zip((_SOURCE, _RESULT, _CARRY), starts, strict=True), strict=True)))


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
class Ready:
    """Pieces whose bases are the source, the result, and what is before lines, which is nothing.  In a chain each piece leaves
    what is before the next one."""

    code: Scan
    pieces: Pieces
    is_chain: bool = False

    @property
    def carry(self) -> NumArray:
        return _carry(self.code.function, self.code.kind)

    def run(self, arg: NumArray, result: NumArray) -> None:
        carry = np.resize(self.carry[:1], len(self.pieces.blocks) + 1) if self.is_chain else self.carry
        self.pieces.run((start_of(arg), start_of(result), start_of(carry)))


@cache
def _carry(function: str, kind: Kind) -> NumArray:
    """What is before every line is nothing; what is behind is nobody's."""
    return np.full(2, neutral(function, kind), DTYPES[kind])


_kept: Kept[Ready] = Kept(256)


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
