"""Scans of vectors: a vector is joined with itself moved by 1, 2, 4, … lanes, and with what is before it.

Only one step a vector waits for the vector before: what is before it, in all lanes, joined with its total.

Neighbours: `printer` (asks, for reductions of VECTOR loops whose value is used).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....typechecker.scalars import neutral
from ...kernels.scalar_text import combine
from ...kernels.vectors import COMPUTED, Vectors
from ...kernels.writer import Writer
from ..ir import Carried


@dataclass(slots=True)
class Prefix:
    """The lanes of a reduction whose value at each item is used."""

    w: Writer
    carried: Carried
    lanes: int
    after: str = ""
    """What is before the next vector, in all lanes."""

    def everywhere(self, one: str) -> str:
        """A `<1 x T>` in all lanes."""
        return self.shuffled(f"<1 x {COMPUTED[self.carried.kind]}>", one, [0] * self.lanes)

    def first(self, value: str) -> str:
        """The first lane."""
        return self.shuffled(self.v.type(self.carried.kind), value, [0])

    def up_to(self, before: str, items: str, present: str) -> str:
        """All up to each item, of those in the lanes of a mask (all, if it is empty).  `before`: what comes first."""
        v, kind, lanes = self.v, self.carried.kind, self.lanes
        nothing, step = v.constant(kind, neutral(self.carried.reduction or "", kind)), 1
        if present:
            items = v.choose(kind, present, items, nothing)
        while step < lanes:
            places = [lane - step if lane >= step else lanes + lane for lane in range(lanes)]
            items = self.joined(self.shuffled(v.type(kind), items, places, nothing), items)
            step *= 2
        total = self.shuffled(v.type(kind), items, [lanes - 1] * lanes)
        self.after = self.joined(before, total)
        return self.joined(before, items)

    @property
    def v(self) -> Vectors:
        return Vectors(self.w, self.lanes)

    def joined(self, left: str, right: str) -> str:
        return combine(self.v, self.carried.reduction or "", self.carried.kind, left, right)

    def shuffled(self, type: str, value: str, places: Sequence[int], other: str = "poison") -> str:
        order = ", ".join(f"i32 {place}" for place in places)
        return self.w.let(f"shufflevector {type} {value}, {type} {other}, <{len(places)} x i32> <{order}>")
