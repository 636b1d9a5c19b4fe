"""Vectors of any number of lanes as LLVM text: types, constants, memory, the instructions (reductions end on vectors of one).

No fast-math flag and no contraction.  Neighbours: `scalar_text` (scalar functions on these), `writer`, `ir`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Final

from ...typechecker.elements import Kind
from .ir import Literal
from .writer import Writer

STORED: Final = {
    Kind.BOOL: "i8", Kind.U8: "i8", Kind.I32: "i32", Kind.I64: "i64", Kind.F32: "float", Kind.F64: "double", Kind.CHAR: "i32",
    Kind.C64: "i64", Kind.C128: "i128",
}  # fmt: skip
COMPUTED: Final = STORED | {Kind.BOOL: "i1"}
SHIFTS: Final = frozenset({"shl", "lshr", "ashr"})
"""Of a vector of one, LLVM 22 ends the process if a bit of the result is tested and the count is known to be below 32."""
UNSIGNED: Final = frozenset({Kind.BOOL, Kind.U8, Kind.CHAR})


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
