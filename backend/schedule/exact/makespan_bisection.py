"""Bisection over the makespan: each probe asks the solver whether a schedule of at most T ticks exists; a model is decoded to
exact ticks, and constraints that it violates are asserted before the solver is asked again.

Invariants: `lower` is given or proved by refutations; `schedule` is checked by its exact ticks; the clock can only abort.  The
exact strategy of `search.portfolio` calls `refine`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from itertools import combinations
from typing import TypeAlias

from ....lang.support.records import dataclass
from ..problem import Mode, Objective, Problem, Schedule
from ..timeline.objective_values import exact_objective_value
from ..timeline.step_expansion import VIA_LINK
from ..timeline.step_graph import COMBINE, PARTIAL, SHARD, Key, StepGraph, StepNode, first_overflow, step_buffers
from .formulation import Formulation, ValidInequalities
from .memory_constraints import MemoryConstraints
from .variables import HeadsAndTails, ModeTable, OptionalTransfer
from .z3_solver import ProbeVerdict, Solver, SolverSteps, available, negation

# ---------------------------------------------------------------------------------------------------- schedule from a model
#
# Decoding a model: the modes and orders that it chose, as a step graph with the model's starts.
#
# The model's ticks may be too optimistic where the formulation omits lazy constraints; the graph shows which.

@dataclass(frozen=True, slots=True)
class DecodedModel:
    """A decoded model.  `chosen`: a mode by phase; `starts`: the model's; `sent`: the optional transfer of each transfer step."""

    chosen: list[int]
    graph: StepGraph
    starts: dict[Key, int]
    sent: dict[Key, OptionalTransfer]


class ModelDecoder:
    """Decodes models of one formulation to step graphs."""

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation
        self.shape = formulation.shape

    def decode(self, numbers: Mapping[str, int], true: frozenset[str]) -> DecodedModel:
        """The steps of the chosen modes, with the queue orders that directives imply for the model's starts."""
        shape = self.shape
        chosen = [
            next((k for k, literal in enumerate(literals) if literal == "true" or literal in true), 0)
            for literals in self.formulation.mode_literals
        ]
        modes = tuple(options[k] if options else () for options, k in zip(shape.modes, chosen, strict=True))
        graph = StepGraph(shape.decoder, shape.decoder.expand_modes(modes), shape.order)
        model = DecodedModel(chosen, graph, {}, {})
        for key, node in graph.nodes.items():
            model.starts[key] = self._start(model, key, node, numbers)
        self._directives(model)
        return model

    def _start(self, model: DecodedModel, key: Key, node: StepNode, numbers: Mapping[str, int]) -> int:
        """The model's start of a step; a transfer without a start variable starts when its producer ends."""
        formulation, p = self.formulation, node.phase
        if key[0] == SHARD:
            return numbers.get(formulation.start(p, node.device), 0)
        if key[0] == COMBINE:
            return numbers.get(f"c{p}", 0)
        maker = (SHARD, p, key[2]) if key[0] == PARTIAL else model.graph.producer(p, key[2])
        begin = model.starts[maker] + model.graph.nodes[maker].ticks
        scattered = key[2] if self.shape.scattered[p] else -1
        if key[0] != PARTIAL and key[4] != VIA_LINK:
            late = formulation.delayed.get((p, scattered, node.device, key[4]))
            return begin if late is None else max(begin, numbers.get(late.start, begin))
        sent = formulation.transfers.get((p, -2 - key[2], self.shape.home) if key[0] == PARTIAL else (p, scattered, node.device))
        if sent is None:
            return begin
        model.sent[key] = sent
        return numbers.get(sent.start, begin)

    def _directives(self, model: DecodedModel) -> None:
        """The queue orders that `issue_before` directives demand."""
        shape, graph, starts = self.shape, model.graph, model.starts
        constraints = shape.decoder.constraints

        def first_of(p: int) -> StepNode:
            return min(graph.shards(p), key=lambda node: (starts[node.key], node.rank))

        for q in range(shape.count):
            for p in constraints.issue_after[q]:
                for shard in graph.shards(q):
                    shard.after.append((first_of(p).key, 0))


# ---------------------------------------------------------------------------------------------------- bisection

ROUNDS = 200
"""Repetitions of a probe with additional constraints, at most."""


ProbeListener: TypeAlias = Callable[[int, int, int, "Schedule | ProbeVerdict", int], None]
"""A callback run after each probe: (lower bound, upper bound, makespan probed, outcome, solver steps)."""


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """`schedule` is the best known, initially the given one; no schedule with the given modes is shorter than `lower_bound`;
    `proved`: it is reached.  `aborted`: the clock stopped the search."""

    schedule: Schedule | None
    lower_bound: int
    proved: bool
    aborted: bool = False
    steps: int = 0


