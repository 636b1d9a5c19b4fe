"""Numbers of Python's are arrays of them wherever a function makes axes of them: in every call, with the same values."""

from __future__ import annotations

import numpy as np
import pytest

import rho

TEXTS = (
    "{1,⍵}", "{⍵,2.5}", "{⌽,⍵}", "{⍋,⍵}", "{(,⍵)[⍋,⍵]}", "{∪,⍵}", "{+\\,⍵}", "{1⌽,⍵}", "{3⍴,⍵}", "{(,⍵)⍳2.0 3}", "{2.0 3⍳,⍵}",
    "{⍪⍵}", "{(0<,⍵)⌿,⍵}", "{⌹1 1⍴⍵}", "{(1 1⍴⍵)+.×1 1⍴⍵}", "{2↑,⍵}", "{,⍵}", "{⍵∊1 2.5}", "{1⊖⍪⍵}", "{⍕,⍵}",
)  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("number", [2.5, 3, np.float64(2.5), np.int64(3)], ids=repr)
def test_numbers_are_arrays_without_axes(text: str, number: float) -> None:
    function, expected = rho.compile(text), np.asarray(rho.compile(text)(np.array(number)))
    results = []
    for _ in range(8):
        results.append(function(number))
    for result in results:  # all are there still: none shows memory of a call that is over
        np.testing.assert_array_equal(result, expected, strict=True)
