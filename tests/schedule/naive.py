"""A judge of schedules by sets: which units are where in each tick, which bytes are in use, who holds a channel.

Written from the Notes of `problem` alone, and slow on purpose: the verifier reasons with intervals, this one counts units and
ticks.  Where a schedule breaks V1 nothing else is asked, as the verifier does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from rho.backend.schedule.answer import Schedule, Shard, Transfer
from rho.backend.schedule.problem import (
    Adjacent,
    Before,
    Contention,
    Deadline,
    Duplex,
    Edge,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    NoSplit,
    Order,
    Place,
    Problem,
    Replicate,
    Split,
)


@dataclass(eq=False)
class Buffer:
    """Bytes on a device from a tick on; `uses`: (the tick at which a use ends, the shard that reads it if it is one)."""

    phase: int
    device: int
    units: set[int]
    size: int
    start: int
    made: int
    copy: Transfer | None = None
    uses: list[tuple[int, Shard | None]] = field(default_factory=list)
    ended: int | None = None


class Naive:
    def __init__(self, problem: Problem, schedule: Schedule) -> None:
        self.problem, self.schedule = problem, schedule
        self.names = problem.device_names()
        self.groups = [group for group in problem.devices for _ in range(group.count)]
        self.home = next(d for d, group in enumerate(self.groups) if group.home)
        self.last = schedule.makespan + 1

    def codes(self) -> set[str]:
        """The names of the rules that are broken."""
        if any(self.missing()):
            return {"V1"}
        rules = {
            "V2": self.twice_at_once, "V3": self.badly_tiled, "V4": self.absent, "V5": self.too_full, "V6": self.badly_sent,
            "V8": self.disobeyed, "V9": self.badly_timed,
        }  # fmt: skip
        return {code for code, rule in rules.items() if any(rule())}

    # ------------------------------------------------------------------ the problem

    def shards(self, phase: int, device: int | None = None) -> list[Shard]:
        return [s for s in self.schedule.shards if s.phase == phase and device in (None, s.device)]

    def combine_end(self, phase: int) -> int | None:
        return next((c.end for c in self.schedule.combines if c.phase == phase), None)

    def whole(self, phase: int) -> bool:
        task = self.problem.phases[phase]
        return task.rows == 0 or task.combine is not None or bool(task.together and task.together.gathers)

    def units(self, phase: int) -> int:
        return self.problem.phases[phase].out_bytes if self.whole(phase) else self.problem.phases[phase].rows

    def needs(self, edge: Edge, shard: Shard) -> set[int]:
        """Note [Needs]: the units that overlap the same part of the source."""
        task, units = self.problem.phases[edge.target], self.units(edge.source)
        if task.rows == 0 and edge.only is not None and not self.whole(edge.source):
            return set(range(*edge.only))
        if task.rows == 0 or edge.whole:
            return set(range(units))
        low, high = Fraction(shard.first, task.rows) * units, Fraction(shard.stop, task.rows) * units
        halo = 0 if self.whole(edge.source) else edge.halo
        return {u for u in range(units) if floor(low) - halo <= u < ceil(high) + halo}

    def bytes(self, phase: int, units: tuple[int, int], edge: Edge | None) -> int:
        """Of a part of an output on a link."""
        out, count = self.problem.phases[phase].out_bytes, self.units(phase)
        whole = out if edge is None or edge.bytes is None else edge.bytes
        if whole == out:
            return ceil(Fraction(out * units[1], count)) - ceil(Fraction(out * units[0], count)) if count else 0
        return ceil(Fraction(whole * (units[1] - units[0]), count)) if count else whole

    def delayed(self, edge: Edge) -> bool:
        return not self.problem.links or (self.problem.contention is Contention.OFF and edge.ticks is not None)

    def serves(self, moved: Transfer, edge: Edge) -> bool:
        """An edge that takes ticks of its own is not served by a link, nor another edge by anything else."""
        if not self.delayed(edge):
            return moved.link is not None
        return moved.link is None and moved.arrive == moved.start + (edge.ticks or 0)

    def devices_called(self, name: str) -> set[int]:
        return {
            d for d, group in enumerate(self.groups)
            if name in {self.names[d], group.id, group.kind, group.kind.partition("/")[0]}
        }  # fmt: skip

    def made(self, phase: int, device: int) -> list[tuple[set[int], int]]:
        """What a device makes of an output, and when."""
        everything = set(range(self.units(phase)))
        end = self.combine_end(phase)
        if end is not None:
            return [(everything, end)] if device == self.home else []
        if self.whole(phase):
            gathered = self.problem.phases[phase].together is not None and self.problem.phases[phase].rows > 0
            return [] if gathered and device != self.home else [(everything, s.end) for s in self.shards(phase, device)]
        return [(set(range(s.first, s.stop)), s.end) for s in self.shards(phase, device)]

    def sent(self, phase: int) -> list[Transfer]:
        return [t for t in self.schedule.transfers if t.phase == phase and not t.partial]

    def partials(self, phase: int) -> list[Transfer]:
        return [t for t in self.schedule.transfers if t.phase == phase and t.partial]

    # ------------------------------------------------------------------ V1, V2, V3

    def missing(self) -> Iterator[bool]:
        count, devices = range(len(self.problem.phases)), range(len(self.names))
        yield from (s.phase not in count or s.device not in devices for s in self.schedule.shards)
        for t in self.schedule.transfers:
            yield t.phase not in count or t.source not in devices or t.target not in devices
            yield t.first < 0 or t.stop < t.first
        yield from (c.phase not in count or not self.problem.phases[c.phase].combine for c in self.schedule.combines)
        for phase, task in enumerate(self.problem.phases):
            on = [s.device for s in self.shards(phase)]
            yield not on or len(set(on)) < len(on) or (task.rows == 0 and len(on) > 1)
            yield sum(c.phase == phase for c in self.schedule.combines) != (task.combine is not None)

    def twice_at_once(self) -> Iterator[bool]:
        steps = [(int(s.device), s.start, s.end) for s in self.schedule.shards]
        steps += [(self.home, c.start, c.end) for c in self.schedule.combines]
        for at, (device, start, end) in enumerate(steps):
            for other, begins, ends in steps[:at]:
                within = begins < start < ends if start == end else start < begins < end if begins == ends else False
                yield device == other and (max(start, begins) < min(end, ends) or within)

    def badly_tiled(self) -> Iterator[bool]:
        for phase, task in enumerate(self.problem.phases):
            rows = [row for s in self.shards(phase) for row in range(s.first, s.stop)]
            yield sorted(rows) != list(range(task.units)) or any(s.stop <= s.first for s in self.shards(phase))
            if task.together is not None:
                ran = [(s.device, s.stop - s.first) for s in sorted(self.shards(phase), key=lambda s: s.first)]
                yield ran != list(task.together.mode)

    # ------------------------------------------------------------------ V4

    def absent(self) -> Iterator[bool]:
        for shard in self.schedule.shards:
            for edge in self.problem.edges:
                if edge.target == shard.phase:
                    yield not self.there(edge, shard)
        for moved in self.schedule.transfers:
            if moved.partial:
                own = self.shards(moved.phase, moved.source)
                yield not any((s.first, s.stop) == (moved.first, moved.stop) and s.end <= moved.start for s in own)
            else:
                parts = [units for units, tick in self.made(moved.phase, moved.source) if tick <= moved.start]
                parts += [
                    set(range(t.first, t.stop)) for t in self.sent(moved.phase)
                    if t is not moved and t.target == moved.source and t.arrive <= moved.start
                ]  # fmt: skip
                yield not parts or bool(set(range(moved.first, moved.stop)) - set().union(*parts))
        for step in self.schedule.combines:
            parts = [*self.shards(step.phase, self.home), *(t for t in self.partials(step.phase) if t.target == self.home)]
            rows = [row for part in parts for row in range(part.first, part.stop)]
            yield sorted(rows) != list(range(self.problem.phases[step.phase].units))  # merged twice is wrong as well

    def there(self, edge: Edge, shard: Shard) -> bool:
        device = int(shard.device)
        parts = [units for units, tick in self.made(edge.source, device) if tick <= shard.start]
        for moved in self.sent(edge.source):
            seen = moved.arrive + self.groups[device].sync
            if moved.target == device and self.serves(moved, edge) and seen <= shard.start:
                parts.append(set(range(moved.first, moved.stop)))
        return bool(parts) and self.needs(edge, shard) <= set().union(*parts)

    # ------------------------------------------------------------------ V6

    def badly_sent(self) -> Iterator[bool]:
        held: list[tuple[object, int, int]] = []
        for moved in self.schedule.transfers:
            if moved.link is None:
                delayed = any(edge.source == moved.phase and self.delayed(edge) for edge in self.problem.edges)
                if self.problem.links and not delayed:
                    yield True
                    continue
            elif self.direction(moved.link, moved.source, moved.target) is None:
                yield True
                continue
            yield moved.bytes not in self.sizes(moved)
            held.append((self.channel(moved.link, moved.source, moved.target), moved.start, moved.busy))
        for phase, task in enumerate(self.problem.phases):
            if task.together is not None:
                yield any(self.direction(*channel) is None for channel in task.together.channels)
                shard = next((s for s in self.shards(phase) if s.first == 0), None)
                if shard is not None:
                    quiet = {self.channel(*one): shard.start - self.on_its_way(one[0]) for one in task.together.channels}
                    held += [(name, start, shard.end) for name, start in quiet.items()]
        for at, (name, start, end) in enumerate(held):
            for other, begins, ends in held[:at]:
                yield name is not None and name == other and max(start, begins) < min(end, ends)

    def direction(self, link: int, source: int, target: int) -> bool | None:
        """Is a link used from its source to its target?  None: it does not join the two."""
        if not 0 <= link < len(self.problem.links) or source == target:
            return None
        ends = [{self.names[d], self.groups[d].id} for d in (source, target)]
        one = self.problem.links[link]
        if one.source in ends[0] and one.target in ends[1]:
            return True
        return False if one.duplex is not Duplex.SIMPLEX and one.source in ends[1] and one.target in ends[0] else None

    def on_its_way(self, link: int) -> int:
        """The longest that anything which a link's channel was busy with takes to arrive."""
        group = self.problem.links[link].group
        return max(one.latency for at, one in enumerate(self.problem.links) if at == link or (group and one.group == group))

    def channel(self, link: int | None, source: int, target: int) -> object:
        """What nobody else may use at the same time."""
        if link is None or self.problem.contention is Contention.OFF:
            return None
        forwards = self.direction(link, source, target)
        if forwards is None:
            return None
        one = self.problem.links[link]
        ends = (source, target) if forwards else (target, source)
        way: object = "both ways"
        if one.duplex is Duplex.FULL:
            way = source < target if one.source == one.target else forwards
        if one.group is None:
            return link, frozenset(ends), way
        if not one.group.endswith("[i]"):
            return one.group, way
        counted = ends[0] if self.groups[ends[0]].count > 1 else ends[1]
        return one.group, self.names[counted].partition("[")[2] or "0]", way

    def sizes(self, moved: Transfer) -> set[int]:
        """What a transfer may weigh: by one of the edges, and no less than one says whose target reads it there or behind."""
        task = self.problem.phases[moved.phase]
        if moved.partial:
            return {task.combine.bytes if task.combine else 0}
        part = (moved.first, moved.stop)
        edges = [edge for edge in self.problem.edges if edge.source == moved.phase]
        sizes = {self.bytes(moved.phase, part, edge) for edge in edges}
        if not edges or any(isinstance(d, Keep | Replicate) and d.phase == moved.phase for d in self.problem.directives):
            sizes.add(self.bytes(moved.phase, part, None))
        units = set(range(*part))
        onward = [t for t in self.sent(moved.phase) if t.source == moved.target]
        places = {int(t.target) for t in onward if not units or units & set(range(t.first, t.stop))} - {int(moved.source)}
        least = 0
        for edge in edges:
            for device in places | {int(moved.target)}:
                for shard in self.shards(edge.target, device):
                    needs = self.needs(edge, shard)
                    if not needs or needs & units:
                        least = max(least, self.bytes(moved.phase, part, edge))
        return {size for size in sizes if size >= least}

    # ------------------------------------------------------------------ V9

    def badly_timed(self) -> Iterator[bool]:
        for s in self.schedule.shards:
            task = self.problem.phases[s.phase]
            table = task.ticks.get(self.groups[s.device].kind)
            yield s.start < 0 or s.start < task.ready
            if table is not None:
                yield s.end - s.start != table.at(s.stop - s.first if task.rows else 1)
            if task.together is not None:
                yield len({other.start for other in self.shards(s.phase)}) > 1
        for t in self.schedule.transfers:
            edges = [edge for edge in self.problem.edges if edge.source == t.phase and self.delayed(edge)]
            if t.link is None:
                delays = {edge.ticks or 0 for edge in edges}
                wanted = any(isinstance(d, Keep | Replicate) and d.phase == t.phase for d in self.problem.directives)
                if t.partial or wanted or not delays:
                    delays.add(0)
                yield t.busy != t.start or t.arrive - t.start not in delays
            elif 0 <= t.link < len(self.problem.links):
                link = self.problem.links[t.link]
                rate = link.bytes_per_tick
                busy = 0 if rate is None else ceil(Fraction(t.bytes) / rate)
                yield t.busy - t.start != busy or t.arrive != t.busy + link.latency
        for c in self.schedule.combines:
            combine = self.problem.phases[c.phase].combine
            came = [s.end for s in self.shards(c.phase, self.home)]
            brought = [t for t in self.partials(c.phase) if t.target == self.home]
            came = sorted([*came, *(t.arrive + self.groups[self.home].sync for t in brought)])
            if combine is not None and came:
                if combine.barrier:
                    yield c.start < came[-1] or c.end != c.start + combine.ticks_per_shard * len(came)
                else:
                    at = c.start
                    for tick in came:
                        at = max(at, tick) + combine.ticks_per_shard
                    yield c.start < came[0] or c.end != at

    # ------------------------------------------------------------------ V5

    def too_full(self) -> Iterator[bool]:
        caps = self.caps()
        yield from (caps[device] < peak for device, peak in self.peaks().items())

    def caps(self) -> dict[int, int]:
        limits = [(d, group.memory) for d, group in enumerate(self.groups) if group.memory is not None]
        for directive in self.problem.directives:
            if isinstance(directive, LimitMemory):
                limits += [(d, directive.bytes) for d in self.devices_called(directive.device)]
        return {d: min(size for other, size in limits if other == d) for d, _ in limits}

    def peaks(self) -> dict[int, int]:
        """By device with a limit, the most bytes in use in any tick."""
        spans: list[tuple[int, int, int, int]] = []  # (device, start, end, bytes)
        buffers: list[Buffer] = []
        grain = self.problem.memory_grain
        for s in self.schedule.shards:
            task = self.problem.phases[s.phase]
            scratch = ceil(Fraction(task.scratch * (s.stop - s.first), task.units))
            if task.together is not None:
                scratch = sum(n for (d, _), n in zip(task.together.mode, task.together.scratch, strict=True) if d == s.device)
            spans.append((s.device, s.start, s.end, scratch))
            if task.combine is not None:
                sent = [t.arrive for t in self.partials(s.phase) if t.source == s.device]
                ends = [s.end, *sent, *([self.combine_end(s.phase) or s.end] if s.device == self.home or not sent else [])]
                spans.append((s.device, s.start, max(ends), task.combine.bytes))
            elif self.made(s.phase, s.device):
                units = set(range(self.units(s.phase))) if self.whole(s.phase) else set(range(s.first, s.stop))
                buffers.append(Buffer(s.phase, s.device, units, self.output(s), s.start, s.end))
        for c in self.schedule.combines:
            units = set(range(self.units(c.phase)))
            buffers.append(Buffer(c.phase, self.home, units, self.problem.phases[c.phase].out_bytes, c.start, c.end))
        for t in self.schedule.transfers:
            if t.partial:
                is_read = t.target == self.home and t.first < t.stop
                combined = self.combine_end(t.phase) if is_read else None
                spans.append((t.target, t.start, self.last if combined is None else max(t.arrive, combined), t.bytes))
            else:
                units = set(range(t.first, t.stop))
                buffers.append(Buffer(t.phase, t.target, units, t.bytes, t.start, t.arrive, t))
        self.used(buffers)
        self.replaced(buffers)
        for b in buffers:
            last = max([b.made, *(tick for tick, _ in b.uses)] if b.uses else [b.made, self.last])
            spans.append((b.device, b.start, last if b.ended is None else b.ended, b.size))
        found = dict.fromkeys(self.caps(), 0)
        for device in found:
            own = [(start, end, -(-size // grain) * grain) for d, start, end, size in spans if d == device]
            ticks = {start for start, _, _ in own}
            found[device] = max([0, *(sum(size for a, b, size in own if a <= tick < b) for tick in ticks)])
        return found

    def output(self, s: Shard) -> int:
        """Bytes of what a shard makes, grains not counted."""
        if self.whole(s.phase):
            return self.problem.phases[s.phase].out_bytes if self.units(s.phase) else 0
        return self.bytes(s.phase, (s.first, s.stop), None)

    def used(self, buffers: list[Buffer]) -> None:
        for b in buffers:
            for edge in self.problem.edges:
                if edge.source == b.phase and (b.copy is None or self.serves(b.copy, edge)):
                    for s in self.shards(edge.target, b.device):
                        needs = self.needs(edge, s)
                        if not needs or needs & b.units:
                            b.uses.append((s.end, s))
            for t in self.sent(b.phase):
                if t.source == b.device and (t.first == t.stop or set(range(t.first, t.stop)) & b.units):
                    b.uses.append((t.arrive, None))
        for directive in self.problem.directives:
            if isinstance(directive, Keep | Replicate):
                everywhere = {int(s.device) for s in self.schedule.shards}
                named = self.devices_called(directive.device) if isinstance(directive, Keep) else everywhere
                there = [d for d in sorted(named) if self.holds(directive.phase, d)]
                for device in there[:1] if isinstance(directive, Keep) else there:
                    latest: dict[frozenset[int], Buffer] = {}
                    for b in sorted(buffers, key=lambda b: b.start):
                        if (b.phase, b.device) == (directive.phase, device):
                            latest[frozenset(b.units)] = b
                    for b in latest.values():
                        b.uses.append((self.last, None))

    def replaced(self, buffers: list[Buffer]) -> None:
        """Outputs that take the place of the largest operand which nobody needs any more."""
        grain = self.problem.memory_grain
        for s in sorted(self.schedule.shards, key=lambda s: (s.start, s.end, s.phase)):
            task = self.problem.phases[s.phase]
            size = task.combine.bytes if task.combine else self.output(s)
            if not task.inplace or not size:
                continue
            own = [
                b for b in buffers
                if b.ended is None and -(-b.size // grain) >= -(-size // grain) and b.made <= s.start
                and any(user is s for _, user in b.uses) and all(user is s or end <= s.start for end, user in b.uses)
            ]  # fmt: skip
            if own:
                max(own, key=lambda b: -(-b.size // grain)).ended = s.start

    # ------------------------------------------------------------------ V8

    def disobeyed(self) -> Iterator[bool]:
        for s in self.schedule.shards:
            task = self.problem.phases[s.phase]
            yield task.home and s.device != self.home
            yield self.groups[s.device].kind not in task.ticks
        effects = [phase for phase, task in enumerate(self.problem.phases) if task.effect]
        yield from (self.opens(b) < self.done(a) for a, b in pairwise(effects))
        for directive in self.problem.directives:
            yield from self.against(directive)

    def opens(self, phase: int) -> int:
        return min(s.start for s in self.shards(phase))

    def done(self, phase: int) -> int:
        end = self.combine_end(phase)
        return max(s.end for s in self.shards(phase)) if end is None else end

    def holds(self, phase: int, device: int) -> bool:
        parts = [units for units, _ in self.made(phase, device)]
        parts += [set(range(t.first, t.stop)) for t in self.sent(phase) if t.target == device]
        return bool(parts) and set().union(*parts) >= set(range(self.units(phase)))

    def against(self, directive: object) -> Iterator[bool]:
        used = {int(s.device) for s in self.schedule.shards}
        match directive:
            case Place():
                allowed = self.devices_called(directive.device)
                yield from (s.device not in allowed for phase in directive.phases for s in self.shards(phase))
            case Before():
                yield from (self.opens(b) < self.done(a) for a in directive.first for b in directive.then)
            case IssueBefore():
                for a, b in ((a, b) for a in directive.first for b in directive.then):
                    yield self.opens(a) > self.opens(b)
                    for early in self.shards(a):
                        yield from ((early.start, early.end) > (late.start, late.end) for late in self.shards(b, early.device))
            case Split():
                parts = directive.parts or (1,) * len(directive.devices)
                named = [self.names.index(name) for name in directive.devices]
                rows = self.problem.phases[directive.phase].units
                share = {d: Fraction(rows * part, sum(parts)) for d, part in zip(named, parts, strict=True)}
                has = {int(s.device): s.stop - s.first for s in self.shards(directive.phase)}
                yield from (abs(has.get(d, 0) - share[d]) >= 1 for d in share)
                yield any(not share.get(d) for d in has)
            case NoSplit():
                yield len(self.shards(directive.phase)) > 1
            case Replicate():
                yield not all(self.holds(directive.phase, d) for d in used)
            case Keep():
                yield not any(self.holds(directive.phase, d) for d in self.devices_called(directive.device))
            case LimitMachines():
                yield len(used) > directive.count
            case Deadline():
                yield self.schedule.makespan > directive.ticks
            case Adjacent():
                yield self.apart(directive.first, directive.then)
            case Order():
                yield from self.disordered(directive)

    def apart(self, a: int, b: int) -> bool:
        """Something starts between the two in a queue of either, or they stand the other way round."""
        queues = {s.device for s in (*self.shards(a), *self.shards(b))}
        between = [s for s in self.schedule.shards if s.phase not in (a, b) and s.device in queues]
        return self.opens(a) > self.opens(b) or any(self.opens(a) < s.start < self.opens(b) for s in between)

    def disordered(self, order: Order) -> Iterator[bool]:
        named = [item for item in order.items if item is not None]
        over = range(len(self.problem.phases)) if order.over is None else order.over
        others = [self.opens(phase) for phase in over if phase not in named]
        yield from (self.opens(a) > self.opens(b) for a, b in pairwise(named))
        for a, b in pairwise(order.items):
            yield a is not None and b is not None and self.apart(a, b)
        first, last = order.items[0], order.items[-1]
        yield first is not None and any(other < self.opens(first) for other in others)
        yield last is not None and any(other > self.opens(last) for other in others)
