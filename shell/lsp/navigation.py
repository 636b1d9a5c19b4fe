"""Definitions, references, renaming, symbols, semantic tokens, formatting and signature help.

Renaming is checked by reading the new text: every mention must mean what it meant, else nothing is changed.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from ...lang.bind.scopes import Reference, ReferenceKind, SymbolIndex
from ...lang.diagnostics.help_pages import uses
from ...lang.diagnostics.model import RhoError
from ...lang.foreign.hints import mask_quotes
from ...lang.primitives.record import GlyphRole
from ...lang.primitives.table import rows
from ...lang.support.records import dataclass
from ...lang.syntax import formatter
from ...lang.syntax.formatter import WordClass, format_source
from ...lang.syntax.lexer import NAME, RESERVED
from ...lang.syntax.parser import parse
from ...lang.syntax.source import Source
from ...lang.tree.expressions import Symbol, SymbolKind
from .diagnostics import range_in
from .documents import Document, Range, TextEdit, TextPosition, uri_of
from .hover import described, glyph_at, member_entry, module_source

# ---------------------------------------------------------------------------------------------------- navigation

@dataclass(frozen=True, slots=True)
class DocumentRange:
    uri: str
    range: Range


@dataclass(frozen=True, slots=True)
class Highlight:
    """A mention, and whether it gives the name a value."""

    range: Range
    writes: bool


class CannotRename(Exception):
    """Why a name stays as it is, in a sentence."""


def definition(document: Document, position: TextPosition) -> DocumentRange | None:
    """Where the name at a place is bound; of a module its file."""
    mention = _mention(document, position)
    if mention is None:
        return None
    if mention.symbol.kind is not SymbolKind.MODULE:
        return DocumentRange(document.uri, document.lines.of(mention.symbol.span))
    source = module_source(document, mention.symbol)
    uri = None if source is None else uri_of(source.name)
    if source is None or uri is None:
        return DocumentRange(document.uri, document.lines.of(mention.symbol.span))
    if mention.member is None:
        on_use = mention.kind is ReferenceKind.BIND
        start = Range(TextPosition(0, 0), TextPosition(0, 0))
        return DocumentRange(uri, start) if on_use else DocumentRange(document.uri, document.lines.of(mention.symbol.span))
    inside = parse(source).index.top.symbols.get(mention.member)
    encoding = document.lines.encoding
    return DocumentRange(uri, Range(TextPosition(0, 0), TextPosition(0, 0)) if inside is None else range_in(source, inside.span,
        encoding))


def references(document: Document, position: TextPosition, *, declaration: bool = True) -> list[DocumentRange]:
    """Every mention in the document of the name at a place."""
    mention = _mention(document, position)
    if mention is None:
        return []
    wanted = [m for m in _same(document, mention) if declaration or m.kind not in (ReferenceKind.BIND, ReferenceKind.DECLARE)]
    return [DocumentRange(document.uri, document.lines.of(mention.span)) for mention in wanted]


def highlights(document: Document, position: TextPosition) -> list[Highlight]:
    mention = _mention(document, position)
    if mention is None:
        return []
    return [Highlight(document.lines.of(m.span), m.kind is not ReferenceKind.READ) for m in _same(document, mention)]


def _mention(document: Document, position: TextPosition) -> Reference | None:
    return document.index.at(document.lines.offset(position))


def _same(document: Document, mention: Reference) -> list[Reference]:
    """Mentions of the same thing in the order of the text: of the same member of a module, or of a binding."""
    if mention.member is not None:
        return [m for m in document.index.references if m.symbol is mention.symbol and m.member == mention.member]
    return [m for m in document.index.references if m.symbol is mention.symbol and m.member is None]


# ------------------------------------------------------------------------------------------ renaming


def renamed_at(document: Document, position: TextPosition) -> Range | None:
    """The range of the name that would be renamed; None if there is none.  Raises `CannotRename`."""
    mention = _mention(document, position)
    if mention is None:
        return None
    _renameable(mention)
    return document.lines.of(mention.span)


def _renameable(mention: Reference) -> None:
    if mention.member is not None:
        raise CannotRename(f"`{mention.member}` belongs to the module `{mention.symbol.name}`: rename it there")
    if mention.symbol.kind is SymbolKind.MODULE:
        raise CannotRename("a module is called by the name of its file")


def rename(document: Document, position: TextPosition, name: str) -> list[TextEdit]:
    """The edits that give the name at a place another one, everywhere.  Raises `CannotRename`."""
    mention = _mention(document, position)
    if mention is None:
        raise CannotRename("there is no name here")
    _renameable(mention)
    if re.fullmatch(NAME, name) is None:
        raise CannotRename(f"`{name}` is not a name: letters, digits, `_` and `∆`, not starting with a digit")
    if name in RESERVED:
        raise CannotRename(f"`{name}` is a reserved word")
    mentions = _same(document, mention)
    _unchanged_meaning(document, mention.symbol, mentions, name)
    return [TextEdit(document.lines.of(mention.span), name) for mention in mentions]


def rename_in_users(document: Document, position: TextPosition, name: str) -> dict[str, list[TextEdit]]:
    """The edits of the open documents that use this one as a module, by URI, when a top-level name of it is renamed."""
    target = _mention(document, position)
    if target is None or target.member is not None or document.index.top.symbols.get(target.symbol.name) is not target.symbol:
        return {}
    edits: dict[str, list[TextEdit]] = {}
    for user in document.others():
        for mention in user.index.references:
            if mention.member == target.symbol.name and _is_module(user, mention.symbol, document):
                edits.setdefault(user.uri, []).append(TextEdit(user.lines.of(mention.span), name))
    return edits


def _is_module(user: Document, module: Symbol, document: Document) -> bool:
    source = module_source(user, module)
    return source is not None and source.name == document.name


def _unchanged_meaning(document: Document, symbol: Symbol, mentions: list[Reference], name: str) -> None:
    text = document.text
    for mention in reversed(mentions):
        text = text[: mention.span.start] + name + text[mention.span.end :]
    after = parse(Source(document.name, text)).index
    if _meaning(document.index, symbol, name) != _meaning(after):
        raise CannotRename(f"`{name}` would then mean something else in this text; choose another name")


def _meaning(index: SymbolIndex, renamed: Symbol | None = None, name: str = "") -> list[tuple[object, ...]]:
    """Every mention by what it means: the number of its symbol, and how it is used."""
    numbers = {id(symbol): number for number, symbol in enumerate(index.symbols)}
    return [
        (numbers[id(m.symbol)], name if m.symbol is renamed else m.symbol.name, _kind(m.symbol), m.kind, m.member)
        for m in index.references
    ]


def _kind(symbol: Symbol) -> SymbolKind:
    """Element types and sizes are told apart by a capital letter only, which a new name need not have."""
    return SymbolKind.SIZE if symbol.kind is SymbolKind.ELEMENT else symbol.kind


# ---------------------------------------------------------------------------------------------------- outline
#
# The symbols of a document for an outline: top-level names, and what is named inside their definitions.

SHOWN = frozenset(SymbolKind) - {SymbolKind.SIZE, SymbolKind.ELEMENT}


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """`range` is the whole statement, `name_range` the name in it."""

    name: str
    kind: SymbolKind
    detail: str
    range: Range
    name_range: Range
    inside: tuple[OutlineEntry, ...] = ()


def outline(document: Document) -> list[OutlineEntry]:
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
    ranges: dict[int, Range] = {}
    opened: list[int] = []
    remark = 0  # comment lines before this one
    for number, (line, code) in enumerate(zip(lines, mask_quotes(document.text).split("\n"), strict=True)):
        for mark in code:
            if mark in "([{":
                opened.append(number)
            elif mark in ")]}" and opened and (start := opened.pop()) < number:
                ranges.setdefault(start, Range(TextPosition(start, 0), TextPosition(number - 1 if number - start > 1 else number,
                    0)))
        if line.lstrip().startswith("⍝"):
            remark += 1
        else:
            if remark > 1:
                ranges.setdefault(number - remark, Range(TextPosition(number - remark, 0), TextPosition(number - 1, 0)))
            remark = 0
    return [ranges[start] for start in sorted(ranges)]


def is_meant(entry: OutlineEntry, query: str) -> bool:
    """Are the letters of a query in a name, in their order?"""
    rest = iter(entry.name.lower())
    return all(letter in rest for letter in query.lower())


def _entry(document: Document, symbol: Symbol, inside: list[Symbol]) -> OutlineEntry:
    types = document.checked.types if "checked" in vars(document) else {}
    detail = types.get(symbol.name, "") if symbol.depth == 0 and symbol.kind is not SymbolKind.MODULE else ""
    children = tuple([_entry(document, child, []) for child in inside])
    lines = document.lines
    around = symbol.statement if symbol.depth == 0 else symbol.span
    return OutlineEntry(symbol.name, symbol.kind, detail, lines.of(around), lines.of(symbol.span), children)


# ---------------------------------------------------------------------------------------------------- semantic
#
# Every word of a document with its class, as editors colour it.

class Class(Enum):
    """The protocol's own names; the order is the legend."""

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


