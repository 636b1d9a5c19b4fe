"""The vectorised sums and random numbers give the bits of their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu.numpy_reductions import block_partials, combine_tree
from rho.backend.cpu.numpy_scalars import fill_uniform
from rho.backend.reference import reductions, scalars

LENGTHS = [1, 2, 3, 7, 127, 128, 129, 255, 256, 257, 300, 511, 512, 1000, 4095, 4096, 4097, 8192, 9000, 12289, 20480]


def ordered_reduce(ufunc: np.ufunc, data: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(combine_tree(ufunc, block_partials(ufunc, np.moveaxis(data, axis, 0))))


def bits(value: object) -> bytes:
    return np.asarray(value).tobytes()


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("name", ["add", "multiply"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128"])
def test_vector(length: int, name: str, dtype: str) -> None:
    ufunc = getattr(np, name)
    data = (np.random.default_rng(length).standard_normal(length) * 1.3).astype(dtype)
    expected = reductions.combine(list(data), ufunc)
    if dtype == "complex128" and name == "multiply":  # NumPy's vector and scalar products differ by a rounding
        assert np.isclose(ordered_reduce(ufunc, data, 0), expected, rtol=1e-11, atol=0)
    else:
        assert bits(ordered_reduce(ufunc, data, 0)) == bits(expected)


@pytest.mark.parametrize("shape", [(5, 300, 3), (300, 4), (3, 4500), (4500, 3), (2, 8, 9), (9000, 1)])
def test_every_axis(shape: tuple[int, ...]) -> None:
    data = np.random.default_rng(1).standard_normal(shape)
    for axis in range(len(shape)):
        got = ordered_reduce(np.add, data, axis)
        columns = np.moveaxis(data, axis, 0).reshape(shape[axis], -1)
        expected = [reductions.combine(list(column), np.add) for column in columns.T]
        assert bits(got.reshape(-1)) == bits(np.array(expected))


def test_strided_operands() -> None:
    data = np.random.default_rng(2).standard_normal((9000, 2))
    for view in (data[:, 0], data[::-1, 1], data[::3, 0], np.broadcast_to(data[0, 0], (5000,))):
        assert bits(ordered_reduce(np.add, view, 0)) == bits(reductions.combine(list(view), np.add))


@pytest.mark.parametrize("length", [1, 3, 300, 4096, 9000])
def test_negative_zeros_stay(length: int) -> None:
    assert np.signbit(ordered_reduce(np.add, np.full(length, -0.0), 0))


@pytest.mark.parametrize("key,stream,start", [(0, 0, 0), (-1, 7, 3), (2**62, -5, 2**33 + 1), (42, 0, 32767)])
def test_philox(key: int, stream: int, start: int) -> None:
    out = np.empty(37)
    fill_uniform(out, key, stream, start)
    assert out.tolist() == [scalars.uniform(key, stream, start + i) for i in range(37)]


def test_philox_pieces_join() -> None:
    whole = np.empty(70001)
    fill_uniform(whole, 9, 1)
    part = np.empty(1001)
    fill_uniform(part, 9, 1, 40001)
    assert np.array_equal(part, whole[40001:41002])
    assert whole[65537] == scalars.uniform(9, 1, 65537)
