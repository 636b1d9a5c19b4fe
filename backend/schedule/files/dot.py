"""Task graphs of the University of Auckland's optimal-scheduling set: DOT with `Weight` of tasks and of edges.

`TargetSystem` says the processors.  Homogeneous-P: P equal ones, one tick per unit of work and of communication.
Heterogeneous-P-F: processor 0 takes 100 ticks per unit of work and the others 100·F; communication takes 100 per unit.
Without it (or where it is none of these) `--devices N` says how many equal ones there are.  The stored answer (`Processor`,
`Start time`, …) is not looked at.  No contention: an edge takes its ticks between different processors, none on the same.
"""

from __future__ import annotations

import re
from typing import Final

from ...devices.fields import Problems
from ..problem import Contention, DeviceGroup, Edge, PhaseIndex, PhaseTask, Problem, Ticks
from .dot_tokens import read_dot
from .instance_json import MOST_EDGES, MOST_PHASES
from .json_values import LARGEST
from .topology import MOST_DEVICES, PROCESSOR, Topology, equal_processors
from .validate import require_valid

_SYSTEM: Final = re.compile(r"(Homogeneous)-([0-9]{1,6})|(Heterogeneous)-([0-9]{1,6})-([0-9]{1,6})")
_UNIT: Final = 100
"""Ticks per unit of work on the first processor of a heterogeneous system, and per unit of communication."""
_FAST, _SLOW = "fast", "slow"


def decode_dot(text: str, problems: Problems, topology: Topology | None) -> Problem:
    """The graph of `text` on its target system, or on `topology` (one tick per unit) if that is given."""
    graph = read_dot(text, problems)
    scale: dict[str, int] = {}
    unit = 1
    if topology is not None:
        scale = {group.kind: 1 for group in topology.devices}
    else:
        topology, scale, unit = _system(graph.attributes.get("TargetSystem"), problems)
    places = {name: PhaseIndex(place) for place, name in enumerate(graph.nodes)}
    if len(places) > MOST_PHASES or len(graph.edges) > MOST_EDGES:
        problems.fail("", f"{len(places)} tasks and {len(graph.edges)} edges; at most {MOST_PHASES} and {MOST_EDGES} are read")
    if not places:
        problems.add("", "there is no task")
    phases: list[PhaseTask] = []
    for name, attributes in graph.nodes.items():
        weight = _weight(attributes, f"line {graph.node_lines[name]}", f"task `{name}`", problems)
        phases.append(PhaseTask(name, {kind: Ticks(((1, weight * each),)) for kind, each in scale.items()}))
    edges: list[Edge] = []
    for (source, target, attributes), line in zip(graph.edges, graph.edge_lines, strict=True):
        weight = _weight(attributes, f"line {line}", f"the edge `{source} -> {target}`", problems, 0)
        for end in (source, target):
            if end not in places:
                problems.add(f"line {line}", f"there is no task `{end}`")
        if source in places and target in places:
            edges.append(Edge(places[source], places[target], ticks=weight * unit))
    problems.stop()
    problem = Problem(topology.devices, (), tuple(phases), tuple(edges), contention=Contention.OFF)
    require_valid(problem, problems)
    return problem


def _system(name: str | None, problems: Problems) -> tuple[Topology, dict[str, int], int]:
    """Devices, ticks per unit of work by class, ticks per unit of communication."""
    found = None if name is None else _SYSTEM.fullmatch(name)
    count = 0 if found is None else int(found[2] or found[4])
    if found is None or not 1 <= count <= MOST_DEVICES or (found[5] is not None and int(found[5]) < 1):
        said = "no TargetSystem is given" if name is None else f"TargetSystem `{name}` is not Homogeneous-P or Heterogeneous-P-F"
        problems.fail("graph", f"{said}; give --devices N for N equal processors")
    if found[1] is not None:
        return equal_processors(count), {PROCESSOR: 1}, 1
    groups = (DeviceGroup("p0", _FAST, home=True), DeviceGroup("p", _SLOW, count - 1))
    return Topology(groups[: min(count, 2)]), {_FAST: _UNIT, _SLOW: _UNIT * int(found[5])}, _UNIT


def _weight(attributes: dict[str, str], path: str, what: str, problems: Problems, default: int | None = None) -> int:
    text = attributes.get("Weight", attributes.get("weight"))
    if text is None:
        if default is None:
            problems.add(path, f"{what} has no Weight")
        return default or 0
    whole = re.fullmatch(r"([0-9]{1,15})(?:\.0*)?", text)
    if whole is None or int(whole[1]) > LARGEST:
        problems.add(path, f"the Weight of {what} is `{text[:20]}`, not a whole number from 0 below 10¹⁵")
        return 0
    return int(whole[1])
