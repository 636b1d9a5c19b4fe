"""The abstract scheduling problem: phases with known ticks on unequal devices that links join, and directives about them.  In
the terms of the literature: resource-constrained scheduling of moldable tasks with communication and memory limits.

A program with sizes (`program/`) and a file of `instance/1` (`instances/`) both become a `Problem`; every planner takes one and
gives an `Answer`: a schedule with the decisions it was decoded from and its bound, or a conflict that shows that no schedule
exists.  The verifier takes both and shares nothing with the planners but this file.  Pure data, integers only.

Note [Units].  Times are in ticks of `tick_ns`; they are rounded up when the problem is built, in `Ticks.at` and in
`Link.occupied`, with integers or rationals.  Sizes are in bytes; live buffers are rounded up to `memory_grain`.

Note [Rows].  A phase of `rows` rows may be cut into intervals of rows, at most `Problem.chunks` a device; `rows` = 0 is atomic.
A *mode* is the number of rows of each device; the intervals follow each other in the order of the mode.  The output of
`out_bytes` is cut with it: rows [a, b) of R are ⌈out·b/R⌉ - ⌈out·a/R⌉ bytes.  The output of an atomic phase is one row.

Note [Needs].  What the target q of an edge from p needs of p's output:

* all of it, if q is atomic or the edge is `whole`; an atomic q whose edge has `only` needs just these rows (where p has rows);
* else its shard [a, b) of R rows needs the part [a, b)/R, in p's own rows rounded outwards (in bytes if p is atomic), widened by
  `halo` rows of p on each side.

An edge of `bytes` other than p's `out_bytes` says how many bytes all of it takes on a link; parts are in proportion, rounded up.

Note [Chunks].  The shards of a phase on one device are its *chunks* there, numbered in the order of rows.  A chunk is a shard
like any other: it starts when its own operands have arrived, its part of the output may be sent when it has ended, and its
partial result is combined like others.  So copies overlap with computation, and freed memory is used again.  With `chunks` = 1
each device has one shard.  A phase has no chunks if a directive cuts it or forbids to cut it, if several devices run it
together, or if it takes no time anywhere (an input).

Note [Transfers].  For each producing shard, the k-th chunks on a device share one transfer: the smallest interval that covers
what they read of that shard, less what the transfers of chunks < k brought at either end of it.  Nothing is transferred that the
device itself made.  The channel is occupied for `occupied` ticks from `start`: those of the bytes, and those of packing them if
they are some of the rows of a phase that has `packing`, in pieces shorter than the link's `least_row`.  The data arrives
`latency` ticks later, and consumers may start `sync` ticks (of the target device) after that.  Further:

* two devices without a link use two transfers through home, where the copy counts as memory; home sends on without `sync`;
* without any link in the problem, or with contention off for edges that state `ticks`, an edge takes its `ticks` (or nothing)
  between different devices and occupies nothing: one transfer for each different number of ticks, from when the output is ready;
  `sync` counts as well;
* an occupation of 0 ticks (no bytes, or a link without a rate) excludes nothing: it may start in any tick.

Note [Channels].  A channel carries one transfer at a time, unless the problem's contention is off.

* A link without a group has a channel for each pair of devices, one in each direction if it is full duplex.
* Links of one group share a channel; where all of them are full duplex and one device is an end of all, they share one in each
  direction: away from that device, and towards it.
* Of a group `nic[i]`, each instance number has its channel: that of the end whose group has a count, of the sender if both have
  (full duplex: away from the instance, and towards it; if neither has a count, `[i]` is part of the name).

Which end of a link is its `source` matters for SIMPLEX only.

Note [Combine].  A phase with `combine` is finished by a step on home of `ticks_per_shard` × shards ticks, home's own shard
counted, which starts when the last partial result has arrived.  The output is then at home as one piece, and its parts are
counted in bytes.  A partial result takes `bytes` on the link (0 and no link: nothing), memory where it was made
until it has arrived, and memory at home until the combine ends; `sync` of home counts.

Note [Memory].  A device holds

* the output of a shard from its start to the end of its last use there (consumers, and transfers out until they arrive);
* a received copy, of the bytes of its transfer, from the transfer's start to the end of its last use there;
* `scratch` (in proportion to rows) while the shard runs; and outputs that nothing uses, to the end.

A step without length (no ticks, or no route) holds its memory for the tick in which it starts: for memory, every step ends at
least one tick after its start.  With `inplace`, an output lies inside an operand while its shard runs, if that device has an
operand of at least its size that nothing else uses from the start of the shard on; it takes memory of its own from the end of the
shard, where the operand's ends.

Note [Axes].  A phase of a program may be cut along one of several axes, with other rows, ticks, combine and scratch along each,
and its readers need other parts of it.  `Problem.axes` states them all; `phases` and `edges` are those along the `chosen` axes.
Where an edge joins axes that do not line up, it is `whole`: every shard of the target receives all of the output.  A schedule
is one along certain axes (`Answer.axes`), and each Note holds for `Problem.along` these.

Note [Distributed phases].  A phase with `distributed` is run by several devices at the same time, which exchange data as they run
(a distributed loop, whose iterations have a plan of their own).  It has one mode; all its shards start in one tick and take the
same ticks, those of its table whatever the rows.  It occupies its channels exclusively to its end, and before its start for so
long that what was sent earlier has arrived (`Problem.drain_ticks`), because a queue completes its steps in order.  Each device
has the rows of its shard, or home has all of the output (`gathers`; its parts are then counted in bytes); the output takes memory
from the start on.  `scratch` is stated for each device, not in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final, NewType, TypeAlias

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, field, replace
from ..devices.cost_functions import Duplex, Ticks

# ---------------------------------------------------------------------------------------------------- problem

PhaseIndex = NewType("PhaseIndex", int)
"""Position in `Problem.phases`."""
DeviceIndex = NewType("DeviceIndex", int)
"""Position in the sequence of all instances of all device groups."""

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
    """A link between any instance of `source` and any other of `target` (groups or instance names), in both directions unless
    SIMPLEX; where a link is stated for the opposite direction, that one is used there.  `group`: see Note [Channels].
    `least_row`: bytes of the shortest piece of a row that its ends copy without packing it; None: they pack all."""

    id: str
    source: str
    target: str
    latency: int = 0
    bytes_per_tick: Fraction | None = None  # None: unlimited
    duplex: Duplex = Duplex.HALF
    group: str | None = None
    nj_per_byte: Fraction = Fraction(0)
    least_row: int | None = None

    def occupied(self, size: int, maker: PhaseTask | None = None) -> int:
        """Ticks that the channel is busy with `size` bytes, of the rows of `maker` if it is given; 0 without a rate."""
        if self.bytes_per_tick is None or size == 0:
            return 0
        packing = Fraction(0)
        if maker is not None and size < maker.out_bytes and (self.least_row is None or size < maker.pieces * self.least_row):
            packing = maker.packing
        sent = -(-size * self.bytes_per_tick.denominator // self.bytes_per_tick.numerator)
        return sent - (-size * packing.numerator // packing.denominator)


@dataclass(frozen=True, slots=True)
class Combine:
    """See Note [Combine]."""

    ticks_per_shard: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class DistributedMode:
    """See Note [Distributed phases].  `mode`: (device, rows) in the order of rows, home among them if it `gathers`;
    `scratch`: bytes by device, in this order; `channels`: (link, source, target) of the transfers inside; `picojoules`: the
    energy of these transfers."""

    mode: tuple[tuple[DeviceIndex, int], ...]
    scratch: tuple[int, ...]
    channels: tuple[tuple[int, DeviceIndex, DeviceIndex], ...] = ()
    gathers: bool = False
    picojoules: int = 0


@dataclass(frozen=True, slots=True)
class PhaseTask:
    """One phase.  `ticks` by class of device; a class that is absent cannot run it.  `home` phases run on home.  `ready`: the
    first tick at which it may start.  `effect`: input and output, which keep their order among themselves.  `packing`: ticks for
    each byte of some of its rows that is packed for a link; `pieces`: how many contiguous pieces such rows are."""

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
    distributed: DistributedMode | None = None
    packing: Fraction = Fraction(0)
    pieces: int = 1

    @property
    def is_gathered(self) -> bool:
        """Does a phase that runs on several devices assemble its output at home?"""
        return self.combine is not None or (self.distributed is not None and self.distributed.gathers)

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


@dataclass(frozen=True, slots=True)
class AxisSpace:
    """See Note [Axes].  `phases`: each phase along each of its axes; `edges`: each edge by the indices of its source's and its
    target's axis."""

    phases: tuple[tuple[PhaseTask, ...], ...]
    edges: tuple[Mapping[tuple[int, int], Edge], ...]

    @property
    def is_single(self) -> bool:
        """Does every phase have one axis?"""
        return all(len(options) == 1 for options in self.phases)


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
    """The output must be on every device that runs a shard."""

    line: SourceLine
    phase: PhaseIndex


