"""Quantities that signatures state, held against what the body demands (types.md 4.2, *checking an annotation*).

The inferred interval must lie inside the declared one for all sizes the `where` allows: E500 if elements are read more
often than declared, E501 if an erased parameter (`0`) is read at all, E503 if elements may be read less often.  The
message points at the places that read, says what multiplies the reads there, and offers the inferred quantity.

Neighbours: `demand` (the inference), `elaborate.definitions` (checks every annotated function once).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Edit, Fix, Label, Verdict
from ...lang.records import dataclass
from ...lang.source import Span
from ..core import ValueId
from ..decide import Decision, decide
from ..obligations import Relation, SizeFact
from ..sizes import Size
from .demand import Demands
from .grades import ONCE, Grade
from .tally import Use
from .written import is_writable, written

Mentions = Mapping[ValueId, Sequence[tuple[Span, Span]]]
"""Where the program writes a value as an argument: (the function, the argument)."""


@dataclass(frozen=True, slots=True)
class Contract:
    """What a signature states about one array of a parameter, declared at `origin`; `names` are the sizes it may mention."""

    name: str
    value: ValueId
    declared: Grade
    span: Span
    origin: Span
    names: frozenset[str]


def violation(contract: Contract, demands: Demands, premises: Sequence[SizeFact], mentions: Mentions) -> Diagnostic | None:
    """What is wrong with one contract, if anything."""
    inferred = demands.grade(contract.value)
    uses = sites(demands.uses_of(contract.value), mentions.get(contract.value, ()))
    upper, lower = _goal(inferred.high, contract.declared.high), _goal(contract.declared.low, inferred.low)
    if contract.declared.high is not None and inferred.high is None:
        return _too_often(contract, inferred, uses, None, Decision(Verdict.UNKNOWN))
    if upper is not None:
        decision = decide(upper, premises)
        if decision.verdict is not Verdict.PROVED:
            make = _erased if contract.declared.is_zero else _too_often
            return make(contract, inferred, uses, upper, decision)
    if lower is not None:
        decision = decide(lower, premises)
        if decision.verdict is not Verdict.PROVED:
            return _too_rarely(contract, inferred, uses, lower, decision)
    return None


def _goal(small: Size | None, large: Size | None) -> SizeFact | None:
    """small ≤ large, unless it is evident."""
    if small is None or large is None or small == large:
        return None
    return SizeFact(Relation.AT_MOST, small, large)


def sites(uses: Sequence[Use], mentions: Sequence[tuple[Span, Span]]) -> list[Use]:
    """The uses, at the arguments themselves where these are known."""
    found: list[Use] = []
    for use in uses:
        places = [argument for function, argument in mentions if function == use.span]
        taken = {site.span for site in found}
        free = [place for place in dict.fromkeys(places) if place not in taken]
        found.append(replace(use, span=free[0]) if free else use)
    return sorted(found, key=lambda use: (use.span.file, use.span.start))


def _too_often(contract: Contract, inferred: Grade, uses: list[Use], goal: SizeFact | None, decision: Decision) -> Diagnostic:
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
    return _diagnostic(Code.E500, message, contract, inferred, primary, others, notes, goal, decision)


def _erased(contract: Contract, inferred: Grade, uses: list[Use], goal: SizeFact | None, decision: Decision) -> Diagnostic:
    message = f"`{contract.name}` is declared `0` (only its shape is used), but its data is read {times(inferred)}"
    return _diagnostic(Code.E501, message, contract, inferred, uses[0] if uses else None, uses[1:], [], goal, decision)


def _too_rarely(contract: Contract, inferred: Grade, uses: list[Use], goal: SizeFact, decision: Decision) -> Diagnostic:
    message = f"{_declared(contract)} but is {'never read' if inferred.is_zero else 'read ' + times(inferred)}"
    notes = list(dict.fromkeys(f"it is read {use.why}" for use in uses if use.why.startswith("only if")))
    return _diagnostic(Code.E503, message, contract, inferred, None, uses, notes, goal, decision)


def _diagnostic(
    code: Code, message: str, contract: Contract, inferred: Grade, primary: Use | None, others: Sequence[Use],
    notes: Sequence[str], goal: SizeFact | None, decision: Decision,
) -> Diagnostic:  # fmt: skip
    shown = [use for use in others if use.span != contract.origin and (primary is None or use.span != primary.span)]
    labels = [Label(use.span, f"read {times(use.grade)} here") for use in shown]
    if primary is not None:
        labels.append(Label(contract.span, "declared here"))
    label = "" if primary is None else f"read {times(primary.grade)} here"
    found = decision.counterexample
    stated = None if goal is None or _is_numeric(goal) else str(goal)
    return Diagnostic(
        code, message, contract.span if primary is None else primary.span, label=label, labels=tuple(labels), notes=tuple(notes),
        fixes=(_fix(contract, inferred),), goal=stated, verdict=decision.verdict,
        counterexample=None if found is None else {v.name: n for v, n in found.items()},
    )  # fmt: skip


def _is_numeric(goal: SizeFact) -> bool:
    return goal.left.constant is not None and goal.right.constant is not None


def _fix(contract: Contract, inferred: Grade) -> Fix:
    text = written(inferred) if is_writable(inferred, contract.names) else "ω"
    return Fix(f"declare it `{text}`", (Edit(contract.span, text),))


def _declared(contract: Contract) -> str:
    gloss = " (each element read once)" if contract.declared == ONCE else ""
    return f"`{contract.name}` is declared `{written(contract.declared)}`{gloss}"


def times(grade: Grade) -> str:
    """`once`, `n·m times`, `0..1 times`."""
    if grade.is_zero:
        return "0 times"
    return "once" if grade == ONCE else f"{grade} times"
