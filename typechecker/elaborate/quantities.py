"""The quantities of a signature, checked where the function is defined (`quantities.contracts` decides)."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang import program_tree, type_tree
from ...lang.diagnostics import Diagnostic
from ..core_blocks import Block, CoreCall
from ..operands import Value, leaves
from ..quantities.contracts import Contract, violation
from ..quantities.demand import demands_of_block
from ..quantities.grades import ANY, Grade
from ..sizes import ZERO, least, maximum
from . import type_expressions
from .context import Context


def states_quantities(signature: program_tree.Signature) -> bool:
    """Does it say more than ω?"""
    given = [p.quantity for p in (signature.left, signature.right) if p is not None and p.quantity is not None]
    return any(quantity.high is not None for quantity in given)


def violations(
    ctx: Context, signature: program_tree.Signature, args: Sequence[Value], block: Block, names: type_expressions.Names,
    known: frozenset[str], calls: Sequence[CoreCall],
) -> list[Diagnostic]:  # fmt: skip
    """What the body, expanded on `args` into `block`, does that its signature does not allow; `calls` are those in it."""
    builder = ctx.builder
    parameters = [p for p in (signature.left, signature.right) if p is not None]
    letters = ("⍺", "⍵")[2 - len(parameters) :]
    demands = demands_of_block(block, block.results, builder.types, builder.spans, builder.ledger.premises, calls)
    found: list[Diagnostic] = []
    for parameter, letter, arg in zip(parameters, letters, args, strict=True):
        if parameter.quantity is None:
            continue
        declared = declared_grade(ctx, parameter.quantity, names)
        if declared is None:
            continue
        for x in leaves(arg):
            contract = Contract(letter, x.value, declared, parameter.quantity.span, builder.spans[x.value], known)
            diagnostic = violation(contract, demands, builder.ledger.premises, ctx.mentions)
            if diagnostic is not None:
                found.append(diagnostic)
                break
    return found


def declared_grade(ctx: Context, quantity: type_tree.Quantity, names: type_expressions.Names) -> Grade | None:
    """The interval that a signature states, in the sizes that the names stand for."""
    if quantity.low is None or quantity.high is None:
        return ANY
    low = type_expressions.size_expression(ctx, quantity.low, names)
    high = type_expressions.size_expression(ctx, quantity.high, names)
    if low is None or high is None:
        return None
    surely = not low.is_runtime() and ctx.builder.at_most(ZERO, low)
    return Grade(low if surely else maximum(ZERO, least(low)), high)
