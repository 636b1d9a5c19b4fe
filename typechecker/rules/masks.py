"""`/ ⌿ \\ ⍀` as functions, and monadic `⍸`: compress, replicate, expand, where.

A mask that is not a literal gives a run-time size, one for each mask value.  Literal counts give
static sizes: they become a gather with literal indices, -1 standing for a fill.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Compress, Expand, Gather, Iota, Reshape, Where
from ..display import show_type
from ..elements import Element, Kind, strong
from ..operands import Operand, Value
from ..sizes import ONE, ZERO, Size, number, product, variable
from ..types import ArrayType
from .common import (
    as_bool,
    constant_array,
    filled,
    filled_element,
    label,
    one_item,
    require_equal,
    require_rank,
    reshaped,
    spread,
    to_scalar,
    to_vector,
    with_static,
)
from .shape import fill_of
from .static_arguments import axis_index, no_axis, require_natural, static_integers, static_sizes, whole_numbers  # fmt: skip

MOST_COUNTS = 4096


def compress(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`m/x m⌿x`: by a bool mask (run-time size) or literal counts (static size)."""
    prepared = _prepared(b, left, right, axis, span)
    if prepared is None:
        return b.poison(span)
    left, at, counts = prepared
    if counts is not None:
        return replicate(b, left, counts, right, at, span)
    sizes = static_sizes(b, left) if one_item(left) and left.type.element.kind is not Kind.BOOL else None
    if sizes is not None and left.static is not None:
        if not require_natural(b, sizes, span, "a count"):
            return b.poison(span)
        return repeat_each(b, to_vector(b, right, span), sizes[0], at, span)
    mask = as_bool(b, left, span)
    return b.poison(span) if mask is None else by_mask(b, mask, right, at, span)


def _prepared(
    b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span
) -> tuple[Operand, int, tuple[int, ...] | None] | None:  # fmt: skip
    """The mask or the counts, the axis, and the counts if they are literal; None after an error."""
    left, rank = whole_numbers(b, left, span), max(right.type.rank, 1)
    at = axis_index(b, axis, rank - 1 if b.glyph in "/\\" else 0, rank, span)
    if at is None:
        return None
    if left.type.rank > 1:
        message = f"the left argument of `{b.glyph}` must be a vector or a scalar, but this is {show_type(left.type)}"
        b.error(Code.E131, message, span, labels=(label(b, left),))
        return None
    return left, at, _counts(b, left)


def _counts(b: Builder, left: Operand) -> tuple[int, ...] | None:
    """Literal counts: integers (or 0 and 1, of which many are a mask like any other) written in the program."""
    kind = left.type.element.kind
    if not (kind.is_integer or kind is Kind.BOOL or left.type.shape == (ZERO,)):
        return None
    counts = static_integers(b, left)
    return None if counts is not None and kind is Kind.BOOL and sum(counts) > MOST_COUNTS * 256 else counts


def by_mask(b: Builder, mask: Operand, right: Operand, axis: int, span: Span) -> Operand:
    """Cells of `right` along `axis` where the bool `mask` holds (a scalar mask serves every cell)."""
    x = right
    if x.type.rank == 0:
        x = spread(b, x, (), mask.type.shape or (ONE,), span)
    length = x.type.shape[axis]
    if one_item(mask) and mask.type.shape != (length,):
        mask = spread(b, to_scalar(b, mask, span), (), (length,), span)
    message = f"this mask has {mask.type.shape[0]} elements, but the axis it selects from has {length}"
    if not require_equal(b, mask.type.shape[0], length, Code.E101, span, message, mask, right):
        return b.poison(span)
    size = b.mask_size(mask, length, span)
    shape = (*x.type.shape[:axis], variable(size), *x.type.shape[axis + 1 :])
    type = ArrayType(strong(x.type.element), shape)
    return b.emit(lambda r: Compress(r, mask.value, x.value, axis, size), type, span)


