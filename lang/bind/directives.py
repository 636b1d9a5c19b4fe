"""Directives of a `schedule` block: what can be said of each without a program's phases or a profile's devices.

One reader for everyone: `rho check`, sessions and editors resolve names to the values of a program
(`typechecker.elaborate.programs`), the planner to phases and devices (`backend.schedule.instances.directive_resolution`).
Verbs, the words between them, objectives and units are judged here, and so is what contradicts itself, such as `a before a`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final, Generic, TypeVar

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..primitives.table import meant, nearest
from ..support.records import dataclass
from ..syntax.source import Span
from ..tree.program import Directive, DirectiveGroup, DirectiveWord

Phase = TypeVar("Phase")

PRINT: Final = "print"
GAPS: Final = ("…", "...", "..")
OBJECTIVES: Final = ("latency", "throughput", "energy", "machines", "syncs")
VERBS: Final = (
    "place", "split", "nosplit", "replicate", "keep", "move", "limit", "minimize", "deadline", "speculate", "adjacent", "order",
    "before", "issue_before",
)  # fmt: skip
BETWEEN: Final = ("before", "issue_before")
_QUANTITY: Final = re.compile(r"([0-9][0-9_]*)(?:\.([0-9]{1,18}))?([A-Za-zµμ]*)")
_BYTES: Final = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
    "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40,
}  # fmt: skip
_NANOSECONDS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True, slots=True)
class ResolvedDirective(Generic[Phase]):
    """One directive that can be meant: its verb and its phases by group (the items of `order`, where None is `…`).

    `group` is the verb of `gpu { a ⋄ b }`, whose groups are its steps.  `devices` are words, in their order; `parts` the shares
    of a split; `number` bytes or machines; `text` a time; `objectives` what is to be least."""

    verb: str
    span: Span
    phases: tuple[tuple[Phase | None, ...], ...] = ()
    devices: tuple[DirectiveWord, ...] = ()
    parts: tuple[int, ...] = ()
    number: int = 0
    text: str = ""
    objectives: tuple[str, ...] = ()


class Wrong(Exception):
    """One directive cannot be meant; the diagnostic is noted already."""


class DirectiveReader(Generic[Phase]):
    """Reads directives one at a time; what each name stands for is a subclass's to say."""

    def __init__(self, known: Collection[str]) -> None:
        self.known = known
        """Names of phases: `a, b` is `a b`, unless a phase is called so, and `print a` is one name where it is known."""
        self.diagnostics: list[Diagnostic] = []
        self.said: list[ResolvedDirective[Phase]] = []

    def phase(self, word: DirectiveWord) -> Phase:
        """What a name stands for; raises `self.wrong(…)`."""
        raise NotImplementedError

    def prints(self) -> Sequence[Phase]:
        """What `print` alone stands for, where that is several phases."""
        return ()

    def statement(self, words: Directive) -> None:
        with suppress(Wrong):
            self.said.append(self.directive(words))

    def wrong(
        self, span: Span, message: str, code: Code = Code.SCH107, *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> Wrong:  # fmt: skip
        self.diagnostics.append(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))
        return Wrong(message)

    def directive(self, words: Directive) -> ResolvedDirective[Phase]:
        plain = _commas(words.words, self.known)
        span = words.span
        if isinstance(plain[-1], DirectiveGroup):
            return self._group(words, plain)
        texts = [word for word in plain if isinstance(word, DirectiveWord)]
        if len(texts) < len(plain):
            raise self.wrong(span, "a group `{ … }` comes last, after a device: `gpu { a ⋄ b }`")
        first, rest = texts[0], texts[1:]
        for position, word in enumerate(texts):
            if word.text in BETWEEN and position:
                return self._between(span, word, texts[:position], texts[position + 1 :])
        match first.text:
            case "place" | "keep":
                names, devices = self._around("on", first, rest)
                if len(devices) != 1:
                    raise self.wrong(first.span, f"`{first.text}` takes one device after `on`")
                phases = self.phases(names, first) if first.text == "place" else (self._one(names, first),)
                return ResolvedDirective(first.text, span, (phases,), (devices[0],))
            case "move":
                if len(rest) < 2:
                    raise self.wrong(first.span, "a move is written `move x gpu0`")
                if len(rest) > 2:
                    raise self.wrong(first.span, "a move is of one value: `move x gpu0`")
                return ResolvedDirective("move", span, ((self._one(rest[:1], first),),), (rest[1],))
            case "split":
                return self._split(span, first, rest)
            case "nosplit" | "replicate" | "speculate":
                return ResolvedDirective(first.text, span, (self.phases(rest, first),))
            case "limit":
                return self._limit(span, first, rest)
            case "minimize" | "minimise":
                return self._minimize(span, first, rest)
            case "deadline":
                text = "".join(word.text for word in rest)
                if not 0 < len(rest) <= 2 or ticks_of(text, 1) is None:
                    message = "a deadline is a time such as `5ms`, or a number of ticks"
                    raise self.wrong(rest[0].span if rest else first.span, message)
                return ResolvedDirective("deadline", span, text=text)
            case "adjacent":
                phases = self.phases(rest, first)
                if len(phases) < 2 or len(set(phases)) < len(phases):
                    raise self.wrong(first.span, "at least two different phases are adjacent: `adjacent x z`")
                return ResolvedDirective("adjacent", span, (phases,))
            case "order":
                return self._order(span, first, rest)
            case "before" | "issue_before":
                raise self.wrong(first.span, f"`{first.text}` stands between phases: `a {first.text} b`")
        guess = nearest(first.text, VERBS)
        notes = ("known: " + ", ".join(VERBS),)
        raise self.wrong(first.span, f"`{first.text}` is not a directive{meant(guess)}", fixes=instead(first, guess), notes=notes)

    # ------------------------------------------------------------------ the directives

    def _between(
        self, span: Span, verb: DirectiveWord, left: list[DirectiveWord], right: list[DirectiveWord]
    ) -> ResolvedDirective[Phase]:  # fmt: skip
        first, then = self.phases(left, verb), self.phases(right, verb)
        both = set(first) & set(then)
        if both:
            again = next(word for word in right if any(word.text == other.text for other in left) or len(right) == 1)
            message = f"`{again.text}` cannot come before itself"
            raise self.wrong(again.span, message, Code.SCH101)
        return ResolvedDirective(verb.text, span, (first, then))

    def _group(self, words: Directive, plain: Sequence[DirectiveWord | DirectiveGroup]) -> ResolvedDirective[Phase]:
        """`gpu { a ⋄ b }`: both on the gpu, and issued in this order."""
        group = plain[-1]
        assert isinstance(group, DirectiveGroup)
        if len(plain) != 2 or not isinstance(plain[0], DirectiveWord):
            raise self.wrong(words.span, "a group is written `gpu { a ⋄ b }`: one device, then what it does in order")
        steps: list[tuple[Phase, ...]] = []
        for inner in group.directives:
            if any(isinstance(word, DirectiveGroup) for word in inner.words):
                raise self.wrong(inner.span, "groups do not hold groups")
            texts = [word for word in _commas(inner.words, self.known) if isinstance(word, DirectiveWord)]
            steps.append(self.phases(texts, plain[0]))
        if not steps:
            raise self.wrong(words.span, "the group is empty")
        return ResolvedDirective("group", words.span, tuple(steps), (plain[0],))

    def _split(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        head, devices = self._around("over", verb, rest)
        at = next((position for position, word in enumerate(head) if position and word.text == "rows"), None)
        if at is None:
            raise self.wrong(verb.span, "a split is written `split m rows 3:1 over gpu0 gpu1` (without 3:1: evenly)")
        phase, ratio = self._one(head[:at], verb), head[at + 1 :]
        parts: tuple[int, ...] = ()
        if ratio:
            numbers = "".join(word.text for word in ratio).split(":")
            if not all(n.isascii() and n.isdigit() and 0 < len(n) <= 12 for n in numbers) or not any(map(int, numbers)):
                raise self.wrong(ratio[0].span, "shares are whole numbers such as 3:1, not all 0")
            parts = tuple(map(int, numbers))
        if not devices:
            raise self.wrong(verb.span, "no device is named after `over`")
        if len({word.text for word in devices}) < len(devices):
            raise self.wrong(devices[0].span, "a device is named twice; it takes one share", Code.SCH201)
        return ResolvedDirective("split", span, ((phase,),), tuple(devices), parts)

    def _limit(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        texts = [word.text for word in rest]
        if texts[:1] == ["memory"] and len(texts) in (3, 4):
            size = bytes_of("".join(texts[2:]))
            if size is None:
                raise self.wrong(rest[2].span, f"`{' '.join(texts[2:])}` is not a number of bytes such as 200MB")
            return ResolvedDirective("limit memory", span, devices=(rest[1],), number=size)
        if texts[:1] == ["machines"] and len(texts) == 2:
            if not (texts[1].isascii() and texts[1].isdigit() and len(texts[1]) <= 12 and int(texts[1])):
                raise self.wrong(rest[1].span, f"`{texts[1]}` is not a number of machines from 1")
            return ResolvedDirective("limit machines", span, number=int(texts[1]))
        raise self.wrong(verb.span, "a limit is written `limit memory gpu0 200MB` or `limit machines 40`")

    def _minimize(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        if not rest:
            raise self.wrong(verb.span, "what is to be least? one of " + ", ".join(OBJECTIVES))
        for word in rest:
            if word.text not in OBJECTIVES:
                guess = nearest(word.text, OBJECTIVES)
                hint = meant(guess) or f"; one of {', '.join(OBJECTIVES)}"
                raise self.wrong(word.span, f"`{word.text}` is not an objective{hint}", fixes=instead(word, guess))
        return ResolvedDirective("minimize", span, objectives=tuple(word.text for word in rest))

    def _order(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        items: list[Phase | None] = []
        names: list[DirectiveWord] = []
        for word in (*rest, None):
            if word is None or word.text in GAPS:
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
            raise self.wrong(verb.span, "an order names each phase once", Code.SCH101)
        return ResolvedDirective("order", span, (tuple(items),))

    # ------------------------------------------------------------------ names

    def phases(self, words: Sequence[DirectiveWord], near: DirectiveWord) -> tuple[Phase, ...]:
        """At least one phase; `print x` is one, `print` all that print."""
        if not words:
            raise self.wrong(near.span, f"`{near.text}` lacks the name of a phase here")
        phases: list[Phase] = []
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word.text == PRINT and at < len(words):
                joined = next((j for j in (f"print {words[at].text}", f"print_{words[at].text}") if j in self.known), None)
                if joined is not None:
                    phases.append(self.phase(DirectiveWord(word.span.to(words[at].span), joined)))
                    at += 1
                    continue
            several = self.prints() if word.text == PRINT else ()
            phases += several if len(several) > 1 else [self.phase(word)]
        return tuple(phases)

    def _one(self, words: Sequence[DirectiveWord], near: DirectiveWord) -> Phase:
        phases = self.phases(words, near)
        if len(phases) != 1:
            raise self.wrong(words[0].span.to(words[-1].span), f"`{near.text}` takes one phase")
        return phases[0]

    def unknown(self, word: DirectiveWord, names: Collection[str], hint: str = "") -> Wrong:
        """There is no such phase; a near one is offered."""
        guess = nearest(word.text, names)
        notes = () if guess or not names else ("the phases are " + _some(sorted(names)),)
        message = f"there is no phase `{word.text}`{hint or meant(guess)}"
        return self.wrong(word.span, message, fixes=instead(word, guess), notes=notes)

    def _around(
        self, middle: str, verb: DirectiveWord, rest: list[DirectiveWord]
    ) -> tuple[list[DirectiveWord], list[DirectiveWord]]:  # fmt: skip
        places = [position for position, word in enumerate(rest) if word.text == middle]
        if not places:
            raise self.wrong(verb.span, f"`{verb.text}` needs `{middle}` and devices after it")
        return rest[: places[-1]], rest[places[-1] + 1 :]


class _Values(DirectiveReader[str]):
    """Names are those of a program's values."""

    def __init__(self, names: Mapping[str, str | Sequence[Span]], printed: Collection[str], complete: bool) -> None:
        values = [name for name, what in names.items() if not isinstance(what, str)]
        super().__init__({*values, PRINT, *(f"{PRINT} {name}" for name in printed)})
        self.names, self.complete = names, complete

    def phase(self, word: DirectiveWord) -> str:
        what = self.names.get(word.text)
        if isinstance(what, str):
            raise self.wrong(word.span, f"`{word.text}` is {what}; the name of a value is wanted here")
        if what is not None and len(what) > 1:
            labels = tuple(Label(span, "one is bound here") for span in what)
            message = f"`{word.text}` means {len(what)} values; give them different names"
            raise self.wrong(word.span, message, Code.SCH201, labels=labels)
        if word.text not in self.known and self.complete:
            raise self.unknown(word, self.known)
        return word.text


def check_directives(
    block: Sequence[Directive], names: Mapping[str, str | Sequence[Span]], printed: Collection[str], *, complete: bool = True
) -> list[Diagnostic]:  # fmt: skip
    """What is wrong with a block whatever the devices are.

    `names`: where each value is bound, or what a name of no value is, as in "a function"; `printed` are those that `print x` may
    be said of; not `complete`: there may be more."""
    reader = _Values(names, printed, complete)
    for words in block:
        reader.statement(words)
    return reader.diagnostics


def instead(word: DirectiveWord, guess: str | None) -> tuple[Fix, ...]:
    return (Fix(f"write {guess}", (Edit(word.span, guess),)),) if guess else ()


def bytes_of(text: str) -> int | None:
    """`200MB`, `1.5GiB`, `4096`; a part of a byte is dropped."""
    quantity = _quantity(text)
    if quantity is None or quantity[1].upper() not in _BYTES:
        return None
    return int(quantity[0] * _BYTES[quantity[1].upper()])


def ticks_of(text: str, tick_ns: int) -> int | None:
    """`5ms`, `10us`, or plain ticks; a part of a tick is dropped."""
    quantity = _quantity(text)
    if quantity is None:
        return None
    number, unit = quantity
    if unit == "":
        return int(number) if number.denominator == 1 else None
    if unit not in _NANOSECONDS:
        return None
    return int(number * _NANOSECONDS[unit] / tick_ns)


def _quantity(text: str) -> tuple[Fraction, str] | None:
    match = _QUANTITY.fullmatch(text)
    if match is None or len(match[1]) > 18:
        return None
    decimals = match[2] or ""
    number = Fraction(int(match[1].replace("_", "") + decimals), 10 ** len(decimals))
    return number, match[3]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


def _commas(words: Sequence[DirectiveWord | DirectiveGroup], known: Collection[str]) -> list[DirectiveWord | DirectiveGroup]:
    """`a, b` is `a b`, unless a phase is called so."""
    parts: list[DirectiveWord | DirectiveGroup] = []
    for word in words:
        if isinstance(word, DirectiveGroup) or "," not in word.text or word.text in known:
            parts.append(word)
            continue
        start = word.span.start
        for piece in word.text.split(","):
            if piece:
                parts.append(DirectiveWord(Span(word.span.file, start, start + len(piece)), piece))
            start += len(piece) + 1
    return parts
