"""What anybody would try first: one device, an even split, HEFT and PEFT, timed under the problem's own constraints."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from ...constraints import shares
from ...timeline.orders import order_of
from ...timeline.timing import Decisions, Mode
from ..costs import Costs
from .candidates import Candidate, retime
from .listing import heft, peft

MOST_EVEN: Final = 4_000
"""Shards of an even split in all; where every device would have one of every phase and there are more, each phase takes fewer."""


def baselines(costs: Costs) -> tuple[Candidate, ...]:
    """Best single device, even split, HEFT, PEFT; those that cannot be built at all are left out."""
    order = order_of(costs.timer.before)
    if order is None or not all(costs.allowed):
        return ()
    found = [_best_single(costs, order), even_split(costs, order)]
    for name, make in (("HEFT", heft), ("PEFT", peft)):
        decisions = make(costs)
        if decisions is not None:
            found.append(retime(costs.timer, name, decisions))
    return tuple(found)


def at_home(costs: Costs) -> Iterator[Candidate]:
    """Everything that may at home: in the order of the file, and each operand just before what first reads it."""
    before = costs.timer.before
    order = order_of(before, by_index=True)
    if order is None or not all(costs.allowed):
        return
    modes = tuple(costs.single(p, _nearest(costs, p, costs.timer.home)) for p in range(len(costs.allowed)))
    for priority in dict.fromkeys((tuple(order), tuple(_depth_first(before)))):
        yield retime(costs.timer, "at home", Decisions(modes, priority))


def _depth_first(before: Sequence[Collection[int]]) -> list[int]:
    """A topological order in which nothing is done before it is needed next."""
    read = {q for earlier in before for q in earlier}
    pending = [(p, False) for p in reversed(range(len(before))) if p not in read]
    placed: dict[int, None] = {}
    while pending:
        p, opened = pending.pop()
        if opened:
            placed[p] = None
        elif p not in placed:
            pending.append((p, True))
            pending += [(q, False) for q in sorted(before[p], reverse=True) if q not in placed]
    return list(placed)


def _best_single(costs: Costs, order: list[int]) -> Candidate:
    """Everything that may on one device, the rest at home or where it must; the best over the classes of devices."""
    best: Candidate | None = None
    for members in costs.members:
        device = members[0]
        modes = tuple(costs.single(p, _nearest(costs, p, device)) for p in range(len(costs.allowed)))
        found = retime(costs.timer, "best single", Decisions(modes, tuple(order)))
        if best is None or best.ticks is None or (found.ticks is not None and found.ticks < best.ticks):
            best = found
    assert best is not None
    return best


def _nearest(costs: Costs, phase: int, device: int) -> int:
    allowed = costs.allowed[phase]
    for wanted in (device, costs.timer.home):
        if costs.class_of[wanted] in costs.allowed_classes[phase] and wanted in allowed:
            return wanted
    return allowed[0]


def even_split(costs: Costs, order: list[int]) -> Candidate:
    """Every phase that can be cut evenly over all its devices; the others at home if they may."""
    cut = sum(1 for phase in costs.timer.problem.phases if phase.rows)
    most = max(2, MOST_EVEN // max(1, cut))
    modes = tuple(even_mode(costs, p, most) for p in range(len(costs.allowed)))
    return retime(costs.timer, "even split", Decisions(modes, tuple(order)))


def even_mode(costs: Costs, phase: int, most: int = MOST_EVEN) -> Mode:
    """Even shares for at most `most` devices, the first of those that may."""
    timer = costs.timer
    task = timer.problem.phases[phase]
    if phase in timer.limits.fixed or not task.rows or phase in timer.limits.unsplit:
        return costs.single(phase, _nearest(costs, phase, timer.home))
    devices = costs.allowed[phase][: min(task.rows, timer.limits.machines or task.rows, most)]
    return tuple(zip(devices, shares(task.rows, [1] * len(devices)), strict=True))
