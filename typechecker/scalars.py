"""The elementwise functions of the core (`Scalar.function`), each with its exact definition.

The checker emits them; the reference interpreter and the back ends implement them.  Each row's `doc` is the definition that all
implementations follow.

Conventions
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
from enum import Enum
from typing import Final

from ..lang.support.records import dataclass
from .elements import Kind, limits


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
