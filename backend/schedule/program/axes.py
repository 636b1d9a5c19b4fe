"""The axes that the plans of a problem are cut along, as a plan states them, and back from a stored plan.

Neighbours: `cuts` (chooses them), `facts.sharding` (which there are), `plan.space_text` (says them).
"""

from __future__ import annotations

from collections.abc import Iterator

from ...graph.bind import BoundGraph
from ...graph.phases import Input, Phase, PhaseId
from ..facts.sharding import axes_of, uncut_because
from ..plan.model import Plan
from ..plan.parts import PlannedCut
from .cuts import Axes
from .together import ProgramProblem


def cuts_in(program: ProgramProblem) -> tuple[PlannedCut, ...]:
    """Along which axis each phase is cut, of those along which it could be; loops that devices run together are none of them."""
    apart = {*program.dealt, *(gang.loop.id for gang in program.gangs.values())}
    found: list[PlannedCut] = []
    for phase, cut in zip(program.phases, program.cuts.of, strict=True):
        axes, because = _options(phase, program.bound)
        if phase.id not in apart and (axes or because):
            found.append(PlannedCut(phase.id, None if cut is None else cut.axis, axes, because))
    return tuple(found)


def axes_in(plan: Plan) -> Axes:
    """The axes that a plan states."""
    return {one.phase: one.axis for one in plan.space.cuts if one.axes}


def faults_of_axes(plan: Plan, bound: BoundGraph) -> Iterator[tuple[str, object, object]]:
    """What a plan says otherwise of the axes of its phases than its program does: where, what, and what is right."""
    known = {phase.id: phase for phase in bound.graph.phases}
    apart = {*plan.space.dealt, *(one.phase for one in plan.spread)}
    expected: dict[PhaseId, tuple[tuple[int, ...], str]] = {
        id: options for id, phase in known.items() if id not in apart and any(options := _options(phase, bound))
    }
    said = [one.phase for one in plan.space.cuts]
    if said != list(expected):
        yield "space.cuts", said, list(expected)
        return
    for place, one in enumerate(plan.space.cuts):
        axes, because = expected[one.phase]
        if (one.axes, one.because) != (axes, because):
            yield f"space.cuts[{place}]", (*one.axes, one.because), (*axes, because)
        elif one.axis is not None and one.axis not in axes:
            yield f"space.cuts[{place}].axis", one.axis, f"one of {list(axes)}"


def _options(phase: Phase, bound: BoundGraph) -> tuple[tuple[int, ...], str]:
    axes = axes_of(phase, bound.graph.types)
    return axes, "" if axes or isinstance(phase, Input) else uncut_because(phase, bound.graph.types)
