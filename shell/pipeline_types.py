"""The data that the stages of a session exchange: checked programs, loaded programs, their runs, and callbacks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Protocol

from ..lang.diagnostics.model import Diagnostic, Rejected
from ..lang.support.records import dataclass, field
from ..lang.syntax.source import Source

if TYPE_CHECKING:
    from ..backend.graph.bind_sizes import BoundGraph
    from ..backend.schedule.plan.plan import ExecutionPlan
    from ..backend.vm.run_state import Observer, RunResults
    from ..typechecker.check import CheckResult
    from ..typechecker.core.operations import Core
    from .execution.loading import InputFile
    from .execution.run_request import RunRequest

class Strictness(Enum):
    """The treatment of facts that only loading or running can decide."""

    GUARDED = "checked when loaded or run"
    STRICT = "refused"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking.  `core` is None if the program is rejected; `result` has types and quantities by name, and is None
    if a module could not be read."""

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


class Run(Protocol):
    """The way a loaded program is executed.  `in_tiles`: some inputs are read, or outputs written, tile by tile."""

    @property
    def in_tiles(self) -> bool: ...

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        """Read the data and compute; `observe` is called after each step.  Raises RunFailed or Refused."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """Executes the plan in this process.  `simulated`: its devices are declared, and each is limited to its memory."""

    simulated: bool = False

    @property
    def in_tiles(self) -> bool:
        return False

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        from ..backend import execute

        return execute(program.plan, program.bound, program.values(), observe, simulated=self.simulated)


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """A planned program with its sizes bound: its files exist and its guards hold; no data has been read.

    `file_bytes` is the most memory that reading or writing one file takes in addition to the arrays; `warnings` are those of
    directives.
    """

    checked: Checked
    request: RunRequest
    files: Mapping[str, InputFile]
    bound: BoundGraph
    plan: ExecutionPlan
    run: Run = InMemory()
    file_bytes: int = 0
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def core(self) -> Core:
        """The typed core."""
        return self.checked.require()

    @property
    def streams(self) -> bool:
        """Are some inputs read, or outputs written, in tiles?"""
        return self.run.in_tiles

    def values(self, without: Collection[str] = ()) -> dict[str, Any]:
        """The arrays of params and of inputs by name; files are read, except those of the inputs `without`."""
        from .execution.params import param_values_of

        values = {**param_values_of(self.core, self.request.params).arrays, **self.request.arrays}
        if self.files.keys() - {*without}:
            from .execution.loading import read_inputs

            values |= read_inputs(self.core, self.files, self.bound.sizes, without)
        return values


# ---------------------------------------------------------------------------------------------------- callbacks

class Stage(Enum):
    CHECK = "check"
    LOAD = "load and plan"
    RUN = "run"
    VERIFY = "verify"
    SAVE = "save"


class RunCallbacks:
    """The callbacks of a run, which do nothing here: `stage` is called when a stage begins, `observer` gives the callback for
    steps."""

    def stage(self, stage: Stage, loaded: LoadedProgram | None = None) -> None:
        """Called when a stage begins; from RUN on with the loaded program."""

    @property
    def observer(self) -> Observer | None:
        """The callback for the time of each step of the run; None: steps are not timed."""
        return None


NO_CALLBACKS = RunCallbacks()


@dataclass(slots=True)
class StageTimes(RunCallbacks):
    """Records when each stage begins, in nanoseconds since this object was made; `loaded` is the program, once it is loaded."""

    started: int = field(default_factory=perf_counter_ns)
    stages: list[tuple[Stage, int]] = field(default_factory=list)
    loaded: LoadedProgram | None = None

    def stage(self, stage: Stage, loaded: LoadedProgram | None = None) -> None:
        self.stages.append((stage, perf_counter_ns() - self.started))
        self.loaded = loaded or self.loaded

    def lines(self) -> list[str]:
        """The lines of `--verbose` on the time of each stage; call it after the last one."""
        ends = [*(start for _, start in self.stages[1:]), perf_counter_ns() - self.started]
        return [f"{stage.value}: {(end - start) / 1e6:,.1f} ms" for (stage, start), end in zip(self.stages, ends, strict=True)]
