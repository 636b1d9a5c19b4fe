r"""Elaborates reductions, windowed reductions and scans (`f/ f⌿ f\ f⍀`).

A scalar primitive becomes one `Reduce` or `Scan` op, any other function a fold.  The core function of a primitive, and its
compute kind, are found by elaborating it on two scalars until the kind is a fixpoint, so that no table is repeated here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...lang.diagnostics.model import Code
from ...lang.primitives.table import identity_of
from ...lang.support.records import dataclass
from ...lang.syntax.source import Span
from .. import elements
from ..core.operations import CoreFold, FoldScan, Reduce, Reverse, Scalar, Scan, SlidingWindows
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind, Unit, fits, integer_range, limits, plain, ranged
from ..proof.obligations import Obligation, Relation, SizeFact
from ..rules import dates
from ..rules.argument_checks import axis_index, is_boolean, item_of
from ..sizes.polynomials import ONE, Size, number, product
from ..sizes.size import maximum, minimum
from ..values.constant_folding import MOST_ITEMS, refused, summed
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from . import indexing
from .broadcast import from_front, is_scalar_primitive, to_front
from .context import Context, DerivedFunction, DfnFunction, FunctionValue, PrimitiveFunction, cast, rebuild, static_vector
from .expressions import stack, static_size
from .functions import as_function, as_primitive, commuted_primitive, lift
from .loops import Fixpoint, infer_fixpoint, state_change_error

# ---------------------------------------------------------------------------------------------------- folds
#
# Reductions and scans with a function that is not a scalar primitive.
#
# The items of an array of rank ≥ 2 are its elements along the axis if the function maps two elements to an element (as in APL,
# where `{≢⍵}⌿` counts one item of each column), else its cells along the axis (leading-axis theory).  A function whose result has
# another shape than its items is unrolled if the length of the axis is a small number.

UNROLL_LIMIT = 64
_SAME = "the function must give back the type of its items"


def fold_axis(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    """Reduce one axis of an array with a general function."""
    front = to_front(ctx, x, axis, span)
    if x.type.rank > 1 and _takes_elements(ctx, function, front, span):
        cells = _leading_axis_last(ctx, front, span)
        return lift(ctx, [cells], [1], lambda cell: fold(ctx, function, cell[0], span), span)
    return fold(ctx, function, front, span)


def scan_axis(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    """Scan one axis of an array with a dfn, left to right."""
    front = to_front(ctx, x, axis, span)
    if x.type.rank > 1 and _takes_elements(ctx, function, front, span):
        cells = _leading_axis_last(ctx, front, span)
        scanned = lift(ctx, [cells], [1], lambda cell: fold_scan(ctx, function, cell[0], span), span)
        if not isinstance(scanned, Operand) or scanned.poisoned:
            return scanned
        return from_front(ctx, to_front(ctx, scanned, scanned.type.rank - 1, span), axis, span)
    result = fold_scan(ctx, function, front, span)
    if not isinstance(result, Operand) or result.poisoned:
        return result
    return from_front(ctx, result, axis, span)


def _leading_axis_last(ctx: Context, front: Operand, span: Span) -> Operand:
    """The array with its leading axis last."""
    return from_front(ctx, front, front.type.rank - 1, span)


def _takes_elements(ctx: Context, function: FunctionValue, front: Operand, span: Span) -> bool:
    """Does the function map two elements to an element, and differ on cells?  A function such as `1⌽`, which leaves elements as
    they are, may move the items of a cell."""
    element = plain(front.type.element)
    rank, of_elements = _trial_result(ctx, function, ArrayType(element, ()), span)
    return rank == 0 and not (of_elements and _trial_result(ctx, function, ArrayType(element, front.type.shape[1:]), span)[1])


def _trial_result(ctx: Context, function: FunctionValue, cell: ArrayType, span: Span) -> tuple[int | None, bool]:
    """The rank of the result on two cells (None if they are not accepted), and whether only scalar functions compute it."""
    builder = ctx.builder
    mark = builder.mark()
    params = builder.open_block([cell] * 2, span)
    with ctx.operator_body(span):
        value = ctx.call(function, params[0], params[1], span)
    block = builder.close_block(() if is_poisoned(value) else leaves(value))
    builder.rollback(mark)
    if is_poisoned(value) or not isinstance(value, Operand):
        return None, False
    return value.type.rank, all(isinstance(op, Scalar) for op in block.ops)


# -------------------------------------------------------------------------------------- folds


def _leading(ctx: Context, value: Value, span: Span) -> Size | None:
    """The common leading size of the arrays of a value; None after an error."""
    length: Size | None = None
    for x in leaves(value):
        if x.type.rank == 0:
            ctx.error(Code.E131, "the arrays reduced in step need at least one axis each", span)
            return None
        if length is None:
            length = x.type.shape[0]
        elif ctx.builder.equal(length, x.type.shape[0]) is not True:
            ctx.error(Code.E101, f"the arrays reduced in step have leading sizes {length} and {x.type.shape[0]}", span)
            return None
    return length


_STARTS = {"⌈": "¯∞", "⌊": "∞"}


def require_items(ctx: Context, what: str, length: Size, span: Span, cures: tuple[str, ...] = ()) -> bool:
    """E204 unless the reduced axis has an item.

    `cures` are texts for the message: an expression with a start value, and one that selects nothing instead.
    """
    empty = "is empty" if length.constant is not None else f"of length {length} may be empty"
    known = length.constant is not None or length.is_runtime()
    stated = "" if known else f", or state that the axis is not empty (`where {length} ≥ 1`)"
    start = f" ({cures[0]})" if cures else ""
    instead = (f"a choice by the mask reads the data once: {cures[1]}",) if cures and length.is_runtime() else ()
    return ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, ONE, length),
            Code.E204,
            span,
            f"{what} has no identity, and the reduced axis {empty}",
            notes=(f"give it a start value{start}{stated}", *instead),
        )
    )


def _start_values(glyph: str, x: Operand, unit: Unit | None, axis: int) -> tuple[str, ...]:
    """The reductions with a start value, `⌈/¯∞,x` and `⌈/m ¿ (x ⋄ ¯∞)`; empty where there is no such form.

    Integers get a start value k, since ∞ would make them floats.
    """
    kind, last = x.type.element.kind, axis == x.type.rank - 1
    if glyph not in _STARTS or not (kind.is_float or kind.is_integer) or not (last or axis == 0):
        return ()
    which = " with an integer k" if unit is None else f" with `k : {unit.value}`"
    start, integer = (_STARTS[glyph], "") if kind.is_float else ("k", which)
    reduce, join = ("/", ",") if last else ("⌿", "⍪")
    return f"`{glyph}{reduce}{start}{join}x`{integer}", f"`{glyph}{reduce}m ¿ (x ⋄ {start})`"


def fold(ctx: Context, function: FunctionValue, value: Value, span: Span) -> Value:
    """Fold the function over the major cells from right to left; for a tuple, over those of several arrays in step."""
    length = _leading(ctx, value, span)
    if length is None or not require_items(ctx, "this function", length, span):
        return ctx.builder.poison(span)
    arrays = leaves(value)
    pattern = rebuild(value, [_item(x) for x in arrays])
    mark = ctx.builder.mark()

    def body(items: Sequence[Operand], state: Value) -> Value:
        return ctx.call(function, rebuild(value, items), state, span)

    if length == ONE:
        return _nth(ctx, value, 0, span)
    items = [ArrayType(plain(x.type.element), x.type.shape[1:]) for x in arrays]
    fixpoint = infer_fixpoint(ctx, items, pattern, body, span, shared=True)
    if isinstance(fixpoint, Fixpoint):
        stable = fixpoint
        args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(arrays, stable.types, strict=True)])

        return rebuild(value, ctx.builder.emit_many(lambda results: CoreFold(results, args, stable.block), stable.types, span))
    count = length.constant
    if count is not None and count <= UNROLL_LIMIT:
        ctx.builder.rollback(mark)
        state = _nth(ctx, value, count - 1, span)
        for i in range(count - 2, -1, -1):
            state = ctx.call(function, _nth(ctx, value, i, span), state, span)
        return state
    return state_change_error(ctx, fixpoint, "the accumulator of this reduction", _SAME, span)


def fold_scan(ctx: Context, function: FunctionValue, value: Value, span: Span) -> Value:
    """Scan the major cells from left to right, keeping every accumulator."""
    length = _leading(ctx, value, span)
    if length is None:
        return ctx.builder.poison(span)
    arrays = leaves(value)
    pattern = rebuild(value, [_item(x) for x in arrays])

    def body(items: Sequence[Operand], state: Value) -> Value:
        return ctx.call(function, state, rebuild(value, items), span)

    items = [ArrayType(plain(x.type.element), x.type.shape[1:]) for x in arrays]
    fixpoint = infer_fixpoint(ctx, items, pattern, body, span, state_first=True, shared=True)
    if not isinstance(fixpoint, Fixpoint):
        return state_change_error(ctx, fixpoint, "the accumulator of this scan", _SAME, span)
    stable = fixpoint
    args = tuple([cast(ctx, x, t.element, span).value for x, t in zip(arrays, stable.types, strict=True)])
    types = [ArrayType(t.element, (length, *t.shape)) for t in stable.types]

    return rebuild(value, ctx.builder.emit_many(lambda results: FoldScan(results, args, stable.block), types, span))


def _item(x: Operand) -> Operand:
    """An operand of the type of a major cell of x, as a pattern only."""
    return Operand(x.value, ArrayType(x.type.element, x.type.shape[1:]))


def _nth(ctx: Context, value: Value, i: int, span: Span) -> Value:
    return rebuild(value, [item_of(ctx.builder, x, i, span) for x in leaves(value)])


# ---------------------------------------------------------------------------------------------------- scalar primitives

STATIC_LIMIT = 256

_WIDENED = {Kind.BOOL, Kind.U8, Kind.I32}


@dataclass(frozen=True, slots=True)
class ScalarFold:
    """A scalar primitive as a reduction: its core function and the element it computes in."""

    glyph: str
    function: str
    element: Element


def reduce(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f/ x` and `k f/ x`."""
    function = as_primitive(as_function(ctx, derived.operands[0], derived.operator, derived.span))
    if isinstance(right, TupleOperand):
        if left is not None:
            return ctx.error(Code.E305, "a windowed reduction takes an array, but this is a tuple", span)
        return fold(ctx, function, right, span)
    if left is not None:
        return _windowed(ctx, derived, function, left, right, span)
    if right.type.rank == 0:
        return right
    axis = _axis(ctx, derived, right)
    if axis is None:
        return ctx.builder.poison(span)
    return reduce_axis(ctx, function, right, axis, span)


