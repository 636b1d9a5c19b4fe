"""Applying function values: primitives, dfns, trains; operators go to their own modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import assert_never

from ...lang.codes import Code
from ...lang.source import Span
from .. import rules
from ..elements import strong
from ..operands import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned
from . import at, compose, dfns, key, power, rank_each, reduce_scan, signatures, stencil, table_inner
from .context import Context
from .environment import (
    AtopFunction,
    BoundFunction,
    BrokenFunction,
    DerivedFunction,
    DfnFunction,
    ForkFunction,
    FunctionValue,
    PrimitiveFunction,
    SignedFunction,
)
from .values import enclosed

_Operator = Callable[[Context, DerivedFunction, "Value | None", Value, Span], Value]


def apply(ctx: Context, function: FunctionValue, left: Value | None, right: Value, span: Span) -> Value:
    """`left function right`, or `function right`.  Poisoned arguments give poison quietly."""
    ctx.spend(span)
    if is_poisoned(right) or is_poisoned(left) or isinstance(function, BrokenFunction):
        return ctx.builder.poison(span)
    with ctx.deeper(span):
        match function:
            case PrimitiveFunction():
                with _origin(ctx, function.origin):
                    return primitive(ctx, function, left, right, span)
            case DfnFunction():
                return dfns.call(ctx, function, left, right, span)
            case SignedFunction():
                return signatures.call(ctx, function, left, right, span)
            case ForkFunction():
                return _fork(ctx, function, left, right, span)
            case AtopFunction():
                inner = ctx.call(function.inner, left, right, span)
                return ctx.call(function.outer, None, inner, span)
            case BoundFunction():
                if left is not None:
                    return ctx.error(Code.E130, "this function already has its left argument", span)
                return ctx.call(function.function, function.left, right, span)
            case DerivedFunction():
                with _origin(ctx, function.origin):
                    return _OPERATORS[function.operator](ctx, function, left, right, span)
            case _:
                assert_never(function)


@contextmanager
def _origin(ctx: Context, origin: int | None) -> Iterator[None]:
    """Positions become numbers, and numbers positions, by the origin of the file the function is written in."""
    before = ctx.builder.index_origin
    ctx.builder.index_origin = before if origin is None else origin
    try:
        yield
    finally:
        ctx.builder.index_origin = before


def primitive(ctx: Context, function: PrimitiveFunction, left: Value | None, right: Value, span: Span) -> Value:
    """A primitive on arrays; `/ ⌿ \\ ⍀` too (as functions)."""
    if function.glyph == "⊂" and left is None and function.axis is None and isinstance(right, Operand):
        return EnclosedOperand((right,)) if right.type.rank else right
    if function.glyph == "⌷" and isinstance(left, EnclosedOperand):
        left = _cells(ctx, left)
    if function.glyph == "⊃" and left is None and isinstance(right, EnclosedOperand):
        return right.items[0]
    for value in (left, right):
        if isinstance(value, EnclosedOperand):
            return enclosed(ctx, span)
        if isinstance(value, TupleOperand) and not _takes_tuple(function.glyph):
            return ctx.error(
                Code.E305,
                f"`{function.glyph}` takes arrays, but this argument is a tuple",
                span,
                notes=("take a tuple apart with `(a b) ← t`",),
            )
    return rules.apply(ctx.builder, function.glyph, left, right, function.axis, span)


def _cells(ctx: Context, left: EnclosedOperand) -> Value:
    """The array in `(⊂I)⌷`; it asks for cells in so many words, so it is not taken for a literal slip (W320)."""
    (x,) = left.items
    return ctx.builder.retyped(x, replace(x.type, element=strong(x.type.element))) if isinstance(x, Operand) else x


def _takes_tuple(glyph: str) -> bool:
    return glyph in "⊣⊢¿?"


def _fork(ctx: Context, fork: ForkFunction, left: Value | None, right: Value, span: Span) -> Value:
    second = ctx.call(fork.right, left, right, span)
    tine = fork.left
    first: Value
    if isinstance(tine, (Operand, TupleOperand)):
        first = tine
    else:
        first = ctx.call(tine, left, right, span)
    return ctx.call(fork.middle, first, second, span)


_OPERATORS: dict[str, _Operator] = {
    "/": reduce_scan.reduce,
    "⌿": reduce_scan.reduce,
    "\\": reduce_scan.scan,
    "⍀": reduce_scan.scan,
    "¨": rank_each.each,
    "˘": rank_each.cells,
    "⍤": rank_each.rank_or_atop,
    "⍨": compose.commute,
    "∘": compose.beside,
    "⍥": compose.over,
    "⍛": compose.behind,
    "∘.": table_inner.table,
    ".": table_inner.inner,
    "⍣": power.power,
    "⍣\\": power.states,
    "@": at.at,
    "⌸": key.key,
    "⌺": stencil.stencil,
}
