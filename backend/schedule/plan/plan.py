"""The plan: what runs where, in what order, in which memory.  The executor reads nothing else about placement.

An `ExecutionPlan` is pure data with a canonical JSON form (schema `plan/2`).  Queues hold steps in order, one queue for each
device and kind of work; fences and waits state the order between queues; transfers are steps of a copy queue.  Steps name phases
of the graph by id; `phases` describes them for people and for the verifier.  Loops, branches, maps and folds are steps that hold
sub-plans with their own steps and buffers.

A plan for several devices also states the part of a phase that a step runs (`RunStep.box`), the part of a value that a transfer
moves, the start and end of steps in ticks, and its bound (`Prediction`).

Note [Boxes].  The box of a run step has one interval an axis: of the iteration space for a structured phase (its reduce
axis last), of the first result for a library phase; None runs the whole.  The box of a transfer is of the value, None for
all of it; a `partial` one moves partial results, and its box is the run step's.  Boxes of a phase tile it exactly.

Invariants: every phase of the graph is run by exactly one step of one (sub-)plan, or by steps whose boxes tile it (a `RowsStep`
runs several), or by passes (`StreamStep`); a value is freed once on each device, after its last use; the address ranges of live
buffers do not overlap, unless one is an alias of the other or is written over it (`reuses`).  All bytes are integers; run-time
sizes are counted at their caps.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Never, NewType, TypeAlias, Union, get_args, get_origin, get_type_hints

from ....lang.support.bounded_parsing import decode
from ....lang.support.records import dataclass, field
from ...graph.phases import PhaseId, ValueId
from ..problem import Baseline, BoundCertificate, QueueKind, Status

# ---------------------------------------------------------------------------------------------------- records
#
# Records of a plan other than steps: devices and links, the phases in numbers, files, stores, chunks, regions.

AS_OBJECT: Final = "an object"
"""Marks a tuple of (name, number) pairs that `codec` writes as a JSON object."""

DeviceId = NewType("DeviceId", str)
Counts: TypeAlias = Annotated[tuple[tuple[str, int], ...], AS_OBJECT]


@dataclass(frozen=True, slots=True)
class Device:
    """A memory with threads that compute.  `memory` is None where no limit was declared; `kind` is its class in the profile."""

    id: DeviceId
    backend: str
    threads: int = 1
    memory: int | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class PlannedLink:
    """A link of the topology that transfers name by `id`; its ends are ids or groups of devices."""

    id: str
    source: str
    target: str


@dataclass(frozen=True, slots=True)
class PlannedRead:
    value: ValueId
    projection: str
    bytes: int


@dataclass(frozen=True, slots=True)
class PlannedPhase:
    """One phase as numbers: `axes` pairs a size with `parallel` or `reduce`, `operations` counts by class.  `scratch`: the bytes
    that its step needs beside operands and results, as memory is planned with."""

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
    operations: Counts
    device: DeviceId


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of the program: the first is the program itself, others are what it uses."""

    name: str
    text: str


class Access(Enum):
    """How a pass uses a store."""

    READ = "read"
    WRITE = "written"


@dataclass(frozen=True, slots=True)
class PlannedStore:
    """An input that is read, or an output that is written, tile by tile: its bytes as they are stored."""

    name: str
    access: Access
    bytes: int


class LoopStateStorage(Enum):
    """How a component of the state of a compiled loop is stored."""

    IN_PLACE = "in place"
    TWO_BUFFERS = "two buffers"


@dataclass(frozen=True, slots=True)
class PlannedChunks:
    """A phase whose shard on a device is divided into up to `count` chunks."""

    phase: PhaseId
    count: int


@dataclass(frozen=True, slots=True)
class PlannedCut:
    """The chosen `axis` of a phase or an input, of all `axes` along which it could be cut.

    `axis` None: it is not cut; `because` says why, if it has rows and could not be cut."""

    phase: PhaseId
    axis: int | None
    axes: tuple[int, ...]
    because: str

    @property
    def is_chosen(self) -> bool:
        """Are there other axes, so that this one was chosen?"""
        return not {self.axis}.issuperset(self.axes)


