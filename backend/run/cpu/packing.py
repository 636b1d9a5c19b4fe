"""Small operands of a nest, packed: what a kernel would gather again and again lies in rows first.

An operand is packed if it steps unevenly along the vectors and the loops around them read it many times: the copy is then a
small part of what reading it costs.  Its axes keep their order in memory.

Neighbours: `compiled` (asks, for each layout), `kernels.nest` (the loops).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np

from ...kernels.ir import Form
from ...kernels.nest import Nest
from .kinds import NumArray

LEAST_READS: Final = 8


def to_pack(nest: Nest, arrays: Sequence[NumArray]) -> tuple[int, ...]:
    """The operands that are worth it."""
    columns = nest.form is not Form.MAP and nest.form is not Form.ALONG
    vector = len(nest.sizes) - (2 if columns else 1)
    found: list[int] = []
    for place, (array, strides) in enumerate(zip(arrays, nest.strides, strict=True)):
        bytes = array.dtype.itemsize
        if strides[vector] in (0, bytes, -bytes):
            continue
        outside = prod(size for size, step in zip(nest.sizes[:vector], strides[:vector], strict=True) if not step)
        if outside >= LEAST_READS:
            found.append(place)
    return tuple(found)


def packed(arrays: Sequence[NumArray], places: Sequence[int]) -> list[NumArray]:
    """The operands, those at `places` copied to lie close together."""
    made = list(arrays)
    for place in places:
        made[place] = np.copy(made[place], order="K")
    return made
