"""The actions of steps in plans of several devices: shards, transfers, combines, and distributed loops.

A step reads operands only from the buffers of its own device, so that a missing transfer is detected.  Buffers are changed under
one lock, and kernels run outside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from enum import Enum
from functools import partial
from time import perf_counter_ns
from typing import Any, Final, TypeAlias

from ...lang.diagnostics.model import Code, Diagnostic, RunFailed
from ...lang.support.records import dataclass, field, replace, require_invariant
from ...lang.syntax.source import Span
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, number
from ..cpu.backend import CpuBackend
from ..cpu.views import as_stored
from ..graph import traverse
from ..graph.partial_graphs import LoopIteration, Restricted, restrict
from ..graph.phases import (
    ApplyNode,
    Axis,
    AxisKind,
    Input,
    LibraryPhase,
    Loop,
    Output,
    Phase,
    PhaseResult,
    Print,
    Projection,
    Read,
    ReadNode,
    Structured,
    SubGraph,
    ValueId,
    frame_of,
)
from ..graph.registry import LIBRARY
from ..io.external_arrays import StoreBackend
from ..jit.compiler import LruCache
from ..schedule.plan.plan import (
    Box,
    BranchStep,
    CellsStep,
    CombineStep,
    DeviceId,
    ExecutionPlan,
    FenceStep,
    FreeStep,
    JoinStep,
    LoopStep,
    RowsStep,
    RunStep,
    Step,
    StreamStep,
    SubPlan,
    TransferStep,
    WaitStep,
    sub_plans,
)
from ..schedule.problem import QueueKind
from ..schedule.program_facts.partitioning import (
    BLOCK,
    SharedLoop,
    box_of_state,
    is_ordered,
    is_shared,
    iteration_ticks,
    joining_function,
    merged_loop_body,
    operand_boxes,
    reads_of,
    result_boxes,
    shared_loops,
    subtrees,
)
from ..vm.bytecode import assemble
from ..vm.interpreter import compile_instructions
from ..vm.run_state import Backend, Kernel, Observer, OutputValue, ResidentValue, RunState, StepTiming, Types, announce, memory_of
from .buffers import LOCAL, Action, DeviceBuffers, OutOfMemory, Parts, QueueClock, RunBuffers, Transport, extents, placed
from .queues import Compile, Fences, QueueCursor, Queues, WaitFor, compile_queues, run_by_clock, run_in_threads

# ---------------------------------------------------------------------------------------------------- shards
#
# Kernels of shards: a box of a phase is compiled as a phase by itself.
#
# A box that cuts a reduce axis gives partial results: one for each largest subtree of the order of sums inside it, so that the
# combined bits are those of the uncut phase; a function that is exact in any order gives one.

ReadOperand: TypeAlias = Callable[[ValueId, Box, bool], Any]
"""Returns the array of a box of a value; with True, an array of the whole shape in which only the box matters."""


@dataclass(frozen=True, slots=True)
class ShardResult:
    """One result of a shard: its box; for a `partial` result, the box of the iteration space that it reduces."""

    value: ValueId
    box: Box
    partial: bool
    array: Any


PairwiseFunction: TypeAlias = Callable[[Any, Any], Any]
Room: TypeAlias = Callable[[ValueId, Box], Any]
"""Returns the array in which a piece of a value is to be computed; None if it may be anywhere."""
ShardKernel: TypeAlias = Callable[[ReadOperand, Room], list[ShardResult]]
KernelCache: TypeAlias = dict[Hashable, Kernel]
"""Kernels by restricted phase and the types of its values."""


class ShardOutputKind(Enum):
    """What a shard computes: items or partial results."""

    RESULTS = "boxes of the results"
    PARTIALS = "partial results, to be combined"


def compile_shard(
    phase: Structured | LibraryPhase | Loop, box: Box, makes: ShardOutputKind, types: Types, backend: Backend, known: KernelCache
) -> ShardKernel:  # fmt: skip
    """The kernel of a box of a phase of known sizes; `known`: the device's kernels, which boxes that differ only in position
    share."""
    if isinstance(phase, LibraryPhase):
        return _library(phase, box, makes, types, backend)
    if isinstance(phase, Loop):
        return _loop(phase, box, types, backend)
    parts = _parts(phase, box, types) if makes is ShardOutputKind.PARTIALS else [box]
    shards = [_structured(phase, part, makes, types, backend, known) for part in parts]
    return shards[0] if len(shards) == 1 else lambda take, room: [one for shard in shards for one in shard(take, room)]


def _parts(phase: Structured, box: Box, types: Types) -> list[Box]:
    """The boxes each of which gives one partial result."""
    if not any(is_ordered(phase, r.value, types.types) for r in phase.results):
        return [box]
    length = types.number(phase.axes[-1].size)
    first, stop = box[-1][0] // BLOCK, -(-box[-1][1] // BLOCK)
    nodes = subtrees(first, stop, -(-length // BLOCK))
    return [(*box[:-1], (a * BLOCK, min(b * BLOCK, length))) for a, b in nodes]


def _structured(
    phase: Structured, box: Box, makes: ShardOutputKind, types: Types, backend: Backend, known: KernelCache
) -> ShardKernel:
    restricted = _restricted(phase, box)
    results = result_boxes(phase, types.types, box)
    local: dict[ValueId, ArrayType] = {}
    for read, new, part, full in zip(phase.reads, restricted.phase.reads, restricted.boxes, restricted.is_unnarrowed,
        strict=True):
        old = types.types[read.value]
        local[new.value] = old if full else replace(old, shape=_sizes(extents(part)))
    for result, part in zip(phase.results, results, strict=True):
        local[result.value] = replace(types.types[result.value], shape=_sizes(extents(part)))
    key = restricted.phase, *local.items()
    kernel = known.get(key)
    if kernel is None:
        kernel = known[key] = backend.structured(restricted.phase, Types(local, types.sizes, types.guards))
    wanted = [
        (new.value, (read.value, part, full))
        for read, new, part, full in zip(phase.reads, restricted.phase.reads, restricted.boxes, restricted.is_unnarrowed,
        strict=True)
    ]
    partial = makes is ShardOutputKind.PARTIALS
    places = [(result.value, box if partial else part) for result, part in zip(phase.results, results, strict=True)]

    def run(take: ReadOperand, room: Room) -> list[ShardResult]:
        operands = _operands(take, wanted)
        arrays = kernel(operands, None if partial else room(*places[0]))
        return [ShardResult(value, part, partial, array) for (value, part), array in zip(places, arrays, strict=True)]

    return run


def _restricted(phase: Structured, box: Box) -> Restricted:
    """The phase restricted to a box, cached with the phase, since back ends cache kernels with their phases."""
    return _restrictions.of((id(phase), box), (phase,), lambda: restrict(phase, box))


_restrictions: Final[LruCache[Restricted]] = LruCache(1024)
_iterations: Final[LruCache[tuple[Structured, Restricted, Structured, Loop]]] = LruCache(256)


def _restricted_loop(loop: Loop, box: Box, types: Types) -> tuple[Structured, Restricted, Structured, Loop]:
    """An iteration of an element-wise loop restricted to a box, with new results, and the loop around it; cached with the
    loop."""
    iteration = merged_loop_body(loop, types.types)
    assert isinstance(iteration, Structured), "only element-wise loops have boxes"
    restricted = restrict(iteration, box)
    reads, states = restricted.phase.reads, len(loop.initial)
    renamed = tuple(ValueId(-1 - len(reads) - index) for index in range(states))
    params = tuple(read.value for read in reads[:states])
    results = tuple(replace(r, value=new) for r, new in zip(restricted.phase.results, renamed, strict=True))
    body = replace(restricted.phase, results=results)
    return iteration, restricted, body, replace(loop, initial=params, body=SubGraph(params, (body,), renamed))


def _loop(loop: Loop, box: Box, types: Types, backend: Backend) -> ShardKernel:
    """Runs all iterations of a box of an element-wise loop: in one kernel if the back end has one, else with one kernel per
    iteration."""
    iteration, restricted, body, alone = _iterations.of((id(loop), box), (loop,), lambda: _restricted_loop(loop, box, types))
    reads, trip = restricted.phase.reads, types.number(loop.trip)
    wanted = [
        (new.value, (read.value, part, full))
        for read, new, part, full in zip(iteration.reads, reads, restricted.boxes, restricted.is_unnarrowed, strict=True)
    ]
    shape = _sizes(extents(box))
    local = {
        new: types.types[old] if full else replace(types.types[old], shape=_sizes(extents(part)))
        for new, (old, part, full) in wanted
    }
    for value, new in zip(loop.results, alone.body.results, strict=True):
        local[value] = local[new] = replace(types.types[value], shape=shape)
    params = alone.initial
    own_types = Types(local, types.sizes, types.guards)
    together = backend.region(alone, own_types, {})
    kernel = backend.structured(body, own_types)

    def run(take: ReadOperand, room: Room) -> list[ShardResult]:
        operands = _operands(take, wanted)
        state: Sequence[Any] = [operands[param] for param in params]
        done = None if together is None else together(operands)
        for _ in range(0 if done is not None else trip):
            operands |= zip(params, state, strict=True)
            state = kernel(operands, None)
        return [ShardResult(value, box, False, array) for value, array in zip(loop.results, done or state, strict=True)]

    return run


def _library(phase: LibraryPhase, box: Box, makes: ShardOutputKind, types: Types, backend: Backend) -> ShardKernel:
    needed = operand_boxes(phase, types.types, box)
    results = result_boxes(phase, types.types, box)
    args = tuple(ValueId(-1 - index) for index in range(len(phase.args)))
    cut = zip(args, phase.args, needed, strict=True)
    local = {new: replace(types.types[old], shape=_sizes(extents(part))) for new, old, part in cut}
    for value, part in zip(phase.results, results, strict=True):
        local[value] = replace(types.types[value], shape=_sizes(extents(part)))
    attributes = {**phase.attributes, "origin": box[frame_of(phase)][0]} if LIBRARY[phase.op].located else phase.attributes
    kernel = backend.library(replace(phase, args=args, attributes=attributes), Types(local, types.sizes, types.guards))
    wanted = [(new, (old, part, False)) for new, old, part in zip(args, phase.args, needed, strict=True)]
    partial = makes is ShardOutputKind.PARTIALS
    places = [(value, box if partial else part) for value, part in zip(phase.results, results, strict=True)]

    def run(take: ReadOperand, room: Room) -> list[ShardResult]:
        operands = _operands(take, wanted)
        arrays = kernel(operands, None)
        return [ShardResult(value, part, partial, array) for (value, part), array in zip(places, arrays, strict=True)]

    return run


def _operands(take: ReadOperand, wanted: Sequence[tuple[ValueId, tuple[ValueId, Box, bool]]]) -> dict[ValueId, Any]:
    """The operands by name; a part that several operands share is read once, since reading may assemble an array."""
    parts = {part: take(*part) for part in dict.fromkeys(part for _, part in wanted)}
    return {name: parts[part] for name, part in wanted}


def _sizes(shape: Sequence[int]) -> tuple[Size, ...]:
    return tuple(number(n) for n in shape)


# --------------------------------------------------------------------------------------- combination of partial results


def combine(
    phase: Structured | LibraryPhase, value: ValueId, partials: Sequence[tuple[Box, Any]], types: Types, backend: Backend
) -> Any:
    """Combines partial results, which tile the reduced axes, in the order of sums."""
    return combine_with(
        pairwise_function(phase, joining_function(phase, value), value, types, backend), phase, value, partials, types
    )


def combine_with(
    pair: PairwiseFunction, phase: Structured | LibraryPhase, value: ValueId, partials: Sequence[tuple[Box, Any]], types: Types
) -> Any:
    """As `combine`, with a compiled `pairwise_function`."""
    ordered = sorted(((box[-1], array) for box, array in partials), key=lambda item: item[0])
    if not isinstance(phase, Structured) or not is_ordered(phase, value, types.types):
        total = ordered[0][1]
        for _, array in ordered[1:]:
            total = pair(total, array)
        return total
    blocks = -(-types.number(phase.axes[-1].size) // BLOCK)
    nodes = {start // BLOCK: (-(-stop // BLOCK), array) for (start, stop), array in ordered}
    size = 1
    while size < blocks:
        for start in range(0, blocks, 2 * size):
            middle = start + size
            if middle in nodes and start in nodes and nodes[start][0] == middle:
                stop, right = nodes.pop(middle)
                nodes[start] = (stop, pair(nodes[start][1], right))
        size *= 2
    (_, total), *rest = nodes.values()
    require_invariant(not rest, "partial results tile the reduce axis")
    return total


def pairwise_function(
    phase: Structured | LibraryPhase, function: str, value: ValueId, types: Types, backend: Backend
) -> PairwiseFunction:
    """One application of a function that joins partial results of `value`, element by element."""
    type = types.types[value]
    joined = _joins.of((id(phase), function, value, type), (phase,), lambda: _pairwise(phase, function, value, type))
    left, right = (read.value for read in joined.reads)
    kernel = backend.structured(joined, Types({left: type, right: type, value: type}, types.sizes, types.guards))
    return lambda a, b: kernel({left: a, right: b}, None)[0]


_joins: Final[LruCache[Structured]] = LruCache(256)


def _pairwise(phase: Structured | LibraryPhase, function: str, value: ValueId, type: ArrayType) -> Structured:
    kind, left, right = type.element.kind, ValueId(-1), ValueId(-2)
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
    body = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode(function, (0, 1), kind))
    reads = (Read(left, Projection(())), Read(right, Projection(())))
    return Structured(phase.id, phase.span, axes, reads, body, (PhaseResult(value, 2, None),))


# ---------------------------------------------------------------------------------------------------- steps

def compile_step(buffers: RunBuffers, step: Step, device: DeviceId, home: DeviceId) -> Action:
    """The action of a step in a device's queue."""
    match step:
        case RunStep() if step.box is not None:
            return _shard(buffers, step, step.box, device)
        case LoopStep() | JoinStep() if is_shared(step):
            return lambda: None  # the loop's queues run them together
        case JoinStep() | RowsStep() | StreamStep():
            raise AssertionError("queues join what they share; chains and passes are steps of one device")
        case RunStep() | LoopStep() | BranchStep() | CellsStep():
            return _whole_phase(buffers, step, device, home)
        case CombineStep():
            return _combine(buffers, step, home)
        case FreeStep():
            where = device if step.device is None else step.device

            def free() -> None:
                for value in step.values:
                    buffers.free(where, value, step.box)

            return free
        case TransferStep():
            return _transfer(buffers, step, device, home)
        case FenceStep() | WaitStep():
            return lambda: None


