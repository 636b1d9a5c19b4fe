"""Reports obligations that are not proved: code, severity, message, and a suggested `where` clause.

A fact that is never true, or that depends on runtime sizes, is an error.  One that depends on the sizes of a signature is an
error with the `where` that would state it.  One that depends on inputs and params only is a warning, with the `where` of an
input, and the caller makes it a guard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Label, Severity, Verdict
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ..core.operations import CoreGuard
from ..sizes.polynomials import ZERO, AtomKind, NonlinearAtom, Size, SizeOrigin, SizeVariable, operand, show, variable
from .obligations import Obligation, Relation, SizeFact
from .prover import ProofResult, prove_without_examples

# ---------------------------------------------------------------------------------------------------- where clauses
#
# The `where` clause that would state a fact about the sizes of a signature or of inputs, as an edit.
#
# `h·(d÷h) = d` becomes `h∣d`; other facts are written with every term on the side where it is positive, so that no subtraction is
# needed.  Only sizes that the declaration names, and `param`s, can be written.

@dataclass(frozen=True, slots=True)
class ClauseSite:
    """A declaration that may have a `where`.

    `of` is its name in messages, `joint` the text before the new clause, `names` the sizes that may occur.  For an input of
    texts, `width` is the width of the texts with its span.
    """

    of: str
    at: Span
    joint: str
    sizes: frozenset[SizeVariable]
    width: tuple[SizeVariable, Span] | None = None


def clause_site(
    of: str, declaration: Span, where: Sequence[object], sizes: frozenset[SizeVariable],
    width: tuple[SizeVariable, Span] | None = None,
) -> ClauseSite:  # fmt: skip
    """The site at the end of a declaration, after the facts it has."""
    end = Span(declaration.file, declaration.end, declaration.end)
    return ClauseSite(of, end, ", " if where else " where ", sizes, width)


def suggest_clause(fact: SizeFact, premises: Sequence[SizeFact], sites: Sequence[ClauseSite]) -> tuple[Fix, ...]:
    """The fix of the first declaration that can state a fact; for widths of texts, one common name or padding."""
    widths = [site.width for site in sites if site.width is not None]
    same = _one_width(fact, premises, widths) or _padding(fact, frozenset([size for size, _ in widths]))
    if same is not None:
        return (same,)
    clauses = (clause_fix(fact, premises, site) for site in sites)
    return tuple([fix for fix in clauses if fix is not None][:1])


def _one_width(fact: SizeFact, premises: Sequence[SizeFact], widths: Sequence[tuple[SizeVariable, Span]]) -> Fix | None:
    """The fix for two widths of texts that must be equal: with one name for both, loading pads the texts to the greater width.

    It has no edit if other facts use the name to be replaced.
    """
    sides = fact.left.variables() | fact.right.variables()
    widths_used = dict.fromkeys(size for size, _ in widths if size in sides)
    if (
        fact.relation is not Relation.EQUAL
        or len(widths_used) != 2
        or {variable(size) for size in widths_used} != {fact.left, fact.right}
    ):
        return None
    first, other = widths_used
    is_named = any(other in (premise.left.variables() | premise.right.variables()) for premise in premises)
    edits = () if is_named else tuple([Edit(span, str(first)) for size, span in widths if size == other])
    return Fix(f"name the width `{first}` instead of `{other}`: texts whose widths have one name are padded alike", edits)


def _padding(fact: SizeFact, widths: frozenset[SizeVariable]) -> Fix | None:
    """The advice for a fact that the width of texts is another size: the data decide the width, and no `where` may state it."""
    if fact.relation is not Relation.EQUAL:
        return None
    for width in sorted(widths & (fact.left.variables() | fact.right.variables()), key=lambda v: v.id):
        if variable(width) in (fact.left, fact.right):
            other = fact.right if fact.left == variable(width) else fact.left
            common = show(other) if width in other.variables() else f"{width}⌈{operand(other)}"
            advice = f"pad the texts of both sides to one width, such as `({common})↑⍤1 ⊢ x`"
            return Fix(f"{advice}: the longest text sets `{width}`", ())
    return None


def clause_fix(fact: SizeFact, premises: Sequence[SizeFact], site: ClauseSite) -> Fix | None:
    """The fix of a declaration; None if sizes occur in the fact that it cannot name."""
    for candidate in _candidates(fact):
        named = candidate.left.variables() | candidate.right.variables() <= site.sizes
        if candidate.relation is Relation.EQUAL and ZERO in (candidate.left, candidate.right):
            continue  # it would hold for empty arrays only
        if named and prove_without_examples(fact, [*premises, candidate]) is Verdict.PROVED:
            text = write_fact(candidate)
            return Fix(f"add `where {text}` to {site.of}", (Edit(site.at, f"{site.joint}{text}"),))
    return None


def _candidates(fact: SizeFact) -> Iterator[SizeFact]:
    """Facts that imply this one, the most readable first; the last is the fact itself."""
    difference = fact.right - fact.left
    if fact.relation is Relation.EQUAL:
        for monomial, _ in difference.terms:
            for atom, power in monomial:
                exact = isinstance(atom, NonlinearAtom) and atom.kind is AtomKind.QUOTIENT and power == 1
                if exact and isinstance(atom, NonlinearAtom) and _vanishes_when_exact(difference, atom):
                    yield SizeFact(Relation.DIVIDES, atom.args[1], atom.args[0])
        for monomial, _ in difference.terms:
            for atom, _ in monomial:
                if isinstance(atom, NonlinearAtom) and atom.kind in (AtomKind.MAXIMUM, AtomKind.MINIMUM):
                    for one, other in permutations(atom.args, 2):
                        yield positive(SizeFact(Relation.AT_MOST, one, other))
    normalised = positive(fact)
    above = normalised.right.constant
    if fact.relation is Relation.LESS and above is not None and above > 0:
        yield SizeFact(Relation.AT_MOST, normalised.left, normalised.right - 1)
    yield normalised


def positive(fact: SizeFact) -> SizeFact:
    """The fact with every term on the side where it is positive, so that no subtraction is needed."""
    if fact.relation in (Relation.DIVIDES, Relation.POWER):
        return fact
    difference = fact.right - fact.left
    above = Size({m: c for m, c in difference.terms if c > 0})
    below = Size({m: -c for m, c in difference.terms if c < 0})
    if fact.relation is Relation.EQUAL and fact.left.key > fact.right.key and below.constant is None and above.constant is None:
        above, below = below, above
    return SizeFact(fact.relation, below, above)


def _vanishes_when_exact(difference: Size, node: NonlinearAtom) -> bool:
    """Is the difference 0 if the division a÷b is exact: b·difference with b·(a÷b) replaced by a?"""
    dividend, divisor = node.args
    total = ZERO
    for monomial, coefficient in difference.terms:
        powers = dict(monomial)
        if powers.pop(node, 0) == 1:
            total = total + Size({tuple(powers.items()): coefficient}) * dividend
        elif any(isinstance(a, NonlinearAtom) and node in _inside(a) for a in powers):
            return False
        else:
            total = total + Size({monomial: coefficient}) * divisor
    return total == ZERO


def _inside(atom: NonlinearAtom) -> set[NonlinearAtom]:
    atoms: set[NonlinearAtom] = {atom}
    for arg in atom.args:
        for monomial, _ in arg.terms:
            for inner, _ in monomial:
                if isinstance(inner, NonlinearAtom):
                    atoms |= _inside(inner)
    return atoms


# ----------------------------------------------------------------------------------- text of facts


def write_fact(fact: SizeFact) -> str:
    """The fact in the syntax of a `where`."""
    left, right = fact.left, fact.right
    if fact.relation is Relation.DIVIDES:
        return f"{operand(left)}∣{show(right)}"
    if fact.relation is Relation.POWER:
        return f"{show(right)} = {show(left)}*p"
    if fact.relation in (Relation.AT_MOST, Relation.LESS) and left.constant is not None:
        return f"{show(right)} {'≥' if fact.relation is Relation.AT_MOST else '>'} {left.constant}"
    return f"{show(left)} {fact.relation.value} {show(right)}"


# ---------------------------------------------------------------------------------------------------- diagnostics

CHECKED_AT_LOAD = "checked when the program is loaded"
CHECKED_IN_TURN = "checked in each iteration of the loop"
LINE_UP_CODES = frozenset({Code.E101, Code.E102, Code.E103, Code.E110})


def unproved_diagnostic(
    obligation: Obligation, decision: ProofResult, premises: Sequence[SizeFact], spans: Mapping[SizeVariable, tuple[Span, str]],
    sites: Sequence[ClauseSite], guards: Sequence[CoreGuard], *, signed: bool,
) -> Diagnostic:  # fmt: skip
    """The diagnostic of an obligation whose verdict is not PROVED.

    `guards` are the checks that loading could make instead; `signed`: a signature is being checked, so guards are impossible."""
    fact, verdict = obligation.fact, decision.verdict
    variables = fact.left.variables() | fact.right.variables()
    checked = frozenset[SizeVariable]().union(*[guard.variables() for guard in guards])
    indices = {v for guard in guards if (v := guard.index) is not None}
    runtime = sorted((v for v in checked if v.is_runtime and not indices), key=lambda v: v.id)
    counterexample = decision.counterexample
    shown = None if counterexample is None else {v.name: n for v, n in counterexample.items() if v in variables}
    code, labels, notes, fixes = (
        obligation.code, obligation.labels, obligation.notes, (*obligation.mistake_fixes, *obligation.fixes)
    )  # fmt: skip
    if code == Code.E201:
        code = {Verdict.NEVER: Code.E200, Verdict.UNKNOWN: Code.E209}.get(verdict, Code.E201)
    severity, origin = Severity.ERROR, None
    if verdict is not Verdict.NEVER:
        if verdict is Verdict.UNKNOWN:
            notes = (*notes, f"neither a proof nor an example that breaks it was found{_solver(decision)}")
        if runtime:
            code = Code.E140 if code in LINE_UP_CODES else code
            labels = (*labels, *(Label(spans[v][0], f"{v} is {spans[v][1]}") for v in runtime if v in spans))
            notes = (*notes, *(f"{v} is known only when the program runs (0..{v.cap})" for v in runtime))
        elif any(v.origin is SizeOrigin.RIGID for v in variables) or (indices and signed):
            fixes = (*fixes, *[fix for guard in guards for fix in suggest_clause(guard.fact, premises, sites)])
        else:
            severity, code, origin = Severity.WARNING, Code.W201, code
            notes = (*notes, *[fix.title for fix in obligation.fixes], CHECKED_IN_TURN if indices else CHECKED_AT_LOAD)
            clauses = [fix for guard in guards for fix in suggest_clause(guard.fact, premises, sites)]
            fixes = obligation.mistake_fixes or tuple(clauses)
            # the program may be right: the fix is in its declarations
    return Diagnostic(
        code, obligation.message, obligation.span, severity, labels=labels, notes=notes, fixes=fixes, goal=str(fact),
        verdict=verdict, counterexample=shown, origin=origin,
    )  # fmt: skip


def _solver(decision: ProofResult) -> str:
    return "" if decision.unproved is None else f"; {decision.unproved.value}"
