"""Who is told how a run gets on: its stages, and on request its phases.  Imports nothing, so that every verb may.

Neighbours: `running` tells; `progress` and `tracing` listen.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from time import perf_counter_ns
from typing import TYPE_CHECKING

from ...lang.records import dataclass

if TYPE_CHECKING:
    from ...backend.run.machine import Observer
    from ..stages import Loaded


class Stage(Enum):
    CHECK = "check"
    LOAD = "load and plan"
    RUN = "run"
    VERIFY = "verify"
    SAVE = "save"


class Watch:
    """Told how a run gets on: of every stage when it begins (`loaded` from RUN on), and by `observer` of phases.  This one
    takes no notice."""

    def stage(self, stage: Stage, loaded: Loaded | None = None) -> None:
        """A stage begins, and the one before it is over."""

    @property
    def observer(self) -> Observer | None:
        """Is told how long each step of the run takes."""
        return None


UNWATCHED = Watch()


@dataclass(slots=True)
class StageTimes(Watch):
    """When each stage began, in nanoseconds since this was made; `loaded` is the program, once it is."""

    started: int = field(default_factory=perf_counter_ns)
    stages: list[tuple[Stage, int]] = field(default_factory=list)
    loaded: Loaded | None = None

    def stage(self, stage: Stage, loaded: Loaded | None = None) -> None:
        self.stages.append((stage, perf_counter_ns() - self.started))
        self.loaded = loaded or self.loaded

    def lines(self) -> list[str]:
        """What `--verbose` says, now that the last stage is over."""
        ends = [*(start for _, start in self.stages[1:]), perf_counter_ns() - self.started]
        return [f"{stage.value}: {(end - start) / 1e6:,.1f} ms" for (stage, start), end in zip(self.stages, ends, strict=True)]
