"""What Tab offers: names of the session, glyphs by their names, members of modules, library names, commands, files.

Neighbours: `terminal` (shows it), `commands` (their names), `shell.display.library`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...lang.lexer import NAME
from ...lang.primitives import ELEMENT_NAMES, PRIMITIVES, RESERVED_WORDS, by_key
from ..display import library
from .glyphs import in_prose, pending

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

_WORD = re.compile(rf"(?:{NAME})$")
_MEMBER = re.compile(rf"({NAME})\.((?:{NAME})?)$")
_SYSTEM = re.compile(r"⎕[A-Za-z0-9]*$")
_FILE = re.compile(r"^\s*\)(?:load|save)\s+(.*)$|[\"']([^\"']*)$")
_USE = re.compile(r"^\s*use\s+(\w*)$")
_COMMAND = re.compile(r"^\s*(\)\w*)$")
MOST = 200


@dataclass(frozen=True, slots=True)
class Offer:
    """`text` replaces the last `length` characters; `label` and `about` are shown."""

    text: str
    length: int
    label: str
    about: str


def offers(before: str, workspace: Workspace, prefix: str, commands: tuple[tuple[str, str], ...]) -> list[Offer]:
    """For the text before the cursor (its last line counts, except for what is in scope)."""
    line = before.rpartition("\n")[2]
    command = _COMMAND.match(line)
    if command is not None:
        typed = command.group(1)
        return [Offer(name, len(typed), name, about) for name, about in commands if name.startswith(typed)]
    file = _FILE.search(line)
    if file is not None and (line.lstrip().startswith(")") or in_prose(line + "x", len(line))):
        return list(_files(file.group(1) if file.group(1) is not None else file.group(2)))
    if in_prose(line + "x", len(line)):
        return []
    return list(_words(line, workspace, prefix))[:MOST]


def _words(line: str, workspace: Workspace, prefix: str) -> Iterator[Offer]:
    letters = pending(line, prefix)
    if letters is not None:
        keyed = by_key(letters) if len(letters) == 1 else None
        if keyed is not None:
            yield Offer(keyed.glyph, 2, f"{keyed.glyph} {letters}", keyed.title)
        for row in PRIMITIVES:
            for name in row.names:
                if name.startswith(letters):
                    yield Offer(row.glyph, len(letters) + 1, f"{row.glyph} {name}", row.title)
        return
    system = _SYSTEM.search(line)
    if system is not None:
        for row in PRIMITIVES:
            if row.glyph.startswith(system.group()):
                yield Offer(row.glyph, len(system.group()), row.glyph, row.title)
        return
    use = _USE.match(line)
    if use is not None:
        yield from (Offer(name, len(use[1]), name, "standard library") for name in library.modules() if name.startswith(use[1]))
        return
    member = _MEMBER.search(line)
    types = workspace.state.types
    if member is not None and types.get(member[1]) == "module":
        for entry in library.entries():
            module, _, name = entry.name.partition(".")
            if module == member[1] and name.startswith(member[2]):
                yield Offer(name, len(member[2]), entry.name, entry.doc)
        return
    word = _WORD.search(line)
    if word is not None:
        yield from _named(word.group(), types)


def _named(typed: str, types: dict[str, str]) -> Iterator[Offer]:
    length = len(typed)
    for name, type in types.items():
        if name.startswith(typed):
            yield Offer(name, length, name, type)
    for row in PRIMITIVES:
        for name in row.names:
            if name.startswith(typed) and length > 1:
                yield Offer(row.glyph, length, f"{row.glyph} {name}", row.title)
    for name in sorted((RESERVED_WORDS - {"where"}) | ELEMENT_NAMES):
        if name.startswith(typed):
            yield Offer(name, length, name, "")
    if length > 1:
        for entry in library.entries():
            module, _, name = entry.name.partition(".")
            if module in types and name.startswith(typed):
                yield Offer(entry.name, length, entry.name, entry.doc)


def _files(typed: str) -> Iterator[Offer]:
    folder, _, start = typed.rpartition("/")
    where = os.path.expanduser(folder) if folder else ("/" if typed.startswith("/") else ".")
    try:
        names = sorted(os.listdir(where))
    except OSError:
        return
    for name in names:
        if name.startswith(start) and (start.startswith(".") or not name.startswith(".")):
            shown = name + "/" if os.path.isdir(os.path.join(where, name)) else name
            yield Offer(shown, len(start), shown, "")
