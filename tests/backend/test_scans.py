"""The order of scans: what NumPy computes has the bits of the definition, along every axis and whatever the layout."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

from rho.backend.cpu.numpy_reductions import scan_axis
from rho.backend.reference.reductions import BLOCK, RUN, running
from rho.tests.kernels.phases import data, same_bits
from rho.typechecker.elements import Kind

LENGTHS = (1, RUN - 1, RUN, RUN + 1, 5 * RUN + 3, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + RUN, 40_001)
SHAPES = [*(((n,), 0) for n in LENGTHS), ((5, 200), 1), ((300, 4), 0), ((2, 130, 3), 1), ((3, BLOCK + 70, 2), 1), ((40, 3000), 1)]


def defined(function: Any, array: Any, axis: int) -> Any:
    made = np.empty_like(array)
    for point in np.ndindex(*array.shape[:axis], *array.shape[axis + 1 :]):
        line = (*point[:axis], slice(None), *point[axis:])
        made[line] = running(list(array[line]), function)
    return made


def test_short_lines_are_running_sums() -> None:
    line = data(Kind.F64, RUN, 1)
    with np.errstate(all="ignore"):
        assert same_bits(np.array(running(list(line), operator.add)), np.add.accumulate(line))
    assert running([1, 2, 3], operator.add) == [1, 3, 6] and running([], operator.add) == []


def test_what_comes_before_does_not_depend_on_what_follows() -> None:
    line = np.random.default_rng(1).standard_normal(2 * BLOCK + 9)
    whole = running(line.tolist(), operator.add)
    for length in LENGTHS[:-2]:
        assert running(line[:length].tolist(), operator.add) == whole[:length]


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
@pytest.mark.parametrize("ufunc", [np.add, np.multiply])
def test_numpy_keeps_the_order(kind: Kind, ufunc: np.ufunc) -> None:
    function, name = (operator.add, "add") if ufunc is np.add else (operator.mul, "mul")
    for shape, axis in SHAPES:
        array = data(kind, int(np.prod(shape)), 7).reshape(shape)
        plain = np.where(
            np.isfinite(array) & (abs(array) < 4) & (abs(array) > 0.1), array, array.dtype.type(-0.0 if ufunc is np.add else 1)
        )
        with np.errstate(all="ignore"):
            for one in (array, plain, np.asfortranarray(plain), plain[::-1]):
                assert same_bits(scan_axis(name, kind, one, axis), defined(function, one, axis)), (shape, axis)
