"""Chains along rows on a card: one launch for the whole chain.

Neighbours: `graph.chains` (finds and joins), `loops.lower.card_rows` (the programs), `launching`; `cpu.rows` (the same there).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.chains import LONGEST, Joined
from ...kernels.build import build_body, build_kernel
from ...kernels.ir import Form
from ...kernels.nest import Nest
from ...loops.cuda import cuda_text
from ...loops.lower.card_rows import card_rows
from ...loops.lower.rows import RowsCode
from ..cpu.kinds import DTYPES, FILLS
from ..device import Kernel
from .launching import VECTOR, Bound
from .layouts import compile_reading
from .modules import Modules

Numbers = tuple[int, ...]


def compile_rows(
    xp: Any, modules: Modules, chain: Joined, kinds: Callable[[Any], Kind], number: Callable[[Size], int]
) -> Kernel | None:
    """None: the members run one by one."""
    phase, body = chain.phase, build_body(chain.phase)
    space = tuple(number(axis.size) for axis in phase.axes)
    if body is None or 0 in space or space[-1] > LONGEST:
        return None
    reads = [
        (read.value, compile_reading(xp, read.projection, space, FILLS[kinds(read.value)], number)) for read in phase.reads
    ]  # fmt: skip
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    most = 1 << (space[-1] - 1).bit_length()
    kept: dict[tuple[Numbers, ...], Bound] = {}

    def run(values: Any, overwrite: Any) -> tuple[Any, ...]:
        placed = [read(values[value]) for value, read in reads]
        key = tuple(p.strides for p in placed)
        if key not in kept:
            nest = _nest(space, [tuple(0 if n == 1 else s for n, s in zip(space, p.strides, strict=True)) for p in placed])
            kernel = build_kernel(body, nest, operands, VECTOR)
            kept[key] = Bound(kernel, cuda_text(card_rows(RowsCode(kernel, chain.is_row, most))), nest, space, chain.is_row)
        results = [
            xp.empty(space[:-1] if on_row else space, DTYPES[result.kind])
            for result, on_row in zip(body.results, chain.is_row, strict=True)
        ]  # fmt: skip
        bound, addresses = kept[key], [int(result.data.ptr) for result in results]
        modules.run(bound.text, bound.words(scalars, [p.address for p in placed], addresses))
        return tuple(results)

    return run


def _nest(space: Numbers, strides: Sequence[Numbers]) -> Nest:
    """Loops in the program's order, the row last; axes that step evenly through every operand are one."""
    groups: list[list[int]] = []
    for axis in range(len(space) - 1):
        if space[axis] == 1:
            continue
        if groups and all(own[groups[-1][-1]] == own[axis] * space[axis] for own in strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    groups.append([len(space) - 1])
    sizes = tuple(prod(space[axis] for axis in group) for group in groups)
    steps = tuple(tuple(own[group[-1]] for group in groups) for own in strides)
    return Nest(Form.MAP, tuple(range(len(space))), tuple(map(tuple, groups)), sizes, steps)

