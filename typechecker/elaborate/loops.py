r"""Elaborates loops (`f⍣n`, `f⍣xs`, `f⍣(n ⋄ p)`, `f⍣\n`), whose trip count is static or bounded, and infers the types of
states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Severity
from ...lang.support.records import dataclass, replace
from ...lang.syntax.source import Span
from ..core.operations import BindSize, Block, CoreLoop, ValueId, defined_sizes
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, plain, promote, ranged, size_range, strong
from ..proof.constraints import LoopIndex
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules.argument_checks import bounded_fix, is_boolean, whole_numbers
from ..sizes.polynomials import ONE, ZERO, Size, SizeVariable, variable
from ..sizes.size import surely_fits_i64
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from .context import BoundFunction, Context, DerivedFunction, FunctionValue, cast, extended_block, rebuild, same_structure
from .functions import as_function, condition_operand

# ---------------------------------------------------------------------------------------------------- types of states
#
# The types of the state of a loop, or of the accumulator of a fold, which the body must return.
#
# The body is elaborated speculatively with the state's types; if it returns a wider element type, the state is promoted and the
# body elaborated again, until a fixpoint.

ROUNDS = 8
_MOST_STEP, _MOST_START = 1 << 16, 1 << 32  # a counter within these does not wrap in any feasible loop


class Mismatch(Enum):
    """The reason why a body has no fixpoint."""

    POISONED = "an error was reported"
    STRUCTURE = "its result is another tuple structure"
    SHAPE = "its result has another shape"
    TEXT = "text meets numbers"


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """A body that returns the state's types: the types, and its block, with parameters (others, state)."""

    types: tuple[ArrayType, ...]
    block: Block


@dataclass(frozen=True, slots=True)
class NoFixpoint:
    """The first mismatch between the state's type and the body's result; no types if poisoned."""

    reason: Mismatch
    state: ArrayType | None = None
    result: ArrayType | None = None


def state_types(value: Value) -> list[ArrayType]:
    """The types of a state's arrays, not weak; their ranges are kept if the body preserves them."""
    return [ArrayType(start_element(x.type.element), x.type.shape) for x in leaves(value)]


def start_element(element: Element) -> Element:
    """The element that a state starts from: not weak."""
    if element.index_bound is not None or element.unit is not None or element.kind in (Kind.BOOL, Kind.CHAR):
        return plain(element)
    return Element(element.kind, 0, 1) if is_boolean(element) else Element(element.kind)


def infer_fixpoint(
    ctx: Context,
    others: Sequence[ArrayType],
    pattern: Value,
    body: Callable[[Sequence[Operand], Value], Value],
    span: Span,
    *,
    state_first: bool = False,
    shared: bool = False,
    trips: Size | None = None,
) -> Fixpoint | NoFixpoint:
    """Elaborate `body(others, state)` until its result has the state's types, for at most `ROUNDS` rounds.

    `pattern` is the initial state.  The block's parameters are the others, then the state (in the other order with
    `state_first`). `shared`: the others get the state's element types, as items of a fold do.  `trips` is the number of
    iterations, from which the ranges of counters in the state follow.
    """
    builder = ctx.builder
    types = state_types(pattern)
    other_types = list(others)
    counters: dict[int, Element] = {}
    for _ in range(ROUNDS):
        mark = builder.mark()
        count = len(types)
        order = [*types, *other_types] if state_first else [*other_types, *types]
        params = builder.open_block(order, span)
        state_params = params[:count] if state_first else params[len(other_types) :]
        other_params = params[count:] if state_first else params[: len(other_types)]
        with ctx.operator_body(span):
            ranged_params = [_ranged(x, counters.get(i)) for i, x in enumerate(state_params)]
            value = body(other_params, rebuild(pattern, ranged_params))
        results = leaves(value)
        block = builder.close_block(results)
        if is_poisoned(value):
            return NoFixpoint(Mismatch.POISONED)
        if not same_structure(pattern, value):
            return NoFixpoint(Mismatch.STRUCTURE)
        local = {size for op in block.ops for size in defined_sizes(op)}
        wider: list[ArrayType] = []
        for old, new in zip(types, results, strict=True):
            if not _same_shape(ctx, old, new.type) or any(s.variables() & local for s in new.type.shape):
                return NoFixpoint(Mismatch.SHAPE, old, new.type)
            element = _wider(old.element, new.type.element)
            if element is None:
                return NoFixpoint(Mismatch.TEXT, old, new.type)
            wider.append(ArrayType(element, old.shape))
        ranges = {} if trips is None else _counters(ctx, leaves(pattern), state_params, results, trips)
        if wider == types and ranges == counters:
            return Fixpoint(tuple(types), _converted(ctx, block, results, types, span))
        builder.rollback(mark)
        types, counters = wider, ranges
        if shared:
            other_types = [ArrayType(t.element, g.shape) for t, g in zip(types, other_types, strict=True)]
    return NoFixpoint(Mismatch.SHAPE)


