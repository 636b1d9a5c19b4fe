"""Verdicts on size facts are sound, and every counterexample really falsifies its fact."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rho.lang.diagnostics.model import Verdict
from rho.typechecker.proof.obligations import Relation, SizeFact
from rho.typechecker.proof.prover import connected, prove
from rho.typechecker.sizes.polynomials import ONE, ZERO, Size, SizeOrigin, SizeVariable, as_size, number, variable
from rho.typechecker.sizes.size import maximum, minimum, quotient, remainder, truncated_subtract  # fmt: skip

N, M, K, H, D = (SizeVariable(name, i, SizeOrigin.INPUT) for i, name in enumerate("nmkhd"))
n, m, k, h, d = (variable(v) for v in (N, M, K, H, D))
c = variable(SizeVariable("c", 9, SizeOrigin.RUNTIME, cap=n))


def fact(left: Size | int, relation: str, right: Size | int) -> SizeFact:
    return SizeFact(Relation(relation), as_size(left), as_size(right))


@pytest.mark.parametrize(
    ("goal", "premises"),
    [
        (fact(n + m, "=", m + n), []),
        (fact(14, "=", 14), []),
        (fact(c, "≤", n), []),
        (fact(minimum(n, m), "≤", n), []),
        (fact(n, "≤", maximum(n, m)), []),
        (fact(maximum(n, 2) - 1, "=", maximum(n - 1, 1)), []),
        (fact(n, "≤", number(8) * quotient(n + 7, 8)), []),
        (fact(0, "≤", truncated_subtract(n, k)), []),
        (fact(n - k, "=", truncated_subtract(n, k)), [fact(k, "≤", n)]),
        (fact(k * m, "≤", n * m), [fact(k, "≤", n)]),
        (fact(n, "=", m), [fact(n, "=", m)]),
        (fact(h * quotient(d, h), "=", d), [fact(h, "∣", d), fact(1, "≤", h)]),
        (fact(quotient(n, 2) * 2, "=", n), [fact(2, "∣", n)]),
        (fact(1, "≤", n - 1), [fact(3, "≤", n)]),
        (fact(remainder(n, m), "<", m), [fact(1, "≤", m)]),
        (fact(3, "∣", n * 3 + 6), []),
        (fact(n + 1, "≠", 0), []),
    ],
)
def test_proved(goal: SizeFact, premises: list[SizeFact]) -> None:
    assert prove(goal, premises).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "goal",
    [
        fact(14, "=", 15), fact(n + 5, "=", n), fact(n * 2 + 1, "=", m * 2), fact(n + 1, "=", 0), fact(n + 1, "≤", n),
        fact(2, "∣", n * 2 + 1), fact(n, "<", 0), fact(n, "≠", n),
    ],
)  # fmt: skip
def test_never(goal: SizeFact) -> None:
    assert prove(goal).verdict is Verdict.NEVER


@pytest.mark.parametrize(
    ("goal", "example"),
    [
        (fact(n, "=", m), {N: 0, M: 1}),
        (fact(truncated_subtract(n, 1), "=", truncated_subtract(n, 2)), {N: 2}),
        (fact(h * quotient(d, h), "=", d), {H: 0, D: 1}),
        (fact(number(8) * quotient(n * m, 8), "=", n * m), {N: 1, M: 1}),
        (fact(1, "≤", n), {N: 0}),
    ],
)
def test_depends_with_the_smallest_counterexample(goal: SizeFact, example: dict[SizeVariable, int]) -> None:
    decision = prove(goal)
    assert decision.verdict is Verdict.DEPENDS
    assert dict(decision.counterexample or {}) == example


def test_a_minimum_is_a_premise() -> None:
    big = variable(SizeVariable("b", 11, SizeOrigin.RIGID, minimum=3))
    assert prove(fact(2, "≤", big - 1)).verdict is Verdict.PROVED
    assert prove(fact(n, "≤", big * n)).verdict is Verdict.PROVED


atoms = st.sampled_from([ZERO, ONE, n, m, k, number(2), quotient(n, 2), maximum(n, m), minimum(m, k), truncated_subtract(n, k),
    n * m])
sizes = st.builds(lambda a, b, s: a + b if s else a - b, atoms, atoms, st.booleans())
facts = st.builds(SizeFact, st.sampled_from(list(Relation)), sizes, sizes)


@settings(max_examples=300, deadline=None)
@given(facts, st.lists(facts, max_size=2))
def test_verdicts_are_sound(goal: SizeFact, premises: list[SizeFact]) -> None:
    decision = prove(goal, premises)
    if decision.counterexample is not None:
        env = dict.fromkeys((N, M, K, H, D), 0) | dict(decision.counterexample)
        assert not goal.holds(env)
        assert all(p.holds(env) for p in connected(goal, premises))
        return
    if decision.verdict is Verdict.UNKNOWN:
        return
    wanted = decision.verdict is Verdict.PROVED
    for a in range(5):
        for b in range(5):
            for e in range(4):
                env = {N: a, M: b, K: e}
                if all(p.holds(env) for p in premises):
                    assert goal.holds(env) is wanted, env


@pytest.mark.parametrize(
    ("goal", "premises", "verdict"),
    [
        (SizeFact(Relation.LESS, ZERO, quotient(n, number(20))), [SizeFact(Relation.AT_MOST, number(20), n)], Verdict.PROVED),
        (SizeFact(Relation.LESS, ONE, quotient(n, number(20))), [SizeFact(Relation.AT_MOST, number(20), n)], Verdict.DEPENDS),
        (SizeFact(Relation.LESS, ZERO, quotient(n, k)), [SizeFact(Relation.AT_MOST, k, n), SizeFact(Relation.LESS, ZERO, k)],
         Verdict.PROVED),
        (SizeFact(Relation.AT_MOST, quotient(n, number(2)), number(3)), [SizeFact(Relation.LESS, n, number(8))], Verdict.PROVED),
        (SizeFact(Relation.LESS, quotient(n, number(2)), n), [SizeFact(Relation.LESS, ZERO, n)], Verdict.PROVED),
        (SizeFact(Relation.LESS, quotient(n, number(2)), n), [], Verdict.DEPENDS),
        (SizeFact(Relation.LESS, ZERO, quotient(n, number(2)) * 3 - 5), [SizeFact(Relation.LESS, number(3), n)], Verdict.PROVED),
    ],
)  # fmt: skip
def test_quotients_are_bounded_exactly(goal: SizeFact, premises: list[SizeFact], verdict: Verdict) -> None:
    assert prove(goal, premises).verdict is verdict


def test_a_negative_divisor_says_nothing_of_signs() -> None:
    """`-1 ∣ k` once made k minus a natural number, so that k = 0 was proved."""
    premises = [fact(-k, "≤", ZERO), SizeFact(Relation.DIVIDES, ZERO - 1, k)]
    assert prove(fact(ZERO, "=", -k), premises).verdict is Verdict.DEPENDS


@pytest.mark.parametrize(
    ("base", "value", "holds"),
    [(2, 1, True), (2, 0, False), (2, 1024, True), (2, 96, False), (10, 1000, True), (1, 1, True), (1, 2, False), (0, 0, True),
     (0, 1, True), (3, 2, False)],
)  # fmt: skip
def test_powers(base: int, value: int, holds: bool) -> None:
    assert SizeFact(Relation.POWER, number(base), number(value)).holds({}) is holds
