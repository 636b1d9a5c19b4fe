"""Canonical layout as edits of the lines that change.

Neighbour: `lang.formatter`.
"""

from __future__ import annotations

from ...lang.diagnostics import RhoError
from ...lang.formatter import format_source
from .documents import Document
from .places import Position, Range, TextEdit

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
        return [TextEdit(document.lines.whole(), wanted)]
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


def _line(document: Document, number: int, lines: list[str]) -> Position:
    """Where a line starts, or the end of the text."""
    return Position(number, 0) if number < len(lines) else document.lines.position(len(document.text))
