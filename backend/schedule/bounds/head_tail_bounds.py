"""Lower bounds of the makespan in integers, for every plan that obeys the problem and its directives.

* heads and tails: the earliest start of a shard by class of device, and the ticks that must follow its end, latencies of
  transfers included; a phase that can be cut is water-filled between them; their sum with a phase is the critical path;
* load and energy: see `bound_strategies`;
* links: the bytes that must leave home or return to it over one channel;
* inflow: a shard that reads all of an output waits until all of it has come over the links into its device.

Note [Inflow].  Every row of an output on a device was either transferred there or computed there, from the same proportion of
each operand on that device.  So an output costs the device at least the smaller of the bytes of the output and those of its
largest operand; a part of the rows, the same part of these bytes.  The channels of the last hops into a device share them.

Note [Bounds of chunks].  Where a problem allows chunks, a phase that can be cut takes at least its rows times the least ticks of
a row, however it is cut; a reader of a part waits for one row, and one row must follow a transfer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import permutations
from typing import Final

from ....lang.support.records import cached_property, dataclass
from ..problem import Mode, allowed_devices
from ..timeline.problem_index import topological_order
from ..timeline.serial_sgs import ScheduleDecoder

# ---------------------------------------------------------------------------------------------------- contention-free costs
#
# Contention-free costs, as the list-scheduling papers define them: of a phase on a device, of an edge between two devices.
#
# Devices of one group form a class of equal costs, unless a link or a directive names an instance of it: then each is a class.

class Costs:
    """Contention-free costs.  `members`: the devices of each class, in order; `class_of`: the class of each device."""

    def __init__(self, decoder: ScheduleDecoder) -> None:
        self.decoder = decoder
        self.allowed, self._different = self._allowed()
        self.members = self._classes()
        self.class_of = [0] * len(decoder.kinds)
        for index, members in enumerate(self.members):
            for device in members:
                self.class_of[device] = index
        classes = {id(devices): sorted({self.class_of[d] for d in devices}) for devices in self._different}
        self.allowed_classes = [classes[id(devices)] for devices in self.allowed]
        self._links: dict[tuple[int, int, int], int | None] = {}
        self._means: dict[int, Fraction] = {}

    def _allowed(self) -> tuple[list[list[int]], list[list[int]]]:
        """By phase, the devices that may run it; and the distinct lists among them."""
        decoder = self.decoder
        constraints = decoder.constraints
        known: dict[tuple[frozenset[str], frozenset[int] | None], list[int]] = {}
        result: list[list[int]] = []
        for p, task in enumerate(decoder.problem.phases):
            chosen = constraints.devices[p]
            if p in constraints.fixed_modes:
                fixed = frozenset(device for device, _ in constraints.fixed_modes[p])
                chosen = fixed if chosen is None else chosen & fixed
            key = (frozenset(task.ticks), chosen)
            if key not in known:
                known[key] = [d for d in allowed_devices(decoder.problem, constraints, p) if chosen is None or d in chosen]
            result.append(known[key])
        return result, list(known.values())

    def _classes(self) -> list[list[int]]:
        """The device classes: devices of a group that the same phases may use.  Home, and instances that a link names, are
        classes of their own."""
        problem = self.decoder.problem
        home = self.decoder.home if problem.links or any(task.combine is not None for task in problem.phases) else -1
        ends = {end for link in problem.links for end in (link.source, link.target)} - {group.id for group in problem.devices}
        wanted = {d for devices in self.decoder.constraints.required_copies.values() for d in devices}
        sets = [frozenset(devices) for devices in self._different]
        result: list[list[int]] = []
        first = 0
        for group in problem.devices:
            alike: dict[tuple[object, ...], list[int]] = {}
            for device, name in enumerate(group.names(), first):
                restricted = device if device == home or device in wanted or name in ends else -1
                alike.setdefault((restricted, self.decoder.memory_limits[device], *(device in devices for devices in sets)),
                    []).append(device)
            first += group.count
            result += alike.values()
        return result

    @property
    def is_plannable(self) -> bool:
        """Are the directives consistent, some order of phases legal, and each phase allowed on some device?"""
        decoder = self.decoder
        return decoder.constraints.is_consistent and topological_order(decoder.before) is not None and all(self.allowed)

    def undivided_mode(self, phase: int, device: int) -> Mode:
        """The mode that runs all of `phase` on one device (or the mode that a directive fixes)."""
        fixed = self.decoder.constraints.fixed_modes.get(phase)
        return fixed if fixed is not None else ((device, self.decoder.problem.phases[phase].units),)

    def ticks(self, phase: int, device: int) -> int:
        """Ticks of all of `phase` on a device, its combine included."""
        result = 0
        for holder, rows in self.undivided_mode(phase, device):
            result = max(result, self.decoder.ticks(phase, holder, rows) or 0)
        combine = self.decoder.problem.phases[phase].combine
        return result + (combine.ticks_per_shard if combine is not None else 0)

    def transfer(self, edge: int, source: int, target: int) -> int | None:
        """Ticks from the end of the source phase on one device until the target phase can start on another."""
        if source == target:
            return 0
        key = (edge, self.class_of[source], self.class_of[target])
        if key not in self._links:
            self._links[key] = self._transfer_ticks(edge, source, target)
        return self._links[key]

    def edge_bytes(self, edge: int) -> int:
        """Bytes on a link when the target phase reads all that it needs of the source; see Note [Needs] of `problem`."""
        decoder = self.decoder
        low, high = decoder.part(edge, 0, decoder.problem.phases[decoder.targets[edge]].units)
        return decoder.part_bytes(decoder.sources[edge], low, high, decoder.problem.edges[edge].bytes)

    def _transfer_ticks(self, edge: int, source: int, target: int) -> int | None:
        decoder = self.decoder
        delay = decoder.delays[edge]
        if delay is not None:
            return delay + decoder.syncs[target]
        path = decoder.routes.path(source, target)
        if path is None:
            return None
        size = self.edge_bytes(edge)
        return sum(decoder.problem.links[hop.link].occupied(size) + hop.latency for hop in path) + decoder.syncs[target]

    def mean_ticks(self, phase: int) -> Fraction:
        """Mean ticks over the devices that may run the phase."""
        classes = self.allowed_classes[phase]
        devices = sum(len(self.members[c]) for c in classes)
        return Fraction(sum(self.ticks(phase, self.members[c][0]) * len(self.members[c]) for c in classes), max(1, devices))

    def mean_transfer(self, edge: int) -> Fraction:
        """Mean transfer ticks over the pairs of different devices."""
        if edge not in self._means:
            self._means[edge] = self._mean(edge)
        return self._means[edge]

    def _mean(self, edge: int) -> Fraction:
        delay = self.decoder.delays[edge]
        if delay is not None:
            return Fraction(delay)
        total = pairs = 0
        for source in self.members:
            for target in self.members:
                count = len(source) * (len(target) - (source is target))
                if count:
                    ticks = self.transfer(edge, source[0], target[1] if source is target else target[0])
                    total += (ticks or 0) * count
                    pairs += count
        return Fraction(total, max(1, pairs))


# ---------------------------------------------------------------------------------------------------- apportionment
#
# Bisection over integers, apportionment of rows, and sizes as text.

def apportion_within(counts: Sequence[int], rows: int) -> list[int]:
    """`rows` in proportion to `counts` by the largest-remainder method, none above its own count."""
    total = sum(counts)
    result = [count * rows // total for count in counts]
    left = rows - sum(result)
    for i in sorted(range(len(counts)), key=lambda i: (-(counts[i] * rows % total), i)):
        if left and result[i] < counts[i]:
            result[i] += 1
            left -= 1
    return result


def bisect_max(limit: int, within: Callable[[int], bool]) -> int:
    """The largest r <= `limit` with `within(r)`.  `within` is a predicate that holds for 0 and is monotone (true, then false)."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if within(middle):
            low = middle
        else:
            high = middle - 1
    return low


