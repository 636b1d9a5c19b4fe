"""Runs that are not as predicted, three in a row: the next one is planned with what was measured, and the bits are the same."""

from __future__ import annotations

import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rho
from rho.backend.cluster import cluster_transport
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.cluster_profile import profile_of_members
from rho.backend.cluster.cluster_transport import DRIFT_RUNS, ComputeTime, Drift
from rho.shell.execution import scheduling
from rho.shell.execution.stored_plans import this_machine
from rho.tests.cluster.residents import Some, Threads, cluster_of

pytestmark = pytest.mark.long

INTERVAL = 0.5, 1.5
TEXT = """input x : f64[n]
y ← *1○x
output y
schedule {
  split y rows 1:1 over w0 w1
}
"""


def added(*ratios: float | None) -> tuple[Drift, list[bool]]:
    drift = Drift()
    return drift, [drift.add(None if ratio is None else Fraction(ratio), INTERVAL) for ratio in ratios]


@pytest.mark.parametrize(("ratios", "factor"), [
    ((2, 3, 4), 3), ((0.25, 0.5, 0.125), 1), ((0.25, 0.25, 0.125), Fraction(1, 4)), ((2, None, 3, 4), 3), ((2, 3, 1, 4, 5), 1),
    ((2, 3, 0.25, 4, 5), 1), ((2, 2), 1), ((2, 2, 2, 3, 3, 3), 6), ((2, 2, 2, 1, 1, 1), 2), ((4, 4, 4, 0.25, 0.25, 0.25), 1),
])  # fmt: skip
def test_only_runs_in_a_row_on_one_side_count(ratios: tuple[float | None, ...], factor: Fraction) -> None:
    drift, found = added(*ratios)
    assert drift.factor == factor and any(found) == (factor != 1 or ratios == (4, 4, 4, 0.25, 0.25, 0.25))


def test_what_is_too_short_says_nothing() -> None:
    ran = ComputeTime({1: 1_000_000}, None, 4_000_000)
    assert ran.ratio is None
    ran.ns = cluster_transport.MIN_COMPARED_NS
    assert ran.ratio == Fraction(cluster_transport.MIN_COMPARED_NS, 1_000_000)
    assert ComputeTime({}, None, cluster_transport.MIN_COMPARED_NS).ratio is None
    assert ComputeTime({1: 10**9}, None, 10**9, 10**9 // 2).ratio == 2, "messages are predicted with phases, and measured apart"
    assert ComputeTime({1: 10**9}, None, 10**9, 10**9).ratio is None


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> dict[str, Fraction]:
    """How many times longer than predicted every process takes for its part of a run."""
    ratios = {"ratio": Fraction(1)}

    def ratio(self: ComputeTime) -> Fraction | None:
        return ratios["ratio"] if self.expected and self.ns else None

    monkeypatch.setattr(ComputeTime, "ratio", property(ratio))
    return ratios


def test_runs_that_are_off_are_planned_anew_once_and_keep_their_bits(
    slow: dict[str, Fraction], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads, plans = Threads(2), list[int]()
    cluster, before = cluster_of(threads, 2), scheduling.plan_on
    monkeypatch.setattr(scheduling, "plan_on", lambda *given: plans.append(1) or before(*given))
    told: list[str] = []
    cluster.connection.cluster.tell = told.append
    (tmp_path / "p.rho").write_text(TEXT, encoding="utf-8")
    run, x = rho.load(tmp_path / "p.rho").run, np.linspace(0, 1, 20_000)
    alone = run(x=x, cluster=cluster)["y"].tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(4):
            assert run(x=x, cluster=cluster)["y"].tobytes() == alone
        assert (len(plans), told) == (1, [])
        slow["ratio"] = Fraction(3)
        for _ in range(DRIFT_RUNS):
            assert run(x=x, cluster=cluster)["y"].tobytes() == alone
        assert len(plans) == 1 and len(told) == 3 and all("the next run is planned with what was measured" in one for one in told)
        slow["ratio"] = Fraction(1)
        for _ in range(4):
            assert run(x=x, cluster=cluster)["y"].tobytes() == alone
        assert len(plans) == 2 and len(told) == 3
    client = cluster.connection.cluster
    usual = this_machine().home.launch_ns
    assert [device.launch_ns for device in client.profile.devices] == [3 * usual] * 3
    declared = profile_of_members(client.profile, client.devices, client.tables)
    assert [device.launch_ns for device in declared.devices] == [9 * usual] * 3
    with ClusterClient(Some(threads, 2), this_machine(), tell=told.append) as another:  # workers know it, whoever asks
        assert another.profile.devices[1].launch_ns == 3 * usual
        assert told[3:] == [f"w{at} is planned with 3 times its tables, as measured in earlier runs" for at in range(2)]
    threads.close()
