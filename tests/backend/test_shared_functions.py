"""Calls that are not inlined mean what inlined ones mean, in every tier: programs whose checked functions are all shared."""

from __future__ import annotations

import gc
import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from rho import backend
from rho.backend.devices.this_machine import load_profile
from rho.backend.schedule.program.plan_program import plan_program
from rho.backend.schedule.search.strategy import Budget
from rho.backend.vm.run_state import trim
from rho.lang.syntax.source import Source
from rho.tests.harness.share import seeds
from rho.tests.harness.tiers import MODES, agree, by_reference, values_of
from rho.tests.streams import running
from rho.tests.typechecker.test_bodies_repeated import INPUTS, program
from rho.typechecker.check import check
from rho.typechecker.core import cloning
from rho.typechecker.core.operations import Core, Invoke, all_ops

HALVE = "f : f64[n] → f64[n]\nf ← {1+⍵÷2}\ninput x : f64[n]\n"
PROGRAMS = {
    "loop": HALVE + "{f f ⍵}⍣3 ⊢ x",
    "frame": "f : f64[n] → f64\nf ← {+/⍵}\ninput x : f64[n]\nf⍤1 ⊢ x∘.+⍳3",
    "index that fails in a frame": "f : i64[n] → i64[n]\nf ← {⍵[⍵]}\ninput x : f64[n]\nf⍤1 ⊢ (⍳≢x)∘.+0 0 1",
    "frame without cells": "f : i64[n] → i64[n]\nf ← {⍵[⍵]}\ninput x : f64[n]\nf⍤1 ⊢ 0 3⍴7",
    "index that fails": "f : f64[n] → i64 → f64\nf ← {⍺[⍵]}\ninput x : f64[n]\nx f ⌊+/x",
    "text": "f : char[n] → char[n]\nf ← {⌽⍵}\ninput x : f64[n]\nf 'abc'\nf ⍕≢x",
    "tuples": "f : (f64[n] ⋄ f64[n]) → (f64[n] ⋄ f64)\nf ← {(a b) ← ⍵ ⋄ (a-b ⋄ +/a)}\ninput x : f64[n]\nf (x ⋄ 2×x)",
    "captured": "c ← 3 4.5\nf : f64[n] → f64[n]\nf ← {⍵+(+/c)×≢⍵}\ninput x : f64[n]\nf x\nf 1 2 3.5",
    "param": "param k ← 3\nf : f64[n] → f64[k]\nf ← {k⍴⍵,0.5}\ninput x : f64[n]\nf x",
    "arm": HALVE + "{n ← ≢⍵ ⋄ n>2 : f ⍵ ⋄ f f ⍵} x",
    "fold": "f : f64 → f64 → f64\nf ← {⍺+⍵÷2}\ninput x : f64[n] where n ≥ 1\nf/x\nf\\x",
    "twice the same argument": "f : f64[n] → f64[n] → f64[n]\nf ← {⍺-⍵}\ninput x : f64[n]\nx f x",
    "gradient in a body": "f : f64[n] → f64[n]\nf ← {⍵×⍵}\ng : f64[n] → f64[n]\ng ← {({+/f ⍵}∂)f ⍵}\ninput x : f64[n]\ng x",
    "sizes of masks": HALVE + "f (x>0)⌿x\n(x>0)⌿f x",
    "lengths known when run": "f : f64[n] → f64[k≤n]\nf ← {(⍵>0.5)⌿⍵}\ninput x : f64[n]\nf x\n+/f f x",
    "lengths in a loop": "f : f64[n] → f64[k≤n]\nf ← {(⍵>0.5)⌿⍵}\ninput x : f64[n]\n{⍵++/f ⍵}⍣3 ⊢ x",
}  # fmt: skip
CHAIN = "\n".join([
    "h0 : f64[n] → f64[n]", "h0 ← {1+⍵}", *[f"h{at} : f64[n] → f64[n]\nh{at} ← {{h{at - 1} h{at - 1} ⍵}}" for at in range(1, 41)],
    "input x : f64[n]", "",
])  # fmt: skip


@pytest.fixture
def _shares_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """All functions with a signature are shared, however small."""
    monkeypatch.setattr(cloning, "MOST_INLINED", 0)


def checked(text: str) -> Core:
    result = check(Source("<test>", text))
    assert result.core is not None, (text, result.diagnostics)
    return result.core


def invoked(core: Core) -> int:
    return sum(isinstance(op, Invoke) for op in all_ops(core.block.ops))


@pytest.mark.long
def test_levels_of_calls_take_linear_work() -> None:
    """Forty levels make a billion calls of the first function a thousand times over; the bodies of four are lowered."""
    result = check(Source("<test>", CHAIN + "h40 x"))
    assert result.core is not None
    assert result.elaborated.context.nodes < 4_000
    assert len(list(all_ops(result.core.block.ops))) <= cloning.MOST_INLINED
    plan = backend.plan(backend.load(result.core, {"x": np.zeros(3)}))
    assert max(plan.peak.values()) < 10_000
    shown = agree(CHAIN + "h13 x", {"x": np.array([0.5, 1.0])}, ("plan",), wanted=[np.array([8192.5, 8193.0])])
    assert shown == []


