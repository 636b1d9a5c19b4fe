"""Values that are sorted on disk: runs of sorted tiles in a scratch file, which are merged while they are read.

A grade that does not fit in memory, or the sort that replaces it, becomes an output and an input of the same name.  The output is
written as sorted runs; the input is their merge, in the same stable order as in memory.  So the passes before and after it are
planned, verified and run like those of any other store.

Neighbours: `planning` (asks), `backend.run.streams.sorting` (writes and merges the runs).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from ....typechecker.elements import Kind
from ...graph import traverse
from ...graph.bind import BoundGraph
from ...graph.cells import frame_of, is_unread
from ...graph.phases import Input, LibraryPhase, Output, Phase, PhaseId, ValueId
from ...graph.unrolling import renamed
from ..facts.sharding import shape_of

FEWEST: Final = 64
"""Items of a run that are read at a time, at the least."""
WORDS: Final = 6
"""Words an item that sorting a tile takes, and merging what is read: items, keys, places, the order, and what orders them."""


@dataclass(frozen=True, slots=True)
class Scratch:
    """`size` items of a `kind` that are ordered in the store `name`: `grades`: what is read are their places."""

    name: str
    size: int
    kind: Kind
    descending: bool
    grades: bool

    @property
    def bytes(self) -> int:
        """On disk."""
        return self.size * (self.kind.bytes + (8 if self.grades else 0))

    @property
    def beside(self) -> int:
        """Memory that merging takes."""
        return min(32 << 20, max(1 << 18, self.bytes // 64))

    @property
    def merged(self) -> int:
        """Items that are merged at a time."""
        return self.beside // (WORDS * 8)

    @property
    def most_runs(self) -> int:
        return self.beside // (FEWEST * WORDS * 8)

    def sorting(self, rows: int) -> int:
        """Bytes of memory that making a run of so many items takes."""
        return rows * WORDS * 8


def with_scratch(bound: BoundGraph, wanted: Phase) -> tuple[BoundGraph, Scratch] | None:
    """The graph with the order of a grade made on disk; None if it is no grade of a vector of real numbers."""
    graph = bound.graph
    if not isinstance(wanted, LibraryPhase) or wanted.op != "grade" or frame_of(wanted):
        return None
    (value,), type = wanted.args, graph.types[wanted.args[0]]
    shape = shape_of(value, graph.types)
    if shape is None or len(shape) != 1 or type.element.kind.is_complex or type.element.kind is Kind.CHAR:
        return None
    results = list(wanted.results)
    if grades := not is_unread(wanted):
        readers: list[Phase] = []
    else:
        readers = list(_sorts(graph.phases, wanted))
        results = [result for phase in readers for result in traverse.results(phase)]
        if any(traverse.operands(phase)[0] != value for phase in readers):
            return None
    if not results:
        return None
    fresh = traverse.fresh_id(graph)
    scratch = Scratch(f"order {fresh}", shape[0], type.element.kind, bool(wanted.attributes["descending"]), grades)
    pair: list[Phase] = [
        Output(PhaseId(fresh), wanted.span, scratch.name, value),
        Input(PhaseId(fresh + 1), wanted.span, scratch.name, results[0]),
    ]
    gone = {wanted.id, *(phase.id for phase in readers)}
    names = dict.fromkeys(results[1:], results[0])
    phases: list[Phase] = []
    for phase in graph.phases:
        if phase.id == wanted.id:
            phases += pair
        elif phase.id not in gone:
            phases.append(renamed(phase, names))
    return BoundGraph(replace(graph, phases=tuple(phases)), bound.sizes), scratch


def _sorts(phases: tuple[Phase, ...], grade: LibraryPhase) -> Iterator[Phase]:
    """The gathers that sort in the order of a grade that is not made."""
    order: ValueId = grade.results[0]
    for phase in phases:
        if isinstance(phase, LibraryPhase) and "sorts" in phase.attributes and order in phase.args:
            yield phase
