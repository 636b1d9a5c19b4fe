"""Queues as threads: the same bits as one by one, failures as the predicted clock meets them, and no hanging whatever fails."""

from __future__ import annotations

import _thread
import random
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rho import backend
from rho.backend.cpu import phases
from rho.backend.cpu.backend import CpuBackend
from rho.backend.devices.profile import DeviceProfile, LinkProfile, Profile
from rho.backend.distributed import steps
from rho.backend.distributed.buffers import DeviceBuffers, QueueClock
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.schedule.plan.plan import ExecutionPlan, FenceStep, RunStep, Step, WaitStep
from rho.backend.schedule.program.plan_from_schedule import plan_of
from rho.backend.schedule.program.problem_from_program import problem_of
from rho.backend.vm.check_failures import CheckFailed
from rho.backend.vm.executor import execute_plan
from rho.backend.vm.run_state import RunResults
from rho.lang.diagnostics.model import Code, RunFailed
from rho.lang.syntax.source import Source
from rho.tests.backend.quick import split_evenly, with_modes
from rho.tests.backend.test_programs_on_devices import random_modes, same_bits, ticks_of
from rho.typechecker.check import check

TEXT = """input X : f64[n 3]
input W : f64[3 4]
Y ← 0⌈1+X×⍤1⊢2 3 4
Z ← +⌿Y
output Y
⎕←Z
⎕←+/,W
⎕←⌊Z
⎕←{⍵>0 : Z×2 ⋄ ⌽Z}(+/Z)
"""


def prepared(devices: int, seed: int, text: str = TEXT) -> tuple[ExecutionPlan, BoundGraph, dict[str, np.ndarray]]:
    """A plan of several CPU devices, split evenly or as chance has it."""
    rng = np.random.default_rng(5)
    data = {"X": rng.standard_normal((4000, 3)), "W": rng.standard_normal((3, 4))}
    checked = check(Source("threads.rho", text))
    assert checked.core is not None, checked.diagnostics
    bound = backend.load(checked.core, data)
    own = [DeviceProfile("cpu0", "cpu", home=True), *(DeviceProfile(f"d{i}", "k0") for i in range(1, devices))]
    profile = Profile(tuple(own), tuple(LinkProfile("cpu0", d.name, latency_ns=1) for d in own[1:]))
    chance = random.Random(seed)
    made = problem_of(bound, profile, ticks_of=ticks_of(chance))
    answer = split_evenly(made.problem) if seed == 0 else with_modes(made.problem, random_modes(made.problem, chance))
    assert answer is not None
    return plan_of(made, answer), bound, data


REPEATED = """input x : f64[n]
input M : f64[r c]
y ← {⍵-0.3×⍵×⍵}⍣7 ⊢ x
output y
output s ← +/y×1○x
output t ← M-⍤1 ⊢ +⌿M
"""


