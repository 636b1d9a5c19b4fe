"""Canonical spacing of one statement, token by token; line breaks and comments stay where they were.

Functions stand tight against their arguments, words are one blank apart, `← ⋄ :` have blanks round them.  Two
tokens never touch where they would be read as one, so the tokens of the result are the tokens of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from .lexer import TEXT, TokenKind, lexemes
from .primitives import by_glyph
from .vocabulary import LITERAL_OPERAND_OPERATORS


class Spelling(Enum):
    """How glyphs are written."""

    GLYPHS = "glyphs"
    NAMES = "a backtick and the name"


@dataclass(slots=True)
class Line:
    """One line of output; `depth` counts the lines above it whose brackets are open."""

    depth: int
    code: str = ""
    comment: str | None = None


_SPACED = frozenset({TokenKind.GETS, TokenKind.COLON, TokenKind.ARROW, TokenKind.SEPARATOR})


class _Word(NamedTuple):
    """A word of a line; `prints`: it is the arrow of `⎕←`, which touches its quad."""

    kind: TokenKind
    text: str
    prints: bool = False


def lay_out(text: str, spelling: Spelling) -> list[Line]:
    """The lines of one readable statement."""
    words: list[_Word] = []
    for kind, start, end in lexemes(text):
        if kind in (TokenKind.UNREADABLE, TokenKind.UNENDED):  # as it stands
            return [Line(0, line) for line in text.split("\n")]
        if kind is not TokenKind.BLANK:
            prints = kind is TokenKind.GETS and bool(words) and words[-1].text == "⎕"
            words.append(_Word(kind, text[start:end], prints))
    stacking = _array_notation(words)
    lines = [Line(0)]
    opened: list[int] = []  # for each open bracket, the line it was opened on
    before: _Word | None = None
    operand = False  # whether `before` is a literal or a name after `⍤ ⍣ @ ⌺`
    spaced = False  # whether a blank must follow `before`
    for index, lexeme in enumerate(words):
        kind, word, _ = lexeme
        line = lines[-1]
        if kind is TokenKind.COMMENT:
            line.comment = word
            continue
        if word == "\n":
            lines.append(Line(len(set(opened))))
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


def _apart(before: _Word, after: _Word, stacks: bool) -> bool:
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


def _array_notation(words: list[_Word]) -> frozenset[int]:
    """The indices of the opening brackets of array notation."""
    found: set[int] = set()
    opened: list[int] = []
    for index, (kind, word, _) in enumerate(words):
        if kind is TokenKind.OPEN:
            opened.append(index)
        elif kind is TokenKind.CLOSE:
            opener = opened.pop()
            if word == "]" and opener == index - 1:
                found.add(opener)
        elif kind is TokenKind.SEPARATOR and opened and words[opened[-1]].text == "[":
            found.add(opened[-1])
    return frozenset(found)


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
    for found in _OUTSIDE_TEXT.finditer(text):
        pieces.append(text[at : found.start()])
        at = found.end()
        glyph = found.group()
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
