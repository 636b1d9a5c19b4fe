"""Element types (kinds, ranges, index types, weak literals), their promotion, and array types.

An `Element` is a storage kind with what is known statically: an integer range, the size that an index stays below, and whether it
is weak (a literal, a `param` or a known size, which never widens an array's element type).  The rules are in docs/language.md,
Numbers.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from enum import Enum

from ..lang.support.records import dataclass, replace
from .sizes.polynomials import Size, SizeVariable, hull, number, show_short
from .sizes.size import maximum, minimum, surely_fits_i64, upper_bound

# ---------------------------------------------------------------------------------------------------- elements

class Kind(Enum):
    """Storage kind of an element."""

    __hash__ = object.__hash__  # that of Enum is a Python function, and kinds are keys of most tables

    BOOL = "bool"
    U8 = "u8"
    I32 = "i32"
    I64 = "i64"
    F32 = "f32"
    F64 = "f64"
    C64 = "c64"
    C128 = "c128"
    CHAR = "char"

    @property
    def bytes(self) -> int:
        """Storage bytes of one element (char is a 4-byte code point)."""
        return _BYTES[self]

    @property
    def is_integer(self) -> bool:
        """Integers proper: u8, i32, i64 (not bool)."""
        return self in (Kind.U8, Kind.I32, Kind.I64)

    @property
    def is_float(self) -> bool:
        return self in (Kind.F32, Kind.F64)

    @property
    def is_complex(self) -> bool:
        return self in (Kind.C64, Kind.C128)


_BYTES = {
    Kind.BOOL: 1, Kind.U8: 1, Kind.I32: 4, Kind.I64: 8, Kind.F32: 4,
    Kind.F64: 8, Kind.C64: 8, Kind.C128: 16, Kind.CHAR: 4,
}  # fmt: skip


class Unit(Enum):
    """What an i64 counts: a point of the calendar, a difference of points, or (MISSING) the literal `⎕nat` of any of them."""

    DATE = "date"
    TIME = "time"
    DAYS = "days"
    DURATION = "duration"
    MISSING = "nat"

    @property
    def is_point(self) -> bool:
        return self in (Unit.DATE, Unit.TIME)


@dataclass(frozen=True, slots=True)
class Element:
    """An element type.

    `low`, `high`: the inclusive range of integers and bools if known (Python ints).  `symbolic_max`: an inclusive upper bound
    that is a size.  `index_bound`: the element is `idx<index_bound>`, stored from 0 as i64.  `weak`: see the module's docstring.
    `unit`: days or nanoseconds as i64, which have the operations of `rules.dates` instead of those of numbers.
    """

    kind: Kind
    low: int | None = None
    high: int | None = None
    index_bound: Size | None = None
    weak: bool = False
    symbolic_max: Size | None = None
    unit: Unit | None = None


_LIMITS = {
    Kind.BOOL: (0, 1), Kind.U8: (0, 255), Kind.I32: (-(2**31), 2**31 - 1), Kind.I64: (-(2**63), 2**63 - 1),
}  # fmt: skip


def limits(kind: Kind) -> tuple[int, int] | None:
    """The least and greatest value of bool or an integer kind; None for other kinds."""
    return _LIMITS.get(kind)


def integer_range(element: Element) -> tuple[int | None, int | None]:
    """The known inclusive bounds; the limits of bool, u8 and i32 count as known, those of i64 do not."""
    low, high = element.low, element.high
    if element.index_bound is not None:
        top = element.index_bound.bounds()[1]
        return 0, None if top is None else top - 1
    if element.symbolic_max is not None:
        top = element.symbolic_max.bounds()[1]
        high = top if high is None else high if top is None else min(high, top)
    if element.kind is not Kind.I64 and element.kind in _LIMITS:
        bottom, top = _LIMITS[element.kind]
        return bottom if low is None else max(low, bottom), top if high is None else min(high, top)
    return low, high


def size_range(element: Element) -> tuple[Size | None, Size | None]:
    """The known inclusive bounds as sizes."""
    low, high = integer_range(element)
    top = element.index_bound - 1 if element.index_bound is not None else element.symbolic_max
    if top is None and high is not None:
        top = number(high)
    return None if low is None else number(low), top


def fits(element: Element, kind: Kind) -> bool:
    """Is every value of an integer or bool element known to be a value of `kind`?"""
    if element.kind is kind:
        return True
    if kind not in _LIMITS:
        return element.kind in _LIMITS
    if element.kind not in _LIMITS:
        return False
    if kind is Kind.I64:
        return True
    low, high = integer_range(element)
    return low is not None and high is not None and _LIMITS[kind][0] <= low and high <= _LIMITS[kind][1]


def plain(element: Element) -> Element:
    """The element without ranges and weakness; an index type stays one."""
    return Element(element.kind, index_bound=element.index_bound, unit=element.unit)


def outside(element: Element, local: Set[SizeVariable]) -> Element:
    """The element where the `local` run-time sizes have no meaning: a bound that mentions one is replaced by an upper bound."""
    index, most = [
        bound if bound is None or local.isdisjoint(bound.variables()) else upper_bound(bound)
        for bound in (element.index_bound, element.symbolic_max)
    ]
    return Element(element.kind, element.low, element.high, index, False, most, element.unit)


def strong(element: Element) -> Element:
    """The element without weakness."""
    return replace(element, weak=False) if element.weak else element


_ORDER = (Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F64, Kind.C128)


def promote_kinds(a: Kind, b: Kind) -> Kind | None:
    """The common kind of two strong kinds; None for text with numbers."""
    if a is b:
        return a
    if Kind.CHAR in (a, b):
        return None
    pair = {a, b}
    if Kind.F32 in pair or Kind.C64 in pair:
        single = Kind.C64 if Kind.C64 in pair or pair & {Kind.C128} else Kind.F32
        if pair <= {Kind.F32, Kind.C64, Kind.BOOL, Kind.U8}:
            return single
        return Kind.C128 if single is Kind.C64 else Kind.F64
    return max(a, b, key=_ORDER.index)


def common_unit(a: Unit | None, b: Unit | None) -> tuple[bool, Unit | None]:
    """(Do two units agree?  The unit of both): a missing point or difference is of the unit of the other."""
    if Unit.MISSING in (a, b) and a is not None and b is not None:
        return True, b if a is Unit.MISSING else a
    return a is b, a


def promote_all(elements: Sequence[Element]) -> Element | None:
    """The element type to which all promote; None for text with numbers."""
    common: Element | None = elements[0]
    for element in elements[1:]:
        common = None if common is None else promote(common, element)
    return common


def promote(a: Element, b: Element) -> Element | None:
    """The element type to which both promote (join, strand, select, arms of a branch); None for text with numbers, and for dates
    or times with anything else.

    Weak integers never widen, a weak float makes integers f64 and leaves f32.  Two index types give an index type; one of them
    gives an integer, to which the caller has added the origin.
    """
    kind = _promoted_kind(a, b)
    agree, unit = common_unit(a.unit, b.unit)
    if kind is None or not agree:
        return None
    if unit is not None:
        return Element(kind, unit=unit)
    weak = a.weak and b.weak
    if a.index_bound is not None and b.index_bound is not None:
        return Element(Kind.I64, index_bound=maximum(a.index_bound, b.index_bound))
    if kind not in _LIMITS or a.index_bound is not None or b.index_bound is not None:
        return Element(kind, weak=weak)
    low, high = hull(integer_range(a), integer_range(b))
    most, tops = None, [top for _, top in map(size_range, (a, b)) if top is not None]
    if low is not None and (a.symbolic_max is not None or b.symbolic_max is not None) and len(tops) == 2:
        top = maximum(*tops)
        most = top if top.is_simple() else None
    return _without_idle_range(Element(kind, low, high, None, weak, most))


def _promoted_kind(a: Element, b: Element) -> Kind | None:
    if a.weak == b.weak:
        return promote_kinds(a.kind, b.kind)
    strong_one, weak_one = (b, a) if a.weak else (a, b)
    kind, other = strong_one.kind, weak_one.kind
    if Kind.CHAR in (kind, other):
        return promote_kinds(kind, other)
    if other in _LIMITS:
        if kind is Kind.BOOL:
            return Kind.BOOL if fits(weak_one, Kind.BOOL) else other
        return kind
    if other.is_float:
        return kind if kind.is_float or kind.is_complex else other
    if kind in (Kind.F32, Kind.C64):
        return Kind.C64
    return promote_kinds(kind, other)


def arithmetic(a: Element, b: Element) -> Kind | None:
    """The compute kind of `+ - × ⌊ ⌈ |`: as for `promote`, with bools as i64."""
    kind = _promoted_kind(a, b)
    return Kind.I64 if kind is Kind.BOOL else kind


def comparison(a: Element, b: Element) -> Kind | None:
    """The compute kind of a comparison: as for `promote`, but wide enough to represent weak integers exactly."""
    kind = _promoted_kind(a, b)
    if kind in (Kind.BOOL, Kind.U8, Kind.I32) and not (fits(a, kind) and fits(b, kind)):
        return Kind.I64
    if kind in (Kind.F32, Kind.C64) and not (_exact_in_single(a) and _exact_in_single(b)):
        return Kind.F64 if kind is Kind.F32 else Kind.C128
    return kind


def _exact_in_single(element: Element) -> bool:
    """Can f32 represent every integer value of the element?"""
    low, high = integer_range(element) if element.kind in _LIMITS else (0, 0)
    return low is not None and high is not None and low >= -(2**24) and high <= 2**24


def floating(kind: Kind) -> Kind:
    """The kind `÷ √ ⍟ ○` compute in: f64 for bool and integers."""
    return Kind.F64 if kind in _LIMITS else kind


def _without_idle_range(element: Element) -> Element:
    """The element without a range that is that of its kind."""
    if element.kind not in _LIMITS:
        return Element(element.kind, weak=element.weak)
    low, high = element.low, element.high
    bottom, top = _LIMITS[element.kind]
    if low is not None and low <= bottom:
        low = None
    if high is not None and high >= top:
        high = None
    return replace(
        element,
        low=low,
        high=high,
        symbolic_max=element.symbolic_max if low is not None or element.kind is not Kind.I64 else None,
    )


def ranged(kind: Kind, low: int | None, high: int | None, *, weak: bool = False, symbolic_max: Size | None = None) -> Element:
    """An integer element with a range; without one if the range exceeds the kind's limits, where values wrap."""
    bottom, top = _LIMITS[kind]
    if (low is not None and low < bottom) or (high is not None and high > top):
        return Element(kind, weak=weak)
    if low is None and high is None:
        return Element(kind, weak=weak)
    return Element(kind, low, high, None, weak, symbolic_max if low is not None else None)


