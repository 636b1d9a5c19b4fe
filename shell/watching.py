"""Who is told how a run gets on: its stages, and on request its phases.  Imports nothing, so that every verb may.

Neighbours: `running` tells; `progress` and `tracing` listen.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..backend.run.executor import Observer
    from .session import Loaded


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
