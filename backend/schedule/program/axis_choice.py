"""The axes along which each phase of a graph may be cut, and what shards along them read of their operands.

A problem states every axis (Note [Axes] of `problem`); `search.axis_search` chooses among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field
from ...graph import traverse
from ...graph.phases import Affine, AffineIndex, Graph, Input, LibraryPhase, Phase, PhaseId, Projection, Structured, ValueId
from ...graph.symbolic_costs import Types, reduced_axes
from ..program_facts.partitioning import Cut, cuts_of, merged_loop_body, shape_of, space_of

# ---------------------------------------------------------------------------------------------------- access relations
#
# Access relations between cut phases: shards read aligned rows with a halo, or all of an operand.
#
# A scheduling problem has only proportions (`problem`, Note [Needs]): rows [a, b) of R read the part [a, b)/R of their operand,
# rounded outwards, with a halo.  This section derives from the projections whether that suffices, and the halo.
#
# Note [Halo].  Along one axis of the operand an affine read of rows [a, b) covers L(a) = c×a + k to H(b) = d×b + l (not clipped
# to the operand), with c and d positive.  The proportion starts at most at a×P/R, so P/R×a - L(a), linear in a, is largest at an
# end of the range; its value there, rounded down, is a sufficient halo for all a; likewise above.  Each reshape adds a rounding
# error of less than a row.

@dataclass(frozen=True, slots=True)
class WholeOperand:
    """Every shard needs all of the operand."""


@dataclass(frozen=True, slots=True)
class AlignedRows:
    """A shard needs its proportion of the operand's rows and `halo` rows each side."""

    halo: int


OperandAccess = WholeOperand | AlignedRows
WHOLE_OPERAND: Final = WholeOperand()


def operand_access(phase: Phase, cut: Cut, read: int, axis: int, types: Types) -> OperandAccess:
    """The access of shards of `cut` along `axis` of the operand that read (or argument) number `read` names."""
    phase = merged_loop_body(phase, types)
    match phase:
        case Structured():
            return _structured(phase, cut, read, axis, types)
        case LibraryPhase():
            return _library(phase, cut, read, axis, types)
        case _:
            return WHOLE_OPERAND


def _library(phase: LibraryPhase, cut: Cut, read: int, axis: int, types: Types) -> OperandAccess:
    if cut.combines:
        reduced = reduced_axes(phase, types)
        entries = [reduced[cut.axis - len(types[phase.results[0]].shape)][1]]
    else:
        entries = [one for one in phase.signature if one.result == cut.axis]
    lined = [one for one in entries if one.operands[read] == axis]
    if not lined:
        return WHOLE_OPERAND
    halo, size = lined[0].block - 1, types[phase.args[read]].shape[axis].constant
    if halo and size is not None and size > cut.size:
        halo = (cut.size - 1) * (lined[0].block * cut.size - size) // cut.size  # the last block is the shortest
    return WHOLE_OPERAND if halo and (size is None or 2 * halo >= size) else AlignedRows(halo)


def _structured(phase: Structured, cut: Cut, read: int, axis: int, types: Types) -> OperandAccess:
    space, shape = space_of(phase, types), shape_of(phase.reads[read].value, types)
    if space is None or shape is None or cut.rows < 2 or axis >= len(shape):
        return WHOLE_OPERAND
    rows, count, projection = shape[axis], cut.rows, phase.reads[read].projection
    spans = {f: _reach(projection, space, cut, f, f + 1, axis) for f in {0, 1, count - 2, count - 1}}
    if any(span is None for span in spans.values()):
        return WHOLE_OPERAND
    below, above = Fraction(0), Fraction(0)
    proportion = Fraction(rows, count)
    starts: list[int] = []
    for f, span in sorted(spans.items()):
        assert span is not None
        starts.append(span[0])
        below = max(below, proportion * f - span[0])
        above = max(above, span[1] - proportion * (f + 1))
    if starts != sorted(starts):
        return WHOLE_OPERAND
    reshapes = sum(not isinstance(stage, Affine) for stage in projection.stages)
    exact = proportion.denominator == 1 and below == 0 and above == 0
    halo = max(int(below), int(above)) + (0 if exact else reshapes)
    return WHOLE_OPERAND if 2 * halo >= rows else AlignedRows(halo)


