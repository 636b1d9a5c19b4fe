"""The first place of a grade (`⊃⍋⍵` of each row) as a reduction, so that it fuses with what makes the rows.

Runs after `orders` on a graph whose sizes are numbers.  `least_place` and `greatest_place` are the reductions
(phases.py, `PLACES`); NaN is beyond every number either way, as in grades.  A grade stays where there are few rows, and
where the rows are long and made elsewhere: the library finds the place in contiguous memory as quickly.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import prod
from typing import Final

from ....lang.certain import certain
from ....typechecker.elements import Kind
from ..phases import (
    PLACES,
    Affine,
    Axis,
    AxisKind,
    Graph,
    LibraryPhase,
    Phase,
    Read,
    ReadNode,
    Result,
    Structured,
    SubGraph,
    ValueId,
)
from ..projections import IDENTITY, affine
from ..registry import frame_of
from ..traverse import all_phases, axis_sizes, operands, subgraphs, with_subgraphs
from .rewriting import body_may_fail, has_reduction

FEWEST: Final = 256
"""Rows that are worth it."""
SHORT: Final = 64
"""Rows of this length are compared side by side even if they are made elsewhere."""


def reduce_to_places(graph: Graph) -> Graph:
    """See the module."""
    makers: dict[ValueId, Structured] = {}
    uses: Counter[ValueId] = Counter()
    for phase in all_phases(graph):
        uses.update(operands(phase))
        for sub in subgraphs(phase):
            uses.update(sub.results)
        if isinstance(phase, Structured):
            makers.update((r.value, phase) for r in phase.results)
    found: dict[int, Structured] = {}
    for phase in all_phases(graph):
        if not isinstance(phase, LibraryPhase) or phase.op != "grade" or phase.attributes.get("first") is not True:
            continue
        if _is_worth_it(phase, graph, makers.get(phase.args[0]), uses[phase.args[0]]):
            found[phase.id] = _reduction(phase, graph)
    if not found:
        return graph
    types = dict(graph.types)
    for made in found.values():
        (result,) = made.results
        types[result.value] = replace(types[result.value], shape=types[result.value].shape[:-1])
    frames = {phase.results[0].value: len(phase.axes) - 1 for phase in found.values()}
    return replace(graph, phases=_replaced(graph.phases, found, frames), types=types)


def _is_worth_it(grade: LibraryPhase, graph: Graph, maker: Structured | None, readers: int) -> bool:
    arg, result = grade.args[0], grade.results[0]
    sizes = [size.constant for size in graph.types[arg].shape]
    numbers = [size for size in sizes if size is not None]
    kind = graph.types[arg].element.kind
    frame = frame_of(grade)
    if not frame or len(numbers) != frame + 1 or len(sizes) != frame + 1 or graph.types[arg].permutation:
        return False
    if kind.is_complex or kind is Kind.CHAR or result in graph.roots or not numbers[-1] or prod(numbers[:-1]) < FEWEST:
        return False
    fuses = (
        maker is not None and readers == 1 and arg not in graph.roots
        and not has_reduction(maker) and not body_may_fail(maker.body)
        and all(len(_axes(read)) < len(maker.axes) for read in maker.reads)
    )  # fmt: skip
    return fuses or numbers[-1] <= SHORT


def _axes(read: Read) -> set[int]:
    """The axes of the space that a read goes along; a read of several stages goes along all."""
    stages = read.projection.stages
    if len(stages) != 1 or not isinstance(stages[0], Affine):
        return set(range(64))
    return {term.axis for index in stages[0].indices for term in index.terms}


def _reduction(grade: LibraryPhase, graph: Graph) -> Structured:
    type = graph.types[grade.args[0]]
    last = len(type.shape) - 1
    axes = tuple(Axis(size, AxisKind.REDUCE if axis == last else AxisKind.PARALLEL) for axis, size in enumerate(type.shape))
    function = "greatest_place" if grade.attributes.get("descending") is True else "least_place"
    certain(function in PLACES, "a grade's place is a reduction to a place")
    body = (ReadNode(0, type.element.kind),)
    reads = (Read(grade.args[0], IDENTITY),)
    return Structured(grade.id, grade.span, axes, reads, body, (Result(grade.results[0], 0, function),))


def _replaced(phases: tuple[Phase, ...], found: dict[int, Structured], frames: dict[ValueId, int]) -> tuple[Phase, ...]:
    def inside(sub: SubGraph) -> SubGraph:
        return replace(sub, phases=_replaced(sub.phases, found, frames))

    made: list[Phase] = []
    for phase in phases:
        if phase.id in found:
            made.append(found[phase.id])
            continue
        if isinstance(phase, Structured) and any(read.value in frames for read in phase.reads):
            phase = replace(phase, reads=tuple(_without_last(phase, read, frames) for read in phase.reads))
        made.append(with_subgraphs(phase, inside) if subgraphs(phase) else phase)
    return tuple(made)


def _without_last(phase: Structured, read: Read, frames: dict[ValueId, int]) -> Read:
    """A read of the first item of each row as a read of the places."""
    if read.value not in frames:
        return read
    (stage,) = read.projection.stages
    assert isinstance(stage, Affine)
    frame = frames[read.value]
    space = axis_sizes(phase.axes)
    return Read(read.value, affine(space, stage.indices[:frame], stage.shape[:frame], fills=stage.fills))
