"""Index vectors that count are computed by regions; vectors that do not, or that change from call to call, are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.loops.transform.progressions import Direction, Progression
from rho.backend.run.cpu import regions

VECTORS = [[1, 2, 3], [3, 2, 1], [0, 2, 1], [5, 6, 7], [2, 3, 4], [9, 9, 9], [0, 1, 2], [4, 3, 2], [8, 9, 10], [1, 2, 3]]


def outcome(function: Any, *args: Any) -> Any:
    try:
        return np.array(function(*args)).tolist()
    except rho.RhoError as error:
        return [(d.code, d.message) for d in error.diagnostics]


def test_vectors_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_runs", {})
    function = rho.compile("{i←⍺ ⋄ {s←⍵ ⋄ s[i]←0.5×s[i]+1 ⋄ s}⍣9 ⊢ ⍵}")
    state = np.arange(10.0)
    for vector in VECTORS:
        indices = np.array(vector)
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(function, indices, state)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert outcome(function, indices, state) == expected, vector
    assert any(run.codes for run in regions._runs.values())
    assert all(len(run.codes) <= regions._MOST_VARIANTS + 1 for run in regions._runs.values())


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([0, 1, 2, 3], Progression(0)), ([3, 4], Progression(3)), ([3, 2, 1], Progression(1, Direction.DOWN)),
        ([0, 1, 3], None), ([0, 2, 4], None), ([7], None), ([], None), ([-1, 0, 1], None), ([100, 101], None), ([1, 0, -1], None),
    ],
)  # fmt: skip
def test_what_counts(items: Sequence[int], expected: Progression | None) -> None:
    assert regions.progression(np.array(items, np.int64)) == expected
    assert regions.progression(np.array(items, np.float64)) is None
