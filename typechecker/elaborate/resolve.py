"""Function expressions → function values: operands are evaluated here, once."""

from __future__ import annotations

from typing import assert_never

from ...lang import tree
from ...lang.codes import Code
from ...lang.definitions import Argument, NameClass
from ...lang.dfns import bind_operator
from ..operands import Operand, Value, is_poisoned
from . import names
from .context import Context
from .environment import (
    AtopFunction,
    BrokenFunction,
    DerivedFunction,
    DfnFunction,
    ForkFunction,
    Frame,
    FunctionValue,
    OperatorValue,
    PrimitiveFunction,
)


def function(ctx: Context, node: tree.Function, frame: Frame, name: str = "") -> FunctionValue:
    """The function a function expression denotes."""
    ctx.spend(node.span)
    match node:
        case tree.Primitive():
            axis = None if node.axis is None else axis_operand(ctx, node.axis, frame)
            if isinstance(axis, BrokenFunction):
                return axis
            return PrimitiveFunction(node.span, node.glyph, axis, frame.file.index_origin)
        case tree.FunctionName() | tree.FunctionMember():
            return names.function_entry(ctx, node, frame)
        case tree.Dfn():
            return DfnFunction(node.span, node, frame.capture(node.captures), name)
        case tree.Fork() | tree.Atop():
            return _train(ctx, node, frame)
        case tree.Derived():
            return _derived(ctx, node, frame)
        case tree.OperatorCall():
            return _operator_call(ctx, node, frame, name)
        case _:
            assert_never(node)


def _train(ctx: Context, node: tree.Fork | tree.Atop, frame: Frame) -> FunctionValue:
    """Trains nest to the right: built by a loop, so that long ones need no recursion."""
    chain: list[tree.Fork | tree.Atop] = []
    last: tree.Function = node
    while isinstance(last, (tree.Fork, tree.Atop)):
        ctx.spend(last.span)
        chain.append(last)
        last = last.right if isinstance(last, tree.Fork) else last.inner
    value = function(ctx, last, frame)
    for part in reversed(chain):
        if isinstance(part, tree.Fork):
            middle = function(ctx, part.middle, frame)
            left = operand(ctx, part.left, frame)
            value = ForkFunction(part.span, left, middle, value)
        else:
            value = AtopFunction(part.span, function(ctx, part.outer, frame), value)
    return value


def _derived(ctx: Context, node: tree.Derived, frame: Frame) -> FunctionValue:
    """`f¨⍨/` nests to the left: also a loop.  What stands right is evaluated first."""
    chain: list[tuple[tree.Derived, Operand | None, list[FunctionValue | Value], FunctionValue | None]] = []
    head: tree.Function | tree.Expression = node
    while isinstance(head, tree.Derived):
        ctx.spend(head.span)
        if head.operator == "∂":
            ctx.error(Code.E620, "gradients (`∂`) arrive in a later version", head.span)
            return BrokenFunction(head.span)
        axis = None if head.axis is None else axis_operand(ctx, head.axis, frame)
        if isinstance(axis, BrokenFunction):
            return axis
        extras: list[FunctionValue | Value] = []
        until: FunctionValue | None = None
        for extra in head.operands[1:]:
            if isinstance(extra, tree.Tuple) and isinstance(extra.items[-1], tree.Function):  # `(n ⋄ p)`
                until = function(ctx, extra.items[-1], frame)
                extra = extra.items[0]
            extras.append(operand(ctx, extra, frame))
        chain.append((head, axis, extras, until))
        head = head.operands[0]
    value = operand(ctx, head, frame)
    for part, axis, extras, until in reversed(chain):
        value = DerivedFunction(part.span, part.operator, (value, *extras), axis, until, frame.file.index_origin)
    assert isinstance(value, DerivedFunction)
    return value


def operand(ctx: Context, node: tree.Function | tree.Expression, frame: Frame) -> FunctionValue | Value:
    """An operand of an operator or the left tine of a train."""
    if isinstance(node, tree.Function):
        return function(ctx, node, frame)
    value: Value = ctx.expression(ctx, node, frame)
    if isinstance(value, Operand):
        ctx.builder.wording.add(value.value, node.span)
    return value


def axis_operand(ctx: Context, node: tree.Expression, frame: Frame) -> Operand | BrokenFunction:
    value = ctx.expression(ctx, node, frame)
    if is_poisoned(value):
        return BrokenFunction(node.span)
    if not isinstance(value, Operand) or (value.static is None and value.constant is None):
        ctx.error(Code.E132, "an axis must be known before the program runs", node.span)
        return BrokenFunction(node.span)
    return value


def operator(ctx: Context, node: tree.Operator, frame: Frame) -> OperatorValue | BrokenFunction:
    """The user operator that a name or a dfn denotes."""
    match node:
        case tree.OperatorDfn():
            return OperatorValue(node.span, node, frame.capture(node.captures))
        case tree.OperatorName() | tree.OperatorMember():
            return names.operator_entry(ctx, node, frame)
        case _:
            assert_never(node)


def _operator_call(ctx: Context, node: tree.OperatorCall, frame: Frame, name: str) -> FunctionValue:
    found = operator(ctx, node.operator, frame)
    operands: list[FunctionValue | Value] = []
    for extra in node.operands:
        operands.append(operand(ctx, extra, frame))
    if isinstance(found, BrokenFunction):
        return BrokenFunction(node.span)
    wanted = 2 if found.node.dyadic else 1
    if len(operands) != wanted:
        ctx.error(Code.E130, f"this operator takes {wanted} operand{'s' if wanted > 1 else ''}, got {len(operands)}", node.span)
        return BrokenFunction(node.span)
    classes = [NameClass.FUNCTION if isinstance(x, FunctionValue) else NameClass.ARRAY for x in operands]
    dfn, problems = bind_operator(found.node, classes[0], classes[1] if wanted == 2 else None)
    for problem in problems:
        ctx.builder.report(problem)
    if dfn is None:
        return BrokenFunction(node.span)
    home = found.home.inner()
    for argument, value in zip((Argument.LEFT_OPERAND, Argument.RIGHT_OPERAND), operands, strict=False):
        home.bind(argument, value)
    return DfnFunction(node.span, dfn, home, _operator_name(node) or name)


def _operator_name(node: tree.OperatorCall) -> str:
    match node.operator:
        case tree.OperatorName() | tree.OperatorMember():
            return node.operator.name
        case _:
            return ""
