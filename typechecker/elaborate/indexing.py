"""Bracket indexing, replacement, and picking cells.

A number used as an index loses the file's index origin; `idx<n>` is a position already.  An index that
is proved outside its axis is E310; one that is not proved inside is checked when run and reported (W310).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lang import tree
from ...lang.diagnostics import Diagnostic, Label, Severity
from ...lang.source import Span
from ..core import Gather, Slice, Update
from ..display import show_type
from ..elements import Element, Kind, integer_range, plain
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..sizes import ZERO, Size, number
from ..types import ArrayType
from . import combine
from .context import Context, is_poisoned
from .names import array_entry
from .resolve import function as resolve_function
from .scopes import Scope
from .values import cast, static_vector


@dataclass(frozen=True, slots=True)
class Position:
    """Indices counted from 0; `checked` if a run must check them."""

    operand: Operand
    checked: bool


@dataclass(frozen=True, slots=True)
class Selector:
    """One entry of `x[…]`: None takes the axis whole."""

    operand: Operand | None
    span: Span


def evaluate_axes(ctx: Context, nodes: Sequence[tree.Expression | None], scope: Scope) -> list[Value | None]:
    """The values of the entries, right to left; None for an empty one."""
    values: list[Value | None] = []
    for node in reversed(nodes):
        values.append(None if node is None else ctx.expression(ctx, node, scope))
    values.reverse()
    return values


def position(ctx: Context, index: Operand, size: Size, span: Span) -> Position | None:
    """An index array for an axis of length `size`; None after an error (E300, E304, E310)."""
    element = index.type.element
    if index.poisoned:
        return None
    if element.kind is Kind.BOOL:
        ctx.error(
            "E304",
            "a mask does not index: an index is integers",
            span,
            notes=("to keep the items where it holds write `mask⌿x`",),
        )
        return None
    if not element.kind.is_integer:
        ctx.error("E300", f"an index is integers, but this is {show_type(index.type)}", span)
        return None
    stored = ctx.builder.to_position(index, span)
    verdict = _in_range(ctx, stored, index, size)
    if verdict is False:
        origin = ctx.builder.index_origin
        ctx.error(
            "E310",
            f"this index is outside its axis: positions {origin} to {size + (origin - 1)} exist",
            span,
            label=_values(index),
        )
        return None
    if verdict is None:
        report_check(ctx, index, size, span)
    return Position(stored, verdict is None)


def _values(index: Operand) -> str:
    if index.constant is not None and 0 < len(index.constant) <= 8:
        return " ".join([str(v).replace("-", "¯") for v in index.constant])
    return show_type(index.type)


def report_check(ctx: Context, index: Operand, size: Size, span: Span) -> None:
    """W310 (an error under --strict)."""
    severity = Severity.ERROR if ctx.strict else Severity.WARNING
    code = "E310" if ctx.strict else "W310"
    ctx.builder.report(
        Diagnostic(
            code,
            f"this index is checked when the program runs: {show_type(index.type)} into an axis of length {size}",
            span,
            severity,
            notes=("an `idx<n>` into an axis of length n needs no check",),
        )
    )


def _in_range(ctx: Context, stored: Operand, index: Operand, size: Size) -> bool | None:
    """Are all positions proved inside (True) or some outside (False)?"""
    if any(s.constant == 0 for s in stored.type.shape):
        return True
    element = index.type.element
    if element.below is not None:
        if ctx.builder.at_most(element.below, size) is True:
            return True
        return None
    statics = static_vector(index)
    origin = ctx.builder.index_origin
    if statics is not None:
        verdicts = [_inside(ctx, s - origin, size) for s in statics]
        return False if False in verdicts else None if None in verdicts else True
    low, high = integer_range(element)
    if low is None:
        return None
    if index.constant is not None and (low < origin):
        return False
    if high is not None and low >= origin and ctx.builder.at_most(number(high - origin + 1), size) is True:
        return True
    if element.most is not None and low >= origin and ctx.builder.at_most(element.most - (origin - 1), size) is True:
        return True
    top = size.constant
    if top is not None and (low - origin >= top or (high is not None and high < origin)):
        return False
    if top is not None and index.constant is not None and high is not None and high - origin >= top:
        return False
    return None


def _inside(ctx: Context, at: Size, size: Size) -> bool | None:
    above, below = ctx.builder.at_most(ZERO, at), ctx.builder.at_most(at + 1, size)
    if above is False or below is False:
        return False
    return True if above is True and below is True else None


def select(ctx: Context, x: Operand, index: Position, axis: int, span: Span) -> Operand:
    """x along `axis` at the given positions: the index's shape replaces the axis."""
    shape = x.type.shape[:axis] + index.operand.type.shape + x.type.shape[axis + 1 :]
    permutation = x.type.permutation and index.operand.type.permutation
    type_ = ArrayType(plain(x.type.element), shape, permutation)
    kept = x.type.element if x.type.element.kind in (Kind.I64, Kind.U8, Kind.I32) and not x.type.element.weak else type_.element
    type_ = ArrayType(kept, shape, permutation)
    op = index.operand.value
    static, constant = _known(x, index, axis)
    return ctx.builder.emit(
        lambda result: Gather(result, x.value, op, axis, index.checked), type_, span, static=static, constant=constant
    )


def _known(x: Operand, index: Position, axis: int):  # type: ignore[no-untyped-def]
    """What a selection from a static vector at known positions is."""
    if x.type.rank != 1 or axis != 0 or index.checked:
        return None, None
    at = static_vector(index.operand)
    if at is None or any(s.constant is None for s in at):
        return None, None
    places = [s.constant or 0 for s in at]
    scalar = index.operand.type.rank == 0
    if index.operand.type.rank > 1:
        return None, None
    static = None
    if isinstance(x.static, tuple):
        picked = tuple([x.static[i] for i in places])
        static = picked[0] if scalar else picked
    constant = None if x.constant is None else tuple([x.constant[i] for i in places])
    return static, constant


