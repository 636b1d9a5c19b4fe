"""The process that asks the solver: its deaths, interrupts and limits are no answers, and nothing waits for it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from rho.lang.diagnostics.model import Verdict
from rho.lang.syntax.source import Source
from rho.tests.typechecker.test_solver import hard, own_cache
from rho.typechecker.check import Checker, check
from rho.typechecker.proof import solver, z3_leaf, z3_process
from rho.typechecker.proof.prover import prove

__all__ = ["own_cache"]


class Interrupting:
    """What the leaf uses of z3, interrupted."""

    class Z3Exception(Exception):
        pass

    unsat, sat, unknown = "unsat", "sat", "unknown"

    def __init__(self, found: object) -> None:
        self.found = found

    def Context(self) -> None:
        return None

    def SolverFor(self, logic: str, ctx: object) -> Interrupting:
        return self

    def set(self, name: str, value: int) -> None:
        assert (name, value) == ("rlimit", z3_process.STEPS)

    def from_string(self, text: str) -> None:
        assert text

    def check(self) -> object:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def reason_unknown(self) -> str:
        return "interrupted from keyboard"


QUESTION = {"text": "(assert true)", "logic": "QF_LIA", "wanted": [], "steps": z3_process.STEPS}


def test_what_the_leaf_makes_of_interrupts_and_memory() -> None:
    assert z3_leaf.answer(Interrupting("unknown"), QUESTION) == {"found": "interrupted"}
    assert z3_leaf.answer(Interrupting(Interrupting.Z3Exception("out of memory")), QUESTION) == {"found": "unknown"}
    assert z3_leaf.answer(Interrupting(MemoryError()), QUESTION) == {"found": "unknown"}
    assert z3_leaf.answer(Interrupting("unsat"), QUESTION) == {"found": "unsat"}


@pytest.fixture
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[z3_process._Process]:
    """A process that the test may lose."""
    process = z3_process._Process()
    monkeypatch.setattr(z3_process, "_process", process)
    yield process
    process.stop()


def leaf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let the process run these lines instead, with `ask()` for the next question."""
    path = tmp_path / "leaf.py"
    text = "\n".join(["import json, os, sys, signal", "def ask(): return json.loads(sys.stdin.readline())", *lines])
    path.write_text(text + "\n")
    monkeypatch.setattr(z3_process, "LEAF", str(path))


def test_a_solver_that_cannot_be_imported_is_absent(
    own_process: z3_process._Process, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "z3.py").write_text("raise ImportError")
    monkeypatch.setattr(z3_process, "installed", lambda: (str(tmp_path), "0"))
    held, stop = list[bool](), own_process.stop

    def stopped() -> None:
        free = Thread(target=lambda: held.append(not own_process._lock.acquire(blocking=False)))
        free.start()
        free.join()
        stop()

    monkeypatch.setattr(own_process, "stop", stopped)
    assert prove(hard()).unproved is solver.Unproved.ABSENT
    assert held == [True], "it ended the process that another thread's query may use"


FAULTS = {
    "killed over the question": ("ask()", "os.kill(os.getpid(), signal.SIGKILL)"),
    "ended at once": ("sys.exit(1)",),
    "ended after the question": ("ask()", "sys.exit(0)"),
    "half a line": ("ask()", 'sys.stdout.write(\'{"found": "uns\')'),
    "no answer": ("ask()", "print('[1, 2]')"),
    "no text": ("ask()", "os.write(1, bytes([255, 254, 10]))"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_process_that_fails_is_no_answer(
    name: str, own_process: z3_process._Process, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf(tmp_path, monkeypatch, *FAULTS[name])
    decision = prove(hard())
    assert (decision.verdict, decision.unproved) == (Verdict.UNKNOWN, solver.Unproved.FAILED)
    assert not own_cache.exists()
    assert own_process.deaths == 1
    monkeypatch.undo()
    monkeypatch.setattr(solver, "_verdicts", {})
    assert prove(hard()).verdict is Verdict.PROVED


@pytest.mark.parametrize("nth", [1, 2, 3])
def test_the_nth_question_fails(nth: int, own_process: z3_process._Process, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed over its n-th question: that definition is refused, no other."""
    monkeypatch.setenv(solver.SWITCH, "off")
    asked = 0
    exchange = z3_process._Process._exchange

    def killed(self: z3_process._Process, running: subprocess.Popen[str], question: dict[str, object]) -> dict[str,
        object] | None:
        nonlocal asked
        asked += 1
        if asked == nth:
            running.kill()
            running.wait()
        return exchange(self, running, question)

    monkeypatch.setattr(z3_process._Process, "_exchange", killed)
    text = "".join(f"f{c} : f64[n] → f64[m] → f64[n] where {c}×n = {c}×m\nf{c} ← {{⍺+⍵}}\n" for c in (2, 3, 4))
    found = check(Source("a.rho", text))
    (diagnostic,) = found.diagnostics
    assert (diagnostic.code, diagnostic.verdict) == ("E101", Verdict.UNKNOWN)
    assert any("process ended" in note for note in diagnostic.notes)
    assert f"f{nth + 1}" in text[: diagnostic.span.start].splitlines()[-1]


def test_a_failure_is_not_kept_with_a_definition(own_process: z3_process._Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(solver.SWITCH, "off")
    source = Source("a.rho", "f : f64[n] → f64[m] → f64[n] where 7×n = 7×m\nf ← {⍺+⍵}\n")
    checker = Checker()
    own_process.deaths = z3_process.MOST_DEATHS
    assert [d.code for d in checker.check(source).diagnostics] == ["E101"]
    own_process.deaths = 0
    assert not checker.check(source).diagnostics


def test_after_some_deaths_nothing_is_started(
    own_process: z3_process._Process, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf(tmp_path, monkeypatch, "sys.exit(1)")
    for _ in range(z3_process.MOST_DEATHS):
        prove(hard())
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("started again"))
    assert prove(hard()).unproved is solver.Unproved.FAILED


def test_an_interrupt_is_no_answer(
    own_process: z3_process._Process, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf(tmp_path, monkeypatch, "ask()", 'print(\'{"found": "interrupted"}\')')
    with pytest.raises(KeyboardInterrupt):
        prove(hard())
    assert not own_cache.exists()


def test_an_interrupt_here_ends_the_process(own_process: z3_process._Process, monkeypatch: pytest.MonkeyPatch) -> None:
    prove(hard())
    running = own_process._running
    assert running is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(z3_process._Process, "_exchange", interrupted)
    monkeypatch.setattr(solver, "_verdicts", {})
    monkeypatch.setenv(solver.SWITCH, "off")
    with pytest.raises(KeyboardInterrupt):
        prove(hard())
    assert running.poll() is not None


def test_memory_is_capped(own_process: z3_process._Process, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(z3_process, "MEGABYTES", 1)
    assert prove(hard()).verdict is Verdict.UNKNOWN
    own_process.stop()
    monkeypatch.setattr(z3_process, "MEGABYTES", 512)
    monkeypatch.setattr(z3_process, "ADDRESS_MEGABYTES", 64)
    monkeypatch.setattr(solver, "_verdicts", {})
    monkeypatch.setenv(solver.SWITCH, "off")
    assert prove(hard()).verdict is Verdict.UNKNOWN
