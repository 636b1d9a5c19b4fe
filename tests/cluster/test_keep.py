"""`keep w on w0`: what is left on a worker is not sent to it again, unless its bytes are others."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rho import backend
from rho.backend.cluster.client import ClusterClient
from rho.backend.cluster.cluster_profile import profile_of
from rho.backend.cluster.membership import Membership
from rho.backend.cluster.wire import Connection, MessageKind
from rho.backend.devices.profile import Profile
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.plan.plan import ExecutionPlan
from rho.backend.schedule.program.plan_program import plan_program
from rho.shell.execution.stored_plans import this_machine
from rho.tests.backend.test_programs_on_devices import same_bits
from rho.tests.cluster.residents import OWN, Some, Spawned, Threads
from rho.tests.harness.tiers import checked

pytestmark = pytest.mark.long

TEXT = """input w : f64[n]
input x : f64[m]
y ← w+1
output z ← (+/y)×x
output v ← w
schedule {{
  place y on w0
  {keep}
}}
"""
KEPT, FREED = TEXT.format(keep="keep w on w0"), TEXT.format(keep="nosplit y")
ROWS = 10_007


@pytest.fixture
def threads() -> Iterator[Threads]:
    made = Threads(2)
    yield made
    made.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of every array that goes anywhere as a value."""
    found: list[int] = []
    before = Connection.send

    def send(self: Connection, kind: MessageKind, facts: Any = None, arrays: Any = ()) -> None:
        if kind is MessageKind.DATA:
            found.extend(array.size for array in arrays)
        before(self, kind, facts, arrays)

    monkeypatch.setattr(Connection, "send", send)
    return found


def planned(text: str, threads: Membership, data: dict[str, Any]) -> tuple[ExecutionPlan, BoundGraph]:
    core = checked(text)
    assert core is not None
    bound = backend.load(core, data)
    return plan_program(core, bound, profile_of(this_machine(), threads.members())).plan, bound


def run(cluster: ClusterClient, made: tuple[ExecutionPlan, BoundGraph], data: dict[str, Any]) -> None:
    """As on one device."""
    plan, bound = made

    def never(profile: Any) -> ExecutionPlan:
        raise AssertionError("no worker was lost")

    assert same_bits(cluster.run(plan, never, bound, data), backend.execute(backend.plan(bound), bound, data))


def values() -> dict[str, Any]:
    return {"w": np.linspace(0, 1, ROWS), "x": np.arange(3.0)}


def test_what_is_kept_is_sent_once(threads: Threads, sent: list[int]) -> None:
    data = values()
    made = planned(KEPT, threads, data)
    with ClusterClient(Some(threads, 2), OWN) as cluster:
        for turn in range(3):
            run(cluster, made, {**data, "x": np.arange(3.0) + turn})
    assert sent.count(ROWS) == 1
    with ClusterClient(Some(threads, 2), OWN) as another:  # the workers say what they hold, whoever asks
        run(another, made, {**data, "w": data["w"].copy()})
    assert sent.count(ROWS) == 1


def test_an_array_that_was_changed_in_place_is_sent_anew(threads: Threads, sent: list[int]) -> None:
    data = values()
    made = planned(KEPT, threads, data)
    with ClusterClient(Some(threads, 2), OWN) as cluster:
        run(cluster, made, data)
        data["w"][5_000] += 1e-9
        run(cluster, made, data)
        run(cluster, made, data)
        data["w"][0] = -0.0  # equal to what it was, and other bytes
        run(cluster, made, data)
    assert sent.count(ROWS) == 3


def test_another_program_lets_it_go(threads: Threads, sent: list[int]) -> None:
    data = values()
    made = planned(KEPT, threads, data)
    other = planned(KEPT.replace("w+1", "w+2"), threads, data)
    with ClusterClient(Some(threads, 2), OWN) as cluster:
        for one in (made, other, made):
            run(cluster, one, data)
        held = [resident.held for resident in threads.residents if resident.held]
        assert [len(one) for one in held] == [1]
    assert sent.count(ROWS) == 3


def test_no_step_writes_over_it(threads: Threads, sent: list[int]) -> None:
    """Loops and in-place steps, which may take the buffer of an operand that dies."""
    data = values()
    text = KEPT.replace("y ← w+1", "y ← {0.5×⍵+1⌽⍵}⍣5⊢w")
    made = planned(text, threads, data)
    with ClusterClient(Some(threads, 2), OWN) as cluster:
        for _ in range(3):
            run(cluster, made, data)
    assert sent.count(ROWS) == 1


def test_nothing_is_held_without_the_word(threads: Threads, sent: list[int]) -> None:
    data = values()
    made = planned(FREED, threads, data)
    with ClusterClient(Some(threads, 2), OWN) as cluster:
        run(cluster, made, data)
        run(cluster, made, data)
    assert sent.count(ROWS) == 2 and not any(resident.held for resident in threads.residents)


def test_a_worker_that_dies_with_it_is_replaced_by_one_that_is_sent_it() -> None:
    spawned = Spawned(2)
    try:
        data = values()
        core = checked(KEPT)
        assert core is not None
        bound = backend.load(core, data)
        made = planned(KEPT, spawned, data)[0], bound
        alone = backend.execute(backend.plan(bound), bound, data)

        left = checked(KEPT.replace("w0", "w1"))  # a worker keeps its name
        assert left is not None

        def again(profile: Profile) -> ExecutionPlan:
            return plan_program(left, bound, profile).plan

        with ClusterClient(Some(spawned, 2), this_machine()) as cluster:
            run(cluster, made, data)
            spawned.signal(0, signal.SIGKILL)  # it is w0
            for _ in range(2):
                assert same_bits(cluster.run(made[0], again, bound, data), alone)
                made = again(cluster.profile), bound
            assert len(cluster.members) == 1
    finally:
        spawned.close()
