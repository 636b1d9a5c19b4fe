"""Element types (kinds, ranges, index types, weak literals), their promotion, array types, and the elementwise functions on them.

An `Element` is a storage kind with what is known statically: an integer range, the size that an index stays below, and whether it
is weak (a literal, a `param` or a known size, which never widens an array's element type).  The rules are in docs/language.md,
Numbers.

A `ScalarFunction` is a row with the exact definition of an elementwise function of the core (`Scalar.function`).  The checker
emits applications of it; the reference interpreter and the back ends implement its `doc`.

Conventions of scalar functions
  * Operands of one application have one kind (the *compute kind*), except `select` (first operand bool);
    the kind is one of the row's `kinds`.  The elaborator inserts `convert`.
  * The result's kind is given by `result`; it is also what the core's types say.
  * Integers (u8, i32, i64) wrap as two's complement of their width; u8 is modulo 256.
  * Floats follow IEEE 754 and raise nothing: x÷0 is ±∞, 0÷0 and functions outside their domain give NaN.
    f32 computes in f32 (transcendental functions may compute in f64 and round once).
  * `identity` is the value of an empty reduction, None if that is an error; see also `neutral_element`.
  * `laws` hold for all values of all kinds of the row (tests/typechecker/test_scalar_laws.py tries them on hard ones).
  * `Reduce`, `Scan` and `KeyReduce` may use a comparison on numbers: its truth values then are 0 and 1 of the operand's kind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from enum import Enum
from typing import Final

from ..lang.support.records import dataclass, replace
from ..lang.tree.program import CellFormat
from .sizes.polynomials import Size, SizeVariable, hull, number, show_short
from .sizes.size import maximum, minimum, surely_fits_i64, upper_bound

# ---------------------------------------------------------------------------------------------------- elements

class Kind(Enum):
    """Storage kind of an element."""

    __hash__ = object.__hash__  # Enum's method is a Python function, and kinds are keys of most tables

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
    """The unit of an i64: points of the calendar, differences of points, or that of `⎕nat`, which is of any unit."""

    DATE = "date"
    TIME = "time"
    DAYS = "days"
    DURATION = "duration"
    ANY = "nat"

    @property
    def is_point(self) -> bool:
        return self in (Unit.DATE, Unit.TIME)

    @property
    def cell_format(self) -> CellFormat:
        """How items are read and written; `⎕nat` alone as a date."""
        return CellFormat.DATE if self is Unit.ANY else CellFormat[self.name]


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
    """The element where the `local` runtime sizes have no meaning: a bound that mentions one is replaced by an upper bound."""
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
    """Whether two units agree, and the unit of both: `⎕nat` takes the unit of the other."""
    if a is Unit.ANY and b is not None:
        return True, b
    return a is b or (b is Unit.ANY and a is not None), a


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
    return _without_implied_bounds(Element(kind, low, high, None, weak, most))


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


def _without_implied_bounds(element: Element) -> Element:
    """The element without bounds that its kind implies."""
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
    """Is it certain, for all sizes, that no value wrapped?  If not, the range is that of the exact values."""
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
        low = None  # the old low is of exact values, which may exceed the new high
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
    """May an argument of element `actual` be passed where `expected` is declared?  Ranges are ignored (docs/language.md,
    Numbers)."""
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


class Law(Enum):
    ASSOCIATIVE = "partial reductions may be combined in any grouping (floats: up to rounding; lcm: while nothing wraps)"
    COMMUTATIVE = "the operands may change places (of zeros of both signs either may be given)"
    SELECTIVE = "the result is one of the operands, so nothing is rounded"
    SUMMED = "reductions of floats and complex numbers, and scans of floats, follow the order of sums (docs/kernels.md)"


class ResultKind(Enum):
    SAME = "the compute kind"
    BOOL = "bool"
    MAGNITUDE = "the compute kind, or the real kind of a complex one"
    WHOLE = "i64, or the compute kind if complex"
    TARGET = "whatever the result's type says"


INTEGERS = frozenset({Kind.U8, Kind.I32, Kind.I64})
FLOATS = frozenset({Kind.F32, Kind.F64})
COMPLEX = frozenset({Kind.C64, Kind.C128})
NUMBERS = INTEGERS | FLOATS | COMPLEX
BOOLS = frozenset({Kind.BOOL})
EVERY = NUMBERS | BOOLS | {Kind.CHAR}
ORDERED = INTEGERS | FLOATS | BOOLS | {Kind.CHAR}


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """An elementwise function.  `partial`: it may fail with E703 (`floor` and `ceil` only where they give integers)."""

    name: str
    arity: int
    kinds: frozenset[Kind]
    result: ResultKind
    doc: str
    identity: int | None = None
    laws: frozenset[Law] = frozenset()
    partial: bool = False

    @property
    def associative(self) -> bool:
        return Law.ASSOCIATIVE in self.laws

    def result_kind(self, compute: Kind, parameter: int = 0) -> Kind | None:
        """The result's kind for operands of kind `compute`; None when the result's type decides (conversions)."""
        match self.result:
            case ResultKind.SAME:
                return compute
            case ResultKind.BOOL:
                return Kind.BOOL
            case ResultKind.MAGNITUDE:
                if self.name == "circular" and not 9 <= parameter <= 12:
                    return compute
                return real_kind(compute)
            case ResultKind.WHOLE:
                return compute if compute.is_complex else Kind.I64
            case ResultKind.TARGET:
                return None


def identity_of(function: str, kind: Kind) -> int | None:
    """The value of an empty reduction in a kind; for u8 the all-ones value is 255."""
    value = FUNCTIONS[function].identity
    return 255 if value == -1 and kind is Kind.U8 else value


def neutral_element(function: str, kind: Kind) -> int | float:
    """The neutral element of an associative function on items of a kind, which preserves even the sign of a zero."""
    if FUNCTIONS[function].identity is None:
        least, greatest = limits(kind) or (-math.inf, math.inf)
        return greatest if function == "min" else least
    return -0.0 if function == "add" and kind.is_float else identity_of(function, kind) or 0


def is_ordered(function: str, kind: Kind) -> bool:
    """Does a reduction of items of this kind follow the order of sums (docs/kernels.md)?"""
    return (kind.is_float or kind.is_complex) and function in SUMMED


def is_sequential(function: str) -> bool:
    """Is a reduction by this function evaluated strictly from the right, item by item?"""
    return function in FUNCTIONS and not FUNCTIONS[function].associative


def is_exact_in_any_order(function: str, kind: Kind) -> bool:
    """Do reductions of items of this kind give the same bits in every order and grouping?"""
    laws = FUNCTIONS[function].laws if function in FUNCTIONS else frozenset()
    inexact = kind.is_float or kind.is_complex
    return {Law.ASSOCIATIVE, Law.COMMUTATIVE} <= laws and (Law.SELECTIVE in laws or not inexact)


def may_fail(function: str, result: Kind) -> bool:
    """May this function, with a result of this kind, fail at run time (E703)?"""
    row = FUNCTIONS.get(function)
    return row is not None and row.partial and (row.result is not ResultKind.WHOLE or result is Kind.I64)


def real_kind(kind: Kind) -> Kind:
    """The kind of the parts of a complex kind; any other kind itself."""
    return {Kind.C64: Kind.F32, Kind.C128: Kind.F64}.get(kind, kind)


_SYMMETRIC: Final = frozenset({Law.COMMUTATIVE})
_MONOID: Final = frozenset({Law.ASSOCIATIVE, Law.COMMUTATIVE})
_SUM: Final = _MONOID | {Law.SUMMED}
_CHOICE: Final = _MONOID | {Law.SELECTIVE}

_ROWS = (
    # ------------------------------------------------------------------ one operand
    ScalarFunction("conj", 1, COMPLEX, ResultKind.SAME, "The complex conjugate."),
    ScalarFunction("neg", 1, NUMBERS, ResultKind.SAME, "0-x; of a float, the sign bit flipped; integers wrap."),
    ScalarFunction("sign", 1, NUMBERS, ResultKind.SAME,
                   "-1, 0 or 1 in the same kind (NaN of NaN, 0 of -0.0; u8 gives 0 or 1); complex: x÷|x|, and 0 of 0."),
    ScalarFunction("reciprocal", 1, FLOATS | COMPLEX, ResultKind.SAME,
                   "1÷x; 1÷0 is ∞ and 1÷-0.0 is -∞; complex as div of 1 and x."),
    ScalarFunction("abs", 1, NUMBERS, ResultKind.MAGNITUDE, "|x|; the least integer wraps to itself; complex: hypot(re, im)."),
    ScalarFunction("floor", 1, FLOATS | COMPLEX, ResultKind.WHOLE,
                   "The largest integer not above x, as i64; NaN or a result outside i64 fails with E703.  Complex gives "
                   "complex (McDonnell): with z = ⌊re + i⌊im and fractions f, g: z if f+g < 1, z+1 if f ≥ g, else z+i.",
                   partial=True),
    ScalarFunction("ceil", 1, FLOATS | COMPLEX, ResultKind.WHOLE,
                   "The smallest integer not below x, as i64; checked as floor.  Complex: -floor(-z).", partial=True),
    ScalarFunction("exp", 1, FLOATS | COMPLEX, ResultKind.SAME, "e to the x."),
    ScalarFunction("ln", 1, FLOATS | COMPLEX, ResultKind.SAME,
                   "Natural logarithm: -∞ at 0, NaN below 0; complex: principal branch, -∞ (imaginary 0) at 0."),
    ScalarFunction("sqrt", 1, FLOATS | COMPLEX, ResultKind.SAME,
                   "Square root: NaN below 0 (-0.0 of -0.0); complex: principal."),
    ScalarFunction("factorial", 1, FLOATS | COMPLEX, ResultKind.SAME,
                   "gamma(1+x): correctly rounded n! for whole n in 0..170, NaN at negative whole numbers, ∞ on overflow and "
                   "at ∞, NaN at -∞; complex: Lanczos approximation with reflection for real part of 1+x below 0.5."),
    ScalarFunction("pi_times", 1, FLOATS | COMPLEX, ResultKind.SAME, "π×x, one multiplication by the nearest float to π."),
    ScalarFunction("circular", 1, FLOATS | COMPLEX, ResultKind.MAGNITUDE,
                   "`parameter` k picks: 0 √1-x²; 1 sin; 2 cos; 3 tan; 4 √1+x²; 5 sinh; 6 cosh; 7 tanh; 8 √-1-x²; 9 real "
                   "part; 10 magnitude; 11 imaginary part; 12 phase atan2(im, re); ¯1 asin; ¯2 acos; ¯3 atan; ¯4 "
                   "(x+1)×√(x-1)÷x+1 with 0 at ¯1 (for real x: sign(x)×√x²-1); ¯5 asinh; ¯6 acosh; ¯7 atanh; ¯8 -√-1-x²; ¯9 "
                   "x; ¯10 conjugate; ¯11 x×0J1; ¯12 exp x×0J1.  Floats give floats, NaN outside the domain (8 and ¯8 "
                   "always; ¯11 and ¯12 only occur on complex).  9 to 12 of a complex number give its real kind; of a float: "
                   "9 is x, 10 |x|, 11 0, 12 0 or π (π if the sign bit is set and x≠0, NaN of NaN).  Complex functions are "
                   "the principal values of Python's cmath."),
    ScalarFunction("not", 1, BOOLS, ResultKind.SAME, "1-x."),
    ScalarFunction("bnot", 1, INTEGERS, ResultKind.SAME, "Every bit the other: -1-x; of u8 255-x."),
    ScalarFunction("erf", 1, FLOATS, ResultKind.SAME, "The error function."),
    ScalarFunction("erfc", 1, FLOATS, ResultKind.SAME, "1-erf(x), without cancellation."),
    ScalarFunction("lgamma", 1, FLOATS, ResultKind.SAME, "ln |gamma(x)|; ∞ at 0 and negative whole numbers, ∞ at ±∞."),
    ScalarFunction("digamma", 1, FLOATS, ResultKind.SAME,
                   "The derivative of ln gamma(x); NaN at 0 and negative whole numbers."),
    ScalarFunction("expm1", 1, FLOATS, ResultKind.SAME, "exp(x)-1 without cancellation."),
    ScalarFunction("log1p", 1, FLOATS, ResultKind.SAME, "ln(1+x) without cancellation; -∞ at -1, NaN below."),
    ScalarFunction("convert", 1, EVERY, ResultKind.TARGET,
                   "To the result's kind, known not to lose but by rounding: bool to any number (0, 1); integers to wider "
                   "integers, floats (nearest) and complex; floats to wider floats, complex, or (literals only) to f32 "
                   "nearest; an integer known to be in range to bool, u8 or i32; to its own kind it is the identity."),
    ScalarFunction("convert_checked", 1, EVERY, ResultKind.TARGET,
                   "To the result's kind, failing with E703 where the value does not fit: to an integer kind or bool the "
                   "value must be a whole number in its range (bool: 0 or 1); complex to real needs imaginary part 0; f64 to "
                   "f32 and c128 to c64 round to nearest and fail when a finite value overflows (NaN and ∞ pass); char to an "
                   "integer is its code point; an integer to char must be a code point 0..1114111.", partial=True),
    # ------------------------------------------------------------------ two operands
    ScalarFunction("add", 2, NUMBERS, ResultKind.SAME, "x+y.", 0, _SUM),
    ScalarFunction("sub", 2, NUMBERS, ResultKind.SAME, "x-y.", 0),
    ScalarFunction("mul", 2, NUMBERS, ResultKind.SAME, "x×y; complex: (ac-bd) + i(ad+bc) by four multiplications.", 1, _SUM),
    ScalarFunction("div", 2, FLOATS | COMPLEX, ResultKind.SAME,
                   "x÷y, IEEE; complex: Smith's method, and by exactly 0 each part of x divided by 0.", 1),
    ScalarFunction("pow", 2, FLOATS | COMPLEX, ResultKind.SAME,
                   "x to the y as IEEE pow: x*0 and 1*y are 1 even of NaN, a negative base with a fractional exponent is "
                   "NaN, 0 to a negative power is ∞ (-∞ for -0.0 and an odd exponent).  Complex: a real whole exponent of "
                   "magnitude below 100 multiplies repeatedly (squaring; negative: reciprocal of the positive power); 0*y is "
                   "1 at y=0, else 0 for re y > 0, else NaN; else exp(y×ln x).", 1),
    ScalarFunction("ipow", 2, INTEGERS, ResultKind.SAME, "x to the y for y ≥ 0 by multiplication, wrapping; x*0 is 1.", 1),
    ScalarFunction("log", 2, FLOATS | COMPLEX, ResultKind.SAME,
                   "Logarithm of y to the base x: log2(y) where x = 2 and log10(y) where x = 10 (floats), else ln(y)÷ln(x)."),
    ScalarFunction("root", 2, FLOATS | COMPLEX, ResultKind.SAME, "The x-th root of y: sqrt(y) where x = 2, else pow(y, 1÷x)."),
    ScalarFunction("atan2", 2, FLOATS, ResultKind.SAME,
                   "The angle of the point (y, x) from -π to π as IEEE atan2(x, y): of 0 and -0.0 too."),
    ScalarFunction("min", 2, INTEGERS | FLOATS, ResultKind.SAME, "The smaller; NaN if either is NaN.", None, _CHOICE),
    ScalarFunction("max", 2, INTEGERS | FLOATS, ResultKind.SAME, "The larger; NaN if either is NaN.", None, _CHOICE),
    ScalarFunction("residue", 2, NUMBERS, ResultKind.SAME,
                   "y modulo x with the sign of x; y where x = 0.  Floats: Python's `y % x` (exact fmod, then + x if the "
                   "signs differ), NaN where y is infinite.  Complex: y - x×floor(y÷x) with the complex floor.", 0),
    ScalarFunction("binomial", 2, FLOATS | COMPLEX, ResultKind.SAME,
                   "`x!y`: !y ÷ (!x)×!y-x extended to the whole plane.  Whole x: 0 if x < 0 and y is whole and ≥ 0 or y < x "
                   "(both negative); x ≥ 0: the product of (y-i)÷(i+1) over i < min(x, y-x if y is whole and ≥ x), rounded "
                   "to whole if y is whole; x < 0 and y whole < 0, x ≤ y: (-1)^(y-x) × binomial(y-x, -x-1).  Otherwise by "
                   "factorial (through lgamma with signs when a factor overflows).", 1),
    ScalarFunction("gcd", 2, NUMBERS, ResultKind.SAME,
                   "Greatest common divisor, not negative; gcd(x,0) = |x|.  Floats: Euclid on |x|, |y|, exact if both are whole, "
                   "else until the remainder is rounding beside the smaller operand; NaN if either is NaN or infinite.  "
                   "Complex: Euclid with complex residue, result rotated by a unit to re > 0, im ≥ 0.", 0, _MONOID),
    ScalarFunction("lcm", 2, NUMBERS, ResultKind.SAME, "0 where either is 0, else x×(y÷gcd(x,y)).", 1,
                   frozenset({Law.ASSOCIATIVE})),
    ScalarFunction("band", 2, INTEGERS, ResultKind.SAME, "The bits that both have, of two's complement.", -1, _MONOID),
    ScalarFunction("bor", 2, INTEGERS, ResultKind.SAME, "The bits that at least one has.", 0, _MONOID),
    ScalarFunction("bxor", 2, INTEGERS, ResultKind.SAME, "The bits that exactly one has.", 0, _MONOID),
    ScalarFunction("shl", 2, INTEGERS, ResultKind.SAME,
                   "y shifted left by x (modulo its width) bits, zeros coming in: y×2*x, wrapping."),
    ScalarFunction("shr", 2, INTEGERS, ResultKind.SAME,
                   "y shifted right by x (modulo its width) bits, its sign coming in (u8 has none): ⌊y÷2*x."),
    ScalarFunction("shru", 2, INTEGERS, ResultKind.SAME, "y shifted right by x (modulo its width) bits, zeros coming in."),
    ScalarFunction("and", 2, BOOLS, ResultKind.SAME, "Both.", 1, _CHOICE),
    ScalarFunction("or", 2, BOOLS, ResultKind.SAME, "At least one.", 0, _CHOICE),
    ScalarFunction("nand", 2, BOOLS, ResultKind.SAME, "Not both.", None, _SYMMETRIC),
    ScalarFunction("nor", 2, BOOLS, ResultKind.SAME, "Neither.", None, _SYMMETRIC),
    ScalarFunction("lt", 2, ORDERED, ResultKind.BOOL, "x < y, exact; NaN compares false; char by code point.", 0),
    ScalarFunction("le", 2, ORDERED, ResultKind.BOOL, "x ≤ y.", 1),
    ScalarFunction("eq", 2, EVERY, ResultKind.BOOL, "x = y, exact (0 = -0.0, NaN equals nothing).", 1, _SYMMETRIC),
    ScalarFunction("ge", 2, ORDERED, ResultKind.BOOL, "x ≥ y.", 1),
    ScalarFunction("gt", 2, ORDERED, ResultKind.BOOL, "x > y.", 0),
    ScalarFunction("ne", 2, EVERY, ResultKind.BOOL, "Not x = y.", 0, _SYMMETRIC),
    # ------------------------------------------------------------------ three operands
    ScalarFunction("select", 3, EVERY, ResultKind.SAME, "The second operand where the first (bool) holds, else the third."),
)  # fmt: skip

FUNCTIONS: dict[str, ScalarFunction] = {row.name: row for row in _ROWS}


def with_law(law: Law) -> frozenset[str]:
    """The functions that satisfy a law."""
    return frozenset(row.name for row in _ROWS if law in row.laws)


SUMMED: Final = with_law(Law.SUMMED)
SELECTIVE: Final = with_law(Law.SELECTIVE)
