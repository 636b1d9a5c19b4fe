"""Elaborates expressions to values.

The right spine of an expression (`f g h x`, `a + b × c`, `a ← b ← c`) is walked with an explicit stack, so that recursion follows
only brackets, whose nesting the parser limits.  Evaluation is from right to left: right argument, operands of the function, left
argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias, assert_never

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...lang.tree import expressions
from ..core.operations import Payload, Stack
from ..elements import ArrayType, Element, Kind, promote_all, strong
from ..rules import dates
from ..rules.argument_checks import common, joint_element, of_mixed, static_sizes
from ..sizes.polynomials import Size, number as size
from ..values.facts import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned, leaves
from . import branches, indexing, names
from .context import Context, Frame, FunctionValue, PrimitiveFunction, reject_enclosed

# ---------------------------------------------------------------------------------------------------- literals

LARGEST = 2**63 - 1
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def number(ctx: Context, node: expressions.Number) -> Operand:
    """A number or a strand of numbers, in the widest kind of its items."""
    values: Sequence[int | float | complex] = node.values
    if any(isinstance(v, int) and not -LARGEST - 1 <= v <= LARGEST for v in values):
        return ctx.error(
            Code.E302,
            "this integer does not fit i64 (¯9223372036854775808 to 9223372036854775807)",
            node.span,
            notes=("write it with a point or an exponent to make it f64",),
        )
    return literal(ctx, values, (len(values),) if node.strand else (), node.span)


def literal(ctx: Context, values: Sequence[int | float | complex], shape: tuple[int, ...], span: Span) -> Operand:
    """A weak constant array of numbers."""
    data: tuple[Payload, ...]
    if any(isinstance(v, complex) for v in values):
        element, data = Element(Kind.C128, weak=True), tuple([complex(v) for v in values])
    elif any(isinstance(v, float) for v in values):
        element, data = Element(Kind.F64, weak=True), tuple([float(v.real) for v in values])
    else:
        whole_values = [v for v in values if isinstance(v, int)]
        low, high = (min(whole_values), max(whole_values)) if whole_values else (None, None)
        element, data = Element(Kind.I64, low, high, weak=True), tuple(whole_values)
    return ctx.builder.literal(data, ArrayType(element, tuple([size(n) for n in shape])), span)


def text(ctx: Context, node: expressions.Text) -> Operand:
    shape = (size(len(node.value)),) if node.vector else ()
    return ctx.builder.literal(tuple(node.value), ArrayType(Element(Kind.CHAR), shape), node.span)


def zilde(ctx: Context, node: expressions.Zilde) -> Operand:
    return literal(ctx, (), (0,), node.span)


def system_name(ctx: Context, node: expressions.SystemName, frame: Frame) -> Operand:
    """`⎕A`, `⎕D`, `⎕IO`, `⎕nan`."""
    match node.name:
        case "⎕A":
            characters = LETTERS
        case "⎕D":
            characters = DIGITS
        case "⎕nat":
            return dates.missing(ctx.builder, node.span)
        case "⎕nan":
            return ctx.builder.literal((math.nan,), ArrayType(Element(Kind.F64, weak=True), ()), node.span)
        case _:
            return literal(ctx, (frame.file.index_origin,), (), node.span)
    return ctx.builder.literal(tuple(characters), ArrayType(Element(Kind.CHAR), (size(len(characters)),)), node.span)


# ------------------------------------------------------------------------------------ strands


def strand(ctx: Context, node: expressions.Strand, frame: Frame) -> Operand:
    """Adjacent scalars of one promoted element type: a vector (E111 otherwise)."""
    items = evaluate(ctx, node.items, frame)
    if any(map(is_poisoned, items)):
        return ctx.builder.poison(node.span)
    scalars: list[Operand] = []
    for item, part in zip(items, node.items, strict=True):
        if not isinstance(item, Operand) or item.type.rank > 0:
            what = "a tuple" if not isinstance(item, Operand) else f"an array of rank {item.type.rank}"
            return ctx.error(
                Code.E111,
                "a strand joins scalars, but this item is " + what,
                part.span,
                notes=("use [a ⋄ b] to stack arrays of one shape, or (a ⋄ b) for a tuple", *_texts(items), *_arguments(items)),
            )
        scalars.append(item)
        if item.constant is None:
            ctx.builder.source_names.add(item.value, part.span)
    return vector_of(ctx, scalars, node.span)


def _texts(items: Sequence[Value]) -> tuple[str, ...]:
    """The note that explains how to stack texts of unequal lengths."""
    texts = all(isinstance(x, Operand) and x.type.element.kind is Kind.CHAR for x in items)
    return ("`↑'ab' 'cde'` pads texts to the rows of a matrix",) if texts else ()


def _arguments(items: Sequence[Value]) -> tuple[str, ...]:
    """The note on how a function is given two arguments."""
    return ("a function of two arguments stands between them: `x f y`",) if len(items) == 2 else ()


def evaluate(ctx: Context, nodes: Sequence[expressions.Expression], frame: Frame) -> list[Value]:
    """The values of some items, evaluated from right to left."""
    items = [ctx.expression(ctx, item, frame) for item in reversed(nodes)]
    items.reverse()
    return items


def vector_of(ctx: Context, scalars: Sequence[Operand], span: Span) -> Operand:
    """The vector of some scalars; static values and constants stay known."""
    return stack(ctx, scalars, span, Code.E111, "a strand needs items of one type, but these mix text and numbers")


_ONE_TYPE_NOTES = ("one array holds one type: keep them apart in a tuple `(a ⋄ b)`, or join text with `⍕` of the numbers",)


def stack(ctx: Context, cells: Sequence[Operand], span: Span, code: Code, mixed: str) -> Operand:
    """Cells of one shape along a new leading axis, promoted."""
    builder = ctx.builder
    if promote_all([cell.type.element for cell in cells]) is None:
        message = of_mixed(cells, mixed)
        return ctx.error(code, message, span, notes=_ONE_TYPE_NOTES if code == Code.E111 and message == mixed else ())
    parts = common(builder, cells, span, mixed)
    if parts is None:
        return builder.poison(span)
    element = promote_all([part.type.element for part in parts])
    assert element is not None
    shape = (size(len(parts)), *parts[0].type.shape)
    type_ = ArrayType(element, shape)
    known = [cell.constant for cell in parts]
    if all(data is not None for data in known) and all(s.constant is not None for s in shape):
        return builder.literal(tuple([v for data in known if data is not None for v in data]), type_, span)
    statics = [cell.static for cell in parts]
    if not parts[0].type.rank and element.kind is Kind.I64:
        sizes = [s for s in statics if s is not None and not isinstance(s, tuple)]
        if len(sizes) == len(statics):
            return builder.size_vector(sizes, span)
    values = tuple([part.value for part in parts])
    return builder.emit(lambda result: Stack(result, values), ArrayType(joint_element(builder, parts), shape), span)


# --------------------------------------------------------------------------------------- mix


def is_mix(node: expressions.Monadic) -> bool:
    """Is it `↑` of a literal strand, whose items may be vectors of different lengths?"""
    function = node.function
    return (
        isinstance(function, expressions.GlyphFunction) and function.glyph == "↑" and isinstance(node.right, expressions.Strand)
    )


def mix(ctx: Context, node: expressions.Monadic, frame: Frame) -> Operand:
    """`↑'ab' 'cde'`: a matrix whose rows are the items, padded with fills at the end."""
    ctx.spend(node.span)
    assert isinstance(node.right, expressions.Strand)
    items = evaluate(ctx, node.right.items, frame)
    if any(map(is_poisoned, items)):
        return ctx.builder.poison(node.span)
    rows: list[Operand] = []
    widest = 0
    vectors = False
    for item, part in zip(items, node.right.items, strict=True):
        if not isinstance(item, Operand) or item.type.rank > 1:
            return ctx.error(
                Code.E111, "`↑` of a strand pads vectors and scalars to the rows of a matrix; this item is neither", part.span
            )
        length = item.type.shape[0].constant if item.type.rank else 1
        if length is None:
            return ctx.error(
                Code.E111,
                "`↑` of a strand needs items whose lengths are numbers",
                part.span,
                notes=("use [a ⋄ b] to stack arrays of one shape",),
            )
        vectors = vectors or item.type.rank == 1
        widest = max(widest, length)
        rows.append(item)
    if not vectors:
        return vector_of(ctx, rows, node.span)
    take = PrimitiveFunction(node.function.span, "↑")
    padded: list[Operand] = []
    for row in rows:
        value = ctx.call(take, literal(ctx, (widest,), (1,), node.span), row, node.span)
        if not isinstance(value, Operand) or value.poisoned:
            return ctx.builder.poison(node.span)
        padded.append(value)
    return stack(ctx, padded, node.span, Code.E111, "the rows mix text and numbers")


# ----------------------------------------------------------------------------- array notation


def array_notation(ctx: Context, node: expressions.ArrayNotation, frame: Frame) -> Operand:
    """`[a ⋄ b]`: cells of one shape stacked (E110, E120)."""
    if not node.items:
        return ctx.error(
            Code.E120, "`[]` has no element type and no inner shape", node.span, notes=("annotate it: `y : f64[0 3] ← []`",)
        )
    items = evaluate(ctx, node.items, frame)
    if any(map(is_poisoned, items)):
        return ctx.builder.poison(node.span)
    cells: list[Operand] = []
    for item, part in zip(items, node.items, strict=True):
        if not isinstance(item, Operand):
            return ctx.error(Code.E110, "array notation stacks arrays, but this item is a tuple", part.span)
        cells.append(item)
    for cell, part in zip(cells[1:], node.items[1:], strict=True):
        if not branches.same_cells(ctx, cells[0], node.items[0].span, cell, part.span):
            return ctx.builder.poison(node.span)
    stacked = stack(ctx, cells, node.span, Code.E110, "the items mix text and numbers")
    return ctx.builder.with_type(stacked, ArrayType(strong(stacked.type.element), stacked.type.shape))


# ------------------------------------------------------------------------------- reshape slot


def has_slot(node: expressions.Expression) -> bool:
    """Is this `_` alone or a strand with `_` in it?"""
    if isinstance(node, expressions.Slot):
        return True
    return isinstance(node, expressions.Strand) and any(isinstance(item, expressions.Slot) for item in node.items)


def slot_reshape(ctx: Context, node: expressions.Dyadic, function: FunctionValue, right: Value, frame: Frame) -> Value:
    """`3 _ ⍴ x`: the slot's size is the number of elements divided by the other sizes, which must divide it."""
    items = node.left.items if isinstance(node.left, expressions.Strand) else (node.left,)
    slots = [item for item in items if isinstance(item, expressions.Slot)]
    if not (isinstance(function, PrimitiveFunction) and function.glyph == "⍴"):
        return ctx.error(Code.E015, "`_` stands for a size only on the left of `⍴`", slots[0].span)
    if len(slots) > 1:
        return ctx.error(Code.E015, "only one size can be inferred", slots[1].span)
    sizes = [None if isinstance(item, expressions.Slot) else ctx.expression(ctx, item, frame) for item in items]

    def reshaped() -> Value:
        return branches.reshape_with_slot(ctx, sizes, items, right, node.span)

    value = reshaped()
    if is_poisoned(value) and not is_poisoned(right):
        ctx.offer_guard(ctx, reshaped, None, right, node.span, Span(node.span.file, node.span.start, node.right.span.start))
    return value


