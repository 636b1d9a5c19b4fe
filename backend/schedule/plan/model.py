"""The plan: what runs where, in what order, in which memory.  The executor reads nothing else about placement.

A `Plan` is pure data with a canonical JSON form (`plan_json`, schema `plan/2`).  Queues hold steps in order, one queue a
device and kind of work; order between queues is stated by fences and waits; transfers are steps of a copy queue.  Steps
name phases of the bound graph by id; `phases` describes each of them for people and for the verifier.  Loops, branches,
maps and folds are steps that hold sub-plans with their own steps and buffers.

A plan for several devices also says which part of a phase a step runs (`RunStep.box`), which part of a value a transfer
moves, when everything starts and ends in ticks, and why it is believed to be good (`Prediction`).

Note [Boxes].  The box of a run step has one interval an axis: of the iteration space for a structured phase (its reduce
axis last), of the first result for a library phase; None runs the whole.  The box of a transfer is of the value, None for
all of it; a `partial` one moves partial results, and its box is the run step's.  Boxes of a phase tile it exactly.

Invariants: every phase of the graph is run by exactly one step of one (sub-)plan, or by steps whose boxes tile it (a `RowsStep`
runs several), or by passes (`StreamStep`); a value
is freed once a device, after its last use; a buffer's address range overlaps no other buffer's while both live, unless one
is an alias of the other or takes its place (`reuses`).  All bytes are integers; sizes known only when run are counted at
their caps.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Annotated, Final, NewType, TypeAlias

from ....lang.records import dataclass
from ...graph.phases import PhaseId, ValueId
from ..answer import Baseline, Proof, Status
from ..synchronisation import QueueKind as QueueKind
from .parts import (
    AS_OBJECT,
    Counts,
    Device,
    DeviceId,
    PlannedChunks,
    PlannedFile,
    PlannedLink,
    PlannedPhase,
    PlannedRegion,
    PlannedStore,
    Space,
)

SCHEMA: Final = "plan/2"
ALIGNMENT: Final = 512

FenceId = NewType("FenceId", int)
Box: TypeAlias = tuple[tuple[int, int], ...]
"""An interval [start, stop) an axis.  See Note [Boxes]."""


class Role(Enum):
    """Why a buffer exists."""

    INPUT = "input"
    CONSTANT = "constant"
    VALUE = "value"
    ALIAS = "alias"  # a view of another buffer: no bytes of its own


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of a value, or of a piece of it, on a device: alive from step `first` up to and including step `last` of its
    plan, or, in a plan with ticks, from the tick `first` to the tick `last`.

    `reuses`: this result may be written over the buffer of that value, which dies in the same step."""

    value: ValueId
    device: DeviceId
    role: Role
    bytes: int
    offset: int
    first: int
    last: int
    alias_of: ValueId | None = None
    reuses: ValueId | None = None


@dataclass(frozen=True, slots=True)
class RunStep:
    """Run a phase, or a box of it, in ticks [start, end); `overwrite` is the operand whose dying buffer the first result
    takes."""

    phase: PhaseId
    overwrite: ValueId | None = None
    box: Box | None = None
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class RowsStep:
    """Run structured phases together, row by row, making `results`; what else they make is never there as a whole.

    `overwrite`: as of a `RunStep`, for the first result."""

    phases: tuple[PhaseId, ...]
    results: tuple[ValueId, ...]
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class StreamStep:
    """One pass over stored inputs, tile by tile: of every tile the phases that follow from it, with their results dropped, joined
    (partial results, in the order of sums), collected, or written to a store.

    `rows`: of the axis that is cut, in a tile; `depth`: tiles that are in memory at once, one being computed, the others
    being read. `results` are what is there as a whole afterwards; `reads` and `writes` the bytes that come from stores and
    go to them. A phase may be run by several passes; nothing of it is kept between them."""

    phases: tuple[PhaseId, ...]
    results: tuple[ValueId, ...]
    rows: int
    tiles: int
    depth: int
    reads: int
    writes: int


@dataclass(frozen=True, slots=True)
class CombineStep:
    """Join the partial results of a phase that was cut along its reduce axis, at home, in the order of sums."""

    phase: PhaseId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FreeStep:
    """The values are not needed again on a device (None: that of the queue), nor any piece of them; with a box, only that piece.

    A piece that transfers still read goes when the last of them has."""

    values: tuple[ValueId, ...]
    box: Box | None = None
    device: DeviceId | None = None


