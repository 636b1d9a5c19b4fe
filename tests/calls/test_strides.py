"""Axes that are taken for one: every item must lie where the one stride says, whatever repeats, turns back or has length 1."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rho.backend.cpu.views import common_stride
from rho.backend.lower.loop_order import plan_nest

SIZES = (1, 2, 3)
STRIDES = (0, 8, 16, 24, -8, 48)


def distances(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """How far each item is from the first, in row-major order."""
    return [sum(i * s for i, s in zip(point, strides, strict=True)) for point in np.ndindex(shape)]


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_one_stride_reaches_every_item(rank: int) -> None:
    for shape in itertools.product(SIZES, repeat=rank):
        for strides in itertools.product(STRIDES, repeat=rank):
            step = common_stride(shape, strides)
            places = distances(shape, strides)
            even = [place * (places[1] if len(places) > 1 else 0) for place in range(len(places))]
            if step is None:
                assert places != even, (shape, strides)  # what is evenly spaced is seen to be
            else:
                assert places == [place * step for place in range(len(places))], (shape, strides)


@pytest.mark.parametrize("reduces", [False, True])
def test_merged_loops_reach_every_item(reduces: bool) -> None:
    for shape in itertools.product(SIZES, repeat=3):
        for strides in itertools.product(STRIDES, repeat=3):
            own = tuple(0 if size == 1 else step for size, step in zip(shape, strides, strict=True))
            nest = plan_nest(shape, reduces, [own], ())
            order = (*nest.order, 2) if reduces else nest.order
            ordered = distances(tuple(shape[axis] for axis in order), tuple(own[axis] for axis in order))
            assert distances(nest.sizes, nest.strides[0]) == ordered, (shape, strides)
