"""Splits a text into statements in one pass before any grammar runs; writes statements in canonical layout.

The pass distinguishes only comments, texts and brackets, so it is cheap and a malformed statement cannot hide the next one.  It
reports brackets that do not match, texts that do not end, and nesting that is too deep.  After an unclosed bracket it resumes at
the next line that starts at the margin.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from ..diagnostics.model import Code, Diagnostic, Edit, Fix, Label
from ..primitives.table import by_glyph
from ..support.records import dataclass
from .glyph_input import GlyphText
from .source import COMMENT, LITERAL_OPERAND_OPERATORS, MAXIMUM_NESTING, TEXT, UNENDED, TokenKind, lexemes

# ---------------------------------------------------------------------------------------------------- splitting

_INTERESTING = re.compile(rf"{COMMENT}|{TEXT}|(?P<unended>{UNENDED})|[()\[\]{{}}\n⋄]")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
MARGIN = re.compile("\n(?=[^ \t\r\n)\\]}⍝])")


@dataclass(slots=True, eq=False)
class RawStatement:
    """The text of one statement, without blanks at its ends, and its offset in the text in glyphs.

    `error` says why it cannot be read; `is_open`: a bracket is not closed.  A statement that an edit leaves alone stays the same
    object, with another `start` (`split_edited`)."""

    start: int
    text: str
    error: Diagnostic | None = None
    is_open: bool = False


def split_statements(glyphs: GlyphText) -> list[RawStatement]:
    """The statements of a text in order, without empty ones."""
    return list(_statements(glyphs, 0))


def split_edited(glyphs: GlyphText, previous: Sequence[RawStatement], previous_text: str) -> list[RawStatement]:
    """The statements of an edited text; those that the edit left alone are the `previous` objects, moved.

    Only the text from the first to the last statement that differs from `previous_text` is split again."""
    text = glyphs.text
    common_prefix = _common_prefix(previous_text, text)
    first = 0
    while first + 1 < len(previous) and previous[first + 1].start < common_prefix and not previous[first].is_open:
        first += 1
    shift = len(text) - len(previous_text)
    most = min(len(text), len(previous_text)) - common_prefix
    suffix = len(previous_text) - min(_common_prefix(previous_text[::-1], text[::-1]), most)
    unchanged = {raw.start + shift: index for index, raw in enumerate(previous) if index >= first and raw.start >= suffix}
    last_with_error = max((index for index, raw in enumerate(previous) if raw.error is not None), default=-1)
    fresh: list[RawStatement] = []
    next_unchanged = len(previous)
    for raw in _statements(glyphs, previous[first].start if first else 0):
        index = unchanged.get(raw.start, last_with_error)
        if index > last_with_error:
            next_unchanged = index
            break
        fresh.append(raw)
    for known in previous[next_unchanged:]:
        known.start += shift
    removed: dict[str, list[RawStatement]] = {}
    for raw in reversed(previous[first:next_unchanged]):
        removed.setdefault(raw.text, []).append(raw)
    return [*previous[:first], *[_reused(raw, removed.get(raw.text)) for raw in fresh], *previous[next_unchanged:]]


def _reused(raw: RawStatement, removed: list[RawStatement] | None) -> RawStatement:
    """A removed statement of the same text, moved here, if there is one; else the new one."""
    if not removed or raw.error is not None or removed[-1].error is not None:
        return raw
    known = removed.pop()
    known.start = raw.start
    return known


def _common_prefix(one: str, other: str) -> int:
    """The length of the longest common prefix of two texts, by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _statements(glyphs: GlyphText, start: int) -> Iterator[RawStatement]:
    """The statements from an offset that is between two statements."""
    text = glyphs.text
    opened: list[int] = []
    error: Diagnostic | None = None
    at = start

    def finished(end: int, is_open: bool = False) -> Iterator[RawStatement]:
        nonlocal error
        stripped = text[start:end].strip(" \t\r\n\f\u00a0\ufeff")
        if stripped or error is not None:
            yield RawStatement(text.index(stripped, start) if stripped else start, stripped, error, is_open)
        error = None

    while True:
        match = _INTERESTING.search(text, at)
        if match is None:
            if not opened:
                yield from finished(len(text))
                return
            margin = MARGIN.search(text, opened[0])
            end = len(text) if margin is None else margin.start()
            error = error or _unclosed(glyphs, max(offset for offset in opened if offset < end))
            opened.clear()
            yield from finished(end, is_open=True)
            start = at = end
            continue
        at = match.end()
        mark = text[match.start()]
        if mark in "⋄\n":
            if not opened:
                yield from finished(match.start())
                start = at
        elif mark in _CLOSERS:
            opened.append(match.start())
            if len(opened) == MAXIMUM_NESTING + 1 and error is None:
                error = _too_deep(glyphs, match.start())
        elif mark in ")]}":
            if not opened:
                error = error or _unopened(glyphs, match.start())
                continue
            opener = opened.pop()
            if _CLOSERS[text[opener]] != mark:
                error = error or _mismatched(glyphs, opener, match.start())
        elif mark == "⍝":
            if not opened:
                yield from finished(match.start())
                start = at
        elif match.group("unended"):
            error = error or _unterminated(glyphs, match.start(), match.end())


