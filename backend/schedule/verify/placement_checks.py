"""V1, V3, V6 and V8 of a schedule: phases run once, in shards that tile their rows, transfers use links, directives hold."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias, assert_never

from ...devices.cost_functions import Duplex, Ticks
from ..problem import (
    Before,
    Contention,
    Deadline,
    Directive,
    DistributedMode,
    Edge,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    Link,
    NoSplit,
    PlaceDirective,
    Problem,
    Replicate,
    Schedule,
    ScheduledCombine,
    Shard,
    Speculate,
    Split,
    Transfer,
)
from .judge import Rule, Violation

# ---------------------------------------------------------------------------------------------------- index of the schedule
#
# A problem and a schedule, indexed for the verifier: devices, links, bytes and ticks by arithmetic of its own (rationals, rounded
# up once).
#
# Nothing of the planner is imported, so that an error there is not repeated here.  Units of an output are its rows, or its bytes
# where it is atomic or gathered.

def ceil_div(number: int, size: int) -> int:
    """number ÷ size, rounded up."""
    return -(-number // size)


class JudgeIndex:
    """A problem and a schedule, indexed."""

    def __init__(self, problem: Problem, schedule: Schedule) -> None:
        self.problem = problem
        self.schedule = schedule
        self.names: list[str] = []
        self.group: list[int] = []
        self.instance: list[int] = []
        for index, group in enumerate(problem.devices):
            for instance, name in enumerate(group.names()):
                self.names.append(name)
                self.group.append(index)
                self.instance.append(instance)
        self.home = next(device for device, index in enumerate(self.group) if problem.devices[index].home)
        self.sync = [problem.devices[index].sync for index in self.group]
        self.kind = [problem.devices[index].kind for index in self.group]
        self.memory_limits = self._memory_limits()
        self.shards: dict[int, list[Shard]] = defaultdict(list)
        for shard in schedule.shards:
            self.shards[shard.phase].append(shard)
        self.combine: dict[int, ScheduledCombine] = {step.phase: step for step in schedule.combines}
        self.on: dict[tuple[int, int], list[Shard]] = defaultdict(list)
        for shard in schedule.shards:
            self.on[shard.phase, shard.device].append(shard)
        self.incoming: dict[int, list[Edge]] = defaultdict(list)
        self.outgoing: dict[int, list[Edge]] = defaultdict(list)
        for edge in problem.edges:
            self.incoming[edge.target].append(edge)
            self.outgoing[edge.source].append(edge)
        self.used = {int(shard.device) for shard in schedule.shards}
        self._full_duplex: dict[str, bool] = {}
        self._common_ends: dict[str, frozenset[int]] = {}
        self.wanted = {
            d.phase for d in problem.directives if isinstance(d, Keep | Replicate)
            and not (isinstance(d, Keep) and problem.phases[d.phase].home and self.named(d.device) == {self.home})
        }  # fmt: skip

    def _memory_limits(self) -> list[int | None]:
        caps = [self.problem.devices[index].memory for index in self.group]
        for directive in self.problem.directives:
            if isinstance(directive, LimitMemory):
                for device in self.named(directive.device):
                    before = caps[device]
                    caps[device] = directive.bytes if before is None else min(before, directive.bytes)
        return caps

    def named(self, name: str) -> set[int]:
        """The devices that `name` denotes: an instance, a group, or a class (`gpu` also denotes the class `gpu/gpu1`)."""
        groups = self.problem.devices
        return {
            device for device, index in enumerate(self.group)
            if name in (self.names[device], groups[index].id, groups[index].kind, groups[index].kind.split("/", 1)[0])
        }  # fmt: skip

    def id(self, phase: int) -> str:
        return self.problem.phases[phase].id

    def name(self, step: object) -> str:
        """A shard, combine or transfer in words."""
        match step:
            case Shard():
                return f"`{self.id(step.phase)}` on {self.names[step.device]} (at {step.start})"
            case ScheduledCombine():
                return f"the combine of `{self.id(step.phase)}` (at {step.start})"
            case Transfer():
                return f"`{self.id(step.phase)}` from {self.names[step.source]} to {self.names[step.target]} (at {step.start})"
            case _:
                return ""

    # ------------------------------------------------------------------ outputs

    def is_undivided(self, phase: int) -> bool:
        """Is the output one piece: produced by one device, or gathered at home?"""
        task = self.problem.phases[phase]
        return task.rows == 0 or task.is_gathered

    def holds_no_output(self, phase: int, device: int) -> bool:
        """Does the device take part in a distributed phase whose output is gathered at home?"""
        distributed = self.problem.phases[phase].distributed
        return distributed is not None and distributed.gathers and device != self.home

    def units(self, phase: int) -> int:
        task = self.problem.phases[phase]
        return task.out_bytes if self.is_undivided(phase) else task.rows

    def end_of(self, phase: int) -> int:
        """The tick at which a phase is complete, its combine included."""
        ends = [shard.end for shard in self.shards[phase]]
        return self.combine[phase].end if phase in self.combine else max(ends, default=0)

    def units_read(self, edge: Edge, shard: Shard) -> tuple[int, int]:
        """Units of the source that a shard of the target reads."""
        units, rows = self.units(edge.source), self.problem.phases[edge.target].rows
        if rows == 0 and edge.only is not None and not self.is_undivided(edge.source):
            return edge.only
        if edge.whole or rows == 0:
            return 0, units
        around = 0 if self.is_undivided(edge.source) else edge.halo
        return max(0, shard.first * units // rows - around), min(units, ceil_div(shard.stop * units, rows) + around)

    def size(self, phase: int, first: int, stop: int, result_bytes: int | None) -> int:
        """Bytes of units [first, stop) of an output that is `whole` bytes (None: its `out_bytes`) on a link."""
        units, out = self.units(phase), self.problem.phases[phase].out_bytes
        if result_bytes is None or result_bytes == out:
            return ceil_div(out * stop, units) - ceil_div(out * first, units) if units else 0
        return ceil_div(result_bytes * (stop - first), units) if units else result_bytes

    def rounded_to_grain(self, size: int) -> int:
        return ceil_div(size, self.problem.memory_grain) * self.problem.memory_grain

    def ticks(self, phase: int, device: int, rows: int) -> int | None:
        """Ticks of a shard by the table of the device's class; None if it cannot run there."""
        table = self.problem.phases[phase].ticks.get(self.kind[device])
        if table is None:
            return None
        if type(table) is not Ticks:  # the cost model, asked at each number of rows: there is no line to interpolate
            return table.at(rows)
        points = table.points
        if len(points) == 1:
            return ceil_div(points[0][1] * rows, points[0][0])
        if rows <= points[0][0]:
            return points[0][1]
        at = 1
        while at < len(points) - 1 and points[at][0] < rows:
            at += 1
        (low, first), (high, last) = points[at - 1], points[at]
        return first + ceil_div((last - first) * (rows - low), high - low)

    # ------------------------------------------------------------------ links

    def has_fixed_delay(self, edge: Edge) -> bool:
        """Does the edge take its own ticks and no link?"""
        return not self.problem.links or (self.problem.contention is Contention.OFF and edge.ticks is not None)

    def is_end(self, device: int, end: str) -> bool:
        return end in (self.names[device], self.problem.devices[self.group[device]].id)

    def joins(self, link: Link, source: int, target: int) -> bool:
        forwards = self.is_end(source, link.source) and self.is_end(target, link.target)
        backwards = self.is_end(source, link.target) and self.is_end(target, link.source)
        return source != target and (forwards or (backwards and link.duplex is not Duplex.SIMPLEX))

    def channel(self, transfer: Transfer) -> tuple[object, ...] | None:
        """The channel that the transfer occupies exclusively; None if there is none."""
        links = self.problem.links
        if transfer.link is None or not 0 <= transfer.link < len(links) or self.problem.contention is Contention.OFF:
            return None
        link = links[transfer.link]
        source, target = int(transfer.source), int(transfer.target)
        if link.group is None:
            return (transfer.link, min(source, target), max(source, target), source < target and link.duplex is Duplex.FULL)
        several = [device for device in (source, target) if self.problem.devices[self.group[device]].count > 1]
        if link.group.endswith("[i]") and several:
            return (link.group, self.instance[several[0]], self.is_full_duplex(link.group) and several[0] == source)
        meeting = self.common_ends(link.group) if self.is_full_duplex(link.group) else frozenset()
        return (link.group, bool(meeting) and source == min(meeting))

    def is_full_duplex(self, group: str) -> bool:
        """Does every link of the group carry one transfer in each direction?"""
        if group not in self._full_duplex:
            self._full_duplex[group] = {link.duplex for link in self.problem.links if link.group == group} == {Duplex.FULL}
        return self._full_duplex[group]

    def common_ends(self, group: str) -> frozenset[int]:
        """The devices that are an end of every link of a group."""
        if group not in self._common_ends:
            every = set(range(len(self.names)))
            for link in self.problem.links:
                if link.group == group:
                    ends = [[d for d in range(len(self.names)) if self.is_end(d, end)] for end in (link.source, link.target)]
                    every &= {device for members in ends if len(members) == 1 for device in members}
            self._common_ends[group] = frozenset(every)
        return self._common_ends[group]

    def reserved_channels(self, shard: Shard, distributed: DistributedMode) -> dict[Hashable, int]:
        """The channels that a distributed phase reserves, each with the tick from which it is reserved."""
        channels: dict[Hashable, int] = {}
        for link, source, target in distributed.channels:
            channel = self.channel(Transfer(shard.phase, source, target, 0, 0, 0, link, shard.start, shard.end, shard.end))
            if channel is not None:
                channels[channel] = shard.start - self.problem.drain_ticks(link)
        return channels


