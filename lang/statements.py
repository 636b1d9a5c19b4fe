"""Assignments as statements: what kind of binding a statement is, and its node.

A dfn that mentions the name it is being bound to is recursion.  Whether a statement binds a dfn is known only
by its last item, which is looked at before anything is bound.
"""

from __future__ import annotations

from . import tree
from .codes import Code
from .lexer import TokenKind
from .scope import Scope
from .sequences import bind_value, expression_of, has_diamond
from .targets import bind_names, checked_name, target_of
from .tokens import Token, mentions
from .tree import NameClass
from .units import Binding, Unit, UnitKind, replacing
from .vocabulary import CONVERSIONS, DYADIC_OPERATORS, FUNCTIONS

Tokens = tuple[Token, ...]


def is_assignment(tokens: Tokens) -> bool:
    """Whether a statement has the form `name ← …`, `_ ← …` or `(names) ← …`."""
    if len(tokens) < 2 or tokens[1].kind is not TokenKind.GETS:
        return False
    return tokens[0].kind is not TokenKind.QUAD or tokens[0].text != "⎕"


def refuse_bare_names(binding: Binding, scope: Scope, tokens: Tokens) -> None:
    """E010 for `a b ← t`: other APLs give both names a value, and here only b would get one."""
    arrow = next((index for index, token in enumerate(tokens) if token.kind is TokenKind.GETS), 0)
    if arrow < 2:
        return
    for token in tokens[:arrow]:
        if token.kind is not TokenKind.NAME or scope.class_of(token.text) not in (None, NameClass.ARRAY):
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
    binding: Binding, scope: Scope, tokens: Tokens, annotation: tree.TypeExpression | None = None
) -> tuple[tree.Statement, int]:
    """`target ← value`, and how deep its tree is; the names are in scope afterwards."""
    first, gets = tokens[0], tokens[1]
    if len(tokens) == 2:
        raise binding.problem(Code.E002, "`←` has no value on its right", binding.of(gets))
    span = binding.span(first.start, tokens[-1].end)
    if first.kind is not TokenKind.NAME:
        target = target_of(binding, first)
        unit = bind_value(binding, scope, tokens[2:], gets[1:3])
        if unit.kind is not UnitKind.ARRAY:
            raise binding.problem(Code.E010, "a function gets one name: `name ← …`", binding.of(first))
        bind_names(scope, target, NameClass.ARRAY)
        return tree.BindArray(span, target, expression_of(unit), annotation), unit.depth
    name = checked_name(binding, first)
    unit = _own_value(binding, scope, name.name, tokens)
    node = unit.node
    assert node is not None
    if isinstance(node, tree.Operator):
        dyadic = unit.text == "dyadic"
        scope.names[name.name] = NameClass.DYADIC_OPERATOR if dyadic else NameClass.MONADIC_OPERATOR
        return tree.BindOperator(span, name, node), unit.depth
    if isinstance(node, tree.Function):
        if name.name in "⍺⍵":
            message = f"`{name.name}` is an argument: it can be given an array, not a function"
            raise binding.problem(Code.E010, message, binding.of(first))
        scope.names[name.name] = NameClass.FUNCTION
        return tree.BindFunction(span, name, node), unit.depth
    scope.names[name.name] = NameClass.ARRAY
    return tree.BindArray(span, name, node, annotation), unit.depth


def _own_value(binding: Binding, scope: Scope, name: str, tokens: Tokens) -> Unit:
    """The value of `name ← …`, where `name` inside a dfn means what is being bound if that is a function."""
    if not ends_in_function(scope, tokens[2:]):
        return bind_value(binding, scope, tokens[2:], tokens[1][1:3])
    outer, scope.own = scope.own, (name, class_by_content(scope, tokens[2:]))
    try:
        return bind_value(binding, scope, tokens[2:], tokens[1][1:3])
    finally:
        scope.own = outer


def ends_in_function(scope: Scope, tokens: Tokens) -> bool:
    """Whether a sequence denotes a function or an operator, by its last item alone."""
    while tokens:
        last = tokens[-1]
        before = tokens[-2] if len(tokens) > 1 else None
        if before is not None and _is_dyadic_operator(scope, before):
            return True
        match last.kind:
            case TokenKind.BRACES | TokenKind.GLYPH:
                return True
            case TokenKind.NAME:
                if last.text in CONVERSIONS or (before is not None and before.text == "."):
                    return True
                return scope.class_of(last.text) not in (None, NameClass.ARRAY)
            case TokenKind.QUAD:
                return last.text in FUNCTIONS
            case TokenKind.PARENTHESES:
                if has_diamond(last):
                    return False
                tokens = last.items
            case TokenKind.BRACKETS:
                tokens = tokens[:-1]
            case _:
                return False
    return False


def _is_dyadic_operator(scope: Scope, token: Token) -> bool:
    if token.kind is TokenKind.GLYPH:
        return token.text in DYADIC_OPERATORS and token.text != "."
    return token.kind is TokenKind.NAME and scope.class_of(token.text) is NameClass.DYADIC_OPERATOR


def class_by_content(scope: Scope, value: Tokens) -> NameClass:
    """The class of a name that gets a value which is not an array."""
    if len(value) == 1 and value[0].kind is TokenKind.NAME:
        return scope.class_of(value[0].text) or NameClass.FUNCTION
    if len(value) == 1 and value[0].kind is TokenKind.BRACES:
        if mentions(value[0].items, "⍵⍵"):
            return NameClass.DYADIC_OPERATOR
        if mentions(value[0].items, "⍺⍺"):
            return NameClass.MONADIC_OPERATOR
    return NameClass.FUNCTION
