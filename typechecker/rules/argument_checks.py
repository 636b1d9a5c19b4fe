"""Checks and conversions that the rules share: elements, shapes, cells, fills, and arguments that are sizes or axes.

Every helper reports its error on the builder and then returns None (or False); the rule returns `b.poison(span)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from ...lang.diagnostics.model import Code, Edit, Fix, Label
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ...lang.tree.expressions import BoundedSize, SizeCall, SizeExpression, SizeName, SizeNumber
from ..core.builder import MOST_AXES, MOST_SIZES, Builder
from ..core.operations import BindSize, Broadcast, Gather, Payload, Reshape, Scalar, Stack, Transpose
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, fits, integer_range, limits, promote_all, ranged, size_range, strong
from ..proof.obligations import Obligation, Relation, SizeFact
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, number, product, variable
from ..sizes.size import maximum, minimum, quotient, remainder, surely_fits_i64, truncated_subtract
from ..values.facts import Operand, Value

MonadicRule: TypeAlias = Callable[[Builder, Operand, Operand | None, Span], Value]
DyadicRule: TypeAlias = Callable[[Builder, Operand, Operand, Operand | None, Span], Value]


# -------------------------------------------------------------------------------- elements


def require_numbers(b: Builder, x: Operand, span: Span) -> bool:
    """E300 unless x is numeric (bool included)."""
    if x.type.element.kind is Kind.CHAR:
        notes = ("`,` joins texts, and `⍕x` is a number as text",) if b.glyph == "+" else ()
        b.error(Code.E300, f"`{b.glyph}` needs numbers; this is text", span, labels=(label(b, x),), notes=notes)
        return False
    return True


def label(b: Builder, x: Operand) -> Label:
    """A label with the type of an operand, at its span."""
    return Label(b.span_of(x), show_type(x.type))


def is_boolean(element: Element) -> bool:
    """Is the element bool, or an integer known to be 0 or 1?"""
    return element.kind is Kind.BOOL or (element.index_bound is None and element.kind.is_integer and fits(element, Kind.BOOL))


_COUNTED: Final = {"/": ("quotients are `x÷y`",), "⌿": ()}
"""Functions whose left operand may have been meant as counts instead of truth values, so that no fix is offered, with notes."""


def as_bool(b: Builder, x: Operand, span: Span) -> Operand | None:
    """x as bool; E303 unless it is bool or its integers are known to be 0 or 1."""
    y = b.to_number(x, span)
    if is_boolean(y.type.element) or (ZERO in y.type.shape and y.type.element.kind is not Kind.CHAR):
        truth = b.convert(y, Kind.BOOL, span)
        b.sizes.share(truth.value, x.value)
        return truth
    operand = b.span_of(x)
    text = b.text(operand) if b.source_names.uses.get(x.value) == operand else ""
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    if x.type.element.kind is not Kind.CHAR:
        comparison = f"compare it: `0≠{text}`" if text else "compare it: `x≠0`"
        if b.glyph in _COUNTED or not text or x.type.element.kind.is_float:
            notes = (comparison, *_COUNTED.get(b.glyph, ()))
        else:
            fixes = (Fix(comparison, (Edit(operand, f"(0≠{text})"),)),)
    b.error(Code.E303, f"`{b.glyph}` needs a bool here, but this is {show_type(x.type)}", operand, notes=notes, fixes=fixes)
    return None


def require_integers(b: Builder, x: Operand, span: Span, what: str) -> bool:
    """E300 unless x holds integers, positions or bools."""
    kind = x.type.element.kind
    if x.type.element.unit is None and (kind.is_integer or kind is Kind.BOOL or ZERO in x.type.shape):
        return True
    b.error(Code.E300, f"{what} must be whole numbers, but this is {show_type(x.type)}", span, labels=(label(b, x),))
    return False


def common(b: Builder, items: Sequence[Operand], span: Span, mixed: str) -> tuple[Operand, ...] | None:
    """The operands converted to their promoted element (positions if all are positions); E300 for text with numbers."""
    if not all(x.type.element.index_bound is not None for x in items):
        items = [b.to_number(x, span) for x in items]
    element = promote_all([x.type.element for x in items])
    if element is None:
        b.error(Code.E300, of_mixed(items, mixed), span, labels=tuple(label(b, x) for x in items))
        return None
    if any(not fit_weak(b, x, element.kind, span) for x in items):
        return None
    return tuple(x if x.type.element.index_bound is not None else b.convert(x, element.kind, span) for x in items)


def of_mixed(items: Sequence[Operand], mixed: str) -> str:
    """The message for operands without a common element type: `mixed` for text and numbers, another one for dates and times."""
    if all(x.type.element.unit is None for x in items):
        return mixed
    kinds = dict.fromkeys(show_type(replace(x.type, shape=(), permutation=False)) for x in items)
    return f"one array holds one type, but these are {' and '.join(kinds)}"


def joint_element(b: Builder, items: Sequence[Operand]) -> Element:
    """The promoted element of some operands, which are all text or all numbers, with the range of all; not weak."""
    positions = all(x.type.element.index_bound is not None for x in items)
    element = promote_all([x.type.element if positions else _number_element(b, x) for x in items])
    assert element is not None
    return strong(element)


def _number_element(b: Builder, x: Operand) -> Element:
    """The element of an operand as a number, bounded by its exact value if that is known."""
    element = b.number_element(x.type.element)
    if element.kind is not Kind.I64 or not isinstance(x.static, Size) or not surely_fits_i64(x.static):
        return element
    low, high = x.static.bounds()
    low = 0 if (low is None or low < 0) and b.at_most(ZERO, x.static) else low
    return ranged(Kind.I64, low, high, weak=element.weak, symbolic_max=None if x.static.constant is not None else x.static)


def fit_weak(b: Builder, x: Operand, kind: Kind, span: Span) -> bool:
    """E302 if a literal does not fit the integer kind of the other operand."""
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


def with_static(b: Builder, x: Operand, static: Size | tuple[Size, ...] | None, *sources: Operand) -> Operand:
    """x with the exact value `static`; weak if all `sources` are."""
    if static is None:
        return x
    b.note_exact(x.value, static)
    weak = all(source.type.element.weak for source in sources)
    return replace(x, static=static, type=replace(x.type, element=replace(x.type.element, weak=weak)))


# --------------------------------------------------------------------------- shapes and cells


def reshaped(b: Builder, x: Operand, shape: Sequence[Size], span: Span) -> Operand:
    """The elements of x in another shape with the same number of elements (a view)."""
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
    return b.emit(
        lambda r: Broadcast(r, x.value, named), ArrayType(strong(x.type.element), tuple(shape)), span, constant=constant
    )


def _small_count(shape: Sequence[Size]) -> int | None:
    count = product(shape).constant
    return count if count is not None and count <= 4096 else None


def transposed(b: Builder, x: Operand, axes: Sequence[int], span: Span) -> Operand:
    """x with its axis i as axis axes[i]; the axes are distinct."""
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
    item = b.emit(lambda r: Gather(r, x.value, at.value, 0, checked=False), type, span, constant=constant)
    return with_static(b, item, static, x)


def is_one_item(x: Operand) -> bool:
    """Is x a scalar, or a vector known to have one item, which APL accepts as a scalar?"""
    return x.type.rank == 0 or (x.type.rank == 1 and x.type.shape[0] == ONE)


def to_scalar(b: Builder, x: Operand, span: Span) -> Operand:
    """A one-item array as a scalar."""
    if x.type.rank == 0:
        return x
    scalar = b.emit(lambda r: Reshape(r, x.value), ArrayType(x.type.element, ()), span, constant=x.constant)
    static = x.static[0] if isinstance(x.static, tuple) and x.static else None
    return with_static(b, scalar, static, x)


def to_vector(b: Builder, x: Operand, span: Span) -> Operand:
    """A scalar as a vector of one item."""
    if x.type.rank:
        return x
    vector = b.emit(lambda r: Reshape(r, x.value), ArrayType(x.type.element, (ONE,)), span, constant=x.constant)
    return with_static(b, vector, (x.static,), x) if isinstance(x.static, Size) else vector


def with_fill(b: Builder, x: Operand, span: Span) -> Operand:
    """x as an array that may get fills: with index origin 1, positions become numbers, since the fill 0 is no position there."""
    below = x.type.element.index_bound
    if below is None or (b.index_origin == 0 and b.at_most(ONE, below)):
        return x
    return b.to_number(x, span)


def element_with_fill(element: Element) -> Element:
    """The element with 0 in its range."""
    low = None if element.low is None else min(element.low, 0)
    high = None if element.high is None else max(element.high, 0)
    most = None if element.symbolic_max is None else maximum(0, element.symbolic_max)
    return replace(element, low=low, high=high, symbolic_max=most, weak=False)


def constant_array(b: Builder, value: Payload, element: Element, shape: Sequence[Size], span: Span) -> Operand:
    """An array whose elements all are one value."""
    one = b.literal((value,), ArrayType(element, ()), span)
    return spread(b, one, (), shape, span) if shape else one


def text_and_numbers(x: Operand, y: Operand) -> bool:
    """Is exactly one of the operands text?"""
    return (x.type.element.kind is Kind.CHAR) != (y.type.element.kind is Kind.CHAR)


def require_rank(b: Builder, x: Operand, least: int, span: Span) -> bool:
    """E131 unless x has at least `least` axes."""
    if x.type.rank >= least:
        return True
    b.error(Code.E131, f"`{b.glyph}` needs at least rank {least}, but this has rank {x.type.rank}", span, labels=(label(b, x),))
    return False


def require_equal(b: Builder, left: Size, right: Size, code: Code, span: Span, message: str, *values: Operand) -> bool:
    """Require that two sizes are equal; the message has the operands' types as labels."""
    if left == right:
        return True
    return b.require(Obligation(SizeFact(Relation.EQUAL, left, right), code, span, message, tuple(label(b, v) for v in values)))


