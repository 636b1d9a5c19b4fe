"""Source texts, spans and tokens.

A `Span`, a half-open range of character offsets into one `Source`, is the only way in which later stages refer to program text;
lines and columns are computed when a message is rendered.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import PurePath
from typing import Any, NamedTuple, TypeAlias

from ..support.caches import cached_by_text
from ..support.records import dataclass, field
from .lexer import MOST_CACHED_CHARACTERS, WORD, WORD_KINDS, Node, TokenKind, expression_grammar, scan

# ---------------------------------------------------------------------------------------------------- source

def line_text(span: Span, main: Source, others: Mapping[str, Source]) -> str:
    """Where a span begins: `line 3` in the main text, `stats.rho line 3` in another; empty if its text is unknown."""
    if span.file == main.name:
        return f"line {main.position(span.start)[0] + 1}"
    source = others.get(span.file)
    return "" if source is None else f"{PurePath(source.name).name} line {source.position(span.start)[0] + 1}"


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to but not including `end` of the source called `file`."""

    file: str
    start: int
    end: int

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Span):
            return NotImplemented
        return (self.start, self.end, self.file) == (other.start, other.end, other.file)

    def __hash__(self) -> int:
        return hash((self.file, self.start, self.end))

    def to(self, other: Span) -> Span:
        """The smallest span that holds both (same file)."""
        return self if other == self else Span(self.file, min(self.start, other.start), max(self.end, other.end))

    def detached(self) -> Span:
        """A copy that does not move with its statement."""
        return self

    @property
    def failure(self) -> str:
        """What it means that a check at this span fails; empty if nothing says it."""
        return ""


class LibraryCheckSpan(Span):
    """The span of a call into the library, for a check in the library's text whose comment says what its failure means."""

    __slots__ = ("_failure",)
    _failure: str

    def __init__(self, call: Span, failure: str) -> None:
        super().__init__(call.file, call.start, call.end)
        object.__setattr__(self, "_failure", failure)

    @property
    def failure(self) -> str:
        return self._failure

    def __reduce__(self) -> tuple[type[LibraryCheckSpan], tuple[Span, str]]:
        return LibraryCheckSpan, (Span(self.file, self.start, self.end), self._failure)


class StatementPosition:
    """The offset of a statement in the current version of its file; updated when the statement moves."""

    __slots__ = ("file", "start")

    def __init__(self, file: str, start: int) -> None:
        self.file, self.start = file, start


class AnchoredSpan(Span):
    """A span relative to the position of its statement, so that a cached tree stays valid when the statement moves."""

    __slots__ = ("_anchor", "_from", "_to")
    _anchor: StatementPosition
    _from: int
    _to: int

    def __init__(self, anchor: StatementPosition, start: int, end: int) -> None:
        """`start` and `end` count from the anchor."""
        keep = object.__setattr__
        keep(self, "_anchor", anchor)
        keep(self, "_from", start)
        keep(self, "_to", end)

    @property
    def file(self) -> str:
        return self._anchor.file

    @property
    def start(self) -> int:
        return self._anchor.start + self._from

    @property
    def end(self) -> int:
        return self._anchor.start + self._to

    def to(self, other: Span) -> Span:
        if isinstance(other, AnchoredSpan) and other._anchor is self._anchor:
            return AnchoredSpan(self._anchor, min(self._from, other._from), max(self._to, other._to))
        return super().to(other)

    def detached(self) -> Span:
        return Span(self.file, self.start, self.end)


