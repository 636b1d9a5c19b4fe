"""Whole programs with every phase and loop that kernels can do in a kernel, against the reference interpreter."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu import regions
from rho.backend.cpu.parallel_for import TimeTiles
from rho.backend.jit import tiering
from rho.backend.schedule.plan.plan import Device
from rho.tests.backend.test_differential import DECLARED, PROGRAMS, data
from rho.tests.harness.tiers import agree, checked


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")


@pytest.mark.parametrize("text", PROGRAMS[::7])
def test_programs(text: str) -> None:
    core = checked(DECLARED + text)
    if core is not None:
        for n, r, c in ((7, 2, 5), (1, 1, 1)):
            assert not agree(core, data(n, r, c)), (text, n)


LOOPS = """r ← {(a b) ← ⍵ ⋄ (a+b ⋄ a×0.5)}⍣9 ⊢ (f ⋄ g)
r ← {⍵+f×0.5}⍣5 ⊢ g
r ← {(a m) ← ⍵ ⋄ (m¿(a×a ⋄ a-1) ⋄ a<2)}⍣7 ⊢ (f ⋄ b)
r ← {1+2×⍵}⍣60 ⊢ i
r ← {(3×⍵)-1}⍣40 ⊢ k
r ← {⍵×C}⍣3 ⊢ A
r ← {⍵+⍤1 ⊢ D}⍣3 ⊢ A
r ← {~⍵}⍣3 ⊢ B
r ← {(a c) ← ⍵ ⋄ (c ⋄ a)}⍣5 ⊢ (A ⋄ A×2)
r ← {|1○⍵}⍣4 ⊢ f
r ← {⍵+1}⍣0 ⊢ f
r ← {⌽⍵+1}⍣3 ⊢ f
r ← {⍵÷+/⍵×⍵}⍣3 ⊢ f
r ← {⍵-0.1×⍵⌈s}⍣3 ⊢ s
r ← {(x y) ← ⍵ ⋄ z ← x-y ⋄ (z×z ⋄ z+x)}⍣3 ⊢ (i ⋄ i×2)""".splitlines()


def kept(text: str) -> str:
    """The statement with its result as output, item by item if it is a tuple; else the passes drop it."""
    state = re.search(r"\(\w+ \w+\) ← ⍵", text)
    if state is None:
        return f"output {text}\n"
    return text.replace("r ←", "(r q) ←", 1) + "\noutput r\noutput q\n"


@pytest.mark.parametrize("text", LOOPS)
def test_loops(text: str) -> None:
    core = checked(DECLARED + kept(text))
    assert core is not None
    for n, r, c in ((5, 3, 4), (1, 1, 1), (23, 2, 17), (0, 0, 3)):
        assert not agree(core, data(n, r, c)), (text, n)


def test_loops_have_the_bits_of_their_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one kernel, in stretches, on a team and turn by turn."""
    text = "input x : f64[n]\noutput r ← {(1.0001×⍵)-0.3×⍵×⍵}⍣25 ⊢ x\n"
    core = checked(text)
    assert core is not None
    given = {"x": np.random.default_rng(1).random(1003)}
    bound = backend.load(core, given, {})
    calls: list[int] = []
    original = regions.PointwiseLoop.launch
    monkeypatch.setattr(regions.PointwiseLoop, "launch", lambda *args: (calls.append(1), original(*args))[1])
    made = []
    for mode, heard, threads, least in (("always", 5e6, 1, 1 << 16), ("always", 800, 3, 1), ("off", 1, 1, 1)):
        monkeypatch.setenv(tiering.SWITCH, mode)
        monkeypatch.setattr(tiering, "INTERRUPT_NANOSECONDS", heard)
        monkeypatch.setattr(tiering, "SHARED_NANOSECONDS", least)
        plan = backend.plan(bound, Device("cpu0", "cpu", threads))
        made.append(backend.execute(plan, bound, given).outputs["r"].value.tobytes())
    assert len(calls) > 2, "the second run is in stretches"
    assert len(set(made)) == 1


STENCILS = """r ← {s ← (¯1⌽⍵)+⍵+1⌽⍵ ⋄ n ← (¯1⊖s)+s+1⊖s ⋄ (n=3)∨⍵∧n=4}⍣4 ⊢ B
r ← {⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)-4×⍵}⍣5 ⊢ A
r ← {(1⌽⍵)-2⌽⍵}⍣3 ⊢ f
r ← {¯7⌽⍵×0.5}⍣3 ⊢ f
r ← {(a b) ← ⍵ ⋄ (b-1⌽a ⋄ a+¯1⊖b)}⍣3 ⊢ (A ⋄ A×2)
r ← {(C×⍵)+1⊖⍵}⍣2 ⊢ A
r ← {((k-3)⌽⍵)+s}⍣3 ⊢ s
r ← {(k⌽⍵)+I}⍣3 ⊢ I
r ← {255|⍵+1⌽⍵}⍣3 ⊢ i64 u
r ← {(⍉1⌽⍉⍵)+⍵}⍣3 ⊢ A
r ← {⌽1⌽⍵}⍣3 ⊢ f
r ← {(⌈/⍵)⌽⍵}⍣3 ⊢ i
r ← {(x y) ← ⍵ ⋄ (y⌽x ⋄ y)}⍣3 ⊢ (i ⋄ k)""".splitlines()


@pytest.mark.parametrize("text", STENCILS)
def test_stencils(text: str) -> None:
    core = checked(DECLARED + kept(text))
    assert core is not None
    for n, r, c in ((5, 3, 4), (1, 1, 1), (23, 2, 37), (2, 40, 2), (0, 0, 3)):
        assert not agree(core, data(n, r, c)), (text, n)


@pytest.mark.parametrize("threads", [1, 3])
def test_stencils_have_the_bits_of_their_turns(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "input A : f64[n m]\noutput r ← {⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯2⌽⍵)-4×⍵}⍣7 ⊢ A\n"
    core = checked(text)
    assert core is not None
    given = {"A": np.random.default_rng(1).random((33, 61))}
    bound = backend.load(core, given, {})
    calls: list[int] = []
    original = regions.run_tiles
    monkeypatch.setattr(regions, "time_tiles_of", lambda rows, turns, threads: TimeTiles(2, 5))
    monkeypatch.setattr(regions, "run_tiles", lambda *args: (calls.append(1), original(*args))[1])
    made = []
    for mode in ("always", "off"):
        monkeypatch.setenv(tiering.SWITCH, mode)
        plan = backend.plan(bound, Device("cpu0", "cpu", threads))
        made.append(backend.execute(plan, bound, given).outputs["r"].value.tobytes())
    assert calls == [1]
    assert len(set(made)) == 1


FIXED = """r ← {(a n) ← ⍵ ⋄ live ← a<100 ⋄ (live¿(a×1.5 ⋄ a) ⋄ n+live)}⍣60 ⊢ (1+f×f ⋄ i64 0>f-f)
r ← {⍵⌈0.5×⍵}⍣33 ⊢ f
r ← {⍵∧b}⍣17 ⊢ b
r ← {0.5×⍵}⍣2000 ⊢ f
r ← {1.5×⍵}⍣2000 ⊢ f
r ← {⍵-⍵}⍣25 ⊢ f""".splitlines()


@pytest.mark.parametrize("text", FIXED)
def test_loops_that_come_to_rest(text: str) -> None:
    """They stop before the last turn, where no bit changes any more."""
    core = checked(DECLARED + kept(text))
    assert core is not None
    for n in (5, 7, 23):
        assert not agree(core, data(n, 2, 3)), (text, n)
