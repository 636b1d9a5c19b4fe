"""Elaborates bracket indexing, replacement, and the selection of cells.

`rules.index` checks each index; here the axes of `x[i;;j]` are taken one by one, and replacements are checked against the shape
of the selection.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...lang.tree import expressions
from ..core.operations import Indexing, Slice, Update
from ..diagnostics import show_type
from ..elements import ArrayType
from ..rules.argument_checks import common, item_of, joint_element, require_equal
from ..rules.index import IndexPosition, index_operand, select_at
from ..sizes.polynomials import ZERO, Size, number
from ..values.facts import Operand, TupleOperand, Value, is_poisoned
from .context import Context, Frame
from .names import array_entry, function as resolve_function


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The value and span of one entry of `x[…]` that is not empty."""

    value: Value
    span: Span


def evaluate_axes(ctx: Context, nodes: Sequence[expressions.Expression | None], frame: Frame) -> list[IndexEntry | None]:
    """The entries, evaluated from right to left; None for a whole axis."""
    entries: list[IndexEntry | None] = []
    for node in reversed(nodes):
        if node is None:
            entries.append(None)
            continue
        value = ctx.expression(ctx, node, frame)
        if isinstance(value, Operand):
            ctx.builder.source_names.add(value.value, node.span)
        entries.append(IndexEntry(value, node.span))
    entries.reverse()
    return entries


def index(ctx: Context, x: Operand, axes: Sequence[IndexEntry | None], span: Span) -> Value:
    """`x[i;;j]`; trailing axes may be omitted."""
    if (
        x.poisoned
        or any(entry is not None and is_poisoned(entry.value) for entry in axes)
        or not _enough_axes(ctx, x, axes, span)
    ):
        return ctx.builder.poison(span)
    checked_indices: dict[int, tuple[Operand, Span, IndexPosition]] = {}
    for axis, entry in reversed(list(enumerate(axes))):
        if entry is None:
            continue
        if isinstance(entry.value, TupleOperand):
            return ctx.error(Code.E305, "an index is an array, but this is a tuple", entry.span)
        index_position = index_operand(ctx.builder, entry.value, x.type.shape[axis], entry.span)
        if index_position is None:
            return ctx.builder.poison(entry.span)
        checked_indices[axis] = entry.value, entry.span, index_position
    result, indexing = x, _indexing(ctx, x, axes)
    for axis, (index_value, where, index_position) in checked_indices.items():
        others = {other: position for other, (_, _, (position, _)) in checked_indices.items() if other != axis}
        result = select_at(ctx.builder, result, index_position, index_value, axis, where, indexing.on(axis), others)
    return result


def _indexing(ctx: Context, x: Operand, axes: Sequence[IndexEntry | None]) -> Indexing:
    return Indexing(0, x.type.rank, ctx.builder.index_origin, tuple([None if entry is None else entry.span for entry in axes]))


def _enough_axes(ctx: Context, x: Operand, axes: Sequence[IndexEntry | None], span: Span) -> bool:
    if len(axes) <= x.type.rank:
        return True
    message = f"this index has {len(axes)} axes, but the array {f'only {x.type.rank}' if x.type.rank else 'is a scalar'}"
    ctx.error(Code.E131, message, span, label=show_type(x.type))
    return False


def replace(ctx: Context, node: expressions.Replace, value: Value, frame: Frame) -> Value:
    """The value of x after `x[i;j]←v` or `x[i;j] f← v`."""
    old = array_entry(ctx, node.name, frame)
    axes = evaluate_axes(ctx, node.axes, frame)
    if is_poisoned(old) or is_poisoned(value) or any(entry is not None and is_poisoned(entry.value) for entry in axes):
        return ctx.builder.poison(node.span)
    if node.function is not None and isinstance(old, Operand):
        current = index(ctx, old, axes, node.span)
        function = resolve_function(ctx, node.function, frame)
        value = ctx.call(function, current, value, node.function.span)
        if is_poisoned(value):
            return ctx.builder.poison(node.span)
    if isinstance(old, TupleOperand) or isinstance(value, TupleOperand):
        return ctx.error(Code.E305, "items of arrays are replaced by arrays, but this is a tuple", node.span)
    if not _enough_axes(ctx, old, axes, node.span):
        return ctx.builder.poison(node.span)
    return update(ctx, old, axes, value, node.span)


