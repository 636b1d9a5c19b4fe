"""The stable order of integer keys: of every width, with and without ties, and with low bits that no word has room for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rho.backend.cpu.numpy_reductions import order_columns
from rho.backend.library.hash import stable_order

COUNT = 3000
_rng = np.random.default_rng(7)
CASES: dict[str, Any] = {
    "wide": _rng.integers(-(2**63), 2**63 - 1, COUNT, np.int64, endpoint=True),
    "ends": np.array([-(2**63), 2**63 - 1, 0, -1, 1] * (COUNT // 5), np.int64),
    "near": np.append(2**62 + _rng.integers(0, 2**11, COUNT - 1), -(2**62)),
    "near and apart": np.concatenate((2**62 + _rng.integers(0, 50, 99), _rng.integers(-(2**62), 2**62, 2900), [-(2**63)])),
    "few": _rng.integers(0, 5, COUNT) * 2**61,
    "equal": np.full(COUNT, 2**63 - 1),
    "bytes": _rng.integers(0, 255, COUNT).astype(np.uint8),
    "words": _rng.integers(-(2**31), 2**31, COUNT).astype(np.int32),
    "ordered": np.sort(_rng.integers(0, 100, COUNT)),
    "reversed": np.arange(COUNT)[::-1] // 3,
    "every other": _rng.integers(0, 2**60, 2 * COUNT)[::2],
}


@pytest.mark.parametrize("name", CASES)
def test_integers(name: str) -> None:
    keys = CASES[name]
    assert np.array_equal(stable_order(keys), np.argsort(keys, kind="stable"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("descending", [False, True])
def test_floats(dtype: Any, descending: bool) -> None:
    """NaN comes last in either sense, and zeros of both signs are equal."""
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 1.0, -1.0, 1 + 2**-52])
    for items in (
        _rng.random(COUNT),
        _rng.standard_normal(COUNT) * 1e9,
        _rng.choice(special, COUNT),
        np.round(_rng.random(COUNT) * 9),
    ):
        items = items.astype(dtype)
        order = stable_order(order_columns(items, descending=descending)[0])
        sortable = np.where(np.isnan(items), np.inf, -items if descending else items)
        wanted = np.lexsort((np.arange(COUNT), sortable, np.isnan(items)))
        assert np.array_equal(order, wanted)
