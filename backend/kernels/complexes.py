"""Complex numbers in kernels: two floats each, and every function of them spelled out in functions of floats.

So the IR has no complex arithmetic: a `Load` of a complex operand loads one part, a `Result` of complex kind stores two nodes.

The formulas are those of `run.cpu.complexes`, to the bit: four multiplications, Smith's division by the reciprocal of the scale,
the magnitude as the root of the sum of squares, scaled by a power of two where these would overflow or vanish.  A magnitude
that is only compared with a number needs no root: the sum of squares is compared with the last one whose root is on that side.
Formulas of many functions (`Formulas`) are written once; NumPy's arrays go through them too.

Neighbours: `build` (uses this), `ir`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeAlias, TypeVar

from ...typechecker.elements import Kind
from ..graph.phases import ApplyNode, ConstantNode, Structured
from .ir import Apply, Literal, Load, Node

Parts: TypeAlias = tuple[int, int]
"""The nodes of the real and the imaginary part."""
Add: TypeAlias = Callable[[Node, Kind], int]

PART: Final = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}
LARGE: Final = 2.0**500
SMALL: Final = 2.0**-500
"""Magnitudes between these have sound squares."""
SHRINK: Final = 2.0**-600


T = TypeVar("T")
_LAST_WHOLE: Final = 709.0
"""The last whole number whose exponential is finite."""


class Formulas(Generic[T]):
    """Functions of complex numbers in functions of binary64; `T` is a value: a node of a kernel, or an array."""

    def number(self, value: float, kind: Kind) -> T:
        raise NotImplementedError

    def do(self, function: str, *args: T, on: Kind, to: Kind | None = None, parameter: int = 0) -> T:
        raise NotImplementedError

    def exponential(self, a: T, b: T) -> tuple[T, T]:
        """e to the a + bi: e to the a times the cosine and the sine of b.

        Where e to the a overflows, the two may not: then a factor is multiplied with them first.  With no imaginary part there is
        none afterwards.  At ¯∞ it is 0 and at ∞ infinite whatever b is."""
        wide, test = Kind.F64, Kind.BOOL
        zero, one, infinite = (self.number(value, wide) for value in (0.0, 1.0, math.inf))
        last = self.number(_LAST_WHOLE, wide)
        large = self.do("gt", a, last, on=wide, to=test)
        near = self.do("select", large, self.do("sub", a, last, on=wide), a, on=wide)
        factor = self.do("select", large, self.number(math.exp(_LAST_WHOLE), wide), one, on=wide)
        size = self.do("exp", near, on=wide)
        cosine, sine = (self.do("circular", b, on=wide, parameter=parameter) for parameter in (2, 1))
        real, imaginary = (self.do("mul", self.do("mul", part, factor, on=wide), size, on=wide) for part in (cosine, sine))
        imaginary = self.do("select", self.do("eq", b, zero, on=wide, to=test), b, imaginary, on=wide)
        angled = self.do("lt", self.do("abs", b, on=wide), infinite, on=wide, to=test)
        ended = self.do("eq", self.do("abs", a, on=wide), infinite, on=wide, to=test)
        vanished = self.do("eq", size, zero, on=wide, to=test)
        there = self.do("or", angled, self.do("not", ended, on=test), on=test)
        real = self.do("select", there, real, size, on=wide)
        imaginary = self.do("select", self.do("or", there, self.do("not", vanished, on=test), on=test), imaginary, zero, on=wide)
        return real, imaginary


class Complexes(Formulas[int]):
    """The nodes of one body being made."""

    def __init__(self, phase: Structured, add: Add) -> None:
        self.phase, self._add = phase, add
        self.squares: dict[int, tuple[int, int, int]] = {}
        """Of a magnitude in f64: the two magnitudes of its parts, and the sum of squares."""

    def load(self, operand: int, kind: Kind) -> Parts:
        part = PART[kind]
        return self._add(Load(operand, 0), part), self._add(Load(operand, 1), part)

    def literal(self, kind: Kind, value: object) -> Parts:
        assert isinstance(value, complex | float | int)
        number, part = complex(value), PART[kind]
        return self.number(number.real, part), self.number(number.imag, part)

    def number(self, value: float, kind: Kind) -> int:
        if kind is Kind.F64:
            return self._add(Literal(kind, struct.unpack("<Q", struct.pack("<d", value))[0]), kind)
        return self._add(Literal(kind, struct.unpack("<I", struct.pack("<f", value))[0]), kind)

    def do(self, function: str, *args: int, on: Kind, to: Kind | None = None, parameter: int = 0) -> int:
        return self._add(Apply(function, args, on, to or on, parameter), to or on)

    def in_double(self, formula: Callable[[int, int], Parts], parts: Parts, part: Kind) -> Parts:
        """By a formula of binary64, rounded once."""
        if part is Kind.F64:
            return formula(*parts)
        a, b = (self.do("convert", place, on=part, to=Kind.F64) for place in parts)
        real, imaginary = (self.do("convert", place, on=Kind.F64, to=part) for place in formula(a, b))
        return real, imaginary

    def apply(self, node: ApplyNode, args: Sequence[int | Parts], compute: Kind) -> int | Parts | None:
        """A function with a complex operand or result; None: kernels do not have it."""
        if node.function == "convert":
            return self.convert(args[0], compute, node.kind)
        if node.function == "select":
            condition, x, y = args
            assert isinstance(condition, int) and isinstance(x, tuple) and isinstance(y, tuple)
            part = PART[compute]
            return self.do("select", condition, x[0], y[0], on=part), self.do("select", condition, x[1], y[1], on=part)
        parts = [arg for arg in args if isinstance(arg, tuple)]
        if len(parts) != len(args):
            return None
        part = PART[compute]
        match node.function, parts:
            case "add" | "sub", [(a, b), (c, d)]:
                return self.do(node.function, a, c, on=part), self.do(node.function, b, d, on=part)
            case "mul", [x, y]:
                return self.product(x, y, part)
            case "div", [x, y]:
                return self.quotient(x, y, part)
            case "reciprocal", [y]:
                return self.quotient((self.number(1.0, part), self.number(0.0, part)), y, part)
            case "neg" | "pi_times" as function, [(a, b)]:
                return self.do(function, a, on=part), self.do(function, b, on=part)
            case "conj", [(a, b)]:
                return a, self.do("neg", b, on=part)
            case "abs", [(a, b)]:
                return self.magnitude(a, b, part)
            case "eq" | "ne", [(a, b), (c, d)]:
                left, right = (self.do(node.function, x, y, on=part, to=Kind.BOOL) for x, y in ((a, c), (b, d)))
                return self.do("and" if node.function == "eq" else "or", left, right, on=Kind.BOOL)
            case "exp", [x]:
                return self.in_double(self.exponential, x, part)
            case "circular", [(a, b)] if node.parameter == -12:
                return self.in_double(self.exponential, (self.do("neg", b, on=part), a), part)
            case "circular", [(a, b)] if node.parameter in (9, 10, 11):
                return a if node.parameter == 9 else b if node.parameter == 11 else self.magnitude(a, b, part)
        return None

    def convert(self, arg: int | Parts, source: Kind, target: Kind) -> Parts | None:
        if not target.is_complex:
            return None
        part = PART[target]
        if isinstance(arg, tuple):
            if PART[source] is part:
                return arg
            real, imaginary = (self.do("convert", place, on=PART[source], to=part) for place in arg)
            return real, imaginary
        real = arg if source is part else self.do("convert", arg, on=source, to=part)
        return real, self.number(0.0, part)

    def product(self, x: Parts, y: Parts, part: Kind) -> Parts:
        (a, b), (c, d) = x, y
        ac, bd, ad, bc = (self.do("mul", left, right, on=part) for left, right in ((a, c), (b, d), (a, d), (b, c)))
        return self.do("sub", ac, bd, on=part), self.do("add", ad, bc, on=part)

    def quotient(self, x: Parts, y: Parts, part: Kind) -> Parts:
        """Smith's: with the larger part of the divisor as the one that divides; by 0 each part is divided."""
        (a, b), (c, d) = x, y
        one, zero = self.number(1.0, part), self.number(0.0, part)
        size_c, size_d = self.do("abs", c, on=part), self.do("abs", d, on=part)
        wide = self.do("ge", size_c, size_d, on=part, to=Kind.BOOL)
        large, small = self.do("select", wide, c, d, on=part), self.do("select", wide, d, c, on=part)
        ratio = self.do("div", small, large, on=part)
        scale = self.do("div", one, self.do("add", large, self.do("mul", small, ratio, on=part), on=part), on=part)
        one_or, or_one = self.do("select", wide, one, ratio, on=part), self.do("select", wide, ratio, one, on=part)
        top = self.do("add", self.do("mul", a, one_or, on=part), self.do("mul", b, or_one, on=part), on=part)
        side = self.do("sub", self.do("mul", b, one_or, on=part), self.do("mul", a, or_one, on=part), on=part)
        nothing = self.do("eq", self.do("max", size_c, size_d, on=part), zero, on=part, to=Kind.BOOL)
        found = []
        for whole, own in ((top, a), (side, b)):
            by_zero = self.do("div", own, zero, on=part)
            found.append(self.do("select", nothing, by_zero, self.do("mul", whole, scale, on=part), on=part))
        return found[0], found[1]

    def magnitude(self, a: int, b: int, part: Kind) -> int:
        wide, infinite = Kind.F64, self.number(math.inf, Kind.F64)
        if part is Kind.F32:
            a, b = (self.do("convert", place, on=part, to=wide) for place in (a, b))
        size_a, size_b = self.do("abs", a, on=wide), self.do("abs", b, on=wide)
        far = self.do("or", *(self.do("eq", size, infinite, on=wide, to=Kind.BOOL) for size in (size_a, size_b)), on=Kind.BOOL)
        squares = self.squares_of(size_a, size_b)
        if part is Kind.F32:
            root = self.do("sqrt", squares, on=wide)
            made = self.do("convert", self.do("select", far, infinite, root, on=wide), on=wide, to=part)
        else:
            most = self.do("max", size_a, size_b, on=wide)
            large = self.do("gt", most, self.number(LARGE, wide), on=wide, to=Kind.BOOL)
            small = self.do("lt", most, self.number(SMALL, wide), on=wide, to=Kind.BOOL)
            odd = self.do("or", large, small, on=Kind.BOOL)
            down, up, one = self.number(SHRINK, wide), self.number(1 / SHRINK, wide), self.number(1.0, wide)
            factor = self.do("select", large, down, self.do("select", small, up, one, on=wide), on=wide)
            back = self.do("select", large, up, self.do("select", small, down, one, on=wide), on=wide)
            scaled = self.squares_of(*(self.do("mul", size, factor, on=wide) for size in (size_a, size_b)))
            root = self.do("sqrt", self.do("select", odd, scaled, squares, on=wide), on=wide)
            made = self.do("select", far, infinite, self.do("mul", root, back, on=wide), on=wide)
        self.squares[made] = (far, squares, 32 if part is Kind.F32 else 64)
        return made

    def squares_of(self, a: int, b: int) -> int:
        return self.do("add", self.do("mul", a, a, on=Kind.F64), self.do("mul", b, b, on=Kind.F64), on=Kind.F64)

    def comparison(self, node: ApplyNode, args: Sequence[int | Parts]) -> int | None:
        """A magnitude in f64 beside a number that is always the same, by the sum of squares; None: something else."""
        left, right = args
        function = node.function
        if isinstance(right, int) and right in self.squares:
            left, right, function, limit = right, left, _TURNED.get(function, ""), _real(self.phase, node.args[0])
        else:
            limit = _real(self.phase, node.args[1])
        if not isinstance(left, int) or left not in self.squares or limit is None or function not in _TURNED:
            return None
        far, squares, bits = self.squares[left]
        if bits != 64 or not SMALL * 4 <= limit <= LARGE / 4:
            return None
        inside = function in ("lt", "ge")  # the bound itself is on the far side
        most = self.number(_most_square(limit, below=inside), Kind.F64)
        if function in ("lt", "le"):
            return self.do("le", squares, most, on=Kind.F64, to=Kind.BOOL)
        beyond = self.do("gt", squares, most, on=Kind.F64, to=Kind.BOOL)
        return self.do("or", beyond, far, on=Kind.BOOL)


_TURNED: Final = {"lt": "gt", "le": "ge", "ge": "le", "gt": "lt"}


def _real(phase: Structured, place: int) -> float | None:
    node = phase.body[place]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = phase.body[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, float | int):
        return float(node.value) if float(node.value) == node.value else None
    return None


def _most_square(limit: float, *, below: bool) -> float:
    """The greatest number whose square root is at most `limit`, or below it."""
    found = limit * limit
    fits: Callable[[float], bool] = (lambda s: math.sqrt(s) < limit) if below else (lambda s: math.sqrt(s) <= limit)
    while not fits(found):
        found = math.nextafter(found, 0.0)
    while fits(math.nextafter(found, math.inf)):
        found = math.nextafter(found, math.inf)
    return found
