"""Rho in a browser (Pyodide): parsimonious is there, NumPy if its wheel is, and no compiler, solver or terminal toolkit.

A process without site-packages, whose path has links to one or two packages alone, stands for it.  Everything else is tested with
all dependencies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
ABSENT = ("llvmlite", "highspy", "z3-solver", "prompt_toolkit")
UNPROVED = "pairs : f32[n] → f32[n×(n+1)]\npairs ← {(2×⌊((≢⍵)×1+≢⍵)÷2)⍴⍵}\n"
CALLS = """
import numpy as np, rho, sys
mean, sorted_up = rho.compile("{(+⌿⍵)÷≢⍵}"), rho.compile("{⍵[⍋⍵]}")
for _ in range(600):
    assert mean(np.arange(20_000.0)) == 9999.5
assert np.array_equal(sorted_up(np.arange(20_000)[::-1]), np.arange(20_000))
assert np.array_equal(rho.eval("{⍵+1}⍣100 ⊢ ⍳9000"), np.arange(9000) + 100)
assert not {"llvmlite", "highspy", "z3", "prompt_toolkit"} & set(sys.modules)
"""


def linked(folder: Path, *names: str) -> Path:
    """A folder of packages that has Rho and these, and no other."""
    folder.mkdir()
    for name in names:
        found = distribution(name)
        for part in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (folder / part).symlink_to(str(found.locate_file(part)))
    (folder / "rho").symlink_to(ROOT)
    return folder


def test_without_numpy(tmp_path: Path) -> None:
    """As in a browser before NumPy's wheel is there: types, plans and bounds, and values by the reference interpreter."""
    packages = linked(tmp_path / "packages", "parsimonious", "regex")

    def run(*words: str, code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-S", "-m", "rho", *words], env={**os.environ, "PYTHONPATH": str(packages)}, cwd=tmp_path,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    (tmp_path / "mean.rho").write_text("use stats\ninput x : f64[n] where n ≥ 1\noutput m ← stats.mean x\n", encoding="utf-8")
    (tmp_path / "values.rho").write_text("use set\nset.unique 3 1 3\n⌹2 2⍴2 0 0 4\n", encoding="utf-8")
    assert "no problems" in run("check", "mean.rho")
    assert "m : 1 f64" in run("type", "mean.rho")
    assert run("eval", "+.×⍨3 3⍴⍳9") == "15 18  21\n42 54  66\n69 90 111\n"
    assert run("eval", "√2 8÷2") == "1 2\n"
    assert run("run", "values.rho") == "3 1\n0.5 0\n0   0.25\n"
    assert run("plan", "mean.rho", "--size", "n=5").startswith("plan/2")
    assert "lower bound" in run("plan", "mean.rho", "--size", "n=100000", "--devices", "workstation")
    assert "already formatted" in run("fmt", "mean.rho")
    (tmp_path / "x.csv").write_text("x\n1\n3\n", encoding="utf-8")
    assert "needs NumPy" in run("run", "mean.rho", "--in", "x=x.csv:x", code=1)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    return linked(tmp_path / "packages", "numpy", "parsimonious", "regex")


def test_without_compiler_solver_and_terminal(packages: Path, tmp_path: Path) -> None:
    def run(*words: str, text: str = "", code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-S", *words], input=text, env={**os.environ, "PYTHONPATH": str(packages)}, cwd=ROOT,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    facts = json.loads(run("-m", "rho", "info", "--json"))
    assert all(facts["packages"][name] is None for name in ABSENT) and facts["packages"]["numpy"] is not None
    assert facts["kernels"].startswith("NumPy") and "pip install -U llvmlite" in facts["kernels"]
    assert "all hold" in run("-m", "rho", "test", "docs/tour.md", "docs/language.md", "stdlib", "examples")
    run("-c", CALLS)
    assert run("-m", "rho", text="+/⍳5\n").splitlines()[0] == "10"
    (tmp_path / "pairs.rho").write_text(UNPROVED, encoding="utf-8")
    refused = run("-m", "rho", "check", str(tmp_path / "pairs.rho"), code=3)
    assert "E209" in refused and "pip install z3-solver" in refused
    planned = run("-m", "rho", "plan", "examples/sunspots.rho", "--devices", "workstation")
    assert planned.startswith("plan/2") and "lower bound" in planned