# ---------------------------------------------------------------------------------------------------- expressions

@dataclass(frozen=True, slots=True)
class _Indexed:
    """An index with its entries, which are evaluated before its array since they are further right."""

    span: Span
    node: expressions.IndexExpression
    entries: list[indexing.IndexEntry | None]


_Pending: TypeAlias = (
    expressions.Monadic | expressions.Dyadic | expressions.PrintExpression | expressions.InlineBind | expressions.Modify
    | expressions.Replace
    | _Indexed
)


def expression(ctx: Context, node: expressions.Expression, frame: Frame) -> Value:
    """The value of an expression; poison where an error was reported."""
    pending: list[_Pending] = []
    value: Value
    while True:
        match node:
            case expressions.Monadic() if is_mix(node):
                value = mix(ctx, node, frame)
                break
            case (
                expressions.Monadic() | expressions.Dyadic()
            ):
                pending.append(node)
                node = node.right
            case expressions.PrintExpression() | expressions.InlineBind() | expressions.Modify() | expressions.Replace():
                pending.append(node)
                node = node.value
            case expressions.IndexExpression():
                pending.append(_Indexed(node.span, node, indexing.evaluate_axes(ctx, node.axes, frame)))
                node = node.array
            case _:
                value = ctx.builder.limited(_leaf(ctx, node, frame))
                break
    while pending:
        value = ctx.builder.limited(_step(ctx, pending.pop(), value, frame))
    return value


