"""A kernel bound to operands of one layout, and what joins its partial results.

Neighbours: `compiled` (binds), `sharing` (runs the pieces), `bindings` (puts them into native programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ...kernels.ir import Kernel
from .kinds import NumArray, start_of
from .launching import Block
from .packing import Pack
from .sharing import Pieces


@dataclass(frozen=True, slots=True)
class Bound:
    """A kernel for operands of one layout; the `bases` of its blocks are operands, then results.

    `partials`: how many partial results each cell has (1 unless the reduce axis is cut); `combine`: what joins those of
    each result.  `duration`: nanoseconds on one thread, roughly.  `packs`: operands to be packed first."""

    kernel: Kernel
    address: int
    blocks: Sequence[Block]
    bases: int
    threads: int
    duration: float
    shapes: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]
    partials: int
    dtypes: tuple[np.dtype[Any], ...]
    packs: tuple[Pack, ...] = ()
    combine: tuple[int, ...] = ()
    back: tuple[int, ...] | None = field(init=False)
    """The order of the program's axes among those of the loops; None: they are the same."""
    pieces: Pieces = field(init=False)

    def __post_init__(self) -> None:
        back = tuple(sorted(range(len(self.order)), key=self.order.__getitem__))
        object.__setattr__(self, "back", None if back == tuple(range(len(back))) else back)
        object.__setattr__(self, "pieces", Pieces(self.address, self.blocks, self.bases, self.threads, self.duration))

    def joining(self, place: int) -> Pieces:
        """What joins the partial results of result number `place`; its bases are these and the result."""
        cells = prod(self.shapes[place])
        words = [self.partials, cells, 0, cells * self.dtypes[place].itemsize, 0]
        return Pieces(self.combine[place], [Block(words, [(2, (0, 0)), (4, (1, 0))])], 2, 1, 0)


def joined(bound: Bound, place: int, rows: NumArray) -> NumArray:
    """The partial results of result number `place` (which are written over) as one."""
    result = np.empty(rows.shape[1:], rows.dtype)
    arrays = rows, result
    bound.joining(place).run([start_of(array) for array in arrays])
    return result
