"""Rotations along axes of a few steps of large arrays."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.tests.harness.tiers import checked

CASES = [((400, 3), "1⌽a", -1, 1), ((400, 8), "¯3⌽a", -1, -3), ((7, 300), "2⊖a", 0, 2), ((2, 40, 30), "1⊖a", 0, 1),
         ((600, 5, 2), "9⊖a", 0, 9)]  # fmt: skip


@pytest.mark.parametrize(("shape", "text", "axis", "turn"), CASES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_rotations(shape: tuple[int, ...], text: str, axis: int, turn: int, order: str) -> None:
    array = np.asarray(np.random.default_rng(1).random(shape), order=order)  # type: ignore[call-overload]
    core = checked(f"input a : f64[{' '.join('nmk'[: len(shape)])}]\noutput r ← {text}\n")
    assert core is not None
    bound = backend.load(core, {"a": array}, {})
    made = backend.execute(backend.plan(bound), bound, {"a": array}).outputs["r"].value
    assert np.array_equal(made, np.roll(array, -turn, axis))
