"""The representation of sizes: variables, nonlinear atoms, sums of monomials in canonical order, numeric bounds, text.

`sizes.size` builds and simplifies the nonlinear atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import reduce
from operator import add
from typing import ClassVar, Final, TypeAlias

from ...lang.support.records import dataclass, field

# ---------------------------------------------------------------------------------------------------- terms

class SizeOrigin(Enum):
    INPUT = "an input's header"
    PARAM = "a param"
    RUNTIME = "known when run"
    LOOP_INDEX = "the number of the iteration of a loop"
    RIGID = "a signature"


@dataclass(frozen=True, slots=True)
class SizeVariable:
    """An unknown natural number, identified by `id` alone.  `cap` is the upper bound of a runtime size, `minimum` a lower
    bound."""

    name: str = field(compare=False)
    id: int
    origin: SizeOrigin = field(compare=False)
    cap: Size | None = field(default=None, compare=False)
    minimum: int = field(default=0, compare=False)

    def __hash__(self) -> int:
        return self.id

    @property
    def key(self) -> str:
        return f"{self.id:06}{self.name}"

    @property
    def is_runtime(self) -> bool:
        """Is it known only at run time: defined by an op, or the index of a loop?"""
        return self.origin is SizeOrigin.RUNTIME or self.origin is SizeOrigin.LOOP_INDEX

    def __str__(self) -> str:
        return self.name


class AtomKind(Enum):
    QUOTIENT = "÷"  # floor(first ÷ second)
    REMAINDER = "|"  # first modulo second (written second|first)
    MAXIMUM = "⌈"
    MINIMUM = "⌊"


class NonlinearAtom:
    """A non-polynomial operation on normalised sizes, an atom of polynomials; built only by `sizes.size`."""

    __slots__ = ("args", "key", "kind")

    def __init__(self, kind: AtomKind, args: tuple[Size, ...]) -> None:
        self.kind = kind
        self.args = args
        self.key = f"{kind.value}({';'.join(a.key for a in args)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NonlinearAtom) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


MOST_CHARACTERS = 20_000  # of a formula's key
MOST_POWER = 64

Atom: TypeAlias = SizeVariable | NonlinearAtom
Monomial: TypeAlias = tuple[tuple[Atom, int], ...]
Interval: TypeAlias = tuple[int | None, int | None]


class Size:
    """A normalised integer expression: monomials with non-zero coefficients in canonical order, the constant last."""

    __slots__ = ("_bounds", "_limits", "key", "terms")

    build: ClassVar[Callable[[AtomKind, tuple[Size, ...]], Size]]
    write: ClassVar[Callable[[Size], str]]
    """The simplification of atoms and the text of sizes; `sizes.size` sets both."""

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        monomials = [(m, c) for m, c in terms.items() if c]
        monomials.sort(key=_term_order)
        self.terms: tuple[tuple[Monomial, int], ...] = tuple(monomials)
        self.key: str = "+".join(f"{c}*{_monomial_key(m)}" for m, c in self.terms)
        self._bounds: Interval | None = None
        self._limits: dict[int, Size] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Size({self.key})"

    @property
    def constant(self) -> int | None:
        """The value of a size without atoms; else None."""
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
        """Every variable that occurs, also inside nonlinear atoms."""
        variables: set[SizeVariable] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                if isinstance(atom, SizeVariable):
                    variables.add(atom)
                else:
                    for arg in atom.args:
                        variables |= arg.variables()
        return frozenset(variables)

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
                    factor = Size.build(atom.kind, tuple(a.substitute(sizes) for a in atom.args))
                for _ in range(power):
                    product = product * factor
            total = total + product
        return total

    def bounds(self) -> Interval:
        """Inclusive numeric bounds by interval arithmetic; None is unbounded."""
        if self._bounds is None:
            self._bounds = self._interval()
        return self._bounds

    def limit(self, direction: int, find: Callable[[Size, int], Size]) -> Size:
        """The symbolic bound from above (direction 1) or below (-1), `find(self, direction)`, cached."""
        if self._limits is None:
            self._limits = {}
        if direction not in self._limits:
            self._limits[direction] = find(self, direction)
        return self._limits[direction]

    def _interval(self) -> Interval:
        total: Interval = (0, 0)
        for monomial, coefficient in self.terms:
            interval: Interval = (1, 1)
            for atom, power in monomial:
                for _ in range(power if power < 4 else 1):
                    interval = INTERVALS["mul"](interval, atom_bounds(atom))
                if power >= 4:
                    interval = (0, None) if (interval[0] or 0) >= 0 and interval[0] is not None else (None, None)
            total = INTERVALS["add"](total, INTERVALS["mul"](interval, (coefficient, coefficient)))
        return total

    def is_simple(self) -> bool:
        """Is the formula within the checker's limits on length and powers?"""
        return len(self.key) <= MOST_CHARACTERS and all(p <= MOST_POWER for m, _ in self.terms for _, p in m)

    def is_runtime(self) -> bool:
        """Does a runtime size occur in it?"""
        return any(v.is_runtime for v in self.variables())

    def __str__(self) -> str:
        return Size.write(self)


