"""Integers that leave their type: E330 where the result is known, W330 where finite ranges of all operands allow it."""

from __future__ import annotations

import itertools

import pytest
from share import share

from rho.lang.source import Source
from rho.typechecker.check import check

INPUTS = "input u : u8[n]\ninput w : i32[n]\ninput v : i64[n]\ninput b : bool[n]\ninput i : idx<100>[n]\nparam k ← 3\n"

KNOWN = [
    ("2*100", "*"), ("×/1+⍳25", "×/"), ("200×u8 2", "×"), ("(u8 200)×2", "×"), ("-¯9223372036854775808", "-"),
    ("(u8 200)+100", "+"),
    ("|¯9223372036854775808", "|"), ("9223372036854775807+1", "+"), ("+/9223372036854775807 1", "+/"),
    ("(i32 2147483647)+1", "+"),
    ("-i32 ¯2147483648", "-"), ("¯3*63", "*"), ("n ← 10000000000\nn×n", "×"), ("×/100⍴10", "×/"),
    ("1 2+9223372036854775807 9223372036854775806", "+"),
]  # fmt: skip
MAYBE = [
    ("u+u", "+"), ("u-1", "-"), ("2×u", "×"), ("-u", "-"), ("u*2", "*"), ("u+b", "+"),
    ("9000000000000000000+i×10000000000000000", "+"),
    ("{⍵+⍵}u", "+"), ("i×1000000000000000000", "×"),
]  # fmt: skip
QUIET = [
    "v+v", "v×1000000000000", "w+w", "w×100000", "-v", "3|u", "u⌈3", "u÷2", "(i64 u)×2", "3 ⎕shl u", "u⎕band 3",
    "v*2", "k×1000000000000",
    "(≢v)×≢v", "+/u", "i+1", "i×i", "b+b", "2*62", "¯2*63", "1000×⍳1000", "+/⍳1000", "1*1000000", "f64 u×1",
    "9223372036854775807.0+1",
    "×/1+⍳20", "u×b", "1000000007|48271×1000000007|v",
]  # fmt: skip


def marked(text: str) -> list[tuple[str, str]]:
    found = check(Source("<test>", INPUTS + text)).diagnostics
    return [(d.code, (INPUTS + text)[d.span.start : d.span.end]) for d in found]


@pytest.mark.parametrize(("text", "sign"), KNOWN)
def test_a_known_result_that_does_not_fit_is_refused(text: str, sign: str) -> None:
    assert [(code, sign.startswith(mark)) for code, mark in marked(text)] == [("E330", True)]


@pytest.mark.parametrize(("text", "sign"), MAYBE)
def test_a_result_that_may_not_fit_is_warned_of_once(text: str, sign: str) -> None:
    assert marked(text) == [("W330", sign)]


@pytest.mark.parametrize("text", QUIET)
def test_nothing_is_said(text: str) -> None:
    assert marked(text) == []


LIMITS = {"u8": (0, 255), "i32": (-(2**31), 2**31 - 1), "i64": (-(2**63), 2**63 - 1)}
EXACT = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "×": lambda x, y: x * y}
HARD = {kind: sorted({low, low + 1, low // 2, 0, 1, 2, 3, high // 3, high // 2, high - 1, high} & set(range(low, high + 1)))
        if kind == "u8" else sorted({low, low + 1, low // 2, -1, 0, 1, 2, 3, high // 3, high // 2, high - 1, high})
        for kind, (low, high) in LIMITS.items()}  # fmt: skip
PAIRS = [(kind, sign, x, y) for kind in LIMITS for sign in EXACT for x, y in itertools.product(HARD[kind], repeat=2)]


@pytest.mark.parametrize(("kind", "sign", "x", "y"), share(PAIRS, seed=330))
def test_refused_exactly_where_the_result_does_not_fit(kind: str, sign: str, x: int, y: int) -> None:
    low, high = LIMITS[kind]
    text = f"({kind} {x}){sign}{kind} {y}".replace("-", "¯").replace(")¯", ")-")
    codes = [d.code for d in check(Source("<test>", text)).diagnostics]
    assert codes == ([] if low <= EXACT[sign](x, y) <= high else ["E330"]), text
