"""Bad input: every broken program and file has one exact answer, and never a traceback or a partial output.

`RHO_GOLDEN=write pytest tests/shell/test_golden.py` rewrites the answers; read the difference as a user would.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest

from .conftest import Ran, Rho

GOLDEN = Path(__file__).parent.parent / "golden"
BROKEN = sorted(path.name for path in (GOLDEN / "broken").glob("*.rho"))
FILES = sorted(path.name for path in (GOLDEN / "files").iterdir() if path.is_dir())


def compare(path: Path, ran: Ran) -> None:
    text = f"exit {ran.code}\n--- standard output\n{ran.out}--- standard error\n{ran.err}"
    if os.environ.get("RHO_GOLDEN") == "write":
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert "Traceback" not in text
    assert ran.code in (1, 2, 3, 4)


def test_there_are_enough() -> None:
    assert len(BROKEN) >= 50
    assert len(FILES) >= 20


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_program(name: str, rho: Rho, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(GOLDEN / "broken")
    ran = rho("run", name)
    assert ran.out == ""
    compare(GOLDEN / "broken" / name.replace(".rho", ".txt"), ran)


@pytest.mark.parametrize("name", FILES)
def test_a_broken_file(name: str, rho: Rho, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(GOLDEN / "files" / name, folder)
    neighbour = tmp_path / "number_too_large_csv"
    if not neighbour.exists():
        shutil.copytree(GOLDEN / "files" / "number_too_large_csv", neighbour)
    before = sorted(folder.rglob("*"))
    monkeypatch.chdir(folder)
    ran = rho(*shlex.split((folder / "command").read_text(encoding="utf-8")))
    assert ran.out == ""
    assert sorted(folder.rglob("*")) == before
    compare(GOLDEN / "files" / name / "expected.txt", ran)
