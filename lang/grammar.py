"""The grammar of expressions and, apart from it, of declarations: two parsimonious PEGs.

An expression is a flat sequence of tokens and bracketed groups, so the recursion of a parse follows only
brackets; which name is a function is not the grammar's business (see `binder`).  A strand of numbers is
one token.  Newlines, `⋄`, `;` and `:` are tokens of the sequence; blanks and comments belong to the token
that follows them.  The text is in canonical glyphs (`spelling` has run) and is one statement.

Building a grammar costs milliseconds, so each is built when first needed; declarations are rarer and have
their own.
"""

from __future__ import annotations

from functools import lru_cache

from .peg import Grammar, Regex
from .vocabulary import GLYPHS

SPACES = r"[ \t\r\f\u00a0]"
BLANK = rf"(?:{SPACES}|⍝[^\n]*)*+"
NAME = r"(?:[^\W\d]|∆)(?:\w|∆)*+"
_DIGITS = r"[0-9][0-9_]*+"
_REAL = rf"¯?(?:(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE]¯?[0-9]++)?|∞)"
NUMBER = rf"{_REAL}(?:[jJ]{_REAL})?(?![\w∆¯∞]|\.[0-9])"
TEXT = r"""'(?:[^'\n]|'')*+'|"(?:[^"\n]|"")*+\""""


def _alternatives(glyphs: frozenset[str]) -> str:
    """Longest first; `∘.` before a digit is `∘` and a number."""
    long = sorted((glyph for glyph in glyphs if len(glyph) > 1), key=len, reverse=True)
    single = "".join(sorted(glyph for glyph in glyphs if len(glyph) == 1))
    escaped = [_escape(glyph) + ("(?![0-9])" if glyph.endswith(".") else "") for glyph in long]
    return "|".join([*escaped, "[" + _escape(single) + "]"])


def _escape(glyphs: str) -> str:
    return "".join("\\" + glyph if glyph in r"\.^$*+?{}[]|()-/~&!" else glyph for glyph in glyphs)


WORDS = (
    rf"(?:(?P<numbers>{NUMBER}(?:{SPACES}+{NUMBER})*+)"
    rf"|(?P<slot>_(?![\w∆]))"
    rf"|(?P<name>{NAME}|⍺⍺|⍵⍵|⍺|⍵)"
    rf"|(?P<glyph>{_alternatives(GLYPHS)})"
    rf"|(?P<text>{TEXT})"
    rf"|(?P<quad>⎕[A-Za-z0-9_]*+)"
    rf"|(?P<zilde>⍬)"
    rf"|(?P<gets>←)"
    rf"|(?P<separator>[⋄\n])"
    rf"|(?P<semicolon>;)"
    rf"|(?P<colon>:)"
    rf"|(?P<arrow>→))"
)
"""One token that is not a bracket, in a group named after its kind."""

TOKEN = BLANK + WORDS


EXPRESSION_RULES = """
    statement = sequence end
    sequence = item*
    item     = token / group
    group    = open item* close
"""


@lru_cache(maxsize=1)
def expression_grammar() -> Grammar:
    """Its default rule is `statement`: one sequence to the end of the text."""
    return Grammar(
        EXPRESSION_RULES,
        token=Regex(TOKEN, "token"),
        open=Regex(BLANK + r"[(\[{]", "open"),
        close=Regex(BLANK + r"[)\]}]", "close"),
        end=Regex(BLANK + r"\Z", "end"),
    )


DECLARATION_RULES = r"""
    declaration = (schedule / use / input / param / output / typed) _end
    use         = ~r"use(?![\w∆])" _blank (path / name)
    input       = ~r"input(?![\w∆])" _blank name _colon type (_gets path _blank)? where?
    param       = ~r"param(?![\w∆])" _blank name _gets expression where?
    output      = ~r"output(?![\w∆])" _blank name (_gets expression)?
    typed       = name _colon (signature / annotated)
    signature   = parameter _arrow (parameter _arrow)? type where?
    annotated   = type ((_gets expression) / where)?
    parameter   = (quantity _gap type) / type

    type        = (tuple / array) _blank
    tuple       = "(" _blank type (~r"[⋄\n]" _blank type)+ ")"
    array       = element shape?
    element     = refined / name
    refined     = ~r"(idx|int|perm)<" _blank (bounded / size) (".." _blank size)? ">"
    shape       = _open (item (_gap item)*)? _close
    item        = variable / bounded / tight
    variable    = ".." name
    bounded     = name ~r"≤" _blank tight

    tight       = operand_t (operator _blank operand_t)*
    operand_t   = (monadic _blank)* (group / number / name)
    size        = operand_s (operator _blank operand_s)*
    operand_s   = (monadic _blank)* (group / number / name) _blank
    group       = "(" _blank size ")"

    where       = ~r"where(?![\w∆])" _blank fact (~r"[,∧]" _blank fact)* _blank
    fact        = class_fact / chain
    class_fact  = name _gap class _blank
    chain       = size (relation _blank size)*
    quantity    = omega / range / tight
    range       = tight ".." tight

    schedule    = ~r"schedule(?![\w∆])" _blank block
    block       = "{" (_blank (separator / block / word))* _blank "}"
    word        = ~r"[^\s{}⋄⍝]+"
"""


@lru_cache(maxsize=1)
def declaration_grammar() -> Grammar:
    """`use`, `input`, `param`, `output`, `schedule`, signatures, annotations.  Rules that start with `_` carry nothing."""
    blank = r"(?:\s|⍝[^\n]*)*+"
    line = BLANK
    return Grammar(
        DECLARATION_RULES,
        _blank=Regex(line, "_blank"),
        _gap=Regex(r"(?:\s|⍝[^\n]*)++", "_gap"),
        _end=Regex(blank + r"\Z", "_end"),
        _colon=Regex(line + ":" + line, "_colon"),
        _gets=Regex(line + "←" + line, "_gets"),
        _arrow=Regex(line + "→" + line, "_arrow"),
        _open=Regex(r"\[" + blank, "_open"),
        _close=Regex(blank + r"\]", "_close"),
        name=Regex(rf"(?!(?:use|input|param|output|schedule|where)(?![\w∆])){NAME}", "name"),
        number=Regex(r"¯?[0-9][0-9_]*+(?![\w∆])", "number"),
        operator=Regex("[-+×÷|⌈⌊*]", "operator"),
        monadic=Regex("[-⌊⌈]", "monadic"),
        relation=Regex("[=≠≤<≥>]", "relation"),
        omega=Regex(r"[ω⍵](?![\w∆])", "omega"),
        path=Regex(TEXT, "path"),
        expression=Regex(rf"(?:{TEXT}|(?!(?<![\w∆])where(?![\w∆])).)++", "expression", dot_all=True),
        separator=Regex("[⋄\n]", "separator"),
        **{"class": Regex(r"(?:num|real|int|ord)(?![\w∆])", "class")},
    )
