"""Builds the scalar body of a kernel from a structured phase (`build_body`), narrows its integers (`narrow`), and combines it
with a loop order (`build_kernel`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Final, Generic, TypeAlias, TypeVar

from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...typechecker.core.arrays import Payload
from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS, SELECTIVE, ResultKind, is_ordered, may_fail
from ...typechecker.sizes.polynomials import Size, number
from ..graph.fusion_groups import ALONG
from ..graph.phases import (
    ARGUMENT_REDUCTIONS,
    ApplyNode,
    AxisNode,
    ConstantNode,
    Node as GraphNode,
    ReadNode,
    SizeNode,
    Structured,
)
from ..scalar.function_table import REDUCTIONS, TRANSCENDENTAL, has_meaning
from .kernel_ir import (
    FETCH,
    LANES,
    PROVED,
    Accumulator,
    Coordinate,
    Form,
    Kernel,
    KernelApply,
    KernelArgument,
    KernelLiteral,
    KernelLoad,
    KernelOperand,
    KernelResult,
    LoopOrder,
    Node,
    StoreMode,
    VectorStride,
    kind_of,
)

# ---------------------------------------------------------------------------------------------------- complexes
#
# Complex numbers in kernels: two floats each, with every complex function expanded into functions of floats.
#
# So the IR has no complex arithmetic: a `KernelLoad` loads one part, a `KernelResult` of complex kind stores two nodes.
#
# The formulas equal those of `cpu.numpy_scalars` to the bit: four multiplications, Smith's division by the reciprocal of the
# scale, and the magnitude as the root of the sum of squares, scaled by a power of two where these would overflow or underflow.
# The comparison of a magnitude with a constant needs no root: the sum of squares is compared with the greatest one whose root is
# on that side.  `ComplexFormulas` has the longer formulas once, for kernels and for NumPy.

Parts: TypeAlias = tuple[int, int]
"""The nodes of the real and the imaginary part."""
Add: TypeAlias = Callable[[Node, Kind], int]

PART: Final = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}
LARGE: Final = 2.0**500
SMALL: Final = 2.0**-500
"""The squares of magnitudes between these neither overflow nor underflow."""
SHRINK: Final = 2.0**-600


T = TypeVar("T")
_LAST_FINITE_EXPONENT: Final = 709.0
"""The greatest integer whose exponential is finite."""


class ComplexFormulas(Generic[T]):
    """Complex functions in terms of binary64 functions; `T` is the type of a value: a node of a kernel, or an array."""

    def number(self, value: float, kind: Kind) -> T:
        raise NotImplementedError

    def do(self, function: str, *args: T, on: Kind, to: Kind | None = None, parameter: int = 0) -> T:
        raise NotImplementedError

    def exponential(self, a: T, b: T) -> tuple[T, T]:
        """e to the a + bi: e to the a times the cosine and the sine of b.

        Where e to the a overflows the products may not, so a factor of it is multiplied first.  An imaginary part of 0 stays 0.
        At a = ¯∞ the result is 0, and at a = ∞ infinite, whatever b is."""
        wide, test = Kind.F64, Kind.BOOL
        zero, one, infinite = (self.number(value, wide) for value in (0.0, 1.0, math.inf))
        last = self.number(_LAST_FINITE_EXPONENT, wide)
        large = self.do("gt", a, last, on=wide, to=test)
        near = self.do("select", large, self.do("sub", a, last, on=wide), a, on=wide)
        factor = self.do("select", large, self.number(math.exp(_LAST_FINITE_EXPONENT), wide), one, on=wide)
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


class ComplexNodes(ComplexFormulas[int]):
    """Adds the nodes of complex functions to a body under construction."""

    def __init__(self, phase: Structured, add: Add) -> None:
        self.phase, self._add = phase, add
        self.squares: dict[int, tuple[int, int, int]] = {}
        """By node of a magnitude: the nodes of "a part is infinite" and of the sum of squares, and the bits of a part's kind."""

    def load(self, operand: int, kind: Kind) -> Parts:
        part = PART[kind]
        return self._add(KernelLoad(operand, 0), part), self._add(KernelLoad(operand, 1), part)

    def literal(self, kind: Kind, value: object) -> Parts:
        assert isinstance(value, complex | float | int)
        number, part = complex(value), PART[kind]
        return self.number(number.real, part), self.number(number.imag, part)

    def number(self, value: float, kind: Kind) -> int:
        if kind is Kind.F64:
            return self._add(KernelLiteral(kind, struct.unpack("<Q", struct.pack("<d", value))[0]), kind)
        return self._add(KernelLiteral(kind, struct.unpack("<I", struct.pack("<f", value))[0]), kind)

    def do(self, function: str, *args: int, on: Kind, to: Kind | None = None, parameter: int = 0) -> int:
        return self._add(KernelApply(function, args, on, to or on, parameter), to or on)

    def in_double(self, formula: Callable[[int, int], Parts], parts: Parts, part: Kind) -> Parts:
        """Apply a formula of binary64 to parts of any kind, and round its results once."""
        if part is Kind.F64:
            return formula(*parts)
        a, b = (self.do("convert", operand, on=part, to=Kind.F64) for operand in parts)
        real, imaginary = (self.do("convert", result, on=Kind.F64, to=part) for result in formula(a, b))
        return real, imaginary

    def apply(self, node: ApplyNode, args: Sequence[int | Parts], compute: Kind) -> int | Parts | None:
        """A function with a complex operand or result; None if kernels do not have it."""
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
            real, imaginary = (self.do("convert", operand, on=PART[source], to=part) for operand in arg)
            return real, imaginary
        real = arg if source is part else self.do("convert", arg, on=source, to=part)
        return real, self.number(0.0, part)

    def product(self, x: Parts, y: Parts, part: Kind) -> Parts:
        (a, b), (c, d) = x, y
        ac, bd, ad, bc = (self.do("mul", left, right, on=part) for left, right in ((a, c), (b, d), (a, d), (b, c)))
        return self.do("sub", ac, bd, on=part), self.do("add", ad, bc, on=part)

    def quotient(self, x: Parts, y: Parts, part: Kind) -> Parts:
        """Smith's algorithm, scaled by the larger part of the divisor; a divisor of 0 divides each part."""
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
        quotients = []
        for numerator, operand in ((top, a), (side, b)):
            by_zero = self.do("div", operand, zero, on=part)
            quotients.append(self.do("select", nothing, by_zero, self.do("mul", numerator, scale, on=part), on=part))
        return quotients[0], quotients[1]

    def magnitude(self, a: int, b: int, part: Kind) -> int:
        wide, infinite = Kind.F64, self.number(math.inf, Kind.F64)
        if part is Kind.F32:
            a, b = (self.do("convert", operand, on=part, to=wide) for operand in (a, b))
        size_a, size_b = self.do("abs", a, on=wide), self.do("abs", b, on=wide)
        far = self.do("or", *(self.do("eq", size, infinite, on=wide, to=Kind.BOOL) for size in (size_a, size_b)), on=Kind.BOOL)
        squares = self.squares_of(size_a, size_b)
        if part is Kind.F32:
            root = self.do("sqrt", squares, on=wide)
            magnitude = self.do("convert", self.do("select", far, infinite, root, on=wide), on=wide, to=part)
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
            magnitude = self.do("select", far, infinite, self.do("mul", root, back, on=wide), on=wide)
        self.squares[magnitude] = (far, squares, 32 if part is Kind.F32 else 64)
        return magnitude

    def squares_of(self, a: int, b: int) -> int:
        return self.do("add", self.do("mul", a, a, on=Kind.F64), self.do("mul", b, b, on=Kind.F64), on=Kind.F64)

    def comparison(self, node: ApplyNode, args: Sequence[int | Parts]) -> int | None:
        """The comparison of an f64 magnitude with a constant, by the sum of squares; None if the operands are others."""
        left, right = args
        function = node.function
        if isinstance(right, int) and right in self.squares:
            left, right, function, limit = right, left, _MIRRORED.get(function, ""), _real(self.phase, node.args[0])
        else:
            limit = _real(self.phase, node.args[1])
        if not isinstance(left, int) or left not in self.squares or limit is None or function not in _MIRRORED:
            return None
        far, squares, bits = self.squares[left]
        if bits != 64 or not SMALL * 4 <= limit <= LARGE / 4:
            return None
        inside = function in ("lt", "ge")  # the bound itself compares as greater
        most = self.number(_most_square(limit, below=inside), Kind.F64)
        if function in ("lt", "le"):
            return self.do("le", squares, most, on=Kind.F64, to=Kind.BOOL)
        beyond = self.do("gt", squares, most, on=Kind.F64, to=Kind.BOOL)
        return self.do("or", beyond, far, on=Kind.BOOL)


