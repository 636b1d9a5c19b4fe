"""Expressions: tree → values.

An expression's right spine (`f g h x`, `a + b × c`, `a ← b ← c`) is walked with an explicit stack, so
that recursion follows only brackets, whose nesting the parser limits.  Order is right to left:
right argument, function operands, left argument.
"""

from __future__ import annotations

from typing import TypeAlias, assert_never

from ...lang import tree
from ...lang.codes import Code
from ...lang.records import dataclass
from ...lang.source import Span
from ..operands import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned, leaves
from ..rules.static_arguments import static_sizes
from ..sizes import Size
from . import indexing, literals, resolve
from .context import Context
from .environment import Frame
from .names import array_entry
from .values import enclosed


@dataclass(frozen=True, slots=True)
class _Indexed:
    """An index whose entries, being further right, are evaluated before its array."""

    span: Span
    node: tree.Index
    entries: list[indexing.Entry | None]


_Pending: TypeAlias = tree.Monadic | tree.Dyadic | tree.Print | tree.InlineBind | tree.Modify | tree.Replace | _Indexed


def expression(ctx: Context, node: tree.Expression, frame: Frame) -> Value:
    """The value of an expression; poison where an error was reported."""
    pending: list[_Pending] = []
    value: Value
    while True:
        match node:
            case tree.Monadic() if literals.is_mix(node):
                value = literals.mix(ctx, node, frame)
                break
            case tree.Monadic() | tree.Dyadic():
                pending.append(node)
                node = node.right
            case tree.Print() | tree.InlineBind() | tree.Modify() | tree.Replace():
                pending.append(node)
                node = node.value
            case tree.Index():
                pending.append(_Indexed(node.span, node, indexing.evaluate_axes(ctx, node.axes, frame)))
                node = node.array
            case _:
                value = _leaf(ctx, node, frame)
                break
    while pending:
        value = _step(ctx, pending.pop(), value, frame)
    return value


def array(ctx: Context, node: tree.Expression, frame: Frame) -> Operand:
    """The value of an expression that must be one array."""
    return single(ctx, expression(ctx, node, frame), node.span)


def single(ctx: Context, value: Value, span: Span) -> Operand:
    """A value that must be one array (E305 for a tuple)."""
    if isinstance(value, Operand):
        return value
    if is_poisoned(value):
        return ctx.builder.poison(span)
    if isinstance(value, EnclosedOperand):
        return enclosed(ctx, span)
    return ctx.error(
        Code.E305,
        "this is a tuple, but an array is needed here",
        span,
        notes=("take a tuple apart with `(a b) ← t`; stack arrays of one shape with `[a ⋄ b]`",),
    )


def static_size(ctx: Context, value: Value, what: str, span: Span) -> Size | None:
    """A value that must be one integer known before the program runs (E403)."""
    x = single(ctx, value, span)
    sizes = None if x.poisoned else static_sizes(ctx.builder, x)
    if sizes is not None and len(sizes) == 1:
        return sizes[0]
    if not x.poisoned:
        ctx.error(Code.E403, f"{what} must be one integer known before the program runs", span)
    return None


def _leaf(ctx: Context, node: tree.Expression, frame: Frame) -> Value:
    ctx.spend(node.span)
    match node:
        case tree.Number():
            return literals.number(ctx, node)
        case tree.Text():
            return literals.text(ctx, node)
        case tree.Zilde():
            return literals.zilde(ctx, node)
        case tree.Slot():
            return ctx.error(
                Code.E015,
                "`_` stands for a size only on the left of `⍴`, and for a discarded item only in `(x _) ← t`",
                node.span,
            )
        case tree.Strand():
            return literals.strand(ctx, node, frame)
        case tree.Name() | tree.Member():
            return array_entry(ctx, node, frame)
        case tree.SystemName():
            return literals.system_name(ctx, node, frame)
        case tree.ArrayNotation():
            return literals.array_notation(ctx, node, frame)
        case tree.Tuple():
            items: list[Value] = []
            for item in reversed(node.items):
                items.append(ctx.expression(ctx, item, frame))
            return TupleOperand(tuple(reversed(items)))
        case tree.Monadic() | tree.Dyadic() | tree.Index() | tree.InlineBind() | tree.Replace() | tree.Modify() | tree.Print():
            raise AssertionError("spine nodes are not leaves")
        case _:
            assert_never(node)


