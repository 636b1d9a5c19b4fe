"""What could be typed at a place: names in scope, members of modules, library names, glyphs by their names, words of types.

Neighbours: `index` (what is in scope), `glyphs` (spellings), `pages` (documentation, made when an item is looked at).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from ...lang.declarations import is_declaration
from ...lang.lexer import NAME, in_prose
from ...lang.primitives import ELEMENT_NAMES, PRIMITIVES, RESERVED_WORDS, Primitive, Role
from ...lang.resolution import index_of
from ...lang.resolution.symbols import Symbol, SymbolKind
from ..display import library
from .documents import Document
from .hover import entries, module_source
from .pages import library_page, primitive_page
from .places import Position, Range, TextEdit
from .values import types_of

TRIGGERS = ("`", ".", "⎕")


class ItemKind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "operator"
    MODULE = "module"
    PARAM = "param"
    SIZE = "size"
    TYPE = "type"
    KEYWORD = "keyword"
    GLYPH = "glyph"


@dataclass(frozen=True, slots=True)
class Item:
    """`edit` puts the item in, `also` are edits elsewhere; typed letters are compared with `filter`; `page` is Markdown."""

    label: str
    kind: ItemKind
    detail: str
    edit: TextEdit
    filter: str
    order: int
    also: tuple[TextEdit, ...] = ()
    page: str = ""


_KINDS = {
    SymbolKind.ARRAY: ItemKind.ARRAY, SymbolKind.INPUT: ItemKind.ARRAY, SymbolKind.FUNCTION: ItemKind.FUNCTION,
    SymbolKind.OPERATOR: ItemKind.OPERATOR, SymbolKind.MODULE: ItemKind.MODULE, SymbolKind.PARAM: ItemKind.PARAM,
    SymbolKind.SIZE: ItemKind.SIZE, SymbolKind.ELEMENT: ItemKind.TYPE,
}  # fmt: skip

_SPELLING = re.compile(r"`([A-Za-z]*)$")
_SYSTEM = re.compile(r"⎕[A-Za-z0-9]*$")
_MEMBER = re.compile(rf"({NAME})\.((?:{NAME})?)$")
_USE = re.compile(r"^\s*use\s+(\w*)$")
_WORD = re.compile(rf"(?:{NAME})?$")


def completion(document: Document, position: Position) -> list[Item]:
    """In no order; `Item.order` ranks them."""
    offset = document.lines.offset(position)
    number = document.lines.position(offset).line
    start = document.lines.start(number)
    line, before = document.lines.line(number), document.text[start:offset]
    spelling = _SPELLING.search(before)
    if in_prose(line, len(before)) and not (spelling is not None and not in_prose(line, spelling.start())):
        return []
    if spelling is not None:
        return list(_glyphs(document.lines.range(start + spelling.start(), offset)))
    system = _SYSTEM.search(before)
    if system is not None:
        return list(_systems(document.lines.range(start + system.start(), offset)))
    use = _USE.match(before)
    if use is not None:
        where = document.lines.range(offset - len(use.group(1)), offset)
        return [_plain(name, ItemKind.MODULE, "standard library", where, 0) for name in library.modules()]
    member = _MEMBER.search(before)
    if member is not None:
        module = document.index.visible(offset).get(member.group(1))
        if module is not None and module.kind is SymbolKind.MODULE:
            return list(_members(document, module, document.lines.range(offset - len(member.group(2)), offset)))
    word = _WORD.search(before)
    typed = "" if word is None else word.group()
    return list(_words(document, offset, typed, document.lines.range(offset - len(typed), offset)))


def _plain(name: str, kind: ItemKind, detail: str, where: Range, order: int, page: str = "") -> Item:
    return Item(name, kind, detail, TextEdit(where, name), name, order, page=page)


# ------------------------------------------------------------------------------------------ glyphs


def _kind_of(row: Primitive) -> ItemKind:
    return ItemKind.OPERATOR if row.role in (Role.MONADIC_OPERATOR, Role.DYADIC_OPERATOR) else ItemKind.GLYPH


def _glyphs(where: Range) -> Iterator[Item]:
    """After a backtick: every spelling; what is chosen becomes the glyph."""
    for row in PRIMITIVES:
        for name in row.names:
            key = f"  `{row.key}" if row.key else ""
            detail = f"{row.glyph}  {row.title}{key}"
            yield Item(f"`{name}", _kind_of(row), detail, TextEdit(where, row.glyph), f"`{name}", 0, page=primitive_page(row))


def _systems(where: Range) -> Iterator[Item]:
    for row in PRIMITIVES:
        if row.glyph.startswith("⎕"):
            yield _plain(row.glyph, ItemKind.FUNCTION, row.title, where, 0, primitive_page(row))


# ------------------------------------------------------------------------------------------ names


def _members(document: Document, module: Symbol, where: Range) -> Iterator[Item]:
    source = module_source(document, module)
    if source is None:
        return
    documented = {entry.name[2:]: entry for entry in entries(source)}
    for name, symbol in index_of(source).top.symbols.items():
        if symbol.kind is not SymbolKind.MODULE:
            entry = documented.get(name)
            page = "" if entry is None else library_page(entry)
            yield _plain(name, _KINDS[symbol.kind], "" if entry is None else entry.source, where, 0, page)


def _words(document: Document, offset: int, typed: str, where: Range) -> Iterator[Item]:
    index = document.index
    statement = index.statement_at(offset)
    start = offset if statement is None else statement.start
    declared = statement is not None and is_declaration(document.text[statement.start : statement.end])
    visible = index.visible(offset)
    known = "checked" in vars(document)
    for name, symbol in visible.items():
        types = types_of(document, symbol) if known else ()
        yield _plain(name, _KINDS[symbol.kind], types[0] if types else symbol.kind.value, where, 0)
    if declared:
        sizes = {s.name: s for s in index.symbols if s.kind in (SymbolKind.SIZE, SymbolKind.ELEMENT)}
        for name, symbol in sizes.items():
            if name not in visible and name != typed:
                yield _plain(name, _KINDS[symbol.kind], symbol.kind.value, where, 1)
    if offset - len(typed) <= start:
        for word in sorted(RESERVED_WORDS - {"where"}):
            yield _plain(word, ItemKind.KEYWORD, "", where, 2)
    elif declared:
        yield _plain("where", ItemKind.KEYWORD, "", where, 2)
    for name in sorted(ELEMENT_NAMES):
        yield _plain(name, ItemKind.TYPE, "element type", where, 3)
    if typed:
        yield from _library(document, visible, typed, where)
        yield from _named_glyphs(typed, where)


def _library(document: Document, visible: dict[str, Symbol], typed: str, where: Range) -> Iterator[Item]:
    """`mean` offers `stats.mean`, with `use stats` if it is missing."""
    if len(typed) < 2:
        return
    for entry in _entries():
        module, _, name = entry.name.partition(".")
        if name.startswith(typed) or module.startswith(typed):
            used = visible.get(module)
            if used is not None and used.kind is not SymbolKind.MODULE:
                continue
            also = () if used is not None else (TextEdit(_top(document), f"use {module}\n"),)
            detail = entry.source.partition(":")[2].strip() or entry.doc
            edit = TextEdit(where, entry.name)
            label = name if name.startswith(typed) else entry.name
            yield Item(entry.name, ItemKind.FUNCTION, detail, edit, label, 4, also, library_page(entry))


@lru_cache(maxsize=1)
def _entries() -> tuple[library.LibraryEntry, ...]:
    """What is documented in the standard library, read once."""
    return tuple(library.entries())


def _top(document: Document) -> Range:
    """Before the first statement that is no `use` and no index origin, after the comments above it."""
    for piece in document.index.pieces:
        if not piece.text.startswith(("use ", "⎕IO")):
            line = document.lines.position(document.index.spelled.span(piece.start, piece.start).start).line
            return Range(Position(line, 0), Position(line, 0))
    end = document.lines.position(len(document.text))
    return Range(end, end)


def _named_glyphs(typed: str, where: Range) -> Iterator[Item]:
    """`iota` without a backtick offers `⍳`."""
    for row in PRIMITIVES:
        for name in row.names:
            if name.startswith(typed) and not row.glyph.isalnum():
                edit = TextEdit(where, row.glyph)
                yield Item(f"{name} {row.glyph}", _kind_of(row), row.title, edit, name, 5, page=primitive_page(row))
