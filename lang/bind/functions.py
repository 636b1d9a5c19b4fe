"""Binds `{…}`: the statements and guards of a dfn, and the body of a user operator at each application.

Every failing statement of a body is reported; the body as a whole then fails without a further diagnostic.
"""

from __future__ import annotations

from ..diagnostics.model import Code, Diagnostic
from ..support.records import replace
from ..syntax.source import Token, TokenKind, Tokens, mentions, split_at
from ..tree import expressions
from ..tree.expressions import NameClass
from .applications import expression_of
from .expressions import (
    bind_array,
    bind_assignment,
    bind_value,
    names_assigned_in,
    reject_strand_targets,
    require_array,
)
from .resolver import Resolver
from .scopes import BindContext, BindError, BindItem, ItemKind, NameScope, Resolution, is_assignment

_MAXIMUM_OPERATOR_DEPTH = 2
"""Levels of nested user operators whose bodies are checked at their definition; deeper ones only when applied."""


def bind_braces(context: BindContext, token: Token) -> BindItem:
    """The item of `{…}`: a function, or a user operator if `⍺⍺` or `⍵⍵` occurs in it (outside inner dfns)."""
    dyadic = mentions(token.items, "⍵⍵")
    if not dyadic and not mentions(token.items, "⍺⍺"):
        body, depth = _body(context, token)
        dfn = expressions.Dfn(context.span_of(token), body, mentions(token.items, "⍺"), token.meaning)
        return BindItem(ItemKind.FUNCTION, token.start, token.end, "", dfn, depth + 1)
    operator_scope: NameScope = token.meaning
    token = token._replace(meaning=None)
    operator_context = replace(context, resolution=Resolution(operator_scope), anchor=None)
    captures = tuple(operator_scope.symbols.values())
    operator = expressions.OperatorDfn(context.span_of(token), dyadic, token, captures, operator_context)
    _check_operator_body(context, operator)
    return BindItem(ItemKind.OPERATOR, token.start, token.end, "dyadic" if dyadic else "monadic", operator, 1)


def bind_operator(
    dfn: expressions.OperatorDfn, left_class: NameClass, right_class: NameClass | None = None
) -> tuple[expressions.Dfn | None, tuple[Diagnostic, ...]]:
    """Bind the body of a user operator for operands of these classes (`right_class` is None for a monadic operator).

    Returns the dfn, or None with the diagnostics that say why the body cannot be bound for them.
    """
    definition_context, token = dfn.scope, dfn.parsed
    assert isinstance(definition_context, BindContext) and isinstance(token, Token)
    operands = {"⍺⍺": left_class} if right_class is None else {"⍺⍺": left_class, "⍵⍵": right_class}
    top = replace(definition_context.resolution.top, failed_names=set(definition_context.resolution.top.failed_names))
    context = replace(
        definition_context, resolution=Resolution(top), diagnostics=[], failed_names=set(definition_context.failed_names),
        operator_depth=definition_context.operator_depth + 1,
    )  # fmt: skip
    resolved = token._replace(items=Resolver(context, dfn.span, {}).body(token, top.inner(operands)))
    try:
        body, _ = _body(context, resolved)
    except BindError as error:
        if error.diagnostic is not None:
            context.diagnostics.append(error.diagnostic)
        return None, tuple(context.diagnostics)
    return expressions.Dfn(dfn.span, body, mentions(token.items, "⍺"), dfn.captures), ()


def _check_operator_body(context: BindContext, operator: expressions.OperatorDfn) -> None:
    """Report an operator's body that cannot be bound for any classes of operands."""
    if context.operator_depth >= _MAXIMUM_OPERATOR_DEPTH:
        return
    first: tuple[Diagnostic, ...] | None = None
    rights = (NameClass.FUNCTION, NameClass.ARRAY) if operator.dyadic else (None,)
    for left in (NameClass.FUNCTION, NameClass.ARRAY):
        for right in rights:
            dfn, diagnostics = bind_operator(operator, left, right)
            if dfn is not None:
                return
            first = diagnostics if first is None else first
    context.diagnostics.extend(first or ())
    raise BindError(None)


