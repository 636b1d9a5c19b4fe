"""Callbacks for the progress of a run (its stages, on request its phases), and the time limit of a run."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from time import perf_counter_ns
from types import FrameType
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Code, Diagnostic, RhoError
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Source, Span
from ..console.process_exit import RETRY_SECONDS, Alarm, ExitMessage, exit_on_alarm, is_importing

if TYPE_CHECKING:
    from ...backend.vm.run_state import Observer
    from ..pipeline_types import LoadedProgram

class Stage(Enum):
    CHECK = "check"
    LOAD = "load and plan"
    RUN = "run"
    VERIFY = "verify"
    SAVE = "save"


class RunCallbacks:
    """Callbacks of a run, which do nothing here: `stage` is called when a stage begins, `observer` after each step."""

    def stage(self, stage: Stage, loaded: LoadedProgram | None = None) -> None:
        """Called when a stage begins; from RUN on with the loaded program."""

    @property
    def observer(self) -> Observer | None:
        """Called after each step of the run with its time; None: steps are not timed."""
        return None


NO_CALLBACKS = RunCallbacks()


@dataclass(slots=True)
class StageTimes(RunCallbacks):
    """Records when each stage begins, in nanoseconds since this object was made; `loaded`: the program, once it is loaded."""

    started: int = field(default_factory=perf_counter_ns)
    stages: list[tuple[Stage, int]] = field(default_factory=list)
    loaded: LoadedProgram | None = None

    def stage(self, stage: Stage, loaded: LoadedProgram | None = None) -> None:
        self.stages.append((stage, perf_counter_ns() - self.started))
        self.loaded = loaded or self.loaded

    def lines(self) -> list[str]:
        """The lines of `--verbose`: how long each stage took; call it when the last one is over."""
        ends = [*(start for _, start in self.stages[1:]), perf_counter_ns() - self.started]
        return [f"{stage.value}: {(end - start) / 1e6:,.1f} ms" for (stage, start), end in zip(self.stages, ends, strict=True)]


# ---------------------------------------------------------------------------------------------------- time limit
#
# `--max-time` stops a run that takes longer, with nothing printed (exit 5).
#
# It needs the process's interval timer and the main thread.  Elsewhere the limit is checked when the run is over, and its results
# are then withheld.  `shell.console.process_exit` ends a process whose main thread is in compiled code.

class TimeUp(RhoError):
    """The time limit has passed (exit code 5)."""


class TimeLimit:
    """A time limit of `seconds`.  `saving`: outputs are being written; `expired`: the limit has passed."""

    def __init__(self, seconds: float, source: Source) -> None:
        self.seconds, self.source = seconds, source
        self.saving = self.expired = False

    def expired_error(self) -> TimeUp:
        left = "each output is complete or as it was before" if self.saving else "no output was written"
        return TimeUp([Diagnostic(
            Code.E709, f"this program ran longer than the {self.seconds:g} seconds it was given", Span(self.source.name, 0, 0),
            notes=(f"nothing was printed and {left}",),
        )])  # fmt: skip


@contextmanager
def time_limit(seconds: float | None, source: Source, message: Callable[[TimeUp], ExitMessage]) -> Iterator[TimeLimit]:
    """Raise TimeUp once `seconds` have passed inside the block; None is no limit.

    `message`: what the process prints if the watchdog has to end it."""
    deadline = TimeLimit(seconds or 0.0, source)
    if seconds is None:
        yield deadline
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        start = time.monotonic()
        yield deadline
        if time.monotonic() - start > seconds:
            raise deadline.expired_error()
        return

    def stop(number: int, frame: FrameType | None) -> None:
        deadline.expired = True
        if not is_importing(frame):
            raise Alarm
        signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with exit_on_alarm(lambda: message(deadline.expired_error())):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                yield deadline
                if deadline.expired:  # in the last import
                    raise Alarm
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        if deadline.expired:  # a library may raise an error of its own in place of Alarm
            raise deadline.expired_error() from None
        raise
    finally:
        signal.signal(signal.SIGALRM, before)
