"""Cuts a text into statements with one fast pass, before any grammar runs.

The pass knows only comments, texts and brackets, so it costs little and a broken statement cannot hide the
next one.  It reports what only it can see: brackets that do not match, texts that do not end, nesting that is
too deep.  After an unclosed bracket it resumes at the next line that starts at the margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from .codes import Code
from .diagnostics import Diagnostic, Edit, Fix, Label
from .lexer import COMMENT, TEXT, UNENDED
from .limits import MAXIMUM_NESTING
from .records import dataclass
from .spelling import Spelled

_INTERESTING = re.compile(rf"{COMMENT}|{TEXT}|(?P<unended>{UNENDED})|[()\[\]{{}}\n⋄]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
MARGIN = re.compile("\n(?=[^ \t\r\n)\\]}⍝])")


@dataclass(slots=True, eq=False)
class Piece:
    """One statement: characters from `start` of the spelled text, blanks stripped; `damage` makes it unreadable, `is_open`: a
    bracket is not closed.  In the next version of a text it is the same piece, moved (`split_again`)."""

    start: int
    text: str
    damage: Diagnostic | None = None
    is_open: bool = False


def split_statements(spelled: Spelled) -> list[Piece]:
    """The statements in order, empty ones left out."""
    return list(_pieces(spelled, 0))


def split_again(spelled: Spelled, before: Sequence[Piece], earlier: str) -> list[Piece]:
    """The same; what an edit of the `earlier` text left as it was are the pieces that it had `before`, moved."""
    text = spelled.text
    same = _alike(earlier, text)
    ahead = 0
    while ahead + 1 < len(before) and before[ahead + 1].start < same and not before[ahead].is_open:
        ahead += 1
    moved = len(text) - len(earlier)
    after = len(earlier) - min(_alike(earlier[::-1], text[::-1]), min(len(text), len(earlier)) - same)
    rest = {piece.start + moved: index for index, piece in enumerate(before) if index >= ahead and piece.start >= after}
    spoilt = max((index for index, piece in enumerate(before) if piece.damage is not None), default=-1)
    fresh: list[Piece] = []
    until = len(before)
    for piece in _pieces(spelled, before[ahead].start if ahead else 0):
        index = rest.get(piece.start, spoilt)
        if index > spoilt:
            until = index
            break
        fresh.append(piece)
    for known in before[until:]:
        known.start += moved
    gone: dict[str, list[Piece]] = {}
    for piece in reversed(before[ahead:until]):
        gone.setdefault(piece.text, []).append(piece)
    return [*before[:ahead], *[_again(piece, gone.get(piece.text)) for piece in fresh], *before[until:]]


def _again(piece: Piece, gone: list[Piece] | None) -> Piece:
    """One of the same text that stood elsewhere, moved, if there is one."""
    if not gone or piece.damage is not None or gone[-1].damage is not None:
        return piece
    known = gone.pop()
    known.start = piece.start
    return known


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _pieces(spelled: Spelled, start: int) -> Iterator[Piece]:
    """The statements from a place on that is inside none."""
    text = spelled.text
    opened: list[int] = []
    damage: Diagnostic | None = None
    at = start

    def finished(end: int, is_open: bool = False) -> Iterator[Piece]:
        nonlocal damage
        stripped = text[start:end].strip(" \t\r\n\f\u00a0\ufeff")
        if stripped or damage is not None:
            yield Piece(text.index(stripped, start) if stripped else start, stripped, damage, is_open)
        damage = None

    while True:
        found = _INTERESTING.search(text, at)
        if found is None:
            if not opened:
                yield from finished(len(text))
                return
            margin = MARGIN.search(text, opened[0])
            end = len(text) if margin is None else margin.start()
            damage = damage or _unclosed(spelled, max(offset for offset in opened if offset < end))
            opened.clear()
            yield from finished(end, is_open=True)
            start = at = end
            continue
        at = found.end()
        mark = text[found.start()]
        if mark in "⋄\n":
            if not opened:
                yield from finished(found.start())
                start = at
        elif mark in _CLOSERS:
            opened.append(found.start())
            if len(opened) == MAXIMUM_NESTING + 1 and damage is None:
                damage = _too_deep(spelled, found.start())
        elif mark in ")]}":
            if not opened:
                damage = damage or _unopened(spelled, found.start())
                continue
            opener = opened.pop()
            if _CLOSERS[text[opener]] != mark:
                damage = damage or _mismatched(spelled, opener, found.start())
        elif mark == "⍝":
            if not opened:
                yield from finished(found.start())
                start = at
        elif found.group("unended"):
            damage = damage or _unterminated(spelled, found.start(), found.end())


def _unclosed(spelled: Spelled, opener: int) -> Diagnostic:
    mark = spelled.text[opener]
    return Diagnostic(Code.E003, f"this `{mark}` is never closed with `{_CLOSERS[mark]}`", spelled.span(opener, opener + 1))


def _unopened(spelled: Spelled, closer: int) -> Diagnostic:
    mark = spelled.text[closer]
    span = spelled.span(closer, closer + 1)
    return Diagnostic(Code.E003, f"this `{mark}` closes nothing", span, fixes=(Fix(f"remove `{mark}`", (Edit(span, ""),)),))


def _mismatched(spelled: Spelled, opener: int, closer: int) -> Diagnostic:
    expected, mark = _CLOSERS[spelled.text[opener]], spelled.text[closer]
    span = spelled.span(closer, closer + 1)
    return Diagnostic(
        Code.E003, f"`{expected}` should come before this `{mark}`", span,
        labels=(Label(spelled.span(opener, opener + 1), f"this `{spelled.text[opener]}` is still open"),),
        fixes=(Fix(f"write `{expected}` here", (Edit(span, expected),)),),
    )  # fmt: skip


def _too_deep(spelled: Spelled, opener: int) -> Diagnostic:
    return Diagnostic(
        Code.E016, f"brackets are nested more than {MAXIMUM_NESTING} deep", spelled.span(opener, opener + 1),
        notes=("name the inner parts in separate statements",),
    )  # fmt: skip


def _unterminated(spelled: Spelled, start: int, end: int) -> Diagnostic:
    quote = spelled.text[start]
    span = spelled.span(start, end)
    return Diagnostic(
        Code.E004, f"this text has no closing {quote} on its line", span,
        fixes=(Fix(f"close it with {quote}", (Edit(spelled.span(end, end), quote),)),),
    )  # fmt: skip
