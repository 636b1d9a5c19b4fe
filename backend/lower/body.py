"""Legal bodies of structured phases: their nodes as code computes them (`legalize`), with narrow integers (`narrow`), and laid
out over strided operands (`Kernel`), for loop programs (`phase`, `rows`)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, Generic, TypeAlias, TypeVar

from ...lang.support.records import dataclass, replace
from ...typechecker.core.operations import Payload
from ...typechecker.elements import FUNCTIONS, SELECTIVE, Kind, ResultKind, is_ordered
from ...typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, variable
from ..graph.fusion_groups import ALONG
from ..graph.passes.rewriting import real_constant, with_fixed_powers
from ..graph.phases import (
    ARGUMENT_REDUCTIONS,
    ApplyNode,
    AxisNode,
    ConstantNode,
    Node as GraphNode,
    ReadNode,
    SizeNode,
    Structured,
    kind_of,
    operand_kind,
)
from ..scalar.function_table import REDUCTIONS, has_meaning
from .loop_order import LANES, Form, LoopOrder, StoreMode, VectorStride

# ------------------------------------------------------------------------------------------------ legal bodies
#
# A legal body has the nodes of phases, and of the kinds that code has: a complex number is two reals.

FETCH: Final = "fetch"
"""A function that only legal bodies have: it reads the item of operand number `parameter` at a computed index.  Its arguments are
the index, the length of the indexed axis, and the bytes between items of that axis; an index out of range is a failed check.  The
operand's address does not move on that axis."""
PROVED: Final = "fetch_proved"
"""`FETCH` of an index that is known to be in range."""


@dataclass(frozen=True, slots=True)
class StateNode:
    """The state of a right fold (`BodyResult.states`)."""

    kind: Kind


Node: TypeAlias = GraphNode | StateNode


@dataclass(frozen=True, slots=True)
class BodyResult:
    """The body nodes of a result (two where it is complex), reduced with `reduction` unless it is None; `kind`: of the result.

    A right fold, whose first state is the last item, has `states`, the nodes of its state, and `following`, those of its next
    state."""

    nodes: tuple[int, ...]
    kind: Kind
    reduction: str | None
    states: tuple[int, ...] = ()
    following: tuple[int, ...] = ()

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes that the result depends on directly."""
        return *self.nodes, *self.following


@dataclass(frozen=True, slots=True)
class Body:
    """A legal body, in single assignment by position."""

    nodes: tuple[Node, ...]
    results: tuple[BodyResult, ...]

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes in the body, which are scalar arguments of the kernel, in order."""
        return tuple(dict.fromkeys([node.size for node in self.nodes if isinstance(node, SizeNode)]))

    @property
    def coordinates(self) -> frozenset[int]:
        """The axes whose coordinate the body uses."""
        return frozenset([node.axis for node in self.nodes if isinstance(node, AxisNode)])

    @property
    def applied(self) -> list[str]:
        """The functions that the body applies."""
        return [node.function for node in self.nodes if isinstance(node, ApplyNode)]

    @property
    def has_argument_reduction(self) -> bool:
        return any(r.reduction in ARGUMENT_REDUCTIONS for r in self.results)

    @property
    def is_ordered(self) -> bool:
        """Does the body reduce in the order of sums?"""
        return any(is_ordered(r.reduction or "", r.kind) for r in self.results)

    @property
    def is_right_fold(self) -> bool:
        """Does the body have a right fold, which takes the items in sequence?"""
        return any(r.states for r in self.results)

    @property
    def roots(self) -> list[int]:
        """The nodes that the results depend on directly."""
        return [node for result in self.results for node in result.roots]

    @property
    def used(self) -> frozenset[int]:
        """The nodes that the results depend on."""
        used = set(self.roots)
        for index in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[index]
            if isinstance(node, ApplyNode) and index in used:
                used.update(node.args)
        return frozenset(used)

    @property
    def state_dependent(self) -> frozenset[int]:
        """The nodes that are states of right folds, or depend on one."""
        late: set[int] = set()
        for index, node in enumerate(self.nodes):
            if isinstance(node, StateNode) or (isinstance(node, ApplyNode) and not late.isdisjoint(node.args)):
                late.add(index)
        return frozenset(late)


