"""Tokens of one statement: the flat result of the expression grammar, with offsets relative to the statement.

Relative offsets let an unchanged statement be reused wherever it moves.  `Token` is a named tuple, not a
dataclass, because there are as many as there are words.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from .grammar import expression_grammar
from .peg import Node, ParseError


class TokenKind(Enum):
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


class Token(NamedTuple):
    """`text` is as written (canonical glyphs), for a group its opening bracket; `items` is what a group holds."""

    kind: TokenKind
    start: int
    end: int
    text: str
    items: tuple[Token, ...] = ()


class Unreadable(Exception):
    """No token starts at `offset` of the statement."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        super().__init__(f"no token at {offset}")


_KINDS = {kind.value: kind for kind in TokenKind}


@lru_cache(maxsize=20_000)
def tokenize(text: str) -> tuple[Token, ...]:
    """The tokens of one statement whose brackets are known to match; cached, so an unchanged statement costs nothing."""
    try:
        node = expression_grammar().parse(text)
    except ParseError as error:
        raise Unreadable(error.pos) from None
    return _flatten(node.children[0])


def _flatten(sequence: Node) -> tuple[Token, ...]:
    tokens = []
    for item in sequence.children:
        child = item.children[0]
        if child.expr_name == "token":
            match = child.match
            kind = match.lastgroup
            start, end = match.span(kind)
            tokens.append(Token(_KINDS[kind], start, end, match[kind]))
        else:
            opening, inner, closing = child.children
            mark = opening.full_text[opening.end - 1]
            tokens.append(Token(_KINDS[mark], opening.end - 1, closing.end, mark, _flatten(inner)))
    return tuple(tokens)


def split_at(tokens: tuple[Token, ...], kind: TokenKind) -> list[tuple[Token, ...]]:
    """The runs between tokens of a kind, empty ones included."""
    runs: list[tuple[Token, ...]] = []
    start = 0
    for index, token in enumerate(tokens):
        if token.kind is kind:
            runs.append(tokens[start:index])
            start = index + 1
    runs.append(tokens[start:])
    return runs


def mentions(tokens: tuple[Token, ...], name: str) -> bool:
    """Whether a name occurs in the tokens, not counting dfns inside them."""
    pending = [tokens]
    while pending:
        for token in pending.pop():
            if token.kind is TokenKind.NAME and token.text == name:
                return True
            if token.items and token.kind is not TokenKind.BRACES:
                pending.append(token.items)
    return False


def names_in(tokens: tuple[Token, ...]) -> frozenset[str]:
    """Every name in the tokens, dfns included."""
    found: set[str] = set()
    pending = [tokens]
    while pending:
        for token in pending.pop():
            if token.kind is TokenKind.NAME:
                found.add(token.text)
            if token.items:
                pending.append(token.items)
    return frozenset(found)