def surely_unwrapped(element: Element) -> bool:
    """Can no value have wrapped, for all sizes?  Where one may have, the range is that of the exact value."""
    return element.symbolic_max is None or surely_fits_i64(element.symbolic_max)


def narrowed(
    element: Element, lows: Sequence[Size | None], highs: Sequence[Size | None], others: Sequence[Size | None]
) -> Element:  # fmt: skip
    """An integer element with values that are also at least every low, at most every high, and none of the others."""
    low, high = integer_range(element)
    symbolic = element.symbolic_max
    for size in highs:
        if size is not None:
            top = size.bounds()[1]
            high = top if high is None else high if top is None else min(high, top)
            if size.constant is None:
                symbolic = size if symbolic is None else minimum(symbolic, size)
    if (high, symbolic) != (integer_range(element)[1], element.symbolic_max) and not surely_unwrapped(element):
        low = None  # it is that of the exact value, which need not be below the new bound
    bounds = [size.bounds()[0] for size in lows if size is not None]
    low = max([n for n in (low, *bounds) if n is not None], default=None)
    excluded = {size.constant for size in others if size is not None}
    while low is not None and low in excluded:
        low += 1
    while high is not None and high in excluded:
        high -= 1
    if element.index_bound is not None:
        tops = [size + 1 for size in highs if size is not None]
        return replace(element, index_bound=minimum(element.index_bound, *tops)) if tops else element
    if element.unit is not None or (low, high, symbolic) == (*integer_range(element), element.symbolic_max):
        return element
    if low is None:
        return replace(element, low=None, high=high, symbolic_max=symbolic)
    return ranged(element.kind, low, high, weak=element.weak, symbolic_max=symbolic)


