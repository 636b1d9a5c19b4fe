"""Where a name comes from, where else it is mentioned, and giving it another name.

Renaming is checked by reading the new text: every mention must mean what it meant, else nothing is changed.
Neighbours: `index` (what means what), `places`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...lang.definitions import Symbol, SymbolKind
from ...lang.lexer import NAME
from ...lang.parser import parse
from ...lang.resolution.symbols import Access, Index, Mention
from ...lang.source import Source
from ...lang.vocabulary import RESERVED
from .documents import Document
from .hover import module_source
from .places import Position, Range, TextEdit
from .reports import range_in
from .uris import uri_of


@dataclass(frozen=True, slots=True)
class Place:
    uri: str
    range: Range


@dataclass(frozen=True, slots=True)
class Highlight:
    """A mention, and whether it gives the name a value."""

    range: Range
    writes: bool


class CannotRename(Exception):
    """Why a name stays as it is, in a sentence."""


def definition(document: Document, position: Position) -> Place | None:
    """Where the name at a place is bound; of a module its file."""
    found = _mention(document, position)
    if found is None:
        return None
    if found.symbol.kind is not SymbolKind.MODULE:
        return Place(document.uri, document.lines.of(found.symbol.span))
    source = module_source(document, found.symbol)
    uri = None if source is None else uri_of(source.name)
    if source is None or uri is None:
        return Place(document.uri, document.lines.of(found.symbol.span))
    if found.member is None:
        on_use = found.access is Access.BIND
        start = Range(Position(0, 0), Position(0, 0))
        return Place(uri, start) if on_use else Place(document.uri, document.lines.of(found.symbol.span))
    inside = parse(source).index.top.symbols.get(found.member)
    encoding = document.lines.encoding
    return Place(uri, Range(Position(0, 0), Position(0, 0)) if inside is None else range_in(source, inside.span, encoding))


def references(document: Document, position: Position, *, declaration: bool = True) -> list[Place]:
    """Every mention in the document of the name at a place."""
    found = _mention(document, position)
    if found is None:
        return []
    wanted = [m for m in _same(document, found) if declaration or m.access not in (Access.BIND, Access.DECLARE)]
    return [Place(document.uri, document.lines.of(mention.span)) for mention in wanted]


def highlights(document: Document, position: Position) -> list[Highlight]:
    found = _mention(document, position)
    if found is None:
        return []
    return [Highlight(document.lines.of(m.span), m.access is not Access.READ) for m in _same(document, found)]


def _mention(document: Document, position: Position) -> Mention | None:
    return document.index.at(document.lines.offset(position))


def _same(document: Document, found: Mention) -> list[Mention]:
    """Mentions of the same thing in the order of the text: of the same member of a module, or of a binding."""
    if found.member is not None:
        return [m for m in document.index.mentions if m.symbol is found.symbol and m.member == found.member]
    return [m for m in document.index.mentions if m.symbol is found.symbol and m.member is None]


# ------------------------------------------------------------------------------------------ renaming


def renamed_at(document: Document, position: Position) -> Range | None:
    """The range of the name that would be renamed; None if there is none.  Raises `CannotRename`."""
    found = _mention(document, position)
    if found is None:
        return None
    _renameable(found)
    return document.lines.of(found.span)


def _renameable(mention: Mention) -> None:
    if mention.member is not None:
        raise CannotRename(f"`{mention.member}` belongs to the module `{mention.symbol.name}`: rename it there")
    if mention.symbol.kind is SymbolKind.MODULE:
        raise CannotRename("a module is called by the name of its file")


def rename(document: Document, position: Position, name: str) -> list[TextEdit]:
    """The edits that give the name at a place another one, everywhere.  Raises `CannotRename`."""
    found = _mention(document, position)
    if found is None:
        raise CannotRename("there is no name here")
    _renameable(found)
    if re.fullmatch(NAME, name) is None:
        raise CannotRename(f"`{name}` is not a name: letters, digits, `_` and `∆`, not starting with a digit")
    if name in RESERVED:
        raise CannotRename(f"`{name}` is a reserved word")
    mentions = _same(document, found)
    _unchanged_meaning(document, found.symbol, mentions, name)
    return [TextEdit(document.lines.of(mention.span), name) for mention in mentions]


def rename_in_users(document: Document, position: Position, name: str) -> dict[str, list[TextEdit]]:
    """The edits of the open documents that use this one as a module, by URI, when a top-level name of it is renamed."""
    found = _mention(document, position)
    if found is None or found.member is not None or document.index.top.symbols.get(found.symbol.name) is not found.symbol:
        return {}
    edits: dict[str, list[TextEdit]] = {}
    for user in document.others():
        for mention in user.index.mentions:
            if mention.member == found.symbol.name and _is_module(user, mention.symbol, document):
                edits.setdefault(user.uri, []).append(TextEdit(user.lines.of(mention.span), name))
    return edits


def _is_module(user: Document, module: Symbol, document: Document) -> bool:
    source = module_source(user, module)
    return source is not None and source.name == document.name


def _unchanged_meaning(document: Document, symbol: Symbol, mentions: list[Mention], name: str) -> None:
    text = document.text
    for mention in reversed(mentions):
        text = text[: mention.span.start] + name + text[mention.span.end :]
    after = parse(Source(document.name, text)).index
    if _meaning(document.index, symbol, name) != _meaning(after):
        raise CannotRename(f"`{name}` would then mean something else in this text; choose another name")


def _meaning(index: Index, renamed: Symbol | None = None, name: str = "") -> list[tuple[object, ...]]:
    """Every mention by what it means: the number of its symbol, and how it is used."""
    numbers = {id(symbol): number for number, symbol in enumerate(index.symbols)}
    return [
        (numbers[id(m.symbol)], name if m.symbol is renamed else m.symbol.name, _kind(m.symbol), m.access, m.member)
        for m in index.mentions
    ]


def _kind(symbol: Symbol) -> SymbolKind:
    """Element types and sizes are told apart by a capital letter only, which a new name need not have."""
    return SymbolKind.SIZE if symbol.kind is SymbolKind.ELEMENT else symbol.kind