def array(ctx: Context, node: expressions.Expression, frame: Frame) -> Operand:
    """The value of an expression that must be one array."""
    return single(ctx, expression(ctx, node, frame), node.span)


def single(ctx: Context, value: Value, span: Span) -> Operand:
    """A value that must be one array (E305 for a tuple)."""
    if isinstance(value, Operand):
        return value
    if is_poisoned(value):
        return ctx.builder.poison(span)
    if isinstance(value, EnclosedOperand):
        return reject_enclosed(ctx, span)
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


def _leaf(ctx: Context, node: expressions.Expression, frame: Frame) -> Value:
    ctx.spend(node.span)
    match node:
        case expressions.Number():
            return number(ctx, node)
        case expressions.Text():
            return text(ctx, node)
        case expressions.Zilde():
            return zilde(ctx, node)
        case expressions.Slot():
            return ctx.error(
                Code.E015,
                "`_` stands for a size only on the left of `⍴`, and for a discarded item only in `(x _) ← t`",
                node.span,
            )
        case expressions.Strand():
            return strand(ctx, node, frame)
        case expressions.Name() | expressions.Member():
            return names.array_entry(ctx, node, frame)
        case expressions.SystemName():
            return system_name(ctx, node, frame)
        case expressions.ArrayNotation():
            return array_notation(ctx, node, frame)
        case expressions.Tuple():
            items: list[Value] = []
            for item in reversed(node.items):
                items.append(ctx.expression(ctx, item, frame))
            return TupleOperand(tuple(reversed(items)))
        case (
            expressions.Monadic() | expressions.Dyadic() | expressions.IndexExpression() | expressions.InlineBind()
            | expressions.Replace() | expressions.Modify() | expressions.PrintExpression()
        ):
            raise AssertionError("spine nodes are not leaves")
        case _:
            assert_never(node)


