"""The index of a text: its statements walked one after the other, those that cannot be read included.

Neighbours: `walk`, `declared` (statements with a grammar of their own), `symbols` (what comes out).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from ..declarations import is_declaration
from ..source import Source
from ..spelling import spell
from ..splitter import MARGIN, Piece, split_statements
from ..tokens import read
from .declared import declaration, finish
from .symbols import Index, SymbolKind
from .walk import Walk


def _parts(piece: Piece) -> list[Piece]:
    """A statement whose brackets do not match ends where the next line starts at the margin."""
    if piece.damage is None:
        return [piece]
    cuts = [0, *[found.end() for found in MARGIN.finditer(piece.text)], len(piece.text)]
    return [Piece(piece.start + start, piece.text[start:end].rstrip(), piece.damage) for start, end in pairwise(cuts)]


def index_of(source: Source, given: Mapping[str, SymbolKind] | None = None) -> Index:
    """The names of a text; `given` are names in scope before it."""
    spelled = spell(source)
    pieces = tuple(split_statements(spelled))
    walk = Walk(source, spelled, given or {})
    schedules: list[Piece] = []
    for piece in [part for whole in pieces for part in _parts(whole)]:
        walk.base = piece.start
        walk.statement = spelled.span(piece.start, piece.start + len(piece.text))
        if is_declaration(piece.text):
            declaration(walk, piece, schedules)
        else:
            walk.statement_of(read(piece.text).tokens, walk.top)
    finish(walk, schedules)
    mentions = tuple(sorted(walk.mentions, key=lambda mention: (mention.span.start, mention.span.end)))
    symbols = tuple(sorted(walk.symbols, key=lambda symbol: (symbol.span.start, symbol.span.end)))
    return Index(spelled, pieces, symbols, mentions, tuple(walk.braces), walk.top)
