"""Runs instructions in Python: each becomes a closure that acts on the memory of a run.

Outputs, prints and errors are those of `executor`.  A loop, fold, scan or map runs as one kernel if the back end has one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...lang.diagnostics.model import RunFailed
from ...typechecker.sizes.polynomials import Size, SizeVariable
from ..graph import traverse
from ..graph.fusion_groups import is_stencil_group
from ..graph.phases import Constant, Fold, Input, LibraryPhase, Loop, Map, Output, Phase, Print, Structured, ValueId
from ..graph.registry import called
from ..schedule.plan.plan import DeviceId
from .bytecode import (
    AliasInstruction,
    AllocInstruction,
    BranchArm,
    BranchInstruction,
    Free,
    Instruction,
    InstructionScope,
    LoadCell,
    LoadPredicate,
    LoopInstruction,
    Register,
    RequireNonZero,
    RunFusedRows,
    RunUnit,
    StoreCell,
    StreamInstruction,
)
from .check_failures import CheckFailed, add_iteration, iteration_label
from .run_state import Action, Backend, Kernel, Memory, MovedArray, OutputValue, ResidentValue, RunState, memory_of, sole_owner

# ---------------------------------------------------------------------------------------------------- lazily compiled kernels
#
# Instructions that run phases without inner phases, and chains along rows.
#
# A kernel is compiled when its instruction first runs, and again when a run-time size that it depends on has changed.

def compile_run(machine: RunState, word: RunUnit, backend: Backend) -> Action:
    """The action of a phase without inner phases."""
    phase = word.phase
    match phase:
        case Structured() | LibraryPhase() | Constant():
            return compile_kernel_call(machine, word, backend)
        case Input():
            taken, name, result = machine.kind(phase.result), phase.name, phase.result

            def read(memory: Memory) -> None:
                machine.current = phase
                given = machine.inputs[name]
                if type(given) is MovedArray:
                    memory[result] = given.pop()
                else:
                    array = given.array_on(backend) if type(given) is ResidentValue else backend.bring(given, taken)
                    memory[result] = array

            return read
        case Print():

            def show(memory: Memory) -> None:
                machine.current = phase
                kind = machine.kind(phase.arg)
                machine.printed.append(OutputValue(kind, backend.fetch(memory[phase.arg], kind)))

            return show
        case Output():
            given = machine.kind(phase.arg)

            def keep(memory: Memory) -> None:
                machine.current = phase
                array = memory[phase.arg]
                if phase.name not in machine.keep or memory_of(backend) is None:
                    array = backend.fetch(array, given)
                if phase.name in machine.keep:
                    array = ResidentValue(given, tuple(array.shape), [(backend, None, array)])
                machine.outputs[phase.name] = OutputValue(given, array)

            return keep


class LazyKernel:
    """A kernel that is compiled at first use, and again when a run-time size that it depends on has changed."""

    def __init__(
        self, machine: RunState, phases: Sequence[Structured | LibraryPhase | Constant], backend: Backend,
        make: Callable[[], Kernel],
    ) -> None:  # fmt: skip
        self.machine, self.phases, self.backend, self.make = machine, phases, backend, make
        self.sizes = tuple(dict.fromkeys(size for phase in phases for size in runtime_sizes(machine, phase)))
        caps = [size.cap for phase in phases for size in traverse.defines(phase) if size.cap is not None]
        self.needed = tuple(dict.fromkeys((*self.sizes, *(size for cap in caps for size in cap.variables()))))
        """The run-time sizes that the kernel depends on."""
        self.kept: dict[tuple[int, ...], Kernel] = {}

    def kernel(self) -> Kernel:
        sizes = self.machine.sizes
        key = tuple([sizes[v] for v in self.sizes]) if self.sizes else ()
        kernel = self.kept.get(key)
        if kernel is None:
            self.kept.clear()
            with self.machine.making:
                kernel = self.kept[key] = self.make()
        return kernel

    def run(self, memory: Memory, target: Any) -> Sequence[Any]:
        """Runs the kernel; returns the results and records the sizes that the phases define.  `target`: an array that the first
        result may overwrite."""
        self.machine.current = first = self.phases[0]
        results = self.kernel()(memory, target)
        if isinstance(first, LibraryPhase) and first.defines:
            _define(self.machine, first, self.backend, results, memory)
        return results


def lazy_kernel(machine: RunState, word: RunUnit | RunFusedRows, backend: Backend) -> LazyKernel:
    """The kernel of a phase or of a row chain."""
    if isinstance(word, RunUnit):
        phase = word.phase
        assert isinstance(phase, Structured | LibraryPhase | Constant)
        return LazyKernel(machine, (phase,), backend, lambda: _kernel(machine, phase, backend))
    return LazyKernel(machine, word.members, backend, lambda: backend.rows(word.members, word.results, machine))


def _kernel(machine: RunState, phase: Structured | LibraryPhase | Constant, backend: Backend) -> Kernel:
    match phase:
        case Structured():
            return backend.structured(phase, machine)
        case LibraryPhase():
            return backend.library(phase, machine)
        case Constant():
            results = (backend.constant(phase, machine),)
            return lambda memory, overwrite: results


def compile_kernel_call(machine: RunState, word: RunUnit | RunFusedRows, backend: Backend) -> Action:
    """The action that runs the kernel and stores its results."""
    run = lazy_kernel(machine, word, backend)
    results = word.results if isinstance(word, RunFusedRows) else traverse.results(word.phase)
    only, overwrite = results[0] if len(results) == 1 else None, word.overwrite

    def act(memory: Memory) -> None:
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        arrays = run.run(memory, target)
        if only is not None:
            memory[only] = arrays[0]
        else:
            for value, array in zip(results, arrays, strict=True):
                memory[value] = array

    return act


def runtime_sizes(machine: RunState, phase: Structured | LibraryPhase | Constant) -> tuple[SizeVariable, ...]:
    """The run-time sizes that a kernel of the phase depends on, without those that the phase itself defines."""
    types = machine.types
    variables: dict[SizeVariable, None] = {}
    for size in traverse.sizes(phase):
        if size.constant is None:
            variables.update(dict.fromkeys(size.variables()))
    for value in (*traverse.results(phase), *traverse.operands(phase)):
        for size in types[value].shape:
            if size.constant is None:
                variables.update(dict.fromkeys(size.variables()))
    for variable in traverse.defines(phase):
        variables.pop(variable, None)
    return tuple(variables)


def _define(machine: RunState, phase: LibraryPhase, backend: Backend, results: Sequence[Any], memory: Memory) -> None:
    """Records the sizes that a library phase defines: those of its results' shapes, or the value of its operand."""
    variable = phase.defines[0]
    match phase.op:
        case "call":
            for defined, (_, at, length_axis) in zip(phase.defines, called(phase.attributes)[0].core.defines, strict=True):
                machine.define(defined, results[at].shape[length_axis])
        case "runtime_size":
            machine.define(variable, int(backend.item(memory[phase.args[0]])))
        case "compress":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            machine.define(variable, results[0].shape[axis])
        case "format":
            machine.define(variable, results[0].shape[-1])
        case _:
            machine.define(variable, results[0].shape[0])


