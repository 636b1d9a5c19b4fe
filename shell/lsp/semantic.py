"""Every word of a document with its class, as editors colour it.

Neighbours: `index` (classes of names), `words` (the rest).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ...lang.primitives import RESERVED_WORDS
from ...lang.vocabulary import CONVERSIONS, DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS, RESERVED
from .documents import Document
from .index import Access, Mention, SymbolKind
from .words import flat


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


class Word(NamedTuple):
    """Characters `start` to `end` of the text."""

    start: int
    end: int
    kind: Class
    modifiers: tuple[Modifier, ...] = ()


LEGEND = tuple(kind.value for kind in Class)
MODIFIERS = tuple(modifier.value for modifier in Modifier)

_KINDS = {
    "comment": Class.COMMENT, "numbers": Class.NUMBER, "text": Class.TEXT, "broken": Class.TEXT, "zilde": Class.NUMBER,
    "gets": Class.KEYWORD, "separator": Class.KEYWORD, "colon": Class.KEYWORD, "arrow": Class.KEYWORD,
}  # fmt: skip
_SYMBOLS = {
    SymbolKind.ARRAY: Class.VARIABLE, SymbolKind.FUNCTION: Class.FUNCTION, SymbolKind.OPERATOR: Class.OPERATOR,
    SymbolKind.MODULE: Class.NAMESPACE, SymbolKind.INPUT: Class.VARIABLE, SymbolKind.PARAM: Class.PARAMETER,
    SymbolKind.SIZE: Class.SIZE, SymbolKind.ELEMENT: Class.TYPE,
}  # fmt: skip


def words(document: Document) -> list[Word]:
    """In the order of the text, none across a line end."""
    spelled = document.index.spelled
    mentions = {mention.span.start: mention for mention in document.index.mentions}
    found: list[Word] = []
    at = 0
    for line in spelled.text.split("\n"):
        for kind, first, last in flat(line.rstrip("\r")):
            span = spelled.span(at + first, at + last)
            word = _word(kind, line[first:last], span.start, span.end, mentions.get(span.start))
            if word is not None and span.end > span.start and "\r" not in document.text[span.start : span.end]:
                found.append(word)
        at += len(line) + 1
    return found


def _word(kind: str, text: str, start: int, end: int, mention: Mention | None) -> Word | None:
    if kind == "name":
        return _name(text, start, end, mention)
    if kind == "glyph":
        operator = text in MONADIC_OPERATORS or text in DYADIC_OPERATORS
        return Word(start, end, Class.OPERATOR if operator else Class.FUNCTION)
    if kind == "quad":
        return Word(start, end, Class.FUNCTION if text in FUNCTIONS or text == "⎕" else Class.VARIABLE, (Modifier.LIBRARY,))
    found = _KINDS.get(kind)
    return None if found is None else Word(start, end, found)


def _name(text: str, start: int, end: int, mention: Mention | None) -> Word:
    if text in ("⍵", "⍺", "⍺⍺", "⍵⍵"):
        return Word(start, end, Class.PARAMETER)
    if mention is None:
        if text in RESERVED_WORDS:
            return Word(start, end, Class.KEYWORD)
        is_type = text in CONVERSIONS or text in RESERVED or text in ("idx", "int", "perm")
        return Word(start, end, Class.TYPE if is_type else Class.VARIABLE)
    if mention.member is not None:
        return Word(start, end, Class.FUNCTION, (Modifier.LIBRARY,))
    modifiers: tuple[Modifier, ...] = (Modifier.DECLARATION,) if mention.access in (Access.BIND, Access.DECLARE) else ()
    if mention.symbol.kind is SymbolKind.PARAM:
        modifiers += (Modifier.READONLY,)
    return Word(start, end, _SYMBOLS[mention.symbol.kind], modifiers)


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
