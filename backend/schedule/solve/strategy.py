"""What a strategy is, and what it works on.

Note [Strategies].  A strategy offers schedules (upper bounds) and raises the lower bound of a `Context`; the planner folds over
a list of them from cheap to dear and stops when the bounds meet.  `refutes` shows by the same means, from the problem alone,
that no schedule is shorter than a bound; `--prove` folds over these.  Nothing but `Context` goes from one strategy to the next,
so each may be left out (`Budget.without`): the answer is then weaker, never wrong.  One that raises is noted and left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..answer import Answer, Conflict
from ..problem import Problem
from ..timeline.levels import FOREVER
from ..timeline.timing import Timer
from .bounds import Bounds
from .budget import Budget
from .costs import Costs
from .found import Found
from .heuristics import Candidate
from .modes import Modes, candidate_modes

if TYPE_CHECKING:
    from .smt.solver import Steps

MOST_EXACT = 24
"""Phases of a graph that the exact search is asked about as a whole."""
MOST_DEVICES = 64
"""Devices up to which every one of them is looked at by the search."""


@dataclass(slots=True)
class Context:
    """A problem under way.  `compared`: the baselines; `candidates`: decisions worth starting a search from, those without a
    schedule among them; `guided`: the one whose cuts are those of the LP relaxation; `plan_other`: plans another problem, by all
    strategies."""

    problem: Problem
    budget: Budget
    timer: Timer
    costs: Costs
    found: Found = field(default_factory=Found)
    compared: tuple[Candidate, ...] = ()
    candidates: list[Candidate] = field(default_factory=list)
    guided: Candidate | None = None
    conflict: Conflict | None = None
    plan_other: Callable[[Problem, Budget], Answer] | None = None
    _bounds: Bounds | None = None
    _modes: Modes | None = None

    @property
    def bounds(self) -> Bounds:
        """Bounds of the problem, made when first asked for; from then on layouts stop early by them."""
        if self._bounds is None:
            self._bounds = Bounds(self.costs)
            self.timer.tails = [min(tails.values()) for tails in self._bounds.tails]
        return self._bounds

    @property
    def modes(self) -> Modes:
        if self._modes is None:
            self._modes = candidate_modes(self.costs)
        return self._modes

    @property
    def few_devices(self) -> bool:
        return len(self.timer.kinds) <= MOST_DEVICES

    @property
    def is_large(self) -> bool:
        """Too large for the exact search as a whole."""
        return len(self.problem.phases) > MOST_EXACT or not self.few_devices

    @property
    def has_together(self) -> bool:
        """Bounds over cuts and the solver know nothing of phases that devices run together."""
        return any(task.together is not None for task in self.problem.phases)

    def consider(self, candidate: Candidate) -> None:
        """One more start of a search."""
        self.candidates.append(candidate)
        self.found.offer(candidate.schedule)

    def ranked(self) -> list[Candidate]:
        """Starts, the shortest first and those that do not fit last."""
        return sorted(self.candidates, key=lambda one: FOREVER if one.ticks is None else one.ticks)


def always(_: Context) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Strategy:
    """See Note [Strategies].  `applies` is cheap; `first`: it runs though the bounds have met (all answers name the baselines,
    and a certificate is a better reason than a bound).  `refutes(context, bound, steps)`: no schedule is shorter than `bound`.
    `of_chunks`: it knows of chunks, so that its bounds hold of schedules that have them; all others' are of whole shards."""

    name: str
    doc: str
    run: Callable[[Context], None]
    applies: Callable[[Context], bool] = always
    refutes: Callable[[Context, int, Steps], bool] | None = None
    first: bool = False
    of_chunks: bool = False
