"""Programs of words as text, for people (`RHO_DUMP`).

    Inside phase=Loop 7
      words
        Run phase=Structured 5 overwrite=3
        Free values=(4, 5)

Neighbours: `program` (the words), `kernels.dumping` (where the text goes).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from ...graph import traverse
from ...graph.phases import Phase
from .program import Word


def show(words: Sequence[Word]) -> str:
    """One line a word; words inside words are indented."""
    return "\n".join(line for word in words for line in _lines(word, "")) + "\n"


def _lines(word: Any, indent: str) -> Iterator[str]:
    facts: list[str] = []
    inner: list[tuple[str, tuple[Any, ...]]] = []
    for field in fields(word):
        value = getattr(word, field.name)
        if field.name in ("words", "arms"):
            inner.append((field.name, value))
        elif value is not None and value is not False and value != ():
            facts.append(f"{field.name}={_short(value)}")
    yield " ".join([f"{indent}{type(word).__name__}", *facts])
    for name, words in inner:
        yield f"{indent}  {name}"
        for each in words:
            yield from _lines(each, indent + "    ")


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    if isinstance(value, Phase):
        results = ", ".join(map(str, traverse.results(value)))
        return f"{type(value).__name__} {value.id}" + (f" → {results}" if results else "")
    return str(value)
