"""Selection and update by indices and masks.

An index outside its axis is E310 in every case: an op whose indices were proved in range (`checked` false) and still
meets one outside is a broken invariant instead.

Neighbours: `indexing`; `interpret`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from ...lang.codes import Code
from ...typechecker.core import Indexing
from ...typechecker.elements import Kind
from ..run.failures import NOTHING, CheckFailed, outside
from ..run.values import Array, fill_of
from .failures import InternalError
from .indexing import at, build, cells, integers, offset, positions
from .structure import reshape


def check_index(index: int, size: int, checked: bool, shift: Kind | None = None,
                place: Indexing | None = None, beside: Mapping[int, int] = NOTHING) -> None:  # fmt: skip
    """Fail unless 0 ≤ index < size (positions count from 0 here)."""
    if 0 <= index < size:
        return
    if not checked:
        raise InternalError(f"index {index} was proved to be below {size}")
    raise outside(index, size, shift, place, beside)


def gather(
    value: Array, indices: Array, axis: int, checked: bool, fills: bool, shift: Kind | None = None,
    place: Indexing | None = None, beside: Mapping[int, int] = NOTHING,
) -> Array:  # fmt: skip
    """result[a… i… b…] = value[a… indices[i…] b…]; `beside`: the indices of other axes that are numbers."""
    chosen = integers(indices)
    if chosen and checked and place is not None and place.axis == axis:
        every = {**beside, axis: chosen[0]}
        for other in range(axis):
            if other in every:
                rest = {own: number for own, number in every.items() if own != other}
                check_index(every[other], value.shape[other], True, place=place.on(other), beside=rest)
    for index in chosen:
        if not (fills and index == -1):
            check_index(index, value.shape[axis], checked, shift, place, beside)
    shape = (*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :])
    fill = fill_of(value.kind)

    def item(p: tuple[int, ...]) -> object:
        index = chosen[offset(p[axis : axis + indices.rank], indices.shape)]
        return fill if index == -1 else at(value, (*p[:axis], index, *p[axis + indices.rank :]))

    return build(value.kind, shape, item)  # type: ignore[arg-type]


def update(
    value: Array, indices: Sequence[Array | None], replacement: Array, checked: bool, place: Indexing | None = None
) -> Array:
    """`value[i;j;…] ← replacement`; the last of duplicates wins."""
    choices: list[Array] = []
    for axis, index in enumerate(indices):
        size = value.shape[axis]
        choices.append(Array(Kind.I64, (size,), tuple(range(size))) if index is None else index)
    present = {axis: integers(choices[axis]) for axis, index in enumerate(indices) if index is not None}
    for item in product(*(present.values() if all(present.values()) else ())):
        every = dict(zip(present, item, strict=False))
        for axis, index in every.items():
            rest = {own: number for own, number in every.items() if own != axis}
            check_index(index, value.shape[axis], checked, place=place and place.on(axis), beside=rest)
    for axis, numbers in present.items():
        for number in numbers:
            check_index(number, value.shape[axis], checked, place=place and place.on(axis))
    selection_shape = [size for choice in choices for size in choice.shape]
    data = list(value.data)
    for p in positions(selection_shape):
        target, at_axis = [], 0
        for choice in choices:
            target.append(int(at(choice, p[at_axis : at_axis + choice.rank])))  # type: ignore[arg-type]
            at_axis += choice.rank
        data[offset(target, value.shape)] = replacement.data[0] if replacement.rank == 0 else at(replacement, p)
    return Array(value.kind, value.shape, tuple(data))


def mask_update(value: Array, mask: Array, replacement: Array) -> Array:
    """The cells (of the mask's rank) where the mask holds, replaced in order; a scalar replacement serves every one."""
    parts = cells(value, mask.rank)
    places, cell_shape = sum(map(bool, mask.data)), value.shape[mask.rank :]
    if replacement.rank == 0:
        replacement = reshape(replacement, (places, *cell_shape))
    if replacement.shape != (places, *cell_shape):
        raise CheckFailed(Code.E140, f"{replacement.shape[0]} replacements for {places} places")
    supply = iter(cells(replacement, 1))
    data: list[object] = []
    for part, hit in zip(parts, mask.data, strict=True):
        data.extend(next(supply).data if hit else part.data)
    return Array(value.kind, value.shape, tuple(data))  # type: ignore[arg-type]


def compress(mask: Array, value: Array, axis: int) -> Array:
    """Keep the cells along `axis` whose mask item holds."""
    kept = [i for i, hit in enumerate(mask.data) if hit]
    return gather(value, Array(Kind.I64, (len(kept),), tuple(kept)), axis, checked=False, fills=False)


def expand(mask: Array, value: Array, axis: int) -> Array:
    """Cells of `value` where the mask holds, in order, fills elsewhere."""
    places = sum(map(bool, mask.data))
    if places != value.shape[axis]:
        raise CheckFailed(Code.E703, f"the mask has {places} places for {value.shape[axis]} items")
    indices, used = [], 0
    for hit in mask.data:
        indices.append(used if hit else -1)
        used += bool(hit)
    return gather(value, Array(Kind.I64, (len(indices),), tuple(indices)), axis, checked=False, fills=True)


def where(mask: Array) -> Array:
    """Positions of true items: `i64[k]`, or `i64[k r]` for a mask of rank r > 1."""
    found = [p for p, hit in zip(positions(mask.shape), mask.data, strict=True) if hit]
    if mask.rank <= 1:
        return Array(Kind.I64, (len(found),), tuple(p[0] if p else 0 for p in found))
    return Array(Kind.I64, (len(found), mask.rank), tuple(coordinate for p in found for coordinate in p))
