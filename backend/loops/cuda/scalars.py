"""Scalar functions as CUDA C++, one expression each: a machine as that of `kernels.scalar_text`.

The meanings are those of `backend.scalar`, to the bit: no contraction (`--fmad=false`), nothing divides by zero.  Signed
arithmetic goes through unsigned words, as overflow has no meaning in C++.

Neighbours: `mathematics` (constants, functions by polynomials), `printer` (loops around this).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Final

from ....typechecker.elements import Kind
from ...kernels.ir import Apply, Literal
from ...scalar.table import Definition, definition, is_plain
from .mathematics import TYPES, WORDS, CudaFunction, Expression, defined, number

STORED: Final = TYPES | {Kind.BOOL: "u8"}
"""The type of a value in memory."""

_HELPERS: Final = {
    "place": """template <typename T> __device__ static bool is_least(T x, i64 at, T y, i64 there) {
  if (x != x || y != y) return x != x ? y != y && at < there : true;
  return x == y ? at < there : x < y;
}
template <typename T> __device__ static bool is_greatest(T x, i64 at, T y, i64 there) {
  if (x != x || y != y) return x != x ? y != y && at < there : true;
  return x == y ? at < there : x > y;
}""",
    "residue": """template <typename T, typename U> __device__ static T residue_of(T x, T y) {
  if (x == 0) return y;
  if (x == -1) return 0;
  const T left = y % x;
  return left != 0 && (left < 0) != (x < 0) ? (T)((U)left + (U)x) : left;
}""",
    "residue64": """__device__ static double residue64(double x, double y) {
  if (x == 0) return y;
  const double left = fmod(y, x);
  return left == 0 ? copysign(0.0, x) : (x < 0) != (left < 0) ? left + x : left;
}""",
    "residue32": """__device__ static float residue32(float x, float y) {
  if (x == 0) return y;
  const float left = fmodf(y, x);
  return left == 0 ? copysignf(0.0f, x) : (x < 0) != (left < 0) ? left + x : left;
}""",
}


@dataclass(slots=True)
class Functions:
    """What the expressions written so far call, by name, in the order of first use."""

    texts: dict[str, str] = field(default_factory=dict)

    def need(self, helper: str) -> None:
        self.texts.setdefault(helper, _HELPERS[helper])

    def define(self, function: str, parameter: int, found: Definition, kind: Kind, arity: int) -> str:
        """The name of a function that `mathematics` defines."""
        which = f"_{parameter}".replace("-", "m") if function == "circular" else ""
        name = f"rho_{function}{which}" + ("_single" if kind is Kind.F32 else "")
        if name not in self.texts:
            *tables, text = defined(name, found, arity)
            for table in tables:
                self.texts.setdefault(table.split("[")[0], table)
            self.texts[name] = text
        return name


def literal(node: Literal) -> str:
    """A literal node."""
    match node.kind:
        case Kind.F64:
            return number(Kind.F64, struct.unpack("<d", struct.pack("<Q", node.bits))[0])
        case Kind.F32:
            return number(Kind.F32, struct.unpack("<f", struct.pack("<I", node.bits))[0])
        case _:
            return number(node.kind, node.bits)


class InPlace(CudaFunction):
    """The machine that writes one expression: what a statement would define is in brackets."""

    def __init__(self, functions: Functions, target: Kind) -> None:
        super().__init__()
        self.functions, self.target = functions, target

    def let(self, kind: Kind, text: str) -> Expression:
        return Expression(self, kind, f"({text})")

    def converted(self, x: Expression) -> Expression:
        return self.let(self.target, convert(x.kind, self.target, x.name))

    def residue(self, x: Expression, y: Expression) -> Expression:
        kind = x.kind
        if kind is Kind.U8:
            return self.let(kind, f"{x.name} == 0 ? {y.name} : (u8)({y.name} % {x.name})")
        types = "" if kind.is_float else f"<{TYPES[kind]}, {WORDS[kind]}>"
        helper = "residue32" if kind is Kind.F32 else "residue64" if kind is Kind.F64 else "residue"
        self.functions.need(helper)
        return self.let(kind, f"{helper if kind.is_float else 'residue_of'}{types}({x.name}, {y.name})")


def apply(functions: Functions, node: Apply, args: list[str]) -> str:
    """A function that cannot fail, of its operands (variables or constants)."""
    kind, function = node.compute, node.function
    meaning = definition(function, node.parameter, kind)
    assert meaning is not None, f"kernels do not have {function}"
    if not is_plain(function, node.parameter) or function == "circular":
        name = functions.define(function, node.parameter, meaning, kind, len(args))
        if kind is meaning.kind:
            return f"{name}({', '.join(args)})"
        return f"(float){name}({', '.join(f'(double){arg}' for arg in args)})"
    machine = InPlace(functions, node.kind)
    kinds = (Kind.BOOL, kind, kind) if function == "select" else (kind,) * len(args)
    value: str = meaning.compute(*(Expression(machine, own, text) for own, text in zip(kinds, args, strict=True)), machine).name
    return value[1:-1] if value.startswith("(") and value not in args else value


def convert(source: Kind, target: Kind, x: str) -> str:
    """To a kind that is known to hold the value (floats round)."""
    if source is target:
        return x
    return f"{x} != 0" if target is Kind.BOOL else f"({TYPES[target]}){x}"


# ------------------------------------------------------------------------------------------- checks

_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}
FAIL: Final = "{ *failed = 1; return; }"

_JOINS: Final = {
    "add": "atomicAdd(({unsigned} *)&{to}, ({unsigned}){item});", "min": "atomicMin(&{to}, {item});",
    "max": "atomicMax(&{to}, {item});", "or": "if ({item}) {to} = 1;", "and": "if (!{item}) {to} = 0;",
}  # fmt: skip


def is_joined(function: str, kind: Kind) -> bool:
    """May threads join values to one item at once?"""
    return kind in WORDS if function in ("add", "min", "max") else kind is Kind.BOOL and function in _JOINS


def join(function: str, kind: Kind, to: str, item: str) -> str:
    """The statement that does."""
    assert is_joined(function, kind), f"threads do not join {kind.value} by {function}"
    return _JOINS[function].format(unsigned=WORDS.get(kind, ""), to=to, item=item)


def checked(node: Apply, name: str, x: str) -> list[str]:
    """Statements that make `name` the value of a function that may fail, and note where it does."""
    source, target = node.compute, node.kind
    type = TYPES[target]
    if node.function in ("floor", "ceil"):
        rounded_text = f"{node.function}{'f' if source is Kind.F32 else ''}({x})"
        return _whole(source, name, "", rounded_text, Kind.I64)
    if source is target:
        return [f"const {type} {name} = {x};"]
    if target.is_float:
        lines = [f"const {type} {name} = {convert(source, target, x)};"]
        if source is Kind.F64:
            far, near = number(target, math.inf), number(source, math.inf)
            lines.append(f"if (fabsf({name}) == {far} && fabs({x}) < {near}) {FAIL}")
        return lines
    if source.is_float:
        return _whole(source, name, x, x, target)
    lines = [f"const {type} {name} = {convert(source, target, x)};"]
    if target is not Kind.I64 and source is not Kind.BOOL:
        lines.append(f"if ({_outside(target, convert(source, Kind.I64, x))}) {FAIL}")
    return lines


def _whole(source: Kind, name: str, exact: str, x: str, target: Kind) -> list[str]:
    """A float in the range of i64 (and, with `exact`, itself whole) as an integer; 0 where it is not."""
    limit = float(1 << 63)
    value, inside, wide = f"{name}x", f"{name}i", f"{name}w"
    type = TYPES[source]
    test = f"{value} >= {number(source, -limit)} && {value} < {number(source, limit)}"
    if exact:
        test += f" && floor{'f' if source is Kind.F32 else ''}({value}) == {value}"
    lines = [
        f"const {type} {value} = {x};",
        f"const bool {inside} = {test};",
        f"const i64 {wide} = {inside} ? (i64){value} : 0LL;",
        f"const {TYPES[target]} {name} = {convert(Kind.I64, target, wide)};",
    ]
    bad = f"!{inside}" if target is Kind.I64 else f"!{inside} || {_outside(target, wide)}"
    return [*lines, f"if ({bad}) {FAIL}"]


def _outside(target: Kind, wide: str) -> str:
    low, high = _BOUNDS[target]
    return f"{wide} < {number(Kind.I64, low)} || {wide} > {number(Kind.I64, high)}"