@pytest.mark.parametrize("seed", seeds(300))
def test_random_programs_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(seed)
    inlined = check(Source("<test>", text))
    monkeypatch.setattr(cloning, "MOST_INLINED", 0)
    shared = check(Source("<test>", text))
    inlined_errors = [d.code for d in inlined.diagnostics if d.is_error]
    if "E310" in inlined_errors:  # an index that the sizes of a call decide: in a shared body it is found when run
        return
    assert [d.code for d in shared.diagnostics if d.is_error] == inlined_errors, text
    assert re.sub(r"\bk\d+", "k", str(shared.types)) == re.sub(r"\bk\d+", "k", str(inlined.types)), text
    if shared.core is None or inlined.core is None:
        return
    for x in map(np.array, INPUTS):
        assert str(by_reference(shared.core, {"x": x})) == str(by_reference(inlined.core, {"x": x})), (text, x)
        assert agree(shared.core, {"x": x}, ("plan", "no passes")) == [], (text, x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_forms_of_calls_agree_in_every_tier(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    inlined = checked(PROGRAMS[name])
    monkeypatch.setattr(cloning, "MOST_INLINED", 0)
    shared = checked(PROGRAMS[name])
    assert invoked(shared) and not invoked(inlined)
    for x in map(np.array, INPUTS[:1] * (name != "fold") + INPUTS[1:4]):
        assert str(by_reference(shared, {"x": x})) == str(by_reference(inlined, {"x": x})), x
        assert agree(shared, {"x": x}, ("plan", "no passes", *MODES)) == [], x


@pytest.mark.usefixtures("_shares_all")
def test_a_gradient_is_that_of_the_inlined_body() -> None:
    core = checked("f : f64[n] → f64[n]\nf ← {⍵×⍵}\ng : f64[n] → f64\ng ← {+/f f ⍵}\ninput x : f64[n]\ng∂ x\ng x")
    assert invoked(core) == 1
    x = np.array([1.0, -2.0, 0.5])
    assert agree(core, {"x": x}, wanted=[4 * x**3, (x**4).sum()]) == []


@pytest.mark.usefixtures("_shares_all")
def test_quantities_are_those_of_the_signature_or_the_body() -> None:
    text = "f : 0..3 f64[n] → f64[n]\nf ← {⍵+⍵}\ng : f64[n] → f64[n]\ng ← {⍵+⌽⍵×⍵}\ninput x : f64[n]\ninput y : f64[n]\nf x\ng y"
    grades = {q.name: str(q.grade) for q in check(Source("<test>", text)).quantities()}
    assert (grades["x"], grades["y"]) == ("0..3", "3")
    refused = check(Source("<test>", "f : f64[n] → f64[n]\nf ← {⍵+⍵}\ng : 1 f64[n] → f64[n]\ng ← {f ⍵}"))
    assert [d.code for d in refused.diagnostics if d.is_error] == ["E500"]


@pytest.mark.usefixtures("_shares_all")
def test_several_devices_give_the_same_values() -> None:
    core, x = checked(HALVE + "y ← f x\noutput z ← (f y×2)+y\noutput s ← +/f ⌽y"), {"x": np.arange(2000.0)}
    bound = backend.load(core, x)
    plan = plan_program(core, bound, load_profile("workstation"), budget=Budget(2000, 0)).plan
    assert len(plan.devices) > 1
    assert str(values_of(backend.execute(plan, bound, x, simulated=True))) == str(by_reference(core, x))


@pytest.mark.usefixtures("_shares_all")
def test_a_program_in_tiles_gives_the_same_values(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(400_000.0))
    text = "f : f64[n] → f64[n]\nf ← {1+⍵÷2}\ninput x : f64[n]\noutput y ← f 3 1⍴(+/x),(⌈/x),+/x>7"
    text = text.replace("3 1⍴", "")
    plain, tiled = [running.loaded(text, tmp_path, limit) for limit in (None, 3_000_000)]
    assert running.same_bits(running.results(plain), running.results(tiled))


@pytest.mark.usefixtures("_shares_all")
@pytest.mark.parametrize("mode", ["off", "always"])
def test_the_planned_peak_bounds_the_memory_of_calls(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", mode)
    core, x = checked("f : f64[n] → f64[n]\nf ← {(⌽⍵)[⍋⍵]+⍵[⍒⍵]}\ninput x : f64[n]\noutput y ← f f x"), np.arange(300_000.0)
    bound = backend.load(core, {"x": x})
    plan = backend.plan(bound)
    for _ in range(2):
        backend.execute(plan, bound, {"x": x})
    gc.collect()
    trim()
    tracemalloc.start()
    try:
        backend.execute(plan, bound, {"x": x})
        measured = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    planned = max(plan.peak.values()) - x.nbytes
    assert 0.4 * planned < measured <= planned + 100_000
