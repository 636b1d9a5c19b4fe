"""A plan prepared to run many times: steps compiled once, kernels kept, one run at a time; as a native call where it can be one.

For functions called from Python, where compiling the steps would cost more than running them.  What a run leaves is as
in `executor`.  Only plans of one queue; not to be used by two threads at once (callers keep one for each; they may share
`Links`).

Neighbours: `executor` (steps), `cpu.linking` (native calls), `shell.embedding` and `backend.execute` (who call).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ...lang.diagnostics import Diagnostic, RunFailed
from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.phases import Input, Output, Print
from ..schedule.plan.model import DeviceId, Plan
from .cpu import CpuBackend
from .cpu.drafting import OTHER, Take, Verdict
from .cpu.linking import link, printed_name
from .executor import current_span, is_shared, need_text, require_memory
from .failures import CheckFailed
from .machine import Machine, Results, Shown
from .memory import Memory
from .words.assemble import assemble
from .words.interpret import compile_words

FIRST_ASKED: Final = 4
MOST_WAIT: Final = 256
"""Runs after which a native call is first asked for, and at most until it is asked for again."""
MOST_LINKED: Final = 16
_NEVER: Final = 1 << 62
_new: Final[Callable[..., Any]] = tuple.__new__
"""Makes a named tuple in half the time that its own class takes."""
_NO_HOLDINGS: Final = Results._field_defaults["held"]
_TAKES: Final[dict[type, Take]] = {float: Take.FLOAT, int: Take.INT}


class Links:
    """The native calls of a plan by what is given, in the order of the inputs; several threads may ask."""

    __slots__ = ("asked", "due", "latest", "linked", "names", "outputs", "runs")

    def __init__(self, names: Sequence[str], outputs: Sequence[str]) -> None:
        self.names, self.outputs = tuple(names), tuple(outputs)
        self.linked: dict[Any, Callable[..., Any]] = {}
        self.runs, self.asked, self.due = 0, 0, FIRST_ASKED if outputs else _NEVER
        self.latest: Callable[..., Any] = no_call

    def run(self, prepared: PreparedPlan, given: Sequence[object], arrays: Sequence[Any]) -> Any:
        """The output (a tuple of several) through a native call; `OTHER` if there is none yet.  `given` may have Python's numbers
        where `arrays` has arrays of them."""
        self.runs += 1
        if not self.linked and self.runs < self.due:
            return OTHER
        takes = [_TAKES.get(type(value), Take.ARRAY) for value in given]
        key = tuple([(take, array.strides) for take, array in zip(takes, arrays, strict=True)])
        found = self.linked.get(key)
        if found is None:
            if self.runs < self.due:
                return OTHER
            made = prepared.link(tuple(zip(self.names, arrays, takes, strict=True)), self.outputs, self.runs - self.asked)
            self.asked = self.runs
            if made is Verdict.LAYOUT:
                made = no_call
            if isinstance(made, Verdict):
                self.due = self.runs + min(self.runs, MOST_WAIT) if made is Verdict.LATER else _NEVER
                return OTHER
            found = self.linked[key] = made
            if len(self.linked) >= MOST_LINKED:
                self.due = _NEVER
        result = found(
            *[value if take is not Take.ARRAY else array for value, take, array in zip(given, takes, arrays, strict=True)]
        )
        if result is not OTHER:
            self.latest = found
        return result


def no_call(*given: object) -> Any:
    """A native call that is for nothing."""
    return OTHER


class PreparedPlan:
    """A one-device plan of a bound graph, ready for inputs of its shapes."""

    def __init__(self, plan: Plan, bound: BoundGraph, links: Links | None = None) -> None:
        graph = bound.graph
        self._plan, self._sizes = plan, dict(bound.sizes)
        self._backend = CpuBackend(plan.devices[0].threads)
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        memories: dict[DeviceId, Memory] = {plan.home: {}}
        self._machine = Machine({plan.home: self._backend}, {}, memories, dict(bound.sizes), graph.types, graph.guards, phases)
        require_memory(plan, self._machine)
        (queue,) = plan.main.queues
        self._words, self._memory = assemble(queue.steps, phases, graph.types), memories[plan.home]
        self._run = compile_words(self._machine, self._words, plan.home)
        self._defines = any(traverse.defines(phase) for phase in phases.values())
        self.links = links or links_of(bound)
        self._named = sum(isinstance(p, Output) for p in graph.phases)
        shown = [p for p in graph.phases if isinstance(p, Output)], [p for p in graph.phases if isinstance(p, Print)]
        self._is_single = self._named == 1 and not shown[1]
        self._kinds = [graph.types[p.arg].element.kind for row in shown for p in row]

    def link(
        self, arguments: Sequence[tuple[str, Any, Take]], outputs: Sequence[str], runs: int
    ) -> Callable[..., Any] | Verdict:  # fmt: skip
        """The plan as a native call for arguments like these (`cpu.linking.link`)."""
        machine = self._machine
        return link(self._words, machine.phases, machine, self._plan.devices[0].threads, arguments, outputs, runs)

    def run(self, inputs: Mapping[str, Any]) -> Results:
        """Run on host arrays by name, of the kinds and shapes that were planned.  RunFailed: a run-time check, or memory."""
        results = self.call(inputs)
        if results is not None:
            return results
        arrays = [inputs[name] for name in self.links.names]
        found = self.links.run(self, arrays, arrays)
        return self.run_steps(inputs) if found is OTHER else self._results(found)

    def call(self, inputs: Mapping[str, Any]) -> Results | None:
        """The same by the native call that was used last, which several threads may do at once; None if it is not for these."""
        found = self.links.latest(*[inputs[name] for name in self.links.names])
        return None if found is OTHER else self._results(found)

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
            machine.sizes.clear()
            machine.sizes.update(self._sizes)
        try:
            with self._backend.quiet():
                self._run(self._memory)
            return Results(tuple(machine.printed), machine.outputs)
        except CheckFailed as failure:
            raise RunFailed([Diagnostic(failure.code, failure.message, failure.span or current_span(machine))]) from None
        except MemoryError:
            text = f"memory ran out; {need_text(self._plan)}"
            raise RunFailed([Diagnostic("E702", text, current_span(machine))]) from None
        finally:
            machine.inputs = {}
            machine.printed, machine.outputs = [], {}
            self._memory.clear()
            self._backend.forget()


def links_of(bound: BoundGraph) -> Links:
    """Of all inputs; of all outputs, then of what is printed, each in the order of the graph."""
    phases = bound.graph.phases
    outputs = [p.name for p in phases if isinstance(p, Output)]
    prints = [printed_name(place) for place in range(sum(isinstance(p, Print) for p in phases))]
    return Links([p.name for p in phases if isinstance(p, Input)], [*outputs, *prints])


class _Again:
    """A plan that has run once, and may run again."""

    def __init__(self, plan: Plan, bound: BoundGraph) -> None:
        self.plan, self.bound = plan, bound
        self.prepared: PreparedPlan | None = None
        self.lock = threading.Lock()


_MOST_AGAIN: Final = 16
_again: dict[int, _Again] = {}


def _is_plain(plan: Plan) -> bool:
    """Has a plan one queue, on this machine's processors?"""
    (device, *others) = plan.devices
    if others or device.backend != "cpu" or len(plan.main.queues) != 1 or plan.speculated:
        return False
    return not any(map(is_shared, plan.main.queues[0].steps))


def run_again(plan: Plan, bound: BoundGraph, inputs: Mapping[str, Any]) -> Results | None:
    """Run a plan that has been executed before, prepared; None if it has not been, or runs in another thread, or is no plan of
    one queue on this machine's processors."""
    found = _again.get(id(plan))
    if found is None or found.plan is not plan or found.bound is not bound:
        if _is_plain(plan):
            while len(_again) >= _MOST_AGAIN:
                _again.pop(next(iter(_again)), None)
            _again[id(plan)] = _Again(plan, bound)
        return None
    prepared = found.prepared
    if prepared is not None:
        results = prepared.call(inputs)
        if results is not None:
            return results
    if not found.lock.acquire(blocking=False):
        return None
    try:
        if prepared is None:
            prepared = found.prepared = PreparedPlan(plan, bound)
        return prepared.run(inputs)
    finally:
        found.lock.release()
