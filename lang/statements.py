"""Assignments as statements: what kind of binding a statement is, and its node."""

from __future__ import annotations

from . import tree, type_tree
from .codes import Code
from .definitions import NameClass
from .lexer import TokenKind
from .sequences import bind_value, expression_of
from .targets import checked_name, target_of
from .tokens import Token
from .units import Binding, UnitKind, replacing

Tokens = tuple[Token, ...]


def refuse_bare_names(binding: Binding, tokens: Tokens) -> None:
    """E010 for `a b ← t`: other APLs give both names a value, and here only b would get one."""
    arrow = next((index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS), 0)
    if arrow < 2:
        return
    for token in tokens[:arrow]:
        meaning = binding.meaning(token)
        if token.kind is not TokenKind.NAME or (meaning is not None and meaning.name_class not in (None, NameClass.ARRAY)):
            return
    span = binding.span(tokens[0].start, tokens[arrow - 1].end)
    names = " ".join(token.text for token in tokens[:arrow])
    message = f"only `{tokens[arrow - 1].text}` would get this value; to take it apart write `({names}) ← …`"
    raise binding.problem(Code.E010, message, span, fixes=replacing("put the names in parentheses", span, f"({names})"))


def failed_names(tokens: Tokens) -> list[str]:
    """Names that a statement which could not be bound was to bind: their uses stay quiet."""
    arrows = [index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS and index > 0]
    names = [name for index in arrows for name in _names(tokens[index - 1])]
    before = tokens[: max(arrows, default=0)]
    return [*names, *[token.text for token in before if token.kind is TokenKind.NAME]]


def _names(token: Token) -> list[str]:
    if token.kind is TokenKind.NAME:
        return [token.text]
    if token.kind is TokenKind.PARENTHESES:
        return [name for item in token.items for name in _names(item)]
    return []


def bind_assignment(
    binding: Binding, tokens: Tokens, annotation: type_tree.TypeExpression | None = None
) -> tuple[tree.Statement, int]:
    """`target ← value`, and how deep its tree is."""
    first, gets = tokens[0], tokens[1]
    if len(tokens) == 2 or tokens[2].kind is TokenKind.GETS:
        raise binding.problem(Code.E002, "`←` has no value on its right", binding.of(gets))
    span = binding.span(first.start, tokens[-1].end)
    if first.kind is not TokenKind.NAME:
        target = target_of(binding, first)
        unit = bind_value(binding, tokens[2:], gets[1:3])
        if unit.kind is not UnitKind.ARRAY:
            raise binding.problem(Code.E010, "a function gets one name: `name ← …`", binding.of(first))
        return tree.BindArray(span, target, expression_of(unit), annotation), unit.depth
    name = checked_name(binding, first)
    unit = bind_value(binding, tokens[2:], gets[1:3])
    binding.broken.discard(name.name)
    node = unit.node
    assert node is not None
    if isinstance(node, tree.Operator):
        return tree.BindOperator(span, name, node), unit.depth
    if isinstance(node, tree.Function):
        if name.name in "⍺⍵":
            message = f"`{name.name}` is an argument: it can be given an array, not a function"
            raise binding.problem(Code.E010, message, binding.of(first))
        return tree.BindFunction(span, name, node), unit.depth
    return tree.BindArray(span, name, node, annotation), unit.depth