@dataclass(frozen=True, slots=True)
class Keep:
    """The output must stay on (or be brought to) that device until the end."""

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


Directive: TypeAlias = (
    PlaceDirective | Before | IssueBefore | Split | NoSplit | Replicate | Keep | LimitMemory | LimitMachines | Deadline
    | Speculate
)  # fmt: skip


# ---------------------------------------------------------------------------------------- problem


@dataclass(frozen=True, slots=True)
class Problem:
    """Devices, links, phases, edges, and what directives and objectives ask of a schedule.

    Invariants (checked by `instances.instance_json.require_valid`): ids are unique, edges acyclic, exactly one home, tables
    never decreasing."""

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
    axes: AxisSpace | None = None
    """The other axes of the phases; None if each phase has one axis."""
    chosen: tuple[int, ...] = ()
    """The axis of each phase, by its index in `axes`."""

    def along(self, chosen: Sequence[int]) -> Problem:
        """The problem along these axes alone.  See Note [Axes]."""
        if self.axes is None:
            return self
        phases = tuple(options[k] for options, k in zip(self.axes.phases, chosen, strict=True))
        edges = (next(iter(options.values())) for options in self.axes.edges)
        along = tuple(
            options[chosen[edge.source], chosen[edge.target]] for edge, options in zip(edges, self.axes.edges, strict=True)
        )
        return replace(self, phases=phases, edges=along, axes=None, chosen=tuple(chosen))

    def device_names(self) -> tuple[str, ...]:
        return tuple(name for group in self.devices for name in group.names())

    def group_of(self, device: DeviceIndex) -> DeviceGroup:
        left = int(device)
        for group in self.devices:
            if left < group.count:
                return group
            left -= group.count
        raise IndexError(device)

    def drain_ticks(self, link: int) -> int:
        """Ticks until everything sent over the channel of a link has arrived: the longest latency of the links that share it."""
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
# What the directives of a problem demand, in the form that planners use: devices, orders, memory limits, required copies.
#
# Contradictions are explained by `exact.infeasibility`, not here; a planner whose problem has one finds no schedule.

