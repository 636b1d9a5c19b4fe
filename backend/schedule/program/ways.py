"""How long a loop takes at the least with the way of its states: from home to the devices that run it, and back.

Devices that run a loop together begin and end it in one tick.  So what they have of its first states has come over each channel
before, what they have of its results goes back after, and all of them have the time between for their turns.

Neighbours: `gangs` (asks for it; Note [Bound]), `turning` (what a turn is).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from typing import Final

from ...graph import traverse
from ...graph.phases import Loop
from ..facts.sharding import shape_of
from ..problem import PhaseTask, Ticks
from ..solve.bounds import Bounds
from ..solve.costs import Costs
from ..solve.filling import least
from ..timeline.timing import Timer
from .together import ProgramProblem
from .turning import Turning

STEP: Final = 256
"""Times of a loop are looked at in steps of one part in so many."""


@dataclass(slots=True)
class _Way:
    """Devices that are reached from home, and left, over the same channels: ticks of all rows there and back, and of none."""

    each: Fraction
    fixed: int
    devices: list[int] = field(default_factory=list)

    def rows(self, time: int, rows: int) -> int:
        """At least as many of all rows as can be brought there and back in a time."""
        if not self.each:
            return rows
        return min(rows, max(0, int((time - self.fixed) * rows / self.each)) + len(self.devices))


def ways(program: ProgramProblem, place: int, one: Turning, turns: int) -> int:
    """The least ticks from when its first states are made until its results are read, of a loop on one device or along these
    cuts; `turns`: no devices that run it together take fewer for its turns alone."""
    problem, timer, loop = program.problem, Timer(program.problem), program.phases[place]
    assert isinstance(loop, Loop)
    sizes = _moved(program, loop)
    alone = {device: problem.phases[place].ticks.get(kind) for device, kind in enumerate(timer.kinds)}
    by_one = min(_alone(timer, device, table, sizes) for device, table in alone.items() if table is not None)
    cut = [axis is not None for axis in one.spread.axes]
    groups = _groups(timer, [sum(size for size, own in zip(each, cut, strict=True) if own) for each in sizes])
    bounds, trip = Bounds(Costs(Timer(one.empty().problem))), loop.trip.constant or 0
    waits = [_waits(bounds, one.rows, device) for device in range(len(timer.kinds))]
    best, low = by_one, turns
    while low < best:
        high = max(low + trip, low * (STEP + 1) // STEP)
        room = [sum(_rows(bounds, waits[device], device, high // trip, one.rows) for device in way.devices) for way in groups]
        if sum(room) >= one.rows:
            best = min(best, low + _sending(groups, room, one.rows, best - low))
        low = high
    return best


def _sending(groups: Sequence[_Way], room: Sequence[int], rows: int, most: int) -> int:
    """The least ticks, up to `most`, in which all rows come to groups of devices with room for so many each, and go back."""

    def enough(time: int) -> bool:
        return sum(min(own, way.rows(time, rows)) for own, way in zip(room, groups, strict=True)) >= rows

    return least(0, most, enough)


def _moved(program: ProgramProblem, loop: Loop) -> tuple[list[int], list[int]]:
    """Bytes of each first state that is at home from the start, and of each result that is read there as a whole."""
    types, tasks = program.bound.graph.types, program.problem.phases
    sizes = [
        [types[value].element.kind.bytes * prod(shape_of(value, types) or (0,)) for value in values]
        for values in (loop.initial, loop.results)
    ]
    each = list(zip(program.phases, tasks, strict=True))
    given = [phase for phase, task in each if is_given(task)]
    there = {value for phase in given for value in traverse.results(phase)}
    back = {value for phase, task in each if reads_at_home(task) for value in traverse.uses(phase)}
    return (
        [size * (value in there) for value, size in zip(loop.initial, sizes[0], strict=True)],
        [size * (value in back) for value, size in zip(loop.results, sizes[1], strict=True)],
    )


def is_given(task: PhaseTask) -> bool:
    """Is its output at home from the start?"""
    return task.home and not any(table.at(task.units) for table in task.ticks.values())


def reads_at_home(task: PhaseTask) -> bool:
    return task.home and not task.rows


def _alone(timer: Timer, device: int, table: Ticks, sizes: Sequence[Sequence[int]]) -> int:
    """Ticks of the loop on one device, with its way."""
    moved = [(sum(size), ends) for size, ends in zip(sizes, ((timer.home, device), (device, timer.home)), strict=True)]
    total = table.at(1)
    for size, ends in moved:
        path = timer.routes.path(*ends) if device != timer.home and size else ()
        total += sum(timer.problem.links[hop.link].occupied(size) + hop.latency for hop in path or ())
    return total


def _groups(timer: Timer, sizes: Sequence[int]) -> list[_Way]:
    """Home, and the other devices by the channels that lead there and back."""
    found: dict[object, _Way] = {timer.home: _Way(Fraction(0), 0, [timer.home])}
    for device in range(len(timer.kinds)):
        if device == timer.home:
            continue
        hops = [timer.routes.path(*ends) or () for ends in ((timer.home, device), (device, timer.home))]
        used = [hop for path, size in zip(hops, sizes, strict=True) if size for hop in path]
        rates = [
            (timer.problem.links[hop.link].bytes_per_tick, size) for path, size in zip(hops, sizes, strict=True) for hop in path
        ]
        each = sum((size / rate for rate, size in rates if rate is not None), Fraction(0))
        way, channels = _Way(each, sum(hop.latency for hop in used)), tuple(hop.channel for hop in used)
        known = found.setdefault(channels if channels and None not in channels else device, way)
        known.each, known.fixed = min(known.each, way.each), min(known.fixed, way.fixed)
        known.devices.append(device)
    return list(found.values())


def _rows(bounds: Bounds, waits: Mapping[int, int], device: int, time: int, rows: int) -> int:
    """At least as many rows as a device can have for a turn to end in a time, another device having one."""
    return min((bounds.timer.most(p, device, time - wait) if time >= wait else 0 for p, wait in waits.items()), default=rows)


def _waits(bounds: Bounds, rows: int, device: int) -> dict[int, int]:
    """By phase that has the rows of a mode: ticks of a turn in which its shard on a device does not run.  What reads rows beside
    its own gets some from another device."""
    timer, kind = bounds.timer, bounds.costs.class_of[device]
    paths = [path for near in range(len(timer.kinds)) if near != device and (path := timer.routes.path(near, device))]
    beside = min((sum(hop.latency for hop in path) for path in paths), default=0) + (timer.syncs[device] if paths else 0)
    found = {}
    for p, task in enumerate(bounds.phases):
        if task.rows != rows or kind not in bounds.heads[p]:
            continue
        sources = [(edge, bounds.phases[timer.sources[edge]]) for edge in timer.incoming[p] if timer.delays[edge] is None]
        halo = any(timer.problem.edges[edge].halo and source.rows > 1 and not source.is_gathered for edge, source in sources)
        found[p] = max(bounds.heads[p][kind], beside if halo else 0) + bounds.rest(p, kind)
    return found
