"""Workers that are killed, hang or leave at random moments: the same bits, by those who are left, and nobody waits for ever.

A moment is a number of messages that home has had, so that it lies in a transfer, in a turn of a loop, before or after the run.
"""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic

import numpy as np
import pytest
from share import seeds

from rho import backend
from rho.backend.cluster import wire
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.membership import Worker, Workers
from rho.backend.cluster.wire import Message
from rho.backend.devices.profile import Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.plan.plan import ExecutionPlan, PlannedFile
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import RunFailed
from rho.tests.backend.loop_programs import planned_together
from rho.tests.backend.test_programs_on_devices import same_bits, ticks_of
from rho.tests.cluster.residents import OWN, Some, Spawned
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

WORKERS = 3
TEXT = """input x : f64[n]
input m : f64[n 4]
step ← {⍵+0.25×(¯1⌽⍵)+(1⌽⍵)-2×⍵}
y ← step⍣12⊢x
z ← +⌿m×⍤0 1⊢x
output y
⎕←+/y
⎕←z
⎕←≢(x>0)/x
"""


@pytest.fixture(scope="module")
def spawned() -> Iterator[Spawned]:
    made = Spawned(WORKERS)
    yield made
    made.close()


def prepared(seed: int) -> tuple[BoundGraph, dict[str, np.ndarray], RunResults]:
    rng = np.random.default_rng(seed)
    data = {"x": rng.standard_normal(3000), "m": rng.standard_normal((3000, 4))}
    core = checked(TEXT)
    assert core is not None
    bound = backend.load(core, data)
    return bound, data, backend.execute(backend.plan(bound), bound, data)


class Random:
    """Plans that use whatever devices there are, as chance has it; `made` by number of workers."""

    def __init__(self, bound: BoundGraph, seed: int, text: str = TEXT) -> None:
        self.bound, self.chance, self.made, self.text = bound, random.Random(seed), list[int](), text

    def __call__(self, profile: Profile) -> ExecutionPlan:
        self.made.append(len(profile.devices) - 1)
        kinds = [replace(one, kind="cpu" if one.home else "k0", sync_ns=0) for one in profile.devices]
        links = [replace(one, latency_ns=1, table=None) for one in profile.links]
        profile = replace(profile, devices=tuple(kinds), links=tuple(links))
        while True:
            found = planned_together(self.bound, profile, ticks_of(self.chance), self.chance)
            if found is not None:
                return replace(found[2], program=(PlannedFile("<test>", self.text),))


