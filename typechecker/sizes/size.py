"""Sizes: integer expressions over size variables in a normal form.

A `Size` is a sum of monomials with integer coefficients over *atoms*: size variables (natural numbers known at load or at run
time) and nonlinear atoms (floor division, remainder, maximum, minimum of sizes).  Two sizes with one normal form are equal for
all values; the converse needs `typechecker.proof.prover`.  Sizes are immutable and hash by a canonical key.

Sizes may be negative (constants such as `¯2` are sizes too), except in shapes.  Division by zero does not raise: `a÷0` evaluates
to 0 and `0|a` to a; the code that forms a division emits the obligation `divisor ≥ 1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import gcd

from .polynomials import (
    ONE,
    ZERO,
    Atom,
    AtomKind,
    Interval,
    Monomial,
    NonlinearAtom,
    Size,
    SizeOrigin,
    SizeVariable,
    as_size,
    number,
    product,
    show,
    variable,
)

# ---------------------------------------------------------------------------------------------------- sizes

__all__ = [
    "ONE",
    "ZERO",
    "Atom",
    "AtomKind",
    "Interval",
    "Monomial",
    "NonlinearAtom",
    "Size",
    "SizeOrigin",
    "SizeVariable",
    "as_size",
    "lower_bound",
    "maximum",
    "minimum",
    "number",
    "product",
    "quotient",
    "rebuild",
    "remainder",
    "truncated_subtract",
    "upper_bound",
    "variable",
]  # fmt: skip

# ------------------------------------------------------------------------------ nonlinear atoms


def quotient(a: Size | int, b: Size | int) -> Size:
    """⌊a÷b⌋; the caller emits the obligation b ≥ 1."""
    a, b = as_size(a), as_size(b)
    divisor = b.constant
    if divisor == 0 or a == ZERO:
        return ZERO
    if divisor is not None and divisor > 0:
        return _quotient_by_number(a, divisor)
    if a.constant is not None and divisor is not None:
        return number(a.constant // divisor)
    exact, rest = _divide(a, b)
    if rest == ZERO:
        return exact
    return exact + _atom(NonlinearAtom(AtomKind.QUOTIENT, (rest, b)))


def _quotient_by_number(a: Size, divisor: int) -> Size:
    exact = Size({m: c // divisor for m, c in a.terms if c % divisor == 0})
    rest = Size({m: c for m, c in a.terms if c % divisor})
    value = rest.constant
    if value is not None:
        return exact + value // divisor
    shift = dict(rest.terms).get((), 0)
    common = divisor
    for monomial, coefficient in rest.terms:
        if monomial:
            common = gcd(common, coefficient)
    if common > 1:  # ⌊(g·r+c)÷(g·d)⌋ = ⌊(r+⌊c÷g⌋)÷d⌋
        reduced = {m: c // common for m, c in rest.terms if m}
        reduced[()] = shift // common
        return exact + _quotient_by_number(Size(reduced), divisor // common)
    head = rest - shift
    if len(head.terms) == 1 and head.terms[0][1] == 1 and len(head.terms[0][0]) == 1:
        atom, power = head.terms[0][0][0]
        if power == 1 and isinstance(atom, NonlinearAtom) and atom.kind is AtomKind.QUOTIENT:
            inner = atom.args[1].constant
            if inner is not None and inner > 0:  # ⌊(⌊x÷i⌋+j)÷d⌋ = ⌊(x+j·i)÷(i·d)⌋
                return exact + _quotient_by_number(atom.args[0] + shift * inner, inner * divisor)
    low, high = rest.bounds()
    if low is not None and high is not None and low // divisor == high // divisor:
        return exact + low // divisor
    return exact + _atom(NonlinearAtom(AtomKind.QUOTIENT, (rest, number(divisor))))


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
        if power == 1 and isinstance(atom, NonlinearAtom) and atom.kind is AtomKind.REMAINDER and atom.args[1] == b:
            return rest
    return _atom(NonlinearAtom(AtomKind.REMAINDER, (rest, b)))


def maximum(*args: Size | int) -> Size:
    return _extreme(AtomKind.MAXIMUM, args)


def minimum(*args: Size | int) -> Size:
    return _extreme(AtomKind.MINIMUM, args)


def truncated_subtract(a: Size | int, b: Size | int) -> Size:
    """0⌈a-b (monus), which is a-b if a ≥ b is evident."""
    return maximum(ZERO, as_size(a) - b)


def _extreme(kind: AtomKind, operands: Iterable[Size | int]) -> Size:
    dual = AtomKind.MINIMUM if kind is AtomKind.MAXIMUM else AtomKind.MAXIMUM
    items: dict[str, Size] = {}
    for item in operands:
        for flat in _flatten(kind, as_size(item)):
            items[flat.key] = flat
    args = list(items.values())
    candidates: list[Size] = []
    for i, candidate in enumerate(args):
        others = candidates + args[i + 1 :]
        absorbing = _atom_operands(dual, candidate)  # a⌈a⌊b is a
        if not any(o in absorbing for o in others) and not any(_dominates(kind, o, candidate) for o in others):
            candidates.append(candidate)
    if len(candidates) == 1:
        return candidates[0]
    candidates.sort(key=lambda s: (s.constant is None, s.key))
    return _atom(NonlinearAtom(kind, tuple(candidates)))


def _flatten(kind: AtomKind, size: Size) -> list[Size]:
    """The operands of an extremum in `max(a, b)+c`, each plus the rest: a+c, b+c."""
    for monomial, coefficient in size.terms:
        if coefficient == 1 and len(monomial) == 1:
            atom, power = monomial[0]
            if power == 1 and isinstance(atom, NonlinearAtom) and atom.kind is kind:
                rest = size - _atom(atom)
                return [flat for arg in atom.args for flat in _flatten(kind, arg + rest)]
    return [size]


def _atom_operands(kind: AtomKind, size: Size) -> tuple[Size, ...]:
    """The operands of a size that is exactly one atom of this kind; else none."""
    if len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
        atom, power = size.terms[0][0][0]
        if power == 1 and isinstance(atom, NonlinearAtom) and atom.kind is kind:
            return atom.args
    return ()


def _dominates(kind: AtomKind, retained: Size, dropped: Size) -> bool:
    difference = retained - dropped if kind is AtomKind.MAXIMUM else dropped - retained
    low = difference.bounds()[0]
    return low is not None and low >= 0


def _atom(atom: Atom) -> Size:
    return Size({((atom, 1),): 1})


BUILD: dict[AtomKind, Callable[..., Size]] = {
    AtomKind.QUOTIENT: quotient, AtomKind.REMAINDER: remainder, AtomKind.MAXIMUM: maximum, AtomKind.MINIMUM: minimum,
}  # fmt: skip


def rebuild(kind: AtomKind, args: tuple[Size, ...]) -> Size:
    """The simplified size of an atom with new operands."""
    return BUILD[kind](*args)


Size.build, Size.write = rebuild, show


def _divide(a: Size, b: Size) -> tuple[Size, Size]:
    """(q, r) of the polynomial division a = b·q + r by b's leading term; (0, a) if it is not exact."""
    leading, lead = b.terms[0]
    exact, rest = ZERO, a
    for _ in range(24):
        step = next((s for m, c in rest.terms if (s := _term_quotient(m, c, leading, lead)) is not None), None)
        if step is None:
            break
        exact, rest = exact + step, rest - step * b
    if rest == ZERO or len(b.terms) == 1:
        return exact, rest
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


