"""Typing rules of shapes, views, joins, take, drop and windows (`⍴ ≢ ≡ , ⍪ ⌽ ⊖ ⍉ ⊣ ⊢ ↑ ↓ ↕`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from ...lang.diagnostics.model import Code
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Join, Payload, Reshape, Reverse, Rotate, Slice, SlidingWindows, Stack, Transpose
from ..diagnostics import show_type
from ..elements import ArrayType, Kind, strong
from ..proof.obligations import Obligation, Relation, SizeFact
from ..sizes.polynomials import ONE, ZERO, Size, product
from ..sizes.size import minimum, truncated_subtract
from ..values.constant_folding import MOST_ITEMS
from ..values.facts import Operand, Value
from .argument_checks import (
    axis_index,
    check_axis,
    common,
    element_with_fill,
    is_one_item,
    joint_element,
    label,
    no_axis,
    require_equal,
    require_integers,
    require_natural,
    require_numbers,
    reshaped,
    show_number,
    size_arguments,
    spread,
    static_integer,
    static_integers,
    text_and_numbers,
    to_scalar,
    to_vector,
    transposed,
    whole_numbers,
    with_fill,
    with_static,
)

# ---------------------------------------------------------------------------------------------------- shape

_Item = TypeVar("_Item")


def identity(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⊢⍵ ⊣⍵ ↑⍵ ↓⍵ ⌷⍵`."""
    return x if no_axis(b, axis, span) else b.poison(span)


