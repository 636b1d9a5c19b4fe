"""The line about long work: on terminals only, gone at the end."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rho.backend.schedule.search.strategy import LISTENER, Incumbent
from rho.lang.syntax.source import Source
from rho.shell.console.standard_streams import Console
from rho.shell.display import progress as module
from rho.shell.display.costs import waiting_time
from rho.shell.display.progress import PhaseProgress, ProgressLine, RunProgress, planning_progress, progress_line, search_text
from rho.shell.execution.run_request import RunRequest
from rho.shell.main import main
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import LoadedProgram, Stage

PROGRAM = "x ← 1○⍳3000\ny ← {⍵+⌽⍵}⍣3 ⊢ x\n+/y[⍋y]\n"


class Tty(io.StringIO):
    """A terminal that says when something was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        count = super().write(text)
        self.written.set()
        return count


def console(err: io.StringIO, **environment: str) -> Console:
    return Console(io.StringIO(), err, io.StringIO(), {"COLUMNS": "40", **environment})


def loaded() -> LoadedProgram:
    session = Session()
    return session.load(session.check(Source("<test>", PROGRAM)), RunRequest())


def test_a_line_is_drawn_within_the_window_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY_SECONDS", 0.0)
    err = Tty()
    line = ProgressLine(console(err), lambda: "working on something with a name much longer than the window")
    line.start()
    assert err.written.wait(30)
    line.stop()
    assert line._thread is not None
    line._thread.join()
    text = err.getvalue()
    drawn = text.split("\r\x1b[K")
    assert drawn[0] == "" and drawn[-1] == "" and all(len(one) <= 39 for one in drawn) and drawn[1].endswith("…")
    assert "\n" not in text and "m" not in [part[:1] for part in text.split("\x1b[")[1:]]


@pytest.mark.parametrize(("err", "environment"), [(io.StringIO(), {}), (Tty(), {"TERM": "dumb"})])
def test_nothing_where_no_terminal_is(err: io.StringIO, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY_SECONDS", 0.0)
    before = threading.active_count()
    with progress_line(console(err, **environment), lambda: "working"), planning_progress(console(err, **environment)):
        assert threading.active_count() == before
        assert LISTENER.get() is None
    with RunProgress(console(err, **environment)) as watch:
        watch.stage(Stage.LOAD)
    assert err.getvalue() == ""


def test_a_run_that_is_over_soon_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    out, err = io.StringIO(), Tty()
    monkeypatch.setattr(ProgressLine, "start", lambda self: None)
    assert main(["run", str(tmp_path / "p.rho")], Console(out, err, io.StringIO(), {})) == 0
    assert out.getvalue() and not err.getvalue()


def test_the_line_is_gone_when_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DELAY_SECONDS", 0.0)
    err = Tty()
    with pytest.raises(KeyboardInterrupt), RunProgress(console(err)) as watch:
        watch.stage(Stage.LOAD)
        assert err.written.wait(30)
        raise KeyboardInterrupt
    assert "ing · " in err.getvalue() and err.getvalue().endswith("\r\x1b[K")
    assert LISTENER.get() is None


@dataclass
class Looked:
    """The state of a run as far as it is looked at."""

    current: Any
    printed: list[Any]


def test_stages_and_phases(monkeypatch: pytest.MonkeyPatch) -> None:
    program = loaded()
    watch = RunProgress(console(Tty()))
    assert watch.text() == "checking"
    watch.stage(Stage.LOAD)
    assert watch.text() == "loading"
    watch._on_incumbent(Incumbent())
    assert watch.text() == "planning"
    watch.stage(Stage.RUN, program)
    assert watch.text() == "reading the data"
    session = Session()
    session.run(program)  # the watcher is told in this thread
    assert watch._machines and watch.text().startswith("phase ")
    watch.stage(Stage.VERIFY, program)
    assert "reference" in watch.text()
    watch.stage(Stage.SAVE, program)
    assert watch.text() == "saving"
    watch.__exit__()
    session.run(program)
    assert len(watch._machines) == 1


def test_phases_count_up_and_inner_ones_are_their_loop() -> None:
    program = loaded()
    phases = PhaseProgress(program, 0.0)
    graph = program.bound.graph
    seen = []
    for phase in graph.phases:
        text = phases.text([Looked(phase, [])])  # type: ignore[list-item]
        seen.append(int(text.removeprefix("phase ").partition("/")[0]))
    computing = len(phases._labels)
    assert max(seen) == computing and sorted(set(seen)) == list(range(1, computing + 1))
    assert len(phases._phase_index) >= computing
    assert phases.text([Looked(None, [])]).startswith("phase 1/")  # type: ignore[list-item]


def test_a_search_says_its_bounds() -> None:
    heard: list[int] = []
    token = LISTENER.set(lambda found: heard.append(found.bound))
    try:
        found = Incumbent()
        found.raise_bound(90, "bound")
        found.raise_bound(80, "bound")
        found.raise_bound(100, "bound")
    finally:
        LISTENER.reset(token)
    assert heard == [90, 100]
    assert search_text(None) == "planning" == search_text(found)


def test_durations() -> None:
    assert [waiting_time(s) for s in (0.21, 59.0, 250, 7300)] == ["0.2 s", "59.0 s", "4 min 10 s", "2 h 1 min"]


def test_what_is_left_follows_the_pace_of_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    phases = PhaseProgress(loaded(), 0.0)
    phases._seconds = [1.0, 2.0, 3.0]
    phases._phase_started = 2.0  # the first took twice as long as predicted
    monkeypatch.setattr(module.time, "monotonic", lambda: 3.0)
    assert phases._left(1) == " · ~9.0 s left"
    monkeypatch.setattr(module.time, "monotonic", lambda: 20.0)
    assert phases._left(1) == " · longer than predicted"
    phases._seconds = [1.0, None, 3.0]
    assert phases._left(1) == ""