_MIRRORED: Final = {"lt": "gt", "le": "ge", "ge": "le", "gt": "lt"}


def _real(phase: Structured, index: int) -> float | None:
    node = phase.body[index]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = phase.body[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, float | int):
        return float(node.value) if float(node.value) == node.value else None
    return None


def _most_square(limit: float, *, below: bool) -> float:
    """The greatest number whose square root is at most `limit`, or below it."""
    limit_squared = limit * limit
    fits: Callable[[float], bool] = (lambda s: math.sqrt(s) < limit) if below else (lambda s: math.sqrt(s) <= limit)
    while not fits(limit_squared):
        limit_squared = math.nextafter(limit_squared, 0.0)
    while fits(math.nextafter(limit_squared, math.inf)):
        limit_squared = math.nextafter(limit_squared, math.inf)
    return limit_squared


# ---------------------------------------------------------------------------------------------------- constants
#
# Constants of bodies as numbers, seen through conversions (`x*2` on f32 converts its 2).

FIXED_POWERS: Final[dict[float | None, tuple[str, ...]]] = {
    2.0: ("square",), 3.0: ("square", "mul"), 4.0: ("square", "square"), 0.5: ("half_power",), -1.0: ("reciprocal",),
}  # fmt: skip
"""Faster functions for a float to a constant power, within 3 ulp: each is applied to the result of the one before (`mul` also to
the float)."""

