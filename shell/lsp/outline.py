"""The symbols of a document for an outline: top-level names, and what is named inside their definitions.

Neighbour: `index`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.definitions import Symbol, SymbolKind
from ...lang.habits_told import unquoted
from .documents import Document
from .places import Position, Range

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


def folds(document: Document) -> list[Range]:
    """The statements and the runs of comments that take several lines, and the bodies inside statements."""
    lines = document.text.split("\n")
    found: dict[int, Range] = {}
    opened: list[int] = []
    remark = 0  # comment lines before this one
    for number, (line, code) in enumerate(zip(lines, unquoted(document.text).split("\n"), strict=True)):
        for mark in code:
            if mark in "([{":
                opened.append(number)
            elif mark in ")]}" and opened and (start := opened.pop()) < number:
                found.setdefault(start, Range(Position(start, 0), Position(number - 1 if number - start > 1 else number, 0)))
        if line.lstrip().startswith("⍝"):
            remark += 1
        else:
            if remark > 1:
                found.setdefault(number - remark, Range(Position(number - remark, 0), Position(number - 1, 0)))
            remark = 0
    return [found[start] for start in sorted(found)]


def is_meant(entry: Entry, query: str) -> bool:
    """Are the letters of a query in a name, in their order?"""
    rest = iter(entry.name.lower())
    return all(letter in rest for letter in query.lower())


def _entry(document: Document, symbol: Symbol, inside: list[Symbol]) -> Entry:
    types = document.checked.types if "checked" in vars(document) else {}
    detail = types.get(symbol.name, "") if symbol.depth == 0 and symbol.kind is not SymbolKind.MODULE else ""
    children = tuple([_entry(document, child, []) for child in inside])
    lines = document.lines
    around = symbol.statement if symbol.depth == 0 else symbol.span
    return Entry(symbol.name, symbol.kind, detail, lines.of(around), lines.of(symbol.span), children)
