"""Executes a plan: a single queue as instructions of the virtual machine, several queues by `backend.distributed`.

A run returns its prints in order and its outputs by name, or raises an exception.  `RunFailed` has the span of the phase that
failed; E702 means that memory ran out there.  A KeyboardInterrupt is passed on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, Final, TypeVar

import numpy as np

from ...lang.diagnostics.model import Code, Diagnostic, Refused, RunFailed
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ..cpu.backend import CpuBackend
from ..cpu.views import as_stored
from ..distributed.buffers import LOCAL, QueueClock, Transport
from ..graph import traverse
from ..graph.bind_sizes import BoundGraph
from ..graph.passes.pipeline import bound_function
from ..graph.phases import Fold, Input, Loop, Map, Output, Phase, Print
from ..graph.registry import GraphFunction
from ..jit import tiering
from ..jit.compiler import LruCache
from ..loopir.facts import numpy_nanoseconds
from ..schedule.plan.plan import CombineStep, Device, DeviceId, ExecutionPlan, FenceStep, RunStep, Step, TransferStep, WaitStep
from ..schedule.problem import QueueKind
from ..schedule.program_facts.partitioning import stored_on, stored_value
from ..schedule.single_device import HOME, Detail, plan_one_device
from .bytecode import NOT_APPLICABLE, BytecodeProgram, Instruction, assemble
from .check_failures import CheckFailed
from .interpreter import compile_instructions
from .run_state import (
    WATCHER,
    Backend,
    Memory,
    Observer,
    OutputValue,
    RunResults,
    RunState,
    SharedFunctions,
    TileRunner,
    announce,
)
from .runtime import native

# ---------------------------------------------------------------------------------------------------- execution

ADDRESSABLE: Final = 1 << 47
"""Bytes of the address space: a plan that needs more is refused."""


def execute_plan(
    plan: ExecutionPlan, bound: BoundGraph, inputs: Mapping[str, Any], backends: Mapping[DeviceId, Backend],
    observe: Observer | None = None, pace: QueueClock = QueueClock.PREDICTED, stores: TileRunner | None = None,
    others: Transport = LOCAL, keep: frozenset[str] = frozenset(),
) -> RunResults:  # fmt: skip
    """Run the queues of a plan of `bound` whose devices have a back end in `backends`, on host arrays or resident values; outputs
    in `keep` become resident values.

    Raises RunFailed for a failed run-time check or if memory runs out."""
    from ..graph.partial_graphs import in_form

    graph = in_form(bound.graph, plan.form)
    phases = {phase.id: phase for phase in traverse.all_phases(graph)}
    memories: dict[DeviceId, Memory] = {device.id: {} for device in plan.devices}
    around = replace(bound, graph=graph)
    lying = stored_on(plan, around)
    for phase in graph.phases if lying else ():
        name, value = stored_value(phase) or ("", None)
        if value is not None and name in lying:  # resident before the run, for all readers and writers
            memories[DeviceId(lying[name])][value] = inputs[name]
    machine = RunState(
        graph.types, dict(bound.sizes), graph.guards, backends, inputs, memories, phases, observe=observe, around=around,
        stores=stores, keep=keep,
    )  # fmt: skip
    require_memory(plan, machine)
    announce(machine)
    with next(iter(backends.values())).quiet():
        try:
            held = _run(machine, plan, pace, others)
        except CheckFailed as failure:
            raise failure.at(current_span(machine)) from None
        except MemoryError:
            raise RunFailed([Diagnostic(Code.E702, f"memory ran out; {memory_need_text(plan)}", current_span(machine))]) from None
    return RunResults(tuple(machine.printed), machine.outputs, held)


def _run(machine: RunState, plan: ExecutionPlan, pace: QueueClock, others: Transport) -> Mapping[DeviceId, int]:
    if len(plan.main.queues) == 1 and not any(map(needs_other_queues, plan.main.queues[0].steps)):
        (queue,) = plan.main.queues
        compile_instructions(machine, assemble(queue.steps, machine.phases, machine.types), queue.device)(
            machine.memories[queue.device]
        )
        return {}
    if pace is QueueClock.THREADS and others is LOCAL and not _is_parallel(plan):
        pace = QueueClock.PREDICTED
    from ..distributed.steps import run_distributed

    return run_distributed(machine, plan, pace, others)


def _is_parallel(plan: ExecutionPlan) -> bool:
    """Do several devices have work, and are they no more than the threads that may exist?"""
    from ..distributed.queues import MOST_THREADS

    busy = [queue.kind for queue in plan.main.queues if queue.steps]
    return busy.count(QueueKind.COMPUTE) > 1 and len(busy) <= MOST_THREADS


def needs_other_queues(step: Step) -> bool:
    """Does a step use parts of values, or synchronise with another queue?"""
    parts = isinstance(step, RunStep) and step.box is not None
    return parts or isinstance(step, CombineStep | TransferStep | FenceStep | WaitStep)


def require_memory(plan: ExecutionPlan, machine: RunState) -> None:
    """Raises Refused E702 for a plan that needs more memory than the address space or the declared capacity of a device."""
    limits = {device.id: device.memory for device in plan.devices}
    for device, peak in plan.main.peak:
        limit = limits.get(device)
        if peak >= ADDRESSABLE or (limit is not None and peak > limit):
            first = next(iter(machine.phases.values()))
            span = _phase_of_largest_value(machine, first).span
            raise Refused([Diagnostic(Code.E702, f"{memory_need_text(plan)}, more than there is", span)])


def memory_need_text(plan: ExecutionPlan) -> str:
    return f"the program needs at most {max((size for _, size in plan.main.peak), default=0):,} bytes at once"


def _phase_of_largest_value(machine: RunState, first: Phase) -> Phase:
    """The phase that computes the largest value."""

    def size(phase: Phase) -> int:
        return sum(prod(machine.cap_shape(v)) * machine.kind(v).bytes for v in traverse.results(phase))

    return max(machine.phases.values(), key=size, default=first)


def current_span(machine: RunState) -> Span:
    return machine.current.span if machine.current is not None else Span("", 0, 0)


# ---------------------------------------------------------------------------------------------------- prepared plans
#
# A plan prepared to run many times: its instructions and kernels are cached, and become a native program where possible.
#
# Functions called from Python run prepared plans, since assembling instructions would take longer than running them.  A prepared
# plan has one queue and serves one thread at a time (`PreparedPlanPool` has one for each thread).

T = TypeVar("T")
RUNTIME_NANOSECONDS: Final = 50e6
"""Nanoseconds of loading the native runtime with LLVM."""
_new: Final[Callable[..., Any]] = tuple.__new__
"""Makes a named tuple in half the time of its class's constructor."""
_DEFAULTS: Final = tuple(RunResults._field_defaults.values())
"""The defaults of the last fields of RunResults."""
_NUMBERS: Final = frozenset({float, int})


