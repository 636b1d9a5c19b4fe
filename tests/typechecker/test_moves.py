"""`move` in a schedule: what is moved is read at most once (E502); and `--strict` keeps the code of where a fact came from."""

from __future__ import annotations

import pytest

from rho.lang.diagnostics import Diagnostic
from rho.lang.source import Source
from rho.typechecker.check import check

MOVE = "schedule {\n  move x gpu0\n}\n"


def only(text: str, *, strict: bool = False) -> Diagnostic:
    result = check(Source("<test>", text), strict=strict)
    (found,) = result.diagnostics
    assert result.core is None
    return found


ACCEPTED = [
    "input x : f64[n]\n" + MOVE + "+/x",
    "input x : f64[n]\n" + MOVE + "≢x",
    "input x : f64[n]\n" + MOVE + "(2↑x) , 2↓x",
    "input x : f64[n]\n" + MOVE + "y ← x×2\ny + y",
    "input x : f64[n]\ninput A : f64[n m] where m ≤ 1\n" + MOVE + "A + x",
    "x ← 3\n" + MOVE + "1 + 1",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_moved_and_read_once(text: str) -> None:
    assert not check(Source("<test>", text)).diagnostics


REJECTED = [
    ("x + x", "x", "2 times"),
    ("g ← ⌽x\ng + x", "x", "2 times"),
    ("{+/⍵×x}⍤0 ⊢ ⍳3", "{+/⍵×x}", "3 times"),
    ("x + 1\nx", "x", "2 times"),
]  # fmt: skip


@pytest.mark.parametrize(("rest", "at", "often"), REJECTED)
def test_moved_and_read_again(rest: str, at: str, often: str) -> None:
    text = "input x : f64[n]\n" + MOVE + rest
    found = only(text)
    assert found.code == "E502"
    assert found.message == f"`x` is moved by the schedule, so it can be read once, but it is read {often}"
    assert text[found.labels[0].span.start - 5 : found.labels[0].span.end] == "move x"
    assert found.fixes[0].edits[0].text == "replicate x"


def test_what_depends_on_sizes_has_an_example_that_breaks_it() -> None:
    found = only("input x : f64[n]\ninput A : f64[n m]\n" + MOVE + "A + x")
    assert (found.code, found.goal, found.counterexample) == ("E502", "m ≤ 1", {"m": 2})


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
    found = only(text, strict=True)
    assert (found.code, found.goal) == (code, goal)
    assert "checked when the program is loaded" not in found.notes
