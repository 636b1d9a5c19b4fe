"""One phase cut over many devices, exactly: water-filling with an integer certificate.

Applies where a single phase may be cut and every other phase has one device.  For a time D, each device has the most rows
that it can have at home by D (its part of the inputs brought, computed, its part of the output brought back); these counts
never fall as D grows.  The least D at which the counts of the best n devices reach all rows is found by bisection, for every
n where a combine costs by n; the counts at D - 1, which sum to too few, are the certificate.  Where all inputs go over one
channel, the counts depend on who is served first: every order of the classes of devices is tried.

Costs here are never above the real ones (bytes are rounded down), so D is a bound; the plan is then laid out by `timing`,
and is optimal when it meets the bound.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations
from math import factorial
from typing import Final

from ....lang.codes import Code
from ..answer import Conflict, Schedule
from ..problem import Directive, PhaseIndex, Ticks
from ..timeline.orders import order_of
from ..timeline.timing import Decisions, Mode, Sending, Timer
from .costs import Costs
from .filling import bytes_text, fill, least, most
from .star import Star

__all__ = ["Split", "bytes_text", "most", "split"]

MOST_ORDERS: Final = 720
"""Orders on one channel that are tried; with more, no bound is claimed."""


@dataclass(frozen=True, slots=True)
class Split:
    """A schedule, what certifies it, or why there is none.  `detail`: rows that can be done by `lower_bound` - 1."""

    schedule: Schedule | None
    lower_bound: int
    detail: dict[str, int] = field(default_factory=dict)
    conflict: Conflict | None = None


def split(costs: Costs) -> Split | None:
    """The best cut of the only phase that can be cut; None where the problem is not of that kind."""
    found = _subject(costs)
    return None if found is None else _Dealer(costs, *found).solve()


def _subject(costs: Costs) -> tuple[int, list[int]] | None:
    """The phase that may be cut, and all phases in order."""
    timer = costs.timer
    limits = timer.limits
    order = order_of(timer.before)
    if order is None or timer.brought or not limits.possible or not all(costs.allowed):
        return None
    cut = [
        p for p, task in enumerate(timer.problem.phases)
        if task.rows and len(costs.allowed[p]) > 1 and p not in limits.fixed and p not in limits.unsplit
    ]  # fmt: skip
    if len(cut) != 1 or any(costs.allowed[p] != [timer.home] for p in order if p != cut[0]):
        return None
    if any(timer.problem.edges[edge].only is not None for edge in timer.outgoing[cut[0]]):
        return None  # what nobody reads stays where it was made
    return cut[0], order


class _Dealer(Star):
    """The best deal of the rows."""

    def solve(self) -> Split | None:
        kind = self._kind()
        if kind is None:
            return None
        if self._all_room() < self.rows:
            return Split(None, 0, conflict=self._short())
        return self._shared() if kind == "shared" else self._free()

    def _all_room(self) -> int:
        return sum(room * len(members) for room, members in zip(self.room, self.workers, strict=True))

    def _blamed(self) -> tuple[Directive, ...]:
        """The directives without any one of which there would be room."""
        kept = self.timer.problem.directives
        for directive in kept:
            rest = tuple(other for other in kept if other is not directive)
            costs = Costs(Timer(replace(self.timer.problem, directives=rest)))
            if _Dealer(costs, self.phase, self.order)._all_room() < self.rows:
                kept = rest
        return kept

    def _short(self) -> Conflict:
        """SCH103 with what is needed, what there is, and the difference."""
        caps = [room * len(members) for room, members in zip(self.room, self.workers, strict=True)]
        per_row = max(1, self._memory_of(self.rows) // self.rows)
        need = self._memory_of(self.rows)
        have = [self.timer.caps[d] or 0 for members in self.workers for d in members]
        missing = (self.rows - sum(caps)) * per_row
        shown = " + ".join(map(bytes_text, have)) if len(have) <= 8 else f"{len(have)} devices, {bytes_text(sum(have))}"
        if missing != need - sum(have):
            shown += f", which beside what else is there has room for {100 * sum(caps) // self.rows} % of it"
        return Conflict(
            Code.SCH103,
            self._blamed(),
            (f"`{self.task.id}` needs {bytes_text(need)}", f"memory is {shown}", f"short {bytes_text(missing)}"),
            None,
            PhaseIndex(self.phase),
        )

    def _memory_of(self, rows: int) -> int:
        size = self._out_bytes(rows) + self.task.scratch * rows // self.rows
        return size + sum(self._in_bytes(edge, rows) for edge in self.timer.incoming[self.phase])

    def _free(self) -> Split:
        """No two devices share a channel: the best n are those with most rows at D."""
        limit = sum(map(len, self.workers))
        if self.timer.limits.machines is not None:
            limit = min(limit, self.timer.limits.machines)
        ceiling = self._ceiling()
        memo: dict[int, list[tuple[int, int]]] = {}

        def counts(time: int) -> list[tuple[int, int]]:
            """(rows of one, class) with the most first; home before its equals."""
            if time not in memo:
                memo[time] = sorted(
                    ((self._capacity(i, time), i) for i in range(len(self.workers))), key=lambda pair: (-pair[0], pair[1])
                )
            return memo[time]

        def reach(time: int, number: int) -> int:
            rows, left = 0, number
            for count, index in counts(time):
                taken = min(left, len(self.workers[index]))
                rows += count * taken
                left -= taken
            return rows

        combine = self.task.combine
        each = combine.ticks_per_shard if combine is not None else 0
        best: tuple[int, int, int] | None = None
        if each == 0:
            if reach(ceiling, limit) < self.rows:
                return Split(None, 0)
            time = least(0, ceiling, lambda t: reach(t, limit) >= self.rows)
            number = least(1, limit, lambda n: reach(time, n) >= self.rows)
            best = (time + self.tail, number, time)
        else:
            number = 1
            while number <= limit:
                if reach(ceiling, number) >= self.rows:
                    time = least(0, ceiling, lambda t, n=number: reach(t, n) >= self.rows)  # type: ignore[misc]
                    value = self.tail + (time + each * number if combine is not None and combine.barrier else time + each)
                    if combine is not None and not combine.barrier:
                        value = max(value, self.tail + each * number + min(self._done(m[0], 1) for m in self.workers))
                    if best is None or value < best[0]:
                        best = (value, number, time)
                    if best is not None and each * number + self.tail >= best[0]:
                        break
                number += 1
        if best is None:
            return Split(None, 0)
        bound, number, time = best
        chosen: list[tuple[int, int]] = []
        for count, index in counts(time):
            for device in self.workers[index]:
                if len(chosen) < number and count:
                    chosen.append((device, count))
        chosen.sort()
        shares = fill([count for _, count in chosen], self.rows)
        mode = tuple((d, rows) for (d, _), rows in zip(chosen, shares, strict=True) if rows)
        return self._answer([mode], bound, reach(time - 1, number), number)

    def _shared(self) -> Split | None:
        """One channel for all: rows of each device in each order of service, as many as it can have."""
        timer = self.timer
        remote = [i for i, members in enumerate(self.workers) if members != [timer.home]]
        home = [i for i, members in enumerate(self.workers) if members == [timer.home]]
        devices = [(index, device) for index in remote for device in self.workers[index]]
        orders = list(_orders([index for index, _ in devices]))
        if len(orders) > MOST_ORDERS or timer.limits.machines is not None or self.task.combine is not None:
            return None
        if any(type(table) is not Ticks for table in self.task.ticks.values()):
            return None  # where ticks may fall, a row sent earlier may cost those after it more than one

        def serve(time: int, order: Sequence[int]) -> list[tuple[int, int]]:
            """(class, rows) of each device, served greedily: a row sent earlier costs those after it at most one."""
            served: list[tuple[int, int]] = [(index, self._capacity(index, time)) for index in home]
            left = self.rows - sum(count for _, count in served)
            earlier = 0
            for index in order:
                count = min(max(left, 0), self._capacity(index, time, earlier))
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
            best = (least(0, high, lambda t, o=order: sum(c for _, c in serve(t, o)) >= self.rows), order)  # type: ignore[misc]
        if best is None:
            return Split(None, 0)
        time, order = best
        before = max(sum(count for _, count in serve(time - 1, other)) for other in orders)
        taken: dict[int, int] = {}
        mode: list[tuple[int, int]] = []
        surplus = sum(count for _, count in serve(time, order)) - self.rows
        for index, count in serve(time, order):
            device = self.workers[index][taken.get(index, 0)]
            taken[index] = taken.get(index, 0) + 1
            given = count - min(count, surplus) if device == timer.home else count
            surplus -= count - given
            if given:
                mode.append((device, given))
        return self._answer([tuple(mode)], time + self.tail, before, len(mode))

    def _ceiling(self) -> int:
        """By then every device that can take part has all the rows that fit in it."""
        return max(
            self._done(members[0], room, None if kind is None else self.rows)
            for kind in (None, self._kind() == "shared" or None)
            for members, room in zip(self.workers, self.room, strict=True)
            if room
        )

    def _answer(self, modes: Sequence[Mode], bound: int, before: int, number: int) -> Split:
        best: Schedule | None = None
        for mode in modes:
            choice = [self.costs.single(p, devices[0]) for p, devices in enumerate(self.costs.allowed)]
            choice[self.phase] = mode
            for sending in Sending:
                schedule = self.timer.lay_out(Decisions(tuple(choice), tuple(self.order), sending=sending))
                if schedule is not None and (best is None or schedule.makespan < best.makespan):
                    best = schedule
        return Split(best, bound, {"rows": self.rows, "reached": before, "devices": number})


def _orders(kinds: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every order of a multiset, until there are too many."""
    if factorial(min(len(kinds), 8)) <= MOST_ORDERS:
        yield from sorted(set(permutations(kinds)))
    elif len(set(kinds)) == 1:
        yield tuple(kinds)
    else:
        yield from (() for _ in range(MOST_ORDERS + 1))
