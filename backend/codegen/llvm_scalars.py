"""Scalar functions on LLVM vectors: the scalar machine that writes LLVM instructions.

The functions are those that `backend.scalar` defines, to the bit: no fast-math flag, no contraction, integers wrap, and no lane
divides by zero.
"""

from __future__ import annotations

import math
import struct
from _blake2 import blake2b
from collections.abc import Callable, Sequence
from typing import Final

from ...lang.support.records import dataclass
from ...typechecker.elements import Kind
from ..jit.compiler import has_feature
from ..loopir.ir import Apply
from ..scalar.function_table import definition
from .llvm_builder import IrBuilder

# ------------------------------------------------------------------------------------------ vector operations
#
# Vectors with any number of lanes as LLVM text: types, constants, memory, instructions.  Reductions end in vectors of one lane.

STORED: Final = {
    Kind.BOOL: "i8", Kind.U8: "i8", Kind.I32: "i32", Kind.I64: "i64", Kind.F32: "float", Kind.F64: "double", Kind.CHAR: "i32",
    Kind.C64: "i64", Kind.C128: "i128",
}  # fmt: skip
COMPUTED: Final = STORED | {Kind.BOOL: "i1"}
SHIFTS: Final = frozenset({"shl", "lshr", "ashr"})
"""LLVM 22 aborts on such an operation on a one-lane vector if a bit of the result is tested and the count is known to be < 32."""
UNSIGNED: Final = frozenset({Kind.BOOL, Kind.U8, Kind.CHAR})


@dataclass(frozen=True, slots=True)
class DomainCheck:
    """A run-time check inside a body: lanes of `failed` are bad, and `value` (of `kind`) is what was checked."""

    node: int
    failed: str
    value: str
    kind: Kind


class Vectors:
    """Writes instructions on vectors of `lanes` elements; `checks` collects the run-time checks that these need."""

    def __init__(self, writer: IrBuilder, lanes: int) -> None:
        self.w = writer
        self.lanes = lanes
        self.checks: list[DomainCheck] = []

    # ------------------------------------------------------------------------------- types and constants

    def type(self, kind: Kind) -> str:
        return f"<{self.lanes} x {COMPUTED[kind]}>"

    def stored(self, kind: Kind) -> str:
        return f"<{self.lanes} x {STORED[kind]}>"

    def suffix(self, kind: Kind) -> str:
        """Returns the type's suffix in the names of intrinsics, `v4f64`."""
        letter = {"double": "f64", "float": "f32"}.get(COMPUTED[kind], COMPUTED[kind])
        return f"v{self.lanes}{letter}"

    def constant(self, kind: Kind, value: float | int) -> str:
        return f"splat ({COMPUTED[kind]} {literal(kind, value)})"

    def splat(self, kind: Kind, scalar: str) -> str:
        type = self.type(kind)
        first = self.w.let(f"insertelement {type} poison, {COMPUTED[kind]} {scalar}, i64 0")
        return self.w.let(f"shufflevector {type} {first}, {type} poison, <{self.lanes} x i32> zeroinitializer")

    def counting(self) -> str:
        """Returns the vector 0, 1, 2, … of i64."""
        return "<" + ", ".join(f"i64 {lane}" for lane in range(self.lanes)) + ">"

    # ----------------------------------------------------------------------------------------- memory

    def load(self, kind: Kind, address: str, align: int = 1) -> str:
        return self.from_stored(kind, self.w.let(f"load {self.stored(kind)}, ptr {address}, align {align}"))

    def load_present(self, kind: Kind, address: str, present: str) -> str:
        """A masked load: the active lanes, zeros in the others, whose memory is not touched."""
        lanes, stored = self.lanes, self.stored(kind)
        letter = {"double": "f64", "float": "f32"}.get(STORED[kind], STORED[kind])
        name = f"llvm.masked.load.v{lanes}{letter}.p0"
        self.w.declarations[f"declare {stored} @{name}(ptr, i32 immarg, <{lanes} x i1>, {stored})"] = None
        loaded = self.w.let(f"call {stored} @{name}(ptr {address}, i32 1, <{lanes} x i1> {present}, {stored} zeroinitializer)")
        return self.from_stored(kind, loaded)

    def from_stored(self, kind: Kind, value: str) -> str:
        if kind is Kind.BOOL:
            return self.w.let(f"icmp ne {self.stored(kind)} {value}, zeroinitializer")
        return value

    def store(self, kind: Kind, value: str, address: str, align: int = 1, tail: str = "") -> None:
        if kind is Kind.BOOL:
            value = self.w.let(f"zext {self.type(kind)} {value} to {self.stored(kind)}")
        self.w.do(f"store {self.stored(kind)} {value}, ptr {address}, align {align}{tail}")

    def gather(self, kind: Kind, pointers: str) -> str:
        """The stored items at a vector of addresses."""
        lanes, stored = self.lanes, self.stored(kind)
        letter = {"double": "f64", "float": "f32"}.get(STORED[kind], STORED[kind])
        value = self.w.call(stored, f"llvm.masked.gather.v{lanes}{letter}.v{lanes}p0", (f"<{lanes} x ptr>", pointers),
                            ("i32", "1"), (f"<{lanes} x i1>", "splat (i1 true)"), (stored, "poison"))  # fmt: skip
        return self.from_stored(kind, value)

    def number(self, value: float, kind: Kind = Kind.F64) -> str:
        return literal(kind, value)

    # -------------------------------------------------------------------------------------- functions

    def intrinsic(self, name: str, kind: Kind, *args: str) -> str:
        type = self.type(kind)
        return self.w.call(type, f"llvm.{name}.{self.suffix(kind)}", *((type, arg) for arg in args))

    def binary(self, operation: str, kind: Kind, x: str, y: str) -> str:
        if self.lanes > 1 or operation not in SHIFTS:
            return self.w.let(f"{operation} {self.type(kind)} {x}, {y}")
        alone = [self.w.let(f"extractelement {self.type(kind)} {side}, i64 0") for side in (x, y)]
        shifted = self.w.let(f"{operation} {COMPUTED[kind]} {', '.join(alone)}")
        return self.w.let(f"insertelement {self.type(kind)} poison, {COMPUTED[kind]} {shifted}, i64 0")

    def compare(self, relation: str, kind: Kind, x: str, y: str) -> str:
        return self.w.let(f"{'fcmp' if kind.is_float else 'icmp'} {relation} {self.type(kind)} {x}, {y}")

    def choose(self, kind: Kind, condition: str, x: str, y: str) -> str:
        mask = f"<{self.lanes} x i1>"
        return self.w.let(f"select {mask} {condition}, {self.type(kind)} {x}, {self.type(kind)} {y}")

    def cast(self, operation: str, source: Kind, target: Kind, value: str) -> str:
        return self.w.let(f"{operation} {self.type(source)} {value} to {self.type(target)}")


