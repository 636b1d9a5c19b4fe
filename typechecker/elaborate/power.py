"""`f⍣n`, `f⍣(n ⋄ p)`, `f⍣\\n`: loops with a trip count known before the program runs, or bounded."""

from __future__ import annotations

from collections.abc import Sequence

from ...lang.records import dataclass
from ...lang.source import Span
from ..core import Block, Loop, RuntimeSize, ValueId
from ..display import show_type
from ..elements import Kind, integer_range
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value
from ..rules.static_arguments import bounded_fix, whole_numbers
from ..sizes import ZERO, Size, SizeVariable, number, variable
from ..types import ArrayType
from .compose import as_function
from .context import Context, is_poisoned, leaves, rebuild
from .dfns import condition_operand
from .functions import BoundFunction, DerivedFunction, FunctionValue, is_function
from .states import Mismatch, Stable, Unstable, shape_fixes, stabilise
from .values import cast


@dataclass(frozen=True, slots=True)
class Trips:
    """How often the loop runs, and the runtime variable that must be defined first, if any."""

    count: Size
    until: FunctionValue | None = None


def power(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍣n`: n times; `f⍣(n ⋄ p)`: until p holds of the new state."""
    function = as_function(ctx, derived.operands[0], "⍣", derived.span)
    if left is not None:
        function = BoundFunction(derived.span, function, left)
    trips = _trips(ctx, derived, span)
    if trips is None:
        return ctx.builder.poison(span)
    known = trips.count.constant
    if known == 0:
        return right
    if known == 1:
        with ctx.operator_body(span):
            return ctx.call(function, None, right, span)
    return _loop(ctx, function, trips, right, span, keep=False)


def states(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍣\\n`: all n+1 states, the initial one first."""
    function = as_function(ctx, derived.operands[0], "⍣\\", derived.span)
    if left is not None:
        function = BoundFunction(derived.span, function, left)
    trips = _trips(ctx, derived, span)
    if trips is None:
        return ctx.builder.poison(span)
    if trips.until is not None:
        return ctx.error("E305", "`⍣\\` keeps every state, so it takes a count without a stopping condition", derived.span)
    return _loop(ctx, function, trips, right, span, keep=True)


def _trips(ctx: Context, derived: DerivedFunction, span: Span) -> Trips | None:
    """The trip count and stopping condition of the right operand (E601)."""
    operand = derived.operands[1]
    if is_function(operand):
        ctx.error(
            "E601",
            "a loop needs a bound: `f⍣g` may never end",
            derived.span,
            notes=("give the most steps and the condition together: `f⍣(100 ⋄ g)`",),
        )
        return None
    if isinstance(operand, TupleOperand):
        ctx.error(
            "E305", "the right operand of `⍣` is a count, or `(count ⋄ condition)` with a function as condition", derived.span
        )
        return None
    assert isinstance(operand, Operand)
    if operand.poisoned:
        return None
    count = _count(ctx, operand, ctx.builder.where(operand))
    return None if count is None else Trips(count, derived.until)


def _count(ctx: Context, x: Operand, span: Span) -> Size | None:
    x = whole_numbers(ctx.builder, x, span)
    element = x.type.element
    if x.type.rank > 0 and not (x.type.rank == 1 and x.type.shape[0].constant == 1):
        ctx.error("E601", f"a trip count is one integer, but this is an array of rank {x.type.rank}", span)
        return None
    static = x.static[0] if isinstance(x.static, tuple) and x.static else x.static
    if isinstance(static, Size):
        inverse = ("functions have no inverses: write the other one, as `2 2 2⊤x` for digits of `2⊥`",)
        notes = inverse if static.constant is not None else ()
        fact = SizeFact(Relation.AT_MOST, ZERO, static)
        fits = ctx.builder.require(Obligation(fact, "E601", span, f"a loop cannot run {static} times", notes=notes))
        return static if fits else None
    if not element.kind.is_integer and element.kind is not Kind.BOOL:
        ctx.error("E601", f"a trip count is an integer, but this is {element.kind.value}", span)
        return None
    x = ctx.builder.to_number(x, span)
    element = x.type.element
    low, high = integer_range(element)
    cap = element.most if element.most is not None else None if high is None else number(high)
    if element.kind in (Kind.U8, Kind.I32) and element.high is None:
        cap = None
    if cap is None or low is None or low < 0:
        ctx.error(
            "E601",
            "this trip count has no bound known before the program runs",
            span,
            notes=("a count must be static, a bool, or a count such as `+/mask`",),
            fixes=bounded_fix(ctx.builder, x),
        )
        return None
    return runtime_count(ctx, x, cap, span)


def runtime_count(ctx: Context, x: Operand, cap: Size, span: Span) -> Size:
    """A run-time size with the value of a bounded scalar integer."""
    x = ctx.builder.convert(x, Kind.I64, span)
    size: SizeVariable = ctx.builder.runtime_size("k", cap, span)
    ctx.builder.effect(RuntimeSize(x.value, size))
    return variable(size)


def _loop(ctx: Context, function: FunctionValue, trips: Trips, initial: Value, span: Span, *, keep: bool) -> Value:
    found = stabilise(ctx, (), initial, lambda _, state: ctx.call(function, None, state, span), span)
    if isinstance(found, Unstable):
        return _unstable(ctx, found, span)
    args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(leaves(initial), found.types, strict=True)])
    until: Block | None = None
    if trips.until is not None:
        until = _until(ctx, trips.until, initial, found, span)
        if until is None:
            return ctx.builder.poison(span)
    types = [ArrayType(t.element, (trips.count + 1, *t.shape) if keep else t.shape) for t in found.types]
    stable, condition = found, until

    def make(results: tuple[ValueId, ...]) -> Loop:
        return Loop(results, args, trips.count, stable.block, condition, keep)

    return rebuild(initial, ctx.builder.emit_many(make, types, span))


def _until(ctx: Context, predicate: FunctionValue, initial: Value, found: Stable, span: Span) -> Block | None:
    """The stopping condition: ⍵ is the new state, ⍺ the old one."""
    params: Sequence[Operand] = ctx.builder.open_block([*found.types, *found.types], span)
    count = len(found.types)
    new, old = rebuild(initial, params[:count]), rebuild(initial, params[count:])
    with ctx.operator_body(span):
        condition = condition_operand(ctx, ctx.call(predicate, old, new, span), predicate.span)
    block = ctx.builder.close_block([condition])
    return None if is_poisoned(condition) else block


def _unstable(ctx: Context, found: Unstable, span: Span) -> Value:
    if found.reason is Mismatch.POISONED:
        return ctx.builder.poison(span)
    if found.reason is Mismatch.STRUCTURE:
        return ctx.error("E402", "the function gives back another tuple than it gets, but a loop's state keeps its form", span)
    if found.state is None or found.result is None:
        return ctx.error("E402", "the state of this loop does not keep one type", span)
    return ctx.error(
        "E402",
        f"the state of this loop changes from {show_type(found.state)} to {show_type(found.result)}",
        span,
        notes=("a loop needs a fixed shape: sizes inside a loop are those outside it",),
        fixes=shape_fixes(ctx, found),
    )
