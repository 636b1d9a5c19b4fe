"""Kernels for rows of one short length that is known.

A row of at most `LANES` items is one row of lanes of the order of sums (phases.md): where it is reduced its items are the
lanes and stay in registers, so a table of distances costs a few instructions for each vector of coordinates and nothing else.
Rows of a few items (vectors with three coordinates) that are not reduced have vectors across rows.

Neighbours: `backend.loops.lower.nests` (the loops); `build` makes the kernels that this specialises.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...typechecker.scalars import is_ordered
from .build import used_nodes
from .ir import FETCH, LANES, Apply, Coordinate, Form, Kernel, Step, kind_of
from .nest import Nest

_CELLS: Final = 16
_MASKED: Final = 4
"""Bytes of items whose vectors processors mask."""
_MOST_ALONG: Final = 256
"""Nodes of all vectors of a row together; half as many of what is exact in any order, which a loop does as well."""
_LONGEST: Final = 5
_LONGEST_COMPLEX: Final = 4
_ROWS: Final = 64
_MOST_ACROSS: Final = 160
"""Nodes of all vectors of a group of rows together."""


def with_short_rows(kernel: Kernel, nest: Nest, registers: int) -> Kernel:
    """The kernel for rows of just this length, if they are short and lie in memory as they should."""
    if len(nest.sizes) < 2:
        return kernel
    used = used_nodes(kernel.body, [node for result in kernel.results for node in result.roots])
    match kernel.form:
        case Form.ALONG:
            return _along(kernel, nest, used, registers)
        case Form.MAP:
            return _across(kernel, nest, used)
        case _:
            return kernel


def _along(kernel: Kernel, nest: Nest, used: frozenset[int], registers: int) -> Kernel:
    cells, length = nest.sizes[-2:]
    moving = [operand for operand in kernel.operands if operand.moves[-1]]
    if length > LANES or cells < _CELLS or any(row.step is not Step.UNIT or row.kind.bytes < _MASKED for row in moving):
        return kernel
    vectors = -(-length * max(kind_of(kernel, place).bytes for place in used) // (2 * registers))
    most = _MOST_ALONG if any(is_ordered(r.reduction or "", r.kind) for r in kernel.results) else _MOST_ALONG // 2
    return replace(kernel, length=length) if vectors * len(used) <= most else kernel


def _across(kernel: Kernel, nest: Nest, used: frozenset[int]) -> Kernel:
    rows, length = nest.sizes[-2:]
    kinds = [operand.kind for operand in kernel.operands] + [result.kind for result in kernel.results]
    is_complex = any(kind.is_complex for kind in kinds)
    if not 2 <= length <= (_LONGEST_COMPLEX if is_complex else _LONGEST) or rows < _ROWS:
        return kernel
    for operand, strides in zip(kernel.operands, nest.strides, strict=True):
        if operand.moves[-1] and operand.moves[-2] and strides[-2:] != (length * operand.kind.bytes, operand.kind.bytes):
            return kernel
    fetches = any(isinstance(node, Apply) and node.function == FETCH for node in kernel.body)
    counts = any(isinstance(node, Coordinate) and node.axis >= kernel.axes - 2 for node in kernel.body)
    if fetches or counts or length * len(used) > _MOST_ACROSS:
        return kernel
    return replace(kernel, form=Form.FEW, length=length)