def literal(kind: Kind, value: float | int) -> str:
    """A constant as LLVM writes it."""
    if kind is Kind.BOOL:
        return "true" if value else "false"
    if not kind.is_float:
        return str(int(value))
    if kind is Kind.F32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def literal_bits(kind: Kind, bits: int) -> str:
    """A literal by its stored bits, as LLVM writes it."""
    match kind:
        case Kind.F64:
            return f"0x{bits:016X}"
        case Kind.F32:
            value = struct.unpack("<f", struct.pack("<I", bits))[0]
            if math.isnan(value):
                return f"0x{(bits >> 31) << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29:016X}"
            return literal(Kind.F32, value)
        case Kind.BOOL:
            return "true" if bits else "false"
        case _:
            return str(bits)


# -------------------------------------------------------------------------------------------------------- conversions
#
# Conversions between kinds as LLVM text; lanes whose value does not fit are recorded in `Vectors.checks`.

def convert(v: Vectors, source: Kind, target: Kind, x: str) -> str:
    """Returns the value converted to a kind that is known to hold it (floats round)."""
    if source is target:
        return x
    if target is Kind.BOOL:
        return v.compare("une" if source.is_float else "ne", source, x, v.constant(source, 0))
    if source.is_float:
        if target.is_float:
            return v.cast("fpext" if target is Kind.F64 else "fptrunc", source, target, x)
        return v.cast("fptosi", source, target, x)
    if target.is_float:
        return v.cast("uitofp" if source in UNSIGNED else "sitofp", source, target, x)
    if COMPUTED[source] == COMPUTED[target]:
        return x
    if target.bytes < source.bytes:
        return v.cast("trunc", source, target, x)
    return v.cast("zext" if source in UNSIGNED else "sext", source, target, x)


_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}


def convert_checked(v: Vectors, node: int, source: Kind, target: Kind, x: str) -> str:
    """As `convert`, with a check of the lanes whose value does not fit."""
    if source is target:
        return x
    if target.is_float:
        result = convert(v, source, target, x)
        if source is Kind.F64:
            far = v.compare("oeq", target, v.intrinsic("fabs", target, result), v.constant(target, math.inf))
            near = v.compare("one", source, v.intrinsic("fabs", source, x), v.constant(source, math.inf))
            v.checks.append(DomainCheck(node, v.w.let(f"and <{v.lanes} x i1> {far}, {near}"), x, source))
        return result
    if source.is_float:
        integer = whole_checked(v, node, source, x, x, target)
        return convert(v, Kind.I64, target, integer)
    if target is not Kind.I64 and source is not Kind.BOOL:
        wide = convert(v, source, Kind.I64, x)
        _check_range(v, node, target, wide, x, source)
    return convert(v, source, target, x)


