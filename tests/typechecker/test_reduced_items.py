"""What a reduction by any function takes: elements where the function makes one element of two, else major cells."""

from __future__ import annotations

import numpy as np
import pytest

import rho

ELEMENTS = {  # as APL has them
    "{≢⍵}⌿2 3⍴⍳6": [1, 1, 1], "{⍺+1⌽⍵}⌿2 3⍴⍳6": [3, 5, 7], "(⊣+(1⌽⊢))⌿2 3⍴⍳6": [3, 5, 7], "(⊣+⌽)⌿2 3⍴⍳6": [3, 5, 7],
    "{⍺+2×⍵}⌿2 3⍴⍳6": [6, 9, 12], "{⍺-⍵}/2 3⍴⍳6": [1, 4], "(⊣+(1⌽⊢))⍀2 3⍴⍳6": [[0, 1, 2], [3, 5, 7]],
    "{⍺+.×⍵}/[0]2 2 2⍴⍳8": [[0, 5], [12, 21]],
}  # fmt: skip
CELLS = {"{⍺+⍵[0]}⌿2 3⍴⍳6": [3, 4, 5]}


@pytest.mark.parametrize("text", [*ELEMENTS, *CELLS])
def test_a_train_and_a_dfn_take_the_same_items(text: str) -> None:
    assert np.array_equal(np.asarray(rho.eval(text)), (ELEMENTS | CELLS)[text])


def test_a_signature_asks_for_cells() -> None:
    text = "g : f64[c] → f64[c] → f64[c] where c ≥ 1\ng ← {⍺-(+/⍵)÷≢⍵}\ng⌿f64 2 3⍴⍳6"
    assert np.array_equal(np.asarray(rho.eval(text)), [-4, -3, -2])
