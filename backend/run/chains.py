"""Steps that run several phases together, row by row.

Neighbours: `executor` (other steps), `graph.chains` (what a chain is), `cpu.rows` (runs one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.phases import Structured
from ..schedule.plan.model import RowsStep
from .device import Backend, Kernel
from .memory import Memory, sole_owner

if TYPE_CHECKING:
    from .executor import Action, Machine


def compile_rows_step(machine: Machine, step: RowsStep, backend: Backend) -> Action:
    """Compiled at first need, and again when a run-time size of a member has changed (the index of a loop is one)."""
    from .executor import runtime_sizes

    members: list[Structured] = []
    for id in step.phases:
        phase = machine.phases[id]
        assert isinstance(phase, Structured)
        members.append(phase)
    varying = tuple(dict.fromkeys(size for member in members for size in runtime_sizes(machine, member)))
    kept: dict[tuple[int, ...], Kernel] = {}
    sizes = machine.sizes
    overwrite, results = step.overwrite, step.results

    def act(memory: Memory) -> None:
        machine.current = members[0]
        key = tuple([sizes[size] for size in varying])
        kernel = kept.get(key)
        if kernel is None:
            kept.clear()
            with machine.making:
                kernel = kept[key] = backend.rows(members, results, machine)
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        for value, array in zip(results, kernel(memory, target), strict=True):
            memory[value] = array

    return act