def _check_range(v: Vectors, node: int, target: Kind, wide: str, value: str, kind: Kind) -> None:
    low, high = _BOUNDS[target]
    below = v.compare("slt", Kind.I64, wide, v.constant(Kind.I64, low))
    above = v.compare("sgt", Kind.I64, wide, v.constant(Kind.I64, high))
    v.checks.append(DomainCheck(node, v.w.let(f"or <{v.lanes} x i1> {below}, {above}"), value, kind))


def whole_checked(v: Vectors, node: int, kind: Kind, x: str, value: str, target: Kind) -> str:
    """Returns a float that must be an integer in the target's range as an i64; 0 in the lanes that fail the check."""
    limit = float(1 << 63)
    inside = v.binary("and", Kind.BOOL, v.compare("oge", kind, x, v.constant(kind, -limit)),
                      v.compare("olt", kind, x, v.constant(kind, limit)))  # fmt: skip
    if x == value:
        inside = v.binary("and", Kind.BOOL, inside, v.compare("oeq", kind, v.intrinsic("floor", kind, x), x))
    v.checks.append(DomainCheck(node, v.binary("xor", Kind.BOOL, inside, v.constant(Kind.BOOL, 1)), value, kind))
    integer = v.cast("fptosi", kind, Kind.I64, v.choose(kind, inside, x, v.constant(kind, 0.0)))
    if target is not Kind.I64:
        _check_range(v, node, target, integer, value, kind)
    return integer


# ----------------------------------------------------------------------------------------- lookup in registers
#
# Tables of sixteen numbers in registers, where processors permute them by indices.

def picked(v: Vectors, entries: tuple[float, ...], index: str) -> str:
    """Returns, for each i32 lane, the entry of a table of sixteen binary32 numbers that its low four bits select."""
    w, lanes = v.w, v.lanes
    if not has_feature("avx2"):
        items = ", ".join(f"float {v.number(entry, Kind.F32)}" for entry in entries)
        name = f"@p{blake2b(items.encode(), digest_size=6).hexdigest()}"
        w.declarations[f"{name} = private constant [16 x float] [{items}], align 64"] = None
        low = v.binary("and", Kind.I32, index, v.constant(Kind.I32, 15))
        return v.gather(Kind.F32, w.let(f"getelementptr float, ptr {name}, {v.type(Kind.I32)} {low}"))
    width = 16 if has_feature("avx512f") else 8
    parts = []
    for first in range(0, lanes, width):
        order = ", ".join(f"i32 {min(first + lane, lanes - 1)}" for lane in range(width))
        part = w.let(f"shufflevector {v.type(Kind.I32)} {index}, {v.type(Kind.I32)} poison, <{width} x i32> <{order}>")
        parts.append(_permuted(v, entries, part, width))
    while len(parts) > 1:
        order = ", ".join(f"i32 {lane}" for lane in range(2 * width))
        type = f"<{width} x float>"
        parts = [w.let(f"shufflevector {type} {a}, {type} {b}, <{2 * width} x i32> <{order}>")
                 for a, b in zip(parts[::2], parts[1::2], strict=True)]  # fmt: skip
        width *= 2
    if width == lanes:
        return parts[0]
    order = ", ".join(f"i32 {lane}" for lane in range(lanes))
    return w.let(f"shufflevector <{width} x float> {parts[0]}, <{width} x float> poison, <{lanes} x i32> <{order}>")


def _permuted(v: Vectors, entries: tuple[float, ...], index: str, width: int) -> str:
    w = v.w

    def table(some: Sequence[float]) -> str:
        return "<" + ", ".join(f"float {v.number(entry, Kind.F32)}" for entry in some) + ">"

    if width == 16:
        name, type, places = "llvm.x86.avx512.permvar.sf.512", "<16 x float>", "<16 x i32>"
        return w.call(type, name, (type, table(entries)), (places, index))
    name, type, places = "llvm.x86.avx2.permps", "<8 x float>", "<8 x i32>"
    low, high = (w.call(type, name, (type, table(half)), (places, index)) for half in (entries[:8], entries[8:]))
    is_high = w.let(f"icmp slt {places} {w.let(f'shl {places} {index}, splat (i32 28)')}, zeroinitializer")
    return w.let(f"select <8 x i1> {is_high}, {type} {high}, {type} {low}")


