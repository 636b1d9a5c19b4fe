"""A matrix by a vector, a vector by a matrix, a vector by a vector, small matrices: sums of products in the order of sums.

BLAS adds these up as it likes: by the threads it has at that moment, by the cores of the machine, by how the matrix lies in
memory.  Each is therefore a structured phase of its own here, with the kernels, tiers and bits of `+/x×y`: an item follows from
the items it is made of and their number alone.

Neighbours: `contracting` (asks), `run.cpu.structured` (runs them), `products` (matrices).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ...typechecker.elements import Kind
from ...typechecker.sizes import number
from ..graph.phases import ValueId
from ..graph.sums_of_products import sum_of_products
from ..run.cpu.kinds import NumArray
from ..run.cpu.structured import compile_structured

LEFT, RIGHT, RESULT = ValueId(-1), ValueId(-2), ValueId(-3)

_phase = lru_cache(256)(sum_of_products)
"""For sizes that are numbers: two run-time sizes of one name may have other caps."""


def summed_products(kind: Kind, left: NumArray, right: NumArray, threads: int) -> NumArray:
    """Of a batch of matrices (or one for all) and another, of sizes that are summed (`is_summed`)."""
    count = max(len(left), len(right))
    first, second = [np.broadcast_to(array, (count, *array.shape[1:])) for array in (left, right)]
    phase = _phase(kind, tuple(map(number, first.shape)), tuple(map(number, second.shape)), 1, (LEFT, RIGHT, RESULT))
    run = compile_structured(phase, lambda value: kind, lambda size: size.evaluate({}), threads)
    (made,) = run({LEFT: first, RIGHT: second}, None)
    found: NumArray = np.ascontiguousarray(made)
    return found
