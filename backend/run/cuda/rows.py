"""Chains along rows on a card: one launch for the whole chain.

Neighbours: `graph.chains` (finds and joins), `kernels.cuda_rows` (the text), `launching`; `cpu.rows` (the same on the host).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.chains import LONGEST, Joined
from ...kernels.build import build_body, build_kernel
from ...kernels.cuda_parameters import Role
from ...kernels.cuda_rows import row_blocks, row_text
from ...kernels.cuda_text import NAME, CudaText
from ...kernels.ir import Form
from ...kernels.nest import Nest
from ..cpu.kinds import DTYPES, FILLS
from ..device import Kernel
from .launching import Modules
from .layouts import Placed, compile_reading

_VECTOR = 16
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
    kept: dict[tuple[Numbers, ...], tuple[Nest, CudaText | None]] = {}
    if row_text(build_kernel(body, _nest(space, [(0,) * len(space)] * len(reads)), operands, _VECTOR), chain.is_row) is None:
        return None

    def run(values: Any, overwrite: Any) -> tuple[Any, ...]:
        placed = [read(values[value]) for value, read in reads]
        key = tuple(p.strides for p in placed)
        if key not in kept:
            nest = _nest(space, [tuple(0 if n == 1 else s for n, s in zip(space, p.strides, strict=True)) for p in placed])
            kept[key] = nest, row_text(build_kernel(body, nest, operands, _VECTOR), chain.is_row)
        nest, text = kept[key]
        assert text is not None, "how many reductions there are does not depend on the layout"
        results = [
            xp.empty(space[:-1] if on_row else space, DTYPES[result.kind])
            for result, on_row in zip(body.results, chain.is_row, strict=True)
        ]  # fmt: skip
        words = _words(text, nest, placed, results, scalars)
        modules.launch(text.source, NAME, row_blocks(prod(space[:-1]), space[-1]), words)
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


def _words(text: CudaText, nest: Nest, placed: Sequence[Placed], results: Sequence[Any], scalars: Sequence[int]) -> list[int]:
    made = []
    for parameter in text.parameters:
        match parameter.role:
            case Role.SIZE:
                made.append(nest.sizes[parameter.which])
            case Role.SCALAR:
                made.append(scalars[parameter.which])
            case Role.ADDRESS:
                made.append(placed[parameter.which].address)
            case Role.STRIDE:
                made.append(nest.strides[parameter.which][parameter.axis])
            case Role.RESULT:
                made.append(int(results[parameter.which].data.ptr))
            case Role.FAILED:
                raise AssertionError("nothing in a chain may fail")
    return made
