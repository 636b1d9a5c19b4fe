"""`move x gpu0` in a schedule hands the elements of x over for good, so each may be read at most once (E502).

What is known without a device decides: the grade of x must be at most 1 for all sizes that the program's inputs may have.
The directive itself, and which device it names, is the scheduler's.

Neighbours: `demand` (the grade and the places), `contracts` (how places are shown), `elaborate.programs` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ...lang import program_tree
from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Edit, Fix, Label, Verdict
from ...lang.source import Span
from ..core import ValueId
from ..core_blocks import Core
from ..decide import Decision, decide
from ..obligations import Relation, SizeFact
from ..sizes import ONE
from .contracts import Mentions, sites, times
from .demand import Demands, demands_of

Named = Callable[[str], ValueId | None]
"""The array a top-level name stands for at the end of the program."""


def read_after_moves(core: Core, named: Named, mentions: Mentions) -> list[Diagnostic]:
    """What is wrong with the `move` directives of a program."""
    found: list[Diagnostic] = []
    demands: Demands | None = None
    premises = [guard.fact for guard in core.guards]
    for directive, name in _moves(core.schedules):
        value = named(name.text)
        if value is None:
            continue
        demands = demands_of(core) if demands is None else demands
        grade = demands.grade(value)
        if grade.high is None:
            decision, goal = Decision(Verdict.UNKNOWN), None
        else:
            goal = SizeFact(Relation.AT_MOST, grade.high, ONE)
            decision = decide(goal, premises)
        if decision.verdict is not Verdict.PROVED:
            found.append(_diagnostic(directive, name, demands, value, mentions, goal, decision))
    return found


def _moves(schedules: Sequence[program_tree.Schedule]) -> Iterator[tuple[program_tree.Directive, program_tree.DirectiveWord]]:
    """Every `move` with each name that it moves; the last word names the device."""
    for schedule in schedules:
        for directive in schedule.directives:
            words = [word for word in directive.words if isinstance(word, program_tree.DirectiveWord)]
            if len(words) > 2 and words[0].text == "move":
                yield from ((directive, name) for name in words[1:-1])


def _diagnostic(
    directive: program_tree.Directive, name: program_tree.DirectiveWord, demands: Demands, value: ValueId, mentions: Mentions,
    goal: SizeFact | None, decision: Decision,
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


def _fixes(directive: program_tree.Directive, name: program_tree.DirectiveWord) -> tuple[Fix, ...]:
    """`move x gpu0` becomes `replicate x`; a directive that moves several names is left to its author."""
    if len(directive.words) != 3:
        return ()
    text = f"replicate {name.text}"
    return (Fix(f"keep a copy wherever it is read: `{text}`", (Edit(directive.span, text),)),)
