"""Branches: two arms elaborated in blocks and brought to one type, each under what the condition says where it is reached.

The arms have equal ranks; their element types promote; a size that differs, or is not proved equal, becomes a run-time size
bounded by the larger one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...lang.diagnostics.model import Code, Label
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ...lang.tree import expressions
from ..core.arrays import Literal, Reduce, Scalar, ValueId
from ..core.blocks import Block, CoreBranch, defined_sizes
from ..core.builder import Builder
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, integer_range, promote, surely_unwrapped, without_size_bounds
from ..proof.constraints import Arm
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import static_sizes
from ..sizes.polynomials import ONE, ZERO, AtomKind, NonlinearAtom, Size, SizeVariable, number, product, variable
from ..sizes.size import maximum, quotient, remainder, upper_bound
from ..values.facts import Count, IntegerLimits, Operand, Statement, Value, is_poisoned, leaves
from .context import Context, PrimitiveFunction, cast, extended_block, rebuild, same_structure

# ---------------------------------------------------------------------------------------------------- conditions
#
# What a condition says, read off the ops that computed it: comparisons of sizes are facts about sizes, comparisons of an integer
# are limits of it, `∨/m` and comparisons of `+/m` are facts about how many elements of a mask hold.  The result is a disjunction
# of conjunctions; `((),)` says nothing, `()` cannot be.  Only integers are compared: of floats nothing is concluded.
#
# Of an array of truths (under `∧/`, or under `∨/` that does not hold) all elements are true, or all are false.  An array without
# elements says nothing, so that only arrays of its shape get limits then, which is true of their elements as there are none.

_CONDITION_DEPTH = 24
_MOST_ALTERNATIVES = 8
_NOTHING: tuple[tuple[Statement, ...], ...] = ((),)
_OPPOSITE = {"lt": "ge", "ge": "lt", "le": "gt", "gt": "le", "eq": "ne", "ne": "eq"}
_SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
_NEGATED = {"nand": "and", "nor": "or"}


def stated(
    b: Builder, value: ValueId, holds: bool, depth: int = _CONDITION_DEPTH, every: bool = False
) -> tuple[tuple[Statement, ...], ...]:  # fmt: skip
    """What is so where a bool (with `every`: each of several) holds, or where it does not."""
    op = b.definitions.get(value)
    if not depth:
        return _NOTHING
    match op:
        case Literal(data=(known,)) if not every and not b.types[value].shape:
            return _NOTHING if bool(known) is holds else ()
        case Scalar(function="not", args=(arg,)):
            return stated(b, arg, not holds, depth - 1, every)
        case Scalar(function="convert" | "convert_checked", args=(arg,)) if b.types[arg].element.kind is Kind.BOOL:
            return stated(b, arg, holds, depth - 1, every)
        case Scalar(function="and" | "or" | "nand" | "nor" as function, args=args):
            holds = holds is not (function in _NEGATED)
            joined = (_NEGATED.get(function, function) == "and") is holds
            rank = len(b.types[value].shape)
            sides = [stated(b, arg, holds, depth - 1, every) if len(b.types[arg].shape) == rank else _NOTHING for arg in args]
            if joined:
                return _both(*sides)
            return _NOTHING if every else _either(*sides)
        case Scalar(function=function, args=(x, y)) if function in _OPPOSITE:
            return _compared(b, function if holds else _OPPOSITE[function], x, y, depth, every)
        case Reduce(function="and" | "or" as function, arg=arg) if not every and len(b.types[arg].shape) == 1:
            total = b.types[arg].shape[0]
            if (function == "and") is holds:
                counted = Count(arg, Relation.EQUAL, total if holds else ZERO)
                return _both(((counted,),), stated(b, arg, holds, depth - 1, every=True))
            return ((Count(arg, Relation.AT_MOST, ONE, swapped=True) if holds else Count(arg, Relation.LESS, total),),)
        case _:
            return _NOTHING


def _both(
    first: tuple[tuple[Statement, ...], ...], second: tuple[tuple[Statement, ...], ...]
) -> tuple[tuple[Statement, ...], ...]:  # fmt: skip
    together = tuple((*x, *y) for x in first for y in second)
    return together if len(together) <= _MOST_ALTERNATIVES else first if len(first) <= _MOST_ALTERNATIVES else second


def _either(
    first: tuple[tuple[Statement, ...], ...], second: tuple[tuple[Statement, ...], ...]
) -> tuple[tuple[Statement, ...], ...]:  # fmt: skip
    either = first + second
    return either if all(either) and len(either) <= _MOST_ALTERNATIVES else _NOTHING


def _compared(b: Builder, function: str, x: ValueId, y: ValueId, depth: int, every: bool) -> tuple[tuple[Statement, ...], ...]:
    """What a comparison that holds says."""
    kinds = [b.types[value].element.kind for value in (x, y)]
    if not all(kind.is_integer or kind is Kind.BOOL for kind in kinds):
        return _NOTHING
    if Kind.BOOL in kinds:
        return _truth(b, function, x, y, depth, every)
    statements: list[Statement] = []
    if not every:
        a, c = b.sequences.size(x), b.sequences.size(y)
        if a is not None and c is not None:
            return ((_fact(function, a, c),),)
        for value, size, relation in ((x, c, function), (y, a, _SWAPPED[function])):
            counted = None if size is None else _count(b, value, relation, size)
            statements += [] if counted is None else [counted]
    for value, other, relation in ((x, y, function), (y, x, _SWAPPED[function])):
        if not every or len(b.types[value].shape) == max(len(b.types[x].shape), len(b.types[y].shape)):
            statements += _limits(b, value, relation, other)
    return (tuple(statements),)


def _truth(b: Builder, function: str, x: ValueId, y: ValueId, depth: int, every: bool) -> tuple[tuple[Statement, ...], ...]:
    """What the comparison of a truth with 0 or 1 says, as in `1=n>3`."""
    for value, other in ((x, y), (y, x)):
        op = b.definitions.get(other)
        if isinstance(op, Literal) and not b.types[other].shape and function in ("eq", "ne"):
            return stated(b, value, bool(op.data[0]) is (function == "eq"), depth - 1, every)
    return _NOTHING


def _fact(function: str, a: Size, c: Size) -> SizeFact:
    if function in ("gt", "ge"):
        function, a, c = _SWAPPED[function], c, a
    if function == "eq" and (divides := _divides(a, c) or _divides(c, a)) is not None:
        return divides
    relation = {"lt": Relation.LESS, "le": Relation.AT_MOST, "eq": Relation.EQUAL, "ne": Relation.NOT_EQUAL}[function]
    return SizeFact(relation, a, c)


def _divides(zero: Size, size: Size) -> SizeFact | None:
    """The fact that `0=d|n` is; None for another equality."""
    lone = size.terms[0][0][0][0] if len(size.terms) == 1 and size.terms[0][0] else None
    if zero != ZERO or not isinstance(lone, NonlinearAtom) or lone.kind is not AtomKind.REMAINDER:
        return None
    return SizeFact(Relation.DIVIDES, lone.args[1], lone.args[0]) if size.terms[0] == (((lone, 1),), 1) else None


def _count(b: Builder, value: ValueId, function: str, size: Size) -> Count | None:
    """What the comparison of a sum of truths says about their mask."""
    op = b.definitions.get(value)
    while isinstance(op, Scalar) and op.function == "convert":
        op = b.definitions.get(op.args[0])
    if not isinstance(op, Reduce) or op.function != "add":
        return None
    arg = op.arg
    inner = b.definitions.get(arg)
    while isinstance(inner, Scalar) and inner.function == "convert":
        arg = inner.args[0]
        inner = b.definitions.get(arg)
    if b.types[arg].element.kind is not Kind.BOOL or len(b.types[arg].shape) != 1:
        return None
    fact = _fact(function, ZERO, ONE)
    return Count(arg, fact.relation, size, swapped=function in ("gt", "ge"))


def _limits(b: Builder, value: ValueId, function: str, other: ValueId) -> list[Statement]:
    """The limits of an integer that a comparison with another one gives, and of the items of which it is the extreme."""
    element = b.limited_type(other).element
    size = b.sequences.size(other)
    low, high = (size, size) if size is not None else _range(element)
    limits: IntegerLimits | None = None
    match function:
        case "lt" | "le" if high is not None:
            limits = IntegerLimits(value, high=high if function == "le" else high - 1)
        case "gt" | "ge" if low is not None:
            limits = IntegerLimits(value, low=low if function == "ge" else low + 1)
        case "eq":
            limits = IntegerLimits(value, low, high)
        case "ne" if size is not None:
            limits = IntegerLimits(value, other_than=size)
    if limits is None:
        return []
    op = b.definitions.get(value)
    while isinstance(op, Scalar) and op.function == "convert" and b.types[op.args[0]].element.kind.is_integer:
        value = op.args[0]
        op = b.definitions.get(value)
    statements: list[Statement] = [limits] if value == limits.value else [limits, replace(limits, value=value)]
    if isinstance(op, Reduce) and op.function in ("max", "min"):
        limit = IntegerLimits(op.arg, high=limits.high) if op.function == "max" else IntegerLimits(op.arg, low=limits.low)
        statements.append(limit)
    return statements


def _range(element: Element) -> tuple[Size | None, Size | None]:
    low, high = integer_range(element)
    low = low if surely_unwrapped(element) else None
    top = element.index_bound - 1 if element.index_bound is not None else element.symbolic_max
    return None if low is None else number(low), top if top is not None else None if high is None else number(high)


def decided(b: Builder, alternatives: Sequence[Sequence[Statement]], opposite: Sequence[Sequence[Statement]]) -> bool | None:
    """Does a condition hold whatever the data are, or never?"""
    if _impossible(b, opposite):
        return True
    return False if _impossible(b, alternatives) else None


def _impossible(b: Builder, alternatives: Sequence[Sequence[Statement]]) -> bool:
    return all(any(b.constraints.decided(fact) is False for fact in facts) for facts in b.size_facts(alternatives))


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
    first_arm = _arm(ctx, then, stated(ctx.builder, condition.value, holds=True), span)
    second_arm = _arm(ctx, otherwise, stated(ctx.builder, condition.value, holds=False), span)
    first, second = first_arm.value, second_arm.value
    if is_poisoned(first) or is_poisoned(second):
        return ctx.builder.poison(span)
    joint = _elements(ctx, first, second, then_span, rest)
    if joint is None:
        return ctx.builder.poison(span)

    def converted(arm: Value) -> list[Operand]:
        return [cast(ctx, x, element, span) for x, element in zip(leaves(arm), joint, strict=True)]

    first_block, first_cast = extended_block(ctx, first_arm.block, lambda: converted(first), span)
    second_block, second_cast = extended_block(ctx, second_arm.block, lambda: converted(second), span)
    local = frozenset({size for op in (*first_block.ops, *second_block.ops) for size in defined_sizes(op)})
    sizes: list[tuple[SizeVariable, Size, Size]] = []
    types: list[ArrayType] = []
    for a, b, element in zip(first_cast, second_cast, joint, strict=True):
        axes = zip(a.type.shape, b.type.shape, strict=True)
        shape = tuple([
            _joint_size(ctx, x, y, local, sizes, span, least=int(x in first_arm.not_empty and y in second_arm.not_empty))
            for x, y in axes
        ])  # fmt: skip
        types.append(ArrayType(without_size_bounds(element), shape, a.type.permutation and b.type.permutation))
    sizes_of_arms, needed = tuple(sizes), first_arm.scope.needs_condition or second_arm.scope.needs_condition

    results = ctx.builder.emit_many(
        lambda results: CoreBranch(results, condition.value, first_block, second_block, sizes_of_arms, needed), types, span
    )
    return rebuild(first, results)


@dataclass(frozen=True, slots=True)
class _ElaboratedArm:
    """An elaborated arm: its block, value and scope, and the sizes of its value's axes that are at least 1."""

    block: Block
    value: Value
    scope: Arm
    not_empty: frozenset[Size]


