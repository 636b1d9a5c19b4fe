"""Structural operations: they move items and never compute on them.

Each takes the declared result shape where the core says that sizes are in the result's type.

Neighbours: `indexing`; `interpret` calls one function here for each op of that kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...typechecker.elements import Kind
from ..run.values import Array, fill_of
from .indexing import at, build, inside, integers, offset, positions


def iota(size: int) -> Array:
    return Array(Kind.I64, (size,), tuple(range(size)))


def iota_grid(shape: Sequence[int]) -> Array:
    """All positions of the box `shape[:-1]`; the last axis holds the coordinates."""
    return Array(Kind.I64, tuple(shape), tuple(coordinate for p in positions(shape[:-1]) for coordinate in p))


def reshape(value: Array, shape: Sequence[int]) -> Array:
    """Row-major; cycles or truncates; fills from an empty array."""
    count = math.prod(shape)
    data = value.data or (fill_of(value.kind),)
    return Array(value.kind, tuple(shape), tuple(data[i % len(data)] for i in range(count)))


def transpose(value: Array, axes: Sequence[int]) -> Array:
    """Operand axis i becomes result axis `axes[i]`; repeated axes give the diagonal."""
    rank = max(axes, default=-1) + 1
    shape = [min(value.shape[i] for i, axis in enumerate(axes) if axis == result) for result in range(rank)]
    return build(value.kind, shape, lambda p: at(value, [p[axis] for axis in axes]))


def spread(value: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """Operand axis i is result axis `axes[i]`; the other result axes replicate."""
    return build(value.kind, shape, lambda p: at(value, [p[axis] for axis in axes]))


def reverse(value: Array, axis: int) -> Array:
    last = value.shape[axis] - 1
    return build(value.kind, value.shape, lambda p: at(value, (*p[:axis], last - p[axis], *p[axis + 1 :])))


def rotate(value: Array, amount: Array, axis: int) -> Array:
    size = value.shape[axis]
    amounts = integers(amount)

    def turned(p: tuple[int, ...]) -> int:
        by = amounts[0] if amount.rank == 0 else amounts[offset(p[:axis] + p[axis + 1 :], amount.shape)]
        return (p[axis] + by) % size

    return build(value.kind, value.shape, lambda p: at(value, (*p[:axis], turned(p), *p[axis + 1 :])))


def slice_box(value: Array, starts: Sequence[int], shape: Sequence[int]) -> Array:
    """result[i] = value[i + start] on the leading axes, a fill outside."""
    shift = (*starts, *[0] * (value.rank - len(starts)))
    fill = fill_of(value.kind)

    def item(p: tuple[int, ...]) -> object:
        source = [coordinate + by for coordinate, by in zip(p, shift, strict=True)]
        return at(value, source) if inside(source, value.shape) else fill

    return build(value.kind, shape, item)  # type: ignore[arg-type]


def join(args: Sequence[Array], axis: int) -> Array:
    """Concatenate along `axis`."""
    owners = [(arg, i) for arg in args for i in range(arg.shape[axis])]
    first = args[0].shape
    shape = (*first[:axis], len(owners), *first[axis + 1 :])

    def item(p: tuple[int, ...]) -> object:
        owner, within = owners[p[axis]]
        return at(owner, (*p[:axis], within, *p[axis + 1 :]))

    return build(args[0].kind, shape, item)  # type: ignore[arg-type]


def stack(args: Sequence[Array], axis: int) -> Array:
    """Operands of one shape become the cells of a new axis."""
    shape = (*args[0].shape[:axis], len(args), *args[0].shape[axis:])
    return build(args[0].kind, shape, lambda p: at(args[p[axis]], p[:axis] + p[axis + 1 :]))


def windows(value: Array, count: int, shape: Sequence[int]) -> Array:
    """result[i…, j…, t…] = value[i + j…, t…] over the leading `count` axes."""

    def item(p: tuple[int, ...]) -> object:
        moved = [p[i] + p[count + i] for i in range(count)]
        return at(value, (*moved, *p[2 * count :]))

    return build(value.kind, shape, item)  # type: ignore[arg-type]
