"""A plan prepared to run many times: steps compiled once, kernels kept, one run at a time; a native program where it can be one.

For functions called from Python, where compiling the steps would cost more than running them.  What a run leaves is as
in `executor`.  Only plans of one queue; not to be used by two threads at once (`Runs` has one for each).

Neighbours: `executor` (steps), `native.encode` (native programs), `shell.embedding` and `backend.execute` (who call).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RunFailed
from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import Input, Output, Phase, Print
from ..kernels import policy
from ..kernels.kept import Kept
from ..schedule.plan.model import Plan
from ..schedule.plan.parts import DeviceId
from .cpu import CpuBackend
from .executor import current_span, is_shared, need_text, require_memory
from .failures import CheckFailed
from .machine import Machine, Results, Shown
from .memory import Memory
from .native import native
from .native.encode import NotEncoded, encoded
from .native.program import OTHER, Program
from .words.assemble import assemble
from .words.interpret import compile_words
from .words.program import Word

T = TypeVar("T")
FIRST_ASKED: Final = 4
"""Runs after which there is a native program."""
_NEVER: Final = 1 << 62
_new: Final[Callable[..., Any]] = tuple.__new__
"""Makes a named tuple in half the time that its own class takes."""
_NO_HOLDINGS: Final = Results._field_defaults["held"]
_NUMBERS: Final = frozenset({float, int})


class Links:
    """What native programs of a plan take and give; `latest`: the one that was used last, which several threads may call."""

    __slots__ = ("latest", "names", "outputs")

    def __init__(self, names: Sequence[str], outputs: Sequence[str]) -> None:
        self.names, self.outputs = tuple(names), tuple(outputs)
        self.latest: Callable[..., Any] = no_call

    def run(self, prepared: PreparedPlan, given: Sequence[object], arrays: Sequence[Any]) -> Any:
        """The output (a tuple of several) by native code; `OTHER` where it is for Python.

        `given` may have Python's numbers where `arrays` has arrays of them."""
        program = prepared.program()
        if program is None:
            return OTHER
        taken = [value if type(value) in _NUMBERS else array for value, array in zip(given, arrays, strict=True)]
        result = program.function(*taken)
        if result is OTHER and program.admit(arrays):
            result = program.function(*taken)
        if result is not OTHER:
            self.latest = program.function
        return result


def no_call(*given: object) -> Any:
    """A native call that is for nothing."""
    return OTHER


def native_program(
    words: Sequence[Word], machine: Machine, backend: CpuBackend, inputs: Sequence[str],
    exhausted: Callable[[Phase | None], RunFailed], reset: Callable[[], int] | None,
) -> Program | None:  # fmt: skip
    """None where there is no native code, or it is no program for it."""
    made = None if policy.mode() is policy.Mode.OFF else native()
    if made is None:
        return None
    try:
        return encoded(made, words, machine, backend, inputs, exhausted, reset)
    except NotEncoded:
        return None