def test_what_runs_again_is_not_lowered_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels of shards are kept with their phases, so that they also get machine code once that pays."""
    checked, rng = check(Source("again.rho", REPEATED)), np.random.default_rng(5)
    assert checked.core is not None
    data = {"x": rng.standard_normal(20_000), "M": rng.standard_normal((700, 30))}
    bound = backend.load(checked.core, data)
    profile = Profile((DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("d1", "k0")), (LinkProfile("cpu0", "d1", 1),))
    made = problem_of(bound, profile, ticks_of=ticks_of(random.Random(1)))
    answer = split_evenly(made.problem)
    assert answer is not None
    plan, lowered = plan_of(made, answer), list[object]()
    assert sum(isinstance(step, RunStep) and step.box is not None for queue in plan.main.queues for step in queue.steps) > 4
    wanted, usual = run(plan, bound, data), phases._compiled
    monkeypatch.setattr(phases, "_compiled", lambda phase, *rest: lowered.append(phase) or usual(phase, *rest))
    for pace in (QueueClock.THREADS, QueueClock.PREDICTED):
        assert same_bits(run(plan, bound, data, pace), wanted)
    assert not lowered


def test_pieces_of_what_is_given_out_are_made_where_they_are_to_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is put together afterwards, also where rows are cut, columns, or a loop; results are the caller's own."""
    core = check(Source("whole.rho", f"{REPEATED}output z ← 2×⍉M\noutput w ← x[⍋x]\n")).core
    assert core is not None
    rng = np.random.default_rng(5)
    data = {"x": rng.standard_normal(20_000), "M": rng.standard_normal((700, 30))}
    bound = backend.load(core, data)
    profile = Profile((DeviceProfile("cpu0", "cpu", home=True), DeviceProfile("d1", "k0")), (LinkProfile("cpu0", "d1", 1),))
    made = problem_of(bound, profile, ticks_of=ticks_of(random.Random(1)))
    answer = split_evenly(made.problem)
    assert answer is not None
    plan, alone, assembled = plan_of(made, answer), backend.execute(backend.plan(bound), bound, data), list[object]()
    usual = DeviceBuffers.assemble
    monkeypatch.setattr(DeviceBuffers, "assemble", lambda *given: assembled.append(given[2]) or usual(*given))
    first, second = run(plan, bound, data), run(plan, bound, data)
    assert same_bits(first, alone) and same_bits(second, alone)
    assert not [box for box in assembled if box in (((0, 20_000),), ((0, 700), (0, 30)), ((0, 30), (0, 700)))]
    arrays = [shown.value for results in (first, second) for shown in results.outputs.values()]
    assert not any(np.shares_memory(one, other) for at, one in enumerate(arrays) for other in arrays[:at])


def running() -> set[threading.Thread]:
    """All threads but those that compile, which live on."""
    return {thread for thread in threading.enumerate() if not thread.name.startswith("rho ")}


def run(plan: ExecutionPlan, bound: BoundGraph, data: dict[str, np.ndarray], pace: QueueClock = QueueClock.THREADS) -> RunResults:
    return execute_plan(plan, bound, data, {d.id: CpuBackend() for d in plan.devices}, pace=pace)


@pytest.mark.parametrize("seed", range(8))
def test_threads_give_the_same_bits(seed: int) -> None:
    plan, bound, data = prepared(2 + seed % 4, seed)
    alone = backend.execute(backend.plan(bound), bound, data)
    for _ in range(4):
        assert same_bits(run(plan, bound, data), alone)
    assert same_bits(run(plan, bound, data, QueueClock.PREDICTED), alone)
    assert threading.active_count() < 60


def test_a_run_on_this_machines_devices_uses_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, bound, data = prepared(3, 0)
    seen: set[str] = set()
    compile = steps.compile_step

    def noting(cluster: object, step: Step, *rest: object) -> Callable[[], None]:
        action = compile(cluster, step, *rest)  # type: ignore[arg-type]
        return lambda: (seen.add(threading.current_thread().name), action())[1]

    monkeypatch.setattr(steps, "compile_step", noting)
    backend.execute(plan, bound, data)
    assert len(seen) > 3
    seen.clear()
    backend.execute(plan, bound, data, simulated=True)
    assert seen == {threading.current_thread().name}


# --------------------------------------------------------------------------------- what goes wrong


def failing(monkeypatch: pytest.MonkeyPatch, queue: int, position: int, plan: ExecutionPlan, error: BaseException) -> None:
    """The step at a place of a queue fails."""
    chosen = plan.main.queues[queue].steps[position]
    compile = steps.compile_step

    def wrong() -> None:
        raise error

    def compiled(cluster: object, step: Step, *rest: object) -> Callable[[], None]:
        return wrong if step is chosen else compile(cluster, step, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "compile_step", compiled)


PLACES = [(queue, position) for queue, own in enumerate(prepared(3, 0)[0].main.queues) for position in range(len(own.steps))]


