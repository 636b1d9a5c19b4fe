"""The symbols of a document for an outline: top-level names, and what is named inside their definitions.

Neighbour: `index`.
"""

from __future__ import annotations

from dataclasses import dataclass

from .documents import Document
from .index import Symbol, SymbolKind
from .places import Range

SHOWN = frozenset(SymbolKind) - {SymbolKind.SIZE, SymbolKind.ELEMENT}


@dataclass(frozen=True, slots=True)
class Entry:
    """`range` is the whole statement, `name_range` the name in it."""

    name: str
    kind: SymbolKind
    detail: str
    range: Range
    name_range: Range
    inside: tuple[Entry, ...] = ()


def outline(document: Document) -> list[Entry]:
    """In the order of the text."""
    symbols = [symbol for symbol in document.index.symbols if symbol.kind in SHOWN]
    inner: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.depth:
            inner.setdefault(symbol.statement.start, []).append(symbol)
    return [_entry(document, symbol, inner.get(symbol.statement.start, [])) for symbol in symbols if not symbol.depth]


def _entry(document: Document, symbol: Symbol, inside: list[Symbol]) -> Entry:
    types = document.checked.types if "checked" in vars(document) else {}
    detail = types.get(symbol.name, "") if symbol.depth == 0 and symbol.kind is not SymbolKind.MODULE else ""
    children = tuple([_entry(document, child, []) for child in inside])
    lines = document.lines
    around = symbol.statement if symbol.depth == 0 else symbol.span
    return Entry(symbol.name, symbol.kind, detail, lines.of(around), lines.of(symbol.span), children)
