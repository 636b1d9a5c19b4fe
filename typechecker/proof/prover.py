"""The prover of facts about sizes: normal form, premises, bounds, small examples, then the solver.

`prove` answers PROVED (true for all sizes that the premises allow), NEVER (false for all), DEPENDS (with a counterexample) or
UNKNOWN, in the steps of docs/checking.md.  PROVED and NEVER are sound, and every counterexample falsifies the fact.  The solver
is asked only about facts in which a size of a signature, an input or a `param` occurs, and only if small numbers do not show both
that the fact can fail and that it can hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from math import gcd
from typing import TYPE_CHECKING

from ...lang.diagnostics.model import Verdict
from ...lang.support.records import dataclass
from ..sizes.polynomials import ONE, ZERO, AtomKind, Monomial, NonlinearAtom, Size, SizeVariable, number, variable
from ..sizes.size import quotient
from .obligations import Relation, SizeFact

if TYPE_CHECKING:
    from .solver import Unproved


# ---------------------------------------------------------------------------------------------------- small examples
#
# Small sizes that falsify a fact, and small sizes that satisfy it, for messages.
#
# The search respects the premises and the bounds of variables.  It tries numbers from 0, and those next to the constants of the
# fact, in the order of their sum, so that it finds the smallest example.

_MOST_VARIABLES = 4
_LARGEST = (0, 24, 9, 4, 4)  # the largest number tried, by the number of variables
_CONSTANTS = (0, 9, 6, 2, 0)  # how many numbers next to constants are tried too, by the number of variables


@dataclass(frozen=True, slots=True)
class SmallModels:
    """A counterexample, if one was found; `satisfiable`: sizes that satisfy the fact and the premises were found."""

    counterexample: Mapping[SizeVariable, int] | None = None
    satisfiable: bool = False


def find_examples(fact: SizeFact, premises: Sequence[SizeFact]) -> SmallModels:
    """Search both kinds of example; `premises` are those that are connected to the fact."""
    variables = set(with_caps(fact))
    for premise in premises:
        variables |= with_caps(premise)
    order = tuple(sorted(variables, key=lambda v: v.id))
    if not order or len(order) > _MOST_VARIABLES:
        return SmallModels()
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
    return SmallModels(broken, satisfiable)


def with_caps(fact: SizeFact) -> frozenset[SizeVariable]:
    """The variables of a fact and of their caps."""
    reached = set(fact.left.variables() | fact.right.variables())
    pending = list(reached)
    while pending:
        cap = pending.pop().cap
        if cap is not None:
            fresh = cap.variables() - reached
            reached |= fresh
            pending += fresh
    return frozenset(reached)


@lru_cache(maxsize=64)
def _candidates(count: int, extra: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    values = sorted({*range(_LARGEST[count] + 1), *extra})
    return tuple(sorted(product(values, repeat=count), key=lambda c: (sum(c), c)))


def _constants(facts: Sequence[SizeFact]) -> tuple[int, ...]:
    """The numbers next to the constants of some facts, smallest first."""
    constants: set[int] = set()
    for fact in facts:
        _collect(fact.left, constants)
        _collect(fact.right, constants)
    near = {c + step for c in constants for step in (-1, 0, 1)}
    return tuple(sorted(c for c in near if c > 4))


def _collect(size: Size, constants: set[int]) -> None:
    for monomial, coefficient in size.terms:
        constants.add(abs(coefficient))
        for atom, _ in monomial:
            if isinstance(atom, NonlinearAtom):
                for arg in atom.args:
                    _collect(arg, constants)


# ---------------------------------------------------------------------------------------------------- verdicts

_PROOF_STEPS = 200  # nodes of the search in `_nonnegative`


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The verdict on a fact.  `counterexample`: sizes that falsify it (DEPENDS).  `unproved`: why the solver left it UNKNOWN.
    `by_solver`: the verdict rests on the solver, in this run or an earlier one."""

    verdict: Verdict
    counterexample: Mapping[SizeVariable, int] | None = None
    unproved: Unproved | None = None
    by_solver: bool = False


