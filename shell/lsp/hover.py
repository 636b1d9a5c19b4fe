"""Hover texts in Markdown: type, read counts and cost of a name, the page of a glyph, the documentation of a module's member."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from ...lang.bind.scopes import Reference
from ...lang.diagnostics.help_pages import primitive_markdown
from ...lang.primitives import table
from ...lang.primitives.record import Primitive
from ...lang.primitives.table import rows
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Source, TokenKind, lexemes
from ...lang.tree.expressions import Symbol, SymbolKind
from ...lang.tree.program import clause_words
from ...typechecker.diagnostics import show_type
from ..display.costs import function_cost_line
from ..display.documentation import LibraryEntry, code, entries_of, entry_markdown
from .documents import Document, Range, TextPosition

# ---------------------------------------------------------------------------------------------------- pages
#
# Markdown pages of glyphs and library names, for hover and completion.

def primitive_page(row: Primitive) -> str:
    """The page of a primitive, with its first examples."""
    lines = [f"**{row.glyph}**  {row.title}", "", *primitive_markdown(row, most_examples=2)]
    return "\n".join([*lines, *(["This version of Rho cannot run it yet (E620)."] if row.later else [])]).rstrip()


def glyph_page(glyph: str) -> str | None:
    """The page of a glyph, a system name, a conversion or a keyword; of both rows if it is a function and an operator."""
    rows = table.rows(glyph)
    return "\n\n---\n\n".join(primitive_page(row) for row in rows) if rows else None


def library_page(entry: LibraryEntry) -> str:
    """The page of a documented definition."""
    return "\n\n".join([code(entry.source), *entry_markdown(entry)])


# ---------------------------------------------------------------------------------------------------- types of bindings
#
# The type of a name at its binding, as far as checking got: also of shadowed and local names, also in rejected programs.
#
# The checker's builder has the span, type and name of every value; a name inside a function has one value for each call that was
# elaborated.

MOST_TYPES = 3
"""The most types that are shown for one name."""

NOT_ARRAYS = (SymbolKind.FUNCTION, SymbolKind.OPERATOR, SymbolKind.MODULE)


def is_latest(document: Document, symbol: Symbol) -> bool:
    """Is this the top-level binding of its name that the rest of the file sees?"""
    return symbol.depth == 0 and document.index.top.symbols.get(symbol.name) is symbol


def types_of(document: Document, symbol: Symbol) -> tuple[str, ...]:
    """The types of a name of an array, one for each call around its binding; none for functions and unreached bindings."""
    result = document.checked.result
    if result is None or symbol.kind in NOT_ARRAYS:
        return ()
    if is_latest(document, symbol):
        known = result.types.get(symbol.name)
        return () if known is None or "?" in known else (known,)
    return document.memoised(_bound_types).get((symbol.name, symbol.span.start), ())


def _bound_types(document: Document) -> Mapping[tuple[str, int], tuple[str, ...]]:
    """Types by name and offset of the binding: a named value belongs to the innermost binding of its name around its span."""
    result = document.checked.result
    assert result is not None
    builder = result.elaborated.context.builder
    places: dict[str, list[Symbol]] = {}
    for symbol in document.index.symbols:
        if symbol.kind not in NOT_ARRAYS:
            places.setdefault(symbol.name, []).append(symbol)
    types_of: dict[tuple[str, int], dict[str, None]] = {}
    for value, name in builder.source_names.names.items():
        span = builder.spans.get(value)
        if name not in places or span is None or span.file != document.name or value not in builder.types:
            continue
        around = [s for s in places[name] if s.span.start <= span.start and span.end <= s.statement.end]
        if around:
            nearest = max(around, key=lambda symbol: symbol.span.start)
            types_of.setdefault((name, nearest.span.start), {})[show_type(builder.types[value])] = None
    return {binding: tuple(types) for binding, types in types_of.items()}


# ---------------------------------------------------------------------------------------------------- hover

_WITHOUT_ROW = frozenset({TokenKind.NUMBERS, TokenKind.TEXT, TokenKind.UNENDED, TokenKind.COMMENT, TokenKind.BLANK})


@dataclass(frozen=True, slots=True)
class Hover:
    range: Range
    markdown: str


def hover(document: Document, position: TextPosition) -> Hover | None:
    """The hover text at a position; None for blanks, numbers, texts and comments."""
    offset = document.lines.offset(position)
    clause = _clause_hover(document, offset)
    if clause is not None:
        return clause
    reference = document.index.at(offset)
    if reference is not None:
        page = _name_page(document, reference)
        return None if page is None else Hover(document.lines.range_of(reference.span), page)
    glyph = glyph_at(document, offset) or (glyph_at(document, offset - 1) if offset else None)
    if glyph is None or (glyph[2] == offset and not glyph[0][-1].isalnum()):
        return None
    page = glyph_page(glyph[0])
    return None if page is None else Hover(document.lines.range(glyph[1], glyph[2]), page)


def _clause_hover(document: Document, offset: int) -> Hover | None:
    """The hover text of a word in a clause of an `input` or `output`."""
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
    """The glyph at an offset, also if it is typed as a backtick name, with the start and end of its text."""
    glyphs = document.index.glyphs
    text = glyphs.text
    offsets = glyphs.offsets
    at = offset
    if offsets is not None:
        at = next((i for i in range(len(text)) if offsets[i] <= offset < offsets[i + 1]), len(text))
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : len(text) if end == -1 else end]
    for kind, first, last in lexemes(line):
        if first <= at - start < last and kind not in _WITHOUT_ROW and rows(line[first:last]):
            span = glyphs.span(start + first, start + last)
            return line[first:last], span.start, span.end
    return None


def _name_page(document: Document, reference: Reference) -> str | None:
    symbol = reference.symbol
    if reference.member is not None:
        return _member_page(document, reference)
    parts = [code(*description_lines(document, symbol))]
    doc = documentation(document, symbol)
    parts += [] if doc is None else entry_markdown(doc)
    if symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
        parts.append(cost_of(document, symbol.name))
    return "\n\n".join(part for part in parts if part)


def description_lines(document: Document, symbol: Symbol) -> tuple[str, ...]:
    """Lines with a name and its type; of a function, a line for each signature."""
    name = symbol.name
    if symbol.kind in (SymbolKind.SIZE, SymbolKind.ELEMENT):
        return (f"{name}  ⍝ a {'size' if symbol.kind is SymbolKind.SIZE else 'element type'}",)
    result = document.checked.result
    if result is not None and is_latest(document, symbol):
        lines = result.describe(name)
        if lines:
            return (f"param {lines[0]}",) if symbol.kind is SymbolKind.PARAM else lines
    types = types_of(document, symbol)
    if types:
        return tuple([f"{name} : {type_}" for type_ in types[:MOST_TYPES]]) + (("⍝ …",) if len(types) > MOST_TYPES else ())
    return (f"{name}  ⍝ {'an' if symbol.kind.value[0] in 'aio' else 'a'} {symbol.kind.value}",)


def documentation(document: Document, symbol: Symbol) -> LibraryEntry | None:
    """The comment above a top-level definition."""
    return _entry(document.source, symbol.name) if symbol.depth == 0 else None


def member_entry(document: Document, reference: Reference) -> LibraryEntry | None:
    """The documentation of `module.member`."""
    source = module_source(document, reference.symbol)
    return None if source is None or reference.member is None else _entry(source, reference.member)


def module_source(document: Document, module: Symbol) -> Source | None:
    return document.module(module.path) if module.path else None


def _entry(source: Source, name: str) -> LibraryEntry | None:
    return next((entry for entry in entries(source) if entry.name == f"_.{name}"), None)


def entries(source: Source) -> Iterator[LibraryEntry]:
    """The documented definitions of a text, named `_.name`."""
    return entries_of("_", source.text)


def _member_page(document: Document, reference: Reference) -> str | None:
    entry = member_entry(document, reference)
    if entry is None:
        return code(f"{reference.symbol.name}.{reference.member}  ⍝ of {reference.symbol.path}")
    return library_page(replace(entry, source=f"{reference.symbol.name}.{entry.source}"))


def cost_of(document: Document, name: str) -> str:
    """One line with the cost of a call for sizes of 1000, and where its formulas are; empty for a generic function."""
    result = document.checked.result
    line = "" if result is None else function_cost_line(result, name)
    if not line:
        return ""
    formulas = f"rho type {document.name} {name} --cost"
    if not document.has_commands:
        return f"{line}  \nformulas: `{formulas}`"
    arguments = quote(json.dumps([document.name, name]))
    return f"{line} ([formulas](command:rho.costs?{arguments} \"{formulas}\"))"
