"""What is made again in each reader: the bits of the program without the pass in every tier, fewer phases, no array between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.graph.bind_sizes import bind
from rho.backend.graph.lowering.blocks import lower
from rho.backend.graph.passes import sink_into_maps
from rho.backend.graph.passes.pipeline import optimise, optimise_with_sizes
from rho.backend.graph.phases import Structured
from rho.backend.jit import tiering
from rho.backend.vm.input_sizes import bind_sizes
from rho.tests.harness.tiers import agree, checked, run_plan

DECLARED = "input x : f64[n]\ninput y : f64[n]\ninput A : f64[n 7]\ninput z : c128[n]\n"
PROGRAMS = """d ← x-(+/x)÷≢x ⋄ r ← d÷√(+/d×d)÷≢x
a ← x-(+/x)÷≢x ⋄ b ← y-(+/y)÷≢y ⋄ r ← (+/a×b)÷√(+/a×a)×+/b×b
l ← ⌊/x,1.5 ⋄ h ← ⌈/x,2.5 ⋄ r ← (x-l)÷h-l
d ← A-⍤1⊢(+⌿A)÷≢A ⋄ r ← d÷⍤1⊢√0.01+(+⌿d×d)÷≢A
d ← x×2 ⋄ r ← d+⌽d
d ← x×2 ⋄ e ← d+1 ⋄ r ← (+/e)+(+/e×d)+⌈/0,d-e
d ← z-(+/z)÷≢z ⋄ r ← d×+d
d ← x-y ⋄ r ← (+/d×d)+⌈/0,d
d ← x×3 ⋄ r ← (d[⍋d])-+/d""".splitlines()
FEWER = PROGRAMS[:2]


@pytest.fixture(autouse=True)
def always_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_into_maps, "MIN_POINTS", 1)


def given(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    return {
        "x": rng.standard_normal(n), "y": rng.standard_normal(n), "A": rng.standard_normal((n, 7)),
        "z": rng.standard_normal(n) + 1j * rng.standard_normal(n),
    }  # fmt: skip


def program(text: str) -> Any:
    core = checked(DECLARED + text.replace(" ⋄ ", "\n") + "\noutput r\n")
    assert core is not None, text
    return core


@pytest.mark.parametrize("mode", ["off", "always"])
@pytest.mark.parametrize("text", PROGRAMS)
def test_values(text: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, mode)
    core = program(text)
    for n in (23, 1, 0):
        assert not agree(core, given(n)), (text, n)
    data = given(9001)
    apart = run_plan(core, data, without=frozenset({"again"})).outputs["r"].value
    assert np.array_equal(run_plan(core, data).outputs["r"].value, apart, equal_nan=True)


@pytest.mark.parametrize("text", PROGRAMS)
def test_graphs_are_sound(text: str) -> None:
    core = program(text)
    sizes = bind_sizes(core, {name: value.shape for name, value in given(20).items()}, {})
    optimise_with_sizes(bind(optimise(lower(core)), sizes), verify_each=True)


@pytest.mark.parametrize("text", FEWER)
def test_nothing_large_is_kept_between(text: str) -> None:
    """Every phase that is not the result reduces, and there are fewer of them."""
    core, data = program(text), given(9001)
    made, apart = [
        [p for p in backend.load(core, data, {}, without=off).graph.phases if isinstance(p, Structured)]
        for off in (frozenset[str](), frozenset({"again"}))
    ]
    assert len(made) < len(apart)
    results = [r for p in made for r in p.results if r.reduction is None and len(p.axes) == 1]
    assert len(results) <= 1


def test_small_work_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_into_maps, "MIN_POINTS", 1 << 13)
    core, data = program(PROGRAMS[0]), given(100)
    without = backend.load(core, data, {}, without=frozenset({"again"}))
    assert len(backend.load(core, data, {}).graph.phases) == len(without.graph.phases)
