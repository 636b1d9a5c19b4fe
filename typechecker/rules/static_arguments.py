"""Arguments that a type depends on: sizes and axes, known before the program runs.

Every helper reports its own error on the builder and then returns None.  Neighbour: `common`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...lang.codes import Code
from ...lang.diagnostics import Edit, Fix
from ...lang.source import Span
from ..builder import MOST_AXES, MOST_SIZES, Builder
from ..core import RuntimeSize
from ..display import show_type
from ..elements import Element, Kind, integer_range
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand
from ..sizes import ONE, ZERO, Size, SizeVariable, maximum, number, quotient, variable
from .common import item_of, label, require_integers, show_number


def static_sizes(b: Builder, x: Operand) -> tuple[Size, ...] | None:
    """The sizes of a static scalar (one) or vector; numbers, not positions."""
    if x.type.rank > 1:
        return None
    if x.type.rank == 1 and x.type.shape[0] == ZERO:
        return ()
    origin = b.index_origin if x.type.element.below is not None else 0
    if isinstance(x.static, Size):
        return (x.static + origin,)
    if x.static is not None:
        return tuple(s + origin for s in x.static)
    if x.constant is not None and whole_literal(x):
        return tuple(number(int(c)) for c in x.constant if isinstance(c, float))
    if x.constant is not None and all(isinstance(c, int) for c in x.constant):
        return tuple(number(int(c) + origin) for c in x.constant if isinstance(c, int))
    return None


def whole_literal(x: Operand) -> bool:
    """Floats known while checking that are whole numbers, such as `1e6` or `√9`: APL takes them where integers are wanted."""
    return x.constant is not None and x.type.element.kind is Kind.F64 and all(
        isinstance(c, float) and c.is_integer() and abs(c) < 2**53 for c in x.constant
    )  # fmt: skip


def whole_numbers(b: Builder, x: Operand, span: Span) -> Operand:
    """x, with floats known to be whole numbers as integers."""
    if x.constant is None or not x.constant or not whole_literal(x):
        return x
    data = [int(c) for c in x.constant if isinstance(c, float)]
    return b.literal(data, replace(x.type, element=Element(Kind.I64, min(data), max(data), weak=x.type.element.weak)), span)


def static_integer(b: Builder, x: Operand) -> int | None:
    """The value of a scalar or one-item vector known as a number while checking."""
    sizes = static_sizes(b, x)
    return sizes[0].constant if sizes is not None and len(sizes) == 1 else None


def static_integers(b: Builder, x: Operand) -> tuple[int, ...] | None:
    """The values of a scalar or vector, all known as numbers while checking."""
    sizes = static_sizes(b, x)
    if sizes is None:
        return None
    numbers = tuple(c for s in sizes if (c := s.constant) is not None)
    return numbers if len(numbers) == len(sizes) else None


def size_arguments(b: Builder, x: Operand, span: Span, what: str) -> tuple[Size, ...] | None:
    """An argument that gives sizes (possibly negative): static, or integers with a bound, which become run-time sizes (E403)."""
    exact = b.known(x).quotients
    if exact is not None:
        return _exact_quotients(b, exact, span, what)
    if not whole_literal(x) and not require_integers(b, x, span, what):
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
    x = b.to_number(x, span)
    bounded: list[Size] = []
    for i in range(count):
        item = x if x.type.rank == 0 else item_of(b, x, i, span)
        size = _bounded_size(b, item, span)
        if size is None:
            fixes = bounded_fix(b, x) if x.type.rank == 0 else ()
            b.error(Code.E403, f"{what} must have a bound that is known before the program runs", span, labels=(label(b, x),),
                    notes=("this integer could be anything, so memory would not be finite",
                           "use a size (`≢x`), a `param`, a count (`+/mask`) or a limit (`100⌊0⌈i`)"), fixes=fixes)  # fmt: skip
            return None
        bounded.append(size)
    return tuple(bounded)


def bounded_fix(b: Builder, x: Operand) -> tuple[Fix, ...]:
    """The repair of an integer without a bound: limit it where it is written."""
    place = b.where(x)
    text = b.text(place) if b.wording.uses.get(x.value) == place else ""
    return (Fix(f"limit it, for example to 100: `100⌊0⌈{text}`", (Edit(place, f"(100⌊0⌈{text})"),)),) if text else ()


def _exact_quotients(b: Builder, pairs: tuple[tuple[Size, Size], ...], span: Span, what: str) -> tuple[Size, ...] | None:
    """`a÷b` of two sizes as a size: b must divide a (E201)."""
    made: list[Size] = []
    for top, bottom in pairs:
        divisor = Obligation(SizeFact(Relation.AT_MOST, ONE, bottom), Code.E203, span, f"the divisor {bottom} may be 0")
        message = f"{what} must be whole, but {bottom} may not divide {top}"
        whole = Obligation(SizeFact(Relation.DIVIDES, bottom, top), Code.E201, span, message)
        if not (b.require(divisor) and b.require(whole)):
            return None
        made.append(quotient(top, bottom))
    return tuple(made)


def _bounded_size(b: Builder, x: Operand, span: Span) -> Size | None:
    """A run-time size for a scalar in 0..cap (or, negated, in -cap..0)."""
    negated = b.known(x).negated
    if negated is not None:
        size = _bounded_size(b, negated, span)
        return None if size is None else -size
    element = x.type.element
    low, high = integer_range(element)
    cap = element.most if element.most is not None else None if high is None else number(high)
    if cap is not None and low is not None and low >= 0:
        return variable(_runtime(b, x, cap, span))
    if high is not None and high <= 0 and low is not None:
        opposite = b.scalar("neg", (b.convert(x, Kind.I64, span),), Element(Kind.I64, -high, -low), span)
        b.note(opposite, negated=x)
        return -variable(_runtime(b, opposite, number(-low), span))
    return None


def _runtime(b: Builder, x: Operand, cap: Size, span: Span) -> SizeVariable:
    least = integer_range(x.type.element)[0] or 0
    size = b.sizes.of_integer(x.value, maximum(0, cap), span, max(0, least))
    b.effect(RuntimeSize(x.value, size))
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
        b.error(Code.E132, f"the axis of `{b.glyph}` must be one integer known before the program runs", span)
        return None
    return check_axis(b, value - b.index_origin, rank, span)


def check_axis(b: Builder, axis: int, rank: int, span: Span) -> int | None:
    """The axis, or None after E132."""
    if 0 <= axis < rank:
        return axis
    origin = b.index_origin
    there = "a scalar has no axes" if rank == 0 else f"axes {origin}..{rank - 1 + origin} exist"
    b.error(Code.E132, f"there is no axis {show_number(axis + origin)} here: {there}", span)
    return None


def no_axis(b: Builder, axis: Operand | None, span: Span) -> bool:
    """E132 if an axis was given to a form that has none; the parser refuses one for glyphs of which no form has (E002)."""
    if axis is None:
        return True
    b.error(Code.E132, f"`{b.glyph}` takes no axis", span)
    return False
