"""The grammar of expressions and, apart from it, of declarations: two parsimonious PEGs over the expressions of `lexer`.

An expression is words and bracketed groups, so the recursion of a parse follows only brackets; which name is a function is not
the grammar's business (see `sequences`).  The grammar takes every text: a group may lack its closer, and a closer that closes
nothing stands for itself.  The text is in canonical glyphs (`spelling` has run) and is one statement.

Building a grammar costs milliseconds, so each is built when first needed; declarations are rarer and have
their own.
"""

from __future__ import annotations

from functools import lru_cache

from .lexer import BLANK, COMMENT, DIGITS, NAME, REAL, TEXT, WORD_END, WORDS
from .peg import Grammar, Node, ParseError, Regex

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
    """Its default rule is `statement`: everything up to the end of the text."""
    return Grammar(EXPRESSION_RULES, words=Regex(WORDS, "words"))


DECLARATION_RULES = r"""
    declaration = (schedule / use / input / param / output) _end
    typed       = _colon (signature / annotated) _end
    use         = ~r"use(?![\w∆])" _blank (path / name)
    input       = ~r"input(?![\w∆])" _blank name _colon type (_gets path _blank)? clause* where?
    param       = ~r"param(?![\w∆])" _blank name _gets expression where?
    output      = ~r"output(?![\w∆])" _blank name (_gets shown)? _blank as?
    clause      = as / missing / sep / decimal
    as          = ~r"as(?![\w∆])" _blank (quoted / form) _blank
    missing     = ~r"missing(?![\w∆])" _blank (literal / quoted) _blank
    sep         = ~r"sep(?![\w∆])" _blank quoted _blank
    decimal     = ~r"decimal(?![\w∆])" _blank quoted _blank
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
    """`use`, `input`, `param`, `output`, `schedule`; by its rule `typed`, what follows the name in signatures and annotations.

    Rules that start with `_` carry nothing."""
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
        literal=Regex(rf"(?:⎕nan|{REAL})(?![\w∆])", "literal"),
        shown=Regex(rf"""(?:{TEXT}|(?!(?<![\w∆])as[ \t]+(?:date|time|["'])).)++""", "shown", dot_all=True),
        separator=Regex("[⋄\n]", "separator"),
        **{"class": Regex(r"(?:num|real|int|ord)(?![\w∆])", "class")},
    )


@lru_cache(maxsize=20_000)
def declared(rule: str, text: str) -> Node | ParseError:
    """The node of a `declaration`, or of what stands after a name that is `typed`, or why there is none.

    Below it are the nodes with a name that carry something, each directly below the one it is part of.  Kept, for many types
    of a program are written alike."""
    try:
        (node,) = _parts(declaration_grammar()[rule].parse(text))
    except ParseError as error:
        return error
    return _bare(node)


def _bare(node: Node) -> Node:
    node.children = [_bare(part) for part in _parts(node)]
    return node


def _parts(node: Node) -> list[Node]:
    """The nearest named nodes below a node, in order, without those whose name starts with `_`."""
    found: list[Node] = []
    for child in node.children:
        name = child.expr.name
        if not name:
            found.extend(_parts(child))
        elif not name.startswith("_"):
            found.append(child)
    return found
