"""Splits a text into statements in one pass before any grammar runs, and prints statements canonically.

The pass knows only comments, texts and brackets, so it costs little and a broken statement cannot hide the
next one.  It reports what only it can see: brackets that do not match, texts that do not end, nesting that is
too deep.  After an unclosed bracket it resumes at the next line that starts at the margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..primitives.table import by_glyph
from ..support.records import dataclass
from .glyph_input import Spelled
from .lexer import COMMENT, LITERAL_OPERAND_OPERATORS, TEXT, UNENDED, TokenKind, lexemes
from .source import MAXIMUM_NESTING

# ---------------------------------------------------------------------------------------------------- splitter

_INTERESTING = re.compile(rf"{COMMENT}|{TEXT}|(?P<unended>{UNENDED})|[()\[\]{{}}\n⋄]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
MARGIN = re.compile("\n(?=[^ \t\r\n)\\]}⍝])")


@dataclass(slots=True, eq=False)
class RawStatement:
    """One statement: characters from `start` of the spelled text, blanks stripped; `damage` makes it unreadable, `is_open`: a
    bracket is not closed.  In the next version of a text it is the same piece, moved (`split_again`)."""

    start: int
    text: str
    damage: Diagnostic | None = None
    is_open: bool = False


def split_statements(spelled: Spelled) -> list[RawStatement]:
    """The statements in order, empty ones left out."""
    return list(_pieces(spelled, 0))


def split_again(spelled: Spelled, before: Sequence[RawStatement], earlier: str) -> list[RawStatement]:
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
    fresh: list[RawStatement] = []
    until = len(before)
    for piece in _pieces(spelled, before[ahead].start if ahead else 0):
        index = rest.get(piece.start, spoilt)
        if index > spoilt:
            until = index
            break
        fresh.append(piece)
    for known in before[until:]:
        known.start += moved
    gone: dict[str, list[RawStatement]] = {}
    for piece in reversed(before[ahead:until]):
        gone.setdefault(piece.text, []).append(piece)
    return [*before[:ahead], *[_again(piece, gone.get(piece.text)) for piece in fresh], *before[until:]]


def _again(piece: RawStatement, gone: list[RawStatement] | None) -> RawStatement:
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


def _pieces(spelled: Spelled, start: int) -> Iterator[RawStatement]:
    """The statements from a place on that is inside none."""
    text = spelled.text
    opened: list[int] = []
    damage: Diagnostic | None = None
    at = start

    def finished(end: int, is_open: bool = False) -> Iterator[RawStatement]:
        nonlocal damage
        stripped = text[start:end].strip(" \t\r\n\f\u00a0\ufeff")
        if stripped or damage is not None:
            yield RawStatement(text.index(stripped, start) if stripped else start, stripped, damage, is_open)
        damage = None

    while True:
        match = _INTERESTING.search(text, at)
        if match is None:
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
        at = match.end()
        mark = text[match.start()]
        if mark in "⋄\n":
            if not opened:
                yield from finished(match.start())
                start = at
        elif mark in _CLOSERS:
            opened.append(match.start())
            if len(opened) == MAXIMUM_NESTING + 1 and damage is None:
                damage = _too_deep(spelled, match.start())
        elif mark in ")]}":
            if not opened:
                damage = damage or _unopened(spelled, match.start())
                continue
            opener = opened.pop()
            if _CLOSERS[text[opener]] != mark:
                damage = damage or _mismatched(spelled, opener, match.start())
        elif mark == "⍝":
            if not opened:
                yield from finished(match.start())
                start = at
        elif match.group("unended"):
            damage = damage or _unterminated(spelled, match.start(), match.end())


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


# ---------------------------------------------------------------------------------------------------- layout
#
# Canonical spacing of one statement, token by token; line breaks and comments stay where they were.
#
# Functions stand tight against their arguments, words are one blank apart, `← ⋄ :` have blanks round them.  Two
# tokens never touch where they would be read as one, so the tokens of the result are the tokens of the text.

class Spelling(Enum):
    """How glyphs are written."""

    GLYPHS = "glyphs"
    NAMES = "a backtick and the name"


@dataclass(slots=True)
class LogicalLine:
    """One line of output; `depth` counts the lines above it whose brackets are open."""

    depth: int
    code: str = ""
    comment: str | None = None


_SPACED = frozenset({TokenKind.GETS, TokenKind.COLON, TokenKind.ARROW, TokenKind.SEPARATOR})


class _RawWord(NamedTuple):
    """A word of a line; `prints`: it is the arrow of `⎕←`, which touches its quad."""

    kind: TokenKind
    text: str
    prints: bool = False


def lay_out(text: str, spelling: Spelling) -> list[LogicalLine]:
    """The lines of one readable statement."""
    words: list[_RawWord] = []
    for kind, start, end in lexemes(text):
        if kind in (TokenKind.UNREADABLE, TokenKind.UNENDED):  # as it stands
            return [LogicalLine(0, line) for line in text.split("\n")]
        if kind is not TokenKind.BLANK:
            prints = kind is TokenKind.GETS and bool(words) and words[-1].text == "⎕"
            words.append(_RawWord(kind, text[start:end], prints))
    stacking = _array_notation(words)
    lines = [LogicalLine(0)]
    opened: list[int] = []  # for each open bracket, the line it was opened on
    before: _RawWord | None = None
    operand = False  # whether `before` is a literal or a name after `⍤ ⍣ @ ⌺`
    spaced = False  # whether a blank must follow `before`
    for index, lexeme in enumerate(words):
        kind, word, _ = lexeme
        line = lines[-1]
        if kind is TokenKind.COMMENT:
            line.comment = word
            continue
        if word == "\n":
            lines.append(LogicalLine(len(set(opened))))
            before, operand, spaced = None, False, False
            continue
        if kind is TokenKind.CLOSE:
            opened.pop()
            if not line.code:
                line.depth = len(set(opened))
        if before is not None and (spaced or _apart(before, lexeme, index in stacking)):
            blank = True
        else:
            blank = before is not None and operand and kind is TokenKind.GLYPH and _is_tack(word)
        after_operator = before is not None and before.text in LITERAL_OPERAND_OPERATORS
        now_operand = after_operator and kind in (TokenKind.NUMBERS, TokenKind.NAME)
        spaced = blank and operand and kind is TokenKind.GLYPH and _is_tack(word)
        operand = now_operand
        written = respelt(kind, word, spelling)
        if not blank and spelling is Spelling.NAMES and _would_join(line.code, written):
            blank = True
        line.code += (" " if blank else "") + written
        before = lexeme
        if kind is TokenKind.OPEN:
            opened.append(len(lines) - 1)
    return lines


def _apart(before: _RawWord, after: _RawWord, stacks: bool) -> bool:
    """Whether a blank stands between two tokens; `stacks` if the second opens array notation."""
    kind, word, prints = after
    last_kind, last_word, printed = before
    if prints or printed:
        return False
    if kind is TokenKind.GETS:
        return last_kind is not TokenKind.GLYPH
    if kind in _SPACED or last_kind in _SPACED:
        return True
    if last_kind is TokenKind.GLYPH or kind is TokenKind.GLYPH:
        return (
            (last_word + word in ("∘.", "⍣\\"))
            or (last_word.endswith(".") and kind is TokenKind.NUMBERS)
            or (last_kind is TokenKind.NUMBERS and word == ".")
        )
    if kind in (TokenKind.CLOSE, TokenKind.SEMICOLON) or last_kind in (TokenKind.OPEN, TokenKind.SEMICOLON):
        return False
    return word != "[" or stacks


def _is_tack(glyph: str) -> bool:
    return glyph in "⊢⊣"


def _array_notation(words: list[_RawWord]) -> frozenset[int]:
    """The indices of the opening brackets of array notation."""
    openers: set[int] = set()
    opened: list[int] = []
    for index, (kind, word, _) in enumerate(words):
        if kind is TokenKind.OPEN:
            opened.append(index)
        elif kind is TokenKind.CLOSE:
            opener = opened.pop()
            if word == "]" and opener == index - 1:
                openers.add(opener)
        elif kind is TokenKind.SEPARATOR and opened and words[opened[-1]].text == "[":
            openers.add(opened[-1])
    return frozenset(openers)


# -------------------------------------------------------------------------------------- spelling


def respelt(kind: TokenKind, word: str, spelling: Spelling) -> str:
    """A token as it is written out; runs of numbers get single blanks."""
    if kind is TokenKind.NUMBERS:
        word = " ".join(word.split())
    if spelling is Spelling.GLYPHS or kind is TokenKind.TEXT or word.isascii():
        return word
    row = by_glyph(word)
    if row is not None:
        return row.ascii
    spelt = ascii_of(word)
    return spelt.replace("infinity J", "infinityJ").replace("infinity j", "infinityj") if kind is TokenKind.NUMBERS else spelt


_OUTSIDE_TEXT = re.compile(rf"{TEXT}|[^\x00-\x7f]")


def ascii_of(text: str) -> str:
    """Each glyph outside texts spelt by its name, with a blank where a letter follows."""
    pieces: list[str] = []
    at = 0
    for match in _OUTSIDE_TEXT.finditer(text):
        pieces.append(text[at : match.start()])
        at = match.end()
        glyph = match.group()
        row = by_glyph(glyph) if len(glyph) == 1 else None
        pieces.append(glyph if row is None else row.ascii)
        joined = row is not None and row.ascii.startswith("`") and text[at : at + 1].isalpha() and glyph not in "∆⎕"
        if joined and text[at : at + 1].isascii():
            pieces.append(" ")
    pieces.append(text[at:])
    return "".join(pieces)


def ascii_comment(comment: str) -> str:
    row = by_glyph("⍝")
    assert row is not None
    return row.ascii + comment[1:]


_SPELT_AT_END = re.compile(r"`[A-Za-z]+\Z")


def _would_join(code: str, written: str) -> bool:
    """Whether a spelt name at the end of the line would run into a letter."""
    return written[:1].isascii() and written[:1].isalpha() and _SPELT_AT_END.search(code) is not None
