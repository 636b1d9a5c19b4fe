"""Which devices of a plan are stores, and what lies in them.

Neighbours: `devices.profile` (Note [Stores]), `program.problem_of` (puts inputs there), `run.cluster` (reads them where they are
used).
"""

from __future__ import annotations

from typing import Final

from ...graph.bind import BoundGraph
from ...graph.phases import Input
from ..plan.model import Plan, RunStep
from ..plan.parts import DeviceId

STORE: Final = "store"
"""The back end of stores."""


def stores_of(plan: Plan) -> tuple[DeviceId, ...]:
    return tuple(device.id for device in plan.devices if device.backend == STORE)


def lying_in(plan: Plan, bound: BoundGraph) -> dict[str, str]:
    """The inputs that lie in stores, by name."""
    stores = stores_of(plan)
    if not stores:
        return {}
    inputs = {phase.id: phase.name for phase in bound.graph.phases if isinstance(phase, Input)}
    return {
        inputs[step.phase]: str(queue.device) for queue in plan.main.queues if queue.device in stores
        for step in queue.steps if isinstance(step, RunStep) and step.phase in inputs
    }  # fmt: skip
