"""What is in use on each device at every tick, by Note [Memory] of `problem`.

An output lives from its shard's start to its last use there, a copy from the start of its transfer, a transfer's source until
the arrival; what an in-place shard makes lies inside an operand that dies with it, and has bytes of its own from its end on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .graph import COMBINE, PARTIAL, SEND, SHARD, Key, StepGraph

ARRIVAL = -1
"""In place of extra ticks of a use: until a transfer has arrived."""


@dataclass(slots=True, eq=False)
class Buffer:
    """`uses`: (step, extra ticks after its end or `ARRIVAL`).  `kept`: to the end of the schedule."""

    device: int
    size: int
    begin: Key
    uses: list[tuple[Key, int]] = field(default_factory=list)
    kept: bool = False
    scratch: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """Of one device: the bytes in use from each tick on, and the steps that start there."""

    levels: tuple[tuple[int, int], ...]
    begun: Mapping[int, tuple[Key, ...]]


def buffers(graph: StepGraph, *, everywhere: bool = False) -> list[Buffer]:
    """The buffers of the steps on devices with a limit, or on all."""
    steps, nodes, prepared = graph.steps, graph.nodes, graph.prepared
    made: dict[Key, Buffer] = {}  # by the step that makes or brings it
    result: list[Buffer] = []
    for p, shards in enumerate(steps.shards):
        task = prepared.problem.phases[p]
        together = task.together
        for shard in shards:
            key: Key = (SHARD, p, shard.slot)
            output = Buffer(shard.device, shard.made, key)
            if task.combine is not None:
                at_home = shard.device == prepared.home
                output.uses.append(((COMBINE, p), 0) if at_home else ((PARTIAL, p, shard.slot), ARRIVAL))
            elif together is None or not together.gathers or shard.device == prepared.home:
                made[key] = output
            result += [output, Buffer(shard.device, shard.scratch, key, [(key, 0)], scratch=True)]
    for step, node in nodes.items():
        if step[0] == COMBINE:
            size = prepared.grain(prepared.problem.phases[node.phase].out_bytes)
            made[step] = Buffer(node.device, size, step)
            result.append(made[step])
        elif node.send is not None:
            copy = Buffer(node.device, node.send.memory, step)
            result.append(copy)
            if step[0] == PARTIAL:
                copy.uses.append(((COMBINE, node.phase), 0))
            else:
                made[step] = copy
    for step, node in nodes.items():
        if step[0] == SEND and node.send is not None:
            relay = node.send.relay
            source: Key = graph.maker(node.phase, step[2]) if relay is None else (SEND, node.phase, *relay)
            made[source].uses.append((step, ARRIVAL))
    for node, source in graph.reads():
        made[source].uses.append((node.key, 0))
    for step, buffer in made.items():
        buffer.kept = buffer.device in steps.outputs[step[1]].kept
    for buffer in result:
        buffer.kept |= not buffer.uses
    return [one for one in result if one.size and (everywhere or prepared.caps[one.device] is not None)]


def memory(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[Buffer]) -> dict[int, Profile]:
    """By device, what is in use; what is freed in a tick goes before what is made then."""
    inside = _inside(graph, starts, held)
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
        if not buffer.kept:
            last = max(_end(graph, starts, key, more) for key, more in ((buffer.begin, 0), *buffer.uses))
            levels[last] = levels.get(last, 0) - buffer.size
    result: dict[int, Profile] = {}
    for device in sorted(changes):
        level, points = 0, []
        for tick in sorted(changes[device]):
            level += changes[device][tick]
            points.append((tick, level))
        starting = begun.get(device, {})
        result[device] = Profile(tuple(points), {tick: tuple(dict.fromkeys(keys)) for tick, keys in starting.items()})
    return result


def overflow(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[Buffer]) -> tuple[int, tuple[Key, ...]] | None:
    """The first device and tick at which it has more than it may hold, by the steps that start then; None if all is well."""
    for device, profile in memory(graph, starts, held).items():
        cap = graph.prepared.caps[device]
        for tick, level in profile.levels:
            if cap is not None and level > cap and tick in profile.begun:
                return device, profile.begun[tick]
    return None


def _end(graph: StepGraph, starts: Mapping[Key, int], key: Key, extra: int) -> int:
    """When a step lets go of memory: at its end, and not in the tick of its start."""
    node = graph.nodes[key]
    return starts[key] + max(1, node.ticks + (node.latency if extra == ARRIVAL else extra))


def _inside(graph: StepGraph, starts: Mapping[Key, int], held: Sequence[Buffer]) -> set[int]:
    """The outputs of in-place shards for which there is an operand, of at least their size, that nothing else uses any more."""
    phases = graph.prepared.problem.phases
    read: dict[Key, list[Buffer]] = {}
    for buffer in held:
        for key in dict.fromkeys(key for key, _ in buffer.uses):
            read.setdefault(key, []).append(buffer)

    def gives_place(operand: Buffer, output: Buffer) -> bool:
        key, uses = output.begin, ((operand.begin, 0), *operand.uses)
        return (
            operand.begin != key and not operand.kept and operand.size >= output.size
            and all(use == key or _end(graph, starts, use, extra) <= starts[key] for use, extra in uses)
        )  # fmt: skip

    return {
        index for index, output in enumerate(held)
        if output.begin[0] == SHARD and not output.scratch and phases[output.begin[1]].inplace
        and any(gives_place(operand, output) for operand in read.get(output.begin, ()))
    }  # fmt: skip
