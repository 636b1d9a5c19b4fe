"""Bound statements kept from one reading of a program to the next: what has not changed is not read again.

How a statement binds depends on its text and on the classes of the names in it (for modules, on what they export).
A statement that bound without a diagnostic is kept with exactly these.  Its spans count from its place, which moves with the
statement (`source.Place`): so what an earlier reading gave is good until the next one, diagnostics apart.
Statements with something wrong, and user operators (which are bound when they are applied), are read anew every time.

Neighbours: `parser` asks; `typechecker.incremental` owns a `Statements` for as long as it checks versions of a program.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any

from . import tree
from .lexer import NAME
from .recent import Recent
from .records import dataclass
from .scope import Scope
from .source import Place, PlacedSpan, Span
from .spelling import Spelled
from .splitter import Piece, split_again
from .tree import NameClass
from .units import Binding

_WORDS = re.compile(NAME)
_MOST_CHARACTERS = 4_000  # of a statement worth keeping

_Exports = tuple[tuple[str, tuple[tuple[str, NameClass], ...] | None], ...]


@dataclass(frozen=True, slots=True)
class _Kept:
    """A bound statement and where it stands, the names in it with their classes before and those that it changed, what the
    modules among them export, and the module that it put in use."""

    statement: tree.Statement
    place: Place
    words: tuple[str, ...]
    before: Sequence[object]
    exported: _Exports
    after: dict[str, NameClass | None]
    paths: dict[str, str]


@dataclass(slots=True)
class _File:
    text: str = ""
    pieces: list[Piece] = field(default_factory=list)
    kept: dict[Piece, _Kept] = field(default_factory=dict)


@dataclass(slots=True)
class Statements:
    """What has been read so far; `words` are the names that may occur in a text."""

    _files: dict[str, _File] = field(default_factory=dict)
    _words: Recent[str, tuple[str, ...]] = field(default_factory=Recent)

    def turn(self) -> None:
        """A program has been read."""
        self._words.turn()

    def words(self, text: str) -> tuple[str, ...]:
        """Everything in a text that looks like a name, in order; words of comments and texts too."""
        known = self._words.get(text)
        if known is None:
            known = tuple(dict.fromkeys(_WORDS.findall(text)))
            self._words.put(text, known)
        return known

    def split(self, spelled: Spelled) -> list[Piece]:
        """The statements of the next version of a file; what is kept of those that are gone is forgotten."""
        file = self._files.setdefault(spelled.file, _File())
        file.pieces, file.text = split_again(spelled, file.pieces, file.text), spelled.text
        file.kept = {piece: kept for piece in file.pieces if (kept := file.kept.get(piece)) is not None}
        return file.pieces

    def bind(
        self, binding: Binding, scope: Scope, piece: Piece, read: Callable[[Binding, Scope, Piece], tree.Statement]
    ) -> tree.Statement:
        """The statement of a piece: the one that is kept, else what `read` makes of it (and raises)."""
        start = _unmoved(binding, piece)
        if start is None:
            return read(binding, scope, piece)
        file, names = self._files[binding.spelled.file], scope.names
        kept = file.kept.get(piece)
        stays = kept is not None and [names.get(word, 0) for word in kept.words] == kept.before
        if kept is not None and stays and (not kept.exported or _exported(binding, scope, kept.words) == kept.exported):
            kept.place.start = start
            names.update(kept.after)
            binding.module_paths.update(kept.paths)
            return kept.statement
        words = self.words(piece.text)
        before, exported = [names.get(word, 0) for word in words], _exported(binding, scope, words)
        reported, paths = len(binding.diagnostics), dict(binding.module_paths)
        binding.place, binding.origin = Place(binding.spelled.file, start), piece.start
        try:
            statement = read(binding, scope, piece)
            if len(binding.diagnostics) == reported and _stays(statement):
                after = {word: names[word] for word, was in zip(words, before, strict=True) if names.get(word, 0) != was}
                used = {name: path for name, path in binding.module_paths.items() if paths.get(name) != path}
                file.kept[piece] = _Kept(statement, binding.place, words, before, exported, after, used)
            return statement
        finally:
            binding.place = None


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


def _exported(binding: Binding, scope: Scope, words: tuple[str, ...]) -> _Exports:
    """What the modules among some names export."""
    modules = [word for word in words if scope.names.get(word) is NameClass.MODULE]
    found = [(word, binding.modules and binding.modules(binding.module_paths.get(word, word))) for word in modules]
    return tuple([(word, None if names is None else tuple(names.items())) for word, names in found])


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
