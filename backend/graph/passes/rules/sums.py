"""Products with a vector and numbers of a few digits, as the sums that they are, where their operand is made for them alone.

A library phase wants its operand as an array.  A sum reads through the views and takes in the arithmetic that make it: windows
(`(k↕x)+.×v`, `2⊥⍉3↕x`) are not made.

Neighbours: `graph.sums_of_products`, `table` (the rules), `reference.reductions` (the definitions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .....typechecker.sizes import number
from ...phases import (
    ApplyNode,
    Axis,
    AxisKind,
    ConstantNode,
    LibraryPhase,
    Node,
    Read,
    ReadNode,
    Result,
    Structured,
    ValueId,
)
from ...projections import affine, axis_index, constant_index
from ...sums_of_products import sum_of_products
from ..rewriting import has_reduction, is_view
from .patterns import Match
from .rule import Change, Scope

_MOST_DIGITS: Final = 16


def is_sum_of_products(match: Match, scope: Scope) -> Change | None:
    """A matrix by a vector, a vector by a matrix, two vectors."""
    phase, left, right = match.root, match["left"], match["right"]
    shapes, kind = (scope.types[left].shape, scope.types[right].shape), scope.types[phase.results[0]].element.kind
    larger = left if len(shapes[0]) >= len(shapes[1]) else right
    if 1 not in map(len, shapes) or not _is_of_one_kind(phase, scope) or not _is_made_for(larger, phase, scope):
        return None
    made = sum_of_products(kind, *shapes, 0, (left, right, phase.results[0]))
    return Change({phase.id: (replace(made, id=phase.id, span=phase.span),)})


def is_of_few_digits(match: Match, scope: Scope) -> Change | None:
    """Horner's rule, a step a digit."""
    phase, radix, arg = match.root, match["radix"], match["arg"]
    (result,), radices, digits = phase.results, scope.types[radix].shape, scope.types[arg].shape
    if len(radices) > 1 or not digits or not _is_of_one_kind(phase, scope) or not _is_made_for(arg, phase, scope):
        return None
    counts = [size.constant for size in (*radices, digits[0])]
    kind, space, length = scope.types[result].element.kind, digits[1:], max(count or 0 for count in counts)
    if None in counts or not 0 < length <= _MOST_DIGITS or kind.is_complex:
        return None
    reads: list[Read] = []
    body: list[Node] = [ConstantNode(kind, 0.0 if kind.is_float else 0)]
    total = 0
    for place in range(length):
        base = [constant_index(number(place if radices[0].constant != 1 else 0))] if radices else []
        digit = [constant_index(number(place if digits[0].constant != 1 else 0)), *map(axis_index, range(len(space)))]
        reads += [Read(radix, affine(space, base, radices)), Read(arg, affine(space, digit, digits))]
        body += [ReadNode(len(reads) - 2, kind), ReadNode(len(reads) - 1, kind)]
        first = len(body) - 2
        body += [ApplyNode("mul", (total, first), kind), ApplyNode("add", (first + 2, first + 1), kind)]
        total = len(body) - 1
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in space)
    made = Structured(phase.id, phase.span, axes, tuple(reads), tuple(body), (Result(result, total, None),))
    return Change({phase.id: (made,)})


def _is_of_one_kind(phase: LibraryPhase, scope: Scope) -> bool:
    return len({scope.types[value].element.kind for value in (*phase.args, *phase.results)}) == 1


def _is_made_for(value: ValueId, reader: LibraryPhase, scope: Scope) -> bool:
    """Is it a view, or arithmetic that one phase alone reads?"""
    maker = scope.makers.get(value)
    if not isinstance(maker, Structured) or has_reduction(maker) or value in scope.graph.roots:
        return False
    return is_view(maker) or (scope.readers(value) == [reader] and scope.is_beside(maker, reader))
