"""The order of products that multiplies least: every tree over at most `index_form.MOST` operands.

What two parts make has the indices that something else still needs; all others are summed where they last occur.  Of trees that
multiply as often the one whose parts take least memory is chosen.

Neighbours: `index_form` (regions), `regroup` (makes phases of a tree).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import prod
from typing import TypeAlias

from .....lang.records import dataclass
from .index_form import Index, Region

Part: TypeAlias = "int | tuple[Part, Part]"


@dataclass(frozen=True, slots=True)
class Tree:
    """`part`: an operand by its number, or two parts to multiply.  `cost`: multiplications, and items of what lies between."""

    part: Part
    indices: frozenset[Index]
    cost: tuple[int, int]


def best_tree(region: Region) -> Tree:
    """See the module."""
    sets = [frozenset(operand.indices) for operand in region.operands]
    count = len(sets)
    best: dict[int, Tree] = {}
    for place, own in enumerate(sets):
        left = own & _wanted(sets, 1 << place, region.result)
        summed = _points(own, region) if left != own else 0
        best[1 << place] = Tree(place, left, (summed, _points(left, region) if summed else 0))
    for members in sorted(range(1, 1 << count), key=int.bit_count):
        if members in best:
            continue
        kept = _wanted(sets, members, region.result)
        found: Tree | None = None
        first = (members - 1) & members
        while first:
            second = members & ~first
            if first > second:
                a, b = best[first], best[second]
                both = a.indices | b.indices
                made = both & kept
                cost = (a.cost[0] + b.cost[0] + _points(both, region), a.cost[1] + b.cost[1] + _points(made, region))
                if found is None or cost < found.cost:
                    order = (b.part, a.part) if _first(b.part) < _first(a.part) else (a.part, b.part)
                    found = Tree(order, made, cost)
            first = (first - 1) & members
        assert found is not None
        best[members] = found
    return best[(1 << count) - 1]


def _first(part: Part) -> int:
    while not isinstance(part, int):
        part = part[0]
    return part


def _wanted(sets: Sequence[frozenset[Index]], members: int, result: Collection[Index]) -> frozenset[Index]:
    """The indices that something outside still needs."""
    others = [own for place, own in enumerate(sets) if not members >> place & 1]
    return frozenset(result).union(*others)


def _points(indices: Collection[Index], region: Region) -> int:
    return prod(region.sizes[index] for index in indices)