# ------------------------------------------------------------------------------------------------------ modulo
#
# `x|y` as LLVM text: y modulo x with the sign of x, y where x is 0.
#
# Note [Constant divisors].  The quotient of a whole number u below 2ᴺ by d is ⌊u×M÷2^(N+l)⌋ where 2^l ≥ d and M = ⌈2^(N+l)÷d⌉
# (Granlund and Montgomery, 1994).  For a vector whose items are all from 0 to 2³¹-1, N = 31, and a quotient costs one product of
# 32-bit halves.  Otherwise N = 63, the bits of negative numbers are flipped (⌊y÷d⌋ is the complement of ⌊(the complement of
# y)÷d⌋), and the high word of the product is assembled from four products of halves.
#
# Note [Any divisors].  Processors divide vectors of floats, not of integers.  For numbers below 2⁵¹ in magnitude, ⌊y÷x⌋ is that
# of their binary64 quotient: an exact quotient that is not whole is below the next whole number n by 1÷|x| at least, which is
# more than half a unit in the last place of n, as |y| < 2⁵².  Then y - x×⌊y÷x⌋ is exact in one fused step, and has the sign of x.
# Vectors with other items divide integers, item by item.  An integer k between ±2⁵¹ is the float whose bits are k + those of
# 1.5×2⁵², less 1.5×2⁵²: no conversion of 64-bit integers is needed, which processors without AVX-512 lack.
#
# Note [Float remainders].  Let q be y÷x, rounded and truncated.  The exact quotient, truncated, is q or q minus one (in
# magnitude), as rounding keeps order; and y - q×x is representable, so one fused multiply-add computes it exactly.  If it does
# not have the sign of y, adding x once makes it the exact remainder.  This needs |q| < 2⁵² and a finite x; other items use the C
# library.  Then the sign is made that of x, with one rounding, as in NumPy and Python.

_HALF: Final = (1 << 32) - 1
_MIDDLE: Final = 1.5 * 2**52
_MIDDLE_BITS: Final = 0x4338 << 48


def residue(v: Vectors, kind: Kind, x: str, y: str) -> str:
    """Returns `x|y`, y modulo x, as a vector value; y where x is 0."""
    if kind.is_float:
        return _of_floats(v, kind, x, y)
    divisor = _constant(x)
    if divisor is not None and kind is Kind.I64:
        return _by_constant(v, divisor, y)
    return _of_integers(v, kind, x, y)


def _of_integers(v: Vectors, kind: Kind, x: str, y: str) -> str:
    """The residue of integers; a divisor 0 is replaced before the division.  See Note [Any divisors]."""
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
    """Returns the condition that all lanes are between ±2⁵¹."""
    return v.compare("ult", Kind.I64, v.binary("add", Kind.I64, x, v.constant(Kind.I64, 1 << 51)), v.constant(Kind.I64, 1 << 52))


def _as_float(v: Vectors, x: str) -> str:
    moved = v.binary("add", Kind.I64, x, v.constant(Kind.I64, _MIDDLE_BITS))
    return v.binary("fsub", Kind.F64, v.cast("bitcast", Kind.I64, Kind.F64, moved), v.constant(Kind.F64, _MIDDLE))


def _as_integer(v: Vectors, x: str) -> str:
    moved = v.cast("bitcast", Kind.F64, Kind.I64, v.binary("fadd", Kind.F64, x, v.constant(Kind.F64, _MIDDLE)))
    return v.binary("sub", Kind.I64, moved, v.constant(Kind.I64, _MIDDLE_BITS))


def _item_by_item(v: Vectors, x: str, y: str) -> str:
    """Divide lane by lane; the divisor -1 is replaced, as the least integer divided by it traps."""
    kind, zero = Kind.I64, v.constant(Kind.I64, 0)
    left = v.binary("srem", kind, y, v.choose(kind, v.compare("eq", kind, x, v.constant(kind, -1)), v.constant(kind, 1), x))
    differ = v.compare("slt", kind, v.binary("xor", kind, left, x), zero)
    wrong = v.binary("and", Kind.BOOL, differ, v.compare("ne", kind, left, zero))
    return v.choose(kind, wrong, v.binary("add", kind, left, x), left)


# ------------------------------------------------------------------------------- constant divisors


def _constant(x: str) -> int | None:
    """Returns the number of a splat constant in the form of `literal`; None for other values."""
    start = "splat (i64 "
    return int(x[len(start) : -1]) if x.startswith(start) else None


def _by_constant(v: Vectors, divisor: int, y: str) -> str:
    """The residue by a constant.  See Note [Constant divisors]."""
    kind, size = Kind.I64, abs(divisor)
    if divisor == 0:
        return y
    if size & (size - 1) == 0:
        return _remainder_of_sign(v, divisor, v.binary("and", kind, y, v.constant(kind, size - 1)))
    bits = (size - 1).bit_length()
    if size >= 1 << 31:
        return _remainder_of_sign(v, divisor, _wide(v, size, bits, y))
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
    return _remainder_of_sign(v, divisor, w.let(f"phi {type} [ {narrow}, %{short} ], [ {wide}, %{end} ]"))


