"""How the rows of one cut phase need the rows of another: aligned with a halo, or whole.

A scheduling problem knows only proportions (`problem`, Note [Needs]): rows [a, b) of R need the part [a, b)/R of their operand,
rounded outwards, with a halo.  Here it is worked out, from the projections, whether that is enough and with how much halo.

Note [Halo].  Along one axis of the operand an affine read reaches from L(a) = c×a + k to H(b) = d×b + l, without regard to the
operand's ends, with c and d positive.  The proportion starts at most at a×P/R, so P/R×a - L(a), linear in a, is largest at an
end, and what it is there, rounded down, is enough halo for all a; the same above.  Each reshape rounds once, by less than a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from ...graph.costs import Types
from ...graph.phases import Affine, AffineIndex, LibraryPhase, Phase, Projection, Structured
from ..facts.sharding import Cut, as_one, shape_of, space_of


@dataclass(frozen=True, slots=True)
class Whole:
    """Every shard needs all of the operand."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """A shard needs its proportion of the operand's rows and `halo` rows each side."""

    halo: int


Need = Whole | Aligned
WHOLE: Final = Whole()


def need_of(phase: Phase, cut: Cut, read: int, axis: int, types: Types) -> Need:
    """What shards of `cut` need along `axis` of the value that read (or argument) number `read` names."""
    phase = as_one(phase, types)
    match phase:
        case Structured():
            return _structured(phase, cut, read, axis, types)
        case LibraryPhase():
            return _library(phase, cut, read, axis)
        case _:
            return WHOLE


def _library(phase: LibraryPhase, cut: Cut, read: int, axis: int) -> Need:
    for signature in phase.signature:
        if signature.result == cut.axis and signature.operands[read] == axis:
            return Aligned(0)
    return WHOLE


def _structured(phase: Structured, cut: Cut, read: int, axis: int, types: Types) -> Need:
    space, shape = space_of(phase, types), shape_of(phase.reads[read].value, types)
    if space is None or shape is None or cut.rows < 2 or axis >= len(shape):
        return WHOLE
    rows, count, projection = shape[axis], cut.rows, phase.reads[read].projection
    spans = {f: _reach(projection, space, cut, f, f + 1, axis) for f in {0, 1, count - 2, count - 1}}
    if any(span is None for span in spans.values()):
        return WHOLE
    below, above = Fraction(0), Fraction(0)
    proportion = Fraction(rows, count)
    starts: list[int] = []
    for f, span in sorted(spans.items()):
        assert span is not None
        starts.append(span[0])
        below = max(below, proportion * f - span[0])
        above = max(above, span[1] - proportion * (f + 1))
    if starts != sorted(starts):
        return WHOLE
    reshapes = sum(not isinstance(stage, Affine) for stage in projection.stages)
    exact = proportion.denominator == 1 and below == 0 and above == 0
    halo = max(int(below), int(above)) + (0 if exact else reshapes)
    return WHOLE if 2 * halo >= rows else Aligned(halo)


def _reach(projection: Projection, space: Sequence[int], cut: Cut, first: int, stop: int, axis: int) -> tuple[int, int] | None:
    """The interval of the operand's axis that rows [first, stop) reach, its ends not regarded; None if that is not to be told
    row by row."""
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
    """Does the leading axis come from the leading axis alone?"""
    return bool(indices) and [t.axis for t in indices[0].terms] == [0]


def _interval(index: AffineIndex, box: Sequence[tuple[int, int]]) -> tuple[int, int]:
    low = high = index.constant.constant or 0
    for term in index.terms:
        start, stop = box[term.axis]
        ends = (start * term.coefficient, (stop - 1) * term.coefficient)
        low, high = low + min(ends), high + max(ends)
    return low, high + 1
