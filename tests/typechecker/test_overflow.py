"""Integers that leave their type are refused exactly where the result does not fit (ranges.md: where nothing is known)."""

from __future__ import annotations

import itertools

import pytest
from share import share

from rho.lang.syntax.source import Source
from rho.typechecker.check import check

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


@pytest.mark.parametrize("text", ["+/10000000000⍴1000000000", "+/+/100000 100000⍴1000000000", "+⌿(⍳5000000)×⍳5000000",
                                  "+/+/(⍳100000)∘.×⍳100000", "input u : u8[3]\n+/100000000000000000⍴⊃u"])  # fmt: skip
def test_a_sum_of_so_many_items_of_a_range_may_not_fit(text: str) -> None:
    assert [d.code for d in check(Source("<test>", text)).diagnostics if d.code.startswith(("E", "W33"))] == ["W330"], text


@pytest.mark.parametrize("text", ["+/⍳3000000", "+/3 4⍴⍳12", "input x : i64[1000000]\n+/x", "input x : i32[1000000]\n+/x",
                                  "input u : u8[1000000]\n+/u", "input b : bool[n]\n+/b", "input x : f64[9]\n+/x×1000000000000",
                                  "+/0⍴5", "+/3 0⍴9000000000000000000"])  # fmt: skip
def test_sums_that_fit_or_of_plain_data_are_not_warned_of(text: str) -> None:
    assert not [d.code for d in check(Source("<test>", text)).diagnostics], text


def test_a_value_that_the_ranges_determine_is_named_once() -> None:
    (warning,) = check(Source("<test>", "(10*18)×10*18")).diagnostics
    assert warning.message.startswith(f"this is {10**36}, and i64 wraps")
