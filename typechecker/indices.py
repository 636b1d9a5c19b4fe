"""Loops that know where they are: what is known of a loop's index in its body, and what becomes of facts that mention it.

In the body of a loop of n turns the index i is a size with 0 ≤ i < n.  What is proved from that holds in the body only: with
n = 0 nothing of the body runs, so nothing that needed it may be moved out (`LoopIndex.premised`).  A fact that mentions i and
is not proved for every i becomes guards at the ends of i where it is affine in i, else it is checked in each turn.

Neighbours: `builder` (asks what a proof used, and for the guards), `elaborate.power` (opens and closes loops).
"""

from __future__ import annotations

from collections.abc import Sequence

from ..lang.diagnostics import Verdict
from ..lang.records import dataclass
from .core_blocks import CoreGuard
from .decide import settle
from .obligations import Obligation, Relation, SizeFact
from .sizes import ONE, ZERO, Size, SizeVariable, variable

_MOST_ENDS = 8  # guards at the ends of loops within loops double with each


@dataclass(slots=True, eq=False)
class LoopIndex:
    """`trip`: how often the loop runs.  `premised`: something of the body was proved from 0 ≤ i < trip without mentioning i."""

    variable: SizeVariable
    trip: Size
    premised: bool = False

    @property
    def premise(self) -> SizeFact:
        return SizeFact(Relation.LESS, variable(self.variable), self.trip)


def mentioned(fact: SizeFact) -> frozenset[SizeVariable]:
    return fact.left.variables() | fact.right.variables()


def note_premises(fact: SizeFact, verdict: Verdict, premises: Sequence[SizeFact], loops: Sequence[LoopIndex]) -> None:
    """Mark each loop whose index the fact does not mention but whose premise the verdict needs."""
    for loop in loops:
        if loop.premised or loop.variable in mentioned(fact):
            continue
        if settle(fact, [p for p in premises if loop.variable not in mentioned(p)]) is not verdict:
            loop.premised = True


def is_of_turns(fact: SizeFact, loops: Sequence[LoopIndex]) -> bool:
    """Does a fact mention an index, and beside indices only sizes that are known when the program is loaded?"""
    indices = {loop.variable for loop in loops}
    found = mentioned(fact)
    return bool(found & indices) and all(v in indices or not v.is_runtime for v in found)


def guards_of(obligation: Obligation, loops: Sequence[LoopIndex]) -> tuple[CoreGuard, ...]:
    """What must be checked of an obligation that mentions indices: its ends when the program is loaded, or every turn."""
    fact = obligation.fact
    inner = max((loop for loop in loops if loop.variable in mentioned(fact)), key=lambda loop: loop.variable.id)
    ends = _ends(fact, loops)
    if ends is None:
        return (CoreGuard(fact, obligation, inner.variable),)
    return tuple(CoreGuard(end, obligation, runs=runs) for end, runs in ends)


def _ends(fact: SizeFact, loops: Sequence[LoopIndex]) -> list[tuple[SizeFact, Size]] | None:
    """The fact at the least and greatest indices, each with the number of turns that must be one for it to matter.

    None: it is not affine in some index, or says something that ends do not decide."""
    if fact.relation in (Relation.NOT_EQUAL, Relation.DIVIDES):
        return None
    found: list[tuple[SizeFact, Size]] = [(fact, ONE)]
    for loop in reversed(loops):  # inner trips may mention outer indices
        ends: list[tuple[SizeFact, Size]] = []
        for end, runs in found:
            if loop.variable not in mentioned(end) | runs.variables():
                ends.append((end, runs))
                continue
            if not (_affine(end.right - end.left, loop.variable) and loop.variable not in runs.variables()):
                return None
            for place in (ZERO, loop.trip - 1):
                at = {loop.variable: place}
                turned = SizeFact(end.relation, end.left.substitute(at), end.right.substitute(at))
                if (turned, loop.trip * runs) not in ends:
                    ends.append((turned, loop.trip * runs))
        if len(ends) > _MOST_ENDS:
            return None
        found = ends
    return found


def _affine(size: Size, index: SizeVariable) -> bool:
    """Is a size c + d·i where neither c nor d mentions i?"""
    at_zero, at_one = (size.substitute({index: place}) for place in (ZERO, ONE))
    return size == at_zero + (at_one - at_zero) * variable(index)
