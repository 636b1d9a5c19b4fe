"""A reshape into as many items as there are, or fewer, is a view once the sizes are numbers.

Neighbours: `lower.views` (what is evident before that), `table` (the rule).
"""

from __future__ import annotations

from math import prod

from .....typechecker.sizes import ZERO, number
from ...cells import frame_of
from ...phases import Affine, AffineIndex, Axis, AxisKind, Read, ReadNode, Reshaped, Result, Stage, Structured, Term
from ...projections import Shape, axis_index, simplify
from .patterns import Match
from .rule import Change, Scope


def is_view(match: Match, scope: Scope) -> Change | None:
    """See the module."""
    phase = match.root
    arg, (result,) = phase.args[0], phase.results
    frame, old, new = frame_of(phase), scope.types[arg].shape, scope.types[result].shape
    lengths = [_numbers(shape) for shape in (old[frame:], new[frame:])]
    if None in lengths or _numbers(new[:frame]) != _numbers(old[:frame]):
        return None
    before, after = (prod(own) for own in lengths if own is not None)
    if after > before or not before:
        return None
    stages: list[Stage] = []
    if after < before:
        stages.append(_first(new, frame, before))
    middle = new if after == before else (*new[:frame], number(before))
    stages.append(Reshaped(middle, old))
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in new)
    read = Read(arg, simplify(new, stages))
    body = (ReadNode(0, scope.types[arg].element.kind),)
    return Change({phase.id: (Structured(phase.id, phase.span, axes, (read,), body, (Result(result, 0, None),)),)})


def _numbers(shape: Shape) -> list[int] | None:
    found = [size.constant for size in shape]
    return None if None in found else [int(size) for size in found if size is not None]


def _first(new: Shape, frame: int, length: int) -> Affine:
    """From a point of the result to its row-major place among the items of its cell."""
    stride, terms = 1, []
    for axis in range(len(new) - 1, frame - 1, -1):
        terms.append(Term(axis, stride))
        stride *= new[axis].constant or 0
    kept = tuple(term for term in reversed(terms) if term.coefficient)
    return Affine((*map(axis_index, range(frame)), AffineIndex(kept, ZERO)), (*new[:frame], number(length)))
