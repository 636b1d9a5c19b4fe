"""What a program costs, as formulas in its sizes: operations by kind, bytes read and written, memory.

For `rho type --cost` and `rho run --analyze`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..backend.graph import lower, optimise
from ..backend.graph.costs import graph_cost
from ..typechecker.core import Core
from .outcome import Outcome
from .session import Loaded


@dataclass(frozen=True, slots=True)
class CostReport:
    """Formulas as text, numbers where the program has no symbolic size."""

    operations: dict[str, str]
    bytes_read: str
    bytes_written: str

    def lines(self) -> list[str]:
        counts = ", ".join(f"{count} {kind}" for kind, count in self.operations.items()) or "none"
        return [f"operations  {counts}", f"reads       {self.bytes_read} bytes", f"writes      {self.bytes_written} bytes"]

    def json(self) -> dict[str, Any]:
        return {"operations": self.operations, "bytes_read": self.bytes_read, "bytes_written": self.bytes_written}


def cost_of_program(core: Core) -> CostReport:
    """The cost after the passes; run-time sizes count at their caps."""
    cost = graph_cost(optimise(lower(core)))
    return CostReport({kind: str(count) for kind, count in sorted(cost.operations.items())}, str(cost.read), str(cost.written))


def measured(loaded: Loaded, execute: Callable[[], Outcome]) -> Outcome:
    """Run, and put how long it took beside the predicted peak of memory into the outcome's plan.

    The back end is loaded first, so that the time is that of reading the data and computing."""
    from ..backend.run import cpu, executor  # noqa: F401

    start = time.perf_counter()
    outcome = execute()
    seconds = time.perf_counter() - start
    predicted = {str(device): count for device, count in loaded.plan.main.peak}
    return replace(outcome, plan={**outcome.plan, "measured": {"seconds": seconds}, "predicted": {"peak_bytes": predicted}})
