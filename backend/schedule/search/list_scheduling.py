"""HEFT (Topcuoglu, Hariri, Wu 2002) and PEFT (Arabnejad, Barbosa 2014): list scheduling of whole phases.

HEFT orders phases by upward rank with mean costs and places each where it finishes first, gaps included.  PEFT ranks by the
mean of the optimistic cost table OCT, takes the best ready phase, and adds OCT to the finish it minimises.  Both papers model
neither contention nor memory, and neither do the placements here; decoding (`serial_sgs`) then times them in the problem.

The module also has list scheduling of moldable phases, the baselines, and uniform partitions.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from typing import Final

from ....lang.support.records import dataclass, replace
from ...devices.cost_functions import Ticks
from ..bounds.head_tail_bounds import BoundSet, Costs, apportion_within, bisect_min
from ..problem import Decisions, DirectiveConstraints, InsertionPolicy, Mode, Schedule, TransferPolicy, apportion
from ..timeline.problem_index import topological_order
from ..timeline.serial_sgs import ScheduleDecoder, first_gap

# ---------------------------------------------------------------------------------------------------- HEFT and PEFT

def heft(costs: Costs) -> Decisions | None:
    """Decisions of HEFT; None where some phase has no device, or the order is cyclic."""
    decoder = costs.decoder
    order = topological_order(decoder.before)
    if order is None or not all(costs.allowed):
        return None
    rank = upward_ranks(costs, order)
    placement = Placement(costs)
    listed = decoder.repair_order(sorted(range(len(order)), key=lambda p: (-rank[p], p)))
    if listed is None:
        return None
    for p in listed:
        if not placement.place(p, None):
            return None
    return placement.decisions(listed)


def upward_ranks(costs: Costs, order: list[int]) -> list[Fraction]:
    """rank(p) = mean ticks + the largest of mean transfer + rank over its successors."""
    decoder = costs.decoder
    rank = [Fraction(0)] * len(order)
    for p in reversed(order):
        longest = Fraction(0)
        for edge in decoder.outgoing[p]:
            longest = max(longest, costs.mean_transfer(edge) + rank[decoder.targets[edge]])
        rank[p] = costs.mean_ticks(p) + longest
    for p in reversed(order):
        for q in decoder.before[p]:
            rank[q] = max(rank[q], rank[p])
    return rank


def optimistic_costs(costs: Costs, order: list[int]) -> list[list[Fraction]]:
    """The table OCT by phase and device class: the least ticks that must follow the phase, without waiting for devices."""
    decoder = costs.decoder
    count = len(costs.members)
    table = [[Fraction(0)] * count for _ in order]
    for p in reversed(order):
        for edge in decoder.outgoing[p]:
            q = decoder.targets[edge]
            mean = costs.mean_transfer(edge)
            least = sorted((table[q][w] + costs.ticks(q, costs.members[w][0]), w) for w in costs.allowed_classes[q])
            for c in range(count):
                best = min((value + (mean if w != c else 0) for value, w in least), default=Fraction(0))
                table[p][c] = max(table[p][c], best)
    return table


def peft(costs: Costs) -> Decisions | None:
    """Decisions of PEFT; None as for `heft`."""
    decoder = costs.decoder
    order = topological_order(decoder.before)
    if order is None or not all(costs.allowed):
        return None
    table = optimistic_costs(costs, order)
    weights = [len(members) for members in costs.members]
    rank = [sum((v * w for v, w in zip(row, weights, strict=True)), Fraction(0)) / sum(weights) for row in table]
    waiting = [len(earlier) for earlier in decoder.before]
    followers: list[list[int]] = [[] for _ in order]
    for p, earlier in enumerate(decoder.before):
        for q in earlier:
            followers[q].append(p)
    ready = sorted((-rank[p], p) for p in order if waiting[p] == 0)
    listed: list[int] = []
    while ready:
        _, p = ready.pop(0)
        listed.append(p)
        for q in followers[p]:
            waiting[q] -= 1
            if waiting[q] == 0:
                insort(ready, (-rank[q], q))
    final = decoder.repair_order(listed)
    if final is None:
        return None
    placement = Placement(costs)
    for p in final:
        if not placement.place(p, table[p]):
            return None
    return placement.decisions(final)


class Placement:
    """The devices of the phases placed so far, and when each device is busy.  Of equal unused devices only one is tried."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.device = [-1] * len(costs.allowed)
        self.finish = [0] * len(costs.allowed)
        self.busy: dict[int, list[tuple[int, int]]] = {}
        self.used: list[list[int]] = [[] for _ in costs.members]
        self.machines = costs.decoder.constraints.machines

    def candidate_devices(self, phase: int) -> list[int]:
        """The devices to try: those in use, and the first unused one of each class unless no more machines may be used."""
        costs = self.costs
        full = self.machines is not None and sum(map(len, self.used)) >= self.machines
        result: list[int] = []
        for c in costs.allowed_classes[phase]:
            result += self.used[c]
            if not full and len(self.used[c]) < len(costs.members[c]):
                result.append(costs.members[c][len(self.used[c])])
        return result

    def place(self, phase: int, ahead: list[Fraction] | None) -> bool:
        costs = self.costs
        decoder = costs.decoder
        floor = decoder.problem.phases[phase].ready
        for q in decoder.before[phase]:
            floor = max(floor, self.finish[q] if q in decoder.constraints.start_after[phase] else 0)
        best: tuple[int | Fraction, int, int, int] | None = None
        for device in self.candidate_devices(phase):
            start = floor
            reachable = True
            for edge in decoder.incoming[phase]:
                source = decoder.sources[edge]
                travel = costs.transfer(edge, self.device[source], device)
                if travel is None:
                    reachable = False
                    break
                if self.finish[source] + travel > start:
                    start = self.finish[source] + travel
            if not reachable:
                continue
            ticks = costs.ticks(phase, device)
            start = first_gap(self.busy.get(device, []), start, ticks)
            value = start + ticks if ahead is None else start + ticks + ahead[costs.class_of[device]]
            if best is None or value < best[0]:
                best = (value, device, start, start + ticks)
        if best is None:
            return False
        _, device, start, end = best
        self.device[phase], self.finish[phase] = device, end
        if device not in self.busy:
            self.busy[device] = []
            insort(self.used[costs.class_of[device]], device)
        insort(self.busy[device], (start, end))
        return True

    def decisions(self, order: list[int]) -> Decisions:
        modes = tuple(self.costs.undivided_mode(p, d) for p, d in enumerate(self.device))
        return Decisions(modes, tuple(order), InsertionPolicy.INSERT)