# ---------------------------------------------------------------------------------------------------- size expressions

Names: TypeAlias = Callable[[SizeName | BoundedSize], Size | None]
"""The size that a name stands for; None after an error."""


def size_expression(b: Builder | None, node: SizeExpression, names: Names, *, signed: bool = False) -> Size | None:
    """The size of an expression.  A builder requires `divisor ≥ 1` and, unless parts are `signed`, `minuend ≥ subtrahend` of them
    (E203, E202)."""
    match node:
        case SizeNumber():
            return number(node.value)
        case SizeName():
            return names(node)
        case SizeCall():
            monus_args = _truncated_difference(node)
            args: list[Size] = []
            for arg in monus_args or node.args:
                value = size_expression(b, arg, names, signed=signed)
                if value is None:
                    return None
                args.append(value)
            return truncated_subtract(*args) if monus_args else _size_of_call(b, node, args, signed=signed)


def _truncated_difference(node: SizeCall) -> tuple[SizeExpression, ...]:
    """The operands a and b of `0⌈a-b`, which needs no `a ≥ b`; else none."""
    match node:
        case SizeCall(function="⌈", args=(SizeNumber(value=0), SizeCall(function="-", args=(_, _) as operands))):
            return operands
        case _:
            return ()


def _size_of_call(b: Builder | None, node: SizeCall, args: Sequence[Size], *, signed: bool) -> Size | None:
    first, last = args[0], args[-1]
    match node.function, len(args):
        case "+", 2:
            return first + last
        case "×", 2:
            return first * last
        case "-", 2:
            if isinstance(node.args[0], SizeNumber) and node.args[0].value == 0:
                return truncated_subtract(ZERO, last)
            fact = SizeFact(Relation.AT_MOST, last, first)
            fits = b is None or signed or b.require(Obligation(fact, Code.E202, node.span, f"{first}-{last} may be negative"))
            return first - last if fits else None
        case "÷", 2:
            return quotient(first, last) if _divisor(b, last, node.span) else None
        case "|", 2:
            return remainder(last, first) if _divisor(b, first, node.span) else None
        case "⌈", 2:
            return maximum(first, last)
        case "⌊", 2:
            return minimum(first, last)
        case "⌊", 1:
            return first
    if b is not None and node.function == "*":
        notes = ("sizes are polynomials: a power stands alone in a fact, `n = 2*p` with a p that is nowhere else",)
        b.error(Code.E011, "a power is not a size", node.span, notes=notes)
    elif b is not None:
        b.error(Code.E011, f"`{node.function}` with {len(args)} argument{'s' * (len(args) > 1)} is not a size", node.span)
    return None


