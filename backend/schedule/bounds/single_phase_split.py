"""The optimal split of one phase over many devices, by water-filling with an integer certificate.

Applies where a single phase may be cut and every other phase has one device.  For a time D, each device has a greatest number of
rows that it can return home by D (inputs received, rows computed, output sent back), which never falls as D grows.  Bisection
gives the least D at which the counts of the best n devices reach all rows, for every n where a combine costs by n; the counts at
D - 1, which sum to too few, are the certificate.  Where all inputs go over one channel, the counts depend on the order of
service: all orders of the device classes are tried.

Costs here are never above the real ones (bytes are rounded down), so D is a bound; the decoded schedule is optimal when it meets
the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Final

from ....lang.diagnostics.model import Code
from ....lang.support.records import dataclass, field, replace
from ...devices.cost_functions import Ticks
from ..problem import Conflict, Decisions, DeviceGroup, Directive, Mode, PhaseIndex, Problem, Schedule, TransferPolicy
from ..search.list_scheduling import PlacementCandidate, best_timing
from ..search.strategy import FAST, SearchContext, Strategy
from ..timeline.problem_index import Routes, topological_order
from ..timeline.serial_sgs import ScheduleDecoder, decisions_of
from .head_tail_bounds import Costs, apportion_within, bisect_max, bisect_min, bytes_text

# ---------------------------------------------------------------------------------------------------- star topology
#
# The rows of one cut phase that each device can receive from home, compute and return, by a time.
#
# Costs here are never above the real ones: bytes are rounded down.

MOST_TRIES: Final = 100
"""Ranges of rows that are tested for the most rows by a time."""


class StarTopology:
    """A star of devices around home, and the one phase to be cut over them."""

    def __init__(self, costs: Costs, phase: int, order: list[int]) -> None:
        self.costs = costs
        self.decoder = costs.decoder
        self.phase = phase
        self.order = order
        self.task = self.decoder.problem.phases[phase]
        self.rows = self.task.rows
        self.device_classes = [[d for d in members if d in set(costs.allowed[phase])] for members in costs.members]
        self.device_classes = [members for members in self.device_classes if members]
        self.heads = self._heads()
        self.tail = self._tail()
        self.has_output_home = self.task.combine is not None or bool(self.decoder.outgoing[phase])
        self.row_capacity = [self._row_capacity(members[0]) for members in self.device_classes]

    def _heads(self) -> list[int]:
        """By incoming edge, the earliest tick at which the input is at home."""
        end = [0] * len(self.order)
        decoder = self.decoder
        for p in self.order:
            if p == self.phase:
                break
            start = max([decoder.problem.phases[p].ready, *(end[q] for q in decoder.before[p])])
            end[p] = start + (decoder.ticks(p, decoder.home, decoder.problem.phases[p].units) or 0)
        self.ready = max([self.task.ready, *(end[q] for q in decoder.constraints.start_after[self.phase])])
        return [end[decoder.sources[edge]] for edge in decoder.incoming[self.phase]]

    def _tail(self) -> int:
        """Ticks at home between the arrival of the output and the end of the schedule."""
        decoder = self.decoder
        rest = [0] * len(self.order)
        for p in reversed(self.order):
            for q in decoder.before[p]:
                if q in decoder.constraints.start_after[p] or any(decoder.sources[edge] == q for edge in decoder.incoming[p]):
                    rest[q] = max(rest[q], rest[p] + (decoder.ticks(p, decoder.home, decoder.problem.phases[p].units) or 0))
        return rest[self.phase]

    # ------------------------------------------------------------------------------ one device

    def _in_bytes(self, edge: int, rows: int) -> int:
        """Bytes that `rows` rows need of an input, rounded down."""
        decoder = self.decoder
        described = decoder.problem.edges[edge]
        size = decoder.problem.phases[described.source].out_bytes if described.bytes is None else described.bytes
        return size if described.whole else size * rows // self.rows

    def _out_bytes(self, rows: int) -> int:
        return self.task.combine.bytes if self.task.combine is not None else self.task.out_bytes * rows // self.rows

    def _row_capacity(self, device: int) -> int:
        """The most rows that fit in the device's memory; at home, inputs count in full."""
        cap = self.decoder.memory_limits[device]
        if cap is None:
            return self.rows
        decoder = self.decoder

        def within(rows: int) -> bool:
            size = self._out_bytes(rows) + self.task.scratch * rows // self.rows
            for edge in decoder.incoming[self.phase]:
                if device != decoder.home:
                    size += self._in_bytes(edge, rows)
                elif not self.task.inplace:
                    size += decoder.problem.phases[decoder.sources[edge]].out_bytes
            return size <= cap

        return bisect_max(self.rows, within)

    def _inputs_arrival(self, device: int, rows: int) -> int:
        """The earliest tick at which the inputs of `rows` rows are on the device, over channels that it shares with no other."""
        decoder = self.decoder
        start = self.ready
        free = 0
        for head, edge in sorted(zip(self.heads, decoder.incoming[self.phase], strict=True)):
            delay = decoder.delays[edge]
            if device == decoder.home:
                start = max(start, head)
            elif delay is not None:
                start = max(start, head + delay + decoder.syncs[device])
            else:
                path = decoder.routes.path(decoder.home, device)
                assert path is not None  # `_kind` checked that there is a path
                busy = decoder.problem.links[path[0].link].occupied(self._in_bytes(edge, rows))
                begin = head
                if busy and path[0].channel is not None:
                    begin = max(free, head)
                    free = begin + busy
                start = max(start, begin + busy + path[0].latency + decoder.syncs[device])
        return start

    def _inputs_arrival_after(self, device: int, rows: int, earlier: int) -> int:
        """The earliest arrival of the inputs if the shared channel first carries the inputs of `earlier` rows."""
        decoder = self.decoder
        if device == decoder.home:
            return self._inputs_arrival(device, rows)
        path = decoder.routes.path(decoder.home, device)
        assert path is not None
        link = decoder.problem.links[path[0].link]
        rate = link.bytes_per_tick
        assert rate is not None
        size = sum(self._in_bytes(edge, self.rows) for edge in decoder.incoming[self.phase])
        busy = -(-size * (earlier + rows) * rate.denominator // (self.rows * rate.numerator))
        return max(self.ready, max(self.heads) + busy + link.latency + decoder.syncs[device])

    def _return_ticks(self, device: int, rows: int) -> int:
        """Ticks from the end of a shard until its part is at home."""
        decoder = self.decoder
        if device == decoder.home or not self.has_output_home:
            return 0
        if self.task.combine is not None and not decoder.has_links:
            return decoder.syncs[decoder.home]
        if self.task.combine is None:
            delays = [delay for edge in decoder.outgoing[self.phase] if (delay := decoder.delays[edge]) is not None]
            if delays:
                return max(delays) + decoder.syncs[decoder.home]
        path = decoder.routes.path(device, decoder.home)
        assert path is not None
        link = decoder.problem.links[path[0].link]
        return link.occupied(self._out_bytes(rows)) + link.latency + decoder.syncs[decoder.home]

    def _end_with_rows(self, device: int, rows: int, earlier: int | None = None) -> int:
        ticks = self.decoder.ticks(self.phase, device, rows)
        assert ticks is not None
        return self._transfer_ticks(device, rows, earlier) + ticks

    def _transfer_ticks(self, device: int, rows: int, earlier: int | None) -> int:
        """Ticks of receiving the inputs of `rows` rows after those of `earlier` rows and returning the output: monotone in the
        rows."""
        brought = self._inputs_arrival(device, rows) if earlier is None else self._inputs_arrival_after(device, rows, earlier)
        return brought + self._return_ticks(device, rows)

    def _max_rows_by(self, index: int, time: int, earlier: int | None = None) -> int:
        """The most rows that a device of class `index` returns by `time`, or an upper bound of them after many tries."""
        device = self.device_classes[index][0]
        table = self.task.ticks[self.decoder.kinds[device]]
        waiting = [(1, self.row_capacity[index])]
        top = 0
        for _ in range(MOST_TRIES):
            if not waiting:
                return 0
            low, high = waiting.pop()
            left = time - self._transfer_ticks(device, low, earlier) if low <= high else -1
            top = table.max_rows_within(left, high) if left >= 0 else 0
            if top < low:
                continue
            if self._end_with_rows(device, top, earlier) <= time:
                return top
            if low < top:
                middle = (low + top) // 2
                waiting += [(low, middle), (middle + 1, top)]
        return max([0, *(high for _, high in waiting)])

    # ------------------------------------------------------------------------------ all devices

    def _channel_kind(self) -> str | None:
        """The topology: "free" where every device has channels of its own, "shared" if one channel of one speed serves all but
        home and nothing returns over it, None otherwise."""
        decoder = self.decoder
        remote = [index for index, members in enumerate(self.device_classes) if members != [decoder.home]]
        moved = any(self._in_bytes(edge, self.rows) for edge in decoder.incoming[self.phase] if decoder.delays[edge] is None)
        back = decoder.has_links and self.has_output_home and self._out_bytes(self.rows) > 0
        for index in remote:
            device = self.device_classes[index][0]
            needs_way = decoder.has_links and (
                any(decoder.delays[edge] is None for edge in decoder.incoming[self.phase]) or self.has_output_home
            )
            if needs_way and (
                decoder.routes.path(decoder.home, device) is None or decoder.routes.path(device, decoder.home) is None
            ):
                return None
        if not decoder.has_links or not (moved or back):
            return "free"
        routes = [
            {_channel(decoder, decoder.home, device, moved), _channel(decoder, device, decoder.home, back)} - {None}
            for index in remote
            for device in self.device_classes[index][:2]
        ]
        channels = [channel for route in routes for channel in route]
        if len(set(channels)) == len(channels):
            return "free"  # a device sends its output only after its own inputs have arrived
        speeds = {
            decoder.problem.links[path[0].link].bytes_per_tick
            for index in remote
            if (path := decoder.routes.path(decoder.home, self.device_classes[index][0])) is not None
        }
        even = len(set(self.heads)) == 1 and not any(
            decoder.problem.edges[edge].whole or decoder.delays[edge] is not None for edge in decoder.incoming[self.phase]
        )
        if len(set(channels)) == 1 and not back and len(speeds) == 1 and even:
            return "shared"
        return None


def _channel(decoder: ScheduleDecoder, source: int, target: int, used: bool) -> object:
    path = decoder.routes.path(source, target) if used else None
    return None if path is None else path[0].channel


# ---------------------------------------------------------------------------------------------------- split of one phase

__all__ = ["PhaseSplit", "bisect_max", "bytes_text", "split_single_phase"]

MOST_ORDERS: Final = 720
"""Orders of service on one channel that are tried; with more, no bound is claimed."""


@dataclass(frozen=True, slots=True)
class PhaseSplit:
    """A schedule with its certificate, or the reason why there is none.  `detail`: the rows that each device can return by
    `lower_bound` - 1 ticks; they sum to too few."""

    schedule: Schedule | None
    lower_bound: int
    detail: dict[str, int] = field(default_factory=dict)
    conflict: Conflict | None = None


def split_single_phase(costs: Costs) -> PhaseSplit | None:
    """The best cut of the only phase that can be cut; None where the problem has another form."""
    subject = _subject(costs)
    return None if subject is None else _SplitSolver(costs, *subject).solve()


def _subject(costs: Costs) -> tuple[int, list[int]] | None:
    """The phase that may be cut, and a topological order of all phases."""
    decoder = costs.decoder
    constraints = decoder.constraints
    order = topological_order(decoder.before)
    if order is None or decoder.required_elsewhere or not constraints.is_consistent or not all(costs.allowed):
        return None
    cut = [
        p for p, task in enumerate(decoder.problem.phases)
        if task.rows and len(costs.allowed[p]) > 1 and p not in constraints.fixed_modes and p not in constraints.undivided
    ]  # fmt: skip
    if len(cut) != 1 or any(costs.allowed[p] != [decoder.home] for p in order if p != cut[0]):
        return None
    if any(decoder.problem.edges[edge].only is not None for edge in decoder.outgoing[cut[0]]):
        return None  # an output without readers stays where it was produced
    return cut[0], order


class _SplitSolver(StarTopology):
    """Computes the best distribution of the rows."""

    def solve(self) -> PhaseSplit | None:
        kind = self._channel_kind()
        if kind is None:
            return None
        if self._total_row_capacity() < self.rows:
            return PhaseSplit(None, 0, conflict=self._memory_conflict())
        return self._solve_shared_channel() if kind == "shared" else self._solve_independent()

    def _total_row_capacity(self) -> int:
        return sum(room * len(members) for room, members in zip(self.row_capacity, self.device_classes, strict=True))

    def _responsible_directives(self) -> tuple[Directive, ...]:
        """A minimal set of directives whose removal makes the phase fit."""
        directives = self.decoder.problem.directives
        for directive in directives:
            rest = tuple(other for other in directives if other is not directive)
            costs = Costs(ScheduleDecoder(replace(self.decoder.problem, directives=rest)))
            if _SplitSolver(costs, self.phase, self.order)._total_row_capacity() < self.rows:
                directives = rest
        return directives

    def _memory_conflict(self) -> Conflict:
        """The conflict SCH103: the memory needed, the memory there is, and the difference."""
        caps = [room * len(members) for room, members in zip(self.row_capacity, self.device_classes, strict=True)]
        per_row = max(1, self._bytes_of_rows(self.rows) // self.rows)
        need = self._bytes_of_rows(self.rows)
        have = [self.decoder.memory_limits[d] or 0 for members in self.device_classes for d in members]
        missing = (self.rows - sum(caps)) * per_row
        shown = " + ".join(map(bytes_text, have)) if len(have) <= 8 else f"{len(have)} devices, {bytes_text(sum(have))}"
        if missing != need - sum(have):
            shown += f", which beside what else is there has room for {100 * sum(caps) // self.rows} % of it"
        return Conflict(
            Code.SCH103,
            self._responsible_directives(),
            (f"`{self.task.id}` needs {bytes_text(need)}", f"memory is {shown}", f"short {bytes_text(missing)}"),
            None,
            PhaseIndex(self.phase),
        )

    def _bytes_of_rows(self, rows: int) -> int:
        size = self._out_bytes(rows) + self.task.scratch * rows // self.rows
        return size + sum(self._in_bytes(edge, rows) for edge in self.decoder.incoming[self.phase])

    def _solve_independent(self) -> PhaseSplit:
        """Solve for independent channels: the best n devices are those with most rows at D."""
        limit = sum(map(len, self.device_classes))
        if self.decoder.constraints.machines is not None:
            limit = min(limit, self.decoder.constraints.machines)
        ceiling = self._ceiling()
        memo: dict[int, list[tuple[int, int]]] = {}

        def counts(time: int) -> list[tuple[int, int]]:
            """By device class the most rows by `time`, as (rows of one device, class), largest first; home goes before equals."""
            if time not in memo:
                memo[time] = sorted(
                    ((self._max_rows_by(i, time), i) for i in range(len(self.device_classes))),
                    key=lambda pair: (-pair[0], pair[1]),
                )
            return memo[time]

        def reach(time: int, number: int) -> int:
            rows, left = 0, number
            for count, index in counts(time):
                taken = min(left, len(self.device_classes[index]))
                rows += count * taken
                left -= taken
            return rows

        combine = self.task.combine
        each = combine.ticks_per_shard if combine is not None else 0
        best: tuple[int, int, int] | None = None
        if each == 0:
            if reach(ceiling, limit) < self.rows:
                return PhaseSplit(None, 0)
            time = bisect_min(0, ceiling, lambda t: reach(t, limit) >= self.rows)
            number = bisect_min(1, limit, lambda n: reach(time, n) >= self.rows)
            best = (time + self.tail, number, time)
        else:
            number = 1
            while number <= limit:
                if reach(ceiling, number) >= self.rows:
                    time = bisect_min(0, ceiling, lambda t, n=number: reach(t, n) >= self.rows)  # type: ignore[misc]
                    value = self.tail + time + each * number
                    if best is None or value < best[0]:
                        best = (value, number, time)
                    if best is not None and each * number + self.tail >= best[0]:
                        break
                number += 1
        if best is None:
            return PhaseSplit(None, 0)
        bound, number, time = best
        chosen: list[tuple[int, int]] = []
        for count, index in counts(time):
            for device in self.device_classes[index]:
                if len(chosen) < number and count:
                    chosen.append((device, count))
        chosen.sort()
        shares = apportion_within([count for _, count in chosen], self.rows)
        mode = tuple((d, rows) for (d, _), rows in zip(chosen, shares, strict=True) if rows)
        return self._answer([mode], bound, reach(time - 1, number), number)

    def _solve_shared_channel(self) -> PhaseSplit | None:
        """Solve for one shared channel: the most rows of each device in each order of service."""
        decoder = self.decoder
        remote = [i for i, members in enumerate(self.device_classes) if members != [decoder.home]]
        home = [i for i, members in enumerate(self.device_classes) if members == [decoder.home]]
        devices = [(index, device) for index in remote for device in self.device_classes[index]]
        orders = list(_orders([index for index, _ in devices]))
        if len(orders) > MOST_ORDERS or decoder.constraints.machines is not None or self.task.combine is not None:
            return None
        if any(type(table) is not Ticks for table in self.task.ticks.values()):
            return None  # where ticks may fall as rows grow, one row sent earlier may cost later devices more than one row

        def serve(time: int, order: Sequence[int]) -> list[tuple[int, int]]:
            """The (class, rows) of each device in this order of service.  Greedy is optimal: a row sent earlier costs later ones
            at most one."""
            served: list[tuple[int, int]] = [(index, self._max_rows_by(index, time)) for index in home]
            left = self.rows - sum(count for _, count in served)
            earlier = 0
            for index in order:
                count = min(max(left, 0), self._max_rows_by(index, time, earlier))
                served.append((index, count))
                left -= count
                earlier += count
            return served

        ceiling = self._ceiling()
        best: tuple[int, tuple[int, ...]] | None = None
        for order in orders:
            high = ceiling if best is None else best[0] - 1
            if sum(count for _, count in serve(high, order)) < self.rows:
                continue
            best = (bisect_min(0, high, lambda t, o=order: sum(c for _, c in serve(t, o)) >= self.rows), order)  # type: ignore[misc]
        if best is None:
            return PhaseSplit(None, 0)
        time, order = best
        before = max(sum(count for _, count in serve(time - 1, other)) for other in orders)
        taken: dict[int, int] = {}
        mode: list[tuple[int, int]] = []
        surplus = sum(count for _, count in serve(time, order)) - self.rows
        for index, count in serve(time, order):
            device = self.device_classes[index][taken.get(index, 0)]
            taken[index] = taken.get(index, 0) + 1
            given = count - min(count, surplus) if device == decoder.home else count
            surplus -= count - given
            if given:
                mode.append((device, given))
        return self._answer([tuple(mode)], time + self.tail, before, len(mode))

    def _ceiling(self) -> int:
        """An upper bound of the time: every usable device has as many of the rows as fit in its memory."""
        return max(
            self._end_with_rows(members[0], room, None if kind is None else self.rows)
            for kind in (None, self._channel_kind() == "shared" or None)
            for members, room in zip(self.device_classes, self.row_capacity, strict=True)
            if room
        )

    def _answer(self, modes: Sequence[Mode], bound: int, before: int, number: int) -> PhaseSplit:
        best: Schedule | None = None
        for mode in modes:
            choice = [self.costs.undivided_mode(p, devices[0]) for p, devices in enumerate(self.costs.allowed)]
            choice[self.phase] = mode
            for sending in TransferPolicy:
                schedule = self.decoder.decode(Decisions(tuple(choice), tuple(self.order), sending=sending))
                if schedule is not None and (best is None or schedule.makespan < best.makespan):
                    best = schedule
        return PhaseSplit(best, bound, {"rows": self.rows, "reached": before, "devices": number})


def _orders(kinds: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every order of a multiset of device classes; where these are too many, more than MOST_ORDERS empty tuples."""
    if factorial(min(len(kinds), 8)) <= MOST_ORDERS:
        yield from sorted(set(permutations(kinds)))
    elif len(set(kinds)) == 1:
        yield tuple(kinds)
    else:
        yield from (() for _ in range(MOST_ORDERS + 1))


# ---------------------------------------------------------------------------------------------------- device subsets
#
# Plans on subsets of the devices: the cost of slow devices and slow links shows only in plans without them.
#
# More devices never make the optimum longer, but they enlarge the space of a search with a limited number of moves.  So the
# problem is planned on subsets of the devices that its links and tables suggest, and the best of these plans is a start of the
# search. Omitted groups stay in the problem, so that devices keep their numbers and routes, but can run nothing.
#
# Note [Slivers].  A device with less than a hundredth of a phase costs a transfer and a wait, and saves a hundredth at most.
# After the search its rows go to the largest shard, of all phases at once or one by one, if the plan gets at most a hundredth
# longer, and no longer than a baseline.  A plan that is proved optimal is not changed.

MOST_SUBSETS: Final = 3
MOST_WORK: Final = 1024
"""Phases times devices up to which plans on fewer devices are made."""
MOST_SHARED: Final = 16
"""Phases up to which a subset gets all moves of the small budget; with more, proportionally fewer."""
SLIVER: Final = 100
"""A shard of less than one part in so many of its phase is a sliver."""
NO_CLASS: Final = "none"
"""A class of devices without tick tables, which run nothing."""

WITHOUT: Final = frozenset(
    ("fewer-devices", "slivers", "energetic", "z3", "chunks")
)  # fmt: skip
"""Strategies omitted for plans on subsets: those that only prove, and those applied to the best plan at the end."""


def nested_device_subsets(problem: Problem) -> tuple[frozenset[int], ...]:
    """Nested subsets of the device groups, by bandwidth of their links, then by speed.

    Each contains home's group and the groups that some phase requires; neither all groups nor home alone are among them."""
    starts = _firsts(problem.devices)
    routes, home = Routes(problem), int(problem.home)

    def slowness_of_links(group: int) -> Fraction:
        rates = (problem.links[hop.link].bytes_per_tick for hop in routes.path(home, starts[group]) or ())
        return sum((1 / rate for rate in rates if rate is not None), Fraction(0))

    base = {index for index, group in enumerate(problem.devices) if group.home}
    base |= {_group_at(starts, device) for task in problem.phases if task.distributed for device, _ in task.distributed.mode}
    kinds = [group.kind for group in problem.devices]
    needed = {kind for task in problem.phases if len(task.ticks) == 1 for kind in task.ticks}
    base |= {kinds.index(kind) for kind in needed if kinds.count(kind) == 1}
    ranked = sorted(
        (slowness_of_links(index), _slowness(problem, group.kind), index) for index, group in enumerate(problem.devices)
        if index not in base
    )  # fmt: skip
    nested: list[frozenset[int]] = []
    for number, (links, speed, _) in enumerate(ranked):
        behind = [one[:2] for one in ranked[number:]]
        if number and ranked[number - 1][:2] != (links, speed) and (ranked[number - 1][0] != links or len(set(behind)) == 1):
            nested.append(frozenset(base | {index for _, _, index in ranked[:number]}))
    return tuple(nested)


def _firsts(groups: Sequence[DeviceGroup]) -> list[int]:
    """The first device of each group."""
    firsts, first = [], 0
    for group in groups:
        firsts.append(first)
        first += group.count
    return firsts


def _group_at(starts: Sequence[int], device: int) -> int:
    return max(index for index, first in enumerate(starts) if first <= device)


def _slowness(problem: Problem, kind: str) -> int:
    """The sum of ticks of all phases, undivided, on a class; a phase that it cannot run counts as on the slowest class."""
    return sum(
        task.ticks[kind].at(task.units) if kind in task.ticks else max(table.at(task.units) for table in task.ticks.values())
        for task in problem.phases if task.ticks
    )  # fmt: skip


def restricted_to_groups(problem: Problem, usable: frozenset[int]) -> Problem:
    """The problem without chunks in which only these groups run phases."""
    groups = tuple(group if index in usable else replace(group, kind=NO_CLASS) for index, group in enumerate(problem.devices))
    return replace(problem, devices=groups, chunks=1)


def _fewer_devices(context: SearchContext) -> None:
    problem, budget = context.problem, context.budget
    moves = min(budget.moves, FAST.moves) * MOST_SHARED // max(MOST_SHARED, len(problem.phases))
    small = replace(FAST, moves=moves, without=budget.without | WITHOUT)
    for usable in _some_subsets(nested_device_subsets(problem)):
        answer = (
            None if context.solve_subproblem is None else context.solve_subproblem(restricted_to_groups(problem, usable), small)
        )
        if answer is not None and answer.schedule is not None:
            context.consider(PlacementCandidate("fewer devices", decisions_of(problem, answer.schedule), answer.schedule))


def _some_subsets(nested: Sequence[frozenset[int]]) -> Iterator[frozenset[int]]:
    """A few of the subsets, the largest first."""
    count = min(MOST_SUBSETS, len(nested))
    for index in range(count):
        yield nested[len(nested) - 1 - index * len(nested) // count]


FEWER_DEVICES: Final = Strategy(
    "fewer-devices", "plans without the devices behind the slowest links, and without the slowest, as starts of the search",
    _fewer_devices, lambda context: len(context.problem.phases) * len(context.decoder.kinds) <= MOST_WORK,
)  # fmt: skip


def _slivers(context: SearchContext) -> None:
    """A search strategy that removes slivers.  See Note [Slivers]."""
    incumbent, decoder = context.incumbent, context.decoder
    if incumbent.schedule is None:
        return
    known = [incumbent.schedule.makespan * (SLIVER + 1) // SLIVER]
    limit = max(incumbent.schedule.makespan, min([*known, *(one.ticks for one in context.baselines if one.ticks is not None)]))
    decisions = decisions_of(decoder.problem, incumbent.schedule)
    units = [task.units for task in decoder.problem.phases]
    small = [p for p, mode in enumerate(decisions.modes) if _without_slivers(mode, units[p]) != mode]
    for phases in (small, *([p] for p in small)):
        modes = tuple(_without_slivers(mode, units[p]) if p in phases else mode for p, mode in enumerate(decisions.modes))
        without = best_timing(decoder, "without slivers", replace(decisions, modes=modes)) if modes != decisions.modes else None
        if without is not None and without.schedule is not None and without.schedule.makespan <= limit:
            incumbent.schedule, decisions = without.schedule, without.decisions


def _without_slivers(mode: Mode, units: int) -> Mode:
    """The mode with the rows of slivers moved to the largest shard."""
    total: dict[int, int] = {}
    for device, rows in mode:
        total[device] = total.get(device, 0) + rows
    shards = [(device, rows) for device, rows in mode if SLIVER * total[device] >= units]
    if not shards or len(shards) == len(mode):
        return mode
    most = max(range(len(shards)), key=lambda index: shards[index][1])
    missing = units - sum(rows for _, rows in shards)
    return tuple((device, rows + missing * (index == most)) for index, (device, rows) in enumerate(shards))


SLIVERS: Final = Strategy(
    "slivers", "shards of less than a hundredth of their phase are left out where they make the plan no hundredth shorter",
    _slivers, lambda context: any(task.rows > SLIVER for task in context.problem.phases),
    supports_chunks=True,
)  # fmt: skip