# --------------------------------------------------------------------------------- symbolic bounds


def upper_bound(size: Size) -> Size:
    """An upper bound without runtime sizes, by monotonicity: each is replaced by its cap or its minimum."""
    return _limit(size, 1)


def lower_bound(size: Size) -> Size:
    """A lower bound without runtime sizes, by monotonicity: each is replaced by its minimum or its cap."""
    return _limit(size, -1)


def _limit(size: Size, direction: int) -> Size:
    """A bound from above (direction 1) or below (-1) without runtime sizes."""
    return size.limit(direction, _limit_terms) if size.is_runtime() else size


def _limit_terms(size: Size, direction: int) -> Size:
    total = ZERO
    for monomial, coefficient in size.terms:
        side = direction if coefficient > 0 else -direction
        term = number(coefficient)
        for atom, power in monomial:
            factor = _limit_atom(atom, side)
            for _ in range(power):
                term = term * factor
        total = total + term
    return total


def _limit_atom(atom: Atom, side: int) -> Size:
    if isinstance(atom, SizeVariable):
        if not atom.is_runtime:
            return variable(atom)
        return _limit(atom.cap, 1) if side > 0 and atom.cap is not None else number(atom.minimum)
    if atom.kind is AtomKind.REMAINDER:
        divisor = atom.args[1].constant
        if divisor is not None and divisor > 0:
            return number(divisor - 1) if side > 0 else ZERO
        return maximum(_limit(atom.args[1], 1) - 1, _limit(atom.args[0], 1)) if side > 0 else ZERO
    if atom.kind is AtomKind.QUOTIENT:
        return quotient(_limit(atom.args[0], side), maximum(1, _limit(atom.args[1], -side)))
    return BUILD[atom.kind](*(_limit(a, side) for a in atom.args))


# ------------------------------------------------------------------------------------- machine integers


def surely_fits_i64(size: Size) -> bool:
    """Does the value fit i64 for all sizes?  True of lengths and small sums of them, and of a `param`; products may wrap."""
    top = size.bounds()[1]
    if top is not None:
        return top < 1 << 63
    positive = [(_without_multiples(monomial), coefficient) for monomial, coefficient in size.terms if coefficient > 0]
    if any(sum(power for _, power in monomial) > 1 or coefficient > 1 << 16 for monomial, coefficient in positive if monomial):
        return False
    atoms = [atom for monomial, _ in positive for atom, _ in monomial]
    alone = len(positive) == 1 and positive[0][1] == 1
    return all(_atom_fits_i64(atom, alone) for atom in atoms)


