"""Signature help: how to apply the function right before the cursor.

Neighbours: `hover` (descriptions), `lang.explain` (uses of glyphs).
"""

from __future__ import annotations

from dataclasses import dataclass

from ...lang.definitions import SymbolKind
from ...lang.explain import uses
from ...lang.primitives import Role, rows
from .documents import Document
from .hover import described, glyph_at, member_entry
from .places import Position


@dataclass(frozen=True, slots=True)
class Call:
    """One way to apply a function: the signature, its parameters as ranges of it, and one line about it."""

    label: str
    parameters: tuple[tuple[int, int], ...]
    doc: str = ""


def calls(document: Document, position: Position) -> list[Call]:
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
    found = [use for row in rows(glyph[0]) if row.role is Role.FUNCTION for use in uses(row)]
    return [Call(form, _sides(form), f"{use.name}: {use.doc}") for form, use in found]


def _signature(line: str, doc: str = "") -> Call:
    types = line.partition(" where ")[0]
    at = line.find(" : ") + 3
    found = []
    if at >= 3 and " → " in types:
        for part in types[at:].split(" → ")[:-1]:
            found.append((at, at + len(part)))
            at += len(part) + 3
    return Call(line, tuple(found), doc)


def _sides(form: str) -> tuple[tuple[int, int], ...]:
    """The arguments A and B of `A ⍴ B`."""
    return tuple([(at, at + 1) for at, letter in enumerate(form) if letter in "AB"])
