"""What people expect of a command: fixes applied, differences shown, quiet and verbose, digits, colours, folders, completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rho import __version__
from rho.shell.cli import arguments
from rho.shell.verbs import check

from .conftest import Rho

PYTHON = [sys.executable, "-m", "rho"]
HABITS = "y = [1, 2, 3]\nm ← mean(y)\nm\n"
REPAIRED = "y ← 1 2 3\nm ← (+/÷≢),y\nm\n"


def written(folder: Path, text: str, name: str = "p.rho") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_check_fixes_and_shows_what_it_would_change(rho: Rho, tmp_path: Path) -> None:
    file = written(tmp_path, HABITS)
    shown = rho("check", file, "--diff")
    assert shown.code == 1 and Path(file).read_text(encoding="utf-8") == HABITS
    assert "-y = [1, 2, 3]" in shown.out and "+y ← 1 2 3" in shown.out
    done = rho("check", file, "--fix")
    assert (done.code, Path(file).read_text(encoding="utf-8")) == (0, REPAIRED)
    assert "2 fixes applied" in done.err  # a list is written with its `=`
    assert rho("check", file, "--diff").code == 0 and rho("check", file, "--fix").err == "no problems in 1 file\n"


def test_a_fix_that_helps_nothing_is_not_applied(rho: Rho, tmp_path: Path) -> None:
    file = written(tmp_path, "y ← ⍳3\nz ← f(y)\nw = y\n")
    done = rho("check", file, "--fix")
    assert done.code == 3 and Path(file).read_text(encoding="utf-8") == "y ← ⍳3\nz ← f(y)\nw ← y\n"
    assert "`f` has no value here" in done.out


def test_what_does_not_go_together_with_fixes(rho: Rho, tmp_path: Path) -> None:
    assert rho("check", written(tmp_path, "1\n"), "--fix", "--watch").code == 2
    assert rho("check", "-", "--fix", stdin="1\n").code == 2


def test_fmt_shows_what_it_would_change(rho: Rho, tmp_path: Path) -> None:
    file = written(tmp_path, "x←  1+ 2\n")
    shown = rho("fmt", file, "--diff")
    assert shown.code == 1 and "-x←  1+ 2\n+x ← 1+2\n" in shown.out
    assert Path(file).read_text(encoding="utf-8") == "x←  1+ 2\n"
    assert rho("fmt", file).code == 0 and rho("fmt", file, "--diff").out == ""


def test_quiet_and_verbose(rho: Rho, tmp_path: Path) -> None:
    assert "note[N001]" in rho("eval", "2*3+4").err and rho("eval", "-q", "2*3+4").err == ""
    assert "error[E001]" in rho("eval", "-q", "nothing").err
    said = rho("eval", "-v", "1+1").err.splitlines()
    assert [line.partition(":")[0] for line in said] == ["check", "load and plan", "run"]
    file = written(tmp_path, "output x ← 1\n")
    assert rho("check", "-q", file).err == "" and rho("run", "-q", file).err == ""


def test_digits(rho: Rho) -> None:
    assert rho("eval", "○1", "--digits", "4").out == "3.142\n"
    assert rho("eval", "○1", "--digits", "17").out == "3.1415926535897931\n"
    for wrong in ("0", "18", "x"):
        assert rho("eval", "1", "--digits", wrong).code == 2


def test_colours_are_asked_for_and_refused(rho: Rho) -> None:
    assert "\x1b[" in rho("eval", "nothing", "--color", "always").err
    assert "\x1b[" not in rho("eval", "nothing", "--color", "never").err
    assert "did you mean `always`" in rho("eval", "1", "--color", "alway").err


def test_outputs_into_a_folder(rho: Rho, tmp_path: Path) -> None:
    file = written(tmp_path, "output y ← 2×⍳4\noutput t ← 'ab'\noutput z ← ○1\n")
    assert rho("run", file, "--out-dir", file).code == 1  # a file: results that cannot be written
    assert rho("run", file, "--out-dir", str(tmp_path / "new" / "er")).code == 0
    assert (tmp_path / "new" / "er" / "t.txt").read_text() == "ab\n"
    done = rho("run", file, "--out-dir", str(tmp_path), "--out", f"z={tmp_path / 'pi.csv'}")
    assert done.code == 0, done.err
    assert np.load(tmp_path / "y.npy").tolist() == [0, 2, 4, 6]
    assert (tmp_path / "t.txt").read_text() == "ab\n" and (tmp_path / "pi.csv").exists() and not (tmp_path / "z.npy").exists()


def test_a_first_line_for_the_system(rho: Rho, tmp_path: Path) -> None:
    text = "#!/usr/bin/env -S rho run\nx ← `iota 3\nx\n"
    file = written(tmp_path, text)
    assert rho("run", file).out == "0 1 2\n"
    assert rho("fmt", file).code == 0
    assert Path(file).read_text(encoding="utf-8") == text.replace("`iota ", "⍳")
    wrong = rho("check", written(tmp_path, "#!rho\nx ← 1 +\n"))
    assert wrong.code == 3 and ":2:" in wrong.out


def test_run_again_when_a_file_changes(rho: Rho, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, 'input x : f64[n] ← "d.csv"\n+/x\n')
    data = written(tmp_path, "1\n2\n", "d.csv")
    changes = iter([("1\n2\n39\n", "d.csv"), ('input x : f64[n] ← "d.csv"\n×/x\n', "p.rho")])

    def wait(before: dict[str, object]) -> None:
        assert {os.path.realpath(name) for name in before} == {os.path.realpath(file), os.path.realpath(data)}
        change = next(changes, None)
        if change is None:
            raise KeyboardInterrupt
        written(tmp_path, *change)
        assert check.file_stamps(before) != before

    monkeypatch.setattr("rho.shell.verbs.check.wait_for_change", wait)
    done = rho("run", file, "--watch")
    assert (done.out, done.code) == ("3\n42\n78\n", 130)


def test_python_m_rho_and_version() -> None:
    for asked in ("--version", "version"):
        done = subprocess.run([*PYTHON, asked], capture_output=True, text=True, check=True)
        assert done.stdout == f"rho {__version__}\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_everything(rho: Rho, shell: str) -> None:
    script = rho("completion", shell).out
    for verb in arguments.VERBS:
        assert verb.name in script
    for option in arguments.COMMON:
        assert option.name.lstrip("-") in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0
    assert "did you mean `bash`" in rho("completion", "bsh").err


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [(["rho", "ru"], "run"), (["rho", "check", "--fi"], "--fix"), (["rho", "check", "--format", "sa"], "sarif")],
)
def test_bash_completes(rho: Rho, words: list[str], wanted: str) -> None:
    script = rho("completion", "bash").out
    asked = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _rho; echo ${{COMPREPLY[@]}}"
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(["bash"], input=script + asked, text=True, capture_output=True, env=environment, check=True)
    assert done.stdout.split() == [wanted]
