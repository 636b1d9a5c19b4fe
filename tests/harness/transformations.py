"""Transformations of graphs that are no passes, each made of a graph as its back ends do: see `each_transformation`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from rho.backend.graph import traverse
from rho.backend.graph.bind_sizes import BoundGraph
from rho.backend.graph.partial_graphs import (
    _Copier,
    box_view,
    exit_graph,
    hoist_arms,
    is_distributable,
    iteration_of,
    rename_all_operands,
    restrict,
    unrolled,
    unrolling_obstacle,
)
from rho.backend.graph.phases import (
    AxisKind,
    AxisNode,
    Box,
    Graph,
    Input,
    Loop,
    Output,
    Phase,
    PhaseId,
    Structured,
    ValueId,
    box_needed,
)
from rho.typechecker.elements import ArrayType, Element, Kind
from rho.typechecker.sizes.polynomials import number

Transformed = Iterator[BoundGraph]


def _loops_of(bound: BoundGraph) -> list[Loop]:
    return [phase for phase in bound.graph.phases if isinstance(phase, Loop)]


def unrolled_loops(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Every loop unrolled, one after another."""
    for place in [loop.id for loop in _loops_of(bound)]:
        loop = next(one for one in _loops_of(bound) if one.id == place)
        if not unrolling_obstacle(loop, 1000):
            bound = unrolled(bound, loop)
            yield bound


