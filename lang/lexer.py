"""The one lexer: a text in canonical glyphs, from its first character to its last, as lexemes of which none is left out.

Whatever looks at program text is made of the expressions here: the grammars, the splitter, the formatter, the names of the
language server, the colours of editors and of the session.  What is not a lexeme of the language is one that says so.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from .vocabulary import GLYPHS

SPACES = r"[ \t\r\f\u00a0]"
COMMENT = r"⍝[^\n]*"
BLANK = rf"(?:{SPACES}|{COMMENT})*+"
NAME = r"(?:[^\W\d]|∆)(?:\w|∆)*+"
WORD_END = r"(?![\w∆])"
DIGITS = r"[0-9][0-9_]*+"
REAL = rf"¯?(?:(?:{DIGITS}(?:\.(?:{DIGITS})?)?|\.{DIGITS})(?:[eE]¯?[0-9]++)?|∞)"
NUMBER = rf"{REAL}(?:[jJ]{REAL})?(?![\w∆¯∞]|\.[0-9])"
UNENDED = r"""['"][^\n]*+"""
"""A text without its end."""
TEXT = r"""'(?:[^'\n]|'')*+'|"(?:[^"\n]|"")*+\""""
DECLARING = rf"(?:use|input|param|output|schedule){WORD_END}"
ARGUMENTS = ("⍺⍺", "⍵⍵", "⍺", "⍵")


def _alternatives(glyphs: frozenset[str]) -> str:
    """Longest first; `∘.` before a digit is `∘` and a number."""
    long = sorted((glyph for glyph in glyphs if len(glyph) > 1), key=len, reverse=True)
    single = "".join(sorted(glyph for glyph in glyphs if len(glyph) == 1))
    escaped = [_escape(glyph) + ("(?![0-9])" if glyph.endswith(".") else "") for glyph in long]
    return "|".join([*escaped, "[" + _escape(single) + "]"])


def _escape(glyphs: str) -> str:
    return "".join("\\" + glyph if glyph in r"\.^$*+?{}[]|()-/~&!" else glyph for glyph in glyphs)


class TokenKind(Enum):
    """The kinds of lexemes; a group of tokens is called by its opening bracket."""

    NUMBERS = "numbers"
    SLOT = "slot"
    NAME = "name"
    GLYPH = "glyph"
    TEXT = "text"
    QUAD = "quad"
    ZILDE = "zilde"
    GETS = "gets"
    SEPARATOR = "separator"
    SEMICOLON = "semicolon"
    COLON = "colon"
    ARROW = "arrow"
    PARENTHESES = "("
    BRACKETS = "["
    BRACES = "{"
    OPEN = "an opening bracket"
    CLOSE = "a closing bracket"
    BLANK = "blanks"
    COMMENT = "a comment"
    UNENDED = "a text without its end"
    UNREADABLE = "no part of the language"


_PATTERNS = {
    TokenKind.BLANK: rf"{SPACES}++",
    TokenKind.COMMENT: r"(?:⍝|\A#!)[^\n]*+",
    TokenKind.NUMBERS: rf"{NUMBER}(?:{SPACES}+{NUMBER})*+",
    TokenKind.SLOT: rf"_{WORD_END}",
    TokenKind.NAME: rf"{NAME}|⍺⍺|⍵⍵|⍺|⍵",
    TokenKind.GLYPH: _alternatives(GLYPHS),
    TokenKind.TEXT: TEXT,
    TokenKind.QUAD: "⎕[A-Za-z0-9_]*+",
    TokenKind.ZILDE: "⍬",
    TokenKind.GETS: "←",
    TokenKind.SEPARATOR: "[⋄\n]",
    TokenKind.SEMICOLON: ";",
    TokenKind.COLON: ":",
    TokenKind.ARROW: "→",
    TokenKind.UNENDED: UNENDED,
    TokenKind.OPEN: r"[(\[{]",
    TokenKind.CLOSE: r"[)\]}]",
    TokenKind.UNREADABLE: r"[^()\[\]{}]",
}
_KINDS = tuple(_PATTERNS)
_TRIVIA = rf"(?:{_PATTERNS[TokenKind.BLANK]}|{_PATTERNS[TokenKind.COMMENT]})"
_READ = [kind for kind in _KINDS[2:] if kind not in (TokenKind.OPEN, TokenKind.CLOSE)]

WORDS = rf"(?:{_PATTERNS[TokenKind.COMMENT]}|{TEXT}|{UNENDED}|[^()\[\]{{}}⍝'\"]++)++"
"""Everything up to the next bracket."""
WORD = re.compile(rf"{_TRIVIA}*+(?:{'|'.join(f'({_PATTERNS[kind]})' for kind in _READ)}|\Z)")
"""The next word, with the blanks and comments before it; no group where the text ends."""
WORD_KINDS = (TokenKind.BLANK, *_READ)
"""The kind of a word by its group."""

_LEXEME = re.compile("|".join(f"({pattern})" for pattern in _PATTERNS.values()))


class Lexeme(NamedTuple):
    """Characters `start` up to `end` of a text."""

    kind: TokenKind
    start: int
    end: int


def scan(text: str, start: int = 0, end: int | None = None) -> list[Lexeme]:
    """The lexemes of a range; end to end they are its text."""
    found = _LEXEME.finditer(text, start, len(text) if end is None else end)
    return [Lexeme(_KINDS[match.lastindex - 1], *match.span()) for match in found if match.lastindex is not None]


@lru_cache(maxsize=20_000)
def lexemes(text: str) -> tuple[Lexeme, ...]:
    """As `scan`, of a whole text; those of a line or a statement are kept."""
    return tuple(scan(text))


def in_prose(text: str, at: int) -> bool:
    """Is a place inside a comment or a text of its line?  After a comment or a text without its end it still is."""
    first = text.rfind("\n", 0, at) + 1
    last = text.find("\n", at)
    return any(
        start < at - first < end or (at - first == end and kind is not TokenKind.TEXT)
        for kind, start, end in lexemes(text[first : last if last >= 0 else len(text)])
        if kind in (TokenKind.COMMENT, TokenKind.TEXT, TokenKind.UNENDED)
    )
