"""Capacities: an upper bound of a size that mentions no run-time size, which is what memory is reserved for.

Neighbours: `sizes`; used by the builder for caps of new run-time sizes and by the back ends for buffers.
"""

from __future__ import annotations

from .sizes import BUILD, ZERO, Atom, Node, Size, SizeOrigin, SizeVariable, maximum, number, quotient, variable


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
