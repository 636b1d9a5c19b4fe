"""Size constraints: the premises in scope, the guards that loading or a loop iteration must check, facts of loops and arms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, product

from ...lang.diagnostics.model import Diagnostic, Fix, Severity, Verdict
from ...lang.support.records import dataclass, field, replace
from ...lang.syntax.source import Span
from ..core.operations import CoreCall, CoreGuard
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, variable
from ..sizes.size import maximum, minimum, remainder
from .obligations import Obligation, Proof, Relation, SizeFact
from .prover import ProofResult, find_examples, prove, prove_without_examples
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
    """The index of a loop of `trip` iterations.

    `needs_iteration`: a fact without the index was proved from 0 ≤ i < trip, or in an arm of the body from its condition. `start`
    is the number of premises before the loop.
    """

    variable: SizeVariable
    trip: Size
    needs_iteration: bool = False
    start: int = 0

    @property
    def premise(self) -> SizeFact:
        return SizeFact(Relation.LESS, variable(self.variable), self.trip)


def variables_of(fact: SizeFact) -> frozenset[SizeVariable]:
    return fact.left.variables() | fact.right.variables()


def mentions_index(fact: SizeFact, loops: Sequence[LoopIndex]) -> bool:
    """Do loop indices occur in a fact, and otherwise only sizes that loading knows?"""
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
    """The fact at the least and the greatest indices, each with the product of trip counts that must be at least 1 for it to be
    required.

    None if the fact is not affine in some index, or its relation is not decided by the ends.
    """
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


# ---------------------------------------------------------------------------------------------------- arms
#
# In an arm of a branch the condition holds, or its opposite.  What is proved from that holds in the arm only, so such an arm may
# not be computed before the condition is known (`Arm.needs_condition`).  A condition with `∨` is a disjunction: a fact is proved
# if every alternative proves it.

_MOST_CASES = 16  # the alternatives of nested arms multiply

Alternatives = tuple[tuple[SizeFact, ...], ...]


@dataclass(slots=True, eq=False)
class Arm:
    """The facts about sizes that hold in an arm: all of one of the `alternatives` (none: the arm is never reached).

    `needs_condition`: something was proved from them.  `start` is the number of premises before the arm.
    """

    alternatives: Alternatives
    needs_condition: bool = False
    start: int = 0

    def required(self, *, runtime: bool) -> Size | None:
        """A size that is at least 1 exactly where the facts hold; None if there are none.

        Without `runtime`, a fact that loading does not know is left out: what is required in the arm is required where the rest
        holds."""
        sizes: list[Size] = []
        for facts in self.alternatives:
            stated = [_positive_where(fact) for fact in facts if runtime or not fact.is_runtime()]
            if not stated:
                return None
            sizes.append(minimum(*stated))
        return maximum(*sizes) if sizes else None


def _positive_where(fact: SizeFact) -> Size:
    """A size that is at least 1 exactly where a fact holds."""
    difference = fact.right - fact.left
    match fact.relation:
        case Relation.AT_MOST:
            return difference + 1
        case Relation.LESS:
            return difference
        case Relation.EQUAL:
            return ONE - difference * difference
        case Relation.NOT_EQUAL:
            return difference * difference
        case Relation.DIVIDES:
            rest = remainder(fact.right, fact.left)
            return ONE - rest * rest
        case Relation.POWER:
            return ONE  # conditions state no powers


# ---------------------------------------------------------------------------------------------------- constraints

@dataclass(slots=True)
class Constraints:
    """The constraints collected while elaborating.

    `premises` are the facts in scope.  Loading must check `guards`, and also `solver_assumptions`, which the solver proved.
    `open_indices` are facts without which an index is out of range that a run checks.
    `declared_usages` are the quantities that calls state.  `clause_site` is the signature being checked; without one, the `where`
    of `input_sites` may state more about sizes.  `proof` says how the body being inlined was proved for all sizes.  `scopes` are
    the enclosing indexed loops and arms, outermost first.  `supposed` are the premises of a question (`supposing`).  `refused` is
    the last fact that was an error because it depends on runtime sizes.
    """

    premises: list[SizeFact] = field(default_factory=list)
    guards: list[CoreGuard] = field(default_factory=list)
    solver_assumptions: list[CoreGuard] = field(default_factory=list)
    declared_usages: list[CoreCall] = field(default_factory=list)
    open_indices: set[SizeFact] = field(default_factory=set)
    input_sites: list[ClauseSite] = field(default_factory=list)
    scopes: list[LoopIndex | Arm] = field(default_factory=list)
    supposed: list[SizeFact] = field(default_factory=list)
    refused: SizeFact | None = None
    clause_site: ClauseSite | None = None
    proof: Proof = Proof.NONE

    @property
    def loops(self) -> list[LoopIndex]:
        """The enclosing loops with an index, outermost first."""
        return [scope for scope in self.scopes if isinstance(scope, LoopIndex)]

    def mark(self) -> tuple[int, int, int]:
        """The lengths of the lists, for `rollback`."""
        return len(self.premises), len(self.guards), len(self.solver_assumptions)

    def rollback(self, mark: tuple[int, int, int]) -> None:
        """Undo what was required since `mark`."""
        premises, guards, solved = mark
        del self.premises[premises:], self.guards[guards:], self.solver_assumptions[solved:]

    def withdraw(self, facts: Sequence[SizeFact]) -> None:
        """Remove the premises that were added last; equal ones before them belong to outer scopes and stay."""
        for fact in facts:
            del self.premises[len(self.premises) - 1 - self.premises[::-1].index(fact)]

    def decided(self, fact: SizeFact) -> bool | None:
        """Does a fact hold?  None if that depends on data or is unknown."""
        if fact.left == fact.right:
            return fact.relation not in (Relation.LESS, Relation.NOT_EQUAL)
        verdict = self._verdict(fact)
        if self.scopes and verdict is not Verdict.UNKNOWN:
            self._note_scopes(fact, verdict)
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
        """See `Builder.require`; `spans` has the origins of runtime sizes."""
        fact = obligation.fact
        decision = self._prove(fact) if self.proof is Proof.NONE else self._trusted(fact)
        if decision.verdict is Verdict.PROVED:
            if self.scopes:
                self._note_scopes(fact, Verdict.PROVED)
            if decision.by_solver and fact.left != fact.right:
                self._solved(CoreGuard(fact, obligation))
            return True
        guards: tuple[CoreGuard, ...] = (CoreGuard(fact, obligation),)
        if decision.verdict is not Verdict.NEVER and mentions_index(fact, self.loops):
            guards = guards_of(obligation, self.loops)
        guards = tuple([self._in_arms(guard, runtime=False) for guard in guards])
        diagnostic = unproved_diagnostic(obligation, decision, self.premises, spans, self.sites(), guards,
                                         signed=self.clause_site is not None)  # fmt: skip
        report(diagnostic)
        if diagnostic.severity is Severity.WARNING:
            for guard in guards:
                if all(g.fact != guard.fact or g.obligation.span != obligation.span for g in self.guards):
                    self.guards.append(guard)
            self.premises.append(fact)  # loading has checked it before anything runs
            return True
        if decision.verdict is Verdict.DEPENDS and fact.is_runtime():
            self.refused = fact
        if self.clause_site is not None and decision.verdict is not Verdict.NEVER:
            self.premises.append(fact)  # do not report it again
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
        """The verdict on a fact in a body that was proved for all sizes.

        Only numbers can refute it, which is a bug in Rho, except in an arm that is not reached.
        """
        in_arm = any(isinstance(scope, Arm) for scope in self.scopes)
        if not in_arm and fact.left.constant is not None and fact.right.constant is not None:
            return prove(fact)
        return ProofResult(Verdict.PROVED, by_solver=self.proof is Proof.SOLVER)

    def _solved(self, guard: CoreGuard) -> None:
        """Record a fact that the solver proved, to be evaluated at load, or in each iteration of a loop whose index occurs in it.

        Facts with other runtime sizes are not recorded: their ops check them."""
        loops = self.loops
        if guard.fact.is_runtime() and not mentions_index(guard.fact, loops):
            return
        guard = self._in_arms(guard, runtime=True)
        if loops:
            self.guards.append(replace(guard, index=loops[-1].variable))
        elif any(size.is_runtime for size in guard.variables()):  # when the sizes in the conditions are known
            self.guards.append(guard)
        else:
            self.solver_assumptions.append(guard)

    def _in_arms(self, guard: CoreGuard, *, runtime: bool) -> CoreGuard:
        """The guard, required only where the conditions of the enclosing arms hold (`runtime`: also those that only the run
        knows)."""
        arms = [scope for scope in self.scopes if isinstance(scope, Arm)]
        required = [size for arm in arms if (size := arm.required(runtime=runtime)) is not None]
        if not required:
            return guard
        return replace(guard, runs=minimum(*required, *([] if guard.runs is None else [guard.runs])))

    # -- premises, and alternatives of them

    def _cases(self) -> Iterator[list[SizeFact]]:
        """The premises with each choice of the alternatives of the enclosing arms; nothing if there is no choice."""
        several = [s.alternatives for s in self.scopes if isinstance(s, Arm) and len(s.alternatives) > 1]
        if several:
            for chosen in islice(product(*several), _MOST_CASES + 1):
                yield [*self.premises, *[fact for facts in chosen for fact in facts]]

    def _verdict(self, fact: SizeFact) -> Verdict:
        """The verdict on a fact by rules, case by case if the premises alone do not decide it."""
        verdict = prove_without_examples(fact, self.premises)
        if verdict is Verdict.UNKNOWN and self.scopes:
            cases = list(self._cases())
            if len(cases) <= _MOST_CASES:
                verdicts = {prove_without_examples(fact, premises) for premises in cases}
                return verdicts.pop() if len(verdicts) == 1 else Verdict.UNKNOWN
        return verdict

    def _prove(self, fact: SizeFact) -> ProofResult:
        """The verdict on a fact, with a counterexample."""
        cases = list(self._cases())
        if not cases or len(cases) > _MOST_CASES or prove_without_examples(fact, self.premises) is not Verdict.UNKNOWN:
            return prove(fact, self.premises)
        results = [prove(fact, premises) for premises in cases]
        verdicts = {result.verdict for result in results}
        if len(verdicts) == 1:
            return ProofResult(results[0].verdict, results[0].counterexample, by_solver=any(r.by_solver for r in results))
        for result, premises in zip(results, cases, strict=True):
            if result.verdict is Verdict.DEPENDS:
                return result
            if result.verdict is Verdict.NEVER and (example := find_examples(fact, premises).counterexample) is not None:
                return ProofResult(Verdict.DEPENDS, example)
        return ProofResult(Verdict.UNKNOWN)

    def _note_scopes(self, fact: SizeFact, verdict: Verdict) -> None:
        """Mark each loop and arm if the verdict depends on its premises or on those of the scopes inside it."""
        unconditional = self._unconditional()
        for scope in self.scopes:
            inside = [p for p in self.premises[scope.start :] if p in unconditional]
            outside = [*self.premises[: scope.start], *inside, *self.supposed]
            match scope:
                case LoopIndex():
                    if not scope.needs_iteration and scope.variable not in variables_of(fact):
                        scope.needs_iteration = prove_without_examples(fact, outside) is not verdict
                case Arm():
                    if not scope.needs_condition:
                        scope.needs_condition = prove_without_examples(fact, outside) is not verdict

    def _unconditional(self) -> list[SizeFact]:
        """The facts that loading checks unconditionally."""
        return [guard.fact for guard in self.guards if guard.holds_always]

    @contextmanager
    def supposing(self, facts: Sequence[SizeFact]) -> Iterator[None]:
        """A block with more premises, for questions about what follows from them."""
        premises, supposed = len(self.premises), len(self.supposed)
        self.premises += facts
        self.supposed += facts
        try:
            yield
        finally:
            del self.premises[premises:], self.supposed[supposed:]

    # -- scopes

    def open_loop(self, loop: LoopIndex) -> LoopIndex:
        """Enter the body of a loop with an index; its facts hold until `close_scope`."""
        loop.start = len(self.premises)
        self.scopes.append(loop)
        self.premises.append(loop.premise)
        return loop

    def open_arm(self, alternatives: Alternatives) -> Arm:
        """Enter an arm of a branch; its facts hold until `close_scope`."""
        arm = Arm(alternatives, start=len(self.premises))
        self.scopes.append(arm)
        if len(alternatives) == 1:
            self.premises += alternatives[0]
        return arm

    def close_scope(self) -> None:
        """Leave a body or an arm: of the premises added inside, only those that loading checks unconditionally stay."""
        scope = self.scopes.pop()
        unconditional = self._unconditional()
        added = [p for p in self.premises[scope.start :] if p in unconditional]
        if isinstance(scope, LoopIndex):
            added = [p for p in added if scope.variable not in variables_of(p)]
        self.premises[scope.start :] = added
