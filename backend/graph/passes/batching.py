"""Maps that need not be maps: where no phase of the body finds a size of its own, all cells are made together.

Lowering batches what it can (`lower.state`, Note [Batching]).  What it had to leave to a map, such as a selection by a mask of a
cell, may be gone once the selection is part of a reduction (`masked`): then nothing in the body depends on more than the point.

Neighbours: `masked` (asks for it), `sinking` (the other way, for maps that stay).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ....typechecker.types import ArrayType
from ..phases import (
    Affine,
    Axis,
    AxisKind,
    AxisNode,
    Map,
    Phase,
    Read,
    Reshaped,
    Stage,
    Structured,
    SubGraph,
    ValueId,
)
from ..projections import Shape, axis_index, simplify
from ..traverse import axis_sizes, results, with_subgraphs
from .rewriting import body_may_fail


def batched(phases: tuple[Phase, ...], types: dict[ValueId, ArrayType]) -> tuple[Phase, ...]:
    """The phases of a block with such maps gone, also inside others; `types` of what is made for all cells change."""

    def inside(sub: SubGraph) -> SubGraph:
        made = batched(sub.phases, types)
        return sub if made is sub.phases else replace(sub, phases=made)

    made: list[Phase] = []
    for phase in phases:
        phase = with_subgraphs(phase, inside)
        made += _together(phase, types) if isinstance(phase, Map) else [phase]
    return phases if len(made) == len(phases) and all(a is b for a, b in zip(made, phases, strict=True)) else tuple(made)


def _together(map: Map, types: dict[ValueId, ArrayType]) -> list[Phase]:
    """The phases of the body over the frame; the map itself where it has others, or shows what it does not make."""
    body = [phase for phase in map.body.phases if isinstance(phase, Structured) and not body_may_fail(phase.body)]
    made = {value for phase in body for value in results(phase)}
    shown = map.body.results
    if len(body) < len(map.body.phases) or not made.issuperset(shown) or len(set(shown)) < len(shown):
        return [map]
    names = dict(zip(shown, map.results, strict=True))
    carried = {param: (arg, n) for param, arg, n in zip(map.body.params, map.args, map.frames, strict=True)}
    carried |= {value: (names.get(value, value), len(map.frame)) for value in made}
    for value in made - names.keys():
        types[value] = replace(types[value], shape=(*map.frame, *types[value].shape))
    for value in (*names, *map.body.params):
        del types[value]
    return [_over(map.frame, phase, carried) for phase in body]


def _over(frame: Shape, phase: Structured, carried: Mapping[ValueId, tuple[ValueId, int]]) -> Structured:
    """`carried`: what a value of a cell is for all cells, and the axes of the frame that it has."""
    depth, cell = len(frame), axis_sizes(phase.axes)
    axes = (*(Axis(size, AxisKind.PARALLEL) for size in frame), *phase.axes)
    reads: list[Read] = []
    for read in phase.reads:
        value, own = carried.get(read.value, (read.value, 0))
        chosen = (*range(own), *range(depth, len(axes)))
        point = Affine(tuple(map(axis_index, chosen)), (*frame[:own], *cell))
        stages = (point, *(_in_frame(stage, frame[:own]) for stage in read.projection.stages))
        reads.append(Read(value, simplify(axis_sizes(axes), stages)))
    body = tuple(AxisNode(node.axis + depth) if isinstance(node, AxisNode) else node for node in phase.body)
    made = tuple(replace(result, value=carried[result.value][0]) for result in phase.results)
    return replace(phase, axes=axes, reads=tuple(reads), body=body, results=made)


def _in_frame(stage: Stage, frame: Shape) -> Stage:
    """A stage that leaves the axes of a frame in front as they are."""
    if isinstance(stage, Reshaped):
        return Reshaped((*frame, *stage.source), (*frame, *stage.target))
    depth = len(frame)
    moved = (
        replace(index, terms=tuple(replace(term, axis=term.axis + depth) for term in index.terms)) for index in stage.indices
    )
    return replace(stage, indices=(*map(axis_index, range(depth)), *moved), shape=(*frame, *stage.shape))