def _axis(ctx: Context, derived: DerivedFunction, x: Operand) -> int | None:
    default = 0 if derived.operator in "⌿⍀" else x.type.rank - 1
    return axis_index(ctx.builder, derived.axis, default, x.type.rank, derived.span)


def reduce_axis(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    """Reduce one axis of an array of rank ≥ 1."""
    if isinstance(function, PrimitiveFunction):
        if is_scalar_primitive(function, dyadic=True):
            if x.type.element.unit is not None:
                return dates.reduced(
                    ctx.builder, function.glyph, x, span,
                    lambda glyph, items: reduce_axis(ctx, PrimitiveFunction(span, glyph), items, axis, span),
                )  # fmt: skip
            known = _static(ctx, function.glyph, x, span)
            if known is not None:
                return known
            fold = scalar_fold(ctx, function, x, span)
            if fold is None:
                return ctx.builder.poison(span)
            if isinstance(fold, ScalarFold):
                total = _total(ctx, fold, x)
                if total is not None and not -(2**63) <= total < 2**63:
                    ctx.builder.report(refused(total, fold.element.kind, span))
                    return ctx.builder.poison(span)
                return emit_reduce(ctx, fold, x, axis, span)
        elif x.type.rank == 1 and function.axis is None and function.glyph in (",", "⍪"):
            return x
    folded = fold_axis(ctx, function, x, axis, span)
    equates = isinstance(function, PrimitiveFunction) and function.glyph in "=≠" and x.type.element.kind.is_complex
    if equates and isinstance(folded, Operand) and not folded.poisoned and ctx.builder.at_most(number(2), x.type.shape[axis]):
        return _as_truth(ctx, folded, span)
    return folded


def _total(ctx: Context, fold: ScalarFold, x: Operand) -> int | None:
    """The sum or product of integers known while checking; else None."""
    if x.type.rank != 1 or fold.element.kind is not Kind.I64 or fold.function not in ("add", "mul"):
        return None
    items = x.constant
    if items is None:
        steps, length = ctx.builder.sequences.of(x.value), x.type.shape[0].constant
        first, step = (None, None) if steps is None else (steps.start.constant, steps.step.constant)
        if first is None or step is None or length is None or length > MOST_ITEMS:
            return None
        items = tuple([first + step * at for at in range(length)])
    known = [item for item in items if isinstance(item, int)]
    if len(known) != len(items):
        return None
    return sum(known) if fold.function == "add" else math.prod(known)


def _static(ctx: Context, glyph: str, x: Operand, span: Span) -> Operand | None:
    """`+/ ×/ ⌈/ ⌊/` of a static vector is a size."""
    sizes = static_vector(x)
    if sizes is None or x.type.rank != 1 or x.type.element.index_bound is not None or len(sizes) > STATIC_LIMIT:
        return None
    if not sizes and glyph in "⌈⌊":
        return None
    match glyph:
        case "+":
            total = number(0)
            for size in sizes:
                total = total + size
        case "×":
            total = product(sizes)
        case "⌈":
            total = maximum(*sizes)
        case "⌊":
            total = minimum(*sizes)
        case _:
            return None
    known = total.constant
    if known is not None and not -(2**63) <= known < 2**63:
        ctx.builder.report(refused(known, Kind.I64, span))
        return ctx.builder.poison(span)
    return ctx.builder.size_value(total, span)


def scalar_fold(ctx: Context, function: PrimitiveFunction, x: Operand, span: Span) -> ScalarFold | FunctionValue | None:
    """The core reduction of a scalar primitive on the items of x; the function itself if it needs a general fold; None after an
    error.
    """
    start = x.type.element
    if start.unit is not None:
        message = f"`{function.glyph}` does not combine values of type {show_type(x.type)}"
        ctx.error(Code.E300, message, span, notes=("`i64 x` is the number of days or nanoseconds",))
        return None
    kind = Kind.I64 if start.kind in _WIDENED and function.glyph in "+×" else start.kind
    if function.glyph in "∧∨⍲⍱<≤=≥>≠" and start.index_bound is None and fits(start, Kind.BOOL):
        kind = Kind.BOOL
    for _ in range(3):
        element = Element(kind)
        params = ctx.builder.open_block([ArrayType(element, ())] * 2, span)
        value = ctx.call(function, params[0], params[1], span)
        block = ctx.builder.close_block(() if is_poisoned(value) else [value] if isinstance(value, Operand) else ())
        if is_poisoned(value) or not isinstance(value, Operand):
            return None
        if len(block.ops) == 1:
            (op,) = block.ops
            if isinstance(op, Scalar) and op.args == (params[0].value, params[1].value):
                compares = elements.FUNCTIONS[op.function].result is elements.ResultKind.BOOL
                if value.type.element.kind is kind or (compares and kind is not Kind.CHAR and not kind.is_complex):
                    return ScalarFold(function.glyph, op.function, element)
        if value.type.element.kind is kind or kind is Kind.CHAR or kind.is_complex:
            return function
        kind = value.type.element.kind
    return function




def emit_reduce(ctx: Context, fold: ScalarFold, x: Operand, axis: int, span: Span) -> Operand:
    length = x.type.shape[axis]
    if identity_of(fold.glyph) is None and not require_items(
        ctx, f"`{fold.glyph}/`", length, span, _start_values(fold.glyph, x, ctx.builder.types[x.value].element.unit, axis)
    ):
        return ctx.builder.poison(span)
    element = fold.element
    arg = cast(ctx, x, fold.element, span)
    if fold.function == "add" and element.kind is Kind.I64:
        if is_boolean(x.type.element):
            element = Element(Kind.I64, 0, length.constant, symbolic_max=length)
        elif length.constant is not None:
            element, warning = summed(arg.type.element, length.constant, Kind.I64, span)
            if warning is not None:
                ctx.builder.report(warning)
    element = _bounded(fold, x.type.element) or element
    shape = x.type.shape[:axis] + x.type.shape[axis + 1 :]
    reduced = ctx.builder.emit(lambda result: Reduce(result, fold.function, arg.value, axis), ArrayType(element, shape), span)
    compares = elements.FUNCTIONS[fold.function].result is elements.ResultKind.BOOL
    if compares and element.kind is not Kind.BOOL and ctx.builder.at_most(number(2), length):
        return _as_truth(ctx, reduced, span)
    return reduced


def _bounded(fold: ScalarFold, items: Element) -> Element | None:
    """The bounds of the result if they are those of the items (`⌈ ⌊`, or `×` of bits); else None."""
    if items.index_bound is not None or limits(fold.element.kind) is None:
        return None
    low, high = integer_range(items)
    if fold.function == "mul" and is_boolean(items):
        return ranged(fold.element.kind, low, 1)  # the identity is 1
    return ranged(fold.element.kind, low, high) if fold.function in ("max", "min") else None


def _as_truth(ctx: Context, x: Operand, span: Span) -> Operand:
    """The result of a reduction by a comparison, 0 or 1 in the operand's kind, as bool."""
    kind = x.type.element.kind
    zero = ctx.builder.literal((0.0 if kind.is_float else 0j if kind.is_complex else 0,), ArrayType(Element(kind), ()), span)
    return ctx.builder.scalar("ne", [x, zero], Element(Kind.BOOL), span)


# ----------------------------------------------------------------------------------- windows


def _windowed(ctx: Context, derived: DerivedFunction, function: FunctionValue, left: Value, x: Operand, span: Span) -> Value:
    """`k f/ x`: reduce each run of k items; a negative k reverses each run."""
    width = static_size(ctx, left, "the length of a windowed reduction", span)
    if width is None:
        return ctx.builder.poison(span)
    if x.type.rank == 0:
        return ctx.error(Code.E131, "a windowed reduction needs an array of rank 1 or more", span)
    axis = _axis(ctx, derived, x)
    if axis is None:
        return ctx.builder.poison(span)
    reverse = width.constant is not None and width.constant < 0
    width = -width if reverse else width
    length = x.type.shape[axis]
    fits = ctx.builder.require(
        Obligation(
            SizeFact(Relation.AT_MOST, width, length + 1),
            Code.E202,
            span,
            f"windows of {width} items do not fit an axis of {length}",
        )
    )
    if not fits:
        return ctx.builder.poison(span)
    front = to_front(ctx, x, axis, span)
    shape = (length - width + 1, width, *front.type.shape[1:])
    windows = ctx.builder.emit(lambda result: SlidingWindows(result, front.value, 1), ArrayType(front.type.element, shape), span)
    if reverse:
        whole_windows = windows
        windows = ctx.builder.emit(lambda result: Reverse(result, whole_windows.value, 1), windows.type, span)
    if isinstance(function, PrimitiveFunction) and is_scalar_primitive(function, dyadic=True):
        reduced = reduce_axis(ctx, function, windows, 1, span)
    else:
        rank = windows.type.rank - 1
        reduced = lift(ctx, [windows], [rank], lambda cell: reduce_axis(ctx, function, cell[0], 0, span), span)
    if not isinstance(reduced, Operand) or reduced.poisoned or reduced.type.rank != x.type.rank:
        return reduced
    return from_front(ctx, reduced, axis, span)


# ------------------------------------------------------------------------------------- scans


def scan(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f\\ x`: item i is the reduction of the first i+1 items (with a dfn a left fold)."""
    function = as_function(ctx, derived.operands[0], derived.operator, derived.span)
    if left is not None:
        return ctx.error(Code.E130, f"a scan `f{derived.operator}` takes one argument, got two", span)
    if isinstance(right, TupleOperand):
        return fold_scan(ctx, function, right, span)
    if right.type.rank == 0:
        return right
    axis = _axis(ctx, derived, right)
    if axis is None:
        return ctx.builder.poison(span)
    return scan_along(ctx, function, right, axis, span)


def scan_by_prefixes(ctx: Context, function: FunctionValue, name: str, x: Operand, axis: int, span: Span) -> Value:
    """A scan with a primitive without a running form, as the reduction of every prefix, for short axes."""
    count, most = x.type.shape[axis].constant, UNROLL_LIMIT
    if count is None or count > most or count == 0:
        return ctx.error(
            Code.E402,
            f"a scan with `{name}` is not supported on an axis of {x.type.shape[axis]} items",
            span,
            notes=(f"at most {most} items, a number known when checked; a scan with a dfn is a left fold of any length",),
        )
    front = to_front(ctx, x, axis, span)
    parts: list[Operand] = []
    for i in range(count):
        prefix = indexing.take_first(ctx, front, i + 1, span)
        value = reduce_axis(ctx, function, prefix, 0, span)
        if not isinstance(value, Operand) or value.poisoned:
            return ctx.builder.poison(span)
        if parts and value.type.shape != parts[0].type.shape:
            return ctx.error(
                Code.E402,
                f"each step of this scan would have its own shape: {show_type(parts[0].type)}, then {show_type(value.type)}",
                span,
            )
        parts.append(value)
    return from_front(ctx, stack(ctx, parts, span, Code.E300, "the steps mix text and numbers"), axis, span)


def scan_along(ctx: Context, function: FunctionValue, x: Operand, axis: int, span: Span) -> Value:
    simple = as_primitive(function)
    associative = not isinstance(function, DfnFunction) or (isinstance(simple, PrimitiveFunction) and simple.glyph in "+×∧∨⌈⌊")
    if associative and isinstance(simple, PrimitiveFunction) and is_scalar_primitive(simple, dyadic=True):
        if x.type.element.unit is not None:
            return dates.reduced(
                ctx.builder, simple.glyph, x, span,
                lambda glyph, items: scan_along(ctx, PrimitiveFunction(span, glyph), items, axis, span),
            )  # fmt: skip
        fold = scalar_fold(ctx, simple, x, span)
        if fold is None:
            return ctx.builder.poison(span)
        if isinstance(fold, ScalarFold):
            scanned = fold
            arg = cast(ctx, x, fold.element, span)
            type_ = ArrayType(_bounded(fold, x.type.element) or fold.element, x.type.shape)
            return ctx.builder.emit(lambda result: Scan(result, scanned.function, arg.value, axis), type_, span)
    if isinstance(function, PrimitiveFunction):
        if function.glyph == "⊢" or x.type.shape[axis].constant == 0:
            return x
        return scan_by_prefixes(ctx, function, function.glyph, x, axis, span)
    commuted = commuted_primitive(simple)
    if commuted is not None and is_scalar_primitive(commuted, dyadic=True):
        return x if x.type.shape[axis].constant == 0 else scan_by_prefixes(ctx, simple, f"{commuted.glyph}⍨", x, axis, span)
    return scan_axis(ctx, function, x, axis, span)


def on_cells(ctx: Context, function: FunctionValue, rank: int, x: Operand, span: Span) -> Value | None:
    """`f/⍤r` and `f\\⍤r` of a scalar primitive need no loop over cells; None where this does not apply."""
    if (
        not isinstance(function, DerivedFunction)
        or function.operator not in ("/", "⌿", "\\", "⍀")
        or function.axis is not None
        or rank == 0
    ):
        return None
    operand = function.operands[0]
    if isinstance(operand, (Operand, TupleOperand)):
        return None
    simple = as_primitive(operand) if isinstance(operand, DfnFunction) and function.operator in "/⌿" else operand
    if not isinstance(simple, PrimitiveFunction) or not is_scalar_primitive(simple, dyadic=True):
        return None
    axis = x.type.rank - (rank if function.operator in "⌿⍀" else 1)
    return reduce_axis(ctx, simple, x, axis, span) if function.operator in "/⌿" else scan_along(ctx, simple, x, axis, span)
