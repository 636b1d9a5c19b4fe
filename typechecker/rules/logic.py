"""Typing rules of truth values, comparisons, matching and selection (`~ ∧ ∨ ⍲ ⍱ < ≤ = ≥ > ≠ ≡ ≢ ¿`), bits and masks."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import reduce

from ...lang.diagnostics.model import Code, Diagnostic, Severity, Verdict
from ...lang.syntax.source import Span
from ..core.builder import Builder
from ..core.operations import Compress, Expand, Gather, Iota, Reshape, Where, library_op
from ..diagnostics import show_type
from ..elements import FUNCTIONS, ArrayType, Element, Kind, arithmetic, comparison, integer_range, ranged, strong
from ..frame_agreement import principal_frame
from ..sizes.polynomials import ONE, ZERO, Size, number, product, variable
from ..sizes.size import maximum
from ..values.facts import Operand, TupleOperand, Value
from .argument_checks import (
    as_bool,
    axis_index,
    common,
    constant_array,
    element_with_fill,
    fit_weak,
    is_boolean,
    is_one_item,
    joint_element,
    label,
    no_axis,
    require_equal,
    require_natural,
    require_numbers,
    require_rank,
    reshaped,
    show_number,
    spread,
    static_integers,
    static_sizes,
    text_and_numbers,
    to_scalar,
    to_vector,
    whole_numbers,
    with_fill,
    with_static,
)
from .arithmetic import comparable, compared_exactly, compared_swapped, rounds
from .shape import fill_of

# ---------------------------------------------------------------------------------------------------- logic

BOOL = Element(Kind.BOOL)
COMPARISONS = {"<": "lt", "≤": "le", "=": "eq", "≥": "ge", ">": "gt", "≠": "ne"}
_LOGIC = {"∧": ("and", "lcm"), "∨": ("or", "gcd"), "⍲": ("nand", ""), "⍱": ("nor", "")}


def negation(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`~`: not, on bools."""
    y = as_bool(b, x, span)
    return b.poison(span) if y is None else b.scalar("not", (y,), BOOL, span)