def number(value: int) -> Size:
    return Size({(): value})


def variable(which: SizeVariable) -> Size:
    return Size({((which, 1),): 1})


def as_size(value: Size | int) -> Size:
    return number(value) if isinstance(value, int) else value


def product(sizes: Iterable[Size]) -> Size:
    """The product of sizes; 1 if there are none."""
    total = ONE
    for size in sizes:
        total = total * size
    return total


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


ZERO = number(0)
ONE = number(1)


def _evaluate(atom: NonlinearAtom, sizes: Mapping[SizeVariable, int]) -> int:
    values = [a.evaluate(sizes) for a in atom.args]
    match atom.kind:
        case AtomKind.QUOTIENT:
            return values[0] // values[1] if values[1] else 0
        case AtomKind.REMAINDER:
            return values[0] % values[1] if values[1] else values[0]
        case AtomKind.MAXIMUM:
            return max(values)
        case AtomKind.MINIMUM:
            return min(values)


# ------------------------------------------------------------------------------------- bounds


def atom_bounds(atom: Atom) -> Interval:
    """Inclusive numeric bounds of one atom."""
    if isinstance(atom, SizeVariable):
        return atom.minimum, atom.cap.bounds()[1] if atom.cap is not None else None
    intervals = [a.bounds() for a in atom.args]
    match atom.kind:
        case AtomKind.MAXIMUM:
            return reduce(INTERVALS["max"], intervals)
        case AtomKind.MINIMUM:
            return reduce(INTERVALS["min"], intervals)
        case AtomKind.QUOTIENT:
            (low, high), divisor = intervals[0], atom.args[1].constant
            if divisor is not None and divisor > 0:
                return None if low is None else low // divisor, None if high is None else high // divisor
            if low is not None and low >= 0 and (intervals[1][0] or 0) >= 0:
                return 0, high
            return None, None
        case AtomKind.REMAINDER:
            return INTERVALS["residue"](intervals[1], intervals[0])


# ------------------------------------------------------------------------------------- intervals
#
# The transfer functions of integer arithmetic on intervals, by the names of the scalar functions.


def _of_both(function: Callable[[int, int], int], x: int | None, y: int | None) -> int | None:
    return None if x is None or y is None else function(x, y)


def _of_known(function: Callable[..., int], *ends: int | None) -> int | None:
    known = [end for end in ends if end is not None]
    return function(known) if known else None


def hull(a: Interval, b: Interval) -> Interval:
    """The least interval that contains both."""
    return _of_both(min, a[0], b[0]), _of_both(max, a[1], b[1])


def _negated(a: Interval, _: Interval = (None, None)) -> Interval:
    return None if a[1] is None else -a[1], None if a[0] is None else -a[0]


def _total(a: Interval, b: Interval) -> Interval:
    return _of_both(add, a[0], b[0]), _of_both(add, a[1], b[1])


def _residue(divisor: Interval, dividend: Interval) -> Interval:
    low, high = divisor
    if low is not None and low >= 1:
        return 0, None if high is None else high - 1
    return (0, dividend[1]) if low is not None and low >= 0 and dividend[0] is not None and dividend[0] >= 0 else (None, None)


def _interval_product(a: Interval, b: Interval) -> Interval:
    if None not in a and None not in b:
        corners = [x * y for x in a for y in b if x is not None and y is not None]
        return min(corners), max(corners)
    if a == (0, 0) or b == (0, 0):
        return 0, 0
    a_sign, b_sign = _sign(a), _sign(b)
    if a_sign < 0:
        return _negated(_interval_product(_negated(a), b))
    if b_sign < 0:
        return _interval_product(b, a)
    if a_sign > 0 and b_sign > 0:  # both not negative
        low = (a[0] or 0) * (b[0] or 0)
        high = None if a[1] is None or b[1] is None else a[1] * b[1]
        return low, high
    return None, None


def _sign(interval: Interval) -> int:
    """1 if never negative, -1 if never positive, else 0."""
    if interval[0] is not None and interval[0] >= 0:
        return 1
    return -1 if interval[1] is not None and interval[1] <= 0 else 0


INTERVALS: Final[Mapping[str, Callable[..., Interval]]] = {
    "neg": _negated,
    "add": _total,
    "sub": lambda a, b: _total(a, _negated(b)),
    "mul": _interval_product,
    "min": lambda a, b: (_of_both(min, a[0], b[0]), _of_known(min, a[1], b[1])),
    "max": lambda a, b: (_of_known(max, a[0], b[0]), _of_both(max, a[1], b[1])),
    "residue": _residue,
}


