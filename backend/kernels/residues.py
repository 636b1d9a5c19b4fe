"""`x|y` as LLVM text: y modulo x with the sign of x, y where x is 0.

Note [Constant divisors].  The quotient of a whole number u below 2ᴺ by d is ⌊u×M÷2^(N+l)⌋ where 2^l ≥ d and M = ⌈2^(N+l)÷d⌉
(Granlund and Montgomery, 1994).  A vector whose items are all from 0 to 2³¹-1 takes N = 31: one product of 32-bit halves a
quotient.  Else N = 63, with the bits of negative numbers flipped (⌊y÷d⌋ is the complement of ⌊(the complement of y)÷d⌋), and
the high word of the product is put together from four products of halves.

Note [Any divisors].  Processors divide vectors of floats, not of integers.  For numbers below 2⁵¹ in magnitude, ⌊y÷x⌋ is that of
their binary64 quotient: an exact quotient that is not whole is below the next whole number n by 1÷|x| at least, which is more
than half a unit in the last place of n, as |y| < 2⁵².  Then y - x×⌊y÷x⌋ is exact in one fused step, and has the sign of x.
Vectors with other items divide integers, item by item.  An integer k between ±2⁵¹ is the float whose bits are k + those of
1.5×2⁵², less 1.5×2⁵²: no conversion of 64-bit integers is needed, which processors without AVX-512 lack.

Note [Float remainders].  Let q be y÷x, rounded and cut.  The exact quotient, cut, is q or q less one (in magnitude), as rounding
keeps order; and y - q×x is a number of the kind, which one fused multiplication and addition finds without error.  Where it has
not the sign of y, one x more makes it the exact remainder.  This needs |q| < 2⁵² and a finite x; other items go through the C
library.  Then the sign is brought to that of x, with one rounding, as NumPy and Python do.

Neighbours: `scalar_text` (asks), `loops.cuda.scalars` (the same on cards).
"""

from __future__ import annotations

import math
from typing import Final

from ...typechecker.elements import Kind
from .vectors import Vectors

_HALF: Final = (1 << 32) - 1
_MIDDLE: Final = 1.5 * 2**52
_MIDDLE_BITS: Final = 0x4338 << 48


def residue(v: Vectors, kind: Kind, x: str, y: str) -> str:
    """See the module."""
    if kind.is_float:
        return _of_floats(v, kind, x, y)
    divisor = _constant(x)
    if divisor is not None and kind is Kind.I64:
        return _by_constant(v, divisor, y)
    return _of_integers(v, kind, x, y)


def _of_integers(v: Vectors, kind: Kind, x: str, y: str) -> str:
    """Divisors 0 are replaced.  See Note [Any divisors]."""
    zero, one = v.constant(kind, 0), v.constant(kind, 1)
    none = v.compare("eq", kind, x, zero)
    divisor = v.choose(kind, none, one, x)
    if kind is not Kind.I64:
        to, back = ("uitofp", "fptoui") if kind is Kind.U8 else ("sitofp", "fptosi")
        left = _by_quotient(v, v.cast(to, kind, Kind.F64, divisor), v.cast(to, kind, Kind.F64, y))
        return v.choose(kind, none, y, v.cast(back, Kind.F64, kind, left))
    w, lanes, type = v.w, v.lanes, v.type(kind)
    near = v.binary("and", Kind.BOOL, _is_near(v, x), _is_near(v, y))
    short, long, join = w.new_label(), w.new_label(), w.new_label()
    w.branch(w.call("i1", f"llvm.vector.reduce.and.v{lanes}i1", (f"<{lanes} x i1>", near)), short, long)
    w.label(short)
    quick = _as_integer(v, _by_quotient(v, _as_float(v, divisor), _as_float(v, y)))
    after = w.block
    w.jump(join)
    w.label(long)
    slow = _item_by_item(v, divisor, y)
    end = w.block
    w.jump(join)
    w.label(join)
    return v.choose(kind, none, y, w.let(f"phi {type} [ {quick}, %{after} ], [ {slow}, %{end} ]"))


def _by_quotient(v: Vectors, x: str, y: str) -> str:
    kind = Kind.F64
    quotient = v.intrinsic("floor", kind, v.binary("fdiv", kind, y, x))
    return v.intrinsic("fma", kind, v.w.let(f"fneg {v.type(kind)} {quotient}"), x, y)


