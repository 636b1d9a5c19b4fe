"""Looking names up, with suggestions for unknown ones."""

from __future__ import annotations

from ...lang import tree
from ...lang.codes import Code
from ...lang.diagnostics import Edit, Fix, Label
from ...lang.primitives import nearest
from ...lang.source import Span
from ..operands import Operand, TupleOperand, Value
from .context import Context
from .environment import FUNCTIONS, BrokenFunction, Entry, FunctionValue, Missing, Module, OperatorValue, Scope, is_function


def array_entry(ctx: Context, name: str, scope: Scope, span: Span) -> Value:
    """The array or tuple called `name`."""
    entry = scope.lookup(name)
    if isinstance(entry, (Operand, TupleOperand)):
        return entry
    if entry is Missing.ALPHA:
        poison = ctx.error(
            Code.E133,
            "this function needs a left argument: it uses `⍺` but is called with one argument",
            span,
            labels=tuple([Label(site, "called here") for site in [scope.call_site()] if site is not None]),
            notes=("give it a default with `⍺←…` as a statement of the function",),
        )
        scope.bind("⍺", poison)
        return poison
    if entry is None:
        size = scope.file.sizes.get(name)
        if size is not None:
            return ctx.builder.size_value(ctx.builder.size_of(size), span)
        return unknown(ctx, name, scope, span)
    return _wrong_class(ctx, name, entry, "an array", span)


def function_entry(ctx: Context, name: str, scope: Scope, span: Span) -> FunctionValue:
    """The function called `name`."""
    entry = scope.lookup(name)
    if isinstance(entry, FUNCTIONS):
        return entry
    if isinstance(entry, Operand) and entry.poisoned:
        return BrokenFunction(span)
    if entry is None:
        unknown(ctx, name, scope, span)
    elif entry is Missing.ALPHA:
        array_entry(ctx, name, scope, span)
    else:
        _wrong_class(ctx, name, entry, "a function", span)
    return BrokenFunction(span)


def operator_entry(ctx: Context, name: str, scope: Scope, span: Span) -> OperatorValue | None:
    entry = scope.lookup(name)
    if isinstance(entry, OperatorValue):
        return entry
    if entry is None:
        unknown(ctx, name, scope, span)
    else:
        _wrong_class(ctx, name, entry, "an operator", span)
    return None


def member_entry(ctx: Context, node: tree.Member, scope: Scope) -> Value:
    """`module.name` as an array."""
    entry = module_member(ctx, node.module, node.name, scope, node.span)
    if entry is None:
        return ctx.builder.poison(node.span)
    if isinstance(entry, (Operand, TupleOperand)):
        return entry
    return _wrong_class(ctx, f"{node.module}.{node.name}", entry, "an array", node.span)


def module_member(ctx: Context, module: str, name: str, scope: Scope, span: Span) -> Entry | None:
    """What a module's name stands for; None after an error."""
    entry = scope.lookup(module)
    if not isinstance(entry, Module):
        unknown(ctx, module, scope, span)
        return None
    found = entry.scope.latest(name)
    if found is None:
        near = _nearest(name, entry.scope.names())
        hint = f"; did you mean `{near}`?" if near else ""
        ctx.error(Code.E001, f"module {module} has no name `{name}`{hint}", span)
    return found


def unknown(ctx: Context, name: str, scope: Scope, span: Span) -> Operand:
    """E001 with the nearest visible name."""
    near = _nearest(name, scope.visible())
    if near is None:
        return ctx.error(Code.E001, f"unknown name `{name}`", span)
    fixes = (Fix(f"replace by `{near}`", (Edit(span, near),)),)
    return ctx.error(Code.E001, f"unknown name `{name}`; did you mean `{near}`?", span, fixes=fixes)


def _wrong_class(ctx: Context, name: str, entry: Entry, wanted: str, span: Span) -> Operand:
    if isinstance(entry, Operand) and entry.poisoned:
        return ctx.builder.poison(span)
    if is_function(entry):
        actual = "a function"
    elif isinstance(entry, OperatorValue):
        actual = "an operator"
    elif isinstance(entry, Module):
        actual = "a module"
    else:
        actual = "an array"
    return ctx.error(Code.E134, f"`{name}` is {actual}, but {wanted} is needed here", span)


def _nearest(name: str, candidates: list[str]) -> str | None:
    return nearest(name, [candidate for candidate in candidates if candidate[:1].isalpha()])