def _arm(ctx: Context, body: Callable[[], Value], alternatives: Sequence[Sequence[Statement]], span: Span) -> _ElaboratedArm:
    ctx.builder.open_block((), span)
    scope = ctx.builder.open_arm(alternatives)
    value = body()
    axes = {size for x in leaves(value) for size in x.type.shape}
    not_empty = frozenset(size for size in axes if ctx.builder.at_most(ONE, size))
    ctx.builder.close_scope()
    return _ElaboratedArm(ctx.builder.close_block(leaves(value)), value, scope, not_empty)


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
        elements.append(element)
    return elements


def _joint_size(
    ctx: Context, a: Size, b: Size, local: frozenset[SizeVariable], sizes: list[tuple[SizeVariable, Size, Size]], span: Span,
    least: int,
) -> Size:  # fmt: skip
    """One size for both arms: theirs, if equal and visible outside the branch, else a run-time size."""
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
    divides = ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, ONE, others),
            Code.E203,
            slot.span,
            f"the inferred size is {elements_}÷{others}, and {others} may be 0",
        )
    )
    fits = divides and ctx.builder.require(
        Obligation(
            SizeFact(Relation.DIVIDES, others, elements_),
            Code.E201,
            span,
            f"the {elements_} elements of the array do not divide into cells of {others}",
        )
    )
    if not fits:
        return ctx.builder.poison(span)
    inferred = quotient(elements_, others) if remainder(elements_, others) != ONE else ONE
    shape = ctx.builder.size_vector([inferred if s is None else s for s in known], span)
    return ctx.call(PrimitiveFunction(span, "⍴"), shape, right, span)
