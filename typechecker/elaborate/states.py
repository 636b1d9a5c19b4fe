"""Types that a body must give back: the state of a loop, the accumulator of a fold.

The body is elaborated on trial with the state's types; where it gives a wider element type the state is
promoted and the body elaborated again, until the types are stable.  Trials leave no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum

from ...lang.codes import Code
from ...lang.diagnostics import Fix
from ...lang.records import dataclass
from ...lang.source import Span
from ..core_blocks import Block
from ..core_walk import defined_sizes
from ..display import show_type
from ..elements import Element, Kind, plain, promote, ranged
from ..obligations import Relation, SizeFact
from ..operands import Operand, Value, is_poisoned, leaves
from ..rules.common import is_boolean
from ..sizes import Size, surely_machine
from ..types import ArrayType
from .blocks import extend
from .context import Context, rebuild, same_structure
from .values import cast

ROUNDS = 8
_MOST_STEP, _MOST_START = 1 << 16, 1 << 32  # no loop runs so long that a counter within these wraps


class Mismatch(Enum):
    """Why a body cannot serve."""

    POISONED = "an error was reported"
    STRUCTURE = "its result is another tuple structure"
    SHAPE = "its result has another shape"
    TEXT = "text meets numbers"


@dataclass(frozen=True, slots=True)
class Stable:
    """A body whose results have the state's types: `types` of the state, and the block over (others, state)."""

    types: tuple[ArrayType, ...]
    block: Block


@dataclass(frozen=True, slots=True)
class Unstable:
    """The first difference: the state's type and the body's, or nothing when poisoned."""

    reason: Mismatch
    state: ArrayType | None = None
    result: ArrayType | None = None


def state_types(value: Value) -> list[ArrayType]:
    """Types of a state's arrays without singletons or weakness; ranges stay while they can."""
    return [ArrayType(start(x.type.element), x.type.shape) for x in leaves(value)]


def start(element: Element) -> Element:
    """The element a state starts from: not weak, with no exact value."""
    if element.below is not None or element.kind in (Kind.BOOL, Kind.CHAR):
        return plain(element)
    return Element(element.kind, 0, 1) if is_boolean(element) else Element(element.kind)


def stabilise(
    ctx: Context,
    others: Sequence[ArrayType],
    pattern: Value,
    body: Callable[[Sequence[Operand], Value], Value],
    span: Span,
    *,
    state_first: bool = False,
    shared: bool = False,
    trips: Size | None = None,
) -> Stable | Unstable:
    """Elaborate `body(others, state)` until its result has the state's types.

    `pattern` is the initial state.  The block's parameters are the others and then the state (`state_first`: the
    state and then the others).  `shared`: the others follow the state's element types, as items of a fold do.
    `trips`: how often the body runs, from which the ranges of counters in the state follow.
    """
    builder = ctx.builder
    types = state_types(pattern)
    given = list(others)
    counters: dict[int, Element] = {}
    for _ in range(ROUNDS):
        mark = builder.mark()
        count = len(types)
        order = [*types, *given] if state_first else [*given, *types]
        params = builder.open_block(order, span)
        state_params = params[:count] if state_first else params[len(given) :]
        other_params = params[count:] if state_first else params[: len(given)]
        with ctx.operator_body(span):
            ranged_params = [_ranged(x, counters.get(i)) for i, x in enumerate(state_params)]
            value = body(other_params, rebuild(pattern, ranged_params))
        results = leaves(value)
        block = builder.close_block(results)
        if is_poisoned(value):
            return Unstable(Mismatch.POISONED)
        if not same_structure(pattern, value):
            return Unstable(Mismatch.STRUCTURE)
        local = {size for op in block.ops for size in defined_sizes(op)}
        wider: list[ArrayType] = []
        for old, new in zip(types, results, strict=True):
            if not _same_shape(ctx, old, new.type) or any(s.variables() & local for s in new.type.shape):
                return Unstable(Mismatch.SHAPE, old, new.type)
            element = _joined(old.element, new.type.element)
            if element is None:
                return Unstable(Mismatch.TEXT, old, new.type)
            wider.append(ArrayType(element, old.shape))
        found = {} if trips is None else _counters(ctx, leaves(pattern), state_params, results, trips)
        if wider == types and found == counters:
            return Stable(tuple(types), _converted(ctx, block, results, types, span))
        builder.rollback(mark)
        types, counters = wider, found
        if shared:
            given = [ArrayType(t.element, g.shape) for t, g in zip(types, given, strict=True)]
    return Unstable(Mismatch.SHAPE)


