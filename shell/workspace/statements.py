"""Entries cut into statements, and what can be seen of a statement without checking it.

Whatever is uncertain is answered generously: more names than are bound, more words than are mentioned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from ...lang.declarations import is_declaration
from ...lang.grammar import NAME
from ...lang.source import Source
from ...lang.spelling import spell
from ...lang.splitter import split_statements
from ...lang.statements import is_assignment
from ...lang.tokens import Token, TokenKind, Unreadable, tokenize

_WORD = re.compile(NAME)
_KEYWORD = re.compile(r"(use|input|param|output|schedule)(?![\w∆])(?!\s*←)")
_DECLARED = re.compile(rf"({NAME})\s*:")
_DECLARES = re.compile(rf"^\s*{NAME}\s*:")
_TARGET = re.compile(rf"(?:^|(?<=[\n⋄]))\s*(?:{NAME}|\((?:\s*{NAME})+\s*\))\s*←")
_ORIGIN = re.compile(r"⎕IO\s*←\s*([01])")
_PRINT = re.compile(r"⎕\s*←")


class Form(Enum):
    EXPRESSION = "a bare expression"
    BINDING = "names something"
    INPUT = "input"
    PARAM = "param"
    USE = "use"
    OUTPUT = "output"
    SCHEDULE = "schedule"
    ORIGIN = "⎕IO←1"


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, with the signature before it if there is one: where it stands in the entry as spelled
    in glyphs, and its text there."""

    start: int
    text: str
    form: Form
    names: tuple[str, ...]

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def mentions(self) -> frozenset[str]:
        return words(self.text)

    @property
    def prints(self) -> bool:
        """Is there a `⎕←` in it?"""
        return _PRINT.search(self.text) is not None

    @property
    def printed_last(self) -> bool:
        """Does `⎕←` print its value?"""
        return _PRINT.match(self.text) is not None


def quiet(text: str) -> str:
    """The text without printing."""
    return _PRINT.sub("⊢", text)


def words(text: str) -> frozenset[str]:
    """Every word that could be a name."""
    return frozenset(_WORD.findall(text))


def used(text: str) -> frozenset[str]:
    """Every word of a statement that it may need from before: all but those that it only declares or assigns."""
    return words(_TARGET.sub("←", _DECLARES.sub(":", text)))


def statements_of(text: str) -> list[Statement]:
    """The statements of an entry whose brackets match; a signature goes with the binding that it is for."""
    spelling = spell(Source("<entry>", text))
    spelled, pieces = spelling.text, split_statements(spelling)
    found: list[Statement] = []
    at = 0
    while at < len(pieces):
        first = pieces[at]
        while at + 1 < len(pieces) and _is_signature(pieces[at].text):
            at += 1
        last = pieces[at]
        whole = spelled[first.start : last.start + len(last.text)]
        found.append(Statement(first.start, whole, _form(last.text), tuple(dict.fromkeys(_names(last.text)))))
        at += 1
    return found


def unfinished(text: str) -> bool:
    """Does the text end inside a bracket, or before what a signature is for?"""
    pieces = split_statements(spell(Source("<entry>", text)))
    if any(piece.damage is not None and "never closed" in piece.damage.message for piece in pieces[-1:]):
        return True
    return bool(pieces) and pieces[-1].damage is None and _is_signature(pieces[-1].text)


def origin_of(text: str) -> int | None:
    """The index origin that a statement sets."""
    found = _ORIGIN.fullmatch(text)
    return None if found is None else int(found.group(1))


def _is_signature(text: str) -> bool:
    return _KEYWORD.match(text) is None and is_declaration(text) and "←" not in text


def _form(text: str) -> Form:
    if origin_of(text) is not None:
        return Form.ORIGIN
    keyword = _KEYWORD.match(text)
    if keyword is not None:
        return Form(keyword.group(1))
    if is_declaration(text) or is_assignment(_tokens(text)):
        return Form.BINDING
    return Form.EXPRESSION


def _tokens(text: str) -> tuple[Token, ...]:
    try:
        return tokenize(text)
    except Unreadable:
        return ()


def _names(text: str) -> list[str]:
    """The names that a statement may bind at the top level."""
    keyword = _KEYWORD.match(text)
    if keyword is not None:
        rest = text[keyword.end() :].strip()
        found = _WORD.search(rest.rpartition("/")[2].strip('"')) if keyword.group(1) == "use" else _WORD.match(rest)
        return [] if found is None else [found.group()]
    declared = _DECLARED.match(text)
    if declared is not None and is_declaration(text):
        return [declared.group(1)]
    return list(_bound(_tokens(text)))


def _bound(tokens: Sequence[Token]) -> Iterable[str]:
    for place, token in enumerate(tokens):
        if token.kind is TokenKind.GETS and place:
            yield from _targets(tokens[:place])
        elif token.kind in (TokenKind.PARENTHESES, TokenKind.BRACKETS):
            yield from _bound(token.items)


def _targets(left: Sequence[Token]) -> Iterable[str]:
    """`x←`, `(x y)←`, `x[i]←`, `x f←`."""
    last = left[-1]
    if last.kind is TokenKind.NAME:
        yield last.text
    for token in left:
        if token.kind is TokenKind.NAME and token is not last:
            yield token.text
        elif token.kind is TokenKind.PARENTHESES:
            yield from (word for word in _inside(token))


def _inside(token: Token) -> Iterable[str]:
    for item in token.items:
        if item.kind is TokenKind.NAME:
            yield item.text
        elif item.kind is TokenKind.PARENTHESES:
            yield from _inside(item)
