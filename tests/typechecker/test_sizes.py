"""Sizes: the normal form agrees with plain arithmetic, bounds and capacities hold, and sizes read as types.md writes them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, number, product, variable
from rho.typechecker.sizes.size import maximum, minimum, quotient, remainder, truncated_subtract, upper_bound  # fmt: skip

N, M, K, H = (SizeVariable(name, i, SizeOrigin.INPUT) for i, name in enumerate("nmkh"))
n, m, k, h = (variable(v) for v in (N, M, K, H))
COUNT = SizeVariable("c", 9, SizeOrigin.RUNTIME, cap=n)
c = variable(COUNT)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (n + n + 1, "(2×n)+1"),
        (quotient(n, 2), "n÷2"),
        (truncated_subtract(n, 1), "0⌈n-1"),
        (truncated_subtract(truncated_subtract(n, 1), 1), "0⌈n-2"),
        (n - k + 1, "(n+1)-k"),
        (n * m, "n×m"),
        (number(8) * quotient(n + 7, 8), "8×((n+7)÷8)"),
        (number(-3), "¯3"),
        (number(1) - k, "1-k"),
        (quotient(n * m, m), "n"),
        (quotient(quotient(n, 2), 3), "n÷6"),
        (remainder(n * 4 + 3, 2), "1"),
        (remainder(n, 2), "2|n"),
        (maximum(n, n + 1), "n+1"),
        (maximum(n, minimum(n, m)), "n"),
        (minimum(n, m) + 1, "(n⌊m)+1"),
        (quotient(n * n - 1, n - 1), "n+1"),
        (quotient(n * 6 + 4, 4), "((3×n)÷2)+1"),
        (number(0), "0"),
        (n - n, "0"),
    ],
)
def test_text(size: Size, text: str) -> None:
    assert str(size) == text


def test_equal_normal_forms_are_equal_and_hash_alike() -> None:
    assert n * (m + 1) == m * n + n
    assert hash(n * (m + 1)) == hash(m * n + n)
    assert quotient(n * 2 + 1, 2) == n
    assert n != m
    assert SizeVariable("n", 0, SizeOrigin.PARAM) == N  # identity is the id


def test_constant() -> None:
    assert (n - n + 4).constant == 4
    assert n.constant is None
    assert product([number(2), number(3)]).constant == 6
    assert product([]).constant == 1


def test_division_by_zero_never_raises() -> None:
    assert quotient(n, m).evaluate({N: 3, M: 0}) == 0
    assert remainder(n, m).evaluate({N: 3, M: 0}) == 3


def test_substitute_normalises_again() -> None:
    assert quotient(n, k).substitute({N: k * m}) == m
    assert maximum(n, m).substitute({N: m + 1}) == m + 1


def test_capacity_bounds_run_time_sizes() -> None:
    assert upper_bound(c) == n
    assert upper_bound(c * m + c) == n * m + n
    assert upper_bound(n - c) == n
    assert upper_bound(quotient(c, 2)) == quotient(n, 2)
    assert upper_bound(m) == m


def build(draw: st.DrawFn, depth: int) -> tuple[Size, object]:
    """A size and the same expression as a function of an environment."""
    if depth == 0 or draw(st.booleans()):
        pick = draw(st.integers(0, 4))
        if pick == 4:
            value = draw(st.integers(-5, 9))
            return number(value), lambda env: value
        which = (N, M, K, H)[pick]
        return variable(which), lambda env: env[which]
    (a, fa), (b, fb) = build(draw, depth - 1), build(draw, depth - 1)
    divisor = draw(st.integers(1, 5))
    match draw(st.integers(0, 7)):
        case 0:
            return a + b, lambda env: fa(env) + fb(env)
        case 1:
            return a - b, lambda env: fa(env) - fb(env)
        case 2:
            return a * b, lambda env: fa(env) * fb(env)
        case 3:
            return quotient(a, divisor), lambda env: fa(env) // divisor
        case 4:
            return remainder(a, divisor), lambda env: fa(env) % divisor
        case 5:
            return maximum(a, b), lambda env: max(fa(env), fb(env))
        case 6:
            return minimum(a, b), lambda env: min(fa(env), fb(env))
        case _:
            return truncated_subtract(a, b), lambda env: max(0, fa(env) - fb(env))


sized = st.composite(lambda draw: build(draw, 4))
environments = st.fixed_dictionaries({v: st.integers(0, 7) for v in (N, M, K, H)})


@settings(max_examples=200, deadline=None)
@given(sized(), environments)
def test_normal_form_means_the_expression(made: tuple[Size, object], env: dict[SizeVariable, int]) -> None:
    size, meaning = made
    assert size.evaluate(env) == meaning(env)  # type: ignore[operator]


@settings(max_examples=200, deadline=None)
@given(sized(), environments)
def test_bounds_hold(made: tuple[Size, object], env: dict[SizeVariable, int]) -> None:
    low, high = made[0].bounds()
    value = made[0].evaluate(env)
    assert low is None or low <= value
    assert high is None or value <= high


@settings(max_examples=100, deadline=None)
@given(sized(), environments)
def test_substitution_commutes_with_evaluation(made: tuple[Size, object], env: dict[SizeVariable, int]) -> None:
    size = made[0]
    replaced = size.substitute({N: m + 2, K: quotient(n, 2)})
    assert replaced.evaluate(env) == size.evaluate({**env, N: env[M] + 2, K: env[N] // 2})


@settings(max_examples=100, deadline=None)
@given(sized(), environments, st.integers(0, 7))
def test_capacity_is_an_upper_bound(made: tuple[Size, object], env: dict[SizeVariable, int], count: int) -> None:
    size = made[0].substitute({K: c})
    count = min(count, env[N])
    assert size.evaluate({**env, COUNT: count}) <= upper_bound(size).evaluate(env)