def update(ctx: Context, old: Operand, axes: Sequence[IndexEntry | None], new: Operand, span: Span) -> Operand:
    """`old` with the items selected by `axes` replaced."""
    positions: list[IndexPosition | None] = []
    shape: list[Size] = []
    for axis, entry in enumerate(axes):
        if entry is None:
            positions.append(None)
            shape.append(old.type.shape[axis])
            continue
        if isinstance(entry.value, TupleOperand):
            return ctx.error(Code.E305, "an index is an array, but this is a tuple", entry.span)
        position = index_operand(ctx.builder, entry.value, old.type.shape[axis], entry.span)
        if position is None:
            return ctx.builder.poison(span)
        positions.append(position)
        shape.extend(position.operand.type.shape)
    shape.extend(old.type.shape[len(axes) :])
    positions.extend([None] * (old.type.rank - len(axes)))
    if not fits_selection(ctx, new, shape, span):
        return ctx.builder.poison(span)
    pair = common(ctx.builder, [old, new], span, "the array and its new items mix text and numbers")
    if pair is None:
        return ctx.builder.poison(span)
    base, value = pair
    indices = tuple([None if p is None else p.operand.value for p in positions])
    checked = any(p is not None and p.checked for p in positions)
    type_ = ArrayType(joint_element(ctx.builder, pair), old.type.shape)
    indexing = _indexing(ctx, old, axes)
    return ctx.builder.emit(lambda result: Update(result, base.value, indices, value.value, checked, indexing), type_, span)


def fits_selection(ctx: Context, new: Operand, shape: Sequence[Size], span: Span) -> bool:
    """Require that the new items have the selection's shape or are a scalar (E101)."""
    if new.type.rank == 0:
        return True
    if new.type.rank != len(shape):
        message = f"a selection of rank {len(shape)} is replaced by an array of rank {new.type.rank}"
        pairs = "for pairs of positions index the ravel: `t ← ,m ⋄ t[(rows×1⊃⍴m)+columns] ← v ⋄ (⍴m)⍴t`"
        every = f"`m[rows;columns]` selects each row with each column; {pairs}"
        notes = (every,) if (len(shape), new.type.rank) == (2, 1) else ()
        ctx.error(Code.E101, message, span, label=show_type(new.type), notes=notes)
        return False
    for a, b in zip(shape, new.type.shape, strict=True):
        if not require_equal(ctx.builder, a, b, Code.E101, span, f"{a} places are replaced by {b} values"):
            return False
    return True


# ------------------------------------------------------------------------------------- cells


def major_cells(ctx: Context, x: Operand, expected: int, span: Span) -> tuple[Value, ...]:
    """The major cells for `(a b) ← x`; the leading size must be the number of names (E105)."""
    if x.type.rank == 0:
        poison: Value = ctx.error(Code.E105, f"this takes {expected} names from a scalar", span)
        return (poison,) * expected
    if ctx.builder.equal(x.type.shape[0], number(expected)) is not True:
        poison = ctx.error(Code.E105, f"this takes {expected} names from {x.type.shape[0]} cells", span, label=show_type(x.type))
        return (poison,) * expected
    return tuple([item_of(ctx.builder, x, i, span) for i in range(expected)])


def take_first(ctx: Context, x: Operand, count: int, span: Span) -> Operand:
    """The first `count` major cells of an array known to have them."""
    type_ = ArrayType(x.type.element, (number(count), *x.type.shape[1:]))
    return ctx.builder.emit(lambda result: Slice(result, x.value, (ZERO,)), type_, span)
