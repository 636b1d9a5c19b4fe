"""`--strict` keeps the code of where a fact came from."""

from __future__ import annotations

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import check

STRICT = [
    ("input x : f64[n]\n⌈/x", "E204", "1 ≤ n"),
    ("input x : f64[n]\ninput y : f64[m]\nx + y", "E101", "n = m"),
    ("input x : f64[n k]\ninput y : f64[m j]\nx +.× y", "E102", "k = m"),
    ("input x : f64[n k]\ninput y : f64[m j]\nx ⍪ y", "E103", "k = j"),
    ("input x : f64[n]\n5↕x", "E202", "5 ≤ n"),
    ("input x : f64[n]\n3 _⍴x", "E201", "3 ∣ n"),
    ("input x : f64[n]\n⌊6÷≢x", "E203", "1 ≤ n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "goal"), STRICT)
def test_strict_keeps_the_code_of_the_origin(text: str, code: str, goal: str) -> None:
    (warning,) = check(Source("<test>", text)).diagnostics
    assert (warning.code, warning.origin, warning.goal) == ("W201", code, goal)
    result = check(Source("<test>", text), strict=True)
    (found,) = result.diagnostics
    assert result.core is None
    assert (found.code, found.goal) == (code, goal)
    assert "checked when the program is loaded" not in found.notes