def _divisor(b: Builder | None, divisor: Size, span: Span) -> bool:
    return b is None or b.require(
        Obligation(SizeFact(Relation.AT_MOST, ONE, divisor), Code.E203, span, f"the divisor {divisor} may be 0")
    )


# ---------------------------------------------------------------------------------------------------- static arguments
#
# Arguments on which types depend: sizes and axes, known before the program runs.

def static_sizes(b: Builder, x: Operand) -> tuple[Size, ...] | None:
    """The exact value of a static scalar or vector, as numbers (not positions)."""
    if x.type.rank > 1:
        return None
    if x.type.rank == 1 and x.type.shape[0] == ZERO:
        return ()
    if x.type.element.unit is not None:
        return None
    origin = b.index_origin if x.type.element.index_bound is not None else 0
    if isinstance(x.static, Size):
        return (x.static + origin,)
    if x.static is not None:
        return tuple(s + origin for s in x.static)
    if x.constant is not None and is_whole_literal(x):
        return tuple(number(int(c)) for c in x.constant if isinstance(c, float))
    if x.constant is not None and all(isinstance(c, int) for c in x.constant):
        return tuple(number(int(c) + origin) for c in x.constant if isinstance(c, int))
    return None


def is_whole_literal(x: Operand) -> bool:
    """Is x a constant of floats that are whole numbers, such as `1e6` or `√9`, which APL accepts as integers?"""
    return x.constant is not None and x.type.element.kind is Kind.F64 and all(
        isinstance(c, float) and c.is_integer() and abs(c) < 2**53 for c in x.constant
    )  # fmt: skip


