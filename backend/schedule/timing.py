"""A schedule from decisions: where each phase runs and who goes first, with everything else as early as it can be.

`lay_out` places phases in the order of priority.  Each shard starts at the first tick at which its operands have arrived,
its device is free after what was placed there before (or in a gap, with `Queueing.INSERT`) and its memory fits; transfers
take the first gap of their channel.  The result obeys every Note of `problem` and the directives about order, memory and
copies; the modes, and so the directives about placement, are the caller's.  Deterministic, integers only.

Invariants: a buffer's end is not known before its last use is placed, so it counts for ever until then; a schedule that is
returned is therefore within memory at every tick.  `None` says that the decisions do not fit as they stand, not that none do.

Neighbours: `prepared` (tables), `layout` (the placing), `routes` (links), `levels` (memory); every planner calls this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .layout import Layout
from .levels import FOREVER
from .pieces import DoesNotFit
from .prepared import Decisions, Mode, Prepared, Queueing, Sending
from .problem import Problem, Schedule

__all__ = ["Decisions", "Mode", "Queueing", "Sending", "Shortage", "Timer", "decisions_of", "lay_out", "left_shift"]


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why decisions cannot be laid out: `device` is short of memory for `phase`; -1: no order, route or kernel; -2: past the
    limit.  `placed` phases had fitted."""

    device: int
    phase: int
    placed: int = 0


class Timer(Prepared):
    """A problem prepared for many layouts."""

    def attempt(self, decisions: Decisions, limit: int = FOREVER) -> Layout | Shortage:
        """The layout, or what was short; a layout that would end after `limit` is given up."""
        order = self.legal(decisions.priority)
        if order is None or not self.limits.possible:
            return Shortage(-1, -1)
        layout = Layout(self, decisions)
        try:
            layout.place_all(order, limit)
        except DoesNotFit as failure:
            return Shortage(failure.device, failure.phase, layout.placed)
        return layout

    def makespan(self, decisions: Decisions) -> int | None:
        """The makespan alone; faster than `lay_out`."""
        layout = self.attempt(decisions)
        return layout.makespan if isinstance(layout, Layout) else None

    def lay_out(self, decisions: Decisions) -> Schedule | None:
        """The schedule; where memory does not fit with transfers sent late, also tried with transfers sent early."""
        layout = self.attempt(decisions)
        if isinstance(layout, Shortage) and self.capped and decisions.sending is Sending.LATE:
            layout = self.attempt(replace(decisions, sending=Sending.EARLY))
        return layout.schedule() if isinstance(layout, Layout) else None


def lay_out(problem: Problem, decisions: Decisions) -> Schedule | None:
    """The schedule that `decisions` lead to, or None.  Callers with many decisions keep a `Timer`."""
    return Timer(problem).lay_out(decisions)


def left_shift(timer: Timer, schedule: Schedule) -> Schedule:
    """The best of `schedule` and of laying out its own decisions again."""
    best = schedule
    for queueing in Queueing:
        for sending in Sending:
            again = timer.lay_out(decisions_of(timer.problem, schedule, queueing, sending))
            if again is not None and again.makespan < best.makespan:
                best = again
    return best


def decisions_of(
    problem: Problem, schedule: Schedule, queueing: Queueing = Queueing.APPEND, sending: Sending = Sending.LATE
) -> Decisions:
    """The modes of a schedule and its phases by their first start."""
    modes: list[list[tuple[int, int]]] = [[] for _ in problem.phases]
    starts = [FOREVER] * len(problem.phases)
    for shard in sorted(schedule.shards, key=lambda s: (s.phase, s.first)):
        modes[shard.phase].append((int(shard.device), shard.stop - shard.first))
        starts[shard.phase] = min(starts[shard.phase], shard.start)
    order = sorted(range(len(starts)), key=lambda p: (starts[p], p))
    return Decisions(tuple(tuple(mode) for mode in modes), tuple(order), queueing, sending)
