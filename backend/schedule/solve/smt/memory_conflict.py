"""What cannot be held: a phase that is more than its devices have, or results that stay to the end.  No solver needed.

All sizes are least ones, of every schedule that the problem allows: of a phase in chunks its largest chunk has at least the rows
that equal chunks have.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final

from .....lang.codes import Code
from ...answer import Conflict
from ...constraints import devices_named
from ...problem import Keep, LimitMemory, NoSplit, PhaseIndex, Place, Problem, Split, Ticks
from ...timeline.timing import Timer
from ..chunking import chunked
from ..costs import Costs
from ..filling import bytes_text, most

MOST_FOLLOWED: Final = 400
"""Phases of a problem in which it is asked what stays on a device from before a phase on."""


def memory_conflict(problem: Problem) -> Conflict | None:
    """SCH103 where one phase, or what stays to the end, is more than devices can hold."""
    found = _shortage(problem) or _staying(problem)
    if found is None:
        return None
    short = _shortage if _shortage(problem) is not None else _staying
    kept = [one for one in problem.directives if isinstance(one, LimitMemory | Place | Split | NoSplit | Keep)]
    others = tuple(one for one in problem.directives if one not in kept)
    for directive in list(reversed(kept)):
        rest = [one for one in kept if one is not directive]
        again = short(replace(problem, directives=(*others, *rest)))
        if again is not None:
            kept, found = rest, again
    return replace(found, directives=tuple(kept))


def _shortage(problem: Problem) -> Conflict | None:
    """A phase that its devices cannot hold with what it reads."""
    timer = Timer(problem)
    if not timer.limits.possible:
        return None
    costs = Costs(timer)
    for p, phase in enumerate(problem.phases):
        devices, fixed = costs.allowed[p], timer.limits.fixed.get(p)
        if phase.combine is not None:
            need = timer.grain(phase.combine.bytes) + timer.grain(phase.out_bytes)
            if need > (cap := _cap(timer, timer.home, need)):
                words = f"`{phase.id}` needs {bytes_text(need)} to put its partial results together"
                return _conflict(problem, timer, (words,), [timer.home], need - cap, p)
        if fixed is not None:
            for device, rows in fixed:
                need = least_bytes(timer, p, device, rows)
                if need > (cap := _cap(timer, device, need)):
                    return _conflict(problem, timer, (f"`{phase.id}` needs {bytes_text(need)} there",), [device], need - cap, p)
            continue
        if phase.together is not None or not devices or any(timer.caps[d] is None for d in devices):
            continue
        rows = phase.units
        cut = bool(phase.rows) and p not in timer.limits.unsplit

        room = [most(rows, _within(timer, p, device)) for device in devices]
        if (sum(room) if cut else max(room)) >= rows:
            continue
        need, device = min((least_bytes(timer, p, device, rows), device) for device in devices)
        parts = f" in {_chunks(timer, p)} parts" if _chunks(timer, p) > 1 else ""
        words = f"`{phase.id}` needs {bytes_text(need)} with its operands{parts}"
        if cut and len(devices) > 1:
            missing = -(-need * (rows - sum(room)) // rows)
            return _conflict(problem, timer, (words,), devices, missing, p)
        return _conflict(problem, timer, (words,), [device], need - (timer.caps[device] or 0), p)
    return None


def _staying(problem: Problem) -> Conflict | None:
    """What nothing reads stays where it was made, and what is to be kept where it is kept: at the end all of it is there."""
    timer = Timer(problem)
    if not timer.limits.possible:
        return None
    costs = Costs(timer)
    held: list[tuple[frozenset[int], int, int]] = []
    for p, phase in enumerate(problem.phases):
        wanted = _kept(problem, p)
        if wanted is not None:
            held.append((frozenset((wanted,)), timer.grain(phase.out_bytes), p))
        elif not timer.outgoing[p] and phase.together is None:
            held.append((frozenset((timer.home,)) if phase.is_gathered else frozenset(costs.allowed[p]), phase.out_bytes, p))
    for devices in dict.fromkeys((*(devices for devices, _, _ in held), frozenset().union(*(devices for devices, _, _ in held)))):
        if any(timer.caps[d] is None for d in devices):
            continue
        inside = [(size, p) for where, size, p in held if where <= devices and size]
        need, have = sum(size for size, _ in inside), sum(timer.caps[d] or 0 for d in devices)
        if need > have:
            names = [f"`{problem.phases[p].id}`" for _, p in inside]
            shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
            stays = "stays" if len(names) == 1 else "stay"
            words = f"{shown} {stays} there to the end: {bytes_text(need)}"
            return _conflict(problem, timer, (words,), sorted(devices), need - have, inside[0][1])
    return None


def _kept(problem: Problem, p: int) -> int | None:
    """The one device on which an output is to be at the end."""
    for directive in problem.directives:
        if isinstance(directive, Keep) and directive.phase == p:
            named = devices_named(problem, directive.device)
            if len(named) == 1:
                return min(named)
    return None


def _conflict(problem: Problem, timer: Timer, words: tuple[str, ...], devices: list[int], missing: int, p: int) -> Conflict:
    names = problem.device_names()
    caps = [f"{bytes_text(timer.caps[d] or 0)} on {names[d]}" for d in devices]
    total = f"{bytes_text(sum(timer.caps[d] or 0 for d in devices))} on {len(caps)} devices"
    facts = (*words, f"memory is {' + '.join(caps) if len(caps) <= 8 else total}")
    return Conflict(Code.SCH103, (), (*facts, f"short {bytes_text(missing)}") if missing else facts, None, PhaseIndex(p))


def _within(timer: Timer, p: int, device: int) -> Callable[[int], bool]:
    """Do so many rows fit?"""
    return lambda rows: rows == 0 or least_bytes(timer, p, device, rows) <= (timer.caps[device] or 0)


def _cap(timer: Timer, device: int, otherwise: int) -> int:
    cap = timer.caps[device]
    return otherwise if cap is None else cap


def _chunks(timer: Timer, p: int) -> int:
    """Shards that a phase may have on one device."""
    return min(timer.problem.chunks, timer.problem.phases[p].rows) if p in chunked(timer.problem) else 1


def least_bytes(timer: Timer, p: int, device: int, rows: int) -> int:
    """At least so many bytes are in use on a device at some time while it has `rows` rows: with whole shards output, scratch and
    operands, in chunks those of the largest chunk, and what stays there from before the phase on."""
    phase, chunks = timer.problem.phases[p], _chunks(timer, p)
    read = -(-rows // chunks)
    while_running = _running(timer, p, read, _standing(timer, p, device))
    if timer.outgoing[p] or phase.combine is not None:
        return while_running
    return max(while_running, timer.grain(phase.out_bytes * rows // phase.units))


def _standing(timer: Timer, p: int, device: int) -> frozenset[int]:
    """What was made on a device before a phase, in one piece, and is kept there to the end."""
    only = frozenset((device,))
    kept = {q for q, devices in timer.limits.wanted.items() if devices == only and timer.limits.devices[q] == only}
    kept -= chunked(timer.problem)
    before: set[int] = set()
    pending = [p] if kept and len(timer.problem.phases) <= MOST_FOLLOWED else []
    while pending:
        sources = {timer.sources[edge] for edge in timer.incoming[pending.pop()]} - before
        before |= sources
        pending += sources
    return frozenset(kept & before)


def _running(timer: Timer, p: int, rows: int, standing: Collection[int]) -> int:
    phase, grain = timer.problem.phases[p], timer.grain
    made = grain(phase.out_bytes * rows // phase.units if phase.combine is None else phase.combine.bytes)
    operands: dict[int, int] = {}
    largest = 0
    for edge in timer.incoming[p]:
        described = timer.problem.edges[edge]
        source = int(described.source)
        out = timer.problem.phases[source].out_bytes
        size = out if described.bytes is None else min(out, described.bytes)
        largest = max(largest, out, described.bytes or 0)
        if described.only is not None:
            size = 0
        elif rows < phase.units and not described.whole:
            size = size * rows // phase.units
        if source in standing:
            continue
        operands[source] = max(operands.get(source, 0), grain(size))
    read = sum(operands.values())
    inside = phase.inplace and grain(largest) >= made
    there = sum(grain(timer.problem.phases[q].out_bytes) for q in standing)
    return there + max(read, made) + grain(_up(phase.scratch * rows, phase.units)) + (0 if inside else min(read, made))


def _up(number: int, size: int) -> int:
    return -(-number // size)


def without_cuts(problem: Problem, cut: Collection[int]) -> Problem:
    """A problem of whole shards that has a schedule if `problem` has one: phases that may have chunks take no time and no memory.

    So does what is made in place of what they make, since it may lie inside that."""
    free = set(cut)
    for edge in sorted(problem.edges, key=lambda edge: edge.target):
        if edge.source in free and problem.phases[edge.target].inplace:
            free.add(int(edge.target))
    phases = list(problem.phases)
    for place in free:
        phase = replace(phases[place], out_bytes=0, scratch=0, inplace=False)
        if place in cut:
            phase = replace(phase, rows=0, ticks={kind: Ticks(((1, 0),)) for kind in phase.ticks}, combine=None)
        elif phase.combine is not None:
            phase = replace(phase, combine=replace(phase.combine, bytes=0))
        phases[place] = phase
    edges = tuple(
        replace(edge, bytes=0, whole=False, halo=0, only=None) if edge.source in free or edge.target in free else edge
        for edge in problem.edges
    )
    return replace(problem, phases=tuple(phases), edges=edges, chunks=1)
