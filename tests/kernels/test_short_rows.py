"""Short rows that stay in registers: the bits of the order of sums, whatever their length, layout and neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.graph.phases import AxisNode
from rho.backend.lower.body import Kernel
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind

SUMS = [(kind, function) for kind in (Kind.F64, Kind.F32, Kind.I64, Kind.I32) for function in ("add", "mul", "max")]


@pytest.mark.parametrize(("kind", "function"), [*SUMS, (Kind.C128, "add"), (Kind.C64, "add")])
def test_rows(kind: Kind, function: str, kernels: list[Kernel]) -> None:
    for length in (6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 100, 129, 255, 256):
        made = phase([37, length], [projection([37, length], [37, length], [0, 1])], [read(0, kind)], [0], function)
        array = data(kind, 37 * length, length).reshape(37, length)
        if kind.is_float:
            array[5:] = np.random.default_rng(length).standard_normal((32, length))
        for kernel, plain in both(made, [array], 2):
            assert same_bits(kernel, plain), length
        assert kernels[-1].length == length


def test_longer_rows_are_not_of_this_sort(kernels: list[Kernel]) -> None:
    made = phase([40, 257], [projection([40, 257], [40, 257], [0, 1])], [read(0, Kind.F64)], [0], "add")
    for kernel, plain in both(made, [data(Kind.F64, 40 * 257, 1).reshape(40, 257)]):
        assert same_bits(kernel, plain)
    assert kernels[-1].length == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_tables_of_distances(kind: Kind, order: Any, kernels: list[Kernel]) -> None:
    """Two results, a coordinate, operands that repeat; one that lies in columns is packed."""
    convert = apply("convert", (4,), Kind.I64, to=kind)
    body = [read(0, kind), read(1, kind), apply("sub", (0, 1), kind), apply("mul", (2, 2), kind), AxisNode(2), convert,
            apply("mul", (2, 5), kind)]  # fmt: skip
    for length in (20, 64):
        space = [33, 50, length]
        left, right = projection(space, [33, length], [0, 2]), projection(space, [50, length], [1, 2])
        made = phase(space, [left, right], body, [3, 6], "add")
        arrays = [data(kind, 33 * length, 1).reshape(33, length), data(kind, 50 * length, 2).reshape(50, length)]
        for kernel, plain in both(made, [arrays[0], np.asarray(arrays[1], order=order)], 2):
            assert same_bits(kernel, plain), length
        assert kernels[-1].length == length
