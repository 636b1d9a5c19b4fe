"""Runs that last are tasks of Dask, named as the program, and tell of their steps under the topic `rho`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from rho import backend
from rho.backend.cluster import client as epoch, membership as workers
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import ClusterMember, attach
from rho.backend.cluster.worker import Resident
from rho.tests.backend.test_programs_on_devices import same_bits
from rho.tests.backend.test_threads import prepared
from rho.tests.cluster.residents import OWN, Some, Threads, run_on

pytestmark = pytest.mark.long

WATCHDOG = 120.0


class Seeing(Some):
    """Members whose dashboard notes what it is told."""

    def __init__(self, others: Threads, count: int) -> None:
        super().__init__(others, count)
        self.shown: list[str] = []
        self.forgotten: list[str] = []
        self.seen = threading.Event()

    def show(self, name: str, run: str, members: Sequence[ClusterMember]) -> Callable[[], None]:
        self.shown.append(name)
        self.seen.set()
        return lambda: self.forgotten.append(name)


def test_a_run_that_lasts_is_shown_once(threads: Threads, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is held until a pulse has come and one more; `PULSE` is short here, and no time is waited for."""
    plan, bound, data = prepared(3, 0)
    run_on(threads, plan, bound, data)
    monkeypatch.setattr(workers, "PULSE", 0.001)
    seeing, before = Seeing(threads, 2), epoch.execute_plan

    def held(*given: Any, **named: Any) -> Any:
        assert seeing.seen.wait(WATCHDOG)
        return before(*given, **named)

    monkeypatch.setattr(epoch, "execute_plan", held)
    monkeypatch.setattr("rho.tests.cluster.residents.Some", lambda *_: seeing)
    results = run_on(threads, plan, bound, data)
    assert same_bits(results, backend.execute(backend.plan(bound), bound, data))
    assert seeing.shown == ["known.rho"] and not seeing.forgotten


def test_a_resident_says_what_its_queues_are_at_and_the_end() -> None:
    resident = Resident("127.0.0.1")
    assert list(resident.progress("r1")) == [{"at": [], "ended": True}]
    resident.running = SimpleNamespace(name="r1", current_phases=lambda: ["y ← add"])  # type: ignore[assignment]
    told = resident.progress("r1", every=0.0)
    assert next(told) == next(told) == {"at": ["y ← add"], "ended": False}
    resident.running = None
    assert list(told) == [{"at": [], "ended": True}]
    resident.close()


def test_tasks_of_dask_last_as_long_as_the_run() -> None:
    pytest.importorskip("distributed")
    membership = attach("local:2")
    with ClusterClient(membership, OWN) as cluster:
        client, told, change = membership.client, list[dict[str, Any]](), threading.Condition()

        def hear(event: Any) -> None:
            with change:
                told.append(event[1])
                change.notify_all()

        def hold(dask_worker: Any) -> None:
            dask_worker._rho_resident.running = SimpleNamespace(name="r1", current_phases=lambda: ["y ← add"])

        def let_go(dask_worker: Any) -> None:
            with dask_worker._rho_resident.change:
                dask_worker._rho_resident.running = None
                dask_worker._rho_resident.change.notify_all()

        def prefixes(dask_scheduler: Any) -> list[str]:
            return list(dask_scheduler.task_prefixes)

        def heard(*, ended: bool) -> set[str]:
            return {one["worker"] for one in told if one["ended"] == ended and one["program"] == "p.rho"}

        addresses = {member.address for member in cluster.members}
        client.subscribe_topic("rho", hear)
        client.run(hold)
        forget = membership.show("p.rho", "r1", cluster.members)
        with change:
            assert change.wait_for(lambda: heard(ended=False) == addresses, WATCHDOG)
            assert not heard(ended=True) and list(told[0]["at"]) == ["y ← add"]
        assert "p.rho" in client.run_on_scheduler(prefixes)
        client.run(let_go)
        with change:
            assert change.wait_for(lambda: heard(ended=True) == addresses, WATCHDOG)
        forget()
        assert isinstance(membership.dashboard, str)
