"""What the disk of the folder for temporary files takes to read and write.

Neighbours: `measure` (asks), `backend.devices.disks` (looks it up).
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import Final

import numpy as np

from ...devices.disks import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE
from ...devices.tables import Table
from .probes import Clock

BYTES: Final = 64 << 20
_BLOCK: Final = 4 << 20


def tables(clock: Clock, times: int) -> dict[str, Table]:
    """By the least of so many rounds; nothing where no file can be written."""
    block = np.random.default_rng(0).bytes(_BLOCK)  # which no file system makes shorter
    rounds: list[dict[str, int]] = []
    with suppress(OSError):
        rounds += [_round(clock, block) for _ in range(times)]
    least = {name: min(one[name] for one in rounds) for name in (rounds[0] if rounds else ())}
    return {name: Table.of_rate(max(1, BYTES * 10**9 // max(1, ns))) for name, ns in least.items()}


def _round(clock: Clock, block: bytes) -> dict[str, int]:
    """One file, which has no name: written, read from memory, handed to the disk, and read from there where that can be asked
    for."""
    with tempfile.TemporaryFile() as file:
        place, room = file.fileno(), memoryview(bytearray(_BLOCK))

        def read() -> int:
            start, at = clock.now(), 0
            while at < BYTES:
                at += os.preadv(place, [room], at) or BYTES
            return clock.now() - start

        start, at = clock.now(), 0
        while at < BYTES:
            at += os.pwrite(place, memoryview(block)[: BYTES - at], at)
        written = clock.now() - start
        kept = read()
        start = clock.now()
        os.fsync(place)
        synced = clock.now() - start
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(place, 0, 0, os.POSIX_FADV_DONTNEED)
        return {SCRATCH_WRITE: written, SCRATCH_READ: kept, WRITE: written + synced, READ: read()}
