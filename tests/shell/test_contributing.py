"""`docs/contributing.md` adds a scalar function, an array function and a core operation: a copy with its steps done has them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ROOMS = ("lang", "typechecker", "backend", "shell", "stdlib")
STEP = re.compile(r"^In `([^`\n]+)`, after `([^`\n]+)`[^\n]*:\n\n```python\n(.*?)```", re.MULTILINE | re.DOTALL)
PROGRAMS = {
    "⎕cbrt 27 ¯8 0": "3 ¯2 0",
    "{⎕cbrt ⍵÷8}¨8 64": "1 2",
    "⎕ranks 30 10 20": "2 0 1",
    "x←7 5 6 5 ⋄ ⎕ranks x": "3 0 2 1",
    "⎕ranks⍤1⊢2 3⍴3 1 2 6 5 4": "2 0 1\n2 1 0",
    "2⇶⍳5": "0 2 4",
    "3⇶4 2⍴⍳8": "0 1\n6 7",
    "+/2⇶1+3⇶⍳100": "833",
}


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Rho in it, and all steps done."""
    home = tmp_path_factory.mktemp("extended")
    for room in ROOMS:
        shutil.copytree(ROOT / room, home / "rho" / room, ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.glob("*.py"):
        shutil.copy(path, home / "rho" / path.name)
    steps = STEP.findall((ROOT / "docs" / "contributing.md").read_text(encoding="utf-8"))
    assert len(steps) == 4 + 4 + 10, "four for a scalar function, four for an array function, ten for a core operation"
    for file, after, code in steps:
        path = home / "rho" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(after) == 1, (file, after)
        added = f"{after}\n{code.rstrip()}" + ("\n" if code.startswith("\n") else "")
        path.write_text(text.replace(after, added), encoding="utf-8")
    return home


def rho(home: Path, *words: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run([sys.executable, "-m", "rho", *words], capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_functions_are_there(extended: Path, program: str) -> None:
    assert rho(extended, "eval", program) == PROGRAMS[program]


def test_the_plan_agrees_with_the_reference(extended: Path) -> None:
    """`--verify` fails where a value of the plan is not that of the reference interpreter."""
    program = "x ← 5 7 6 5 1.5\n⎕ranks x\n⎕cbrt x\n{⎕ranks ⍵}⍤1⊢3 4⍴⎕cbrt ⌽⍳12\n+⌿2×3⇶7 2⍴⍳14\n2⇶⌽x\n{1⇶2⇶⍵}⍤1⊢3 5⍴⍳15\n"
    (extended / "p.rho").write_text(program, encoding="utf-8")
    assert rho(extended, "run", str(extended / "p.rho"), "--verify").startswith("1 4 3 2 0\n")


def test_all_are_documented(extended: Path) -> None:
    assert "cube root" in rho(extended, "doc", "⎕cbrt") and "sorted order" in rho(extended, "doc", "⎕ranks")
    assert "major cell" in rho(extended, "doc", "⇶")
