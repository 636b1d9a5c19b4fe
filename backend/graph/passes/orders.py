"""Grades of which little is wanted: `x[⍋x]` is a sort, `⊃⍋x` the place of the least item.

The phases stay what they are, with attributes that say what may be left undone; who ignores them is right too:
  * grade `first`: only the first index of each cell is read; the others may be anything;
  * grade `unread` and gather `sorts` ("up" or "down"): the gather takes the items of the graded vector in the order of the
    grade, which nobody else reads, so it may sort the vector and the grade's result may be anything.

Neighbours: `backend.run.cpu.library.grading`, `selecting`.
"""

from __future__ import annotations

from dataclasses import replace

from ..phases import Affine, Graph, LibraryPhase, Phase, Read, Structured, SubGraph, ValueId
from ..registry import frame_of
from ..traverse import all_phases, operands, subgraphs, with_subgraphs


def spare_orders(graph: Graph) -> Graph:
    """See the module."""
    readers: dict[ValueId, list[Phase | None]] = {value: [None] for value in graph.roots}
    for phase in all_phases(graph):
        for value in operands(phase):
            readers.setdefault(value, []).append(phase)
        for sub in subgraphs(phase):
            for value in sub.results:
                readers.setdefault(value, []).append(None)
    changed: dict[int, Phase] = {}
    for phase in all_phases(graph):
        if isinstance(phase, LibraryPhase) and phase.op == "grade":
            _mark(phase, readers.get(phase.results[0], []), graph, changed)
    return graph if not changed else replace(graph, phases=_replaced(graph.phases, changed))


def _mark(grade: LibraryPhase, readers: list[Phase | None], graph: Graph, changed: dict[int, Phase]) -> None:
    result, arg = grade.results[0], grade.args[0]
    if not readers:
        return
    reader = readers[0]
    if len(readers) == 1 and isinstance(reader, LibraryPhase) and reader.op == "gather":
        plain = frame_of(grade) == 0 and frame_of(reader) == 0 and reader.attributes["axis"] == 0
        if plain and reader.args == (arg, result) and len(graph.types[arg].shape) == 1 and reader.id not in changed:
            order = "down" if grade.attributes.get("descending") is True else "up"
            changed[reader.id] = replace(reader, attributes={**reader.attributes, "sorts": order})
            changed[grade.id] = replace(grade, attributes={**grade.attributes, "unread": True})
        return
    axis = frame_of(grade)
    if len(graph.types[arg].shape) != axis + 1:
        return
    for phase in readers:
        if not isinstance(phase, Structured) or not all(_reads_first(r, axis) for r in phase.reads if r.value == result):
            return
    changed[grade.id] = replace(grade, attributes={**grade.attributes, "first": True})


def _reads_first(read: Read, axis: int) -> bool:
    stages = read.projection.stages
    if len(stages) != 1 or not isinstance(stages[0], Affine):
        return False
    index = stages[0].indices[axis]
    return not index.terms and index.constant.constant == 0


def _replaced(phases: tuple[Phase, ...], changed: dict[int, Phase]) -> tuple[Phase, ...]:
    def inside(sub: SubGraph) -> SubGraph:
        return replace(sub, phases=_replaced(sub.phases, changed))

    made = []
    for phase in phases:
        found = changed.get(phase.id, phase)
        made.append(with_subgraphs(found, inside) if subgraphs(found) else found)
    return tuple(made)
