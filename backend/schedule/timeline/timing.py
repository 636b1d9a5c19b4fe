"""A schedule from decisions: where each phase runs and who goes first, with everything else as early as it can be.

`lay_out` expands the modes and simulates the steps in the order of priority.  The modes, and so the directives about placement,
are the caller's.  `None` says that the decisions do not fit as they stand, not that none do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..answer import Decisions, Mode, Queueing, Schedule, Sending
from ..problem import Problem
from .expand import Steps, expand
from .levels import FOREVER
from .prepared import Prepared
from .resources import DoesNotFit
from .simulate import Simulation

__all__ = ["Decisions", "Mode", "Queueing", "Sending", "Shortage", "Timer", "decisions_of", "lay_out"]


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why decisions cannot be laid out: `device` is short of memory for `phase`; -1: no order, route or kernel; -2: past the
    limit.  `placed` phases had fitted."""

    device: int
    phase: int
    placed: int = 0


class Timer(Prepared):
    """A problem prepared for many simulations; the last expansion is kept, with which the next shares what it can."""

    _known: Steps | None = None

    def expanded(self, modes: tuple[Mode, ...]) -> Steps:
        self._known = expand(self, modes, self._known)
        return self._known

    def attempt(self, decisions: Decisions, limit: int = FOREVER) -> Simulation | Shortage:
        """The simulation, or what was short; one that would end after `limit` is given up."""
        order = self.legal(decisions.priority)
        if order is None or not self.limits.possible:
            return Shortage(-1, -1)
        simulation = Simulation(self, self.expanded(decisions.modes), decisions)
        try:
            simulation.place_all(order, limit)
        except DoesNotFit as failure:
            return Shortage(failure.device, failure.phase, simulation.placed)
        return simulation

    def makespan(self, decisions: Decisions) -> int | None:
        """The makespan alone; faster than `lay_out`."""
        made = self.attempt(decisions)
        return made.makespan if isinstance(made, Simulation) else None

    def lay_out(self, decisions: Decisions) -> Schedule | None:
        """The schedule; where memory does not fit with transfers sent late, also tried with transfers sent early."""
        made = self.attempt(decisions)
        if isinstance(made, Shortage) and self.capped and decisions.sending is Sending.LATE:
            made = self.attempt(replace(decisions, sending=Sending.EARLY))
        return made.schedule() if isinstance(made, Simulation) else None


def lay_out(problem: Problem, decisions: Decisions) -> Schedule | None:
    """The schedule that `decisions` lead to, or None.  Callers with many decisions keep a `Timer`."""
    return Timer(problem).lay_out(decisions)


def decisions_of(problem: Problem, schedule: Schedule) -> Decisions:
    """Those that were laid out to a schedule; of any other, its modes and its phases by their first start, which may take longer:
    no order of phases says in which order links send."""
    if schedule.decisions is not None:
        return schedule.decisions
    modes: list[list[tuple[int, int]]] = [[] for _ in problem.phases]
    starts = [FOREVER] * len(problem.phases)
    for shard in sorted(schedule.shards, key=lambda s: (s.phase, s.first)):
        modes[shard.phase].append((int(shard.device), shard.stop - shard.first))
        starts[shard.phase] = min(starts[shard.phase], shard.start)
    order = sorted(range(len(starts)), key=lambda p: (starts[p], p))
    return Decisions(tuple(tuple(mode) for mode in modes), tuple(order), Queueing.INSERT)
