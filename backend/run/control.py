"""Steps that hold sub-plans: loops, branches, maps and folds.

A body's values live in the memory of their device beside those around it (ids are unique in the program); what a body made
is dropped from there as soon as it has been handed on, so that buffers of loop state can be written again.

Neighbours: `executor` (compiles steps, runs blocks).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ...typechecker.sizes import SizeVariable
from ..graph import traverse
from ..graph.phases import Branch, Fold, Loop, Map, SubGraph, ValueId
from ..schedule.plan.model import BranchStep, CellsStep, DeviceId, LoopStep, SubPlan
from .failures import CheckFailed
from .memory import Memory

if TYPE_CHECKING:
    from .executor import Machine

Action: TypeAlias = Callable[[Memory], None]


class Body:
    """A sub-graph with its sub-plan: arguments in, results out, nothing left behind."""

    def __init__(self, machine: Machine, graph: SubGraph, plan: SubPlan) -> None:
        from .executor import Block

        self.params, self.results = graph.params, graph.results
        own = {*graph.params, *(v for phase in graph.phases for v in traverse.results(phase))}
        self.own = tuple(v for v in dict.fromkeys((*graph.results, *graph.params)) if v in own)
        self.block = Block(machine, plan)

    def call(self, memory: Memory, args: Sequence[Any]) -> list[Any]:
        for param, arg in zip(self.params, args, strict=True):
            memory[param] = arg
        del args
        self.block.run()
        made = [memory[value] for value in self.results]
        for value in self.own:
            memory.pop(value, None)
        return made

    def call_with_state(self, memory: Memory, state: list[Any]) -> list[Any]:
        """As `call`, but takes the state away from the list, so that its buffers are the body's alone."""
        for param in reversed(self.params):
            memory[param] = state.pop()
        self.block.run()
        made = [memory[value] for value in self.results]
        for value in self.own:
            memory.pop(value, None)
        return made


def compile_loop(machine: Machine, step: LoopStep, device: DeviceId) -> Action:
    phase = machine.phases[step.phase]
    assert isinstance(phase, Loop)
    backend = machine.backends[device]
    body = Body(machine, phase.body, step.body)
    until = None if phase.until is None or step.until is None else Body(machine, phase.until, step.until)
    compiler = getattr(backend, "loop", None) if phase.is_plain else None
    whole = None if compiler is None else compiler(phase, machine)
    turns = _Turns(machine, phase.index)
    region = _region(machine, phase, backend)

    def run(memory: Memory) -> None:
        machine.current = phase
        trip = machine.number(phase.trip)
        state = [memory[value] for value in phase.initial]
        made = None if whole is None or phase.keep else whole(memory, state, trip)
        if made is not None:
            _store(memory, phase.results, made)
            return
        if region(memory):
            return
        cells = [memory[value] for value in phase.cells]
        turns.begin()
        if phase.keep:
            _keep_states(memory, state, cells, trip)
            turns.end()
            return
        for place in range(trip):
            items = [backend.cell(array, (place,)) for array in cells]
            turns.enter(place)
            if until is None:
                state[:0] = items
                del items
                state = body.call_with_state(memory, state)
                continue
            new = body.call(memory, [*items, *state])
            stop = bool(backend.item(until.call(memory, [*new, *state])[0]))
            state = new
            if stop:
                break
        turns.end()
        for value, array in zip(phase.results, state, strict=True):
            memory[value] = array

    def _keep_states(memory: Memory, state: list[Any], cells: list[Any], trip: int) -> None:
        kept = [
            backend.empty(machine.kind(value), (trip + 1, *array.shape))
            for value, array in zip(phase.results, state, strict=True)
        ]
        for place in range(trip + 1):
            for target, array in zip(kept, state, strict=True):
                backend.put(target, (place,), array)
            if place < trip:
                turns.enter(place)
                state = body.call(memory, [*(backend.cell(array, (place,)) for array in cells), *state])
        for value, target in zip(phase.results, kept, strict=True):
            memory[value] = target

    return run


class _Turns:
    """The index of a loop, which is known in each turn and nowhere else.

    Where guards mention it, the sizes that the turn before found are forgotten first, so that none is checked with those."""

    def __init__(self, machine: Machine, index: SizeVariable | None) -> None:
        self.machine, self.index = machine, index
        self.guarded = index is not None and any(index in guard.variables() for guard in machine.guards)
        self.known = frozenset[SizeVariable]()

    def begin(self) -> None:
        self.known = frozenset(self.machine.sizes) if self.guarded else self.known

    def enter(self, place: int) -> None:
        if self.index is not None:
            self.forget()
            self.machine.define(self.index, place)

    def end(self) -> None:
        self.forget()
        if self.index is not None:
            self.machine.sizes.pop(self.index, None)

    def forget(self) -> None:
        if self.guarded:
            for size in self.machine.sizes.keys() - self.known:
                del self.machine.sizes[size]