LOGARITHMS: Final[dict[float | None, str]] = {2.0: "log2", 10.0: "log10"}
"""Functions for logarithms to a constant base; they are also the definition of the logarithm to any base at these bases."""


def real_constant(nodes: Sequence[GraphNode], index: int) -> float | None:
    """The value of a constant body node, also through conversions, if every kind stores it exactly; else None."""
    node = nodes[index]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = nodes[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, int | float) and abs(node.value) < 100:
        return float(node.value)
    return None


# -------------------------------------------------------------------------------------------- kernel bodies

KINDS: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.CHAR})
_ALONG: Final = frozenset(ALONG.values())
_SELECTIVE_ALONG: Final = frozenset(ALONG[name] for name in SELECTIVE)
_MOST_FACTORS: Final = 64
_EXACT_INTEGERS: Final = 1 << 53
"""Integers below this are exact in binary64, from which binary32 rounds them once."""


def spans_of(phase: Structured, nodes: Sequence[Node]) -> dict[int, Span]:
    """The source spans of the functions that may fail, by kernel node; empty if they cannot be matched with the phase's nodes."""
    checked = [index for index, node in enumerate(nodes) if isinstance(node, KernelApply) and may_fail(node.function, node.kind)]
    spans = [node.span for node in phase.body if isinstance(node, ApplyNode) and node.span is not None]
    return dict(zip(checked, spans, strict=True)) if len(checked) == len(spans) else {}


@dataclass(frozen=True, slots=True)
class Body:
    """A phase's body in kernel nodes.

    `sizes`: its scalar arguments in order.  `coordinates`: the axes whose coordinate it uses.  `transcendental`: how many such
    functions it applies.  `split`: the indices of results that are the real part of a complex sum, whose imaginary part
    follows."""

    nodes: tuple[Node, ...]
    kinds: tuple[Kind, ...]
    sizes: tuple[Size, ...]
    results: tuple[KernelResult, ...]
    coordinates: frozenset[int]
    transcendental: int
    split: frozenset[int] = frozenset()

    @property
    def operations(self) -> int:
        return sum(isinstance(node, KernelApply) for node in self.nodes)

    @property
    def has_argument_reduction(self) -> bool:
        return any(r.reduction in ARGUMENT_REDUCTIONS for r in self.results)

    @property
    def is_ordered(self) -> bool:
        """Does it reduce in the order of sums?"""
        return any(is_ordered(r.reduction or "", r.kind) for r in self.results)

    @property
    def is_right_fold(self) -> bool:
        """Has it a right fold, which takes the items in sequence?"""
        return any(r.states for r in self.results)

    @property
    def accumulator_dependent(self) -> frozenset[int]:
        """The nodes that depend on the accumulator of a right fold."""
        return accumulator_dependent_nodes(self.nodes)


