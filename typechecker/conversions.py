"""The builder's conversions and element-wise application (a mixin of `Builder`).

Positions (`idx<n>`) are stored from 0.  `to_number` is the only place that adds the index origin and
`to_position` the only one that subtracts it.  Conversions keep singletons and ranges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..lang.source import Span
from .core import Literal, Payload, Scalar, ValueId
from .core_blocks import Op
from .elements import Element, Kind, fits, integer_range, limits, ranged
from .folding import fold
from .operands import Operand
from .sizes import Size
from .types import ArrayType
from .wording import Wording


class Conversions:
    index_origin: int
    wording: Wording

    if TYPE_CHECKING:

        def where(self, x: Operand) -> Span: ...

        def emit(
            self, make: Callable[[ValueId], Op], type: ArrayType, span: Span, *, static: Size | tuple[Size, ...] | None = None,
            constant: tuple[Payload, ...] | None = None,
        ) -> Operand: ...  # fmt: skip

    def to_number(self, x: Operand, span: Span) -> Operand:
        """A position becomes a number by adding the index origin; other values are unchanged."""
        element = x.type.element
        if element.below is None or x.poisoned:
            return x
        origin = self.index_origin
        top = (element.below - 1 + origin).bounds()[1]
        most = element.below - 1 + origin if top is None else None
        number = ArrayType(Element(Kind.I64, origin, top, weak=element.weak, most=most), x.type.shape)
        if origin == 0:
            return Operand(x.value, number, x.static, x.constant)
        one = self.emit(lambda r: Literal(r, (origin,)), ArrayType(Element(Kind.I64, origin, origin, weak=True), ()), span)
        constant = None if x.constant is None else tuple(int(c) + origin for c in x.constant if isinstance(c, int))
        return self.emit(lambda r: Scalar(r, "add", (x.value, one.value)), number, span, static=shifted(x.static, origin),
                         constant=constant)  # fmt: skip

    def to_position(self, x: Operand, span: Span) -> Operand:
        """A number used as an index becomes one counted from 0 (i64); a position is unchanged."""
        element = x.type.element
        if x.poisoned or element.below is not None:
            return x
        x = self.convert(x, Kind.I64, span)
        origin = self.index_origin
        if origin == 0:
            return x
        low, high = integer_range(x.type.element)
        most = None if x.type.element.most is None else x.type.element.most - origin
        low, high = None if low is None else low - origin, None if high is None else high - origin
        shifted_element = ranged(Kind.I64, low, high, most=most)
        one = self.emit(lambda r: Literal(r, (origin,)), ArrayType(Element(Kind.I64, origin, origin, weak=True), ()), span)
        constant = None if x.constant is None else tuple(int(c) - origin for c in x.constant if isinstance(c, int))
        return self.emit(lambda r: Scalar(r, "sub", (x.value, one.value)), ArrayType(shifted_element, x.type.shape), span,
                         static=shifted(x.static, -origin), constant=constant)  # fmt: skip

    def convert(self, x: Operand, kind: Kind, span: Span) -> Operand:
        """To `kind`; checked when run (E703) only where the range does not show that it fits."""
        if x.poisoned:
            return x
        x = self.to_number(x, span)
        element = x.type.element
        if element.kind is kind:
            return x
        known_limits = limits(kind)
        if known_limits is not None and limits(element.kind) is not None:
            low, high = integer_range(element)
            inside = fits(element, kind)
            target = ranged(kind, low, high, weak=element.weak, most=element.most) if inside else Element(kind)
            function = "convert" if inside else "convert_checked"
        else:
            narrows = known_limits is not None or (element.kind.is_complex and not kind.is_complex) or kind is Kind.CHAR
            rounds = kind in (Kind.F32, Kind.C64) and element.kind in (Kind.F64, Kind.C128) and not element.weak
            narrows = narrows or rounds
            target = Element(kind, weak=element.weak)
            function = "convert_checked" if narrows or element.kind is Kind.CHAR else "convert"
        constant = fold("convert", element.kind, kind, (x.constant,), ((None,),)) if function == "convert" else None
        static = x.static if kind is Kind.I64 else None
        made = self.emit(lambda r: Scalar(r, function, (x.value,)), ArrayType(target, x.type.shape), span, static=static,
                         constant=constant)  # fmt: skip
        self.wording.add(made.value, self.where(x))  # messages point at what the program mentions
        return made


def shifted(static: Size | tuple[Size, ...] | None, by: int) -> Size | tuple[Size, ...] | None:
    """A singleton plus a number."""
    if static is None:
        return None
    return static + by if isinstance(static, Size) else tuple(s + by for s in static)