def _shard(buffers: RunBuffers, step: RunStep, box: Box, device: DeviceId) -> Action:
    machine, device_buffers = buffers.state, buffers.devices[device]
    phase = machine.phases[step.phase]
    assert isinstance(phase, Structured | LibraryPhase | Loop), "other phases have no boxes"
    makes = ShardOutputKind.PARTIALS if step.phase in buffers.combined else ShardOutputKind.RESULTS
    shapes = {value: machine.cap_shape(value) for value in (*reads_of(phase, machine.types), *traverse.results(phase))}

    def take(value: ValueId, part: Box, full: bool) -> Any:
        kind, shape = machine.kind(value), shapes[value]
        with buffers.lock:
            return (
                device_buffers.read_in_place(value, part, kind, shape) if full else device_buffers.read(value, part, kind, shape)
            )

    def room(value: ValueId, part: Box) -> Any:
        with buffers.lock:
            return device_buffers.room(value, part, shapes[value])

    made_once: list[ShardKernel] = []

    def run() -> None:
        machine.current = phase
        if not made_once:
            with machine.making:
                made_once.append(compile_shard(phase, box, makes, machine, machine.backends[device], device_buffers.kernels))
        results = made_once[0](take, room)
        if device_buffers.wholes:
            results = [one if one.partial else replace(one, array=placed(room(one.value, one.box), one.array)) for one in results]
        with buffers.lock:
            for value, count in Counter(result.value for result in results if result.partial).items():
                device_buffers.count(value, box, buffers.bytes(value, partials=count))
            for result in results:
                if result.partial:
                    device_buffers.partials.setdefault(result.value, []).append((result.box, result.array))
                else:
                    device_buffers.count(result.value, result.box, buffers.bytes(result.value, result.box))
                    device_buffers.add_piece(result.value, result.box, result.array, shapes[result.value])

    return machine.observed(run, phase, device)