def _remainder_of_sign(v: Vectors, divisor: int, left: str) -> str:
    """Returns the residue by a divisor of either sign from that by its magnitude."""
    if divisor > 0:
        return left
    zero = v.constant(Kind.I64, 0)
    return v.choose(
        Kind.I64, v.compare("eq", Kind.I64, left, zero), zero, v.binary("add", Kind.I64, left, v.constant(Kind.I64, divisor))
    )


def _half(v: Vectors, x: str) -> str:
    """Returns the low 32 bits; a product of two such values is one instruction."""
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
    if kind is Kind.F32:  # the remainder of two binary32 numbers is a binary32 number, so binary64 is exact
        wide = (v.cast("fpext", kind, Kind.F64, x), v.cast("fpext", kind, Kind.F64, y))
        left = v.cast("fptrunc", Kind.F64, kind, _remainder(v, *wide))
    else:
        left = _remainder(v, x, y)
    below = v.binary("xor", Kind.BOOL, v.compare("olt", kind, x, zero), v.compare("olt", kind, left, zero))
    moved = v.choose(kind, below, v.binary("fadd", kind, left, x), left)
    none = v.intrinsic("copysign", kind, zero, x)
    signed = v.choose(kind, v.compare("oeq", kind, left, zero), none, moved)
    return v.choose(kind, v.compare("oeq", kind, x, zero), y, signed)


def _remainder(v: Vectors, x: str, y: str) -> str:
    """The C library's `fmod`, except for the sign of a zero.  See Note [Float remainders]."""
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
    remainder = w.call("double", "rho_fmod", *items)
    placed = w.let(f"insertelement {type} {loop.carried[0]}, double {remainder}, i64 {loop.index}")
    w.jump(following)
    w.label(following)
    joined = w.let(f"phi {type} [ {loop.carried[0]}, %{asked} ], [ {placed}, %{call} ]")
    w.end(loop, [joined])
    after = w.block
    w.jump(ready)
    w.label(ready)
    return w.let(f"phi {type} [ {left}, %{before} ], [ {loop.carried[0]}, %{after} ]")


# ----------------------------------------------------------------------------------------------- scalar functions

def apply(v: Vectors, node: Apply, args: Sequence[str]) -> str:
    """Returns the value of a function of `args`; its run-time checks go to `v.checks`."""
    if node.function == "outside":  # one unsigned comparison, in which a negative index exceeds any length
        return v.compare("uge", node.compute, *args)
    kinds = (Kind.BOOL, node.compute, node.compute) if node.function == "select" else (node.compute,) * len(args)
    meaning = definition(node.function, node.parameter, node.compute)
    assert meaning is not None, f"kernels do not have {node.function}"
    widens = node.compute is not meaning.kind
    names = [v.cast("fpext", node.compute, meaning.kind, x) for x in args] if widens else args
    operands = [ScalarValue(v, meaning.kind if widens else kind, name) for kind, name in zip(kinds, names, strict=True)]
    result = str(meaning.compute(*operands, LlvmVectors(v, node.kind, max(node.check, 0))).name)
    return v.cast("fptrunc", meaning.kind, node.compute, result) if widens else result


def combine(v: Vectors, function: str, kind: Kind, x: str, y: str) -> str:
    """Returns one step of a reduction, `x` combined with `y`."""
    return apply(v, Apply("", kind, function, (), kind), (x, y))


def fold_lanes(w: IrBuilder, function: str, kind: Kind, value: str, count: int) -> str:
    """Returns all lanes combined by halving, as a vector of one lane."""
    while count > 1:
        count //= 2
        v, wide_type = Vectors(w, count), Vectors(w, 2 * count).type(kind)
        parts = []
        for first in (0, count):
            order = "<" + ", ".join(f"i32 {first + lane}" for lane in range(count)) + ">"
            parts.append(w.let(f"shufflevector {wide_type} {value}, {wide_type} poison, <{count} x i32> {order}"))
        value = combine(v, function, kind, parts[0], parts[1])
    return value


