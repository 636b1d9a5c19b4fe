"""Bisection over the makespan: each probe asks whether a schedule of at most T ticks exists; a model is made exact, what it
overlooked is stated and asked again.

Invariants: `lower` was proved by refutations or given; `schedule` is checked by its own exact ticks; nothing depends on the clock
but being aborted.  `solve.proving` calls `refine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from ...answer import Schedule
from ...problem import Problem
from ...timeline.graph import Key
from ...timeline.memory import buffers, overflow
from ...timeline.timing import Mode
from .cuts import Cuts
from .encoding import Encoding
from .events import Events
from .heads import Heads
from .realise import Model, Realiser
from .shape import Shape
from .solver import Solver, Steps, Verdict, available

ROUNDS = 200
"""Times that one probe may be asked again with more stated."""


Trace: TypeAlias = Callable[[int, int, int, "Schedule | Verdict", int], None]
"""Told of every probe: bounds before it, the makespan asked, what was found, solver steps."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`schedule` is the best known (the given one if none better was found); no schedule with the given modes is shorter than
    `lower_bound`; `proved`: it is reached.  `aborted`: the clock stopped the search."""

    schedule: Schedule | None
    lower_bound: int
    proved: bool
    aborted: bool = False
    steps: int = 0


class Search:
    """One encoding, asked for several makespans."""

    def __init__(self, problem: Problem, modes: Sequence[Sequence[Mode]], steps: Steps) -> None:
        self.steps = steps
        self.shape = Shape(problem, modes)
        self.heads = Heads(self.shape)
        self.solver = Solver()
        self.encoding = Encoding(self.shape, self.heads, self.solver)
        self.encoding.build()
        self.cuts = Cuts(self.encoding)
        self.realiser = Realiser(self.encoding)
        self.events = Events(self.encoding)

    def horizon(self) -> int:
        """If there is any schedule, there is one of at most so many ticks: one step after the other."""
        shape = self.shape
        total = 0
        for p in range(shape.count):
            phase = shape.problem.phases[p]
            total += phase.ready + max((sum(piece.ticks for piece in pieces) for pieces in shape.pieces[p]), default=0)
            if phase.combine is not None:
                total += phase.combine.ticks_per_shard * max((len(mode) for mode in shape.modes[p]), default=0)
        for sent in self.encoding.sendings.values():
            total += max(
                (max(route.occupied.values(), default=0) + (route.hop.latency if route.hop else 0) for route in sent.routes),
                default=0,
            )
        total += sum(max(0, key) for key in shape.timer.keys)
        return total + sum(shape.timer.syncs) * (len(shape.problem.edges) + shape.count + 1)

    def probe(
        self, makespan: int, share: int, more: Callable[[], None] | None = None, accept: Callable[[Schedule], bool] | None = None
    ) -> Schedule | Verdict:
        """A schedule of at most `makespan` ticks, or why there is none; `more` states what else it must obey, and `accept`
        says whether a schedule does."""
        judge = accept or (lambda _: True)
        self.solver.push()
        learned: list[str] = []
        try:
            self.cuts.state(makespan)
            if more is not None:
                more()
            self.solver.kept = learned
            spent = self.steps.left
            for _ in range(ROUNDS):
                verdict = self.solver.check(self.steps, share - (spent - self.steps.left))
                if verdict is not Verdict.SAT:
                    return verdict
                numbers, true = self.solver.model()
                found = self._judge(self.realiser.model(numbers, true), makespan, judge)
                if found is not None:
                    return found
            return Verdict.UNKNOWN
        finally:
            self.solver.pop()
            self.solver.kept = None
            for formula in learned:
                self.solver.add(formula)

    def _judge(self, model: Model, makespan: int, accept: Callable[[Schedule], bool]) -> Schedule | Verdict | None:
        """The model's schedule if it holds; None if what it overlooked was stated (lazy constraints)."""
        graph = model.graph
        held = buffers(graph) if self.shape.timer.capped else []
        stated = False
        if graph.earliest(model.starts):
            shifted = graph.starts
            too_much = overflow(graph, shifted, held)
            schedule = graph.schedule()
            if schedule.makespan <= makespan and accept(schedule):
                if too_much is None:
                    return schedule
                stated |= self._relieve(too_much)
        stated |= self._state_flaws(model)
        too_much = overflow(graph, model.starts, held)
        if too_much is not None:
            stated = stated or self._relieve(too_much)
        elif not stated and graph.place(model.starts):
            schedule = graph.schedule()
            if schedule.makespan <= makespan and accept(schedule):
                return schedule
        return None if stated else Verdict.UNKNOWN

    def _relieve(self, too_much: tuple[int, tuple[Key, ...]]) -> bool:
        """State what is on the device when it is too full; False if that is stated already."""
        device, keys = too_much
        return any(self.events.state(device, key) for key in keys)

    def _state_flaws(self, model: Model) -> bool:
        """State what the model overlooked on channels; False if nothing new is found."""
        added = False
        by_resource: dict[tuple[object, ...], list[tuple[int, int, Key]]] = {}
        for key, sent in model.sent.items():
            node, start = model.graph.nodes[key], model.starts[key]
            if node.resource is not None:
                by_resource.setdefault(node.resource, []).append((start, start + node.ticks, key))
            added |= self.encoding.lengthen(sent, self._choices(model, node.phase), node.ticks)
        for entries in by_resource.values():
            for (a, b, one), (c, d, other) in combinations(sorted(entries), 2):
                if a < d and c < b:
                    added |= self.encoding.separate(model.sent[one], model.sent[other])
        return added

    def _choices(self, model: Model, p: int) -> tuple[str, ...]:
        """The literals of the modes that decide how long the transfers of `p` take."""
        phases = [p, *(int(self.shape.problem.edges[edge].target) for edge in self.shape.timer.outgoing[p])]
        literals = (self.encoding.mode_literals[q][model.chosen[q]] for q in dict.fromkeys(phases))
        return tuple(literal for literal in literals if literal != "true")


