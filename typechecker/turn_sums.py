"""Sums over the turns of a loop: polynomials in its index exactly, what else mentions it by a bound.

A stand-in takes the index's place in formulas of work and reads, which otherwise know no size that only a run finds.

Neighbours: `quantities.grades`, `backend.graph.costs`.
"""

from __future__ import annotations

from .sizes import ZERO, Monomial, Node, Opaque, Size, SizeOrigin, SizeVariable, capacity, quotient, variable

_STAND_INS = 1 << 40  # ids below those of all sizes of programs and of proofs


def stand_in(index: SizeVariable) -> SizeVariable:
    """What stands for an index in formulas."""
    return SizeVariable(index.name, -_STAND_INS - index.id, SizeOrigin.RIGID, index.cap, index.minimum)


def with_stand_ins(size: Size) -> Size:
    """The size with every index as its stand-in."""
    turns = [v for v in size.variables() if v.origin is SizeOrigin.TURN]
    return size.substitute({v: variable(stand_in(v)) for v in turns}) if turns else size


def without_stand_ins(size: Size) -> Size:
    """The size with every index itself."""
    taken = [v for v in size.variables() if v.id <= -_STAND_INS]
    return size.substitute({v: variable(_index(v)) for v in taken}) if taken else size


def _index(name: SizeVariable) -> SizeVariable:
    return SizeVariable(name.name, -_STAND_INS - name.id, SizeOrigin.TURN, name.cap, name.minimum)


def summed(size: Size, index: SizeVariable, trip: Size) -> Size | None:
    """The sum of a size over 0 ≤ i < trip, where its stand-in is i; None if it is no polynomial of degree ≤ 3."""
    name = stand_in(index)
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
    """Of a sum of an inner loop, p(i)÷d where d divides p(i) for every i: the sum of p(i), divided."""
    for atom, power in monomial:
        if not isinstance(atom, Opaque) or atom.node is not Node.QUOTIENT or power != 1:
            continue
        dividend, divisor = atom.args[0], atom.args[1].constant
        rest = Size({tuple((other, times) for other, times in monomial if other != atom): coefficient})
        if divisor is None or not 1 <= divisor <= 24 or dividend.variables() != {name} or name in rest.variables():
            continue
        inner = summed(dividend, index, trip)
        if inner is not None and all(dividend.evaluate({name: i}) % divisor == 0 for i in range(divisor)):
            return rest * quotient(inner, divisor)
    return None


def at_most_summed(size: Size, index: SizeVariable, trip: Size) -> Size:
    """The sum, or as much as the largest turn in each."""
    exact = summed(size, index, trip)
    if exact is not None:
        return exact
    return capacity(size.substitute({stand_in(index): variable(index)})) * trip


def _power_sum(degree: int, n: Size) -> Size:
    """0*degree + 1*degree + … + (n-1)*degree."""
    match degree:
        case 0:
            return n
        case 1:
            return quotient(n * n - n, 2)
        case 2:
            return quotient(n * n * n * 2 - n * n * 3 + n, 6)
        case _:
            return quotient(n * n * n * n - n * n * n * 2 + n * n, 4)
