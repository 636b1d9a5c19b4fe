"""Completion: names, glyphs and sizes that can be typed at a position of a document."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from ...lang.bind.declarations import is_declaration
from ...lang.primitives.table import glyph_of
from ...lang.support.records import dataclass
from ...lang.syntax.lexer import in_prose
from ...lang.syntax.parser import parse
from ...lang.tree.expressions import SymbolKind
from ..display.documentation import LibraryEntry
from ..repl.terminal import replacement
from ..searching.results import CompletionKind, NameCompletion, Named, candidates
from .documents import Document, Range, TextEdit, TextPosition
from .hover import entries, library_page, module_source, primitive_page, types_of

# ---------------------------------------------------------------------------------------------------- completing

TRIGGERS = ("`", ".", "⎕")


@dataclass(frozen=True, slots=True)
class CompletionEntry:
    """`edit` puts the item in, `also` are edits elsewhere; typed letters are compared with `filter`; `page` is Markdown."""

    label: str
    kind: CompletionKind
    detail: str
    edit: TextEdit
    filter: str
    order: int
    also: tuple[TextEdit, ...] = ()
    page: str = ""


class _InDocument:
    """The names in scope at an offset."""

    brings_in = True

    def __init__(self, document: Document, offset: int, before: str) -> None:
        self._document = document
        self.visible = document.index.visible(offset)
        statement = document.index.statement_at(offset)
        start = offset if statement is None else statement.start
        written = document.text[start:offset]
        self.starts = not written.strip() or written.strip().isidentifier()
        self.declares = statement is not None and is_declaration(document.text[statement.start : statement.end])

    def names(self) -> Iterable[Named]:
        known = "checked" in vars(self._document)
        for name, symbol in self.visible.items():
            types = types_of(self._document, symbol) if known else ()
            yield name, symbol.kind, types[0] if types else symbol.kind.value

    def sizes(self) -> Iterable[Named]:
        symbols = [s for s in self._document.index.symbols if s.kind in (SymbolKind.SIZE, SymbolKind.ELEMENT)]
        return [(name, symbol.kind, symbol.kind.value) for name, symbol in {s.name: s for s in symbols}.items()]

    def members(self, module: str) -> Iterable[tuple[Named, LibraryEntry | None]] | None:
        symbol = self.visible.get(module)
        if symbol is None or symbol.kind is not SymbolKind.MODULE:
            return None
        source = module_source(self._document, symbol)
        if source is None:
            return ()
        documented = {entry.name[2:]: entry for entry in entries(source)}
        inside = [one for one in parse(source).index.top.symbols.values() if one.kind is not SymbolKind.MODULE]
        return [((one.name, one.kind, _source(documented.get(one.name))), documented.get(one.name)) for one in inside]


def _source(entry: LibraryEntry | None) -> str:
    return "" if entry is None else entry.source


def completion(document: Document, position: TextPosition) -> list[CompletionEntry]:
    """In no order; `Item.order` ranks them."""
    offset = document.lines.offset(position)
    before = document.text[document.lines.start(document.lines.position(offset).line) : offset]
    scope = _InDocument(document, offset, before)
    return [_item(document, scope, one, document.lines.range(offset - one.length, offset)) for one in candidates(before, scope)]


def _item(document: Document, scope: _InDocument, one: NameCompletion, where: Range) -> CompletionEntry:
    page = primitive_page(one.row) if one.row is not None else "" if one.entry is None else library_page(one.entry)
    edit = TextEdit(where, one.text)
    if one.row is not None and one.spelt:
        key = f"  `{one.row.key}" if one.row.key else ""
        return CompletionEntry(f"`{one.name}", one.kind, f"{one.row.glyph}  {one.about}{key}", edit, f"`{one.name}", one.order,
            page=page)
    label = f"{one.name} {one.text}" if one.row is not None and one.text != one.name else one.text
    also: tuple[TextEdit, ...] = ()
    detail, module = one.about, one.text.partition(".")[0]
    if one.entry is not None and "." in one.text:
        detail = one.entry.source.partition(":")[2].strip() or one.entry.doc
        also = () if module in scope.visible else (TextEdit(_top(document), f"use {module}\n"),)
    return CompletionEntry(label, one.kind, detail, edit, one.name, one.order, also, page)


def _top(document: Document) -> Range:
    """Before the first statement that is no `use` and no index origin, after the comments above it."""
    for piece in document.index.raw_statements:
        if not piece.text.startswith(("use ", "⎕IO")):
            line = document.lines.position(document.index.glyphs.span(piece.start, piece.start).start).line
            return Range(TextPosition(line, 0), TextPosition(line, 0))
    end = document.lines.position(len(document.text))
    return Range(end, end)


# ---------------------------------------------------------------------------------------------------- glyphs
#
# Typing glyphs: a backtick and a name or key becomes the glyph as soon as what follows shows where it ends.
#
# `` `iota `` and a blank gives `⍳` (the blank is used up), `` `iota( `` gives `⍳(`, `` `[ `` gives `←` at once.

GLYPHS_TRIGGERS = tuple(" \n" + string.punctuation + string.digits)
"""What may end a spelling."""

_SPELLING = re.compile(r"`([A-Za-z]+|[^\sA-Za-z])")


def on_type(document: Document, position: TextPosition, typed: str) -> list[TextEdit]:
    """What to change after a character was typed just before a place."""
    if typed == "\n":
        return _whole_line(document, position.line - 1)
    offset = document.lines.offset(position)
    number = document.lines.position(offset).line
    line, start = document.lines.line(number), document.lines.start(number)
    end = offset - start
    if end < 1 or line[end - 1] != typed:
        return []
    replaced = replacement(line[:end], "`")
    return [] if replaced is None else [_edit(document, offset - replaced.length, offset, replaced.text)]


def _whole_line(document: Document, number: int) -> list[TextEdit]:
    """Every spelling of a finished line."""
    line, start = document.lines.line(number), document.lines.start(number)
    edits = []
    for match in _SPELLING.finditer(line):
        glyph = glyph_of(match.group(1))
        if glyph is not None and match.group(1) != "-" and not in_prose(line, match.start()):
            edits.append(_edit(document, start + match.start(), start + match.end(), glyph))
    return edits


def _edit(document: Document, start: int, end: int, text: str) -> TextEdit:
    at: Range = document.lines.range(start, end)
    return TextEdit(at, text)
