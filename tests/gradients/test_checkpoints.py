"""Memory of gradients: loops keep the states that the way back reads, all or at some iterations only; sums stream."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from share import share

import rho
from rho import backend
from rho.lang.diagnostics.model import Refused
from rho.lang.syntax.source import Source
from rho.shell.display.plan_output import plan_lines
from rho.shell.execution.run_request import Limits, RunRequest
from rho.shell.pipeline import Session
from rho.tests.harness.tiers import checked, run_plan
from rho.typechecker.check import check
from rho.typechecker.gradients import control_rules

LOOPS = (
    "{+/{1○⍵×1.1}⍣N⊢⍵}",
    "{p←⍵ ⋄ +/{p×1○⍵}⍣N⊢p}",
    "{+/{(1○⍵)+⍺×⍵*2}⍣(⍳N)⊢0.01×⍵}",
    "{+/{(1○⍵)×⍺}⍣(N⍴⍵)⊢⍵}",
    "{a←⍵ ⋄ +/{(1○⍵)×a[5|⍺]}⍣(⍳N)⊢⍵}",
    "{(p q)←{(p q)←⍵ ⋄ (q×p ⋄ 1○p)}⍣N⊢(⍵ ⋄ 2×⍵) ⋄ +/p+q}",
    "{+/{{1○⍵×1.1}⍣N⊢⍵}⍣3⊢⍵}",
    "{+/{{⍵×1○⍵}⍣N⊢⍵}¨⍵}",
)


@pytest.mark.parametrize("text", LOOPS)
@pytest.mark.parametrize("count", [4, 7, 23])
def test_states_that_are_computed_again_change_nothing_but_rounding(
    text: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = np.random.default_rng(count).uniform(0.2, 1.2, 5)
    text = text.replace("N", str(count))
    kept = rho.grad(text)(x)
    monkeypatch.setattr(control_rules, "_MANY_BYTES", 8)
    again = rho.grad(text + " ")(x)
    assert np.allclose(kept, again, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("text", share([*LOOPS, "{+/{1○⍵×1.1}⍣(N ⋄ {0.9>⊃⍵})⊢⍵}", "{+/{(1○⍵)+⍺×0.01×⍵*2}⍣(⍳N)⊢⍵}"], 1))
@pytest.mark.parametrize("count", [0, 1, 15, 17, 255, 256, 300, 1000])
def test_counts_that_are_known_when_it_runs_keep_few_states_on_request(text: str, count: int) -> None:
    """The bits are the same."""
    source = Source("a.rho", f"param m ← 3\ninput x : f64[n] where n ≥ 5\noutput g ← {text.replace('N', 'm')}∂x")
    x = np.random.default_rng(count).uniform(0.2, 1.2, 5)
    values = []
    for checkpoints in (False, True):
        core = check(source, checkpoints=checkpoints).core
        assert core is not None
        assert bool(core.recomputed) == checkpoints
        values.append(np.asarray(run_plan(core, {"x": x}, {"m": count}).outputs["g"].value))
    assert np.array_equal(values[0], values[1], equal_nan=True)


@pytest.mark.parametrize("glyph", ["∂", "`gradient "])
def test_a_limit_of_memory_makes_a_loop_keep_few_states(glyph: str, tmp_path: Path) -> None:
    text = f"param m ← 1000\ninput x : f64[n]\noutput g ← {{+/{{1○⍵×1.1}}⍣m⊢⍵}}{glyph}x"
    (tmp_path / "p.rho").write_text(text, encoding="utf-8")
    session = Session(str(tmp_path))
    checked = session.check(Source(str(tmp_path / "p.rho"), (tmp_path / "p.rho").read_text(encoding="utf-8")))
    x = np.random.default_rng(0).uniform(0.2, 1.2, 1000)
    everything = session.load(checked, RunRequest(arrays={"x": x}))
    few = session.load(checked, RunRequest(arrays={"x": x}, limits=Limits(1_500_000)))
    assert max(few.plan.peak.values()) < 1_500_000 < 8_000_000 < max(everything.plan.peak.values())
    shown = session.load(checked, RunRequest(arrays={"x": x}, limits=Limits(1_500_000)), full=True)
    assert "keeps few of its 1,000 states" in plan_lines(shown)
    results = [session.run(loaded).outputs["g"].value for loaded in (few, everything)]
    assert np.array_equal(*results)
    with pytest.raises(Refused, match="E702"):
        session.load(checked, RunRequest(arrays={"x": x}, limits=Limits(100_000)))


def test_a_gradient_that_is_a_sum_over_rows_streams(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.random((100_000, 5)))
    np.save(tmp_path / "y.npy", np.sign(rng.random(100_000) - 0.5))
    text = 'input x : f64[n 5] ← "x.npy"\ninput y : f64[n] ← "y.npy"\noutput g ← {+/⍟1+*-y×x+.×⍵}∂0.1 0.2 0.3 0.4 0.5'
    session = Session(str(tmp_path))
    checked = session.check(Source(str(tmp_path / "p.rho"), text))
    tiles = session.load(checked, RunRequest(limits=Limits(3_000_000)))
    assert tiles.streams
    values = [session.run(loaded).outputs["g"].value for loaded in (tiles, session.load(checked, RunRequest()))]
    assert np.array_equal(*values)


def peak(text: str, count: int) -> int:
    core = checked(f"input x : f64[n]\noutput g ← {text}∂x")
    assert core is not None
    inputs = {"x": np.random.default_rng(1).uniform(0.2, 1.2, count)}
    return max(backend.plan(backend.load(core, inputs)).peak.values())


def test_a_linear_loop_keeps_nothing() -> None:
    assert peak("{+/({⍵+0.1×(1⌽⍵)-⍵}⍣1000⊢⍵)*2}", 100_000) < 12 * 800_000


def test_a_long_loop_keeps_few_states() -> None:
    everything = 400 * 800_000
    assert peak("{+/{1○⍵×1.1}⍣400⊢⍵}", 100_000) < everything / 3


@pytest.mark.parametrize("text", ["{⍵×1.1}⍣(500 ⋄ {(+/⍵)>9})", "{1○⍵×1.1}⍣400", "{1○⍵}⍣\\3", "{⍺×1○⍵}⍣⍵"])
def test_loops_of_empty_arrays(text: str) -> None:
    assert rho.grad(f"{{+/,{text}⊢⍵}}")(np.zeros(0)).shape == (0,)
