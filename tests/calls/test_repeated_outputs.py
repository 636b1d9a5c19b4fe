"""One value given several times: each result is an array of its own, from the first call to those of native code."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import rho

CALLS = 9
"""More than it takes until native code runs."""
TEXTS = (
    "{v ← 2×⍵ ⋄ (v ⋄ v)}", "{v ← ,2×⍵ ⋄ (v ⋄ v ⋄ v)}", "{v ← ⍉2×⍵ ⋄ (v ⋄ v)}", "{v ← ⍵[⍋⍵] ⋄ (v ⋄ v)}", "{v ← ⍪2×⍵ ⋄ (v ⋄ ⍉⍉v)}",
    "{v ← 1 7⍴2×⍵ ⋄ (v ⋄ ⊖v)}", "{v ← 2×⍵ ⋄ w ← v+1 ⋄ (v ⋄ w ⋄ v ⋄ w)}", "{(⍵ ⋄ ⍵)}",
)  # fmt: skip


@pytest.mark.parametrize("length", (7, 20_000))
@pytest.mark.parametrize("text", TEXTS)
def test_each_result_is_an_array_of_its_own(text: str, length: int) -> None:
    text, values = text.replace("1 7", f"1 {length}"), np.arange(float(length))[::-1].copy()
    function, first = rho.compile(text), None
    for _ in range(CALLS):
        results = [np.asarray(one) for one in function(values)]
        first = first or [one.copy() for one in results]
        assert all(np.array_equal(one, other) for one, other in zip(results, first, strict=True))
        assert not any(np.shares_memory(one, other) for one, other in combinations((*results, values), 2))
        for one in results:
            one[...] = -1.0  # what a caller does with a result shows in no other
