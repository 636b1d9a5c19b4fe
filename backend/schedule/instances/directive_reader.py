"""One directive at a time: words to directives, names to phases and devices; what cannot be meant becomes a diagnostic.

A `Scope` says which phases a name stands for.  Neighbours: `directive_words` (words and units), `directives` (whole blocks).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from ....lang.diagnostics import Diagnostic, Edit, Fix, Label
from ....lang.primitives import nearest
from ....lang.source import Source, Span
from ....lang.tree import Directive as Words
from ....lang.tree import DirectiveGroup, DirectiveWord
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
from ..restrictions import devices_named
from .directive_words import bytes_of, ticks_of

PRINT: Final = "print"
_GAPS: Final = ("…", "...", "..")
_OBJECTIVES: Final = {objective.value: objective for objective in Objective}
_VERBS: Final = (
    "place", "split", "nosplit", "replicate", "keep", "move", "limit", "minimize", "deadline", "speculate", "adjacent", "order",
    "before", "issue_before",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Named:
    """A phase that a name stands for, and where the name is bound (None: the problem has no text)."""

    phase: PhaseIndex
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """`phases`: what each name stands for (several: ambiguous, but for `print`)."""

    problem: Problem
    phases: Mapping[str, Sequence[Named]]


class _Wrong(Exception):
    """One directive cannot be meant; the diagnostic is noted already."""


@dataclass(slots=True)
class Reader:
    scope: Scope
    source: Source
    number: int | None
    directives: list[Directive] = field(default_factory=list)
    objectives: list[Objective] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def statement(self, words: Words) -> None:
        with suppress(_Wrong):
            self.directive(words)

    def directive(self, words: Words) -> None:
        plain = _commas(words.words, self.scope)
        line = self.line(words.span)
        if isinstance(plain[-1], DirectiveGroup):
            self.group(words, plain, line)
            return
        texts = [word for word in plain if isinstance(word, DirectiveWord)]
        if len(texts) < len(plain):
            raise self.wrong(words.span, "a group `{ … }` comes last, after a device: `gpu { a ⋄ b }`")
        first, rest = texts[0], texts[1:]
        handlers: dict[str, Callable[[Line, DirectiveWord, list[DirectiveWord]], None]] = {
            "place": self.place, "split": self.split, "nosplit": self.simple, "replicate": self.simple, "keep": self.keep,
            "move": self.move, "limit": self.limit, "minimize": self.minimize, "minimise": self.minimize,
            "deadline": self.deadline, "speculate": self.simple, "adjacent": self.adjacent, "order": self.order,
        }  # fmt: skip
        for place, word in enumerate(texts):
            if word.text in ("before", "issue_before") and place:
                made = Before if word.text == "before" else IssueBefore
                self.directives.append(made(line, self.phases(texts[:place], word), self.phases(texts[place + 1 :], word)))
                return
        if first.text in handlers:
            handlers[first.text](line, first, rest)
            return
        if first.text in ("before", "issue_before"):
            raise self.wrong(first.span, f"`{first.text}` stands between phases: `a {first.text} b`")
        guess = nearest(first.text, _VERBS)
        meant = f"; did you mean `{guess}`?" if guess else ""
        notes = ("known: " + ", ".join(_VERBS),)
        raise self.wrong(first.span, f"`{first.text}` is no directive{meant}", fixes=_replace(first, guess), notes=notes)

    # ------------------------------------------------------------------ the directives

    def group(self, words: Words, plain: Sequence[DirectiveWord | DirectiveGroup], line: Line) -> None:
        """`gpu { a ⋄ b }`: both on the gpu, and issued in this order."""
        group = plain[-1]
        assert isinstance(group, DirectiveGroup)
        if len(plain) != 2 or not isinstance(plain[0], DirectiveWord):
            raise self.wrong(words.span, "a group is written `gpu { a ⋄ b }`: one device, then what it does in order")
        device = self.device(plain[0])
        steps: list[tuple[PhaseIndex, ...]] = []
        for inner in group.directives:
            texts = [word for word in _commas(inner.words, self.scope) if isinstance(word, DirectiveWord)]
            if len(texts) != len(inner.words) and any(isinstance(word, DirectiveGroup) for word in inner.words):
                raise self.wrong(inner.span, "groups do not hold groups")
            steps.append(self.phases(texts, plain[0]))
        if not steps:
            raise self.wrong(words.span, "the group is empty")
        self.directives.append(Place(line, tuple(phase for phases in steps for phase in phases), device))
        for first, then in pairwise(steps):
            self.directives.append(IssueBefore(line, first, then))

    def place(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        phases, device = self.around("on", verb, rest)
        self.directives.append(Place(line, self.phases(phases, verb), self.device(self.only(device, verb, "one device"))))

    def keep(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        names, devices = self.around("on", verb, rest)
        device = self.device(self.only(devices, verb, "one device"))
        self.directives.append(Keep(line, self.one(names, verb), device))

    def move(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        """`move x gpu0`: the output is brought there and stays; that nothing uses it afterwards is the checker's (E502)."""
        if len(rest) != 2:
            raise self.wrong(verb.span, "a move is written `move x gpu0`")
        self.directives.append(Keep(line, self.one(rest[:1], verb), self.device(rest[1])))

    def split(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        head, tail = self.around("over", verb, rest)
        at = next((place for place, word in enumerate(head) if place and word.text == "rows"), None)
        if at is None:
            raise self.wrong(verb.span, "a split is written `split m rows 3:1 over gpu0 gpu1` (without 3:1: evenly)")
        phase, ratio = self.one(head[:at], verb), head[at + 1 :]
        parts: tuple[int, ...] = ()
        if ratio:
            numbers = "".join(word.text for word in ratio).split(":")
            if not all(n.isascii() and n.isdigit() and 0 < len(n) <= 12 for n in numbers) or not any(map(int, numbers)):
                raise self.wrong(ratio[0].span, "shares are whole numbers such as 3:1, not all 0")
            parts = tuple(map(int, numbers))
        devices = tuple(name for word in tail for name in self.instances(word))
        if not devices:
            raise self.wrong(verb.span, "no device is named after `over`")
        if len(set(devices)) < len(devices):
            raise self.wrong(tail[0].span, "a device is named twice; it takes one share", "SCH201")
        if parts and len(parts) != len(devices):
            message = f"{len(parts)} shares for {len(devices)} device" + ("s" if len(devices) > 1 else "")
            raise self.wrong(tail[0].span, message)
        if not self.scope.problem.phases[phase].rows:
            raise self.wrong(head[0].span, f"`{head[0].text}` is one step that cannot be split")
        self.directives.append(Split(line, phase, parts, devices))

    def simple(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        for phase in self.phases(rest, verb):
            match verb.text:
                case "nosplit":
                    self.directives.append(NoSplit(line, phase))
                case "replicate":
                    self.directives.append(Replicate(line, phase))
                case _:
                    self.directives.append(Speculate(line, phase))

    def limit(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        texts = [word.text for word in rest]
        if texts[:1] == ["memory"] and len(texts) in (3, 4):
            size = bytes_of("".join(texts[2:]))
            if size is None:
                raise self.wrong(rest[2].span, f"`{' '.join(texts[2:])}` is not a number of bytes such as 200MB")
            self.directives.append(LimitMemory(line, self.device(rest[1]), size))
        elif texts[:1] == ["machines"] and len(texts) == 2:
            if not (texts[1].isascii() and texts[1].isdigit() and len(texts[1]) <= 12 and int(texts[1])):
                raise self.wrong(rest[1].span, f"`{texts[1]}` is not a number of machines from 1")
            self.directives.append(LimitMachines(line, int(texts[1])))
        else:
            raise self.wrong(verb.span, "a limit is written `limit memory gpu0 200MB` or `limit machines 40`")

    def minimize(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        if not rest:
            raise self.wrong(verb.span, "what is to be least? one of " + ", ".join(_OBJECTIVES))
        for word in rest:
            if word.text not in _OBJECTIVES:
                guess = nearest(word.text, _OBJECTIVES)
                meant = f"; did you mean `{guess}`?" if guess else f"; one of {', '.join(_OBJECTIVES)}"
                raise self.wrong(word.span, f"`{word.text}` is no objective{meant}", fixes=_replace(word, guess))
        self.objectives += [_OBJECTIVES[word.text] for word in rest]

    def deadline(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        text = "".join(word.text for word in rest)
        ticks = ticks_of(text, self.scope.problem.tick_ns) if 0 < len(rest) <= 2 else None
        if ticks is None:
            raise self.wrong(rest[0].span if rest else verb.span, "a deadline is a time such as `5ms`, or a number of ticks")
        self.directives.append(Deadline(line, ticks))

    def adjacent(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        phases = self.phases(rest, verb)
        if len(phases) < 2 or len(set(phases)) < len(phases):
            raise self.wrong(verb.span, "at least two different phases are adjacent: `adjacent x z`")
        self.directives += [Adjacent(line, x, z) for x, z in pairwise(phases)]

    def order(self, line: Line, verb: DirectiveWord, rest: list[DirectiveWord]) -> None:
        items: list[PhaseIndex | None] = []
        names: list[DirectiveWord] = []
        for word in (*rest, None):
            if word is None or word.text in _GAPS:
                items += self.phases(names, verb) if names else ()
                names = []
                if word is not None and items[-1:] != [None]:
                    items.append(None)
            else:
                names.append(word)
        named = [item for item in items if item is not None]
        if not named:
            raise self.wrong(verb.span, "an order names phases: `order x … z`")
        if len(set(named)) < len(named):
            raise self.wrong(verb.span, "an order names each phase once", "SCH101")
        self.directives.append(Order(line, tuple(items)))

    # ------------------------------------------------------------------ names

    def phases(self, words: Sequence[DirectiveWord], near: DirectiveWord) -> tuple[PhaseIndex, ...]:
        """At least one phase; `print x` is one, `print` all that print."""
        if not words:
            raise self.wrong(near.span, f"`{near.text}` lacks the name of a phase here")
        found: list[PhaseIndex] = []
        known = self.scope.phases
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word.text == PRINT and at < len(words):
                joined = next((j for j in (f"print {words[at].text}", f"print_{words[at].text}") if j in known), None)
                if joined is not None:
                    found.append(self.phase(DirectiveWord(word.span.to(words[at].span), joined)))
                    at += 1
                    continue
            if word.text == PRINT and len(known.get(PRINT, ())) > 1:
                found += [each.phase for each in known[PRINT]]
                continue
            found.append(self.phase(word))
        return tuple(found)

    def phase(self, word: DirectiveWord) -> PhaseIndex:
        meant = self.scope.phases.get(word.text, ())
        if len(meant) == 1:
            return meant[0].phase
        if meant:
            labels = tuple(Label(each.span, "one is bound here") for each in meant if each.span is not None)
            message = f"`{word.text}` means {len(meant)} values; give them different names"
            raise self.wrong(word.span, message, "SCH201", labels=labels)
        guess = nearest(word.text, self.scope.phases)
        hint = f"; did you mean `{guess}`?" if guess else ""
        if word.text in _devices(self.scope.problem):
            hint = "; it is a device, and a phase is wanted here"
        notes = () if guess or not self.scope.phases else ("the phases are " + _some(sorted(self.scope.phases)),)
        raise self.wrong(word.span, f"there is no phase `{word.text}`{hint}", fixes=_replace(word, guess), notes=notes)

    def one(self, words: Sequence[DirectiveWord], near: DirectiveWord) -> PhaseIndex:
        phases = self.phases(words, near)
        if len(phases) != 1:
            raise self.wrong(words[0].span.to(words[-1].span), f"`{near.text}` takes one phase")
        return phases[0]

    def device(self, word: DirectiveWord) -> str:
        problem = self.scope.problem
        if not devices_named(problem, word.text):
            names = _devices(problem)
            guess = nearest(word.text, names)
            meant = f"; did you mean `{guess}`?" if guess else ""
            notes = ("devices and classes: " + ", ".join(names[:8]) + (", …" if len(names) > 8 else ""),)
            message = f"there is no device or class `{word.text}`{meant}"
            raise self.wrong(word.span, message, fixes=_replace(word, guess), notes=notes)
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

    # ------------------------------------------------------------------ shapes and faults

    def around(
        self, middle: str, verb: DirectiveWord, rest: list[DirectiveWord]
    ) -> tuple[list[DirectiveWord], list[DirectiveWord]]:  # fmt: skip
        places = [place for place, word in enumerate(rest) if word.text == middle]
        if not places:
            raise self.wrong(verb.span, f"`{verb.text}` needs `{middle}` and devices after it")
        return rest[: places[-1]], rest[places[-1] + 1 :]

    def only(self, words: list[DirectiveWord], verb: DirectiveWord, what: str) -> DirectiveWord:
        if len(words) != 1:
            raise self.wrong(verb.span, f"`{verb.text}` takes {what} after `on`")
        return words[0]

    def line(self, span: Span) -> Line:
        number = self.number if self.number is not None else self.source.position(span.start)[0] + 1
        return Line(number, self.source.text[span.start : span.end], span.start, span.end)

    def wrong(
        self, span: Span, message: str, code: str = "SCH107", *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> _Wrong:  # fmt: skip
        self.diagnostics.append(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))
        return _Wrong(message)


def _devices(problem: Problem) -> list[str]:
    """Names of groups and of classes; `gpu` is a class where `gpu/gpu0` and `gpu/gpu1` are."""
    kinds = {group.id: (group.kind.partition("/")[0], group.kind) for group in problem.devices}
    return list(dict.fromkeys(name for group in problem.devices for name in (group.id, *kinds[group.id])))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


def _replace(word: DirectiveWord, guess: str | None) -> tuple[Fix, ...]:
    return (Fix(f"write {guess}", (Edit(word.span, guess),)),) if guess else ()


def _commas(words: Sequence[DirectiveWord | DirectiveGroup], scope: Scope) -> list[DirectiveWord | DirectiveGroup]:
    """`a, b` is `a b`, unless a phase is called so."""
    found: list[DirectiveWord | DirectiveGroup] = []
    for word in words:
        if isinstance(word, DirectiveGroup) or "," not in word.text or word.text in scope.phases:
            found.append(word)
            continue
        start = word.span.start
        for piece in word.text.split(","):
            if piece:
                found.append(DirectiveWord(Span(word.span.file, start, start + len(piece)), piece))
            start += len(piece) + 1
    return found