def _region(machine: Machine, phase: Loop | Map | Fold, backend: Any) -> Callable[[Memory], bool]:
    """Runs the whole phase by machine code, where the device can: was it run?"""
    offered = getattr(backend, "region", None)

    def run(memory: Memory) -> bool:
        made = None if offered is None else offered(phase, memory, machine, machine.phases)
        if made is not None:
            _store(memory, phase.results, made)
        return made is not None

    return run


def compile_branch(machine: Machine, step: BranchStep, device: DeviceId) -> Action:
    phase = machine.phases[step.phase]
    assert isinstance(phase, Branch)
    backend = machine.backends[device]
    then, otherwise = Body(machine, phase.then, step.then), Body(machine, phase.otherwise, step.otherwise)

    def run(memory: Memory) -> None:
        machine.current = phase
        taken = bool(backend.item(memory[phase.condition]))
        made = (then if taken else otherwise).call(memory, ())
        for variable, size_then, size_otherwise in phase.defines:
            machine.define(variable, machine.number(size_then if taken else size_otherwise))
        for value, array in zip(phase.results, made, strict=True):
            memory[value] = array

    return run


def compile_cells(machine: Machine, step: CellsStep, device: DeviceId) -> Action:
    phase = machine.phases[step.phase]
    if isinstance(phase, Map):
        return _compile_map(machine, phase, step, device)
    assert isinstance(phase, Fold)
    return _compile_scan(machine, phase, step, device) if phase.scan else _compile_fold(machine, phase, step, device)


def _compile_map(machine: Machine, phase: Map, step: CellsStep, device: DeviceId) -> Action:
    backend = machine.backends[device]
    body = Body(machine, phase.body, step.body)
    region = _region(machine, phase, backend)

    def run(memory: Memory) -> None:
        machine.current = phase
        if region(memory):
            return
        frame = tuple(map(machine.number, phase.frame))
        args = [memory[value] for value in phase.args]
        collected: list[Any] = []
        for point in itertools.product(*map(range, frame)):
            own = [backend.cell(arg, point[:depth]) for arg, depth in zip(args, phase.frames, strict=True)]
            made = body.call(memory, own)
            if not collected:
                collected = [
                    backend.empty(machine.kind(value), (*frame, *cell.shape))
                    for value, cell in zip(phase.results, made, strict=True)
                ]
            for target, cell in zip(collected, made, strict=True):
                backend.put(target, point, cell)
        if not collected:
            collected = [backend.empty(machine.kind(value), machine.shape(value)) for value in phase.results]
        for value, target in zip(phase.results, collected, strict=True):
            memory[value] = target

    return run


def _compile_fold(machine: Machine, phase: Fold, step: CellsStep, device: DeviceId) -> Action:
    backend = machine.backends[device]
    body = Body(machine, phase.body, step.body)
    region = _region(machine, phase, backend)

    def run(memory: Memory) -> None:
        machine.current = phase
        if region(memory):
            return
        args = [memory[value] for value in phase.args]
        length = args[0].shape[0]
        if length == 0:
            raise CheckFailed("E204", "a reduction with a function needs at least one item")
        state = [backend.cell(arg, (length - 1,)) for arg in args]
        for place in range(length - 2, -1, -1):
            state = body.call(memory, [*(backend.cell(arg, (place,)) for arg in args), *state])
        _store(memory, phase.results, state)

    return run


def _compile_scan(machine: Machine, phase: Fold, step: CellsStep, device: DeviceId) -> Action:
    backend = machine.backends[device]
    body = Body(machine, phase.body, step.body)
    region = _region(machine, phase, backend)

    def run(memory: Memory) -> None:
        machine.current = phase
        if region(memory):
            return
        args = [memory[value] for value in phase.args]
        length = args[0].shape[0]
        states = [backend.empty(machine.kind(value), machine.shape(value)) for value in phase.results]
        state: list[Any] = []
        for place in range(length):
            items = [backend.cell(arg, (place,)) for arg in args]
            state = body.call(memory, [*state, *items]) if state else items
            for target, cell in zip(states, state, strict=True):
                backend.put(target, (place,), cell)
        _store(memory, phase.results, states)

    return run


def _store(memory: Memory, values: Sequence[ValueId], arrays: Sequence[Any]) -> None:
    for value, array in zip(values, arrays, strict=True):
        memory[value] = array
