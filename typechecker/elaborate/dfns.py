"""Dfns: statements in order, guards as branches.

A call is expanded in place with its argument operands, so singletons and constants flow in.
"""

from __future__ import annotations

from ...lang import tree
from ...lang.codes import Code
from ...lang.definitions import Argument
from ...lang.diagnostics import Label
from ...lang.source import Span
from ..elements import Kind
from ..operands import Operand, Value, is_poisoned
from ..rules.common import is_boolean
from ..rules.static_arguments import static_integer
from . import branches, expressions, resolve
from .context import Context
from .environment import DfnFunction, Frame


def call(ctx: Context, function: DfnFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Expand a dfn on its arguments."""
    frame = function.home.inner(span)
    frame.bind(Argument.RIGHT, right)
    if left is not None:
        frame.bind(Argument.LEFT, left)
    builder = ctx.builder
    origin = builder.index_origin
    builder.index_origin = frame.file.index_origin
    defining = builder.ledger.clause_site is not None and _within(builder.ledger.clause_site.at, span)
    elsewhere = not defining and not _within(function.node.span, span)
    if elsewhere:
        builder.reports.calls.append(span)
    try:
        value = _statements(ctx, function.node, 0, frame)
    finally:
        builder.index_origin = origin
        if elsewhere:
            builder.reports.calls.pop()
    return value


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end


def _statements(ctx: Context, dfn: tree.Dfn, start: int, frame: Frame) -> Value:
    """Run the statements from `start`; the value is the last expression's."""
    value: Value | None = None
    for at in range(start, len(dfn.body)):
        statement = dfn.body[at]
        if isinstance(statement, tree.Guard):
            return _guard(ctx, dfn, at, statement, frame)
        found = _statement(ctx, statement, frame)
        value = found if found is not None else value
    if value is None:
        return ctx.error(Code.E134, "this function has no value: it does not end with an expression", dfn.span)
    return value


def _statement(ctx: Context, statement: tree.Statement, frame: Frame) -> Value | None:
    """Run one statement other than a guard; its value if it has one."""
    match statement:
        case tree.Evaluate():
            return ctx.expression(ctx, statement.value, frame)
        case tree.BindArray():
            if _is_alpha(statement.target):
                if frame.find(Argument.LEFT) is not None:
                    return None
                default = ctx.expression(ctx, statement.value, frame)
                frame.bind(Argument.LEFT, default)
                return default
            value = ctx.expression(ctx, statement.value, frame)
            expressions.bind_target(ctx, statement.target, value, frame)
            return value
        case tree.BindFunction():
            target = statement.target
            frame.bind(target.definition, resolve.function(ctx, statement.value, frame, target.name))
            return None
        case tree.BindOperator():
            frame.bind(statement.target.definition, resolve.operator(ctx, statement.value, frame))
            return None
        case _:
            return ctx.error(
                Code.E134,
                "the value of this statement is a function: functions can be named and passed to operators, not returned",
                statement.span,
            )


def _is_alpha(target: tree.Target) -> bool:
    return isinstance(target, tree.NameTarget) and target.definition is Argument.LEFT


def _guard(ctx: Context, dfn: tree.Dfn, at: int, guard: tree.Guard, frame: Frame) -> Value:
    """`cond : value`, then the rest: decided while checking if cond is static, else a branch."""
    ctx.spend(guard.span)
    condition = condition_operand(ctx, ctx.expression(ctx, guard.condition, frame), guard.condition.span)
    if condition.poisoned:
        return condition
    known = static_integer(ctx.builder, condition)
    if known is not None:
        return ctx.expression(ctx, guard.value, frame) if known else _statements(ctx, dfn, at + 1, frame)

    def then() -> Value:
        return ctx.expression(ctx, guard.value, frame.inner())

    def otherwise() -> Value:
        if at + 1 == len(dfn.body):
            return ctx.error(
                Code.E134,
                "this function has no value when its last condition does not hold",
                guard.span,
                notes=("end the function with an expression after the guards",),
            )
        return _statements(ctx, dfn, at + 1, frame.inner())

    with ctx.deeper(guard.span):
        rest = Label(dfn.body[-1].span, "the other exit")
        return branches.branch(ctx, condition, then, otherwise, guard.span, guard.value.span, rest)


def condition_operand(ctx: Context, value: Value, span: Span) -> Operand:
    """A scalar bool (E303); the literals 0 and 1 will do."""
    if is_poisoned(value):
        return ctx.builder.poison(span)
    x = expressions.single(ctx, value, span)
    if x.poisoned:
        return x
    if x.type.rank > 0:
        return ctx.error(
            Code.E303,
            f"a condition is one truth value, but this is an array of rank {x.type.rank}",
            span,
            notes=("reduce it: `∧/` (all) or `∨/` (any)",),
        )
    element = x.type.element
    if is_boolean(element):
        return ctx.builder.convert(x, Kind.BOOL, span)
    return ctx.error(Code.E303, f"a condition is a bool, but this is {element.kind.value}", span, notes=("compare it: `x≠0`",))
