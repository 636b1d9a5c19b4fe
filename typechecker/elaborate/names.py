"""What names stand for, and what is wrong where one stands for nothing of the kind that is needed."""

from __future__ import annotations

from typing import TypeAlias

from ...lang import tree
from ...lang.codes import Code
from ...lang.definitions import Argument
from ...lang.diagnostics import Label
from ..operands import Operand, TupleOperand, Value
from .context import Context
from .environment import BrokenFunction, Entry, Frame, FunctionValue, Module, OperatorValue

_Name: TypeAlias = tree.Name | tree.FunctionName | tree.OperatorName
_Member: TypeAlias = tree.Member | tree.FunctionMember | tree.OperatorMember


def array_entry(ctx: Context, node: tree.Name | tree.Member, frame: Frame) -> Value:
    """The array or tuple that a name stands for."""
    entry = _entry(ctx, node, frame)
    return entry if isinstance(entry, Operand | TupleOperand) else _unusable(ctx, node, entry)


def function_entry(ctx: Context, node: tree.FunctionName | tree.FunctionMember, frame: Frame) -> FunctionValue:
    """The function that a name stands for."""
    entry = _entry(ctx, node, frame)
    if isinstance(entry, FunctionValue):
        return entry
    _unusable(ctx, node, entry)
    return BrokenFunction(node.span)


def operator_entry(ctx: Context, node: tree.OperatorName | tree.OperatorMember, frame: Frame) -> OperatorValue | BrokenFunction:
    entry = _entry(ctx, node, frame)
    if isinstance(entry, OperatorValue):
        return entry
    _unusable(ctx, node, entry)
    return BrokenFunction(node.span)


def _entry(ctx: Context, node: _Name | _Member, frame: Frame) -> Entry | None:
    entry = frame.find(node.definition)
    if isinstance(node, _Member):
        return entry.entries.get(node.name) if isinstance(entry, Module) else entry
    if entry is not None or node.definition is not Argument.LEFT:
        return entry
    poison = ctx.error(
        Code.E133,
        "this function needs a left argument: it uses `⍺` but is called with one argument",
        node.span,
        labels=() if frame.called is None else (Label(frame.called, "called here"),),
        notes=("give it a default with `⍺←…` as a statement of the function",),
    )
    frame.bind(Argument.LEFT, poison)
    return poison


def _unusable(ctx: Context, node: _Name | _Member, entry: Entry | None) -> Operand:
    """Poison: quiet where it is known that the binding is wrong."""
    wrong = isinstance(entry, BrokenFunction) or (isinstance(entry, Operand) and entry.poisoned)
    if wrong:
        return ctx.builder.poison(node.span)
    name = node.name if isinstance(node, _Name) else f"{node.module}.{node.name}"
    return ctx.error(Code.E134, f"`{name}` cannot be used here: it has no value yet, or one of another class", node.span)
