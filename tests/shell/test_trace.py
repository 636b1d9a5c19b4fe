"""`rho run --trace`: times in the trace event format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rho.backend.schedule.plan.plan import DeviceId
from rho.backend.vm.run_state import StepTiming
from rho.shell.display.analysis import TraceRecorder

from .conftest import Rho

PROGRAM = """\
x ← 1○(⍳3000)÷7
y ← {(⍵+⌽⍵)÷2}⍣5 ⊢ x
+/y
"""


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rho: Rho) -> list[dict[str, Any]]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text(PROGRAM, encoding="utf-8")
    ran = rho("run", "p.rho", "--trace", "t.json")
    assert (ran.code, ran.err) == (0, "")
    found: list[dict[str, Any]] = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["traceEvents"]
    return found


def test_stages_and_phases_have_times(events: list[dict[str, Any]]) -> None:
    measured = [event for event in events if event["pid"] == 2 and event["ph"] == "X"]
    stages = {event["name"]: event for event in measured if event["tid"] == 1}
    assert list(stages) == ["check", "load and plan", "run", "save"]
    run = stages["run"]
    phases = [event for event in measured if event["tid"] == 2]
    assert phases and all(run["ts"] <= event["ts"] and event["ts"] + event["dur"] <= run["ts"] + run["dur"] for event in phases)
    loop = next(event for event in phases if "loop" in event["name"])
    inner = [event for event in phases if event is not loop and loop["ts"] <= event["ts"] <= loop["ts"] + loop["dur"]]
    assert len(inner) >= 5


def test_what_was_predicted_is_beside_it(events: list[dict[str, Any]]) -> None:
    assert any(event["pid"] == 1 and event["ph"] == "X" and event["dur"] > 0 for event in events)


def test_no_trace_of_a_run_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rho: Rho) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.rho").write_text("u8 200+⍳100\n", encoding="utf-8")
    assert rho("run", "p.rho", "--trace", "t.json").code == 1
    assert not (tmp_path / "t.json").exists()
    ran = rho("run", "p.rho", "--trace", "no/such/t.json")
    assert ran.code == 1 and "folder" in ran.err


def test_many_executions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rho.shell.display.analysis.MOST_STEPS", 3)
    recorder = TraceRecorder()
    observe = recorder.observer
    assert observe is not None and recorder.observer is None
    for _ in range(5):
        observe(StepTiming(None, DeviceId("cpu0"), 0, 1))  # type: ignore[arg-type]
    observe(StepTiming(None, DeviceId("w0"), 0, 1, 7, "far"))  # type: ignore[arg-type]
    assert len(recorder.steps) == 3 and recorder.left_out == 2 + 7
