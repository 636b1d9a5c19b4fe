"""Sizes to the number: bounds that are met, equal sizes of one form, and texts that mean what they were made from.

Tables are functions, so that each test makes its sizes itself, also of a mutant (`benchmarks/mutants.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product

import pytest

from rho.typechecker.sizes.polynomials import (
    Size,
    SizeOrigin,
    SizeVariable,
    number,
    show,
    show_formula,
    show_short,
    show_short_formula,
    variable,
)
from rho.typechecker.sizes.size import (
    lower_bound,
    maximum,
    minimum,
    quotient,
    remainder,
    surely_fits_i64,
    truncated_subtract,
    upper_bound,
)

N, M, K = (SizeVariable(name, place, SizeOrigin.INPUT) for place, name in enumerate("nmk"))
P = SizeVariable("p", 5, SizeOrigin.RIGID, minimum=3)
C = SizeVariable("c", 6, SizeOrigin.RUNTIME, cap=variable(N))
E = SizeVariable("e", 7, SizeOrigin.RUNTIME, cap=number(4))
Q = SizeVariable("q", 8, SizeOrigin.PARAM)
R = SizeVariable("r", 9, SizeOrigin.RUNTIME, minimum=2)
n, m, k, p, c, e, q, r = map(variable, (N, M, K, P, C, E, Q, R))
down = minimum(number(-1), -n)
"""At most ¯1, without end."""


def bounds() -> list[tuple[Size, int | None, int | None]]:
    return [
        (n, 0, None), (p, 3, None), (e, 0, 4), (n - 3, -3, None), (number(3) - n, None, 3), (e * 2 + 1, 1, 9),
        (number(1) - e * 2, -7, 1),
        (n + e, 0, None), (e - n, None, 4), (p + e, 3, None), (p * p, 9, None), (n * m, 0, None), (e * e, 0, 16),
        (-e * e, -16, 0),
        (-(n * e), None, 0), (e * e * e, 0, 64), (e * e * e * e, 0, None), (n * n * n * n - 2, -2, None), (number(-7), -7, -7),
        (maximum(n, e), 0, None), (maximum(e, 3), 3, 4), (maximum(e, p), 3, None), (maximum(-n, -5), -5, 0),
        (maximum(e, -n), 0, 4),
        (minimum(n, e), 0, 4), (minimum(e, -n), None, 0), (minimum(p, 7), 3, 7), (minimum(n - 5, 3), -5, 3), (down, None, -1),
        (quotient(e, 2), 0, 2), (quotient(e - 3, 2), -2, 0), (quotient(n, 3), 0, None), (quotient(p, 2), 1, None),
        (quotient(e, m), 0, 4),
        (quotient(n, m), 0, None), (quotient(e - 1, m), None, None), (quotient(e, m - 1), None, None),
        (quotient(-n, 3), None, 0),
        (remainder(n, 5), 0, 4), (remainder(n, p), 0, None), (remainder(n, e + 1), 0, 4), (remainder(e, m), 0, 4),
        (remainder(n, m), 0, None), (remainder(n - 1, m), None, None), (remainder(n - 1, m + 1), 0, None),
        (remainder(n, m - 1), None, None),
        (down * n, None, 0), (n * down, None, 0), (down * minimum(number(-2), -m), 2, None),
        (minimum(n - 5, 3) * m, None, None),
        (maximum(-n, -5) * m, None, 0), (maximum(-n, -5) * e, -20, 0), (maximum(-n, -5) * down, 0, None),
        (minimum(n - 5, 3) * e, -20, 12),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(bounds())))
def test_bounds_to_the_number(place: int) -> None:
    size, low, high = bounds()[place]
    assert size.bounds() == (low, high)


def test_a_size_of_nothing_makes_products_nothing() -> None:
    none = variable(SizeVariable("z", 9, SizeOrigin.RUNTIME, cap=number(0)))
    assert (none * n).bounds() == (n * none).bounds() == (0, 0)


def equal() -> list[tuple[Size, Size]]:
    return [
        # quotients
        (quotient(n * 6, 3), n * 2), (quotient(n * 2 + m * 4, 2), n + m * 2), (quotient(n * 4 + 2, 4), quotient(n * 2 + 1, 2)),
        (quotient(n * 2 + 1, 2), n), (quotient(n * 6 + 5, 6), n), (quotient(n * 4 + 3, 6), quotient(n * 2 + 1, 3)),
        (quotient(n + 6, 3), quotient(n, 3) + 2), (quotient(n * 3 + 7, 3), n + 2), (quotient(n * 2 - 1, 2), n - 1),
        (quotient(quotient(n, 2), 3), quotient(n, 6)), (quotient(quotient(n, 2) + 1, 3), quotient(n + 2, 6)),
        (quotient(quotient(n, m), 3), quotient(quotient(n, m), 3)), (quotient(e, 5), number(0)),
        (quotient(e + 5, 5), number(1)),
        (quotient(n * m, m), n), (quotient(n * m + m, m), n + 1), (quotient(n * m * k, m * k), n), (quotient(n * n, n), n),
        (quotient(n * m * 6, m * 2), n * 3), (quotient(n * n - 1, n - 1), n + 1), (quotient(n * n + n * 2 + 1, n + 1), n + 1),
        (quotient(number(0), m), number(0)), (quotient(n, 0), number(0)), (quotient(number(-7), -2), number(3)),
        (quotient(number(7), -2), number(-4)), (quotient(n, 1), n), (quotient(n * m + k, m), n + quotient(k, m)),
        # remainders
        (remainder(n * 4 + 7, 4), number(3)), (remainder(n * 6 + 1, 3), number(1)), (remainder(n * 5 + m, 5), remainder(m, 5)),
        (remainder(n * 7, 5), remainder(n * 2, 5)), (remainder(e, 5), e), (remainder(e, 7), e), (remainder(n, 0), n),
        (remainder(remainder(n, 5), 5), remainder(n, 5)), (remainder(remainder(n, m), m), remainder(n, m)),
        (remainder(n * m, m), number(0)), (remainder(n * n, n), number(0)), (remainder(number(-7), 3), number(2)),
        (remainder(number(7), -3), number(-2)), (remainder(n * m + k, m), remainder(k, m)), (remainder(n, 1), number(0)),
        # extremes
        (maximum(n, n + 1), n + 1), (maximum(n, m, n), maximum(m, n)), (maximum(n, maximum(m, k)), maximum(n, m, k)),
        (maximum(n + 2, maximum(n, m) + 2), maximum(n + 2, m + 2)), (maximum(n, minimum(n, m)), n),
        (minimum(n, maximum(n, m)), n),
        (minimum(n, n + 1), n), (maximum(n, 0), n), (minimum(n, -1), number(-1)),
        (minimum(p, 3), number(3)), (maximum(p, 3), p), (maximum(e, 4), number(4)), (truncated_subtract(n, 0), n),
        (truncated_subtract(n + m, m), n),
        (truncated_subtract(truncated_subtract(n, 1), 1), truncated_subtract(n, 2)), (maximum(n * 2, minimum(n * 2, m)), n * 2),
        (maximum(n), n),
        # run-time sizes at their limits
        (upper_bound(c), n), (lower_bound(c), number(0)), (upper_bound(r), number(2)), (lower_bound(r), number(2)),
        (upper_bound(n - c), n),
        (lower_bound(n - c), number(0)), (upper_bound(c * c), n * n), (upper_bound(c * m - c), n * m), (lower_bound(c * m - c),
        -n),
        (upper_bound(e + c), n + 4),
        (upper_bound(quotient(c, 2)), quotient(n, 2)), (upper_bound(quotient(n, c)), n),
        (lower_bound(quotient(n, c + 1)), quotient(n, n + 1)),
        (lower_bound(remainder(c, 5)), number(0)), (upper_bound(maximum(c, m)), maximum(n, m)), (lower_bound(maximum(c, m)), m),
        (upper_bound(minimum(c, m)), minimum(n, m)), (upper_bound(m), m), (lower_bound(m), m), (lower_bound(p), p),
        (upper_bound(c * 2 + 1), n * 2 + 1),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(equal())))
def test_equal_sizes_have_one_form(place: int) -> None:
    left, right = equal()[place]
    assert left == right


def different() -> list[tuple[Size, Size]]:
    return [
        (quotient(n * 3 + 1, 2), n), (quotient(n * 2 - 1, 2), n), (quotient(n * n + 1, n), n), (quotient(e + 2, 5), number(0)),
        (quotient(quotient(n, 2) * 3, 3), quotient(n, 6)), (quotient(quotient(n, 2) + 1, 3), quotient(n + 1, 6)),
        (remainder(e, 4), e),
        (remainder(e - 1, 5), e - 1), (remainder(remainder(n, 5), 3), remainder(n, 3)),
        (remainder(remainder(n, 5), 3), remainder(n, 5)),
        (maximum(n, m), n), (minimum(n, m), n), (maximum(n, n * 2 - 1), n), (remainder(n * 2, m), number(0)),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(different())))
def test_sizes_that_differ_somewhere_differ(place: int) -> None:
    left, right = different()[place]
    names = sorted(left.variables() | right.variables(), key=lambda v: v.id)
    grid = [dict(zip(names, values, strict=True)) for values in product(range(8), repeat=len(names))]
    allowed = [sizes for sizes in grid if sizes.get(E, 0) <= 4]
    assert any(left.evaluate(sizes) != right.evaluate(sizes) for sizes in allowed)
    assert left != right


def machine() -> list[tuple[Size, bool]]:
    return [
        (n, True), (n + m, True), (n * m, False), (n * 65_536, True), (n * 65_537, False), (q, True), (q + 1, False),
        (q * 2, False),
        (q + n, False), (-(n * m), True), (n - m * k, True), (maximum(n, m), True), (maximum(n, m * k), False),
        (minimum(n, m * k), True),
        (minimum(n * k, m * k), False), (maximum(n, m * k) + 1, False), (maximum(n, m) + k, False), (e * e, True), (c, True),
        (number((1 << 63) - 1), True), (number(1 << 63), False), (n + (1 << 40), True), (remainder(n * m, 7), True),
        (quotient(n, m), True), (quotient(n * m, k * k), False),
        (variable(SizeVariable("w", 20, SizeOrigin.RUNTIME, cap=n * m)), False),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(machine())))
def test_what_surely_is_a_machine_integer(place: int) -> None:
    size, fits = machine()[place]
    assert surely_fits_i64(size) is fits


def test_what_is_simple_and_what_is_known_when_run() -> None:
    power = number(1)
    for _ in range(64):
        power = power * n
    assert power.is_simple() and not (power * n).is_simple()
    assert c.is_runtime() and (n * c + 1).is_runtime() and not n.is_runtime()


# ------------------------------------------------------------------------------------------------ texts


def texts() -> list[Size]:
    sizes = [size for size, _, _ in bounds()] + [side for pair in (*equal(), *different()) for side in pair]
    sizes += [
        n - m - k, number(1) - n, n * 2 - m * 3 + 1, -n, -(n * 2), n * n * m * 3, maximum(n, m + 1), minimum(n + 1, m, k * 2),
        quotient(n + 1, m + 1), quotient(n + 1, m) * 2, remainder(n + 1, m + 2), remainder(n, m) + 1, maximum(n - 1, m) * n,
        maximum(n, m) - minimum(n, k), quotient(n, m) - 1, quotient(maximum(n, m), k),
        remainder(maximum(n, m) + 1, quotient(n, 2) + 1),
    ]  # fmt: skip
    return sizes


FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "×": lambda a, b: a * b, "·": lambda a, b: a * b, "⌈": max, "⌊": min,
    "÷": lambda a, b: a // b if b else 0, "|": lambda a, b: b % a if a else b,
}  # fmt: skip


def right_to_left(text: str, sizes: dict[str, int]) -> int:
    """As types are read: every function takes all that stands to its right."""
    tokens = re.findall(r"¯?\d+|\w|\S", text)
    tokens.reverse()

    def operand() -> int:
        token = tokens.pop()
        if token == "(":
            value = expression()
            assert tokens.pop() == ")"
            return value
        return sizes[token] if token in sizes else int(token.replace("¯", "-"))

    def expression() -> int:
        left = operand()
        if tokens and tokens[-1] in FUNCTIONS:
            return FUNCTIONS[tokens.pop()](left, expression())
        return left

    value = expression()
    assert not tokens
    return value


def formula(text: str, sizes: dict[str, int]) -> int:
    """As costs are read: products before sums, and one other function between what is enclosed and the rest."""
    tokens = re.findall(r"¯?\d+|\w|\S", text)
    tokens.reverse()

    def factor() -> int:
        token = tokens.pop()
        if token == "(":
            value = whole()
            assert tokens.pop() == ")"
            return value
        return sizes[token] if token in sizes else int(token.replace("¯", "-"))

    def term() -> int:
        value = factor()
        while tokens and tokens[-1] == "·":
            tokens.pop()
            value *= factor()
        return value

    def whole() -> int:
        sign = -1 if tokens[-1] == "-" else 1
        if sign < 0:
            tokens.pop()
        value = sign * term()
        while tokens and tokens[-1] in "+-":
            value = FUNCTIONS[tokens.pop()](value, term())
        if tokens and tokens[-1] in FUNCTIONS:
            return FUNCTIONS[tokens.pop()](value, whole())
        return value

    value = whole()
    assert not tokens
    return value


@pytest.mark.parametrize("place", range(len(texts())))
def test_texts_mean_the_size(place: int) -> None:
    size = texts()[place]
    for values in ((0,) * 8, (1, 2, 3, 4, 1, 2, 6, 7), (7, 5, 2, 3, 6, 4, 9, 2), (2, 9, 4, 5, 0, 0, 1, 3)):
        sizes = dict(zip((N, M, K, P, C, E, Q, R), values, strict=True))
        named = {v.name: value for v, value in sizes.items()}
        value = size.evaluate(sizes)
        assert right_to_left(show(size), named) == value
        assert formula(show_formula(size), named) == value


def written() -> list[tuple[Size, str, str]]:
    return [
        (number(0), "0", "0"), (number(-3), "¯3", "¯3"), (number(5), "5", "5"), (n * 2 + 1, "(2×n)+1", "2·n+1"),
        (n - k + 1, "(n+1)-k", "n-k+1"),
        (number(1) - k, "1-k", "1-k"), (-n, "0-n", "-n"), (n * n * 4, "4×n×n", "4·n·n"), (quotient(n, 2), "n÷2", "n÷2"),
        (quotient(n, 2) * 3, "3×(n÷2)", "3·(n÷2)"), (quotient(n + 1, m), "(n+1)÷m", "(n+1)÷m"), (remainder(n, 2), "2|n", "2|n"),
        (remainder(n + 1, m * 2), "(2×m)|(n+1)", "(2·m)|(n+1)"), (maximum(n, m), "n⌈m", "n⌈m"),
        (minimum(n, m) + 1, "(n⌊m)+1", "(n⌊m)+1"),
        (truncated_subtract(n, 1), "0⌈n-1", "0⌈n-1"), (n - m * 2, "n-2×m", "n-2·m"), (n - m - k, "n-(m+k)", "n-m-k"),
    ]  # fmt: skip


@pytest.mark.parametrize("place", range(len(written())))
def test_texts_have_no_more_parentheses_than_they_need(place: int) -> None:
    size, text, cost = written()[place]
    assert (show(size), show_formula(size)) == (text, cost)


def test_long_texts_are_cut() -> None:
    names = [variable(SizeVariable(f"a{place:02}", 100 + place, SizeOrigin.INPUT)) for place in range(26)]
    fits, long = sum(names[:25], number(0)), sum(names[:25], number(1))
    for whole, short in ((show, show_short), (show_formula, show_short_formula)):
        assert short(fits) == whole(fits) and len(whole(fits)) == 99
        assert short(long) == whole(long)[:100] + "…" and len(whole(long)) == 101
