"""Declarations at top level: `use`, `input`, `param`, `output`, `schedule`, signatures and annotated bindings.

They have a grammar of their own; the expressions inside them are read and bound like any other.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace

from . import program_tree, tree
from .codes import Code
from .grammar import declared
from .lexer import DECLARING, NAME, WORD_END, TokenKind
from .module_names import called
from .peg import Node, ParseError
from .problems import Problem
from .reading_clauses import AS_WRITTEN, Form, Reading, has_time
from .sequences import bind_array, expression_of
from .source import Span
from .statements import bind_assignment
from .targets import allowed_name, checked_name
from .tokens import Token
from .type_expressions import TypeReader
from .units import Binding
from .unreadable import read_statement

_VALUES = ("expression", "shown")
_KEYWORD = re.compile(rf"({DECLARING})(?!\s*←)")
_TYPED = re.compile(rf"(?!where{WORD_END})({NAME})[ \t]*:")

_EXPECTED = {
    "name": "a name", "_colon": "`:` and a type", "_gets": "`←`", "_arrow": "`→`", "type": "a type such as `f64[n 3]`",
    "tuple": "a type such as `f64[n 3]`", "array": "a type such as `f64[n 3]`", "element": "a type such as `f64[n 3]`",
    "refined": "a type such as `f64[n 3]`", "parameter": "a type such as `f64[n 3]`", "signature": "a type such as `f64[n 3]`",
    "annotated": "a type such as `f64[n 3]`", "quantity": "a type such as `f64[n 3]`", "omega": "a type such as `f64[n 3]`",
    "range": "a type such as `f64[n 3]`", "monadic": "a type such as `f64[n 3]`",
    "_open": "a shape in brackets", "_close": "`]`", "item": "a size", "size": "a size", "tight": "a size", "number": "a size",
    "operand_t": "a size", "operand_s": "a size", "group": "a size", "variable": "a size", "bounded": "a size",
    "path": "a file name in quotes", "fact": "a fact such as `n ≥ 1`", "chain": "a fact such as `n ≥ 1`",
    "relation": "one of `= ≠ ≤ < ≥ >`", "expression": "a value", "_end": "the end of the declaration", "block": "`{`",
    "where": "the end of the declaration", "operator": "the end of the declaration", "_gap": "a blank",
    "clause": "the end of the declaration", "as": "the end of the declaration", "missing": "the end of the declaration",
    "sep": "the end of the declaration", "decimal": "the end of the declaration", "shown": "a value",
    "form": "`date`, `time`, `present` or a format in quotes", "literal": "a number or a text", "quoted": "a text in quotes",
    "class": "`num`, `real`, `int` or `ord`", "_blank": "the end of the declaration",
}  # fmt: skip


def is_declaration(text: str) -> bool:
    """Whether a top-level statement is one of these, by how it starts."""
    return _KEYWORD.match(text) is not None or _TYPED.match(text) is not None


def keyword_of(text: str) -> str:
    """The word that a declaration starts with; nothing for a name with a type and for other statements."""
    found = _KEYWORD.match(text)
    return "" if found is None else found.group(1)


def read_declaration(binding: Binding, text: str) -> tuple[Binding, Node]:
    """The node of a declaration, its expressions known to be readable, and what tells where its parts stand; else a `Problem`.

    A type is read apart from the name before it."""
    typed = None if _KEYWORD.match(text) else _TYPED.match(text)
    if typed is not None:
        binding, text = replace(binding, base=binding.base + typed.end(1)), text[typed.end(1) :]
    node = declared("declaration" if typed is None else "typed", text)
    if isinstance(node, ParseError):
        raise _unreadable_declaration(binding, text, node)
    for expression in [part for inner in (node, *node.children) for part in inner.children if part.expr_name in _VALUES]:
        _tokens(binding, expression)
    return binding, node


def bind_declaration(binding: Binding, text: str) -> program_tree.Statement:
    inside, node = read_declaration(binding, text)
    span = binding.span(0, len(text))
    types = TypeReader(inside)
    children = node.children
    match node.expr_name:
        case "signature" | "annotated":
            return _typed(binding, text[: inside.base - binding.base], span, types, node)
        case "use":
            return _use(binding, span, children[0])
        case "schedule":
            return program_tree.Schedule(span, _directives(binding, children[0]))
    match node.expr_name:
        case "input":
            target = _target(binding, children[0])
            found = {child.expr_name: child for child in children}
            path = found.get("path")
            type_ = types.type(found["type"])
            clauses = [child for child in children if child.expr_name == "clause"]
            return program_tree.Input(
                span, target, type_, None if path is None else _unquoted(path),
                types.where([child for child in children if child.expr_name == "where"]), _reading(binding, types, clauses),
                tuple([types.span(clause) for clause in clauses]),
            )  # fmt: skip
        case "param":
            default = _expression(binding, children[1])
            return program_tree.Param(span, _target(binding, children[0]), default, types.where(children[2:]))
        case _:
            shown = [child for child in children if child.expr_name == "shown"]
            clauses = [child for child in children if child.expr_name == "as"]
            value = _expression(binding, (shown or children)[0])
            return program_tree.Output(span, _target(binding, children[0]), value, _reading(binding, types, clauses))


def _reading(binding: Binding, types: TypeReader, clauses: list[Node]) -> Reading:
    """What the clauses of a declaration say together; each may stand once."""
    reading, given = AS_WRITTEN, set[str]()
    for node in clauses:
        (clause,) = node.children if node.expr_name == "clause" else (node,)
        (value,) = clause.children
        word, span = clause.expr_name, types.span(value)
        if word in given:
            raise binding.problem(Code.E011, f"`{word}` stands here twice", types.span(clause))
        given.add(word)
        match word:
            case "as":
                reading = _as(binding, reading, value, span)
            case "missing":
                reading = replace(reading, missing=_unquoted(value) if value.expr_name == "quoted" else _number(value.text))
            case "sep":
                reading = replace(reading, separator=_sign(binding, value, span))
            case _:
                reading = replace(reading, decimal=_sign(binding, value, span))
    return reading


def _as(binding: Binding, reading: Reading, value: Node, span: Span) -> Reading:
    if value.expr_name == "form":
        return replace(reading, form=Form[value.text.upper()])
    pattern = _unquoted(value)
    if "%" not in pattern:
        raise binding.problem(Code.E011, 'a format of dates has directives, as in `"%d.%m.%Y"`', span)
    return replace(reading, form=Form.TIME if has_time(pattern) else Form.DATE, pattern=pattern)


def _number(text: str) -> int | float:
    plain = text.replace("¯", "-").replace("_", "").replace("∞", "inf")
    if text == "⎕nan":
        return math.nan
    return int(plain) if plain.removeprefix("-").isdigit() else float(plain)


def _sign(binding: Binding, value: Node, span: Span) -> str:
    sign = _unquoted(value).replace("\\t", "\t")
    if len(sign) != 1 or sign in '"\r\n\0' or sign.isalnum():
        raise binding.problem(Code.E011, "this is one sign, such as `;`", span)
    return sign


def _target(binding: Binding, node: Node) -> tree.NameTarget:
    return checked_name(binding, Token(TokenKind.NAME, node.start, node.end, node.text))


def _unquoted(node: Node) -> str:
    text: str = node.text
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)


def _typed(binding: Binding, name: str, span: Span, types: TypeReader, node: Node) -> program_tree.Statement:
    """`name : …`: a signature if it has an arrow, else the annotation of this or the next binding of the name."""
    target = program_tree.StatedName(*allowed_name(binding, Token(TokenKind.NAME, 0, len(name), name)))
    children = node.children
    if node.expr_name == "signature":
        parameters = [types.parameter(child) for child in children if child.expr_name == "parameter"]
        result, *where = children[len(parameters) :]
        left = parameters[0] if len(parameters) == 2 else None
        return program_tree.Signature(span, target, left, parameters[-1], types.type(result), types.where(where))
    type_ = types.type(children[0])
    if len(children) > 1 and children[1].expr_name == "expression":
        value = children[1]
        ahead = len(name) + value.start
        assigned = (Token(TokenKind.NAME, -ahead, len(name) - ahead, name), Token(TokenKind.GETS, 0, 0, "←"))
        tokens = (*assigned, *_tokens(types.binding, value))
        statement, _ = bind_assignment(replace(binding, base=binding.base + ahead), tokens, type_)
        if not isinstance(statement, tree.BindArray):
            message = f"`{name}` is bound to a function; its type has an arrow, as in `f64[n] → f64`"
            raise binding.problem(Code.E011, message, types.span(children[0]))
        return statement
    return program_tree.Annotation(span, target, type_, types.where(children[1:]))


def _tokens(binding: Binding, node: Node) -> tuple[Token, ...]:
    return read_statement(replace(binding, base=binding.base + node.start), node.text.rstrip())


def _expression(binding: Binding, node: Node) -> tree.Expression:
    inner = replace(binding, base=binding.base + node.start)
    return expression_of(bind_array(inner, _tokens(binding, node), (0, len(node.text))))


# ------------------------------------------------------------------------------------ use, schedule


def _use(binding: Binding, span: Span, node: Node) -> program_tree.Use:
    place = binding.span(node.start, node.end)
    if node.expr_name == "name":
        name, path = node.text, None
        target = _target(binding, node)
    else:
        path = _unquoted(node)
        name = called(path)
        if re.fullmatch(NAME, name) is None:
            raise binding.problem(Code.E010, f"a module is called by its file's name, and `{name}` is not a name", place)
        target = checked_name(binding, Token(TokenKind.NAME, node.start, node.end, name))
    if binding.modules is not None and binding.modules(path or name) is None:
        raise binding.problem(Code.E019, f"there is no module `{path or name}`", place)
    return program_tree.Use(span, target, path)


def _directives(binding: Binding, block: Node) -> tuple[program_tree.Directive, ...]:
    directives: list[program_tree.Directive] = []
    words: list[program_tree.DirectiveWord | program_tree.DirectiveGroup] = []

    def finish() -> None:
        if words:
            directives.append(program_tree.Directive(words[0].span.to(words[-1].span), tuple(words)))
            words.clear()

    for node in block.children:
        span = binding.span(node.start, node.end)
        match node.expr_name:
            case "separator":
                finish()
            case "word":
                words.append(program_tree.DirectiveWord(span, node.text))
            case _:
                words.append(program_tree.DirectiveGroup(span, _directives(binding, node)))
    finish()
    return tuple(directives)


# ------------------------------------------------------------------------------------------ errors


def _unreadable_declaration(binding: Binding, text: str, error: ParseError) -> Problem:
    """What was expected where reading stopped."""
    start = error.pos
    while start < len(text) and text[start] in " \t":
        start += 1
    end = start
    while end < len(text) and not text[end].isspace() and text[end] not in "()[]{}⋄;:←→,'\"":
        end += 1
    end = max(end, min(start + 1, len(text)))
    expected = _EXPECTED.get(error.expr.name, "a declaration") if error.expr is not None else "a declaration"
    if text[start : start + 1] in ("'", '"') and text.startswith("input"):
        expected = "`←`"
    found = f", not `{text[start:end]}`" if start < len(text) else ""
    return binding.problem(Code.E011, f"{expected} is expected here{found}", binding.span(min(start, len(text)), end),
                           notes=_example(text))  # fmt: skip


def _example(text: str) -> tuple[str, ...]:
    keyword = keyword_of(text)
    form = {
        "use": '`use stats` or `use "./geometry.rho"`', "input": '`input x : f64[n 3] ← "x.npy"`',
        "param": "`param k ← 3 where k ≥ 1`", "output": "`output labels`, `output labels ← e` or `output day ← e as date`",
        "schedule": "`schedule { gpu { a ⋄ b } }`",
    }[keyword] if keyword else "`name : f64[n] → f64` or `name : f64[3] ← e`"  # fmt: skip
    return (f"the form is {form}",)