# ---------------------------------------------------------------------------------------------------- text
#
# Sizes in the syntax of types (`str` of a `Size`), and as formulas of costs.
#
# `show` writes what the parser reads back: sizes are read from the right, so compound operands are in parentheses.

_MOST_CHARACTERS = 100


def show_short(size: Size) -> str:
    """A size for a message; a long one is cut."""
    return _cut(show(size))


def show_short_formula(size: Size) -> str:
    """A formula for a report of costs; a long one is cut."""
    return _cut(show_formula(size))


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"


# --------------------------------------------------------------------------------- as types are written


def show(size: Size) -> str:
    """A size in the syntax of types: `(2×n)+1`, `n÷2`, `0⌈n-1`, `(n+1)-k`."""
    plus = [(m, c) for m, c in size.terms if c > 0]
    minus = [(m, -c) for m, c in size.terms if c < 0]
    if not minus:
        return _sum(plus)
    if not plus and size.constant is not None:
        return f"¯{-size.constant}"
    less = _wrapped(_sum(minus), compound=len(minus) > 1)
    return f"{_wrapped(_sum(plus), compound=len(plus) > 1 or _is_compound(plus))}-{less}"


def operand(size: Size) -> str:
    """A size as the left operand of a function."""
    return _wrapped(show(size), compound=len(size.terms) > 1 or _is_compound(size.terms))


def _sum(terms: Sequence[tuple[Monomial, int]]) -> str:
    if not terms:
        return "0"
    if len(terms) == 1:
        return _product(*terms[0])
    return "+".join(_wrapped(_product(m, c), compound=_is_compound([(m, c)])) for m, c in terms)


def _is_compound(terms: Sequence[tuple[Monomial, int]]) -> bool:
    """Is a lone term more than a name or a number?"""
    return any(m and (c != 1 or len(m) > 1 or m[0][1] > 1 or not isinstance(m[0][0], SizeVariable)) for m, c in terms)


def _product(monomial: Monomial, coefficient: int) -> str:
    factors = [a for a, power in monomial for _ in range(power)]
    alone = len(factors) == 1 and coefficient == 1
    written = [_atom(a, alone=alone) for a in factors]
    if coefficient != 1 or not written:
        written.insert(0, str(coefficient))
    return "×".join(written)


def _atom(atom: Atom, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    args = atom.args
    match atom.kind:
        case AtomKind.QUOTIENT:
            text = f"{operand(args[0])}÷{operand(args[1])}"
        case AtomKind.REMAINDER:
            text = f"{operand(args[1])}|{operand(args[0])}"
        case _:
            text = atom.kind.value.join([*(operand(a) for a in args[:-1]), show(args[-1])])
    return text if alone else f"({text})"


def _wrapped(text: str, *, compound: bool) -> str:
    return f"({text})" if compound else text


# ------------------------------------------------------------------------------------- as formulas


def show_formula(size: Size) -> str:
    """A size as a formula in which products bind tighter than sums: `2·n+1`, `4·n·n`."""
    if not size.terms:
        return "0"
    parts: list[str] = []
    terms = [t for t in size.terms if t[0] and t[1] > 0] + [t for t in size.terms if t[0] and t[1] < 0]
    number_at = len(terms) if terms and terms[0][1] > 0 else 0  # `n-k+1`, but `1-k`
    terms[number_at:number_at] = [t for t in size.terms if not t[0]]
    for monomial, coefficient in terms:
        factors = [_factor(a, alone=len(size.terms) == 1 and len(monomial) == 1 and coefficient == 1 and p == 1)
                   for a, p in monomial for _ in range(p)]  # fmt: skip
        magnitude = abs(coefficient)
        if magnitude != 1 or not factors:
            factors.insert(0, str(magnitude))
        parts.append(("-" if coefficient < 0 else "+") + "·".join(factors))
    text = "".join(parts)
    return text[1:] if text[0] == "+" else "¯" + text[1:] if len(parts) == 1 and size.constant is not None else text


def _factor(atom: Atom, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    shown = [show_formula(a) for a in atom.args]
    match atom.kind:
        case AtomKind.QUOTIENT:
            text = f"{_enclosed(shown[0], atom.args[0])}÷{_enclosed(shown[1], atom.args[1])}"
        case AtomKind.REMAINDER:
            text = f"{_enclosed(shown[1], atom.args[1])}|{_enclosed(shown[0], atom.args[0])}"
        case _:
            text = atom.kind.value.join([*(_enclosed(s, a) for s, a in zip(shown[:-1], atom.args[:-1], strict=True)), shown[-1]])
    return text if alone else f"({text})"


def _enclosed(text: str, size: Size) -> str:
    simple = size.constant is not None or (len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1
                                           and isinstance(size.terms[0][0][0][0], SizeVariable))  # fmt: skip
    return text if simple else f"({text})"
