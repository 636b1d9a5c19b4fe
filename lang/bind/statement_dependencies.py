"""Splits an entry of a session into statements, each with the names that it binds and the earlier names that it uses.

A signature and the binding after it are one statement.  `shell.workspace` stores entries in this form.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from itertools import pairwise

from ..support.records import dataclass
from ..syntax.glyph_input import to_glyphs
from ..syntax.parser import index_origin, parse
from ..syntax.reader import RawStatement, split_statements
from ..syntax.source import Source, Span, TokenKind, lexemes, read
from ..tree.expressions import NameClass, Symbol, SymbolKind
from .declarations import is_declaration, keyword_of
from .scopes import Reference, ReferenceKind, is_assignment

_NAME_CLASSES = {
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
    """A statement with the signature before it, if any: its offset and text in the entry written in glyphs.

    `names` are the names that it binds or changes, `needs` the earlier names that it reads or changes; `changes`: it changes a
    part of an existing value (`x[i]←v`, `x f← v`)."""

    start: int
    text: str
    kind: StatementKind
    names: tuple[str, ...]
    needs: frozenset[str]
    changes: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def prints(self) -> bool:
        """Does it contain `⎕←`?"""
        return bool(_prints(self.text))

    @property
    def prints_its_value(self) -> bool:
        """Does `⎕←` print its value?"""
        return 0 in [start for start, _ in _prints(self.text)]


def _prints(text: str) -> list[tuple[int, int]]:
    """The ranges of `⎕←` in a text."""
    seen = [lexeme for lexeme in lexemes(text) if lexeme.kind is not TokenKind.BLANK]
    return [
        (first.start, second.end)
        for first, second in pairwise(seen)
        if second.kind is TokenKind.GETS and text[first.start : first.end] == "⎕"
    ]


def without_printing(text: str) -> str:
    """The text with `⊢` for every `⎕←`."""
    for start, end in reversed(_prints(text)):
        text = f"{text[:start]}⊢{text[end:]}"
    return text


def words(text: str) -> frozenset[str]:
    """Every name that occurs in a text, whatever it stands for."""
    return frozenset(text[start:end] for kind, start, end in lexemes(text) if kind is TokenKind.NAME)


def statements_of(text: str, predefined: Mapping[str, SymbolKind] | None = None) -> list[Statement]:
    """The statements of an entry whose brackets match; `predefined` are the kinds of the names in scope before it."""
    source = Source("<entry>", text)
    classes = {name: _NAME_CLASSES.get(kind, NameClass.ARRAY) for name, kind in (predefined or {}).items()}
    index = parse(source, names=classes).index
    glyphs, raw_statements = index.glyphs, index.raw_statements
    statements: list[Statement] = []
    at = 0
    while at < len(raw_statements):
        first = raw_statements[at]
        while at + 1 < len(raw_statements) and _is_signature(raw_statements[at]):
            at += 1
        last = raw_statements[at]
        end = last.start + len(last.text)
        statement_span, last_span = glyphs.span(first.start, end), glyphs.span(last.start, end)
        inside = [r for r in index.references if statement_span.start <= r.span.start < statement_span.end]
        needs = frozenset(m.symbol.name for m in inside if _is_from_before(m.symbol, statement_span))
        changes = any(m.kind is ReferenceKind.CHANGE and m.span.start == last_span.start for m in inside)
        names = tuple(dict.fromkeys(m.symbol.name for m in inside if _assigns(m) and m.span.start >= last_span.start))
        statements.append(Statement(first.start, glyphs.text[first.start : end], _kind_of(last.text), names, needs, changes))
        at += 1
    return statements


def _assigns(reference: Reference) -> bool:
    """Does this reference give a top-level name another value?"""
    symbol = reference.symbol
    sizes = (SymbolKind.SIZE, SymbolKind.ELEMENT)
    return reference.kind in (ReferenceKind.BIND, ReferenceKind.CHANGE) and not symbol.depth and symbol.kind not in sizes


def _is_from_before(symbol: Symbol, statement: Span) -> bool:
    """Did the symbol have a value before this statement?"""
    return symbol.given or (not symbol.depth and symbol.span.start < statement.start)


def unfinished(text: str) -> bool:
    """Does the text end inside a bracket, or after a signature whose binding is missing?"""
    raw_statements = split_statements(to_glyphs(Source("<entry>", text)))
    if not raw_statements:
        return False
    last = raw_statements[-1]
    return last.is_open or (last.error is None and _is_signature(last))


def _is_signature(raw: RawStatement) -> bool:
    return not keyword_of(raw.text) and is_declaration(raw.text) and "←" not in raw.text


def _kind_of(text: str) -> StatementKind:
    if index_origin(text) is not None:
        return StatementKind.ORIGIN
    keyword = keyword_of(text)
    if keyword:
        return StatementKind(keyword)
    return StatementKind.BINDING if is_declaration(text) or is_assignment(read(text).tokens) else StatementKind.EXPRESSION
