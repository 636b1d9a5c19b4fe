"""Errors of a command line, and the suggestions that their messages end with."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from .process_exit import Exit


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
    from ...lang.primitives.table import nearest as nearest_by_edits

    by_prefix = [candidate for candidate in candidates if len(word) >= 2 and candidate.startswith(word)]
    if len(by_prefix) == 1:
        return by_prefix[0]
    return nearest_by_edits(word, candidates)


def near(word: str, candidates: Sequence[str]) -> str:
    """What a message goes on with, if a candidate is near: `; did you mean …?`"""
    from ...lang.primitives.table import did_you_mean

    return did_you_mean(nearest(word, candidates))
