"""Scalar functions as CUDA C++, one expression each: the twin of `scalar_text`.

The meanings are those of `typechecker.scalars`, to the bit: no contraction (`--fmad=false`), NaN passes through minimum and
maximum (of equal operands the second is taken), integers wrap, nothing divides by zero.  Signed arithmetic goes through
unsigned words, as overflow has no meaning in C++.

Neighbours: `cuda_math` (constants, functions by polynomials), `cuda_text` (loops around this), `ir`.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Final

from ...typechecker.elements import Kind
from .cuda_math import TYPES, defined, number
from .ir import FETCH, Apply, Literal
from .mathematics import Definition, definition

STORED: Final = TYPES | {Kind.BOOL: "u8"}
"""The type of a value in memory."""

PROVED: Final = "fetch_proved"
"""`ir.FETCH` of an index that is known to be inside."""

_UNSIGNED: Final = {Kind.I32: "u32", Kind.I64: "u64"}
_NARROW: Final = frozenset({Kind.U8, Kind.BOOL})
_OPERATORS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "band": "&", "bor": "|", "bxor": "^"}
_RELATIONS: Final = {"lt": "<", "le": "<=", "eq": "==", "ge": ">=", "gt": ">", "ne": "!="}
_NEGATED: Final = {"nand": "and", "nor": "or"}

_HELPERS: Final = {
    "extreme": """template <typename T> __device__ static T least(T x, T y) {
  const T chosen = x < y ? x : y;
  return x != x ? x : chosen;
}
template <typename T> __device__ static T greatest(T x, T y) {
  const T chosen = x > y ? x : y;
  return x != x ? x : chosen;
}""",
    "place": """template <typename T> __device__ static bool is_least(T x, i64 at, T y, i64 there) {
  if (x != x || y != y) return x != x ? y != y && at < there : true;
  return x == y ? at < there : x < y;
}
template <typename T> __device__ static bool is_greatest(T x, i64 at, T y, i64 there) {
  if (x != x || y != y) return x != x ? y != y && at < there : true;
  return x == y ? at < there : x > y;
}""",
    "sign": """template <typename T> __device__ static T sign_of(T x) {
  return x != x ? x : x > (T)0 ? (T)1 : x < (T)0 ? (T)-1 : (T)0;
}""",
    "half_power64": """__device__ static double half_power64(double x) {
  return x == -__longlong_as_double(0x7ff0000000000000LL) ? __longlong_as_double(0x7ff0000000000000LL) : sqrt(x) + 0.0;
}""",
    "half_power32": """__device__ static float half_power32(float x) {
  return x == -__int_as_float(0x7f800000) ? __int_as_float(0x7f800000) : sqrtf(x) + 0.0f;
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


def combine(functions: Functions, function: str, kind: Kind, x: str, y: str) -> str:
    """A function of two operands of one kind."""
    if function in _RELATIONS:
        return f"{x} {_RELATIONS[function]} {y}"
    if function in ("min", "max"):
        functions.need("extreme")
        return f"{'least' if function == 'min' else 'greatest'}<{TYPES[kind]}>({x}, {y})"
    if function == "residue":
        if kind is Kind.U8:
            return f"{x} == 0 ? {y} : (u8)({y} % {x})"
        if kind.is_float:
            helper = "residue32" if kind is Kind.F32 else "residue64"
            functions.need(helper)
            return f"{helper}({x}, {y})"
        functions.need("residue")
        return f"residue_of<{TYPES[kind]}, {_UNSIGNED[kind]}>({x}, {y})"
    if function in ("shl", "shr", "shru"):
        return _shift(function, kind, x, y)
    if function in _NEGATED:
        return f"!({combine(functions, _NEGATED[function], kind, x, y)})"
    operator = _OPERATORS[function]
    if kind in _UNSIGNED:
        word = _UNSIGNED[kind]
        return f"({TYPES[kind]})(({word}){x} {operator} ({word}){y})"
    return f"({TYPES[kind]})({x} {operator} {y})" if kind in _NARROW else f"{x} {operator} {y}"


def _shift(function: str, kind: Kind, x: str, y: str) -> str:
    """Modulo the width; to the left and without a sign on unsigned words, which have a meaning for every value."""
    count = f"(int)({x} & {8 * kind.bytes - 1})"
    if function == "shr" or (function == "shru" and kind in _NARROW):
        return f"({TYPES[kind]})({y} >> {count})"
    word = _UNSIGNED.get(kind, TYPES[kind])
    return f"({TYPES[kind]})(({word}){y} {'<<' if function == 'shl' else '>>'} {count})"


def apply(functions: Functions, node: Apply, args: list[str]) -> str:
    """A function that cannot fail, of its operands (variables or constants)."""
    kind, function = node.compute, node.function
    if function == "select":
        return f"{args[0]} ? {args[1]} : {args[2]}"
    if function == "convert":
        return convert(kind, node.kind, args[0])
    found = definition(function, node.parameter, kind)
    if found is not None:
        name = functions.define(function, node.parameter, found, kind, len(args))
        if kind is found.kind:
            return f"{name}({', '.join(args)})"
        return f"(float){name}({', '.join(f'(double){arg}' for arg in args)})"
    if len(args) == 2:
        return combine(functions, function, kind, args[0], args[1])
    return _monadic(functions, function, kind, args[0])


def _monadic(functions: Functions, function: str, kind: Kind, x: str) -> str:
    wide = _UNSIGNED.get(kind)
    match function:
        case "neg":
            return f"-{x}" if kind.is_float else f"({TYPES[kind]})(0 - {f'({wide})' if wide else ''}{x})"
        case "not":
            return f"!{x}"
        case "bnot":
            return f"({TYPES[kind]})(~{x})"
        case "abs" if kind.is_float:
            return f"{'fabsf' if kind is Kind.F32 else 'fabs'}({x})"
        case "abs":
            return f"{x} < 0 ? ({TYPES[kind]})(0 - ({wide}){x}) : {x}" if wide else x
        case "sign" if kind in _NARROW:
            return f"({TYPES[kind]})({x} != 0)"
        case "sign":
            functions.need("sign")
            return f"sign_of<{TYPES[kind]}>({x})"
        case "reciprocal":
            return f"{number(kind, 1.0)} / {x}"
        case "sqrt":
            return f"{'sqrtf' if kind is Kind.F32 else 'sqrt'}({x})"
        case "pi_times":
            return f"{x} * {rounded(kind, math.pi)}"
        case "square":
            return f"{x} * {x}"
        case "half_power":
            helper = "half_power32" if kind is Kind.F32 else "half_power64"
            functions.need(helper)
            return f"{helper}({x})"
    raise AssertionError(f"kernels do not have {function}")


def rounded(kind: Kind, value: float) -> str:
    """A constant rounded to the kind."""
    return number(kind, struct.unpack("<f", struct.pack("<f", value))[0] if kind is Kind.F32 else value)


def convert(source: Kind, target: Kind, x: str) -> str:
    """To a kind that is known to hold the value (floats round)."""
    if source is target:
        return x
    return f"{x} != 0" if target is Kind.BOOL else f"({TYPES[target]}){x}"


# ------------------------------------------------------------------------------------------- checks

_BOUNDS: Final = {Kind.BOOL: (0, 1), Kind.CHAR: (0, 0x10FFFF), Kind.U8: (0, 255), Kind.I32: (-(1 << 31), (1 << 31) - 1)}
FAIL: Final = "*failed = 1"


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
            lines.append(f"if (fabsf({name}) == {far} && fabs({x}) < {near}) {FAIL};")
        return lines
    if source.is_float:
        return _whole(source, name, x, x, target)
    lines = [f"const {type} {name} = {convert(source, target, x)};"]
    if target is not Kind.I64 and source is not Kind.BOOL:
        lines.append(f"if ({_outside(target, convert(source, Kind.I64, x))}) {FAIL};")
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
    return [*lines, f"if ({bad}) {FAIL};"]


def _outside(target: Kind, wide: str) -> str:
    low, high = _BOUNDS[target]
    return f"{wide} < {number(Kind.I64, low)} || {wide} > {number(Kind.I64, high)}"


def may_fail(node: Apply) -> bool:
    """May the function find that it has no value?"""
    return node.function in ("floor", "ceil", "convert_checked", FETCH)
