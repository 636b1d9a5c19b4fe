"""A second opinion about stored plans: is it valid, and does it say what its steps and the profile's tables say?

`judge` reads the JSON of a plan, the TOML of its profile and the phases of the bound graph.  Nothing of `backend.schedule` is
imported (tests/plans/test_judge.py holds that), so an error of the planner is not made here again.  It plays the queues step by
step: what is in no one's past when a step begins was not there, whatever the ticks say.  Loops of several devices and chosen arms
are beyond it; such plans are not to be given to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

from rho.backend.graph.phases import Affine, Graph, Input, LibraryPhase, Phase, Read, Structured

from .judge_boxes import holds, operands_of, results_of, touches, uncovered, volume
from .judge_times import Timed
from .price_structured import n
from .prices import Box

GRAIN = 512
"""Bytes that buffers are rounded up to."""
SAMPLES = 48
"""Points of a shard at which it is asked where its operands are."""
Past = dict[int, int]
"""By queue, how many of its steps are certainly done."""


@dataclass(slots=True)
class Piece:
    """A box of a value (or partial results of a phase) on a device from a tick on, to the last of: it is freed, transfers that
    read it arrive; what is never freed stays."""

    device: str
    box: Box
    ready: int
    born: int
    queue: int
    place: int
    size: int
    dies: int = 0
    freed: bool = False
    brought: bool = False
    shard: Box | None = None
    """Of a partial result: the box of the phase that it is of."""


@dataclass(frozen=True, slots=True)
class Need:
    """Items of a value that a step reads: some of them, and all of them where they are a box."""

    value: int
    points: list[tuple[int, ...]]
    box: Box | None

    @property
    def hull(self) -> Box | None:
        """The box around them; None: nothing is read."""
        if self.box is not None:
            return self.box
        return tuple((min(axis), max(axis) + 1) for axis in zip(*self.points, strict=True)) if self.points else None


@dataclass(slots=True)
class Running:
    """What is known while the queues are played."""

    pieces: dict[tuple[str, int], list[Piece]] = field(default_factory=dict)
    partials: dict[int, list[Piece]] = field(default_factory=dict)
    fences: dict[int, Past] = field(default_factory=dict)


def judge(plan: Mapping[str, Any], profile: Mapping[str, Any], graph: Graph) -> list[str]:
    """What is wrong with a plan, in words; nothing if it is valid and says what is so."""
    judged = _Judge(plan, profile, graph)
    judged.check()
    return judged.faults


class _Judge(Timed):
    def __init__(self, plan: Mapping[str, Any], profile: Mapping[str, Any], graph: Graph) -> None:
        super().__init__(plan, profile, graph)
        self.state = Running()
        self.random = Random(7)

    def check(self) -> None:
        self.cover()
        self.times()
        self.play()
        self.memory()
        self.prediction()

    # ------------------------------------------------------------------------------ order

    def play(self) -> None:
        """Go through the queues as far as their waits let them."""
        places, pasts = [0] * len(self.queues), [{} for _ in self.queues]  # type: list[int], list[Past]
        owners: dict[int, int] = {}
        for queue in self.queues:
            for step in queue["steps"]:
                if step["step"] == "fence":
                    owners[step["fence"]] = owners.get(step["fence"], 0) + 1
        self.owed = dict(owners)
        moved = True
        while moved:
            moved = False
            for which, queue in enumerate(self.queues):
                while places[which] < len(queue["steps"]):
                    step = queue["steps"][places[which]]
                    if step["step"] == "wait" and (step["fence"] not in owners or self.owed[step["fence"]] > 0):
                        break
                    self.step(which, places[which], queue, step, pasts[which])
                    places[which] += 1
                    moved = True
        for which, queue in enumerate(self.queues):
            if places[which] < len(queue["steps"]):
                self.fault(f"{queue['device']} waits for ever at {queue['steps'][places[which]]}")
        inputs = {value for phase in self.phases.values() if isinstance(phase, Input) for value in results_of(phase)}
        for (device, value), pieces in self.state.pieces.items():
            for piece in pieces:
                if not piece.freed or (device == self.home and value in inputs):  # which its caller may hold
                    piece.dies = max(piece.dies, self.ends)

    def every(self) -> Iterator[Piece]:
        for pieces in (*self.state.pieces.values(), *self.state.partials.values()):
            yield from pieces

    def step(self, which: int, place: int, queue: Mapping[str, Any], step: dict[str, Any], past: Past) -> None:
        match step["step"]:
            case "fence":
                known = self.state.fences.setdefault(step["fence"], {})
                _join(known, past)
                known[which] = max(known.get(which, -1), place - 1)
                self.owed[step["fence"]] -= 1
            case "wait":
                _join(past, self.state.fences[step["fence"]])
            case "run" | "loop" | "branch" | "cells":
                if step["phase"] in self.phases:
                    self.run(which, place, queue["device"], step, past)
            case "combine":
                self.combine(which, place, step, past)
            case "transfer":
                self.transfer(which, place, step, past)
            case "free":
                self.free(queue, place, step, past)
            case _:
                pass
        past[which] = place

    def run(self, which: int, place: int, device: str, step: dict[str, Any], past: Past) -> None:
        phase, box = self.phases[step["phase"]], self.box(self.phases[step["phase"]], step)
        name = f"phase {step['phase']} on {device} at {step['start']}"
        whole = not isinstance(phase, Structured | LibraryPhase)
        if not isinstance(phase, Structured | LibraryPhase | Input) and device != self.home and not results_of(phase):
            self.fault(f"{name}: input and output are at home")
        for need in self.needs(phase, box, whole):
            self.needed(name, device, need, step["start"], step["end"], past)
        for value, part in self.made(phase, box):
            size = volume(part) * self.width(value)
            piece = Piece(device, part, step["end"], step["start"], which, place, size, step["end"])
            if self.is_partial(phase, box):
                piece.shard = box
                self.state.partials.setdefault(step["phase"], []).append(piece)
            else:
                self.state.pieces.setdefault((device, value), []).append(piece)

    def free(self, queue: Mapping[str, Any], place: int, step: dict[str, Any], past: Past) -> None:
        """What is freed was there, once, and goes when the step before in the queue has ended."""
        device = queue["device"] if step["device"] is None else step["device"]
        box = None if step["box"] is None else tuple((a, b) for a, b in step["box"])
        now = max((other.get("end", other.get("busy", 0)) for other in queue["steps"][:place]), default=0)
        for value in step["values"]:
            makers = (phase for phase in self.phases.values() if value in results_of(phase))
            parts = [piece for phase in makers for piece in self.state.partials.get(int(phase.id), []) if piece.device == device]
            mine = [
                piece for piece in (*self.state.pieces.get((device, value), []), *parts)
                if box in (None, piece.box, piece.shard) and past.get(piece.queue, -1) >= piece.place and not piece.freed
            ]  # fmt: skip
            if not mine:
                self.fault(f"value {value} {box or ''} is freed on {device} at {now}, where it is not")
            for piece in mine:
                piece.freed, piece.dies = True, max(piece.dies, now)

    def combine(self, which: int, place: int, step: dict[str, Any], past: Past) -> None:
        phase, here = self.phases.get(step["phase"]), []
        for piece in self.state.partials.get(step["phase"], []):
            if piece.device == self.home:  # the combine lets go of them
                piece.freed, piece.dies = True, max(piece.dies, step["end"])
                sync = self.prices.sync(self.home) if piece.brought else 0
                if past.get(piece.queue, -1) < piece.place or piece.ready + sync > step["start"]:
                    self.fault(f"phase {step['phase']} is combined at {step['start']} before all parts are there")
                here.append(piece)
        shards = sum(run["phase"] == step["phase"] for _, run in self.steps("run"))
        if len(here) != shards * len(results_of(phase)) if phase is not None else True:
            self.fault(f"phase {step['phase']} is combined from {len(here)} parts of {shards} shards")
        for value in results_of(phase) if phase is not None else ():
            whole = tuple((0, size) for size in self.shape(value))
            piece = Piece(
                self.home, whole, step["end"], step["start"], which, place, volume(whole) * self.width(value), step["end"]
            )
            self.state.pieces.setdefault((self.home, value), []).append(piece)

    def transfer(self, which: int, place: int, step: dict[str, Any], past: Past) -> None:
        source, target, value = step["source"], step["target"], step["value"]
        name = f"{source} → {target} of {value} at {step['start']}"
        box: Box = (
            tuple((0, size) for size in self.shape(value)) if step["box"] is None else tuple((a, b) for a, b in step["box"])
        )
        phase = next((p for p in self.graph.phases if value in results_of(p)), None)
        assert phase is not None
        if step["partial"]:
            every = self.state.partials.get(int(phase.id), [])
            mine = [p for p in every if p.device == source and (step["box"] is None or p.shard == box)]
            for piece in mine:
                piece.dies = max(piece.dies, step["arrive"])
                if past.get(piece.queue, -1) < piece.place or piece.ready > step["start"]:
                    self.fault(f"{name}: the partial result is not there")
            sent = [
                Piece(target, p.box, step["arrive"], step["start"], which, place, p.size, step["arrive"], False, True, p.shard)
                for p in mine
            ]
            if not mine:
                self.fault(f"{name}: there is no partial result")
            self.state.partials.setdefault(int(phase.id), []).extend(sent)
            return
        least = volume(box) * self.width(value)
        if step["bytes"] < least:
            self.fault(f"{name}: {step['bytes']} bytes are said of {least}")
        self.needed(name, source, self.all_of(value, box), step["start"], step["arrive"], past, sends=True)
        piece = Piece(target, box, step["arrive"], step["start"], which, place, least, step["arrive"], brought=True)
        self.state.pieces.setdefault((target, value), []).append(piece)
        for other in results_of(phase):
            if other != value and self.shape(other) == self.shape(value):
                size = volume(box) * self.width(other)
                also = Piece(target, box, step["arrive"], step["start"], which, place, size, step["arrive"], brought=True)
                self.state.pieces.setdefault((target, other), []).append(also)

    def needed(self, name: str, device: str, need: Need, start: int, end: int, past: Past, *, sends: bool = False) -> None:
        """All that is needed is in pieces on the device that were there before."""
        sync = 0 if sends and device == self.home else self.prices.sync(device)
        pieces = self.state.pieces.get((device, need.value), [])
        there = [
            piece for piece in pieces
            if past.get(piece.queue, -1) >= piece.place and piece.ready + (sync if piece.brought else 0) <= start
            and (sends or not piece.freed)
        ]  # fmt: skip
        missing = [point for point in need.points if not any(holds(piece.box, point) for piece in there)]
        if need.box is not None and not missing:
            missing = [tuple(first for first, _ in box) for box in uncovered(need.box, [piece.box for piece in there])]
        if missing:
            known = any(holds(piece.box, missing[0]) for piece in pieces)
            self.fault(f"{name}: item {missing[0]} of value {need.value} is {'not yet, or no longer,' if known else 'not'} there")
        for piece in there:
            if need.hull is not None and touches(piece.box, need.hull):
                piece.dies = max(piece.dies, end)

    # ------------------------------------------------------------------------------ what is read

    def corners(self, box: Box) -> list[tuple[int, ...]]:
        """The corners of a box, and some points inside; none of an empty one."""
        if volume(box) == 0:
            return []
        ends = [sorted({a, b - 1}) for a, b in box]
        found = [point for point, _ in zip(product(*ends), range(SAMPLES), strict=False)]
        return found + [tuple(self.random.randrange(a, b) for a, b in box) for _ in range(SAMPLES if box else 0)]

    def all_of(self, value: int, box: Box) -> Need:
        return Need(value, self.corners(box), box if volume(box) else None)

    def needs(self, phase: Phase, box: Box, whole: bool) -> Iterator[Need]:
        """What a shard reads of each operand."""
        if isinstance(phase, Structured):
            points = self.corners(box)
            for read in phase.reads:
                items = [item for point in points if (item := self.projected(read, point)) is not None]
                yield Need(int(read.value), items, self.image(read, box) if points else None)
        elif isinstance(phase, LibraryPhase) and not whole and phase.results:
            results = self.shape(results_of(phase)[0])
            for at, arg in enumerate(phase.args):
                part = [(0, size) for size in self.shape(int(arg))]
                for entry in phase.signature:
                    axis = entry.operands[at]
                    if entry.result is not None and axis is not None and box[entry.result] != (0, results[entry.result]):
                        part[axis] = self.prices.read_part(phase, at, axis, box[entry.result])
                for own, (_, axes) in zip(box[len(results) :], self.prices.summed(phase), strict=True):
                    if axes[at] is not None:
                        part[axes[at]] = own
                yield self.all_of(int(arg), tuple(part))
        else:
            for value in operands_of(phase):
                yield self.all_of(value, tuple((0, size) for size in self.shape(value)))

    def image(self, read: Read, box: Box) -> Box | None:
        """The items that a box reads, where they are a box: each axis by itself, one step at a time."""
        stages = read.projection.stages
        if not stages:
            return box
        only = stages[0]
        if len(stages) > 1 or not isinstance(only, Affine):
            return None
        found = []
        for index, size in zip(only.indices, only.shape, strict=True):
            low = high = n(index.constant)
            if len(index.terms) > 1 or any(abs(term.coefficient) != 1 for term in index.terms):
                return None
            for term in index.terms:
                ends = (term.coefficient * box[term.axis][0], term.coefficient * (box[term.axis][1] - 1))
                low, high = low + min(ends), high + max(ends)
            found.append((max(0, low), min(n(size), high + 1)))
        axes = [term.axis for index in only.indices for term in index.terms]
        return tuple(found) if len(axes) == len(set(axes)) and all(a < b for a, b in found) else None

    def projected(self, read: Read, point: tuple[int, ...]) -> tuple[int, ...] | None:
        """The item of the operand that a point reads; None where a fill stands in for it."""
        for stage in read.projection.stages:
            if isinstance(stage, Affine):
                point = tuple(sum(t.coefficient * point[t.axis] for t in i.terms) + n(i.constant) for i in stage.indices)
                if any(not 0 <= at < n(size) for at, size in zip(point, stage.shape, strict=True)):
                    return None
            else:
                flat = 0
                for at, size in zip(point, stage.source, strict=True):
                    flat = flat * n(size) + at
                back = []
                for size in reversed(stage.target):
                    flat, rest = divmod(flat, n(size))
                    back.append(rest)
                point = tuple(reversed(back))
        return point

    # ------------------------------------------------------------------------------ memory, totals

    def memory(self) -> None:
        """What certainly lives at once is within the stated peak, and that within the device's memory."""
        stated = self.plan["main"]["peak"]
        changes: dict[str, list[tuple[int, int]]] = {}
        for piece in self.every():
            size = -(-piece.size // GRAIN) * GRAIN
            if piece.dies > piece.born:
                changes.setdefault(piece.device, []).extend([(piece.born, size), (piece.dies, -size)])
        for device, events in changes.items():
            live = most = 0
            for _, size in sorted(events):
                live += size
                most = max(most, live)
            if most > stated.get(device, 0):
                self.fault(f"{device} holds {most} bytes at once, not {stated.get(device, 0)}")
        for device, peak in stated.items():
            memory = self.prices.device(device).memory
            if memory is not None and peak > memory:
                self.fault(f"{device} needs {peak} bytes of {memory}")
        self.buffers()

    def buffers(self) -> None:
        """No two buffers share an address while both live."""
        mine: dict[str, list[dict[str, Any]]] = {}
        for buffer in self.plan["main"]["buffers"]:
            if buffer["role"] != "alias" and buffer["bytes"]:
                mine.setdefault(buffer["device"], []).append(buffer)
        for device, buffers in mine.items():
            for at, a in enumerate(buffers):
                for b in buffers[:at]:
                    both = max(a["first"], b["first"]) < min(a["last"], b["last"])
                    if both and max(a["offset"], b["offset"]) < min(a["offset"] + a["bytes"], b["offset"] + b["bytes"]):
                        self.fault(f"buffers of {a['value']} and {b['value']} overlap on {device}")

    def prediction(self) -> None:
        said = self.plan["prediction"]
        if said["makespan"] != self.ends:
            self.fault(f"the last step ends at {self.ends}, not {said['makespan']}")
        for name, value in said["objectives"]:
            own = self.objective(name)
            if own != value:
                self.fault(f"{name} is {own}, not {value}")
        first = said["objectives"][0][1] if said["objectives"] else said["makespan"]
        if said["lower_bound"] > first or said["proof"]["lower_bound"] != said["lower_bound"]:
            self.fault(f"the bound {said['lower_bound']} (proof: {said['proof']['lower_bound']}) is above the value {first}")
        if said["status"] == "optimal" and said["lower_bound"] != first:
            self.fault(f"called optimal at {first} with a bound of {said['lower_bound']}")
        if said["status"] not in ("optimal", "gap"):
            self.fault(f"a plan whose status is {said['status']}")
        if said["objectives"][:1] and said["objectives"][0][0] == "latency":
            for baseline in said["baselines"]:
                if baseline["ticks"] is not None and baseline["ticks"] < said["lower_bound"]:
                    self.fault(f"the baseline {baseline['name']} is below the bound")
                if baseline["ticks"] is not None and baseline["ticks"] < first:
                    self.fault(f"the baseline {baseline['name']} is better")


def _join(past: Past, other: Past) -> None:
    for queue, place in other.items():
        past[queue] = max(past.get(queue, -1), place)
