"""What the directives of a problem forbid, in the form that planners use: devices, orders, caps, wanted copies.

Contradictory directives are not found here (`solve.smt.conflict` does that): a planner that meets one finds no schedule.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .problem import (
    Adjacent,
    Before,
    Deadline,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    NoSplit,
    Order,
    Place,
    Problem,
    Replicate,
    Speculate,
    Split,
)


@dataclass(slots=True)
class Restrictions:
    """`devices` per phase: None means any that has ticks for it; `wanted` per phase: devices that must have all of its
    output at the end (`replicated`: every device that is used); `glued`: (x, z) with nothing between them in the order."""

    devices: list[frozenset[int] | None]
    fixed: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    unsplit: set[int] = field(default_factory=set)
    after: list[list[int]] = field(default_factory=list)
    issued: list[list[int]] = field(default_factory=list)
    glued: dict[int, int] = field(default_factory=dict)
    caps: list[int | None] = field(default_factory=list)
    wanted: dict[int, set[int]] = field(default_factory=dict)
    replicated: set[int] = field(default_factory=set)
    machines: int | None = None
    deadline: int | None = None
    possible: bool = True


def devices_named(problem: Problem, name: str) -> frozenset[int]:
    """Every device that is the instance `name`, or of the group or class of that name; `gpu` is also a class `gpu/gpu1`, one of
    several that differ."""
    found: list[int] = []
    first = 0
    for group in problem.devices:
        if name in (group.id, group.kind, group.kind.partition("/")[0]):
            found += range(first, first + group.count)
        else:
            found += [first + i for i, instance in enumerate(group.names()) if instance == name]
        first += group.count
    return frozenset(found)


def shares(rows: int, parts: Sequence[int]) -> list[int]:
    """`rows` in proportion to `parts`, the rest by largest remainder (the earlier of equals)."""
    total = sum(parts)
    counts = [rows * part // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(rows * parts[i] % total), i))
    for i in by_remainder[: rows - sum(counts)]:
        counts[i] += 1
    return counts


def restrictions(problem: Problem) -> Restrictions:
    """The directives of `problem`, its home phases and the order of its effects."""
    count = len(problem.phases)
    caps = [group.memory for group in problem.devices for _ in range(group.count)]
    home = int(problem.home)
    result = Restrictions([None] * count, after=[[] for _ in range(count)], issued=[[] for _ in range(count)], caps=caps)
    last_effect: int | None = None
    for index, phase in enumerate(problem.phases):
        if phase.home:
            result.devices[index] = frozenset((home,))
        elif phase.rows and not any(table.at(phase.rows) for table in phase.ticks.values()):
            able = sum(group.count for group in problem.devices if group.kind in phase.ticks)
            if able == 1:  # there from the start, such as an input in a store: parts of it are no sooner there
                result.unsplit.add(index)
        if phase.effect:
            if last_effect is not None:
                result.after[index].append(last_effect)
            last_effect = index
        if phase.together is not None:
            result.fixed[index] = tuple((int(device), rows) for device, rows in phase.together.mode)
    for directive in problem.directives:
        match directive:
            case Place(_, phases, device):
                for p in phases:
                    _restrict(result, p, devices_named(problem, device))
            case Before(_, first, then):
                for q in then:
                    result.after[q] += first
            case IssueBefore(_, first, then):
                for q in then:
                    result.issued[q] += first
            case Split(_, p, parts, names):
                _split(problem, result, p, parts, names)
            case NoSplit(_, p):
                result.unsplit.add(p)
            case Replicate(_, p):
                result.replicated.add(p)
            case Keep(_, p, device):
                targets = devices_named(problem, device)
                result.wanted.setdefault(p, set()).update(sorted(targets)[:1])
                result.possible &= bool(targets)
            case LimitMemory(_, device, size):
                for d in devices_named(problem, device):
                    cap = caps[d]
                    caps[d] = size if cap is None else min(size, cap)
            case LimitMachines(_, limit):
                result.machines = limit if result.machines is None else min(limit, result.machines)
            case Deadline(_, ticks):
                result.deadline = ticks if result.deadline is None else min(ticks, result.deadline)
            case Adjacent(_, x, z):
                _glue(result, x, z)
            case Order(_, items, over):
                _order(result, items, range(count) if over is None else over)
            case Speculate():
                pass
    for index, mode in result.fixed.items():
        chosen = result.devices[index]
        result.possible &= len(mode) == 1 or index not in result.unsplit
        result.possible &= chosen is None or all(device in chosen for device, _ in mode)
    return result


def _restrict(result: Restrictions, phase: int, allowed: frozenset[int]) -> None:
    before = result.devices[phase]
    result.devices[phase] = allowed if before is None else before & allowed
    result.possible &= bool(result.devices[phase])


def _split(problem: Problem, result: Restrictions, phase: int, parts: tuple[int, ...], names: tuple[str, ...]) -> None:
    own = problem.device_names()  # each name is of one instance, though a class may be called so too
    devices = [own.index(name) for name in names if name in own]
    if not devices or len(set(devices)) != len(devices) or (parts and len(parts) != len(devices)):
        result.possible = False
        return
    counts = shares(problem.phases[phase].units, parts or [1] * len(devices))
    mode = tuple((d, rows) for d, rows in zip(devices, counts, strict=True) if rows)
    result.possible &= phase not in result.fixed or result.fixed[phase] == mode
    result.fixed[phase] = mode


def _glue(result: Restrictions, first: int, then: int) -> None:
    result.possible &= result.glued.get(first, then) == then
    result.glued[first] = then
    result.issued[then].append(first)


def _order(result: Restrictions, items: tuple[int | None, ...], over: Iterable[int]) -> None:
    named = [item for item in items if item is not None]
    for before, item in pairwise(items):
        if before is not None and item is not None:
            _glue(result, before, item)
    for first, then in pairwise(named):
        result.issued[then].append(first)
    others = [p for p in over if p not in named]
    if named and items[0] is not None:
        for p in others:
            result.issued[p].append(named[0])
    if named and items[-1] is not None:
        for p in others:
            result.issued[named[-1]].append(p)


def allowed_devices(problem: Problem, limits: Restrictions, phase: int) -> list[int]:
    """Devices, in order, that may run `phase`."""
    chosen = limits.devices[phase]
    ticks = problem.phases[phase].ticks
    result: list[int] = []
    first = 0
    for group in problem.devices:
        if group.kind in ticks:
            result += [d for d in range(first, first + group.count) if chosen is None or d in chosen]
        first += group.count
    return result
