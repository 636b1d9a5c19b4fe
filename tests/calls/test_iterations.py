"""A check that fails in a loop says in which iteration, whatever runs the loop: Python's words, native ones, machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.jit import tiering

pytestmark = pytest.mark.long

X = np.arange(5.0)
KEYS = np.arange(300) % 5
BAD = KEYS.copy()
BAD[[217, 230]] = 9, 8

CASES = {
    "a loop": ("{k←⍺ ⋄ x←⍵ ⋄ {⍵+x[k[⍺]]}⍣(⍳≢k) ⊢ 0.0}", ["in iteration 217 (counted from 0)"]),
    "every state": ("{k←⍺ ⋄ x←⍵ ⋄ {⍵+x[k[⍺]]}⍣\\(⍳≢k) ⊢ 0.0}", ["in iteration 217 (counted from 0)"]),
    "a state in memory": ("{k←⍺ ⋄ {s←⍵ ⋄ s[k[⍺]]←s[k[⍺]]+1 ⋄ s}⍣(⍳≢k) ⊢ ⍵}", ["in iteration 217 (counted from 0)"]),
    "a fold, from the last item": ("{x←⍵ ⋄ {⍵+x[i64 ⌊⍺]}/f64 ⍺}", ["at item 230 (counted from 0)"]),
    "a scan": ("{x←⍵ ⋄ {⍺+x[i64 ⌊⍵]}\\f64 ⍺}", ["at item 217 (counted from 0)"]),
    "cells": ("{x←⍵ ⋄ {k←⍵ ⋄ {⍵+x[k+0×i64 ⌊⍵]}⍣(4⌊0⌈1+k) ⊢ 0.0}¨⍺}", ["in cell 217 (counted from 0)"]),
}


def failure(function: Any) -> rho.RunFailed:
    with pytest.raises(rho.RunFailed) as caught:
        function(BAD, X)
    return caught.value


@pytest.mark.parametrize("mode", ["off", "auto", "always"])
@pytest.mark.parametrize("name", CASES)
def test_iterations(name: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text, labels = CASES[name]
    monkeypatch.setenv(tiering.SWITCH, mode)
    function = rho.compile(text)
    for runs in (1, 4, 40):  # native words come after some runs
        for _ in range(runs):
            function(KEYS, X)
        (diagnostic,) = failure(function).diagnostics
        assert diagnostic.code.name == "E310"
        assert [label.message for label in diagnostic.labels][-1:] == labels
        assert function(KEYS, X).shape is not None  # an error leaves no trace


def test_loops_in_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "off")
    function = rho.compile("{x←⍵ ⋄ k←⍺ ⋄ {i←⍺ ⋄ ⍵+{⍵+x[k[⍺+i]]}⍣(⍳3) ⊢ 0.0}⍣(⍳298) ⊢ 0.0}")
    (diagnostic,) = failure(function).diagnostics
    assert [label.message for label in diagnostic.labels] == [
        "in iteration 2 (counted from 0)", "in iteration 215 (counted from 0)",
    ]  # fmt: skip


def test_memory_is_nobodys_iteration() -> None:
    function = rho.compile("{n←⍵ ⋄ {⍵++/f64 ⍳n×⍺}⍣(⍳3) ⊢ 0.0}")
    with pytest.raises(rho.RhoError) as caught:
        function(1 << 45)
    assert not caught.value.diagnostics[0].labels or "iteration" not in caught.value.diagnostics[0].labels[0].message
