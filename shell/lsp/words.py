"""Tokens of statements as they are typed: what the grammar reads, and of a broken statement whatever can be read.

Neighbours: `lang.tokens` (the tokens), `index` and `semantic` (which ask).
"""

from __future__ import annotations

import re
from functools import lru_cache

from ...lang.grammar import SPACES, WORDS
from ...lang.tokens import Token, TokenKind, Unreadable, tokenize

_ANY = re.compile(
    rf"(?P<blank>{SPACES}+)|(?P<comment>(?:⍝|\A#!)[^\n]*)|{WORDS}|(?P<broken>['\"][^\n]*)|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<other>.)",
    re.DOTALL,
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_KINDS = {kind.value: kind for kind in TokenKind}

COMMENT, BROKEN = "comment", "broken"


def tokens_of(text: str) -> tuple[Token, ...]:
    """The tokens of a statement, offsets relative to it."""
    try:
        return tokenize(text)
    except Unreadable:
        return tolerant(text)


@lru_cache(maxsize=20_000)
def tolerant(text: str) -> tuple[Token, ...]:
    """Tokens whatever the text: brackets end where they must, and what is no token is left out."""
    stack: list[tuple[str, int, list[Token]]] = [("", 0, [])]

    def close(end: int) -> None:
        mark, start, items = stack.pop()
        stack[-1][2].append(Token(_KINDS[mark], start, end, mark, tuple(items)))

    for found in _ANY.finditer(text):
        kind = found.lastgroup
        if kind == "open":
            stack.append((found.group(), found.start(), []))
        elif kind == "close":
            if any(_CLOSES.get(mark) == found.group() for mark, _, _ in stack):
                while _CLOSES[stack[-1][0]] != found.group():
                    close(found.start())
                close(found.end())
        elif kind in _KINDS:
            stack[-1][2].append(Token(_KINDS[kind], found.start(), found.end(), found.group()))
    while len(stack) > 1:
        close(len(text))
    return tuple(stack[0][2])


@lru_cache(maxsize=20_000)
def flat(line: str) -> tuple[tuple[str, int, int], ...]:
    """(kind, start, end) of everything in a line but blanks: kinds of tokens, `comment`, `broken` (a text without its end),
    `open`, `close`, `other`."""
    return tuple([(str(f.lastgroup), f.start(), f.end()) for f in _ANY.finditer(line) if f.lastgroup != "blank"])
