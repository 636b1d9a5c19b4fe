"""Directives of a problem: what `lang.directives` has read, with names resolved to phases and devices.

A `Scope` says which phases a name stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ....lang.codes import Code
from ....lang.diagnostics import Label
from ....lang.directives import PRINT, DirectiveReader, Said, Wrong, instead, ticks_of
from ....lang.primitives import nearest
from ....lang.program_tree import Directive as Words
from ....lang.program_tree import DirectiveWord
from ....lang.source import Source, Span
from ..constraints import devices_named
from ..problem import (
    Adjacent,
    Before,
    Deadline,
    Directive,
    IssueBefore,
    Keep,
    LimitMachines,
    LimitMemory,
    Line,
    NoSplit,
    Objective,
    Order,
    PhaseIndex,
    Place,
    Problem,
    Replicate,
    Speculate,
    Split,
)

__all__ = ["PRINT", "Named", "Reader", "Scope"]


@dataclass(frozen=True, slots=True)
class Named:
    """A phase that a name stands for, and where the name is bound (None: the problem has no text)."""

    phase: PhaseIndex
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """`phases`: what each name stands for (several: ambiguous, but for `print`); `ordered`: what an `order` speaks of beside the
    phases it names (None: of all)."""

    problem: Problem
    phases: Mapping[str, Sequence[Named]]
    ordered: tuple[PhaseIndex, ...] | None = None


class Reader(DirectiveReader[PhaseIndex]):
    """`number`: of the line that directives are said to stand in; None: where they stand in the source."""

    def __init__(self, scope: Scope, source: Source, number: int | None) -> None:
        super().__init__(scope.phases)
        self.scope, self.source, self.number = scope, source, number
        self.directives: list[Directive] = []
        self.objectives: list[Objective] = []

    def statement(self, words: Words) -> None:
        before = len(self.said)
        super().statement(words)
        for said in self.said[before:]:
            try:
                self.directives += self.meant(said, self.line(words.span))
            except Wrong:
                continue

    def meant(self, said: Said[PhaseIndex], line: Line) -> list[Directive]:
        """The directives that one stands for."""
        groups = [tuple(phase for phase in group if phase is not None) for group in said.phases]
        match said.verb:
            case "place":
                return [Place(line, groups[0], self.device(said.devices[0]))]
            case "keep" | "move":  # that nothing uses what was moved is the checker's (E502)
                return [Keep(line, groups[0][0], self.device(said.devices[0]))]
            case "group":
                place = Place(line, tuple(phase for phases in groups for phase in phases), self.device(said.devices[0]))
                return [place, *(IssueBefore(line, first, then) for first, then in pairwise(groups))]
            case "before":
                return [Before(line, groups[0], groups[1])]
            case "issue_before":
                return [IssueBefore(line, groups[0], groups[1])]
            case "split":
                return [self.split(said, line)]
            case "nosplit":
                return [NoSplit(line, phase) for phase in groups[0]]
            case "replicate":
                return [Replicate(line, phase) for phase in groups[0]]
            case "speculate":
                return [Speculate(line, phase) for phase in groups[0]]
            case "limit memory":
                return [LimitMemory(line, self.device(said.devices[0]), said.number)]
            case "limit machines":
                return [LimitMachines(line, said.number)]
            case "minimize":
                self.objectives += map(Objective, said.objectives)
                return []
            case "deadline":
                return [Deadline(line, ticks_of(said.text, self.scope.problem.tick_ns) or 0)]
            case "adjacent":
                return [Adjacent(line, x, z) for x, z in pairwise(groups[0])]
            case "order":
                return [Order(line, said.phases[0], self.scope.ordered)]
        raise AssertionError(said.verb)

    def split(self, said: Said[PhaseIndex], line: Line) -> Split:
        (phase,) = (phase for phase in said.phases[0] if phase is not None)
        words = said.devices
        devices = tuple(name for word in words for name in self.instances(word))
        if len(set(devices)) < len(devices):
            raise self.wrong(words[0].span, "a device is named twice; it takes one share", Code.SCH201)
        if said.parts and len(said.parts) != len(devices):
            message = f"{len(said.parts)} shares for {len(devices)} device" + ("s" if len(devices) > 1 else "")
            raise self.wrong(words[0].span, message)
        task = self.scope.problem.phases[phase]
        if not task.rows:
            name = next((name for name, meant in self.scope.phases.items() if any(one.phase == phase for one in meant)), task.id)
            written = self.source.text[said.span.start : said.span.end]
            at = said.span.start + max(0, written.find(name, len("split")))
            raise self.wrong(Span(said.span.file, at, at + len(name)), f"`{name}` is one step that cannot be split")
        return Split(line, phase, said.parts, devices)

    # ------------------------------------------------------------------ names

    def prints(self) -> list[PhaseIndex]:
        return [each.phase for each in self.scope.phases.get(PRINT, ())]

    def phase(self, word: DirectiveWord) -> PhaseIndex:
        meant = self.scope.phases.get(word.text, ())
        if len(meant) == 1:
            return meant[0].phase
        if meant:
            labels = tuple(Label(each.span, "one is bound here") for each in meant if each.span is not None)
            message = f"`{word.text}` means {len(meant)} values; give them different names"
            raise self.wrong(word.span, message, Code.SCH201, labels=labels)
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
            raise self.wrong(word.span, message, fixes=instead(word, guess), notes=notes)
        return word.text

    def instances(self, word: DirectiveWord) -> tuple[str, ...]:
        """The devices that a name or a range `node[0..39]` stands for."""
        problem = self.scope.problem
        base, bracket, tail = word.text.partition("[")
        low, dots, high = tail.removesuffix("]").partition("..")
        if bracket and dots and low.isdigit() and high.isdigit() and len(low) < 8 and len(high) < 8:
            group = next((each for each in problem.devices if each.id == base), None)
            if group is not None and int(low) <= int(high) < group.count:
                return tuple(f"{base}[{place}]" for place in range(int(low), int(high) + 1)) if group.count > 1 else (base,)
        self.device(word)
        names = problem.device_names()
        return tuple(names[place] for place in sorted(devices_named(problem, word.text)))

    def line(self, span: Span) -> Line:
        number = self.number if self.number is not None else self.source.position(span.start)[0] + 1
        return Line(number, self.source.text[span.start : span.end], span.start, span.end)


def _devices(problem: Problem) -> list[str]:
    """Names of groups and of classes; `gpu` is a class where `gpu/gpu0` and `gpu/gpu1` are."""
    kinds = {group.id: (group.kind.partition("/")[0], group.kind) for group in problem.devices}
    return list(dict.fromkeys(name for group in problem.devices for name in (group.id, *kinds[group.id])))
