"""Executes a plan: here one queue, a plain sequence of steps; several queues in `distributed`.

Steps are compiled once into closures over a run's memories.  A kernel is compiled at the first execution of its step and
kept while the run-time sizes it depends on keep their values.

What a run leaves: prints in order and outputs by name, or an exception and nothing.  `RunFailed` carries the span of the
phase that failed; running out of memory is E702 there; an interrupt passes through.

Neighbours: `schedule.plan` (what is executed), `device` (what a back end offers), `control` (loops, branches, cells),
`distributed` (shards, transfers and fences).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from math import prod
from threading import Lock
from time import perf_counter_ns
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from ...lang.diagnostics import Diagnostic, Refused, RunFailed
from ...lang.source import Span
from ...typechecker.core import CoreGuard
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable, capacity
from ...typechecker.types import ArrayType
from ..graph import traverse
from ..graph.arms import with_arms_out
from ..graph.bind import BoundGraph
from ..graph.phases import Constant, Input, LibraryPhase, Output, Phase, PhaseId, Print, Structured, ValueId
from ..schedule.plan.model import (
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    Plan,
    QueueKind,
    RowsStep,
    RunStep,
    Step,
    SubPlan,
    TransferStep,
    WaitStep,
)
from .binding import broken_guard
from .device import Backend, Kernel
from .failures import CheckFailed
from .memory import Memory, sole_owner
from .watching import announce

ADDRESSABLE: Final = 1 << 47
"""Bytes that no machine has in one address space."""


class Shown(NamedTuple):
    """A value that left the run: its kind, and a host array (text has dtype `U1`)."""

    kind: Kind
    value: Any


class Results(NamedTuple):
    """Printed values in order, outputs by name; `held`: the most bytes that each device of several held.

    (As `Shown` made once a run, of which there may be a million a second: tuples are made in a quarter of the time.)"""

    printed: tuple[Shown, ...]
    outputs: Mapping[str, Shown]
    held: Mapping[DeviceId, int] = MappingProxyType({})


Action: TypeAlias = "Callable[[Memory], None]"
Observer: TypeAlias = Callable[[Phase, int], None]
"""Told of every execution of a phase's step and its nanoseconds, phases inside others before those around them."""


@dataclass(slots=True)
class Machine:
    """The state of one run.  Also what kernels ask for kinds, shapes and sizes (`device.Types`)."""

    backends: Mapping[DeviceId, Backend]
    inputs: Mapping[str, Any]
    memories: dict[DeviceId, Memory]
    sizes: dict[SizeVariable, int]
    types: Mapping[ValueId, ArrayType]
    guards: tuple[CoreGuard, ...]
    phases: Mapping[PhaseId, Phase]
    printed: list[Shown] = field(default_factory=list)
    outputs: dict[str, Shown] = field(default_factory=dict)
    current: Phase | None = None
    around: BoundGraph | None = None
    """The graph that is run, for loops that queues run together."""
    observe: Observer | None = None
    making: Any = field(default_factory=Lock)
    """Held while a kernel is made: queues may be threads."""

    def kind(self, value: ValueId) -> Kind:
        return self.types[value].element.kind

    def shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(map(self.number, self.types[value].shape))

    def cap_shape(self, value: ValueId) -> tuple[int, ...]:
        return tuple(capacity(size).evaluate({}) for size in self.types[value].shape)

    def number(self, size: Size) -> int:
        constant = size.constant
        return size.evaluate(self.sizes) if constant is None else constant

    def define(self, variable: SizeVariable, value: int) -> None:
        """A run-time size is known now; guards that waited for it are checked."""
        cap = None if variable.cap is None else self.number(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed("E403", f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        for guard in self.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])


class Limits(Enum):
    """What is done about the memory that a plan's devices declare."""

    PLANNED = "the plan's peaks are compared with it"
    ENFORCED = "each device's holdings are counted as well"


class Pace(Enum):
    """How queues of several devices get on."""

    PREDICTED = "one step after the other, by the predicted clock"
    THREADS = "each in a thread of its own"


