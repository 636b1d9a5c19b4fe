"""Checking stays fast for long programs and for formulas that grow, and imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import CheckResult, check

pytestmark = pytest.mark.long

LINES = 2000

LONG = {
    "one name": ["x ← 1", *["x ← x + 1"] * (LINES - 1)],
    "a chain": ["input x : f64[n]", "v0 ← x", *[f"v{i + 1} ← ((v{i} × {i})+x)⌈0" for i in range(LINES - 2)]],
    "definitions": ["input x : f64[n]", *[f"g{i} ← {{⍵+{i}}}\ng{i} x" for i in range(LINES // 2)]],
    "signatures": [f"g{i} : f64[n] → f64[n]\ng{i} ← {{⍵+{i}}}" for i in range(LINES // 2)],
    "guards": ["input x : f64[n]", "input y : f64[m]", *[f"v{i} ← x + y × {i}" for i in range(LINES - 2)]],
    "many sizes": [*[f"input x{i} : f64[n{i}]" for i in range(60)], *[f"x{i}+x{i + 1}" for i in range(59)]],
    "strand": [" ".join(map(str, range(100_000)))],
    "functions": ["input x : f64[n]", "-÷×|⌽" * 60 + "x"],
    "definitions in a chain": ["g0 ← {⍵+1}", *[f"g{i + 1} ← {{1+g{i} ⍵}}" for i in range(299)], "g299 3"],
}


def checked(lines: list[str]) -> CheckResult:
    return check(Source("<test>", "\n".join(lines)))


@pytest.mark.parametrize("name", LONG)
def test_long_programs(name: str) -> None:
    assert checked(LONG[name]).core is not None


GROWING = {
    "joins of parts": (["y ← x", *["y ← y,(1↓y),¯1↓y"] * 20], "E610"),
    "outer products": (["y ← x,1", *["y ← ,y∘.×y"] * 8], "E610"),
    "nested remainders": (["n ← ≢x", *["n ← (1+n)|n×n"] * 40], None),
    "nested quotients": (["n ← ≢x", *["n ← ⌊(n×n)÷1+n"] * 40], None),
    "nested extremes": (["n ← ≢x", "m ← 1", *["n ← (n×m)⌈m+n", "m ← n⌊m+1"] * 40], None),
    "squares": (["n ← ≢x", *["n ← n×n"] * 40], None),
    "powers": (["n ← ≢x", *["n ← n*2"] * 40], None),
    "powers of bounded exponents": (["n ← ≢x", *["n ← n×2*3⌊n"] * 40], None),
    "products of arms": (["n ← ≢x", *["n ← {⍵>3 : ⍵×⍵ ⋄ 1+⍵} n"] * 40], None),
    "products of counts": (["y ← +/x>0", *["y ← y×y+1"] * 40], None),
    "squares of numbers": (["n ← 10", *["n ← n×n"] * 40], "E330"),
    "masks of masks": (["y ← x", *["y ← y,(y>0)⌿y"] * 30], None),
}


@pytest.mark.parametrize("name", GROWING)
def test_formulas_that_grow(name: str) -> None:
    lines, code = GROWING[name]
    result = checked(["input x : f64[n]", *lines])
    assert [d.code for d in result.diagnostics] == ([] if code is None else [code])
    assert result.last is not None and len(result.last) < 500


@pytest.mark.parametrize("depth", [12, 16, 24, 200])
def test_templates_that_double_are_given_up_early(depth: int) -> None:
    """The work is counted, not timed: a second or so, and more for longer texts only."""
    lines = ["g0 ← {⍵+1}", *[f"g{i + 1} ← {{g{i} g{i} ⍵}}" for i in range(depth)], f"g{depth} 3.0"]
    result = checked(lines)
    assert [d.code for d in result.diagnostics] == ([] if depth == 12 else ["E610"])
    assert result.elaborated.context.nodes <= 61_000 + len("\n".join(lines))


def test_checking_imports_nothing_heavy() -> None:
    lines = [
        *("param k ← 2 where k ≥ 1", "input x : f64[n] where k ≤ n", "input A : f64[n m]"),
        *[f"input z{i} : f64[d{i}]" for i in range(9)],
        *[f"z{i}+z{i + 1}" for i in range(8)],
        *("f : f64[q] → f64[q]", "f ← {(⍵-⌊/0,⍵)÷≢⍵}", "(k↕x)+.×k↑x", "f A", "A+.×f⍤1⍉A", "x[⍋x]", "(x>0)⌿x"),
    ]
    program = (
        "import sys\nfrom rho.lang.syntax.source import Source\nfrom rho.typechecker.check import check\n"
        f"result = check(Source('t', {chr(10).join(lines)!r}))\nassert result.core is not None, result.diagnostics\n"
        "print([m for m in ('numpy', 'z3', 'prompt_toolkit', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"
