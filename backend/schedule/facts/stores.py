"""Which devices of a plan are stores, and what lies in them: inputs by name, outputs by `output NAME`.

Neighbours: `devices.profile` (Note [Stores]), `program.problem_of` (puts them there), `run.cluster` (reads and writes them where
they are used and made).
"""

from __future__ import annotations

from typing import Final

from ...graph.bind import BoundGraph
from ...graph.phases import Input, Output, Phase, ValueId
from ..plan.model import Plan, RunStep
from ..plan.parts import DeviceId

STORE: Final = "store"
"""The back end of stores."""


def stores_of(plan: Plan) -> tuple[DeviceId, ...]:
    return tuple(device.id for device in plan.devices if device.backend == STORE)


def in_files(phase: Phase) -> tuple[str, ValueId] | None:
    """What may lie in a store: its name there, and its value."""
    match phase:
        case Input():
            return phase.name, phase.result
        case Output():
            return written_as(phase.name), phase.arg
        case _:
            return None


def written_as(output: str) -> str:
    return f"output {output}"


def lying_in(plan: Plan, bound: BoundGraph) -> dict[str, str]:
    """What lies in stores, by name."""
    stores = stores_of(plan)
    if not stores:
        return {}
    names = {phase.id: found[0] for phase in bound.graph.phases if (found := in_files(phase)) is not None}
    return {
        names[step.phase]: str(queue.device) for queue in plan.main.queues if queue.device in stores
        for step in queue.steps if isinstance(step, RunStep) and step.phase in names
    }  # fmt: skip