# ---------------------------------------------------------------------------------------------------- complexes
#
# Complex numbers in code are two floats; every complex function is expanded into functions of floats.
#
# The formulas equal those of `cpu.numpy_scalars` to the bit: four multiplications, Smith's division by the reciprocal of the
# scale, and the magnitude as the root of the sum of squares, scaled by a power of two where these would overflow or underflow.
# The comparison of a magnitude with a constant needs no root: the sum of squares is compared with the greatest one whose root is
# on that side.  `ComplexFormulas` has the longer formulas, shared by code and NumPy.

Parts: TypeAlias = tuple[int, ...]
"""The nodes of a value: its real and imaginary part if it is complex, else one."""

PART: Final = {Kind.C64: Kind.F32, Kind.C128: Kind.F64}
LARGE: Final = 2.0**500
SMALL: Final = 2.0**-500
"""The squares of magnitudes between SMALL and its reciprocal neither overflow nor underflow."""
SHRINK: Final = 2.0**-600


T = TypeVar("T")
_LAST_FINITE_EXPONENT: Final = 709.0
"""The greatest integer exponent x for which eˣ is finite."""


def parts_of(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the parts of a value: two reals for a complex number, else the kind itself."""
    return (PART[kind],) * 2 if kind.is_complex else (kind,)


class ComplexFormulas(Generic[T]):
    """Complex functions in terms of binary64 functions; `T` is the type of a value: a node of a body, or an array."""

    def number(self, value: float, kind: Kind) -> T:
        raise NotImplementedError

    def do(self, function: str, *args: T, on: Kind, to: Kind | None = None, parameter: int = 0) -> T:
        raise NotImplementedError

    def exponential(self, a: T, b: T) -> tuple[T, T]:
        """e to the a + bi: e to the a times the cosine and the sine of b.

        Where e to the a overflows, the products may be finite, so they are multiplied by two factors of it in turn.  An imaginary
        part of 0 stays 0.  At a = ¯∞ the result is 0, and at a = ∞ infinite, whatever b is."""
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


Pair: TypeAlias = tuple[int, int]


class LegalNodes(ComplexFormulas[int]):
    """The nodes of a legal body under construction."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.squares: dict[int, tuple[int, int, int]] = {}
        """By node of a magnitude: the nodes of "a part is infinite" and of the sum of squares, and the bits of a part's kind."""

    def add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def number(self, value: Payload, kind: Kind) -> int:
        return self.add(ConstantNode(kind, value))

    def do(self, function: str, *args: int, on: Kind, to: Kind | None = None, parameter: int = 0) -> int:
        return self.add(ApplyNode(function, args, to or on, parameter))

    def leaf(self, node: Node) -> Parts:
        """Adds a node without arguments; returns its parts."""
        kind = kind_of(node)
        if not kind.is_complex:
            return (self.add(node),)
        match node:
            case ReadNode(index):
                return tuple([self.add(ReadNode(index, PART[kind], part)) for part in (0, 1)])
            case ConstantNode(value=bool() | int() | float() | complex() as value):
                return tuple([self.number(part, PART[kind]) for part in (complex(value).real, complex(value).imag)])
            case _:
                return tuple([self.add(StateNode(part)) for part in parts_of(kind)])

    def in_double(self, formula: Callable[[int, int], Pair], pair: Pair, part: Kind) -> Pair:
        """Applies a binary64 formula to parts of any kind, and rounds its results once."""
        if part is Kind.F64:
            return formula(*pair)
        a, b = (self.do("convert", operand, on=part, to=Kind.F64) for operand in pair)
        real, imaginary = (self.do("convert", result, on=Kind.F64, to=part) for result in formula(a, b))
        return real, imaginary

    def apply_complex(self, node: ApplyNode, args: Sequence[Parts], compute: Kind) -> Parts | None:
        """Applies a function with a complex operand or result; None if code does not have it."""
        if node.function == "convert":
            return self.convert(args[0], compute, node.kind)
        part = PART.get(compute, compute)
        match node.function, args:
            case "select", [(condition,), (a, b), (c, d)]:
                return self.do("select", condition, a, c, on=part), self.do("select", condition, b, d, on=part)
            case "add" | "sub", [(a, b), (c, d)]:
                return self.do(node.function, a, c, on=part), self.do(node.function, b, d, on=part)
            case "mul", [(a, b), (c, d)]:
                return self.product((a, b), (c, d), part)
            case "div", [(a, b), (c, d)]:
                return self.quotient((a, b), (c, d), part)
            case "reciprocal", [(c, d)]:
                return self.quotient((self.number(1.0, part), self.number(0.0, part)), (c, d), part)
            case "neg" | "pi_times" as function, [(a, b)]:
                return self.do(function, a, on=part), self.do(function, b, on=part)
            case "conj", [(a, b)]:
                return a, self.do("neg", b, on=part)
            case "abs", [(a, b)]:
                return (self.magnitude(a, b, part),)
            case "eq" | "ne", [(a, b), (c, d)]:
                left, right = (self.do(node.function, x, y, on=part, to=Kind.BOOL) for x, y in ((a, c), (b, d)))
                return (self.do("and" if node.function == "eq" else "or", left, right, on=Kind.BOOL),)
            case "exp", [(a, b)]:
                return self.in_double(self.exponential, (a, b), part)
            case "circular", [(a, b)] if node.parameter == -12:
                return self.in_double(self.exponential, (self.do("neg", b, on=part), a), part)
            case "circular", [(a, b)] if node.parameter in (9, 10, 11):
                return (a if node.parameter == 9 else b if node.parameter == 11 else self.magnitude(a, b, part),)
        return None

    def convert(self, arg: Parts, source: Kind, target: Kind) -> Parts | None:
        if not target.is_complex:
            return None
        part, real = PART[target], PART.get(source, source)
        parts = arg if real is part else tuple([self.do("convert", operand, on=real, to=part) for operand in arg])
        return parts if len(parts) > 1 else (*parts, self.number(0.0, part))

    def product(self, x: Pair, y: Pair, part: Kind) -> Pair:
        (a, b), (c, d) = x, y
        ac, bd, ad, bc = (self.do("mul", left, right, on=part) for left, right in ((a, c), (b, d), (a, d), (b, c)))
        return self.do("sub", ac, bd, on=part), self.do("add", ad, bc, on=part)

    def quotient(self, x: Pair, y: Pair, part: Kind) -> Pair:
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

    def compared(self, body: Sequence[Node], node: ApplyNode, args: Parts) -> int | None:
        """The comparison of an f64 magnitude with a constant, by the sum of squares; None for other operands."""
        left, right = args
        function = node.function
        if right in self.squares:
            left, function, limit = right, _MIRRORED.get(function, ""), _real(body, node.args[0])
        else:
            limit = _real(body, node.args[1])
        if left not in self.squares or limit is None or function not in _MIRRORED:
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

    # -------------------------------------------------------------------------------------------- reals

    def apply(self, body: Sequence[Node], node: ApplyNode, args: Parts, compute: Kind, *, loops: bool) -> int | None:
        """Applies a function of reals; None if code does not have it for the kind."""
        function = node.function
        compared = self.compared(body, node, args) if self.squares and len(args) == 2 else None
        if compared is not None:
            return compared
        if function == "convert" and (folded := _folded_conversion(self.nodes[args[0]], node.kind)) is not None:
            return self.add(folded)
        if function in _SELECTIVE_ALONG and compute.is_float:
            args = (self.without_signed_zero(args[0], compute),)
        elif function == "ipow":
            power = self.integer_power(body[node.args[1]], args[0], compute)
            return power if power is not None or not loops else self.add(replace(node, args=args))
        elif function == "log" and (logarithm := LOGARITHMS.get(real_constant(body, node.args[0]))) is not None:
            return self.do(logarithm, *args[1:], on=compute, to=node.kind)
        return self.add(replace(node, args=args)) if _has_code(node, compute) else None

    def without_signed_zero(self, operand: int, kind: Kind) -> int:
        """x+0, which turns -0.0 into 0.0, so that the greatest item has the same bits whatever the order of comparisons."""
        return self.do("add", operand, self.number(0.0, kind), on=kind)

    def integer_power(self, exponent: Node, square: int, kind: Kind) -> int | None:
        """An integer to a constant power by repeated squaring, which is exact modulo the width; None for other powers."""
        left, product = getattr(exponent, "value", 0), None
        if not isinstance(left, int) or not 0 < left <= _MOST_FACTORS:
            return None
        while True:
            if left & 1:
                product = square if product is None else self.do("mul", product, square, on=kind)
            left >>= 1
            if not left:
                return product
            square = self.do("mul", square, square, on=kind)


_MIRRORED: Final = {"lt": "gt", "le": "ge", "ge": "le", "gt": "lt"}


def _real(body: Sequence[Node], index: int) -> float | None:
    node = body[index]
    while isinstance(node, ApplyNode) and node.function == "convert":
        node = body[node.args[0]]
    if isinstance(node, ConstantNode) and isinstance(node.value, float | int):
        return float(node.value) if float(node.value) == node.value else None
    return None


def _most_square(limit: float, *, below: bool) -> float:
    """The greatest number whose square root is at most (with `below`: less than) `limit`."""
    limit_squared = limit * limit
    fits: Callable[[float], bool] = (lambda s: math.sqrt(s) < limit) if below else (lambda s: math.sqrt(s) <= limit)
    while not fits(limit_squared):
        limit_squared = math.nextafter(limit_squared, 0.0)
    while fits(math.nextafter(limit_squared, math.inf)):
        limit_squared = math.nextafter(limit_squared, math.inf)
    return limit_squared


# ---------------------------------------------------------------------------------------------- legalization

KINDS: Final = frozenset({Kind.BOOL, Kind.U8, Kind.I32, Kind.I64, Kind.F32, Kind.F64, Kind.CHAR})
_ALONG: Final = frozenset(ALONG.values())
_SELECTIVE_ALONG: Final = frozenset(ALONG[name] for name in SELECTIVE)
_MOST_FACTORS: Final = 64
_EXACT_INTEGERS: Final = 1 << 53
"""Integers below this are exact in binary64, from which binary32 rounds them once."""

LOGARITHMS: Final[dict[float | None, str]] = {2.0: "log2", 10.0: "log10"}
"""Functions for logarithms to a constant base; they are also the definition of the logarithm to any base at these bases."""


def legalize(phase: Structured, *, complexes: bool = False, loops: bool = False) -> Body | None:
    """The legal body of a phase; None if code lacks one of its functions or kinds.

    `complexes`: expand complex numbers into two parts.  `loops`: allow functions that are loops (integers to any power)."""
    phase = with_fixed_powers(phase)
    body, following = _with_fold_steps(phase)
    if following and len(following) < len(phase.results):
        return None
    if not complexes and any(kind_of(node).is_complex for node in body):
        return None
    legal, parts = LegalNodes(), list[Parts]()
    for node in body:
        if not isinstance(node, ApplyNode):
            parts.append(legal.leaf(node))
            continue
        compute, args = operand_kind(body, node), [parts[arg] for arg in node.args]
        if compute.is_complex or node.kind.is_complex:
            value = legal.apply_complex(node, args, compute)
        else:
            real = legal.apply(body, node, tuple([part for (part,) in args]), compute, loops=loops)
            value = None if real is None else (real,)
        if value is None:
            return None
        parts.append(value)
    results: list[BodyResult] = []
    for position, result in enumerate(phase.results):
        roots, kind, function = parts[result.node], kind_of(body[result.node]), result.reduction
        if position in following:
            before, after = following[position]
            results.append(BodyResult(roots, kind, function, parts[before], parts[after]))
            continue
        if function is not None and (kind is Kind.CHAR or (kind.is_complex and function != "add")):
            return None
        if function in SELECTIVE and kind.is_float:
            roots = (legal.without_signed_zero(roots[0], kind),)
        results.append(BodyResult(roots, Kind.I64 if function in ARGUMENT_REDUCTIONS else kind, function))
    return Body(tuple(legal.nodes), tuple(results))


def _with_fold_steps(phase: Structured) -> tuple[list[Node], dict[int, tuple[int, int]]]:
    """The body with one step of each right fold appended: its function of an item and the state.

    Returns the nodes, and by index of the result its state node and its next-state node.
    """
    body, following = list[Node](phase.body), dict[int, tuple[int, int]]()
    for position, result in enumerate(phase.results):
        function = result.reduction
        if function is None or function in REDUCTIONS or function in ARGUMENT_REDUCTIONS:
            continue
        kind, state = kind_of(body[result.node]), len(body)
        is_truth = FUNCTIONS[function].result is ResultKind.BOOL
        body += [StateNode(kind), ApplyNode(function, (result.node, state), Kind.BOOL if is_truth else kind)]
        if is_truth and kind is not Kind.BOOL:
            body.append(ApplyNode("convert", (state + 1,), kind))
        following[position] = state, len(body) - 1
    return body, following


def _has_code(node: ApplyNode, compute: Kind) -> bool:
    """Does code have the node's function for the kind?"""
    if node.function == "convert" and compute.is_float and not node.kind.is_float:
        return False
    if node.function == "convert_checked" and Kind.CHAR in (compute, node.kind) and compute.is_float:
        return False
    return node.function in _ALONG or has_meaning(node.function, node.parameter, compute)


def _folded_conversion(source: Node, target: Kind) -> ConstantNode | None:
    """The float constant for a conversion of a constant; None if it is not exact.

    A conversion in the loop would shorten vectors to the number of items of the wider kind."""
    if not isinstance(source, ConstantNode) or not target.is_float or isinstance(source.value, str | complex):
        return None
    value = float(source.value)
    if source.kind is Kind.F32:
        (value,) = struct.unpack("<f", struct.pack("<f", value))
    return ConstantNode(target, value) if abs(value) < _EXACT_INTEGERS else None


# ---------------------------------------------------------------------------------------------------- narrowing
#
# Integer narrowing by value ranges: u8 lanes are eight times as many to a vector as i64 lanes.
#
# Sums of booleans, digits and bytes are i64 in the language; where every intermediate value provably fits u8 or i32, they are
# computed in that kind, exactly, and widened only where a wide operation uses them.

Range = tuple[int, int]

LIMITS: Final = ((Kind.U8, 0, 255), (Kind.I32, -(1 << 31), (1 << 31) - 1))
SOURCES: Final = {Kind.BOOL: (0, 1), Kind.U8: (0, 255)}
_MOST: Final = 1 << 40
"""Ranges with greater bounds are not tracked."""
ARITHMETIC: Final = frozenset({"add", "sub", "mul", "min", "max", "neg", "abs"})
COMPARISONS: Final = frozenset({"lt", "le", "eq", "ge", "gt", "ne"})


def narrow(body: Body) -> Body:
    """The body with small integers in a narrow kind; the body itself where that saves nothing."""
    ranges, applied = _ranges(body.nodes), [node for node in body.nodes if isinstance(node, ApplyNode)]
    used = {arg for node in applied if _is_small(node, body.nodes, ranges) for arg in node.args}
    kind = narrowest([interval for index, interval in ranges.items() if index in used])
    if kind is None or not any(
        isinstance(n, ApplyNode) and n.function in ARITHMETIC and p in ranges for p, n in enumerate(body.nodes)
    ):
        return body
    low, high = next((a, b) for k, a, b in LIMITS if k is kind)
    fits = {index for index, (a, b) in ranges.items() if low <= a and b <= high}
    return _in_narrow_kind(body, kind, _with_narrow_operands(body.nodes, fits))


def _ranges(nodes: Sequence[Node]) -> dict[int, Range]:
    """By node, the value range of an i64 node; nodes of unknown range are absent."""
    ranges: dict[int, Range] = {}
    for index, node in enumerate(nodes):
        interval = None
        if isinstance(node, ApplyNode):
            interval = range_of(node.function, operand_kind(nodes, node), node.kind, [ranges.get(arg) for arg in node.args])
        elif isinstance(node, ConstantNode) and node.kind is Kind.I64:
            interval = node.bits, node.bits
        if interval is not None:
            ranges[index] = interval
    return ranges


def range_of(function: str, compute: Kind, kind: Kind, args: Sequence[Range | None]) -> Range | None:
    """The range of a function that gives an i64, from those of its operands; None if it is unknown or too large."""
    if kind is Kind.I64 and function == "convert":
        return SOURCES.get(compute) or args[0]
    known = [one for one in args[function == "select" :] if one is not None]
    if compute is not Kind.I64 or kind is not Kind.I64 or len(known) < len(args) - (function == "select"):
        return None
    if function == "select":
        return min(known)[0], max(high for _, high in known)
    low, high = combined(function, known) if function in ARITHMETIC else (-_MOST, _MOST)
    return (low, high) if low > -_MOST and high < _MOST else None


def combined(function: str, args: Sequence[Range]) -> Range:
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


def _is_small(node: ApplyNode, nodes: Sequence[Node], ranges: dict[int, Range]) -> bool:
    if operand_kind(nodes, node) is not Kind.I64 or node.function not in ARITHMETIC | COMPARISONS | {"select"}:
        return False
    return all(arg in ranges for arg in node.args if kind_of(nodes[arg]) is Kind.I64)


def narrowest(ranges: list[Range]) -> Kind | None:
    """The narrowest kind that contains all ranges; None if there is none."""
    for kind, low, high in LIMITS:
        if ranges and all(low <= a and b <= high for a, b in ranges):
            return kind
    return None


def _with_narrow_operands(nodes: Sequence[Node], fits: set[int]) -> set[int]:
    """The nodes of `fits` whose i64 operands are narrow too."""
    small = set(fits)
    for index, node in enumerate(nodes):
        if index in small and isinstance(node, ApplyNode) and node.function != "convert":
            args = [arg for arg in node.args if kind_of(nodes[arg]) is Kind.I64]
            if not all(arg in small for arg in args):
                small.discard(index)
    return small


def _in_narrow_kind(body: Body, kind: Kind, small: set[int]) -> Body:
    legal, places, wide = LegalNodes(), dict[int, int](), dict[int, int]()

    def widened(index: int) -> int:
        if index not in small:
            return places[index]
        if index not in wide:
            wide[index] = legal.do("convert", places[index], on=kind, to=Kind.I64)
        return wide[index]

    for index, node in enumerate(body.nodes):
        match node:
            case ConstantNode() if index in small:
                places[index] = legal.add(replace(node, kind=kind))
            case ApplyNode("convert", (arg,)) if index in small:
                source = kind_of(legal.nodes[places[arg]])
                places[index] = places[arg] if source is kind else legal.do("convert", places[arg], on=source, to=kind)
            case ApplyNode() if index in small:
                places[index] = legal.add(replace(node, args=tuple(places[arg] for arg in node.args), kind=kind))
            case ApplyNode() if node.function in COMPARISONS and all(arg in small for arg in node.args):
                places[index] = legal.add(replace(node, args=tuple(places[arg] for arg in node.args)))
            case ApplyNode():
                places[index] = legal.add(replace(node, args=tuple(widened(arg) for arg in node.args)))
            case _:
                places[index] = legal.add(node)
    results = tuple(
        replace(r, nodes=tuple(map(widened, r.nodes)), states=tuple(places[s] for s in r.states),
                following=tuple(map(widened, r.following)))
        for r in body.results
    )  # fmt: skip
    return Body(tuple(legal.nodes), results)


# ----------------------------------------------------------------------------------------------------- gathers
#
# Bodies that read items at computed indices: gathers, rotations by amounts that are data, cyclic reshapes.
#
# Operand 0 is the array that is read; its address does not move on the indexed axis.  Operand 1 has the indices or the amounts.
# The scalars are the number of items of that axis and the bytes between them.  For complex numbers operand 0 is the real parts
# and operand 2 the imaginary parts.

class _Fetching(LegalNodes):
    def integer(self, function: str, *args: int) -> int:
        return self.do(function, *args, on=Kind.I64)

    def index(self, kind: Kind) -> int:
        """Operand 1's item as an i64 node."""
        loaded = self.add(ReadNode(1, kind))
        return loaded if kind is Kind.I64 else self.do("convert", loaded, on=kind, to=Kind.I64)

    def scalars(self) -> tuple[int, int]:
        return self.add(SizeNode(argument(0))), self.add(SizeNode(argument(1)))

    def items(self, function: str, kind: Kind, at: tuple[int, int, int]) -> Parts:
        """The item at an index, or both parts of a complex one.  `at`: the nodes of the index, the axis length and the stride in
        bytes."""
        parts = parts_of(kind)
        return tuple([self.add(ApplyNode(function, at, part, 2 * number)) for number, part in enumerate(parts)])

    def body(self, kind: Kind, items: Parts) -> Body:
        return Body(tuple(self.nodes), (BodyResult(items, kind, None),))


def operand_kinds(kind: Kind, index: Kind) -> list[Kind]:
    part, *imaginary = parts_of(kind)
    return [part, index, *imaginary]


@cache
def gather_body(kind: Kind, index: Kind, fill: Payload | None, *, proved: bool) -> Body:
    """The body of a gather; with a `fill`, index ¯1 reads the fill.  `proved`: indices are known to be in range and are not
    checked."""
    w = _Fetching()
    position = w.index(index)
    count, stride = w.scalars()
    function = PROVED if proved else FETCH
    if fill is None:
        return w.body(kind, w.items(function, kind, (position, count, stride)))
    nothing, first = (w.number(value, Kind.I64) for value in (-1, 0))
    absent = w.do("eq", position, nothing, on=Kind.I64, to=Kind.BOOL)
    items = w.items(function, kind, (w.integer("select", absent, first, position), count, stride))
    pairs = zip(parts_of(kind), w.leaf(ConstantNode(kind, fill)), items, strict=True)
    return w.body(kind, tuple([w.do("select", absent, instead, item, on=part) for part, instead, item in pairs]))


@cache
def rotate_body(kind: Kind, amount: Kind, axis: int) -> Body:
    """The body of a rotation along an axis, by amounts that are data."""
    w = _Fetching()
    by = w.index(amount)
    count, stride = w.scalars()
    here = w.add(AxisNode(axis))
    there = w.integer("add", here, w.integer("residue", count, by))
    around = w.do("ge", there, count, on=Kind.I64, to=Kind.BOOL)
    position = w.integer("select", around, w.integer("sub", there, count), there)
    return w.body(kind, w.items(PROVED, kind, (position, count, stride)))


@cache
def cycle_body(kind: Kind) -> Body:
    """The body of a cyclic reshape: the items in order, starting again after the last.  Operand 1 is not read."""
    w = _Fetching()
    count, stride = w.scalars()
    position = w.integer("residue", count, w.add(AxisNode(0)))
    return w.body(kind, w.items(PROVED, kind, (position, count, stride)))


# ----------------------------------------------------------------------------------------------------- kernels
#
# A kernel is a legal body with the layout of its operands, free of addresses and sizes: the key of compiled code.
#
# Its sizes are numbered and its nodes have no spans, so that equal bodies of different phases are one kernel.
#
# Note [Argument block].  64-bit words, in order: the size of each axis; the first coordinate of each axis; the scalars; for each
# operand its address and its stride in bytes on each axis; for each result its address and its stride in bytes on each parallel
# axis; then a word for a failed check: the value, widened to 64 bits.  A kernel returns 0, 1 + the body node whose check
# failed, or `NO_MEMORY`.


@dataclass(frozen=True, slots=True)
class KernelOperand:
    """`step`: how the operand moves along the vector axis.  `moves`: the axes on which its address changes."""

    kind: Kind
    step: VectorStride
    moves: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A legal body with the layout of its operands, in `axes` loops.

    With `length` the last axis has exactly this length: at most `LANES` items to be reduced (REDUCE_INNER), or a few, with
    vectors across rows (UNROLLED_INNER).

    Of a chain along rows (`rows`): `is_row`, by result, whether it has one item a row; `longest`, a power of two that bounds the
    rows' length."""

    form: Form
    axes: int
    operands: tuple[KernelOperand, ...]
    body: Body
    stores: StoreMode = StoreMode.PLAIN
    length: int = 0
    is_row: tuple[bool, ...] = ()
    longest: int = 0

    @property
    def result_axes(self) -> int:
        return self.axes if self.form in (Form.MAP, Form.UNROLLED_INNER) else self.axes - 1

    @property
    def head(self) -> int:
        """The words of the argument block before the operands."""
        return 2 * self.axes + len(self.body.sizes)


@cache
def argument(number: int) -> Size:
    """The name of scalar argument `number` of a kernel."""
    return variable(SizeVariable(f"s{number}", number, SizeOrigin.PARAM))


def build_kernel(body: Body, nest: LoopOrder, operands: Sequence[Kind], stores: StoreMode = StoreMode.PLAIN) -> Kernel:
    """The kernel of a body in a loop order; `operands`: the kinds of its operands."""
    axes = len(nest.groups)
    vector = axes - 2 if nest.form in (Form.REDUCE_OUTER, Form.REDUCE_IN_REGISTERS) else axes - 1
    rows = tuple(
        KernelOperand(kind, _step(strides[vector], kind.bytes), tuple(s != 0 for s in strides))
        for kind, strides in zip(operands, nest.strides, strict=True)
    )
    loop_of = {axis: loop for loop, group in enumerate(nest.groups) for axis in group}
    arguments = {size: SizeNode(argument(number)) for number, size in enumerate(body.sizes)}

    def laid_out(node: Node) -> Node:
        match node:
            case AxisNode(axis):  # an axis of length 1 has no loop, and its coordinate is 0
                return AxisNode(loop_of[axis]) if axis in loop_of else ConstantNode(Kind.I64, 0)
            case SizeNode(size):
                return arguments[size]
            case ApplyNode(span=span) if span is not None:
                return replace(node, span=None)
        return node

    return Kernel(nest.form, axes, rows, replace(body, nodes=tuple([laid_out(node) for node in body.nodes])), stores)


def _step(stride: int, bytes: int) -> VectorStride:
    if stride == 0:
        return VectorStride.NONE
    return VectorStride.UNIT if stride == bytes else VectorStride.REVERSED if stride == -bytes else VectorStride.STRIDED


# ---------------------------------------------------------------------------------------------------- short axes
#
# Kernels specialized for one short row length.
#
# A row of at most `LANES` items is one row of lanes in the order of sums (phases.md): its items are the lanes of a reduction and
# stay in registers, so that a table of distances costs a few instructions for each vector of coordinates.  A map over rows of a
# few items (vectors with three coordinates) has vectors across rows.

_MIN_CELLS: Final = 16
_MIN_MASKED_BYTES: Final = 4
"""The least bytes of an item for which processors have masked vector loads."""
_MAX_REDUCTION_NODES: Final = 256
"""The most nodes times vectors of a row; half as many for reductions that are exact in any order, which are as fast in a loop."""
_MAX_COLUMNS: Final = 5
_MAX_COMPLEX_COLUMNS: Final = 4
_MIN_ROWS: Final = 64
_MAX_MAP_NODES: Final = 160
"""The most nodes times vectors of a group of rows."""


def with_short_rows(kernel: Kernel, nest: LoopOrder, registers: int) -> Kernel:
    """The kernel specialized for this row length, if rows are short and contiguous; else the kernel unchanged."""
    if len(nest.sizes) < 2:
        return kernel
    used = kernel.body.used
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
    vectors = -(-length * max(kind_of(kernel.body.nodes[index]).bytes for index in used) // (2 * registers))
    in_order = any(is_ordered(r.reduction or "", r.kind) for r in kernel.body.results)
    most = _MAX_REDUCTION_NODES if in_order else _MAX_REDUCTION_NODES // 2
    return replace(kernel, length=length) if vectors * len(used) <= most else kernel


def _short_map(kernel: Kernel, nest: LoopOrder, used: frozenset[int]) -> Kernel:
    rows, length = nest.sizes[-2:]
    kinds = [operand.kind for operand in kernel.operands] + [result.kind for result in kernel.body.results]
    is_complex = any(kind.is_complex for kind in kinds)
    if not 2 <= length <= (_MAX_COMPLEX_COLUMNS if is_complex else _MAX_COLUMNS) or rows < _MIN_ROWS:
        return kernel
    for operand, strides in zip(kernel.operands, nest.strides, strict=True):
        if operand.moves[-1] and operand.moves[-2] and strides[-2:] != (length * operand.kind.bytes, operand.kind.bytes):
            return kernel
    fetches = FETCH in kernel.body.applied
    counts = any(axis >= kernel.axes - 2 for axis in kernel.body.coordinates)
    if fetches or counts or length * len(used) > _MAX_MAP_NODES:
        return kernel
    return replace(kernel, form=Form.UNROLLED_INNER, length=length)
