"""Elaborates dfns (statements in order, guards as branches), compositions, and functions mapped over cells.

Calls are inlined with their argument operands, so static values and constants are known in bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext

from ...lang.diagnostics.model import Code, Label
from ...lang.syntax.source import Span
from ...lang.tree import expressions as tree
from ...lang.tree.expressions import Argument
from ..core.builder import Builder, condition_decided, statements_if
from ..core.operations import MapCells, defined_sizes
from ..elements import ArrayType, Element, Kind, outside, strong
from ..frame_agreement import agree
from ..rules.argument_checks import is_boolean, static_integer
from ..sizes.polynomials import ZERO, Size, product
from ..values.facts import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned, leaves
from . import branches, expressions, names
from .context import (
    AtopFunction,
    BrokenFunction,
    Context,
    DerivedFunction,
    DfnFunction,
    ForkFunction,
    Frame,
    FunctionValue,
    PrimitiveFunction,
    rebuild,
    reject_enclosed,
)

# ---------------------------------------------------------------------------------------------------- dfns

def call(ctx: Context, function: DfnFunction, left: Value | None, right: Value, span: Span) -> Value:
    """Inline a dfn on its arguments."""
    frame = function.closure.inner(span)
    frame.bind(Argument.RIGHT, right)
    if left is not None:
        frame.bind(Argument.LEFT, left)
    builder = ctx.builder
    origin = builder.index_origin
    builder.index_origin = frame.file.index_origin
    try:
        with nullcontext() if _within(function.node.span, span) else naming_call(builder, span):
            return _statements(ctx, function.node, 0, frame)
    finally:
        builder.index_origin = origin


@contextmanager
def naming_call(builder: Builder, span: Span) -> Iterator[None]:
    """A block in which messages name the call at `span`, unless a signature is being checked."""
    site = builder.constraints.clause_site
    if site is not None and _within(site.at, span):
        yield
        return
    builder.sink.calls.append(span)
    try:
        yield
    finally:
        builder.sink.calls.pop()


def _within(inner: Span, outer: Span) -> bool:
    return inner.file == outer.file and outer.start <= inner.start and inner.end <= outer.end


def _statements(ctx: Context, dfn: tree.Dfn, start: int, frame: Frame) -> Value:
    """Elaborate the statements from `start`; the value is that of the last expression."""
    value: Value | None = None
    for at in range(start, len(dfn.body)):
        statement = dfn.body[at]
        if isinstance(statement, tree.Guard):
            return _guard(ctx, dfn, at, statement, frame)
        result = _statement(ctx, statement, frame)
        value = result if result is not None else value
    if value is None:
        return ctx.error(Code.E134, "this function has no value: it does not end with an expression", dfn.span)
    return value


def _statement(ctx: Context, statement: tree.Statement, frame: Frame) -> Value | None:
    """Elaborate one statement other than a guard; its value, if it has one."""
    match statement:
        case tree.Evaluate():
            return ctx.expression(ctx, statement.value, frame)
        case tree.BindArray():
            if _is_alpha(statement.target):
                if frame.find(Argument.LEFT) is not None:
                    return None
                default = ctx.expression(ctx, statement.value, frame)
                frame.bind(Argument.LEFT, default)
                return default
            value = ctx.expression(ctx, statement.value, frame)
            expressions.bind_target(ctx, statement.target, value, frame)
            return value
        case tree.BindFunction():
            target = statement.target
            frame.bind(target.definition, names.function(ctx, statement.value, frame, target.name))
            return None
        case tree.BindOperator():
            frame.bind(statement.target.definition, names.operator(ctx, statement.value, frame))
            return None
        case _:
            return ctx.error(
                Code.E134,
                "the value of this statement is a function: functions can be named and passed to operators, not returned",
                statement.span,
            )


def _is_alpha(target: tree.Target) -> bool:
    return isinstance(target, tree.NameTarget) and target.definition is Argument.LEFT


def _guard(ctx: Context, dfn: tree.Dfn, at: int, guard: tree.Guard, frame: Frame) -> Value:
    """`cond : value`, then the rest: one of the two if cond is known while checking, else a branch."""
    ctx.spend(guard.span)
    condition = condition_operand(ctx, ctx.expression(ctx, guard.condition, frame), guard.condition.span)
    if condition.poisoned:
        return condition
    known = _known(ctx, condition)
    if known is not None:
        return ctx.expression(ctx, guard.value, frame) if known else _statements(ctx, dfn, at + 1, frame)

    def then() -> Value:
        return ctx.expression(ctx, guard.value, frame.inner())

    def otherwise() -> Value:
        if at + 1 == len(dfn.body):
            return ctx.error(
                Code.E134,
                "this function has no value when its last condition does not hold",
                guard.span,
                notes=("end the function with an expression after the guards",),
            )
        return _statements(ctx, dfn, at + 1, frame.inner())

    with ctx.nested_call(guard.span):
        rest = Label(dfn.body[-1].span, "the other exit")
        return branches.branch(ctx, condition, then, otherwise, guard.span, guard.value.span, rest)


def _known(ctx: Context, condition: Operand) -> bool | None:
    """True if a condition holds for all data, False if for none, else None."""
    builder = ctx.builder
    known = static_integer(builder, condition)
    if known is not None:
        return bool(known)
    holding, opposite = [statements_if(builder, condition.value, holds) for holds in (True, False)]
    return condition_decided(builder, holding, opposite)


def condition_operand(ctx: Context, value: Value, span: Span) -> Operand:
    """The operand of a condition: a scalar bool, or the literal 0 or 1 (else E303)."""
    if is_poisoned(value):
        return ctx.builder.poison(span)
    x = expressions.single(ctx, value, span)
    if x.poisoned:
        return x
    if x.type.rank > 0:
        return ctx.error(
            Code.E303,
            f"a condition is one truth value, but this is an array of rank {x.type.rank}",
            span,
            notes=("reduce it: `∧/` (all) or `∨/` (any)",),
        )
    element = x.type.element
    if is_boolean(element):
        return ctx.builder.convert(x, Kind.BOOL, span)
    return ctx.error(Code.E303, f"a condition is a bool, but this is {element.kind.value}", span, notes=("compare it: `x≠0`",))


# ---------------------------------------------------------------------------------------------------- composition
#
# `⍨ ∘ ⍥ ⍛`: commute, compose and bind, over, behind.

def as_function(ctx: Context, operand: FunctionValue | Value, operator: str, span: Span) -> FunctionValue:
    """An operand that must be a function (E134)."""
    if not isinstance(operand, (Operand, TupleOperand)):
        return operand
    if not is_poisoned(operand):
        what = "an array" if isinstance(operand, Operand) else "a tuple"
        ctx.error(Code.E134, f"`{operator}` needs a function as its operand, but this is {what}", span)
    return BrokenFunction(span)


def commute(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍨ y` is `y f x`; `f⍨ y` is `y f y`; `A⍨` is always A."""
    operand = derived.operands[0]
    if isinstance(operand, (Operand, TupleOperand)):
        return operand
    return ctx.call(operand, right, right if left is None else left, span)