class ScalarValue:
    """A vector of floats, of integers of the same width, or of booleans, with Python's operators."""

    __slots__ = ("kind", "name", "v")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, v: Vectors, kind: Kind, name: str) -> None:
        self.v, self.kind, self.name = v, kind, name

    def _of(self, other: ScalarValue | float | int) -> str:
        return other.name if isinstance(other, ScalarValue) else self.v.constant(self.kind, other)

    def _made(self, floats: str, integers: str, left: str, right: str) -> ScalarValue:
        operation = floats if self.kind.is_float else integers
        return ScalarValue(self.v, self.kind, self.v.binary(operation, self.kind, left, right))

    def __add__(self, other: ScalarValue | float) -> ScalarValue:
        return self._made("fadd", "add", self.name, self._of(other))

    def __sub__(self, other: ScalarValue | float) -> ScalarValue:
        return self._made("fsub", "sub", self.name, self._of(other))

    def __rsub__(self, other: float) -> ScalarValue:
        return self._made("fsub", "sub", self._of(other), self.name)

    def __mul__(self, other: ScalarValue | float) -> ScalarValue:
        return self._made("fmul", "mul", self.name, self._of(other))

    def __truediv__(self, other: ScalarValue | float) -> ScalarValue:
        return self._made("fdiv", "sdiv", self.name, self._of(other))

    def __rtruediv__(self, other: float) -> ScalarValue:
        return self._made("fdiv", "sdiv", self._of(other), self.name)

    def __neg__(self) -> ScalarValue:
        if not self.kind.is_float:
            return self._bits("sub", "zeroinitializer", self.name)
        return ScalarValue(self.v, self.kind, self.v.w.let(f"fneg {self.v.type(self.kind)} {self.name}"))

    def _bits(self, operation: str, left: str, right: str) -> ScalarValue:
        return ScalarValue(self.v, self.kind, self.v.binary(operation, self.kind, left, right))

    def __and__(self, other: ScalarValue | int) -> ScalarValue:
        return self._bits("and", self.name, self._of(other))

    def __or__(self, other: ScalarValue | int) -> ScalarValue:
        return self._bits("or", self.name, self._of(other))

    def __xor__(self, other: ScalarValue | int) -> ScalarValue:
        return self._bits("xor", self.name, self._of(other))

    def __invert__(self) -> ScalarValue:
        return self ^ -1

    def __lshift__(self, other: ScalarValue | int) -> ScalarValue:
        return self._bits("shl", self.name, self._of(other))

    def __rshift__(self, other: ScalarValue | int) -> ScalarValue:
        return self._bits("lshr", self.name, self._of(other))

    def _test(self, relation: str, other: ScalarValue | float | int) -> ScalarValue:
        if self.kind.is_float:
            relation = "une" if relation == "ne" else f"o{relation}"
        elif relation not in ("eq", "ne"):
            relation = f"{'u' if self.kind in UNSIGNED else 's'}{relation}"
        return ScalarValue(self.v, Kind.BOOL, self.v.compare(relation, self.kind, self.name, self._of(other)))

    def __lt__(self, other: ScalarValue | float) -> ScalarValue:
        return self._test("lt", other)

    def __le__(self, other: ScalarValue | float) -> ScalarValue:
        return self._test("le", other)

    def __gt__(self, other: ScalarValue | float) -> ScalarValue:
        return self._test("gt", other)

    def __ge__(self, other: ScalarValue | float) -> ScalarValue:
        return self._test("ge", other)

    def __eq__(self, other: object) -> ScalarValue:  # type: ignore[override]
        assert isinstance(other, ScalarValue | float | int)
        return self._test("eq", other)

    def __ne__(self, other: object) -> ScalarValue:  # type: ignore[override]
        assert isinstance(other, ScalarValue | float | int)
        return self._test("ne", other)


