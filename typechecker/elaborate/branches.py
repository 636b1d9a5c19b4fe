"""Branches: two arms elaborated in blocks and brought to one type.

Exits have equal ranks; element types promote; a size that differs, or is not proved equal, becomes a
run-time size bounded by the larger arm's.
"""

from __future__ import annotations

from collections.abc import Callable

from ...lang.codes import Code
from ...lang.diagnostics import Label
from ...lang.source import Span
from ..core_blocks import Block, Branch
from ..core_walk import defined_sizes
from ..display import show_type
from ..elements import Element, held, promote
from ..operands import Operand, Value, is_poisoned, leaves
from ..sizes import Size, SizeVariable, capacity, maximum, variable
from ..types import ArrayType
from .blocks import extend
from .context import Context, rebuild, same_structure
from .values import cast


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
    first_block, first = _arm(ctx, then, span)
    second_block, second = _arm(ctx, otherwise, span)
    if is_poisoned(first) or is_poisoned(second):
        return ctx.builder.poison(span)
    joint = _elements(ctx, first, second, then_span, rest)
    if joint is None:
        return ctx.builder.poison(span)

    def converted(arm: Value) -> list[Operand]:
        return [cast(ctx, x, element, span) for x, element in zip(leaves(arm), joint, strict=True)]

    first_block, first_cast = extend(ctx, first_block, lambda: converted(first), span)
    second_block, second_cast = extend(ctx, second_block, lambda: converted(second), span)
    local = frozenset({size for op in (*first_block.ops, *second_block.ops) for size in defined_sizes(op)})
    sizes: list[tuple[SizeVariable, Size, Size]] = []
    types: list[ArrayType] = []
    for a, b, element in zip(first_cast, second_cast, joint, strict=True):
        shape = tuple([_joined(ctx, x, y, local, sizes, span) for x, y in zip(a.type.shape, b.type.shape, strict=True)])
        types.append(ArrayType(held(element), shape, a.type.permutation and b.type.permutation))
    made = _emit(ctx, condition, first_block, second_block, tuple(sizes), types, span)
    return rebuild(first, made)


def _arm(ctx: Context, body: Callable[[], Value], span: Span) -> tuple[Block, Value]:
    ctx.builder.open_block((), span)
    value = body()
    return ctx.builder.close_block(leaves(value)), value


def _emit(
    ctx: Context,
    condition: Operand,
    then: Block,
    otherwise: Block,
    sizes: tuple[tuple[SizeVariable, Size, Size], ...],
    types: list[ArrayType],
    span: Span,
) -> tuple[Operand, ...]:

    return ctx.builder.emit_many(lambda results: Branch(results, condition.value, then, otherwise, sizes), types, span)


def _elements(ctx: Context, first: Value, second: Value, then_span: Span, rest: Label) -> list[Element] | None:
    if not same_structure(first, second):
        ctx.error(Code.E101, "the exits of this function have different tuple structures", then_span, labels=(rest,))
        return None
    found: list[Element] = []
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
        element = promote(a.type.element, b.type.element)
        if element is None:
            ctx.error(
                Code.E300,
                "one exit of this function is text, the other is numbers",
                then_span,
                label=show_type(a.type),
                labels=(Label(rest.span, show_type(b.type)),),
            )
            return None
        found.append(element)
    return found


def _joined(
    ctx: Context, a: Size, b: Size, local: frozenset[SizeVariable], sizes: list[tuple[SizeVariable, Size, Size]], span: Span
) -> Size:
    """One size for both arms: theirs if equal and visible outside, else a run-time size."""
    if not (local & (a.variables() | b.variables())) and ctx.builder.equal(a, b):
        return a
    for known, x, y in sizes:
        if x == a and y == b:
            return variable(known)
    made = ctx.builder.runtime_size("k", maximum(capacity(a), capacity(b)), span)
    sizes.append((made, a, b))
    return variable(made)
