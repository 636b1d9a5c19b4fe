"""Reads as addresses and strides: a projection with known sizes, applied to where an operand lies in a device's memory.

The twin of `cpu.views` without arrays of views: kernels want an address and strides.  An affine stage without fills moves the
address and combines strides; a reshape keeps strides where it can; what cannot be said by strides is copied on the device.

Every address a kernel may form from a `Placed` lies in its array: `KnownAffine` bounds are checked here from the sizes, and a
projection that leaves its operand without fills raises AssertionError.

Neighbours: `launching` (binds kernels to these), `cpu.views` (the same on NumPy).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.phases import Affine, Projection, Reshaped, Stage, Structured, ValueId
from ..cpu.kinds import FILLS
from ..cpu.layouts import reshaped_strides
from ..cpu.views import KnownAffine, Reach, bounds, known_affine, points_inside, reach_of

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """Items of `array`'s memory: the first one `offset` bytes from its first, the others by strides in bytes."""

    array: Any
    offset: int
    shape: Numbers
    strides: Numbers

    @property
    def address(self) -> int:
        return int(self.array.data.ptr) + self.offset

    def strided(self, xp: Any) -> Any:
        """The items as an array, not copied.  It must not outlive the step: nothing says that it shares memory."""
        return xp.ndarray(self.shape, self.array.dtype, memptr=self.array.data + self.offset, strides=self.strides)


Reading: TypeAlias = Callable[[Any], Placed]


def whole(array: Any) -> Placed:
    """An array as it is."""
    return Placed(array, 0, tuple(array.shape), tuple(array.strides))


def compile_reading(xp: Any, projection: Projection, space: Numbers, fill: int, number: Callable[[Size], int]) -> Reading:
    """From an operand to where the points of the space read it."""
    boxes = [space]
    for stage in projection.stages:
        boxes.append(tuple(map(number, stage.shape if isinstance(stage, Affine) else stage.target)))
    steps = [
        _compile_stage(xp, stage, boxes[place], boxes[place + 1], fill, number)
        for place, stage in enumerate(projection.stages)
    ]  # fmt: skip
    steps.reverse()

    def read(operand: Any) -> Placed:
        placed = whole(operand)
        for step in steps:
            placed = step(placed)
        return placed

    return read


def compile_readings(xp: Any, phase: Structured, space: Numbers, kinds: Callable[[ValueId], Kind], number: Callable[[Size], int]
                     ) -> list[tuple[ValueId, Reading]]:  # fmt: skip
    """Of all reads of a phase."""
    return [
        (read.value, compile_reading(xp, read.projection, space, FILLS[kinds(read.value)], number)) for read in phase.reads
    ]  # fmt: skip


def _compile_stage(
    xp: Any, stage: Stage, space: Numbers, shape: Numbers, fill: int, number: Callable[[Size], int]
) -> Callable[[Placed], Placed]:
    if isinstance(stage, Reshaped):
        return lambda placed: _reshaped(xp, placed, space)
    known = known_affine(stage, space, shape, (True,) * len(shape), number)
    if 0 in space:
        return lambda placed: Placed(placed.array, 0, space, (0,) * len(space))
    low, high = bounds(known)
    match reach_of(stage, known, low, high):
        case Reach.INSIDE:
            return lambda placed: _moved(placed, known)
        case Reach.AROUND:
            return lambda placed: _padded(xp, placed, known, low, high, fill)
        case Reach.FAR:
            return lambda placed: _fetched(xp, placed, known, fill)


def _moved(placed: Placed, stage: KnownAffine) -> Placed:
    offset = placed.offset + sum(c * s for c, s in zip(stage.constants, placed.strides, strict=True))
    strides = tuple(
        sum(row[axis] * stride for row, stride in zip(stage.coefficients, placed.strides, strict=True))
        for axis in range(len(stage.space))
    )
    return Placed(placed.array, offset, stage.space, strides)


def _reshaped(xp: Any, placed: Placed, target: Numbers) -> Placed:
    """The row-major order under other axes; copied where strides cannot say it."""
    strides = reshaped_strides(placed.shape, placed.strides, target)
    if strides is None:
        return whole(placed.strided(xp).copy().reshape(target))
    return Placed(placed.array, placed.offset, target, strides)


def _padded(xp: Any, placed: Placed, stage: KnownAffine, low: Numbers, high: Numbers, fill: int) -> Placed:
    """Copy what is read into a box with fills around it."""
    box = tuple(b - a + 1 for a, b in zip(low, high, strict=True))
    made = xp.full(box, fill, placed.array.dtype)
    source, target = [], []
    for a, b, n in zip(low, high, stage.shape, strict=True):
        start, stop = max(a, 0), max(max(a, 0), min(b + 1, n))
        source.append(slice(start, stop))
        target.append(slice(start - a, stop - a))
    if all(part.start < part.stop for part in source):
        made[tuple(target)] = placed.strided(xp)[tuple(source)]
    constants = tuple(c - a for c, a in zip(stage.constants, low, strict=True))
    return _moved(whole(made), KnownAffine(stage.space, box, stage.coefficients, constants))


def _fetched(xp: Any, placed: Placed, stage: KnownAffine, fill: int) -> Placed:
    """Item by item through index arrays (a sparse read far outside its operand)."""
    indices, inside = points_inside(stage)
    made = xp.full(stage.space, fill, placed.array.dtype)
    if inside.any():
        where = tuple(xp.asarray(axis) for axis in np.nonzero(inside))
        made[where] = placed.strided(xp)[tuple(xp.asarray(index[inside]) for index in indices)]
    return whole(made)
