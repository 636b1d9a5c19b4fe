"""The graph of all steps with their ticks, resources and precedences; the caller provides the starts.

Serial schedule generation (`serial_sgs`) derives starts from an order of phases; this graph is for callers with an order of
steps: the solver's models (`schedule_earliest` keeps their sequence on every device and channel), repairs, and charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from ....lang.support.records import dataclass, field
from ..problem import DeviceIndex, PhaseIndex, Schedule, ScheduledCombine, Shard, Transfer
from .problem_index import ProblemIndex
from .serial_sgs import transfer_of
from .step_expansion import ExpandedSteps, ShardRead, TransferSpec

# ---------------------------------------------------------------------------------------------------- step graph

SHARD: Final = 0
SEND: Final = 1
PARTIAL: Final = 2
COMBINE: Final = 3

Key: TypeAlias = tuple[int, ...]
"""(kind of step, phase, slots or an edge's own ticks that distinguish the steps of the phase)."""


@dataclass(slots=True)
class StepNode:
    """One step.  `after`: steps with the ticks that must pass from their start; `rank` orders steps that start together."""

    key: Key
    phase: int
    resource: tuple[object, ...] | None
    ticks: int
    rank: tuple[int, int]
    after: list[tuple[Key, int]] = field(default_factory=list)
    device: int = -1
    low: int = 0
    high: int = 0
    transfer: TransferSpec | None = None
    start: int = 0

    @property
    def end(self) -> int:
        return self.start + self.ticks

    @property
    def latency(self) -> int:
        return 0 if self.transfer is None else self.transfer.latency


class StepGraph:
    """The nodes of an expansion by their keys."""

    def __init__(self, problem_index: ProblemIndex, steps: ExpandedSteps, order: Sequence[int]) -> None:
        """`order`: a topological order of the phases."""
        self.problem_index = problem_index
        self.steps = steps
        self.nodes: dict[Key, StepNode] = {}
        self._place = {p: i for i, p in enumerate(order)}
        for p in order:
            self._phase(p)
        for p in order:
            for key, send in steps.outputs[p].transfers.items():
                self._send((SEND, p, *key), p, send, (self._place[p], 4 if send.relay is None else 5))
        for p in order:
            self._add_precedences(p)

    # ------------------------------------------------------------------------------ nodes

    def _phase(self, p: int) -> None:
        task, home = self.problem_index.problem.phases[p], self.problem_index.home
        arrivals: list[tuple[Key, int]] = []
        for shard in self.steps.shards[p]:
            key: Key = (SHARD, p, shard.slot)
            ticks = shard.ticks or 0
            rank = (self._place[p], 0)
            self.nodes[key] = StepNode(
                key, p, ("device", shard.device), ticks, rank, device=shard.device, low=shard.first, high=shard.stop
            )
            if task.combine is None:
                continue
            if shard.device == home:
                arrivals.append((key, ticks))
                continue
            partial = self._send((PARTIAL, p, shard.slot), p, self.steps.outputs[p].partials[shard.slot], (self._place[p], 1))
            partial.after.append((key, ticks))
            arrivals.append((partial.key, partial.ticks + partial.latency + self.problem_index.syncs[home]))
        if task.combine is not None:
            finish: Key = (COMBINE, p)
            ticks = task.combine.ticks_per_shard * len(arrivals)
            step = self.nodes[finish] = StepNode(finish, p, ("device", home), ticks, (self._place[p], 3), device=home)
            step.after += arrivals

    def _send(self, key: Key, p: int, send: TransferSpec, rank: tuple[int, int]) -> StepNode:
        resource = None if send.channel is None else ("channel", send.channel)
        node = StepNode(key, p, resource, send.ticks, rank, device=send.target, low=send.low, high=send.high, transfer=send)
        self.nodes[key] = node
        return node

    def producer(self, p: int, slot: int) -> Key:
        """The step that produces the part of an output held by a slot."""
        return (SHARD, p, slot) if self.problem_index.problem.phases[p].combine is None else (COMBINE, p)

    def operand_source(self, read: ShardRead) -> Key:
        """The step that produces or brings an operand of a shard."""
        return self.producer(read.phase, read.producer) if read.transfer is None else (SEND, read.phase, *read.transfer)

    def reads(self) -> Iterator[tuple[StepNode, Key]]:
        """Every shard with each step that produces or transfers one of its operands."""
        for p, shards in enumerate(self.steps.shards):
            for shard in shards:
                node = self.nodes[SHARD, p, shard.slot]
                for read in shard.reads:
                    yield node, self.operand_source(read)

    def _add_precedences(self, p: int) -> None:
        """The precedences of transfers and shards: of data, and those that directives state for all of a phase."""
        syncs = self.problem_index.syncs
        for key, send in self.steps.outputs[p].transfers.items():
            before = self.producer(p, key[0]) if send.relay is None else (SEND, p, *send.relay)
            first = self.nodes[before]
            self.nodes[SEND, p, *key].after.append((before, first.ticks + first.latency))
        for shard in self.steps.shards[p]:
            node = self.nodes[SHARD, p, shard.slot]
            for read in shard.reads:
                first = self.nodes[self.operand_source(read)]
                arrival = 0 if read.transfer is None else first.latency + syncs[shard.device]
                node.after.append((first.key, first.ticks + arrival))
            for earlier in self.problem_index.constraints.start_after[p]:
                node.after += [(done.key, done.ticks) for done in self.completing_steps(earlier)]

    def shards(self, p: int) -> list[StepNode]:
        return [self.nodes[SHARD, p, shard.slot] for shard in self.steps.shards[p]]

    def completing_steps(self, p: int) -> list[StepNode]:
        """The steps whose ends complete a phase."""
        return [self.nodes[COMBINE, p]] if (COMBINE, p) in self.nodes else self.shards(p)

    # ------------------------------------------------------------------------------ starts

    def schedule_earliest(self, sequence: Mapping[Key, int]) -> bool:
        """Start every step as early as the order of `sequence` on each device and channel allows; False if that has a cycle."""
        queue = sorted(self.nodes.values(), key=lambda node: (sequence[node.key], node.ticks > 0, node.rank, node.key))
        before: dict[tuple[object, ...], StepNode] = {}
        chain: dict[Key, StepNode] = {}
        for node in queue:
            if node.resource is not None:
                if node.resource in before:
                    chain[node.key] = before[node.resource]
                before[node.resource] = node
            node.start = 0
        for _ in range(len(queue) + 1):
            changed = False
            for node in queue:
                start = self._ready(node)
                previous = chain.get(node.key)
                if previous is not None:
                    start = max(start, previous.end)
                if start != node.start:
                    node.start = start
                    changed = True
            if not changed:
                return True
        return False

    def set_starts(self, starts: Mapping[Key, int]) -> bool:
        """Set the starts of all steps; False if a step starts before its operands or its resource are available."""
        held: dict[tuple[object, ...], list[StepNode]] = {}
        for node in self.nodes.values():
            node.start = starts[node.key]
            if node.resource is not None:
                held.setdefault(node.resource, []).append(node)
        for node in self.nodes.values():
            if self._ready(node) > node.start:
                return False
        for queue in held.values():
            queue.sort(key=lambda node: (node.start, node.end))
            if any(then.start < first.end for first, then in pairwise(queue)):
                return False
        return True

    def _ready(self, node: StepNode) -> int:
        """The tick at which all precedences of the step are satisfied."""
        start = self.problem_index.problem.phases[node.phase].ready if node.key[0] == SHARD else 0
        for other, ticks in node.after:
            first = self.nodes[other]
            start = max(start, first.start + (first.ticks if other[0] == COMBINE else ticks))
        return start

    @property
    def starts(self) -> dict[Key, int]:
        return {key: node.start for key, node in self.nodes.items()}

    def schedule(self) -> Schedule:
        shards: list[Shard] = []
        combines: list[ScheduledCombine] = []
        transfers: list[Transfer] = []
        for node in self.nodes.values():
            phase = PhaseIndex(node.phase)
            if node.transfer is not None:
                transfers.append(transfer_of(node.phase, node.transfer, node.start, partial=node.key[0] == PARTIAL))
            elif node.key[0] == COMBINE:
                combines.append(ScheduledCombine(phase, node.start, node.end))
            else:
                shards.append(Shard(phase, DeviceIndex(node.device), node.low, node.high, node.start, node.end))
        shards.sort(key=lambda s: (s.start, s.phase, s.device))
        combines.sort(key=lambda c: (c.start, c.phase))
        transfers.sort(key=lambda t: (t.start, t.phase, t.source, t.target, t.first, t.arrive))
        return Schedule(tuple(shards), tuple(combines), tuple(dict.fromkeys(transfers)))


def starts_in(graph: StepGraph, schedule: Schedule) -> dict[Key, int]:
    """The starts of the graph's steps in a schedule of its modes; a transfer absent from it starts when its producer ends."""
    starts: dict[Key, int] = {}
    slots = {(p, shard.device, shard.first): shard.slot for p, shards in enumerate(graph.steps.shards) for shard in shards}
    for shard in schedule.shards:
        starts[SHARD, shard.phase, slots[shard.phase, shard.device, shard.first]] = shard.start
    for step in schedule.combines:
        starts[COMBINE, step.phase] = step.start
        graph.nodes[COMBINE, step.phase].ticks = step.end - step.start
    at: dict[tuple[int, int, int, int, int, bool, int], list[int]] = {}
    for t in reversed(schedule.transfers):
        at.setdefault((t.phase, t.source, t.target, t.first, t.stop, t.partial, t.arrive - t.busy), []).append(t.start)
    for key, node in graph.nodes.items():
        send = node.transfer
        if send is not None:
            what = (node.phase, send.source, send.target, send.low, send.high, key[0] == PARTIAL, send.latency)
            producer = graph.producer(node.phase, key[2]) if key[0] == SEND and send.relay is None else (SHARD, *key[1:3])
            after = starts.get(producer, 0) + (graph.nodes[producer].ticks if producer in graph.nodes else 0)
            starts[key] = at[what].pop() if at.get(what) else after
    return starts


# ---------------------------------------------------------------------------------------------------- live ranges of buffers
#
# The bytes in use on each device at every tick, by Note [Memory] of `problem`.
#
# An output lives from its shard's start to its last use there, a copy from the start of its transfer, the source of a transfer
# until the arrival; the output of an in-place shard lies inside an operand that dies with it, and takes memory of its own from
# the end of the shard on.

ARRIVAL = -1
"""Extra ticks of a use that lasts until the transfer has arrived."""


@dataclass(slots=True, eq=False)
class StepBuffer:
    """A buffer of `size` bytes that `begin` creates.  `uses`: (step, extra ticks after its end or `ARRIVAL`).  `is_retained`: it
    lives to the end of the schedule."""

    device: int
    size: int
    begin: Key
    uses: list[tuple[Key, int]] = field(default_factory=list)
    is_retained: bool = False
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class MemoryProfile:
    """The memory of one device: `levels`, (tick, bytes in use from then on), and by tick the steps `starting` there."""

    levels: tuple[tuple[int, int], ...]
    starting: Mapping[int, tuple[Key, ...]]


def step_buffers(graph: StepGraph, *, everywhere: bool = False) -> list[StepBuffer]:
    """The buffers of the steps on devices with a limit, or on all."""
    steps, nodes, problem_index = graph.steps, graph.nodes, graph.problem_index
    buffer_of: dict[Key, StepBuffer] = {}  # by the step that produces or transfers it
    result: list[StepBuffer] = []
    for p, shards in enumerate(steps.shards):
        task = problem_index.problem.phases[p]
        distributed = task.distributed
        for shard in shards:
            key: Key = (SHARD, p, shard.slot)
            output = StepBuffer(shard.device, shard.output_bytes, key)
            if task.combine is not None:
                at_home = shard.device == problem_index.home
                output.uses.append(((COMBINE, p), 0) if at_home else ((PARTIAL, p, shard.slot), ARRIVAL))
            elif distributed is None or not distributed.gathers or shard.device == problem_index.home:
                buffer_of[key] = output
            result += [output, StepBuffer(shard.device, shard.scratch, key, [(key, 0)], scratch=True)]
    for step, node in nodes.items():
        if step[0] == COMBINE:
            size = problem_index.grain(problem_index.problem.phases[node.phase].out_bytes)
            buffer_of[step] = StepBuffer(node.device, size, step)
            result.append(buffer_of[step])
        elif node.transfer is not None:
            copy = StepBuffer(node.device, node.transfer.memory, step)
            result.append(copy)
            if step[0] == PARTIAL:
                copy.uses.append(((COMBINE, node.phase), 0))
            else:
                buffer_of[step] = copy
    for step, node in nodes.items():
        if step[0] == SEND and node.transfer is not None:
            relay = node.transfer.relay
            source: Key = graph.producer(node.phase, step[2]) if relay is None else (SEND, node.phase, *relay)
            buffer_of[source].uses.append((step, ARRIVAL))
    for node, source in graph.reads():
        buffer_of[source].uses.append((node.key, 0))
    for step, buffer in buffer_of.items():
        buffer.is_retained = buffer.device in steps.outputs[step[1]].retained_on
    for buffer in result:
        buffer.is_retained |= not buffer.uses
    return [one for one in result if one.size and (everywhere or problem_index.memory_limits[one.device] is not None)]


def memory_profiles(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[StepBuffer]) -> dict[int, MemoryProfile]:
    """By device, the memory in use over time; in one tick buffers are freed before others begin."""
    inside = _overwriting_buffers(graph, starts, held)
    changes: dict[int, dict[int, int]] = {}
    begun: dict[int, dict[int, list[Key]]] = {}
    for index, buffer in enumerate(held):
        begin = starts[buffer.begin]
        if index in inside:
            begin = _end(graph, starts, buffer.begin, 0)
        levels = changes.setdefault(buffer.device, {})
        levels[begin] = levels.get(begin, 0) + buffer.size
        if index not in inside:
            begun.setdefault(buffer.device, {}).setdefault(begin, []).append(buffer.begin)
        if not buffer.is_retained:
            last = max(_end(graph, starts, key, more) for key, more in ((buffer.begin, 0), *buffer.uses))
            levels[last] = levels.get(last, 0) - buffer.size
    result: dict[int, MemoryProfile] = {}
    for device in sorted(changes):
        level, points = 0, []
        for tick in sorted(changes[device]):
            level += changes[device][tick]
            points.append((tick, level))
        starting = begun.get(device, {})
        result[device] = MemoryProfile(tuple(points), {tick: tuple(dict.fromkeys(keys)) for tick, keys in starting.items()})
    return result


def first_overflow(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[StepBuffer]) -> tuple[int, tuple[Key, ...]] | None:
    """The first device whose memory limit is exceeded, and the steps that start in that tick; None if all limits hold."""
    for device, profile in memory_profiles(graph, starts, held).items():
        cap = graph.problem_index.memory_limits[device]
        for tick, level in profile.levels:
            if cap is not None and level > cap and tick in profile.starting:
                return device, profile.starting[tick]
    return None


def _end(graph: StepGraph, starts: Mapping[Key, int], key: Key, extra: int) -> int:
    """The tick at which a step releases memory: its end, but at least one tick after its start."""
    node = graph.nodes[key]
    return starts[key] + max(1, node.ticks + (node.latency if extra == ARRIVAL else extra))


def _overwriting_buffers(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[StepBuffer]) -> set[int]:
    """The outputs of in-place shards that lie inside an operand at least as large, which nothing else uses from then on."""
    phases = graph.problem_index.problem.phases
    read: dict[Key, list[StepBuffer]] = {}
    for buffer in held:
        for key in dict.fromkeys(key for key, _ in buffer.uses):
            read.setdefault(key, []).append(buffer)

    def gives_place(operand: StepBuffer, output: StepBuffer) -> bool:
        key, uses = output.begin, ((operand.begin, 0), *operand.uses)
        return (
            operand.begin != key and not operand.is_retained and operand.size >= output.size
            and all(use == key or _end(graph, starts, use, extra) <= starts[key] for use, extra in uses)
        )  # fmt: skip

    return {
        index for index, output in enumerate(held)
        if output.begin[0] == SHARD and not output.scratch and phases[output.begin[1]].inplace
        and any(gives_place(operand, output) for operand in read.get(output.begin, ()))
    }  # fmt: skip
