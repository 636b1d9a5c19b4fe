"""Uniform numbers of a key through compiled code, in pieces for the team; NumPy makes those that fill no vector.

Neighbours: `kernels.uniforms` (the code), `run.philox_numpy` (the same bits), `library.making` (asks here).
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ....lang.certain import certain
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from ...kernels.store import address_of
from ...kernels.uniforms import HEAD, ROUNDS, Uniforms
from ..philox import MASK, WEYL_0, WEYL_1
from ..philox_numpy import fill_uniform
from ..team import run_boxes
from .compiled import CALL
from .cuts import PARALLEL
from .kinds import NumArray

LEAST: Final = 1 << 13
_LANES: Final = 8
_SAVED: Final = 12.0
"""Nanoseconds an item over NumPy."""
_EACH: Final = 2.0


def fill(out: NumArray, key: int, stream: int, threads: int) -> None:
    """Fill a contiguous f64 vector with the first numbers of a key and stream."""
    count = len(out)
    vectors = count // (2 * _LANES)
    mode = policy.mode()
    code = Uniforms(_LANES)
    if (
        not vectors or mode is policy.Mode.OFF or (count < LEAST and mode is not policy.Mode.ALWAYS) or not is_installed()
        or not policy.is_worth(code, count * _SAVED) or (address := address_of(code)) is None
    ):  # fmt: skip
        fill_uniform(out, key, stream)
        return
    call = CALL(address)
    keys = [word for r in range(ROUNDS) for word in ((key + r * WEYL_0) & MASK, ((key >> 32) + r * WEYL_1) & MASK)]
    start = out.__array_interface__["data"][0]
    team = threads if count * _EACH >= PARALLEL else 1
    step = -(-vectors // (4 * team)) if team > 1 else vectors

    def work(first: int, owner: Any = out) -> None:
        words = [min(step, vectors - first), first * _LANES, stream & MASK, (stream >> 32) & MASK, start + first * 16 * _LANES]
        certain(len(words) == HEAD, "a launch has the words that its kernel reads")
        block = (ctypes.c_int64 * (HEAD + 2 * ROUNDS))(*words, *keys)
        call(ctypes.addressof(block))

    run_boxes(range(0, vectors, step), lambda: work, team)
    done = vectors * 2 * _LANES
    fill_uniform(out[done:], key, stream, done)