class MakespanSearch:
    """The exact search of one formulation, probed for several makespans."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], steps: SolverSteps) -> None:
        self.steps = steps
        self.shape = ModeTable(problem, modes)
        self.heads = HeadsAndTails(self.shape)
        self.solver = Solver()
        self.formulation = Formulation(self.shape, self.heads, self.solver)
        self.formulation.build()
        self.cuts = ValidInequalities(self.formulation)
        self.decoder = ModelDecoder(self.formulation)
        self.memory = MemoryConstraints(self.formulation)

    def horizon(self) -> int:
        """An upper bound of the least makespan if there is any schedule: the sum of all steps' ticks.

        A step of no length counts one tick: its buffers are live in its tick, so others may have to wait for it."""
        shape = self.shape
        total = 0
        for p in range(shape.count):
            phase = shape.problem.phases[p]
            total += phase.ready + max((sum(max(1, piece.ticks) for piece in pieces) for pieces in shape.pieces[p]), default=0)
            if phase.combine is not None:
                total += max(1, phase.combine.ticks_per_shard * max((len(mode) for mode in shape.modes[p]), default=0))
        for sent in self.formulation.transfers.values():
            total += max(
                (max(1, *route.occupied.values()) + (route.hop.latency if route.hop else 0) for route in sent.routes),
                default=0,
            )
        total += sum(max(0, key) for key in shape.decoder.edge_keys)
        return total + sum(shape.decoder.syncs) * (len(shape.problem.edges) + shape.count + 1)

    def probe(
        self, makespan: int, share: int, more: Callable[[], None] | None = None, accept: Callable[[Schedule], bool] | None = None
    ) -> Schedule | ProbeVerdict:
        """A schedule of at most `makespan` ticks, or the solver's verdict.

        `more` asserts further constraints, and `accept` tests whether a schedule obeys them."""
        judge = accept or (lambda _: True)
        self.solver.push()
        learned: list[str] = []
        try:
            self.cuts.add_inequalities(makespan)
            if more is not None:
                more()
            self.solver.recorded = learned
            spent = self.steps.remaining
            for _ in range(ROUNDS):
                verdict = self.solver.check(self.steps, share - (spent - self.steps.remaining))
                if verdict is not ProbeVerdict.SAT:
                    return verdict
                numbers, true = self.solver.model()
                schedule = self._check_model(self.decoder.decode(numbers, true), makespan, judge)
                if schedule is not None:
                    return schedule
            return ProbeVerdict.UNKNOWN
        finally:
            self.solver.pop()
            self.solver.recorded = None
            for formula in learned:
                self.solver.add(formula)

    def _check_model(
        self, model: DecodedModel, makespan: int, accept: Callable[[Schedule], bool]
    ) -> Schedule | ProbeVerdict | None:
        """The model's schedule if it is valid; None if violated lazy constraints were added."""
        graph = model.graph
        held = step_buffers(graph) if self.shape.decoder.has_memory_limits else []
        stated = False
        if graph.schedule_earliest(model.starts):
            shifted = graph.starts
            too_much = first_overflow(graph, shifted, held)
            schedule = graph.schedule()
            if schedule.makespan <= makespan and accept(schedule):
                if too_much is None:
                    return schedule
                stated |= self._add_memory_constraints(too_much)
        stated |= self._add_channel_constraints(model)
        too_much = first_overflow(graph, model.starts, held)
        if too_much is not None:
            stated = stated or self._add_memory_constraints(too_much)
        elif not stated and graph.set_starts(model.starts):
            schedule = graph.schedule()
            if schedule.makespan <= makespan and accept(schedule):
                return schedule
        return None if stated else ProbeVerdict.UNKNOWN

    def _add_memory_constraints(self, too_much: tuple[int, tuple[Key, ...]]) -> bool:
        """Add memory constraints at the event that exceeds the limit; False if they exist already."""
        device, keys = too_much
        return any(self.memory.add_memory_constraint(device, key) for key in keys)

    def _add_channel_constraints(self, model: DecodedModel) -> bool:
        """Add lazy channel constraints that the model violates; False if there are none."""
        added = False
        by_resource: dict[tuple[object, ...], list[tuple[int, int, Key]]] = {}
        for key, sent in model.sent.items():
            node, start = model.graph.nodes[key], model.starts[key]
            if node.resource is not None:
                by_resource.setdefault(node.resource, []).append((start, start + node.ticks, key))
            added |= self.formulation.add_duration(sent, self._choices(model, node.phase), node.ticks)
        for entries in by_resource.values():
            for (a, b, one), (c, d, other) in combinations(sorted(entries), 2):
                if a < d and c < b:
                    added |= self.formulation.add_disjunction(model.sent[one], model.sent[other])
        return added

    def _choices(self, model: DecodedModel, p: int) -> tuple[str, ...]:
        """The literals of the modes on which the ticks of transfers of `p` depend."""
        phases = [p, *(int(self.shape.problem.edges[edge].target) for edge in self.shape.decoder.outgoing[p])]
        literals = (self.formulation.mode_literals[q][model.chosen[q]] for q in dict.fromkeys(phases))
        return tuple(literal for literal in literals if literal != "true")


