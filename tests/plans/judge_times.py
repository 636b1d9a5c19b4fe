"""What the judge of plans says of shards and ticks by themselves: phases done once, tables, devices, channels, objectives.

Nothing of `backend.schedule` is imported.  Neighbours: `judge` (plays the queues), `prices` (tables), `judge_boxes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any

from rho.backend.graph.phases import Graph, Phase, Structured

from .judge_boxes import meet, results_of, volume
from .price_structured import n
from .prices import Box, Prices


class Timed:
    """Which phases are done, when, over which channels, and what that is worth."""

    def __init__(self, plan: Mapping[str, Any], profile: Mapping[str, Any], graph: Graph) -> None:
        self.plan, self.profile, self.graph = plan, profile, graph
        self.prices = Prices(graph, profile, plan["tick_ns"])
        self.phases: dict[int, Phase] = {int(phase.id): phase for phase in graph.phases}
        self.queues = plan["main"]["queues"]
        self.combined = {step["phase"] for _, step in self.steps("combine")}
        self.faults: list[str] = []
        self.home: str = plan["home"]
        self.ends = 0

    def fault(self, text: str) -> None:
        self.faults.append(text)

    def steps(self, *kinds: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for queue in self.queues:
            for step in queue["steps"]:
                if step["step"] in kinds:
                    yield queue["device"], step

    # ------------------------------------------------------------------------------ shapes

    def shape(self, value: int) -> tuple[int, ...]:
        return tuple(map(n, self.graph.types[value].shape))  # type: ignore[index]

    def width(self, value: int) -> int:
        return self.graph.types[value].element.kind.bytes  # type: ignore[index]

    def space(self, phase: Phase) -> tuple[int, ...]:
        if isinstance(phase, Structured):
            return tuple(n(axis.size) for axis in phase.axes)
        summed = tuple(size for size, _ in self.prices.summed(phase))
        return (*self.shape(results_of(phase)[0]), *summed) if results_of(phase) else ()

    def box(self, phase: Phase, step: Mapping[str, Any]) -> Box:
        if step.get("box") is None:
            return tuple((0, size) for size in self.space(phase))
        return tuple((first, stop) for first, stop in step["box"])

    def made(self, phase: Phase, box: Box) -> list[tuple[int, Box]]:
        """Each result of a shard, and which part of it."""
        if isinstance(phase, Structured):
            parallel = sum(axis.kind.value == "parallel" for axis in phase.axes)
            return [(int(r.value), box[:parallel]) for r in phase.results]
        results = results_of(phase)
        if not results:
            return []
        first = self.shape(results[0])
        found = []
        for value in results:
            part = [(0, size) for size in self.shape(value)]
            for axis, (own, size) in enumerate(zip(box, first, strict=False)):
                if own != (0, size):
                    part[axis] = own
            found.append((value, tuple(part)))
        return found

    def is_partial(self, phase: Phase, box: Box) -> bool:
        """Does the shard sum only some of what is summed, or is what it makes said to be put together?"""
        if int(phase.id) in self.combined:
            return True
        if not isinstance(phase, Structured):
            sizes = [size for size, _ in self.prices.summed(phase)]
            return any(own != (0, size) for own, size in zip(box[len(box) - len(sizes) :], sizes, strict=True))
        return any(axis.kind.value == "reduce" and own != (0, n(axis.size)) for axis, own in zip(phase.axes, box, strict=True))

    def cover(self) -> None:
        """Every phase once: the boxes of its steps tile its space."""
        boxes: dict[int, list[Box]] = {}
        for _, step in self.steps("run", "loop", "branch", "cells"):
            if step["phase"] not in self.phases:
                self.fault(f"there is no phase {step['phase']}")
                continue
            boxes.setdefault(step["phase"], []).append(self.box(self.phases[step["phase"]], step))
        for id, phase in self.phases.items():
            space, mine = self.space(phase), boxes.get(id, [])
            inside = all(
                len(box) == len(space)
                and all(0 <= a < b <= size or size == a == b == 0 for (a, b), size in zip(box, space, strict=True))
                for box in mine
            )
            apart = not any(meet(a, b) for i, a in enumerate(mine) for b in mine[:i]) if len(mine) > 1 else True
            if not mine or not inside or not apart or sum(map(volume, mine)) != prod(space):
                self.fault(f"phase {id} is not done exactly once: {mine} of {space}")

    # ------------------------------------------------------------------------------ ticks

    def times(self) -> None:
        """Steps take what the profile says, and exclude each other on devices and channels."""
        for queue in self.queues:
            free = 0
            for step in queue["steps"]:
                if "start" not in step:
                    continue
                last = step["busy"] if step["step"] == "transfer" else step["end"]
                if queue["kind"] == "compute":
                    if step["start"] < free:
                        self.fault(f"{queue['device']} begins a step at {step['start']}, busy until {free}")
                    free = max(free, last)
                self.ends = max(self.ends, step.get("arrive", last))
                if not 0 <= step["start"] <= last:
                    self.fault(f"a step on {queue['device']} ends before it starts: {step['start']}, {last}")
        for device, step in self.steps("run"):
            phase = self.phases.get(step["phase"])
            if phase is None:
                continue
            box = None if step["box"] is None else self.box(phase, step)
            ticks = self.prices.shard(phase, device, box)
            if ticks is not None and ticks != step["end"] - step["start"]:
                self.fault(f"phase {step['phase']} {box} on {device} takes {ticks} ticks, not {step['end'] - step['start']}")
        self.channels()
        self.combines()

    def link(self, source: str, target: str) -> tuple[Mapping[str, Any], bool] | None:
        """The link that leads from one device to another, and whether it was declared in that direction."""

        def at(device: str, end: str) -> bool:
            return device == end or device.partition("[")[0] == end

        links = self.profile.get("link", [])
        for link in links:
            if at(source, link["from"]) and at(target, link["to"]):
                return link, True
        for link in links:
            if link.get("duplex", "half") != "simplex" and at(source, link["to"]) and at(target, link["from"]):
                return link, False
        return None

    def channels(self) -> None:
        used: dict[tuple[object, ...], list[tuple[int, int]]] = {}
        maker = {value: phase.id for phase in self.phases.values() for value in results_of(phase)}
        together: dict[tuple[object, ...], list[dict[str, Any]]] = {}
        for which, step in self.steps("transfer"):  # what one phase made, in one transfer
            apart = maker.get(step["value"], -1 - step["value"]), step["partial"], str(step.get("units"))
            ends = which, step["source"], step["target"], step["start"], step["busy"], step["arrive"]
            together.setdefault((*ends, *apart), []).append(step)
        for steps in together.values():
            step: dict[str, Any] = {**steps[0], "bytes": sum(one["bytes"] for one in steps)}
            source, target = step["source"], step["target"]
            said = f"{source} → {target} at {step['start']}"
            if not self.profile.get("link"):
                if step["start"] != step["arrive"]:
                    self.fault(f"{said}: takes time without any link")
                continue
            found = self.link(source, target)
            if found is None:
                self.fault(f"{said}: there is no link")
                continue
            link, forwards = found
            rate = self.rate(link)
            busy = 0 if rate is None else -(-step["bytes"] * rate.denominator // rate.numerator)
            busy += 0 if rate is None else self.packing(steps, link)
            if busy != step["busy"] - step["start"]:
                self.fault(f"{said}: {step['bytes']} bytes take {busy} ticks, not {step['busy'] - step['start']}")
            if step["arrive"] - step["busy"] != -(-link.get("latency_ns", 0) // self.plan["tick_ns"]):
                self.fault(f"{said}: arrives {step['arrive'] - step['busy']} ticks after it was sent")
            if rate is not None and step["busy"] > step["start"]:
                used.setdefault(self.channel(link, source, target, forwards), []).append((step["start"], step["busy"]))
        for channel, spans in used.items():
            spans.sort()
            for (_, end), (start, _) in pairwise(spans):
                if start < end:
                    self.fault(f"channel {channel} is used twice at {start}")

    def packing(self, steps: Sequence[Mapping[str, Any]], link: Mapping[str, Any]) -> int:
        """Ticks to copy the parts of values that one transfer takes, where one is not in one piece, and no driver of a card
        copies pieces of 256 bytes as they lie."""
        pieces = size = 0
        for step in steps:
            shape = self.shape(step["value"])
            box = [(0, size) for size in shape] if step.get("box") is None else list(map(tuple, step["box"]))
            cut = [axis for axis, size in enumerate(shape) if box[axis] != (0, size)]
            if not step.get("partial") and cut and prod(shape[: cut[0]]) > 1:
                pieces, size = pieces + prod(shape[: cut[0]]), size + prod(shape) * self.width(step["value"])
        names, sent = {link[end].partition("[")[0] for end in ("from", "to")}, sum(step["bytes"] for step in steps)
        ends = [fields for fields in self.profile["device"] if fields["name"] in names]
        is_local = len({end.get("node", "n0") for end in ends}) == 1 and any(end.get("backend", "cpu") != "cpu" for end in ends)
        if not pieces or (is_local and sent >= 256 * pieces):
            return 0
        each = self.prices.packing(size)
        return -(-sent * each.numerator // each.denominator)

    def rate(self, link: Mapping[str, Any]) -> Fraction | None:
        """Bytes a tick, that of the largest transfer which the table knows (docs/devices.md)."""
        if "size" not in link:
            return None
        rate = Fraction(link["size"][-1], max(1, link["ns"][-1] - link.get("latency_ns", 0)))
        return (rate.limit_denominator(10_000) or rate) * self.plan["tick_ns"]

    def channel(self, link: Mapping[str, Any], source: str, target: str, forwards: bool) -> tuple[object, ...]:
        near, far = (source, target) if forwards else (target, source)
        group = link.get("group")
        if group is None:
            direction = source < target if link.get("duplex") == "full" else None
            return link["from"], link["to"], *sorted((near, far)), direction
        links = [other for other in self.profile["link"] if other.get("group") == group]
        is_full = all(other.get("duplex") == "full" for other in links)
        if group.endswith("[i]") and "[" in source + target:
            counted = source if "[" in source else target
            return group, counted.partition("[")[2], counted == source if is_full else None
        meeting = set.intersection(*({other["from"], other["to"]} for other in links)) & {source, target} if is_full else set()
        single = sorted(name for name in meeting if "[" not in name)
        return group, source == single[0] if single else None

    def combines(self) -> None:
        """A combine takes its ticks for every shard."""
        shards: dict[int, int] = {}
        for _, step in self.steps("run"):
            shards[step["phase"]] = shards.get(step["phase"], 0) + 1
        for device, step in self.steps("combine"):
            phase = self.phases.get(step["phase"])
            if phase is None or device != self.home or not (isinstance(phase, Structured) or self.prices.summed(phase)):
                self.fault(f"phase {step['phase']} is combined on {device}")
                continue
            ticks = shards.get(step["phase"], 0) * self.prices.combine(self.partial_bytes(phase))
            if step["end"] - step["start"] != ticks:
                self.fault(f"combining phase {step['phase']} takes {ticks} ticks, not {step['end'] - step['start']}")

    def partial_bytes(self, phase: Phase) -> int:
        """Sums of numbers with rounding send the sums of whole subtrees of blocks; any other reduction one number a cell."""
        size = sum(prod(self.shape(value)) * self.width(value) for value in results_of(phase))
        if not isinstance(phase, Structured):
            return size
        length = next(n(axis.size) for axis in phase.axes if axis.kind.value == "reduce")
        ordered = any(
            r.reduction in ("add", "mul") and self.graph.types[r.value].element.kind.value in ("f32", "f64", "c64", "c128")
            for r in phase.results
        )
        blocks = -(-length // 4096)
        return size * (2 * (blocks - 1).bit_length() - 1 if ordered and blocks > 1 else 1)

    def objective(self, name: str) -> int:
        """Makespan, ticks of the busiest device or channel, millijoules, devices that compute, waits of devices."""
        if name == "latency":
            return self.ends
        if name == "machines":
            return len({device for device, _ in self.steps("run", "loop", "branch", "cells")})
        if name == "syncs":
            computing = [queue for queue in self.queues if queue["kind"] == "compute"]
            return sum(step["step"] == "wait" for queue in computing for step in queue["steps"])
        busy: dict[object, int] = {}
        for device, step in self.steps("run", "loop", "branch", "cells", "combine"):
            busy[device] = busy.get(device, 0) + step["end"] - step["start"]
        if name == "throughput":
            for _, step in self.steps("transfer"):
                found = self.link(step["source"], step["target"])
                if found is not None:
                    channel = self.channel(found[0], step["source"], step["target"], found[1])
                    busy[channel] = busy.get(channel, 0) + step["busy"] - step["start"]
            return max(busy.values(), default=0)
        return self.energy(busy)

    def energy(self, busy: Mapping[object, int]) -> int:
        """Millijoules: idle power of what is on all the time, active power instead where a step runs, links by the byte."""
        saving, total = self.profile.get("power_off_unused", False), Fraction(0)
        on = {device for device, _ in self.steps("run", "loop", "branch", "cells", "combine")} | {self.home}
        for _, step in self.steps("transfer"):
            on |= {step["source"], step["target"]}
            found = self.link(step["source"], step["target"])
            if found is not None:
                total += Fraction(str(found[0].get("energy_pj_per_byte", 0))) * step["bytes"]
        for described in self.plan["devices"]:
            device, tick = self.prices.device(described["id"]), self.plan["tick_ns"]
            total += tick * (device.active_mw - device.idle_mw) * busy.get(described["id"], 0)
            if not saving or described["id"] in on:
                total += tick * device.idle_mw * self.ends
        return -(-total.numerator // (total.denominator * 10**9))
