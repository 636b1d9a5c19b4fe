"""Ranges of integers to the number: what may come out is what is said to, no more and no less (ranges.md: indices)."""

from __future__ import annotations

from itertools import product

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.core import operations as c
from rho.typechecker.elements import Element

RANGES = ((0, 0), (0, 3), (1, 4), (-2, 3), (-4, -1))
DYADIC = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "×": lambda a, b: a * b, "⌊": min, "⌈": max,
}  # fmt: skip
MONADIC = {"-": lambda a: -a, "|": abs, "×": lambda a: (a > 0) - (a < 0)}


def declared(low: int, high: int) -> str:
    return f"int<{low}..{high}>".replace("-", "¯")


def core(text: str) -> c.Core:
    found = check(Source("<test>", text))
    assert found.core is not None, [d.message for d in found.diagnostics]
    return found.core


def element(text: str) -> Element:
    """Of what the program shows last."""
    made = core(text)
    shown = [op.arg for op in made.block.ops if isinstance(op, c.CorePrint)]
    return made.types[shown[-1]].element


@pytest.mark.parametrize("function", DYADIC)
@pytest.mark.parametrize("left", RANGES, ids=str)
@pytest.mark.parametrize("right", RANGES, ids=str)
def test_a_range_of_two_is_that_of_all_pairs(function: str, left: tuple[int, int], right: tuple[int, int]) -> None:
    found = element(f"input i : {declared(*left)}\ninput j : {declared(*right)}\ni{function}j")
    values = [DYADIC[function](a, b) for a, b in product(range(left[0], left[1] + 1), range(right[0], right[1] + 1))]
    assert (found.low, found.high) == (min(values), max(values))


@pytest.mark.parametrize("function", MONADIC)
@pytest.mark.parametrize("given", RANGES, ids=str)
def test_a_range_of_one_holds_every_value(function: str, given: tuple[int, int]) -> None:
    found = element(f"input i : {declared(*given)}\n{function}i")
    values = [MONADIC[function](a) for a in range(given[0], given[1] + 1)]
    assert found.low is not None and found.high is not None
    assert found.low <= min(values) and max(values) <= found.high


SYMBOLIC = [
    ("int<0..n>", "+", "int<0..m>", 0, "n+m"), ("int<0..n>", "+", "int<1..3>", 1, "n+3"),
    ("int<0..n>", "-", "int<1..3>", -3, "n-1"),
    ("int<2..n>", "⌊", "int<0..3>", 0, "3⌊n"), ("int<0..n>", "⌊", "int<0..m>", 0, "n⌊m"),
    ("int<0..n>", "⌈", "int<0..m>", 0, "n⌈m"),
    ("int<0..n>", "⌈", "int<1..3>", 1, "3⌈n"), ("int<1..3>", "|", "int<0..n>", 0, "2"),
]  # fmt: skip


@pytest.mark.parametrize(("left", "function", "right", "low", "top"), SYMBOLIC, ids=[f"{a}{f}{b}" for a, f, b, _, _ in SYMBOLIC])
def test_bounds_that_are_sizes(left: str, function: str, right: str, low: int, top: str) -> None:
    found = element(f"input x : f64[n]\ninput y : f64[m]\ninput i : {left}\ninput j : {right}\ni{function}j")
    assert (found.low, str(found.symbolic_max if found.symbolic_max is not None else found.high)) == (low, top)
