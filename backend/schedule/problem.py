"""The scheduling problem by itself: phases with known ticks on unequal devices, and a schedule of them.

Both a bound program (`program/`) and a public instance (`instances/`) become a `Problem`; every planner takes one and gives a
`Schedule`; the verifier takes both and shares nothing with the planners but this file.  Pure data, integers only.

Note [Units].  Time is in ticks of `tick_ns`; all rounding up happens when the problem is built or in the two functions
`Ticks.at` and `Link.occupied`, with integers or rationals.  Bytes are integers, live buffers rounded up to `memory_grain`.

Note [Rows].  A phase of `rows` rows may be cut into intervals of rows, at most `chunks` of the problem a device; `rows` = 0 is
atomic.  A *mode* is the rows each device gets; intervals are consecutive in the order of the mode.  Its output, `out_bytes`, is
cut with it: the rows [a, b) of R are the bytes ⌈out·b/R⌉ - ⌈out·a/R⌉.  An atomic phase's output is whole (one row).

Note [Needs].  Over an edge from p to q: an atomic q, or one whose edge is `whole`, needs all of p's output.  The shard
[a, b) of q's R rows needs the part [a, b)/R of it, in p's own rows rounded outwards (p atomic: in bytes), widened by
`halo` rows of p each side; an atomic q whose edge has `only` needs just these rows of p (where p has rows).  An edge of `bytes`
other than p's `out_bytes` says how many bytes the whole takes on a link; parts are in proportion, rounded up.

Note [Chunks].  The shards of a phase on one device are its *chunks* there, numbered in the order of rows.  A chunk is a shard
like any other: it starts when what it needs itself is there, its part of the output may leave when it has ended, its partial
result is one of those that are combined.  So copies overlap with work, and what is freed makes room for what comes.  With
`chunks` = 1 shards are whole.  What a directive cuts or keeps whole, what devices run together, and what takes no time anywhere,
such as an input, has no chunks.

Note [Transfers].  What a device needs of an output beside what it made or has, is brought by one transfer from each shard
that made it: the hull of the rows that all shards of one number on that device need of it, without what was brought for smaller
numbers at either end of it.  The link is occupied for `occupied(bytes)`
ticks from `start`; it arrives `latency` ticks after that, and `sync` of the target device later its consumers may start.
What excludes what says Note [Channels].  Two devices without a link use two transfers through home (counted in its memory);
without any link at all in the problem, or in contention-off problems whose edges say `ticks`, an edge takes its `ticks` (or
nothing) between different devices and occupies nothing (one transfer for each different number of ticks, from when the output
is there; `sync` counts as well).  An occupation of 0 ticks (no bytes, or a link without a rate) excludes nothing: such a
transfer may start in any tick, also while the channel carries another.  Home sends on what arrived for another device without
`sync`.

Note [Channels].  A channel carries one transfer at a time, unless the problem's contention is off.  A link without a group has
one for each pair of devices, one in each direction if it is full.  Links of one group share a channel; they share one in each
direction where all of them are full and one device is an end of all: away from it, and towards it.  Of a group `nic[i]`, each
number of an instance has its channel: of the end whose group has a count, of the sender if both have (full: away from the
instance, and towards it; if neither has, `[i]` is part of the name).  Which end of a link is its `source` means nothing, but for
SIMPLEX.

Note [Combine].  A phase with `combine` is finished by a step on home of `ticks_per_shard` × shards ticks (home's own
shard counted; it starts when the last partial has arrived at home if `barrier`, else each partial is merged as it
arrives, one after the other; home is busy from the first merge to the end of the last).  The output is then whole, at
home, and its parts are in bytes as an atomic one's.  Partials take `bytes` each on the link (0 and no link: nothing),
and in memory until they have arrived, at home until the combine ends; `sync` of home counts.

Note [Memory].  On each device: a shard's output from its start to the end of its last use there (consumer shards, and
transfers out until they arrive); a received copy from the start of its transfer to the end of its last use there;
`scratch` (in proportion to rows) while the shard runs; outputs that nothing uses, to the end.  An operand lives until its
consumer ends.  A copy has the bytes of its transfer.  What has no length (no ticks, or no way to go) holds what it holds for
the tick in which it starts: for memory, every step ends one tick after its start at the earliest.  With `inplace`, an output lies
inside an operand while its shard runs, if there is one of at least its size that nothing else uses from the start of the shard
on, on that device: the output takes memory of its own from the end of the shard, where the operand ends.

Note [Together].  A phase with `together` is run by several devices at the same time, which tell each other what they need as
they go (a loop, whose turns have a plan of their own).  It has one mode; all its shards start in one tick and take the same
ticks, which are those of its table whatever the rows.  It keeps its channels to itself to its end, and so long before its start
that what was sent before has arrived (`Problem.settling`), since a queue completes its steps in order.  Each of its devices has
the rows of the output that are its shard's, or home has all of it (`gathers`; its parts are then in bytes as an atomic one's);
the output takes memory from the start on.  A device's `scratch` is as said for it, not in proportion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from fractions import Fraction
from itertools import pairwise
from typing import Final, NewType, TypeAlias

from ...lang.support.records import dataclass
from ..devices.cost_functions import Duplex, Ticks

# ---------------------------------------------------------------------------------------------------- problem

PhaseIndex = NewType("PhaseIndex", int)
"""Position in `Problem.phases`."""
DeviceIndex = NewType("DeviceIndex", int)
"""Position among all instances of all device groups, in order."""

SCHEMA: Final = "instance/1"


class Contention(Enum):
    GROUP = "group"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DeviceGroup:
    """`count` equal devices, named `id` or `id[0]`…; `kind` is the class that tick tables speak of.

    `memory` in bytes each (None: no limit), `sync` ticks from an arrival to the start of its consumer.  Exactly one group
    has `home` (its first instance is home).  Power in milliwatts, for the energy objective."""

    id: str
    kind: str
    count: int = 1
    memory: int | None = None
    home: bool = False
    sync: int = 0
    idle_mw: int = 0
    active_mw: int = 0

    def names(self) -> Iterator[str]:
        if self.count == 1:
            yield self.id
        else:
            for instance in range(self.count):
                yield f"{self.id}[{instance}]"


@dataclass(frozen=True, slots=True)
class Link:
    """Between any instance of group (or instance name) `source` and any other of `target`, both ways but for SIMPLEX; a
    link stated for the other direction goes before.  `group`: see Note [Channels]."""

    id: str
    source: str
    target: str
    latency: int = 0
    bytes_per_tick: Fraction | None = None  # None: unlimited
    duplex: Duplex = Duplex.HALF
    group: str | None = None
    nj_per_byte: Fraction = Fraction(0)

    def occupied(self, size: int) -> int:
        """Ticks that the channel is busy with `size` bytes."""
        if self.bytes_per_tick is None or size == 0:
            return 0
        return -(-size * self.bytes_per_tick.denominator // self.bytes_per_tick.numerator)


@dataclass(frozen=True, slots=True)
class Combine:
    """See Note [Combine]."""

    ticks_per_shard: int
    barrier: bool = True
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Together:
    """See Note [Together].  `mode`: (device, rows) in the order of rows, home among them if it `gathers`; `scratch`: bytes by
    device, in this order; `channels`: (link, source, target) of the transfers inside; `picojoules`: what these cost."""

    mode: tuple[tuple[DeviceIndex, int], ...]
    scratch: tuple[int, ...]
    channels: tuple[tuple[int, DeviceIndex, DeviceIndex], ...] = ()
    gathers: bool = False
    picojoules: int = 0


@dataclass(frozen=True, slots=True)
class PhaseTask:
    """One phase.  `ticks` by class of device; a class that is absent cannot run it.  `home` phases run on home.  `ready`: the
    first tick at which it may start.  `effect`: input and output, which keep their order among themselves."""

    id: str
    ticks: Mapping[str, Ticks]
    rows: int = 0
    combine: Combine | None = None
    out_bytes: int = 0
    scratch: int = 0
    inplace: bool = False
    home: bool = False
    ready: int = 0
    effect: bool = False
    together: Together | None = None

    @property
    def is_gathered(self) -> bool:
        """Is the output put together at home by a phase that runs on several devices?"""
        return self.combine is not None or (self.together is not None and self.together.gathers)

    @property
    def units(self) -> int:
        """Rows of the output: 1 if atomic."""
        return max(1, self.rows)


@dataclass(frozen=True, slots=True)
class Edge:
    """`target` reads the output of `source`.  See Notes [Needs] and [Transfers]."""

    source: PhaseIndex
    target: PhaseIndex
    bytes: int | None = None  # None: out_bytes of the source
    ticks: int | None = None
    whole: bool = False
    halo: int = 0
    only: tuple[int, int] | None = None


class Objective(Enum):
    LATENCY = "latency"
    THROUGHPUT = "throughput"
    ENERGY = "energy"
    MACHINES = "machines"
    SYNCS = "syncs"


# ------------------------------------------------------------------------------------- directives


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where a directive was written: `number` counts from 1; `start` and `end` are offsets in the source (or -1)."""

    number: int
    text: str
    start: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class PlaceDirective:
    """`place a b on gpu0` (an id or a class); `phases` in the order written."""

    line: SourceLine
    phases: tuple[PhaseIndex, ...]
    device: str


