"""Drawn compositions: gradients by differences, the product of the Jacobian with a vector from both sides, second derivatives,
and the same bits in every tier.

The steps are smooth or have corners at points that a draw does not meet."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from share import seeds

import rho
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

from .differences import gradient_and_differences, is_near

Shape = tuple[int, ...]
Step = tuple[str, Callable[[Shape], Shape]]

EVERYWHERE: list[Step] = [
    (text, lambda s: s)
    for text in (
        "1○⍵",
        "7○⍵",
        "*¯0.3×⍵",
        "⍵×⍵",
        "⍵÷1+⍵×⍵",
        "√1+⍵×⍵",
        "⍵-1○⍵",
        "0.5×⍵",
        "-⍵",
        "1+⍵",
        "⍵⌈¯0.1+1○⍵",
        "|⍵-0.123",
        "⌽⍵",
        "+\\⍵",
        "⌈\\⍵",
        "×\\1+0.1×⍵",
        "⍵×⍤1⊢⌽⍵",
        "{{0.3×1+1○⍵}⍣3⊢⍵}⍵",
        "{⍵>0.2:⍵×⍵ ⋄ 1○⍵}¨⍵",
        "(⍵>0.1)×⍵",
        "1⌽⍵",
        "(⍵*2)÷1+⍵*2",
        "⍟1+⍵*2",
        "⍵⌊0.7",
        "⌽⍤1⊢⍵",
        "({+/⍵}⌺3)⍤1⊢⍵",
        "{⍵-(+/⍵)÷5}⍤1⊢⍵",
    )
]
VECTOR: list[Step] = [
    ("⍵∘.×1○⍵", lambda s: s + s),
    ("⍵,⍵*2", lambda s: (2 * s[0],)),
    ("⍵[⍋⍵]", lambda s: s),
    ("2↑⍵", lambda s: (2,)),
    ("¯4↑⍵", lambda s: (4,)),
    ("3 2⍴⍵", lambda s: (3, 2)),
    ("+/⍵", lambda s: ()),
    ("⌈/⍵", lambda s: ()),
    ("×/1+0.1×⍵", lambda s: ()),
    ("⍟+/*⍵", lambda s: ()),
    ("⍵[0 1 0]", lambda s: (3,)),
    ("2+⌸((2|⍳≢⍵) ⋄ ⍵)", lambda s: (2,)),
    ("2⌈⌸((2|⍳≢⍵) ⋄ ⍵)", lambda s: (2,)),
    ("⍵+.×⍵", lambda s: ()),
    ("⍵÷√1+⍵+.×⍵", lambda s: s),
    ("{⍺+0.5×1○⍵}\\⍵", lambda s: s),
    ("{⍺×0.5+⍵}/⍵", lambda s: ()),
    ("{0.5×⍵+1○⍺}⍣⍵⊢0.1", lambda s: ()),
    ("{x←⍵ ⋄ x[0]←⍵[1]×2 ⋄ x}⍵", lambda s: s),
]
MATRIX: list[Step] = [
    ("⍉⍵", lambda s: s[::-1]),
    ("+/⍵", lambda s: s[:1]),
    ("+⌿⍵", lambda s: s[1:]),
    ("⌈⌿⍵", lambda s: s[1:]),
    ("⍵+.×⍉⍵", lambda s: (s[0], s[0])),
    (",⍵", lambda s: (s[0] * s[1],)),
    ("⍵[1;]", lambda s: s[1:]),
    ("⍵⍪⍵", lambda s: (2 * s[0], s[1])),
    ("0 0⍉⍵", lambda s: (min(s),)),
    ("⊖⍵", lambda s: s),
    ("{+/⍵*2}⍤1⊢⍵", lambda s: s[:1]),
    ("⍵-⍤1⊢(+⌿⍵)÷3", lambda s: s),
    ("⍵⌊.+⍉⍵", lambda s: (s[0], s[0])),
    ("({+/,⍵}⌺3 3)⍵", lambda s: s),
]


def steps(rng: random.Random) -> tuple[str, Shape]:
    """The text of a function of one array, and the array's shape."""
    start: Shape = rng.choice([(2,), (3,), (5,), (2, 3), (3, 3), (4, 2)])
    shape, body = start, "⍵"
    for _ in range(rng.randint(2, 6)):
        fit = [EVERYWHERE, VECTOR] if len(shape) == 1 else [EVERYWHERE, MATRIX] if len(shape) == 2 else []
        if not fit:
            break
        text, change = rng.choice(rng.choice(fit))
        new = change(shape)
        if int(np.prod(new)) <= 40 and min(new, default=2) >= 2:
            body = f"({{{text}}}{body})"
            shape = new
    return f"{{{body}}}", start


