"""Steps that run several phases together, row by row.

Neighbours: `executor` (other steps), `graph.chains` (what a chain is), `cpu.rows` (runs one).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph.phases import Structured
from ..schedule.plan import RowsStep
from .device import Backend, Kernel
from .memory import Memory, sole_owner

if TYPE_CHECKING:
    from .executor import Action, Machine


def compile_rows_step(machine: Machine, step: RowsStep, backend: Backend) -> Action:
    """Compiled at first need: the sizes of a chain are numbers."""
    members: list[Structured] = []
    for id in step.phases:
        phase = machine.phases[id]
        assert isinstance(phase, Structured)
        members.append(phase)
    made: list[Kernel] = []
    overwrite, results = step.overwrite, step.results

    def act(memory: Memory) -> None:
        machine.current = members[0]
        if not made:
            with machine.making:
                made.append(backend.rows(members, results, machine))
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        for value, array in zip(results, made[0](memory, target), strict=True):
            memory[value] = array

    return act
