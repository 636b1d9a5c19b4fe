"""Structural operations: they move items and never compute on them.

Each takes the declared result shape where the core says that sizes are in the result's type.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from ...lang.diagnostics.model import Code
from ...typechecker.core.operations import Indexing, Payload
from ...typechecker.elements import Kind
from ..vm.check_failures import NO_FIXED_INDICES, CheckFailed, index_out_of_range
from ..vm.values import Array, fill_of

# ---------------------------------------------------------------------------------------------------- indexing
#
# Positions of row-major arrays, on which every structural operation of the reference is based.

Position: TypeAlias = tuple[int, ...]


def positions(shape: Sequence[int]) -> Iterator[Position]:
    """Every position of a box in row-major order (one empty position for a scalar)."""
    return itertools.product(*map(range, shape))


def offset(position: Sequence[int], shape: Sequence[int]) -> int:
    """The row-major offset of a position."""
    result = 0
    for coordinate, size in zip(position, shape, strict=True):
        result = result * size + coordinate
    return result


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


# ---------------------------------------------------------------------------------------------------- structure

def iota(size: int) -> Array:
    return Array(Kind.I64, (size,), tuple(range(size)))


def iota_grid(shape: Sequence[int]) -> Array:
    """All positions of the box `shape[:-1]`; the last axis holds the coordinates."""
    return Array(Kind.I64, tuple(shape), tuple(coordinate for p in positions(shape[:-1]) for coordinate in p))


def reshape(value: Array, shape: Sequence[int]) -> Array:
    """The items in row-major order, cycled or truncated to the shape; fills if the array is empty."""
    count = math.prod(shape)
    data = value.data or (fill_of(value.kind),)
    return Array(value.kind, tuple(shape), tuple(data[i % len(data)] for i in range(count)))


def transpose(value: Array, axes: Sequence[int]) -> Array:
    """The array with operand axis i as result axis `axes[i]`; repeated axes give the diagonal."""
    rank = max(axes, default=-1) + 1
    shape = [min(value.shape[i] for i, axis in enumerate(axes) if axis == result) for result in range(rank)]
    return build(value.kind, shape, lambda p: at(value, [p[axis] for axis in axes]))


def spread(value: Array, axes: Sequence[int], shape: Sequence[int]) -> Array:
    """The array with operand axis i as result axis `axes[i]`, replicated along the other result axes."""
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


# ---------------------------------------------------------------------------------------------------- failures
#
# The errors with which an operation of the reference interpreter stops.
#
# `CheckFailed` is a failed run-time check, shared with the other back ends.  A broken invariant (a shape that is not the
# declared one) is an `InternalError`: a bug in Rho, never the user's fault.

class InternalError(AssertionError):
    """Raised where the core breaks one of its own invariants."""


# ---------------------------------------------------------------------------------------------------- selection
#
# Selection and update by indices and masks.
#
# An index out of range is E310; if it was proved to be in range (`checked` false) it is an `InternalError` instead.

def check_index(index: int, size: int, checked: bool, shift: Kind | None = None,
                indexing: Indexing | None = None, fixed: Mapping[int, int] = NO_FIXED_INDICES) -> None:  # fmt: skip
    """Raises E310 unless 0 ≤ index < size."""
    if 0 <= index < size:
        return
    if not checked:
        raise InternalError(f"index {index} was proved to be below {size}")
    raise index_out_of_range(index, size, shift, indexing, fixed)


def gather(
    value: Array, indices: Array, axis: int, checked: bool, fills: bool, shift: Kind | None = None,
    indexing: Indexing | None = None, fixed: Mapping[int, int] = NO_FIXED_INDICES,
) -> Array:  # fmt: skip
    """result[a… i… b…] = value[a… indices[i…] b…]; `fixed`: scalar indices of other axes, for the message of a failure."""
    chosen = integers(indices)
    if chosen and checked and indexing is not None and indexing.axis == axis:
        every = {**fixed, axis: chosen[0]}
        for other in range(axis):
            if other in every:
                rest = {along: number for along, number in every.items() if along != other}
                check_index(every[other], value.shape[other], True, indexing=indexing.on(other), fixed=rest)
    for index in chosen:
        if not (fills and index == -1):
            check_index(index, value.shape[axis], checked, shift, indexing, fixed)
    shape = (*value.shape[:axis], *indices.shape, *value.shape[axis + 1 :])
    fill = fill_of(value.kind)

    def item(p: tuple[int, ...]) -> object:
        index = chosen[offset(p[axis : axis + indices.rank], indices.shape)]
        return fill if index == -1 else at(value, (*p[:axis], index, *p[axis + indices.rank :]))

    return build(value.kind, shape, item)  # type: ignore[arg-type]


def update(
    value: Array, indices: Sequence[Array | None], replacement: Array, checked: bool, indexing: Indexing | None = None
) -> Array:
    """`value[i;j;…] ← replacement`; the last of duplicate indices wins."""
    choices: list[Array] = []
    for axis, index in enumerate(indices):
        size = value.shape[axis]
        choices.append(Array(Kind.I64, (size,), tuple(range(size))) if index is None else index)
    present = {axis: integers(choices[axis]) for axis, index in enumerate(indices) if index is not None}
    for item in itertools.product(*(present.values() if all(present.values()) else ())):
        every = dict(zip(present, item, strict=False))
        for axis, index in every.items():
            rest = {along: number for along, number in every.items() if along != axis}
            check_index(index, value.shape[axis], checked, indexing=indexing and indexing.on(axis), fixed=rest)
    for axis, numbers in present.items():
        for number in numbers:
            check_index(number, value.shape[axis], checked, indexing=indexing and indexing.on(axis))
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
    """`value` with the cells (of the mask's rank) where the mask holds replaced in order; a scalar replaces each of them."""
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
    """The cells along `axis` whose mask item holds."""
    indices = [i for i, hit in enumerate(mask.data) if hit]
    return gather(value, Array(Kind.I64, (len(indices),), tuple(indices)), axis, checked=False, fills=False)


def expand(mask: Array, value: Array, axis: int) -> Array:
    """Cells of `value` in order where the mask holds, fills elsewhere."""
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
    hits = [p for p, hit in zip(positions(mask.shape), mask.data, strict=True) if hit]
    if mask.rank <= 1:
        return Array(Kind.I64, (len(hits),), tuple(p[0] if p else 0 for p in hits))
    return Array(Kind.I64, (len(hits), mask.rank), tuple(coordinate for p in hits for coordinate in p))


# ---------------------------------------------------------------------------------------------------- searching
#
# Comparison of whole arrays and cells: matching, membership, grades and interval indices.
#
# Equality is exact (`0 = -0.0`, NaN equals nothing), and text never equals a number.  Order is lexicographic by
# element; NaN sorts after every number in an ascending and in a descending grade, and NaNs keep their order.

def match(left: Array, right: Array) -> bool:
    """Do both arrays have the same shape and equal items?"""
    return left.shape == right.shape and equal_items(left.data, right.data)


def equal_items(left: Sequence[Payload], right: Sequence[Payload]) -> bool:
    return all(a == b for a, b in zip(left, right, strict=True))


def compare_items(a: Any, b: Any, sense: int = 1) -> int:
    """-1, 0 or 1, times `sense`; NaN comes after all numbers in either sense; complex numbers compare by real, then imaginary
    part."""
    a_missing, b_missing = a != a, b != b
    if a_missing or b_missing:
        return int(a_missing) - int(b_missing)
    if isinstance(a, complex):
        return compare_items(a.real, b.real, sense) or compare_items(a.imag, b.imag, sense)
    return sense * (int(a > b) - int(a < b))


def compare_cells(left: Sequence[Payload], right: Sequence[Payload], sense: int = 1) -> int:
    """The lexicographic order of two cells of one shape, as -1, 0 or 1."""
    for a, b in zip(left, right, strict=True):
        order = compare_items(a, b, sense)
        if order:
            return order
    return 0


def first_occurrence(value: Array) -> Array:
    """bool[n]: is this major cell the first equal to it?  (A NaN is always a first.)"""
    rows = [cell.data for cell in cells(value, 1)]
    firsts = [not any(equal_items(rows[j], row) for j in range(i)) for i, row in enumerate(rows)]
    return Array(Kind.BOOL, (len(firsts),), tuple(firsts))


def grade(value: Array, descending: bool) -> Array:
    """The stable order of the major cells.  Descending is stable too: equal cells keep their order."""
    return _grade([cell.data for cell in cells(value, 1)], descending)


def grade_by(order: Array, value: Array, descending: bool) -> Array:
    """Grade of text by the position of each character in `order`, absent ones last."""
    rank_of = {character: i for i, character in reversed(list(enumerate(order.data)))}
    return _grade([tuple(rank_of.get(c, len(order.data)) for c in cell.data) for cell in cells(value, 1)], descending)


def _grade(rows: Sequence[Sequence[Payload]], descending: bool) -> Array:
    sense = -1 if descending else 1

    def compare(i: int, j: int) -> int:
        return compare_cells(rows[i], rows[j], sense)

    order: list[int] = sorted(range(len(rows)), key=functools.cmp_to_key(compare))
    return Array(Kind.I64, (len(rows),), tuple(order))


def index_of(table: Array, value: Array) -> Array:
    """The index of the first major cell of `table` that equals each cell of `value`; the length of `table` if there is none."""
    rows = [cell.data for cell in cells(table, 1)]
    frame_rank = value.rank - (table.rank - 1)
    matches = []
    for cell in cells(value, frame_rank):
        alike = cell.shape == table.shape[1:]
        matches.append(next((i for i, row in enumerate(rows) if alike and equal_items(row, cell.data)), len(rows)))
    return Array(Kind.I64, value.shape[:frame_rank], tuple(matches))


def member_of(value: Array, table: Array) -> Array:
    return Array(Kind.BOOL, value.shape, tuple(any(item == other for other in table.data) for item in value.data))


def find(pattern: Array, value: Array) -> Array:
    """By position of `value`: does the pattern start there?"""
    if pattern.rank > value.rank:
        return build(Kind.BOOL, value.shape, lambda p: False)
    shape = (*[1] * (value.rank - pattern.rank), *pattern.shape)
    raised = Array(pattern.kind, shape, pattern.data)

    def starts(p: Position) -> bool:
        last = [a + n - 1 for a, n in zip(p, shape, strict=True)]
        if not inside([max(a, b) for a, b in zip(p, last, strict=True)], value.shape):
            return False
        window = build(value.kind, shape, lambda q: at(value, [a + b for a, b in zip(p, q, strict=True)]))
        return equal_items(window.data, raised.data)

    return build(Kind.BOOL, value.shape, starts)


def interval_index(table: Array, value: Array) -> Array:
    """The number of major cells of `table` that are not after each cell, minus 1."""
    rows = [cell.data for cell in cells(table, 1)]
    frame_rank = value.rank - (table.rank - 1)
    intervals = []
    for cell in cells(value, frame_rank):
        if any(isinstance(item, float) and math.isnan(item) for item in cell.data):
            intervals.append(-1)  # NaN is not at or above any boundary
        else:
            intervals.append(sum(compare_cells(row, cell.data) <= 0 for row in rows) - 1)
    return Array(Kind.I64, value.shape[:frame_rank], tuple(intervals))