def left_argument(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    return left if no_axis(b, axis, span) else b.poison(span)


def right_argument(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    return right if no_axis(b, axis, span) else b.poison(span)


def depth(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`≡`: 0 for a scalar, else 1."""
    return b.size_value(ONE if x.type.rank else ZERO, span) if no_axis(b, axis, span) else b.poison(span)


def enlist(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`∊⍵`: as `,⍵`, since nothing nests."""
    return ravel(b, x, None, span) if no_axis(b, axis, span) else b.poison(span)


def tally(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`≢`: the leading size, 1 for a scalar; static."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    return b.size_value(x.type.shape[0] if x.type.rank else ONE, span)


def shape_of(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍴⍵`: the sizes as a static vector."""
    return b.size_vector(x.type.shape, span) if no_axis(b, axis, span) else b.poison(span)


def reshape(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`s⍴⍵`: cycles or truncates; an empty ⍵ gives fills."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    sizes = size_arguments(b, left, span, "the sizes of `⍴`")
    if sizes is None or not require_natural(b, sizes, span, "a size"):
        return b.poison(span)
    return reshape_to(b, right, sizes, span)


def reshape_to(b: Builder, x: Operand, shape: tuple[Size, ...], span: Span) -> Operand:
    """The elements of x in a shape with any number of elements, cycled or truncated."""
    if shape == x.type.shape:
        return x
    actual, required = product(x.type.shape), product(shape)
    y, element = x, strong(x.type.element)
    if not (b.equal(actual, required) or b.at_most(ONE, actual)):
        y = with_fill(b, x, span)
        element = element_with_fill(y.type.element)
    count = required.constant
    constant = cycle(y.constant, count) if y.constant is not None and count is not None else None
    reshape = b.emit(lambda r: Reshape(r, y.value), ArrayType(element, shape), span, constant=constant)
    if len(shape) > 1 or count is None or count > 4096 or x.static is None:
        return reshape
    items = x.static if isinstance(x.static, tuple) else (x.static,)
    cycled = cycle(items, count)
    return reshape if cycled is None else with_static(b, reshape, cycled if shape else cycled[0], x)


def cycle(items: tuple[_Item, ...], count: int) -> tuple[_Item, ...] | None:
    """`count` items, taken cyclically; None if there are none or `count` is too large."""
    if count > 4096 or (not items and count):
        return None
    return tuple(items[i % len(items)] for i in range(count))


def ravel(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`,⍵`; `,[a b]` merges adjacent axes, `,[k.5]` adds an axis of length 1."""
    if axis is None:
        if x.type.rank == 0:
            return to_vector(b, x, span)
        return x if x.type.rank == 1 else reshaped(b, x, (product(x.type.shape),), span)
    fraction = fractional_axis(b, axis, x.type.rank, span)
    if fraction is not None:
        shape = list(x.type.shape)
        shape.insert(fraction, ONE)
        return reshaped(b, x, shape, span)
    axes = static_integers(b, axis)
    if axes is None:
        return b.error(Code.E132, "the axes of `,` must be known before the program runs", span)
    picked = [a - b.index_origin for a in axes]
    if not picked:
        return reshaped(b, x, (*x.type.shape, ONE), span)
    if picked != list(range(picked[0], picked[0] + len(picked))) or picked[0] < 0 or picked[-1] >= x.type.rank:
        return b.error(Code.E132, f"`,[…]` merges adjacent axes in order; this array has rank {x.type.rank}", span)
    first, after = picked[0], picked[-1] + 1
    shape = [*x.type.shape[:first], product(x.type.shape[first:after]), *x.type.shape[after:]]
    return reshaped(b, x, shape, span)


def fractional_axis(b: Builder, axis: Operand, rank: int, span: Span) -> int | None:
    """The position of the new axis of `[k.5]`; None if the axis is not a fraction, or after E132."""
    if axis.type.element.kind is not Kind.F64 or axis.constant is None or len(axis.constant) != 1:
        return None
    value = axis.constant[0]
    if not isinstance(value, float) or value == int(value):
        return None
    at = math.ceil(value) - b.index_origin
    if 0 <= at <= rank:
        return at
    b.error(Code.E132, f"there is no place for a new axis at {value} in an array of rank {rank}", span)
    return 0


def table(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍪⍵`: a matrix whose rows are the ravelled major cells."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    if x.type.rank == 0:
        return reshaped(b, x, (ONE, ONE), span)
    return reshaped(b, x, (x.type.shape[0], product(x.type.shape[1:])), span)


# --------------------------------------------------------------------------- reverse, rotate


def reverse(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⌽ ⊖`: along the last or the first axis."""
    if x.type.rank == 0 and axis is None:
        return x
    at = axis_index(b, axis, x.type.rank - 1 if b.glyph == "⌽" else 0, x.type.rank, span)
    if at is None:
        return b.poison(span)
    vector = x.type.rank == 1
    constant = x.constant[::-1] if vector and x.constant is not None else None
    type = replace(x.type, element=strong(x.type.element))
    reversed_ = b.emit(lambda r: Reverse(r, x.value, at), type, span, constant=constant)
    return with_static(b, reversed_, x.static[::-1] if isinstance(x.static, tuple) else None, x)


def rotate(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k⌽⍵ k⊖⍵`: k is a scalar or has ⍵'s shape without the axis."""
    left = whole_numbers(b, left, span)
    if not (require_numbers(b, left, span) and require_integers(b, left, span, "the amounts of a rotation")):
        return b.poison(span)
    if right.type.rank == 0 and axis is None:
        return right
    at = axis_index(b, axis, right.type.rank - 1 if b.glyph == "⌽" else 0, right.type.rank, span)
    if at is None:
        return b.poison(span)
    amount = b.convert(b.to_number(left, span), Kind.I64, span)
    rest = (*right.type.shape[:at], *right.type.shape[at + 1 :])
    if is_one_item(amount) and amount.type.shape != rest:
        amount = to_scalar(b, amount, span)
    if amount.type.rank and not _amounts_agree(b, amount, right, rest, span):
        return b.poison(span)
    by = static_integer(b, amount) if amount.type.rank == 0 else None
    constant = static = None
    if by is not None and right.type.rank == 1:
        constant = rotated_left(right.constant, by)
        static = rotated_left(right.static, by) if isinstance(right.static, tuple) else None
    type = replace(right.type, element=strong(right.type.element))
    if amount.type.rank:
        type = replace(type, permutation=False)
    rotated = b.emit(lambda r: Rotate(r, right.value, amount.value, at), type, span, constant=constant)
    return with_static(b, rotated, static, right)


def _amounts_agree(b: Builder, amount: Operand, x: Operand, rest: tuple[Size, ...], span: Span) -> bool:
    if amount.type.rank != len(rest):
        message = f"the amounts of this rotation have rank {amount.type.rank}; the array without that axis has rank {len(rest)}"
        b.error(Code.E101, message, span, labels=(label(b, amount), label(b, x)))
        return False
    good = True
    for mine, theirs in zip(amount.type.shape, rest, strict=True):
        message = f"a rotation needs one amount a line: {mine} amounts meet {theirs} lines"
        good = require_equal(b, mine, theirs, Code.E101, span, message, amount, x) and good
    return good


def rotated_left(items: tuple[_Item, ...] | None, by: int) -> tuple[_Item, ...] | None:
    """A tuple rotated left."""
    if not items:
        return items
    by %= len(items)
    return items[by:] + items[:by]


# --------------------------------------------------------------------------------- transpose


def transpose(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍉⍵`: the axes in reverse order."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    return transposed(b, x, tuple(reversed(range(x.type.rank))), span)


def reorder(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`p⍉⍵`: axis i of ⍵ becomes axis p[i]; a repeated axis takes the diagonal."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    new_axes = static_integers(b, left)
    rank, origin = right.type.rank, b.index_origin
    if new_axes is None:
        message = "the left argument of `⍉` must be axes known before the program runs"
        return b.error(Code.E132, message, span, labels=(label(b, left),))
    axes = tuple(a - origin for a in new_axes)
    if len(axes) != rank:
        return b.error(Code.E132, f"`⍉` needs one axis for each of the {rank} axes, but {len(axes)} are given", span,
                       labels=(label(b, right),))  # fmt: skip
    for a in axes:
        if not 0 <= a < rank:
            valid_axes = f"axes {origin}..{rank - 1 + origin} exist" if rank else "a scalar has none"
            return b.error(
                Code.E132, f"there is no axis {show_number(a + origin)} here: {valid_axes}", span, labels=(label(b, right),)
            )
    count = len(set(axes))
    missing = next((a for a in range(count) if a not in axes), None)
    if missing is not None:
        return b.error(Code.E132, f"the result's axis {missing + origin} is named by no axis of the array", span)
    if count == rank:
        return transposed(b, right, axes, span)
    shape = [minimum(*(s for s, to in zip(right.type.shape, axes, strict=True) if to == a)) for a in range(count)]
    type = ArrayType(strong(right.type.element), tuple(shape))
    return b.emit(lambda r: Transpose(r, right.value, axes), type, span)


def fill_of(kind: Kind) -> Payload:
    """The fill of a kind."""
    if kind is Kind.CHAR:
        return " "
    if kind is Kind.BOOL:
        return False
    return 0j if kind.is_complex else 0.0 if kind.is_float else 0


# ---------------------------------------------------------------------------------------------------- join
#
# `, ⍪` dyadic: join along an axis, lamination, and the join that set functions use.

def join(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x,y` along the last axis, `x⍪y` along the first, `x,[k]y` along k, `x,[k.5]y` along a new one."""
    rank = max(left.type.rank, right.type.rank)
    if axis is not None:
        between = fractional_axis(b, axis, rank, span)
        if between is not None:
            return laminate(b, left, right, between, span)
    if rank == 0 and axis is None:
        return join_along(b, to_vector(b, left, span), to_vector(b, right, span), 0, span)
    at = axis_index(b, axis, rank - 1 if b.glyph == "," else 0, rank, span)
    return b.poison(span) if at is None else join_along(b, left, right, at, span)


def join_along(b: Builder, left: Operand, right: Operand, axis: int, span: Span) -> Operand:
    """Join along an axis of the higher rank; an argument of one rank less is one cell, a scalar is replicated to one."""
    if text_and_numbers(left, right):
        nothing = next((i for i, x in enumerate((left, right)) if x.type.rank == 1 and x.type.shape[0] == ZERO), None)
        if nothing is not None and max(left.type.rank, right.type.rank) == 1:
            return to_vector(b, (right, left)[nothing], span)
    both = common(b, (left, right), span, f"`{b.glyph}` joins text with text or numbers with numbers")
    if both is None:
        return b.poison(span)
    element = joint_element(b, both)
    rank = max(x.type.rank for x in both)
    if abs(both[0].type.rank - both[1].type.rank) > 1 and min(x.type.rank for x in both) > 0:
        return b.error(Code.E103, f"arrays of rank {both[0].type.rank} and {both[1].type.rank} cannot be joined: "
                       "ranks may differ by one at most", span, labels=(label(b, left), label(b, right)))  # fmt: skip
    target = next(x.type.shape for x in both if x.type.rank == rank)
    x, y = (_as_cells(b, v, rank, axis, target, span) for v in both)
    for at in range(rank):
        if at == axis:
            continue
        mine, theirs = x.type.shape[at], y.type.shape[at]
        message = f"only axis {axis} may differ in this join: {mine} meets {theirs} on axis {at}"
        if not require_equal(b, mine, theirs, Code.E103, span, message, left, right):
            return b.poison(span)
    length = x.type.shape[axis] + y.type.shape[axis]
    shape = (*x.type.shape[:axis], length, *x.type.shape[axis + 1 :])
    constant = _joined(x.constant, y.constant) if rank == 1 else None
    values = (x.value, y.value)
    joined = b.emit(lambda r: Join(r, values, axis), ArrayType(element, shape), span, constant=constant)
    covers = b.facts_of(left).covers or b.facts_of(right).covers
    if covers is not None:
        b.add_facts(joined, covers=covers)
    statics = [v.static for v in both]
    if sum([len(s) if isinstance(s, tuple) else 1 for s in statics]) > MOST_ITEMS:
        return joined
    if rank != 1 or any(s is None for s in statics) or element.kind is not Kind.I64 or element.index_bound is not None:
        return joined
    items = tuple(item for s in statics for item in (s if isinstance(s, tuple) else (s,)) if item is not None)
    return with_static(b, joined, items, *both)


def _joined(x: tuple[Payload, ...] | None, y: tuple[Payload, ...] | None) -> tuple[Payload, ...] | None:
    return None if x is None or y is None or len(x) + len(y) > MOST_ITEMS else x + y


def _as_cells(b: Builder, x: Operand, rank: int, axis: int, target: tuple[Size, ...], span: Span) -> Operand:
    """x with the result's rank: a cell gets an axis of length 1, a scalar is replicated."""
    if x.type.rank == rank:
        return x
    if x.type.rank == 0:
        shape = [ONE if at == axis else s for at, s in enumerate(target)]
        return to_vector(b, x, span) if rank == 1 else spread(b, x, (), shape, span)
    return reshaped(b, x, (*x.type.shape[:axis], ONE, *x.type.shape[axis:]), span)


def laminate(b: Builder, left: Operand, right: Operand, axis: int, span: Span) -> Operand:
    """Both arrays (a scalar extends) as the two cells of a new axis."""
    both = common(b, (left, right), span, f"`{b.glyph}` joins text with text or numbers with numbers")
    if both is None:
        return b.poison(span)
    element = joint_element(b, both)
    x, y = both
    if x.type.rank == 0 and y.type.rank:
        x = spread(b, x, (), y.type.shape, span)
    elif y.type.rank == 0 and x.type.rank:
        y = spread(b, y, (), x.type.shape, span)
    if x.type.rank != y.type.rank:
        return b.error(Code.E103, f"lamination needs equal shapes: {show_type(x.type)} and {show_type(y.type)}", span)
    for mine, theirs in zip(x.type.shape, y.type.shape, strict=True):
        if not require_equal(
            b, mine, theirs, Code.E103, span, f"lamination needs equal shapes: {mine} meets {theirs}", left, right
        ):
            return b.poison(span)
    shape = (*x.type.shape[:axis], ONE + ONE, *x.type.shape[axis:])
    values = (x.value, y.value)
    return b.emit(lambda r: Stack(r, values, axis), ArrayType(element, shape), span)


# ---------------------------------------------------------------------------------------------------- take
#
# `↑ ↓` dyadic and `↕`: take, drop and windows along leading axes, or along `[axes]`.

_TakeItem = TypeVar("_TakeItem")


def take(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↑x`: the first k cells (the last ones for negative k), with fills beyond the end."""
    return _part(b, left, right, axis, span, _taken)


def drop(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↓x`: x without the first k cells (the last ones for negative k), which has `0⌈n-k` cells."""
    return _part(b, left, right, axis, span, _dropped)


def _taken(b: Builder, size: Size, count: Size, backwards: bool) -> tuple[Size, Size, bool]:
    """(start, length, may it reach beyond the end?) of a take on one axis."""
    return size - count if backwards else ZERO, count, not b.at_most(count, size)


def _dropped(b: Builder, size: Size, count: Size, backwards: bool) -> tuple[Size, Size, bool]:
    return ZERO if backwards else count, size - count if b.at_most(count, size) else truncated_subtract(size, count), False


def _part(
    b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span,
    along: Callable[[Builder, Size, Size, bool], tuple[Size, Size, bool]],
) -> Operand:  # fmt: skip
    planned = _plan(b, left, right, axis, span)
    if planned is None:
        return b.poison(span)
    x, amounts = planned
    parts: list[tuple[Size, Size, bool]] = []
    for amount, size in zip(amounts, x.type.shape, strict=True):
        backwards = amount is not None and _is_backwards(b, amount, span)
        if backwards is None:
            return b.poison(span)
        count = size if amount is None else -amount if backwards else amount
        parts.append((ZERO, size, False) if amount is None else along(b, size, count, backwards))
    starts, shape = [start for start, _, _ in parts], [length for _, length, _ in parts]
    return _slice(b, x, starts, shape, any(beyond for _, _, beyond in parts), span)


def _plan(
    b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span
) -> tuple[Operand, list[Size | None]] | None:  # fmt: skip
    """The array (a scalar gets as many axes as there are amounts) and one amount for each axis, None for a whole axis."""
    given = size_arguments(b, left, span, f"the amounts of `{b.glyph}`")
    if given is None:
        return None
    x = right
    if x.type.rank == 0 and axis is None:
        x = reshaped(b, x, (ONE,) * len(given), span)
    rank = x.type.rank
    axes = list(range(len(given)))
    if axis is not None:
        named = static_integers(b, axis)
        if named is None:
            b.error(Code.E132, f"the axes of `{b.glyph}` must be known before the program runs", span)
            return None
        axes = [a - b.index_origin for a in named]
        if any(check_axis(b, a, rank, span) is None for a in axes):
            return None
        if len(axes) != len(given) or len(set(axes)) != len(axes):
            b.error(Code.E132, f"`{b.glyph}` needs one amount for each axis named, each once", span)
            return None
    elif len(given) > rank:
        b.error(Code.E131, f"{len(given)} amounts are given, but the array has rank {rank}", span, labels=(label(b, right),))
        return None
    amounts: list[Size | None] = [None] * rank
    for at, amount in zip(axes, given, strict=True):
        amounts[at] = amount
    return x, amounts


def _is_backwards(b: Builder, amount: Size, span: Span) -> bool | None:
    """Does the amount count from the end?  An amount of unknown sign is required not to be negative (E202)."""
    if b.at_most(ZERO, amount):
        return False
    if b.at_most(amount, ZERO):
        return True
    return False if require_natural(b, (amount,), span, f"an amount of `{b.glyph}`") else None


def _slice(b: Builder, x: Operand, starts: list[Size], shape: list[Size], overtakes: bool, span: Span) -> Operand:
    if tuple(shape) == x.type.shape and all(s == ZERO for s in starts):
        return x
    y = with_fill(b, x, span) if overtakes else x
    element = element_with_fill(y.type.element) if overtakes else strong(y.type.element)
    while len(starts) > 1 and starts[-1] == ZERO and shape[len(starts) - 1] == y.type.shape[len(starts) - 1]:
        starts = starts[:-1]
    given = tuple(starts)
    constant, static = None, None
    begin, count = starts[0].constant, shape[0].constant
    if y.type.rank == 1 and begin is not None and count is not None and count <= 4096:
        constant = _sliced(y.constant, begin, count, fill_of(element.kind))
        static = _sliced(y.static, begin, count, ZERO) if isinstance(y.static, tuple) else None
    sliced = b.emit(lambda r: Slice(r, y.value, given), ArrayType(element, tuple(shape)), span, constant=constant)
    return with_static(b, sliced, static, x)


def _sliced(items: tuple[_TakeItem, ...] | None, begin: int, count: int, fill: _TakeItem) -> tuple[_TakeItem, ...] | None:
    if items is None:
        return None
    return tuple(items[i] if 0 <= i < len(items) else fill for i in range(begin, begin + count))


def windows(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↕x`: the `(n-k)+1` windows of k cells; a vector gives the windows of several leading axes."""
    if not no_axis(b, axis, span):
        return b.poison(span)
    sizes = size_arguments(b, left, span, "the window sizes of `↕`")
    if sizes is None:
        return b.poison(span)
    if len(sizes) > right.type.rank:
        return b.error(Code.E131, f"{len(sizes)} window sizes are given, but the array has rank {right.type.rank}", span,
                       labels=(label(b, right),))  # fmt: skip
    counts = []
    for k, n in zip(sizes, right.type.shape, strict=False):
        may = "do" if k.constant is not None and n.constant is not None else "may"
        for low, high, message in ((ONE, k, f"a window must hold at least one cell, but this is {k}" if k.constant is not None
                                    else f"a window must hold at least one cell, but {k} may be 0"),
                                   (k, n, f"windows of {k} cells {may} not fit an axis of {n}")):  # fmt: skip
            if not b.require(Obligation(SizeFact(Relation.AT_MOST, low, high), Code.E202, span, message)):
                return b.poison(span)
        counts.append(n - k + 1)
    if not sizes:
        return right
    shape = (*counts, *sizes, *right.type.shape[len(sizes) :])
    count = len(sizes)
    return b.emit(lambda r: SlidingWindows(r, right.value, count), ArrayType(strong(right.type.element), shape), span)