def build_body(phase: Structured, *, complexes: bool = False, loops: bool = False) -> Body | None:
    """The body of a phase in kernel nodes; None if kernels lack a function or kind of it.

    `complexes`: expand complex numbers into two parts.  `loops`: allow functions that are loops (integers to any power)."""
    nodes: list[Node] = []
    kinds: list[Kind] = []
    sizes: list[Size] = []
    places: list[int | Parts] = []

    def add(node: Node, kind: Kind) -> int:
        nodes.append(node)
        kinds.append(kind)
        return len(nodes) - 1

    phase, states, following = _with_fold_steps(phase)
    if following and len(following) < len(phase.results):
        return None
    pairs = ComplexNodes(phase, add)

    for at, node in enumerate(phase.body):
        match node:
            case ReadNode(kind=kind) if at in states:
                if not (kind in KINDS or (kind.is_complex and complexes)):
                    return None
                parts = [add(Accumulator(part), part) for part in ((PART[kind],) * 2 if kind.is_complex else (kind,))]
                places.append((parts[0], parts[1]) if kind.is_complex else parts[0])
            case ReadNode():
                if node.kind.is_complex and complexes:
                    places.append(pairs.load(node.index, node.kind))
                    continue
                if node.kind not in KINDS:
                    return None
                places.append(add(KernelLoad(node.index), node.kind))
            case ConstantNode():
                if node.kind.is_complex and complexes:
                    places.append(pairs.literal(node.kind, node.value))
                    continue
                if node.kind not in KINDS:
                    return None
                places.append(add(KernelLiteral(node.kind, bits_of(node.kind, node.value)), node.kind))
            case SizeNode():
                if node.size not in sizes:
                    sizes.append(node.size)
                places.append(add(KernelArgument(sizes.index(node.size)), Kind.I64))
            case AxisNode():
                places.append(add(Coordinate(node.axis), Kind.I64))
            case ApplyNode():
                compute = _kind_of(phase, node.args[1 if node.function == "select" else 0])
                operands = [places[a] for a in node.args]
                if complexes and (compute.is_complex or node.kind.is_complex):
                    pair = pairs.apply(node, operands, compute)
                    if pair is None:
                        return None
                    places.append(pair)
                    continue
                compared = pairs.comparison(node, operands) if complexes and pairs.squares and len(operands) == 2 else None
                if compared is not None:
                    places.append(compared)
                    continue
                args = tuple(arg for arg in operands if isinstance(arg, int))
                if len(args) < len(operands) or compute not in KINDS or node.kind not in KINDS:
                    return None
                constant = _folded_conversion(nodes[args[0]], node) if node.function == "convert" else None
                lowered: int | None
                if node.function in _SELECTIVE_ALONG and compute.is_float:
                    args = (_without_signed_zero(args[0], compute, add),)
                if constant is not None:
                    lowered = add(constant, node.kind)
                elif node.function == "ipow":
                    lowered = _integer_power(phase, node, args, compute, add)
                    if lowered is None and loops:
                        lowered = add(KernelApply("ipow", args, compute, node.kind), node.kind)
                elif node.function == "pow" and (fixed := _fixed_power(phase, node, args[0], compute, add)) is not None:
                    lowered = fixed
                elif node.function == "log" and (
                    logarithm := LOGARITHMS.get(real_constant(phase.body, node.args[0]))
                ) is not None:
                    lowered = add(KernelApply(logarithm, args[1:], compute, node.kind), node.kind)
                elif (function := _function(phase, node, compute)) is not None:
                    lowered = add(KernelApply(function, args, compute, node.kind, node.parameter), node.kind)
                else:
                    lowered = None
                if lowered is None:
                    return None
                places.append(lowered)
    results: list[KernelResult] = []
    split: set[int] = set()
    for position, result in enumerate(phase.results):
        root = places[result.node]
        if position in following:
            nodes_of = (root, *(places[at] for at in following[position]))
            item, before, after = ((node,) if isinstance(node, int) else node for node in nodes_of)
            imaginary = item[1] if len(item) > 1 else -1
            results.append(KernelResult(item[0], _kind_of(phase, result.node), result.reduction, imaginary, before, after))
            continue
        if isinstance(root, tuple):
            if result.reduction is None:
                results.append(KernelResult(root[0], _kind_of(phase, result.node), None, root[1]))
            elif result.reduction == "add":
                split.add(len(results))
                results += [KernelResult(part, kinds[part], "add") for part in root]
            else:
                return None
            continue
        kind = kinds[root]
        if result.reduction in ARGUMENT_REDUCTIONS:
            if kind is Kind.CHAR:
                return None
            kind = Kind.I64
        elif result.reduction is not None and kind is Kind.CHAR:
            return None
        if result.reduction in SELECTIVE and kind.is_float:
            root = _without_signed_zero(root, kind, add)
        results.append(KernelResult(root, kind, result.reduction))
    axes = frozenset(node.axis for node in nodes if isinstance(node, Coordinate))
    hard = sum(isinstance(node, KernelApply) and node.function in TRANSCENDENTAL for node in nodes)
    return Body(tuple(nodes), tuple(kinds), tuple(sizes), tuple(results), axes, hard, split=frozenset(split))


def _without_signed_zero(operand: int, kind: Kind, add: Callable[[Node, Kind], int]) -> int:
    """x+0, which turns -0.0 into 0.0, so that the greatest item has the same bits in any order of comparison."""
    zero = add(KernelLiteral(kind, bits_of(kind, 0.0)), kind)
    return add(KernelApply("add", (operand, zero), kind, kind), kind)


def _with_fold_steps(phase: Structured) -> tuple[Structured, frozenset[int], dict[int, tuple[int, int]]]:
    """Expands the right folds of a phase: their function is applied in the body, to an item and the state.

    Returns the phase, the nodes that are states, and by index of the result its state node and its next-state node."""
    body, states, following = list(phase.body), list[int](), dict[int, tuple[int, int]]()
    for position, result in enumerate(phase.results):
        function = result.reduction
        if function is None or function in REDUCTIONS or function in ARGUMENT_REDUCTIONS:
            continue
        kind, state = _kind_of(phase, result.node), len(body)
        is_truth = FUNCTIONS[function].result is ResultKind.BOOL
        body += [ReadNode(len(phase.reads), kind), ApplyNode(function, (result.node, state), Kind.BOOL if is_truth else kind)]
        if is_truth and kind is not Kind.BOOL:
            body.append(ApplyNode("convert", (state + 1,), kind))
        states.append(state)
        following[position] = state, len(body) - 1
    return replace(phase, body=tuple(body)) if states else phase, frozenset(states), following


