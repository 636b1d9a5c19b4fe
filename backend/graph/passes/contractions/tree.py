"""The order of products that multiplies least: every tree over at most `index_form.MOST` operands.

What two parts make has the indices that something else still needs; all others are summed where they last occur.  Of trees that
multiply as often the one whose parts take least memory is chosen.

Neighbours: `index_form` (regions), `regroup` (makes phases of a tree).
"""

from __future__ import annotations

from typing import TypeAlias

from .....lang.records import dataclass
from .index_form import Region

Part: TypeAlias = "int | tuple[Part, Part]"


@dataclass(frozen=True, slots=True)
class Tree:
    """`part`: an operand by its number, or two parts to multiply.  `cost`: multiplications, and items of what lies between."""

    part: Part
    cost: tuple[int, int]


def best_tree(region: Region) -> Tree:
    """See the module.  Sets of operands and of indices are numbers, one bit a member."""
    sets = [sum({1 << index for index in operand.indices}) for operand in region.operands]
    points = _Points(region)
    result = sum(1 << index for index in region.result)
    whole = (1 << len(sets)) - 1
    best: dict[int, tuple[int, int, int, int]] = {}  # multiplications, items between, indices, the first part of two (or none)
    wanted = [result] * (whole + 1)
    for members in range(whole + 1):
        for place, own in enumerate(sets):
            if not members >> place & 1:
                wanted[members] |= own
    for place, own in enumerate(sets):
        left = own & wanted[1 << place]
        summed = left != own
        best[1 << place] = (points.of(own) if summed else 0, points.of(left) if summed else 0, left, 0)
    for members in sorted(range(1, whole + 1), key=int.bit_count):
        if members not in best:
            best[members] = _best_split(members, best, wanted[members], points)
    cost, between, _, _ = best[whole]
    return Tree(_part(whole, best), (cost, between))


def _best_split(
    members: int, best: dict[int, tuple[int, int, int, int]], kept: int, points: _Points
) -> tuple[int, int, int, int]:
    """The cheapest two parts of some operands."""
    found: tuple[int, int, int, int] | None = None
    lowest = members & -members
    first = members
    while (first := (first - 1) & members) > 0:
        if not first & lowest:
            continue  # the other way round
        a, b = best[first], best[members ^ first]
        least = a[0] + b[0]
        if found is not None and least > found[0]:
            continue
        both = a[2] | b[2]
        cost, between = least + points.of(both), a[1] + b[1] + points.of(both & kept)
        if found is None or (cost, between) < found[:2]:
            found = (cost, between, both & kept, first)
    assert found is not None
    return found


def _part(members: int, best: dict[int, tuple[int, int, int, int]]) -> Part:
    first = best[members][3]
    if not first:
        return members.bit_length() - 1
    return _part(first, best), _part(members ^ first, best)


class _Points:
    """How many points a box of some indices has."""

    def __init__(self, region: Region) -> None:
        self.sizes, self.known = region.sizes, {0: 1}

    def of(self, indices: int) -> int:
        found = self.known.get(indices)
        if found is None:
            low = indices & -indices
            found = self.known[indices] = self.sizes[low.bit_length() - 1] * self.of(indices ^ low)
        return found
