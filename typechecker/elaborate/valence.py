"""Whether a function looks at a left argument, or drops it.

A dfn without `⍺` may be called with two arguments, as in APL; from Python, where that is a mistake, it is refused.

Neighbours: `environment` (functions as values), `check.CheckResult`, `shell.embedding.functions`.
"""

from __future__ import annotations

from ..operands import Operand, TupleOperand
from .environment import AtopFunction, DerivedFunction, DfnFunction, ForkFunction

_FIRST = frozenset("¨˘⍤⍨∘⍥⍣")
"""Operators that give their first operand two arguments where they are given two."""


def drops_left(function: object) -> bool:
    """Does a call with two arguments have the same value for every left argument, because none of its dfns has `⍺`?"""
    match function:
        case DfnFunction(node=node):
            return not node.uses_alpha
        case AtopFunction(inner=inner):
            return drops_left(inner)
        case ForkFunction(left=left, right=right):
            return drops_left(left) and drops_left(right)
        case DerivedFunction(operator="⍛", operands=(_, last)):
            return drops_left(last)
        case DerivedFunction(operator="⍤", operands=(_, last)) if not isinstance(last, (Operand, TupleOperand)):
            return drops_left(last)
        case DerivedFunction(operator=operator, operands=(first, *_)) if operator in _FIRST:
            return drops_left(first)
    return False