@dataclass(slots=True)
class DirectiveConstraints:
    """All fields but the last four are by phase or by device.

    `devices`: allowed devices of a phase, None: all with ticks for it.  `fixed_modes`, `undivided`: from `split`, `nosplit`.
    `start_after`, `issue_after`: phases that complete, or are issued, before it.  `memory_limits`: bytes by device.
    `required_copies`: devices that must have all of the phase's output at the end (`replicated`: every device that is used).
    `is_consistent` is False if directives contradict each other."""

    devices: list[frozenset[int] | None]
    fixed_modes: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    undivided: set[int] = field(default_factory=set)
    start_after: list[list[int]] = field(default_factory=list)
    issue_after: list[list[int]] = field(default_factory=list)
    memory_limits: list[int | None] = field(default_factory=list)
    required_copies: dict[int, set[int]] = field(default_factory=dict)
    replicated: set[int] = field(default_factory=set)
    machines: int | None = None
    deadline: int | None = None
    is_consistent: bool = True


def devices_named(problem: Problem, name: str) -> frozenset[int]:
    """Every device that is the instance `name`, or of the group or class of that name.  `gpu` also stands for unlike classes such
    as `gpu/gpu0` and `gpu/gpu1`."""
    devices: list[int] = []
    first = 0
    for group in problem.devices:
        if name in (group.id, group.kind, group.kind.partition("/")[0]):
            devices += range(first, first + group.count)
        else:
            devices += [first + i for i, instance in enumerate(group.names()) if instance == name]
        first += group.count
    return frozenset(devices)


