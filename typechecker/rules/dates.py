"""Typing rules of dates, times and their differences: i64 with a unit (`elements.Unit`).

A `date` counts days since 1970-01-01 and a `time` nanoseconds since then (UTC); `days` and `duration` are their differences.

  * point - point is a difference; point ± difference is a point; differences add, subtract, and multiply by integers;
  * difference ÷ difference is a float; difference | point is how far the point is past a multiple of the difference;
  * points and differences of one unit compare, sort, search and group; `⌈ ⌊` choose; arrays of them reshape, join and index.

Everything else is E300.  A missing one, `⎕nat`, is the least i64: it is equal to itself and before all others.  Arithmetic with
it gives it, as does a result that i64 cannot hold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ...lang.diagnostics.model import Code, Edit, Fix
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ...lang.tree.program import MISSING_POINT
from ..core.builder import Builder
from ..core.operations import Library, Reshape
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, Unit, common_unit
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from .argument_checks import label, require_numbers

Rule = Callable[["Value | None", Value], Value]
"""The rule of a primitive on operands without units."""

DAY: Final = 86_400_000_000_000
"""The nanoseconds of a day."""
_INVERSE: Final = (pow(DAY >> 16, -1, 2**64) + 2**63) % 2**64 - 2**63
_INTEGER: Final = Element(Kind.I64)
_TRUTH: Final = Element(Kind.BOOL)
_FLOAT: Final = Element(Kind.F64)
_DIFFERENCE: Final = {Unit.DATE: Unit.DAYS, Unit.TIME: Unit.DURATION}
_POINT: Final = {Unit.DAYS: Unit.DATE, Unit.DURATION: Unit.TIME}

CONVERSIONS: Final = {"⎕date": Unit.DATE, "⎕time": Unit.TIME, "⎕days": Unit.DAYS, "⎕duration": Unit.DURATION}

_SAME_MONADIC: Final = frozenset("⌷↑↓,⍪∊⌽⊖⍉⊃∪")
_NUMBER_MONADIC: Final = frozenset("≠≡≢⍴⍋⍒")
_SELECTING: Final = frozenset("⍴⌽⊖⍉↑↓↕⌷⊃/⌿\\⍀")
_FILLING: Final = frozenset("↑\\⍀")
_JOINING: Final = frozenset(",⍪∪∩~⌈⌊")
_COMPARING: Final = frozenset("<≤=≥>≠≡≢⍳⍸∊⍷")


def has_unit(value: Value | None) -> bool:
    return value is not None and any(x.type.element.unit is not None for x in leaves(value))


def apply(b: Builder, left: Value | None, right: Value, span: Span, rule: Rule) -> Value:
    """Apply the primitive `b.glyph` to operands of which one has a unit, or a conversion to a unit."""
    if b.glyph == "¿" and isinstance(left, Operand) and not has_unit(left):
        return rule(left, right)
    if isinstance(left, TupleOperand) or isinstance(right, TupleOperand):
        return rule(None, right) if left is None else _refused(b, leaves(left)[0], leaves(right)[0], span)
    return _monadic(b, right, span, rule) if left is None else _dyadic(b, left, right, span, rule)


def _monadic(b: Builder, x: Operand, span: Span, rule: Rule) -> Value:
    unit, glyph = x.type.element.unit, b.glyph
    if glyph in CONVERSIONS:
        return _converted(b, x, CONVERSIONS[glyph], span)
    assert unit is not None
    if glyph in ("i64", "f64"):
        return _copied(b, x, None, span) if glyph == "i64" else _as_float(b, x, span)
    if glyph in _SAME_MONADIC:
        return with_unit(b, rule(None, _number(x)), unit)
    if glyph in _NUMBER_MONADIC or (glyph == "×" and not unit.is_point):
        return rule(None, _number(x))
    if glyph in "+-|" and not unit.is_point:
        return with_unit(b, rule(None, _number(x)), unit)  # the least integer wraps to itself
    return _refused(b, None, x, span)


def _dyadic(b: Builder, x: Operand, y: Operand, span: Span, rule: Rule) -> Value:
    glyph, first, second = b.glyph, x.type.element.unit, y.type.element.unit
    if first is None and second is not None and glyph in _SELECTING:
        if glyph in _FILLING:
            return with_unit(b, _from_missing(b, rule(x, _from_missing(b, _number(y), span)), span), second)
        return with_unit(b, rule(x, _number(y)), second)
    agree, unit = common_unit(first, second)
    if agree and unit is not None and (glyph in _JOINING or glyph in _COMPARING):
        of_numbers = rule(_number(x), _number(y))
        return with_unit(b, of_numbers, unit) if glyph in _JOINING else of_numbers
    value = _arithmetic(b, x, y, span)
    return _refused(b, x, y, span) if value is None else value


def _arithmetic(b: Builder, x: Operand, y: Operand, span: Span) -> Value | None:
    """The value of `+ - × ÷ |` if an operand has a unit; None if these operands have no such operation."""
    first, second = x.type.element.unit, y.type.element.unit
    agree, unit = common_unit(first, second)
    match b.glyph:
        case "+" if _is_shift(first, second):
            return with_unit(b, _exact(b, "add", x, y, span), first)
        case "+" if _is_shift(second, first):
            return with_unit(b, _exact(b, "add", x, y, span), second)
        case "+" if agree and unit is not None and not unit.is_point:
            return with_unit(b, _exact(b, "add", x, y, span), unit)
        case "-" if _is_shift(first, second):
            return with_unit(b, _exact(b, "sub", x, y, span), first)
        case "-" if agree and unit is not None:
            return with_unit(b, _exact(b, "sub", x, y, span), _DIFFERENCE.get(unit, unit))
        case "×" if _counts(x, y) or _counts(y, x):
            return with_unit(b, _product(b, x, y, span), first or second)
        case "÷" if agree and unit is not None and not unit.is_point:
            both = [_as_float(b, value, span) for value in (x, y)]
            return b.scalar("div", both, _FLOAT, span)
        case "|" if first is not None and not first.is_point and second in (first, _POINT.get(first)):
            rest = b.scalar("residue", (_number(x), _number(y)), _INTEGER, span)
            return with_unit(b, _or_missing(b, rest, (x, y), None, span), first)
        case _:
            return None


def _is_shift(point: Unit | None, difference: Unit | None) -> bool:
    """Are the operands a point and a difference of its unit?"""
    return point in _DIFFERENCE and common_unit(_DIFFERENCE[point], difference)[0]


def _counts(x: Operand, y: Operand) -> bool:
    """Are the operands an integer and a difference?"""
    number, unit = x.type.element, y.type.element.unit
    is_whole = number.unit is None and (number.kind.is_integer or number.kind is Kind.BOOL)
    return is_whole and unit is not None and not unit.is_point


# ---------------------------------------------------------------------------------------------------- arithmetic


def _exact(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    """The sum or difference.  It overflows, and is missing, where its sign differs from that of x and of the number added to
    x."""
    p, q = _unfolded(x), _unfolded(y)
    result = b.scalar(function, (p, q), _INTEGER, span)
    added = q if function == "add" else b.scalar("bnot", (q,), _INTEGER, span)
    signs = [b.scalar("bxor", (operand, result), _INTEGER, span) for operand in (p, added)]
    return _or_missing(b, result, (x, y), _is_negative(b, b.scalar("band", signs, _INTEGER, span), span), span)


def _product(b: Builder, x: Operand, y: Operand, span: Span) -> Operand:
    """A multiple of a difference.  Whether it fits i64 is decided by the product of floats, which is exact to 1024 at the
    limit."""
    p, q = [_unfolded(b.convert(b.to_number(_number(value), span), Kind.I64, span)) for value in (x, y)]
    sizes = [b.scalar("abs", [b.convert(value, Kind.F64, span)], _FLOAT, span) for value in (p, q)]
    most = b.literal((2.0**63,), ArrayType(_FLOAT, ()), span)
    wrapped = b.scalar("ge", [b.scalar("mul", sizes, _FLOAT, span), most], _TRUTH, span)
    differences = [value for value in (x, y) if value.type.element.unit is not None]
    return _or_missing(b, b.scalar("mul", (p, q), _INTEGER, span), differences, wrapped, span)


def _is_negative(b: Builder, x: Operand, span: Span) -> Operand:
    return b.scalar("lt", (x, _literal(b, 0, span)), _TRUTH, span)


def is_missing(b: Builder, x: Operand, span: Span) -> Operand:
    return b.scalar("eq", (_number(x), _literal(b, MISSING_POINT, span)), _TRUTH, span)


def _or_missing(
    b: Builder, value: Operand, operands: tuple[Operand, ...] | list[Operand], wrapped: Operand | None, span: Span
) -> Operand:  # fmt: skip
    """The value, but `⎕nat` where an operand is missing or the value has wrapped."""
    if value.poisoned:
        return value
    for x in operands:
        missing = is_missing(b, x, span)
        wrapped = missing if wrapped is None else b.scalar("or", (wrapped, missing), _TRUTH, span)
    assert wrapped is not None
    return b.scalar("select", (wrapped, _literal(b, MISSING_POINT, span), value), _INTEGER, span)


def _from_missing(b: Builder, x: Value, span: Span) -> Value:
    """The bit patterns xor that of `⎕nat`, so that `⎕nat` becomes 0, the fill of integers; a second application restores them."""
    if not isinstance(x, Operand) or x.poisoned:
        return x
    return b.scalar("bxor", (replace(x, static=None), _literal(b, MISSING_POINT, span)), _INTEGER, span)


def _literal(b: Builder, value: int, span: Span) -> Operand:
    return replace(b.literal((value,), ArrayType(_INTEGER, ()), span), static=None)


# ---------------------------------------------------------------------------------------------------- reductions


def reduced(b: Builder, glyph: str, x: Operand, span: Span, reapply: Callable[[str, Operand], Value]) -> Value:
    """A reduction, a scan, or a reduction by key.  `reapply` applies it with another primitive to other items."""
    unit = x.type.element.unit
    assert unit is not None
    if glyph in "⌈⌊":
        return with_unit(b, reapply(glyph, _number(x)), unit)
    if glyph != "+" or unit.is_point:
        outer, b.glyph = b.glyph, f"{glyph}/"
        try:
            return _refused(b, None, x, span)
        finally:
            b.glyph = outer
    total, missing = reapply("+", _number(x)), reapply("∨", is_missing(b, x, span))
    if not isinstance(total, Operand) or not isinstance(missing, Operand) or total.poisoned or missing.poisoned:
        return b.poison(span)
    known = b.scalar("select", (missing, _literal(b, MISSING_POINT, span), replace(total, static=None)), _INTEGER, span)
    return with_unit(b, known, unit)


# ---------------------------------------------------------------------------------------------------- conversions


def missing(b: Builder, span: Span) -> Operand:
    """`⎕nat`."""
    return b.literal((MISSING_POINT,), ArrayType(Element(Kind.I64, unit=Unit.ANY), ()), span)


def _converted(b: Builder, x: Operand, unit: Unit, span: Span) -> Value:
    """`⎕date ⎕time` of text, of integers and of each other, `⎕days ⎕duration` of integers and of each other."""
    element = x.type.element
    if common_unit(element.unit, unit)[0]:
        return _copied(b, x, unit, span)
    if element.unit is not None:
        pair = (element.unit, unit)
        if pair in ((Unit.DATE, Unit.TIME), (Unit.DAYS, Unit.DURATION)):
            return with_unit(b, _product(b, x, _literal(b, DAY, span), span), unit)
        if pair in ((Unit.TIME, Unit.DATE), (Unit.DURATION, Unit.DAYS)):
            return with_unit(b, _whole_days(b, x, span), unit)
        return _refused(b, None, x, span)
    if element.kind is Kind.CHAR and unit.is_point:
        if not x.type.rank:
            return b.error(Code.E131, f"`{b.glyph}` takes a row of text, but this is one character", span)
        name, of_text = b.glyph.removeprefix("⎕"), ArrayType(_INTEGER, x.type.shape[:-1])
        (read,) = b.emit_many(lambda results: Library(results, name, (x.value,)), [of_text], span)
        return with_unit(b, read, unit)
    if not require_numbers(b, x, span):
        return b.poison(span)
    return _copied(b, b.convert(b.to_number(x, span), Kind.I64, span), unit, span)


def _whole_days(b: Builder, x: Operand, span: Span) -> Operand:
    """Nanoseconds as days, rounded down, without a division.

    A day is 2*16 × an odd number, so a multiple of a day is shifted right and multiplied by the inverse of the odd number modulo
    2*64.
    """
    y = _unfolded(x)
    rest = b.scalar("residue", (_literal(b, DAY, span), y), _INTEGER, span)
    halved = b.scalar("shr", (_literal(b, 16, span), b.scalar("sub", (y, rest), _INTEGER, span)), _INTEGER, span)
    days = b.scalar("mul", (halved, _literal(b, _INVERSE, span)), _INTEGER, span)
    return _or_missing(b, days, (x,), None, span)


def _as_float(b: Builder, x: Operand, span: Span) -> Operand:
    """The number of days or nanoseconds as a float; NaN for `⎕nat`."""
    y = b.convert(_number(x), Kind.F64, span)
    nan = b.literal((float("nan"),), ArrayType(_FLOAT, ()), span)
    return b.scalar("select", (is_missing(b, x, span), nan, y), _FLOAT, span)


def _number(x: Operand) -> Operand:
    """The operand without its unit."""
    if x.type.element.unit is None:
        return x
    return replace(x, type=replace(x.type, element=_INTEGER, permutation=False), static=None)


def _unfolded(x: Operand) -> Operand:
    """The operand without its unit and its constant value, since constant sums that wrap are E330, whereas sums of dates are
    `⎕nat`."""
    y = _number(x)
    element = Element(y.type.element.kind)
    return replace(y, type=replace(y.type, element=element), static=None, constant=None)


def with_unit(b: Builder, value: Value, unit: Unit | None) -> Value:
    """The value as a point or difference of this unit; it must be a new integer or have the unit already."""
    if not isinstance(value, Operand) or is_poisoned(value):
        return value
    type = b.types[value.value] = ArrayType(Element(Kind.I64, unit=unit), value.type.shape)
    return replace(value, type=type, static=None)


def _copied(b: Builder, x: Operand, unit: Unit | None, span: Span) -> Operand:
    """A new value with the integers of x, of another unit or of none."""
    type = ArrayType(Element(Kind.I64, unit=unit), x.type.shape)
    return b.emit(lambda r: Reshape(r, x.value), type, span, constant=x.constant)


# ---------------------------------------------------------------------------------------------------- refusals


def _refused(b: Builder, x: Operand | None, y: Operand, span: Span) -> Operand:
    """E300 with a note on the operations that exist."""
    operands = [value for value in (x, y) if value is not None]
    shown = " and ".join(show_type(replace(value.type, shape=(), permutation=False)) for value in operands)
    labels = tuple(label(b, value) for value in operands)
    fixes = _conversions(b, operands, [one.span for one in labels])
    return b.error(
        Code.E300, f"`{b.glyph}` has no meaning for {shown}", span, labels=labels, notes=_cures(b.glyph, operands), fixes=fixes
    )


def _conversions(b: Builder, operands: list[Operand], spans: list[Span]) -> tuple[Fix, ...]:
    """The fix that converts a constant on the right: text to a point, an integer to a difference."""
    if len(operands) < 2 or operands[0].type.element.unit is None or operands[1].constant is None or has_unit(operands[1]):
        return ()
    unit, kind = operands[0].type.element.unit, operands[1].type.element.kind
    if unit.is_point and kind.is_integer and b.glyph in "+-":
        unit = _DIFFERENCE[unit]
    if unit not in CONVERSIONS.values() or not (kind is Kind.CHAR if unit.is_point else kind is Kind.I64):
        return ()
    written = f"⎕{unit.value} {b.text(spans[1])}"
    return (Fix(f"write `{written}`", (Edit(spans[1], written),)),)


def _cures(glyph: str, operands: list[Operand]) -> tuple[str, ...]:
    units = [x.type.element.unit for x in operands]
    known = next(unit for unit in units if unit is not None) if any(units) else None
    number = "`i64 x` is the number of " + ("days" if known in (Unit.DATE, Unit.DAYS) else "nanoseconds")
    text = [x for x in operands if x.type.element.kind is Kind.CHAR]
    if text and known is not None and known.is_point:
        return (f"text becomes a {known.value} by `⎕{known.value}`",)
    if None in units and known is not None and glyph in "+-" and len(units) == 2:
        difference = _DIFFERENCE.get(known, known).value
        return (f"add or subtract `⎕{difference} n`", number)
    if None in units and known in (Unit.DATE, Unit.TIME) and glyph in _COMPARING:
        point = "2024-02-29" if known is Unit.DATE else "2024-02-29T12:30"
        parts = "; `use dates` has `dates.year x` and `dates.month x`" if known is Unit.DATE else ""
        return (f"compare it with one of its kind, `⎕{known.value} '{point}'`{parts}",)
    if None in units and known in (Unit.DAYS, Unit.DURATION) and glyph in _COMPARING:
        return (f"compare it with one of its kind, `⎕{known.value} n`",)
    if {Unit.DATE, Unit.TIME} <= set(units) or {Unit.DAYS, Unit.DURATION} <= set(units):
        return ("convert one side: `⎕time d` is the start of a day, `⎕date t` the day of a time",)
    if {Unit.TIME, Unit.DAYS} <= set(units):
        return ("convert the days: `⎕duration x` is their time",)
    if {Unit.DATE, Unit.DURATION} <= set(units):
        return ("convert the date: `⎕time d` is the start of its day",)
    return (number,)
