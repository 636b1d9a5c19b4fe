"""`f⍫g`: a function with an adjoint of its own."""

from __future__ import annotations

import numpy as np
import pytest

import rho
from rho.lang.diagnostics.model import RhoError

MARKED = "f ← {*⍵}⍫{⍵×10×⍺}"
X = np.array([0.5, 0.25, 1.0, 2.0])


@pytest.mark.parametrize(
    ("text", "slopes"),
    [
        ("{+/f ⍵}", 10 * X),
        ("{+/f¨⍵}", 10 * X),
        ("{+/,{f ⍵}⍤1⊢2 2⍴⍵}", 10 * X),
        ("{+/{f ⍵}⍣2⊢⍵}", 10 * np.exp(X) * 10 * X),
        ("{+/⍵×f ⍵}", np.exp(X) + 10 * X * X),
        ("{+/{⍵>0.4:f ⍵ ⋄ ⍵*2}¨⍵}", np.where(X > 0.4, 10 * X, 2 * X)),
        ("{+/({1.0×⌊⍵}⍫{⍵})3×⍵}", np.full(4, 3.0)),
        ("{+/({×/⍵}⍫{⍵×⍺})⍵}", X),
    ],
)
def test_the_declared_adjoint_is_taken(text: str, slopes: np.ndarray) -> None:  # type: ignore[type-arg]
    assert np.allclose(rho.grad(f"{MARKED}\n{text}")(X), slopes, rtol=1e-14)
    plain = text.replace("f ⍵", "*⍵").replace("f¨⍵", "*⍵")
    if "⍫" not in plain:
        assert np.array_equal(rho.compile(f"{MARKED}\n{text}")(X), rho.compile(plain)(X))


def test_a_tuple_has_a_cotangent_for_each_array() -> None:
    text = "(p q) ← {(a b) ← ⍵ ⋄ ({(c d) ← ⍵ ⋄ c×d}⍫{(c d) ← ⍺ ⋄ (1000×⍵×d ⋄ ⍵×c)})(a+1 ⋄ b)}∂(2. ⋄ 3.) ⋄ p q"
    assert np.array_equal(rho.eval(text), [3000.0, 3.0])


def test_it_is_differentiated_itself() -> None:
    text = "f ← {⍵*3}⍫{⍵×7×⍺*2}\n{+/0.5×{+/f ⍵}∂⍵}"
    assert np.allclose(rho.grad(text)(X), 7 * X, rtol=1e-14)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{+/({⍵*2}⍫{+/⍵})⍵}∂1 2.", "E101"),
        ("({⍵*2}⍫3)1 2", "E008"),
        ("1({⍵*2}⍫{⍵})2", "E130"),
        ("{+/({⍵*2}⍫{(⍵ ⋄ ⍵)})⍵}∂1 2.", "E105"),
        ("{+/({⍵*2}⍫{'abc'})⍵}∂1 2 3.", "E300"),
    ],
)
def test_a_wrong_adjoint_is_refused(text: str, code: str) -> None:
    with pytest.raises(RhoError, match=code):
        rho.eval(text)