def accumulator_dependent_nodes(nodes: Sequence[Node]) -> frozenset[int]:
    """The nodes that are accumulators of right folds, or depend on one."""
    late: set[int] = set()
    for index, node in enumerate(nodes):
        if isinstance(node, Accumulator) or (isinstance(node, KernelApply) and not late.isdisjoint(node.args)):
            late.add(index)
    return frozenset(late)


def complex_from_parts(kind: Kind) -> Body:
    """The body that combines two real operands into complex numbers."""
    part = PART[kind]
    return Body((KernelLoad(0), KernelLoad(1)), (part, part), (), (KernelResult(0, kind, None, 1),), frozenset(), 0)


def _kind_of(phase: Structured, index: int) -> Kind:
    return getattr(phase.body[index], "kind", Kind.I64)


def _function(phase: Structured, node: ApplyNode, compute: Kind) -> str | None:
    """The kernel's name of a function; None if kernels do not have it for the kind."""
    if node.function == "convert" and compute.is_float and not node.kind.is_float:
        return None
    if node.function == "convert_checked" and Kind.CHAR in (compute, node.kind) and compute.is_float:
        return None
    return node.function if node.function in _ALONG or has_meaning(node.function, node.parameter, compute) else None


def _fixed_power(phase: Structured, node: ApplyNode, x: int, compute: Kind, add: Callable[[Node, Kind], int]) -> int | None:
    """A float to a constant power of `FIXED_POWERS`; None for other powers."""
    exponent = real_constant(phase.body, node.args[1])
    if exponent not in FIXED_POWERS or not compute.is_float:
        return None
    power = x
    for function in FIXED_POWERS[exponent]:
        power = add(KernelApply(function, (power, x) if function == "mul" else (power,), compute, compute), compute)
    return power


def _integer_power(
    phase: Structured, node: ApplyNode, args: Sequence[int], compute: Kind, add: Callable[[Node, Kind], int]
) -> int | None:
    """An integer to a constant power by repeated squaring, which is exact modulo the width; None for other powers."""
    exponent = phase.body[node.args[1]]
    if not isinstance(exponent, ConstantNode) or not isinstance(exponent.value, int) or not 0 < exponent.value <= _MOST_FACTORS:
        return None
    left, square, product = int(exponent.value), args[0], None
    while True:
        if left & 1:
            product = square if product is None else add(KernelApply("mul", (product, square), compute, compute), compute)
        left >>= 1
        if not left:
            return product
        square = add(KernelApply("mul", (square, square), compute, compute), compute)


def _folded_conversion(source: Node, node: ApplyNode) -> KernelLiteral | None:
    """The float constant for a conversion of a constant; None if it is not exact.

    A conversion in the loop would shorten vectors to the number of items of the wider kind."""
    if not isinstance(source, KernelLiteral) or not node.kind.is_float or source.kind is Kind.CHAR:
        return None
    value: float = source.bits
    if source.kind.is_float:
        integer, number = "Qd" if source.kind is Kind.F64 else "If"
        (value,) = struct.unpack("<" + number, struct.pack("<" + integer, source.bits))
    return KernelLiteral(node.kind, bits_of(node.kind, float(value))) if abs(value) < _EXACT_INTEGERS else None


def bits_of(kind: Kind, value: Payload) -> int:
    if kind is Kind.CHAR:
        assert isinstance(value, str)
        return ord(value)
    if kind.is_float:
        assert isinstance(value, float | int)
        return int(struct.unpack("<Q", struct.pack("<d", value))[0] if kind is Kind.F64
                   else struct.unpack("<I", struct.pack("<f", value))[0])  # fmt: skip
    assert isinstance(value, int)
    return int(value)


def build_kernel(body: Body, nest: LoopOrder, operands: Sequence[Kind], stores: StoreMode = StoreMode.PLAIN) -> Kernel:
    """The kernel of a body in a loop order; `operands`: the kinds of its operands."""
    axes = len(nest.groups)
    vector = axes - 2 if nest.form in (Form.REDUCE_OUTER, Form.REDUCE_IN_REGISTERS) else axes - 1
    rows = tuple(
        KernelOperand(kind, _step(strides[vector], kind.bytes), tuple(s != 0 for s in strides))
        for kind, strides in zip(operands, nest.strides, strict=True)
    )
    loop_of = {axis: loop for loop, group in enumerate(nest.groups) for axis in group}
    nodes = tuple(_in_loop_axes(node, loop_of) for node in body.nodes)
    return Kernel(nest.form, axes, rows, len(body.sizes), nodes, body.results, stores)


