"""Small sizes that break a fact, and small sizes that satisfy it: the examples that messages show.

The search keeps every premise and every variable's own bounds and tries sums in increasing order, so that what it finds is
the nicest example there is in its range: numbers from 0, and those next to the constants of the fact.

Neighbours: `obligations`, `sizes`; called by `decide`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product

from ..lang.records import dataclass
from .obligations import SizeFact
from .sizes import Opaque, Size, SizeVariable

_MOST_VARIABLES = 4
_LARGEST = (0, 24, 9, 4, 4)  # by the number of variables
_CONSTANTS = (0, 9, 6, 2, 0)  # how many more numbers, next to constants of the fact


@dataclass(frozen=True, slots=True)
class Found:
    """`satisfiable`: did the search meet sizes that satisfy fact and premises?"""

    counterexample: Mapping[SizeVariable, int] | None = None
    satisfiable: bool = False


def search(fact: SizeFact, premises: Sequence[SizeFact]) -> Found:
    """Both kinds of example; give premises that are connected to the fact."""
    variables = set(reach(fact))
    for premise in premises:
        variables |= reach(premise)
    order = tuple(sorted(variables, key=lambda v: v.id))
    if not order or len(order) > _MOST_VARIABLES:
        return Found()
    broken: Mapping[SizeVariable, int] | None = None
    satisfiable = False
    capped = [v for v in order if v.cap is not None]
    for values in _candidates(len(order), _constants([fact, *premises])[: _CONSTANTS[len(order)]]):
        sizes = {v: value + v.minimum for v, value in zip(order, values, strict=True)}
        if any(v.cap is not None and sizes[v] > v.cap.evaluate(sizes) for v in capped):
            continue
        holds = fact.holds(sizes)
        if (satisfiable if holds else broken is not None) or not all(p.holds(sizes) for p in premises):
            continue
        if holds:
            satisfiable = True
        else:
            broken = sizes
        if satisfiable and broken is not None:
            break
    return Found(broken, satisfiable)


def reach(fact: SizeFact) -> frozenset[SizeVariable]:
    """The variables of a fact and of their caps."""
    found = set(fact.left.variables() | fact.right.variables())
    pending = list(found)
    while pending:
        cap = pending.pop().cap
        if cap is not None:
            fresh = cap.variables() - found
            found |= fresh
            pending += fresh
    return frozenset(found)


@lru_cache(maxsize=64)
def _candidates(count: int, extra: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    values = sorted({*range(_LARGEST[count] + 1), *extra})
    return tuple(sorted(product(values, repeat=count), key=lambda c: (sum(c), c)))


def _constants(facts: Sequence[SizeFact]) -> tuple[int, ...]:
    """Numbers next to the constants that occur, smallest first."""
    found: set[int] = set()
    for fact in facts:
        _collect(fact.left, found)
        _collect(fact.right, found)
    near = {c + step for c in found for step in (-1, 0, 1)}
    return tuple(sorted(c for c in near if c > 4))


def _collect(size: Size, found: set[int]) -> None:
    for monomial, coefficient in size.terms:
        found.add(abs(coefficient))
        for atom, _ in monomial:
            if isinstance(atom, Opaque):
                for arg in atom.args:
                    _collect(arg, found)
