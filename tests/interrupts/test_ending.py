"""How the process of a command ends before its time, also where the main thread hears nothing."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from .process import WATCHDOG, interrupt, is_pythons_own, start

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
