"""Results of a search as lines of text and JSON, and completion of names for editors and sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from typing import Any, Final, Protocol

from ...lang.primitives.operators import RESERVED_WORDS
from ...lang.primitives.record import GlyphRole, Primitive
from ...lang.primitives.table import ELEMENT_NAMES, PRIMITIVES, did_you_mean
from ...lang.support.records import dataclass
from ...lang.syntax.source import NAME, in_prose
from ...lang.tree.expressions import SymbolKind
from ...lang.tree.program import clause_words
from ...typechecker.elaborate.type_expressions import UNITS
from ..console.process_exit import UsageError
from ..display import documentation
from ..display.documentation import LibraryEntry
from . import catalogue, type_match
from .catalogue import CatalogueEntry, Origin, shipped_entries

MOST_HITS: Final = 20


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: the text to type, its description, the type that fits, and how the function is applied to fit it."""

    name: str
    title: str
    summary: str
    type: str
    how: str
    origin: Origin

    def lines(self) -> list[str]:
        head = f"{self.name}  {self.title}" if self.title else self.name
        colon = "  :" if self.title else " :"
        return [
            f"{head}{colon} {self.type}" if self.type else head,
            *([f"    {self.summary}"] if self.summary else []),
            *([f"    fits {self.how}"] if self.how else []),
        ]

    def json(self) -> dict[str, Any]:
        fields = {"name": f"{self.name}  {self.title}" if self.title else self.name, "summary": self.summary}
        return {**fields, "type": self.type or None, "how": self.how or None, "from": self.origin.name.lower()}


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The results of a query; `notes` suggest other queries if there are none or too many."""

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        return [line for hit in self.hits for line in hit.lines()]


def search(given: Sequence[str], session_entries: Sequence[CatalogueEntry] = ()) -> QueryResult:
    """Search for words, or for a type if they contain an arrow.  UsageError: the type is malformed."""
    text = " ".join(given)
    entries = (*session_entries, *shipped_entries())
    if type_match.is_type(text):
        return _search_by_type(text, entries)
    scored = catalogue.search_words(given, entries)
    hits = [_hit(one.entry, _only_type(one.entry), "") for one in scored]
    notes = _more_note(len(hits))
    if not hits:
        guess = did_you_mean(catalogue.nearest_word(text.split(), entries))
        notes = (f"nothing is described by `{text}`{guess}", "  try other or fewer words, or a type: rho search 'f64[n] → f64'")
    elif "[" in text and "]" in text:
        notes = (*notes, f"for functions of this type write an arrow: rho search '{text} → _'")
    return QueryResult(text, tuple(hits[:MOST_HITS]), notes)


def _search_by_type(text: str, entries: tuple[CatalogueEntry, ...]) -> QueryResult:
    try:
        query = type_match.parse_type(text)
    except type_match.InvalidType as error:
        raise UsageError(error.message, error.hint) from None
    fits = type_match.search_types(query, entries)
    hits = [_hit(fit.entry, fit.type, fit.how) for fit in fits]
    if hits:
        return QueryResult(text, tuple(hits[:MOST_HITS]), _more_note(len(hits)))
    near = tuple([f"  {line}" for line in type_match.wider_searches(query, text.replace("->", "→"), entries)])
    return QueryResult(text, (), (f"nothing has the type `{text}`", *(near or ("  `_` stands for any size, element or type",))))


def _hit(entry: CatalogueEntry, type: str, how: str) -> Hit:
    return Hit(entry.name, entry.title, entry.summary, type, how, entry.origin)


def _only_type(entry: CatalogueEntry) -> str:
    """The type that a search by words shows: of library functions and of definitions only."""
    return entry.types[0] if entry.types and entry.origin <= Origin.LIBRARY else ""


def _more_note(count: int) -> tuple[str, ...]:
    return (f"{count - MOST_HITS} more; a closer description finds fewer",) if count > MOST_HITS else ()


# ---------------------------------------------------------------------------------------------------- completion
#
# What can be typed next: glyph names, system names, modules, members, names in scope, words of types.
#
# Editors (`shell.lsp.completion`) and sessions (`shell.repl.terminal`) share it; each has a `CompletionScope`.

class CompletionKind(Enum):
    """The kind of a completed name."""

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
    SymbolKind.ARRAY: CompletionKind.ARRAY, SymbolKind.INPUT: CompletionKind.ARRAY, SymbolKind.FUNCTION: CompletionKind.FUNCTION,
    SymbolKind.OPERATOR: CompletionKind.OPERATOR, SymbolKind.MODULE: CompletionKind.MODULE,
    SymbolKind.PARAM: CompletionKind.PARAM,
    SymbolKind.SIZE: CompletionKind.SIZE, SymbolKind.ELEMENT: CompletionKind.TYPE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class NameCompletion:
    """A completion: `text` replaces the last `length` characters, `name` is compared with them; lower `order` comes first.

    `row`, `entry`: its documentation; `is_glyph_name`: it is typed after a prefix and replaced by its glyph."""

    text: str
    length: int
    name: str
    kind: CompletionKind
    about: str
    order: int
    row: Primitive | None = None
    entry: LibraryEntry | None = None
    is_glyph_name: bool = False


Named = tuple[str, SymbolKind, str]
"""A name, its kind, and a line about it."""


class CompletionScope(Protocol):
    """The names that are visible at a position.

    `is_statement_start`: the word is the first of its statement; `is_declaration`: the statement is a declaration;
    `offers_unused_modules`: members of modules that are not in use are offered too.
    """

    is_statement_start: bool
    is_declaration: bool
    offers_unused_modules: bool

    def names(self) -> Iterable[Named]: ...

    def sizes(self) -> Iterable[Named]: ...

    def members(self, module: str) -> Iterable[tuple[Named, LibraryEntry | None]] | None: ...


_SYSTEM = re.compile(r"⎕[A-Za-z0-9]*$")
_MEMBER = re.compile(rf"({NAME})\.((?:{NAME})?)$")
_USE = re.compile(r"^\s*use\s+(\w*)$")
_WORD = re.compile(rf"(?:{NAME})?$")


def name_completions(line: str, scope: CompletionScope, prefix: str = "`", after: int = 0) -> list[NameCompletion]:
    """The completions for a line up to the cursor; the caller drops those that do not match the letters typed so far."""
    letters = pending_glyph_name(line, prefix, after)
    if letters is not None:
        return list(_glyph_name_completions(len(letters)))
    if in_prose(line, len(line)):
        return []
    system = _SYSTEM.search(line)
    if system is not None:
        length = len(system.group())
        rows = [row for row in PRIMITIVES if row.glyph.startswith("⎕")]
        return [NameCompletion(row.glyph, length, row.glyph, CompletionKind.FUNCTION, row.title, 0, row) for row in rows]
    use = _USE.match(line)
    if use is not None:
        modules = documentation.modules()
        return [NameCompletion(name, len(use[1]), name, CompletionKind.MODULE, "standard library", 0) for name in modules]
    member = _MEMBER.search(line)
    members = None if member is None else scope.members(member[1])
    if member is not None and members is not None:
        length = len(member[2])
        return [NameCompletion(name, length, name, KINDS[kind], about, 0, entry=entry) for (name, kind, about), entry in members]
    match = _WORD.search(line)
    word = "" if match is None else match.group()
    clauses = clause_words(line[: len(line) - len(word)])
    return [
        *[NameCompletion(one, len(word), one, CompletionKind.KEYWORD, says, -1) for one, says in clauses.items()],
        *(_word_completions(word, scope) if "as" in clauses or not clauses else ()),
    ]


def pending_glyph_name(before: str, prefix: str, after: int = 0) -> str | None:
    """The letters typed after a prefix so far; None if no glyph name is being typed.  Prefixes before `after` do not count."""
    match = re.search(rf"[`{re.escape(prefix)}]([A-Za-z]*)$", before)
    if match is None or match.start() < after:
        return None
    return None if in_prose(before, match.start()) else match.group(1)


def _kind_of(row: Primitive) -> CompletionKind:
    is_operator = row.role in (GlyphRole.MONADIC_OPERATOR, GlyphRole.DYADIC_OPERATOR)
    return CompletionKind.OPERATOR if is_operator else CompletionKind.GLYPH


def _glyph_name_completions(typed: int) -> Iterator[NameCompletion]:
    """Every key and name that can follow a prefix; the choice is replaced by its glyph."""
    for row in PRIMITIVES:
        for name in (*([row.key] if row.key else []), *row.names):
            yield NameCompletion(row.glyph, typed + 1, name, _kind_of(row), row.title, 0, row, is_glyph_name=True)


def _word_completions(typed: str, scope: CompletionScope) -> Iterator[NameCompletion]:
    length = len(typed)
    known = list(scope.names())
    in_scope = {name: kind for name, kind, _ in known}
    for name, kind, about in known:
        yield NameCompletion(name, length, name, KINDS[kind], about, 0)
    for name, kind, about in scope.sizes() if scope.is_declaration else ():
        if name not in in_scope and name != typed:
            yield NameCompletion(name, length, name, KINDS[kind], about, 1)
    words = sorted(RESERVED_WORDS - {"where"}) if scope.is_statement_start else ["where"] if scope.is_declaration else []
    for word in words:
        yield NameCompletion(word, length, word, CompletionKind.KEYWORD, "", 2)
    for name in sorted(ELEMENT_NAMES | UNITS.keys() if scope.is_declaration else ELEMENT_NAMES):
        yield NameCompletion(name, length, name, CompletionKind.TYPE, "element type", 3)
    if length > 1:
        yield from _library_completions(typed, in_scope, scope.offers_unused_modules)
        for row in PRIMITIVES:
            for name in row.names:
                if name.startswith(typed) and not row.glyph.isalnum():
                    yield NameCompletion(row.glyph, length, name, _kind_of(row), row.title, 5, row)


def _library_completions(typed: str, in_scope: dict[str, SymbolKind], offers_unused_modules: bool) -> Iterator[NameCompletion]:
    """Library functions whose name or module begins with the typed letters: `mean` offers `stats.mean`."""
    for entry in library_entries():
        module, _, name = entry.name.partition(".")
        known = in_scope.get(module)
        is_offered = known is SymbolKind.MODULE or (offers_unused_modules and known is None)
        if (name.startswith(typed) or module.startswith(typed)) and is_offered:
            compared = name if name.startswith(typed) else entry.name
            yield NameCompletion(entry.name, len(typed), compared, CompletionKind.FUNCTION, entry.doc, 4, entry=entry)


@lru_cache(maxsize=1)
def library_entries() -> tuple[LibraryEntry, ...]:
    """The documented names of the standard library, read once."""
    return tuple(documentation.entries())
