"""What is known of integers is true of them: declared bounds that are sizes are proved, fills of empty arrays are no positions,
and a bound that the values may have wrapped past proves nothing."""

from __future__ import annotations

import pytest

from rho.lang.source import Source
from rho.typechecker.check import check

INPUT = 'input x : i64[n] ← "x.npy"\n'
SOME = 'input x : i64[n] ← "x.npy" where n ≥ 1\n'
PARAM = "param p ← 5000000000 where p ≥ 1\n"


def codes(text: str) -> list[str]:
    return [d.code for d in check(Source("<test>", text)).diagnostics]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a declared bound that is a size
        (INPUT + "y : int<0..n> ← +/x>0", []),
        (INPUT + "y : int<0..n> ← ≢x", []),
        (SOME + "y : int<0..n> ← (≢x)-1", []),
        (INPUT + 'input z : i64[m] ← "z.npy"\ny : int<0..m> ← +/x>0', ["W201"]),
        (INPUT + "y : int<0..n> ← 9", ["W201"]),
        (INPUT + "y : int<0..n> ← 1++/x>0", ["E302"]),
        (SOME + "y : idx<n> ← (≢x)-1", []),
        (INPUT + "y : idx<n+1> ← +/x>0", []),
        (INPUT + "y : idx<n> ← +/x>0", ["E310"]),
        # the fill of an empty array is 0, which is no position of it
        (INPUT + "x[5↑⍋x]", ["W310"]),
        (INPUT + "x[5⍴⍋x]", ["W310"]),
        (SOME + "x[5↑⍋x]", []),
        (SOME + "x[5⍴⍋x]", []),
        # integers wrap: below what may exceed i64 lies everything
        (PARAM + INPUT + "i ← p|x\n10 20 30[2⌊i×i]", ["W310"]),
        (PARAM + INPUT + "i ← p|x\n10 20 30[2⌊i+i]", ["W310"]),
        (PARAM + INPUT + "10 20 30[2⌊(p×p)|x]", ["W310"]),
        (PARAM + INPUT + "(⍳3)[2⌊x⌊p×p]", ["W310"]),
        (PARAM + INPUT + "10 20 30[2⌊p|x]", []),
        (SOME + "10 20 30[2⌊(≢x)|x]", []),
        # a size has a least and a greatest value
        (SOME + "⍳3⌊≢x", []),
        (INPUT + "⍳3⌊0⌈+/x", []),
        ('input x : i64[n] ← "x.npy" where n ≥ 4\n(1⌈3⌊+/x)↕x', []),
        ('input x : i64[n] ← "x.npy" where n ≥ 4\n(0⌈3⌊+/x)↕x', ["E202"]),
        (INPUT + "⍳3⌊+/x", ["E403"]),
        (INPUT + "(×+/x)↑x", ["E403"]),
        (INPUT + "(-3⌊0⌈+/x)↑x", []),
        (INPUT + "(¯3⌈0⌊+/x)↑x", []),
    ],
)
def test_ranges(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


SUM = "f : f64[k≤n] → f64[k≤n] → f64[k]\nf ← {⍺+⍵}\n" + 'input x : f64[n] ← "x.npy"\nb ← x>1\n'
HALVES = "f : f64[n] → (f64[k≤n] ⋄ f64[k≤n])\nf ← {b ← ⍵>0 ⋄ (b⌿⍵ ⋄ b⌿-⍵)}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SUM + "(b⌿x) f b⌿-x", []),
        (SUM + "(b⌿x) f (x>2)⌿x", ["E140"]),
        (HALVES + "(p q) ← f 1 2 ¯3\np+q", []),
    ],
)
def test_a_name_that_opens_lengths_is_one_length(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f : f64[k≤n] → f64[n] → f64[n]\nf ← {(≢⍵)↑⍺}\n1 2 f 1 2 3", []),
        ("f : f64[k≤n] → f64[n] → f64[n]\nf ← {(≢⍵)↑⍺}\n1 2 3 4 f 1 2 3", ["E200"]),
        ("f : f64[n] → f64\nf : f64[n] → bool\nf ← {1=+/⍵}", ["E011"]),
    ],
)
def test_each_name_of_a_signature_has_one_meaning(text: str, expected: list[str]) -> None:
    assert codes(text) == expected
