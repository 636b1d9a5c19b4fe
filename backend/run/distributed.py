"""Executes a plan of several queues: shards on their devices, transfers between them, fences, and partial results combined.

Every device has its own holdings (`pieces`); a step takes what it needs from those of its own device and nowhere else, so
a missing transfer is found, never papered over.  One loop serves all queues: of those that need not wait, the one whose next
step starts first on the predicted clock goes on.  So execution is deterministic, costs no more for ten thousand devices
than for their steps, and a simulated device holds at each step what the plan says it holds then.  Devices that this machine has
run their queues in threads instead (`threads`); holdings are changed under one lock, kernels run outside it.

Neighbours: `executor` (who calls this), `fleet` (what devices hold), `words` (whole phases), `shards` (kernels of boxes),
`pieces`, `schedule.plan`.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import partial
from time import perf_counter_ns
from typing import Any, TypeVar

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RunFailed
from ...lang.source import Span
from ..graph import traverse
from ..graph.phases import LibraryPhase, Loop, Phase, Structured, ValueId
from ..schedule.facts.sharding import reads_of
from ..schedule.facts.turns import is_shared, shared_loops
from ..schedule.plan.model import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    FenceId,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    QueueKind,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    TransferStep,
    WaitStep,
)
from ..schedule.plan.parts import DeviceId
from .cpu import CpuBackend
from .cpu.kinds import stored
from .failures import CheckFailed
from .files.stored import StoreBackend
from .firsts import Failure, Order, first_of
from .fleet import Action, Fleet
from .machine import Machine, Observer, Took
from .others import ALONE, Others, Parts
from .pieces import Holdings, OutOfMemory
from .shards import Makes, Pair, Shard, combine_with, compile_shard, pair_of, reduction_of
from .threads import run_in_threads
from .turning import Part, Together
from .watching import announce
from .words.assemble import assemble
from .words.interpret import compile_words

Item = TypeVar("Item")


class Pace(Enum):
    """How queues of several devices get on."""

    PREDICTED = "one step after the other, by the predicted clock"
    THREADS = "each in a thread of its own"


def run_distributed(
    machine: Machine, plan: Plan, limits: Mapping[DeviceId, int | None], pace: Pace, others: Others = ALONE
) -> dict[DeviceId, int]:  # fmt: skip
    """Execute the main sub-plan; the most bytes each device held.  `limits` are enforced; None is none.  With `others` its steps
    on the devices of this process.

    In threads there is no tick at whose end to count: nothing is held to limits, and what was held is not known."""
    touched: set[DeviceId] = set()

    def settle() -> None:
        for device in touched:
            holdings[device].settle()
        touched.clear()

    holdings = {
        device.id: Holdings(device.id, machine.backends[device.id], touched, limits.get(device.id), machine.memories[device.id])
        for device in plan.devices if others.is_here(device.id)
    }  # fmt: skip
    own_steps = [others.steps(queue) for queue in plan.main.queues]
    steps = [step for own in own_steps for step in own]
    several = [made for made in map(traverse.results, machine.phases.values()) if len(made) > 1]
    every = [step for queue in plan.main.queues for step in queue.steps]
    combined = frozenset(step.phase for step in every if isinstance(step, CombineStep))
    fleet = Fleet(machine, holdings, combined, frozenset(value for made in several for value in made), others=others)
    for step in steps:
        if isinstance(step, TransferStep) and others.is_here(step.source):
            fleet.to_read.setdefault((step.source, step.value), Counter())[step.box] += 1
    apart = pace is Pace.THREADS  # each with its own current phase
    told = _one_at_a_time(machine.observe, fleet.lock)
    machines = [replace(machine, observe=told) if apart else machine for _ in plan.main.queues]
    for own in machines if apart else ():
        announce(own)
    fleets = [replace(fleet, machine=own) for own in machines]
    queues = [
        [_compile(own, step, queue.device, plan.home) for step in steps]
        for queue, own, steps in zip(plan.main.queues, fleets, own_steps, strict=True)
    ]
    join_queues(plan, machine, fleets, queues)
    if pace is Pace.THREADS:
        here = next(iter(holdings))
        first = plan.home if others.is_here(plan.home) else here
        queue_of = {(q.device, q.kind): which for which, q in enumerate(plan.main.queues)}
        busy = (which for which, own in enumerate(own_steps) if own)
        own_queue = queue_of.get((first, QueueKind.COMPUTE), next(busy, 0))  # a device may have nothing to compute
        quiet = machine.backends[here].quiet
        to_come: Counter[Hashable] = Counter()
        for queue in plan.main.queues:
            for step in queue.steps:
                if isinstance(step, FenceStep):
                    to_come[step.fence] += others.runners(queue)
        begin = partial(others.begin, machine)
        failure = run_in_threads(own_steps, queues, own_queue, quiet, dict(to_come), others, begin,
                                 Order(queue.steps for queue in plan.main.queues))  # fmt: skip
        if failure is not None:
            machine.current = machines[failure.queue].current
            raise failure.error
        return {}
    try:
        _loop([queue.steps for queue in plan.main.queues], queues, settle)
        settle()
    except OutOfMemory as failure:
        span = machine.current.span if machine.current is not None else Span("", 0, 0)
        message = f"a device would hold {failure.held:,} bytes and has {failure.limit:,}"
        raise RunFailed([Diagnostic(Code.E702, message, span)]) from None
    return {device: held.most for device, held in holdings.items()}


def join_queues(
    plan: Plan, machine: Machine, fleets: Sequence[Fleet], queues: Sequence[list[Action]]
) -> None:  # fmt: skip
    """Put what queues do at the loops that they run together in the place of their steps."""
    if not plan.spread or machine.around is None:
        return

    def compile(fleet: Fleet, step: Step, device: DeviceId) -> Action:
        return _compile(fleet, step, device, plan.home)

    for shared in shared_loops(plan, machine.around).values():
        own = {which: fleets[which].others.steps(plan.main.queues[which]) for which, _ in shared.parts}
        if any(own.values()):
            together = Together(plan, shared, fleets, compile)
            for which, step in shared.parts:
                if own[which]:
                    queues[which][own[which].index(step)] = Part(together, which)


def _one_at_a_time(observe: Observer | None, lock: Any) -> Observer | None:
    if observe is None:
        return None

    def told(took: Took) -> None:
        with lock:
            observe(took)

    return told


def _loop(steps: Sequence[Sequence[Step]], actions: Sequence[Sequence[Action]], settle: Action) -> None:
    """Every queue from its first step to its last; `settle` is called at the end of each tick.

    After a failure of the program the other queues go on as far as they come, as in threads."""
    last, order, failures = 0, Order(steps), list[Failure]()
    places = [0] * len(steps)
    to_come: dict[FenceId, int] = {}
    for own in steps:
        for step in own:
            if isinstance(step, FenceStep):
                to_come[step.fence] = to_come.get(step.fence, 0) + 1
    waiting: dict[FenceId, list[int]] = {}
    arrived: dict[int, list[int]] = {}
    ready = [(0, which) for which in range(len(steps))]
    left = sum(map(len, steps))
    while ready:
        now, which = heapq.heappop(ready)
        if now > last and not failures:  # what has failed frees nothing more
            settle()
        last = max(last, now)
        own = steps[which]
        while places[which] < len(own):
            step = own[places[which]]
            if isinstance(step, WaitStep) and to_come.get(step.fence, 1):
                waiting.setdefault(step.fence, []).append(which)
                break
            starts = getattr(step, "start", now)
            if starts > now:
                heapq.heappush(ready, (starts, which))
                break
            action = actions[which][places[which]]
            if isinstance(action, Part):
                here = arrived.setdefault(id(action.together), [])
                here.append(which)
                if len(here) < len(action.together.shared.parts):
                    break
                action.together.run(_loop, settle)
                for other in here[:-1]:
                    places[other] += 1
                    left -= 1
                    heapq.heappush(ready, (now, other))
            else:
                try:
                    action()
                except RunFailed as error:
                    failures.append(Failure(order.of(step, (now,)), which, error))
                    break
            places[which] += 1
            left -= 1
            if isinstance(step, FenceStep):
                to_come[step.fence] -= 1
                for other in () if to_come[step.fence] else waiting.pop(step.fence, ()):
                    heapq.heappush(ready, (now, other))
    failure = first_of(failures)
    if failure is not None:
        raise failure.error
    if left:
        raise AssertionError("every queue waits for another")


def _compile(fleet: Fleet, step: Step, device: DeviceId, home: DeviceId) -> Action:
    match step:
        case RunStep() if step.box is not None:
            return _shard(fleet, step, step.box, device)
        case LoopStep() | JoinStep() if is_shared(step):
            return lambda: None  # see `join_queues`
        case JoinStep() | RowsStep() | StreamStep():
            raise AssertionError("queues join what they share; chains and passes are steps of one device")
        case RunStep() | LoopStep() | BranchStep() | CellsStep():
            return _whole(fleet, step, device)
        case CombineStep():
            return _combine(fleet, step, home)
        case FreeStep():
            where = device if step.device is None else step.device

            def free() -> None:
                for value in step.values:
                    fleet.free(where, value, step.box)

            return free
        case TransferStep():
            return _transfer(fleet, step, device)
        case FenceStep() | WaitStep():
            return lambda: None


def _located(machine: Machine, action: Callable[[], Item]) -> Item:
    """What a failure of the program is of is known now, and others run before it is raised."""
    try:
        return action()
    except CheckFailed as failure:
        assert machine.current is not None
        raise failure.at(machine.current.span) from None


def _shard(fleet: Fleet, step: RunStep, box: Box, device: DeviceId) -> Action:
    machine, holdings = fleet.machine, fleet.holdings[device]
    phase = machine.phases[step.phase]
    assert isinstance(phase, Structured | LibraryPhase | Loop), "other phases have no boxes"
    makes = Makes.PARTIALS if step.phase in fleet.combined else Makes.RESULTS
    shapes = {value: machine.cap_shape(value) for value in (*reads_of(phase, machine.types), *traverse.results(phase))}

    def take(value: ValueId, part: Box, full: bool) -> Any:
        kind, shape = machine.kind(value), shapes[value]
        with fleet.lock:
            return holdings.take_in_place(value, part, kind, shape) if full else holdings.take(value, part, kind, shape)

    made_once: list[Shard] = []

    def run() -> None:
        machine.current = phase
        start = perf_counter_ns()
        if not made_once:
            with machine.making:
                made_once.append(compile_shard(phase, box, makes, machine, machine.backends[device], holdings.kernels))
        results = _located(machine, lambda: made_once[0](take))
        with fleet.lock:
            for value, count in Counter(made.value for made in results if made.partial).items():
                holdings.count(value, box, fleet.bytes(value, partials=count))
            for made in results:
                if made.partial:
                    holdings.partials.setdefault(made.value, []).append((made.box, made.array))
                else:
                    holdings.count(made.value, made.box, fleet.bytes(made.value, made.box))
                    holdings.keep(made.value, made.box, made.array, shapes[made.value])
        if machine.observe is not None:
            machine.observe(Took(phase, device, start, perf_counter_ns()))

    return run


def _whole(fleet: Fleet, step: RunStep | LoopStep | BranchStep | CellsStep, device: DeviceId) -> Action:
    machine, holdings = fleet.machine, fleet.holdings[device]
    phase = machine.phases[step.phase]
    action = compile_words(machine, assemble([step], machine.phases, machine.types), device)
    needed = tuple(dict.fromkeys(traverse.uses(phase)))
    results = traverse.results(phase)

    def run() -> None:
        machine.current = phase
        with fleet.lock:
            assembled = [value for value in needed if value not in holdings.memory and value in holdings.pieces]
            for value in assembled:
                shape = machine.shape(value)
                holdings.memory[value] = holdings.take(value, tuple((0, n) for n in shape), machine.kind(value), shape)
            for value in results:
                holdings.count(value, None, fleet.bytes(value))
        _located(machine, lambda: action(holdings.memory))
        with fleet.lock:
            for value in assembled:
                del holdings.memory[value]

    return run


def _combine(fleet: Fleet, step: CombineStep, home: DeviceId) -> Action:
    machine, holdings = fleet.machine, fleet.holdings[home]
    phase = machine.phases[step.phase]
    assert isinstance(phase, Structured), "only structured phases are combined"

    pairs: dict[ValueId, Pair] = {}

    def run() -> None:
        machine.current = phase
        start = perf_counter_ns()
        for value in traverse.results(phase):
            if value not in pairs:
                with machine.making:
                    pairs[value] = pair_of(phase, reduction_of(phase, value), value, machine, machine.backends[home])
            made = combine_with(pairs[value], phase, value, holdings.partials[value], machine)
            with fleet.lock:
                holdings.free(value, None)
                holdings.count(value, None, fleet.bytes(value))
                holdings.memory[value] = made
        if machine.observe is not None:
            machine.observe(Took(phase, home, start, perf_counter_ns()))

    return run


def _transfer(fleet: Fleet, step: TransferStep, link: DeviceId) -> Action:
    machine, others, value = fleet.machine, fleet.others, step.value
    kind = machine.kind(value)
    maker = _maker(machine, value)

    def run() -> None:
        machine.current = maker
        start = perf_counter_ns()
        if others.is_here(step.source) and others.is_here(step.target):
            with fleet.lock:
                parts = taken()
            parts = carried(parts)
            with fleet.lock:
                put(parts)
                fleet.has_read(step.source, value, step.box)
        elif others.is_here(step.source):
            with fleet.lock:
                parts = taken()
            others.send(step, parts, kind)
            with fleet.lock:
                fleet.has_read(step.source, value, step.box)
        else:
            parts = others.receive(step, kind)
            with fleet.lock:
                put(parts)
        if machine.observe is not None:
            machine.observe(Took(step, link, start, perf_counter_ns()))

    def taken() -> Parts:
        source = fleet.holdings[step.source]
        if step.partial:
            return source.partials_in(value, step.box)
        if step.box is None:
            return [(None, source.memory[value])]
        return [(step.box, source.take(value, step.box, kind, machine.cap_shape(value)))]

    def carried(parts: Parts) -> Parts:
        """What the target is to hold, nothing of what is in a file then.  Arrays are immutable, so two memories of one back end
        may share one, but for those of two cards."""
        source, target = (fleet.holdings[device].backend for device in (step.source, step.target))
        if type(source) is type(target) and getattr(source, "number", None) == getattr(target, "number", None):
            return parts
        fetched = [(box, source.fetch(array, kind)) for box, array in parts]
        if isinstance(target, StoreBackend):
            file = fleet.holdings[step.target].memory.get(value)  # the results of a phase travel together, and some are nobody's
            for box, array in fetched if file is not None else ():
                target.write(file, box, array)
            return []
        if isinstance(target, CpuBackend):
            return [(box, stored(array, kind)) for box, array in fetched]
        return [(box, target.bring(array, kind)) for box, array in fetched]

    def put(parts: Parts) -> None:
        target = fleet.holdings[step.target]
        if step.partial:
            target.count(value, step.box, fleet.bytes(value, partials=len(parts)))
        for box, array in parts:
            if step.partial:
                assert box is not None, "partial results have boxes"
                target.partials.setdefault(value, []).append((box, array))
            else:
                target.count(value, box, fleet.bytes(value, box))
                target.keep(value, box, array, machine.cap_shape(value))

    return run


def _maker(machine: Machine, value: ValueId) -> Phase | None:
    return next((phase for phase in machine.phases.values() if value in traverse.results(phase)), None)
