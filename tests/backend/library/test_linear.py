"""Linear algebra and transforms: library ops agree with the reference interpreter."""

from __future__ import annotations

import gc
import itertools
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.library import linear as by_lapack
from rho.backend.library.linear import Square
from rho.backend.reference import linear
from rho.backend.vm.values import Array, array, to_numpy
from rho.tests.backend.library.agreeing import compare, run
from rho.typechecker.elements import Kind

MATRICES = [(1, 1), (2, 2), (4, 4), (5, 2), (2, 5)]


def matrix(kind: Kind, shape: Sequence[int], seed: int = 0) -> Array:
    draw = random.Random(f"{shape}{seed}")
    items = [complex(draw.uniform(-2, 2), draw.uniform(-2, 2) if kind.is_complex else 0) for _ in range(math.prod(shape))]
    return array(kind, shape, items if kind.is_complex else [v.real for v in items])


def library(name: str, args: Sequence[Array], results: Sequence[tuple[Kind, tuple[int, ...]]], tolerance: float = 2000.0) -> None:
    compare(name, args, lambda *a: linear.library(name, a, [k for k, _ in results], [s for _, s in results]), tolerance)


@pytest.mark.parametrize("kind", [Kind.F32, Kind.F64, Kind.C64, Kind.C128])
def test_linear_algebra(kind: Kind) -> None:
    part = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}.get(kind, kind)
    for frame, (m, n) in itertools.product([(), (2,), (2, 1), (0,)], MATRICES):
        a, k = matrix(kind, (*frame, m, n)), min(m, n)
        library("inverse", [a], [(kind, (*frame, n, m))])
        library("solve", [matrix(kind, (*frame, m, 3), 1), a], [(kind, (*frame, n, 3))])
        library("solve", [matrix(kind, (*frame, m), 1), a], [(kind, (*frame, n))])
        library("qr", [a], [(kind, (*frame, m, k)), (kind, (*frame, k, n))])
        library("svd", [a], [(kind, (*frame, m, k)), (part, (*frame, k)), (kind, (*frame, k, n))])
        if m == n:
            library("det", [a], [(kind, frame)])
            library("slogdet", [a], [(kind, frame), (part, frame)])
            raised = to_numpy(a)
            positive = raised @ np.conjugate(np.swapaxes(raised, -1, -2)) + np.eye(n)
            hermitian = array(kind, positive.shape, positive.reshape(-1).tolist())
            library("cholesky", [hermitian], [(kind, hermitian.shape)])
            library("eigh", [hermitian], [(part, (*frame, n)), (kind, hermitian.shape)])


def test_matrices_of_lower_rank_and_without_items() -> None:
    kind = Kind.F64
    library("inverse", [matrix(kind, (3,))], [(kind, (3,))])
    library("inverse", [matrix(kind, ())], [(kind, ())])
    library("solve", [matrix(kind, (3,)), matrix(kind, (3,), 1)], [(kind, ())])
    library("det", [matrix(kind, (0, 0))], [(kind, ())])
    library("slogdet", [matrix(kind, (0, 0))], [(kind, ()), (kind, ())])
    library("slogdet", [array(kind, (2, 2), [1.0, 2.0, 2.0, 4.0])], [(kind, ()), (kind, ())])
    library("inverse", [matrix(kind, (0, 0))], [(kind, (0, 0))])
    library("inverse", [matrix(kind, (3, 0))], [(kind, (0, 3))])
    library("qr", [matrix(kind, (3, 0))], [(kind, (3, 0)), (kind, (0, 0))])
    library("qr", [matrix(kind, (0, 3))], [(kind, (0, 0)), (kind, (0, 3))])
    library("svd", [matrix(kind, (0, 3))], [(kind, (0, 0)), (kind, (0,)), (kind, (0, 3))])
    library("cholesky", [matrix(kind, (0, 0))], [(kind, (0, 0))])
    library("eigh", [matrix(kind, (0, 0))], [(kind, (0,)), (kind, (0, 0))])


