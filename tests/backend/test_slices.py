"""Slices tile a space, begin at whole grains, and have no more points than they may where one grain has no more.

What is computed in them may be written over an operand."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

import rho
from rho.backend.cpu.views import box_steps, boxes


@pytest.mark.parametrize(
    ("extents", "grains", "points"),
    [
        ((), (), 5), ((0, 3), (1, 1), 4), ((7,), (1,), 3), ((5, 6, 7), (1, 1, 1), 11), ((5, 6, 7), (1, 1, 1), 50),
        ((3, 1, 9000), (1, 1, 4096), 10_000), ((9000, 3), (4096, 1), 5000), ((4, 10), (1, 10), 3), ((2, 9), (1, 4), 100),
    ],
)  # fmt: skip
def test_slices(extents: tuple[int, ...], grains: tuple[int, ...], points: int) -> None:
    times = np.zeros(extents, int)
    for box in boxes(extents, box_steps(extents, grains, points)):
        times[box] += 1
        assert all(part.start % grain == 0 for part, grain in zip(box, grains, strict=True))
        assert prod(part.stop - part.start for part in box) <= max(points, prod(grains))
    assert np.all(times == 1)


@pytest.mark.parametrize("count", [2, 100_000])
def test_a_choice_may_be_written_over_what_it_chooses_from(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "off")
    made = rho.compile("{e ← 0=⍳≢⍵ ⋄ {e¿(⍵ ⋄ 1+¯1⌽⍵)}⍣6 ⊢ ⍵}")(np.zeros(count))
    np.testing.assert_array_equal(made, np.minimum(np.arange(count), 6.0))
