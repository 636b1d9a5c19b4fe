"""Slices tile a space, begin at whole grains, and have no more points than they may where one grain has no more."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from rho.backend.run.cpu.slices import slices


@pytest.mark.parametrize(
    ("extents", "grains", "points"),
    [
        ((), (), 5), ((0, 3), (1, 1), 4), ((7,), (1,), 3), ((5, 6, 7), (1, 1, 1), 11), ((5, 6, 7), (1, 1, 1), 50),
        ((3, 1, 9000), (1, 1, 4096), 10_000), ((9000, 3), (4096, 1), 5000), ((4, 10), (1, 10), 3), ((2, 9), (1, 4), 100),
    ],
)  # fmt: skip
def test_slices(extents: tuple[int, ...], grains: tuple[int, ...], points: int) -> None:
    times = np.zeros(extents, int)
    for box in slices(extents, grains, points):
        times[box] += 1
        assert all(part.start % grain == 0 for part, grain in zip(box, grains, strict=True))
        assert prod(part.stop - part.start for part in box) <= max(points, prod(grains))
    assert np.all(times == 1)
