"""The data that the stages of a session exchange: checked programs, loaded programs and their plans in tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from ..lang.diagnostics.model import Diagnostic, Rejected
from ..lang.support.records import dataclass, field
from ..lang.syntax.source import Source
from ..typechecker.check import CheckResult

if TYPE_CHECKING:
    from ..backend.graph.bind_sizes import BoundGraph
    from ..backend.io.external_arrays import StoredInput, StoredOutput
    from ..backend.schedule.plan.plan import Device, ExecutionPlan
    from ..backend.schedule.streams.stream_planning import Scratch, SelectionStage, Streaming, Target, TileDevice
    from ..backend.streams.spill import SelectedRows
    from ..backend.vm.run_state import Observer, RunResults
    from ..typechecker.core.blocks import Core
    from .execution.clusters import ClusterConnection
    from .execution.loading import InputFile
    from .execution.run_request import RunRequest
    from .execution.stored_plans import StoredPlan

RemoteRunner: TypeAlias = "Callable[[ExecutionPlan, Mapping[str, Any], Observer | None], RunResults]"
"""Runs a plan on inputs by name, and calls the observer after each step."""


class Strictness(Enum):
    """How facts are treated that only loading or running can decide."""

    GUARDED = "checked when loaded or run"
    STRICT = "refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking.  `core`: None when the program is rejected; `result`: types and quantities by name, None if a
    module could not be read."""

    source: Source
    core: Core | None
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    result: CheckResult | None = None

    @property
    def types(self) -> Mapping[str, str]:
        """Types by name."""
        return {} if self.result is None else self.result.types

    @property
    def last(self) -> str | None:
        """The type of the last value."""
        return None if self.result is None else self.result.last

    @property
    def accepted(self) -> bool:
        return self.core is not None

    def require(self) -> Core:
        """The typed core.  Rejected: the program has errors."""
        if self.core is None:
            raise Rejected(self.diagnostics, self.sources)
        return self.core


class PlanDetail(Enum):
    """How much a plan contains."""

    STEPS = "what execution needs"
    FULL = "also phases in numbers and addresses"


class Engine(Enum):
    """How a loaded program is executed."""

    PLANNED = "the plan, on this machine's devices"
    REFERENCE = "the reference interpreter"


@dataclass(frozen=True, slots=True)
class TileWorkers:
    """The devices of a cluster that tiles are dealt to, home first; the inputs whose files all see, and what only home has."""

    connection: ClusterConnection
    devices: tuple[TileDevice, ...]
    inputs: Mapping[str, StoredInput]
    undivided: frozenset[str]


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What to plan in tiles: within `limit` bytes of memory, with the outputs in `sinks` written to files; with the tiles of
    `stored_plan`, on the devices of `workers`, if they are given."""

    limit: int
    sinks: Mapping[str, Target]
    stored_plan: StoredPlan | None = None
    workers: TileWorkers | None = None


@dataclass(frozen=True, slots=True)
class StagedPlan:
    """A program with sizes that masks determine when it runs: its graph and stream request, and its selection `stages`, planned
    for the most items there can be."""

    bound: BoundGraph
    request: StreamRequest
    device: Device
    stages: tuple[SelectionStage, ...]


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """A planned program with its sizes bound: its files are found and its guards hold; no data has been read.

    `simulated`: the plan's devices are declared, and each is held to its memory while the plan runs here.
    `file_bytes`: the most memory that reading or writing one file takes in addition to the arrays.
    `warnings`: of directives.
    `remote_runner`: runs the plan on a cluster; None: this process runs it.
    `scratch`: values that are sorted in temporary files.
    `streaming`: what a plan in tiles was made for, `workers`: the devices that run tiles beside this process.
    `staged`: sizes in `bound` are the most that masks can select, and become known stage by stage.
    `mask_selections`: by name, the items that stages have selected so far.
    `stored`: by name, inputs that devices read and outputs that they write in place."""

    checked: Checked
    core: Core
    request: RunRequest
    files: Mapping[str, InputFile]
    bound: BoundGraph
    plan: ExecutionPlan
    simulated: bool = False
    file_bytes: int = 0
    warnings: tuple[Diagnostic, ...] = ()
    remote_runner: RemoteRunner | None = None
    scratch: tuple[Scratch, ...] = ()
    streaming: Streaming | None = None
    workers: TileWorkers | None = None
    staged: StagedPlan | None = None
    mask_selections: Mapping[str, SelectedRows] | None = None
    stored: Mapping[str, StoredInput | StoredOutput] = field(default_factory=dict)

    @property
    def streams(self) -> bool:
        """Are some inputs read, or outputs written, in tiles?"""
        return bool(self.plan.stores) or self.staged is not None
