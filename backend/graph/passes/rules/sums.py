"""Products with a vector and numbers of a few digits, as the sums that they are, where their operand is made for them alone, and
digits as arithmetic.

A library phase wants its operand as an array.  A sum reads through the views and takes in the arithmetic that make it: windows
(`(k↕x)+.×v`, `2⊥⍉3↕x`) are not made, nor are digits that are added up.

Note [Exact quotients].  ⌊x÷w⌋ for w = 2ˢ × an odd m: with r = x modulo w, m times the quotient is ⌊x÷2ˢ⌋-⌊r÷2ˢ⌋, and a product
with the inverse of m modulo 2⁶⁴ leaves the quotient.  Nothing on the way rounds, and what wraps comes back.

Neighbours: `graph.sums_of_products`, `table` (the rules), `reference.reductions` (the definitions).
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Final

from .....typechecker.elements import Kind
from .....typechecker.sizes import number
from .....typechecker.types import ArrayType
from ...phases import (
    ApplyNode,
    Axis,
    AxisKind,
    Constant,
    ConstantNode,
    LibraryPhase,
    Node,
    Read,
    ReadNode,
    Result,
    Structured,
    ValueId,
)
from ...projections import IDENTITY, affine, axis_index, constant_index
from ...steps import KnownValues
from ...sums_of_products import sum_of_products
from ...traverse import all_phases
from ..rewriting import has_reduction, is_view
from .patterns import Match
from .rule import Change, Scope

_MOST_DIGITS: Final = 16


def is_sum_of_products(match: Match, scope: Scope) -> Change | None:
    """A matrix by a vector, a vector by a matrix, two vectors."""
    phase, left, right = match.root, match["left"], match["right"]
    shapes, kind = (scope.types[left].shape, scope.types[right].shape), scope.types[phase.results[0]].element.kind
    rank = max(map(len, shapes))
    larger = [value for value, shape in zip((left, right), shapes, strict=True) if len(shape) == rank]
    if 1 not in map(len, shapes) or not _is_of_one_kind(phase, scope):
        return None
    if not any(_is_made_for(value, phase, scope) for value in larger):
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
    if not all(counts) or length > _MOST_DIGITS or kind.is_complex:
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


def are_digits(match: Match, scope: Scope) -> Change | None:
    """Each digit by itself, stacked; of i64 in radices that are written."""
    phase, arg, radices = match.root, match["arg"], _numbers(match["radix"], scope)
    kind, rank = scope.types[arg].element.kind, len(scope.types[match["radix"]].shape)
    if kind is not Kind.I64 or not _is_of_one_kind(phase, scope) or rank != 1 or not 0 < len(radices) <= _MOST_DIGITS:
        return None
    if min(radices[1:], default=1) < 1 or radices[0] < 0 or prod(radices[1:]) >= 1 << 62:
        return None
    type, digits, made = scope.types[phase.results[0]], list[Structured](), list[ValueId]()
    cell = ArrayType(type.element, type.shape[1:])
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in cell.shape)
    for place, radix in enumerate(radices):
        body: list[Node] = [ReadNode(0, Kind.I64)]
        digit = _residue(body, radix, _quotient(body, 0, prod(radices[place + 1 :])))
        made.append(scope.value())
        result = Result(made[-1], digit, None)
        digits.append(Structured(scope.phase(), phase.span, axes, (Read(arg, IDENTITY),), tuple(body), (result,)))
    stack = LibraryPhase(phase.id, phase.span, "stack", tuple(made), phase.results, {"axis": 0}, (), ())
    return Change({phase.id: (*digits, stack)}, dict.fromkeys(made, cell))


def _numbers(value: ValueId, scope: Scope) -> list[int]:
    """The integers of a vector, if they are known."""
    maker, known = scope.makers.get(value), KnownValues(all_phases(scope.graph), scope.types)
    if isinstance(maker, Constant):
        return [int(item) for item in maker.data if isinstance(item, int)]
    steps, (count, *_) = known.steps.get(value), (*(size.constant for size in scope.types[value].shape), None)
    first = None if steps is None else steps.constant.constant
    return [] if steps is None or count is None or first is None else [first + steps.coefficients[0] * i for i in range(count)]


def _applied(body: list[Node], function: str, *args: int) -> int:
    body.append(ApplyNode(function, args, Kind.I64))
    return len(body) - 1


def _written(body: list[Node], value: int) -> int:
    body.append(ConstantNode(Kind.I64, value))
    return len(body) - 1


def _residue(body: list[Node], modulus: int, item: int) -> int:
    return _applied(body, "residue", _written(body, modulus), item) if modulus else item


def _quotient(body: list[Node], item: int, weight: int) -> int:
    """See Note [Exact quotients]."""
    if weight == 1:
        return item
    shift = (weight & -weight).bit_length() - 1
    odd, places = weight >> shift, _written(body, shift)
    whole = _applied(body, "shr", places, item)
    if odd == 1:
        return whole
    rest = _applied(body, "shr", places, _residue(body, weight, item))
    inverse = pow(odd, -1, 1 << 64)
    return _applied(body, "mul", _applied(body, "sub", whole, rest), _written(body, inverse - (inverse >> 63 << 64)))


def _is_of_one_kind(phase: LibraryPhase, scope: Scope) -> bool:
    return len({scope.types[value].element.kind for value in (*phase.args, *phase.results)}) == 1


def _is_made_for(value: ValueId, reader: LibraryPhase, scope: Scope) -> bool:
    """Is it a view, or arithmetic that one phase alone reads?"""
    maker = scope.makers.get(value)
    if not isinstance(maker, Structured) or has_reduction(maker) or value in scope.graph.roots:
        return False
    return is_view(maker) or (scope.readers(value) == [reader] and scope.is_beside(maker, reader))
