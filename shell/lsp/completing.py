"""What could be typed at a place of a document, as items of the protocol.

Neighbours: `shell.searching.completing` (the engine), `lang.resolution` (what is in scope), `pages` (documentation).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...lang.declarations import is_declaration
from ...lang.definitions import SymbolKind
from ...lang.parser import parse
from ..display.library import LibraryEntry
from ..searching.completing import Candidate, Kind, Named, candidates
from .documents import Document
from .hover import entries, module_source
from .pages import library_page, primitive_page
from .places import Position, Range, TextEdit
from .values import types_of

TRIGGERS = ("`", ".", "⎕")


@dataclass(frozen=True, slots=True)
class Item:
    """`edit` puts the item in, `also` are edits elsewhere; typed letters are compared with `filter`; `page` is Markdown."""

    label: str
    kind: Kind
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
        found = [s for s in self._document.index.symbols if s.kind in (SymbolKind.SIZE, SymbolKind.ELEMENT)]
        return [(name, symbol.kind, symbol.kind.value) for name, symbol in {s.name: s for s in found}.items()]

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


def completion(document: Document, position: Position) -> list[Item]:
    """In no order; `Item.order` ranks them."""
    offset = document.lines.offset(position)
    before = document.text[document.lines.start(document.lines.position(offset).line) : offset]
    scope = _InDocument(document, offset, before)
    return [_item(document, scope, one, document.lines.range(offset - one.length, offset)) for one in candidates(before, scope)]


def _item(document: Document, scope: _InDocument, one: Candidate, where: Range) -> Item:
    page = primitive_page(one.row) if one.row is not None else "" if one.entry is None else library_page(one.entry)
    edit = TextEdit(where, one.text)
    if one.row is not None and one.spelt:
        key = f"  `{one.row.key}" if one.row.key else ""
        return Item(f"`{one.name}", one.kind, f"{one.row.glyph}  {one.about}{key}", edit, f"`{one.name}", one.order, page=page)
    label = f"{one.name} {one.text}" if one.row is not None and one.text != one.name else one.text
    also: tuple[TextEdit, ...] = ()
    detail, module = one.about, one.text.partition(".")[0]
    if one.entry is not None and "." in one.text:
        detail = one.entry.source.partition(":")[2].strip() or one.entry.doc
        also = () if module in scope.visible else (TextEdit(_top(document), f"use {module}\n"),)
    return Item(label, one.kind, detail, edit, one.name, one.order, also, page)


def _top(document: Document) -> Range:
    """Before the first statement that is no `use` and no index origin, after the comments above it."""
    for piece in document.index.pieces:
        if not piece.text.startswith(("use ", "⎕IO")):
            line = document.lines.position(document.index.spelled.span(piece.start, piece.start).start).line
            return Range(Position(line, 0), Position(line, 0))
    end = document.lines.position(len(document.text))
    return Range(end, end)
