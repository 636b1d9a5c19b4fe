"""Types of names where they are bound, as far as checking got: also of shadowed and local names, also in rejected programs.

The checker's builder knows the span, the type and the name of every value; a name inside a function has a value for every
call that was elaborated.  Neighbours: `hover`, `hints`, `completing`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...lang.definitions import Symbol, SymbolKind
from ...typechecker.display import show_type
from .documents import Document

MOST_TYPES = 3
"""Shown of a name that has several."""

CALLED = (SymbolKind.FUNCTION, SymbolKind.OPERATOR, SymbolKind.MODULE)


def is_latest(document: Document, symbol: Symbol) -> bool:
    """Is this the top-level binding of its name that the rest of the file sees?"""
    return symbol.depth == 0 and document.index.top.symbols.get(symbol.name) is symbol


def types_of(document: Document, symbol: Symbol) -> tuple[str, ...]:
    """The types a name of an array has had; none for functions and for what was not reached."""
    result = document.checked.result
    if result is None or symbol.kind in CALLED:
        return ()
    if is_latest(document, symbol):
        known = result.types.get(symbol.name)
        return () if known is None or "?" in known else (known,)
    return document.kept(_bound_types).get((symbol.name, symbol.span.start), ())


def _bound_types(document: Document) -> Mapping[tuple[str, int], tuple[str, ...]]:
    """Types by name and the place of its binding: every value that has a name belongs to the binding whose statement it stems
    from."""
    result = document.checked.result
    assert result is not None
    builder = result.elaborated.context.builder
    places: dict[str, list[Symbol]] = {}
    for symbol in document.index.symbols:
        if symbol.kind not in CALLED:
            places.setdefault(symbol.name, []).append(symbol)
    found: dict[tuple[str, int], dict[str, None]] = {}
    for value, name in builder.wording.names.items():
        span = builder.spans.get(value)
        if name not in places or span is None or span.file != document.name or value not in builder.types:
            continue
        around = [s for s in places[name] if s.span.start <= span.start and span.end <= s.statement.end]
        if around:
            nearest = max(around, key=lambda symbol: symbol.span.start)
            found.setdefault((name, nearest.span.start), {})[show_type(builder.types[value])] = None
    return {place: tuple(types) for place, types in found.items()}
