"""Equal devices as a fork sees them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Worker:
    """Equal devices: when each is free at first, and by member in their order when its operand comes there, its ticks there
    (None: it cannot run), and the ticks that follow its end."""

    devices: tuple[int, ...]
    free: int
    come: tuple[int, ...]
    ticks: tuple[int | None, ...]
    rest: tuple[int, ...]
