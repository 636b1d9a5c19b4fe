"""What the disk of the folder for temporary files takes to read and write: calls on a file that has no name.

Neighbours: `timing` (measures), `backend.devices.disks` (looks it up).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Final

import numpy as np

from ...devices.disks import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE
from .timing import Row, Times
from .ways import call

BYTES: Final = 32 << 20
_PAGE: Final = 1 << 12
"""A table has what one takes: more are in proportion."""


def _calls(*acts: Callable[[int, bytearray], object]) -> Times:
    def make(size: int) -> Callable[[], object]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (it goes with the call)
        room = bytearray(np.random.default_rng(0).bytes(size))  # which no file system makes shorter
        if os.pwrite(file.fileno(), room, 0) < size:
            raise OSError
        return lambda: [act(file.fileno(), room) for act in acts]

    return call(make) * (_PAGE / BYTES)


def _write(file: int, room: bytearray) -> None:
    os.pwrite(file, room, 0)


def _sync(file: int, _: bytearray) -> None:
    os.fsync(file)


def _forget(file: int, _: bytearray) -> None:
    """Where that can be asked for."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)


def _read(file: int, room: bytearray) -> None:
    os.preadv(file, [room], 0)


ROWS: Final = (
    Row(SCRATCH_WRITE, _calls(_write), (BYTES,), at=_PAGE),
    Row(WRITE, _calls(_write, _sync), (BYTES,), at=_PAGE),
    Row(SCRATCH_READ, _calls(_read), (BYTES,), at=_PAGE),
    Row(READ, _calls(_sync, _forget, _read), (BYTES,), at=_PAGE),
)
"""`_sync` first: what is not on the disk is not forgotten."""
