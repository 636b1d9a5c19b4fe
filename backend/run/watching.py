"""Who looks on while a plan runs: told of the run's state once, before it begins, and free to read what phase is current.

Nothing is reported step by step, so that looking on costs the run nothing.  Neighbours: `executor` and `distributed` (who tell),
`shell.display.progress` (who asks).
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeAlias

from .machine import Machine

Watcher: TypeAlias = Callable[[Machine], None]

WATCHER: ContextVar[Watcher | None] = ContextVar("watcher", default=None)
"""Set by who wants to look on, in the thread that will run the plan.  Told of each queue's state where there are several."""


def announce(machine: Machine) -> None:
    watcher = WATCHER.get()
    if watcher is not None:
        watcher(machine)
