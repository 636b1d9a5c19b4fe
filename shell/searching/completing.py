"""What could be typed at a place: glyphs by their names, system names, modules, members, names in scope, words of types.

One engine for whoever types: an editor and a session say what is in scope (`Scope`) and how they show a candidate.
Neighbours: `shell.lsp.completing`, `shell.repl.completing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Protocol

from ...lang.definitions import SymbolKind
from ...lang.lexer import NAME, in_prose
from ...lang.primitives import ELEMENT_NAMES, PRIMITIVES, RESERVED_WORDS, Primitive, Role
from ...lang.reading_clauses import clause_words
from ..display import library
from ..display.library import LibraryEntry


class Kind(Enum):
    ARRAY = "array"
    FUNCTION = "function"
    OPERATOR = "operator"
    MODULE = "module"
    PARAM = "param"
    SIZE = "size"
    TYPE = "type"
    KEYWORD = "keyword"
    GLYPH = "glyph"


KINDS = {
    SymbolKind.ARRAY: Kind.ARRAY, SymbolKind.INPUT: Kind.ARRAY, SymbolKind.FUNCTION: Kind.FUNCTION,
    SymbolKind.OPERATOR: Kind.OPERATOR, SymbolKind.MODULE: Kind.MODULE, SymbolKind.PARAM: Kind.PARAM,
    SymbolKind.SIZE: Kind.SIZE, SymbolKind.ELEMENT: Kind.TYPE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Candidate:
    """`text` replaces the last `length` characters and `name` is compared with them; lower `order` comes first.  `row`,
    `entry` document it; `spelt`: it is typed after the prefix."""

    text: str
    length: int
    name: str
    kind: Kind
    about: str
    order: int
    row: Primitive | None = None
    entry: LibraryEntry | None = None
    spelt: bool = False


Named = tuple[str, SymbolKind, str]
"""A name, what it is, and what is said about it."""


class Scope(Protocol):
    """What is known at a place.  `starts`: the word is the first of its statement; `declares`: the statement is a declaration;
    `brings_in`: modules that are not in use are offered too."""

    starts: bool
    declares: bool
    brings_in: bool

    def names(self) -> Iterable[Named]: ...

    def sizes(self) -> Iterable[Named]: ...

    def members(self, module: str) -> Iterable[tuple[Named, LibraryEntry | None]] | None: ...


_SYSTEM = re.compile(r"⎕[A-Za-z0-9]*$")
_MEMBER = re.compile(rf"({NAME})\.((?:{NAME})?)$")
_USE = re.compile(r"^\s*use\s+(\w*)$")
_WORD = re.compile(rf"(?:{NAME})?$")


def candidates(line: str, scope: Scope, prefix: str = "`", after: int = 0) -> list[Candidate]:
    """For a line up to the cursor, whatever is typed of the word: who shows them leaves out what does not fit."""
    letters = pending(line, prefix, after)
    if letters is not None:
        return list(_spellings(len(letters)))
    if in_prose(line, len(line)):
        return []
    system = _SYSTEM.search(line)
    if system is not None:
        length = len(system.group())
        rows = [row for row in PRIMITIVES if row.glyph.startswith("⎕")]
        return [Candidate(row.glyph, length, row.glyph, Kind.FUNCTION, row.title, 0, row) for row in rows]
    use = _USE.match(line)
    if use is not None:
        return [Candidate(name, len(use[1]), name, Kind.MODULE, "standard library", 0) for name in library.modules()]
    member = _MEMBER.search(line)
    members = None if member is None else scope.members(member[1])
    if member is not None and members is not None:
        length = len(member[2])
        return [Candidate(name, length, name, KINDS[kind], about, 0, entry=entry) for (name, kind, about), entry in members]
    found = _WORD.search(line)
    word = "" if found is None else found.group()
    clauses = clause_words(line[: len(line) - len(word)])
    return [
        *[Candidate(one, len(word), one, Kind.KEYWORD, says, -1) for one, says in clauses.items()],
        *(_words(word, scope) if "as" in clauses or not clauses else ()),
    ]


def pending(before: str, prefix: str, after: int = 0) -> str | None:
    """The letters typed after a prefix so far; None if no spelling is being typed.  No prefix stands before `after`."""
    found = re.search(rf"[`{re.escape(prefix)}]([A-Za-z]*)$", before)
    if found is None or found.start() < after:
        return None
    return None if in_prose(before, found.start()) else found.group(1)


def _kind_of(row: Primitive) -> Kind:
    return Kind.OPERATOR if row.role in (Role.MONADIC_OPERATOR, Role.DYADIC_OPERATOR) else Kind.GLYPH


def _spellings(typed: int) -> Iterator[Candidate]:
    """After the prefix: every key and name; what is chosen becomes the glyph."""
    for row in PRIMITIVES:
        for name in (*([row.key] if row.key else []), *row.names):
            yield Candidate(row.glyph, typed + 1, name, _kind_of(row), row.title, 0, row, spelt=True)


def _words(typed: str, scope: Scope) -> Iterator[Candidate]:
    length = len(typed)
    known = list(scope.names())
    in_scope = {name: kind for name, kind, _ in known}
    for name, kind, about in known:
        yield Candidate(name, length, name, KINDS[kind], about, 0)
    for name, kind, about in scope.sizes() if scope.declares else ():
        if name not in in_scope and name != typed:
            yield Candidate(name, length, name, KINDS[kind], about, 1)
    words = sorted(RESERVED_WORDS - {"where"}) if scope.starts else ["where"] if scope.declares else []
    for word in words:
        yield Candidate(word, length, word, Kind.KEYWORD, "", 2)
    for name in sorted(ELEMENT_NAMES):
        yield Candidate(name, length, name, Kind.TYPE, "element type", 3)
    if length > 1:
        yield from _library(typed, in_scope, scope.brings_in)
        for row in PRIMITIVES:
            for name in row.names:
                if name.startswith(typed) and not row.glyph.isalnum():
                    yield Candidate(row.glyph, length, name, _kind_of(row), row.title, 5, row)


def _library(typed: str, in_scope: dict[str, SymbolKind], brings_in: bool) -> Iterator[Candidate]:
    """`mean` offers `stats.mean`."""
    for entry in entries():
        module, _, name = entry.name.partition(".")
        known = in_scope.get(module)
        if (name.startswith(typed) or module.startswith(typed)) and (known is SymbolKind.MODULE or (brings_in and known is None)):
            compared = name if name.startswith(typed) else entry.name
            yield Candidate(entry.name, len(typed), compared, Kind.FUNCTION, entry.doc, 4, entry=entry)


@lru_cache(maxsize=1)
def entries() -> tuple[LibraryEntry, ...]:
    """What is documented in the standard library, read once."""
    return tuple(library.entries())
