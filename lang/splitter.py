"""Cuts a text into statements with one fast pass, before any grammar runs.

The pass knows only comments, texts and brackets, so it costs little and a broken statement cannot hide the
next one.  It reports what only it can see: brackets that do not match, texts that do not end, nesting that is
too deep.  After an unclosed bracket it resumes at the next line that starts at the margin.
"""

from __future__ import annotations

import re

from .codes import Code
from .diagnostics import Diagnostic, Edit, Fix, Label
from .lexer import COMMENT, TEXT, UNENDED
from .limits import MAXIMUM_NESTING
from .records import dataclass
from .spelling import Spelled

_INTERESTING = re.compile(rf"{COMMENT}|{TEXT}|(?P<unended>{UNENDED})|[()\[\]{{}}\n⋄]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
MARGIN = re.compile("\n(?=[^ \t\r\n)\\]}⍝])")


@dataclass(frozen=True, slots=True)
class Piece:
    """One statement: characters `start` to `end` of the spelled text, blanks stripped; `damage` makes it unreadable, `is_open`: a
    bracket is not closed."""

    start: int
    text: str
    damage: Diagnostic | None = None
    is_open: bool = False


def split_statements(spelled: Spelled) -> list[Piece]:
    """The statements in order, empty ones left out."""
    text = spelled.text
    pieces: list[Piece] = []
    opened: list[int] = []
    damage: Diagnostic | None = None
    start = at = 0

    def finish(end: int, is_open: bool = False) -> None:
        nonlocal damage
        stripped = text[start:end].strip(" \t\r\n\f\u00a0\ufeff")
        if stripped or damage is not None:
            pieces.append(Piece(text.index(stripped, start) if stripped else start, stripped, damage, is_open))
        damage = None

    while True:
        found = _INTERESTING.search(text, at)
        if found is None:
            if not opened:
                finish(len(text))
                return pieces
            margin = MARGIN.search(text, opened[0])
            end = len(text) if margin is None else margin.start()
            damage = damage or _unclosed(spelled, max(offset for offset in opened if offset < end))
            opened.clear()
            finish(end, is_open=True)
            start = at = end
            continue
        at = found.end()
        mark = text[found.start()]
        if mark in "⋄\n":
            if not opened:
                finish(found.start())
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
                finish(found.start())
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
        notes=("name the inner parts in statements of their own",),
    )  # fmt: skip


def _unterminated(spelled: Spelled, start: int, end: int) -> Diagnostic:
    quote = spelled.text[start]
    span = spelled.span(start, end)
    return Diagnostic(
        Code.E004, f"this text has no closing {quote} on its line", span,
        fixes=(Fix(f"close it with {quote}", (Edit(spelled.span(end, end), quote),)),),
    )  # fmt: skip
