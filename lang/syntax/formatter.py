"""The canonical formatter (`format_source`), and the classes of words for syntax highlighting.

Formatting keeps every token, comment and line break, and at most one blank line in a row; it indents bodies by two spaces a level
and aligns the comments at the ends of consecutive lines.  It is idempotent, and the bound tree stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ..bind.declarations import is_declaration, read_declaration
from ..bind.expressions import reject_stray_semicolons
from ..bind.functions import bind_braces
from ..bind.scopes import BindContext, BindError, Resolution, read_statement
from ..diagnostics.model import Code, Diagnostic, Rejected
from ..primitives.operators import RESERVED_WORDS
from .glyph_input import GlyphText, to_glyphs
from .reader import LogicalLine, RawStatement, Spelling, ascii_comment, ascii_of, canonical_lines, split_statements
from .source import (
    ARGUMENTS,
    DYADIC_OPERATORS,
    FUNCTIONS,
    MAXIMUM_CHARACTERS,
    MONADIC_OPERATORS,
    RESERVED,
    TEXT,
    Source,
    Span,
    TokenKind,
    ensure_recursion_headroom,
    lexemes,
)

# ---------------------------------------------------------------------------------------------------- formatter

_GAP = re.compile("⍝[^\n]*|[⋄\n]")


def format_source(source: Source, *, ascii: bool = False) -> str:
    """The text in canonical layout, ended by one newline; with `ascii`, glyphs are spelt by backtick names.

    Raises `Rejected` for a text that cannot be read."""
    ensure_recursion_headroom()
    if len(source.text) > MAXIMUM_CHARACTERS:
        raise Rejected(
            [Diagnostic(Code.E016, f"the source has more than {MAXIMUM_CHARACTERS} characters", Span(source.name, 0, 0))]
        )
    if source.text.startswith("#!"):  # the line of the system's shell is not formatted
        opening = source.text.partition("\n")[0]
        body = format_source(Source(source.name, " " * len(opening) + source.text[len(opening) :]), ascii=ascii)
        return opening + "\n" + body.lstrip("\n")
    glyphs = to_glyphs(source)
    raw_statements = split_statements(glyphs)
    _reject_unreadable(glyphs, raw_statements)
    spelling = Spelling.NAMES if ascii else Spelling.GLYPHS
    diamond = ascii_of("⋄") if ascii else "⋄"
    lines = [LogicalLine(0)]
    at = 0
    for raw in [*raw_statements, RawStatement(len(glyphs.text), "")]:
        _format_gap(lines, glyphs.text[at : raw.start], diamond)
        at = raw.start + len(raw.text)
        first, *rest = _format_statement(raw.text, spelling)
        last = lines[-1]
        last.code = f"{last.code} {first.code}".strip()
        last.comment = first.comment if first.code else last.comment
        lines.extend(rest)
    return _join_lines(lines, spelling)


def _reject_unreadable(glyphs: GlyphText, raw_statements: list[RawStatement]) -> None:
    diagnostics = list(glyphs.diagnostics)
    for raw in raw_statements:
        if raw.error is not None:
            diagnostics.append(raw.error)
            continue
        context = BindContext(glyphs, bind_braces, Resolution(), raw.start)
        try:
            if is_declaration(raw.text):
                read_declaration(context, raw.text)
            else:
                reject_stray_semicolons(context, read_statement(context, raw.text))
        except BindError as error:
            diagnostics.extend([error.diagnostic] if error.diagnostic is not None else [])
    if diagnostics:
        raise Rejected(diagnostics)


def _format_gap(lines: list[LogicalLine], gap: str, diamond: str) -> None:
    """Append the comments, line ends and separators between two statements."""
    for match in _GAP.finditer(gap):
        mark = match.group()
        if mark == "\n":
            lines.append(LogicalLine(0))
        elif mark == "⋄":
            lines[-1].code = f"{lines[-1].code} {diamond}" if lines[-1].code else diamond
        else:
            lines[-1].comment = mark


def _format_statement(text: str, spelling: Spelling) -> list[LogicalLine]:
    if not is_declaration(text):
        return canonical_lines(text, spelling)
    if text.startswith("schedule"):
        return _format_schedule(text, spelling)
    if "⍝" in text:
        return [LogicalLine(0, line.strip()) for line in text.split("\n")]
    head, arrow, value = _cut_at_arrow(text)
    code = _format_type(head, spelling)
    if not arrow:
        return [LogicalLine(0, code)]
    expression, where = _cut_at_where(value)
    first, *rest = canonical_lines(expression, spelling)
    first.code = f"{code} {_with_spelling('←', spelling)} {first.code}"
    (rest[-1] if rest else first).code += f" {_format_type(where, spelling)}" if where else ""
    return [first, *rest]


def _with_spelling(text: str, spelling: Spelling) -> str:
    return ascii_of(text) if spelling is Spelling.NAMES else text


_ARROW = re.compile(rf"{TEXT}|←")
_WHERE = re.compile(rf"{TEXT}|(?<![\w∆])where(?![\w∆])")


def _cut_at_arrow(text: str) -> tuple[str, str, str]:
    for match in _ARROW.finditer(text):
        if match.group() == "←":
            return text[: match.start()].strip(), "←", text[match.end() :].strip()
    return text.strip(), "", ""


def _cut_at_where(text: str) -> tuple[str, str]:
    for match in _WHERE.finditer(text):
        if match.group() == "where":
            return text[: match.start()].strip(), text[match.start() :]
    return text, ""


_BRACKETED = re.compile(r"\[[^\[\]]*\]|(?:(?<=idx)|(?<=int)|(?<=perm))<[^<>]*>")


def _format_type(text: str, spelling: Spelling) -> str:
    """Types, sizes and facts with single blanks, none inside sizes of shapes, and one on each side of `:` and `→`."""
    text = re.sub(r"\s+", " ", text.strip())
    text = re.sub(r" ?([:→⋄]) ?", r" \1 ", text)
    text = re.sub(r" ?([≤<≥>=≠]) ?", r" \1 ", text) if text.startswith("where") else text
    text = re.sub(r" ?, ?", ", ", text)
    text = _BRACKETED.sub(lambda match: re.sub(r"([-+×÷|⌈⌊≤\[<]) | (?=[\]>]$)", r"\1", match[0]), text)
    return _with_spelling(re.sub(r"([(]) | ([)])", r"\1\2", text), spelling)


_SCHEDULE_WORD = re.compile(r"⍝[^\n]*|[{}⋄\n]|[^\s{}⋄⍝]+")


def _format_schedule(text: str, spelling: Spelling) -> list[LogicalLine]:
    """A `schedule` block with its words one blank apart and its groups indented."""
    lines = [LogicalLine(0)]
    opened: list[int] = []
    for match in _SCHEDULE_WORD.finditer(text):
        word, line = match.group(), lines[-1]
        if word.startswith("⍝"):
            line.comment = word
        elif word == "\n":
            lines.append(LogicalLine(len(set(opened))))
        else:
            if word == "}":
                opened.pop()
                if not line.code:
                    line.depth = len(set(opened))
            elif word == "{":
                opened.append(len(lines) - 1)
            line.code += (" " if line.code else "") + _with_spelling(word, spelling)
    return lines


# ----------------------------------------------------------------------------------------- lines


def _join_lines(lines: list[LogicalLine], spelling: Spelling) -> str:
    """The lines as one text: indented, comments aligned, at most one blank line in a row and none at the ends."""
    rows = [("  " * line.depth + line.code if line.code else "", line) for line in lines]
    written: list[str] = []
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end][0] and rows[end][1].comment is not None:
            end += 1
        if end == at:
            code, line = rows[at]
            comment = "  " * line.depth + _comment(line.comment, spelling) if line.comment is not None else ""
            text = code or comment
            if text or (written and written[-1]):
                written.append(text)
            at += 1
            continue
        width = max(len(code) for code, _ in rows[at:end])
        for code, line in rows[at:end]:
            written.append(f"{code.ljust(width)}  {_comment(line.comment or '', spelling)}")
        at = end
    while written and not written[-1]:
        written.pop()
    return "".join(text + "\n" for text in written)


def _comment(comment: str, spelling: Spelling) -> str:
    comment = comment.rstrip()
    return ascii_comment(comment) if spelling is Spelling.NAMES else comment


# ---------------------------------------------------------------------------------------------------- highlighting
#
# The words of a text with their lexical classes, for the colours of editors, sessions and pages.  These may refine the class of a
# name by what it stands for.

class WordClass(Enum):
    """The class of a word for highlighting."""

    COMMENT = "comment"
    TEXT = "text"
    NUMBER = "number"
    NAME = "name"
    ARGUMENT = "argument"
    TYPE = "type"
    KEYWORD = "keyword"
    FUNCTION = "function"
    OPERATOR = "operator"
    LIBRARY = "library function"
    CONSTANT = "system constant"
    PUNCTUATION = "punctuation"
    BRACKET = "bracket"
    UNENDED = "text without its end"
    OTHER = ""


class FormattedWord(NamedTuple):
    """Characters `start` to `end` of the source, which spell `text`."""

    kind: WordClass
    start: int
    end: int
    text: str


_CLASSES = {
    TokenKind.COMMENT: WordClass.COMMENT, TokenKind.TEXT: WordClass.TEXT, TokenKind.UNENDED: WordClass.UNENDED,
    TokenKind.NUMBERS: WordClass.NUMBER, TokenKind.ZILDE: WordClass.NUMBER, TokenKind.GETS: WordClass.PUNCTUATION,
    TokenKind.SEPARATOR: WordClass.PUNCTUATION, TokenKind.COLON: WordClass.PUNCTUATION, TokenKind.ARROW: WordClass.PUNCTUATION,
    TokenKind.OPEN: WordClass.BRACKET, TokenKind.CLOSE: WordClass.BRACKET,
}  # fmt: skip
TYPES = frozenset(RESERVED - RESERVED_WORDS) | {"idx", "int", "perm"}


def words(source: Source, glyphs: GlyphText | None = None) -> Iterator[FormattedWord]:
    """The words of the source in order, without blanks; none spans a line end."""
    glyphs = glyphs or to_glyphs(source)
    at = 0
    for line in glyphs.text.split("\n"):
        for kind, first, last in lexemes(line.rstrip("\r")):
            if kind is not TokenKind.BLANK:
                span = glyphs.span(at + first, at + last)
                if span.start < span.end and "\r" not in source.text[span.start : span.end]:
                    yield FormattedWord(_class_of(kind, line[first:last]), span.start, span.end, line[first:last])
        at += len(line) + 1


def _class_of(kind: TokenKind, text: str) -> WordClass:
    if kind is TokenKind.NAME:
        if text in ARGUMENTS:
            return WordClass.ARGUMENT
        if text in RESERVED_WORDS:
            return WordClass.KEYWORD
        return WordClass.TYPE if text in TYPES else WordClass.NAME
    if kind is TokenKind.GLYPH:
        return WordClass.OPERATOR if text in MONADIC_OPERATORS or text in DYADIC_OPERATORS else WordClass.FUNCTION
    if kind is TokenKind.QUAD:
        return WordClass.LIBRARY if text in FUNCTIONS or text == "⎕" else WordClass.CONSTANT
    return _CLASSES.get(kind, WordClass.OTHER)
