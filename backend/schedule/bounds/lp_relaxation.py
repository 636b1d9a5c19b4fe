"""The LP relaxation of the problem: a lower bound of the makespan over all partitions at once, transfers included.  Rows are
divided continuously; the dual solution is rounded to integers and certifies the bound.

Note [Fluid].  A plan gives every phase p a share z of its rows on each place (a device, or a class of equal ones), and has
starts S, ends E and F (combine included).  C is the mean, over the rows of p, of the end of the shard that a row is in.  Any plan
whatever its cuts obeys:

* C_p >= S_p + Q_p, where Q_p is the mean over rows of their shard's ticks: the sum over places of (r/R) ticks(r), of which a
  convex function from below is taken; equal devices have equal parts of a class's rows at best;
* a row of q begins when the rows of p at its own place have ended and have come over: an edge moves a part m(a, b) of the rows
  from place a to b, over one link or over home, with sum_b m(a, b) = z_p(a) and sum_a m(a, b) = z_q(b), and each of them waits
  for the whole transfer that it is in, which carries at least m(a, b) of the output.  Only the flow f over each link is an
  unknown: what comes to a place and is made there is what goes on and is read there.  The squares of the m of n pairs that go
  over a link sum to f f / n at least.  So C_q >= C_p + Q_q + sum of f (latency + f bytes / n / rate).  Where q reads everything,
  that holds of the product m = z_p z_q too;
* q starts after the first shard of p has ended, after all of them where it reads everything; it ends after all of them;
* the shards of phases between a and b (followers of a, followed by b) lie between S_a and E_b on every device, and so do the
  transfers of what only such phases read on every exclusive channel; what is moved to a place is moved once for all readers.

Rounding of bytes costs at most one byte a transfer, which is left out.  Everything is linear in ticks and shares but Q and the
ticks of transfers, which are convex: lines below them are added where a solution is above none, as are the windows (a, b).
Memory and order are left out.  Shares of the solution tell the search where to cut (`guided`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Final

import highspy
import numpy as np

from ....lang.support.records import dataclass, field
from ...devices.cost_functions import Ticks
from ..problem import Mode
from ..timeline.problem_index import Channel
from .head_tail_bounds import BoundSet, DeviceClass, device_classes_of

# ---------------------------------------------------------------------------------------------------- piecewise-linear costs
#
# Convex functions of shares, bounded from below by lines: the mean ticks of a cut phase, the waiting for transfers of an edge.
#
# Everything is rational, so a line is certainly below.

GRAIN: Final = 1 << 16
"""Coefficients are rounded to multiples of 1/GRAIN of a share or tick."""
MOST_POINTS: Final = 512
"""Rows up to which every row count is a point of the hull."""
MOST_RANGES: Final = 64
"""The same where the cost model is evaluated for each row count."""
Line = tuple[Fraction, Fraction]
"""(value at 0, slope): a line below a convex function of a share."""


@dataclass(frozen=True, slots=True)
class PiecewiseLinear:
    """A convex piecewise-linear cost of the share in column `share`, given by its `corners` (share, cost)."""

    share: int
    corners: tuple[tuple[Fraction, Fraction], ...]

    def value(self, share: float) -> float:
        start, slope = self.line(share)
        return float(start) + float(slope) * share

    def line(self, share: float) -> Line:
        """The line through the two corners around `share`."""
        index = next((i for i, (x, _) in enumerate(self.corners) if share <= x), len(self.corners) - 1)
        (x, y), (right, top) = self.corners[max(0, index - 1)], self.corners[max(1, index)]
        slope = (top - y) / (right - x)
        return y - slope * x, slope


@dataclass(frozen=True, slots=True)
class TransferCost:
    """Ticks of waiting for transfers, m × (fixed + m × each), where m is the share in column `share`."""

    share: int
    fixed: Fraction
    each: Fraction

    def value(self, share: float) -> float:
        return share * (float(self.fixed) + share * float(self.each))

    def line(self, share: float) -> Line:
        """The tangent at the current share."""
        at = Fraction(max(0, min(GRAIN, round(share * GRAIN))), GRAIN)
        return -at * at * self.each, self.fixed + 2 * at * self.each


@dataclass(frozen=True, slots=True)
class ConvexSum:
    """The constraint that the sum of convex `parts` is at most column `above`."""

    above: int
    parts: tuple[PiecewiseLinear | TransferCost, ...]

    def value(self, values: Sequence[float]) -> float:
        return sum(part.value(values[part.share]) for part in self.parts)


def round_to_rows(devices: Sequence[tuple[int, float]], rows: int) -> Mode:
    """A mode of `rows` rows in proportion to weights by the largest-remainder method; evenly where all weights are 0."""
    weights = [Fraction(weight) for _, weight in devices]
    total = sum(weights)
    exact = [weight * rows / total for weight in weights] if total > 0 else [Fraction(rows, len(devices))] * len(devices)
    counts = [int(share) for share in exact]
    by_rest = sorted(range(len(counts)), key=lambda index: (counts[index] - exact[index], index))
    for index in by_rest[: rows - sum(counts)]:
        counts[index] += 1
    return tuple((device, count) for (device, _), count in zip(devices, counts, strict=True) if count)


def hull_of(table: Ticks, rows: int) -> list[tuple[Fraction, Fraction]]:
    """Corners of the lower convex hull of (r/R) ticks(r) by r/R; of very many rows, of a staircase below it."""
    points = [(0, 0)]  # rows times share and cost
    cells = MOST_POINTS if type(table) is Ticks else MOST_RANGES
    if rows <= cells:
        points += [(r, r * table.at(r)) for r in range(1, rows + 1)]
    else:
        grid = [rows * i // cells for i in range(cells + 1)]
        points += [(high, low * table.weak_min_ticks(low, high) if low else 0) for low, high in pairwise(grid)]
    hull: list[tuple[int, int]] = []
    for point in points:
        while len(hull) > 1 and _above(hull[-1], hull[-2], point):
            hull.pop()
        hull.append(point)
    return [(Fraction(x, rows), Fraction(y, rows)) for x, y in hull]


def _above(middle: tuple[int, int], left: tuple[int, int], right: tuple[int, int]) -> bool:
    """Whether the middle of three points is on or above the line through the others."""
    return (middle[1] - left[1]) * (right[0] - left[0]) >= (right[1] - left[1]) * (middle[0] - left[0])


# ---------------------------------------------------------------------------------------------------- LP solver
#
# Linear programs with certified bounds: HiGHS computes weights in floating point, integer arithmetic derives the bound.
#
# The program is: the least x_0 with A x >= b, every x_j >= 0, and x_j at most x_0 ("ticks") or at most 1 ("shares").  Any weights
# y >= 0 of the rows prove x_0 >= (y b - sum of the positive (y A)_j over shares) / (sum of (y A)_0 and the positive (y A)_j over
# ticks), so a wrong weight costs sharpness and never truth.  Rows are integers; they may be added after a solution.

WEIGHT: Final = 1 << 40
INTERRUPT_PIVOTS: Final = 500
"""Pivots between two looks for interrupts: HiGHS runs outside Python, 0.1 s for 3,000 columns."""


@dataclass(frozen=True, slots=True)
class LpRow:
    """sum of coefficients times columns >= bound."""

    terms: tuple[tuple[int, int], ...]
    bound: int


class _SilentHighs(highspy.Highs):
    """HiGHS without callbacks: enabling them prints its banner on standard output."""

    def enableCallbacks(self) -> None:
        pass


@dataclass(slots=True)
class LinearProgram:
    """A linear program, whose column 0 is minimised.  `unit`: the magnitude of the result in ticks, for scaling."""

    unit: int
    ticks: list[bool] = field(default_factory=lambda: [True])
    rows: list[LpRow] = field(default_factory=list)
    _scales: list[float] = field(default_factory=list)
    _solver: highspy.Highs | None = None
    _values: Sequence[float] = ()
    _weights: Sequence[float] = ()

    def column(self, *, ticks: bool) -> int:
        """Add an unknown and return its column.  All are added before the first `solve`."""
        self.ticks.append(ticks)
        return len(self.ticks) - 1

    def solve(self, most: int) -> bool:
        """Solve in about `most` pivots, starting from the last solution; is the optimum reached?"""
        solver = self._solver = self._solver or self._empty()
        starts, columns, coefficients, bounds = [], list[int](), list[float](), []
        for row in self.rows[len(self._scales) :]:
            terms: dict[int, int] = {}
            for name, coefficient in row.terms:
                terms[name] = terms.get(name, 0) + coefficient * (self.unit if self.ticks[name] else 1)
            scale = 1.0 / max(1.0, *map(abs, terms.values()))
            starts.append(len(columns))
            columns += terms
            coefficients += [coefficient * scale for coefficient in terms.values()]
            bounds.append(row.bound * scale)
            self._scales.append(scale)
        endless = np.full(len(bounds), highspy.kHighsInf)
        indices = np.array(starts, dtype=np.int32), np.array(columns, dtype=np.int32)
        solver.addRows(len(bounds), np.array(bounds), endless, len(columns), *indices, np.array(coefficients))
        for _ in range(0, most, INTERRUPT_PIVOTS):
            solver.run()
            if solver.getModelStatus() != highspy.HighsModelStatus.kIterationLimit:
                break
        if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution = solver.getSolution()
        self._values, self._weights = list(solution.col_value), list(solution.row_dual)
        return True

    def _empty(self) -> highspy.Highs:
        """A solver without rows: simplex on one thread, so that the same rows give the same solution, and without presolve, so
        that it goes on from the last basis."""
        solver, count = _SilentHighs(), len(self.ticks)  # type: ignore[no-untyped-call]
        options: dict[str, bool | int | str] = {"output_flag": False, "threads": 1, "solver": "simplex", "presolve": "off"}
        options["simplex_iteration_limit"] = INTERRUPT_PIVOTS
        for name, value in options.items():
            solver.setOptionValue(name, value)
        solver.addVars(count, np.zeros(count), np.full(count, highspy.kHighsInf))
        solver.changeColCost(0, 1.0)
        return solver

    def values(self) -> list[float]:
        """The values of the unknowns, in ticks or shares."""
        known = self._values or [0.0] * len(self.ticks)
        return [value * (self.unit if ticks else 1) for value, ticks in zip(known, self.ticks, strict=True)]

    def certified_bound(self) -> int:
        """A lower bound of the result in exact integer arithmetic."""
        pairs = zip(self._weights, self._scales, strict=False)
        return weights_bound(self.rows, [int(max(0.0, y) * scale * self.unit * WEIGHT) for y, scale in pairs], self.ticks)


def weights_bound(rows: Sequence[LpRow], weights: Sequence[int], ticks: Sequence[bool]) -> int:
    """The bound of column 0 that non-negative weights of the rows prove; 0 if none."""
    sums = [0] * len(ticks)
    right = 0
    for row, weight in zip(rows, weights, strict=False):
        if weight > 0:
            right += weight * row.bound
            for name, coefficient in row.terms:
                sums[name] += weight * coefficient
    below = sums[0]
    for name in range(1, len(ticks)):
        if sums[name] > 0:
            if ticks[name]:
                below += sums[name]
            else:
                right -= sums[name]
    return max(0, -(-right // below)) if below > 0 else 0


# ---------------------------------------------------------------------------------------------------- LP relaxation

ROUNDS: Final = 40
MOST_ADDED: Final = 40
MOST_PIVOTS: Final = 4000
MIN_VIOLATION: Final = 2e-4
"""Rows violated by less than this fraction of the result are not added."""
GAIN: Final = Fraction(1, 2000)
MOST_IDLE: Final = 2
"""Rounds in a row that may gain less than `GAIN` of the bound."""


@dataclass(frozen=True, slots=True)
class ClassHop:
    """One hop between two device classes: `fixed` ticks and `each` ticks a byte; `pairs` of devices use it."""

    near: DeviceClass
    far: DeviceClass
    pairs: int
    fixed: Fraction
    each: Fraction


@dataclass(slots=True)
class LpRelaxation:
    """The relaxation of one problem; its bound is at most `goal`, since classes that no shorter schedule uses are omitted."""

    bounds: BoundSet
    goal: int
    program: LinearProgram = field(init=False)
    classes: list[list[DeviceClass]] = field(init=False)
    share: list[list[int]] = field(init=False)
    start: list[int] = field(init=False)
    end: list[int] = field(init=False)
    finish: list[int] = field(init=False)
    mean: list[int] = field(init=False)
    mean_queue: list[int] = field(init=False)
    curves: list[ConvexSum] = field(default_factory=list)
    work: list[list[Fraction]] = field(default_factory=list)
    flow_column: dict[tuple[int, int, int], tuple[int, Fraction]] = field(default_factory=dict)
    """By (phase, device class, next class): the flow's column and the most bytes that it can carry."""
    channels: dict[Channel, list[tuple[int, int, Fraction, Fraction]]] = field(default_factory=dict)
    """By channel: (phase, column, ticks of the full output, ticks that rounding may hide)."""
    ancestors: list[set[int]] = field(default_factory=list)
    """By phase: the phase and all its predecessors."""
    solved: bool = False
    """Has the LP been solved, so that shares can be rounded?"""

    def __post_init__(self) -> None:
        self.program = LinearProgram(max(1, self.goal))
        bounds, program = self.bounds, self.program
        count = len(bounds.order)
        self.classes = [device_classes_of(bounds, p, self.goal) for p in range(count)]
        if not all(self.classes):
            return
        self.share = [[program.column(ticks=False) for _ in places] for places in self.classes]
        columns = [[program.column(ticks=True) for _ in range(count)] for _ in range(5)]
        self.start, self.end, self.finish, self.mean, self.mean_queue = columns
        self.ancestors = [{p} for p in range(count)]
        for p in bounds.order:
            for q in bounds.decoder.before[p] - set(bounds.decoder.constraints.issue_after[p]):
                self.ancestors[p] |= self.ancestors[q]
        self._phases()
        for edge in range(len(bounds.decoder.sources)):
            self._edge(edge)
        for curve in self.curves:
            for share in (0.0, 0.3):
                self._line(curve, [share] * len(self.program.ticks))

    # ---------------------------------------------------------------------------------- rows

    def at_least(self, terms: Sequence[tuple[int, Fraction | int]], bound: Fraction | int) -> None:
        """Add the row sum(terms) >= bound; coefficients are rounded in the direction that weakens it."""
        rounded = tuple((name, -(-c * GRAIN // 1)) for name, c in terms if c)
        self.program.rows.append(LpRow(tuple((name, int(c)) for name, c in rounded), int(bound * GRAIN // 1)))

    def _line(self, curve: ConvexSum, values: Sequence[float]) -> None:
        lines = [(part.share, *part.line(values[part.share])) for part in curve.parts]
        self.at_least([(curve.above, 1), *((share, -slope) for share, _, slope in lines)], sum(start for _, start, _ in lines))

    def _phases(self) -> None:
        bounds = self.bounds
        decoder, constraints = bounds.decoder, bounds.decoder.constraints
        for p, places in enumerate(self.classes):
            task, shares = bounds.phases[p], self.share[p]
            self.at_least([(z, 1) for z in shares], 1)
            self.at_least([(z, -1) for z in shares], -1)
            if p in constraints.fixed_modes:
                for z, device_class in zip(shares, places, strict=True):
                    mine = sum(rows for d, rows in constraints.fixed_modes[p] if bounds.costs.class_of[d] == device_class.kind)
                    self.at_least([(z, 1)], Fraction(mine, task.units))
                    self.at_least([(z, -1)], -Fraction(mine, task.units))
            start, end, done, mean = self.start[p], self.end[p], self.finish[p], self.mean[p]
            heads = [(device_class, z, bounds.heads[p][device_class.kind]) for device_class, z in zip(places, shares,
                strict=True)]
            self.at_least([(start, 1)], min((head for _, _, head in heads), default=0))
            self.at_least([(0, 1), (done, -1)], min(bounds.tails[p].values()))
            self.at_least([(done, 1), (end, -1)], bounds.combine_ticks(p))
            self.at_least([(end, 1), (mean, -1)], 0)
            self.at_least(
                [(0, 1), (mean, -1), *((z, -bounds.tail_with_combine(p, device_class.kind)) for device_class, z, _ in heads)], 0
            )
            queue = self.mean_queue[p]
            self.at_least([(mean, 1), (start, -1), (queue, -1)], 0)
            self.at_least([(mean, 1), *((z, -head) for _, z, head in heads), (queue, -1)], 0)
            self.work.append([self._work(p, device_class) for device_class in places])
            for device_class, z, work in zip(places, shares, self.work[p], strict=True):
                self.at_least([(end, 1), (start, -1), (z, -work / device_class.count)], 0)
            curves = tuple(
                PiecewiseLinear(z, self._corners(p, device_class)) for device_class, z in zip(places, shares, strict=True)
            )
            self.curves.append(ConvexSum(queue, curves))
            for earlier in constraints.start_after[p]:
                self.at_least([(start, 1), (self.finish[earlier], -1)], 0)
            for edge in decoder.incoming[p]:
                q = decoder.sources[edge]
                least = min(bounds.min_shard_ticks(p, device_class.kind) for device_class in places)
                first = min((bounds.min_shard_ticks(q, device_class.kind) for device_class in self.classes[q]), default=0)
                self.at_least([(end, 1), (self.finish[q], -1)], least)
                everything = bounds._reads_all(edge)
                self.at_least([(start, 1), (self.finish[q] if everything else self.start[q], -1)], 0 if everything else first)

    def _work(self, p: int, device_class: DeviceClass) -> Fraction:
        """The least ticks of all of a phase on a class; a part takes at least its proportion."""
        if self.bounds.undivided[p]:
            return Fraction(self.bounds.ticks_on(p, device_class.kind))
        table = self.bounds.phases[p].ticks[self.bounds.decoder.kinds[device_class.device]]
        return table.rate(self.bounds.phases[p].rows) * self.bounds.phases[p].rows

    def _corners(self, p: int, device_class: DeviceClass) -> tuple[tuple[Fraction, Fraction], ...]:
        rows = self.bounds.phases[p].units
        if self.bounds.undivided[p]:
            return (Fraction(0), Fraction(0)), (Fraction(1), Fraction(self.bounds.ticks_on(p, device_class.kind)))
        hull = hull_of(self.bounds.phases[p].ticks[self.bounds.decoder.kinds[device_class.device]], rows)
        return tuple((x * device_class.count, y * device_class.count) for x, y in hull)

    # ---------------------------------------------------------------------------------- edges

    def _output_classes(self, p: int) -> list[tuple[DeviceClass, int | None]]:
        """The classes that have the output of a phase, and the columns of their shares (None: all of it)."""
        if self.bounds.phases[p].combine is not None:
            return [(DeviceClass(self.bounds.home, self.bounds.decoder.home, 1), None)]
        return list(zip(self.classes[p], self.share[p], strict=True))

    def _edge(self, edge: int) -> None:
        """Flow constraints of an edge: rows flow from producers to readers, and each waits for the transfers that carry it."""
        decoder, program = self.bounds.decoder, self.program
        p, q = decoder.sources[edge], decoder.targets[edge]
        described = decoder.problem.edges[edge]
        size = decoder.problem.phases[p].out_bytes if described.bytes is None else described.bytes
        producers, wanted = self._output_classes(p), list(zip(self.classes[q], self.share[q], strict=True))
        legs = self._class_hops(
            edge, [device_class for device_class, _ in producers], [device_class for device_class, _ in wanted]
        )
        flows = {(leg.near.kind, leg.far.kind): program.column(ticks=False) for leg in legs}
        for kind in {device_class.kind for device_class, _ in (*producers, *wanted)} | {end for ends in flows for end in ends}:
            terms: list[tuple[int, Fraction | int]] = [(z, 1) for device_class,
                z in producers if z is not None and device_class.kind == kind]
            terms += [(z, -1) for device_class, z in wanted if device_class.kind == kind]
            terms += [(flow, (kind == far) - (kind == near)) for (near, far), flow in flows.items()]
            self.at_least(terms, -sum(z is None and device_class.kind == kind for device_class, z in producers))
        hauls: list[TransferCost] = []
        for leg, flow in zip(legs, flows.values(), strict=True):
            hauls.append(TransferCost(flow, leg.fixed - leg.each * self._rounding_bytes(p, size), size * leg.each / leg.pairs))
            if leg.each:
                self._add_flow(p, leg, flow, size)
        wait = program.column(ticks=True)
        self.curves.append(ConvexSum(wait, tuple(hauls)))
        before = self.finish[p] if self.bounds.phases[p].combine is not None else self.mean[p]
        self.at_least([(self.mean[q], 1), (before, -1), (wait, -1), (self.mean_queue[q], -1)], 0)

    def _rounding_bytes(self, p: int, size: int) -> int:
        """The bytes that rounding may take off a transfer: none where each row has an integral number of bytes."""
        span = self.bounds.decoder.output_extent[p]
        return 0 if not span or (size == self.bounds.phases[p].out_bytes and size % span == 0) else 1

    def _class_hops(self, edge: int, producers: Sequence[DeviceClass], wanted: Sequence[DeviceClass]) -> list[ClassHop]:
        """The hops between these classes: the direct link, else the two hops over home."""
        decoder = self.bounds.decoder
        home = DeviceClass(self.bounds.home, decoder.home, 1)
        pairs_by_leg: dict[tuple[DeviceClass, DeviceClass], int] = {}
        onwards: set[tuple[DeviceClass, DeviceClass]] = set()
        for near, far in product(producers, wanted):
            path = decoder.routes.path(near.device, far.device)
            if near.kind == far.kind or (path is None and decoder.delays[edge] is None):
                continue
            direct = path is None or len(path) == 1 or decoder.delays[edge] is not None
            hops = [(near, far)] if direct else [(near, home), (home, far)]
            onwards |= set(hops[:-1])
            for hop in hops:
                pairs_by_leg[hop] = pairs_by_leg.get(hop, 0) + near.count * far.count
        legs: list[ClassHop] = []
        for (near, far), pairs in pairs_by_leg.items():
            sync = 0 if (near, far) in onwards else decoder.syncs[far.device]
            path, delay = decoder.routes.path(near.device, far.device), decoder.delays[edge]
            if delay is not None or path is None:
                legs.append(ClassHop(near, far, pairs, Fraction((delay or 0) + sync), Fraction(0)))
            else:
                rate = decoder.problem.links[path[0].link].bytes_per_tick
                legs.append(
                    ClassHop(near, far, pairs, Fraction(path[0].latency + sync), 1 / rate if rate is not None else Fraction(0))
                )
        return legs

    def _add_flow(self, p: int, leg: ClassHop, flow: int, size: int) -> None:
        """Bound the flow of an edge by the transferred output, which all readers share."""
        decoder = self.bounds.decoder
        key = (p, leg.near.device, leg.far.device)
        if key not in self.flow_column:
            out = self.bounds.phases[p].out_bytes
            sizes = [out if (said := decoder.problem.edges[edge].bytes) is None else said for edge in decoder.outgoing[p]]
            transfers = leg.near.count * leg.far.count * len(decoder.kinds)
            self.flow_column[key] = self.program.column(ticks=False), Fraction(max(sizes))
            self._occupy_channel(key, transfers * max(self._rounding_bytes(p, said) for said in sizes))
        column, most = self.flow_column[key]
        if most:
            self.at_least([(column, 1), (flow, -Fraction(size) / most)], 0)

    def _occupy_channel(self, key: tuple[int, int, int], hidden: int) -> None:
        """The transferred output occupies its channel."""
        p, near, far = key
        decoder, costs = self.bounds.decoder, self.bounds.costs
        hops = decoder.routes.path(near, far)
        assert hops is not None
        rate, channel = decoder.problem.links[hops[0].link].bytes_per_tick, hops[0].channel
        if channel is None or rate is None:
            return
        for a, b in product(*(costs.members[costs.class_of[end]][:2] for end in (near, far))):
            if a != b and ((other := decoder.routes.path(a, b)) is None or other[0].channel != channel):
                return  # each of several equal devices has a channel of its own
        column, most = self.flow_column[key]
        self.channels.setdefault(channel, []).append((p, column, most / rate, hidden / rate))

    # ------------------------------------------------------------------------------- solution

    def bound(self) -> int:
        """The certified bound after a limited number of rounds of row generation, or as soon as it reaches the goal."""
        if not all(self.classes):
            return self.goal
        best = idle = 0
        for _ in range(ROUNDS):
            if not self.program.solve(MOST_PIVOTS):
                break
            self.solved = True
            bound = self.program.certified_bound()
            idle = 0 if bound > best + best * GAIN // 1 else idle + 1
            best = max(best, bound)
            if best >= self.goal or idle > MOST_IDLE or not self._add_violated_rows(self.program.values()):
                break
        return min(best, self.goal)

    def _add_violated_rows(self, values: Sequence[float]) -> bool:
        """Add the rows that the solution violates most."""
        slack = MIN_VIOLATION * max(1.0, values[0])
        lines = sorted(((curve.value(values) - values[curve.above], i) for i, curve in enumerate(self.curves)), reverse=True)[
            :MOST_ADDED
        ]
        for excess, i in lines:
            if excess > slack / 4:
                self._line(self.curves[i], values)
        windows = self._windows(values, slack)
        for _, terms, bound in windows[:MOST_ADDED]:
            self.at_least(terms, bound)
        return bool(windows) or lines[0][0] > slack / 4

    def _windows(self, values: Sequence[float], slack: float) -> list[tuple[float, list[tuple[int, Fraction | int]], Fraction]]:
        count = len(self.classes)
        cuts: list[tuple[float, list[tuple[int, Fraction | int]], Fraction]] = []
        kinds = {each.kind: len(self.bounds.costs.members[each.kind]) for places in self.classes for each in places}
        load = [
            {each.kind: values[z] * float(work) for each, z, work in zip(places, self.share[p], self.work[p], strict=True)}
            for p, places in enumerate(self.classes)
        ]
        for first in (None, *range(count)):
            late = [p for p in range(count) if first is None or first in self.ancestors[p]]
            for last in (None, *(late if count <= 32 else ())):
                inside = [p for p in late if last is None or p in self.ancestors[last]]
                if not inside or (len(inside) == 1 and last is not None):
                    continue
                between: list[tuple[int, Fraction | int]] = [(0 if last is None else self.end[last], 1)]
                if first is not None:
                    between.append((self.start[first], -1))
                room = sum(values[name] * int(c) for name, c in between)
                for kind, number in kinds.items():
                    excess = sum(load[p].get(kind, 0.0) for p in inside) / number - room
                    if excess > slack:
                        terms = self._work_on_class(inside, kind)
                        cuts.append((excess, [*between, *((name, -c / number) for name, c in terms)], Fraction(0)))
                for channel in self.channels:
                    terms, hidden = self._work_on_channel(channel, set(inside), last)
                    excess = sum(values[name] * float(c) for name, c in terms) - room - float(hidden)
                    if excess > slack:
                        cuts.append((excess, [*between, *((name, -c) for name, c in terms)], -hidden))
        cuts.sort(key=lambda entry: -entry[0])
        return cuts

    def _work_on_class(self, inside: Sequence[int], kind: int) -> list[tuple[int, Fraction]]:
        return [
            (z, work)
            for p in inside
            for device_class, z, work in zip(self.classes[p], self.share[p], self.work[p], strict=True)
            if device_class.kind == kind
        ]

    def _work_on_channel(
        self, channel: Channel, inside: set[int], last: int | None
    ) -> tuple[list[tuple[int, Fraction]], Fraction]:
        targets, outgoing = self.bounds.decoder.targets, self.bounds.decoder.outgoing
        chosen = [
            entry
            for entry in self.channels[channel]
            if entry[0] in inside and (last is None or all(targets[edge] in inside for edge in outgoing[entry[0]]))
        ]
        return [(column, ticks) for _, column, ticks, _ in chosen], sum((entry[3] for entry in chosen), Fraction(0))

    def rounded_modes(self, width: int) -> tuple[Mode, ...]:
        """Modes by rounding the shares of the solution, those of a class to at most `width` of its devices."""
        values, decoder = self.program.values(), self.bounds.decoder
        modes: list[Mode] = []
        for p, places in enumerate(self.classes):
            task = self.bounds.phases[p]
            if p in decoder.constraints.fixed_modes:
                modes.append(decoder.constraints.fixed_modes[p])
                continue
            wanted = {device_class.kind: max(0.0, values[z]) for device_class, z in zip(places, self.share[p], strict=True)}
            if self.bounds.undivided[p]:
                kind = max(wanted, key=lambda c: (wanted[c], -c))
                modes.append(((next(device_class.device for device_class in places if device_class.kind == kind), task.units),))
                continue
            allowed = set(self.bounds.costs.allowed[p])
            members = {c: [d for d in self.bounds.costs.members[c] if d in allowed][:width] for c in wanted}
            devices = sorted((d, wanted[c] / len(members[c])) for c in wanted for d in members[c])
            modes.append(round_to_rows(devices, task.rows))
        return tuple(modes)