# ---------------------------------------------------------------------------------------------------- placement

HasOutput: TypeAlias = Callable[[int, int], bool]
"""(phase, device) → is all of the phase's output on the device at the end?"""


def check_phases_once(facts: JudgeIndex) -> Iterator[Violation]:
    """V1: every phase runs once and, if it has a combine, is combined once; nothing else runs."""
    phases, devices = len(facts.problem.phases), len(facts.names)
    for shard in facts.schedule.shards:
        if not (0 <= shard.phase < phases and 0 <= shard.device < devices):
            yield Violation(Rule.V1, f"a shard speaks of phase {shard.phase} on device {shard.device}, which are not there")
    for moved in facts.schedule.transfers:
        if not (0 <= moved.phase < phases and 0 <= moved.source < devices and 0 <= moved.target < devices):
            yield Violation(Rule.V1, f"a transfer speaks of phase {moved.phase} or of devices that are not there")
        elif not 0 <= moved.first <= moved.stop:
            yield Violation(Rule.V1, f"a transfer of `{facts.id(moved.phase)}` has the units [{moved.first}, {moved.stop})")
    for step in facts.schedule.combines:
        if not 0 <= step.phase < phases or facts.problem.phases[step.phase].combine is None:
            yield Violation(Rule.V1, f"a combine speaks of phase {step.phase}, which has none")
    combines = Counter(int(step.phase) for step in facts.schedule.combines)
    for index, phase in enumerate(facts.problem.phases):
        shards = facts.shards.get(index, [])
        if not shards:
            yield Violation(Rule.V1, f"`{phase.id}` is not run")
        most = max(Counter(shard.device for shard in shards).values(), default=0)
        if most > (facts.problem.chunks if phase.rows and phase.distributed is None else 1):
            yield Violation(Rule.V1, f"`{phase.id}` is run {most} times on one device")
        elif phase.rows == 0 and len(shards) > 1:
            yield Violation(Rule.V1, f"`{phase.id}` is atomic and is run {len(shards)} times")
        if combines[index] != (phase.combine is not None):
            yield Violation(Rule.V1, f"`{phase.id}` is combined {combines[index]} times")


