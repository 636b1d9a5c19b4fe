"""Uniform numbers through compiled code: the bits of the generator, on any team, in programs and beside forbidden pages."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu import templates
from rho.backend.cpu.numpy_scalars import fill_uniform
from rho.backend.jit import tiering
from rho.backend.reference.scalars import uniform
from rho.tests.kernels.guarded import guarded


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("key", "stream"), [(0, 0), (42, 7), (-1, -5), (2**62 + 12345678901, 2**40 + 3)])
def test_bits(key: int, stream: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "PARALLEL", 0)
    for count in (1, 15, 16, 17, 33, 1000, 4099):
        made, expected = guarded((count,), np.dtype(np.float64)), np.empty(count)
        templates.fill(made, key, stream, threads)
        fill_uniform(expected, key, stream)
        assert made.tobytes() == expected.tobytes(), count
        assert made[count // 2] == uniform(key, stream, count // 2)


def test_without_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "off")
    made, expected = np.empty(9001), np.empty(9001)
    templates.fill(made, 3, 4, 2)
    fill_uniform(expected, 3, 4)
    assert made.tobytes() == expected.tobytes()
