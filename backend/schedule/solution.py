"""The solution of a scheduling problem: a schedule, the decisions it was decoded from, and its bound; or a conflict that shows
that no schedule exists.

Pure data, integers only: times in ticks, sizes in bytes.  `problem` says what a schedule means; `search` produces answers, and
`verify` judges them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, NewType, TypeAlias

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, field

if TYPE_CHECKING:
    from .problem import DeviceIndex, Directive, PhaseIndex

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
    `decisions`: those that the schedule was decoded from, if any; not compared."""

    shards: tuple[Shard, ...]
    combines: tuple[ScheduledCombine, ...]
    transfers: tuple[Transfer, ...]
    decisions: Decisions | None = field(default=None, compare=False, repr=False)

    @property
    def makespan(self) -> int:
        ends = [s.end for s in self.shards] + [c.end for c in self.combines] + [t.arrive for t in self.transfers]
        return max(ends, default=0)


class Status(Enum):
    """How good an answer is known to be.  Exit codes 0, 0, 3, 5."""

    OPTIMAL = "optimal"
    GAP = "gap"
    IMPOSSIBLE = "impossible"
    ABORTED = "aborted"


@dataclass(frozen=True, slots=True)
class BoundCertificate:
    """Why no plan is better: `method` is bound (a lower bound equals its value), z3 (a makespan of T-1 is refuted), certificate
    (the rows that all devices can do by T-1 sum to too few) or none.  `detail`: what is proved of fewer plans, all of it derived
    again by `plan --check --prove`: lower bounds of those along the plan's axes (`axes`), and of those also in whole shards
    (`whole`, where one of these is as short); and data of the method."""

    method: str
    lower_bound: int
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """`ticks` is None where the baseline breaks a constraint."""

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
    `lower_bound` is of the first.  IMPOSSIBLE has a conflict and no schedule; ABORTED may have a schedule that is not to
    be used as a result.  `failures`: stages of the planner that were left out, and why.  `chunks`: the bound, and being optimal,
    range over schedules with at most so many chunks a device, of which this is one.  `axes`: the axis of each phase, by its index
    in the problem's space (empty: the problem's own); `every_axis`: the bound, the conflict, and being optimal range over all
    axes of that space."""

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
    """Passes when every (queue, position) of `after` is complete.  `source`: the device that completes these steps."""

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
