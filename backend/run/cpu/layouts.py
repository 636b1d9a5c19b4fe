"""Shapes and strides of the arrays that kernels are bound to.

Neighbours: `compiled` (binds them).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod


def broadcasts(shape: tuple[int, ...], space: tuple[int, ...]) -> bool:
    """Does an array of this shape broadcast over the space?"""
    if len(shape) != len(space):
        return prod(shape) == 1
    return all(own in (1, size) for own, size in zip(shape, space, strict=True))


def contiguous(sizes: Sequence[int], bytes: int) -> tuple[int, ...]:
    """Strides of an array of these sizes, and 0 for a reduce axis."""
    strides: list[int] = []
    for size in reversed(sizes):
        strides.insert(0, bytes)
        bytes *= size
    return (*strides, 0)


def common_stride(shape: Sequence[int], strides: Sequence[int]) -> int | None:
    """The stride of some axes as one, 0 where they repeat what is there once; None where they are not evenly spaced."""
    step = 0
    reach: int | None = None
    """How far the axes inside go in all; None before the first of them, whose stride may be 0."""
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 1:
            continue
        if reach is None:
            step = stride
        elif stride != reach:
            return None
        reach = stride * size
    return step


def reshaped_strides(shape: Sequence[int], strides: Sequence[int], target: Sequence[int]) -> tuple[int, ...] | None:
    """The strides of a reshape that copies nothing; None where there are none."""
    if prod(shape) == 0 or prod(shape) == 1:
        return (0,) * len(target)
    kept = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    runs: list[list[int]] = []  # [items, stride of the last]
    for n, s in kept:
        if runs and runs[-1][1] == n * s:
            runs[-1] = [runs[-1][0] * n, s]
        else:
            runs.append([n, s])
    made = [0] * len(target)
    axis = len(target) - 1
    for items, stride in reversed(runs):
        while items > 1:
            while target[axis] == 1:
                axis -= 1
            if items % target[axis]:
                return None
            made[axis] = stride
            stride *= target[axis]
            items //= target[axis]
            axis -= 1
    return tuple(made)