def programs(count: int, *failed: int) -> Iterator[tuple[int, str, Any]]:
    for seed in seeds(count, *failed):
        text, shape = steps(random.Random(seed))
        yield seed, text, np.random.default_rng(seed).uniform(-1.2, 1.2, shape)


def test_gradients_are_slopes() -> None:
    for seed, text, x in programs(200):
        found, slopes = gradient_and_differences(text, x, seed, 1e-4)
        again = gradient_and_differences(text, x, seed, 1e-6)[1]
        assert is_near(found, slopes, 1e-6) or is_near(found, again, 2e-4), (seed, text, found, slopes)


def test_both_products_with_the_jacobian_are_equal() -> None:
    """⟨J v, u⟩ = ⟨v, Jᵀ u⟩: J v is the gradient, by u, of ⟨v, Jᵀ u⟩."""
    for seed, text, x in programs(300):
        rng = np.random.default_rng(seed)
        y = np.asarray(rho.compile(text)(x))
        u, v = rng.uniform(-1, 1, y.shape), rng.uniform(-1, 1, x.shape)
        back = rho.compile(f"{{⍺ {text}∂ ⍵}}")(u, x)
        forth = rho.compile(f"{{x←⍵[0] ⋄ v←⍵[1] ⋄ {{+/,v×⍵ {text}∂ x}}∂⍺}}")(u, np.stack([x, v]))
        left, right = float(np.sum(np.asarray(forth) * u)), float(np.sum(np.asarray(back) * v))
        assert abs(left - right) <= 1e-11 * (1 + abs(left)), (seed, text, left, right)


def test_second_derivatives_are_slopes_of_gradients() -> None:
    for seed, text, x in programs(80):
        function = f"{{+/,(0.3+1○⍵)×{{+/,1○{text}⍵}}∂⍵}}"
        found, slopes = gradient_and_differences(function, x, seed, 1e-4)
        again = gradient_and_differences(function, x, seed, 1e-6)[1]
        assert is_near(found, slopes, 1e-5) or is_near(found, again, 1e-3), (seed, text, found, slopes)


def test_programs_of_infinities_in_a_choice_that_is_not_taken_make_no_nan() -> None:
    for seed, text, x in programs(100):
        function = f"{{M←⍟⍵ ⋄ (0<⌊/,⍵)¿((+/,{text}M) ⋄ +/,⍵)}}"
        with np.errstate(all="ignore"):
            assert np.array_equal(rho.grad(function)(np.zeros_like(x)), np.ones_like(x)), (seed, text)


@pytest.mark.parametrize("tier", ["off", "always"])
def test_a_gradient_has_the_same_bits_in_every_tier(tier: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for _, text, x in programs(100):
        gradient = f"{{{{+/,{text}⍵}}∂⍵}}"
        default = rho.compile(gradient)(x)
        monkeypatch.setenv("RHO_KERNELS", tier)
        assert np.array_equal(rho.compile(gradient)(x), default, equal_nan=True), text
        monkeypatch.delenv("RHO_KERNELS")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{⍵*2}∂1 2 3", "E630"),
        ("{+/⍵}∂'abc'", "E630"),
        ("{+/⍵}∂⍳3", "E630"),
        ("{+/≢⍵}∂1 2 3.", "E630"),
        ("{(⍵ ⋄ ⍵)}∂1.", "E630"),
        ("{+/1⊤⍵}∂1 2.", "E630"),
        ("{|+/(⍵×0J1)*2.5}∂1 2.", "E630"),
        ("{+/⍵}∂1J2 3", "E630"),
        ("{+/∨/⍵∘.∨⍵}∂1 2.", "E630"),
        ("(1 2){+/⍵}∂1 2.", "E101"),
        ("(1 2){⍵*2}∂1 2 3.", "E101"),
        ("1 2∂3", "E008"),
        ("'a'{⍵*2}∂3.", "E300"),
        ("1J1{⍵*2}∂3.", "E300"),
        ("{+/⌊⍵}∂1.5 2", "E630"),
        ("{+/1.0×⌊⍵}∂1.5 2", "W630"),
        ("{3.5}∂1.5 2", "W630"),
        ("{+/⍵>0}∂1.5 2", "E630"),
    ],
)
def test_what_has_no_gradient_is_refused_by_name(text: str, code: str) -> None:
    assert code in [one.code.value for one in check(Source("t", text)).diagnostics]
