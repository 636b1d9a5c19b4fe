"""Index vectors that count are computed by regions; vectors that do not, or that change from call to call, are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu import regions
from rho.backend.jit.compiler import LruCache
from rho.backend.loopir.ir import Index, Load, index, walk
from rho.backend.transform.simplify import Direction, Progression, progression, scalar_index_views, single_index

VECTORS = [[1, 2, 3], [3, 2, 1], [0, 2, 1], [5, 6, 7], [2, 3, 4], [9, 9, 9], [0, 1, 2], [4, 3, 2], [8, 9, 10], [1, 2, 3]]


def outcome(function: Any, *args: Any) -> Any:
    try:
        return np.array(function(*args)).tolist()
    except rho.RhoError as error:
        return [(d.code, d.message) for d in error.diagnostics]


def test_vectors_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_runs", LruCache(256))
    function = rho.compile("{i←⍺ ⋄ {s←⍵ ⋄ s[i]←0.5×s[i]+1 ⋄ s}⍣9 ⊢ ⍵}")
    state = np.arange(10.0)
    for vector in VECTORS:
        indices = np.array(vector)
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(function, indices, state)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert outcome(function, indices, state) == expected, vector
    assert any(run.codes for run in regions._runs.values())
    assert all(len(run.codes) <= regions._MAX_VARIANTS + 1 for run in regions._runs.values())


def test_indices_that_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_runs", LruCache(256))
    function = rho.compile("{i←⍺ ⋄ {s←⍵ ⋄ s[i]←0.5×s[i]+1 ⋄ s}⍣9 ⊢ ⍵}")
    for item, length in [(0, 10), (9, 10), (0, 30), (29, 30), (12, 30), (5, 6), (6, 6), (30, 31), (-1, 20), (18, 20), (20, 20)]:
        state = np.arange(float(length))
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(function, item, state)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert outcome(function, item, state) == expected, (item, length)
    assert all(len(run.codes) <= regions._MAX_VARIANTS + 1 for run in regions._runs.values())
    codes = [code.optimised[0] for run in regions._runs.values() for code in run.codes.values()]
    assert any(
        not any(isinstance(s, Load) and s.view in scalar_index_views(program) for s in walk(program.body)) for program in codes
    )


@pytest.mark.parametrize(
    ("item", "expected"), [(0, index()), (7, index(constant=7)), (8, None), (99, index("n", constant=-1)), (100, index("n")),
                           (101, None), (-1, None), (47, index("m", constant=-3))],
)  # fmt: skip
def test_what_is_near(item: int, expected: Index | None) -> None:
    assert single_index(item, {"n": 100, "m": 50}) == expected


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([0, 1, 2, 3], Progression(0)), ([3, 4], Progression(3)), ([3, 2, 1], Progression(1, Direction.DOWN)),
        ([0, 1, 3], None), ([0, 2, 4], None), ([7], None), ([], None), ([-1, 0, 1], None), ([100, 101], None), ([1, 0, -1], None),
    ],
)  # fmt: skip
def test_what_counts(items: Sequence[int], expected: Progression | None) -> None:
    assert progression(np.array(items, np.int64)) == expected
    assert progression(np.array(items, np.float64)) is None
