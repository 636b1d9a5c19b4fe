"""The type of a computed value with every size a number, as an `input` declares it.

Neighbours: `workspace` keeps the value; `typechecker.types`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...backend.run.values import kind_of_dtype
from ...typechecker.elements import Element, Kind
from ...typechecker.sizes import Size, SizeVariable
from ...typechecker.types import ArrayType
from .items import Leaf

_WHOLE = (Kind.I64,)


def concrete(name: str, array: Any, type: ArrayType, sizes: Mapping[SizeVariable, int], origin: int) -> Leaf:
    """A value with the shape that it has, and what of its type's bounds is a number now."""
    shape = tuple(int(size) for size in array.shape)
    known = dict(sizes)
    for size, length in zip(type.shape, shape, strict=True):
        variables = size.variables()
        if len(variables) == 1 and str(size) == next(iter(variables)).name:
            known.setdefault(next(iter(variables)), length)
    if type.permutation and not origin:
        return Leaf(name, f"perm<{shape[0]}>", array, Kind.I64)
    kind = kind_of_dtype(array.dtype) or type.element.kind
    element = _element(type.element, kind, known, origin)
    return Leaf(name, f"{element}[{' '.join(map(str, shape))}]" if shape else element, array, kind)


def _element(element: Element, kind: Kind, sizes: Mapping[SizeVariable, int], origin: int) -> str:
    if element.below is not None:
        top = _number(element.below, sizes)
        if top is None:
            return str(kind.value)
        return f"idx<{top}>" if not origin else _range(origin, top - 1 + origin, kind)
    if kind is not Kind.I64:
        return str(kind.value)
    most = None if element.most is None else _number(element.most, sizes)
    high = element.high if most is None else most
    return str(kind.value) if element.low is None or high is None else _range(element.low, high, kind)


def _range(low: int, high: int, kind: Kind) -> str:
    return f"int<{low}..{high}>".replace("-", "¯") if kind in _WHOLE and low <= high else str(kind.value)


def _number(size: Size, sizes: Mapping[SizeVariable, int]) -> int | None:
    if size.constant is not None:
        return size.constant
    return size.evaluate(sizes) if all(variable in sizes for variable in size.variables()) else None