@dataclass(frozen=True, slots=True)
class TransferStep:
    """Copy a value, or a box of it, between devices over a link, which is busy during [start, busy); it is there at `arrive`.

    `link`: of `Plan.links`, empty where devices share a memory's time.  `partial`: see Note [Boxes].  `units`: the same part
    as the scheduling problem counts it, rows of the phase's cut, or bytes of all results of an atomic phase."""

    value: ValueId
    source: DeviceId
    target: DeviceId
    bytes: int
    box: Box | None = None
    partial: bool = False
    link: str = ""
    start: int = 0
    busy: int = 0
    arrive: int = 0
    units: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class FenceStep:
    """Everything before this in its queue has completed once the fence is passed; a fence in several queues is passed when
    all of them have come to it."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class WaitStep:
    """Go no further before the fence has been passed."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Entry and exit are barriers; fences inside are per iteration; carried state keeps its placement.

    With `rows` several queues run the loop together: this one, with those rows of the states, and all with a `JoinStep` of the
    same phase.  Then `body` is of a turn (`graph.turns`), whose ticks count from its start; `leave` brings the states home
    after the last turn, if they are wanted there; `making` ticks go to the first turn's kernels."""

    phase: PhaseId
    body: SubPlan
    until: SubPlan | None
    start: int = 0
    end: int = 0
    rows: tuple[int, int] | None = None
    leave: SubPlan | None = None
    making: int = 0


@dataclass(frozen=True, slots=True)
class JoinStep:
    """This queue takes part in a loop that another queue's `LoopStep` states; `rows` as there, None of queues that copy."""

    phase: PhaseId
    rows: tuple[int, int] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spread:
    """A loop that runs on several devices: by state, the axis along which it is cut (None: whole at home)."""

    phase: PhaseId
    axes: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class BranchStep:
    phase: PhaseId
    then: SubPlan
    otherwise: SubPlan
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class CellsStep:
    """A map or fold: the body once a cell, in order."""

    phase: PhaseId
    body: SubPlan
    start: int = 0
    end: int = 0


Step: TypeAlias = (
    RunStep
    | RowsStep
    | StreamStep
    | CombineStep
    | FreeStep
    | TransferStep
    | FenceStep
    | WaitStep
    | LoopStep
    | JoinStep
    | BranchStep
    | CellsStep
)


TAGS: Final[dict[type, str]] = {
    RunStep: "run", RowsStep: "rows", StreamStep: "stream", CombineStep: "combine", FreeStep: "free", TransferStep:
    "transfer", FenceStep: "fence", WaitStep: "wait", LoopStep: "loop", JoinStep: "join", BranchStep: "branch", CellsStep:
    "cells", }  # fmt: skip
"""What a stored plan calls them."""


def phases_of(step: Step) -> tuple[PhaseId, ...]:
    """The phases that a step names."""
    match step:
        case RowsStep() | StreamStep():
            return step.phases
        case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep() | CombineStep():
            return (step.phase,)
        case _:
            return ()


def inside(step: Step) -> tuple[SubPlan, ...]:
    """The sub-plans of a step."""
    match step:
        case LoopStep():
            return tuple(part for part in (step.body, step.until, step.leave) if part is not None)
        case BranchStep():
            return step.then, step.otherwise
        case CellsStep():
            return (step.body,)
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Queue:
    """`device` is a device's id, or for copies the channel of a link."""

    device: DeviceId
    kind: QueueKind
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class SubPlan:
    """Queues and buffers of a body; `peak` is what it needs beside what is live around it, by device."""

    queues: tuple[Queue, ...]
    buffers: tuple[Buffer, ...]
    peak: Annotated[tuple[tuple[DeviceId, int], ...], AS_OBJECT]


@dataclass(frozen=True, slots=True)
class Prediction:
    """How good the plan is, in ticks of `Plan.tick_ns`: its makespan, the certified lower bound of the first objective, the
    value of each objective, and what other ways of planning would give."""

    makespan: int
    lower_bound: int
    status: Status
    objectives: tuple[tuple[str, int], ...]
    proof: Proof
    baselines: tuple[Baseline, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule of one program for known sizes on known devices.

    `program` is its text, in full, so that a plan can be run by itself; `sizes` the bound sizes by name.  `peak` is the most
    bytes live at once, by device, everything counted (inputs once, at home).  `profile` is the fingerprint of the devices'
    profile and `prediction` what was planned with it (empty and None for a plan of one device); `directives` are the texts
    of those that hold, `speculated` phases whose result may be thrown away, `spread` loops that several devices run together,
    `regions` what is compiled whole, `stores` the inputs and outputs that are never in memory as a whole, `chunks` the phases
    whose shards are cut into chunks that follow each other, `space` the plans that the bound is of."""

    program: tuple[PlannedFile, ...]
    sizes: Counts
    devices: tuple[Device, ...]
    home: DeviceId
    phases: tuple[PlannedPhase, ...]
    main: SubPlan
    inputs: tuple[tuple[str, ValueId], ...]
    outputs: tuple[tuple[str, ValueId], ...]
    schema: str = field(default=SCHEMA)
    tick_ns: int = 1
    profile: str = ""
    links: tuple[PlannedLink, ...] = ()
    prediction: Prediction | None = None
    directives: tuple[str, ...] = ()
    speculated: tuple[PhaseId, ...] = ()
    spread: tuple[Spread, ...] = ()
    regions: tuple[PlannedRegion, ...] = ()
    chunks: tuple[PlannedChunks, ...] = ()
    stores: tuple[PlannedStore, ...] = ()
    space: Space = field(default_factory=Space)

    @property
    def peak(self) -> dict[DeviceId, int]:
        return dict(self.main.peak)
