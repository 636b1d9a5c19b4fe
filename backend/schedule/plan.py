"""The plan: what runs where, in what order, in which memory.  The executor reads nothing else about placement.

A `Plan` is pure data with a canonical JSON form (`plan_json`, schema `plan/1`).  Queues hold steps in order, one queue a
device and kind of work; order between queues is stated by fences and waits; transfers are steps of a copy queue.  Steps
name phases of the bound graph by id; `phases` describes each of them for people and for the verifier.  Loops, branches,
maps and folds are steps that hold sub-plans with their own steps and buffers.

Invariants: every phase of the graph is run by exactly one step of one (sub-)plan; a value is freed once, after its last
use; a buffer's address range overlaps no other buffer's while both live, unless one is an alias of the other or takes
its place (`reuses`).  All bytes are integers; sizes known only when run are counted at their caps.

Neighbours: `one_device` (makes one), `explain` (text), `plan_json`, `backend.run.executor` (executes it).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NewType, TypeAlias

from ..graph.phases import PhaseId, ValueId

SCHEMA: Final = "plan/1"
ALIGNMENT: Final = 512

DeviceId = NewType("DeviceId", str)
FenceId = NewType("FenceId", int)


class QueueKind(Enum):
    COMPUTE = "compute"
    COPY = "copy"
    HOST = "host"


class Role(Enum):
    """Why a buffer exists."""

    INPUT = "input"
    CONSTANT = "constant"
    VALUE = "value"
    ALIAS = "alias"  # a view of another buffer: no bytes of its own


@dataclass(frozen=True, slots=True)
class Device:
    """A memory and a team of threads.  `memory` is None where no limit was declared."""

    id: DeviceId
    backend: str
    threads: int = 1
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class PlannedRead:
    value: ValueId
    projection: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PlannedPhase:
    """One phase as numbers: `axes` pairs a size with `parallel` or `reduce`, `operations` counts by class."""

    id: PhaseId
    op: str
    label: str
    span: tuple[str, int, int]
    axes: tuple[tuple[int, str], ...]
    reads: tuple[PlannedRead, ...]
    results: tuple[ValueId, ...]
    bytes_read: int
    bytes_written: int
    scratch: int
    operations: tuple[tuple[str, int], ...]
    device: DeviceId


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of a value on a device, alive from step `first` up to and including step `last` of its plan.

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
    """Run a phase; `overwrite` is the operand whose dying buffer the first result takes."""

    phase: PhaseId
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class FreeStep:
    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class TransferStep:
    """Copy a value between devices over a link."""

    value: ValueId
    source: DeviceId
    target: DeviceId
    bytes: int


@dataclass(frozen=True, slots=True)
class FenceStep:
    """Everything before this in its queue has completed once the fence is passed."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class WaitStep:
    """Go no further before the fence has been passed."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class LoopStep:
    """Entry and exit are barriers; fences inside are per iteration; carried state keeps its placement."""

    phase: PhaseId
    body: SubPlan
    until: SubPlan | None


@dataclass(frozen=True, slots=True)
class BranchStep:
    phase: PhaseId
    then: SubPlan
    otherwise: SubPlan


@dataclass(frozen=True, slots=True)
class CellsStep:
    """A map or fold: the body once a cell, in order."""

    phase: PhaseId
    body: SubPlan


Step: TypeAlias = RunStep | FreeStep | TransferStep | FenceStep | WaitStep | LoopStep | BranchStep | CellsStep


@dataclass(frozen=True, slots=True)
class Queue:
    device: DeviceId
    kind: QueueKind
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class SubPlan:
    """Queues and buffers of a body; `peak` is what it needs beside what is live around it, by device."""

    queues: tuple[Queue, ...]
    buffers: tuple[Buffer, ...]
    peak: tuple[tuple[DeviceId, int], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule of one program for known sizes on known devices.

    `program` is the hash of the program, its parameters and passes; `sizes` the bound sizes by name.  `peak` is the most
    bytes live at once, by device, everything counted (inputs once, at home)."""

    program: str
    sizes: tuple[tuple[str, int], ...]
    devices: tuple[Device, ...]
    home: DeviceId
    phases: tuple[PlannedPhase, ...]
    main: SubPlan
    inputs: tuple[tuple[str, ValueId], ...]
    outputs: tuple[tuple[str, ValueId], ...]
    schema: str = field(default=SCHEMA)

    @property
    def peak(self) -> dict[DeviceId, int]:
        return dict(self.main.peak)
