"""The lexer: splits a text in canonical glyphs into lexemes that cover every character.

The grammars, the reader, the formatter, the language server and the syntax highlighting all use the regular expressions of this
module.  Characters that belong to no lexeme of the language form lexemes of kind `UNREADABLE` or `UNENDED`.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

from ..primitives.operators import RESERVED_WORDS
from ..primitives.record import GlyphRole
from ..primitives.table import ELEMENT_NAMES, PRIMITIVES
from ..support.caches import cached_by_text

# ---------------------------------------------------------------------------------------------------- vocabulary
#
# The glyphs and their classes, all derived from `lang.primitives.table`.

FUNCTIONS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.FUNCTION)
"""Glyphs, conversions (`f64`) and library functions (`⎕fft`)."""

MONADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.MONADIC_OPERATOR)
DYADIC_OPERATORS: frozenset[str] = frozenset(row.glyph for row in PRIMITIVES if row.role is GlyphRole.DYADIC_OPERATOR)

SLASHES: frozenset[str] = FUNCTIONS & MONADIC_OPERATORS
"""`/ ⌿ \\ ⍀`: operators right of a function, else functions."""

OUTER = "∘."
STATES = "⍣\\"

SYSTEM_CONSTANTS: frozenset[str] = frozenset(
    row.glyph for row in PRIMITIVES if row.role is GlyphRole.CONSTANT and row.glyph.startswith("⎕")
)
CONVERSIONS: frozenset[str] = FUNCTIONS & ELEMENT_NAMES
RESERVED: frozenset[str] = RESERVED_WORDS | ELEMENT_NAMES

GLYPHS: frozenset[str] = frozenset(
    glyph for glyph in FUNCTIONS | MONADIC_OPERATORS | DYADIC_OPERATORS if not glyph.startswith("⎕") and not glyph.isalnum()
)
"""Glyphs of functions and operators as the grammar reads them; some have two characters."""

AXIS_FUNCTIONS: frozenset[str] = frozenset("/\\⌿⍀⌽⊖,⍪↑↓⌷")
"""Primitive functions that take a bracket axis; as operators `/ \\ ⌿ ⍀` take one too."""

ARRAY_LEFT_OPERANDS: frozenset[str] = frozenset("∘⍛@⍨")
"""Primitive operators whose left operand may be an array (a bound argument, a replacement, a constant)."""

ARRAY_RIGHT_OPERANDS: frozenset[str] = frozenset({"∘", "⍤", "⍣", STATES, "@", "⌺"})
"""Primitive operators whose right operand may be an array."""

LITERAL_OPERAND_OPERATORS: frozenset[str] = frozenset({"⍤", "⍣", STATES, "@", "⌺"})
"""Operators after which a literal strand is the whole operand (E013 if an array touches it)."""


# ---------------------------------------------------------------------------------------------------- lexer

SPACES = r"[ \t\r\f\u00a0]"
COMMENT = r"⍝[^\n]*"
BLANK = rf"(?:{SPACES}|{COMMENT})*+"
NAME = r"(?:[^\W\d]|∆)(?:\w|∆)*+"
WORD_END = r"(?![\w∆])"
DIGITS = r"[0-9][0-9_]*+"
REAL = rf"¯?(?:(?:{DIGITS}(?:\.(?:{DIGITS})?)?|\.{DIGITS})(?:[eE]¯?[0-9]++)?|∞)"
NUMBER = rf"{REAL}(?:[jJ]{REAL})?(?![\w∆¯∞]|\.[0-9])"
UNENDED = r"""['"][^\n]*+"""
"""A text without its end."""
TEXT = r"""'(?:[^'\n]|'')*+'|"(?:[^"\n]|"")*+\""""
DECLARING = rf"(?:use|input|param|output|schedule){WORD_END}"
ARGUMENTS = ("⍺⍺", "⍵⍵", "⍺", "⍵")


def _alternatives(glyphs: frozenset[str]) -> str:
    """A regular expression for some glyphs, longest first; `∘.` before a digit is `∘` and a number."""
    long = sorted((glyph for glyph in glyphs if len(glyph) > 1), key=len, reverse=True)
    single = "".join(sorted(glyph for glyph in glyphs if len(glyph) == 1))
    escaped = [_escape(glyph) + ("(?![0-9])" if glyph.endswith(".") else "") for glyph in long]
    return "|".join([*escaped, "[" + _escape(single) + "]"])


def _escape(glyphs: str) -> str:
    return "".join("\\" + glyph if glyph in r"\.^$*+?{}[]|()-/~&!" else glyph for glyph in glyphs)


class TokenKind(Enum):
    """The kinds of lexemes; a group of tokens is called by its opening bracket."""

    NUMBERS = "numbers"
    SLOT = "slot"
    NAME = "name"
    GLYPH = "glyph"
    TEXT = "text"
    QUAD = "quad"
    ZILDE = "zilde"
    GETS = "gets"
    SEPARATOR = "separator"
    SEMICOLON = "semicolon"
    COLON = "colon"
    ARROW = "arrow"
    PARENTHESES = "("
    BRACKETS = "["
    BRACES = "{"
    OPEN = "an opening bracket"
    CLOSE = "a closing bracket"
    BLANK = "blanks"
    COMMENT = "a comment"
    UNENDED = "a text without its end"
    UNREADABLE = "no part of the language"


_PATTERNS = {
    TokenKind.BLANK: rf"{SPACES}++",
    TokenKind.COMMENT: r"(?:⍝|\A#!)[^\n]*+",
    TokenKind.NUMBERS: rf"{NUMBER}(?:{SPACES}+{NUMBER})*+",
    TokenKind.SLOT: rf"_{WORD_END}",
    TokenKind.NAME: rf"{NAME}|⍺⍺|⍵⍵|⍺|⍵",
    TokenKind.GLYPH: _alternatives(GLYPHS),
    TokenKind.TEXT: TEXT,
    TokenKind.QUAD: "⎕[A-Za-z0-9_]*+",
    TokenKind.ZILDE: "⍬",
    TokenKind.GETS: "←",
    TokenKind.SEPARATOR: "[⋄\n]",
    TokenKind.SEMICOLON: ";",
    TokenKind.COLON: ":",
    TokenKind.ARROW: "→",
    TokenKind.UNENDED: UNENDED,
    TokenKind.OPEN: r"[(\[{]",
    TokenKind.CLOSE: r"[)\]}]",
    TokenKind.UNREADABLE: r"[^()\[\]{}]",
}
_KINDS = tuple(_PATTERNS)
_TRIVIA = rf"(?:{_PATTERNS[TokenKind.BLANK]}|{_PATTERNS[TokenKind.COMMENT]})"
_READ = [kind for kind in _KINDS[2:] if kind not in (TokenKind.OPEN, TokenKind.CLOSE)]

WORDS = rf"(?:{_PATTERNS[TokenKind.COMMENT]}|{TEXT}|{UNENDED}|[^()\[\]{{}}⍝'\"]++)++"
"""Everything up to the next bracket."""
WORD = re.compile(rf"{_TRIVIA}*+(?:{'|'.join(f'({_PATTERNS[kind]})' for kind in _READ)}|\Z)")
"""The next lexeme after blanks and comments; no group matches at the end of the text."""
WORD_KINDS = (TokenKind.BLANK, *_READ)
"""The kind of a lexeme by the number of its group in `WORD`."""

_LEXEME = re.compile("|".join(f"({pattern})" for pattern in _PATTERNS.values()))


class Lexeme(NamedTuple):
    """Characters `start` up to `end` of a text."""

    kind: TokenKind
    start: int
    end: int


def scan(text: str, start: int = 0, end: int | None = None) -> list[Lexeme]:
    """The lexemes of a range of a text; joined, they are that range."""
    matches = _LEXEME.finditer(text, start, len(text) if end is None else end)
    return [Lexeme(_KINDS[match.lastindex - 1], *match.span()) for match in matches if match.lastindex is not None]


MOST_CACHED_CHARACTERS: Final = 500_000
"""Of texts whose lexemes or tokens are cached: the tokens of a character take about ninety bytes."""


@cached_by_text(MOST_CACHED_CHARACTERS)
def lexemes(text: str) -> tuple[Lexeme, ...]:
    """The lexemes of a whole text, cached."""
    return tuple(scan(text))


def in_prose(text: str, at: int) -> bool:
    """Is an offset inside a comment or a text of its line, or at the end of one that does not end before?"""
    first = text.rfind("\n", 0, at) + 1
    last = text.find("\n", at)
    return any(
        start < at - first < end or (at - first == end and kind is not TokenKind.TEXT)
        for kind, start, end in lexemes(text[first : last if last >= 0 else len(text)])
        if kind in (TokenKind.COMMENT, TokenKind.TEXT, TokenKind.UNENDED)
    )


# ---------------------------------------------------------------------------------------------------- import of parsimonious
#
# Parsimonious prefers the `regex` package and falls back to the standard `re`.  The grammars here need nothing that `re` lacks,
# and importing `regex` would take a third of the cold start of `rho check`, so `regex` is hidden while parsimonious is imported.

_hidden = "parsimonious" not in sys.modules and "regex" not in sys.modules
if _hidden:
    sys.modules["regex"] = None  # type: ignore[assignment]
try:
    from parsimonious.exceptions import ParseError as ParseError
    from parsimonious.expressions import Regex as Regex
    from parsimonious.grammar import Grammar as Grammar
    from parsimonious.nodes import Node as Node
finally:
    if _hidden:
        del sys.modules["regex"]


# ---------------------------------------------------------------------------------------------------- grammars
#
# Two parsimonious PEGs, of expressions and of declarations, for the text of one statement in canonical glyphs.
#
# An expression is words and bracketed groups, so a parse recurses only into brackets; the binder (`lang.bind.expressions`)
# decides which name is a function.  The grammar accepts every text: a group may lack its closing bracket, and an unmatched
# closing bracket is a part of its own.
#
# Building a grammar takes milliseconds, so each is built when it is first used.

EXPRESSION_RULES = r"""
    statement = (words / round / square / curly / closer)*
    part      = words / round / square / curly
    round     = "(" part* ~r"\)?"
    square    = "[" part* ~r"\]?"
    curly     = "{" part* ~r"\}?"
    closer    = ~r"[)\]}]"
"""


@lru_cache(maxsize=1)
def expression_grammar() -> Grammar:
    """The grammar of expressions; its default rule, `statement`, matches any text."""
    return Grammar(EXPRESSION_RULES, words=Regex(WORDS, "words"))


DECLARATION_RULES = r"""
    declaration = (schedule / use / input / param / output) _end
    typed       = _colon (signature / annotated) _end
    use         = ~r"use(?![\w∆])" _blank (path / name)
    input       = ~r"input(?![\w∆])" _blank name _colon parameter (_gets path _blank)? clause* where?
    param       = ~r"param(?![\w∆])" _blank name _gets expression where?
    output      = ~r"output(?![\w∆])" _blank name (_gets shown)? _blank as?
    clause      = as / missing / sep / decimal / group_sign
    as          = ~r"as(?![\w∆])" _blank (quoted / form) _blank
    missing     = ~r"missing(?![\w∆])" _blank (literal / quoted) _blank
    sep         = ~r"sep(?![\w∆])" _blank quoted _blank
    decimal     = ~r"decimal(?![\w∆])" _blank quoted _blank
    group_sign  = ~r"group(?![\w∆])" _blank quoted _blank
    signature   = (function _arrow (function _arrow)?)? parameter _arrow (parameter _arrow)? type where?
    function    = "(" _blank type _arrow (type _arrow)? type ")" _blank
    annotated   = type ((_gets expression) / where)?
    parameter   = (quantity _gap type) / type

    type        = (given / tuple / array) _blank
    given       = "(" _blank name _blank ")"
    tuple       = "(" _blank type (~r"[⋄\n]" _blank type)+ ")"
    array       = element shape?
    element     = refined / name
    refined     = ~r"(idx|int|perm)<" _blank (bounded / size) (".." _blank size)? ">"
    shape       = _open (item (_gap item)*)? _close
    item        = variable / bounded / tight
    variable    = ".." name
    bounded     = name ~r"≤" _blank tight

    tight       = operand_t (operator _blank operand_t)*
    operand_t   = (monadic _blank)* (group / number / items / name)
    size        = operand_s (operator _blank operand_s)*
    operand_s   = (monadic _blank)* (group / number / items / name) _blank
    items       = "×/" name
    group       = "(" _blank size ")"

    where       = ~r"where(?![\w∆])" _blank fact (~r"[,∧]" _blank fact)* _blank
    fact        = class_fact / chain
    class_fact  = name _gap class _blank
    chain       = size (relation _blank size)*
    quantity    = omega / range / tight
    range       = tight ".." (omega / tight)

    schedule    = ~r"schedule(?![\w∆])" _blank block
    block       = "{" (_blank (separator / block / word))* _blank "}"
    word        = ~r"[^\s{}⋄⍝]+"
"""


@lru_cache(maxsize=1)
def declaration_grammar() -> Grammar:
    """The grammar of `use`, `input`, `param`, `output` and `schedule`; its rule `typed` is what follows the name in signatures
    and annotations.  Nodes of rules whose names start with `_` are dropped from the tree."""
    blank = rf"(?:\s|{COMMENT})*+"
    line = BLANK
    return Grammar(
        DECLARATION_RULES,
        _blank=Regex(line, "_blank"),
        _gap=Regex(rf"(?:\s|{COMMENT})++", "_gap"),
        _end=Regex(blank + r"\Z", "_end"),
        _colon=Regex(line + ":" + line, "_colon"),
        _gets=Regex(line + "←" + line, "_gets"),
        _arrow=Regex(line + "→" + line, "_arrow"),
        _open=Regex(r"\[" + blank, "_open"),
        _close=Regex(blank + r"\]", "_close"),
        name=Regex(rf"(?!(?:use|input|param|output|schedule|where)(?![\w∆])){NAME}", "name"),
        number=Regex(rf"¯?{DIGITS}{WORD_END}", "number"),
        operator=Regex("[-+×÷|⌈⌊*]", "operator"),
        monadic=Regex("[-⌊⌈]", "monadic"),
        relation=Regex("[=≠≤<≥>]", "relation"),
        omega=Regex(r"[ω⍵](?![\w∆])", "omega"),
        path=Regex(TEXT, "path"),
        quoted=Regex(TEXT, "quoted"),
        expression=Regex(rf"(?:{TEXT}|(?!(?<![\w∆])where(?![\w∆])).)++", "expression", dot_all=True),
        form=Regex(r"(?:date|time|present)(?![\w∆])", "form"),
        literal=Regex(rf"(?:⎕nan|⎕nat|{REAL})(?![\w∆])", "literal"),
        shown=Regex(rf"""(?:{TEXT}|(?!(?<![\w∆])as[ \t]+(?:date|time|["'])).)++""", "shown", dot_all=True),
        separator=Regex("[⋄\n]", "separator"),
        **{"class": Regex(r"(?:num|real|int|ord)(?![\w∆])", "class")},
    )


@lru_cache(maxsize=20_000)
def declared(rule: str, text: str) -> Node | ParseError:
    """Parse a text by the rule `declaration` or `typed`; the error if that fails.  Cached, since programs repeat types.

    The tree has only the named nodes, without those whose names start with `_`."""
    try:
        (node,) = _parts(declaration_grammar()[rule].parse(text))
    except ParseError as error:
        return error
    return _bare(node)


def _bare(node: Node) -> Node:
    node.children = [_bare(part) for part in _parts(node)]
    return node


def _parts(node: Node) -> list[Node]:
    """The nearest named descendants of a node, in order, without those whose names start with `_`."""
    parts: list[Node] = []
    for child in node.children:
        name = child.expr.name
        if not name:
            parts.extend(_parts(child))
        elif not name.startswith("_"):
            parts.append(child)
    return parts