def _unclosed(glyphs: GlyphText, opener: int) -> Diagnostic:
    mark = glyphs.text[opener]
    return Diagnostic(Code.E003, f"this `{mark}` is never closed with `{_CLOSERS[mark]}`", glyphs.span(opener, opener + 1))


def _unopened(glyphs: GlyphText, closer: int) -> Diagnostic:
    mark = glyphs.text[closer]
    span = glyphs.span(closer, closer + 1)
    return Diagnostic(Code.E003, f"this `{mark}` closes nothing", span, fixes=(Fix(f"remove `{mark}`", (Edit(span, ""),)),))


def _mismatched(glyphs: GlyphText, opener: int, closer: int) -> Diagnostic:
    expected, mark = _CLOSERS[glyphs.text[opener]], glyphs.text[closer]
    span = glyphs.span(closer, closer + 1)
    return Diagnostic(
        Code.E003, f"`{expected}` should come before this `{mark}`", span,
        labels=(Label(glyphs.span(opener, opener + 1), f"this `{glyphs.text[opener]}` is still open"),),
        fixes=(Fix(f"write `{expected}` here", (Edit(span, expected),)),),
    )  # fmt: skip


def _too_deep(glyphs: GlyphText, opener: int) -> Diagnostic:
    return Diagnostic(
        Code.E016, f"brackets are nested more than {MAXIMUM_NESTING} deep", glyphs.span(opener, opener + 1),
        notes=("name the inner parts in separate statements",),
    )  # fmt: skip


def _unterminated(glyphs: GlyphText, start: int, end: int) -> Diagnostic:
    quote = glyphs.text[start]
    span = glyphs.span(start, end)
    return Diagnostic(
        Code.E004, f"this text has no closing {quote} on its line", span,
        fixes=(Fix(f"close it with {quote}", (Edit(glyphs.span(end, end), quote),)),),
    )  # fmt: skip


# ---------------------------------------------------------------------------------------------------- canonical layout
#
# Canonical spacing of one statement, token by token; line breaks and comments stay as they are.
#
# There is no blank between functions and their arguments, one between words, and one on each side of `← ⋄ :`.  Tokens that would
# be read as one are kept apart, so the result has the tokens of the text.

class Spelling(Enum):
    """The spelling of glyphs in the output."""

    GLYPHS = "glyphs"
    NAMES = "a backtick and the name"


@dataclass(slots=True)
class LogicalLine:
    """One line of output; `depth`, its indentation, counts the lines above it whose brackets are open."""

    depth: int
    code: str = ""
    comment: str | None = None


_SPACED = frozenset({TokenKind.GETS, TokenKind.COLON, TokenKind.ARROW, TokenKind.SEPARATOR})


class _Word(NamedTuple):
    """A token; `prints`: it is the arrow of `⎕←`, which takes no blanks."""

    kind: TokenKind
    text: str
    prints: bool = False


