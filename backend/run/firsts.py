"""Which of several failures is told, where several queues run: the same one whoever was quicker.

Of the shards of a phase the one whose items come first in the array is first, whenever it ran; shards are where the earliest of
their phase starts, and other steps where they start, on the predicted clock.

Neighbours: `queues` (says where each is), `clock` and `threads` (ask).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ...lang.diagnostics import RunFailed
from ..graph.phases import PhaseId
from ..schedule.plan.model import RunStep, Step
from .failures import CheckFailed

OF_THE_PROGRAM: Final = (RunFailed, CheckFailed)
"""After these the other queues go on; anything else stops them."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended queue number `queue`, at a step that is at `start` (see `Order`; in a loop also: in which turn, and where)."""

    start: tuple[int, ...]
    queue: int
    error: BaseException


class Order:
    """Where steps are."""

    def __init__(self, queues: Iterable[Sequence[Step]]) -> None:
        self.earliest: dict[PhaseId, int] = {}
        for step in (step for steps in queues for step in steps):
            if isinstance(step, RunStep) and step.box is not None:
                self.earliest[step.phase] = min(step.start, self.earliest.get(step.phase, step.start))

    def of(self, step: Step, now: tuple[int, ...]) -> tuple[int, ...]:
        """`now`: where what came before is."""
        if isinstance(step, RunStep) and step.box is not None:
            return self.earliest[step.phase], step.phase, *(first for first, _ in step.box)
        start = getattr(step, "start", None)
        return now if start is None else (start,)


def first_of(failures: Sequence[Failure]) -> Failure | None:
    """What stopped everything, else the first."""
    for failure in failures:
        if not isinstance(failure.error, OF_THE_PROGRAM):
            return failure
    return min(failures, key=lambda failure: (failure.start, failure.queue), default=None)
