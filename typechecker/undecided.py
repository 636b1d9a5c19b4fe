"""What becomes of an obligation that is not proved (types.md 3.5): the code, the severity and what is said.

Never true: an error wherever it is.  Depends on sizes known only when run: an error.  Depends on the sizes of a
signature: an error with the `where` that would help.  Depends on inputs and params only: a warning, with the `where` of
an input that would say so, and the caller keeps it as a guard.

Neighbours: `builder.require` asks; `clauses` writes the repair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..lang.codes import Code
from ..lang.diagnostics import Diagnostic, Label, Severity, Verdict
from ..lang.source import Span
from .clauses import ClauseSite, first_clause
from .core_blocks import CoreGuard
from .decide import Decision
from .obligations import Obligation, SizeFact
from .sizes import SizeOrigin, SizeVariable

CHECKED_AT_LOAD = "checked when the program is loaded"
CHECKED_IN_TURN = "checked in each iteration of the loop"
LINE_UP_CODES = frozenset({Code.E101, Code.E102, Code.E103, Code.E110})


def describe(
    obligation: Obligation, decision: Decision, premises: Sequence[SizeFact], spans: Mapping[SizeVariable, tuple[Span, str]],
    sites: Sequence[ClauseSite], guards: Sequence[CoreGuard], *, signed: bool,
) -> Diagnostic:  # fmt: skip
    """The diagnostic of an obligation whose verdict is not PROVED; `guards` are what could be checked instead, if no
    signature is being checked (`signed`)."""
    fact, verdict = obligation.fact, decision.verdict
    variables = fact.left.variables() | fact.right.variables()
    checked = frozenset[SizeVariable]().union(*[guard.variables() for guard in guards])
    turns = {v for guard in guards if (v := guard.index) is not None}
    runtime = sorted((v for v in checked if v.is_runtime and not turns), key=lambda v: v.id)
    found = decision.counterexample
    shown = None if found is None else {v.name: n for v, n in found.items() if v in variables}
    code, labels, notes, fixes = obligation.code, obligation.labels, obligation.notes, obligation.fixes
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
        elif any(v.origin is SizeOrigin.RIGID for v in variables) or (turns and signed):
            fixes = (*fixes, *[fix for guard in guards for fix in first_clause(guard.fact, premises, sites)])
        else:
            severity, code, origin = Severity.WARNING, Code.W201, code
            notes = (*notes, *[fix.title for fix in fixes], CHECKED_IN_TURN if turns else CHECKED_AT_LOAD)
            fixes = tuple([fix for guard in guards for fix in first_clause(guard.fact, premises, sites)])
            # the program may be right: its declarations are what is repaired
    return Diagnostic(
        code, obligation.message, obligation.span, severity, labels=labels, notes=notes, fixes=fixes, goal=str(fact),
        verdict=verdict, counterexample=shown, origin=origin,
    )  # fmt: skip


def _solver(decision: Decision) -> str:
    return "" if decision.unproved is None else f"; {decision.unproved.value}"