def canonical_lines(text: str, spelling: Spelling) -> list[LogicalLine]:
    """The lines of one statement in canonical layout; a text that cannot be read stays as it is."""
    words: list[_Word] = []
    for kind, start, end in lexemes(text):
        if kind in (TokenKind.UNREADABLE, TokenKind.UNENDED):
            return [LogicalLine(0, line) for line in text.split("\n")]
        if kind is not TokenKind.BLANK:
            prints = kind is TokenKind.GETS and bool(words) and words[-1].text == "⎕"
            words.append(_Word(kind, text[start:end], prints))
    stacking = _array_notation(words)
    lines = [LogicalLine(0)]
    opened: list[int] = []  # for each open bracket, the line it was opened on
    previous: _Word | None = None
    operand = False  # whether `previous` is a literal or a name after `⍤ ⍣ @ ⌺`
    spaced = False  # whether a blank must follow `previous`
    for index, lexeme in enumerate(words):
        kind, word, _ = lexeme
        line = lines[-1]
        if kind is TokenKind.COMMENT:
            line.comment = word
            continue
        if word == "\n":
            lines.append(LogicalLine(len(set(opened))))
            previous, operand, spaced = None, False, False
            continue
        if kind is TokenKind.CLOSE:
            opened.pop()
            if not line.code:
                line.depth = len(set(opened))
        if previous is not None and (spaced or _needs_blank(previous, lexeme, index in stacking)):
            blank = True
        else:
            blank = previous is not None and operand and kind is TokenKind.GLYPH and _is_tack(word)
        after_operator = previous is not None and previous.text in LITERAL_OPERAND_OPERATORS
        now_operand = after_operator and kind in (TokenKind.NUMBERS, TokenKind.NAME)
        spaced = blank and operand and kind is TokenKind.GLYPH and _is_tack(word)
        operand = now_operand
        written = token_text(kind, word, spelling)
        if not blank and spelling is Spelling.NAMES and _would_join(line.code, written):
            blank = True
        line.code += (" " if blank else "") + written
        previous = lexeme
        if kind is TokenKind.OPEN:
            opened.append(len(lines) - 1)
    return lines


def _needs_blank(previous: _Word, after: _Word, stacks: bool) -> bool:
    """Does canonical layout have a blank between two tokens?  `stacks`: the second one opens array notation."""
    kind, word, prints = after
    last_kind, last_word, printed = previous
    if prints or printed:
        return False
    if kind is TokenKind.GETS:
        return last_kind is not TokenKind.GLYPH
    if kind in _SPACED or last_kind in _SPACED:
        return True
    if last_kind is TokenKind.GLYPH or kind is TokenKind.GLYPH:
        return (
            (last_word + word in ("∘.", "⍣\\"))
            or (last_word.endswith(".") and kind is TokenKind.NUMBERS)
            or (last_kind is TokenKind.NUMBERS and word == ".")
        )
    if kind in (TokenKind.CLOSE, TokenKind.SEMICOLON) or last_kind in (TokenKind.OPEN, TokenKind.SEMICOLON):
        return False
    return word != "[" or stacks


def _is_tack(glyph: str) -> bool:
    return glyph in "⊢⊣"


def _array_notation(words: list[_Word]) -> frozenset[int]:
    """The indices of the opening brackets of array notation."""
    openers: set[int] = set()
    opened: list[int] = []
    for index, (kind, word, _) in enumerate(words):
        if kind is TokenKind.OPEN:
            opened.append(index)
        elif kind is TokenKind.CLOSE:
            opener = opened.pop()
            if word == "]" and opener == index - 1:
                openers.add(opener)
        elif kind is TokenKind.SEPARATOR and opened and words[opened[-1]].text == "[":
            openers.add(opened[-1])
    return frozenset(openers)


# -------------------------------------------------------------------------------------- spelling


def token_text(kind: TokenKind, word: str, spelling: Spelling) -> str:
    """The canonical text of a token; the numbers of a strand are one blank apart."""
    if kind is TokenKind.NUMBERS:
        word = " ".join(word.split())
    if spelling is Spelling.GLYPHS or kind is TokenKind.TEXT or word.isascii():
        return word
    row = by_glyph(word)
    if row is not None:
        return row.ascii
    spelt = ascii_of(word)
    return spelt.replace("infinity J", "infinityJ").replace("infinity j", "infinityj") if kind is TokenKind.NUMBERS else spelt


_OUTSIDE_TEXT = re.compile(rf"{TEXT}|[^\x00-\x7f]")


def ascii_of(text: str) -> str:
    """The text with each glyph outside texts spelt by its backtick name, and a blank where a letter follows."""
    pieces: list[str] = []
    at = 0
    for match in _OUTSIDE_TEXT.finditer(text):
        pieces.append(text[at : match.start()])
        at = match.end()
        glyph = match.group()
        row = by_glyph(glyph) if len(glyph) == 1 else None
        pieces.append(glyph if row is None else row.ascii)
        joined = row is not None and row.ascii.startswith("`") and text[at : at + 1].isalpha() and glyph not in "∆⎕"
        if joined and text[at : at + 1].isascii():
            pieces.append(" ")
    pieces.append(text[at:])
    return "".join(pieces)


def ascii_comment(comment: str) -> str:
    row = by_glyph("⍝")
    assert row is not None
    return row.ascii + comment[1:]


_SPELT_AT_END = re.compile(r"`[A-Za-z]+\Z")


def _would_join(code: str, written: str) -> bool:
    """Whether a backtick name at the end of the line would run into the next word."""
    return written[:1].isascii() and written[:1].isalpha() and _SPELT_AT_END.search(code) is not None