def _is_near(v: Vectors, x: str) -> str:
    """Between ±2⁵¹."""
    return v.compare("ult", Kind.I64, v.binary("add", Kind.I64, x, v.constant(Kind.I64, 1 << 51)), v.constant(Kind.I64, 1 << 52))


def _as_float(v: Vectors, x: str) -> str:
    moved = v.binary("add", Kind.I64, x, v.constant(Kind.I64, _MIDDLE_BITS))
    return v.binary("fsub", Kind.F64, v.cast("bitcast", Kind.I64, Kind.F64, moved), v.constant(Kind.F64, _MIDDLE))


def _as_integer(v: Vectors, x: str) -> str:
    moved = v.cast("bitcast", Kind.F64, Kind.I64, v.binary("fadd", Kind.F64, x, v.constant(Kind.F64, _MIDDLE)))
    return v.binary("sub", Kind.I64, moved, v.constant(Kind.I64, _MIDDLE_BITS))


def _item_by_item(v: Vectors, x: str, y: str) -> str:
    """The divisor -1 is replaced: the least number by it traps."""
    kind, zero = Kind.I64, v.constant(Kind.I64, 0)
    left = v.binary("srem", kind, y, v.choose(kind, v.compare("eq", kind, x, v.constant(kind, -1)), v.constant(kind, 1), x))
    differ = v.compare("slt", kind, v.binary("xor", kind, left, x), zero)
    wrong = v.binary("and", Kind.BOOL, differ, v.compare("ne", kind, left, zero))
    return v.choose(kind, wrong, v.binary("add", kind, left, x), left)


# ------------------------------------------------------------------------------- constant divisors


def _constant(x: str) -> int | None:
    """The number that every lane is, as `literal` writes it."""
    start = "splat (i64 "
    return int(x[len(start) : -1]) if x.startswith(start) else None


def _by_constant(v: Vectors, divisor: int, y: str) -> str:
    """See Note [Constant divisors]."""
    kind, size = Kind.I64, abs(divisor)
    if divisor == 0:
        return y
    if size & (size - 1) == 0:
        return _signed(v, divisor, v.binary("and", kind, y, v.constant(kind, size - 1)))
    bits = (size - 1).bit_length()
    if size >= 1 << 31:
        return _signed(v, divisor, _wide(v, size, bits, y))
    w, lanes, type = v.w, v.lanes, v.type(kind)
    low = v.compare("ult", kind, y, v.constant(kind, 1 << 31))
    short, long, join = w.new_label(), w.new_label(), w.new_label()
    w.branch(w.call("i1", f"llvm.vector.reduce.and.v{lanes}i1", (f"<{lanes} x i1>", low)), short, long)
    w.label(short)
    u = _half(v, y)
    quotient = v.binary("lshr", kind, v.binary("mul", kind, u, _factor(v, 31, bits, size)), v.constant(kind, 31 + bits))
    narrow = v.binary("sub", kind, u, v.binary("mul", kind, _half(v, quotient), v.constant(kind, size)))
    w.jump(join)
    w.label(long)
    wide = _wide(v, size, bits, y)
    end = w.block
    w.jump(join)
    w.label(join)
    return _signed(v, divisor, w.let(f"phi {type} [ {narrow}, %{short} ], [ {wide}, %{end} ]"))


def _signed(v: Vectors, divisor: int, left: str) -> str:
    """The residue of a positive divisor as that of `divisor`."""
    if divisor > 0:
        return left
    zero = v.constant(Kind.I64, 0)
    return v.choose(
        Kind.I64, v.compare("eq", Kind.I64, left, zero), zero, v.binary("add", Kind.I64, left, v.constant(Kind.I64, divisor))
    )


def _half(v: Vectors, x: str) -> str:
    """The low 32 bits; products of two such are one instruction."""
    return v.binary("and", Kind.I64, x, v.constant(Kind.I64, _HALF))


