"""What Tab offers: what could be typed in the session, commands, files.

Neighbours: `terminal` (shows it), `commands` (their names), `shell.searching.completing` (the engine).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...lang.definitions import SymbolKind
from ...lang.lexer import in_prose
from ..display.library import LibraryEntry
from ..searching.completing import Candidate, Named, candidates, entries

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace

_FILE = re.compile(r"^\s*\)(?:load|save)\s+(.*)$|[\"']([^\"']*)$")
_COMMAND = re.compile(r"^\s*(\)\w*)$")
_STARTS = re.compile(r"(?:^|⋄)\s*\w*$")
MOST = 200


@dataclass(frozen=True, slots=True)
class Offer:
    """`text` replaces the last `length` characters; `label` and `about` are shown."""

    text: str
    length: int
    label: str
    about: str


class _InSession:
    """The names of a session."""

    brings_in = False

    def __init__(self, line: str, workspace: Workspace) -> None:
        self._types, self._kinds = workspace.state.types, workspace.state.kinds
        self.starts = _STARTS.search(line) is not None
        self.declares = ":" in line and not self.starts

    def names(self) -> Iterable[Named]:
        return [(name, self._kinds[name], type_) for name, type_ in self._types.items()]

    def sizes(self) -> Iterable[Named]:
        return ()

    def members(self, module: str) -> Iterable[tuple[Named, LibraryEntry | None]] | None:
        if self._kinds.get(module) is not SymbolKind.MODULE:
            return None
        found = [entry for entry in entries() if entry.name.startswith(f"{module}.")]
        return [((entry.name.partition(".")[2], SymbolKind.FUNCTION, entry.doc), entry) for entry in found]


def offers(before: str, workspace: Workspace, prefix: str, commands: tuple[tuple[str, str], ...]) -> list[Offer]:
    """For the text before the cursor (its last line counts, except for what is in scope)."""
    line = before.rpartition("\n")[2]
    command = _COMMAND.match(line)
    if command is not None:
        typed = command.group(1)
        return [Offer(name, len(typed), name, about) for name, about in commands if name.startswith(typed)]
    file = _FILE.search(line)
    if file is not None and (line.lstrip().startswith(")") or in_prose(line, len(line))):
        return list(_files(file.group(1) if file.group(1) is not None else file.group(2)))
    return [_offer(one) for one in candidates(line, _InSession(line, workspace), prefix) if _fits(one, line)][:MOST]


def _fits(one: Candidate, line: str) -> bool:
    """Does what is typed of a word begin it?  Where nothing is typed of a name, nothing is offered."""
    typed = line[len(line) - one.length + one.spelt :] if one.length else ""
    return one.name.startswith(typed) and (bool(typed) or one.spelt or line.endswith(".") or line.lstrip().startswith("use"))


def _offer(one: Candidate) -> Offer:
    label = f"{one.text} {one.name}" if one.row is not None and one.text != one.name else one.text
    return Offer(one.text, one.length, label, one.about)


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
