"""Why a problem has no schedule: the fewest directives, capacities and data that contradict each other.

From cheap to dear: devices of single phases, orders (a graph), memory of single phases, bounds against limits, and at last
the solver.  There, every directive and capacity is a tracked assumption; a refutation names some of them, and deletion
makes the set minimal.  Without a proof there is no conflict: None says only that none was found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from .....lang.codes import Code
from ...answer import Conflict
from ...constraints import devices_named
from ...problem import Deadline, Directive, LimitMachines, LimitMemory, Problem
from ...timeline.orders import order_of
from ...timeline.timing import Timer
from ..bounds import Bounds
from ..chunking import chunked
from ..costs import Costs
from ..filling import bytes_text
from ..loads import best_bound
from ..modes import candidate_modes
from ..splitting import split
from .memory_conflict import memory_conflict, without_cuts
from .order_texts import order_hint
from .orders import order_conflict
from .placing import placing_conflict
from .search import Search
from .solver import Steps, Verdict, available

STEPS: Final = 20_000_000
MOST_PHASES: Final = 40
"""Phases up to which the solver is asked."""


def find_conflict(problem: Problem, steps: Steps | None = None) -> Conflict | None:
    """The fewest facts of `problem` that contradict each other, if that can be shown."""
    found = placing_conflict(problem)
    if found is not None:
        return found
    orders = order_conflict(problem)
    if orders is not None:
        directives = tuple(fact.directive for fact in orders if fact.directive is not None)
        words = tuple(fact.words for fact in orders if fact.directive is None)
        several = len({directive.line for directive in directives}) > 1
        return Conflict(Code.SCH102 if words and not several else Code.SCH101, directives, words, order_hint(problem, orders))
    found = memory_conflict(problem)
    if found is not None:
        return found
    found = limit_conflict(problem)
    if found is not None or not available() or len(problem.phases) > MOST_PHASES:
        return found
    cut = chunked(problem)
    if cut and any(task.rows > 1 and place not in cut for place, task in enumerate(problem.phases)):
        return None  # what directives cut starts part by part
    return _Deletion(without_cuts(problem, cut) if cut else problem, steps or Steps(STEPS)).conflict()


# ------------------------------------------------------------------------------ limits and bounds


def certified_bound(problem: Problem) -> int:
    """No schedule is shorter (0: nothing is known)."""
    timer = Timer(problem)
    costs = Costs(timer)
    if not problem.phases or not timer.limits.possible or order_of(timer.before) is None or not all(costs.allowed):
        return 0
    whole = None if chunked(problem) else split(costs)
    bound = best_bound(Bounds(costs)).ticks
    return bound if whole is None else max(bound, whole.lower_bound)


def limit_conflict(problem: Problem) -> Conflict | None:
    """SCH106: a bound of every schedule is above the deadline."""
    deadlines = [d for d in problem.directives if isinstance(d, Deadline)]
    if not deadlines:
        return None
    tightest = min(deadlines, key=lambda d: d.ticks)
    bound = certified_bound(problem)
    if bound <= tightest.ticks:
        return None
    return _deadline_conflict(problem, tightest, bound, certified_bound)


def _deadline_conflict(problem: Problem, deadline: Deadline, bound: int, certify: Callable[[Problem], int]) -> Conflict:
    """The directives without which the bound would not be above the deadline."""
    kept: list[Directive] = [d for d in problem.directives if not isinstance(d, Deadline)]
    for directive in list(kept):
        rest = tuple(d for d in kept if d is not directive)
        again = certify(replace(problem, directives=rest))
        if again > deadline.ticks:
            kept.remove(directive)
            bound = again
    words = f"no schedule is shorter than {bound} ticks"
    if any(isinstance(d, LimitMachines) for d in kept):
        words += " on so few machines"
    return Conflict(
        Code.SCH106,
        (*kept, deadline),
        (words,),
        f"the deadline is {deadline.ticks} ticks: {bound - deadline.ticks} ticks too few",
    )


# ----------------------------------------------------------------------------------------- solver


class _Deletion:
    """Subsets of the directives and capacities, each asked of the solver."""

    def __init__(self, problem: Problem, steps: Steps) -> None:
        self.problem = problem
        self.steps = steps

    def conflict(self) -> Conflict | None:
        directives = list(self.problem.directives)
        capped = [index for index, group in enumerate(self.problem.devices) if group.memory is not None]
        if not self.refuted(directives, capped):
            return None
        for directive in list(reversed(directives)):
            rest = [other for other in directives if other is not directive]
            if self.refuted(rest, capped):
                directives = rest
        for index in list(capped):
            others = [other for other in capped if other != index]
            if self.refuted(directives, others):
                capped = others
        return self._explain(directives, capped)

    def _with(self, directives: list[Directive], capped: list[int]) -> Problem:
        devices = tuple(
            group if index in capped else replace(group, memory=None) for index, group in enumerate(self.problem.devices)
        )
        return replace(self.problem, directives=tuple(directives), devices=devices)

    def refuted(self, directives: list[Directive], capped: list[int]) -> bool:
        """Whether the solver shows that there is no schedule at all."""
        return _refuted(self._with(directives, capped), self.steps)

    def _explain(self, directives: list[Directive], capped: list[int]) -> Conflict:
        problem = self.problem
        limits = [d for d in directives if isinstance(d, LimitMemory)]
        deadlines = [d for d in directives if isinstance(d, Deadline)]
        if deadlines:
            tightest = min(deadlines, key=lambda d: d.ticks)
            return Conflict(
                Code.SCH106, tuple(directives), (f"no schedule takes {tightest.ticks} ticks or fewer",), "give it more time"
            )
        if any(isinstance(d, LimitMachines) for d in directives):
            return Conflict(Code.SCH106, tuple(directives), ("no schedule uses so few machines",), "allow one more machine")
        if not limits and not capped:
            return Conflict(Code.SCH102 if problem.edges else Code.SCH101, tuple(directives), self._no_way(directives))
        facts: list[str] = []
        names = problem.device_names()
        for index in capped:
            group = problem.devices[index]
            facts.append(f"`{group.id}` has {bytes_text(group.memory or 0)}" + (" each" if group.count > 1 else ""))
        need = self._needed(directives, limits, capped)
        devices = sorted({d for limit in limits for d in devices_named(problem, limit.device)})
        if need is not None:
            have = limits[0].bytes if limits else problem.devices[capped[0]].memory or 0
            device = names[devices[0]] if limits else problem.devices[capped[0]].id
            facts = [
                f"every order needs {bytes_text(need)} on `{device}`",
                f"it has {bytes_text(have)}",
                f"short {bytes_text(need - have)}",
            ]
        return Conflict(Code.SCH103, tuple(directives), tuple(facts))

    def _no_way(self, directives: list[Directive]) -> tuple[str, ...]:
        if not self.problem.links:
            return ()
        timer = Timer(self._with(directives, []))
        costs = Costs(timer)
        for edge in self.problem.edges:
            ends = [(a, b) for a in costs.allowed[edge.source] for b in costs.allowed[edge.target]]
            if 0 < len(ends) <= MOST_PHASES**2 and all(a != b and timer.routes.path(a, b) is None for a, b in ends):
                source, target = self.problem.phases[edge.source].id, self.problem.phases[edge.target].id
                return (f"`{target}` needs `{source}`", "no link brings it there, nor two through home")
        return ("no link brings the data where it is wanted",)

    def _needed(self, directives: list[Directive], limits: list[LimitMemory], capped: list[int]) -> int | None:
        """The least memory of the one device in the conflict with which there is a schedule."""
        if len(limits) + len(capped) != 1:
            return None

        def problem_with(size: int) -> Problem:
            if limits:
                return self._with([replace(d, bytes=size) if d is limits[0] else d for d in directives], capped)
            base = self._with(directives, capped)
            devices = tuple(replace(g, memory=size) if i == capped[0] else g for i, g in enumerate(base.devices))
            return replace(base, devices=devices)

        low = limits[0].bytes if limits else self.problem.devices[capped[0]].memory or 0
        high = sum(phase.out_bytes + phase.scratch for phase in self.problem.phases) * 2 + self.problem.memory_grain * 64
        while low + 1 < high:
            middle = (low + high) // 2
            if _refuted(problem_with(middle), self.steps):
                low = middle
            elif not self.steps.left:
                return None
            else:
                high = middle
        return high


def _refuted(problem: Problem, steps: Steps) -> bool:
    """The solver shows that there is no schedule; False also where it cannot tell."""
    timer = Timer(problem)
    if not timer.limits.possible:
        return True
    costs = Costs(timer)
    if not all(costs.allowed):
        return True
    if order_of(timer.before) is None:
        return True
    modes = candidate_modes(costs)
    if not modes.complete:
        return False
    search = Search(problem, modes.choices, steps)
    deadline = timer.limits.deadline
    horizon = deadline if deadline is not None else search.horizon()
    return search.probe(horizon, steps.left) is Verdict.UNSAT
