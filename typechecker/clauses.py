"""The `where` clause that would make a fact about the sizes of a signature hold, as text to insert.

`h·(d÷h) = d` becomes `h∣d`; other facts are stated as they are, with every term on the side where it is positive, so that
the text needs no subtraction.  Only sizes that the signature names (and `param`s) can be written.

Neighbours: `undecided` offers the clause; `elaborate.definitions` says where it goes; `decide` confirms that it suffices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..lang.diagnostics import Edit, Fix, Verdict
from ..lang.records import dataclass
from ..lang.source import Span
from .decide import settle
from .obligations import Relation, SizeFact
from .sizes import ZERO, Monomial, Node, Opaque, Size, SizeVariable


@dataclass(frozen=True, slots=True)
class ClauseSite:
    """A signature being checked: where a clause goes, how it is joined to what is there, and the sizes it may name."""

    at: Span
    joint: str
    sizes: frozenset[SizeVariable]


def clause_fix(fact: SizeFact, premises: Sequence[SizeFact], site: ClauseSite) -> Fix | None:
    """An applicable repair of the signature; None if the fact mentions what it cannot name."""
    for candidate in _candidates(fact):
        named = candidate.left.variables() | candidate.right.variables() <= site.sizes
        if candidate.relation is Relation.EQUAL and ZERO in (candidate.left, candidate.right):
            continue  # true for empty arrays only, which nobody means
        if named and settle(fact, [*premises, candidate]) is Verdict.PROVED:
            text = write_fact(candidate)
            return Fix(f"add `where {text}` to the signature", (Edit(site.at, f"{site.joint}{text}"),))
    return None


def _candidates(fact: SizeFact) -> Iterator[SizeFact]:
    """Facts from which this one follows, the most telling first; the last is the fact itself."""
    difference = fact.right - fact.left
    if fact.relation is Relation.EQUAL:
        for monomial, _ in difference.terms:
            for atom, power in monomial:
                exact = isinstance(atom, Opaque) and atom.node is Node.QUOTIENT and power == 1
                if exact and isinstance(atom, Opaque) and _vanishes_when_exact(difference, atom):
                    yield SizeFact(Relation.DIVIDES, atom.args[1], atom.args[0])
    if fact.relation is Relation.DIVIDES:
        yield fact
        return
    above = Size({m: c for m, c in difference.terms if c > 0})
    below = Size({m: -c for m, c in difference.terms if c < 0})
    if fact.relation is Relation.LESS and above.constant is not None and above.constant > 0:
        yield SizeFact(Relation.AT_MOST, below, above - 1)
    if fact.relation is Relation.EQUAL and fact.left.key > fact.right.key and below.constant is None and above.constant is None:
        above, below = below, above
    yield SizeFact(fact.relation, below, above)


def _vanishes_when_exact(difference: Size, node: Opaque) -> bool:
    """Is the difference 0 once a÷b is taken for an exact division: b·difference with b·(a÷b) replaced by a?"""
    dividend, divisor = node.args
    total = ZERO
    for monomial, coefficient in difference.terms:
        powers = dict(monomial)
        if powers.pop(node, 0) == 1:
            total = total + Size({tuple(powers.items()): coefficient}) * dividend
        elif any(isinstance(a, Opaque) and node in _inside(a) for a in powers):
            return False
        else:
            total = total + Size({monomial: coefficient}) * divisor
    return total == ZERO


def _inside(atom: Opaque) -> set[Opaque]:
    found: set[Opaque] = {atom}
    for arg in atom.args:
        for monomial, _ in arg.terms:
            for inner, _ in monomial:
                if isinstance(inner, Opaque):
                    found |= _inside(inner)
    return found


# ----------------------------------------------------------------------------------- as it is written


def write_fact(fact: SizeFact) -> str:
    """The fact in the syntax of a `where`."""
    left, right = fact.left, fact.right
    if fact.relation is Relation.DIVIDES:
        return f"{_operand(left)}∣{write_size(right)}"
    if fact.relation in (Relation.AT_MOST, Relation.LESS) and left.constant is not None:
        return f"{write_size(right)} {'≥' if fact.relation is Relation.AT_MOST else '>'} {left.constant}"
    return f"{write_size(left)} {fact.relation.value} {write_size(right)}"


def write_size(size: Size) -> str:
    """A size in the syntax of types, which reads from right to left: every compound operand is in parentheses."""
    plus = [(m, c) for m, c in size.terms if c > 0]
    minus = [(m, -c) for m, c in size.terms if c < 0]
    if not minus:
        return _sum(plus)
    return f"{_wrap(_sum(plus), compound=len(plus) > 1 or _is_compound(plus))}-{_sum(minus)}"


def _sum(terms: Sequence[tuple[Monomial, int]]) -> str:
    if not terms:
        return "0"
    if len(terms) == 1:
        return _product(*terms[0])
    return "+".join(_wrap(_product(m, c), compound=_is_compound([(m, c)])) for m, c in terms)


def _is_compound(terms: Sequence[tuple[Monomial, int]]) -> bool:
    """Is a lone term more than a name or a number?"""
    return any(m and (c != 1 or len(m) > 1 or m[0][1] > 1 or isinstance(m[0][0], Opaque)) for m, c in terms)


def _product(monomial: Monomial, coefficient: int) -> str:
    factors = [a for a, power in monomial for _ in range(power)]
    alone = len(factors) == 1 and coefficient == 1
    written = [_atom(a, alone=alone) for a in factors]
    if coefficient != 1 or not written:
        written.insert(0, str(coefficient))
    return "×".join(written)


def _atom(atom: SizeVariable | Opaque, *, alone: bool) -> str:
    if isinstance(atom, SizeVariable):
        return atom.name
    args = atom.args
    match atom.node:
        case Node.QUOTIENT:
            text = f"{_operand(args[0])}÷{_operand(args[1])}"
        case Node.REMAINDER:
            text = f"{_operand(args[1])}|{_operand(args[0])}"
        case _:
            text = atom.node.value.join([*(_operand(a) for a in args[:-1]), write_size(args[-1])])
    return text if alone else f"({text})"


def _operand(size: Size) -> str:
    return _wrap(write_size(size), compound=len(size.terms) > 1 or _is_compound(size.terms))


def _wrap(text: str, *, compound: bool) -> str:
    return f"({text})" if compound else text
