"""What the rules share: element checks, shapes and cells, filled elements; sizes and axes that are arguments: `static_arguments`.

Every helper reports its own error on the builder and then returns None; the rule answers with `b.poison(span)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ...lang.codes import Code
from ...lang.diagnostics import Edit, Fix, Label
from ...lang.source import Span
from ..builder import Builder
from ..core import Gather, Payload, Reshape, Spread, Transpose
from ..display import show_type
from ..elements import Element, Kind, fits, integer_range, joint, limits, strong
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, Value
from ..sizes import ONE, ZERO, Size, maximum, product
from ..types import ArrayType

MonadicRule: TypeAlias = Callable[[Builder, Operand, Operand | None, Span], Value]
DyadicRule: TypeAlias = Callable[[Builder, Operand, Operand, Operand | None, Span], Value]


# -------------------------------------------------------------------------------- elements


def require_numbers(b: Builder, x: Operand, span: Span) -> bool:
    """E300 unless x is numeric (bool included)."""
    if x.type.element.kind is Kind.CHAR:
        b.error(Code.E300, f"`{b.glyph}` needs numbers; this is text", span, labels=(label(b, x),))
        return False
    return True


def label(b: Builder, x: Operand) -> Label:
    """Where an operand comes from, and its type."""
    return Label(b.where(x), show_type(x.type))


def is_boolean(element: Element) -> bool:
    """bool, or integers known to be 0 or 1."""
    return element.kind is Kind.BOOL or (element.below is None and element.kind.is_integer and fits(element, Kind.BOOL))


def as_bool(b: Builder, x: Operand, span: Span) -> Operand | None:
    """x as bool; E303 unless it is one or its integers are known to be 0 or 1."""
    y = b.to_number(x, span)
    if is_boolean(y.type.element) or (ZERO in y.type.shape and y.type.element.kind is not Kind.CHAR):
        made = b.convert(y, Kind.BOOL, span)
        b.sizes.share(made.value, x.value)
        return made
    place = b.where(x)
    text = b.text(place) if b.wording.uses.get(x.value) == place else ""
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    if x.type.element.kind is not Kind.CHAR:
        notes = () if text else ("compare it: `x≠0`",)
        fixes = (Fix(f"compare it: `0≠{text}`", (Edit(place, f"(0≠{text})"),)),) if text else ()
    b.error(Code.E303, f"`{b.glyph}` needs a bool here, but this is {show_type(x.type)}", place, notes=notes, fixes=fixes)
    return None


def require_integers(b: Builder, x: Operand, span: Span, what: str) -> bool:
    """E300 unless x holds integers, positions or bools."""
    kind = x.type.element.kind
    if kind.is_integer or kind is Kind.BOOL or ZERO in x.type.shape:
        return True
    b.error(Code.E300, f"{what} must be whole numbers, but this is {show_type(x.type)}", span, labels=(label(b, x),))
    return False


def common(b: Builder, items: Sequence[Operand], span: Span, mixed: str) -> tuple[Operand, ...] | None:
    """Operands converted to their promoted element; positions stay so if all are.  E300 when text meets numbers."""
    if not all(x.type.element.below is not None for x in items):
        items = [b.to_number(x, span) for x in items]
    element = joint([x.type.element for x in items])
    if element is None:
        b.error(Code.E300, mixed, span, labels=tuple(label(b, x) for x in items))
        return None
    if any(not fit_weak(b, x, element.kind, span) for x in items):
        return None
    return tuple(x if x.type.element.below is not None else b.convert(x, element.kind, span) for x in items)


def joint_element(items: Sequence[Operand]) -> Element:
    """The promoted element of operands that `common` accepted, with its range; not weak."""
    element = joint([x.type.element for x in items])
    assert element is not None
    return strong(element)


def fit_weak(b: Builder, x: Operand, kind: Kind, span: Span) -> bool:
    """E302 when a literal is known not to fit the integer kind it meets."""
    element = x.type.element
    if not element.weak or kind not in (Kind.U8, Kind.I32) or element.kind not in (Kind.I64, Kind.BOOL):
        return True
    low, high = integer_range(element)
    bottom, top = limits(kind) or (0, 0)
    bad = low if low is not None and low < bottom else high if high is not None and high > top else None
    if bad is None or (low is None or high is None):
        return True
    shown = f"¯{-bad}" if bad < 0 else str(bad)
    b.error(Code.E302, f"{shown} does not fit {kind.value} ({show_number(bottom)}..{top})", span,
            notes=(f"convert the other side: `i64 x`, or write `{kind.value}` of a number that fits",))  # fmt: skip
    return False


def show_number(value: int) -> str:
    return f"¯{-value}" if value < 0 else str(value)


def with_static(x: Operand, static: Size | tuple[Size, ...] | None, *sources: Operand) -> Operand:
    """x known to equal these sizes; weak if all that it was computed from is."""
    if static is None:
        return x
    weak = all(source.type.element.weak for source in sources)
    return replace(x, static=static, type=replace(x.type, element=replace(x.type.element, weak=weak)))


# --------------------------------------------------------------------------- shapes and cells


def reshaped(b: Builder, x: Operand, shape: Sequence[Size], span: Span) -> Operand:
    """The same elements in another shape of as many (a view)."""
    target = tuple(shape)
    if target == x.type.shape:
        return x
    constant = x.constant
    return b.emit(lambda r: Reshape(r, x.value), ArrayType(strong(x.type.element), target), span, constant=constant)


def spread(b: Builder, x: Operand, axes: Sequence[int], shape: Sequence[Size], span: Span) -> Operand:
    """x replicated along new axes: its axis i is result axis axes[i]."""
    if tuple(axes) == tuple(range(len(shape))) and tuple(shape) == x.type.shape:
        return x
    constant = x.constant * known if not axes and x.constant and (known := _small_count(shape)) is not None else None
    named = tuple(axes)
    return b.emit(lambda r: Spread(r, x.value, named), ArrayType(strong(x.type.element), tuple(shape)), span, constant=constant)


def _small_count(shape: Sequence[Size]) -> int | None:
    count = product(shape).constant
    return count if count is not None and count <= 4096 else None


def transposed(b: Builder, x: Operand, axes: Sequence[int], span: Span) -> Operand:
    """Axis i becomes axis axes[i] (distinct)."""
    order = tuple(axes)
    if order == tuple(range(len(order))):
        return x
    shape = list(x.type.shape)
    for i, to in enumerate(order):
        shape[to] = x.type.shape[i]
    return b.emit(lambda r: Transpose(r, x.value, order), ArrayType(strong(x.type.element), tuple(shape)), span)


def item_of(b: Builder, x: Operand, index: int, span: Span) -> Operand:
    """Major cell `index` of x, known to be in range."""
    at = b.literal((index,), ArrayType(Element(Kind.I64, index, index, weak=True), ()), span)
    constant = None
    if x.constant is not None and x.type.rank == 1:
        constant = (x.constant[index],)
    static = x.static[index] if isinstance(x.static, tuple) else None
    type = ArrayType(strong(x.type.element), x.type.shape[1:])
    made = b.emit(lambda r: Gather(r, x.value, at.value, 0, checked=False), type, span, constant=constant)
    return with_static(made, static, x)


def one_item(x: Operand) -> bool:
    """A scalar, or a vector known to have one item (APL accepts it where a scalar is wanted)."""
    return x.type.rank == 0 or (x.type.rank == 1 and x.type.shape[0] == ONE)


def to_scalar(b: Builder, x: Operand, span: Span) -> Operand:
    """A one-item array as a scalar."""
    if x.type.rank == 0:
        return x
    made = b.emit(lambda r: Reshape(r, x.value), ArrayType(x.type.element, ()), span, constant=x.constant)
    static = x.static[0] if isinstance(x.static, tuple) and x.static else None
    return with_static(made, static, x)


def to_vector(b: Builder, x: Operand, span: Span) -> Operand:
    """A scalar as a vector of one item."""
    if x.type.rank:
        return x
    made = b.emit(lambda r: Reshape(r, x.value), ArrayType(x.type.element, (ONE,)), span, constant=x.constant)
    return with_static(made, (x.static,), x) if isinstance(x.static, Size) else made


def filled(b: Builder, x: Operand, span: Span) -> Operand:
    """x where a fill may be inserted: positions stay positions only if 0 is one (language.md, Details).

    With index origin 1 they become numbers, because APL's fill is the number 0, which is then no position."""
    below = x.type.element.below
    if below is None or (b.index_origin == 0 and b.at_most(ONE, below)):
        return x
    return b.to_number(x, span)


