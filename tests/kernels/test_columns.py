"""Reductions down columns in registers, and the places of least and greatest items, through kernels and on NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from share import SEED

from rho.backend.cpu import kernels, parallel_for
from rho.backend.cpu.views import DTYPES
from rho.backend.graph.phases import AxisNode, ConstantNode
from rho.backend.jit import tiering
from rho.backend.lower.loop_order import Form
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, run, same_bits
from rho.typechecker.elements import Kind

KINDS = [Kind.F64, Kind.F32, Kind.I64, Kind.I32, Kind.U8, Kind.BOOL]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", ["argmin", "argmax"])
def test_places(kind: Kind, function: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 0)
    for cells, length in ((2, 1), (5, 9), (33, 2), (700, 16), (1031, 70)):
        for transposed in (False, True):
            shape, axes = ([length, cells], [1, 0]) if transposed else ([cells, length], [0, 1])
            made = phase([cells, length], [projection([cells, length], shape, axes)], [read(0, kind)], [0], function)
            array = data(kind, cells * length, cells).reshape(shape)
            for threads in (1, 3):
                for kernel, plain in both(made, [array], threads):
                    assert same_bits(kernel, plain), (cells, length, transposed, threads)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_places_beside_extremes(kind: Kind) -> None:
    """Results of one phase, of which the position shares the extreme unless an item is NaN."""
    body = [read(0, kind), ConstantNode(kind, 0.0), apply("add", (0, 1), kind)]
    for length in (64, 1024, 2500):
        rows = np.random.default_rng(length).integers(-50, 50, (6, length)).astype(DTYPES[kind])
        rows[1, length // 2], rows[2], rows[3], rows[4, ::2] = np.nan, np.nan, -np.inf, -0.0
        for place, extreme in (("argmax", "max"), ("argmin", "min")):
            made = phase([6, length], [projection([6, length], [6, length], [0, 1])], body, [0, 2], extreme)
            made = replace(made, results=(replace(made.results[0], reduction=place), made.results[1]))
            for kernel, plain in both(made, [rows]):
                assert same_bits(kernel, plain), (length, place)


def test_places_of_rows_without_numbers() -> None:
    rows = np.array([[np.nan, np.nan, np.nan], [np.nan, 2.0, 1.0], [np.inf, np.nan, np.inf], [0.0, -0.0, np.nan]] * 9)
    for function, expected in (("argmin", [0, 2, 0, 0]), ("argmax", [0, 1, 0, 0])):
        made = phase([36, 3], [projection([36, 3], [36, 3], [0, 1])], [read(0, Kind.F64)], [0], function)
        for kernel, plain in both(made, [rows]):
            assert kernel.tolist() == plain.tolist() == expected * 9


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I32])
def test_outer_products(kind: Kind, function: str) -> None:
    """An operand of the cells alone, one of the rows alone, and the coordinate of both."""
    body = [read(0, kind), read(1, kind), apply("sub", (0, 1), kind), AxisNode(0), AxisNode(1), apply("add", (3, 4), Kind.I64)]
    for cells, length in ((16, 5), (257, 33), (1000, 300)):
        left, right = projection([cells, length], [cells, 4], [0, 0], [1, 0], [0, 3]), projection([cells, length], [length], [1])
        made = phase([cells, length], [left, right], body, [2, 5], function)
        arrays = [data(kind, cells * 4, 1).reshape(cells, 4), data(kind, length, 2)]
        for kernel, plain in both(made, arrays, 2):
            assert same_bits(kernel, plain)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_sums_of_few_columns(kind: Kind) -> None:
    """Neighbouring lanes are added together down full rows, and singly in the last one; wide columns are not."""
    body = [read(0, kind), apply("mul", (0, 0), kind)]
    for cells, length in ((3, 512), (4, 513), (5, 769), (16, 1023), (7, 8192 + 515), (17, 1030)):
        made = phase([cells, length], [projection([cells, length], [length, cells], [1, 0])], body, [0, 1], "add")
        array = np.random.default_rng(cells).standard_normal((length, cells)).astype(DTYPES[kind])
        array[:, 0] = -0.0
        for threads in (1, 2):
            for kernel, plain in both(made, [array], threads):
                assert same_bits(kernel, plain), (cells, length, threads)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32])
def test_sums_where_forms_change(kind: Kind) -> None:
    """Columns and rows with a vector, at the lengths between which lanes are full, halved in registers or stored."""
    rng = np.random.default_rng(SEED)
    lengths = [1, 2, 3, 4, 5, 7, 8, 255, 256, 257, 271, 272, 273, 383, 384, 385, 511, 512, 513, 4096 + int(rng.integers(1, 600))]
    for length in (*lengths, *map(int, rng.integers(1, 600, 4))):
        cells = int(rng.integers(4, 90))
        matrix, vector = (rng.standard_normal(shape).astype(DTYPES[kind]) for shape in ((cells, length), length))
        matrix[0], matrix[1, ::3] = -0.0, np.inf
        space, with_vector = [cells, length], projection([cells, length], [length], [1])
        for array, axes in ((matrix, [0, 1]), (matrix.T.copy(), [1, 0])):
            for function in ("mul", "sub"):
                body = [read(0, kind), read(1, kind), apply(function, (0, 1), kind)]
                made = phase(space, [projection(space, array.shape, axes), with_vector], body, [2], "add")
                for kernel, plain in both(made, [array, vector]):
                    assert same_bits(kernel, plain), (cells, length, axes, function)
            made = phase(space, [projection(space, array.shape, axes)], [read(0, kind), apply("exp", (0,), kind)], [1], "add")
            for kernel, plain in both(made, [array]):
                assert same_bits(kernel, plain), (cells, length, axes)


def test_columns_are_chosen() -> None:
    kind = Kind.F64
    left, right = projection([500, 40], [500], [0]), projection([500, 40], [40], [1])
    made = phase([500, 40], [left, right], [read(0, kind), read(1, kind), apply("mul", (0, 1), kind)], [2], "max")
    seen: list[Form] = []
    original = kernels.CompiledRun.bind

    def bind(self: kernels.CompiledRun, code: object, arrays: object) -> object:
        seen.append(code.kernel.form)  # type: ignore[attr-defined]
        return original(self, code, arrays)  # type: ignore[arg-type]

    kernels.CompiledRun.bind = bind  # type: ignore[method-assign, assignment]
    try:
        run(made, [np.arange(500.0), np.arange(40.0)], tiering.Mode.ALWAYS)
    finally:
        kernels.CompiledRun.bind = original  # type: ignore[method-assign]
    assert seen == [Form.REDUCE_IN_REGISTERS]


def test_small_operands_are_packed() -> None:
    """Those that are read again and again from places apart."""
    kind = Kind.F64
    space = [300, 200]
    left, right = projection(space, [300, 3], [0, 0], [1, 0], [0, 1]), projection(space, [200, 3], [1, 1], [1, 0], [0, 2])
    made = phase(space, [left, right], [read(0, kind), read(1, kind), apply("sub", (0, 1), kind)], [2])
    arrays = [data(kind, 900, 1).reshape(300, 3), data(kind, 600, 2).reshape(200, 3)]
    for kernel, plain in both(made, arrays):
        assert same_bits(kernel, plain)