def _whole_phase(
    buffers: RunBuffers, step: RunStep | LoopStep | BranchStep | CellsStep, device: DeviceId, home: DeviceId
) -> Action:  # fmt: skip
    machine, device_buffers = buffers.state, buffers.devices[device]
    phase = machine.phases[step.phase]
    action = compile_instructions(machine, assemble([step], machine.phases, machine.types), device)
    needed = tuple(dict.fromkeys(traverse.uses(phase)))
    results = traverse.results(phase)
    if isinstance(phase, Input) and phase.result in machine.abroad:
        return lambda: _put_pieces(buffers, phase, device)
    if isinstance(phase, Output) and phase.arg in machine.abroad:
        return lambda: _leave_abroad(buffers, phase, device)

    def run() -> None:
        machine.current = phase
        with buffers.lock:
            assembled = [value for value in needed if value not in device_buffers.memory and value in device_buffers.pieces]
            for value in assembled:
                shape = machine.shape(value)
                device_buffers.memory[value] = device_buffers.read(
                    value, tuple((0, n) for n in shape), machine.kind(value), shape
                )
            for value in results:
                device_buffers.count(value, None, buffers.bytes(value))
            if isinstance(phase, Print | Output) and device == home:
                if assembled or phase.arg in buffers.given:
                    device_buffers.count_result(buffers.bytes(phase.arg))
                buffers.given.add(phase.arg)
            elif isinstance(phase, Input):
                buffers.given.add(phase.result)
        action(device_buffers.memory)
        with buffers.lock:
            for value in assembled:
                del device_buffers.memory[value]

    return run


