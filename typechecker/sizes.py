"""Sizes: integer expressions over size variables in a normal form, so that equal-looking means equal.

A `Size` is a sum of monomials with Python-int coefficients over *atoms*: a `SizeVariable` (a natural
number known at load or, for `RUNTIME`, when run) or an opaque node (floor division, remainder, maximum,
minimum) on normalised operands.  Two sizes with one normal form are equal for all values; the
converse needs `typechecker.decide`.  Sizes are immutable and hash by a canonical key.

Sizes may be negative (they also carry singletons such as `¯2`); only those used in shapes are not.
Division by zero never raises: `a÷0` evaluates to 0 and `0|a` to a, and whoever forms a division emits `divisor ≥ 1`.

Neighbours: `obligations` (facts between sizes), `decide` (their verdicts), `types` (shapes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from math import gcd
from typing import TypeAlias


class SizeOrigin(Enum):
    INPUT = "an input's header"
    PARAM = "a param"
    RUNTIME = "known when run"
    RIGID = "a signature"


@dataclass(frozen=True, slots=True)
class SizeVariable:
    """A natural number.  Identity is `id` alone; `cap` bounds a run-time size, `minimum` is what facts in scope guarantee."""

    name: str = field(compare=False)
    id: int
    origin: SizeOrigin = field(compare=False)
    cap: Size | None = field(default=None, compare=False)
    minimum: int = field(default=0, compare=False)

    @property
    def key(self) -> str:
        return f"{self.id:06}{self.name}"

    def __str__(self) -> str:
        return self.name


class Node(Enum):
    QUOTIENT = "÷"  # floor(first ÷ second)
    REMAINDER = "|"  # first modulo second (written second|first)
    MAXIMUM = "⌈"
    MINIMUM = "⌊"


class Opaque:
    """A non-polynomial node on normalised operands, built only by the functions below."""

    __slots__ = ("args", "key", "node")

    def __init__(self, node: Node, args: tuple[Size, ...]) -> None:
        self.node = node
        self.args = args
        self.key = f"{node.value}({';'.join(a.key for a in args)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


Atom: TypeAlias = SizeVariable | Opaque
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]
Interval: TypeAlias = tuple[int | None, int | None]


class Size:
    """A normalised integer expression.  `terms` pairs monomials with non-zero coefficients, constant (empty monomial) last."""

    __slots__ = ("key", "terms")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        kept = [(m, c) for m, c in terms.items() if c]
        kept.sort(key=_term_order)
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(kept)
        self.key: str = "+".join(f"{c}*{_monomial_key(m)}" for m, c in self.terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Size({self})"

    @property
    def constant(self) -> int | None:
        """The number this is, if it mentions no atom."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    def __add__(self, other: Size | int) -> Size:
        terms = dict(self.terms)
        for monomial, coefficient in as_size(other).terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
        return Size(terms)

    def __neg__(self) -> Size:
        return Size({m: -c for m, c in self.terms})

    def __sub__(self, other: Size | int) -> Size:
        return self + (-as_size(other))

    def __mul__(self, other: Size | int) -> Size:
        terms: dict[Monomial, int] = {}
        for m1, c1 in self.terms:
            for m2, c2 in as_size(other).terms:
                product = _times(m1, m2)
                terms[product] = terms.get(product, 0) + c1 * c2
        return Size(terms)

    def variables(self) -> frozenset[SizeVariable]:
        """Every variable that occurs, also inside opaque nodes."""
        found: set[SizeVariable] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if isinstance(atom, SizeVariable):
                    found.add(atom)
                else:
                    for arg in atom.args:
                        found |= arg.variables()
        return frozenset(found)

    def evaluate(self, sizes: Mapping[SizeVariable, int]) -> int:
        """The number for concrete sizes (KeyError for an unbound variable)."""
        total = 0
        for monomial, coefficient in self.terms:
            for atom, power in monomial:
                value = sizes[atom] if isinstance(atom, SizeVariable) else _evaluate(atom, sizes)
                coefficient *= value**power
            total += coefficient
        return total

    def substitute(self, sizes: Mapping[SizeVariable, Size]) -> Size:
        """Replace variables by sizes and normalise again."""
        if not any(v in sizes for v in self.variables()):
            return self
        total = ZERO
        for monomial, coefficient in self.terms:
            product = number(coefficient)
            for atom, power in monomial:
                if isinstance(atom, SizeVariable):
                    factor = sizes.get(atom) or variable(atom)
                else:
                    factor = BUILD[atom.node](*(a.substitute(sizes) for a in atom.args))
                for _ in range(power):
                    product = product * factor
            total = total + product
        return total

    def bounds(self) -> Interval:
        """Inclusive numeric bounds by interval arithmetic; None is unbounded."""
        low: int | None = 0
        high: int | None = 0
        for monomial, coefficient in self.terms:
            interval: Interval = (1, 1)
            for atom, power in monomial:
                for _ in range(power if power < 4 else 1):
                    interval = _interval_product(interval, atom_bounds(atom))
                if power >= 4:
                    interval = (0, None) if (interval[0] or 0) >= 0 and interval[0] is not None else (None, None)
            term = _interval_product(interval, (coefficient, coefficient))
            low = None if low is None or term[0] is None else low + term[0]
            high = None if high is None or term[1] is None else high + term[1]
        return low, high

    def is_runtime(self) -> bool:
        """Does it mention a size known only when run?"""
        return any(v.origin is SizeOrigin.RUNTIME for v in self.variables())

    def __str__(self) -> str:
        from .size_text import show

        return show(self)


