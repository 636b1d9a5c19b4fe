"""Text from values: `⍕ ⎕text`."""

from __future__ import annotations

from typing import Final

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Format
from ..display import show_type
from ..elements import Element, Kind
from ..operands import Operand, Value
from ..sizes import ONE, number, variable
from ..types import ArrayType
from .common import label
from .static_arguments import static_integer

NUMBER_WIDTH = 48  # characters one real number takes at most in an aligned column, with the blank before it
_WIDTHS = {Kind.BOOL: 2, Kind.U8: 4, Kind.I32: 12, Kind.I64: 21}
MOST_DIGITS: Final = 30
_FIXED_WIDTH = 18  # a sign, 16 digits and the point: beyond that magnitude an exponent is written


def format_text(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍕x`: the text that would print; its width is known when it runs."""
    if x.type.element.kind is Kind.CHAR:
        return x
    y = b.to_number(x, span)
    kind = y.type.element.kind
    width = _WIDTHS.get(kind, 2 * NUMBER_WIDTH + 1 if kind.is_complex else NUMBER_WIDTH)
    across = y.type.shape[-1] if y.type.rank else ONE
    size = b.runtime_size("w", across * width, span, "the width of the text")
    type = ArrayType(Element(Kind.CHAR), (*y.type.shape[:-1], variable(size)))
    return b.emit(lambda r: Format(r, y.value, size), type, span)


def fixed_text(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`d⎕text x`: a row of text for each item, with d digits after the point; their width is known when it runs."""
    digits = static_integer(b, left)
    if digits is None or not 0 <= digits <= MOST_DIGITS:
        message = f"how many digits `⎕text` writes must be known before the program runs: 0 to {MOST_DIGITS}"
        return b.error(Code.E403, message, span, labels=(label(b, left),))
    kind = right.type.element.kind
    if kind is Kind.CHAR or kind.is_complex:
        message = f"`⎕text` writes real numbers, but this is {show_type(right.type)}"
        return b.error(Code.E300, message, span, labels=(label(b, right),))
    y = b.to_number(right, span)
    width = _WIDTHS.get(y.type.element.kind, _FIXED_WIDTH) + digits + 1
    size = b.runtime_size("w", number(width), span, "the width of the text")
    type = ArrayType(Element(Kind.CHAR), (*y.type.shape, variable(size)))
    return b.emit(lambda r: Format(r, y.value, size, digits), type, span)
