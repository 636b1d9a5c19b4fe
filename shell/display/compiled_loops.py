"""What becomes of loops, folds, scans and maps by any function, as lines of a plan: compiled as one region, or not, and why.

Neighbours: `backend.loops` (regions), `verbs.plan` (prints this; with `--loops` the loop programs too).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ...backend.graph.phases import Graph, LibraryPhase
from ...backend.loops.lower.region import Region
from ...backend.loops.lower.values import Routine
from ...backend.loops.text import show
from ...backend.loops.transform import optimise
from ...backend.schedule.facts.regions import lowered_loops
from ...backend.schedule.plan.describe import label, op_name
from ...lang.source import Source


def loop_lines(graph: Graph, sources: Mapping[str, Source], *, programs: bool = False) -> list[str]:
    """One line a region, in the order of the program; with `programs` its loop program after all transformations."""
    lines: list[str] = []
    for phase, region in lowered_loops(graph):
        source = sources.get(phase.span.file)
        place = "" if source is None else f"line {source.position(phase.span.start)[0] + 1}: "
        name = f"{place}{label(phase, graph)}"
        if not isinstance(region, Region):
            lines.append(f"phases     {name}: one by one in each iteration, because: {region}")
            continue
        lines.append(f"compiled   {name}: one region, {_state(region)}")
        if programs:
            calls = [f"# call {number}: {_name(routine)}" for number, routine in enumerate(region.routines)]
            lines += ["", *calls, show(optimise(region.program)).rstrip("\n"), ""]
    return lines


def _state(region: Region) -> str:
    """Where the state lies, and which phases are called."""
    called = sorted({_name(routine) for routine in region.routines} - {_HEARS})
    return _lies(region) + (f"; it calls {', '.join(called)}" if called else "")


_HEARS: Final = "interrupts are heard"


def _name(routine: Routine) -> str:
    """What a routine does."""
    if routine.phase is None:
        return "a guard's check" if routine.defines else _HEARS
    return f"`{op_name(routine.phase)}`" if isinstance(routine.phase, LibraryPhase) else "NumPy's functions"


def _lies(region: Region) -> str:
    if region.cells:
        return "cells on all threads"
    doubled = sum(region.states)
    if not region.states:
        return "every state where it is kept"
    if not doubled:
        return "the state in place"
    if doubled == len(region.states):
        return "the state in two buffers"
    return f"{doubled} of {len(region.states)} components of the state in two buffers, the others in place"
