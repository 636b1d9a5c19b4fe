"""The directives of a `schedule` block: their syntax, and the checks that need neither the phases of a program nor devices.

`DirectiveReader` checks verbs, prepositions, objectives, units and contradictions such as `a before a`.  Its subclasses resolve
names: here to the values of a program (for `rho check`, sessions and editors, through `typechecker.elaborate.programs`), and in
`backend.schedule.instances.directive_resolution` to phases and devices.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..primitives.table import did_you_mean, nearest
from ..support.records import dataclass
from ..syntax.source import Span
from ..tree.program import Directive, DirectiveGroup, DirectiveWord

if TYPE_CHECKING:
    from fractions import Fraction

Phase = TypeVar("Phase")

PRINT: Final = "print"
ELLIPSES: Final = ("…", "...", "..")
OBJECTIVES: Final = ("latency", "throughput", "energy", "machines", "syncs")
VERBS: Final = (
    "place", "split", "nosplit", "replicate", "keep", "move", "limit", "minimize", "deadline", "speculate", "order",
    "before", "issue_before", "cut",
)  # fmt: skip
INFIX_VERBS: Final = ("before", "issue_before")
NUMBERED: Final = re.compile(r"#[0-9]{1,9}")
"""A phase by the number that a plan shows: `#4`."""
_QUANTITY: Final = re.compile(r"([0-9][0-9_]*)(?:\.([0-9]{1,18}))?([A-Za-zµμ]*)")
_BYTES: Final = {
    "": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40,
    "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40,
}  # fmt: skip
_NANOSECONDS: Final = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9}


@dataclass(frozen=True, slots=True)
class ResolvedDirective(Generic[Phase]):
    """One well-formed directive: its verb, and groups of phases.

    `a before b` has the groups (a), (b); `order x y z` one group; `gpu { a ⋄ b }`, whose verb is `group`, one for each step.
    `devices` are the device words in order; `shares` the ratio of a split (`3:1` is (3, 1)); `number` a limit in bytes or
    machines, or an axis; `text` a deadline as written; `objectives` what to minimize, most important first."""

    verb: str
    span: Span
    phases: tuple[tuple[Phase, ...], ...] = ()
    devices: tuple[DirectiveWord, ...] = ()
    shares: tuple[int, ...] = ()
    number: int = 0
    text: str = ""
    objectives: tuple[str, ...] = ()


class DirectiveError(Exception):
    """Ends the reading of one directive, whose diagnostic has been recorded."""


class DirectiveReader(Generic[Phase]):
    """Checks directives one at a time into `resolved` and `diagnostics`; subclasses resolve the names of phases (`phase`)."""

    def __init__(self, phase_names: Collection[str]) -> None:
        self.phase_names = phase_names
        """The names of phases.  `a, b` means `a b` unless a phase has a comma in its name; `print a` is one name if it is in this
        set."""
        self.diagnostics: list[Diagnostic] = []
        self.resolved: list[ResolvedDirective[Phase]] = []

    def phase(self, word: DirectiveWord) -> Phase:
        """The phase that a name stands for; raises `self.error(…)`."""
        raise NotImplementedError

    def printing_phases(self) -> Sequence[Phase]:
        """The phases that `print` alone stands for, where there are several."""
        return ()

    def read(self, words: Directive) -> None:
        with suppress(DirectiveError):
            self.resolved.append(self.directive(words))

    def error(
        self, span: Span, message: str, code: Code = Code.SCH107, *,
        labels: tuple[Label, ...] = (), notes: tuple[str, ...] = (), fixes: tuple[Fix, ...] = (),
    ) -> DirectiveError:  # fmt: skip
        self.diagnostics.append(Diagnostic(code, message, span, labels=labels, notes=notes, fixes=fixes))
        return DirectiveError(message)

    def directive(self, words: Directive) -> ResolvedDirective[Phase]:
        separate_words = _split_at_commas(words.words, self.phase_names)
        span = words.span
        if isinstance(separate_words[-1], DirectiveGroup):
            return self._group(words, separate_words)
        texts = [word for word in separate_words if isinstance(word, DirectiveWord)]
        if len(texts) < len(separate_words):
            raise self.error(span, "a group `{ … }` comes last, after a device: `gpu { a ⋄ b }`")
        first, rest = texts[0], texts[1:]
        for position, word in enumerate(texts):
            if word.text in INFIX_VERBS and position:
                return self._between(span, word, texts[:position], texts[position + 1 :])
        match first.text:
            case "place" | "keep":
                names, devices = self._around("on", first, rest)
                if len(devices) != 1:
                    raise self.error(first.span, f"`{first.text}` takes one device after `on`")
                phases = self.phases(names, first) if first.text == "place" else (self._one(names, first),)
                return ResolvedDirective(first.text, span, (phases,), (devices[0],))
            case "move":
                if len(rest) < 2:
                    raise self.error(first.span, "a move is written `move x gpu0`")
                if len(rest) > 2:
                    raise self.error(first.span, "a move is of one value: `move x gpu0`")
                return ResolvedDirective("move", span, ((self._one(rest[:1], first),),), (rest[1],))
            case "split":
                return self._split(span, first, rest)
            case "nosplit" | "replicate" | "speculate":
                return ResolvedDirective(first.text, span, (self.phases(rest, first),))
            case "cut":
                if len(rest) < 3 or rest[-2].text != "axis" or not re.fullmatch("[0-9]{1,3}", rest[-1].text):
                    raise self.error(first.span, "a cut is written `cut m axis 1`")
                return ResolvedDirective("cut", span, ((self._one(rest[:-2], first),),), number=int(rest[-1].text))
            case "limit":
                return self._limit(span, first, rest)
            case "minimize" | "minimise":
                return self._minimize(span, first, rest)
            case "deadline":
                text = "".join(word.text for word in rest)
                if not 0 < len(rest) <= 2 or ticks_of(text, 1) is None:
                    message = "a deadline is a time such as `5ms`, or a number of ticks"
                    raise self.error(rest[0].span if rest else first.span, message)
                return ResolvedDirective("deadline", span, text=text)
            case "order":
                return self._order(span, first, rest)
            case "before" | "issue_before":
                raise self.error(first.span, f"`{first.text}` stands between phases: `a {first.text} b`")
        guess = nearest(first.text, VERBS)
        notes = ("known: " + ", ".join(VERBS),)
        message = f"`{first.text}` is not a directive{did_you_mean(guess)}"
        raise self.error(first.span, message, fixes=replacement_fix(first, guess), notes=notes)

    # ------------------------------------------------------------------ the directives

    def _between(
        self, span: Span, verb: DirectiveWord, left: list[DirectiveWord], right: list[DirectiveWord]
    ) -> ResolvedDirective[Phase]:  # fmt: skip
        first, then = self.phases(left, verb), self.phases(right, verb)
        shared = set(first) & set(then)
        if shared:
            repeated = next(word for word in right if any(word.text == other.text for other in left) or len(right) == 1)
            message = f"`{repeated.text}` cannot come before itself"
            raise self.error(repeated.span, message, Code.SCH101)
        return ResolvedDirective(verb.text, span, (first, then))

    def _group(self, words: Directive, plain: Sequence[DirectiveWord | DirectiveGroup]) -> ResolvedDirective[Phase]:
        """`gpu { a ⋄ b }`: both phases on the gpu, issued in this order."""
        group = plain[-1]
        assert isinstance(group, DirectiveGroup)
        if len(plain) != 2 or not isinstance(plain[0], DirectiveWord):
            raise self.error(words.span, "a group is written `gpu { a ⋄ b }`: one device, then what it does in order")
        steps: list[tuple[Phase, ...]] = []
        for inner in group.directives:
            if any(isinstance(word, DirectiveGroup) for word in inner.words):
                raise self.error(inner.span, "groups do not hold groups")
            texts = [word for word in _split_at_commas(inner.words, self.phase_names) if isinstance(word, DirectiveWord)]
            steps.append(self.phases(texts, plain[0]))
        if not steps:
            raise self.error(words.span, "the group is empty")
        return ResolvedDirective("group", words.span, tuple(steps), (plain[0],))

    def _split(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        head, devices = self._around("over", verb, rest)
        index = next((position for position, word in enumerate(head) if position and word.text == "rows"), None)
        if index is None:
            raise self.error(verb.span, "a split is written `split m rows 3:1 over gpu0 gpu1` (without 3:1: evenly)")
        phase, ratio = self._one(head[:index], verb), head[index + 1 :]
        parts: tuple[int, ...] = ()
        if ratio:
            numbers = "".join(word.text for word in ratio).split(":")
            if not all(n.isascii() and n.isdigit() and 0 < len(n) <= 12 for n in numbers) or not any(map(int, numbers)):
                raise self.error(ratio[0].span, "shares are whole numbers such as 3:1, not all 0")
            parts = tuple(map(int, numbers))
        if not devices:
            raise self.error(verb.span, "no device is named after `over`")
        if len({word.text for word in devices}) < len(devices):
            raise self.error(devices[0].span, "a device is named twice; it takes one share", Code.SCH201)
        return ResolvedDirective("split", span, ((phase,),), tuple(devices), parts)

    def _limit(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        texts = [word.text for word in rest]
        if texts[:1] == ["memory"] and len(texts) in (3, 4):
            size = bytes_of("".join(texts[2:]))
            if size is None:
                raise self.error(rest[2].span, f"`{' '.join(texts[2:])}` is not a number of bytes such as 200MB")
            return ResolvedDirective("limit memory", span, devices=(rest[1],), number=size)
        if texts[:1] == ["machines"] and len(texts) == 2:
            if not (texts[1].isascii() and texts[1].isdigit() and len(texts[1]) <= 12 and int(texts[1])):
                raise self.error(rest[1].span, f"`{texts[1]}` is not a number of machines from 1")
            return ResolvedDirective("limit machines", span, number=int(texts[1]))
        raise self.error(verb.span, "a limit is written `limit memory gpu0 200MB` or `limit machines 40`")

    def _minimize(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        if not rest:
            raise self.error(verb.span, "what is to be least? one of " + ", ".join(OBJECTIVES))
        for word in rest:
            if word.text not in OBJECTIVES:
                guess = nearest(word.text, OBJECTIVES)
                hint = did_you_mean(guess) or f"; one of {', '.join(OBJECTIVES)}"
                raise self.error(word.span, f"`{word.text}` is not an objective{hint}", fixes=replacement_fix(word, guess))
        return ResolvedDirective("minimize", span, objectives=tuple(word.text for word in rest))

    def _order(self, span: Span, verb: DirectiveWord, rest: list[DirectiveWord]) -> ResolvedDirective[Phase]:
        holes = [word for word in rest if word.text in ELLIPSES]
        named = [word for word in rest if word.text not in ELLIPSES]
        if holes and named:
            fix = Fix("leave it out", tuple(Edit(word.span, "") for word in holes))
            message = f"`{holes[0].text}` is not needed: an order lets others come before, between and after"
            raise self.error(holes[0].span, message, fixes=(fix,))
        phases = self.phases(named, verb) if named else ()
        if len(phases) < 2:
            raise self.error(verb.span, "an order names at least two phases: `order x z`")
        if len(set(phases)) < len(phases):
            raise self.error(verb.span, "an order names each phase once", Code.SCH101)
        return ResolvedDirective("order", span, (phases,))

    # ------------------------------------------------------------------ names

    def phases(self, words: Sequence[DirectiveWord], verb: DirectiveWord) -> tuple[Phase, ...]:
        """The phases that some words name, at least one; `print x` is one phase, `print` alone every phase that prints."""
        if not words:
            raise self.error(verb.span, f"`{verb.text}` lacks the name of a phase here")
        phases: list[Phase] = []
        index = 0
        while index < len(words):
            word = words[index]
            index += 1
            if word.text == PRINT and index < len(words):
                printed = words[index].text
                joined = next((name for name in (f"print {printed}", f"print_{printed}") if name in self.phase_names), None)
                if joined is not None:
                    phases.append(self.phase(DirectiveWord(word.span.to(words[index].span), joined)))
                    index += 1
                    continue
            several = self.printing_phases() if word.text == PRINT else ()
            phases += several if len(several) > 1 else [self.phase(word)]
        return tuple(phases)

    def _one(self, words: Sequence[DirectiveWord], verb: DirectiveWord) -> Phase:
        phases = self.phases(words, verb)
        if len(phases) != 1:
            raise self.error(words[0].span.to(words[-1].span), f"`{verb.text}` takes one phase")
        return phases[0]

    def unknown(self, word: DirectiveWord, names: Collection[str], hint: str = "") -> DirectiveError:
        """The error that no phase has this name, with a fix if a name is near."""
        guess = nearest(word.text, names)
        notes = () if guess or not names else ("the phases are " + _abbreviated(sorted(names)),)
        message = f"there is no phase `{word.text}`{hint or did_you_mean(guess)}"
        return self.error(word.span, message, fixes=replacement_fix(word, guess), notes=notes)

    def _around(
        self, middle: str, verb: DirectiveWord, rest: list[DirectiveWord]
    ) -> tuple[list[DirectiveWord], list[DirectiveWord]]:  # fmt: skip
        positions = [position for position, word in enumerate(rest) if word.text == middle]
        if not positions:
            raise self.error(verb.span, f"`{verb.text}` needs `{middle}` and devices after it")
        return rest[: positions[-1]], rest[positions[-1] + 1 :]


class _ValueDirectiveReader(DirectiveReader[str]):
    """Resolves names to the values of a program."""

    def __init__(self, names: Mapping[str, str | Sequence[Span]], printed: Collection[str], complete: bool) -> None:
        values = [name for name, what in names.items() if not isinstance(what, str)]
        super().__init__({*values, PRINT, *(f"{PRINT} {name}" for name in printed)})
        self.names, self.complete = names, complete

    def phase(self, word: DirectiveWord) -> str:
        entry = self.names.get(word.text)
        if isinstance(entry, str):
            raise self.error(word.span, f"`{word.text}` is {entry}; the name of a value is wanted here")
        if entry is not None and len(entry) > 1:
            labels = tuple(Label(span, "one is bound here") for span in entry)
            message = f"`{word.text}` means {len(entry)} values; give them different names"
            raise self.error(word.span, message, Code.SCH201, labels=labels)
        if word.text not in self.phase_names and self.complete and not NUMBERED.fullmatch(word.text):
            raise self.unknown(word, self.phase_names)
        return word.text


def check_directives(
    block: Sequence[Directive], names: Mapping[str, str | Sequence[Span]], printed: Collection[str], *, complete: bool = True
) -> list[Diagnostic]:  # fmt: skip
    """The diagnostics of a block that do not depend on devices.

    `names` gives the spans where each value is bound, or, for a name of something else, what it is ("a function"); `printed` are
    the values that `print x` may name.  Unless `complete`, unknown names are accepted, because the program may have more
    values."""
    reader = _ValueDirectiveReader(names, printed, complete)
    for words in block:
        reader.read(words)
    return reader.diagnostics


def replacement_fix(word: DirectiveWord, guess: str | None) -> tuple[Fix, ...]:
    return (Fix(f"write {guess}", (Edit(word.span, guess),)),) if guess else ()


def bytes_of(text: str) -> int | None:
    """The bytes of `200MB`, `1.5GiB` or `4096`, rounded down; None for other text."""
    quantity = _quantity(text)
    if quantity is None or quantity[1].upper() not in _BYTES:
        return None
    return int(quantity[0] * _BYTES[quantity[1].upper()])


def ticks_of(text: str, tick_ns: int) -> int | None:
    """The ticks of `5ms`, `10us` or a plain number of ticks, rounded down; None for other text."""
    quantity = _quantity(text)
    if quantity is None:
        return None
    number, item = quantity
    if item == "":
        return int(number) if number.denominator == 1 else None
    if item not in _NANOSECONDS:
        return None
    return int(number * _NANOSECONDS[item] / tick_ns)


def _quantity(text: str) -> tuple[Fraction, str] | None:
    match = _QUANTITY.fullmatch(text)
    if match is None or len(match[1]) > 18:
        return None
    from fractions import Fraction

    decimals = match[2] or ""
    number = Fraction(int(match[1].replace("_", "") + decimals), 10 ** len(decimals))
    return number, match[3]


def _abbreviated(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", …" if len(names) > 12 else "")


def _split_at_commas(
    words: Sequence[DirectiveWord | DirectiveGroup], phase_names: Collection[str]
) -> list[DirectiveWord | DirectiveGroup]:  # fmt: skip
    """The words split at commas, except those that are names of phases."""
    parts: list[DirectiveWord | DirectiveGroup] = []
    for word in words:
        if isinstance(word, DirectiveGroup) or "," not in word.text or word.text in phase_names:
            parts.append(word)
            continue
        start = word.span.start
        for raw in word.text.split(","):
            if raw:
                parts.append(DirectiveWord(Span(word.span.file, start, start + len(raw)), raw))
            start += len(raw) + 1
    return parts