def index(ctx: Context, x: Operand, axes: Sequence[Value | None], span: Span) -> Value:
    """`x[i;;j]`; trailing axes may be omitted."""
    if x.poisoned or any(v is not None and is_poisoned(v) for v in axes):
        return ctx.builder.poison(span)
    if len(axes) > x.type.rank:
        return ctx.error(
            "E131", f"this index has {len(axes)} axes, but the array only {x.type.rank}", span, label=show_type(x.type)
        )
    result = x
    for axis in range(len(axes) - 1, -1, -1):
        entry = axes[axis]
        if entry is None:
            continue
        if isinstance(entry, TupleOperand):
            return ctx.error("E305", "an index is an array, but this is a tuple", span)
        found = position(ctx, entry, x.type.shape[axis], span)
        if found is None:
            return ctx.builder.poison(span)
        result = select(ctx, result, found, axis, span)
    return result


def replace(ctx: Context, node: tree.Replace, value: Value, scope: Scope) -> Value:
    """The array `x[i;j]←v` or `x[i;j] f← v` leaves in x."""
    old = array_entry(ctx, node.name.name, scope, node.name.span)
    axes = evaluate_axes(ctx, node.axes, scope)
    if is_poisoned(old) or is_poisoned(value) or any(v is not None and is_poisoned(v) for v in axes):
        return ctx.builder.poison(node.span)
    if isinstance(old, TupleOperand) or isinstance(value, TupleOperand):
        return ctx.error("E305", "items of arrays are replaced by arrays, but this is a tuple", node.span)
    if len(axes) > old.type.rank:
        message = f"this index has {len(axes)} axes, but the array only {old.type.rank}"
        return ctx.error("E131", message, node.span, label=show_type(old.type))
    if node.function is not None:
        current = index(ctx, old, axes, node.span)
        function = resolve_function(ctx, node.function, scope)
        changed = ctx.call(function, current, value, node.span)
        if is_poisoned(changed):
            return ctx.builder.poison(node.span)
        if isinstance(changed, TupleOperand):
            return ctx.error("E305", "items of arrays are replaced by arrays, but this is a tuple", node.span)
        value = changed
    return update(ctx, old, axes, value, node.span)


def update(ctx: Context, old: Operand, axes: Sequence[Value | None], new: Operand, span: Span) -> Operand:
    """`old` with the items selected by `axes` replaced."""
    positions: list[Position | None] = []
    shape: list[Size] = []
    for axis, entry in enumerate(axes):
        if entry is None:
            positions.append(None)
            shape.append(old.type.shape[axis])
            continue
        found = position(ctx, entry, old.type.shape[axis], span) if isinstance(entry, Operand) else None
        if found is None:
            return ctx.builder.poison(span)
        positions.append(found)
        shape.extend(found.operand.type.shape)
    shape.extend(old.type.shape[len(axes) :])
    positions.extend([None] * (old.type.rank - len(axes)))
    if new.type.rank:
        if new.type.rank != len(shape):
            return ctx.error("E101", f"a selection of rank {len(shape)} cannot be replaced by {show_type(new.type)}", span)
        for a, b in zip(shape, new.type.shape, strict=True):
            fact = SizeFact(Relation.EQUAL, a, b)
            if not ctx.builder.require(Obligation(fact, "E101", span, f"{a} places are replaced by {b} values")):
                return ctx.builder.poison(span)
    joint = combine.joint_element(ctx, [old.type.element, new.type.element])
    if joint is None:
        return ctx.error(
            "E300",
            "the array and its new items mix text and numbers",
            span,
            labels=(Label(span, f"{show_type(old.type)} with {show_type(new.type)}"),),
        )
    base, value = cast(ctx, old, joint, span), cast(ctx, new, joint, span)
    indices = tuple([None if p is None else p.operand.value for p in positions])
    checked = any(p is not None and p.checked for p in positions)
    type_ = ArrayType(plain(joint), old.type.shape)
    return ctx.builder.emit(lambda result: Update(result, base.value, indices, value.value, checked), type_, span)


# ------------------------------------------------------------------------------------- cells


def major_cell(ctx: Context, x: Operand, i: int, span: Span) -> Operand:
    """Major cell i (counted from 0) of an array known to have it."""
    at = ctx.builder.literal((i,), ArrayType(Element(Kind.I64, i, i), ()), span)
    return select(ctx, x, Position(at, False), 0, span)


def major_cells(ctx: Context, x: Operand, wanted: int, span: Span) -> tuple[Value, ...]:
    """`(a b) ← x`: the major cells of an array whose leading size is the number of names (E105)."""
    if x.type.rank == 0:
        poison: Value = ctx.error("E105", f"this takes {wanted} names from a scalar", span)
        return (poison,) * wanted
    if ctx.builder.equal(x.type.shape[0], number(wanted)) is not True:
        poison = ctx.error("E105", f"this takes {wanted} names from {x.type.shape[0]} cells", span, label=show_type(x.type))
        return (poison,) * wanted
    return tuple([major_cell(ctx, x, i, span) for i in range(wanted)])


def take_first(ctx: Context, x: Operand, count: int, span: Span) -> Operand:
    """The first `count` major cells of an array known to have them."""
    type_ = ArrayType(x.type.element, (number(count), *x.type.shape[1:]))
    return ctx.builder.emit(lambda result: Slice(result, x.value, (ZERO,)), type_, span)