@pytest.mark.parametrize("error", [CheckFailed(Code.E310, "here"), MemoryError(), KeyboardInterrupt(), ValueError("a bug")])
def test_the_nth_step_of_each_queue_fails(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Every place in turn: what comes out is that failure, at once, and no thread is left."""
    plan, bound, data = prepared(3, 0)
    before = running()
    expected = {CheckFailed: RunFailed, MemoryError: RunFailed}.get(type(error), type(error))
    for queue, position in PLACES:
        with monkeypatch.context() as patch:
            failing(patch, queue, position, plan, error)
            with pytest.raises(expected) as caught:
                run(plan, bound, data)
            if isinstance(caught.value, RunFailed):
                assert caught.value.diagnostics[0].code == ("E310" if isinstance(error, CheckFailed) else "E702")
    assert running() <= before


def test_of_several_failures_the_first_by_the_clock_is_told() -> None:
    """`⌊Z` of numbers too large fails, and so does the loading of an index on another device: always the same one."""
    text = "input X : f64[n 3]\ninput W : f64[3 4]\na ← ⌊1E300×X\nb ← ⌊1E200×W\nc ← ⌈1E250×X\n⎕←+/,a\n⎕←+/,b\n⎕←+/,c\n"
    told: set[tuple[str, int]] = set()
    for seed in range(3):
        plan, bound, data = prepared(4, seed, text)
        for pace in (QueueClock.THREADS, QueueClock.PREDICTED, QueueClock.THREADS, QueueClock.THREADS):
            with pytest.raises(RunFailed) as caught:
                run(plan, bound, data, pace)
            told.add((caught.value.diagnostics[0].code, caught.value.diagnostics[0].span.start))
        assert len(told) == 1
        told.clear()


def test_queues_that_wait_for_each_other_are_found() -> None:
    plan, bound, data = prepared(3, 0)
    queues = [replace(q, steps=tuple(s for s in q.steps if not isinstance(s, FenceStep))) for q in plan.main.queues]
    assert any(isinstance(step, WaitStep) for queue in queues for step in queue.steps)
    for pace in (QueueClock.THREADS, QueueClock.PREDICTED):
        with pytest.raises(AssertionError, match="every queue waits"):
            run(replace(plan, main=replace(plan.main, queues=tuple(queues))), bound, data, pace)


def _signal() -> None:
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@pytest.mark.parametrize("interrupt", [_signal, _thread.interrupt_main])
def test_an_interrupt_ends_all_threads(interrupt: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while another queue runs on without end; one that ends no wait of the system is heard, too."""
    plan, bound, data = prepared(3, 0)
    before = running()
    other = next(w for w, q in enumerate(plan.main.queues) if q.device == "d2" and q.kind.value == "compute")
    chosen, compile = plan.main.queues[other].steps[1], steps.compile_step
    begun, never, turns = threading.Event(), threading.Event(), iter(range(20_000))

    def endless() -> None:
        begun.set()
        interrupt()
        while next(turns, None) is not None:
            never.wait(0.001)

    def compiled(cluster: object, step: Step, *rest: object) -> Callable[[], None]:
        return endless if step is chosen else compile(cluster, step, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "compile_step", compiled)
    with pytest.raises(KeyboardInterrupt):
        run(plan, bound, data)
    assert begun.is_set() and next(turns, None) is not None, "nobody heard it"
    assert running() <= before


def test_a_thread_that_ignores_its_first_interrupt_is_interrupted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As one does that is inside a finalizer."""
    plan, bound, data = prepared(3, 0)
    other = next(w for w, q in enumerate(plan.main.queues) if q.device == "d2" and q.kind.value == "compute")
    chosen, compile = plan.main.queues[other].steps[1], steps.compile_step
    never, ignored = threading.Event(), list[str]()

    class Finalized:
        def __del__(self) -> None:
            _signal()
            for _ in range(5_000):
                never.wait(0.001)

    def endless() -> None:
        one = Finalized()
        del one
        ignored.append("once")
        for _ in range(20_000):
            never.wait(0.001)
        ignored.append("for ever")

    def compiled(cluster: object, step: Step, *rest: object) -> Callable[[], None]:
        return endless if step is chosen else compile(cluster, step, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(steps, "compile_step", compiled)
    monkeypatch.setattr(sys, "unraisablehook", lambda about: None)
    with pytest.raises(KeyboardInterrupt):
        run(plan, bound, data)
    assert ignored == ["once"]