def _in_loop_axes(node: Node, loop_of: dict[int, int]) -> Node:
    """A coordinate of an axis as one of its loop; an axis of length 1 has no loop, and its coordinate is 0."""
    if isinstance(node, Coordinate):
        return Coordinate(loop_of[node.axis]) if node.axis in loop_of else KernelLiteral(Kind.I64, 0)
    return node


def _step(stride: int, bytes: int) -> VectorStride:
    if stride == 0:
        return VectorStride.NONE
    return VectorStride.UNIT if stride == bytes else VectorStride.REVERSED if stride == -bytes else VectorStride.STRIDED


def used_nodes(nodes: Sequence[Node], roots: Sequence[int]) -> frozenset[int]:
    """The nodes that `roots` depend on, these included."""
    used = set(roots)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if isinstance(node, KernelApply) and index in used:
            used.update(node.args)
    return frozenset(used)


# ---------------------------------------------------------------------------------------------------- narrowing
#
# Integer narrowing by value ranges: u8 lanes are eight times as many to a vector as i64 lanes.
#
# Sums of booleans, digits and bytes are i64 in the language; where every intermediate value provably fits u8 or i32, it is
# computed in that kind, exactly, and widened only where a wide operation uses it.

Range = tuple[int, int]

LIMITS: Final = ((Kind.U8, 0, 255), (Kind.I32, -(1 << 31), (1 << 31) - 1))
SOURCES: Final = {Kind.BOOL: (0, 1), Kind.U8: (0, 255)}
ARITHMETIC: Final = frozenset({"add", "sub", "mul", "min", "max", "neg", "abs"})
COMPARISONS: Final = frozenset({"lt", "le", "eq", "ge", "gt", "ne"})


def narrow(body: Body) -> Body:
    """The body with small integers in a narrow kind; the same body where that saves nothing."""
    ranges = _ranges(body)
    used = {arg for node in body.nodes if isinstance(node, KernelApply) and _is_small(node, body, ranges) for arg in node.args}
    kind = narrowest([interval for index, interval in ranges.items() if index in used])
    if kind is None or not any(
        isinstance(n, KernelApply) and n.function in ARITHMETIC and p in ranges for p, n in enumerate(body.nodes)
    ):
        return body
    low, high = next((a, b) for k, a, b in LIMITS if k is kind)
    fits = {index for index, (a, b) in ranges.items() if low <= a and b <= high}
    return _in_narrow_kind(body, kind, _with_narrow_operands(body, fits))


def _ranges(body: Body) -> dict[int, Range]:
    """The value ranges of i64 nodes, as far as they are known."""
    intervals: dict[int, Range] = {}
    for index, node in enumerate(body.nodes):
        match node:
            case KernelLiteral(Kind.I64, bits):
                intervals[index] = (bits, bits)
            case KernelApply(function="convert", compute=source, kind=Kind.I64, args=(arg,)):
                if source in SOURCES:
                    intervals[index] = SOURCES[source]
                elif arg in intervals:
                    intervals[index] = intervals[arg]
            case KernelApply(function="select", compute=Kind.I64, args=(_, x, y)) if x in intervals and y in intervals:
                intervals[index] = (min(intervals[x][0], intervals[y][0]), max(intervals[x][1], intervals[y][1]))
            case KernelApply(function=function, compute=Kind.I64, args=args) if function in ARITHMETIC and all(
                a in intervals for a in args
            ):
                interval = combined(function, [intervals[arg] for arg in args])
                if interval[0] > -(1 << 40) and interval[1] < 1 << 40:
                    intervals[index] = interval
    return intervals


def combined(function: str, args: list[Range]) -> Range:
    """The range of a function of `ARITHMETIC` on operands of these ranges (inclusive)."""
    (a, b), (c, d) = args[0], args[-1]
    match function:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "mul":
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
        case "neg":
            return -b, -a
    return 0, max(abs(a), abs(b))


def _is_small(node: KernelApply, body: Body, ranges: dict[int, Range]) -> bool:
    if node.compute is not Kind.I64 or node.function not in ARITHMETIC | COMPARISONS | {"select"}:
        return False
    return all(arg in ranges for arg in node.args if body.kinds[arg] is Kind.I64)


def narrowest(ranges: list[Range]) -> Kind | None:
    """The narrowest kind that holds all ranges; None if there is none."""
    for kind, low, high in LIMITS:
        if ranges and all(low <= a and b <= high for a, b in ranges):
            return kind
    return None


def _with_narrow_operands(body: Body, fits: set[int]) -> set[int]:
    """The nodes of `fits` whose i64 operands are narrow too."""
    small = set(fits)
    for index, node in enumerate(body.nodes):
        if index in small and isinstance(node, KernelApply) and node.function != "convert":
            args = [arg for arg in node.args if body.kinds[arg] is Kind.I64]
            if not all(arg in small for arg in args):
                small.discard(index)
    return small


