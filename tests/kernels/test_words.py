"""Programs of words: Python and native calls go through the same ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from values import is_within

import rho
from rho.backend.jit import tiering
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE

pytestmark = pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")

X = np.arange(1.0, 11.0)
ROWS = np.arange(30.0).reshape(3, 10)[:, ::-1]


def times(count: int, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for _ in range(count):
            x = function(x)
        return x

    return run


def scan(x: Any) -> Any:
    made = [x[0]]
    for item in x[1:]:
        made.append(made[-1] + item * 0.5)
    return np.array(made)


def fold(x: Any) -> Any:
    state = x[-1]
    for item in x[-2::-1]:
        state = item + state * 0.5
    return state


def over(rows: Any, x: Any) -> Any:
    for row in rows:
        x = row - x[::-1]
    return x


CASES = {
    "loop": ("{{⍵[⍋⍵]×0.5}⍣3⊢⍵}", (X,), times(3, lambda x: np.sort(x) * 0.5)),
    "states": ("{{⍵[⍋⍵]×0.5}⍣\\3⊢⍵}", (X,), lambda x: np.array([times(n, lambda x: np.sort(x) * 0.5)(x) for n in range(4)])),
    "fold": ("{{⍺+⍵×0.5}/⍵}", (X,), fold),
    "scan": ("{{⍺+⍵×0.5}\\⍵}", (X,), scan),
    "branch, first": ("{(+/⍵)>3: ⍵×2 ⋄ ⍵+1}", (X,), lambda x: x * 2),
    "branch, second": ("{(+/⍵)>300: ⍵×2 ⋄ ⍵+1}", (X,), lambda x: x + 1),
    "map": ("{{⍵[⍋⍵]+1}⍤1⊢⍵}", (ROWS,), lambda x: np.sort(x, 1) + 1),
    "fold over cells": ("{{⍺-⌽⍵}⍣⍺⊢⍵}", (ROWS, X), over),
    "selection inside": ("{{+/(⍵>3)/⍵}⍤1⊢⍵}", (ROWS,), lambda x: np.array([row[row > 3].sum() for row in x])),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("runs", ["step by step", "native"])
def test_words(name: str, runs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    text, given, expected = CASES[name]
    function: Any = rho.compile(text)
    if runs == "step by step":
        monkeypatch.setattr("rho.backend.vm.executor.native_program", lambda *arguments: None)
        monkeypatch.setattr("rho.backend.cpu.regions.RegionRun.run", lambda *arguments: None)
    for _ in range(12):
        assert is_within(function(*given), expected(*given))
    assert (function._latest(*given) is not NOT_APPLICABLE) == (runs == "native")


def test_scans_and_folds_of_nothing() -> None:
    with pytest.raises(rho.RhoError, match="E204"):
        rho.compile("{{⍺+⍵×0.5}/⍵}")(np.zeros(0))
    selected: Any = rho.compile("{{⍺+⍵×0.5}\\(⍵>3)/⍵}")
    for _ in range(12):
        assert is_within(selected(X), scan(X[X > 3]))
        assert selected(np.zeros(10)).shape == (0,)
