"""What a planner knows so far: the best schedule, the best bound, and why; and what failed on the way.

Note [Stages].  A planner is a list of stages, each of which may improve the schedule or raise the bound.  None of them may lose
what others found: a stage that raises, or whose schedule the verifier refuses, is left out (`Found.stage`) and noted, and the
best verified schedule before it stands.  A bound above a verified schedule is wrong whoever derived it: it is withdrawn, and the
answer is called a gap.  With RHO_STAGES=strict, as in tests, a failure is raised, so that none stays unseen.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from ....lang.diagnostics import RhoError
from ..answer import Schedule
from ..problem import Problem
from ..verify.schedules import verify_schedule

Listener: TypeAlias = "Callable[[Found], None]"

LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
"""Who is told of every better schedule and every higher bound (a progress line); set in the thread that plans."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A stage that was left out, and why; `error` is what it raised, if it did."""

    stage: str
    why: str
    error: Exception | None = None

    def __str__(self) -> str:
        return f"{self.stage}: {self.why}"


class StageFailed(AssertionError):
    """A stage failed where failures are raised."""


def refusal(problem: Problem, schedule: Schedule) -> str | None:
    """The first thing that the verifier has against a schedule."""
    return next((f"{one.code.name}: {one.message}" for one in verify_schedule(problem, schedule)), None)


@contextmanager
def guarded(stage: str, failures: list[Failure]) -> Iterator[None]:
    """Go on after the block whatever it raises, but for what Rho tells its users.  See Note [Stages]."""
    try:
        yield
    except (RhoError, StageFailed):
        raise
    except Exception as error:
        note(Failure(stage, f"{type(error).__name__}: {error}", error), failures)


def note(failure: Failure, failures: list[Failure]) -> None:
    """Go on without a stage."""
    if os.environ.get("RHO_STAGES") == "strict":
        raise StageFailed(str(failure)) from failure.error
    failures.append(failure)


@dataclass(slots=True)
class Found:
    """`bound` holds by `method` ("none" as long as it is 0) with `detail` as in `Proof`; `aborted`: the clock cut the
    search short, so another run might find another plan."""

    schedule: Schedule | None = None
    bound: int = 0
    method: str = "none"
    detail: dict[str, int] | None = None
    aborted: bool = False
    failures: list[Failure] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, problem: Problem) -> Iterator[None]:
        """The block is a stage.  See Note [Stages]."""
        schedule, bound = self.schedule, (self.bound, self.method, self.detail)
        with guarded(name, self.failures):
            yield
        if self.schedule is not None and self.schedule is not schedule:
            wrong = refusal(problem, self.schedule)
            if wrong is not None:
                self.schedule = schedule
                note(Failure(name, f"its plan is not valid: {wrong}"), self.failures)
        if self.schedule is not None and self.bound > self.schedule.makespan:
            wrong = f"a lower bound of {self.bound} ({self.method}) for a plan of {self.schedule.makespan}"
            self.bound, self.method, self.detail = bound if bound[0] <= self.schedule.makespan else (0, "none", None)
            note(Failure(name, wrong), self.failures)

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
