"""The kernels of NPBench in Rho (`benchmarks/npbench`), at small sizes against independent NumPy computations."""

from __future__ import annotations

from inspect import getmembers, isfunction
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.tests.examples.npbench import algebra, models, stencils

pytestmark = pytest.mark.long

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "npbench"
TESTS = {
    name: make
    for part in (algebra, models, stencils)
    for name, make in getmembers(part, isfunction)
    if make.__module__ == part.__name__
}


def test_every_program_is_tested() -> None:
    assert {path.stem for path in PROGRAMS.glob("*.rho")} == set(TESTS)


@pytest.mark.parametrize("name", TESTS)
def test_kernel(name: str) -> None:
    given, wanted = TESTS[name](np.random.default_rng(7))
    before = {key: np.array(value) for key, value in given.items()}
    found = rho.load(str(PROGRAMS / f"{name}.rho")).run(**given)
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        single = name in ("lenet", "mlp")
        np.testing.assert_allclose(found[key], value, rtol=1e-5 if single else 1e-11, atol=1e-13)
    for key, value in before.items():
        assert np.array_equal(given[key], value), f"{key} was changed"
