"""Canonical spacing of one statement, token by token; line breaks and comments stay where they were.

Functions stand tight against their arguments, words are one blank apart, `← ⋄ :` have blanks round them.  Two
tokens never touch where they would be read as one, so the tokens of the result are the tokens of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from .grammar import SPACES, TEXT, WORDS
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


_LEXEME = re.compile(rf"{SPACES}*(?:(?P<comment>⍝[^\n]*)|{WORDS}|(?P<open>[(\[{{])|(?P<close>[)\]}}]))")
_WORDS = frozenset({"numbers", "name", "text", "quad", "zilde", "slot"})
_SPACED = frozenset({"gets", "colon", "arrow", "separator"})


def lay_out(text: str, spelling: Spelling) -> list[Line]:
    """The lines of one readable statement."""
    lexemes: list[tuple[str, str]] = []
    at = 0
    for found in _LEXEME.finditer(text):
        if found.start() != at:
            break
        at = found.end()
        kind, word = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "gets" and lexemes and lexemes[-1][1] == "⎕":
            kind = "print"
        lexemes.append((kind, word))
    if text[at:].strip():  # not readable: as it stands
        return [Line(0, line) for line in text.split("\n")]
    stacking = _array_notation(lexemes)
    lines = [Line(0)]
    opened: list[int] = []  # for each open bracket, the line it was opened on
    before: tuple[str, str] | None = None
    operand = False  # whether `before` is a literal or a name after `⍤ ⍣ @ ⌺`
    spaced = False  # whether a blank must follow `before`
    for index, (kind, word) in enumerate(lexemes):
        line = lines[-1]
        if kind == "comment":
            line.comment = word
            continue
        if word == "\n":
            lines.append(Line(len(set(opened))))
            before, operand, spaced = None, False, False
            continue
        if kind == "close":
            opened.pop()
            if not line.code:
                line.depth = len(set(opened))
        if before is not None and (spaced or _apart(before, (kind, word), index in stacking)):
            blank = True
        else:
            blank = before is not None and operand and kind == "glyph" and _is_tack(word)
        now_operand = kind in ("numbers", "name") and before is not None and before[1] in LITERAL_OPERAND_OPERATORS
        spaced = blank and operand and kind == "glyph" and _is_tack(word)
        operand = now_operand
        written = respelt(kind, word, spelling)
        if not blank and spelling is Spelling.NAMES and _would_join(line.code, written):
            blank = True
        line.code += (" " if blank else "") + written
        before = (kind, word)
        if kind == "open":
            opened.append(len(lines) - 1)
    return lines


def _apart(before: tuple[str, str], after: tuple[str, str], stacks: bool) -> bool:
    """Whether a blank stands between two tokens; `stacks` if the second opens array notation."""
    kind, word = after
    last_kind, last_word = before
    if "print" in (kind, last_kind):
        return False
    if kind == "gets":
        return last_kind != "glyph"
    if kind in _SPACED or last_kind in _SPACED:
        return True
    if last_kind == "glyph" or kind == "glyph":
        return (
            (last_word + word in ("∘.", "⍣\\"))
            or (last_word.endswith(".") and kind == "numbers")
            or (last_kind == "numbers" and word == ".")
        )
    if kind in ("close", "semicolon") or last_kind in ("open", "semicolon"):
        return False
    return word != "[" or stacks


def _is_tack(glyph: str) -> bool:
    return glyph in "⊢⊣"


def _array_notation(lexemes: list[tuple[str, str]]) -> frozenset[int]:
    """The indices of the opening brackets of array notation."""
    found: set[int] = set()
    opened: list[int] = []
    for index, (kind, word) in enumerate(lexemes):
        if kind == "open":
            opened.append(index)
        elif kind == "close":
            opener = opened.pop()
            if word == "]" and opener == index - 1:
                found.add(opener)
        elif kind == "separator" and opened and lexemes[opened[-1]][1] == "[":
            found.add(opened[-1])
    return frozenset(found)


# -------------------------------------------------------------------------------------- spelling


def respelt(kind: str, word: str, spelling: Spelling) -> str:
    """A token as it is written out; runs of numbers get single blanks."""
    if kind == "numbers":
        word = " ".join(word.split())
    if spelling is Spelling.GLYPHS or kind == "text" or word.isascii():
        return word
    row = by_glyph(word)
    if row is not None:
        return row.ascii
    spelt = ascii_of(word)
    return spelt.replace("infinity J", "infinityJ").replace("infinity j", "infinityj") if kind == "numbers" else spelt


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
