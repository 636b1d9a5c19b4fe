"""How much work a planner may do: counts, not seconds, so that the same problem gives the same plan on any machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Budget:
    """`moves` of annealing for a problem of up to 16 phases (larger ones get fewer), `steps` of the solver (0: do not ask it;
    None: as many as it takes), a watchdog in seconds that can only abort, and numbers of `states` of the search over states.
    `without`: names of strategies that are left out."""

    moves: int
    steps: int | None
    seconds: float | None = None
    states: int = 1_000_000
    without: frozenset[str] = frozenset()


FAST: Final = Budget(400, 0)
DEFAULT: Final = Budget(4000, 20_000_000, 60.0, 8_000_000)
PROVE: Final = Budget(20_000, None, None, 400_000_000)
