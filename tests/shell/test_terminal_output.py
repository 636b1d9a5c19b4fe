"""`rho run` in a pseudo-terminal: the progress line, Ctrl-C, pictures as wide as the window."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

pexpect = pytest.importorskip("pexpect")

WAIT = 60
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def spawn(folder: Path, *words: str, **environment: str) -> Any:
    given = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment}
    given.pop("COLUMNS", None)  # which pytest's workers have
    return pexpect.spawn(
        sys.executable,
        ["-m", "rho.shell", *words],
        env=given,
        cwd=str(folder),
        encoding="utf-8",
        timeout=WAIT,
        dimensions=(30, 72),
    )


def test_progress_of_a_run_and_an_interrupt(tmp_path: Path) -> None:
    (tmp_path / "long.rho").write_text("x ← 1○⍳9\ny ← {(⍵+⌽⍵)÷2}⍣1000000000 ⊢ x\n+/y\n", encoding="utf-8")
    child = spawn(tmp_path, "run", "long.rho")
    child.expect(r"phase \d/\d y ← loop")
    child.sendintr()
    child.expect("interrupted")
    assert child.before.endswith("\r\x1b[K"), repr(child.before[-40:])
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_picture_in_a_window(tmp_path: Path, environment: dict[str, str], coloured: bool) -> None:
    if not environment:
        environment = {"NO_COLOR": ""}
    (tmp_path / "p.rho").write_text("grid ← (⍳50)∘.×⍳200\nline ← 1○(⍳500)÷9\n", encoding="utf-8")
    child = spawn(tmp_path, "run", "p.rho", "--plot", "grid", "--plot", "line", **environment)
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    text = child.before.rpartition("\r\x1b[K")[2].replace("\r\n", "\n")  # what stands there once progress is erased
    plain = [COLOUR.sub("", line) for line in text.split("\n")]
    assert max(map(len, plain)) <= 72 and max(map(len, plain)) > 60
    assert (COLOUR.search(child.before) is not None) is coloured