class NativeSignature:
    """The names of the inputs and outputs of a plan's native programs.

    `latest`: the most recently used native function, which several threads may call."""

    __slots__ = ("latest", "names", "outputs")

    def __init__(self, names: Sequence[str], outputs: Sequence[str]) -> None:
        self.names, self.outputs = tuple(names), tuple(outputs)
        self.latest: Callable[..., Any] = never_applicable

    def run(self, prepared: PreparedPlan, given: Sequence[object], arrays: Sequence[Any]) -> Any:
        """Runs native code; returns the output (a tuple if there are several), or `NOT_APPLICABLE` if Python has to run the plan.

        `given` may have Python numbers where `arrays` has arrays.
        """
        program = prepared.program()
        if program is None:
            return NOT_APPLICABLE
        operands = [value if type(value) in _NUMBERS else array for value, array in zip(given, arrays, strict=True)]
        result = program.function(*operands)
        if result is NOT_APPLICABLE and program.admit(arrays):
            result = program.function(*operands)
        if result is not NOT_APPLICABLE:
            self.latest = program.function
        return result


    def run_named(self, values: Mapping[str, object]) -> Mapping[str, Any] | None:
        """Runs the most recently used native function; returns the outputs by name, or None if it does not accept these
        arguments."""
        results = self.latest(*[values[name] for name in self.names])
        if results is NOT_APPLICABLE:
            return None
        return dict(zip(self.outputs, results if len(self.outputs) > 1 else (results,), strict=True))


def never_applicable(*given: object) -> Any:
    """A native function that accepts no arguments: it always returns `NOT_APPLICABLE`."""
    return NOT_APPLICABLE