_LONE_RETURN = re.compile("\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Source:
    """A named program text.  `name` is what messages print: a path, `<eval>` or `<repl>`.

    A carriage return without a line feed ends a line; `text` has a line feed in its place, and `has_returns` is set."""

    name: str
    text: str
    has_returns: bool = field(default=False, compare=False, repr=False)
    _line_starts: tuple[int, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if "\r" in self.text and (text := _LONE_RETURN.sub("\n", self.text)) != self.text:
            object.__setattr__(self, "text", text)
            object.__setattr__(self, "has_returns", True)
        starts = [0]
        at = self.text.find("\n")
        while at != -1:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        object.__setattr__(self, "_line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """0-based (line, character column) of an offset."""
        line = bisect_right(self._line_starts, offset) - 1
        return line, offset - self._line_starts[line]

    def utf16_position(self, offset: int) -> tuple[int, int]:
        """0-based (line, UTF-16 column) of an offset, as editors count."""
        line, column = self.position(offset)
        start = self._line_starts[line]
        prefix = self.text[start : start + column]
        return line, column + sum(1 for c in prefix if ord(c) > 0xFFFF)

    def line(self, index: int) -> str:
        """The text of a 0-based line without its newline."""
        start = self._line_starts[index]
        end = self._line_starts[index + 1] - 1 if index + 1 < len(self._line_starts) else len(self.text)
        return self.text[start:end]


# ---------------------------------------------------------------------------------------------------- limits
#
# The parser recurses into brackets, walks of the bound tree into applications.  The reader and the binder limit both (E016)
# before anything recurses.  A walk of a bound tree may use about ten Python frames a level: call `ensure_recursion_headroom`
# first.

MAXIMUM_NESTING = 100
"""Brackets inside brackets."""

MAXIMUM_CHARACTERS = 1_000_000
"""Characters of one source text."""

MAXIMUM_DEPTH = 2_000
"""Levels of the bound tree of one statement: applications, operators, trains and brackets."""

_FRAMES = 60_000


def ensure_recursion_headroom() -> None:
    """Raise Python's recursion limit so that no walk of a tree within the limits above reaches it.

    It only ever raises the limit, so threads cannot disturb each other; since Python 3.11 calls between
    Python functions use no C stack.
    """
    if sys.getrecursionlimit() < _FRAMES:
        sys.setrecursionlimit(_FRAMES)


# ---------------------------------------------------------------------------------------------------- tokens
#
# The expression grammar gives tokens for any text.  Their offsets are relative to the statement, so that the tokens of an
# unchanged statement are reused wherever it moves.  `Token` is a named tuple, not a dataclass, since there is one for every word.

class Token(NamedTuple):
    """A lexeme, or a bracketed group, whose `text` is the opening bracket and whose `items` are its tokens.

    `meaning` is what name resolution adds (`bind.resolver`)."""

    kind: TokenKind
    start: int
    end: int
    text: str
    items: tuple[Token, ...] = ()
    meaning: Any = None


Tokens: TypeAlias = tuple[Token, ...]


class TokenizedStatement(NamedTuple):
    """The tokens of a statement; `unreadable` is the first one, also inside groups, that is no lexeme of the language."""

    tokens: Tokens
    unreadable: Token | None


_GROUPS = {"round": TokenKind.PARENTHESES, "square": TokenKind.BRACKETS, "curly": TokenKind.BRACES}
_REFUSED = (WORD_KINDS.index(TokenKind.UNREADABLE), WORD_KINDS.index(TokenKind.UNENDED))


@cached_by_text(MOST_CACHED_CHARACTERS)
def read(text: str) -> TokenizedStatement:
    """The tokens of any text, cached by the text.

    A group without its closing bracket ends where the enclosing group ends.  What is nested deeper than `MAXIMUM_NESTING` becomes
    one unreadable token."""
    ensure_recursion_headroom()
    end = _depth_reached(text)
    refused: list[Token] = []
    tokens = _tokens_of(text, expression_grammar().parse(text[:end]).children, refused)
    if end < len(text):
        refused.append(Token(TokenKind.UNREADABLE, end, len(text), text[end:]))
        tokens = (*tokens, refused[-1])
    return TokenizedStatement(tokens, refused[0] if refused else None)


def _depth_reached(text: str) -> int:
    """The offset at which brackets are first nested too deeply, else the length of the text."""
    if text.count("(") + text.count("[") + text.count("{") <= MAXIMUM_NESTING:
        return len(text)
    steps = [lexeme for lexeme in scan(text) if lexeme.kind in (TokenKind.OPEN, TokenKind.CLOSE)]
    depths = accumulate(1 if lexeme.kind is TokenKind.OPEN else -1 for lexeme in steps)
    return next((lexeme.start for lexeme, depth in zip(steps, depths, strict=True) if depth > MAXIMUM_NESTING), len(text))


def _tokens_of(text: str, parts: Iterable[Node], refused: list[Token]) -> Tokens:
    tokens: list[Token] = []
    for (part,) in parts:
        rule = part.expr.name
        if rule == "words":
            for word in WORD.finditer(text, part.start, part.end):
                group = word.lastindex
                if group is not None:
                    tokens.append(Token(WORD_KINDS[group], *word.span(group), word[group]))
                    if group in _REFUSED:
                        refused.append(tokens[-1])
        elif rule == "closer":
            refused.append(Token(TokenKind.UNREADABLE, part.start, part.end, part.text))
            tokens.append(refused[-1])
        else:
            items = _tokens_of(text, part.children[1].children, refused)
            tokens.append(Token(_GROUPS[rule], part.start, part.end, text[part.start], items))
    return tuple(tokens)


def split_at(tokens: Tokens, kind: TokenKind) -> list[Tokens]:
    """The runs between tokens of a kind, empty ones included."""
    runs: list[Tokens] = []
    start = 0
    for index, token in enumerate(tokens):
        if token.kind is kind:
            runs.append(tokens[start:index])
            start = index + 1
    runs.append(tokens[start:])
    return runs


def mentions(tokens: Tokens, name: str) -> bool:
    """Whether a name occurs in the tokens, not counting dfns inside them."""
    pending = [tokens]
    while pending:
        for token in pending.pop():
            if token.kind is TokenKind.NAME and token.text == name:
                return True
            if token.items and token.kind is not TokenKind.BRACES:
                pending.append(token.items)
    return False


def names_in(tokens: Tokens) -> frozenset[str]:
    """Every name in the tokens, dfns included."""
    names: set[str] = set()
    pending = [tokens]
    while pending:
        for token in pending.pop():
            if token.kind is TokenKind.NAME:
                names.add(token.text)
            if token.items:
                pending.append(token.items)
    return frozenset(names)