def execute_plan(
    plan: Plan, bound: BoundGraph, inputs: Mapping[str, Any], backends: Mapping[DeviceId, Backend],
    observe: Observer | None = None, limits: Limits = Limits.PLANNED, pace: Pace = Pace.PREDICTED,
) -> Results:  # fmt: skip
    """Run a plan of `bound` on host arrays.  RunFailed: a run-time check, or memory."""
    graph = with_arms_out(bound.graph, plan.speculated)
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    memories: dict[DeviceId, Memory] = {device.id: {} for device in plan.devices}
    around = replace(bound, graph=graph)
    machine = Machine(
        backends, inputs, memories, dict(bound.sizes), graph.types, graph.guards, phases, observe=observe, around=around
    )
    home = backends[plan.home]
    require_memory(plan, machine)
    announce(machine)
    with home.quiet():
        try:
            held = _run(machine, plan, limits, pace)
        except CheckFailed as failure:
            raise RunFailed([Diagnostic(failure.code, failure.message, failure.span or current_span(machine))]) from None
        except MemoryError:
            raise RunFailed([Diagnostic("E702", f"memory ran out; {need_text(plan)}", current_span(machine))]) from None
    return Results(tuple(machine.printed), machine.outputs, held)


def _run(machine: Machine, plan: Plan, limits: Limits, pace: Pace) -> Mapping[DeviceId, int]:
    if len(plan.devices) == 1 and len(plan.main.queues) == 1 and not any(map(is_shared, plan.main.queues[0].steps)):
        Block(machine, plan.main).run()
        return {}
    from .distributed import run_distributed

    declared = {device.id: device.memory if limits is Limits.ENFORCED else None for device in plan.devices}
    return run_distributed(machine, plan, declared, pace if _is_parallel(plan) else Pace.PREDICTED)


def _is_parallel(plan: Plan) -> bool:
    """Do several devices have work, and not so many that threads would be too many?"""
    from .threads import MOST_THREADS

    busy = [queue.kind for queue in plan.main.queues if queue.steps]
    return busy.count(QueueKind.COMPUTE) > 1 and len(busy) <= MOST_THREADS


def is_shared(step: Step) -> bool:
    """Is a step about parts of values, or about another queue?"""
    parts = isinstance(step, RunStep) and step.box is not None
    return parts or isinstance(step, CombineStep | TransferStep | FenceStep | WaitStep)


def require_memory(plan: Plan, machine: Machine) -> None:
    """Refuse what no machine holds, and what a device declares it does not."""
    limits = {device.id: device.memory for device in plan.devices}
    for device, peak in plan.main.peak:
        limit = limits.get(device)
        if peak >= ADDRESSABLE or (limit is not None and peak > limit):
            first = next(iter(machine.phases.values()))
            raise Refused([Diagnostic("E702", f"{need_text(plan)}, more than there is", _largest(machine, first).span)])


def need_text(plan: Plan) -> str:
    return f"the program needs at most {max((size for _, size in plan.main.peak), default=0):,} bytes at once"


def _largest(machine: Machine, first: Phase) -> Phase:
    """The phase that makes the largest value."""

    def size(phase: Phase) -> int:
        return sum(prod(machine.cap_shape(v)) * machine.kind(v).bytes for v in traverse.results(phase))

    return max(machine.phases.values(), key=size, default=first)


def current_span(machine: Machine) -> Span:
    return machine.current.span if machine.current is not None else Span("", 0, 0)


class Block:
    """A (sub-)plan of one queue compiled for one run."""

    def __init__(self, machine: Machine, plan: SubPlan) -> None:
        (queue,) = plan.queues
        self.memory = machine.memories[queue.device]
        self.actions = [compile_step(machine, step, queue.device) for step in queue.steps]

    def run(self) -> None:
        memory = self.memory
        for action in self.actions:
            action(memory)


def compile_step(machine: Machine, step: Step, device: DeviceId) -> Action:
    """A step of one queue, on whole values."""
    action = _action(machine, step, device)
    if machine.observe is None or not isinstance(step, RunStep | RowsStep | LoopStep | BranchStep | CellsStep):
        return action
    last = step.phases[-1] if isinstance(step, RowsStep) else step.phase  # a chain's time is that of its last member
    return _observed(action, machine.phases[last], machine.observe)


def _observed(action: Action, phase: Phase, observe: Observer) -> Action:
    def act(memory: Memory) -> None:
        start = perf_counter_ns()
        action(memory)
        observe(phase, perf_counter_ns() - start)

    return act


def _action(machine: Machine, step: Step, device: DeviceId) -> Action:
    from .chains import compile_rows_step
    from .control import compile_branch, compile_cells, compile_loop

    match step:
        case RunStep():
            return _compile_run(machine, machine.phases[step.phase], step, machine.backends[device])
        case RowsStep():
            return compile_rows_step(machine, step, machine.backends[device])
        case FreeStep():
            return _compile_free(step.values)
        case LoopStep():
            return compile_loop(machine, step, device)
        case BranchStep():
            return compile_branch(machine, step, device)
        case CellsStep():
            return compile_cells(machine, step, device)
        case TransferStep() | CombineStep() | FenceStep() | WaitStep() | JoinStep():
            raise AssertionError("one queue has nothing to wait for")