def compose(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f∘g y` is `x f g y`; an array operand is a bound argument."""
    first, second = derived.operands
    if isinstance(first, (Operand, TupleOperand)) or isinstance(second, (Operand, TupleOperand)):
        if left is not None:
            return ctx.error(Code.E130, "a function with a bound argument takes one argument, got two", span)
        if isinstance(first, (Operand, TupleOperand)):
            return ctx.call(as_function(ctx, second, "∘", derived.span), first, right, span)
        assert isinstance(second, (Operand, TupleOperand))
        return ctx.call(first, right, second, span)
    return ctx.call(first, left, ctx.call(second, None, right, span), span)


def over(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍥g y` is `(g x) f g y`."""
    first, second = [as_function(ctx, x, "⍥", derived.span) for x in derived.operands]
    prepared = ctx.call(second, None, right, span)
    if left is None:
        return ctx.call(first, None, prepared, span)
    return ctx.call(first, ctx.call(second, None, left, span), prepared, span)


def behind(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`x f⍛g y` is `(f x) g y`; `f⍛g y` is `(f y) g y`."""
    first, second = derived.operands
    if isinstance(first, (Operand, TupleOperand)):
        return ctx.call(as_function(ctx, second, "⍛", derived.span), first, right, span)
    function = as_function(ctx, second, "⍛", derived.span)
    return ctx.call(function, ctx.call(first, None, right if left is None else left, span), right, span)


# ---------------------------------------------------------------------------------------------------- valence
#
# A dfn without `⍺` may be called with two arguments, as in APL; from Python, where that is likely a mistake, it is refused.

_FIRST = frozenset("¨˘⍤⍨∘⍥⍣")
"""Operators that apply their first operand dyadically if they are applied dyadically."""


def drops_left(function: object) -> bool:
    """Is the left argument of a dyadic call ignored, because the dfns that get it have no `⍺`?"""
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


# ---------------------------------------------------------------------------------------------------- functions equal to
# primitives
#
# `{⍺+⍵}` and `+⍨` are treated as `+`, so that they reduce and broadcast like it.

_COMMUTATIVE = "+×∧∨⌈⌊=≠⍲⍱"


def as_primitive(function: FunctionValue) -> FunctionValue:
    """The primitive f for `{⍺ f ⍵}` (or `{⍵ f ⍺}` and `f⍨` of a commutative f), else the function itself."""
    commuted = commuted_primitive(function)
    if commuted is not None:
        return commuted if commuted.glyph in _COMMUTATIVE else function
    if not isinstance(function, DfnFunction) or len(function.node.body) != 1:
        return function
    statement = function.node.body[0]
    if not isinstance(statement, tree.Evaluate) or not isinstance(statement.value, tree.Dyadic):
        return function
    call = statement.value
    if not isinstance(call.function, tree.GlyphFunction) or call.function.axis is not None:
        return function
    if not isinstance(call.left, tree.Name) or not isinstance(call.right, tree.Name):
        return function
    names = call.left.name + call.right.name
    if names == "⍺⍵" or (names == "⍵⍺" and call.function.glyph in _COMMUTATIVE):
        return PrimitiveFunction(call.function.span, call.function.glyph)
    return function


def commuted_primitive(function: FunctionValue) -> PrimitiveFunction | None:
    """The f of `f⍨`, if it is a primitive without an axis."""
    if not isinstance(function, DerivedFunction) or function.operator != "⍨":
        return None
    (operand,) = function.operands
    return operand if isinstance(operand, PrimitiveFunction) and operand.axis is None else None


# ---------------------------------------------------------------------------------------------------- mapping over cells
#
# The longest frame (the first of equals) is the principal frame, of which every other frame must be a prefix.  An argument
# without a frame is no parameter of the body, which refers to it directly, so that its static value stays known.

def _element(x: Operand, frame: Sequence[Size]) -> Element:
    """The element of a cell.  In an empty frame there are no cells, so integers are bounded by 0 and are valid indices of any
    axis."""
    element = strong(x.type.element)
    is_bounded = element.kind is Kind.I64 and element.low is not None
    return Element(Kind.I64, index_bound=ZERO) if is_bounded and product(frame) == ZERO else element


def lift(
    ctx: Context, args: Sequence[Operand], cell_ranks: Sequence[int], body: Callable[[Sequence[Operand]], Value], span: Span,
    notes: tuple[str, ...] = (),
) -> Value:  # fmt: skip
    """`body` on every tuple of cells; `cell_ranks` are already clipped to the arguments' ranks.  `notes` are those of E401."""
    builder = ctx.builder
    frames = [x.type.rank - r for x, r in zip(args, cell_ranks, strict=True)]
    if not any(frames):
        return body(args)
    frame = agree(builder, args, [x.type.shape[:length] for x, length in zip(args, frames, strict=True)], span)
    if frame is None:
        return builder.poison(span)
    framed = [i for i, length in enumerate(frames) if length]
    cell_types = [ArrayType(_element(args[i], frame), args[i].type.shape[frames[i] :]) for i in framed]
    params = builder.open_block(cell_types, span)
    cells = list(args)
    for i, param in zip(framed, params, strict=True):
        cells[i] = param
        builder.add_facts(param, cell_of=args[i])
    with ctx.operator_body(span):
        value = body(cells)
    results = leaves(value)
    block = builder.close_block(results)
    if is_poisoned(value):
        return builder.poison(span)
    if isinstance(value, EnclosedOperand):
        return reject_enclosed(ctx, span)
    local = {size for op in block.ops for size in defined_sizes(op)}
    for x in results:
        irregular = [s for s in x.type.shape if s.variables() & local]
        if irregular:
            return ctx.error(
                Code.E401,
                f"each cell would get its own length {irregular[0]}, but an array has one length along each axis",
                span,
                notes=(*notes, "keep the length fixed inside the function: mask with `¿` or reduce there"),
            )
    types = [ArrayType(outside(x.type.element, local), frame + x.type.shape) for x in results]
    values = tuple([args[i].value for i in framed])
    lengths = tuple([frames[i] for i in framed])

    return rebuild(value, builder.emit_many(lambda results: MapCells(results, values, lengths, frame, block), types, span))