def native_program(
    words: Sequence[Instruction], machine: RunState, backend: CpuBackend, inputs: Sequence[str],
    exhausted: Callable[[Phase | None], RunFailed], reset: Callable[[], int] | None,
) -> BytecodeProgram | None:  # fmt: skip
    """The native program of the instructions; None if the native runtime is unavailable or cannot run them."""
    library = None if tiering.mode() is tiering.Mode.OFF else native()
    if library is None:
        return None
    try:
        from .encoder import NotEncodable, encode
    except ImportError:
        if sys.meta_path is not None:
            raise
        return None  # the interpreter is shutting down and loads no more modules
    try:
        return encode(library, words, machine, backend, inputs, exhausted, reset)
    except NotEncodable:
        return None


class PreparedPlan:
    """A plan with one queue, prepared for inputs of fixed shapes."""

    def __init__(self, plan: ExecutionPlan, bound: BoundGraph, links: NativeSignature | None = None) -> None:
        graph = bound.graph
        self._plan, self._sizes = plan, dict(bound.sizes)
        self._backend = CpuBackend(plan.devices[0].threads)
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        memories: dict[DeviceId, Memory] = {plan.home: {}}
        self._machine = RunState(graph.types, dict(bound.sizes), graph.guards, {plan.home: self._backend}, {}, memories, phases)
        require_memory(plan, self._machine)
        (queue,) = plan.main.queues
        self._words, self._memory = assemble(queue.steps, phases, graph.types), memories[plan.home]
        self._run = compile_instructions(self._machine, self._words, plan.home)
        self._defines = any(traverse.defines(phase) for phase in phases.values())
        self.links = links or native_signature(bound)
        self._program: BytecodeProgram | None = None
        self._is_encodable = bool(self.links.outputs)
        self._runs = 0
        self._is_repeated = has_long_loops(bound)
        self._named = sum(isinstance(p, Output) for p in graph.phases)
        shown = [p for p in graph.phases if isinstance(p, Output)], [p for p in graph.phases if isinstance(p, Print)]
        self._is_single = self._named == 1 and not shown[1]
        self._kinds = [graph.types[p.arg].element.kind for row in shown for p in row]

    def program(self) -> BytecodeProgram | None:
        """The native program, from the second run of the plan on, or at once if its loops are long."""
        if not self._is_repeated:
            self._is_repeated = True
            return None
        if self._is_encodable and (self._program is None or self._program.is_retired):
            reset = self._reset if self._defines and self._machine.guards else None
            self._program = native_program(self._words, self._machine, self._backend, self.links.names, self._exhausted, reset)
            self._is_encodable = self._program is not None
            if self._program is not None:
                self._program.before = self._runs
        return self._program

    def _reset(self) -> int:
        """Forgets the run-time sizes of the previous run."""
        self._machine.sizes.clear()
        self._machine.sizes.update(self._sizes)
        return 0

    def _exhausted(self, phase: Phase | None) -> RunFailed:
        span = current_span(self._machine) if phase is None else phase.span
        return RunFailed([Diagnostic(Code.E702, f"memory ran out; {memory_need_text(self._plan)}", span)])

    def run(self, inputs: Mapping[str, Any]) -> RunResults:
        """Runs on host arrays by name, of the planned kinds and shapes.  Raises RunFailed."""
        arrays = [inputs[name] for name in self.links.names]
        results = self.links.latest(*arrays)
        if results is NOT_APPLICABLE:
            results = self.links.run(self, arrays, arrays)
        return self.run_steps(inputs) if results is NOT_APPLICABLE else self._results(results)

    def _results(self, results: Any) -> RunResults:
        links = self.links
        if self._is_single:
            output = {links.outputs[0]: _new(OutputValue, (self._kinds[0], results))}
            only: RunResults = _new(RunResults, ((), output, *_DEFAULTS))
            return only
        values = results if len(links.outputs) > 1 else (results,)
        shown = [*map(OutputValue, self._kinds, values)]
        return RunResults(tuple(shown[self._named :]), dict(zip(links.outputs, shown[: self._named], strict=False)))

    def run_steps(self, inputs: Mapping[str, Any]) -> RunResults:
        """Runs by the interpreter in Python."""
        machine, self._runs = self._machine, self._runs + 1
        machine.inputs = inputs
        if self._defines:
            self._reset()
        try:
            with self._backend.quiet():
                self._run(self._memory)
            return RunResults(tuple(machine.printed), machine.outputs)
        except CheckFailed as failure:
            raise failure.at(current_span(machine)) from None
        except MemoryError:
            raise self._exhausted(None) from None
        finally:
            machine.inputs = {}
            machine.printed, machine.outputs = [], {}
            self._memory.clear()
            self._backend.forget()