def _put_pieces(buffers: RunBuffers, phase: Input, home: DeviceId) -> None:
    """Adds the pieces of a resident input that the host has to home's buffers."""
    machine, device_buffers, value = buffers.state, buffers.devices[home], phase.result
    for backend, box, array in machine.resident[value].pieces:
        if memory_of(backend) is memory_of(device_buffers.backend):
            shared = device_buffers.backend.bring(array, machine.kind(value))
            with buffers.lock:
                device_buffers.count(value, box, buffers.bytes(value, box))
                device_buffers.add_piece(value, box, shared, machine.shape(value))


def _leave_abroad(buffers: RunBuffers, phase: Output, home: DeviceId) -> None:
    """Makes a value resident: the pieces that transfers left on other devices, and those of home."""
    machine, device_buffers = buffers.state, buffers.devices[home]
    kind, resident = machine.kind(phase.arg), machine.resident[phase.arg]
    with buffers.lock:
        full = device_buffers.memory.get(phase.arg)
        pieces = device_buffers.pieces.get(phase.arg, {}).items() if full is None else [(None, full)]
        for box, array in pieces:
            resident.pieces.append((device_buffers.backend, box, device_buffers.backend.fetch(array, kind)))
        buffers.given.add(phase.arg)
    machine.outputs[phase.name] = OutputValue(kind, resident)