def filled_element(element: Element) -> Element:
    """The element with 0 in its range."""
    low = None if element.low is None else min(element.low, 0)
    high = None if element.high is None else max(element.high, 0)
    most = None if element.most is None else maximum(0, element.most)
    return replace(element, low=low, high=high, most=most, weak=False)


def constant_array(b: Builder, value: Payload, element: Element, shape: Sequence[Size], span: Span) -> Operand:
    """An array of one value."""
    one = b.literal((value,), ArrayType(element, ()), span)
    return spread(b, one, (), shape, span) if shape else one


def text_and_numbers(x: Operand, y: Operand) -> bool:
    """Does exactly one of them hold text?"""
    return (x.type.element.kind is Kind.CHAR) != (y.type.element.kind is Kind.CHAR)


def require_rank(b: Builder, x: Operand, least: int, span: Span) -> bool:
    """E131 unless x has at least `least` axes."""
    if x.type.rank >= least:
        return True
    b.error(Code.E131, f"`{b.glyph}` needs at least rank {least}, but this has rank {x.type.rank}", span, labels=(label(b, x),))
    return False


def require_equal(b: Builder, left: Size, right: Size, code: Code, span: Span, message: str, *values: Operand) -> bool:
    """An equality obligation with the operands' types as labels."""
    if left == right:
        return True
    return b.require(Obligation(SizeFact(Relation.EQUAL, left, right), code, span, message, tuple(label(b, v) for v in values)))