@pytest.mark.parametrize(
    ("name", "items", "shape", "count"),
    [
        ("inverse", [1.0, 2.0, 2.0, 4.0], (2, 2), 1),
        ("inverse", [0.0] * 4, (2, 2), 1),
        ("inverse", [1.0, 1.0] * 3, (3, 2), 1),
        ("inverse", [1.0, 1.0, 1.0] * 2, (2, 3), 1),
        ("cholesky", [1.0, 2.0, 2.0, 1.0], (2, 2), 1),
        ("cholesky", [0.0], (1, 1), 1),
        ("cholesky", [math.nan], (1, 1), 1),
    ],
)
def test_matrices_without_an_answer(name: str, items: list[float], shape: tuple[int, int], count: int) -> None:
    library(name, [array(Kind.F64, shape, items)], [(Kind.F64, shape[::-1])] * count)


def test_a_matrix_that_is_not_finite_gives_nan_alone() -> None:
    value = matrix(Kind.F64, (2, 2, 2))
    bad = array(Kind.F64, (2, 2, 2), [math.nan, *value.data[1:]])
    u, s, v = run("svd", [bad], [(Kind.F64, (2, 2, 2)), (Kind.F64, (2, 2)), (Kind.F64, (2, 2, 2))], {})
    assert np.isnan(s[0]).all() and np.isfinite(s[1]).all() and np.allclose(u[1] * s[1] @ v[1], to_numpy(value)[1])
    assert np.isnan(run("eigh", [bad], [(Kind.F64, (2, 2)), (Kind.F64, (2, 2, 2))], {})[0][0]).all()


@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_transforms(length: int) -> None:
    for frame in [(), (3,), (2, 2), (0,)]:
        for kind in (Kind.C64, Kind.C128):
            library("fft", [matrix(kind, (*frame, length))], [(kind, (*frame, length))])
            library("ifft", [matrix(kind, (*frame, length))], [(kind, (*frame, length))])
        for kind, wide in ((Kind.F32, Kind.C64), (Kind.F64, Kind.C128)):
            library("rfft", [matrix(kind, (*frame, length))], [(wide, (*frame, length // 2 + 1))])
            library("irfft", [matrix(wide, (*frame, length // 2 + 1))], [(kind, (*frame, length))])


def test_calls_share_only_small_work_space() -> None:
    """And a result is new each time."""
    chance = np.random.default_rng(5)
    for text, operands in (("{⌹⍵}", [(5, 5)]), ("{⍺⌹⍵}", [(5,), (5, 5)]), ("{(q r)←⎕qr ⍵ ⋄ q+.×r}", [(5, 3)])):
        function = rho.compile(text)
        given = [[chance.random(shape) for shape in operands] for _ in range(8)]
        results = [function(*arrays) for arrays in given]
        for arrays, result in zip(given, results, strict=True):
            assert np.allclose(result, function(*arrays), rtol=0, atol=0)
    function, large = rho.compile("{⌹⍵}"), chance.random((200, 200))
    for _ in range(4):
        function(large)
    assert not [item for item in gc.get_objects() if isinstance(item, Square) and len(item.solution) == len(large)]


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize("rows", [1, 2, 5, 40, 70])
def test_systems_in_native_programs(rows: int, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's bits, with no Python between but for what may not have full rank."""
    monkeypatch.setenv("RHO_KERNELS", "always")
    rng = np.random.default_rng(rows)
    matrix = rng.standard_normal((rows, rows)) + (0.5j * rng.random((rows, rows)) if dtype is np.complex128 else 0)
    side, sides = rng.random(rows).astype(dtype), rng.random((rows, 6)).astype(dtype)
    for text, given, expected in (
        ("{⍺⌹⍵}", (side, matrix), np.linalg.solve(matrix, side)), ("{⍺⌹⍵}", (sides, matrix), np.linalg.solve(matrix, sides)),
        ("{⍺⌹⍉⍵}", (sides[:, ::-2], matrix), np.linalg.solve(matrix.T, sides[:, ::-2])),
        ("{⌹⍵}", (matrix,), np.linalg.solve(matrix, np.eye(rows, dtype=dtype))),
    ):  # fmt: skip
        function = rho.compile(text)
        for _ in range(3):
            function(*given)
        with monkeypatch.context() as patch:
            patch.delattr(by_lapack, "_solution")  # which Python would call
            assert function(*given).tobytes() == np.ascontiguousarray(expected).tobytes(), text
        for singular in (np.zeros_like(matrix), np.ones_like(matrix), np.full_like(matrix, 1e-30)):
            if rows > 1 or not singular.any():
                with pytest.raises(rho.RunFailed, match="the matrix is singular"):
                    function(*given[:-1], singular)
