"""What directives mean: from the words of a `schedule` block or of an instance's texts to directives of a problem.

    place a b on gpu0 · gpu { a ⋄ b } · a b before c · a issue_before b · print a before d · split m rows 3:1 over gpu0 gpu1
    nosplit m · replicate w · keep y on gpu0 · limit memory gpu0 200MB · limit machines 40 · minimize latency syncs
    deadline 5ms · speculate z · adjacent x z · order x … z

A `Scope` says which phases a name stands for: ids of an instance, names of a program (there `print a` is the phase that
prints it, and `print` all that print).  Found here: SCH107 (no such phase, device or directive), SCH201 (a name of several
phases), SCH202 (`keep` of a split value on a class), SCH203 (`before` between split phases, a warning).  What contradicts what
is the planner's to find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....lang.codes import Code
from ....lang.diagnostics import Diagnostic, Rejected, Severity
from ....lang.program_tree import Directive as Words
from ....lang.source import Source, Span
from ..constraints import devices_named
from ..problem import (
    Before,
    Directive,
    Keep,
    Line,
    Objective,
    PhaseIndex,
    Problem,
    Split,
)
from ..solve.speculation import has_effect, speaks_within
from .directive_reader import PRINT, Named, Reader, Scope
from .directive_words import words_of


@dataclass(frozen=True, slots=True)
class Resolved:
    """`diagnostics` are errors and warnings; with an error the directive it is about is left out."""

    directives: tuple[Directive, ...]
    objectives: tuple[Objective, ...]
    diagnostics: tuple[Diagnostic, ...]


def ids_of(problem: Problem) -> dict[str, list[Named]]:
    """The names of an instance: its ids, and `print` for all of its effects that are called so."""
    names: dict[str, list[Named]] = {}
    for index, phase in enumerate(problem.phases):
        names.setdefault(phase.id, []).append(Named(PhaseIndex(index)))
    if PRINT not in names:
        prints = [
            Named(PhaseIndex(index)) for index, phase in enumerate(problem.phases)
            if phase.effect and phase.id.partition(" ")[0].partition("_")[0] == PRINT
        ]  # fmt: skip
        if prints:
            names[PRINT] = prints
    return names


def resolve_texts(problem: Problem, directives: Sequence[str], objectives: Sequence[str]) -> Resolved:
    """The lists of an instance.  Raises Rejected, with the texts it complains of in `sources`."""
    scope = Scope(problem, ids_of(problem))
    sources = [Source(f"directives[{place}]", text) for place, text in enumerate(directives)]
    sources += [Source(f"objective[{place}]", _minimize(text)) for place, text in enumerate(objectives)]
    readers = [Reader(scope, source, number) for number, source in enumerate(sources, 1)]
    diagnostics: list[Diagnostic] = []
    for reader in readers:
        words, troubles = words_of(reader.source)
        diagnostics += troubles
        for each in words:
            reader.statement(each)
        diagnostics += reader.diagnostics
    found = [directive for reader in readers for directive in reader.directives]
    diagnostics += _together(found, problem, lambda line: sources[line.number - 1].name)
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise DirectivesRejected(diagnostics, {source.name: source for source in sources})
    wanted = dict.fromkeys(objective for reader in readers for objective in reader.objectives)
    return Resolved(tuple(found), tuple(wanted) or (Objective.LATENCY,), tuple(diagnostics))


class DirectivesRejected(Rejected):
    """Directives that cannot be meant."""


def resolve(block: Sequence[Words], scope: Scope, source: Source) -> Resolved:
    """The directives of a program's blocks."""
    reader = Reader(scope, source, None)
    for words in block:
        reader.statement(words)
    together = _together(reader.directives, scope.problem, lambda _: source.name)
    return Resolved(tuple(reader.directives), tuple(dict.fromkeys(reader.objectives)), (*reader.diagnostics, *together))


def _together(directives: Sequence[Directive], problem: Problem, file: Callable[[Line], str]) -> list[Diagnostic]:
    """What shows only beside other directives: SCH202 and SCH203 need to know which phases are split."""
    split = {d.phase for d in directives if isinstance(d, Split) and len(d.devices) > 1}
    found: list[Diagnostic] = []
    for directive in directives:
        line = directive.line
        span = Span(file(line), line.start, line.end)
        if isinstance(directive, Keep) and directive.phase in split:
            several = sorted(devices_named(problem, directive.device))
            if len(several) > 1:
                known = problem.device_names()
                shown = ", ".join(f"`{known[d]}`" for d in several[:4]) + (", …" if len(several) > 4 else "")
                message = f"`{directive.device}` means {len(several)} devices, and a split value is kept on one: name it"
                found.append(Diagnostic(Code.SCH202, message, span, notes=(f"its devices: {shown}",)))
        elif within := [one for one in problem.selects if has_effect(problem, one) and speaks_within(directive, one)]:
            name = problem.phases[within[0].phase].id
            message = f"an arm of `{name}` has an effect, so only the arm that is chosen runs, as one step: this asks for more"
            found.append(Diagnostic(Code.SCH102, message, span, notes=("leave out this line",)))
        elif isinstance(directive, Before) and split & set(directive.first) and split & set(directive.then):
            message = "both are cut into shards: `before` waits for all shards of the first"
            found.append(Diagnostic(Code.SCH203, message, span, Severity.WARNING))
    return found


def _minimize(text: str) -> str:
    """An objective as a directive: `latency` is short for `minimize latency`."""
    return text if text.split()[:1] in (["minimize"], ["minimise"], ["deadline"]) else f"minimize {text}"
