"""Facts of signatures that need one another, in every order."""

from __future__ import annotations

from itertools import permutations

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import check

FACTS = ("2∣k-1", "k≥m+1", "m≥1", "(k-1)≥2×m")


@pytest.mark.parametrize("order", list(permutations(FACTS)))
def test_the_order_of_facts_means_nothing(order: tuple[str, ...]) -> None:
    stated = ", ".join(order)
    signature = f"f : f64[k-m] → f64[k] → f64[m] → f64[k] where {stated}\nf ← {{⍵}}"
    function = f"f : f64[k] → f64[m] → f64[(k+1)-m] where {stated}\nf ← {{⍵,(((≢⍺)+1)-2×≢⍵)⍴0.5}}"
    inputs = f"input x : f64[k]\ninput y : f64[m] where {stated}\n(≢x)-≢y"
    assert [d.code for d in check(Source("<test>", signature)).diagnostics] == ["E011"]  # at most two arguments
    for text in (function, inputs):
        assert check(Source("<test>", text)).diagnostics == (), text


def test_facts_that_need_one_another_are_refused() -> None:
    """Neither can be read without the other: nothing shows that the subtractions are sizes."""
    text = "f : f64[n] → f64[m] → f64[n] where (n-m) ≥ 0, (m-n) ≥ 0\nf ← {⍺}"
    assert {d.code for d in check(Source("<test>", text)).diagnostics} == {"E202"}
