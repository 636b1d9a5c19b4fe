"""Every word of a document with its class, as editors colour it.

Neighbours: `lang.resolution` (classes of names), `lang.highlighting` (the rest).
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from ...lang import highlighting
from ...lang.definitions import SymbolKind
from ...lang.highlighting import WordClass
from ...lang.resolution.symbols import Access, Mention
from .documents import Document


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


def words(document: Document) -> list[Word]:
    """In the order of the text, none across a line end."""
    mentions = {mention.span.start: mention for mention in document.index.mentions}
    found = [_word(word, mentions.get(word.start)) for word in highlighting.words(document.source, document.index.spelled)]
    return [word for word in found if word is not None]


def _word(word: highlighting.Word, mention: Mention | None) -> Word | None:
    if mention is not None and word.kind in _NAMED:
        return _name(word, mention)
    modifiers = (Modifier.LIBRARY,) if word.kind in (WordClass.LIBRARY, WordClass.CONSTANT) else ()
    kind = _CLASSES.get(word.kind)
    return None if kind is None else Word(word.start, word.end, kind, modifiers)


_NAMED = (WordClass.NAME, WordClass.TYPE, WordClass.KEYWORD)


def _name(word: highlighting.Word, mention: Mention) -> Word:
    if mention.member is not None:
        return Word(word.start, word.end, Class.FUNCTION, (Modifier.LIBRARY,))
    modifiers: tuple[Modifier, ...] = (Modifier.DECLARATION,) if mention.access in (Access.BIND, Access.DECLARE) else ()
    if mention.symbol.kind is SymbolKind.PARAM:
        modifiers += (Modifier.READONLY,)
    return Word(word.start, word.end, _SYMBOLS[mention.symbol.kind], modifiers)


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