def prove(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> ProofResult:
    """The verdict on `fact` for all sizes that satisfy `premises` and the minima of the variables."""
    verdict = prove_without_examples(fact, premises)
    if verdict is not Verdict.UNKNOWN:
        return ProofResult(verdict)
    related = connected(fact, premises)
    examples = _examples(fact, related)
    symbolic = any(not v.is_runtime for v in fact.left.variables() | fact.right.variables())
    if examples.counterexample is not None and (examples.satisfiable or not symbolic):
        return ProofResult(Verdict.DEPENDS, examples.counterexample)
    if not symbolic or fact.relation is Relation.POWER:
        return ProofResult(Verdict.UNKNOWN if examples.counterexample is None else Verdict.DEPENDS, examples.counterexample)
    from .solver import query_solver

    answered = query_solver(fact, related, examples.counterexample)
    if answered.verdict is Verdict.UNKNOWN and examples.counterexample is not None:
        return ProofResult(Verdict.DEPENDS, examples.counterexample)
    example = answered.example or examples.counterexample
    return ProofResult(answered.verdict, example if answered.verdict is Verdict.DEPENDS else None, answered.unproved, True)


def _examples(fact: SizeFact, related: Sequence[SizeFact]) -> SmallModels:
    """Small examples; of many variables, equalities among the premises first eliminate some."""
    examples = find_examples(fact, related)
    if examples != SmallModels():
        return examples
    rewrites, rest = _as_rewrites(related)
    if not rewrites or any(name.cap is not None or (value.bounds()[0] or 0) < name.minimum for name, value in rewrites):
        return examples

    def open_sizes(f: SizeFact) -> SizeFact:
        return SizeFact(f.relation, _rewrite(f.left, rewrites), _rewrite(f.right, rewrites))

    goal = open_sizes(fact)
    reduced = find_examples(goal, connected(goal, [open_sizes(premise) for premise in rest]))
    if reduced.counterexample is None:
        return examples
    sizes = dict(reduced.counterexample)
    for name, value in reversed(rewrites):
        for other in value.variables():
            sizes.setdefault(other, other.minimum)
        sizes[name] = value.evaluate(sizes)
    if any(v not in sizes for f in (fact, *related) for v in with_caps(f)):
        return examples
    breaks = not fact.holds(sizes) and all(premise.holds(sizes) for premise in related)
    ordered = {v: sizes[v] for v in sorted(sizes, key=lambda v: v.id)}
    return SmallModels(ordered, reduced.satisfiable) if breaks else examples


def prove_without_examples(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> Verdict:
    """PROVED, NEVER or UNKNOWN, by the normal form, premises and bounds alone."""
    if fact.left.constant is not None and fact.right.constant is not None:
        return Verdict.PROVED if fact.holds({}) else Verdict.NEVER
    if fact in premises:
        return Verdict.PROVED
    premises = connected(fact, premises)
    rewrites, rest = _as_rewrites(premises)
    left, right = _rewrite(fact.left, rewrites), _rewrite(fact.right, rewrites)
    context = _ProofContext([_rewrite(p, rewrites) for p in _inequalities(rest)])
    context.exclude([_rewrite(p.right, rewrites) - _rewrite(p.left, rewrites) for p in rest if p.relation is Relation.NOT_EQUAL])
    goal = SizeFact(fact.relation, left, right)
    if _proved(goal, context):
        return Verdict.PROVED
    return Verdict.NEVER if _refuted(goal, context) else Verdict.UNKNOWN


# ------------------------------------------------------------------------------------ premises


def connected(fact: SizeFact, premises: Sequence[SizeFact]) -> list[SizeFact]:
    """The premises that share a variable with the fact, directly or through other premises or caps, in order."""
    if not premises:
        return []
    mentioned = [with_caps(premise) for premise in premises]
    reached = with_caps(fact)
    indices: set[int] = set()
    grown = True
    while grown:
        grown = False
        for index, variables in enumerate(mentioned):
            if index not in indices and variables & reached:
                indices.add(index)
                reached |= variables
                grown = True
    return [premise for index, premise in enumerate(premises) if index in indices]


def _as_rewrites(premises: Sequence[SizeFact]) -> tuple[list[tuple[SizeVariable, Size]], list[SizeFact]]:
    """Equalities and divisibilities as rewrites `variable ↦ size` (in which the variable does not occur), and the other
    premises."""
    rewrites: list[tuple[SizeVariable, Size]] = []
    rest: list[SizeFact] = []
    for index, premise in enumerate(premises):
        left, right = _rewrite(premise.left, rewrites), _rewrite(premise.right, rewrites)
        if premise.relation is Relation.EQUAL:
            rule = _solve(left - right)
            if rule is None:
                rest.append(premise)
            else:
                rewrites.append(rule)
        elif premise.relation is Relation.DIVIDES:
            lone = _lone_variable(right)
            least = left.bounds()[0]
            if lone is not None and lone not in left.variables() and least is not None and least >= 0:
                fresh = SizeVariable("q", -1 - index, lone.origin)
                rewrites.append((lone, left * variable(fresh)))
        else:
            rest.append(premise)
    return rewrites, rest


def _solve(difference: Size) -> tuple[SizeVariable, Size] | None:
    """The equation difference = 0 solved for a variable that occurs once, linearly, with coefficient ±1."""
    candidates: list[tuple[int, SizeVariable, Size]] = []
    for monomial, coefficient in difference.terms:
        if abs(coefficient) == 1 and len(monomial) == 1 and monomial[0][1] == 1 and isinstance(monomial[0][0], SizeVariable):
            name = monomial[0][0]
            rest = difference - variable(name) * coefficient
            if name not in rest.variables():
                candidates.append((name.id, name, -rest if coefficient == 1 else rest))
    if not candidates:
        return None
    _, name, value = max(candidates, key=lambda c: c[0])  # eliminate the variable introduced last
    return name, value


def _lone_variable(size: Size) -> SizeVariable | None:
    if len(size.terms) == 1 and size.terms[0][1] == 1 and len(size.terms[0][0]) == 1:
        atom, power = size.terms[0][0][0]
        if power == 1 and isinstance(atom, SizeVariable):
            return atom
    return None


def _rewrite(size: Size, rewrites: Sequence[tuple[SizeVariable, Size]]) -> Size:
    present = size.variables()
    for name, value in rewrites:
        if name in present:
            size = size.substitute({name: value})
            present = size.variables()
    return size


def _inequalities(premises: Sequence[SizeFact]) -> list[Size]:
    """Premises as sizes known to be ≥ 0."""
    differences: list[Size] = []
    for p in premises:
        match p.relation:
            case Relation.AT_MOST:
                differences.append(p.right - p.left)
            case Relation.LESS:
                differences.append(p.right - p.left - 1)
            case Relation.EQUAL:
                differences += [p.right - p.left, p.left - p.right]
            case Relation.POWER if p.left.constant is not None and p.left.constant >= 1:
                differences.append(p.right - 1)
            case Relation.NOT_EQUAL | Relation.DIVIDES | Relation.POWER:
                pass
    return differences


# ------------------------------------------------------------------------------------- proving


class _ProofContext:
    """Sizes known to be ≥ 0, lower bounds of variables, and the remaining search steps."""

    def __init__(self, known: list[Size]) -> None:
        self.known: list[Size] = []
        self.steps = _PROOF_STEPS
        self.least: dict[SizeVariable, int] = {}
        for k in known:
            self.add(k)

    def add(self, known: Size) -> None:
        """One more size that is ≥ 0."""
        if known == ZERO:
            return
        self.known.append(known)
        low = dict(known.terms).get((), 0)
        name = _lone_variable(known - low)
        if name is not None:
            self.least[name] = max(-low, self.least.get(name, 0))

    def exclude(self, different: Sequence[Size]) -> None:
        """Sizes that are not 0: one that is not negative is at least 1."""
        for size in different:
            for signed in (size, -size):
                if _nonnegative(signed, self):
                    self.add(signed - 1)
                    break
            self.steps = _PROOF_STEPS


def _proved(goal: SizeFact, context: _ProofContext) -> bool:
    difference = goal.right - goal.left
    match goal.relation:
        case Relation.EQUAL:
            return difference == ZERO or (_nonnegative(difference, context) and _nonnegative(-difference, context))
        case Relation.AT_MOST:
            return _nonnegative(difference, context)
        case Relation.LESS:
            return _nonnegative(difference - 1, context)
        case Relation.NOT_EQUAL:
            return _nonnegative(difference - 1, context) or _nonnegative(-difference - 1, context)
        case Relation.DIVIDES:
            if goal.left.constant == 0:
                return goal.right == ZERO
            return _is_multiple(goal.right, goal.left)
        case Relation.POWER:
            return False


def _refuted(goal: SizeFact, context: _ProofContext) -> bool:
    match goal.relation:
        case Relation.EQUAL:
            return _proved(SizeFact(Relation.NOT_EQUAL, goal.left, goal.right), context) or _unsolvable(goal.right - goal.left)
        case Relation.NOT_EQUAL:
            return _proved(SizeFact(Relation.EQUAL, goal.left, goal.right), context)
        case Relation.AT_MOST:
            return _proved(SizeFact(Relation.LESS, goal.right, goal.left), context)
        case Relation.LESS:
            return _proved(SizeFact(Relation.AT_MOST, goal.right, goal.left), context)
        case Relation.DIVIDES:
            value = (goal.right - quotient(goal.right, goal.left) * goal.left).constant
            return value is not None and value != 0 and goal.left.constant is not None
        case Relation.POWER:
            least = goal.left.bounds()[0]
            return least is not None and least >= 1 and _proved(SizeFact(Relation.LESS, goal.right, ONE), context)


def _unsolvable(difference: Size) -> bool:
    """Has difference = 0 no integer solution, because the constant is no multiple of the coefficients' gcd, as in 2·x + 1 = 0?"""
    common, constant = 0, 0
    for monomial, coefficient in difference.terms:
        if monomial:
            common = gcd(common, coefficient)
        else:
            constant = coefficient
    return common > 1 and constant % common != 0


def _is_multiple(size: Size, divisor: Size) -> bool:
    multiple = quotient(size, divisor)
    return multiple * divisor == size


def _nonnegative(size: Size, context: _ProofContext, depth: int = 0) -> bool:
    """Is size ≥ 0 provable by monotone bounds and a bounded search over elimination steps?"""
    context.steps -= 1
    if context.steps < 0 or depth > 8:
        return False
    low = size.bounds()[0]
    if low is not None and low >= 0:
        return True
    if _shifted_nonnegative(size, context.least):
        return True
    for monomial, coefficient in size.terms:
        if len(monomial) > 1 and _eliminate_multiple(size, monomial, coefficient, context, depth):
            return True
        if len(monomial) != 1 or monomial[0][1] != 1:
            continue
        atom = monomial[0][0]
        rest = Size({m: c for m, c in size.terms if m != monomial})
        if isinstance(atom, NonlinearAtom):
            if _eliminate_atom(atom, coefficient, rest, context, depth):
                return True
        elif coefficient < 0 and atom.cap is not None and _nonnegative(rest + atom.cap * coefficient, context, depth + 1):
            return True
    for known in context.known:  # size = known·λ + rest with rest ≥ 0
        factor = _elimination_factor(size, known)
        if factor is not None and _nonnegative(size - known * factor, context, depth + 1):
            return True
    return False


def _eliminate_multiple(size: Size, monomial: Monomial, coefficient: int, context: _ProofContext, depth: int) -> bool:
    """Is a size with a term f·d·⌊a÷d⌋, for d ≥ 1, provable to be ≥ 0 by a-d < d·⌊a÷d⌋ ≤ a?"""
    for atom, power in monomial:
        if not isinstance(atom, NonlinearAtom) or atom.kind is not AtomKind.QUOTIENT or power != 1:
            continue
        dividend, divisor = atom.args
        others = Size({tuple([pair for pair in monomial if pair[0] is not atom]): abs(coefficient)})
        factor = quotient(others, divisor)
        least = factor.bounds()[0]
        if divisor.constant is not None or factor * divisor != others or least is None or least < 0:
            continue
        if not _nonnegative(divisor - 1, context, depth + 1):
            continue
        rest = Size({m: c for m, c in size.terms if m != monomial})
        bound = factor * (dividend - divisor + 1) if coefficient > 0 else -(factor * dividend)
        if _nonnegative(rest + bound, context, depth + 1):
            return True
    return False


def _eliminate_atom(atom: NonlinearAtom, coefficient: int, rest: Size, context: _ProofContext, depth: int) -> bool:
    """Is c·atom + rest ≥ 0 provable by eliminating the atom?"""
    if atom.kind in (AtomKind.MAXIMUM, AtomKind.MINIMUM):
        outcomes = (_nonnegative(rest + arg * coefficient, context, depth + 1) for arg in atom.args)
        one_suffices = (atom.kind is AtomKind.MAXIMUM) == (coefficient > 0)
        return any(outcomes) if one_suffices else all(outcomes)
    dividend, divisor = atom.args
    value = divisor.constant
    if atom.kind is AtomKind.QUOTIENT:
        exact = _per_unit(rest, abs(coefficient))
        if exact is not None and _nonnegative(divisor - 1, context, depth + 1):
            if coefficient > 0:  # ⌊a÷d⌋ ≥ -m exactly when a ≥ d·-m
                return _nonnegative(dividend + divisor * exact, context, depth + 1)
            return _nonnegative(divisor * (exact + 1) - dividend - 1, context, depth + 1)  # ⌊a÷d⌋ ≤ m exactly when a < d·(m+1)
        if value is not None and value > 0:  # (a-d+1)÷d ≤ ⌊a÷d⌋ ≤ a÷d
            bound = dividend - value + 1 if coefficient > 0 else dividend
            return _nonnegative(rest * value + bound * coefficient, context, depth + 1)
        if coefficient < 0 and _nonnegative(dividend, context, depth + 1):  # ⌊a÷d⌋ ≤ a
            return _nonnegative(rest + dividend * coefficient, context, depth + 1)
        return False
    positive = _nonnegative(divisor - 1, context, depth + 1)
    if coefficient > 0:
        return positive and _nonnegative(rest, context, depth + 1)
    if positive and _nonnegative(rest + (divisor - 1) * coefficient, context, depth + 1):
        return True
    return _nonnegative(dividend, context, depth + 1) and _nonnegative(rest + dividend * coefficient, context, depth + 1)


def _per_unit(rest: Size, coefficient: int) -> Size | None:
    """The m for which, for integers x, c·x + rest ≥ 0 means x ≥ -m and -c·x + rest ≥ 0 means x ≤ m; None if it is no size."""
    if coefficient == 1:
        return rest
    return None if rest.constant is None else number(rest.constant // coefficient)


def _shifted_nonnegative(size: Size, known: Mapping[SizeVariable, int]) -> bool:
    """Are all coefficients ≥ 0 after every variable is written as its lower bound plus a natural number?"""
    least = {v: max(v.minimum, known.get(v, 0)) for v in size.variables()}
    shift = {v: variable(v) + low for v, low in least.items() if low > 0}
    if not shift or any(isinstance(atom, NonlinearAtom) for monomial, _ in size.terms for atom, _ in monomial):
        return False
    return all(coefficient >= 0 for _, coefficient in size.substitute(shift).terms)


def _elimination_factor(size: Size, known: Size) -> Size | None:
    """The factor of `known` that cancels a negative term of `size`: a quotient of two terms, if not negative."""
    coefficients = dict(size.terms)
    for monomial, coefficient in known.terms:
        if not monomial:
            continue
        actual = coefficients.get(monomial)
        if actual is not None and actual * coefficient > 0 and (actual < 0 or size.bounds()[0] is not None):
            return number(max(1, actual // coefficient))
    for monomial, coefficient in known.terms:
        if not monomial or coefficient > 0:
            continue
        for other, actual in size.terms:  # a product: n·m - k·m ≥ 0 from n - k ≥ 0
            if actual < 0 and len(other) > len(monomial) and actual % coefficient == 0:
                extra = quotient(Size({other: actual}), Size({monomial: coefficient}))
                if extra * Size({monomial: coefficient}) == Size({other: actual}) and (extra.bounds()[0] or 0) >= 0:
                    return extra if extra.bounds()[0] is not None else None
    return None
