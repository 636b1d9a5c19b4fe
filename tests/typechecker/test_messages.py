"""What messages say of numbers, and what they do not say (messages.md: what they say)."""

from __future__ import annotations

import pytest

import rho
from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.proof.obligations import Relation, SizeFact
from rho.typechecker.sizes.polynomials import SizeOrigin, SizeVariable, number, variable
from rho.typechecker.sizes.size import quotient

N, M = (SizeVariable(name, i, SizeOrigin.INPUT) for i, name in enumerate("nm"))
n, m = variable(N), variable(M)


BROKEN = [
    (SizeFact(Relation.AT_MOST, number(1), n), {N: 0}, "1 ≤ n does not hold with n=0"),
    (SizeFact(Relation.EQUAL, quotient(n * m, 8) * 8, n * m), {N: 3, M: 3},
     "8×((n×m)÷8) = n×m does not hold with n=3, m=3: the left is 8, the right is 9"),
    (SizeFact(Relation.AT_MOST, number(0), n - 5), {N: 2}, "0 ≤ n-5 does not hold with n=2: the right is ¯3"),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "sizes", "text"), BROKEN)
def test_a_broken_fact_gives_every_number_once(fact: SizeFact, sizes: dict[SizeVariable, int], text: str) -> None:
    assert fact.describe_failure(sizes) == text


def test_hints_name_nothing_that_is_not_in_the_program() -> None:
    text = "(2 3⍴1.5) - 1.5 2.5 3.5 + 1.5 2.5 3.5 + 1.5 2.5 3.5 + 1.5 2.5 3.5 × 1.5 2.5 3.5"
    (found,) = check(Source("<test>", text)).diagnostics
    assert found.code == "E101"
    assert any("⍤1" in text for text in (*found.notes, *[fix.title for fix in found.fixes]))
    assert not any("`b`" in note or " b " in note for note in (*found.notes, *[fix.title for fix in found.fixes]))


@pytest.mark.parametrize(("glyph", "name"), [("⌈", "greatest"), ("⌊", "least")])
def test_extremes_of_bins_are_offered_the_function_of_groups(glyph: str, name: str) -> None:
    (refused,) = check(Source("<test>", f"3{glyph}⌸(0 2 2 ⋄ 1 2 3)")).diagnostics
    assert refused.code == "E204" and any(f"`i group.{name} v`" in note for note in refused.notes)
    assert rho.compile(f"use group ⋄ {{(3|⍳≢⍵) group.{name} ⍵}}")([4.0, 2.0]).shape == (3,)
