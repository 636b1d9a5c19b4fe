"""A loop whose body is element-wise on its state, as one phase that is repeated for each element.

The body qualifies if every phase in it is element-wise over the shape of the state and reads the state, and what was computed
from it, at the point itself; values from outside may be read anyhow.  Nothing in it may fail.

Neighbours: `passes.fusion` (makes bodies of few phases), `loops.lower` (how such loops run), `schedule.facts.sharding` (cuts
them), `devices.repeated` (what they take).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, number
from ...typechecker.types import ArrayType
from .phases import ApplyNode, Axis, AxisKind, AxisNode, Loop, Node, Read, ReadNode, Result, Structured, SubGraph, ValueId
from .projections import IDENTITY


def merge_loop(loop: Loop, kinds: Callable[[ValueId], Kind], shapes: Callable[[ValueId], tuple[Size, ...]]) -> Structured | None:
    """One turn as a phase: its first reads are the state, its results the next state.  None: the body is of another sort."""
    params = loop.body.params
    if loop.keep or loop.until is not None or not loop.is_plain or not params or len(set(map(shapes, params))) != 1:
        return None
    shape = shapes(params[0])
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
    reads = [Read(value, IDENTITY) for value in params]
    body: list[Node] = [ReadNode(i, kinds(value)) for i, value in enumerate(params)]
    places: dict[ValueId, int] = {value: i for i, value in enumerate(params)}
    outside: dict[Read, int] = {}
    inside = {result.value for phase in loop.body.phases if isinstance(phase, Structured) for result in phase.results}
    for phase in loop.body.phases:
        if not isinstance(phase, Structured) or phase.axes != axes or any(r.reduction for r in phase.results):
            return None
        own: list[int] = []
        for node in phase.body:
            match node:
                case ReadNode():
                    read = phase.reads[node.index]
                    if read.value in places or read.value in inside:
                        if read.projection.stages or read.value not in places:
                            return None
                        own.append(places[read.value])
                        continue
                    if read not in outside:
                        outside[read] = len(body)
                        reads.append(read)
                        body.append(replace(node, index=len(reads) - 1))
                    own.append(outside[read])
                case ApplyNode():
                    if node.span is not None:
                        return None
                    body.append(replace(node, args=tuple(own[arg] for arg in node.args)))
                    own.append(len(body) - 1)
                case _:
                    body.append(node)
                    own.append(len(body) - 1)
        for result in phase.results:
            places[result.value] = own[result.node]
    if not all(value in places for value in loop.body.results):
        return None
    results = tuple(Result(r, places[v], None) for r, v in zip(loop.results, loop.body.results, strict=True))
    return Structured(loop.id, loop.span, axes, tuple(reads), tuple(body), results)


def on_one_axis(loop: Loop, merged: Structured, types: Mapping[ValueId, ArrayType]
                ) -> tuple[Loop, Mapping[ValueId, ArrayType]] | None:  # fmt: skip
    """The same of arrays whose items are side by side: a loop whose state has one axis, and the types of its values.

    None: the state has one axis, or what is read from outside is not items in the same places, or items of rank 0."""
    if len(merged.axes) == 1 or any(isinstance(node, AxisNode) for node in merged.body):
        return None
    shape = tuple(axis.size for axis in merged.axes)
    for read in merged.reads:
        if types[read.value].shape and (read.projection.stages or types[read.value].shape != shape):
            return None
    flat = (prod(shape, start=number(1)),)
    states = {*loop.body.params, *loop.results}
    values = states.union(read.value for read in merged.reads if types[read.value].shape)
    body = replace(merged, axes=(Axis(flat[0], AxisKind.PARALLEL),))
    alone = replace(loop, body=SubGraph(loop.body.params, (body,), loop.results))
    return alone, {**types, **{value: replace(types[value], shape=flat) for value in values}}
