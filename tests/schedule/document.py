"""The shortest schedule of a tiny instance by enumeration, written from docs/semantics.md and docs/instances.md alone.

Every cut of every phase into shards and chunks on every device, every order of starts, every moment at which something has ended.

It reads the file's JSON, not the planners' problem.  For instances whose devices are all linked with each other, without counts.
Starts are enumerated in order: what is live at a start is then known, and memory grows at starts alone.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from math import ceil, floor

from rho.lang.support.records import dataclass


@dataclass(slots=True)
class Step:
    """A shard, a combination or a transfer; `after`: (step, ticks after its end or arrival); `claims`: what it excludes."""

    ticks: int
    latency: int = 0
    ready: int = 0
    after: tuple[tuple[int, int], ...] = ()
    claims: tuple[tuple[object, ...], ...] = ()


@dataclass(slots=True)
class Buffer:
    """Bytes on a device from the start of step `maker` to the end of all `users` (None among them: to the end)."""

    device: str
    bytes: int
    maker: int
    users: list[int | None]
    operands: tuple[int, ...] = ()
    """Of the result of an `inplace` phase: the buffers that it reads."""


def rows_bytes(phase: dict, first: int, stop: int) -> int:
    """Bytes of units [first, stop) of an output: rows, or bytes where the output is whole."""
    units, out = units_of(phase), phase.get("out_bytes", 0)
    return stop - first if is_whole(phase) else ceil(Fraction(out * stop, units)) - ceil(Fraction(out * first, units))


def meets(first: int, stop: int, low: int, high: int) -> bool:
    """Is anything of [low, high) in [first, stop)?  What is empty is read as it is."""
    return low == high or (low < stop and first < high)


def is_whole(phase: dict) -> bool:
    return not phase.get("rows") or "combine" in phase


def units_of(phase: dict) -> int:
    return phase.get("out_bytes", 0) if is_whole(phase) else phase["rows"]


class Document:
    def __init__(self, instance: dict) -> None:
        self.instance = instance
        self.devices = {device["id"]: device for device in instance["devices"]}
        self.home = next(device["id"] for device in instance["devices"] if device.get("home"))
        self.phases = instance["phases"]
        self.chunks = instance.get("chunks", 1)
        self.grain = instance.get("memory_grain", 1)

    # ------------------------------------------------------------------------------------------ links

    def link(self, source: str, target: str) -> dict | None:
        links = self.instance.get("links", [])
        stated = [one for one in links if (one["src"], one["dst"]) == (source, target)]
        back = [one for one in links if (one["dst"], one["src"]) == (source, target) and one.get("duplex", "half") != "simplex"]
        return (stated + back + [None])[0]

    def channel(self, link: dict, source: str, target: str) -> tuple[object, ...]:
        """What one transfer has at a time: a link or a group, in one direction where all links are full and meet at a device."""
        group = link.get("group")
        members = [one for one in self.instance["links"] if one.get("group") == group] if group else [link]
        ends = set.intersection(*({one["src"], one["dst"]} for one in members))
        if ends and all(one.get("duplex", "half") == "full" for one in members):
            return group or (link["src"], link["dst"]), source == min(ends)
        return (group or (link["src"], link["dst"]),)

    # ------------------------------------------------------------------------------------------ cuts

    def modes(self, phase: dict) -> list[list[tuple[str, int, int]]]:
        """Every way to give a phase's rows to devices, as shards in the order of rows."""
        able = [name for name, device in self.devices.items() if device.get("class", name) in phase["ticks"]]
        if phase.get("home") or phase.get("effect"):
            able = [name for name in able if name == self.home]
        rows = phase.get("rows", 0)
        if not rows:
            return [[(name, 0, 1)] for name in able]
        modes = []
        for count in range(1, min(len(able), rows) + 1):
            for order in permutations(able, count):
                for cuts in combinations(range(1, rows), count - 1):
                    ends = (0, *cuts, rows)
                    most = self.chunks if any(phase["ticks"].values()) else 1
                    parts = [pieces(ends[i], ends[i + 1], most) for i in range(count)]
                    for choice in product(*parts):
                        modes.append([(name, a, b) for name, part in zip(order, choice, strict=True) for a, b in part])
        return modes

    def needs(self, edge: dict, first: int, stop: int) -> tuple[int, int]:
        source, target = self.phase(edge["from"]), self.phase(edge["to"])
        units = units_of(source)
        if not target.get("rows") or edge.get("whole"):
            return 0, units
        return floor(Fraction(first * units, target["rows"])), ceil(Fraction(stop * units, target["rows"]))

    def phase(self, name: str) -> dict:
        return next(phase for phase in self.phases if phase["id"] == name)

    # ------------------------------------------------------------------------------------------ shortest

    def shortest(self) -> int | None:
        best: int | None = None
        for modes in product(*(self.modes(phase) for phase in self.phases)):
            expanded = Expansion(self, {phase["id"]: mode for phase, mode in zip(self.phases, modes, strict=True)})
            best = expanded.least(best)
        return best