def signature_of(plan: ExecutionPlan) -> NativeSignature | None:
    """The native signature of a plan that has recently been executed as a prepared plan."""
    pool = _prepared_pools.get(id(plan))
    return None if pool is None or pool.plan is not plan else pool.links


def has_long_loops(bound: BoundGraph) -> bool:
    """Would the program's loops take longer on NumPy than loading the native runtime takes?"""
    graph = bound.graph
    loops = [phase for phase in graph.phases if isinstance(phase, Loop | Fold | Map)]
    return sum([numpy_nanoseconds(phase, graph.types) for phase in loops]) > RUNTIME_NANOSECONDS


def native_signature(bound: BoundGraph) -> NativeSignature:
    """The inputs, and the outputs followed by the prints, each in the order of the graph."""
    phases = bound.graph.phases
    outputs = [p.name for p in phases if isinstance(p, Output)]
    prints = [f"print {number}" for number in range(sum(isinstance(p, Print) for p in phases))]
    return NativeSignature([p.name for p in phases if isinstance(p, Input)], [*outputs, *prints])


class PreparedPlanPool:
    """A plan that any number of threads may run: each run takes a prepared plan of its own from `free`, or makes one."""

    def __init__(self, plan: ExecutionPlan, bound: BoundGraph, links: NativeSignature | None = None) -> None:
        self.plan, self.bound, self.links = plan, bound, links or native_signature(bound)
        self.free: list[PreparedPlan] = []

    def use(self, run: Callable[[PreparedPlan], T]) -> T:
        try:
            prepared = self.free.pop()
        except IndexError:
            prepared = PreparedPlan(self.plan, self.bound, self.links)
        try:
            return run(prepared)
        finally:
            self.free.append(prepared)


_prepared_pools: LruCache[PreparedPlanPool] = LruCache(16)


def _is_single_cpu_queue(plan: ExecutionPlan) -> bool:
    """Has a plan a single queue, on this machine's CPU?"""
    (device, *others) = plan.devices
    if others or device.backend != "cpu" or len(plan.main.queues) != 1 or plan.form:
        return False
    return not any(map(needs_other_queues, plan.main.queues[0].steps))


def run_prepared(plan: ExecutionPlan, bound: BoundGraph, inputs: Mapping[str, Any]) -> RunResults | None:
    """Run a plan as a prepared plan if it has been executed before, or has long loops; None if it has not, or is not a single
    queue on the CPU."""
    prepared_plan = _prepared_pools.get(id(plan))
    if prepared_plan is None or prepared_plan.plan is not plan or prepared_plan.bound is not bound:
        if not _is_single_cpu_queue(plan):
            return None
        prepared_plan = _prepared_pools.put(id(plan), (), PreparedPlanPool(plan, bound))
        if WATCHER.get() is not None or not has_long_loops(bound):
            return None
    return prepared_plan.use(lambda prepared: prepared.run(inputs))


# ---------------------------------------------------------------------------------------------------- shared functions

def run_function(function: GraphFunction, sizes: tuple[int, ...], arguments: Sequence[Any], threads: int) -> tuple[Any, ...]:
    """Runs a shared function by a plan for these sizes; returns its results as stored arrays.  Raises RunFailed."""

    def pool() -> PreparedPlanPool:
        bound = bound_function(function, sizes)
        return PreparedPlanPool(plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS), bound)

    prepared = function.cached(("pool", sizes, threads), pool)
    names = [entry.name for entry in function.core.core.inputs]
    results = prepared.use(lambda plan: plan.run(dict(zip(names, arguments, strict=True))))
    outputs = [results.outputs[entry.name] for entry in function.core.core.outputs]
    return tuple([as_stored(np.asarray(output.value), output.kind) for output in outputs])


SharedFunctions.run = run_function
