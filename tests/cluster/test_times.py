"""What workers tell of the steps that they ran: each step once, by its queue, in home's time."""

from __future__ import annotations

from collections import Counter

import pytest

from rho import backend
from rho.backend.cluster import cluster_transport
from rho.backend.cluster.cluster_transport import HOME, Journal, Process, ProcessJournal, Shares
from rho.backend.graph.phases import PhaseId
from rho.backend.schedule.plan.plan import LoopStep, TransferStep, phases_of
from rho.backend.vm.run_state import StepTiming
from rho.tests.backend.loops_of_two import SHIFTED, planned
from rho.tests.backend.test_programs_on_devices import same_bits
from rho.tests.backend.test_threads import prepared
from rho.tests.cluster.residents import Threads, run_on

pytestmark = pytest.mark.long


@pytest.mark.parametrize("seed", range(3))
def test_every_step_is_told_at_both_its_ends(threads: Threads, seed: int) -> None:
    plan, bound, data = prepared(3, seed)
    seen: list[StepTiming] = []
    results = run_on(threads, plan, bound, data, observe=seen.append)
    assert same_bits(results, backend.execute(backend.plan(bound), bound, data))
    wanted: Counter[tuple[object, str]] = Counter()
    for queue in plan.main.queues:
        for step in queue.steps:
            wanted.update((phase, queue.device) for phase in phases_of(step))
            if isinstance(step, TransferStep):
                wanted[step, queue.device] += 2
    told = Counter((took.step if isinstance(took.step, TransferStep) else took.step.id, took.queue) for took in seen)
    top = {phase.id for phase in bound.graph.phases}
    assert {key: times for key, times in told.items() if isinstance(key[0], TransferStep) or key[0] in top} == wanted
    home = next(device.id for device in plan.devices if device.id == plan.home)
    assert all((took.process == "") == (took.queue == home) for took in seen if not isinstance(took.step, TransferStep))


def test_clocks_are_not_compared() -> None:
    """A worker whose clock began elsewhere: its time lies in the middle of what home saw."""
    seen = ProcessJournal("tcp://there", asked=1_000, span=600)
    seen.answered = 2_000
    assert seen.slack == 200 and seen.process == "tcp://there, to 0.00 ms"
    assert ProcessJournal("", 5, 10, 15).process == ""


def test_queues_that_run_a_loop_together_tell_it_each(threads: Threads) -> None:
    made, bound, data = planned(SHIFTED)
    seen: list[StepTiming] = []
    run_on(threads, made.plan, bound, data, observe=seen.append)
    (loop,) = {step.phase for queue in made.plan.main.queues for step in queue.steps if isinstance(step, LoopStep) and step.rows}
    parts = {took.queue for took in seen if not isinstance(took.step, TransferStep) and took.step.id == loop}
    assert parts >= {device.id for device in made.plan.devices if made.plan.spread} - {made.plan.home}


def test_executions_beyond_the_most_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_transport, "MAX_RECORDED_STEPS", 2)
    plan, bound, _ = prepared(2, 0)
    shares = Shares(plan, {device.id: HOME if device.id == plan.home else Process(1) for device in plan.devices})
    phase = bound.graph.phases[0]
    kept = Journal(shares, began=100)
    for turn in range(5):
        kept(StepTiming(phase, plan.home, 100 + turn, 110 + turn))
    rows = kept.rows()
    assert rows.shape == (3, 6) and rows[:, 5].tolist() == [1, 1, 3] and rows[2, 3:5].tolist() == [0, 30]
    assert [PhaseId(number) for number in rows[:, 1].tolist()] == [phase.id] * 3
