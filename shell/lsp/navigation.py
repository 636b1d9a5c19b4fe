"""Definitions, references, renaming, symbols, semantic tokens, formatting and signature help.

Renaming is checked by resolving the new text: every name must refer to the same symbol as before, else nothing is changed.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from ...lang.bind.scopes import Reference, ReferenceKind, SymbolIndex
from ...lang.diagnostics.help_pages import uses
from ...lang.diagnostics.model import RhoError
from ...lang.foreign.hints import mask_quotes
from ...lang.primitives.record import GlyphRole
from ...lang.primitives.table import rows
from ...lang.support.records import dataclass
from ...lang.syntax import formatter
from ...lang.syntax.formatter import WordClass, format_source
from ...lang.syntax.parser import parse
from ...lang.syntax.source import NAME, RESERVED, Source
from ...lang.tree.expressions import Symbol, SymbolKind
from .diagnostics import range_in
from .documents import Document, Range, TextEdit, TextPosition, uri_of
from .hover import description_lines, glyph_at, member_entry, module_source


@dataclass(frozen=True, slots=True)
class DocumentRange:
    uri: str
    range: Range


@dataclass(frozen=True, slots=True)
class Highlight:
    """An occurrence of a name, and whether it gives the name a value."""

    range: Range
    writes: bool


class CannotRename(Exception):
    """A name cannot be renamed; the message says why."""


def definition(document: Document, position: TextPosition) -> DocumentRange | None:
    """The range where the name at a position is bound; for a module, its file."""
    reference = _reference_at(document, position)
    if reference is None:
        return None
    if reference.symbol.kind is not SymbolKind.MODULE:
        return DocumentRange(document.uri, document.lines.range_of(reference.symbol.span))
    source = module_source(document, reference.symbol)
    uri = None if source is None else uri_of(source.name)
    if source is None or uri is None:
        return DocumentRange(document.uri, document.lines.range_of(reference.symbol.span))
    if reference.member is None:
        if reference.kind is ReferenceKind.BIND:  # the `use` itself
            return DocumentRange(uri, _START)
        return DocumentRange(document.uri, document.lines.range_of(reference.symbol.span))
    member = parse(source).index.top.symbols.get(reference.member)
    return DocumentRange(uri, _START if member is None else range_in(source, member.span, document.lines.encoding))


_START: Final = Range(TextPosition(0, 0), TextPosition(0, 0))


def references(document: Document, position: TextPosition, *, declaration: bool = True) -> list[DocumentRange]:
    """Every occurrence in the document of the name at a position; with `declaration` also its bindings."""
    reference = _reference_at(document, position)
    if reference is None:
        return []
    occurrences = _same_references(document, reference)
    if not declaration:
        occurrences = [one for one in occurrences if one.kind not in (ReferenceKind.BIND, ReferenceKind.DECLARE)]
    return [DocumentRange(document.uri, document.lines.range_of(one.span)) for one in occurrences]


def highlights(document: Document, position: TextPosition) -> list[Highlight]:
    reference = _reference_at(document, position)
    if reference is None:
        return []
    occurrences = _same_references(document, reference)
    return [Highlight(document.lines.range_of(one.span), one.kind is not ReferenceKind.READ) for one in occurrences]


def _reference_at(document: Document, position: TextPosition) -> Reference | None:
    return document.index.at(document.lines.offset(position))


def _same_references(document: Document, reference: Reference) -> list[Reference]:
    """The references to the same symbol, or to the same member of a module, in the order of the text."""
    if reference.member is not None:
        return [m for m in document.index.references if m.symbol is reference.symbol and m.member == reference.member]
    return [m for m in document.index.references if m.symbol is reference.symbol and m.member is None]


# ------------------------------------------------------------------------------------------ renaming


def renameable_range(document: Document, position: TextPosition) -> Range | None:
    """The range of the name that would be renamed; None if there is none.  Raises `CannotRename`."""
    reference = _reference_at(document, position)
    if reference is None:
        return None
    _require_renameable(reference)
    return document.lines.range_of(reference.span)


def _require_renameable(reference: Reference) -> None:
    if reference.member is not None:
        raise CannotRename(f"`{reference.member}` belongs to the module `{reference.symbol.name}`: rename it there")
    if reference.symbol.kind is SymbolKind.MODULE:
        raise CannotRename("a module is called by the name of its file")


def rename(document: Document, position: TextPosition, name: str) -> list[TextEdit]:
    """The edits that rename the name at a position everywhere.  Raises `CannotRename`."""
    reference = _reference_at(document, position)
    if reference is None:
        raise CannotRename("there is no name here")
    _require_renameable(reference)
    if re.fullmatch(NAME, name) is None:
        raise CannotRename(f"`{name}` is not a name: letters, digits, `_` and `∆`, not starting with a digit")
    if name in RESERVED:
        raise CannotRename(f"`{name}` is a reserved word")
    occurrences = _same_references(document, reference)
    _require_same_meaning(document, reference.symbol, occurrences, name)
    return [TextEdit(document.lines.range_of(reference.span), name) for reference in occurrences]


def rename_in_users(document: Document, position: TextPosition, name: str) -> dict[str, list[TextEdit]]:
    """The edits of the open documents that use this one as a module, by URI, when a top-level name of it is renamed."""
    target = _reference_at(document, position)
    if target is None or target.member is not None or document.index.top.symbols.get(target.symbol.name) is not target.symbol:
        return {}
    edits: dict[str, list[TextEdit]] = {}
    for user in document.other_documents():
        for reference in user.index.references:
            if reference.member == target.symbol.name and _is_module(user, reference.symbol, document):
                edits.setdefault(user.uri, []).append(TextEdit(user.lines.range_of(reference.span), name))
    return edits


def _is_module(user: Document, module: Symbol, document: Document) -> bool:
    source = module_source(user, module)
    return source is not None and source.name == document.name


def _require_same_meaning(document: Document, symbol: Symbol, occurrences: list[Reference], name: str) -> None:
    text = document.text
    for reference in reversed(occurrences):
        text = text[: reference.span.start] + name + text[reference.span.end :]
    after = parse(Source(document.name, text)).index
    if _meanings(document.index, symbol, name) != _meanings(after):
        raise CannotRename(f"`{name}` would then mean something else in this text; choose another name")


def _meanings(index: SymbolIndex, renamed: Symbol | None = None, name: str = "") -> list[tuple[object, ...]]:
    """The meaning of every reference: the number of its symbol, its name, the symbol's kind, and how it is used."""
    numbers = {id(symbol): number for number, symbol in enumerate(index.symbols)}
    return [
        (numbers[id(m.symbol)], name if m.symbol is renamed else m.symbol.name, _kind_of_name(m.symbol), m.kind, m.member)
        for m in index.references
    ]