def _step(ctx: Context, node: _Pending, value: Value, frame: Frame) -> Value:
    """The value of one spine node, given the value to its right (or of the indexed array)."""
    ctx.spend(node.span)
    match node:
        case expressions.Monadic():
            function = names.function(ctx, node.function, frame)
            _mention(ctx, value, node.right, node.function.span)
            return ctx.call(function, None, value, node.function.span)
        case expressions.Dyadic():
            function = names.function(ctx, node.function, frame)
            if has_slot(node.left):
                return slot_reshape(ctx, node, function, value, frame)
            left = ctx.expression(ctx, node.left, frame)
            _mention(ctx, left, node.left, node.function.span)
            _mention(ctx, value, node.right, node.function.span)
            return ctx.call(function, left, value, node.function.span)
        case expressions.PrintExpression():
            return print_value(ctx, value, node.span)
        case expressions.InlineBind():
            bind_target(ctx, node.target, value, frame)
            return value
        case expressions.Modify():
            old = names.array_entry(ctx, node.name, frame)
            function = names.function(ctx, node.function, frame)
            _mention(ctx, old, node.name, node.function.span)
            _mention(ctx, value, node.value, node.function.span)
            new = ctx.call(function, old, value, node.function.span)
            bind(ctx, node.name, new, frame)
            return new
        case expressions.Replace():
            new = indexing.replace(ctx, node, value, frame)
            bind(ctx, node.name, new, frame)
            return value
        case _Indexed():
            return indexing.index(ctx, single(ctx, value, node.node.array.span), node.entries, node.span)
        case _:
            assert_never(node)


def _mention(ctx: Context, value: Value, node: expressions.Expression, function: Span) -> None:
    """Record the span of an argument, for messages about it."""
    if isinstance(value, EnclosedOperand):
        value = value.items[0]
    if isinstance(value, Operand):
        ctx.builder.source_names.add(value.value, node.span)
        ctx.mentions.setdefault(value.value, []).append((function, node.span))


def print_value(ctx: Context, value: Value, span: Span) -> Value:
    """`⎕←`: emit the effect; E602 inside a function that an operator applies."""
    from ..core.operations import CorePrint

    if is_poisoned(value):
        return value
    if isinstance(value, EnclosedOperand):
        return reject_enclosed(ctx, span)
    if ctx.loops:
        ctx.error(
            Code.E602,
            "`⎕←` cannot print inside a function that an operator applies",
            span,
            notes=("how often and in which order an operator applies its function is not fixed: print the result instead",),
        )
        return value
    for index, item in enumerate(leaves(value)):
        ctx.builder.effect(CorePrint(ctx.builder.to_number(item, span).value, goes_on=index > 0))
    ctx.printed_at = ctx.nodes
    return value


def bind_target(ctx: Context, target: expressions.Target, value: Value, frame: Frame) -> None:
    """Bind a name, or destructure a tuple or the major cells of an array."""
    match target:
        case expressions.NameTarget():
            bind(ctx, target, value, frame)
        case expressions.DiscardTarget():
            pass
        case expressions.TupleTarget():
            for part, item in zip(target.items, _destructured(ctx, target, value), strict=True):
                bind_target(ctx, part, item, frame)
        case _:
            assert_never(target)


def bind(ctx: Context, name: expressions.Name | expressions.NameTarget, value: Value, frame: Frame) -> None:
    frame.bind(name.definition, value)
    if isinstance(value, Operand) and frame.file.source is ctx.sources[0]:  # names in a module mean nothing in the program
        ctx.builder.name(value, name.name)


def _destructured(ctx: Context, target: expressions.TupleTarget, value: Value) -> tuple[Value, ...]:
    expected = len(target.items)
    if is_poisoned(value):
        return (ctx.builder.poison(target.span),) * expected
    if isinstance(value, TupleOperand):
        if len(value.items) == expected:
            return value.items
        message = f"this takes {expected} names from a tuple of {len(value.items)} items"
        poison: Value = ctx.error(Code.E105, message, target.span)
        return (poison,) * expected
    return indexing.major_cells(ctx, value, expected, target.span)
