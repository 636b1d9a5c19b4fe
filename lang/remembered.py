"""Statements kept from one reading of a program to the next: what has not changed is not read again.

What a statement means depends on its text and on what the names in it stand for (for modules, on what they export).
A statement that bound without a diagnostic is kept with exactly these, and with what it added to the index of names.
Its spans count from its place, which moves with the statement (`source.Place`): so what an earlier reading gave is good
until the next one, diagnostics apart.  Statements with something wrong, and user operators (which are bound when they are
applied), are read anew every time; their symbols are those of the version before where they bind the same names.

Neighbours: `parser` asks; `typechecker.incremental` owns a `Statements` for as long as it checks versions of a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field, fields, is_dataclass
from typing import Any, TypeAlias

from . import program_tree, tree
from .definitions import NameClass, Symbol
from .lexer import NAME
from .recent import Recent
from .records import dataclass
from .resolution.symbols import Added, Declared, Names
from .source import Place, PlacedSpan, Span
from .spelling import Spelled
from .splitter import Piece, split_again
from .units import Binding
from .vocabulary import RESERVED

_WORDS = re.compile(NAME)
_MOST_CHARACTERS = 4_000  # of a statement worth keeping

_Exports = tuple[tuple[str, tuple[tuple[str, NameClass], ...] | None], ...]
Loose: TypeAlias = dict[str, list[Symbol]]
"""Symbols that statements of this version may take again, by name."""

_Known: TypeAlias = "tuple[Symbol | None, Symbol | None, Declared | None, bool]"
"""What a word stands for, and as a size; the signatures whose binding is still to come; whether its binding failed."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A bound statement and where it stands, the names in it with what they stood for before and stand for after it, what the
    modules among them export, and what it added to the index."""

    statement: program_tree.Statement
    place: Place
    words: tuple[str, ...]
    before: list[_Known]
    exported: _Exports
    after: list[tuple[str, _Known]]
    added: list[Added]


@dataclass(slots=True)
class _File:
    """`loose` are symbols of the version before, by name, that no kept statement has; `added` is what statements
    of this version add that are not kept."""

    text: str = ""
    pieces: list[Piece] = field(default_factory=list)
    kept: dict[Piece, _Kept] = field(default_factory=dict)
    loose: Loose = field(default_factory=dict)
    added: list[Added] = field(default_factory=list)

    def loosen(self, added: list[Added]) -> None:
        """The symbols of a statement that is not kept may be taken again."""
        for symbol in [symbol for part in added for symbol in part.symbols if not symbol.depth]:
            self.loose.setdefault(symbol.name, []).append(symbol)


@dataclass(slots=True)
class Statements:
    """What has been read so far; `words` are the names that may occur in a text."""

    _files: dict[str, _File] = field(default_factory=dict)
    _words: Recent[str, tuple[str, ...]] = field(default_factory=Recent)

    def turn(self) -> None:
        """A program has been read."""
        self._words.turn()

    def words(self, text: str) -> tuple[str, ...]:
        """Everything in a text that could be a name, in order; words of comments and texts too."""
        known = self._words.get(text)
        if known is None:
            known = tuple([word for word in dict.fromkeys(_WORDS.findall(text)) if word not in RESERVED])
            self._words.put(text, known)
        return known

    def split(self, spelled: Spelled) -> list[Piece]:
        """The statements of the next version of a file; what is kept of those that are gone is forgotten."""
        file = self._files.setdefault(spelled.file, _File())
        file.pieces, file.text = split_again(spelled, file.pieces, file.text), spelled.text
        file.loose = {}
        file.loosen(file.added)
        file.added = []
        for piece in file.kept.keys() - set(file.pieces):
            file.loosen(file.kept.pop(piece).added)
        return file.pieces

    def bind(
        self, binding: Binding, piece: Piece, read: Callable[[Binding, Piece, Loose], program_tree.Statement | None]
    ) -> program_tree.Statement | None:  # fmt: skip
        """The statement of a piece: the one that is kept, else what `read` makes of it: nothing where it is wrong."""
        file, names = self._files[binding.spelled.file], binding.names
        start, kept = _unmoved(binding, piece), file.kept.get(piece)
        if kept is not None:
            stays = start is not None and _known(names, kept.words) == kept.before
            if start is not None and stays and (not kept.exported or _exported(binding, kept.words) == kept.exported):
                kept.place.start = start
                _again(names, kept)
                return kept.statement
            file.loosen(file.kept.pop(piece).added)
        words = () if start is None else self.words(piece.text)
        before, exported = _known(names, words), _exported(binding, words)
        reported, already = len(binding.diagnostics), len(names.added)
        place = None if start is None else Place(binding.spelled.file, start)
        binding.place, binding.origin = place, piece.start
        try:
            statement = read(binding, piece, file.loose)
        finally:
            binding.place = None
        added = names.added[already:]
        if place is not None and statement is not None and len(binding.diagnostics) == reported and _stays(statement):
            changes = zip(words, before, _known(names, words), strict=True)
            after = [(word, now) for word, was, now in changes if now != was]
            file.kept[piece] = _Kept(statement, place, words, before, exported, after, added)
        else:
            file.added += added
        return statement


def _known(names: Names, words: tuple[str, ...]) -> list[_Known]:
    """What words stand for."""
    symbol, size, pending, quiet = names.top.symbols.get, names.sizes.get, names.pending.get, names.top.quiet
    return [(symbol(word), size(word), pending(word), word in quiet) for word in words]


def _again(names: Names, kept: _Kept) -> None:
    """What a kept statement adds and changes."""
    names.added.extend(kept.added)
    for word, (symbol, size, pending, _) in kept.after:
        if symbol is not None:
            names.top.enter(symbol)
        if size is not None:
            names.sizes[word] = size
        if pending is None:
            names.pending.pop(word, None)
        else:
            names.pending[word] = pending


def _unmoved(binding: Binding, piece: Piece) -> int | None:
    """Where the piece starts in the source, if every character of it is what the user typed; None for what is not kept."""
    if piece.damage is not None or len(piece.text) > _MOST_CHARACTERS:
        return None
    offsets = binding.spelled.offsets
    if offsets is None:
        return piece.start
    start, end = piece.start, piece.start + len(piece.text)
    first = offsets[start]
    return first if offsets[start : end + 1] == tuple(range(first, first + end - start + 1)) else None


def _exported(binding: Binding, words: tuple[str, ...]) -> _Exports:
    """What the modules among some names export."""
    symbols = binding.names.top.symbols
    modules = [symbol for word in words if (symbol := symbols.get(word)) is not None and symbol.name_class is NameClass.MODULE]
    found = [(symbol.name, binding.modules and binding.modules(symbol.path)) for symbol in modules]
    return tuple([(name, None if names is None else tuple(names.items())) for name, names in found])


def _stays(node: object) -> bool:
    """May a statement be kept: has it no user operator, and do all its spans move with it?"""
    pending = [node]
    while pending:
        part: Any = pending.pop()
        if isinstance(part, tuple):
            pending += part
        elif isinstance(part, Span):
            if not isinstance(part, PlacedSpan):
                return False
        elif isinstance(part, tree.OperatorDfn):
            return False
        elif is_dataclass(part):
            pending += [getattr(part, one.name) for one in fields(part)]
    return True
