"""Small phases that run often: on NumPy first, through a kernel later, with the same bits; results are the caller's own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import rho
from rho.backend.cpu import kernels, phases
from rho.backend.jit import tiering
from rho.backend.vm import executor


@pytest.mark.parametrize("text", ["{+/⍺×⍵}", "{(+⌿⍺-⍵)÷≢⍵}", "{×/1+⍺×⍵}", "{((((⍺×3)+⍵)×⍺)+1)×⍵-⍺÷1+⍵}"])
def test_bits_stay(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    monkeypatch.setattr(tiering, "LAUNCH_NANOSECONDS", 0)
    monkeypatch.setattr(executor, "native_program", lambda *_: None)
    phases._kept.clear()
    ran: list[int] = []
    original: Callable[..., None] = kernels.CompiledRun.call

    def call(self: kernels.CompiledRun, *args: object) -> None:
        ran.append(1)
        original(self, *args)

    monkeypatch.setattr(kernels.CompiledRun, "call", call)
    function = rho.compile(text)
    for n in (1, 10, 257, 5000):
        for dtype in (np.float64, np.float32):
            rng = np.random.default_rng(n)
            x, y = rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)
            ran.clear()
            found = {np.asarray(function(x, y)).tobytes() for _ in range(12)}
            assert len(found) == 1, (text, n, dtype)
            assert ran, (text, n, dtype)


@pytest.mark.parametrize("text", ["{⍵}", "{⌽⌽⍵}", "{⍉⍉⍵}", "{2↑⍵}"])
def test_results_are_no_part_of_the_argument(text: str) -> None:
    function = rho.compile(text)
    first = rho.compile("{⍵+1}")(np.zeros(50_000))  # a leased array, whole and in part
    for given in (np.arange(9.0), np.arange(9.0)[::2], first, first[5:]):
        assert not np.shares_memory(function(given), given)
