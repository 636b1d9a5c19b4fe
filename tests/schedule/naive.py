"""A judge of schedules by sets: which units are where in each tick, which bytes are in use, who holds a channel.

Written from the Notes of `problem` alone, and slow on purpose: the verifier reasons with intervals, this one counts units and
ticks.  Where a schedule breaks V1 nothing else is asked, as the verifier does.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import ceil

from rho.backend.schedule.problem import Edge, Keep, Replicate, Shard, Transfer

from .naive_directives import Directives
from .naive_memory import Memory


class Naive(Memory, Directives):
    def codes(self) -> set[str]:
        """The names of the rules that are broken."""
        if any(self.missing()):
            return {"V1"}
        rules = {
            "V2": self.twice_at_once, "V3": self.badly_tiled, "V4": self.absent, "V5": self.too_full, "V6": self.badly_sent,
            "V8": self.disobeyed, "V9": self.badly_timed,
        }  # fmt: skip
        return {code for code, rule in rules.items() if any(rule())}

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
            if task.distributed is not None:
                ran = [(s.device, s.stop - s.first) for s in sorted(self.shards(phase), key=lambda s: s.first)]
                yield ran != list(task.distributed.mode)

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
            if task.distributed is not None:
                yield any(self.direction(*channel) is None for channel in task.distributed.channels)
                shard = next((s for s in self.shards(phase) if s.first == 0), None)
                if shard is not None:
                    quiet = {self.channel(*one): shard.start - self.on_its_way(one[0]) for one in task.distributed.channels}
                    held += [(name, start, shard.end) for name, start in quiet.items()]
        for at, (name, start, end) in enumerate(held):
            for other, begins, ends in held[:at]:
                yield name is not None and name == other and max(start, begins) < min(end, ends)

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
            if task.distributed is not None:
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
                task = self.problem.phases[t.phase]
                whole = t.bytes >= task.out_bytes or (link.least_row is not None and t.bytes / task.pieces >= link.least_row)
                busy += 0 if rate is None or t.partial or whole else ceil(t.bytes * task.packing)
                yield t.busy - t.start != busy or t.arrive != t.busy + link.latency
        for c in self.schedule.combines:
            combine = self.problem.phases[c.phase].combine
            came = [s.end for s in self.shards(c.phase, self.home)]
            brought = [t for t in self.partials(c.phase) if t.target == self.home]
            came = sorted([*came, *(t.arrive + self.groups[self.home].sync for t in brought)])
            if combine is not None and came:
                yield c.start < came[-1] or c.end != c.start + combine.ticks_per_shard * len(came)
