"""Prints scalar functions in the C of GPUs, one expression each, as `llvm_scalars` does for LLVM.

The definitions are those of `backend.scalar`, with the same bits: nothing is contracted, nothing divides by zero.  Signed
arithmetic is done on unsigned words, because signed overflow is undefined in C.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..loopir.ir import Apply
from ..scalar.coefficient_tables import entries
from ..scalar.function_table import Definition, definition, matches_numpy
from .gpu_targets import Dialect

# ------------------------------------------------------------------------------------------- elementary functions
#
# The definitions of `backend.scalar`: `Expression` writes one statement per operator.
#
# Each series becomes one function of the kind that it computes in.  Compiler options forbid contraction, so the bits are those of
# every other tier, except where a definition calls the C library (angles beyond 10⁶), since that is the GPU's own.

TYPES: Final = {
    Kind.BOOL: "bool", Kind.U8: "u8", Kind.I32: "int", Kind.I64: "i64", Kind.F32: "float", Kind.F64: "double", Kind.CHAR: "u32",
}  # fmt: skip
"""The type of a computed value."""
WORDS: Final = {Kind.I32: "u32", Kind.I64: "u64"}
"""The unsigned types in which signed arithmetic is done, because signed overflow is undefined in C."""

_LEAST: Final = -(1 << 63)


def number(kind: Kind, value: float | int) -> str:
    """A literal; floats are written in hexadecimal, so that the compiler does not round."""
    if kind is Kind.BOOL:
        return "true" if value else "false"
    if kind.is_float:
        return _float(kind, float(value))
    if kind is Kind.I64:
        return f"((i64){_LEAST + 1} - 1)" if value == _LEAST else f"(i64){int(value)}"
    if kind is Kind.I32:
        return f"(int){int(value)}"
    return f"({TYPES[kind]}){int(value)}u"


def _float(kind: Kind, value: float) -> str:
    if math.isnan(value):
        return "__longlong_as_double(0x7ff8000000000000)" if kind is Kind.F64 else "__int_as_float(0x7fc00000)"
    if math.isinf(value):
        wide = "0x7ff0000000000000" if kind is Kind.F64 else "0x7f800000"
        text = f"__longlong_as_double({wide})" if kind is Kind.F64 else f"__int_as_float({wide})"
        return text if value > 0 else f"(-{text})"
    return value.hex() if kind is Kind.F64 else f"{struct.unpack('<f', struct.pack('<f', value))[0].hex()}f"


_Operator: TypeAlias = "Callable[[Expression, Expression | float], Expression]"


def _arithmetic(operator: str) -> _Operator:
    return lambda self, other: self._made(operator, self.name, self._of(other))


def _bitwise(operator: str) -> _Operator:
    return lambda self, other: self.text.let(self.kind, f"{self.name} {operator} {self._of(other)}")


def _shift(operator: str) -> _Operator:
    """A shift of unsigned words, which is defined for all their values."""

    def shifted(self: Expression, other: Expression | float) -> Expression:
        type, count = TYPES[self.kind], f"(int){other.name}" if isinstance(other, Expression) else str(other)
        return self.text.let(self.kind, f"({type})(({WORDS.get(self.kind, type)}){self.name} {operator} {count})")

    return shifted


def _comparison(operator: str) -> _Operator:
    return lambda self, other: self.text.let(Kind.BOOL, f"{self.name} {operator} {self._of(other)}")


class Expression:
    """A C variable with Python's operators: a float, a whole number of the same width, or a boolean."""

    __slots__ = ("kind", "name", "text")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: GpuFunction, kind: Kind, name: str) -> None:
        self.text, self.kind, self.name = text, kind, name

    def _of(self, other: Expression | float | int) -> str:
        return other.name if isinstance(other, Expression) else number(self.kind, other)

    __add__, __sub__, __mul__, __truediv__ = map(_arithmetic, "+-*/")
    __and__, __or__, __xor__ = map(_bitwise, "&|^")
    __lshift__, __rshift__ = map(_shift, ("<<", ">>"))
    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("<", "<=", ">", ">="))
    __eq__, __ne__ = map(_comparison, ("==", "!="))  # type: ignore[assignment]

    def _made(self, operator: str, left: str, right: str) -> Expression:
        type = TYPES[self.kind]
        if self.kind in WORDS:
            unsigned = WORDS[self.kind]
            return self.text.let(self.kind, f"({type})(({unsigned}){left} {operator} ({unsigned}){right})")
        value = f"{left} {operator} {right}"
        return self.text.let(self.kind, value if self.kind.is_float else f"({type})({value})")

    def __rsub__(self, other: float) -> Expression:
        return self._made("-", self._of(other), self.name)

    def __rtruediv__(self, other: float) -> Expression:
        return self._made("/", self._of(other), self.name)

    def __neg__(self) -> Expression:
        if self.kind.is_float:
            return self.text.let(self.kind, f"-{self.name}")
        return self._made("-", "0", self.name)

    def __invert__(self) -> Expression:
        return self.text.let(self.kind, f"!{self.name}" if self.kind is Kind.BOOL else f"({TYPES[self.kind]})(~{self.name})")