def _combine(buffers: RunBuffers, step: CombineStep, home: DeviceId) -> Action:
    machine, device_buffers = buffers.state, buffers.devices[home]
    phase = machine.phases[step.phase]
    assert isinstance(phase, Structured | LibraryPhase), "only reductions are combined"

    pairs: dict[ValueId, PairwiseFunction] = {}

    def run() -> None:
        machine.current = phase
        for value in traverse.results(phase):
            if value not in pairs:
                with machine.making:
                    function = joining_function(phase, value)
                    pairs[value] = pairwise_function(phase, function, value, machine, machine.backends[home])
            total = combine_with(pairs[value], phase, value, device_buffers.partials[value], machine)
            with buffers.lock:
                device_buffers.free(value, None)
                device_buffers.count(value, None, buffers.bytes(value))
                device_buffers.memory[value] = total

    return machine.observed(run, phase, home)


def _transfer(buffers: RunBuffers, step: TransferStep, link: DeviceId, home: DeviceId) -> Action:
    machine, transport, value = buffers.state, buffers.transport, step.value
    kind = machine.kind(value)
    maker = _producer(machine, value)
    resident = None if step.partial else machine.resident.get(value)

    def run() -> None:
        machine.current = maker
        if resident is not None and (isinstance(maker, Input) or step.target == home):
            parts = resident_parts(resident)
            with buffers.lock:
                put(parts)
                buffers.has_read(step.source, value, step.box)
        elif transport.is_local(step.source) and transport.is_local(step.target):
            with buffers.lock:
                parts = taken()
            parts = lying(carried(parts))
            with buffers.lock:
                put(parts)
                buffers.has_read(step.source, value, step.box)
        elif transport.is_local(step.source):
            with buffers.lock:
                parts = taken()
            transport.send(step, parts, kind)
            with buffers.lock:
                buffers.has_read(step.source, value, step.box)
        else:
            parts = lying(transport.receive(step, kind))
            with buffers.lock:
                put(parts)

    def resident_parts(resident: ResidentValue) -> Parts:
        """The parts of a resident value that the target must hold: of an input those that the device lacks, else a copy that
        stays there; of an output none, since home does not need it."""
        source, target = (buffers.devices[device].backend for device in (step.source, step.target))
        pieces = resident.covering(target, step.box) if isinstance(maker, Input) else []
        if not pieces:
            with buffers.lock:
                parts = taken()
            if not isinstance(maker, Input):
                resident.pieces += [(source, *part) for part in parts]
                return []
            resident.pieces += (pieces := [(target, *part) for part in carried(parts)])
        return [piece[1:] for piece in pieces]

    def taken() -> Parts:
        source = buffers.devices[step.source]
        if step.partial:
            return source.partials_in(value, step.box)
        if step.box is None:
            return [(None, source.memory[value])]
        return [(step.box, source.read(value, step.box, kind, machine.cap_shape(value)))]

    def carried(parts: Parts) -> Parts:
        """The parts that the target must hold, without those in a file.  Arrays are immutable, so two memories of one back end
        may share them, except those of two GPUs."""
        source, target = (buffers.devices[device].backend for device in (step.source, step.target))
        if type(source) is type(target) and memory_of(source) is memory_of(target):
            return parts
        if type(source) is CpuBackend and not isinstance(target, StoreBackend) and kind is not Kind.CHAR:
            fetched = list(parts)  # a transfer copies them
        else:
            fetched = [(box, source.fetch(array, kind, room)) for room, (box, array) in zip(rooms(parts), parts, strict=True)]
        if isinstance(target, StoreBackend):
            file = buffers.devices[step.target].memory.get(value)  # of a phase's results some may be unused
            for box, array in fetched if file is not None else ():
                target.write(file, box, array)
            return []
        if isinstance(target, CpuBackend):
            return [(box, as_stored(array, kind)) for box, array in fetched]
        return [(box, target.bring(array, kind)) for box, array in fetched]

    def rooms(parts: Parts) -> list[Any]:
        """The arrays in which the target's value is stored; None for parts that may be anywhere."""
        target = buffers.devices[step.target]
        if step.partial or value not in target.wholes:
            return [None] * len(parts)
        with buffers.lock:
            return [target.room(value, box, machine.cap_shape(value)) for box, _ in parts]

    def lying(parts: Parts) -> Parts:
        """The parts, copied to where the target's value is stored."""
        return [(box, placed(room, array)) for room, (box, array) in zip(rooms(parts), parts, strict=True)]

    def put(parts: Parts) -> None:
        target = buffers.devices[step.target]
        if step.partial:
            target.count(value, step.box, buffers.bytes(value, partials=len(parts)))
        for box, array in parts:
            if step.partial:
                assert box is not None, "partial results have boxes"
                target.partials.setdefault(value, []).append((box, array))
            else:
                target.count(value, box, buffers.bytes(value, box))
                target.add_piece(value, box, array, machine.cap_shape(value))

    return machine.observed(run, step, link)


