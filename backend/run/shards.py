"""Kernels of shards: a box of a phase compiled with the kernels that the back end has for whole phases.

A box that cuts a reduce axis gives partial results: one for each largest subtree of the order of sums inside it, so that the
combined bits are those of the uncut phase; functions that are exact in any order give one.

Neighbours: `graph.restriction` (the restricted phase), `schedule.facts.sharding` (boxes, subtrees), `distributed` (runs these).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, TypeAlias

from ...lang.certain import certain
from ...typechecker.sizes import Size, number
from ...typechecker.types import ArrayType
from ..graph.phases import (
    ApplyNode,
    Axis,
    AxisKind,
    LibraryPhase,
    Loop,
    Projection,
    Read,
    ReadNode,
    Result,
    Structured,
    SubGraph,
    ValueId,
)
from ..graph.restriction import restrict
from ..schedule.facts.sharding import BLOCK, as_one, is_ordered, operand_boxes, result_boxes, subtrees
from ..schedule.plan.model import Box
from .device import Backend, Kernel, Types
from .pieces import extents

Take: TypeAlias = Callable[[ValueId, Box, bool], Any]
"""The array of a box of a value; with True, one of the whole shape of which only the box matters."""


@dataclass(frozen=True, slots=True)
class Made:
    """One result of a shard: its box, or for a `partial` one the box of the iteration space it is over."""

    value: ValueId
    box: Box
    partial: bool
    array: Any


Pair: TypeAlias = Callable[[Any, Any], Any]
Shard: TypeAlias = Callable[[Take], list[Made]]
Known: TypeAlias = dict[Hashable, Kernel]
"""Kernels by the restricted phase and the types of its values."""


class Makes(Enum):
    """What a shard makes."""

    RESULTS = "boxes of the results"
    PARTIALS = "partial results, to be combined"


def compile_shard(
    phase: Structured | LibraryPhase | Loop, box: Box, makes: Makes, types: Types, backend: Backend, known: Known
) -> Shard:  # fmt: skip
    """The kernel of a box of a phase whose sizes are known; `known`: those of a device, for boxes that differ in place alone."""
    if isinstance(phase, LibraryPhase):
        return _library(phase, box, types, backend)
    if isinstance(phase, Loop):
        return _loop(phase, box, types, backend)
    parts = _parts(phase, box, types) if makes is Makes.PARTIALS else [box]
    shards = [_structured(phase, part, makes, types, backend, known) for part in parts]
    return shards[0] if len(shards) == 1 else lambda take: [made for shard in shards for made in shard(take)]


def _parts(phase: Structured, box: Box, types: Types) -> list[Box]:
    """The boxes that give partial results."""
    if not any(is_ordered(phase, r.value, types.types) for r in phase.results):
        return [box]
    length = types.number(phase.axes[-1].size)
    first, stop = box[-1][0] // BLOCK, -(-box[-1][1] // BLOCK)
    nodes = subtrees(first, stop, -(-length // BLOCK))
    return [(*box[:-1], (a * BLOCK, min(b * BLOCK, length))) for a, b in nodes]


def _structured(phase: Structured, box: Box, makes: Makes, types: Types, backend: Backend, known: Known) -> Shard:
    restricted = restrict(phase, box)
    results = result_boxes(phase, types.types, box)
    local: dict[ValueId, ArrayType] = {}
    for read, new, part, full in zip(phase.reads, restricted.phase.reads, restricted.boxes, restricted.whole, strict=True):
        old = types.types[read.value]
        local[new.value] = old if full else replace(old, shape=_sizes(extents(part)))
    for result, part in zip(phase.results, results, strict=True):
        local[result.value] = replace(types.types[result.value], shape=_sizes(extents(part)))
    key = restricted.phase, *local.items()
    kernel = known.get(key)
    if kernel is None:
        kernel = known[key] = backend.structured(restricted.phase, Types(local, types.sizes, types.guards))
    wanted = [
        (new.value, read.value, part, full)
        for read, new, part, full in zip(phase.reads, restricted.phase.reads, restricted.boxes, restricted.whole, strict=True)
    ]
    partial = makes is Makes.PARTIALS
    places = [(result.value, box if partial else part) for result, part in zip(phase.results, results, strict=True)]

    def run(take: Take) -> list[Made]:
        own = {new: take(value, part, full) for new, value, part, full in wanted}
        made = kernel(own, None)
        return [Made(value, place, partial, array) for (value, place), array in zip(places, made, strict=True)]

    return run


def _loop(loop: Loop, box: Box, types: Types, backend: Backend) -> Shard:
    """All turns of a box of an element-wise loop: in one kernel where the back end has one, else a kernel a turn."""
    turn = as_one(loop, types.types)
    assert isinstance(turn, Structured), "only element-wise loops have boxes"
    restricted = restrict(turn, box)
    states, trip = len(loop.initial), types.number(loop.trip)
    reads = restricted.phase.reads
    wanted = [
        (new.value, read.value, part, full)
        for read, new, part, full in zip(turn.reads, reads, restricted.boxes, restricted.whole, strict=True)
    ]
    shape = _sizes(extents(box))
    local = {
        new: types.types[old] if full else replace(types.types[old], shape=_sizes(extents(part)))
        for new, old, part, full in wanted
    }
    made = tuple(ValueId(-1 - len(reads) - place) for place in range(states))
    for value, new in zip(loop.results, made, strict=True):
        local[value] = local[new] = replace(types.types[value], shape=shape)
    params = tuple(read.value for read in reads[:states])
    results = tuple(replace(r, value=new) for r, new in zip(restricted.phase.results, made, strict=True))
    body = replace(restricted.phase, results=results)
    alone = replace(loop, initial=params, body=SubGraph(params, (body,), made))
    own_types = Types(local, types.sizes, types.guards)
    together = backend.whole(alone, own_types, {})
    kernel = backend.structured(body, own_types)

    def run(take: Take) -> list[Made]:
        own = {new: take(value, part, full) for new, value, part, full in wanted}
        state: Sequence[Any] = [own[param] for param in params]
        done = None if together is None else together(own)
        for _ in range(0 if done is not None else trip):
            own |= zip(params, state, strict=True)
            state = kernel(own, None)
        return [Made(value, box, False, array) for value, array in zip(loop.results, done or state, strict=True)]

    return run


def _library(phase: LibraryPhase, box: Box, types: Types, backend: Backend) -> Shard:
    needed = operand_boxes(phase, types.types, box)
    results = result_boxes(phase, types.types, box)
    args = tuple(ValueId(-1 - place) for place in range(len(phase.args)))
    cut = zip(args, phase.args, needed, strict=True)
    local = {new: replace(types.types[old], shape=_sizes(extents(part))) for new, old, part in cut}
    for value, part in zip(phase.results, results, strict=True):
        local[value] = replace(types.types[value], shape=_sizes(extents(part)))
    kernel = backend.library(replace(phase, args=args), Types(local, types.sizes, types.guards))

    def run(take: Take) -> list[Made]:
        own = {new: take(old, part, False) for new, old, part in zip(args, phase.args, needed, strict=True)}
        made = kernel(own, None)
        return [Made(value, part, False, array) for value, part, array in zip(phase.results, results, made, strict=True)]

    return run


def _sizes(shape: Sequence[int]) -> tuple[Size, ...]:
    return tuple(number(n) for n in shape)


# --------------------------------------------------------------------------------------- combining


def combine(phase: Structured, value: ValueId, partials: Sequence[tuple[Box, Any]], types: Types, backend: Backend) -> Any:
    """Partial results, which tile the reduce axis, joined in the order of sums."""
    return combine_with(pair_of(phase, reduction_of(phase, value), value, types, backend), phase, value, partials, types)


def combine_with(pair: Pair, phase: Structured, value: ValueId, partials: Sequence[tuple[Box, Any]], types: Types) -> Any:
    """The same with the function that `pair_of` made before."""
    length = types.number(phase.axes[-1].size)
    ordered = sorted(((box[-1], array) for box, array in partials), key=lambda item: item[0])
    if not is_ordered(phase, value, types.types):
        found = ordered[0][1]
        for _, array in ordered[1:]:
            found = pair(found, array)
        return found
    blocks = -(-length // BLOCK)
    nodes = {start // BLOCK: (-(-stop // BLOCK), array) for (start, stop), array in ordered}
    size = 1
    while size < blocks:
        for start in range(0, blocks, 2 * size):
            middle = start + size
            if middle in nodes and start in nodes and nodes[start][0] == middle:
                stop, right = nodes.pop(middle)
                nodes[start] = (stop, pair(nodes[start][1], right))
        size *= 2
    (_, found), *rest = nodes.values()
    certain(not rest, "partial results tile the reduce axis")
    return found


def reduction_of(phase: Structured, value: ValueId) -> str:
    """The function that joins partial results of one result."""
    function = next(r.reduction for r in phase.results if r.value == value)
    assert function is not None
    return function


def pair_of(phase: Structured | LibraryPhase, function: str, value: ValueId, types: Types, backend: Backend) -> Pair:
    """One application of a function that joins partial results of `value`, element by element."""
    type = types.types[value]
    kind, left, right = type.element.kind, ValueId(-1), ValueId(-2)
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in type.shape)
    body = (ReadNode(0, kind), ReadNode(1, kind), ApplyNode(function, (0, 1), kind))
    reads = (Read(left, Projection(())), Read(right, Projection(())))
    joined = Structured(phase.id, phase.span, axes, reads, body, (Result(value, 2, None),))
    local = Types({left: type, right: type, value: type}, types.sizes, types.guards)
    kernel = backend.structured(joined, local)
    return lambda a, b: kernel({left: a, right: b}, None)[0]
