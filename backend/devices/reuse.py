"""How many bytes a program touches between two uses of a value: whether an operand is still near when a phase reads it.

A program is taken to run again and again, as a block of a loop does: what is used once a run comes round after all other bytes
of the run.  Views are their operand under other indices.

Neighbours: `points` (Note [Moving]), `cost` (asks).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..graph import traverse
from ..graph.bind import BoundGraph
from ..graph.cells import is_unread
from ..graph.phases import Constant, Input, LibraryPhase, Output, Phase, PhaseId, Print, ReadNode, Structured, ValueId
from ..kernels.kept import Kept
from .forms import Number, Types
from .rates import Around

_kept: Kept[dict[PhaseId, Around]] = Kept(16)


def surroundings(bound: BoundGraph, number: Number) -> dict[PhaseId, Around]:
    """Of every phase; kept with the graph."""

    def make() -> dict[PhaseId, Around]:
        made: dict[PhaseId, Around] = {}
        _walk(bound.graph.phases, bound.graph.types, number, made, outermost=True)
        return made

    return _kept.of(id(bound), (bound,), make)


def _walk(phases: Sequence[Phase], types: Types, number: Number, made: dict[PhaseId, Around], *, outermost: bool = False) -> int:
    """Enter the phases of a block, and of blocks inside; the bytes that one pass through it touches."""
    roots: dict[ValueId, ValueId] = {}
    touched = [_touched(phase, types, number, roots, made) for phase in phases]
    total = sum(size for size, _ in touched)
    by_library = {value for phase in phases if isinstance(phase, LibraryPhase) for value in phase.results}
    binary = _binary(phases)
    last: dict[ValueId, int] = {}
    before = 0 if outermost else next((size for size, _ in reversed(touched) if size), 0)  # a turn follows one
    clock = -total
    for _ in range(2):
        before = before if not outermost else 0
        for phase, (size, values) in zip(phases, touched, strict=True):
            since = {value: clock - last.get(roots.get(value, value), clock - total) for value in traverse.operands(phase)}
            given = traverse.operands(phase)
            alike = len(set(given)) > 1 and len({roots.get(value, value) for value in given}) == 1
            handed = any(roots.get(value, value) in by_library for value in given)
            made[phase.id] = Around(
                total, since, _is_unknown(phase, types), alike, handed, before, total - size, phase.id in binary
            )
            last.update((value, clock) for value in values)
            clock, before = clock + size, size or before
    return total


def _binary(phases: Sequence[Phase]) -> set[PhaseId]:
    """Phases that encode by constant powers of two."""
    powers = {phase.result for phase in phases if isinstance(phase, Constant) and all(map(_is_power, phase.data))}
    encodes = [phase for phase in phases if isinstance(phase, LibraryPhase) and phase.op == "encode"]
    return {phase.id for phase in encodes if phase.args[0] in powers}


def _is_power(value: object) -> bool:
    return isinstance(value, int) and value > 0 and not value & (value - 1)


def is_view(phase: Phase) -> bool:
    return isinstance(phase, Structured) and all(
        isinstance(phase.body[r.node], ReadNode) and not r.reduction for r in phase.results
    )


def _is_unknown(phase: Phase, types: Types) -> bool:
    """Is there a size that only a run knows?"""
    sizes = [size for value in (*traverse.operands(phase), *traverse.results(phase)) for size in types[value].shape]
    return any(size.constant is None for size in (*sizes, *traverse.sizes(phase)))


def _touched(
    phase: Phase, types: Types, number: Number, roots: dict[ValueId, ValueId], made: dict[PhaseId, Around]
) -> tuple[int, tuple[ValueId, ...]]:
    inside = [_walk(graph.phases, types, number, made) for graph in traverse.subgraphs(phase)]
    if isinstance(phase, Input | Output | Print):
        return 0, ()
    if is_view(phase):
        assert isinstance(phase, Structured)
        for result in phase.results:
            node = phase.body[result.node]
            assert isinstance(node, ReadNode)
            source = phase.reads[node.index].value
            roots[result.value] = roots.get(source, source)
        return 0, ()
    if is_unread(phase):
        return 0, ()
    values = dict.fromkeys(roots.get(value, value) for value in (*traverse.operands(phase), *traverse.results(phase)))
    sizes = {value: prod(map(number, types[value].shape)) * types[value].element.kind.bytes for value in values}
    if isinstance(phase, LibraryPhase) and phase.op == "gather":  # what is not picked is not touched
        source = roots.get(phase.args[0], phase.args[0])
        sizes[source] = min(sizes[source], sum(sizes.get(value, 0) for value in phase.results))
    size = sum(sizes.values())
    return max([size, *inside]), tuple(values)