def _in_narrow_kind(body: Body, kind: Kind, small: set[int]) -> Body:
    nodes: list[Node] = []
    kinds: list[Kind] = []
    places: dict[int, int] = {}
    wide: dict[int, int] = {}

    def add(node: Node, of: Kind) -> int:
        nodes.append(node)
        kinds.append(of)
        return len(nodes) - 1

    def widened(index: int) -> int:
        if index not in small:
            return places[index]
        if index not in wide:
            wide[index] = add(KernelApply("convert", (places[index],), kind, Kind.I64), Kind.I64)
        return wide[index]

    for index, node in enumerate(body.nodes):
        match node:
            case KernelLiteral(Kind.I64, bits) if index in small:
                places[index] = add(KernelLiteral(kind, bits), kind)
            case KernelApply() if index in small and node.function == "convert":
                (arg,) = node.args
                source = kind if arg in small else node.compute
                if source is kind:
                    places[index] = places[arg]
                else:
                    places[index] = add(KernelApply("convert", (places[arg],), source, kind), kind)
            case KernelApply() if index in small:
                args = tuple(places[arg] for arg in node.args)
                places[index] = add(replace(node, args=args, compute=kind, kind=kind), kind)
            case KernelApply() if (
                node.function in COMPARISONS and node.compute is Kind.I64 and all(arg in small for arg in node.args)
            ):
                places[index] = add(replace(node, args=tuple(places[arg] for arg in node.args), compute=kind), node.kind)
            case KernelApply():
                places[index] = add(replace(node, args=tuple(widened(arg) for arg in node.args)), node.kind)
            case _:
                places[index] = add(node, body.kinds[index])
    results = tuple(
        replace(r, node=widened(r.node), imaginary=widened(r.imaginary) if r.imaginary >= 0 else -1,
                states=tuple(places[s] for s in r.states), following=tuple(map(widened, r.following)))
        for r in body.results
    )  # fmt: skip
    return replace(body, nodes=tuple(nodes), kinds=tuple(kinds), results=results)


# ----------------------------------------------------------------------------------------------------- gathers
#
# Bodies of kernels that read items at computed indices: gathers, rotations by amounts that are data, cyclic reshapes.
#
# Operand 0 is the array that is read; its address does not move on the indexed axis.  Operand 1 has the indices or the amounts.
# The scalars are the number of items of that axis and the bytes between them.  For complex numbers operand 0 is the real parts
# and operand 2 the imaginary parts.

class _BodyWriter:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.kinds: list[Kind] = []

    def add(self, node: Node, kind: Kind) -> int:
        self.nodes.append(node)
        self.kinds.append(kind)
        return len(self.nodes) - 1

    def integer(self, function: str, *args: int) -> int:
        return self.add(KernelApply(function, args, Kind.I64, Kind.I64), Kind.I64)

    def index(self, kind: Kind) -> int:
        """An item of operand 1 as an i64."""
        loaded = self.add(KernelLoad(1), kind)
        return loaded if kind is Kind.I64 else self.add(KernelApply("convert", (loaded,), kind, Kind.I64), Kind.I64)

    def scalars(self) -> tuple[int, int]:
        return self.add(KernelArgument(0), Kind.I64), self.add(KernelArgument(1), Kind.I64)

    def items(self, function: str, kind: Kind, at: tuple[int, int, int]) -> list[int]:
        """The item at an index, or both parts of a complex one.  `at`: the nodes of the index, the length and the stride."""
        part = PART.get(kind, kind)
        sources = (0, 2) if kind.is_complex else (0,)
        return [self.add(KernelApply(function, at, Kind.I64, part, source), part) for source in sources]

    def body(self, kind: Kind, items: list[int], coordinates: frozenset[int] = frozenset()) -> Body:
        result = KernelResult(items[0], kind, None, items[1] if len(items) > 1 else -1)
        return Body(tuple(self.nodes), tuple(self.kinds), (number(0), number(0)), (result,), coordinates, 0)


def operand_kinds(kind: Kind, index: Kind) -> list[Kind]:
    part = PART.get(kind, kind)
    return [part, index, part] if kind.is_complex else [part, index]


@cache
def gather_body(kind: Kind, index: Kind, fill: int | None, *, proved: bool) -> Body:
    """The body of a gather; with a `fill` (bits), index ¯1 reads it.  `proved`: indices are in range, so that none is checked."""
    w = _BodyWriter()
    position = w.index(index)
    count, stride = w.scalars()
    function = PROVED if proved else FETCH
    if fill is None:
        return w.body(kind, w.items(function, kind, (position, count, stride)))
    nothing, first = (w.add(KernelLiteral(Kind.I64, value), Kind.I64) for value in (-1, 0))
    absent = w.add(KernelApply("eq", (position, nothing), Kind.I64, Kind.BOOL), Kind.BOOL)
    items = w.items(function, kind, (w.integer("select", absent, first, position), count, stride))
    part = PART.get(kind, kind)
    instead = w.add(KernelLiteral(part, bits_of(part, fill)), part)
    return w.body(kind, [w.add(KernelApply("select", (absent, instead, item), part, part), part) for item in items])


