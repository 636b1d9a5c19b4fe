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