def check_row_coverage(facts: JudgeIndex) -> Iterator[Violation]:
    """V3: the shards' rows have neither gaps nor overlaps."""
    for index, phase in enumerate(facts.problem.phases):
        at = 0
        for shard in sorted(facts.shards[index], key=lambda s: s.first):
            if shard.first != at or shard.stop <= shard.first:
                what = "overlap" if shard.first < at else "leave a gap" if shard.stop > shard.first else "are empty"
                yield Violation(Rule.V3, f"the shards of `{phase.id}` {what} at row {min(at, shard.first)}")
            at = max(at, shard.stop)
        if at != phase.units:
            yield Violation(Rule.V3, f"the shards of `{phase.id}` end at row {at} of {phase.units}")


def check_distributed_modes(facts: JudgeIndex) -> Iterator[Violation]:
    """V3: a distributed phase has the mode that it was planned for, and all its shards run at the same time."""
    for index, phase in enumerate(facts.problem.phases):
        if phase.distributed is not None:
            shards = sorted(facts.shards[index], key=lambda s: s.first)
            if tuple((shard.device, shard.stop - shard.first) for shard in shards) != phase.distributed.mode:
                yield Violation(Rule.V3, f"`{phase.id}` is not run by the devices, with the rows, that run it together")


def check_directives(facts: JudgeIndex, holds: HasOutput) -> Iterator[Violation]:
    """V8: phases run on home and on classes that can run them, effects keep their order, and every directive holds."""
    for index, phase in enumerate(facts.problem.phases):
        for shard in facts.shards[index]:
            name = facts.names[shard.device]
            if phase.home and shard.device != facts.home:
                yield Violation(Rule.V8, f"`{phase.id}` must run on {facts.names[facts.home]} and runs on {name}")
            if facts.kind[shard.device] not in phase.ticks:
                yield Violation(Rule.V8, f"`{phase.id}` cannot run on {name}: it has no ticks for {facts.kind[shard.device]}")
    effects = [index for index, phase in enumerate(facts.problem.phases) if phase.effect]
    for first, then in pairwise(effects):
        yield from _check_precedence(facts, first, then, "the order of effects")
    for directive in facts.problem.directives:
        yield from _check_directive(facts, directive, holds)


