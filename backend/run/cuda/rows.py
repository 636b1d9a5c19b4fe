"""Chains along rows on a card: one launch for the whole chain.

Neighbours: `graph.chains` (finds and joins), `loops.lower.card_rows` (the programs), `launching`; `cpu.rows` (the same there).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....typechecker.elements import Kind
from ....typechecker.sizes import Size
from ...graph.chains import LONGEST, Joined
from ...kernels.build import build_body
from ..device import Kernel
from .launching import Launch
from .layouts import compile_readings
from .modules import Modules


def compile_rows(
    xp: Any, modules: Modules, chain: Joined, kinds: Callable[[Any], Kind], number: Callable[[Size], int]
) -> Kernel | None:
    """None: the members run one by one."""
    phase, body = chain.phase, build_body(chain.phase)
    space = tuple(number(axis.size) for axis in phase.axes)
    if body is None or 0 in space or space[-1] > LONGEST:
        return None
    reads = compile_readings(xp, phase, space, kinds, number)
    operands, scalars = [kinds(read.value) for read in phase.reads], [number(size) for size in body.sizes]
    launch = Launch(xp, modules, body, reads, space, operands, scalars, None, chain.is_row)
    return lambda values, overwrite: launch.run(values, None)