# ------------------------------------------------------------------------------------- the body


def _body(context: BindContext, token: Token) -> tuple[tuple[expressions.Statement, ...], int]:
    statements: list[expressions.Statement] = []
    failed, outer_failed_names = False, context.failed_names
    context.failed_names = set(outer_failed_names)
    depth = 0
    for segment in split_at(token.items, TokenKind.SEPARATOR):
        if not segment:
            continue
        try:
            statement, levels = _statement(context, segment)
            statements.append(statement)
            depth = max(depth, levels)
        except BindError as error:
            if error.diagnostic is not None:
                context.diagnostics.append(error.diagnostic)
            failed = True
            context.failed_names.update(names_assigned_in(segment))
    context.failed_names = outer_failed_names
    if failed:
        raise BindError(None)
    if not statements:
        raise context.error(Code.E002, "this dfn has no statement, so it has no value", context.span_of(token))
    return tuple(statements), depth


def _statement(context: BindContext, tokens: Tokens) -> tuple[expressions.Statement, int]:
    colons = [index for index, token in enumerate(tokens) if token.kind is TokenKind.COLON]
    span = context.span(tokens[0].start, tokens[-1].end)
    if colons:
        return _guard(context, tokens, colons)
    if is_assignment(tokens):
        return bind_assignment(context, tokens)
    reject_strand_targets(context, tokens)
    item = bind_value(context, tokens, (tokens[0].start, tokens[-1].end))
    if item.kind is ItemKind.ARRAY:
        return expressions.Evaluate(span, expression_of(item)), item.depth
    assert item.node is not None and isinstance(item.node, expressions.Function | expressions.Operator)
    return expressions.BareFunction(span, item.node), item.depth


def _guard(context: BindContext, tokens: Tokens, colons: list[int]) -> tuple[expressions.Statement, int]:
    at = colons[0]
    colon = tokens[at]
    if at == 0:
        raise control_structure_error(context, tokens)
    if len(colons) > 1:
        second = context.span_of(tokens[colons[1]])
        raise context.error(Code.E017, "a guard has one `:`; start the next guard after a `⋄`", second)
    condition = bind_array(context, tokens[:at], colon[1:3])
    if at + 1 == len(tokens):
        raise context.error(Code.E002, "this guard has no value after its `:`", context.span_of(colon))
    value = require_array(context, bind_value(context, tokens[at + 1 :], colon[1:3]))
    span = context.span(tokens[0].start, tokens[-1].end)
    return expressions.Guard(span, expression_of(condition), expression_of(value)), max(condition.depth, value.depth)


_REPLACEMENTS = {
    "If": "a guard in a dfn, `{condition : value ⋄ other}`", "For": "an operator such as `¨`, `⍤`, `/` or `⍣`",
    "While": "`f⍣(n ⋄ p)`, which stops after n steps at most", "Repeat": "`f⍣(n ⋄ p)`, which stops after n steps at most",
    "Select": "guards in a dfn, `{a : x ⋄ b : y ⋄ z}`", "Return": "a guard in a dfn, `{condition : value ⋄ other}`",
}  # fmt: skip


def control_structure_error(context: BindContext, tokens: Tokens) -> BindError:
    """E017 for a control structure of other APLs (`:If`), or for a guard without a condition."""
    colon = tokens[0]
    if len(tokens) > 1 and tokens[1].kind is TokenKind.NAME and tokens[1].start == colon.end:
        word = tokens[1]
        replacement_text = next((use for start, use in _REPLACEMENTS.items() if word.text.lower().endswith(start.lower())), None)
        message = f"there is no `:{word.text}`" + (f"; use {replacement_text}" if replacement_text else "")
        return context.error(Code.E017, message, context.span(colon.start, word.end))
    return context.error(Code.E017, "this `:` has no condition on its left", context.span_of(colon))
