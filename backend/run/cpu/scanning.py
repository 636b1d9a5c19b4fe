"""Scans through compiled kernels, in the order of scans.

Many lines are shared by the team.  One long line is gone along in batches that stay in the nearer caches: the first part of
a batch is scanned while the totals of the blocks of its other parts are found; then these are scanned, each from what is before
it.  The last part needs no totals.  So the parts do not show.

Neighbours: `loops.scans` (the code), `sharing` (its pieces), `reference.scans` (the order), `library.sequential` (asks).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.scalars import neutral
from ...kernels import policy
from ...kernels.build import KINDS
from ...kernels.ir import BLOCK, RUN
from ...kernels.kept import Kept
from ...kernels.llvm_leaf import is_installed
from ...kernels.store import address_of
from ...loops.scans import Form, Scan
from ...scalar.table import REDUCTIONS
from ..pool import ALIGNMENT, room
from .compiled import STREAMED
from .kinds import DTYPES, NumArray, start_of
from .launching import Block
from .layouts import common_stride
from .reals import PLAIN
from .sharing import Pieces

LEAST: Final = RUN + 1
"""Fewer items stay on NumPy."""
PARALLEL: Final = 20_000.0
"""Nanoseconds of work from which lines are shared out."""
CUT: Final = 60_000.0
"""Nanoseconds of work from which one line is cut into parts: these are two launches, and what is between them."""
_HEARD: Final = 1 << 25
"""Bytes of a line that one thread scans before an interrupt is heard."""
BATCH: Final = 1 << 22
"""Bytes of a line that are gone along twice at once."""
MANY: Final = 4
"""Threads from which lines are cut: reading lines twice takes fewer threads as long as one takes."""
_SAVED: Final = 2.0
"""Nanoseconds an item over NumPy."""
_BYTE_WORK: Final = 0.05
_ORDERED_WORK: Final = 0.2
"""Nanoseconds a byte, and an item in the order of scans, on one thread, roughly."""
_PIECES: Final = 4
"""Pieces a thread."""
_TOTAL_SHARE: Final = 0.25
"""What the total of an item takes of what its scan takes."""
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
) -> Whole | Cut | None:  # fmt: skip
    """What scans arrays of this layout; kept.  `least`: fewer items stay on NumPy; asked for once in so many `runs`."""
    if arg.dtype != DTYPES[kind]:
        return None
    key = (function, kind, arg.shape, arg.strides, axis, threads, policy.mode())
    ready = _kept.get(key)
    if ready is None:
        code = scan_code(function, kind, arg, axis, least)
        if code is None or not policy.is_worth(code, runs * (5_000 + arg.size * _SAVED)):
            return None
        ready = _made(code, arg, axis, threads)
        return None if ready is None else _kept.put(key, (), ready)
    return ready


def scan_code(function: str, kind: Kind, arg: NumArray, axis: int, least: int = LEAST) -> Scan | None:
    """The kernel for arrays of this layout."""
    if kind not in KINDS or kind is Kind.CHAR or not is_installed() or arg.dtype != DTYPES[kind]:
        return None
    if function not in REDUCTIONS and not (kind is Kind.BOOL and function in _PARITIES):
        return None
    current = policy.mode()
    if current is policy.Mode.OFF or (arg.size < least and current is not policy.Mode.ALWAYS) or not arg.size:
        return None
    axes = _merged(arg, axis)
    return None if axes is None else _code(function, kind, arg, axis, axes)


def _made(code: Scan, arg: NumArray, axis: int, threads: int) -> Whole | Cut | None:
    axes, address = _merged(arg, axis), address_of(code)
    if address is None or axes is None:
        return None
    bytes = code.kind.bytes
    work = arg.nbytes * _BYTE_WORK + (0 if code.is_free else arg.size * _ORDERED_WORK)
    if code.form is Form.COLUMNS:
        blocks = _columns(code, arg, axis, axes, threads if work >= PARALLEL else 1, work)
        return None if blocks is None else Whole(code, Pieces(address, blocks, 3, threads, work))
    lines, length = prod(arg.shape[:axis]), arg.shape[axis]
    if threads >= MANY and threads > 1 and lines < 2 * threads and work / lines >= CUT:
        return Cut(code, address, arg, axis, axes[0], threads)
    if lines == 1 and work >= policy.LONG_NANOSECONDS:
        return Cut(code, address, arg, axis, axes[0], 0)
    each = -(-lines // policy.pieces(_PIECES * threads if threads > 1 and work >= PARALLEL else 1, work))
    blocks = []
    for first in range(0, lines, each):
        strides = axes[0], arg.strides[axis]
        blocks.append(_lines(code, min(each, lines - first), length, strides, (first * axes[0], first * length * bytes, 0)))
    return Whole(code, Pieces(address, blocks, 3, threads, work))


def _lines(code: Scan, lines: int, length: int, strides: tuple[int, int], places: tuple[int, int, int], blocks: int = 0) -> Block:
    """The words of lines.  `strides`: of the source.  `places`: the source, the result and what is before, from the bases;
    with `blocks`, their totals go where else what is before is."""
    source, result, carry = places
    own = (strides[0],) if code.unit else strides
    words = [lines, length, blocks, 0, *own, 0, length * code.kind.bytes, 0, 0]
    after = 4 + len(own)
    if blocks:
        return Block(words, [(3, (_SOURCE, source)), (after + 3, (_CARRY, carry))])
    return Block(words, [(3, (_SOURCE, source)), (after, (_RESULT, result)), (after + 2, (_CARRY, carry))])


def _merged(arg: NumArray, axis: int) -> tuple[int, int] | None:
    """Strides of the axes before `axis` as one, and of those behind it as one; None where they are not evenly spaced."""
    before = common_stride(arg.shape[:axis], arg.strides[:axis])
    behind = common_stride(arg.shape[axis + 1 :], arg.strides[axis + 1 :])
    return None if before is None or behind is None else (before, behind)


def _code(function: str, kind: Kind, arg: NumArray, axis: int, axes: tuple[int, int]) -> Scan:
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


_kept: Kept[Whole | Cut] = Kept(256)


# -------------------------------------------------------------------------------------------------- lines


class Cut:
    """Lines that are cut into parts, batch by batch; a batch is whole blocks, but the last of a line.  `threads` 0: a batch is
    one part, so that nothing is read twice, and batches only let an interrupt be heard."""

    def __init__(self, code: Scan, address: int, arg: NumArray, axis: int, line_step: int, threads: int) -> None:
        self.code, self.lines, self.length = code, prod(arg.shape[:axis]), arg.shape[axis]
        self.step, self.line_step = arg.strides[axis], line_step
        self.batch = max(BLOCK * _PIECES * threads, (BATCH if threads else _HEARD) // (code.kind.bytes * BLOCK) * BLOCK)
        last = self.length % self.batch or self.batch
        self.last = _Batch(code, address, last, self.step, threads)
        self.whole = self.last if last == self.batch else _Batch(code, address, self.batch, self.step, threads)

    def run(self, arg: NumArray, result: NumArray) -> None:
        source, target, bytes = start_of(arg), start_of(result), self.code.kind.bytes
        for line in range(self.lines):
            before = np.array(neutral(self.code.function, self.code.kind), DTYPES[self.code.kind])
            for start in range(0, self.length, self.batch):
                batch = self.whole if start + self.batch <= self.length else self.last
                here = source + line * self.line_step + start * self.step
                before = batch.run(here, target + (line * self.length + start) * bytes, before, (arg, result))


class _Batch:
    def __init__(self, code: Scan, address: int, length: int, step: int, threads: int) -> None:
        bytes, blocks = code.kind.bytes, -(-length // BLOCK)
        self.code, self.dtype = code, DTYPES[code.kind]
        self.first = first = max(1, int(blocks * _TOTAL_SHARE / (threads + _TOTAL_SHARE))) if threads else blocks
        each = max(1, -(-(blocks - first) // (_PIECES * max(1, threads))))
        self.starts = starts = list(range(first, blocks, each))
        self.totals = 2 * (len(starts) + 1)
        """Where the totals of blocks are in the items of a run; before them what is before and behind each part."""
        self.items = self.totals + blocks + 1

        def scan(place: int, start: int, stop: int) -> Block:
            items = min(stop * BLOCK, length) - start * BLOCK
            return _lines(code, 1, items, (0, step), (start * BLOCK * step, start * BLOCK * bytes, 2 * place * bytes))

        prepared = [scan(0, 0, first)]
        for start in starts[:-1]:
            places = start * BLOCK * step, 0, (self.totals + start + 1) * bytes
            prepared.append(_lines(code, 1, each * BLOCK, (0, step), places, each))
        work = length * (bytes * _BYTE_WORK + (0 if code.is_free else _ORDERED_WORK))
        self.prepared = Pieces(address, prepared, 3, threads, work / 2)
        parts = [scan(place + 1, start, start + each) for place, start in enumerate(starts)]
        self.parts = Pieces(address, parts, 3, threads, work) if parts else None

    def run(self, source: int, result: int, before: Any, owners: Any) -> Any:
        """What is behind."""
        room = np.empty(self.items, self.dtype)
        room[0] = before
        bases = (source, result, start_of(room))
        self.prepared.run(bases, (owners, room))
        if self.parts is None:
            return room[1]
        totals = room[self.totals :]
        totals[self.first] = room[1]
        known = totals[self.first : self.starts[-1] + 1]
        PLAIN[self.code.function].accumulate(known, 0, self.dtype, known)
        room[2 : self.totals : 2] = totals[self.starts]
        self.parts.run(bases, (owners, room))
        return room[self.totals - 1]


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
