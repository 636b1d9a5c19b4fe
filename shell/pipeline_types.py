"""The data that the stages of a session exchange: checked programs, loaded programs and how they are executed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

from ..lang.diagnostics.model import Diagnostic, Rejected
from ..lang.support.records import dataclass
from ..lang.syntax.source import Source
from ..typechecker.check import CheckResult

if TYPE_CHECKING:
    from ..backend.graph.bind_sizes import BoundGraph
    from ..backend.schedule.plan.plan import ExecutionPlan
    from ..backend.vm.run_state import Observer, RunResults
    from ..typechecker.core.operations import Core
    from .execution.loading import InputFile
    from .execution.run_request import RunRequest

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


class Run(Protocol):
    """How a loaded program is executed.  `in_tiles`: some inputs are read, or outputs written, tile by tile."""

    @property
    def in_tiles(self) -> bool: ...

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        """Read the data and compute; `observe` is called after each step.  Raises RunFailed or Refused."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """Executes the plan in this process.  `simulated`: its devices are declared, and each is held to its memory."""

    simulated: bool = False

    @property
    def in_tiles(self) -> bool:
        return False

    def results(self, program: LoadedProgram, observe: Observer | None) -> RunResults:
        from ..backend import execute

        return execute(program.plan, program.bound, program.values(), observe, simulated=self.simulated)


@dataclass(frozen=True, slots=True)
class LoadedProgram:
    """A planned program with its sizes bound: its files are found and its guards hold; no data has been read.

    `file_bytes`: the most memory that reading or writing one file takes in addition to the arrays.
    `warnings`: of directives."""

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
        """By name, the arrays of params and of inputs; files are read, except for those of the inputs `without`."""
        from .execution.params import param_values_of

        values = {**param_values_of(self.core, self.request.params).arrays, **self.request.arrays}
        if self.files.keys() - {*without}:
            from .execution.loading import read_inputs

            values |= read_inputs(self.core, self.files, self.bound.sizes, without)
        return values
