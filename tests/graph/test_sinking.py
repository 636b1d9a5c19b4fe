"""Rows that only a map reads are made in the map: the bits of the program without the pass in every tier, no matrix of rows."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest

from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes import sink_into_maps
from rho.backend.graph.passes.pipeline import optimise, optimise_with_sizes
from rho.backend.graph.phases import Input, Map
from rho.backend.graph.traverse import all_phases, results
from rho.backend.jit import tiering
from rho.backend.vm.input_sizes import bind_sizes
from rho.tests.harness.tiers import agree, checked, run_plan

DECLARED = "input x : f64[n]\ninput y : f64[m]\ninput A : f64[m n]\n"
SUNK = """r ← {m ← ⍵<x ⋄ (+/m/x)÷1⌈+/m}¨y
r ← {+/(⍵<x)/x}¨y
r ← {m ← (⍵<x)∧x<1+⍵ ⋄ ⌈/0,m/x×⍵}¨y
r ← {+/(0<⍵)/x}⍤1 ⊢ A
r ← {+/(⍵<x)/⍵×x}⍤1 ⊢ A
r ← {c ← ⍵ ⋄ {+/(⍵<x+c)/x}¨y}¨y
r ← {⍵+{+/(⍵<x)/x}¨y}⍣3 ⊢ y
r ← {+/(⍵<x+⌽x)/⌽x}¨y
r ← {m ← 0<⍵+x ⋄ (+/m/⍵)+(+/m)+⌈/⍵×x}⍤1 ⊢ A""".splitlines()
KEPT = """m ← y∘.<x ⋄ r ← (+/+/m∧1=+/m[(⍳≢y)×0;])+{+/⍵/x}⍤1 ⊢ m
m ← y∘.<x ⋄ r ← (+/∨⌿m)+{+/⍵/x}⍤1 ⊢ m
r ← {+/(2<⍵)/⍵}⍤1 ⊢ ⍉x∘.+y
r ← {+/(0<⍵)/⍵}¨y∘.+⍳3""".splitlines()


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_into_maps, "MIN_ROW_ITEMS", 1)


def given(m: int, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    return {"x": rng.standard_normal(n), "y": rng.standard_normal(m), "A": rng.standard_normal((m, n))}


def program(text: str) -> Any:
    core = checked(DECLARED + text.replace(" ⋄ r", "\nr") + "\noutput r\n")
    assert core is not None, text
    return core


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("text", SUNK + KEPT)
def test_values(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = program(text)
    for m, n in ((3, 23), (1, 1), (0, 4), (4, 0)):
        assert not agree(core, given(m, n)), (text, m, n)
    data = given(5, 9001)
    apart = run_plan(core, data, without=frozenset({"cells"})).outputs["r"].value
    assert np.array_equal(run_plan(core, data).outputs["r"].value, apart, equal_nan=True)


@pytest.mark.parametrize("n", [0, 2, 4])
@pytest.mark.parametrize("m", [0, 3])
def test_rows_that_fill(m: int, n: int) -> None:
    """A row of three of which some are fills, also in a map that has no iterations."""
    core, data = program("r ← {+/+\\(⍵>3↑x)/10 20 30}¨y"), given(m, n)
    sizes = bind_sizes(core, {"x": (n,), "y": (m,), "A": (m, n)}, {})
    bound = optimise_with_sizes(bind(optimise(lower(core)), sizes), verify_each=True)
    assert any(isinstance(phase, Map) for phase in all_phases(bound.graph))
    row = np.concatenate([data["x"], np.zeros(3)])[:3]
    sums = [np.cumsum(np.compress(item > row, [10, 20, 30])).sum() for item in data["y"]]
    assert np.array_equal(run_plan(core, data).outputs["r"].value, sums)


@pytest.mark.parametrize("text", SUNK)
def test_no_matrix_is_made(text: str) -> None:
    core, data = program(text), given(30, 40)
    sizes = bind_sizes(core, {name: value.shape for name, value in data.items()}, {})
    bound = optimise_with_sizes(bind(optimise(lower(core)), sizes), verify_each=True)
    assert any(isinstance(phase, Map) for phase in all_phases(bound.graph))
    for phase in all_phases(bound.graph):
        if not isinstance(phase, Input):
            assert all(prod(size.constant or 1 for size in bound.graph.types[v].shape) < 30 * 40 for v in results(phase))
