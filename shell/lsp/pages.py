"""What hover and completion say about a glyph, a library name or a name of the program, in Markdown.

Neighbours: `lang.explain` and `shell.display.documentation` (the same for terminals).
"""

from __future__ import annotations

from ...lang import primitives
from ...lang.explain import facts, spellings, uses
from ...lang.primitives import Primitive
from ..display.library import LibraryEntry


def code(*lines: str) -> str:
    """A block of program text."""
    return "\n".join(["```rho", *lines, "```"])


def primitive_page(row: Primitive) -> str:
    """What a row of the table says, its first examples included."""
    parts = [f"**{row.glyph}**  {row.title}  ({row.role.value})"]
    typed = spellings(row)
    if typed:
        parts[0] += "  · type it: " + ", ".join(f"`` {spelling} ``" for spelling in typed)
    if row.doc:
        parts.append(row.doc)
    for form, use in uses(row):
        lines = [f"`` {form} ``  **{use.name}**: {use.doc}", *[f"- {_inline(fact)}" for fact in facts(use)]]
        parts.append("\n".join(lines))
        parts += [_example(*example) for example in use.examples[:2]]
    parts += [_example(*example) for example in row.examples[:2]]
    if row.later:
        parts.append("This version of Rho cannot run it yet (E620).")
    return "\n\n".join(parts)


def _inline(fact: str) -> str:
    name, colon, text = fact.partition(": ")
    return f"{name}: `` {text} ``" if colon and name == "type" else fact


def _example(expression: str, value: str) -> str:
    return code(f"      {expression}", *value.split("\n"))


def glyph_page(glyph: str) -> str | None:
    """The page of a glyph, a system name, a conversion or a keyword; of both rows if it is a function and an operator."""
    rows = primitives.rows(glyph)
    return "\n\n---\n\n".join(primitive_page(row) for row in rows) if rows else None


def library_page(entry: LibraryEntry) -> str:
    """The page of a documented definition."""
    parts = [code(entry.source)]
    if entry.doc:
        parts.append(entry.doc)
    parts += [_example(*example) for example in entry.examples]
    return "\n\n".join(parts)
