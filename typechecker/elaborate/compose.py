"""`⍨ ∘ ⍥ ⍛`: commute, beside and bind, over, behind."""

from __future__ import annotations

from ...lang.codes import Code
from ...lang.source import Span
from ..operands import Operand, TupleOperand, Value, is_poisoned
from .context import Context
from .environment import BrokenFunction, DerivedFunction, FunctionValue


def as_function(ctx: Context, operand: FunctionValue | Value, operator: str, span: Span) -> FunctionValue:
    """An operand that must be a function (E134)."""
    if not isinstance(operand, (Operand, TupleOperand)):
        return operand
    if not is_poisoned(operand):
        what = "an array" if isinstance(operand, Operand) else "a tuple"
        ctx.error(Code.E134, f"`{operator}` needs a function as its operand, but this is {what}", span)
    return BrokenFunction(span)


def commute(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍨ y` is `y f x`; `f⍨ y` is `y f y`; `A⍨` is always A."""
    operand = derived.operands[0]
    if isinstance(operand, (Operand, TupleOperand)):
        return operand
    return ctx.call(operand, right, right if left is None else left, span)


def beside(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f∘g y` is `x f g y`; an array operand is a bound argument."""
    first, second = derived.operands
    if isinstance(first, (Operand, TupleOperand)) or isinstance(second, (Operand, TupleOperand)):
        if left is not None:
            return ctx.error(Code.E130, "a function with a bound argument takes one argument, got two", span)
        if isinstance(first, (Operand, TupleOperand)):
            return ctx.call(as_function(ctx, second, "∘", derived.span), first, right, span)
        assert isinstance(second, (Operand, TupleOperand))
        return ctx.call(first, right, second, span)
    return ctx.call(first, left, ctx.call(second, None, right, span), span)


def over(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍥g y` is `(g x) f g y`."""
    first, second = [as_function(ctx, x, "⍥", derived.span) for x in derived.operands]
    prepared = ctx.call(second, None, right, span)
    if left is None:
        return ctx.call(first, None, prepared, span)
    return ctx.call(first, ctx.call(second, None, left, span), prepared, span)


def behind(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍛g y` is `(f x) g y`; `f⍛g y` is `(f y) g y`."""
    first, second = derived.operands
    if isinstance(first, (Operand, TupleOperand)):
        return ctx.call(as_function(ctx, second, "⍛", derived.span), first, right, span)
    function = as_function(ctx, second, "⍛", derived.span)
    return ctx.call(function, ctx.call(first, None, right if left is None else left, span), right, span)