class Modifier(Enum):
    """The order is the legend."""

    DECLARATION = "declaration"
    READONLY = "readonly"
    LIBRARY = "defaultLibrary"


class ColouredToken(NamedTuple):
    """Characters `start` to `end` of the text."""

    start: int
    end: int
    kind: Class
    modifiers: tuple[Modifier, ...] = ()


LEGEND = tuple(kind.value for kind in Class)
MODIFIERS = tuple(modifier.value for modifier in Modifier)

_CLASSES = {
    WordClass.COMMENT: Class.COMMENT, WordClass.NUMBER: Class.NUMBER, WordClass.TEXT: Class.TEXT, WordClass.UNENDED: Class.TEXT,
    WordClass.PUNCTUATION: Class.KEYWORD, WordClass.KEYWORD: Class.KEYWORD, WordClass.TYPE: Class.TYPE,
    WordClass.ARGUMENT: Class.PARAMETER, WordClass.FUNCTION: Class.FUNCTION, WordClass.OPERATOR: Class.OPERATOR,
    WordClass.LIBRARY: Class.FUNCTION, WordClass.CONSTANT: Class.VARIABLE, WordClass.NAME: Class.VARIABLE,
}  # fmt: skip
_SYMBOLS = {
    SymbolKind.ARRAY: Class.VARIABLE, SymbolKind.FUNCTION: Class.FUNCTION, SymbolKind.OPERATOR: Class.OPERATOR,
    SymbolKind.MODULE: Class.NAMESPACE, SymbolKind.INPUT: Class.VARIABLE, SymbolKind.PARAM: Class.PARAMETER,
    SymbolKind.SIZE: Class.SIZE, SymbolKind.ELEMENT: Class.TYPE,
}  # fmt: skip