def _ranged(x: Operand, element: Element | None) -> Operand:
    return x if element is None else replace(x, type=ArrayType(element, x.type.shape))


def _counters(
    ctx: Context, initial: Sequence[Operand], params: Sequence[Operand], results: Sequence[Operand], trips: Size
) -> dict[int, Element]:
    """The ranges of integers of the state that start at a literal and step by one: from the start to the last turn's."""
    found: dict[int, Element] = {}
    for i, (first, param, result) in enumerate(zip(initial, params, results, strict=True)):
        start = first.constant[0] if first.constant is not None and first.constant and not first.type.shape else None
        if param.type.element.kind is not Kind.I64 or not isinstance(start, int):
            continue
        step = ctx.builder.sequences.step(result.value, param.value)
        if step and abs(step) <= _MOST_STEP and abs(start) <= _MOST_START and surely_machine(trips):
            last = trips * step + (start - step)
            low, high = last.bounds()
            found[i] = ranged(Kind.I64, start, high, most=last) if step > 0 else ranged(Kind.I64, low, start)
    return found


def _converted(ctx: Context, block: Block, results: Sequence[Operand], types: Sequence[ArrayType], span: Span) -> Block:
    """The block with its results in the state's kinds."""
    pairs = list(zip(results, types, strict=True))
    return extend(ctx, block, lambda: [cast(ctx, x, type_.element, span) for x, type_ in pairs], span)[0]


def _same_shape(ctx: Context, left: ArrayType, right: ArrayType) -> bool:
    if left.rank != right.rank:
        return False
    pairs = list(zip(left.shape, right.shape, strict=True))
    return all(ctx.builder.equal(a, b) is True for a, b in pairs)


def changing(ctx: Context, found: Unstable, what: str, note: str, span: Span) -> Value:
    """E402 for a state that does not keep its type."""
    if found.reason is Mismatch.POISONED:
        return ctx.builder.poison(span)
    if found.reason is Mismatch.STRUCTURE:
        return ctx.error(Code.E402, f"the function gives back another tuple than it gets, but {what} keeps its form", span)
    if found.state is None or found.result is None:
        return ctx.error(Code.E402, f"{what} does not keep one type", span)
    message = f"{what} changes from {show_type(found.state)} to {show_type(found.result)}"
    return ctx.error(Code.E402, message, span, notes=(note,), fixes=_shape_fixes(ctx, found.state, found.result))


def _shape_fixes(ctx: Context, state: ArrayType, result: ArrayType) -> tuple[Fix, ...]:
    """The `where` by which the state keeps its shape, if one fact about sizes is all that is missing."""
    if state.rank != result.rank:
        return ()
    pairs = zip(state.shape, result.shape, strict=True)
    facts = [SizeFact(Relation.EQUAL, a, b) for a, b in pairs if ctx.builder.equal(a, b) is not True]
    return ctx.builder.ledger.clause(facts[0]) if len(facts) == 1 else ()


def _joined(old: Element, new: Element) -> Element | None:
    """The state's element, or a wider one if the body's does not fit."""
    if old.below is not None and new.below == old.below:
        return old
    if old.below is not None or new.below is not None:
        element = promote(
            Element(Kind.I64) if old.below is not None else old, Element(Kind.I64) if new.below is not None else new
        )
    elif is_boolean(old) and is_boolean(new):
        return old
    else:
        element = promote(old, new if not new.weak else _weak(new))
    return None if element is None else plain(element)


def _weak(element: Element) -> Element:
    return Element(element.kind, element.low, element.high, weak=True)
