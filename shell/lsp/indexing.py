"""The index of a text: its statements walked one after the other, those that cannot be read included.

Neighbours: `index` (the walk), `declared` (statements with a grammar of their own).
"""

from __future__ import annotations

import re
from itertools import pairwise

from ...lang.declarations import is_declaration
from ...lang.source import Source
from ...lang.spelling import spell
from ...lang.splitter import Piece, split_statements
from .declared import declaration, finish
from .index import Index, Walk
from .words import tokens_of

_MARGIN = re.compile(r"\n(?=[^ \t\r\n)\]}⍝])")


def _parts(piece: Piece) -> list[Piece]:
    """A statement whose brackets do not match ends where the next line starts at the margin."""
    if piece.damage is None:
        return [piece]
    cuts = [0, *[found.end() for found in _MARGIN.finditer(piece.text)], len(piece.text)]
    return [Piece(piece.start + start, piece.text[start:end].rstrip(), piece.damage) for start, end in pairwise(cuts)]


def index_of(source: Source) -> Index:
    """The names of a text."""
    spelled = spell(source)
    pieces = tuple(split_statements(spelled))
    walk = Walk(source, spelled)
    schedules: list[Piece] = []
    for piece in [part for whole in pieces for part in _parts(whole)]:
        walk.base = piece.start
        walk.statement = spelled.span(piece.start, piece.start + len(piece.text))
        if is_declaration(piece.text):
            declaration(walk, piece, schedules)
        else:
            walk.statement_of(tokens_of(piece.text), walk.top)
    finish(walk, schedules)
    mentions = tuple(sorted(walk.mentions, key=lambda mention: (mention.span.start, mention.span.end)))
    symbols = tuple(sorted(walk.symbols, key=lambda symbol: (symbol.span.start, symbol.span.end)))
    return Index(spelled, pieces, symbols, mentions, tuple(walk.braces), walk.top)
