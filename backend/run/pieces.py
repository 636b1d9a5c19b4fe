"""What a device holds in a plan of several devices: whole values, pieces of values, and partial results.

A piece is a box of a value with its array.  A step takes the box it needs out of what is held: a view where one piece covers
it, else a new array put together of the pieces.  Arrays are immutable here, so views are safe.

`limit` is the device's memory in bytes; holding more logical bytes at the end of a tick raises `OutOfMemory`.

Neighbours: `distributed` (drives it), `device.Backend` (parts of arrays), `schedule.facts.sharding` (boxes).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from ...typechecker.elements import Kind
from ..graph.phases import ValueId
from ..schedule.plan.model import Box
from ..schedule.plan.parts import DeviceId
from .device import Backend, Index, Kernel
from .memory import Memory


class OutOfMemory(Exception):
    """A device would hold more than it may: `held` and `limit` in bytes."""

    def __init__(self, held: int, limit: int) -> None:
        super().__init__(f"{held} bytes of {limit}")
        self.held = held
        self.limit = limit


@dataclass(slots=True)
class Holdings:
    """`memory` has the whole values, for kernels of whole phases; `touched` collects the devices that took memory; `kernels` are
    those of its shards (`shards.Known`)."""

    name: DeviceId
    backend: Backend
    touched: set[DeviceId]
    limit: int | None = None
    memory: Memory = field(default_factory=dict)
    pieces: dict[ValueId, dict[Box, Any]] = field(default_factory=dict)
    partials: dict[ValueId, list[tuple[Box, Any]]] = field(default_factory=dict)
    held: int = 0
    most: int = 0
    sizes: dict[ValueId, dict[Box | None, int]] = field(default_factory=dict)
    kernels: dict[Hashable, Kernel] = field(default_factory=dict)

    def count(self, value: ValueId, box: Box | None, size: int) -> None:
        """Bytes are taken for a value or a piece of it."""
        own = self.sizes.setdefault(value, {})
        if box in own:
            return
        own[box] = size
        self.held += size
        self.touched.add(self.name)

    def settle(self) -> None:
        """All steps of a tick have been taken: what comes and goes within it was never there together."""
        self.most = max(self.most, self.held)
        if self.limit is not None and self.held > self.limit:
            raise OutOfMemory(self.held, self.limit)

    def keep(self, value: ValueId, box: Box | None, array: Any, shape: tuple[int, ...]) -> None:
        """Hold a piece; one that is the whole value goes to the memory."""
        if box is None or is_whole(box, shape):
            self.memory[value] = array
        else:
            self.pieces.setdefault(value, {})[box] = array

    def free(self, value: ValueId, box: Box | None) -> None:
        """Let go of all that is held of a value (box None), or of one piece."""
        if box is None:
            self.memory.pop(value, None)
            self.pieces.pop(value, None)
            self.partials.pop(value, None)
            self.held -= sum(self.sizes.pop(value, {}).values())
            return
        own, gone = self.sizes.get(value, {}), self.partials_in(value, box)
        for part in (box, *(one for one, _ in gone)):
            self.held -= own.pop(part, 0)
        if value in self.pieces:
            self.pieces[value].pop(box, None)
        if gone:
            boxes = [one for one, _ in gone]
            self.partials[value] = [piece for piece in self.partials[value] if piece[0] not in boxes]
        if not own:
            self.memory.pop(value, None)

    def free_whole(self, value: ValueId, box: Box) -> None:
        """Let go of the piece that is all of a value; `box` is its box."""
        self.memory.pop(value, None)
        self.pieces.get(value, {}).pop(box, None)
        for one in (None, box):
            self.held -= self.sizes.get(value, {}).pop(one, 0)

    def partials_in(self, value: ValueId, box: Box | None) -> list[tuple[Box, Any]]:
        """The partial results of subtrees in a box; None: all."""
        return [
            piece for piece in self.partials.get(value, ())
            if box is None or all(a <= c and d <= b for (a, b), (c, d) in zip(box, piece[0], strict=True))
        ]  # fmt: skip

    def take(self, value: ValueId, box: Box, kind: Kind, shape: tuple[int, ...]) -> Any:
        """The part of a value in a box."""
        found = self.memory.get(value)
        if found is not None:
            return found if is_whole(box, shape) else self.backend.part(found, slices(box))
        held = self.pieces.get(value, {})
        if box in held:
            return held[box]
        for own, array in held.items():
            if all(a <= b and c <= d for (a, d), (b, c) in zip(own, box, strict=True)):
                return self.backend.part(array, slices(within(box, own)))
        return self.assemble(held, box, kind)

    def take_in_place(self, value: ValueId, box: Box, kind: Kind, shape: tuple[int, ...]) -> Any:
        """An array of the whole shape, of which only the box is filled."""
        if value in self.memory:
            return self.memory[value]
        target = self.backend.empty(kind, shape)
        if all(start < stop for start, stop in box):
            self.backend.place(target, slices(box), self.take(value, box, kind, shape))
        return target

    def assemble(self, held: Mapping[Box, Any], box: Box, kind: Kind) -> Any:
        """A new array of a box, put together of the pieces that meet it."""
        target = self.backend.empty(kind, extents(box))
        missing = prod(extents(box))
        for own, array in held.items():
            common = tuple((max(a, c), min(b, d)) for (a, b), (c, d) in zip(own, box, strict=True))
            if all(start < stop for start, stop in common):
                part = self.backend.part(array, slices(within(common, own)))
                self.backend.place(target, slices(within(common, box)), part)
                missing -= prod(extents(common))
        if missing > 0:
            raise AssertionError("a step needs what its device does not hold")
        return target


def is_whole(box: Box, shape: tuple[int, ...]) -> bool:
    return all(start == 0 and stop == size for (start, stop), size in zip(box, shape, strict=True))


def within(box: Box, outer: Box) -> Box:
    """A box relative to the origin of another."""
    return tuple((start - origin, stop - origin) for (start, stop), (origin, _) in zip(box, outer, strict=True))


def slices(box: Box) -> Index:
    return tuple(slice(start, stop) for start, stop in box)


def extents(box: Box) -> tuple[int, ...]:
    return tuple(max(0, stop - start) for start, stop in box)
