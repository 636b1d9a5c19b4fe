"""Element-wise kernels over rows of a few items (vectors with three coordinates): vectors go across rows.

Neighbours: `build` makes the kernels that this specialises; `backend.loops.lower.nests` (Note [Few items]).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .build import used_nodes
from .ir import FETCH, Apply, Coordinate, Form, Kernel
from .nest import Nest

_LONGEST: Final = 5
_ROWS: Final = 64
_MOST: Final = 160
"""Nodes of all vectors of a group of rows together."""


def with_flat_rows(kernel: Kernel, nest: Nest) -> Kernel:
    """The kernel for rows of just this length, if they are short and lie in memory as they should."""
    if kernel.form is not Form.MAP or len(nest.sizes) < 2:
        return kernel
    length = nest.sizes[-1]
    if any(row.kind.is_complex for row in kernel.operands) or any(r.kind.is_complex for r in kernel.results):
        return kernel
    if any(isinstance(node, Apply) and node.function == FETCH for node in kernel.body):
        return kernel
    if not 2 <= length <= _LONGEST or nest.sizes[-2] < max(_ROWS, kernel.lanes):
        return kernel
    for operand, strides in zip(kernel.operands, nest.strides, strict=True):
        if operand.moves[-1] and operand.moves[-2] and strides[-2:] != (length * operand.kind.bytes, operand.kind.bytes):
            return kernel
    used = used_nodes(kernel.body, [r.node for r in kernel.results])
    if length * len(used) > _MOST or any(isinstance(n, Coordinate) and n.axis >= kernel.axes - 2 for n in kernel.body):
        return kernel
    return replace(kernel, form=Form.FEW, length=length)
