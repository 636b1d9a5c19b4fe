"""How much work a planner may do: counts, not seconds, so that the same problem gives the same plan on any machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

DEFAULT_SECONDS: Final = 5
"""What the default budget's counts stand for."""


@dataclass(frozen=True, slots=True)
class Budget:
    """`moves` of annealing for a problem of up to 16 phases (larger ones get fewer), `steps` of the solver (0: do not ask it;
    None: as many as it takes) and a watchdog in seconds that can only abort.  `without`: names of strategies that are left
    out."""

    moves: int
    steps: int | None
    seconds: float | None = None
    without: frozenset[str] = frozenset()

    def lasting(self, seconds: float) -> Budget:
        """Work that takes about so long on the machine that the default's 5 seconds speak of."""
        times = seconds / DEFAULT_SECONDS
        steps = None if self.steps is None else max(1, int(self.steps * times))
        watchdog = None if self.seconds is None else max(self.seconds, 4 * seconds)
        return replace(self, moves=max(1, int(self.moves * times)), steps=steps, seconds=watchdog)


FAST: Final = Budget(400, 0)
DEFAULT: Final = Budget(4000, 20_000_000, 60.0)
PROVE: Final = Budget(20_000, None)
