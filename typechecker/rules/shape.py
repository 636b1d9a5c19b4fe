"""`⍴ ≢ , ⍪ ⌽ ⊖ ⍉ ⊣ ⊢`: shapes and views (join is in `join`)."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypeVar

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Payload, Reshape, Reverse, Rotate, Transpose
from ..elements import Kind, strong
from ..operands import Operand, Value
from ..sizes import ONE, ZERO, Size, minimum, product
from ..types import ArrayType
from .common import (
    filled,
    filled_element,
    label,
    one_item,
    require_equal,
    require_integers,
    require_numbers,
    reshaped,
    show_number,
    to_scalar,
    to_vector,
    transposed,
    with_static,
)
from .static_arguments import (  # fmt: skip
    axis_index,
    no_axis,
    require_natural,
    size_arguments,
    static_integer,
    static_integers,
    whole_numbers,
)

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
    """x's elements in another shape, of any number of elements."""
    if shape == x.type.shape:
        return x
    have, want = product(x.type.shape), product(shape)
    y, element = x, strong(x.type.element)
    if not (b.equal(have, want) or b.at_most(ONE, have)):
        y = filled(b, x, span)
        element = filled_element(y.type.element)
    count = want.constant
    constant = cycle(y.constant, count) if y.constant is not None and count is not None else None
    made = b.emit(lambda r: Reshape(r, y.value), ArrayType(element, shape), span, constant=constant)
    if len(shape) > 1 or count is None or count > 4096 or x.static is None:
        return made
    items = x.static if isinstance(x.static, tuple) else (x.static,)
    cycled = cycle(items, count)
    return made if cycled is None else with_static(made, cycled if shape else cycled[0], x)


def cycle(items: tuple[_Item, ...], count: int) -> tuple[_Item, ...] | None:
    """`count` items taken round and round; None if there are none or too many are wanted."""
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
    """Where `[k.5]` puts a new axis; None if the axis is not a fraction (or after E132)."""
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
    made = b.emit(lambda r: Reverse(r, x.value, at), type, span, constant=constant)
    return with_static(made, x.static[::-1] if isinstance(x.static, tuple) else None, x)


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
    if one_item(amount) and amount.type.shape != rest:
        amount = to_scalar(b, amount, span)
    if amount.type.rank and not _amounts_agree(b, amount, right, rest, span):
        return b.poison(span)
    by = static_integer(b, amount) if amount.type.rank == 0 else None
    constant = static = None
    if by is not None and right.type.rank == 1:
        constant = turned(right.constant, by)
        static = turned(right.static, by) if isinstance(right.static, tuple) else None
    type = replace(right.type, element=strong(right.type.element))
    if amount.type.rank:
        type = replace(type, permutation=False)
    made = b.emit(lambda r: Rotate(r, right.value, amount.value, at), type, span, constant=constant)
    return with_static(made, static, right)


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


def turned(items: tuple[_Item, ...] | None, by: int) -> tuple[_Item, ...] | None:
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
    given = static_integers(b, left)
    rank, origin = right.type.rank, b.index_origin
    if given is None:
        message = "the left argument of `⍉` must be axes known before the program runs"
        return b.error(Code.E132, message, span, labels=(label(b, left),))
    axes = tuple(a - origin for a in given)
    if len(axes) != rank:
        return b.error(Code.E132, f"`⍉` needs one axis for each of the {rank} axes, but {len(axes)} are given", span,
                       labels=(label(b, right),))  # fmt: skip
    for a in axes:
        if not 0 <= a < rank:
            there = f"axes {origin}..{rank - 1 + origin} exist" if rank else "a scalar has none"
            return b.error(
                Code.E132, f"there is no axis {show_number(a + origin)} here: {there}", span, labels=(label(b, right),)
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
