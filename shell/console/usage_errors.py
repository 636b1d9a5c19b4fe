"""Usage errors, which every front (command line, session, notebook, Python) raises, and their "did you mean" suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from .process_exit import Exit


class UsageError(Exception):
    """A request of the user is wrong (exit 2): `message` says why, `hint` what to type instead."""

    exit: Exit = Exit.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class NotWritten(UsageError):
    """The command is right, but a file of its results cannot be written (exit 1, like an output of a program)."""

    exit = Exit.FAILED


def parse_seconds(option: str, text: str | None, most: float = inf) -> float | None:
    """The value of an option in seconds (`10` or `10s`), at most `most`; None if it is not given.  UsageError: not such a
    number."""
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
    """The candidate that a misspelt word most likely means: the only one it is a prefix of, else the nearest by edits; or
    None."""
    from ...lang.primitives.table import nearest as nearest_by_edits

    by_prefix = [candidate for candidate in candidates if len(word) >= 2 and candidate.startswith(word)]
    if len(by_prefix) == 1:
        return by_prefix[0]
    return nearest_by_edits(word, candidates)


def did_you_mean(word: str, candidates: Sequence[str]) -> str:
    """The end of a message, `; did you mean …?`, if a candidate is near; else empty."""
    from ...lang.primitives.table import did_you_mean as suggestion

    return suggestion(nearest(word, candidates))
