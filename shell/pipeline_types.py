"""The data that the stages of a session exchange: checked programs, loaded programs and requests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from ..lang.diagnostics.model import Diagnostic, Rejected
from ..lang.support.records import dataclass
from ..lang.syntax.source import Source
from ..typechecker.check import CheckResult

if TYPE_CHECKING:
    from ..backend.graph.bind_sizes import BoundGraph
    from ..backend.io.external_arrays import StoredInput, StoredOutput
    from ..backend.schedule.plan.plan import Device, ExecutionPlan
    from ..backend.schedule.streams.stream_planning import Scratch, SelectionStage, Target
    from ..backend.streams.spill import SelectedRows
    from ..backend.vm.run_state import Observer, RunResults
    from ..typechecker.core.blocks import Core
    from .execution.loading import InputFile
    from .execution.run_request import RunRequest
    from .execution.stored_plans import StoredPlan

Runner: TypeAlias = "Callable[[ExecutionPlan, Mapping[str, Any], Observer | None], RunResults]"
"""What runs a plan on inputs by name."""


class Strictness(Enum):
    """What becomes of facts that only loading or running can decide."""

    GUARDED = "checked when loaded or run"
    STRICT = "refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """What checking found.  `core` is None when the program is rejected; `result` is what more can be asked, None if the text
    could not be read."""

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
        """The typed core.  Rejected: there is none."""
        if self.core is None:
            raise Rejected(self.diagnostics, self.sources)
        return self.core


class PlanDetail(Enum):
    """How much of a plan is written down."""

    STEPS = "what execution needs"
    FULL = "also phases in numbers and addresses"


class Engine(Enum):
    """What executes a loaded program."""

    PLANNED = "the plan, on this machine's devices"
    REFERENCE = "the reference interpreter"


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """What is to be planned in tiles: within `limit` bytes, outputs of these names to files; as `stored_plan`, where that is
    given."""

    limit: int
    sinks: Mapping[str, Target]
    stored_plan: StoredPlan | None = None


@dataclass(frozen=True, slots=True)
class Staged:
    """A program some of whose sizes are what masks select: its graph and what was asked for, and the plans of its `stages` where
    everything is selected."""

    bound: BoundGraph
    asked: StreamRequest
    device: Device
    stages: tuple[SelectionStage, ...]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A program whose sizes are bound and that is planned: its files are found, its guards hold; no data has been read.

    `simulated`: the plan's devices are declared, and each is held to its memory while it runs here.  `file_bytes`: what
    reading or writing a file takes at most, beside the arrays.  `warnings`: of directives.  `elsewhere`: what runs it, if not
    this process alone.  `scratch`: what is ordered on disk.  `staged`: sizes in `bound`
    are the most that masks can select, and become known stage by stage; `selected`: what has been selected so.  `stored`: inputs
    that are read where they are used, and outputs that are written where they are made.
    """

    checked: Checked
    core: Core
    request: RunRequest
    files: Mapping[str, InputFile]
    bound: BoundGraph
    plan: ExecutionPlan
    simulated: bool = False
    file_bytes: int = 0
    warnings: tuple[Diagnostic, ...] = ()
    elsewhere: Runner | None = None
    scratch: tuple[Scratch, ...] = ()
    staged: Staged | None = None
    selected: Mapping[str, SelectedRows] | None = None
    stored: Mapping[str, StoredInput | StoredOutput] = field(default_factory=dict)

    @property
    def streams(self) -> bool:
        """Are some inputs read, or outputs written, in tiles?"""
        return bool(self.plan.stores) or self.staged is not None
