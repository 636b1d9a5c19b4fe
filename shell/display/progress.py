"""One line on a terminal about work that takes longer than a second; gone when the work is over.

A thread of its own draws it several times a second, from whatever state the work has by then, so that the work neither waits
nor reports.  Nothing is written unless messages go to a terminal; the line has no colours.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics.model import RhoError
from ..console.standard_streams import Console
from ..execution.progress_events import NO_CALLBACKS, RunCallbacks, Stage
from .estimates import waiting

if TYPE_CHECKING:
    from ...backend.graph.phases import PhaseId
    from ...backend.schedule.search.strategy import Incumbent
    from ...backend.vm.run_state import Observer, RunState
    from ..pipeline_types import LoadedProgram

AFTER: Final = 1.0
"""Seconds before the line appears."""
EVERY: Final = 0.15
MOST_PREDICTED: Final = 200
"""Phases up to which the line says how long the rest takes: working that out must not hold up the run."""
_ERASE: Final = "\r\x1b[K"
_NOTHING_TO_SAY: Final = (
    RhoError,
    RuntimeError,
    LookupError,
    ValueError,
    ArithmeticError,
    AttributeError,
    TypeError,
    AssertionError,
)


class ProgressLine:
    """The line: drawn by a thread from `start` to `stop`.  `text` is asked for what to say, in that thread."""

    def __init__(self, console: Console, text: Callable[[], str]) -> None:
        self._console, self._text = console, text
        self._over = threading.Event()
        self._started = time.monotonic()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._drawn = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def start(self) -> None:
        self._thread = threading.Thread(target=self._draw, name="rho progress", daemon=True)
        with suppress(RuntimeError):  # there are no more threads, and no line
            self._thread.start()

    def stop(self) -> None:
        """Erase it.  Whatever is written afterwards stands on a clean line."""
        self._over.set()
        with self._lock:
            if self._drawn:
                self._drawn = False
                self._write(_ERASE)

    def _draw(self) -> None:
        wait = AFTER
        while not self._over.wait(wait):
            wait = EVERY
            try:
                text = f"{self._text()} · {waiting(self.seconds)}"
            except _NOTHING_TO_SAY:
                continue  # the work changed what was being looked at, or there are no tables: next time
            with self._lock:
                if self._over.is_set():
                    return
                width = self._console.error_width - 1
                self._write(_ERASE + (text if len(text) <= width else text[: width - 1] + "…"))
                self._drawn = True

    def _write(self, text: str) -> None:
        try:
            self._console.err.write(text)
            self._console.err.flush()
        except (OSError, ValueError):
            self._over.set()  # the terminal is gone


@contextmanager
def progress(console: Console, text: Callable[[], str]) -> Iterator[None]:
    """A line while the block runs; none where messages are not read on a terminal."""
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
def planning(console: Console) -> Iterator[None]:
    """While a planner searches: the best plan and the best bound so far."""
    if not console.has_lines:
        yield
        return
    from ...backend.schedule.search.strategy import LISTENER

    latest: list[Incumbent] = []
    token = LISTENER.set(lambda result: latest.__setitem__(slice(None), [result]))
    try:
        with progress(console, lambda: search_text(latest[-1] if latest else None)):
            yield
    finally:
        LISTENER.reset(token)


def search_text(result: Incumbent | None) -> str:
    """How far a search has come."""
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
    """The stages of a run, and of its phases which one it is at and how long the rest is predicted to take."""

    def __init__(self, console: Console, inner: RunCallbacks = NO_CALLBACKS) -> None:
        self._inner = inner
        self._line = ProgressLine(console, self.text) if console.has_lines else None
        self._stage = Stage.CHECK
        self._loaded: LoadedProgram | None = None
        self._machines: list[RunState] = []
        self._found: Incumbent | None = None
        self._phases: Phases | None = None
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
        if stage is Stage.LOAD:
            self._look_on()
        elif stage is Stage.SAVE:
            self._line.stop()  # what is said from now on stands below

    def _look_on(self) -> None:
        from ...backend.schedule.search.strategy import LISTENER
        from ...backend.vm.run_state import WATCHER

        search, run = LISTENER.set(self._told), WATCHER.set(self._begun)
        self._resets = [lambda: LISTENER.reset(search), lambda: WATCHER.reset(run)]

    def _told(self, result: Incumbent) -> None:
        self._found = result

    def _begun(self, machine: RunState) -> None:
        if self._machines and self._machines[0].printed is not machine.printed:
            self._machines, self._phases = [], None  # another run of the same program
        self._started = self._started if self._machines else time.monotonic()
        self._machines = [*self._machines, machine]

    def text(self) -> str:
        """What the line says now."""
        match self._stage:
            case Stage.CHECK:
                return "checking"
            case Stage.LOAD:
                return "loading" if self._found is None else search_text(self._found)
            case Stage.RUN:
                return self._running()
            case Stage.VERIFY:
                return "comparing with the reference interpreter"
            case Stage.SAVE:
                return "saving"

    def _running(self) -> str:
        if self._loaded is None or not self._machines:
            return "reading the data"
        stores = self._machines[0].stores
        if stores is not None and stores.progress.total:
            return streaming_text(stores.progress.done, stores.progress.total, time.monotonic() - self._started)
        if self._phases is None:
            self._phases = Phases(self._loaded, self._started)
        return self._phases.text(self._machines)


def streaming_text(done: int, total: int, seconds: float) -> str:
    """`read 400.0 MB of 1.0 GB · ~1.2 s left`."""
    from ...backend.schedule.plan.plan_text import bytes_text

    left = seconds * (total - done) / done if done else 0.0
    return f"read {bytes_text(done)} of {bytes_text(total)}" + (f" · ~{waiting(left)} left" if left >= 0.05 else "")


class Phases:
    """The phases of a program that compute, in their order, and how long each is predicted to take."""

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
            with suppress(RhoError):  # tables that cannot be read
                profile = this_machine()
                costs = [step_ns(phase, loaded.bound, profile.home, profile.calibration, 1) for phase in computing]
                self._seconds = [None if cost is None else cost.ns / 1e9 for cost in costs]
        self._places: dict[PhaseId, int] = {}
        for index, phase in enumerate(computing):
            self._places[phase.id] = index
            for part in traverse.subgraphs(phase):
                self._places |= {inner.id: index for inner in traverse.all_phases(part)}
        self._at, self._started = -1, started
        self._since = started

    def text(self, machines: list[RunState]) -> str:
        """`phase 3/12 centres ← loop · ~4.1 s left`."""
        current = [self._places.get(machine.current.id) for machine in machines if machine.current is not None]
        index = max((one for one in current if one is not None), default=0)
        if index != self._at:
            self._since = self._since if self._at < 0 else time.monotonic()
            self._at = index
        if not self._labels:
            return "running"
        label = self._labels[index]
        short = label if len(label) <= 32 else label[:31] + "…"
        return f"phase {index + 1}/{len(self._labels)} {short}{self._left(index)}"

    def _left(self, index: int) -> str:
        """How long the rest is predicted to take, at the pace of what is done; nothing where there is no table."""
        if any(seconds is None for seconds in self._seconds):
            return ""
        known = [seconds or 0.0 for seconds in self._seconds]
        now = time.monotonic()
        done = sum(known[:index])
        pace = max(1.0, (self._since - self._started) / done) if done >= 0.05 else 1.0
        here = pace * known[index] - (now - self._since)
        if here < -0.5:
            return " · longer than predicted"
        left = max(0.0, here) + pace * sum(known[index + 1 :])
        return f" · ~{waiting(left)} left" if left >= 0.05 else ""