@cache
def rotate_body(kind: Kind, amount: Kind, axis: int) -> Body:
    """The body of a rotation along an axis, by amounts that are data."""
    w = _BodyWriter()
    by = w.index(amount)
    count, stride = w.scalars()
    here = w.add(Coordinate(axis), Kind.I64)
    there = w.integer("add", here, w.integer("residue", count, by))
    around = w.add(KernelApply("ge", (there, count), Kind.I64, Kind.BOOL), Kind.BOOL)
    position = w.integer("select", around, w.integer("sub", there, count), there)
    return w.body(kind, w.items(PROVED, kind, (position, count, stride)), frozenset({axis}))


@cache
def cycle_body(kind: Kind) -> Body:
    """The body of a cyclic reshape: items in order, from the first again after the last.  Operand 1 is not read."""
    w = _BodyWriter()
    count, stride = w.scalars()
    position = w.integer("residue", count, w.add(Coordinate(0), Kind.I64))
    return w.body(kind, w.items(PROVED, kind, (position, count, stride)), frozenset({0}))


# ---------------------------------------------------------------------------------------------------- short axes
#
# Kernels specialized for one short row length.
#
# A row of at most `LANES` items is one row of lanes in the order of sums (phases.md): its items are the lanes of a reduction and
# stay in registers, so that a table of distances costs a few instructions for each vector of coordinates.  A map over rows of a
# few items (vectors with three coordinates) has vectors across rows.

_MIN_CELLS: Final = 16
_MIN_MASKED_BYTES: Final = 4
"""Bytes of an item from which processors have masked vector loads."""
_MAX_REDUCTION_NODES: Final = 256
"""Nodes times vectors of a row at most; half as many for reductions that are exact in any order, which a loop does as well."""
_MAX_COLUMNS: Final = 5
_MAX_COMPLEX_COLUMNS: Final = 4
_MIN_ROWS: Final = 64
_MAX_MAP_NODES: Final = 160
"""Nodes times vectors of a group of rows at most."""


def with_short_rows(kernel: Kernel, nest: LoopOrder, registers: int) -> Kernel:
    """The kernel specialized for this row length, if rows are short and contiguous; else the kernel itself."""
    if len(nest.sizes) < 2:
        return kernel
    used = used_nodes(kernel.body, [node for result in kernel.results for node in result.roots])
    match kernel.form:
        case Form.REDUCE_INNER:
            return _short_reduction(kernel, nest, used, registers)
        case Form.MAP:
            return _short_map(kernel, nest, used)
        case _:
            return kernel


def _short_reduction(kernel: Kernel, nest: LoopOrder, used: frozenset[int], registers: int) -> Kernel:
    cells, length = nest.sizes[-2:]
    moving = [operand for operand in kernel.operands if operand.moves[-1]]
    if length > LANES or cells < _MIN_CELLS:
        return kernel
    if any(row.step is not VectorStride.UNIT or row.kind.bytes < _MIN_MASKED_BYTES for row in moving):
        return kernel
    vectors = -(-length * max(kind_of(kernel, index).bytes for index in used) // (2 * registers))
    in_order = any(is_ordered(r.reduction or "", r.kind) for r in kernel.results)
    most = _MAX_REDUCTION_NODES if in_order else _MAX_REDUCTION_NODES // 2
    return replace(kernel, length=length) if vectors * len(used) <= most else kernel


def _short_map(kernel: Kernel, nest: LoopOrder, used: frozenset[int]) -> Kernel:
    rows, length = nest.sizes[-2:]
    kinds = [operand.kind for operand in kernel.operands] + [result.kind for result in kernel.results]
    is_complex = any(kind.is_complex for kind in kinds)
    if not 2 <= length <= (_MAX_COMPLEX_COLUMNS if is_complex else _MAX_COLUMNS) or rows < _MIN_ROWS:
        return kernel
    for operand, strides in zip(kernel.operands, nest.strides, strict=True):
        if operand.moves[-1] and operand.moves[-2] and strides[-2:] != (length * operand.kind.bytes, operand.kind.bytes):
            return kernel
    fetches = any(isinstance(node, KernelApply) and node.function == FETCH for node in kernel.body)
    counts = any(isinstance(node, Coordinate) and node.axis >= kernel.axes - 2 for node in kernel.body)
    if fetches or counts or length * len(used) > _MAX_MAP_NODES:
        return kernel
    return replace(kernel, form=Form.UNROLLED_INNER, length=length)
