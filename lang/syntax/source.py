"""Source texts, spans and lexemes.

A `Span`, a half-open range of character offsets into one `Source`, is the only way in which later stages refer to program text;
lines and columns are computed when a message is rendered.

The lexer splits a text in canonical glyphs into lexemes that cover every character.  The tokens, the reader, the formatter, the
language server and the syntax highlighting all use its regular expressions.  Characters that belong to no lexeme of the language
form lexemes of kind `UNREADABLE` or `UNENDED`.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from enum import Enum
from itertools import accumulate
from pathlib import PurePath
from typing import Any, Final, NamedTuple, TypeAlias

from ..primitives.operators import RESERVED_WORDS
from ..primitives.record import GlyphRole
from ..primitives.table import ELEMENT_NAMES, PRIMITIVES
from ..support.caches import cached_by_text
from ..support.records import dataclass, field

# ---------------------------------------------------------------------------------------------------- vocabulary
#
# The glyphs and their classes, all derived from `lang.primitives.table`.

FUNCTIONS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.FUNCTION)
"""Glyphs, conversions (`f64`) and library functions (`⎕fft`)."""

MONADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.MONADIC_OPERATOR)
DYADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.DYADIC_OPERATOR)

SLASHES: frozenset[str] = FUNCTIONS & MONADIC_OPERATORS
"""`/ ⌿ \\ ⍀`: operators right of a function, else functions."""

OUTER = "∘."
STATES = "⍣\\"

SYSTEM_CONSTANTS: frozenset[str] = frozenset(
    row.glyph for row in PRIMITIVES if row.role is GlyphRole.CONSTANT and row.glyph.startswith("⎕")
)
CONVERSIONS: frozenset[str] = FUNCTIONS & ELEMENT_NAMES
RESERVED: frozenset[str] = RESERVED_WORDS | ELEMENT_NAMES

GLYPHS: frozenset[str] = frozenset(
    glyph for glyph in FUNCTIONS | MONADIC_OPERATORS | DYADIC_OPERATORS if not glyph.startswith("⎕") and not glyph.isalnum()
)
"""Glyphs of functions and operators as the grammar reads them; some have two characters."""

AXIS_FUNCTIONS: frozenset[str] = frozenset("/\\⌿⍀⌽⊖,⍪↑↓⌷")
"""Primitive functions that take a bracket axis; as operators `/ \\ ⌿ ⍀` take one too."""

ARRAY_LEFT_OPERANDS: frozenset[str] = frozenset("∘⍛@⍨")
"""Primitive operators whose left operand may be an array (a bound argument, a replacement, a constant)."""

ARRAY_RIGHT_OPERANDS: frozenset[str] = frozenset({"∘", "⍤", "⍣", STATES, "@", "⌺"})
"""Primitive operators whose right operand may be an array."""

LITERAL_OPERAND_OPERATORS: frozenset[str] = frozenset({"⍤", "⍣", STATES, "@", "⌺"})
"""Operators after which a literal strand is the whole operand (E013 if an array touches it)."""


# ---------------------------------------------------------------------------------------------------- lexer

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
    """A regular expression for some glyphs, longest first; `∘.` before a digit is `∘` and a number."""
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
_READ = _KINDS[2:]

WORD = re.compile(rf"{_TRIVIA}*+(?:{'|'.join(f'({_PATTERNS[kind]})' for kind in _READ)}|\Z)")
"""The next lexeme after blanks and comments; no group matches at the end of the text."""
WORD_KINDS = (TokenKind.BLANK, *_READ)
"""The kind of a lexeme by the number of its group in `WORD`."""

_LEXEME = re.compile("|".join(f"({pattern})" for pattern in _PATTERNS.values()))


class Lexeme(NamedTuple):
    """Characters `start` up to `end` of a text."""

    kind: TokenKind
    start: int
    end: int


def scan(text: str, start: int = 0, end: int | None = None) -> list[Lexeme]:
    """The lexemes of a range of a text; joined, they are that range."""
    matches = _LEXEME.finditer(text, start, len(text) if end is None else end)
    return [Lexeme(_KINDS[match.lastindex - 1], *match.span()) for match in matches if match.lastindex is not None]


MOST_CACHED_CHARACTERS: Final = 500_000
"""The most characters of texts whose lexemes, or tokens, are cached; tokens take about 90 bytes a character."""


@cached_by_text(MOST_CACHED_CHARACTERS)
def lexemes(text: str) -> tuple[Lexeme, ...]:
    """The lexemes of a whole text, cached."""
    return tuple(scan(text))


def in_prose(text: str, at: int) -> bool:
    """Is an offset inside a comment or a text literal of its line, or at the end of a comment or of an unended text?"""
    first = text.rfind("\n", 0, at) + 1
    last = text.find("\n", at)
    return any(
        start < at - first < end or (at - first == end and kind is not TokenKind.TEXT)
        for kind, start, end in lexemes(text[first : last if last >= 0 else len(text)])
        if kind in (TokenKind.COMMENT, TokenKind.TEXT, TokenKind.UNENDED)
    )


# ---------------------------------------------------------------------------------------------------- source

def line_text(span: Span, main: Source, others: Mapping[str, Source]) -> str:
    """The position of a span as text: `line 3` in the main text, `stats.rho line 3` in another; empty if its text is unknown."""
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
        """The message of a failed check at this span, which a library module states in a comment; empty for other spans."""
        return ""


class LibraryCheckSpan(Span):
    """The span of a call of a library function, for a check in its body; `failure` is the comment on the line of the check."""

    __slots__ = ("_failure",)
    _failure: str

    def __init__(self, call: Span, failure: str) -> None:
        super().__init__(call.file, call.start, call.end)
        object.__setattr__(self, "_failure", failure)

    @property
    def failure(self) -> str:
        return self._failure

    def __repr__(self) -> str:
        return f"{super().__repr__()}: {self._failure}"

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


# ---------------------------------------------------------------------------------------------------- module names
#
# `use stats` names a file of the standard library, `use "./x.rho"` one relative to the importing file.

LIBRARY_PREFIX: Final = "<stdlib>/"


def module_name(module: str, importer: str, folder: str = "") -> str:
    """The name of a module's source.  `folder` is the base of relative paths where the importer is not a file (`<eval>`)."""
    if not module.endswith(".rho"):
        return f"{LIBRARY_PREFIX}{module}.rho"
    if importer.startswith(LIBRARY_PREFIX):
        return LIBRARY_PREFIX + os.path.normpath(module)
    base = folder if importer.startswith("<") else os.path.dirname(importer)
    return os.path.normpath(os.path.join(base, module))


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
# Any text has tokens.  Their offsets are relative to the statement, so that the tokens of an
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


