"""A loop of very many turns over a few items runs as the kernel that its prediction is of, from its first run on."""

from __future__ import annotations

import pytest

import rho
from rho.backend.jit import tiering
from rho.backend.vm import interpreter


@pytest.mark.parametrize("program", ["{1+⍵×0.5}⍣300000 ⊢ N÷3.0", "{1+⍵×0.25}⍣300000 ⊢ (√⍳3)+N"])
def test_first_runs(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "auto")
    calls = 0
    turn = interpreter._rotate_state

    def counted(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        assert calls < 1000, "the loop is run turn by turn"
        return turn(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(interpreter, "_rotate_state", counted)
    rho.eval(program.replace("N", "7"))
