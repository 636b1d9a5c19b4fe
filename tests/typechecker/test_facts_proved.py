"""Facts that the rules prove without a solver, each true for all small sizes; what is nearly so is not proved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pytest

from rho.lang.diagnostics.model import Verdict
from rho.typechecker.proof.obligations import Relation, SizeFact
from rho.typechecker.proof.prover import connected, find_examples, prove, prove_without_examples
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, as_size, number, variable
from rho.typechecker.sizes.size import maximum, minimum, quotient, remainder, truncated_subtract

N, M, K, D = (SizeVariable(name, place, SizeOrigin.INPUT) for place, name in enumerate("nmkd"))
n, m, k, d = map(variable, (N, M, K, D))
p = variable(SizeVariable("p", 5, SizeOrigin.RIGID, minimum=3))
c = variable(SizeVariable("c", 6, SizeOrigin.RUNTIME, cap=n))
e = variable(SizeVariable("e", 7, SizeOrigin.RUNTIME, cap=number(4)))
LARGEST = (12, 12, 6, 5, 4)
"""By the number of sizes in a fact, up to which number each is tried."""


def le(left: Size | int, right: Size | int) -> SizeFact:
    return SizeFact(Relation.AT_MOST, as_size(left), as_size(right))


def lt(left: Size | int, right: Size | int) -> SizeFact:
    return SizeFact(Relation.LESS, as_size(left), as_size(right))


def eq(left: Size | int, right: Size | int) -> SizeFact:
    return SizeFact(Relation.EQUAL, as_size(left), as_size(right))


def ne(left: Size | int, right: Size | int) -> SizeFact:
    return SizeFact(Relation.NOT_EQUAL, as_size(left), as_size(right))


def div(left: Size | int, right: Size | int) -> SizeFact:
    return SizeFact(Relation.DIVIDES, as_size(left), as_size(right))


def proved() -> list[tuple[SizeFact, list[SizeFact]]]:
    return [
        # caps and minima
        (le(c, n), []), (le(c + m, n + m), []), (le(e, 4), []), (le(c * 2, n * 2), []), (le(c, 4), [le(n, 4)]),
        (le(c, m), [le(n, m)]),
        (le(truncated_subtract(n, c), n), []), (le(0, n - c), []), (eq(maximum(n, c), n), []), (eq(minimum(n, c), c), []),
        (le(n, p * n), []),
        (le(n * 3, p * n), []), (le(3, p), []),
        (le(9, p * p), []), (le(6, p * 2), []), (le(p + 3, p * 2), []), (le(p * 3, p * p), []),
        # maxima and minima
        (le(minimum(n, m), n), []), (le(n, maximum(n, m)), []), (le(maximum(n, m), n + m), []),
        (le(maximum(n - 1, m), n + m), []),
        (le(minimum(n, m) + minimum(k, d), n + k), []), (le(maximum(n, m) + minimum(n, m), n + m), []),
        (le(n - 1, truncated_subtract(n, 1)), []),
        (le(truncated_subtract(n, k), n), []), (le(truncated_subtract(n, k) + k, n + k), []), (eq(truncated_subtract(n, k) + k,
        n), [le(k, n)]),
        # quotients and remainders
        (le(quotient(n, 2), n), []), (le(quotient(n, 2) * 2, n), []), (le(n, quotient(n, 2) * 2 + 1), []),
        (le(n, quotient(n + 7, 8) * 8), []), (le(quotient(n + 7, 8) * 8, n + 7), []), (le(quotient(n, 3) * 2, n), []),
        (le(quotient(n, p), n), []), (le(quotient(n, 2) + quotient(m, 2), n + m), []), (le(0, quotient(n, m)), []),
        (le(quotient(n, m), n), []), (le(quotient(n, 4), quotient(n, 2)), []), (le(remainder(n, 5), 4), []),
        (le(0, remainder(n, 5)), []), (le(remainder(n, 5), n), []), (le(remainder(n, p), p - 1), []),
        (le(remainder(n, p), n), []),
        (le(remainder(n, 5) * 2, 8), []), (le(remainder(n, m), n), []), (lt(remainder(n, m), m), [le(1, m)]),
        (le(m, 10), [eq(m, remainder(n, 11))]), (le(quotient(k, 2), quotient(n, 2)), [le(k, n)]),
        (le(1, quotient(n, k)), [le(k, n), le(1, k)]), (le(quotient(n, 2), 3), [lt(n, 8)]), (le(2, quotient(n, 3)), [le(6, n)]),
        (lt(quotient(n, 2), n), [lt(0, n)]), (lt(quotient(n * m, m), n + 1), []),
        # premises
        (le(k, n), [le(k, m), le(m, n)]), (le(k + 1, n), [lt(k, n)]), (le(k * 2, n * 2), [le(k, n)]),
        (le(k * m, n * m), [le(k, n)]),
        (le(k * m, n * d), [le(k, n), le(m, d)]), (le(k, n - 2), [le(k + 2, n)]), (le(1, n - k), [lt(k, n)]),
        (le(k + m, n + d), [le(k, n), le(m, d)]), (le(m, n), [le(m * 2, n)]), (le(m * 3, n), [eq(n, m * 3)]),
        (eq(n, m), [eq(n, m)]), (eq(n + 1, m), [eq(m - 1, n)]), (eq(n * 2, m * 2), [eq(n, m)]),
        (eq(n, k), [eq(n, m), eq(m, k)]),
        (eq(n, m), [le(n, m), le(m, n)]), (le(n, k), [eq(n, m), le(m, k)]), (lt(n, n + 1), []),
        # unequal
        (ne(n, m), [lt(n, m)]), (ne(n, m), [lt(m, n)]), (ne(n + 1, 0), []), (ne(n, 0), [le(1, n)]), (ne(p, 2), []),
        # divisors
        (eq(quotient(n, 2) * 2, n), [div(2, n)]), (eq(quotient(n, k) * k, n), [div(k, n), le(1, k)]),
        (eq(remainder(n, 4), 0), [div(4, n)]), (div(3, n * 3 + 6), []), (div(k, k * m), []), (div(2, n), [div(4, n)]),
        (div(2, n * m), [div(2, n)]), (div(0, n - n), []), (div(4, n * 2), [div(2, n)]), (div(n, n * n + n), []),
        (div(1, n), []),
        (div(6, n * m), [div(2, n), div(3, m)]), (eq(quotient(n + m, 2) * 2, n + m), [div(2, n), div(2, m)]),
    ]  # fmt: skip


def never() -> list[tuple[SizeFact, list[SizeFact]]]:
    return [
        (eq(n, n + 1), []), (le(n + 1, n), []), (lt(n, n), []), (ne(n + m, m + n), []), (eq(n * 2, m * 2 + 1), []),
        (eq(n * 6 + m * 4, 3), []), (div(2, n * 2 + 1), []), (div(3, n * 6 + 4), []), (eq(p, 2), []), (le(p, 2), []),
        (lt(n, 0), []),
        (le(n, 3), [lt(3, n)]), (eq(n, m), [lt(n, m)]), (ne(n, k), [eq(n, m), eq(m, k)]), (lt(n, m), [le(m, n)]),
        (le(m + 1, c), [le(n, m)]),
        (eq(remainder(n, 5), 5), []), (div(4, n + 2), [div(4, n)]),
    ]  # fmt: skip


def assignments(facts: Sequence[SizeFact]) -> Iterator[dict[SizeVariable, int]]:
    """Small sizes within their minima and caps."""
    names = {v for fact in facts for side in (fact.left, fact.right) for v in side.variables()}
    names |= {v for name in names if name.cap is not None for v in name.cap.variables()}
    ordered = sorted(names, key=lambda v: v.id)
    for values in product(range(LARGEST[len(ordered)]), repeat=len(ordered)):
        sizes = {v: v.minimum + value for v, value in zip(ordered, values, strict=True)}
        if all(v.cap is None or sizes[v] <= v.cap.evaluate(sizes) for v in ordered):
            yield sizes


def outcomes(fact: SizeFact, premises: Sequence[SizeFact]) -> set[bool]:
    """Whether the fact holds, over all small sizes that the premises allow."""
    every = [fact, *premises]
    return {fact.holds(sizes) for sizes in assignments(every) if all(premise.holds(sizes) for premise in premises)}


@pytest.mark.parametrize("place", range(len(proved())))
def test_what_is_proved(place: int) -> None:
    goal, premises = proved()[place]
    assert prove_without_examples(goal, premises) is Verdict.PROVED
    assert outcomes(goal, premises) == {True}


@pytest.mark.parametrize("place", range(len(never())))
def test_what_is_refuted(place: int) -> None:
    goal, premises = never()[place]
    assert prove_without_examples(goal, premises) is Verdict.NEVER
    assert outcomes(goal, premises) == {False}


def nearly(goal: SizeFact, premises: list[SizeFact]) -> Iterator[tuple[SizeFact, list[SizeFact]]]:
    """One more on either side, each premise gone or one weaker, the sides exchanged."""
    for left, right in (
        (goal.left + 1, goal.right),
        (goal.left, goal.right + 1),
        (goal.right, goal.left),
        (goal.left * 2, goal.right),
    ):
        yield SizeFact(goal.relation, left, right), premises
    for place, premise in enumerate(premises):
        rest = premises[:place] + premises[place + 1 :]
        yield goal, rest
        yield goal, [*rest, SizeFact(premise.relation, premise.left, premise.right + 1)]
        yield goal, [SizeFact(premise.relation, premise.right, premise.left), *rest]


@pytest.mark.parametrize("place", range(len(proved())))
def test_what_is_nearly_so_is_proved_only_if_it_is_so(place: int) -> None:
    for goal, premises in nearly(*proved()[place]):
        verdict = prove_without_examples(goal, premises)
        if verdict is not Verdict.UNKNOWN:
            assert outcomes(goal, premises) <= {verdict is Verdict.PROVED}, (goal, premises)


def test_what_two_divisibilities_say_stays_apart() -> None:
    """The quotient that a premise speaks of is not a size of the program."""
    assert prove_without_examples(eq(k, n * 3), [le(1, k), div(3, k)]) is Verdict.UNKNOWN
    assert prove_without_examples(eq(k, m * 2), [le(1, k), le(0, m), div(2, k)]) is Verdict.UNKNOWN
    assert prove_without_examples(eq(n, m), [div(2, n), div(2, m)]) is Verdict.UNKNOWN


# ------------------------------------------------------------------------------------------- examples


def examples() -> list[tuple[SizeFact, list[SizeFact], dict[SizeVariable, int]]]:
    return [
        (ne(n, 100), [], {N: 100}), (ne(100, n), [], {N: 100}), (le(n, 99), [], {N: 100}), (lt(n, 99), [], {N: 99}),
        (le(quotient(n, 100), 0), [], {N: 100}), (le(n * 70, 69), [], {N: 1}), (le(n, 60), [le(50, n)], {N: 61}),
        (le(60, n), [le(50, n + 1)], {N: 49}),
        (eq(n, m), [], {N: 0, M: 1}), (eq(n, m), [le(1, n)], {N: 1, M: 0}), (le(n + m, 1), [], {N: 0, M: 2}),
        (lt(p, 5), [], {SizeVariable("p", 5, SizeOrigin.RIGID): 5}), (le(n, 2), [div(2, n)], {N: 4}),
        (eq(n + m + k, d), [], {N: 0, M: 0, K: 0, D: 1}), (le(n, 30), [le(n, 40)], {N: 31}),
        (eq(n, m), [eq(n, k), lt(d, m)], {N: 0, M: 1, K: 0, D: 0}),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(examples())))
def test_the_smallest_sizes_that_break_a_fact(place: int) -> None:
    goal, premises, example = examples()[place]
    decision = prove(goal, premises)
    assert decision.verdict is Verdict.DEPENDS
    assert dict(decision.counterexample or {}) == example


def test_examples_of_both_kinds() -> None:
    assert find_examples(le(n, 4), []).satisfiable and dict(find_examples(le(n, 4), []).counterexample or {}) == {N: 5}
    assert not find_examples(lt(n, 0), []).satisfiable and find_examples(le(0, n), []).counterexample is None
    assert find_examples(le(c, 3), [le(n, 3)]).counterexample is None


def test_premises_that_say_something_of_a_fact() -> None:
    far, near, linked, capped = le(k, d), le(n, 3), [le(n, m), le(m, k)], le(n, 9)
    assert connected(le(n, 5), [far, near]) == [near]
    assert connected(le(n, 5), [far, *reversed(linked)]) == [far, *reversed(linked)]
    assert connected(le(c, 5), [far, capped]) == [capped]
    assert connected(le(1, 2), [near]) == []