class Watched(Workers):
    """Workers of which each message is told."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__(None)
        self.tell = tell

    def handle(self, worker: Worker, message: Message) -> None:
        self.tell()
        super().handle(worker, message)


class Trouble(ClusterClient):
    """A cluster in which something happens to a worker when home has had so many messages."""

    def __init__(self, spawned: Spawned, seed: int, number: int, messages: int, restarts: int = 3) -> None:
        super().__init__(Some(spawned, WORKERS), OWN, restarts)
        self.spawned, self.chance, self.number, self.left = spawned, random.Random(seed), number, messages
        self.guard = threading.Lock()
        self.at = 0.0
        self.workers = Watched(self.heard)

    def heard(self) -> None:
        with self.guard:
            self.left -= 1
            if self.left == 0:
                self.at = monotonic()
                self.spawned.signal(self.chance.randrange(len(self.spawned.processes)), self.number)


@pytest.mark.parametrize("seed", seeds(100))
def test_a_worker_is_killed(spawned: Spawned, seed: int) -> None:
    spawned.fill(WORKERS)
    bound, data, alone = prepared(seed)
    planner = Random(bound, seed)
    messages = random.Random(seed).randint(1, 120)
    with Trouble(spawned, seed, signal.SIGKILL, messages) as cluster:
        plan = planner(cluster.profile)
        for _ in range(3):
            assert same_bits(cluster.run(plan, planner, bound, data), alone)
            plan = planner(cluster.profile)


def test_a_worker_that_hangs_is_left_behind(spawned: Spawned) -> None:
    spawned.fill(WORKERS)
    bound, data, alone = prepared(1)
    planner = Random(bound, 1)
    with Trouble(spawned, 1, signal.SIGSTOP, 8) as cluster:
        for _ in range(3):
            assert same_bits(cluster.run(planner(cluster.profile), planner, bound, data), alone)
        assert len(cluster.members) == WORKERS - 1
        assert "8 seconds" in cluster.lost[0].words
    for process, _ in spawned.processes:
        process.send_signal(signal.SIGCONT)


@pytest.mark.parametrize("restarts", [0, 3])
def test_nobody_is_left(spawned: Spawned, restarts: int) -> None:
    """With as many losses as workers, or more than restarts, the run ends, and names who was lost last."""
    bound, data, _ = prepared(2)
    spawned.fill(WORKERS)
    planner = Random(bound, 2)
    with ClusterClient(Some(spawned, WORKERS), OWN, restarts) as cluster:
        for which in range(WORKERS):
            spawned.signal(which, signal.SIGKILL)
        with pytest.raises(RunFailed) as caught:
            while True:
                cluster.run(planner(cluster.profile), planner, bound, data)
        (one,) = caught.value.diagnostics
        assert one.code == "E710" and "tcp://127.0.0.1" in " ".join((one.message, *one.notes)), one


def test_home_dies(spawned: Spawned) -> None:
    """Its connections end, and the next home has the workers at once."""
    spawned.fill(WORKERS)
    bound, data, alone = prepared(3)
    planner = Random(bound, 3)
    first = Trouble(spawned, 3, 0, 20)

    def cut() -> None:
        for worker in [*first.workers.connected.values()]:
            worker.connection.close()

    first.spawned = type("Cut", (), {"processes": [0], "signal": lambda self, which, number: cut()})()
    with pytest.raises(RunFailed):
        first.restarts = 0
        for _ in range(20):
            first.run(planner(first.profile), planner, bound, data)
    with ClusterClient(Some(spawned, WORKERS), OWN) as cluster:
        assert same_bits(cluster.run(planner(cluster.profile), planner, bound, data), alone)


@pytest.mark.parametrize("seed", range(2))
def test_an_interrupt_at_home_stops_the_workers(spawned: Spawned, seed: int) -> None:
    """Ctrl-C in the midst of a long loop that all run together: the next home has the workers at once."""
    spawned.fill(WORKERS)
    bound, data, alone = prepared(6)
    long = TEXT.replace("⍣12", "⍣100000000")
    core = checked(long)
    assert core is not None
    planner = Random(backend.load(core, data), seed, long)
    cluster = Trouble(spawned, seed, 0, 40)
    cluster.spawned = type("Key", (), {"processes": [0], "signal": lambda *about: signal.raise_signal(signal.SIGINT)})()
    with pytest.raises(KeyboardInterrupt):
        cluster.run(planner(cluster.profile), planner, planner.bound, data)
    stopped = monotonic()
    with ClusterClient(Some(spawned, WORKERS), OWN) as other:
        again = Random(bound, seed)
        plan = again(other.profile)
        assert same_bits(other.run(plan, again, bound, data), alone)
    assert monotonic() - stopped < 60.0


def test_two_homes_at_once(spawned: Spawned) -> None:
    spawned.fill(WORKERS)
    bound, data, alone = prepared(4)
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            planner = Random(bound, seed)
            with ClusterClient(Some(spawned, WORKERS), OWN) as cluster:
                for _ in range(5):
                    if not same_bits(cluster.run(planner(cluster.profile), planner, bound, data), alone):
                        wrong.append(seed)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "homes wait for each other"
    assert wrong == []


def test_another_version_is_refused(spawned: Spawned, monkeypatch: pytest.MonkeyPatch) -> None:
    spawned.fill(WORKERS)
    bound, data, _ = prepared(5)
    monkeypatch.setattr(wire, "version", lambda: "another")
    planner = Random(bound, 5)
    with ClusterClient(Some(spawned, WORKERS), OWN) as cluster, pytest.raises(RunFailed) as caught:
        cluster.run(planner(cluster.profile), planner, bound, data)
    assert "version" in caught.value.diagnostics[0].message