def _producer(machine: RunState, value: ValueId) -> Phase | None:
    return next((phase for phase in machine.phases.values() if value in traverse.results(phase)), None)


# ---------------------------------------------------------------------------------------------------- distributed loops
#
# Distributed loops: every queue runs its part of each iteration, after a barrier.
#
# The entries of an iteration read the states from the loop's operands, or from the buffers in which the last iteration left them.
# After an iteration each device keeps its states and frees everything else.  Barriers are fences that are distinct in every
# iteration, so that waiting, failing and stopping work as elsewhere (`queues`).

@dataclass(slots=True)
class DistributedLoopRun:
    """The execution of one loop; `states`: by device, the arrays of its states between iterations, with their boxes."""

    plan: ExecutionPlan
    shared: SharedLoop
    around: Queues
    compile: Compile
    body: Queues = field(init=False)
    epilogue: Queues | None = field(init=False, default=None)
    states: dict[DeviceId, list[Any]] = field(default_factory=dict)
    first: int = field(init=False)
    """The first queue that this process runs."""
    parties: int = field(init=False)
    """The number of queues of all processes that meet at a barrier."""

    def __post_init__(self) -> None:
        queues, transport = [which for which, _ in self.shared.parts], self.around.transport
        self.first = min(which for which in queues if self.around.steps[which])
        self.parties = sum(transport.process_count(self.plan.main.queues[which]) for which in queues)
        self.body = self.compile_queues(self.shared.step.body, self.shared.iteration)
        if self.shared.step.leave is not None and self.shared.epilogue is not None:
            self.epilogue = self.compile_queues(self.shared.step.leave, self.shared.epilogue)

    # ------------------------------------------------------------------------------ compiling

    def compile_queues(self, plan: SubPlan, iteration: LoopIteration) -> Queues:
        """The queues of an iteration, or of the epilogue, with their numbers in the surrounding plan."""
        graph = iteration.bound.graph
        where = {(queue.device, queue.kind): which for which, queue in enumerate(self.plan.main.queues)}
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        entries = {phase.id: index for index, phase in enumerate(graph.phases[: len(iteration.axes)])}
        queues = {where[queue.device, queue.kind]: queue for queue in plan.queues}
        machines = {
            which: replace(self.around.buffers_of[which].state, types=graph.types, phases=phases, current=None, observe=None)
            for which in queues
        }  # fmt: skip

        def action(buffers: RunBuffers, step: Step, device: DeviceId) -> Action:
            if isinstance(step, RunStep) and step.phase in entries:
                return self.entry(buffers, iteration, entries[step.phase], step.box, device)
            return self.compile(buffers, step, device)

        return compile_queues(queues, machines, self.around.buffers, action)

    def entry(self, buffers: RunBuffers, iteration: LoopIteration, index: int, box: Box | None, device: DeviceId) -> Action:
        """The action of an entry phase: the state is where the last iteration left it."""
        machine, device_buffers = buffers.state, buffers.devices[device]
        value, first = iteration.loop.body.params[index], iteration.loop.initial[index]
        shape, kind = machine.cap_shape(value), machine.kind(value)
        wanted = tuple((0, n) for n in shape) if box is None else box

        def enter() -> None:
            with buffers.lock:
                entered = self.states.get(device)
                array = device_buffers.read(first, wanted, kind, shape) if entered is None else entered[index]
                device_buffers.count(value, box, buffers.bytes(value, box))
                device_buffers.add_piece(value, box, array, shape)

        return enter

    # ------------------------------------------------------------------------------ the part of a queue

    def run(self, cursor: QueueCursor, fences: Fences) -> Iterator[WaitFor]:
        start, which, trip = perf_counter_ns(), cursor.which, self.shared.iteration.loop.trip.constant or 0
        machine, queue = self.around.buffers_of[which].state, self.plan.main.queues[which]
        machine.current = self.shared.iteration.loop
        device = queue.device if queue.kind is QueueKind.COMPUTE else None
        done = 0
        while done < trip:
            yield from self.iterate(self.body, self.shared.step.body, cursor, fences, done)
            done += 1
            stop = self.is_last(self.devices[0] if device is None else device)
            if self.shared.iteration.stop is not None:
                yield self.barrier(fences, done - 1, "told")
            if device is not None:
                self.keep_states(device)
            if stop:
                break
        if self.epilogue is not None and self.shared.step.leave is not None:
            yield from self.iterate(self.epilogue, self.shared.step.leave, cursor, fences, done)
        if device is not None:
            self.finish(device)
        if machine.observe is not None:
            machine.observe(StepTiming(self.shared.iteration.loop, queue.device, start, perf_counter_ns()))

    def iterate(self, side: Queues, plan: SubPlan, cursor: QueueCursor, fences: Fences, iteration: int) -> Iterator[WaitFor]:
        id, which = self.shared.step.phase, cursor.which
        if which == self.first:
            side.begin()
        yield self.barrier(fences, iteration, "begin")
        if which == self.first:  # all queues have left the last iteration by then
            fences.forget([(id, iteration - 1, fence) for fence in ("begin", "end", "told", *self.body.counts)])
        inside, began = QueueCursor(which, side, iteration=(id, iteration), start_tick=fences.now), cursor.position
        try:
            yield from inside.run(fences)
        except BaseException:
            cursor.position = (*began, iteration, *inside.position)
            self.propagate_position(side, which)
            raise
        yield WaitFor(None, inside.start_tick + iteration_ticks(plan))
        yield self.barrier(fences, iteration, "end")

    def barrier(self, fences: Fences, iteration: int, what: str) -> WaitFor:
        """Reaches a barrier; returns the wait for all queues of the loop."""
        fence = (self.shared.step.phase, iteration, what)
        fences.passed(fence, self.parties)
        return WaitFor(fence)

    def propagate_position(self, side: Queues, which: int) -> None:
        """Copies the phase at which an iteration stopped to the surrounding run."""
        current = side.buffers_of[which].state.current
        if current is not None:
            self.around.buffers_of[which].state.current = current

    # ------------------------------------------------------------------------------ between iterations

    @property
    def devices(self) -> list[DeviceId]:
        """The devices of this process that take part in the loop."""
        return [device for device in self.shared.rows_on(self.plan) if self.around.transport.is_local(device)]

    def boxes(self, device: DeviceId) -> list[tuple[int, Box | None]]:
        """The states of which a device has a part: (index, box), where None is all of the state."""
        rows = self.shared.rows_on(self.plan)[device]
        boxes: list[tuple[int, Box | None]] = []
        for index, axis in enumerate(self.shared.iteration.axes):
            if axis is not None:
                boxes.append((index, box_of_state(self.shared.iteration, index, rows)))
            elif device == self.plan.home:
                boxes.append((index, None))
        return boxes

    def is_last(self, device: DeviceId) -> bool:
        """Has an iteration set the loop's stop condition on that device?"""
        stop, buffers = self.shared.iteration.stop, self.body.buffers
        if stop is None:
            return False
        with buffers.lock:
            return bool(buffers.state.backends[device].item(buffers.devices[device].memory[stop]))

    def keep_states(self, device: DeviceId) -> None:
        """Keeps the states that an iteration left on a device, and frees everything else of the iteration."""
        iteration, buffers = self.shared.iteration, self.body.buffers
        device_buffers = buffers.devices[device]
        state: list[Any] = [None] * len(iteration.axes)
        with buffers.lock:
            for index, box in self.boxes(device):
                value = iteration.next[index]
                shape = buffers.state.cap_shape(value)
                wanted = tuple((0, n) for n in shape) if box is None else box
                state[index] = device_buffers.read(value, wanted, buffers.state.kind(value), shape)
            for phase in iteration.bound.graph.phases:
                for value in traverse.results(phase):
                    device_buffers.free(value, None)
            self.states[device] = state

    def finish(self, device: DeviceId) -> None:
        """Turns the last states into the loop's results."""
        states = self.states.pop(device)
        if self.epilogue is not None:
            return
        buffers, loop = self.body.buffers, self.shared.iteration.loop
        device_buffers = buffers.devices[device]
        with buffers.lock:
            for index, box in self.boxes(device):
                value = loop.results[index]
                device_buffers.count(value, box, buffers.bytes(value, box))
                device_buffers.add_piece(value, box, states[index], buffers.state.cap_shape(value))