def words(document: Document) -> list[ColouredToken]:
    """In the order of the text, none across a line end."""
    mentions = {mention.span.start: mention for mention in document.index.references}
    coloured = [_word(word, mentions.get(word.start)) for word in formatter.words(document.source, document.index.glyphs)]
    return [word for word in coloured if word is not None]


def _word(word: formatter.FormattedWord, mention: Reference | None) -> ColouredToken | None:
    if mention is not None and word.kind in _NAMED:
        return _name(word, mention)
    modifiers = (Modifier.LIBRARY,) if word.kind in (WordClass.LIBRARY, WordClass.CONSTANT) else ()
    kind = _CLASSES.get(word.kind)
    return None if kind is None else ColouredToken(word.start, word.end, kind, modifiers)


_NAMED = (WordClass.NAME, WordClass.TYPE, WordClass.KEYWORD)


def _name(word: formatter.FormattedWord, mention: Reference) -> ColouredToken:
    if mention.member is not None:
        return ColouredToken(word.start, word.end, Class.FUNCTION, (Modifier.LIBRARY,))
    modifiers: tuple[Modifier, ...] = (Modifier.DECLARATION,) if mention.kind in (ReferenceKind.BIND,
        ReferenceKind.DECLARE) else ()
    if mention.symbol.kind is SymbolKind.PARAM:
        modifiers += (Modifier.READONLY,)
    return ColouredToken(word.start, word.end, _SYMBOLS[mention.symbol.kind], modifiers)