def refine(
    problem: Problem,
    modes: Sequence[Sequence[Mode]],
    upper: Schedule | None,
    lower: int,
    budget: SolverSteps,
    trace: ProbeListener | None = None,
) -> SearchOutcome:
    """The best schedule with the candidate modes, between the bounds `lower` and that of `upper`."""
    best, top = upper, None if upper is None else upper.makespan
    given = budget.remaining
    if top is not None and lower > top:
        lower = 0  # a bound above a feasible plan is wrong
    if not available() or (top is not None and lower >= top):
        return SearchOutcome(best, lower, top is not None and lower >= top)
    search = MakespanSearch(problem, modes, budget)
    if not all(search.shape.modes) or not search.shape.order:
        return SearchOutcome(best, lower, False)
    bottom = lower
    if top is None:
        top = search.horizon() + 1
        if bottom >= top:
            return SearchOutcome(None, bottom, False)
    cheap = False
    round_number = 0
    while bottom < top and not budget.is_expired and budget.remaining:
        if cheap:
            round_number += 1
            target = top - 1 if round_number % 2 else bottom + (top - bottom) // 8
        else:
            target = bottom + (top - 1 - bottom) // 2
        before = budget.remaining
        outcome = search.probe(target, budget.remaining // 4 if not cheap else budget.remaining // 2)
        if trace is not None:
            trace(bottom, top, target, outcome, before - budget.remaining)
        if isinstance(outcome, Schedule):
            best, top = outcome, outcome.makespan
        elif outcome is ProbeVerdict.UNSAT:
            bottom = target + 1
        elif outcome is ProbeVerdict.ABORTED:
            return SearchOutcome(best, bottom, False, True, given - budget.remaining)
        else:
            if cheap and round_number > 8:
                break
            cheap = True
    return SearchOutcome(best, min(bottom, top), best is not None and bottom >= top, budget.is_expired, given - budget.remaining)


# ---------------------------------------------------------------------------------------------------- objective limits
#
# Other measures than the makespan, as limits of the exact search: the objectives, transfers, receivers.
#
# A lexicographic search fixes each value that it reaches as a limit and bisects the next measure.

class TransferMeasure(Enum):
    """`RECEIVERS`: devices that read what another made; there are at least as many syncs."""

    TRANSFERS = "transfers"
    RECEIVERS = "receivers"


Measure: TypeAlias = Objective | TransferMeasure


def measured(problem: Problem, schedule: Schedule, measure: Measure) -> int:
    match measure:
        case TransferMeasure.TRANSFERS:
            return len(schedule.transfers)
        case TransferMeasure.RECEIVERS:
            return len({transfer.target for transfer in schedule.transfers})
        case Objective():
            return exact_objective_value(problem, schedule, measure)


@dataclass(frozen=True, slots=True)
class MeasureOutcome:
    """The best schedule found, and a certified lower bound of the measure over the candidate modes."""

    schedule: Schedule
    lower: int
    aborted: bool = False


class ObjectiveSearch:
    """One exact search, used to minimise several measures in turn."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], steps: SolverSteps) -> None:
        self.problem = problem
        self.steps = steps
        self.search = MakespanSearch(problem, modes, steps)
        self.horizon = self.search.horizon()
        if self.search.shape.decoder.constraints.deadline is not None:
            self.horizon = min(self.horizon, self.search.shape.decoder.constraints.deadline)

    def minimise(
        self,
        measure: Measure,
        limits: Sequence[tuple[Measure, int]],
        schedule: Schedule,
        lower: int,
        share: int,
    ) -> MeasureOutcome:
        """Minimises the measure under the limits by bisection between `lower` and its value for `schedule`, which obeys the
        limits."""
        best, bottom, least = schedule, lower, measured(self.problem, schedule, measure)
        left = share
        while bottom < least:
            if left <= 0 or not self.steps.remaining:
                return MeasureOutcome(best, bottom)
            target = bottom + (least - 1 - bottom) // 2
            before = self.steps.remaining
            outcome = self.find_schedule([*limits, (measure, target)], left)
            left -= before - self.steps.remaining
            if isinstance(outcome, Schedule):
                best, least = outcome, measured(self.problem, outcome, measure)
            elif outcome is ProbeVerdict.UNSAT:
                bottom = target + 1
            else:
                return MeasureOutcome(best, bottom, outcome is ProbeVerdict.ABORTED)
        return MeasureOutcome(best, bottom)

    def find_schedule(self, limits: Sequence[tuple[Measure, int]], share: int) -> Schedule | ProbeVerdict:
        """A schedule that obeys all limits, or the solver's verdict."""
        makespan = min([self.horizon, *(most for measure, most in limits if measure is Objective.LATENCY)])

        def more() -> None:
            for measure, most in limits:
                self._add_limit(measure, most, makespan)

        return self.search.probe(
            makespan, share, more, lambda schedule: all(measured(self.problem, schedule, one) <= most for one, most in limits)
        )

    def _add_limit(self, measure: Measure, most: int, makespan: int) -> None:
        formulation, solver = self.search.formulation, self.search.solver
        match measure:
            case Objective.LATENCY:
                pass  # the probe's makespan already limits it
            case Objective.MACHINES:
                formulation.limit_machines(most)
            case TransferMeasure.TRANSFERS:
                solver.at_most([(sent.present, 1) for sent in formulation.transfers.values()], most)
            case TransferMeasure.RECEIVERS | Objective.SYNCS:
                solver.at_most([(literal, 1) for literal in self._receivers(formulation)], most)
            case Objective.THROUGHPUT:
                for entries in (*self.search.cuts.devices.values(), *self.search.cuts.channels.values()):
                    solver.at_most([(literal, ticks) for literal, ticks, _, _ in entries], most)
            case Objective.ENERGY:
                self._energy(most, makespan)

    def _receivers(self, formulation: Formulation) -> list[str]:
        """One literal per device: some shard there reads an output of another device."""
        shape = formulation.shape
        literals: dict[int, str] = {}
        for edge in range(len(shape.problem.edges)):
            for (maker, target), guards in formulation.accesses(edge).items():
                if maker != target:
                    literal = literals.setdefault(target, formulation.solver.boolean(f"rcv{target}"))
                    for guard in guards:
                        formulation.solver.clause((*map(negation, guard), literal))
        return list(literals.values())

    def _energy(self, most: int, makespan: int) -> None:
        """Energy of at most `most`: idle power over the makespan, additional power while devices work, and the links' energy."""
        formulation, solver, problem = self.search.formulation, self.search.solver, self.problem
        shape = formulation.shape
        groups = [group for group in problem.devices for _ in range(group.count)]
        end = solver.integer("makespan")
        solver.add(f"(<= {end} {makespan})")
        for p in range(shape.count):
            for moment in formulation.ends(p):
                formulation.add_after((), end, moment)
        terms: list[str] = []
        constant = 0
        for device, entries in self.search.cuts.devices.items():
            extra = problem.tick_ns * (groups[device].active_mw - groups[device].idle_mw)
            for literal, ticks, _, _ in entries:
                if extra * ticks and literal == "true":
                    constant += extra * ticks
                elif extra * ticks:
                    terms.append(f"(ite {literal} {_number(extra * ticks)} 0)")
        for device, group in enumerate(groups):
            idle, always = problem.tick_ns * group.idle_mw, not problem.power_off_unused or device == problem.home
            if idle and (always or formulation.is_used(device) == "true"):
                terms.append(f"(* {idle} {end})")
            elif idle and any(device in devices for devices in shape.devices):
                paid = solver.integer(f"idle{device}")
                solver.clause((negation(formulation.is_used(device)), f"(>= {paid} (* {idle} {end}))"))
                solver.add(f"(>= {paid} 0)")
                terms.append(paid)
        for sent in formulation.transfers.values():
            for route in sent.routes:
                if route.hop is not None:
                    cost = shape.problem.links[route.hop.link].nj_per_byte
                    sizes = (
                        formulation.sizes(sent.phase, [route.producer], sent.target)[route.producer] if not sent.partial else []
                    )
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