class PreparedPlan:
    """A one-device plan of a bound graph, ready for inputs of its shapes."""

    def __init__(self, plan: Plan, bound: BoundGraph, links: Links | None = None) -> None:
        graph = bound.graph
        self._plan, self._sizes = plan, dict(bound.sizes)
        self._backend = CpuBackend(plan.devices[0].threads)
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        memories: dict[DeviceId, Memory] = {plan.home: {}}
        self._machine = Machine(graph.types, dict(bound.sizes), graph.guards, {plan.home: self._backend}, {}, memories, phases)
        require_memory(plan, self._machine)
        (queue,) = plan.main.queues
        self._words, self._memory = assemble(queue.steps, phases, graph.types), memories[plan.home]
        self._run = compile_words(self._machine, self._words, plan.home)
        self._defines = any(traverse.defines(phase) for phase in phases.values())
        self.links = links or links_of(bound)
        self._program: Program | None = None
        self._runs, self._due = 0, FIRST_ASKED
        self._named = sum(isinstance(p, Output) for p in graph.phases)
        shown = [p for p in graph.phases if isinstance(p, Output)], [p for p in graph.phases if isinstance(p, Print)]
        self._is_single = self._named == 1 and not shown[1]
        self._kinds = [graph.types[p.arg].element.kind for row in shown for p in row]

    def program(self) -> Program | None:
        """The plan for native code, once it has run a few times."""
        self._runs += 1
        if self._program is None or self._program.is_retired:
            if self._runs < self._due or not self.links.outputs:
                return None
            reset = self._reset if self._defines and self._machine.guards else None
            self._program = native_program(self._words, self._machine, self._backend, self.links.names, self._exhausted, reset)
            self._due = _NEVER if self._program is None else 0
        return self._program

    def _reset(self) -> int:
        """What a run before this one has found is nothing to it."""
        self._machine.sizes.clear()
        self._machine.sizes.update(self._sizes)
        return 0

    def _exhausted(self, phase: Phase | None) -> RunFailed:
        span = current_span(self._machine) if phase is None else phase.span
        return RunFailed([Diagnostic(Code.E702, f"memory ran out; {need_text(self._plan)}", span)])

    def run(self, inputs: Mapping[str, Any]) -> Results:
        """Run on host arrays by name, of the kinds and shapes that were planned.  RunFailed: a run-time check, or memory."""
        arrays = [inputs[name] for name in self.links.names]
        found = self.links.latest(*arrays)
        if found is OTHER:
            found = self.links.run(self, arrays, arrays)
        return self.run_steps(inputs) if found is OTHER else self._results(found)

    def _results(self, found: Any) -> Results:
        links = self.links
        if self._is_single:
            only: Results = _new(Results, ((), {links.outputs[0]: _new(Shown, (self._kinds[0], found))}, _NO_HOLDINGS))
            return only
        values = found if len(links.outputs) > 1 else (found,)
        shown = [*map(Shown, self._kinds, values)]
        return Results(tuple(shown[self._named :]), dict(zip(links.outputs, shown[: self._named], strict=False)))

    def run_steps(self, inputs: Mapping[str, Any]) -> Results:
        """The same step by step."""
        machine = self._machine
        machine.inputs = inputs
        if self._defines:
            self._reset()
        try:
            with self._backend.quiet():
                self._run(self._memory)
            return Results(tuple(machine.printed), machine.outputs)
        except CheckFailed as failure:
            raise failure.at(current_span(machine)) from None
        except MemoryError:
            raise self._exhausted(None) from None
        finally:
            machine.inputs = {}
            machine.printed, machine.outputs = [], {}
            self._memory.clear()
            self._backend.forget()


def links_of(bound: BoundGraph) -> Links:
    """Of all inputs; of all outputs, then of what is printed, each in the order of the graph."""
    phases = bound.graph.phases
    outputs = [p.name for p in phases if isinstance(p, Output)]
    prints = [f"print {place}" for place in range(sum(isinstance(p, Print) for p in phases))]
    return Links([p.name for p in phases if isinstance(p, Input)], [*outputs, *prints])


class Runs:
    """A plan that any number of threads may run: a prepared one for each run at a time; `free`: those that none is using."""

    def __init__(self, plan: Plan, bound: BoundGraph, links: Links | None = None) -> None:
        self.plan, self.bound, self.links = plan, bound, links or links_of(bound)
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


_again: Kept[Runs] = Kept(16)


def _is_plain(plan: Plan) -> bool:
    """Has a plan one queue, on this machine's processors?"""
    (device, *others) = plan.devices
    if others or device.backend != "cpu" or len(plan.main.queues) != 1 or plan.speculated:
        return False
    return not any(map(is_shared, plan.main.queues[0].steps))


def run_again(plan: Plan, bound: BoundGraph, inputs: Mapping[str, Any]) -> Results | None:
    """Run a plan that has been executed before, prepared; None if it has not been, or is no plan of one queue on this machine's
    processors."""
    found = _again.get(id(plan))
    if found is None or found.plan is not plan or found.bound is not bound:
        if _is_plain(plan):
            _again.put(id(plan), (), Runs(plan, bound))
        return None
    return found.use(lambda prepared: prepared.run(inputs))
