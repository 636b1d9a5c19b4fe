"""The standard library as text: where its modules are, and what is documented in them.

A definition's documentation is the comment lines right above it; `⍝ >>>` lines there are examples.
Reads files only; nothing is parsed or run, so `rho doc` and `rho search` stay quick.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from ...lang.limits import MAXIMUM_CHARACTERS
from ...lang.opening import read_text
from ...lang.records import dataclass

STDLIB = Path(__file__).resolve().parents[2] / "stdlib"

_DEFINITION = re.compile(r"^([^\W\d]\w*)\s*(?:←|:)")


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """One documented name: `stats.mean`, its doc lines, its examples (expression, value) and its source line."""

    name: str
    doc: str
    examples: tuple[tuple[str, str], ...]
    source: str


def modules() -> list[str]:
    """Names `use` finds in the standard library."""
    return sorted(entry.name.removesuffix(".rho") for entry in os.scandir(STDLIB) if entry.name.endswith(".rho"))


def module_path(name: str) -> Path:
    return STDLIB / f"{name}.rho"


def entries() -> Iterator[LibraryEntry]:
    """Every documented name of the library."""
    for module in modules():
        yield from entries_of(module, read_text(module_path(module), 4 * MAXIMUM_CHARACTERS))


def entries_of(module: str, text: str) -> Iterator[LibraryEntry]:
    comments: list[str] = []
    seen: set[str] = set()
    for line in text.splitlines():
        if line.startswith("⍝"):
            comments.append(line[1:].strip())
            continue
        found = _DEFINITION.match(line)
        if found and found[1] not in seen:
            seen.add(found[1])
            doc, examples = split_examples(comments)
            yield LibraryEntry(f"{module}.{found[1]}", doc, examples, line)
        if found is None or ":" not in found[0]:
            comments = []


def split_examples(comments: list[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Prose, and `>>> expression` lines with the value lines that follow them."""
    prose: list[str] = []
    examples: list[tuple[str, list[str]]] = []
    for line in comments:
        if line.startswith(">>>"):
            examples.append((line[3:].strip(), []))
        elif examples and line:
            examples[-1][1].append(line)
        elif line:
            prose.append(line)
    return " ".join(prose), tuple((expression, "\n".join(value)) for expression, value in examples)
