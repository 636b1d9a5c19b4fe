"""What a cold start imports: no array library, no solver, no terminal, and no class whose methods are compiled at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "numpy", "z3", "prompt_toolkit", "llvmlite", "regex", "asyncio", "typing_extensions", "hashlib", "email", "difflib",
    "tomllib", "concurrent.futures", "multiprocessing", "logging", "http", "ctypes", "rho.backend.lower.loop_order",
    "rho.backend.cpu.backend", "rho.backend.schedule.search", "rho.backend.devices.profile",
    "rho.backend.schedule.program.problem_from_program", "rho.shell.lsp", "rho.shell.repl", "rho.typechecker.proof.z3_leaf",
)  # fmt: skip
PROGRAM = """
import dataclasses, json, sys
made = []
process = dataclasses._process_class
def note(cls, init, *rest):
    if init: made.append(cls.__module__)
    return process(cls, init, *rest)
dataclasses._process_class = note
from rho.shell.main import main
code = main(sys.argv[1:])
print()
print(json.dumps([code, sorted(sys.modules), sorted({one for one in made if one.startswith("rho.")})]))
"""


def started(*words: str) -> tuple[int, list[str], list[str]]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], check=True, capture_output=True, text=True, encoding="utf-8")
    code, modules, at_once = json.loads(done.stdout.splitlines()[-1])
    return code, modules, at_once


@pytest.mark.parametrize("verb", ["eval", "check"])
def test_a_cold_start_imports_little(verb: str, tmp_path: Path) -> None:
    script = tmp_path / "means.rho"
    script.write_text("input x : f64[n m]\ny ← {(+/⍵)÷≢⍵}⍤1 ⊢ x\n⌈/y-⌊/y\n", encoding="utf-8")
    code, modules, at_once = started(verb, "1+1" if verb == "eval" else str(script))
    assert code == 0
    assert [name for name in HEAVY if name in modules] == []
    assert at_once == [], "of these modules' classes, use the dataclass of rho.lang.support.records"


def test_a_small_run_imports_neither_compiler_nor_solver_nor_terminal(tmp_path: Path) -> None:
    """They are installed with Rho; `import rho`, a small run and a first small call need none of them."""
    (tmp_path / "small.rho").write_text("x ← ⍳10\n+/x×2\n", encoding="utf-8")
    script = (
        "import sys, rho\n"
        "def heavy(): return sorted({'llvmlite', 'z3', 'prompt_toolkit'} & set(sys.modules))\n"
        "steps = [heavy()]\n"
        "from rho.shell.main import main\n"
        "assert main(['run', 'small.rho']) == 0\n"
        "steps.append(heavy())\n"
        "assert rho.compile('{+/⍵×⍵}')([1, 2]) == 5\n"
        "print(*steps, heavy())"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines() == ["90", "[] [] []"]
