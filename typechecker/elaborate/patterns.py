"""Functions that only spell a primitive: `{⍺+⍵}` and `+⍨` are `+`, so that they reduce and pervade as one."""

from __future__ import annotations

from ...lang import tree
from .environment import DerivedFunction, DfnFunction, FunctionValue, PrimitiveFunction

_COMMUTATIVE = "+×∧∨⌈⌊=≠⍲⍱"


def simplified(function: FunctionValue) -> FunctionValue:
    """The primitive that `{⍺ f ⍵}` (or `{⍵ f ⍺}` and `f⍨` for a commutative f) spells, else the function itself."""
    commuted = commuted_primitive(function)
    if commuted is not None:
        return commuted if commuted.glyph in _COMMUTATIVE else function
    if not isinstance(function, DfnFunction) or len(function.node.body) != 1:
        return function
    statement = function.node.body[0]
    if not isinstance(statement, tree.Evaluate) or not isinstance(statement.value, tree.Dyadic):
        return function
    call = statement.value
    if not isinstance(call.function, tree.Primitive) or call.function.axis is not None:
        return function
    if not isinstance(call.left, tree.Name) or not isinstance(call.right, tree.Name):
        return function
    names = call.left.name + call.right.name
    if names == "⍺⍵" or (names == "⍵⍺" and call.function.glyph in _COMMUTATIVE):
        return PrimitiveFunction(call.function.span, call.function.glyph)
    return function


def commuted_primitive(function: FunctionValue) -> PrimitiveFunction | None:
    """The f of `f⍨`, if it is a primitive without an axis."""
    if not isinstance(function, DerivedFunction) or function.operator != "⍨":
        return None
    (operand,) = function.operands
    return operand if isinstance(operand, PrimitiveFunction) and operand.axis is None else None
