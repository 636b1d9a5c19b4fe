"""Fixes applied to a text, and what that changes: `rho check --fix`, `--diff` of `check` and `fmt`.

A fix is kept only if the text then has no more errors than before, so that what it uncovers is no worse than what it repairs.
What a fix uncovers may have a fix too, so errors are counted after those that follow.  Fixes are tried all together, and one by
one where all together leave more errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...lang.diagnostics.model import Diagnostic, Fix
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source

MOST_ROUNDS: Final = 50
_MOST_FOLLOWING: Final = 6
Check = Callable[[Source], Sequence[Diagnostic]]


@dataclass(frozen=True, slots=True)
class FixRefused:
    """A message whose fix was not applied, with the errors there would be with it and the first that would be new."""

    diagnostic: Diagnostic
    errors: int
    first: Diagnostic | None


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text with its fixes, how many there were, and those that were not applied."""

    source: Source
    count: int
    refused: tuple[FixRefused, ...] = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A text after some fixes."""

    source: Source
    diagnostics: Sequence[Diagnostic]
    count: int


def fixed(source: Source, check: Check) -> Fixed:
    """The text with its fixes."""
    now = _Attempt(source, check(source), 0)
    refused: list[FixRefused] = []
    for _ in range(MOST_ROUNDS):
        fixable, refused = _apart(now.diagnostics, now.source), []
        attempts = [fixable, *([one] for one in fixable)] if len(fixable) > 1 else [fixable] * bool(fixable)
        for attempt in attempts:
            after = _followed(now, [diagnostic.fixes[0] for diagnostic in attempt], check)
            if _errors(after.diagnostics) <= _errors(now.diagnostics) and _state(after.diagnostics) != _state(now.diagnostics):
                now = after
                break
            if len(attempt) == 1:
                before = _state(now.diagnostics)
                new = [one for one in after.diagnostics if one.is_error and (one.code, one.message) not in before]
                refused.append(FixRefused(attempt[0], _errors(after.diagnostics), new[0] if new else None))
        else:
            break
    return Fixed(now.source, now.count, tuple(refused))


def _followed(now: _Attempt, fixes: Sequence[Fix], check: Check) -> _Attempt:
    """The text after the fixes and, while it has more errors than before, after the fixes of what they uncover."""
    first = after = _attempted(now, fixes, check)
    for _ in range(_MOST_FOLLOWING):
        further = [diagnostic.fixes[0] for diagnostic in _apart(after.diagnostics, after.source)]
        if _errors(after.diagnostics) <= _errors(now.diagnostics) or not further:
            break
        after = _attempted(after, further, check)
    return after if _errors(after.diagnostics) <= _errors(now.diagnostics) else first


def _attempted(now: _Attempt, fixes: Sequence[Fix], check: Check) -> _Attempt:
    text = applied(now.source, fixes)
    return _Attempt(text, check(text), now.count + len(fixes))


def difference(old: Source, new: str) -> str:
    """What changes, as a unified diff; empty if nothing does."""
    from difflib import unified_diff

    lines = unified_diff(old.text.splitlines(keepends=True), new.splitlines(keepends=True), old.name, old.name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _apart(diagnostics: Sequence[Diagnostic], source: Source) -> list[Diagnostic]:
    """The messages whose first fix changes only this text, without those whose fix meets an earlier one's."""
    chosen: list[Diagnostic] = []
    taken: list[tuple[int, int]] = []
    for diagnostic in diagnostics:
        for fix in diagnostic.fixes[:1]:
            spans = [(edit.span.start, edit.span.end) for edit in fix.edits]
            is_in_file = spans and all(edit.span.file == source.name for edit in fix.edits)
            if is_in_file and not any(start <= last and first <= end for start, end in spans for first, last in taken):
                chosen.append(diagnostic)
                taken += spans
    return chosen


def applied(source: Source, fixes: Sequence[Fix]) -> Source:
    """The text with the edits of all fixes made; none may meet another."""
    text = source.text
    for edit in sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return Source(source.name, text)


def _errors(diagnostics: Sequence[Diagnostic]) -> int:
    return sum(diagnostic.is_error for diagnostic in diagnostics)


def _state(diagnostics: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics]