def replicate(b: Builder, left: Operand, counts: tuple[int, ...], right: Operand, axis: int, span: Span) -> Operand:
    """Each cell along `axis` as often as its literal count says; a negative count inserts fills."""
    x = right
    if left.type.rank == 0 or len(counts) == 1:
        x = to_vector(b, x, span)
        count, length = counts[0], x.type.shape[axis].constant
        if count >= 0 and (length is None or count * length > MOST_COUNTS * 256):
            return repeat_each(b, x, number(count), axis, span)
        if length is None:
            return _all_fills(b, x, -count, axis, span)
        counts = counts * length
    elif x.type.rank == 0 or x.type.shape[axis] == ONE:
        shape = list(x.type.shape) or [ONE]
        shape[axis] = number(len(counts))
        x = _extended(b, x, axis, shape, span)
    length_now = x.type.shape[axis]
    message = f"{len(counts)} counts meet an axis of {length_now}"
    if not require_equal(b, number(len(counts)), length_now, Code.E101, span, message, left, right):
        return b.poison(span)
    if sum(abs(c) for c in counts) > MOST_COUNTS * 256:
        return b.error(Code.E702, "this replication is too large to write out", span)
    indices = [i if c > 0 else -1 for i, c in enumerate(counts) for _ in range(abs(c))]
    made = pick_cells(b, x, indices, axis, span)
    if left.type.element.kind is Kind.BOOL and not made.poisoned:
        b.note(made, selected=b.where(left))
    return made


def _extended(b: Builder, x: Operand, axis: int, shape: Sequence[Size], span: Span) -> Operand:
    """A scalar, or an axis of length 1, replicated along `axis`."""
    if x.type.rank == 0:
        return spread(b, x, (), shape, span)
    rest = [s for at, s in enumerate(x.type.shape) if at != axis]
    return spread(b, reshaped(b, x, rest, span), [at for at in range(len(shape)) if at != axis], shape, span)


def pick_cells(b: Builder, x: Operand, indices: Sequence[int], axis: int, span: Span) -> Operand:
    """Cells of x along `axis` at literal positions; -1 is a fill."""
    fills = any(i < 0 for i in indices)
    y = filled(b, x, span) if fills else x
    element = filled_element(y.type.element) if fills else strong(y.type.element)
    shape = (*y.type.shape[:axis], number(len(indices)), *y.type.shape[axis + 1 :])
    at = b.literal(tuple(indices), ArrayType(Element(Kind.I64), (number(len(indices)),)), span)
    constant = static = None
    if y.type.rank == 1 and len(indices) <= MOST_COUNTS:
        fill = fill_of(element.kind)
        constant = None if y.constant is None else tuple(y.constant[i] if i >= 0 else fill for i in indices)
        static = tuple(y.static[i] if i >= 0 else ZERO for i in indices) if isinstance(y.static, tuple) else None
    made = b.emit(lambda r: Gather(r, y.value, at.value, axis, checked=False, fills=fills), ArrayType(element, shape), span,
                  constant=constant)  # fmt: skip
    return with_static(made, static, x)


def repeat_each(b: Builder, x: Operand, count: Size, axis: int, span: Span) -> Operand:
    """Every cell along `axis` `count` times, for any size `count`."""
    if count == ONE:
        return x
    length = x.type.shape[axis]
    doubled = (*x.type.shape[: axis + 1], count, *x.type.shape[axis + 1 :])
    places = [i if i <= axis else i + 1 for i in range(x.type.rank)]
    wide = spread(b, x, places, doubled, span)
    shape = (*x.type.shape[:axis], length * count, *x.type.shape[axis + 1 :])
    return b.emit(lambda r: Reshape(r, wide.value), ArrayType(strong(x.type.element), shape), span)


def _all_fills(b: Builder, x: Operand, count: int, axis: int, span: Span) -> Operand:
    y = filled(b, x, span)
    shape = (*y.type.shape[:axis], y.type.shape[axis] * count, *y.type.shape[axis + 1 :])
    return constant_array(b, fill_of(y.type.element.kind), filled_element(y.type.element), shape, span)


# ---------------------------------------------------------------------------------- expand


