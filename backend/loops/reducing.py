"""Reductions: what their states are, how two of them are joined, what an empty one is, and what becomes of a state.

Neighbours: `orders` (sums), `threads` (cards), `lower.nests` and `lower.rows` (ask).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

from ...typechecker.elements import Kind
from ...typechecker.scalars import identity_of, is_ordered, neutral
from ..graph.phases import PLACES
from ..kernels.build import bits_of
from .builder import Builder, at


@dataclass(frozen=True, slots=True)
class Reduction:
    """By a function, of items of a kind.  A state is what items have come to; of a place (`PLACES`) it is the best item and where
    that is: of equal items the first is best, and a number is better than a NaN.

    `in_order`: is a state only joined with what lies behind it?"""

    function: str
    kind: Kind
    in_order: bool = True

    @property
    def is_ordered(self) -> bool:
        """Does it follow the order of sums?"""
        return is_ordered(self.function, self.kind)

    @property
    def finds_place(self) -> bool:
        return self.function in PLACES

    @property
    def counted(self) -> Kind:
        """What places are counted in: in order as wide as the items, so that both fill as many registers."""
        return Kind.I32 if self.in_order and self.kind.bytes < 8 else Kind.I64

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return (self.kind, self.counted) if self.finds_place else (self.kind,)

    @property
    def of_nothing(self) -> int:
        """The bits of what no item comes to."""
        identity = identity_of(self.function, self.kind)
        return self.of_no_item if identity is None else bits_of(self.kind, identity)

    @property
    def of_no_item(self) -> int:
        """The bits of an item that changes nothing."""
        if self.finds_place:
            least = self.function == "least_place"
            return bits_of(self.kind, nan if self.kind.is_float else neutral("min" if least else "max", self.kind))
        return bits_of(self.kind, neutral(self.function, self.kind))

    def entry(self, b: Builder) -> list[tuple[Kind, str, None]]:
        """What a loop carries at first."""
        bits = self.of_no_item, 0 if self.in_order else (1 << 63) - 1
        return [(kind, b.constant(kind, own), None) for kind, own in zip(self.kinds, bits, strict=False)]

    def of_item(self, b: Builder, item: str, place: str) -> list[str]:
        """The state of an item."""
        if not self.finds_place:
            return [item]
        return [item, place if self.counted is Kind.I64 else b.apply("convert", (place,), Kind.I64, self.counted)]

    def joined(self, b: Builder, left: Sequence[str], right: Sequence[str]) -> list[str]:
        if not self.finds_place:
            return [b.apply(self.function, (left[0], right[0]), self.kind, self.kind)]
        (best, place), (item, there) = left, right
        wins = self.is_better(b, item, best)
        if not self.in_order:
            is_worse, is_first = self.is_better(b, best, item), b.compare("lt", at(there), at(place))
            equals = b.apply("and", (_not(b, is_worse), is_first), Kind.BOOL, Kind.BOOL)
            wins = b.apply("or", (wins, equals), Kind.BOOL, Kind.BOOL)
        pairs = zip(self.kinds, right, left, strict=True)
        return [b.apply("select", (wins, new, old), kind, kind) for kind, new, old in pairs]

    def is_better(self, b: Builder, item: str, best: str) -> str:
        least = self.function == "least_place"
        if not self.kind.is_float:
            return b.apply("lt" if least else "gt", (item, best), self.kind, Kind.BOOL)
        loses = b.apply("ge" if least else "le", (item, best), self.kind, Kind.BOOL)  # the other may be NaN
        is_number = b.apply("eq", (item, item), self.kind, Kind.BOOL)
        return b.apply("and", (_not(b, loses), is_number), Kind.BOOL, Kind.BOOL)

    def result(self, b: Builder, state: Sequence[str]) -> str:
        last = state[-1]
        if not self.finds_place or self.counted is Kind.I64:
            return last
        return b.apply("convert", (last,), self.counted, Kind.I64)


def states(reductions: Sequence[Reduction], registers: Sequence[str]) -> Iterator[tuple[Reduction, Sequence[str]]]:
    """Each with its part of the registers of all."""
    first = 0
    for one in reductions:
        last = first + len(one.kinds)
        yield one, registers[first:last]
        first = last


def joined(b: Builder, reductions: Sequence[Reduction], left: Sequence[str], right: Sequence[str]) -> tuple[str, ...]:
    """The states of several, one after the other."""
    pairs = zip(states(reductions, left), states(reductions, right), strict=True)
    return tuple([register for (one, before), (_, after) in pairs for register in one.joined(b, before, after)])


def _not(b: Builder, truth: str) -> str:
    return b.apply("not", (truth,), Kind.BOOL, Kind.BOOL)
