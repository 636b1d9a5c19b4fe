"""Literals, strands, text mixes and array notation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lang import tree
from ...lang.codes import Code
from ...lang.source import Span
from ..core import Payload, Stack
from ..elements import Element, Kind, held, joint, strong
from ..operands import Operand, Value, is_poisoned
from ..rules.common import common
from ..sizes import number as size
from ..types import ArrayType
from . import combine
from .context import Context
from .environment import Frame, FunctionValue, PrimitiveFunction

LARGEST = 2**63 - 1
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
DIGITS = "0123456789"


def number(ctx: Context, node: tree.Number) -> Operand:
    """A number or a strand of numbers, of the widest kind written."""
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


def text(ctx: Context, node: tree.Text) -> Operand:
    shape = (size(len(node.value)),) if node.vector else ()
    return ctx.builder.literal(tuple(node.value), ArrayType(Element(Kind.CHAR), shape), node.span)


def zilde(ctx: Context, node: tree.Zilde) -> Operand:
    return literal(ctx, (), (0,), node.span)


def system_name(ctx: Context, node: tree.SystemName, frame: Frame) -> Operand:
    """`⎕A`, `⎕D`, `⎕IO`, `⎕nan`."""
    match node.name:
        case "⎕A":
            characters = LETTERS
        case "⎕D":
            characters = DIGITS
        case "⎕nan":
            return ctx.builder.literal((math.nan,), ArrayType(Element(Kind.F64, weak=True), ()), node.span)
        case _:
            return literal(ctx, (frame.file.index_origin,), (), node.span)
    return ctx.builder.literal(tuple(characters), ArrayType(Element(Kind.CHAR), (size(len(characters)),)), node.span)


# ------------------------------------------------------------------------------------ strands


def strand(ctx: Context, node: tree.Strand, frame: Frame) -> Operand:
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
                notes=("use [a ⋄ b] to stack arrays of one shape, or (a ⋄ b) for a tuple", *_texts(items)),
            )
        scalars.append(item)
    return vector_of(ctx, scalars, node.span)


def _texts(items: Sequence[Value]) -> tuple[str, ...]:
    """What stacks texts of unequal lengths."""
    texts = all(isinstance(x, Operand) and x.type.element.kind is Kind.CHAR for x in items)
    return ("`↑'ab' 'cde'` pads texts to the rows of a matrix",) if texts else ()


def evaluate(ctx: Context, nodes: Sequence[tree.Expression], frame: Frame) -> list[Value]:
    """Values of the items, evaluated right to left."""
    items = [ctx.expression(ctx, item, frame) for item in reversed(nodes)]
    items.reverse()
    return items


def vector_of(ctx: Context, scalars: Sequence[Operand], span: Span) -> Operand:
    """Scalars as the items of a vector; sizes stay sizes and constants constants."""
    return stack(ctx, scalars, span, Code.E111, "a strand needs items of one type, but these mix text and numbers")


_APART = ("one array holds one type: keep them apart in a tuple `(a ⋄ b)`, or join text with `⍕` of the numbers",)


def stack(ctx: Context, cells: Sequence[Operand], span: Span, code: Code, mixed: str) -> Operand:
    """Cells of one shape along a new leading axis, promoted."""
    builder = ctx.builder
    if joint([cell.type.element for cell in cells]) is None:
        return ctx.error(code, mixed, span, notes=_APART if code == Code.E111 else ())
    parts = common(builder, cells, span, mixed)
    if parts is None:
        return builder.poison(span)
    element = joint([part.type.element for part in parts])
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
    return builder.emit(lambda result: Stack(result, values), ArrayType(held(element), shape), span)


# --------------------------------------------------------------------------------------- mix


def is_mix(node: tree.Monadic) -> bool:
    """`↑` of a strand written in place: its items may be vectors of different lengths."""
    function = node.function
    return isinstance(function, tree.Primitive) and function.glyph == "↑" and isinstance(node.right, tree.Strand)


def mix(ctx: Context, node: tree.Monadic, frame: Frame) -> Operand:
    """`↑'ab' 'cde'`: a matrix whose rows are the items, padded with fills at the end."""
    ctx.spend(node.span)
    assert isinstance(node.right, tree.Strand)
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


def array_notation(ctx: Context, node: tree.ArrayNotation, frame: Frame) -> Operand:
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
        if not combine.same_cells(ctx, cells[0], node.items[0].span, cell, part.span):
            return ctx.builder.poison(node.span)
    made = stack(ctx, cells, node.span, Code.E110, "the items mix text and numbers")
    return ctx.builder.retyped(made, ArrayType(strong(made.type.element), made.type.shape))


# ------------------------------------------------------------------------------- reshape slot


def has_slot(node: tree.Expression) -> bool:
    """Is this `_` alone or a strand with `_` in it?"""
    if isinstance(node, tree.Slot):
        return True
    return isinstance(node, tree.Strand) and any(isinstance(item, tree.Slot) for item in node.items)


def slot_reshape(ctx: Context, node: tree.Dyadic, function: FunctionValue, right: Value, frame: Frame) -> Value:
    """`3 _ ⍴ x`: the slot's size is what is left, and must divide exactly."""
    items = node.left.items if isinstance(node.left, tree.Strand) else (node.left,)
    slots = [item for item in items if isinstance(item, tree.Slot)]
    if not (isinstance(function, PrimitiveFunction) and function.glyph == "⍴"):
        return ctx.error(Code.E015, "`_` stands for a size only on the left of `⍴`", slots[0].span)
    if len(slots) > 1:
        return ctx.error(Code.E015, "only one size can be inferred", slots[1].span)
    sizes = [None if isinstance(item, tree.Slot) else ctx.expression(ctx, item, frame) for item in items]
    return combine.reshape_with_slot(ctx, sizes, items, right, node.span)