class LlvmVectors:
    """A `backend.scalar.function_table.Machine` on LLVM vectors, for body node `node`, whose result has the kind `target`."""

    def __init__(self, v: Vectors, target: Kind, node: int = 0) -> None:
        self.v, self.target, self.node = v, target, node

    def _result(self, name: str) -> ScalarValue:
        return ScalarValue(self.v, self.target, name)

    def converted(self, x: ScalarValue) -> ScalarValue:
        return self._result(convert(self.v, x.kind, self.target, x.name))

    def checked(self, x: ScalarValue) -> ScalarValue:
        return self._result(convert_checked(self.v, self.node, x.kind, self.target, x.name))

    def rounded_down(self, x: ScalarValue) -> ScalarValue:
        return self._whole("floor", x)

    def rounded_up(self, x: ScalarValue) -> ScalarValue:
        return self._whole("ceil", x)

    def _whole(self, rounding: str, x: ScalarValue) -> ScalarValue:
        rounded = self.v.intrinsic(rounding, x.kind, x.name)
        return self._result(whole_checked(self.v, self.node, x.kind, rounded, x.name, Kind.I64))

    def residue(self, x: ScalarValue, y: ScalarValue) -> ScalarValue:
        return self._result(residue(self.v, x.kind, x.name, y.name))

    def like(self, x: ScalarValue, number: float) -> ScalarValue:
        return ScalarValue(self.v, x.kind, self.v.constant(x.kind, number))

    def is_float(self, x: ScalarValue) -> bool:
        return x.kind.is_float

    def is_signed(self, x: ScalarValue) -> bool:
        return x.kind not in UNSIGNED

    def width(self, x: ScalarValue) -> int:
        return 8 * x.kind.bytes

    def shifted_right(self, y: ScalarValue, count: ScalarValue) -> ScalarValue:
        operation = "lshr" if y.kind in UNSIGNED else "ashr"
        return ScalarValue(self.v, y.kind, self.v.binary(operation, y.kind, y.name, count.name))

    def shifted_right_unsigned(self, y: ScalarValue, count: ScalarValue) -> ScalarValue:
        return y >> count

    def smaller(self, x: ScalarValue, y: ScalarValue) -> ScalarValue:
        return self._extreme("min", x, y)

    def larger(self, x: ScalarValue, y: ScalarValue) -> ScalarValue:
        return self._extreme("max", x, y)

    def _extreme(self, which: str, x: ScalarValue, y: ScalarValue) -> ScalarValue:
        name = f"{'u' if x.kind in UNSIGNED else 's'}{which}"
        return ScalarValue(self.v, x.kind, self.v.intrinsic(name, x.kind, x.name, y.name))

    def _names(self, kind: Kind, *operands: ScalarValue | float) -> list[str]:
        return [side.name if isinstance(side, ScalarValue) else self.v.constant(kind, side) for side in operands]

    def fma(self, *operands: ScalarValue | float) -> ScalarValue:
        kind = next(operand.kind for operand in operands if isinstance(operand, ScalarValue))
        return ScalarValue(self.v, kind, self.v.intrinsic("fma", kind, *self._names(kind, *operands)))

    def signed(self, size: ScalarValue, x: ScalarValue) -> ScalarValue:
        return ScalarValue(self.v, x.kind, self.v.intrinsic("copysign", x.kind, size.name, x.name))

    def choose(self, condition: ScalarValue, x: ScalarValue | float, y: ScalarValue | float) -> ScalarValue:
        kind = x.kind if isinstance(x, ScalarValue) else y.kind if isinstance(y, ScalarValue) else Kind.F64
        return ScalarValue(self.v, kind, self.v.choose(kind, condition.name, *self._names(kind, x, y)))

    def magnitude(self, x: ScalarValue) -> ScalarValue:
        kind, v = x.kind, self.v
        if kind.is_float:
            return ScalarValue(v, kind, v.intrinsic("fabs", kind, x.name))
        if kind in UNSIGNED:
            return x
        return ScalarValue(v, kind, v.w.call(v.type(kind), f"llvm.abs.{v.suffix(kind)}", (v.type(kind), x.name), ("i1", "false")))

    def root(self, x: ScalarValue) -> ScalarValue:
        return ScalarValue(self.v, x.kind, self.v.intrinsic("sqrt", x.kind, x.name))

    def bits(self, x: ScalarValue) -> ScalarValue:
        kind = Kind.I64 if x.kind is Kind.F64 else Kind.I32
        return ScalarValue(self.v, kind, self.v.cast("bitcast", x.kind, kind, x.name))

    def float_of(self, bits: ScalarValue) -> ScalarValue:
        kind = Kind.F64 if bits.kind is Kind.I64 else Kind.F32
        return ScalarValue(self.v, kind, self.v.cast("bitcast", bits.kind, kind, bits.name))

    def number(self, word: ScalarValue) -> ScalarValue:
        kind = Kind.F64 if word.kind is Kind.I64 else Kind.F32
        return ScalarValue(self.v, kind, self.v.cast("sitofp", word.kind, kind, word.name))

    def lookup(self, table: str, index: ScalarValue, start: int) -> ScalarValue:
        v, name = self.v, f"@rho_table_{table}"
        v.w.declarations[f"{name} = external constant double, align 64"] = None
        first = f"getelementptr (i8, ptr {name}, i64 {_signed(-start * 8)})"
        pointers = v.w.let(f"getelementptr double, ptr {first}, {v.type(Kind.I64)} {index.name}")
        return ScalarValue(v, Kind.F64, v.gather(Kind.F64, pointers))

    def lookup16(self, entries: tuple[float, ...], index: ScalarValue) -> ScalarValue:
        return ScalarValue(self.v, Kind.F32, picked(self.v, entries, index.name))

    def select_rare(self, where: ScalarValue, value: ScalarValue, other: Callable[[], ScalarValue]) -> ScalarValue:
        v, w = self.v, self.v.w
        mask, before = f"<{v.lanes} x i1>", w.block
        rare, ready = w.new_label(), w.new_label()
        w.branch(w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (mask, where.name)), ready, rare)
        w.label(rare)
        chosen = self.choose(where, value, other())
        after = w.block
        w.jump(ready)
        w.label(ready)
        return ScalarValue(v, value.kind,
            w.let(f"phi {v.type(value.kind)} [ {value.name}, %{before} ], [ {chosen.name}, %{after} ]"))

    def scalar_fallback(self, name: str, where: ScalarValue, x: ScalarValue, value: ScalarValue) -> ScalarValue:
        """Calls the scalar function lane by lane if any lane of `where` is set."""
        v, w, lanes = self.v, self.v.w, self.v.lanes
        type, before = v.type(Kind.F64), w.block
        rare, ready = w.new_label(), w.new_label()
        w.branch(w.call("i1", f"llvm.vector.reduce.or.v{lanes}i1", (f"<{lanes} x i1>", where.name)), rare, ready)
        w.label(rare)
        loop = w.begin(0, lanes, 1, [(type, value.name)])
        wanted = w.let(f"extractelement <{lanes} x i1> {where.name}, i64 {loop.index}")
        call, following = w.new_label(), w.new_label()
        asked = w.block
        w.branch(wanted, call, following)
        w.label(call)
        item = w.let(f"extractelement {type} {x.name}, i64 {loop.index}")
        result = w.call("double", f"rho_{name}", ("double", item))
        placed = w.let(f"insertelement {type} {loop.carried[0]}, double {result}, i64 {loop.index}")
        w.jump(following)
        w.label(following)
        joined = w.let(f"phi {type} [ {loop.carried[0]}, %{asked} ], [ {placed}, %{call} ]")
        w.end(loop, [joined])
        after = w.block
        w.jump(ready)
        w.label(ready)
        return ScalarValue(v, Kind.F64, w.let(f"phi {type} [ {value.name}, %{before} ], [ {loop.carried[0]}, %{after} ]"))