def _check_precedence(facts: JudgeIndex, first: int, then: int, why: str) -> Iterator[Violation]:
    start = min(shard.start for shard in facts.shards[then])
    if facts.end_of(first) > start:
        ends = facts.end_of(first)
        yield Violation(Rule.V8, f"{why}: `{facts.id(then)}` starts at {start}, before `{facts.id(first)}` ends at {ends}")


def _check_directive(facts: JudgeIndex, directive: Directive, holds: HasOutput) -> Iterator[Violation]:
    text = f"`{directive.line.text}`"

    def broken(message: str) -> Violation:
        return Violation(Rule.V8, f"{text}: {message}")

    match directive:
        case PlaceDirective():
            allowed = facts.named(directive.device)
            for phase in directive.phases:
                for shard in facts.shards[phase]:
                    if shard.device not in allowed:
                        yield broken(f"`{facts.id(phase)}` runs on {facts.names[shard.device]}")
        case Before():
            for first in directive.first:
                for then in directive.then:
                    yield from _check_precedence(facts, first, then, text)
        case IssueBefore():
            for first in directive.first:
                for then in directive.then:
                    if not _is_issued_before(facts, first, then):
                        yield broken(f"`{facts.id(then)}` is issued before `{facts.id(first)}`")
        case Split():
            yield from _check_split(facts, directive)
        case NoSplit():
            if len(facts.shards[directive.phase]) > 1:
                yield broken(f"it runs in {len(facts.shards[directive.phase])} parts")
        case Replicate():
            for device in sorted(facts.used):
                if not holds(directive.phase, device):
                    yield broken(f"{facts.names[device]} is used and lacks it")
        case Keep():
            if not any(holds(directive.phase, device) for device in facts.named(directive.device)):
                yield broken("it is not there at the end")
        case LimitMachines():
            if len(facts.used) > directive.count:
                yield broken(f"{len(facts.used)} are used")
        case Deadline():
            if facts.schedule.makespan > directive.ticks:
                yield broken(f"the schedule takes {facts.schedule.makespan} ticks, not {directive.ticks}")
        case LimitMemory() | Speculate():
            pass  # V5 checks the limit; speculation is a choice between problems
        case _:
            assert_never(directive)


def _first_start(facts: JudgeIndex, phase: int) -> int:
    return min(shard.start for shard in facts.shards[phase])


def _is_issued_before(facts: JudgeIndex, first: int, then: int) -> bool:
    if _first_start(facts, first) > _first_start(facts, then):
        return False
    both = [(one, other) for one in facts.shards[first] for other in facts.shards[then] if one.device == other.device]
    return all((early.start, early.end) <= (late.start, late.end) for early, late in both)


