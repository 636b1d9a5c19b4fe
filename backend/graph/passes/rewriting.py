"""Tools of the passes: a builder of bodies with hash-consing, and predicates on phases (views, sliding windows, failures).

Bodies are single assignment by position, so every edit builds a new list in order; equal nodes occur once.  Constants are keyed
by kind and bits: 1, True, 1.0, 0.0 and -0.0 are five constants.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import prod
from typing import Final

from ....lang.support.records import dataclass, field, replace
from ....typechecker.sizes.polynomials import Size, number
from ..phases import (
    Affine,
    ApplyNode,
    AxisKind,
    ConstantNode,
    LibraryPhase,
    Node,
    Phase,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Structured,
    ValueId,
)
from ..projections import affine, axis_index, compose, constant_index
from ..registry import may_fail
from ..traverse import axis_sizes, subgraphs


def node_key(node: Node) -> Hashable:
    match node:
        case ApplyNode():
            return ("apply", node.function, node.args, node.kind, node.parameter)
        case ReadNode():
            return ("read", node.index)
        case _:
            return node


FIXED_POWERS: Final[dict[float | None, tuple[str, ...]]] = {
    2.0: ("square",), 3.0: ("square", "mul"), 4.0: ("square", "square"), 5.0: ("square", "square", "mul"),
    0.5: ("half_power",), -1.0: ("reciprocal",), -0.5: ("half_power", "reciprocal"),
}  # fmt: skip
"""Faster functions for a float to a constant power, within 4 ulp: each is applied to the result of the one before (`mul` also to
the float).  The n-th power by products has n-1 roundings, each of which moves it by less than an ulp."""


def real_constant(nodes: Sequence[object], index: int) -> float | None:
    """The value of a constant body node, also through conversions, if every kind stores it exactly; else None."""
    node = nodes[index]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = nodes[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, int | float) and abs(node.value) < 100:
        return float(node.value)
    return None


def with_fixed_powers(phase: Structured) -> Structured:
    """The phase with its floats to constant powers as `FIXED_POWERS` has them."""
    if not any(isinstance(node, ApplyNode) and node.function == "pow" for node in phase.body):
        return phase
    body: list[Node] = []
    places: list[int] = []
    for node in phase.body:
        if isinstance(node, ApplyNode):
            args = tuple([places[arg] for arg in node.args])
            is_power = node.function == "pow" and node.kind.is_float
            steps = FIXED_POWERS.get(real_constant(body, args[1]), ()) if is_power else ()
            power = args[0]
            for step in steps:
                body.append(ApplyNode(step, (power, args[0]) if step == "mul" else (power,), node.kind))
                power = len(body) - 1
            body += [] if steps else [replace(node, args=args)]
        else:
            body.append(node)
        places.append(len(body) - 1)
    return replace(phase, body=tuple(body), results=tuple([replace(r, node=places[r.node]) for r in phase.results]))


@dataclass(slots=True)
class BodyBuilder:
    """A body and its reads under construction, without duplicates."""

    reads: list[Read] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    _places: dict[Hashable, int] = field(default_factory=dict)
    _reads: dict[tuple[ValueId, Projection], int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        """The position of the node in the body, to which it is appended if it is new."""
        key = node_key(node)
        at = self._places.get(key)
        if at is None:
            at = self._places[key] = len(self.nodes)
            self.nodes.append(node)
        return at

    def read(self, read: Read, node: ReadNode) -> int:
        key = (read.value, read.projection)
        index = self._reads.get(key)
        if index is None:
            index = self._reads[key] = len(self.reads)
            self.reads.append(read)
        return self.add(ReadNode(index, node.kind))

    def finish(self, phase: Structured, results: Sequence[PhaseResult]) -> Structured:
        """The phase with this body, its unused nodes and reads dropped."""
        reads, nodes, places = _without_unused(self.reads, self.nodes, [r.node for r in results])
        renumbered = tuple(replace(r, node=places[r.node]) for r in results)
        return replace(phase, reads=tuple(reads), body=tuple(nodes), results=renumbered)


def _without_unused(
    reads: Sequence[Read], nodes: Sequence[Node], roots: Iterable[int]
) -> tuple[list[Read], list[Node], dict[int, int]]:
    needed = set(roots)
    for at in range(len(nodes) - 1, -1, -1):
        node = nodes[at]
        if isinstance(node, ApplyNode) and (at in needed or node.span is not None):
            needed.add(at)
            needed.update(node.args)
    kept_reads: list[Read] = []
    used: list[Node] = []
    places: dict[int, int] = {}
    read_places: dict[int, int] = {}
    for at, node in enumerate(nodes):
        if at not in needed:
            continue
        if isinstance(node, ReadNode):
            if node.index not in read_places:
                read_places[node.index] = len(kept_reads)
                kept_reads.append(reads[node.index])
            node = ReadNode(read_places[node.index], node.kind)
        elif isinstance(node, ApplyNode):
            node = replace(node, args=tuple(places[a] for a in node.args))
        places[at] = len(used)
        used.append(node)
    return kept_reads, used, places


def deduplicate(phase: Structured) -> Structured:
    """The phase with equal reads and equal nodes merged."""
    if len({(r.value, r.projection) for r in phase.reads}) == len(phase.reads):
        return phase
    builder = BodyBuilder()
    places: list[int] = []
    for node in phase.body:
        match node:
            case ReadNode():
                places.append(builder.read(phase.reads[node.index], node))
            case ApplyNode():
                places.append(builder.add(replace(node, args=tuple(places[a] for a in node.args))))
            case _:
                places.append(builder.add(node))
    return builder.finish(phase, [replace(r, node=places[r.node]) for r in phase.results])


def is_view(phase: Phase) -> bool:
    """Is it a structured phase that only moves elements: one read, one result, no reduction?"""
    return (
        isinstance(phase, Structured)
        and len(phase.body) == 1
        and isinstance(phase.body[0], ReadNode)
        and len(phase.results) == 1
        and not has_reduction(phase)
    )


def has_reduction(phase: Structured) -> bool:
    return bool(phase.axes) and phase.axes[-1].kind is AxisKind.REDUCE


LONGEST_WINDOW: Final = 64
"""Items of overlapping windows up to which reductions are unrolled, because neighbouring windows read nearly the same items."""


def is_sliding_window(phase: Structured) -> bool:
    """Does the phase reduce overlapping windows, perhaps with weights that are the same for each window?"""
    sizes = [axis.size.constant or 0 for axis in phase.axes]
    if not has_reduction(phase) or sizes[-1] < 2:
        return False
    space, is_sliding = axis_sizes(phase.axes), False
    for read in phase.reads:
        first, second = _at_step(space, read, 0), _at_step(space, read, 1)
        if first is None or second is None:
            return False
        axes = {term.axis for index in first.indices for term in index.terms}
        if not axes or first == second:
            continue
        points = prod(sizes[axis] for axis in axes) * sizes[-1]
        if 2 * prod(size.constant or points for size in first.shape) > points:
            return False
        is_sliding = True
    return is_sliding


def _at_step(space: Sequence[Size], read: Read, step: int) -> Affine | None:
    """The projection of a read at one step of the reduction; None if it is not affine."""
    at = affine(tuple(space[:-1]), [*map(axis_index, range(len(space) - 1)), constant_index(number(step))], tuple(space))
    match compose(tuple(space[:-1]), at, read.projection).stages:
        case (Affine() as stage,):
            return stage
        case _:
            return None


def body_may_fail(body: Iterable[Node]) -> bool:
    return any(isinstance(n, ApplyNode) and n.span is not None for n in body)


def phase_may_fail(phase: Phase) -> bool:
    """May a run of the phase, sub-graphs included, end in a diagnostic?  Such a phase is never dropped."""
    pending = [phase]
    while pending:
        current = pending.pop()
        match current:
            case Structured():
                if body_may_fail(current.body):
                    return True
            case LibraryPhase():
                if may_fail(current):
                    return True
            case _:
                for graph in subgraphs(current):
                    pending.extend(graph.phases)
    return False
