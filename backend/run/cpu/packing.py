"""Small operands of a nest, packed: what a kernel would gather again and again lies in rows first.

An operand is packed if it steps unevenly along the vectors and the loops around them read it many times: the copy is then a
small part of what reading it costs.  Its axes keep their order in memory; but short rows that are summed are laid out as rows.

Neighbours: `compiled` (asks, for each layout), `kernels.nest` (the loops).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, Literal

import numpy as np

from ...kernels.ir import LANES, Form
from ...kernels.nest import Nest
from .kinds import NumArray

LEAST_READS: Final = 8


@dataclass(frozen=True, slots=True)
class Pack:
    """Operand `place` is copied in NumPy's `order`."""

    place: int
    order: Literal["K", "C"]


def to_pack(nest: Nest, arrays: Sequence[NumArray], most: int) -> tuple[Pack, ...]:
    """The operands that are worth it; their copies have `most` bytes together, which the plan knows of."""
    columns = nest.form is not Form.MAP and nest.form is not Form.ALONG
    vector = len(nest.sizes) - (2 if columns else 1)
    found: list[Pack] = []
    short = nest.form is Form.ACROSS and nest.sizes[-1] <= LANES
    for place, (array, strides) in enumerate(zip(arrays, nest.strides, strict=True)):
        bytes = array.dtype.itemsize
        outside = prod(size for size, step in zip(nest.sizes[:vector], strides[:vector], strict=True) if not step)
        if outside < LEAST_READS or array.nbytes > most:
            continue
        turned = short and abs(strides[-1]) > abs(strides[-2]) > 0
        if turned or strides[vector] not in (0, bytes, -bytes):
            found.append(Pack(place, "C" if turned else "K"))
            most -= array.nbytes
    return tuple(found)


def packed(arrays: Sequence[NumArray], packs: Sequence[Pack]) -> list[NumArray]:
    """The operands, those to be packed copied to lie close together."""
    made = list(arrays)
    for pack in packs:
        made[pack.place] = np.copy(made[pack.place], order=pack.order)
    return made
