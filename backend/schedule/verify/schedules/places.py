"""V1, V3 and V8: what runs where, in which parts, and what the directives asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias, assert_never

from ...problem import (
    Adjacent,
    Before,
    Deadline,
    Directive,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    NoSplit,
    Order,
    Place,
    Replicate,
    Speculate,
    Split,
)
from ..violation import Rule, Violation
from .facts import Facts

Holds: TypeAlias = Callable[[int, int], bool]
"""Is all of an output on a device at the end?"""


def present(facts: Facts) -> Iterator[Violation]:
    """V1: every phase once, combined once if it combines; nothing else."""
    phases, devices = len(facts.problem.phases), len(facts.names)
    for shard in facts.schedule.shards:
        if not (0 <= shard.phase < phases and 0 <= shard.device < devices):
            yield Violation(Rule.V1, f"a shard speaks of phase {shard.phase} on device {shard.device}, which are not there")
    for moved in facts.schedule.transfers:
        if not (0 <= moved.phase < phases and 0 <= moved.source < devices and 0 <= moved.target < devices):
            yield Violation(Rule.V1, f"a transfer speaks of phase {moved.phase} or of devices that are not there")
        elif not 0 <= moved.first <= moved.stop:
            yield Violation(Rule.V1, f"a transfer of `{facts.id(moved.phase)}` has the units [{moved.first}, {moved.stop})")
    for step in facts.schedule.combines:
        if not 0 <= step.phase < phases or facts.problem.phases[step.phase].combine is None:
            yield Violation(Rule.V1, f"a combine speaks of phase {step.phase}, which has none")
    combines = Counter(int(step.phase) for step in facts.schedule.combines)
    for index, phase in enumerate(facts.problem.phases):
        shards = facts.shards.get(index, [])
        if not shards:
            yield Violation(Rule.V1, f"`{phase.id}` is not run")
        most = max(Counter(shard.device for shard in shards).values(), default=0)
        if most > (facts.problem.chunks if phase.rows and phase.together is None else 1):
            yield Violation(Rule.V1, f"`{phase.id}` is run {most} times on one device")
        elif phase.rows == 0 and len(shards) > 1:
            yield Violation(Rule.V1, f"`{phase.id}` is atomic and is run {len(shards)} times")
        if combines[index] != (phase.combine is not None):
            yield Violation(Rule.V1, f"`{phase.id}` is combined {combines[index]} times")


def tiled(facts: Facts) -> Iterator[Violation]:
    """V3: the shards' rows have no gap and no overlap."""
    for index, phase in enumerate(facts.problem.phases):
        at = 0
        for shard in sorted(facts.shards[index], key=lambda s: s.first):
            if shard.first != at or shard.stop <= shard.first:
                what = "overlap" if shard.first < at else "leave a gap" if shard.stop > shard.first else "are empty"
                yield Violation(Rule.V3, f"the shards of `{phase.id}` {what} at row {min(at, shard.first)}")
            at = max(at, shard.stop)
        if at != phase.units:
            yield Violation(Rule.V3, f"the shards of `{phase.id}` end at row {at} of {phase.units}")


def together(facts: Facts) -> Iterator[Violation]:
    """V3: what devices run together has the one mode that it was planned for."""
    for index, phase in enumerate(facts.problem.phases):
        if phase.together is not None:
            shards = sorted(facts.shards[index], key=lambda s: s.first)
            if tuple((shard.device, shard.stop - shard.first) for shard in shards) != phase.together.mode:
                yield Violation(Rule.V3, f"`{phase.id}` is not run by the devices, with the rows, that run it together")


def obeyed(facts: Facts, holds: Holds) -> Iterator[Violation]:
    """V8: home and classes, the order of effects, every directive."""
    for index, phase in enumerate(facts.problem.phases):
        for shard in facts.shards[index]:
            name = facts.names[shard.device]
            if phase.home and shard.device != facts.home:
                yield Violation(Rule.V8, f"`{phase.id}` must run on {facts.names[facts.home]} and runs on {name}")
            if facts.kind[shard.device] not in phase.ticks:
                yield Violation(Rule.V8, f"`{phase.id}` cannot run on {name}: it has no ticks for {facts.kind[shard.device]}")
    effects = [index for index, phase in enumerate(facts.problem.phases) if phase.effect]
    for first, then in pairwise(effects):
        yield from _completed(facts, first, then, "the order of effects")
    for directive in facts.problem.directives:
        yield from _directive(facts, directive, holds)


def _completed(facts: Facts, first: int, then: int, why: str) -> Iterator[Violation]:
    start = min(shard.start for shard in facts.shards[then])
    if facts.ended(first) > start:
        ends = facts.ended(first)
        yield Violation(Rule.V8, f"{why}: `{facts.id(then)}` starts at {start}, before `{facts.id(first)}` ends at {ends}")