# ---------------------------------------------------------------------------------------------------- execution of a plan
#
# Executes a plan of several queues, each device with its own buffers, by the clock or in threads.


def run_distributed(
    machine: RunState, plan: ExecutionPlan, clock: QueueClock, transport: Transport = LOCAL
) -> dict[DeviceId, int]:
    """Executes the main sub-plan; returns the most bytes that each device held.  With `transport` it runs the steps on the
    devices of this process.

    In threads there are no ticks at whose end to count, so the bytes held are unknown."""
    touched: set[DeviceId] = set()

    def settle() -> None:
        for device in touched:
            device_buffers[device].check_limit()
        touched.clear()

    def compile(buffers: RunBuffers, step: Step, device: DeviceId) -> Action:
        return compile_step(buffers, step, device, plan.home)

    device_buffers = {
        device.id: DeviceBuffers(
            device.id, machine.backends[device.id], touched, device.memory if clock is QueueClock.SIMULATED else None,
            machine.memories[device.id],
        )
        for device in plan.devices if transport.is_local(device.id)
    }  # fmt: skip
    _find_residents(machine, plan)
    if clock is QueueClock.THREADS and type(machine.backends.get(plan.home)) is CpuBackend:
        given = {phase.arg for phase in machine.phases.values() if isinstance(phase, Print | Output)} - machine.abroad
        sized = (value for value in given if all(size.constant is not None for size in machine.types[value].shape))
        device_buffers[plan.home].wholes = {value: machine.kind(value) for value in sized}
    around = RunBuffers(machine, device_buffers, frozenset(), frozenset(), transport=transport)
    observe = _one_at_a_time(machine.observe, around.lock)
    machines = {which: replace(machine, observe=observe) for which in range(len(plan.main.queues))}  # each at its own phase
    for member in machines.values():
        announce(member)
    queues = compile_queues(dict(enumerate(plan.main.queues)), machines, around, compile)
    queues.begin()
    shared = shared_loops(plan, machine.around) if plan.spread and machine.around is not None else {}
    joined_loops = {
        phase: DistributedLoopRun(plan, loop, queues, compile)
        for phase, loop in shared.items() if any(queues.steps[which] for which, _ in loop.parts)
    }  # fmt: skip
    cursors = [QueueCursor(which, queues, joined_loops) for which, steps in queues.steps.items() if steps]
    if clock is not QueueClock.THREADS:
        failure = run_by_clock(cursors, settle)
    else:
        first = plan.home if transport.is_local(plan.home) else next(iter(device_buffers))
        is_first = [queue.kind is QueueKind.COMPUTE and queue.device == first for queue in plan.main.queues]
        cursors.sort(key=lambda cursor: not is_first[cursor.which])
        failure = run_in_threads(cursors, machine.backends[first].quiet, transport, partial(transport.begin, machine))
    if failure is None:
        return {} if clock is QueueClock.THREADS else {device: held.peak for device, held in device_buffers.items()}
    machine.current = machines[failure.queue].current
    if isinstance(failure.error, OutOfMemory):
        span = machine.current.span if machine.current is not None else Span("", 0, 0)
        message = f"a device would hold {failure.error.held:,} bytes and has {failure.error.limit:,}"
        raise RunFailed([Diagnostic(Code.E702, message, span)]) from None
    raise failure.error


