"""What the steps of several queues do: shards on their devices, transfers between them, and partial results combined.

A step takes what it needs from the holdings of its own device (`pieces`) and nowhere else, so a missing transfer is found, never
papered over.  Holdings are changed under one lock, and kernels run outside it.

Neighbours: `queues` (compiles queues of these), `fleet` (what devices hold), `words` (whole phases), `shards` (kernels of boxes).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..graph import traverse
from ..graph.phases import LibraryPhase, Loop, Phase, Structured, ValueId
from ..schedule.facts.sharding import reads_of
from ..schedule.facts.turns import is_shared
from ..schedule.plan.model import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
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
from .files.stored import StoreBackend
from .fleet import Action, Fleet
from .machine import Machine
from .others import Parts
from .shards import Makes, Pair, Shard, combine_with, compile_shard, pair_of, reduction_of
from .words.assemble import assemble
from .words.interpret import compile_words


def compile_step(fleet: Fleet, step: Step, device: DeviceId, home: DeviceId) -> Action:
    """What a step of the queue of a device does."""
    match step:
        case RunStep() if step.box is not None:
            return _shard(fleet, step, step.box, device)
        case LoopStep() | JoinStep() if is_shared(step):
            return lambda: None  # their queues run them together
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
        if not made_once:
            with machine.making:
                made_once.append(compile_shard(phase, box, makes, machine, machine.backends[device], holdings.kernels))
        results = made_once[0](take)
        with fleet.lock:
            for value, count in Counter(made.value for made in results if made.partial).items():
                holdings.count(value, box, fleet.bytes(value, partials=count))
            for made in results:
                if made.partial:
                    holdings.partials.setdefault(made.value, []).append((made.box, made.array))
                else:
                    holdings.count(made.value, made.box, fleet.bytes(made.value, made.box))
                    holdings.keep(made.value, made.box, made.array, shapes[made.value])

    return machine.observed(run, phase, device)


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
        action(holdings.memory)
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
        for value in traverse.results(phase):
            if value not in pairs:
                with machine.making:
                    pairs[value] = pair_of(phase, reduction_of(phase, value), value, machine, machine.backends[home])
            made = combine_with(pairs[value], phase, value, holdings.partials[value], machine)
            with fleet.lock:
                holdings.free(value, None)
                holdings.count(value, None, fleet.bytes(value))
                holdings.memory[value] = made

    return machine.observed(run, phase, home)


def _transfer(fleet: Fleet, step: TransferStep, link: DeviceId) -> Action:
    machine, others, value = fleet.machine, fleet.others, step.value
    kind = machine.kind(value)
    maker = _maker(machine, value)

    def run() -> None:
        machine.current = maker
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

    return machine.observed(run, step, link)


def _maker(machine: Machine, value: ValueId) -> Phase | None:
    return next((phase for phase in machine.phases.values() if value in traverse.results(phase)), None)
