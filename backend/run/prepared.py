"""A plan prepared to run many times: steps compiled once, kernels kept, one run at a time.

For functions called from Python, where compiling the steps would cost more than running them.  What a run leaves is as
in `executor`.  Only plans of one queue; not to be used by two threads at once (callers keep one for each).

Neighbours: `executor` (steps), `shell.embedding` (who calls).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...lang.diagnostics import Diagnostic, RunFailed
from ..graph import traverse
from ..graph.bind import BoundGraph
from ..schedule.plan import DeviceId, Plan
from .cpu import CpuBackend
from .cpu.linking import Take, Verdict, link
from .executor import Block, Machine, Results, current_span, need_text, require_memory
from .failures import CheckFailed
from .memory import Memory


class PreparedPlan:
    """A one-device plan of a bound graph, ready for inputs of its shapes."""

    def __init__(self, plan: Plan, bound: BoundGraph) -> None:
        graph = bound.graph
        self._plan, self._sizes = plan, dict(bound.sizes)
        self._backend = CpuBackend(plan.devices[0].threads)
        phases = {phase.id: phase for phase in traverse.all_phases(graph)}
        memories: dict[DeviceId, Memory] = {plan.home: {}}
        self._machine = Machine({plan.home: self._backend}, {}, memories, dict(bound.sizes), graph.types, graph.guards, phases)
        require_memory(plan, self._machine)
        self._block = Block(self._machine, plan.main)
        self._defines = any(traverse.defines(phase) for phase in phases.values())

    def link(self, arguments: Sequence[tuple[str, Any, Take]], outputs: Sequence[str], runs: int) -> Callable[..., Any] | Verdict:
        """The plan as a native call for arguments like these (`cpu.linking.link`)."""
        (queue,) = self._plan.main.queues
        machine = self._machine
        return link(queue.steps, machine.phases, machine, self._plan.devices[0].threads, arguments, outputs, runs)

    def run(self, inputs: Mapping[str, Any]) -> Results:
        """Run on host arrays by name, of the kinds and shapes that were planned.  RunFailed: a run-time check, or memory."""
        machine = self._machine
        machine.inputs = inputs
        if self._defines:
            machine.sizes.clear()
            machine.sizes.update(self._sizes)
        try:
            with self._backend.quiet():
                self._block.run()
            return Results(tuple(machine.printed), machine.outputs)
        except CheckFailed as failure:
            raise RunFailed([Diagnostic(failure.code, failure.message, current_span(machine))]) from None
        except MemoryError:
            text = f"memory ran out; {need_text(self._plan)}"
            raise RunFailed([Diagnostic("E702", text, current_span(machine))]) from None
        finally:
            machine.inputs = {}
            machine.printed, machine.outputs = [], {}
            self._block.memory.clear()
            self._backend.forget()