def _ranged(x: Operand, element: Element | None) -> Operand:
    return x if element is None else replace(x, type=ArrayType(element, x.type.shape))


def _counters(
    ctx: Context, initial: Sequence[Operand], params: Sequence[Operand], results: Sequence[Operand], trips: Size
) -> dict[int, Element]:
    """The ranges of counters: integers of the state that start at a literal and change by a constant in each iteration."""
    ranges: dict[int, Element] = {}
    for i, (first, param, result) in enumerate(zip(initial, params, results, strict=True)):
        start = first.constant[0] if first.constant is not None and first.constant and not first.type.shape else None
        if param.type.element.kind is not Kind.I64 or not isinstance(start, int):
            continue
        step = ctx.builder.sequences.step(result.value, param.value)
        if step and abs(step) <= _MOST_STEP and abs(start) <= _MOST_START and surely_fits_i64(trips):
            last = trips * step + (start - step)
            low, high = last.bounds()
            ranges[i] = ranged(Kind.I64, start, high, symbolic_max=last) if step > 0 else ranged(Kind.I64, low, start)
    return ranges


def _converted(ctx: Context, block: Block, results: Sequence[Operand], types: Sequence[ArrayType], span: Span) -> Block:
    """The block with its results converted to the state's kinds."""
    pairs = list(zip(results, types, strict=True))
    return extended_block(ctx, block, lambda: [cast(ctx, x, type_.element, span) for x, type_ in pairs], span)[0]


def _same_shape(ctx: Context, left: ArrayType, right: ArrayType) -> bool:
    if left.rank != right.rank:
        return False
    pairs = list(zip(left.shape, right.shape, strict=True))
    return all(ctx.builder.equal(a, b) is True for a, b in pairs)


def state_change_error(ctx: Context, unstable: NoFixpoint, what: str, note: str, span: Span) -> Value:
    """E402 for a state whose type changes."""
    if unstable.reason is Mismatch.POISONED:
        return ctx.builder.poison(span)
    if unstable.reason is Mismatch.STRUCTURE:
        return ctx.error(Code.E402, f"the function gives back another tuple than it gets, but {what} keeps its form", span)
    if unstable.state is None or unstable.result is None:
        return ctx.error(Code.E402, f"{what} does not keep one type", span)
    message = f"{what} changes from {show_type(unstable.state)} to {show_type(unstable.result)}"
    return ctx.error(Code.E402, message, span, notes=(note,), fixes=_shape_fixes(ctx, unstable.state, unstable.result))


def _shape_fixes(ctx: Context, state: ArrayType, result: ArrayType) -> tuple[Fix, ...]:
    """The fix by a `where` that states the one fact about sizes under which the state keeps its shape; none if one does not
    suffice."""
    if state.rank != result.rank:
        return ()
    pairs = zip(state.shape, result.shape, strict=True)
    facts = [SizeFact(Relation.EQUAL, a, b) for a, b in pairs if ctx.builder.equal(a, b) is not True]
    return ctx.builder.constraints.clause(facts[0]) if len(facts) == 1 else ()


