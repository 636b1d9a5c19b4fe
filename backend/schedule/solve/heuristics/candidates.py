"""A named plan: decisions, and the schedule they lead to if they fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ...answer import Decisions, Queueing, Schedule, Sending
from ...constraints import Restrictions
from ...timeline.timing import Timer

MOST_SHARDS: Final = 3000


@dataclass(frozen=True, slots=True)
class Candidate:
    """`schedule` is None where the decisions break a constraint."""

    name: str
    decisions: Decisions
    schedule: Schedule | None

    @property
    def ticks(self) -> int | None:
        return None if self.schedule is None else self.schedule.makespan


def acceptable(limits: Restrictions, schedule: Schedule) -> bool:
    """Whether a schedule of legal modes keeps to the number of machines and the deadline."""
    if limits.machines is not None and len({shard.device for shard in schedule.shards}) > limits.machines:
        return False
    return limits.deadline is None or schedule.makespan <= limits.deadline


def legal_modes(timer: Timer, decisions: Decisions) -> bool:
    """Whether the modes deal out all rows and keep to the directives about devices and cuts."""
    limits = timer.limits
    for p, mode in enumerate(decisions.modes):
        if sum(rows for _, rows in mode) != timer.problem.phases[p].units:
            return False
        allowed = limits.devices[p]
        if allowed is not None and any(device not in allowed for device, _ in mode):
            return False
        if p in limits.fixed and mode != limits.fixed[p]:
            return False
        if p in limits.unsplit and len(mode) > 1:
            return False
    return True


def retime(timer: Timer, name: str, decisions: Decisions) -> Candidate:
    """The best schedule of the decisions over the ways of queueing and sending that fit (of very many shards only as given)."""
    best: Schedule | None = None
    once = sum(map(len, decisions.modes)) > MOST_SHARDS
    if legal_modes(timer, decisions):
        for queueing in (decisions.queueing,) if once else dict.fromkeys((decisions.queueing, *Queueing)):
            for sending in (decisions.sending,) if once else Sending:
                schedule = timer.lay_out(replace(decisions, queueing=queueing, sending=sending))
                if schedule is None or not acceptable(timer.limits, schedule):
                    continue
                if best is None or schedule.makespan < best.makespan:
                    best = schedule
                    decisions = replace(decisions, queueing=queueing, sending=sending)
    return Candidate(name, decisions, best)
