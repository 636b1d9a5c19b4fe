"""The index of a text: its statements walked one after the other, those that cannot be read included.

Neighbours: `walk`, `declared` (statements with a grammar of their own), `symbols` (what comes out).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

from ..declarations import is_declaration, keyword_of
from ..lexer import NAME
from ..records import dataclass
from ..scope import Scope
from ..source import Place, Source, Span
from ..spelling import spell
from ..splitter import MARGIN, Piece, split_again
from ..tokens import read
from .declared import declaration, finish
from .symbols import Frame, Index, Mention, Symbol, SymbolKind
from .walk import Known, Walk

_WORD = re.compile(NAME)


def _parts(piece: Piece) -> list[Piece]:
    """A statement whose brackets do not match ends where the next line starts at the margin."""
    if piece.damage is None:
        return [piece]
    cuts = [0, *[found.end() for found in MARGIN.finditer(piece.text)], len(piece.text)]
    return [Piece(piece.start + start, piece.text[start:end].rstrip(), piece.damage) for start, end in pairwise(cuts)]


def index_of(source: Source, given: Mapping[str, SymbolKind] | None = None) -> Index:
    """The names of a text; `given` are names in scope before it."""
    return Indexer().index(source, given)


@dataclass(frozen=True, slots=True)
class _Walked:
    """A statement that was walked: where it stands, what its words stood for before and stand for after it, and what it added."""

    place: Place
    before: list[tuple[str, Known]]
    after: list[tuple[str, Known]]
    symbols: list[Symbol]
    bound: list[Symbol]
    mentions: list[Mention]
    braces: list[tuple[Span, Frame]]


class Indexer:
    """Indexes version after version of a text; a statement is walked again where its text or what its words stand for changed.
    Spans move with their statements: an index is good until the next one is made."""

    def __init__(self) -> None:
        self._text = ""
        self._pieces: list[Piece] = []
        self._walked: dict[Piece, _Walked] = {}
        self._top = Frame(Scope())

    def index(self, source: Source, given: Mapping[str, SymbolKind] | None = None) -> Index:
        """The names of this version; `given` are names in scope before it."""
        spelled = spell(source)
        self._pieces, self._text = split_again(spelled, self._pieces, self._text), spelled.text
        known = self._walked if spelled.offsets is None else {}
        self._walked = {piece: walked for piece in self._pieces if (walked := known.get(piece)) is not None}
        walk = Walk(source, spelled, given or {}, self._top)
        schedules: list[Piece] = []
        for piece in self._pieces:
            walked = self._walked.get(piece)
            if walked is not None and all(walk.knows(word, stood_for) for word, stood_for in walked.before):
                walked.place.start = piece.start
                walk.symbols += walked.symbols
                walk.top.bound += walked.bound
                walk.mentions += walked.mentions
                walk.braces += walked.braces
                for word, stands_for in walked.after:
                    walk.learn(word, stands_for)
            elif piece.damage is not None or spelled.offsets is not None or keyword_of(piece.text) in ("use", "schedule"):
                self._walked.pop(piece, None)
                for part in _parts(piece):
                    _walk(walk, part, schedules)
            else:
                self._walked[piece] = self._kept(walk, piece, schedules)
        finish(walk, schedules)
        mentions = tuple(sorted(walk.mentions, key=lambda mention: (mention.span.start, mention.span.end)))
        symbols = tuple(sorted(walk.symbols, key=lambda symbol: (symbol.span.start, symbol.span.end)))
        top = Frame(Scope(), symbols=dict(walk.top.symbols), bound=list(walk.top.bound))
        return Index(spelled, tuple(self._pieces), symbols, mentions, tuple(walk.braces), top)

    @staticmethod
    def _kept(walk: Walk, piece: Piece, schedules: list[Piece]) -> _Walked:
        """What walking a statement adds."""
        words = dict.fromkeys(_WORD.findall(piece.text))
        before = [(word, walk.known(word)) for word in words]
        symbols, bound, mentions, braces = len(walk.symbols), len(walk.top.bound), len(walk.mentions), len(walk.braces)
        walk.place = place = Place(walk.source.name, piece.start)
        _walk(walk, piece, schedules)
        walk.place = None
        after = [(word, known) for word, was in before if (known := walk.known(word)) != was]
        added = (walk.symbols[symbols:], walk.top.bound[bound:], walk.mentions[mentions:], walk.braces[braces:])
        return _Walked(place, before, after, *added)


def _walk(walk: Walk, piece: Piece, schedules: list[Piece]) -> None:
    walk.base = walk.origin = piece.start
    walk.statement = walk.between(0, len(piece.text))
    if is_declaration(piece.text):
        declaration(walk, piece, schedules)
    else:
        walk.statement_of(read(piece.text).tokens, walk.top)
