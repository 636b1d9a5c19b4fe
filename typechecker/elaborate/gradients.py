"""Elaborates gradients: `f∂ x`, `f∂ (a ⋄ b)` and, with the cotangent of f's result, `s f∂ x`."""

from __future__ import annotations

from ...lang.diagnostics.model import Code, Diagnostic, Severity
from ...lang.syntax.source import Span
from ..core.builder import DeclaredAdjoint
from ..core.operations import Reshape, ValueId, all_ops, results_of
from ..diagnostics import show_type
from ..elements import ArrayType, Element, Kind
from ..proof.obligations import Obligation, Relation, SizeFact
from ..values.facts import Operand, TupleOperand, Value, is_poisoned, leaves
from .context import Context, DerivedFunction, rebuild
from .expressions import single
from .functions import as_function


def gradient(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """The gradient of f at x, in x's shape; with `left`, the vector-Jacobian product whose cotangent of f's result is `left`."""
    from ..gradients.array_rules import RULES
    from ..gradients.reverse_mode import Activity, cotangents_of
    from ..gradients.terms import Masking, NotDifferentiable, Terms

    builder = ctx.builder
    function = as_function(ctx, derived.operands[0], "∂", derived.span)
    arguments: list[Operand] = []
    for x in leaves(right):
        argument = _argument(ctx, x, span)
        if argument is None:
            return builder.poison(span)
        arguments.append(argument)
    start = builder.position
    outside, builder.inlines_calls = builder.inlines_calls, True
    try:
        value = ctx.call(function, None, rebuild(right, arguments), span)
    finally:
        builder.inlines_calls = outside
    if is_poisoned(value):
        return builder.poison(span)
    result = _result(ctx, value, left, derived, span)
    if result is None:
        return builder.poison(span)
    y, seed = result
    ops = builder.since(start)
    activity = Activity(builder, [x.value for x in arguments])
    activity.extend(ops)
    try:
        wanted = [x.value for x in arguments]
        masking = Masking.NONE if left is None else Masking.CHOICE
        parts, _ = cotangents_of(builder, span, ops, activity, [(y.value, seed.value, masking)], wanted, RULES, {})
        terms = Terms(builder, span)
        values = [terms.zeros_like(x.value) if part is None else part for x, part in zip(arguments, parts, strict=True)]
    except NotDifferentiable as refusal:
        if not refusal.is_reported:
            ctx.error(Code.E630, refusal.message, refusal.span or span, notes=refusal.notes)
        return builder.poison(span)
    for _ in all_ops(builder.since(start + len(ops))):
        ctx.spend(span)
    for original, part in zip(leaves(right), parts, strict=True):
        if part is None:
            message = "this function's value does not depend on this argument: its derivative is 0"
            builder.report(Diagnostic(Code.W630, message, builder.span_of(original), Severity.WARNING))
    return rebuild(right, [Operand(value, builder.types[value]) for value in values])


def with_adjoint(ctx: Context, derived: DerivedFunction, left: Value | None, right: Value, span: Span) -> Value:
    """`f⍫g x`: f of x, with g in place of f's adjoint."""
    builder = ctx.builder
    function, adjoint = [as_function(ctx, x, "⍫", derived.span) for x in derived.operands]
    if left is not None:
        return ctx.error(Code.E130, "a function with an adjoint takes one argument, got two", span)
    start = builder.position
    value = ctx.call(function, None, right, span)
    if is_poisoned(value):
        return value
    if isinstance(value, TupleOperand):
        return ctx.error(Code.E630, "an adjoint is of one array, but this function gives a tuple", derived.span)
    x = single(ctx, value, span)
    if x.poisoned:
        return x
    result = builder.copy_value(x, span)
    arguments = leaves(right)

    def pull(values: tuple[ValueId, ...], cotangent: ValueId) -> list[ValueId]:
        given = rebuild(right, [Operand(v, builder.types[v]) for v in values])
        parts_of = ctx.call(adjoint, given, Operand(cotangent, builder.types[cotangent]), span)
        if is_poisoned(parts_of):
            return []
        parts = leaves(parts_of)
        if len(parts) != len(values):
            ctx.error(Code.E105, "this adjoint gives another number of arrays than the function takes", derived.span)
            return []
        for part, v in zip(parts, values, strict=True):
            is_number = part.type.element.kind is not Kind.CHAR and not part.type.element.kind.is_complex
            wanted_shape = builder.types[v].shape
            agrees = len(part.type.shape) == len(wanted_shape) and all(
                builder.equal(a, b) is True for a, b in zip(part.type.shape, wanted_shape, strict=True)
            )
            if not (is_number and agrees):
                what, wanted = show_type(part.type), show_type(builder.types[v])
                message = f"this adjoint gives {what} for an argument that is {wanted}"
                ctx.error(Code.E101 if is_number else Code.E300, message, derived.span)
                return []
        return [builder.convert(part, builder.types[v].element.kind, span).value for part, v in zip(parts, values, strict=True)]

    defined = frozenset(v for op in builder.since(start) for v in results_of(op))
    builder.adjoints[result.value] = DeclaredAdjoint(tuple(x.value for x in arguments), result.value, defined, pull)
    return result


def _argument(ctx: Context, x: Operand, span: Span) -> Operand | None:
    """An argument as a fresh float value without facts beyond its type, so that f is not specialised to it; None after E630."""
    builder, element = ctx.builder, x.type.element
    if element.weak and not element.kind.is_float and not element.kind.is_complex and element.kind is not Kind.CHAR:
        x = builder.convert(x, Kind.F64, span)
        element = x.type.element
    if x.poisoned:
        return None
    if not element.kind.is_float:
        what = "complex numbers have" if element.kind.is_complex else f"a value of kind {element.kind.value} has"
        cure = () if element.kind.is_complex or element.kind is Kind.CHAR else ("convert it: `1.0×x`",)
        ctx.error(Code.E630, f"{what} no gradient: only f32 and f64 have one", builder.span_of(x), notes=cure)
        return None
    return builder.emit(lambda r: Reshape(r, x.value), ArrayType(Element(element.kind), x.type.shape), span)


def _result(
    ctx: Context, value: Value, left: Value | None, derived: DerivedFunction, span: Span
) -> tuple[Operand, Operand] | None:
    """The differentiated value and its cotangent."""
    builder = ctx.builder
    if isinstance(value, TupleOperand):
        ctx.error(Code.E630, "a gradient is of one value, but this function gives a tuple", derived.span)
        return None
    y = single(ctx, value, span)
    if y.poisoned:
        return None
    kind = y.type.element.kind
    if not kind.is_float:
        ctx.error(Code.E630, f"this function gives {show_type(y.type)}, and only f32 and f64 have a gradient", derived.span)
        return None
    if left is None:
        if y.type.rank:
            message = f"the value of this function is {show_type(y.type)}, but `f∂ x` is the gradient of a number"
            notes = ("reduce it, as by `+/`, or give the cotangent of its items on the left: `s f∂ x`",)
            ctx.error(Code.E630, message, derived.span, notes=notes)
            return None
        return y, builder.literal((1.0,), ArrayType(Element(kind), ()), span)
    seed = single(ctx, left, span)
    if seed.poisoned:
        return None
    if seed.type.element.kind is Kind.CHAR or seed.type.element.kind.is_complex:
        ctx.error(Code.E300, f"a cotangent is of real numbers, but this is {show_type(seed.type)}", builder.span_of(seed))
        return None
    seed = builder.convert(seed, kind, span)
    if seed.type.rank != y.type.rank:
        message = f"the cotangent is {show_type(seed.type)}, but the value of this function is {show_type(y.type)}"
        ctx.error(Code.E101, message, builder.span_of(seed))
        return None
    for a, b in zip(seed.type.shape, y.type.shape, strict=True):
        message = f"the cotangent is {show_type(seed.type)}, but the value of this function is {show_type(y.type)}"
        if not builder.require(Obligation(SizeFact(Relation.EQUAL, a, b), Code.E101, span, message)):
            return None
    return y, seed
