"""Reductions that are exact in any order, down the columns of a nest: a vector of cells at a time, its state in registers.

What does not vary on the reduce axis is loaded and computed once a vector; what varies on it alone is one item for all lanes.
So an outer product that is reduced (the nearest of some centres) keeps its long axis in the vectors, and neither the product
nor what it is made of is ever stored.

Neighbours: `loops.orders` (reductions in the order of sums), `nest` (which loops), `backend.loops.lower.kernel` (the code).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...typechecker.scalars import is_ordered
from .ir import Form, Result
from .nest import Nest

_CELLS: Final = 16
_ROWS: Final = 32


def is_free(results: tuple[Result, ...]) -> bool:
    """Are all these reductions exact in any order?"""
    return all(r.reduction is not None and not is_ordered(r.reduction, r.kind) for r in results)


def column_nest(nest: Nest, *, is_whole: bool) -> Nest:
    """The nest with its last parallel loop in the vectors, if that is better, or the only way there is (`is_whole`: reductions
    to places, and from the right).

    Where an operand varies on both inner loops and the reduced one is long, memory decides."""
    if nest.form is Form.MAP or len(nest.sizes) < 2:
        return nest
    both = any(strides[-1] and strides[-2] for strides in nest.strides)
    if is_whole or (nest.sizes[-2] >= _CELLS and (not both or (nest.form is Form.ACROSS and nest.sizes[-1] < _ROWS))):
        return replace(nest, form=Form.COLUMNS)
    return nest