def _find_residents(machine: RunState, plan: ExecutionPlan) -> None:
    """Determines the resident values of a run, and those of them of which home needs only its own pieces, since its steps and the
    transfers from it read no others."""
    if plan.home not in machine.backends:  # in a worker of a cluster: resident values are home's
        return
    steps = [(queue.device, step) for queue in plan.main.queues for step in queue.steps]
    transfers = [step for _, outer in steps for step in _with_steps_inside(outer) if isinstance(step, TransferStep)]
    read_at_home = [part for device, step in steps if device == plan.home for part in _parts_read(machine, step)]
    home, needed = machine.backends[plan.home], {value for value, _ in read_at_home}
    needed |= {one.value for one in transfers if one.source == plan.home}
    abroad: set[ValueId] = set()
    for phase in machine.phases.values():
        if isinstance(phase, Input) and isinstance(given := machine.inputs.get(phase.name), ResidentValue):
            value = phase.result
            machine.resident[value] = given
            parts = [box for one, box in read_at_home if one == value]
            sent = [one for one in transfers if one.value == value and one.source == plan.home]
            there = machine.backends
            parts += [one.box for one in sent if one.target not in there or not given.covering(there[one.target], one.box)]
            if all(given.covering(home, box) for box in parts):
                abroad.add(value)
    for phase in machine.phases.values():
        if not isinstance(phase, Output) or phase.name not in machine.keep or phase.arg in needed:
            continue
        if phase.arg not in machine.resident and all(size.constant is not None for size in machine.types[phase.arg].shape):
            machine.resident[phase.arg] = ResidentValue(machine.kind(phase.arg), machine.shape(phase.arg), [])
            abroad.add(phase.arg)
    machine.abroad = frozenset(abroad)


def _parts_read(machine: RunState, step: Step) -> list[tuple[ValueId, Box | None]]:
    """The values that a step of home reads, each with its box (None: all of it)."""
    if not isinstance(step, RunStep | LoopStep | BranchStep | CellsStep | JoinStep):
        return []
    phase = machine.phases[step.phase]
    if isinstance(phase, Output) and phase.name in machine.keep:
        return []
    if isinstance(step, RunStep) and step.box is not None and isinstance(phase, Structured):
        return [(read.value, box) for read, box in zip(phase.reads, _restricted(phase, step.box).boxes, strict=True)]
    return [(value, None) for value in traverse.uses(phase)]


def _with_steps_inside(step: Step) -> Iterator[Step]:
    yield step
    for body in sub_plans(step):
        for queue in body.queues:
            for inside in queue.steps:
                yield from _with_steps_inside(inside)


def _one_at_a_time(observe: Observer | None, lock: Any) -> Observer | None:
    if observe is None:
        return None

    def observe_alone(took: StepTiming) -> None:
        with lock:
            observe(took)

    return observe_alone
