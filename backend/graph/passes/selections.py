"""`x[⍸m]` is `m⌿x`: where the places of a mask are only used to take items, those are compressed out, and no place is made.

The mask must be as long as the axis, by its type.  Every taker is made where the places were, as it now says how many there are.

Neighbours: `gathers` (other indices that are known to be simple), `run.cpu.selecting` (runs it).
"""

from __future__ import annotations

from dataclasses import replace

from ..phases import Graph, LibraryPhase, Phase, SubGraph, ValueId
from ..registry import frame_of, signature_of
from ..traverse import results, uses, with_subgraphs


def select_by_masks(graph: Graph) -> Graph:
    """See the module."""
    phases = _block(graph, graph.phases, frozenset(graph.roots))
    return graph if phases == graph.phases else replace(graph, phases=phases)


def _block(graph: Graph, phases: tuple[Phase, ...], kept: frozenset[ValueId]) -> tuple[Phase, ...]:
    """`kept`: what is wanted outside the block."""

    def inside(sub: SubGraph) -> SubGraph:
        return replace(sub, phases=_block(graph, sub.phases, kept | frozenset(sub.results)))

    phases = tuple(with_subgraphs(phase, inside) for phase in phases)
    takers: dict[int, list[LibraryPhase]] = {}
    moved: set[int] = set()
    made_at = {value: at for at, phase in enumerate(phases) for value in results(phase)}
    for at, phase in enumerate(phases):
        if isinstance(phase, LibraryPhase) and phase.op == "where" and phase.results[0] not in kept:
            found = _takers(graph, phases, at, phase, made_at)
            if found:
                takers[at] = [taker for _, taker in found]
                moved.update(place for place, _ in found)
    if not takers:
        return phases
    made: list[Phase] = []
    for at, phase in enumerate(phases):
        if at in takers:
            assert isinstance(phase, LibraryPhase)
            made += [_compressed(graph, taker, phase) for taker in takers[at]]
        elif at not in moved:
            made.append(phase)
    return tuple(made)


def _takers(
    graph: Graph, phases: tuple[Phase, ...], at: int, where: LibraryPhase, made_at: dict[ValueId, int]
) -> list[tuple[int, LibraryPhase]]:
    """The gathers that use the places, with where they are; none if anything else does."""
    (mask,), (places,) = where.args, where.results
    shape = graph.types[mask].shape
    if frame_of(where) or len(shape) != 1:
        return []
    found: list[tuple[int, LibraryPhase]] = []
    for place, phase in enumerate(phases):
        if places not in uses(phase):
            continue
        if not isinstance(phase, LibraryPhase) or phase.op != "gather" or frame_of(phase) or phase.attributes.get("fills"):
            return []
        arg, indices = phase.args
        axis = phase.attributes["axis"]
        assert isinstance(axis, int)
        if indices != places or arg == places or made_at.get(arg, -1) >= at or graph.types[arg].shape[axis] != shape[0]:
            return []
        found.append((place, phase))
    return found


def _compressed(graph: Graph, taker: LibraryPhase, where: LibraryPhase) -> LibraryPhase:
    attributes = {"axis": taker.attributes["axis"]}
    args = (where.args[0], taker.args[0])
    made = replace(taker, op="compress", args=args, attributes=attributes, defines=where.defines)
    return replace(made, signature=signature_of(made, graph.types))