# ---------------------------------------------------------------------------------------------------- interpreter

def compile_instructions(machine: RunState, words: Sequence[Instruction], device: DeviceId) -> Action:
    """The action of instructions on a device's memory."""
    return _Interpreter(machine, device).all(words)


class _Interpreter:
    def __init__(self, machine: RunState, device: DeviceId) -> None:
        self.machine, self.device, self.backend = machine, device, machine.backends[device]
        self.is_observed = True
        self.registers: dict[Register, int] = {}

    def all(self, words: Sequence[Instruction]) -> Action:
        actions = [self.action(word) for word in words]

        def run(memory: Memory) -> None:
            for action in actions:
                action(memory)

        return actions[0] if len(actions) == 1 else run

    def action(self, word: Instruction) -> Action:
        match word:
            case RunUnit():
                return self.observed(compile_run(self.machine, word, self.backend), word.phase)
            case RunFusedRows():  # the chain's time is reported for its last member
                return self.observed(compile_kernel_call(self.machine, word, self.backend), word.members[-1])
            case StreamInstruction():
                assert self.machine.stores is not None, "streams are run with their stores"
                return self.machine.stores.action(self.machine, word.step, self.device)
            case Free():
                return _free(word.values)
            case InstructionScope():
                return self.observed(self.inside(word), word.phase)
            case LoopInstruction():
                return self.repeat(word)
            case BranchInstruction():
                return self.choose(word)
            case LoadPredicate():
                return self.test(word)
            case AliasInstruction():
                return lambda memory: memory.update({n: memory[v] for n, v in zip(word.names, word.values, strict=True)})
            case LoadCell():
                return self.cell(word)
            case AllocInstruction():
                return self.room(word)
            case StoreCell():
                return self.put(word)
            case RequireNonZero():
                return self.refuse(word)

    def observed(self, action: Action, phase: Phase) -> Action:
        return self.machine.observed(action, phase, self.device) if self.is_observed else action

    def inside(self, word: InstructionScope) -> Action:
        machine, phase = self.machine, word.phase
        is_observed = self.is_observed
        self.is_observed = is_observed and not is_stencil_group(phase)  # the group's time is reported for its last member
        words, self.is_observed = self.all(word.instructions), is_observed
        compiled = self.backend.region(phase, machine, machine.phases) if isinstance(phase, Loop | Map | Fold) else None

        def run(memory: Memory) -> None:
            machine.current = phase
            results = None if compiled is None else compiled(memory)
            if results is None:
                words(memory)
            else:
                memory.update(zip(traverse.results(phase), results, strict=True))

        return run

    # -------------------------------------------------------------------------------------- control

    def repeat(self, word: LoopInstruction) -> Action:
        machine, registers = self.machine, self.registers
        body, index = self.all(word.instructions), _InstructionIndex(self.machine, word)
        at, stop = word.at, word.stop

        def run(memory: Memory) -> None:
            iterations = machine.number(word.trip)
            _rotate_state(memory, word.initial, (), word.state)
            index.begin()
            for iteration in range(iterations - 1, -1, -1) if word.backwards else range(word.first, word.first + iterations):
                registers[at] = iteration
                index.enter(iteration)
                try:
                    body(memory)
                except (CheckFailed, RunFailed) as failure:
                    add_iteration(failure, iteration_label(word.of, iteration))
                    raise
                _rotate_state(memory, word.yielded, word.locals, word.state)
                if stop is not None and registers[stop]:
                    break
            index.end()
            _rotate_state(memory, word.state if word.results else (), word.state, word.results)

        return run

    def choose(self, word: BranchInstruction) -> Action:
        machine, number = self.machine, self.number(word.condition)
        arms = [self.all(arm.instructions) for arm in word.arms]

        def run(memory: Memory) -> None:
            which = not number()
            arms[which](memory)
            arm: BranchArm = word.arms[which]
            for variable, size in zip(word.defines, arm.sizes, strict=True):
                machine.define(variable, machine.number(size))
            _rotate_state(memory, arm.results, arm.locals, word.results)

        return run

    def test(self, word: LoadPredicate) -> Action:
        registers, item = self.registers, self.backend.item

        def run(memory: Memory) -> None:
            registers[word.register] = bool(item(memory[word.value]))

        return run

    def refuse(self, word: RequireNonZero) -> Action:
        machine = self.machine

        def run(memory: Memory) -> None:
            if not machine.number(word.size):
                raise CheckFailed(word.code, word.message)

        return run

    # -------------------------------------------------------------------------------------- cells

    def number(self, of: Register | Size) -> Callable[[], int]:
        if isinstance(of, Size):
            return lambda: self.machine.number(of)
        return lambda: self.registers[of]

    def point(self, at: Register | Size, ahead: int, frame: Sequence[Size], axes: int) -> Callable[[], tuple[int, ...]]:
        """The first `axes` coordinates of the point of `frame` with the row-major number `at + ahead`."""
        number = self.number(at)
        if not axes:
            return tuple
        if len(frame) == 1:
            return lambda: (number() + ahead,)

        def find() -> tuple[int, ...]:
            left, coordinates = number() + ahead, []
            for size in reversed(frame):
                left, coordinate = divmod(left, self.machine.number(size))
                coordinates.append(coordinate)
            return tuple(coordinates[::-1][:axes])

        return find

    def cell(self, word: LoadCell) -> Action:
        point, cell = self.point(word.at, 0, word.frame, word.axes), self.backend.part

        def run(memory: Memory) -> None:
            memory[word.value] = cell(memory[word.of], point())

        return run

    def room(self, word: AllocInstruction) -> Action:
        machine, backend, value = self.machine, self.backend, word.value

        def run(memory: Memory) -> None:
            memory[value] = backend.empty(machine.kind(value), machine.shape(value))

        return run

    def put(self, word: StoreCell) -> Action:
        point, put = self.point(word.at, word.ahead, word.frame, len(word.frame)), self.backend.store

        def run(memory: Memory) -> None:
            put(memory[word.value], point(), memory[word.cell])

        return run


