"""Resolution of directives: from the words of a `schedule` block or of an instance's texts to directives of a problem.

    place a b on gpu0 · gpu { a ⋄ b } · a b before c · a issue_before b · print a before d · split m rows 3:1 over gpu0 gpu1
    nosplit m · replicate w · keep y on gpu0 · limit memory gpu0 200MB · limit machines 40 · minimize latency syncs
    deadline 5ms · speculate z · order x y z · cut m axis 1

A `DirectiveScope` maps names to phases: ids of an instance, or names of a program (there `print a` is the phase that prints it,
and `print` all that print).  Errors: SCH107 (no such phase, device or directive), SCH201 (a name of several phases), SCH202
(`keep` of a split value on a class), SCH203 (`before` between split phases, a warning).  The planner finds contradictions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final

from ....lang.bind.directives import PRINT, DirectiveError, DirectiveReader, ResolvedDirective, replacement_fix, ticks_of
from ....lang.diagnostics.model import Code, Diagnostic, Label, Rejected, Severity
from ....lang.primitives.table import nearest
from ....lang.support.records import dataclass, field
from ....lang.syntax.source import Source, Span
from ....lang.tree.program import Directive as Words, DirectiveGroup, DirectiveWord
from ..problem import (
    Before,
    Deadline,
    Directive,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    NoSplit,
    Objective,
    PhaseIndex,
    PlaceDirective,
    Problem,
    Replicate,
    SourceLine,
    Speculate,
    Split,
    devices_named,
)

# ---------------------------------------------------------------------------------------------------- directives of any source
#
# Directives of a problem: those that `lang.bind.directives` has parsed, with names resolved to phases and devices.

@dataclass(frozen=True, slots=True)
class NamedPhase:
    """A phase that a name stands for, and where the name is bound (None: the problem has no text)."""

    phase: PhaseIndex
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class DirectiveScope:
    """What names in directives refer to.

    `phases`: the phases of each name (several: ambiguous, except `print`).
    """

    problem: Problem
    phases: Mapping[str, Sequence[NamedPhase]]
    axes: Mapping[PhaseIndex, Sequence[int]] = field(default_factory=dict)
    """By phase, the axes along which it may be cut.  Where phases have several, each choice of axes is a problem
    (`Problem.along`)."""


class InstanceDirectiveReader(DirectiveReader[PhaseIndex]):
    """Resolves parsed directives of a problem.  `number`: the line that messages name; None: the line in the source."""

    def __init__(self, scope: DirectiveScope, source: Source, number: int | None) -> None:
        super().__init__(scope.phases)
        self.scope, self.source, self.number = scope, source, number
        self.directives: list[Directive] = []
        self.objectives: list[Objective] = []
        self.axes: dict[PhaseIndex, int] = {}

    def read(self, words: Words) -> None:
        before = len(self.resolved)
        super().read(words)
        for directive in self.resolved[before:]:
            try:
                self.directives += self.resolve(directive, self.line(words.span))
            except DirectiveError:
                continue

    def resolve(self, directive: ResolvedDirective[PhaseIndex], line: SourceLine) -> list[Directive]:
        """Returns the directives of a problem that one parsed directive stands for."""
        groups = directive.phases
        match directive.verb:
            case "place":
                return [PlaceDirective(line, groups[0], self.device(directive.devices[0]))]
            case "keep" | "move":  # the type checker reports uses of a moved value (E502)
                return [Keep(line, groups[0][0], self.device(directive.devices[0]))]
            case "group":
                members = tuple(phase for phases in groups for phase in phases)
                placement = PlaceDirective(line, members, self.device(directive.devices[0]))
                return [placement, *(IssueBefore(line, first, then) for first, then in pairwise(groups))]
            case "before":
                return [Before(line, groups[0], groups[1])]
            case "issue_before":
                return [IssueBefore(line, groups[0], groups[1])]
            case "split":
                return [self.resolve_split(directive, line)]
            case "nosplit":
                return [NoSplit(line, phase) for phase in groups[0]]
            case "replicate":
                return [Replicate(line, phase) for phase in groups[0]]
            case "speculate":
                return [Speculate(line, phase) for phase in groups[0]]
            case "limit memory":
                return [LimitMemory(line, self.device(directive.devices[0]), directive.number)]
            case "limit machines":
                return [LimitMachines(line, directive.number)]
            case "minimize":
                self.objectives += map(Objective, directive.objectives)
                return []
            case "deadline":
                return [Deadline(line, ticks_of(directive.text, self.scope.problem.tick_ns) or 0)]
            case "order":
                return [IssueBefore(line, (first,), (then,)) for first, then in pairwise(groups[0])]
            case "cut":
                self.resolve_cut(directive)
                return []
        raise AssertionError(directive.verb)

    def resolve_cut(self, directive: ResolvedDirective[PhaseIndex]) -> None:
        ((phase,),), axis = directive.phases, directive.number
        if axis not in (known := self.scope.axes.get(phase, ())):
            allowed = "axis " + " or ".join(map(str, sorted(known))) if known else "no axis"
            raise self.error(directive.span, f"this can be cut along {allowed}, not axis {axis}")
        if self.axes.setdefault(phase, axis) != axis:
            raise self.error(directive.span, "this is cut along one axis, and another line says another", Code.SCH101)

    def resolve_split(self, directive: ResolvedDirective[PhaseIndex], line: SourceLine) -> Split:
        ((phase,),) = directive.phases
        words = directive.devices
        devices = tuple(name for word in words for name in self.instances(word))
        if len(set(devices)) < len(devices):
            raise self.error(words[0].span, "a device is named twice; it takes one share", Code.SCH201)
        if directive.shares and len(directive.shares) != len(devices):
            message = f"{len(directive.shares)} shares for {len(devices)} device" + ("s" if len(devices) > 1 else "")
            raise self.error(words[0].span, message)
        task = self.scope.problem.phases[phase]
        if not task.rows:
            name = next((name for name, meant in self.scope.phases.items() if any(one.phase == phase for one in meant)), task.id)
            written = self.source.text[directive.span.start : directive.span.end]
            at = directive.span.start + max(0, written.find(name, len("split")))
            raise self.error(Span(directive.span.file, at, at + len(name)), f"`{name}` is one step that cannot be split")
        return Split(line, phase, directive.shares, devices)

    # ------------------------------------------------------------------ names

    def printing_phases(self) -> list[PhaseIndex]:
        return [each.phase for each in self.scope.phases.get(PRINT, ())]

    def phase(self, word: DirectiveWord) -> PhaseIndex:
        meant = self.scope.phases.get(word.text, ())
        if len(meant) == 1:
            return meant[0].phase
        if meant:
            labels = tuple(Label(each.span, "one is bound here") for each in meant if each.span is not None)
            message = f"`{word.text}` means {len(meant)} values; give them different names"
            raise self.error(word.span, message, Code.SCH201, labels=labels)
        is_device = word.text in _devices(self.scope.problem)
        raise self.unknown(word, self.scope.phases, "; it is a device, and a phase is wanted here" if is_device else "")

    def device(self, word: DirectiveWord) -> str:
        problem = self.scope.problem
        if not devices_named(problem, word.text):
            names = _devices(problem)
            guess = nearest(word.text, names)
            meant = f"; did you mean `{guess}`?" if guess else ""
            notes = ("devices and classes: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else ""),)
            message = f"there is no device or class `{word.text}`{meant}"
            raise self.error(word.span, message, fixes=replacement_fix(word, guess), notes=notes)
        return word.text

    def instances(self, word: DirectiveWord) -> tuple[str, ...]:
        """Returns the devices that a name or a range `node[0..39]` stands for."""
        problem = self.scope.problem
        base, bracket, tail = word.text.partition("[")
        low, dots, high = tail.removesuffix("]").partition("..")
        if bracket and dots and low.isdigit() and high.isdigit() and len(low) < 8 and len(high) < 8:
            group = next((each for each in problem.devices if each.id == base), None)
            if group is not None and int(low) <= int(high) < group.count:
                return tuple(f"{base}[{index}]" for index in range(int(low), int(high) + 1)) if group.count > 1 else (base,)
        self.device(word)
        names = problem.device_names()
        return tuple(names[index] for index in sorted(devices_named(problem, word.text)))

    def line(self, span: Span) -> SourceLine:
        number = self.number if self.number is not None else self.source.position(span.start)[0] + 1
        return SourceLine(number, self.source.text[span.start : span.end], span.start, span.end)


def _devices(problem: Problem) -> list[str]:
    """Returns the names of groups and of classes; `gpu` is a class if `gpu/gpu0` and `gpu/gpu1` are."""
    kinds = {group.id: (group.kind.partition("/")[0], group.kind) for group in problem.devices}
    return list(dict.fromkeys(name for group in problem.devices for name in (group.id, *kinds[group.id])))


# ---------------------------------------------------------------------------------------------------- words of a text
#
# Tokens of directives: from a text to the same groups of words that the parser makes of a `schedule` block.

_WORD: Final = re.compile(r"⍝[^\n]*|[{}⋄\n]|[^\s{}⋄⍝]+")
MOST_DEPTH: Final = 50


def words_of(source: Source) -> tuple[tuple[Words, ...], tuple[Diagnostic, ...]]:
    """Returns the directives of a text, and its errors; braces group, `⋄` and new lines separate."""
    stack: list[tuple[int, list[Words], list[DirectiveWord | DirectiveGroup]]] = [(0, [], [])]

    def finish() -> None:
        _, directives, words = stack[-1]
        if words:
            directives.append(Words(words[0].span.to(words[-1].span), tuple(words)))
            words.clear()

    for match in _WORD.finditer(source.text):
        word, span = match.group(), Span(source.name, *match.span())
        if word[0] == "⍝":
            continue
        if word in ("⋄", "\n"):
            finish()
        elif word == "{":
            if len(stack) > MOST_DEPTH:
                return (), (Diagnostic(Code.E016, "groups are nested too deeply", span),)
            stack.append((match.start(), [], []))
        elif word == "}":
            finish()
            if len(stack) == 1:
                return (), (Diagnostic(Code.E003, "this brace closes nothing", span),)
            start, directives, _ = stack.pop()
            stack[-1][2].append(DirectiveGroup(Span(source.name, start, span.end), tuple(directives)))
        else:
            stack[-1][2].append(DirectiveWord(span, word))
    if len(stack) > 1:
        start = stack[-1][0]
        return (), (Diagnostic(Code.E003, "this brace is not closed", Span(source.name, start, start + 1)),)
    finish()
    return tuple(stack[0][1]), ()


# ---------------------------------------------------------------------------------------------------- directives of an instance

@dataclass(frozen=True, slots=True)
class Resolved:
    """Resolved directives with errors and warnings; a directive with an error is left out."""

    directives: tuple[Directive, ...]
    objectives: tuple[Objective, ...]
    diagnostics: tuple[Diagnostic, ...]
    axes: Mapping[PhaseIndex, int] = field(default_factory=dict)


def ids_of(problem: Problem) -> dict[str, list[NamedPhase]]:
    """Returns the names of an instance: its ids, and `print` for all its effects of that name."""
    names: dict[str, list[NamedPhase]] = {}
    for index, phase in enumerate(problem.phases):
        names.setdefault(phase.id, []).append(NamedPhase(PhaseIndex(index)))
    if PRINT not in names:
        prints = [
            NamedPhase(PhaseIndex(index)) for index, phase in enumerate(problem.phases)
            if phase.effect and phase.id.partition(" ")[0].partition("_")[0] == PRINT
        ]  # fmt: skip
        if prints:
            names[PRINT] = prints
    return names


def resolve_texts(problem: Problem, directives: Sequence[str], objectives: Sequence[str]) -> Resolved:
    """Returns the resolved `directives` and `objectives` of an instance.  Raises Rejected, with the texts in `sources`."""
    scope = DirectiveScope(problem, ids_of(problem))
    sources = [Source(f"directives[{index}]", text) for index, text in enumerate(directives)]
    sources += [Source(f"objective[{index}]", _minimize(text)) for index, text in enumerate(objectives)]
    readers = [InstanceDirectiveReader(scope, source, number) for number, source in enumerate(sources, 1)]
    diagnostics: list[Diagnostic] = []
    for reader in readers:
        words, troubles = words_of(reader.source)
        diagnostics += troubles
        for each in words:
            reader.read(each)
        diagnostics += reader.diagnostics
    resolved = [directive for reader in readers for directive in reader.directives]
    diagnostics += _joint_checks(resolved, problem, lambda line: sources[line.number - 1].name)
    for line in (one.line for one in resolved if isinstance(one, Speculate)):
        message = f"`{line.text}`: an instance has no branches; only a program's can run both arms early"
        diagnostics.append(Diagnostic(Code.SCH102, message, Span(sources[line.number - 1].name, line.start, line.end)))
    if any(diagnostic.is_error for diagnostic in diagnostics):
        raise DirectivesRejected(diagnostics, {source.name: source for source in sources})
    wanted = dict.fromkeys(objective for reader in readers for objective in reader.objectives)
    return Resolved(tuple(resolved), tuple(wanted) or (Objective.LATENCY,), tuple(diagnostics))


class DirectivesRejected(Rejected):
    """Raised for directives that cannot be resolved."""


def resolve(block: Sequence[Words], scope: DirectiveScope, source: Source) -> Resolved:
    """Returns the resolved directives of a program's `schedule` blocks."""
    reader = InstanceDirectiveReader(scope, source, None)
    for words in block:
        reader.read(words)
    together = _joint_checks(reader.directives, scope.problem, lambda _: source.name)
    diagnostics = (*reader.diagnostics, *together)
    return Resolved(tuple(reader.directives), tuple(dict.fromkeys(reader.objectives)), diagnostics, reader.axes)


