"""The order of loops of a phase over strided operands, the form of its innermost loops, and the blocks of the order of sums.

Axes are loops, outermost first.  `Form` says which of them is the vector axis and which is reduced:
  * MAP: every axis is parallel, the last is the vector axis;
  * REDUCE_INNER: the last axis is reduced and is the vector axis (rows that are contiguous);
  * REDUCE_OUTER: the last axis is reduced, the one before it is the vector axis (columns);
  * REDUCE_IN_REGISTERS: as REDUCE_OUTER, where every reduction is exact in any order, or sequential;
  * UNROLLED_INNER: every axis is parallel, the last has a short constant length, the one before it is the vector axis
    (`body`, short axes).
Float reductions follow the order of sums of phases.md: blocks of `ROWS` × `LANES`, halving, a binary tree.  Reductions that are
exact in any order may use it too.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from functools import cmp_to_key
from math import prod
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, replace

# ---------------------------------------------------------------------------------------------------- blocks and forms

ROWS: Final = 16
LANES: Final = 256
BLOCK: Final = ROWS * LANES
RUN: Final = 64
"""Items of a block of a scan that are combined sequentially."""
NO_MEMORY: Final = -1
"""The return value of a kernel for which there is no scratch memory."""
NAME: Final = "kernel"
"""The name of the printed function."""


class Form(Enum):
    """The loop form of a kernel: which axis is the vector axis, and which is reduced (see the head of this module)."""

    MAP = "map"
    REDUCE_INNER = "along"
    REDUCE_OUTER = "across"
    REDUCE_IN_REGISTERS = "columns"
    UNROLLED_INNER = "few"


class VectorStride(Enum):
    """How an operand moves along the vector axis."""

    NONE = "none"
    UNIT = "unit"
    REVERSED = "reversed"
    STRIDED = "strided"


class StoreMode(Enum):
    """How results are stored.  STREAMED: bypassing the caches; their addresses are multiples of a vector's bytes."""

    PLAIN = "plain"
    STREAMED = "streamed"


# ---------------------------------------------------------------------------------------------- loop order
#
# The order of loops for a phase over operands of given strides, and which axes merge into one loop.
#
# Parallel axes are ordered by the operands' strides, of which the largest operand's decide; results are contiguous in that order.
# Adjacent loops that step evenly through every operand are merged.

Numbers: TypeAlias = tuple[int, ...]

_SHORT_ROW: Final = 32
"""Rows of fewer items are reduced side by side, unless they are contiguous."""
_MIN_CELLS: Final = 4
_MIN_VECTOR_CELLS: Final = 16
"""The least number of cells for which vectors of cells pay."""
_MIN_SEARCHED_ROW: Final = 64
"""The least items of a row along which the position of an extreme is searched."""
_MIN_ROW: Final = 6
"""The least items of a contiguous row that is reduced along the row."""
_MIN_MASKED_BYTES: Final = 4
"""The least bytes of an item for which a short row is loaded as a masked vector."""


@dataclass(frozen=True, slots=True)
class LoopOrder:
    """`order`: the parallel axes by stride, outermost first.  `groups`: the axes that each loop merges, the reduce axis (if any)
    last.  `sizes`: the iterations of each loop.  `strides`: bytes, by operand and loop."""

    form: Form
    order: Numbers
    groups: tuple[Numbers, ...]
    sizes: Numbers
    strides: tuple[Numbers, ...]


def plan_nest(
    space: Numbers, reduces: bool, strides: Sequence[Numbers], coordinates: Collection[int]
) -> LoopOrder:
    """The loop order of a phase over a non-empty space; `reduces`: is the last axis reduced?

    `strides[i][axis]` is in bytes, and 0 where operand i does not vary; `coordinates`: axes whose coordinate the body uses, which
    therefore are not merged."""
    rank = len(space)
    parallel = [axis for axis in range(rank - reduces) if space[axis] != 1]
    largest = sorted(strides, key=lambda s: -prod(n for n, step in zip(space, s, strict=True) if step))

    def before(a: int, b: int) -> int:
        for steps in largest:
            left, right = abs(steps[a]), abs(steps[b])
            if left and right and left != right:
                return right - left
        return a - b

    order = sorted(parallel, key=cmp_to_key(before))
    groups: list[list[int]] = []
    for axis in order:
        if groups and _merge(groups[-1][-1], axis, space, strides, coordinates):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    form = Form.MAP
    if reduces:
        last, inner = rank - 1, groups[-1] if groups else []
        form = _form(space, last, inner, prod(space[axis] for axis in inner), largest)
        groups.append([last])
    elif not groups:
        groups.append([rank - 1] if rank else [])
    unit = [axis for axis in range(rank - reduces) if space[axis] == 1]
    return LoopOrder(
        form, (*unit, *order), tuple(map(tuple, groups)), tuple(prod(space[axis] for axis in g) for g in groups),
        tuple(tuple(of_operand[g[-1]] if g else 0 for g in groups) for of_operand in strides),
    )  # fmt: skip


