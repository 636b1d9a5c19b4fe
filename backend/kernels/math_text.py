"""The definitions of `mathematics` on LLVM vectors: `Value` writes an instruction for each operator.

Neighbours: `mathematics`, `scalar_text` (vectors), `writer`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from ...typechecker.elements import Kind
from .llvm_leaf import has_feature

if TYPE_CHECKING:
    from .mathematics import Definition
    from .scalar_text import Vectors


class Value:
    """A vector of floats, whole numbers of their width, or truths."""

    __slots__ = ("kind", "name", "v")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, v: Vectors, kind: Kind, name: str) -> None:
        self.v, self.kind, self.name = v, kind, name

    def _of(self, other: Value | float | int) -> str:
        return other.name if isinstance(other, Value) else self.v.constant(self.kind, other)

    def _made(self, floats: str, integers: str, left: str, right: str) -> Value:
        operation = floats if self.kind.is_float else integers
        return Value(self.v, self.kind, self.v.binary(operation, self.kind, left, right))

    def __add__(self, other: Value | float) -> Value:
        return self._made("fadd", "add", self.name, self._of(other))

    def __sub__(self, other: Value | float) -> Value:
        return self._made("fsub", "sub", self.name, self._of(other))

    def __rsub__(self, other: float) -> Value:
        return self._made("fsub", "sub", self._of(other), self.name)

    def __mul__(self, other: Value | float) -> Value:
        return self._made("fmul", "mul", self.name, self._of(other))

    def __truediv__(self, other: Value | float) -> Value:
        return self._made("fdiv", "sdiv", self.name, self._of(other))

    def __rtruediv__(self, other: float) -> Value:
        return self._made("fdiv", "sdiv", self._of(other), self.name)

    def __neg__(self) -> Value:
        return Value(self.v, self.kind, self.v.w.let(f"fneg {self.v.type(self.kind)} {self.name}"))

    def __and__(self, other: Value | int) -> Value:
        return self._made("and", "and", self.name, self._of(other))

    def __lshift__(self, other: int) -> Value:
        return self._made("shl", "shl", self.name, self._of(other))

    def __rshift__(self, other: int) -> Value:
        return self._made("lshr", "lshr", self.name, self._of(other))

    def _test(self, ordered: str, integers: str, other: Value | float | int) -> Value:
        relation = ordered if self.kind.is_float else integers
        return Value(self.v, Kind.BOOL, self.v.compare(relation, self.kind, self.name, self._of(other)))

    def __lt__(self, other: Value | float) -> Value:
        return self._test("olt", "slt", other)

    def __gt__(self, other: Value | float) -> Value:
        return self._test("ogt", "sgt", other)

    def __ge__(self, other: Value | float) -> Value:
        return self._test("oge", "sge", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, Value | float | int)
        return self._test("oeq", "eq", other)


class LlvmVectors:
    """`mathematics.Machine` on LLVM vectors."""

    def __init__(self, v: Vectors) -> None:
        self.v = v

    def _names(self, kind: Kind, *operands: Value | float) -> list[str]:
        return [side.name if isinstance(side, Value) else self.v.constant(kind, side) for side in operands]

    def fma(self, *operands: Value | float) -> Value:
        kind = next(operand.kind for operand in operands if isinstance(operand, Value))
        return Value(self.v, kind, self.v.intrinsic("fma", kind, *self._names(kind, *operands)))

    def signed(self, size: Value, x: Value) -> Value:
        return Value(self.v, x.kind, self.v.intrinsic("copysign", x.kind, size.name, x.name))

    def choose(self, condition: Value, x: Value | float, y: Value | float) -> Value:
        kind = x.kind if isinstance(x, Value) else y.kind if isinstance(y, Value) else Kind.F64
        return Value(self.v, kind, self.v.choose(kind, condition.name, *self._names(kind, x, y)))

    def magnitude(self, x: Value) -> Value:
        return Value(self.v, x.kind, self.v.intrinsic("fabs", x.kind, x.name))

    def root(self, x: Value) -> Value:
        return Value(self.v, x.kind, self.v.intrinsic("sqrt", x.kind, x.name))

    def bits(self, x: Value) -> Value:
        kind = Kind.I64 if x.kind is Kind.F64 else Kind.I32
        return Value(self.v, kind, self.v.cast("bitcast", x.kind, kind, x.name))

    def float_of(self, bits: Value) -> Value:
        kind = Kind.F64 if bits.kind is Kind.I64 else Kind.F32
        return Value(self.v, kind, self.v.cast("bitcast", bits.kind, kind, bits.name))

    def number(self, word: Value) -> Value:
        kind = Kind.F64 if word.kind is Kind.I64 else Kind.F32
        return Value(self.v, kind, self.v.cast("sitofp", word.kind, kind, word.name))

    def lookup(self, table: str, index: Value, start: int) -> Value:
        v, name = self.v, f"@rho_table_{table}"
        v.w.declarations[f"{name} = external constant double, align 64"] = None
        first = f"getelementptr (i8, ptr {name}, i64 {_signed(-start * 8)})"
        pointers = v.w.let(f"getelementptr double, ptr {first}, {v.type(Kind.I64)} {index.name}")
        return Value(v, Kind.F64, v.gather(Kind.F64, pointers))

    def pick(self, entries: tuple[float, ...], index: Value) -> Value:
        return Value(self.v, Kind.F32, picked(self.v, entries, index.name))

    def usually(self, where: Value, value: Value, other: Callable[[], Value]) -> Value:
        v, w = self.v, self.v.w
        mask, before = f"<{v.lanes} x i1>", w.block
        rare, ready = w.new_label(), w.new_label()
        w.branch(w.call("i1", f"llvm.vector.reduce.and.v{v.lanes}i1", (mask, where.name)), ready, rare)
        w.label(rare)
        chosen = self.choose(where, value, other())
        after = w.block
        w.jump(ready)
        w.label(ready)
        return Value(v, value.kind, w.let(f"phi {v.type(value.kind)} [ {value.name}, %{before} ], [ {chosen.name}, %{after} ]"))

    def patch(self, name: str, where: Value, x: Value, value: Value) -> Value:
        """Lane by lane, where any lane needs it."""
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
        made = w.call("double", f"rho_{name}", ("double", item))
        placed = w.let(f"insertelement {type} {loop.carried[0]}, double {made}, i64 {loop.index}")
        w.jump(following)
        w.label(following)
        joined = w.let(f"phi {type} [ {loop.carried[0]}, %{asked} ], [ {placed}, %{call} ]")
        w.end(loop, [joined])
        after = w.block
        w.jump(ready)
        w.label(ready)
        return Value(v, Kind.F64, w.let(f"phi {type} [ {value.name}, %{before} ], [ {loop.carried[0]}, %{after} ]"))


def _signed(word: int) -> int:
    """A word as a signed number."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)


def picked(v: Vectors, entries: tuple[float, ...], index: str) -> str:
    """Of sixteen entries of binary32 those that the low four bits of each i32 lane name."""
    w, lanes = v.w, v.lanes
    if not has_feature("avx2"):
        items = ", ".join(f"float {v.number(entry, Kind.F32)}" for entry in entries)
        name = f"@p{sha256(items.encode()).hexdigest()[:12]}"
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


def defined(v: Vectors, found: Definition, kind: Kind, args: Sequence[str]) -> str:
    """A definition on vectors of floats."""
    widens = kind is not found.kind
    operands = [Value(v, found.kind, v.cast("fpext", kind, found.kind, x) if widens else x) for x in args]
    result = str(found.compute(*operands, LlvmVectors(v)).name)
    return v.cast("fptrunc", found.kind, kind, result) if widens else result