_AS_WIDE: Final = {Kind.F32: Kind.I32, Kind.F64: Kind.I64, Kind.I32: Kind.F32, Kind.I64: Kind.F64}
"""By kind, the integer or the float of its width."""
_AS_BITS: Final = {
    Kind.F32: "float_as_int", Kind.F64: "double_as_longlong", Kind.I32: "int_as_float", Kind.I64: "longlong_as_double",
}  # fmt: skip


class GpuFunction:
    """A C function being written; a `backend.scalar.function_table.Machine` on variables."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
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
        return self.let(_AS_WIDE[x.kind], f"__{_AS_BITS[x.kind]}({x.name})")

    def float_of(self, bits: Expression) -> Expression:
        return self.let(_AS_WIDE[bits.kind], f"__{_AS_BITS[bits.kind]}({bits.name})")

    def number(self, word: Expression) -> Expression:
        return self.let(_AS_WIDE[word.kind], f"({TYPES[_AS_WIDE[word.kind]]}){word.name}")

    def _table(self, name: str, kind: Kind, numbers: Sequence[float]) -> None:
        if name not in self.tables:
            written = [number(kind, entry) for entry in numbers]
            body = ",\n  ".join(", ".join(written[i : i + 4]) for i in range(0, len(written), 4))
            self.tables[name] = f"{self.dialect.constant} {TYPES[kind]} {name}[{len(numbers)}] = {{\n  {body}\n}};"

    def lookup(self, table: str, index: Expression, start: int) -> Expression:
        self._table(f"rho_table_{table}", Kind.F64, entries(table))
        return self.let(Kind.F64, f"rho_table_{table}[{index.name} - {number(Kind.I64, start)}]")

    def lookup16(self, entries: tuple[float, ...], index: Expression) -> Expression:
        name = f"rho_p{sha256(repr(entries).encode()).hexdigest()[:12]}"
        self._table(name, Kind.F32, entries)
        return self.let(Kind.F32, f"{name}[{index.name} & 15]")

    def select_rare(self, where: Expression, value: Expression, other: Callable[[], Expression]) -> Expression:
        """A branch; the variables defined in it are local to it."""
        name = f"t{len(self.lines)}"
        self.lines.append(f"  {TYPES[value.kind]} {name} = {value.name};\n  if (!{where.name}) {{")
        self.lines.append(f"  {name} = {other().name};\n  }}")
        return Expression(self, value.kind, name)

    def scalar_fallback(self, name: str, where: Expression, x: Expression, value: Expression) -> Expression:
        return self.let(Kind.F64, f"{where.name} ? {name}({x.name}) : {value.name}")


def defined(dialect: Dialect, name: str, meaning: Definition, arity: int) -> tuple[str, ...]:
    """The tables, and the text of a definition as the C function `name`, in the kind that it computes in."""
    function, type = GpuFunction(dialect), TYPES[meaning.kind]
    names = "xy"[:arity]
    result = meaning.compute(*(Expression(function, meaning.kind, x) for x in names), function)
    body = "\n".join((*function.lines, f"  return {result.name};"))
    operands = ", ".join(f"{type} {x}" for x in names)
    return (*function.tables.values(), f"{dialect.function} {type} {name}({operands}) {{\n{body}\n}}")


# ------------------------------------------------------------------------------------------- scalar functions

STORED: Final = TYPES | {Kind.BOOL: "u8"}
"""The type of an item in memory."""

_RESIDUE: Final = {
    False: """{function} {type} residue_of_{type}({type} x, {type} y) {{
  if (x == 0) return y;
  if (x == -1) return 0;
  const {type} left = y % x;
  return left != 0 && (left < 0) != (x < 0) ? ({type})(({unsigned})left + ({unsigned})x) : left;
}}""",
    True: """{function} {type} residue_of_{type}({type} x, {type} y) {{
  if (x == 0) return y;
  const {type} left = fmod{single}(y, x);
  return left == 0 ? copysign{single}(({type})0, x) : (x < 0) != (left < 0) ? left + x : left;
}}""",
}


@dataclass(slots=True)
class Functions:
    """The helper functions called by the expressions written so far, by name, in the order of first use."""

    dialect: Dialect
    texts: dict[str, str] = field(default_factory=dict)

    def residue(self, kind: Kind) -> str:
        """The name of the residue of a kind."""
        type, single = TYPES[kind], "f" if kind is Kind.F32 else ""
        text = _RESIDUE[kind.is_float].format(
            function=self.dialect.function, type=type, unsigned=WORDS.get(kind, ""), single=single,
        )  # fmt: skip
        self.texts.setdefault(f"residue_of_{type}", text)
        return f"residue_of_{type}"

    def define(self, function: str, parameter: int, meaning: Definition, kind: Kind, arity: int) -> str:
        """The name of the C function for a function that has a definition."""
        which = f"_{parameter}".replace("-", "m") if function == "circular" else ""
        name = f"rho_{function}{which}" + ("_single" if kind is Kind.F32 else "")
        if name not in self.texts:
            *tables, text = defined(self.dialect, name, meaning, arity)
            for table in tables:
                self.texts.setdefault(table.split("[")[0], table)
            self.texts[name] = text
        return name


def literal(kind: Kind, bits: int) -> str:
    """A literal given by its stored bits."""
    match kind:
        case Kind.F64:
            return number(Kind.F64, struct.unpack("<d", struct.pack("<Q", bits))[0])
        case Kind.F32:
            return number(Kind.F32, struct.unpack("<f", struct.pack("<I", bits))[0])
        case _:
            return number(kind, bits)


class InPlace(GpuFunction):
    """A `ScalarMachine` that writes one nested expression instead of statements."""

    def __init__(self, functions: Functions, target: Kind) -> None:
        super().__init__(functions.dialect)
        self.functions, self.target = functions, target

    def let(self, kind: Kind, text: str) -> Expression:
        return Expression(self, kind, f"({text})")

    def converted(self, x: Expression) -> Expression:
        return self.let(self.target, convert(x.kind, self.target, x.name))

    def residue(self, x: Expression, y: Expression) -> Expression:
        kind = x.kind
        if kind is Kind.U8:
            return self.let(kind, f"{x.name} == 0 ? {y.name} : (u8)({y.name} % {x.name})")
        return self.let(kind, f"{self.functions.residue(kind)}({x.name}, {y.name})")


def apply(functions: Functions, node: Apply, args: list[str]) -> str:
    """The expression of a function that cannot fail; `args`: variables or constants."""
    kind, function = node.compute, node.function
    meaning = definition(function, node.parameter, kind)
    assert meaning is not None, f"kernels do not have {function}"
    if not matches_numpy(function, node.parameter) or function == "circular":
        name = functions.define(function, node.parameter, meaning, kind, len(args))
        if kind is meaning.kind:
            return f"{name}({', '.join(args)})"
        return f"(float){name}({', '.join(f'(double){arg}' for arg in args)})"
    machine = InPlace(functions, node.kind)
    kinds = (Kind.BOOL, kind, kind) if function == "select" else (kind,) * len(args)
    value: str = meaning.compute(*(Expression(machine, operand_kind, text) for operand_kind, text in zip(kinds, args,
        strict=True)), machine).name
    return value[1:-1] if value.startswith("(") and value not in args else value


def convert(source: Kind, target: Kind, x: str) -> str:
    """The expression of a conversion to a kind that is known to hold the value (floats round)."""
    if source is target:
        return x
    return f"{x} != 0" if target is Kind.BOOL else f"({TYPES[target]}){x}"


# ------------------------------------------------------------------------------------------- checks

_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}
def is_joined(function: str, kind: Kind) -> bool:
    """Can threads concurrently combine values into one item by this function?"""
    return kind in WORDS if function in ("add", "min", "max") else kind is Kind.BOOL and function in ("or", "and")


def join(dialect: Dialect, function: str, kind: Kind, to: str, item: str, *, is_shared: bool) -> str:
    """The atomic statement that combines a value into an item."""
    if not is_joined(function, kind):
        raise AssertionError(f"threads do not join {kind.value} by {function}")
    return dialect.joins[function].format(
        unsigned=WORDS.get(kind, ""), type=TYPES[kind], prefix="atom" if kind is Kind.I64 else "atomic", to=to, item=item,
        space=dialect.shared if is_shared else dialect.memory,
    )  # fmt: skip


def checked(node: Apply, name: str, x: str, fail: str) -> list[str]:
    """Statements that set `name` to the value of a function that may fail, and execute `fail` where it does."""
    source, target = node.compute, node.kind
    type = TYPES[target]
    if node.function in ("floor", "ceil"):
        rounded_text = f"{node.function}{'f' if source is Kind.F32 else ''}({x})"
        return _whole(source, name, "", rounded_text, Kind.I64, fail)
    if source is target:
        return [f"const {type} {name} = {x};"]
    if target.is_float:
        lines = [f"const {type} {name} = {convert(source, target, x)};"]
        if source is Kind.F64:
            far, near = number(target, math.inf), number(source, math.inf)
            lines.append(f"if (fabsf({name}) == {far} && fabs({x}) < {near}) {fail}")
        return lines
    if source.is_float:
        return _whole(source, name, x, x, target, fail)
    lines = [f"const {type} {name} = {convert(source, target, x)};"]
    if target is not Kind.I64 and source is not Kind.BOOL:
        lines.append(f"if ({_outside(target, convert(source, Kind.I64, x))}) {fail}")
    return lines


def _whole(source: Kind, name: str, exact: str, x: str, target: Kind, fail: str) -> list[str]:
    """Statements that convert a float in the range of i64 (with `exact`, a whole number) to an integer; 0 and `fail` for
    others."""
    limit = float(1 << 63)
    value, inside, wide = f"{name}x", f"{name}i", f"{name}w"
    type = TYPES[source]
    test = f"{value} >= {number(source, -limit)} && {value} < {number(source, limit)}"
    if exact:
        test += f" && floor{'f' if source is Kind.F32 else ''}({value}) == {value}"
    lines = [
        f"const {type} {value} = {x};",
        f"const bool {inside} = {test};",
        f"const i64 {wide} = {inside} ? (i64){value} : 0;",
        f"const {TYPES[target]} {name} = {convert(Kind.I64, target, wide)};",
    ]
    bad = f"!{inside}" if target is Kind.I64 else f"!{inside} || {_outside(target, wide)}"
    return [*lines, f"if ({bad}) {fail}"]


def _outside(target: Kind, wide: str) -> str:
    low, high = _BOUNDS[target]
    return f"{wide} < {number(Kind.I64, low)} || {wide} > {number(Kind.I64, high)}"