# ---------------------------------------------------------------------------------------------------- moldable list scheduling
#
# List scheduling of moldable phases (phases that may be cut), on classes of many equal devices.
#
# Phases are taken by upward rank.  Each takes the mode that ends first by an estimate without contention: one device (also that
# of an operand), the cut of an operand (nothing is transferred), or k devices of a class or of the faster classes together, k =
# 2, 4, 8…, or all that are free before it could end. `price` ticks are added for every shard, so that runs with several prices
# trade width against transfers; decoding decides.

WIDEST: Final = 256


def moldable_list_schedule(costs: Costs, bounds: BoundSet, price: int, widest: int = WIDEST) -> Decisions | None:
    """Decisions for a price of a shard; None where some phase finds no device."""
    urgency = [bounds.shortest[p] + min(bounds.tails[p].values()) for p in range(len(bounds.order))]
    order = costs.decoder.repair_order(sorted(bounds.order, key=lambda p: (-urgency[p], p)))
    if order is None:
        return None
    state = _ListState(costs, price, widest)
    for p in order:
        if not state.place(p):
            return None
    return Decisions(tuple(state.modes), tuple(order), InsertionPolicy.INSERT)


class _ListState:
    """The modes chosen so far, and when each device is free."""

    def __init__(self, costs: Costs, price: int, widest: int) -> None:
        self.costs = costs
        self.decoder = costs.decoder
        self.price = price
        self.widest = widest
        self.modes: list[Mode] = [()] * len(costs.allowed)
        self.end = [0] * len(costs.allowed)
        self.free: dict[int, int] = {}
        self.heaps: list[list[tuple[int, int]]] = [[(0, d) for d in members] for members in costs.members]
        for heap in self.heaps:
            heapify(heap)
        self.speed: dict[int, list[int]] = {}

    def earliest(self, kind: int, count: int) -> list[tuple[int, int]]:
        """(tick, device) of the `count` devices of a class that become free first."""
        heap = self.heaps[kind]
        earliest: list[tuple[int, int]] = []
        while heap and len(earliest) < count:
            tick, device = heappop(heap)
            now = self.free.get(device, 0)
            if now != tick:
                heappush(heap, (now, device))
                continue
            earliest.append((tick, device))
        for entry in earliest:
            heappush(heap, entry)
        return earliest

    def place(self, phase: int) -> bool:
        decoder = self.decoder
        best: tuple[int, int, Mode] | None = None
        for mode in self.options(phase):
            end = self.estimate(phase, mode)
            value = end + self.price * (len(mode) - 1)
            if best is None or value < best[0]:
                best = (value, end, mode)
        if best is None:
            return False
        _, end, mode = best
        self.modes[phase], self.end[phase] = mode, end
        combine = decoder.problem.phases[phase].combine
        if combine is not None:
            self.end[phase] = end + combine.ticks_per_shard * len(mode)
        for device, _ in mode:
            self.free[device] = max(end, self.free.get(device, 0))
        return True

    def options(self, phase: int) -> list[Mode]:
        costs, decoder = self.costs, self.decoder
        task = decoder.problem.phases[phase]
        if phase in decoder.constraints.fixed_modes:
            return [decoder.constraints.fixed_modes[phase]]
        classes = costs.allowed_classes[phase]
        allowed = set(classes)
        result: list[Mode] = []
        for edge in decoder.incoming[phase]:
            before = self.modes[decoder.sources[edge]]
            if all(costs.class_of[d] in allowed for d, _ in before):
                if len(before) == 1:
                    result.append(((before[0][0], task.units),))
                elif task.rows and phase not in decoder.constraints.undivided and sum(rows for _, rows in before) == task.rows:
                    result.append(before)
        undivided = not task.rows or phase in decoder.constraints.undivided
        limit = 1 if undivided else min(self.widest, task.rows, decoder.constraints.machines or task.rows)
        first = {c: self.earliest(c, limit) for c in classes}
        result += [((device, task.units),) for c in classes for _, device in first[c][:1]]
        if undivided:
            return result
        by_speed = sorted(classes, key=lambda c: (decoder.ticks(phase, costs.members[c][0], task.rows) or 0, c))
        fastest = by_speed[:3]
        for c in fastest:
            width = 2
            while width < 2 * limit and width < 2 * len(costs.members[c]):
                result.append(_evenly([d for _, d in first[c][: min(width, limit)]], task.rows))
                width *= 2
        if len(by_speed) > 1:
            result += self.mix_fast_classes(phase, [d for c in by_speed for _, d in first[c]][:limit])
        result += self.fill_free_devices(phase, [(tick, d) for c in classes for tick, d in first[c]], limit)
        return [mode for mode in result if mode]

    def mix_fast_classes(self, phase: int, devices: list[int]) -> list[Mode]:
        """Modes over the devices of the faster classes, rows in proportion to speed."""
        decoder = self.decoder
        rows = decoder.problem.phases[phase].rows
        ticks = [max(1, decoder.ticks(phase, d, rows) or 1) for d in devices]
        slowest = max(ticks)
        given = apportion(rows, [max(1, 1000 * slowest // t) for t in ticks]) if len(devices) > 1 else []
        return [tuple((d, n) for d, n in zip(devices, given, strict=True) if n)] if given else []

    def fill_free_devices(self, phase: int, free: list[tuple[int, int]], limit: int) -> list[Mode]:
        """Modes over all devices that are free before the phase could end, each with the rows it can run until then.

        `free`: (tick, device) of free devices."""
        decoder = self.decoder
        task = decoder.problem.phases[phase]
        start = self.earliest_start(phase)
        for edge in decoder.incoming[phase]:
            before = self.modes[decoder.sources[edge]]
            start = max(start, self.end[decoder.sources[edge]] + self.travel(edge, before, ((-1, task.rows),)))
        begins = [(max(start, tick), d, task.ticks[decoder.kinds[d]]) for tick, d in free]
        begins.sort(key=lambda b: b[:2])
        begins = begins[:limit]
        if len(begins) < 2:
            return []

        def reach(time: int) -> int:
            return sum(max_rows_within(table, time - begin, task.rows) for begin, _, table in begins)

        high = min(begin + table.at(task.rows) for begin, _, table in begins)
        time = bisect_min(begins[0][0], high, lambda t: reach(t) >= task.rows)
        given = apportion_within([max_rows_within(table, time - begin, task.rows) for begin, _, table in begins], task.rows)
        return [tuple(sorted((d, n) for (_, d, _), n in zip(begins, given, strict=True) if n))]

    def earliest_start(self, phase: int) -> int:
        """The tick before which directives let no shard of the phase start."""
        decoder = self.decoder
        return max([decoder.problem.phases[phase].ready, *(self.end[q] for q in decoder.constraints.start_after[phase])])

    def estimate(self, phase: int, mode: Mode) -> int:
        """The estimated end of the phase in a mode, with all transfers in parallel."""
        decoder = self.decoder
        start = self.earliest_start(phase)
        for edge in decoder.incoming[phase]:
            source = decoder.sources[edge]
            start = max(start, self.end[source] + self.travel(edge, self.modes[source], mode))
        return max(max(start, self.free.get(device, 0)) + (decoder.ticks(phase, device, rows) or 0) for device, rows in mode)

    def travel(self, edge: int, before: Mode, mode: Mode) -> int:
        """Ticks that an operand takes to reach a mode: those of its largest part, as if sent from one device."""
        decoder = self.decoder
        source = decoder.sources[edge]
        if decoder.problem.phases[source].combine is not None:
            makers = [decoder.home]
        else:
            if before == mode and not decoder.problem.edges[edge].whole:
                return 0
            makers = [device for device, _ in before]
        targets = [device for device, _ in mode]
        if makers == targets and len(makers) == 1:
            return 0
        near, far = makers[0], next((d for d in targets if d != makers[0]), targets[0])
        if far < 0:
            far = next((d for members in self.costs.members for d in members[:2] if d != near), near)
        delay = decoder.delays[edge]
        if delay is not None:
            return delay
        path = decoder.routes.path(near, far) if near != far else ()
        if path is None:
            return 1 << 50
        size = decoder.part_bytes(source, 0, decoder.output_extent[source], decoder.problem.edges[edge].bytes)
        return sum(decoder.problem.links[hop.link].occupied(size) + hop.latency for hop in path) + decoder.syncs[far]


def _evenly(devices: list[int], rows: int) -> Mode:
    used = sorted(devices)[:rows]
    return tuple(zip(used, apportion(rows, [1] * len(used)), strict=True)) if used else ()


def max_rows_within(table: Ticks, time: int, rows: int) -> int:
    """The most rows that take at most `time` ticks by the table."""
    if time < 0:
        return 0
    if len(table.points) == 1:
        size, ticks = table.points[0]
        return rows if not ticks else min(rows, time * size // ticks)
    return table.rows_within(time, rows)


# ---------------------------------------------------------------------------------------------------- candidates
#
# A named candidate plan: decisions, and the schedule that they decode to if it fits.

MOST_SHARDS: Final = 3000


@dataclass(frozen=True, slots=True)
class PlacementCandidate:
    """`schedule` is None where the decisions break a constraint."""

    name: str
    decisions: Decisions
    schedule: Schedule | None

    @property
    def ticks(self) -> int | None:
        return None if self.schedule is None else self.schedule.makespan


def within_limits(constraints: DirectiveConstraints, schedule: Schedule) -> bool:
    """Does a schedule obey the limit on machines and the deadline?"""
    if constraints.machines is not None and len({shard.device for shard in schedule.shards}) > constraints.machines:
        return False
    return constraints.deadline is None or schedule.makespan <= constraints.deadline


def legal_modes(decoder: ScheduleDecoder, decisions: Decisions) -> bool:
    """Do the modes distribute all rows and obey the directives about devices and cuts?"""
    constraints = decoder.constraints
    for p, mode in enumerate(decisions.modes):
        if sum(rows for _, rows in mode) != decoder.problem.phases[p].units:
            return False
        allowed = constraints.devices[p]
        if allowed is not None and any(device not in allowed for device, _ in mode):
            return False
        if p in constraints.fixed_modes and mode != constraints.fixed_modes[p]:
            return False
        if p in constraints.undivided and len(mode) > 1:
            return False
    return True


def best_timing(decoder: ScheduleDecoder, name: str, decisions: Decisions) -> PlacementCandidate:
    """The best schedule of modes and order over all insertion and transfer policies (of many shards only the given ones)."""
    best: Schedule | None = None
    once = sum(map(len, decisions.modes)) > MOST_SHARDS
    if legal_modes(decoder, decisions):
        for queueing in (decisions.queueing,) if once else dict.fromkeys((decisions.queueing, *InsertionPolicy)):
            for sending in (decisions.sending,) if once else TransferPolicy:
                schedule = decoder.decode(replace(decisions, queueing=queueing, sending=sending))
                if schedule is None or not within_limits(decoder.constraints, schedule):
                    continue
                if best is None or schedule.makespan < best.makespan:
                    best = schedule
                    decisions = replace(decisions, queueing=queueing, sending=sending)
    return PlacementCandidate(name, decisions, best)


# ---------------------------------------------------------------------------------------------------- baselines
#
# The baselines: one device, an even split, HEFT and PEFT, decoded under the problem's own constraints.

MOST_EVEN: Final = 4_000
"""Shards of an even split in all; beyond, each phase is split over fewer devices."""


def baselines(costs: Costs) -> tuple[PlacementCandidate, ...]:
    """The baselines: best single device, even split, HEFT, PEFT; without those that cannot be built."""
    order = topological_order(costs.decoder.before)
    if order is None or not all(costs.allowed):
        return ()
    results = [_best_single(costs, order), even_split(costs, order)]
    for name, make in (("HEFT", heft), ("PEFT", peft)):
        decisions = make(costs)
        if decisions is not None:
            results.append(best_timing(costs.decoder, name, decisions))
    return tuple(results)


def at_home(costs: Costs) -> Iterator[PlacementCandidate]:
    """Plans with every phase that may at home, in two orders: that of the file, and depth first (each operand just before its
    first reader)."""
    before = costs.decoder.before
    order = topological_order(before, range(len(before)))
    if order is None or not all(costs.allowed):
        return
    modes = tuple(costs.undivided_mode(p, _allowed_or_home(costs, p, costs.decoder.home)) for p in range(len(costs.allowed)))
    for priority in dict.fromkeys((tuple(order), tuple(_depth_first(before)))):
        yield best_timing(costs.decoder, "at home", Decisions(modes, priority))


def _depth_first(before: Sequence[Collection[int]]) -> list[int]:
    """A depth-first topological order: each phase comes just before its first reader."""
    read = {q for earlier in before for q in earlier}
    pending = [(p, False) for p in reversed(range(len(before))) if p not in read]
    placed: dict[int, None] = {}
    while pending:
        p, opened = pending.pop()
        if opened:
            placed[p] = None
        elif p not in placed:
            pending.append((p, True))
            pending += [(q, False) for q in sorted(before[p], reverse=True) if q not in placed]
    return list(placed)


def _best_single(costs: Costs, order: list[int]) -> PlacementCandidate:
    """The best plan that runs every possible phase on one device, and the others at home or where they must; one device per class
    is tried."""
    best: PlacementCandidate | None = None
    for members in costs.members:
        device = members[0]
        modes = tuple(costs.undivided_mode(p, _allowed_or_home(costs, p, device)) for p in range(len(costs.allowed)))
        candidate = best_timing(costs.decoder, "best single", Decisions(modes, tuple(order)))
        if best is None or best.ticks is None or (candidate.ticks is not None and candidate.ticks < best.ticks):
            best = candidate
    assert best is not None
    return best


def _allowed_or_home(costs: Costs, phase: int, device: int) -> int:
    allowed = costs.allowed[phase]
    for wanted in (device, costs.decoder.home):
        if costs.class_of[wanted] in costs.allowed_classes[phase] and wanted in allowed:
            return wanted
    return allowed[0]


def even_split(costs: Costs, order: list[int]) -> PlacementCandidate:
    """Every phase that can be cut evenly over all its devices; the others at home if they may."""
    cut = sum(1 for phase in costs.decoder.problem.phases if phase.rows)
    most = max(2, MOST_EVEN // max(1, cut))
    modes = tuple(even_mode(costs, p, most) for p in range(len(costs.allowed)))
    return best_timing(costs.decoder, "even split", Decisions(modes, tuple(order)))


def even_mode(costs: Costs, phase: int, most: int = MOST_EVEN) -> Mode:
    """The mode with even shares on the first `most` devices, at most, of those that may run the phase."""
    decoder = costs.decoder
    task = decoder.problem.phases[phase]
    if phase in decoder.constraints.fixed_modes or not task.rows or phase in decoder.constraints.undivided:
        return costs.undivided_mode(phase, _allowed_or_home(costs, phase, decoder.home))
    devices = costs.allowed[phase][: min(task.rows, decoder.constraints.machines or task.rows, most)]
    return tuple(zip(devices, apportion(task.rows, [1] * len(devices)), strict=True))