@dataclass(frozen=True, slots=True)
class Before:
    """Every one of `first` completes before any of `then` starts."""

    line: SourceLine
    first: tuple[PhaseIndex, ...]
    then: tuple[PhaseIndex, ...]


@dataclass(frozen=True, slots=True)
class IssueBefore:
    """Program order only: on one queue the first is issued earlier; it starts no later."""

    line: SourceLine
    first: tuple[PhaseIndex, ...]
    then: tuple[PhaseIndex, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """`split m rows 3:1 over gpu0 gpu1`: rows in proportion, the rest by largest remainder; no `parts`: evenly.  `devices` are
    names of instances."""

    line: SourceLine
    phase: PhaseIndex
    parts: tuple[int, ...]
    devices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoSplit:
    line: SourceLine
    phase: PhaseIndex


@dataclass(frozen=True, slots=True)
class Replicate:
    """The output is wanted on every device that is used."""

    line: SourceLine
    phase: PhaseIndex


@dataclass(frozen=True, slots=True)
class Keep:
    """The output stays on (or is brought to) that device until the end."""

    line: SourceLine
    phase: PhaseIndex
    device: str


@dataclass(frozen=True, slots=True)
class LimitMemory:
    line: SourceLine
    device: str
    bytes: int


@dataclass(frozen=True, slots=True)
class LimitMachines:
    line: SourceLine
    count: int


@dataclass(frozen=True, slots=True)
class Deadline:
    line: SourceLine
    ticks: int


@dataclass(frozen=True, slots=True)
class Speculate:
    line: SourceLine
    phase: PhaseIndex


@dataclass(frozen=True, slots=True)
class Adjacent:
    """Nothing of the listed names' queue order between the two."""

    line: SourceLine
    first: PhaseIndex
    then: PhaseIndex


@dataclass(frozen=True, slots=True)
class Order:
    """`order x z …`: in this order; adjacent where no `…` (None) stands between; a `…` at an end lets others come before
    or after.  The others are `over`: of a program the phases that make its named values, of an instance (None) all phases."""

    line: SourceLine
    items: tuple[PhaseIndex | None, ...]
    over: tuple[PhaseIndex, ...] | None = None


Directive: TypeAlias = (
    PlaceDirective | Before | IssueBefore | Split | NoSplit | Replicate | Keep | LimitMemory | LimitMachines | Deadline
    | Speculate
    | Adjacent | Order
)  # fmt: skip


# ---------------------------------------------------------------------------------------- problem


@dataclass(frozen=True, slots=True)
class Select:
    """`phase` gives what `then` or `otherwise` made, by the value of `condition`.

    The problem has both arms, and `phase` reads them and the condition; `speculation` also makes the problem in which only
    the chosen arm runs, late.  An arm may be empty.  Nothing but its own arm and `phase` reads a phase of an arm."""

    phase: PhaseIndex
    condition: PhaseIndex
    then: tuple[PhaseIndex, ...]
    otherwise: tuple[PhaseIndex, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Invariants (checked by `instances.validate`): ids are unique, edges acyclic, exactly one home, tables never
    decreasing."""

    devices: tuple[DeviceGroup, ...]
    links: tuple[Link, ...]
    phases: tuple[PhaseTask, ...]
    edges: tuple[Edge, ...]
    directives: tuple[Directive, ...] = ()
    objectives: tuple[Objective, ...] = (Objective.LATENCY,)
    contention: Contention = Contention.GROUP
    tick_ns: int = 1
    memory_grain: int = 1
    power_off_unused: bool = False
    chunks: int = 1
    """The most shards that a phase may have on one device.  See Note [Chunks]."""
    batches: int = 1
    """Executions in a row, for throughput: the initiation interval is that of the steady state."""
    executions: int = 1
    """Executions that the phases are of: `batches` once they are unrolled (`batches.unrolled`), else 1."""
    selects: tuple[Select, ...] = ()

    def device_names(self) -> tuple[str, ...]:
        return tuple(name for group in self.devices for name in group.names())

    def group_of(self, device: DeviceIndex) -> DeviceGroup:
        left = int(device)
        for group in self.devices:
            if left < group.count:
                return group
            left -= group.count
        raise IndexError(device)

    def settling(self, link: int) -> int:
        """Ticks after which the channel of a link is free of everything that is still on its way: the longest latency of the
        links that share it."""
        channel = self.links[link]
        sharing = (one for one in self.links if one is channel or (channel.group is not None and one.group == channel.group))
        return max(one.latency for one in sharing)

    @property
    def home(self) -> DeviceIndex:
        first = 0
        for group in self.devices:
            if group.home:
                break
            first += group.count
        return DeviceIndex(first)


# ---------------------------------------------------------------------------------------------------- constraints
#
# What the directives of a problem forbid, in the form that planners use: devices, orders, caps, wanted copies.
#
# Contradictory directives are not found here (`exact.infeasibility` does that): a planner that meets one finds no schedule.

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
    devices: list[int] = []
    first = 0
    for group in problem.devices:
        if name in (group.id, group.kind, group.kind.partition("/")[0]):
            devices += range(first, first + group.count)
        else:
            devices += [first + i for i, instance in enumerate(group.names()) if instance == name]
        first += group.count
    return frozenset(devices)


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
            case PlaceDirective(_, phases, device):
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
    names_of_devices = problem.device_names()  # each name is of one instance, though a class may be called so too
    devices = [names_of_devices.index(name) for name in names if name in names_of_devices]
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
