"""Typing glyphs: a backtick and a name or key becomes the glyph as soon as what follows shows where it ends.

`` `iota `` and a blank gives `⍳` (the blank is used up), `` `iota( `` gives `⍳(`, `` `[ `` gives `←` at once.
Neighbours: `repl.glyphs` (what is typed becomes), `completing` (offers spellings).
"""

from __future__ import annotations

import re
import string

from ...lang.lexer import in_prose
from ...lang.primitives import glyph_of
from ..repl.glyphs import replacement
from .documents import Document
from .places import Position, Range, TextEdit

TRIGGERS = tuple(" \n" + string.punctuation + string.digits)
"""What may end a spelling."""

_SPELLING = re.compile(r"`([A-Za-z]+|[^\sA-Za-z])")


def on_type(document: Document, position: Position, typed: str) -> list[TextEdit]:
    """What to change after a character was typed just before a place."""
    if typed == "\n":
        return _whole_line(document, position.line - 1)
    offset = document.lines.offset(position)
    number = document.lines.position(offset).line
    line, start = document.lines.line(number), document.lines.start(number)
    end = offset - start
    if end < 1 or line[end - 1] != typed:
        return []
    found = replacement(line[:end], "`")
    return [] if found is None else [_edit(document, offset - found.length, offset, found.text)]


def _whole_line(document: Document, number: int) -> list[TextEdit]:
    """Every spelling of a finished line."""
    line, start = document.lines.line(number), document.lines.start(number)
    edits = []
    for found in _SPELLING.finditer(line):
        glyph = glyph_of(found.group(1))
        if glyph is not None and found.group(1) != "-" and not in_prose(line, found.start()):
            edits.append(_edit(document, start + found.start(), start + found.end(), glyph))
    return edits


def _edit(document: Document, start: int, end: int, text: str) -> TextEdit:
    at: Range = document.lines.range(start, end)
    return TextEdit(at, text)
