"""`f⍣n`, `f⍣(n ⋄ p)`, `f⍣\\n`: loops with a trip count known before the program runs, or bounded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Edit, Fix, Severity
from ...lang.records import dataclass
from ...lang.source import Span
from ..core import RuntimeSize, ValueId
from ..core_blocks import Block, Loop
from ..elements import Element, Kind, integer_range, strong
from ..indices import LoopIndex
from ..obligations import Obligation, Relation, SizeFact
from ..operands import Operand, TupleOperand, Value, is_poisoned, leaves
from ..rules.static_arguments import bounded_fix, whole_numbers
from ..sizes import ONE, ZERO, Size, SizeVariable, number, variable
from ..types import ArrayType
from .compose import as_function
from .context import Context, rebuild
from .dfns import condition_operand
from .environment import BoundFunction, DerivedFunction, FunctionValue
from .states import Stable, Unstable, changing, stabilise
from .values import cast

_FIXED = "a loop needs a fixed shape: sizes inside a loop are those outside it"


@dataclass(frozen=True, slots=True)
class Trips:
    """How often the loop runs, when it stops, and the array whose major cells its iterations are for, if it is a fold."""

    count: Size
    until: FunctionValue | None = None
    cells: Operand | None = None


def power(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍣n`: n times; `f⍣xs`: for each major cell c of xs, `c f state`; `f⍣(n ⋄ p)`: until p holds of the new state."""
    prepared = _prepared(ctx, derived, "⍣", left, span)
    if prepared is None:
        return ctx.builder.poison(span)
    function, trips = prepared
    known = trips.count.constant
    if trips.cells is None and known == 0:
        return right
    if trips.cells is None and known == 1:
        with ctx.operator_body(span):
            return ctx.call(function, None, right, span)
    return _loop(ctx, function, trips, right, span, keep=False)


