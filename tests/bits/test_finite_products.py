"""A product or running product of finite floats is a number in every tier, whatever its order overflows to on the way."""

from __future__ import annotations

import numpy as np
import pytest
from share import drawing

from rho.tests.harness.tiers import MODES, accepted, arrays, by_reference, outcome

PROGRAMS = ("×/x", "×⌿x", "×/,x", "×\\x", "×⍀x", "{×/⍵}⍤1⊢x", "3×/x", "+/×/x×1.0", "3 ×⌸ (3|⍳n ⋄ x)", "×/|x", "×\\⍉x")
SHAPES = ((1, 1), (4, 3), (3, 70), (70, 3), (2, 300), (0, 3), (3, 0))
LONG = ((1, 4_200), (4_200, 1))
SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan)


def drawn(random: np.random.Generator, shape: tuple[int, int], dtype: type, special: bool) -> np.ndarray:
    """Factors that overflow and vanish, with zeros; with `special` a few that are not finite."""
    large = 1e200 if dtype is np.float64 else 1e30
    items = random.choice([large, -large, 1 / large, 2.0, -0.5, 0.0, -0.0], size=shape, p=[0.4, 0.1, 0.1, 0.2, 0.1, 0.05, 0.05])
    if special:
        items = np.where(random.random(shape) < 0.05, random.choice(SPECIAL, size=shape), items)
    return items.astype(dtype)


def products_of(text: str, x: np.ndarray) -> list[np.ndarray]:
    """Of each prefix or line that a result multiplies, the factors, by an independent rule: those that decide on NaN."""
    match text:
        case "×/x" | "{×/⍵}⍤1⊢x" | "×/|x":
            return list(x)
        case "×⌿x":
            return list(x.T)
        case "×/,x":
            return [x.reshape(-1)]
        case "×\\x":
            return [row[: i + 1] for row in x for i in range(len(row))]
        case "×⍀x":
            return [x[: i + 1, j] for i in range(len(x)) for j in range(x.shape[1])]
        case "×\\⍉x":
            return [x.T[i, : j + 1] for i in range(x.shape[1]) for j in range(len(x))]
        case "3×/x":
            return [row[i : i + 3] for row in x for i in range(len(row) - 2)]
        case "3 ×⌸ (3|⍳n ⋄ x)":
            return [x[bin::3, j] for bin in range(3) for j in range(x.shape[1])]
    return []


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("text", PROGRAMS)
def test_a_product_of_finite_items_is_a_number(text: str, special: bool) -> None:
    random = np.random.default_rng(drawing(text, special).getrandbits(32))
    for name, dtype in (("f64", np.float64), ("f32", np.float32)):
        core = accepted(f"input x : {name}[n m]\nn ← ≢x\noutput r ← {text}")
        for shape in [*SHAPES, random.choice(LONG)]:
            if text == "3×/x" and shape[1] < 3:
                continue
            x = drawn(random, shape, dtype, special)
            (expected,) = arrays(by_reference(core, {"x": x}))
            factors = products_of(text, x)
            assert len(factors) in (0, expected.size)
            for result, items in zip(expected.reshape(-1), factors, strict=False):
                assert not (np.isnan(result) and np.isfinite(items).all()), (text, shape, items)
            for mode in MODES:
                for _ in range(2):
                    (result,) = arrays(outcome(core, {"x": x}, mode))
                    np.testing.assert_array_equal(result, expected, err_msg=f"{text} {shape} {mode}", strict=True)


def test_an_infinite_item_times_zero_is_nan() -> None:
    core = accepted("input x : f64[n]\noutput r ← ×/x\noutput s ← ×\\x")
    for mode in MODES:
        product, running = arrays(outcome(core, {"x": np.array([1e200, 1e200, 0.0, np.inf, 2.0])}, mode))
        assert np.isnan(product)
        np.testing.assert_array_equal(running, [1e200, np.inf, 0.0, np.nan, np.nan])
