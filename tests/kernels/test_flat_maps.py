"""Element-wise phases over rows of a few items: the bits of NumPy, whatever the operands repeat on."""

from __future__ import annotations

import pytest

from rho.backend.cpu import kernels as compiled, parallel_for
from rho.backend.lower.body import Kernel
from rho.backend.lower.loop_order import StoreMode
from rho.backend.vm import run_state
from rho.tests.kernels.phases import apply, both, data, phase, projection, read, same_bits
from rho.typechecker.elements import Kind


@pytest.fixture(autouse=True)
def every_launch_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel_for, "PARALLEL", 0)


@pytest.mark.parametrize("kind", [Kind.F64, Kind.F32, Kind.I64, Kind.U8, Kind.BOOL, Kind.C128, Kind.C64])
@pytest.mark.parametrize("length", [2, 3, 4, 5, 8, 18])
def test_rows_and_columns(kind: Kind, length: int, kernels: list[Kernel]) -> None:
    """All items, one a row (side by side and apart), one a column, two results."""
    most, least = ("or", "and") if kind is Kind.BOOL else ("add", "sub") if kind.is_complex else ("max", "min")
    body = [read(i, kind) for i in range(4)]
    body += [apply(most, (0, 1), kind), apply(least, (1, 2), kind), apply(most, (4, 3), kind), apply(least, (5, 6), kind)]
    for rows in (128, 129, 200, 1003):
        space = [rows, length]
        reads = [
            projection(space, space, [0, 1]), projection(space, [rows], [0]),
            projection(space, [rows, 3], [0, 0], [1, 0], [0, 2]), projection(space, [length], [1]),
        ]  # fmt: skip
        made = phase(space, reads, body, [7, 5])
        arrays = [data(kind, rows * length, 1).reshape(space), data(kind, rows, 2), data(kind, rows * 3, 3).reshape(rows, 3),
                  data(kind, length, 4)]  # fmt: skip
        for threads in (1, 3):
            for kernel, plain in both(made, arrays, threads):
                assert same_bits(kernel, plain), (rows, threads)
        assert kernels[-1].length == (length if length <= 5 - kind.is_complex else 0)


def test_frames_around(kernels: list[Kernel]) -> None:
    """A third axis outside, and an operand that is turned around on it."""
    kind, space = Kind.F64, [5, 70, 3]
    reads = [
        projection(space, space, [0, 1, 2]),
        projection(space, [70], [1]),
        projection(space, [5, 3], [0, 2], [-1, 1], [4, 0]),
    ]
    body = [read(0, kind), read(1, kind), read(2, kind), apply("sub", (0, 1), kind), apply("mul", (3, 2), kind)]
    arrays = [data(kind, 1050, 1).reshape(space), data(kind, 70, 2), data(kind, 15, 3).reshape(5, 3)]
    for kernel, plain in both(phase(space, reads, body, [4]), arrays):
        assert same_bits(kernel, plain)
    assert kernels[-1].length == 3


@pytest.mark.parametrize("length", [8, 16, 24, 40, 72, 104])
def test_rows_past_the_caches(length: int, kernels: list[Kernel], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that are whole lines of memory are streamed."""
    monkeypatch.setattr(compiled, "STREAMING_BYTES", 1 << 12)
    monkeypatch.setattr(run_state, "MIN_POOLED", 0)
    space = [301, length]
    reads = [projection(space, space, [0, 1]), projection(space, [length], [1])]
    made = phase(space, reads, [read(0, Kind.F64), read(1, Kind.F64), apply("sub", (0, 1), Kind.F64)], [2])
    arrays = [data(Kind.F64, 301 * length, 1).reshape(space), data(Kind.F64, length, 2)]
    for threads in (1, 3):
        for kernel, plain in both(made, arrays, threads):
            assert same_bits(kernel, plain)
    assert kernels[-1].stores is StoreMode.STREAMED
