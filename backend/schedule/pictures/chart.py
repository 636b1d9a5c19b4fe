"""What every picture of a schedule shows, whoever made the schedule: lanes of bars, arrows, memory, the graph, a table.

Pure data in ticks and bytes.  `of_plan` makes one from a program's plan, `of_answer` from an abstract answer; drawing reads
nothing else.  Lanes of devices come first, then those of links.

Note [Critical path].  A chain of bars back from the one that ends last: before each comes what it waited for longest, the bar
before it on its lane or one that feeds it.

Note [Many lanes].  Lanes that have the same bars at the same ticks are drawn once, with their number; of the others at
most `MOST_LANES` are kept and `hidden` counts the rest, so that a plan for thousands of devices still has a picture.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Final

from ..plan.explain_queues import time_text as nanoseconds_text

MOST_LANES: Final = 120


class BarKind(Enum):
    RUN = "run"
    COMBINE = "combine"
    TRANSFER = "transfer"
    CONTROL = "control"  # loops, branches, cells: steps with steps inside


@dataclass(frozen=True, slots=True)
class Bar:
    """Busy during ticks [start, end), its result there at `arrive`; `name` chooses the colour, `after` are the keys of bars
    that feed it, `node` the graph's node that it computes or moves the result of."""

    key: str
    name: str
    kind: BarKind
    start: int
    end: int
    arrive: int
    detail: str
    after: tuple[str, ...] = ()
    critical: bool = False
    node: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """One queue.  `equal`: how many lanes with the same bars this one stands for."""

    name: str
    bars: tuple[Bar, ...]
    is_link: bool
    equal: int = 1


@dataclass(frozen=True, slots=True)
class Arrow:
    """A fence passed: from the end of one bar to the start of another."""

    fence: int
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of values live on a device from each tick on, and its limit; `stated` is the peak that the plan promises, with
    what steps need inside."""

    device: str
    limit: int | None
    points: tuple[tuple[int, int], ...]
    stated: int = 0

    @property
    def peak(self) -> int:
        return max(self.stated, max((size for _, size in self.points), default=0))


@dataclass(frozen=True, slots=True)
class Node:
    """A phase in the graph: where it runs, and whether its device's memory is exceeded while it does."""

    id: str
    label: str
    devices: tuple[str, ...]
    ticks: int
    over_memory: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Data that goes from one node to another; `moved` are the bytes that cross a link for it."""

    source: str
    target: str
    bytes: int
    moved: int


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the cost table."""

    phase: str
    device: str
    part: str
    estimate_ns: int


class Axis(Enum):
    """How the axis of time is labelled: abstract graphs are read in ticks."""

    TICKS = "ticks"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Chart:
    """`inside`: of steps that have steps inside, such as a turn of a loop, whose ticks count from its start."""

    title: str
    notes: tuple[str, ...]
    tick_ns: int
    makespan: int
    lower_bound: int | None
    lanes: tuple[Lane, ...]
    arrows: tuple[Arrow, ...]
    memory: tuple[Memory, ...]
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    rows: tuple[Row, ...]
    hidden: int = 0
    axis: Axis = Axis.TIME
    inside: tuple[Chart, ...] = ()


def with_critical_path(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """The lanes, bars of one critical path marked.  See Note [Critical path]."""
    ended = sorted(((b.arrive, -place, b.key) for place, lane in enumerate(lanes) for b in lane.bars), reverse=True)
    if not ended:
        return tuple(lanes)
    bars = {bar.key: bar for lane in lanes for bar in lane.bars}
    previous: dict[str, str] = {}
    for lane in lanes:
        in_order = sorted((b for b in lane.bars if b.end > b.start), key=lambda b: b.start)
        previous.update({later.key: earlier.key for earlier, later in pairwise(in_order)})
    marked: set[str] = set()
    key: str | None = ended[0][2]
    while key is not None and key not in marked:
        marked.add(key)
        bar = bars[key]
        waited = [(bars[k].arrive, k) for k in bar.after if k in bars and bars[k].arrive <= bar.start and k not in marked]
        if key in previous:
            waited.append((bars[previous[key]].end, previous[key]))
        key = max(waited)[1] if waited else None
    return tuple(replace(lane, bars=tuple(replace(b, critical=b.key in marked) for b in lane.bars)) for lane in lanes)


def merged(lanes: Sequence[Lane]) -> tuple[tuple[Lane, ...], int]:
    """Equal lanes once, at most MOST_LANES of them, and how many lanes are not shown.  See Note [Many lanes]."""
    found: dict[object, Lane] = {}
    for lane in lanes:
        stem = lane.name.split("[")[0]
        key = (stem, lane.is_link, tuple((b.name, b.start, b.end) for b in lane.bars)) if "[" in lane.name else lane.name
        kept = found.get(key)
        found[key] = lane if kept is None else replace(kept, equal=kept.equal + 1)
    all_lanes = sorted(found.values(), key=lambda lane: lane.is_link)
    return tuple(all_lanes[:MOST_LANES]), sum(lane.equal for lane in all_lanes[MOST_LANES:])


def memory_over_time(
    changes: Mapping[str, Sequence[tuple[int, int]]], limits: Mapping[str, int | None], stated: Mapping[str, int] | None = None
) -> tuple[Memory, ...]:
    """Series from (tick, change in bytes) by device; what is freed at a tick goes before what is made then."""
    found = []
    for device, events in changes.items():
        live = 0
        points: list[tuple[int, int]] = [(0, 0)]
        for tick, change in sorted(events):
            live += change
            if points[-1][0] == tick:
                points[-1] = (tick, live)
            else:
                points.append((tick, live))
        found.append(Memory(device, limits.get(device), tuple(points), (stated or {}).get(device, 0)))
    return tuple(found)


def time_text(ticks: int, tick_ns: int) -> str:
    """Ticks as a time: `1.25 ms`."""
    return nanoseconds_text(ticks * tick_ns)