def _kind_of_name(symbol: Symbol) -> SymbolKind:
    """The kind of a symbol; an element type counts as a size, since only a capital letter distinguishes them."""
    return SymbolKind.SIZE if symbol.kind is SymbolKind.ELEMENT else symbol.kind


# ---------------------------------------------------------------------------------------------------- outline
#
# The symbols of a document: top-level names, and the names inside their definitions.

OUTLINED = frozenset(SymbolKind) - {SymbolKind.SIZE, SymbolKind.ELEMENT}


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A symbol of the outline: `range` is its whole statement, `name_range` the name in it, `inside` the symbols in it."""

    name: str
    kind: SymbolKind
    detail: str
    range: Range
    name_range: Range
    inside: tuple[OutlineEntry, ...] = ()


def outline(document: Document) -> list[OutlineEntry]:
    """The top-level symbols of a document, in the order of the text."""
    symbols = [symbol for symbol in document.index.symbols if symbol.kind in OUTLINED]
    inner: dict[int, list[Symbol]] = {}
    for symbol in symbols:
        if symbol.depth:
            inner.setdefault(symbol.statement.start, []).append(symbol)
    return [_outline_entry(document, symbol, inner.get(symbol.statement.start, [])) for symbol in symbols if not symbol.depth]


def folding_ranges(document: Document) -> list[Range]:
    """The ranges that can be folded: brackets over several lines, and runs of comment lines."""
    lines = document.text.split("\n")
    ranges: dict[int, Range] = {}
    opened: list[int] = []
    remark = 0  # comment lines before this one
    for number, (line, code) in enumerate(zip(lines, mask_quotes(document.text).split("\n"), strict=True)):
        for mark in code:
            if mark in "([{":
                opened.append(number)
            elif mark in ")]}" and opened and (start := opened.pop()) < number:
                last = number - 1 if number - start > 1 else number
                ranges.setdefault(start, Range(TextPosition(start, 0), TextPosition(last, 0)))
        if line.lstrip().startswith("⍝"):
            remark += 1
        else:
            if remark > 1:
                ranges.setdefault(number - remark, Range(TextPosition(number - remark, 0), TextPosition(number - 1, 0)))
            remark = 0
    return [ranges[start] for start in sorted(ranges)]


def matches_query(entry: OutlineEntry, query: str) -> bool:
    """Does a name contain the letters of a query in their order?"""
    rest = iter(entry.name.lower())
    return all(letter in rest for letter in query.lower())


def _outline_entry(document: Document, symbol: Symbol, inside: list[Symbol]) -> OutlineEntry:
    types = document.checked.types if "checked" in vars(document) else {}
    detail = types.get(symbol.name, "") if symbol.depth == 0 and symbol.kind is not SymbolKind.MODULE else ""
    children = tuple([_outline_entry(document, child, []) for child in inside])
    lines = document.lines
    around = symbol.statement if symbol.depth == 0 else symbol.span
    return OutlineEntry(symbol.name, symbol.kind, detail, lines.range_of(around), lines.range_of(symbol.span), children)


# ---------------------------------------------------------------------------------------------------- semantic tokens
#
# Every word of a document with its class, by which editors colour it.

class TokenClass(Enum):
    """Classes of tokens by their names in the protocol; the order is that of the legend."""

    NAMESPACE = "namespace"
    TYPE = "type"
    SIZE = "typeParameter"
    PARAMETER = "parameter"
    VARIABLE = "variable"
    FUNCTION = "function"
    OPERATOR = "operator"
    KEYWORD = "keyword"
    COMMENT = "comment"
    TEXT = "string"
    NUMBER = "number"


class TokenModifier(Enum):
    """Modifiers of tokens; the order is that of the legend."""

    DECLARATION = "declaration"
    READONLY = "readonly"
    LIBRARY = "defaultLibrary"


class ColouredToken(NamedTuple):
    """The class of the characters `start` to `end` of the text."""

    start: int
    end: int
    kind: TokenClass
    modifiers: tuple[TokenModifier, ...] = ()


LEGEND = tuple(kind.value for kind in TokenClass)
MODIFIERS = tuple(modifier.value for modifier in TokenModifier)

_CLASSES = {
    WordClass.COMMENT: TokenClass.COMMENT, WordClass.NUMBER: TokenClass.NUMBER,
    WordClass.TEXT: TokenClass.TEXT, WordClass.UNENDED: TokenClass.TEXT,
    WordClass.PUNCTUATION: TokenClass.KEYWORD, WordClass.KEYWORD: TokenClass.KEYWORD, WordClass.TYPE: TokenClass.TYPE,
    WordClass.ARGUMENT: TokenClass.PARAMETER, WordClass.FUNCTION: TokenClass.FUNCTION, WordClass.OPERATOR: TokenClass.OPERATOR,
    WordClass.LIBRARY: TokenClass.FUNCTION, WordClass.CONSTANT: TokenClass.VARIABLE, WordClass.NAME: TokenClass.VARIABLE,
}  # fmt: skip
_SYMBOLS = {
    SymbolKind.ARRAY: TokenClass.VARIABLE, SymbolKind.FUNCTION: TokenClass.FUNCTION, SymbolKind.OPERATOR: TokenClass.OPERATOR,
    SymbolKind.MODULE: TokenClass.NAMESPACE, SymbolKind.INPUT: TokenClass.VARIABLE, SymbolKind.PARAM: TokenClass.PARAMETER,
    SymbolKind.SIZE: TokenClass.SIZE, SymbolKind.ELEMENT: TokenClass.TYPE,
}  # fmt: skip


def coloured_tokens(document: Document) -> list[ColouredToken]:
    """The tokens of a document in the order of the text; none extends over a line end."""
    occurrences = {reference.span.start: reference for reference in document.index.references}
    words = formatter.words(document.source, document.index.glyphs)
    tokens = [_coloured_token(word, occurrences.get(word.start)) for word in words]
    return [token for token in tokens if token is not None]


def _coloured_token(word: formatter.FormattedWord, reference: Reference | None) -> ColouredToken | None:
    if reference is not None and word.kind in _NAME_CLASSES:
        return _name_token(word, reference)
    modifiers = (TokenModifier.LIBRARY,) if word.kind in (WordClass.LIBRARY, WordClass.CONSTANT) else ()
    kind = _CLASSES.get(word.kind)
    return None if kind is None else ColouredToken(word.start, word.end, kind, modifiers)


_NAME_CLASSES = (WordClass.NAME, WordClass.TYPE, WordClass.KEYWORD)


def _name_token(word: formatter.FormattedWord, reference: Reference) -> ColouredToken:
    if reference.member is not None:
        return ColouredToken(word.start, word.end, TokenClass.FUNCTION, (TokenModifier.LIBRARY,))
    is_binding = reference.kind in (ReferenceKind.BIND, ReferenceKind.DECLARE)
    modifiers: tuple[TokenModifier, ...] = (TokenModifier.DECLARATION,) if is_binding else ()
    if reference.symbol.kind is SymbolKind.PARAM:
        modifiers += (TokenModifier.READONLY,)
    return ColouredToken(word.start, word.end, _SYMBOLS[reference.symbol.kind], modifiers)


def encode_tokens(document: Document) -> list[int]:
    """The tokens as the protocol encodes them: five numbers a token, with positions relative to the token before."""
    lines = document.lines
    numbers = {kind: number for number, kind in enumerate(TokenClass)}
    bits = {modifier: 1 << number for number, modifier in enumerate(TokenModifier)}
    data: list[int] = []
    before = (0, 0)
    for word in coloured_tokens(document):
        line, column = lines.position(word.start)
        length = lines.encoding.units(lines.text[word.start : word.end])
        data += [line - before[0], column - before[1] if line == before[0] else column, length, numbers[word.kind]]
        data.append(sum(bits[modifier] for modifier in word.modifiers))
        before = (line, column)
    return data


# ---------------------------------------------------------------------------------------------------- formatting
#
# The canonical layout, as edits of the lines that change.

MOST_LINES_COMPARED = 4000


def format_edits(document: Document, where: Range | None = None) -> list[TextEdit]:
    """The edits to canonical layout, only those that touch the lines of `where`; none if the text cannot be parsed."""
    try:
        formatted = format_source(document.source)
    except RhoError:
        return []
    if "\r\n" in document.text:
        formatted = formatted.replace("\r\n", "\n").replace("\n", "\r\n")
    edits = [] if formatted == document.text else edits_between(document, formatted)
    if where is None:
        return edits
    last = where.end.line - (where.end.column == 0 and where.end.line > where.start.line)
    ends = [max(one.range.start.line, one.range.end.line - 1) for one in edits]
    return [one for one, end in zip(edits, ends, strict=True) if one.range.start.line <= last and where.start.line <= end]


def edits_between(document: Document, wanted: str) -> list[TextEdit]:
    """Edits of whole lines that turn the text into `wanted`."""
    old, new = document.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    if len(old) != len(document.lines) - document.text.endswith("\n") or len(old) + len(new) > MOST_LINES_COMPARED:
        return [TextEdit(document.lines.full_range(), wanted)]
    from difflib import SequenceMatcher

    edits = []
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        apart = last - first == end - start  # an edit for each line, so that a selection can be formatted
        for at in range(first, last) if apart else [first]:
            until, text = (at + 1, new[start + at - first]) if apart else (last, "".join(new[start:end]))
            edits.append(TextEdit(Range(_line_start(document, at, old), _line_start(document, until, old)), text))
    return edits


def _line_start(document: Document, number: int, lines: list[str]) -> TextPosition:
    """The start of a line, or the end of the text."""
    return TextPosition(number, 0) if number < len(lines) else document.lines.position(len(document.text))


# ---------------------------------------------------------------------------------------------------- signature help
#
# The signatures of the function right before the cursor.

@dataclass(frozen=True, slots=True)
class CallSignature:
    """A signature of a function, its parameters as ranges of the label, and one line of documentation."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    doc: str = ""