def _free(values: Sequence[ValueId]) -> Action:
    def free(memory: Memory) -> None:
        for value in values:
            memory.pop(value, None)

    return free


def _rotate_state(memory: Memory, values: Sequence[ValueId], local: Sequence[ValueId], names: Sequence[ValueId]) -> None:
    """Bind `names` to the values, after `local` has been freed: nothing then refers to the old buffers, so they can be reused."""
    yielded = [memory[value] for value in values]
    for value in local:
        memory.pop(value, None)
    for name in reversed(names):
        memory[name] = yielded.pop()


class _InstructionIndex:
    """The index of a loop, a size that is defined only during an iteration.

    If guards mention it, the run-time sizes of the previous iteration are removed first, so that no guard is checked with
    them."""

    def __init__(self, machine: RunState, word: LoopInstruction) -> None:
        self.machine, self.index = machine, word.index
        self.guarded = word.index is not None and any(word.index in guard.variables() for guard in machine.guards)
        self.known = frozenset[Any]()

    def begin(self) -> None:
        self.known = frozenset(self.machine.sizes) if self.guarded else self.known

    def enter(self, iteration: int) -> None:
        if self.index is not None:
            self.forget()
            self.machine.define(self.index, iteration)

    def end(self) -> None:
        self.forget()
        if self.index is not None:
            self.machine.sizes.pop(self.index, None)

    def forget(self) -> None:
        if self.guarded:
            for size in self.machine.sizes.keys() - self.known:
                del self.machine.sizes[size]