def number(value: int) -> Size:
    return Size({(): value})


def variable(which: SizeVariable) -> Size:
    return Size({((which, 1),): 1})


def as_size(value: Size | int) -> Size:
    return number(value) if isinstance(value, int) else value


def product(sizes: Iterable[Size]) -> Size:
    """Π sizes; 1 of none."""
    total = ONE
    for size in sizes:
        total = total * size
    return total


# ------------------------------------------------------------------------------ opaque nodes


def quotient(a: Size | int, b: Size | int) -> Size:
    """⌊a÷b⌋; whoever forms it also requires b ≥ 1."""
    a, b = as_size(a), as_size(b)
    divisor = b.constant
    if divisor == 0 or a == ZERO:
        return ZERO
    if divisor is not None and divisor > 0:
        return _quotient_by_number(a, divisor)
    if a.constant is not None and divisor is not None:
        return number(a.constant // divisor)
    whole, rest = _divide(a, b)
    if rest == ZERO:
        return whole
    return whole + _atom(Opaque(Node.QUOTIENT, (rest, b)))


def _quotient_by_number(a: Size, divisor: int) -> Size:
    whole = Size({m: c // divisor for m, c in a.terms if c % divisor == 0})
    rest = Size({m: c for m, c in a.terms if c % divisor})
    value = rest.constant
    if value is not None:
        return whole + value // divisor
    shift = dict(rest.terms).get((), 0)
    common = divisor
    for monomial, coefficient in rest.terms:
        if monomial:
            common = gcd(common, coefficient)
    if common > 1:  # ⌊(g·r+c)÷(g·d)⌋ = ⌊(r+⌊c÷g⌋)÷d⌋
        reduced = {m: c // common for m, c in rest.terms if m}
        reduced[()] = shift // common
        return whole + _quotient_by_number(Size(reduced), divisor // common)
    head = rest - shift
    if len(head.terms) == 1 and head.terms[0][1] == 1 and len(head.terms[0][0]) == 1:
        atom, power = head.terms[0][0][0]
        if power == 1 and isinstance(atom, Opaque) and atom.node is Node.QUOTIENT:
            inner = atom.args[1].constant
            if inner is not None and inner > 0:  # ⌊(⌊x÷i⌋+j)÷d⌋ = ⌊(x+j·i)÷(i·d)⌋
                return whole + _quotient_by_number(atom.args[0] + shift * inner, inner * divisor)
    low, high = rest.bounds()
    if low is not None and high is not None and low // divisor == high // divisor:
        return whole + low // divisor
    return whole + _atom(Opaque(Node.QUOTIENT, (rest, number(divisor))))


def remainder(a: Size | int, b: Size | int) -> Size:
    """a modulo b with the sign of b (APL's `b|a`); a where b = 0."""
    a, b = as_size(a), as_size(b)
    divisor = b.constant
    if divisor == 0:
        return a
    if divisor is not None:
        rest = Size({m: c % divisor for m, c in a.terms})
        value = rest.constant
        if value is not None:
            return number(value % divisor)
        low, high = rest.bounds()
        if divisor > 0 and low is not None and high is not None and low >= 0 and high < divisor:
            return rest
    else:
        rest = _divide(a, b)[1]
        if rest == ZERO:
            return ZERO
    if len(rest.terms) == 1 and rest.terms[0][1] == 1 and len(rest.terms[0][0]) == 1:
        atom, power = rest.terms[0][0][0]
        if power == 1 and isinstance(atom, Opaque) and atom.node is Node.REMAINDER and atom.args[1] == b:
            return rest
    return _atom(Opaque(Node.REMAINDER, (rest, b)))


def maximum(*args: Size | int) -> Size:
    return _extreme(Node.MAXIMUM, args)


def minimum(*args: Size | int) -> Size:
    return _extreme(Node.MINIMUM, args)


def monus(a: Size | int, b: Size | int) -> Size:
    """0⌈a-b: equal to a-b when a ≥ b is evident."""
    return maximum(ZERO, as_size(a) - b)


def _extreme(node: Node, given: Iterable[Size | int]) -> Size:
    dual = Node.MINIMUM if node is Node.MAXIMUM else Node.MAXIMUM
    items: dict[str, Size] = {}
    for item in given:
        for flat in _flatten(node, as_size(item)):
            items[flat.key] = flat
    args = list(items.values())
    kept: list[Size] = []
    for i, candidate in enumerate(args):
        others = kept + args[i + 1 :]
        absorbing = _node_args(dual, candidate)  # a⌈a⌊b is a
        if not any(o in absorbing for o in others) and not any(_dominates(node, o, candidate) for o in others):
            kept.append(candidate)
    if len(kept) == 1:
        return kept[0]
    kept.sort(key=lambda s: (s.constant is None, s.key))
    return _atom(Opaque(node, tuple(kept)))


def _flatten(node: Node, size: Size) -> list[Size]:
    """The alternatives of `max(…)+rest` (coefficient 1) as separate items."""
    for monomial, coefficient in size.terms:
        if coefficient == 1 and len(monomial) == 1:
            atom, power = monomial[0]
            if power == 1 and isinstance(atom, Opaque) and atom.node is node:
                rest = size - _atom(atom)
                return [flat for arg in atom.args for flat in _flatten(node, arg + rest)]
    return [size]


def _node_args(node: Node, size: Size) -> tuple[Size, ...]:
    """The operands, when the size is exactly one such node."""
    if len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
        atom, power = size.terms[0][0][0]
        if power == 1 and isinstance(atom, Opaque) and atom.node is node:
            return atom.args
    return ()


def _dominates(node: Node, winner: Size, loser: Size) -> bool:
    difference = winner - loser if node is Node.MAXIMUM else loser - winner
    low = difference.bounds()[0]
    return low is not None and low >= 0


def _atom(atom: Atom) -> Size:
    return Size({((atom, 1),): 1})


BUILD: dict[Node, Callable[..., Size]] = {
    Node.QUOTIENT: quotient, Node.REMAINDER: remainder, Node.MAXIMUM: maximum, Node.MINIMUM: minimum,
}  # fmt: skip


def _evaluate(atom: Opaque, sizes: Mapping[SizeVariable, int]) -> int:
    values = [a.evaluate(sizes) for a in atom.args]
    match atom.node:
        case Node.QUOTIENT:
            return values[0] // values[1] if values[1] else 0
        case Node.REMAINDER:
            return values[0] % values[1] if values[1] else values[0]
        case Node.MAXIMUM:
            return max(values)
        case Node.MINIMUM:
            return min(values)


# ------------------------------------------------------------------------ normal form details


def _monomial_key(monomial: Monomial) -> str:
    return "·".join(f"{atom.key}^{power}" for atom, power in monomial)


def _term_order(term: tuple[Monomial, int]) -> tuple[int, bool, str]:
    monomial, coefficient = term
    degree = sum(power for _, power in monomial)
    return (-degree, degree == 0, _monomial_key(monomial)) if coefficient else (1, True, "")


def _times(a: Monomial, b: Monomial) -> Monomial:
    if not a or not b:
        return a or b
    powers: dict[Atom, int] = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].key))


def _divide(a: Size, b: Size) -> tuple[Size, Size]:
    """Polynomial division a = b·q + r by b's leading term; exact quotients are found, else (0, a) is allowed."""
    leading, lead = b.terms[0]
    whole, rest = ZERO, a
    for _ in range(24):
        step = next((s for m, c in rest.terms if (s := _term_quotient(m, c, leading, lead)) is not None), None)
        if step is None:
            break
        whole, rest = whole + step, rest - step * b
    if rest == ZERO or len(b.terms) == 1:
        return whole, rest
    return ZERO, a


def _term_quotient(m: Monomial, c: int, by: Monomial, lead: int) -> Size | None:
    if c % lead:
        return None
    powers = dict(m)
    for atom, power in by:
        left = powers.get(atom, 0) - power
        if left < 0:
            return None
        powers[atom] = left
    return Size({tuple((a, p) for a, p in powers.items() if p): c // lead})


ZERO = number(0)
ONE = number(1)


# ------------------------------------------------------------------------------------- bounds


def atom_bounds(atom: Atom) -> Interval:
    """Inclusive numeric bounds of one atom."""
    if isinstance(atom, SizeVariable):
        return atom.minimum, atom.cap.bounds()[1] if atom.cap is not None else None
    intervals = [a.bounds() for a in atom.args]
    lows = [low for low, _ in intervals if low is not None]
    highs = [high for _, high in intervals if high is not None]
    match atom.node:
        case Node.MAXIMUM:
            return max(lows, default=None), max(highs) if len(highs) == len(intervals) else None
        case Node.MINIMUM:
            return min(lows) if len(lows) == len(intervals) else None, min(highs, default=None)
        case Node.QUOTIENT:
            (low, high), divisor = intervals[0], atom.args[1].constant
            if divisor is not None and divisor > 0:
                return None if low is None else low // divisor, None if high is None else high // divisor
            if low is not None and low >= 0 and (intervals[1][0] or 0) >= 0:
                return 0, high
            return None, None
        case Node.REMAINDER:
            low, high = intervals[1]
            if low is not None and low >= 1:
                return 0, None if high is None else high - 1
            if low is not None and low >= 0 and intervals[0][0] is not None and intervals[0][0] >= 0:
                return 0, intervals[0][1]
            return None, None


def _interval_product(a: Interval, b: Interval) -> Interval:
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        return min(corners), max(corners)
    if a == (0, 0) or b == (0, 0):
        return 0, 0
    a_sign, b_sign = _sign(a), _sign(b)
    if a_sign < 0:
        low, high = _interval_product((None if a[1] is None else -a[1], None if a[0] is None else -a[0]), b)
        return None if high is None else -high, None if low is None else -low
    if b_sign < 0:
        return _interval_product(b, a)
    if a_sign > 0 and b_sign > 0:  # both not negative
        low = (a[0] or 0) * (b[0] or 0)
        high = None if a[1] is None or b[1] is None else a[1] * b[1]
        return low, high
    return None, None


def _sign(interval: Interval) -> int:
    """1: never negative, -1: never positive, 0: either."""
    if interval[0] is not None and interval[0] >= 0:
        return 1
    return -1 if interval[1] is not None and interval[1] <= 0 else 0


def capacity(size: Size) -> Size:
    """The least such bound that monotonicity gives: run-time sizes at their caps where that makes the size larger."""
    return _limit(size, 1)


def _limit(size: Size, direction: int) -> Size:
    """A bound from above (direction 1) or below (-1) without run-time sizes."""
    if not size.is_runtime():
        return size
    total = ZERO
    for monomial, coefficient in size.terms:
        way = direction if coefficient > 0 else -direction
        term = number(coefficient)
        for atom, power in monomial:
            factor = _limit_atom(atom, way)
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def _limit_atom(atom: Atom, way: int) -> Size:
    if isinstance(atom, SizeVariable):
        if atom.origin is not SizeOrigin.RUNTIME:
            return variable(atom)
        return _limit(atom.cap, 1) if way > 0 and atom.cap is not None else number(atom.minimum)
    if atom.node is Node.REMAINDER:
        return maximum(_limit(atom.args[1], 1) - 1, _limit(atom.args[0], 1)) if way > 0 else ZERO
    if atom.node is Node.QUOTIENT:
        return quotient(_limit(atom.args[0], way), maximum(1, _limit(atom.args[1], -way)))
    return BUILD[atom.node](*(_limit(a, way) for a in atom.args))
