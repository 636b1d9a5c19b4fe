"""The search driver: strategies, their budget and context, the incumbent, and the loop that runs them (`run_strategies`).

Note [Strategies].  A strategy offers schedules (upper bounds) and raises the lower bound of a `SearchContext`; `run_strategies`
runs them from cheap to expensive and stops when the bounds meet.  `refutes` shows by the same means, from the problem alone, that
no schedule is shorter than a bound, for `--prove`.  Strategies share only the context, so each may be omitted
(`Budget.without`): the answer is then weaker, never wrong.  A strategy that raises is noted and omitted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, TypeAlias

from ....lang.diagnostics.model import RhoError
from ....lang.support.records import dataclass, field, replace
from ..bounds.head_tail_bounds import BoundSet, Costs
from ..problem import Answer, Conflict, Objective, Problem, Schedule
from ..timeline.objective_values import exact_objective_value
from ..timeline.serial_sgs import FOREVER, ScheduleDecoder
from ..verify.schedule_checks import verify_schedule
from .list_scheduling import PlacementCandidate, within_limits
from .mode_enumeration import Modes, candidate_modes

if TYPE_CHECKING:
    from ..exact.z3_solver import SolverSteps


# ---------------------------------------------------------------------------------------------------- budget
#
# The work that a planner may do, in counts instead of seconds, so that the same problem gives the same plan on any machine.

MOST_STEPS: Final = 1 << 50
"""Solver steps of a budget without a limit."""
DEFAULT_SECONDS: Final = 5
"""Seconds that the default budget takes on a usual machine."""


@dataclass(frozen=True, slots=True)
class Budget:
    """`moves` of annealing for a problem of up to 16 phases (larger ones get fewer), `steps` of the solver (0: no solver; None:
    no limit) and a watchdog in seconds that can only abort.  `without`: names of strategies that are left out."""

    moves: int
    steps: int | None
    seconds: float | None = None
    without: frozenset[str] = frozenset()

    def for_seconds(self, seconds: float) -> Budget:
        """A budget that takes about `seconds` seconds on the machine on which the default one takes `DEFAULT_SECONDS`."""
        times = seconds / DEFAULT_SECONDS
        steps = None if self.steps is None else max(1, int(self.steps * times))
        watchdog = None if self.seconds is None else max(self.seconds, 4 * seconds)
        return replace(self, moves=max(1, int(self.moves * times)), steps=steps, seconds=watchdog)

    def solver_steps(self) -> SolverSteps:
        """The steps of one question to the solver, from now on."""
        from ..exact.z3_solver import SolverSteps

        until = None if self.seconds is None else time.monotonic() + self.seconds
        return SolverSteps(MOST_STEPS if self.steps is None else self.steps, until)


FAST: Final = Budget(400, 0)
DEFAULT: Final = Budget(4000, 20_000_000, 60.0)
PROVE: Final = Budget(20_000, None)

Planner: TypeAlias = "Callable[[Problem, Budget], Answer]"
"""Plans a problem within a budget: what searches over axes, forms of branches and distributed loops compare answers of."""


# ---------------------------------------------------------------------------------------------------- incumbent
#
# The best schedule and the best bound so far, the reason of the bound, and the failures on the way.
#
# Note [Stages].  A planner is a list of stages, each of which may improve the schedule or raise the bound, and none may lose what
# others have reached: a stage that raises, or whose schedule the verifier rejects, is omitted (`Incumbent.stage`) and noted, and
# the best verified schedule before it stands.  A bound above a verified schedule is wrong: it is withdrawn, and the answer is a
# gap.  With RHO_STAGES=strict, as in tests, a failure is raised.

Listener: TypeAlias = "Callable[[Incumbent], None]"

LISTENER: ContextVar[Listener | None] = ContextVar("listener", default=None)
"""A callback run after each better schedule and each higher bound (a progress line); set in the thread that plans."""


@dataclass(frozen=True, slots=True)
class StrategyFailure:
    """A stage that was omitted, and the reason; `error` is the exception that it raised, if any."""

    stage: str
    why: str
    error: Exception | None = None

    def __str__(self) -> str:
        return f"{self.stage}: {self.why}"


class StageFailed(AssertionError):
    """Raised in strict mode where a stage fails."""


def first_violation(problem: Problem, schedule: Schedule) -> str | None:
    """The first violation that the verifier reports for a schedule, as text; None if it is valid."""
    return next((f"{one.code.name}: {one.message}" for one in verify_schedule(problem, schedule)), None)


@contextmanager
def tolerate_failures(stage: str, failures: list[StrategyFailure]) -> Iterator[None]:
    """Note an exception of the block and continue, unless it is an error for users.  See Note [Stages]."""
    try:
        yield
    except (RhoError, StageFailed):
        raise
    except Exception as error:
        note_failure(StrategyFailure(stage, f"{type(error).__name__}: {error}", error), failures)


def note_failure(failure: StrategyFailure, failures: list[StrategyFailure]) -> None:
    """Note that a stage is omitted; raises StageFailed in strict mode."""
    if os.environ.get("RHO_STAGES") == "strict":
        raise StageFailed(str(failure)) from failure.error
    failures.append(failure)


SearchKey: TypeAlias = Callable[[Schedule], tuple[int, ...] | None]
"""Compares schedules: the value to minimise, and what decides between equals; None of a schedule that is not allowed."""


def makespan_key(schedule: Schedule) -> tuple[int, ...] | None:
    return (schedule.makespan,)


def objective_key(costs: Costs, objective: Objective, optima: tuple[tuple[Objective, int], ...]) -> SearchKey:
    """The key of schedules within the limits that keep these optima of earlier objectives; without any, shorter ones of equals
    are better."""
    problem, constraints = costs.decoder.problem, costs.decoder.constraints

    def key(schedule: Schedule) -> tuple[int, ...] | None:
        if not within_limits(constraints, schedule):
            return None
        if any(exact_objective_value(problem, schedule, other) > most for other, most in optima):
            return None
        value = exact_objective_value(problem, schedule, objective)
        return (value,) if optima else (value, schedule.makespan)

    return key


@dataclass(slots=True)
class Incumbent:
    """`bound`, of the first number of `key`, holds by `method` ("none" as long as it is 0) with `detail` as in `Proof`;
    `aborted`: the clock cut the search short, so another run might find another plan."""

    schedule: Schedule | None = None
    bound: int = 0
    method: str = "none"
    detail: dict[str, int] | None = None
    aborted: bool = False
    failures: list[StrategyFailure] = field(default_factory=list)
    objective: Objective = Objective.LATENCY
    key: SearchKey = makespan_key

    @property
    def value(self) -> int:
        """What is minimised, of the best schedule."""
        key = None if self.schedule is None else self.key(self.schedule)
        return FOREVER if key is None else key[0]

    @contextmanager
    def stage(self, name: str, problem: Problem) -> Iterator[None]:
        """Run the block as a stage.  See Note [Stages]."""
        schedule, bound = self.schedule, (self.bound, self.method, self.detail)
        with tolerate_failures(name, self.failures):
            yield
        if self.schedule is not None and self.schedule is not schedule:
            wrong = first_violation(problem, self.schedule)
            if wrong is not None:
                self.schedule = schedule
                note_failure(StrategyFailure(name, f"its plan is not valid: {wrong}"), self.failures)
        value = self.value
        if self.schedule is not None and self.bound > value:
            wrong = f"a lower bound of {self.bound} ({self.method}) for a plan of {value}"
            self.bound, self.method, self.detail = bound if bound[0] <= value else (0, "none", None)
            note_failure(StrategyFailure(name, wrong), self.failures)

    def offer(self, schedule: Schedule | None) -> None:
        """Keep the better schedule; of equals the earlier."""
        key = None if schedule is None else self.key(schedule)
        if key is not None and (self.schedule is None or key < (self.key(self.schedule) or (FOREVER,))):
            self.schedule = schedule
            self._notify()

    def raise_bound(self, ticks: int, method: str, detail: dict[str, int] | None = None) -> None:
        """Keep the bound, with its method, if it is the first or higher than the one before."""
        if ticks > self.bound or self.method == "none":
            self.bound, self.method, self.detail = max(ticks, self.bound), method, detail
            self._notify()

    def _notify(self) -> None:
        listener = LISTENER.get()
        if listener is not None and self.objective is Objective.LATENCY:
            listener(self)

    @property
    def is_closed(self) -> bool:
        return self.schedule is not None and self.value <= self.bound


# ---------------------------------------------------------------------------------------------------- strategy

MOST_EXACT = 24
"""Phases up to which the exact search takes the problem as a whole."""
MOST_DEVICES = 64
"""Devices up to which the search considers each of them."""


@dataclass(slots=True)
class SearchContext:
    """The state that strategies share.  `optima`: of objectives before the incumbent's, to be kept; `candidates`: decisions to
    start searches from, infeasible ones among them; `lp_rounded`: the candidate whose cuts are those of the LP relaxation;
    `shortest`: a lower bound of the makespan for searches of other objectives, and its method;
    `solve_subproblem`: plans another problem by all strategies."""

    problem: Problem
    budget: Budget
    decoder: ScheduleDecoder
    costs: Costs
    optima: list[tuple[Objective, int]] = field(default_factory=list)
    incumbent: Incumbent = field(default_factory=Incumbent)
    baselines: tuple[PlacementCandidate, ...] = ()
    candidates: list[PlacementCandidate] = field(default_factory=list)
    lp_rounded: PlacementCandidate | None = None
    conflict: Conflict | None = None
    shortest: int = 0
    shortest_by: str = "none"
    solve_subproblem: Callable[[Problem, Budget], Answer] | None = None
    _bounds: BoundSet | None = None
    _modes: Modes | None = None

    @property
    def bounds(self) -> BoundSet:
        """Bounds of the problem, computed on first use; once they exist, decoding uses them to stop early."""
        if self._bounds is None:
            self._bounds = BoundSet(self.costs)
            self.decoder.tails = [min(tails.values()) for tails in self._bounds.tails]
        return self._bounds

    @property
    def modes(self) -> Modes:
        if self._modes is None:
            self._modes = candidate_modes(self.costs)
        return self._modes

    @property
    def few_devices(self) -> bool:
        return len(self.decoder.kinds) <= MOST_DEVICES

    @property
    def is_large(self) -> bool:
        """Is the problem too large for the exact search as a whole?"""
        return len(self.problem.phases) > MOST_EXACT or not self.few_devices

    @property
    def minimises_makespan(self) -> bool:
        """Is the makespan the first objective, so that no optima of others have to be kept?"""
        return self.incumbent.objective is Objective.LATENCY and not self.optima

    @property
    def has_distributed_phases(self) -> bool:
        """Does the problem have distributed phases?  Bounds over cuts and the solver do not support them."""
        return any(task.distributed is not None for task in self.problem.phases)

    def aim(self, objective: Objective) -> None:
        """Minimise this objective from now on, beginning with the best schedule so far and no bound."""
        incumbent = self.incumbent
        incumbent.objective, incumbent.key = objective, objective_key(self.costs, objective, tuple(self.optima))
        incumbent.bound, incumbent.method, incumbent.detail = 0, "none", None

    def consider(self, candidate: PlacementCandidate) -> None:
        """Add a start of searches, and offer its schedule to the incumbent."""
        self.candidates.append(candidate)
        self.incumbent.offer(candidate.schedule)

    def ranked(self) -> list[PlacementCandidate]:
        """The starts, the shortest first and infeasible ones last."""
        return sorted(self.candidates, key=lambda one: FOREVER if one.ticks is None else one.ticks)


def always(_: SearchContext) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Strategy:
    """A named strategy with its functions.  See Note [Strategies].  `applies`: a cheap test; `always_runs`: also when the bounds
    have met (all answers name the baselines, and a certificate is a better reason than a bound).  `refutes(context, bound,
    steps)`: it shows that no schedule is shorter than `bound`.  `supports_chunks`: its bounds hold for schedules with chunks too,
    those of others only for whole shards.  `makespan`, `others`: it serves the makespan as the first objective; all others."""

    name: str
    doc: str
    run: Callable[[SearchContext], None]
    applies: Callable[[SearchContext], bool] = always
    refutes: Callable[[SearchContext, int, SolverSteps], bool] | None = None
    always_runs: bool = False
    supports_chunks: bool = False
    makespan: bool = True
    others: bool = False

    def serves(self, context: SearchContext) -> bool:
        return self.makespan if context.minimises_makespan else self.others


def run_strategies(context: SearchContext, strategies: Sequence[Strategy]) -> None:
    """Run strategies until the bounds meet or a conflict is known; where chunks are allowed, those that support them."""
    incumbent, in_chunks = context.incumbent, context.problem.chunks > 1
    for strategy in strategies:
        if (
            strategy.name in context.budget.without
            or not strategy.serves(context)
            or (incumbent.is_closed and not strategy.always_runs)
            or (in_chunks and not strategy.supports_chunks)
        ):
            continue
        with incumbent.stage(strategy.name, context.problem):
            if strategy.applies(context):
                strategy.run(context)
        if context.conflict is not None:
            break
