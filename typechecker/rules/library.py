"""Library functions on arrays, each beside its name: what a rule needs more is its row in the table of primitives.

Neighbours: `rules.apply` (asks), `lang.primitives_library` (the rows).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...lang.codes import Code
from ...lang.source import Span
from ..builder import Builder
from ..core import Library, ValueId
from ..core_blocks import Op
from ..elements import Element, Kind
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..scalars import real_kind
from ..sizes import ONE, ZERO, Size, minimum, monus, quotient
from ..types import ArrayType
from . import common
from .arithmetic import floats

BY_NAME: Final[dict[str, common.MonadicRule]] = {}


def by_name(*names: str) -> Callable[[common.MonadicRule], common.MonadicRule]:
    """The rule of the language's functions with these names."""

    def add(rule: common.MonadicRule) -> common.MonadicRule:
        BY_NAME.update({f"⎕{name}": rule for name in names})
        return rule

    return add


@by_name("fft", "ifft", "rfft", "irfft")
def transform(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """Along the last axis."""
    name = b.glyph[1:]
    if not (common.require_numbers(b, x, span) and common.require_rank(b, x, 1, span)):
        return b.poison(span)
    (y,) = floats(b, (x,), span)
    kind = y.type.element.kind
    if name == "rfft" and kind.is_complex:
        return b.error(Code.E300, "`⎕rfft` needs real numbers; write `⎕fft` for complex ones", span, labels=(common.label(b, x),))
    wide = Kind.C64 if kind in (Kind.F32, Kind.C64) else Kind.C128
    if name != "rfft":
        y = b.convert(y, wide, span)
    *frame, n = y.type.shape
    fact = SizeFact(Relation.AT_MOST, ONE, n)
    message = "a transform needs at least one item" + ("" if n == ZERO else f", but {n} may be 0")
    if not b.require(Obligation(fact, Code.E204, span, message, (common.label(b, x),))):
        return b.poison(span)
    length = {"rfft": quotient(n, 2) + 1, "irfft": monus(n, 1) * 2}.get(name, n)
    result = real_kind(wide) if name == "irfft" else wide
    type = ArrayType(Element(result), (*frame, length))
    return b.emit_many(lambda r: Library(r, name, (y.value,)), [type], span)[0]


@by_name("cholesky", "qr", "svd", "eigh", "det", "slogdet")
def factors(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """On rank-2 cells."""
    name = b.glyph[1:]
    if not (common.require_numbers(b, x, span) and common.require_rank(b, x, 2, span)):
        return b.poison(span)
    (y,) = floats(b, (x,), span)
    *frame, m, n = y.type.shape
    if name in ("cholesky", "eigh", "det", "slogdet"):
        message = f"`⎕{name}` needs a square matrix, but this is {m} by {n}"
        if not common.require_equal(b, m, n, Code.E101, span, message, x):
            return b.poison(span)
    kind = y.type.element.kind
    real, least = real_kind(kind), minimum(m, n)
    cells: dict[str, list[tuple[Kind, tuple[Size, ...]]]] = {
        "cholesky": [(kind, (n, n))],
        "det": [(kind, ())],
        "slogdet": [(kind, ()), (real, ())],
        "qr": [(kind, (m, least)), (kind, (least, n))],
        "svd": [(kind, (m, least)), (real, (least,)), (kind, (least, n))],
        "eigh": [(real, (n,)), (kind, (n, n))],
    }
    types = [ArrayType(Element(k), (*frame, *shape)) for k, shape in cells[name]]

    def make(results: tuple[ValueId, ...]) -> Op:
        return Library(results, name, (y.value,))

    made = b.emit_many(make, types, span)
    return made[0] if len(made) == 1 else TupleOperand(made)
