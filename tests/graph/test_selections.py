"""Items at the places of a mask are compressed out: the same values, and no places are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes.pipeline import optimise
from rho.backend.graph.phases import LibraryPhase, Map
from rho.backend.graph.traverse import all_phases
from rho.tests.harness.tiers import agree, checked

DECLARED = "input x : f64[n]\ninput y : f64[n]\ninput A : f64[n 3]\ninput B : f64[3 n]\ninput w : f64[m]\n"
COMPRESSED = """r ← x[⍸x>0]
r ← A[⍸x>0;]
r ← B[;⍸x>0]
i ← ⍸x>0 ⋄ r ← +/x[i]×y[i]
r ← {⍵[⍸⍵>0]}x+y
r ← x[⍸(⍳≢x)≥5]""".splitlines()
KEPT = """i ← ⍸x>0 ⋄ r ← i,⍴x[i]
r ← x[⌽⍸x>0]
r ← x[⍸(3↑x)>0]
i ← ⍸x>0 ⋄ z ← x×2 ⋄ r ← z[i]+i""".splitlines()


def ops(text: str) -> list[str]:
    core = checked(DECLARED + text.replace(" ⋄ ", "\n") + "\noutput r\n")
    assert core is not None, text
    return [phase.op for phase in optimise(lower(core), verify_each=True).phases if isinstance(phase, LibraryPhase)]


@pytest.mark.parametrize("text", COMPRESSED + KEPT)
def test_values(text: str) -> None:
    core = checked(DECLARED + text.replace(" ⋄ ", "\n") + "\noutput r\n")
    assert core is not None, text
    for n in (9, 5, 3):
        rng = np.random.default_rng(n)
        data = {name: rng.standard_normal(shape) for name, shape in
                (("x", n), ("y", n), ("A", (n, 3)), ("B", (3, n)), ("w", 4))}  # fmt: skip
        assert not agree(core, data), text


@pytest.mark.parametrize("text", COMPRESSED)
def test_no_places_are_made(text: str) -> None:
    assert "where" not in ops(text) and "gather" not in ops(text) and "compress" in ops(text)


@pytest.mark.parametrize("text", KEPT)
def test_places_that_are_wanted_stay(text: str) -> None:
    assert "where" in ops(text)


def test_both_ways_are_one() -> None:
    """`x[⍸m]` and `m⌿x` of one mask are computed once."""
    assert ops("r ← x[⍸y>0]+(y>0)⌿x").count("compress") <= 2


EXACT = """r ← +/(x>0)/⌊y×10
r ← ≢(x>0)/y
r ← ≢⍸x>0
r ← ≢x[⍸x>0]
r ← +/j[⍸x>0]
r ← ×/(x>0)/j
r ← ∧/(x>0)/y>0
r ← ∨/y[⍸x>0]>0
r ← (+/(x>0)/j)+≢(x>0)/j
t ← (x>0)/j ⋄ r ← +/t×t+1
r ← +/(x>0)/J
r ← +⌿(x>0)⌿⍉J
r ← (≢(x>0)/y)⍴7
r ← ⌈/(u=⌈/u)/u×u
r ← {+/(⍵<x)/j}¨y
r ← {m ← ⍵<x ⋄ (+/m/j)÷1⌈≢m/j}¨y
r ← {⍵+{+/(⍵<x)/j}¨⍳≢x}⍣2 ⊢ j
r ← {≢⍸x<⍵}¨⍳7
r ← {{+/(⍵<x)/j}¨x-⍵}¨y
r ← {+/(⍵<y)/j×⌽j}⍤0 ⊢ B
r ← {+/(0<⍵)/⌊⍵×9}⍤1 ⊢ B
r ← +/{(⍵*2)++/(x>0)/⍵+j}⍤0 ⊢ ⍳4""".splitlines()
ORDERED = """r ← +/(x>0)/y
t ← (x>0)/j ⋄ r ← t,+/t
r ← +/(x>0)/j÷2
r ← +/⍳≢(x>0)/j
t ← (x>0)/j ⋄ r ← +/t×⌽t
r ← {+/(⍵<x)/y}¨y
r ← {t ← (⍵<x)/j ⋄ +/t×⌽t}¨y""".splitlines()
NUMBERS = "input j : i64[n]\ninput J : i64[3 n]\ninput u : i64[4]\n"


def selecting(text: str) -> tuple[list[str], Any]:
    lines = text if "{" in text else text.replace(" ⋄ ", "\n")
    core = checked(DECLARED + NUMBERS + lines + "\noutput r\n")
    assert core is not None, text
    graph = optimise(lower(core), verify_each=True)
    maps = ["map" for phase in all_phases(graph) if isinstance(phase, Map)]
    return [*(phase.op for phase in all_phases(graph) if isinstance(phase, LibraryPhase)), *maps], core


@pytest.mark.parametrize("text", EXACT + ORDERED)
def test_what_is_reduced_by_masks(text: str) -> None:
    found, core = selecting(text)
    if text in EXACT:
        assert not {"compress", "where", "map"} & set(found)
    for n in (9, 5, 1):
        rng = np.random.default_rng(n)
        data = {name: rng.standard_normal(shape) for name, shape in
                (("x", n), ("y", n), ("A", (n, 3)), ("B", (3, n)), ("w", 4))}  # fmt: skip
        data |= {"j": rng.integers(-9, 9, n), "J": rng.integers(-9, 9, (3, n)), "u": rng.integers(-9, 9, 4)}
        for sign in (data["x"], np.abs(data["x"]), -np.abs(data["x"])):
            assert not agree(core, data | {"x": sign}), text


def test_a_size_that_a_body_finds_too() -> None:
    """Nothing reads the selection in the body; the places outside have a size of the same name."""
    core = checked("input A : f64[n m]\ninput b : bool[n]\nr ← {a ← b/⍵ ⋄ ⍺⌈⍵}\\A\nw ← (1↓A)[⍸b]\noutput r\n")
    assert core is not None
    assert not agree(core, {"A": np.arange(6.0).reshape(2, 3), "b": np.array([True, False])})
