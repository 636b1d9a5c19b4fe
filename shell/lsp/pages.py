"""What hover and completion say about a glyph, a library name or a name of the program, in Markdown.

Neighbour: `lang.explain` (the same for terminals and pages).
"""

from __future__ import annotations

from ...lang import primitives
from ...lang.explain import primitive_markdown
from ...lang.primitives import Primitive
from ..display.library import LibraryEntry


def code(*lines: str) -> str:
    """A block of program text."""
    return "\n".join(["```rho", *lines, "```"])


def primitive_page(row: Primitive) -> str:
    """What a row of the table says, its first examples included."""
    lines = [f"**{row.glyph}**  {row.title}", "", *primitive_markdown(row, most_examples=2)]
    return "\n".join([*lines, *(["This version of Rho cannot run it yet (E620)."] if row.later else [])]).rstrip()


def glyph_page(glyph: str) -> str | None:
    """The page of a glyph, a system name, a conversion or a keyword; of both rows if it is a function and an operator."""
    rows = primitives.rows(glyph)
    return "\n\n---\n\n".join(primitive_page(row) for row in rows) if rows else None


def library_page(entry: LibraryEntry) -> str:
    """The page of a documented definition."""
    return "\n\n".join([code(entry.source), *documented(entry)])


def documented(entry: LibraryEntry) -> list[str]:
    """What is said of a definition, and its examples."""
    examples = [code(f"      {expression}", *value.split("\n")) for expression, value in entry.examples]
    return [*([entry.doc] if entry.doc else []), *examples]
