"""Every word of a text with its class, as editors, sessions and pages colour it; what a name stands for is for them to say.

Neighbours: `lexer`, `spelling` (for backtick spellings); `shell.lsp.semantic`, `shell.repl.colours`, `shell.editors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from .lexer import ARGUMENTS, TokenKind, lexemes
from .primitives import RESERVED_WORDS
from .source import Source
from .spelling import Spelled, spell
from .vocabulary import DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS, RESERVED


class WordClass(Enum):
    """What a word is for the eye."""

    COMMENT = "comment"
    TEXT = "text"
    NUMBER = "number"
    NAME = "name"
    ARGUMENT = "argument"
    TYPE = "type"
    KEYWORD = "keyword"
    FUNCTION = "function"
    OPERATOR = "operator"
    LIBRARY = "library function"
    CONSTANT = "system constant"
    PUNCTUATION = "punctuation"
    BRACKET = "bracket"
    UNENDED = "text without its end"
    OTHER = ""


class Word(NamedTuple):
    """Characters `start` to `end` of the source, which spell `text`."""

    kind: WordClass
    start: int
    end: int
    text: str


_CLASSES = {
    TokenKind.COMMENT: WordClass.COMMENT, TokenKind.TEXT: WordClass.TEXT, TokenKind.UNENDED: WordClass.UNENDED,
    TokenKind.NUMBERS: WordClass.NUMBER, TokenKind.ZILDE: WordClass.NUMBER, TokenKind.GETS: WordClass.PUNCTUATION,
    TokenKind.SEPARATOR: WordClass.PUNCTUATION, TokenKind.COLON: WordClass.PUNCTUATION, TokenKind.ARROW: WordClass.PUNCTUATION,
    TokenKind.OPEN: WordClass.BRACKET, TokenKind.CLOSE: WordClass.BRACKET,
}  # fmt: skip
TYPES = frozenset(RESERVED - RESERVED_WORDS) | {"idx", "int", "perm"}


def words(source: Source, spelled: Spelled | None = None) -> Iterator[Word]:
    """In the order of the text, blanks left out, none across a line end."""
    spelled = spelled or spell(source)
    at = 0
    for line in spelled.text.split("\n"):
        for kind, first, last in lexemes(line.rstrip("\r")):
            if kind is not TokenKind.BLANK:
                span = spelled.span(at + first, at + last)
                if span.start < span.end and "\r" not in source.text[span.start : span.end]:
                    yield Word(_class_of(kind, line[first:last]), span.start, span.end, line[first:last])
        at += len(line) + 1


def _class_of(kind: TokenKind, text: str) -> WordClass:
    if kind is TokenKind.NAME:
        if text in ARGUMENTS:
            return WordClass.ARGUMENT
        if text in RESERVED_WORDS:
            return WordClass.KEYWORD
        return WordClass.TYPE if text in TYPES else WordClass.NAME
    if kind is TokenKind.GLYPH:
        return WordClass.OPERATOR if text in MONADIC_OPERATORS or text in DYADIC_OPERATORS else WordClass.FUNCTION
    if kind is TokenKind.QUAD:
        return WordClass.LIBRARY if text in FUNCTIONS or text == "⎕" else WordClass.CONSTANT
    return _CLASSES.get(kind, WordClass.OTHER)