def _reach(projection: Projection, space: Sequence[int], cut: Cut, first: int, stop: int, axis: int) -> tuple[int, int] | None:
    """The interval of the operand's axis that rows [first, stop) of the shard read, not clipped to the operand; None if it is not
    affine in the rows."""
    start, end = first * cut.grain, min(stop * cut.grain, cut.size)
    box = [(start, end) if a == cut.axis else (0, n) for a, n in enumerate(space)]
    reshaped = False
    for stage in projection.stages:
        if isinstance(stage, Affine):
            if reshaped and not _keeps_first(stage.indices):
                return None
            box = [_interval(index, box) for index in stage.indices]
            continue
        source = [n.constant for n in stage.source]
        target = [n.constant for n in stage.target]
        if any(n is None for n in (*source, *target)) or axis != 0:
            return None
        low = high = 0
        for size, (a, b) in zip(source, box, strict=True):
            assert size is not None
            low, high = low * size + a, high * size + b - 1
        inner = 1
        for size in target[1:]:
            assert size is not None
            inner *= size
        if inner == 0 or not target:
            return None
        box = [(low // inner, high // inner + 1), *((0, size or 0) for size in target[1:])]
        reshaped = True
    return box[axis]


def _keeps_first(indices: Sequence[AffineIndex]) -> bool:
    """Does the leading index depend on the leading axis only?"""
    return bool(indices) and [t.axis for t in indices[0].terms] == [0]


def _interval(index: AffineIndex, box: Sequence[tuple[int, int]]) -> tuple[int, int]:
    low = high = index.constant.constant or 0
    for term in index.terms:
        start, stop = box[term.axis]
        ends = (start * term.coefficient, (stop - 1) * term.coefficient)
        low, high = low + min(ends), high + max(ends)
    return low, high + 1


# ---------------------------------------------------------------------------------------------------- options

Axes: TypeAlias = Mapping[PhaseId, int | None]
"""By phase, the axis along which it, or an input, is cut (None: undivided)."""


@dataclass(frozen=True, slots=True)
class PhaseCut:
    """One way to divide a phase: its `cut` (None: undivided), and the axis along which the rows of each of its values lie."""

    cut: Cut | None
    axes: Mapping[ValueId, int] = field(default_factory=dict)

    @property
    def is_undivided(self) -> bool:
        """Is the output one piece, so that parts are counted in bytes?"""
        return self.cut is None or self.cut.combines


@dataclass(frozen=True, slots=True)
class AxisChoice:
    """`cut_of`: the cut of each phase by index (None: atomic); `axis_of`: the axis along which the rows of a value lie."""

    cut_of: tuple[Cut | None, ...]
    axis_of: Mapping[ValueId, int]


def choice_of(options: Sequence[Sequence[PhaseCut]], chosen: Sequence[int]) -> AxisChoice:
    """The cuts of the phases along the chosen options."""
    taken = [cuts[k] for cuts, k in zip(options, chosen, strict=True)]
    return AxisChoice(tuple(one.cut for one in taken), {value: axis for one in taken for value, axis in one.axes.items()})


def options_along(graph: Graph, cuts: AxisChoice) -> tuple[tuple[PhaseCut, ...], ...]:
    """The cuts of the phases as the only options."""
    return tuple(
        (PhaseCut(cut, {value: cuts.axis_of.get(value, 0) for value in traverse.results(phase)}),)
        for phase, cut in zip(graph.phases, cuts.cut_of, strict=True)
    )


def options_of(
    graph: Graph, fixed: Mapping[PhaseId, PhaseCut] | None = None, axes: Axes | None = None
) -> tuple[tuple[PhaseCut, ...], ...]:
    """Every way to divide each phase: along axes that it does not reduce first.  `fixed`: the only way for a phase; `axes`: the
    only axis."""
    return tuple(
        (fixed[phase.id],) if fixed is not None and phase.id in fixed else _options(phase, graph.types, axes)
        for phase in graph.phases
    )


def _options(phase: Phase, types: Types, axes: Axes | None) -> tuple[PhaseCut, ...]:
    if isinstance(phase, Input):
        shape = shape_of(phase.result, types) or ()
        cuts = [Cut(axis, size) for axis, size in enumerate(shape) if size > 1]
    else:
        cuts = sorted(cuts_of(phase, types), key=lambda cut: (cut.combines, cut.axis))
    if axes is not None and phase.id in axes:
        cuts = [cut for cut in cuts if cut.axis == axes[phase.id]]
    results = traverse.results(phase)
    return tuple(PhaseCut(cut, dict.fromkeys(results, 0 if cut.combines else cut.axis)) for cut in cuts) or (
        PhaseCut(None, dict.fromkeys(results, 0)),
    )
