"""Uniform numbers of a key through compiled code, in pieces for the team; NumPy makes a last odd one.

Neighbours: `loops.written` (the code), `run.philox` (the same bits), `library.making` (asks here).
"""

from __future__ import annotations

from typing import Final

from ...kernels.policy import PIECES_NANOSECONDS as PARALLEL
from ...loops.written import PHILOX_ROUNDS, Uniforms
from ..philox import MASK, WEYL_0, WEYL_1, fill_uniform
from .kinds import NumArray, start_of
from .sharing import address_for, run_once

LEAST: Final = 1 << 13
_SAVED: Final = 12.0
"""Nanoseconds an item over NumPy."""
_EACH: Final = 2.0


def fill(out: NumArray, key: int, stream: int, threads: int) -> None:
    """Fill a contiguous f64 vector with the first numbers of a key and stream."""
    count = len(out)
    blocks = count // 2
    address = address_for(Uniforms(), count, LEAST, count * _SAVED) if blocks else None
    if address is None:
        fill_uniform(out, key, stream)
        return
    keys = [word for r in range(PHILOX_ROUNDS) for word in ((key + r * WEYL_0) & MASK, ((key >> 32) + r * WEYL_1) & MASK)]
    start = start_of(out)
    team = threads if count * _EACH >= PARALLEL else 1
    step = -(-blocks // (4 * team)) if team > 1 else blocks
    calls = [
        (min(step, blocks - first), first, stream & MASK, (stream >> 32) & MASK, *keys, start + first * 16)
        for first in range(0, blocks, step)
    ]
    run_once(address, calls, team, count * _EACH)
    done = blocks * 2
    fill_uniform(out[done:], key, stream, done)
