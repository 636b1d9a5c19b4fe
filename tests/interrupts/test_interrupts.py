"""Programs of every kind of phase, stopped at random moments: as a command, in a session, in a call from Python, by the limit.

What is asserted are watchdogs of ten times the figures; `benchmarks/interrupts.py` measures these.  In the gate a seeded tenth.
"""

from __future__ import annotations

import json
import random
import signal
from pathlib import Path

import pytest
from share import SEED, repeats, share

from .process import STOP_SECONDS, WATCHDOG, interrupt, interrupt_python, is_pythons_own, start
from .programs import PROGRAMS

pytestmark = pytest.mark.long

MODES = ("auto", "always", "off")
IN_LIBRARIES = {"LAPACK", "a solution", "an FFT", "a product"}
"""A call from Python comes back from these when the library does."""
CASES = [(name, mode, turn) for name in PROGRAMS for mode in MODES for turn in range(repeats(3))]
CALL = "import rho, sys; rho.eval(sys.argv[1])"
SESSION = """
import sys
from rho.shell.console.process_exit import interruptible
from rho.shell.pipeline import Session
from rho.shell.workspace.workspace import Workspace
workspace = Workspace(Session())
workspace.enter("x ← √⍳5")
try:
    interruptible(lambda: workspace.evaluate(sys.argv[1]))
except KeyboardInterrupt:
    workspace.abandon()
    entered = interruptible(lambda: workspace.evaluate("+/x×x"))[0]
    print(int(entered.exit), float(entered.printed[0].value))
"""


def moment(name: str, mode: str, turn: int) -> float:
    """Seconds of processor time: some while modules are imported, some in the middle of the work."""
    return random.Random(f"{SEED} {name} {mode} {turn}").choice((0.2, 0.4, 0.8, 1.6)) * (1 + turn / 3)


def limits(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)


@pytest.mark.parametrize(("name", "mode", "turn"), share(CASES, seed=1))
def test_a_command_ends(name: str, mode: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, mode)
    stopped = interrupt(["eval", PROGRAMS[name]], tmp_path, moment(name, mode, turn))
    if is_pythons_own(stopped):
        return
    assert (stopped.code, stopped.out, stopped.err) == (130, "", "interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "mode", "turn"), share(CASES[::2], seed=2))
def test_the_limit_ends_a_command(name: str, mode: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, mode)
    seconds = 0.5 + moment(name, mode, turn) / 2
    process = start(["eval", "--json", PROGRAMS[name], "--max-time", f"{seconds:g}"], tmp_path)
    try:
        out, err = process.communicate(timeout=60 + 1.1 * seconds + WATCHDOG)  # starting takes its time, too
    finally:
        process.kill()
    codes = [found["code"] for found in json.loads(out)["diagnostics"] if found["severity"] == "error"]
    assert codes == ["E709"], err
    assert process.returncode in (4, 5)


@pytest.mark.parametrize(("name", "mode", "turn"), share([c for c in CASES if c[0] not in IN_LIBRARIES], seed=3))
def test_a_call_from_python_ends(name: str, mode: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, mode)
    stopped = interrupt_python(["-c", CALL, PROGRAMS[name]], tmp_path, 0.5 + moment(name, mode, turn))
    assert stopped.code == -signal.SIGINT
    assert "KeyboardInterrupt" in stopped.err or is_pythons_own(stopped)


@pytest.mark.parametrize(("name", "mode", "turn"), share(CASES[1::2], seed=4))
def test_a_session_goes_on(name: str, mode: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits(monkeypatch, mode)
    after = 0.5 + moment(name, mode, turn)
    stopped = interrupt_python(["-c", SESSION, PROGRAMS[name]], tmp_path, after, 4 * WATCHDOG)  # another statement is run, too
    if "interruptible(lambda: workspace.evaluate(sys.argv[1]))" not in stopped.err and stopped.code == -signal.SIGINT:
        return  # it had not begun
    assert (stopped.code, stopped.out.split()) == (0, ["0", "10.0"]), stopped.err


def test_figures_are_those_that_are_promised() -> None:
    assert STOP_SECONDS == 0.5
    assert WATCHDOG == 10 * STOP_SECONDS

