"""Buffers of a plan in the making: how long each lives, where it lies, and the most that is alive at once."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, TypeAlias

from ...graph import traverse
from ...graph.phases import Input
from ..answer import Schedule
from ..facts.sharding import MOST_PAIRS, meet
from ..facts.workspace import Numbers, first_gap, rounded
from ..plan.model import Box, Buffer, Role
from ..plan.parts import DeviceId
from .together import ProgramProblem

MOST_SEARCHED: Final = 256
"""Pieces of an output on a device times transfers of it from there, up to which it is told who reads what."""


@dataclass(slots=True)
class Piece:
    """One buffer: pieces of all results of a phase on one device.  `start` and `end` in ticks; whole when `there`."""

    device: int
    phase: int
    boxes: tuple[Box | None, ...]
    bytes: int
    start: int
    end: int
    made: tuple[int, int]  # queue and position of the step that brings it about
    last: tuple[int, int] | None = None  # of the last step that reads it
    sent: bool = False
    used: bool = False
    kept: bool = False
    partial: bool = False
    there: int = field(init=False)

    def __post_init__(self) -> None:
        self.there = self.end


Sent: TypeAlias = tuple[int, int, tuple[Box | None, ...]]
"""A transfer out of a device: its start, its arrival, the boxes it reads."""


def reads_until(pieces: Sequence[Piece], moves: list[Sent]) -> list[int | None]:
    """For each piece of one output on a device, when the last transfer that reads it has arrived; None: none reads it.

    Of very many pieces and transfers: when the last that starts later has."""
    if len(pieces) * len(moves) > MOST_PAIRS:
        moves.sort(key=lambda move: move[:2])
        latest = list(accumulate((arrive for _, arrive, _ in reversed(moves)), max))[::-1]
        starts = [start for start, _, _ in moves]
        places = [bisect_left(starts, piece.start) for piece in pieces]
        return [latest[place] if place < len(moves) else None for place in places]
    return [
        max(
            (arrive for start, arrive, boxes in moves if start >= piece.start and any(map(meet, piece.boxes, boxes))),
            default=None,
        )
        for piece in pieces
    ]


def peaks_of(pieces: Sequence[Piece], schedule: Schedule, program: ProgramProblem) -> dict[int, int]:
    """The most bytes alive at once on each device, scratch of running shards included."""
    changes: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for piece in pieces:
        changes[piece.device] += [(piece.start, rounded(piece.bytes)), (piece.end, -rounded(piece.bytes))]
    for shard in schedule.shards:
        task = program.problem.phases[shard.phase]
        size = rounded(-(-task.scratch * (shard.stop - shard.first) // task.units))
        if task.together is not None:
            size = next(own for (d, _), own in zip(task.together.mode, task.together.scratch, strict=True) if d == shard.device)
        changes[int(shard.device)] += [(shard.start, size), (shard.end, -size)]
    return {device: _peak(found) for device, found in changes.items()}


def buffers_of(pieces: Sequence[Piece], program: ProgramProblem, names: Sequence[str]) -> tuple[Buffer, ...]:
    """Addresses by first fit in order of birth (beyond `MOST_SEARCHED` at once: one after the other); `first` and `last` are
    ticks."""
    found: list[Buffer] = []
    taken: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    tops: dict[int, int] = defaultdict(int)
    numbers, types = Numbers(), program.bound.graph.types
    for piece in sorted(pieces, key=lambda p: (p.start, p.phase, p.device, p.made)):
        if piece.partial:
            continue
        phase = program.phases[piece.phase]
        role = Role.INPUT if isinstance(phase, Input) else Role.VALUE
        for value, box in zip(traverse.results(phase), piece.boxes, strict=True):
            size = numbers.bytes(types[value], box)
            offset = tops[piece.device]
            if len(taken[piece.device]) < MOST_SEARCHED:
                taken[piece.device] = [t for t in taken[piece.device] if t[2] > piece.start]
                offset = first_gap(sorted((a, b) for a, b, _ in taken[piece.device]), rounded(size))
            taken[piece.device].append((offset, offset + rounded(size), piece.end))
            tops[piece.device] = max(tops[piece.device], offset + rounded(size))
            found.append(Buffer(value, DeviceId(names[piece.device]), role, size, offset, piece.start, piece.end))
    return tuple(found)


def _peak(changes: Sequence[tuple[int, int]]) -> int:
    live = most = 0
    for _, size in sorted(changes):
        live += size
        most = max(most, live)
    return most
