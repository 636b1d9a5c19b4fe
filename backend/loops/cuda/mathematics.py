"""The meanings of `backend.scalar` as CUDA C++: `Expression` writes a statement for each operator.

Each series becomes one `__device__` function of the kind that it computes in.  The compiler is told to contract nothing by
itself, so the bits are those of every other tier, except where a definition asks the C library (angles beyond 10⁶): there it is
CUDA's own.

Neighbours: `backend.scalar` (the meanings), `scalars` (calls the functions, and writes short meanings in place).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final

from ....typechecker.elements import Kind
from ...scalar.table import Definition
from ...scalar.tables import entries

TYPES: Final = {
    Kind.BOOL: "bool", Kind.U8: "u8", Kind.I32: "int", Kind.I64: "i64", Kind.F32: "float", Kind.F64: "double", Kind.CHAR: "u32",
}  # fmt: skip
"""The type of a computed value."""
WORDS: Final = {Kind.I32: "u32", Kind.I64: "u64"}
"""In which signed arithmetic is done, as overflow has no meaning in C++."""

_LEAST: Final = -(1 << 63)


def number(kind: Kind, value: float | int) -> str:
    """A constant; floats in hexadecimal, so that the compiler rounds nothing."""
    if kind is Kind.BOOL:
        return "true" if value else "false"
    if kind.is_float:
        return _float(kind, float(value))
    if kind is Kind.I64:
        return f"({_LEAST + 1}LL - 1)" if value == _LEAST else f"{int(value)}LL"
    if kind is Kind.I32:
        return f"(int){int(value)}LL" if value == -(1 << 31) else str(int(value))
    return f"({TYPES[kind]}){int(value)}u"


def _float(kind: Kind, value: float) -> str:
    if math.isnan(value):
        return "__longlong_as_double(0x7ff8000000000000LL)" if kind is Kind.F64 else "__int_as_float(0x7fc00000)"
    if math.isinf(value):
        wide = "0x7ff0000000000000LL" if kind is Kind.F64 else "0x7f800000"
        text = f"__longlong_as_double({wide})" if kind is Kind.F64 else f"__int_as_float({wide})"
        return text if value > 0 else f"(-{text})"
    return value.hex() if kind is Kind.F64 else f"{struct.unpack('<f', struct.pack('<f', value))[0].hex()}f"


class Expression:
    """A variable: a float, a whole number of its width, or a truth."""

    __slots__ = ("kind", "name", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: CudaFunction, kind: Kind, name: str) -> None:
        self.text, self.kind, self.name = text, kind, name

    def _of(self, other: Expression | float | int) -> str:
        return other.name if isinstance(other, Expression) else number(self.kind, other)

    def _made(self, operator: str, left: str, right: str) -> Expression:
        type = TYPES[self.kind]
        if self.kind in WORDS:
            unsigned = WORDS[self.kind]
            return self.text.let(self.kind, f"({type})(({unsigned}){left} {operator} ({unsigned}){right})")
        value = f"{left} {operator} {right}"
        return self.text.let(self.kind, value if self.kind.is_float else f"({type})({value})")

    def __add__(self, other: Expression | float) -> Expression:
        return self._made("+", self.name, self._of(other))

    def __sub__(self, other: Expression | float) -> Expression:
        return self._made("-", self.name, self._of(other))

    def __rsub__(self, other: float) -> Expression:
        return self._made("-", self._of(other), self.name)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._made("*", self.name, self._of(other))

    def __truediv__(self, other: Expression | float) -> Expression:
        return self._made("/", self.name, self._of(other))

    def __rtruediv__(self, other: float) -> Expression:
        return self._made("/", self._of(other), self.name)

    def __neg__(self) -> Expression:
        if self.kind.is_float:
            return self.text.let(self.kind, f"-{self.name}")
        return self._made("-", "0", self.name)

    def _bits(self, operator: str, other: Expression | int) -> Expression:
        return self.text.let(self.kind, f"{self.name} {operator} {self._of(other)}")

    def __and__(self, other: Expression | int) -> Expression:
        return self._bits("&", other)

    def __or__(self, other: Expression | int) -> Expression:
        return self._bits("|", other)

    def __xor__(self, other: Expression | int) -> Expression:
        return self._bits("^", other)

    def __invert__(self) -> Expression:
        return self.text.let(self.kind, f"!{self.name}" if self.kind is Kind.BOOL else f"({TYPES[self.kind]})(~{self.name})")

    def _shifted(self, operator: str, other: Expression | int) -> Expression:
        """On unsigned words, which have a meaning for every value."""
        type, count = TYPES[self.kind], f"(int){other.name}" if isinstance(other, Expression) else str(other)
        return self.text.let(self.kind, f"({type})(({WORDS.get(self.kind, type)}){self.name} {operator} {count})")

    def __lshift__(self, other: Expression | int) -> Expression:
        return self._shifted("<<", other)

    def __rshift__(self, other: Expression | int) -> Expression:
        return self._shifted(">>", other)

    def _test(self, operator: str, other: Expression | float | int) -> Expression:
        return self.text.let(Kind.BOOL, f"{self.name} {operator} {self._of(other)}")

    def __lt__(self, other: Expression | float) -> Expression:
        return self._test("<", other)

    def __le__(self, other: Expression | float) -> Expression:
        return self._test("<=", other)

    def __gt__(self, other: Expression | float) -> Expression:
        return self._test(">", other)

    def __ge__(self, other: Expression | float) -> Expression:
        return self._test(">=", other)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]
        assert isinstance(other, Expression | float | int)
        return self._test("==", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        assert isinstance(other, Expression | float | int)
        return self._test("!=", other)


class CudaFunction:
    """A function being written; `backend.scalar.machine.Machine` on variables."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.tables: dict[str, str] = {}

    def let(self, kind: Kind, text: str) -> Expression:
        name = f"t{len(self.lines)}"
        self.lines.append(f"  const {TYPES[kind]} {name} = {text};")
        return Expression(self, kind, name)

    def _names(self, kind: Kind, *operands: Expression | float) -> list[str]:
        return [side.name if isinstance(side, Expression) else number(kind, side) for side in operands]

    def fma(self, *operands: Expression | float) -> Expression:
        kind = next(operand.kind for operand in operands if isinstance(operand, Expression))
        return self.let(kind, f"{'fmaf' if kind is Kind.F32 else 'fma'}({', '.join(self._names(kind, *operands))})")

    def signed(self, size: Expression, x: Expression) -> Expression:
        return self.let(x.kind, f"{'copysignf' if x.kind is Kind.F32 else 'copysign'}({size.name}, {x.name})")

    def choose(self, condition: Expression, x: Expression | float, y: Expression | float) -> Expression:
        kind = x.kind if isinstance(x, Expression) else y.kind if isinstance(y, Expression) else Kind.F64
        first, second = self._names(kind, x, y)
        return self.let(kind, f"{condition.name} ? {first} : {second}")

    def like(self, x: Expression, value: float) -> Expression:
        return Expression(self, x.kind, number(x.kind, value))

    def is_float(self, x: Expression) -> bool:
        return x.kind.is_float

    def is_signed(self, x: Expression) -> bool:
        return x.kind.is_float or x.kind in WORDS

    def width(self, x: Expression) -> int:
        return 8 * x.kind.bytes

    def shifted_right(self, y: Expression, count: Expression) -> Expression:
        return self.let(y.kind, f"({TYPES[y.kind]})({y.name} >> (int){count.name})")

    def shifted_right_unsigned(self, y: Expression, count: Expression) -> Expression:
        return y >> count

    def smaller(self, x: Expression, y: Expression) -> Expression:
        return self.choose(x < y, x, y)

    def larger(self, x: Expression, y: Expression) -> Expression:
        return self.choose(x > y, x, y)

    def magnitude(self, x: Expression) -> Expression:
        if x.kind.is_float:
            return self.let(x.kind, f"{'fabsf' if x.kind is Kind.F32 else 'fabs'}({x.name})")
        return self.choose(x < 0, -x, x) if self.is_signed(x) else x

    def root(self, x: Expression) -> Expression:
        return self.let(x.kind, f"{'sqrtf' if x.kind is Kind.F32 else 'sqrt'}({x.name})")

    def bits(self, x: Expression) -> Expression:
        if x.kind is Kind.F32:
            return self.let(Kind.I32, f"__float_as_int({x.name})")
        return self.let(Kind.I64, f"__double_as_longlong({x.name})")

    def float_of(self, bits: Expression) -> Expression:
        if bits.kind is Kind.I32:
            return self.let(Kind.F32, f"__int_as_float({bits.name})")
        return self.let(Kind.F64, f"__longlong_as_double({bits.name})")

    def number(self, word: Expression) -> Expression:
        kind = Kind.F32 if word.kind is Kind.I32 else Kind.F64
        return self.let(kind, f"({TYPES[kind]}){word.name}")

    def _table(self, name: str, kind: Kind, numbers: Sequence[float]) -> None:
        if name not in self.tables:
            written = [number(kind, entry) for entry in numbers]
            body = ",\n  ".join(", ".join(written[i : i + 4]) for i in range(0, len(written), 4))
            self.tables[name] = f"__device__ static const {TYPES[kind]} {name}[{len(numbers)}] = {{\n  {body}\n}};"

    def lookup(self, table: str, index: Expression, start: int) -> Expression:
        self._table(f"rho_table_{table}", Kind.F64, entries(table))
        return self.let(Kind.F64, f"rho_table_{table}[{index.name} - {number(Kind.I64, start)}]")

    def pick(self, entries: tuple[float, ...], index: Expression) -> Expression:
        name = f"rho_p{sha256(repr(entries).encode()).hexdigest()[:12]}"
        self._table(name, Kind.F32, entries)
        return self.let(Kind.F32, f"{name}[{index.name} & 15]")

    def usually(self, where: Expression, value: Expression, other: Callable[[], Expression]) -> Expression:
        """The other branch's variables are its own."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"  {TYPES[value.kind]} {name} = {value.name};\n  if (!{where.name}) {{")
        self.lines.append(f"  {name} = {other().name};\n  }}")
        return Expression(self, value.kind, name)

    def patch(self, name: str, where: Expression, x: Expression, value: Expression) -> Expression:
        return self.let(Kind.F64, f"{where.name} ? {name}({x.name}) : {value.name}")


def defined(name: str, found: Definition, arity: int) -> tuple[str, ...]:
    """The tables and the text of a definition as the function `name`, of the kind that it computes in."""
    function, type = CudaFunction(), TYPES[found.kind]
    names = "xy"[:arity]
    result = found.compute(*(Expression(function, found.kind, x) for x in names), function)
    body = "\n".join((*function.lines, f"  return {result.name};"))
    operands = ", ".join(f"{type} {x}" for x in names)
    return (*function.tables.values(), f"__device__ static {type} {name}({operands}) {{\n{body}\n}}")
