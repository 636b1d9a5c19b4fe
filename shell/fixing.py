"""Fixes applied to a text, and what that changes: `rho check --fix`, `--diff` of `check` and `fmt`.

A fix is kept only if the text then has no more errors than before, so that what it uncovers is no worse than what it repairs.

Neighbours: `lang.diagnostics` (fixes), `verbs.check`, `verbs.fmt`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ..lang.diagnostics import Diagnostic, Fix
from ..lang.source import Source

MOST_ROUNDS: Final = 50
Check = Callable[[Source], Sequence[Diagnostic]]


def fixed(source: Source, check: Check) -> tuple[Source, int]:
    """The text with its fixes, and how many there were."""
    found, count = check(source), 0
    for _ in range(MOST_ROUNDS):
        fixes = _apart(found, source)
        attempts = [fixes, *([fix] for fix in fixes)] if len(fixes) > 1 else [fixes] * bool(fixes)
        for attempt in attempts:
            text = _applied(source, attempt)
            after = check(text)
            if text.text != source.text and _errors(after) <= _errors(found) and _state(after) != _state(found):
                source, found, count = text, after, count + len(attempt)
                break
        else:
            break
    return source, count


def difference(old: Source, new: str) -> str:
    """What changes, as a unified diff; empty if nothing does."""
    from difflib import unified_diff

    lines = unified_diff(old.text.splitlines(keepends=True), new.splitlines(keepends=True), old.name, old.name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _apart(found: Sequence[Diagnostic], source: Source) -> list[Fix]:
    """The first fix of each message that changes only this text, without those that meet an earlier one."""
    chosen: list[Fix] = []
    taken: list[tuple[int, int]] = []
    for diagnostic in found:
        for fix in diagnostic.fixes[:1]:
            spans = [(edit.span.start, edit.span.end) for edit in fix.edits]
            own = spans and all(edit.span.file == source.name for edit in fix.edits)
            if own and not any(start <= last and first <= end for start, end in spans for first, last in taken):
                chosen.append(fix)
                taken += spans
    return chosen


def _applied(source: Source, fixes: Sequence[Fix]) -> Source:
    text = source.text
    for edit in sorted((edit for fix in fixes for edit in fix.edits), key=lambda edit: edit.span.start, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return Source(source.name, text)


def _errors(found: Sequence[Diagnostic]) -> int:
    return sum(diagnostic.is_error for diagnostic in found)


def _state(found: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.message) for diagnostic in found]
