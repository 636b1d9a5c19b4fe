"""Lower bounds from work and energy, and the strategies that raise the bound without a solver: the split of a single phase,
critical paths and loads, and the LP relaxation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import exp
from typing import TYPE_CHECKING, Final

from ..problem import Decisions, DeviceIndex, InsertionPolicy, Objective, Problem
from ..search.list_scheduling import best_timing, within_limits
from ..search.strategy import MOST_DEVICES, SearchContext, Strategy
from ..timeline.serial_sgs import FOREVER, ScheduleDecoder
from .head_tail_bounds import Bound, BoundSet, Costs, bisect_min, is_applicable
from .single_phase_split import split_single_phase

if TYPE_CHECKING:
    from ..exact.z3_solver import SolverSteps


# ---------------------------------------------------------------------------------------------------- workload bounds
#
# Lower bounds from work: the work that must be done in an interval against the capacity of the devices in it.
#
# * load: the phases with heads of at least a and tails of at least b.  Their distribution over unequal devices is a linear
#   program, in which a class of devices has the part of T between the earliest head and the least tail there.  Any weights w >= 0
#   of the classes give a bound by duality: the sum over phases of the min over classes of w times ticks is at most the sum of w
#   times the time of the classes.  Weights are computed in floating point and rounded to integers, so that the bound holds
#   exactly;
# * energetic reasoning: for every interval, the least part of each phase that lies in it, against all devices together.

SCALE: Final = 1 << 24
MOST_WINDOWS: Final = 24
MOST_HEADS: Final = 1024
"""Classes times phases up to which windows also begin at the earliest start on each class."""
ROUNDS: Final = 60
WEIGHT_ROUNDS: Final = 3
CLOSED_CLASS_WEIGHT: Final = 1 << 20
"""The weight, relative to all others, of a class that has no time in a window."""


def best_bound(bounds: BoundSet) -> Bound:
    """The best of all bounds except `energetic_bound`, which takes longer."""
    return max((bounds.path, load_bound(bounds), bounds.links()), key=lambda bound: bound.ticks)


def load_bound(bounds: BoundSet) -> Bound:
    """The load bound of the best window."""
    order = bounds.order
    tail = [min(bounds.tail_with_combine(p, c) for c in bounds.tails[p]) for p in range(len(order))]
    work, number_of = work_by_class(bounds), class_sizes(bounds)
    number = min(sum(number_of), bounds.decoder.constraints.machines or sum(number_of))
    best, seen = 0, set[tuple[int, ...]]()
    count = max(3, min(MOST_WINDOWS, 1500 // len(order)))
    for head in _heads(bounds):
        for a in _evenly_chosen(head, count):
            late = [p for p in order if head[p] >= a]
            for b in _evenly_chosen([tail[p] for p in late], count):
                chosen = [p for p in late if tail[p] >= b]
                first = min(min(bounds.heads[p].values()) for p in chosen)
                if (phases := tuple(chosen)) not in seen:
                    seen.add(phases)
                    best = max(best, _Window(bounds, chosen, work, number_of).bound(best))
                best = max(best, first + b + -(-sum(min(work[p].values()) for p in chosen) // (SCALE * number)))
    return Bound(best, "load")


def _heads(bounds: BoundSet) -> list[tuple[int, ...]]:
    """The lower ends of windows: each phase's head on any class and, for few phases, also its head on each class."""
    first = [min(heads.values()) for heads in bounds.heads]
    kinds = range(len(bounds.costs.members)) if len(bounds.costs.members) * len(first) <= MOST_HEADS else ()
    on_each = (tuple(heads.get(c, least) for heads, least in zip(bounds.heads, first, strict=True)) for c in kinds)
    return list(dict.fromkeys((tuple(first), *on_each)))


def min_max_load(bounds: BoundSet) -> int:
    """A lower bound of the ticks of the busiest device."""
    return _Window(bounds, bounds.order, work_by_class(bounds), class_sizes(bounds), whenever=True).bound(0)


def work_by_class(bounds: BoundSet) -> list[dict[int, int]]:
    """By phase and class: SCALE times the least ticks of work."""
    return [{c: _work_on(bounds, p, c) for c in bounds.costs.allowed_classes[p]} for p in range(len(bounds.order))]


def class_sizes(bounds: BoundSet) -> list[int]:
    """The number of devices of each class that may work."""
    machines = bounds.decoder.constraints.machines
    return [len(members) if machines is None else min(len(members), machines) for members in bounds.costs.members]


def _work_on(bounds: BoundSet, phase: int, kind: int) -> int:
    """SCALE times the least ticks of all of a phase on a class; a shard takes at least the same proportion of them."""
    task = bounds.phases[phase]
    if bounds.undivided[phase]:
        return bounds.ticks_on(phase, kind) * SCALE
    rate = task.ticks[bounds.decoder.kinds[bounds.costs.members[kind][0]]].rate(task.rows)
    return SCALE * task.rows * rate.numerator // rate.denominator


