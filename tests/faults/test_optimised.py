"""`python -O` takes assertions away: nothing that guards memory may be one, and nothing else may change."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from share import share

import rho
from rho.tests.conformance.test_conformance import CASES, cases

pytestmark = pytest.mark.long

ROOT = Path(rho.__file__).parent
ROOMS = (
    "codegen", "cpu", "distributed", "gpu", "graph", "io", "jit", "library", "loopir", "lower", "streams", "transform", "vm",
)  # fmt: skip
GUARDED = [path for room in ROOMS for path in sorted((ROOT / "backend" / room).rglob("*.py"))]


def only_narrows(test: ast.expr) -> bool:
    """Does the condition only tell a type checker which type a value has?"""
    match test:
        case ast.BoolOp(values=values):
            return all(map(only_narrows, values))
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return only_narrows(operand)
        case ast.Call(func=ast.Name(id=name)):
            return name in ("isinstance", "callable")
        case ast.Compare(ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(value=None) | ast.Name()]):
            return True
        case _:
            return False


def test_assertions_of_the_back_end_only_narrow_types() -> None:
    assert all(any((ROOT / "backend" / room).glob("*.py")) for room in ROOMS) and len(GUARDED) > 100
    bad = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node.test)}"
        for path in GUARDED
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assert) and not only_narrows(node.test)
    ]
    assert bad == []


def optimised(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A Python program under `-O`, where `__debug__` is false."""
    text = f"assert False\nif __debug__: raise SystemExit('not optimised')\n{program}"
    return subprocess.run([sys.executable, "-O", "-c", text, *words], capture_output=True, text=True, timeout=120, check=False)


LEAVES = """
import numpy as np, sys
from rho.backend.graph.phases import Affine, AffineIndex, Projection, Term
from rho.backend.cpu.views import compile_view
from rho.typechecker.sizes.size import number
stage = Affine((AffineIndex((Term(0, 1),), number(0)),), (number(12),), False)
try:
    view, _ = compile_view(Projection((stage,)), (9_000_001,), 0, lambda size: size.constant)
    print(view(np.zeros(12)).shape)
except AssertionError as error:
    print("refused", error)
"""


def test_a_read_outside_its_operand_is_refused() -> None:
    done = optimised(LEAVES)
    assert done.stdout.startswith("refused this does not hold: a read stays in its operand"), (done.stdout, done.stderr)


DRIVER = """
import hashlib, json, os, sys
import numpy as np
import rho
for text in json.load(sys.stdin):
    try:
        made = rho.eval(text)
        if made is None:  # nothing but comments and settings
            print(made)
            continue
        array = np.ascontiguousarray(made)
        print(array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest())
    except rho.RhoError as error:
        print(error.diagnostics[0].code)
"""


@pytest.mark.parametrize("kernels", share(["off", "always"], seed=18))
def test_programs_give_the_same_bits_and_diagnostics(kernels: str, tmp_path: Path) -> None:
    every = [text for path in sorted(CASES.glob("*.txt")) for _, text, _ in cases(path)]
    programs = share(every if kernels == "off" else every[::5], seed=17)
    given = json.dumps(programs)
    answers = [
        subprocess.run(
            [sys.executable, *words, "-c", DRIVER], input=given, capture_output=True, text=True, timeout=900, check=False,
            env={**os.environ, "RHO_KERNELS": kernels, "RHO_KERNEL_CACHE": str(tmp_path)},
        )
        for words in ([], ["-O"])
    ]  # fmt: skip
    assert [(done.returncode, done.stderr) for done in answers] == [(0, ""), (0, "")]
    plain, optimal = (done.stdout.splitlines() for done in answers)
    assert len(plain) == len(programs)
    for text, one, other in zip(programs, plain, optimal, strict=True):
        assert one == other, text
