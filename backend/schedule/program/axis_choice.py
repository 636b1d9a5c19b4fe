"""The axis that each phase of a graph is cut along, chosen once before planning so that neighbours line up.

Phases are processed in order.  Of the ways to cut a phase (`partitioning.cuts_of`) the cheapest is chosen, where the cost is what
its shards need beside their part of the operands: whole operands and halos count their bytes, a combine its partial results, and
an axis of few rows what cannot be distributed evenly.  An input is cut along the axis that is cheapest for its first consumer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field
from ...graph import traverse
from ...graph.phases import Affine, AffineIndex, Graph, Input, LibraryPhase, Phase, PhaseId, Projection, Structured, ValueId
from ...graph.symbolic_costs import Types
from ..program_facts.partitioning import Cut, cuts_of, max_subtrees, merged_loop_body, shape_of, space_of

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
            return _library(phase, cut, read, axis)
        case _:
            return WHOLE_OPERAND


def _library(phase: LibraryPhase, cut: Cut, read: int, axis: int) -> OperandAccess:
    for signature in phase.signature:
        if signature.result == cut.axis and signature.operands[read] == axis:
            return AlignedRows(0)
    return WHOLE_OPERAND


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
    """The interval of the operand's axis that rows [first, stop) read, not clipped to the operand; None if it is not affine in
    the rows."""
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


# ---------------------------------------------------------------------------------------------------- choice of axes

_COMBINE_BYTES: Final = 1 << 16
"""The cost of a combine beside its partial results, in bytes."""


Axes: TypeAlias = Mapping[PhaseId, int | None]
"""By phase, the axis along which it, or an input, is cut (None: undivided)."""


@dataclass(frozen=True, slots=True)
class AxisChoice:
    """`cut_of`: the cut of each phase by place (None: atomic); `axis_of`: the axis along which the rows of a value lie."""

    cut_of: tuple[Cut | None, ...]
    axis_of: Mapping[ValueId, int]


@dataclass(frozen=True, slots=True)
class FixedAxis:
    """A phase whose cut is fixed: its `cut`, and the axes of its results and, where they are free, of its operands."""

    cut: Cut | None
    axes: Mapping[ValueId, int] = field(default_factory=dict)


def choose_cuts(
    graph: Graph, fixed: Mapping[PhaseId, FixedAxis] | None = None, free: Iterable[ValueId] = (), axes: Axes | None = None
) -> AxisChoice:  # fmt: skip
    """The cuts of the phases; `free`: values from elsewhere, which lie as their first consumer likes best; `axes`: of phases that
    are not to be chosen for."""
    chooser = _Chooser(graph.types, fixed or {}, axes or {}, free=set(free))
    cuts = [chooser.choose(phase) for phase in graph.phases]
    for index, phase in enumerate(graph.phases):
        if isinstance(phase, Input):
            axis = chooser.axis.setdefault(phase.result, 0)
            shape = shape_of(phase.result, graph.types)
            if shape and shape[axis] > 1 and chooser.axes.get(phase.id, axis) is not None:
                cuts[index] = Cut(axis, shape[axis])
    return AxisChoice(tuple(cuts), chooser.axis)


def fixed_axis_of(phase: Phase, cut: Cut, types: Types) -> FixedAxis:
    """A phase with a fixed cut, with its operands along the axes that are cheapest for it."""
    chooser, phase = _Chooser(types, {}, {}), merged_loop_body(phase, types)
    operands = enumerate(traverse.operands(phase))
    axes = {value: chooser.best_axis(phase, cut, operand, value)[1] for operand, value in operands}
    return FixedAxis(cut, {**axes, **dict.fromkeys(traverse.results(phase), 0 if cut.combines else cut.axis)})


@dataclass(slots=True)
class _Chooser:
    types: Types
    fixed: Mapping[PhaseId, FixedAxis]
    axes: Axes
    axis: dict[ValueId, int] = field(default_factory=dict)
    free: set[ValueId] = field(default_factory=set)

    def choose(self, phase: Phase) -> Cut | None:
        if isinstance(phase, Input):
            if phase.id in self.axes:
                self.axis[phase.result] = self.axes[phase.id] or 0
            else:
                self.free.add(phase.result)
            return None
        if phase.id in self.fixed:
            return self.take(phase, self.fixed[phase.id])
        phase = merged_loop_body(phase, self.types)
        options = cuts_of(phase, self.types)
        if phase.id in self.axes:
            options = tuple(cut for cut in options if cut.axis == self.axes[phase.id])
        best = min(options, key=lambda cut: (self.cost(phase, cut), cut.combines, cut.axis), default=None)
        for operand, value in enumerate(traverse.operands(phase)):
            if value in self.free and best is not None:
                self.axis[value] = self.best_axis(phase, best, operand, value)[1]
                self.free.discard(value)
        for value in traverse.results(phase):
            self.axis[value] = 0 if best is None or best.combines else best.axis
        return best

    def take(self, phase: Phase, fixed: FixedAxis) -> Cut | None:
        self.axis |= dict.fromkeys(traverse.results(phase), 0)
        for value, axis in fixed.axes.items():
            if value in self.free or value in traverse.results(phase):
                self.axis[value] = axis
                self.free.discard(value)
        return fixed.cut

    def bytes(self, value: ValueId) -> int:
        return prod(shape_of(value, self.types) or (0,)) * self.types[value].element.kind.bytes

    def cost(self, phase: Phase, cut: Cut) -> int:
        """Bytes that shards need beside their part of the operands."""
        operands = traverse.operands(phase)
        total = sum(map(self.bytes, dict.fromkeys((*operands, *traverse.results(phase)))))
        bytes_moved = total // cut.rows
        for operand, value in enumerate(operands):
            if value in self.free:
                bytes_moved += self.best_axis(phase, cut, operand, value)[0]
            else:
                axis = self.axis.get(value, 0)
                bytes_moved += self.redistribution_bytes(value, operand_access(phase, cut, operand, axis, self.types), axis)
        if cut.combines:
            bytes_moved += _COMBINE_BYTES + sum(map(self.bytes, traverse.results(phase))) * max_subtrees(cut.rows)
        return bytes_moved

    def redistribution_bytes(self, value: ValueId, need: OperandAccess, axis: int) -> int:
        shape, size = shape_of(value, self.types), self.bytes(value)
        if isinstance(need, AlignedRows) and shape:
            return need.halo * size // max(1, shape[axis])
        return size

    def best_axis(self, phase: Phase, cut: Cut, operand: int, value: ValueId) -> tuple[int, int]:
        """Along which axis, of those that have rows to deal out, an input's rows line up best: (bytes beside, axis)."""
        axes = [axis for axis, rows in enumerate(shape_of(value, self.types) or ()) if rows > 1]
        needs = [(operand_access(phase, cut, operand, axis, self.types), axis) for axis in axes]
        return min(((self.redistribution_bytes(value, need, axis), axis) for need, axis in needs), default=(self.bytes(value), 0))