def _check_split(facts: JudgeIndex, directive: Split) -> Iterator[Violation]:
    rows = facts.problem.phases[directive.phase].units
    parts = directive.parts or (1,) * len(directive.devices)
    exact = [Fraction(rows * part, sum(parts)) for part in parts]
    rounded_down = [share.__floor__() for share in exact]
    by_rest = sorted(range(len(parts)), key=lambda index: rounded_down[index] - exact[index])
    more = frozenset(by_rest[: rows - sum(rounded_down)])
    shares_held: dict[int, int] = {shard.device: shard.stop - shard.first for shard in facts.shards[directive.phase]}
    if len(shares_held) < len(facts.shards[directive.phase]):
        yield Violation(Rule.V8, f"`{directive.line.text}`: a device has several parts of it")
    wanted = {facts.names.index(name): rounded_down[index] + (index in more) for index, name in enumerate(directive.devices)}
    if shares_held != {device: count for device, count in wanted.items() if count}:
        shares = ", ".join(f"{facts.names[device]} has {count}" for device, count in sorted(shares_held.items()))
        yield Violation(Rule.V8, f"`{directive.line.text}`: of {rows} rows {shares}")


# ---------------------------------------------------------------------------------------------------- transfers
#
# V6: transfers use links that join their ends, and their bytes are those of their units.  The judge checks that channels carry
# one at a time.

def check_transfers(facts: JudgeIndex) -> Iterator[Violation]:
    """V6: links exist and join the two devices, bytes are those of the units."""
    links = facts.problem.links
    onwards: dict[tuple[int, int], list[Transfer]] = defaultdict(list)
    for moved in facts.schedule.transfers:
        if not moved.partial:
            onwards[moved.phase, moved.source].append(moved)
    for moved in facts.schedule.transfers:
        what = f"`{facts.id(moved.phase)}` from {facts.names[moved.source]} to {facts.names[moved.target]}"
        if moved.link is None:
            edges = [edge for edge in facts.outgoing[moved.phase] if facts.has_fixed_delay(edge)]
            if links and not edges:
                yield Violation(Rule.V6, f"{what} goes without a link")
                continue
        elif not 0 <= moved.link < len(links) or not facts.joins(links[moved.link], moved.source, moved.target):
            yield Violation(Rule.V6, f"{what} goes by link {moved.link}, which does not join them")
            continue
        expected = _possible_sizes(facts, moved, onwards[moved.phase, moved.target])
        if moved.bytes not in expected:
            wanted = " or ".join(map(str, sorted(expected)))
            yield Violation(Rule.V6, f"{what} says {moved.bytes} bytes; units [{moved.first}, {moved.stop}) are {wanted}")
    for shard in facts.schedule.shards:
        distributed = facts.problem.phases[shard.phase].distributed
        if distributed is not None and shard.first == 0:
            for link, source, target in distributed.channels:
                if not 0 <= link < len(links) or not facts.joins(links[link], source, target):
                    yield Violation(Rule.V6, f"`{facts.id(shard.phase)}` uses link {link}, which does not join its devices")


def _possible_sizes(facts: JudgeIndex, moved: Transfer, onwards: list[Transfer]) -> set[int]:
    """The bytes that a transfer may have: one for each size of the output that a consumer on or behind the target states."""
    if moved.partial:
        task = facts.problem.phases[moved.phase]
        return {0 if task.combine is None else task.combine.bytes}
    edges = facts.outgoing[moved.phase]
    behind = {
        int(onward.target)
        for onward in onwards
        if moved.first == moved.stop or (onward.first < moved.stop and onward.stop > moved.first)
    }
    said = {facts.size(moved.phase, moved.first, moved.stop, edge.bytes) for edge in edges}
    places = behind - {int(moved.source)} | {int(moved.target)}
    used = [e for e in edges if any(_reads(facts, e, shard, moved) for d in places for shard in facts.on[e.target, d])]
    least = max((facts.size(moved.phase, moved.first, moved.stop, edge.bytes) for edge in used), default=0)
    if moved.phase in facts.wanted or not edges:
        said.add(facts.size(moved.phase, moved.first, moved.stop, None))
    return {size for size in said if size >= least}


def _reads(facts: JudgeIndex, edge: Edge, shard: Shard, moved: Transfer) -> bool:
    """Does the shard read some of the transferred units?"""
    low, high = facts.units_read(edge, shard)
    return low == high or (low < moved.stop and high > moved.first)
