"""Library pages as text, primitives and library names as JSON objects, and search over both (`doc`, `search`).

The text pages of primitives and codes are `lang.explain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..lang.primitives import PRIMITIVES, Primitive, Use
from .library import LibraryEntry


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


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: what to type, and one line about it."""

    score: int
    name: str
    summary: str


def search(words: list[str]) -> list[Hit]:
    """Primitives and library names whose name, documentation or examples hold the words, best first."""
    wanted = [word.lower() for word in words]
    hits = [hit for hit in _candidates(wanted) if hit.score > 0]
    return sorted(hits, key=lambda hit: (-hit.score, hit.name))


def _candidates(words: list[str]) -> Iterator[Hit]:
    from . import library

    for row in PRIMITIVES:
        uses = [use for use in (row.monadic, row.dyadic) if use is not None]
        names = " ".join([*row.names, row.glyph, *(use.name for use in uses)]).lower()
        prose = " ".join([row.doc, *(use.doc for use in uses)]).lower()
        summary = "; ".join(use.doc for use in uses) or row.doc
        yield Hit(_score(words, names, prose), f"{row.glyph}  {row.title}", summary)
    for entry in library.entries():
        yield Hit(_score(words, entry.name.lower(), entry.doc.lower()), entry.name, entry.doc)


def _score(words: list[str], names: str, prose: str) -> int:
    """A whole word of the name counts 8, a part of it 4, a word of the prose 2, its beginning 1; each word found adds 10."""
    total = 0
    parts = names.replace(".", " ").split()
    prose_words = [word.strip(".,;:()`'") for word in prose.split()]
    for word in words:
        stem = word[:-1] if word.endswith("s") and len(word) > 3 else word
        score = 8 * (word in parts or stem in parts) or 4 * (stem in names)
        score += 2 * (word in prose_words or stem in prose_words) or int(any(part.startswith(stem) for part in prose_words))
        total += score + 10 * (score > 0)
    return total
