"""A small reader of command lines: options of one verb, with suggestions for misspelt ones.

Hand-written because starting `rho` must cost little, and because an APL expression may start with `-` (`-/1 2 3`),
which is then not an option.  Neighbours: `shell.cli.registry` declares the options, `shell.main` reads with them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import inf

from ...lang.records import dataclass
from .exits import Exit


class Takes(Enum):
    """What follows an option."""

    NOTHING = "a switch"
    VALUE = "one value, given once"
    VALUES = "one value each time, may be repeated"


class FileUse(Enum):
    """What becomes of the file that an option names."""

    NONE = "it names none"
    READ = "it is read"
    WRITTEN = "it is replaced"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its spellings (the first is canonical), what it takes, the value's name in help, one line of help, its choices,
    and what becomes of the file it names."""

    spellings: tuple[str, ...]
    takes: Takes
    value: str
    doc: str
    choices: tuple[str, ...] = ()
    file: FileUse = FileUse.NONE

    @property
    def name(self) -> str:
        return self.spellings[0]


class UsageError(Exception):
    """The command line is wrong (exit 2): `message` says how, `hint` what to type instead."""

    exit: Exit = Exit.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotWritten(UsageError):
    """The command line is right, and a file of its results cannot be written (exit 1, as an output of a program)."""

    exit = Exit.FAILED


@dataclass(frozen=True, slots=True)
class Arguments:
    """A read command line.  `given` maps canonical option names to their values in order (switches: empty strings)."""

    verb: str
    positional: tuple[str, ...]
    given: Mapping[str, tuple[str, ...]]

    def has(self, name: str) -> bool:
        return name in self.given

    def value(self, name: str) -> str | None:
        values = self.given.get(name)
        return values[-1] if values else None

    def values(self, name: str) -> tuple[str, ...]:
        return self.given.get(name, ())

    def pairs(self, name: str, shape: str) -> dict[str, str]:
        """`NAME=VALUE` options as a dict; a missing `=` or a repeated name is a usage error (`shape` is for the message)."""
        pairs: dict[str, str] = {}
        for text in self.values(name):
            key, equals, value = text.partition("=")
            key = key.strip()
            if not equals or not key or not value:
                raise UsageError(f"`{name} {text}` is not of the form {name} {shape}")
            if key in pairs:
                raise UsageError(f"{name} names `{key}` twice (`{pairs[key]}` and `{value}`)", "give each name once")
            pairs[key] = value
        return pairs


def seconds(option: str, text: str | None, most: float = inf) -> float | None:
    """A time that an option gives.  UsageError: it is none, or too long."""
    if text is None:
        return None
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = 0.0
    if not 0 < value <= most or value == inf:
        raise UsageError(f"{option} {text}: write a number of seconds such as 10")
    return value


def nearest(word: str, candidates: Sequence[str]) -> str | None:
    """The candidate a misspelt word most likely means, or None."""
    from ...lang.primitives import nearest as nearest_by_edits

    by_prefix = [candidate for candidate in candidates if len(word) >= 2 and candidate.startswith(word)]
    if len(by_prefix) == 1:
        return by_prefix[0]
    return nearest_by_edits(word, candidates)


def near(word: str, candidates: Sequence[str]) -> str:
    """What a message goes on with, if a candidate is near: `; did you mean …?`"""
    from ...lang.primitives import meant

    return meant(nearest(word, candidates))


def read(verb: str, words: Sequence[str], options: Sequence[Option]) -> Arguments:
    """Split `words` into options and positional arguments."""
    spelt = {spelling: option for option in options for spelling in option.spellings}
    positional: list[str] = []
    given: dict[str, list[str]] = {}
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            positional.extend(words[at:])
            break
        name, equals, value = word.partition("=")
        option = spelt.get(word) or (spelt.get(name) if equals and name.startswith("--") else None)
        if option is None:
            if looks_like_option(word):
                raise unknown_option(verb, name, tuple(spelt))
            positional.append(word)
            continue
        if option.takes is Takes.NOTHING:
            if word not in spelt:
                raise UsageError(f"rho {verb}: {option.name} takes no value")
            given.setdefault(option.name, []).append("")
            continue
        if word in spelt:
            if at >= len(words):
                raise UsageError(f"rho {verb}: {word} needs a value: {option.name} {option.value}")
            value = words[at]
            at += 1
        if option.takes is Takes.VALUE and option.name in given:
            raise UsageError(f"rho {verb}: {option.name} is given twice", "it takes one value")
        if option.choices and value not in option.choices:
            guess = near(value, option.choices)
            raise UsageError(f"rho {verb}: {option.name} cannot be `{value}`{guess}", "one of " + ", ".join(option.choices))
        given.setdefault(option.name, []).append(value)
    return Arguments(verb, tuple(positional), {name: tuple(values) for name, values in given.items()})


def looks_like_option(word: str) -> bool:
    """`--word` or `-w`: an expression such as `-3`, `-/x` or `-` does not."""
    if word.startswith("--"):
        return len(word) > 2 and word[2].isalpha() and word[2].isascii()
    return len(word) == 2 and word[0] == "-" and word[1].isalpha() and word[1].isascii()


def unknown_option(verb: str, word: str, spellings: Sequence[str]) -> UsageError:
    guess = nearest(word, [spelling for spelling in spellings if spelling.startswith("--")])
    meant = f"; did you mean {guess}?" if guess else ""
    return UsageError(f"rho {verb}: unknown option {word}{meant}", f"rho {verb} --help lists the options")