def in_registers(nest: LoopOrder, *, is_exact: bool, has_argument_reduction: bool, is_right_fold: bool) -> LoopOrder:
    """The loop order of a reduction on a CPU, where accumulators and short rows stay in registers.

    Right folds use vectors of cells, and so do argument reductions (`has_argument_reduction`) except along rows.  So do
    reductions that are exact in any order (`is_exact`) where no operand varies on both inner loops, as in an outer product:
    values that do not vary on the reduced loop are computed once a vector, and those that vary on it alone are broadcast.  Short
    contiguous rows are reduced along the row."""
    if nest.form is Form.MAP or len(nest.sizes) < 2:
        return nest
    cells, rows = nest.sizes[-2:]
    moving = [of_operand[-2:] for of_operand in nest.strides if of_operand[-1]]
    is_outer = is_exact and cells >= _MIN_VECTOR_CELLS and not any(cell for cell, _ in moving)
    rows_are_contiguous = bool(moving) and all(
        abs(row) >= _MIN_MASKED_BYTES and not 0 < abs(cell) < abs(row) for cell, row in moving
    )
    along_rows = nest.form is Form.REDUCE_INNER and rows >= _MIN_SEARCHED_ROW
    if is_right_fold or is_outer or (has_argument_reduction and not along_rows):
        return replace(nest, form=Form.REDUCE_IN_REGISTERS)
    if nest.form is Form.REDUCE_OUTER and rows_are_contiguous and _MIN_ROW <= rows <= LANES:
        return replace(nest, form=Form.REDUCE_INNER)
    if nest.form is Form.REDUCE_OUTER and is_exact and cells >= _MIN_VECTOR_CELLS and rows < _SHORT_ROW:
        return replace(nest, form=Form.REDUCE_IN_REGISTERS)
    return nest


def row_nest(space: Numbers, strides: Sequence[Numbers], form: Form = Form.MAP, *, separate_last: bool = True) -> LoopOrder:
    """The loops in the program's order; axes along which every operand steps evenly are merged, except the last with
    `separate_last`."""
    groups: list[list[int]] = []
    for axis in [axis for axis in range(len(space) - separate_last) if space[axis] != 1]:
        if groups and all(of_operand[groups[-1][-1]] == of_operand[axis] * space[axis] for of_operand in strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if separate_last or not groups:
        groups.append([len(space) - 1])
    sizes = tuple(prod(space[axis] for axis in group) for group in groups)
    steps = tuple(tuple(of_operand[group[-1]] for group in groups) for of_operand in strides)
    return LoopOrder(form, tuple(range(len(space))), tuple(map(tuple, groups)), sizes, steps)


def _merge(outer: int, inner: int, space: Numbers, strides: Sequence[Numbers], coordinates: Collection[int]) -> bool:
    if outer in coordinates or inner in coordinates:
        return False
    return all(of_operand[outer] == of_operand[inner] * space[inner] for of_operand in strides)


def _form(space: Numbers, last: int, inner: Sequence[int], cells: int, largest: Sequence[Numbers]) -> Form:
    """REDUCE_INNER where the reduce axis has the smallest stride and is long, or where there are few cells; else REDUCE_OUTER."""
    if cells < _MIN_CELLS or not inner:
        return Form.REDUCE_INNER
    if space[last] < _SHORT_ROW:
        return Form.REDUCE_OUTER
    for steps in largest:
        if steps[last] and steps[inner[-1]]:
            return Form.REDUCE_INNER if abs(steps[last]) < abs(steps[inner[-1]]) else Form.REDUCE_OUTER
    return Form.REDUCE_INNER
