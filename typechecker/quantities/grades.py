"""Grades: intervals `low..high` of natural numbers, both formulas in sizes; `high` may be ω (no bound).

Addition and multiplication are pointwise (0·ω is 0), `join` is the smallest interval that holds both, and a grade is
within another if its interval is.  A formula with more than 64 monomials is given up: its `low` becomes 0, its `high` ω.

Grades never mention sizes known only when run: those count from their least value to their cap.

Neighbours: `sizes` (formulas), `demand` (where grades come from).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...lang.diagnostics import Verdict
from ...lang.records import dataclass
from ..decide import settle
from ..obligations import Relation, SizeFact
from ..sizes import ONE, ZERO, Size, SizeVariable, as_size, capacity, least, maximum, minimum, monus
from ..turn_sums import at_most_summed, stand_in, summed, with_stand_ins, without_stand_ins

MOST_MONOMIALS = 64
_LONGEST_KEY = 4000  # of a formula whose monomials hold formulas


@dataclass(frozen=True, slots=True)
class Grade:
    """`low..high`; a `high` of None is ω."""

    low: Size
    high: Size | None

    @property
    def is_zero(self) -> bool:
        """Is nothing ever read?"""
        return self.high == ZERO

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    def plus(self, other: Grade) -> Grade:
        if self.is_zero:
            return other
        if other.is_zero:
            return self
        high = None if self.high is None or other.high is None else self.high + other.high
        return _capped(self.low + other.low, high)

    def times(self, other: Grade) -> Grade:
        if self.is_zero or other.is_zero:
            return NONE
        if self == ONCE:
            return other
        if other == ONCE:
            return self
        high = None if self.high is None or other.high is None else self.high * other.high
        return _capped(self.low * other.low, high)

    def join(self, other: Grade) -> Grade:
        """The smallest grade that holds both."""
        if self == other:
            return self
        high = None if self.high is None or other.high is None else maximum(self.high, other.high)
        return _capped(minimum(self.low, other.low), high)

    def at_most(self) -> Grade:
        """`0..high`: of a value of which only a part is read."""
        return Grade(ZERO, self.high)

    def delta(self) -> Grade:
        """The demand on the operands of a node that is demanded this often: it runs once, or never."""
        return NONE if self.is_zero else ONCE

    def within(self, other: Grade, premises: Sequence[SizeFact]) -> bool:
        """Is the interval proved to lie inside `other`'s?"""
        return _at_most(other.low, self.low, premises) and _at_most(self.high, other.high, premises)

    def holds(self, count: int, sizes: Mapping[SizeVariable, int]) -> bool:
        """Does a counted number of reads lie in the interval?"""
        return self.low.evaluate(sizes) <= count and (self.high is None or count <= self.high.evaluate(sizes))

    def of_any_turn(self) -> Grade:
        """The least and the most of all turns."""
        low, high = without_stand_ins(self.low), None if self.high is None else without_stand_ins(self.high)
        return self if (low, high) == (self.low, self.high) else Grade(maximum(ZERO, least(low)), high and capacity(high))

    def first_turn(self, index: SizeVariable) -> Grade:
        """In the first turn of a loop with an index."""
        first = {stand_in(index): ZERO}
        return Grade(self.low.substitute(first), None if self.high is None else self.high.substitute(first))

    def summed(self, index: SizeVariable, trips: Grade) -> Grade:
        """Over the turns of a loop with an index."""
        high = None if self.high is None or trips.high is None else at_most_summed(self.high, index, trips.high)
        low = summed(self.low, index, trips.low)
        return _capped(ZERO if low is None else low, high)

    def __str__(self) -> str:
        if self.high is None:
            return "ω" if self.low == ZERO else f"{self.low}..ω"
        return str(self.high) if self.is_exact else f"{self.low}..{self.high}"


def exactly(count: Size | int) -> Grade:
    """As often as a size says, which is never negative; a size known only when run counts from its least value to its cap, but
    the number of a loop's turn stands for itself until the loop sums over it."""
    size = with_stand_ins(as_size(count))
    if not size.is_runtime():
        return Grade(size, size)
    return Grade(maximum(ZERO, least(size)), maximum(ZERO, capacity(size)))


def up_to(count: Size | int) -> Grade:
    """Between never and this often."""
    return exactly(count).at_most()


def less_one(count: Size) -> Grade:
    """`count`∸1."""
    whole = exactly(count)
    assert whole.high is not None
    return Grade(monus(whole.low, 1), monus(whole.high, 1))


def _capped(low: Size, high: Size | None) -> Grade:
    return Grade(ZERO if _is_large(low) else low, None if high is None or _is_large(high) else high)


def _is_large(size: Size) -> bool:
    return len(size.terms) > MOST_MONOMIALS or len(size.key) > _LONGEST_KEY


def _at_most(small: Size | None, large: Size | None, premises: Sequence[SizeFact]) -> bool:
    if large is None:
        return True
    if small is None:
        return False
    if small in (large, ZERO):
        return True
    return settle(SizeFact(Relation.AT_MOST, small, large), premises) is Verdict.PROVED


NONE = Grade(ZERO, ZERO)
ONCE = Grade(ONE, ONE)
ANY = Grade(ZERO, None)
