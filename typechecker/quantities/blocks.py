"""How often the blocks of lifted functions, folds, loops and branches read what is around them: the same rules for the core
(`demand`) and for the phase graph (`backend.graph.passes.quantities`).

A walk goes backwards.  When it meets what makes a value, all reads of that value are known.  Grades of values inside a block
count the reads of one run of the block; a value that a block captures is read once each time the block runs.

Neighbours: `tally` (sums of reads), `grades`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeAlias, TypeVar

from ...lang.records import dataclass
from ...lang.source import Span
from ..obligations import Relation
from ..sizes import ONE, ZERO, Size, SizeVariable, minimum, number, product
from .grades import NONE, ONCE, Grade, exactly, less_one
from .reads import Setting
from .tally import Tally, Use

Value = TypeVar("Value", bound=int)
Body = TypeVar("Body")
Free: TypeAlias = dict[Value, Tally]


@dataclass(frozen=True, slots=True)
class Turns(Generic[Value]):
    """How a loop runs, and what its body's parameters are: a cell of each of `cells`, then the state."""

    trip: Size
    index: SizeVariable | None
    cells: Sequence[Value]
    initial: Sequence[Value]
    keep: bool


class Walk(ABC, Generic[Value, Body]):
    """Backwards over blocks whose ops the subclass knows."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.grades: dict[Value, Grade] = {}
        self.uses: dict[Value, tuple[Use, ...]] = {}

    @abstractmethod
    def ops(self, body: Body, tallies: Free[Value], *, live: bool) -> None:
        """The ops of a block, from last to first."""

    @abstractmethod
    def param_values(self, body: Body) -> tuple[Value, ...]:
        """The parameters of a block."""

    @abstractmethod
    def result_uses(self, body: Body, demands: Sequence[Grade]) -> list[tuple[Value, Use]]:
        """The results of a block, read as often as `demands` say."""

    def finish(self, value: Value, tallies: Free[Value]) -> Grade:
        """All reads of a value are known: keep its grade."""
        tally = tallies.pop(value, None)
        if tally is None:
            self.grades[value] = NONE
            return NONE
        tally.settle(self.setting)
        self.grades[value] = tally.grade.of_any_turn()
        self.uses[value] = tuple(sorted(tally.uses, key=lambda use: (use.span.file, use.span.start)))
        return tally.grade

    def block(self, body: Body, demands: Sequence[Grade], *, live: bool) -> tuple[list[Grade], Free[Value]]:
        """The grades of the parameters, and the reads of outer values."""
        tallies: Free[Value] = {}
        for value, use in self.result_uses(body, demands):
            tallies.setdefault(value, Tally()).add(use)
        self.ops(body, tallies, live=live)
        params = [self.finish(param, tallies) for param in self.param_values(body)]
        for tally in tallies.values():
            tally.settle(self.setting)
        return params, tallies

    def lift(self, body: Body, args: Sequence[Value], frames: Sequence[int], frame: Sequence[Size], span: Span,
             demands: Sequence[Grade], tallies: Free[Value], *, runs: bool) -> None:  # fmt: skip
        """A function that runs once a point of `frame`."""
        params, free = self.block(body, [demand.delta() for demand in demands], live=runs)
        if not runs:
            return
        whole = " ".join(str(size) for size in frame)
        for arg, length, grade in zip(args, frames, params, strict=True):
            times = product(frame[length:])
            own = " ".join(str(size) for size in frame[:length])
            why = "" if times == ONE else f"the function is lifted over ⟨{whole}⟩; this supplies only ⟨{own}⟩"
            tallies.setdefault(arg, Tally()).add(Use(span, grade.times(exactly(times)), why))
        count = product(frame)
        capture(free, exactly(count), f"captured by a function that runs {count} times", tallies)

    def fold(self, body: Body, args: Sequence[Value], length: Size, span: Span, tallies: Free[Value], *, scan: bool, runs: bool
             ) -> None:  # fmt: skip
        """A fold or scan over `length` cells."""
        params, free = self.block(body, [ONCE if runs else NONE] * len(args), live=runs)
        if not runs:
            return
        several = self.setting.proved(Relation.AT_MOST, number(2), length)
        single = self.setting.proved(Relation.AT_MOST, length, ONE)
        half = len(args)
        for i, arg in enumerate(args):
            grade = ONCE  # of one item there is only its copy
            if not scan and not single:
                grade = params[i].join(params[half + i])
                grade = grade if several else grade.join(ONCE)
            elif scan and not single:
                grade = ONCE.join(params[half + i])
            tallies.setdefault(arg, Tally()).add(Use(span, grade))
        times = less_one(length)
        capture(free, times, f"captured by a function that runs {times} times", tallies)

    def loop(self, body: Body, until: Body | None, turns: Turns[Value], span: Span, tallies: Free[Value], *, runs: bool) -> None:
        """A loop, which may end early and whose turns may have a number."""
        params, free = self.block(body, [ONCE if runs else NONE] * len(turns.initial), live=runs)
        if until is not None:
            tested, outer = self.block(until, [ONCE if runs else NONE], live=runs)
            count = len(turns.cells)
            params[count:] = [a.plus(b) for a, b in zip(params[count:], tested[len(turns.initial) :], strict=True)]
            for value, tally in outer.items():
                free.setdefault(value, Tally()).include(tally)
        if not runs:
            return
        trips = exactly(turns.trip)
        if until is not None:
            trips = Grade(minimum(trips.low, ONE), trips.high)
        for value, grade in zip(turns.cells, params, strict=False):
            each = grade if until is None else Grade(ZERO, grade.high)
            tallies.setdefault(value, Tally()).add(Use(span, each))
        for value, grade in zip(turns.initial, params[len(turns.cells) :], strict=True):
            first = grade if turns.index is None else grade.first_turn(turns.index)
            if turns.keep or trips.high == ZERO:
                first = ONCE  # a copy into the states
            elif not self.setting.proved(Relation.AT_MOST, ONE, trips.low):
                first = grade.join(ONCE)
            tallies.setdefault(value, Tally()).add(Use(span, first))
        if turns.index is None:
            capture(free, trips, f"in a loop of {turns.trip}", tallies)
            return
        for value, tally in free.items():
            tallies.setdefault(value, Tally()).include(tally.summed(turns.index, trips, f"in a loop of {turns.trip}"))

    def branch(self, then: Body, otherwise: Body, condition: Value, span: Span, demands: Sequence[Grade], tallies: Free[Value],
               *, runs: bool) -> None:  # fmt: skip
        """Two arms of which one runs."""
        taken = self.block(then, demands, live=runs)[1]
        other = self.block(otherwise, demands, live=runs)[1]
        if not runs:
            return
        tallies.setdefault(condition, Tally()).add(Use(span, ONCE))
        for value in taken | other:
            why = "only if the condition holds" if value not in other else ""
            if value not in taken:
                why = "only if the condition does not hold"
            tallies.setdefault(value, Tally()).include(taken.get(value, Tally()).join(other.get(value, Tally()), why))


def capture(free: Free[Value], times: Grade, why: str, tallies: Free[Value]) -> None:
    """Outer values that a block reads each time it runs."""
    for value, tally in free.items():
        tallies.setdefault(value, Tally()).include(tally.times(times, why))
