"""Dfns that only spell a primitive: `{⍺+⍵}` is `+`, so that it reduces and pervades as one."""

from __future__ import annotations

from ...lang import tree
from .functions import DfnFunction, FunctionValue, PrimitiveFunction

_COMMUTATIVE = "+×∧∨⌈⌊=≠⍲⍱"


def simplified(function: FunctionValue) -> FunctionValue:
    """The primitive that `{⍺ f ⍵}` (or `{⍵ f ⍺}` for a commutative f) spells, else the function itself."""
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
