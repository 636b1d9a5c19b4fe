"""Selections by masks from stored inputs: a separate stage, because the sizes of later values are known only after it.

The graph of a stage computes masks and items and writes the selected items, tile by tile, to a scratch store, one for each
`compress` or `where` of the mask.  In the remaining graph these stores are inputs, and the size of the selection is a number: the
count, or its greatest value while the program is planned.

Neighbours: `planning` (asks, and plans both), `carries` (how selecting phases are cut), `backend.run.streams.selecting` (the
stores), `shell.execution.streaming` (runs the stages of a program).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeGuard

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import SizeVariable, number
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.bind import BoundGraph, in_terms_of
from ...graph.cells import frame_of
from ...graph.passes.dead import drop_dead
from ...graph.phases import Graph, Input, LibraryPhase, Output, Phase, PhaseId
from ..facts.sharding import shape_of


@dataclass(frozen=True, slots=True)
class Selected:
    """A scratch store `name` of cells of a `kind`, as many as are selected.  `places`: they are indices into the mask."""

    name: str
    kind: Kind
    cell: tuple[int, ...]
    places: bool


@dataclass(frozen=True, slots=True)
class Selection:
    """A stage: the graph `bound` puts out `stores`, all of one length: `size` in the program's graph, at most `most`.  `span`: of
    what selects."""

    bound: BoundGraph
    stores: tuple[Selected, ...]
    size: SizeVariable
    most: int
    span: Span


def selection_of(bound: BoundGraph, wanted: Phase) -> Selection | None:
    """The stage of a phase that selects by a mask, and of all that select by the same; None if it is none."""
    graph = bound.graph
    if not _selects(wanted, graph):
        return None
    mask = shape_of(wanted.args[0], graph.types)
    assert mask is not None, "its size is known"
    members = [p for p in graph.phases if _selects(p, graph) and p.args[0] == wanted.args[0] and p.defines == wanted.defines]
    fresh, types, outputs, stores = traverse.fresh_id(graph), dict(graph.types), list[Phase](), list[Selected]()
    for place, phase in enumerate(members):
        (result,) = phase.results
        cell = tuple(size.constant or 0 for size in types[result].shape[1:])
        types[result] = ArrayType(types[result].element, (number(mask[0]), *types[result].shape[1:]))
        stores.append(Selected(_name(phase), types[result].element.kind, cell, phase.op == "where"))
        outputs.append(Output(PhaseId(fresh + place), phase.span, stores[-1].name, result))
    own = (replace(p, defines=()) if p in members else p for p in _upstream(graph, members))
    stage = replace(graph, phases=(*own, *outputs), types=types, guards=(), roots=frozenset())
    return Selection(BoundGraph(drop_dead(stage), bound.sizes), tuple(stores), wanted.defines[0], mask[0], wanted.span)


def after(bound: BoundGraph, selection: Selection, count: int) -> BoundGraph:
    """The program's graph once so many items have been selected."""
    names = {store.name for store in selection.stores}
    phases = tuple(
        Input(phase.id, phase.span, _name(phase), phase.results[0])
        if isinstance(phase, LibraryPhase) and phase.defines and _name(phase) in names else phase
        for phase in bound.graph.phases
    )  # fmt: skip
    left = in_terms_of(replace(bound.graph, phases=phases), {selection.size: number(count)})
    return BoundGraph(drop_dead(left), {**bound.sizes, selection.size: count})


def _selects(phase: Phase, graph: Graph) -> TypeGuard[LibraryPhase]:
    """Does it select whole cells of operands of known sizes by a vector of truth values?"""
    if not isinstance(phase, LibraryPhase) or phase.op not in ("compress", "where") or not phase.defines or frame_of(phase):
        return False
    shapes = [shape_of(value, graph.types) for value in phase.args]
    if any(shape is None or not shape for shape in shapes) or len(shapes[0] or ()) != 1:
        return False
    return phase.op == "where" or (phase.attributes["axis"] == 0 and (shapes[1] or ())[0] == (shapes[0] or ())[0])


def _name(phase: LibraryPhase) -> str:
    return f"selected {phase.id}"


def _upstream(graph: Graph, members: Iterable[LibraryPhase]) -> Iterator[Phase]:
    """The phases that make what some need, and these, in their order."""
    ids = {phase.id for phase in members}
    wanted = {value for phase in members for value in traverse.uses(phase)}
    for phase in reversed(graph.phases):
        if wanted.intersection(traverse.results(phase)):
            ids.add(phase.id)
            wanted.update(traverse.uses(phase))
    return (phase for phase in graph.phases if phase.id in ids)