class _Window:
    """A set of phases that must lie in a window of time, and per class the ticks of T that the window excludes: before the heads
    and after the tails of these phases."""

    def __init__(
        self,
        bounds: BoundSet,
        chosen: Sequence[int],
        work: Sequence[dict[int, int]],
        sizes: Sequence[int],
        *,
        whenever: bool = False,
    ) -> None:
        self.jobs = [list(work[p].items()) for p in chosen]
        self.sizes = sizes
        self.unavailable = (
            [0] * len(sizes)
            if whenever
            else [
                min((bounds.heads[p][c] for p in chosen if c in work[p]), default=0)
                + min((bounds.tail_with_combine(p, c) for p in chosen if c in work[p]), default=0)
                for c in range(len(sizes))
            ]
        )

    def bound(self, known: int) -> int:
        """The best bound of the window, or a number up to `known`."""
        on_fastest = [0] * len(self.sizes)
        for job in self.jobs:
            work, kind = min((w, c) for c, w in job)
            on_fastest[kind] += work
        if all(
            w == 0 or lost - (-w // (SCALE * n)) <= known
            for w, n, lost in zip(on_fastest, self.sizes, self.unavailable, strict=True)
        ):
            return known  # everything on its fastest class fits in that time
        best = known
        if len(self.sizes) <= 16:
            for kind in range(len(self.sizes)):
                best = self.least_time([SCALE * (c == kind) for c in range(len(self.sizes))], best)
        for _ in range(WEIGHT_ROUNDS):
            ticks = self.least_time(self.weights(best), best)
            if ticks == best:
                break
            best = ticks
        return best

    def least_time(self, weights: Sequence[int], known: int) -> int:
        """The least T >= `known` that these weights do not refute."""
        work = sum(min(weights[c] * w for c, w in job) for job in self.jobs)

        def room(time: int) -> int:
            return SCALE * sum(
                w * n * max(0, time - lost) for w, n, lost in zip(weights, self.sizes, self.unavailable, strict=True)
            )

        if room(known) >= work:
            return known
        width = sum(w * n for w, n in zip(weights, self.sizes, strict=True))
        ceiling = max(known, *self.unavailable) + -(-work // (SCALE * width))
        return bisect_min(known, ceiling, lambda time: room(time) >= work)

    def weights(self, time: int) -> list[int]:
        """Weights of the classes that try to refute T = `time` + 1, by a few rounds of multiplicative updates: the weight of a
        class grows where the cheapest assignment overloads it.

        No weights do where the mean of the assignments, as a fluid, overloads none."""
        room = [float(n * max(0, time + 1 - lost)) for n, lost in zip(self.sizes, self.unavailable, strict=True)]
        open_classes = [c for c, ticks in enumerate(room) if ticks > 0]
        if not open_classes:
            return [1] * len(room)
        jobs = [[(c, w / SCALE) for c, w in job] for job in self.jobs]
        weights, loads = [1.0 / sum(room) if ticks > 0 else 0.0 for ticks in room], [0.0] * len(room)
        best, best_value = weights, -1.0
        for step in range(ROUNDS):
            shut = CLOSED_CLASS_WEIGHT * max(weights)
            current = [w if room[c] > 0 else shut for c, w in enumerate(weights)]
            load = [0.0] * len(room)
            value = 0.0
            for job in jobs:
                cost, kind, ticks = min((current[c] * w, c, w) for c, w in job)
                load[kind] += ticks
                value += cost
            if value > best_value:
                best, best_value = current, value
            loads = [a + b for a, b in zip(loads, load, strict=True)]
            if not value or all(ticks <= (step + 1) * most for ticks, most in zip(loads, room, strict=True)):
                break
            rate = 1.0 / (1.0 + 0.2 * step)
            for c in open_classes:
                weights[c] *= exp(rate * (min(load[c] / room[c] / value, 4.0) - 1.0))
            total = sum(weights[c] * room[c] for c in open_classes)
            weights = [w / total for w in weights]
        scale = (SCALE << 8) / max(best[c] for c in open_classes)
        return [int(w * scale) for w in best]


def energetic_bound(bounds: BoundSet, start: int) -> Bound:
    """Energetic reasoning: the least T >= `start` in which no interval has more work than all devices together can do in it.

    In an interval a phase works at least its overlap when it is shifted left (to its head) or right (to its tail)."""
    devices = sum(map(len, bounds.costs.members))
    devices = min(devices, bounds.decoder.constraints.machines or devices)
    jobs: list[tuple[int, int, int]] = []
    for p in bounds.order:
        if bounds.undivided[p]:
            ticks = min(bounds.ticks_on(p, c) for c in bounds.costs.allowed_classes[p])
            if ticks:
                jobs.append((min(bounds.heads[p].values()), ticks, min(bounds.tail_with_combine(p, c) for c in bounds.tails[p])))
    time = start
    while (lack := _excess_work(jobs, devices, time)) > 0:
        time += -(-lack // max(1, devices))
    return Bound(time, "energy")


def _excess_work(jobs: Sequence[tuple[int, int, int]], devices: int, time: int) -> int:
    """The most by which the work of an interval exceeds its capacity in any schedule of `time` ticks; at most 0 if none does."""
    begins = sorted({head for head, _, _ in jobs} | {time - tail - ticks for _, ticks, tail in jobs})
    ends = sorted({time - tail for _, _, tail in jobs} | {head + ticks for head, ticks, _ in jobs})
    worst = 0
    for begin in begins:
        late = [(head + ticks - begin, ticks, time - tail - ticks) for head, ticks, tail in jobs if head + ticks > begin]
        for end in ends:
            if end <= begin:
                continue
            work = 0
            for left, ticks, last in late:
                if last < end:
                    work += min(left, ticks, end - last, end - begin)
            worst = max(worst, work - devices * (end - begin))
    return worst


def _evenly_chosen(values: Sequence[int], count: int) -> list[int]:
    """The distinct values, or `count` of them at even distances if there are more."""
    different = sorted(set(values))
    if len(different) <= count:
        return different
    return [different[i * (len(different) - 1) // (count - 1)] for i in range(count)]


# ---------------------------------------------------------------------------------------------------- strategies

MOST_ENERGY: Final = 64
"""Phases up to which all intervals are tested."""
WIDTHS: Final = (1, 2, 4, 16)
"""Numbers of devices of a class over which the shares of the LP relaxation are rounded."""

# ------------------------------------------------------------------------------------- one cut phase


def _split(context: SearchContext) -> None:
    _ = context.bounds  # their bounds end decoding early
    incumbent, answer = context.incumbent, split_single_phase(context.costs)
    if answer is None:
        return
    if answer.schedule is not None and within_limits(context.decoder.constraints, answer.schedule):
        incumbent.offer(answer.schedule)
        # of equally long plans the one with the fewest shards: that of the cut
        if incumbent.schedule is not None and answer.schedule.makespan == incumbent.schedule.makespan:
            incumbent.schedule = answer.schedule
    if answer.lower_bound:
        incumbent.raise_bound(answer.lower_bound, "certificate", answer.detail)
    context.conflict = answer.conflict


def _split_refutes(context: SearchContext, bound: int, steps: SolverSteps) -> bool:
    answer = split_single_phase(context.costs)
    return answer is not None and answer.lower_bound >= bound


SINGLE_SPLIT: Final = Strategy(
    "single-split", "one phase that can be cut, dealt out exactly, with the certificate that rows sum to too few a tick earlier",
    _split, lambda context: not context.has_distributed_phases, _split_refutes, always_runs=True,
)  # fmt: skip

# ------------------------------------------------------------------------------------- bounds alone


def _paths(context: SearchContext) -> None:
    context.incumbent.raise_bound(best_bound(context.bounds).ticks, "bound")


PATHS: Final = Strategy(
    "paths", "the longest path, and the work of devices and links shared out as a fluid",
    _paths, refutes=lambda context, bound, _: best_bound(context.bounds).ticks >= bound, supports_chunks=True,
)  # fmt: skip


def _energetic(context: SearchContext) -> None:
    context.incumbent.raise_bound(energetic_bound(context.bounds, context.incumbent.bound).ticks, "bound")


ENERGETIC: Final = Strategy(
    "energetic",
    "no interval has more work than all devices can do in it",
    _energetic,
    lambda context: len(context.problem.phases) <= MOST_ENERGY,
    lambda context, bound, _: energetic_bound(context.bounds, best_bound(context.bounds).ticks).ticks >= bound,
    supports_chunks=True,
)

# ------------------------------------------------------------------------------------- LP relaxation


def _lp_relaxation(context: SearchContext) -> None:
    incumbent = context.incumbent
    if incumbent.schedule is None:
        return
    from .lp_relaxation import LpRelaxation

    fluid = LpRelaxation(context.bounds, incumbent.schedule.makespan)
    incumbent.raise_bound(fluid.bound(), "bound")
    if fluid.solved:
        for width in (MOST_DEVICES,) if context.few_devices else WIDTHS:
            decisions = Decisions(fluid.rounded_modes(width), tuple(context.bounds.order), InsertionPolicy.INSERT)
            guided = best_timing(context.decoder, "LP relaxation", decisions)
            if context.lp_rounded is None or (guided.ticks or FOREVER) < (context.lp_rounded.ticks or FOREVER):
                context.lp_rounded = guided
        incumbent.offer(context.lp_rounded.schedule if context.lp_rounded is not None else None)


def _lp_applies(context: SearchContext) -> bool:
    return is_applicable(context.bounds, FOREVER if context.incumbent.schedule is None else context.incumbent.schedule.makespan)


def _lp_refutes(context: SearchContext, bound: int, steps: SolverSteps) -> bool:
    from .lp_relaxation import LpRelaxation

    return LpRelaxation(context.bounds, bound).bound() >= bound


LP_RELAXATION: Final = Strategy(
    "lp-relaxation", "rows of all cuts as a fluid, with cutting planes; a schedule whose cuts are those of its solution",
    _lp_relaxation, _lp_applies, _lp_refutes,
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- objective bounds
#
# Lower bounds of energy and of the initiation interval without search: relaxations of the assignment, in integers.
#
# Both drop orders, transfers and memory, and divide rows continuously, so they hold for every schedule.
#
# * Energy: devices that are always on idle for the makespan, which lies between the lower bound and the deadline and limits the
#   work of a class.  Each phase runs where its work costs least, prices of the classes' time added (the dual of the linear
#   program; any prices give a bound).  With `power_off_unused` a device other than home is on at least while it works, so its
#   work costs its active power.
# * Interval: no weights of the classes of devices let the busiest device work for less (`loads.min_max_load`), and a phase that
# is not   cut works on one device.

GRAIN: Final = 1 << 10
"""Prices are in parts of a milliwatt."""
PRICE_ROUNDS: Final = 3
"""Rounds of coordinate ascent: the best price of each class, the others fixed."""


def objective_lower_bound(problem: Problem, objective: Objective, shortest: int) -> int:
    """A lower bound of an objective (energy in picojoules); `shortest`: a lower bound of the makespan."""
    if objective not in (Objective.ENERGY, Objective.THROUGHPUT) or not problem.phases:
        return 0
    costs = Costs(ScheduleDecoder(problem))
    if not costs.is_plannable:
        return 0
    bounds = BoundSet(costs)
    if objective is Objective.ENERGY:
        return _energy_bound(problem, bounds, shortest)
    undivided = (min(bounds.ticks_on(p, c) for c in costs.allowed_classes[p]) for p in bounds.order if bounds.undivided[p])
    return max(min_max_load(bounds), max(undivided, default=0))


def _energy_bound(problem: Problem, bounds: BoundSet, shortest: int) -> int:
    groups = problem.devices
    if any(group.active_mw < group.idle_mw for group in groups):
        return 0  # work that saves energy: there is no upper bound of it
    on = [group.idle_mw * group.count for group in groups]
    if problem.power_off_unused:
        on = [group.idle_mw for group in groups if group.home]
    powers = [_least_power(problem, bounds, c) * GRAIN for c in range(len(bounds.costs.members))]
    work, number, latest = work_by_class(bounds), class_sizes(bounds), bounds.decoder.constraints.deadline
    prices = [0] * len(powers)

    def worth() -> int:
        """GRAIN times the objective's lower bound under the current prices, in milliwatts × ticks."""
        working = sum(min(ticks * (powers[c] + prices[c]) for c, ticks in by_class.items()) for by_class in work) // SCALE
        idling = GRAIN * sum(on) - sum(p * n for p, n in zip(prices, number, strict=True))
        return working + idling * (shortest if idling >= 0 else latest or 0)

    def falls(kind: int, price: int) -> bool:
        """Does the bound not rise if the class gets this higher price?"""
        prices[kind] = price
        before = worth()
        prices[kind] = price + 1
        return worth() <= before

    for kind in [*range(len(prices))] * PRICE_ROUNDS:
        others = GRAIN * sum(on) - sum(p * n for p, n in zip(prices, number, strict=True)) + prices[kind] * number[kind]
        most = max((powers[c] * ticks // ticks_by_class[kind] for ticks_by_class in work if ticks_by_class.get(kind) for c,
            ticks in ticks_by_class.items()), default=0)
        prices[kind] = bisect_min(
            0, max(0, others // number[kind]) if latest is None else most + sum(prices), partial(falls, kind)
        )
    return problem.tick_ns * (worth() // GRAIN)


def _least_power(problem: Problem, bounds: BoundSet, kind: int) -> int:
    """The least milliwatts that work on a class adds to the power that is always on."""

    def of(device: int) -> int:
        group = problem.group_of(DeviceIndex(device))
        always = not problem.power_off_unused or device == problem.home
        return group.active_mw - group.idle_mw if always else group.active_mw

    return min(map(of, bounds.costs.members[kind]))