def call_signatures(document: Document, position: TextPosition) -> list[CallSignature]:
    """The signatures of the function whose right argument starts at a position."""
    offset = document.lines.offset(position)
    start = document.lines.start(document.lines.position(offset).line)
    before = document.text[start:offset].rstrip(" ")
    if not before:
        return []
    last = start + len(before)
    reference = document.index.at(last)
    if reference is not None and reference.span.end == last:
        if reference.member is not None:
            entry = member_entry(document, reference)
            return [] if entry is None else [_signature(f"{reference.symbol.name}.{entry.source}", entry.doc)]
        if reference.symbol.kind is SymbolKind.FUNCTION:
            return [_signature(line) for line in description_lines(document, reference.symbol) if " → " in line]
        return []
    glyph = glyph_at(document, last - 1)
    if glyph is None:
        return []
    forms = [use for row in rows(glyph[0]) if row.role is GlyphRole.FUNCTION for use in uses(row)]
    return [CallSignature(form, _argument_ranges(form), f"{use.name}: {use.doc}") for form, use in forms]


def _signature(line: str, doc: str = "") -> CallSignature:
    types = line.partition(" where ")[0]
    at = line.find(" : ") + 3
    parameters = []
    if at >= 3 and " → " in types:
        for part in types[at:].split(" → ")[:-1]:
            parameters.append((at, at + len(part)))
            at += len(part) + 3
    return CallSignature(line, tuple(parameters), doc)


def _argument_ranges(form: str) -> tuple[tuple[int, int], ...]:
    """The ranges of the arguments A and B in `A ⍴ B`."""
    return tuple([(at, at + 1) for at, letter in enumerate(form) if letter in "AB"])
