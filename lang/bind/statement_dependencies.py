"""Splits a text into its statements, each with the names that it binds and those that it uses; sessions store entries so.

A signature goes with the binding that it is for.  `lang.syntax.parser` resolves the names; `shell.workspace` uses the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import pairwise

from ..support.records import dataclass
from ..syntax.glyph_input import spell
from ..syntax.lexer import TokenKind, lexemes
from ..syntax.parser import index_origin, parse
from ..syntax.reader import RawStatement, split_statements
from ..syntax.source import Source, Span, read
from ..tree.expressions import NameClass, Symbol, SymbolKind
from .declarations import is_declaration, keyword_of
from .scopes import Mention, ReferenceKind, is_assignment

_GIVEN = {
    SymbolKind.FUNCTION: NameClass.FUNCTION, SymbolKind.OPERATOR: NameClass.MONADIC_OPERATOR, SymbolKind.MODULE: NameClass.MODULE,
}  # fmt: skip


class StatementKind(Enum):
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
    """A statement, with the signature before it if there is one: where it stands in the entry as spelled in glyphs, and its text
    there.  `names` are what it binds or changes, `needs` the names from before that it reads or changes."""

    start: int
    text: str
    form: StatementKind
    names: tuple[str, ...]
    needs: frozenset[str]
    changes: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def prints(self) -> bool:
        """Is there a `⎕←` in it?"""
        return bool(_prints(self.text))

    @property
    def printed_last(self) -> bool:
        """Does `⎕←` print its value?"""
        return 0 in [start for start, _ in _prints(self.text)]


def _prints(text: str) -> list[tuple[int, int]]:
    """Where `⎕←` stands in a text."""
    seen = [lexeme for lexeme in lexemes(text) if lexeme.kind is not TokenKind.BLANK]
    return [
        (first.start, second.end)
        for first, second in pairwise(seen)
        if second.kind is TokenKind.GETS and text[first.start : first.end] == "⎕"
    ]


def quiet(text: str) -> str:
    """The text without printing."""
    for start, end in reversed(_prints(text)):
        text = f"{text[:start]}⊢{text[end:]}"
    return text


def words(text: str) -> frozenset[str]:
    """Every name that is written, whatever it means there."""
    return frozenset(text[start:end] for kind, start, end in lexemes(text) if kind is TokenKind.NAME)


def statements_of(text: str, given: Mapping[str, SymbolKind] | None = None) -> list[Statement]:
    """The statements of an entry whose brackets match; `given` are the names in scope before it."""
    source = Source("<entry>", text)
    index = parse(source, names={name: _GIVEN.get(kind, NameClass.ARRAY) for name, kind in (given or {}).items()}).index
    spelled, pieces = index.spelled, index.pieces
    statements: list[Statement] = []
    at = 0
    while at < len(pieces):
        first = pieces[at]
        while at + 1 < len(pieces) and _is_signature(pieces[at]):
            at += 1
        last = pieces[at]
        end = last.start + len(last.text)
        statement_span, last_span = spelled.span(first.start, end), spelled.span(last.start, end)
        inside = [mention for mention in index.mentions if statement_span.start <= mention.span.start < statement_span.end]
        needs = frozenset(m.symbol.name for m in inside if _is_from_before(m.symbol, statement_span))
        changes = any(m.access is ReferenceKind.CHANGE and m.span.start == last_span.start for m in inside)
        names = tuple(dict.fromkeys(m.symbol.name for m in inside if _gives(m) and m.span.start >= last_span.start))
        statements.append(Statement(first.start, spelled.text[first.start : end], _form(last.text), names, needs, changes))
        at += 1
    return statements


def _gives(mention: Mention) -> bool:
    """Has a top-level name another value afterwards?"""
    symbol = mention.symbol
    sizes = (SymbolKind.SIZE, SymbolKind.ELEMENT)
    return mention.access in (ReferenceKind.BIND, ReferenceKind.CHANGE) and not symbol.depth and symbol.kind not in sizes


def _is_from_before(symbol: Symbol, statement: Span) -> bool:
    """Did the name have a value before this statement?"""
    return symbol.given or (not symbol.depth and symbol.span.start < statement.start)


def unfinished(text: str) -> bool:
    """Does the text end inside a bracket, or before what a signature is for?"""
    pieces = split_statements(spell(Source("<entry>", text)))
    return bool(pieces) and (pieces[-1].is_open or (pieces[-1].damage is None and _is_signature(pieces[-1])))


def _is_signature(piece: RawStatement) -> bool:
    return not keyword_of(piece.text) and is_declaration(piece.text) and "←" not in piece.text


def _form(text: str) -> StatementKind:
    if index_origin(text) is not None:
        return StatementKind.ORIGIN
    keyword = keyword_of(text)
    if keyword:
        return StatementKind(keyword)
    return StatementKind.BINDING if is_declaration(text) or is_assignment(read(text).tokens) else StatementKind.EXPRESSION
