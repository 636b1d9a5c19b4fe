"""Callbacks for the progress of a run (its stages, on request its phases) and its deadline.  Imports nothing, so that every
verb may.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Code, Diagnostic, RhoError
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source, Span
from ..console.process_exit import Alarm, LastWords, limited

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer
    from ..pipeline_types import Loaded

# ---------------------------------------------------------------------------------------------------- watching

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


# ---------------------------------------------------------------------------------------------------- timing
#
# `--max-time`: stop work that takes longer, with nothing printed (exit 5).
#
# Uses the process's interval timer, so it works in the main thread of systems that have one; elsewhere the limit is checked
# when the work is over, and its results are then withheld.  What compiled code makes of the main thread, `ending` ends.

class TimeUp(RhoError):
    """The time allowed ran out (exit code 5)."""


class Allowance:
    """The time allowed.  `saving`: are outputs being written?  `over`: it has run out."""

    def __init__(self, seconds: float, source: Source) -> None:
        self.seconds, self.source = seconds, source
        self.saving = self.over = False

    def up(self) -> TimeUp:
        left = "each output is complete or as it was before" if self.saving else "no output was written"
        return TimeUp([Diagnostic(
            Code.E709, f"this program ran longer than the {self.seconds:g} seconds it was given", Span(self.source.name, 0, 0),
            notes=(f"nothing was printed and {left}",),
        )])  # fmt: skip


@contextmanager
def time_limit(seconds: float | None, source: Source, words: Callable[[TimeUp], LastWords]) -> Iterator[Allowance]:
    """Raise TimeUp once `seconds` have passed inside the block; None is no limit.  `words`: what the process then says."""
    allowance = Allowance(seconds or 0.0, source)
    if seconds is None:
        yield allowance
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        start = time.monotonic()
        yield allowance
        if time.monotonic() - start > seconds:
            raise allowance.up()
        return

    def stop(number: int, frame: FrameType | None) -> None:
        allowance.over = True
        raise Alarm

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with limited(lambda: words(allowance.up())):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                yield allowance
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        if allowance.over:  # whatever became of the alarm: a compiled module that is being imported says that it cannot be
            raise allowance.up() from None
        raise
    finally:
        signal.signal(signal.SIGALRM, before)