@dataclass(frozen=True, slots=True)
class Space:
    """The plan space that a lower bound ranges over: each phase cut along its chosen axis and no other, or along any of its axes
    (`every_axis`), with at most `chunks` chunks on a device; `dealt` are loops that may be distributed, `broadcasts` inputs that
    may be broadcast by scatter and all-gather."""

    cuts: tuple[PlannedCut, ...] = ()
    chunks: int = 1
    dealt: tuple[PhaseId, ...] = ()
    every_axis: bool = False
    broadcasts: tuple[PhaseId, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedRegion:
    """An outermost loop, fold, scan or map: compiled as one region with its state, or run phase by phase (`because`: the reason).

    Fused phases and chains along rows (`RowsStep`) are regions as they are."""

    phase: PhaseId
    states: tuple[LoopStateStorage, ...]
    cells: bool
    because: str


def box_text(box: Sequence[tuple[int, int]] | None) -> str:
    """A box as text, `[0:4,2:6]`; empty if it is None (all of the value)."""
    return "" if box is None else "[" + ",".join(f"{start}:{stop}" for start, stop in box) + "]"


# ---------------------------------------------------------------------------------------------------- plan

SCHEMA: Final = "plan/2"
ALIGNMENT: Final = 512

FenceId = NewType("FenceId", int)
Box: TypeAlias = tuple[tuple[int, int], ...]
"""An interval [start, stop) an axis.  See Note [Boxes]."""


class Role(Enum):
    """The reason why a buffer exists."""

    INPUT = "input"
    CONSTANT = "constant"
    VALUE = "value"
    ALIAS = "alias"  # a view of another buffer, which takes no bytes


@dataclass(frozen=True, slots=True)
class Buffer:
    """Storage of a value, or of a part of it, on a device.  Its live range is [`first`, `last`], both inclusive: steps of its
    plan, or ticks in a plan that has ticks.

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
    """Run a chain of structured phases row by row; only `results` are materialised.

    `overwrite`: as of a `RunStep`, for the first result."""

    phases: tuple[PhaseId, ...]
    results: tuple[ValueId, ...]
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class TileShare:
    """The tiles [first, stop) of a pass that a device runs, the bytes that it reads for them, and the memory that they take."""

    device: DeviceId
    first: int
    stop: int
    reads: int
    memory: int


@dataclass(frozen=True, slots=True)
class StreamStep:
    """One pass over stored inputs, tile by tile: `phases` run on every tile, and their results are dropped, joined (partial
    results, in the order of sums), collected, or written to a store.

    `rows`: of a tile along the cut axis; `depth`: tiles in memory at once, one being computed, the others being read.  `results`:
    the values that are complete after the pass; `reads`, `writes`: bytes from and to stores.  A phase may be run by several
    passes; no result of it survives from one pass to the next.

    `shares`: the tiles of each device that takes part, in the order of the tiles; none if the queue's device runs all, where
    others could take part `undivided` because of this."""

    phases: tuple[PhaseId, ...]
    results: tuple[ValueId, ...]
    rows: int
    tiles: int
    depth: int
    reads: int
    writes: int
    shares: tuple[TileShare, ...] = ()
    undivided: str = ""


@dataclass(frozen=True, slots=True)
class CombineStep:
    """Combine the partial results of a phase that was cut along its reduce axis, at home, in the order of sums."""

    phase: PhaseId
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FreeStep:
    """Free the values, or with a box one piece of them, on a device (None: that of the queue).

    A piece that transfers have yet to read is released after the last of them."""

    values: tuple[ValueId, ...]
    box: Box | None = None
    device: DeviceId | None = None


@dataclass(frozen=True, slots=True)
class TransferStep:
    """Copy a value, or a box of it, between devices over a link, which is busy during [start, busy); it arrives at `arrive`.

    `link`: of `ExecutionPlan.links`, empty where no link is modelled.  `partial`: see Note [Boxes].  `units`: the same part in
    units of the scheduling problem, rows of the phase's cut, or bytes of all results of an atomic phase."""

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
    """A fence passes when all queues that have it have completed the steps before it."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class WaitStep:
    """The queue does not continue before the fence has passed."""

    fence: FenceId


@dataclass(frozen=True, slots=True)
class LoopStep:
    """A loop.  Entry and exit are barriers; fences inside are per iteration; carried state stays on its device.

    With `rows` the loop is distributed: this queue has those rows of the states, and each other queue has a `JoinStep` of the
    same phase.  Then `body` is the plan of an iteration (`graph.partial_graphs`), whose ticks count from its start; `leave` is
    the epilogue, which brings the states home if they are needed there; `making`: ticks of compiling kernels in the first
    iteration."""

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
    """This queue takes part in the distributed loop of another queue's `LoopStep`; `rows` as there, None for copy queues."""

    phase: PhaseId
    rows: tuple[int, int] | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LoopPartition:
    """The partition of a distributed loop: by state, the axis along which it is cut (None: whole at home)."""

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
    """A map or fold: the body runs once for each cell, in order."""

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
"""The tag of each step class in a stored plan."""


def phases_of(step: Step) -> tuple[PhaseId, ...]:
    """The phases that a step names."""
    match step:
        case RowsStep() | StreamStep():
            return step.phases
        case RunStep() | LoopStep() | JoinStep() | BranchStep() | CellsStep() | CombineStep():
            return (step.phase,)
        case _:
            return ()


def sub_plans(step: Step) -> tuple[SubPlan, ...]:
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
    """Queues and buffers of a body; `peak`: bytes by device, beside what is live around it."""

    queues: tuple[Queue, ...]
    buffers: tuple[Buffer, ...]
    peak: Annotated[tuple[tuple[DeviceId, int], ...], AS_OBJECT]


@dataclass(frozen=True, slots=True)
class Prediction:
    """The planner's figures, in ticks of `ExecutionPlan.tick_ns`: the makespan, the certified lower bound of the first objective,
    the value of each objective, and the baselines."""

    makespan: int
    lower_bound: int
    status: Status
    objectives: tuple[tuple[str, int], ...]
    proof: BoundCertificate
    baselines: tuple[Baseline, ...] = ()


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """A schedule of one program for known sizes on known devices.

    `program` is its text, in full, so that a plan can be run by itself; `sizes` the bound sizes by name.  `peak` is the most
    bytes live at once, by device, everything counted (inputs once, at home).  `profile` is the fingerprint of the devices'
    profile and `prediction` what was planned with it (empty and None for a plan of one device); `directives` are the texts
    of those that hold, `speculated` phases whose result may be thrown away, `divided` scans and sorts in two passes, and
    inputs that are broadcast, `spread` loops that several devices run together, `regions` what is compiled whole, `stores` the
    inputs and outputs that are never in memory as a whole, `chunks` the phases whose shards are cut into chunks that follow each
    other, `space` the plans that the bound is of."""

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
    divided: tuple[PhaseId, ...] = ()
    spread: tuple[LoopPartition, ...] = ()
    regions: tuple[PlannedRegion, ...] = ()
    chunks: tuple[PlannedChunks, ...] = ()
    stores: tuple[PlannedStore, ...] = ()
    space: Space = field(default_factory=Space)

    @property
    def form(self) -> tuple[PhaseId, ...]:
        """The phases of the program that have another form in the plan."""
        return (*self.speculated, *self.divided)

    @property
    def peak(self) -> dict[DeviceId, int]:
        return dict(self.main.peak)


# ---------------------------------------------------------------------------------------------------- codec
#
# A codec of dataclasses to JSON and back, driven by type annotations.
#
# A dataclass is an object with exactly its fields, a member of a union (`TAGS`) has its tag as well; a tuple is a list, or an
# object if it is annotated `AS_OBJECT`; an enum is its value.  Reading accepts nothing else: no number below 0 or above
# `LARGEST`, no text beyond a length, and no control characters.

LARGEST: Final = 1 << 62
"""An exclusive upper bound of all numbers of a plan: bytes, ticks, ids."""
LONGEST: Final = 10_000
"""Characters of one text of a plan, at most; the program's text may be longer."""
LONGEST_PROGRAM: Final = 1 << 24
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_DEVICE: Final = re.compile(r"\w[\w.\-]{0,200}(\[[0-9]{1,9}\])?")
_DEVICES: Final = frozenset({"Device.id", "ExecutionPlan.home", "Buffer.device"})
_PROGRAM: Final = frozenset({"PlannedFile.text", "PlannedPhase.label"})
"""Texts that quote the program; they may contain invisible characters."""
_POSITIVE: Final = frozenset({"Device.threads", "Space.chunks", "ExecutionPlan.tick_ns"})


class PlanFormatError(ValueError):
    """The text is not a plan of this version; the message says where."""


def encoded(value: Any, hint: Any = None) -> Any:
    """The JSON value (dicts, lists, texts, integers) of a value of type `hint`."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return dict(value) if _is_object(hint) else [encoded(item) for item in value]
    if isinstance(value, Mapping):
        return dict(value)
    if not dataclasses.is_dataclass(value):
        return value
    kind: Any = type(value)
    tag = {"step": TAGS[kind]} if kind in TAGS else {}
    return {**tag, **{name: encoded(getattr(value, name), hint) for name, hint in hints_of(kind).items()}}


def decoded(kind: Any, data: object, where: str, field: str = "") -> Any:
    """The value of type `kind` that JSON data encode.  Raises PlanFormatError."""
    origin = get_origin(kind)
    if origin is Annotated:
        if not isinstance(data, dict):
            raise PlanFormatError(f"{where} is not an object")
        return tuple(sorted((key, _natural(number, f"{where}.{key}")) for key, number in data.items()))
    if origin in (Union, UnionType):
        options = [option for option in get_args(kind) if option is not NoneType]
        if data is None and len(options) < len(get_args(kind)):
            return None
        return decoded(options[0] if len(options) == 1 else _tagged(options, data, where), data, where, field)
    if origin is tuple:
        return _tuple(get_args(kind), data, where, field)
    if origin is Mapping:
        return dict(decoded(Annotated[tuple[Any, ...], AS_OBJECT], data, where))
    if kind is Never:
        raise PlanFormatError(f"{where} says what this version does not know")
    if dataclasses.is_dataclass(kind):
        return _record(kind, data, where)
    base = getattr(kind, "__supertype__", kind)
    if isinstance(base, type) and issubclass(base, Enum):
        return _choice(base, data, where)
    if base is bool:
        if not isinstance(data, bool):
            raise PlanFormatError(f"{where} is not true or false")
        return data
    return _natural(data, where, int(field in _POSITIVE)) if base is int else _text(data, where, field)


@cache
def hints_of(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass with their types, in declaration order."""
    hints = get_type_hints(kind, {"Mapping": Mapping, **vars(sys.modules[kind.__module__])}, include_extras=True)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _is_object(hint: Any) -> bool:
    return get_origin(hint) is Annotated and AS_OBJECT in hint.__metadata__


def _record(kind: Any, data: object, where: str) -> Any:
    if not isinstance(data, dict):
        raise PlanFormatError(f"{where} is not an object")
    hints = hints_of(kind)
    known = {*hints, "step"} if kind in TAGS else set(hints)
    if missing := [name for name in known if name not in data]:
        raise PlanFormatError(f"{where} has no {min(missing)}")
    if strange := [name for name in data if name not in known]:
        raise PlanFormatError(f"{where} has unknown fields: {', '.join(sorted(strange))}")
    return kind(**{name: decoded(hint, data[name], f"{where}.{name}", f"{kind.__name__}.{name}") for name, hint in hints.items()})


def _tagged(options: list[Any], data: object, where: str) -> Any:
    tag = data.get("step") if isinstance(data, dict) else None
    for option in options:
        if tag is not None and TAGS.get(option) == tag:
            return option
    raise PlanFormatError(f"{where} has an unknown step {tag!r}")


def _tuple(inner: tuple[Any, ...], data: object, where: str, field: str) -> tuple[Any, ...]:
    if not isinstance(data, list) or (inner[-1:] != (Ellipsis,) and len(data) != len(inner)):
        raise PlanFormatError(f"{where} is not a list, or not of {len(inner)} items")
    kinds = [inner[0]] * len(data) if inner[-1:] == (Ellipsis,) else inner
    return tuple(decoded(kind, item, f"{where}[{at}]", field) for at, (kind, item) in enumerate(zip(kinds, data, strict=True)))


def _choice(kind: type[Enum], data: object, where: str) -> Enum:
    try:
        return kind(data)
    except ValueError:
        raise PlanFormatError(f"{where} cannot be {data!r}") from None


def _natural(data: object, where: str, least: int = 0) -> int:
    if isinstance(data, bool) or not isinstance(data, int) or not least <= data < LARGEST:
        raise PlanFormatError(f"{where} is not a number from {least} to {LARGEST - 1}")
    return data


def _text(data: object, where: str, field: str) -> str:
    if not isinstance(data, str):
        raise PlanFormatError(f"{where} is not text")
    if len(data) > (LONGEST_PROGRAM if field == "PlannedFile.text" else LONGEST):
        raise PlanFormatError(f"{where} is too long")
    if _UNSEEN.search(data) and field not in _PROGRAM:
        raise PlanFormatError(f"{where} has characters that are not seen")
    if field in _DEVICES and not _DEVICE.fullmatch(data):
        raise PlanFormatError(f"{where} is not the name of a device")
    return data


# ---------------------------------------------------------------------------------------------------- plan as JSON
#
# Plans as canonical JSON (`plan/2`), and back.
#
# Canonical: keys sorted, no blanks, integers only, so that a plan has one sequence of bytes.  Decoding accepts exactly the schema
# and raises `PlanFormatError` otherwise.  Nothing in a plan is executed except its program, and a decoded plan has yet to be
# verified against that program.

LARGEST_PLAN: Final = 64 << 20
"""The most bytes of JSON that are read."""


def encode_plan(plan: ExecutionPlan) -> str:
    """The canonical text of a plan."""
    import json

    return json.dumps(plan_object(plan), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def plan_object(plan: ExecutionPlan) -> dict[str, Any]:
    """The plan as dicts, lists, strings and integers."""
    encoding: dict[str, Any] = encoded(plan)
    return encoding


def decode_plan(text: str) -> ExecutionPlan:
    """The plan of a text.  Raises PlanFormatError: too large, not JSON, of another version, or not exactly the schema."""
    if len(text) > LARGEST_PLAN:
        raise PlanFormatError(f"a plan has at most {LARGEST_PLAN} characters")
    try:
        data = decode(text)
        if not isinstance(data, dict):
            raise PlanFormatError("plan is not an object")
        if data.get("schema") != SCHEMA:
            raise PlanFormatError(f"its schema is {str(data.get('schema'))[:40]!r}, and this version reads {SCHEMA}: plan again")
        plan: ExecutionPlan = decoded(ExecutionPlan, data, "plan")
    except PlanFormatError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanFormatError(f"not JSON, or nested too deep: {error}") from None
    return plan
