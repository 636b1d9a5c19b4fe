"""The arithmetic of grades, and how a signature states them (quantities.md: those of programs)."""

from __future__ import annotations

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import check
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, number, variable
from rho.typechecker.sizes.size import maximum
from rho.typechecker.usage.backward_analysis import ANY, NONE, ONCE, Grade, exactly, up_to
from rho.typechecker.usage.check_moves import grade_text

N, M = (SizeVariable(name, id, SizeOrigin.INPUT) for id, name in enumerate("nm"))
K = SizeVariable("k", 2, SizeOrigin.RUNTIME, variable(N))


def size(which: SizeVariable) -> Size:
    return variable(which)


def test_zero_times_omega_is_zero() -> None:
    assert NONE.times(ANY) == NONE
    assert ANY.times(NONE) == NONE
    assert ANY.times(exactly(2)) == ANY


def test_sums_products_and_joins() -> None:
    n = exactly(size(N))
    assert str(n.plus(ONCE)) == "n+1"
    assert str(n.times(exactly(2)).plus(up_to(1))) == "2×n..(2×n)+1"
    assert str(n.join(NONE)) == "0..n"
    assert str(n.join(n.plus(ONCE))) == "n..n+1"


def test_sizes_known_when_run_count_up_to_their_cap() -> None:
    assert str(exactly(size(K))) == "0..n"
    assert str(exactly(size(K) * 2 + 1)) == "1..(2×n)+1"
    assert str(exactly(size(N) - size(K))) == "0..n"


def test_large_formulas_are_given_up() -> None:
    variables = [variable(SizeVariable(f"v{i}", 10 + i, SizeOrigin.INPUT)) for i in range(70)]
    total = NONE
    for one in variables:
        total = total.plus(exactly(one))
    assert total.high is None
    assert len(total.low.terms) <= 64


def test_within_is_decided_by_the_sizes() -> None:
    assert ONCE.within(Grade(Size({}), size(N) + 1), ())
    assert not exactly(size(N)).within(ONCE, ())


def test_grades_as_a_signature_states_them() -> None:
    assert grade_text(exactly(size(N) * 2 + size(M))) == "(2×n)+m"
    assert grade_text(up_to(1)) == "0..1"
    assert grade_text(ANY) == "ω"
    assert grade_text(exactly(maximum(size(N), size(M)))) == "n⌈m"
    assert grade_text(exactly(size(N) - size(M) + 1)) == "(n+1)-m"


@pytest.mark.parametrize("quantity", ["(2×n)+m", "0..1", "(n+1)-m", "n⌈m", "0..(n⌈1)", "ω", "((2×n)+1)-m"])
def test_written_quantities_parse(quantity: str) -> None:
    program = f"f : {quantity} f64[n] → ω f64[m] → i64 where m ≤ n\nf ← {{≢⍺}}"
    assert {d.code for d in check(Source("<test>", program)).diagnostics} <= {"E503"}


def test_a_grade_that_holds_two_is_unbounded_if_one_is() -> None:
    bounded, unbounded = Grade(number(1), number(2)), Grade(number(1), None)
    assert bounded.join(unbounded).high is None
    assert unbounded.join(bounded).high is None
    assert bounded.join(Grade(number(0), number(5))) == Grade(number(0), number(5))


def test_the_reads_that_a_signature_leaves_out_are_those_of_all_ranks() -> None:
    trim = """trim : char[..s n] → char[..s k≤n]
trim ← {
  lengths ← {b ← ⍵≠' ' ⋄ +/(∨\\b)∧⌽∨\\⌽b}⍤1 ⊢ ⍵
  ((⌈/0,,lengths)>⍳n)/{(+/∧\\⍵=' ')⌽⍵}⍤1 ⊢ ⍵
}
"""
    result = check(Source("<test>", trim))
    (line,) = result.signatures()["trim"]
    assert line.startswith("trim : 2..3 ")
    assert not [d for d in check(Source("<test>", line + trim[trim.index("\n") :])).diagnostics if d.is_error]
