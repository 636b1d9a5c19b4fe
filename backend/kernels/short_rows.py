"""Reductions along rows of one short length that is known: each row's lanes stay in registers.

A row of at most `LANES` items is one row of lanes of the order of sums (phases.md), so its items are the lanes themselves.  So a
table of distances costs a few instructions for each vector of coordinates and nothing else.

Neighbours: `backend.loops.llvm.printer` (the code); `build` makes the kernels that this specialises.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .build import used_nodes
from .ir import LANES, Form, Kernel, Step, kind_of
from .nest import Nest

_MOST: Final = 256
"""Nodes of all vectors of a row together."""
_MASKED: Final = 4
_CELLS: Final = 16
_SHORTEST: Final = 6


def with_short_rows(kernel: Kernel, nest: Nest, registers: int) -> Kernel:
    """The kernel for rows of just this length, if they are short and lie in memory as they should."""
    length = nest.sizes[-1]
    if kernel.form is not Form.ALONG or length > LANES or len(nest.sizes) < 2 or nest.sizes[-2] < _CELLS:
        return kernel
    for operand in kernel.operands:
        if operand.kind.is_complex or (operand.moves[-1] and (operand.step is not Step.UNIT or operand.kind.bytes < _MASKED)):
            return kernel
    used = used_nodes(kernel.body, [r.node for r in kernel.results])
    widest = max(kind_of(kernel, place).bytes for place in used)
    lanes = min(kernel.lanes, 2 * registers // widest)
    while lanes > 2 and lanes >= 2 * length:
        lanes //= 2
    if -(-length // lanes) * len(used) > _MOST:
        return kernel
    return replace(kernel, lanes=lanes, length=length)


def rows_of_memory(nest: Nest) -> Nest:
    """Rows whose items lie side by side are reduced along, however short, rather than side by side."""
    if nest.form is not Form.ACROSS or not _SHORTEST <= nest.sizes[-1] <= LANES:
        return nest
    moving = [strides for strides in nest.strides if strides[-1]]
    inner = any(0 < abs(strides[-2]) < abs(strides[-1]) for strides in moving)
    return nest if inner or not moving else replace(nest, form=Form.ALONG)
