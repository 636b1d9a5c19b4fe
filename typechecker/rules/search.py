"""Typing rules of positions, membership, order and sets (`⍳ ∊ ⍷ ⍸ ⍋ ⍒ ∪ ∩ ~`), library functions on cells, and text (`⍕`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import Final

from ...lang.diagnostics.model import Code
from ...lang.primitives.record import Primitive, PrimitiveUse, Trait
from ...lang.syntax.parser import parse_program
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import BoundedSize, Fact, ShapeItem, ShapeVariable, SizeName, arrays
from ...lang.tree.program import Signature
from ..core.builder import Builder
from ..core.operations import Format, Iota, IotaGrid, Library, library_op
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, ranged, real_kind
from ..proof.obligations import Obligation, Relation, SizeFact
from ..sizes.polynomials import ONE, Size, number, product, variable
from ..values.facts import Operand, TupleOperand, Value
from . import argument_checks
from .argument_checks import (
    constant_array,
    is_one_item,
    label,
    require_equal,
    require_natural,
    require_rank,
    reshaped,
    size_arguments,
    spread,
    static_integer,
    text_and_numbers,
    to_vector,
)
from .arithmetic import comparable, floats
from .logic import BOOL, add_origin, by_mask, pick_cells
from .shape import join_along

# ---------------------------------------------------------------------------------------------------- search

MOST_POSITIONS = 4096


def iota(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍳n : idx<n>[n]`; `⍳a b : i64[a b 2]`, every position of that box as numbers."""
    sizes = size_arguments(b, x, span, "the argument of `⍳`")
    if sizes is None or not require_natural(b, sizes, span, "the argument of `⍳`"):
        return b.poison(span)
    if is_one_item(x):
        return positions(b, sizes[0], span)
    shape = (*sizes, number(len(sizes)))
    low = b.index_origin
    highs = [s.bounds()[1] for s in sizes]
    known = [h for h in highs if h is not None]
    high = max(known) - 1 + low if known and len(known) == len(highs) and max(known) > 0 else None
    grid = b.emit(lambda r: IotaGrid(r), ArrayType(ranged(Kind.I64, 0, None if high is None else high - low), shape), span)
    counted = add_origin(b, grid, span)
    return b.with_type(counted, ArrayType(ranged(Kind.I64, low, high), shape))


def positions(b: Builder, size: Size, span: Span) -> Operand:
    """0, 1, …, size-1 as positions."""
    count = size.constant
    constant = tuple(range(count)) if count is not None and count <= MOST_POSITIONS else None
    counted = b.emit(lambda r: Iota(r), ArrayType(Element(Kind.I64, index_bound=size), (size,)), span, constant=constant)
    b.add_facts(counted, covers=size)
    return counted