def refine(
    problem: Problem,
    modes: Sequence[Sequence[Mode]],
    upper: Schedule | None,
    lower: int,
    budget: Steps,
    trace: Trace | None = None,
) -> Outcome:
    """The best schedule with the candidate modes, between the bounds `lower` and that of `upper`."""
    best, top = upper, None if upper is None else upper.makespan
    given = budget.left
    if top is not None and lower > top:
        lower = 0  # a bound above a plan is no bound: whoever claims it is not believed
    if not available() or (top is not None and lower >= top):
        return Outcome(best, lower, top is not None and lower >= top)
    search = Search(problem, modes, budget)
    if not all(search.shape.modes) or not search.shape.order:
        return Outcome(best, lower, False)
    bottom = lower
    if top is None:
        top = search.horizon() + 1
        if bottom >= top:
            return Outcome(None, bottom, False)
    cheap = False
    turn = 0
    while bottom < top and not budget.late and budget.left:
        if cheap:
            turn += 1
            target = top - 1 if turn % 2 else bottom + (top - bottom) // 8
        else:
            target = bottom + (top - 1 - bottom) // 2
        before = budget.left
        found = search.probe(target, budget.left // 4 if not cheap else budget.left // 2)
        if trace is not None:
            trace(bottom, top, target, found, before - budget.left)
        if isinstance(found, Schedule):
            best, top = found, found.makespan
        elif found is Verdict.UNSAT:
            bottom = target + 1
        elif found is Verdict.ABORTED:
            return Outcome(best, bottom, False, True, given - budget.left)
        else:
            if cheap and turn > 8:
                break
            cheap = True
    return Outcome(best, min(bottom, top), best is not None and bottom >= top, budget.late, given - budget.left)
