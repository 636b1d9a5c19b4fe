"""Where a plan has more bytes on a device than it may: buffers with their uses, added up at every start.

Follows Note [Memory] of `problem`: an output lives from its shard's start to its last use there, a copy from the start of its
transfer, a transfer's source until the arrival; an operand may give its place to an in-place output.
Neighbours: `realise` (plans), `events` (the same as formulas), `search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .realise import COMBINE, PARTIAL, SEND, SHARD, Key, Plan


@dataclass(slots=True)
class Buffer:
    """`uses`: (item, extra ticks after its end).  `kept`: to the end of the schedule."""

    device: int
    size: int
    begin: Key
    uses: list[tuple[Key, int]] = field(default_factory=list)
    kept: bool = False
    scratch: bool = False


def buffers(plan: Plan) -> list[Buffer]:
    """Every buffer of the plan on devices with a limit."""
    shape, items = plan.shape, plan.items
    timer = shape.timer
    made: dict[tuple[int, int], Buffer] = {}
    copies: dict[Key, Buffer] = {}
    result: list[Buffer] = []
    for key, item in items.items():
        task = shape.problem.phases[item.phase]
        if key[0] == SHARD:
            size = timer.grain(timer.made_bytes(item.phase, item.low, item.high))
            output = Buffer(item.device, size, key)
            if task.combine is not None:
                output.uses.append(
                    ((COMBINE, item.phase), 0) if item.device == shape.home else ((PARTIAL, item.phase, item.device), -1)
                )
            else:
                made[item.phase, item.device] = output
            result.append(output)
            scratch = timer.grain(-(-task.scratch * (item.high - item.low) // task.units))
            result.append(Buffer(item.device, scratch, key, [(key, 0)], scratch=True))
        elif key[0] == COMBINE:
            output = Buffer(shape.home, timer.grain(task.out_bytes), key)
            made[item.phase, shape.home] = output
            result.append(output)
        elif key[0] == PARTIAL:
            result.append(Buffer(shape.home, timer.grain(item.bytes), key, [((COMBINE, item.phase), 0)]))
        else:
            copy = copies[key] = Buffer(item.device, timer.grain(item.bytes), key)
            result.append(copy)
    for key, item in items.items():
        if key[0] == SEND:
            relayed = item.source != item.origin
            source = copies[SEND, item.phase, item.origin, item.source, key[4]] if relayed else made[item.phase, item.source]
            source.uses.append((key, -1))
    for edge, described in enumerate(shape.problem.edges):
        p, q = int(described.source), int(described.target)
        for need in shape.needs(edge, plan.chosen[p], plan.chosen[q]):
            held = (
                made[p, need.maker]
                if need.maker == need.device
                else copies.get((SEND, p, need.maker, need.device, timer.keys[edge]))
            )
            if held is not None:
                held.uses.append(((SHARD, q, need.device), 0))
    if timer.wants_copies:
        modes = [shape.modes[p][plan.chosen[p]] for p in range(shape.count)]
        for p in range(shape.count):
            for device in timer.copies(p, modes):
                if (p, device) in made:
                    made[p, device].kept = True
                for key, copy in copies.items():
                    if key[1] == p and copy.device == device:
                        copy.kept = True
    for buffer in result:
        buffer.kept |= not buffer.uses
    return [buffer for buffer in result if buffer.size and timer.caps[buffer.device] is not None]


def peak(plan: Plan, starts: Mapping[Key, int], held: list[Buffer]) -> tuple[int, tuple[Key, ...]] | None:
    """The first device and tick at which it has more than it may hold, by the steps that start then; None if all is well."""
    items = plan.items

    def end(key: Key, extra: int) -> int:
        item = items[key]
        return starts[key] + item.ticks + (item.latency if extra < 0 else extra)

    changes: dict[int, list[tuple[int, int, int, Key]]] = {}
    replaced = _replaced(plan, starts, held, end)
    for index, buffer in enumerate(held):
        begin = starts[buffer.begin]
        entries = changes.setdefault(buffer.device, [])
        entries.append((begin, 1, buffer.size, buffer.begin))
        if not buffer.kept:
            last = max(starts[key] if replaced.get(key) == index else end(key, extra) for key, extra in buffer.uses)
            own = items[buffer.begin]
            entries.append((max(last, begin + own.ticks), 0, -buffer.size, buffer.begin))
    for device in sorted(changes):
        cap = plan.shape.timer.caps[device]
        assert cap is not None
        level = 0
        entries = sorted(changes[device])
        for position, (tick, _, size, _) in enumerate(entries):
            level += size
            last = position + 1 == len(entries) or entries[position + 1][0] > tick
            if level > cap and last and size > 0:
                return device, tuple(dict.fromkeys(k for at, _, more, k in entries if at == tick and more > 0))
    return None


def _replaced(plan: Plan, starts: Mapping[Key, int], held: list[Buffer], end: object) -> dict[Key, int]:
    """For in-place shards: the operand's buffer whose place the output takes."""
    result: dict[Key, int] = {}
    assert callable(end)
    sizes = {buffer.begin: buffer.size for buffer in held if not buffer.scratch}
    taken: set[int] = set()
    for key, item in plan.items.items():
        if key[0] != SHARD or not plan.shape.problem.phases[item.phase].inplace:
            continue
        size = sizes.get(key, 0)
        for index, buffer in enumerate(held):
            if index in taken or buffer.kept or buffer.device != item.device or buffer.size < size or not size:
                continue
            mine = [use for use in buffer.uses if use[0] == key]
            others = [use for use in buffer.uses if use[0] != key]
            if mine and buffer.begin != key and all(end(*use) <= starts[key] for use in others):
                result[key] = index
                taken.add(index)
                break
    return result
