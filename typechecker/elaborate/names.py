"""Elaborates names to their values, and function expressions to function values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, assert_never

from ...lang.bind.functions import bind_operator
from ...lang.diagnostics.model import Code, Label
from ...lang.support.records import replace
from ...lang.syntax.source import LIBRARY_PREFIX, Span
from ...lang.tree import expressions
from ...lang.tree.expressions import Argument, NameClass, Symbol, SymbolKind
from ..values.facts import Operand, TupleOperand, Value, is_poisoned
from .context import (
    AtopFunction,
    BrokenFunction,
    Context,
    DerivedFunction,
    DfnFunction,
    Entry,
    ForkFunction,
    Frame,
    FunctionValue,
    Module,
    OperatorValue,
    PrimitiveFunction,
    SignedFunction,
)

# ---------------------------------------------------------------------------------------------------- names

_Name: TypeAlias = expressions.Name | expressions.FunctionName | expressions.OperatorName
_Member: TypeAlias = expressions.Member | expressions.FunctionMember | expressions.OperatorMember


def array_entry(ctx: Context, node: expressions.Name | expressions.Member, frame: Frame) -> Value:
    """The array or tuple that a name stands for."""
    entry = _entry(ctx, node, frame)
    return entry if isinstance(entry, Operand | TupleOperand) else _unusable(ctx, node, entry)


def function_entry(ctx: Context, node: expressions.FunctionName | expressions.FunctionMember, frame: Frame) -> FunctionValue:
    """The function that a name stands for."""
    entry = _entry(ctx, node, frame)
    if isinstance(entry, FunctionValue):
        return entry
    _unusable(ctx, node, entry)
    return BrokenFunction(node.span)


def operator_entry(
    ctx: Context, node: expressions.OperatorName | expressions.OperatorMember, frame: Frame
) -> OperatorValue | BrokenFunction:
    entry = _entry(ctx, node, frame)
    if isinstance(entry, OperatorValue):
        return entry
    _unusable(ctx, node, entry)
    return BrokenFunction(node.span)


def _entry(ctx: Context, node: _Name | _Member, frame: Frame) -> Entry | None:
    entry = frame.find(node.definition)
    if isinstance(node, _Member):
        return entry.entries.get(node.name) if isinstance(entry, Module) else entry
    if entry is None and isinstance(node.definition, Symbol) and node.definition.kind is SymbolKind.SIZE:
        size = frame.size(node.name)
        if size is None and frame.file.is_faulty:
            return ctx.builder.poison(node.span)  # of a signature that was refused
        return None if size is None else ctx.builder.size_value(size, node.span)
    if entry is not None or node.definition is not Argument.LEFT:
        return entry
    poison = ctx.error(
        Code.E133,
        "this function needs a left argument: it uses `⍺` but is called with one argument",
        node.span,
        labels=() if frame.call_span is None else (Label(frame.call_span, "called here"),),
        notes=(_missing_left(ctx, node.span, frame.call_span),),
    )
    frame.bind(Argument.LEFT, poison)
    return poison


def _missing_left(ctx: Context, mention: Span, call: Span | None) -> str:
    """The text that tells how a call gives the left argument which a function mentions."""
    text = "" if call is None else ctx.builder.source_names.text(call)
    if text.endswith("∂") and not text.startswith("∆"):
        return "the left of `f∂` is the cotangent of the result: give `f` its left argument inside, as in `{a f ⍵}∂ x`"
    if ctx.builder.sink.outside(mention) is not mention:
        return f"write it before the function: `a {ctx.builder.source_names.text(ctx.builder.sink.outside(mention))} x`"
    return "call it with two arguments, or give `⍺` a default with `⍺←…` as a statement of the function"


def _unusable(ctx: Context, node: _Name | _Member, entry: Entry | None) -> Operand:
    """Poison for a name without a usable value; E134 unless its binding has failed already."""
    wrong = isinstance(entry, BrokenFunction) or (isinstance(entry, Operand) and entry.poisoned)
    if wrong:
        return ctx.builder.poison(node.span)
    name = node.name if isinstance(node, _Name) else f"{node.module}.{node.name}"
    return ctx.error(Code.E134, f"`{name}` cannot be used here: it has no value yet, or one of another class", node.span)


# ---------------------------------------------------------------------------------------------------- function values
#
# Array operands are evaluated here, once.

def function(ctx: Context, node: expressions.Function, frame: Frame, name: str = "") -> FunctionValue:
    """The function value of a function expression."""
    ctx.spend(node.span)
    match node:
        case expressions.GlyphFunction():
            axis = None if node.axis is None else axis_operand(ctx, node.axis, frame)
            if isinstance(axis, BrokenFunction):
                return axis
            return PrimitiveFunction(node.span, node.glyph, axis, frame.file.index_origin)
        case expressions.FunctionName() | expressions.FunctionMember():
            return function_entry(ctx, node, frame)
        case expressions.Dfn():
            return DfnFunction(node.span, node, frame.capture(node.captures), name)
        case expressions.Fork() | expressions.Atop():
            return _train(ctx, node, frame)
        case expressions.Derived():
            return _derived(ctx, node, frame)
        case expressions.OperatorCall():
            return _operator_call(ctx, node, frame, name)
        case _:
            assert_never(node)


def _train(ctx: Context, node: expressions.Fork | expressions.Atop, frame: Frame) -> FunctionValue:
    """The value of a train; trains nest to the right and are built in a loop, without recursion."""
    chain: list[expressions.Fork | expressions.Atop] = []
    last: expressions.Function = node
    while isinstance(last, (expressions.Fork, expressions.Atop)):
        ctx.spend(last.span)
        chain.append(last)
        last = last.right if isinstance(last, expressions.Fork) else last.inner
    value = function(ctx, last, frame)
    for part in reversed(chain):
        if isinstance(part, expressions.Fork):
            middle = function(ctx, part.middle, frame)
            left = operand(ctx, part.left, frame)
            value = ForkFunction(part.span, left, middle, value)
        else:
            value = AtopFunction(part.span, function(ctx, part.outer, frame), value)
    return value


def _derived(ctx: Context, node: expressions.Derived, frame: Frame) -> FunctionValue:
    """The value of a derived function; `f¨⍨/` nests to the left and is built in a loop.  Right operands are evaluated first."""
    chain: list[tuple[expressions.Derived, Operand | None, list[FunctionValue | Value], FunctionValue | None]] = []
    head: expressions.Function | expressions.Expression = node
    while isinstance(head, expressions.Derived):
        ctx.spend(head.span)
        axis = None if head.axis is None else axis_operand(ctx, head.axis, frame)
        if isinstance(axis, BrokenFunction):
            return axis
        extras: list[FunctionValue | Value] = []
        until: FunctionValue | None = None
        for extra in head.operands[1:]:
            if isinstance(extra, expressions.Tuple) and isinstance(extra.items[-1], expressions.Function):  # `(n ⋄ p)`
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


def operand(ctx: Context, node: expressions.Function | expressions.Expression, frame: Frame) -> FunctionValue | Value:
    """The value of an operand of an operator, or of the left tine of a train."""
    if isinstance(node, expressions.Function):
        return function(ctx, node, frame)
    value: Value = ctx.expression(ctx, node, frame)
    if isinstance(value, Operand):
        ctx.builder.source_names.add(value.value, node.span)
    return value


def axis_operand(ctx: Context, node: expressions.Expression, frame: Frame) -> Operand | BrokenFunction:
    value = ctx.expression(ctx, node, frame)
    if is_poisoned(value):
        return BrokenFunction(node.span)
    if not isinstance(value, Operand) or (value.static is None and value.constant is None):
        ctx.error(Code.E132, "an axis must be known before the program runs", node.span)
        return BrokenFunction(node.span)
    return value


def operator(ctx: Context, node: expressions.Operator, frame: Frame) -> OperatorValue | BrokenFunction:
    """The user operator that a name or a dfn denotes."""
    match node:
        case expressions.OperatorDfn():
            return OperatorValue(node.span, node, frame.capture(node.captures))
        case expressions.OperatorName() | expressions.OperatorMember():
            return operator_entry(ctx, node, frame)
        case _:
            assert_never(node)


def _operator_call(ctx: Context, node: expressions.OperatorCall, frame: Frame, name: str) -> FunctionValue:
    applied = operator(ctx, node.operator, frame)
    operands: list[FunctionValue | Value] = []
    for extra in node.operands:
        operands.append(operand(ctx, extra, frame))
    if isinstance(applied, BrokenFunction):
        return BrokenFunction(node.span)
    return derive(ctx, applied, operands, node.span, _operator_name(node) or name)


def derive(
    ctx: Context, applied: OperatorValue, operands: Sequence[FunctionValue | Value], span: Span, name: str
) -> FunctionValue:  # fmt: skip
    """The function that a user operator gives with these operands; those of a signature have the types that it states."""
    expected = 2 if applied.node.dyadic else 1
    signed = applied.signed
    if len(operands) != expected:
        ctx.error(
            Code.E130, f"this operator takes {expected} operand{'s' if expected > 1 else ''}, got {len(operands)}", span
        )
        return BrokenFunction(span)
    if signed is not None:
        operands = [_operand_of(ctx, signed, at, x, span) for at, x in enumerate(operands)]
    classes = [NameClass.FUNCTION if isinstance(x, FunctionValue) else NameClass.ARRAY for x in operands]
    dfn, problems = bind_operator(applied.node, classes[0], classes[1] if expected == 2 else None)
    if any(problem.span.file.startswith(LIBRARY_PREFIX) for problem in problems):
        wanted, given = ("a function", "an array") if NameClass.ARRAY in classes else ("an array", "a function")
        message = f"`{name}` needs {wanted} as its operand, but this is {given}"
        ctx.error(Code.E008, message, span, notes=(f"the operand is left of the operator: `f {name}`",) if expected == 1 else ())
    else:
        for problem in problems:
            ctx.builder.report(problem)
    if dfn is None:
        return BrokenFunction(span)
    closure = applied.closure.inner()
    for argument, value in zip((Argument.LEFT_OPERAND, Argument.RIGHT_OPERAND), operands, strict=False):
        closure.bind(argument, value)
    derived = DfnFunction(span, dfn, closure, name)
    return derived if signed is None else replace(signed, body=derived, bodies={})


def _operand_of(
    ctx: Context, signed: SignedFunction, at: int, value: FunctionValue | Value, span: Span
) -> FunctionValue:  # fmt: skip
    """An operand with the signature that the operator states for it (E134 for an array)."""
    if isinstance(value, (Operand, TupleOperand)):
        if not is_poisoned(value):
            ctx.error(Code.E134, f"`{signed.name}` needs a function as its operand, but this is an array", span)
        return BrokenFunction(span)
    stated = signed.signature.operands[at]
    return SignedFunction(stated.span, "⍺⍺⍵⍵"[2 * at : 2 * at + 2], stated, value, signed.file, signed.params)


def _operator_name(node: expressions.OperatorCall) -> str:
    match node.operator:
        case expressions.OperatorName() | expressions.OperatorMember():
            return node.operator.name
        case _:
            return ""
