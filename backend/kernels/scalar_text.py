"""Scalar functions on LLVM vectors: the machine that writes an instruction for each word of a meaning.

The meanings are those of `backend.scalar`, to the bit: no fast-math flag, no contraction, integers wrap, and no lane divides by
zero.

Neighbours: `vectors` (instructions), `residues`, `conversion_text`, `permutes` (words that are many instructions),
`loops.llvm` (loops around this), `loops.cuda.mathematics` (the same on cards).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...typechecker.elements import Kind
from ..scalar.table import definition
from .conversion_text import convert, convert_checked, whole_checked
from .ir import Apply
from .permutes import picked
from .residues import residue
from .vectors import UNSIGNED, Vectors
from .writer import Writer


def apply(v: Vectors, place: int, node: Apply, args: Sequence[str]) -> str:
    """The value of body node `place`; what may fail is noted in `v.checks`."""
    if node.function == "outside":  # one test without signs: what is negative is then more than any number of items
        return v.compare("uge", node.compute, *args)
    kinds = (Kind.BOOL, node.compute, node.compute) if node.function == "select" else (node.compute,) * len(args)
    meaning = definition(node.function, node.parameter, node.compute)
    assert meaning is not None, f"kernels do not have {node.function}"
    widens = node.compute is not meaning.kind
    names = [v.cast("fpext", node.compute, meaning.kind, x) for x in args] if widens else args
    operands = [Value(v, meaning.kind if widens else kind, name) for kind, name in zip(kinds, names, strict=True)]
    result = str(meaning.compute(*operands, LlvmVectors(v, node.kind, place)).name)
    return v.cast("fptrunc", meaning.kind, node.compute, result) if widens else result


def combine(v: Vectors, function: str, kind: Kind, x: str, y: str) -> str:
    """One step of a reduction."""
    return apply(v, 0, Apply(function, (0, 1), kind, kind), (x, y))


def fold_lanes(w: Writer, function: str, kind: Kind, value: str, count: int) -> str:
    """The lanes of a vector by halving; a vector of one."""
    while count > 1:
        count //= 2
        v, whole = Vectors(w, count), Vectors(w, 2 * count).type(kind)
        parts = []
        for first in (0, count):
            order = "<" + ", ".join(f"i32 {first + lane}" for lane in range(count)) + ">"
            parts.append(w.let(f"shufflevector {whole} {value}, {whole} poison, <{count} x i32> {order}"))
        value = combine(v, function, kind, parts[0], parts[1])
    return value


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
        if not self.kind.is_float:
            return self._bits("sub", "zeroinitializer", self.name)
        return Value(self.v, self.kind, self.v.w.let(f"fneg {self.v.type(self.kind)} {self.name}"))

    def _bits(self, operation: str, left: str, right: str) -> Value:
        return Value(self.v, self.kind, self.v.binary(operation, self.kind, left, right))

    def __and__(self, other: Value | int) -> Value:
        return self._bits("and", self.name, self._of(other))

    def __or__(self, other: Value | int) -> Value:
        return self._bits("or", self.name, self._of(other))

    def __xor__(self, other: Value | int) -> Value:
        return self._bits("xor", self.name, self._of(other))

    def __invert__(self) -> Value:
        return self ^ -1

    def __lshift__(self, other: Value | int) -> Value:
        return self._bits("shl", self.name, self._of(other))

    def __rshift__(self, other: Value | int) -> Value:
        return self._bits("lshr", self.name, self._of(other))

    def _test(self, relation: str, other: Value | float | int) -> Value:
        if self.kind.is_float:
            relation = "une" if relation == "ne" else f"o{relation}"
        elif relation not in ("eq", "ne"):
            relation = f"{'u' if self.kind in UNSIGNED else 's'}{relation}"
        return Value(self.v, Kind.BOOL, self.v.compare(relation, self.kind, self.name, self._of(other)))

    def __lt__(self, other: Value | float) -> Value:
        return self._test("lt", other)

    def __le__(self, other: Value | float) -> Value:
        return self._test("le", other)

    def __gt__(self, other: Value | float) -> Value:
        return self._test("gt", other)

    def __ge__(self, other: Value | float) -> Value:
        return self._test("ge", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, Value | float | int)
        return self._test("eq", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        assert isinstance(other, Value | float | int)
        return self._test("ne", other)


class LlvmVectors:
    """`backend.scalar.machine.Machine` on LLVM vectors, for body node `place`, whose result is of the kind `target`."""

    def __init__(self, v: Vectors, target: Kind, place: int = 0) -> None:
        self.v, self.target, self.place = v, target, place

    def _result(self, name: str) -> Value:
        return Value(self.v, self.target, name)

    def converted(self, x: Value) -> Value:
        return self._result(convert(self.v, x.kind, self.target, x.name))

    def checked(self, x: Value) -> Value:
        return self._result(convert_checked(self.v, self.place, x.kind, self.target, x.name))

    def rounded_down(self, x: Value) -> Value:
        return self._whole("floor", x)

    def rounded_up(self, x: Value) -> Value:
        return self._whole("ceil", x)

    def _whole(self, rounding: str, x: Value) -> Value:
        rounded = self.v.intrinsic(rounding, x.kind, x.name)
        return self._result(whole_checked(self.v, self.place, x.kind, rounded, x.name, Kind.I64))

    def residue(self, x: Value, y: Value) -> Value:
        return self._result(residue(self.v, x.kind, x.name, y.name))

    def like(self, x: Value, number: float) -> Value:
        return Value(self.v, x.kind, self.v.constant(x.kind, number))

    def is_float(self, x: Value) -> bool:
        return x.kind.is_float

    def is_signed(self, x: Value) -> bool:
        return x.kind not in UNSIGNED

    def width(self, x: Value) -> int:
        return 8 * x.kind.bytes

    def shifted_right(self, y: Value, count: Value) -> Value:
        operation = "lshr" if y.kind in UNSIGNED else "ashr"
        return Value(self.v, y.kind, self.v.binary(operation, y.kind, y.name, count.name))

    def shifted_right_unsigned(self, y: Value, count: Value) -> Value:
        return y >> count

    def smaller(self, x: Value, y: Value) -> Value:
        return self._extreme("min", x, y)

    def larger(self, x: Value, y: Value) -> Value:
        return self._extreme("max", x, y)

    def _extreme(self, which: str, x: Value, y: Value) -> Value:
        name = f"{'u' if x.kind in UNSIGNED else 's'}{which}"
        return Value(self.v, x.kind, self.v.intrinsic(name, x.kind, x.name, y.name))

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
        kind, v = x.kind, self.v
        if kind.is_float:
            return Value(v, kind, v.intrinsic("fabs", kind, x.name))
        if kind in UNSIGNED:
            return x
        return Value(v, kind, v.w.call(v.type(kind), f"llvm.abs.{v.suffix(kind)}", (v.type(kind), x.name), ("i1", "false")))

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
