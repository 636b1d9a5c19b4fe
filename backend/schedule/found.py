"""What a planner knows so far: the best schedule, the best bound, and why.

Neighbours: `planner` and `large` fill it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeAlias

from .problem import Schedule

Listener: TypeAlias = "Callable[[Found], None]"

LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
"""Who is told of every better schedule and every higher bound (a progress line); set in the thread that plans."""


@dataclass(slots=True)
class Found:
    """`bound` holds by `method` ("none" as long as it is 0) with `detail` as in `Proof`; `aborted`: the clock cut the
    search short, so another run might find another plan."""

    schedule: Schedule | None = None
    bound: int = 0
    method: str = "none"
    detail: dict[str, int] | None = None
    aborted: bool = False

    def offer(self, schedule: Schedule | None) -> None:
        """Keep the shorter schedule; of equals the earlier."""
        if schedule is not None and (self.schedule is None or schedule.makespan < self.schedule.makespan):
            self.schedule = schedule
            self._tell()

    def raise_bound(self, ticks: int, method: str, detail: dict[str, int] | None = None) -> None:
        """A bound and its method; kept if it is higher, or the first."""
        if ticks > self.bound or self.method == "none":
            self.bound, self.method, self.detail = max(ticks, self.bound), method, detail
            self._tell()

    def _tell(self) -> None:
        listener = LISTENER.get()
        if listener is not None:
            listener(self)

    @property
    def met(self) -> bool:
        return self.schedule is not None and self.schedule.makespan <= self.bound