def _step(ctx: Context, node: _Pending, value: Value, frame: Frame) -> Value:
    """Finish one spine node, given the value of what lies to its right (or of the indexed array)."""
    ctx.spend(node.span)
    match node:
        case tree.Monadic():
            function = resolve.function(ctx, node.function, frame)
            _mention(ctx, value, node.right, node.function.span)
            return ctx.call(function, None, value, node.function.span)
        case tree.Dyadic():
            function = resolve.function(ctx, node.function, frame)
            if literals.has_slot(node.left):
                return literals.slot_reshape(ctx, node, function, value, frame)
            left = ctx.expression(ctx, node.left, frame)
            _mention(ctx, left, node.left, node.function.span)
            _mention(ctx, value, node.right, node.function.span)
            return ctx.call(function, left, value, node.function.span)
        case tree.Print():
            return print_value(ctx, value, node.span)
        case tree.InlineBind():
            bind_target(ctx, node.target, value, frame)
            return value
        case tree.Modify():
            old = array_entry(ctx, node.name, frame)
            function = resolve.function(ctx, node.function, frame)
            _mention(ctx, old, node.name, node.function.span)
            _mention(ctx, value, node.value, node.function.span)
            new = ctx.call(function, old, value, node.function.span)
            bind(ctx, node.name, new, frame)
            return new
        case tree.Replace():
            new = indexing.replace(ctx, node, value, frame)
            bind(ctx, node.name, new, frame)
            return value
        case _Indexed():
            return indexing.index(ctx, single(ctx, value, node.node.array.span), node.entries, node.span)
        case _:
            assert_never(node)


def _mention(ctx: Context, value: Value, node: tree.Expression, function: Span) -> None:
    """Where a message about this argument should point."""
    if isinstance(value, EnclosedOperand):
        value = value.items[0]
    if isinstance(value, Operand):
        ctx.builder.wording.add(value.value, node.span)
        ctx.mentions.setdefault(value.value, []).append((function, node.span))


def print_value(ctx: Context, value: Value, span: Span) -> Value:
    """`⎕←`: emit the effect; E602 inside a function that an operator applies."""
    from ..core import Print

    if is_poisoned(value):
        return value
    if isinstance(value, EnclosedOperand):
        return enclosed(ctx, span)
    if ctx.loops:
        ctx.error(
            Code.E602,
            "`⎕←` cannot print inside a function that an operator applies",
            span,
            notes=("how often and in which order an operator applies its function is not fixed: print the result instead",),
        )
        return value
    for place, item in enumerate(leaves(value)):
        ctx.builder.effect(Print(ctx.builder.to_number(item, span).value, goes_on=place > 0))
    ctx.printed_at = ctx.nodes
    return value


def bind_target(ctx: Context, target: tree.Target, value: Value, frame: Frame) -> None:
    """Bind a name, or take a tuple (or the major cells of a short array) apart."""
    match target:
        case tree.NameTarget():
            bind(ctx, target, value, frame)
        case tree.DiscardTarget():
            pass
        case tree.TupleTarget():
            for part, item in zip(target.items, _parts(ctx, target, value), strict=True):
                bind_target(ctx, part, item, frame)
        case _:
            assert_never(target)


def bind(ctx: Context, name: tree.Name | tree.NameTarget, value: Value, frame: Frame) -> None:
    frame.bind(name.definition, value)
    if isinstance(value, Operand):
        ctx.builder.name(value, name.name)


def _parts(ctx: Context, target: tree.TupleTarget, value: Value) -> tuple[Value, ...]:
    wanted = len(target.items)
    if is_poisoned(value):
        return (ctx.builder.poison(target.span),) * wanted
    if isinstance(value, TupleOperand):
        if len(value.items) == wanted:
            return value.items
        message = f"this takes {wanted} names from a tuple of {len(value.items)} items"
        poison: Value = ctx.error(Code.E105, message, target.span)
        return (poison,) * wanted
    return indexing.major_cells(ctx, value, wanted, target.span)
