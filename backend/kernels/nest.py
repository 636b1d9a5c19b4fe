"""The order of loops for a phase over operands of given strides, and which axes merge into one loop.

Parallel axes are ordered as the operands lie in memory, the largest deciding; results are laid out in that order, contiguous.
Neighbouring loops that step evenly through every operand become one.

Neighbours: `build` (makes the kernel for a nest), `backend.run.cpu.compiled` and `rows` (bind it to arrays).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cmp_to_key
from math import prod
from typing import Final, TypeAlias

from .ir import LANES, Form

Numbers: TypeAlias = tuple[int, ...]

_FEW_ROWS: Final = 32
"""Rows shorter than this are reduced side by side, unless they lie in memory one after the other."""
_FEW_CELLS: Final = 4
_VECTOR: Final = 16
"""Cells that are worth a vector of them."""
_SHORTEST: Final = 6
"""Rows that are reduced along."""
_MASKED: Final = 4
"""Bytes of items from which on a short row is a vector."""


@dataclass(frozen=True, slots=True)
class Nest:
    """`order`: the parallel axes of the program as they lie in memory, outermost first.  `groups`: the axes of each loop, the
    reduce axis (if any) last.  `sizes` of the loops, `strides` in bytes of each operand on each loop."""

    form: Form
    order: Numbers
    groups: tuple[Numbers, ...]
    sizes: Numbers
    strides: tuple[Numbers, ...]


def plan_nest(
    space: Numbers, reduces: bool, strides: Sequence[Numbers], coordinates: Collection[int]
) -> Nest:
    """`strides[i][axis]` is 0 where operand i does not vary; `coordinates`: axes whose coordinate the body uses.

    Neither `space` nor any loop is empty."""
    rank = len(space)
    parallel = [axis for axis in range(rank - reduces) if space[axis] != 1]
    largest = sorted(strides, key=lambda s: -prod(n for n, step in zip(space, s, strict=True) if step))

    def before(a: int, b: int) -> int:
        for own in largest:
            left, right = abs(own[a]), abs(own[b])
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
    return Nest(
        form, (*unit, *order), tuple(map(tuple, groups)), tuple(prod(space[axis] for axis in g) for g in groups),
        tuple(tuple(own[g[-1]] if g else 0 for g in groups) for own in strides),
    )  # fmt: skip


def in_registers(nest: Nest, *, is_free: bool, is_whole: bool) -> Nest:
    """The nest of a reduction on a processor, whose state and short rows stay in registers.

    Reductions to places and from the right (`is_whole`) take vectors of cells.  So do those that are exact in any order
    (`is_free`) where no operand varies on both inner loops: what does not vary on the reduced one is loaded and computed once a
    vector, what varies on it alone is one item for all lanes, and the long axis of an outer product stays in the vectors.  Short
    rows that lie in memory one after the other are reduced along."""
    if nest.form is Form.MAP or len(nest.sizes) < 2:
        return nest
    cells, rows = nest.sizes[-2:]
    moving = [own[-2:] for own in nest.strides if own[-1]]
    is_outer = is_free and cells >= _VECTOR and not any(cell for cell, _ in moving)
    lies_along = bool(moving) and all(abs(row) >= _MASKED and not 0 < abs(cell) < abs(row) for cell, row in moving)
    if is_whole or is_outer:
        return replace(nest, form=Form.COLUMNS)
    if nest.form is Form.ACROSS and lies_along and _SHORTEST <= rows <= LANES:
        return replace(nest, form=Form.ALONG)
    if nest.form is Form.ACROSS and is_free and cells >= _VECTOR and rows < _FEW_ROWS:
        return replace(nest, form=Form.COLUMNS)
    return nest


def row_nest(space: Numbers, strides: Sequence[Numbers], form: Form = Form.MAP, *, apart: bool = True) -> Nest:
    """Loops in the program's order, the last axis `apart`; axes that step evenly through every operand are one."""
    groups: list[list[int]] = []
    for axis in [axis for axis in range(len(space) - apart) if space[axis] != 1]:
        if groups and all(own[groups[-1][-1]] == own[axis] * space[axis] for own in strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    if apart or not groups:
        groups.append([len(space) - 1])
    sizes = tuple(prod(space[axis] for axis in group) for group in groups)
    steps = tuple(tuple(own[group[-1]] for group in groups) for own in strides)
    return Nest(form, tuple(range(len(space))), tuple(map(tuple, groups)), sizes, steps)


def _merge(outer: int, inner: int, space: Numbers, strides: Sequence[Numbers], coordinates: Collection[int]) -> bool:
    if outer in coordinates or inner in coordinates:
        return False
    return all(own[outer] == own[inner] * space[inner] for own in strides)


def _form(space: Numbers, last: int, inner: Sequence[int], cells: int, largest: Sequence[Numbers]) -> Form:
    """ALONG where the reduce axis lies innermost and is long, or where there are no cells to speak of."""
    if cells < _FEW_CELLS or not inner:
        return Form.ALONG
    if space[last] < _FEW_ROWS:
        return Form.ACROSS
    for own in largest:
        if own[last] and own[inner[-1]]:
            return Form.ALONG if abs(own[last]) < abs(own[inner[-1]]) else Form.ACROSS
    return Form.ALONG
