"""Size constraints: the premises in scope, the guards that loading or a loop iteration must check, facts over loop indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...lang.diagnostics.model import Diagnostic, Fix, Severity, Verdict
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import Span
from ..core.blocks import CoreCall, CoreGuard
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, variable
from .obligations import Obligation, Proof, Relation, SizeFact
from .prover import ProofResult, prove, prove_without_examples
from .report_unproved import ClauseSite, suggest_clause, unproved_diagnostic

# ---------------------------------------------------------------------------------------------------- loop indices
#
# In the body of a loop of n iterations the index i is a size with 0 ≤ i < n.  What is proved from that holds in the body only:
# for n = 0 the body does not run, so ops that depend on such a proof may not be hoisted (`LoopIndex.needs_iteration`).  A fact in
# which i occurs and which is not proved for every i becomes guards at the ends of the range of i if it is affine in i; else it is
# checked in each iteration.

_MOST_ENDS = 8  # the guards at the ends of nested loops double with each loop


@dataclass(slots=True, eq=False)
class LoopIndex:
    """The index of a loop of `trip` iterations.  `needs_iteration`: a fact in which i does not occur was proved from 0 ≤ i <
    trip."""

    variable: SizeVariable
    trip: Size
    needs_iteration: bool = False

    @property
    def premise(self) -> SizeFact:
        return SizeFact(Relation.LESS, variable(self.variable), self.trip)


def variables_of(fact: SizeFact) -> frozenset[SizeVariable]:
    return fact.left.variables() | fact.right.variables()


def note_premises(fact: SizeFact, verdict: Verdict, premises: Sequence[SizeFact], loops: Sequence[LoopIndex]) -> None:
    """Mark each loop whose index does not occur in the fact but whose premise its proof needs."""
    for loop in loops:
        if loop.needs_iteration or loop.variable in variables_of(fact):
            continue
        if prove_without_examples(fact, [p for p in premises if loop.variable not in variables_of(p)]) is not verdict:
            loop.needs_iteration = True


def mentions_index(fact: SizeFact, loops: Sequence[LoopIndex]) -> bool:
    """Do loop indices occur in a fact, and otherwise only sizes that are known when the program is loaded?"""
    indices = {loop.variable for loop in loops}
    variables = variables_of(fact)
    return bool(variables & indices) and all(v in indices or not v.is_runtime for v in variables)


def guards_of(obligation: Obligation, loops: Sequence[LoopIndex]) -> tuple[CoreGuard, ...]:
    """The guards of an obligation over loop indices: at the ends of their ranges at load, or in every iteration."""
    fact = obligation.fact
    inner = max((loop for loop in loops if loop.variable in variables_of(fact)), key=lambda loop: loop.variable.id)
    ends = _ends(fact, loops)
    if ends is None:
        return (CoreGuard(fact, obligation, inner.variable),)
    return tuple(CoreGuard(end, obligation, runs=runs) for end, runs in ends)


def _ends(fact: SizeFact, loops: Sequence[LoopIndex]) -> list[tuple[SizeFact, Size]] | None:
    """The fact at the least and greatest indices, each with the trip counts' product that must be at least 1 for it to be
    required.

    None if it is not affine in some index, or of a relation that the ends do not decide."""
    if fact.relation in (Relation.NOT_EQUAL, Relation.DIVIDES):
        return None
    constraints: list[tuple[SizeFact, Size]] = [(fact, ONE)]
    for loop in reversed(loops):  # outer indices may occur in inner trip counts
        ends: list[tuple[SizeFact, Size]] = []
        for end, runs in constraints:
            if loop.variable not in variables_of(end) | runs.variables():
                ends.append((end, runs))
                continue
            if not (_affine(end.right - end.left, loop.variable) and loop.variable not in runs.variables()):
                return None
            for index in (ZERO, loop.trip - 1):
                at = {loop.variable: index}
                end_fact = SizeFact(end.relation, end.left.substitute(at), end.right.substitute(at))
                if (end_fact, loop.trip * runs) not in ends:
                    ends.append((end_fact, loop.trip * runs))
        if len(ends) > _MOST_ENDS:
            return None
        constraints = ends
    return constraints


def _affine(size: Size, index: SizeVariable) -> bool:
    """Is a size c + d·i with c and d free of i?"""
    at_zero, at_one = (size.substitute({index: end}) for end in (ZERO, ONE))
    return size == at_zero + (at_one - at_zero) * variable(index)


# ---------------------------------------------------------------------------------------------------- constraints

@dataclass(slots=True)
class Constraints:
    """The constraints collected while elaborating.

    `premises` are the facts in scope; loading must check `guards`, and also `solver_assumptions`, which the solver proved;
    `declared_usages` are the quantities that calls state.  `clause_site` is the signature being checked, else the `where` of
    `input_sites` may state more about sizes.  `proof` says how the body being inlined was proved for all sizes; `loops` are the
    enclosing loops with an index."""

    premises: list[SizeFact] = field(default_factory=list)
    guards: list[CoreGuard] = field(default_factory=list)
    solver_assumptions: list[CoreGuard] = field(default_factory=list)
    declared_usages: list[CoreCall] = field(default_factory=list)
    input_sites: list[ClauseSite] = field(default_factory=list)
    loops: list[LoopIndex] = field(default_factory=list)
    clause_site: ClauseSite | None = None
    proof: Proof = Proof.NONE

    def mark(self) -> tuple[int, int, int]:
        """The lengths of the lists, for `rollback`."""
        return len(self.premises), len(self.guards), len(self.solver_assumptions)

    def rollback(self, mark: tuple[int, int, int]) -> None:
        """Undo what was required since `mark`."""
        premises, guards, solved = mark
        del self.premises[premises:], self.guards[guards:], self.solver_assumptions[solved:]

    def decided(self, fact: SizeFact) -> bool | None:
        """Does a fact hold?  None if that depends on data or is unknown."""
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
        """See `Builder.require`; `spans` has the origins of run-time sizes."""
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
            self.premises.append(fact)  # loading has checked it before anything runs
            return True
        if self.clause_site is not None and decision.verdict is not Verdict.NEVER:
            self.premises.append(fact)  # so that it is reported once
        return False

    def sites(self) -> Sequence[ClauseSite]:
        """The declarations whose `where` may be extended: the signature being checked, else the inputs."""
        return self.input_sites if self.clause_site is None else (self.clause_site,)

    def clause(self, fact: SizeFact) -> tuple[Fix, ...]:
        """The `where` that would prove a fact that is neither proved nor refuted."""
        return (
            suggest_clause(fact, self.premises, self.sites())
            if prove_without_examples(fact, self.premises) is Verdict.UNKNOWN
            else ()
        )

    def _trusted(self, fact: SizeFact) -> ProofResult:
        """The verdict on a fact in a body that was proved for all sizes: only numbers may still refute it, which would be a
        bug."""
        if fact.left.constant is not None and fact.right.constant is not None:
            return prove(fact)
        return ProofResult(Verdict.PROVED, by_solver=self.proof is Proof.SOLVER)

    def _solved(self, guard: CoreGuard) -> None:
        """Record a fact that the solver proved, to be evaluated at load, or in each iteration of a loop whose index occurs in it.

        Facts with other run-time sizes are not recorded: their ops check them."""
        if self.loops and (mentions_index(guard.fact, self.loops) or not guard.fact.is_runtime()):
            self.guards.append(CoreGuard(guard.fact, guard.obligation, self.loops[-1].variable))
        elif not guard.fact.is_runtime():
            self.solver_assumptions.append(guard)

    # -- loops with an index

    def open_loop(self, loop: LoopIndex) -> LoopIndex:
        """Enter the body of a loop with an index; its facts hold until `close_loop`."""
        self.loops.append(loop)
        self.premises.append(loop.premise)
        return loop

    def close_loop(self) -> None:
        """Leave the body: of the premises added inside only those stay that loading checks unconditionally."""
        loop = self.loops.pop()
        start = self.premises.index(loop.premise)
        whatever = [g.fact for g in self.guards if g.index is None and g.runs is None]
        self.premises[start:] = [p for p in self.premises[start + 1 :] if p in whatever and loop.variable not in variables_of(p)]
