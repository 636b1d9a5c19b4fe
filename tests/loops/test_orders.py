"""Compiled sums and products of every length have the bits of the NumPy tier's, which states their order on its own."""

from __future__ import annotations

import numpy as np
import pytest

import rho
from rho.backend.cpu.numpy_reductions import block_partials, combine_tree

MOST = 8_200
"""Two blocks and a few items more."""


@pytest.mark.parametrize("kind", ["float64", "float32"])
@pytest.mark.parametrize("reduction", ["+/", "×/"])
def test_every_length(kind: str, reduction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    ufunc = np.add if reduction == "+/" else np.multiply
    x = np.random.default_rng(7).standard_normal(MOST).astype(kind)
    x = x if reduction == "+/" else (np.sign(x) * np.exp2(x / 64)).astype(kind)
    made = rho.compile(f"{{x ← ⍵ ⋄ {{{reduction}⍵↑x}}¨⍳{MOST + 1}}}")(x)
    wanted = [ufunc.identity, *(combine_tree(ufunc, block_partials(ufunc, x[:length])) for length in range(1, MOST + 1))]
    assert made.tobytes() == np.array(wanted, kind).tobytes()


@pytest.mark.parametrize("kind", ["float64", "float32"])
def test_rows_of_lengths_about_vectors_and_halves(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RHO_KERNELS", "always")
    sums = rho.compile("{+/⍵}")
    for length in (1, 15, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 255, 256, 257, 320, 321, 4_095, 4_097, 4_160, 4_225):
        rows = np.random.default_rng(length).standard_normal((3, length)).astype(kind)
        wanted = [combine_tree(np.add, block_partials(np.add, row)) for row in rows]
        assert np.asarray(sums(rows)).tobytes() == np.array(wanted, kind).tobytes(), length
