"""The canonical formatter: `format_source`.

Keeps every token, comment and line break; blank lines at most one; bodies indented by two spaces a level;
comments that end consecutive lines are aligned.  Formatting twice changes nothing more, and the bound tree
is that of the original text.  A text that cannot be read is not touched: `Rejected`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from ..bind.declarations import is_declaration, read_declaration
from ..bind.expressions import refuse_strays
from ..bind.functions import bind_braces
from ..bind.scopes import BindContext, BindError, Resolution
from ..diagnostics.model import Code, Diagnostic, Rejected
from ..primitives.operators import RESERVED_WORDS
from .glyph_input import Spelled, spell
from .lex_errors import read_statement
from .lexer import ARGUMENTS, DYADIC_OPERATORS, FUNCTIONS, MONADIC_OPERATORS, RESERVED, TEXT, TokenKind, lexemes
from .reader import LogicalLine, RawStatement, Spelling, ascii_comment, ascii_of, lay_out, split_statements
from .source import MAXIMUM_CHARACTERS, Source, Span, ensure_recursion_headroom

# ---------------------------------------------------------------------------------------------------- formatter

_GAP = re.compile("⍝[^\n]*|[⋄\n]")


def format_source(source: Source, *, ascii: bool = False) -> str:
    """The text in canonical layout, ended by one newline; `ascii` spells glyphs by backtick names instead."""
    ensure_recursion_headroom()
    if len(source.text) > MAXIMUM_CHARACTERS:
        raise Rejected(
            [Diagnostic(Code.E016, f"the source has more than {MAXIMUM_CHARACTERS} characters", Span(source.name, 0, 0))]
        )
    if source.text.startswith("#!"):  # a line for the system's shell, which stays as it is
        opening = source.text.partition("\n")[0]
        body = format_source(Source(source.name, " " * len(opening) + source.text[len(opening) :]), ascii=ascii)
        return opening + "\n" + body.lstrip("\n")
    spelled = spell(source)
    pieces = split_statements(spelled)
    _refuse_unreadable(spelled, pieces)
    spelling = Spelling.NAMES if ascii else Spelling.GLYPHS
    diamond = ascii_of("⋄") if ascii else "⋄"
    lines = [LogicalLine(0)]
    at = 0
    for piece in [*pieces, RawStatement(len(spelled.text), "")]:
        _gap(lines, spelled.text[at : piece.start], diamond)
        at = piece.start + len(piece.text)
        first, *rest = _statement(piece.text, spelling)
        last = lines[-1]
        last.code = f"{last.code} {first.code}".strip()
        last.comment = first.comment if first.code else last.comment
        lines.extend(rest)
    return _joined(lines, spelling)


def _refuse_unreadable(spelled: Spelled, pieces: list[RawStatement]) -> None:
    problems = list(spelled.diagnostics)
    for piece in pieces:
        if piece.damage is not None:
            problems.append(piece.damage)
            continue
        binding = BindContext(spelled, bind_braces, Resolution(), piece.start)
        try:
            if is_declaration(piece.text):
                read_declaration(binding, piece.text)
            else:
                refuse_strays(binding, read_statement(binding, piece.text))
        except BindError as problem:
            problems.extend([problem.diagnostic] if problem.diagnostic is not None else [])
    if problems:
        raise Rejected(problems)


def _gap(lines: list[LogicalLine], gap: str, diamond: str) -> None:
    """What stands between two statements: comments, line ends, separators."""
    for match in _GAP.finditer(gap):
        mark = match.group()
        if mark == "\n":
            lines.append(LogicalLine(0))
        elif mark == "⋄":
            lines[-1].code = f"{lines[-1].code} {diamond}" if lines[-1].code else diamond
        else:
            lines[-1].comment = mark


def _statement(text: str, spelling: Spelling) -> list[LogicalLine]:
    if not is_declaration(text):
        return lay_out(text, spelling)
    if text.startswith("schedule"):
        return _schedule(text, spelling)
    if "⍝" in text:
        return [LogicalLine(0, line.strip()) for line in text.split("\n")]
    head, arrow, value = _cut_at_arrow(text)
    code = _heading(head, spelling)
    if not arrow:
        return [LogicalLine(0, code)]
    expression, where = _cut_at_where(value)
    first, *rest = lay_out(expression, spelling)
    first.code = f"{code} {_plain('←', spelling)} {first.code}"
    (rest[-1] if rest else first).code += f" {_heading(where, spelling)}" if where else ""
    return [first, *rest]


def _plain(text: str, spelling: Spelling) -> str:
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


_BRACKETED = re.compile(r"\[[^\[\]]*\]")


def _heading(text: str, spelling: Spelling) -> str:
    """Types, sizes and facts: single blanks, tight sizes in shapes, blanks round `:` and `→`."""
    text = re.sub(r"\s+", " ", text.strip())
    text = re.sub(r" ?([:→⋄]) ?", r" \1 ", text)
    text = re.sub(r" ?([≤<≥>=≠]) ?", r" \1 ", text) if text.startswith("where") else text
    text = re.sub(r" ?, ?", ", ", text)
    text = _BRACKETED.sub(lambda match: re.sub(r"([-+×÷|⌈⌊≤]) ", r"\1", "[" + match.group()[1:-1].strip() + "]"), text)
    return _plain(re.sub(r"([(]) | ([)])", r"\1\2", text), spelling)


_SCHEDULE_WORD = re.compile(r"⍝[^\n]*|[{}⋄\n]|[^\s{}⋄⍝]+")


def _schedule(text: str, spelling: Spelling) -> list[LogicalLine]:
    """Words one blank apart, blocks indented."""
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
            line.code += (" " if line.code else "") + _plain(word, spelling)
    return lines


# ----------------------------------------------------------------------------------------- lines


def _joined(lines: list[LogicalLine], spelling: Spelling) -> str:
    """Indent, align comments, keep at most one blank line in a row and none at the ends."""
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
# Every word of a text with its class, as editors, sessions and pages colour it; what a name stands for is for them to say.

class WordClass(Enum):
    """What a word is for the eye."""

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


def words(source: Source, spelled: Spelled | None = None) -> Iterator[FormattedWord]:
    """In the order of the text, blanks left out, none across a line end."""
    spelled = spelled or spell(source)
    at = 0
    for line in spelled.text.split("\n"):
        for kind, first, last in lexemes(line.rstrip("\r")):
            if kind is not TokenKind.BLANK:
                span = spelled.span(at + first, at + last)
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
