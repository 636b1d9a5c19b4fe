"""When launches are shared: what one that was hurt means for those after it."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import rho
from rho.backend.kernels import policy
from rho.backend.kernels.native_text import ALONE
from rho.backend.run import native
from rho.backend.run.cpu.drafting import OTHER
from rho.backend.run.team import available_threads

pytest.importorskip("llvmlite")
pytestmark = [
    pytest.mark.skipif(native.native() is None, reason="no native calls in this Python"),
    pytest.mark.skipif(available_threads() < 2, reason="nobody to share with"),
]


def test_time_alone_is_used_up_by_the_time_of_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "COMPILE_NANOSECONDS", 1.0)
    made = native.native()
    assert made is not None
    alone = ctypes.c_int64.from_address(made._team + ALONE)

    def used(size: int) -> int:
        """Nanoseconds of a launch alone on so many items."""
        function, x = rho.compile("{(⍵×3)+÷1+⍵×⍵}"), np.arange(float(size))
        expected = x * 3 + 1 / (1 + x * x)
        for _ in range(8):
            assert np.array_equal(function(x), expected)
        assert function._latest(x) is not OTHER
        alone.value = 10**9
        assert np.array_equal(function(x), expected)
        return 10**9 - alone.value

    try:
        few, many = used(100_000), used(1_000_000)
        assert few > 0 and abs(many - 10 * few) <= 10
        function, x = rho.compile("{(⍵×3)+÷1+⍵×⍵}"), np.arange(100_000.0)
        for _ in range(8):
            function(x)
        alone.value = 1
        function(x)
        assert alone.value == 0
    finally:
        alone.value = 0