def _signed(word: int) -> int:
    """Returns a 64-bit word as a signed integer."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)


# ------------------------------------------------------------------------------------- division by an invariant
#
# Division of many elements by one number, by its reciprocal: the bits are those of the division.
#
# With y the reciprocal of b, rounded, two corrections of q = a y by fused multiply-add give the quotient as division rounds it
# (Markstein: a correctly rounded reciprocal and a quotient within one unit give, corrected once more, the correctly rounded
# quotient).  That holds where no intermediate result overflows or loses bits; elements and divisors of extreme magnitude, zeros,
# infinities and NaN are divided.  A processor without fused multiply-add always divides.

_REACH = {Kind.F64: (500, 300), Kind.F32: (60, 40)}
"""Binary orders of magnitude, for elements and for divisors, within which no intermediate result loses bits."""


@dataclass(frozen=True, slots=True)
class Divisor:
    """A divisor per lane with its `reciprocal`; `is_near`: the i1 that says whether the reciprocals may be used."""

    kind: Kind
    value: str
    reciprocal: str
    is_near: str


def prepare(v: Vectors, kind: Kind, value: str) -> Divisor:
    """Returns the divisors of the lanes with their reciprocals, which are computed once for many elements."""
    reach = 2.0 ** _REACH[kind][1]
    size = v.intrinsic("fabs", kind, value)
    above = v.compare("ogt", kind, size, v.constant(kind, 1 / reach))
    below = v.compare("olt", kind, size, v.constant(kind, reach))
    both = v.binary("and", Kind.BOOL, above, below)
    near = v.w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (v.type(Kind.BOOL), both))
    return Divisor(kind, value, v.binary("fdiv", kind, v.constant(kind, 1.0), value), near)


def divide(v: Vectors, x: str, by: Divisor) -> str:
    """Returns `x ÷ by` with the bits of the division."""
    w, kind = v.w, by.kind
    reach = 2.0 ** _REACH[kind][0]
    size = v.intrinsic("fabs", kind, x)
    above = v.compare("ogt", kind, size, v.constant(kind, 1 / reach))
    below = v.compare("olt", kind, size, v.constant(kind, reach))
    inside = w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (v.type(Kind.BOOL), v.binary("and", Kind.BOOL, above, below)))
    quick, slow, ready = w.new_label(), w.new_label(), w.new_label()
    w.branch(w.let(f"and i1 {inside}, {by.is_near}"), quick, slow)
    w.label(quick)
    minus = w.let(f"fneg {v.type(kind)} {by.value}")
    quotient = v.binary("fmul", kind, x, by.reciprocal)
    for _ in range(2):
        left = v.intrinsic("fma", kind, minus, quotient, x)
        quotient = v.intrinsic("fma", kind, left, by.reciprocal, quotient)
    w.jump(ready)
    w.label(slow)
    divided = v.binary("fdiv", kind, x, by.value)
    w.jump(ready)
    w.label(ready)
    return w.let(f"phi {v.type(kind)} [ {quotient}, %{quick} ], [ {divided}, %{slow} ]")
