"""Tokens of one statement, whatever its text: the result of the expression grammar, with offsets relative to the statement.

Relative offsets let an unchanged statement be reused wherever it moves.  `Token` is a named tuple, not a
dataclass, because there are as many as there are words.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from .grammar import expression_grammar
from .lexer import WORD, WORD_KINDS, TokenKind, scan
from .limits import MAXIMUM_NESTING, ensure_recursion_headroom
from .peg import Node


class Token(NamedTuple):
    """`text` is as written (canonical glyphs), for a group its opening bracket; `items` is what a group holds."""

    kind: TokenKind
    start: int
    end: int
    text: str
    items: tuple[Token, ...] = ()


class Reading(NamedTuple):
    """The tokens of a statement; `unreadable` is the first of them that the language does not have, also inside groups."""

    tokens: tuple[Token, ...]
    unreadable: Token | None


_GROUPS = {"round": TokenKind.PARENTHESES, "square": TokenKind.BRACKETS, "curly": TokenKind.BRACES}
_REFUSED = (WORD_KINDS.index(TokenKind.UNREADABLE), WORD_KINDS.index(TokenKind.UNENDED))


@lru_cache(maxsize=20_000)
def read(text: str) -> Reading:
    """The tokens of any text; cached, so an unchanged statement costs nothing.

    A group ends where its closer stands, else where the group around it ends.  What is nested too deeply is not read."""
    ensure_recursion_headroom()
    end = _depth_reached(text)
    refused: list[Token] = []
    tokens = _tokens(text, expression_grammar().parse(text[:end]).children, refused)
    if end < len(text):
        refused.append(Token(TokenKind.UNREADABLE, end, len(text), text[end:]))
        tokens = (*tokens, refused[-1])
    return Reading(tokens, refused[0] if refused else None)


def _depth_reached(text: str) -> int:
    """Where brackets are first nested too deeply; else where the text ends."""
    if text.count("(") + text.count("[") + text.count("{") <= MAXIMUM_NESTING:
        return len(text)
    steps = [lexeme for lexeme in scan(text) if lexeme.kind in (TokenKind.OPEN, TokenKind.CLOSE)]
    depths = accumulate(1 if lexeme.kind is TokenKind.OPEN else -1 for lexeme in steps)
    return next((lexeme.start for lexeme, depth in zip(steps, depths, strict=True) if depth > MAXIMUM_NESTING), len(text))


def _tokens(text: str, parts: Iterable[Node], refused: list[Token]) -> tuple[Token, ...]:
    found: list[Token] = []
    for (part,) in parts:
        rule = part.expr.name
        if rule == "words":
            for word in WORD.finditer(text, part.start, part.end):
                group = word.lastindex
                if group is not None:
                    found.append(Token(WORD_KINDS[group], *word.span(group), word[group]))
                    if group in _REFUSED:
                        refused.append(found[-1])
        elif rule == "closer":
            refused.append(Token(TokenKind.UNREADABLE, part.start, part.end, part.text))
            found.append(refused[-1])
        else:
            items = _tokens(text, part.children[1].children, refused)
            found.append(Token(_GROUPS[rule], part.start, part.end, text[part.start], items))
    return tuple(found)


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