def whole_numbers(b: Builder, x: Operand, span: Span) -> Operand:
    """x, as integers if it is a constant of whole numbers."""
    if x.constant is None or not x.constant or not is_whole_literal(x):
        return x
    data = [int(c) for c in x.constant if isinstance(c, float)]
    return b.literal(data, replace(x.type, element=Element(Kind.I64, min(data), max(data), weak=x.type.element.weak)), span)


def static_integer(b: Builder, x: Operand) -> int | None:
    """The value of a scalar or one-item vector, if it is a number known while checking."""
    sizes = static_sizes(b, x)
    return sizes[0].constant if sizes is not None and len(sizes) == 1 else None


def static_integers(b: Builder, x: Operand) -> tuple[int, ...] | None:
    """The values of a scalar or vector, if all are numbers known while checking."""
    sizes = static_sizes(b, x)
    if sizes is None:
        return None
    numbers = tuple(c for s in sizes if (c := s.constant) is not None)
    return numbers if len(numbers) == len(sizes) else None


def size_arguments(b: Builder, x: Operand, span: Span, what: str) -> tuple[Size, ...] | None:
    """The sizes that an argument gives (possibly negative): static ones, or integers with a bound, which become runtime sizes;
    E403 without a bound."""
    exact = b.facts_of(x).quotients
    if exact is not None:
        return _exact_quotients(b, exact, span, what)
    items = _items(b, x)
    mixed = items is not None and any(b.facts_of(item).quotients is not None for item in items)
    if not is_whole_literal(x) and not mixed and not require_integers(b, x, span, what):
        return None
    if x.type.rank > 1:
        b.error(Code.E131, f"{what} must be a scalar or a vector, but this is {show_type(x.type)}", span)
        return None
    count = 1 if x.type.rank == 0 else x.type.shape[0].constant
    if count is not None and count > MOST_SIZES:
        message = f"{count:,} numbers are {what}, one for each axis, and at most {MOST_AXES} axes are supported"
        b.error(Code.E620, message, span, labels=(label(b, x),))
        return None
    sizes = static_sizes(b, x)
    if sizes is not None:
        return sizes
    if count is None:
        b.error(Code.E403, f"how many {what} there are must be known before the program runs", span, labels=(label(b, x),))
        return None
    if mixed and items is not None:
        parts = [size_arguments(b, item, span, what) for item in items]
        known = [part[0] for part in parts if part is not None]
        return tuple(known) if len(known) == count else None
    x = b.to_number(x, span)
    bounded: list[Size] = []
    for i in range(count):
        item = items[i] if items is not None else x if x.type.rank == 0 else item_of(b, x, i, span)
        size = item.static if isinstance(item.static, Size) else _bounded_size(b, item, span)
        if size is None:
            fixes = bounded_fix(b, item)
            b.error(Code.E403, f"{what} must have a bound that is known before the program runs", span, labels=(label(b, x),),
                    notes=("this integer could be anything, so memory would not be finite",
                           "use a size (`≢x`), a `param`, a count (`+/mask`) or a limit (`100⌊0⌈i`)"), fixes=fixes)  # fmt: skip
            return None
        bounded.append(size)
    return tuple(bounded)


