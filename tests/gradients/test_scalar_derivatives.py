"""The derivative of each scalar function beside mpmath's, at easy and hard points; the conventions where there is none."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import rho
from rho.tests.harness.tiers import checked
from rho.typechecker.core.operations import Scalar
from rho.typechecker.elements import FLOATS, FUNCTIONS, ResultKind
from rho.typechecker.gradients import scalar_rules

Exact = Callable[..., Any]
UNIT = (-0.9999999999, -0.999, -0.5, -1e-8, 0.0, 1e-12, 0.3, 0.9999)
REAL = (-30.0, -2.5, -1e-8, 0.0, 1e-12, 0.7, 3.1, 25.0)
POSITIVE = (1e-200, 1e-8, 0.5, 1.0, 2.0, 7.5, 1e10, 1e150)
ABOVE = (1.0000000001, 1.0000001, 1.5, 3.0, 1e5, 1e160, 1e300)
TABLE: tuple[tuple[str, Exact, tuple[float, ...]], ...] = (
    ("-⍵", lambda x: -x, REAL),
    ("÷⍵", lambda x: 1 / x, (-3.0, 1e-8, 0.5, 2e10)),
    ("*⍵", mp.exp, REAL),
    ("⍟⍵", mp.log, POSITIVE),
    ("√⍵", mp.sqrt, POSITIVE),
    ("!⍵", lambda x: mp.gamma(1 + x), (-0.5, 1e-9, 0.5, 1.0, 3.7, 20.0)),
    ("○⍵", lambda x: mp.pi * x, REAL),
    ("0○⍵", lambda x: mp.sqrt(1 - x * x), UNIT),
    ("1○⍵", mp.sin, REAL),
    ("2○⍵", mp.cos, REAL),
    ("3○⍵", mp.tan, REAL),
    ("4○⍵", lambda x: mp.sqrt(1 + x * x), (*REAL, 1e8)),
    ("5○⍵", mp.sinh, REAL),
    ("6○⍵", mp.cosh, REAL),
    ("7○⍵", mp.tanh, (-3.0, 0.0, 0.5, 2.0)),
    ("¯1○⍵", mp.asin, UNIT),
    ("¯2○⍵", mp.acos, UNIT),
    ("¯3○⍵", mp.atan, REAL),
    ("¯4○⍵", lambda x: mp.sign(x) * mp.sqrt(x * x - 1), (*ABOVE, -1.5, -1e200)),
    ("¯5○⍵", mp.asinh, REAL),
    ("¯6○⍵", mp.acosh, ABOVE),
    ("¯7○⍵", mp.atanh, (-0.99, 0.0, 1e-9, 0.5)),
    ("⎕erf ⍵", mp.erf, (-3.0, 0.0, 1e-9, 0.5, 5.0)),
    ("⎕erfc ⍵", mp.erfc, (-3.0, 0.0, 0.5, 5.0)),
    ("⎕lgamma ⍵", mp.loggamma, (1e-5, 0.5, 3.3, 40.0)),
    ("⎕expm1 ⍵", mp.expm1, (*REAL, -40.0, -700.0)),
    ("⎕log1p ⍵", mp.log1p, (-0.9, 0.0, 1e-12, 5.0)),
    ("⍵*2", lambda x: x**2, REAL),
    ("⍵*3", lambda x: x**3, REAL),
    ("⍵*0.5", mp.sqrt, POSITIVE),
    ("⍵*¯1.5", lambda x: x ** mp.mpf(-1.5), (1e-8, 0.5, 3.0)),
    ("2*⍵", lambda x: mp.mpf(2) ** x, REAL),
    ("2⍟⍵", lambda x: mp.log(x, 2), POSITIVE),
    ("⍵⍟5", lambda x: mp.log(5) / mp.log(x), (0.5, 3.0, 1e5)),
    ("3√⍵", mp.cbrt, POSITIVE),
    ("⍵√7", lambda x: mp.mpf(7) ** (1 / x), (0.5, 2.0, 30.0)),
    ("3÷⍵", lambda x: 3 / x, (-3.0, 0.5, 1e5)),
    ("⍵÷3", lambda x: x / 3, REAL),
    ("2!⍵", lambda x: mp.binomial(x, 2), (0.5, 3.7, 9.1)),
    ("⍵!9", lambda x: mp.binomial(9, x), (0.5, 3.7, 8.5)),
    ("2|⍵", lambda x: x - 2 * mp.floor(x / 2), (-3.5, 0.5, 2.25)),
    ("⍵⎕atan2 3e200", lambda x: mp.atan2(x, mp.mpf(3e200)), (1e199, -2e200, 1e300)),
    ("3e¯200⎕atan2 ⍵", lambda x: mp.atan2(mp.mpf(3e-200), x), (1e-199, -2e-200, 1e-210)),
    ("⍵|7", lambda x: 7 - x * mp.floor(7 / x), (1.9, 3.0001, 8.5)),
)
CASES = [(text, exact, x) for text, exact, points in TABLE for x in points]


@pytest.mark.parametrize(("text", "exact", "points"), TABLE, ids=[text for text, _, _ in TABLE])
def test_a_derivative_is_exact_to_rounding(text: str, exact: Exact, points: tuple[float, ...]) -> None:
    mp.mp.dps = 100 if "!" in text or "gamma" in text else 450
    found = rho.compile(f"{{{{{text}}}∂⍵}}¨")(np.array(points))
    steps = [mp.mpf(10) ** -40 * abs(x or 1) for x in points]
    expected = [float(mp.diff(exact, mp.mpf(x), h=step)) for x, step in zip(points, steps, strict=True)]
    for x, number, right in zip(points, found, expected, strict=True):
        assert abs(number - right) <= 1e-11 * max(abs(right), 1e-300) + 1e-14 * (abs(right) < 1e-3), (x, number, right)


@pytest.mark.parametrize(
    ("text", "x", "slope"),
    [
        ("|⍵", 0.0, 0.0),
        ("×⍵", 2.0, 0.0),
        ("√⍵", 0.0, math.inf),
        ("⍟⍵", 0.0, math.inf),
        ("⍵⌈2", 2.0, 1.0),
        ("2⌈⍵", 2.0, 0.0),
        ("⍵⌊2", 2.0, 1.0),
        ("⍵*2", 0.0, 0.0),
        ("⍵*1", 0.0, 1.0),
        ("⍵*0", 0.0, 0.0),
        ("⌈/⍵,⍵*2", 1.0, 1.0),
        ("0⌈√⍵", 0.0, 0.0),
        ("⍵*⍵", 1.0, 1.0),
    ],
)
def test_conventions_where_there_is_no_slope(text: str, x: float, slope: float) -> None:
    assert float(rho.compile(f"{{{{{text}}}∂⍵}}")(x)) == slope


@pytest.mark.parametrize(
    ("text", "x", "slopes"),
    [
        ("+/√(⍵>0)/⍵", [0.0, 4.0], [0.0, 0.25]),
        ("+/(⍵>0)×√⍵", [0.0, 4.0], [0.0, 0.25]),
        ("+/(⍵>0)×√1⌈⍵", [0.0, 4.0], [0.0, 0.25]),
        ("+/((⍵>0)/⍵)÷(⍵>0)/⍵", [0.0, 4.0], [0.0, 0.0]),
        ("+/{⍵>0:√⍵ ⋄ 0.}¨⍵", [0.0, 4.0], [0.0, 0.25]),
        ("+/1↓√⍵", [0.0, 4.0], [0.0, 0.25]),
        ("(√⍵)[1]", [0.0, 4.0], [0.0, 0.25]),
        ("⌈/÷⍵", [0.5, 4.0], [-4.0, 0.0]),
        ("⌈/⍟⍵", [0.0, 4.0], [0.0, 0.25]),
        ("×/⍵", [0.0, 4.0], [4.0, 0.0]),
        ("×/⍵", [0.0, 0.0], [0.0, 0.0]),
        ("+/⌈\\⍵", [1.0, 1.0, 2.0], [2.0, 0.0, 1.0]),
        ("⌊/⍵", [1.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
        ("+/⍵", [], []),
        ("×/⍵", [], []),
        ("+/+\\⍵", [], []),
    ],
)
def test_what_is_selected_away_makes_no_nan(text: str, x: list[float], slopes: list[float]) -> None:
    with np.errstate(all="ignore"):
        assert np.array_equal(rho.compile(f"{{{{{text}}}∂⍵}}")(np.array(x, float)), np.array(slopes, float))


@pytest.mark.parametrize(
    "text",
    [
        "+/{⍵>1:⍵ ⋄ 0}¨√⍵",
        "{(0>+/⍵):⍵[0] ⋄ ⍵[1]}√⍵",
        "+/{⍵[1]}⍤1⊢1 2⍴√⍵",
        "+/{⊃⌽⍵}⍤1⊢1 2⍴√⍵",
        "+/,1↓⍤1⊢1 2⍴√⍵",
        "+/{⌈/⍵}⍤1⊢1 2⍴√⍵",
        "+/{+/(⍵>1)/⍵}⍤1⊢1 2⍴√⍵",
        "+/{x←⍵ ⋄ x[0]←1 ⋄ +/x}⍤1⊢1 2⍴√⍵",
        "{a←√⍵ ⋄ +/{⍵+a[1]}¨0.5 0.5}0.25×⍵",
        "{⍵[1]}{⍵×1}⍣3⊢√⍵",
    ],
)
def test_items_selected_away_in_maps_and_branches_make_no_nan(text: str) -> None:
    with np.errstate(all="ignore"):
        assert np.array_equal(rho.compile(f"{{{{{text}}}∂⍵}}")(np.array([0.0, 4.0])), [0.0, 0.25])


@pytest.mark.parametrize("text", ["(y+.×x)×y", "y×y+.×x", "+⌿y∘.×x"])
def test_products_in_a_choice_that_is_not_taken_make_no_nan(text: str) -> None:
    """Of the direction y of the vector 0, which is NaN."""
    function = f"{{+/{{x←⍵ ⋄ y←x÷√x+.×x ⋄ (0≠x+.×x)¿({text} ⋄ x)}}⍵}}"
    with np.errstate(all="ignore"):
        assert np.array_equal(rho.grad(function)(np.zeros(3)), np.ones(3))
        assert np.isfinite(rho.grad(function)(np.array([1.0, 2.0, 3.0]))).all()


NOT_TAKEN = (
    "+/,M+.×M", "+/,M+.×⍉M", "+/,M+.×1 1", "+/1 1+.×M", "+/,(1 2 2⍴M)(+.×⍤2)1 2 2⍴M", "+/,M∘.×M",
    "+/×/M", "+/÷/M", "+/,×\\M", "+/,÷\\M", "+/-/M",
    "+/,2×⌸(0 1 ⋄ M)", "+/,2+⌸(0 1 ⋄ M)", "+/,({×/⍵}⌺2)M", "+/{⍺×⍵}/M", "+/,{⍵×M}⍣3⊢M", "+/,|M+.×M×1J1", "+/,|⎕fft M",
    "+/,M⌊.+M", "+/2⊥M", "+/,⎕irfft ⎕rfft M", "⎕det ⍵", "(⎕slogdet ⍵)[1]", "+/,⌹(2 2⍴1 0 0 1)+√⍵", "+/,⌹(2 2⍴1 0 0 1)+⍵÷⍵",
    "+/,1 2⌹(2 2⍴1 0 0 1)+⍵÷⍵", "+/,⎕cholesky(2 2⍴1 0 0 1)+⍟1+⍵", "+/,M×M", "+/,(0.5 2+.×M)∘.÷M[0;]",
)  # fmt: skip


@pytest.mark.parametrize("text", NOT_TAKEN)
def test_no_operation_in_a_choice_that_is_not_taken_makes_nan(text: str) -> None:
    """Where the argument is 0 its logarithm M is infinite, M+.×M and ⍵÷⍵ are NaN, and the matrix has no inverse."""
    value = "{(s l)←⎕slogdet ⍵ ⋄ l}⍵" if "slogdet" in text else text
    function = f"{{M←⍟⍵ ⋄ (0<⌊/,⍵)¿(({value}) ⋄ +/,⍵)}}"
    with np.errstate(all="ignore"):
        assert np.array_equal(rho.grad(function)(np.zeros((2, 2))), np.ones((2, 2)))
        second = rho.compile(f"{{{{+/,({function}∂⍵)*2}}∂⍵}}") if not {"⎕", "J"} & {*text} else None
        assert second is None or np.array_equal(second(np.zeros((2, 2))), np.zeros((2, 2)))
    x = np.array([[1.5, 1.2], [1.1, 1.9]])
    plain = rho.grad(f"{{M←⍟⍵ ⋄ {value}}}")(x)
    assert np.allclose(rho.grad(function)(x), plain, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize(
    ("text", "masks"),
    [
        ("+/+/(⍵∘.>⍵)×1○x+.×⍵∘.×⍵", 0),  # a truth as a factor: what it hides is finite
        ("{+/+/⍵-⌈/⍵}x+.×⍵∘.×⍵", 0),  # read by the difference too
        ("+/+/(0<x)¿(x+.×⍵∘.×⍵ ⋄ 0.)", 1),
        ("+/+/0⌈(i÷16)+.×⍵∘.×⍵", 0),  # integers, divided by one, are finite
    ],
)
def test_products_are_masked_only_where_an_item_that_is_not_finite_may_be_hidden(text: str, masks: int) -> None:
    core = checked(f"input x : f64[3 3]\ninput i : u8[3 3]\ninput y : f64[3]\noutput g ← {{{text}}} ∂ y")
    assert core is not None
    assert sum(isinstance(op, Scalar) and op.function == "or" for op in core.block.ops) == masks


@pytest.mark.parametrize(
    ("text", "x", "slope"),
    [
        ("(a b)←{(a b)←⍵ ⋄ (a+b ⋄ √b-1)}⍣3⊢(0×⍵ ⋄ ⍵) ⋄ a", 5.0, 1.375),  # nobody reads the last root, of 0
        ("(a b)←{(a b)←⍵ ⋄ (a+b ⋄ √b-1)}⍣(10 ⋄ {(a b)←⍵ ⋄ a≥8})⊢(0×⍵ ⋄ ⍵) ⋄ a", 5.0, 1.375),
        ("{√((⍺=0)∨⍵>0.5)¿(⍵ ⋄ 1.)}⍣(⍳2)⊢⍵", 0.0, 0.0),  # the second iteration does not select the root of the first
        ("{(⍵>0)¿(√⍵ ⋄ ⍵)}⍣3⊢⍵", 0.0, 1.0),
    ],
)
def test_what_iterations_do_not_select_makes_no_nan(text: str, x: float, slope: float) -> None:
    assert rho.grad(f"{{{text}}}")(np.array(x)) == slope


def test_loops_without_choices_mask_nothing() -> None:
    text = "(s t)←{(s t)←⍵ ⋄ s←7○(⍺×w[0;])+s×w[1;] ⋄ (s ⋄ t+s+.×s÷1+t)}⍣x⊢(x[0] ⋄ 1.) ⋄ t"
    core = checked(f"input x : f64[4 3]\ninput v : f64[2 3]\noutput g ← {{w←⍵ ⋄ {text}}} ∂ v")
    assert core is not None and "'select'" not in repr(core.block)


@pytest.mark.parametrize(
    ("text", "x", "slopes"),
    [
        ("M←3 2⍴1 2 3 4 0 0÷1 1 1 1 0 0 ⋄ +/(1 1 0/M+.×⍵)*2", [1.0, 2.0], [76.0, 108.0]),
        ("k←(⌊/⍵)>0 ⋄ +/,k⌿(⍟⍵)+.×2 2⍴1 2 3 4", [[0.0, 1], [1, 1], [1, 2]], [[0.0, 0], [3, 7], [3, 3.5]]),
        ("d←⎕det⍤2⊢⍵ ⋄ +/(d>0)¿(d ⋄ 0.)", [[[1.0, 1], [1, 1]], [[2, 1], [1, 2]]], [[[0.0, 0], [0, 0]], [[2, -1], [-1, 2]]]),
        (
            "+/{(0<⌊/,⍵)¿(+/,(⍟⍵)+.×⍟⍵ ⋄ +/,⍵)}⍤2⊢⍵",
            [[[0.0, 1], [1, 1]], [[1, 1], [1, 1]]],
            [[[1.0, 1], [1, 1]], [[0, 0], [0, 0]]],
        ),
    ],
)
def test_rows_selected_away_from_products_make_no_nan(text: str, x: list[Any], slopes: list[Any]) -> None:
    with np.errstate(all="ignore"):
        assert np.allclose(rho.grad(f"{{{text}}}")(np.array(x)), slopes, rtol=1e-12)


@pytest.mark.parametrize("text", ["⍵*2", "⍵*3", "⍵×⍵", "4○⍵", "⍟⍵", "⍵÷2+⍵", "0○⍵÷9", "¯1○⍵÷9", "⍵⍟2", "⍵√2", "!⍵", "|⍵", "1○⍵"])
@pytest.mark.parametrize("hidden", [math.nan, math.inf, 0.0, 1.0, -1.0])
def test_what_is_undefined_and_selected_away_makes_no_nan(text: str, hidden: float) -> None:
    with np.errstate(all="ignore"):
        found = rho.compile(f"{{{{+/1↓{text}}}∂⍵}}")(np.array([hidden, 4.0]))
    assert found[0] == 0 and np.isfinite(found[1])


@pytest.mark.parametrize(
    ("text", "x", "expected"),
    [
        ("{+/{+/(((⍵>¯9)/*⍵)-1)*2}∂⍵}", [0.0, 1.0], [2.0, 8 * math.e**2 / 2 - 2 * math.e]),
        ("{+/{({⍵×⍺}⍣⍵⊢1.)*2}∂⍵}", [1.0, 0.0, 2.0], [0.0, 8.0, 0.0]),
        ("{+/{+/2×⌸(0 0 1 ⋄ ⍵)}∂⍵}", [0.0, 2.0, 3.0], [1.0, 1.0, 0.0]),
        ("{+/{+/2×⌸(0 0 1 ⋄ ⍵)}∂⍵}", [0.0, 0.0, 3.0], [1.0, 1.0, 0.0]),
        ("{+/{+/{(×/⍵)*2}∂⍵}∂⍵}", [1.0, 0.0, 2.0], [16.0, 48.0, 8.0]),
    ],
)
def test_second_derivatives_where_a_cotangent_is_zero(text: str, x: list[float], expected: list[float]) -> None:
    assert np.allclose(rho.compile(f"{{{text}∂⍵}}")(np.array(x)), expected, rtol=1e-12)


def test_every_function_of_floats_has_a_rule_or_is_refused() -> None:
    refused = {"circular", "floor", "ceil", "digamma", "gcd", "lcm"}
    for row in FUNCTIONS.values():
        if not row.kinds.isdisjoint(FLOATS) and row.result is not ResultKind.BOOL:
            assert (row.name in scalar_rules.RULES) != (row.name in refused), row.name
            assert row.name in refused or len(scalar_rules.RULES[row.name]) >= row.arity
    assert set(scalar_rules.CIRCULAR) == set(range(-10, 13))
