"""Rho in a browser (Pyodide): NumPy and parsimonious are there, and no compiler of kernels, no solver and no terminal toolkit.

A process without site-packages, whose path has links to those two packages alone, stands for it.  Everything else is tested with
all dependencies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ABSENT = ("llvmlite", "z3-solver", "prompt_toolkit")
UNPROVED = "pairs : f32[n] → f32[n×(n+1)]\npairs ← {(2×⌊((≢⍵)×1+≢⍵)÷2)⍴⍵}\n"
CALLS = """
import numpy as np, rho, sys
mean, sorted_up = rho.compile("{(+⌿⍵)÷≢⍵}"), rho.compile("{⍵[⍋⍵]}")
for _ in range(600):
    assert mean(np.arange(20_000.0)) == 9999.5
assert np.array_equal(sorted_up(np.arange(20_000)[::-1]), np.arange(20_000))
assert np.array_equal(rho.eval("{⍵+1}⍣100 ⊢ ⍳9000"), np.arange(9000) + 100)
assert not {"llvmlite", "z3", "prompt_toolkit"} & set(sys.modules)
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    folder = tmp_path / "packages"
    folder.mkdir()
    for name in ("numpy", "parsimonious", "regex"):
        found = distribution(name)
        for part in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (folder / part).symlink_to(str(found.locate_file(part)))
    (folder / "rho").symlink_to(ROOT)
    return folder


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