def _joint_checks(directives: Sequence[Directive], problem: Problem, file: Callable[[SourceLine], str]) -> list[Diagnostic]:
    """Returns diagnostics that depend on several directives: SCH202 and SCH203 need to know which phases are split."""
    split = {d.phase for d in directives if isinstance(d, Split) and len(d.devices) > 1}
    diagnostics: list[Diagnostic] = []
    for directive in directives:
        line = directive.line
        span = Span(file(line), line.start, line.end)
        if isinstance(directive, Keep) and directive.phase in split:
            several = sorted(devices_named(problem, directive.device))
            if len(several) > 1:
                known = problem.device_names()
                shown = ", ".join(f"`{known[d]}`" for d in several[:4]) + (", …" if len(several) > 4 else "")
                message = f"`{directive.device}` means {len(several)} devices, and a split value is kept on one: name it"
                diagnostics.append(Diagnostic(Code.SCH202, message, span, notes=(f"its devices: {shown}",)))
        elif isinstance(directive, Before) and split & set(directive.first) and split & set(directive.then):
            message = "both are cut into shards: `before` waits for all shards of the first"
            diagnostics.append(Diagnostic(Code.SCH203, message, span, Severity.WARNING))
    return diagnostics


def _minimize(text: str) -> str:
    """Returns an objective as a directive: `latency` is short for `minimize latency`."""
    return text if text.split()[:1] in (["minimize"], ["minimise"], ["deadline"]) else f"minimize {text}"