def _compile_free(values: Sequence[ValueId]) -> Action:
    if len(values) == 1:
        only = values[0]

        def free_one(memory: Memory) -> None:
            memory.pop(only, None)

        return free_one

    def free(memory: Memory) -> None:
        for value in values:
            memory.pop(value, None)

    return free


def _compile_run(machine: Machine, phase: Phase, step: RunStep, backend: Backend) -> Action:
    match phase:
        case Structured():
            return _kernel_action(machine, phase, backend, lambda: backend.structured(phase, machine), step.overwrite)
        case LibraryPhase():
            return _kernel_action(machine, phase, backend, lambda: backend.library(phase, machine), None)
        case Constant():
            return _constant(machine, phase, backend)
        case Input():
            taken, name, result = machine.kind(phase.result), phase.name, phase.result

            def read(memory: Memory) -> None:
                machine.current = phase
                memory[result] = backend.bring(machine.inputs[name], taken)

            return read
        case Print():

            def show(memory: Memory) -> None:
                machine.current = phase
                kind = machine.kind(phase.arg)
                machine.printed.append(Shown(kind, backend.fetch(memory[phase.arg], kind)))

            return show
        case Output():
            given = machine.kind(phase.arg)

            def keep(memory: Memory) -> None:
                machine.current = phase
                machine.outputs[phase.name] = Shown(given, backend.fetch(memory[phase.arg], given))

            return keep
        case _:
            raise AssertionError(f"phase {phase.id} is not run by one step")


def _constant(machine: Machine, phase: Constant, backend: Backend) -> Action:
    made: list[Any] = []

    def place(memory: Memory) -> None:
        if not made:
            made.append(backend.constant(phase, machine))
        memory[phase.result] = made[0]

    return place


def _kernel_action(
    machine: Machine, phase: Structured | LibraryPhase, backend: Backend, make: Callable[[], Kernel], overwrite: ValueId | None
) -> Action:
    """Run a kernel, compiled at first need and again when a run-time size it depends on has changed."""
    results = traverse.results(phase)
    only = results[0] if len(results) == 1 else None
    defined = phase.defines if isinstance(phase, LibraryPhase) else ()
    varying = runtime_sizes(machine, phase)
    kept: dict[tuple[int, ...], Kernel] = {}
    sizes = machine.sizes

    def act(memory: Memory) -> None:
        machine.current = phase
        key = tuple([sizes[v] for v in varying]) if varying else ()
        kernel = kept.get(key)
        if kernel is None:
            kept.clear()
            with machine.making:
                kernel = kept[key] = make()
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        made = kernel(memory, target)
        if defined:
            assert isinstance(phase, LibraryPhase)
            _define(machine, phase, backend, made, memory)
        if only is not None:
            memory[only] = made[0]
        else:
            for value, array in zip(results, made, strict=True):
                memory[value] = array

    return act


def runtime_sizes(machine: Machine, phase: Structured | LibraryPhase) -> tuple[SizeVariable, ...]:
    """The run-time sizes that a kernel of the phase depends on, but for those the phase defines itself."""
    types = machine.types
    found: dict[SizeVariable, None] = {}
    for size in traverse.sizes(phase):
        if size.constant is None:
            found.update(dict.fromkeys(size.variables()))
    for value in (*traverse.results(phase), *traverse.operands(phase)):
        for size in types[value].shape:
            if size.constant is None:
                found.update(dict.fromkeys(size.variables()))
    for variable in traverse.defines(phase):
        found.pop(variable, None)
    return tuple(found)


def _define(machine: Machine, phase: LibraryPhase, backend: Backend, made: Sequence[Any], memory: Memory) -> None:
    """The sizes that a library phase defines are those of its result, or its operand's value."""
    variable = phase.defines[0]
    match phase.op:
        case "runtime_size":
            value = backend.item(memory[phase.args[0]])
            cap = variable.cap
            machine.define(variable, int(value) if value is not None else 0 if cap is None else machine.number(cap))
        case "compress":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            machine.define(variable, made[0].shape[axis])
        case "format":
            machine.define(variable, made[0].shape[-1])
        case _:
            machine.define(variable, made[0].shape[0])
