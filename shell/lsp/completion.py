"""Completion of names, glyphs and sizes at a position of a document, and glyphs for names that are typed after a backtick."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from ...lang.bind.declarations import is_declaration
from ...lang.primitives.table import glyph_of
from ...lang.support.records import dataclass
from ...lang.syntax.parser import parse
from ...lang.syntax.source import in_prose
from ...lang.tree.expressions import SymbolKind
from ..display.documentation import LibraryEntry
from ..repl.terminal import glyph_replacement
from ..searching.results import CompletionKind, NameCompletion, Named, name_completions
from .documents import Document, Range, TextEdit, TextPosition
from .hover import entries, library_page, module_source, primitive_page, types_of

TRIGGERS = ("`", ".", "⎕")


@dataclass(frozen=True, slots=True)
class CompletionEntry:
    """A completion: `edit` inserts it, `additional_edits` change the document elsewhere (a `use` line); typed letters are matched
    with `filter`; `order` ranks it; `documentation` is Markdown."""

    label: str
    kind: CompletionKind
    detail: str
    edit: TextEdit
    filter: str
    order: int
    additional_edits: tuple[TextEdit, ...] = ()
    documentation: str = ""


class _DocumentScope:
    """The names in scope at an offset."""

    offers_unused_modules = True

    def __init__(self, document: Document, offset: int, before: str) -> None:
        self._document = document
        self.visible = document.index.visible(offset)
        statement = document.index.statement_at(offset)
        start = offset if statement is None else statement.start
        written = document.text[start:offset]
        self.is_statement_start = not written.strip() or written.strip().isidentifier()
        self.is_declaration = statement is not None and is_declaration(document.text[statement.start : statement.end])

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
        return [((one.name, one.kind, _source_line(documented.get(one.name))), documented.get(one.name)) for one in inside]


def _source_line(entry: LibraryEntry | None) -> str:
    return "" if entry is None else entry.source


def completion(document: Document, position: TextPosition) -> list[CompletionEntry]:
    """The completions at a position, in no particular order."""
    offset = document.lines.offset(position)
    before = document.text[document.lines.start(document.lines.position(offset).line) : offset]
    scope = _DocumentScope(document, offset, before)
    return [_entry_of(document, scope, one, offset) for one in name_completions(before, scope)]


def _entry_of(document: Document, scope: _DocumentScope, one: NameCompletion, offset: int) -> CompletionEntry:
    page = primitive_page(one.row) if one.row is not None else "" if one.entry is None else library_page(one.entry)
    edit = TextEdit(document.lines.range(offset - one.length, offset), one.text)
    if one.row is not None and one.is_glyph_name:
        typed, key = f"`{one.name}", f"  `{one.row.key}" if one.row.key else ""
        detail = f"{one.row.glyph}  {one.about}{key}"
        return CompletionEntry(typed, one.kind, detail, edit, typed, one.order, documentation=page)
    label = f"{one.name} {one.text}" if one.row is not None and one.text != one.name else one.text
    additional_edits: tuple[TextEdit, ...] = ()
    detail, module = one.about, one.text.partition(".")[0]
    if one.entry is not None and "." in one.text:
        detail = one.entry.source.partition(":")[2].strip() or one.entry.doc
        additional_edits = () if module in scope.visible else (TextEdit(_import_range(document), f"use {module}\n"),)
    return CompletionEntry(label, one.kind, detail, edit, one.name, one.order, additional_edits, page)


def _import_range(document: Document) -> Range:
    """The empty range where a `use` line is inserted: before the first statement that is neither `use` nor `⎕IO`."""
    for piece in document.index.raw_statements:
        if not piece.text.startswith(("use ", "⎕IO")):
            line = document.lines.position(document.index.glyphs.span(piece.start, piece.start).start).line
            return Range(TextPosition(line, 0), TextPosition(line, 0))
    end = document.lines.position(len(document.text))
    return Range(end, end)


# ---------------------------------------------------------------------------------------------------- glyphs
#
# A backtick with a name or key becomes the glyph as soon as the next character ends it.
#
# `` `iota `` and a blank gives `⍳` (without the blank), `` `iota( `` gives `⍳(`, `` `[ `` gives `←` at once.

GLYPH_TRIGGERS = tuple(" \n" + string.punctuation + string.digits)
"""Characters that end a name after a backtick."""

_SPELLING = re.compile(r"`([A-Za-z]+|[^\sA-Za-z])")


def on_type(document: Document, position: TextPosition, typed: str) -> list[TextEdit]:
    """The edits after the character `typed` was typed right before a position."""
    if typed == "\n":
        return _replace_in_line(document, position.line - 1)
    offset = document.lines.offset(position)
    number = document.lines.position(offset).line
    line, start = document.lines.line(number), document.lines.start(number)
    end = offset - start
    if end < 1 or line[end - 1] != typed:
        return []
    replaced = glyph_replacement(line[:end], "`")
    return [] if replaced is None else [_edit(document, offset - replaced.length, offset, replaced.text)]


def _replace_in_line(document: Document, number: int) -> list[TextEdit]:
    """The edits that replace every backtick name of a finished line by its glyph."""
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
