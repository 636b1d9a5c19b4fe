"""Library pages as text, primitives and library names as JSON objects (`doc`).

The text pages of primitives and codes are `lang.explain`; `searching` looks for both.
"""

from __future__ import annotations

from typing import Any

from ...lang.primitives import Primitive, Use
from .library import LibraryEntry, entries


def named(word: str) -> list[LibraryEntry]:
    """What the library has of that name: a module's name is that of all in it."""
    return [entry for entry in entries() if word in (entry.name, *entry.name.split("."))]


def entry_text(entry: LibraryEntry) -> str:
    """The page of one library name."""
    lines = [entry.name, *([f"   {entry.doc}"] if entry.doc else []), "", f"   {entry.source}"]
    for expression, value in entry.examples:
        lines += ["", f"       {expression}", *(f"   {row}" for row in value.splitlines())]
    return "\n".join(lines)


def primitive_json(row: Primitive) -> dict[str, Any]:
    return {
        "glyph": row.glyph,
        "names": list(row.names),
        "key": row.key,
        "role": row.role.value,
        "doc": row.doc,
        "later": row.later,
        "monadic": _use_json(row.monadic),
        "dyadic": _use_json(row.dyadic),
        "examples": _examples_json(row.examples),
    }


def _use_json(use: Use | None) -> dict[str, Any] | None:
    if use is None:
        return None
    return {
        "name": use.name, "doc": use.doc, "type": use.type, "identity": use.identity, "laws": list(use.laws),
        "traits": sorted(trait.name.lower() for trait in use.traits), "examples": _examples_json(use.examples),
    }  # fmt: skip


def _examples_json(examples: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"expression": expression, "value": value} for expression, value in examples]


def entry_json(entry: LibraryEntry) -> dict[str, Any]:
    return {"name": entry.name, "doc": entry.doc, "examples": _examples_json(entry.examples), "source": entry.source}