def _directive(facts: Facts, directive: Directive, holds: Holds) -> Iterator[Violation]:
    text = f"`{directive.line.text}`"

    def broken(message: str) -> Violation:
        return Violation(Rule.V8, f"{text}: {message}")

    match directive:
        case Place():
            allowed = facts.named(directive.device)
            for phase in directive.phases:
                for shard in facts.shards[phase]:
                    if shard.device not in allowed:
                        yield broken(f"`{facts.id(phase)}` runs on {facts.names[shard.device]}")
        case Before():
            for first in directive.first:
                for then in directive.then:
                    yield from _completed(facts, first, then, text)
        case IssueBefore():
            for first in directive.first:
                for then in directive.then:
                    if not _issued(facts, first, then):
                        yield broken(f"`{facts.id(then)}` is issued before `{facts.id(first)}`")
        case Split():
            yield from _split(facts, directive)
        case NoSplit():
            if len(facts.shards[directive.phase]) > 1:
                yield broken(f"it runs in {len(facts.shards[directive.phase])} parts")
        case Replicate():
            for device in sorted(facts.used):
                if not holds(directive.phase, device):
                    yield broken(f"{facts.names[device]} is used and lacks it")
        case Keep():
            if not any(holds(directive.phase, device) for device in facts.named(directive.device)):
                yield broken("it is not there at the end")
        case LimitMachines():
            if len(facts.used) > directive.count:
                yield broken(f"{len(facts.used)} are used")
        case Deadline():
            if facts.schedule.makespan > directive.ticks:
                yield broken(f"the schedule takes {facts.schedule.makespan} ticks, not {directive.ticks}")
        case Adjacent():
            yield from _adjacent(facts, directive.first, directive.then)
        case Order():
            yield from _ordered(facts, directive)
        case LimitMemory() | Speculate():
            pass  # V5 counts with the limit; speculation is a choice between problems
        case _:
            assert_never(directive)


def _opening(facts: Facts, phase: int) -> int:
    return min(shard.start for shard in facts.shards[phase])


def _issued(facts: Facts, first: int, then: int) -> bool:
    if _opening(facts, first) > _opening(facts, then):
        return False
    both = [(one, other) for one in facts.shards[first] for other in facts.shards[then] if one.device == other.device]
    return all((early.start, early.end) <= (late.start, late.end) for early, late in both)


def _split(facts: Facts, directive: Split) -> Iterator[Violation]:
    rows = facts.problem.phases[directive.phase].units
    parts = directive.parts or (1,) * len(directive.devices)
    exact = [Fraction(rows * part, sum(parts)) for part in parts]
    whole = [share.__floor__() for share in exact]
    by_rest = sorted(range(len(parts)), key=lambda place: whole[place] - exact[place])
    more = frozenset(by_rest[: rows - sum(whole)])
    found: dict[int, int] = {shard.device: shard.stop - shard.first for shard in facts.shards[directive.phase]}
    if len(found) < len(facts.shards[directive.phase]):
        yield Violation(Rule.V8, f"`{directive.line.text}`: a device has several parts of it")
    wanted = {facts.names.index(name): whole[place] + (place in more) for place, name in enumerate(directive.devices)}
    if found != {device: count for device, count in wanted.items() if count}:
        shares = ", ".join(f"{facts.names[device]} has {count}" for device, count in sorted(found.items()))
        yield Violation(Rule.V8, f"`{directive.line.text}`: of {rows} rows {shares}")


def _adjacent(facts: Facts, first: int, then: int) -> Iterator[Violation]:
    """No queue of either has anything between them."""
    low, high = _opening(facts, first), _opening(facts, then)
    queues = {shard.device for phase in (first, then) for shard in facts.shards[phase]}
    starts = {(s.phase, s.start) for s in facts.schedule.shards if s.device in queues and s.phase not in (first, then)}
    between = sorted({phase for phase, start in starts if low < start < high})
    if low > high or between:
        names = ", ".join(f"`{facts.id(p)}`" for p in between[:3]) or "nothing"
        yield Violation(Rule.V8, f"`{facts.id(first)}` and `{facts.id(then)}` are not next to each other: {names} between")


def _ordered(facts: Facts, directive: Order) -> Iterator[Violation]:
    items = directive.items
    named = [item for item in items if item is not None]
    over = facts.shards if directive.over is None else directive.over
    others = [_opening(facts, phase) for phase in over if phase not in named]
    for first, then in pairwise(named):
        if _opening(facts, first) > _opening(facts, then):
            yield Violation(Rule.V8, f"`{directive.line.text}`: `{facts.id(then)}` comes before `{facts.id(first)}`")
    for left, right in pairwise(items):
        if left is not None and right is not None:
            yield from _adjacent(facts, left, right)
    if items[0] is not None and any(other < _opening(facts, items[0]) for other in others):
        yield Violation(Rule.V8, f"`{directive.line.text}`: something comes before `{facts.id(items[0])}`")
    if items[-1] is not None and any(other > _opening(facts, items[-1]) for other in others):
        yield Violation(Rule.V8, f"`{directive.line.text}`: something comes after `{facts.id(items[-1])}`")
