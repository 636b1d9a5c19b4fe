"""Axes: the search for the axis of each phase, and lower bounds over all of them.

A schedule is searched along few choices of axes: the one that moves the fewest bytes beside the shards' parts (`least_bytes`),
and those that follow from another axis of one phase.  They are compared by quick schedules; the best is planned.

Note [Any axis].  `without_axes` is a problem with one axis whose optimum is no worse along any axes.  A phase has as many rows as
are a multiple of those along each of its axes, and each shard takes the least ticks, scratch and combine of a shard with the same
proportion of rows; an edge needs the least of what it needs between any two axes.  So the shards of a schedule along any axes, at
the same ticks, are shards of that problem; their transfers carry no more, so they fit in the ticks of the schedule's transfers
(rounded to ticks for each chunk, which no bound of chunks counts).

Where an output is put together at home along some axes of a phase and stays with its shards along others, it is somewhere else in
the two; then it takes no memory, and its transfers no bytes, only latency, which is no longer without the way through home; if it
is for some devices, the edge is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, permutations, product
from math import lcm, prod
from typing import TYPE_CHECKING, Final, TypeAlias

from ....lang.support.records import replace
from ...devices.cost_functions import Ticks
from ..bounds.bound_strategies import MOST_ENERGY, best_bound, energetic_bound
from ..bounds.head_tail_bounds import BoundSet, Costs, is_applicable
from ..problem import Answer, AxisSpace, BoundCertificate, Combine, Edge, Objective, PhaseTask, Problem, Split, Status
from ..timeline.problem_index import Routes
from ..timeline.serial_sgs import ScheduleDecoder
from .portfolio import bound_is_confirmed, plan_objectives
from .strategy import DEFAULT, Budget, Planner, StrategyFailure, note_failure, tolerate_failures

if TYPE_CHECKING:
    from ..exact.z3_solver import SolverSteps

Chosen: TypeAlias = tuple[int, ...]

# ---------------------------------------------------------------------------------------------------- fewest bytes

COMBINE_BYTES: Final = 1 << 16
"""The cost of a combine beside its partial results, in bytes."""
MOST_CHOICES: Final = 4096
"""Choices of the axes of the neighbours of a phase up to which it is eliminated exactly."""

Table: TypeAlias = tuple[tuple[int, ...], dict[tuple[int, ...], int]]
"""Phases, and the least bytes by their axes."""


def bytes_beside(space: AxisSpace, edge: Mapping[tuple[int, int], Edge], source_axis: int, target_axis: int) -> int:
    """Bytes that the target's shards receive in addition to their own parts, along these axes: a full output, or halos."""
    one = edge[source_axis, target_axis]
    source, target = space.phases[one.source][source_axis], space.phases[one.target][target_axis]
    size = source.out_bytes if one.bytes is None else one.bytes
    if not target.rows:
        return 0
    return size if one.whole else one.halo * size // source.units