def apportion(rows: int, parts: Sequence[int]) -> list[int]:
    """`rows` in proportion to `parts` by the largest-remainder method (the earlier of equals): 10 rows to 3:1 are [8, 2]."""
    total = sum(parts)
    counts = [rows * part // total for part in parts]
    by_remainder = sorted(range(len(parts)), key=lambda i: (-(rows * parts[i] % total), i))
    for i in by_remainder[: rows - sum(counts)]:
        counts[i] += 1
    return counts


def directive_constraints(problem: Problem) -> DirectiveConstraints:
    """The directives of `problem`, its home phases and the order of its effects."""
    count = len(problem.phases)
    caps = [group.memory for group in problem.devices for _ in range(group.count)]
    home = int(problem.home)
    result = DirectiveConstraints(
        [None] * count, start_after=[[] for _ in range(count)], issue_after=[[] for _ in range(count)], memory_limits=caps
    )
    last_effect: int | None = None
    for index, phase in enumerate(problem.phases):
        if phase.home:
            result.devices[index] = frozenset((home,))
        elif phase.rows and not any(table.at(phase.rows) for table in phase.ticks.values()):
            able = sum(group.count for group in problem.devices if group.kind in phase.ticks)
            if able == 1:  # ready from the start, such as an input in a store; a part of it is ready no sooner
                result.undivided.add(index)
        if phase.effect:
            if last_effect is not None:
                result.start_after[index].append(last_effect)
            last_effect = index
        if phase.distributed is not None:
            result.fixed_modes[index] = tuple((int(device), rows) for device, rows in phase.distributed.mode)
    for directive in problem.directives:
        match directive:
            case PlaceDirective(_, phases, device):
                for p in phases:
                    _restrict(result, p, devices_named(problem, device))
            case Before(_, first, then):
                for q in then:
                    result.start_after[q] += first
            case IssueBefore(_, first, then):
                for q in then:
                    result.issue_after[q] += first
            case Split(_, p, parts, names):
                _fix_split(problem, result, p, parts, names)
            case NoSplit(_, p):
                result.undivided.add(p)
            case Replicate(_, p):
                result.replicated.add(p)
            case Keep(_, p, device):
                targets = devices_named(problem, device)
                result.required_copies.setdefault(p, set()).update(sorted(targets)[:1])
                result.is_consistent &= bool(targets)
            case LimitMemory(_, device, size):
                for d in devices_named(problem, device):
                    cap = caps[d]
                    caps[d] = size if cap is None else min(size, cap)
            case LimitMachines(_, limit):
                result.machines = limit if result.machines is None else min(limit, result.machines)
            case Deadline(_, ticks):
                result.deadline = ticks if result.deadline is None else min(ticks, result.deadline)
            case Speculate():
                pass
    for index, mode in result.fixed_modes.items():
        chosen = result.devices[index]
        result.is_consistent &= len(mode) == 1 or index not in result.undivided
        result.is_consistent &= chosen is None or all(device in chosen for device, _ in mode)
    return result


def _restrict(result: DirectiveConstraints, phase: int, allowed: frozenset[int]) -> None:
    before = result.devices[phase]
    result.devices[phase] = allowed if before is None else before & allowed
    result.is_consistent &= bool(result.devices[phase])


def _fix_split(
    problem: Problem, result: DirectiveConstraints, phase: int, parts: tuple[int, ...], names: tuple[str, ...]
) -> None:
    names_of_devices = problem.device_names()  # each name denotes one instance, even where a class has the same name
    devices = [names_of_devices.index(name) for name in names if name in names_of_devices]
    if not devices or len(set(devices)) != len(devices) or (parts and len(parts) != len(devices)):
        result.is_consistent = False
        return
    counts = apportion(problem.phases[phase].units, parts or [1] * len(devices))
    mode = tuple((d, rows) for d, rows in zip(devices, counts, strict=True) if rows)
    result.is_consistent &= phase not in result.fixed_modes or result.fixed_modes[phase] == mode
    result.fixed_modes[phase] = mode


def allowed_devices(problem: Problem, constraints: DirectiveConstraints, phase: int) -> list[int]:
    """Devices, in order, that may run `phase`."""
    chosen = constraints.devices[phase]
    ticks = problem.phases[phase].ticks
    result: list[int] = []
    first = 0
    for group in problem.devices:
        if group.kind in ticks:
            result += [d for d in range(first, first + group.count) if chosen is None or d in chosen]
        first += group.count
    return result


# ---------------------------------------------------------------------------------------------------- schedule and answer

@dataclass(frozen=True, slots=True)
class Shard:
    """Rows [first, stop) of a phase ([0, 1) if atomic) on a device, during ticks [start, end)."""

    phase: PhaseIndex
    device: DeviceIndex
    first: int
    stop: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ScheduledCombine:
    """The combine of a phase on home."""

    phase: PhaseIndex
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Transfer:
    """Rows [first, stop) of the output of `phase` (bytes of it, if the phase is atomic) from one device to another.

    `link` indexes `Problem.links` (None: an edge's own `ticks`).  The channel is busy during [start, busy), the data has arrived
    at `arrive`.  `partial`: a partial result on its way to a combine."""

    phase: PhaseIndex
    source: DeviceIndex
    target: DeviceIndex
    first: int
    stop: int
    bytes: int
    link: int | None
    start: int
    busy: int
    arrive: int
    partial: bool = False


Mode: TypeAlias = tuple[tuple[int, int], ...]
"""(device, rows) in the order of rows; an atomic phase has one entry with 1 row.  A device with several entries has chunks."""


class InsertionPolicy(Enum):
    APPEND = "append"  # a device runs its shards in the order of priority
    INSERT = "insert"  # a shard may fill an earlier gap


class TransferPolicy(Enum):
    LATE = "late"  # channels are claimed when a consumer is placed
    EARLY = "early"  # channels are claimed as soon as the producer is placed


@dataclass(frozen=True, slots=True)
class Decisions:
    """What a schedule is decoded from: `modes` by phase, and the activity list `priority`, which names every phase once (it is
    repaired where it breaks a precedence).  `last_rows_first`: phases whose shards are scheduled from the last rows on."""

    modes: tuple[Mode, ...]
    priority: tuple[int, ...]
    queueing: InsertionPolicy = InsertionPolicy.APPEND
    sending: TransferPolicy = TransferPolicy.LATE
    last_rows_first: frozenset[int] = frozenset()


ScheduledStep: TypeAlias = Shard | ScheduledCombine | Transfer
"""One step of a schedule."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """All steps with their ticks.  Shards of a phase are in order of rows; lists are sorted by (start, phase, device).
    `decisions`: what the schedule was decoded from, if anything; equality ignores it."""

    shards: tuple[Shard, ...]
    combines: tuple[ScheduledCombine, ...]
    transfers: tuple[Transfer, ...]
    decisions: Decisions | None = field(default=None, compare=False, repr=False)

    @property
    def makespan(self) -> int:
        ends = [s.end for s in self.shards] + [c.end for c in self.combines] + [t.arrive for t in self.transfers]
        return max(ends, default=0)


class Status(Enum):
    """What is known about an answer's quality.  Exit codes in order: 0, 0, 3, 5."""

    OPTIMAL = "optimal"
    GAP = "gap"
    IMPOSSIBLE = "impossible"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class BoundCertificate:
    """Why no plan is better.  `method`: bound (a lower bound equals the value), z3 (a makespan of T-1 is refuted), certificate
    (the rows that all devices can run by T-1 sum to too few) or none.  `detail`: data of the method, and bounds of subsets of the
    plans, which `plan --check --prove` derives again: plans along the plan's axes (`axes`), and of those the plans in whole
    shards (`whole`, where one of these is as short)."""

    method: str
    lower_bound: int
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline's makespan; `ticks` is None where the baseline violates a constraint."""

    name: str
    ticks: int | None


@dataclass(frozen=True, slots=True)
class Conflict:
    """A minimal set of contradicting facts: directives, and facts in words (data, capacity); `phase`: the one they concern."""

    code: Code
    directives: tuple[Directive, ...]
    facts: tuple[str, ...]
    hint: str | None = None
    phase: PhaseIndex | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a planner.  `values` are the objectives in their order (ticks, millijoules…, devices, syncs);
    `lower_bound` is of the first.  IMPOSSIBLE has a conflict and no schedule; A schedule of an ABORTED answer must not be used as
    a result.  `failures`: stages of the planner that were left out, and why.  `chunks`: the bound, and being optimal, range over
    schedules with at most so many chunks a device, of which this is one.  `axes`: the axis of each phase, by its index in the
    problem's space (empty: the problem's own); `every_axis`: the bound, the conflict, and being optimal range over all axes of
    that space."""

    status: Status
    schedule: Schedule | None
    lower_bound: int
    values: tuple[int, ...]
    proof: BoundCertificate
    baselines: tuple[Baseline, ...] = ()
    conflict: Conflict | None = None
    speculated: tuple[PhaseIndex, ...] = ()
    failures: tuple[str, ...] = ()
    chunks: int = 1
    axes: tuple[int, ...] = ()
    every_axis: bool = False

    @property
    def is_usable(self) -> bool:
        """Has it a schedule that may be used as a result?"""
        return self.schedule is not None and self.status is not Status.ABORTED

    def bounded(self, proof: BoundCertificate) -> Answer:
        """The answer, of which no better one than this bound exists: OPTIMAL where that is its value, else GAP."""
        proof = replace(proof, lower_bound=min(proof.lower_bound, self.values[0]))
        status = Status.OPTIMAL if proof.lower_bound == self.values[0] else Status.GAP
        return replace(self, status=status, lower_bound=proof.lower_bound, proof=proof)


# ---------------------------------------------------------------------------------------------------- synchronisation
#
# Queues, fences and waits as data: `timeline.fence_insertion` derives them from a schedule, and the verifier checks them.
#
# A queue completes its steps in order; a fence passes when the queues it names have completed steps up to a position; a wait
# stands before a step.

QueueIndex = NewType("QueueIndex", int)


class QueueKind(Enum):
    COMPUTE = "compute"
    COPY = "copy"


@dataclass(frozen=True, slots=True)
class ScheduledQueue:
    """`device` of a compute queue; `name` is the device's or the channel's."""

    kind: QueueKind
    name: str
    device: DeviceIndex | None
    steps: tuple[ScheduledStep, ...]


@dataclass(frozen=True, slots=True)
class Fence:
    """A fence passes when every (queue, position) of `after` has completed.  `source`: the device that completes these steps."""

    id: int
    source: DeviceIndex
    after: tuple[tuple[QueueIndex, int], ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """The queue does not start the step at `position` before the fence has passed."""

    queue: QueueIndex
    position: int
    fence: int


@dataclass(frozen=True, slots=True)
class Synchronisation:
    queues: tuple[ScheduledQueue, ...]
    fences: tuple[Fence, ...]
    waits: tuple[Wait, ...]

    @property
    def syncs(self) -> int:
        """Waits of devices."""
        return sum(self.queues[wait.queue].kind is QueueKind.COMPUTE for wait in self.waits)
