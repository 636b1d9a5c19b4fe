"""Branches: both arms are elaborated in blocks, each with the condition or its negation as a premise, and converted to one type.

The arms have equal ranks; their element types promote.  If the condition of one arm makes its size equal to that of the other,
the branch has the size of the other; sizes that differ, or are not proved equal, become a runtime size bounded by the larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.diagnostics.model import Code, Label
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from ...lang.tree import expressions
from ..core.builder import statements_if
from ..core.operations import Block, CoreBranch, defined_sizes
from ..diagnostics import show_type
from ..elements import ArrayType, Element, outside, promote
from ..proof.constraints import Arm
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import joint_element, of_mixed, static_sizes
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, product, variable
from ..sizes.size import maximum, quotient, remainder, upper_bound
from ..values.facts import Operand, Statement, Value, is_poisoned, leaves
from .context import Context, PrimitiveFunction, cast, extended_block, rebuild, same_structure, with_sizes

# ---------------------------------------------------------------------------------------------------- branches

def branch(
    ctx: Context,
    condition: Operand,
    then: Callable[[], Value],
    otherwise: Callable[[], Value],
    span: Span,
    then_span: Span,
    rest: Label,
) -> Value:
    """The value of `then` where the scalar bool holds, else of `otherwise`."""
    first_arm = _arm(ctx, then, statements_if(ctx.builder, condition.value, holds=True), span)
    second_arm = _arm(ctx, otherwise, statements_if(ctx.builder, condition.value, holds=False), span)
    first, second = first_arm.value, second_arm.value
    if is_poisoned(first) or is_poisoned(second):
        return ctx.builder.poison(span)
    joint = _elements(ctx, first, second, then_span, rest)
    if joint is None:
        return ctx.builder.poison(span)

    arms = (first_arm, second_arm)
    local = frozenset({size for arm in arms for op in arm.block.ops for size in defined_sizes(op)})
    pairs = zip(leaves(first), leaves(second), strict=True)
    same = [[_same_size(ctx, arms, x, y, local) for x, y in zip(a.type.shape, b.type.shape, strict=True)] for a, b in pairs]

    def converted(arm: Value) -> list[Operand]:
        items: list[Operand] = []
        for x, element, sizes in zip(leaves(arm), joint, same, strict=True):
            shape = tuple([known or size for known, size in zip(sizes, x.type.shape, strict=True)])
            items.append(cast(ctx, x if shape == x.type.shape else with_sizes(ctx, x, shape, span), element, span))
        return items

    first_block, first_cast = extended_block(ctx, first_arm.block, lambda: converted(first), span)
    second_block, second_cast = extended_block(ctx, second_arm.block, lambda: converted(second), span)
    sizes: list[tuple[SizeVariable, Size, Size]] = []
    types: list[ArrayType] = []
    for a, b, element in zip(first_cast, second_cast, joint, strict=True):
        axes = zip(a.type.shape, b.type.shape, strict=True)
        shape = tuple([
            _joint_size(ctx, x, y, local, sizes, span, least=int(x in first_arm.not_empty and y in second_arm.not_empty))
            for x, y in axes
        ])  # fmt: skip
        types.append(ArrayType(outside(element, local), shape, a.type.permutation and b.type.permutation))
    sizes_of_arms, needed = tuple(sizes), first_arm.scope.needs_condition or second_arm.scope.needs_condition

    results = ctx.builder.emit_many(
        lambda results: CoreBranch(results, condition.value, first_block, second_block, sizes_of_arms, needed), types, span
    )
    return rebuild(first, results)


@dataclass(frozen=True, slots=True)
class _ElaboratedArm:
    """An elaborated arm: its block, value and scope, its facts, and the sizes of its value's axes that are at least 1."""

    block: Block
    value: Value
    scope: Arm
    facts: Sequence[SizeFact]
    not_empty: frozenset[Size]


def _arm(ctx: Context, body: Callable[[], Value], alternatives: Sequence[Sequence[Statement]], span: Span) -> _ElaboratedArm:
    ctx.builder.open_block((), span)
    scope = ctx.builder.open_arm(alternatives)
    value = body()
    axes = {size for x in leaves(value) for size in x.type.shape}
    not_empty = frozenset(size for size in axes if ctx.builder.at_most(ONE, size))
    facts = ctx.builder.constraints.premises[scope.start :]
    ctx.builder.close_scope()
    return _ElaboratedArm(ctx.builder.close_block(leaves(value)), value, scope, facts, not_empty)


def _elements(ctx: Context, first: Value, second: Value, then_span: Span, rest: Label) -> list[Element] | None:
    if not same_structure(first, second):
        ctx.error(Code.E101, "the exits of this function have different tuple structures", then_span, labels=(rest,))
        return None
    elements: list[Element] = []
    for a, b in zip(leaves(first), leaves(second), strict=True):
        if a.type.rank != b.type.rank:
            ctx.error(
                Code.E101,
                f"the exits of this function have ranks {a.type.rank} and {b.type.rank}",
                then_span,
                label=show_type(a.type),
                labels=(Label(rest.span, show_type(b.type)),),
            )
            return None
        if promote(a.type.element, b.type.element) is None:
            ctx.error(
                Code.E300,
                of_mixed((a, b), "one exit of this function is text, the other is numbers"),
                then_span,
                label=show_type(a.type),
                labels=(Label(rest.span, show_type(b.type)),),
            )
            return None
        elements.append(joint_element(ctx.builder, (a, b)))
    return elements


