"""The definitions of `mathematics` on LLVM vectors: `Value` writes an instruction for each operator.

Neighbours: `mathematics`, `scalar_text` (vectors), `writer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...typechecker.elements import Kind
from .error_table import entries

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
        return self._made("ashr", "ashr", self.name, self._of(other))

    def _test(self, ordered: str, integers: str, other: Value | float | int) -> Value:
        relation = ordered if self.kind.is_float else integers
        return Value(self.v, Kind.BOOL, self.v.compare(relation, self.kind, self.name, self._of(other)))

    def __lt__(self, other: Value | float) -> Value:
        return self._test("olt", "slt", other)

    def __gt__(self, other: Value | float) -> Value:
        return self._test("ogt", "sgt", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, Value | float | int)
        return self._test("oeq", "eq", other)


class LlvmVectors:
    """`mathematics.Machine` on LLVM vectors."""

    def __init__(self, v: Vectors) -> None:
        self.v = v

    def choose(self, condition: Value, x: Value | float, y: Value | float) -> Value:
        kind = x.kind if isinstance(x, Value) else y.kind if isinstance(y, Value) else Kind.F64
        names = [side.name if isinstance(side, Value) else self.v.constant(kind, side) for side in (x, y)]
        return Value(self.v, kind, self.v.choose(kind, condition.name, *names))

    def magnitude(self, x: Value) -> Value:
        return Value(self.v, x.kind, self.v.intrinsic("fabs", x.kind, x.name))

    def bits(self, x: Value) -> Value:
        kind = Kind.I64 if x.kind is Kind.F64 else Kind.I32
        return Value(self.v, kind, self.v.cast("bitcast", x.kind, kind, x.name))

    def float_of(self, bits: Value) -> Value:
        kind = Kind.F64 if bits.kind is Kind.I64 else Kind.F32
        return Value(self.v, kind, self.v.cast("bitcast", bits.kind, kind, bits.name))

    def lookup(self, table: str, index: Value) -> Value:
        v, numbers = self.v, entries(table)
        name = f"@{table}"
        items = ", ".join(f"double {v.number(number)}" for number in numbers)
        v.w.declarations[f"{name} = private constant [{len(numbers)} x double] [{items}], align 64"] = None
        pointers = v.w.let(f"getelementptr double, ptr {name}, {v.type(Kind.I64)} {index.name}")
        return Value(v, Kind.F64, v.gather(Kind.F64, pointers))

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


def defined(v: Vectors, found: Definition, kind: Kind, x: str) -> str:
    """A definition on a vector of floats."""
    widens = kind is not found.kind
    if widens:
        x = v.cast("fpext", kind, found.kind, x)
    result = str(found.compute(Value(v, found.kind, x), LlvmVectors(v)).name)
    return v.cast("fptrunc", found.kind, kind, result) if widens else result