def index_of(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x⍳y`: where each cell of y first occurs among the major cells of x, as a number; n (plus the origin) if absent."""
    if not require_rank(b, left, 1, span):
        return b.poison(span)
    shape = _cells_agree(b, left, right, span)
    if shape is None:
        return b.poison(span)
    length, origin = left.type.shape[0], b.index_origin
    if text_and_numbers(left, right):
        absent = b.size_value(length + origin, span)
        return spread(b, absent, (), shape, span) if shape else absent
    x, y = comparable(b, left, right, span)
    high = length.bounds()[1]
    raw = Element(Kind.I64, 0, high, symbolic_max=None if high is not None else length)
    index = b.emit(lambda r: library_op(r, "index_of", x.value, y.value), ArrayType(raw, shape), span)
    position = add_origin(b, index, span)
    top = None if high is None else high + origin
    return b.with_type(
        position, ArrayType(Element(Kind.I64, origin, top, symbolic_max=None if top is not None else length + origin), shape)
    )


def _cells_agree(b: Builder, table: Operand, arg: Operand, span: Span) -> tuple[Size, ...] | None:
    """The frame of `arg` over cells shaped like `table`'s major cells; None after an error."""
    cell = table.type.shape[1:]
    if arg.type.rank < len(cell):
        b.error(Code.E131, f"`{b.glyph}` looks for cells of rank {len(cell)}, but this has rank {arg.type.rank}", span,
                labels=(label(b, table), label(b, arg)))  # fmt: skip
        return None
    cut = arg.type.rank - len(cell)
    for mine, theirs in zip(cell, arg.type.shape[cut:], strict=True):
        message = f"the cells to look for differ in shape: {theirs} meets {mine}"
        if not require_equal(b, mine, theirs, Code.E101, span, message, table, arg):
            return None
    return arg.type.shape[:cut]


def member(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Operand:
    """`x∊y`: does each element of x occur anywhere in y?"""
    if text_and_numbers(left, right):
        return constant_array(b, False, BOOL, left.type.shape, span)
    x, y = comparable(b, left, right, span)
    if y.type.rank > right.type.rank:  # pairs
        count = product(right.type.shape)
        items = reshaped(b, y, (count, *y.type.shape[-1:]), span)
        return _occurs(b, items, x, count, left.type.shape, span)
    return b.emit(lambda r: library_op(r, "member_of", x.value, y.value), ArrayType(BOOL, left.type.shape), span)


def _occurs(b: Builder, table: Operand, cells: Operand, length: Size, shape: tuple[Size, ...], span: Span) -> Operand:
    """bool for each of the cells: does it occur in the table, which has `length` cells?"""
    index = b.emit(lambda r: library_op(r, "index_of", table.value, cells.value), ArrayType(Element(Kind.I64), shape), span)
    return b.scalar("ne", (index, b.size_value(length, span)), BOOL, span)


def find(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`p⍷x`: where the pattern starts."""
    if text_and_numbers(left, right) or left.type.rank > right.type.rank:
        return constant_array(b, False, BOOL, right.type.shape, span)
    x, y = comparable(b, left, right, span)
    starts = b.emit(lambda r: library_op(r, "find", x.value, y.value), ArrayType(BOOL, y.type.shape), span)
    if y.type.rank == right.type.rank:
        return starts
    return reshaped(b, pick_cells(b, starts, [0], right.type.rank, span), right.type.shape, span)  # the start of a pair


def interval_index(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x⍸y`: (the count of cells of the sorted x that are ≤ y) - 1, plus the origin."""
    if not require_rank(b, left, 1, span):
        return b.poison(span)
    if text_and_numbers(left, right):
        message = "`⍸` compares text with text or numbers with numbers"
        return b.error(Code.E300, message, span, labels=(label(b, left), label(b, right)))
    shape = _cells_agree(b, left, right, span)
    if shape is None:
        return b.poison(span)
    x, y = comparable(b, left, right, span)
    if x.type.element.kind.is_complex:
        return b.error(Code.E300, "`⍸` needs real numbers; complex numbers have no order", span)
    high, origin = left.type.shape[0].bounds()[1], b.index_origin
    raw = ArrayType(ranged(Kind.I64, -1, None if high is None else high - 1), shape)
    interval = add_origin(b, b.emit(lambda r: library_op(r, "interval_index", x.value, y.value), raw, span), span)
    return b.with_type(interval, ArrayType(ranged(Kind.I64, origin - 1, None if high is None else high - 1 + origin), shape))


def grade(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍋ ⍒`: the stable permutation that sorts the major cells."""
    if not require_rank(b, x, 1, span):
        return b.poison(span)
    if x.type.element.kind.is_complex:
        message = f"`{b.glyph}` needs real numbers or text; complex numbers have no order"
        return b.error(Code.E300, message, span, labels=(label(b, x),))
    length, descending = x.type.shape[0], b.glyph == "⍒"
    type = ArrayType(Element(Kind.I64, index_bound=length), (length,), permutation=True)
    return b.emit(lambda r: library_op(r, "grade", x.value, descending=descending), type, span)


def grade_by(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`order⍋text`: by the position of each character in `order`, unknown ones last."""
    if not require_rank(b, right, 1, span):
        return b.poison(span)
    for x in (left, right):
        if x.type.element.kind is not Kind.CHAR:
            return b.error(Code.E300, f"`⍺{b.glyph}⍵` grades text by a collation order; this is {show_type(x.type)}", span,
                           labels=(label(b, x),))  # fmt: skip
    order = to_vector(b, left, span)
    if order.type.rank != 1:
        return b.error(Code.E131, f"a collation order is a vector of characters, but this is {show_type(left.type)}", span)
    length, descending = right.type.shape[0], b.glyph == "⍒"
    type = ArrayType(Element(Kind.I64, index_bound=length), (length,), permutation=True)
    return b.emit(lambda r: library_op(r, "grade_by", order.value, right.value, descending=descending), type, span)


# ------------------------------------------------------------------------------------- sets


def unique(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`∪x`: the first of each equal major cells, in order."""
    y = to_vector(b, x, span)
    mask = b.emit(lambda r: library_op(r, "first_occurrence", y.value), ArrayType(BOOL, y.type.shape[:1]), span)
    return by_mask(b, mask, y, 0, span)


def _present(b: Builder, x: Operand, y: Operand, span: Span) -> Operand | None:
    """bool for each major cell of x: does it occur among y's?"""
    if x.type.rank == 1:
        return member(b, x, y, None, span)
    if text_and_numbers(x, y):
        return constant_array(b, False, BOOL, x.type.shape[:1], span)
    if y.type.rank != x.type.rank:
        b.error(Code.E131, f"`{b.glyph}` compares major cells of equal rank: {show_type(x.type)} and {show_type(y.type)}", span)
        return None
    if _cells_agree(b, y, x, span) is None:
        return None
    p, q = comparable(b, x, y, span)
    return _occurs(b, q, p, y.type.shape[0], x.type.shape[:1], span)


def without(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x~y`: the cells of x that do not occur in y."""
    return _filter_cells(b, left, right, axis, span, inside=False)


def intersection(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x∩y`: the cells of x that occur in y."""
    return _filter_cells(b, left, right, axis, span, inside=True)


def _filter_cells(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span, *, inside: bool) -> Operand:
    x = to_vector(b, left, span)
    mask = _present(b, x, to_vector(b, right, span), span)
    if mask is None:
        return b.poison(span)
    return by_mask(b, mask if inside else b.scalar("not", (mask,), BOOL, span), x, 0, span)


def union(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`x∪y`: x, then the cells of y that do not occur in x."""
    x, y = to_vector(b, left, span), to_vector(b, right, span)
    mask = _present(b, y, x, span)
    if mask is None:
        return b.poison(span)
    rest = by_mask(b, b.scalar("not", (mask,), BOOL, span), y, 0, span)
    return rest if rest.poisoned else join_along(b, x, rest, 0, span)


# ---------------------------------------------------------------------------------------------------- library
#
# Functions on cells of an array, typed by the signature in their row of the table of primitives:
#
#     ⎕qr T[m n] : (T[m m⌊n] ⋄ T[m⌊n n])
#
# The axes before those of the cell are a frame.  A size that occurs twice must be equal.  `T` stands for numbers (floats, if the
# row gives floats from integers), `f64` and `c128` for real and complex floats of the argument's width, other elements for
# themselves.

def has_signature(row: Primitive) -> bool:
    """Is it a library function typed by its signature?"""
    return row.monadic is not None and Trait.SCALAR not in row.monadic.traits


def by_signature(use: PrimitiveUse) -> argument_checks.MonadicRule:
    """The rule of a library function, from its signature."""

    def rule(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
        signature = _signature(use.type)
        (parameter,) = arrays(signature.right.type)
        rank = len(parameter.shape)
        if not (_has_elements(b, x, parameter.element.name, span) and argument_checks.require_rank(b, x, rank, span)):
            return b.poison(span)
        y = _converted(b, x, parameter.element.name, Trait.FLOAT_RESULT in use.traits, span)
        depth = y.type.rank - rank
        frame, cell = y.type.shape[:depth], y.type.shape[depth:]
        sizes: dict[str, Size] = {}
        for part, size in zip(parameter.shape, cell, strict=True):
            assert isinstance(part, SizeName)
            message = f"`{b.glyph}` needs a square matrix, but this is {' by '.join(map(str, cell))}"
            if not argument_checks.require_equal(b, sizes.setdefault(part.name, size), size, Code.E101, span, message, x):
                return b.poison(span)
        if not all(_holds(b, fact, sizes, x, span) for fact in signature.where):
            return b.poison(span)
        kind = y.type.element.kind
        types = [
            ArrayType(Element(_kind(one.element.name, kind)), (*frame, *[_size(b, part, sizes) for part in one.shape]))
            for one in arrays(signature.result)
        ]
        outputs = b.emit_many(lambda values: Library(values, b.glyph.removeprefix("⎕"), (y.value,)), types, span)
        return outputs[0] if len(outputs) == 1 else TupleOperand(outputs)

    return rule


@cache
def _signature(line: str) -> Signature:
    """The parsed signature of a line `⎕name argument : result`."""
    program, _ = parse_program(Source("<row>", f"f : {line.partition(' ')[2].replace(' : ', ' → ')}\n"))
    (statement,) = program.statements
    assert isinstance(statement, Signature), line
    return statement


def _has_elements(b: Builder, x: Operand, element: str, span: Span) -> bool:
    """E300 unless the argument's elements are those of the signature, or convert to them."""
    if element != Kind.CHAR.value:
        if not argument_checks.require_numbers(b, x, span):
            return False
        if element != Kind.F64.value or not x.type.element.kind.is_complex:
            return True
    elif x.type.element.kind is Kind.CHAR:
        return True
    needed = "text" if element == Kind.CHAR.value else "real numbers"
    b.error(
        Code.E300, f"`{b.glyph}` needs {needed}, but this is {show_type(x.type)}", span, labels=(argument_checks.label(b, x),)
    )
    return False


def _converted(b: Builder, x: Operand, element: str, to_floats: bool, span: Span) -> Operand:
    if element == Kind.CHAR.value:
        return x
    if element == "T" and not to_floats:
        return b.to_number(x, span)
    (y,) = floats(b, (x,), span)
    return b.convert(y, _kind(element, y.type.element.kind), span)


def _kind(element: str, argument_kind: Kind) -> Kind:
    """The kind that an element of the signature stands for, given that of the argument."""
    match element:
        case "T":
            return argument_kind
        case "f64" if argument_kind.is_float or argument_kind.is_complex:
            return real_kind(argument_kind)
        case "c128" if argument_kind.is_float or argument_kind.is_complex:
            return Kind.C64 if real_kind(argument_kind) is Kind.F32 else Kind.C128
        case _:
            return Kind(element)


def _size(b: Builder, node: ShapeItem, sizes: Mapping[str, Size]) -> Size:
    assert not isinstance(node, ShapeVariable | BoundedSize)
    size = argument_checks.size_expression(b, node, lambda part: sizes[part.name])
    assert size is not None, node
    return size


def _holds(b: Builder, fact: Fact, sizes: Mapping[str, Size], x: Operand, span: Span) -> bool:
    """Require a `where n≥1` of the signature (E204)."""
    assert fact.relation == "≥" and fact.right is not None
    size, least = _size(b, fact.left, sizes), _size(b, fact.right, sizes)
    message = f"`{b.glyph}` needs at least {least} item" + (f", but {size} may be less" if size.constant is None else "")
    needed = SizeFact(Relation.AT_MOST, least, size)
    return b.require(Obligation(needed, Code.E204, span, message, (argument_checks.label(b, x),)))


# ---------------------------------------------------------------------------------------------------- text
#
# Text from values: `⍕ ⎕text`.

NUMBER_WIDTH = 48  # the most characters of one real number in an aligned column, with the blank before it
_WIDTHS = {Kind.BOOL: 2, Kind.U8: 4, Kind.I32: 12, Kind.I64: 21}
MOST_DIGITS: Final = 30
_FIXED_WIDTH = 18  # a sign, 16 digits and the point; larger numbers are written with an exponent


def format_text(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍕x`: the text that would print; its width is a runtime size."""
    if x.type.element.kind is Kind.CHAR:
        return x
    y = b.to_number(x, span)
    kind = y.type.element.kind
    width = _WIDTHS.get(kind, 2 * NUMBER_WIDTH + 1 if kind.is_complex else NUMBER_WIDTH)
    across = y.type.shape[-1] if y.type.rank else ONE
    size = b.runtime_size("w", across * width, span, "the width of the text")
    type = ArrayType(Element(Kind.CHAR), (*y.type.shape[:-1], variable(size)))
    return b.emit(lambda r: Format(r, y.value, size), type, span)


def regular_expression(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⎕regex pattern`: the automaton of a pattern that is known while checking, as constant arrays."""
    text = b.texts.get(x.value) if x.constant is None else x.constant
    if x.type.element.kind is not Kind.CHAR or x.type.rank > 1 or text is None:
        message = "a regular expression must be known before the program runs: a text such as `'[a-z]+'`, or a `param`"
        return b.error(Code.E403, message, span, labels=(label(b, x),))
    if x.constant is None:
        b.patterns.add(x.value)
    from ...lang.syntax.regular_expressions import PatternError, automaton

    pattern = "".join(map(str, text))
    try:
        result = automaton(pattern)
    except PatternError as error:
        before, behind = pattern[: error.offset], pattern[error.offset :]
        where = (f"it is read up to `{before}`, and stops at `{behind}`",) if before and behind else ()
        return b.error(Code.E340, f"this pattern cannot be searched for: {error}", span, labels=(label(b, x),), notes=where)
    count = number(len(result.states))
    classes, positions, contexts = len(result.kinds), len(result.members), len(result.orders)
    depth = len(result.orders[0][0])

    def table(items: Iterable[int], high: Size, *shape: int) -> Operand:
        return b.literal(tuple(items), ArrayType(Element(Kind.I64, index_bound=high), tuple(map(number, shape))), span)

    flat = chain.from_iterable
    members = tuple(flat(result.members))
    return TupleOperand((
        b.literal(result.cuts, ArrayType(Element(Kind.I64), (number(len(result.cuts)),)), span),
        table(flat(result.states), count, len(result.states), classes),
        table(result.kinds, number(3), classes),
        b.literal(members, ArrayType(BOOL, (number(positions), number(classes))), span),
        table(flat(flat(result.orders)), number(positions + 2), contexts, positions + 1, depth),
    ))  # fmt: skip


def fixed_text(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`d⎕text x`: a row of text for each item, with d digits after the point; their width is a runtime size."""
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
