"""What has been found so far about the reads of one value: their sum, where they are, and parts not yet put together.

Two takes or drops that share no major cell read different elements, so they join instead of adding up (types.md 4.2,
*partition*): `(k↑x)` and `k↓x` together read each element of x once.

Neighbours: `demand` (fills tallies), `reads` (`Part`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ...lang.records import dataclass
from ...lang.source import Span
from ..obligations import Relation
from ..sizes import ZERO, SizeVariable
from .grades import NONE, Grade
from .reads import Part, Setting

MOST_USES = 8  # kept for messages
_MOST_PARTS = 8


@dataclass(frozen=True, slots=True)
class Use:
    """A place that reads a value this often, and what multiplies the reads there ("" if nothing does)."""

    span: Span
    grade: Grade
    why: str = ""


@dataclass(slots=True)
class Tally:
    grade: Grade = NONE
    uses: list[Use] = field(default_factory=list)
    parts: list[tuple[Part, Span]] = field(default_factory=list)

    def add(self, use: Use) -> None:
        if not use.grade.is_zero:
            self.grade = self.grade.plus(use.grade)
            self.uses.append(use)
            del self.uses[MOST_USES:]

    def add_part(self, part: Part, span: Span) -> None:
        if not part.demand.is_zero:
            self.parts.append((part, span))

    def settle(self, setting: Setting) -> None:
        """Put the parts together: disjoint ones join, the others add up."""
        groups: list[list[tuple[Part, Span]]] = []
        for part, span in self.parts:
            home = next((g for g in groups if len(self.parts) <= _MOST_PARTS and _apart_from_all(part, g, setting)), None)
            if home is None:
                groups.append([(part, span)])
            else:
                home.append((part, span))
        self.parts = []
        for group in groups:
            covering = _covers([part for part, _ in group], setting)
            total: Grade | None = None
            for part, _ in group:
                total = part.demand if total is None else total.join(part.demand)
            assert total is not None
            grade = total if covering else total.at_most()
            self.grade = self.grade.plus(grade)
            self.uses += [Use(span, grade, "" if covering else "only a part of it") for _, span in group[:MOST_USES]]
            del self.uses[MOST_USES:]

    def times(self, count: Grade, why: str) -> Tally:
        """The same inside something that runs `count` times.  Parts are settled already."""
        uses = [Use(u.span, u.grade.times(count), f"{u.why}, {why}" if u.why else why) for u in self.uses]
        return Tally(self.grade.times(count), [use for use in uses if not use.grade.is_zero])

    def summed(self, index: SizeVariable, trips: Grade, why: str) -> Tally:
        """The same in a loop whose turns differ.  Parts are settled already."""
        uses = [Use(u.span, u.grade.summed(index, trips), f"{u.why}, {why}" if u.why else why) for u in self.uses]
        return Tally(self.grade.summed(index, trips), [use for use in uses if not use.grade.is_zero])

    def join(self, other: Tally, why: str) -> Tally:
        """Either this or the other, known only when run."""
        uses = [Use(u.span, u.grade.at_most(), u.why or why) for u in self.uses + other.uses]
        return Tally(self.grade.join(other.grade), uses[:MOST_USES])

    def include(self, other: Tally) -> None:
        """Both this and the other."""
        self.grade = self.grade.plus(other.grade)
        self.uses = (self.uses + other.uses)[:MOST_USES]


def _apart_from_all(part: Part, group: Sequence[tuple[Part, Span]], setting: Setting) -> bool:
    return all(
        setting.proved(Relation.AT_MOST, part.stop, other.start) or setting.proved(Relation.AT_MOST, other.stop, part.start)
        for other, _ in group
    )


def _covers(group: Sequence[Part], setting: Setting) -> bool:
    """Do the parts together take every element of the operand?"""
    if not all(part.whole for part in group):
        return False
    shape = group[0].shape
    if not shape:
        return True
    reached, rest = ZERO, list(group)
    while rest:
        following = next((p for p in rest if setting.proved(Relation.AT_MOST, p.start, reached)), None)
        if following is None:
            return False
        rest.remove(following)
        reached = following.stop
        if setting.proved(Relation.AT_MOST, shape[0], reached):
            return True
    return False
