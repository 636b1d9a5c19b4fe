"""Elaborates applications of primitives, dfns, trains and operators (dispatched to their modules), and bindings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import assert_never

from ...lang.diagnostics.model import Code, Edit, Fix
from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ...lang.tree import expressions as tree, program
from ..elements import ArrayType, Kind, strong
from ..proof.obligations import Obligation, Relation, SizeFact
from ..proof.report_unproved import positive
from ..rules import table
from ..signatures import calls, check_definition, unify
from ..sizes.polynomials import ONE, NonlinearAtom, Size, SizeOrigin, SizeVariable, operand, show, variable
from ..values.facts import EnclosedOperand, Operand, TupleOperand, Value, is_poisoned
from . import (
    declarations,
    expressions,
    functions,
    gradients,
    loops,
    names,
    operators,
    reductions,
    type_expressions,
)
from .context import (
    AtopFunction,
    BoundFunction,
    BrokenFunction,
    Context,
    DerivedFunction,
    DfnFunction,
    Entry,
    ForkFunction,
    Frame,
    FunctionValue,
    NamingMode,
    OpaqueFunction,
    OperatorValue,
    PrimitiveFunction,
    SignedFunction,
    reject_enclosed,
)

# ---------------------------------------------------------------------------------------------------- applications

_Operator = Callable[[Context, DerivedFunction, "Value | None", Value, Span], Value]


def apply(ctx: Context, function: FunctionValue, left: Value | None, right: Value, span: Span) -> Value:
    """The value of `left function right`, or of `function right`.  Poisoned arguments give poison without another error."""
    ctx.spend(span)
    if is_poisoned(right) or is_poisoned(left) or isinstance(function, BrokenFunction):
        return ctx.builder.poison(span)
    reported = len(ctx.builder.sink.diagnostics)
    value = _applied(ctx, function, left, right, span)
    if len(ctx.builder.sink.diagnostics) > reported and is_poisoned(value):
        offer_guard(ctx, lambda: ctx.call(function, left, right, span), left, right, span, span)
    return value


def _applied(ctx: Context, function: FunctionValue, left: Value | None, right: Value, span: Span) -> Value:
    with ctx.nested_call(span):
        match function:
            case PrimitiveFunction():
                with _origin(ctx, function.origin):
                    return primitive(ctx, function, left, right, span)
            case DfnFunction():
                with ctx.expanding(span):
                    return functions.call(ctx, function, left, right, span)
            case SignedFunction():
                with ctx.expanding(span):
                    return calls.call(ctx, function, left, right, span)
            case ForkFunction():
                return _fork(ctx, function, left, right, span)
            case AtopFunction():
                inner = ctx.call(function.inner, left, right, span)
                return ctx.call(function.outer, None, inner, span)
            case BoundFunction():
                if left is not None:
                    return ctx.error(Code.E130, "this function already has its left argument", span)
                return ctx.call(function.function, function.left, right, span)
            case DerivedFunction():
                with _origin(ctx, function.origin):
                    return _OPERATORS[function.operator](ctx, function, left, right, span)
            case BrokenFunction() | OpaqueFunction():
                return ctx.builder.poison(span)
            case _:
                assert_never(function)


@contextmanager
def _origin(ctx: Context, origin: int | None) -> Iterator[None]:
    """The scope of an application: positions and numbers convert by the index origin of the file of the function."""
    before = ctx.builder.index_origin
    ctx.builder.index_origin = before if origin is None else origin
    try:
        yield
    finally:
        ctx.builder.index_origin = before


def primitive(ctx: Context, function: PrimitiveFunction, left: Value | None, right: Value, span: Span) -> Value:
    """A primitive on arrays; `/ ⌿ \\ ⍀` too (as functions)."""
    if function.glyph == "⊂" and left is None and function.axis is None and isinstance(right, Operand):
        return EnclosedOperand((right,)) if right.type.rank else right
    if function.glyph == "⌷" and isinstance(left, EnclosedOperand):
        left = _cells(ctx, left)
    if function.glyph == "⊃" and left is None and isinstance(right, EnclosedOperand):
        return right.items[0]
    for value in (left, right):
        if isinstance(value, EnclosedOperand):
            return reject_enclosed(ctx, span)
        if isinstance(value, TupleOperand) and not _takes_tuple(function.glyph):
            return ctx.error(
                Code.E305,
                f"`{function.glyph}` takes arrays, but this argument is a tuple",
                span,
                notes=("take a tuple apart with `(a b) ← t`",),
            )
    return table.apply(ctx.builder, function.glyph, left, right, function.axis, span)


def _cells(ctx: Context, left: EnclosedOperand) -> Value:
    """The cells for the left argument of `(⊂I)⌷`, which states that cells are selected, so that W320 is not given."""
    (x,) = left.items
    return ctx.builder.with_type(x, replace(x.type, element=strong(x.type.element))) if isinstance(x, Operand) else x


def _takes_tuple(glyph: str) -> bool:
    return glyph in "⊣⊢¿?"


def _fork(ctx: Context, fork: ForkFunction, left: Value | None, right: Value, span: Span) -> Value:
    second = ctx.call(fork.right, left, right, span)
    tine = fork.left
    first: Value
    if isinstance(tine, (Operand, TupleOperand)):
        first = tine
    else:
        first = ctx.call(tine, left, right, span)
    return ctx.call(fork.middle, first, second, span)


_OPERATORS: dict[str, _Operator] = {
    "/": reductions.reduce,
    "⌿": reductions.reduce,
    "\\": reductions.scan,
    "⍀": reductions.scan,
    "¨": operators.each,
    "˘": operators.cells,
    "⍤": operators.rank_or_atop,
    "⍨": functions.commute,
    "∘": functions.compose,
    "⍥": functions.over,
    "⍛": functions.behind,
    "∘.": operators.table,
    ".": operators.inner,
    "⍣": loops.power,
    "⍣\\": loops.states,
    "@": operators.update_at,
    "⌸": operators.group_by_key,
    "⌺": operators.stencil,
    "∂": gradients.gradient,
    "⍫": gradients.with_adjoint,
}


# ---------------------------------------------------------------------------------------------------- guards that are offered
#
# An application that needs a fact about sizes of its arguments that only the run knows is refused with the guard that states it:
# `⌈/` becomes `{0=≢⍵ : 0 ⋄ ⌈/⍵}`.  It is elaborated again with the fact as a premise, which shows that it suffices and gives the
# type of the value for the other case.

_GUARDED = frozenset({Code.E201, Code.E202, Code.E204})
_MOST_FACTS = 3
_FAILS = {Relation.AT_MOST: ">", Relation.LESS: "≥", Relation.EQUAL: "≠", Relation.NOT_EQUAL: "="}


def offer_guard(
    ctx: Context, reapply: Callable[[], Value], left: Value | None, right: Value, span: Span, function: Span
) -> None:
    """Add a fix with a guard to the error just reported at `span`, if it was caused by sizes of the arguments.

    `reapply` repeats the application that failed; `function` is the text before its right argument, or between the two.
    """
    sink, constraints = ctx.builder.sink, ctx.builder.constraints
    last, fact, text = sink.diagnostics[-1], constraints.refused, ctx.builder.text(function).rstrip()
    constraints.refused = None
    if fact is None or last.span != span or last.fixes or last.goal != str(fact):
        return
    if last.code not in _GUARDED and (last.code is not Code.E140 or fact.relation is Relation.EQUAL):
        return
    if not text or _uses_arguments(text) or ctx.suggesting:
        return
    ctx.suggesting = True
    try:
        facts, value = _sufficient(ctx, reapply, fact)
    finally:
        ctx.suggesting = False
    failures = [_failure(each, left, right) for each in facts]
    if value is None or None in failures:
        return
    first, *rest = [each for each in failures if each is not None]
    condition = "∨".join([*[f"({each})" for each in reversed(rest)], first])
    blank = " " if text[-1].isalnum() else ""
    applied = f"{text}{blank}⍵" if left is None else f"⍺{blank}{text}{blank}⍵"
    guarded = f"{{{condition} : {_other(value)} ⋄ {applied}}}"
    fix = Fix(f"guard it, and say what is so otherwise: `{guarded}`", (Edit(function, guarded),))
    sink.diagnostics[-1] = replace(last, fixes=(fix,))


def _sufficient(ctx: Context, reapply: Callable[[], Value], fact: SizeFact) -> tuple[list[SizeFact], Value | None]:
    """The facts under which an application is accepted, and its value under them; no value if that takes more than a few
    facts."""
    facts = [fact]
    while len(facts) <= _MOST_FACTS:
        with ctx.speculate(NamingMode.CONTINUE):
            ctx.builder.open_arm([facts])
            value = reapply()
            ctx.builder.close_scope()
        if not is_poisoned(value):
            return facts, value
        more = ctx.builder.constraints.refused
        if more is None or more in facts:
            break
        facts.append(more)
    return facts, None


def _failure(fact: SizeFact, left: Value | None, right: Value) -> str | None:
    """The negation of a fact in terms of `⍵` and `⍺`; None if sizes other than numbers and those of the arguments occur in it."""
    names: dict[SizeVariable, Size] = {}
    names_of_arguments: set[Size] = set()
    for argument, x in (("⍵", right), ("⍺", left)):
        for axis, size in enumerate(x.type.shape if isinstance(x, Operand) else ()):
            text = f"(≢{argument})" if axis == 0 else f"((⍴{argument})[{axis}])"
            for known in size.variables():
                rest = size - variable(known)
                if rest.constant is not None and known not in names:
                    length = variable(SizeVariable(text, -2 - len(names), SizeOrigin.RIGID))
                    names_of_arguments.add(length)
                    names[known] = length - rest
    normalised = positive(fact)
    sides = [side.substitute(names) for side in (normalised.left, normalised.right)]
    if fact.relation is Relation.POWER or not (normalised.left.variables() | normalised.right.variables()) <= names.keys():
        return None
    if any(isinstance(atom, NonlinearAtom) for side in sides for monomial, _ in side.terms for atom, _ in monomial):
        return None
    named = positive(SizeFact(fact.relation, *sides))
    low, high = named.left, named.right
    right_side = show(high).removeprefix("(").removesuffix(")") if high in names_of_arguments else show(high)
    if fact.relation is Relation.DIVIDES:
        return f"0≠{operand(low)}|{right_side}"
    if fact.relation is Relation.AT_MOST and low == ONE:
        return f"0={right_side}"
    return f"{operand(low)}{_FAILS[fact.relation]}{right_side}"


def _uses_arguments(text: str) -> bool:
    """Do the arguments `⍵` or `⍺` of the enclosing function occur in a text, outside nested braces?"""
    depth = 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if character in "⍵⍺" and not depth:
            return True
    return False


def _other(value: Value) -> str:
    """A value of the same rank and type: 0, NaN, `⎕nat` or a blank, or an array without elements."""
    if isinstance(value, TupleOperand):
        return "(" + " ⋄ ".join(map(_other, value.items)) + ")"
    kind, rank = value.type.element.kind, value.type.rank
    item = "' '" if kind is Kind.CHAR else "⎕nan" if kind.is_float and not rank else "⎕nat" if value.type.element.unit else "0"
    return f"{' '.join(['0'] * rank)}⍴{item}" if rank else item


# ---------------------------------------------------------------------------------------------------- bindings
#
# Statements that bind a name: to an array of its declared type, or to a function with the signature before it.

def bind_array(
    run: declarations.Elaboration, statement: tree.BindArray, frame: Frame,
    declared: dict[str, program.StatedType],
) -> Value:  # fmt: skip
    """The value of `name ← e` or `(a b) ← e`, conformed to its annotation, or to that in `declared`, which is removed."""
    ctx = run.ctx
    annotation = statement.annotation
    target = statement.target
    where: tuple[tree.Fact, ...] = ()
    if isinstance(target, tree.NameTarget) and target.name in declared:
        declaration = declared.pop(target.name)
        if isinstance(declaration, program.Signature):
            ctx.error(Code.E011, f"`{target.name}` has a signature, but is bound to an array", declaration.span)
        else:
            annotation, where = declaration.type, declaration.where
    bindings = declarations.names_in(frame)
    expected = None if annotation is None else type_expressions.instantiate(ctx, annotation, bindings)
    if annotation is not None and expected is None:
        value: Value = ctx.builder.poison(statement.span)
    elif isinstance(statement.value, tree.ArrayNotation) and not statement.value.items and isinstance(expected, ArrayType):
        value = _empty(ctx, expected, statement.value.span)
    else:
        value = ctx.expression(ctx, statement.value, frame)
        if expected is not None:
            if isinstance(value, Operand):
                ctx.builder.source_names.add(value.value, statement.value.span)
            subject = f"`{target.name}`" if isinstance(target, tree.NameTarget) else "this binding"
            value = unify.conform(ctx, value, expected, statement.value.span, subject)
    for fact, span in type_expressions.facts(ctx, where, bindings):
        ctx.builder.require(Obligation(fact, Code.E201, span, f"{fact} does not hold"))
    expressions.bind_target(ctx, target, declarations.separate_value(run, target, value), frame)
    return value


def _empty(ctx: Context, expected: ArrayType, span: Span) -> Operand:
    """`y : f64[0 3] ← []`."""
    sizes = [s.constant for s in expected.shape]
    if not expected.shape or any(s is None for s in sizes) or 0 not in sizes:
        return ctx.error(Code.E120, "`[]` is empty, so its declared shape must have a 0", span)
    return ctx.builder.literal((), expected, span)


def bind_function(
    ctx: Context, statement: tree.BindFunction, frame: Frame, declared: dict[str, program.StatedType]
) -> None:
    """Bind `name ← f`; a signature in `declared`, which is removed, is checked against the function."""
    name = statement.target.name
    signature = declared.pop(name, None)
    function = names.function(ctx, statement.value, frame, name)
    if isinstance(signature, program.Annotation):
        ctx.error(Code.E011, f"`{name}` is bound to a function; its type needs an arrow", signature.span)
    elif signature is not None and signature.operands:
        message = f"`{name}` is a function: its signature begins with its argument, not with an operand"
        ctx.error(Code.E011, message, signature.span)
    elif signature is not None:
        function = check_definition.define(ctx, signature, function, frame.file)
    frame.bind(statement.target.definition, function)


def bind_operator(
    ctx: Context, statement: tree.BindOperator, frame: Frame, declared: dict[str, program.StatedType]
) -> None:
    """Bind `name ← op`; a signature in `declared`, which is removed, is checked against the operator."""
    signature = declared.pop(statement.target.name, None)
    operator: Entry = names.operator(ctx, statement.value, frame)
    if isinstance(signature, program.Signature) and isinstance(operator, OperatorValue):
        operator = check_definition.define_operator(ctx, signature, operator, frame.file)
    elif signature is not None:
        ctx.error(Code.E011, f"`{signature.target.name}` is an operator; its type has arrows", signature.span)
    frame.bind(statement.target.definition, operator)
