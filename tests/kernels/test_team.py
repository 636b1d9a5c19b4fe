"""When launches are shared: what one that was hurt means for those after it."""

from __future__ import annotations

import numpy as np
import pytest

import rho
from rho.backend import host_device
from rho.backend.jit import tiering
from rho.backend.vm import runtime
from rho.backend.vm.bytecode import NOT_APPLICABLE

pytestmark = [
    pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python"),
    pytest.mark.skipif(host_device().threads < 2, reason="nobody to share with"),
]


def test_time_alone_is_used_up_by_the_time_of_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    made = runtime.native()
    assert made is not None
    alone = made.alone

    def used(size: int) -> int:
        """Nanoseconds of a launch alone on so many items."""
        function, x = rho.compile("{(⍵×3)+÷1+⍵×⍵}"), np.arange(float(size))
        expected = x * 3 + 1 / (1 + x * x)
        for _ in range(8):
            assert np.array_equal(function(x), expected)
        assert function._latest(x) is not NOT_APPLICABLE
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


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("nanoseconds", [1e4, 1e5, 1e6])
@pytest.mark.parametrize("size, step", [(100_000, 6400), (100_000, 256), (16, 1), (3, 1), (1000, 999)])
def test_pieces_begin_at_steps_and_leave_nothing_out(size: int, step: int, threads: int, nanoseconds: float) -> None:
    starts = tiering.starts(size, step, threads, nanoseconds)
    assert starts[0] == 0 and starts == sorted(set(starts)) and starts[-1] < size
    assert all(start % step == 0 for start in starts)


def test_little_work_is_a_large_piece_for_each_thread_and_a_few_small_ones() -> None:
    def lengths(nanoseconds: float) -> list[int]:
        starts = tiering.starts(160, 10, 2, nanoseconds)
        return [end - start for start, end in zip(starts, [*starts[1:], 160], strict=True)]

    assert lengths(1e4) == [70, 10, 10, 70]
    assert lengths(1e5) == [60, 10, 10, 10, 10, 60]
    assert lengths(1e6) == [10] * 16


def test_failures_of_one_launch_are_not_those_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiering, "COMPILE_NANOSECONDS", 1.0)
    function, x = rho.compile("{⌊⍵×2}"), np.arange(100_000.0)
    for _ in range(8):
        assert np.array_equal(function(x), x * 2)
    assert function._latest(x) is not NOT_APPLICABLE
    for place in (0, 50_000, 99_999):
        bad = x.copy()
        bad[place] = 1e300
        with pytest.raises(rho.RunFailed):
            function._latest(bad)
        assert np.array_equal(function._latest(x), x * 2)
