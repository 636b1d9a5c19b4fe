"""Reductions along rows of one short length that is known: each row's lanes stay in registers.

A row of at most `LANES` items is one row of lanes of the order of sums (phases.md), so its items are the lanes themselves:
vectors of them are combined by halving, then the lanes of the last one.  Where the row ends inside a vector, the lanes behind it
are not loaded and count as the identity.  So a table of distances costs a few instructions for each vector of coordinates and
nothing else.

Neighbours: `sums` (rows of any length), `emission`; `build` makes the kernels that this specialises.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...typechecker.scalars import neutral
from .build import used_nodes
from .emission import Emission
from .ir import LANES, Form, Kernel, Step, kind_of
from .nest import Nest
from .scalar_text import combine
from .sums import fold_lanes
from .vectors import Cursor, Vectors

_MOST: Final = 256
"""Nodes of all vectors of a row together."""
_MASKED: Final = 4
_CELLS: Final = 16
_SHORTEST: Final = 6


def with_short_rows(kernel: Kernel, nest: Nest, registers: int) -> Kernel:
    """The kernel for rows of just this length, if they are short and lie in memory as they should."""
    length = nest.sizes[-1]
    if kernel.form is not Form.ALONG or kernel.steps or length > LANES or len(nest.sizes) < 2 or nest.sizes[-2] < _CELLS:
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


def write_short_rows(e: Emission) -> None:
    """Loops over the cells, each one row."""
    w, kernel, width = e.w, e.kernel, e.kernel.lanes
    loops = e.open_outer(kernel.axes - 1)
    scalars = Vectors(w, 1)
    rows: list[list[str]] = [[] for _ in kernel.results]
    for first in range(0, kernel.length, width):
        for row, value in zip(rows, _values(e, first), strict=True):
            row.append(value)
    for place, (result, row) in enumerate(zip(kernel.results, rows, strict=True)):
        function = result.reduction or ""
        half = 1
        while 2 * half < len(row):
            half *= 2
        while len(row) > 1:
            joined = [combine(e.v, function, result.kind, low, high) for low, high in zip(row, row[half:], strict=False)]
            row = joined + row[len(joined) : half]
            half //= 2
        scalars.store(result.kind, fold_lanes(w, function, result.kind, row[0], width), e.outputs[place])
    e.close_outer(loops)


def _values(e: Emission, first: int) -> list[str]:
    """The vectors that are reduced, from an item on."""
    w, v, kernel = e.w, e.v, e.kernel
    axis, left = kernel.vector_axis, min(kernel.length - first, kernel.lanes)
    whole = left == kernel.lanes
    present = "" if whole else "<" + ", ".join(f"i1 {'true' if lane < left else 'false'}" for lane in range(kernel.lanes)) + ">"
    cursors = {i: Cursor(w.at(e.bases[i], first * kernel.operands[i].kind.bytes), present=present) for i in e.varying}
    found = e.evaluate(cursors, {axis: w.word("add", e.origins[axis], first)})
    e.flush_checks(None if whole else str(left))
    values = [found[result.node] for result in kernel.results]
    if whole:
        return values
    return [
        v.choose(r.kind, present, value, v.constant(r.kind, neutral(r.reduction or "", r.kind)))
        for r, value in zip(kernel.results, values, strict=True)
    ]