def _without_multiples(monomial: Monomial) -> Monomial:
    """The monomial without d in (a÷d)×d, which is at most a."""
    quotients = [q for q, power in monomial if isinstance(q, NonlinearAtom) and q.kind is AtomKind.QUOTIENT and power == 1]
    divisors = [variable(d) for d, power in monomial if isinstance(d, SizeVariable) and power == 1]
    if len(quotients) == 1 and len(monomial) == 2 and quotients[0].args[1] in divisors:
        return ((quotients[0], 1),)
    return monomial


def _atom_fits_i64(atom: Atom, alone: bool) -> bool:
    if isinstance(atom, SizeVariable):
        if atom.origin is SizeOrigin.PARAM:
            return alone
        return atom.cap is None or surely_fits_i64(atom.cap)
    if not alone:
        return False
    held = [surely_fits_i64(arg) for arg in atom.args]
    match atom.kind:
        case AtomKind.MAXIMUM:
            return all(held)
        case AtomKind.QUOTIENT:
            return held[0]
        case _:
            return any(held)


# ---------------------------------------------------------------------------------------------------- sums over iterations
#
# Sums of sizes over the iterations of a loop: exact for polynomials in its index, else an upper bound.
#
# Cost formulas may not contain runtime sizes, so a placeholder variable stands for the loop index until it is summed out.

_PLACEHOLDER_IDS = 1 << 40  # the ids of placeholders are below -2^40, apart from those of all other size variables


def placeholder(index: SizeVariable) -> SizeVariable:
    """The placeholder of a loop index in formulas."""
    return SizeVariable(index.name, -_PLACEHOLDER_IDS - index.id, SizeOrigin.RIGID, index.cap, index.minimum)


def with_placeholders(size: Size) -> Size:
    """The size with every loop index replaced by its placeholder."""
    indices = [v for v in size.variables() if v.origin is SizeOrigin.LOOP_INDEX]
    return size.substitute({v: variable(placeholder(v)) for v in indices}) if indices else size


def without_placeholders(size: Size) -> Size:
    """The size with every placeholder replaced by its loop index."""
    placeholders = [v for v in size.variables() if v.id <= -_PLACEHOLDER_IDS]
    return size.substitute({v: variable(_index(v)) for v in placeholders}) if placeholders else size


def _index(name: SizeVariable) -> SizeVariable:
    return SizeVariable(name.name, -_PLACEHOLDER_IDS - name.id, SizeOrigin.LOOP_INDEX, name.cap, name.minimum)


def summed(size: Size, index: SizeVariable, trip: Size) -> Size | None:
    """The sum of a size over 0 ≤ i < trip, where i is the index's placeholder; None if it is no polynomial of degree ≤ 3 in i."""
    name = placeholder(index)
    total = ZERO
    for monomial, coefficient in size.terms:
        degree = sum(power for atom, power in monomial if atom == name)
        rest = Size({tuple((atom, power) for atom, power in monomial if atom != name): coefficient})
        if degree > 3 or name in rest.variables():
            exact = _quotient_sum(monomial, coefficient, name, index, trip)
            if exact is None:
                return None
            total = total + exact
        else:
            total = total + rest * _power_sum(degree, trip)
    return total


def _quotient_sum(monomial: Monomial, coefficient: int, name: SizeVariable, index: SizeVariable, trip: Size) -> Size | None:
    """The sum of a term p(i)÷d, where d divides p(i) for every i (as in sums over an inner loop): the sum of p(i), divided by
    d."""
    for atom, power in monomial:
        if not isinstance(atom, NonlinearAtom) or atom.kind is not AtomKind.QUOTIENT or power != 1:
            continue
        dividend, divisor = atom.args[0], atom.args[1].constant
        rest = Size({tuple((other, times) for other, times in monomial if other != atom): coefficient})
        if divisor is None or not 1 <= divisor <= 24 or dividend.variables() != {name} or name in rest.variables():
            continue
        inner = summed(dividend, index, trip)
        if inner is not None and all(dividend.evaluate({name: i}) % divisor == 0 for i in range(divisor)):
            return rest * quotient(inner, divisor)
    return None


def sum_upper_bound(size: Size, index: SizeVariable, trip: Size) -> Size:
    """The sum over the iterations, or `trip` times the largest summand if the sum has no polynomial."""
    exact = summed(size, index, trip)
    if exact is not None:
        return exact
    return upper_bound(size.substitute({placeholder(index): variable(index)})) * trip


def _power_sum(degree: int, n: Size) -> Size:
    """0^degree + 1^degree + … + (n-1)^degree."""
    match degree:
        case 0:
            return n
        case 1:
            return quotient(n * n - n, 2)
        case 2:
            return quotient(n * n * n * 2 - n * n * 3 + n, 6)
        case _:
            return quotient(n * n * n * n - n * n * n * 2 + n * n, 4)
