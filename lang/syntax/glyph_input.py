"""Converts ASCII input to canonical glyphs and maps offsets back to the typed text.

Backtick spellings (`` `iota ``, `` `i ``) and look-alikes (`−`, `⋆`) become the glyphs that they stand for before anything else
reads the text, except in texts and comments.  `GlyphText` has the original offset of every character, so that spans point into
the user's text.
"""

from __future__ import annotations

import re

from ..diagnostics.model import Code, Diagnostic, Edit, Fix
from ..primitives.operators import ALIASES
from ..primitives.table import by_key, by_name, suggest
from ..support.records import dataclass
from .source import COMMENT, TEXT, UNENDED, Source, Span

_INTERESTING = re.compile(rf"{COMMENT}|{TEXT}|{UNENDED}|`([A-Za-z]*)|[{''.join(ALIASES)}]")

_CLOSING_QUOTE = re.compile("'|`quote|`k|\n")


@dataclass(frozen=True, slots=True)
class GlyphText:
    """A text in canonical glyphs; `offsets[i]` is the offset in the source of character i (or of the end).

    `offsets` is None if every character has the offset that it has in the source."""

    file: str
    text: str
    offsets: tuple[int, ...] | None
    diagnostics: tuple[Diagnostic, ...]

    def line_of(self, offset: int) -> int:
        """The 0-based line of a character of `text`."""
        return self.text.count("\n", 0, offset)

    def span(self, start: int, end: int) -> Span:
        """The span in the source of a range of `text`."""
        if self.offsets is None:
            return Span(self.file, start, end)
        return Span(self.file, self.offsets[start], self.offsets[end])


def to_glyphs(source: Source) -> GlyphText:
    """The source in canonical glyphs; unknown backtick spellings become `⍬`, with a diagnostic.  A first line `#!…` is a
    comment."""
    text = source.text
    if text.startswith("#!"):
        source = Source(source.name, text := "⍝" + text[1:])
    if "`" in text:
        return _translate(source)
    if any(alias in text for alias in ALIASES):  # one character for another
        text = _INTERESTING.sub(lambda match: ALIASES.get(match.group(), match.group()), text)
    return GlyphText(source.name, text, None, ())


def _translate(source: Source) -> GlyphText:
    text = source.text
    pieces: list[str] = []
    offsets: list[int] = []
    diagnostics: list[Diagnostic] = []
    at = 0

    def keep(end: int) -> None:
        pieces.append(text[at:end])
        offsets.extend(range(at, end))

    while (match := _INTERESTING.search(text, at)) is not None:
        start, end = match.span()
        first = text[start]
        if first == "`":
            keep(start)
            glyph, end = _glyph_at(text, start, match.group(1))
            if glyph is None:
                diagnostics.append(_unknown(source, start, end))
                glyph = "⍬"
            if glyph == "⍝":
                end_of_line = text.find("\n", end)
                after = len(text) if end_of_line == -1 else end_of_line
                pieces.append("⍝" + text[end:after])
                offsets.append(start)
                offsets.extend(range(end, after))
                at = after
                continue
            if glyph == "'":
                at = _copy_text(text, end, start, pieces, offsets)
                continue
            if glyph[-1].isalnum() and text[end : end + 1].isalnum():
                glyph += " "
            pieces.append(glyph)
            offsets.extend([start] * len(glyph))
        elif first in ALIASES:
            keep(start)
            pieces.append(ALIASES[first])
            offsets.append(start)
        else:
            keep(end)
        at = end
    keep(len(text))
    offsets.append(len(text))
    return GlyphText(source.name, "".join(pieces), tuple(offsets), tuple(diagnostics))


def _glyph_at(text: str, start: int, letters: str) -> tuple[str | None, int]:
    """The glyph spelt at a backtick and the end of the spelling: the longest name that the letters start with, else one key.

    A letter is a key only if no letter follows: `` `foo `` is an unknown name, not the key `` `f `` and `oo`."""
    key_end = start + 2
    if text[start + 1 : key_end] == "-" and text[key_end : key_end + 1].isdigit():
        return "¯", key_end
    for length in range(len(letters), 0, -1):
        row = by_name(letters[:length])
        if row is not None:
            return row.glyph, start + 1 + length
    row = by_key(text[start + 1 : key_end])
    if row is not None and len(letters) <= 1:
        return row.glyph, key_end
    return None, start + 1 + max(1, len(letters))


def _copy_text(text: str, inside: int, start: int, pieces: list[str], offsets: list[int]) -> int:
    """Copy a text that a spelt quote opens up to its closing quote, which may be spelt too; return where it ends."""
    closing = _CLOSING_QUOTE.search(text, inside)
    content_end, end = closing.span() if closing is not None else (len(text), len(text))
    quote = "'" if closing is not None and closing.group() != "\n" else ""
    if closing is not None and not quote:
        end = content_end
    pieces.append("'" + text[inside:content_end] + quote)
    offsets.append(start)
    offsets.extend(range(inside, content_end))
    offsets.extend([content_end] * len(quote))
    return end


def _unknown(source: Source, start: int, end: int) -> Diagnostic:
    spelling = source.text[start:end].rstrip()
    span = Span(source.name, start, max(start + 1, min(end, len(source.text))))
    nearest = suggest(spelling)
    fixes = (Fix(f"write {nearest}", (Edit(span, nearest),)),) if nearest is not None else ()
    hint = f"; did you mean {nearest}?" if nearest is not None else ""
    key = by_key(spelling[1:2])  # `wx was meant as `w and x
    apart = f"{spelling[:2]} alone is {key.glyph}: write a blank between a key and letters" if key is not None else ""
    notes = (apart,) if apart and nearest is None else ()
    return Diagnostic(Code.E007, f"{spelling} spells no glyph{hint}", span, notes=notes, fixes=fixes)
