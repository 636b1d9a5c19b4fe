"""A loop program as CUDA C++, and how its functions are launched.

Each nest of the program is a function; they run one after the other.  All take the same words of 64 bits: the parameters; of each
view of a caller its address and its strides in bytes, but a last one that is one item; the address of each scratch view that is
not private, row-major; and, of a program that may fail, the address of an `int`, which becomes 1 where a check fails.

Neighbours: `printer` (makes these), `backend.run.cuda.modules` (launches them).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from ...kernels.ir import LANES
from ..ir import Index, View

THREADS: Final = LANES
"""Threads of a block, of every launch."""
SHARED: Final = 40 << 10
"""Bytes of a block's own memory that are used, of the 48 KiB that it may have on any card."""
PRELUDE: Final = """typedef long long i64;
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;
"""
_SOME: Final = 1 << 10


@dataclass(frozen=True, slots=True)
class Axis:
    """The iterations of a loop of the grid."""

    lower: Index
    upper: Index
    step: int

    @property
    def forms(self) -> tuple[Index, Index]:
        return self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Grid:
    """A nest: the name of its function, and what is handed out, outermost first: to threads (`is_flat`) or to blocks of them."""

    name: str
    axes: tuple[Axis, ...]
    is_flat: bool

    def blocks(self, parameters: Mapping[str, int]) -> int:
        """Of threads, such that each has one iteration; some where sizes are found on the card."""
        if any(name not in parameters for axis in self.axes for form in axis.forms for name, _ in form.terms):
            return _SOME
        lengths = [-(-(value(a.upper, parameters) - value(a.lower, parameters)) // a.step) for a in self.axes]
        count = prod(max(0, length) for length in lengths)
        return -(-count // THREADS) if self.is_flat else count


@dataclass(frozen=True, slots=True)
class CudaText:
    """`scratch`: what the caller makes room for."""

    source: str
    parameters: tuple[str, ...]
    grids: tuple[Grid, ...]
    scratch: tuple[View, ...]
    is_checked: bool


def value(index: Index, parameters: Mapping[str, int]) -> int:
    return sum(coefficient * parameters[name] for name, coefficient in index.terms) + index.constant
