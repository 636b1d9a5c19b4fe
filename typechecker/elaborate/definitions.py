"""Defining annotated functions: the body is checked once against sizes of its own.

What can never work, and what some sizes that the signature allows break, is reported at the definition; a fact that is
neither proved nor broken is asked again at every call.
"""

from __future__ import annotations

from ...lang import tree
from ...lang.diagnostics import Diagnostic, Severity, Verdict
from ..elements import Element, Kind
from ..operands import Operand, TupleOperand, Value
from ..sizes import SizeOrigin, variable
from ..types import ArrayType
from . import type_expressions
from .context import Context, is_poisoned
from .functions import BrokenFunction, FunctionValue, SignedFunction
from .scopes import Moment
from .signatures import CLASSES, Bindings, call, instantiate, known_size
from .type_expressions import KINDS


def define(ctx: Context, signature: tree.Signature, body: FunctionValue, home: Moment) -> FunctionValue:
    """The annotated function, checked once against sizes of its own."""
    function = SignedFunction(signature.span, signature.target.name, signature, body, home)
    if isinstance(body, BrokenFunction) or not _well_formed(ctx, signature):
        return BrokenFunction(signature.span)
    builder = ctx.builder
    mark = builder.mark()
    first = len(builder.diagnostics)
    bindings = Bindings(home.scope.file.params)
    for node in signature.where:
        if node.relation in CLASSES and isinstance(node.left, tree.SizeName):
            bindings.elements[node.left.name] = Element(Kind.I64 if node.relation == "int" else Kind.F64)
    builder.open_block((), signature.span)
    args = [_sample(ctx, p.type, bindings) for p in (signature.left, signature.right) if p is not None]
    sizes = [f for f in signature.where if f.relation not in CLASSES]
    for fact, _ in type_expressions.facts(ctx, sizes, lambda name, at: known_size(ctx, bindings, name, at)):
        builder.premises.append(fact)
    if not any(is_poisoned(x) for x in args):
        call(ctx, function, args[0] if len(args) == 2 else None, args[-1], signature.span)
    found = [d for d in builder.diagnostics[first:] if _certain(d)]
    builder.rollback(mark)
    for diagnostic in found:
        builder.report(diagnostic)
    return BrokenFunction(signature.span) if any(d.is_error for d in found) else function


def _certain(diagnostic: Diagnostic) -> bool:
    """Errors that every choice of sizes makes, or some choice that is shown."""
    return diagnostic.severity is Severity.ERROR and diagnostic.verdict is not Verdict.UNKNOWN


def _well_formed(ctx: Context, signature: tree.Signature) -> bool:
    good = True
    for node in (*[p.type for p in (signature.left, signature.right) if p is not None], signature.result):
        for array in _arrays(node):
            variables = [part for part in array.shape if isinstance(part, tree.ShapeVariable)]
            if len(variables) > 1:
                names = " and ".join([f"..{v.name}" for v in variables])
                ctx.error("E121", f"{names} cannot be told apart: one shape has at most one shape variable", variables[1].span)
                good = False
    return good


def _arrays(node: tree.TypeExpression) -> list[tree.ArrayTypeExpression]:
    if isinstance(node, tree.ArrayTypeExpression):
        return [node]
    found: list[tree.ArrayTypeExpression] = []
    for item in node.items:
        found.extend(_arrays(item))
    return found


def _sample(ctx: Context, node: tree.TypeExpression, bindings: Bindings) -> Value:
    """An argument of the declared type with fresh sizes."""
    if isinstance(node, tree.TupleTypeExpression):
        items: list[Value] = []
        for item in node.items:
            items.append(_sample(ctx, item, bindings))
        return TupleOperand(tuple(items))
    for name in _names(node):
        if bindings.size(name) is None:
            bindings.sizes[name] = variable(ctx.builder.size_variable(name, SizeOrigin.RIGID))
    for part in node.shape:
        if isinstance(part, tree.ShapeVariable):
            bindings.shapes.setdefault(part.name, (variable(ctx.builder.size_variable(part.name, SizeOrigin.RIGID)),))
    if node.element.name not in KINDS and node.element.name not in ("idx", "int", "perm"):
        bindings.elements.setdefault(node.element.name, Element(Kind.F64))
    scalar = Operand(ctx.builder.fresh(ArrayType(Element(Kind.I64), ()), node.span), ArrayType(Element(Kind.I64), ()))
    made = instantiate(ctx, node, bindings, scalar)
    if not isinstance(made, ArrayType):
        return ctx.builder.poison(node.span)
    return Operand(ctx.builder.fresh(made, node.span), made)


def _names(node: tree.ArrayTypeExpression) -> list[str]:
    found: list[str] = []
    stack: list[object] = [*node.element.args, *node.shape]
    while stack:
        part = stack.pop()
        match part:
            case tree.SizeName():
                found.append(part.name)
            case tree.SizeCall():
                stack.extend(part.args)
            case tree.BoundedSize():
                found.append(part.name)
                stack.append(part.bound)
            case _:
                pass
    return found