def encoded(document: Document) -> list[int]:
    """The words as the protocol wants them: five numbers a word, places relative to the word before."""
    lines = document.lines
    numbers = {kind: number for number, kind in enumerate(Class)}
    bits = {modifier: 1 << number for number, modifier in enumerate(Modifier)}
    data: list[int] = []
    before = (0, 0)
    for word in words(document):
        line, column = lines.position(word.start)
        length = lines.encoding.units(lines.text[word.start : word.end])
        data += [line - before[0], column - before[1] if line == before[0] else column, length, numbers[word.kind]]
        data.append(sum(bits[modifier] for modifier in word.modifiers))
        before = (line, column)
    return data


# ---------------------------------------------------------------------------------------------------- formatting
#
# Canonical layout as edits of the lines that change.

MOST_LINES_COMPARED = 4000


def formatting(document: Document, where: Range | None = None) -> list[TextEdit]:
    """None if the text is in canonical layout or cannot be read; only those that touch the lines of `where`."""
    try:
        wanted = format_source(document.source)
    except RhoError:
        return []
    if "\r\n" in document.text:
        wanted = wanted.replace("\r\n", "\n").replace("\n", "\r\n")
    edits = [] if wanted == document.text else edits_between(document, wanted)
    if where is None:
        return edits
    last = where.end.line - (where.end.column == 0 and where.end.line > where.start.line)
    ends = [max(one.range.start.line, one.range.end.line - 1) for one in edits]
    return [one for one, end in zip(edits, ends, strict=True) if one.range.start.line <= last and where.start.line <= end]


def edits_between(document: Document, wanted: str) -> list[TextEdit]:
    """Edits that make the text the wanted one, each of whole lines."""
    old, new = document.text.splitlines(keepends=True), wanted.splitlines(keepends=True)
    if len(old) != len(document.lines) - document.text.endswith("\n") or len(old) + len(new) > MOST_LINES_COMPARED:
        return [TextEdit(document.lines.full_range(), wanted)]
    from difflib import SequenceMatcher

    edits = []
    for tag, first, last, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        apart = last - first == end - start  # line by line, so that a part of them can be chosen
        for at in range(first, last) if apart else [first]:
            until, text = (at + 1, new[start + at - first]) if apart else (last, "".join(new[start:end]))
            edits.append(TextEdit(Range(_line(document, at, old), _line(document, until, old)), text))
    return edits


def _line(document: Document, number: int, lines: list[str]) -> TextPosition:
    """Where a line starts, or the end of the text."""
    return TextPosition(number, 0) if number < len(lines) else document.lines.position(len(document.text))


# ---------------------------------------------------------------------------------------------------- calls
#
# Signature help: how to apply the function right before the cursor.

@dataclass(frozen=True, slots=True)
class CallItem:
    """One way to apply a function: the signature, its parameters as ranges of it, and one line about it."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    doc: str = ""


def calls(document: Document, position: TextPosition) -> list[CallItem]:
    """Of the function whose right argument starts here."""
    offset = document.lines.offset(position)
    start = document.lines.start(document.lines.position(offset).line)
    before = document.text[start:offset].rstrip(" ")
    if not before:
        return []
    last = start + len(before)
    mention = document.index.at(last)
    if mention is not None and mention.span.end == last:
        if mention.member is not None:
            entry = member_entry(document, mention)
            return [] if entry is None else [_signature(f"{mention.symbol.name}.{entry.source}", entry.doc)]
        if mention.symbol.kind is SymbolKind.FUNCTION:
            return [_signature(line) for line in described(document, mention.symbol) if " → " in line]
        return []
    glyph = glyph_at(document, last - 1)
    if glyph is None:
        return []
    forms = [use for row in rows(glyph[0]) if row.role is GlyphRole.FUNCTION for use in uses(row)]
    return [CallItem(form, _sides(form), f"{use.name}: {use.doc}") for form, use in forms]


def _signature(line: str, doc: str = "") -> CallItem:
    types = line.partition(" where ")[0]
    at = line.find(" : ") + 3
    parameters = []
    if at >= 3 and " → " in types:
        for part in types[at:].split(" → ")[:-1]:
            parameters.append((at, at + len(part)))
            at += len(part) + 3
    return CallItem(line, tuple(parameters), doc)


def _sides(form: str) -> tuple[tuple[int, int], ...]:
    """The arguments A and B of `A ⍴ B`."""
    return tuple([(at, at + 1) for at, letter in enumerate(form) if letter in "AB"])
