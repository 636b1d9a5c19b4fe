"""Quotients by corrected reciprocals have the bits of divisions, at both ends of the range and near halfway cases."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.backend.kernels import policy
from rho.tests.backend.differential import checked
from rho.tests.kernels.phases import same_bits

pytest.importorskip("llvmlite")
TEXT = "input A : {kind}[r c]\noutput r ← {{⍵÷⌈/⍵}}⍤1 ⊢ A\n"


@pytest.mark.parametrize("kind", ["f64", "f32"])
def test_quotients(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greatest item of a row is its divisor; mantissas with long runs of ones and zeros are the hard ones."""
    monkeypatch.setenv(policy.SWITCH, "always")
    dtype = np.dtype(np.float64 if kind == "f64" else np.float32)
    digits, reach = (52, 290) if kind == "f64" else (23, 36)
    rng = np.random.default_rng(5)
    rows, columns = 300, 512
    whole = rng.integers(0, 1 << digits, (rows, columns))
    runs = (1 << rng.integers(0, digits, (rows, columns))) * rng.choice([-1, 1], (rows, columns)) % (1 << digits)
    mantissas = 1 + np.where(rng.random((rows, columns)) < 0.5, whole, runs) / 2.0**digits
    values = (mantissas * 10.0 ** rng.integers(-reach, reach, (rows, 1)) * 2.0 ** rng.integers(-40, 0, (rows, columns))).astype(
        dtype
    )
    values[::7, ::5] = rng.choice(np.array([0.0, -0.0, 1e-300, 1e-320, -1e-40], dtype), values[::7, ::5].shape)
    values[3, 3], values[4, 4] = np.inf, np.nan
    core = checked(TEXT.format(kind=kind))
    assert core is not None
    bound = backend.load(core, {"A": values}, {})
    got = backend.execute(backend.plan(bound), bound, {"A": values}).outputs["r"].value
    with np.errstate(all="ignore"):
        assert same_bits(got, values / np.maximum.reduce(values, 1, keepdims=True))
