"""Serial schedule generation (serial SGS of the RCPSP): assigns ticks to the steps of a choice of modes, phase by phase in the
order of an activity list.

Each shard starts at the first tick at which its operands have arrived, its device is free behind the shards scheduled before (or
in a gap, with `InsertionPolicy.INSERT`) and its memory fits; transfers take the first gap of their channel.  Consecutive phases
in chunks are scheduled chunk by chunk, as far as none reads a later chunk, and the output of a chunk is sent at once.  The result
obeys every Note of `problem` and the directives about order, memory and copies.  Deterministic, integers only.

Invariants: the end of a buffer is unknown until its last use is scheduled, so it counts as live for ever until then; a returned
schedule is therefore within memory at every tick.  An in-place output lies inside an operand that dies with its shard, and for
memory every step lasts at least a tick (Note [Memory] of `problem`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from operator import is_
from typing import Final, TypeVar

from ....lang.support.records import dataclass, replace
from ..problem import (
    Combine,
    Decisions,
    DeviceIndex,
    DistributedMode,
    InsertionPolicy,
    Mode,
    PhaseIndex,
    PhaseTask,
    Problem,
    Schedule,
    ScheduledCombine,
    Shard,
    Transfer,
    TransferPolicy,
)
from .problem_index import Channel, ProblemIndex
from .step_expansion import ExpandedSteps, ShardOutput, ShardStep, TransferId, TransferSpec, expand

_Item = TypeVar("_Item")

# ---------------------------------------------------------------------------------------------------- resource profile
#
# The memory of one device in use at every tick: a step function that buffers are added to.

FOREVER: Final = 1 << 62


class ResourceProfile:
    """`sizes[i]` bytes are in use during [times[i], times[i + 1]); the last holds for ever."""

    __slots__ = ("limit", "sizes", "times")

    def __init__(self, cap: int) -> None:
        self.limit = cap
        self.times = [0]
        self.sizes = [0]

    def _breakpoint(self, time: int) -> int:
        """The index of the breakpoint at `time`, inserted if absent."""
        index = bisect_left(self.times, time)
        if index == len(self.times) or self.times[index] != time:
            self.times.insert(index, time)
            self.sizes.insert(index, self.sizes[index - 1])
        return index

    def add(self, size: int, start: int, end: int = FOREVER) -> None:
        """Add `size` bytes (negative: remove) during [start, end)."""
        if size == 0 or start >= end:
            return
        first = self._breakpoint(start)
        last = len(self.times) if end >= FOREVER else self._breakpoint(end)
        sizes = self.sizes
        for index in range(first, last):
            sizes[index] += size

    def earliest_fit(self, size: int, start: int, end: int = FOREVER) -> int | None:
        """The next tick worth trying for a buffer of [start, end): `start` itself if it fits, else the end of the last interval
        that is too full; None if that never ends."""
        room = self.limit - size
        times, sizes = self.times, self.sizes
        first = bisect_right(times, start) - 1
        last = len(times) if end >= FOREVER else max(bisect_left(times, end), first + 1)
        for index in range(last - 1, first - 1, -1):
            if sizes[index] > room:
                return times[index + 1] if index + 1 < len(times) else None
        return start


# ---------------------------------------------------------------------------------------------------- resource calendars
#
# The resources that a partial schedule occupies: ticks of devices and channels, and memory where it is limited.

class NoFeasibleStart(Exception):
    """No start is feasible: `device` lacks memory for `phase`; -1: no route or no kernel; -2: later than the limit."""

    def __init__(self, device: int, phase: int) -> None:
        super().__init__(device, phase)
        self.device = device
        self.phase = phase


@dataclass(slots=True, eq=False)
class LiveBuffer:
    """Bytes on a device with a memory limit, freed at `last` once no `uses` remain."""

    size: int
    last: int
    uses: int = 0


def first_gap(busy: list[tuple[int, int]], earliest: int, duration: int) -> int:
    """The first start at or after `earliest` of a gap of `duration` between the sorted intervals `busy`."""
    if not busy or busy[-1][1] <= earliest:
        return earliest
    start = earliest
    index = bisect_left(busy, (earliest, earliest))
    if index and busy[index - 1][1] > start:
        start = busy[index - 1][1]
    while index < len(busy):
        begin, end = busy[index]
        if start + duration <= begin:
            return start
        if end > start:
            start = end
        index += 1
    return start


class ResourceCalendars:
    """Busy intervals of devices and channels and memory in use, of one partial schedule."""

    __slots__ = ("_channels", "_free", "_index", "_insert", "_levels", "_queues")

    def __init__(self, problem_index: ProblemIndex, decisions: Decisions) -> None:
        self._index = problem_index
        self._insert = decisions.queueing is InsertionPolicy.INSERT and not problem_index.ordered
        self._free: dict[int, int] = {}
        self._queues: dict[int, list[tuple[int, int]]] = {}
        self._channels: dict[Channel, list[tuple[int, int]]] = {}
        self._levels: dict[int, ResourceProfile] = {}

    def _memory(self, device: int) -> ResourceProfile | None:
        """The memory profile of a device; None where it has no limit."""
        levels = self._levels.get(device)
        if levels is None and (cap := self._index.memory_limits[device]) is not None:
            levels = self._levels[device] = ResourceProfile(cap)
        return levels

    def _slot(self, device: int, earliest: int, duration: int) -> int:
        """The first start at or after `earliest` at which the device is free for `duration`."""
        if self._insert:
            return first_gap(self._queues.setdefault(device, []), earliest, duration)
        return max(earliest, self._free.get(device, 0))

    def _occupy(self, device: int, start: int, end: int) -> None:
        if self._insert:
            insort(self._queues.setdefault(device, []), (start, end))
        else:
            self._free[device] = max(end, self._free.get(device, 0))

    @staticmethod
    def _end_use(held: LiveBuffer, levels: ResourceProfile, until: int) -> None:
        """Count one use of a buffer as scheduled; it ends no earlier than `until`."""
        held.uses -= 1
        held.last = max(held.last, until)
        if held.uses == 0:
            levels.add(-held.size, held.last)

    def _exclusive_channels(self, distributed: DistributedMode) -> list[tuple[list[tuple[int, int]], int]]:
        """The busy intervals of the channels that a distributed phase reserves, and the ticks before its start at which each
        begins."""
        channels: dict[Channel, int] = {}
        for _, source, target in distributed.channels:
            path = self._index.routes.path(int(source), int(target))
            if path is not None and len(path) == 1 and path[0].channel is not None:
                channels[path[0].channel] = self._index.problem.drain_ticks(path[0].link)
        return [(self._channels.setdefault(channel, []), settling) for channel, settling in channels.items()]

    def _claim(
        self,
        phase: int,
        channels: Sequence[tuple[list[tuple[int, int]], int]],
        held: Sequence[tuple[int, int, int]],
        earliest: int,
        duration: int,
    ) -> int:
        """Occupy devices and channels for `duration` ticks as soon as all are free; returns the start.

        `held`: (device, bytes of the output, bytes of scratch, which are freed at the end)."""
        start, later = earliest, -1
        while later != start:
            start = later = max(start, later)
            for busy, settling in channels:
                later = max(later, first_gap(busy, start - settling, duration + settling) + settling)
            for device, size, scratch in held:
                later = max(later, self._slot(device, start, duration))
                levels = self._memory(device)
                if levels is not None:
                    room = earliest_fit(levels, size, scratch, start, max(1, duration))
                    if room is None:
                        raise NoFeasibleStart(device, phase)
                    later = max(later, room)
        end = start + duration
        for busy, settling in channels:
            insort(busy, (start - settling, end))
        for device, size, scratch in held:
            self._occupy(device, start, end)
            levels = self._memory(device)
            if levels is not None:
                levels.add(scratch, start, start + max(1, duration))
                levels.add(size, start)
        return start


def earliest_fit(levels: ResourceProfile, size: int, scratch: int, start: int, duration: int) -> int | None:
    """As `ResourceProfile.earliest_fit`, for an output that stays live and scratch that is freed when the shard ends."""
    later = levels.earliest_fit(size, start)
    if later != start or not scratch:
        return later
    return levels.earliest_fit(size + scratch, start, start + duration)


# ---------------------------------------------------------------------------------------------------- schedule generation

class SerialGenerator(ResourceCalendars):
    """Generates one schedule: the state of serial schedule generation."""

    __slots__ = (
        "_arrived",
        "_combines",
        "_decisions",
        "_ends",
        "_firsts",
        "_live_buffers",
        "_output_ready",
        "_shards",
        "_steps",
        "_transfers",
        "makespan",
        "scheduled_phases",
    )

    def __init__(self, problem_index: ProblemIndex, steps: ExpandedSteps, decisions: Decisions) -> None:
        super().__init__(problem_index, decisions)
        count = len(steps.modes)
        self._steps = steps
        self._decisions = decisions
        self._output_ready: dict[int, dict[int, int]] = {}  # by phase and slot: the tick at which its part is ready
        self._arrived: list[dict[TransferId, tuple[int, int]]] = [{} for _ in range(count)]  # (arrival, ready)
        self._live_buffers: list[dict[TransferId | int, LiveBuffer]] = [
            {} for _ in range(count)
        ]  # by slot, buffers of shards on their device; by transfer, copies
        self._ends = [0] * count
        self._firsts = [0] * count
        self._shards: list[tuple[int, int, int, int, int, int]] = []
        self._combines: list[tuple[int, int, int]] = []
        self._transfers: list[tuple[int, int, bool, TransferSpec]] = []  # start, phase, is it a partial result
        self.makespan = 0
        self.scheduled_phases = 0

    def generate(self, order: Sequence[int], limit: int = FOREVER) -> None:
        """Schedule every phase, then the copies that directives require; raises NoFeasibleStart as soon as the end would exceed
        `limit`."""
        tails = self._index.tails
        for group in self._groups(order) if self._index.problem.chunks > 1 else ((phase,) for phase in order):
            self._schedule_group(group)
            for phase in group:
                if self._ends[phase] + tails[phase] > limit:
                    raise NoFeasibleStart(-2, phase)
                self.scheduled_phases += 1
        if self._index.requires_copies:
            for phase in order:
                self._schedule_transfers(phase)

    def schedule(self) -> Schedule:
        """The generated schedule; equal transfers that two edges request, one of them with ticks of its own, appear once."""
        moved = sorted(self._transfers, key=lambda t: (t[0], t[1], t[3].source, t[3].target, t[3].low, t[3].latency))
        return Schedule(
            tuple(
                Shard(PhaseIndex(p), DeviceIndex(d), first, stop, start, end)
                for p, d, first, stop, start, end in sorted(self._shards, key=lambda s: (s[4], s[0], s[1]))
            ),
            tuple(ScheduledCombine(PhaseIndex(p), a, b) for p, a, b in sorted(self._combines, key=lambda c: (c[1], c[0]))),
            tuple(dict.fromkeys(transfer_of(phase, send, start, partial=partial) for start, phase, partial, send in moved)),
            self._decisions,
        )

    # ------------------------------------------------------------------------------ phases

    def _groups(self, order: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Groups of consecutive phases with equally many chunks, none of which reads a later chunk of another phase of its
        group."""
        steps, devices = self._steps, self._index.devices
        numbers = [max((shard.slot // devices for shard in shards), default=0) for shards in steps.shards]
        group: tuple[int, ...] = ()
        for phase in order:
            sign = -1 if phase in self._decisions.last_rows_first else 1
            apart = (
                not numbers[phase]
                or not group
                or numbers[phase] != numbers[group[-1]]
                or (group[-1] in self._decisions.last_rows_first) != (sign < 0)
            )
            waits = {*self._index.constraints.start_after[phase], *self._index.constraints.issue_after[phase]}
            if apart or not waits.isdisjoint(group) or any(
                read.phase in group
                and (self._index.undivided[read.phase] or sign * (read.producer // devices - shard.slot // devices) > 0)
                for shard in steps.shards[phase] for read in shard.reads
            ):  # fmt: skip
                if group:
                    yield group
                group = ()
            group = (*group, phase)
        if group:
            yield group

    def _schedule_group(self, group: Sequence[int]) -> None:
        """Schedule the shards and combines of phases whose predecessors are scheduled; of several phases, chunk by chunk."""
        steps, devices = self._steps, self._index.devices
        earliest = [self._earliest_start(phase) for phase in group]
        if len(group) == 1:
            self._schedule_shards(group[0], self._in_order(group[0], steps.shards[group[0]]), earliest[0])
        else:
            for number in self._in_order(group[0], range(1 + max(shard.slot // devices for shard in steps.shards[group[0]]))):
                for phase, tick in zip(group, earliest, strict=True):
                    self._schedule_shards(phase, [one for one in steps.shards[phase] if one.slot // devices == number], tick)
        for phase in group:
            self._finish_phase(phase)

    def _in_order(self, phase: int, items: Sequence[_Item]) -> Sequence[_Item]:
        return items[::-1] if phase in self._decisions.last_rows_first else items

    def _earliest_start(self, phase: int) -> int:
        """The earliest tick at which directives let a phase start."""
        constraints = self._index.constraints
        earliest = self._index.problem.phases[phase].ready
        for q in constraints.start_after[phase]:
            earliest = max(earliest, self._ends[q])
        for q in constraints.issue_after[phase]:
            earliest = max(earliest, self._firsts[q])
        self._output_ready[phase], self._firsts[phase], self._ends[phase] = {}, FOREVER, earliest
        return earliest

    def _schedule_shards(self, phase: int, shards: Sequence[ShardStep], earliest: int) -> None:
        """Schedule shards; partial results of chunks are sent home at once."""
        task, finish = self._index.problem.phases[phase], self._output_ready[phase]
        opening, closing = self._firsts[phase], self._ends[phase]
        distributed = None if task.distributed is None else self._schedule_distributed(phase, shards, task.distributed, earliest)
        chunked = self._index.problem.chunks > 1 and len({one.device for one in shards}) < len(self._steps.shards[phase])
        for shard in shards:
            if shard.ticks is None:
                raise NoFeasibleStart(-1, phase)
            start = self._schedule_shard(phase, task, shard, shard.ticks, earliest) if distributed is None else distributed
            end = start + shard.ticks
            self._shards.append((phase, shard.device, shard.first, shard.stop, start, end))
            finish[shard.slot] = end
            if start < opening:
                opening = start
            if end > closing:
                closing = end
            if chunked and not self._index.undivided[phase]:
                for key, send in self._steps.outputs[phase].transfers.items():
                    if key[0] == shard.slot and send.target == self._index.home:
                        self._schedule_transfer(phase, key)
        self._firsts[phase], self._ends[phase] = opening, closing

    def _finish_phase(self, phase: int) -> None:
        """Schedule the combine of a phase whose shards are scheduled; its output is then ready."""
        task, output = self._index.problem.phases[phase], self._steps.outputs[phase]
        if not output.reachable:
            raise NoFeasibleStart(-1, phase)
        if task.combine is not None:
            self._ends[phase] = self._schedule_combine(phase, task, task.combine, output)
        if self._index.undivided[phase]:
            self._output_ready[phase] = {output.producers[0].slot: self._ends[phase]}
        if self._ends[phase] > self.makespan:
            self.makespan = self._ends[phase]
        if self._decisions.sending is TransferPolicy.EARLY:
            self._schedule_transfers(phase)

    def _schedule_shard(self, phase: int, task: PhaseTask, shard: ShardStep, ticks: int, earliest: int) -> int:
        """Schedule one shard; returns its start."""
        start, used = self._operands(shard, earliest)
        levels = self._memory(shard.device)
        if levels is None:
            start = self._slot(shard.device, start, ticks)
        else:
            start = self._first_fit(phase, task, shard, ticks, start, used, levels)
        self._occupy(shard.device, start, start + ticks)
        return start

    def _operands(self, shard: ShardStep, earliest: int) -> tuple[int, list[LiveBuffer]]:
        """The tick at which all operands of a shard are on its device, and their buffers."""
        start = earliest
        limited = self._index.memory_limits[shard.device] is not None
        used: list[LiveBuffer] = []
        for phase, maker, key in shard.reads:
            tick = self._output_ready[phase][maker] if key is None else self._schedule_transfer(phase, key)
            if tick > start:
                start = tick
            if limited:
                used.append(self._live_buffers[phase][maker if key is None else key])
        return start, used

    def _schedule_distributed(self, phase: int, shards: Sequence[ShardStep], distributed: DistributedMode, earliest: int) -> int:
        """Schedule all shards of a distributed phase and reserve its channels; returns their start.

        See Note [Distributed phases] of `problem`."""
        start = max([earliest, *(self._ends[source] for source in self._sources(phase))])
        used: list[list[LiveBuffer]] = []
        for shard in shards:
            ready, operands = self._operands(shard, earliest)
            used.append(operands)
            start = max(start, ready)
        duration = (shards[-1].ticks or 0) if shards else 0
        held = [(shard.device, shard.output_bytes, shard.scratch) for shard in shards]
        start = self._claim(phase, self._exclusive_channels(distributed), held, start, duration)
        for shard, operands in zip(shards, used, strict=True):
            for buffer in operands:
                self._end_use(buffer, self._levels[shard.device], start + max(1, duration))
            if not distributed.gathers or shard.device == self._index.home:
                self._add_output_buffer(phase, shard.slot, shard.output_bytes, start + max(1, duration))
        return start

    def _sources(self, phase: int) -> list[int]:
        return [self._index.sources[edge] for edge in self._index.incoming[phase]]

    def _add_output_buffer(self, phase: int, slot: int, size: int, end: int) -> None:
        """Open the buffer of a shard's output, which lives until its last use."""
        if self._index.memory_limits[slot % self._index.devices] is not None:
            self._live_buffers[phase][slot] = LiveBuffer(size, end, self._steps.outputs[phase].uses.get(slot, 0))

    def _first_fit(
        self, phase: int, task: PhaseTask, shard: ShardStep, ticks: int, start: int, used: list[LiveBuffer],
        levels: ResourceProfile
    ) -> int:  # fmt: skip
        """As `_slot`, such that output and scratch fit in memory too; opens the output's buffer and ends the uses of operands."""
        size, scratch, lasting = shard.output_bytes, shard.scratch, max(1, ticks)
        dying: list[LiveBuffer] = []
        if task.inplace and size:
            dying = [one for one in used if one.size >= size and one.uses == sum(other is one for other in used)]
        while True:
            start = self._slot(shard.device, start, ticks)
            inside = any(one.last <= start for one in dying)
            rooms = [earliest_fit(levels, size, scratch, start, lasting), *(one.last for one in dying if one.last > start)]
            if inside:
                rooms.append(levels.earliest_fit(scratch, start, start + lasting))
            later = min((room for room in rooms if room is not None), default=None)
            if later is None:
                raise NoFeasibleStart(shard.device, phase)
            if later == start:
                inside = inside and rooms[-1] == start
                break
            start = later
        end = start + lasting
        for buffer in used:
            self._end_use(buffer, levels, end)
        levels.add(scratch, start, end)
        levels.add(size, end if inside else start)
        if task.combine is None:
            self._add_output_buffer(phase, shard.slot, size, end)
        return start

    def _schedule_combine(self, phase: int, task: PhaseTask, combine: Combine, output: ShardOutput) -> int:
        """Schedule the transfers of partial results and their combine; returns the tick at which the output is ready."""
        problem_index = self._index
        home = problem_index.home
        levels = self._memory(home)
        size = problem_index.grain(combine.bytes)
        arrivals: list[int] = []
        copied: list[int] = []  # starts of the partials that have reached home
        for slot, ended in self._output_ready[phase].items():
            device = slot % problem_index.devices
            if device == home:
                arrivals.append(ended)
                copied.append(0)
                continue
            start, landed = self._claim_channel(phase, output.partials[slot], ended, partial=True)
            arrivals.append(landed + problem_index.syncs[home])
            copied.append(start)
            if levels is not None:
                levels.add(size, start)
            source = self._memory(device)
            if source is not None:
                source.add(-size, max(landed, start + 1))
        start, duration = max(arrivals), combine.ticks_per_shard * len(arrivals)
        grown = problem_index.grain(task.out_bytes)
        while True:
            later = self._slot(home, start, duration)
            if later == start:
                room = start if levels is None else levels.earliest_fit(grown, start)
                if room is None:
                    raise NoFeasibleStart(home, phase)
                if room == start:
                    break
                later = room
            start = later
        end = start + duration
        self._occupy(home, start, end)
        self._combines.append((phase, start, end))
        if levels is not None:
            for begun in copied:
                levels.add(-size, max(end, start + 1, begun + 1))
            levels.add(grown, start)
            self._add_output_buffer(phase, home, grown, max(end, start + 1))
        return end

    # ---------------------------------------------------------------------------- transfers

    def _schedule_transfers(self, phase: int) -> None:
        for key in self._steps.outputs[phase].transfers:
            self._schedule_transfer(phase, key)

    def _schedule_transfer(self, phase: int, key: TransferId) -> int:
        """Schedule a transfer unless it is scheduled; returns the tick from which its consumers may start."""
        arrived = self._arrived[phase]
        known = arrived.get(key)
        if known is not None:
            return known[1]
        send = self._steps.outputs[phase].transfers[key]
        if send.relay is None:
            ready = self._output_ready[phase][key[0]]
        else:
            self._schedule_transfer(phase, send.relay)
            ready = arrived[send.relay][0]
        start, landed = self._claim_channel(phase, send, ready, partial=False)
        arrived[key] = (landed, landed + self._index.syncs[send.target])
        if landed > self.makespan:
            self.makespan = landed
        levels = self._memory(send.target)
        if levels is not None:
            levels.add(send.memory, start)
            uses = send.uses + (send.target in self._steps.outputs[phase].retained_on)  # a use that never ends
            self._live_buffers[phase][key] = LiveBuffer(send.memory, max(landed, start + 1), uses)
        levels = self._memory(send.source)
        if levels is not None:
            self._end_use(self._live_buffers[phase][key[0] if send.relay is None else send.relay], levels, max(landed, start + 1))
        return arrived[key][1]

    def _claim_channel(self, phase: int, send: TransferSpec, earliest: int, *, partial: bool) -> tuple[int, int]:
        """Occupy the channel of a transfer; returns its start and its arrival."""
        levels = self._memory(send.target)
        busy = None if send.channel is None else self._channels.setdefault(send.channel, [])
        start = earliest
        while True:
            if busy is not None:
                start = first_gap(busy, start, send.ticks)
            later = start if levels is None else levels.earliest_fit(send.memory, start)
            if later is None:
                raise NoFeasibleStart(send.target, phase)
            if later == start:
                break
            start = later
        if busy is not None:
            insort(busy, (start, start + send.ticks))
        self._transfers.append((start, phase, partial, send))
        return start, start + send.ticks + send.latency


def transfer_of(phase: int, send: TransferSpec, start: int, *, partial: bool) -> Transfer:
    """The transfer that a specification describes, starting at tick `start`."""
    busy = start + send.ticks
    return Transfer(
        PhaseIndex(phase), DeviceIndex(send.source), DeviceIndex(send.target), send.low, send.high, send.bytes, send.link, start,
        busy, busy + send.latency, partial,
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- decoding
#
# Decoding: the schedule of decisions (modes and an activity list), in which every step is as early as it can be.
#
# `decode_schedule` expands the modes and generates the schedule in the order of priority.  Directives about placement are the
# caller's to obey, by its choice of modes.  `None` says that these decisions do not fit, not that none do.

@dataclass(frozen=True, slots=True)
class Infeasible:
    """The reason why decisions cannot be decoded: `device` lacks memory for `phase`; -1: no order, route or kernel; -2: past the
    limit.  `scheduled_phases`: how many phases had been scheduled."""

    device: int
    phase: int
    scheduled_phases: int = 0


MOST_EXPANSIONS: Final = 4
"""The expansions that are cached: that of the search's state, and those of its last trials."""


class ScheduleDecoder(ProblemIndex):
    """Decodes many decisions of one problem; each expansion of modes shares what it can with the last."""

    _expansions: tuple[ExpandedSteps, ...] = ()
    """Expansions of the most recently used modes, latest first."""

    def expand_modes(self, modes: tuple[Mode, ...]) -> ExpandedSteps:
        """The steps of the modes; shared with the expansion of those that differ in the fewest phases."""
        shared = [sum(map(is_, known.modes, modes)) for known in self._expansions]
        nearest = None if not shared else self._expansions[shared.index(max(shared))]
        result = nearest if nearest is not None and max(shared) == len(modes) else expand(self, modes, nearest)
        first = (result,) if nearest is None or nearest is result else (nearest, result)
        self._expansions = (*first, *(one for one in self._expansions if one is not nearest))[:MOST_EXPANSIONS]
        return result

    def try_decode(self, decisions: Decisions, limit: int = FOREVER) -> SerialGenerator | Infeasible:
        """The generated schedule, or the reason why there is none; generation stops once the end would exceed `limit` ticks."""
        order = self.repair_order(decisions.priority)
        if order is None or not self.constraints.is_consistent:
            return Infeasible(-1, -1)
        simulation = SerialGenerator(self, self.expand_modes(decisions.modes), decisions)
        try:
            simulation.generate(order, limit)
        except NoFeasibleStart as failure:
            return Infeasible(failure.device, failure.phase, simulation.scheduled_phases)
        return simulation

    def makespan(self, decisions: Decisions) -> int | None:
        """The makespan alone; faster than `decode`."""
        result = self.try_decode(decisions)
        return result.makespan if isinstance(result, SerialGenerator) else None

    def decode(self, decisions: Decisions) -> Schedule | None:
        """The schedule; where memory does not fit with transfers sent late, also tried with transfers sent early."""
        result = self.try_decode(decisions)
        if isinstance(result, Infeasible) and self.has_memory_limits and decisions.sending is TransferPolicy.LATE:
            result = self.try_decode(replace(decisions, sending=TransferPolicy.EARLY))
        return result.schedule() if isinstance(result, SerialGenerator) else None


def decode_schedule(problem: Problem, decisions: Decisions) -> Schedule | None:
    """The schedule of `decisions`, or None.  Callers with many decisions keep a `ScheduleDecoder`."""
    return ScheduleDecoder(problem).decode(decisions)


def decisions_of(problem: Problem, schedule: Schedule) -> Decisions:
    """The decisions a schedule was decoded from; else its modes and its phases by first start, which may decode to a longer
    schedule (the order of transfers is not part of them)."""
    if schedule.decisions is not None:
        return schedule.decisions
    modes: list[list[tuple[int, int]]] = [[] for _ in problem.phases]
    starts = [FOREVER] * len(problem.phases)
    for shard in sorted(schedule.shards, key=lambda s: (s.phase, s.first)):
        modes[shard.phase].append((int(shard.device), shard.stop - shard.first))
        starts[shard.phase] = min(starts[shard.phase], shard.start)
    order = sorted(range(len(starts)), key=lambda p: (starts[p], p))
    return Decisions(tuple(tuple(mode) for mode in modes), tuple(order), InsertionPolicy.INSERT)