def states(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍣\\n`, `f⍣\\xs`: all states, the initial one first."""
    prepared = _prepared(ctx, derived, "⍣\\", left, span)
    if prepared is None:
        return ctx.builder.poison(span)
    function, trips = prepared
    if trips.until is not None:
        return ctx.error(Code.E305, "`⍣\\` keeps every state, so it takes a count without a stopping condition", derived.span)
    return _loop(ctx, function, trips, right, span, keep=True)


def _prepared(
    ctx: Context, derived: DerivedFunction, glyph: str, left: Value | None, span: Span
) -> tuple[FunctionValue, Trips] | None:
    """The function of the state, with the left argument of a repetition bound, and how often it runs."""
    function = as_function(ctx, derived.operands[0], glyph, derived.span)
    trips = _trips(ctx, derived, span)
    if trips is None or left is None:
        return None if trips is None else (function, trips)
    if trips.cells is None:
        return BoundFunction(derived.span, function, left), trips
    where = ctx.builder.where(left) if isinstance(left, Operand) else span
    ctx.error(
        Code.E130,
        f"a fold with `{glyph}` has the cells of its right operand for `⍺`, so it takes no left argument",
        where,
        notes=(f"bind what is the same in every iteration: `a∘f{glyph}xs`, or mention it inside the function",),
    )
    return None


def _trips(ctx: Context, derived: DerivedFunction, span: Span) -> Trips | None:
    """The trip count and stopping condition of the right operand (E601)."""
    operand = derived.operands[1]
    if isinstance(operand, FunctionValue):
        ctx.error(
            Code.E601,
            "a loop needs a bound: `f⍣g` may never end",
            derived.span,
            notes=("give the most steps and the condition together: `f⍣(100 ⋄ g)`",),
        )
        return None
    if isinstance(operand, TupleOperand):
        ctx.error(
            Code.E305, "the right operand of `⍣` is a count, or `(count ⋄ condition)` with a function as condition", derived.span
        )
        return None
    assert isinstance(operand, Operand)
    if operand.poisoned:
        return None
    where = ctx.builder.where(operand)
    if operand.type.rank:
        _warn_of_one(ctx, operand, where)
        return Trips(operand.type.shape[0], derived.until, operand)
    count = _count(ctx, operand, where)
    return None if count is None else Trips(count, derived.until)


def _warn_of_one(ctx: Context, cells: Operand, where: Span) -> None:
    """W340: a vector of one number was a count once, and may be meant as one."""
    element = cells.type.element
    if cells.type.rank > 1 or cells.type.shape[0] != ONE or element.below is not None or not element.kind.is_integer:
        return
    text = ctx.builder.text(where)
    fixes = (Fix(f"repeat that many times: `⊃{text}`", (Edit(where, f"(⊃{text})"),)),) if text else ()
    message = "this folds over the one item of a vector; a count would be a scalar"
    ctx.builder.report(Diagnostic(Code.W340, message, where, Severity.WARNING, fixes=fixes))


def _count(ctx: Context, x: Operand, span: Span) -> Size | None:
    x = whole_numbers(ctx.builder, x, span)
    element = x.type.element
    static = x.static
    if isinstance(static, Size):
        inverse = ("functions have no inverses: write the other one, as `2 2 2⊤x` for digits of `2⊥`",)
        notes = inverse if static.constant is not None else ()
        fact = SizeFact(Relation.AT_MOST, ZERO, static)
        fits = ctx.builder.require(Obligation(fact, Code.E601, span, f"a loop cannot run {static} times", notes=notes))
        return static if fits else None
    if not element.kind.is_integer and element.kind is not Kind.BOOL:
        ctx.error(Code.E601, f"a trip count is an integer, but this is {element.kind.value}", span)
        return None
    x = ctx.builder.to_number(x, span)
    element = x.type.element
    low, high = integer_range(element)
    cap = element.most if element.most is not None else None if high is None else number(high)
    if element.kind in (Kind.U8, Kind.I32) and element.high is None:
        cap = None
    if cap is None or low is None or low < 0:
        ctx.error(
            Code.E601,
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
    mark = ctx.builder.mark()
    turns = _Turns.of(ctx, trips, span)
    found = stabilise(ctx, turns.types, initial, lambda given, state: turns.call(function, given, state), span,
                      trips=trips.count)  # fmt: skip
    if turns.index is not None:
        ctx.builder.ledger.close_loop()
    if isinstance(found, Unstable) and trips.count == ZERO:  # no turn needs what the body does
        ctx.builder.rollback(mark)
        turns = _Turns(ctx, span)
        found = stabilise(ctx, (), initial, lambda _, state: state, span)
    if isinstance(found, Unstable):
        return changing(ctx, found, "the state of this loop", _FIXED, span)
    args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(leaves(initial), found.types, strict=True)])
    until: Block | None = None
    if trips.until is not None:
        until = _until(ctx, trips.until, initial, found, span)
        if until is None:
            return ctx.builder.poison(span)
    types = [ArrayType(t.element, (trips.count + 1, *t.shape) if keep else t.shape) for t in found.types]
    stable, condition = found, until
    index, premised = (None, False) if turns.index is None else (turns.index.variable, turns.index.premised)

    made = ctx.builder.emit_many(
        lambda results: Loop(results, args, trips.count, stable.block, condition, keep, turns.cells, index, premised), types, span
    )
    return rebuild(initial, made)


@dataclass(frozen=True, slots=True)
class _Turns:
    """What `⍺` is in the body: nothing, a size that the turn's number says (`item`), or a cell of an array."""

    ctx: Context
    span: Span
    types: tuple[ArrayType, ...] = ()
    cells: tuple[ValueId, ...] = ()
    index: LoopIndex | None = None
    item: Size | None = None
    element: Element | None = None

    @staticmethod
    def of(ctx: Context, trips: Trips, span: Span) -> _Turns:
        xs = trips.cells
        if xs is None:
            return _Turns(ctx, span)
        steps = ctx.builder.sequences.of(xs.value)
        if steps is None:
            cell = ArrayType(strong(xs.type.element), xs.type.shape[1:])
            return _Turns(ctx, span, (cell,), (xs.value,))
        index = ctx.builder.open_loop(trips.count, span)
        return _Turns(ctx, span, (), (), index, steps.start + steps.step * variable(index.variable), xs.type.element)

    def call(self, function: FunctionValue, given: Sequence[Operand], state: Value) -> Value:
        alpha = given[0] if given else None
        if self.item is not None and self.element is not None:
            alpha = self.ctx.builder.size_value(self.item, self.span)
            if self.element.below is not None:
                alpha = replace(alpha, type=ArrayType(Element(Kind.I64, below=self.element.below, weak=True), ()))
        return self.ctx.call(function, alpha, state, self.span)


def _until(ctx: Context, predicate: FunctionValue, initial: Value, found: Stable, span: Span) -> Block | None:
    """The stopping condition: ⍵ is the new state, ⍺ the old one."""
    params: Sequence[Operand] = ctx.builder.open_block([*found.types, *found.types], span)
    count = len(found.types)
    new, old = rebuild(initial, params[:count]), rebuild(initial, params[count:])
    with ctx.operator_body(span):
        condition = condition_operand(ctx, ctx.call(predicate, old, new, span), predicate.span)
    block = ctx.builder.close_block([condition])
    return None if is_poisoned(condition) else block