def _factor(v: Vectors, width: int, bits: int, size: int) -> str:
    return v.constant(Kind.I64, -(-(1 << (width + bits)) // size))


def _wide(v: Vectors, size: int, bits: int, y: str) -> str:
    kind = Kind.I64

    def shifted(x: str, by: int) -> str:
        return v.binary("lshr", kind, x, v.constant(kind, by))

    def times(x: str, factor: int) -> str:
        return v.binary("mul", kind, x, v.constant(kind, factor))

    factor = -(-(1 << (63 + bits)) // size)
    high, low = factor >> 32, factor & _HALF
    sign = v.binary("ashr", kind, y, v.constant(kind, 63))
    u = v.binary("xor", kind, y, sign)
    upper, lower = shifted(u, 32), _half(v, u)
    middle = v.binary("add", kind, times(upper, low), shifted(times(lower, low), 32))
    other = v.binary("add", kind, times(lower, high), _half(v, middle))
    product = v.binary("add", kind, v.binary("add", kind, times(upper, high), shifted(middle, 32)), shifted(other, 32))
    quotient = v.binary("xor", kind, shifted(product, bits - 1), sign)
    return v.binary("sub", kind, y, times(quotient, size))


# ------------------------------------------------------------------------------------------ floats


def _of_floats(v: Vectors, kind: Kind, x: str, y: str) -> str:
    zero = v.constant(kind, 0.0)
    if kind is Kind.F32:  # the remainder of two of these is one of these
        wide = (v.cast("fpext", kind, Kind.F64, x), v.cast("fpext", kind, Kind.F64, y))
        left = v.cast("fptrunc", Kind.F64, kind, _remainder(v, *wide))
    else:
        left = _remainder(v, x, y)
    below = v.binary("xor", Kind.BOOL, v.compare("olt", kind, x, zero), v.compare("olt", kind, left, zero))
    moved = v.choose(kind, below, v.binary("fadd", kind, left, x), left)
    none = v.intrinsic("copysign", kind, zero, x)
    made = v.choose(kind, v.compare("oeq", kind, left, zero), none, moved)
    return v.choose(kind, v.compare("oeq", kind, x, zero), y, made)


def _remainder(v: Vectors, x: str, y: str) -> str:
    """As the C library's `fmod`, but for the sign of a zero.  See Note [Float remainders]."""
    kind, w, lanes, type = Kind.F64, v.w, v.lanes, v.type(Kind.F64)
    quotient = v.intrinsic("trunc", kind, v.binary("fdiv", kind, y, x))
    near = v.compare("olt", kind, v.intrinsic("fabs", kind, quotient), v.constant(kind, 2.0**52))
    good = v.binary("and", Kind.BOOL, near, v.compare("olt", kind, v.intrinsic("fabs", kind, x), v.constant(kind, math.inf)))
    opposite = w.let(f"fneg {type} {quotient}")
    left = v.intrinsic("fma", kind, opposite, x, y)
    zero = v.constant(kind, 0.0)
    under = v.binary("and", Kind.BOOL, v.compare("olt", kind, left, zero), v.compare("ogt", kind, y, zero))
    above = v.binary("and", Kind.BOOL, v.compare("ogt", kind, left, zero), v.compare("olt", kind, y, zero))
    astray = v.binary("or", Kind.BOOL, under, above)
    step = v.intrinsic("copysign", kind, x, y)
    left = v.choose(kind, astray, v.binary("fadd", kind, left, step), left)
    mask = f"<{lanes} x i1>"
    before, rare, ready = w.block, w.new_label(), w.new_label()
    w.branch(w.call("i1", f"llvm.vector.reduce.and.v{lanes}i1", (mask, good)), ready, rare)
    w.label(rare)
    loop = w.begin(0, lanes, 1, [(type, left)])
    known, call, following = w.let(f"extractelement {mask} {good}, i64 {loop.index}"), w.new_label(), w.new_label()
    asked = w.block
    w.branch(known, following, call)
    w.label(call)
    items = [("double", w.let(f"extractelement {type} {side}, i64 {loop.index}")) for side in (y, x)]
    made = w.call("double", "rho_fmod", *items)
    placed = w.let(f"insertelement {type} {loop.carried[0]}, double {made}, i64 {loop.index}")
    w.jump(following)
    w.label(following)
    joined = w.let(f"phi {type} [ {loop.carried[0]}, %{asked} ], [ {placed}, %{call} ]")
    w.end(loop, [joined])
    after = w.block
    w.jump(ready)
    w.label(ready)
    return w.let(f"phi {type} [ {left}, %{before} ], [ {loop.carried[0]}, %{after} ]")