def pieces(first: int, stop: int, most: int) -> list[list[tuple[int, int]]]:
    ways = []
    for count in range(1, min(most, stop - first) + 1):
        for cuts in combinations(range(first + 1, stop), count - 1):
            ends = (first, *cuts, stop)
            ways.append([(ends[i], ends[i + 1]) for i in range(count)])
    return ways


class Expansion:
    """Steps and buffers of one choice of shards."""

    def __init__(self, document: Document, modes: dict[str, list[tuple[str, int, int]]]) -> None:
        self.document, self.modes = document, modes
        self.steps: list[Step] = []
        self.buffers: list[Buffer] = []
        self.sent: dict[tuple[str, str], list[tuple[int, int, int, int]]] = {}
        self.shards: dict[str, list[tuple[str, int, int, int, int | None]]] = {}
        """By phase: (device, first unit, stop unit, step, buffer) of what it leaves."""
        for phase in document.phases:
            self.shard(phase)
        for buffer in self.buffers:
            if not buffer.users:
                buffer.users.append(None)

    def shard(self, phase: dict) -> None:
        document = self.document
        incoming = [edge for edge in document.instance["edges"] if edge["to"] == phase["id"]]
        numbers: dict[str, int] = {}
        left = []
        for device, first, stop in self.modes[phase["id"]]:
            numbers[device] = numbers.get(device, -1) + 1
            share = Fraction(stop - first, phase.get("rows", 0) or 1)
            ticks = ceil(phase["ticks"][document.devices[device].get("class", device)] * share)
            step = self.add(Step(ticks, 0, phase.get("ready", 0), (), (("device", device),)))
            operands = [one for edge in incoming for one in self.operands(edge, device, *document.needs(edge, first, stop))]
            self.steps[step].after = tuple((maker, delay) for maker, delay, _ in operands)
            for _, _, buffer in operands:
                self.buffers[buffer].users.append(step)
            if scratch := ceil(phase.get("scratch", 0) * share):
                self.buffers.append(Buffer(device, scratch, step, [step]))
            size = phase["combine"].get("bytes", 0) if "combine" in phase else (
                rows_bytes(phase, first, stop) if phase.get("rows") else phase.get("out_bytes", 0)
            )  # fmt: skip
            read = tuple(buffer for _, _, buffer in operands) if phase.get("inplace") else ()
            self.buffers.append(Buffer(device, size, step, [], read))
            left.append((device, first, stop, step, len(self.buffers) - 1))
        if "combine" in phase:
            left = [self.combine(phase, left)]
        elif not phase.get("rows"):
            left = [(device, 0, units_of(phase), step, buffer) for device, _, _, step, buffer in left]
        self.shards[phase["id"]] = left

    def add(self, step: Step) -> int:
        self.steps.append(step)
        return len(self.steps) - 1

    def combine(self, phase: dict, partials: list[tuple[str, int, int, int, int]]) -> tuple[str, int, int, int, int]:
        home = self.document.home
        step = self.add(Step(phase["combine"]["ticks_per_shard"] * len(partials), 0, 0, (), (("device", home),)))
        after = []
        for device, _, _, maker, buffer in partials:
            if device == home:
                after.append((maker, 0))
                self.buffers[buffer].users.append(step)
            else:
                sent, copy = self.transfer(device, home, maker, buffer, self.buffers[buffer].bytes)
                self.buffers[copy].users.append(step)
                after.append((sent, self.document.devices[home].get("sync", 0)))
        self.steps[step].after = tuple(after)
        self.buffers.append(Buffer(home, phase.get("out_bytes", 0), step, []))
        return home, 0, units_of(phase), step, len(self.buffers) - 1

    def transfer(self, source: str, target: str, maker: int, buffer: int, size: int) -> tuple[int, int]:
        link = self.document.link(source, target)
        assert link is not None
        rate = link.get("bytes_per_tick")
        busy = ceil(Fraction(size) / rate) if rate and size else 0
        claims = (self.document.channel(link, source, target),) if busy else ()
        step = self.add(Step(busy, link.get("latency", 0), 0, ((maker, 0),), claims))
        self.buffers[buffer].users.append(step)
        self.buffers.append(Buffer(target, size, step, []))
        return step, len(self.buffers) - 1

    def operands(self, edge: dict, device: str, first: int, stop: int) -> list[tuple[int, int, int]]:
        """(step, ticks after it, buffer) of what a shard reads: made on its device, or brought to it."""
        sync, reads = self.document.devices[device].get("sync", 0), []
        for source, a, b, maker, buffer in self.shards[edge["from"]]:
            if device == source and meets(first, stop, a, b):
                reads.append((maker, 0, buffer))
        if any(source != device for source, *_ in self.shards[edge["from"]]):
            sent = self.brought(edge["from"], device)
            reads += [(step, sync, buffer) for step, buffer, a, b in sent if meets(first, stop, a, b)]
        return reads

    def brought(self, name: str, device: str) -> list[tuple[int, int, int, int]]:
        """(step, buffer, first, stop) of the transfers of an output to a device, made when first asked for."""
        if (name, device) in self.sent:
            return self.sent[name, device]
        document, sent, upto = self.document, [], None
        phase = document.phase(name)
        for number in range(document.chunks):
            needs = [document.needs(edge, *at[number]) for edge in document.instance["edges"] if edge["from"] == name
                     for at in ([shard[1:] for shard in self.modes[edge["to"]] if shard[0] == device],) if number < len(at)]
            if not needs:
                continue
            first, stop = min(a for a, _ in needs), max(b for _, b in needs)
            first = first if upto is None else max(first, upto)
            for source, a, b, maker, buffer in self.shards[name]:
                low, high = max(a, first), min(b, stop)
                if source != device and (low < high or (a == b and upto is None)):
                    sent.append((*self.transfer(source, device, maker, buffer, rows_bytes(phase, low, high)), low, high))
            upto = stop if upto is None else max(upto, stop)
        self.sent[name, device] = sent
        return sent

    # ------------------------------------------------------------------------------------------ search

    def least(self, bound: int | None) -> int | None:
        """The least makespan below `bound`, else `bound`."""
        self.best = bound
        self.start: list[int | None] = [None] * len(self.steps)
        self.limits = {name: device.get("mem") for name, device in self.document.devices.items()}
        self.search(0, 0, 0)
        return self.best

    def end(self, step: int) -> int:
        return self.start[step] + self.steps[step].ticks + self.steps[step].latency

    def there(self, step: int) -> int:
        """When memory lets go of what a step holds: a step of no length is there for its tick."""
        return max(self.end(step), self.start[step] + 1)

    def search(self, placed: int, now: int, makespan: int) -> None:
        if placed == len(self.steps):
            self.best = makespan
            return
        for index, step in enumerate(self.steps):
            if self.start[index] is not None or any(self.start[maker] is None for maker, _ in step.after):
                continue
            earliest = max([now, step.ready, *(self.end(maker) + delay for maker, delay in step.after)])
            moments = {earliest, *(moment for other, at in enumerate(self.start) if at is not None
                                   for moment in (self.end(other), at + self.steps[other].ticks, at + 1) if moment > earliest)}
            for moment in sorted(moments):
                end = max(makespan, moment + step.ticks + step.latency)
                if self.best is not None and end >= self.best:
                    break
                if any(self.clashes(index, moment, other) for other, at in enumerate(self.start) if at is not None):
                    continue
                self.start[index] = moment
                if self.fits(moment):
                    self.search(placed + 1, moment, end)
                self.start[index] = None

    def clashes(self, index: int, moment: int, other: int) -> bool:
        one, two, at = self.steps[index], self.steps[other], self.start[other]
        return any(claim in two.claims for claim in one.claims) and moment < at + two.ticks

    def fits(self, tick: int) -> bool:
        """Is what is live at a tick, as far as steps are placed, at most each device's memory?"""
        used = dict.fromkeys(self.limits, 0)
        for buffer in self.buffers:
            if self.is_live(buffer, tick):
                used[buffer.device] += self.rounded(buffer.bytes)
        return all(limit is None or used[name] <= limit for name, limit in self.limits.items())

    def rounded(self, size: int) -> int:
        return -(-size // self.document.grain) * self.document.grain

    def is_live(self, buffer: Buffer, tick: int) -> bool:
        at = self.start[buffer.maker]
        if at is None or at > tick:
            return False
        if any(self.is_taken(self.buffers[operand], buffer) for operand in buffer.operands) and tick < self.there(buffer.maker):
            return False
        return any(user is None or self.start[user] is None or tick < self.there(user) for user in [*buffer.users, buffer.maker])

    def is_taken(self, operand: Buffer, result: Buffer) -> bool:
        """May the result lie inside the operand: is that at least as large, and has every other use of it ended?"""
        others = [user for user in [*operand.users, operand.maker] if user != result.maker]
        at = self.start[result.maker]
        return self.rounded(operand.bytes) >= self.rounded(result.bytes) and all(
            user is not None and self.start[user] is not None and self.there(user) <= at for user in others
        )
