"""Binds `{…}`: the statements of a dfn, its guards, and user operators when they are applied.

Errors of the statements of one body are all reported; the body then counts as broken without another error.
"""

from __future__ import annotations

from dataclasses import replace

from ..diagnostics.model import Code, Diagnostic
from ..syntax.lexer import TokenKind
from ..syntax.source import Token, mentions, split_at
from ..tree import expressions
from ..tree.expressions import NameClass
from .expressions import bind_array, bind_assignment, bind_value, expression_of, failed_names, need_array, refuse_bare_names
from .resolver import Resolver
from .scopes import BindContext, BindError, Resolution, Unit, UnitKind, is_assignment

Tokens = tuple[Token, ...]

_MAXIMUM_TRIALS = 2
"""Operators inside operators whose bodies are tried out at their definition."""


def bind_braces(binding: BindContext, token: Token) -> Unit:
    """A function, or a user operator if `⍺⍺` or `⍵⍵` occurs in it (inner dfns not counted)."""
    dyadic = mentions(token.items, "⍵⍵")
    if not dyadic and not mentions(token.items, "⍺⍺"):
        body, depth = _body(binding, token)
        captures = binding.names.captures[binding.base + token.start]
        dfn = expressions.Dfn(binding.of(token), body, mentions(token.items, "⍺"), captures)
        return Unit(UnitKind.FUNCTION, token.start, token.end, "", dfn, depth + 1)
    home = binding.names.homes[binding.base + token.start]
    inside = replace(binding, names=Resolution(home), anchor=None)
    operator = expressions.OperatorDfn(binding.of(token), dyadic, token, tuple(home.symbols.values()), inside)
    _try_out(binding, operator)
    return Unit(UnitKind.OPERATOR, token.start, token.end, "dyadic" if dyadic else "monadic", operator, 1)


def bind_operator(
    dfn: expressions.OperatorDfn, left_class: NameClass, right_class: NameClass | None = None
) -> tuple[expressions.Dfn | None, tuple[Diagnostic, ...]]:
    """The body of a user operator for operands of these classes (`right_class` None for a monadic operator).

    None with the reasons if the body makes no sense for them.
    """
    home, token = dfn.scope, dfn.parsed
    assert isinstance(home, BindContext) and isinstance(token, Token)
    operands = {"⍺⍺": left_class} if right_class is None else {"⍺⍺": left_class, "⍵⍵": right_class}
    top = replace(home.names.top, quiet=set(home.names.top.quiet))
    binding = replace(home, names=Resolution(top), diagnostics=[], broken=set(home.broken), trials=home.trials + 1)
    Resolver(binding, dfn.span, {}).body(token, top.inner(operands))
    try:
        body, _ = _body(binding, token)
    except BindError as problem:
        if problem.diagnostic is not None:
            binding.diagnostics.append(problem.diagnostic)
        return None, tuple(binding.diagnostics)
    return expressions.Dfn(dfn.span, body, mentions(token.items, "⍺"), dfn.captures), ()


def _try_out(binding: BindContext, operator: expressions.OperatorDfn) -> None:
    """Report what is wrong with an operator's body whatever its operands are."""
    if binding.trials >= _MAXIMUM_TRIALS:
        return
    first: tuple[Diagnostic, ...] | None = None
    rights = (NameClass.FUNCTION, NameClass.ARRAY) if operator.dyadic else (None,)
    for left in (NameClass.FUNCTION, NameClass.ARRAY):
        for right in rights:
            dfn, problems = bind_operator(operator, left, right)
            if dfn is not None:
                return
            first = problems if first is None else first
    binding.diagnostics.extend(first or ())
    raise BindError(None)


# ------------------------------------------------------------------------------------- the body


def _body(binding: BindContext, token: Token) -> tuple[tuple[expressions.Statement, ...], int]:
    statements: list[expressions.Statement] = []
    broken, around = False, binding.broken
    binding.broken = set(around)
    depth = 0
    for segment in split_at(token.items, TokenKind.SEPARATOR):
        if not segment:
            continue
        try:
            statement, levels = _statement(binding, segment)
            statements.append(statement)
            depth = max(depth, levels)
        except BindError as problem:
            if problem.diagnostic is not None:
                binding.diagnostics.append(problem.diagnostic)
            broken = True
            binding.broken.update(failed_names(segment))
    binding.broken = around
    if broken:
        raise BindError(None)
    if not statements:
        raise binding.problem(Code.E002, "this dfn has no statement, so it has no value", binding.of(token))
    return tuple(statements), depth


def _statement(binding: BindContext, tokens: Tokens) -> tuple[expressions.Statement, int]:
    colons = [index for index, token in enumerate(tokens) if token.kind is TokenKind.COLON]
    span = binding.span(tokens[0].start, tokens[-1].end)
    if colons:
        return _guard(binding, tokens, colons)
    if is_assignment(tokens):
        return bind_assignment(binding, tokens)
    refuse_bare_names(binding, tokens)
    unit = bind_value(binding, tokens, (tokens[0].start, tokens[-1].end))
    if unit.kind is UnitKind.ARRAY:
        return expressions.Evaluate(span, expression_of(unit)), unit.depth
    assert unit.node is not None and isinstance(unit.node, expressions.Function | expressions.Operator)
    return expressions.BareFunction(span, unit.node), unit.depth


def _guard(binding: BindContext, tokens: Tokens, colons: list[int]) -> tuple[expressions.Statement, int]:
    at = colons[0]
    colon = tokens[at]
    if at == 0:
        raise control_word(binding, tokens)
    if len(colons) > 1:
        raise binding.problem(Code.E017, "a guard has one `:`; start the next guard after a `⋄`", binding.of(tokens[colons[1]]))
    condition = bind_array(binding, tokens[:at], colon[1:3])
    if at + 1 == len(tokens):
        raise binding.problem(Code.E002, "this guard has no value after its `:`", binding.of(colon))
    value = need_array(binding, bind_value(binding, tokens[at + 1 :], colon[1:3]))
    span = binding.span(tokens[0].start, tokens[-1].end)
    return expressions.Guard(span, expression_of(condition), expression_of(value)), max(condition.depth, value.depth)


_INSTEAD = {
    "If": "a guard in a dfn, `{condition : value ⋄ other}`", "For": "an operator such as `¨`, `⍤`, `/` or `⍣`",
    "While": "`f⍣(n ⋄ p)`, which stops after n steps at most", "Repeat": "`f⍣(n ⋄ p)`, which stops after n steps at most",
    "Select": "guards in a dfn, `{a : x ⋄ b : y ⋄ z}`", "Return": "a guard in a dfn, `{condition : value ⋄ other}`",
}  # fmt: skip


def control_word(binding: BindContext, tokens: Tokens) -> BindError:
    """`:If` and its like, or a guard without a condition."""
    colon = tokens[0]
    if len(tokens) > 1 and tokens[1].kind is TokenKind.NAME and tokens[1].start == colon.end:
        word = tokens[1]
        instead = next((use for start, use in _INSTEAD.items() if word.text.lower().endswith(start.lower())), None)
        message = f"there is no `:{word.text}`" + (f"; use {instead}" if instead else "")
        return binding.problem(Code.E017, message, binding.span(colon.start, word.end))
    return binding.problem(Code.E017, "this `:` has no condition on its left", binding.of(colon))