def widens(actual: Element, expected: Element) -> bool:
    """May an argument of element `actual` be passed where `expected` is declared, ranges apart (docs/language.md, Numbers)?"""
    a, b = actual.kind, expected.kind
    if not common_unit(actual.unit, expected.unit)[0]:
        return False
    if a is b:
        return True
    if Kind.CHAR in (a, b):
        return False
    if a in _LIMITS and b in _LIMITS:
        return fits(actual, b) or (_ORDER.index(a) < _ORDER.index(b))
    if b is Kind.F32 or b is Kind.C64:
        return a in (Kind.BOOL, Kind.U8, Kind.F32) or (actual.weak and not a.is_complex) or (b is Kind.C64 and actual.weak)
    return promote_kinds(a, b) is b


def show_element(element: Element) -> str:
    """An element as text: `f64`, `idx<n>`, `int<0..n>`; literals and constant ranges show their kind."""
    if element.index_bound is not None:
        return f"idx<{show_short(element.index_bound)}>"
    if element.symbolic_max is not None and element.low is not None and not element.weak:
        return f"int<{str(element.low).replace('-', '¯')}..{show_short(element.symbolic_max)}>"
    return element.kind.value if element.unit is None else element.unit.value


# ---------------------------------------------------------------------------------------------------- array types
#
# Types of core values.  Tuples exist only in the elaborator, not in the core.

@dataclass(frozen=True, slots=True)
class ArrayType:
    """`element[shape]`; `permutation` marks `perm<n>`, of shape `[n]` and element `idx<n>`."""

    element: Element
    shape: tuple[Size, ...]
    permutation: bool = False

    @property
    def rank(self) -> int:
        return len(self.shape)
