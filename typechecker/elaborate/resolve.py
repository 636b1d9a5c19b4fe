"""Function expressions → function values: operands are evaluated here, once."""

from __future__ import annotations

from typing import assert_never

from ...lang import tree
from ...lang.codes import Code
from ..operands import Operand, Value
from . import names
from .context import Context, is_poisoned
from .environment import (
    AtopFunction,
    BrokenFunction,
    DerivedFunction,
    DfnFunction,
    ForkFunction,
    FunctionValue,
    Missing,
    Module,
    OperatorValue,
    PrimitiveFunction,
    Scope,
    is_function,
)

_FUNCTION_NODES = (
    tree.Primitive,
    tree.FunctionName,
    tree.FunctionMember,
    tree.Dfn,
    tree.Fork,
    tree.Atop,
    tree.Derived,
    tree.OperatorCall,
)


def is_function_node(node: tree.Function | tree.Expression) -> bool:
    return isinstance(node, _FUNCTION_NODES)


def function(ctx: Context, node: tree.Function, scope: Scope, name: str = "") -> FunctionValue:
    """The function a function expression denotes."""
    ctx.spend(node.span)
    match node:
        case tree.Primitive():
            axis = None if node.axis is None else axis_operand(ctx, node.axis, scope)
            if isinstance(axis, BrokenFunction):
                return axis
            return PrimitiveFunction(node.span, node.glyph, axis, scope.file.index_origin)
        case tree.FunctionName():
            return names.function_entry(ctx, node.name, scope, node.span)
        case tree.FunctionMember():
            entry = names.module_member(ctx, node.module, node.name, scope, node.span)
            if entry is None or isinstance(entry, (Missing, Module, OperatorValue)) or not is_function(entry):
                if entry is not None:
                    ctx.error(Code.E134, f"`{node.module}.{node.name}` is not a function", node.span)
                return BrokenFunction(node.span)
            return entry  # type: ignore[return-value]
        case tree.Dfn():
            return DfnFunction(node.span, node, scope.now(), name)
        case tree.Fork() | tree.Atop():
            return _train(ctx, node, scope)
        case tree.Derived():
            return _derived(ctx, node, scope)
        case tree.OperatorCall():
            return _operator_call(ctx, node, scope, name)
        case _:
            assert_never(node)


def _train(ctx: Context, node: tree.Fork | tree.Atop, scope: Scope) -> FunctionValue:
    """Trains nest to the right: built by a loop, so that long ones need no recursion."""
    chain: list[tree.Fork | tree.Atop] = []
    last: tree.Function = node
    while isinstance(last, (tree.Fork, tree.Atop)):
        ctx.spend(last.span)
        chain.append(last)
        last = last.right if isinstance(last, tree.Fork) else last.inner
    value = function(ctx, last, scope)
    for part in reversed(chain):
        if isinstance(part, tree.Fork):
            middle = function(ctx, part.middle, scope)
            left = operand(ctx, part.left, scope)
            value = ForkFunction(part.span, left, middle, value)
        else:
            value = AtopFunction(part.span, function(ctx, part.outer, scope), value)
    return value


def _derived(ctx: Context, node: tree.Derived, scope: Scope) -> FunctionValue:
    """`f¨⍨/` nests to the left: also a loop."""
    chain: list[tree.Derived] = []
    head: tree.Function | tree.Expression = node
    while isinstance(head, tree.Derived):
        ctx.spend(head.span)
        chain.append(head)
        head = head.operands[0]
    value = operand(ctx, head, scope)
    for part in reversed(chain):
        if part.operator == "∂":
            ctx.error(Code.E620, "gradients (`∂`) arrive in a later version", part.span)
            return BrokenFunction(part.span)
        operands: list[FunctionValue | Value] = [value]
        until: FunctionValue | None = None
        for extra in part.operands[1:]:
            if isinstance(extra, tree.Tuple) and is_function_node(extra.items[-1]):  # `(n ⋄ p)`
                until = function(ctx, extra.items[-1], scope)  # type: ignore[arg-type]
                extra = extra.items[0]
            operands.append(operand(ctx, extra, scope))
        axis = None if part.axis is None else axis_operand(ctx, part.axis, scope)
        if isinstance(axis, BrokenFunction):
            return axis
        value = DerivedFunction(part.span, part.operator, tuple(operands), axis, until, scope.file.index_origin)
    assert isinstance(value, DerivedFunction)
    return value


def operand(ctx: Context, node: tree.Function | tree.Expression, scope: Scope) -> FunctionValue | Value:
    """An operand of an operator or the left tine of a train."""
    if is_function_node(node):
        return function(ctx, node, scope)  # type: ignore[arg-type]
    value: Value = ctx.expression(ctx, node, scope)  # type: ignore[arg-type]
    if isinstance(value, Operand):
        ctx.builder.wording.add(value.value, node.span)
    return value


def axis_operand(ctx: Context, node: tree.Expression, scope: Scope) -> Operand | BrokenFunction:
    value = ctx.expression(ctx, node, scope)
    if is_poisoned(value):
        return BrokenFunction(node.span)
    if not isinstance(value, Operand) or (value.static is None and value.constant is None):
        ctx.error(Code.E132, "an axis must be known before the program runs", node.span)
        return BrokenFunction(node.span)
    return value


def operator(ctx: Context, node: tree.Operator, scope: Scope) -> OperatorValue | None:
    """The user operator that a name or a dfn denotes."""
    match node:
        case tree.OperatorDfn():
            return OperatorValue(node.span, node, scope.now())
        case tree.OperatorName():
            return names.operator_entry(ctx, node.name, scope, node.span)
        case tree.OperatorMember():
            entry = names.module_member(ctx, node.module, node.name, scope, node.span)
            if isinstance(entry, OperatorValue):
                return entry
            if entry is not None:
                ctx.error(Code.E134, f"`{node.module}.{node.name}` is not an operator", node.span)
            return None
        case _:
            assert_never(node)


def _operator_call(ctx: Context, node: tree.OperatorCall, scope: Scope, name: str) -> FunctionValue:
    from ...lang import binder

    found = operator(ctx, node.operator, scope)
    operands: list[FunctionValue | Value] = []
    for extra in node.operands:
        operands.append(operand(ctx, extra, scope))
    if found is None:
        return BrokenFunction(node.span)
    wanted = 2 if found.node.dyadic else 1
    if len(operands) != wanted:
        ctx.error(Code.E130, f"this operator takes {wanted} operand{'s' if wanted > 1 else ''}, got {len(operands)}", node.span)
        return BrokenFunction(node.span)
    classes = [tree.NameClass.FUNCTION if is_function(x) else tree.NameClass.ARRAY for x in operands]
    dfn, problems = binder.bind_operator(found.node, classes[0], classes[1] if wanted == 2 else None)
    for problem in problems:
        ctx.builder.report(problem)
    if dfn is None:
        return BrokenFunction(node.span)
    inner = Scope(found.home.scope.file, found.home)
    for symbol, value in zip(("⍺⍺", "⍵⍵"), operands, strict=False):
        inner.bind(symbol, value)
    return DfnFunction(node.span, dfn, inner.now(), _operator_name(node) or name)


def _operator_name(node: tree.OperatorCall) -> str:
    match node.operator:
        case tree.OperatorName() | tree.OperatorMember():
            return node.operator.name
        case _:
            return ""
