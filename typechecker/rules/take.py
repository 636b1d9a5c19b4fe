"""`↑ ↓` dyadic and `↕`: take, drop and windows along leading axes, or along `[axes]`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Slice, Windows
from ..elements import strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..sizes import ONE, ZERO, Size, monus
from ..types import ArrayType
from .common import filled, filled_element, label, reshaped, with_static
from .shape import fill_of
from .static_arguments import check_axis, no_axis, require_natural, size_arguments, static_integers  # fmt: skip

_Item = TypeVar("_Item")


def take(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↑x`: the first k cells (the last for negative k), fills beyond the end."""
    return _part(b, left, right, axis, span, _taken)


def drop(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↓x`: without the first k cells (the last for negative k); `0⌈n-k` are left."""
    return _part(b, left, right, axis, span, _dropped)


def _taken(b: Builder, size: Size, count: Size, backwards: bool) -> tuple[Size, Size, bool]:
    """Where on an axis the part starts, how long it is, and whether it may go beyond the end."""
    return size - count if backwards else ZERO, count, not b.at_most(count, size)


def _dropped(b: Builder, size: Size, count: Size, backwards: bool) -> tuple[Size, Size, bool]:
    return ZERO if backwards else count, size - count if b.at_most(count, size) else monus(size, count), False


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
    """The array (a scalar takes the rank of the amounts) and one amount an axis, None where it is taken whole."""
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
    """Does the amount count from the end?  Its sign must be known; if not, it must not be negative (E202)."""
    if b.at_most(ZERO, amount):
        return False
    if b.at_most(amount, ZERO):
        return True
    return False if require_natural(b, (amount,), span, f"an amount of `{b.glyph}`") else None


def _slice(b: Builder, x: Operand, starts: list[Size], shape: list[Size], overtakes: bool, span: Span) -> Operand:
    if tuple(shape) == x.type.shape and all(s == ZERO for s in starts):
        return x
    y = filled(b, x, span) if overtakes else x
    element = filled_element(y.type.element) if overtakes else strong(y.type.element)
    while len(starts) > 1 and starts[-1] == ZERO and shape[len(starts) - 1] == y.type.shape[len(starts) - 1]:
        starts = starts[:-1]
    given = tuple(starts)
    constant, static = None, None
    begin, count = starts[0].constant, shape[0].constant
    if y.type.rank == 1 and begin is not None and count is not None and count <= 4096:
        constant = _sliced(y.constant, begin, count, fill_of(element.kind))
        static = _sliced(y.static, begin, count, ZERO) if isinstance(y.static, tuple) else None
    made = b.emit(lambda r: Slice(r, y.value, given), ArrayType(element, tuple(shape)), span, constant=constant)
    return with_static(made, static, x)


def _sliced(items: tuple[_Item, ...] | None, begin: int, count: int, fill: _Item) -> tuple[_Item, ...] | None:
    if items is None:
        return None
    return tuple(items[i] if 0 <= i < len(items) else fill for i in range(begin, begin + count))


def windows(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`k↕x`: every run of k cells, `(n-k)+1` of them; a vector windows the leading axes."""
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
    return b.emit(lambda r: Windows(r, right.value, count), ArrayType(strong(right.type.element), shape), span)
