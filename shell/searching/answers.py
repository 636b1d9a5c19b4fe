"""What a search says: the lines of `rho search` and `)search`, and the object of `--json`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...lang.primitives import meant
from ..cli.arguments import UsageError
from . import by_type, types, words
from .catalogue import Entry, Origin, shipped

MOST: Final = 20


@dataclass(frozen=True, slots=True)
class Hit:
    """One result: what to type, what it is, the type that fits, and what has to be done for that."""

    name: str
    title: str
    summary: str
    type: str
    how: str
    origin: Origin

    def lines(self) -> list[str]:
        head = f"{self.name}  {self.title}" if self.title else self.name
        colon = "  :" if self.title else " :"
        return [
            f"{head}{colon} {self.type}" if self.type else head,
            *([f"    {self.summary}"] if self.summary else []),
            *([f"    fits {self.how}"] if self.how else []),
        ]

    def json(self) -> dict[str, Any]:
        found = {"name": f"{self.name}  {self.title}" if self.title else self.name, "summary": self.summary}
        return {**found, "type": self.type or None, "how": self.how or None, "from": self.origin.name.lower()}


@dataclass(frozen=True, slots=True)
class Answer:
    """`asked` is the text; `notes` say what else could be tried where nothing, or only little, was found."""

    asked: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        return [line for hit in self.hits for line in hit.lines()]


def search(given: Sequence[str], own: Sequence[Entry] = ()) -> Answer:
    """Look for words, or for a type if there is an arrow in them.  UsageError where the type cannot be read."""
    text = " ".join(given)
    entries = (*own, *shipped())
    if types.is_type(text):
        return _by_type(text, entries)
    found = words.search(given, entries)
    hits = [_hit(one.entry, _only_type(one.entry), "") for one in found]
    notes = _more(len(hits))
    if not hits:
        guess = meant(words.nearest_word(text.split(), entries))
        notes = (f"nothing is described by `{text}`{guess}", "  try other or fewer words, or a type: rho search 'f64[n] → f64'")
    elif "[" in text and "]" in text:
        notes = (*notes, f"for functions of this type write an arrow: rho search '{text} → _'")
    return Answer(text, tuple(hits[:MOST]), notes)


def _by_type(text: str, entries: tuple[Entry, ...]) -> Answer:
    try:
        asked = types.read(text)
    except types.NoType as error:
        raise UsageError(error.message, error.hint) from None
    found = by_type.search(asked, entries)
    hits = [_hit(fit.entry, fit.type, fit.how) for fit in found]
    if hits:
        return Answer(text, tuple(hits[:MOST]), _more(len(hits)))
    near = tuple([f"  {line}" for line in by_type.wider(asked, text.replace("->", "→"), entries)])
    return Answer(text, (), (f"nothing has the type `{text}`", *(near or ("  `_` stands for any size, element or type",))))


def _hit(entry: Entry, type: str, how: str) -> Hit:
    return Hit(entry.name, entry.title, entry.summary, type, how, entry.origin)


def _only_type(entry: Entry) -> str:
    """What a search by words shows of types: those of library functions and of definitions."""
    return entry.types[0] if entry.types and entry.origin <= Origin.LIBRARY else ""


def _more(count: int) -> tuple[str, ...]:
    return (f"{count - MOST} more; a closer description finds fewer",) if count > MOST else ()
