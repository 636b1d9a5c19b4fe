"""How the process of a command ends before its time, also where the main thread hears nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from rho.lang.syntax.source import Source
from rho.shell.console.process_exit import Exit, ExitMessage
from rho.shell.execution.running import TimeUp, time_limit

from .process import WATCHDOG, interrupt, is_pythons_own, start

pytestmark = pytest.mark.long

REDUCTION = "+/1○√⍳10000000000"
EIGENVALUES = "a ← (⍳2400)∘.×1○⍳2400 ⋄ (values vectors) ← ⎕eigh a+⍉a ⋄ +/values"
"""A minute in one call of LAPACK."""


@pytest.mark.parametrize("program", [REDUCTION, EIGENVALUES], ids=["reduction", "LAPACK"])
@pytest.mark.parametrize(("number", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")])
def test_signals_end_it(program: str, number: int, code: int, said: str, tmp_path: Path) -> None:
    stopped = interrupt(["eval", program], tmp_path, 0.9, number)
    assert (stopped.code, stopped.out, stopped.err) == (code, "", f"{said}\n")
    assert stopped.seconds is not None


@pytest.mark.parametrize("program", [REDUCTION, EIGENVALUES], ids=["reduction", "LAPACK"])
def test_the_limit_ends_it(program: str, tmp_path: Path) -> None:
    process = start(["eval", "--json", program, "--max-time", "0.7"], tmp_path)
    try:
        out, err = process.communicate(timeout=60 + WATCHDOG)
    finally:
        process.kill()
    assert process.returncode == 5
    assert "E709" in err and "nothing was printed and no output was written" in err
    (found,) = json.loads(out)["diagnostics"]
    assert found["code"] == "E709"


def test_the_limit_is_that_of_reading_and_writing_too(tmp_path: Path) -> None:
    lines = "".join(f"{number}.5,{number}.25\n" for number in range(400_000))
    (tmp_path / "x.csv").write_text(lines, encoding="utf-8")
    (tmp_path / "r.rho").write_text('input x : f64[n 2] ← "x.csv"\n+/+/x\n', encoding="utf-8")
    (tmp_path / "w.rho").write_text("y ← √⍳1500000\noutput y\n", encoding="utf-8")
    for words in (["run", "r.rho", "--max-time", "0.05"], ["run", "w.rho", "--out", "y=y.csv", "--max-time", "0.2"]):
        process = start(words, tmp_path)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (5, ""), err
        assert "E709" in err
    assert {path.name for path in tmp_path.iterdir()} == {"x.csv", "r.rho", "w.rho"}


IMPORTING = """
import signal, sys

class Alarms:
    due = sys.argv.pop()

    def find_spec(self, name, path=None, target=None):
        if name == self.due:
            signal.raise_signal(signal.SIGALRM)

sys.meta_path.insert(0, Alarms())
from rho.shell.start import main
sys.exit(main())
"""


@pytest.mark.parametrize("due", ["numpy.lib", "numpy.linalg", "numpy.matrixlib", "rho.backend.vm.interpreter"])
def test_the_limit_interrupts_no_import(due: str, tmp_path: Path) -> None:
    """A module whose import was interrupted is broken for the next line: `module 'numpy' has no attribute 'void'`, exit 70."""
    words = ["eval", "--lines", "-", "--json", "--max-time", "3600", due]
    command, lines = [sys.executable, "-c", IMPORTING, *words], "5⍷3 3\n5⍷3 3\n"
    done = subprocess.run(command, input=lines, cwd=tmp_path, capture_output=True, text=True, check=True)
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["exit"], [one["code"] for one in first["diagnostics"]]) == (5, ["E709"])
    assert (second["exit"], second["printed"]) == (0, ["0 0"])


def test_the_limit_comes_when_the_import_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_module.py").write_text("import signal\nsignal.raise_signal(signal.SIGALRM)\nREADY = 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with (
        pytest.raises(TimeUp),
        time_limit(3600.0, Source("a.rho", ""), lambda up: ExitMessage("", "", Exit.BUDGET)),
    ):
        import_module("slow_module")
        while True:
            signal.pause()
    assert sys.modules.pop("slow_module").READY == 1


IMPORT_THAT_LASTS = """
import os, signal, sys, threading
from rho.lang.syntax.source import Source
from rho.shell.console import process_exit
from rho.shell.execution.running import TimeUp, time_limit

waits, reads, has_read = 0, 0, threading.Event()
ended = [threading.Event(), threading.Event()]
real_read = os.read

def sleep(seconds):
    global waits
    waits += 1
    ended[waits - 1].wait()

def read(pipe, count):
    global reads
    reads += 1
    if reads > 1:
        has_read.set()
    return real_read(pipe, count)

process_exit.time.sleep, os.read = sleep, read
process_exit.install_signal_handlers()
try:
    with time_limit(3600.0, Source("a.rho", ""), lambda up: process_exit.ExitMessage("", "", process_exit.Exit.BUDGET)):
        try:
            import lasting_module
            if sys.argv[1] == "raised":
                signal.raise_signal(signal.SIGALRM)
        finally:
            ended[0].set()
            has_read.wait()
        signal.raise_signal(signal.SIGALRM)
except TimeUp:
    os._exit(0)
"""


@pytest.mark.parametrize("alarm", ["raised", "not raised yet"])
def test_the_watchdog_lets_an_alarm_that_an_import_put_off_come_again(alarm: str, tmp_path: Path) -> None:
    """It looked at the main thread when the import had just ended: `eval --lines` ended with its first line, exit 5."""
    lines = "import signal\nsignal.raise_signal(signal.SIGALRM)\n"
    lines += f"signal.setitimer(signal.ITIMER_REAL, {0 if alarm == 'raised' else 3600})\n"
    (tmp_path / "lasting_module.py").write_text(lines, encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", IMPORT_THAT_LASTS, alarm], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("after", [0.01, 0.03, 0.06, 0.09, 0.12, 0.15, 0.2, 0.3])
def test_an_interrupt_during_imports_is_no_traceback(after: float, tmp_path: Path) -> None:
    (tmp_path / "a.rho").write_text("+/⍳10\n", encoding="utf-8")
    stopped = interrupt(["check", "a.rho"], tmp_path, after)
    if stopped.seconds is None or is_pythons_own(stopped):
        return
    assert (stopped.code, stopped.err) in ((130, "interrupted\n"), (0, "no problems in 1 file\n"))


def test_the_language_server_hears_interrupts(tmp_path: Path) -> None:
    pytest.importorskip("pygls")
    process = start(["lsp"], tmp_path, stdin=subprocess.PIPE)
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}})
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"Content-Length: {len(asked)}\r\n\r\n{asked}")
        process.stdin.flush()
        assert process.stdout.readline().startswith("Content-")
        process.send_signal(signal.SIGINT)
        process.wait(timeout=WATCHDOG)
        _, err = process.communicate()
    finally:
        process.kill()
    assert (process.returncode, err) == (130, "interrupted\n")