def expand(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`m\\x m⍀x`: cells of x go where the mask holds, fills elsewhere; literal counts repeat cells or insert fills."""
    prepared = _prepared(b, left, right, axis, span)
    if prepared is None:
        return b.poison(span)
    left, at, counts = prepared
    if counts is not None:
        return _expand_literal(b, left, counts, right, at, span)
    mask = as_bool(b, left, span)
    if mask is None:
        return b.poison(span)
    mask = to_vector(b, mask, span)
    x = right
    if x.type.rank == 0 or x.type.shape[at] == ONE:
        shape = list(x.type.shape) or [ONE]
        shape[at] = mask.type.shape[0]
        return _masked(b, mask, _extended(b, x, at, shape, span), at, span)
    y = filled(b, x, span)
    shape = [*y.type.shape[:at], mask.type.shape[0], *y.type.shape[at + 1 :]]
    checked = y.type.shape[at] != variable(b.mask_size(mask, mask.type.shape[0], span))
    type = ArrayType(filled_element(y.type.element), tuple(shape))
    return b.emit(lambda r: Expand(r, mask.value, y.value, at, checked), type, span)


def _masked(b: Builder, mask: Operand, x: Operand, axis: int, span: Span) -> Operand:
    """x where the mask along `axis` holds, fills elsewhere."""
    y = filled(b, x, span)
    element = filled_element(y.type.element)
    fill = constant_array(b, fill_of(element.kind), element, (), span)
    wide = spread(b, mask, (axis,), y.type.shape, span) if y.type.rank > 1 else mask
    return b.scalar("select", (wide, y, fill), element, span)


def _expand_literal(b: Builder, left: Operand, counts: tuple[int, ...], right: Operand, axis: int, span: Span) -> Operand:
    x = to_vector(b, right, span)
    wanted = sum(1 for c in counts if c > 0)
    if x.type.shape[axis] == ONE and (right.type.rank == 0 or wanted != 1):
        x = _extended(b, x, axis, [number(wanted) if at == axis else s for at, s in enumerate(x.type.shape)], span)
    have = x.type.shape[axis]
    message = f"this mask holds {wanted} times, but the axis has {have} cells"
    if not require_equal(b, number(wanted), have, Code.E201, span, message, left, right):
        return b.poison(span)
    indices: list[int] = []
    cell = 0
    for c in counts:
        indices += [cell] * c if c > 0 else [-1] * max(1, -c)
        cell += c > 0
    return pick_cells(b, x, indices, axis, span)


# ----------------------------------------------------------------------------------- where


def where(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍸m`: positions that hold, as many as the mask's own run-time size; literal counts repeat positions."""
    if not (no_axis(b, axis, span) and require_rank(b, x, 1, span)):
        return b.poison(span)
    if x.type.rank == 1:
        length = x.type.shape[0]
        counts = _counts(b, x)
        if counts is not None and all(c >= 0 for c in counts):
            positions = b.emit(lambda r: Iota(r), ArrayType(Element(Kind.I64, below=length), (length,)), span,
                               constant=tuple(range(len(counts))))  # fmt: skip
            indices = [i for i, c in enumerate(counts) for _ in range(c)]
            return pick_cells(b, positions, indices, 0, span)
    mask = as_bool(b, x, span)
    if mask is None:
        return b.poison(span)
    value, cells = mask.value, x.type.shape
    size = b.mask_size(mask, product(cells), span)
    if len(cells) == 1:
        type = ArrayType(Element(Kind.I64, below=cells[0]), (variable(size),))
        return b.emit(lambda r: Where(r, value, size), type, span)
    type = ArrayType(Element(Kind.I64), (variable(size), number(len(cells))))
    return add_origin(b, b.emit(lambda r: Where(r, value, size), type, span), span)


def add_origin(b: Builder, x: Operand, span: Span) -> Operand:
    """Positions held as plain i64 made numbers by adding the index origin."""
    if b.index_origin == 0:
        return x
    one = b.literal((b.index_origin,), ArrayType(Element(Kind.I64, b.index_origin, b.index_origin, weak=True), ()), span)
    return b.scalar("add", (x, one), Element(Kind.I64), span)
