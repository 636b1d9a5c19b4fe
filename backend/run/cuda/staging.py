"""Transfers between a card and the host's memory, through two pinned buffers of one size.

Only pinned memory is copied beside other work, and there is little of it: a value goes through piece by piece, one buffer being
filled or emptied while the card copies the other.  An event per buffer says when it is free again, so a value is on its way
when `up` returns, and nothing of the caller's memory is needed any more.

The copying stream waits for what computes (whose memory the copy may take), and what computes later waits for the copy.

Neighbours: `card` (asks for transfers).
"""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

import numpy as np

from ..cpu.kinds import NumArray

PINNED: Final = 1 << 16
"""Bytes from which a transfer goes through pinned memory."""
STAGE: Final = 1 << 23
"""Bytes of each buffer."""


class _Room:
    """A buffer, and the event after which it is free."""

    def __init__(self, xp: Any) -> None:
        self.bytes: NumArray = np.frombuffer(xp.cuda.alloc_pinned_memory(STAGE), np.uint8, STAGE)
        self.event = xp.cuda.Event(disable_timing=True)
        self.is_used = False

    def wait(self) -> None:
        if self.is_used:
            self.event.synchronize()

    def record(self, stream: Any) -> None:
        self.event.record(stream)
        self.is_used = True


class Staging:
    """The buffers of one card, made when they are first needed; one transfer at a time."""

    def __init__(self, xp: Any, compute: Any, copies: Any) -> None:
        self.xp, self.compute, self.copies = xp, compute, copies
        self._lock = Lock()
        self._rooms: list[_Room] = []
        self._turn = 0

    def up(self, host: NumArray) -> Any:
        """An array on the card.  Later work on the computing stream finds it complete."""
        made = self.xp.empty(host.shape, host.dtype)
        source = np.ascontiguousarray(host).reshape(-1).view(np.uint8)
        target = made.reshape(-1).view(np.uint8)
        with self._lock:
            self._after_computing()
            for start in range(0, source.size, STAGE):
                stop, room = min(start + STAGE, source.size), self._room()
                room.wait()
                part = room.bytes[: stop - start]
                part[...] = source[start:stop]
                target[start:stop].set(part, stream=self.copies)
                room.record(self.copies)
            self.compute.wait_event(room.event)
        return made

    def down(self, value: Any) -> NumArray:
        """A copy in the host's own memory; waits for it."""
        whole = self.xp.ascontiguousarray(value)
        source = whole.reshape(-1).view(np.uint8)
        made = np.empty(whole.shape, whole.dtype)
        target = made.reshape(-1).view(np.uint8)
        coming: list[tuple[int, int, _Room]] = []
        with self._lock:
            self._after_computing()
            for start in range(0, source.size, STAGE):
                stop, room = min(start + STAGE, source.size), self._room()
                room.wait()
                source[start:stop].get(stream=self.copies, out=room.bytes[: stop - start], blocking=False)
                room.record(self.copies)
                coming.append((start, stop, room))
                if len(coming) > 1:
                    _empty(coming.pop(0), target)
            for one in coming:
                _empty(one, target)
        return made

    def _room(self) -> _Room:
        if not self._rooms:
            self._rooms = [_Room(self.xp), _Room(self.xp)]
        self._turn ^= 1
        return self._rooms[self._turn]

    def _after_computing(self) -> None:
        event = self.xp.cuda.Event(disable_timing=True)
        event.record(self.compute)
        self.copies.wait_event(event)


def _empty(coming: tuple[int, int, _Room], target: NumArray) -> None:
    start, stop, room = coming
    room.wait()
    target[start:stop] = room.bytes[: stop - start]
