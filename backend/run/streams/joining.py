"""Partial results joined as they come: a stack of subtrees of the order of sums.

Tiles begin at multiples of a power of two times the block, so each is one subtree; two neighbours of one size are joined at
once, and what is left in the end from the right.  That is the tree of `sums`, so the bits are those of the whole.

Neighbours: `run.shards` (`pair_of`, and the same for parts that come all together), `driver`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..shards import Pair


@dataclass(slots=True)
class Joined:
    """One result of a reduction, so far; `ordered`: its bits depend on the tree."""

    pair: Pair
    ordered: bool
    parts: list[tuple[int, Any]] = field(default_factory=list)
    """How many tiles each subtree holds, and its value."""

    def add(self, partial: Any) -> None:
        """The result of the next tile."""
        size = 1
        while self.parts and (not self.ordered or self.parts[-1][0] == size):
            count, left = self.parts.pop()
            partial, size = self.pair(left, partial), size + count
        self.parts.append((size, partial))

    def result(self) -> Any:
        """Of all tiles."""
        (_, made) = self.parts.pop()
        while self.parts:
            _, left = self.parts.pop()
            made = self.pair(left, made)
        return made


def pair_of_places(function: str) -> Pair:
    """Of two places with the items there (`schedule.streams.carries`, Note [Places]), the earlier first."""

    def pair(left: Any, right: Any) -> Any:
        import numpy

        first, second = left[1], right[1]
        beyond = second < first if function == "least_place" else second > first
        if second.dtype.kind == "f":
            beyond |= numpy.isnan(second) & ~numpy.isnan(first)
        return numpy.where(beyond, right[0], left[0]), numpy.where(beyond, second, first)

    return pair
