"""The real process: encodings, pipes, signals, what is imported, what happens on a bug."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rho.shell import main as main_module

from .conftest import Rho

RHO = [sys.executable, "-m", "rho.shell"]


def start(*words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RHO, *words], capture_output=True, env={**os.environ, **environment}, timeout=60, check=False)


def test_utf8_whatever_the_locale() -> None:
    done = start("eval", "⌽'⍺β'", LC_ALL="C", LANG="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("utf-8") == "β⍺\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m rho.shell eval '⍪⍳200000' | head -n 1; exit ${{PIPESTATUS[0]}}",
        shell=True, executable="/bin/bash", capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"     0\n", b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*RHO, "eval", "1"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert done.returncode == 1
    assert b"standard output cannot be written" in done.stderr and b"Traceback" not in done.stderr


def test_an_interrupt_gives_130_and_no_output(rho: Rho, tmp_path: Path) -> None:
    script = tmp_path / "long.rho"
    script.write_text("1\n{1+⍵}⍣1000000000000 ⊢ 1\n", encoding="utf-8")
    before = signal.signal(signal.SIGALRM, lambda number, frame: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        ran = rho("run", str(script))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (ran.code, ran.out, ran.err) == (130, "", "interrupted\n")


def test_checking_imports_no_array_library(tmp_path: Path) -> None:
    script = tmp_path / "a.rho"
    script.write_text('input x : f64[n 3] ← "x.npy"\n+⌿x\n', encoding="utf-8")
    program = (
        "import sys; from rho.shell.main import main; code = main(['check', sys.argv[1]]); "
        "heavy = ('numpy', 'z3', 'prompt_toolkit', 'argparse', 'inspect', 'rho.backend'); "
        "print(','.join(m for m in heavy if m in sys.modules)); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.strip().split(",")) <= {"inspect", ""}


def test_a_program_that_folds_starts_no_array_library() -> None:
    program = (
        "import sys; from rho.shell.main import main; main(['eval', '1+1']); "
        "print(','.join(m for m in ('numpy', 'z3', 'llvmlite', 'prompt_toolkit') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines() == ["2", ""], done.stderr


def test_a_bug_leaves_a_reproducer(rho: Rho, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(words: object, console: object) -> None:
        raise ValueError("a broken invariant")

    script = tmp_path / "a.rho"
    script.write_text("1 + 1\n", encoding="utf-8")
    monkeypatch.setattr(main_module, "dispatch", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ran = rho("run", str(script))
    assert ran.code == 70 and "Traceback" not in ran.err and ran.out == ""
    (reproducer,) = tmp_path.glob("rho-bug-*.txt")
    assert str(reproducer) in ran.err
    text = reproducer.read_text(encoding="utf-8")
    assert "a broken invariant" in text and "1 + 1" in text and "command: rho run" in text
    assert "Traceback" in rho("run", str(script), "--debug").err


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (RecursionError, 3), (MemoryError, 1)])
def test_other_ends(rho: Rho, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], code: int) -> None:
    def ends(words: object, console: object) -> None:
        raise error

    monkeypatch.setattr(main_module, "dispatch", ends)
    ran = rho("eval", "1")
    assert ran.code == code and "Traceback" not in ran.err and ran.out == ""


def test_versions_agree() -> None:
    import tomllib

    import rho

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == rho.__version__


@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-"])
def test_a_closed_stream_that_nobody_needs_is_no_error(closed: str) -> None:
    done = subprocess.run(
        f"{sys.executable} -m rho.shell eval '⍳3' {closed}", shell=True, capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"0 1 2\n", b"")


@pytest.mark.parametrize(
    ("words", "closed"),
    [("eval '⍳3'", ">&-"), ("run p.rho --out y=-:npy", ">&- 2>&-"), ("run p.rho --out y=-", ">&-"), ("--version", "<&- >&-")],
)
def test_results_for_a_closed_standard_output_are_no_success(words: str, closed: str, tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("output y ← ⍳5\n", encoding="utf-8")
    command = f"{sys.executable} -m rho.shell {words} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False, cwd=tmp_path)
    said = b"" if "2>&-" in closed else b"rho: standard output cannot be written: it is closed\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", said)


def test_a_command_without_results_needs_no_standard_output(tmp_path: Path) -> None:
    (tmp_path / "p.rho").write_text("output y ← ⍳5\n", encoding="utf-8")
    command = f"{sys.executable} -m rho.shell run p.rho --out y=y.npy >&-"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"") and (tmp_path / "y.npy").exists()


def test_a_command_runs_after_somebody_has_read_standard_input() -> None:
    script = "import sys; from rho.shell.main import main; sys.stdin.readline(); sys.exit(main(['eval', '1+1']))"
    done = subprocess.run([sys.executable, "-c", script], input=b"a line\nmore\n", capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"2\n", b"")
