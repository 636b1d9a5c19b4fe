"""A region that can be done in tiles of rows (`loops.transform.tiling`): which tiles, in which order, on which threads.

Iterations go in stretches.  A stretch is two launches: bands of rows that get smaller by `reach` on both sides with each level,
then what lies between them.  A band's state stays in a core's cache for a whole stretch, so memory is gone through once for
several iterations; within a launch the tiles are independent, so threads share them.  No row is done twice, and which tiles there
are changes no bit.

Neighbours: `regions` (asks), `sharing` (how threads share tiles).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ....lang.opening import KERNEL_TEXT, read_text
from ...kernels import policy
from .launching import Block
from .sharing import Pieces

_CACHE: Final = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")
_UNKNOWN_CACHE: Final = 1 << 19
_MOST_TURNS: Final = 16
"""Iterations of a stretch."""
_BANDS: Final = 8
"""Bands a thread where none sees another: they even out."""
_BAND_NANOSECONDS: Final = 4_000.0
_BAND_BYTES: Final = 2048
"""What such a band takes, or touches, at least."""
_LEAST_TURNS: Final = 3
"""Of bands that are to stay in cache: fewer gain less than cutting costs."""
WHOLE: Final = 1 << 40
"""More rows than there are."""


@cache
def cache_bytes() -> int:
    """A core's second-level cache."""
    try:
        size = read_text(_CACHE, KERNEL_TEXT).strip()
    except (OSError, ValueError):
        return _UNKNOWN_CACHE
    return int(size[:-1]) << 10 if size[:-1].isdigit() and size.endswith("K") else _UNKNOWN_CACHE


@dataclass(frozen=True, slots=True)
class Rows:
    """`count` rows, of `bytes` in all that an iteration touches and `nanoseconds` on one thread, roughly; a band gets
    smaller by `reach` on each side from level to level."""

    count: int
    bytes: int
    nanoseconds: float
    reach: int
    levels: int
    wraps: bool


@dataclass(frozen=True, slots=True)
class Stretches:
    """`bands` of about equal heights, each `turns` iterations at a time."""

    bands: int
    turns: int


def stretches_of(rows: Rows, turns: int, threads: int) -> Stretches | None:
    """How to cut; None where one thread that does one iteration after the other is as good."""
    if not rows.reach:
        return _independent(rows, turns, threads)
    is_shared = threads > 1 and rows.nanoseconds * rows.count * min(turns, _MOST_TURNS) >= policy.PIECES_NANOSECONDS
    team = threads if is_shared else 1
    slope = 2 * rows.reach * rows.levels
    room = cache_bytes() * 3 // 4
    height = min(room // max(1, rows.bytes), -(-rows.count // team))
    most = min(turns, _MOST_TURNS, height // slope)
    if most < _LEAST_TURNS or rows.bytes * rows.count <= room:  # bands of a thread each, wherever they lie
        height = -(-rows.count // team)
        most = max(1, min(turns, _MOST_TURNS, height // (2 * slope)))
    bands = -(-rows.count // height)
    bands = -(-bands // team) * team
    if bands == 1 or rows.count // bands < slope * most:
        return None
    return Stretches(bands, most)


def _independent(rows: Rows, turns: int, threads: int) -> Stretches:
    """Bands that see nothing of each other: some for each thread, that stay in cache and end before an interrupt waits long."""
    each = rows.nanoseconds * rows.count
    work = each * turns
    team = threads if work >= policy.SHARED_NANOSECONDS else 1
    shared = min(_BANDS * team, int(work / _BAND_NANOSECONDS)) if team > 1 else 1
    wanted = max(shared, work / policy.HEARD_NANOSECONDS, rows.bytes * rows.count / cache_bytes() / 2)
    bands = max(1, min(-(-int(wanted) // team) * team, rows.count // max(1, _BAND_BYTES // max(1, rows.bytes))))
    return Stretches(bands, max(1, min(turns, int(policy.HEARD_NANOSECONDS * bands / max(1.0, each)))))


def run_tiles(address: int, block_of: Callable[[int], Any], at: int, rows: Rows, cut: Stretches, first: int, last: int,
              threads: int) -> None:  # fmt: skip
    """All iterations from `first` up to `last`; `block_of`: the block of words of a tile by its number among those of a launch,
    `at`: where the bounds of rows are in it."""
    inner, outer = rows.reach, -rows.reach
    bands, ends = bands_of(rows, cut)
    between = [(end, end, outer, inner) for end in (ends[:-1] if rows.wraps else ends[1:-1])]
    work = rows.nanoseconds * rows.count * cut.turns
    launches = [_tiles(address, block_of, at, tiles, threads, work) for tiles in (bands, between)]
    levels = rows.levels
    for start in range(first, last, cut.turns):
        stop = min(last, start + cut.turns)
        launches[0].run((start, stop))
        if rows.reach and (stop - start) * levels > 1:
            launches[1].run((start, stop))


def bands_of(rows: Rows, cut: Stretches) -> tuple[list[tuple[int, int, int, int]], list[int]]:
    """The bounds of each band with their steps, and where bands end."""
    ends = [rows.count * band // cut.bands for band in range(cut.bands + 1)]
    bands = [(start, stop, rows.reach, -rows.reach) for start, stop in pairwise(ends)]
    if not rows.wraps:
        bands[0] = (-WHOLE, bands[0][1], 0, -rows.reach)
        bands[-1] = (-WHOLE if len(bands) == 1 else ends[-2], WHOLE, rows.reach, 0)
    return bands, ends


def _tiles(address: int, block_of: Callable[[int], Sequence[int]], at: int, tiles: Sequence[tuple[int, int, int, int]],
           threads: int, nanoseconds: float) -> Pieces:  # fmt: skip
    """Tiles that are independent, in one launch.  The bounds of the iterations, two words, come in place of addresses."""
    blocks: list[Block] = []
    for number, tile in enumerate(tiles):
        words = block_of(number)
        blocks.append(Block([0, 0, *words[2:at], *tile, *words[at + 4 :]], [(0, (0, 0)), (1, (1, 0))]))
    return Pieces(address, blocks, 2, threads, nanoseconds)