_GROUPS = {"(": (TokenKind.PARENTHESES, ")"), "[": (TokenKind.BRACKETS, "]"), "{": (TokenKind.BRACES, "}")}
_REFUSED = (TokenKind.UNREADABLE, TokenKind.UNENDED)


@cached_by_text(MOST_CACHED_CHARACTERS)
def read(text: str) -> TokenizedStatement:
    """The tokens of any text, cached by the text.

    A group without its closing bracket ends where the enclosing group ends; a closing bracket without its opening one is
    unreadable.  What is nested deeper than `MAXIMUM_NESTING` becomes one unreadable token."""
    ensure_recursion_headroom()
    end = _depth_reached(text)
    tokens: list[Token] = []
    refused: list[Token] = []
    groups: list[tuple[int, list[Token]]] = []
    """For each open group, the offset of its bracket and the tokens before it in the enclosing group."""

    def close(stop: int, bracket: str) -> bool:
        """End the groups that end at an offset, up to that of a closing bracket; returns whether there is one."""
        nonlocal tokens
        while groups:
            (start, before), items = groups.pop(), tuple(tokens)
            kind, closing = _GROUPS[text[start]]
            before.append(Token(kind, start, stop + (closing == bracket), text[start], items))
            tokens = before
            if closing == bracket:
                return True
        return False

    for match in WORD.finditer(text, 0, end):
        if match.lastindex is None:
            continue
        kind, (start, stop) = WORD_KINDS[match.lastindex], match.span(match.lastindex)
        if kind is TokenKind.OPEN:
            groups.append((start, tokens))
            tokens = []
        elif kind is not TokenKind.CLOSE or not close(start, text[start]):
            kind = TokenKind.UNREADABLE if kind is TokenKind.CLOSE else kind
            tokens.append(Token(kind, start, stop, text[start:stop]))
            if kind in _REFUSED:
                refused.append(tokens[-1])
    close(end, "")
    if end < len(text):
        tokens.append(Token(TokenKind.UNREADABLE, end, len(text), text[end:]))
        refused.append(tokens[-1])
    return TokenizedStatement(tuple(tokens), refused[0] if refused else None)


def _depth_reached(text: str) -> int:
    """The offset where the nesting of brackets first exceeds the limit, else the length of the text."""
    if text.count("(") + text.count("[") + text.count("{") <= MAXIMUM_NESTING:
        return len(text)
    steps = [lexeme for lexeme in scan(text) if lexeme.kind in (TokenKind.OPEN, TokenKind.CLOSE)]
    depths = accumulate(1 if lexeme.kind is TokenKind.OPEN else -1 for lexeme in steps)
    return next((lexeme.start for lexeme, depth in zip(steps, depths, strict=True) if depth > MAXIMUM_NESTING), len(text))


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
    return name in names_in(tokens, in_dfns=False)


def names_in(tokens: Tokens, *, in_dfns: bool = True) -> frozenset[str]:
    """Every name in the tokens."""
    names: set[str] = set()
    pending = [tokens]
    while pending:
        for token in pending.pop():
            if token.kind is TokenKind.NAME:
                names.add(token.text)
            if token.items and (in_dfns or token.kind is not TokenKind.BRACES):
                pending.append(token.items)
    return frozenset(names)
