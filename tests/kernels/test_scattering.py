"""Keyed reductions through the compiled loop have NumPy's bits, on every kind, with empty bins and runs of equal keys."""

from __future__ import annotations

import numpy as np
import pytest

from rho.backend.cpu import templates
from rho.backend.jit import tiering
from rho.backend.library.scans_and_generators import _reduced
from rho.backend.vm.check_failures import CheckFailed
from rho.tests.kernels.phases import data, same_bits
from rho.typechecker.elements import Kind


def test_keys_out_of_range(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    for bad in (3, -1, 1 << 62, -(1 << 63)):
        for place in (0, 6):
            keys = np.zeros(7, np.int64)
            keys[place] = bad
            assert templates.reduce_by_key("add", Kind.I64, keys, np.ones(7, np.int64), 3, 2) is None
            assert templates.reduce_by_key("add", Kind.F64, keys, np.ones(7), 3, 2) is None


@np.errstate(all="ignore")  # as the executor calls these functions
def test_ascending_keys_go_by_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In pieces of whole runs, also where one run is most of the keys; what does not ascend goes item by item."""
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "PARALLEL", 1)
    by_runs, found = templates._by_runs, []
    monkeypatch.setattr(templates, "_by_runs", lambda *given: found.append(by_runs(*given)) or found[-1])
    long = np.repeat(np.arange(5), (3, 900, 1, 0, 200))
    late = np.append(np.arange(900), 0)
    for keys, bins in ((np.arange(1000) // 7, 143), (long, 6), (np.zeros(500, np.int64), 1), (late, 900)):
        items = data(Kind.F64, len(keys), 2)
        got = templates.reduce_by_key("add", Kind.F64, keys, items, bins, 3)
        assert got is not None and same_bits(got, _reduced("add", Kind.F64, keys, items[:, np.newaxis], bins)[:, 0])
        assert (found.pop() is None) == (keys is late)


@pytest.mark.parametrize("kind", [Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64])
@pytest.mark.parametrize("function", ["add", "mul", "min", "max", "and", "or"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("order", ["none", "ascending", "first half"])
@np.errstate(all="ignore")  # as the executor calls these functions
def test_bits(kind: Kind, function: str, threads: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if (kind is Kind.BOOL) != (function in ("and", "or")):
        pytest.skip("no such function")
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(templates, "PARALLEL", 1)
    rng = np.random.default_rng(5)
    for count, bins in ((1, 1), (7, 3), (1000, 10), (1001, 40)):
        keys = rng.integers(0, bins, count)
        keys[: count // 2] = keys[0]
        if function in ("min", "max"):
            keys[:bins] = np.arange(bins)[: len(keys[:bins])]
        if order != "none":
            keys[: count if order == "ascending" else count // 2].sort()
        for items in (data(kind, count, count), np.broadcast_to(data(kind, 1, 3), (count,)), data(kind, 2 * count, 9)[::2]):
            with np.errstate(all="ignore"):
                try:
                    want = _reduced(function, kind, keys, items[:, np.newaxis], bins)[:, 0]
                except CheckFailed:
                    continue
                got = templates.reduce_by_key(function, kind, keys, items, bins, threads)
            assert got is not None
            if function in ("min", "max"):
                assert np.array_equal(got, want, equal_nan=kind.is_float)
            else:
                assert same_bits(got, want), (count, bins)