def bisect_min(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """The least D in [low, high] with `enough(D)`.  `enough` is a predicate that holds for `high` and is monotone (false, then
    true)."""
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


def bytes_text(size: int) -> str:
    """A size as text: from 100 kB on in MB (10⁶ bytes) with one decimal, rounded up (`0.2 MB`); smaller sizes in bytes (`48
    B`)."""
    if size >= 100_000:
        megabytes, tenth = divmod(-(-size // 100_000), 10)
        return f"{megabytes}.{tenth} MB" if tenth else f"{megabytes} MB"
    return f"{size} bytes"


def limit_text(size: int) -> str:
    """As `bytes_text`, in the words of `limit memory`."""
    return f"{size}B" if size < 100_000 else bytes_text(size).replace(" ", "")


def limit_bytes(size: int) -> int:
    """The bytes that the text of `limit_text` denotes."""
    return size if size < 100_000 else -(-size // 100_000) * 100_000


# ---------------------------------------------------------------------------------------------------- head and tail bounds

MOST_SHARDS: Final = 256
"""Shards up to which the ticks of a combine are optimised together with the width of the cut."""
MOST_EXACT: Final = 64
"""Phases up to which a cut phase is water-filled for every class that its operands may come from."""
FAR: Final = 1 << 60


@dataclass(frozen=True, slots=True)
class Bound:
    """No plan is shorter than `ticks`, because of `reason`."""

    ticks: int
    reason: str


class BoundSet:
    """Lower bounds of one problem, each computed on first use."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.decoder = costs.decoder
        order = topological_order(self.decoder.before)
        assert order is not None and all(costs.allowed)
        self.order = order
        self.phases = self.decoder.problem.phases
        self.chunked = self.decoder.problem.chunks > 1
        self.home = costs.class_of[self.decoder.home]
        self.undivided = [self._is_undivided(p) for p in range(len(order))]
        """Phases that run on one device in every plan."""
        self._forward: list[dict[int, int]] = [{} for _ in order]
        self._back: list[dict[int, int]] = [{} for _ in order]
        self._ends = [0] * len(order)
        self._incoming = [self._inbound_channel(members[0]) for members in costs.members]
        self._made_bytes: list[dict[int, int]] = [{} for _ in order]
        """By phase and class: the bytes that come to a device which makes all of the output.  See Note [Inflow]."""
        self._find_heads()
        self._find_tails()
        self.heads: list[dict[int, int]] = self._forward
        """By phase and class: no shard of it starts there before."""
        self.tails: list[dict[int, int]] = self._back
        """By phase and class: the ticks that must pass after a shard there has ended (with a combine: after that)."""

    # ------------------------------------------------------------------------------ phases

    def _is_undivided(self, phase: int) -> bool:
        constraints = self.decoder.constraints
        task = self.phases[phase]
        if phase in constraints.fixed_modes:
            return len(constraints.fixed_modes[phase]) == 1
        return not task.rows or phase in constraints.undivided or (not self.chunked and len(self.costs.allowed[phase]) == 1)

    def ticks_on(self, phase: int, kind: int) -> int:
        """Ticks of all of a phase on a device of class `kind`."""
        return self.decoder.ticks(phase, self.costs.members[kind][0], self.phases[phase].units) or 0

    def min_shard_ticks(self, phase: int, kind: int) -> int:
        """Ticks of the smallest shard that a phase may have on a device of class `kind`."""
        if self.undivided[phase]:
            return self.ticks_on(phase, kind)
        return self.decoder.min_ticks(phase, self.costs.members[kind][0], 1)

    def combine_ticks(self, phase: int) -> int:
        """The least ticks of the phase's combine."""
        combine = self.phases[phase].combine
        return 0 if combine is None else combine.ticks_per_shard

    def tail_with_combine(self, phase: int, kind: int) -> int:
        """The ticks that must follow the end of a shard of `phase` on class `kind`, its combine included."""
        tail = self._back[phase][kind]
        if self.phases[phase].combine is None:
            return tail
        return self.partial_ticks(phase, kind) + self.combine_ticks(phase) + tail

    def partial_ticks(self, phase: int, kind: int) -> int:
        """The least ticks from the end of a shard to the arrival of its partial at home, if it has a combine."""
        decoder = self.decoder
        combine = self.phases[phase].combine
        if combine is None or kind == self.home or not decoder.has_links:
            return 0
        path = decoder.routes.path(self.costs.members[kind][0], decoder.home)
        if path is None:
            return FAR
        return (
            sum(decoder.problem.links[hop.link].occupied(combine.bytes) + hop.latency for hop in path)
            + decoder.syncs[decoder.home]
        )

    def _water_filled_ticks(self, phase: int, offsets: Mapping[int, int]) -> int:
        """The least time in which the devices can run all rows under the best cut, where each class loses its `offsets` ticks
        before it starts; the combine is included (water-filling)."""
        task, decoder = self.phases[phase], self.decoder
        each = self.combine_ticks(phase)
        if phase in decoder.constraints.fixed_modes:
            mode = decoder.constraints.fixed_modes[phase]
            ends = [offsets.get(self.costs.class_of[d], 0) + (decoder.ticks(phase, d, rows) or 0) for d, rows in mode]
            return max(ends) + each * len(mode)
        groups = [(c, self.costs.members[c][0], len(self.costs.members[c])) for c in offsets]

        def reach(time: int, machines: int) -> int:
            counts = sorted(((self._rows_within(phase, d, time - offsets[c]), number) for c, d, number in groups), reverse=True)
            total = 0
            for rows, number in counts:
                total += rows * min(number, machines)
                machines -= min(number, machines)
            return total

        ceiling = min(offsets[c] + (decoder.ticks(phase, d, task.rows) or 0) for c, d, _ in groups)
        limit = min(sum(number for _, _, number in groups), task.rows, decoder.constraints.machines or task.rows)
        time = bisect_min(0, ceiling, lambda t: reach(t, limit) >= task.rows)
        if not each or limit > MOST_SHARDS:
            return time + each
        return bisect_min(time + each, ceiling + each, lambda t: any(
            reach(t - each * n, n) >= task.rows for n in range(1, limit + 1) if t >= each * n
        ))  # fmt: skip

    def _rows_within(self, phase: int, device: int, time: int) -> int:
        """The most rows that a device can run in `time` ticks, as one shard or in chunks."""
        if time < 0 or not self.chunked:
            return self.decoder.max_rows_within(phase, device, time) if time >= 0 else 0
        task = self.phases[phase]
        rate = task.ticks[self.decoder.kinds[device]].rate(task.rows)
        return task.rows if not rate else min(task.rows, time * rate.denominator // rate.numerator)

    def _travel(self, edge: int, source: int, target: int, everything: bool) -> int:
        """The least transfer ticks between devices of two classes, of the whole output or of some of it."""
        if source == target:
            return 0
        near, far = self.costs.members[source][0], self.costs.members[target][0]
        if everything or self.decoder.delays[edge] is not None:
            ticks = self.costs.transfer(edge, near, far)
            return FAR if ticks is None else ticks
        path = self.decoder.routes.path(near, far)
        return FAR if path is None else sum(hop.latency for hop in path) + self.decoder.syncs[far]

    def _inbound_channel(self, device: int) -> tuple[Fraction, int] | None:
        """(bytes per tick that can arrive at a device, ticks after the last byte); None where the links give no bound."""
        routes, devices = self.decoder.routes, len(self.decoder.kinds)
        if devices > MOST_EXACT or not self.decoder.has_links:
            return None
        hops = [path[0] for near in range(devices) if near != device and (path := routes.path(near, device)) and len(path) == 1]
        rates: dict[object, Fraction] = {}
        for hop in hops:
            rate = self.decoder.problem.links[hop.link].bytes_per_tick
            if hop.channel is None or rate is None:
                return None
            rates[hop.channel] = max(rate, rates.get(hop.channel, rate))
        last = self.decoder.syncs[device] + min((hop.latency for hop in hops), default=0)
        return (sum(rates.values(), Fraction(0)), last) if rates else None

    def _inflow_bytes(self, edge: int, kind: int) -> int:
        """The bytes that arrive at a device of a class before it has all data of an edge.  See Note [Inflow]."""
        decoder = self.decoder
        p, described = decoder.sources[edge], decoder.problem.edges[edge]
        if self._incoming[kind] is None or described.only is not None or decoder.delays[edge] is not None:
            return 0
        size, span = self.costs.edge_bytes(edge), decoder.output_extent[p]
        if span and size == self.phases[p].out_bytes and size % span:  # rounding may make a transfer of a part one byte shorter
            size = max(0, size - len(decoder.kinds) * decoder.problem.chunks**2)
        if self.phases[p].is_gathered:
            return 0 if kind == self.home else size
        return min(size, self._made_bytes[p].get(kind, size))

    def _inflow_arrival(self, edge: int, kind: int) -> int:
        """The first tick at which all data of an edge can be on a device of a class."""
        link, size = self._incoming[kind], self._inflow_bytes(edge, kind)
        if link is None or not size:
            return 0
        return -(-size * link[0].denominator // link[0].numerator) + link[1]

    def _reads_all(self, edge: int) -> bool:
        """Does every shard of the target wait for every shard of the source?"""
        source, target = self.decoder.sources[edge], self.decoder.targets[edge]
        gathered = self.undivided[source] or self.undivided[target] or self.phases[source].is_gathered
        return (gathered or self.decoder.problem.edges[edge].whole) and not self._may_skip_shards(edge)

    def _may_skip_shards(self, edge: int) -> bool:
        """May there be shards of the source that the target does not read?"""
        source = self.decoder.sources[edge]
        apart = not self.undivided[source] and not self.phases[source].is_gathered
        return apart and self.decoder.problem.edges[edge].only is not None

    # --------------------------------------------------------------------- heads and tails

    def _find_heads(self) -> None:
        decoder = self.decoder
        for p in self.order:
            floor = self.phases[p].ready
            for q in decoder.constraints.start_after[p]:
                floor = max(floor, self._ends[q])
            for q in decoder.constraints.issue_after[p]:
                floor = max(floor, min(self._forward[q].values()))
            heads = {
                c: max([floor, *(self._arrival(edge, c) for edge in decoder.incoming[p])]) for c in self.costs.allowed_classes[p]
            }
            self._forward[p] = heads
            self._made_bytes[p] = {
                c: max((self._inflow_bytes(edge, c) for edge in decoder.incoming[p]), default=0) for c in heads
            }
            arrive = {c: head + self.partial_ticks(p, c) for c, head in heads.items()}
            if self.undivided[p]:
                self._ends[p] = min(head + self.ticks_on(p, c) for c, head in arrive.items()) + self.combine_ticks(p)
            else:
                self._ends[p] = self._water_filled_ticks(p, arrive)

    def _arrival(self, edge: int, kind: int) -> int:
        """The earliest tick at which a shard on a device of class `kind` has its operand of `edge`."""
        q, target = self.decoder.sources[edge], self.decoder.targets[edge]
        everything = self.undivided[target] or self.decoder.problem.edges[edge].whole
        if self.phases[q].is_gathered:
            return self._ends[q] + self._travel(edge, self.home, kind, everything)
        some = min(
            head + self.min_shard_ticks(q, c) + self._travel(edge, c, kind, everything and self.undivided[q])
            for c, head in self._forward[q].items()
        )
        some = max(some, self._inflow_arrival(edge, kind) if everything else 0)
        return max(some, self._ends[q]) if self._reads_all(edge) else some

    def _find_tails(self) -> None:
        decoder = self.decoder
        followers: list[list[int]] = [[] for _ in self.order]
        for p, earlier in enumerate(decoder.constraints.start_after):
            for q in earlier:
                followers[q].append(p)
        filled: dict[int, int] = {}
        for p in reversed(self.order):
            for q in followers[p] + [decoder.targets[edge] for edge in decoder.outgoing[p]]:
                if q not in filled:
                    filled[q] = self._tail_from_start(q)
            floor = max((filled[q] for q in followers[p]), default=0)
            classes = self.costs.allowed_classes[p]
            if self.phases[p].is_gathered:
                tail = max([floor, *(self._tail_over(edge, self.home, filled) for edge in decoder.outgoing[p])])
                self._back[p] = dict.fromkeys(classes, tail)
            else:
                self._back[p] = {c: max([floor, *(self._tail_over(e, c, filled) for e in decoder.outgoing[p])]) for c in classes}

    def _tail_from_start(self, phase: int) -> int:
        """From the first start of a phase to the end of everything."""
        after = {c: self.tail_with_combine(phase, c) for c in self.costs.allowed_classes[phase]}
        if self.undivided[phase]:
            return min(self.ticks_on(phase, c) + ticks for c, ticks in after.items())
        # `tail_with_combine` includes the combine of one shard
        return self._water_filled_ticks(phase, {c: ticks - self.combine_ticks(phase) for c, ticks in after.items()})

    def _tail_over(self, edge: int, kind: int, filled: Mapping[int, int]) -> int:
        """The least ticks from the tick at which a part of the source is ready on a device of class `kind` to the end of the
        schedule."""
        if self._may_skip_shards(edge):
            return 0  # no reader waits for this shard
        source, q = self.decoder.sources[edge], self.decoder.targets[edge]
        gathered = self.undivided[source] or self.phases[source].is_gathered
        everything = gathered and (self.undivided[q] or self.decoder.problem.edges[edge].whole)
        arrivals = {
            c: self._travel(edge, kind, c, everything) + self.tail_with_combine(q, c) for c in self.costs.allowed_classes[q]
        }
        some = min(ticks + self.min_shard_ticks(q, c) for c, ticks in arrivals.items())
        if not self._reads_all(edge):
            return some
        if self.undivided[q] or len(self.order) > MOST_EXACT:
            return max(some, filled[q])
        return max(some, self._water_filled_ticks(q, {c: ticks - self.combine_ticks(q) for c, ticks in arrivals.items()}))

    @cached_property
    def path(self) -> Bound:
        """The critical path."""
        longest = 0
        for p in self.order:
            if self.undivided[p]:
                through = min(head + self.ticks_on(p, c) + self.tail_with_combine(p, c) for c, head in self.heads[p].items())
            else:
                through = self._water_filled_ticks(
                    p, {c: head + self.tail_with_combine(p, c) - self.combine_ticks(p) for c, head in self.heads[p].items()}
                )
            longest = max(longest, through)
        return Bound(longest, "critical path")

    @cached_property
    def shortest(self) -> list[int]:
        """By phase: its least ticks with an optimal cut."""
        return [
            min(self.ticks_on(p, c) for c in self.costs.allowed_classes[p]) + self.combine_ticks(p)
            if self.undivided[p]
            else self._water_filled_ticks(p, dict.fromkeys(self.costs.allowed_classes[p], 0))
            for p in range(len(self.order))
        ]

    # ------------------------------------------------------------------------------ links

    def links(self) -> Bound:
        """The bound per channel: the transfers that no placement avoids, since both phases of the edge have one possible
        device."""
        decoder, costs = self.decoder, self.costs
        carried: dict[object, list[tuple[int, int, int]]] = {}
        done: set[tuple[int, int]] = set()
        for edge in range(len(decoder.sources)):
            p, q = decoder.sources[edge], decoder.targets[edge]
            if decoder.delays[edge] is not None or len(costs.allowed[p]) != 1 or len(costs.allowed[q]) != 1:
                continue
            # a gathered output leaves from home, on whatever device its phase ran
            source, target = decoder.home if self.phases[p].is_gathered else costs.allowed[p][0], costs.allowed[q][0]
            path = decoder.routes.path(source, target) if source != target else None
            if path is None or len(path) != 1 or path[0].channel is None or (p, target) in done:
                continue
            done.add((p, target))
            busy = decoder.problem.links[path[0].link].occupied(costs.edge_bytes(edge))
            start, after = self._ends[p], self._tail_from_start(q)
            if self.chunked and not (self.undivided[p] or self.phases[p].is_gathered):
                start = min(head + self.min_shard_ticks(p, c) for c, head in self._forward[p].items())
            if self.chunked and not (self.undivided[q] or decoder.problem.edges[edge].whole):
                after = min(self.min_shard_ticks(q, c) + self.tail_with_combine(q, c) for c in costs.allowed_classes[q])
            rest = path[0].latency + decoder.syncs[target] + after
            carried.setdefault(path[0].channel, []).append((busy, start, rest))
        best = 0
        for items in carried.values():
            best = max(best, min(s for _, s, _ in items) + sum(b for b, _, _ in items) + min(r for _, _, r in items))
        return Bound(best, "link")


# ---------------------------------------------------------------------------------------------------- linear program
#
# Device classes as columns of the linear program, and the test whether `lp_relaxation`, which needs HiGHS, applies.

MOST_COLUMNS: Final = 4000


@dataclass(frozen=True, slots=True)
class DeviceClass:
    """`count` equal devices like `device`."""

    kind: int
    device: int
    count: int


def device_classes_of(bounds: BoundSet, p: int, goal: int) -> list[DeviceClass]:
    """The device classes on which shards of a phase may run in a schedule of less than `goal` ticks."""
    costs, allowed = bounds.costs, set(bounds.costs.allowed[p])
    classes = []
    for kind in costs.allowed_classes[p]:
        members = [d for d in costs.members[kind] if d in allowed]
        if bounds.heads[p][kind] + bounds.min_shard_ticks(p, kind) + bounds.tail_with_combine(p, kind) < goal:
            classes.append(DeviceClass(kind, members[0], len(members)))
    return classes


def is_applicable(bounds: BoundSet, goal: int) -> bool:
    """Can a phase be cut, is HiGHS installed, and is the linear program for schedules below `goal` ticks small enough?"""
    problem, decoder = bounds.decoder.problem, bounds.decoder
    if all(bounds.undivided) or any(edge.only is not None for edge in problem.edges) or find_spec("highspy") is None:
        return False
    if any(task.distributed is not None for task in problem.phases):
        return False
    places = [device_classes_of(bounds, p, goal) for p in range(len(problem.phases))]
    ends = {device_class.kind: device_class.device for classes in places for device_class in classes}.values()
    paths = (decoder.routes.path(a, b) for a, b in permutations(ends, 2))
    legs = sum(path is not None and len(path) == 1 for path in paths) if problem.links else len(ends) ** 2
    pairs = zip(decoder.sources, decoder.targets, strict=True)
    flows = sum(min(legs, len(places[p]) * len(places[q])) for p, q in pairs)
    return 2 * sum(map(len, places)) + 5 * len(places) + 2 * flows <= MOST_COLUMNS