def iterations(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Every loop as copies of the graph of one iteration, cut along random axes, and of the graph of its exit."""
    for of in [loop.id for loop in _loops_of(bound)]:
        loop = next(one for one in _loops_of(bound) if one.id == of)
        graph = bound.graph
        if not is_distributable(loop, graph) or loop.until is not None:
            continue
        ranks = [len(graph.types[value].shape) for value in loop.body.params]
        one = iteration_of(bound, loop, tuple(chance.choice([None, *range(rank)]) for rank in ranks))
        leave = exit_graph(bound, loop, one)
        types = {**graph.types, **one.bound.graph.types, **leave.bound.graph.types}
        last = max(max(map(int, types)), *(int(p.id) for g in (one.bound, leave.bound) for p in g.graph.phases))
        copier = _Copier(types, dict(graph.names), last)
        state, copies = loop.initial, list[Phase]()
        for _ in range(loop.trip.constant or 0):
            current = dict(zip(loop.initial, state, strict=True)) if len(set(loop.initial)) == len(loop.initial) else {}
            for place, phase in enumerate(one.bound.graph.phases):
                if place < len(state):  # the entry of a state
                    current = {**current, loop.initial[place]: state[place]}
                    copies.append(copier.copied(phase, current))
                    if place + 1 == len(state):
                        for old in loop.initial:
                            current.pop(old, None)
                else:
                    copies.append(copier.copied(phase, current))
            state = tuple(current.get(value, value) for value in one.next)
        names = dict(zip(one.next, state, strict=True))
        copies += [rename_all_operands(phase, names) for phase in leave.bound.graph.phases]
        at = graph.phases.index(loop)
        phases = (*graph.phases[:at], *copies, *graph.phases[at + 1 :])
        bound = replace(bound, graph=replace(graph, phases=phases, types=copier.types, names=copier.names))
        yield bound


def hoisted(bound: BoundGraph, chance: random.Random) -> Transformed:
    """The arms of every branch hoisted."""
    graph = hoist_arms(bound.graph)
    if graph is not bound.graph:
        yield replace(bound, graph=graph)


def shards(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Phases restricted to random boxes: each shard is an output beside the value that it is a part of."""
    return _restricted(bound, chance, lambda phase: set())


def shards_anywhere(bound: BoundGraph, chance: random.Random) -> Transformed:
    """Phases with coordinates in their bodies, restricted to boxes whose origins are inputs: see `at_run_time`."""

    def moving(phase: Structured) -> set[int] | None:
        axes = {node.axis for node in phase.body if isinstance(node, AxisNode)}
        parallel = {axis for axis in axes if phase.axes[axis].kind is AxisKind.PARALLEL}
        return {axis for axis in parallel if chance.random() < 0.7} or parallel or None

    return _restricted(bound, chance, moving)


def at_run_time(graph: Graph) -> dict[str, Any]:
    """The values of the inputs that are origins of shards, which their names say."""
    names = [phase.name for phase in graph.phases if isinstance(phase, Input) and phase.name.startswith("origin ")]
    return {name: np.array(int(name.split()[1])) for name in names}


def _restricted(bound: BoundGraph, chance: random.Random, moving: Callable[[Structured], set[int] | None]) -> Transformed:
    """`moving`: the axes of a phase whose origins are inputs, which the phase reads; None for a phase that is not restricted."""
    graph = bound.graph
    types, last = dict(graph.types), traverse.fresh_id(graph)
    inputs, phases, count = list[Phase](), list[Phase](), 0

    def fresh() -> int:
        nonlocal last
        last += 1
        return last

    for phase in graph.phases:
        phases.append(phase)
        sizes = [axis.size.constant for axis in phase.axes] if isinstance(phase, Structured) else []
        if not isinstance(phase, Structured) or not sizes or not all(sizes):
            continue
        chosen = moving(phase)
        if chosen is None:
            continue
        box = tuple(_part(chance, size or 1) if axis.kind is AxisKind.PARALLEL else (0, size or 1)
                    for axis, size in zip(phase.axes, sizes, strict=True))  # fmt: skip
        origins = {}
        for axis in sorted(chosen):
            origins[axis] = value = ValueId(fresh())
            types[value] = ArrayType(Element(Kind.I64), ())
            inputs.append(Input(PhaseId(fresh()), phase.span, f"origin {box[axis][0]} {value}", value))
        available = _available(phase, box, types, chance) if chance.random() < 0.5 else None
        made = restrict(phase, box, available, origins)
        names: dict[ValueId, ValueId] = {}
        for place, (read, part, is_whole) in enumerate(zip(phase.reads, made.boxes, made.is_unnarrowed, strict=True)):
            names[ValueId(-1 - place)] = read.value
            if not is_whole:
                value = names[ValueId(-1 - place)] = ValueId(fresh())
                source = types[read.value]
                types[value] = replace(source, shape=tuple(number(stop - start) for start, stop in part))
                starts = [start for start, _ in part]
                phases.append(box_view(PhaseId(fresh()), phase.span, read.value, source.shape, starts, types[value], value))
        results = []
        for result in phase.results:
            value = ValueId(fresh())
            shape = [stop - start for (start, stop), axis in zip(box, phase.axes, strict=True) if axis.kind is AxisKind.PARALLEL]
            types[value] = replace(types[result.value], shape=tuple(map(number, shape)))
            results.append(replace(made.phase.results[len(results)], value=value))
        shard = replace(made.phase, id=PhaseId(fresh()), results=tuple(results))
        phases.append(traverse.rename_operands(shard, names))
        cut = [one for one, axis in zip(box, phase.axes, strict=True) if axis.kind is AxisKind.PARALLEL]
        shown = " ".join(f"{start}:{stop}" for start, stop in cut)
        for result, part_of in zip(phase.results, results, strict=True):
            phases += [Output(PhaseId(fresh()), phase.span, f"whole {count}", result.value),
                       Output(PhaseId(fresh()), phase.span, f"shard {count} {shown}", part_of.value)]  # fmt: skip
            count += 1
    if count:
        yield replace(bound, graph=replace(graph, phases=(*inputs, *phases), types=types))


def _part(chance: random.Random, size: int) -> tuple[int, int]:
    start = chance.randrange(size)
    return start, chance.randint(start + 1, size)


def _available(phase: Structured, box: Box, types: Mapping[ValueId, ArrayType], chance: random.Random) -> list[Box]:
    """By read, a random box of the operand around the one that is needed."""
    extents, boxes = tuple(stop - start for start, stop in box), list[Box]()
    for read in phase.reads:
        needed = box_needed(extents, read.projection, box)
        shape = [size.constant or 0 for size in types[read.value].shape]
        boxes.append(tuple((chance.randint(0, start), chance.randint(stop, size))
                           for (start, stop), size in zip(needed, shape, strict=True)))  # fmt: skip
    return boxes
