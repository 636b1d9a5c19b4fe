"""The programs of CFAL-bench in Rho (`benchmarks/cfal`) at small sizes, against NumPy and a published value."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import rho

pytestmark = pytest.mark.long

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "cfal"
CLASS_S = 0.5307707005734e-04
"""The residual of NAS MG, class S, as NPB's verification has it."""


@pytest.fixture(scope="module")
def peers() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cfal_run", PROGRAMS / "run.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_bodies(peers: ModuleType) -> None:
    draw = np.random.default_rng(3)
    given = {"position": draw.random((9, 3)), "velocity": draw.random((9, 3)), "mass": draw.random(9)}
    found = rho.load(PROGRAMS / "nbody.rho").run(**given, steps=4)["positions"]
    np.testing.assert_allclose(found, peers.nbody(**given, steps=4), rtol=1e-10)


def test_attention(peers: ModuleType) -> None:
    draw = np.random.default_rng(4)
    given = {name: draw.standard_normal((20, 6)).astype(np.float32) for name in "qkv"}
    np.testing.assert_allclose(rho.load(PROGRAMS / "attention.rho").run(**given)["o"], peers.attention(**given), rtol=1e-4)


def test_multigrid(peers: ModuleType) -> None:
    v = peers.mg_start(32)
    assert np.count_nonzero(v) == 20 and v.sum() == 0
    found = rho.load(PROGRAMS / "mg_s.rho").run(v=v)["residual"]
    assert abs(found / CLASS_S - 1) < 1e-8


GRID = np.stack(np.meshgrid(np.arange(5.0), np.arange(4.0)), -1).reshape(-1, 2)


@pytest.mark.parametrize("n", [3, 10, 1_000])
def test_hull(peers: ModuleType, n: int) -> None:
    points = peers.disc(np.random.default_rng(n), n)
    found = rho.load(PROGRAMS / "quickhull.rho").run(points=points)["hull"]
    np.testing.assert_array_equal(peers.by_rows(found), peers.by_rows(peers.quickhull(points)))


def test_hull_of_points_that_all_are_corners(peers: ModuleType) -> None:
    x = np.random.default_rng(0).permutation(200) - 100.0
    points = np.stack([x, x * x], 1)
    found = rho.load(PROGRAMS / "quickhull.rho").run(points=points)["hull"]
    np.testing.assert_array_equal(peers.by_rows(found), peers.by_rows(points))


@pytest.mark.parametrize(
    ("points", "corners"),
    [
        (GRID, [[0.0, 0], [4, 0], [0, 3], [4, 3]]),
        (np.array([[1.0, 2]]), [[1.0, 2]]),
        (np.array([[1.0, 2], [1, 2], [3, 2], [2, 2]]), [[1.0, 2], [3, 2]]),
    ],
    ids=["grid", "one", "line"],
)
def test_hull_of_few_or_in_line(peers: ModuleType, points: np.ndarray, corners: list[list[float]]) -> None:
    found = rho.load(PROGRAMS / "quickhull.rho").run(points=points)["hull"]
    np.testing.assert_array_equal(peers.by_rows(found), np.array(corners))
