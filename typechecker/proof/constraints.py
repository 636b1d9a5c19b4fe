"""Size constraints: those in scope, those that loading or a loop iteration must check, and facts over loop indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from ...lang.diagnostics.model import Diagnostic, Fix, Severity, Verdict
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..core.blocks import CoreCall, CoreGuard
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, variable
from .obligations import Obligation, Proof, Relation, SizeFact
from .prover import ProofResult, prove, prove_without_examples
from .report_unproved import ClauseSite, suggest_clause, unproved_diagnostic

# ---------------------------------------------------------------------------------------------------- indices
#
# Loops that know where they are: what is known of a loop's index in its body, and what becomes of facts that mention it.
#
# In the body of a loop of n turns the index i is a size with 0 ≤ i < n.  What is proved from that holds in the body only: with
# n = 0 nothing of the body runs, so nothing that needed it may be moved out (`LoopIndex.premised`).  A fact that mentions i and
# is not proved for every i becomes guards at the ends of i where it is affine in i, else it is checked in each turn.

_MOST_ENDS = 8  # guards at the ends of loops within loops double with each


@dataclass(slots=True, eq=False)
class LoopIndex:
    """`trip`: how often the loop runs.  `premised`: something of the body was proved from 0 ≤ i < trip without mentioning i."""

    variable: SizeVariable
    trip: Size
    needs_iteration: bool = False

    @property
    def premise(self) -> SizeFact:
        return SizeFact(Relation.LESS, variable(self.variable), self.trip)


def variables_of(fact: SizeFact) -> frozenset[SizeVariable]:
    return fact.left.variables() | fact.right.variables()


def note_premises(fact: SizeFact, verdict: Verdict, premises: Sequence[SizeFact], loops: Sequence[LoopIndex]) -> None:
    """Mark each loop whose index the fact does not mention but whose premise the verdict needs."""
    for loop in loops:
        if loop.needs_iteration or loop.variable in variables_of(fact):
            continue
        if prove_without_examples(fact, [p for p in premises if loop.variable not in variables_of(p)]) is not verdict:
            loop.needs_iteration = True


def mentions_index(fact: SizeFact, loops: Sequence[LoopIndex]) -> bool:
    """Does a fact mention an index, and beside indices only sizes that are known when the program is loaded?"""
    indices = {loop.variable for loop in loops}
    variables = variables_of(fact)
    return bool(variables & indices) and all(v in indices or not v.is_runtime for v in variables)


def guards_of(obligation: Obligation, loops: Sequence[LoopIndex]) -> tuple[CoreGuard, ...]:
    """What must be checked of an obligation that mentions indices: its ends when the program is loaded, or every turn."""
    fact = obligation.fact
    inner = max((loop for loop in loops if loop.variable in variables_of(fact)), key=lambda loop: loop.variable.id)
    ends = _ends(fact, loops)
    if ends is None:
        return (CoreGuard(fact, obligation, inner.variable),)
    return tuple(CoreGuard(end, obligation, runs=runs) for end, runs in ends)


def _ends(fact: SizeFact, loops: Sequence[LoopIndex]) -> list[tuple[SizeFact, Size]] | None:
    """The fact at the least and greatest indices, each with the number of turns that must be one for it to matter.

    None: it is not affine in some index, or says something that ends do not decide."""
    if fact.relation in (Relation.NOT_EQUAL, Relation.DIVIDES):
        return None
    constraints: list[tuple[SizeFact, Size]] = [(fact, ONE)]
    for loop in reversed(loops):  # inner trips may mention outer indices
        ends: list[tuple[SizeFact, Size]] = []
        for end, runs in constraints:
            if loop.variable not in variables_of(end) | runs.variables():
                ends.append((end, runs))
                continue
            if not (_affine(end.right - end.left, loop.variable) and loop.variable not in runs.variables()):
                return None
            for index in (ZERO, loop.trip - 1):
                at = {loop.variable: index}
                turned = SizeFact(end.relation, end.left.substitute(at), end.right.substitute(at))
                if (turned, loop.trip * runs) not in ends:
                    ends.append((turned, loop.trip * runs))
        if len(ends) > _MOST_ENDS:
            return None
        constraints = ends
    return constraints


def _affine(size: Size, index: SizeVariable) -> bool:
    """Is a size c + d·i where neither c nor d mentions i?"""
    at_zero, at_one = (size.substitute({index: end}) for end in (ZERO, ONE))
    return size == at_zero + (at_one - at_zero) * variable(index)


# ---------------------------------------------------------------------------------------------------- ledger

@dataclass(slots=True)
class Constraints:
    """`premises` are in scope; `guards` loading must check, `solved` too though a solver proved them; `promises` are what calls
    say about reads.  `clause_site`: the signature being checked, else `input_sites` may say more of sizes; `proof`: by what the
    body being expanded was proved for all sizes; `loops`: those around here that know their turn."""

    premises: list[SizeFact] = field(default_factory=list)
    guards: list[CoreGuard] = field(default_factory=list)
    solver_assumptions: list[CoreGuard] = field(default_factory=list)
    declared_usages: list[CoreCall] = field(default_factory=list)
    input_sites: list[ClauseSite] = field(default_factory=list)
    loops: list[LoopIndex] = field(default_factory=list)
    clause_site: ClauseSite | None = None
    proof: Proof = Proof.NONE

    def mark(self) -> tuple[int, int, int]:
        """Where a trial starts, for `rollback`."""
        return len(self.premises), len(self.guards), len(self.solver_assumptions)

    def rollback(self, mark: tuple[int, int, int]) -> None:
        """Forget what was required since."""
        premises, guards, solved = mark
        del self.premises[premises:], self.guards[guards:], self.solver_assumptions[solved:]

    def decided(self, fact: SizeFact) -> bool | None:
        """Does a fact hold?  None if it depends or is unknown."""
        if fact.left == fact.right:
            return fact.relation is not Relation.LESS
        verdict = prove_without_examples(fact, self.premises)
        if self.loops and verdict is not Verdict.UNKNOWN:
            note_premises(fact, verdict, self.premises, self.loops)
        match verdict:
            case Verdict.PROVED:
                return True
            case Verdict.NEVER:
                return False
            case _:
                return None

    def require(
        self, obligation: Obligation, spans: Mapping[SizeVariable, tuple[Span, str]], report: Callable[[Diagnostic], None]
    ) -> bool:  # fmt: skip
        """See `Builder.require`; `spans`: where sizes came to be."""
        fact = obligation.fact
        decision = prove(fact, self.premises) if self.proof is Proof.NONE else self._trusted(fact)
        if decision.verdict is Verdict.PROVED:
            if self.loops:
                note_premises(fact, Verdict.PROVED, self.premises, self.loops)
            if decision.by_solver and fact.left != fact.right:
                self._solved(CoreGuard(fact, obligation))
            return True
        guards: tuple[CoreGuard, ...] = (CoreGuard(fact, obligation),)
        if decision.verdict is not Verdict.NEVER and mentions_index(fact, self.loops):
            guards = guards_of(obligation, self.loops)
        diagnostic = unproved_diagnostic(obligation, decision, self.premises, spans, self.sites(), guards,
                                         signed=self.clause_site is not None)  # fmt: skip
        report(diagnostic)
        if diagnostic.severity is Severity.WARNING:
            for guard in guards:
                if all(g.fact != guard.fact or g.obligation.span != obligation.span for g in self.guards):
                    self.guards.append(guard)
            self.premises.append(fact)  # nothing runs unless it holds
            return True
        if self.clause_site is not None and decision.verdict is not Verdict.NEVER:
            self.premises.append(fact)  # asked for once
        return False

    def sites(self) -> Sequence[ClauseSite]:
        """The declarations whose `where` may say more: the signature being checked, else the inputs."""
        return self.input_sites if self.clause_site is None else (self.clause_site,)

    def clause(self, fact: SizeFact) -> tuple[Fix, ...]:
        """The `where` that would prove a fact that is neither proved nor refuted."""
        return suggest_clause(fact, self.premises, self.sites()) if prove_without_examples(fact,
            self.premises) is Verdict.UNKNOWN else ()

    def _trusted(self, fact: SizeFact) -> ProofResult:
        """In a body proved for all sizes only what numbers refute would be news (a bug in the proof)."""
        if fact.left.constant is not None and fact.right.constant is not None:
            return prove(fact)
        return ProofResult(Verdict.PROVED, by_solver=self.proof is Proof.SOLVER)

    def _solved(self, guard: CoreGuard) -> None:
        """Remember a fact to be evaluated when the program is loaded, or in each turn of a loop whose index may have served to
        prove it, unless other sizes that a run finds are in it: those are checked where they are used."""
        if self.loops and (mentions_index(guard.fact, self.loops) or not guard.fact.is_runtime()):
            self.guards.append(CoreGuard(guard.fact, guard.obligation, self.loops[-1].variable))
        elif not guard.fact.is_runtime():
            self.solver_assumptions.append(guard)

    # -- loops that know where they are

    def open_loop(self, loop: LoopIndex) -> LoopIndex:
        """Enter the body of a loop with an index; its facts hold until `close_loop`."""
        self.loops.append(loop)
        self.premises.append(loop.premise)
        return loop

    def close_loop(self) -> None:
        """Leave it: of what was learnt inside only what loading checks whatever happens still holds."""
        loop = self.loops.pop()
        start = self.premises.index(loop.premise)
        whatever = [g.fact for g in self.guards if g.index is None and g.runs is None]
        self.premises[start:] = [p for p in self.premises[start + 1 :] if p in whatever and loop.variable not in variables_of(p)]
