"""The progress line on a terminal: shown while work takes longer than a second, erased when it is over.

A thread redraws it several times a second from the last events of the work.  An event is one reference to an immutable object,
read once, so the work never waits for the thread.  Nothing is written unless messages go to a terminal; the line has no colours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics.model import RhoError
from ...lang.support.processes import is_numpy_installed
from ..console.standard_streams import Console
from ..pipeline_types import NO_CALLBACKS, LoadedProgram, RunCallbacks, Stage
from .costs import waiting_time

if TYPE_CHECKING:
    from ...backend.graph.phases import PhaseId
    from ...backend.schedule.search.strategy import Incumbent
    from ...backend.vm.run_state import Observer, RunState

DELAY_SECONDS: Final = 1.0
"""Seconds before the line appears."""
REDRAW_SECONDS: Final = 0.15
MOST_PREDICTED: Final = 200
"""The most phases for which the line predicts the remaining time: computing it must not delay the run."""
_ERASE: Final = "\r\x1b[K"


class ProgressLine:
    """A line that a thread draws between `start` and `stop`; the thread calls `text` for each redraw."""

    def __init__(self, console: Console, text: Callable[[], str]) -> None:
        self._console, self._text = console, text
        self._stopped = threading.Event()
        self._started = time.monotonic()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def start(self) -> None:
        self._thread = threading.Thread(target=self._draw, name="rho progress", daemon=True)
        with suppress(RuntimeError):  # no thread can be started: there is no line
            self._thread.start()

    def stop(self) -> None:
        """Erase the line and end the thread."""
        self._stopped.set()
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._write(_ERASE)

    def _draw(self) -> None:
        wait = DELAY_SECONDS
        while not self._stopped.wait(wait):
            wait = REDRAW_SECONDS
            text = f"{self._text()} · {waiting_time(self.seconds)}"
            with self._lock:
                if self._stopped.is_set():
                    return
                width = self._console.error_width - 1
                self._write(_ERASE + (text if len(text) <= width else text[: width - 1] + "…"))
                self._drawn = True

    def _write(self, text: str) -> None:
        try:
            self._console.err.write(text)
            self._console.err.flush()
        except (OSError, ValueError):
            self._stopped.set()  # the terminal is closed


@contextmanager
def progress_line(console: Console, text: Callable[[], str]) -> Iterator[None]:
    """Show a progress line while the block runs, if messages go to a terminal."""
    if not console.has_lines:
        yield
        return
    line = ProgressLine(console, text)
    line.start()
    try:
        yield
    finally:
        line.stop()


# ---------------------------------------------------------------------------------------- planning


@contextmanager
def planning_progress(console: Console) -> Iterator[None]:
    """Show the best plan and the best bound so far while the block searches for a plan."""
    if not console.has_lines:
        yield
        return
    from ...backend.schedule.search.strategy import LISTENER

    latest: list[Incumbent] = []
    token = LISTENER.set(lambda result: latest.__setitem__(slice(None), [result]))
    try:
        with progress_line(console, lambda: search_text(latest[-1] if latest else None)):
            yield
    finally:
        LISTENER.reset(token)


def search_text(result: Incumbent | None) -> str:
    """The progress of a search: `planning · best 1,200 ticks, bound 1,100: gap 9.09 %`."""
    schedule = None if result is None else result.schedule
    if result is None or schedule is None:
        return "planning"
    best, bound = schedule.makespan, result.bound
    if not bound:
        return f"planning · best {best:,} ticks"
    gap = "met" if best <= bound else f"gap {(best - bound) / bound:.2%}".replace("%", " %")
    return f"planning · best {best:,} ticks, bound {bound:,}: {gap}"


# ----------------------------------------------------------------------------------------- running


class RunProgress(RunCallbacks):
    """Shows the stage of a run, its current phase and the predicted remaining time; forwards all callbacks to `inner`."""

    def __init__(self, console: Console, inner: RunCallbacks = NO_CALLBACKS) -> None:
        self._inner = inner
        self._line = ProgressLine(console, self.text) if console.has_lines else None
        self._stage = Stage.CHECK
        self._loaded: LoadedProgram | None = None
        self._machines: list[RunState] = []
        self._incumbent: Incumbent | None = None
        self._phases: PhaseProgress | None = None
        self._started = 0.0
        self._resets: list[Callable[[], None]] = []

    def __enter__(self) -> RunProgress:
        if self._line is not None:
            self._line.start()
        return self

    def __exit__(self, *raised: object) -> None:
        for reset in self._resets:
            reset()
        if self._line is not None:
            self._line.stop()

    @property
    def observer(self) -> Observer | None:
        return self._inner.observer

    def stage(self, stage: Stage, loaded: LoadedProgram | None = None) -> None:
        self._inner.stage(stage, loaded)
        if self._line is None:
            return
        self._stage, self._loaded = stage, loaded
        if stage is Stage.LOAD and is_numpy_installed():  # the reference interpreter reports no steps
            self._subscribe()
        elif stage is Stage.SAVE:
            self._line.stop()

    def _subscribe(self) -> None:
        from ...backend.schedule.search.strategy import LISTENER
        from ...backend.vm.run_state import WATCHER

        search, run = LISTENER.set(self._on_incumbent), WATCHER.set(self._on_run_start)
        self._resets = [lambda: LISTENER.reset(search), lambda: WATCHER.reset(run)]

    def _on_incumbent(self, result: Incumbent) -> None:
        self._incumbent = result

    def _on_run_start(self, machine: RunState) -> None:
        if self._machines and self._machines[0].printed is not machine.printed:
            self._machines, self._phases = [], None  # another run of the same program
        self._started = self._started if self._machines else time.monotonic()
        self._machines = [*self._machines, machine]

    def text(self) -> str:
        """The text of the line."""
        match self._stage:
            case Stage.CHECK:
                return "checking"
            case Stage.LOAD:
                return "loading" if self._incumbent is None else search_text(self._incumbent)
            case Stage.RUN:
                return self._running()
            case Stage.VERIFY:
                return "comparing with the reference interpreter"
            case Stage.SAVE:
                return "saving"

    def _running(self) -> str:
        loaded, machines, phases = self._loaded, self._machines, self._phases
        if loaded is None or not machines:
            return "reading the data"
        stores = machines[0].stores
        if stores is not None and stores.progress.total:
            return streaming_text(stores.progress.done, stores.progress.total, time.monotonic() - self._started)
        if phases is None:
            phases = self._phases = PhaseProgress(loaded, self._started)
        return phases.text(machines)


def streaming_text(done: int, total: int, seconds: float) -> str:
    """`read 400.0 MB of 1.0 GB · ~1.2 s left`."""
    from ...backend.schedule.plan.plan_text import bytes_text

    left = seconds * (total - done) / done if done else 0.0
    return f"read {bytes_text(done)} of {bytes_text(total)}" + (f" · ~{waiting_time(left)} left" if left >= 0.05 else "")


class PhaseProgress:
    """The phases of a program that compute, in their order, with their predicted seconds."""

    def __init__(self, loaded: LoadedProgram, started: float) -> None:
        from ...backend.devices.phase_cost import step_ns
        from ...backend.graph import traverse
        from ...backend.graph.phases import Constant, Input, Output, Print
        from ...backend.schedule.plan.plan_text import label
        from ..execution.stored_plans import this_machine

        graph = loaded.bound.graph
        computing = [phase for phase in graph.phases if not isinstance(phase, Constant | Input | Output | Print)]
        self._labels = [label(phase, graph) for phase in computing]
        self._seconds: list[float | None] = [None] * len(computing)
        if len(computing) <= MOST_PREDICTED:
            with suppress(RhoError, OverflowError, KeyError):  # tables that cannot be read, numbers beyond them
                profile = this_machine()
                costs = [step_ns(phase, loaded.bound, profile.home, profile.calibration, 1) for phase in computing]
                self._seconds = [None if cost is None else cost.ns / 1e9 for cost in costs]
        self._phase_index: dict[PhaseId, int] = {}
        for index, phase in enumerate(computing):
            self._phase_index[phase.id] = index
            for part in traverse.subgraphs(phase):
                self._phase_index |= {inner.id: index for inner in traverse.all_phases(part)}
        self._current, self._started = -1, started
        self._phase_started = started

    def text(self, machines: list[RunState]) -> str:
        """`phase 3/12 centres ← loop · ~4.1 s left`."""
        current = [phase.id for machine in machines if (phase := machine.current) is not None]
        index = max((self._phase_index[id] for id in current if id in self._phase_index), default=0)
        if index != self._current:
            self._phase_started = self._phase_started if self._current < 0 else time.monotonic()
            self._current = index
        if not self._labels:
            return "running"
        label = self._labels[index]
        short = label if len(label) <= 32 else label[:31] + "…"
        return f"phase {index + 1}/{len(self._labels)} {short}{self._left(index)}"

    def _left(self, index: int) -> str:
        """The predicted remaining time, scaled by the ratio of measured and predicted time so far; empty if a cost table is
        missing."""
        if any(seconds is None for seconds in self._seconds):
            return ""
        known = [seconds or 0.0 for seconds in self._seconds]
        now = time.monotonic()
        done = sum(known[:index])
        pace = max(1.0, (self._phase_started - self._started) / done) if done >= 0.05 else 1.0
        remaining = pace * known[index] - (now - self._phase_started)
        if remaining < -0.5:
            return " · longer than predicted"
        left = max(0.0, remaining) + pace * sum(known[index + 1 :])
        return f" · ~{waiting_time(left)} left" if left >= 0.05 else ""
