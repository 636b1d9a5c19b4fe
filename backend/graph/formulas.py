"""Sizes as formulas of cost: bounds that stay readable, and logarithms.

A cost may be bounded from above wherever the exact formula would grow without end: `larger` gives the maximum while that
is short, and otherwise the larger coefficient of every monomial, which is never less (sizes are not negative).

Note [Logarithms].  Sizes are polynomials; the steps of a tree over n items are ⌈2⍟n⌉.  A `Span` therefore is a size that may
mention *logarithms*: variables of its own, each standing for ⌈2⍟n⌉ of a size (0 where n ≤ 1), written as in the language.

Neighbours: `spans`, `backend.schedule.single.memory_bound`; `typechecker.sizes` (the algebra).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final

from ...lang.records import dataclass
from ...typechecker.sizes import ZERO, Monomial, Size, SizeOrigin, SizeVariable, capacity, maximum, number, variable

_MOST_CHARACTERS: Final = 600
_MOST_TERMS: Final = 24


def larger(a: Size, b: Size) -> Size:
    """At least both; their maximum where its formula is short."""
    if a == b or b == ZERO:
        return a
    if a == ZERO:
        return b
    if _covers(a, b):
        return a
    if _covers(b, a):
        return b
    if len(a.key) + len(b.key) <= _MOST_CHARACTERS and len(a.terms) + len(b.terms) <= _MOST_TERMS:
        found = maximum(a, b)
        if len(found.key) <= _MOST_CHARACTERS:
            return found
    return _each_larger(a, b)


def _covers(a: Size, b: Size) -> bool:
    """Is every coefficient of `a` at least that of `b`?  Then so is the size."""
    terms = dict(a.terms)
    return all(terms.get(m, 0) >= c for m, c in b.terms) and all(c >= 0 for m, c in a.terms if m not in dict(b.terms))


def _each_larger(a: Size, b: Size) -> Size:
    terms: dict[Monomial, int] = dict(a.terms)
    for monomial, coefficient in b.terms:
        terms[monomial] = max(terms.get(monomial, 0), coefficient)
    return Size({m: max(c, 0) for m, c in terms.items()})


def total(sizes: Iterable[Size]) -> Size:
    """Σ sizes."""
    terms: dict[Monomial, int] = {}
    for size in sizes:
        for monomial, coefficient in size.terms:
            terms[monomial] = terms.get(monomial, 0) + coefficient
    return Size(terms)


@dataclass(slots=True)
class Logarithms:
    """The logarithms of one formula; see Note [Logarithms].  Their ids are negative, so they are not sizes of the program."""

    known: dict[Size, SizeVariable] = field(default_factory=dict)

    def of(self, size: Size) -> Size:
        """⌈2⍟size⌉, run-time sizes at their caps."""
        size = capacity(size)
        constant = size.constant
        if constant is not None:
            return number(ceiling_log2(constant))
        found = self.known.get(size)
        if found is None:
            found = SizeVariable(f"(⌈2⍟{size})", -1 - len(self.known), SizeOrigin.INPUT)
            self.known[size] = found
        return variable(found)


def ceiling_log2(count: int) -> int:
    """Steps of a tree that joins so many items."""
    return (count - 1).bit_length() if count > 1 else 0


@dataclass(frozen=True, slots=True)
class Span:
    """A formula that may mention logarithms; `logarithms` says of which sizes."""

    size: Size
    logarithms: Mapping[SizeVariable, Size]

    def evaluate(self, sizes: Mapping[SizeVariable, int]) -> int:
        logs = {v: ceiling_log2(of.evaluate(sizes)) for v, of in self.logarithms.items()}
        return self.size.evaluate({**sizes, **logs})

    def __str__(self) -> str:
        return str(self.size)
