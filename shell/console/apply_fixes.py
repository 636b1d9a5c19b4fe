"""Applies the fixes of diagnostics to a text, and shows the difference: `rho check --fix`, `--diff` of `check` and `fmt`.

A fix is accepted only if the text then has no more errors than before.  A fix may uncover errors that have fixes too, so errors
are counted after these follow-up fixes.  All fixes are tried together, then one by one if that leaves more errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from ...lang.diagnostics.model import Diagnostic, Fix, with_edits
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source

MAXIMUM_ROUNDS: Final = 50
_MAXIMUM_FOLLOW_UPS: Final = 6
Check = Callable[[Source], Sequence[Diagnostic]]


@dataclass(frozen=True, slots=True)
class FixRefused:
    """A diagnostic whose fix was not applied, the number of errors that the text would have with it, and the first new one."""

    diagnostic: Diagnostic
    errors: int
    first: Diagnostic | None


@dataclass(frozen=True, slots=True)
class FixedSource:
    """A text after its fixes, how many were applied, and those that were not."""

    source: Source
    count: int
    refused: tuple[FixRefused, ...] = ()


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A text after some fixes."""

    source: Source
    diagnostics: Sequence[Diagnostic]
    count: int


def apply_safe_fixes(source: Source, check: Check) -> FixedSource:
    """Apply the fixes that `check` offers until none is left or `MAXIMUM_ROUNDS` is reached; `check` is run on each new text."""
    now = _Attempt(source, check(source), 0)
    refused: list[FixRefused] = []
    for _ in range(MAXIMUM_ROUNDS):
        fixable, refused = independent_fixes(now.diagnostics, now.source), []
        attempts = [fixable, *([one] for one in fixable)] if len(fixable) > 1 else [fixable] * bool(fixable)
        for attempt in attempts:
            after = _try_with_follow_ups(now, [diagnostic.fixes[0] for diagnostic in attempt], check)
            changed = _signature(after.diagnostics) != _signature(now.diagnostics)
            if _error_count(after.diagnostics) <= _error_count(now.diagnostics) and changed:
                now = after
                break
            if len(attempt) == 1:
                before = _signature(now.diagnostics)
                new = [one for one in after.diagnostics if one.is_error and (one.code, one.message) not in before]
                refused.append(FixRefused(attempt[0], _error_count(after.diagnostics), new[0] if new else None))
        else:
            break
    return FixedSource(now.source, now.count, tuple(refused))


def _try_with_follow_ups(now: _Attempt, fixes: Sequence[Fix], check: Check) -> _Attempt:
    """Apply the fixes and, while the text has more errors than before, the fixes of the errors that they uncover."""
    first = after = _try_fixes(now, fixes, check)
    for _ in range(_MAXIMUM_FOLLOW_UPS):
        further = [diagnostic.fixes[0] for diagnostic in independent_fixes(after.diagnostics, after.source)]
        if _error_count(after.diagnostics) <= _error_count(now.diagnostics) or not further:
            break
        after = _try_fixes(after, further, check)
    return after if _error_count(after.diagnostics) <= _error_count(now.diagnostics) else first


def _try_fixes(now: _Attempt, fixes: Sequence[Fix], check: Check) -> _Attempt:
    text = with_fixes(now.source, fixes)
    return _Attempt(text, check(text), now.count + len(fixes))


def difference(old: Source, new: str) -> str:
    """A unified diff; empty if nothing changes."""
    from difflib import unified_diff

    lines = unified_diff(old.text.splitlines(keepends=True), new.splitlines(keepends=True), old.name, old.name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def independent_fixes(diagnostics: Sequence[Diagnostic], source: Source) -> list[Diagnostic]:
    """The diagnostics whose first fix changes only this text and overlaps no fix of an earlier one."""
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


def with_fixes(source: Source, fixes: Sequence[Fix]) -> Source:
    """The text with the edits of all `fixes`, which must not overlap."""
    return with_edits(source, [edit for fix in fixes for edit in fix.edits])


def _error_count(diagnostics: Sequence[Diagnostic]) -> int:
    return sum(diagnostic.is_error for diagnostic in diagnostics)


def _signature(diagnostics: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.message) for diagnostic in diagnostics]
