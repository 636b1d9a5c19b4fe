"""Functions on cells of an array, typed by the signature in their row of the table of primitives: no other place names them.

    ⎕qr T[m n] : (T[m m⌊n] ⋄ T[m⌊n n])

What is before the cell's axes is a frame.  A size that stands twice has to be one.  `T` are numbers (floats, where the row gives
floats from integers), `f64` and `c128` real and complex floats of the argument's width, other elements are what they say.

Neighbours: `rules.apply` (asks), `lang.primitives_library` (the rows), `backend.graph.registry` (the phase of this name).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import add, mul
from typing import Final

from ...lang.codes import Code
from ...lang.parser import parse_program
from ...lang.primitives_record import Primitive, Trait, Use
from ...lang.program_tree import Signature
from ...lang.source import Source, Span
from ...lang.type_tree import ArrayTypeExpression, Fact, ShapeItem, SizeCall, SizeName, SizeNumber, TypeExpression
from ..builder import Builder
from ..core import Library
from ..display import show_type
from ..elements import Element, Kind
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..scalars import real_kind
from ..sizes import Size, minimum, monus, number, quotient
from ..types import ArrayType
from . import common
from .arithmetic import floats

_SIZES: Final[Mapping[str, Callable[[Size, Size], Size]]] = {
    "+": add, "-": monus, "×": mul, "÷": quotient, "⌊": minimum,
}  # fmt: skip


def has_signature(row: Primitive) -> bool:
    """Is it such a function?"""
    return row.monadic is not None and Trait.SCALAR not in row.monadic.traits


def by_signature(use: Use) -> common.MonadicRule:
    """The rule that follows from its type."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        signature = _signature(use.type)
        parameter, results = _array(signature.right.type), _arrays(signature.result)
        rank = len(parameter.shape)
        if not (_has_elements(b, x, parameter.element.name, span) and common.require_rank(b, x, rank, span)):
            return b.poison(span)
        y = _converted(b, x, parameter.element.name, Trait.FLOAT_RESULT in use.traits, span)
        depth = y.type.rank - rank
        frame, cell = y.type.shape[:depth], y.type.shape[depth:]
        sizes: dict[str, Size] = {}
        for part, size in zip(parameter.shape, cell, strict=True):
            assert isinstance(part, SizeName)
            message = f"`{b.glyph}` needs a square matrix, but this is {' by '.join(map(str, cell))}"
            if not common.require_equal(b, sizes.setdefault(part.name, size), size, Code.E101, span, message, x):
                return b.poison(span)
        if not all(_holds(b, fact, sizes, x, span) for fact in signature.where):
            return b.poison(span)
        kind = y.type.element.kind
        types = [
            ArrayType(Element(_kind(one.element.name, kind)), (*frame, *(_size(part, sizes) for part in one.shape)))
            for one in results
        ]
        made = b.emit_many(lambda values: Library(values, b.glyph.removeprefix("⎕"), (y.value,)), types, span)
        return made[0] if len(made) == 1 else TupleOperand(made)

    return rule


@cache
def _signature(line: str) -> Signature:
    """Of `⎕name argument : result`."""
    program, _ = parse_program(Source("<row>", f"f : {line.partition(' ')[2].replace(' : ', ' → ')}\n"))
    (statement,) = program.statements
    assert isinstance(statement, Signature), line
    return statement


def _array(type_: TypeExpression) -> ArrayTypeExpression:
    assert isinstance(type_, ArrayTypeExpression)
    return type_


def _arrays(type_: TypeExpression) -> list[ArrayTypeExpression]:
    return [type_] if isinstance(type_, ArrayTypeExpression) else [_array(item) for item in type_.items]


def _has_elements(b: Builder, x: Operand, element: str, span: Span) -> bool:
    """E300 unless the argument has such elements, or some that become such ones."""
    if element != Kind.CHAR.value:
        if not common.require_numbers(b, x, span):
            return False
        if element != Kind.F64.value or not x.type.element.kind.is_complex:
            return True
    elif x.type.element.kind is Kind.CHAR:
        return True
    needed = "text" if element == Kind.CHAR.value else "real numbers"
    b.error(Code.E300, f"`{b.glyph}` needs {needed}, but this is {show_type(x.type)}", span, labels=(common.label(b, x),))
    return False


def _converted(b: Builder, x: Operand, element: str, to_floats: bool, span: Span) -> Operand:
    if element == Kind.CHAR.value:
        return x
    if element == "T" and not to_floats:
        return b.to_number(x, span)
    (y,) = floats(b, (x,), span)
    return b.convert(y, _kind(element, y.type.element.kind), span)


def _kind(element: str, given: Kind) -> Kind:
    """The kind that an element of the signature stands for beside an argument of a kind."""
    match element:
        case "T":
            return given
        case "f64" if given.is_float or given.is_complex:
            return real_kind(given)
        case "c128" if given.is_float or given.is_complex:
            return Kind.C64 if real_kind(given) is Kind.F32 else Kind.C128
        case _:
            return Kind(element)


def _size(node: ShapeItem, sizes: Mapping[str, Size]) -> Size:
    match node:
        case SizeName():
            return sizes[node.name]
        case SizeNumber():
            return number(node.value)
        case SizeCall(function="⌊", args=(whole,)):
            return _size(whole, sizes)
        case SizeCall(args=(left, right)):
            return _SIZES[node.function](_size(left, sizes), _size(right, sizes))
        case _:
            raise AssertionError(f"no size of such a function: {node}")


def _holds(b: Builder, fact: Fact, sizes: Mapping[str, Size], x: Operand, span: Span) -> bool:
    """`where n≥1`: E204 unless it holds, or a guard."""
    assert fact.relation == "≥" and fact.right is not None
    size, least = _size(fact.left, sizes), _size(fact.right, sizes)
    message = f"`{b.glyph}` needs at least {least} item" + (f", but {size} may be less" if size.constant is None else "")
    needed = SizeFact(Relation.AT_MOST, least, size)
    return b.require(Obligation(needed, Code.E204, span, message, (common.label(b, x),)))
