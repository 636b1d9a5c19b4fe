"""Float products that are NaN only where an item is NaN or infinite: `×/`, `×\\` and products by key.

The order of products multiplies the factors of a block or lane first, so that finite items may overflow to ∞ on the way and
meet a zero there, which gives NaN.  Where the items are finite such a product is 0.  Of a reduction, the sum of x - x, which is 0
where all items are finite and else NaN, replaces a NaN; sibling fusion makes both one pass over the items.  Of a scan, a running
`∧` says up to where they are finite.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from ....typechecker import core, core_blocks
from ....typechecker.core import ValueId
from ....typechecker.elements import Element, Kind
from ....typechecker.types import ArrayType
from .state import State

_BOOL: Final = Element(Kind.BOOL)
_FLOATS: Final = (Kind.F32, Kind.F64)


def expanded(state: State, op: core_blocks.Op) -> Iterator[core_blocks.Op]:
    """The ops that stand for `op`: itself, unless it is a product of real floats."""
    if isinstance(op, core.Reduce | core.Scan | core.KeyReduce) and op.function == "mul" and state.kind(op.arg) in _FLOATS:
        yield from _product(state, op)
    else:
        yield op


def _product(state: State, op: core.Reduce | core.Scan | core.KeyReduce) -> Iterator[core_blocks.Op]:
    def like(value: ValueId, element: Element | None = None) -> ValueId:
        type = state.type(value)
        return state.derived(ArrayType(element or type.element, type.shape), state.span(op.result))

    product, difference, is_number = like(op.result), like(op.arg), like(op.result, _BOOL)
    yield replace(op, result=product)
    yield core.Scalar(difference, "sub", (op.arg, op.arg))
    replacement = like(op.result)
    if isinstance(op, core.Scan):
        is_finite, all_finite = like(op.arg, _BOOL), like(op.arg, _BOOL)
        zero = state.derived(ArrayType(state.type(op.arg).element, ()), state.span(op.result))
        yield core.Scalar(is_finite, "eq", (difference, difference))
        yield replace(op, result=all_finite, arg=is_finite, function="and")
        yield core.Literal(zero, (0.0,))
        yield core.Scalar(replacement, "select", (all_finite, zero, product))
    else:
        yield replace(op, result=replacement, arg=difference, function="add")
    yield core.Scalar(is_number, "eq", (product, product))
    yield core.Scalar(op.result, "select", (is_number, product, replacement))
