"""Other measures than the makespan, as limits of the exact search: energy, load, machines, transfers, receivers.

A lexicographic search fixes what it has reached as a limit and bisects the next measure.  The measures of a schedule are
computed by `objectives` (given here as functions); here are the formulas that bound them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from ...answer import Schedule
from ...problem import Problem
from ...timeline.timing import Mode
from .encoding import Encoding
from .search import Search
from .solver import Steps, Verdict, negation


class Measure(Enum):
    """`LOAD`: ticks of the busiest device or channel.  `RECEIVERS`: devices that read what another made."""

    MAKESPAN = "makespan"
    ENERGY = "energy"  # picojoules
    LOAD = "load"
    MACHINES = "machines"
    TRANSFERS = "transfers"
    RECEIVERS = "receivers"


@dataclass(frozen=True, slots=True)
class Limit:
    """`of(schedule)` is at most `most`."""

    measure: Measure
    most: int
    of: Callable[[Schedule], int]


@dataclass(frozen=True, slots=True)
class Power:
    """Milliwatts × tick_ns by device; `always`: powered even if unused."""

    idle: tuple[int, ...]
    active: tuple[int, ...]
    always: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """The best schedule found, and a value below which the measure cannot go with the candidate modes."""

    schedule: Schedule | None
    lower: int
    aborted: bool = False


class Goals:
    """One search, asked about several measures."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], power: Power, steps: Steps) -> None:
        self.problem = problem
        self.power = power
        self.steps = steps
        self.search = Search(problem, modes, steps)
        self.horizon = self.search.horizon()
        if self.search.shape.timer.limits.deadline is not None:
            self.horizon = min(self.horizon, self.search.shape.timer.limits.deadline)

    def minimise(
        self, measure: Measure, of: Callable[[Schedule], int], limits: Sequence[Limit], schedule: Schedule, lower: int, share: int
    ) -> Reached:
        """The least value of the measure under the limits; `schedule` obeys them."""
        best, bottom = schedule, lower
        left = share
        while bottom < of(best):
            if left <= 0 or not self.steps.left:
                return Reached(best, bottom)
            target = bottom + (of(best) - 1 - bottom) // 2
            before = self.steps.left
            found = self.attempt([*limits, Limit(measure, target, of)], left)
            left -= before - self.steps.left
            if isinstance(found, Schedule):
                best = found
            elif found is Verdict.UNSAT:
                bottom = target + 1
            else:
                return Reached(best, bottom, found is Verdict.ABORTED)
        return Reached(best, bottom)

    def attempt(self, limits: Sequence[Limit], share: int) -> Schedule | Verdict:
        """A schedule that obeys all limits."""
        makespan = min([self.horizon, *(limit.most for limit in limits if limit.measure is Measure.MAKESPAN)])

        def more() -> None:
            for limit in limits:
                self._state(limit, makespan)

        return self.search.probe(
            makespan, share, more, lambda schedule: all(limit.of(schedule) <= limit.most for limit in limits)
        )

    def _state(self, limit: Limit, makespan: int) -> None:
        encoding, solver = self.search.encoding, self.search.solver
        match limit.measure:
            case Measure.MAKESPAN:
                pass  # the probe's own
            case Measure.MACHINES:
                encoding.machines(limit.most)
            case Measure.TRANSFERS:
                solver.at_most([(sent.present, 1) for sent in encoding.sendings.values()], limit.most)
            case Measure.RECEIVERS:
                solver.at_most([(literal, 1) for literal in self._receivers(encoding)], limit.most)
            case Measure.LOAD:
                for entries in (*self.search.cuts.devices.values(), *self.search.cuts.channels.values()):
                    solver.at_most([(literal, ticks) for literal, ticks, _, _ in entries], limit.most)
            case Measure.ENERGY:
                self._energy(limit.most, makespan)

    def _receivers(self, encoding: Encoding) -> list[str]:
        """One literal per device: something there reads what was made elsewhere."""
        shape = encoding.shape
        found: dict[int, str] = {}
        for edge in range(len(shape.problem.edges)):
            for (maker, target), guards in encoding.needed(edge).items():
                if maker != target:
                    literal = found.setdefault(target, encoding.solver.boolean(f"rcv{target}"))
                    for guard in guards:
                        encoding.solver.clause((*map(negation, guard), literal))
        return list(found.values())

    def _energy(self, most: int, makespan: int) -> None:
        """Idle power for as long as the schedule takes, more while devices work, and the links' share."""
        encoding, solver = self.search.encoding, self.search.solver
        shape = encoding.shape
        end = solver.integer("makespan")
        solver.add(f"(<= {end} {makespan})")
        for p in range(shape.count):
            for moment in encoding.ends(p):
                encoding.after_moment((), end, moment)
        terms: list[str] = []
        constant = 0
        for device, entries in self.search.cuts.devices.items():
            extra = self.power.active[device] - self.power.idle[device]
            for literal, ticks, _, _ in entries:
                if extra * ticks and literal == "true":
                    constant += extra * ticks
                elif extra * ticks:
                    terms.append(f"(ite {literal} {_number(extra * ticks)} 0)")
        for device, idle in enumerate(self.power.idle):
            if idle and (self.power.always[device] or encoding.used(device) == "true"):
                terms.append(f"(* {idle} {end})")
            elif idle and any(device in devices for devices in shape.devices):
                paid = solver.integer(f"idle{device}")
                solver.clause((negation(encoding.used(device)), f"(>= {paid} (* {idle} {end}))"))
                solver.add(f"(>= {paid} 0)")
                terms.append(paid)
        for sent in encoding.sendings.values():
            for route in sent.routes:
                if route.hop is not None:
                    cost = shape.problem.links[route.hop.link].nj_per_byte
                    sizes = encoding.sizes(sent.phase, [route.maker], sent.target)[route.maker] if not sent.partial else []
                    least = min((size for _, size in sizes), default=0)
                    if sent.partial:
                        combine = shape.problem.phases[sent.phase].combine
                        least = combine.bytes if combine is not None else 0
                    picojoules = int(cost * least * 1000)
                    if picojoules:
                        terms.append(f"(ite (and {sent.present} {route.here}) {picojoules} 0)")
        total = f"(+ {constant} {' '.join(terms)} 0)" if constant >= 0 else f"(+ (- {-constant}) {' '.join(terms)} 0)"
        solver.add(f"(<= {total} {_number(most)})")


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