def _bytes_of(space: AxisSpace, phase: int, axis: int) -> int:
    """Bytes of a phase's partial results, plus the bytes that too few rows distribute unevenly."""
    task = space.phases[phase][axis]
    combined = 0 if task.combine is None else COMBINE_BYTES + task.combine.bytes
    return combined + (task.out_bytes // task.rows if task.rows else 0)


def least_bytes(space: AxisSpace, fixed: Mapping[int, int] | None = None) -> Chosen:
    """The axes that move the fewest bytes beside the shards' parts; of equals, those that come first.  `fixed`: given axes.

    Dynamic programming over the graph eliminates phases one by one, first those whose neighbours have the fewest joint choices; a
    phase with too many takes the axis with the least sum of costs, each neighbour at its best."""
    options = [[fixed[p]] if fixed is not None and p in fixed else [*range(len(one))] for p, one in enumerate(space.phases)]
    tables: list[Table] = [((p,), {(k,): _bytes_of(space, p, k) for k in ks}) for p, ks in enumerate(options)]
    for edge in space.edges:
        one = next(iter(edge.values()))
        p, q = int(one.source), int(one.target)
        tables.append(((p, q), {(i, j): bytes_beside(space, edge, i, j) for i in options[p] for j in options[q]}))
    eliminated: list[tuple[int, tuple[int, ...], dict[tuple[int, ...], int]]] = []
    around = [{p} for p in range(len(options))]
    for phases, _ in tables:
        for p in phases:
            around[p].update(phases)
    remaining = set(range(len(options)))
    while remaining:
        choices, p = min((1 if len(options[p]) == 1 else prod(len(options[q]) for q in around[p]), p) for p in remaining)
        joined, tables = [one for one in tables if p in one[0]], [one for one in tables if p not in one[0]]
        if choices > MOST_CHOICES:
            options[p] = [min(options[p], key=lambda k: (sum(_least(table, p, k) for table in joined), k))]
        near = tuple(sorted(around[p] - {p}))
        for q in near:
            around[q].discard(p)
        remaining.discard(p)
        if len(options[p]) == 1:
            tables += [(_without(phases, p), _given(table, phases, p, options[p][0])) for phases, table in joined]
            eliminated.append((p, (), {(): options[p][0]}))
            continue
        best, choice = {}, {}
        for axes in product(*(options[q] for q in near)):
            at = dict(zip(near, axes, strict=True))
            best[axes], choice[axes] = min(
                (sum(table[tuple(k if q == p else at[q] for q in phases)] for phases, table in joined), k) for k in options[p]
            )
        tables.append((near, best))
        for q in near:
            around[q].update(near)
        eliminated.append((p, near, choice))
    chosen = [0] * len(options)
    for p, near, choice in reversed(eliminated):
        chosen[p] = choice[tuple(chosen[q] for q in near)]
    return tuple(chosen)


def _least(table: Table, phase: int, axis: int) -> int:
    position = table[0].index(phase)
    return min(size for axes, size in table[1].items() if axes[position] == axis)


def _without(phases: tuple[int, ...], phase: int) -> tuple[int, ...]:
    return tuple(q for q in phases if q != phase)


def _given(table: Mapping[tuple[int, ...], int], phases: tuple[int, ...], phase: int, axis: int) -> dict[tuple[int, ...], int]:
    """The part of a cost table in which the phase has that axis."""
    position = phases.index(phase)
    return {axes[:position] + axes[position + 1 :]: size for axes, size in table.items() if axes[position] == axis}


# ---------------------------------------------------------------------------------------------------- any axis


class LeastTicks(Ticks):
    """The least ticks of a shard along any of several axes; a table whose rows are n times as long is read at r / n."""

    __slots__ = ("tables",)
    tables: tuple[tuple[int, Ticks], ...]

    def __init__(self, tables: Sequence[tuple[int, Ticks]], rows: int) -> None:
        object.__setattr__(self, "tables", tuple(tables))
        object.__setattr__(self, "points", tuple((size, self.at(size)) for size in sorted({1, rows})))

    @property
    def key(self) -> object:
        return tuple((n, table.key) for n, table in self.tables)

    def at(self, rows: int) -> int:
        return min(table.at(-(-rows // n)) for n, table in self.tables)

    def min_ticks(self, first: int, last: int) -> int:
        return min(table.min_ticks(max(1, first // n), -(-last // n)) for n, table in self.tables)

    def weak_min_ticks(self, first: int, last: int) -> int:
        return min(table.weak_min_ticks(max(1, first // n), -(-last // n)) for n, table in self.tables)

    def max_rows_within(self, time: int, rows: int) -> int:
        return min(rows, max(n * table.max_rows_within(time, -(-rows // n)) for n, table in self.tables))

    def rows_within(self, time: int, rows: int) -> int:
        return min(rows, max(n * table.rows_within(time, -(-rows // n)) for n, table in self.tables))

    def rate(self, rows: int) -> Fraction:
        return min(table.rate(-(-rows // n)) / n for n, table in self.tables)


def without_axes(problem: Problem) -> Problem:
    """A problem with one axis, whose bounds hold along all axes of `problem`.  See Note [Any axis]."""
    space = problem.axes
    if space is None or space.is_single:
        return problem.along(problem.chosen)
    moving = [len({task.is_gathered for task in options}) > 1 for options in space.phases]
    phases = tuple(_any_axis(options, moves) for options, moves in zip(space.phases, moving, strict=True))
    straight = _home_is_no_detour(problem) if any(moving) else True
    edges: list[Edge] = []
    for options in space.edges:
        one = next(iter(options.values()))
        sizes = [space.phases[one.source][source_axis].out_bytes if edge.bytes is None else edge.bytes
                 for (source_axis, _), edge in options.items()]  # fmt: skip
        if any(edge.only is not None for edge in options.values()) and len(space.phases[one.source]) > 1:
            continue
        if moving[one.source]:
            if straight:
                edges.append(replace(one, bytes=0, halo=0, whole=all(edge.whole for edge in options.values())))
            continue
        lined = [
            edge.halo * phases[one.source].units // space.phases[one.source][source_axis].units
            for (source_axis, _), edge in options.items() if not edge.whole
        ]  # fmt: skip
        edges.append(replace(one, bytes=min(sizes), halo=min(lined, default=0), whole=not lined))
    directives = (
        one for one in problem.directives if not (isinstance(one, Split) and len(space.phases[one.phase]) > 1)
    )  # fmt: skip
    return replace(problem, phases=phases, edges=tuple(edges), directives=tuple(directives), axes=None, chosen=())


def _any_axis(options: Sequence[PhaseTask], moves: bool) -> PhaseTask:
    first = options[0]
    if len(options) == 1:
        return first
    rows = lcm(*(task.rows for task in options))
    parts = [rows // task.rows for task in options]
    ticks: dict[str, Ticks] = {}
    for kind in dict.fromkeys(kind for task in options for kind in task.ticks):
        able = [(n, task.ticks[kind]) for n, task in zip(parts, options, strict=True) if kind in task.ticks]
        ticks[kind] = LeastTicks(list({(n, table.key): (n, table) for n, table in able}.values()), rows)
    combines = [task.combine for task in options if task.combine is not None]
    combine = None
    if not moves and combines:
        combine = Combine(min(one.ticks_per_shard for one in combines), min(one.bytes for one in combines))
    scratch, size = min(task.scratch for task in options), 0 if moves else min(task.out_bytes for task in options)
    free = Fraction(0)  # of two parts the smaller one may be packed, and the larger one sent as it lies
    return replace(first, ticks=ticks, rows=rows, combine=combine, scratch=scratch, out_bytes=size, packing=free)


def _home_is_no_detour(problem: Problem) -> bool:
    """Without bytes, is every link between two devices at most as slow as the detour through home?"""
    routes, home = Routes(problem), int(problem.home)
    for source, target in permutations(_unlike_devices(problem), 2):
        paths = [routes.path(*pair) for pair in ((source, target), (source, home), (home, target))]
        straight, *around = [None if path is None else sum(hop.latency for hop in path) for path in paths]
        if None not in around and (straight is None or straight > sum(ticks or 0 for ticks in around)):
            return False
    return True


def home_sends_in_turn(problem: Problem) -> bool:
    """Do some devices share the channel from home, and have a link of their own?"""
    routes, home = Routes(problem), int(problem.home)
    for source, target in permutations(_unlike_devices(problem), 2):
        paths = [routes.path(*pair) for pair in ((home, source), (home, target), (source, target))]
        first, second, between = (None if path is None or len(path) > 1 else path[0].channel for path in paths)
        if first is not None and first == second and between not in (None, first):
            return True
    return False


def _unlike_devices(problem: Problem) -> list[int]:
    """The devices but home that may have different links: two of each group, and those that links name."""
    home, names = int(problem.home), problem.device_names()
    ends = {end for link in problem.links for end in (link.source, link.target)}
    firsts = {name for group in problem.devices for name in tuple(islice(group.names(), 2))}
    return [device for device, name in enumerate(names) if device != home and name in firsts | ends]


# ---------------------------------------------------------------------------------------------------- bounds over all axes


def lower_bound(problem: Problem, value: int, budget: Budget) -> int:
    """A certified lower bound of the first objective along any axes, at most `value`, which a schedule of `problem` has."""
    objective = problem.objectives[0] if problem.objectives else Objective.LATENCY
    if objective is not Objective.LATENCY:
        return 0 if problem.chunks > 1 else min(value, plan_objectives(problem, budget).lower_bound)
    costs = Costs(ScheduleDecoder(problem))
    if not costs.is_plannable:
        return 0
    bounds = BoundSet(costs)
    ticks = best_bound(bounds).ticks
    if len(problem.phases) <= MOST_ENERGY:
        ticks = energetic_bound(bounds, ticks).ticks
    if ticks < value and problem.chunks == 1 and is_applicable(bounds, value):
        from ..bounds.lp_relaxation import LpRelaxation

        ticks = max(ticks, LpRelaxation(bounds, value).bound())
    return ticks


# ---------------------------------------------------------------------------------------------------- search

_SLOW: Final = (
    "paths", "lp-relaxation", "energetic", "fewer-devices", "activity-lists", "row-shifts", "annealing",
    "z3", "chunks", "slivers",
)  # fmt: skip
TRIAL: Final = Budget(0, 0, without=frozenset(_SLOW))
"""The budget of the schedules by which choices of axes are compared."""
MOST_TRIED: Final = 4
"""Choices of axes that are compared."""
CLOSE: Final = 128
"""Other axes are tried where they may gain more than 1/CLOSE of a quick schedule."""
MOST_CASES: Final = 8
"""Choices of axes that are refuted individually, at most."""
MOST_MOVED: Final = 8
"""Phases of which another axis is considered."""


def plan_axes(problem: Problem, budget: Budget = DEFAULT, plan: Planner = plan_objectives) -> Answer:
    """The best answer along some axes, with a bound over all axes.  See Note [Any axis]."""
    if problem.axes is None or problem.axes.is_single:
        return replace(plan(problem.along(problem.chosen), budget), axes=problem.chosen, every_axis=True)
    failures: list[StrategyFailure] = []
    chosen, known = problem.chosen, dict[int, int]()
    with tolerate_failures("axes", failures):
        chosen = _best_choice(problem, budget, plan, known)
    best = replace(plan(problem.along(chosen), budget), axes=chosen)
    with tolerate_failures("bound over all axes", failures):
        best = _bounded(problem, best, budget, plan, known, failures)
    return replace(best, failures=(*best.failures, *map(str, failures)))


def _best_choice(problem: Problem, budget: Budget, plan: Planner, known: dict[int, int]) -> Chosen:
    """The choice of axes with the best quick schedule; without any, that of the fewest bytes.

    Where a quick schedule along the fewest bytes is within 1/CLOSE of the bound over all axes, no others are tried.  `known`:
    where to note that bound, by the number of chunks."""
    first = plan(problem.along(problem.chosen), TRIAL)
    if first.schedule is not None and problem.objectives[:1] == (Objective.LATENCY,):
        value = first.values[0]
        known[first.chunks] = lower_bound(replace(without_axes(problem), chunks=first.chunks), value, budget)
        if CLOSE * (value - known[first.chunks]) <= value:
            return problem.chosen
    others = islice(dict.fromkeys(_choices(problem)), 1, MOST_TRIED)
    answers = [(problem.chosen, first), *((chosen, plan(problem.along(chosen), TRIAL)) for chosen in others)]
    return min(answers, key=lambda one: (one[1].schedule is None, one[1].values))[0]


def _choices(problem: Problem) -> Iterator[Chosen]:
    """The choice of the fewest bytes, and those with another axis of a phase where bytes move, the most bytes first."""
    space, chosen = problem.axes, problem.chosen
    assert space is not None
    yield chosen
    moved = [0 if task.combine is None else COMBINE_BYTES + task.combine.bytes for task in problem.phases]
    for edge, one in zip(space.edges, problem.edges, strict=True):
        size = bytes_beside(space, edge, chosen[one.source], chosen[one.target])
        moved[one.source] += size
        moved[one.target] += size
    for p in sorted((p for p, size in enumerate(moved) if size), key=lambda p: (-moved[p], p))[:MOST_MOVED]:
        yield from (least_bytes(space, {p: axis}) for axis in range(len(space.phases[p])) if axis != chosen[p])


def _bounded(
    problem: Problem, answer: Answer, budget: Budget, plan: Planner, known: Mapping[int, int], failures: list[StrategyFailure]
) -> Answer:  # fmt: skip
    """The answer with a bound, or a conflict, that holds along all axes; `known`: such bounds by the number of chunks."""
    anywhere = without_axes(problem)
    if answer.schedule is None:
        other = plan(anywhere, TRIAL)
        return replace(other, axes=answer.axes, every_axis=True) if other.status is Status.IMPOSSIBLE else answer
    if not answer.is_usable:
        return answer
    anywhere, value, method = replace(anywhere, chunks=answer.chunks), answer.values[0], "bound"
    bound = known[answer.chunks] if answer.chunks in known else lower_bound(anywhere, value, budget)
    if bound > value:
        note_failure(StrategyFailure("bound over all axes", f"a bound of {bound} for a plan of {value}"), failures)
        bound = 0
    stated = replace(problem, chunks=answer.chunks)
    if answer.status is Status.OPTIMAL and bound < value and _is_refuted(stated, value, budget):
        bound, method = value, answer.proof.method
    detail = answer.proof.detail
    if answer.lower_bound > bound and problem.objectives[:1] == (Objective.LATENCY,):
        detail = {**detail, "axes": answer.lower_bound}
    return replace(answer.bounded(BoundCertificate(method if bound else "none", bound, detail)), every_axis=True)


def _is_refuted(problem: Problem, value: int, budget: Budget) -> bool:
    """Is any schedule of less than `value` ticks, along any axes, refuted within the budget?"""
    if problem.objectives[:1] != (Objective.LATENCY,) or budget.steps == 0:
        return False
    return bound_holds_along_all(problem, value, budget.solver_steps())


def bound_holds_along_all(problem: Problem, bound: int, steps: SolverSteps) -> bool:
    """Does some strategy show, from the problem alone, that no schedule along any axes is shorter than `bound` ticks?

    Where the problem without axes does not show it, each of a few choices of axes is refuted by itself."""
    if bound_is_confirmed(without_axes(problem), bound, steps):
        return True
    cases = _cases(problem)
    return bool(cases) and all(bound_is_confirmed(without_axes(case), bound, steps) for case in cases)


def derived_along_all(problem: Problem, answer: Answer, steps: SolverSteps) -> bool:
    """Can the bound of an answer, over all axes, be derived from the problem?"""
    if problem.objectives and problem.objectives[0] is not Objective.LATENCY:
        return answer.lower_bound <= 0 or plan_objectives(without_axes(problem)).lower_bound >= answer.lower_bound
    return bound_holds_along_all(problem, answer.lower_bound, steps)


def _cases(problem: Problem) -> list[Problem]:
    """The problem with one axis of each phase that takes time, for each choice of these axes; empty if there are too many."""
    space = problem.axes
    if space is None:
        return []
    free = [
        p for p, options in enumerate(space.phases)
        if len(options) > 1 and any(table.at(options[0].units) for table in options[0].ticks.values())
    ]  # fmt: skip
    if prod(len(space.phases[p]) for p in free) not in range(2, MOST_CASES + 1):
        return []
    choices = product(*(range(len(space.phases[p])) for p in free))
    return [_restricted(problem, dict(zip(free, axes, strict=True))) for axes in choices]


def _restricted(problem: Problem, fixed: Mapping[int, int]) -> Problem:
    """The problem in which these phases have one axis."""
    space = problem.axes
    assert space is not None
    phases = tuple((options[fixed[p]],) if p in fixed else options for p, options in enumerate(space.phases))
    edges = tuple(
        {
            (0 if edge.source in fixed else i, 0 if edge.target in fixed else j): edge
            for (i, j), edge in options.items()
            if fixed.get(edge.source, i) == i and fixed.get(edge.target, j) == j
        }
        for options in space.edges
    )
    return replace(problem, axes=AxisSpace(phases, edges), chosen=(0,) * len(phases))
