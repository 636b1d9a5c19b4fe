"""How often each element of each value of the phase graph is read: the checker's grades, over phases.

Passes drop values that nothing demands, fuse those whose elements are each read at most once, recompute some whose elements are
read a few times, and store all others.  Blocks follow the checker's own rules (`UsageWalk`); this module adds how phases read: a
structured phase through its projections, where an axis on which the element depends does not multiply the count, and a library
phase by its operation.

Note [Mentions].  A phase with no points mentions values without reading any element of them.  Values that a running phase
mentions must exist, so `runs` and `mentioned` follow from mentions, not from grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import compress

from ....lang.support.records import dataclass
from ....lang.syntax.source import Span
from ....typechecker.elements import ArrayType
from ....typechecker.sizes.polynomials import ONE, ZERO, Size, SizeVariable, product
from ....typechecker.usage.backward_analysis import (
    NONE,
    ONCE,
    CellRange,
    Grade,
    IterationUsage,
    OuterReads,
    SizeContext,
    UsageCount,
    UsageSite,
    UsageWalk,
    exactly,
    reads_of_call,
    up_to,
)
from ..phases import (
    Affine,
    Branch,
    Constant,
    Fold,
    Graph,
    Input,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    Print,
    Projection,
    Shape,
    Structured,
    SubGraph,
    ValueId,
    cells_of,
    frame_of,
    framed_of,
    target_of,
)
from ..registry import called
from ..traverse import all_phases, axis_sizes, defines, operands, results, sizes, subgraphs
from .rewriting import phase_may_fail

_Free = OuterReads[ValueId]


@dataclass(frozen=True, slots=True)
class Quantities:
    """How often each element of each value is read, and by which phases (a few examples)."""

    grades: Mapping[ValueId, Grade]
    uses: Mapping[ValueId, tuple[UsageSite, ...]]

    def grade(self, value: ValueId) -> Grade:
        return self.grades.get(value, NONE)


@dataclass(frozen=True, slots=True)
class LivePhases:
    """The phases that run, and the values that these mention."""

    runs: Set[PhaseId]
    mentioned: Set[ValueId]


def liveness_of(graph: Graph) -> LivePhases:
    """What the outputs, prints, guards and possible failures of a program need."""
    walk = _LivenessWalk(graph)
    walk.phases(graph.phases, {}, live=True)
    return LivePhases(walk.running, walk.mentioned)


_latest: tuple[Graph, Quantities] | None = None


def quantities_of(graph: Graph) -> Quantities:
    """The quantities of a program, whose outputs and prints read each element once; those of the last graph are cached."""
    global _latest
    known = _latest
    if known is None or known[0] is not graph:
        known = _latest = graph, _quantities_of(graph)
    return known[1]


def _quantities_of(graph: Graph) -> Quantities:
    walk = _ReadWalk(graph)
    tallies: _Free = {}
    walk.phases(graph.phases, tallies, live=True)
    for value in [*tallies]:
        walk.finish(value, tallies)
    return Quantities(walk.grades, walk.uses)


def at_most_once(grade: Grade) -> bool:
    """Is every element read at most once, whatever the sizes are?"""
    most = None if grade.high is None else grade.high.bounds()[1]
    return most is not None and most <= 1


def at_least_once(grade: Grade) -> bool:
    least = grade.low.bounds()[0]
    return least is not None and least >= 1


class _ReadWalk(UsageWalk[ValueId, SubGraph]):
    def __init__(self, graph: Graph) -> None:
        super().__init__(SizeContext({}, [guard.fact for guard in graph.guards if guard.holds_always]))
        self.types = graph.types
        self.spans: dict[int, Span] = {}  # by index of a node in a body: where it is used
        self.running: set[PhaseId] = set()
        self.mentioned: set[ValueId] = set(graph.roots)
        self.sizes: set[SizeVariable] = set()
        for guard in graph.guards:
            self.size(guard.fact.left)
            self.size(guard.fact.right)

    def size(self, size: Size) -> None:
        self.sizes.update(v for v in size.variables() if v.is_runtime)

    def param_values(self, body: SubGraph) -> tuple[ValueId, ...]:
        return body.params

    def result_uses(self, body: SubGraph, demands: Sequence[Grade]) -> list[tuple[ValueId, UsageSite]]:
        return [(value, UsageSite(self.spans[id(body)], demand)) for value, demand in zip(body.results, demands, strict=True)]

    def ops(self, body: SubGraph, tallies: _Free, *, live: bool) -> None:
        self.phases(body.phases, tallies, live=live)

    def phases(self, phases: Sequence[Phase], tallies: _Free, *, live: bool) -> None:
        for phase in reversed(phases):
            demands = [self.finish(value, tallies) for value in results(phase)]
            runs = live and self.needs(phase)
            if runs:
                self.running.add(phase.id)
                self.mention(phase)
            self.reads(phase, demands, tallies, runs=runs)
            if runs and isinstance(phase, Map):  # not operands that the body does not read
                pairs = zip(phase.args, phase.body.params, strict=True)
                self.mentioned.update(arg for arg, param in pairs if param in self.mentioned)
            elif runs:
                self.mentioned.update(operands(phase))

    def mention(self, phase: Phase) -> None:
        """Record what a phase that runs needs inside its sub-graphs, and the sizes of it and its results."""
        values = results(phase)
        wanted = [value in self.mentioned or not isinstance(phase, Map | Branch) for value in values]
        for body in subgraphs(phase):
            needed = wanted if isinstance(phase, Map | Branch) else [True] * len(body.results)
            self.mentioned.update(compress(body.results, needed))
        for size in sizes(phase):
            self.size(size)
        for value in compress(values, wanted):
            for size in self.types[value].shape:
                self.size(size)

    def needs(self, phase: Phase) -> bool:
        if isinstance(phase, Input | Print | Output):
            return True
        return (
            any(r in self.mentioned for r in results(phase))
            or any(s in self.sizes for s in defines(phase))
            or phase_may_fail(phase)
            or any(isinstance(p, Print | Output) for s in subgraphs(phase) for p in all_phases(s))
        )

    def reads(self, phase: Phase, demands: Sequence[Grade], tallies: _Free, *, runs: bool) -> None:
        span = phase.span
        self.spans.update((id(body), span) for body in subgraphs(phase))
        match phase:
            case Structured() if runs:
                space = axis_sizes(phase.axes)
                for read in phase.reads:
                    self.read(read.value, space, read.projection, phase, tallies)
            case LibraryPhase() if runs:
                for value, grade in _library(phase, self.types):
                    tallies.setdefault(value, UsageCount()).add(UsageSite(span, grade))
            case Print() | Output() if runs:
                tallies.setdefault(phase.arg, UsageCount()).add(UsageSite(span, ONCE))
            case Map():
                self.lift(phase.body, phase.args, phase.frames, phase.frame, span, demands, tallies, runs=runs)
            case Fold():
                length = self.types[phase.args[0]].shape[0]
                self.fold(phase.body, phase.args, length, span, tallies, scan=phase.scan, runs=runs)
            case Loop():
                iterations = IterationUsage(phase.trip, phase.index, phase.cells, phase.initial, keep=phase.keep)
                self.loop(phase.body, phase.until, iterations, span, tallies, runs=runs)
            case Branch():
                self.branch(phase.then, phase.otherwise, phase.condition, span, demands, tallies, runs=runs)
            case Input() | Constant() | _:
                pass

    def read(self, value: ValueId, space: Shape, projection: Projection, phase: Structured, tallies: _Free) -> None:
        tally = tallies.setdefault(value, UsageCount())
        part = major_cells_read(space, projection) if projection.stages else None
        if part is None:
            tally.add(UsageSite(phase.span, multiplicity(space, projection)))
        else:
            tally.add_part(part, phase.span)


class _LivenessWalk(_ReadWalk):
    """The walk without grades, whose computation takes most of the time."""

    def finish(self, value: ValueId, usages: _Free) -> Grade:
        return NONE

    def reads(self, phase: Phase, demands: Sequence[Grade], tallies: _Free, *, runs: bool) -> None:
        for body in subgraphs(phase):
            self.phases(body.phases, tallies, live=runs)


# ------------------------------------------------------------------------------- structured phases


def multiplicity(space: Shape, projection: Projection) -> Grade:
    """How often each element of an operand is read over `space`."""
    grade, box = ONCE, space
    for stage in projection.stages:
        if isinstance(stage, Affine):
            grade = grade.times(_stage_grade(box, stage))
        box = target_of(stage)
    return grade


def major_cells_read(space: Shape, projection: Projection) -> CellRange | None:
    """The range of major cells that a read takes; None if it takes all of them or no contiguous range."""
    if len(projection.stages) != 1:
        return None
    (stage,) = projection.stages
    if not isinstance(stage, Affine) or not stage.shape or len(stage.indices[0].terms) > 1:
        return None
    index = stage.indices[0]
    if not index.terms:
        start, length = index.constant, ONE
    else:
        (term,) = index.terms
        length = space[term.axis]
        if abs(term.coefficient) != 1:
            return None
        start = index.constant if term.coefficient == 1 else index.constant - length + 1
    if length == stage.shape[0]:
        return None
    rows = Affine(stage.indices, (length, *stage.shape[1:]), stage.fills)
    grade = _stage_grade(space, rows)
    return CellRange(stage.shape, start, start + length, grade, grade.is_exact)


def _stage_grade(space: Shape, stage: Affine) -> Grade:
    """How often one stage reads each element of its target.

    An axis is *determined* if the target indices determine its coordinate; each index determines one axis more.  All other
    axes are free, and multiply the count."""
    determined: set[int] = {axis for axis, size in enumerate(space) if size == ONE}
    free: set[int] = set(range(len(space))) - {term.axis for index in stage.indices for term in index.terms} - determined
    for index in sorted(stage.indices, key=lambda index: len(index.terms)):
        unknown = [term.axis for term in index.terms if term.axis not in determined and term.axis not in free]
        if unknown:
            determined.add(unknown[0])
            free.update(unknown[1:])
    high = exactly(product(space[axis] for axis in free))
    return high if _covers_box(space, stage) else high.at_most()


def _covers_box(space: Shape, stage: Affine) -> bool:
    """Is every element of the box read, and equally often?"""
    used: set[int] = set()
    for index, size in zip(stage.indices, stage.shape, strict=True):
        if not index.terms and size == ONE:
            continue
        if len(index.terms) != 1 or abs(index.terms[0].coefficient) != 1 or index.terms[0].axis in used:
            return False
        if space[index.terms[0].axis] != size:
            return False
        used.add(index.terms[0].axis)
    return not stage.fills


# ---------------------------------------------------------------------------------- library phases


def _library(phase: LibraryPhase, types: Mapping[ValueId, ArrayType]) -> list[tuple[ValueId, Grade]]:
    """The grades of a library phase's operands: an operand without the frame is read at every point of it."""
    frame = product(types[phase.results[0]].shape[: frame_of(phase)]) if phase.results else ONE
    cells = cells_of(phase, types).args
    grades = _cells(phase, cells)
    if phase.op == "gather" and types[phase.args[1]].permutation and cells[1][:1] == (cells[0][_axis(phase)],):
        grades[0] = ONCE
    framed = framed_of(phase)
    return [
        (value, grade if carries else grade.times(exactly(frame)))
        for value, grade, carries in zip(phase.args, grades, framed, strict=True)
    ]


def _axis(phase: LibraryPhase) -> int:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    return axis


def _cells(phase: LibraryPhase, cells: Sequence[Shape]) -> list[Grade]:
    match phase.op:
        case "call":
            function, values = called(phase.attributes)
            return reads_of_call(function.core, list(values.values()))
        case "contract" | "decode":
            left, right = cells
            return [exactly(product(right[1:])), exactly(product(left[:-1]))]
        case "encode":
            left, right = cells
            return [exactly(product(right)), exactly(product(left[1:]))]
        case "gather":
            return [up_to(product(cells[1])), *[ONCE] * (len(cells) - 1)]
        case "reshape_cycle":
            return [Grade(ZERO, None)]
        case "update" | "mask_update":
            return [up_to(ONE), *[ONCE] * (len(cells) - 1)]
        case "compress":
            return [ONCE, up_to(ONE)]
        case _:
            return [ONCE] * len(cells)
