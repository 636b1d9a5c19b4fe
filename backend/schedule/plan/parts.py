"""What a plan says beside its steps: devices and links, the phases in numbers, files, stores, chunks, regions.

Neighbours: `model` (the steps, and the plan itself), `codec` (writes both as JSON).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Annotated, Final, NewType, TypeAlias

from ....lang.records import dataclass
from ...graph.phases import PhaseId, ValueId

AS_OBJECT: Final = "an object"
"""Of pairs of a name and a number: how `codec` writes them."""

DeviceId = NewType("DeviceId", str)
Counts: TypeAlias = Annotated[tuple[tuple[str, int], ...], AS_OBJECT]


@dataclass(frozen=True, slots=True)
class Device:
    """A memory and a team of threads.  `memory` is None where no limit was declared; `kind` is its class in the profile."""

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
    """What a pass does with a store."""

    READ = "read"
    WRITE = "written"


@dataclass(frozen=True, slots=True)
class PlannedStore:
    """An input that is read, or an output that is written, tile by tile: its bytes as they are stored."""

    name: str
    access: Access
    bytes: int


class Lies(Enum):
    """Where a component of the state of a compiled loop lies."""

    IN_PLACE = "in place"
    TWO_BUFFERS = "two buffers"


@dataclass(frozen=True, slots=True)
class PlannedChunks:
    """A phase of which a device runs up to `count` shards one after the other."""

    phase: PhaseId
    count: int


@dataclass(frozen=True, slots=True)
class PlannedCut:
    """The axis along which a phase may be cut, of all `axes` along which it could be; of an input, along which its rows lie.

    None: it is not cut; `because` of something, where there is something to cut and no axis."""

    phase: PhaseId
    axis: int | None
    axes: tuple[int, ...]
    because: str


@dataclass(frozen=True, slots=True)
class Space:
    """The plans that a lower bound, and being optimal, range over: each phase cut along the axis of its cut and no other, with at
    most `chunks` shards one after the other on a device; `dealt` are loops whose iterations several devices may share."""

    cuts: tuple[PlannedCut, ...] = ()
    chunks: int = 1
    dealt: tuple[PhaseId, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedRegion:
    """An outermost loop, fold, scan or map: compiled as one region, with its state, or phase by phase, `because` of something.

    Fused phases and chains along rows (`RowsStep`) are regions as they are."""

    phase: PhaseId
    states: tuple[Lies, ...]
    cells: bool
    because: str


def box_text(box: Sequence[tuple[int, int]] | None) -> str:
    """`[0:4,2:6]`; nothing where it is all there is."""
    return "" if box is None else "[" + ",".join(f"{start}:{stop}" for start, stop in box) + "]"