def logical(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`∧ ∨ ⍲ ⍱`: bool on two bools; `∧ ∨` on other numbers are lcm and gcd."""
    if not (require_numbers(b, left, span) and require_numbers(b, right, span)):
        return b.poison(span)
    truth, number = _LOGIC[b.glyph]
    if right.type.element.kind is Kind.BOOL and _is_literal(b, left) and _before(b, left) in COMPARISONS:
        literal = b.text(b.span_of(left))
        _warn_of_literal(b, left, "this compares with a literal and truth values", f"(x{_before(b, left)}{literal}){b.glyph}y")
    x, y = b.to_number(left, span), b.to_number(right, span)
    if (is_boolean(x.type.element) and is_boolean(y.type.element)) or not number:
        p, q = as_bool(b, x, span), as_bool(b, y, span)
        return b.poison(span) if p is None or q is None else b.scalar(truth, (p, q), BOOL, span)
    return _number_theory(b, number, x, y, span)


def _before(b: Builder, x: Operand) -> str:
    """The last character of the program before an operand that is no blank."""
    span = b.span_of(x)
    return b.text(Span(span.file, max(0, span.start - 3), span.start)).rstrip()[-1:]


def _number_theory(b: Builder, function: str, x: Operand, y: Operand, span: Span) -> Operand:
    kind = arithmetic(x.type.element, y.type.element)
    assert kind is not None
    if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
        return b.poison(span)
    return b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), Element(kind), span)


def compare(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`< ≤ = ≥ > ≠`: exact, giving bool; text and numbers are never equal and have no order (E300)."""
    return compared(b, COMPARISONS[b.glyph], left, right, span)


def compared(b: Builder, function: str, left: Operand, right: Operand, span: Span) -> Operand:
    """A comparison by its core name."""
    if text_and_numbers(left, right):
        if function not in ("eq", "ne"):
            return b.error(Code.E300, f"`{b.glyph}` compares text with text or numbers with numbers", span,
                           labels=(label(b, left), label(b, right)))  # fmt: skip
        shape = principal_frame(b, (left, right), span)
        return b.poison(span) if shape is None else constant_array(b, function == "ne", BOOL, shape, span)
    x, y = left, right
    if not (x.type.element.index_bound is not None and y.type.element.index_bound is not None):
        x, y = b.to_number(x, span), b.to_number(y, span)
        kind = comparison(x.type.element, y.type.element)
        assert kind is not None
        if kind not in FUNCTIONS[function].kinds:
            return b.error(Code.E300, f"`{b.glyph}` needs real numbers; complex numbers have no order", span,
                           labels=(label(b, left), label(b, right)))  # fmt: skip
        if not (x.poisoned or y.poisoned) and (rounds(x, y) or rounds(y, x)):
            if principal_frame(b, (x, y), span) is None:
                return b.poison(span)
            exact = compared_exactly if rounds(x, y) else compared_swapped
            return exact(b, function, *((x, y) if rounds(x, y) else (y, x)), span)
        x, y = b.convert(x, kind, span), b.convert(y, kind, span)
    return b.scalar(function, (x, y), BOOL, span)


def match(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`≡ ≢`: a scalar bool; different shapes or text against numbers do not match."""
    _warn_of_padding(b, left, right, span)
    same = _match(b, left, right, span)
    return same if b.glyph == "≡" or same.poisoned else b.scalar("not", (same,), BOOL, span)


def _warn_of_padding(b: Builder, left: Operand, right: Operand, span: Span) -> None:
    """W350 for a text in quotes that is matched with rows of text, as wide as the widest, of another or an unknown length."""
    for rows, word in ((left, right), (right, left)):
        row_of, text = b.facts_of(rows).cell_of, b.text(b.span_of(word)).lstrip("⊢ ")
        table = row_of or rows
        if (table.type.rank, word.type.rank) != (2, 1) or table.type.element.kind is not Kind.CHAR or text[:1] not in ("'", '"'):
            continue
        width, length = table.type.shape[1], word.type.shape[0]
        if text.count(text[0]) != 2 or text[-1] != text[0] or (row_of is not None and b.equal(width, length)):
            continue
        padded = f"rows are padded to the longest one, so this is false for all unless that has {length} characters"
        shown = b.source_names.names.get(table.value, "rows")
        note = f"`{shown} text.equals {text}` compares each row without its padding (`use text`)"
        message = "a matrix of text and a text never match" if row_of is None else padded
        b.report(Diagnostic(Code.W350, message, span, Severity.WARNING, labels=(label(b, table), label(b, word)), notes=(note,)))


def _match(b: Builder, left: Operand, right: Operand, span: Span) -> Operand:
    differs = left.type.rank != right.type.rank or text_and_numbers(left, right)
    pairs = zip(left.type.shape, right.type.shape, strict=False)
    if differs or any(b.equal(x, y) is False for x, y in pairs):
        return constant_array(b, False, BOOL, (), span)
    x, y = comparable(b, left, right, span)
    constant = None
    if x.constant is not None and y.constant is not None:
        constant = (x.constant == y.constant and tuple(x.type.shape) == tuple(y.type.shape),)
    return b.emit(lambda r: library_op(r, "match", x.value, y.value), ArrayType(BOOL, ()), span, constant=constant)


def first_occurrence(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`≠⍵`: is each major cell the first of its kind?"""
    if not require_rank(b, x, 1, span):
        return b.poison(span)
    return b.emit(lambda r: library_op(r, "first_occurrence", x.value), ArrayType(BOOL, x.type.shape[:1]), span)


def select(b: Builder, left: Operand, right: Value, axis: Operand | None, span: Span) -> Value:
    """`m ¿ (a ⋄ b)`: a where m is true, else b; tuples are selected item by item."""
    if not isinstance(right, TupleOperand) or len(right.items) != 2:
        return b.error(Code.E305, "`¿` takes a tuple of two on its right: `m ¿ (a ⋄ b)`", span)
    mask = as_bool(b, left, span)
    if _is_literal(b, left):
        message = "this condition is a literal, so one of the two values is never taken"
        _warn_of_literal(b, left, message, "(x>0)¿(a ⋄ b)")
    return b.poison(span) if mask is None else _select(b, mask, right.items[0], right.items[1], span)


def _is_literal(b: Builder, x: Operand) -> bool:
    """Is it one number that the program writes here?"""
    return x.constant is not None and b.text(b.span_of(x))[:1].isdigit() and x.type.rank == 0


def _warn_of_literal(b: Builder, literal: Operand, message: str, meant: str) -> None:
    """W350 for a literal that belongs to the comparison before it."""
    note = f"`{b.glyph}` comes before what is left of the literal: write `{meant}`, not `{re.sub('[()]', '', meant, count=2)}`"
    b.report(Diagnostic(Code.W350, message, b.span_of(literal), Severity.WARNING, notes=(note,)))


def _select(b: Builder, mask: Operand, yes: Value, no: Value, span: Span) -> Value:
    if isinstance(yes, TupleOperand) or isinstance(no, TupleOperand):
        if not (isinstance(yes, TupleOperand) and isinstance(no, TupleOperand) and len(yes.items) == len(no.items)):
            return b.error(Code.E305, "the two sides of `¿` are tuples of different structure", span)
        return TupleOperand(tuple(_select(b, mask, p, q, span) for p, q in zip(yes.items, no.items, strict=True)))
    if yes.poisoned or no.poisoned:
        return b.poison(span)
    both = common(b, (yes, no), span, "`¿` needs two values of one type, but these mix text and numbers")
    if both is None:
        return b.poison(span)
    return b.scalar("select", (mask, *both), joint_element(b, both), span)


# ---------------------------------------------------------------------------------------------------- bits
#
# `⎕band ⎕bor ⎕bxor ⎕bnot ⎕shl ⎕shr ⎕shru`: the bits of integers in two's complement; bools are converted to i64.
#
# `⎕band` with a number that is not negative is at most that number, so `255⎕band x` indexes an array of 256 cells.

DyadicRule = Callable[[Builder, Operand, Operand, Operand | None, Span], Value]


def _integers(b: Builder, x: Operand, span: Span) -> Operand | None:
    """x as numbers, bools as i64; None after E300."""
    kind = x.type.element.kind
    if not (kind.is_integer or kind is Kind.BOOL):
        b.error(Code.E300, f"`{b.glyph}` needs integers, but this is {show_type(x.type)}", span, labels=(label(b, x),))
        return None
    y = b.to_number(x, span)
    return b.convert(y, Kind.I64, span) if y.type.element.kind is Kind.BOOL else y


def complement(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⎕bnot`: every bit inverted."""
    y = _integers(b, x, span)
    if y is None:
        return b.poison(span)
    kind = y.type.element.kind
    low, high = integer_range(y.type.element)
    known = kind is not Kind.U8 and low is not None and high is not None
    element = ranged(kind, -1 - high, -1 - low) if known and low is not None and high is not None else Element(kind)
    return b.scalar("bnot", (y,), element, span)


def both(function: str) -> DyadicRule:
    """The rule of `⎕band ⎕bor ⎕bxor`: bit by bit, in the promoted kind."""

    def rule(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
        x, y = _integers(b, left, span), _integers(b, right, span)
        if x is None or y is None:
            return b.poison(span)
        kind = arithmetic(x.type.element, y.type.element)
        assert kind is not None
        if not (fit_weak(b, x, kind, span) and fit_weak(b, y, kind, span)):
            return b.poison(span)
        element = _bounded(function, kind, x.type.element, y.type.element)
        return b.scalar(function, (b.convert(x, kind, span), b.convert(y, kind, span)), element, span)

    return rule


def _bounded(function: str, kind: Kind, x: Element, y: Element) -> Element:
    """The result's element, bounded by operands that are not negative."""
    (low1, high1), (low2, high2) = integer_range(x), integer_range(y)
    natural = [high for low, high in ((low1, high1), (low2, high2)) if low is not None and low >= 0]
    highs = [high for high in natural if high is not None]
    if function == "band":
        return ranged(kind, 0, min(highs)) if highs else Element(kind, 0) if natural else Element(kind)
    if len(highs) < 2:
        return Element(kind, 0) if len(natural) == 2 else Element(kind)
    return ranged(kind, 0, (1 << max(highs).bit_length()) - 1)


def shift(function: str) -> DyadicRule:
    """The rule of `k⎕shl x`, `k⎕shr x`, `k⎕shru x`: x keeps its kind; a count that is not proved to be in 0..width-1 is checked
    at run time (E310)."""

    def rule(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
        count, y = _integers(b, left, span), _integers(b, right, span)
        if count is None or y is None:
            return b.poison(span)
        kind = y.type.element.kind
        inside = _in_width(b, count, kind, span)
        if inside is None:
            return b.poison(span)
        element = _shifted(function, kind, inside.type.element, y.type.element)
        return b.scalar(function, (b.convert(inside, kind, span), y), element, span)

    return rule


def _in_width(b: Builder, count: Operand, kind: Kind, span: Span) -> Operand | None:
    """The count, proved or checked at run time to be in 0..width-1 (E310, W310)."""
    width = 8 * kind.bytes
    low, high = integer_range(count.type.element)
    bad = next((int(c) for c in count.constant or () if isinstance(c, int) and not 0 <= c < width), None)
    if bad is None and ((low is not None and low >= width) or (high is not None and high < 0)):
        bad = low if high is None or high >= 0 else high
    if bad is not None:
        b.error(Code.E310, f"a shift of {kind.value} is by 0 to {width - 1} bits, but this is {show_number(bad)}", span,
                labels=(label(b, count),))  # fmt: skip
        return None
    element = Element(Kind.I64, max(0, low or 0), min(width - 1, width if high is None else high))
    position = b.convert(count, Kind.I64, span)
    if low is not None and low >= 0 and high is not None and high < width:
        return b.with_type(position, ArrayType(element, position.type.shape))
    sizes = (count.static,) if isinstance(count.static, Size) else count.static
    if sizes is not None and all(b.at_most(ZERO, size) and b.at_most(size, number(width - 1)) for size in sizes):
        return b.with_type(position, ArrayType(element, position.type.shape))
    b.report(Diagnostic(
        Code.W310,
        f"this count may be any {count.type.element.kind.value}, but a shift of {kind.value} is by 0 to {width - 1} bits",
        span, Severity.WARNING, labels=(label(b, count),), verdict=Verdict.UNKNOWN,
        notes=("every count is checked when the program runs", f"limit it: `{width - 1}⎕band n`, or `{width - 1}⌊0⌈n`"),
    ))  # fmt: skip
    bit_positions = b.emit(lambda r: Iota(r), ArrayType(Element(Kind.I64, 0, width - 1), (number(width),)), span)
    type = ArrayType(element, position.type.shape)
    return b.emit(lambda r: Gather(r, bit_positions.value, position.value, 0, checked=True, shift=kind), type, span)


def _shifted(function: str, kind: Kind, count: Element, y: Element) -> Element:
    """The result's element; numbers that are not negative stay so when shifted right."""
    low, high = integer_range(y)
    least, most = count.low or 0, count.high
    if function == "shl":
        fits = low is not None and high is not None and most is not None and low >= 0
        return ranged(kind, low << least, high << most) if fits and low is not None and high is not None and most is not None \
            else Element(kind)  # fmt: skip
    if low is not None and low >= 0:
        return ranged(kind, 0, None if high is None else high >> least)
    if function == "shru" and least > 0:
        return ranged(kind, 0, (1 << (8 * kind.bytes - least)) - 1)
    return Element(kind)


# ---------------------------------------------------------------------------------------------------- masks
#
# `/ ⌿ \ ⍀` as functions, and monadic `⍸`: compress, replicate, expand, where.
#
# A mask that is not a literal gives a runtime size, the same for equal masks.  Literal counts give static sizes: they become a
# gather with literal indices, in which -1 stands for a fill.

MOST_COUNTS = 4096


def compress(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`m/x m⌿x`: by a bool mask (runtime size) or literal counts (static size)."""
    prepared = _mask_and_axis(b, left, right, axis, span)
    if prepared is None:
        return b.poison(span)
    left, at, counts = prepared
    if counts is not None:
        return replicate(b, left, counts, right, at, span)
    sizes = static_sizes(b, left) if is_one_item(left) and left.type.element.kind is not Kind.BOOL else None
    if sizes is not None and left.static is not None:
        if not require_natural(b, sizes, span, "a count"):
            return b.poison(span)
        return repeat_each(b, to_vector(b, right, span), sizes[0], at, span)
    if right.type.element.kind is Kind.BOOL and not is_boolean(left.type.element) and not left.poisoned:
        message, notes = f"the mask of `{b.glyph}` is its left argument, not its right one", (f"exchange them: `mask{b.glyph}x`",)
        return b.error(Code.E303, message, span, labels=(label(b, left), label(b, right)), notes=notes)
    mask = as_bool(b, left, span)
    return b.poison(span) if mask is None else by_mask(b, mask, right, at, span)


def _mask_and_axis(
    b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span
) -> tuple[Operand, int, tuple[int, ...] | None] | None:  # fmt: skip
    """The mask or counts, the axis, and the counts if they are literal; None after an error."""
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
    """The counts, if they are written in the program: integers, or a few 0s and 1s (many are treated as a mask)."""
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
    if is_one_item(mask) and mask.type.shape != (length,):
        mask = spread(b, to_scalar(b, mask, span), (), (length,), span)
    message = f"this mask has {mask.type.shape[0]} elements, but the axis it selects from has {length}"
    if not require_equal(b, mask.type.shape[0], length, Code.E101, span, message, mask, right):
        return b.poison(span)
    size = b.mask_size(mask, length, span)
    shape = (*x.type.shape[:axis], variable(size), *x.type.shape[axis + 1 :])
    type = ArrayType(strong(x.type.element), shape)
    return b.emit(lambda r: Compress(r, mask.value, x.value, axis, size), type, span)


def replicate(b: Builder, left: Operand, counts: tuple[int, ...], right: Operand, axis: int, span: Span) -> Operand:
    """Each cell along `axis` repeated by its literal count; a negative count inserts fills."""
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
    picked = pick_cells(b, x, indices, axis, span)
    if left.type.element.kind is Kind.BOOL and not picked.poisoned:
        b.add_facts(picked, selected=b.span_of(left))
    return picked


def _extended(b: Builder, x: Operand, axis: int, shape: Sequence[Size], span: Span) -> Operand:
    """A scalar, or an axis of length 1, replicated along `axis`."""
    if x.type.rank == 0:
        return spread(b, x, (), shape, span)
    rest = [s for at, s in enumerate(x.type.shape) if at != axis]
    return spread(b, reshaped(b, x, rest, span), [at for at in range(len(shape)) if at != axis], shape, span)


def pick_cells(b: Builder, x: Operand, indices: Sequence[int], axis: int, span: Span) -> Operand:
    """Cells of x along `axis` at literal positions; -1 is a fill."""
    fills = any(i < 0 for i in indices)
    y = with_fill(b, x, span) if fills else x
    element = element_with_fill(y.type.element) if fills else strong(y.type.element)
    shape = (*y.type.shape[:axis], number(len(indices)), *y.type.shape[axis + 1 :])
    at = b.literal(tuple(indices), ArrayType(Element(Kind.I64), (number(len(indices)),)), span)
    constant = static = None
    if y.type.rank == 1 and len(indices) <= MOST_COUNTS:
        fill = fill_of(element.kind)
        constant = None if y.constant is None else tuple(y.constant[i] if i >= 0 else fill for i in indices)
        static = tuple(y.static[i] if i >= 0 else ZERO for i in indices) if isinstance(y.static, tuple) else None
    picked = b.emit(lambda r: Gather(r, y.value, at.value, axis, checked=False, fills=fills), ArrayType(element, shape), span,
                  constant=constant)  # fmt: skip
    return with_static(b, picked, static, x)


def repeat_each(b: Builder, x: Operand, count: Size, axis: int, span: Span) -> Operand:
    """Repeat every cell along `axis` `count` times, where `count` is any size."""
    if count == ONE:
        return x
    length = x.type.shape[axis]
    doubled = (*x.type.shape[: axis + 1], count, *x.type.shape[axis + 1 :])
    axes = [i if i <= axis else i + 1 for i in range(x.type.rank)]
    wide = spread(b, x, axes, doubled, span)
    shape = (*x.type.shape[:axis], length * count, *x.type.shape[axis + 1 :])
    return b.emit(lambda r: Reshape(r, wide.value), ArrayType(strong(x.type.element), shape), span)


def _all_fills(b: Builder, x: Operand, count: int, axis: int, span: Span) -> Operand:
    y = with_fill(b, x, span)
    shape = (*y.type.shape[:axis], y.type.shape[axis] * count, *y.type.shape[axis + 1 :])
    return constant_array(b, fill_of(y.type.element.kind), element_with_fill(y.type.element), shape, span)


# ---------------------------------------------------------------------------------- expand


def expand(b: Builder, left: Operand, right: Operand, axis: Operand | None, span: Span) -> Value:
    """`m\\x m⍀x`: cells of x go where the mask holds, fills elsewhere; literal counts repeat cells or insert fills."""
    prepared = _mask_and_axis(b, left, right, axis, span)
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
    y = with_fill(b, x, span)
    shape = [*y.type.shape[:at], mask.type.shape[0], *y.type.shape[at + 1 :]]
    checked = y.type.shape[at] != variable(b.mask_size(mask, mask.type.shape[0], span))
    type = ArrayType(element_with_fill(y.type.element), tuple(shape))
    return b.emit(lambda r: Expand(r, mask.value, y.value, at, checked), type, span)


def _masked(b: Builder, mask: Operand, x: Operand, axis: int, span: Span) -> Operand:
    """x where the mask along `axis` holds, fills elsewhere."""
    y = with_fill(b, x, span)
    element = element_with_fill(y.type.element)
    fill = constant_array(b, fill_of(element.kind), element, (), span)
    wide = spread(b, mask, (axis,), y.type.shape, span) if y.type.rank > 1 else mask
    return b.scalar("select", (wide, y, fill), element, span)


def _expand_literal(b: Builder, left: Operand, counts: tuple[int, ...], right: Operand, axis: int, span: Span) -> Operand:
    x = to_vector(b, right, span)
    expected = sum(1 for c in counts if c > 0)
    if x.type.shape[axis] == ONE and (right.type.rank == 0 or expected != 1):
        x = _extended(b, x, axis, [number(expected) if at == axis else s for at, s in enumerate(x.type.shape)], span)
    actual = x.type.shape[axis]
    message = f"this mask holds {expected} times, but the axis has {actual} cells"
    if not require_equal(b, number(expected), actual, Code.E201, span, message, left, right):
        return b.poison(span)
    indices: list[int] = []
    cell = 0
    for c in counts:
        indices += [cell] * c if c > 0 else [-1] * max(1, -c)
        cell += c > 0
    return pick_cells(b, x, indices, axis, span)


# ----------------------------------------------------------------------------------- where


def where(b: Builder, x: Operand, axis: Operand | None, span: Span) -> Value:
    """`⍸m`: positions that hold, as many as the mask's own runtime size; literal counts repeat positions."""
    if not (no_axis(b, axis, span) and require_rank(b, x, 1, span)):
        return b.poison(span)
    if x.type.rank == 1:
        length = x.type.shape[0]
        counts = _counts(b, x)
        if counts is not None and all(c >= 0 for c in counts):
            positions = b.emit(lambda r: Iota(r), ArrayType(Element(Kind.I64, index_bound=length), (length,)), span,
                               constant=tuple(range(len(counts))))  # fmt: skip
            indices = [i for i, c in enumerate(counts) for _ in range(c)]
            return pick_cells(b, positions, indices, 0, span)
    mask = as_bool(b, x, span)
    if mask is None:
        return b.poison(span)
    value, cells = mask.value, x.type.shape
    size = b.mask_size(mask, product(cells), span)
    element = Element(Kind.I64, index_bound=reduce(maximum, cells))
    shape = (variable(size),) if len(cells) == 1 else (variable(size), number(len(cells)))
    return b.emit(lambda r: Where(r, value, size), ArrayType(element, shape), span)


def add_origin(b: Builder, x: Operand, span: Span) -> Operand:
    """Positions stored as plain i64, with the index origin added."""
    if b.index_origin == 0:
        return x
    one = b.literal((b.index_origin,), ArrayType(Element(Kind.I64, b.index_origin, b.index_origin, weak=True), ()), span)
    return b.scalar("add", (x, one), Element(Kind.I64), span)
