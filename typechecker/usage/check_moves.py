"""Checks usage against what is declared: quantities of signatures (E500, E501, E503) and `move` directives (E502); grades as
text.

`move x gpu0` in a schedule gives the elements of x away, so each may be read at most once: the grade of x must be at most 1 for
all sizes that the program's inputs may have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Label, Verdict
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...lang.tree import program
from ..core.operations import Core, ValueId, results_of
from ..diagnostics import names_of_sizes, show_signature_type, show_type
from ..elements import ArrayType
from ..proof.obligations import Relation, SizeFact
from ..proof.prover import ProofResult, prove
from ..proof.report_unproved import positive
from ..sizes.polynomials import ONE, AtomKind, NonlinearAtom, Size, number, show
from .backward_analysis import ONCE, Demands, Grade, UsageSite, demands_of

# ---------------------------------------------------------------------------------------------------- grades as text
#
# In the syntax of signatures: `1`, `0..1`, `(2×n)+m`, `0⌈n-1`.

def grade_text(grade: Grade) -> str:
    """The quantity of a grade; `ω` for a missing bound, or for one that may not be written since a divisor may be 0."""
    high = "ω" if grade.high is None or not _divides_surely(grade.high) else show(grade.high)
    low = show(grade.low) if _divides_surely(grade.low) else "0"
    return high if grade.is_exact or (low, high) == ("0", "ω") else f"{low}..{high}"


def is_writable(grade: Grade, names: frozenset[str]) -> bool:
    """Are all its sizes among these names?"""
    return all(v.name in names for size in (grade.low, grade.high or number(0)) for v in size.variables())


def _divides_surely(size: Size) -> bool:
    """Is every divisor at least 1 for all sizes?"""
    atoms = [atom for monomial, _ in size.terms for atom, _ in monomial if isinstance(atom, NonlinearAtom)]
    for atom in atoms:
        if atom.kind in (AtomKind.QUOTIENT, AtomKind.REMAINDER) and (atom.args[1].bounds()[0] or 0) < 1:
            return False
        if not all(_divides_surely(arg) for arg in atom.args):
            return False
    return True


# ---------------------------------------------------------------------------------------------------- contracts
#
# The quantities that a signature states, against the usage of the body.
#
# The inferred interval must be within the declared one for all sizes that the `where` allows: E500 if elements are read more
# often than declared, E501 if an erased parameter (`0`) is read at all, E503 if elements may be read less often.  The message
# points at the reads, says what multiplies them, and offers the inferred quantity as a fix.

Mentions = Mapping[ValueId, Sequence[tuple[Span, Span]]]
"""The spans (function, argument) where the program writes a value as an argument."""


@dataclass(frozen=True, slots=True)
class UsageContract:
    """The quantity that a signature states for one array of a parameter, at `origin`; `names` are the sizes that may occur in
    it."""

    name: str
    value: ValueId
    declared: Grade
    span: Span
    origin: Span
    names: frozenset[str]


def violation(contract: UsageContract, demands: Demands, premises: Sequence[SizeFact], mentions: Mentions) -> Diagnostic | None:
    """The diagnostic of a contract; None if the usage is within it."""
    inferred = demands.grade(contract.value)
    uses = sites(demands.uses_of(contract.value), mentions.get(contract.value, ()))
    upper, lower = _goal(inferred.high, contract.declared.high), _goal(contract.declared.low, inferred.low)
    if contract.declared.high is not None and inferred.high is None:
        return _too_often(contract, inferred, uses, None, ProofResult(Verdict.UNKNOWN))
    if upper is not None:
        decision = prove(upper, premises)
        if decision.verdict is not Verdict.PROVED:
            make = _erased if contract.declared.is_zero else _too_often
            return make(contract, inferred, uses, upper, decision)
    if lower is not None:
        decision = prove(lower, premises)
        if decision.verdict is not Verdict.PROVED:
            return _too_rarely(contract, inferred, uses, lower, decision)
    return None


def _goal(small: Size | None, large: Size | None) -> SizeFact | None:
    """The fact small ≤ large; None if it is evident."""
    if small is None or large is None or small == large:
        return None
    return SizeFact(Relation.AT_MOST, small, large)


def sites(uses: Sequence[UsageSite], mentions: Sequence[tuple[Span, Span]]) -> list[UsageSite]:
    """The uses; a use as an argument has the span of the argument, if that is known."""
    located: list[UsageSite] = []
    for use in uses:
        argument_spans = [argument for function, argument in mentions if function == use.span]
        located_spans = {site.span for site in located}
        free = [span for span in dict.fromkeys(argument_spans) if span not in located_spans]
        located.append(replace(use, span=free[0]) if free else use)
    return sorted(located, key=lambda use: (use.span.file, use.span.start))


def _too_often(
    contract: UsageContract, inferred: Grade, uses: list[UsageSite], goal: SizeFact | None, decision: ProofResult
) -> Diagnostic:
    limit = contract.declared.high
    multiplied = [u for u in uses if u.why and u.grade.high != limit]
    primary = multiplied[0] if multiplied else uses[0] if uses else None
    others = [use for use in uses if use is not primary]
    notes: list[str] = []
    if primary is not None and primary.why:
        notes.append(f"{primary.why}, so each element is used {times(primary.grade)}")
    if goal is not None and decision.verdict is Verdict.DEPENDS and decision.counterexample is not None:
        notes.append(f"fine when {goal}")
    message = f"{_declared(contract)} but is read {times(inferred)}"
    return _contracts_diagnostic(Code.E500, message, contract, inferred, primary, others, notes, goal, decision)


def _erased(
    contract: UsageContract, inferred: Grade, uses: list[UsageSite], goal: SizeFact | None, decision: ProofResult
) -> Diagnostic:
    message = f"`{contract.name}` is declared `0` (only its shape is used), but its data is read {times(inferred)}"
    return _contracts_diagnostic(Code.E501, message, contract, inferred, uses[0] if uses else None, uses[1:], [], goal, decision)


def _too_rarely(
    contract: UsageContract, inferred: Grade, uses: list[UsageSite], goal: SizeFact, decision: ProofResult
) -> Diagnostic:
    message = f"{_declared(contract)} but is {'never read' if inferred.is_zero else 'read ' + times(inferred)}"
    notes = list(dict.fromkeys(f"it is read {use.why}" for use in uses if use.why.startswith("only if")))
    return _contracts_diagnostic(Code.E503, message, contract, inferred, None, uses, notes, goal, decision)


def _contracts_diagnostic(
    code: Code, message: str, contract: UsageContract, inferred: Grade, primary: UsageSite | None, others: Sequence[UsageSite],
    notes: Sequence[str], goal: SizeFact | None, decision: ProofResult,
) -> Diagnostic:  # fmt: skip
    shown = [use for use in others if use.span != contract.origin and (primary is None or use.span != primary.span)]
    labels = [Label(use.span, f"read {times(use.grade)} here") for use in shown]
    if primary is not None:
        labels.append(Label(contract.span, "declared here"))
    label = "" if primary is None else f"read {times(primary.grade)} here"
    counterexample = decision.counterexample
    stated = None if goal is None or _is_numeric(goal) else str(goal)
    return Diagnostic(
        code, message, contract.span if primary is None else primary.span, label=label, labels=tuple(labels), notes=tuple(notes),
        fixes=(_fix(contract, inferred),), goal=stated, verdict=decision.verdict,
        counterexample=None if counterexample is None else {v.name: n for v, n in counterexample.items()},
    )  # fmt: skip


def _is_numeric(goal: SizeFact) -> bool:
    return goal.left.constant is not None and goal.right.constant is not None


def _fix(contract: UsageContract, inferred: Grade) -> Fix:
    text = grade_text(inferred) if is_writable(inferred, contract.names) else "ω"
    return Fix(f"declare it `{text}`", (Edit(contract.span, text),))


def _declared(contract: UsageContract) -> str:
    gloss = " (each element read once)" if contract.declared == ONCE else ""
    return f"`{contract.name}` is declared `{grade_text(contract.declared)}`{gloss}"


def times(grade: Grade) -> str:
    """A grade in words: `once`, `n·m times`, `0..1 times`."""
    if grade.is_zero:
        return "0 times"
    return "once" if grade == ONCE else f"{grade} times"


# ---------------------------------------------------------------------------------------------------- moves

Named = Callable[[str], ValueId | None]
"""The array a top-level name stands for at the end of the program."""


def move_violations(core: Core, named: Named, mentions: Mentions) -> list[Diagnostic]:
    """E502 for each `move` of a value that is read more than once."""
    diagnostics: list[Diagnostic] = []
    demands: Demands | None = None
    premises = [guard.fact for guard in core.guards]
    for directive, name in _moves(core.schedules):
        value = named(name.text)
        if value is None:
            continue
        demands = demands_of(core) if demands is None else demands
        grade = demands.grade(value)
        if grade.high is None:
            decision, goal = ProofResult(Verdict.UNKNOWN), None
        else:
            goal = SizeFact(Relation.AT_MOST, grade.high, ONE)
            decision = prove(goal, premises)
        if decision.verdict is not Verdict.PROVED:
            diagnostics.append(_diagnostic(directive, name, demands, value, mentions, goal, decision))
    return diagnostics


def _moves(schedules: Sequence[program.ScheduleBlock]) -> Iterator[tuple[program.Directive, program.DirectiveWord]]:
    """Every `move` directive with each name that it moves; its last word is the device."""
    for schedule in schedules:
        for directive in schedule.directives:
            words = [word for word in directive.words if isinstance(word, program.DirectiveWord)]
            if len(words) > 2 and words[0].text == "move":
                yield from ((directive, name) for name in words[1:-1])


def _diagnostic(
    directive: program.Directive, name: program.DirectiveWord, demands: Demands, value: ValueId, mentions: Mentions,
    goal: SizeFact | None, decision: ProofResult,
) -> Diagnostic:  # fmt: skip
    uses = sites(demands.uses_of(value), mentions.get(value, ()))
    often = [use for use in uses if use.grade.high != ONE]
    last = often[0] if often else uses[-1] if uses else None
    span: Span = name.span if last is None else last.span
    labels = [Label(name.span, "moved here")]
    labels += [Label(use.span, f"read {times(use.grade)} here") for use in uses if last is not None and use.span != last.span]
    notes = tuple(dict.fromkeys(use.why for use in uses if use.why))
    example = decision.counterexample
    numeric = goal is None or (goal.left.constant is not None and goal.right.constant is not None)
    return Diagnostic(
        Code.E502,
        f"`{name.text}` is moved by the schedule, so it can be read once, but it is read {times(demands.grade(value))}",
        span, label="" if last is None else f"read {times(last.grade)} here", labels=tuple(labels), notes=notes,
        fixes=_fixes(directive, name),
        goal=None if numeric else str(goal), verdict=decision.verdict,
        counterexample=None if example is None else {v.name: n for v, n in example.items()},
    )  # fmt: skip


def _fixes(directive: program.Directive, name: program.DirectiveWord) -> tuple[Fix, ...]:
    """The fix from `move x gpu0` to `replicate x`; none for a directive that moves several names."""
    if len(directive.words) != 3:
        return ()
    text = f"replicate {name.text}"
    return (Fix(f"keep a copy wherever it is read: `{text}`", (Edit(directive.span, text),)),)


# ---------------------------------------------------------------------------------------------------- inferred quantities
#
# The quantities of the inputs and named values of a program, and of the parameters of its functions, for reports and editors.

@dataclass(frozen=True, slots=True)
class NamedQuantity:
    """A named value of a program with its type, how often each element is read, and where."""

    name: str
    value: ValueId
    span: Span
    type: str
    grade: Grade
    uses: tuple[UsageSite, ...]

    def line(self) -> str:
        return f"{self.name} : {grade_text(self.grade)} {self.type}"


def named_quantities(core: Core, demands: Demands | None = None) -> tuple[NamedQuantity, ...]:
    """The quantities of inputs and top-level names in the order of the program, without params that are sizes."""
    known = demands_of(core) if demands is None else demands
    params = {param.name for param in core.params}
    top = {entry.value for entry in core.inputs} | {r for op in core.block.ops for r in results_of(op)}
    return tuple(
        NamedQuantity(name, value, core.spans[value], show_type(core.types[value]), known.grade(value), known.uses_of(value))
        for value, name in core.names.items()
        if value in top and name not in params
    )


def show_instance(
    name: str, arguments: Sequence[tuple[Grade, ArrayType]], results: Sequence[ArrayType], facts: Sequence[SizeFact]
) -> str:  # fmt: skip
    """An inferred signature as text: `matmul : m f64[n k] → n f64[k m] → f64[n m]`."""
    names = names_of_sizes([type_ for _, type_ in arguments], results)
    shown = [show_signature_type(type_, names) for type_ in results]
    result = shown[0] if len(shown) == 1 else f"({' ⋄ '.join(shown)})"
    parts = [*(f"{grade_text(grade)} {show_signature_type(type_, names)}" for grade, type_ in arguments), result]
    where = f" where {', '.join(str(positive(fact)) for fact in facts)}" if facts else ""
    return f"{name} : {' → '.join(parts)}{where}"
