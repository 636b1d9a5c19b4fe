"""The tree of types: shapes, sizes, quantities and facts, as signatures and declarations state them."""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from .definitions import Symbol
from .records import dataclass
from .source import Span


@dataclass(frozen=True, slots=True)
class SizeName:
    span: Span
    name: str
    definition: Symbol | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizeNumber:
    span: Span
    value: int


@dataclass(frozen=True, slots=True)
class SizeCall:
    """`function` is one of `+ - × ÷ | ⌈ ⌊`; `-` and `⌊` may have one argument."""

    span: Span
    function: str
    args: tuple[SizeExpression, ...]


@dataclass(frozen=True, slots=True)
class ShapeVariable:
    """`..s`."""

    span: Span
    name: str


@dataclass(frozen=True, slots=True)
class BoundedSize:
    """`k≤d`: a size known only when run, at most `bound`."""

    span: Span
    name: str
    bound: SizeExpression


SizeExpression: TypeAlias = SizeName | SizeNumber | SizeCall


ShapeItem: TypeAlias = SizeExpression | ShapeVariable | BoundedSize


@dataclass(frozen=True, slots=True)
class ElementName:
    """`f64`, an element variable `T`, `idx<n>` or `perm<k≤n>` (one argument) or `int<a..b>` (two)."""

    span: Span
    name: str
    args: tuple[SizeExpression | BoundedSize, ...] = ()


@dataclass(frozen=True, slots=True)
class ArrayTypeExpression:
    """`e[shape]`; `shape` empty for a scalar.  `perm<n>` is an element name with an empty shape."""

    span: Span
    element: ElementName
    shape: tuple[ShapeItem, ...]


@dataclass(frozen=True, slots=True)
class TupleTypeExpression:
    span: Span
    items: tuple[TypeExpression, ...]


TypeExpression: TypeAlias = ArrayTypeExpression | TupleTypeExpression


@dataclass(frozen=True, slots=True)
class Quantity:
    """`0`, `1`, `d`, `d..d` (two bounds) or `ω` (both bounds None)."""

    span: Span
    low: SizeExpression | None
    high: SizeExpression | None


@dataclass(frozen=True, slots=True)
class Fact:
    """`relation` is `= ≠ ≤ < ≥ > ∣` between sizes, or a class (`num real int ord`) of element variable `left`."""

    span: Span
    relation: str
    left: SizeExpression
    right: SizeExpression | None


@dataclass(frozen=True, slots=True)
class Parameter:
    span: Span
    quantity: Quantity | None
    type: TypeExpression
