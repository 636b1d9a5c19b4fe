"""Vectors that give one number an axis are refused before anything is made of each number."""

from __future__ import annotations

import pytest

from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session
from rho.typechecker.core import builder

PROGRAMS = ["⍳⍳N", "⍳N⍴3", "(⍳N)⍴1", "(N⍴2)⍴1", "(⍳N)↑1 2 3", "(⍳N)↓1 2 3", "(⍳N)↕⍳10", "(2×⍳N)⍴1", "((⍳N),⍳N)⍴1"]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("count", [300, 4_000, 1_000_000])
def test_they_cost_nothing(program: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    emit = builder.Builder.emit

    def counted(*arguments: object, **named: object) -> object:
        nonlocal made
        made += 1
        assert made < 100, "an operation for each number"
        return emit(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(builder.Builder, "emit", counted)
    checked = Session().check(Source("<test>", program.replace("N", str(count))))
    assert [found.code for found in checked.diagnostics] == ["E620"]
    assert "15 axes" in checked.diagnostics[0].message
