"""Scalar functions as LLVM text on vectors of any number of lanes (reductions end on vectors of one).

The meanings are those of `typechecker.scalars`, to the bit: no fast-math flag, no contraction, NaN passes through minimum and
maximum (of equal operands the second is taken, as NumPy does), integers wrap, and no lane divides by zero.

Neighbours: `mathematics` (functions by polynomials), `llvm_text` (loops around this), `ir`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .ir import Apply, Literal
from .math_text import defined
from .mathematics import definition
from .residues import residue
from .writer import Writer

STORED: Final = {
    Kind.BOOL: "i8", Kind.U8: "i8", Kind.I32: "i32", Kind.I64: "i64", Kind.F32: "float", Kind.F64: "double", Kind.CHAR: "i32",
    Kind.C64: "i64", Kind.C128: "i128",
}  # fmt: skip
COMPUTED: Final = STORED | {Kind.BOOL: "i1"}
_UNSIGNED: Final = frozenset({Kind.BOOL, Kind.U8, Kind.CHAR})


@dataclass(frozen=True, slots=True)
class Check:
    """A run-time check inside a body: lanes of `failed` are bad, and `value` (of `kind`) is what was checked."""

    node: int
    failed: str
    value: str
    kind: Kind


class Vectors:
    """Values of `lanes` elements; `checks` collects what may fail."""

    def __init__(self, writer: Writer, lanes: int) -> None:
        self.w = writer
        self.lanes = lanes
        self.checks: list[Check] = []

    # ------------------------------------------------------------------------------- types and constants

    def type(self, kind: Kind) -> str:
        return f"<{self.lanes} x {COMPUTED[kind]}>"

    def stored(self, kind: Kind) -> str:
        return f"<{self.lanes} x {STORED[kind]}>"

    def suffix(self, kind: Kind) -> str:
        """As intrinsics name the type."""
        letter = {"double": "f64", "float": "f32"}.get(COMPUTED[kind], COMPUTED[kind])
        return f"v{self.lanes}{letter}"

    def constant(self, kind: Kind, value: float | int) -> str:
        return f"splat ({COMPUTED[kind]} {literal(kind, value)})"

    def splat(self, kind: Kind, scalar: str) -> str:
        type = self.type(kind)
        first = self.w.let(f"insertelement {type} poison, {COMPUTED[kind]} {scalar}, i64 0")
        return self.w.let(f"shufflevector {type} {first}, {type} poison, <{self.lanes} x i32> zeroinitializer")

    def counting(self) -> str:
        """0, 1, 2, … as i64."""
        return "<" + ", ".join(f"i64 {lane}" for lane in range(self.lanes)) + ">"

    # ----------------------------------------------------------------------------------------- memory

    def load(self, kind: Kind, address: str, align: int = 1) -> str:
        return self.from_stored(kind, self.w.let(f"load {self.stored(kind)}, ptr {address}, align {align}"))

    def load_present(self, kind: Kind, address: str, present: str) -> str:
        """The lanes that are there, zeros in the others; memory beside those that are there is not touched."""
        lanes, stored = self.lanes, self.stored(kind)
        letter = {"double": "f64", "float": "f32"}.get(STORED[kind], STORED[kind])
        name = f"llvm.masked.load.v{lanes}{letter}.p0"
        self.w.declarations[f"declare {stored} @{name}(ptr, i32 immarg, <{lanes} x i1>, {stored})"] = None
        found = self.w.let(f"call {stored} @{name}(ptr {address}, i32 1, <{lanes} x i1> {present}, {stored} zeroinitializer)")
        return self.from_stored(kind, found)

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
                            (f"<{lanes} x i1>", "splat (i1 true)"), (stored, "poison"))  # fmt: skip
        return self.from_stored(kind, value)

    def number(self, value: float, kind: Kind = Kind.F64) -> str:
        return literal(kind, value)

    # -------------------------------------------------------------------------------------- functions

    def intrinsic(self, name: str, kind: Kind, *args: str) -> str:
        type = self.type(kind)
        return self.w.call(type, f"llvm.{name}.{self.suffix(kind)}", *((type, arg) for arg in args))

    def binary(self, operation: str, kind: Kind, x: str, y: str) -> str:
        return self.w.let(f"{operation} {self.type(kind)} {x}, {y}")

    def compare(self, relation: str, kind: Kind, x: str, y: str) -> str:
        return self.w.let(f"{'fcmp' if kind.is_float else 'icmp'} {relation} {self.type(kind)} {x}, {y}")

    def choose(self, kind: Kind, condition: str, x: str, y: str) -> str:
        mask = f"<{self.lanes} x i1>"
        return self.w.let(f"select {mask} {condition}, {self.type(kind)} {x}, {self.type(kind)} {y}")

    def cast(self, operation: str, source: Kind, target: Kind, value: str) -> str:
        return self.w.let(f"{operation} {self.type(source)} {value} to {self.type(target)}")

    def combine(self, function: str, kind: Kind, x: str, y: str) -> str:
        """One step of a reduction."""
        return _DYADIC[function](self, kind, x, y)

    def apply(self, place: int, node: Apply, args: list[str]) -> str:
        """The value of body node `place`."""
        kind = node.compute
        match node.function:
            case "select":
                return self.choose(kind, args[0], args[1], args[2])
            case "convert":
                return convert(self, kind, node.kind, args[0])
            case "convert_checked":
                return convert_checked(self, place, kind, node.kind, args[0])
            case "floor" | "ceil":
                rounded = self.intrinsic(node.function, kind, args[0])
                return _to_i64_checked(self, place, kind, rounded, args[0], Kind.I64)
        found = definition(node.function, node.parameter, kind)
        if found is not None:
            return defined(self, found, kind, args)
        if len(args) == 2:
            return _DYADIC[node.function](self, kind, args[0], args[1])
        return _MONADIC[node.function](self, kind, args[0])


def literal(kind: Kind, value: float | int) -> str:
    """A constant as LLVM writes it."""
    if kind is Kind.BOOL:
        return "true" if value else "false"
    if not kind.is_float:
        return str(int(value))
    if kind is Kind.F32:
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def literal_bits(node: Literal) -> str:
    """A literal node as LLVM writes it."""
    match node.kind:
        case Kind.F64:
            return f"0x{node.bits:016X}"
        case Kind.F32:
            value = struct.unpack("<f", struct.pack("<I", node.bits))[0]
            if math.isnan(value):
                return f"0x{(node.bits >> 31) << 63 | 0x7FF << 52 | (node.bits & 0x7FFFFF) << 29:016X}"
            return literal(Kind.F32, value)
        case Kind.BOOL:
            return "true" if node.bits else "false"
        case _:
            return str(node.bits)


def identity(function: str, kind: Kind) -> float | int:
    """What changes nothing, not even the sign of a zero, when combined from either side."""
    match function:
        case "add":
            return -0.0 if kind.is_float else 0
        case "mul":
            return 1
        case "and":
            return 1
        case "or":
            return 0
        case "min" | "max":
            least, greatest = _RANGES[kind]
            return greatest if function == "min" else least
    raise AssertionError(f"{function} is not reduced in kernels")


_RANGES: Final[dict[Kind, tuple[float | int, float | int]]] = {
    Kind.F64: (-math.inf, math.inf), Kind.F32: (-math.inf, math.inf), Kind.I64: (-(1 << 63), (1 << 63) - 1),
    Kind.I32: (-(1 << 31), (1 << 31) - 1), Kind.U8: (0, 255),
}  # fmt: skip


# ------------------------------------------------------------------------------------- two operands


def _arithmetic(operation: str) -> Callable[[Vectors, Kind, str, str], str]:
    return lambda v, kind, x, y: v.binary(f"f{operation}" if kind.is_float else operation, kind, x, y)


def _logic(operation: str, *, negated: bool = False) -> Callable[[Vectors, Kind, str, str], str]:
    def emit(v: Vectors, kind: Kind, x: str, y: str) -> str:
        value = v.binary(operation, kind, x, y)
        return _not(v, kind, value) if negated else value

    return emit


def _shift(operation: str) -> Callable[[Vectors, Kind, str, str], str]:
    def emit(v: Vectors, kind: Kind, x: str, y: str) -> str:
        count = v.binary("and", kind, x, v.constant(kind, 8 * kind.bytes - 1))
        return v.binary("lshr" if kind in _UNSIGNED and operation == "ashr" else operation, kind, y, count)

    return emit


def _comparison(relation: str) -> Callable[[Vectors, Kind, str, str], str]:
    def emit(v: Vectors, kind: Kind, x: str, y: str) -> str:
        if kind.is_float:
            return v.compare("une" if relation == "ne" else f"o{relation}", kind, x, y)
        if relation in ("eq", "ne"):
            return v.compare(relation, kind, x, y)
        return v.compare(f"{'u' if kind in _UNSIGNED else 's'}{relation}", kind, x, y)

    return emit


def _extreme(function: str) -> Callable[[Vectors, Kind, str, str], str]:
    def emit(v: Vectors, kind: Kind, x: str, y: str) -> str:
        if not kind.is_float:
            return v.intrinsic(f"{'u' if kind in _UNSIGNED else 's'}{function}", kind, x, y)
        # x if it is beyond y or NaN: ordered or unordered "beyond" is true of any NaN, so y's NaN is put back
        chosen = v.choose(kind, v.compare("olt" if function == "min" else "ogt", kind, x, y), x, y)
        return v.choose(kind, v.compare("uno", kind, x, x), x, chosen)

    return emit


_DYADIC: Final[dict[str, Callable[[Vectors, Kind, str, str], str]]] = {
    "add": _arithmetic("add"), "sub": _arithmetic("sub"), "mul": _arithmetic("mul"), "div": _arithmetic("div"),
    "and": _logic("and"), "or": _logic("or"), "nand": _logic("and", negated=True), "nor": _logic("or", negated=True),
    "lt": _comparison("lt"), "le": _comparison("le"), "eq": _comparison("eq"), "ge": _comparison("ge"),
    "gt": _comparison("gt"), "ne": _comparison("ne"), "min": _extreme("min"), "max": _extreme("max"), "residue": residue,
    "band": _logic("and"), "bor": _logic("or"), "bxor": _logic("xor"), "shl": _shift("shl"), "shr": _shift("ashr"),
    "shru": _shift("lshr"),
}  # fmt: skip


# ------------------------------------------------------------------------------------- one operand


def _not(v: Vectors, kind: Kind, x: str) -> str:
    return v.binary("xor", Kind.BOOL, x, v.constant(Kind.BOOL, 1))


def _negative(v: Vectors, kind: Kind, x: str) -> str:
    if kind.is_float:
        return v.w.let(f"fneg {v.type(kind)} {x}")
    return v.binary("sub", kind, "zeroinitializer", x)


def _magnitude(v: Vectors, kind: Kind, x: str) -> str:
    if kind.is_float:
        return v.intrinsic("fabs", kind, x)
    if kind in _UNSIGNED:
        return x
    return v.w.call(v.type(kind), f"llvm.abs.{v.suffix(kind)}", (v.type(kind), x), ("i1", "false"))


def _sign(v: Vectors, kind: Kind, x: str) -> str:
    """Of a NaN the NaN itself; 0 of -0.0."""
    zero, one = v.constant(kind, 0), v.constant(kind, 1)
    if kind is Kind.U8:
        return v.choose(kind, v.compare("ne", kind, x, zero), one, zero)
    above = v.compare("ogt" if kind.is_float else "sgt", kind, x, zero)
    below = v.compare("olt" if kind.is_float else "slt", kind, x, zero)
    found = v.choose(kind, above, one, v.choose(kind, below, v.constant(kind, -1), zero))
    return v.choose(kind, v.compare("uno", kind, x, x), x, found) if kind.is_float else found


def _half_power(v: Vectors, kind: Kind, x: str) -> str:
    """x*0.5: as the square root, but 0 of -0.0 and ∞ of -∞."""
    root = v.binary("fadd", kind, v.intrinsic("sqrt", kind, x), v.constant(kind, 0.0))
    far = v.compare("oeq", kind, x, v.constant(kind, -math.inf))
    return v.choose(kind, far, v.constant(kind, math.inf), root)


_MONADIC: Final[dict[str, Callable[[Vectors, Kind, str], str]]] = {
    "neg": _negative, "not": _not, "abs": _magnitude, "sign": _sign,
    "reciprocal": lambda v, kind, x: v.binary("fdiv", kind, v.constant(kind, 1.0), x),
    "sqrt": lambda v, kind, x: v.intrinsic("sqrt", kind, x),
    "pi_times": lambda v, kind, x: v.binary("fmul", kind, x, v.constant(kind, math.pi)),
    "square": lambda v, kind, x: v.binary("fmul", kind, x, x),
    "half_power": _half_power, "bnot": lambda v, kind, x: v.binary("xor", kind, x, v.constant(kind, -1)),
}  # fmt: skip


# ----------------------------------------------------------------------------------- conversions


def convert(v: Vectors, source: Kind, target: Kind, x: str) -> str:
    """To a kind that is known to hold the value (floats round)."""
    if source is target:
        return x
    if target is Kind.BOOL:
        return v.compare("une" if source.is_float else "ne", source, x, v.constant(source, 0))
    if source.is_float:
        if target.is_float:
            return v.cast("fpext" if target is Kind.F64 else "fptrunc", source, target, x)
        return v.cast("fptosi", source, target, x)
    if target.is_float:
        return v.cast("uitofp" if source in _UNSIGNED else "sitofp", source, target, x)
    if COMPUTED[source] == COMPUTED[target]:
        return x
    if target.bytes < source.bytes:
        return v.cast("trunc", source, target, x)
    return v.cast("zext" if source in _UNSIGNED else "sext", source, target, x)


_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}


def convert_checked(v: Vectors, place: int, source: Kind, target: Kind, x: str) -> str:
    """As `convert`, noting the lanes whose value does not fit."""
    if source is target:
        return x
    if target.is_float:
        result = convert(v, source, target, x)
        if source is Kind.F64:
            far = v.compare("oeq", target, v.intrinsic("fabs", target, result), v.constant(target, math.inf))
            near = v.compare("one", source, v.intrinsic("fabs", source, x), v.constant(source, math.inf))
            v.checks.append(Check(place, v.w.let(f"and <{v.lanes} x i1> {far}, {near}"), x, source))
        return result
    if source.is_float:
        whole = _to_i64_checked(v, place, source, x, x, target)
        return convert(v, Kind.I64, target, whole)
    if target is not Kind.I64 and source is not Kind.BOOL:
        wide = convert(v, source, Kind.I64, x)
        _check_range(v, place, target, wide, x, source)
    return convert(v, source, target, x)


def _check_range(v: Vectors, place: int, target: Kind, wide: str, value: str, kind: Kind) -> None:
    low, high = _BOUNDS[target]
    below = v.compare("slt", Kind.I64, wide, v.constant(Kind.I64, low))
    above = v.compare("sgt", Kind.I64, wide, v.constant(Kind.I64, high))
    v.checks.append(Check(place, v.w.let(f"or <{v.lanes} x i1> {below}, {above}"), value, kind))


def _to_i64_checked(v: Vectors, place: int, kind: Kind, x: str, value: str, target: Kind) -> str:
    """A float that must be a whole number of the target's range, as an i64; 0 in the lanes that are noted as bad."""
    limit = float(1 << 63)
    inside = v.binary("and", Kind.BOOL, v.compare("oge", kind, x, v.constant(kind, -limit)),
                      v.compare("olt", kind, x, v.constant(kind, limit)))  # fmt: skip
    if x == value:
        inside = v.binary("and", Kind.BOOL, inside, v.compare("oeq", kind, v.intrinsic("floor", kind, x), x))
    v.checks.append(Check(place, _not(v, Kind.BOOL, inside), value, kind))
    whole = v.cast("fptosi", kind, Kind.I64, v.choose(kind, inside, x, v.constant(kind, 0.0)))
    if target is not Kind.I64:
        _check_range(v, place, target, whole, value, kind)
    return whole
