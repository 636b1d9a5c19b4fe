"""Positions of row-major arrays: the one idea that every structural operation of the reference is written with.

Neighbours: `structure`, `selection`, `reductions`, `searching`, `linear`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from ..run.values import Array

Position: TypeAlias = tuple[int, ...]


def positions(shape: Sequence[int]) -> Iterator[Position]:
    """Every position of a box in row-major order (one empty position for a scalar)."""
    return itertools.product(*map(range, shape))


def offset(position: Sequence[int], shape: Sequence[int]) -> int:
    """The row-major place of a position."""
    place = 0
    for coordinate, size in zip(position, shape, strict=True):
        place = place * size + coordinate
    return place


def inside(position: Sequence[int], shape: Sequence[int]) -> bool:
    return all(0 <= coordinate < size for coordinate, size in zip(position, shape, strict=True))


def at(value: Array, position: Sequence[int]) -> Payload:
    return value.data[offset(position, value.shape)]


def build(kind: Kind, shape: Sequence[int], item: Callable[[Position], Payload]) -> Array:
    """The array whose item at each position is `item(position)`; items are already of `kind`."""
    return Array(kind, tuple(shape), tuple(item(position) for position in positions(shape)))


def cells(value: Array, frame_rank: int) -> list[Array]:
    """The cells below the leading `frame_rank` axes, in row-major order of the frame."""
    frame, shape = value.shape[:frame_rank], value.shape[frame_rank:]
    size = math.prod(shape)
    return [Array(value.kind, shape, value.data[i * size : (i + 1) * size]) for i in range(math.prod(frame))]


def assemble(kind: Kind, frame: Sequence[int], cell_shape: Sequence[int], parts: Sequence[Array]) -> Array:
    """The array of shape frame ⧺ cell_shape whose cells are `parts`."""
    return Array(kind, (*frame, *cell_shape), tuple(itertools.chain.from_iterable(part.data for part in parts)))


def lines(value: Array, axis: int) -> tuple[tuple[int, ...], list[list[Payload]]]:
    """The shape without `axis`, and for each of its positions the items along `axis`."""
    rest = value.shape[:axis] + value.shape[axis + 1 :]
    step, length = math.prod(value.shape[axis + 1 :]), value.shape[axis]
    starts = (before * length * step + after for before in range(math.prod(value.shape[:axis])) for after in range(step))
    return rest, [[value.data[start + i * step] for i in range(length)] for start in starts]


def integers(value: Array) -> list[int]:
    """The items of an integer or bool array as ints."""
    return [int(item) for item in value.data]  # type: ignore[arg-type]
