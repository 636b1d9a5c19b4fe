"""Typing glyphs: a prefix and a name or key becomes a glyph as soon as no longer name can be meant.

`` `rho `` and a blank gives `⍴` (the blank is used up), `` `rho( `` gives `⍴(`, and `` `ix `` begins no name, so it is `⍳x`.
Twice the prefix is `⋄` for the backtick and the prefix itself for another one.
Nothing is replaced in comments and texts.

Neighbours: `lang.spelling` (what spellings mean in a file), `terminal` (who types).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...lang.lexer import in_prose
from ...lang.primitives import PRIMITIVES, Primitive, by_key, by_name, glyph_of
from ..searching.completing import pending

_NAMES = tuple(sorted({name for row in PRIMITIVES for name in row.names}))


@dataclass(frozen=True, slots=True)
class Replacement:
    """The last `length` characters become `text`."""

    length: int
    text: str


def replacement(before: str, prefix: str, after: int = 0) -> Replacement | None:
    """What the text before the cursor turns into after its last character was typed."""
    if not before or ("`" not in before and prefix not in before):
        return None
    letters = pending(before, prefix, after)
    if letters:
        return _letters(letters)
    typed = before[-1]
    minus = re.search(rf"[`{re.escape(prefix)}]-(.)$", before, re.DOTALL)
    if minus is not None and minus.start() >= after and not in_prose(before, minus.start()):
        return Replacement(3, ("¯" if typed.isdigit() else "×") + (typed if typed != " " else ""))
    found = re.search(rf"([`{re.escape(prefix)}])([A-Za-z]*)$", before[:-1])
    if found is None or found.start() < after or typed.isalpha() or in_prose(before, found.start()):
        return None
    mark, word = found.group(1), found.group(2)
    if word:
        glyph = glyph_of(word)
        rest = "" if typed == " " else typed
        return None if glyph is None else Replacement(len(word) + 2, glyph + rest)
    if typed == mark and mark != "`":
        return Replacement(2, mark)
    if typed.isspace() or typed == "-":
        return None  # `-5 is ¯5
    row = by_key(typed)
    if row is None and typed.isdigit():
        return None
    return None if row is None else Replacement(2, row.glyph)


def _letters(letters: str) -> Replacement | None:
    """Letters after a prefix that no name begins with: the longest name or key that they begin with, then the rest."""
    longer = [name for name in _NAMES if name.startswith(letters) and name != letters]
    if longer:
        return None
    if by_name(letters) is not None:
        return None
    for length in range(len(letters) - 1, 0, -1):
        glyph = glyph_of(letters[:length])
        if glyph is not None:
            rest = letters[length:]
            return Replacement(len(letters) + 1, glyph + (" " if glyph[-1].isalnum() else "") + rest)
    return None


def finished(text: str, prefix: str) -> str:
    """A whole entry with the spellings that are left in it; a prefix of the user's own becomes the backtick."""
    if prefix == "`" or prefix not in text:
        return text
    lines = []
    for line in text.split("\n"):
        places = [m.start() for m in re.finditer(re.escape(prefix) + r"(?=[A-Za-z])", line) if not in_prose(line, m.start())]
        lines.append("".join("`" if at in places else character for at, character in enumerate(line)))
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------ language bar


def candidates(letters: str) -> list[Primitive]:
    """The rows that letters after the prefix may come to mean: all for none."""
    rows = [row for row in PRIMITIVES if row.names or row.key]
    if not letters:
        return [row for row in rows if row.key]
    return [row for row in rows if row.key == letters or any(name.startswith(letters) for name in row.names)]


def bar(letters: str, width: int, most: int = 8) -> list[str]:
    """The language bar: keys and glyphs, with names once letters have been typed, and one line of help when few are left."""
    rows = candidates(letters)
    if not rows:
        return [f"`{letters} begins no name"]
    if not letters:
        return _columns([f"{row.key} {row.glyph}" for row in rows], width, most)
    lines = _columns([f"{row.glyph} {_spelling(row, letters)}" for row in rows], width, most - 1)
    exact = [row for row in rows if row.key == letters or letters in row.names]
    chosen = exact or rows[:1]
    return [*lines, _help(chosen[0], width)]


def _spelling(row: Primitive, letters: str) -> str:
    name = next((name for name in row.names if name.startswith(letters)), row.names[0] if row.names else "")
    return name + (f" ({row.key})" if row.key else "")


def _help(row: Primitive, width: int) -> str:
    docs = [use.doc for use in (row.monadic, row.dyadic) if use is not None] or [row.doc]
    line = f"{row.glyph}  {row.title}: {' '.join(docs[0].split())}"
    return line if len(line) <= width else line[: width - 1] + "…"


def _columns(cells: list[str], width: int, most: int) -> list[str]:
    """Cells in rows of equal columns, cut after `most` rows."""
    wide = max(len(cell) for cell in cells) + 2
    across = max(1, width // wide)
    lines = ["".join(cell.ljust(wide) for cell in cells[at : at + across]).rstrip() for at in range(0, len(cells), across)]
    return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1] + " …"]