def _same_size(
    ctx: Context, arms: tuple[_ElaboratedArm, _ElaboratedArm], a: Size, b: Size, local: frozenset[SizeVariable]
) -> Size | None:
    """The size that is visible outside the branch, if the facts of one arm make both sizes equal; else None."""
    outer = [size for size in (a, b) if not local & size.variables()]
    if not outer or a == b or (len(outer) == 2 and ctx.builder.equal(a, b)):
        return None
    for arm, other in zip(arms, (b, a), strict=True):
        with ctx.builder.constraints.supposing(arm.facts):
            equal = other in outer and ctx.builder.equal(a, b)
        if equal:
            arm.scope.needs_condition = True
            return other
    return None


def _joint_size(
    ctx: Context, a: Size, b: Size, local: frozenset[SizeVariable], sizes: list[tuple[SizeVariable, Size, Size]], span: Span,
    least: int,
) -> Size:  # fmt: skip
    """One size for both arms: theirs, if equal and visible outside the branch, else a runtime size."""
    if not (local & (a.variables() | b.variables())) and ctx.builder.equal(a, b):
        return a
    for known, x, y in sizes:
        if x == a and y == b:
            return variable(known)
    size = ctx.builder.runtime_size("k", maximum(upper_bound(a), upper_bound(b)), span, least=least)
    sizes.append((size, a, b))
    return variable(size)


# ---------------------------------------------------------------------------------------------------- several values of one type

def same_cells(ctx: Context, left: Operand, left_span: Span, right: Operand, right_span: Span) -> bool:
    """E110 unless two items of array notation have one shape."""
    if left.type.rank != right.type.rank:
        message = f"the items stacked here have different shapes: ranks {left.type.rank} and {right.type.rank}"
        counts = [x.type.shape[0] if x.type.rank else ONE for x in (left, right)]
        if {left.type.rank, right.type.rank} == {0, 1}:
            message = f"the items stacked here have {counts[0]} and {counts[1]} elements"
        ctx.error(Code.E110, message, right_span, label=show_type(right.type), labels=(Label(left_span, show_type(left.type)),))
        return False
    for axis, (a, b) in enumerate(zip(left.type.shape, right.type.shape, strict=True)):
        obligation = Obligation(
            SizeFact(Relation.EQUAL, a, b),
            Code.E110,
            right_span,
            f"the items stacked here have {a} and {b} {'elements' if left.type.rank == 1 else f'along axis {axis}'}",
            (Label(left_span, show_type(left.type)), Label(right_span, show_type(right.type))),
        )
        if not ctx.builder.require(obligation):
            return False
    return True


def reshape_with_slot(
    ctx: Context, sizes_and_slot: Sequence[Value | None], nodes: Sequence[expressions.Expression], right: Value, span: Span
) -> Value:
    """`a _ b ⍴ x`: the slot is the number of elements over the product of the others (E200/E201, E203)."""
    if is_poisoned(right) or any(value is not None and is_poisoned(value) for value in sizes_and_slot):
        return ctx.builder.poison(span)
    if not isinstance(right, Operand):
        return ctx.error(Code.E305, "`⍴` needs an array on its right, not a tuple", span)
    known: list[Size | None] = []
    for value, node in zip(sizes_and_slot, nodes, strict=True):
        if value is None:
            known.append(None)
            continue
        sizes = static_sizes(ctx.builder, value) if isinstance(value, Operand) and value.type.rank == 0 else None
        if sizes is None:
            return ctx.error(Code.E403, "a size must be known before the program runs", node.span)
        known.append(sizes[0])
    others = product([s for s in known if s is not None])
    elements_ = product(right.type.shape)
    slot = next(node for node, size in zip(nodes, known, strict=True) if size is None)
    divides = others != ZERO and quotient(elements_, others) * others == elements_  # also where both are 0
    divides = divides or (ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, ONE, others),
            Code.E203,
            slot.span,
            f"the inferred size is {elements_}÷{others}, and {others} may be 0",
        )
    ) and ctx.builder.require(
        Obligation(
            SizeFact(Relation.DIVIDES, others, elements_),
            Code.E201,
            span,
            f"the {elements_} elements of the array do not divide into cells of {others}",
        )
    ))
    if not divides:
        return ctx.builder.poison(span)
    inferred = quotient(elements_, others) if remainder(elements_, others) != ONE else ONE
    shape = ctx.builder.size_vector([inferred if s is None else s for s in known], span)
    return ctx.call(PrimitiveFunction(span, "⍴"), shape, right, span)
