"""What is under the pointer: type, reads and cost of a name, the page of a glyph, the signature of a member.

Neighbours: `pages` (texts), `typechecker.check` (`described`), `shell.display.costs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ...lang.definitions import Symbol, SymbolKind
from ...lang.diagnostics import RhoError
from ...lang.lexer import TokenKind, lexemes
from ...lang.primitives import rows
from ...lang.reading_clauses import clause_words
from ...lang.resolution.symbols import Mention
from ...lang.source import Source
from ..display.library import LibraryEntry, entries_of
from .documents import Document
from .pages import code, documented, glyph_page, library_page
from .places import Position, Range
from .values import MOST_TYPES, is_latest, types_of

_WITHOUT_ROW = frozenset({TokenKind.NUMBERS, TokenKind.TEXT, TokenKind.UNENDED, TokenKind.COMMENT, TokenKind.BLANK})


@dataclass(frozen=True, slots=True)
class Hover:
    range: Range
    markdown: str


def hover(document: Document, position: Position) -> Hover | None:
    """What to say about a place; None about blanks, numbers, texts and comments."""
    offset = document.lines.offset(position)
    clause = _clause(document, offset)
    if clause is not None:
        return clause
    found = document.index.at(offset)
    if found is not None:
        page = _name(document, found)
        return None if page is None else Hover(document.lines.of(found.span), page)
    glyph = glyph_at(document, offset) or (glyph_at(document, offset - 1) if offset else None)
    if glyph is None or (glyph[2] == offset and not glyph[0][-1].isalnum()):
        return None
    page = glyph_page(glyph[0])
    return None if page is None else Hover(document.lines.range(glyph[1], glyph[2]), page)


def _clause(document: Document, offset: int) -> Hover | None:
    """A word of a clause of an `input` or `output`."""
    statement = document.index.statement_at(offset)
    if statement is None:
        return None
    for kind, first, last in lexemes(document.text[statement.start : statement.end]):
        start, end = statement.start + first, statement.start + last
        if kind is TokenKind.NAME and start <= offset <= end:
            word = document.text[start:end]
            says = clause_words(document.text[statement.start : start]).get(word)
            return None if says is None else Hover(document.lines.range(start, end), f"**{word}**\n\n{says}")
    return None


def glyph_at(document: Document, offset: int) -> tuple[str, int, int] | None:
    """The glyph (as the language has it), and where it is typed, however it is spelt."""
    spelled = document.index.spelled
    text = spelled.text
    offsets = spelled.offsets
    at = offset
    if offsets is not None:
        at = next((i for i in range(len(text)) if offsets[i] <= offset < offsets[i + 1]), len(text))
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : len(text) if end == -1 else end]
    for kind, first, last in lexemes(line):
        if first <= at - start < last and kind not in _WITHOUT_ROW and rows(line[first:last]):
            span = spelled.span(start + first, start + last)
            return line[first:last], span.start, span.end
    return None


def _name(document: Document, mention: Mention) -> str | None:
    symbol = mention.symbol
    if mention.member is not None:
        return _member(document, mention)
    parts = [code(*described(document, symbol))]
    doc = documentation(document, symbol)
    parts += [] if doc is None else documented(doc)
    if symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
        parts += [cost for cost in [cost_of(document, symbol.name)] if cost]
    return "\n\n".join(part for part in parts if part)


def described(document: Document, symbol: Symbol) -> tuple[str, ...]:
    """A name and its type, a line for each way to apply a function."""
    name = symbol.name
    if symbol.kind in (SymbolKind.SIZE, SymbolKind.ELEMENT):
        return (f"{name}  ⍝ a {'size' if symbol.kind is SymbolKind.SIZE else 'element type'}",)
    result = document.checked.result
    if result is not None and is_latest(document, symbol):
        lines = result.described(name)
        if lines:
            return (f"param {lines[0]}",) if symbol.kind is SymbolKind.PARAM else lines
    types = types_of(document, symbol)
    if types:
        return tuple([f"{name} : {type_}" for type_ in types[:MOST_TYPES]]) + (("⍝ …",) if len(types) > MOST_TYPES else ())
    return (f"{name}  ⍝ {'an' if symbol.kind.value[0] in 'aio' else 'a'} {symbol.kind.value}",)


def documentation(document: Document, symbol: Symbol) -> LibraryEntry | None:
    """The comment above a top-level definition."""
    return _entry(document.source, symbol.name) if symbol.depth == 0 else None


def member_entry(document: Document, mention: Mention) -> LibraryEntry | None:
    """What is documented of `module.member`."""
    source = module_source(document, mention.symbol)
    return None if source is None or mention.member is None else _entry(source, mention.member)


def module_source(document: Document, module: Symbol) -> Source | None:
    return document.module(module.path) if module.path else None


def _entry(source: Source, name: str) -> LibraryEntry | None:
    return next((entry for entry in entries(source) if entry.name == f"_.{name}"), None)


def entries(source: Source) -> Iterator[LibraryEntry]:
    """The documented definitions of a text, named `_.name`."""
    return entries_of("_", source.text)


def _member(document: Document, mention: Mention) -> str | None:
    entry = member_entry(document, mention)
    if entry is None:
        return code(f"{mention.symbol.name}.{mention.member}  ⍝ of {mention.symbol.path}")
    return library_page(replace(entry, source=f"{mention.symbol.name}.{entry.source}"))


def cost_of(document: Document, name: str) -> str | None:
    """What a function costs, as formulas in the sizes of its arguments; None for a generic one."""
    from ..display.costs import costs_of_definitions

    result = document.checked.result
    if result is None:
        return None
    only = replace(result.elaborated, names={name: result.elaborated.names[name]})
    try:
        found = costs_of_definitions(replace(document.checked, result=replace(result, elaborated=only)))
    except (RhoError, RecursionError):
        return None
    lines: list[str] = []
    for definition in found.get(name, ()):
        lines += [*([definition.signature] if len(found[name]) > 1 else []), *definition.cost.lines()]
    return "\n".join(["```text", *lines, "```"]) if lines else None