def _items(b: Builder, x: Operand) -> list[Operand] | None:
    """The scalars that were joined to a vector of numbers, with the facts about each; None if it was computed otherwise."""
    op = b.definitions.get(x.value)
    if not isinstance(op, Stack) or x.type.rank != 1 or x.type.element.index_bound is not None:
        return None
    items: list[Operand] = []
    for value in op.args:
        inner = b.definitions.get(value)
        while isinstance(inner, Scalar) and inner.function == "convert":  # to the type of the vector
            value = inner.args[0]
            inner = b.definitions.get(value)
        item = b.limited(Operand(value, b.types[value], b.sequences.size(value)))
        items += [item] if isinstance(item, Operand) else []
    return items


def bounded_fix(b: Builder, x: Operand) -> tuple[Fix, ...]:
    """The fix of an integer without a bound: limit it where it is written."""
    operand = b.span_of(x)
    text = b.text(operand) if b.source_names.uses.get(x.value) == operand else ""
    return (Fix(f"limit it, for example to 100: `100⌊0⌈{text}`", (Edit(operand, f"(100⌊0⌈{text})"),)),) if text else ()


def _exact_quotients(b: Builder, pairs: tuple[tuple[Size, Size], ...], span: Span, what: str) -> tuple[Size, ...] | None:
    """The quotients `a÷b` of sizes as sizes; b must divide a (E201)."""
    quotients: list[Size] = []
    for top, bottom in pairs:
        divisor = Obligation(SizeFact(Relation.AT_MOST, ONE, bottom), Code.E203, span, f"the divisor {bottom} may be 0")
        message = f"{what} must be whole, but {bottom} may not divide {top}"
        divides = Obligation(SizeFact(Relation.DIVIDES, bottom, top), Code.E201, span, message)
        if not (b.require(divisor) and b.require(divides)):
            return None
        quotients.append(quotient(top, bottom))
    return tuple(quotients)


def _bounded_size(b: Builder, x: Operand, span: Span) -> Size | None:
    """The runtime size of a scalar in 0..cap (negated, of one in -cap..0)."""
    negated = b.facts_of(x).negated
    if negated is not None:
        size = _bounded_size(b, negated, span)
        return None if size is None else -size
    element = x.type.element
    low, high = integer_range(element)
    cap = size_range(element)[1]
    if cap is not None and low is not None and low >= 0:
        return variable(_runtime(b, x, cap, span))
    if high is not None and high <= 0 and low is not None:
        opposite = b.scalar("neg", (b.convert(x, Kind.I64, span),), Element(Kind.I64, -high, -low), span)
        b.add_facts(opposite, negated=x)
        return -variable(_runtime(b, opposite, number(-low), span))
    return None


def _runtime(b: Builder, x: Operand, cap: Size, span: Span) -> SizeVariable:
    least = integer_range(x.type.element)[0] or 0
    size = b.integer_size(x.value, maximum(0, cap), span, max(0, least))
    b.effect(BindSize(x.value, size))
    return size


def require_natural(b: Builder, sizes: Sequence[Size], span: Span, what: str) -> bool:
    """E202 unless every size is at least 0."""
    good = True
    for s in sizes:
        message = f"{what} may not be negative, but {s} can be" if s.constant is None else f"{what} may not be negative: {s}"
        good = b.require(Obligation(SizeFact(Relation.AT_MOST, ZERO, s), Code.E202, span, message)) and good
    return good


def axis_index(b: Builder, axis: Operand | None, default: int, rank: int, span: Span) -> int | None:
    """The 0-based axis of `f[axis]`, or the default; None after E132."""
    if axis is None:
        return default
    value = static_integer(b, axis)
    if value is None:
        b.error(Code.E132, "an axis is one integer known before the program runs", span)
        return None
    return check_axis(b, value - b.index_origin, rank, span)


def check_axis(b: Builder, axis: int, rank: int, span: Span) -> int | None:
    """The axis, or None after E132."""
    if 0 <= axis < rank:
        return axis
    origin = b.index_origin
    valid_axes = "a scalar has no axes" if rank == 0 else f"axes {origin}..{rank - 1 + origin} exist"
    b.error(Code.E132, f"there is no axis {show_number(axis + origin)} here: {valid_axes}", span)
    return None


def no_axis(b: Builder, axis: Operand | None, span: Span) -> bool:
    """True without a bracket axis; E132 for one on a valence that takes none.

    The binder has rejected a bracket axis on glyphs of which no valence takes one (E002).
    """
    if axis is None:
        return True
    b.error(Code.E132, f"`{b.glyph}` takes no axis", span)
    return False