def _wider(old: Element, new: Element) -> Element | None:
    """The state's element, or a wider one if that of the body's result does not fit."""
    if old.index_bound is not None and new.index_bound == old.index_bound:
        return old
    if old.index_bound is not None or new.index_bound is not None:
        element = promote(
            Element(Kind.I64) if old.index_bound is not None else old, Element(Kind.I64) if new.index_bound is not None else new
        )
    elif is_boolean(old) and is_boolean(new):
        return old
    else:
        element = promote(old, new if not new.weak else _weak(new))
    return None if element is None else plain(element)


def _weak(element: Element) -> Element:
    return Element(element.kind, element.low, element.high, weak=True)


# ---------------------------------------------------------------------------------------------------- loops

_FIXED = "a loop needs a fixed shape: sizes inside a loop are those outside it"


@dataclass(frozen=True, slots=True)
class TripCount:
    """The trip count of a loop, its stopping condition, and the array over whose major cells it iterates, if any."""

    count: Size
    until: FunctionValue | None = None
    cells: Operand | None = None


def power(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍣n`: n times; `f⍣xs`: for each major cell c of xs, `c f state`; `f⍣(n ⋄ p)`: until p holds of the new state."""
    prepared = _function_and_trips(ctx, derived, "⍣", left, span)
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
    prepared = _function_and_trips(ctx, derived, "⍣\\", left, span)
    if prepared is None:
        return ctx.builder.poison(span)
    function, trips = prepared
    if trips.until is not None:
        return ctx.error(Code.E305, "`⍣\\` keeps every state, so it takes a count without a stopping condition", derived.span)
    return _loop(ctx, function, trips, right, span, keep=True)


def _function_and_trips(
    ctx: Context, derived: DerivedFunction, glyph: str, left: Value | None, span: Span
) -> tuple[FunctionValue, TripCount] | None:
    """The function of the state, with a left argument bound, and its trip count; None after an error."""
    function = as_function(ctx, derived.operands[0], glyph, derived.span)
    trips = _trip_count(ctx, derived, span)
    if trips is None or left is None:
        return None if trips is None else (function, trips)
    if trips.cells is None:
        return BoundFunction(derived.span, function, left), trips
    where = ctx.builder.span_of(left) if isinstance(left, Operand) else span
    ctx.error(
        Code.E130,
        f"a fold with `{glyph}` has the cells of its right operand for `⍺`, so it takes no left argument",
        where,
        notes=(f"bind what is the same in every iteration: `a∘f{glyph}xs`, or mention it inside the function",),
    )
    return None


def _trip_count(ctx: Context, derived: DerivedFunction, span: Span) -> TripCount | None:
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
    where = ctx.builder.span_of(operand)
    if operand.type.rank:
        _warn_of_single_item(ctx, operand, where)
        return TripCount(operand.type.shape[0], derived.until, operand)
    count = _count(ctx, operand, where)
    return None if count is None else TripCount(count, derived.until)


def _warn_of_single_item(ctx: Context, cells: Operand, where: Span) -> None:
    """W340 for a vector of one number, which may be meant as a trip count."""
    element = cells.type.element
    if cells.type.rank > 1 or cells.type.shape[0] != ONE or element.index_bound is not None or not element.kind.is_integer:
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
    low, cap = size_range(element)
    if element.kind in (Kind.U8, Kind.I32) and element.high is None:
        cap = None
    if cap is None or low is None or (low.constant or 0) < 0:
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
    """The runtime size of a bounded scalar integer."""
    x = ctx.builder.convert(x, Kind.I64, span)
    size: SizeVariable = ctx.builder.runtime_size("k", cap, span)
    ctx.builder.effect(BindSize(x.value, size))
    return variable(size)


def _loop(ctx: Context, function: FunctionValue, trips: TripCount, initial: Value, span: Span, *, keep: bool) -> Value:
    mark = ctx.builder.mark()
    arguments = _LoopArgument.of(ctx, trips, span)
    fixpoint = infer_fixpoint(ctx, arguments.types, initial, lambda given, state: arguments.call(function, given, state), span,
                              trips=trips.count)  # fmt: skip
    if arguments.index is not None:
        ctx.builder.close_scope()
    if isinstance(fixpoint, NoFixpoint) and trips.count == ZERO:  # no iteration needs a result of the body
        ctx.builder.rollback(mark)
        arguments = _LoopArgument(ctx, span)
        fixpoint = infer_fixpoint(ctx, (), initial, lambda _, state: state, span)
    if isinstance(fixpoint, NoFixpoint):
        return state_change_error(ctx, fixpoint, "the state of this loop", _FIXED, span)
    args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(leaves(initial), fixpoint.types, strict=True)])
    until: Block | None = None
    if trips.until is not None:
        until = _until(ctx, trips.until, initial, fixpoint, span)
        if until is None:
            return ctx.builder.poison(span)
    types = [ArrayType(t.element, (trips.count + 1, *t.shape) if keep else t.shape) for t in fixpoint.types]
    stable, condition = fixpoint, until
    index, needed = (None, False) if arguments.index is None else (arguments.index.variable, arguments.index.needs_iteration)

    results = ctx.builder.emit_many(
        lambda results: CoreLoop(results, args, trips.count, stable.block, condition, keep, arguments.cells, index, needed),
        types,
        span
    )
    return rebuild(initial, results)


@dataclass(frozen=True, slots=True)
class _LoopArgument:
    """The `⍺` of the body: absent, an affine function of the loop index (`item`), or a major cell of an array."""

    ctx: Context
    span: Span
    types: tuple[ArrayType, ...] = ()
    cells: tuple[ValueId, ...] = ()
    index: LoopIndex | None = None
    item: Size | None = None
    element: Element | None = None

    @staticmethod
    def of(ctx: Context, trips: TripCount, span: Span) -> _LoopArgument:
        xs = trips.cells
        if xs is None:
            return _LoopArgument(ctx, span)
        steps = ctx.builder.sequences.of(xs.value)
        if steps is None:
            cell = ArrayType(strong(xs.type.element), xs.type.shape[1:])
            return _LoopArgument(ctx, span, (cell,), (xs.value,))
        index = ctx.builder.open_loop(trips.count, span)
        return _LoopArgument(ctx, span, (), (), index, steps.start + steps.step * variable(index.variable), xs.type.element)

    def call(self, function: FunctionValue, cells: Sequence[Operand], state: Value) -> Value:
        alpha = cells[0] if cells else None
        if self.item is not None and self.element is not None:
            alpha = self.ctx.builder.size_value(self.item, self.span)
            if self.element.index_bound is not None:
                alpha = replace(alpha, type=ArrayType(Element(Kind.I64, index_bound=self.element.index_bound, weak=True), ()))
        return self.ctx.call(function, alpha, state, self.span)


def _until(ctx: Context, predicate: FunctionValue, initial: Value, stable: Fixpoint, span: Span) -> Block | None:
    """The block of the stopping condition, whose ⍵ is the new state and ⍺ the old one."""
    params: Sequence[Operand] = ctx.builder.open_block([*stable.types, *stable.types], span)
    count = len(stable.types)
    new, old = rebuild(initial, params[:count]), rebuild(initial, params[count:])
    with ctx.operator_body(span):
        condition = condition_operand(ctx, ctx.call(predicate, old, new, span), predicate.span)
    block = ctx.builder.close_block([condition])
    return None if is_poisoned(condition) else block
