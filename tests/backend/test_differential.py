"""The planned executor gives what the reference interpreter gives, on every kind of program, with passes on and off."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rho.backend.run import team
from rho.backend.run.cpu import space
from rho.backend.run.values import to_numpy
from rho.tests.backend.differential import checked, run_both
from rho.tests.graph.test_random import program

CORPORA = Path(__file__).parents[1] / "corpora" / "data"


def corpus(name: str, field: str) -> list[tuple[str, int]]:
    rows = [json.loads(line) for line in (CORPORA / name).read_text(encoding="utf-8").splitlines()]
    return [(row[field], row.get("io", 0)) for row in rows]


@pytest.mark.parametrize("part", range(8))
def test_expressions(part: int) -> None:
    ran = 0
    for text, origin in corpus("apl_expressions.jsonl", "expr")[part::8]:
        core = checked(text, origin)
        if core is not None and not core.inputs:
            ran += 1
            assert not run_both(core, {}), text
    assert ran > 20


def test_idioms() -> None:
    ran = 0
    for text, origin in corpus("apl_idioms.jsonl", "program"):
        core = checked(text, origin)
        if core is not None and not core.inputs:
            ran += 1
            assert not run_both(core, {}), text
    assert ran > 60


@pytest.mark.parametrize("seed", range(0, 160))
def test_random_cores(seed: int) -> None:
    build = program(seed)
    assert not run_both(build.core(), {name: to_numpy(value) for name, value in build.data.items()})


DECLARED = """input f : f64[n]
input g : f64[n]
input i : i64[n]
input b : bool[n]
input t : char[n]
input s : f32[n]
input z : c128[n]
input u : u8[n]
input A : f64[r c]
input I : i64[r c]
input B : bool[r c]
input C : f64[r]
input D : f64[c]
input k : i64[]
"""

PROGRAMS = [text for line in """
f+g   f+f×g-i   -f   f÷g   i÷i   f*2   f*0.5   f*i   i*2   ⌊f×10   ⌈f×10   2|i   i|f   f⌈g   f⌊i   f<g   b∧f<g   b∨~b
b⍲b   b≠b   t='a'   t=t   b ¿ (f ⋄ g)   |z   z×z   z÷1+z   *f   ⍟1+f×f   √f×f   1○f   ¯3○f   !u   s+s   s×2   *s   u+u
f64 u   ⌊s×3   A+C   A×2   A-⍤1⊢D   ⍉A   (⍉A)+⍤1⊢C   ⌽A   ⊖A   1⌽A   ⍉⌽A   A∘.+D   C∘.×D   +/A   +⌿A   ×/A   ⌈/A,99
⌊⌿A⍪9   +/,A   ∧/B   ∨⌿B   +/B   +/,B   -/A   -/I   ÷/A   </B   ≠/B   ≠\\B   <\\b   +\\A   +⍀A   -\\A   ×\\I   ⌈\\I   ∧\\b
∨\\b   +/f×g   √+/(f-g)*2   f+.×g   A+.×D   C+.×A   (⍉A)+.×A   I+.×⍉I   3↑f   ¯3↑f   9↑f   ¯9↑t   2 9↑A   2↓f   ¯1↓A
f[1 0]⊣1   ⌽f   f,g   A⍪A   A,A   A,C   [f ⋄ g]   b/f   b⌿i   +/b/f   b/t   ⍸b   ⍸B   ∪i   ∪t   ≠i   ⍋f   ⍒f   ⍋A   ⍒I
⍋t   f[⍋f]   i⍳i   i⍳3   i∊1 2 3   t∊'abc'   'ab'⍷t   f⍸g   i≡i   f≡g   t≡i   10⊥i   2 2 2⊤i   3 +⌸ (3|i ⋄ f)
3 ×⌸ (3|i ⋄ i+100)   2 +⌸ (i64 i>0 ⋄ 1)   ⍴A   ≢A   ,A   (≢,A)⍴A   3 4⍴f,1   2 2⍴A,0   2↕f,1 2   {+/⍵}⍤1⊢A   {⌽⍵}⍤1⊢A
{⍵-+/⍵}˘A   {⍵÷1+|⍵}⍣3⊢f   {(⍵×2)-1}⍣\\3⊢f   {⍵+1}⍣(9⋄{⍺>100})⊢k   +/¨f   {⍵>0:⍵ ⋄ -⍵}¨i   {⍺+⍵×2}/f,1   {⍺+⍵×2}\\f,1
{0<k:f+1 ⋄ g}⍣1⊢f   ({+/,⍵}⌺3 3)A   ({+/,⍵}⌺3)f   0@0⊢f,1   9@{⍵>0}⊢i   -@1⊢f,1 2   ⍉A∘.×1 2   +/+/A   (+/A)÷1⌈≢⍉A
A-⍤1⊢(+⌿A)÷1⌈≢A   ⍕i   ⍕f   ⍕A   5 ? 3   k ? 2 2   ⎕fft f,1 2   ⎕rfft f,1 2   ⎕erf f   ⎕lgamma 1+f×f   ⎕expm1 f   ~0=i
i∨12   i∧12   1⊖I   i⌽⍉[f ⋄ g]⊣1   {+/b/⍵}⍤1⊢[f ⋄ g]   (⍳≢f)×f   +/⍳≢f   f+⍳≢f   (≢f)⍴0   ⌽⍳≢f   {⍵,0}⍤1⊢A   2 3⍴⍳6
A[;0]⊣1   f×+/f   ⊢/A,1   ⊣⌿A⍪1   1⌷A⍪1   (f>g)/f   ∧/f=f   f∘.=g   +⌿f∘.<g   ⌊0.5+f   ×f   f|g   ○f   i!5   ~b
0=+/b   'yes' ≡ 'no'   i∩3 4 5   i∪3 4 5   i~1 2   t,t   '<',t,'>'   ↑'ab' 'cde'   ⍉2 3 4⍴⍳24   +/2 3 4⍴⍳24
+⌿2 3 4⍴⍳24   1 0 2⍉2 3 4⍴⍳24   0 0⍉2 2⍴f,1 2 3 4
""".split("\n") for text in line.split("   ") if text]  # three blanks apart


def data(n: int, r: int, c: int) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    rng = np.random.default_rng(n + 7 * r + 31 * c)
    wild = rng.standard_normal(n)
    wild[::5] = 0.0
    return {
        "f": wild, "g": rng.standard_normal(n), "i": rng.integers(-4, 9, n), "b": rng.random(n) < 0.5,
        "t": np.array(list("abcab ⍴d" * 3)[:n], "U1").reshape(n), "s": rng.standard_normal(n).astype(np.float32),
        "z": rng.standard_normal(n) + 1j * rng.standard_normal(n), "u": rng.integers(0, 200, n).astype(np.uint8),
        "A": rng.standard_normal((r, c)), "I": rng.integers(-9, 9, (r, c)), "B": rng.random((r, c)) < 0.7,
        "C": rng.standard_normal(r), "D": rng.standard_normal(c), "k": np.array(3),
    }  # fmt: skip


@pytest.fixture(params=["whole arrays", "boxes", "boxes on a team"])
def in_boxes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small spaces take the way of large ones."""
    if request.param != "whole arrays":
        monkeypatch.setattr(space, "WHOLE", 1)
        monkeypatch.setattr(space, "BOX", 5)
    if request.param == "boxes on a team":
        monkeypatch.setattr(space, "THREADED", 6)
        monkeypatch.setattr(team, "available_threads", lambda: 3)


@pytest.mark.usefixtures("in_boxes")
@pytest.mark.parametrize("part", range(6))
def test_programs(part: int) -> None:
    """Element-wise, structural, reducing, selecting and searching programs at several sizes, none included."""
    refused = []
    for text in PROGRAMS[part::6]:
        core = checked(DECLARED + text)
        if core is None:
            refused.append(text)
            continue
        for n, r, c in ((5, 3, 4), (1, 1, 1), (0, 0, 3), (7, 2, 0), (2, 3, 2)):
            try:
                problems = run_both(core, data(n, r, c))
            except Exception as error:
                raise AssertionError(f"{text} at n={n} r={r} c={c}") from error
            assert not problems, (text, n, r, c, problems)
    assert not refused
