"""Statements that bind a name: to an array of the type declared for it, to a function with the signature before it.

Neighbours: `programs` (whose statements these are), `definitions` (checks functions against signatures).
"""

from __future__ import annotations

from functools import partial

from ...lang import program_tree, tree, type_tree
from ...lang.codes import Code
from ...lang.source import Span
from ..obligations import Obligation
from ..operands import Operand, Value
from ..types import ArrayType
from . import declarations, definitions, expressions, matching, resolve, type_expressions
from .context import Context
from .environment import Frame


def bind_array(
    run: declarations.Elaboration, statement: tree.BindArray, frame: Frame,
    declared: dict[str, program_tree.StatedType],
) -> Value:  # fmt: skip
    """The value of `name ← e` or `(a b) ← e`, conformed to the type in front of it or in `declared`, which it leaves."""
    ctx = run.ctx
    annotation = statement.annotation
    target = statement.target
    where: tuple[type_tree.Fact, ...] = ()
    if isinstance(target, tree.NameTarget) and target.name in declared:
        given = declared.pop(target.name)
        if isinstance(given, program_tree.Signature):
            ctx.error(Code.E011, f"`{target.name}` has a signature, but is bound to an array", given.span)
        else:
            annotation, where = given.type, given.where
    sizes = partial(declarations.size_name, ctx, frame)
    wanted = None if annotation is None else type_expressions.declared(ctx, annotation, sizes)
    if annotation is not None and wanted is None:
        value: Value = ctx.builder.poison(statement.span)
    elif isinstance(statement.value, tree.ArrayNotation) and not statement.value.items and isinstance(wanted, ArrayType):
        value = _empty(ctx, wanted, statement.value.span)
    else:
        value = ctx.expression(ctx, statement.value, frame)
        if wanted is not None:
            if isinstance(value, Operand):
                ctx.builder.wording.add(value.value, statement.value.span)
            what = f"`{target.name}`" if isinstance(target, tree.NameTarget) else "this binding"
            value = matching.conform(ctx, value, wanted, statement.value.span, what)
    for fact, span in type_expressions.facts(ctx, where, sizes):
        ctx.builder.require(Obligation(fact, Code.E201, span, f"{fact} does not hold"))
    expressions.bind_target(ctx, target, declarations.apart(run, target, value), frame)
    return value


def _empty(ctx: Context, wanted: ArrayType, span: Span) -> Operand:
    """`y : f64[0 3] ← []`."""
    sizes = [s.constant for s in wanted.shape]
    if not wanted.shape or any(s is None for s in sizes) or 0 not in sizes:
        return ctx.error(Code.E120, "`[]` is empty, so its declared shape must have a 0", span)
    return ctx.builder.literal((), wanted, span)


def bind_function(
    ctx: Context, statement: tree.BindFunction, frame: Frame, declared: dict[str, program_tree.StatedType]
) -> None:
    """`name ← f`; a signature in `declared`, which it leaves, is checked against the function."""
    name = statement.target.name
    signature = declared.pop(name, None)
    function = resolve.function(ctx, statement.value, frame, name)
    if isinstance(signature, program_tree.Annotation):
        ctx.error(Code.E011, f"`{name}` is bound to a function; its type needs an arrow", signature.span)
    elif signature is not None:
        function = definitions.define(ctx, signature, function, frame.file)
    frame.bind(statement.target.definition, function)
